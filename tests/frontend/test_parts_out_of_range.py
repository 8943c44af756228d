"""Subscripts evaluated on some paths only: they raise where Python evaluates them, on both targets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad


def in_a_branch(x, m, n):
    row = m[n]
    return np.sum(row * row) if x[0] > 0 else x[1] ** 2


def its_length_in_a_branch(x, m, n):
    row = m[n]
    if x[0] > 0:
        return x[1] * len(row)
    return x[1] ** 2


def after_continue(x, m, n):
    total = 0.0
    for v in x:
        row = m[n]
        if v < 9.0:
            continue
        total += v * np.sum(row)
    return total + np.sum(x)


def in_a_loop_without_rounds(x, m, n):
    row = m[n]
    total = x[0] * x[1]
    for i in range(int(x[2])):
        total += row[i] * x[1]
    return total


def in_both_branches(x, m, n):
    row = m[n]
    return np.sum(row * x[1]) if x[0] > 0 else row[0] * x[1]


def before_another_exception(x, m, n):
    row = m[n]
    if x[0] < 0:
        raise ValueError("negative")
    return np.sum(row * x[1])


def before_a_print(x, m, n):
    row = m[n]
    print("row", n)
    return np.sum(row * x[1])


PROGRAMS = [
    before_a_print,
    in_a_branch,
    its_length_in_a_branch,
    after_continue,
    in_a_loop_without_rounds,
    in_both_branches,
    before_another_exception,
]


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_the_subscript_raises_where_it_stands(f: Any, jit: bool, capsys: pytest.CaptureFixture[str]) -> None:
    if jit:
        pytest.importorskip("numba")
    derivative = symgrad.value_and_grad(f, jit=jit)
    m, printed = np.arange(12.0).reshape(3, 4), []
    derivative(np.ones(3), m, 1)  # the first call runs the function too
    for x in (np.array([0.5, 1.5, 0.2]), np.array([-0.5, 1.5, 2.2])):
        for n in (1, -3, 3, -4):
            outcomes: list[Any] = []
            capsys.readouterr()
            for function in (f, lambda *a: derivative(*a)[0]):
                try:
                    outcomes.append(function(x, m, n))
                except (IndexError, ValueError) as error:
                    outcomes.append((type(error), str(error)))
                printed.append(capsys.readouterr().out)
            assert printed[-1] == printed[-2]
            assert outcomes[0] == outcomes[1] or outcomes[1] == pytest.approx(outcomes[0]), (x, n, outcomes)
