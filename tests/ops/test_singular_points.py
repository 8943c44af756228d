"""Every row at its singular points: where its value or its slope is 0/0, infinite or discontinuous.

For rows of one number that are applied element by element the slope must be the limit that mpmath finds from each side of
the point, as far as the function is real there. Where the two sides differ, and for all other rows, a table says what it
must be, by the policy of docs/decisions/0009-kinks.md. A row that stands in no table fails.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import symgrad
from symgrad.ops.declare import ROWS
from tests.ops import trace
from tests.ops.laws import OF_COMPLEX
from tests.ops.trace import Node

INF, NAN = math.inf, math.nan
EULER = 0.5772156649015329  #: the limit of 1 + 1/2 + ... + 1/n - log(n)
mp = mpmath.mp.clone()
mp.dps = 50

#: rows of one number, applied element by element: the function in mpmath
MEANING: dict[str, Callable[[Any], Any]] = {
    "negative": lambda x: -x, "positive": lambda x: x, "abs": abs, "fabs": abs, "square": lambda x: x * x, "reciprocal": lambda x: 1 / x,
    "exp": mp.exp, "exp2": lambda x: mp.mpf(2) ** x, "expm1": lambda x: mp.exp(x) - 1, "log": mp.log, "math_log": mp.log,
    "log2": lambda x: mp.log(x) / mp.log(2), "log10": mp.log10, "log1p": lambda x: mp.log(1 + x), "sqrt": mp.sqrt,
    "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)), "sin": mp.sin, "cos": mp.cos, "tan": mp.tan, "arcsin": mp.asin, "arccos": mp.acos,
    "arctan": mp.atan, "sinh": mp.sinh, "cosh": mp.cosh, "tanh": mp.tanh, "arcsinh": mp.asinh, "arccosh": mp.acosh, "arctanh": mp.atanh,
    "deg2rad": mp.radians, "rad2deg": mp.degrees, "sinc": mp.sincpi, "erf": mp.erf, "erfc": mp.erfc, "gamma": mp.gamma,
    "lgamma": lambda x: mp.log(abs(mp.gamma(x))), "digamma": mp.digamma, "i0": lambda x: mp.besseli(0, x), "conjugate": lambda x: x,
    "erfinv": mp.erfinv, "erfcinv": lambda x: mp.erfinv(1 - x), "erfcx": lambda x: mp.exp(x * x) * mp.erfc(x), "erfi": mp.erfi,
    "dawsn": lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x), "ndtr": mp.ncdf, "log_ndtr": lambda x: mp.log(mp.erfc(-x / mp.sqrt(2)) / 2),
    "ndtri": lambda x: mp.sqrt(2) * mp.erfinv(2 * x - 1), "expit": lambda x: 1 / (1 + mp.exp(-x)), "logit": lambda x: mp.log(x / (1 - x)),
    "log_expit": lambda x: -mp.log(1 + mp.exp(-x)), "entr": lambda x: -x * mp.log(x), "i0e": lambda x: mp.exp(-abs(x)) * mp.besseli(0, x),
    "i1e": lambda x: mp.exp(-abs(x)) * mp.besseli(1, x), "log_of_base": mp.log, "lowered": lambda y: y - 1, "nan_to_num": lambda x: x,
    "k0e": lambda x: mp.exp(x) * mp.besselk(0, x), "k1e": lambda x: mp.exp(x) * mp.besselk(1, x), "exp1": mp.e1, "expi": mp.ei,
    "exp10": lambda x: mp.mpf(10) ** x, "exprel": lambda x: mp.expm1(x) / x if x else mp.mpf(1), "cosm1": lambda x: mp.cos(x) - 1,
    "spence": lambda x: mp.polylog(2, 1 - x), "ellipk": mp.ellipk, "ellipe": mp.ellipe, "loggamma": mp.loggamma,
    "wrightomega": lambda x: mp.lambertw(mp.exp(x)), "ndtri_exp": lambda x: mp.sqrt(2) * mp.erfinv(2 * mp.exp(x) - 1),
    "sine_integral": mp.si, "cosine_integral": mp.ci, "sinh_integral": mp.shi, "cosh_integral": mp.chi, "fresnel_sine": mp.fresnels,
    "fresnel_cosine": mp.fresnelc, "airy_ai": mp.airyai, "airy_bi": mp.airybi, "airy_ai_slope": lambda x: mp.airyai(x, derivative=1),
    "airy_bi_slope": lambda x: mp.airybi(x, derivative=1),
    **{f"bessel_{kind}{n}": lambda x, kind=kind, n=n: getattr(mp, f"bessel{kind}")(n, x) for kind in "jyik" for n in (0, 1)},
}  # fmt: skip
POINTS = (0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 30.0, -30.0, 1e5, -1e5, INF, -INF)
#: rows that mpmath computes from series, which take long far out: they are looked at near 0
NEAR = frozenset(
    """exp1 expi spence ellipk ellipe wrightomega ndtri_exp sine_integral cosine_integral sinh_integral cosh_integral fresnel_sine fresnel_cosine
    airy_ai airy_ai_slope airy_bi airy_bi_slope exprel loggamma k0e k1e""".split()
)
#: where the two sides differ, or the function ends: the slope that the row gives
KINKS = {
    **{(name, 0.0): 0.0 for name in ("abs", "fabs", "i0e")},
    # a rule's logarithm of a base: its slope at 0 is multiplied by 0
    ("log_of_base", 0.0): 0.0,
    # what NumPy puts in for an infinite number does not change with it
    **{("nan_to_num", at): 0.0 for at in (INF, -INF)},
    # poles that the function leaves with opposite slopes
    **{("lgamma", float(at)): NAN for at in (0, -1, -2, -30, -1e5, -INF)},
    # an infinity less an infinity, where the function itself is infinite
    **{(name, 0.0): NAN for name in ("bessel_y1", "k0e", "k1e")},
    # a pole between a slope that grows and one that falls; a slope that grows like a logarithm
    ("expi", 0.0): INF, ("ellipe", 1.0): -INF,
    # SciPy has no value of ``ive(2, x)`` at infinity
    ("i1e", INF): NAN, ("i1e", -INF): NAN,
}  # fmt: skip


def slopes(text: str, args: dict[str, Any], order: int = 1) -> list[Any]:
    """The derivative of the sum of a call's first result by each operand whose name does not begin with i."""
    nodes = {k: Node(v) for k, v in args.items()}
    wrt = [node for k, node in nodes.items() if not k.startswith("i")]
    out = trace.call(text, **nodes).outs[0]
    for _ in range(order):
        gradients = trace.grads(out, np.ones(np.shape(out.value)) if np.shape(out.value) else 1.0, wrt)
        out = next((g for g in gradients if isinstance(g, Node)), Node(0.0))
    return [0.0 if g is None else trace.plain(g) for g in gradients]


def limits(function: Callable[[Any], Any], at: float, order: int) -> list[tuple[Any, Any]]:
    """The derivative near a point, and nearer to it, from each side on which the function is real."""
    pairs = []
    for side in (1, -1):
        if math.isinf(at):
            places = [mp.mpf(10) ** digits * side for digits in (8, 16)] if side * at > 0 else []
        else:
            places = [mp.mpf(at) + side * mp.mpf(10) ** -digits * max(1, abs(mp.mpf(at))) for digits in (12, 24)]
        try:
            steps = [abs(place) * mp.mpf(10) ** -20 if math.isinf(at) else mp.mpf(10) ** -36 * max(1, abs(place)) for place in places]
            if all(mp.im(function(place)) == 0 for place in places):
                pairs.append(tuple(mp.diff(function, place, order, h=step) for place, step in zip(places, steps, strict=True)))
        except (ValueError, ZeroDivisionError, OverflowError, mp.NoConvergence):
            continue
    return [(mp.re(far), mp.re(near)) for far, near in (pair for pair in pairs if pair)]


def agrees(slope: float, far: Any, near: Any, at: float, order: int) -> bool:
    """Is a slope the limit, up to rounding of numbers of the size of the point?"""
    if math.isnan(slope):
        return False
    if math.isinf(slope):
        return bool(slope * near > 0 and (abs(near) > 1e300 or abs(near) > 15 and abs(near) > abs(far) + 10))
    if math.isinf(at):
        return bool(abs(slope - near) <= 1e-6 * max(1, abs(near)))
    return bool(abs(slope - near) <= 10.0 ** (-11 + 2 * order) * abs(near) + 1e-15 * max(1.0, abs(at)) ** order)


def value_of(name: str, at: float) -> float:
    """What a row of one number computes; nan where it raises."""
    try:
        return float(trace.call(f"{name}(x)", x=Node(at)).value)
    except (ValueError, OverflowError, ZeroDivisionError):
        return NAN


def points_of(name: str) -> tuple[float, ...]:
    """The points at which a row is looked at."""
    return tuple(at for at in POINTS if abs(at) <= 2) if name in NEAR else POINTS


ONE_NUMBER = [row.name for row in ROWS.values() if row.elementwise and row.partials and len(row.params) == 1 and row.name not in OF_COMPLEX]


@pytest.mark.sweep(3)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ONE_NUMBER)
def test_the_slope_of_a_row_is_the_limit_of_its_slopes(name: str) -> None:
    asked = 0
    for at in points_of(name):
        if math.isnan(value_of(name, at)):
            continue
        slope = float(slopes(f"{name}(x)", {"x": np.float64(at)})[0])
        pairs = limits(MEANING[name], at, 1)
        if (name, at) in KINKS:
            assert slope == KINKS[name, at] or math.isnan(slope) and math.isnan(KINKS[name, at]), (at, slope)
            assert not pairs or not all(agrees(slope, *pair, at, 1) for pair in pairs), f"{at} is no kink"
        else:
            assert all(agrees(slope, *pair, at, 1) for pair in pairs), (at, slope, pairs)
        asked += 1
    assert asked >= 3


@pytest.mark.sweep(8)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ONE_NUMBER)
def test_where_the_slope_has_a_slope_it_is_the_second_derivative(name: str) -> None:
    for at in points_of(name):
        if math.isnan(value_of(name, at)) or math.isinf(at) or (name, at) in KINKS:
            continue
        pairs = limits(MEANING[name], at, 2)
        is_smooth = len(pairs) == 2 and abs(pairs[0][1] - pairs[1][1]) < 1e-9 * max(1, abs(pairs[0][1])) and abs(pairs[0][1]) < 1e12
        if is_smooth:
            second = float(slopes(f"{name}(x)", {"x": np.float64(at)}, 2)[0])
            assert agrees(second, *pairs[0], at, 2), (at, second, pairs)


# ------------------------------------------------------------------ several numbers, and whole arrays


def a(*numbers: float) -> Any:
    return np.array(numbers)


ZEROS, EYE = np.zeros((2, 2)), np.eye(2)
#: a call, where, and the derivative of the sum of what it computes by each operand whose name does not begin with i
TABLE: list[tuple[str, dict[str, Any], list[Any]]] = [
    # powers: the slope by a base of 0 is that of the power less one; by the exponent 0 at a base of 0, nan below it
    ("power(x, y)", {"x": 0.0, "y": 2.0}, [0.0, 0.0]), ("power(x, y)", {"x": 0.0, "y": 1.0}, [1.0, 0.0]),
    ("power(x, y)", {"x": 0.0, "y": 0.5}, [INF, 0.0]), ("power(x, y)", {"x": 0.0, "y": 0.0}, [0.0, 0.0]),
    ("power(x, y)", {"x": -2.0, "y": 2.0}, [-4.0, NAN]), ("power(x, y)", {"x": 2.0, "y": 0.0}, [0.0, math.log(2)]),
    ("power(x, y)", {"x": 0.0, "y": -1.0}, [-INF, NAN]), ("power(x, y)", {"x": INF, "y": 1.0}, [1.0, INF]),
    ("float_power(x, y)", {"x": 0.0, "y": 1.0}, [1.0, 0.0]), ("float_power(x, y)", {"x": 0.0, "y": 0.0}, [0.0, 0.0]),
    ("slope_power(x, y)", {"x": 0.0, "y": 0.5}, [INF, 0.0]),
    # quotients: as the formula has it
    ("divide(x, y)", {"x": 1.0, "y": 0.0}, [INF, -INF]), ("divide(x, y)", {"x": 0.0, "y": 0.0}, [INF, NAN]),
    ("divide(x, y)", {"x": 1.0, "y": INF}, [0.0, 0.0]), ("ratio(x, y)", {"x": 1.0, "y": 0.0}, [INF, -INF]),
    # remainders: the slope by x is 1, by y what floor and trunc give at the point
    ("mod(x, y)", {"x": 2.0, "y": 1.0}, [1.0, -2.0]), ("mod(x, y)", {"x": -2.5, "y": 1.0}, [1.0, 3.0]),
    ("mod(x, y)", {"x": 1.0, "y": INF}, [1.0, 0.0]),
    ("fmod(x, y)", {"x": 2.0, "y": 1.0}, [1.0, -2.0]), ("fmod(x, y)", {"x": -2.5, "y": 1.0}, [1.0, 2.0]),
    # the norm of zeros has no slope; no square overflows
    ("hypot(x, y)", {"x": 0.0, "y": 0.0}, [NAN, NAN]), ("hypot(x, y)", {"x": 0.0, "y": -2.0}, [0.0, -1.0]),
    ("hypot(x, y)", {"x": 1e200, "y": 1e200}, [0.5**0.5, 0.5**0.5]),
    ("arctan2(y, x)", {"y": 0.0, "x": 0.0}, [NAN, NAN]), ("arctan2(y, x)", {"y": 0.0, "x": -1.0}, [-1.0, 0.0]),
    ("arctan2(y, x)", {"y": 1.0, "x": 0.0}, [0.0, -1.0]),
    # of one infinite and one finite operand the larger has all; of two infinite ones neither has a share
    ("logaddexp(x, y)", {"x": 0.0, "y": 0.0}, [0.5, 0.5]), ("logaddexp(x, y)", {"x": -INF, "y": 0.0}, [0.0, 1.0]),
    ("logaddexp(x, y)", {"x": 1e5, "y": -1e5}, [1.0, 0.0]), ("logaddexp(x, y)", {"x": -INF, "y": -INF}, [NAN, NAN]),
    ("logaddexp2(x, y)", {"x": 0.0, "y": 0.0}, [0.5, 0.5]), ("logaddexp2(x, y)", {"x": -INF, "y": 0.0}, [0.0, 1.0]),
    # ties share; what is not chosen, nan too, has no part
    ("maximum(x, y)", {"x": 1.0, "y": 1.0}, [0.5, 0.5]), ("minimum(x, y)", {"x": INF, "y": INF}, [0.5, 0.5]),
    ("fmax(x, y)", {"x": NAN, "y": 1.0}, [0.0, 1.0]), ("fmin(x, y)", {"x": 1.0, "y": 1.0}, [0.5, 0.5]),
    ("clip(x, low, high)", {"x": 1.0, "low": 1.0, "high": 2.0}, [1.0, 0.0, 0.0]),
    ("clip(x, low, high)", {"x": 2.0, "low": 1.0, "high": 2.0}, [1.0, 0.0, 0.0]),
    ("clip(x, low, high)", {"x": 1.5, "low": 2.0, "high": 1.0}, [0.0, 0.0, 1.0]),
    ("copysign(x, iy)", {"x": 0.0, "iy": -1.0}, [0.0]), ("copysign(x, iy)", {"x": 2.0, "iy": -0.0}, [-1.0]),
    ("heaviside(ix, y)", {"ix": 0.0, "y": 0.5}, [1.0]), ("ldexp(x, in_)", {"x": 0.0, "in_": 3}, [8.0]), ("frexp(x)", {"x": 0.0}, [1.0]),
    # x * log(y) and its like are 0 for x = 0 whatever y is
    ("xlogy(x, y)", {"x": 0.0, "y": 0.0}, [-INF, 0.0]), ("xlogy(x, y)", {"x": 1.0, "y": 0.0}, [-INF, INF]),
    ("xlog1py(x, y)", {"x": 0.0, "y": -1.0}, [-INF, 0.0]), ("xlog1py(x, y)", {"x": 0.0, "y": 0.0}, [0.0, 0.0]),
    ("rel_entr(x, y)", {"x": 0.0, "y": 2.0}, [-INF, 0.0]), ("rel_entr(x, y)", {"x": 0.0, "y": 0.0}, [NAN, 0.0]),
    ("kl_div(x, y)", {"x": 0.0, "y": 2.0}, [-INF, 1.0]), ("kl_div(x, y)", {"x": 0.0, "y": 0.0}, [NAN, 1.0]),
    ("log_to_base(x, base)", {"x": 1.0, "base": 2.0}, [1 / math.log(2), 0.0]),
    # the slopes of special functions at 0 and at infinity
    ("sinc_slope(x, 1)", {"x": 0.0}, [-(math.pi**2) / 3]), ("bessel_i(1, x)", {"x": 0.0}, [0.5]), ("bessel_iv(1, x)", {"x": 0.0}, [0.5]),
    ("bessel_iv(3, x)", {"x": 0.0}, [0.0]), ("bessel_j(1, x)", {"x": 0.0}, [0.5]), ("bessel_j(0, x)", {"x": 0.0}, [0.0]),
    ("bessel_y(2, x)", {"x": 0.0}, [NAN]), ("bessel_k(2, x)", {"x": 0.0}, [-INF]), ("ive(1, x)", {"x": 0.0}, [0.5]),
    ("ive(2, x)", {"x": 0.0}, [0.0]), ("polygamma(1, x)", {"x": INF}, [0.0]), ("polygamma(1, x)", {"x": 0.0}, [NAN]),
    ("erfcx_slope(x, ivalue, 1)", {"x": INF, "ivalue": 0.0}, [0.0]), ("dawsn_slope(x, ivalue, 1)", {"x": -INF, "ivalue": 0.0}, [0.0]),
    ("gammainc_slope(ia, x, 0.0, 1.0)", {"ia": 2.0, "x": 0.0}, [0.0]), ("gammainc_slope(ia, x, 0.0, 1.0)", {"ia": 1.0, "x": 0.0}, [-INF]),
    ("betainc_slope(ia, ib, x, 0.0, 1.0)", {"ia": 2.0, "ib": 2.0, "x": 0.0}, [0.0]),
    ("betainc_slope(ia, ib, x, 0.0, 1.0)", {"ia": 1.0, "ib": 2.0, "x": 0.0}, [-INF]),
    ("betainc_slope(ia, ib, x, 1.0, 0.0, second=True)", {"ia": 2.0, "ib": 2.0, "x": 1.0}, [0.0]),
    ("betainc_slope(ia, ib, x, 1.0, 0.0, second=True)", {"ia": 2.0, "ib": 1.0, "x": 1.0}, [-INF]),
    ("tails_slope(idf, x, 1.0, 0.0)", {"idf": 2.0, "x": 0.0}, [0.0]), ("nextafter(x, iy)", {"x": 0.0, "iy": 1.0}, [1.0]),
    ("gammainc(ia, x)", {"ia": 1.0, "x": 0.0}, [1.0]), ("gammainc(ia, x)", {"ia": 2.0, "x": 0.0}, [0.0]),
    ("gammainc(ia, x)", {"ia": 0.5, "x": 0.0}, [INF]), ("gammaincc(ia, x)", {"ia": 1.0, "x": 0.0}, [-1.0]),
    ("betainc(ia, ib, x)", {"ia": 1.0, "ib": 2.0, "x": 0.0}, [2.0]), ("betainc(ia, ib, x)", {"ia": 2.0, "ib": 1.0, "x": 1.0}, [2.0]),
    ("betainc(ia, ib, x)", {"ia": 0.5, "ib": 1.0, "x": 0.0}, [INF]), ("betainc(ia, ib, x)", {"ia": 2.0, "ib": 3.0, "x": 1.0}, [0.0]),
    ("kve(2, x)", {"x": 0.0}, [NAN]), ("jve(1, x)", {"x": 0.0}, [0.5]), ("yve(2, x)", {"x": 0.0}, [NAN]),
    ("spherical_jn(1, x)", {"x": 0.0}, [1 / 3]), ("spherical_jn(0, x)", {"x": 0.0}, [0.0]), ("spherical_in(1, x)", {"x": 0.0}, [1 / 3]),
    ("spherical_yn(1, x)", {"x": 0.0}, [NAN]), ("spherical_kn(1, x)", {"x": 0.0}, [-INF]),
    ("gammaincinv(ia, x)", {"ia": 1.0, "x": 0.0}, [1.0]), ("gammainccinv(ia, x)", {"ia": 1.0, "x": 1.0}, [-1.0]),
    ("betaincc(ia, ib, x)", {"ia": 1.0, "ib": 2.0, "x": 0.0}, [-2.0]), ("betaincinv(ia, ib, x)", {"ia": 1.0, "ib": 1.0, "x": 0.0}, [1.0]),
    ("betainccinv(ia, ib, x)", {"ia": 1.0, "ib": 1.0, "x": 1.0}, [-1.0]), ("stdtr(idf, x)", {"idf": 1.0, "x": 0.0}, [1 / math.pi]),
    ("stdtrit(idf, x)", {"idf": 1.0, "x": 0.5}, [math.pi]), ("owens_t(x, y)", {"x": 0.0, "y": 1.0}, [0.0, 0.25 / math.pi]),
    ("expn(3, x)", {"x": 0.0}, [-1.0]), ("expn(2, x)", {"x": 0.0}, [-INF]), ("hyp0f1(ia, x)", {"ia": 1.5, "x": 0.0}, [1 / 1.5]),
    ("hyp1f1(ia, 2.0, x)", {"ia": 1.0, "x": 0.0}, [0.5]), ("hyperu(ia, 1.0, x)", {"ia": 1.0, "x": 0.0}, [-INF]),
    ("hyp2f1(ia, 1.0, 2.0, x)", {"ia": 1.0, "x": 1.0}, [INF]), ("ellipkinc(x, im)", {"x": math.pi / 2, "im": 1.0}, [INF]),
    ("ellipeinc(x, im)", {"x": math.pi / 2, "im": 1.0}, [0.0]), ("zeta(ix, q)", {"ix": 2.0, "q": 0.0}, [-INF]),
    # (x**power - 1) / power and its inverse, where x is 0
    ("boxcox(x, y)", {"x": 0.0, "y": 1.0}, [1.0, 1.0]), ("boxcox(x, y)", {"x": 0.0, "y": 0.5}, [INF, 4.0]),
    ("boxcox1p(x, y)", {"x": -1.0, "y": 1.0}, [1.0, 1.0]), ("inv_boxcox(x, iy)", {"x": -1.0, "iy": 1.0}, [1.0]),
    ("inv_boxcox1p(x, iy)", {"x": -1.0, "iy": 1.0}, [1.0]), ("powm1(x, y)", {"x": 0.0, "y": 2.0}, [0.0, 0.0]),
    ("sylvester(x, y, z)", {"x": EYE, "y": EYE, "z": np.ones((2, 2))}, [np.full((2, 2), -0.5), np.full((2, 2), -0.5), np.full((2, 2), 0.5)]),
    # a filter of silence
    ("lfilter(x, y, z)", {"x": a(1.0, 0), "y": a(1.0, 0), "z": a(0.0, 0)}, [a(0, 0), a(0, 0), a(1, 1)]),
    ("lfilter_back(x, y, z)", {"x": a(1.0, 0), "y": a(1.0, 0), "z": a(0.0, 0)}, [a(0, 0), a(0, 0), a(1, 1)]),
    # quotients of gamma functions: where one of these has a pole, the slope that the quotient may have is not computed
    ("poch(z, m)", {"z": 2.0, "m": 0.0}, [0.0, 1.0 - EULER]), ("poch(z, m)", {"z": 0.0, "m": 1.0}, [NAN, 0.0]),
    ("binom(n, k)", {"n": 2.0, "k": 0.0}, [0.0, 1.5]), ("binom(n, k)", {"n": 5.0, "k": 6.0}, [NAN, NAN]),
    # the largest share; what sorts picks; nan is largest where NumPy says so
    ("max(x)", {"x": a(1, 1, 0)}, [a(0.5, 0.5, 0)]), ("max(x)", {"x": a(1, NAN, 0)}, [a(NAN, NAN, NAN)]),
    ("min(x)", {"x": a(INF, INF)}, [a(0.5, 0.5)]), ("nanmax(x)", {"x": a(1, NAN, 0)}, [a(1, 0, 0)]),
    ("nanmin(x)", {"x": a(1, 1, 2)}, [a(0.5, 0.5, 0)]), ("max_of(x, None, y)", {"x": a(1, 0), "y": 1.0}, [a(0.5, 0), 0.5]),
    ("min_of(x, None, y)", {"x": a(1, 0), "y": 0.0}, [a(0, 0.5), 0.5]), ("sort(x)", {"x": a(1, 1, 0)}, [a(1, 1, 1)]),
    ("median(x)", {"x": a(1, 1, 2)}, [a(0, 1, 0)]), ("median(x)", {"x": a(1, 1, 2, 2)}, [a(0, 0.5, 0.5, 0)]),
    ("unique(x)", {"x": a(1, 1, 2)}, [a(1, 0, 1)]), ("running_max(x)", {"x": a(1, 0, 2)}, [a(2, 0, 1)]),
    ("running_min(x)", {"x": a(1, 2, 0)}, [a(2, 0, 1)]), ("nansum(x)", {"x": a(1, NAN)}, [a(1, 0)]),
    ("nanmean(x)", {"x": a(1, NAN)}, [a(1, 0)]), ("unwrap(x)", {"x": a(0, math.pi)}, [a(1, 1)]),
    ("pad(x, width=1, mode='maximum')", {"x": a(1, 1)}, [a(1, 3)]),
    # products of zeros: what is left without the factor
    ("prod(x)", {"x": a(0, 2, 3)}, [a(6, 0, 0)]), ("prod(x)", {"x": a(0, 0, 3)}, [a(0, 0, 0)]),
    ("prod_of(x, None, y)", {"x": a(0, 2), "y": 3.0}, [a(6, 0), 0.0]), ("cumprod(x)", {"x": a(0, 2, 0, 3)}, [a(3, 0, 0, 0)]),
    ("cumprod_of(x, dtype='f64')", {"x": a(0, 2, 0, 3)}, [a(3, 0, 0, 0)]),
    # a deviation is a root: of equal numbers it has no slope, of one number it is flat
    ("var(x)", {"x": a(1, 1)}, [a(0, 0)]), ("std(x)", {"x": a(1, 1)}, [a(NAN, NAN)]), ("std(x)", {"x": a(1)}, [a(0)]),
    ("var_of(x, dtype='f64')", {"x": a(1, 1)}, [a(0, 0)]), ("std_of(x, dtype='f64')", {"x": a(1, 1)}, [a(NAN, NAN)]),
    # the end of a range is not reached smoothly; a window of one point is 1
    ("arange(x, y, z)", {"x": 0.0, "y": 1.2, "z": 0.5}, [3.0, 0.0, 3.0]), ("arange(x)", {"x": 2.5}, [0.0]),
    ("kaiser(1, x)", {"x": 2.0}, [0.0]), ("kaiser(3, x)", {"x": 0.0}, [0.0]),
    # the determinant is a polynomial; eigenvectors of equal eigenvalues have no slope
    ("det(x)", {"x": ZEROS}, [ZEROS]), ("det(x)", {"x": a(1, 0, 0, 0).reshape(2, 2)}, [a(0, 0, 0, 1).reshape(2, 2)]),
    ("pinv(x)", {"x": ZEROS}, [ZEROS]), ("pinv_of(x, 0.1)", {"x": ZEROS}, [ZEROS]), ("expm(x)", {"x": ZEROS}, [np.ones((2, 2))]),
    ("gaps(x)", {"x": a(1, 1)}, [a(NAN, NAN)]), ("eigh(x)", {"x": EYE}, [np.full((2, 2), NAN)]), ("eigh_upper(x)", {"x": EYE}, [np.full((2, 2), NAN)]), ("eig(x)", {"x": EYE}, [np.full((2, 2), NAN)]), ("svd(x)", {"x": EYE}, [np.full((2, 2), NAN)]),
]  # fmt: skip
#: rows of matrices that a singular matrix stops, in the function or in its derivative
SINGULAR = [
    "inv(x)",
    "solve(x, y)",
    "slogdet(x)",
    "cholesky(x)",
    "qr(x)",
    "cofactors(x)",
    "solve_triangular(x, y)",
    "solve_transposed(x, y)",
]
#: rows that are polynomials in each operand, some of them of whole degrees only: they have no singular point
POLYNOMIALS = frozenset(
    """eval_jacobi eval_legendre eval_chebyt eval_chebyu eval_gegenbauer eval_hermite eval_hermitenorm eval_laguerre eval_genlaguerre lagged
    add subtract multiply convolution correlation matmul matmul_left matmul_right dot dot_left dot_right outer tensordot tensordot_left
    tensordot_right part_of_bound range_of_bound einsum1 einsum1_part0 einsum2 einsum2_part0 einsum2_part1 einsum3 einsum3_part0 einsum3_part1 einsum3_part2 einsum4
    einsum4_part0 einsum4_part1 einsum4_part2 einsum4_part3 product_before product_after weighted_before weighted_after""".split()
)
#: rows of lists, tapes and of the engine, which move what they are given; ``tests/sequences.py`` and ``test_engine_rows.py`` test them;
#: ``varied`` gives its first operand, and the others only have slopes, which are constant
MOVED = frozenset(
    """table_take table_set table_add_at
    custom in_form push pop put get list_of list_append list_drop list_take list_set list_add_at list_add array_of list_from python_numbers
    on_backward list_repeat list_fold list_unfold list_join list_slice list_add_slice to_array drawn label probe as_written filled fftfreq rfftfreq varied""".split()
)

#: rows of solutions: their singular points are those of the equations, in ``tests/test_implicit.py``
SOLUTIONS = frozenset({"implicit", "attained", "integral", "trajectory", "weighted_sensitivity"})
#: splines have the slopes that SciPy computes: see test_interpolants
SPLINES = frozenset(
    "interpolant interpolant_at interpolant_slope interpolant_columns slope_of_columns splev splev_slope bisplev bisplev_slope".split()
)


def same(one: Any, other: Any) -> bool:
    return np.shape(one) == np.shape(other) and np.allclose(one, other, rtol=1e-12, atol=1e-14, equal_nan=True)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("text", "args", "expected"), TABLE, ids=lambda value: value if isinstance(value, str) else "")
def test_the_slope_is_what_the_table_says(text: str, args: dict[str, Any], expected: list[Any]) -> None:
    computed = slopes(text, {k: np.float64(v) if type(v) is float else v for k, v in args.items()})

    assert all(same(one, other) for one, other in zip(computed, expected, strict=True)), computed


@pytest.mark.parametrize("text", SINGULAR)
def test_a_singular_matrix_raises(text: str) -> None:
    with pytest.raises(np.linalg.LinAlgError):
        slopes(text, {"x": ZEROS, "y": np.ones(2)} if "y" in text else {"x": ZEROS})


def test_every_row_that_is_not_linear_stands_in_a_table() -> None:
    tabled = {text.partition("(")[0] for text in (*SINGULAR, *(text for text, _, _ in TABLE))} | set(MEANING)
    for row in ROWS.values():
        slopes_of = set(row.partials) | {p for p, pullback in row.pullbacks.items() if pullback is not None}
        if not slopes_of <= set(row.linear) and row.name not in POLYNOMIALS | MOVED | OF_COMPLEX | SOLUTIONS | SPLINES:
            assert row.name in tabled, row.name


@pytest.mark.parametrize("jit", [False, True], ids=["numpy", "numba"])
@pytest.mark.parametrize(
    "text", ["np.arccos(np.clip(x, -1.0, 1.0))", "np.sqrt(np.clip(x, 0.0, None))", "np.arcsin(np.clip(2 * x, None, 1.0)) * x"]
)
def test_a_clipped_element_has_slope_zero_before_an_infinite_slope(text: str, jit: bool) -> None:
    """At -3, -2, 2 and 3, and as numbers; the slopes beside these points are finite."""
    function = symgrad.from_source(f"import numpy as np\ndef f(x):\n    return {text}\n")
    summed = symgrad.from_source(f"import numpy as np\ndef f(x):\n    return np.sum({text})\n")
    with np.errstate(all="ignore"):
        points = [p for p in (-3.0, -2.0, 0.25, 2.0, 3.0) if np.isfinite(function(p + 1e-6) + function(p - 1e-6))]
        expected = [(function(p + 1e-6) - function(p - 1e-6)) / 2e-6 for p in points]
        assert symgrad.grad(summed, jit=jit)(np.array(points)) == pytest.approx(expected, rel=1e-6)
        assert [symgrad.grad(function, jit=jit)(p) for p in points] == pytest.approx(expected, rel=1e-6)
