"""Access regions: which part of an array an op reads or writes, and whether two ops may access one element.

Regions count as disjoint only if that is proved: by paths whose integers are sums of loop indices, extents and other integers, compared
axis by axis.
"""

from __future__ import annotations

from symgrad.ir.core import Block, Call, Const, For, If, Operand, Value, While
from symgrad.ir.layout import Layout, Place
from symgrad.ir.sums import ONE, Sum, combined, follows
from symgrad.ir.types import Array, Extent, Scalar
from symgrad.ops.analysis.affine import Round
from symgrad.ops.indexing import OPERANDS, steps

#: rows with a path, and where their paths begin among the operands
PATHS = {"view": 1, "take": 1, "take_written": 1, "set_at": 2, "add_at": 2, "add_written": 2}
#: rows that access an item of a list in a list, by two indices after the list; or a list in a list, by one index
TABLES = {"table_take": 2, "table_set": 2, "table_add_at": 2, "list_set": 1, "list_add_at": 1}

Span = tuple[Sum, Sum | None]  #: from, and up to, not including; None where no end is known


def spans(op: Call, here: Round) -> list[Span | None]:
    """The span of each leading axis that a path selects, or a larger one; None for the whole axis."""
    array = op.args[0]
    if op.name in TABLES:
        assert isinstance(array, Value)
        return [span("i", [place], None, array, here) for place in op.args[1 : 1 + TABLES[op.name]]]
    shape = array.type.shape if isinstance(array.type, Array) else None
    if op.name not in PATHS or shape is None:
        return []
    axis_spans: list[Span | None] = []
    at = PATHS[op.name]
    first, _ = steps(op.settings["index"])[0]
    for letter in "" if first.startswith(".") else first:
        operands = op.args[at : at + OPERANDS[letter]]
        at += OPERANDS[letter]
        if letter == "n":
            continue
        if letter == "e" or len(axis_spans) >= len(shape) or not all(is_plain(o, letter) for o in operands):
            break
        assert isinstance(array, Value)
        axis_spans.append(span(letter, operands, shape[len(axis_spans)], array, here))
    return axis_spans


def is_plain(operand: Operand, letter: str) -> bool:
    """Whether it is an integer, or None as a bound of a slice."""
    if isinstance(operand, Const) and operand.value is None:
        return letter == "s"
    return isinstance(operand.type, Scalar) and operand.type.kind == "int"


def span(letter: str, operands: list[Operand], extent: Extent | None, array: Value, here: Round) -> Span | None:
    """Return the part of its axis that one item of a path selects."""

    def counted(operand: Operand) -> Sum | None:
        """Return an index counted from the start of the axis; None if it may be negative."""
        place = here.sum(operand)
        if place is None:
            return None
        if set(place) <= {ONE} and place.get(ONE, 0) < 0:
            length = None if extent is None else here.extent(extent, array)
            return None if length is None else combined(length, place)
        return place if follows(place, here.facts) else None

    if letter == "i":
        place = counted(operands[0])
        return None if place is None else (place, combined(place, {ONE: 1}))
    start, stop, step = operands
    if not isinstance(step, Const) or step.value is not None and (type(step.value) is not int or step.value < 1):
        return None
    is_none = [isinstance(o, Const) and o.value is None for o in (start, stop)]
    low = {} if is_none[0] else counted(start)
    high = None if is_none[1] else counted(stop)
    return ({} if low is None else low, high)


def are_disjoint(a: list[Span | None], b: list[Span | None], facts: list[Sum]) -> bool:
    """Whether the two surely have no element in common."""
    for one, two in zip(a, b, strict=False):
        if one is None or two is None:
            continue
        for (_, end), (start, _) in ((one, two), (two, one)):
            if end is not None and follows(combined(start, end, -1), facts):
                return True
    return False


def follows_in(late: list[Place], early: list[Place], level: int) -> bool:
    """Whether the first op follows the second within one iteration of all common loops."""
    (block, one), (_, two) = late[level], early[level]
    if one == two and isinstance(op := block.ops[one], If | While | For):
        inner = [path[level + 1][0] for path in (late, early) if level + 1 < len(path)]
        return len(inner) == 2 and not isinstance(op, If)
    return one > two


def meet(store: Call, access: Call, loop: Block | None, layout: Layout) -> bool:
    """Whether the two may access one element, with the store in a later iteration of a loop or, without a loop, in the same."""
    inside = frozenset() if loop is None else frozenset([loop])
    now, later = Round(layout), Round(layout, inside)
    now.bounds(layout.places[access.outs[0]][0])
    later.bounds(layout.places[store.outs[0]][0])
    later.facts = now.facts = [*now.facts, *later.facts]
    if loop is not None and isinstance(op := layout.owners[loop][2], For) and isinstance(op.step, Const):
        ahead = (1 if op.step.value > 0 else -1) * (-1 if op.backward else 1)
        gap = combined(later.index(op), now.index(op), -1)
        now.facts.append(combined(combined({}, gap, ahead), {ONE: -abs(op.step.value)}))
    touched = spans(access, now)
    if store.name == "list_append" and touched:  # indices counted from the start are unaffected
        return touched[0] is None
    return not are_disjoint(touched, spans(store, later), now.facts)


__all__ = ["PATHS", "TABLES", "are_disjoint", "follows_in", "meet", "spans"]
