"""Special functions of the runtime against identities and SciPy."""

from __future__ import annotations

import math

import numpy as np
import pytest

from symgrad.runtime import special

X = np.array([0.01, 0.3, 0.5, 1.0, 1.5, 2.0, 3.7, 11.0, 100.0, -0.5, -1.3, -7.7])


def test_polygamma_obeys_its_recurrence_and_reflection() -> None:
    for n in range(4):
        step = (-1.0) ** n * math.factorial(n) / X ** (n + 1)
        left, right = special.polygamma(n, X + 1), special.polygamma(n, X) + step
        assert np.all(np.abs(left - right) <= 1e-13 * np.maximum(np.abs(step), 1))
    assert special.digamma(1.0) == pytest.approx(-np.euler_gamma, abs=1e-15)
    assert special.polygamma(1, 0.5) == pytest.approx(math.pi**2 / 2, rel=1e-15)
    assert np.isnan(special.digamma(np.array([0.0, -3.0]))).all()


def test_special_functions_agree_with_scipy() -> None:
    scipy = pytest.importorskip("scipy.special")
    for name in ("erf", "erfc", "gamma", "digamma"):
        np.testing.assert_allclose(getattr(special, name)(X), getattr(scipy, name)(X), rtol=1e-13)
    np.testing.assert_allclose(special.lgamma(X), scipy.gammaln(X), rtol=1e-13, atol=1e-14)


def test_numbers_stay_python_numbers_and_float32_stays_float32() -> None:
    for function in (special.erf, special.gamma, special.lgamma, special.digamma, lambda x: special.sinc_slope(x, 2)):
        assert type(function(1.5)) is float
        assert function(np.ones(2, np.float32)).dtype == np.float32
        assert function(np.ones(2, np.int64)).dtype == np.float64


def test_slopes_of_sinc_join_smoothly_between_series_and_recurrence() -> None:
    for n in range(1, 5):
        edge = (2 + n) / math.pi
        below, above = special.sinc_slope(edge * (1 - 1e-12), n), special.sinc_slope(edge * (1 + 1e-12), n)
        assert below == pytest.approx(above, rel=1e-9, abs=1e-9)
