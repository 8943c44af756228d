"""Adjoints of stencils: gathered from a padded array where all stores are shifts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from targets import check_targets, strange

import symgrad

pytest.importorskip("numba")


@pytest.fixture(autouse=True)
def in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMGRAD_CACHE_DIR", "off")


def line(x, w):
    for _ in range(3):
        w[1:-1] = 0.3 * (x[:-2] + x[1:-1] + x[2:])
        x[1:-1] = w[1:-1] * 2.0 - 0.5 * (w[:-2] - w[2:])
    return np.sum(x * x) + np.sum(w)


def once(x, w):
    y = np.sin(x[2:-2] * 3.0 - x[:-4] - x[4:] + 0.5 * x[1:-3])
    return np.sum(y * w[2:-2])


def plane(x, w):
    for _ in range(2):
        lap = x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2] - 4.0 * x[1:-1, 1:-1]
        x[1:-1, 1:-1] += 0.1 * lap * w[1:-1, 1:-1]
    return np.sum(x * x)


def uneven(x, w):
    """Parts of several lengths, steps and signs: not one loop."""
    y = x[1:] * w[:-1]
    z = x[::2].sum() + np.sum(x[:-2] * x[1:-1] * x[2:]) + np.sum(x[-1:] * w[0])
    return np.sum(y * y) + z


def scaled(x, w):
    """A factor that is known when it runs, and may be infinite."""
    y = w[0] * x[:-2] + w[-1] * x[1:-1] + 2.0 * x[2:]
    return np.sum(y * y)


def turns(x, w):
    k = 0
    while k < 3 and np.sum(x) < 1e3:
        y = x.copy()
        x[1:-1] = 0.5 * y[1:-1] + 0.25 * y[2:] + 0.25 * y[:-2]
        k += 1
    return np.sum(x * w)


R = np.random.default_rng(7)
VECTORS = [(R.random(n), R.random(n)) for n in (9, 8, 6, 5, 4, 3, 2, 1)]
PLANES = [(R.random(s), R.random(s)) for s in ((5, 6), (3, 3), (2, 5), (1, 4), (0, 3))]
CASES = [(line, VECTORS), (once, VECTORS), (plane, PLANES), (uneven, VECTORS), (scaled, VECTORS), (turns, VECTORS)]
NAMES = [function.__name__ for function, _ in CASES]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.sweep(4)
@pytest.mark.parametrize(("function", "calls"), CASES, ids=NAMES)
def test_stencils_give_the_same_on_both_targets(function: Any, calls: Any) -> None:
    x, w = calls[0]
    check_targets(function, calls, [*strange(x, w), *strange(*calls[2]), (x, w[1:])])


@pytest.mark.parametrize(("function", "gathers"), [(line, True), (once, True), (plane, True), (uneven, False), (scaled, False)])
def test_shifts_of_one_array_are_gathered(function: Any, gathers: bool) -> None:
    calls = dict(CASES)[function]
    text = symgrad.grad(function, wrt=("x", "w"), jit=True).source(*calls[0])

    assert ("padded" in text) == gathers


def test_zeros_around_are_made_once() -> None:
    text = symgrad.grad(line, wrt="x", jit=True).source(*VECTORS[0])

    assert text.count("padded = new_zeros") == 1
    assert "\n    padded = new_zeros" in text
