"""Kernels that save lists and inner tapes, and hold lists of arrays that are stored to."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from targets import check_targets, stays

import symgrad

pytest.importorskip("numba")

R = np.random.default_rng(5)


@pytest.fixture(autouse=True)
def in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMGRAD_CACHE_DIR", "off")


# ------------------------------------------------------------------ lists of numbers that are saved


def a_list_anew(x, w):
    weights = [1.0, 0.5]
    for k in range(len(x)):
        weights = [a * x[k] + b for a, b in zip(weights, w)]
        weights.append(x[k] * weights[0])
        weights = [np.sin(a) * weights[-1] for a in weights]
    return sum(weights)


def in_a_while(x, w):
    values, k = [x[0], x[1]], 0
    while sum(values) < 9.0 and k < 6:
        values = [a * a + w[k % 2] for a in values] + [x[k % len(x)]]
        k += 1
    return values[0] * values[-1] + sum(values)


def of_integers(x, w):
    order, total = list(range(len(x))), 0.0
    for k in range(len(x)):
        order = [(i * 2 + k) % len(x) for i in order]
        total += w[order[0] % 2] * x[order[-1]] * x[order[k]]
    return total


def nothing_in_it_at_first(x, w):
    total = 0.0
    for k in range(len(x)):
        values = []
        for j in range(k):
            if x[j] > 0.0:
                values.append(x[j] * w[0])
        total += sum(v * v for v in values) * x[k]
    return total + w[1]


def of_a_length_that_is_given(x, w):
    values = [1.0] * (len(x) - 2)
    for k in range(len(x)):
        values = [a * x[k] for a in values]
    return sum(values, 0.0) + w[0] * w[1]


def lists_in_rounds(x, w):
    total = 0.0
    for i in range(len(x)):
        values = [1.0] * i
        for k in range(len(x)):
            values = [a * x[k] + w[0] for a in values]
        total += sum(values, 0.0)
    return total * w[1]


def longer_each_round(x, w):
    values = [w[0]]
    for k in range(len(x)):
        values = [a * x[k] for a in values]
        values.append(x[k])
    return values[0] + values[-1] * w[1]


def filtered_each_round(x, w):
    values = [v for v in x]
    for k in range(len(x)):
        values = [a * x[k] + 1.0 for a in values if a != 3.0]
    return sum(values) * w[0] + w[1]


def in_branches(x, w):
    values = [1.0, 2.0]
    for k in range(len(x)):
        if x[k] > 0.2:
            values = [a * x[k] for a in values] + [w[0]]
        else:
            values.append(values[-1] * w[1])
    return sum(values)


# ------------------------------------------------------------------ loops of unknown length in others


def two_deep(x, w):
    total, k = 0.0, 0
    while k < len(x):
        a = x[k]
        while a < 5.0:
            a = a * a + w[0] + 1.0
            total += a * w[1]
        k += 1
        total *= 0.9
    return total


def three_deep(x, w):
    total, k = 0.0, 0
    while k < len(x):
        y = x * w[0]
        j = 0
        while j < 3:
            y = np.sin(y) + x[j % len(x)]
            b = y[0]
            while b < 3.0:
                b = b * b + 1.0 + w[1]
                total += b * y[-1]
            j += 1
        total += y @ x
        k += 1
    return total


def counted_in_uncounted(x, w):
    total, k = 0.0, 0
    while total < 4.0 and k < 5:
        y = x.copy()
        for j in range(1, len(x)):
            y[j] = y[j - 1] * y[j] + w[0]
        total += np.sum(y * y) + w[1]
        k += 1
    return total


def lists_and_loops(x, w):
    total, k = 0.0, 0
    while k < 3:
        values = [a * w[0] for a in x]
        while values[-1] < 2.0:
            values.append(values[-1] * values[-1] + 1.0)
            total += values[-2] * w[1]
        total += sum(values)
        k += 1
    return total


# ------------------------------------------------------------------ lists of arrays that are stored to


def filled_and_appended(x, w):
    rows = []
    for k in range(len(x)):
        row = np.zeros(3)
        row[0] = x[k]
        row[1:] = w[0] * x[k]
        rows.append(row)
    return np.sum(rows[0] * rows[-1]) + w[1]


def taken_and_changed_as_a_copy(x, w):
    path = [x * w[0]]
    for k in range(3):
        position = path[-1].copy()
        position[k % len(x)] += w[1]
        position *= 0.9
        path.append(position)
    return sum(p[0] * p[-1] for p in path)


def changed_after_it_was_appended(x, w):
    path, y = [], x * w[0]
    path.append(y)
    y[0] = w[1]
    path.append(y * x)
    return sum(np.sum(p * p) for p in path)


def twice_in_the_list(x, w):
    y = x * w[0]
    path = [y, y]
    for k in range(3):
        path.append(path[k] * w[1])
    path[0][0] = 2.0
    return sum(np.sum(p * x) for p in path)


def views_in_the_list(x, w):
    y = x * w[0]
    parts = []
    for k in range(len(x) - 1):
        parts.append(y[k : k + 2])
    y[0] = w[1]
    return sum(p[0] * p[1] for p in parts)


def arguments_in_the_list(x, w):
    parts = []
    for k in range(3):
        parts.append(x if k % 2 else x * w[0])
    y = parts[1].copy()
    y[0] = w[1]
    return sum(np.sum(p * y) for p in parts)


# ------------------------------------------------------------------ cotangents that begin as the number zero


def the_one_before(x, w):
    before, here, k = x, x * w[0], 0
    while here[0] < 6.0 and k < 8:
        before = here
        here = here * 1.1 + w[1] * before
        k += 1
    return np.sum(here * x) - before[0] * w[0]


def whichever_comes_first(x, w):
    y = x * w[0]
    for k in range(3):
        if y[0] > w[1] * k:
            y = y - 0.5 * x
        else:
            z = np.cos(y)
            y = z * x
    return np.sum(y)


LISTS = [
    a_list_anew, in_a_while, of_integers, nothing_in_it_at_first, of_a_length_that_is_given, lists_in_rounds, longer_each_round, filtered_each_round,
    in_branches,
]  # fmt: skip
LOOPS = [two_deep, three_deep, counted_in_uncounted, lists_and_loops]
ARRAYS = [filled_and_appended, taken_and_changed_as_a_copy]
BY_ANOTHER_NAME = [changed_after_it_was_appended, twice_in_the_list, views_in_the_list, arguments_in_the_list]
ZEROS = [the_one_before, whichever_comes_first]
CALLS = [(R.standard_normal(n), np.array(w)) for n, w in ((4, (0.7, 0.3)), (5, (0.2, 0.9)), (3, (-0.4, 0.5)), (2, (1.2, -0.1)))]


@pytest.mark.sweep(5)
@pytest.mark.parametrize("function", [*LISTS, *LOOPS, *ARRAYS, *ZEROS], ids=lambda f: f.__name__)
def test_the_kernel_gives_what_the_numpy_code_gives(function: Any) -> None:
    check_targets(function, CALLS, jit=True)
    if function in LOOPS:
        assert stays(function, *CALLS[0], wrt=(0, 1))


def test_a_second_derivative_of_a_loop_of_unknown_length() -> None:
    def base(x, a):
        s, k = a, 0
        while k < len(x):
            s, k = s * x[k], k + 1
        return s * s

    def squared(x, a):
        g = symgrad.grad(base)(x, a)
        return g @ g

    x = np.array([0.5, 1.0, 1.5])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        value, gradients = symgrad.value_and_grad(squared, wrt=("x", "a"), jit=True)(x, 0.7)
    assert not any("fault" in str(w.message) for w in caught)
    expected, others = symgrad.value_and_grad(squared, wrt=("x", "a"))(x, 0.7)
    assert value == pytest.approx(expected)
    np.testing.assert_allclose(gradients[0], others[0])


@pytest.mark.parametrize("function", BY_ANOTHER_NAME, ids=lambda f: f.__name__)
def test_arrays_in_lists_that_have_another_name(function: Any) -> None:
    try:
        symgrad.grad(function, wrt=("x", "w"))(*CALLS[0])
    except symgrad.SymgradError:
        pytest.skip("refused for both targets")
    check_targets(function, CALLS)
