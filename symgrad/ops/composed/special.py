"""Functions of ``scipy.special``, expressed by other functions."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from symgrad.ops.composed.refusing import Numbers, must, need
from symgrad.ops.composed.sequences import in_double
from symgrad.tables import named


def scipy_special(name: str) -> Any:
    """A SciPy function, whose module the caller of a composition has imported."""
    return getattr(sys.modules["scipy.special"], name)


def gammaln(x: Any) -> Any:
    """The logarithm of the gamma function: a row where it is inlined."""
    return scipy_special("gammaln")(x)


#: functions inlined as rows: the function, its operands, and the call of the row
ROWS_OF: dict[Any, tuple[str, str]] = {gammaln: ("x", "lgamma(x, via='scipy')")}


def inlined(name: str, operands: str, call: str = "", place: int | None = None) -> Any:
    """A function of SciPy's, or one of its results: a row where it is inlined, of the same name unless the call says another."""

    def function(*operands: Any) -> Any:
        results = scipy_special(name)(*operands)
        return results if place is None else results[place]

    function.__name__ = name  # refusals of the row contain the name
    ROWS_OF[function] = operands, call or f"{name}({operands})"
    return function


def inlined_results(name: str, operand: str, rows: str) -> Any:
    """The results of a function of SciPy's, each a row of one operand."""
    return (inlined(name, operand, f"{row}({operand})", place) for place, row in enumerate(rows.split()))


polygamma_row = inlined("polygamma", "n, x", "polygamma(n, x, via='scipy')")
yv_row, kv_row = inlined("yv", "n, x", "bessel_y(n, x)"), inlined("kv", "n, x", "bessel_k(n, x)")
lambertw_row, zeta_row, wofz_row = inlined("lambertw", "z, k"), inlined("zeta", "x, q"), inlined("wofz", "z")
airy_ai, airy_ai_slope, airy_bi, airy_bi_slope = inlined_results("airy", "z", "airy_ai airy_ai_slope airy_bi airy_bi_slope")
sine_integral, cosine_integral = inlined_results("sici", "x", "sine_integral cosine_integral")
sinh_integral, cosh_integral = inlined_results("shichi", "x", "sinh_integral cosh_integral")
fresnel_sine, fresnel_cosine = inlined_results("fresnel", "x", "fresnel_sine fresnel_cosine")
spherical_jn_row, spherical_yn_row = inlined("spherical_jn", "n, x"), inlined("spherical_yn", "n, x")
spherical_in_row, spherical_kn_row = inlined("spherical_in", "n, x"), inlined("spherical_kn", "n, x")
gammainc_row, gammaincc_row, gammainccinv_row = (inlined(name, "a, x") for name in ("gammainc", "gammaincc", "gammainccinv"))
betainc_row, betaincc_row, betaincinv_row = (inlined(name, "a, b, x") for name in ("betainc", "betaincc", "betaincinv"))
ndtr_row, log_ndtr_row, ndtri_exp_row = inlined("ndtr", "x"), inlined("log_ndtr", "x"), inlined("ndtri_exp", "x")
eval_jacobi_row, owens_t_row = inlined("eval_jacobi", "n, a, b, x"), inlined("owens_t", "h, a")


def of_whole_order(row: Any) -> Any:
    """A function whose order must be an integer, as in SciPy."""

    def function(n: Any, x: Numbers) -> Any:
        need(isinstance(n, int), "this function is supported for an order that is an integer")
        return row(n, x)

    return function


def lambertw(z: Numbers, k: Any = 0, tol: Any = 1e-8) -> Any:
    """``scipy.special.lambertw``, a complex number; at the branch point ``-exp(-1)`` its slope is infinite."""
    need(tol == 1e-8, "tol of scipy.special.lambertw is not supported")
    return lambertw_row(z, k)


def zeta(x: Numbers, q: Any = None) -> Any:
    """``scipy.special.zeta`` of Hurwitz, whose slope by ``q`` is known."""
    need(
        q is not None,
        "scipy.special.zeta has a slope by its argument q only; call it in a function with a symgrad.custom_vjp",
    )
    return zeta_row(x, q)


def airy(z: Numbers) -> Any:
    """``scipy.special.airy``: Ai, its slope, Bi, and its slope."""
    return airy_ai(z), airy_ai_slope(z), airy_bi(z), airy_bi_slope(z)


def sici(x: Numbers) -> Any:
    """``scipy.special.sici``."""
    return sine_integral(x), cosine_integral(x)


def shichi(x: Numbers) -> Any:
    """``scipy.special.shichi``."""
    return sinh_integral(x), cosh_integral(x)


def fresnel(z: Numbers) -> Any:
    """``scipy.special.fresnel``."""
    return fresnel_sine(z), fresnel_cosine(z)


def spherical(row: Any, sign: int, next_sign: int) -> Any:
    """A spherical Bessel function, or its slope by DLMF 10.51."""

    def function(n: Any, z: Numbers, derivative: Any = False) -> Any:
        need(isinstance(n, int), "the order of spherical Bessel functions is supported as an integer")
        if not derivative:
            return row(n, z)
        below = n * row(n - 1, z) if n > 0 else 0.0
        return sign * (below + next_sign * (n + 1) * row(n + 1, z)) / (2 * n + 1)

    return function


def voigt_profile(x: Numbers, sigma: Numbers, gamma: Numbers) -> Any:
    """``scipy.special.voigt_profile`` of a positive ``sigma``: DLMF 7.19."""
    must(np.all(sigma > 0), "scipy.special.voigt_profile is supported for a sigma that is positive")
    x, width = in_double(x), in_double(sigma) * math.sqrt(2)
    return np.real(wofz_row((x + 1j * in_double(gamma)) / width)) / (width * math.sqrt(math.pi))


def logsumexp(a: Numbers, axis: Any = None, b: Numbers = None, keepdims: Any = False) -> Any:
    """``scipy.special.logsumexp``: the largest is factored out, so that nothing overflows."""
    whole = axis is None and not keepdims
    top = np.max(a) if whole else np.max(a, axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    raised = np.exp(a - top)
    if b is not None:
        raised = b * raised
    if whole:
        return np.log(np.sum(raised)) + top
    log_sum = np.log(np.sum(raised, axis=axis, keepdims=True)) + top
    return log_sum if keepdims else np.squeeze(log_sum, axis=axis)[()]


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


def eval_sh_legendre(n: Any, x: Numbers) -> Any:
    """``scipy.special.eval_sh_legendre``."""
    return eval_jacobi_row(n, 0.0, 0.0, 2 * x - 1)


def narrowed(result: Any, x: Any) -> Any:
    """A result in single precision where the operand is."""
    return result.astype(np.float32) if np.asarray(x).dtype == np.float32 else result


def chdtr(v: Any, x: Numbers) -> Any:
    """``scipy.special.chdtr``: the distribution function of chi-square."""
    return narrowed(gammainc_row(v / 2, x / 2), x)


def chdtrc(v: Any, x: Numbers) -> Any:
    """``scipy.special.chdtrc``: one minus it."""
    return narrowed(gammaincc_row(v / 2, x / 2), x)


def chdtri(v: Any, p: Numbers) -> Any:
    """``scipy.special.chdtri``: the inverse of that."""
    return narrowed(2 * gammainccinv_row(v / 2, p), p)


def gdtr(a: Numbers, b: Any, x: Numbers) -> Any:
    """``scipy.special.gdtr``: the distribution function of gamma."""
    return narrowed(gammainc_row(b, a * x), x)


def gdtrc(a: Numbers, b: Any, x: Numbers) -> Any:
    """``scipy.special.gdtrc``: one minus it."""
    return narrowed(gammaincc_row(b, a * x), x)


def fdtr(dfn: Any, dfd: Any, x: Numbers) -> Any:
    """``scipy.special.fdtr``: the distribution function of F."""
    return narrowed(betainc_row(dfn / 2, dfd / 2, dfn * x / (dfd + dfn * x)), x)


def fdtrc(dfn: Any, dfd: Any, x: Numbers) -> Any:
    """``scipy.special.fdtrc``: one minus it."""
    return narrowed(betainc_row(dfd / 2, dfn / 2, dfd / (dfd + dfn * x)), x)


def fdtri(dfn: Any, dfd: Any, p: Numbers) -> Any:
    """``scipy.special.fdtri``: the inverse of ``fdtr``."""
    share = betaincinv_row(dfn / 2, dfd / 2, p)
    return narrowed(dfd * share / (dfn * (1.0 - share)), p)


def pdtr(k: Any, m: Numbers) -> Any:
    """``scipy.special.pdtr``: the distribution function of Poisson's distribution."""
    return narrowed(gammaincc_row((k if isinstance(k, int) else np.floor(k)) + 1.0, m), m)


def pdtrc(k: Any, m: Numbers) -> Any:
    """``scipy.special.pdtrc``: one minus it."""
    return narrowed(gammainc_row((k if isinstance(k, int) else np.floor(k)) + 1.0, m), m)


SPECIAL: dict[str, Any] = (
    named(logsumexp, softmax, log_softmax, softplus, betaln, beta, multigammaln, huber, pseudo_huber, lambertw, zeta, airy, sici)
    | named(shichi, fresnel, voigt_profile, eval_sh_legendre, chdtr, chdtrc, chdtri, gdtr, gdtrc, fdtr, fdtrc, fdtri, pdtr, pdtrc)
    | named(polygamma=of_whole_order(polygamma_row), yn=of_whole_order(yv_row), kn=of_whole_order(kv_row))
    | named(spherical_jn=spherical(spherical_jn_row, 1, -1), spherical_yn=spherical(spherical_yn_row, 1, -1))
    | named(spherical_in=spherical(spherical_in_row, 1, 1), spherical_kn=spherical(spherical_kn_row, -1, 1))
)
