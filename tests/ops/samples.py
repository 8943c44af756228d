"""Sample calls of rows: (call text, arguments). Arguments named ``i...`` are not differentiated.

Every differentiable row has at least one; a test holds to that. Arguments are away from kinks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

RNG = np.random.default_rng(20)


def positive(*shape: int) -> Any:
    return RNG.uniform(0.6, 1.9, shape)


def signed(*shape: int) -> Any:
    return RNG.uniform(0.3, 1.7, shape) * RNG.choice([-1.0, 1.0], shape)


def small(*shape: int) -> Any:
    return RNG.uniform(-0.8, 0.8, shape)


def share(*shape: int) -> Any:
    return RNG.uniform(0.2, 0.8, shape)


def matrix(n: int, *stack: int) -> Any:
    """Well conditioned."""
    return RNG.normal(size=(*stack, n, n)) + 2 * n**0.5 * np.eye(n)


def definite(n: int, *stack: int) -> Any:
    a = RNG.normal(size=(*stack, n, n))
    return a @ a.swapaxes(-1, -2) + np.eye(n)


#: rows of one operand, and where it may be
UNARY = {
    signed: """negative positive abs fabs square reciprocal exp exp2 expm1 cbrt sin cos arctan sinh cosh tanh arcsinh deg2rad rad2deg sinc erf erfc
    lowered""",
    positive: "log log2 log10 log1p sqrt gamma lgamma digamma log_of_base",
    small: "tan arcsin arccos arctanh",
}
BINARY = {
    signed: "add subtract multiply divide ratio hypot arctan2 logaddexp logaddexp2 maximum minimum fmax fmin",
    positive: "power slope_power float_power mod fmod",
}
SHAPES = [((), ()), ((3,), (3,)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((), (2,)), ((1,), (3,)), ((0,), (1,)), ((2, 1, 3), (4, 1))]

Sample = tuple[str, dict[str, Any]]
SAMPLES: list[Sample] = []
for _draw, _names in UNARY.items():
    for _name in _names.split():
        SAMPLES += [(f"{_name}(x)", {"x": _draw(*s)}) for s in [(), (3,), (2, 3), (0,), (1,)]]
for _draw, _names in BINARY.items():
    for _name in _names.split():
        SAMPLES += [(f"{_name}(x, y)", {"x": _draw(*a), "y": _draw(*b)}) for a, b in SHAPES]

#: rows whose text is SciPy's
SCIPY = {
    signed: """erfcx erfi dawsn ndtr log_ndtr expit log_expit bessel_j0 bessel_j1 bessel_i0 bessel_i1 i0e i1e expi exp10 exprel cosm1
    sine_integral sinh_integral fresnel_sine fresnel_cosine airy_ai airy_ai_slope airy_bi airy_bi_slope""",
    positive: "bessel_y0 bessel_y1 bessel_k0 bessel_k1 entr k0e k1e exp1 spence loggamma wrightomega cosine_integral cosh_integral",
    small: "erfinv ellipk ellipe",
    share: "erfcinv ndtri logit",
}
for _draw, _names in SCIPY.items():
    for _name in _names.split():
        SAMPLES += [(f"{_name}(x)", {"x": _draw(*s)}) for s in [(), (3,), (2, 3)]]
for _name in ("xlogy", "xlog1py", "rel_entr", "kl_div", "poch"):
    SAMPLES += [(f"{_name}(x, y)", {"x": positive(*a), "y": positive(*b)}) for a, b in SHAPES[:4]]
for _name in ("bessel_j", "bessel_y", "bessel_iv", "bessel_k", "ive"):
    SAMPLES += [(f"{_name}(2, x)", {"x": positive(3)})]
for _name in ("bessel_j", "bessel_y", "bessel_iv", "bessel_k", "ive", "kve", "jve", "yve"):
    SAMPLES += [(f"{_name}(iv, x)", {"iv": np.array([0.0, 0.5, 1.7]), "x": positive(2, 3)})]
for _name in ("spherical_jn", "spherical_yn", "spherical_in", "spherical_kn", "expn", "eval_legendre", "eval_chebyt", "eval_chebyu",
              "eval_hermite", "eval_hermitenorm", "eval_laguerre"):  # fmt: skip
    SAMPLES += [(f"{_name}({n}, x)", {"x": positive(3)}) for n in (0, 1, 3)]
for _name in ("eval_gegenbauer", "eval_genlaguerre"):
    SAMPLES += [(f"{_name}({n}, ia, x)", {"ia": 0.7, "x": small(3)}) for n in (0, 1, 3)]
for _name in ("boxcox", "boxcox1p"):
    SAMPLES += [(f"{_name}(x, y)", {"x": positive(3), "y": np.array([[0.0], [-0.7], [2.0]])})]
for _name in ("inv_boxcox", "inv_boxcox1p"):
    SAMPLES += [(f"{_name}(x, iy)", {"x": share(3), "iy": np.array([[0.0], [-0.7], [2.0]])})]
for _name in ("gammaincinv", "gammainccinv"):
    SAMPLES += [(f"{_name}(ia, x)", {"ia": 2.5, "x": share(3)})]
for _name in ("betaincc", "betaincinv", "betainccinv"):
    SAMPLES += [(f"{_name}(ia, ib, x)", {"ia": 2.5, "ib": 1.5, "x": share(3)})]
SAMPLES += [
    ("eval_jacobi(2, 0.3, ia, x)", {"ia": np.array([[0.7], [1.2]]), "x": small(3)}),
    ("eval_legendre(0.4, x)", {"x": small(3)}),
    ("ndtri_exp(x)", {"x": -positive(3)}),
    ("owens_t(x, y)", {"x": signed(3), "y": signed(2, 1)}),
    ("powm1(x, y)", {"x": positive(3), "y": signed(2, 1)}),
    ("stdtr(idf, x)", {"idf": 3.2, "x": signed(3)}),
    ("stdtrit(idf, x)", {"idf": 3.2, "x": share(3)}),
    ("hyp0f1(ia, x)", {"ia": 1.5, "x": signed(3)}),
    ("hyp1f1(ia, 1.5, x)", {"ia": 0.5, "x": signed(3)}),
    ("hyperu(ia, 1.5, x)", {"ia": 0.5, "x": positive(3)}),
    ("hyp2f1(ia, 1.0, 1.5, x)", {"ia": 0.5, "x": small(3)}),
    ("ellipkinc(x, im)", {"im": 0.3, "x": signed(3)}),
    ("ellipeinc(x, im)", {"im": 0.3, "x": signed(3)}),
    ("zeta(ix, q)", {"ix": 2.5, "q": positive(3)}),
    *(
        (f"{name}(x, y, z)", {"x": np.array([0.5, 0.3]), "y": np.array([2.0, -0.4, 0.2]), "z": signed(5)})
        for name in ("lfilter", "lfilter_back")
    ),
    *(
        (f"{name}(x, y, z, axis=0)", {"x": np.array([0.5, 0.3, -0.2]), "y": np.array([1.0, 0.4]), "z": signed(4, 2)})
        for name in ("lfilter", "lfilter_back")
    ),
    ("sylvester(x, y, z)", {"x": matrix(3), "y": matrix(2), "z": signed(3, 2)}),
    ("lfilter(x, y, z)", {"x": 0.5, "y": np.array([1.5, 0.4]), "z": signed(2, 3)}),
    ("lagged(x, y, shape_of(iz))", {"x": signed(2, 4), "y": signed(2, 4), "iz": signed(3)}),
    ("lagged(x, y, shape_of(iz), axis=0)", {"x": signed(2, 3), "y": signed(2, 3), "iz": 1.5}),
]
SAMPLES += [
    ("binom(x, y)", {"x": 3.0 + positive(3), "y": positive(2, 3)}),
    ("gammainc(ia, x)", {"ia": 2.5, "x": positive(3)}),
    ("gammaincc(ia, x)", {"ia": 2.5, "x": positive(3)}),
    ("gammainc_slope(ia, x, gammainc(ia, x), gammaincc(ia, x))", {"ia": 2.5, "x": positive(3)}),
    *(
        (f"betainc_slope(ia, ib, x, betainc(ia, ib, x), betaincc(ia, ib, x), second={second})", {"ia": 2.5, "ib": 1.5, "x": share(3)})
        for second in (False, True)
    ),
    (
        "tails_slope(idf, x, betainc(0.5 * idf, 0.5, idf / (idf + x * x)), betainc(0.5, 0.5 * idf, x * x / (idf + x * x)))",
        {"idf": 3.2, "x": signed(3)},
    ),
    ("nextafter(x, iy)", {"x": signed(3), "iy": 9.0}),
    ("betainc(ia, ib, x)", {"ia": 2.5, "ib": 1.5, "x": share(3)}),
    ("erfcx_slope(x, erfcx(x), 1)", {"x": np.array([-1.0, 0.0, 3.0, 15.0])}),
    ("dawsn_slope(x, dawsn(x), 2)", {"x": np.array([-15.0, -0.5, 0.0, 3.0])}),
    ("solve_triangular(x, y, lower=True)", {"x": matrix(3), "y": signed(3)}),
    ("solve_triangular(x, y)", {"x": matrix(3), "y": signed(3, 2)}),
    ("solve_transposed(x, y, lower=True)", {"x": matrix(3), "y": signed(3, 2)}),
    ("solve_transposed(x, y)", {"x": matrix(3), "y": signed(3)}),
    ("svd(x)", {"x": signed(3, 2)}),
    ("svd(x)", {"x": signed(2, 3)}),
    ("svd(x)", {"x": matrix(3, 2)}),
    ("qr(x)", {"x": signed(4, 3)}),
    ("qr(x)", {"x": matrix(3, 2)}),
]
SAMPLES += [
    ("copysign(x, iy)", {"x": signed(3), "iy": signed(3)}),
    ("power(x, 2)", {"x": signed(3)}),
    ("power(x, 0)", {"x": np.array([0.0, 1.0, -2.0])}),
    ("power(x, -1)", {"x": signed(3)}),
    ("power(x, 3)", {"x": np.array([0.0, -1.0, 2.0])}),
    ("power(2.0, y)", {"y": signed(3)}),
    ("power(ix, y)", {"ix": np.array([0.0, 1.0, 2.0]), "y": positive(3)}),
    ("arccosh(x)", {"x": 1 + positive(3)}),
    ("math_log(x)", {"x": 1.5}),
    ("log_to_base(x, base)", {"x": 1.5, "base": 3.0}),
    ("sinc(x)", {"x": np.array([0.0, 1e-4, 1.0, -2.5])}),
    ("sinc_slope(x, 1)", {"x": np.array([0.0, 0.3, -1.7])}),
    ("i0(x)", {"x": 3 * signed(4)}),
    ("i0(x)", {"x": signed(2, 3)}),
    ("bessel_i(2, x)", {"x": signed(3)}),
    ("polygamma(2, x)", {"x": positive(3)}),
    ("polygamma(1, x)", {"x": np.array([-0.4, -1.7])}),
    ("digamma(x)", {"x": np.array([-0.4, -1.7])}),
    ("clip(x, low, high)", {"x": np.array([-2.0, 0.1, 3.0]), "low": -1.0, "high": 1.5}),
    ("clip(x, low, None)", {"x": np.array([-2.0, 0.1, 3.0]), "low": np.array([-1.0, 1.0, 1.0])}),
    ("clip(x, None, high)", {"x": np.array([-2.0, 0.1, 3.0]), "high": 1.0}),
    ("clip(x, low, high)", {"x": np.array([-2.0, 0.1, 3.0]), "low": 2.0, "high": 1.0}),
    ("heaviside(ix, y)", {"ix": np.array([-1.0, 0.0, 2.0]), "y": signed(3)}),
    ("where(ic, x, y)", {"ic": np.array([True, False, True]), "x": signed(3), "y": signed(1)}),
    ("where(ic, x, y, via='numpy')", {"ic": np.array([[True], [False]]), "x": signed(3), "y": 2.0}),
    ("where(ic, x, y)", {"ic": True, "x": 1.0, "y": 2.0}),
    ("maximum(x, y, via='math')", {"x": 1.0, "y": 2.0}),
    ("sin(x, via='math')", {"x": 1.0}),
    ("sqrt(x, via='math')", {"x": 1.0}),
]

for _name in ("sum", "mean", "max", "min", "prod", "var", "std", "nansum", "nanmean", "nanmax", "nanmin"):
    SAMPLES += [(f"{_name}(x)", {"x": signed(4)}), (f"{_name}(x)", {"x": signed(2, 3)})]
    for _axis in ("0", "-1", "(0, 2)", "None"):
        SAMPLES += [(f"{_name}(x, axis={_axis}, keepdims={k})", {"x": signed(2, 3, 2)}) for k in (True, False)]
for _axis in ("None", "0", "-1"):
    SAMPLES += [(f"{_name}(x, axis={_axis})", {"x": signed(2, 3)}) for _name in ("cumsum", "cumprod", "product_before", "product_after")]
    SAMPLES += [(f"{_name}(x, y, axis={_axis})", {"x": signed(2, 3), "y": signed(2, 3)}) for _name in ("weighted_before", "weighted_after")]
SAMPLES += [
    ("var(x, ddof=1)", {"x": signed(4)}),
    ("std(x, axis=0, ddof=1)", {"x": signed(4, 2)}),
    ("prod(x)", {"x": np.array([2.0, 0.0, 3.0])}),
    ("prod(x)", {"x": np.array([0.0, 0.0, 3.0])}),
    ("prod(x, axis=1)", {"x": np.array([[2.0, 0.0, 3.0], [1.0, 2.0, 3.0], [0.0, 0.0, 0.0]])}),
    ("cumprod(x)", {"x": np.array([2.0, 0.0, 3.0, 0.0, 4.0])}),
    ("sum(x)", {"x": signed(0)}),
    ("sum(x)", {"x": np.array(2.0)}),
    ("prod(x)", {"x": signed(0)}),
    ("max(x)", {"x": signed(1)}),
    ("reshape(x, 2, -1)", {"x": signed(6)}),
    ("reshape(x, 3, 2)", {"x": signed(2, 3)}),
    ("ravel(x)", {"x": signed(2, 3)}),
    ("flatten(x)", {"x": signed(2, 3)}),
    ("transpose(x)", {"x": signed(2, 3)}),
    ("transpose(x, axes=(2, 0, 1))", {"x": signed(2, 3, 4)}),
    ("untranspose(x, axes=(2, 0, 1))", {"x": signed(2, 3, 4)}),
    ("mT(x)", {"x": signed(2, 3, 4)}),
    ("swapaxes(x, axis1=0, axis2=-1)", {"x": signed(2, 3, 4)}),
    ("moveaxis(x, source=0, destination=-1)", {"x": signed(2, 3, 4)}),
    ("moveaxis(x, source=(0, 1), destination=(2, 0))", {"x": signed(2, 3, 4)}),
    ("expand_dims(x, axis=1)", {"x": signed(3)}),
    ("expand_dims(x, axis=(0, -1))", {"x": signed(3)}),
    ("squeeze(x)", {"x": signed(1, 3, 1)}),
    ("squeeze(x, axis=0)", {"x": signed(1, 3, 1)}),
    ("broadcast_to(x, 2, 3)", {"x": signed(3)}),
    ("flip(x)", {"x": signed(2, 3)}),
    ("flip(x, axis=1)", {"x": signed(2, 3)}),
    ("roll(x, 1)", {"x": signed(5)}),
    ("roll(x, -1, axis=1)", {"x": signed(2, 3)}),
    ("sort(x)", {"x": signed(5)}),
    ("sort(x, axis=0)", {"x": signed(4, 2)}),
    ("take_along_axis(x, iorder, axis=1)", {"x": signed(2, 3), "iorder": np.array([[0, 0], [2, 1]])}),
    ("add_along_axis(x, iorder, shape_of(iy), axis=1)", {"x": signed(2, 2), "iorder": np.array([[0, 0], [2, 1]]), "iy": signed(2, 3)}),
    ("concatenate(x, y)", {"x": signed(2), "y": signed(3)}),
    ("concatenate(x, y, axis=1)", {"x": signed(2, 2), "y": signed(2, 3)}),
    ("concatenate(x, y, axis=-1)", {"x": signed(2, 2), "y": signed(2, 3)}),
    ("concatenate(x, y, axis=None)", {"x": signed(2, 2), "y": signed(3)}),
    ("concatenate_part(x, iy, iz, at=1, axis=0)", {"x": signed(5), "iy": signed(2), "iz": signed(3)}),
    ("concatenate_place(x, shape_of(iw), iy, iz, at=1, axis=0)", {"x": signed(3), "iw": signed(5), "iy": signed(2), "iz": signed(3)}),
    ("concatenate_array(x)", {"x": signed(2, 3)}),
    ("concatenate_array(x, axis=1)", {"x": signed(2, 3, 2)}),
    ("split_array(x, shape_of(iy), axis=1)", {"x": signed(3, 4), "iy": signed(2, 3, 2)}),
    ("stack_array(x, axis=1)", {"x": signed(2, 3)}),
    ("stack(x, y)", {"x": signed(3), "y": signed(3)}),
    ("stack(x, y, axis=-1)", {"x": signed(2, 3), "y": signed(2, 3)}),
    ("stack(x, y)", {"x": 1.5, "y": 2.5}),
    ("stack_part(x, at=1, axis=-1)", {"x": signed(2, 3)}),
    ("stack_place(x, shape_of(iy), at=1, axis=1)", {"x": signed(2), "iy": signed(2, 3)}),
    ("tile(x, 2)", {"x": signed(3)}),
    ("tile(x, 2, 1, 2)", {"x": signed(2, 3)}),
    ("tile_back(x, shape_of(iy), 2)", {"x": signed(6), "iy": signed(3)}),
    ("repeat(x, 2)", {"x": signed(2, 3)}),
    ("repeat(x, ir, axis=0)", {"x": signed(2, 3), "ir": np.array([2, 0])}),
    ("repeat_back(x, shape_of(iy), 2, axis=1)", {"x": signed(2, 6), "iy": signed(2, 3)}),
    ("diag(x)", {"x": signed(3)}),
    ("diag(x, k=-1)", {"x": signed(3)}),
    ("diag_of_any(x)", {"x": signed(3)}),
    ("diag_of_any(x, k=1)", {"x": signed(3, 4)}),
    ("diag_back(x, shape_of(iy))", {"x": signed(3, 3), "iy": signed(3)}),
    ("diag_of_any_back(x, shape_of(iy))", {"x": signed(3), "iy": signed(3, 4)}),
    ("diagonal(x)", {"x": signed(3, 4)}),
    ("diagonal(x, offset=-1, axis1=-2, axis2=-1)", {"x": signed(2, 3, 4)}),
    ("diagonal_place(x, shape_of(iy))", {"x": signed(3), "iy": signed(3, 4)}),
    ("trace(x)", {"x": signed(3, 3)}),
    ("trace(x, offset=1)", {"x": signed(3, 4, 2)}),
    ("trace_back(x, shape_of(iy), offset=1)", {"x": signed(2), "iy": signed(3, 4, 2)}),
    ("triu(x)", {"x": signed(3, 3)}),
    ("tril(x, k=-1)", {"x": signed(3, 4)}),
    ("triu(x)", {"x": signed(3)}),
    ("full(x, 2, 3)", {"x": 1.5}),
    ("full(x, 2, 3)", {"x": signed(3)}),
    ("full_like(iy, x)", {"x": 1.5, "iy": signed(2, 3)}),
    ("array(x)", {"x": signed(3)}),
    ("array(x)", {"x": 1.5}),
    ("asarray(x)", {"x": signed(3)}),
    ("item(x)", {"x": signed(1, 1)}),
    ("kaiser(4, x)", {"x": 2.0}),
    ("kaiser(1, x)", {"x": 2.0}),
    ("arange(x, 5.0)", {"x": 1.3}),
    ("arange(x, iy, z)", {"x": 0.3, "iy": 2.4, "z": 0.5}),
    ("arange(x)", {"x": 3.4}),
    ("part_of_bound(x, 0.3, 2.4, 0.5, at=0)", {"x": signed(5)}),
    ("part_of_bound(x, 0.3, 2.4, 0.5, at=2)", {"x": signed(5)}),
    ("range_of_bound(x, shape_of(iy), 0.3, 2.4, 0.5, at=0)", {"x": 1.3, "iy": signed(5)}),
    ("range_of_bound(x, shape_of(iy), 0.3, 2.4, 0.5, at=2)", {"x": 1.3, "iy": signed(5)}),
    ("linspace(x, y, 5)", {"x": 1.0, "y": 2.5}),
    ("linspace(x, y, 5, endpoint=False)", {"x": signed(3), "y": 2.5}),
    ("bincount(ix, x)", {"x": signed(4), "ix": np.array([0, 2, 2, 1])}),
    ("cast(x, dtype='f64')", {"x": signed(3)}),
    ("settled(x, dtype='f64')", {"x": signed(3)}),
    ("nan_to_num(x)", {"x": np.array([1.0, np.nan, -2.0])}),
    ("nan_to_num(x, nan=2.0, posinf=3.0)", {"x": np.array([1.0, np.inf, -2.0])}),
    ("ldexp(x, in_)", {"x": signed(3), "in_": np.array([1, 0, -2])}),
    ("frexp(x)", {"x": np.array([0.3, -1.4, 2.9])}),
    ("conjugate(x)", {"x": signed(3)}),
    ("real(x)", {"x": signed(2, 3)}),
    ("unwrap(x)", {"x": np.array([0.0, 4.0, 1.0, 8.5])}),
    ("unwrap(x, axis=0, period=4.0)", {"x": 3 * signed(3, 2)}),
    ("by_rows(x)", {"x": signed(3, 2).T}),
    ("copy_rows(x)", {"x": signed(3, 2)}),
    ("copy_rows(x)", {"x": signed(3, 2).T}),
    ("fsum(x)", {"x": signed(4)}),
    ("unique(x)", {"x": np.array([2.0, -1.0, 3.0])}),
    ("pinv(x)", {"x": signed(3, 2)}),
    ("pinv(x)", {"x": matrix(3)}),
    ("pinv(x)", {"x": signed(2, 2, 3)}),
    ("pinv_of(x, 1e-10)", {"x": signed(3, 2)}),
    ("pinv_of(x, 1e-10)", {"x": signed(2, 2, 3)}),
    ("median(x)", {"x": signed(5)}),
    ("median(x)", {"x": signed(2, 3)}),
    ("median(x, axis=(0, 2), keepdims=True)", {"x": signed(2, 3, 2)}),
    ("median(x, axis=1)", {"x": signed(2, 3)}),
    ("running_max(x)", {"x": signed(5)}),
    ("running_min(x, axis=1)", {"x": signed(2, 4)}),
    ("sum_of(x, iwhere, None, axis=0)", {"x": signed(2, 3), "iwhere": np.array([[True, False, True], [False, False, True]])}),
    ("sum_of(x, iwhere, y, axis=1, keepdims=True)", {"x": signed(2, 3), "iwhere": np.array([True, False, True]), "y": 1.5}),
    ("sum_of(x, None, y, dtype='f64')", {"x": signed(2, 3), "y": 1.5}),
    ("mean_of(x, None, axis=(0, 1), dtype='f64')", {"x": signed(2, 3)}),
    ("mean_of(x, iwhere, axis=1)", {"x": signed(2, 3), "iwhere": np.array([True, False, True])}),
    ("mean_of(x, iwhere)", {"x": signed(2, 3), "iwhere": np.array([[True, False, True], [False, False, True]])}),
    ("prod_of(x, iwhere, None, axis=0)", {"x": signed(3, 2), "iwhere": np.array([[True, False], [True, True], [True, True]])}),
    ("prod_of(x, iwhere, y)", {"x": signed(3), "iwhere": np.array([True, False, True]), "y": 2.0}),
    ("prod_of(x, None, y, axis=1, keepdims=True)", {"x": signed(2, 3), "y": 2.0}),
    ("max_of(x, iwhere, y)", {"x": signed(3), "iwhere": np.array([True, False, True]), "y": -9.0}),
    ("max_of(x, None, y, axis=0)", {"x": np.array([[-1.0, 2.0], [-3.0, 0.5]]), "y": 0.1}),
    ("min_of(x, iwhere, y, axis=1, keepdims=True)", {"x": signed(2, 3), "iwhere": np.array([True, False, True]), "y": 9.0}),
    ("var_of(x, axis=0, ddof=1, dtype='f64')", {"x": signed(4, 2)}),
    ("std_of(x, dtype='f64')", {"x": signed(4)}),
    ("cumsum_of(x, axis=0, dtype='f64')", {"x": signed(3, 2)}),
    ("cumprod_of(x, dtype='f64')", {"x": signed(4)}),
    ("item(x, 1, -1)", {"x": signed(2, 3)}),
    ("item(x, 2)", {"x": signed(2, 3)}),
    ("take_items(x, iplaces)", {"x": signed(2, 3), "iplaces": np.array([0, 5, 5])}),
    ("take_items(x, iplaces, axis=1)", {"x": signed(2, 3), "iplaces": np.array([[0, 2], [-1, 2]])}),
    ("take_items(x, 1, axis=-1)", {"x": signed(2, 3)}),
    ("take_items(x, 1)", {"x": signed(3)}),
    ("compress(ic, x)", {"x": signed(4), "ic": np.array([True, False, True, True])}),
    ("compress(ic, x, axis=1)", {"x": signed(2, 3), "ic": np.array([True, False])}),
    ("delete(x, 1)", {"x": signed(4)}),
    ("delete(x, iobj, axis=1)", {"x": signed(2, 3), "iobj": np.array([0, -1])}),
    ("choose(ii, x, y)", {"x": signed(3), "y": signed(2, 1), "ii": np.array([0, 1, 1])}),
    ("pad(x, width=1)", {"x": signed(3)}),
    ("pad(x, width=((1, 0), (0, 2)), constant_values=2.0)", {"x": signed(2, 3)}),
    ("pad(x, width=(1, 2), mode='edge')", {"x": signed(3, 2)}),
    ("pad(x, width=2, mode='reflect')", {"x": signed(4)}),
    ("pad(x, width=2, mode='symmetric')", {"x": signed(4)}),
    ("pad(x, width=5, mode='wrap')", {"x": signed(4)}),
    ("sum_from(x, istarts)", {"x": signed(5), "istarts": np.array([0, 3, 1])}),
    ("sum_from(x, istarts, axis=1)", {"x": signed(2, 5), "istarts": np.array([0, 2])}),
    ("copy(x)", {"x": signed(3)}),
    ("inv(x)", {"x": matrix(3)}),
    ("inv(x)", {"x": matrix(3, 2)}),
    ("solve(x, y)", {"x": matrix(3), "y": signed(3)}),
    ("solve(x, y)", {"x": matrix(3), "y": signed(3, 2)}),
    ("solve(x, y)", {"x": matrix(3, 2), "y": signed(2, 3, 2)}),
    ("det(x)", {"x": matrix(3)}),
    ("det(x)", {"x": matrix(2, 3)}),
    ("det(x)", {"x": np.array([[1.0, 2.0], [2.0, 4.0]])}),
    ("cofactors(x)", {"x": matrix(3)}),
    ("slogdet(x)", {"x": matrix(3)}),
    ("slogdet(x)", {"x": matrix(3, 2)}),
    ("over_matrix(x)", {"x": signed(2)}),
    ("cholesky(x)", {"x": definite(3)}),
    ("cholesky(x)", {"x": definite(2, 2)}),
    ("half_tril(x)", {"x": signed(3, 3)}),
    ("symmetric(x)", {"x": signed(3, 3)}),
    ("eigh(x)", {"x": definite(3)}),
    ("eigh_upper(x)", {"x": definite(3)}),
    ("diag_embed(x)", {"x": signed(3)}),
    ("gaps(x)", {"x": np.array([1.0, 2.5, 4.0])}),
    ("outer(x, y)", {"x": signed(2), "y": signed(3)}),
    ("convolution(x, y)", {"x": signed(4), "y": signed(3)}),
    ("convolution(x, y)", {"x": signed(2), "y": signed(5)}),
    ("convolution(x, y)", {"x": 0.7, "y": signed(3)}),
    ("correlation(x, y, shape_of(iz))", {"x": signed(6), "y": signed(3), "iz": signed(4)}),
    ("tensordot(x, y, axes=1)", {"x": signed(2, 3), "y": signed(3, 4)}),
    ("tensordot(x, y)", {"x": signed(4, 2, 3), "y": signed(2, 3)}),
    ("tensordot(x, y, axes=((0, 2), (1, 0)))", {"x": signed(2, 4, 3), "y": signed(3, 2, 5)}),
    ("tensordot(x, y, axes=0)", {"x": signed(2), "y": signed(3)}),
    ("tensordot(x, y, axes=1)", {"x": signed(3), "y": signed(3)}),
    ("tensordot_left(x, y, shape_of(iz), axes=1)", {"x": signed(2, 4), "y": signed(3, 4), "iz": signed(2, 3)}),
    ("tensordot_right(x, y, shape_of(iz), axes=1)", {"x": signed(2, 4), "y": signed(2, 3), "iz": signed(3, 4)}),
    ("einsum1(x, subscripts='ij->ji')", {"x": signed(2, 3)}),
    ("einsum1(x, subscripts='ii')", {"x": signed(3, 3)}),
    ("einsum1(x, subscripts='ij->i')", {"x": signed(2, 3)}),
    ("einsum1(x, subscripts='ii->i')", {"x": signed(3, 3)}),
    ("einsum2(x, y, subscripts='ij,jk->ik')", {"x": signed(2, 3), "y": signed(3, 4)}),
    ("einsum2(x, y, subscripts='ij,jk')", {"x": signed(2, 3), "y": signed(3, 4)}),
    ("einsum2(x, y, subscripts='ij,kl->il')", {"x": signed(2, 3), "y": signed(3, 4)}),
    ("einsum2(x, y, subscripts='ii,i->')", {"x": signed(3, 3), "y": signed(3)}),
    ("einsum2(x, y, subscripts='ij,ij->i')", {"x": signed(2, 1), "y": signed(2, 3)}),
    ("einsum2(x, x, subscripts='ij,kj->ik')", {"x": signed(2, 3)}),
    ("einsum3(x, y, z, subscripts='ij,jk,kl->il')", {"x": signed(2, 3), "y": signed(3, 4), "z": signed(4, 2)}),
    ("einsum4(x, y, z, w, subscripts='i,ij,jk,k->')", {"x": signed(2), "y": signed(2, 3), "z": signed(3, 4), "w": signed(4)}),
]  # fmt: skip
MATMULS = [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((5, 2, 3), (3,)), ((3,), (5, 3, 2)), ((5, 2, 3), (3, 4)),
           ((2, 3), (5, 3, 4)), ((5, 2, 3), (5, 3, 4)), ((6, 1, 2, 3), (5, 3, 4)), ((1, 2, 3), (5, 3, 4)), ((0, 3), (3, 2)), ((2, 0), (0, 3))]  # fmt: skip
SAMPLES += [("matmul(x, y)", {"x": signed(*a), "y": signed(*b)}) for a, b in MATMULS]
DOTS = [((), (3,)), ((2,), ()), ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((5, 2, 3), (3,)), ((3,), (5, 3, 2)), ((2, 3), (5, 3, 4)),
        ((2, 2, 3), (5, 3, 4))]  # fmt: skip
SAMPLES += [("dot(x, y)", {"x": signed(*a), "y": signed(*b)}) for a, b in DOTS]

#: rows without derivative: only what they compute and their laws are looked at
CONSTANT_SAMPLES: list[Sample] = [(f"{name}(x)", {"x": signed(2, 3)}) for name in
    "sign floor ceil trunc rint signbit fix logical_not isnan isinf isfinite any all argmax argmin count_nonzero flatnonzero argsort ones_like empty_like zeros_as".split()]  # fmt: skip
CONSTANT_SAMPLES += [("stable_argsort(x)", {"x": signed(2, 3)})]
CONSTANT_SAMPLES += [(f"{name}(x, y)", {"x": signed(2, 1), "y": signed(3)}) for name in
    "greater greater_equal less less_equal equal not_equal logical_and logical_or logical_xor floor_divide isclose isin".split()]  # fmt: skip
CONSTANT_SAMPLES += [(f"{name}(x, y)", {"x": np.array([1, 2]), "y": np.array([3, 1])}) for name in
    "bitwise_and bitwise_or bitwise_xor left_shift right_shift gcd lcm add multiply power floor_divide mod maximum divide".split()]  # fmt: skip
CONSTANT_SAMPLES += [(f"{name}({shape})", {}) for name in ("zeros", "ones", "empty") for shape in ("3", "2, 3", "2, dtype='f32'")]
CONSTANT_SAMPLES += [
    ("arange(5)", {}), ("arange(1, 5)", {}), ("arange(0.0, 1.0, 0.25)", {}), ("eye(3, None)", {}), ("eye(3, 2, k=1, dtype='f32')", {}),
    ("searchsorted(x, y)", {"x": np.arange(3.0), "y": np.array([0.5, 1.5])}), ("tri(3, 2)", {}), ("invert(x)", {"x": np.array([1, 2])}),
    ("searchsorted(x, y)", {"x": np.arange(3.0), "y": 1.5}), ("argmax(x, axis=1)", {"x": signed(2, 3)}), ("any(x, axis=0)", {"x": signed(2, 3)}),
    ("round(x)", {"x": signed(3)}), ("round(x, decimals=1)", {"x": 1.26}), ("imag(x)", {"x": signed(3)}), ("spacing(x)", {"x": signed(3)}),
    ("isneginf(x)", {"x": signed(3)}), ("isposinf(x)", {"x": signed(3)}), ("isreal(x)", {"x": signed(3)}), ("isrealobj(x)", {"x": signed(3)}),
    ("argwhere(x)", {"x": signed(2, 3)}), ("indices(2, 3)", {}), ("lexsort(x, y)", {"x": signed(3), "y": signed(3)}),
    ("lexsort(x)", {"x": signed(2, 3)}), ("lexsort(x)", {"x": signed(3)}), ("hamming(4)", {}), ("kaiser(4, 2.0)", {}),
    *((f"{name}(4)", {}) for name in ("leggauss", "hermgauss", "hermegauss", "laggauss", "chebgauss")),
    ("triu_indices_from(x)", {"x": signed(3, 3)}), ("diag_indices_from(x)", {"x": signed(3, 3)}), ("iscomplex(x)", {"x": signed(3)}),
    ("not_(x)", {"x": 1.0}), ("size(x)", {"x": signed(2, 3)}), ("share(x, out, y)", {"x": signed(3), "out": signed(3), "y": signed(3)}),
]  # fmt: skip
