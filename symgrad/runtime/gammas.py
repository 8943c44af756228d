"""Run-time support of kernels: derivatives of the gamma function, for one number at a time.

By recurrence to where the asymptotic series holds: Abramowitz and Stegun, Handbook of Mathematical Functions (1964), 6.3.5, 6.3.7,
6.3.18, 6.4.6, 6.4.7 and 6.4.12.
"""

from __future__ import annotations

import math

from symgrad.runtime.vector import compiled

FAR = 12.0  #: from here on the series below are exact to the last bits


@compiled(forceinline=False)
def digamma_of(x: float) -> float:
    """Return the derivative of ``log(gamma(x))``; NaN at its poles.

    >>> round(digamma_of(1.0), 14)
    -0.57721566490153
    """
    total = 0.0
    if x < 0.5:
        if x == math.floor(x):
            return math.nan
        total -= math.pi / math.tan(math.pi * (x - round(x)))
        x = 1.0 - x
    while x < FAR:
        total -= 1.0 / x
        x += 1.0
    s = 1.0 / (x * x)
    series = s * (1 / 12 - s * (1 / 120 - s * (1 / 252 - s * (1 / 240 - s * (1 / 132 - s * (691 / 32760 - s / 12))))))
    return total + (math.log(x) - 0.5 / x - series)


@compiled(forceinline=False)
def trigamma_of(x: float) -> float:
    """Return the second derivative of ``log(gamma(x))``; NaN at its poles.

    >>> round(trigamma_of(1.0) - math.pi**2 / 6, 14)
    0.0
    """
    total, sign = 0.0, 1.0
    if x < 0.5:
        if x == math.floor(x):
            return math.nan
        total = (math.pi / math.sin(math.pi * (x - round(x)))) ** 2
        x, sign = 1.0 - x, -1.0
    while x < FAR:
        total += sign / (x * x)
        x += 1.0
    s = 1.0 / (x * x)
    series = s * (1 / 6 - s * (1 / 30 - s * (1 / 42 - s * (1 / 30 - s * (5 / 66 - s * (691 / 2730 - s * 7 / 6))))))
    return total + sign * (1.0 / x + 0.5 * s + series / x)
