"""Products of all pairs of vectors in two loops: one matrix product in the kernel and in the adjoint."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from targets import check_targets, keep_kernels, stays

import symgrad

pytest.importorskip("numba")


@pytest.fixture(autouse=True)
def in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMGRAD_CACHE_DIR", "off")


def covariance(x, w):
    m = x.shape[1]
    x = x - np.mean(x, axis=0)
    c = np.zeros((m, m))
    for i in range(m):
        for j in range(i, m):
            c[i, j] = x[:, i] @ x[:, j]
            c[j, i] = c[i, j]
    return np.sum(c * c) + np.sum(w)


def distances(x, w):
    n = x.shape[0]
    s = 0.0
    for i in range(n - 1):
        for j in range(i + 1, n):
            s += np.exp(2 * np.dot(x[i], x[j]) - x[i] @ x[i] - x[j] @ x[j]) * w[0, 0]
    return s


def rows_by_columns(x, w):
    z = np.sin(x.T)
    y = np.zeros((x.shape[0], z.shape[1]))
    for i in range(x.shape[0]):
        for j in range(z.shape[1]):
            y[i, j] = np.tanh(x[i, :] @ z[:, j])
    return np.sum(y * y) * w[0, 0]


def inner_first(x, w):
    z = np.cos(x) * w[0, 0]
    s = 0.0
    for i in range(x.shape[1]):
        for j in range(x.shape[1]):
            s += np.sin(np.dot(z[:, j], x[:, i])) * (i + 1)
    return s


def perhaps_none(x, w):
    s = w[0, 0]
    for i in range(x.shape[0]):
        for j in range(w.shape[0]):
            s += x[i] @ w[j]
    return s


R = np.random.default_rng(7)
PAIRED = [covariance, distances, rows_by_columns, inner_first]


@pytest.mark.sweep(3)
@pytest.mark.parametrize("function", PAIRED, ids=lambda f: f.__name__)
def test_products_of_pairs(function: Any) -> None:
    sizes = [((5, 4), (4, 3)), ((2, 3), (3, 2)), ((1, 1), (1, 1)), ((3, 0), (1, 2))]
    calls = [(R.standard_normal(a), R.standard_normal(b)) for a, b in sizes]
    narrow = [(x.astype(np.float32), w.astype(np.float32)) for x, w in calls[:1]]
    check_targets(function, calls, narrow if function is covariance else [], jit=True)

    assert "product_into(products" in symgrad.grad(function, wrt=("x", "w"), jit=True).source(*calls[0])
    assert stays(function, *calls[0])


def changed(x, w):
    x = x.copy()
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            x[i, 0] = np.sin(x[i] @ x[j]) * w[0, 0]
    return np.sum(x)


def near(x, w):
    s = w[0, 0]
    for i in range(x.shape[0]):
        for j in range(i, min(i + 2, x.shape[0])):
            s += x[i] @ x[j]
    return s


def sometimes(x, w):
    s = w[0, 0]
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            if j < i + 2:
                s += x[i] @ x[j]
    return s


@pytest.mark.parametrize("function", [changed, near, sometimes, perhaps_none])
def test_pairs_of_what_changes_and_few_of_all_pairs(function: Any) -> None:
    calls = [(R.standard_normal((4, 3)), R.standard_normal((2, 3)))]
    check_targets(function, calls, jit=True)

    assert "product_into(products" not in symgrad.grad(function, wrt=("x", "w"), jit=True).source(*calls[0])


def all_but_the_first_two(x, w):
    s = w[0, 0]
    for i in range(2, x.shape[0]):
        for j in range(i, x.shape[0]):
            s += np.sin(x[i] @ x[j])
    return s


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_not_finite_in_pairs_that_are_left_out_changes_nothing() -> None:
    x, w = R.standard_normal((12, 3)), R.standard_normal((2, 3))
    for place in (0, 1, 5):
        x[place, 1] = np.inf
        compiled, plain = (symgrad.value_and_grad(all_but_the_first_two, wrt=("x", "w"), jit=jit) for jit in (True, False))
        keep_kernels(compiled)
        actual, expected = compiled(x, w), plain(x, w)
        assert "product_into(products" in symgrad.grad(all_but_the_first_two, wrt=("x", "w"), jit=True).source(x, w)
        for one, other in zip((actual[0], *actual[1]), (expected[0], *expected[1]), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)
        assert np.isfinite(actual[1][0][3:]).all() == (place < 2)
