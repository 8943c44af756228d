"""Sorting, and selection of elements by index, under the documented names and arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symgrad.errors import refused
from symgrad.functional import selection as f
from symgrad.functional import tensors as functions
from symgrad.vocabulary import tensors
from symgrad.vocabulary.dispatch import apply, extents, plain_integer
from symgrad.vocabulary.exposed import table
from symgrad.vocabulary.fitting import extent, ranked, rowwise, several, whole_numbers

Tensor = Any

NAMES = ("masked_fill", "index_sample")
globals().update(table(f, NAMES))


def masked_select(x: Tensor, mask: Tensor, name: str | None = None) -> Tensor:
    """The elements where the mask holds, one after the other."""
    return apply(f.masked_select, x if len(x.shape) else tensors.reshape(x, [1]), mask)


def nonzero(x: Tensor, as_tuple: bool = False, name: str | None = None) -> Any:
    """The indices of the elements that are not 0, a row for each; ``as_tuple``: a column of indices for each axis."""
    chosen = tensors.not_equal(x, 0)  # type: ignore[attr-defined]
    if not len(x.shape):  # a row for it, if it is not 0, without indices
        return () if as_tuple else apply(f.nonzero, tensors.reshape(chosen, [1]))[:, :0]
    indices = apply(f.nonzero, chosen)
    return tuple(indices[:, k : k + 1] for k in range(len(x.shape))) if as_tuple else indices


def unstable(stable: bool) -> None:
    """Refuse a stable order."""
    if stable:
        raise refused(ValueError("stable=True is not supported: equal elements may be in any order"))


@rowwise
def sort(x: Tensor, axis: int = -1, descending: bool = False, stable: bool = False, name: str | None = None) -> Tensor:
    """In order along an axis."""
    unstable(stable)
    return apply(f.sort, x, axis=plain_integer(axis), descending=bool(descending))


@rowwise
def argsort(x: Tensor, axis: int = -1, descending: bool = False, stable: bool = False, name: str | None = None) -> Tensor:
    """The indices that sort the elements."""
    unstable(stable)
    ranked(x, "x")
    return apply(f.argsort, x.detach(), axis=plain_integer(axis), descending=bool(descending))


@rowwise
def topk(x: Tensor, k: int, axis: int | None = None, largest: bool = True, sorted: bool = True, name: str | None = None) -> list[Tensor]:
    """The ``k`` largest or smallest elements, sorted, and their indices."""
    axis = -1 if axis is None else plain_integer(axis)
    length = extent(x, "x", axis)
    if not 1 <= plain_integer(k, "k") <= length:
        raise refused(ValueError(f"k must be between 1 and the extent of axis {axis}, {length}, not {k}"))
    return apply(f.topk, x, k=plain_integer(k, "k"), axis=axis, largest=bool(largest))  # type: ignore[no-any-return]


@rowwise
def kthvalue(x: Tensor, k: int, axis: int | None = None, keepdim: bool = False, name: str | None = None) -> list[Tensor]:
    """The ``k``-th smallest element, counted from 1, and its index."""
    axis = -1 if axis is None else plain_integer(axis)
    length = extent(x, "x", axis)
    if not 1 <= plain_integer(k, "k") <= length:
        raise refused(ValueError(f"k must be between 1 and the extent of axis {axis}, {length}, not {k}"))
    return apply(f.kthvalue, x, k=plain_integer(k, "k"), axis=axis, keepdim=bool(keepdim))  # type: ignore[no-any-return]


def put_along_axis(
    arr: Tensor, indices: Tensor, values: Tensor, axis: int, reduce: str = "assign", include_self: bool = True, broadcast: bool = True
) -> Tensor:
    """``arr`` with values assigned or added at indices along an axis."""
    if reduce not in ("assign", "add") or not include_self:
        raise ValueError(
            f"put_along_axis with reduce={reduce!r}, include_self={include_self} is not supported; reduce is 'assign' or 'add'"
        )
    if not broadcast:
        raise refused(ValueError("broadcast=False is not supported; values are broadcast to the places"))
    ranked(arr, "arr")
    ranked(indices, "indices")
    if isinstance(values, int | float):
        values = tensors.full_like(indices, float(values), arr.dtype)
    return apply(f.put_along_axis, arr, indices, values, axis=plain_integer(axis), reduce=reduce)


def depth_of(index: Tensor) -> int:
    """How many axes the rows of an index number."""
    whole_numbers(index, "index")
    depth = extent(index, "index", -1)
    if depth < 0:
        raise refused(ValueError("the last extent of index must be known"))
    return depth


def gather_nd(x: Tensor, index: Tensor, name: str | None = None) -> Tensor:
    """The parts of ``x`` that the rows of ``index`` number."""
    return apply(f.gather_nd, x, index, depth=depth_of(index))


def scatter(x: Tensor, index: Tensor, updates: Tensor, overwrite: bool = True, name: str | None = None) -> Tensor:
    """``x`` with rows assigned at indices, or replaced by sums of rows."""
    whole_numbers(index, "index")
    if len(index.shape) == 2:
        index = tensors.reshape(index, [-1])
    return apply(f.scatter, x, index, updates, overwrite=bool(overwrite))


def scatter_nd_add(x: Tensor, index: Tensor, updates: Tensor, name: str | None = None) -> Tensor:
    """``x`` with updates added to the parts that the rows of ``index`` number."""
    return apply(f.scatter_nd_add, x, index, updates, depth=depth_of(index))


def scatter_nd(index: Tensor, updates: Tensor, shape: Any, name: str | None = None) -> Tensor:
    """Zeros with updates added to the parts that the rows of ``index`` number."""
    ranked(updates, "updates")
    return apply(f.scatter_nd, index, updates, shape=extents(shape), depth=depth_of(index))


def index_add(x: Tensor, index: Tensor, axis: int, value: Tensor, name: str | None = None) -> Tensor:
    """``x`` with values added to its parts along an axis, by their numbers."""
    return apply(f.index_add, x, index, value, axis=plain_integer(axis))


def index_fill(x: Tensor, index: Tensor, axis: int, value: Any, name: str | None = None) -> Tensor:
    """``x`` with one number in its parts along an axis, by their numbers."""
    return apply(f.index_fill, x, index, value, axis=plain_integer(axis))


def index_put(x: Tensor, indices: Sequence[Tensor], value: Tensor, accumulate: bool = False, name: str | None = None) -> Tensor:
    """``x`` with values assigned or added at indices."""
    return apply(f.index_put, x, value, *several(indices, "indices"), accumulate=bool(accumulate))


def repeat_interleave(x: Tensor, repeats: Any, axis: int | None = None, name: str | None = None) -> Tensor:
    """Each part along an axis several times, one after the other."""
    if isinstance(repeats, int):
        return apply(f.repeat_each, x, repeats=repeats, axis=axis)
    return apply(f.repeat_interleave, x, repeats, axis=axis)


def take(x: Tensor, index: Tensor, mode: str = "raise", name: str | None = None) -> Tensor:
    """Elements by their numbers in the tensor as one row."""
    if mode != "raise":
        raise refused(ValueError(f"take with mode={mode!r} is not supported"))
    return apply(f.take, x, index)


def searchsorted(sorted_sequence: Tensor, values: Tensor, out_int32: bool = False, right: bool = False, name: str | None = None) -> Tensor:
    """The positions at which values would be inserted into a sorted row."""
    ranked(sorted_sequence, "sorted_sequence")
    ranked(values, "values")
    positions = apply(f.searchsorted, sorted_sequence.detach(), values.detach(), right=bool(right))
    return tensors.cast(positions, "int32") if out_int32 else positions


def bucketize(x: Tensor, sorted_sequence: Tensor, out_int32: bool = False, right: bool = False, name: str | None = None) -> Tensor:
    """The indices of the intervals of a sorted vector that contain each element."""
    return searchsorted(sorted_sequence, x, out_int32, right)


def meshgrid(*args: Any, name: str | None = None) -> list[Tensor]:
    """The coordinates of the points of a grid, from the coordinates along each axis."""
    vectors = list(args[0]) if len(args) == 1 and isinstance(args[0], list | tuple) else list(args)
    shape = [int(x.shape[0]) if len(x.shape) else 1 for x in vectors]
    grids = []
    for k, x in enumerate(vectors):
        grids.append(tensors.expand(tensors.reshape(x, [shape[j] if j == k else 1 for j in range(len(vectors))]), shape))
    return grids


def moveaxis(x: Tensor, source: Any, destination: Any, name: str | None = None) -> Tensor:
    """Move axes to other positions."""
    for axis in (*extents(source), *extents(destination)):
        extent(x, "x", axis)
    if len(extents(source)) != len(extents(destination)):
        raise refused(ValueError(f"source and destination must name as many axes, not {source} and {destination}"))
    rank = len(x.shape)
    old, new = [a % rank for a in extents(source)], [a % rank for a in extents(destination)]
    order = [k for k in range(rank) if k not in old]
    for place, axis in sorted(zip(new, old, strict=True)):
        order.insert(place, axis)
    return tensors.transpose(x, order)


def swapaxes(x: Tensor, axis0: int, axis1: int, name: str | None = None) -> Tensor:
    """Exchange two axes."""
    for axis in (axis0, axis1):
        extent(x, "x", axis)
    order = list(range(len(x.shape)))
    order[axis0], order[axis1] = order[axis1], order[axis0]
    return tensors.transpose(x, order)


def rot90(x: Tensor, k: int = 1, axes: Sequence[int] = (0, 1), name: str | None = None) -> Tensor:
    """Rotate by multiples of 90 degrees, from the first of two axes to the second."""
    first, second, *more = (*extents(axes), None, None)
    if second is None or len(more) > 2 or first == second:
        raise refused(ValueError(f"axes must be two axes, not {axes!r}"))
    turns = plain_integer(k, "k") % 4
    if turns == 2:
        return tensors.flip(x, [first, second])
    if turns == 0:
        return apply(functions.assign, x)
    return tensors.flip(swapaxes(x, first, second), first) if turns == 1 else tensors.flip(swapaxes(x, first, second), second)


def broadcast_tensors(input: Sequence[Tensor], name: str | None = None) -> list[Tensor]:
    """Repeated to a common shape."""
    for place, x in enumerate(several(input, "input")):
        ranked(x, f"input[{place}]")
    shape = broadcast_shape(*[list(x.shape) for x in input])
    return [tensors.expand(x, shape) for x in input]


def broadcast_shape(*shapes: Sequence[int]) -> list[int]:
    """The common shape of several."""
    rank = max(map(len, shapes))
    shape = []
    for column in zip(*[[1] * (rank - len(s)) + list(s) for s in shapes], strict=True):
        wide = {extent for extent in column if extent != 1}
        if len(wide) > 1:
            raise refused(ValueError(f"shapes {', '.join(map(str, map(list, shapes)))} do not fit one another"))
        shape.append(wide.pop() if wide else 1)
    return shape


def diff(x: Tensor, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None, name: str | None = None) -> Tensor:
    """Differences of neighbours along an axis, ``n`` times."""
    parts = [part for part in (prepend, x, append) if part is not None]
    result = x if len(parts) == 1 else tensors.concat(parts, axis)
    for _ in range(plain_integer(n, "n")):
        length = extent(result, "x", axis)
        result = tensors.slice(result, [axis], [1], [length]) - tensors.slice(result, [axis], [0], [length - 1])
    return result


def strided_slice(
    x: Tensor, axes: Sequence[int], starts: Sequence[int], ends: Sequence[int], strides: Sequence[int], name: str | None = None
) -> Tensor:
    """A part along each of some axes, in steps."""
    return tensors.sliced(x, "x", extents(axes), starts=starts, ends=ends, strides=strides)


def unstack(x: Tensor, axis: int = 0, num: int | None = None) -> list[Tensor]:
    """The parts along an axis, without it."""
    length = extent(x, "x", axis)
    if num is not None and num != length:
        raise refused(ValueError(f"axis {axis} has extent {length}, not {num}"))
    return tensors.unbind(x, axis)


__all__ = [*NAMES, "argsort", "broadcast_shape", "broadcast_tensors", "bucketize", "diff", "gather_nd", "index_add", "index_fill"]
__all__ += ["index_put", "kthvalue", "masked_select", "meshgrid", "moveaxis", "nonzero", "put_along_axis", "repeat_interleave", "rot90"]
__all__ += ["scatter", "scatter_nd", "scatter_nd_add", "searchsorted", "sort", "strided_slice", "swapaxes", "take", "topk", "unstack"]
