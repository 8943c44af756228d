"""table: hypergeometric functions of ``scipy.special`` and their special cases: integrals, orthogonal polynomials, zeta, Lambert's W.

Partials: DLMF 13.3(ii), 15.5(i) and 16.3(i) for hypergeometric functions, 6.2, 7.2(iii) and 8.19(iv) for integrals, 18.9(iii) for
polynomials, 19.4(i) for elliptic integrals, 25.11.17 for zeta, 4.13.4 for W, 7.10.2 for the plasma dispersion function; Corless et
al., On the Lambert W function (1996). Where a slope is 0/0 at some point as it is usually written, it is said by a series that is not.
"""

from __future__ import annotations

from typing import Any

from symgrad.ops.rows.elementwise import elementwise
from symgrad.ops.rows.special import special

__all__: list[str] = []


def unknown(function: str, *parameters: str) -> dict[str, Any]:
    """Return the partial derivatives with respect to parameters for which SciPy has none."""
    return {f"d{name}": f"no_slope({name}, of='the argument {name} of {function}')" for name in parameters}


# ------------------------------------------------------------------ hypergeometric functions

special("hyp0f1(v, x)", **unknown("hyp0f1", "v"), dx="hyp0f1(v + 1.0, x) / v")
special("hyp1f1(a, b, x)", **unknown("hyp1f1", "a", "b"), dx="a / b * hyp1f1(a + 1.0, b + 1.0, x)")
special("hyperu(a, b, x)", **unknown("hyperu", "a", "b"), dx="-a * hyperu(a + 1.0, b + 1.0, x)")
special("hyp2f1(a, b, c, x)", **unknown("hyp2f1", "a", "b", "c"), dx="a * b / c * hyp2f1(a + 1.0, b + 1.0, c + 1.0, x)")

# ------------------------------------------------------------------ integrals

special("exp1(x)", dx="-exp(-x) / x")
special("expi(x)", dx="exp(x) / x")
special("expn(n, x)", **unknown("expn", "n"), dx="where(n > 0, -expn(where(n > 0, n, 1) - 1, x), -(exp(-x) + out) / x)")
for _name, _called, _part, _slope in (
    ("sine_integral", "sici", 0, "sinc(0.3183098861837907 * x)"),
    ("cosine_integral", "sici", 1, "cos(x) / x"),
    ("sinh_integral", "shichi", 0, "hyp0f1(1.5, 0.25 * (x * x))"),
    ("cosh_integral", "shichi", 1, "cosh(x) / x"),
    ("fresnel_sine", "fresnel", 0, "sin(1.5707963267948966 * (x * x))"),
    ("fresnel_cosine", "fresnel", 1, "cos(1.5707963267948966 * (x * x))"),
):
    special(f"{_name}(x)", part=(_called, _part), dx=_slope)
special("spence(x)", dx="-hyp2f1(1.0, 1.0, 2.0, 1.0 - x)")
special("ellipk(x)", dx="0.39269908169872414 * hyp2f1(1.5, 1.5, 2.0, x)")
special("ellipe(x)", dx="-0.39269908169872414 * hyp2f1(0.5, 1.5, 2.0, x)")
special("ellipkinc(x, m)", **unknown("ellipkinc", "m"), dx="1 / sqrt(1 - m * square(sin(x)))")
special("ellipeinc(x, m)", **unknown("ellipeinc", "m"), dx="sqrt(1 - m * square(sin(x)))")

# ------------------------------------------------------------------ powers and exponentials

special("exprel(x)", dx="0.5 * hyp1f1(2.0, 3.0, x)")
special("exp10(x)", dx="2.302585092994046 * out")
special("cosm1(x)", dx="-sin(x)")
# the slope by the exponent: log(x)**2 times the mean of t * x**(exponent * t) for t from 0 to 1
special(
    "boxcox(x, power)",
    dx="float_power(x, power - 1.0)",
    dpower="where(x == 0, 1 / where(power == 0, 1.0, power * power), 0.5 * square(log(where(x == 0, 1.0, x)))"
    " * hyp1f1(2.0, 3.0, power * log(where(x == 0, 1.0, x))))",
)
special(
    "boxcox1p(x, power)",
    dx="float_power(1.0 + x, power - 1.0)",
    dpower="where(x == -1, 1 / where(power == 0, 1.0, power * power), 0.5 * square(log1p(where(x == -1, 0.0, x)))"
    " * hyp1f1(2.0, 3.0, power * log1p(where(x == -1, 0.0, x))))",
)
special("inv_boxcox(x, power)", dx="float_power(out, 1.0 - power)", **unknown("inv_boxcox", "power"))
special("inv_boxcox1p(x, power)", dx="float_power(1.0 + out, 1.0 - power)", **unknown("inv_boxcox1p", "power"))
special("powm1(x, y)", dx="y * float_power(x, lowered(y))", dy="(out + 1) * log_of_base(x)")

# ------------------------------------------------------------------ orthogonal polynomials

_LESS = "where(n == 0, 1, n) - 1"
for _text, _slope in (
    ("eval_jacobi(n, a, b, x)", f"where(n == 0, 0.0, 0.5 * (n + a + b + 1) * eval_jacobi({_LESS}, a + 1.0, b + 1.0, x))"),
    ("eval_legendre(n, x)", f"where(n == 0, 0.0, 0.5 * (n + 1) * eval_jacobi({_LESS}, 1.0, 1.0, x))"),
    ("eval_chebyt(n, x)", f"n * eval_chebyu({_LESS}, x)"),
    ("eval_chebyu(n, x)", f"where(n == 0, 0.0, 2.0 * eval_gegenbauer({_LESS}, 2.0, x))"),
    ("eval_gegenbauer(n, a, x)", f"where(n == 0, 0.0, 2 * a * eval_gegenbauer({_LESS}, a + 1.0, x))"),
    ("eval_hermite(n, x)", f"2 * n * eval_hermite({_LESS}, x)"),
    ("eval_hermitenorm(n, x)", f"n * eval_hermitenorm({_LESS}, x)"),
    ("eval_genlaguerre(n, a, x)", f"where(n == 0, 0.0, -eval_genlaguerre({_LESS}, a + 1.0, x))"),
    ("eval_laguerre(n, x)", f"where(n == 0, 0.0, -eval_genlaguerre({_LESS}, 1.0, x))"),
):
    _name, _params = _text.rstrip(")").split("(")
    special(_text, **unknown(_name, *_params.split(", ")[:-1]), dx=_slope)

# ------------------------------------------------------------------ zeta, W, and the error function of complex numbers

special("zeta(x, q)", **unknown("zeta", "x"), dq="-x * zeta(x + 1.0, q)")
special("wrightomega(x)", dx="out / (1 + out)")
special("lambertw(x, k)", dx="exp(-out) / (1 + out)", dk=None)
special("loggamma(x)", dx="digamma(x, via='scipy')")
special("wofz(x)", dx="wofz_slope(x, out, 1)")
elementwise(
    "wofz_slope(x, value, n)", emit="wofz_slope(x, value, n)", like="np.log(x + 0j)", dx="wofz_slope(x, value, n + 1)", dvalue=None, dn=None
)
