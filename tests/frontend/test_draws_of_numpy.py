"""Draws of NumPy's generators with active parameters: values of the same stream, gradients by differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad

DRAWS = """r.laplace(x, 2.0 * x)|r.laplace(0.0, x, size=3)|r.logistic(x)|r.gumbel(x, x, 2)|r.rayleigh(x)|r.rayleigh(x, size=(2, 3))
r.gamma(2.0, x)|r.gamma(2.0, scale=x, size=3)|r.gamma(shape=0.5, scale=x)|r.choice([x, 2.0 * x, 3.0])|r.choice((x, x * x), size=4)
r.permutation(np.arange(4.0) * x)|r.permutation(np.arange(6.0).reshape(3, 2) * x)|r.permutation(3) * x|r.multivariate_normal(x * V, np.eye(3))
r.multivariate_normal(x * V, np.eye(3), 2)|r.multivariate_normal(V * x, np.eye(3), size=2)""".replace("\n", "|")
V = np.array([1.0, 2.0, 3.0])


@pytest.mark.sweep(3)
@pytest.mark.parametrize("kind", ["default_rng", "RandomState"])
@pytest.mark.parametrize("draw", DRAWS.split("|"))
def test_draws_are_those_of_numpy(draw: str, kind: str) -> None:
    text = f"def f(x):\n    r = np.random.{kind}(3)\n    y = {draw}\n    return np.dot(np.ravel(y), 1.0 + np.arange(np.size(y))) + r.random()\n"
    function: Any = symgrad.from_source(text, "f", {"__name__": "draws", "np": np, "V": V})
    value, slope = symgrad.value_and_grad(function)(0.7)

    assert value == pytest.approx(function(0.7), rel=1e-12)
    assert slope == pytest.approx((function(0.7 + 1e-6) - function(0.7 - 1e-6)) / 2e-6, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("draw", ["r.gamma(x)", "r.dirichlet(x * V)[0]", "r.multivariate_normal(V, x * np.eye(3))[0]", "r.wald(x, 1.0)"])
def test_draws_whose_slopes_are_not_known_are_refused(draw: str) -> None:
    function: Any = symgrad.from_source(f"def f(x):\n    r = np.random.default_rng(3)\n    return {draw} * x\n", "f", {"np": np, "V": V})

    with pytest.raises(symgrad.SymgradError, match="has no rule"):
        symgrad.grad(function)(0.7)
