"""The builder: inserts typed ops at an insertion point.

The op's row determines the type of its result, so the type of every value is known at once. The builder also remembers which integer
values are extents, so that ``np.zeros(n)`` and ``np.ones(n)`` have the same shape. ``know`` recovers these equalities from the types of a
function: with them the builder of the backward half infers the same shape for ``y[:k]``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from symgrad.ir.core import Block, Call, Const, For, Func, If, Op, Operand, Value, definitions, walk
from symgrad.ir.sums import Sum, combined, extent_of, product_of, sum_of
from symgrad.ir.types import INT, Array, Dim, Extent, List, Scalar, Shape, ShapeOf, Type, is_complex
from symgrad.location import NOWHERE, Loc
from symgrad.ops.declare import ROWS
from symgrad.ops.indexing import Asked
from symgrad.ops.rows.complexes import INSTEAD, for_complex


def _added(a: Extent, b: Extent, times: int = 1) -> Extent | None:
    one, other = sum_of(a), sum_of(b)
    return None if one is None or other is None else extent_of(combined(one, other, times))


#: rows that create arrays from their extents, and the position of the first extent among the operands
SIZED = {"zeros": 0, "ones": 0, "empty": 0, "full": 1}
#: rows that make extents of extents
SUMS: dict[str, Callable[..., Extent | None]] = {
    "add": _added,
    "subtract": lambda a, b: _added(a, b, -1),
    "negative": lambda a: _added(0, a, -1),
    "multiply": product_of,
}


@dataclass
class Builder:
    """An insertion point (``block``), the current place in the user's source, and the known extents."""

    block: Block = field(default_factory=Block)
    loc: Loc = NOWHERE
    extents: dict[Value, Extent] = field(default_factory=dict)
    sizes: dict[Value, Shape] = field(default_factory=dict)  #: numbers of elements: the shapes of the arrays
    integers: dict[Value, Sequence[Operand]] = field(default_factory=dict)  #: the definitions of integers and bools
    fresh: Iterator[int] = field(default_factory=count)
    taken: set[str] = field(default_factory=set)  #: symbols of extents that mean something already
    facts: list[Sum] = field(default_factory=list)  #: quantities that are nonnegative at the insertion point
    plural: set[tuple[str, int]] = field(default_factory=set)  #: extents, by symbol and offset, that are known not to be 1

    def call(self, name: str, *args: Operand, hint: str | None = None, **settings: Any) -> Value:
        """Append ``name(*args, **settings)`` and return its one result."""
        (out,) = self.call_many(name, *args, hints=(hint,), **settings)
        return out

    def call_many(self, name: str, *args: Operand, hints: tuple[str | None, ...] = (), **settings: Any) -> list[Value]:
        """Append an op that has several results, and return them."""
        types = [a.type for a in args]
        if name in INSTEAD and any(map(is_complex, types)):
            name, settings = for_complex(name, settings)
        row = ROWS[name]
        settings = {**row.settings, **settings}
        result = row.law(types, settings, self.asked(args))
        results = result if isinstance(result, tuple) else (result,)
        outs = [Value(self.freshen(t), h) for t, h in zip(results, [*hints, *[None] * len(results)], strict=False)]
        self.block.ops.append(Call(outs, self.loc, name, list(args), settings))
        self.note_extent(name, args, settings, outs[0] if outs else None)
        return outs

    def type_of(self, name: str, types: list[Type], settings: dict[str, Any], operands: Sequence[Operand]) -> Any:
        """Return the result type of an op on operands of these types."""
        return ROWS[name].law(types, {**ROWS[name].settings, **settings}, self.asked(operands))

    def note_extent(self, name: str, args: Sequence[Operand], settings: dict[str, Any], out: Value | None) -> None:
        """Remember that an integer is an extent, or a sum or product of integers."""
        if out is None:
            return
        if isinstance(out.type, List) or isinstance(out.type, Scalar) and out.type.kind in ("int", "bool"):
            self.integers[out] = args
        if name == "extent" and isinstance(args[0].type, Array) and args[0].type.shape is not None:
            self.extents[out] = known = args[0].type.shape[settings["axis"]]
            if isinstance(known, Dim):
                self.note(Dim(known.symbol))
                if known.plural:
                    self.plural.add((known.symbol, known.offset))
        elif name == "size" and isinstance(args[0].type, Array) and args[0].type.shape is not None:
            self.sizes[out] = args[0].type.shape
        elif name in SIZED:  # it would have raised
            for operand in args[SIZED[name] :]:
                self.note(self.extent_of(operand))
        elif name in SUMS and out.type == INT and all(a.type == INT for a in args):
            extent = SUMS[name](*map(self.extent_of, args))
            if extent is not None:
                self.extents[out] = extent

    def asked(self, operands: Sequence[Operand]) -> Asked:
        """Return the facts about operands that shape laws may use."""
        return Asked(lambda k: self.extent_of(operands[k]), self.facts, self.plural)

    def note(self, extent: Extent, less: Extent = 0) -> None:
        """Note that one integer is no less than another, from here to the end of the block."""
        one, other = sum_of(extent), sum_of(less)
        if one is not None and other is not None and (fact := combined(one, other, -1)) not in self.facts:
            self.facts.append(fact)

    def note_round(self, index: Value, start: Operand, stop: Operand, step: Operand) -> None:
        """Record the range of a loop index."""
        if isinstance(step, Const) and type(step.value) is int and step.value:
            low, high, shift = (start, stop, 0) if step.value > 0 else (stop, start, 1)
            place = self.extent_of(index)
            for one, other in ((place, _added(self.extent_of(low), shift)), (self.extent_of(high), _added(place, 1 - shift))):
                if other is not None:
                    self.note(one, other)

    def append(self, op: Op) -> Op:
        """Append an op that was made elsewhere (a loop, a branch)."""
        self.block.ops.append(op)
        if isinstance(op, If):
            for out, *sides in zip(op.outs, op.then.yields, op.orelse.yields, strict=False):
                self.integers[out] = (op.test, *sides)
        return op

    @contextmanager
    def inside(self, block: Block) -> Iterator[Block]:
        """Build in ``block`` for a while."""
        outer, known = self.block, len(self.facts)
        self.block = block
        try:
            yield block
        finally:
            self.block = outer
            del self.facts[known:]

    @contextmanager
    def at(self, loc: Loc) -> Iterator[None]:
        """Build for another line of the source for a while."""
        outer, self.loc = self.loc, loc
        try:
            yield
        finally:
            self.loc = outer

    def extent_of(self, operand: Operand) -> Extent:
        """Return the extent that an integer operand represents; the same operand always represents the same extent."""
        if isinstance(operand, Const):
            return operand.value if isinstance(operand.value, int) else Dim("?")
        if operand not in self.extents:
            self.extents[operand] = Dim(self.symbol(operand.name or "n"))
        return self.extents[operand]

    def symbol(self, stem: str) -> str:
        """A symbol that no other extent has."""
        while (name := f"{stem}{next(self.fresh)}") in self.taken:
            pass
        self.taken.add(name)
        return name

    def distinct(self, type_: Type) -> Type:
        """Return the type of an input, with fresh symbols where its own are in use (``p.w`` and ``p_w`` are both named ``p_w``)."""
        if not isinstance(type_, Array) or type_.shape is None:
            return type_
        shape = tuple(replace(e, symbol=self.symbol(e.symbol)) if isinstance(e, Dim) and e.symbol in self.taken else e for e in type_.shape)
        self.taken.update(e.symbol for e in shape if isinstance(e, Dim))
        return replace(type_, shape=shape)

    def freshen(self, type_: Type) -> Type:
        """Replace each unknown extent (``?``) by a fresh symbol."""

        def one(extent: Extent) -> Extent:
            if isinstance(extent, Dim) and extent.symbol == "?":
                return Dim(self.symbol("k"), 0, extent.plural)
            return extent

        def shape(old: Shape | None) -> Shape | None:
            return None if old is None else tuple(map(one, old))

        if isinstance(type_, Array | ShapeOf) and any(isinstance(e, Dim) and e.symbol == "?" for e in type_.shape or ()):
            return replace(type_, shape=shape(type_.shape))
        return type_


#: a symbol in the text of an extent
SYMBOL = re.compile(r"[^\W\d]\w*")


def symbols(func: Func) -> set[str]:
    """The symbols of extents that occur in the types of a function."""
    return {name for value in definitions(func.body) for name in symbols_of(value.type)}


def symbols_of(type_: Type) -> set[str]:
    """The symbols of the extents of an array or a shape."""
    shape = type_.shape or () if isinstance(type_, Array | ShapeOf) else ()
    return {name for extent in shape if isinstance(extent, Dim) for name in SYMBOL.findall(extent.symbol)}


def renamed(type_: Type, names: Mapping[str, str]) -> Type:
    """A type with other symbols."""

    def one(extent: Extent) -> Extent:
        if not isinstance(extent, Dim):
            return extent
        return replace(extent, symbol=SYMBOL.sub(lambda match: names.get(match[0], match[0]), extent.symbol))

    match type_:
        case Array(shape=shape) | ShapeOf(shape=shape) if shape is not None:
            return replace(type_, shape=tuple(map(one, shape)))
        case List(item=item):
            return replace(type_, item=renamed(item, names))
    return type_


def retype(block: Block, typed: Callable[[Type], Type]) -> None:
    """Change the types of the values that a block and its nested blocks define."""
    for value in definitions(block):
        value.type = typed(value.type)


# ------------------------------------------------------------------ facts about integers that follow from a function's types


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
