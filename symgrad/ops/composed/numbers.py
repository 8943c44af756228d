"""Functions of ``math`` and ``cmath`` on numbers, expressed by others: variadic functions, parts, remainders, tolerances.

They raise Python's exceptions, with the same messages. Source: the Python documentation of ``math``; the remainder is that of IEEE 754.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import numpy as np


def norm_of(*coordinates: Any) -> Any:
    """``math.hypot`` of any number of coordinates; where the first ones are zero, their slopes are zero too."""
    total = 0.0
    for coordinate in coordinates:
        total = math.hypot(total, coordinate) if total else math.fabs(coordinate)
    return total


def dist(p: Any, q: Any) -> Any:
    """``math.dist``: by ``hypot``, whose squares are never too large or too small for floats."""
    if len(p) != len(q):
        raise ValueError("both points must have the same number of dimensions")
    total = 0.0
    for a, b in zip(p, q):
        step = float(a) - float(b)
        total = math.hypot(total, step) if total else math.fabs(step)
    return total


def sumprod(p: Any, q: Any) -> Any:
    """``math.sumprod``."""
    if len(p) != len(q):
        raise ValueError("Inputs are not the same length")
    total = 0
    for a, b in zip(p, q):
        total = total + a * b
    return total


def divisor_of(*integers: Any) -> Any:
    """``math.gcd`` of any number of integers."""
    divisor = 0
    for integer in integers:
        divisor = math.gcd(divisor, integer)
    return divisor


def multiple_of(*integers: Any) -> Any:
    """``math.lcm`` of any number of integers."""
    multiple = 1
    for integer in integers:
        multiple = math.lcm(multiple, integer)
    return multiple


def orders_of(n: Any) -> Any:
    """``math.perm`` of all ``n``."""
    return math.factorial(n)


def frexp(x: Any) -> Any:
    """``math.frexp``: the mantissa, and the power of two."""
    mantissa, power = np.frexp(float(x))
    return float(mantissa), int(power) if math.isfinite(x) else 0


def remainder(x: Any, y: Any) -> Any:
    """``math.remainder``: the difference to the nearest multiple of ``y``; ties go to the even multiple.

    ``fmod`` by ``2 * y`` is exact; the rest is then shifted by ``y`` once or twice.
    """
    unit = math.fabs(y)
    rest = math.fmod(x, 2.0 * unit)
    size = math.fabs(rest)
    step = math.copysign(unit, rest)
    if 2.0 * math.fabs(size - unit) < unit:
        return rest - step
    return rest - step - step if size > unit else rest


def isclose(a: Any, b: Any, *, rel_tol: Any = 1e-09, abs_tol: Any = 0.0) -> Any:
    """``math.isclose``, and ``cmath.isclose``."""
    if rel_tol < 0.0 or abs_tol < 0.0:
        raise ValueError("tolerances must be non-negative")
    if a == b:
        return True
    size, other = abs(a), abs(b)
    if size == math.inf or other == math.inf:
        return False
    gap = abs(a - b)
    return bool(gap <= rel_tol * size or gap <= rel_tol * other or gap <= abs_tol)


def is_integer(x: Any) -> Any:
    """``float.is_integer``."""
    return math.isfinite(x) and x == math.floor(x)


#: functions, with their compositions
NUMBERS: dict[Callable[..., Any], Callable[..., Any]] = {
    math.dist: dist,
    math.frexp: frexp,
    math.remainder: remainder,
    math.isclose: isclose,
    cmath.isclose: isclose,
}
if hasattr(math, "sumprod"):
    NUMBERS[math.sumprod] = sumprod
#: functions whose rows take two arguments, with their compositions for any other number
OF_MANY: dict[Callable[..., Any], Callable[..., Any]] = {
    math.hypot: norm_of,
    math.gcd: divisor_of,
    math.lcm: multiple_of,
    math.perm: orders_of,
}
