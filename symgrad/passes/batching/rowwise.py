"""Legality of row tiling: whether an op can run on some rows of arrays at a time: ``exp(x)``, ``x.max(1)``, ``x - m[:, None]``.

An array is *along* if its first axis counts the rows in question. An op that keeps that axis, and computes each
row without other rows, yields an array that is along. An op that sums over the rows yields partial sums. Types
tell which extents equal the number of rows; where they leave it open, run-time tests decide.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from symgrad.ir.core import NONE, Call, Const, Operand, Value
from symgrad.ir.types import Array, Dim, Scalar, is_plural, same_extent
from symgrad.ops.declare import ROWS, USER_ROWS
from symgrad.ops.indexing import OPERANDS
from symgrad.ops.shapes import axes_of, dtype_of

#: elementwise rows that are no ufuncs
ALSO = frozenset({"copy", "split_ties", "accumulate", "stop_gradient", "where", "cast", "zeros_like"})
#: rows that reduce along ``axis``; their other operands have the same rows
REDUCING = frozenset({"sum", "mean", "max", "min", "prod", "var", "std", "nansum", "nanmax", "nanmin", "extreme_share"})
DTYPES = ("f64", "f32", "bool")


@dataclass(frozen=True, slots=True)
class Part:
    """An op's relation to the rows: which operands are along, whether it sums over rows, and which extents must equal the row count."""

    along: tuple[bool, ...]
    total: bool = False
    news: tuple[Dim, ...] = ()


@dataclass(slots=True)
class Rows:
    """The known facts about some rows."""

    extents: list[Dim]
    partial: set[Value] = field(default_factory=set)  #: values along the rows that exist one tile at a time only

    def part(self, op: Call) -> Part | None:
        """The op's relation to the rows; None if it cannot be tiled."""
        if len(op.outs) != 1 or op.settings.get("via") is not None or op.name in USER_ROWS:
            return None
        if op.name in REDUCING:
            return self.reduction(op)
        if op.name in ("dot", "inner_product"):
            both = all((rank_of(a) == 1 or op.name == "inner_product") and self.is_along(a) for a in op.args)
            return Part((True, True), total=True) if both and is_double(op.outs[0]) else None
        if op.name in ("view", "take"):
            return self.view(op)
        return self.elementwise(op)

    def elementwise(self, op: Call) -> Part | None:
        out = op.outs[0].type
        if not (ROWS[op.name].elementwise or op.name in ALSO) or not is_array(op.outs[0]) or not isinstance(out, Array) or not out.shape:
            return None
        along, news, sure = [], [], False
        for operand in op.args:
            if isinstance(operand.type, Scalar):
                along.append(False)
                continue
            if not is_array(operand):
                return None
            assert isinstance(operand.type, Array)
            assert operand.type.shape is not None
            shape = operand.type.shape
            if len(shape) < len(out.shape) or shape[0] == 1:
                if operand in self.partial:
                    return None
                along.append(False)
                continue
            if self.is_along(operand):
                sure = True
            elif isinstance(shape[0], Dim) and is_plural(shape[0]) and any(map(is_plural, self.extents)):
                news.append(shape[0])  # where both exceed 1, they are equal, or NumPy raises
            else:
                return None
            along.append(True)
        return Part(tuple(along), news=tuple(news)) if sure else None

    def reduction(self, op: Call) -> Part | None:
        x = op.args[0]
        if not is_array(x) or not all(self.is_along(a) for a in op.args):
            return None
        axes = axes_of(op.settings["axis"], rank_of(x) or 0)
        if axes is None or not axes:
            return None
        along = (True,) * len(op.args)
        if 0 not in axes:
            return Part(along) if is_array(op.outs[0]) else None
        whole = op.name == "sum" and dtype_of(x.type) == dtype_of(op.outs[0].type) == "f64"
        return Part(along, total=True) if whole and (is_double(op.outs[0]) or is_array(op.outs[0])) else None

    def view(self, op: Call) -> Part | None:
        """A view of a tiled value that keeps all its rows."""
        index: str = op.settings["index"]
        if op.args[0] not in self.partial or set(index) - set(OPERANDS) or index[:1] != "s" or not is_array(op.outs[0]):
            return None
        items = op.args[1:]
        if not all(isinstance(a, Const) and a.value is None for a in items[:3]):
            return None
        fixed = all(a is NONE or isinstance(a, Const) or isinstance(a.type, Scalar) and a.type.kind == "int" for a in items[3:])
        return Part((True,) + (False,) * len(items)) if fixed else None

    def is_along(self, operand: Operand) -> bool:
        """Whether this array surely has the rows."""
        if operand in self.partial:
            return True
        type_ = operand.type
        if not is_array(operand) or not isinstance(type_, Array) or not type_.shape:
            return False
        return any(same_extent(type_.shape[0], extent) for extent in self.extents)


def first_extent(op: Call) -> Dim | None:
    """The first extent of the array that an op computes or reduces: a candidate for the rows."""
    array = op.args[0] if op.name in REDUCING and op.args else op.outs[0] if op.outs else None
    type_ = None if array is None else array.type
    extent = type_.shape[0] if isinstance(type_, Array) and type_.shape else None
    return extent if isinstance(extent, Dim) and extent.symbol != "?" else None


def is_array(operand: Operand) -> bool:
    """Whether the operand is an array of known shape and of a dtype that can be tiled."""
    return isinstance(operand.type, Array) and operand.type.shape is not None and operand.type.dtype in DTYPES


def is_double(operand: Operand) -> bool:
    """Whether the operand is one float64 number."""
    return isinstance(operand.type, Scalar) and operand.type.dtype == "f64"


def rank_of(operand: Operand) -> int | None:
    return operand.type.rank if isinstance(operand.type, Array) else None


__all__ = ["Part", "Rows", "first_extent"]
