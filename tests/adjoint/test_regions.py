"""Values that an array still holds are read from it instead of saved; random loops over overlapping parts."""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.testing import check_grads


def lu(a: Any) -> Any:
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]
    return np.sum(a)


def cholesky(a: Any) -> Any:
    n = a.shape[0]
    a[0, 0] = np.sqrt(a[0, 0])
    for i in range(1, n):
        for j in range(i):
            a[i, j] -= np.dot(a[i, :j], a[j, :j])
            a[i, j] /= a[j, j]
        a[i, i] -= np.dot(a[i, :i], a[i, :i])
        a[i, i] = np.sqrt(a[i, i])
    return np.sum(a)


def substituted(a: Any) -> Any:
    x = np.ones(a.shape[0])
    for i in range(a.shape[0] - 1, -1, -1):
        x[i] = (a[i, 0] - np.dot(a[i, i + 1 :], x[i + 1 :])) / a[i, i]
    return np.sum(x * x)


def rows_of_a_layer(a: Any) -> Any:
    h = np.zeros((2, 3, a.shape[1]))
    for k in range(2):
        h[k, 0] = a[k]
        for t in range(1, 3):
            h[k, t] = np.sin(h[k, t - 1] * a[t])
    return np.sum(h[:, -1])


def fresh_in_each_round(a: Any) -> Any:
    total = 0.0
    for k in range(a.shape[0]):
        y = np.zeros(4)
        y[0] = a[k, k]
        for t in range(3):
            y[t + 1] = np.tanh(y[t] * a[t, k]) + y[t]
        total += y[3] * y[2]
    return total


def but_for_the_first(a: Any) -> Any:
    y = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        if i == 0:
            y[i] = a[0, 0]
        else:
            y[i] = y[i - 1] * y[i - 1] * a[i, 0]
    return np.sum(y)


def between_the_ends(a: Any) -> Any:
    y = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        if 0 < i < a.shape[0] - 1:
            y[i] = y[i - 1] * y[i - 1] * a[i, 0] + a[0, 0]
        elif not (i < 2 or i == 3):
            y[i] = y[i - 2] * y[i - 1]
    return np.sum(y)


def around_the_end(a: Any) -> Any:
    y = np.ones(a.shape[0])
    for i in range(a.shape[0]):
        if i >= 0:
            y[i] = y[i - 1] * y[i - 1] * a[i, 0]
    return np.sum(y)


@pytest.mark.parametrize("function", [lu, cholesky, substituted, rows_of_a_layer, but_for_the_first, between_the_ends])
def test_nothing_is_saved_of_what_still_stands(function: Callable[..., Any]) -> None:
    a = np.random.default_rng(1).normal(size=(4, 4))
    a = a @ a.T + 4.0 * np.eye(4)

    check_grads(function, (a,))
    assert "tape" not in symgrad.grad(function).source(a)


def test_what_may_be_counted_from_the_end_is_saved() -> None:
    a = np.random.default_rng(1).normal(size=(4, 4))

    check_grads(around_the_end, (a,))
    assert "tape" in symgrad.grad(around_the_end).source(a)


def test_an_array_made_in_each_round_is_kept_whole() -> None:
    a = np.random.default_rng(1).normal(size=(4, 4))

    check_grads(fresh_in_each_round, (a,))
    assert "append" not in symgrad.grad(fresh_in_each_round).source(a)


RANGES = ["range(2, 5)", "range(4, 1, -1)", "range(1, 6, 2)", "range(6, 1, -2)", "range(n)", "range(n - 1, -1, -1)"]
INNER = ["range(i)", "range(i, n)", "range(i + 1, n)", "range(i - 1, -1, -1)", *RANGES]
PLACES = ["i", "i + 1", "i - 1", "6 - i", "0", "-1", "3", "-i - 1"]
TESTS = [
    "i > 2",
    "i < 4",
    "i != 2",
    "2 < i < 6",
    "i == 3 or i > 4",
    "not i == 1",
    "i >= 1 and i <= n - 2",
    "i == 0",
    "0 <= i - 1",
    "i % 2 == 0",
]
SLICES = ["0:i", ":2", "i:", "i + 1:", ":i + 1", "1:-1", "::2", "2:5", ":-i - 1", "i - 1:i + 2"]


def loop_program(seed: int, asking: bool = False) -> str:
    """Loops in which places of an array of nine depend on one another; ``asking``, in branches too."""
    chance = random.Random(seed)

    def place(words: list[str], inner: bool) -> str:
        word = chance.choice(words)
        return word.replace("i", "j") if inner and chance.random() < 0.5 else word

    def statement(inner: bool) -> str:
        target, source, other = (f"y[{place(PLACES, inner)}]" for _ in range(3))
        kind = chance.randrange(6)
        if kind == 0:
            part = place(SLICES, inner)
            return f"y[{part}] = np.sin(y[{part}] * {source})"
        if kind == 1:
            return f"{target} = 0.1 * np.sum(np.cos(y[{place(SLICES, inner)}]) * w)"
        if kind == 2:
            return f"{target} = {target} / (2.0 + {source} ** 2)"
        if kind == 3:
            return f"{target} += {source} * np.tanh({other})"
        if kind == 4:
            return f"{target} = np.exp(-({source} ** 2)) * w"
        return f"s = s * 0.5 + {source} * {other}"

    lines = ["def f(x, w, n):", "    y = x.copy()", "    s = w", f"    for i in {chance.choice(RANGES)}:"]
    lines += [f"        {statement(False)}" for _ in range(chance.randrange(1, 3))]
    if chance.random() < 0.6:
        lines.append(f"        for j in {chance.choice(INNER)}:")
        lines += [f"            {statement(True)}" for _ in range(chance.randrange(1, 3))]
        lines += [f"        {statement(False)}" for _ in range(chance.randrange(2))]
    elif chance.random() < 0.5:
        lines += ["        if i > 2:", f"            {statement(False)}"]
    if asking:
        lines += [f"        if {chance.choice(TESTS)}:", f"            {statement(False)}"]
        lines += ["        else:", f"            {statement(False)}"] if chance.random() < 0.5 else [f"        {statement(False)}"]
    return "\n".join([*lines, "    return np.sum(y * y) + s", ""])


def check_program(seed: int, asking: bool = False) -> None:
    """Value and gradient of one program against differences."""
    text, name = loop_program(seed, asking), f"<loops {seed} {asking}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space: dict[str, Any] = {"np": np}
    exec(compile(text, name, "exec"), space)
    try:
        check_grads(space["f"], (np.random.default_rng(seed).uniform(0.2, 1.2, size=9), 0.7, 7), wrt=(0, 1))
    except Exception as fault:
        raise AssertionError(text) from fault
    finally:
        linecache.cache.pop(name, None)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("seed", [*range(40), 1203, 1426])
def test_random_loops_over_parts_of_one_array(seed: int) -> None:
    check_program(seed)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("seed", range(40))
def test_random_loops_with_branches_over_parts_of_one_array(seed: int) -> None:
    check_program(seed, asking=True)


@pytest.mark.slow
def test_many_random_loops_over_parts_of_one_array() -> None:
    for seed in range(1000, 4000):
        check_program(seed, asking=seed % 2 == 0)
