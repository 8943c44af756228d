"""Run-time support: special functions, and everything in ``cotangents.py``.

NumPy and ``math`` only, but for slopes of splines, whose callers have SciPy. Each function takes numbers or arrays and keeps float32.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.runtime.cotangents import (
    add_along_axis,
    cofactors,
    concatenate_part,
    concatenate_place,
    diag_back,
    diag_embed,
    diagonal_place,
    dot_left,
    dot_right,
    einsum_part,
    extreme_share,
    gaps,
    half_tril,
    matmul_left,
    matmul_right,
    product_after,
    product_before,
    repeat_back,
    split_array,
    split_like,
    stack_place,
    tensordot_left,
    tensordot_right,
    tile_back,
    trace_back,
    weighted_after,
    weighted_before,
)

#: Bernoulli numbers B2, B4, ... of the asymptotic series of the polygamma functions
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330)


def each(function: Callable[[float], float], x: Any) -> Any:
    """Apply a function of ``math`` to every element.

    >>> each(math.erf, np.array([0.0, 0.0]))
    array([0., 0.])
    """
    if isinstance(x, float | int) and not isinstance(x, np.generic):
        return function(x)
    x = np.asarray(x)
    dtype = x.dtype if x.dtype.kind == "f" else np.dtype(float)
    return np.array([function(v) for v in x.ravel().tolist()], dtype).reshape(x.shape)[()]


def erf(x: Any) -> Any:
    """The error function."""
    return each(math.erf, x)


def erfc(x: Any) -> Any:
    """One minus the error function."""
    return each(math.erfc, x)


def gamma(x: Any) -> Any:
    """The gamma function."""
    return each(math.gamma, x)


def lgamma(x: Any) -> Any:
    """The logarithm of the absolute value of the gamma function."""
    return each(math.lgamma, x)


def digamma(x: Any) -> Any:
    """The derivative of ``lgamma``.

    >>> round(digamma(1.0), 12)
    -0.577215664902
    """
    return polygamma(0, x)


def polygamma(n: int, x: Any) -> Any:
    """The n-th derivative of ``digamma``, of complex numbers too: DLMF 5.15.

    >>> abs(polygamma(1, 1.0) - math.pi**2 / 6) < 1e-14
    True
    """
    if isinstance(x, float | int) and not isinstance(x, np.generic):
        return float(polygamma(n, np.float64(x)))
    x = np.asarray(x)
    wide = complex if x.dtype.kind == "c" else float
    y = x.astype(wide)
    mirrored = y.real < 0.5
    y = np.where(mirrored, 1 - y, y)
    sign = (-1.0) ** (n + 1)
    total = np.zeros_like(y)
    while np.any(small := y.real < 16 + n):
        total += np.where(small, -1 / y if n == 0 else sign * math.factorial(n) / y ** (n + 1), 0.0)
        y = np.where(small, y + 1, y)
    if n == 0:
        total += np.log(y) - 0.5 / y - sum(b / (2 * k * y ** (2 * k)) for k, b in enumerate(BERNOULLI, 1))
    else:
        series = math.factorial(n - 1) / y**n + math.factorial(n) / (2 * y ** (n + 1))
        series += sum(b * (math.factorial(2 * k + n - 1) / math.factorial(2 * k)) / y ** (2 * k + n) for k, b in enumerate(BERNOULLI, 1))
        total += sign * series
    if np.any(mirrored):
        total = np.where(mirrored, (-1.0) ** n * total - math.pi * _cot_derivative(n, x.astype(wide)), total)
    return total.astype(x.dtype if x.dtype.kind in "fc" else float)[()]


def _cot_derivative(n: int, x: Any) -> Any:
    """The n-th derivative of ``cot(pi * x)`` divided by nothing, as a polynomial in the cotangent."""
    whole = x == np.floor(x.real)
    with np.errstate(all="ignore"):
        c = np.where(whole, np.nan, 1 / np.tan(math.pi * (x - np.round(x.real))))
    p = np.polynomial.Polynomial([0.0, 1.0])
    for _ in range(n):
        p = p.deriv() * np.polynomial.Polynomial([-math.pi, 0.0, -math.pi])
    return p(c)


def bessel_i(n: int, x: Any) -> Any:
    """The modified Bessel function of the first kind of whole order: the mean of ``exp(x cos t) cos(n t)`` over a circle.

    It overflows beyond 720.

    >>> bool(abs(bessel_i(0, 1.0) - np.i0(1.0)) < 1e-14), bessel_i(1, -1e300)
    (True, -inf)
    """
    if isinstance(x, float | int) and not isinstance(x, np.generic):
        return float(bessel_i(n, np.float64(x)))
    x = np.asarray(x)
    y = x.astype(float)
    is_large = np.abs(y) > 720
    y = np.where(is_large, np.copysign(np.inf, y) ** n if n else np.inf, y)
    near = np.where(is_large, 0.0, y)
    count = 64 + 2 * abs(n) + 4 * int(np.max(np.abs(near), initial=0.0, where=~np.isnan(near)))
    total = np.zeros_like(y)
    for k in range(count):
        t = 2 * math.pi * k / count
        total += np.exp(near * math.cos(t)) * math.cos(n * t)
    return np.where(is_large, y, total / count).astype(x.dtype if x.dtype.kind == "f" else float)[()]


def sinc_slope(x: Any, n: int) -> Any:
    """The n-th derivative of ``np.sinc``, also at and near 0.

    >>> sinc_slope(0.0, 1), round(sinc_slope(0.0, 2), 12)
    (0.0, -3.289868133696)
    """
    if isinstance(x, float | int) and not isinstance(x, np.generic):
        return float(sinc_slope(np.float64(x), n))
    x = np.asarray(x)
    t = math.pi * x.astype(float)
    near = np.abs(t) < 2 + n
    far = np.where(near, 1.0, t)
    away = np.sin(far) / far
    for k in range(1, n + 1):
        away = (np.sin(far + k * (math.pi / 2)) - k * away) / far
    at = np.where(near, t, 0.0)
    series = np.zeros_like(at)
    for k in range((n + 1) // 2, (n + 1) // 2 + 25 + 2 * n):
        series += (-1) ** k * at ** (2 * k - n) * (math.factorial(2 * k) / math.factorial(2 * k - n) / math.factorial(2 * k + 1))
    return (math.pi**n * np.where(near, series, away)).astype(x.dtype if x.dtype.kind == "f" else float)[()]


def erfcx_slope(x: Any, value: Any, n: int) -> Any:
    """Return the n-th derivative of ``scipy.special.erfcx``, given its value at ``x``; n is at least 1.

    By the recurrence of DLMF 7.10; far above 0, where that has no digits, by the asymptotic series, DLMF 7.12.1.

    >>> round(erfcx_slope(0.0, 1.0, 1), 12), erfcx_slope(math.inf, 0.0, 1)
    (-1.128379167096, 0.0)
    """
    return _slope_with_tail(x, value, n, 2.0, -2 / math.sqrt(math.pi), lambda y: y > TAIL)


def dawsn_slope(x: Any, value: Any, n: int) -> Any:
    """Return the n-th derivative of ``scipy.special.dawsn``, given its value at ``x``; n is at least 1.

    >>> dawsn_slope(0.0, 0.0, 1), dawsn_slope(-math.inf, 0.0, 1)
    (1.0, 0.0)
    """
    return _slope_with_tail(x, value, n, -2.0, 1.0, lambda y: np.abs(y) > TAIL)


def wofz_slope(x: Any, value: Any, n: int) -> Any:
    """Return the n-th derivative of ``scipy.special.wofz``, a complex number, given its value at ``x``; n is at least 1.

    By the recurrence of DLMF 7.10; far from 0, where that has no digits, by the asymptotic series, DLMF 7.12.1, where it holds.

    >>> complex(wofz_slope(0.0, 1.0, 1)), complex(wofz_slope(1e8j, 0.0, 1)).real
    (1.1283791670955126j, 0.0)
    """
    slope = _slope_with_tail(np.asarray(x) + 0j, value, n, -2.0, 2j / math.sqrt(math.pi), _is_far_from_zero)
    return np.where(np.isinf(x), 0j, slope).astype(slope.dtype)[()]


def _is_far_from_zero(z: Any) -> Any:
    """Whether the asymptotic series of ``wofz`` is accurate to rounding; below the real axis a multiple of ``exp(-z * z)`` is added."""
    return (np.abs(z) > TAIL) & ((z.imag >= 0) | (z.real**2 - z.imag**2 > 40))


def kaiser_slope(n: int, beta: float) -> Any:
    """The derivative of ``np.kaiser(n, beta)`` with respect to ``beta``; a window of one point is always 1.

    >>> kaiser_slope(1, 2.0), bool(np.all(np.abs(kaiser_slope(3, 0.0)) < 1e-15))
    (array([0.]), True)
    """
    arms = np.sqrt(1 - np.linspace(-1.0, 1.0, n) ** 2) if n > 1 else np.ones(n)
    return (arms * bessel_i(1, beta * arms) - np.kaiser(n, beta) * bessel_i(1, beta)) / np.i0(beta)


#: beyond, the asymptotic series has all digits
TAIL = 12.0


def interpolant_slope(spline: Any, x: Any, order: int) -> Any:
    """Return the derivative of the given order of a SciPy spline; zero above its degree.

    >>> from scipy.interpolate import UnivariateSpline
    >>> line = UnivariateSpline([0.0, 1.0], [1.0, 3.0], k=1)
    >>> round(float(interpolant_slope(line, 0.5, 1)), 12), float(interpolant_slope(line, 0.5, 2))
    (2.0, 0.0)
    """
    fitpack = hasattr(spline, "get_knots")  # FITPACK has no order above the degree
    if fitpack and order > len(spline.get_coeffs()) - len(spline.get_knots()) + 1:
        return np.zeros(np.shape(x))
    return spline(x, order)


def splev_slope(x: Any, tck: Any, order: int) -> Any:
    """The derivative of that order of a spline of FITPACK's; zero where it is above the degree.

    >>> float(splev_slope(0.5, (np.array([0.0, 0.0, 1.0, 1.0]), np.array([1.0, 3.0]), 1), 1))
    2.0
    """
    from scipy.interpolate import splev

    return splev(x, tck, order) if order <= tck[2] else np.zeros(np.shape(x))


def bisplev_slope(x: float, y: float, tck: Any, across: int, along: int) -> float:
    """The derivative of these orders of a surface of FITPACK's at a point; outside its knots it is constant, so that its slope is zero.

    It is a sum of products of B-splines: P. Dierckx, Curve and Surface Fitting with Splines (1993), chapter 2.

    >>> flat = (np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.0, 1.0, 2.0, 3.0]), 1, 1)
    >>> bisplev_slope(0.5, 0.5, flat, 1, 0), bisplev_slope(0.5, 0.5, flat, 0, 1), bisplev_slope(2.0, 0.5, flat, 1, 0)
    (2.0, 1.0, 0.0)
    """
    from scipy.interpolate import BSpline

    weights = []
    for at, knots, degree, order in ((x, tck[0], tck[3], across), (y, tck[1], tck[4], along)):
        count = len(knots) - degree - 1
        low, high = knots[degree], knots[count]
        inside = min(max(at, low), high)
        weights.append(BSpline(knots, np.eye(count), degree)(inside, order) * (order == 0 or low <= at <= high))
    return float(weights[0] @ np.reshape(tck[2], (len(weights[0]), -1)) @ weights[1])


def _slope_with_tail(x: Any, value: Any, n: int, factor: float, rest: complex, is_far: Callable[[Any], Any]) -> Any:
    """The n-th derivative of the function ``y`` with ``y' = factor * x * y + rest``: in its tail, ``y ~ -rest / (factor * x)``."""
    if isinstance(x, float | int) and not isinstance(x, np.generic):
        return float(_slope_with_tail(np.float64(x), value, n, factor, rest, is_far))
    x = np.asarray(x)
    wide = complex if x.dtype.kind == "c" else float
    y = x.astype(wide)
    far = is_far(y)
    near, tail = np.where(far, 0.0, y), np.where(far, y, 1.0)
    before, slope = np.asarray(value, wide), factor * near * np.where(far, 0.0, value) + rest
    for k in range(1, n):
        before, slope = slope, factor * (near * slope + k * before)
    inverse = 1 / tail
    term, series = -rest / factor * (-1.0) ** n * math.factorial(n) * inverse ** (n + 1), np.zeros_like(y)
    for k in range(1, 16):
        series += term
        term = -term * ((2 * k + n - 1) * (2 * k + n) / (2 * k * factor)) * inverse**2
    return np.where(far, series, slope).astype(x.dtype if x.dtype.kind in "fc" else float)[()]


__all__ = ["add_along_axis", "cofactors", "concatenate_part", "concatenate_place", "dawsn_slope", "diag_back", "diag_embed"]
__all__ += ["diagonal_place", "digamma", "dot_left", "dot_right", "each", "einsum_part", "erf", "erfc", "erfcx_slope", "extreme_share"]
__all__ += ["gamma", "gaps", "half_tril", "kaiser_slope", "lgamma", "matmul_left", "matmul_right", "polygamma", "product_after"]
__all__ += ["product_before", "repeat_back", "scattered", "shares", "sinc_slope", "split_array", "split_like", "stack_place"]
__all__ += ["tensordot_left", "tensordot_right", "tile_back", "trace_back", "unphased", "unphased_tangent", "weighted_after"]
__all__ += ["weighted_before", "wofz_slope"]


def unit_conjugate(x: Any) -> Any:
    """The conjugate of the complex number of size one in the direction of ``x``, 0 for 0: the slope of ``abs``.

    >>> unit_conjugate(3 + 4j)
    (0.6-0.8j)
    """
    size = abs(x)
    if not isinstance(x, np.ndarray):
        return x.conjugate() / (size if size else 1)
    size = np.where(size == 0, 1, size)
    unit = np.empty_like(x)
    unit.real, unit.imag = x.real / size, -x.imag / size  # NumPy divides by the reciprocal of ``size``, which may be infinite
    return unit[()]


def inverse_modulus(x: Any) -> Any:
    """``1 / abs(x)``, and 0 for 0.

    >>> inverse_modulus(3 + 4j)
    0.2
    """
    size = abs(x)
    if isinstance(x, np.ndarray):
        return np.where(size == 0, 0, 1 / np.where(size == 0, 1, size))[()]
    return 1 / size if size else size


def complex_eig(a: Any) -> tuple[Any, Any]:
    """``np.linalg.eig`` of a real matrix, as complex numbers also where all eigenvalues are real.

    >>> complex_eig(np.diag([2.0, 3.0]))[0]
    array([2.+0.j, 3.+0.j])
    """
    values, vectors = np.linalg.eig(a)
    return values + 0j, vectors + 0j


PHASES = (
    "the result depends on the phases of complex eigenvectors or singular vectors, which the matrix does not determine: "
    "use what does not change with them, such as np.abs(v) or v @ v.conj().T"
)


def unphased(v: Any, m: Any, other: Any, terms: Any) -> Any:
    """Return ``v`` if the diagonal of ``m + other`` is real up to rounding, else raise ValueError.

    Eigenvectors and singular vectors of complex matrices are unique up to a factor of modulus 1 each. The imaginary
    diagonal is the derivative with respect to the angle of this factor, so a function with a nonzero one depends on
    an arbitrary choice of the library. ``terms`` is the size of the terms that ``m`` and ``other`` are sums of, which may cancel.
    """
    both = m + other
    if not isinstance(both, np.ndarray):
        return v
    turns = np.abs(np.imag(np.diagonal(both, axis1=-2, axis2=-1)))
    scale = np.max(np.abs(m), initial=0.0) + np.max(np.abs(other), initial=0.0)
    epsilon = np.finfo(v.dtype).eps
    if np.any(turns > 10 * np.sqrt(epsilon) * scale + 1000 * epsilon * np.abs(terms)):
        raise ValueError(PHASES)
    return v


def shares(v: Any, rows: bool = False) -> Any:
    """Each vector times a number of its own between 1 and 2; the vectors are columns, or ``rows``.

    >>> shares(np.ones((2, 2))).round(3)
    array([[1.618, 1.236],
           [1.618, 1.236]])
    """
    v = np.asarray(v)
    weights = 1 + np.arange(1, v.shape[-2 if rows else -1] + 1) * 0.6180339887498949 % 1
    return v * (weights[:, None] if rows else weights).astype(v.real.dtype)


def scattered(v: Any, use: int = 0) -> Any:
    """Numbers of modulus one in many directions, in the shape of a stack of matrices; others for each ``use``.

    >>> scattered(np.ones((1, 2), complex)).round(3)
    array([[-0.737-0.675j,  0.087+0.996j]])
    """
    v = np.asarray(v)
    places = np.arange(1, v.shape[-2] * v.shape[-1] + 1).reshape(v.shape[-2:]) + use * v.shape[-2] * v.shape[-1]
    return np.broadcast_to(np.exp(2j * np.pi * (places * 0.6180339887498949 % 1)), v.shape).astype(v.dtype)


def unphased_tangent(t: Any, turn: Any, shift: Any, error: Any, value: Any) -> Any:
    """Return the tangent ``t`` of a result ``value`` if ``turn`` is zero up to rounding, else raise ValueError.

    ``turn`` is the derivative of the result when the phases of complex eigenvectors or singular vectors turn. It is compared
    with ``shift``, the derivative when all their elements change, and with the rounding errors of ``value`` and of the terms that
    cancel in it: their size is that of ``error``, the derivative when all elements change differently at each use.
    """
    if isinstance(t, list | tuple):
        return type(t)([unphased_tangent(*parts) for parts in zip(t, turn, shift, error, value, strict=True)])
    size, epsilon = np.abs(shift), np.finfo(np.result_type(turn, np.float16)).eps
    least = 1000 * epsilon * sum(np.max(np.abs(part), initial=0.0) for part in (value, size, error))
    if np.any(np.abs(turn) > 10 * np.sqrt(epsilon) * size + least):
        raise ValueError(PHASES)
    return t
