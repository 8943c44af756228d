"""Reads off the types of a function which of its integers stand for which extents.

The builder that made the function knew; with this the builder of the backward half does too, so that
``y[:k]`` has one shape in both.
"""

from __future__ import annotations

import re

from symgrad.ir.core import Call, Const, Func, Value, walk
from symgrad.ir.types import INT, Array, Dim, Extent
from symgrad.ops.build import SUMS
from symgrad.ops.declare import ROWS

PLACE = re.compile(r"@(\d+)@")
EXTENT = re.compile(r"(\w+|\([^|]*\))([+-]\d+)?")


def known_extents(func: Func) -> dict[Value, Extent]:
    """The extent that each integer is known to stand for."""
    found: dict[Value, Extent] = {}
    for op in walk(func.body):
        if isinstance(op, Call) and len(op.outs) == 1 and op.outs[0].type == INT:
            sum_up(op, found)
        if isinstance(op, Call) and len(op.outs) == 1 and isinstance(op.outs[0].type, Array):
            if any(isinstance(a, Value) and getattr(a.type, "kind", None) == "int" for a in op.args):
                compare(op, found)
    return found


def sum_up(op: Call, found: dict[Value, Extent]) -> None:
    """An integer that is an extent, or a sum of what is known."""
    if op.name == "extent" and isinstance(op.args[0].type, Array) and op.args[0].type.shape is not None:
        found[op.outs[0]] = op.args[0].type.shape[op.settings["axis"]]
    elif op.name in SUMS and all(a.type == INT for a in op.args):
        parts = [a.value if isinstance(a, Const) else found.get(a) for a in op.args]
        made = None if None in parts else SUMS[op.name](*parts)
        if made is not None:
            found[op.outs[0]] = made


def compare(op: Call, found: dict[Value, Extent]) -> None:
    """Ask the row for the type with operands marked, and see what stands in their place."""

    def mark(k: int) -> Extent:
        operand = op.args[k]
        if isinstance(operand, Const):
            return operand.value if isinstance(operand.value, int) else Dim("?")
        return Dim(f"@{k}@")

    row = ROWS[op.name]
    made = row.law([a.type for a in op.args], {**row.settings, **op.settings}, mark)
    actual = op.outs[0].type
    assert isinstance(actual, Array)
    if not isinstance(made, Array) or made.shape is None or actual.shape is None or len(made.shape) != len(actual.shape):
        return
    for marked, extent in zip(made.shape, actual.shape, strict=True):
        if isinstance(marked, Dim) and isinstance(extent, Dim) and PLACE.search(marked.symbol):
            read(op, marked, extent, found)


def read(op: Call, marked: Dim, extent: Dim, found: dict[Value, Extent]) -> None:
    """Match one extent with marks against the extent that stands there."""
    places = [int(k) for k in PLACE.findall(marked.symbol)]
    if marked.symbol == f"@{places[0]}@":
        if marked.offset == 0:
            note(op, places[0], extent.symbol, extent.offset, found)
        return
    pattern = "".join("([^|]+)" if part.isdigit() and k % 2 else re.escape(part) for k, part in enumerate(PLACE.split(marked.symbol)))
    match = re.fullmatch(pattern, extent.symbol)
    if match is None or marked.offset != extent.offset:
        return
    for k, text in zip(places, match.groups(), strict=True):
        if plain := EXTENT.fullmatch(text):
            note(op, k, plain[1], int(plain[2] or 0), found)


def note(op: Call, place: int, symbol: str, offset: int, found: dict[Value, Extent]) -> None:
    operand = op.args[place]
    if isinstance(operand, Value):
        found.setdefault(operand, Dim(symbol, offset))


__all__ = ["known_extents"]
