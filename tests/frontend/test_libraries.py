"""Functions of SciPy without a row: their source is followed only where a derivative passes through."""

from __future__ import annotations

import sys
import types
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import UnknownFunction
from tests.against_numpy import function_of, judged

pytest.importorskip("scipy")

HEAD = "import numpy as np\nfrom scipy import integrate, interpolate, optimize, signal, stats\nfrom scipy.spatial import distance\n"
#: expressions of two vectors and a number
EXPRESSIONS = [
    "optimize.rosen(x)", "optimize.rosen_der(x)", "optimize.rosen_hess_prod(x, y)", "optimize.rosen(x * c)",
    *(f"distance.{name}(x, y)" for name in ("euclidean", "sqeuclidean", "cosine", "correlation", "cityblock", "braycurtis", "canberra",
                                            "chebyshev", "jensenshannon", "minkowski")),
    "distance.minkowski(x, y, 3)", "distance.euclidean(x, y, np.abs(y))", "distance.jensenshannon(x, y, base=2.0)",
    "integrate.cumulative_trapezoid(y, x)", "integrate.cumulative_trapezoid(y, dx=c)", "integrate.cumulative_simpson(y)",
    "signal.windows.general_cosine(8, [c, 0.5])", "signal.windows.gaussian(8, 1 + c)", "signal.gausspulse(x, fc=1.3)",
    "signal.chirp(x, 1.3, 1.0, 2.1)", "signal.windows.general_hamming(6, c)", "signal.windows.exponential(6, tau=1 + c)",
    "interpolate.BarycentricInterpolator(x, y)(0.9)", "interpolate.KroghInterpolator(x, y)(0.9)",
    "np.sum(optimize.approx_fprime(x, lambda v: np.sum(v**3), 1e-4))", "stats.laplace._pdf(x)",
    "stats.circmean(x)", "stats.circvar(x, high=3.0)", "stats.tmean(x)", "stats.tmean(x, (0.5, 2.0))", "stats.kstat(x, 3)", "stats.kstatvar(x)",
    "stats.levene(x, y).statistic", "stats.levene(x, y, center='mean').statistic", "stats.tmax(x, axis=-1)",
    "stats.norm._pdf(x)", "stats.gumbel_r._logpdf(x)", "stats.logistic._logpdf(x)", "stats.expon._pdf(x)",
]  # fmt: skip
X, Y = np.array([0.7, 1.9, 1.1, 2.3]), np.array([0.4, 0.3, 1.2, 0.9])


@pytest.mark.sweep(4)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_the_source_of_a_function_is_read(expression: str) -> None:
    function = function_of(f"{HEAD}def f(x, y, c):\n    return {expression}\n")
    assert judged(function, {"x": X, "y": Y, "c": 0.3}) == ("right", "")


def test_what_carries_no_derivative_is_called_as_it_is() -> None:
    function = function_of(f"{HEAD}def f(x, y):\n    weight = optimize.rosen(y)\n    return np.sum(x * weight)\n")
    gradient = symgrad.grad(function, wrt="x")
    np.testing.assert_allclose(gradient(X, Y), np.full(4, function(np.eye(4)[0], Y)))
    assert "rosen(y)" in gradient.source()


def test_one_that_cannot_be_read_is_called_where_it_carries_no_derivative() -> None:
    function = function_of(
        f"{HEAD}def f(x, y):\n    root = optimize.brentq(lambda t: t * t - 2.0, 0.0, 2.0)\n    return optimize.rosen(x) * y\n"
    )
    assert judged(function, {"x": X, "y": 2.0})[0] in ("right", "refused")


def test_a_refusal_names_the_function_that_has_no_rule() -> None:
    function = function_of(f"{HEAD}def f(x):\n    return np.sum(stats.rankdata(x))\n")
    with pytest.raises(UnknownFunction, match="rankdata has no rule"):
        symgrad.grad(function)(X)


def test_guards_do_not_test_what_the_library_defines() -> None:
    function = function_of(f"{HEAD}def f(x):\n    return optimize.rosen(x)\n")
    gradient = symgrad.grad(function)
    gradient(X)
    assert "rosen" not in str(gradient.source().split("backward")[0].splitlines()[2:])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name", ["norm", "expon", "gamma", "beta", "t", "cauchy", "laplace", "logistic", "weibull_min", "gumbel_r", "chi2"]
)
@pytest.mark.parametrize("how", ["an argument", "a default", "another name", "with parameters"])
def test_distributions_under_other_names(name: str, how: str) -> None:
    shapes = {"gamma": "2.3", "beta": "2.0, 3.0", "t": "4.2", "weibull_min": "1.7", "chi2": "3.0"}.get(name, "")
    shapes_after = f", {shapes}" if shapes else ""
    texts = {
        "an argument": f"def g(law, x): return np.sum(law.logpdf(x{shapes_after}))\ndef f(x): return g(stats.{name}, x)\n",
        "a default": f"def f(x, law=stats.{name}): return np.sum(law.logpdf(x{shapes_after}))\n",
        "another name": f"LAW = stats.{name}\ndef f(x): return np.sum(LAW.logpdf(x{shapes_after}))\n",
        "with parameters": f"def f(x):\n    law = stats.{name}({shapes})\n    return np.sum(law.logpdf(x))\n",
    }
    function = function_of(HEAD + texts[how])
    assert judged(function, {"x": np.array([0.2, 0.5, 0.8])}) == ("right", "")


@pytest.mark.parametrize("name", ["gamma", "beta", "weibull_min", "lognorm", "chi2", "invgamma", "pareto", "expon", "uniform", "halfnorm"])
@pytest.mark.parametrize("word", ["logpdf", "pdf", "cdf", "sf"])
@pytest.mark.filterwarnings("ignore")
def test_distributions_outside_of_their_support(name: str, word: str) -> None:
    """The density is 0 there, and so is its slope: neither is nan."""
    from symgrad.ops.composed.distributions import DISTRIBUTIONS, RAISED

    if word not in DISTRIBUTIONS[name] and RAISED.get(word) not in DISTRIBUTIONS[name]:
        pytest.skip("scipy.stats has it, and symgrad refuses it")
    shapes = {"gamma": "2.3", "beta": "2.0, 3.0", "weibull_min": "1.7", "lognorm": "0.8", "chi2": "3.0", "invgamma": "2.5", "pareto": "2.0"}
    call = f"stats.{name}.{word}(x, {shapes[name]})" if name in shapes else f"stats.{name}.{word}(x)"
    function = function_of(f"{HEAD}def f(x):\n    return np.sum(np.where(np.isfinite({call}), {call}, 0.0))\n")
    plain: Any = function_of(f"{HEAD}def f(x):\n    return {call}\n")
    values = symgrad.vjp(plain, np.array([np.nan, -0.3, 0.0, 0.5, 1.0, 2.0]))[0]
    np.testing.assert_allclose(values, plain(np.array([np.nan, -0.3, 0.0, 0.5, 1.0, 2.0])), rtol=1e-9)
    x = np.array([-1.5, 0.4, 0.6, 7.5, -0.2])
    value, gradient = symgrad.value_and_grad(function)(x)
    assert value == pytest.approx(function(x))
    steps = [(function(x + d) - function(x - d)) / 2e-6 for d in 1e-6 * np.eye(5)]
    np.testing.assert_allclose(gradient, steps, atol=1e-5)


def test_a_distribution_of_other_bounds_is_another_one() -> None:
    from scipy import stats

    law = type(stats.expon)(a=1.0, name="expon")
    function: Any = function_of(f"{HEAD}def f(x, law): return law.logpdf(x)\n")
    try:
        value, _ = symgrad.value_and_grad(function)(0.5, law)
    except symgrad.errors.SymgradError:
        return
    assert value == function(0.5, law)


@pytest.mark.parametrize("name", ["norm", "gumbel_r"])
def test_guards_know_a_distribution_by_itself(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Later calls read no attributes of it, until it is another one."""
    from scipy import stats

    law = getattr(stats, name)
    x = np.array([0.5, 0.2])
    function: Any = function_of(f"{HEAD}def f(x, law): return np.sum(law.logpdf(x))\n")
    derivative = symgrad.value_and_grad(function)
    value, slope = derivative(x, law)
    assert value == pytest.approx(function(x, law))
    asked: list[Any] = []
    monkeypatch.setattr("symgrad.abstraction.distribution_name", lambda held: asked.append(held))
    again, same_slope = derivative(x, law)
    assert again == value
    np.testing.assert_array_equal(same_slope, slope)
    assert asked == []
    monkeypatch.undo()
    assert derivative(x, stats.cauchy)[0] == pytest.approx(function(x, stats.cauchy))


#: SciPy's own functions select by it, those of distributions among them
WHERE = [
    "extra.apply_where(x > 0.5, x, lambda v: v**2, np.sin)", "extra.apply_where(x > 0.5, (x, 2.0), lambda v, w: v**w, fill_value=3.0)",
    "extra.apply_where(x > 9, x, lambda v: 1 / (v - v), np.sin)", "extra.apply_where(x[0] > 0.1, x[0], np.exp, np.sin)",
    "extra.apply_where(x[0] > 9, x[0], np.exp, fill_value=2.0) + x[1]", "extra.apply_where(x[:, None] > x, (x[:, None], x), np.multiply, np.add)",
    "stats.t._pdf(x, 3.2)", "stats.t._logpdf(x, x[0])", "stats.genpareto._logpdf(x, 0.3)", "stats.genextreme._logpdf(x, 0.3)",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("expression", WHERE)
def test_what_is_computed_where_a_condition_holds(expression: str) -> None:
    pytest.importorskip("scipy._lib.array_api_extra")
    head = f"{HEAD}import scipy._lib.array_api_extra as extra\n"
    function = function_of(f"{head}def f(x):\n    return np.sum({expression})\n")
    assert judged(function, {"x": np.array([0.2, 0.9, 0.6])}) == ("right", "")


#: calls of functions in C that write to an array that they are given, or to one that a Python function around them has made
WRITING = [
    "interpolate.CubicSpline(Y, y)(0.5)", "interpolate.PchipInterpolator(Y, y)(0.5)", "SPLINE(x)", "SPLINE(x) * x",
    "interpolate.PPoly(np.array([y[:3], y[1:]]), Y)(0.5)", "interpolate.make_interp_spline(Y, y)(0.5)", "blas.daxpy(x, y * 1.0)",
    "[w := y * 1.0, blas.daxpy(x, w)][0] * x", "interpolate.Akima1DInterpolator(Y, y)(0.5)", "linalg.solve(np.eye(4), y, overwrite_b=True)",
]  # fmt: skip


@pytest.mark.sweep(2)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("expression", WRITING)
def test_functions_in_c_may_write_to_what_they_are_given(expression: str) -> None:
    """What such a call leaves in an array has no known derivative, so that it is right by a rule of its own, or refused: never zero."""
    text = "from scipy import linalg\nfrom scipy.linalg import blas\nY = np.arange(4.0)\nSPLINE = interpolate.CubicSpline(Y, Y**2 - Y)\n"
    function = function_of(f"{HEAD}{text}def f(x, y):\n    return np.sum({expression})\n")
    verdict, why = judged(function, {"x": X, "y": Y})
    assert verdict in ("right", "refused"), why


def test_what_a_function_in_c_writes_where_no_derivative_passes() -> None:
    text = "from scipy.linalg import blas\n"
    function = function_of(
        f"{HEAD}{text}def f(x):\n    w = np.ones(4)\n    blas.daxpy(np.arange(4.0), w, a=2.0)\n    return np.sum(w * x)\n"
    )
    assert judged(function, {"x": X}) == ("right", "")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("k", [-1, 0, 1, 2, 1.5, 7])
@pytest.mark.parametrize(
    "call", ["stats.poisson.pmf(k, c)", "stats.bernoulli.pmf(k, c)", "stats.binom.pmf(k, 5, c)", "stats.nbinom.pmf(k, 3, c)", "stats.geom.pmf(k, c)",
             "stats.poisson.pmf(k, c, loc=1)", "stats.geom.logpmf(np.array([k, 2]), c)[1]"],
)  # fmt: skip
def test_counts_that_cannot_be(call: str, k: float) -> None:
    """Their probability is 0, whatever the parameter, and so is its slope."""
    function = function_of(f"{HEAD}def f(c, k):\n    return {call}\n")
    value, slope = symgrad.value_and_grad(function, verify=False)(0.4, k)
    assert value == pytest.approx(function(0.4, k), rel=1e-9)
    assert slope == pytest.approx((function(0.4 + 1e-6, k) - function(0.4 - 1e-6, k)) / 2e-6, rel=1e-5, abs=1e-8)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("q", [-0.3, 0.25, 0.5, 1.2])
@pytest.mark.parametrize("name", ["norm", "expon", "uniform", "cauchy", "logistic", "gumbel_r", "weibull_min"])
def test_quantiles_of_what_is_no_proportion(name: str, q: float) -> None:
    shape = ", 1.7" if name == "weibull_min" else ""
    function = function_of(f"{HEAD}def f(q):\n    return stats.{name}.ppf(q{shape})\n")
    value, _ = symgrad.value_and_grad(function, verify=False)(q)
    np.testing.assert_allclose(value, function(q), rtol=1e-9)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("c", [-0.7, 0.0, 0.6, 1.4])
@pytest.mark.parametrize(
    "call", ["stats.norm.pdf(0.3, 0.0, c)", "stats.norm.cdf(0.3, scale=c)", "stats.norm(0.1, c).sf(0.3)", "stats.norm.ppf(0.3, 1.0, c)",
             "stats.chi2.logpdf(0.3, c)", "stats.beta.logpdf(0.5, c, 2.0)", "stats.gamma.logpdf(0.4, c)", "stats.lognorm.cdf(0.4, c)",
             "stats.weibull_min.sf(0.4, c)", "stats.cauchy.cdf(0.4, 0.0, c)", "stats.laplace.cdf(0.4, 0.0, c)", "stats.bernoulli.pmf(1, c)",
             "stats.binom.pmf(2, 5, c)", "stats.norm.logpdf(0.3, 0.0, c)", "stats.expon.sf(0.4, scale=c)", "stats.geom.pmf(2, p=c)"],
)  # fmt: skip
def test_parameters_that_cannot_be(call: str, c: float) -> None:
    function = function_of(f"{HEAD}def f(c):\n    return {call}\n")
    if c == 0.0 and "logpdf(0.3" in call:
        pytest.skip("a division of Python's numbers raises")
    value, slope = symgrad.value_and_grad(function, verify=False)(c)
    np.testing.assert_allclose(value, function(c), rtol=1e-9)
    if np.isfinite(value) and c != 0.0:
        assert slope == pytest.approx((function(c + 1e-6) - function(c - 1e-6)) / 2e-6, rel=1e-5, abs=1e-8)


def test_the_slope_in_the_middle_of_a_distribution() -> None:
    from scipy import stats

    assert symgrad.grad(lambda x: stats.laplace.cdf(x))(0.0) == 0.5


def frames() -> types.ModuleType:
    """A module that stands for pandas, which is not installed with the tests."""
    module: Any = types.ModuleType("pandas")

    def isna(obj: Any) -> Any:
        return obj is None or not isinstance(obj, str) and eval("np.isnan(obj)")  # which is refused where it is read

    def notna(obj: Any) -> Any:
        return ~isna(obj) if np.ndim(obj) else not isna(obj)

    vars(module).update(isna=isna, isnull=isna, notna=notna, notnull=notna)
    return module


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("text", [
    "np.sum(x[~pd.isnull(x)] ** 2)", "np.sum(np.where(pd.notna(x), x, 0.0) ** 3)", "sum(v * v for v in x if pd.notnull(v))",
    "np.nansum(x**2) if pd.isna(None) else x[0]", "x[0] * sum(1.0 for v in ('a', None, 1.0) if pd.isna(v))",
])  # fmt: skip
def test_missing_values_of_pandas(text: str, jit: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    pandas = frames()
    monkeypatch.setitem(sys.modules, "pandas", pandas)
    f = symgrad.from_source(f"def f(x):\n    return {text}\n", "f", {"np": np, "pd": pandas, "__name__": "missing"})
    derived = symgrad.value_and_grad(f, jit=jit)
    for x in (np.array([0.7, 1.9, 1.1, 2.3]), np.array([0.7, np.nan, 1.1, np.nan]), np.array([0.4])):
        value, gradient = derived(x)
        assert value == pytest.approx(f(x), rel=1e-12)
        known = ~np.isnan(x)
        slopes = [(f(x + r) - f(x - r)) / 2e-6 for r in 1e-6 * np.eye(len(x))]
        np.testing.assert_allclose(gradient[known], np.array(slopes)[known], rtol=1e-6, atol=1e-8)


class Series:
    """Stands for the class of pandas."""

    def __init__(self, data: Any) -> None:
        self.data = eval("data")  # which is refused where it is read

    def mean(self) -> Any:
        return np.mean(self.data)


def concat(several: Any) -> Any:
    return eval("np.concatenate(several)")


@pytest.mark.parametrize(("text", "hint", "mended"), [
    ("pd.Series(x).mean() * x[0]", "use the array itself in its place", "x.mean() * x[0]"),
    ("np.sum(pd.concat([x, x]) ** 2)", "write np.concatenate of the arrays, or np.column_stack for axis=1", "np.sum(np.concatenate([x, x]) ** 2)"),
])  # fmt: skip
def test_a_call_of_pandas_is_refused_with_the_way_of_numpy(text: str, hint: str, mended: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Series, "__module__", "pandas")
    monkeypatch.setattr(concat, "__module__", "pandas")
    pandas: Any = types.ModuleType("pandas")
    vars(pandas).update(Series=Series, concat=concat)
    f, after = (symgrad.from_source(f"def f(x):\n    return {t}\n", "f", {"np": np, "pd": pandas, "__name__": "m"}) for t in (text, mended))
    with pytest.raises(UnknownFunction) as caught:
        symgrad.grad(f)(X)
    assert caught.value.hint == hint
    assert caught.value.loc is not None
    assert "pd." in caught.value.loc.text
    value, gradient = symgrad.value_and_grad(after)(X)
    assert value == pytest.approx(f(X), rel=1e-12)
    np.testing.assert_allclose(gradient, [(f(X + r) - f(X - r)) / 2e-6 for r in 1e-6 * np.eye(len(X))], rtol=1e-7, atol=1e-8)
