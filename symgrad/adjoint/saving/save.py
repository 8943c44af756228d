"""Tape insertion: extends the forward half by ops that save the values which the backward half cannot obtain otherwise.

A block inside loops has one tape, with one push for all its values each time it runs. Where a loop's iterations
are counted from the start, its tape has a slot for each and is created just before the loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from symgrad.adjoint.analysis.definedness import Presence
from symgrad.adjoint.analysis.memory import UNDO, has_memory
from symgrad.adjoint.expand import number
from symgrad.adjoint.saving.plan import Plan, path_of
from symgrad.ir.core import UNDEF, ZERO, Block, Call, Const, For, If, Op, Operand, Value
from symgrad.ir.layout import enter, leave
from symgrad.ir.sums import ONE, Sum, combined
from symgrad.ir.types import Array, List, Tape
from symgrad.ops.analysis.affine import Round
from symgrad.ops.build import Builder

#: the largest step of a loop whose index is the tape's slot; the slots between, a kilobyte for each iteration, stay empty
SPARSEST = 128


@dataclass(frozen=True, slots=True)
class Count:
    """The number of slots of a tape, as the difference of two terms, and the index value of the first slot, if that is not 0."""

    many: Operand
    less: Operand = ZERO
    first: Operand | None = None
    step: int = 1

    def total(self, build: Builder) -> Operand:
        """Emit the number of slots."""
        return self.many if self.less is ZERO else build.call("subtract", self.many, self.less)

    def place(self, build: Builder, index: Operand, first: Operand | None) -> Operand:
        """Emit the slot of an iteration; ``first`` is the index value of the first slot where the tape is read."""
        if first is None:
            return index
        return build.call("subtract", index, first) if self.step == 1 else build.call("subtract", first, index)


def of_shape(op: Op | None) -> dict[str, object]:
    """The settings of ``shape_of`` for the result of an op: an item of a list may be None on the path that does not use it."""
    return {"item": isinstance(op, Call) and op.name in ("list_take", "table_take")}


def count_of(plan: Plan, block: Block) -> Count | None:
    """The tape slots for the iterations of a block's loop; None where the tape is a stack instead.

    ``range(0, n)`` has one slot for each index value. ``range(k + 1, n)`` has ``n - (k + 1)`` slots; only kernels use
    them, as arrays with room for the largest number. In the interpreter a stack is no slower than counting.
    ``range(0, n, 128)`` also has slots: the loop over the rows of a Jacobian has such a range. A slot can be read in
    several iterations, and be differentiated again; a stack cannot.
    """
    op = plan.layout.owners[block][2]
    if not isinstance(op, For) or op.until:
        return None
    start, stop, step = number(op.start), number(op.stop), number(op.step)
    if start is not None and 0 <= start <= 2 and step is not None and 1 <= step <= (1 if plan.costs.arrays else SPARSEST):
        return Count(op.stop)
    if step == -1 and stop is not None and -1 <= stop <= 1:
        return Count(op.start, Const(-1))
    if not plan.costs.arrays or step not in (1, -1) or not is_foreseen(plan, block):
        return None
    low, high = (op.start, op.stop) if step == 1 else (op.stop, op.start)
    rounds = Round(plan.layout)
    first, last = rounds.sum(low), rounds.sum(high)
    if first is None or last is None:
        return None
    many = combined(last, first, -1)
    if set(many) <= {ONE}:
        return Count(Const(max(many.get(ONE, 0), 0)), first=op.start, step=step)
    return None if cancels(first, last) else Count(high, low, op.start, step)


def cancels(first: Sum, last: Sum) -> bool:
    """Whether the difference is smaller than the difference of the maximum and the minimum of the two sums."""
    return any(first.get(symbol, 0) * count > 0 for symbol, count in last.items() if symbol != ONE)


def is_foreseen(plan: Plan, block: Block) -> bool:
    """Whether the largest iteration counts of a block's loop, and of those around it, are known before the outermost loop."""
    while not plan.layout.static(block):
        block, _, op = plan.layout.owners[block]
        if not isinstance(op, For) or op.until or not all(is_sum(plan, o) for o in (op.start, op.stop)):
            return False
    return True


def is_sum(plan: Plan, operand: Operand) -> bool:
    """Whether the operand is a sum or difference of loop indices and of integers from outside all loops."""
    if not isinstance(operand, Value):
        return type(operand.value) is int
    block = plan.layout.places[operand][0]
    if plan.layout.static(block):
        return True
    op: Op | None = plan.layout.op_of(operand)
    if op is None:
        owner = plan.layout.owners[block][2]
        return isinstance(owner, For) and operand is owner.index
    return isinstance(op, Call) and op.name in ("add", "subtract") and all(is_sum(plan, o) for o in op.args)


# ------------------------------------------------------------------ saved values


@dataclass(slots=True, eq=False)
class TapeUse:
    """One tape: the block that saves, the saved items, and the tape's value at the end of the forward half.

    If iterations have slots (``count``), the tape itself is a value saved by the block around the loop.
    """

    block: Block
    count: Count | None
    items: list[Value] = field(default_factory=list)
    keys: list[Key] = field(default_factory=list)
    end: Operand = UNDEF

    @property
    def indexed(self) -> bool:
        return self.count is not None

    @property
    def name(self) -> str:
        names = [v.name for v in self.items]
        return f"{names[0].removesuffix('_tape')}_tape" if len(names) == 1 and names[0] else "tape"


Key = Value | Call | TapeUse  #: a saved value, the content that a store overwrites, or a tape


@dataclass(slots=True)
class Saver:
    """Extends the forward half. Ops are collected first and inserted last, so that positions stay valid meanwhile."""

    plan: Plan
    builder: Builder
    before: dict[tuple[Block, int], list[Op]] = field(default_factory=dict)
    after: dict[tuple[Block, int], list[Op]] = field(default_factory=dict)
    kept: dict[Key, Value] = field(default_factory=dict)
    exported: dict[Value, Value] = field(default_factory=dict)
    tapes: dict[Block, TapeUse] = field(default_factory=dict)
    inside: dict[Block, list[Block]] = field(default_factory=dict)  #: for each block the blocks with a stack inside it, itself included
    presence: Presence = field(init=False)
    filled_at: dict[Value, int] = field(default_factory=dict)  #: the index of the op in the block after which a tape is full

    def __post_init__(self) -> None:
        self.presence = Presence(self.plan.demands.unbound, self.plan.layout, self.after)

    def call(self, where: list[Op], model: Op | None, name: str, *args: Operand, hint: str | None = None, **settings: object) -> Value:
        """Build one op into a list."""
        block = Block([], where)
        with self.builder.inside(block), self.builder.at(model.loc if model is not None else self.plan.func.loc):
            return self.builder.call(name, *args, hint=hint, **settings)

    def save(self) -> None:
        """Save everything that the plan requires."""
        order = self.plan.layout.order
        for value in sorted(self.plan.saved, key=order.__getitem__):
            self.save_value(value)
        for value in self.plan.demands.shapes:
            if value not in self.plan.saved and self.plan.alive(value):
                self.save_value(value)
        for store in sorted(self.plan.undone, key=lambda store: order[store.outs[0]]):
            self.save_slice(store)
        depths = self.plan.layout.depths
        done: set[Block] = set()
        while left := [block for block in self.tapes if block not in done]:
            block = max(left, key=depths.__getitem__)  # the block around an inner loop saves the loop's tape
            done.add(block)
            if self.tapes[block].indexed:
                self.index(self.tapes[block])
            else:
                self.thread(self.tapes[block])

    def save_value(self, value: Value) -> None:
        """Save a value as it is at its definition."""
        block, index = self.plan.layout.places[value]
        source = self.plan.demands.shapes.get(value, value)
        row = "shape_of" if source is not value else "copy" if self.plan.memory.overwritten(value) else None
        if row is None and (self.plan.layout.static(block) or source not in self.plan.demands.unbound.sides):
            self.kept_as(value, block, value)
            return
        where = self.after.setdefault((block, index), [])
        op = self.plan.layout.op_of(source)
        settings = of_shape(op) if row == "shape_of" else {}
        if source not in self.plan.demands.unbound.sides:
            assert row is not None
            self.kept_as(value, block, self.call(where, op, row, source, hint=value.name, **settings))
            return
        ops: list[Op] = []
        if row is not None:
            self.call(ops, op, row, source, hint=value.name, **settings)
        guarded = self.presence.guarded(source, ops)
        where += [guarded] if guarded is not None else []
        self.kept_as(value, block, guarded.outs[0] if guarded is not None else value)

    def save_slice(self, store: Call) -> None:
        """Save the content that a store is about to overwrite."""
        block, index = self.plan.layout.places[store.outs[0]]
        row = UNDO[store.name][0]
        if not row:
            return
        where = self.before.setdefault((block, index), [])
        name = store.outs[0].name
        hint = f"{name}_old" if name else "old"
        if row == "take":
            saved = self.call(where, store, row, store.args[0], *path_of(store), hint=hint, index=store.settings["index"])
        elif row in ("list_take", "table_take"):
            place = path_of(store) or [Const(-1)]
            saved = self.call(where, store, row, store.args[0], *place, hint=hint)
            if self.plan.memory.nested and isinstance(saved.type, List):  # the item may be changed inside the list
                saved = self.call(where, store, "copy", saved, hint=hint)
        else:
            saved = self.call(where, store, row, store.args[0], hint=hint)
        self.kept_as(store, block, saved)

    def kept_as(self, key: Key, block: Block, value: Value) -> None:
        """Record the holder of a saved value; inside loops it goes on the block's tape."""
        self.kept[key] = value
        if not self.plan.layout.static(block):
            use = self.tapes.get(block) or self.new_tape(block)
            use.items.append(value)
            use.keys.append(key)

    def new_tape(self, block: Block) -> TapeUse:
        """A tape for a block's saved values; a stack is passed through the enclosing blocks."""
        use = TapeUse(block, count_of(self.plan, block))
        self.tapes[block] = use
        for around, _ in () if use.indexed else self.plan.layout.path((block, 0)):
            self.inside.setdefault(around, []).append(block)
        return use

    # ---------------------------------------------------------------- tapes through loops and branches

    def index(self, use: TapeUse) -> None:
        """Create a tape just before the loop whose iterations have slots on it, and save it with the values of the enclosing block."""
        outer, place, op = self.plan.layout.owners[use.block]
        assert isinstance(op, For)
        assert use.count is not None
        before = self.before.setdefault((outer, place), [])
        with self.builder.inside(Block([], before)), self.builder.at(op.loc):
            tape = self.builder.call("slots", use.count.total(self.builder), hint=use.name)
        inside, out = enter(op, use.block, tape, Tape(tuple(v.type for v in use.items), True), use.name)
        with self.builder.inside(Block([], self.after.setdefault((use.block, -1), []))), self.builder.at(op.loc):
            round_ = use.count.place(self.builder, op.index, use.count.first)
        leave(op, use.block, self.store(use, "put", inside, round_))
        self.filled_at[out] = place
        self.kept_as(use, outer, out)

    def thread(self, use: TapeUse) -> None:
        """Create a tape outside all loops, and carry it into the block that pushes, and out again."""
        path = self.plan.layout.path((use.block, 0))
        blocks = [block for block, _ in path]
        first = next(k for k, block in enumerate(blocks) if not self.plan.layout.static(block))
        hint = use.name
        outer, index = path[first - 1]
        tape = self.call(self.before.setdefault((outer, index), []), outer.ops[index], "tape", hint=hint)
        type_ = Tape(tuple(v.type for v in use.items))
        outs: list[Value] = []
        for (block, place), inner in zip(path[first - 1 :], blocks[first:], strict=False):
            tape, out = enter(block.ops[place], inner, tape, type_, hint)
            outs.append(out)
        pushed = self.store(use, "push", tape)
        for inner, out in zip(reversed(blocks[first:]), reversed(outs), strict=True):
            leave(self.plan.layout.owners[inner][2], inner, pushed)
            pushed = out
        use.end = self.export(pushed, outer)

    def store(self, use: TapeUse, name: str, *where: Operand) -> Value:
        """The op that saves, placed as soon as all its values are defined."""
        tables, indices = (self.before, self.after), range(-1, len(use.block.ops) + 1)
        own = {op: index for table in tables for index in indices for op in table.get((use.block, index), ())}
        last = -1
        for value in use.items:
            if value in self.filled_at:
                last = max(last, self.filled_at[value])
                continue
            place = self.plan.layout.places.get(value)
            last = max(last, place[1] if place is not None else next(i for op, i in own.items() if value in op.outs))
        model = use.block.ops[last] if last >= 0 else self.plan.layout.owners[use.block][2]
        return self.call(self.after.setdefault((use.block, last), []), model, name, *where, *use.items, hint=use.name)

    def export(self, value: Value, block: Block) -> Value:
        """The value made visible at top level, through results of branches."""
        if value in self.exported:
            return self.exported[value]
        exported = value
        while block in self.plan.layout.owners:
            outer, _, op = self.plan.layout.owners[block]
            assert isinstance(op, If)
            out = Value(value.type, value.name)
            op.outs.append(out)
            for side in op.blocks:
                side.yields.append(exported if side is block else UNDEF)
            exported, block = out, outer
        self.exported[value] = exported
        return exported

    # ---------------------------------------------------------------- results and insertion

    def results(self, results: Sequence[Operand]) -> list[Operand]:
        """The returned operands, in memory that nothing else references."""
        memory = self.plan.memory
        held = {memory.find(p) for p in self.plan.func.params} | set(self.plan.traces)
        body = self.plan.func.body
        returned: list[Operand] = []
        for result in results:
            if isinstance(result, Value) and has_memory(result.type):
                root = memory.find(result)
                if root in held and isinstance(result.type, Array):
                    result = self.call(self.after.setdefault((body, len(body.ops) - 1), []), None, "copy", result, hint=result.name)
                held.add(root)
            returned.append(result)
        return returned

    def insert(self) -> None:
        """Insert the collected ops at their places."""
        for block in dict.fromkeys(key[0] for key in (*self.before, *self.after)):
            ops = list(self.after.get((block, -1), []))
            for index, op in enumerate(block.ops):
                ops += [*self.before.get((block, index), []), op, *self.after.get((block, index), [])]
            block.ops = ops


__all__ = ["Count", "count_of", "of_shape"]
