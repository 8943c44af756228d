"""Functions applied to elements, rows and places."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.ops.composed.refusing import Numbers, must, need


def vectorized(function: Any, args: Any) -> Any:
    """``np.vectorize(function)(*args)``: one call for each element."""
    if len(args) == 1 and np.ndim(args[0]) > 0:
        return np.reshape(np.array([function(item) for item in np.ravel(args[0])]), np.shape(args[0]))
    whole = args[0]
    for a in args[1:]:
        whole = whole + a
    if np.ndim(whole) == 0:
        return np.asarray(function(*args))
    flat = [np.ravel(np.broadcast_to(a, np.shape(whole))) for a in args]
    made = [function(*items) for items in zip(*flat)]
    return np.reshape(np.array(made), np.shape(whole))


def vectorized_as_float(function: Any, args: Any) -> Any:
    """The same with ``otypes=[float]``."""
    return np.asarray(vectorized(function, args), dtype=float)


def apply_along_axis(func1d: Any, axis: Any, arr: Numbers, *args: Any) -> Any:
    """``np.apply_along_axis`` of vectors and matrices; all results are put into an array of the dtype of the first."""
    if np.ndim(arr) == 1:
        return np.asarray(func1d(arr, *args))
    need(np.ndim(arr) == 2, "np.apply_along_axis is supported for vectors and matrices")
    across = axis == 0 or axis == -2
    results = [func1d(row, *args) for row in (np.transpose(arr) if across else arr)]
    made = np.array(results)
    return np.moveaxis(made, 0, -1) if np.ndim(made) > 1 and across else made


def apply_over_axes(func: Any, a: Numbers, axes: Any) -> Any:
    """``np.apply_over_axes``: one axis after the other, each kept."""
    made = a
    for axis in [axes] if isinstance(axes, int) else axes:
        less = func(made, axis)
        made = less if np.ndim(less) == np.ndim(made) else np.expand_dims(less, axis)
    return made


def fromfunction(function: Any, shape: Any) -> Any:
    """``np.fromfunction``."""
    places = np.indices(shape).astype(float)
    return function(*[places[k] for k in range(len(shape))])


def outer_of(function: Any, a: Any, b: Any) -> Any:
    """The ``outer`` of a function of two operands."""
    return function(np.reshape(a, np.shape(a) + (1,) * np.ndim(b)), b)


def at_each(function: Any, a: Any, indices: Numbers, b: Numbers) -> None:
    """``np.multiply.at`` and its like: cell after cell, so that one that is named twice is changed twice; in a slice none is."""
    if isinstance(indices, slice) or np.ndim(indices) == 0:
        a[indices] = function(a[indices], b)
        return
    need(np.ndim(indices) == 1 and np.ndim(b) < 2 and np.ndim(a) == 1, "this method of a ufunc takes vectors")
    indices = np.flatnonzero(indices) if indices.dtype.kind == "b" else indices
    if np.ndim(b) == 1:
        must(len(b) == len(indices), "there are as many values as places for this method of a ufunc")
        for k in range(len(indices)):
            a[indices[k]] = function(a[indices[k]], b[k])
    else:
        for k in range(len(indices)):
            a[indices[k]] = function(a[indices[k]], b)
