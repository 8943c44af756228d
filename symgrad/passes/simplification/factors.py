"""Strength reduction for ``strength_reduction.py``: signs, factors and powers of one, also complex; and the conditions of its rewrites.

Rewrites that touch the user's own arithmetic are done in the backward half only.
"""

from __future__ import annotations

import math
from typing import Any

import symgrad.ops.rows.arrays
import symgrad.ops.rows.creation  # noqa: F401  (their rows are used here)
from symgrad.ir.core import Call, Const, Operand, Value
from symgrad.ir.types import FLOAT, INT, Array, Scalar, ShapeOf, Type, is_complex, same_shape
from symgrad.ops.declare import ROWS
from symgrad.passes.facts import Facts, call
from symgrad.passes.simplification.identities import OF_COMPLEX as ALIKE
from symgrad.passes.simplification.identities import equal_shape, is_number, is_real, plain_spread, shape_of_type
from symgrad.passes.simplification.list_identities import Rewrite


def new(name: str, op: Call, type_: Type, args: list[Operand], **settings: Any) -> Call:
    """A new op with its own result, at the location of ``op``."""
    return Call([Value(type_)], op.loc, name, args, {**ROWS[name].settings, **settings})


def is_late(op: Call, facts: Facts) -> bool:
    """Whether the op is operator arithmetic on floats in the backward half."""
    return op.outs[0] in facts.late and op.settings.get("via") is None and is_real(op.outs[0].type)


def once(operand: Operand, name: str, facts: Facts) -> Call | None:
    """The op ``name`` that computes the operand, if this is its only use and it is float arithmetic in the backward half."""
    maker = facts.calls(operand, name)
    if maker is None or not isinstance(operand, Value) or facts.count.get(operand, 0) != 1 or not is_late(maker, facts):
        return None
    return maker if facts.is_steady(maker) else None


def as_large(operand: Type, result: Type) -> bool:
    """Whether the operand has as many elements as the broadcast result."""
    return equal_shape(shape_of_type(operand), shape_of_type(result))


# ------------------------------------------------------------------ signs


def sign_outwards(op: Call, facts: Facts) -> Call | list[Call] | None:
    """``-a * b`` is ``-(a * b)``, which may meet another sign, and ``-a * 2`` is ``a * -2``."""
    if not is_late(op, facts):
        return None
    for side in (0, 1):
        maker = once(op.args[side], "negative", facts)
        other = op.args[1 - side]
        if maker is None or not is_real(maker.args[0].type):
            continue
        if isinstance(other, Const) and type(other.value) in (int, float) and op.name not in PRODUCTS:
            pair: list[Operand] = [maker.args[0], Const(-other.value)]
            return call(op.name, op, pair if side == 0 else pair[::-1])
        if not (as_large(maker.args[0].type, op.outs[0].type) or op.name in PRODUCTS):
            continue
        args = list(op.args)
        args[side] = maker.args[0]
        inner = new(op.name, op, op.outs[0].type, args)
        return [inner, call("negative", op, [inner.outs[0]])]
    return None


PRODUCTS = frozenset({"matmul", "dot"})


def negative_product(op: Call, facts: Facts) -> Call | None:
    """``-(a * 2)`` is ``a * -2``."""
    maker = once(op.args[0], "multiply", facts)
    if maker is None or not is_late(op, facts):
        return None
    for side in (0, 1):
        factor = maker.args[side]
        if isinstance(factor, Const) and type(factor.value) in (int, float) and factor.value:
            args = list(maker.args)
            args[side] = Const(-factor.value)
            return call("multiply", op, args)
    return None


def sum_of_negative(op: Call, facts: Facts) -> list[Call] | None:
    """The sum of ``-x`` is minus that of ``x``."""
    maker = once(op.args[0], "negative", facts)
    if maker is None or not is_late(op, facts) or not is_real(maker.args[0].type):
        return None
    inner = new(op.name, op, op.outs[0].type, [maker.args[0]], **op.settings)
    return [inner, call("negative", op, [inner.outs[0]])]


def sum_of_scaled(op: Call, facts: Facts) -> list[Call] | None:
    """The sum of ``2 * x`` is twice that of ``x``."""
    maker, scaled = once(op.args[0], "multiply", facts), factor_of(op.args[0], facts)
    if maker is None or scaled is None or not is_power_of_two(scaled[0]) or not is_late(op, facts):
        return None
    factor, y = scaled
    if not isinstance(y.type, Array) or y.type.dtype != "f64":
        return None
    inner = new("sum", op, op.outs[0].type, [y], **op.settings)
    return [inner, call("multiply", op, [inner.outs[0], factor])]


def sum_of_spread(op: Call, facts: Facts) -> list[Call] | None:
    """The sum of a broadcast number is the number times its count."""
    maker = facts.calls(op.args[0], "spread")
    if maker is None or op.settings["axis"] is not None or op.settings["keepdims"] or not is_late(op, facts):
        return None
    value, shape = maker.args
    if not isinstance(value.type, Scalar) or value.type.kind != "float" or not isinstance(shape.type, ShapeOf):
        return None
    size = new("reduced_size", op, INT, [shape])
    if value.type == op.outs[0].type:
        return [size, call("multiply", op, [value, size.outs[0]])]
    product = new("multiply", op, value.type, [value, size.outs[0]])
    return [size, product, call("cast", op, [product.outs[0]], dtype="f64")] if op.outs[0].type == Scalar("float", "f64") else None


def negative_first(op: Call, facts: Facts) -> Call | None:
    """``-a + b`` is ``b - a``."""
    maker = once(op.args[0], "negative", facts)
    if maker is None or not is_late(op, facts) or not is_real(op.args[1].type) or not is_real(maker.args[0].type):
        return None
    return call("subtract", op, [op.args[1], maker.args[0]])


# ------------------------------------------------------------------ factors


def doubled(op: Call, facts: Facts) -> Call | None:
    """``x + x`` is ``2.0 * x``."""
    x = op.args[0]
    return call("multiply", op, [Const(2.0), x]) if x is op.args[1] and is_late(op, facts) and is_real(x.type) else None


def is_power_of_two(operand: Operand) -> bool:
    """Whether multiplication by the operand is exact."""
    return isinstance(operand, Const) and type(operand.value) in (int, float) and math.frexp(abs(operand.value))[0] == 0.5


def factor_of(operand: Operand, facts: Facts) -> tuple[Const, Operand] | None:
    """``c`` and ``y`` of an operand ``c * y``."""
    maker = facts.calls(operand, "multiply")
    if maker is None or not is_late(maker, facts):
        return None
    for side in (0, 1):
        factor, y = maker.args[side], maker.args[1 - side]
        if isinstance(factor, Const) and type(factor.value) in (int, float) and is_real(y.type) and facts.is_steady(maker):
            return factor, y
    return None


def joined_factors(op: Call, facts: Facts) -> Call | list[Call] | None:
    """``0.5 * (2 * y)`` is ``1.0 * y``, ``s * (2 * y)`` is ``(s * 2) * y`` where ``s`` is smaller, else ``(s * y) * 2``.

    All are exact, as one of the factors is a power of two.
    """
    if not is_late(op, facts):
        return None
    for side in (0, 1):
        scaled, other = factor_of(op.args[side], facts), op.args[1 - side]
        if scaled is None:
            continue
        factor, y = scaled
        if isinstance(other, Const) and type(other.value) in (int, float) and (is_power_of_two(factor) or is_power_of_two(other)):
            return call("multiply", op, [Const(float(other.value * factor.value)), y])
        if not isinstance(other, Value) or not is_power_of_two(factor) or not is_real(other.type):
            continue
        if facts.count.get(op.args[side], 0) != 1 or not as_large(y.type, op.outs[0].type):  # type: ignore[arg-type]
            continue
        if as_large(other.type, op.outs[0].type):  # the factor goes outwards, where it may meet another one
            inner = new("multiply", op, op.outs[0].type, [other, y])
            return [inner, call("multiply", op, [inner.outs[0], factor])]
        inner = new("multiply", op, other.type, [other, factor])
        return [inner, call("multiply", op, [inner.outs[0], y])]
    return None


def scaled_quotient(op: Call, facts: Facts) -> list[Call] | None:
    """``1.0 / n * 2`` is ``2.0 / n``, ``3 * t / n * 2`` is ``6 * t / n``."""
    if not is_late(op, facts):
        return None
    for side in (0, 1):
        maker, factor = once(op.args[side], "divide", facts), op.args[1 - side]
        if maker is None or not isinstance(factor, Const) or not is_power_of_two(factor):
            continue
        above, below = maker.args
        number = isinstance(above, Const) and type(above.value) in (int, float)
        if not number and factor_of(above, facts) is None or not as_large(above.type, op.outs[0].type):
            continue
        inner = new("multiply", op, FLOAT if number else above.type, [factor, above])
        return [inner, call("divide", op, [inner.outs[0], below])]
    return None


def spread_outwards(op: Call, facts: Facts) -> list[Call] | None:
    """Arithmetic on a broadcast number is done on the number, unless the result is written to or returned."""
    if not is_late(op, facts) or not isinstance(op.outs[0].type, Array) or facts.is_stored(op.outs[0]) or facts.is_returned(op.outs[0]):
        return None
    makers = [facts.calls(a, "spread") for a in op.args]
    maker = next((m for m in makers if m is not None and isinstance(m.args[0].type, Scalar)), None)
    if maker is None or not all(m is maker or isinstance(a.type, Scalar) for m, a in zip(makers, op.args, strict=True)):
        return None
    args = [maker.args[0] if m is maker else a for m, a in zip(makers, op.args, strict=True)]
    type_ = ROWS[op.name].law([a.type for a in args], op.settings, lambda i: -2)
    if not isinstance(type_, Scalar) or type_.kind != "float":
        return None
    inner = new(op.name, op, type_, args, **op.settings)
    return [inner, Call(op.outs, op.loc, "spread", [inner.outs[0], maker.args[1]], dict(maker.settings))]


def scaled_view(op: Call, facts: Facts) -> list[Call] | None:
    """``v[:, None] * 2`` is ``(v * 2)[:, None]``, which may meet another factor."""
    if not is_late(op, facts):
        return None
    for side in (0, 1):
        view, factor = facts.calls(op.args[side], "view"), op.args[1 - side]
        if view is None or not isinstance(factor, Const) or facts.count.get(view.outs[0], 0) != 1 or not facts.is_steady(view):
            continue
        v, *bounds = view.args
        whole = set(view.settings["index"]) <= {"s", "n"} and all(isinstance(b, Const) and b.value is None for b in bounds)
        if whole and is_real(v.type):
            inner = new("multiply", op, v.type, [v, factor])
            return [inner, call("view", op, [inner.outs[0], *bounds], index=view.settings["index"])]
    return None


def first_power(op: Call, facts: Facts) -> Operand | None:
    return op.args[0] if is_real(op.args[0].type) and is_number(op.args[1], 1) and as_large(op.args[0].type, op.outs[0].type) else None


def first_power_operand(op: Call, facts: Facts) -> Call | None:
    """A product with ``x ** 1`` is one with ``x``, also where ``x`` is written to later."""
    for side in (0, 1):
        maker = once(op.args[side], "power", facts)
        if maker is not None and first_power(maker, facts) is not None and is_late(op, facts):
            args = list(op.args)
            args[side] = maker.args[0]
            return call("multiply", op, args)
    return None


def once_is_a_copy(op: Call, facts: Facts) -> Call | None:
    """``1.0 * x`` whose result is written to or returned is a copy of ``x``."""
    for side in (0, 1):
        x = op.args[1 - side]
        if is_number(op.args[side], 1.0) and is_late(op, facts) and isinstance(x.type, Array):
            out = op.outs[0].type
            if (
                x.type.dtype == getattr(out, "dtype", None)
                and x.type.layout in ("C", "CF")
                and same_shape(x.type.shape, shape_of_type(out))
            ):
                return call("copy", op, [x])
    return None


# ------------------------------------------------------------------ squares

#: rows for the cotangent of the second factor, with those for the first
RIGHT = {"dot_right": "dot_left", "matmul_right": "matmul_left"}


def square_of_vector(op: Call, facts: Facts) -> list[Call] | Call | None:
    """The cotangents of ``x @ x`` for its two factors are equal: twice one of them replaces their sum."""
    second = product_with_vector(op.args[1], facts)
    if second is None:
        return twice_the_vector(op, facts)
    earlier = once(op.args[0], "accumulate", facts)
    first = product_with_vector(op.args[0] if earlier is None else earlier.args[1], facts)
    if first is None or (first.name, *first.args[:2]) != (RIGHT.get(second.name), *second.args[:2]):
        return None
    g = first.args[0]
    twice = new("multiply", op, g.type, [g, Const(2.0)])
    operands = [twice.outs[0], *first.args[1:]]
    if earlier is None:
        return [twice, call(first.name, op, operands)]
    product = new(first.name, op, first.outs[0].type, operands)
    return [twice, product, call("accumulate", op, [earlier.args[0], product.outs[0]])]


def twice_the_vector(op: Call, facts: Facts) -> Call | None:
    """``1.0 * x`` to which ``x`` is added is ``2.0 * x``."""
    first, x = product_with_vector(op.args[0], facts) or once(op.args[0], "multiply", facts), op.args[1]
    if first is None or not is_number(first.args[0], 1.0) or first.args[1] is not x:
        return None
    same = isinstance(x.type, Array) and x.type.dtype == "f64" and same_shape(x.type.shape, shape_of_type(op.outs[0].type))
    return call("multiply", op, [Const(2.0), x]) if same else None


def product_with_vector(operand: Operand, facts: Facts) -> Call | None:
    """The op, used only here, that multiplies a vector by the cotangent of a product of vectors."""
    names = (*RIGHT, *RIGHT.values())
    maker = next((m for name in names if (m := once(operand, name, facts)) is not None), None)
    if maker is None or not isinstance(maker.args[0].type, Scalar) or maker.args[0].type.kind != "float":
        return None
    x, out = maker.args[1].type, maker.outs[0].type
    return maker if isinstance(x, Array) and x.rank == 1 and x.dtype == "f64" and same_shape(x.shape, shape_of_type(out)) else None


# ------------------------------------------------------------------ complex numbers


def spread_one(op: Call, facts: Facts) -> Operand | None:
    """``spread(1.0, shape) * z`` is ``z``, an array of complex numbers of that shape; only cotangents and tangents are spread."""
    for spread, other in (op.args, op.args[::-1]):
        source = plain_spread(spread, facts)
        is_one = isinstance(source, Const) and type(source.value) in (int, float, complex) and source.value == 1
        if is_one and is_complex(other.type) and isinstance(out := op.outs[0].type, Array) and isinstance(other.type, Array):
            if other.type.dtype == out.dtype and equal_shape(other.type.shape, out.shape):
                return other
    return None


def squared_modulus(op: Call, facts: Facts) -> Call | None:
    """``abs(z) ** 2`` of complex numbers as one op, which has a derivative at 0 too."""
    maker = facts.calls(op.args[0], "modulus")
    is_square = {"power": lambda: is_number(op.args[1], 2.0), "multiply": lambda: op.args[0] is op.args[1]}.get(op.name, lambda: True)()
    if maker is None or not is_square or op.settings.get("via") == "math" or not facts.is_steady(maker):
        return None
    return call("squared_modulus", op, [maker.args[0]], via=maker.settings["via"])


#: rewrites tried before a broadcast operand is replaced by its source
FIRST: dict[str, tuple[Rewrite, ...]] = {
    "multiply": (spread_one, squared_modulus),
    **dict.fromkeys(("power", "square"), (squared_modulus,)),
}
#: all identities that hold of complex operands
OF_COMPLEX: frozenset[Any] = ALIKE | {spread_one}


__all__ = ["FIRST", "OF_COMPLEX"]
