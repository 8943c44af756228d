"""Private C++ functions of ``scipy.special`` that the formulas of ``scipy.stats`` call, expressed by public ones.

Formulas: Johnson, Kotz and Balakrishnan, Continuous Univariate Distributions (1994); Azzalini, A class of distributions which includes
the normal ones (1985), for the skew normal one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.ops.composed.distributions import betainc, ndtr, xlog1py, xlogy
from symgrad.ops.composed.special import betaincc_row, betaincinv_row, gammaln, narrowed, owens_t_row


def beta_pdf(x: Any, a: Any, b: Any) -> Any:
    """The density of beta."""
    return narrowed(np.exp(xlogy(a - 1.0, x) + xlog1py(b - 1.0, -x) + gammaln(a + b) - gammaln(a) - gammaln(b)), x)


def beta_ppf(q: Any, a: Any, b: Any) -> Any:
    """The quantile of beta."""
    return betaincinv_row(a, b, q)


def binom_pmf(k: Any, n: Any, p: Any) -> Any:
    """The mass of the binomial distribution."""
    return np.exp(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0) + xlogy(k, p) + xlog1py(n - k, -p))


def binom_cdf(k: Any, n: Any, p: Any) -> Any:
    """Its distribution function, below ``n``."""
    return betaincc_row(k + 1.0, n - k, p)


def binom_sf(k: Any, n: Any, p: Any) -> Any:
    """One minus it."""
    return betainc(k + 1.0, n - k, p)


def nbinom_pmf(k: Any, n: Any, p: Any) -> Any:
    """The mass of the negative binomial distribution."""
    return np.exp(gammaln(n + k) - gammaln(k + 1.0) - gammaln(n) + n * np.log(p) + xlog1py(k, -p))


def nbinom_cdf(k: Any, n: Any, p: Any) -> Any:
    """Its distribution function."""
    return betainc(n, k + 1.0, p)


def nbinom_sf(k: Any, n: Any, p: Any) -> Any:
    """One minus it."""
    return betaincc_row(n, k + 1.0, p)


def skewnorm_cdf(x: Any, loc: Any, scale: Any, a: Any) -> Any:
    """The distribution function of the skew normal distribution, by Owen's T."""
    z = (x - loc) / scale
    return ndtr(z) - 2.0 * owens_t_row(z, a)


def cauchy_ppf(q: Any, loc: Any, scale: Any) -> Any:
    """The quantile of Cauchy's distribution."""
    return loc - scale / np.tan(math.pi * q)


def cauchy_isf(q: Any, loc: Any, scale: Any) -> Any:
    """The same from above."""
    return loc + scale / np.tan(math.pi * q)


OF_BOOST: dict[str, Callable[..., Any]] = {
    f"_{function.__name__}": function
    for function in (
        *(beta_pdf, beta_ppf, binom_pmf, binom_cdf, binom_sf, nbinom_pmf, nbinom_cdf, nbinom_sf, skewnorm_cdf, cauchy_ppf, cauchy_isf),
    )
}
