"""Makes the coefficients of ``vector.py`` and ``circular.py`` in ``symgrad/runtime``.

``python tests/runtime/polynomials.py`` prints them with their errors.

Each polynomial interpolates at the Chebyshev nodes of its interval, which costs at most a bit or two against the best there is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath
from mpmath import mp, mpf

Real = Callable[[Any], Any]
LN2, ROOT2 = mpmath.log(2), mpmath.sqrt(2)
#: a little more than the argument reduction leaves, because it rounds
MARGIN = mpf("1.0001")


@dataclass(frozen=True)
class Polynomial:
    """What is approximated, where, and what an error of it is to be compared with."""

    function: Real
    low: Any
    high: Any
    degree: int
    share: Real


def atanh_term(z: Any) -> Any:
    """``2 * atanh(s) / s`` for ``z = s**2``."""
    return 2 * mpmath.atanh(mpmath.sqrt(z)) / mpmath.sqrt(z)


HALF_LN2 = LN2 / 2 * MARGIN
ATANH = ((ROOT2 - 1) / (ROOT2 + 1)) ** 2 * mpf("1.001")
QUARTER_PI = (mp.pi / 4 * mpf("1.001")) ** 2
EIGHTH_PI = (mpmath.tan(mp.pi / 8) * mpf("1.001")) ** 2


def erf_share(z: Any) -> Any:
    """``erf(x) / x`` for ``z = x**2``."""
    return mpmath.erf(mpmath.sqrt(z)) / mpmath.sqrt(z)


def far(u: Any) -> Any:
    """The x of which u is ``(x - 1.25) / (x + 3)``."""
    return (mpf("1.25") + 3 * u) / (1 - u)


#: by the function that evaluates them; those of a square z are odd or even functions of its root
POLYNOMIALS = {
    "exp_tail": Polynomial(lambda r: (mpmath.expm1(r) - r) / r**2, -HALF_LN2, HALF_LN2, 9, lambda r: r * r / mpmath.exp(r)),
    "exp_tail_above": Polynomial(
        lambda r: (mpmath.expm1(r) - r) / r**2, mpf("-0.0003"), LN2 + mpf("0.0003"), 10, lambda r: r * r / mpmath.expm1(r)
    ),
    "log_tail": Polynomial(lambda z: (atanh_term(z) - 2) / z, 0, ATANH, 6, lambda z: z / 2),
    "power_tail": Polynomial(lambda z: ((atanh_term(z) - 2) / z - mpf(2) / 3) / z, 0, ATANH, 7, lambda z: z * z / 2),
    "sine_tail": Polynomial(lambda z: (mpmath.sinc(mpmath.sqrt(z)) - 1) / z, 0, QUARTER_PI, 5, lambda z: z / mpmath.sinc(mpmath.sqrt(z))),
    "cosine_tail": Polynomial(
        lambda z: (mpmath.cos(mpmath.sqrt(z)) - 1 + z / 2) / z**2, 0, QUARTER_PI, 5, lambda z: z * z / mpmath.cos(mpmath.sqrt(z))
    ),
    "arctan_tail": Polynomial(
        lambda z: (mpmath.atan(mpmath.sqrt(z)) / mpmath.sqrt(z) - 1) / z, 0, EIGHTH_PI, 10, lambda z: z * mpmath.sqrt(z) / mpmath.atan(mpmath.sqrt(z))
    ),
    "erf_tail": Polynomial(lambda z: erf_share(z) - 1, 0, mpf("1.5626"), 13, lambda z: 1 / erf_share(z)),
    "erfc_part": Polynomial(
        lambda u: mpmath.erfc(far(u)) * mpmath.exp(far(u) ** 2), mpf("-0.0001"), mpf("4.75") / 9, 13, lambda u: mpmath.exp(-(far(u) ** 2))
    ),
    "cbrt_near": Polynomial(mpmath.cbrt, mpf("0.707"), mpf("1.4143"), 9, lambda m: 1 / mpmath.cbrt(m)),
}  # fmt: skip


def fit(polynomial: Polynomial) -> list[float]:
    """The coefficients, lowest first, rounded."""
    count = polynomial.degree + 1
    with mpmath.workdps(80):
        middle, half = (polynomial.high + polynomial.low) / 2, (polynomial.high - polynomial.low) / mpf(2)
        nodes = [middle + half * mpmath.cos(mp.pi * (2 * i + 1) / (2 * count)) for i in range(count)]
        matrix = mpmath.matrix([[node**power for power in range(count)] for node in nodes])
        return [float(c) for c in mpmath.lu_solve(matrix, mpmath.matrix([polynomial.function(node) for node in nodes]))]


def error(polynomial: Polynomial, coefficients: list[float]) -> float:
    """The largest error found, relative to what the polynomial is a part of, as a power of 2."""
    worst = mpf(0)
    with mpmath.workdps(80):
        for i in range(400):
            t = polynomial.low + (polynomial.high - polynomial.low) * mpf(2 * i + 1) / 800
            off = mpmath.polyval([mpf(c) for c in reversed(coefficients)], t) - polynomial.function(t)
            worst = max(worst, abs(off * polynomial.share(t)))
        return float(mpmath.log(worst, 2))


if __name__ == "__main__":
    for name, polynomial in POLYNOMIALS.items():
        coefficients = fit(polynomial)
        print(f"{name}: off by 2**{error(polynomial, coefficients):.1f}", *map(repr, coefficients), sep="\n    ")
