"""SciPy functions that numba lacks, composed of functions that it has, by SciPy's formulas.

Each takes ``call``, which appends a row and returns its value, and ``words``, the prefix of the names ``exp``,
``log`` and ``log1p``: empty for a scalar, ``vector_`` in loops to be vectorised.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from symgrad.ir.core import Const, Operand

Call = Callable[..., Operand]

ZERO, ONE, HALF = Const(0.0), Const(1.0), Const(0.5)
INFINITE = Const(math.inf)
ROOT = Const(math.sqrt(0.5))
FAR = Const(-36.0)  #: below, the probability of the tail is too small for a float, though its logarithm is not
SCALED = Const(26.0)  #: above, ``exp(x * x)`` is too large for a float, and ``erfc(x)`` too small
TAIL = Const(12.0)  #: above, the slopes of ``erfcx`` have no digits but by its asymptotic series


def expit(call: Call, words: str, x: Operand) -> Operand:
    """The logistic function."""
    return call("divide", ONE, call("add", ONE, call(f"{words}exp", call("negative", x))))


def log_expit(call: Call, words: str, x: Operand) -> Operand:
    """Its logarithm: the exponential is of what is negative."""
    rest = call(f"{words}log1p", call(f"{words}exp", call("negative", call("abs", x))))
    return call("subtract", call("where", call("less", x, ZERO), x, ZERO), rest)


def logit(call: Call, words: str, x: Operand) -> Operand:
    """The inverse; near a half by how far x is from it."""
    plain = call(f"{words}log", call("divide", x, call("subtract", ONE, x)))
    twice = call("multiply", Const(2.0), call("subtract", x, HALF))
    near = call("subtract", call(f"{words}log1p", twice), call(f"{words}log1p", call("negative", twice)))
    outside = call("logical_or", call("less", x, Const(0.3)), call("greater", x, Const(0.65)))
    return call("where", outside, plain, near)


def ndtr(call: Call, words: str, x: Operand) -> Operand:
    """The distribution function of the normal distribution."""
    return call("multiply", HALF, call("erfc", call("negative", call("multiply", x, ROOT)), via="math"))


def log_ndtr(call: Call, words: str, x: Operand) -> Operand:
    """Its logarithm: of the upper half by what is missing from 1."""
    tail = call("multiply", HALF, call("erfc", call("multiply", call("abs", x), ROOT), via="math"))
    upper = call(f"{words}log1p", call("negative", tail))
    return call("where", call("less", x, ZERO), call(f"{words}log", tail), upper)


def erfcx(call: Call, words: str, x: Operand) -> Operand:
    """``exp(x * x) * erfc(x)``."""
    return call("multiply", call("exp", call("multiply", x, x)), call("erfc", x, via="math"))


def erfcx_slope(call: Call, words: str, x: Operand, value: Operand, order: int) -> Operand:
    """The derivative of this order, by the recurrence of DLMF 7.10."""
    twice = call("multiply", Const(2.0), x)
    before, slope = value, call("subtract", call("multiply", twice, value), Const(2 / math.sqrt(math.pi)))
    for k in range(1, order):
        before, slope = slope, call("add", call("multiply", twice, slope), call("multiply", Const(2.0 * k), before))
    return slope


def xlogy(call: Call, words: str, x: Operand, y: Operand) -> Operand:
    """``x * log(y)``, 0 where x is and y is a number."""
    return unless_zero(call, x, y, call("multiply", x, call(f"{words}log", y)))


def xlog1py(call: Call, words: str, x: Operand, y: Operand) -> Operand:
    """``x * log1p(y)``, 0 where x is and y is a number."""
    return unless_zero(call, x, y, call("multiply", x, call(f"{words}log1p", y)))


def unless_zero(call: Call, x: Operand, y: Operand, product: Operand) -> Operand:
    """A product, 0 where its first factor is and y is not nan."""
    return call("where", call("logical_and", call("equal", x, ZERO), call("equal", y, y)), ZERO, product)


def entr(call: Call, words: str, x: Operand) -> Operand:
    """``-x * log(x)``, 0 of 0, minus infinity below."""
    product = call("negative", call("multiply", x, call(f"{words}log", x)))
    rest = call("where", call("less", x, ZERO), Const(-math.inf), product)
    return call("where", call("equal", x, ZERO), ZERO, rest)


def rel_entr(call: Call, words: str, x: Operand, y: Operand) -> Operand:
    """``x * log(x / y)``, 0 where x is and y is not below 0, infinite elsewhere."""
    return divergence(call, x, y, call("multiply", x, call(f"{words}log", call("divide", x, y))), ZERO)


def kl_div(call: Call, words: str, x: Operand, y: Operand) -> Operand:
    """``x * log(x / y) - x + y``, y where x is 0 and y is not below, infinite elsewhere."""
    product = call("multiply", x, call(f"{words}log", call("divide", x, y)))
    return divergence(call, x, y, call("add", call("subtract", product, x), y), y)


def divergence(call: Call, x: Operand, y: Operand, inside: Operand, at_zero: Operand) -> Operand:
    """One thing where both are above 0, another where x is 0 and y is not below, infinite elsewhere; nan where one is nan."""
    outside = call("where", call("logical_and", call("equal", x, ZERO), call("greater_equal", y, ZERO)), at_zero, INFINITE)
    known = call("where", call("logical_and", call("greater", x, ZERO), call("greater", y, ZERO)), inside, outside)
    some = call("add", x, y)
    both = call("logical_and", call("equal", x, x), call("equal", y, y))
    return call("where", both, known, some)


PROBABILITIES: dict[str, Callable[..., Operand]] = {
    f.__name__: f for f in (expit, log_expit, logit, ndtr, log_ndtr, erfcx, xlogy, xlog1py, entr, rel_entr, kl_div)
}
#: where a function is not computed as above: a comparison of its operand with a bound
OUTSIDE: dict[str, tuple[str, Const]] = {"log_ndtr": ("less", FAR), "erfcx": ("greater", SCALED)}
