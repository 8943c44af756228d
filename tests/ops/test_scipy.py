"""Functions of SciPy through ``symgrad.value_and_grad``: values as SciPy's, gradients as differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import NoDerivative

pytest.importorskip("scipy")

HEAD = "import numpy as np\nfrom scipy import integrate, linalg, signal, special, stats\n\n"
#: expressions of the vector ``x`` of four positive numbers, and of ``m`` and ``s``, a matrix and a symmetric one, made of it
EXPRESSIONS = """special.erf(x)|special.erfc(x)|special.gamma(x)|special.gammaln(x)|special.psi(x)|special.polygamma(1, x)|special.expit(x)
special.poch(x, x[0])|special.poch(0.5, x)|special.binom(x + 2, x)|special.logit(x / 3)|special.log_expit(x)|special.ndtr(x)|special.log_ndtr(-x)|special.ndtri(x / 3)|special.erfinv(x / 3)|special.xlogy(x, x[0])
special.xlog1py(x, x)|special.entr(x)|special.rel_entr(x, x[::-1])|special.kl_div(x, 1.2)|special.logsumexp(x)|special.logsumexp(m, axis=1, b=m)
special.logsumexp(m, axis=0, keepdims=True)|special.softmax(x)|special.log_softmax(m, axis=1)|special.betaln(x, 2.0)|special.beta(x, x)
special.multigammaln(x[0] + 3, 2)|special.huber(1.0, x)|special.pseudo_huber(x[0], x)|special.jv(2, x)|special.jn(1, x)|special.iv(2, x)|special.kv(1, x)
special.yv(0, x)|special.j0(x)|special.i0(x)|special.i1(x)|special.i0e(x)|special.k1(x)|special.gammainc(2.0, x)|special.gammainc(x, 1.5)|special.betainc(x, 2 * x, 0.3)|stats.gamma.cdf(1.0, x)|stats.t.ppf(0.3, x)|special.betainc(2.0, 3.0, x / 3)
linalg.solve(m, x[:3])|linalg.inv(m)|linalg.det(m)|linalg.cholesky(s)|linalg.cholesky(s, lower=True)|linalg.cho_solve(linalg.cho_factor(s), x[:3])
linalg.cho_solve((linalg.cholesky(s, lower=True), True), m)|linalg.solve_triangular(np.tril(m), x[:3], lower=True)|linalg.expm(0.1 * m)
linalg.solve_triangular(np.triu(m), m)|linalg.solve_triangular(np.triu(m), x[:3], trans="T")|linalg.eigh(s)[0]|linalg.eigvalsh(s)|linalg.svdvals(m)
linalg.block_diag(m, s)|linalg.toeplitz(x)|linalg.toeplitz(x, x[:2])|linalg.circulant(x)|linalg.norm(m)|linalg.qr(m, mode="economic")[1] ** 2|linalg.qr(m)[1]|linalg.qr(m)[0] ** 3
integrate.trapezoid(x, dx=0.5)|integrate.simpson(x[:3])|integrate.simpson(x)|signal.convolve(x, x[:3], mode="same")|signal.fftconvolve(x, x)
stats.norm.pdf(x, x[0], x[1])|stats.norm.logpdf(x, loc=x[0])|stats.norm.cdf(x)|stats.norm.logcdf(x)|stats.norm.sf(x, scale=x[2])|stats.norm.logsf(x)
stats.norm.ppf(x / 3)|stats.norm.isf(x / 3, x[0], x[1])|stats.norm(x[0], x[1]).logpdf(0.3)|stats.gamma(a=x[0], scale=x[1]).pdf(x)|stats.expon.pdf(x)
stats.expon.cdf(x, scale=x[0])|stats.expon.ppf(x / 3)|stats.expon.sf(x)|stats.gamma.logpdf(x, x[0])|stats.gamma.cdf(x, 2.0)|stats.gamma.sf(x, 2.0)
stats.chi2.logpdf(x, 3.0)|stats.chi2.cdf(x, 3.0)|stats.invgamma.logpdf(x, x[1])|stats.halfnorm.logpdf(x)|stats.pareto.logpdf(x + 1, x[0])
stats.weibull_min.logpdf(x, x[1])|stats.beta.pdf(x / 3, x[0], x[1])|stats.beta.cdf(x / 3, 2.0, 3.0)|stats.uniform.logpdf(x, 0, x[0] + 2)
stats.uniform.cdf(x / 3)|stats.t.logpdf(x, x[0])|stats.cauchy.logpdf(x)|stats.cauchy.cdf(x)|stats.laplace.logpdf(x, 0.1 * x[0])|stats.laplace.cdf(x - 1.1)
stats.logistic.logpdf(x)|stats.logistic.cdf(x)|stats.logistic.sf(x)|stats.gumbel_r.logpdf(x)|stats.gumbel_r.cdf(x)|stats.gumbel_l.logpdf(x)
stats.poisson.logpmf(np.arange(4), x)|stats.poisson.pmf(2, x)|stats.bernoulli.logpmf(np.array([0, 1, 1, 0]), x / 3)|stats.binom.logpmf(np.arange(4), 5, x / 3)
stats.nbinom.logpmf(np.arange(4), 3, x / 3)|stats.geom.logpmf(np.arange(1, 5), x / 3)|stats.lognorm.logpdf(x, x[0])|stats.lognorm.cdf(x, 0.7)
stats.multivariate_normal.logpdf(x[:3], np.zeros(3), s)|stats.multivariate_normal(x[:2], np.diag(x[2:])).pdf(np.array([[0.3, 1.0], [0.2, 0.7]]))
stats.multivariate_normal.logpdf(x, x[0] * np.ones(4))|stats.dirichlet.logpdf(np.array([0.2, 0.3, 0.5]), x[:3])"""
X = np.array([0.9, 1.3, 0.7, 1.6])


def function_of(expression: str):  # type: ignore[no-untyped-def]
    source = f"""{HEAD}def f(x):
    m = np.outer(x[:3], x[1:]) + np.diag([3.0, 2.0, 4.0])
    s = m @ m.T
    made = {expression}
    return np.sum(made * np.cos(np.arange(np.size(made)).reshape(np.shape(made))))
"""
    return symgrad.from_source(source, "f")


def each(texts: str) -> list[str]:
    return [e for line in texts.splitlines() for e in line.split("|")]


@pytest.mark.sweep(4)
@pytest.mark.parametrize("expression", each(EXPRESSIONS))
def test_gradients_agree_with_differences(expression: str) -> None:
    function = function_of(expression)
    value, gradient = symgrad.value_and_grad(function)(X)
    steps = [np.eye(4)[k] * 1e-3 for k in range(4)]
    expected = [(8 * (function(X + h) - function(X - h)) - (function(X + 2 * h) - function(X - 2 * h))) / 12e-3 for h in steps]

    assert value == pytest.approx(function(X), rel=1e-12)
    np.testing.assert_allclose(gradient, expected, rtol=1e-7, atol=1e-8)


REFUSED = """special.jv(x[0], 1.0)|special.zeta(x, 2.0)|special.zeta(x)|special.lambertw(x, tol=1e-3).real|linalg.qr(m, pivoting=True)[1]|linalg.solve(m, x[:3], assume_a="her")
linalg.lu_factor(m)[0]|stats.ncx2.ppf(x / 3, 2.0, 1.0)|stats.rankdata(x)|stats.pearsonr(x, x, method=stats.PermutationMethod())[0]|stats.multivariate_normal.logpdf(x)"""


@pytest.mark.parametrize("expression", each(REFUSED))
def test_what_is_not_known_is_refused_with_its_place(expression: str) -> None:
    with pytest.raises(symgrad.SymgradError) as caught:
        symgrad.grad(function_of(expression))(X)

    assert all("scipy" not in (error.loc.file if error.loc else "no place: scipy") for error in caught.value.errors)


#: functions where formulas as they are written lose their digits: an expression, where, and the slope there
FAR = [
    ("special.log_ndtr(x)", -1e8, 1e8), ("special.log_ndtr(x)", -1e5, 1e5 + 1e-5), ("special.log_ndtr(x)", 30.0, 1.4736461348785475e-196),
    ("special.erfcx(x)", 1e6, -5.6418958354691e-13), ("special.erfcx(x)", -3.0, -97237.06150316462),
    ("special.dawsn(x)", -1e6, -5.0000000000075e-13), ("special.i0(x)", 0.0, 0.0), ("special.i1(x)", 0.0, 0.5),
    ("special.i0(x) * special.iv(2, x)", 1.0, 0.4485167031276010), ("special.gammainc(1.0, x)", 0.0, 1.0),
    ("special.xlogy(2 * x, x)", 1.0, 2.0), ("special.rel_entr(0.0, x)", 0.0, 0.0), ("special.kl_div(0.0, x)", 0.0, 1.0),
]  # fmt: skip


@pytest.mark.parametrize("jit", [False, "auto"])
@pytest.mark.parametrize("number", [float, np.float64, lambda x: np.array([x])], ids=["python", "numpy", "array"])
@pytest.mark.parametrize(("expression", "at", "slope"), FAR, ids=str)
def test_slopes_have_their_digits_far_out_and_at_zero(expression: str, at: float, slope: float, number: Any, jit: Any) -> None:
    function = symgrad.from_source(f"{HEAD}def f(x):\n    return np.sum({expression})\n", "f")
    gradient = symgrad.grad(function, jit=jit)(number(at))

    assert float(np.ravel(gradient)[0]) == pytest.approx(slope, rel=1e-12, abs=0.0)


#: a function of its shape, where, and the slope there: by differences with mpmath, of 80 digits
BY_SHAPES = [
    ("special.gammainc(x, 0.5)", 0.001, -0.56035940010800309), ("special.gammainc(x, 30.0)", 0.5, -5.118991143389857e-14),
    ("special.gammainc(x, 0.0001)", 2.5, -3.1031235091889765e-10), ("special.gammainc(x, 480.0)", 500.0, -0.01207362906003684),
    ("special.gammainc(x, 620.0)", 500.0, -6.301647812674908e-8), ("special.gammaincc(x, 480.0)", 500.0, 0.01207362906003684),
    ("special.betainc(x, 0.01, 0.25)", 0.5, -0.034809035180105578), ("special.betainc(0.5, x, 0.25)", 0.01, 1.0668885945120347),
    ("special.betainc(x, 40.0, 0.375)", 30.0, -0.038840754871468627), ("special.betainc(30.0, x, 0.375)", 40.0, 0.026036671648437264),
    ("special.betainc(x, 3.0, 0.9375)", 200.0, -1.2624555609977754e-5), ("special.betainc(200.0, x, 0.9375)", 3.0, 0.00038654682348533794),
    ("special.betainc(x, 80.0, 0.0078125)", 0.125, -0.49616951917198417), ("special.betainc(0.125, x, 2.0**-7)", 80.0, 0.00084265607178252994),
    ("special.stdtr(x, 0.5)", 2.0, 0.010909975038259784), ("special.stdtr(x, -0.5)", 2.0, -0.010909975038259784),
    ("special.stdtr(x, 30.0)", 0.5, 0.21529606123726961), ("special.stdtr(x, 2.0)", 40.0, 8.6108392020357438e-5),
    ("special.gammainc(x, 0.0)", 2.0, 0.0), ("special.betainc(x, 2.0, 1.0)", 2.0, 0.0), ("special.stdtr(x, 0.0)", 2.0, 0.0),
]  # fmt: skip


@pytest.mark.sweep(4)
@pytest.mark.parametrize("number", [float, np.float64, lambda x: np.array([x])], ids=["python", "numpy", "array"])
@pytest.mark.parametrize(("expression", "at", "slope"), BY_SHAPES, ids=str)
def test_slopes_by_shapes_have_their_digits(expression: str, at: float, slope: float, number: Any) -> None:
    function = symgrad.from_source(f"{HEAD}def f(x):\n    return np.sum({expression})\n", "f")

    assert float(np.ravel(symgrad.grad(function)(number(at)))[0]) == pytest.approx(slope, rel=1e-11, abs=0.0)


def test_a_second_derivative_by_a_shape_is_refused_and_one_by_both_operands_is_not() -> None:
    function = symgrad.from_source(f"{HEAD}def f(a, x):\n    return special.gammainc(a, x)\n", "f")

    with pytest.raises(NoDerivative, match="a second time"):
        symgrad.grad(symgrad.grad(function, wrt="a"), wrt="a")(2.0, 1.5)
    mixed = symgrad.grad(symgrad.grad(function, wrt="a"), wrt="x")(2.0, 1.5)
    assert mixed == pytest.approx(symgrad.grad(symgrad.grad(function, wrt="x"), wrt="a")(2.0, 1.5), rel=1e-12)


def test_the_maximum_of_a_logarithm_of_a_sum_of_exponentials_has_no_derivative() -> None:
    function = symgrad.from_source(f"{HEAD}def f(x):\n    return special.logsumexp(x)\n", "f")

    assert "extreme_share" not in symgrad.grad(function).source(X)
