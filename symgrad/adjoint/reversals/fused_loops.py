"""Fuses a loop with its reverse: each iteration is reversed right after it, where iterations interact through sums only.

Such a loop needs no tape: the values of an iteration are live when its reverse reads them. The incoming
cotangents of an iteration must be known before the loop, and those passed to the next one may only be added to.
Works in place, while the backward half reads primal values as if all were live. An iteration with its reverse
then becomes a function of its own, with its own plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from symgrad.adjoint.accumulate import Scope
from symgrad.adjoint.analysis.memory import Memory, has_memory
from symgrad.adjoint.analysis.reductions import ADDING, Cells, Sums
from symgrad.adjoint.saving.prune import is_new_array
from symgrad.adjoint.saving.remarks import tell_fused, tell_unfused
from symgrad.adjoint.sweep import Sweep, active_slots
from symgrad.ir.core import Block, Call, Const, For, Func, Op, Operand, Value, While, definitions, substitute, walk
from symgrad.ir.layout import Layout, enter, leave
from symgrad.ir.types import Array, Scalar, Type, same_shape
from symgrad.ir.unbound import Unbound
from symgrad.location import NOWHERE
from symgrad.ops.declare import ROWS

SHAPES = frozenset({"shape_of", "extent"})  #: ops that read only the shape of their operand

Completed = Callable[[Func, Scope], Block]  #: an iteration and its reverse, with all values that it reads available


class Apart(Exception):
    """Raised where a loop and its reverse cannot be fused; the text is the reason."""


def fuse(func: Func, scope: Scope, sweep: Sweep, completed: Completed) -> None:
    """Fuse the loops of a block that runs once with their reverses, in place; ``scope`` reverses the block."""
    if any(isinstance(op, For) for op in scope.reverse.ops):
        Fusion(func, scope, sweep, completed).run()


def mark(block: Block, backward: bool = True) -> None:
    """Mark ops as part of the backward half, or as not part of it."""
    for op in walk(block):
        if op.loc.backward != backward:
            op.loc = replace(op.loc, backward=backward)


@dataclass(slots=True)
class Fusion:
    """The loops of one block: the body of a function, or of a loop that was fused.

    ``place``: positions of the values moved here from the backward half, as indices into the block; a value
    moved before op ``k`` has position ``k - 0.5``.
    """

    func: Func
    scope: Scope
    sweep: Sweep
    completed: Completed
    layout: Layout = field(default_factory=Layout)
    memory: Memory = field(init=False)
    unbound: Unbound = field(init=False)
    sums: Sums = field(init=False)
    grads: Memory = field(init=False)
    definers: dict[Value, Op] = field(default_factory=dict)
    readers: dict[Value, list[Op | None]] = field(default_factory=dict)
    place: dict[Value, float] = field(default_factory=dict)
    twins: dict[Value, Value] = field(default_factory=dict)  #: copies of forward-half values that are computed earlier
    table: dict[Value, Operand] = field(default_factory=dict)
    before: dict[int, list[Op]] = field(default_factory=dict)
    instead: dict[Op, list[Op]] = field(default_factory=dict)
    ends: dict[Value, tuple[Op, int]] = field(default_factory=dict)  #: for sums: the op, and the operand position, that adds to them first
    gone: set[Op] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.layout.enter(self.func.body)
        self.memory = Memory.of(self.func, self.layout)
        self.unbound = Unbound.of(self.func.body)
        reverse = self.scope.reverse
        late = Layout()
        late.enter(reverse)
        self.grads = Memory.of(Func("", reverse), late)
        self.sums = Sums.of(reverse)
        self.definers = {out: op for op in reverse.ops for out in op.outs}
        for value in self.definers:
            self.readers[value] = [self.sums.within(reverse, where, op) for where, op in self.sums.readers.get(value, ())]

    def run(self) -> None:
        """Fuse the loops in execution order, so that sums pass from one to the next."""
        fused: list[tuple[For | While, Scope]] = []
        for op in reversed(self.scope.reverse.ops):
            if not isinstance(op, For):
                continue
            inner = self.sweep.scopes[op.body]
            primal = self.scope.block.ops[inner.position]
            assert isinstance(primal, For | While)
            try:
                self.loop(op, inner, primal)
                fused.append((primal, inner))
                if self.func.notes is not None:
                    tell_fused(self.func, primal)
            except Apart as reason:
                if self.func.notes is not None:
                    tell_unfused(self.func, primal, str(reason))
        if fused:
            self.rearrange()
            for primal, inner in fused:
                self.round(primal, inner)

    # ---------------------------------------------------------------- legality

    def loop(self, op: For, inner: Scope, primal: For | While) -> None:
        """Fuse one loop, or raise ``Apart``."""
        if any(isinstance(child, Call) and ROWS[child.name].effect for child in walk(op.body)):
            raise Apart("its reverse has effects")
        if isinstance(primal, While) and op.index in self.sums.readers:
            raise Apart("its reverse counts the iterations")
        indices = {op: primal.index} if isinstance(primal, For) else {}
        for k, slot in enumerate(op.carried):
            if not self.sums.is_sum(op, k) and not Cells(self.sums, indices).are_apart(op, k):
                raise Apart(f"the reverse of an iteration depends on that of the next one through {slot.name or 'a value'}")
        if any(value in self.unbound.sides for value in primal.body.args):
            raise Apart("it carries a variable that may be unbound")
        at = inner.position
        moves = Moves(self, at)
        free = self.free(op, primal)
        for value in free:
            moves.have(value)
        starts = [self.start(op, k, moves) for k in range(len(op.inits))]
        forms = [self.form(op, primal, k) if starts[k].init is None else None for k in range(len(op.inits))]
        moves.carry_out()
        substitute(op.body, {value: moves.now(value) for value in free if moves.now(value) is not value})
        for k, slot in enumerate(list(op.carried)):
            self.carry(op, primal, k, slot, starts[k], forms[k], at, moves)
        if isinstance(primal, For):
            substitute(op.body, {op.index: primal.index})
        self.gone.add(op)
        op.body.args = []
        inner.parent, inner.position, inner.loop = None, 0, False

    def free(self, op: For, primal: For | While) -> list[Value]:
        """The outer values, of either half, that the reversed iterations read."""
        own = set(definitions(op.body))
        outer: dict[Value, None] = {}
        for child in walk(op.body):
            operands = [*child.operands, *(y for block in child.blocks for y in block.yields)]
            for operand in operands:
                if isinstance(operand, Value) and operand not in own and not self.is_inside(operand, primal):
                    if not (isinstance(child, Call) and child.name in SHAPES):
                        self.untouched(operand)
                    outer[operand] = None
        return list(outer)

    def is_inside(self, value: Value, op: Op) -> bool:
        """Whether the value is defined inside the loop."""
        if value not in self.layout.places:
            return False
        block = self.layout.places[value][0]
        while block in self.layout.owners:
            block, _, owner = self.layout.owners[block]
            if owner is op:
                return True
        return False

    def untouched(self, value: Value) -> None:
        """Raise ``Apart`` if a primal value may be overwritten or unbound."""
        if value in self.unbound.sides:
            raise Apart(f"{value.name or 'a value'} may be unbound")
        if value in self.layout.places and self.memory.overwritten(value):
            raise Apart(f"{value.name or 'an array'} is written to later")

    # ---------------------------------------------------------------- the starts of sums

    def start(self, op: For, k: int, moves: Moves) -> Start:
        """The start of one sum."""
        init = self.now(op.inits[k])
        if moves.can(init):
            moves.have(init)
            return Start(init)
        if not self.sums.is_sum(op, k):
            moves.have(init)  # raises
        passed: list[Value] = []
        for value, last, place in self.additions(init, op):
            passed.append(value)
            below = self.now(last.operands[place])
            if (not isinstance(below, Value) or self.readers.get(below) == [last]) and moves.can(below):
                moves.have(below)
                self.ends.update(dict.fromkeys(passed, (last, place)))
                return Start(below, last, place)
        return Start(None)

    def additions(self, sum_: Operand, reader: Op) -> Iterator[tuple[Value, Op, int]]:
        """The partial sums, last first, each with the op that adds to it and the sum's position among its operands."""
        while isinstance(sum_, Value) and sum_ in self.definers and self.readers[sum_] == [reader]:
            reader, place = self.definers[sum_], 0
            if sum_ in self.ends:  # examined before
                reader, place = self.ends[sum_]
            elif isinstance(reader, For) and self.sums.is_sum(reader, reader.outs.index(sum_)):
                place = 3 + reader.outs.index(sum_)
            elif not isinstance(reader, Call) or reader.name not in ADDING:
                return
            yield sum_, reader, place
            sum_ = self.now(reader.operands[place])

    def now(self, operand: Operand) -> Operand:
        """The current replacement of a value."""
        while isinstance(operand, Value) and operand in self.table:
            operand = self.table[operand]
        return operand

    def carry(self, op: For, primal: For | While, k: int, slot: Value, start: Start, form: Value | None, at: int, moves: Moves) -> None:
        """Let the loop carry a sum."""
        old = op.outs[k]
        init = self.now(op.inits[k])
        first = moves.now(start.init) if start.init is not None else self.zero(op, form, at)
        if isinstance(start.last, Call) and not ROWS[start.last.name].consumes:
            first = self.owned(first, at)
        inside, out = enter(primal, primal.body, first, slot.type, slot.name or "t_grad")
        out.type = old.type
        self.place[out] = at
        substitute(op.body, {slot: inside})
        top: Operand = out
        if start.last is not None:
            operands = list(start.last.operands)
            operands[start.place] = out
            start.last.replace_operands(operands)
            self.readers[out] = [start.last]
            top = init
        elif start.init is None:
            builder, block = self.sweep.builder, Block()
            with builder.inside(block), builder.at(op.loc):
                top = builder.call(adding(slot.type), out, init, hint=slot.name)
            self.instead.setdefault(op, []).extend(block.ops)
            self.definers[top] = block.ops[-1]
        self.table[old] = top
        if isinstance(top, Value):
            kept = [reader for reader in self.readers.get(top, []) if reader is not op]
            self.readers[top] = [*kept, *self.readers.get(old, [])]

    def owned(self, operand: Operand, at: int) -> Operand:
        """A sum's operand in memory that the loop may write to."""
        maker = self.definers.get(operand) if isinstance(operand, Value) else None
        if not isinstance(operand, Value) or not has_memory(operand.type) or isinstance(maker, Call) and is_new_array(maker):
            return operand
        block = Block()
        with self.sweep.builder.inside(block), self.sweep.builder.at(maker.loc if maker is not None else NOWHERE):
            copy = self.sweep.builder.call("copy", operand, hint=operand.name)
        mark(block)
        self.before.setdefault(at, []).extend(block.ops)
        return copy

    def form(self, op: For, primal: For | While, k: int) -> Value | None:
        """A value from before the loop in the form of a sum, None for a number; raises ``Apart`` if there is none."""
        slot = op.carried[k]
        if isinstance(slot.type, Scalar):
            return None
        outer = next((v for v, s in self.sweep.scopes[op.body].slots.items() if s is slot), None)
        if outer is not None:
            return outer
        init = primal.inits[active_slots(self.sweep, primal)[k]]
        if isinstance(init, Value) and isinstance(init.type, Array) and same_shape(init.type.shape, getattr(slot.type, "shape", None)):
            return init
        raise Apart(f"the shape of {slot.name or 'a cotangent'} is not known before the loop")

    def zero(self, op: For, form: Value | None, at: int) -> Operand:
        """Zeros as the start of a sum whose first value is unknown before the loop."""
        if form is None:
            return Const(0.0)
        block = Block()
        with self.sweep.builder.inside(block), self.sweep.builder.at(op.loc):
            zero = self.sweep.ledger.zero(form)
        mark(block)
        self.before.setdefault(at, []).extend(block.ops)
        return zero

    # ---------------------------------------------------------------- rewriting

    def rearrange(self) -> None:
        """Insert the moved ops at their new places, and preserve the order of the backward half."""
        block, reverse, turns = self.scope.block, self.scope.reverse, self.sweep.turns
        now: dict[int, int] = {-1: -1}
        ops: list[Op] = []
        for index, op in enumerate(block.ops):
            ops += self.before.get(index, [])
            now[index] = len(ops)
            ops.append(op)
        now[len(block.ops)] = len(ops)
        block.ops = ops
        kept: list[Op] = []
        for op in reverse.ops:
            for replacement in self.instead.get(op, [op]) if op in self.gone else [op]:
                if replacement in self.gone:
                    continue
                turns[replacement] = now[turns[op]]
                kept.append(replacement)
        reverse.ops = kept
        substitute(reverse, self.table)
        for op in reverse.ops:
            for inner in op.blocks:
                self.sweep.scopes[inner].position = now[self.sweep.scopes[inner].position]

    def round(self, primal: For | While, inner: Scope) -> None:
        """Complete one iteration with its reverse, as a function of its own."""
        func = Func(self.func.name, primal.body, loc=primal.loc, notes=self.func.notes)
        fuse(func, inner, self.sweep, self.completed)
        whole = self.completed(func, inner)
        mark(inner.reverse)
        primal.body.ops, primal.body.yields = whole.ops, whole.yields
        for end in inner.reverse.yields:
            leave(primal, primal.body, end)


@dataclass(frozen=True, slots=True)
class Start:
    """The start of a sum: ``init``, None for zeros; ``last``, with the sum as operand ``place``, then adds the loop's sum to it."""

    init: Operand | None
    last: Op | None = None
    place: int = 0


def adding(type_: Type) -> str:
    """The row that adds two cotangents of a type: lists are added element by element."""
    return "add" if isinstance(type_, Scalar) else "accumulate" if isinstance(type_, Array) else "list_add"


def has_shape(type_: Type, other: Type) -> bool:
    """Whether types prove that two arrays have the same shape."""
    if not isinstance(type_, Array) or not isinstance(other, Array):
        return False
    return type_.shape is not None and other.shape is not None and same_shape(type_.shape, other.shape)


@dataclass(slots=True)
class Moves:
    """The ops to move before one loop, op ``at`` of the block: ops of the backward half, and copies of ops behind the loop."""

    fusion: Fusion
    at: int
    ops: dict[Call, bool] = field(default_factory=dict)  #: in order; True for ops of the backward half
    available: set[Value] = field(default_factory=set)

    def can(self, operand: Operand) -> bool:
        """Whether a value can be available before the loop."""
        try:
            self.needed(operand)
        except Apart:
            return False
        return True

    def have(self, operand: Operand) -> None:
        """Make a value available before the loop, or raise ``Apart``."""
        for op, late in self.needed(operand).items():
            self.ops[op] = late
            self.available.update(op.outs)

    def needed(self, operand: Operand) -> dict[Call, bool]:
        """The ops that compute a value and are not before the loop, in order."""
        calls: dict[Call, bool] = {}
        todo: list[tuple[Operand, tuple[Call, bool] | None]] = [(operand, None)]
        seen: set[Value] = set()
        while todo:
            value, done = todo.pop()
            if done is not None:
                calls[done[0]] = done[1]
                continue
            value = self.fusion.now(value)
            if not isinstance(value, Value) or value in seen or self.is_there(value):
                continue
            seen.add(value)
            op, late = self.source(value)
            todo.append((value, (op, late)))
            todo += [(o, None) for o in (map(self.alike, op.operands) if op.name in SHAPES else op.operands)]
        return calls

    def is_there(self, value: Value) -> bool:
        """Whether the value is defined before the loop, or will be moved there."""
        fusion = self.fusion
        if value in self.available or value in fusion.twins:
            return True
        if value in fusion.place:
            return fusion.place[value] < self.at
        if value in fusion.definers:
            return False
        return value not in fusion.layout.places or fusion.layout.places[value][1] < self.at

    def alike(self, operand: Operand) -> Operand:
        """A value of the same shape that is defined before the loop; the operand itself if there is none."""
        layout = self.fusion.layout
        current = operand
        while isinstance(current, Value) and current in layout.places and not self.is_there(current):
            op = layout.op_of(current)
            before: list[Operand] = []
            if isinstance(op, For | While) and current in op.outs[: len(op.inits)]:
                before = [op.inits[op.outs.index(current)]]
            elif isinstance(op, Call):
                before = op.args
            alike = next((o for o in before if isinstance(o, Value) and has_shape(o.type, operand.type)), None)
            if alike is None:
                return operand
            current = alike
        return current

    def source(self, value: Value) -> tuple[Call, bool]:
        """The op that computes a value, and whether it is in the backward half; raises ``Apart`` if it cannot be moved."""
        fusion = self.fusion
        late = value in fusion.definers
        op = fusion.definers[value] if late else fusion.layout.op_of(value)
        name = value.name or "a value"
        if not isinstance(op, Call) or ROWS[op.name].effect or ROWS[op.name].consumes and not late:
            raise Apart(f"the reverse of an iteration starts from {name}, which is known after the loop")
        for operand in op.operands if late and op.name not in SHAPES else ():
            if isinstance(operand, Value):
                fusion.untouched(operand)
        if value in fusion.unbound.sides:
            raise Apart(f"{name} may be unbound")
        return op, late

    def carry_out(self) -> None:
        """Move the ops, unless written memory has two readers, which could then read in another order."""
        fusion = self.fusion
        for op, late in self.ops.items():
            for value in (*op.outs, *op.operands) if late else ():
                if isinstance(value, Value) and has_memory(value.type) and fusion.grads.find(value) in fusion.grads.stores:
                    if len(set(fusion.readers.get(value, ()))) > 1:  # moving changes the order of the readers
                        raise Apart(f"{value.name or 'a cotangent'} is read in two places")
        into = fusion.before.setdefault(self.at, [])
        self.available.clear()  # ops still to be moved are not before the loop yet
        for op, late in self.ops.items():
            operands = [self.now(self.alike(o) if op.name in SHAPES else o) for o in op.operands]
            if late:
                op.replace_operands(operands)
                op.loc = replace(op.loc, backward=True)
                fusion.gone.add(op)
                fusion.place.update(dict.fromkeys(op.outs, self.at - 0.5))
                into.append(op)
            else:
                twin = Call([Value(out.type, out.name) for out in op.outs], op.loc, op.name, operands, dict(op.settings))
                fusion.twins.update(zip(op.outs, twin.outs, strict=True))
                into.append(twin)

    def now(self, operand: Operand) -> Operand:
        """The replacement of a value before the loop."""
        operand = self.fusion.now(operand)
        if isinstance(operand, Value) and operand in self.fusion.twins and not self.stands(operand):
            return self.fusion.twins[operand]
        return operand

    def stands(self, value: Value) -> bool:
        """Whether the value itself is defined before the loop."""
        return self.fusion.layout.places[value][1] < self.at


__all__ = ["fuse", "mark"]
