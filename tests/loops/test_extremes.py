"""Shares of an extreme: loops leave out what is zero, and the result is that of the NumPy code with ties, infinities and nan."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from differences import derivative, direction_for, inner

import symgrad

pytest.importorskip("numba")


@pytest.fixture(autouse=True)
def in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMGRAD_CACHE_DIR", "off")


def nearest(x, w):
    apart = x[:, None, :] - w[None, :, :]
    return np.sum(np.min(np.sum(apart * apart, axis=2), axis=1))


def farthest(x, w):
    apart = np.sqrt(np.sum((x[:, None, :] - w) ** 2, axis=2) + 0.1)
    return np.sum(np.max(apart, axis=0) ** 2)


def weighted(x, w):
    most = np.max(x[:, :, None] * w[None, :, :], axis=1)
    return np.sum(most * most) + np.sum(w)


def whole(x, w):
    return np.max(x @ w.T) * np.sum(w) + np.min(x, axis=0) @ w[0]


R = np.random.default_rng(5)


def sizes(*shapes: tuple[tuple[int, int], tuple[int, int]]) -> list[Any]:
    return [(R.standard_normal(a), R.standard_normal(b)) for a, b in shapes]


CASES = [
    (nearest, sizes(((6, 3), (4, 3)), ((1, 1), (1, 1)), ((0, 3), (2, 3)), ((5, 0), (2, 0)), ((3, 2), (0, 2)))),
    (farthest, sizes(((6, 3), (4, 3)), ((1, 2), (1, 2)), ((2, 3), (0, 3)))),
    (weighted, sizes(((4, 3), (3, 5)), ((1, 1), (1, 1)), ((0, 2), (2, 3)))),
    (whole, sizes(((4, 3), (2, 3)), ((1, 1), (1, 1)))),
]


def odd(x: Any, w: Any) -> list[Any]:
    """With ties, infinities, and what is not a number."""
    if not x.size or not w.size:
        return []
    made: list[Any] = [(np.round(x), np.round(w)), (x * 0.0, w * 0.0), (x.astype(np.float32), w.astype(np.float32)), (x * 1e200, w)]
    for strange in (np.inf, -np.inf, np.nan):
        y, v = x.copy(), w.copy()
        y[0, 0] = v[-1, -1] = strange
        made += [(y, w), (x, v)]
    return made


def outcome(derivative: Any, arguments: Any) -> Any:
    try:
        return derivative(*arguments)
    except ValueError as raised:
        return str(raised)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("function", "calls"), CASES, ids=lambda c: getattr(c, "__name__", ""))
def test_extremes_give_the_same_on_both_targets(function: Any, calls: Any) -> None:
    compiled, plain = (symgrad.value_and_grad(function, wrt=("x", "w"), jit=jit) for jit in (True, False))
    for arguments in [*calls, *(o for c in calls for o in odd(*c))]:
        found, expected = outcome(compiled, arguments), outcome(plain, arguments)
        if isinstance(expected, str):
            assert found == expected
            continue
        narrow = arguments[0].dtype == np.float32
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-5 if narrow else 1e-12)
        for one, other in zip(found[1], expected[1], strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_allclose(one, other, rtol=1e-5 if narrow else 1e-10, atol=1e-5 if narrow else 1e-13)


@pytest.mark.parametrize(("function", "calls"), CASES, ids=lambda c: getattr(c, "__name__", ""))
def test_extremes_give_the_gradient_that_differences_give(function: Any, calls: Any) -> None:
    arguments = calls[0]
    direction = direction_for(arguments, np.random.default_rng(0))
    gradients = symgrad.grad(function, wrt=("x", "w"), jit=True)(*arguments)

    assert inner(gradients, direction) == pytest.approx(derivative(lambda a: function(*a), arguments, direction, 1e-6), rel=1e-6)


def test_inner_loops_of_zeros_are_left_out() -> None:
    text = symgrad.grad(nearest, wrt="w", jit=True).source(*CASES[0][1][0])

    assert "if np.logical_or(" in text
    assert "unsure != 0.0" in text  # and zero times the rest is zero
