"""Run-time support: cotangents that no single NumPy function computes: of joins, diagonals, products, repeats.

NumPy only. A function ``*_place`` puts an array into zeros, ``*_back`` sums where the function copied.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

# ------------------------------------------------------------------ shares and products


def extreme_share(x: Any, out: Any, axis: Any, keepdims: bool) -> Any:
    """One where ``x`` is its extreme ``out`` along ``axis``, shared equally where several are.

    >>> extreme_share(np.array([1.0, 3.0, 3.0]), 3.0, None, False)
    array([0. , 0.5, 0.5])
    """
    x = np.asarray(x)
    if axis is not None and not keepdims:
        out = np.expand_dims(out, axis)
    mask = x == out
    count = np.count_nonzero(mask, axis, keepdims=True)
    share = mask.astype(x.dtype if x.dtype.kind == "f" else float)
    return share if np.all(count == 1) else (share / count).astype(share.dtype, copy=False)


def extreme_share_of(x: Any, out: Any, where: Any, initial: Any, axis: Any, keepdims: bool) -> Any:
    """Return the share of each element in the extreme ``out`` of the selected elements; ties, also with ``initial``, share equally.

    >>> extreme_share_of(np.array([1.0, 3.0, 3.0]), 3.0, np.array([True, True, False]), 3.0, None, False)
    array([0. , 0.5, 0. ])
    """
    x = np.asarray(x)
    wide = out if axis is None or keepdims else np.expand_dims(out, axis)
    mask = ((x == wide) & (True if where is None else where)).astype(x.dtype if x.dtype.kind == "f" else float)
    count = mask.sum(axis, keepdims=True) + (0 if initial is None else wide == initial)
    return mask / count


def initial_share(x: Any, out: Any, where: Any, initial: Any, axis: Any, keepdims: bool) -> Any:
    """One where ``out`` is ``initial``, shared equally with the elements that are as large."""
    wide = out if axis is None or keepdims else np.expand_dims(out, axis)
    count = ((x == wide) & (True if where is None else where)).sum(axis, keepdims=keepdims)
    return (out == initial) / (1.0 + count)


def middle_share(x: Any, axis: Any) -> Any:
    """Return 1 at the median along ``axis``, 0.5 at each of two middle elements, NaN if the median is NaN.

    >>> middle_share(np.array([3.0, 1.0, 2.0]), None)
    array([0., 0., 1.])
    """
    x = np.asarray(x)
    rows = as_rows(x, axis)
    out = np.zeros(rows.shape, x.dtype if x.dtype.kind == "f" else float)
    order, columns, n = np.argsort(rows, axis=0), np.arange(rows.shape[1]), len(rows)
    if not n:
        return from_rows(out, x.shape, axis)
    for place in ((n - 1) // 2, n // 2):
        out[order[place], columns] += 0.5
    return from_rows(np.where(np.isnan(rows[order[-1], columns]), np.nan, out), x.shape, axis)


def rows_along(axis: Any, rank: int) -> list[int]:
    """The order of axes that puts those of ``axis`` (all if None) first; a number has none."""
    if not rank:
        return []
    axes = range(rank) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    first = [a % rank for a in axes]
    return [*first, *(k for k in range(rank) if k not in first)]


def as_rows(x: Any, axis: Any) -> Any:
    """A matrix whose rows run along ``axis``, one column for each index of the other axes."""
    x = np.asarray(x)
    count = x.ndim if axis is None else len(axis) if isinstance(axis, tuple) else 1
    moved = x.transpose(rows_along(axis, x.ndim))
    length = int(np.prod(moved.shape[:count], dtype=int))
    return moved.reshape(length, int(np.prod(moved.shape[count:], dtype=int)))


def from_rows(rows: Any, shape: tuple[int, ...], axis: Any) -> Any:
    """Return the array that ``as_rows`` converted to the matrix."""
    order = rows_along(axis, len(shape))
    return rows.reshape([shape[k] for k in order]).transpose(np.argsort(order))


def product_before(x: Any, axis: Any) -> Any:
    """For each element the product of those before it along ``axis`` (all, in C order, if None).

    >>> product_before(np.array([2.0, 3.0, 4.0]), None)
    array([1., 2., 6.])
    """
    rows = as_rows(x, axis)
    out = np.ones_like(rows)
    np.cumprod(rows[:-1], axis=0, out=out[1:])
    return from_rows(out, np.shape(x), axis)


def product_after(x: Any, axis: Any) -> Any:
    """For each element the product of those after it along ``axis``.

    >>> product_after(np.array([2.0, 3.0, 4.0]), 0)
    array([12.,  4.,  1.])
    """
    rows = as_rows(x, axis)[::-1]
    out = np.ones_like(rows)
    np.cumprod(rows[:-1], axis=0, out=out[1:])
    return from_rows(out[::-1], np.shape(x), axis)


def weighted_before(x: Any, g: Any, axis: Any) -> Any:
    """For each ``i`` the sum over ``j`` before it of ``g[j]`` times the product of all ``x`` between the two.

    >>> weighted_before(np.array([2.0, 3.0, 4.0]), np.ones(3), 0)
    array([0., 1., 4.])
    """
    shape = np.broadcast_shapes(np.shape(x), np.shape(g))
    rows, weights = as_rows(np.broadcast_to(x, shape), axis), as_rows(np.broadcast_to(g, shape), axis)
    out = np.zeros(rows.shape, np.result_type(rows, weights))
    for i in range(1, len(rows)):
        out[i] = weights[i - 1] + rows[i - 1] * out[i - 1]
    return from_rows(out, shape, axis)


def weighted_after(x: Any, g: Any, axis: Any) -> Any:
    """For each ``i`` the sum over ``j`` after it of ``g[j]`` times the product of all ``x`` between the two.

    >>> weighted_after(np.array([2.0, 3.0, 4.0]), np.ones(3), 0)
    array([4., 1., 0.])
    """
    shape = np.broadcast_shapes(np.shape(x), np.shape(g))
    rows, weights = as_rows(np.broadcast_to(x, shape), axis), as_rows(np.broadcast_to(g, shape), axis)
    out = np.zeros(rows.shape, np.result_type(rows, weights))
    for i in range(len(rows) - 2, -1, -1):
        out[i] = weights[i + 1] + rows[i + 1] * out[i + 1]
    return from_rows(out, shape, axis)


# ------------------------------------------------------------------ joins


def concatenate_part(g: Any, xs: Sequence[Any], position: int, axis: int | None) -> Any:
    """The part of ``g`` that came from ``xs[position]``.

    >>> concatenate_part(np.arange(5.0), [np.zeros(2), np.zeros(3)], 1, 0)
    array([2., 3., 4.])
    """
    if axis is None:
        start = sum(np.size(x) for x in xs[:position])
        return g[start : start + np.size(xs[position])].reshape(np.shape(xs[position]))
    start = sum(x.shape[axis] for x in xs[:position])
    return g[(slice(None),) * (axis % g.ndim) + (slice(start, start + xs[position].shape[axis]),)]


def concatenate_place(g: Any, shape: tuple[int, ...], xs: Sequence[Any], position: int, axis: int | None) -> Any:
    """Zeros with ``g`` at the position of ``xs[position]`` in the concatenation."""
    out = np.zeros(shape, g.dtype)
    concatenate_part(out, xs, position, axis)[...] = g
    return out


def stack_place(g: Any, shape: tuple[int, ...], position: int, axis: int) -> Any:
    """Zeros with ``g`` at ``position`` along ``axis``."""
    out = np.zeros(shape, np.asarray(g).dtype)
    out[(slice(None),) * (axis % len(shape)) + (position,)] = g
    return out


def split_like(g: Any, xs: Sequence[Any], axis: int | None) -> list[Any]:
    """The parts of ``g`` that came from each of a list of arrays, in memory of their own.

    >>> split_like(np.arange(5.0), [np.zeros(2), np.zeros(3)], 0)
    [array([0., 1.]), array([2., 3., 4.])]
    """
    if axis is None:
        ends = np.cumsum([np.size(x) for x in xs])
        return [part.reshape(np.shape(x)).copy() for part, x in zip(np.split(g, ends[:-1]), xs, strict=True)]
    return [part.copy() for part in np.split(g, np.cumsum([x.shape[axis] for x in xs])[:-1], axis)]


def split_array(g: Any, shape: tuple[int, ...], axis: int | None) -> Any:
    """The parts of ``g`` that came from the items of one array of this shape, stacked again, in memory of their own."""
    return g.reshape(shape).copy() if axis in (0, None) else np.stack(np.split(g, shape[0], axis)) if shape[0] else np.zeros(shape, g.dtype)


# ------------------------------------------------------------------ order and repeats


def add_along_axis(g: Any, order: Any, shape: tuple[int, ...], axis: int) -> Any:
    """Return zeros with ``g`` added at the indices ``order`` along ``axis``.

    >>> add_along_axis(np.array([1.0, 2.0]), np.array([1, 1]), (3,), 0)
    array([0., 3., 0.])
    """
    out = np.zeros(shape, g.dtype)
    at = list(np.ogrid[tuple(slice(n) for n in shape)])  # indices are broadcast along the other axes
    at[axis] = order
    np.add.at(out, tuple(at), g)
    return out


def tile_back(g: Any, shape: tuple[int, ...], reps: tuple[int, ...]) -> Any:
    """The sum of the copies that ``np.tile`` made.

    >>> tile_back(np.arange(4.0), (2,), (2,))
    array([2., 4.])
    """
    rank = max(len(shape), len(reps))
    own = (1,) * (rank - len(shape)) + tuple(shape)
    often = (1,) * (rank - len(reps)) + tuple(reps)
    pairs = [extent for two in zip(often, own, strict=True) for extent in two]
    return g.reshape(pairs).sum(tuple(range(0, 2 * rank, 2))).reshape(shape)


def repeat_back(g: Any, shape: tuple[int, ...], repeats: Any, axis: int | None) -> Any:
    """The sum of the copies that ``np.repeat`` made.

    >>> repeat_back(np.arange(4.0), (2,), 2, None)
    array([1., 5.])
    """
    flat = (int(np.prod(shape, dtype=int)),) if axis is None or not shape else tuple(shape)
    along = 0 if axis is None else axis
    source = np.repeat(np.arange(flat[along]), repeats)
    out = np.zeros(flat, g.dtype)
    np.add.at(np.moveaxis(out, along, 0), source, np.moveaxis(g, along, 0))
    return out.reshape(shape)


def take_items_back(g: Any, places: Any, shape: tuple[int, ...], axis: int | None) -> Any:
    """Return zeros with ``g`` added at the indices along ``axis``, or of the flattened array, from which it was taken.

    >>> take_items_back(np.array([1.0, 2.0]), [2, 2], (3,), None)
    array([0., 0., 3.])
    """
    out = np.zeros(shape, np.asarray(g).dtype)
    if axis is None:
        np.add.at(out.reshape(-1), places, g)
    else:
        np.add.at(out, (slice(None),) * (axis % len(shape)) + (places,), g)
    return out


def sum_from_back(g: Any, starts: Any, shape: tuple[int, ...], axis: int) -> Any:
    """The cotangent of the operand of ``np.add.reduceat``.

    >>> sum_from_back(np.array([1.0, 2.0]), [0, 2], (4,), 0)
    array([1., 1., 2., 2.])
    """
    out = np.zeros(shape, g.dtype)
    into, cotangent = np.moveaxis(out, axis, 0), np.moveaxis(g, axis, 0)
    for k, start in enumerate(starts):
        stop = starts[k + 1] if k + 1 < len(starts) else len(into)
        into[start : max(stop, start + 1)] += cotangent[k]
    return out


def kept_places(shape: tuple[int, ...], obj: Any, axis: int | None) -> Any:
    """Where the elements come from that ``np.delete`` leaves.

    >>> kept_places((4,), -1, None)
    array([0, 1, 2])
    """
    return np.delete(np.arange(int(np.prod(shape)) if axis is None else shape[axis]), obj)


def item_place(g: Any, shape: tuple[int, ...], index: tuple[Any, ...]) -> Any:
    """Zeros with ``g`` where ``x.item(*index)`` reads."""
    out = np.zeros(shape, np.asarray(g).dtype)
    if len(index) == 1 and not isinstance(index[0], tuple):
        out.reshape(-1)[index[0]] = g
    else:
        out[index[0] if len(index) == 1 else index] = g
    return out


def choose_part(g: Any, i: Any, choices: Sequence[Any], position: int) -> Any:
    """The cotangent of ``choices[position]`` in ``np.choose``."""
    return sum_to(np.asarray(np.where(np.asarray(i) == position, g, 0.0)), np.shape(choices[position]))[()]


def pad_back(g: Any, shape: tuple[int, ...], width: Any, mode: str) -> Any:
    """Return the cotangent of the operand of ``np.pad``: its part of ``g``, plus the cotangents of the copies at the edges.

    >>> pad_back(np.ones(5), (3,), 1, "edge")
    array([2., 1., 2.])
    """
    if mode == "constant":
        widths = np.broadcast_to(np.asarray(width), (len(shape), 2))
        return np.array(g[tuple(slice(int(before), int(before) + n) for (before, _), n in zip(widths, shape, strict=True))])
    places = np.pad(np.arange(int(np.prod(shape))).reshape(shape), width, mode)  # type: ignore[call-overload]
    return take_items_back(g, places, shape, None)


def running_places(x: Any, out: Any, axis: int) -> Any:
    """Where along ``axis`` the extreme so far was met last.

    >>> running_places(np.array([1.0, 3.0, 2.0]), np.array([1.0, 3.0, 3.0]), 0)
    array([0, 1, 1])
    """
    along = np.expand_dims(np.arange(x.shape[axis]), tuple(k for k in range(x.ndim) if k != axis % x.ndim))
    return np.maximum.accumulate(np.where(x == out, along, 0), axis)


# ------------------------------------------------------------------ diagonals


def diagonal_place(g: Any, shape: tuple[int, ...], offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Zeros with ``g`` on a diagonal.

    >>> diagonal_place(np.array([1.0, 2.0]), (2, 2))
    array([[1., 0.],
           [0., 2.]])
    """
    out = np.zeros(shape, np.asarray(g).dtype)
    matrices = out if (axis1, axis2, out.ndim) == (0, 1, 2) else np.moveaxis(out, (axis1, axis2), (-2, -1))
    k = np.arange(np.shape(g)[-1])
    matrices[..., k + max(-offset, 0), k + max(offset, 0)] = g
    return out


def diag_back(g: Any, shape: tuple[int, ...], k: int) -> Any:
    """The cotangent of ``np.diag``: the diagonal for a vector, zeros around it for a matrix."""
    return np.diagonal(g, k).copy() if len(shape) == 1 else diagonal_place(g, shape, k, 0, 1)


def trace_back(g: Any, shape: tuple[int, ...], offset: int, axis1: int, axis2: int) -> Any:
    """Zeros with ``g`` all along a diagonal."""
    rows, columns = shape[axis1], shape[axis2]
    length = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
    return diagonal_place(np.repeat(np.asarray(g)[..., None], length, -1), shape, offset, axis1, axis2)


def diag_embed(v: Any) -> Any:
    """Matrices with ``v`` on their diagonals."""
    return v[..., None] * np.eye(v.shape[-1], dtype=v.dtype)


def half_tril(x: Any) -> Any:
    """The lower triangle with half the diagonal."""
    return np.tril(x) - 0.5 * diag_embed(np.diagonal(x, axis1=-2, axis2=-1))


def gaps(w: Any) -> Any:
    """``1 / (w[j] - w[i])`` off the diagonal, 0 on it."""
    differences = w[..., None, :] - w[..., :, None] + np.eye(w.shape[-1], dtype=w.dtype)
    return (1 / differences) * (1 - np.eye(w.shape[-1], dtype=w.dtype))


# ------------------------------------------------------------------ products of matrices and tensors


def sum_to(g: Any, shape: tuple[int, ...]) -> Any:
    """Sum a cotangent over the broadcast axes."""
    if g.shape == tuple(shape):
        return g
    lead = g.ndim - len(shape)
    axes = tuple(range(lead)) + tuple(k + lead for k, e in enumerate(shape) if e == 1 and g.shape[k + lead] != 1)
    return g.sum(axes, keepdims=True).reshape(shape)


def as_matrix(stack: Any) -> Any:
    """The rows of all matrices of a stack, in one."""
    return stack.reshape(math.prod(stack.shape[:-1]), stack.shape[-1])


def matmul_left(g: Any, b: Any, shape: tuple[int, ...]) -> Any:
    """The cotangent of ``a``, of this shape, in ``a @ b``."""
    if b.ndim == 2 and len(shape) > 2:
        return (as_matrix(g) @ b.T).reshape(shape)
    if b.ndim == 1:
        product = np.asarray(g)[..., None] * b
    elif len(shape) == 1:
        product = (b @ np.asarray(g)[..., None])[..., 0]
    else:
        product = g @ b.swapaxes(-1, -2)
    return sum_to(product, shape)


def matmul_right(g: Any, a: Any, shape: tuple[int, ...]) -> Any:
    """The cotangent of ``b``, of this shape, in ``a @ b``."""
    g = np.asarray(g)
    if len(shape) == 2 and a.ndim > 2:
        return as_matrix(a).T @ as_matrix(g)
    if len(shape) == 1:
        product = a * g[..., None]
    elif a.ndim == 1:
        product = a[:, None] * g[..., None, :]
    else:
        product = a.swapaxes(-1, -2) @ g
    return sum_to(product, shape)


def dot_axes(a: int, b: int) -> tuple[list[int], list[int]]:
    """The axes that ``np.dot`` sums over."""
    return ([a - 1], [max(b - 2, 0)]) if a and b else ([], [])


def contracted(axes: Any, a: int, b: int) -> tuple[list[int], list[int]]:
    """The axes that ``np.tensordot`` sums over, none negative."""
    if isinstance(axes, int):
        return list(range(a - axes, a)), list(range(axes))
    left, right = (side if isinstance(side, tuple | list) else (side,) for side in axes)
    return [k % a for k in left], [k % b for k in right]


def contract_left(g: Any, b: Any, shape: tuple[int, ...], summed: tuple[list[int], list[int]]) -> Any:
    """The cotangent of the left factor of a product that sums over these axes."""
    left, right = summed
    free, others = [k for k in range(len(shape)) if k not in left], [k for k in range(np.ndim(b)) if k not in right]
    product = np.tensordot(g, b, (list(range(len(free), len(free) + len(others))), others))
    order = free + [left[right.index(k)] for k in sorted(right)]
    return np.transpose(product, np.argsort(order)) if order else product


def contract_right(g: Any, a: Any, shape: tuple[int, ...], summed: tuple[list[int], list[int]]) -> Any:
    """The cotangent of the right factor of a product that sums over these axes."""
    left, right = summed
    free, others = [k for k in range(len(shape)) if k not in right], [k for k in range(np.ndim(a)) if k not in left]
    product = np.tensordot(a, g, (others, list(range(len(others)))))
    order = [right[left.index(k)] for k in sorted(left)] + free
    return np.transpose(product, np.argsort(order)) if order else product


def dot_left(g: Any, b: Any, shape: tuple[int, ...]) -> Any:
    """The cotangent of ``a``, of this shape, in ``np.dot(a, b)``."""
    return contract_left(g, b, shape, dot_axes(len(shape), np.ndim(b)))[()]


def dot_right(g: Any, a: Any, shape: tuple[int, ...]) -> Any:
    """The cotangent of ``b``, of this shape, in ``np.dot(a, b)``."""
    return contract_right(g, a, shape, dot_axes(np.ndim(a), len(shape)))[()]


def tensordot_left(g: Any, b: Any, shape: tuple[int, ...], axes: Any) -> Any:
    """The cotangent of ``a``, of this shape, in ``np.tensordot(a, b, axes)``."""
    return contract_left(g, b, shape, contracted(axes, len(shape), np.ndim(b)))


def tensordot_right(g: Any, a: Any, shape: tuple[int, ...], axes: Any) -> Any:
    """The cotangent of ``b``, of this shape, in ``np.tensordot(a, b, axes)``."""
    return contract_right(g, a, shape, contracted(axes, np.ndim(a), len(shape)))


def einsum_part(g: Any, others: Sequence[Any], shape: tuple[int, ...], subscripts: str, position: int) -> Any:
    """The cotangent of one operand, of this shape, in an einsum of it and the others.

    >>> einsum_part(np.float64(2.0), [], (2, 2), "ii->", 0)
    array([[2., 0.],
           [0., 2.]])
    """
    left, arrow, out = subscripts.replace(" ", "").partition("->")
    if not arrow:
        out = "".join(sorted(c for c in set(left) - {","} if left.count(c) == 1))
    labels = left.split(",")
    own = labels.pop(position)
    letters = "".join(dict.fromkeys(own))
    extents = {c: shape[own.index(c)] for c in letters}
    shared = "".join(c for c in letters if c in out or any(c in names for names in labels))
    product = np.einsum(",".join([out, *labels]) + "->" + shared, g, *others)
    # labels that only this operand has were summed over; those of extent 1 may have been broadcast
    product = sum_to(np.asarray(product), tuple(extents[c] if extents[c] == 1 else n for c, n in zip(shared, product.shape, strict=True)))
    product = product.reshape([product.shape[shared.index(c)] if c in shared else 1 for c in letters])
    product = np.broadcast_to(product, tuple(extents[c] for c in letters))
    if letters == own:
        return product.copy()[()]
    result = np.zeros(shape, product.dtype)
    index = np.ogrid[tuple(slice(extents[c]) for c in letters)]
    result[tuple(index[letters.index(c)] for c in own)] = product
    return result


def cofactors(a: Any) -> Any:
    """Return the derivative of the determinant, the matrix of cofactors; valid for singular ``a``, NaN where ``a`` is not finite.

    >>> cofactors(np.array([[1.0, 2.0], [3.0, 4.0]])).round(12)
    array([[ 4., -3.],
           [-2.,  1.]])
    """
    if a.shape[-1] == 2:
        return a[..., ::-1, ::-1] * np.array([[1, -1], [-1, 1]], a.dtype)
    is_finite = np.isfinite(a).all((-2, -1), keepdims=True)
    if not is_finite.all():
        return np.where(is_finite, cofactors(np.where(is_finite, a, 0.0)), np.nan).astype(a.dtype)
    u, s, vh = np.linalg.svd(a)
    n = s.shape[-1]
    others = np.stack([np.delete(s, k, -1).prod(-1) for k in range(n)], -1) if n else s
    sign = np.linalg.det(u) * np.linalg.det(vh)
    return sign[..., None, None] * (u.conj() * others[..., None, :]) @ vh.conj()
