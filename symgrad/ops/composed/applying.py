"""Functions that apply a function to elements, rows and indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.ops.composed.refusing import Numbers, need
from symgrad.ops.composed.shapes import along_each_axis, kept, rows_first


def vectorized(function: Any, args: Any) -> Any:
    """``np.vectorize(function)(*args)``: one call for each element."""
    if min([np.size(a) for a in args]) == 0:
        raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
    return each_element(function, args)


def each_element(function: Any, args: Any) -> Any:
    """A function of each element, as an array."""
    if len(args) == 1 and np.ndim(args[0]) > 0:
        return np.reshape(np.array([function(item) for item in np.ravel(args[0])]), np.shape(args[0]))
    whole = args[0]
    for a in args[1:]:
        whole = whole + a
    if np.ndim(whole) == 0:
        return np.asarray(function(*args))
    flat = [np.ravel(np.broadcast_to(a, np.shape(whole))) for a in args]
    results = [function(*items) for items in zip(*flat)]
    return np.reshape(np.array(results), np.shape(whole))


def vectorized_as_float(function: Any, args: Any) -> Any:
    """The same with ``otypes=[float]``."""
    return np.asarray(each_element(function, args), dtype=float)


def apply_along_axis(func1d: Any, axis: Any, arr: Numbers, *args: Any, **kwargs: Any) -> Any:
    """``np.apply_along_axis`` of vectors and matrices; all results are stored in an array of the dtype of the first."""
    if np.ndim(arr) == 1:
        return np.array(func1d(arr, *args, **kwargs))  # memory of its own
    need(np.ndim(arr) == 2, "np.apply_along_axis is supported for vectors and matrices")
    across = axis == 0 or axis == -2
    results = [func1d(row, *args, **kwargs) for row in (np.transpose(arr) if across else arr)]
    stack = np.array(results)
    return np.moveaxis(stack, 0, -1) if np.ndim(stack) > 1 and across else stack


def apply_over_axes(func: Any, a: Numbers, axes: Any) -> Any:
    """``np.apply_over_axes``: one axis after the other, each with extent 1 afterwards."""
    reduced = a
    for axis in [axes] if isinstance(axes, int) else axes:
        less = func(reduced, axis)
        reduced = less if np.ndim(less) == np.ndim(reduced) else np.expand_dims(less, axis)
    return reduced


def fromfunction(function: Any, shape: Any) -> Any:
    """``np.fromfunction``."""
    places = np.indices(shape).astype(float)
    return function(*[places[k] for k in range(len(shape))])


def outer_of(function: Any, a: Any, b: Any) -> Any:
    """The ``outer`` of a function of two operands."""
    return function(np.reshape(a, np.shape(a) + (1,) * np.ndim(b)), b)


def at_each(function: Any, a: Any, indices: Any, *operands: Any) -> None:
    """``np.multiply.at`` and other ufuncs: cell by cell, so that a repeated index changes its cell again; a slice repeats none."""
    if isinstance(indices, slice):
        a[indices] = function(a[indices], *operands)
        return
    chosen = np.reshape(np.arange(np.size(a)), np.shape(a))[indices]
    places = np.ravel(chosen)
    values = [np.ravel(np.broadcast_to(b, np.shape(chosen))) for b in operands]
    if np.ndim(a) == 1:
        for k in range(len(places)):
            a[places[k]] = function(a[places[k]], *[b[k] for b in values])
    else:
        along = along_each_axis(places, np.shape(a))
        for k in range(len(places)):
            where = tuple([axis[k] for axis in along])
            a[where] = function(a[where], *[b[k] for b in values])


def operand_of(function: Any, array: Any, dtype: Any) -> Any:
    """Return an array in the result dtype of a ufunc of two such arrays."""
    wide = array if dtype is None else array.astype(dtype)
    same = np.ravel(wide)[:0]
    sample = function(same, same)
    return wide if wide.dtype == sample.dtype else wide.astype(sample.dtype)


def reduced_by(
    function: Any,
    array: Numbers,
    axis: Any = 0,
    dtype: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
    identity: Any = None,
    reorders: bool = False,
) -> Any:
    """The ``reduce`` of a ufunc without an equivalent NumPy function, element by element."""
    need(reorders or isinstance(axis, int) or np.ndim(array) == 1, "this ufunc reduces one axis")
    start = identity if initial is None else initial
    rows = rows_first(operand_of(function, array, dtype), axis)
    if start is None:
        need(where is None, "reduce with where of a ufunc without an identity needs initial")
        if rows.shape[0] == 0:
            raise ValueError("zero-size array to reduction operation which has no identity")
        reduced = rows[0]
        for k in range(1, rows.shape[0]):
            reduced = function(reduced, rows[k])
    else:
        reduced = np.full(np.shape(rows)[1:], start, dtype=rows.dtype)[()]
        if where is None:
            for k in range(rows.shape[0]):
                reduced = function(reduced, rows[k])
        else:
            chosen = rows_first(np.broadcast_to(where, np.shape(array)), axis)
            for k in range(rows.shape[0]):
                reduced = np.where(chosen[k], function(reduced, rows[k]), reduced)[()]
    return kept(reduced, array, axis) if keepdims else reduced


def accumulated_by(function: Any, array: Numbers, axis: Any = 0, dtype: Any = None) -> Any:
    """The ``accumulate`` of a ufunc without an equivalent NumPy function."""
    rows = np.array(np.moveaxis(operand_of(function, array, dtype), axis, 0))
    for k in range(1, rows.shape[0]):
        rows[k] = function(rows[k - 1], rows[k])
    return np.moveaxis(rows, 0, axis)


def reduced_at(function: Any, array: Numbers, indices: Numbers, axis: Any = 0, dtype: Any = None) -> Any:
    """The ``reduceat`` of a ufunc: from each index to the next, or the single element if the next index is not larger."""
    rows = np.moveaxis(operand_of(function, array, dtype), axis, 0)
    count = rows.shape[0]
    if np.any(indices < 0) or np.any(indices >= count):
        raise IndexError("an index is out of bounds in reduceat")
    results = rows[indices]
    for k in range(len(indices)):
        for j in range(indices[k] + 1, indices[k + 1] if k + 1 < len(indices) else count):
            results[k] = function(results[k], rows[j])
    return np.moveaxis(results, 0, axis)


def logaddexp_reduce(x: Numbers, axis: Any = 0, dtype: Any = None, keepdims: Any = False, initial: Any = None, where: Any = None) -> Any:
    """``np.logaddexp.reduce``."""
    x = operand_of(np.logaddexp, x, dtype)
    if x.dtype == np.float16:  # rounded at each step
        return reduced_by(np.logaddexp, x, axis, None, keepdims, initial, where, -np.inf, True)
    chosen = x if where is None else np.where(where, x, -np.inf)
    top = np.max(chosen, axis=axis, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0.0)
    total = np.log(np.sum(np.exp(chosen - top), axis=axis, keepdims=keepdims)) + (top if keepdims else np.squeeze(top, axis=axis))
    return total if initial is None else np.logaddexp(initial, total)
