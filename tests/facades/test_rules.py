"""Functions that users declare: ``rule``, ``elementwise``, ``constant``."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad
from symgrad.errors import BadArgument, UnsupportedArgument
from symgrad.testing import check_grads


def opaque(f):
    """A callable that is not looked into."""
    function = np.vectorize(f, otypes=[float], excluded=["none"])
    function.__name__ = "opaque"
    return function


X = np.array([0.3, 0.7, 1.1])


def test_elementwise() -> None:
    softplus = opaque(lambda x: np.log1p(np.exp(x)))

    def f(x):
        return np.sum(softplus(x) * x)

    with pytest.raises(UnsupportedArgument):
        symgrad.grad(f)(X)
    symgrad.elementwise(softplus, "softplus(x) = log(1 + exp(x))")
    check_grads(f, (X,), order=2)


def test_elementwise_with_partials() -> None:
    product = opaque(lambda x, y: x * y)
    symgrad.elementwise(product, "product(x, y)", dx="y", dy="x")
    check_grads(lambda x, y: np.sum(product(x, y) ** 2), (X, 0.5), order=2)
    with pytest.raises(BadArgument, match="missing"):
        symgrad.elementwise(product, "product(x, y)", dx="y")


def test_rule() -> None:
    double = np.frompyfunc(lambda x: 2.0 * x, 1, 1)
    symgrad.rule(double, "double(x)", result="x", x_grad="2.0 * out_grad")
    assert np.allclose(symgrad.grad(lambda x: np.sum(double(x) * x))(X).astype(float), 4.0 * X)


def test_constant() -> None:
    rounded = opaque(lambda x: float(round(x)))
    symgrad.constant(rounded, "rounded(x)", result="x")
    assert np.allclose(symgrad.grad(lambda x: np.sum(rounded(x) * x))(X), np.round(X))


def test_custom_vjp() -> None:
    def clipped(x):
        return np.sum(x**2)

    def forward(x):
        return clipped(x), x

    def backward(x, out_grad):
        return (np.clip(out_grad * 2.0 * x, -1.0, 1.0),)

    symgrad.custom_vjp(clipped, forward, backward)
    assert np.allclose(symgrad.grad(lambda x: 3.0 * clipped(x))(X), 1.0)


def test_a_declaration_counts_at_once() -> None:
    scaled = opaque(lambda x: 2.0 * x)

    def f(x):
        return np.sum(scaled(x))

    derivative = symgrad.grad(f)
    symgrad.elementwise(scaled, "scaled(x)", dx="2.0 + 0.0 * x")
    assert np.allclose(derivative(X), 2.0)
    symgrad.elementwise(scaled, "scaled(x)", dx="3.0 + 0.0 * x")
    assert np.allclose(derivative(X), 3.0)


@pytest.mark.parametrize("text", ["f(", "f", "f(x, *y)"])
def test_bad_declarations(text: str) -> None:
    with pytest.raises(BadArgument):
        symgrad.elementwise(opaque(abs), text)
