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


def polygamma_row(n: int, x: Any) -> Any:
    """The polygamma function: a row where it is inlined."""
    return scipy_special("polygamma")(n, x)


def bessel_j(n: int, x: Any) -> Any:
    """The Bessel function of the first kind: a row where it is inlined."""
    return scipy_special("jv")(n, x)


def bessel_y(n: int, x: Any) -> Any:
    """The Bessel function of the second kind: a row where it is inlined."""
    return scipy_special("yv")(n, x)


def bessel_k(n: int, x: Any) -> Any:
    """The modified Bessel function of the second kind: a row where it is inlined."""
    return scipy_special("kv")(n, x)


def bessel_i(n: int, x: Any) -> Any:
    """The modified Bessel function of the first kind: a row where it is inlined."""
    return scipy_special("iv")(n, x)


def scaled_bessel_i(n: int, x: Any) -> Any:
    """The same, times ``exp(-abs(x))``: a row where it is inlined."""
    return scipy_special("ive")(n, x)


#: the rows of these: their operands, and the call of the row
ROWS_OF: dict[Any, tuple[str, str]] = {
    gammaln: ("x", "lgamma(x, via='scipy')"), polygamma_row: ("n, x", "polygamma(n, x, via='scipy')"), bessel_j: ("n, x", "bessel_j(n, x)"),
    bessel_y: ("n, x", "bessel_y(n, x)"), bessel_k: ("n, x", "bessel_k(n, x)"), bessel_i: ("n, x", "bessel_i(n, x)"),
    scaled_bessel_i: ("n, x", "ive(n, x)"),
}  # fmt: skip


def whole(n: Any) -> None:
    """Refuse an order that is no integer: the derivative by it is not known."""
    need(isinstance(n, int), "this function is supported for an order that is an integer")


def polygamma(n: Any, x: Numbers) -> Any:
    """``scipy.special.polygamma``."""
    whole(n)
    return polygamma_row(n, x)


def jv(v: Any, z: Numbers) -> Any:
    """``scipy.special.jv``."""
    whole(v)
    return bessel_j(v, z)


def yv(v: Any, z: Numbers) -> Any:
    """``scipy.special.yv``."""
    whole(v)
    return bessel_y(v, z)


def kv(v: Any, z: Numbers) -> Any:
    """``scipy.special.kv``."""
    whole(v)
    return bessel_k(v, z)


def iv(v: Any, z: Numbers) -> Any:
    """``scipy.special.iv``."""
    whole(v)
    return bessel_i(v, z)


def ive(v: Any, z: Numbers) -> Any:
    """``scipy.special.ive``."""
    whole(v)
    return scaled_bessel_i(v, z)


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
    made = np.log(np.sum(raised, axis=axis, keepdims=True)) + top
    return made if keepdims else np.squeeze(made, axis=axis)


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
    return np.where(np.abs(r) <= delta, 0.5 * r * r, delta * (np.abs(r) - 0.5 * delta))


def pseudo_huber(delta: Numbers, r: Numbers) -> Any:
    """``scipy.special.pseudo_huber`` of a positive ``delta``."""
    return delta * delta * (np.sqrt(1 + (r / delta) ** 2) - 1)


SPECIAL: dict[str, Any] = {
    "polygamma": polygamma, "jv": jv, "jn": jv, "yv": yv, "yn": yv, "kv": kv, "kn": kv, "iv": iv, "ive": ive, "logsumexp": logsumexp,
    "softmax": softmax, "log_softmax": log_softmax, "softplus": softplus, "betaln": betaln, "beta": beta, "multigammaln": multigammaln,
    "huber": huber, "pseudo_huber": pseudo_huber,
}  # fmt: skip
