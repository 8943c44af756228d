"""Splines of SciPy: values as SciPy's, slopes of first and second order; refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import NoDerivative, UnsupportedArgument

interpolate = pytest.importorskip("scipy.interpolate")

KNOTS = np.linspace(0.0, 3.0, 7)
HEIGHTS = np.sin(KNOTS)
GRID = np.linspace(0.0, 1.0, 6)
TCK = interpolate.splrep(KNOTS, HEIGHTS)
SURFACE = interpolate.bisplrep(np.repeat(GRID, 6), np.tile(GRID, 6), np.outer(GRID**2, np.cos(GRID)).ravel(), kx=3, ky=3)
SPLINES = {
    "cubic": interpolate.CubicSpline(KNOTS, HEIGHTS),
    "pchip": interpolate.PchipInterpolator(KNOTS, HEIGHTS),
    "akima": interpolate.Akima1DInterpolator(KNOTS, HEIGHTS),
    "pieces": interpolate.PPoly(np.array([[1.0, 2.0, -1.0], [3.0, 4.0, 0.5]]), np.array([0.0, 1.0, 2.0, 3.0])),
    "b-spline": interpolate.make_interp_spline(KNOTS, HEIGHTS),
    "fitpack": interpolate.UnivariateSpline(KNOTS, HEIGHTS, s=0.0),
    "fitpack of degree one": interpolate.InterpolatedUnivariateSpline(KNOTS, HEIGHTS, k=1),
    "columns": interpolate.CubicSpline(KNOTS, np.stack([HEIGHTS, HEIGHTS**2], axis=1)),
    "interp1d": interpolate.interp1d(KNOTS, HEIGHTS, kind="cubic"),
}
POINTS = [np.array([0.35, 1.61, 2.9]), np.array([0.7]), np.zeros(0), np.array([[0.2, 0.4], [1.1, 2.2]])[:, ::-1]]


class Curve:
    def __init__(self, spline: Any) -> None:
        self.spline, self.scale = spline, 2.0

    def energy(self, x: Any) -> Any:
        return self.scale * np.sum(self.spline(x) ** 2)


def slope(function: Callable[[Any], Any], x: Any) -> Any:
    steps = np.eye(x.size).reshape(x.size, *x.shape) * 1e-5
    return np.array([(function(x + step) - function(x - step)) / 2e-5 for step in steps]).reshape(x.shape)


@pytest.mark.parametrize("name", SPLINES)
def test_values_and_slopes(name: str) -> None:
    energy = Curve(SPLINES[name]).energy
    gradient = symgrad.grad(energy)
    for x in POINTS:
        value, by_x = symgrad.value_and_grad(energy)(x)
        assert value == energy(x)
        np.testing.assert_allclose(by_x, slope(energy, x), rtol=1e-6, atol=1e-8)
        _, tangent = symgrad.jvp(energy, (x,), (np.cos(x),))
        assert tangent == pytest.approx(np.sum(by_x * np.cos(x)), rel=1e-12)
    np.testing.assert_allclose(symgrad.hessian(energy)(POINTS[0]), [slope(lambda x, k=k: gradient(x)[k], POINTS[0]) for k in range(3)],
                               rtol=1e-5, atol=1e-6)  # fmt: skip


def test_the_slope_of_a_surface_of_degree_one() -> None:
    ends = np.array([0.0, 0.0, 1.0, 1.0])
    linear = (ends, ends, np.array([0.0, 0.0, 1.0, 2.0]), 1, 1)  # x * (y + 1) at the corners
    gradient = symgrad.grad(lambda x, y: interpolate.bisplev(x, y, linear), wrt=("x", "y"))
    assert gradient(0.33, 0.47) == pytest.approx((1.47, 0.33), rel=1e-6)
    assert gradient(1.5, 0.47) == pytest.approx((0.0, 1.0), rel=1e-6, abs=1e-9)  # it is constant outside


SPLINE = SPLINES["fitpack"]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.sum(interpolate.splev(x, TCK)),
        lambda x: np.sum(interpolate.splev(x, TCK, der=1) * x),
        lambda x: np.sum(SPLINE(x, nu=2)),
        lambda x: interpolate.bisplev(x[0] * 0.3, x[1] * 0.2, SURFACE) * x[2],
        lambda x: sum(k * float(SPLINE(v)) for k, v in enumerate(x)),
    ],
)
def test_calls_of_functions_and_derivatives(function: Callable[[Any], Any]) -> None:
    x = POINTS[0]
    value, gradient = symgrad.value_and_grad(function)(x)
    assert value == function(x)
    np.testing.assert_allclose(gradient, slope(function, x), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(symgrad.grad(function, jit="auto")(x), gradient, rtol=1e-12)


def test_a_spline_that_replaces_another_has_its_own_code(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = symgrad.grad(lambda x: SPLINE(x) * 1.0)
    assert gradient(1.0) == pytest.approx(SPLINE(1.0, 1))
    monkeypatch.setitem(globals(), "SPLINE", SPLINES["pieces"])
    assert gradient(1.5) == pytest.approx(SPLINES["pieces"](1.5, 1))


@pytest.mark.parametrize(
    ("function", "message", "other"),
    [
        (lambda x: SPLINES["cubic"](x, extrapolate=False), "extrapolate= of a spline", lambda x: SPLINES["cubic"](x)),
        (lambda x: interpolate.splev(x, TCK, ext=1), "ext= of a spline", lambda x: interpolate.splev(x, TCK)),
        (lambda x: SPLINE(x, nu=int(2 * x)), "nu= of a spline is not known", lambda x: SPLINE(x, nu=1)),
    ],
)
def test_what_is_not_followed_says_the_way_out(function: Any, message: str, other: Any) -> None:
    with pytest.raises(UnsupportedArgument, match=message):
        symgrad.grad(lambda x: np.sum(function(x)))(0.8)
    assert np.isfinite(symgrad.grad(lambda x: np.sum(other(x)))(0.8))


def test_a_spline_that_is_constant_outside_is_refused() -> None:
    spline = interpolate.UnivariateSpline(KNOTS, HEIGHTS, s=0.0, ext=3)
    with pytest.raises(UnsupportedArgument, match="constant outside its knots") as refusal:
        symgrad.grad(lambda x: spline(x) * 1.0)(0.8)
    assert "clip" in str(refusal.value)
    inside = interpolate.UnivariateSpline(KNOTS, HEIGHTS, s=0.0)
    clipped = symgrad.grad(lambda x: inside(np.clip(x, 0.0, 3.0)) * 1.0)
    assert clipped(0.8) == pytest.approx(inside(0.8, 1))
    assert clipped(4.0) == 0.0


def test_coefficients_that_carry_a_derivative_are_refused() -> None:
    with pytest.raises(NoDerivative):
        symgrad.grad(lambda x: np.sum(interpolate.splev(1.3, (TCK[0], TCK[1] * x, TCK[2]))))(0.8)
