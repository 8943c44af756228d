"""Names of generated functions and variables do not shadow the user's objects."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad

X = np.array([0.7, 1.3])
SCALES = {"first": [2.0, 3.0], "last": (0.5, np.array([1.0, 4.0]))}
TREE = (0, 0.1, (1, -0.3, 0, 1), (1, 0.5, 1, 0))


def weighted_grad(x):
    return np.sum(SCALES["last"][1] * x * x)


def weighted_value_and_grad(x):
    return weighted_grad(x) * SCALES["last"][1][0]


def weighted_forward(x):
    return weighted_value_and_grad(x) + SCALES["last"][1] @ x


def weighted_plain(x):
    return weighted_forward(x) * SCALES["last"][1][1]


def weighted(x):
    own = SCALES["first"][0] * x[0] + SCALES["first"][1] * x[1]
    return own + weighted_grad(x) + weighted_value_and_grad(x) + weighted_forward(x) + weighted_plain(x)


def grown(node, x, depth=0):
    if isinstance(node, int):
        return x[node] ** 2
    feature, bound, left, right = node
    part = 1.0 / (1.0 + np.exp(bound * depth - x[feature]))
    return (1.0 - part) * grown(left, x, depth + 1) + part * grown(right, x, depth + 1)


def of_a_tree(x):
    return grown(TREE, x)


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("f", [weighted, of_a_tree])
def test_functions_are_reached_whose_names_are_like_those_of_what_is_made(f, jit):
    if jit:
        pytest.importorskip("numba")
    kind = "auto" if jit else False
    expected = [(f(X + s) - f(X - s)) / 2e-6 for s in 1e-6 * np.eye(2)]
    df = symgrad.grad(f, jit=kind)
    assert df.primal(X) == pytest.approx(f(X))
    value, x_grad = symgrad.value_and_grad(f, jit=kind)(X)
    out, pullback = symgrad.vjp(f, X, jit=kind)
    assert value == out == pytest.approx(f(X))
    for actual in (df(X), x_grad, pullback(1.0)[0]):
        np.testing.assert_allclose(actual, expected, rtol=1e-7)
