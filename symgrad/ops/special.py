"""table: functions of ``scipy.special`` and ``scipy.linalg`` whose text is SciPy's own, for functions of the user's that call it.

Partials: Abramowitz and Stegun, Handbook of Mathematical Functions, chapters 6, 7, 9 and 26.
"""

from __future__ import annotations

from typing import Any

from symgrad.errors import NoDerivative
from symgrad.ir.types import Array, Type
from symgrad.ops.declare import constant, missing, rule
from symgrad.ops.elementwise import FLOAT_OF, elementwise
from symgrad.ops.indexing import Extents
from symgrad.ops.linalg import _matrix_law, _solve_law
from symgrad.ops.shapes import dtype_of

__all__: list[str] = []


def special(text: str, scipy: str | None = None, **partials: Any) -> None:
    """Declare a function applied element by element; SciPy is asked which dtype it gives."""
    name, inside = text.partition(")")[0].split("(")
    elementwise(text, emit=f"special.{scipy or name}({inside})", **partials)


# ------------------------------------------------------------------ of the normal distribution

special("erfinv(x)", dx="0.886226925452758 * exp(out * out)")
special("erfcinv(x)", dx="-0.886226925452758 * exp(out * out)")
special("erfcx(x)", dx="erfcx_slope(x, out, 1)")
special("erfi(x)", dx="1.1283791670955126 * exp(x * x)")
special("dawsn(x)", dx="dawsn_slope(x, out, 1)")
special("ndtr(x)", dx="0.3989422804014327 * exp(-0.5 * (x * x))")
# exp(-x * x / 2 - out) has no digits far below 0
special("log_ndtr(x)", dx="where(x < 0, 0.7978845608028654 / erfcx(where(x < 0, -0.7071067811865476 * x, 0.0)),"
                          " 0.3989422804014327 * exp(-0.5 * (x * x) - out))")  # fmt: skip
special("ndtri(x)", dx="2.5066282746310002 * exp(0.5 * (out * out))")
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

# ------------------------------------------------------------------ Bessel functions of whole order

special("bessel_j0(x)", "j0", dx="-bessel_j1(x)")
special("bessel_j1(x)", "j1", dx="0.5 * (bessel_j0(x) - bessel_j(2, x))")
special("bessel_j(n, x)", "jv", dn=None, dx="0.5 * (bessel_j(n - 1, x) - bessel_j(n + 1, x))")
special("bessel_y0(x)", "y0", dx="-bessel_y1(x)")
special("bessel_y1(x)", "y1", dx="bessel_y0(x) - out / x")
special("bessel_y(n, x)", "yv", dn=None, dx="0.5 * (bessel_y(n - 1, x) - bessel_y(n + 1, x))")
special("bessel_i0(x)", "i0", dx="bessel_i1(x)")
special("bessel_i1(x)", "i1", dx="0.5 * (bessel_i0(x) + bessel_iv(2, x))")
special("bessel_iv(n, x)", "iv", dn=None, dx="0.5 * (bessel_iv(n - 1, x) + bessel_iv(n + 1, x))")
special("bessel_k0(x)", "k0", dx="-bessel_k1(x)")
special("bessel_k1(x)", "k1", dx="-(bessel_k0(x) + out / x)")
special("bessel_k(n, x)", "kv", dn=None, dx="-0.5 * (bessel_k(n - 1, x) + bessel_k(n + 1, x))")
special("i0e(x)", dx="i1e(x) - sign(x) * out")
special("i1e(x)", dx="0.5 * (i0e(x) + ive(2, x)) - sign(x) * out")
special("ive(n, x)", dn=None, dx="0.5 * (ive(n - 1, x) + ive(n + 1, x)) - sign(x) * out")

# ------------------------------------------------------------------ incomplete gamma and beta functions


def _no_slope(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    if settings["of"]:
        raise NoDerivative(f"the derivative by {settings['of']} is not known", hint="SciPy does not compute it")
    return types[0]


constant("no_slope(x, of='')", _no_slope, emit="x")
special("gammainc(a, x)", da="no_slope(a, of='the first argument of gammainc')",
        dx="exp(xlogy(a - 1, x) - x - lgamma(a, via='scipy'))")  # fmt: skip
special("gammaincc(a, x)", da="no_slope(a, of='the first argument of gammaincc')",
        dx="-exp(xlogy(a - 1, x) - x - lgamma(a, via='scipy'))")  # fmt: skip
special("betainc(a, b, x)", da="no_slope(a, of='the first argument of betainc')", db="no_slope(b, of='the second argument of betainc')",
        dx="exp(xlogy(a - 1, x) + xlog1py(b - 1, -x) + lgamma(a + b, via='scipy') - lgamma(a, via='scipy')"
           " - lgamma(b, via='scipy'))")  # fmt: skip

# gamma(z + m) / gamma(z), and gamma(n + 1) / (gamma(k + 1) * gamma(n - k + 1))
special("poch(z, m)", dz="out * (digamma(z + m, via='scipy') - digamma(z, via='scipy'))", dm="out * digamma(z + m, via='scipy')")
special("binom(n, k)", dn="out * (digamma(n + 1, via='scipy') - digamma(n - k + 1, via='scipy'))",
        dk="out * (digamma(n - k + 1, via='scipy') - digamma(k + 1, via='scipy'))")  # fmt: skip

# ------------------------------------------------------------------ linear algebra

#: dtypes that SciPy solves in, whatever its version
SOLVED = frozenset({"i64", "f32", "f64", "c64", "c128"})


def _triangular_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    """The law of other systems of equations; SciPy itself chooses the dtype in which narrow integers are solved."""
    type_ = _solve_law(types, settings, dim)
    return type_ if all(dtype_of(t) in SOLVED for t in types) or not isinstance(type_, Array) else Array(None, type_.shape)


# only one triangle of the matrix is read, so the cotangent is triangular
rule("solve_triangular(a, b, lower=False)", _triangular_law, emit="solving.solve_triangular(a, b, lower=lower)",
     a_grad="-triangle(matmul_left(solve_transposed(a, out_grad, lower=lower), out, shape_of(a)), lower=lower)",
     b_grad="solve_transposed(a, out_grad, lower=lower)")  # fmt: skip
rule("solve_transposed(a, b, lower=False)", _triangular_law, emit="solving.solve_triangular(a, b, trans=1, lower=lower)",
     a_grad="-triangle(matmul_left(out, solve_triangular(a, out_grad, lower=lower), shape_of(a)), lower=lower)",
     b_grad="solve_triangular(a, out_grad, lower=lower)")  # fmt: skip
rule("triangle(x, lower=False)", _matrix_law, emit=lambda settings, types: "np.tril(x)" if settings["lower"] else "np.triu(x)", linear="x",
     x_grad="triangle(out_grad, lower=lower)")  # fmt: skip
# Al-Mohy and Higham, Computing the Frechet Derivative of the Matrix Exponential (2009)
rule("expm(a)", _matrix_law, emit="solving.expm(a)", a_grad="expm_frechet(mT(a), out_grad)")
missing("expm_frechet(a, e)", _matrix_law, "second derivatives of the matrix exponential are not known",
        emit="solving.expm_frechet(a, e, compute_expm=False)")  # fmt: skip
