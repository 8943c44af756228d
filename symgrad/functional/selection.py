"""Sorting, and selection of elements by index, as NumPy functions of arrays and plain settings.

Elements that are not selected have a zero derivative; for an element selected several times the derivatives are summed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.functional.statistics import along
from symgrad.functional.tensors import Tensor


def sort(x: Tensor, axis: int = -1, descending: bool = False) -> Tensor:
    """In order along an axis."""
    if descending:
        return np.flip(np.sort(x, axis=axis), axis)
    return np.sort(x, axis=axis)


def argsort(x: Tensor, axis: int = -1, descending: bool = False) -> Tensor:
    """The indices that sort the elements."""
    order = np.argsort(x, axis=axis)
    return np.flip(order, axis) if descending else order


def between(x: Tensor, axis: int, start: int, stop: int) -> Tensor:
    """The parts along an axis from one number up to another."""
    return np.moveaxis(np.moveaxis(x, axis, 0)[start:stop], 0, axis)


def topk(x: Tensor, k: int, axis: int = -1, largest: bool = True) -> Tensor:
    """The ``k`` largest or smallest elements, and their indices."""
    place = between(argsort(x, axis, largest), axis, 0, k)
    return np.take_along_axis(x, place, axis), place


def kthvalue(x: Tensor, k: int, axis: int = -1, keepdim: bool = False) -> Tensor:
    """The ``k``-th smallest element, counted from 1, and its index."""
    place = between(np.argsort(x, axis=axis), axis, k - 1, k)
    element = np.take_along_axis(x, place, axis)
    if keepdim:
        return element, place
    return np.squeeze(element, axis), np.squeeze(place, axis)


def masked_select(x: Tensor, mask: Tensor) -> Tensor:
    """The elements where the mask holds, one after the other."""
    return x[np.broadcast_to(mask, np.shape(x))]


def masked_fill(x: Tensor, mask: Tensor, value: Tensor) -> Tensor:
    """``x``, and the value where the mask holds."""
    return np.where(mask, value, x)


def places_along(index: Tensor, axis: int) -> Tensor:
    """The indices for every axis of the elements at ``index`` along one axis."""
    rank, shape = np.ndim(index), np.shape(index)
    return tuple([index if k == axis % rank else along(shape[k], k, rank) for k in range(rank)])


def put_along_axis(x: Tensor, indices: Tensor, values: Tensor, axis: int, reduce: str = "assign") -> Tensor:
    """``x`` with values assigned or added at indices along an axis."""
    result = np.copy(x)
    if reduce == "add":
        np.add.at(result, places_along(indices, axis), values)
    else:
        result[places_along(indices, axis)] = values
    return result


def numbers(index: Tensor, depth: int) -> Tensor:
    """The columns of the last axis, which has this extent: one array for each axis that they number."""
    return tuple([index[..., k] for k in range(depth)])


def gather_nd(x: Tensor, index: Tensor, depth: int = 1) -> Tensor:
    """The parts of ``x`` that the rows of ``index`` number, each of extent ``depth``."""
    return x[numbers(index, depth)]


def scatter(x: Tensor, index: Tensor, updates: Tensor, overwrite: bool = True) -> Tensor:
    """``x`` with rows assigned at indices, or replaced by sums of rows."""
    result = np.copy(x)
    result[index] = updates if overwrite else np.zeros_like(updates)
    if not overwrite:
        np.add.at(result, index, updates)
    return result


def scatter_nd_add(x: Tensor, index: Tensor, updates: Tensor, depth: int = 1) -> Tensor:
    """``x`` with updates added to the parts that the rows of ``index`` number, each of extent ``depth``."""
    result = np.copy(x)
    np.add.at(result, numbers(index, depth), updates)
    return result


def scatter_nd(index: Tensor, updates: Tensor, shape: Any, depth: int = 1) -> Tensor:
    """Zeros with updates added to the parts that the rows of ``index`` number, each of extent ``depth``."""
    result = np.zeros(shape, updates.dtype)
    np.add.at(result, numbers(index, depth), updates)
    return result


def index_add(x: Tensor, index: Tensor, value: Tensor, axis: int = 0) -> Tensor:
    """``x`` with values added to its parts along an axis, by their numbers."""
    result = np.copy(np.moveaxis(x, axis, 0))
    np.add.at(result, index, np.moveaxis(value, axis, 0))
    return np.moveaxis(result, 0, axis)


def index_fill(x: Tensor, index: Tensor, value: Tensor, axis: int = 0) -> Tensor:
    """``x`` with one number in its parts along an axis, by their numbers."""
    result = np.copy(np.moveaxis(x, axis, 0))
    result[index] = value
    return np.moveaxis(result, 0, axis)


def index_put(x: Tensor, value: Tensor, *indices: Tensor, accumulate: bool = False) -> Tensor:
    """``x`` with values assigned or added at indices."""
    result = np.copy(x)
    if accumulate:
        np.add.at(result, indices, value)
    else:
        result[indices] = value
    return result


def put(x: Tensor, value: Tensor, place: Tensor) -> Tensor:
    """``x`` with a value at indices of the flattened array."""
    result = np.copy(np.reshape(x, -1))
    result[place] = value
    return np.reshape(result, np.shape(x))


def index_sample(x: Tensor, index: Tensor) -> Tensor:
    """From each row the elements at its own indices."""
    return np.take_along_axis(x, index, 1)


def repeat_interleave(x: Tensor, repeats: Tensor, axis: int | None = None) -> Tensor:
    """Each part along an axis several times, one after the other."""
    return np.repeat(x, repeats, axis=axis)


def repeat_each(x: Tensor, repeats: int = 1, axis: int | None = None) -> Tensor:
    """Each part along an axis equally often, one after the other."""
    return np.repeat(x, repeats, axis=axis)


def take(x: Tensor, index: Tensor) -> Tensor:
    """Elements by their numbers in the array as one row."""
    return np.reshape(x, -1)[index]


def searchsorted(sorted_sequence: Tensor, values: Tensor, right: bool = False) -> Tensor:
    """The insertion indices of values in a sorted vector; without a derivative."""
    return np.searchsorted(sorted_sequence, values, "right" if right else "left")


def nonzero(x: Tensor) -> Tensor:
    """The numbers of the elements that are not 0, a row for each; no derivative."""
    return np.stack(np.nonzero(x), axis=1)
