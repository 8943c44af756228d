"""Arithmetic, reductions and shapes, under the documented names and arguments."""

from __future__ import annotations

import builtins
import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from symgrad.functional import elements
from symgrad.functional import tensors as f
from symgrad.tracebacks import refused
from symgrad.vocabulary.dispatch import apply, binary, extents, parts, plain_integer, unary
from symgrad.vocabulary.fitting import axes_of, extent, is_empty, ranked, rowwise, several
from symgrad.vocabulary.promotion import WHOLE, arithmetic, as_float, bits, cast, floating, kept_whole, kind, shiftable, unified

Tensor = Any

# ------------------------------------------------------------------ element by element


FLOATING = tuple("exp expm1 log log2 log10 log1p sqrt rsqrt reciprocal sin cos tan asin acos atan sinh cosh tanh".split())
KEEPING = ("square", "abs", "sign", "floor", "ceil", "negative", "logical_not", "zeros_like", "ones_like", "assign")
ARITHMETIC = ("add", "subtract", "multiply", "floor_divide", "remainder", "maximum", "minimum")
COMPARING = tuple("equal not_equal less_than less_equal greater_than greater_equal dot outer".split())
LOGICAL = ("logical_and", "logical_or")
BITWISE = ("bitwise_and", "bitwise_or", "bitwise_xor")
UNARY, BINARY = (*FLOATING, *KEEPING), (*ARITHMETIC, "divide", *COMPARING, *LOGICAL)
globals().update(
    {name: floating(getattr(f, name)) for name in FLOATING}
    | {name: unary(getattr(f, name)) for name in KEEPING}
    | {name: arithmetic(getattr(f, name)) for name in (*ARITHMETIC, *COMPARING)}
    | {"divide": arithmetic(f.divide, floats=True)}
    | {name: binary(getattr(f, name)) for name in LOGICAL}
    | {name: arithmetic(getattr(elements, name), check=bits) for name in BITWISE}
)
shifted_left, shifted_right = (arithmetic(shift, check=shiftable) for shift in (elements.bitwise_left_shift, elements.bitwise_right_shift))


def bitwise_not(x: Tensor, name: str | None = None) -> Tensor:
    """``~x``: of integers by bits, of bools not."""
    bits("x", x)
    return apply(elements.bitwise_not, x)


def bitwise_left_shift(x: Tensor, y: Tensor, is_arithmetic: bool = True, name: str | None = None) -> Tensor:
    """``x << y``."""
    return shifted_left(x, y)


def bitwise_right_shift(x: Tensor, y: Tensor, is_arithmetic: bool = True, name: str | None = None) -> Tensor:
    """``x >> y``; the sign stays."""
    if not is_arithmetic and kind(x) != "u":
        raise refused(ValueError("is_arithmetic=False is not supported for integers with a sign"))
    return shifted_right(x, y)


def round(x: Tensor, decimals: int = 0, name: str | None = None) -> Tensor:
    """Round to ``decimals`` digits, halves to even."""
    return apply(f.round, x, decimals=plain_integer(decimals, "decimals"))


def pow(x: Tensor, y: Any, name: str | None = None) -> Tensor:
    """``x ** y`` for a number or a tensor of exponents."""
    if isinstance(y, int | float):
        return apply(f.pow, as_float(x) if isinstance(y, float) else x, factor=float(y) if isinstance(y, float) else y)
    return powers(x, y)


powers = arithmetic(f.power)


def scale(
    x: Tensor, scale: float = 1.0, bias: float = 0.0, bias_after_scale: bool = True, act: Any = None, name: str | None = None
) -> Tensor:
    """``scale * x + bias``, or ``scale * (x + bias)``."""
    if act is not None:
        raise refused(ValueError("act is not supported; apply the activation afterwards"))
    if hasattr(scale, "shape"):
        return add(multiply(x, scale), bias) if bias_after_scale else multiply(add(x, bias), scale)  # type: ignore[name-defined]  # noqa: F821
    if kind(x) in WHOLE:
        out = apply(f.scale, x, scale=kept_whole(x, "scale", scale), bias=kept_whole(x, "bias", bias), bias_after_scale=bias_after_scale)
        return out if kind(x) == "b" or out.dtype == x.dtype else cast(out, x.dtype)
    return apply(f.scale, x, scale=float(scale), bias=float(bias), bias_after_scale=bias_after_scale)


def clip(x: Tensor, min: float | None = None, max: float | None = None, name: str | None = None) -> Tensor:
    """``x`` between two bounds, in its dtype."""
    if min is None and max is None:
        return apply(f.assign, x)
    return apply(f.clip, x, min=kept_whole(x, "min", min), max=kept_whole(x, "max", max))


def where(condition: Tensor, x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """``x`` where the condition holds, else ``y``."""
    return apply(f.where, condition, *unified(x, y))


# ------------------------------------------------------------------ reductions


#: reductions with float results, and their results for no elements
EMPTY = {"mean": math.nan, "logsumexp": -math.inf}


def reduction(name: str) -> Any:
    """A reduction over all or some axes."""
    function = getattr(f, name)

    empty = EMPTY.get(name)

    def call(x: Tensor, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Tensor:
        over = axes_of(x, axis)
        if empty is not None:
            x = as_float(x)
            if is_empty(x, over):
                return apply(f.scale, apply(f.sum, x, axis=over, keepdim=keepdim), bias=empty)
        return apply(function, x, axis=over, keepdim=keepdim)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = function.__doc__
    return call


REDUCTIONS = ("mean", "max", "min", "logsumexp", "argmax", "argmin")
globals().update({name: reduction(name) for name in REDUCTIONS})


def sum(x: Tensor, axis: Any = None, dtype: Any = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """The sum over all or some axes."""
    return apply(f.sum, x if dtype is None else cast(x, dtype), axis=axes_of(x, axis), keepdim=keepdim)


def prod(x: Tensor, axis: Any = None, keepdim: bool = False, dtype: Any = None, name: str | None = None) -> Tensor:
    """The product over all or one axis."""
    return apply(f.prod, x if dtype is None else cast(x, dtype), axis=axes_of(x, axis), keepdim=keepdim)


@rowwise
def cumsum(x: Tensor, axis: int | None = None, dtype: Any = None, name: str | None = None) -> Tensor:
    """Sums of the first elements."""
    return apply(f.cumsum, x if dtype is None else cast(x, dtype), axis=axis)


# ------------------------------------------------------------------ products


def matmul(x: Tensor, y: Tensor, transpose_x: bool = False, transpose_y: bool = False, name: str | None = None) -> Tensor:
    """The product of matrices, stacks of them, and vectors."""
    return apply(f.matmul, x, y, transpose_x=bool(transpose_x), transpose_y=bool(transpose_y))


def mm(input: Tensor, mat2: Tensor, name: str | None = None) -> Tensor:
    """The product of two matrices."""
    return matmul(input, mat2)


bmm = mm


def t(input: Tensor, name: str | None = None) -> Tensor:
    """The transpose of a matrix; a vector is returned unchanged."""
    return apply(f.transpose, input, perm=tuple(range(len(input.shape)))[::-1])


def einsum(equation: str, *operands: Tensor) -> Tensor:
    """The sum of products given by the equation."""
    return apply(f.einsum, *operands, equation=str(equation))


# ------------------------------------------------------------------ shapes


def reshape(x: Tensor, shape: Any, name: str | None = None) -> Tensor:
    """The same elements in another shape."""
    return apply(f.reshape, x, shape=extents(shape))


def flatten(x: Tensor, start_axis: int = 0, stop_axis: int = -1, name: str | None = None) -> Tensor:
    """Several neighbouring axes made one; a tensor without axes becomes one of one axis."""
    ranked(x, "x")
    if rank := len(x.shape):
        extent(x, "x", start_axis)
        extent(x, "x", stop_axis)
        if start_axis % rank > stop_axis % rank:
            raise refused(ValueError(f"start_axis {start_axis} comes after stop_axis {stop_axis}"))
    return apply(f.flatten, x, start_axis=start_axis, stop_axis=stop_axis)


def transpose(x: Tensor, perm: Any, name: str | None = None) -> Tensor:
    """The axes in another order."""
    return apply(f.transpose, x, perm=extents(perm))


def concat(x: Sequence[Tensor], axis: int = 0, name: str | None = None) -> Tensor:
    """Joined along an axis."""
    return apply(f.concat, *several(x, "x"), axis=plain_integer(axis))


def stack(x: Sequence[Tensor], axis: int = 0, name: str | None = None) -> Tensor:
    """Joined along a new axis."""
    return apply(f.stack, *several(x, "x"), axis=plain_integer(axis))


def split(x: Tensor, num_or_sections: Any, axis: int = 0, name: str | None = None) -> list[Tensor]:
    """Split into equal parts, or into parts of given lengths, one of which may be -1."""
    axis, length = plain_integer(axis), extent(x, "x", axis)
    if length < 0:
        raise refused(ValueError(f"axis {axis} cannot be split: its extent is not known"))
    if isinstance(num_or_sections, int):
        if num_or_sections < 1 or length % num_or_sections:
            raise refused(ValueError(f"an axis of extent {length} cannot be split into {num_or_sections} equal parts"))
        sections = [length // num_or_sections] * num_or_sections
    else:
        sections = list(extents(num_or_sections, "num_or_sections"))
        known = int(np.sum([s for s in sections if s >= 0]))
        unknown = len([s for s in sections if s < 0])
        if unknown > 1 or known > length or not unknown and known < length:
            raise refused(ValueError(f"an axis of extent {length} cannot be split into parts of lengths {sections}"))
        sections = [s if s >= 0 else length - known for s in sections]
    bounds = [int(b) for b in np.cumsum([0, *sections])]
    return parts([apply(f.part, x, start=a, stop=b, axis=axis) for a, b in itertools.pairwise(bounds)])


def chunk(x: Tensor, chunks: int, axis: int = 0, name: str | None = None) -> list[Tensor]:
    """Equal parts."""
    return split(x, chunks, axis)


def unbind(input: Tensor, axis: int = 0) -> list[Tensor]:
    """The parts along an axis, without it."""
    length = extent(input, "input", axis)
    if length < 0:
        raise refused(ValueError(f"axis {axis} cannot be split: its extent is not known"))
    return parts([apply(f.plane, input, place=k, axis=plain_integer(axis)) for k in range(length)])


def squeeze(x: Tensor, axis: Any = None, name: str | None = None) -> Tensor:
    """Without axes of extent 1; an axis of another extent stays."""
    ranked(x, "x")
    rank = len(x.shape)
    over = axes_of(x, axis)
    named = range(rank) if over is None else over if isinstance(over, tuple) else (over,)
    for one in named:
        extent(x, "x", one)
    chosen = [a % rank for a in named]
    gone = tuple(a for a in sorted(set(chosen)) if x.shape[a] == 1)
    return apply(f.squeeze, x, axis=gone)


def unsqueeze(x: Tensor, axis: Any, name: str | None = None) -> Tensor:
    """Insert axes of extent 1 one after the other, each at its position among the axes inserted before."""
    ranked(x, "x")
    order = list(range(len(x.shape)))
    for one in extents(axis):
        if not -len(order) - 1 <= one <= len(order):
            raise refused(ValueError(f"axis {one} is out of bounds for a new axis beside {len(order)}"))
        order.insert(one if one >= 0 else one + len(order) + 1, -1)
    return apply(f.unsqueeze, x, axis=tuple([place for place, old in enumerate(order) if old < 0]))


def expand(x: Tensor, shape: Any, name: str | None = None) -> Tensor:
    """Broadcast along axes of extent 1 and new leading axes; -1 keeps an extent."""
    return apply(f.expand, x, shape=extents(shape))


broadcast_to = expand


def expand_as(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Repeated to the shape of ``y``."""
    return expand(x, y.shape)


def tile(x: Tensor, repeat_times: Any, name: str | None = None) -> Tensor:
    """Repeated along each axis."""
    return apply(f.tile, x, repeat_times=extents(repeat_times))


@rowwise
def flip(x: Tensor, axis: Any, name: str | None = None) -> Tensor:
    """In reverse order along axes."""
    return apply(f.flip, x, axis=extents(axis))


@rowwise
def roll(x: Tensor, shifts: int, axis: int | None = None, name: str | None = None) -> Tensor:
    """Shifted in a circle."""
    return apply(f.roll, x, shifts=plain_integer(shifts, "shifts"), axis=axis)


def gather(x: Tensor, index: Tensor, axis: int = 0, name: str | None = None) -> Tensor:
    """Rows by their numbers."""
    return apply(f.gather, x, index, axis=plain_integer(axis))


def index_select(x: Tensor, index: Tensor, axis: int = 0, name: str | None = None) -> Tensor:
    """Parts along an axis by their numbers."""
    return gather(x, index, axis)


def take_along_axis(arr: Tensor, indices: Tensor, axis: int) -> Tensor:
    """One element for each index, along an axis."""
    return apply(f.take_along_axis, arr, indices, axis=plain_integer(axis))


def slice(input: Tensor, axes: Sequence[int], starts: Sequence[int], ends: Sequence[int]) -> Tensor:
    """A part along each of some axes."""
    return sliced(input, "input", extents(axes), starts=starts, ends=ends)


def sliced(x: Tensor, name: str, axes: Sequence[int], **bounds: Any) -> Tensor:
    """Slices along axes; the lists ``bounds`` hold the bounds of each axis at its position."""
    ranked(x, name)
    columns = {word: extents(entries, word) for word, entries in bounds.items()}
    for word, entries in columns.items():
        if len(entries) != len(axes):
            raise refused(ValueError(f"{word} must have one entry for each of the {len(axes)} axes, not {len(entries)}"))
    index: list[Any] = [builtins.slice(None)] * len(x.shape)
    for axis, *numbers in zip(axes, *columns.values(), strict=True):
        extent(x, name, axis)
        index[axis] = builtins.slice(*numbers)
    return x[tuple(index)]


def tril(x: Tensor, diagonal: int = 0, name: str | None = None) -> Tensor:
    """The lower triangle."""
    return apply(f.tril, x, diagonal=plain_integer(diagonal, "diagonal"))


def triu(x: Tensor, diagonal: int = 0, name: str | None = None) -> Tensor:
    """The upper triangle."""
    return apply(f.triu, x, diagonal=plain_integer(diagonal, "diagonal"))


def full_like(x: Tensor, fill_value: float, dtype: Any = None, name: str | None = None) -> Tensor:
    """One number in the shape and dtype of ``x``."""
    return apply(f.full_like, x if dtype is None else cast(x, dtype), fill_value=float(fill_value))


__all__ = [*UNARY, *BINARY, *BITWISE, *REDUCTIONS, "bmm", "broadcast_to", "bitwise_left_shift", "bitwise_not", "bitwise_right_shift"]
__all__ += ["round", "pow", "scale", "clip", "where", "cast", "sum", "prod", "cumsum", "matmul", "mm", "t", "einsum", "reshape", "flatten"]
__all__ += ["transpose", "concat", "stack", "split", "chunk", "unbind", "squeeze", "unsqueeze", "expand", "expand_as", "tile", "flip"]
__all__ += ["roll", "gather", "index_select", "take_along_axis", "slice", "tril", "triu", "full_like"]
