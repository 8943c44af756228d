"""table: algebraic identities for ``fold``: an op -> another operand, or another op with the same result.

Each entry is exact, or changes only the sign of a zero cotangent. ``fold`` checks for every entry whether the
two values may share memory; entries do not.
"""

from __future__ import annotations

import ast
import cmath
import math
import operator
from collections.abc import Callable
from typing import Any

from symgrad.ir.core import Apply, Call, Const, Operand, Value, walk
from symgrad.ir.types import Array, Dim, Scalar, Shape, ShapeOf, Type, is_plural, same_extent, same_shape
from symgrad.ops.declare import ROWS
from symgrad.ops.indexing import broadcast
from symgrad.ops.signatures import AST_OPERATORS
from symgrad.passes.facts import KEEPING, Facts, call
from symgrad.passes.simplification.list_identities import OF_LISTS, Rewrite
from symgrad.tables import OPERATORS

#: rows that equal the Python operator if all operands are Python numbers
FOLDED: dict[str, Callable[..., Any]] = {
    AST_OPERATORS[kind]: function
    for kind, function in OPERATORS.items()
    if kind not in (ast.MatMult, ast.LShift, ast.RShift, ast.BitAnd, ast.BitOr, ast.BitXor)
} | {"negative": operator.neg, "positive": operator.pos, "abs": abs, "not_": operator.not_}
LARGEST = 10**18  #: larger integers are not folded


def folded(op: Call, facts: Facts) -> Operand | None:
    """The result for literal Python numbers, unless computing it raises."""
    if op.settings.get("via") is not None or not isinstance(op.outs[0].type, Scalar):
        return None
    values = [a.value for a in op.args if isinstance(a, Const) and type(a.value) in (bool, int, float, complex)]
    if len(values) < len(op.args) or op.outs[0].type.dtype is not None or (op.name == "power" and abs(values[1]) > 64):
        return None
    try:
        value = FOLDED[op.name](*values)
    except (ArithmeticError, TypeError, ValueError):
        return None
    if type(value) is complex:
        return folded_complex(op, value)
    return Const(value) if type(value) in (bool, int, float) and not (type(value) is int and abs(value) > LARGEST) else None


def folded_complex(op: Call, value: complex) -> Operand | None:
    """A complex literal, if it prints as the sum of its parts; a product with one is the number itself."""
    if op.name == "multiply" and any(is_number(a, 1.0) for a in op.args):
        return next(a for a in op.args if not is_number(a, 1.0))
    has_plain_text = value.real != 0 or math.copysign(1, value.real) == math.copysign(1, value.imag)
    return Const(value) if cmath.isfinite(value) and has_plain_text and not any(a.name for a in op.args) else None


# ------------------------------------------------------------------ arithmetic


def is_number(operand: Operand, number: float) -> bool:
    """Whether the operand is a constant equal to this number (zero: positive zero)."""
    return isinstance(operand, Const) and type(operand.value) in (int, float) and repr(float(operand.value)) == repr(float(number))


def is_integer(type_: Type) -> bool:
    return getattr(type_, "kind", None) == "int"


def is_real(type_: Type) -> bool:
    """Floats only: there ``a + (-b)`` is ``a - b`` to the last bit."""
    return getattr(type_, "kind", None) == "float"


def unit(side: int, number: float, always_float: bool = False) -> Rewrite:
    """``x op number`` is x, where ``number`` is the operand at ``side``; ``always_float``: the result is a float for integers too.

    Not for complex numbers: an infinite one times 1.0 has a NaN.
    """

    def rewrite(op: Call, facts: Facts) -> Operand | None:
        other, literal = op.args[1 - side], op.args[side]
        if getattr(other.type, "kind", None) not in ("int", "float") or not is_number(literal, number):
            return None
        kind = "float" if always_float else getattr(literal.type, "kind", "float")
        return other if keeps_class(other, kind, facts) else None

    return rewrite


def keeps_class(operand: Operand, kind: str, facts: Facts) -> bool:
    """Whether arithmetic with a number of this kind surely keeps the operand's class, as with a float and an integer."""
    if not isinstance(operand.type, Scalar) or operand.type.dtype not in (None, "any") or kind in ("bool", "int"):
        return True
    return operand.type.kind == kind and operand not in facts.mixed


def add_zero(op: Call, facts: Facts) -> Operand | None:
    """Integers only: 0.0 + -0.0 is 0.0."""
    for side in (0, 1):
        if is_number(op.args[side], 0) and is_integer(op.args[1 - side].type):
            return op.args[1 - side]
    return None


def times_minus_one(op: Call, facts: Facts) -> Call | None:
    for side in (0, 1):
        other = op.args[1 - side]
        if is_number(op.args[side], -1.0) and is_real(other.type) and other.type == op.outs[0].type and op.settings.get("via") is None:
            return call("negative", op, [other])
    return None


def negated(operand: Operand, facts: Facts) -> Operand | None:
    """``y`` if the operand is ``-y`` and used only here."""
    maker = facts.calls(operand, "negative")
    if maker is None or not is_real(operand.type) or not is_real(maker.args[0].type):
        return None
    y = maker.args[0]
    return y if isinstance(operand, Value) and facts.count.get(operand, 0) == 1 and not facts.is_stored(y) else None


def double_negative(op: Call, facts: Facts) -> Operand | None:
    return negated(op.args[0], facts)


def compared_with_itself(op: Call, facts: Facts) -> Operand | None:
    """A Python integer equals itself; a float may be nan."""
    x, y = op.args
    if x is not y or not isinstance(x, Value) or not isinstance(x.type, Scalar) or x.type.kind != "int" or x.type.dtype is not None:
        return None
    return Const(op.name in ("equal", "less_equal", "greater_equal"))


def add_negative(op: Call, facts: Facts) -> Call | None:
    """``x + -y`` is ``x - y`` and ``x - -y`` is ``x + y``; in the backward half also where ``y`` is a literal."""
    y: Operand | None = negated(op.args[1], facts)
    literal = op.args[1].value if isinstance(op.args[1], Const) and op.outs[0] in facts.late else None
    if isinstance(literal, float) and literal < 0.0 and getattr(op.outs[0].type, "kind", None) == "float":
        y = Const(-literal)
    if y is None or op.settings.get("via") is not None or not is_real(op.args[0].type):
        return None
    return call("subtract" if op.name == "add" else "add", op, [op.args[0], y])


# ------------------------------------------------------------------ broadcasting


def shape_of_type(type_: Type) -> Shape | None:
    if isinstance(type_, Array):
        return type_.shape
    return () if isinstance(type_, Scalar) else None


def equal_shape(have: Shape | None, want: Shape | None) -> bool:
    """Whether two shapes that were broadcast together are equal."""
    if have is None or want is None or len(have) != len(want):
        return False
    return all(same_extent(h, w) or is_plural(h) and is_plural(w) for h, w in zip(have, want, strict=True))


def plain_spread(operand: Operand, facts: Facts) -> Operand | None:
    """``s`` if the operand is ``s`` broadcast without an inserted axis."""
    maker = facts.maker.get(operand) if isinstance(operand, Value) else None
    if not isinstance(maker, Call) or maker.name not in ("spread", "view", "take"):
        return None
    if maker.name != "spread":
        inner = plain_spread(maker.args[0], facts)
        return inner if inner is not None and isinstance(inner.type, Scalar) else None
    source, settings = maker.args[0], maker.settings
    return source if settings["axis"] is None or settings["keepdims"] or isinstance(source.type, Scalar) else None


def spread_operand(op: Call, facts: Facts) -> Call | None:
    """``spread(s, shape) * b`` is ``s * b`` where the other operands already have the shape of the result."""
    row = ROWS[op.name]
    out = op.outs[0].type
    if not isinstance(out, Array) or op.settings.get("via") == "math":
        return None
    for k, operand in enumerate(op.args):
        source = plain_spread(operand, facts)
        if source is None or (isinstance(source.type, Array) and source.type.shape is None):
            continue
        args = [*op.args[:k], source, *op.args[k + 1 :]]
        shapes = [shape_of_type(a.type) for a in args]
        # the forward half has checked, by broadcasting, that extents with different symbols are equal
        alike = equal_shape if op.outs[0] in facts.late else same_shape
        if not alike(broadcast(shapes), out.shape):
            continue
        types = [a.type for a in args]
        type_ = row.law(types, op.settings, lambda i: Dim("?"))
        if isinstance(type_, Array) and type_.dtype is not None and type_.dtype == out.dtype and alike(type_.shape, out.shape):
            return Call(op.outs, op.loc, op.name, args, op.settings)
    return None


def spread_stored(op: Call, facts: Facts) -> Call | None:
    """A store broadcasts by itself."""
    source = plain_spread(op.args[1], facts)
    if source is None or not isinstance(source.type, Scalar):
        return None
    return Call(op.outs, op.loc, op.name, [op.args[0], source, *op.args[2:]], op.settings)


def spread_accumulated(op: Call, facts: Facts) -> Operand | Call | None:
    """``x += spread(s, shape)`` is ``x += s``, since adding in place broadcasts by itself."""
    source = plain_spread(op.args[1], facts)
    if source is None or not isinstance(op.args[0].type, Array) or not shape_of_type(op.args[0].type):
        return None
    return Call(op.outs, op.loc, op.name, [op.args[0], source], op.settings)


def needless_unbroadcast(op: Call, facts: Facts) -> Operand | None:
    grad, shape = op.args
    target = shape.type.shape if isinstance(shape.type, ShapeOf) else None
    if op.settings["array"] and not isinstance(grad.type, Array):
        return None
    return grad if same_shape(shape_of_type(grad.type), target) else None


def unbroadcast_spread(op: Call, facts: Facts) -> Operand | None:
    """Broadcasting to a shape and summing back over axes of extent 1 changes nothing."""
    source = plain_spread(op.args[0], facts)
    target = op.args[1].type.shape if isinstance(op.args[1].type, ShapeOf) else None
    if source is None or not same_shape(shape_of_type(op.args[0].type), target) or not same_shape(shape_of_type(source.type), target):
        return None
    return source if isinstance(source.type, Array) else None


# ------------------------------------------------------------------ shapes


def shape_elsewhere(op: Call, facts: Facts) -> Operand | Call | None:
    """The shape of a computed value is the shape of one of its operands, so the value need not be computed for it."""
    known = op.args[0].type
    if op.name == "extent" and isinstance(known, Array) and known.shape is not None and isinstance(known.shape[op.settings["axis"]], int):
        return Const(known.shape[op.settings["axis"]])
    if not isinstance(known, Array) or known.shape is None:
        return None
    source: Operand | None = None
    here: Operand | None = op.args[0]
    while here is not None:
        here = source_of_shape(here, facts)
        source = source if here is None or facts.is_stored(here) else here
    if source is None:  # an overwritten array keeps its shape
        source = source_of_shape(op.args[0], facts)
    return None if source is None else Call(op.outs, op.loc, op.name, [source], op.settings)


def source_of_shape(operand: Operand, facts: Facts) -> Operand | None:
    """An earlier operand whose type proves the same shape, preferably one that is never overwritten."""
    candidates: list[Operand] = []
    if isinstance(operand, Value) and operand in facts.origin and not facts.may_be_unbound(facts.origin[operand]):
        candidates = [facts.origin[operand]]
    maker = facts.maker.get(operand) if isinstance(operand, Value) else None
    if isinstance(maker, Call) and (ROWS[maker.name].elementwise or maker.name in SAME_SHAPE):
        candidates = list(maker.args)
    known = shape_of_type(operand.type)
    alike = [c for c in candidates if isinstance(c, Value) and isinstance(c.type, Array) and same_shape(c.type.shape, known)]
    return min(alike, key=facts.is_stored, default=None)


#: rows that are not elementwise but may preserve the shape of an operand
SAME_SHAPE = frozenset(
    {"copy", "set_at", "add_at", "accumulate", "cast", "zeros_like", "where", "unbroadcast", "stop_gradient", "tril", "triu"}
)


def shape_of_zeros(op: Call, facts: Facts) -> Operand | None:
    """``shape_of(zeros_of(shape))`` is ``shape``."""
    for name, place in (("zeros_of", 0), ("spread", 1), ("unbroadcast", 1)):
        maker = facts.calls(op.args[0], name)
        if maker is not None and isinstance(maker.args[place].type, ShapeOf) and isinstance(op.args[0].type, Array):
            return maker.args[place]
    return None


# ------------------------------------------------------------------ buffers

ZEROS = ("zeros_of", "zeros_like")


def is_zeros(operand: Operand, facts: Facts) -> bool:
    return any(facts.calls(operand, name) is not None for name in ZEROS)


def first_accumulation(op: Call, facts: Facts) -> Operand | Call | None:
    """``zeros += g`` is ``g`` if ``g`` is released here, else a copy of it; ``0.0 + g`` likewise."""
    buffer, g = op.args
    home = facts.home.get(op.outs[0])
    if is_number(buffer, 0.0) and isinstance(g.type, Scalar):
        return g
    if not isinstance(g.type, Array) or g.type.dtype is None or g.type.dtype != getattr(op.outs[0].type, "dtype", None):
        return None
    whole = is_number(buffer, 0.0) or (isinstance(buffer, Value) and is_zeros(buffer, facts) and facts.count.get(buffer) == 1)
    # a cotangent has its value's shape; the forward half has checked that extents with different symbols are equal
    alike = equal_shape if home is facts.body and op.outs[0] in facts.late else same_shape
    if not whole or not alike(g.type.shape, shape_of_type(op.outs[0].type)):
        return None
    if facts.reshaped and g.type.layout not in ("C", "CF"):
        return None
    if home is not None and isinstance(g, Value) and facts.hands_over(g, home):
        return g
    return call("copy", op, [g])


def nothing_accumulated(op: Call, facts: Facts) -> Operand | None:
    """``x += 0`` is ``x``: the zero of a cotangent."""
    buffer, g = op.args
    source = plain_spread(g, facts)
    if is_number(g if source is None else source, 0.0) and not isinstance(g.type, Array):
        return buffer
    nothing = is_zeros(g, facts) or (source is not None and is_number(source, 0.0))
    same = same_shape(shape_of_type(buffer.type), shape_of_type(g.type)) and getattr(buffer.type, "dtype", 0) == getattr(g.type, "dtype", 1)
    return buffer if nothing and same else None


def copy_of_copy(op: Call, facts: Facts) -> Operand | None:
    return op.args[0]  # ``fold`` accepts it if the operand's memory is released, or neither is ever written to


def cast_to_itself(op: Call, facts: Facts) -> Operand | None:
    return op.args[0] if getattr(op.args[0].type, "dtype", None) == op.settings["dtype"] else None


def stores_all(op: Call) -> bool:
    """Whether a store writes to a whole array."""
    return set(op.settings["index"]) <= {"s", "e"} and all(isinstance(a, Const) and a.value is None for a in op.args[2:])


def whole_store(op: Call, facts: Facts) -> Operand | None:
    """``a[...] = v`` of a new ``v`` is ``v``, outside of loops: inside, the memory is reused."""
    x, v = op.args[:2]
    home = facts.home.get(op.outs[0])
    if not stores_all(op) or home is not facts.body or not isinstance(v, Value) or not facts.is_fresh(v):
        return None
    if not isinstance(x.type, Array) or not isinstance(v.type, Array) or x.type.dtype is None or x.type.dtype != v.type.dtype:
        return None
    if not same_shape(x.type.shape, v.type.shape) or facts.reshaped:
        return None
    kept = any(isinstance(other, Apply) or isinstance(other, Call) and other.name in {*KEEPING, "opaque"} for other in walk(facts.body))
    if kept or not facts.hands_over(v, home):
        return None
    v.name = v.name or op.outs[0].name
    return v


def store_after_whole_zero(op: Call, facts: Facts) -> Call | None:
    """``a[...] = 0.0; a += v`` is ``a[...] = v``."""
    zero = facts.calls(op.args[0], "set_at")
    if zero is None or not stores_all(zero) or not is_number(zero.args[1], 0.0):
        return None
    x, v = op.args[0].type, op.args[1].type
    if not is_real(x) or not isinstance(v, Array) or not isinstance(x, Array) or x.dtype != v.dtype or not same_shape(x.shape, v.shape):
        return None
    if facts.home.get(zero.outs[0]) is not facts.home.get(op.outs[0]) or facts.count.get(zero.outs[0], 0) != 1:
        return None
    return call("set_at", op, [zero.args[0], op.args[1]], index="e")


def same_axes(op: Call, facts: Facts) -> Operand | None:
    """A transpose that leaves the axes in order, which ``np.moveaxis`` of one axis is, is the array; a result has memory of its own."""
    count = len(op.args) - 1
    in_order = [isinstance(axis, Const) and axis.value == k for k, axis in enumerate(op.args[1:])]
    if op.settings["index"] != f".transpose:{count}" or not all(in_order) or facts.is_returned(op.outs[0]):
        return None
    return op.args[0]


def one_times_vector(op: Call, facts: Facts) -> Operand | None:
    """The cotangent of a factor of a scalar product is the other factor, where the seed is 1."""
    vector = isinstance(op.args[1].type, Array) and op.args[1].type.rank == 1 and op.args[1].type.dtype == "f64"
    return op.args[1] if vector and is_number(op.args[0], 1.0) and isinstance(op.args[0].type, Scalar) else None


def cell_of_spread(op: Call, facts: Facts) -> Call | None:
    """A cell of a sum's cotangent is the number that was spread; the store that the cell belongs to has checked its index."""
    maker = facts.calls(op.args[0], "spread")
    array, cell = op.args[0].type, op.outs[0].type
    if maker is None or op.outs[0] not in facts.late or not isinstance(array, Array) or array.dtype is None or array.kind != "float":
        return None
    number = maker.args[0].type
    if not isinstance(cell, Scalar) or not isinstance(number, Scalar) or number.kind != "float" or cell.dtype != array.dtype:
        return None
    return call("cast", op, [maker.args[0]], dtype=array.dtype)


def plain_constant(op: Call, facts: Facts) -> Call | None:
    """``np.float64(2.0) * v`` is ``2.0 * v`` where ``v`` is NumPy's."""
    for k, other in ((0, 1), (1, 0)):
        maker = facts.calls(op.args[k], "cast")
        if maker is None or not isinstance(maker.args[0], Const) or type(maker.args[0].value) is not float:
            continue
        if maker.settings["dtype"] == "f64" and getattr(op.args[other].type, "dtype", None) == "f64":
            return call(op.name, op, [maker.args[0] if a is op.args[k] else a for a in op.args], **op.settings)
    return None


def number_of_number(op: Call, facts: Facts) -> Operand | None:
    number, result = op.args[0], op.outs[0]
    return number if number.type == result.type and keeps_class(number, op.settings["kind"], facts) else None


def first_power(op: Call, facts: Facts) -> Operand | None:
    """``z ** 1`` is ``z``, which the derivative of a square has."""
    return op.args[0] if is_number(op.args[1], 1) and op.args[0].type == op.outs[0].type else None


IDENTITIES: dict[str, tuple[Rewrite, ...]] = {
    "add": (add_zero, add_negative),
    "subtract": (unit(1, 0.0), add_negative),
    "multiply": (unit(0, 1.0), unit(1, 1.0), times_minus_one, plain_constant),
    "divide": (unit(1, 1.0, always_float=True),),
    "complex_power": (first_power,),
    **dict.fromkeys(("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"), (compared_with_itself,)),
    "negative": (double_negative,),
    "accumulate": (nothing_accumulated, store_after_whole_zero, first_accumulation, spread_accumulated),
    "set_at": (spread_stored, whole_store),
    "add_at": (spread_stored,),
    "unbroadcast": (needless_unbroadcast, unbroadcast_spread),
    "shape_of": (shape_of_zeros, shape_elsewhere),
    "extent": (shape_elsewhere,),
    "copy": (copy_of_copy,),
    "view": (same_axes,),
    **OF_LISTS,
    "cast": (cast_to_itself,),
    "number": (number_of_number,),
    "take": (cell_of_spread,),
    "take_written": (cell_of_spread,),
    **dict.fromkeys(("matmul_left", "matmul_right", "dot_left", "dot_right"), (one_times_vector,)),
}

#: identities that also hold for complex numbers: all but arithmetic, and constant folding
OF_COMPLEX: frozenset[Any] = frozenset(
    (
        *(folded, spread_operand, spread_stored, spread_accumulated, first_accumulation, nothing_accumulated, needless_unbroadcast),
        *(unbroadcast_spread, shape_of_zeros, shape_elsewhere, copy_of_copy, cast_to_itself, number_of_number, first_power),
    )
)

__all__ = ["FOLDED", "IDENTITIES", "OF_COMPLEX", "folded", "spread_operand"]
