"""table: functions applied element by element, with the partial derivative of each input.

A partial is an expression over the params, ``out`` and other rows; the engine multiplies by the cotangent and sums over broadcast axes.
A missing partial is derived from the formula by sympy (``derived.py``). The setting ``via`` is the user's spelling: None an operator or
NumPy, ``"math"`` the math module or a builtin, ``"numpy"`` NumPy where None is an operator.
"""

from __future__ import annotations

import ast
import cmath
import importlib
import math as python_math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from symgrad.ir.types import UNKNOWN, Array, Scalar, Type, is_complex, join
from symgrad.ops import batched
from symgrad.ops.declare import Law, Row, add, by_default, constant, parse_signature, rule
from symgrad.ops.derive import derive
from symgrad.ops.derived import DERIVED
from symgrad.ops.indexing import Extents, broadcast
from symgrad.ops.shapes import Result, array_dtype, bool_law, elementwise_law, float_law, fresh_layout, int_law, is_none, shape_of
from symgrad.tables import pairs

Emit = Callable[[dict[str, Any], list[Type]], str]

#: the rows some of whose partials are derived: params and formula by signature
FORMULAS: dict[str, tuple[tuple[str, ...], str]] = {}
#: the functions whose partials may call them again: these pass the user's spelling on
SPELT = frozenset({"exp", "log", "sqrt", "sin", "cos", "sinh", "cosh", "copysign", "gamma", "digamma", "polygamma"})


class _OfScipy:
    """``scipy.special``, imported on first access."""

    def __getattr__(self, name: str) -> Any:
        try:
            return getattr(importlib.import_module("scipy.special"), name)
        except ImportError:
            raise AttributeError(name) from None


@cache
def evaluator(params: tuple[str, ...], text: str) -> Callable[..., Any]:
    """Return the function of a row's text, for queries of dtypes."""
    space = {"np": np, "math": python_math, "cmath": cmath, "special": _OfScipy()}
    return eval(f"lambda {', '.join(params)}: {text}", space)  # type: ignore[no-any-return]


def spell(partial: str) -> str:
    """Let the functions in a partial be spelt as the user spelt the row's.

    >>> spell("-sin(x)")
    '-sin(x, via=via)'
    """
    tree = ast.parse(partial, mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SPELT:
            node.keywords.append(ast.keyword("via", ast.Name("via")))
    return ast.unparse(tree)


def guarded(partial: str) -> str:
    """Let the quotients in a partial be those that may be infinite.

    >>> guarded("0.5 / out")
    'ratio(0.5, out)'
    """

    class Quotients(ast.NodeTransformer):
        def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
            self.generic_visit(node)
            return ast.Call(ast.Name("ratio"), [node.left, node.right], []) if isinstance(node.op, ast.Div) else node

    return ast.unparse(Quotients().visit(ast.parse(partial, mode="eval")))


Choose = Callable[[dict[str, Any]], str]


def texts(
    name: str, params: tuple[str, ...], emit: Any, numpy: str | None, math: str | None, scipy: str | None
) -> tuple[str | Emit, Choose]:
    """The row's text, and the text for its settings."""
    plain = emit or f"np.{name}({', '.join(params)})"
    table = {"numpy": numpy or plain, "math": math or plain, "scipy": scipy or plain}
    if math:
        table["cmath"] = math.replace("math.", "cmath.")

    def choose(settings: dict[str, Any]) -> str:
        return table.get(settings.get("via") or "", plain)

    return (lambda settings, types: choose(settings)) if numpy or math or scipy else plain, choose


def elementwise(
    text: str,
    *,
    emit: str | Emit | None = None,
    numpy: str | None = None,
    math: str | None = None,
    like: str | None = None,
    scipy: str | None = None,
    cheap: bool = False,
    linear: str = "",
    law: Law | None = None,
    steep: bool = False,
    **partials: str | None,
) -> Row:
    """Declare ``name(x, y) = formula``; ``dx=``, ``dy=`` are explicit partial derivatives, None declares zero.

    ``like`` is an expression with the same dtypes, where ``emit`` is not one of NumPy's. ``steep``: at some points
    the function has a value and its slope is infinite.
    """
    name, params, settings, outs, formula = parse_signature(text)
    if numpy or math or scipy:
        settings["via"] = None
    if unknown := [key for key in partials if key[:1] != "d" or key[1:] not in params]:
        raise ValueError(f"row {name!r} has no parameter for {unknown}")
    derivatives = {key[1:]: value for key, value in partials.items()}
    if any(p not in derivatives for p in params):
        FORMULAS[text] = (params, formula or text)
        derived = DERIVED.get(text) or derive(params, formula or text)
        derivatives = {p: derivatives.get(p, derived.get(p)) for p in params}
    said = {p: spell(value) if "via" in settings else value for p, value in derivatives.items() if value is not None}
    if steep:
        said = {p: guarded(value) for p, value in said.items()}
    shown, choose = texts(name, params, emit, numpy, math, scipy)
    own = {"math"} if math else set()
    own |= {"scipy"} if scipy else set()
    row_law = law or elementwise_law(lambda s: evaluator(params, choose(s) if like is None or s.get("via") in own else like))
    return add(
        Row(
            name,
            params,
            row_law,
            settings,
            outs,
            elementwise=True,
            formula=formula,
            partials=said,
            pullbacks={p: None for p, value in derivatives.items() if value is None},
            linear=frozenset(linear.split()),
            cheap=cheap,
            emit=shown,
            math=math,
            batch=batched.elements,
        )
    )


def flat(text: str, *, cheap: bool = True, **words: Any) -> Row:
    """Declare a function applied element by element whose derivative is zero; ``words`` as for ``elementwise``."""
    partials: dict[str, Any] = {f"d{param}": None for param in parse_signature(text)[1]}
    return elementwise(text, cheap=cheap, **words, **partials)


# ------------------------------------------------------------------ laws and texts of the few that are peculiar


def _where_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    if settings["via"] is None and all(isinstance(t, Scalar) for t in types):
        return join(types[1], types[2])
    if not all(t.is_number for t in types):
        return Array(None, None)
    dtype = array_dtype(evaluator(("c", "x", "y"), "np.where(c, x, y)"), types)
    return Array(dtype, broadcast([shape_of(t) for t in types]))


def _larger_law(name: str) -> Law:
    """The builtin returns one of its operands."""
    plain = elementwise_law(lambda s: evaluator(("x", "y"), f"np.{name}(x, y)"))

    def law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Result:
        if settings["via"] == "math":
            return join(types[0], types[1]) if all(isinstance(t, Scalar) for t in types) else UNKNOWN
        return plain(types, settings, dim)

    return law


def _where_text(settings: dict[str, Any], types: list[Type]) -> str:
    if settings["via"] is None and all(isinstance(t, Scalar) for t in types):
        return "x if c else y"
    return "np.where(c, x, y)"


def _bounded(types: list[Type]) -> list[Type]:
    """Return the operands of a clip that are present."""
    return [t for t in types if not is_none(t)]


def _clip_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Result:
    operand_types = _bounded(types)
    names = ("x", "low", "high")[: len(operand_types)]
    if len(operand_types) < 2:
        return types[0]
    text = f"np.clip({', '.join((*names, 'None')[:3])})"
    return elementwise_law(lambda s: evaluator(names, text))(operand_types, settings, dim)


def _inside_text(settings: dict[str, Any], types: list[Type]) -> str:
    low, high = is_none(types[1]), is_none(types[2])
    everywhere = "True" if isinstance(types[0], Scalar) else "np.full(np.shape(x), True)"
    return {(False, False): "(low <= x) & (x <= high)", (True, False): "x <= high", (False, True): "low <= x", (True, True): everywhere}[
        low, high
    ]


def _below_text(settings: dict[str, Any], types: list[Type]) -> str:
    return "x < low" if is_none(types[2]) else "(x < low) & (low <= high)"


def _above_text(settings: dict[str, Any], types: list[Type]) -> str:
    return "high < x" if is_none(types[1]) else "(high < x) | (high < low)"


def _mask_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Result:
    operand_types = _bounded(types)
    if not all(t.is_number for t in operand_types):
        return elementwise_law(lambda s: np.greater)(operand_types, settings, dim)
    shape = broadcast([shape_of(t) for t in operand_types])
    return Scalar("bool", "any") if shape == () else Array("bool", shape)


def text_law(params: tuple[str, ...], text: Emit) -> Law:
    """The law of an elementwise function whose text differs for numbers: the dtype is that of the text."""

    def law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Result:
        return elementwise_law(lambda s: evaluator(params, text(settings, types)))(types, settings, dim)

    return law


def _share_text(settings: dict[str, Any], types: list[Type]) -> str:
    if all(isinstance(t, Scalar) for t in types):
        return "(x == out) / (1.0 + (x == y))"
    return "np.where(x == y, 0.5, x == out)"


def _imaginary_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Result:
    """Zeros; complex numbers have another row."""
    return elementwise_law(lambda s: np.imag)(types, settings, dim)


def _real_text(settings: dict[str, Any], types: list[Type]) -> str:
    return "x.real" if is_complex(types[0]) else "np.real(x)"


def _frexp_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> tuple[Type, ...]:
    mantissa = elementwise_law(lambda s: evaluator(("x",), "np.frexp(x)[0]"))(types, settings, dim)
    power = elementwise_law(lambda s: evaluator(("x",), "np.frexp(x)[1]"))(types, settings, dim)
    return (mantissa, power)  # type: ignore[return-value]


def _power_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Result:
    """NumPy squares booleans in another dtype than it cubes them in."""
    base, power = types
    if settings["via"] is None and isinstance(base, Array) and base.kind == "bool" and isinstance(power, Scalar) and power.dtype is None:
        exponent = dim(1)
        known = isinstance(exponent, int) and power.kind == "int"
        dtype = array_dtype(lambda x: x**exponent, [base]) if known else None
        return Array(dtype, base.shape, fresh_layout(types)) if base.shape != () else UNKNOWN
    return elementwise_law(lambda s: evaluator(("x", "y"), POWERS.get(s["via"], "x ** y")))(types, settings, dim)


POWERS = {"numpy": "np.power(x, y)", "math": "math.pow(x, y)"}


def _lowered_text(settings: dict[str, Any], types: list[Type]) -> str:
    return "y - 1 if y else 1" if all(isinstance(t, Scalar) for t in types) else "np.where(y == 0, 1, y - 1)"


def _log_text(settings: dict[str, Any], types: list[Type]) -> str:
    whole = any(getattr(t, "kind", None) in ("int", "bool") for t in types)  # of narrow integers NumPy's logarithm has few digits
    if all(isinstance(t, Scalar) for t in types):
        return "np.log(float(x)) if x else 0.0" if whole else "np.log(x) if x else 0.0"
    return f"np.log(np.where(x == 0, {'1.0' if whole else '1'}, x))"


def _ratio_text(settings: dict[str, Any], types: list[Type]) -> str:
    if not all(isinstance(t, Scalar) for t in types):
        return "x / y"
    return "x / y if y else np.inf" if settings["positive"] else "x / y if y else x * np.inf"


def _slope_power_text(settings: dict[str, Any], types: list[Type]) -> str:
    if not all(isinstance(t, Scalar) for t in types):
        return "x ** y"
    if settings["infinite"]:
        return "x ** y if x else np.inf"
    return f"x ** y if x or not -{settings['order']} < y < 0 else np.inf"


#: rows of slopes that may be infinite, and the rows that do where a number of NumPy's, which does not raise, is among the operands
SLOPES = {"ratio": "divide", "slope_power": "power"}

# ------------------------------------------------------------------ arithmetic

elementwise("add(x, y) = x + y", emit="x + y", numpy="np.add(x, y)", cheap=True, linear="x y")
elementwise("subtract(x, y) = x - y", emit="x - y", numpy="np.subtract(x, y)", cheap=True, linear="x y")
elementwise("multiply(x, y) = x * y", emit="x * y", numpy="np.multiply(x, y)", cheap=True)
elementwise("divide(x, y) = x / y", emit="x / y", numpy="np.divide(x, y)", cheap=True)
elementwise("negative(x) = -x", emit="-x", numpy="np.negative(x)", cheap=True, linear="x")
elementwise("positive(x) = x", emit="+x", numpy="np.positive(x)", dx="1", cheap=True, linear="x")
# the formula's own out*y/x is 0/0 at x = 0; at y = 0 the slope is 0 for every x
elementwise(
    "power(x, y) = x ** y",
    emit="x ** y",
    numpy="np.power(x, y)",
    math="math.pow(x, y)",
    law=_power_law,
    dx="y * slope_power(x, lowered(y))",
    dy="out * log_of_base(x)",
)
# of Python's numbers, which raise where NumPy's are infinite; ``order`` of the derivative, for the function itself may raise
elementwise("ratio(x, y, positive=False) = x / y", emit=_ratio_text, like="x / y", dx="ratio(1, y)", dy="-ratio(out, y)")
elementwise(
    "slope_power(x, y, order=1, infinite=False) = x ** y",
    emit=_slope_power_text,
    dy="out * log_of_base(x)",
    like="x ** y",
    dx="y * slope_power(x, lowered(y), order + 1)",
)
elementwise("float_power(x, y) = x ** y", dx="y * x ** lowered(y)", dy="out * log_of_base(x)")
elementwise("lowered(y)", emit=_lowered_text, law=text_law(("y",), _lowered_text), cheap=True, dy="1")
elementwise("log_of_base(x)", emit=_log_text, law=text_law(("x",), _log_text), dx="where(x == 0, 0.0, 1.0 / where(x == 0, 1.0, x))")
elementwise("mod(x, y)", emit="x % y", numpy="np.mod(x, y)", dx="1", dy="-(x // y)")
elementwise("fmod(x, y)", math="math.fmod(x, y)", dx="1", dy="-trunc(x / y)")
elementwise("abs(x)", emit="abs(x)", numpy="np.abs(x)", math="math.fabs(x)", dx="sign(x)")
elementwise("fabs(x)", math="math.fabs(x)", dx="sign(x)")
elementwise("square(x) = x**2", cheap=True)
elementwise("reciprocal(x) = 1 / x", dx="-out * out")
flat("floor_divide(x, y)", emit="x // y", numpy="np.floor_divide(x, y)")

# ------------------------------------------------------------------ powers and logarithms

elementwise("exp(x)", math="math.exp(x)")
elementwise("exp2(x) = 2 ** x", math="math.exp2(x)", dx="out * 0.6931471805599453")
elementwise("expm1(x) = exp(x) - 1", math="math.expm1(x)", dx="out + 1")
elementwise("log(x)", math="math.log(x)")
elementwise(
    "log_to_base(x, base) = log(x) / log(base)",
    emit="math.log(x, base)",
    law=float_law,
    dx="1 / (x * math_log(base))",
    dbase="-out / (base * math_log(base))",
)
elementwise("math_log(x) = log(x)", emit="math.log(x)")
elementwise("log2(x) = log(x) / log(2)", math="math.log2(x)", dx="1.4426950408889634 / x")
elementwise("log10(x) = log(x) / log(10)", math="math.log10(x)", dx="0.4342944819032518 / x")
elementwise("log1p(x) = log(1 + x)", math="math.log1p(x)")
elementwise("sqrt(x)", math="math.sqrt(x)", steep=True)
elementwise("cbrt(x) = x ** (1/3)", math="math.cbrt(x)", dx="1 / (3 * out * out)", steep=True)  # as powers of x it is nan below 0
elementwise("hypot(x, y) = sqrt(x**2 + y**2)", math="math.hypot(x, y)", steep=True)
elementwise("logaddexp(x, y) = log(exp(x) + exp(y))", dx="exp(x - out)", dy="exp(y - out)")  # the formula overflows
elementwise("logaddexp2(x, y) = log(2**x + 2**y) / log(2)", dx="exp2(x - out)", dy="exp2(y - out)")

#: the dtype of functions of the runtime: of integers float64, of a number of Python's one of Python's
FLOAT_OF = "np.sin(1.0 * x) if isinstance(x, (np.ndarray, np.generic)) else 1.0"

# ------------------------------------------------------------------ trigonometry

elementwise("sin(x)", math="math.sin(x)")
elementwise("cos(x)", math="math.cos(x)")
elementwise("tan(x)", math="math.tan(x)")
elementwise("arcsin(x)", math="math.asin(x)", steep=True)
elementwise("arccos(x)", math="math.acos(x)", steep=True)
elementwise("arctan(x)", math="math.atan(x)")
# the squares of integers of NumPy's would wrap
elementwise(
    "arctan2(y, x)", math="math.atan2(y, x)", steep=True, dy="x / (1.0 * x * x + 1.0 * y * y)", dx="-(y / (1.0 * x * x + 1.0 * y * y))"
)
elementwise("sinh(x)", math="math.sinh(x)")
elementwise("cosh(x)", math="math.cosh(x)")
elementwise("tanh(x)", math="math.tanh(x)")
elementwise("arcsinh(x)", math="math.asinh(x)")
elementwise("arccosh(x)", math="math.acosh(x)", dx="1 / sqrt((x - 1) * (x + 1))", steep=True)  # x*x - 1 loses digits near 1
elementwise("arctanh(x)", math="math.atanh(x)", dx="1 / ((1 - x) * (1 + x))")
elementwise("deg2rad(x) = x * pi / 180", math="math.radians(x)", dx="0.017453292519943295", linear="x")
elementwise("rad2deg(x) = x * 180 / pi", math="math.degrees(x)", dx="57.29577951308232", linear="x")
elementwise("sinc(x) = sin(pi*x) / (pi*x)", dx="sinc_slope(x, 1)")  # the formula is 0/0 at 0
elementwise("sinc_slope(x, n)", emit="sinc_slope(x, n)", like=FLOAT_OF, dx="sinc_slope(x, n + 1)", dn=None)

# ------------------------------------------------------------------ special functions

elementwise("erf(x)", emit="erf(x)", like=FLOAT_OF, math="math.erf(x)", scipy="special.erf(x)", dx="1.1283791670955126 * exp(-(x * x))")
elementwise(
    "erfc(x)", emit="erfc(x)", like=FLOAT_OF, math="math.erfc(x)", scipy="special.erfc(x)", dx="-1.1283791670955126 * exp(-(x * x))"
)
elementwise("gamma(x)", emit="gamma(x)", like=FLOAT_OF, math="math.gamma(x)", scipy="special.gamma(x)", dx="out * digamma(x)")
elementwise("lgamma(x)", emit="lgamma(x)", like=FLOAT_OF, math="math.lgamma(x)", scipy="special.gammaln(x)", dx="digamma(x)")
elementwise("digamma(x)", emit="digamma(x)", scipy="special.psi(x)", like=FLOAT_OF, dx="polygamma(1, x)")
elementwise("i0(x)", dx="bessel_i(1, x)")
elementwise("bessel_i(n, x)", emit="bessel_i(n, x)", dn=None, dx="0.5 * (bessel_i(n - 1, x) + bessel_i(n + 1, x))", like=FLOAT_OF)
elementwise("polygamma(n, x)", emit="polygamma(n, x)", scipy="special.polygamma(n, x)", dn=None, dx="polygamma(n + 1, x)", like=FLOAT_OF)

# ------------------------------------------------------------------ kinks: ties share equally

elementwise("maximum(x, y)", math="max(x, y)", law=_larger_law("maximum"), dx="share(x, out, y)", dy="share(y, out, x)")
elementwise("minimum(x, y)", math="min(x, y)", law=_larger_law("minimum"), dx="share(x, out, y)", dy="share(y, out, x)")
elementwise("fmax(x, y)", dx="share(x, out, y)", dy="share(y, out, x)")
elementwise("fmin(x, y)", dx="share(x, out, y)", dy="share(y, out, x)")
elementwise("clip(x, low, high)", law=_clip_law, dx="inside(x, low, high)", dlow="below(x, low, high)", dhigh="above(x, low, high)")
elementwise("copysign(x, y)", math="math.copysign(x, y)", dx="sign(x) * copysign(1.0, y)", dy=None)
elementwise("heaviside(x, y)", dx=None, dy="x == 0")
constant("share(x, out, y)", text_law(("x", "out", "y"), _share_text), emit=_share_text)
constant("inside(x, low, high)", _mask_law, emit=_inside_text)
constant("below(x, low, high)", _mask_law, emit=_below_text)
constant("above(x, low, high)", _mask_law, emit=_above_text)
elementwise(
    "nan_to_num(x, nan=0.0, posinf=None, neginf=None)",
    emit="np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)",
    like="np.nan_to_num(x)",
    dx="isfinite(x)",
)
rule("frexp(x) -> mantissa, exponent", _frexp_law, emit="np.frexp(x)", x_grad="ldexp(mantissa_grad, -exponent)")
elementwise("ldexp(x, n)", math="math.ldexp(x, n)", dx="ldexp(1.0, n)", dn=None, linear="x")
elementwise("conjugate(x)", emit="np.conj(x)", dx="1", cheap=True, linear="x")
rule("real(x)", elementwise_law(lambda s: np.real), emit=_real_text, alias="view", cheap=True, linear="x", x_grad="out_grad")
constant("imag(x)", _imaginary_law, emit="np.imag(x)", alias="depends")
# the float next to x towards y: between two floats it moves like x
elementwise("nextafter(x, y)", math="math.nextafter(x, y)", dx="1", dy=None)
rule(
    "where(c, x, y, via=None)",
    _where_law,
    emit=_where_text,
    linear="x y",
    c_grad=None,
    x_grad="fit(where(c, out_grad, 0.0), shape_of(x))",
    y_grad="fit(where(c, 0.0, out_grad), shape_of(y))",
)

# ------------------------------------------------------------------ derivative zero: steps

for _name in "sign rint signbit fix spacing".split():
    flat(f"{_name}(x)")
for _name in ("floor", "ceil", "trunc"):
    flat(f"{_name}(x)", math=f"math.{_name}(x)")
constant("round(x, decimals=0)", elementwise_law(lambda s: np.round), cheap=True, emit=by_default("np.round(x", decimals=0))

# ------------------------------------------------------------------ derivative zero: comparisons and logic

for _name, _sign in pairs(
    """
    greater:> greater_equal:>= less:< less_equal:<= equal:== not_equal:!= bitwise_and:& bitwise_or:| bitwise_xor:^ left_shift:<<
    right_shift:>>
    """
).items():
    flat(f"{_name}(x, y)", emit=f"x {_sign} y", numpy=f"np.{_name}(x, y)")
for _name in ("logical_and", "logical_or", "logical_xor"):
    flat(f"{_name}(x, y)")
flat("invert(x)", emit="~x", numpy="np.invert(x)")
for _name in "logical_not isneginf isposinf isreal iscomplex".split():
    flat(f"{_name}(x)")
for _name in ("isnan", "isinf", "isfinite"):
    flat(f"{_name}(x)", math=f"math.{_name}(x)")
constant("isrealobj(x)", bool_law)
constant("iscomplexobj(x)", bool_law)
flat("isclose(x, y, rtol=1e-05, atol=1e-08)", emit="np.isclose(x, y, rtol, atol)", like="np.isclose(x, y)")
flat("gcd(x, y)", math="math.gcd(x, y)")
flat("lcm(x, y)", math="math.lcm(x, y)")
constant("not_(x)", bool_law, emit="not x", cheap=True)
constant("both(x, y)", lambda types, settings, dim: types[0], emit="x and y", cheap=True)
constant("either(x, y)", lambda types, settings, dim: types[0], emit="x or y", cheap=True)
constant("is_(x, y)", bool_law, emit="x is y", cheap=True)
constant("is_not(x, y)", bool_law, emit="x is not y", cheap=True)
constant("contains(y, x)", bool_law, emit="x in y")
constant("not_contains(y, x)", bool_law, emit="x not in y")
# functions of ``math`` that NumPy has no form of
constant("ulp(x, via=None)", float_law, emit="math.ulp(x)")
constant("factorial(n, via=None)", int_law, emit="math.factorial(n)")
constant("comb(n, k, via=None)", int_law, emit="math.comb(n, k)")
constant("perm(n, k, via=None)", int_law, emit="math.perm(n, k)")
constant("isqrt(n, via=None)", int_law, emit="math.isqrt(n)")
