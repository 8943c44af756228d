"""Builds ops one after the other, each with its type, at an insertion point.

The builder asks the op's row for the type of its result, so whoever builds a program knows the
type of every value at once. It also remembers which integer values are extents, so that
``np.zeros(n)`` and ``np.ones(n)`` have the same shape.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from symgrad.ir.core import Block, Call, Const, Func, Op, Operand, Value
from symgrad.ir.sums import combined, extent_of, product_of, sum_of
from symgrad.ir.types import INT, Array, Dim, Extent, Shape, ShapeOf, Type
from symgrad.location import NOWHERE, Loc
from symgrad.ops.declare import ROWS


def _added(a: Extent, b: Extent, times: int = 1) -> Extent | None:
    one, other = sum_of(a), sum_of(b)
    return None if one is None or other is None else extent_of(combined(one, other, times))


#: rows that make extents of extents
SUMS: dict[str, Callable[..., Extent | None]] = {
    "add": _added,
    "subtract": lambda a, b: _added(a, b, -1),
    "negative": lambda a: _added(0, a, -1),
    "multiply": product_of,
}


@dataclass
class Builder:
    """An insertion point (``block``), the current place in the user's source, and what is known of extents."""

    block: Block = field(default_factory=Block)
    loc: Loc = NOWHERE
    extents: dict[Value, Extent] = field(default_factory=dict)
    fresh: Iterator[int] = field(default_factory=count)
    taken: set[str] = field(default_factory=set)  #: symbols of extents that mean something already

    def call(self, name: str, *args: Operand, hint: str | None = None, **settings: Any) -> Value:
        """Append ``name(*args, **settings)`` and return its one result."""
        (out,) = self.call_many(name, *args, hints=(hint,), **settings)
        return out

    def call_many(self, name: str, *args: Operand, hints: tuple[str | None, ...] = (), **settings: Any) -> list[Value]:
        """Append an op that has several results, and return them."""
        row = ROWS[name]
        settings = {**row.settings, **settings}
        made = row.law([a.type for a in args], settings, lambda i: self.extent_of(args[i]))
        types = made if isinstance(made, tuple) else (made,)
        outs = [Value(self.freshen(t), h) for t, h in zip(types, [*hints, *[None] * len(types)], strict=False)]
        self.block.ops.append(Call(outs, self.loc, name, list(args), settings))
        self.note_extent(name, args, settings, outs[0] if outs else None)
        return outs

    def note_extent(self, name: str, args: tuple[Operand, ...], settings: dict[str, Any], out: Value | None) -> None:
        """Remember that an integer is an extent, or a sum or product of integers."""
        if out is None:
            return
        if name == "extent" and isinstance(args[0].type, Array) and args[0].type.shape is not None:
            self.extents[out] = args[0].type.shape[settings["axis"]]
        elif name in SUMS and out.type == INT and all(a.type == INT for a in args):
            made = SUMS[name](*map(self.extent_of, args))
            if made is not None:
                self.extents[out] = made

    def append(self, op: Op) -> Op:
        """Append an op that was made elsewhere (a loop, a branch)."""
        self.block.ops.append(op)
        return op

    @contextmanager
    def inside(self, block: Block) -> Iterator[Block]:
        """Build in ``block`` for a while."""
        outer, self.block = self.block, block
        try:
            yield block
        finally:
            self.block = outer

    @contextmanager
    def at(self, loc: Loc) -> Iterator[None]:
        """Build for another line of the source for a while."""
        outer, self.loc = self.loc, loc
        try:
            yield
        finally:
            self.loc = outer

    def extent_of(self, operand: Operand) -> Extent:
        """The extent that an integer operand stands for; the same operand always gives the same one."""
        if isinstance(operand, Const):
            return operand.value if isinstance(operand.value, int) else Dim("?")
        if operand not in self.extents:
            self.extents[operand] = Dim(self.symbol(operand.name or "n"))
        return self.extents[operand]

    def symbol(self, stem: str) -> str:
        """A symbol that no other extent has."""
        while (made := f"{stem}{next(self.fresh)}") in self.taken:
            pass
        self.taken.add(made)
        return made

    def distinct(self, type_: Type) -> Type:
        """The type of an input: where its symbols are taken (``p.w`` and ``p_w`` are both called ``p_w``), it gets others."""
        if not isinstance(type_, Array) or type_.shape is None:
            return type_
        shape = tuple(replace(e, symbol=self.symbol(e.symbol)) if isinstance(e, Dim) and e.symbol in self.taken else e for e in type_.shape)
        self.taken.update(e.symbol for e in shape if isinstance(e, Dim))
        return replace(type_, shape=shape)

    def freshen(self, type_: Type) -> Type:
        """Give each extent of which nothing is known (``?``) a symbol of its own."""

        def one(extent: Extent) -> Extent:
            if isinstance(extent, Dim) and extent.symbol == "?":
                return Dim(self.symbol("k"), 0, extent.plural)
            return extent

        def shape(old: Shape | None) -> Shape | None:
            return None if old is None else tuple(map(one, old))

        if isinstance(type_, Array | ShapeOf) and any(isinstance(e, Dim) and e.symbol == "?" for e in type_.shape or ()):
            return replace(type_, shape=shape(type_.shape))
        return type_


def symbols(func: Func) -> set[str]:
    """The symbols of extents that occur in the types of a function."""
    found: set[str] = set()
    for value in values(func.body):
        if isinstance(value.type, Array | ShapeOf):
            for extent in value.type.shape or ():
                if isinstance(extent, Dim):
                    found.update(re.findall(r"[^\W\d]\w*", extent.symbol))
    return found


def values(block: Block) -> Iterator[Value]:
    """Everything that a block defines, and the blocks inside it."""
    yield from block.args
    for op in block.ops:
        yield from op.outs
        for inner in op.blocks:
            yield from values(inner)
