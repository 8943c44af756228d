"""Functions with early returns: requirements of one path do not prevent a kernel for the other."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from targets import agreed, same, stays

import symgrad
from symgrad.testing import check_grads

pytest.importorskip("numba")

TESTS = ["len(u) == 0", "u.shape[0] < 2", "not len(u)", "n <= 0", "len(u) < 2 or u[1] > 9.0", "len(u) != len(w)"]
EARLY = ["0.0", "1", "np.float64(2.0)", "np.sum(u) + n", "np.sum(np.zeros(0)) - 1.5"]
LATE = ["u[1] * u[-1]", "np.max(u) + u[n - 1]", "np.sum(u * w)", "np.mean((u[1:] - u[:-1]) ** 2)", "np.dot(u, w) / len(u)"]
SHAPES = """
def f(u, w, n):
    if {test}:
        return {early}
    return {late}
""", """
def f(u, w, n):
    if {test}:
        return {early}
    total = 0.0
    for i in range(n):
        total += {late} * w[i]
    return total
""", """
def inner(u, w, n):
    if {test}:
        return u * 2.0, {early}
    return u * u, {late}

def f(u, w, n):
    v, s = inner(u, w, n)
    return np.sum(v) + s * 2.0
""", """
def inner(u, w, n):
    if {test}:
        return np.zeros(n)
    out = np.zeros(len(u))
    for i in range(len(u)):
        out[i] = u[i] * {late}
    return out

def f(u, w, n):
    return np.sum(inner(u, w, n)) + {early}
"""  # fmt: skip


def programs() -> list[tuple[Any, str]]:
    """A function for each test with each kind of body, each with another pair of results."""
    texts = []
    pairs = itertools.cycle(zip([*EARLY, *EARLY[1:], *EARLY[2:]], itertools.cycle(LATE)))
    for (shape, test), (early, late) in zip(itertools.product(SHAPES, TESTS), pairs):
        text = shape.format(test=test, early=early, late=late)
        texts.append((symgrad.from_source(text, "f"), text))
    return texts


def arguments(n: int, more: int = 0) -> tuple[Any, ...]:
    u = 0.3 + 0.9 * ((np.arange(n) * 0.618034) % 1.0)
    return u, np.linspace(0.5, 1.5, n + more), n


@pytest.mark.sweep(3)
@pytest.mark.parametrize(("function", "text"), programs()[::2], ids=lambda p: p.strip() if isinstance(p, str) else "")
def test_early_returns_are_compiled(function: Any, text: str) -> None:
    calls = [arguments(n) for n in (0, 2, 5, 0, 0, 3)] + ([arguments(4, 2)] * 2 if "len(w)" in text else [])
    for argument, gradients in agreed(function, ("u",), calls):
        assert all(np.all(np.isfinite(g)) for g in gradients)
        if len(argument[0]):
            check_grads(function, argument, wrt="u")
    for argument in calls:
        assert stays(function, *argument, wrt="u"), f"NumPy code runs for {len(argument[0])} elements"


def test_what_is_returned_has_the_same_type_on_both_targets() -> None:
    def whole(u):
        if len(u) == 0:
            return np.zeros(3), 1.0, (u, 2)
        return u[:3] * 2.0, u[0], (u * u, 3)

    for n in (0, 4, 0, 0, 5):
        (value, back), (expected, plainly) = (symgrad.vjp(whole, arguments(n)[0], jit=jit) for jit in (True, False))
        assert same(value, expected)
        assert (type(value[2][1]), value[1:2]) == (type(expected[2][1]), expected[1:2])
        seed = (np.ones(3), 0.5, (np.ones(n), 0.0))
        assert same(back(seed), plainly(seed))
