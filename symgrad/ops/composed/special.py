"""Functions of ``scipy.special`` said in others."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from symgrad.ops.composed.refusing import Numbers, need


def scipy_special(name: str) -> Any:
    """A function of SciPy's, which whoever calls a composition has imported."""
    return getattr(sys.modules["scipy.special"], name)


def gammaln(x: Any) -> Any:
    """The logarithm of the gamma function: a row where it is inlined."""
    return scipy_special("gammaln")(x)


def of_order(name: str) -> Any:
    """A function of SciPy's of an order and a number: a row where it is inlined."""
    return lambda n, x: scipy_special(name)(n, x)


#: the rows of functions of an order that is an integer: their calls
ORDERS: dict[str, str] = {
    "polygamma": "polygamma(n, x, via='scipy')", "jv": "bessel_j(n, x)", "yv": "bessel_y(n, x)", "kv": "bessel_k(n, x)",
    "iv": "bessel_iv(n, x)", "ive": "ive(n, x)",
}  # fmt: skip
INLINED = {name: of_order(name) for name in ORDERS}
#: the rows of what is inlined: their operands, and the call of the row
ROWS_OF: dict[Any, tuple[str, str]] = {
    gammaln: ("x", "lgamma(x, via='scipy')"),
    **{INLINED[name]: ("n, x", call) for name, call in ORDERS.items()},
}


def of_whole_order(row: Any) -> Any:
    """The same of an order that is held to be an integer, since the derivative by it is not known."""

    def function(n: Any, x: Numbers) -> Any:
        need(isinstance(n, int), "this function is supported for an order that is an integer")
        return row(n, x)

    return function


def logsumexp(a: Numbers, axis: Any = None, b: Numbers = None, keepdims: Any = False) -> Any:
    """``scipy.special.logsumexp``: the largest is taken out, so that nothing overflows."""
    whole = axis is None and not keepdims
    top = np.max(a) if whole else np.max(a, axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    raised = np.exp(a - top)
    if b is not None:
        raised = b * raised
    if whole:
        return np.log(np.sum(raised)) + top
    log_sum = np.log(np.sum(raised, axis=axis, keepdims=True)) + top
    return log_sum if keepdims else np.squeeze(log_sum, axis=axis)


def softmax(x: Numbers, axis: Any = None) -> Any:
    """``scipy.special.softmax``."""
    raised = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return raised / np.sum(raised, axis=axis, keepdims=True)


def log_softmax(x: Numbers, axis: Any = None) -> Any:
    """``scipy.special.log_softmax``."""
    apart = x - np.max(x, axis=axis, keepdims=True)
    return apart - np.log(np.sum(np.exp(apart), axis=axis, keepdims=True))


def softplus(x: Numbers) -> Any:
    """``scipy.special.softplus``."""
    return np.logaddexp(0.0, x)


def betaln(a: Numbers, b: Numbers) -> Any:
    """``scipy.special.betaln`` of positive numbers."""
    return gammaln(a) + gammaln(b) - gammaln(a + b)


def beta(a: Numbers, b: Numbers) -> Any:
    """``scipy.special.beta`` of positive numbers."""
    return np.exp(betaln(a, b))


def multigammaln(a: Any, d: Any) -> Any:
    """``scipy.special.multigammaln``."""
    total = d * (d - 1) * 0.25 * math.log(math.pi)
    for j in range(1, d + 1):
        total = total + gammaln(a + (1.0 - j) / 2)
    return total


def huber(delta: Numbers, r: Numbers) -> Any:
    """``scipy.special.huber`` of a ``delta`` that is not negative."""
    return np.where(np.abs(r) <= delta, 0.5 * r * r, delta * (np.abs(r) - 0.5 * delta))[()]


def pseudo_huber(delta: Numbers, r: Numbers) -> Any:
    """``scipy.special.pseudo_huber`` of a positive ``delta``."""
    return delta * delta * (np.sqrt(1 + (r / delta) ** 2) - 1)


SPECIAL: dict[str, Any] = {
    **{name: of_whole_order(row) for name, row in INLINED.items()}, "logsumexp": logsumexp, "softmax": softmax,
    "log_softmax": log_softmax, "softplus": softplus, "betaln": betaln, "beta": beta, "multigammaln": multigammaln, "huber": huber,
    "pseudo_huber": pseudo_huber,
}  # fmt: skip
SPECIAL |= {older: SPECIAL[name] for older, name in (("jn", "jv"), ("yn", "yv"), ("kn", "kv"))}
