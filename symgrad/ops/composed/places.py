"""Functions that select elements by conditions and indices, to read or to write."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.ops.composed.refusing import Numbers, must, need
from symgrad.ops.composed.shapes import along_each_axis, flat, grid_of


def nonzero(a: Numbers) -> Any:
    """``np.nonzero``."""
    need(np.ndim(a) > 0, "np.nonzero takes arrays that have axes")
    return tuple(along_each_axis(np.flatnonzero(a), np.shape(a)))


def extract(condition: Numbers, arr: Numbers) -> Any:
    """``np.extract``."""
    return flat(arr)[np.flatnonzero(condition)]


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """``np.select``: of the first condition that holds."""
    chosen = default
    for condition, choice in reversed(list(zip(condlist, choicelist))):
        chosen = np.where(condition, choice, chosen)
    return chosen


def piecewise(x: Numbers, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """``np.piecewise``: each function where its condition holds, the last one elsewhere."""
    if not isinstance(condlist, list | tuple):
        need(np.ndim(condlist) == 1 and np.ndim(x) == 1, "the conditions of np.piecewise must be a list; write [x > 0] for x > 0")
        condlist = [condlist]
    condlist = [np.asarray(condition, dtype=bool) for condition in condlist]
    need(np.ndim(x) > 0, "np.piecewise takes arrays that have axes")
    values = np.zeros_like(x)
    if len(funclist) > len(condlist):
        rest = np.ones_like(x, dtype=bool)
        for condition in condlist:
            rest = rest & ~condition
        values[rest] = funclist[-1](x[rest], *args, **kw) if callable(funclist[-1]) else funclist[-1]
    for condition, function in zip(condlist, funclist):
        values[condition] = function(x[condition], *args, **kw) if callable(function) else function
    return values


def partition(a: Numbers, kth: Any, axis: int | None = -1) -> Any:
    """``np.partition``."""
    along = -1 if axis is None else axis
    parts = np.ravel(a) if axis is None else a
    return np.take_along_axis(parts, np.argpartition(parts, kth, axis=along), axis=along)


def in_turn(values: Any, count: Any) -> Any:
    """``count`` numbers: the values in order, repeated."""
    own = np.ravel(values)
    must(own.shape[0] > 0 or count == 0, "there are no values to be stored")
    return own[np.arange(count) % max(own.shape[0], 1)]


def fill_diagonal(a: Any, val: Numbers, wrap: Any = False) -> None:
    """``np.fill_diagonal``, in place; with ``wrap`` the diagonal of a tall matrix restarts below its end."""
    need(np.ndim(a) > 1, "array must be at least 2-d")
    if np.ndim(a) == 2 and wrap:
        places = np.arange(0, np.size(a), a.shape[1] + 1)
        a[places // a.shape[1], places % a.shape[1]] = val if np.ndim(val) == 0 else in_turn(val, places.shape[0])
    else:
        shortest = a.shape[0]
        for extent in np.shape(a)[1:]:
            if np.ndim(a) > 2 and extent != shortest:
                raise ValueError("All dimensions of input must be of equal length")
            shortest = min(shortest, extent)
        places = np.arange(shortest)
        a[(places,) * np.ndim(a)] = val if np.ndim(val) == 0 else in_turn(val, places.shape[0])


def put(a: Any, ind: Numbers, v: Numbers, mode: str = "raise") -> None:
    """``np.put``, with row-major indices; the values are repeated as needed."""
    places = np.asarray(ind, dtype=int)
    values = v if np.ndim(v) == 0 else in_turn(v, np.size(places))
    places = places if np.ndim(places) == 1 or np.ndim(places) == 0 and np.ndim(values) == 0 else np.ravel(places)
    if mode == "wrap":
        places = places % np.size(a)
    elif mode == "clip":
        places = np.clip(places, 0, np.size(a) - 1)
    else:
        need(mode == "raise", "this mode of np.put is not supported")
    if np.ndim(a) == 0:
        if np.any(places != 0) and np.any(places != -1):
            raise IndexError("a place of np.put is out of bounds")
        a[()] = values if np.ndim(values) == 0 else values[-1]
    else:
        a[tuple(along_each_axis(places, np.shape(a)))] = values


def putmask(a: Any, mask: Numbers, values: Numbers) -> None:
    """``np.putmask``: each selected element takes the value at its own index, the values repeated as needed."""
    chosen = np.asarray(mask, dtype=bool)
    must(np.shape(chosen) == np.shape(a), "putmask: mask and data must be the same size")
    a[chosen] = values if np.ndim(values) == 0 else np.reshape(in_turn(values, np.size(a)), np.shape(a))[chosen]


def place(arr: Any, mask: Numbers, vals: Numbers) -> None:
    """``np.place``: the selected elements take the values in order, repeated as needed."""
    chosen = np.asarray(mask, dtype=bool)
    must(np.shape(chosen) == np.shape(arr), "place: mask and data must be the same size")
    arr[chosen] = vals if np.ndim(vals) == 0 else in_turn(vals, np.count_nonzero(chosen))


def take_within(a: Numbers, indices: Numbers, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
    """``np.take`` with mode ``wrap`` or ``clip``."""
    need(out is None and mode in ("wrap", "clip"), "this form of np.take is not supported")
    extent = np.size(a) if axis is None else np.shape(a)[axis]
    return np.take(a, indices % extent if mode == "wrap" else np.clip(indices, 0, extent - 1), axis=axis)


def choose_of_array(a: Any, choices: Numbers) -> Any:
    """``np.choose`` of the items of one array."""
    count, rank = np.shape(choices)[0], max(np.ndim(a), np.ndim(choices) - 1)
    chosen = np.asarray(a)
    if np.any((chosen < 0) | (chosen >= count)):
        raise ValueError("invalid entry in choice array")
    items = np.reshape(choices, (count,) + (1,) * (rank + 1 - np.ndim(choices)) + np.shape(choices)[1:])
    return items[(chosen,) + tuple(grid_of(np.shape(items)[1:]))]


def choose_within(a: Numbers, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    """``np.choose`` with mode ``wrap`` or ``clip``."""
    need(out is None and mode in ("wrap", "clip"), "this form of np.choose is not supported")
    count = len(choices)
    return np.choose(a % count if mode == "wrap" else np.clip(a, 0, count - 1), choices)


def put_along_axis(arr: Any, indices: Numbers, values: Any, axis: Any) -> None:
    """``np.put_along_axis``, in place."""
    need(isinstance(axis, int) and np.ndim(indices) == np.ndim(arr), "np.put_along_axis takes an axis, and indices of the array's rank")
    along = axis % np.ndim(arr)
    arr[tuple([indices if k == along else places for k, places in enumerate(grid_of(np.shape(arr)))])] = values
