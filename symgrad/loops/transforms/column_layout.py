"""Layout assignment: stores arrays by columns where inner loops run along columns. Works in place, before ``versions``.

    q = empty((m, n)); for k: for i: q[i, k] = ...     ->     q = empty((n, m)); for k: for i: q[k, i] = ...

Only for arrays that the kernel creates and accesses element by element. Returned arrays are copied to rows at
the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from symgrad.ir.core import Block, Call, For, Op, Operand, Value, blocks_within
from symgrad.ir.types import Array
from symgrad.loops.accesses import depends, linear
from symgrad.loops.writer import Writer, number

Item = TypeVar("Item")
#: the assumed number of iterations of a loop
ROUNDS = 8
#: how much more often than the last axis another one must be traversed for a layout change
OFTENER = 4
#: loops up to this many iterations do not count as traversals
SHORT = 4


def column_layout(block: Block, writer: Writer) -> None:
    """Change the layout of the arrays for which that pays."""
    array_uses: dict[Value, Uses] = {}
    for op, loops in walked(block, ()):
        gather(op, loops, array_uses)
    results = [y for y in block.yields if isinstance(y, Value)]
    makers = {op: inner for inner in blocks_within(block) for op in inner.ops}
    for handle, uses in array_uses.items():
        if uses.maker is None or uses.otherwise or not isinstance(handle.type, Array):
            continue
        out = results.count(handle)
        if out > 1 or out and makers[uses.maker] is not block:
            continue
        axis = uses.longest(writer, by_rows=bool(out))
        if axis is not None:
            turn(handle, uses, axis)
            if out:
                hand_out(block, writer, handle, uses.maker, axis)


@dataclass(slots=True)
class Uses:
    """The uses of an array: its allocation, element accesses with the loops around them, reads of extents."""

    maker: Call | None = None
    elements: list[tuple[Call, tuple[For, ...]]] = field(default_factory=list)
    extents: list[Call] = field(default_factory=list)
    otherwise: bool = False

    def longest(self, writer: Writer, by_rows: bool) -> int | None:
        """The axis that loops traverse much more often than the last one; ``by_rows``: a row-major copy is needed at the end."""
        assert self.maker is not None
        rank = len(self.maker.args)
        often = [0] * rank
        for op, loops in self.elements:
            for depth in range(len(loops), 0, -1):
                loop = loops[depth - 1]
                index = place(op)
                moved = [k for k, i in enumerate(index) if depends(writer, i, loop.index)]
                if moved and not is_short(loop):
                    if len(moved) == 1 and linear(writer, index[moved[0]], loop.index) is not None:
                        often[moved[0]] += ROUNDS**depth
                    break
        if by_rows and rank:
            often[-1] += ROUNDS**rank
        axis = max(range(rank), key=often.__getitem__, default=-1)
        return axis if axis < rank - 1 and often[axis] > OFTENER * often[-1] else None


def place(op: Call) -> list[Operand]:
    """The index of the element that an op reads or stores to."""
    return op.args[1:] if op.name == "take" else op.args[2:]


def is_short(loop: For) -> bool:
    """Whether a loop runs few iterations."""
    first, last = number(loop.start), number(loop.stop)
    return first is not None and last is not None and abs(last - first) <= SHORT


def walked(block: Block, loops: tuple[For, ...]) -> Iterator[tuple[Op, tuple[For, ...]]]:
    """All ops with the loops around them, outermost first."""
    for op in block.ops:
        yield op, loops
        for inner in op.blocks:
            yield from walked(inner, (*loops, op) if isinstance(op, For) else loops)


def gather(op: Op, loops: tuple[For, ...], array_uses: dict[Value, Uses]) -> None:
    """Record the array uses of an op."""

    def uses(operand: Operand) -> Uses | None:
        return array_uses.setdefault(operand, Uses()) if isinstance(operand, Value) and isinstance(operand.type, Array) else None

    others = list(op.operands)
    if isinstance(op, Call) and op.name in ("empty", "zeros"):
        if (own := uses(op.outs[0])) is not None:
            own.maker = op
    elif isinstance(op, Call) and op.name in ("take", "set_at", "add_at", "extent"):
        own = uses(op.args[0])
        if own is not None and op.name == "extent":
            own.extents.append(op)
            others = others[1:]
        elif own is not None and isinstance(array := op.args[0].type, Array) and op.settings["index"] == "i" * (array.rank or 0):
            own.elements.append((op, loops))
            others = others[1:]
    others += [y for block in op.blocks for y in block.yields]
    for operand in others:
        if (own := uses(operand)) is not None:
            own.otherwise = True


def turn(handle: Value, uses: Uses, axis: int) -> None:
    """Make an axis the last one."""
    assert uses.maker is not None
    array = handle.type
    assert isinstance(array, Array)
    uses.maker.args = moved(uses.maker.args, axis)
    handle.type = Array(array.dtype, None if array.shape is None else tuple(moved(list(array.shape), axis)), "C")
    for op, _ in uses.elements:
        index = place(op)
        op.args = [*op.args[: len(op.args) - len(index)], *moved(index, axis)]
    for op in uses.extents:
        order = moved(list(range(len(uses.maker.args))), axis)
        op.settings = {**op.settings, "axis": order.index(op.settings["axis"])}


def moved(items: list[Item], axis: int) -> list[Item]:
    """The items with the one at ``axis`` moved to the end."""
    return [*items[:axis], *items[axis + 1 :], items[axis]]


def hand_out(block: Block, writer: Writer, handle: Value, maker: Call, axis: int) -> None:
    """Yield a row-major copy instead of the array."""
    extents = [*maker.args[:-1]]
    extents.insert(axis, maker.args[-1])
    with writer.build.inside(block), writer.build.at(maker.loc):
        copy = writer.empty(maker.settings["dtype"], extents, handle.name)
        with writer.nest(extents) as index:
            writer.store(copy, writer.read(handle, moved(list(index), axis)), index)
    block.yields = [copy if y is handle else y for y in block.yields]


__all__ = ["column_layout"]
