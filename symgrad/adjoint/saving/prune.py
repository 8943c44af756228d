"""Removes redundant computations from the backward half.

``prune`` removes ops, branch results and loop-carried values that no gradient needs. ``not_again`` eliminates common subexpressions
with the forward half, such as ``sin(x)`` for the slope of ``cos(x)``. ``share`` removes copies of cotangents made in case of a later
store, if nothing reads the overwritten value. All work in place, while the backward half reads the primal values as if they were all
live; how each is obtained is planned once, with all its uses.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from symgrad.adjoint.accumulate import Scope
from symgrad.adjoint.analysis.memory import Memory
from symgrad.adjoint.analysis.reductions import cleared
from symgrad.ir.core import Block, Call, For, Func, If, Op, Operand, Value, While, key_of, operands_within, resolved, substitute
from symgrad.ir.layout import Layout
from symgrad.ir.types import Array, Scalar
from symgrad.ops.declare import ROWS


def prune(block: Block, indices: Mapping[For, Value] | None = None) -> None:
    """Remove, in place, all ops that the block's yields and effects do not need.

    ``indices``: for reversed loops, the primal loop's index, which identifies its values before they are made
    available.
    """
    forward_invariants(block)
    drop_unneeded(block)
    if cleared(block, indices or {}):
        forward_invariants(block)
        drop_unneeded(block)


def drop_unneeded(block: Block) -> None:
    """Remove ops that neither the block's yields nor effects need."""
    needs = Needs()
    needs.index(block)
    needs.want(block.yields)
    needs.close()
    sweep(block, needs.marked)


def forward_invariants(block: Block) -> None:
    """Replace a slot that every iteration yields unchanged by its initial value, and a result that both sides yield by that value."""
    table: dict[Value, Operand] = {}
    drop_invariants(block, table)
    substitute(block, table)


def drop_invariants(block: Block, table: dict[Value, Operand]) -> None:
    """Drop these slots, inner loops first; ``table`` collects their replacements."""
    for op in block.ops:
        for inner in op.blocks:
            drop_invariants(inner, table)
        match op:
            case For():
                drop_invariant_slots(op, table)
            case If():
                drop_common_results(op, table)


def drop_invariant_slots(op: For, table: dict[Value, Operand]) -> None:
    """Drop the slots of a loop that every iteration yields unchanged."""
    for k in reversed(range(len(op.inits))):
        if resolved(op.body.yields[k], table) is op.carried[k]:
            table[op.carried[k]] = table[op.outs[k]] = start = op.inits[k]
            if isinstance(start, Value) and start.name in (None, "t_grad"):  # it has a better name now
                start.name = op.carried[k].name
            drop_slot(op, k)


def drop_common_results(op: If, table: dict[Value, Operand]) -> None:
    """Drop the results of a branch that both sides yield."""
    for k in reversed(range(len(op.outs))):
        value, other = (resolved(side.yields[k], table) for side in op.blocks)
        if value is other and isinstance(value, Value):  # it is defined before the branch
            table[op.outs[k]] = value
            del op.outs[k], op.then.yields[k], op.orelse.yields[k]


def drop_slot(op: For, k: int) -> None:
    """Remove one loop-carried value."""
    del op.inits[k], op.outs[k], op.body.args[k + 1], op.body.yields[k]


@dataclass(slots=True)
class Needs:
    """Marks values backwards from the roots; ``sources`` lists the operands that a value is computed from."""

    sources: dict[Value, Callable[[], list[Operand]]] = field(default_factory=dict)
    marked: set[Value] = field(default_factory=set)
    todo: list[Operand] = field(default_factory=list)

    def want(self, operands: list[Operand]) -> None:
        self.todo += operands

    def close(self) -> None:
        """Mark everything that is needed."""
        while self.todo:
            value = self.todo.pop()
            if isinstance(value, Value) and value not in self.marked:
                self.marked.add(value)
                if value in self.sources:
                    self.todo += self.sources[value]()

    def index(self, block: Block, control: tuple[Operand, ...] = ()) -> None:
        """Record the ops of a block; ``control`` are the operands that decide whether the block runs."""
        for op in block.ops:
            match op:
                case For():
                    here = (op.start, op.stop, op.step)
                    for k, slot in enumerate(op.carried):
                        self.loop_slot(op, k, slot, here)
                    self.index(op.body, (*control, *here))
                case If():
                    for k, out in enumerate(op.outs):
                        self.sources[out] = lambda op=op, k=k: [op.test, op.then.yields[k], op.orelse.yields[k]]  # type: ignore[misc]
                    for inner in op.blocks:
                        self.index(inner, (*control, op.test))
                case While():
                    raise AssertionError("the backward half has no while")
                case _:
                    for out in op.outs:
                        self.sources[out] = lambda op=op: op.operands  # type: ignore[misc]
                    if isinstance(op, Call) and ROWS[op.name].effect:
                        self.want([*op.operands, *op.outs, *control])

    def loop_slot(self, op: For, k: int, slot: Value, header: tuple[Operand, ...]) -> None:
        """Record the sources of a loop-carried value: its initial value and the previous iteration."""
        self.sources[slot] = lambda: [op.inits[k], op.body.yields[k], *header]
        self.sources[op.outs[k]] = self.sources[slot]


def sweep(block: Block, marked: set[Value]) -> None:
    """Remove all that is not marked."""
    kept: list[Op] = []
    for op in block.ops:
        for inner in op.blocks:
            sweep(inner, marked)
        match op:
            case For():
                for k in reversed(range(len(op.inits))):
                    if op.carried[k] not in marked and op.outs[k] not in marked:
                        drop_slot(op, k)
                live = bool(op.body.ops or op.outs)
            case If():
                for k in reversed(range(len(op.outs))):
                    if op.outs[k] not in marked:
                        del op.outs[k], op.then.yields[k], op.orelse.yields[k]
                live = bool(op.outs or op.then.ops or op.orelse.ops)
            case _:
                live = any(out in marked for out in op.outs) or isinstance(op, Call) and ROWS[op.name].effect
        if live:
            kept.append(op)
    block.ops = kept


# ------------------------------------------------------------------ common subexpressions with the forward half

Known = dict[Hashable, Value]


def not_again(whole: Scope, scopes: Mapping[Block, Scope]) -> None:
    """Replace ops by values that the forward half has computed, in the reversed block or around it; ``whole``: the function's scope."""
    known: dict[Block, Known] = {}
    table: dict[Value, Operand] = {}
    for reverse, scope in scopes.items():
        kept = []
        for op in reverse.ops:
            primal = recomputed_value(op, scope, known) if isinstance(op, Call) else None
            if primal is None:
                kept.append(op)
            else:
                assert isinstance(op, Call)
                table[op.outs[0]] = primal
        reverse.ops = kept
    substitute(whole.reverse, table)


def recomputed_value(op: Call, scope: Scope | None, known: dict[Block, Known]) -> Value | None:
    """The value of the forward half that the op computes once more."""
    key = call_key(op)
    while key is not None and scope is not None:
        if scope.block not in known:
            known[scope.block] = {k: o.outs[0] for o in reversed(scope.block.ops) if isinstance(o, Call) and (k := call_key(o)) is not None}
        candidate = known[scope.block].get(key)
        if candidate is not None and candidate.type == op.outs[0].type:
            return candidate
        scope = scope.parent
    return None


def call_key(op: Call) -> Hashable | None:
    """A key that is equal for ops that compute the same elements; None for ops that cost no more than obtaining a saved value."""
    row = ROWS[op.name]
    if not row.elementwise or row.cheap or row.consumes or row.effect or len(op.outs) != 1:
        return None
    operands = tuple(key_of(a) for a in op.args)
    return (op.name, operands, tuple((name, repr(value)) for name, value in op.settings.items() if name != "via"))


# ------------------------------------------------------------------ copies of cotangents

#: rows that are not elementwise and whose result is a new array of its own
MAKING = frozenset({"zeros_of", "zeros_like", "copy"})
#: rows that keep no reference to their operands
PASSING = frozenset({"take", "sum", "dot", "matmul", "accumulate", "add_at", "set_at"}) | MAKING


def share(block: Block, copies: Sequence[Value]) -> None:
    """Replace, in place, each of ``copies`` by its source where no difference can be observed."""
    func = Func("", block)
    layout = Layout()
    layout.enter(block)
    for copy in copies:
        if copy not in layout.places:
            continue
        op = layout.op_of(copy)
        assert isinstance(op, Call)
        memory = Memory.of(func, layout)
        source = op.args[0]
        written = {memory.find(v) for v in block.yields if isinstance(v, Value)} | set(memory.stores)
        if not isinstance(source, Value) or source not in layout.places:
            continue
        untouched = not {memory.find(copy), memory.find(source)} & written
        if untouched or is_last_read(source, op, layout) or is_given_up(source, op, layout):
            table: dict[Value, Operand] = {copy: source}
            substitute(block, table)
            layout.places[copy][0].ops.remove(op)
            layout = Layout()
            layout.enter(block)


def is_last_read(source: Value, copy: Call, layout: Layout) -> bool:
    """Whether the source was created in this block, its readers keep no alias of it, and nothing reads it after the copy."""
    home, at = layout.places[copy.outs[0]]
    if layout.places[source][0] is not home or not isinstance(source.type, Array) or source.type != copy.outs[0].type:
        return False
    states, later = taken_over(source, home, layout), {*home.ops[at + 1 :]}
    ops = [layout.op_of(state) for state in states]
    maker = ops[-1]
    if not isinstance(maker, Call) or not is_of_its_own(maker) or any(state in home.yields for state in states):
        return False
    uses = {op for state in states for op in readers(home, state)}
    return not uses & later and all(op in ops or isinstance(op, Call) and is_of_its_own(op) for op in uses - {copy})


def is_of_its_own(op: Call) -> bool:
    """Whether the results are arrays and numbers that share memory with nothing."""
    row = ROWS[op.name]
    plain = row.alias == "fresh" and not row.consumes and not row.effect and not row.statement
    return plain and bool(row.pullbacks or row.partials) and all(isinstance(o.type, Array | Scalar) for o in op.outs)


def is_given_up(source: Value, copy: Call, layout: Layout) -> bool:
    """Whether an iteration copies a loop-carried array, or a later version of it, at its last read, and carries the copy."""
    home, at = layout.places[copy.outs[0]]
    if home not in layout.owners or not isinstance(source.type, Array):
        return False
    outer, before, loop = layout.owners[home]
    states = taken_over(source, home, layout)
    if not isinstance(loop, For) or not states or states[-1] not in home.args[1:]:
        return False
    slot = home.args.index(states[-1]) - 1
    if any(readers(home, state) - set(home.ops[: at + 1]) or state in home.yields or not passed(state, home) for state in states):
        return False
    end = home.yields[slot]
    if home.yields.count(end) != 1 or copy.outs[0] not in taken_over(end, home, layout):
        return False
    start = loop.inits[slot]
    if not isinstance(start, Value) or loop.inits.count(start) != 1 or start in outer.yields:
        return False
    states = taken_over(start, outer, layout)
    maker = layout.op_of(states[-1]) if states and layout.places[states[-1]][0] is outer else None
    if not isinstance(maker, Call) or not is_new_array(maker):
        return False
    return (
        isinstance(states[-1].type, Array)
        and not readers(outer, start) - {*outer.ops[:before], loop}
        and all(passed(state, outer, loop) for state in states)
    )


def taken_over(operand: Operand, block: Block, layout: Layout) -> list[Value]:
    """A value and the earlier values whose memory it has taken over by stores in this block, without other aliases; the earliest last."""
    values: list[Value] = []
    while isinstance(operand, Value) and operand in layout.places and layout.places[operand][0] is block:
        op = layout.op_of(operand)
        values.append(operand)
        if not isinstance(op, Call) or not ROWS[op.name].consumes or not passed(operand, block):
            break
        operand = op.args[0]
    return values


def readers(block: Block, value: Value) -> set[Op]:
    """The ops of a block that read a value, themselves or in their blocks."""
    return {op for op in block.ops if value in operands_within(op)}


def passed(value: Value, block: Block, but: Op | None = None) -> bool:
    """Whether all ops that read a value, except ``but``, keep no alias of its memory."""
    return all(isinstance(op, Call) and (is_new_array(op) or op.name in PASSING) for op in readers(block, value) if op is not but)


def is_new_array(op: Call) -> bool:
    """Whether the result is a new array."""
    row = ROWS[op.name]
    return row.elementwise and row.alias == "fresh" and not row.consumes or op.name in MAKING


__all__ = ["share"]
