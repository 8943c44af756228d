"""Bool indices, which add an axis of extent 0 or 1, and arrays without axes, on both targets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from verdicts import Verdicts, check_right

X = np.array([0.7, -1.3, 2.1])
verdicts = Verdicts()
right = verdicts.right


@right
def bool_of_a_comparison(x):
    return np.sum(x[x[0] > 0] * x) + np.sum(x[x[0] > 9])


@right
def bool_literals(x):
    return np.sum(x[True] ** 2) + np.sum(x[False]) + np.sum(x[np.True_])


@right
def bool_beside_a_number(x):
    flag = x[1] < 0
    return np.sum(x[0, flag]) + np.sum(x[flag, 1]) * x[2] + x[flag, 2][0]


@right
def bool_beside_an_array(x):
    flag = x[1] < 0
    return np.sum(x[flag, [0, 2]] * x[2]) + np.sum(x[..., flag] * x[0])


@right
def bool_beside_a_mask_of_a_matrix(x):
    flag = x[1] < 0
    a = np.outer(x, x)
    return np.sum(a[a > 0, flag]) + np.sum(a[flag, 1:, None])


@right
def bools_one_after_the_other(x):
    flag = x[1] < 0
    return np.sum(x[flag, flag] * x) + np.sum(x[flag][flag])


@right
def store_by_a_bool(x):
    y = x * 1.5
    y[x[0] > 0] = 2 * x[1]
    y[x[0] > 9] = 0.0
    return np.sum(y * y)


@right
def augmented_store_by_a_bool(x):
    y = x * 1.5
    y[x[0] > 0] *= x[1]
    y[x[0] > 0] -= y[0]
    y[x[0] > 9] += 3.0
    return np.sum(y * y)


@right
def store_of_an_array_by_a_bool(x):
    y = x * 1.5
    y[True] = y[::-1]
    return np.dot(y, x)


@right
def store_by_a_bool_and_a_number(x):
    y = np.outer(x, x)
    y[x[0] > 0, 0] = x[2]
    y[0, x[0] > 0] += x
    return np.sum(y * y)


@right
def addition_at_a_bool(x):
    y = x * 1.5
    np.add.at(y, x[0] > 0, x[1])
    return np.sum(y * y)


@right
def an_array_without_axes_is_a_number(x):
    t = x[np.array(0)]
    u = t
    t += x[1]
    y = x * 1.5
    y[np.array(1)] += t
    return u * t + np.sum(y * y)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("function", verdicts.to_be_right, ids=lambda f: f.__name__)
def test_right(function: Callable[..., Any], jit: bool) -> None:
    check_right(function, X, jit)
