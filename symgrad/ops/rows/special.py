"""table: functions of ``scipy.special`` and ``scipy.linalg`` that are emitted as calls of SciPy.

Partials: Abramowitz and Stegun, Handbook of Mathematical Functions, chapters 6, 7, 9 and 26.
"""

from __future__ import annotations

from typing import Any

from symgrad.errors import NoDerivative, UnknownFunction
from symgrad.ir.types import Array, Type
from symgrad.ops.declare import constant, missing, rule
from symgrad.ops.indexing import Extents
from symgrad.ops.rows.elementwise import FLOAT_OF, elementwise
from symgrad.ops.rows.linalg import _matrix_law, _solve_law
from symgrad.ops.shapes import dtype_of

__all__: list[str] = []


def special(text: str, scipy: str | None = None, *, part: tuple[str, int] | None = None, **partials: Any) -> None:
    """Declare an elementwise function whose result dtype is SciPy's.

    ``scipy`` is SciPy's name if it differs from the row's; ``part`` selects one of several results.
    """
    name, inside = text.partition(")")[0].split("(")
    called, place = part or (scipy or name, None)
    elementwise(text, emit=f"special.{called}({inside}){'' if place is None else f'[{place}]'}", **partials)


# ------------------------------------------------------------------ of the normal distribution

special("erfinv(x)", dx="0.886226925452758 * exp(out * out)")
special("erfcinv(x)", dx="-0.886226925452758 * exp(out * out)")
special("erfcx(x)", dx="erfcx_slope(x, out, 1)")
special("erfi(x)", dx="1.1283791670955126 * exp(x * x)")
special("dawsn(x)", dx="dawsn_slope(x, out, 1)")
special("ndtr(x)", dx="0.3989422804014327 * exp(-0.5 * (x * x))")
# exp(-x * x / 2 - out) has no digits far below 0
special(
    "log_ndtr(x)",
    dx="where(x < 0, 0.7978845608028654 / erfcx(where(x < 0, -0.7071067811865476 * x, 0.0)),"
    " 0.3989422804014327 * exp(-0.5 * (x * x) - out))",
)
special("ndtri(x)", dx="2.5066282746310002 * exp(0.5 * (out * out))")
special("ndtri_exp(x)", dx="2.5066282746310002 * exp(x + 0.5 * (out * out))")
# Owen, Tables for Computing Bivariate Normal Probabilities (1956)
special(
    "owens_t(h, a)",
    dh="-0.19947114020071635 * exp(-0.5 * (h * h)) * erf(0.7071067811865476 * a * h, via='scipy')",
    da="0.15915494309189535 * exp(-0.5 * (h * h) * (1 + a * a)) / (1 + a * a)",
)
# the n-th derivative; the function's own value, its second operand, does not count as one
for _name in ("erfcx_slope", "dawsn_slope"):
    elementwise(f"{_name}(x, value, n)", emit=f"{_name}(x, value, n)", like=FLOAT_OF, dx=f"{_name}(x, value, n + 1)", dvalue=None, dn=None)

# ------------------------------------------------------------------ of probabilities and entropies

special("expit(x)", dx="out * expit(-x)")
special("logit(x)", dx="1 / (x * (1 - x))")
special("log_expit(x)", dx="expit(-x)")
# where x is 0, the slope by y is that of 0 * log(y), also at y = 0
special("xlogy(x, y)", dx="log(1.0 * y)", dy="x / where(x == 0, 1.0, y)")
special("xlog1py(x, y)", dx="log1p(1.0 * y)", dy="x / where(x == 0, 1.0, 1 + y)")
special("entr(x)", dx="-1 - log(x)")
special("rel_entr(x, y)", dx="log(x / y) + 1", dy="-(x / where(x == 0, 1.0, y))")
special("kl_div(x, y)", dx="log(x / y)", dy="1 - x / where(x == 0, 1.0, y)")

# ------------------------------------------------------------------ incomplete gamma and beta functions


def _no_slope(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    if settings["of"]:
        what = f"the derivative by {settings['of']} is not known, and SciPy does not compute it"
        raise NoDerivative(what, hint=UnknownFunction.default_hint)
    return types[0]


constant("no_slope(x, of='')", _no_slope, emit="x")
_GAMMA_DENSITY = "exp(xlogy(a - 1, x) - x - lgamma(a, via='scipy'))"
_LOG_BETA = "lgamma(a, via='scipy') + lgamma(b, via='scipy') - lgamma(a + b, via='scipy')"
_BETA_DENSITY = f"exp(xlogy(a - 1, x) + xlog1py(b - 1, -x) - ({_LOG_BETA}))"
special("gammainc(a, x)", da="gammainc_slope(a, x, out, gammaincc(a, x))", dx=_GAMMA_DENSITY)
special("gammaincc(a, x)", da="-gammainc_slope(a, x, gammainc(a, x), out)", dx=f"-{_GAMMA_DENSITY}")
special(
    "betainc(a, b, x)",
    da="betainc_slope(a, b, x, out, betaincc(a, b, x))",
    db="betainc_slope(a, b, x, out, betaincc(a, b, x), second=True)",
    dx=_BETA_DENSITY,
)


def float_of(*params: str) -> str:
    """Return an expression with the result dtype of a runtime function; Python numbers yield a Python number."""
    several = ", ".join(params)
    return f"np.sin(1.0 * {' + '.join(params)}) if any(isinstance(p, (np.ndarray, np.generic)) for p in ({several})) else 1.0"


# by the shapes, and so by x those of the densities; the values, the last operands, do not count
elementwise(
    "gammainc_slope(a, x, below, above)",
    emit="gammainc_slope(a, x, below, above)",
    like=float_of("a", "x", "below", "above"),
    dbelow=None,
    dabove=None,
    da="no_slope(a, of='the first argument of gammainc, a second time,')",
    dx=f"where(x == 0, where(a > 1, 0.0, log(1.0 * x)), {_GAMMA_DENSITY} * (log(where(x == 0, 1.0, x)) - digamma(a, via='scipy')))",
)
# at an end that is its logarithm times a power, which is 0 where the power is positive
_BY_FIRST = (
    f"where(x == 0, where(a > 1, 0.0, log(1.0 * x)), {_BETA_DENSITY} * (log(where(x == 0, 1.0, x))"
    " + digamma(a + b, via='scipy') - digamma(a, via='scipy')))"
)
_BY_SECOND = (
    f"where(x == 1, where(b > 1, 0.0, log1p(-x)), {_BETA_DENSITY} * (log1p(-where(x == 1, 0.0, x))"
    " + digamma(a + b, via='scipy') - digamma(b, via='scipy')))"
)
elementwise(
    "betainc_slope(a, b, x, below, above, second=False)",
    dbelow=None,
    dabove=None,
    like=float_of("a", "b", "x", "below", "above"),
    emit=lambda s, t: f"betainc_slope(a, b, x, below, above{', True' if s['second'] else ''})",
    da="no_slope(a, of='the shapes of betainc, a second time,')",
    db="no_slope(b, of='the shapes of betainc, a second time,')",
    dx=f"{_BY_SECOND} if second else {_BY_FIRST}",
)

# gamma(z + m) / gamma(z), and gamma(n + 1) / (gamma(k + 1) * gamma(n - k + 1))
special("poch(z, m)", dz="out * (digamma(z + m, via='scipy') - digamma(z, via='scipy'))", dm="out * digamma(z + m, via='scipy')")
special(
    "binom(n, k)",
    dn="out * (digamma(n + 1, via='scipy') - digamma(n - k + 1, via='scipy'))",
    dk="out * (digamma(n - k + 1, via='scipy') - digamma(k + 1, via='scipy'))",
)

# inverse functions: their derivatives are those of the functions divided by the densities at the results
for _name, _sign in (("gammaincinv", ""), ("gammainccinv", "-")):
    special(
        f"{_name}(a, x)",
        da="-gammainc_slope(a, out, gammainc(a, out), gammaincc(a, out)) * exp(out - xlogy(a - 1, out) + lgamma(a, via='scipy'))",
        dx=f"{_sign}exp(out - xlogy(a - 1, out) + lgamma(a, via='scipy'))",
    )
_BY_SHAPE = "betainc_slope(a, b, out, betainc(a, b, out), betaincc(a, b, out), second={})"
_INVERSE_DENSITY = f"exp({_LOG_BETA} - xlogy(a - 1, out) - xlog1py(b - 1, -out))"
special(
    "betaincc(a, b, x)",
    da="-betainc_slope(a, b, x, betainc(a, b, x), out)",
    db="-betainc_slope(a, b, x, betainc(a, b, x), out, second=True)",
    dx=f"-{_BETA_DENSITY}",
)
for _name, _sign in (("betaincinv", ""), ("betainccinv", "-")):
    special(
        f"{_name}(a, b, x)",
        da=f"-{_BY_SHAPE.format(False)} * {_INVERSE_DENSITY}",
        db=f"-{_BY_SHAPE.format(True)} * {_INVERSE_DENSITY}",
        dx=f"{_sign}{_INVERSE_DENSITY}",
    )
# Student's distribution function and its inverse: half of ``betainc(df / 2, 0.5, df / (df + x * x))`` is on either side, DLMF 8.17
_LOG_HEIGHT = "lgamma(0.5 * df + 0.5, via='scipy') - lgamma(0.5 * df, via='scipy') - 0.5 * log(3.141592653589793 * df)"
_STUDENT = f"exp({_LOG_HEIGHT} - 0.5 * (df + 1) * log1p(x * x / df))"
# the first part by ``0.5 * df`` of that share of both tails
elementwise(
    "tails_slope(df, x, below, above)",
    emit="tails_slope(df, x, below, above)",
    like=float_of("df", "x", "below", "above"),
    dbelow=None,
    dabove=None,
    ddf="no_slope(df, of='the first argument of stdtr, a second time,')",
    dx=f"-2.0 * sign(x) * {_STUDENT} * (digamma(0.5 * df + 0.5, via='scipy') - digamma(0.5 * df, via='scipy') - log1p(1.0 * x * x / df))",
)
_TAILS = (
    "tails_slope(df, AT, betainc(0.5 * df, 0.5, df / (df + 1.0 * AT * AT)), betainc(0.5, 0.5 * df, 1.0 * AT * AT / (df + 1.0 * AT * AT)))"
)
special("stdtr(df, x)", ddf=f"-0.25 * sign(x) * {_TAILS.replace('AT', 'x')} - {_STUDENT} * x / (2.0 * df)", dx=_STUDENT)
_INVERSE_STUDENT = f"exp(0.5 * (df + 1) * log1p(out * out / df) - ({_LOG_HEIGHT}))"
special(
    "stdtrit(df, x)", ddf=f"0.25 * sign(out) * {_TAILS.replace('AT', 'out')} * {_INVERSE_STUDENT} + out / (2.0 * df)", dx=_INVERSE_STUDENT
)

# ------------------------------------------------------------------ linear algebra

#: the dtypes in which every version of SciPy solves
SOLVED = frozenset({"i64", "f32", "f64", "c64", "c128"})


def _triangular_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    """The law of other systems of equations; SciPy itself chooses the dtype in which narrow integers are solved."""
    type_ = _solve_law(types, settings, dim)
    return type_ if all(dtype_of(t) in SOLVED for t in types) or not isinstance(type_, Array) else Array(None, type_.shape)


# only one triangle of the matrix is read, so the cotangent is triangular
rule(
    "solve_triangular(a, b, lower=False)",
    _triangular_law,
    emit="solving.solve_triangular(a, b, lower=lower)",
    a_grad="-triangle(matmul_left(solve_transposed(a, out_grad, lower=lower), out, shape_of(a)), lower=lower)",
    b_grad="fit(solve_transposed(a, out_grad, lower=lower), shape_of(b))",
)
rule(
    "solve_transposed(a, b, lower=False)",
    _triangular_law,
    emit="solving.solve_triangular(a, b, trans=1, lower=lower)",
    a_grad="-triangle(matmul_left(out, solve_triangular(a, out_grad, lower=lower), shape_of(a)), lower=lower)",
    b_grad="fit(solve_triangular(a, out_grad, lower=lower), shape_of(b))",
)
rule(
    "triangle(x, lower=False)",
    _matrix_law,
    emit=lambda settings, types: "np.tril(x)" if settings["lower"] else "np.triu(x)",
    linear="x",
    x_grad="triangle(out_grad, lower=lower)",
)
# Al-Mohy and Higham, Computing the Frechet Derivative of the Matrix Exponential (2009)
rule("expm(a)", _matrix_law, emit="solving.expm(a)", a_grad="expm_frechet(mT(a), out_grad)")


def _frechet_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    """The shape of the matrix; SciPy computes in double precision."""
    type_ = _matrix_law(types, settings, dim)
    return Array("c128" if dtype_of(types[0]) in ("c64", "c128") else "f64", getattr(type_, "shape", None))


missing(
    "expm_frechet(a, e)",
    _frechet_law,
    "second derivatives of the matrix exponential are not known",
    emit="solving.expm_frechet(a, e, compute_expm=False)",
)


def _sylvester_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    """The shape of the right side; SciPy itself chooses the dtype of narrow operands."""
    is_double = all(dtype_of(t) in ("f64", "i64") for t in types)
    return Array("f64" if is_double else None, getattr(types[2], "shape", None))


# A X + X B = Q; Kao and Hennequin, Automatic Differentiation of Sylvester, Lyapunov, and Algebraic Riccati Equations (2020)
rule(
    "sylvester(a, b, q)",
    _sylvester_law,
    emit="solving.solve_sylvester(a, b, q)",
    a_grad="-matmul(sylvester(mT(a), mT(b), out_grad), mT(out))",
    b_grad="-matmul(mT(out), sylvester(mT(a), mT(b), out_grad))",
    q_grad="sylvester(mT(a), mT(b), out_grad)",
)
