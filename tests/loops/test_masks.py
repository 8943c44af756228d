"""Masks as predicates: both targets agree, with differences as well, and nothing is gathered where a sum over the whole does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from differences import derivative, direction_for, inner
from numpy.typing import NDArray

import symgrad

pytest.importorskip("numba")


@pytest.fixture(autouse=True)
def in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMGRAD_CACHE_DIR", "off")


def quotient(x, w):
    m = x > 0.3
    return np.sum(x[m] * x[m]) / (1.0 + np.sum(w[m]))


def extremes(x, w):
    m = (x > 0.3) & (w < 0.7)
    return np.mean(x[m] ** 2) + np.max(w[m]) * np.min(x[m]) + np.dot(x[m], w[m]) + x[m].size


def stored(x, w):
    y = x * 2.0
    y[x > 0.6] *= 3.0
    y[w < 0.2] = w[w < 0.2] ** 2
    y[y > 0.9] = 0.5
    return np.sum(y * y)


def bins(x, w):
    total = 0.0
    for k in range(4):
        m = (x > 0.2 * k) & (x < 0.2 * k + 0.4)
        total += np.sum(w[m] * x[m]) * np.mean(x[m])
    return total


def rows(x, w):
    y = x * w
    m = w[:, 1] > 0.5
    y[m] = x[0]
    y[m] += w[1] * 2
    y[~m] *= w[~m]
    return np.sum(y * y)


def cells(x, w):
    m = x > 0.4
    return np.sum(x[m] ** 3) + np.mean(w[m]) + np.max(w[m])


def gathered(x, w):
    m = x > 0.3
    y = w.copy()
    y[m] = w[m][::-1] * np.exp(x[m])
    return np.sum(y * x)


R = np.random.default_rng(3)
VECTORS = [(R.random(n), R.random(n)) for n in (9, 1, 0, 40)]
MATRICES = [(R.random((n, 3)), R.random((n, 3))) for n in (7, 2)]
CASES = [
    (quotient, VECTORS),
    (extremes, VECTORS),
    (stored, VECTORS),
    (bins, VECTORS),
    (rows, MATRICES),
    (cells, MATRICES),
    (gathered, VECTORS),
]


def odd(x: NDArray[Any], w: NDArray[Any]) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    """With ties, and with what is no number or not finite."""
    if len(x) < 3:
        return []
    strange = x.copy()
    strange[0], strange[1] = np.nan, np.inf
    return [(np.round(x, 1), np.round(w, 1)), (strange, w), (x.astype(np.float32), w.astype(np.float32))]


def outcome(derivative: Any, arguments: Any) -> Any:
    try:
        return derivative(*arguments)
    except (ValueError, IndexError, ZeroDivisionError) as raised:
        return f"{type(raised).__name__}: {raised}"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("function", "calls"), CASES, ids=lambda c: getattr(c, "__name__", ""))
def test_masks_give_the_same_on_both_targets(function: Any, calls: Any) -> None:
    compiled, plain = (symgrad.value_and_grad(function, wrt=("x", "w"), jit=jit) for jit in ("auto", False))
    lengths = [(calls[0][0], calls[0][1][1:]), (calls[0][0][:1], calls[0][1])]
    for arguments in [*calls, *(o for c in calls for o in odd(*c)), *lengths]:
        found, expected = outcome(compiled, arguments), outcome(plain, arguments)
        if isinstance(expected, str):
            assert found == expected
            continue
        narrow = arguments[0].dtype == np.float32
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-5 if narrow else 1e-12)
        for one, other in zip(found[1], expected[1], strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_allclose(one, other, rtol=1e-5 if narrow else 1e-10, atol=1e-5 if narrow else 1e-14)


@pytest.mark.parametrize(("function", "calls"), CASES, ids=lambda c: getattr(c, "__name__", ""))
def test_masks_give_the_gradient_that_differences_give(function: Any, calls: Any) -> None:
    arguments = calls[0]
    direction = direction_for(arguments, np.random.default_rng(0))
    gradients = symgrad.grad(function, wrt=("x", "w"), jit=True)(*arguments)

    assert inner(gradients, direction) == pytest.approx(derivative(lambda a: function(*a), arguments, direction, 1e-6), rel=1e-6)


@pytest.mark.parametrize(("function", "calls"), CASES[:-1], ids=lambda c: getattr(c, "__name__", ""))
def test_what_a_mask_chooses_is_not_gathered(function: Any, calls: Any) -> None:
    assert "places" not in symgrad.value_and_grad(function, wrt=("x", "w"), jit=True).source(*calls[0])


def test_what_is_dear_or_moved_is_gathered() -> None:
    assert "places" in symgrad.value_and_grad(gathered, wrt=("x", "w"), jit=True).source(*VECTORS[0])
