"""Arrays joined, split, padded and laid beside one another, said in others."""

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
    if np.ndim(tup[0]) > 1:
        return np.concatenate(tup, axis=1)
    return np.concatenate([x if np.ndim(x) else np.reshape(x, 1) for x in tup])


def column_stack(tup: Any) -> Any:
    """``np.column_stack``: vectors are columns."""
    return np.concatenate([np.reshape(x, (-1, 1)) if np.ndim(x) < 2 else x for x in tup], axis=1)


def dstack(tup: Any) -> Any:
    """``np.dstack``: along the third axis."""
    if np.ndim(tup[0]) == 1:
        return np.expand_dims(np.stack(tup, axis=1), 0)
    if np.ndim(tup[0]) == 2:
        return np.stack(tup, axis=2)
    return np.concatenate(tup, axis=2)


def meshgrid(*xi: Any, copy: Any = True, sparse: Any = False, indexing: str = "xy") -> Any:
    """``np.meshgrid``: each vector along an axis of its own, repeated along the others unless they are ``sparse``."""
    need(copy, "np.meshgrid that gives views is not supported")
    need(indexing in ("xy", "ij"), "Valid values for `indexing` are 'xy' and 'ij'.")
    vectors = [np.ravel(np.asarray(x)) for x in xi]
    axes = list(range(len(vectors)))
    if len(vectors) > 1 and indexing == "xy":
        axes[0], axes[1] = 1, 0
    shape = tuple([vectors[k].shape[0] for k in axes])
    made = [np.reshape(v, (1,) * k + (-1,) + (1,) * (len(vectors) - 1 - k)) for k, v in zip(axes, vectors)]
    return tuple([m.copy() if sparse else np.broadcast_to(m, shape).copy() for m in made])


def open_grid(axes: Any) -> Any:
    """``np.ogrid[...]``: ranges, each along an axis of its own; all of them of floats if one is."""
    made = [axis.astype(float) for axis in axes] if any(axis.dtype == float for axis in axes) else list(axes)
    return np.meshgrid(*made, indexing="ij", sparse=True)


def dense_grid(axes: Any) -> Any:
    """``np.mgrid[...]``: the same, repeated along the others, as one array."""
    made = [axis.astype(float) for axis in axes] if any(axis.dtype == float for axis in axes) else list(axes)
    return np.stack(np.meshgrid(*made, indexing="ij"))


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
    """``np.append``: both flat unless an axis is given."""
    if axis is None:
        return np.concatenate([flat(arr), flat(values)])
    return np.concatenate([arr, values], axis=axis)


def insert(arr: Numbers, obj: Any, values: Any, axis: Any = None) -> Any:
    """``np.insert`` at one place."""
    need(np.ndim(obj) == 0, "np.insert at several places is not supported")
    rows = flat(arr) if axis is None else np.moveaxis(arr, axis, 0)
    must(abs(obj) <= rows.shape[0], "the place of np.insert is out of bounds")
    new = np.asarray(values, dtype=arr.dtype)
    if np.ndim(rows) == 1:
        return np.concatenate([rows[:obj], np.ravel(new), rows[obj:]])
    need(np.ndim(new) <= np.ndim(rows), "np.insert of values that have more axes than the array is not supported")
    if np.ndim(new) < np.ndim(rows):
        new = np.expand_dims(new, 0)
    block = np.broadcast_to(new, (np.shape(new)[0], *rows.shape[1:]))
    return np.moveaxis(np.concatenate([rows[:obj], block, rows[obj:]]), 0, axis)


def block(arrays: Any) -> Any:
    """``np.block`` of one list or of lists of matrices."""
    need(isinstance(arrays, list), "np.block of an array is not supported")
    if isinstance(arrays[0], list):
        need(not isinstance(arrays[0][0], list), "np.block of lists three deep is not supported")
        return np.concatenate([np.concatenate([atleast_2d(b) for b in row], axis=-1) for row in arrays], axis=-2)
    return np.concatenate([atleast_1d(b) for b in arrays], axis=-1)


def hsplit(ary: Numbers, indices_or_sections: Any) -> Any:
    """``np.hsplit``."""
    return np.split(ary, indices_or_sections, axis=0 if np.ndim(ary) == 1 else 1)


def vsplit(ary: Numbers, indices_or_sections: Any) -> Any:
    """``np.vsplit``."""
    return np.split(ary, indices_or_sections, axis=0)


def dsplit(ary: Numbers, indices_or_sections: Any) -> Any:
    """``np.dsplit``."""
    return np.split(ary, indices_or_sections, axis=2)


def resize(a: Numbers, new_shape: Any) -> Any:
    """``np.resize``: what is there, over and over."""
    own = flat(a)
    if own.shape[0] == 0:
        return np.zeros(new_shape, dtype=own.dtype)
    made = np.zeros(new_shape, dtype=int)
    return np.reshape(own[np.arange(np.size(made)) % own.shape[0]], np.shape(made))


def trim_zeros(filt: Any) -> Any:
    """``np.trim_zeros``: without the zeros at both ends, of a matrix without the rows and columns of zeros around it."""
    if isinstance(filt, list):
        whole = np.asarray(filt)
        for item in filt:
            need(
                np.asarray(item).dtype.itemsize == whole.dtype.itemsize,
                "np.trim_zeros of a list of numbers of several dtypes is not supported",
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
    made = whole[1:] - whole[:-1]
    if to_begin is not None:
        made = np.concatenate([np.asarray(np.ravel(to_begin), dtype=whole.dtype), made])
    return made if to_end is None else np.concatenate([made, np.asarray(np.ravel(to_end), dtype=whole.dtype)])


def union1d(ar1: Numbers, ar2: Numbers) -> Any:
    """``np.union1d``."""
    return np.unique(np.concatenate([np.ravel(ar1), np.ravel(ar2)]))


def setdiff1d(ar1: Numbers, ar2: Numbers) -> Any:
    """``np.setdiff1d``."""
    own = np.unique(ar1)
    return own[~np.isin(own, ar2)]
