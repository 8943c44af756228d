"""Derivatives of the incomplete gamma and beta functions with respect to their shape parameters, element by element.

Each is the function's own value, from SciPy, times the derivative of its logarithm. That derivative comes from a power series or a
continued fraction with positive terms, differentiated term by term: DLMF 8.7.1, 8.9.2 and 8.17.22, by Lentz's algorithm (DLMF 3.10.8).
Beyond the middle it is that of the complement, so that no digits are lost where the value is near 0 or 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.runtime.special import digamma

#: the maximal number of terms; without convergence the result is NaN
TERMS = 20000
SETTLED = 2e-16


def gammainc_slope(a: Any, x: Any, below: Any, above: Any) -> Any:
    """Return the derivative of ``gammainc(a, x)`` with respect to ``a``; ``below`` is its value, ``above`` is ``gammaincc(a, x)``.

    >>> round(gammainc_slope(1.0, 1.0, 0.6321205588285577, 0.36787944117144233), 12)
    -0.431729710635
    """
    a, x, below, above, in_kind = _wide(a, x, below, above)
    inside = (a > 0) & (x > 0) & np.isfinite(a) & np.isfinite(x)
    p, y = np.where(inside, a, 1.0), np.where(inside, x, 1.0)
    lower = y < p + 1
    by_series = below * (np.log(y) - digamma(p + 1) + _gamma_series(np.where(lower, p, 1.0), np.where(lower, y, 1.0)))
    by_fraction = above * (np.log(y) - digamma(p) + _gamma_fraction(np.where(lower, 1.0, p), np.where(lower, 3.0, y)))
    slope = np.where(lower, by_series, -by_fraction)
    return in_kind(np.where(inside, slope, np.where((a > 0) & (x >= 0) & np.isfinite(a), 0.0, np.nan)))


def betainc_slope(a: Any, b: Any, x: Any, below: Any, above: Any, second: bool = False) -> Any:
    """Return the derivative of ``betainc(a, b, x)`` with respect to ``a`` or ``b``; ``below`` is its value, ``above`` its complement.

    >>> round(betainc_slope(1.0, 1.0, 0.5, 0.5, 0.5), 12), round(betainc_slope(1.0, 1.0, 0.5, 0.5, 0.5, True), 12)
    (-0.34657359028, 0.34657359028)
    """
    a, b, x, below, above, in_kind = _wide(a, b, x, below, above)
    inside = (a > 0) & (b > 0) & (x > 0) & (x < 1) & np.isfinite(a) & np.isfinite(b)
    p, q, y = np.where(inside, a, 1.0), np.where(inside, b, 1.0), np.where(inside, x, 0.5)
    lower = y < (p + 1) / (p + q + 2)
    one, other = np.where(lower, p, q), np.where(lower, q, p)
    first_part, second_part = _beta_fraction(one, other, np.where(lower, y, 1 - y))
    power = np.log1p(-y) if second else np.log(y)
    is_leading = lower ^ second  # whether the parameter is the first one of the computed side
    own = q if second else p
    rest = np.where(is_leading, first_part - 1 / own, second_part)  # digamma(own + 1) is digamma(own) + 1 / own
    slope = np.where(lower, below, -above) * (power + digamma(p + q) - digamma(own) + rest)
    at_end = (a > 0) & (b > 0) & ((x == 0) | (x == 1)) & np.isfinite(a) & np.isfinite(b)
    return in_kind(np.where(inside, slope, np.where(at_end, 0.0, np.nan)))


def tails_slope(df: Any, x: Any, below: Any, above: Any) -> Any:
    """Return the derivative of ``betainc(df / 2, 0.5, df / (df + x * x))`` with respect to its first argument; ``below`` is its value.

    >>> round(tails_slope(2.0, 2.0**0.5, 0.29289321881345254, 0.7071067811865476), 12)
    -0.292359958836
    """
    square = np.square(np.asarray(x, float))
    share, rest = df / (df + square), square / (df + square)
    half = 0.5 * np.asarray(df, float)
    slope = np.where(square < df, -betainc_slope(0.5, half, rest, above, below, True), betainc_slope(half, 0.5, share, below, above))
    return _wide(df, x, below, above)[-1](slope)


def _wide(*operands: Any) -> tuple[Any, ...]:
    """Return the operands in 64 bits, and the conversion of a result to their dtype."""
    dtypes = [np.result_type(one.dtype, 1.0) for one in operands if isinstance(one, np.ndarray | np.generic)]
    kind = np.result_type(*dtypes) if dtypes else None
    return (*np.broadcast_arrays(*(np.asarray(one, float) for one in operands)), lambda y: float(y) if kind is None else y.astype(kind)[()])


def _gamma_series(a: Any, x: Any) -> Any:
    """The derivative of ``log(sum(x**n / ((a + 1) ... (a + n))))`` by ``a``."""
    term, total = np.ones_like(x), np.ones_like(x)
    harmonic, slope = np.zeros_like(x), np.zeros_like(x)
    for n in range(1, TERMS):
        term = term * (x / (a + n))
        harmonic = harmonic - 1 / (a + n)
        total, slope = total + term, slope + term * harmonic
        if np.all((term <= SETTLED * total) & (term * harmonic >= SETTLED * slope)):
            return slope / total
    return np.where(term <= SETTLED * total, slope / total, np.nan)


def _gamma_fraction(a: Any, x: Any) -> Any:
    """The derivative of the logarithm of the continued fraction of the upper incomplete gamma function by ``a``."""
    bottom = x + 1 - a
    c, c_slope = np.full_like(x, 1e300), np.zeros_like(x)
    d = 1 / bottom
    d_slope = d * d
    total = d.copy()
    settled = np.zeros(np.shape(x), bool)
    for n in range(1, TERMS):
        top, bottom = n * (a - n), bottom + 2
        d_slope = -((1 / (top * d + bottom)) ** 2) * (n * d + top * d_slope - 1)
        d = 1 / (top * d + bottom)
        c_slope = -1 + (n - top * c_slope / c) / c
        c = bottom + top / c
        step = d_slope / d + c_slope / c
        total = total + step
        settled = (np.abs(c * d - 1) <= SETTLED) & (np.abs(step) <= SETTLED * np.abs(total))
        if np.all(settled):
            break
    return np.where(settled, total, np.nan)


def _beta_fraction(a: Any, b: Any, x: Any) -> tuple[Any, Any]:
    """The derivatives of the logarithm of the continued fraction of the incomplete beta function by ``a`` and by ``b``."""
    top, by_a, by_b = -(a + b) * x / (a + 1), -x * (1 - b) / (a + 1) ** 2, -x / (a + 1)
    d = 1 / (1 + top)
    c = np.ones_like(x)
    slopes = [(-d * by, np.zeros_like(x), -d * d * by) for by in (by_a, by_b)]  # of the logarithm, of c, of d
    settled = np.zeros(np.shape(x), bool)
    for m in range(1, TERMS):
        even, odd = a + 2 * m, a + 2 * m + 1
        factor = m * x / ((even - 1) * even)
        own = -(a + m) * (a + b + m) * x / (even * odd)
        tops = (
            (factor * (b - m), -factor * (b - m) * (1 / (even - 1) + 1 / even), factor),
            (own, own * (1 / (a + m) + 1 / (a + b + m) - 1 / even - 1 / odd), own / (a + b + m)),
        )
        settled = np.ones(np.shape(x), bool)
        for top, *by in tops:
            new_c, new_d = 1 + top / c, 1 / (1 + top * d)
            updated = []
            for one, (total, c_slope, d_slope) in zip(by, slopes, strict=True):
                new_c_slope = (one - top * c_slope / c) / c
                new_d_slope = -new_d * new_d * (one * d + top * d_slope)
                step = new_c_slope / new_c + new_d_slope / new_d
                settled &= np.abs(step) <= SETTLED * np.abs(total + step)
                updated.append((total + step, new_c_slope, new_d_slope))
            settled &= np.abs(new_c * new_d - 1) <= SETTLED
            c, d, slopes = new_c, new_d, updated
        if np.all(settled):
            break
    return np.where(settled, slopes[0][0], np.nan), np.where(settled, slopes[1][0], np.nan)


__all__ = ["betainc_slope", "gammainc_slope", "tails_slope"]
