"""Tiled kernels at lengths around that of a tile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from targets import check_targets

import symgrad
from symgrad.loops.transforms import tiling

pytest.importorskip("numba")


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiling, "STRIP", 3)
    monkeypatch.setattr(tiling, "ELEMENTS", 6)
    monkeypatch.setenv("SYMGRAD_CACHE_DIR", "off")


def polynomial(x, w):
    """Powers of a vector, kept for each round."""
    r = np.sin(x)
    power = np.ones_like(x)
    for j in range(w.shape[0]):
        r = r - w[j] * power
        power = power * x
    return 0.5 * np.sum(r * r)


def sums_of_rounds(x, w):
    """What a round makes of its sum is not proportional to it, and goes on in a number that the loop carries."""
    y, s = x.copy(), 1.0
    for j in range(w.shape[0]):
        y = np.tanh(y * w[j] + 0.1)
        s = s * np.cos(np.mean(y)) + np.max(y) * w[j]
    return s + np.sum(y)


def loops_in_loops(x, w):
    """The inner loop begins at other places in every round, and counts down."""
    y = x * 1.0
    a = 1.0
    for j in range(w.shape[0]):
        a = a * w[j]
        for k in range(3, 0, -1):
            y = np.sin(y) * a + 0.1 * k * x
        for k in range(1, 3):
            y = y + w[k % w.shape[0]] * np.cos(x)
    return np.sum(y * y)


def rows(x, w):
    """Each row goes through sums of its own."""
    y = np.outer(x, np.array([1.0, 0.5, 0.2]))
    for j in range(w.shape[0]):
        e = np.exp(y - np.max(y, axis=1, keepdims=True))
        y = w[j] * e / np.sum(e, axis=1, keepdims=True) + 0.1 * y
    return np.sum(y * y)


def elements_meet(x, w):
    """Not to be run in strips: neighbours, and numbers that the next round reads."""
    y = x.copy()
    for j in range(w.shape[0]):
        y[1:] += w[j] * y[:-1] ** 2
        y = y / (1.0 + np.sum(y * y))
    return np.sum(np.sin(y))


def stored_rows(x, w):
    """Rows of a table that is handed on, and numbers of each round."""
    table = np.zeros((w.shape[0], x.shape[0]))
    scale = np.zeros(w.shape[0])
    y = x.copy()
    for j in range(w.shape[0]):
        scale[j] = np.sqrt(1.0 + w[j] ** 2)
        table[j] = y * scale[j]
        y = np.sin(y)
    return np.sum(table * table) + np.sum(scale)


def products_of_rounds(x, w):
    """Not to be run in strips: each would compute the products anew."""
    table = np.outer(x, w)
    total = np.zeros((x.shape[0], w.shape[0]))
    for j in range(w.shape[0]):
        total += w[j] * (table @ np.outer(w, w * j))
    return np.sum(total * total)


FUNCTIONS = [polynomial, sums_of_rounds, loops_in_loops, rows, elements_meet, products_of_rounds, stored_rows]


def strips_in(function: Callable[..., Any]) -> int:
    text = symgrad.value_and_grad(function, wrt=("x", "w"), jit=True).source(np.ones(7), np.ones(4))
    return text.count("for strip in")


@pytest.mark.sweep(4)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_strips_give_what_the_numpy_code_gives_at_every_length(function: Callable[..., Any]) -> None:
    generator = np.random.default_rng(3)

    def call(n: int, m: int) -> tuple[Any, Any]:
        return generator.uniform(0.3, 1.2, n), generator.uniform(0.4, 1.1, m)

    calls = [call(7, 4), *(call(n, 4) for n in (2, 3, 4, 6, 9))]
    check_targets(function, calls, others=[call(0, 4), call(1, 4), call(7, 1), call(7, 0), call(0, 0)])


def test_what_is_run_in_strips() -> None:
    counts = {function.__name__: strips_in(function) for function in FUNCTIONS}

    assert [name for name, count in counts.items() if not count] == ["elements_meet", "products_of_rounds"]
    assert set(counts.values()) == {0, 1}


def test_a_check_in_a_loop_is_made_for_no_elements_too() -> None:
    def past_the_end(x, w):
        y = x.copy()
        for j in range(3):
            y = y * w[j]
        return np.sum(y)

    for jit in (True, False):
        with pytest.raises(IndexError):
            symgrad.value_and_grad(past_the_end, wrt="x", jit=jit)(np.ones(0), np.ones(2))
