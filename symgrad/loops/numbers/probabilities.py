"""SciPy functions that numba lacks, composed of functions that it has, by SciPy's formulas.

Each takes ``call``, which appends a row and returns its value, and ``words``. The latter is the prefix of the
names ``exp``, ``log`` and ``log1p``: empty for a scalar, ``vector_`` in loops to be vectorised.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from symgrad.ir.core import Const, Operand

Call = Callable[..., Operand]

ZERO, ONE, HALF = Const(0.0), Const(1.0), Const(0.5)
INFINITE = Const(math.inf)
ROOT = Const(math.sqrt(0.5))
FAR = Const(-36.0)  #: below, the tail probability underflows, but its logarithm does not
SCALED = Const(26.0)  #: above, ``exp(x * x)`` overflows, and ``erfc(x)`` underflows
TAIL = Const(12.0)  #: above, only the asymptotic series computes the slopes of ``erfcx`` with any precision


def expit(call: Call, words: str, x: Operand) -> Operand:
    """The logistic function."""
    return call("divide", ONE, call("add", ONE, call(f"{words}exp", call("negative", x))))


def log_expit(call: Call, words: str, x: Operand) -> Operand:
    """The logarithm of the logistic function: the exponential has a negative argument."""
    rest = call(f"{words}log1p", call(f"{words}exp", call("negative", call("abs", x))))
    return call("subtract", call("where", call("less", x, ZERO), x, ZERO), rest)


def logit(call: Call, words: str, x: Operand) -> Operand:
    """The inverse of the logistic function; near a half by the distance from it."""
    plain = call(f"{words}log", call("divide", x, call("subtract", ONE, x)))
    twice = call("multiply", Const(2.0), call("subtract", x, HALF))
    near = call("subtract", call(f"{words}log1p", twice), call(f"{words}log1p", call("negative", twice)))
    outside = call("logical_or", call("less", x, Const(0.3)), call("greater", x, Const(0.65)))
    return call("where", outside, plain, near)


def ndtr(call: Call, words: str, x: Operand) -> Operand:
    """The distribution function of the normal distribution."""
    return call("multiply", HALF, call("erfc", call("negative", call("multiply", x, ROOT)), via="math"))


def log_ndtr(call: Call, words: str, x: Operand) -> Operand:
    """The logarithm of ``ndtr``: in the upper half by the distance from 1."""
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
    """``x * log(y)``; 0 if x is 0 and y is not nan."""
    return unless_zero(call, x, y, call("multiply", x, call(f"{words}log", y)))


def xlog1py(call: Call, words: str, x: Operand, y: Operand) -> Operand:
    """``x * log1p(y)``; 0 if x is 0 and y is not nan."""
    return unless_zero(call, x, y, call("multiply", x, call(f"{words}log1p", y)))


def unless_zero(call: Call, x: Operand, y: Operand, product: Operand) -> Operand:
    """A product; 0 if its first factor is 0 and y is not nan."""
    return call("where", call("logical_and", call("equal", x, ZERO), call("equal", y, y)), ZERO, product)


def entr(call: Call, words: str, x: Operand) -> Operand:
    """``-x * log(x)``; 0 for 0, minus infinity below."""
    product = call("negative", call("multiply", x, call(f"{words}log", x)))
    rest = call("where", call("less", x, ZERO), Const(-math.inf), product)
    return call("where", call("equal", x, ZERO), ZERO, rest)


def rel_entr(call: Call, words: str, x: Operand, y: Operand) -> Operand:
    """``x * log(x / y)``; 0 if x is 0 and y is at least 0, infinite for other operands that are not positive."""
    return divergence(call, x, y, call("multiply", x, call(f"{words}log", call("divide", x, y))), ZERO)


def kl_div(call: Call, words: str, x: Operand, y: Operand) -> Operand:
    """``x * log(x / y) - x + y``; y if x is 0 and y is at least 0, infinite for other operands that are not positive."""
    product = call("multiply", x, call(f"{words}log", call("divide", x, y)))
    return divergence(call, x, y, call("add", call("subtract", product, x), y), y)


def divergence(call: Call, x: Operand, y: Operand, inside: Operand, at_zero: Operand) -> Operand:
    """``inside`` if both are positive, ``at_zero`` if x is 0 and y is at least 0, else infinite; nan if one is nan."""
    outside = call("where", call("logical_and", call("equal", x, ZERO), call("greater_equal", y, ZERO)), at_zero, INFINITE)
    known = call("where", call("logical_and", call("greater", x, ZERO), call("greater", y, ZERO)), inside, outside)
    some = call("add", x, y)
    both = call("logical_and", call("equal", x, x), call("equal", y, y))
    return call("where", both, known, some)


PROBABILITIES: dict[str, Callable[..., Operand]] = {
    f.__name__: f for f in (expit, log_expit, logit, ndtr, log_ndtr, erfcx, xlogy, xlog1py, entr, rel_entr, kl_div)
}
#: the comparison that marks the range in which a function is computed otherwise
OUTSIDE: dict[str, tuple[str, Const]] = {"log_ndtr": ("less", FAR), "erfcx": ("greater", SCALED)}
