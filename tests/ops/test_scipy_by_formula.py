"""Functions of SciPy that are composed of formulas: values, gradients, all forms of arguments.

``x`` is a vector of four numbers between 0 and 1, ``m`` a matrix, ``s`` a symmetric one, ``c`` a number.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import symgrad
from tests.against_numpy import function_of, judged

pytest.importorskip("scipy")
pytestmark = pytest.mark.filterwarnings("ignore")

HEAD = """import numpy as np
from scipy import fft, integrate, interpolate, linalg, ndimage, signal, special, stats
from scipy.spatial import distance
G = np.arange(4.0)
K = np.arange(9.0).reshape(3, 3) / 9
SOS = signal.butter(3, 0.3, output="sos")
P = np.poly1d([1.0, -2.0, 0.5])
Q = np.polynomial.Chebyshev([1.0, 2.0, 3.0], domain=[0, 2])
GRID = interpolate.RegularGridInterpolator((G, G), np.arange(16.0).reshape(4, 4) ** 1.5)
"""
ARGUMENTS: dict[str, Any] = {
    "x": np.array([0.62, 0.31, 0.87, 0.48]), "c": 0.7, "m": np.random.default_rng(7).uniform(0.1, 0.9, (4, 4)) + 1.5 * np.eye(4),
}  # fmt: skip
SPECIAL = """special.jv(1.5, x)|special.kv(0.5, x)|special.iv(np.arange(4) + 0.5, x)|special.yv(0.3, x)|special.kve(1.5, x)|np.real(special.hankel1(0.5, x))
special.spherical_jn(2, x)|special.spherical_kn(1, x, True)|special.spherical_in(0, x)|special.lambertw(x).real|np.real(special.lambertw(-x / 4, -1))
special.wofz(x).imag|np.real(special.wofz((x + 0.3j) / c))|special.voigt_profile(x, 0.5, c)|special.loggamma(x)|special.zeta(2.0, x)|special.expn(2, x)
special.exp1(x)|special.exprel(x)|special.boxcox(x, c)|special.inv_boxcox(x, 0.5)|special.boxcox1p(x, 0.0)|special.eval_legendre(3, x)|special.eval_hermite(2, x)
special.eval_genlaguerre(2, 0.3, x)|special.airy(x)[2]|special.sici(x)[0]|special.shichi(x)[1]|special.fresnel(x)[0]|special.ellipk(x)|special.ellipeinc(x, 0.3)
special.spence(x)|special.hyp2f1(0.5, 1.0, 1.5, x)|special.hyp1f1(0.5, 1.5, x)|special.gammaincinv(2.0, x)|special.betaincinv(2.0, 3.0, x)|special.stdtr(3.0, x)
special.fdtri(2.0, 3.0, x)|special.pdtr(2, x)|special.owens_t(x, c)|special.ndtri_exp(-x)|special.chdtrc(3.0, x)""".replace(
    "\n", "|"
).split("|")
LAWS = """stats.rayleigh.pdf(x)|stats.beta.pdf(x, 2.0, 3.0)|stats.beta._pdf(x, 2.0, 3.0)|stats.gamma.ppf(x, 2.0, scale=1 + c)|stats.t.cdf(x, 3.0)
stats.truncnorm.logpdf(x, -1.0, 2.0, 0.1, 1 + c)|stats.truncnorm(-c, 2.0).cdf(x)|stats.truncnorm.ppf(x, 1.0, np.inf)|stats.truncnorm.sf(x, -5.0, -4.0, 5.0)
stats.skewnorm.logpdf(x, c)|stats.poisson.cdf(2, x)|stats.triang.pdf(x, 0.4)|stats.f.sf(x, 3.0, 4.0)|stats.genpareto.cdf(x, 0.2)|stats.genextreme.logpdf(x, c)
stats.vonmises.logpdf(x, c)|stats.exponnorm.pdf(x, 1.5)|stats.nakagami.logpdf(x, 1.2)|stats.betabinom.logpmf(2, 5, x, 2.0)|stats.gamma.entropy(c)|stats.beta.var(c, 2.0)
stats.expon.median(scale=c)|stats.rayleigh(scale=x).pdf(0.4)|stats.invgauss.logsf(x, c)|stats.powerlaw.isf(x, 1.6)|stats.geom.sf(2, x)""".replace(
    "\n", "|"
).split("|")
SIGNALS = """signal.lfilter([0.5, 0.3], [1.0, -0.4], x)|signal.lfilter(x[:2], np.array([2.0, c]), m, axis=0)|signal.lfilter([0.5], [1.0, -c], x, zi=x[:1])[1]|signal.lfiltic([1.0, c, 0.3], x, m[0])
signal.lfilter([1], x[:3] + 3, np.zeros(5), zi=signal.lfiltic([1], x[:3] + 3, x[::-1]))[0]|signal.lfiltic(x, [2.0, c], [c], x[:2])|signal.sosfilt(SOS, m)|signal.filtfilt([0.5, 0.3], [1.0, -0.4], x, padlen=1)|signal.savgol_filter(x, 3, 1)|signal.savgol_filter(m, 3, 2, deriv=1, axis=0, mode="nearest")
signal.detrend(m, axis=0)|signal.detrend(x, bp=2)|signal.detrend(x, type="constant")|signal.convolve(m, s[:2, :3], "same")|signal.correlate(x, x[:3], "valid")
signal.convolve2d(m, s[:2, :2], "same", "symm")|signal.correlate2d(m, s[:2, :3], "same")|signal.resample(x, 6)|signal.welch(m, nperseg=3, detrend="linear")[1]
linalg.solve_triangular(s, x, lower=True, unit_diagonal=True)|linalg.solve_triangular(s, x, trans=1, unit_diagonal=True)|linalg.pinv(m, rtol=1e-9)|linalg.block_diag([[x[0], 1.0], [2.0, x[1]]], x[None])|linalg.block_diag(*[[[x[0], 3.0], [x[2], x[1]]]] * 2)|np.abs(signal.csd(x, x**2, nperseg=4)[1])|signal.csd(x, x, nperseg=4)[1]|np.abs(signal.csd(m, m[::-1] ** 2, 2.0, "boxcar", 3, 1, scaling="spectrum")[1])|signal.coherence(x, np.cos(3 * x), nperseg=2)[1]|np.abs(signal.csd(x, x[:4], nperseg=3, detrend=False)[1])
signal.periodogram(x, 2.0)[1]|np.abs(signal.freqz(x, [1.0, c], 5)[1])|signal.medfilt(x, 3)|ndimage.gaussian_filter(m, c, order=1, mode="nearest")|ndimage.convolve(m, K, mode="mirror")
ndimage.correlate1d(x, [1.0, 2.0], origin=-1, mode="wrap")|ndimage.uniform_filter(m, 2, mode="constant", cval=0.3)|ndimage.sobel(m)|ndimage.laplace(m)|ndimage.median_filter(m, (2, 3))
ndimage.map_coordinates(m, [2 * x, 3 * x], order=1)|ndimage.gaussian_laplace(m, c)|ndimage.center_of_mass(m)[1]|fft.dct(x, norm="ortho")""".replace(
    "\n", "|"
).split("|")
OTHERS = """distance.cdist(m, s[:2], "cityblock")|distance.cdist(m, s, "minkowski", p=3)|distance.cdist(m, s[1:], lambda u, v: np.sum((u - v) ** 2))|distance.pdist(m)
distance.pdist(m, "correlation")|distance.squareform(distance.pdist(m, "cosine"))|distance.cdist(m, s, "mahalanobis", VI=s)|distance.pdist(m, "jensenshannon")
integrate.fixed_quad(lambda t: np.exp(-c * t), 0.0, c)[0]|integrate.simpson(m, x=x.cumsum(), axis=0)|integrate.simpson(x[:2])|interpolate.lagrange(G + x, x)(c)
interpolate.CubicSpline(G, x)(3 * x)|interpolate.CubicSpline(G, m, bc_type="natural")(c, 1)|interpolate.PchipInterpolator(G, x)(c)|interpolate.make_interp_spline(G, x, k=1)(c)
interpolate.interp1d(G, x, kind="cubic")(c)|interpolate.RegularGridInterpolator((G, G), m)((x, c))|GRID(np.stack([x, 2 * x], -1))|interpolate.interpn((G, G), m, [1.2, 0.5])
P(x)|(np.poly1d(x) * 2 + np.poly1d([c])).deriv()(c)|Q(x)|np.polynomial.legendre.legval(c, x)|np.polynomial.Polynomial(x)(x)|np.polyfit(G, x, 1, w=[1.0, 2.0, 1.0, 1.0])
linalg.solve(m, x, assume_a="sym")|linalg.solve_banded((1, 1), m[:3] + np.array([[0], [5.0], [0]]), x)|linalg.eigh(s, m @ m.T)[0]|linalg.solve_sylvester(m, m, s)
linalg.solve_discrete_lyapunov(0.1 * m, s)|linalg.polar(m)[0]|linalg.hankel(x, x)|stats.pearsonr(x, x**2).statistic|stats.pearsonr(x, x**2, alternative="less")[1]
stats.linregress(x, x**2)[0]|stats.linregress(x, x**2).stderr|stats.gstd(x)|stats.median_abs_deviation(x, scale="normal")""".replace(
    "\n", "|"
).split("|")


def program(expression: str) -> tuple[Any, dict[str, Any]]:
    """A function of an expression, and the arguments that it names."""
    words = compile(expression, "", "eval").co_names
    inner = [
        name
        for code in compile(expression, "", "eval").co_consts
        if hasattr(code, "co_names")
        for name in (*code.co_names, *code.co_freevars)
    ]
    arguments = {name: value for name, value in ARGUMENTS.items() if name in (*words, *inner) or name == "m" and "s" in words}
    body = "    s = m @ m.T + np.eye(4)\n" if "s" in words else ""
    return function_of(f"{HEAD}def f({', '.join(arguments)}):\n{body}    return {expression}\n"), arguments


@pytest.mark.sweep(14)
@pytest.mark.parametrize("expression", [*SPECIAL, *LAWS, *SIGNALS, *OTHERS])
def test_values_and_gradients(expression: str) -> None:
    assert judged(*program(expression)) == ("right", "")


#: of a stack ``t`` of three matrices, whose extents are equal, so that no shape tells a wrong axis; ``p`` has positive definite ones
STACKS = """linalg.solve(t, t, transposed=True)|linalg.solve(t, t[0], assume_a="sym")|linalg.solve(t, t, lower=True, assume_a="sym")
linalg.solve(p, np.ones(3), assume_a="pos")|linalg.solve_triangular(t, t[0])|linalg.solve_triangular(t, np.ones(3), lower=True)
linalg.solve_triangular(t, t[0, 0], trans="T", unit_diagonal=True)|linalg.solve_triangular(t[:1], t)|linalg.solve_triangular(t[0], t, trans=1)
linalg.cholesky(p)|linalg.cholesky(p, lower=True)|linalg.cho_solve((linalg.cholesky(p), False), t)|linalg.eigvalsh(t, lower=False)|linalg.eigvalsh(t, p)
linalg.eigh(p, eigvals_only=True)|linalg.solve_continuous_lyapunov(p, t)|linalg.det(t)|linalg.expm(t)|stats.multivariate_normal.logpdf(t, np.ones(3), p[0])""".replace(
    "\n", "|"
).split("|")
ONE_BY_ONE = """linalg.qr(t)|linalg.polar(t)|linalg.toeplitz(t)|linalg.hankel(t)|linalg.circulant(t)|linalg.block_diag(t, t)|linalg.solve_banded((1, 1), t + 5, t)
linalg.solveh_banded(t + 5, t)|linalg.solve_toeplitz(t, t)|linalg.matmul_toeplitz(t, t)|linalg.lstsq(t, t)|linalg.solve_discrete_lyapunov(t / 9, t)""".replace(
    "\n", "|"
).split("|")
STACK = np.random.default_rng(3).uniform(0.1, 0.9, (3, 3, 3)) + np.eye(3)
NARROW = [
    "det(m)",
    "expm(m)",
    "tanhm(m)",
    "block_diag(m, 2 * m)",
    "block_diag(m[0], m, 3)",
    "block_diag((m > 0.5), m[:, :0])",
    "inv(m)",
    "block_diag(*[m] * 3)",
]


def of_stack(expression: str) -> Any:
    return function_of(f"{HEAD}def f(t):\n    p = t @ np.swapaxes(t, -1, -2) + np.eye(3)\n    return {expression}\n")


@pytest.mark.parametrize("expression", STACKS)
def test_stacks_of_matrices(expression: str) -> None:
    assert judged(of_stack(expression), {"t": STACK}) in (("right", ""), ("not taken", "ValueError"))


@pytest.mark.parametrize("expression", ONE_BY_ONE)
def test_functions_of_one_matrix_refuse_stacks(expression: str) -> None:
    with pytest.raises(symgrad.SymgradError) as refusal:
        symgrad.vjp(of_stack(expression), STACK)
    assert not isinstance(refusal.value, symgrad.errors.Mismatch), refusal.value


@pytest.mark.parametrize("expression", NARROW)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_dtypes_of_matrices(expression: str, dtype: str) -> None:
    assert judged(function_of(f"{HEAD}def f(m):\n    return linalg.{expression}\n"), {"m": STACK[0].astype(dtype)}) == ("right", "")


NUMBERS = np.array([0.62, 0.31, 0.87, 0.48, 0.55, 0.21])
#: arguments of every form
FORMS = {
    "a number": 0.62, "NumPy's": np.float64(0.62), "without axes": np.array(0.62), "narrow": NUMBERS.astype(np.float32), "none": NUMBERS[:0],
    "one": NUMBERS[:1], "with gaps": np.repeat(NUMBERS, 2)[::2], "by columns": np.asfortranarray(NUMBERS.reshape(2, 3)),
}  # fmt: skip
OF_X_ALONE = [e for e in (*SPECIAL, *LAWS) if program(e)[1].keys() == {"x"} and "np.arange" not in e and "x[" not in e]


@pytest.mark.sweep(80)
@pytest.mark.parametrize(("expression", "form"), list(itertools.product(OF_X_ALONE, FORMS)))
def test_arguments_of_every_form(expression: str, form: str) -> None:
    verdict = judged(program(expression)[0], {"x": FORMS[form]})
    assert verdict[0] in ("right", "not taken"), verdict


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("special.jv(x, 1.0)", "the derivative by the order of jv is not known"),
        ("special.hyp2f1(x, 1.0, 1.5, 0.3)", "the derivative by the argument a of hyp2f1 is not known"),
        ("special.zeta(x + 2)", "has a slope by its argument q only"),
        ("stats.spearmanr(x, x**2)[0]", "spearmanr has no rule"),
        ("interpolate.griddata(G, x, 1.3)", "griddata has no rule"),
        ("ndimage.map_coordinates(m, [x, x])", "is supported with order=0 or order=1"),
        ("distance.cdist(m, m, 'yule')", "this metric is not supported"),
        ("stats.ncx2.cdf(x, 3.0, 0.5)", "has no rule"),
    ],
)
def test_what_has_no_formula_is_refused(expression: str, said: str) -> None:
    function, arguments = program(expression)
    with pytest.raises(symgrad.SymgradError, match=said):
        symgrad.vjp(function, *arguments.values())


@pytest.mark.parametrize("far", [15.0 + 2.0j, 40.0 - 1.0j, -13.0 + 0.1j, 1e6 + 1e6j])
def test_the_slope_of_wofz_far_from_zero(far: complex) -> None:
    """There its formula cancels."""
    import mpmath
    from scipy import special

    from symgrad.runtime.special import wofz_slope

    with mpmath.workdps(60):
        slope = complex(mpmath.diff(lambda z: mpmath.exp(-z * z) * mpmath.erfc(-1j * z), mpmath.mpc(far)))
    assert wofz_slope(far, special.wofz(far), 1) == pytest.approx(slope, rel=1e-10)


def test_a_polynomial_from_outside_is_read_at_each_call() -> None:
    function = function_of("import numpy as np\nP = np.poly1d([1.0, 2.0, 3.0])\ndef f(x):\n    return np.sum(P(x))\n")
    derivative, polynomial = symgrad.grad(function), function.__globals__["P"]
    np.testing.assert_allclose(derivative(np.array([0.1, 0.5])), [2.2, 3.0])
    polynomial[2] = 5.0
    np.testing.assert_allclose(derivative(np.array([0.1, 0.5])), [3.0, 7.0])


def test_what_is_asked_of_a_dtype_that_was_computed() -> None:
    """An attribute of an object of a library that is a number is compared as one."""
    text = "def f(x):\n    width = np.dtype(np.common_type(x, x)).itemsize\n    return np.sum(2 * x) if width == 8 else np.sum(x)\n"
    assert judged(function_of(f"import numpy as np\n{text}"), {"x": NUMBERS}) == ("right", "")


def test_a_class_without_a_base_initialises_the_one_above_it() -> None:
    text = "class Law:\n    def __init__(self, scale):\n        super().__init__()\n        self.scale = scale\n\n\ndef f(x):\n    return Law(x).scale * x\n"
    assert judged(function_of(text), {"x": 0.7}) == ("right", "")


def test_a_class_in_c_is_not_made_by_what_python_shows_of_it() -> None:
    function = function_of("from scipy import spatial\ndef f(x):\n    return spatial.ConvexHull(x).volume\n")
    with pytest.raises(symgrad.SymgradError, match="ConvexHull has no rule"):
        symgrad.grad(function)(np.random.default_rng(0).normal(size=(6, 2)))
