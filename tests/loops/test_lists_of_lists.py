"""Lists of lists in kernels: read, stored to, saved, added to, compared with the NumPy code."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import numpy as np
import pytest
from targets import check_targets, stays

import symgrad
from symgrad.errors import NotCompiled, SymgradError
from tests.against_numpy import function_of

pytest.importorskip("numba")

R = np.random.default_rng(7)


@pytest.fixture(autouse=True)
def in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMGRAD_CACHE_DIR", "off")


def edit_distance(x, w):
    n = len(x)
    table = [[0.0] * (n + 1) for _ in range(n + 1)]
    for i in range(1, n + 1):
        table[i][0] = table[i - 1][0] + w[0]
    for j in range(1, n + 1):
        table[0][j] = table[0][j - 1] + w[1]
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            cost = (x[i - 1] - x[n - j]) ** 2
            table[i][j] = min(table[i - 1][j] + w[0], table[i][j - 1] + w[1], table[i - 1][j - 1] + cost)
    return table[n][n]


def neighbours(x, w):
    near = [[] for _ in range(len(x))]
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            if abs(x[i] - x[j]) < w[0] + 1.0:
                near[i].append(j)
    total = 0.0
    for i, others in enumerate(near):
        for j in others:
            total += (x[i] - x[j]) ** 2 * w[1]
    return total


def rows_of_several_lengths(x, w):
    rows = []
    for i in range(len(x)):
        row = []
        for k in range(i + 1):
            row.append(x[k] * w[0] + i)
        rows.append(row)
    rows[1].append(w[1] * x[0])
    rows[-1] = rows[0] + [x[1]]
    return sum(v * v for row in rows for v in row) + len(rows[2 % len(rows)])


def saved_in_a_while(x, w):
    table, k = [[v, w[0]] for v in x], 0
    while sum(table[0]) < 9.0 and k < 5:
        table = [[v * w[1] + 0.3 for v in row] for row in table] + [[x[k % len(x)]] * (k % 2)]
        k += 1
    return sum(table[0]) * sum(v for row in table for v in row)


def saved_at_places(x, w):
    total, table = 0.0, [[v, v * w[0]] for v in x]
    for k in range(len(x)):
        table = [[v * x[k] for v in row] for row in table]
        total += table[k][0] * table[0][1]
    return total + w[1]


def in_branches(x, w):
    table = [[v * w[0] for v in x] for _ in range(3)]
    for k in range(3):
        if x[k % len(x)] > 0.0:
            table[k] = [v * v for v in table[k]]
        else:
            table = [[w[1]] + row for row in table]
    return sum(v for row in table for v in row)


def three_deep(x, w):
    cube = [[[x[k] * w[0] for k in range(2)] for _ in range(len(x))] for _ in range(3)]
    cube[1].append([w[1], x[0]])
    cube[2] = [list(row) for row in cube[1]]
    total = 0.0
    for plane in cube:
        for row in plane:
            total += row[0] * row[1]
    return total


def lists_of_arrays(x, w):
    rows = []
    for k in range(3):
        rows.append([x * w[0], x[::-1] * (k + 1.0)])
    return sum(np.sum(a * b) for a, b in rows) * w[1]


def from_an_array(x, w):
    table = np.outer(x, x * w[0]).tolist()
    table.append([w[1]] * len(x))
    return sum(sum(row) * row[0] for row in table)


def parts_in_steps(x, w):
    items = [v * w[0] for v in x] + [w[1], x[0]]
    back, every, some = items[::-1], items[1::2], items[-3::-2]
    return sum(k * v for k, v in enumerate(back)) + every[0] * every[-1] + sum(v * v for v in some) * items[0]


def rows_in_steps(x, w):
    table = [[v, w[0] * v] for v in x]
    return sum((k + 1) * row[0] * row[1] for k, row in enumerate(table[::-1])) + sum(row[1] for row in table[1:]) * w[1]


def none_or_a_list(x, w):
    state, total = None, 0.0
    for k in range(len(x)):
        if state is None:
            state = [x[k], w[0]]
        else:
            state = [v * w[1] + x[k] for v in state]
        total += sum(state)
    return total


def repeated(x, w):
    n = len(x)
    zeros, pairs, ones = [0.0] * (n + 1), [x[0], w[1]] * n, [1] * (n - 1)
    zeros[1] = x[0] * w[0]
    for k in range(n):
        pairs[k] = pairs[k] * x[k]
    rows = [[w[0]] * n for _ in range(n)]
    rows[0][1] = x[1]
    return sum(zeros) + sum(v * (k + 1) for k, v in enumerate(pairs)) * sum(ones) + sum(sum(row) * row[0] for row in rows)


def only_counted(x, w):
    hits, total = [], w[0]
    for k in range(len(x)):
        total = total + x[k] * w[1]
        if total > 0.1:
            hits.append((k, f"step {k}: {total:.2f}", total))
    return total * len(hits) if hits else total


def counted_in_branches(x, w):
    seen = [str(len(x))]
    for v in x:
        if v > 0.0:
            seen = seen + ["up"] if len(seen) < 3 else ["many"]
    return np.sum(x) * len(seen) * w[0] + w[1]


CALLS = [(R.standard_normal(n), np.array(w)) for n, w in ((4, (0.7, 0.3)), (5, (0.2, 0.9)), (3, (-0.4, 0.5)), (2, (1.2, -0.1)))]
TABLES = [
    edit_distance, neighbours, rows_of_several_lengths, saved_in_a_while, saved_at_places, in_branches, three_deep, lists_of_arrays,
    from_an_array, parts_in_steps, rows_in_steps, none_or_a_list, repeated, only_counted, counted_in_branches,
]  # fmt: skip


#: those that numba takes longest to compile, beside which others have the same constructs
LONG = (saved_in_a_while, in_branches, rows_in_steps, rows_of_several_lengths)


@pytest.mark.sweep(5)
@pytest.mark.parametrize("function", [pytest.param(f, marks=[pytest.mark.slow] * (f in LONG), id=f.__name__) for f in TABLES])
def test_the_kernel_gives_what_the_numpy_code_gives(function: Any) -> None:
    check_targets(function, CALLS, jit=True)
    assert stays(function, *CALLS[0], wrt=(0, 1))


@pytest.mark.parametrize("function", [edit_distance, pytest.param(saved_in_a_while, marks=pytest.mark.slow)], ids=lambda f: f.__name__)
def test_pullbacks_keep_lists_of_lists_between_their_halves(function: Any) -> None:
    x, w = CALLS[0]
    value, pullback = symgrad.vjp(function, x, w, jit=True)
    expected, other = symgrad.vjp(function, x, w)
    assert value == pytest.approx(expected, rel=1e-12)
    for seed in (1.0, -0.5):
        for one, two in zip(pullback(seed), other(seed), strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-10)


def products(x):
    table = [[x[i] * x[j] for j in range(2)] for i in range(3)]
    return table[0][1] * table[2][0] + table[1][1]


def popped_rows(x):
    rows = []
    for i in range(len(x)):
        rows.append(x * x[i])
    total = 0.0
    for _ in range(len(x)):
        last = rows.pop()
        total += last[0] * last[1]
    for i in range(len(x)):
        rows.append(x + i)
    for i in range(len(x)):
        total += rows[i][0] * rows[-1][1]
    return total


@pytest.mark.parametrize("function", [products, popped_rows], ids=lambda f: f.__name__)
def test_lists_that_lose_their_last_items_get_new_ones(function: Any) -> None:
    """In kernels the memory of lists and arrays that left a list is reused; many calls show whether it was free."""
    x = np.array([0.3, 0.5, 0.7])
    _, linear = symgrad.linearize(function, x, jit=True)
    derived = symgrad.value_and_grad(function, jit=True)
    expected = [symgrad.jvp(function, (x,), (direction,))[1] for direction in np.eye(3)]

    for _ in range(200):
        assert [linear(direction) for direction in np.eye(3)] == pytest.approx(expected, rel=1e-12)
        value, gradient = derived(x)
        assert value == pytest.approx(function(x), rel=1e-12)
        np.testing.assert_allclose(gradient, expected, rtol=1e-12)
    np.testing.assert_allclose(expected, [(function(x + 1e-6 * d) - function(x - 1e-6 * d)) / 2e-6 for d in np.eye(3)], rtol=1e-8)


def test_a_list_whose_items_are_read_keeps_them() -> None:
    def read(x, w):
        hits = []
        for k in range(len(x)):
            hits.append((k, x[k] * w[0]))
        return len(hits) * hits[-1][1] + w[1]

    check_targets(read, CALLS)


@pytest.mark.sweep(120)
@pytest.mark.parametrize("seed", range(300))
def test_random_programs_as_kernels(seed: int) -> None:
    programs = importlib.import_module("tests.frontend.test_lists_of_lists")
    function = function_of(programs.Program(seed).text())
    point = programs.POINT
    try:
        with np.errstate(all="ignore"):
            function(point.copy())
        expected, slopes = symgrad.value_and_grad(function)(point.copy())
    except (IndexError, ValueError, RecursionError, SymgradError):
        return
    derived = symgrad.value_and_grad(function, jit=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotCompiled)
        for _ in range(2):
            value, gradient = derived(point.copy())
            assert value == pytest.approx(expected, rel=1e-9, nan_ok=True)
            np.testing.assert_allclose(gradient, slopes, rtol=1e-8, atol=1e-12)
