"""Functions of ``math`` and ``statistics``, methods of numbers: values, classes, gradients, exceptions."""

from __future__ import annotations

import cmath
import math
import statistics
from typing import Any

import numpy as np
import pytest

import symgrad

NAMES = {"np": np, "math": math, "cmath": cmath, "statistics": statistics, "n": 6, "__name__": "numbers"}
EXPRESSIONS = """math.hypot(x)|math.hypot(x, y, 2)|math.hypot(x, 0.0, y, x * y)|math.hypot(*[x, y, 1.0])|math.dist([x, y, 1.0], [x, 0.5, y])
math.ldexp(x, -2)|math.frexp(x * 9)[0]|math.frexp(x)[1] * y|math.remainder(9 * x, y)|math.remainder(-x, 0.4)|math.ulp(x) + x|math.nextafter(x, 9.0) * y
math.isclose(x, y) + x|math.isclose(x, y, rel_tol=0.9) * x|math.gcd(4, n, 10) * x|math.lcm(4, n, 10) * x|math.gcd() + math.gcd(n) * x|math.perm(n) * x
math.perm(n, 2) * x|math.comb(n, 2) * x|math.factorial(n) * x|math.isqrt(n) * x|x.is_integer() * y + x|round(x, 1) + x|pow(5, n, 7) * x|pow(x, exp=2)
n.bit_length() * x|(7).bit_count() * x|(0.5).as_integer_ratio()[1] * x|n.as_integer_ratio()[0] * x|n.numerator * x + n.denominator|int("ff", 16) * x
int("11", base=n) * x|x.conjugate() * x|complex(x, y).conjugate().imag|abs(cmath.isclose(complex(x, y), 1) + x)|len((0.5).hex()) * x
int.from_bytes((5).to_bytes(2, "big"), "big") * x|float("inf") * (x > 9) if x > 9 else x|statistics.mean([x, y, 1])|statistics.fmean([x, y], [1.0, 2.0])
statistics.variance([x, y, 2.0])|statistics.pvariance([x, y], 0.5)|statistics.stdev([x, y, 3.0])|statistics.stdev([x, y], xbar=0.2)|statistics.median([x, y, 3.0])
statistics.median([x, y])|statistics.median_low([x, y])|statistics.median_high([x, y])|statistics.geometric_mean([x, y])|statistics.harmonic_mean([x, y])
statistics.quantiles([x, y, 2.0, 3.0])[1]|statistics.covariance([x, y, 1.0], [1.0, y, 2.0])|statistics.correlation([x, y, 1.0], [1.0, y, 2.0])
statistics.linear_regression([x, y, 1.0], [1.0, y, 2.0]).intercept|statistics.mean(v * x for v in (y, 2.0))|statistics.fmean(np.array([x, y]))""".replace(
    "\n", "|"
)
#: expressions that raise, for 0.7 and 1.3
RAISING = """math.dist([x, y], [x])|math.remainder(x, 0.0)|math.remainder(math.inf, x)|math.ldexp(x, 1.5)|math.factorial(-n) * x|math.comb(n, -1) * x
math.isclose(x, y, rel_tol=-1.0) * x|int("x", 16) * x|pow(2, -1, 4) * x|statistics.mean([]) * x|statistics.variance([x])|statistics.harmonic_mean([x, -y])
statistics.geometric_mean([x, 0.0])|statistics.fmean([x, y], [1.0]) * x|statistics.covariance([x], [y])|math.gcd(x, 2) * y|math.frexp("a")[0] * x""".replace(
    "\n", "|"
)


def function_of(expression: str) -> Any:
    return symgrad.from_source(f"def f(x, y):\n    return {expression}\n", "f", dict(NAMES))


@pytest.mark.sweep(3)
@pytest.mark.parametrize("number", [float, np.float64], ids=["python", "numpy"])
@pytest.mark.parametrize("expression", EXPRESSIONS.split("|"))
def test_numbers(expression: str, number: Any) -> None:
    function, x, y = function_of(expression), number(0.7), number(1.3)
    value, slopes = symgrad.value_and_grad(function, wrt=("x", "y"), allow_unused=True)(x, y)
    plain = function(x, y)
    h = 1e-6
    differences = [(function(x + h, y) - function(x - h, y)) / (2 * h), (function(x, y + h) - function(x, y - h)) / (2 * h)]

    assert type(value) is type(plain)
    assert value == pytest.approx(plain, rel=1e-13)
    np.testing.assert_allclose(slopes, differences, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("expression", RAISING.split("|"))
def test_what_python_raises_is_raised(expression: str) -> None:
    function = function_of(expression)
    with pytest.raises(Exception) as plain:  # noqa: B017, PT011
        function(0.7, 1.3)
    with pytest.raises(type(plain.value)) as own:
        symgrad.value_and_grad(function, allow_unused=True)(0.7, 1.3)

    assert not isinstance(own.value, symgrad.SymgradError)
    assert str(plain.value) in str(own.value)


def test_zeros_among_the_coordinates_have_no_slope() -> None:
    assert symgrad.grad(function_of("math.hypot(x - y, x - y, 2.0)"), wrt=("x", "y"))(0.7, 0.7) == (0.0, 0.0)
    assert symgrad.grad(function_of("math.dist([x, 1.0], [y, 0.0])"), wrt=("x", "y"))(0.7, 0.7) == (0.0, 0.0)


def test_a_float_that_becomes_a_text_or_a_fraction_loses_its_derivative_and_is_refused() -> None:
    for expression in ("float.fromhex(x.hex()) * y", "x.as_integer_ratio()[0] * y"):
        with pytest.raises(symgrad.SymgradError):
            symgrad.grad(function_of(expression))(0.7, 1.3)


@pytest.mark.parametrize("x", [np.float64(0.7), np.float64(-0.7), np.array(0.7)], ids=str)
def test_a_number_of_numpy_takes_a_mask(x: Any) -> None:
    def masked(x):  # type: ignore[no-untyped-def]
        r = x * x - 0.1
        roots = np.zeros(r.shape)
        roots[r > 0] = np.sqrt(r[r > 0])
        return np.sum(roots) + np.sum(x[x > 0] ** 2)

    value, slope = symgrad.value_and_grad(masked)(x)

    assert value == masked(x)
    assert float(slope) == pytest.approx(float((masked(x + 1e-6) - masked(x - 1e-6)) / 2e-6), rel=1e-7)


KERNELS = """math.factorial(k) * x|math.comb(7, k) * x|math.perm(7, k) * x|math.isqrt(k) * x|float("inf") if x > 9 else x * k|np.fmod(9 * x, 2) * k
sum(np.arange(0, 9, k + 1)) * x"""


@pytest.mark.sweep(3)
@pytest.mark.parametrize("expression", KERNELS.replace("\n", "|").split("|"))
def test_kernels_hold_numbers_of_python(expression: str) -> None:
    text = f"def f(x, n):\n    total = 0.0\n    for k in range(n):\n        total += {expression}\n    return total\n"
    function: Any = symgrad.from_source(text, "f", dict(NAMES))
    derivative = symgrad.value_and_grad(function, wrt="x", jit="numba", strict=True)
    for n in (0, 1, 5):
        value, slope = derivative(0.7, n)
        assert value == pytest.approx(function(0.7, n), rel=1e-13)
        assert slope == pytest.approx((function(0.7 + 1e-6, n) - function(0.7 - 1e-6, n)) / 2e-6, rel=1e-6, abs=1e-8)


def test_a_kernel_leaves_for_integers_of_more_bits() -> None:
    function: Any = symgrad.from_source("def f(x, n):\n    return x * (math.factorial(n) / math.factorial(n - 1))\n", "f", dict(NAMES))

    assert symgrad.grad(function, wrt="x", jit="numba")(0.5, 30) == 30.0
