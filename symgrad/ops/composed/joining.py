"""Functions that join, split, pad and stack arrays, expressed by other functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.ops.composed.refusing import Numbers, must, need
from symgrad.ops.composed.shapes import atleast_1d, atleast_2d, flat


def vstack(tup: Any) -> Any:
    """``np.vstack``: vectors are rows."""
    return np.concatenate([np.reshape(x, (1, -1)) if np.ndim(x) < 2 else x for x in tup])


def hstack(tup: Any) -> Any:
    """``np.hstack``: along the second axis, vectors along the first."""
    if len(tup) == 0:
        raise ValueError("need at least one array to concatenate")
    if np.ndim(tup[0]) > 1:
        return np.concatenate(tup, axis=1)
    return np.concatenate([x if np.ndim(x) else np.reshape(x, 1) for x in tup])


def column_stack(tup: Any) -> Any:
    """``np.column_stack``: vectors are columns."""
    return np.concatenate([np.reshape(x, (-1, 1)) if np.ndim(x) < 2 else x for x in tup], axis=1)


def dstack(tup: Any) -> Any:
    """``np.dstack``: along the third axis."""
    if np.ndim(tup[0]) == 0:
        return np.reshape(np.stack(tup), (1, 1, -1))
    if np.ndim(tup[0]) == 1:
        return np.expand_dims(np.stack(tup, axis=1), 0)
    if np.ndim(tup[0]) == 2:
        return np.stack(tup, axis=2)
    return np.concatenate(tup, axis=2)


def meshgrid(*xi: Any, copy: Any = True, sparse: Any = False, indexing: str = "xy") -> Any:
    """``np.meshgrid``: each vector along an axis of its own, repeated along the others unless they are ``sparse``."""
    need(copy, "np.meshgrid that gives views is not supported; leave copy out")
    need(indexing in ("xy", "ij"), "Valid values for `indexing` are 'xy' and 'ij'.")
    vectors = [np.ravel(np.asarray(x)) for x in xi]
    axes = list(range(len(vectors)))
    if len(vectors) > 1 and indexing == "xy":
        axes[0], axes[1] = 1, 0
    shape = tuple([vectors[k].shape[0] for k in axes])
    grids = [np.reshape(v, (1,) * k + (-1,) + (1,) * (len(vectors) - 1 - k)) for k, v in zip(axes, vectors)]
    return tuple([m.copy() if sparse else np.broadcast_to(m, shape).copy() for m in grids])


def open_grid(axes: Any) -> Any:
    """``np.ogrid[...]``: ranges, each along an axis of its own; all of them of floats if one is."""
    vectors = [axis.astype(float) for axis in axes] if any(axis.dtype == float for axis in axes) else list(axes)
    return np.meshgrid(*vectors, indexing="ij", sparse=True)


def dense_grid(axes: Any) -> Any:
    """``np.mgrid[...]``: the same, repeated along the others, as one array."""
    vectors = [axis.astype(float) for axis in axes] if any(axis.dtype == float for axis in axes) else list(axes)
    return np.stack(np.meshgrid(*vectors, indexing="ij"))


def sparse_indices(dimensions: Any, dtype: Any = int, sparse: Any = False) -> Any:
    """``np.indices`` of a dtype, or with ``sparse``."""
    if not sparse:
        return np.indices(dimensions).astype(dtype)
    return np.meshgrid(*[np.arange(n, dtype=dtype) for n in dimensions], indexing="ij", sparse=True)


def broadcast_arrays(*args: Any) -> Any:
    """``np.broadcast_arrays``."""
    whole = args[0]
    for a in args[1:]:
        whole = whole + a
    return tuple([np.broadcast_to(a, np.shape(whole)) for a in args])


def joined_rows(parts: Any) -> Any:
    """``np.r_[...]``: numbers and arrays one after the other."""
    return np.concatenate([np.atleast_1d(part) for part in parts])


def joined_columns(parts: Any) -> Any:
    """``np.c_[...]``: vectors are columns."""
    need(np.ndim(parts[0]) < 3, "np.c_ is supported for vectors and matrices")
    return np.concatenate([np.reshape(part, (-1, 1)) if np.ndim(part) < 2 else part for part in parts], axis=1)


def append(arr: Numbers, values: Numbers, axis: Any = None) -> Any:
    """``np.append``: both operands are flattened unless an axis is given."""
    if axis is None:
        return np.concatenate([flat(arr), flat(values)])
    return np.concatenate([arr, values], axis=axis)


def insert(arr: Numbers, obj: Any, values: Any, axis: Any = None) -> Any:
    """``np.insert`` at one index or at several."""
    rows = flat(arr) if axis is None else np.moveaxis(arr, axis, 0)
    if isinstance(obj, slice):
        return inserted_at(rows, np.arange(rows.shape[0])[obj], np.asarray(values, dtype=arr.dtype), axis)
    if np.ndim(obj) > 0:
        return inserted_at(rows, np.asarray(obj), np.asarray(values, dtype=arr.dtype), axis)
    must(abs(obj) <= rows.shape[0], "the place of np.insert is out of bounds")
    new = np.asarray(values, dtype=arr.dtype)
    if np.ndim(rows) == 1:
        return np.concatenate([rows[:obj], np.ravel(new), rows[obj:]])
    need(np.ndim(new) <= np.ndim(rows), "np.insert of values that have more axes than the array is not supported")
    if np.ndim(new) < np.ndim(rows):
        new = np.expand_dims(new, 0)
    block = np.broadcast_to(new, (np.shape(new)[0], *rows.shape[1:]))
    return np.moveaxis(np.concatenate([rows[:obj], block, rows[obj:]]), 0, axis)


def inserted_at(rows: Any, places: Any, values: Any, axis: Any) -> Any:
    """Insert rows before several others; each insertion shifts the following rows."""
    need(places.dtype.kind != "b", "np.insert takes places, not a mask")
    must(places.shape[0] != 1 or np.size(values) == 1, "np.insert at a list of one place is supported for one value; write the place alone")
    count, more = rows.shape[0], places.shape[0]
    if np.any(places < -count) or np.any(places > count):
        raise IndexError("an index of np.insert is out of bounds")
    own = np.where(places < 0, places + count, places)
    order = np.argsort(own, kind="stable")
    spots = own * 1
    spots[order] += np.arange(more)
    whole = values if np.ndim(values) < 2 or axis is None or np.ndim(values) < np.ndim(rows) else np.moveaxis(values, axis, 0)
    if axis is not None and np.ndim(values) > 0 and np.ndim(values) < np.ndim(rows):
        whole = np.moveaxis(np.expand_dims(values, tuple(range(np.ndim(rows) - np.ndim(values)))), axis, 0)
    merged = np.zeros((count + more, *rows.shape[1:]), dtype=rows.dtype)
    merged[spots] = whole
    old = np.ones(count + more, dtype=bool)
    old[spots] = False
    merged[np.flatnonzero(old)] = rows
    return merged if axis is None or np.ndim(merged) == 1 else np.moveaxis(merged, 0, axis)


def delete_slice(arr: Numbers, obj: Any, axis: Any = None) -> Any:
    """``np.delete`` of a slice."""
    return np.delete(arr, np.arange(np.size(arr) if axis is None else np.shape(arr)[axis])[obj], axis=axis)


def block(arrays: Any) -> Any:
    """``np.block`` of one list or of lists of matrices."""
    need(isinstance(arrays, list), "np.block of an array is not supported")
    if isinstance(arrays[0], list):
        need(
            not isinstance(arrays[0][0], list),
            "np.block of lists three deep is not supported; write np.array, of numbers",
        )
        return np.concatenate([np.concatenate([atleast_2d(b) for b in row], axis=-1) for row in arrays], axis=-2)
    return np.concatenate([atleast_1d(b) for b in arrays], axis=-1)


def hsplit(ary: Any, indices_or_sections: Any) -> Any:
    """``np.hsplit``."""
    if isinstance(ary, list | tuple):
        raise AttributeError("a list has no attribute 'ndim'")
    need(np.ndim(ary) > 0, "np.hsplit takes arrays that have axes")
    return np.split(ary, indices_or_sections, axis=0 if np.ndim(ary) == 1 else 1)


def vsplit(ary: Any, indices_or_sections: Any) -> Any:
    """``np.vsplit``."""
    need(np.ndim(ary) > 1, "np.vsplit takes arrays of at least two axes")
    return np.split(ary, indices_or_sections, axis=0)


def dsplit(ary: Any, indices_or_sections: Any) -> Any:
    """``np.dsplit``."""
    need(np.ndim(ary) > 2, "np.dsplit takes arrays of at least three axes")
    return np.split(ary, indices_or_sections, axis=2)


def resize(a: Numbers, new_shape: Any) -> Any:
    """``np.resize``: the elements, repeated until the new shape is full."""
    own = flat(a)
    if own.shape[0] == 0:
        return np.zeros(new_shape, dtype=own.dtype)
    template = np.zeros(new_shape, dtype=int)
    return np.reshape(own[np.arange(np.size(template)) % own.shape[0]], np.shape(template))


def trim_zeros(filt: Any, trim: str = "fb") -> Any:
    """``np.trim_zeros``: without the zeros at both ends, of a matrix without the rows and columns of zeros around it."""
    trim = trim.lower()
    if trim != "fb":
        need(trim in ("f", "b") and isinstance(filt, np.ndarray) and np.ndim(filt) == 1, "np.trim_zeros of one end takes vectors")
        inside = np.flatnonzero(filt)
        return filt[:0] if inside.shape[0] == 0 else filt[inside[0] :] if trim == "f" else filt[: inside[-1] + 1]
    if isinstance(filt, list):
        whole = np.asarray(filt)
        for item in filt:
            need(
                np.asarray(item).dtype.itemsize == whole.dtype.itemsize,
                "np.trim_zeros of a list of numbers of several dtypes is not supported; write np.array around the list",
            )
        return list(trimmed(whole))
    need(isinstance(filt, np.ndarray) and np.ndim(filt) in (1, 2), "np.trim_zeros is supported for vectors, lists and matrices")
    if np.ndim(filt) == 1:
        return trimmed(filt)
    rows, columns = np.flatnonzero(np.any(filt != 0, axis=1)), np.flatnonzero(np.any(filt != 0, axis=0))
    if rows.shape[0] == 0:
        return filt[:0, :0]
    return filt[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


def trimmed(vector: Any) -> Any:
    """A vector without the zeros at both ends."""
    inside = np.flatnonzero(vector)
    return vector[inside[0] : inside[-1] + 1] if inside.shape[0] > 0 else vector[:0]


def ediff1d(ary: Numbers, to_end: Numbers = None, to_begin: Numbers = None) -> Any:
    """``np.ediff1d``: differences of neighbours in the flat array."""
    whole = flat(ary)
    differences = whole[1:] - whole[:-1]
    if to_begin is not None:
        differences = np.concatenate([np.asarray(np.ravel(to_begin), dtype=whole.dtype), differences])
    return differences if to_end is None else np.concatenate([differences, np.asarray(np.ravel(to_end), dtype=whole.dtype)])


def unique_within(ar: Numbers, return_index: Any = False, return_inverse: Any = False, return_counts: Any = False, axis: Any = None) -> Any:
    """``np.unique`` with the first index, the inverse index, or the count of each number."""
    need(axis is None, "np.unique along an axis is not supported; leave axis out")
    own = flat(ar)
    order = np.argsort(own, kind="stable")
    ordered = own[order]
    new = ordered[1:] != ordered[:-1]
    if own.dtype.kind == "f":
        new = new & ~(np.isnan(ordered[1:]) & np.isnan(ordered[:-1]))
    begins = np.concatenate([np.ones(min(own.shape[0], 1), dtype=bool), new])
    places = np.flatnonzero(begins)
    results: Any = [ordered[places]]
    if return_index:
        results = [*results, order[places]]
    if return_inverse:
        inverse = np.zeros(own.shape[0], dtype=int)
        inverse[order] = np.cumsum(begins) - 1
        results = [*results, np.reshape(inverse, np.shape(ar))]
    if return_counts:
        results = [*results, np.concatenate([places[1:], np.full(min(own.shape[0], 1), own.shape[0])]) - places]
    return tuple(results)


def intersect1d(ar1: Numbers, ar2: Numbers) -> Any:
    """``np.intersect1d``."""
    own = np.unique(ar1)
    return np.concatenate([own[np.isin(own, ar2)], flat(ar2)[:0]])  # in the dtype of both


def setxor1d(ar1: Numbers, ar2: Numbers) -> Any:
    """``np.setxor1d``."""
    return np.unique(np.concatenate([setdiff1d(ar1, ar2), setdiff1d(ar2, ar1)]))


def union1d(ar1: Numbers, ar2: Numbers) -> Any:
    """``np.union1d``."""
    return np.unique(np.concatenate([np.ravel(ar1), np.ravel(ar2)]))


def setdiff1d(ar1: Numbers, ar2: Numbers) -> Any:
    """``np.setdiff1d``."""
    own = np.unique(ar1)
    return own[~np.isin(own, ar2)]
