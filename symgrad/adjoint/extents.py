"""Recovers from a function's types which of its integers equal which extents.

The builder that made the function knew these equalities. With them the builder of the backward half infers the
same shape for ``y[:k]``.
"""

from __future__ import annotations

import re

from symgrad.ir.core import Call, Const, For, Func, Value, walk
from symgrad.ir.sums import Sum, combined, extent_of, sum_of
from symgrad.ir.types import INT, Array, Dim, Extent
from symgrad.ops.build import SIZED, SUMS, Builder
from symgrad.ops.declare import ROWS

PLACE = re.compile(r"@(\d+)@")
SLICE = re.compile(r"\(([^|]+)\|([^|]*)\|([^|]*)\|1?\)")
EXTENT = re.compile(r"(\w+|\([^|]*\))([+-]\d+)?")


def know(builder: Builder, func: Func) -> None:
    """Pass to a builder which integers of a function equal which extents, and the ranges of loop indices.

    A fact about an index holds in every iteration, so it may be used wherever the index is read.
    """
    builder.extents.update(known := known_extents(func))
    sizes = set(func.body.ops)  # values defined in branches and loops may never be computed
    for op in walk(func.body):
        match op:
            case For():
                builder.note_round(op.index, op.start, op.stop, op.step)
            case Call() if op.outs and (op.name not in SIZED or op in sizes):
                builder.note_extent(op.name, op.args, op.settings, op.outs[0])
                builder.extents.update({out: known[out] for out in op.outs if out in known})


def known_extents(func: Func) -> dict[Value, Extent]:
    """The extent that each integer is known to equal."""
    known: dict[Value, Extent] = {}
    integers: list[Call] = []
    for op in walk(func.body):
        if isinstance(op, Call) and len(op.outs) == 1 and op.outs[0].type == INT:
            sum_up(op, known)
            integers.append(op)
        if isinstance(op, Call) and len(op.outs) == 1 and isinstance(op.outs[0].type, Array):
            if any(isinstance(a, Value) and getattr(a.type, "kind", None) == "int" for a in op.args):
                compare(op, known)
    for op in reversed(integers):
        undo(op, known)
    return known


def sum_up(op: Call, known: dict[Value, Extent]) -> None:
    """Record an integer result that is an extent, or a sum of known integers."""
    if op.name == "extent" and isinstance(op.args[0].type, Array) and op.args[0].type.shape is not None:
        known[op.outs[0]] = op.args[0].type.shape[op.settings["axis"]]
    elif op.name in SUMS and all(a.type == INT for a in op.args):
        parts = [a.value if isinstance(a, Const) else known.get(a) for a in op.args]
        total = None if None in parts else SUMS[op.name](*parts)
        if total is not None:
            known[op.outs[0]] = total


def undo(op: Call, known: dict[Value, Extent]) -> None:
    """Record the one unknown operand of a known sum or difference."""
    if op.name not in ("add", "subtract") or op.outs[0] not in known or not all(a.type == INT for a in op.args):
        return
    total, sign = sum_of(known[op.outs[0]]), 1 if op.name == "add" else -1
    parts = [sum_of(a.value) if isinstance(a, Const) else sum_of(known[a]) if a in known else None for a in op.args]
    if total is None or parts.count(None) != 1:
        return
    place = parts.index(None)
    other = parts[1 - place]
    assert other is not None
    missing = combined(total, other, -sign) if place == 0 else combined(other, total, -1) if sign < 0 else combined(total, other, -1)
    operand = op.args[place]
    if isinstance(operand, Value):
        known[operand] = extent_of(missing)


def compare(op: Call, known: dict[Value, Extent]) -> None:
    """Compute the row's type with marks for its operands, and match its extents against the actual ones."""

    def mark(k: int) -> Extent:
        operand = op.args[k]
        if isinstance(operand, Const):
            return operand.value if isinstance(operand.value, int) else Dim("?")
        return Dim(f"@{k}@")

    row = ROWS[op.name]
    marked_type = row.law([a.type for a in op.args], {**row.settings, **op.settings}, mark)
    actual = op.outs[0].type
    assert isinstance(actual, Array)
    if (
        not isinstance(marked_type, Array)
        or marked_type.shape is None
        or actual.shape is None
        or len(marked_type.shape) != len(actual.shape)
    ):
        return
    for marked, extent in zip(marked_type.shape, actual.shape, strict=True):
        if isinstance(marked, Dim) and isinstance(extent, Dim) and PLACE.search(marked.symbol):
            read(op, marked, extent, known)


def read(op: Call, marked: Dim, extent: Dim, known: dict[Value, Extent]) -> None:
    """Match one extent that contains marks against the actual extent."""
    places = [int(k) for k in PLACE.findall(marked.symbol)]
    if marked.symbol == f"@{places[0]}@":
        if marked.offset == 0:
            note(op, places[0], extent.symbol, extent.offset, known)
        return
    pattern = "".join("([^|]+)" if part.isdigit() and k % 2 else re.escape(part) for k, part in enumerate(PLACE.split(marked.symbol)))
    match = re.fullmatch(pattern, extent.symbol)
    if match is None or marked.offset != extent.offset:
        solve(op, marked, extent, known)
        return
    for k, text in zip(places, match.groups(), strict=True):
        if plain := EXTENT.fullmatch(text):
            note(op, k, plain[1], int(plain[2] or 0), known)


def solve(op: Call, marked: Dim, extent: Dim, known: dict[Value, Extent]) -> None:
    """Record the one unknown bound of a slice whose length is the difference of its bounds."""
    match = SLICE.fullmatch(marked.symbol)
    total = sum_of(extent)
    if match is None or total is None or "|" in extent.symbol:
        return

    def bound(text: str) -> Sum | None:
        place = PLACE.fullmatch(text)
        if place is not None:
            operand = op.args[int(place[1])]
            return sum_of(known[operand]) if operand in known else None
        plain = EXTENT.fullmatch(text)
        return sum_of(int(text)) if text.isdigit() else sum_of(Dim(plain[1], int(plain[2] or 0))) if plain else None

    whole, start, stop = match.groups()
    first, last = bound(start) if start else {}, bound(stop or whole)
    if first is None and last is not None and (place := PLACE.fullmatch(start)):
        known.setdefault(op.args[int(place[1])], extent_of(combined(last, total, -1)))  # type: ignore[arg-type]
    elif last is None and first is not None and (place := PLACE.fullmatch(stop)):
        known.setdefault(op.args[int(place[1])], extent_of(combined(first, total)))  # type: ignore[arg-type]


def note(op: Call, place: int, symbol: str, offset: int, known: dict[Value, Extent]) -> None:
    operand = op.args[place]
    if isinstance(operand, Value):
        known.setdefault(operand, Dim(symbol, offset))


__all__ = ["know", "known_extents"]
