"""Densities and distribution functions of ``scipy.stats``, expressed by special functions.

Formulas: Johnson, Kotz and Balakrishnan, Continuous Univariate Distributions (1994); for counts, Univariate Discrete Distributions (2005).
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from symgrad.kinds import distribution_name
from symgrad.ops.composed.refusing import Numbers, must, need
from symgrad.ops.composed.solving import triangular
from symgrad.ops.composed.special import gammaln, scipy_special
from symgrad.ops.composed.truncated import TRUNCATED

#: the logarithm of the square root of two pi
HALF_LOG = 0.5 * math.log(2 * math.pi)


def ndtr(x: Any) -> Any:
    """The distribution function of the normal distribution: a row where it is inlined."""
    return scipy_special("ndtr")(x)


def log_ndtr(x: Any) -> Any:
    """Its logarithm: a row where it is inlined."""
    return scipy_special("log_ndtr")(x)


def ndtri(x: Any) -> Any:
    """Its inverse: a row where it is inlined."""
    return scipy_special("ndtri")(x)


def xlogy(x: Any, y: Any) -> Any:
    """``x * log(y)``, 0 where x is: a row where it is inlined."""
    return scipy_special("xlogy")(x, y)


def xlog1py(x: Any, y: Any) -> Any:
    """``x * log1p(y)``, 0 where x is: a row where it is inlined."""
    return scipy_special("xlog1py")(x, y)


def expit(x: Any) -> Any:
    """The logistic function: a row where it is inlined."""
    return scipy_special("expit")(x)


def gammainc(a: Any, x: Any) -> Any:
    """The regularized incomplete gamma function: a row where it is inlined."""
    return scipy_special("gammainc")(a, x)


def gammaincc(a: Any, x: Any) -> Any:
    """One minus it: a row where it is inlined."""
    return scipy_special("gammaincc")(a, x)


def betainc(a: Any, b: Any, x: Any) -> Any:
    """The regularized incomplete beta function: a row where it is inlined."""
    return scipy_special("betainc")(a, b, x)


#: the rows of these: their operands, and the call of the row
ROWS_OF: dict[Any, tuple[str, str]] = {
    **{f: ("x", f"{f.__name__}(x)") for f in (ndtr, log_ndtr, ndtri, expit)},
    **{f: ("x, y", f"{f.__name__}(x, y)") for f in (xlogy, xlog1py)},
    **{f: ("a, x", f"{f.__name__}(a, x)") for f in (gammainc, gammaincc)},
    betainc: ("a, b, x", "betainc(a, b, x)"),
}

# ------------------------------------------------------------------ normal


def norm_logpdf(x: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    z = (x - loc) / scale
    return -0.5 * z * z - HALF_LOG - np.log(scale)


def norm_pdf(x: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    z = (x - loc) / scale
    return np.exp(-0.5 * z * z) / (math.sqrt(2 * math.pi) * scale)


def norm_cdf(x: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    return ndtr((x - loc) / scale)


def norm_logcdf(x: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    return log_ndtr((x - loc) / scale)


def norm_sf(x: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    return ndtr((loc - x) / scale)


def norm_logsf(x: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    return log_ndtr((loc - x) / scale)


def norm_ppf(q: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    return loc + scale * ndtri(q)


def norm_isf(q: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    return loc - scale * ndtri(q)


def lognorm_logpdf(x: Numbers, s: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    z = (x - loc) / scale
    log_z = np.log(positive(z))
    return np.where(z <= 0, -math.inf, -0.5 * (log_z / s) ** 2 - HALF_LOG - np.log(s) - log_z - np.log(scale))[()]


def lognorm_cdf(x: Numbers, s: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    z = (x - loc) / scale
    return np.where(z <= 0, 0.0, ndtr(np.log(positive(z)) / s))[()]


# ------------------------------------------------------------------ on half a line


def positive(z: Numbers) -> Any:
    """Replace numbers that are not positive by 1."""
    return np.where(z <= 0, 1.0, z)


def proportion(q: Numbers) -> Any:
    """Replace numbers outside of [0, 1] by NaN."""
    return np.where((q >= 0) & (q <= 1), q, math.nan)[()]


def no_less(z: Numbers) -> Any:
    """Replace negative numbers by 1."""
    return np.where(z < 0, 1.0, z)


def expon_logpdf(x: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    z = (x - loc) / scale
    return np.where(z < 0, -math.inf, -z - np.log(scale))[()]


def expon_cdf(x: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    z = (x - loc) / scale
    return np.where(z < 0, 0.0, -np.expm1(-z))[()]


def expon_sf(x: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    z = (x - loc) / scale
    return np.where(z < 0, 1.0, np.exp(-z))[()]


def expon_ppf(q: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    return loc - scale * np.log1p(-proportion(q))


def gamma_logpdf(x: Numbers, a: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    z = (x - loc) / scale
    y = no_less(z)
    return np.where(z < 0, -math.inf, xlogy(a - 1, y) - y - gammaln(a) - np.log(scale))[()]


def gamma_cdf(x: Numbers, a: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    return gammainc(a, np.maximum((x - loc) / scale, 0.0))


def gamma_sf(x: Numbers, a: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    return gammaincc(a, np.maximum((x - loc) / scale, 0.0))


def chi2_logpdf(x: Numbers, df: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    z = (x - loc) / scale
    y = no_less(z)
    return np.where(z < 0, -math.inf, xlogy(df / 2 - 1, y) - y / 2 - gammaln(df / 2) - 0.5 * math.log(2) * df - np.log(scale))[()]


def chi2_cdf(x: Numbers, df: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    return gammainc(df / 2, np.maximum((x - loc) / scale, 0.0) / 2)


def chi2_sf(x: Numbers, df: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    return gammaincc(df / 2, np.maximum((x - loc) / scale, 0.0) / 2)


def invgamma_logpdf(x: Numbers, a: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    z = (x - loc) / scale
    y = positive(z)
    return np.where(z <= 0, -math.inf, -(a + 1) * np.log(y) - gammaln(a) - 1 / y - np.log(scale))[()]


def halfnorm_logpdf(x: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    z = (x - loc) / scale
    return np.where(z < 0, -math.inf, 0.5 * math.log(2 / math.pi) - 0.5 * z * z - np.log(scale))[()]


def pareto_logpdf(x: Numbers, b: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    z = (x - loc) / scale
    return np.where(z < 1, -math.inf, np.log(b) - (b + 1) * np.log(np.maximum(z, 1.0)) - np.log(scale))[()]


def weibull_min_logpdf(x: Numbers, c: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    z = (x - loc) / scale
    y = no_less(z)
    return np.where(z < 0, -math.inf, np.log(c) + xlogy(c - 1, y) - y**c - np.log(scale))[()]


def weibull_min_sf(x: Numbers, c: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    z = (x - loc) / scale
    return np.where(z <= 0, 1.0, np.exp(-(positive(z) ** c)))[()]


def weibull_min_cdf(x: Numbers, c: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    z = (x - loc) / scale
    return np.where(z <= 0, 0.0, -np.expm1(-(positive(z) ** c)))[()]


def weibull_min_ppf(q: Numbers, c: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    return loc + scale * (-np.log1p(-proportion(q))) ** (1 / c)


# ------------------------------------------------------------------ on an interval


def beta_logpdf(x: Numbers, a: Numbers, b: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    z = (x - loc) / scale
    outside = (z < 0) | (z > 1)
    y = np.where(outside, 0.5, z)
    logarithm = xlog1py(b - 1, -y) + xlogy(a - 1, y) - (gammaln(a) + gammaln(b) - gammaln(a + b)) - np.log(scale)
    return np.where(outside, -math.inf, logarithm)[()]


def beta_cdf(x: Numbers, a: Numbers, b: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    return betainc(a, b, np.clip((x - loc) / scale, 0.0, 1.0))


def uniform_logpdf(x: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    z = (x - loc) / scale
    return np.where((z < 0) | (z > 1), -math.inf, -np.log(scale) + 0 * z)[()]


def uniform_cdf(x: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    return np.clip((x - loc) / scale, 0.0, 1.0)


def uniform_ppf(q: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    return loc + scale * proportion(q)


# ------------------------------------------------------------------ on the line


def t_logpdf(x: Numbers, df: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    z = (x - loc) / scale
    top = gammaln((df + 1) / 2) - gammaln(df / 2) - 0.5 * np.log(math.pi * df)
    return top - (df + 1) / 2 * np.log1p(z * z / df) - np.log(scale)


def cauchy_logpdf(x: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    z = (x - loc) / scale
    return -math.log(math.pi) - np.log1p(z * z) - np.log(scale)


def cauchy_cdf(x: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    return 0.5 + np.arctan((x - loc) / scale) / math.pi


def cauchy_sf(x: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    return 0.5 + np.arctan((loc - x) / scale) / math.pi


def cauchy_ppf(q: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    return loc + scale * np.tan(math.pi * (proportion(q) - 0.5))


def laplace_logpdf(x: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    return -math.log(2) - np.abs((x - loc) / scale) - np.log(scale)


def laplace_cdf(x: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    z = (x - loc) / scale
    return np.where(z > 0, 1.0 - 0.5 * np.exp(-np.maximum(z, 0.0)), 0.5 * np.exp(np.where(z > 0, 0.0, z)))[()]


def logistic_logpdf(x: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    z = -np.abs((x - loc) / scale)
    return z - 2.0 * np.log1p(np.exp(z)) - np.log(scale)


def logistic_cdf(x: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    return expit((x - loc) / scale)


def logistic_sf(x: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    return expit((loc - x) / scale)


def logistic_ppf(q: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    return loc + scale * (np.log(q) - np.log1p(-q))


def gumbel_r_logpdf(x: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    z = (x - loc) / scale
    return -z - np.exp(-z) - np.log(scale)


def gumbel_r_cdf(x: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    return np.exp(-np.exp((loc - x) / scale))


def gumbel_r_ppf(q: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    return loc - scale * np.log(-np.log(q))


def gumbel_l_logpdf(x: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    z = (x - loc) / scale
    return z - np.exp(z) - np.log(scale)


# ------------------------------------------------------------------ of counts


def counts_from(count: Numbers, least: Any) -> Any:
    """Which numbers are whole, and no less than ``least``."""
    return (count >= least) & (np.floor(count) == count)


def poisson_logpmf(k: Numbers, mu: Numbers, loc: Numbers = 0) -> Any:
    known = counts_from(k - loc, 0)
    count = np.where(known, k - loc, 0)
    return np.where(known, xlogy(count, mu) - gammaln(count + 1) - mu, -math.inf)[()]


def bernoulli_logpmf(k: Numbers, p: Numbers, loc: Numbers = 0) -> Any:
    known = counts_from(k - loc, 0) & (k - loc <= 1)
    count = np.where(known, k - loc, 0)
    return np.where(known, xlogy(count, p) + xlog1py(1 - count, -p), -math.inf)[()]


def binom_logpmf(k: Numbers, n: Numbers, p: Numbers, loc: Numbers = 0) -> Any:
    known = counts_from(k - loc, 0) & (k - loc <= n)
    count = np.where(known, k - loc, 0)
    ways = gammaln(n + 1) - (gammaln(count + 1) + gammaln(n - count + 1))
    return np.where(known, ways + xlogy(count, p) + xlog1py(n - count, -p), -math.inf)[()]


def nbinom_logpmf(k: Numbers, n: Numbers, p: Numbers, loc: Numbers = 0) -> Any:
    p = np.where(p == 0, math.nan, p)[()]
    known = counts_from(k - loc, 0)
    count = np.where(known, k - loc, 0)
    logarithm = gammaln(n + count) - gammaln(count + 1) - gammaln(n) + n * np.log(p) + xlog1py(count, -p)
    return np.where(known, logarithm, -math.inf)[()]


def geom_logpmf(k: Numbers, p: Numbers, loc: Numbers = 0) -> Any:
    p = np.where(p == 0, math.nan, p)[()]
    known = counts_from(k - loc, 1)
    count = np.where(known, k - loc, 1)
    return np.where(known, xlog1py(count - 1, -p) + np.log(p), -math.inf)[()]


# ------------------------------------------------------------------ of vectors


def multivariate_normal_logpdf(x: Numbers, mean: Numbers = None, cov: Numbers = 1, allow_singular: Any = False) -> Any:
    """Of a covariance matrix of full rank, or of a number that is the variance of each."""
    need(not allow_singular, "a covariance matrix that may be singular is not supported")
    need(np.ndim(x) > 0 and (mean is None or np.ndim(mean) == 1), "multivariate_normal takes vectors; use norm for numbers")
    apart = x if mean is None else x - mean
    if np.ndim(cov) == 0:
        need(mean is not None, "multivariate_normal of no mean and no covariance is of numbers; give the mean as a vector")
        size = apart.shape[-1]
        return -0.5 * (np.sum(apart * apart, axis=-1) / cov + size * np.log(cov)) - size * HALF_LOG
    need(np.ndim(cov) == 2, "a vector as covariance is not supported; use np.diag")
    must(cov.shape[0] > 1, "a covariance of one number is not supported; use norm")
    lower = np.linalg.cholesky(cov)
    vectors = apart if np.ndim(apart) < 3 else np.reshape(apart, (-1, cov.shape[0]))
    solved = triangular(lower, np.transpose(vectors), True)
    determinant = 2 * np.sum(np.log(np.diagonal(lower)))
    density = -0.5 * (np.sum(solved * solved, axis=0) + determinant) - cov.shape[0] * HALF_LOG
    return density if np.ndim(apart) < 3 else np.reshape(density, np.shape(apart)[:-1])


def dirichlet_logpdf(x: Numbers, alpha: Numbers) -> Any:
    """Of one vector."""
    need(np.ndim(x) == 1, "the density of several vectors is not supported")
    return gammaln(np.sum(alpha)) - np.sum(gammaln(alpha)) + np.sum(xlogy(alpha - 1, x))


#: for each distribution its logarithmic density or mass, and its other functions
DISTRIBUTIONS: dict[str, dict[str, Any]] = {
    "norm": {
        "logpdf": norm_logpdf,
        "pdf": norm_pdf,
        "cdf": norm_cdf,
        "logcdf": norm_logcdf,
        "sf": norm_sf,
        "logsf": norm_logsf,
        "ppf": norm_ppf,
        "isf": norm_isf,
    },
    "lognorm": {"logpdf": lognorm_logpdf, "cdf": lognorm_cdf},
    "expon": {"logpdf": expon_logpdf, "cdf": expon_cdf, "sf": expon_sf, "ppf": expon_ppf},
    "gamma": {"logpdf": gamma_logpdf, "cdf": gamma_cdf, "sf": gamma_sf},
    "chi2": {"logpdf": chi2_logpdf, "cdf": chi2_cdf, "sf": chi2_sf},
    "invgamma": {"logpdf": invgamma_logpdf},
    "halfnorm": {"logpdf": halfnorm_logpdf},
    "pareto": {"logpdf": pareto_logpdf},
    "weibull_min": {"logpdf": weibull_min_logpdf, "cdf": weibull_min_cdf, "sf": weibull_min_sf, "ppf": weibull_min_ppf},
    "beta": {"logpdf": beta_logpdf, "cdf": beta_cdf},
    "uniform": {"logpdf": uniform_logpdf, "cdf": uniform_cdf, "ppf": uniform_ppf},
    "t": {"logpdf": t_logpdf},
    "cauchy": {"logpdf": cauchy_logpdf, "cdf": cauchy_cdf, "sf": cauchy_sf, "ppf": cauchy_ppf},
    "laplace": {"logpdf": laplace_logpdf, "cdf": laplace_cdf},
    "logistic": {"logpdf": logistic_logpdf, "cdf": logistic_cdf, "sf": logistic_sf, "ppf": logistic_ppf},
    "gumbel_r": {"logpdf": gumbel_r_logpdf, "cdf": gumbel_r_cdf, "ppf": gumbel_r_ppf},
    "gumbel_l": {"logpdf": gumbel_l_logpdf},
    "truncnorm": TRUNCATED,
    "poisson": {"logpmf": poisson_logpmf},
    "bernoulli": {"logpmf": bernoulli_logpmf},
    "binom": {"logpmf": binom_logpmf},
    "nbinom": {"logpmf": nbinom_logpmf},
    "geom": {"logpmf": geom_logpmf},
    "multivariate_normal": {"logpdf": multivariate_normal_logpdf},
    "dirichlet": {"logpdf": dirichlet_logpdf},
}
#: parameters that must be positive, else SciPy returns NaN; ``scale`` is one unless its logarithm is taken
POSITIVE = frozenset({"a", "b", "c", "s", "df"})
#: functions whose parameters of these names may be any numbers
FREE = frozenset(TRUNCATED.values())
#: functions that take no logarithm of the scale
WITHOUT_LOGARITHM = frozenset({"pdf", "cdf", "sf", "logcdf", "logsf", "ppf", "isf"})


def sound(parameter: Numbers) -> Any:
    """A parameter that must be positive, with nan where it is not."""
    if np.ndim(parameter) == 0:
        return parameter if parameter > 0 else math.nan
    return np.where(parameter > 0, parameter, math.nan)


def sound_proportion(parameter: Numbers) -> Any:
    """A parameter from 0 to 1, with nan where it is not."""
    if np.ndim(parameter) == 0:
        return parameter if 0 <= parameter <= 1 else math.nan
    return np.where((parameter >= 0) & (parameter <= 1), parameter, math.nan)


#: functions that are others raised: ``pdf`` is the exponential of ``logpdf``
RAISED = {"pdf": "logpdf", "pmf": "logpmf"}


def raised(logarithm: Any) -> Any:
    """A density of its logarithm."""
    return np.exp(logarithm)


def name_of(owner: Any) -> str | None:
    """Return the name of a supported distribution of SciPy: one of the table, or a univariate one whose formulas are read."""
    name = distribution_name(owner)
    return name if name in DISTRIBUTIONS or name is not None and is_method(owner, "_parse_args") else None


def of_name(name: str) -> Any:
    """The distribution of SciPy's of a name."""
    return getattr(sys.modules["scipy.stats"], name)


def is_method(law: Any, name: str) -> bool:
    """Whether a distribution has a method of this name."""
    return callable(getattr(law, name, None))


def is_datum(law: Any, name: str) -> bool:
    """Whether an attribute of a distribution is not a method, such as an end of its support."""
    return hasattr(law, name) and not is_method(law, name)


def method_of(law: Any, name: str) -> Any:
    """A method of a distribution."""
    return getattr(law, name)


def has_formula(law: Any, name: str) -> bool:
    """Whether SciPy computes a function of a distribution by its generic formula, instead of by an override."""
    stats = sys.modules["scipy.stats"]
    general = stats.rv_discrete if is_method(law, "pmf") else stats.rv_continuous
    is_general = getattr(type(law), name, None) is getattr(general, name)
    return is_general and (name != "entropy" or type(law)._entropy is not stats.rv_continuous._entropy)
