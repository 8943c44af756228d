"""Side exits of kernels: branches that print, and operations whose exceptions are handled.

The NumPy code then runs instead.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import symgrad

pytest.importorskip("numba")

X = np.array([0.5, 1.5, 2.5])


def prints_what_is_large(x, limit):
    total = 0.0
    for v in x:
        total += v * v
        if total > limit:
            print(f"large: {20 * math.log10(total):.2f}")
            total = total * 0.5
    return total


def prints_in_a_loop_of_a_branch(x, limit):
    y = x * x
    if np.sum(y) > limit:
        for k, v in enumerate(y):
            print(k, v, end=";")
    else:
        y = y * x
    return np.sum(y * x)


def prints_arrays(x, limit):
    y = np.sin(x)
    if limit < 1.0:
        print(y, x[:2])
        y = y * 2.0
    return np.sum(y)


def for_else(x, limit):
    total = 0.0
    for v in x:
        total += math.exp(v)
        if total > limit:
            break
    else:
        print(f"no more than {limit}")
    return total


def prints_and_raises(x, limit):
    if limit < 0.0:
        print("negative")
        raise ValueError(f"{limit}")
    return np.sum(x * x) * limit


def item_or(x, limit):
    try:
        y = x[int(limit)] * 2.0
    except IndexError:
        y = -x[0]
    return y * x[1]


def logarithms(x, limit):
    total = 0.0
    for v in x:
        try:
            total += math.log(v - limit)
        except ValueError:
            print("no logarithm")
            total = total * 3.0 - v
    return total


def factor_with_more_and_more(x, limit):
    matrix = np.outer(x, x) + (limit - 1.0) * np.eye(3)
    for attempt in range(4):
        try:
            return np.sum(np.linalg.cholesky(matrix + attempt * np.eye(3)))
        except np.linalg.LinAlgError:
            print(f"attempt {attempt}")
    raise ValueError("not positive definite")


def looked_at_only(x, limit):
    try:
        x[int(limit)]
    except IndexError:
        return np.sum(x)
    return np.sum(x * x)


def of_what_nothing_reads(x, limit):
    try:
        math.log(limit)
        y = math.sin(limit)
    except ValueError:
        y = 7.0 * limit
    return y * x[0]


def divided(x, limit):
    try:
        return 1.0 / limit * x[0] * x[1]
    except ZeroDivisionError:
        return x[2] * x[0]
    finally:
        x = x * 1.0


#: functions, with limits of which the kernel leaves for some only
FUNCTIONS: dict[Any, list[float]] = {
    prints_what_is_large: [20.0, 2.0, 20.0],
    prints_in_a_loop_of_a_branch: [20.0, 2.0, 20.0],
    prints_arrays: [2.0, 0.5, 2.0],
    for_else: [5.0, 500.0, 5.0],
    prints_and_raises: [2.0, -1.0, 3.0],
    item_or: [2.0, 5.0, 1.0],
    logarithms: [0.1, 1.0, 0.2],
    factor_with_more_and_more: [2.0, -1.0, 3.0],
    looked_at_only: [2.0, 5.0, 1.0],
    divided: [2.0, 0.0, 3.0],
    of_what_nothing_reads: [2.0, -1.0, 3.0],
}


def outcome(call: Any, capsys: pytest.CaptureFixture[str]) -> tuple[Any, str]:
    """What a call gives or raises, and what it prints."""
    try:
        result = call()
    except ValueError as error:
        result = str(error)
    return result, capsys.readouterr().out


@pytest.mark.sweep(2)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_compiled_and_as_plain_python(function: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """A notice that something is not compiled would be an error here."""
    derived = symgrad.value_and_grad(function, jit=True, verify=False)
    steps = 1e-6 * np.eye(len(X))
    for limit in FUNCTIONS[function]:
        expected, said = outcome(lambda limit=limit: function(X, limit), capsys)
        result, printed = outcome(lambda limit=limit: derived(X, limit), capsys)
        assert printed == said
        if isinstance(expected, str):
            assert result == expected
            continue
        differences = [(function(X + step, limit) - function(X - step, limit)) / 2e-6 for step in steps]
        capsys.readouterr()
        assert result[0] == pytest.approx(expected, rel=1e-12)
        np.testing.assert_allclose(result[1], differences, rtol=1e-6, atol=1e-8)
    capsys.readouterr()
    assert "_kernel(" in derived.source(X, FUNCTIONS[function][0])


@pytest.mark.sweep(4)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_pullbacks(function: Any, capsys: pytest.CaptureFixture[str]) -> None:
    for limit in FUNCTIONS[function]:
        expected, said = outcome(lambda limit=limit: symgrad.vjp(function, X, limit, verify=False), capsys)
        result, printed = outcome(lambda limit=limit: symgrad.vjp(function, X, limit, jit=True, verify=False), capsys)
        assert printed == said
        if isinstance(expected, str):
            assert result == expected
            continue
        assert result[0] == pytest.approx(expected[0], rel=1e-12)
        np.testing.assert_allclose(result[1](1.5)[0], expected[1](1.5)[0], rtol=1e-10)


def test_an_array_that_each_round_prints_is_not_compiled() -> None:
    def loud(x):
        for v in x:
            print("here", v, x)
        return np.sum(x * x)

    with pytest.warns(symgrad.errors.NotCompiled, match="print"):
        symgrad.grad(loud, jit=True)(X)
