"""Copy elision: removes copies that protect a cotangent from overwriting where nothing reads the overwritten value."""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.adjoint.memory import Memory
from symgrad.ir.core import Block, Call, For, Func, Op, Operand, Value, substitute, walk
from symgrad.ir.layout import Layout
from symgrad.ir.types import Array, Scalar
from symgrad.ops.declare import ROWS

#: rows that are not elementwise and create an array that they own
MAKING = frozenset({"zeros_of", "zeros_like", "copy"})
#: rows that keep no reference to their operands
PASSING = frozenset({"take", "sum", "dot", "matmul", "accumulate", "add_at", "set_at"}) | MAKING


def share(block: Block, copies: Sequence[Value]) -> None:
    """Replace, in place, each of ``copies`` that is unnecessary by its source."""
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
    """Whether the copied array is created in this block, has no aliases, and is dead after the copy."""
    home, at = layout.places[copy.outs[0]]
    if layout.places[source][0] is not home or not isinstance(source.type, Array) or source.type != copy.outs[0].type:
        return False
    maker, later = layout.op_of(source), {*home.ops[at + 1 :]}
    uses = readers(home, source)
    if not isinstance(maker, Call) or not is_of_its_own(maker) or source in home.yields or uses & later:
        return False
    return all(isinstance(op, Call) and is_of_its_own(op) for op in uses if op is not copy)


def is_of_its_own(op: Call) -> bool:
    """Whether the results are arrays and numbers that share memory with nothing."""
    row = ROWS[op.name]
    plain = row.alias == "fresh" and not row.consumes and not row.effect and not row.statement
    return plain and bool(row.pullbacks or row.partials) and all(isinstance(o.type, Array | Scalar) for o in op.outs)


def is_given_up(source: Value, copy: Call, layout: Layout) -> bool:
    """Whether a loop iteration copies a dead loop-carried array and yields the copy in its place."""
    home, at = layout.places[copy.outs[0]]
    if home not in layout.owners or source not in home.args[1:] or not isinstance(source.type, Array):
        return False
    outer, before, loop = layout.owners[home]
    if not isinstance(loop, For):
        return False
    slot = home.args.index(source) - 1
    if readers(home, source) - set(home.ops[: at + 1]) or source in home.yields:
        return False
    end = home.yields[slot]
    if not passed(source, home) or home.yields.count(end) != 1 or copy.outs[0] not in taken_over(end, home, layout):
        return False
    start = loop.inits[slot]
    if not isinstance(start, Value) or loop.inits.count(start) != 1 or start in outer.yields:
        return False
    states = taken_over(start, outer, layout)
    maker = layout.op_of(states[-1]) if states and layout.places[states[-1]][0] is outer else None
    if not isinstance(maker, Call) or not is_made(maker):
        return False
    return isinstance(states[-1].type, Array) and not readers(outer, start) - {*outer.ops[:before], loop} and all(
        passed(state, outer, loop) for state in states)  # fmt: skip


def taken_over(operand: Operand, block: Block, layout: Layout) -> list[Value]:
    """A value and those whose memory it has taken over by stores in this block and that have no other references, the earliest last."""
    values: list[Value] = []
    while isinstance(operand, Value) and operand in layout.places and layout.places[operand][0] is block:
        op = layout.op_of(operand)
        values.append(operand)
        if not isinstance(op, Call) or not ROWS[op.name].consumes or not passed(operand, block):
            break
        operand = op.args[0]
    return values


def readers(block: Block, value: Value) -> set[Op]:
    """The ops of a block that read a value, directly or in their blocks."""
    return {op for op in block.ops if value in op.operands or any(value in inner.operands for b in op.blocks for inner in walk(b))
            or any(value in b.yields for b in op.blocks)}  # fmt: skip


def passed(value: Value, block: Block, but: Op | None = None) -> bool:
    """Whether no reader of a value, except ``but``, creates an alias of it."""
    return all(isinstance(op, Call) and (is_made(op) or op.name in PASSING) for op in readers(block, value) if op is not but)


def is_made(op: Call) -> bool:
    """Whether the result is a new array."""
    row = ROWS[op.name]
    return row.elementwise and row.alias == "fresh" and not row.consumes or op.name in MAKING


__all__ = ["share"]
