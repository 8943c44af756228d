"""Lowering of complex scalars: each row -> ops that mean under numba what Python and NumPy mean.

numba raises for a zero divisor, and the kernel then bails out. It also bails out where a function or a power is not finite: Python may
raise there (``cmath`` outside its domain, overflow), and numba's functions have no value for large numbers where NumPy's do
(``np.tanh(710 + 1j)``).
"""

from __future__ import annotations

from collections.abc import Callable

from symgrad.ir.core import Call, Const, Operand, Value
from symgrad.ir.types import Scalar, is_complex
from symgrad.loops.bailouts import is_python, unless_finite
from symgrad.loops.reach import OutOfReach, dtype_in_words, function_in_words
from symgrad.ops.build import Builder
from symgrad.tables import named

Args = list[Operand]
Rule = Callable[[Builder, Call, Args], Operand]

#: dtypes of operands in 128-bit complex arithmetic
BESIDE = (None, "any", "c128", "f64", "i64", "bool")
#: the largest exponent that is expanded to products
SMALL = 4


def lower_complex(build: Builder, op: Call, args: Args) -> list[Operand]:
    """Append the ops that compute ``op`` on these operands; an operand or the result is complex."""
    for type_ in [*(a.type for a in args), *(o.type for o in op.outs)]:
        if isinstance(type_, Scalar) and type_.dtype not in BESIDE:
            raise OutOfReach(f"numbers of {dtype_in_words(type_.dtype)} beside complex ones", op.loc)
    rule = RULES.get(op.name)
    if rule is None:
        raise OutOfReach(f"{function_in_words(op)} of complex numbers", op.loc)
    value = rule(build, op, args)
    if isinstance(value, Value) and value not in args and is_complex(value.type) and is_complex(op.outs[0].type):
        value.type = op.outs[0].type  # Python's or NumPy's: numba has one type for both
    return [value]


def unless_both_finite(build: Builder, value: Operand) -> Operand:
    """A result, after a check that its parts are finite; else the kernel is left."""
    unless_finite(build, build.call("add", build.call("real", value), build.call("imaginary", value)) if is_complex(value.type) else value)
    return value


def again(build: Builder, op: Call, args: Args) -> Operand:
    """The row itself."""
    return build.call(op.name, *args, hint=op.outs[0].name, **op.settings)


def function(build: Builder, op: Call, args: Args) -> Operand:
    """A function with a check for a finite value."""
    settings = {"via": None} if "via" in op.settings else {}
    return unless_both_finite(build, build.call(op.name, *args, hint=op.outs[0].name, **settings))


def divided(build: Builder, op: Call, args: Args) -> Operand:
    """A quotient; NumPy also handles the cases in which Python raises."""
    return build.call("divide", *args, hint=op.outs[0].name, via=None)


def squared(build: Builder, op: Call, args: Args) -> Operand:
    return build.call("multiply", args[0], args[0], hint=op.outs[0].name, via=None)


def inverted(build: Builder, op: Call, args: Args) -> Operand:
    return build.call("divide", Const(1.0), args[0], hint=op.outs[0].name, via=None)


def power(build: Builder, op: Call, args: Args) -> Operand:
    """A power; a small integer power as products, as Python and NumPy compute it."""
    base, exponent = args
    times = exponent.value if isinstance(exponent, Const) else None
    value: Operand
    if isinstance(times, int | float) and 0 < abs(times) <= SMALL and times == int(times) and is_complex(base.type):
        value = base
        for _ in range(int(abs(times)) - 1):
            value = build.call("multiply", value, base, via=None)
        value = build.call("divide", Const(1.0), value, via=None) if times < 0 else value
    else:
        value = build.call("complex_power", base, exponent)
    return unless_both_finite(build, value)


def lowered(build: Builder, op: Call, args: Args) -> Operand:
    """The exponent of a power's derivative: one less, but 1 for exponent 0."""
    (exponent,) = args
    some = build.call("not_equal", exponent, Const(0.0))
    return build.call("where", some, build.call("subtract", exponent, Const(1.0), via=None), Const(1 + 0j), via=None)


def modulus(build: Builder, op: Call, args: Args) -> Operand:
    value = build.call("modulus", args[0], hint=op.outs[0].name, via=None)
    return unless_both_finite(build, value) if is_python(args[0].type) else value


def squared_modulus(build: Builder, op: Call, args: Args) -> Operand:
    value = build.call("multiply", size := build.call("modulus", args[0], via=None), size, hint=op.outs[0].name, via=None)
    return unless_both_finite(build, value) if is_python(args[0].type) else value


def size_or_one(build: Builder, number: Operand) -> tuple[Operand, Operand]:
    """Whether a number is nonzero, and its modulus, with 1 for 0."""
    size = build.call("modulus", number, via=None)
    some = build.call("not_equal", size, Const(0.0))
    return some, build.call("where", some, size, Const(1.0), via=None)


def unit_conjugate(build: Builder, op: Call, args: Args) -> Operand:
    """The slope of the modulus, 0 for 0."""
    _, size = size_or_one(build, args[0])
    real = build.call("divide", build.call("real", args[0]), size, via=None)
    imaginary = build.call("negative", build.call("divide", build.call("imaginary", args[0]), size, via=None))
    return build.call("complex_of", real, imaginary, hint=op.outs[0].name)


def inverse_modulus(build: Builder, op: Call, args: Args) -> Operand:
    some, size = size_or_one(build, args[0])
    return build.call("where", some, build.call("divide", Const(1.0), size, via=None), Const(0.0), via=None)


def conjugate(build: Builder, op: Call, args: Args) -> Operand:
    return build.call("conj", args[0], hint=op.outs[0].name)


def of_parts(build: Builder, op: Call, args: Args) -> Operand:
    """``complex(x, y)``; numba's has no booleans."""
    parts = [build.call("cast", a, dtype="f64") if getattr(a.type, "kind", None) == "bool" else a for a in args]
    return build.call("complex_of", *parts, hint=op.outs[0].name)


def real_part(build: Builder, op: Call, args: Args) -> Operand:
    return build.call("real", args[0], hint=op.outs[0].name) if is_complex(args[0].type) else args[0]


def converted(build: Builder, op: Call, args: Args) -> Operand:
    """``complex(z)``; a conversion from complex to another kind is refused."""
    if not is_complex(op.outs[0].type):
        raise OutOfReach("a complex number that is made a real one", op.loc)
    if isinstance(args[0], Const):
        return Const(complex(args[0].value))
    return build.call("number", args[0], kind="complex", hint=op.outs[0].name)


def chosen(build: Builder, op: Call, args: Args) -> Operand:
    """``x if c else y``, with both sides converted to complex, because numba needs one type."""
    test, *sides = args
    wide = [s if is_complex(s.type) else converted(build, op, [s]) for s in sides]
    return build.call("where", test, *wide, hint=op.outs[0].name, via=None)


def added(build: Builder, op: Call, args: Args) -> Operand:
    return build.call("add", *args, hint=op.outs[0].name, via=None)


def same(build: Builder, op: Call, args: Args) -> Operand:
    return args[0]


RULES: dict[str, Rule] = (
    named(lowered, modulus, squared_modulus, unit_conjugate, inverse_modulus, real_part, complex_of=of_parts, square=squared)
    | named(reciprocal=inverted, complex_power=power, conj=conjugate, where=chosen, accumulate=added)
    | dict.fromkeys("add subtract multiply negative positive equal not_equal imaginary real".split(), again)
    | dict.fromkeys(("divide", "ratio"), divided)
    | dict.fromkeys(
        "\n    exp log log10 sqrt sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arctanh complex_log complex_arccosh\n".split(),
        function,
    )
    | dict.fromkeys(("number", "cast"), converted)
    | dict.fromkeys(("stop_gradient", "cut"), same)
)

NAMES = """view take take_written set_at add_at add_written accumulate copy copy_rows by_rows zeros zeros_of ones zeros_like zeros_as
    ones_like empty empty_like full full_like spread broadcast_to unbroadcast in_form array_or_zeros sum mean prod reshape ravel
    flatten transpose mT moveaxis expand_dims flip roll tril triu diagonal diagonal_place trace trace_back concatenate
    concatenate_part concatenate_place stack stack_part stack_place shape_of extent size to_array item item_place matmul dot
    matmul_left matmul_right dot_left dot_right outer convolution correlation eye cumsum cumprod product_before product_after
    weighted_before weighted_after tape push pop slots slots_like put get seeds list_of list_append list_drop list_take list_set
    list_len array_of list_zeros list_add_at list_from list_add list_join list_slice table_take table_set table_add_at
    lists_from lengths_of numbers_of evaluated"""
#: rows whose rules also hold for complex arrays and lists
OF_ARRAYS = frozenset(NAMES.split())

__all__ = ["OF_ARRAYS", "lower_complex"]
