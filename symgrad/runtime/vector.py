"""Elementary functions without branches, which LLVM vectorises in loops; for generated numba code only.

Each is within 2 units in the last place everywhere, with the infinities, NaNs, subnormals and signs of zero that C99 requires. The
method is the usual one (Muller, Elementary Functions, 3rd ed., ch. 11): reduce the argument, evaluate a polynomial, set the exponent by
its bits. Coefficients interpolate at Chebyshev nodes; ``tests/runtime/polynomials.py`` computes them. ``circular`` has the sine, the
tangent and its inverse.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic


def compiled(**options: Any) -> Callable[..., Any]:
    """Decorate a function to be inlined into loops that call it; cached on disk if possible."""
    options = {"error_model": "numpy", "forceinline": True, **options}

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        try:
            return njit(cache=True, **options)(function)
        except RuntimeError:  # no directory that can be written
            return njit(**options)(function)

    return decorate


#: for computations that are at least as accurate with fused multiply-add
vectorisable = compiled(fastmath={"contract"})
#: for computations that rely on every rounding
exact = compiled()
#: for parts of these functions: copied before types are inferred, which is quicker than compiling them by themselves
part = njit(error_model="numpy", inline="always")

#: adding it rounds to the nearest integer, which then occupies the low bits
ROUNDER = 6755399441055744.0  # 1.5 * 2**52
#: the bits of 2**52 or-ed with those of a whole number below it are 2**52 plus that number
WHOLE_BITS = 0x4330000000000000
#: 2**52, plus the offset of the exponent; plus what LIFT adds to it
EXPONENT_ZERO, LIFTED_ZERO = 4503599627371519.0, 4503599627371573.0
SIGN_BIT = -0x8000000000000000
MANTISSA_BITS = 0x000FFFFFFFFFFFFF
ROOT_HALF_BITS = 0x3FE6A09E667F3BCD
#: lets the exponent of ``2**k * m`` come out as k for m from sqrt(1/2) to sqrt(2)
TO_ROOT_HALF = 0x00095F619980C433
#: keeps the upper 21 bits of a float
UPPER_BITS = -0x100000000
SMALLEST_NORMAL = 2.2250738585072014e-308
#: scales subnormals up
LIFT = 18014398509481984.0  # 2**54

#: high parts times a whole number of up to 12 bits are exact
LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 0.693147180559663, 2.8235290563031577e-13
LOG2_E_HIGH, LOG2_E_LOW = 1.4426950407214463, 1.6751713164886512e-10
LOG10_E_HIGH, LOG10_E_LOW = 0.4342944818781689, 2.5082946711645275e-11
LOG10_2_HIGH, LOG10_2_LOW = 0.30102999566383914, 1.42050232272661e-13
TWO_THIRDS, TWO_THIRDS_LOW = 0.6666666666666666, 3.700743415417188e-17


@intrinsic
def bits(typing: Any, x: Any) -> Any:
    """The bits of a float64, as an integer."""
    return types.int64(types.float64), lambda context, builder, signature, args: builder.bitcast(args[0], ir.IntType(64))


@intrinsic
def from_bits(typing: Any, i: Any) -> Any:
    """The float64 that has these bits."""
    return types.float64(types.int64), lambda context, builder, signature, args: builder.bitcast(args[0], ir.DoubleType())


@intrinsic
def multiply_add(typing: Any, x: Any, y: Any, z: Any) -> Any:
    """``x * y + z``, rounded once."""
    return types.float64(types.float64, types.float64, types.float64), lambda context, builder, signature, args: builder.fma(*args)


# ------------------------------------------------------------------ exponentials


@part
def exp_tail(r: float) -> float:
    """``(e**r - 1 - r) / r**2`` for ``abs(r) <= ln(2) / 2``: degree 9, off by 2**-55.8 of ``e**r``."""
    return 0.5000000000000001 + r * (
        0.16666666666666669
        + r
        * (
            0.04166666666662413
            + r
            * (
                0.008333333333330062
                + r
                * (
                    0.0013888888917213717
                    + r
                    * (
                        0.00019841269863053618
                        + r
                        * (2.4801521295954376e-05 + r * (2.7557268459997064e-06 + r * (2.7620088445409746e-07 + r * 2.510038549551032e-08)))
                    )
                )
            )
        )
    )


@part
def scaled(p: float, k: float, shifted: float) -> float:
    """``p * 2**k`` for p near 1, also where that is subnormal or too large; ``shifted`` is ``k + ROUNDER``."""
    tiny = k < -1020.0
    factor = from_bits((bits(shifted) + (1151 if tiny else 1022)) << 52)
    return p * factor * (2.938735877055719e-39 if tiny else 2.0)  # 2**-128


@vectorisable
def vector_exp(x: float) -> float:
    """``e**x``."""
    x = float(x)
    x = 709.79 if x > 709.79 else x
    x = -746.0 if x < -746.0 else x
    shifted = x * LOG2_E + ROUNDER
    k = shifted - ROUNDER
    r = x - k * LN2_HIGH - k * LN2_LOW
    return scaled(1.0 + (r + r * r * exp_tail(r)), k, shifted)


@vectorisable
def vector_exp2(x: float) -> float:
    """``2**x``."""
    x = float(x)
    x = 1024.0 if x > 1024.0 else x
    x = -1076.0 if x < -1076.0 else x
    shifted = x + ROUNDER
    k = shifted - ROUNDER
    r = (x - k) * 0.6931471805599453
    return scaled(1.0 + (r + r * r * exp_tail(r)), k, shifted)


@vectorisable
def vector_expm1(x: float) -> float:
    """``e**x - 1``, exact near 0: ``(2**k - 1) + 2**k * (e**r - 1)``."""
    x = float(x)
    a = 709.79 if x > 709.79 else x
    a = -50.0 if a < -50.0 else a
    shifted = a * LOG2_E + ROUNDER
    k = shifted - ROUNDER
    high = a - k * LN2_HIGH
    low = k * LN2_LOW
    r = high - low
    p = r + (r * r * exp_tail(r) + ((high - r) - low))
    half = from_bits((bits(shifted) + 1022) << 52)
    y = 2.0 * ((half - 0.5) + half * p)
    return x if abs(x) < 5e-17 else y


@part
def exp_tail_above(r: float) -> float:
    """``(e**r - 1 - r) / r**2`` for r from 0 to ``ln(2)``: degree 10, off by 2**-57.4 of ``e**r - 1``."""
    return 0.5 + r * (
        0.16666666666666605
        + r
        * (
            0.041666666666702205
            + r
            * (
                0.008333333332530593
                + r
                * (
                    0.0013888888981531675
                    + r
                    * (
                        0.00019841263620543287
                        + r
                        * (
                            2.4801847015446044e-05
                            + r
                            * (
                                2.755037968360702e-06
                                + r * (2.767578834858177e-07 + r * (2.380923904143799e-08 + r * 2.8058012988226225e-09))
                            )
                        )
                    )
                )
            )
        )
    )


@vectorisable
def vector_tanh(x: float) -> float:
    """``(e**2x - 1) / (e**2x + 1)``, both from ``e**r - 1`` with r above 0, so that nothing cancels."""
    x = float(x)
    a = abs(x)
    a = 40.0 if a > 20.0 else 2.0 * a
    shifted = (a * LOG2_E - 0.5) + ROUNDER
    k = shifted - ROUNDER
    r = a - k * LN2_HIGH - k * LN2_LOW
    power = from_bits((bits(shifted) + 1023) << 52)
    less = (power - 1.0) + power * (r + r * r * exp_tail_above(r))
    more = less + 2.0
    inverse = 1.0 / more
    y = less * inverse
    # the rounding errors of y and more
    y += (multiply_add(-y, more, less) - y * (less - (more - 2.0))) * inverse
    return from_bits(bits(y) | (bits(x) & SIGN_BIT))


@vectorisable
def vector_sinh(x: float) -> float:
    """``(e**x - e**-x) / 2``, from ``e**r - 1`` with r above 0; a quarter of it, so that ``e**x`` may be too large."""
    x = float(x)
    a = abs(x)
    a = 711.0 if a > 711.0 else a
    shifted = (a * LOG2_E - 0.5) + ROUNDER
    k = shifted - ROUNDER
    r = a - k * LN2_HIGH - k * LN2_LOW
    quarter = from_bits((bits(shifted) + 1021) << 52)
    tail = r * r * exp_tail_above(r)
    p = r + tail
    less = (quarter - 0.25) + quarter * p
    # the rounding error of p counts between once and twice
    y = 2.0 * (less + (less / (4.0 * less + 1.0) + 1.5 * quarter * ((r - p) + tail)))
    y = a if a < 1e-8 else y
    return from_bits(bits(y) | (bits(x) & SIGN_BIT))


@vectorisable
def vector_cosh(x: float) -> float:
    """``(e**x + e**-x) / 2``; a quarter of it, so that ``e**x`` may be too large."""
    a = abs(float(x))
    a = 711.0 if a > 711.0 else a
    shifted = a * LOG2_E + ROUNDER
    k = shifted - ROUNDER
    r = a - k * LN2_HIGH - k * LN2_LOW
    grown = from_bits((bits(shifted) + 1021) << 52) * (1.0 + (r + r * r * exp_tail(r)))
    return 2.0 * (grown + 0.0625 / grown)


# ------------------------------------------------------------------ logarithms


@part
def log_tail(z: float) -> float:
    """``2 * atanh(s) / s - 2`` for ``z = s**2 <= 0.0295``: degree 7, off by 2**-57.6 of ``2 * atanh(s)``."""
    return z * (
        0.666666666666667
        + z
        * (
            0.3999999999989889
            + z
            * (
                0.28571428626253836
                + z * (0.22222211089379496 + z * (0.1818289243253687 + z * (0.15331611722055008 + z * 0.14617807153417325)))
            )
        )
    )


@part
def at_ends(x: float, y: float) -> float:
    """The logarithm y of x, put right for x that is 0, infinite or NaN; where x is negative, its sign has made y NaN."""
    y = -math.inf if x == 0.0 else y
    return y if x < math.inf else x


@vectorisable
def vector_log(x: float) -> float:
    """``ln(x)`` as ``k * ln(2) + ln(1 + f)`` with ``1 + f`` from sqrt(1/2) to sqrt(2), and ``s = f / (2 + f)``."""
    x = float(x)
    lifted = x < SMALLEST_NORMAL
    i = bits(x * LIFT if lifted else x) + TO_ROOT_HALF
    k = from_bits((i >> 52) | WHOLE_BITS) - (LIFTED_ZERO if lifted else EXPONENT_ZERO)
    f = from_bits((i & MANTISSA_BITS) + ROOT_HALF_BITS) - 1.0
    s = f / (2.0 + f)
    square = 0.5 * f * f
    return at_ends(x, k * LN2_HIGH + (f - (square - (s * (square + log_tail(s * s)) + k * LN2_LOW))))


@vectorisable
def vector_log1p(x: float) -> float:
    """``ln(1 + x)``: the logarithm of the rounded sum, corrected to first order for the rounding error."""
    x = float(x)
    u = 1.0 + x
    lost = (1.0 - (u - (u - 1.0))) + (x - (u - 1.0))
    i = bits(u) + TO_ROOT_HALF
    k = from_bits((i >> 52) | WHOLE_BITS) - EXPONENT_ZERO
    f = from_bits((i & MANTISSA_BITS) + ROOT_HALF_BITS) - 1.0
    lost = (lost if u < 1e18 else 0.0) * from_bits((2046 - (i >> 52)) << 52)
    s = f / (2.0 + f)
    square = 0.5 * f * f
    y = k * LN2_HIGH + (f - (square - (s * (square + log_tail(s * s)) + (k * LN2_LOW + (lost - f * lost)))))
    return x if x == 0.0 else at_ends(u, y)


@part
def log_in_base(x: float, two_high: float, two_low: float, e_high: float, e_low: float) -> float:
    """The logarithm in the base given by the logarithms of 2 and e: like ``vector_log``, with ``ln(1 + f)`` in two parts."""
    lifted = x < SMALLEST_NORMAL
    i = bits(x * LIFT if lifted else x) + TO_ROOT_HALF
    k = from_bits((i >> 52) | WHOLE_BITS) - (LIFTED_ZERO if lifted else EXPONENT_ZERO)
    f = from_bits((i & MANTISSA_BITS) + ROOT_HALF_BITS) - 1.0
    s = f / (2.0 + f)
    square = 0.5 * f * f
    high = from_bits(bits(f - square) & UPPER_BITS)
    low = (f - high) - square + s * (square + log_tail(s * s))
    near = high * e_high
    whole = k * two_high
    y = whole + near
    rest = (whole - y) + near + ((high + low) * e_low + low * e_high + k * two_low)
    return at_ends(x, y + rest)


@vectorisable
def vector_log2(x: float) -> float:
    """The logarithm in base 2; whole for powers of 2."""
    return log_in_base(float(x), 1.0, 0.0, LOG2_E_HIGH, LOG2_E_LOW)


@vectorisable
def vector_log10(x: float) -> float:
    """The logarithm in base 10."""
    return log_in_base(float(x), LOG10_2_HIGH, LOG10_2_LOW, LOG10_E_HIGH, LOG10_E_LOW)


# ------------------------------------------------------------------ powers


@vectorisable
def power_tail(z: float) -> float:
    """``2 * atanh(s) / s - 2 - 2/3 * z`` for ``z = s**2 <= 0.0295``: degree 9, off by 2**-66.4 of ``2 * atanh(s)``."""
    return (
        z
        * z
        * (
            0.4
            + z
            * (
                0.2857142857142937
                + z
                * (
                    0.22222222221652765
                    + z
                    * (
                        0.18181818336099848
                        + z * (0.1538459488700718 + z * (0.1333480879881234 + z * (0.11706126464563398 + z * 0.11724327060846747)))
                    )
                )
            )
        )
    )


@vectorisable
def power_end(r: float, k: float, shifted: float) -> float:
    """``e**r * 2**k``, as ``vector_exp`` ends."""
    return scaled(1.0 + (r + r * r * exp_tail(r)), k, shifted)


@exact
def vector_power(x: float, y: float) -> float:
    """``x**y`` of real numbers, as C99's ``pow``: ``e**(y * ln(x))``, the logarithm and the product in two parts each."""
    x, y = float(x), float(y)
    a = abs(x)
    # ln(a) = k ln(2) + 2 s + s w, where s = (m - 1) / (m + 1) and w = 2/3 s**2 + ...
    lifted = a < SMALLEST_NORMAL
    i = bits(a * LIFT if lifted else a) + TO_ROOT_HALF
    k = from_bits((i >> 52) | WHOLE_BITS) - (LIFTED_ZERO if lifted else EXPONENT_ZERO)
    m = from_bits((i & MANTISSA_BITS) + ROOT_HALF_BITS)
    d = m + 1.0
    inverse = 1.0 / d
    s = (m - 1.0) * inverse
    s_low = (multiply_add(-s, d, m - 1.0) - s * (m - (d - 1.0))) * inverse
    z = s * s
    z_low = multiply_add(s, s, -z) + 2.0 * s * s_low
    w = z * TWO_THIRDS
    w_low = multiply_add(z, TWO_THIRDS, -w) + (z * TWO_THIRDS_LOW + z_low * TWO_THIRDS + power_tail(z))
    cubic = s * w
    cubic_low = multiply_add(s, w, -cubic) + (s * w_low + s_low * w) + 2.0 * s_low
    near = 2.0 * s + cubic
    near_low = (2.0 * s - near) + cubic + cubic_low
    whole = k * LN2_HIGH
    sum_high = whole + near
    sum_low = (whole - sum_high) + near + (near_low + k * LN2_LOW)
    log = sum_high + sum_low
    log_low = (sum_high - log) + sum_low
    # beyond 2**64 the exponent does not matter any more, but infinities would
    b = 1.8446744073709552e19 if y > 1.8446744073709552e19 else y
    b = -1.8446744073709552e19 if b < -1.8446744073709552e19 else b
    product = b * log
    e = 710.0 if product > 710.0 else product
    e = -746.0 if e < -746.0 else e
    rest = multiply_add(b, log, -product) + b * log_low if e == product else 0.0
    shifted = e * LOG2_E + ROUNDER
    n = shifted - ROUNDER
    r = (e - n * LN2_HIGH) + (rest - n * LN2_LOW)
    p = power_end(r, n, shifted)
    # bases that are not positive and finite, and the cases with the result 1
    p = (0.0 if (a == 0.0) == (y > 0.0) else math.inf) if a == 0.0 or a == math.inf else p
    is_whole = np.floor(y) == y
    p = -p if bits(x) < 0 and is_whole and np.floor(0.5 * y) != 0.5 * y else p
    p = math.nan if x < 0.0 and a < math.inf and not is_whole else p
    p = x + y if x != x or y != y else p
    return 1.0 if x == 1.0 or y == 0.0 else p


# ------------------------------------------------------------------ the error function, cube roots


@part
def erf_tail(z: float) -> float:
    """``erf(x) / x - 1`` for ``z = x**2 <= 1.25**2``: degree 13, off by 2**-56.2 of ``erf(x) / x``."""
    return 0.1283791670955126 + z * (-0.3761263890318373 + z * (0.11283791670954207 + z * (-0.02686617064498048 + z * (
        0.005223977624148714 + z * (-0.0008548326956891104 + z * (0.00012055330759233478 + z * (-1.4925599872684363e-05 + z * (
        1.646131268567491e-06 + z * (-1.6356834458206445e-07 + z * (1.4735586450550828e-08 + z * (-1.1894439605227184e-09 + z * (
        7.950782038692151e-11 + z * -3.2755449401425707e-12))))))))))))  # fmt: skip


@part
def erfc_part(u: float) -> float:
    """``erfc(x) * e**(x**2)`` for ``u = (x - 1.25) / (x + 3)`` and x from 1.25 to 6: degree 13, off by 2**-55.0 of ``erf(x)``."""
    return 0.3678229164523609 + u * (-0.8874929728494781 + u * (1.0415020372935786 + u * (-0.8845401722694286 + u * (
        0.5156739476192747 + u * (-0.16895679891913185 + u * (-0.003593724083170822 + u * (0.026567377907172153 + u * (
        -0.004088716164929595 + u * (-0.004284374460752999 + u * (0.0003131549801287119 + u * (0.001877091410298631 + u * (
        -0.000917734606598322 + u * 0.00011698025928850411))))))))))))  # fmt: skip


@vectorisable
def vector_erf(x: float) -> float:
    """The error function: an odd polynomial up to 1.25, one minus the complement beyond."""
    x = float(x)
    a = abs(x)
    b = 6.0 if a > 6.0 else a
    square = b * b
    near = a + a * erf_tail(square)
    shifted = ROUNDER - square * LOG2_E
    k = shifted - ROUNDER
    r = -square - k * LN2_HIGH - k * LN2_LOW
    power = from_bits((bits(shifted) + 1023) << 52)
    far = 1.0 - power * (1.0 + (r + r * r * exp_tail(r))) * erfc_part((b - 1.25) / (b + 3.0))
    return from_bits(bits(near if a < 1.25 else far) | (bits(x) & SIGN_BIT))


@part
def cbrt_near(m: float) -> float:
    """The cube root from sqrt(1/2) to sqrt(2): degree 9, off by 2**-30.3 of it."""
    return 0.3511245105077292 + m * (
        1.5707987260045233
        + m
        * (
            -2.481733635458321
            + m
            * (
                3.549839066358818
                + m
                * (
                    -3.773093263719872
                    + m
                    * (
                        2.8694229002341034
                        + m * (-1.5148918245905347 + m * (0.5272666805704728 + m * (-0.10882583999657566 + m * 0.010092680169060973)))
                    )
                )
            )
        )
    )


@vectorisable
def vector_cbrt(x: float) -> float:
    """The cube root of ``2**(3 * q + rest) * m``, rest from -1 to 1: that of m by a polynomial, then a step of Newton's."""
    x = float(x)
    a = abs(x)
    lifted = a < SMALLEST_NORMAL
    i = bits(a * LIFT if lifted else a) + TO_ROOT_HALF
    k = from_bits((i >> 52) | WHOLE_BITS) - (LIFTED_ZERO if lifted else EXPONENT_ZERO)
    m = from_bits((i & MANTISSA_BITS) + ROOT_HALF_BITS)
    shifted = k * 0.3333333333333333 + ROUNDER
    rest = k - 3.0 * (shifted - ROUNDER)
    y = cbrt_near(m) * (1.2599210498948732 if rest > 0.0 else (0.7937005259840998 if rest < 0.0 else 1.0))
    m = m * (2.0 if rest > 0.0 else (0.5 if rest < 0.0 else 1.0))
    square = y * y
    y -= (y * square - m) / (3.0 * square)
    y *= from_bits((bits(shifted) + 1023) << 52)
    return from_bits(bits(y) | (bits(x) & SIGN_BIT)) if 0.0 < a < math.inf else x
