"""Keyword arguments with names of NumPy's, passed to functions of the user's: ordinary parameters."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from tests.verdicts import check_right

X = np.array([0.5, 1.25, 2.0])


def stores(x, out=None, factor=1.0):
    if out is None:
        return 2.0 * x
    out[:] = 5.0 * x
    return 3.0 * factor * x


def must_have(x, *, out):
    out[0] = 7.0 * x[1]
    return 3.0 * x


class Holder:
    def __init__(self, x, out=None):
        self.held = 2.0 * x if out is None else 3.0 * x + out

    @staticmethod
    def alone(x, out=None):
        return 2.0 * x if out is None else 3.0 * x + out

    @classmethod
    def of_class(cls, x, out=None):
        return cls.alone(x) if out is None else cls.alone(x, out=out) * x


@functools.wraps(stores)
def wrapped(*args, **kwargs):
    return stores(*args, **kwargs)


PARTIAL = functools.partial(stores, factor=2.0)


def calls_function(x):
    y = np.zeros(3)
    return np.sum(stores(x, out=y) * y) + np.sum(must_have(x, out=y) * y)


def calls_methods(x):
    y = np.ones(3)
    return np.sum(Holder(x, out=y).held * Holder.alone(x, out=y)) + np.sum(Holder.of_class(x, out=y) * y)


def calls_wrapped(x):
    y = np.zeros(3)
    return np.sum(wrapped(x, out=y) * y) + np.sum(PARTIAL(x, out=y) * y)


def overwrites(x, overwrite_x=False):
    return 3.0 * x * x if overwrite_x else 2.0 * x


OVERWRITING = functools.partial(overwrites, overwrite_x=False)


def calls_overwriting(x):
    return np.sum(overwrites(2.0 * x, overwrite_x=True)) * np.sum(OVERWRITING(2.0 * x, overwrite_x=True))


def calls_numpys(x):
    y, z = np.zeros(3), np.zeros(3)
    returned = np.add.reduce(np.outer(x, x), axis=0, out=y)
    np.cumsum(x, out=z)
    return np.sum(y * z * returned)


PLACES = np.array([[2, 0, 1], [1, 1, 2]])


def chooses_of_an_array(x):
    table = np.stack([x, x**2, np.sin(x)])
    firsts = np.choose(np.zeros(3, dtype=int), table) + np.array([2, 1, 0]).choose(table, mode="clip")
    return np.sum(np.choose(PLACES, table) ** 2) + np.sum(firsts**3) + np.sum(np.choose(PLACES, x) * x)


def chooses_beyond(x):
    try:
        return np.sum(np.choose(np.array([3, 0, 1]), np.stack([x, x, x])))
    except ValueError:
        return np.sum(x**2)


def spreads_in_subscripts(x):
    table = np.outer(x, x)
    at, both = (1,), [0, 2]
    table[(0, *at)] = 3.0 * x[2]
    table[:, *at] *= x[0]
    return table[(*both,)] * table[1, *at] + np.sum(table[(slice(0, 2), *at)])


def weighted(row, weights, *, scale=1.0):
    return scale * np.sum(row * weights**2)


def along_an_axis(x):
    return np.sum(np.apply_along_axis(weighted, 0, np.outer(x, x), weights=x, scale=x[1]) ** 2)


FUNCTIONS = [
    calls_function, calls_methods, calls_wrapped, calls_overwriting, calls_numpys, chooses_of_an_array, chooses_beyond,
    spreads_in_subscripts, along_an_axis,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("jit", [False, True])
def test_right(function: Any, jit: bool) -> None:
    check_right(function, X, jit)
