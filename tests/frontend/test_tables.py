"""Lists of lists of numbers, changed in place: values, all derivatives and text, compared with plain Python."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgrad


def recurrence(x, n, m):
    M = [[0.0] * (m + 1) for _ in range(n + 1)]
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            M[i][j] = M[i - 1][j - 1] * x + M[i - 1][j] * M[i][j - 1] + 0.5
    return M[n][m]


def sweeps(x, n, m):
    """Each number is overwritten by what was computed of it, some of them by new rows."""
    M = [[x] * m for _ in range(n)]
    for _ in range(2):
        for i in range(n):
            for j in range(m):
                if (i + j) % 2:
                    M[i][j] = M[i][j] * M[i - 1][j - 1] + x
                else:
                    M[i][j] = M[i - 1][j] * 0.5
            M[i] = [v * x for v in M[i]]
    return sum(sum(row) for row in M)


def added_to(x, n, m):
    M = [[x * i] * m for i in range(n)]
    for i in range(1, n):
        for j in range(m):
            M[i][j] += M[i - 1][j] ** 2 * x
            M[i - 1][j] -= 0.1 * M[i][j]
            M[i][j - 1] *= x
    return M[n - 1][m - 1] * M[0][0] + M[n - 1][0]


def by_names(x, n, m):
    """Rows that have names, one of them of two."""
    M = [[x * (i + j) for j in range(m)] for i in range(n)]
    first = M[0]
    total = 0.0
    for i in range(n):
        row = M[i]
        for j in range(m):
            row[j] = row[j] * x + first[j]
            first[j] += 0.1 * M[i][j]
        total += sum(row) * sum(first)
    return total


def growing(x, n, m):
    """What a negative index reads is another row after each append."""
    M = []
    for i in range(n):
        M.append([x * 0.5] * m)
        for j in range(m):
            M[i][j] += M[i - 1][j - 1] * x
            M[i][j] *= M[-1][j - 1] * x
    return M[n - 1][m - 1] + M[0][m - 1] * M[n // 2][0]


def gone_over(x, n, m):
    """A row is changed while a loop goes over it."""
    M = [[x * (i + j) for j in range(m)] for i in range(n)]
    total = 0.0
    for v in M[n - 1]:
        M[n - 1][m - 1] = M[n - 1][m - 1] + v
        M[0][0] = v
        total += v * v
    return total + M[n - 1][m - 1] * M[0][0]


def until(x, n, m):
    M = [[x] * m for _ in range(n + 1)]
    i = 0
    while i < n:
        M[i + 1][i % m] = M[i][0] * x + M[i][m - 1] ** 2
        M[i][i % m] = M[i + 1][i % m]
        i += 1
        if M[i][0] > 2.0:
            break
    return M[1][0] * M[0][0] + M[n][m - 1]


def traced_back(x, n, m):
    """A table of integers says which way was taken."""
    cost = [[0.0] * m for _ in range(n)]
    way = [[0] * m for _ in range(n)]
    for i in range(n):
        for j in range(m):
            above, left = cost[i - 1][j], cost[i][j - 1]
            way[i][j] = 1 if above * x < left else 2
            cost[i][j] = min(above * x, left) + x * (i + 1) / (j + 1)
    i, j, total = n - 1, m - 1, 0.0
    while i > 0 and j > 0:
        total += cost[i][j] * x
        i, j = (i - 1, j) if way[i][j] == 1 else (i, j - 1)
    return total + cost[n - 1][m - 1]


def beyond_the_end(x, n, m):
    M = [[x] * m for _ in range(n)]
    missed = 0.0
    for i in range(n):
        for j in range(m):
            try:
                M[i][j + 1] = M[i][j] * x + 0.1
            except IndexError:
                missed += M[i][j] * x
    return missed


PROGRAMS = [recurrence, sweeps, added_to, by_names, growing, gone_over, until, traced_back, beyond_the_end]
X = 0.7


def slope(f: Callable[[float], float], step: float = 1e-6) -> float:
    return (f(X + step) - f(X - step)) / (2 * step)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize(("n", "m"), [(1, 1), (2, 3), (5, 4)])
def test_derivatives_are_those_of_differences(program: Any, n: int, m: int) -> None:
    def f(x):
        return program(x, n, m)

    expected = pytest.approx(slope(f), rel=1e-6, abs=1e-8)
    value, gradient = symgrad.value_and_grad(program, wrt="x")(X, n, m)
    assert value == pytest.approx(f(X), rel=1e-13)
    assert gradient == expected
    assert symgrad.jvp(f, (X,), (1.0,))[1] == expected


@pytest.mark.sweep(2)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_the_derivative_of_the_derivative(program: Any) -> None:
    gradient = symgrad.grad(program, wrt="x")

    def twice(x):
        return symgrad.grad(lambda y: program(y, 4, 3))(x)

    assert symgrad.grad(twice)(X) == pytest.approx(slope(lambda x: gradient(x, 4, 3), 1e-5), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("program", [recurrence, sweeps, by_names, growing], ids=lambda f: f.__name__)
def test_kernels_compute_the_same(program: Any) -> None:
    pytest.importorskip("numba")
    compiled, plain = symgrad.value_and_grad(program, wrt="x", jit="numba"), symgrad.value_and_grad(program, wrt="x")
    for n, m in [(1, 1), (2, 3), (5, 4)]:
        assert compiled(X, n, m) == pytest.approx(plain(X, n, m), rel=1e-13)


def test_a_pullback_is_called_twice() -> None:
    value, pullback = symgrad.vjp(lambda x: sweeps(x, 4, 3), X)
    first = pullback(1.0)
    assert value == pytest.approx(sweeps(X, 4, 3), rel=1e-13)
    assert first == pullback(1.0)


def test_of_a_batch_and_of_several_results() -> None:
    points = np.array([0.3, 0.7, 1.1])
    assert symgrad.vmap(lambda x: recurrence(x, 3, 3))(points) == pytest.approx([recurrence(x, 3, 3) for x in points])

    def both(x):
        M = [[x[0] * x[1]] * 2 for _ in range(2)]
        M[0][1] = M[1][0] * x[0]
        M[1][1] += M[0][1] ** 2
        return np.array([M[0][1], M[1][1]])

    x = np.array([0.4, 0.9])
    steps = 1e-6 * np.eye(2)
    expected = np.stack([(both(x + s) - both(x - s)) / 2e-6 for s in steps], axis=1)
    assert symgrad.jacobian(both)(x) == pytest.approx(expected, rel=1e-6)


def test_in_a_file(tmp_path: Path) -> None:
    derived = symgrad.value_and_grad(sweeps, wrt="x")
    symgrad.save(derived, tmp_path / "saved.py", X, 4, 3)
    spec = importlib.util.spec_from_file_location("saved", tmp_path / "saved.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.sweeps_value_and_grad(X, 5, 4) == pytest.approx(derived(X, 5, 4), rel=1e-13)


def test_the_rows_of_an_argument_are_added_to_where_they_are() -> None:
    def product(a, b, n):
        total = 0.0
        for i in range(n):
            for j in range(n):
                entry = 0.0
                for k in range(n):
                    entry += a[i][k] * b[k][j]
                total += entry * entry
        return total

    n = 12
    a, b = np.random.default_rng(3).normal(size=(2, n, n))
    gradient = symgrad.grad(product, wrt=("a", "b"))
    got = gradient(a.tolist(), b.tolist(), n)
    assert np.array(got[0]) == pytest.approx(2 * a @ b @ b.T, rel=1e-10)
    assert np.array(got[1]) == pytest.approx(2 * a.T @ a @ b, rel=1e-10)
    assert "list_add" not in gradient.source(a.tolist(), b.tolist(), n)


EXPERT = """
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            M[i][j] = M[i - 1][j - 1] * x + M[i - 1][j] * M[i][j - 1] + 0.5

    # backward
    M_grad = zeros_as(M)
    M_grad[n][m] += 1.0
    x_grad = 0.0
    for i in reversed(range(1, n + 1)):
        for j in reversed(range(1, m + 1)):
            total_grad = M_grad[i][j]
            M_grad[i][j] = 0.0
            M_grad[i][j - 1] += total_grad * M[i - 1][j]
            M_grad[i - 1][j] += total_grad * M[i][j - 1]
            x_grad += total_grad * M[i - 1][j - 1]
            M_grad[i - 1][j - 1] += total_grad * x
    return M[n][m], x_grad
"""


def test_the_text_is_what_an_expert_writes() -> None:
    text = symgrad.value_and_grad(recurrence, wrt="x").source(0.3, 4, 5)
    assert EXPERT.strip() in re.sub(r" +# \d+: .*", "", text)


def test_one_number_is_kept_of_a_store() -> None:
    def relaxed(x, n):
        M = [[x] * n for _ in range(n)]
        for _ in range(n):
            for i in range(1, n):
                M[i][i] = M[i][i - 1] * M[i - 1][i] + M[i][i] * M[i][i]
        return M[n - 1][n - 1]

    text = symgrad.grad(relaxed, wrt="x").source(0.3, 4)
    assert "copy" not in text
    assert "list_add" not in text
