"""Joins of lists of lists: whether the outer lists alone hold the inner lists, and inner lists that both paths see."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from symgrad.frontend.flow.branch_sides import Side
from symgrad.frontend.flow.sequences import owns_items
from symgrad.frontend.state.bindings import HeapKey, Ref, is_row, memory_of, row_at
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.program_state import State
from symgrad.frontend.state.reach import reached, rows_seen
from symgrad.ir.core import UNDEF, Operand, Value
from symgrad.ir.types import INT, Type


def share_rows(ctx: Lowering, side: Side, content: Any) -> None:
    """Record on one side that after the join a list, or an inner list, may be another one."""
    location = memory_of(content)
    if location is not None and not side.state.dead and location in side.state.owning:
        kept, ctx.state = ctx.state, side.state
        with ctx.inside(side.block):
            ctx.share_rows(location)
        ctx.state = kept


def own_rows(sides: tuple[Side, Side], contents: list[Any]) -> bool:
    """Whether each of two lists of lists, on its side, alone holds its inner lists, with no other reference to these."""
    for side, content in zip(sides, contents, strict=True):
        if side.state.dead or content == ():
            continue
        location = memory_of(content)
        if location is None or location not in side.state.owning or rows_seen(location, side.state):
            return False
    return True


def own_items(ctx: Lowering, sides: tuple[Side, Side], key: HeapKey) -> bool:
    """Whether a list, on each side, alone holds its inner lists, if any, with no other reference to these."""
    alive = [side.state for side in sides if not side.state.dead]
    for state in alive:
        location = memory_of(state.heap[key])
        if not owns_items(ctx, state, key) if location is None else location not in state.owning or rows_seen(location, state):
            return False
    return True


def row_in_both(sides: tuple[Side, Side], contents: list[Any], out: Callable[[Operand, Operand, Type, str | None], Value]) -> Ref | None:
    """The content of an inner list that both sides see in one list of lists, or one side if the other has none."""
    rows = [content for content in contents if content != ()]
    if not all(map(is_row, rows)) or len({row.location for row in rows}) != 1:
        return None
    if not all(rows[0].location in side.state.owning for side in sides if not side.state.dead):
        return None
    indices = [UNDEF if content == () else content.path[0].operands[0] for content in contents]
    return row_at(rows[0].location, out(indices[0], indices[1], INT, None))


def rows_left(keys: Iterable[HeapKey], states: list[State]) -> set[HeapKey]:
    """The lists inside a list of lists whose place there differs between the states, and that nothing reaches from there on."""
    several = {key: [state.heap[key] for state in states] for key in keys}
    left = {key for key, contents in several.items() if any(map(is_row, contents)) and any(held != contents[0] for held in contents)}
    return left.difference(*map(reached, states)) if left else left


__all__ = ["own_items", "own_rows", "row_in_both", "rows_left", "share_rows"]
