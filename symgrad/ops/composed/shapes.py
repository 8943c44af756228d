"""Functions that change axes and shapes, expressed by other functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.ops.composed.refusing import Numbers, must, need


def flat(a: Any) -> Any:
    """Return an array flattened to a vector."""
    return a if np.ndim(a) == 1 else np.ravel(a)


def kept(reduced: Any, x: Any, axis: Any) -> Any:
    """Return a reduction of ``x`` with the reduced axes kept at extent 1."""
    if np.ndim(x) == 0:
        return np.asarray(reduced)
    if axis is not None:
        return np.expand_dims(reduced, axis)
    return np.reshape(reduced, (1,) * np.ndim(x))


def rows_first(a: Any, axis: Any) -> Any:
    """Merge the reduced axes into one, and move it to the front."""
    if axis is None:
        return flat(a)
    if isinstance(axis, tuple):
        moved = np.moveaxis(a, axis, (0, 1, 2, 3)[: len(axis)])
        return np.reshape(moved, (-1, *moved.shape[len(axis) :]))
    return np.moveaxis(a, axis, 0)


def normalize_axis_index(axis: Any, ndim: Any, msg_prefix: Any = None) -> Any:
    """``np.lib.array_utils.normalize_axis_index``: the axis counted from the first."""
    if axis < -ndim or axis >= ndim:
        raise np.exceptions.AxisError(axis, ndim, msg_prefix)
    return axis + ndim if axis < 0 else axis


def along_each_axis(places: Any, shape: Any) -> Any:
    """Convert flat indices in C order to a list of indices along each axis; the excess goes to the first axis."""
    along: Any = []
    rest = places
    for extent in reversed(shape[1:]):
        along = [rest % extent, *along]
        rest = rest // extent
    return [rest, *along]


def grid_of(shape: Any) -> Any:
    """Return an open grid of all indices along each axis."""
    return [np.reshape(np.arange(extent), (1,) * k + (-1,) + (1,) * (len(shape) - 1 - k)) for k, extent in enumerate(shape)]


def atleast_1d(x: Numbers, *more: Any) -> Any:
    """``np.atleast_1d``: an array, and of several operands a tuple of arrays."""
    return tuple([with_1_axes(one) for one in (x, *more)]) if more else with_1_axes(x)


def with_1_axes(x: Numbers) -> Any:
    """A number or array with new axes, so that it has at least 1."""
    return np.reshape(x, (1,)) if np.ndim(x) == 0 else x


def atleast_2d(x: Numbers, *more: Any) -> Any:
    """``np.atleast_2d``: an array, and of several operands a tuple of arrays."""
    return tuple([with_2_axes(one) for one in (x, *more)]) if more else with_2_axes(x)


def with_2_axes(x: Numbers) -> Any:
    """A number or array with new axes, so that it has at least 2."""
    return np.reshape(x, (1, -1)) if np.ndim(x) < 2 else x


def atleast_3d(x: Numbers, *more: Any) -> Any:
    """``np.atleast_3d``: an array, and of several operands a tuple of arrays."""
    return tuple([with_3_axes(one) for one in (x, *more)]) if more else with_3_axes(x)


def with_3_axes(x: Numbers) -> Any:
    """A number or array with new axes, so that it has at least 3."""
    if np.ndim(x) == 0:
        return np.reshape(x, (1, 1, 1))
    if np.ndim(x) == 1:
        return np.expand_dims(x, (0, 2))
    return np.expand_dims(x, 2) if np.ndim(x) == 2 else x


def unstack(x: Numbers, /, *, axis: int = 0) -> Any:
    """``np.unstack``: views along an axis."""
    return tuple(np.moveaxis(x, axis, 0))


def rollaxis(a: Numbers, axis: Any, start: Any = 0) -> Any:
    """``np.rollaxis``: an axis moved before another."""
    n = np.ndim(a)
    source = axis + n if axis < 0 else axis
    place = start + n if start < 0 else start
    return np.moveaxis(a, source, place - 1 if source < place else place)


def rot90(m: Numbers, k: int = 1, axes: Any = None) -> Any:
    """``np.rot90``: ``k`` quarter turns, where ``k`` is static."""
    first, second = (0, 1) if axes is None else axes
    turns = k % 4
    if turns == 0:
        return m[:]
    if turns == 2:
        return np.flip(np.flip(m, first), second)
    return np.flip(np.swapaxes(m, first, second), first if turns == 1 else second)


def ix_(*args: Any) -> Any:
    """``np.ix_`` of integers and masks."""
    places = [np.asarray(a) for a in args]
    places = [np.flatnonzero(a) if a.dtype.kind == "b" else a for a in places]
    return tuple([np.reshape(a, (1,) * k + (-1,) + (1,) * (len(args) - 1 - k)) for k, a in enumerate(places)])


def diagflat(v: Numbers, k: int = 0) -> Any:
    """``np.diagflat``."""
    return np.diag(np.ravel(v), k)


def sliding_window_view(x: Numbers, window_shape: Any, axis: Any = None) -> Any:
    """``sliding_window_view``; a copy, which is not read after a store to the array."""
    widths = (window_shape,) if isinstance(window_shape, int) else window_shape
    axes = tuple(range(np.ndim(x))) if axis is None else (axis,) if isinstance(axis, int) else axis
    need(len(axes) == len(widths), "sliding_window_view takes a width for each axis")
    windows = x
    for along, width in zip(axes, widths):
        if width > np.shape(windows)[along % np.ndim(x)]:
            raise ValueError("window shape cannot be larger than input array shape")
        places = np.expand_dims(np.arange(np.shape(windows)[along % np.ndim(x)] - width + 1), 1) + np.arange(width)
        if np.ndim(windows) == 1:
            windows = windows[places]
        else:
            windows = np.moveaxis(np.moveaxis(np.moveaxis(windows, along % np.ndim(x), 0)[places], 1, -1), 0, along % np.ndim(x))
    return may_share(x, windows)


def by_strides(x: Any, shape: Any = None, strides: Any = None, subok: Any = False, writeable: Any = True) -> Any:
    """``as_strided`` of a row-major array without gaps; a copy, which is not read after a store to the array."""
    need(strides is not None, "np.lib.stride_tricks.as_strided is followed with strides")
    need(not subok, "np.lib.stride_tricks.as_strided is followed without subok")
    extents = np.shape(x) if shape is None else (shape,) if isinstance(shape, int) else tuple(shape)
    steps = (strides,) if isinstance(strides, int) else tuple(strides)
    need(len(extents) == len(steps), "strides must have a stride for each axis of the shape")
    places = np.zeros((1,) * len(extents), dtype=int)
    for axis, (extent, step) in enumerate(zip(extents, steps)):
        must(step % x.itemsize == 0, "np.lib.stride_tricks.as_strided is followed with strides of whole elements")
        along = np.arange(extent) * (step // x.itemsize)
        places = places + np.reshape(along, (1,) * axis + (-1,) + (1,) * (len(extents) - 1 - axis))
    must(np.all((places >= 0) & (places < x.size)), "np.lib.stride_tricks.as_strided is followed inside the memory of its array")
    return may_share(x, np.ravel(x)[places])


def may_share(x: Any, y: Any) -> Any:
    """``y``, which NumPy makes a view of ``x``: after a store to one of them the other is not read."""
    return y
