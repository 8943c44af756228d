"""Lowering of real scalars: each row -> ops that mean under numba what Python and NumPy mean.

The kernel bails out where Python raises (division of Python floats by zero, ``math`` functions outside their
domain), and where its integers exceed 62 bits. The caller then runs the NumPy code.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from symgrad.ir.core import Call, Const, Operand, Value
from symgrad.ir.types import Object, Scalar, Type, is_complex
from symgrad.loops.bailouts import bail_out, if_zero, is_python, is_python_int, unless_finite, unless_small, unless_whole
from symgrad.loops.numbers.complexes import lower_complex
from symgrad.loops.numbers.probabilities import OUTSIDE, PROBABILITIES, TAIL, erfcx_slope
from symgrad.loops.numbers.rounding import close_to, finite_limits, in_tens, rounded_to, without
from symgrad.loops.reach import OutOfReach, check_integers, dtype_in_words, function_in_words
from symgrad.ops.analysis.raising import DEFINED_EVERYWHERE
from symgrad.ops.build import Builder
from symgrad.ops.rows.elementwise import SLOPES
from symgrad.tables import named

Args = list[Operand]
Rule = Callable[[Builder, Call, Args], list[Operand]]

#: functions whose value is finite for every finite number
CIRCULAR = frozenset({"sin", "cos", "tan"})
WIDTHS = {"bool": 0, "int": 1, "float": 2}


def lower_scalar(build: Builder, op: Call, args: Args) -> list[Operand]:
    """Append the ops that compute ``op`` on these scalar operands; ``OutOfReach`` if there are none."""
    types = [*(a.type for a in args), *(o.type for o in op.outs)]
    if any(map(is_complex, types)):
        return lower_complex(build, op, args)
    for type_ in types:
        if isinstance(type_, Scalar) and type_.dtype == "f16":
            raise OutOfReach("numbers of 16 bits", op.loc)
        check_integers(op.name, type_, op.loc)
    if op.name in OF_BOOLEANS and args and all(isinstance(a.type, Scalar) and a.type.kind == "bool" for a in args):
        op = of_booleans(op, args)
    rule = RULES.get(op.name)
    if rule is None:
        raise OutOfReach(f"{function_in_words(op)} of numbers", op.loc)
    by_math = op.settings.get("via") == "math"
    results = rule(build, op, widened(build, op, args) if by_math else narrowed(build, op, args))
    for value, out in zip(results, op.outs, strict=False):
        if isinstance(value, Value) and value not in args and is_wide(value.type) and is_wide(out.type):
            value.type = out.type  # Python's or NumPy's: numba has one type for both
    return results


#: the rows for NumPy booleans, where they differ from those for Python bools, which are integers
OF_BOOLEANS = {
    "add": "logical_or",
    "multiply": "logical_and",
    **dict.fromkeys("subtract negative positive power floor_divide mod left_shift right_shift abs square sign".split()),
}


def of_booleans(op: Call, args: Args) -> Call:
    """The row that an op on booleans means."""
    if all(isinstance(a.type, Scalar) and a.type.dtype is None for a in args):
        return op
    name = OF_BOOLEANS[op.name]
    if name is None or any(isinstance(a.type, Scalar) and a.type.dtype == "any" for a in args):
        raise OutOfReach(f"{function_in_words(op)} of booleans", op.loc)
    return Call(op.outs, op.loc, name, op.args, {})


# ------------------------------------------------------------------ dtypes


def is_wide(type_: Type) -> bool:
    """Whether the type is that of a 64-bit float, Python's or NumPy's."""
    return isinstance(type_, Scalar) and type_.kind == "float" and type_.dtype in (None, "any", "f64")


def narrowed(build: Builder, op: Call, args: Args) -> Args:
    """The operands, with Python numbers cast to the dtype that NumPy uses when they are combined with a narrower one.

    numba would compute in 64 bits: ``np.float32(0.1) * 0.1``, for example.
    """
    named = {a.type.dtype for a in args if isinstance(a.type, Scalar) and a.type.dtype not in (None, "any", "bool")}
    narrow = named - {"f64", "i64"}
    if not narrow or op.name in ("cast", "number", "where"):
        return args
    if named == {"f32", "f64"}:  # both compute in the wider one
        return [build.call("cast", a, dtype="f64") if isinstance(a.type, Scalar) and a.type.dtype == "f32" else a for a in args]
    if len(named) > 1 or any(isinstance(a.type, Scalar) and a.type.dtype == "any" for a in args):
        raise OutOfReach(f"numbers of {' and '.join(sorted(dtype_in_words(dtype) for dtype in named))} in one operation", op.loc)
    (dtype,) = narrow
    kind = {"f": "float", "i": "int", "u": "int"}[dtype[0]]
    operands = []
    for a in args:
        weak = isinstance(a.type, Scalar) and a.type.dtype is None and WIDTHS[a.type.kind] <= WIDTHS[kind]
        operands.append(build.call("cast", a, dtype=dtype) if weak else a)
    return operands


def widened(build: Builder, op: Call, args: Args) -> Args:
    """The operands of a function of ``math``, which computes in 64 bits for any operand."""
    if op.name in ("maximum", "minimum", "abs"):
        return args
    narrow = [isinstance(a.type, Scalar) and a.type.dtype not in (None, "any", "f64", "i64", "bool") for a in args]
    return [build.call("cast", a, dtype="f64") if short else a for a, short in zip(args, narrow, strict=True)]


def in_result_dtype(build: Builder, op: Call, value: Operand) -> list[Operand]:
    """The result in NumPy's result dtype."""
    type_ = op.outs[0].type
    if isinstance(type_, Scalar) and type_.dtype not in (None, "any", "f64", "i64") and isinstance(value, Value):
        return [build.call("cast", value, dtype=type_.dtype)]
    return [value]


# ------------------------------------------------------------------ rows


def again(build: Builder, op: Call, args: Args) -> list[Operand]:
    """The row itself."""
    outs = build.call_many(op.name, *args, hints=tuple(o.name for o in op.outs), **op.settings)
    return in_result_dtype(build, op, outs[0]) if len(outs) == 1 else list(outs)


def function(build: Builder, op: Call, args: Args) -> list[Operand]:
    """A function; one of ``math`` raises where its value is not finite, NumPy's does not."""
    results = again(build, op, args)
    if op.settings.get("via") == "math" and op.name not in DEFINED_EVERYWHERE and not is_known_finite(op.name, args):
        unless_finite(build, args[0] if op.name in CIRCULAR else results[0])
    if op.name == "abs" and is_python_int(args[0].type):
        bail_out(build, build.call("less", results[0], Const(0)))  # for -2**63, whose negative overflows 64 bits
    return results


def is_known_finite(name: str, args: Args) -> bool:
    """Whether the call is a function of literals with a finite value."""
    if not all(isinstance(a, Const) and type(a.value) in (int, float) for a in args):
        return False
    with np.errstate(all="ignore"):
        return bool(np.isfinite(getattr(np, name)(*(float(a.value) for a in args if isinstance(a, Const)))))


def as_float(build: Builder, number: Operand) -> Operand:
    """A number as a float; numba cannot convert a bool."""
    if getattr(number.type, "kind", None) != "bool":
        return build.call("number", number, kind="float")
    value = build.call("where", number, Const(1.0), Const(0.0), via=None)
    value.type = Scalar("float")
    return value


def counted(build: Builder, op: Call, args: Args) -> list[Operand]:
    """Sums, differences, products and powers; for Python integers computed in floats too, to bound their size."""
    if is_python_int(*(a.type for a in args)) and not is_index_arithmetic(op, args):
        unless_small(build, build.call(op.name, *(as_float(build, a) for a in args)))
    return again(build, op, args)


def shifted(build: Builder, op: Call, args: Args) -> list[Operand]:
    """Shifts by fewer bits than the integer has; processors take larger ones modulo that number."""
    number, count = args
    width = bits(op.outs[0].type)
    if not (isinstance(count, Const) and 0 <= count.value < width):
        bail_out(build, build.call("less", count, Const(0)))
        bail_out(build, build.call("greater_equal", count, Const(width)))
    if op.name == "left_shift" and is_python_int(number.type, count.type):
        floats = [as_float(build, a) for a in args]
        unless_small(build, build.call("multiply", floats[0], build.call("exp2", floats[1])))
    return again(build, op, args)


def bits(type_: Type) -> int:
    """The number of bits of an integer type in a kernel."""
    dtype = type_.dtype if isinstance(type_, Scalar) and type_.dtype not in (None, "any", "bool") else "i64"
    return int(dtype[1:])


def is_index_arithmetic(op: Call, args: Args) -> bool:
    """Whether a small literal is added to an integer, as in index arithmetic: 2**62 such steps take a century."""
    return op.name in ("add", "subtract") and any(isinstance(a, Const) and abs(a.value) < 2**31 for a in args)


def divided(build: Builder, op: Call, args: Args) -> list[Operand]:
    """Division: Python raises for a divisor of zero, and NumPy's integers warn."""
    if is_python(*(a.type for a in args)) or op.name != "divide":
        if_zero(build, args[1])
    if op.name == "floor_divide" and is_python_int(*(a.type for a in args)) and not isinstance(args[1], Const):
        unless_small(build, as_float(build, args[0]))  # -2**63 // -1 overflows 64 bits
    elif op.name != "divide" and is_signed(op.outs[0].type):
        unless_opposite(build, args[1], bits(op.outs[0].type), args[0])
    return again(build, plainly(op) if op.name == "floor_divide" else op, args)  # numba computes np.floor_divide as floor(x / y)


def is_signed(type_: Type) -> bool:
    """Whether the type is that of an integer that may be negative."""
    return isinstance(type_, Scalar) and type_.kind == "int" and not (type_.dtype or "").startswith("u")


def unless_opposite(build: Builder, divisor: Operand, width: int, dividend: Operand) -> None:
    """Leave the kernel before the least integer is divided by -1: the result overflows, and the processor traps."""
    if isinstance(divisor, Const) and divisor.value != -1 or isinstance(dividend, Const) and dividend.value != -(2 ** (width - 1)):
        return
    is_least = build.call("equal", dividend, Const(-(2 ** (width - 1))))
    bail_out(build, build.call("both", build.call("equal", divisor, Const(-1)), is_least))


def power(build: Builder, op: Call, args: Args) -> list[Operand]:
    """A power: Python floats raise or become complex where it is not finite; integers have no negative powers."""
    types = [a.type for a in args]
    if all(isinstance(t, Scalar) and t.kind in ("int", "bool") for t in types):
        if not isinstance(args[1], Const):
            bail_out(build, build.call("less", args[1], Const(0)))
        elif args[1].value < 0:
            raise OutOfReach("a negative power of an integer", op.loc)
        bail_out(build, build.call("greater", args[1], Const(64)))  # only -1, 0 and 1 have larger powers, which floats lose the parity of
        return counted(build, op, args)
    by_math = op.settings.get("via") == "math"
    results = again(build, plainly(op), args) if by_math else again(build, op, args)
    if by_math or is_python(*types):
        unless_finite(build, results[0])
    return results


def plainly(op: Call) -> Call:
    """The op as an operator or NumPy function, where numba lacks the one of ``math``, or another of NumPy's."""
    return Call(op.outs, op.loc, op.name, op.args, {**op.settings, "via": None})


def remainder(build: Builder, op: Call, args: Args) -> list[Operand]:
    """The remainder with the sign of the dividend; for integers numba computes that of ``%``."""
    is_whole = [getattr(a.type, "kind", None) != "float" for a in args]
    if any(is_whole) and not is_python(*(a.type for a in args)) and (all(is_whole) or not is_wide(op.outs[0].type)):
        raise OutOfReach("np.fmod of integers", op.loc)
    size = [as_float(build, a) if getattr(a.type, "kind", None) != "float" else a for a in args]
    results = divided(build, plainly(op), size)
    if op.settings.get("via") == "math":
        unless_finite(build, results[0])
    return results


def counting(build: Builder, op: Call, args: Args) -> list[Operand]:
    """Factorials and similar functions of integers; results over 64 bits, and errors, are left to Python."""
    if any(getattr(a.type, "kind", None) not in ("int", "bool") for a in args):
        raise OutOfReach(f"{function_in_words(op)} of floats", op.loc)
    value = build.call(COUNTING[op.name], *(build.call("number", a, kind="int") for a in args))
    bail_out(build, build.call("less", value, Const(0)))
    return in_result_dtype(build, op, value)


COUNTING = {"perm": "orders_of", "factorial": "factorial_of", "comb": "choices_of", "isqrt": "root_of"}  #: functions of the runtime, by row


def root(build: Builder, op: Call, args: Args) -> list[Operand]:
    """The cube root; numba has only NumPy's."""
    results = again(build, plainly(op), args)
    if op.settings.get("via") == "math":
        unless_finite(build, results[0])
    return results


def special(build: Builder, op: Call, args: Args) -> list[Operand]:
    """Functions for which numba uses ``math``; NumPy's do not raise."""
    results = again(build, Call(op.outs, op.loc, op.name, op.args, {**op.settings, "via": "math"}), args)
    if op.settings.get("via") == "math" and op.name not in DEFINED_EVERYWHERE:
        unless_finite(build, results[0])
    return results


def gammas(build: Builder, op: Call, args: Args) -> list[Operand]:
    """The first two derivatives of ``lgamma``; the NumPy code handles non-finite values."""
    order = 0 if op.name == "digamma" else args[0].value if isinstance(args[0], Const) else None
    if order not in (0, 1):
        raise OutOfReach("higher derivatives of the gamma function", op.loc)
    value = build.call("trigamma_of" if order else "digamma_of", build.call("cast", args[-1], dtype="f64"))
    unless_finite(build, value)
    return in_result_dtype(build, op, value)


def next_snapshot(build: Builder, op: Call, args: Args) -> list[Operand]:
    """The iteration of the next snapshot."""
    return in_result_dtype(build, op, build.call("snapshot_after", *args))


def snapshots_within(build: Builder, op: Call, args: Args) -> list[Operand]:
    """The number of snapshots that fit into memory; the NumPy code reports that there is no room for one."""
    count = build.call("count_within", *args)
    bail_out(build, build.call("less", count, Const(1)))
    return in_result_dtype(build, op, count)


def composed(build: Builder, op: Call, args: Args) -> list[Operand]:
    """Functions of probabilities, composed of others."""
    floats = [build.call("cast", a, dtype="f64") for a in args]
    if op.name in OUTSIDE:
        comparison, bound = OUTSIDE[op.name]
        bail_out(build, build.call(comparison, floats[0], bound))
    return in_result_dtype(build, op, PROBABILITIES[op.name](build.call, "", *floats))


def slope_of_erfcx(build: Builder, op: Call, args: Args) -> list[Operand]:
    """A derivative of ``erfcx`` of known order; the NumPy code computes its tail."""
    order = args[2].value if isinstance(args[2], Const) else None
    if type(order) is not int:
        raise OutOfReach("a derivative of erfcx whose order is not known", op.loc)
    x, value = (build.call("cast", a, dtype="f64") for a in args[:2])
    bail_out(build, build.call("greater", x, TAIL))
    return in_result_dtype(build, op, erfcx_slope(build.call, "", x, value, order))


def signed(build: Builder, op: Call, args: Args) -> list[Operand]:
    """The sign as two choices; 0.0 for either zero."""
    (x,) = args
    if getattr(x.type, "kind", None) != "float":
        return again(build, op, args)
    rest = build.call("where", build.call("less", x, Const(0.0)), Const(-1.0), build.call("add", x, Const(0.0)))
    return in_result_dtype(build, op, build.call("where", build.call("greater", x, Const(0.0)), Const(1.0), rest))


def step(build: Builder, op: Call, args: Args) -> list[Operand]:
    """``np.heaviside``: 0 below zero, 1 above, the second operand at zero, nan of nan."""
    x, y = args
    call = build.call
    rest = call("where", call("equal", x, Const(0.0)), y, x)
    value = call("where", call("less", x, Const(0.0)), Const(0.0), call("where", call("greater", x, Const(0.0)), Const(1.0), rest))
    return in_result_dtype(build, op, value)


def larger(build: Builder, op: Call, args: Args) -> list[Operand]:
    """The builtins ``max`` and ``min`` return an operand, the first of equal ones."""
    if op.settings.get("via") != "math":
        return again(build, op, args)
    x, y = args
    better = build.call("greater" if op.name == "maximum" else "less", y, x)
    return [build.call("where", better, y, x, hint=op.outs[0].name)]


def clipped(build: Builder, op: Call, args: Args) -> list[Operand]:
    """``np.clip`` as two choices; a bound of None is omitted."""
    x, low, high = args
    if not (isinstance(low, Const) and low.value is None):
        x = build.call("maximum", x, low)
    if not (isinstance(high, Const) and high.value is None):
        x = build.call("minimum", x, high)
    return in_result_dtype(build, op, x)


def nan_to_num(build: Builder, op: Call, args: Args) -> list[Operand]:
    """``np.nan_to_num``."""
    limits = finite_limits(op.settings)
    if not is_wide(args[0].type) or not all(isinstance(value, bool | int | float) for value in limits.values()):
        raise OutOfReach(f"{function_in_words(op)} of other floats than those of 64 bits, or with values that are computed", op.loc)
    return in_result_dtype(build, op, without(build, args[0], limits))


def rounded(build: Builder, op: Call, args: Args) -> list[Operand]:
    """Rounding; the functions of ``math`` and ``round`` return Python integers."""
    if op.settings.get("via") == "math" or op.name == "rounded":
        unless_small(build, args[0])
    return to_digits(build, op, args) if len(args) > 1 else again(build, op, args)


def to_digits(build: Builder, op: Call, args: Args) -> list[Operand]:
    """``round(x, digits)`` of a float."""
    if not isinstance(args[1], Const) or not is_wide(args[0].type):
        raise OutOfReach("round to digits that are computed, or of other numbers than floats of 64 bits", op.loc)
    return in_result_dtype(build, op, rounded_to(build, args[0], args[1].value))


def is_close(build: Builder, op: Call, args: Args) -> list[Operand]:
    """``np.isclose``."""
    return in_result_dtype(build, op, close_to(build, as_float(build, args[0]), as_float(build, args[1]), **op.settings))


def to_decimals(build: Builder, op: Call, args: Args) -> list[Operand]:
    """``np.round``."""
    if getattr(args[0].type, "kind", None) == "float":
        return in_result_dtype(
            build, op, in_tens(build, args[0], op.settings["decimals"], lambda value: in_result_dtype(build, op, value)[0])
        )
    if op.settings["decimals"] < 0:
        raise OutOfReach("np.round of integers to tens", op.loc)
    return args


def converted(build: Builder, op: Call, args: Args) -> list[Operand]:
    """``float(x)``, ``int(x)``: Python handles floats too large for an integer of 62 bits."""
    kind = getattr(args[0].type, "kind", None)
    target_kind = op.settings["kind"]
    if isinstance(args[0].type, Object):
        raise OutOfReach("a number that is read from a text", op.loc)
    if target_kind == "float" and kind == "bool":
        return [as_float(build, args[0])]
    if target_kind == "int" and kind == "float":
        unless_small(build, args[0])
    dtype = getattr(args[0].type, "dtype", None)
    if target_kind == kind == "int" and dtype in ("any", "i64", "u64"):
        unless_whole(build, args[0], signed=dtype != "u64")
    if dtype not in (None, "any") and kind == target_kind != "bool":  # numba would leave its width unchanged
        value = build.call("cast", args[0], dtype={"float": "f64", "int": "i64"}[target_kind])
        value.type = Scalar(target_kind)
        return [value]
    return again(build, op, args)


def logarithm(build: Builder, op: Call, args: Args) -> list[Operand]:
    """``math.log(x)`` and ``math.log(x, base)``."""
    logarithms = [build.call("log", a, via="math") for a in widened(build, op, args)]
    for a, value in zip(args, logarithms, strict=True):
        if not is_known_finite("log", [a]):
            unless_finite(build, value)
    if len(logarithms) == 1:
        return list(logarithms)
    if_zero(build, logarithms[1])
    return [build.call("divide", *logarithms, hint=op.outs[0].name)]


def inverted(build: Builder, op: Call, args: Args) -> list[Operand]:
    """``~x``: ``not`` for NumPy booleans."""
    if getattr(args[0].type, "kind", None) != "bool":
        return again(build, op, args)
    if is_python(args[0].type):
        raise OutOfReach("~ of a boolean", op.loc)
    return [build.call("not_", args[0])]


def chosen(build: Builder, op: Call, args: Args) -> list[Operand]:
    """``x if c else y``."""
    if not isinstance(op.outs[0].type, Scalar):
        raise OutOfReach("np.where of numbers", op.loc)
    return again(build, op, args)


def lowered_power(build: Builder, op: Call, args: Args) -> list[Operand]:
    """The exponent of a power's derivative: one less, but 1 for 0."""
    (y,) = args
    zero, one = (Const(0), Const(1)) if getattr(y.type, "kind", None) == "int" else (Const(0.0), Const(1.0))
    return [build.call("where", build.call("not_equal", y, zero), build.call("subtract", y, one), one)]


def slope(build: Builder, op: Call, args: Args) -> list[Operand]:
    """A slope that may be infinite: kernels use NumPy's infinities."""
    floats = [as_float(build, a) if getattr(a.type, "kind", None) != "float" else a for a in args]
    return [build.call(SLOPES[op.name], *floats, hint=op.outs[0].name)]


def log_of_base(build: Builder, op: Call, args: Args) -> list[Operand]:
    """The factor of a power's derivative with respect to its exponent: ``log(x)``, but 0 for 0."""
    (x,) = args
    some = build.call("not_equal", x, Const(0.0))
    return in_result_dtype(build, op, build.call("where", some, build.call("log", build.call("where", some, x, Const(1.0))), Const(0.0)))


def same(build: Builder, op: Call, args: Args) -> list[Operand]:
    """The operand itself."""
    return [args[0]]


RULES: dict[str, Rule] = {
    **named(next_snapshot, snapshots_within, log_of_base, fmod=remainder, cbrt=root, sign=signed, heaviside=step, lowered=lowered_power),
    **named(round=to_decimals, isclose=is_close, clip=clipped, nan_to_num=nan_to_num, number=converted, invert=inverted, where=chosen),
    "erfcx_slope": slope_of_erfcx,
    **dict.fromkeys(("add", "subtract", "multiply"), counted),
    **dict.fromkeys(("left_shift", "right_shift"), shifted),
    **dict.fromkeys(("divide", "floor_divide", "mod"), divided),
    **dict.fromkeys(COUNTING, counting),
    **dict.fromkeys(("power", "float_power"), power),
    **dict.fromkeys(("maximum", "minimum"), larger),
    **dict.fromkeys(("floor", "ceil", "trunc", "rounded"), rounded),
    **dict.fromkeys(("log_to_base", "math_log"), logarithm),
    **dict.fromkeys(
        """
        exp exp2 expm1 log log2 log10 log1p sqrt hypot sin cos tan arcsin arccos arctan arctan2 sinh cosh tanh arcsinh arccosh arctanh
        deg2rad rad2deg abs fabs copysign isnan isinf isfinite
        """.split(),
        function,
    ),
    **dict.fromkeys(
        """
        negative positive square reciprocal logaddexp logaddexp2 rint signbit greater greater_equal less less_equal equal not_equal
        logical_and logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor not_ share inside below above fmax fmin cast
        range_len accumulate both either
        """.split(),
        again,
    ),
    **dict.fromkeys(("erf", "erfc", "gamma", "lgamma"), special),
    **dict.fromkeys(("digamma", "polygamma"), gammas),
    **dict.fromkeys(PROBABILITIES, composed),
    **dict.fromkeys(SLOPES, slope),
    **dict.fromkeys(("stop_gradient", "cut", "conjugate", "real"), same),
}
