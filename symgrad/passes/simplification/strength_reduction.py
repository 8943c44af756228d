"""table: strength reduction for ``fold``: cheaper ops with the same result, as an expert would write them.

Unlike in ``identities.py``, an entry may need several ops, the last of which has the results of the replaced op. Rewrites that touch
the user's own arithmetic are done in the backward half only.
"""

from __future__ import annotations

from collections.abc import Callable

# their rows are used here
import symgrad.ops.rows.arrays
import symgrad.ops.rows.creation
import symgrad.ops.rows.linalg  # noqa: F401
from symgrad.ir.core import NONE, ZERO, Call, Const, Op, Operand, Value, same_operand
from symgrad.ir.types import INT, Array, Scalar, Shape, ShapeOf, same_shape
from symgrad.ops.indexing import has_arrays
from symgrad.ops.rows.creation import bound_named
from symgrad.ops.shapes import dtype_of
from symgrad.passes.facts import Facts, call
from symgrad.passes.simplification.factors import (
    as_large,
    doubled,
    first_power,
    first_power_operand,
    is_late,
    joined_factors,
    negative_first,
    negative_product,
    new,
    once,
    once_is_a_copy,
    scaled_quotient,
    scaled_view,
    sign_outwards,
    spread_outwards,
    square_of_vector,
    sum_of_negative,
    sum_of_scaled,
    sum_of_spread,
)
from symgrad.passes.simplification.identities import equal_shape, is_number, is_real

Rewrites = Callable[[Call, Facts], "Operand | Call | list[Call] | None"]


# ------------------------------------------------------------------ products and quotients


def part_of_range(op: Call, facts: Facts) -> Operand | Call | list[Call] | None:
    """The cotangent of a bound of a range: elements are the start plus multiples of the step; the stop has none."""
    cotangent = op.args[0]
    name = bound_named(len(op.args) - 1, op.settings["at"])
    if name == "stop":
        return Const(0.0)
    if name == "start":
        return call("sum", op, [cotangent])
    assert isinstance(cotangent.type, Array)
    count = new("extent", op, INT, [cotangent])
    numbers = new("arange", op, Array("i64", cotangent.type.shape, "C"), [count.outs[0]])
    product = new("multiply", op, Array(dtype_of(op.outs[0].type), cotangent.type.shape, "C"), [cotangent, numbers.outs[0]])
    return [count, numbers, product, call("sum", op, [product.outs[0]])]


def sum_of_product(op: Call, facts: Facts) -> list[Call] | None:
    """``(a @ b).sum(0)`` is ``a.sum(0) @ b``."""
    maker, axis = once(op.args[0], "matmul", facts), op.settings["axis"]
    if maker is None or axis not in (0, 1) or op.settings["keepdims"] or not is_late(op, facts):
        return None
    types = [a.type for a in maker.args]
    if not all(isinstance(t, Array) and t.rank == 2 and t.dtype == "f64" for t in types):
        return None
    factor = types[axis]
    assert isinstance(factor, Array)
    assert factor.shape is not None
    inner = new("sum", op, Array(factor.dtype, (factor.shape[1 - axis],)), [maker.args[axis]], axis=axis)
    pair = [inner.outs[0], maker.args[1]] if axis == 0 else [maker.args[0], inner.outs[0]]
    return [inner, call("matmul", op, pair)]


def lowered_number(op: Call, facts: Facts) -> Operand | None:
    exponent = op.args[0]
    if not isinstance(exponent, Const) or type(exponent.value) not in (int, float):
        return None
    return Const(exponent.value - 1 if exponent.value else 1)


def log_of_number(op: Call, facts: Facts) -> Call | None:
    """Drop the test for a zero base, for a literal base above zero."""
    base = op.args[0]
    known = isinstance(base, Const) and type(base.value) in (int, float) and base.value > 0
    return call("log", op, [base]) if known else None


def sign_of_ratio(op: Call, facts: Facts) -> Call | None:
    """A positive number over zero is positive infinity."""
    known = isinstance(op.args[0], Const) and type(op.args[0].value) in (int, float) and op.args[0].value > 0
    return call("ratio", op, list(op.args), positive=True) if known and not op.settings["positive"] else None


def sure_ratio(op: Call, facts: Facts) -> Call | None:
    """A ratio with a divisor above zero is an ordinary quotient."""
    return call("divide", op, list(op.args)) if is_positive(op.args[1], facts) else None


def ratio_of_size(op: Call, facts: Facts) -> list[Call] | None:
    """A quotient of nothing may have any divisor, so the size may be replaced by one that is never zero."""
    size = facts.calls(op.args[1], "reduced_size")
    if size is None:
        return None
    inner = new("reduced_size", op, size.outs[0].type, list(size.args), axis=size.settings["axis"], divisor=True)
    return [inner, call("divide", op, [op.args[0], inner.outs[0]])]


def plain_divisor(op: Call, facts: Facts) -> list[Call] | None:
    """A NumPy number may be divided by zero, so the size needs no replacement."""
    size, above = facts.calls(op.args[1], "reduced_size"), op.args[0].type
    if size is None or not size.settings["divisor"] or not (isinstance(above, Array) or getattr(above, "dtype", None) in ("f64", "f32")):
        return None
    inner = new("reduced_size", op, size.outs[0].type, list(size.args), axis=size.settings["axis"])
    return [inner, call("divide", op, [op.args[0], inner.outs[0]])]


def is_positive(operand: Operand, facts: Facts) -> bool:
    """Whether a number is surely above zero (or nan). A product of small numbers may underflow to zero."""
    if isinstance(operand, Const):
        return type(operand.value) in (int, float) and operand.value > 0
    maker = facts.maker.get(operand) if isinstance(operand, Value) and is_real(operand.type) else None
    if not isinstance(maker, Call):
        return False
    if maker.name == "add":
        return any(is_positive(a, facts) and is_nonnegative(b, facts) for a, b in (maker.args, maker.args[::-1]))
    return maker.name in ("sqrt", "cosh") and (maker.name == "cosh" or is_positive(maker.args[0], facts))


def is_nonnegative(operand: Operand, facts: Facts) -> bool:
    """Whether a number is surely not below zero (or nan)."""
    maker = facts.maker.get(operand) if isinstance(operand, Value) and is_real(operand.type) else None
    if not isinstance(maker, Call) or maker.name in NOT_BELOW_ZERO:
        return isinstance(maker, Call) or is_positive(operand, facts)
    if maker.name == "multiply":
        return maker.args[0] is maker.args[1] or all(is_nonnegative(a, facts) for a in maker.args)
    return maker.name == "add" and all(is_nonnegative(a, facts) for a in maker.args)


NOT_BELOW_ZERO = frozenset({"square", "abs", "fabs", "exp", "exp2", "sqrt", "cosh", "hypot"})


def kind_of_power(op: Call, facts: Facts) -> Call | None:
    """A slope with a literal exponent is infinite at zero, or an ordinary power."""
    exponent = op.args[1]
    if op.settings["infinite"] or not isinstance(exponent, Const) or type(exponent.value) not in (int, float):
        return None
    if -op.settings["order"] < exponent.value < 0:
        return call("slope_power", op, list(op.args), order=op.settings["order"], infinite=True)
    return call("power", op, list(op.args))


def product_of_vectors(op: Call, facts: Facts) -> Call | None:
    """``(a * b).sum()`` is ``a.dot(b)`` for vectors."""
    maker = once(op.args[0], "multiply", facts)
    if maker is None or op.settings["axis"] not in (None, 0) or op.settings["keepdims"] or not is_late(op, facts):
        return None
    a, b = (x.type for x in maker.args)
    if isinstance(a, Array) and isinstance(b, Array) and a.dtype == b.dtype == "f64" and a.rank == 1 and same_shape(a.shape, b.shape):
        return call("dot", op, list(maker.args))
    return None


# ------------------------------------------------------------------ broadcasting


def spread_with_axes(op: Call, facts: Facts) -> list[Call] | None:
    """``g`` spread along a new axis is ``g[:, None]`` broadcast."""
    g, axis, out = op.args[0], op.settings["axis"], op.outs[0].type
    if axis is None or op.settings["keepdims"] or not isinstance(g.type, Array) or not isinstance(out, Array):
        return None
    if not g.type.shape or out.shape is None:
        return None
    rank = len(out.shape)
    gone = {a % rank for a in (axis if isinstance(axis, tuple) else (axis,))}
    if len(g.type.shape) + len(gone) != rank:
        return None
    index = "".join("n" if k in gone else "s" for k in range(rank))
    extents = iter(g.type.shape)
    shape: Shape = tuple(1 if k in gone else next(extents) for k in range(rank))
    inner = new("view", op, Array(g.type.dtype, shape), [g, *[NONE] * (3 * index.count("s"))], index=index)
    return [inner, call("spread", op, [inner.outs[0], op.args[1]], axis=axis, keepdims=True)]


def filled(op: Call, facts: Facts) -> Call | None:
    """A copy of a number spread to a shape is an array filled with it."""
    maker = facts.calls(op.args[0], "spread")
    if maker is None or getattr(op.outs[0].type, "dtype", None) != "f64":
        return None
    value, shape = maker.args
    number = value.type
    if not isinstance(number, Scalar) or number.kind != "float" or number.dtype not in (None, "f64") or not isinstance(shape.type, ShapeOf):
        return None
    return call("ones", op, [shape]) if is_number(value, 1.0) else call("full", op, [value, shape])


# ------------------------------------------------------------------ transposes


def is_transpose(op: Call | None) -> bool:
    """Whether the op is ``x.T`` of a matrix."""
    if op is None or not isinstance(op.args[0].type, Array) or op.args[0].type.rank != 2:
        return False
    return op.name == "mT" or op.name == "view" and op.settings["index"] == ".T"


def transposed(op: Call, operand: Operand) -> Call:
    assert isinstance(operand.type, Array)
    assert operand.type.shape is not None
    return new("view", op, Array(operand.type.dtype, operand.type.shape[::-1]), [operand], index=".T")


def transpose(op: Call, facts: Facts) -> Operand | list[Call] | None:
    """``x.T.T`` is ``x``, and ``(a @ b).T`` is ``b.T @ a.T``."""
    if not is_transpose(op):
        return None
    before = facts.calls(op.args[0], "view") or facts.calls(op.args[0], "mT")
    if is_transpose(before):
        return before.args[0]  # type: ignore[union-attr]
    maker = once(op.args[0], "matmul", facts)
    if maker is None or op.outs[0] not in facts.late or not all(isinstance(a.type, Array) and a.type.rank == 2 for a in maker.args):
        return None
    left, right = transposed(op, maker.args[1]), transposed(op, maker.args[0])
    return [left, right, call("matmul", op, [left.outs[0], right.outs[0]])]


def product_of_matrices(op: Call, facts: Facts) -> list[Call] | None:
    """The cotangent of a factor of a matrix product is a product with the other factor transposed."""
    g, other, shape = op.args
    ranks = [t.rank if isinstance(t, Array) else None for t in (g.type, other.type)]
    if ranks != [2, 2] or not isinstance(shape.type, ShapeOf) or shape.type.shape is None or len(shape.type.shape) != 2:
        return None
    inner = transposed(op, other)
    pair: list[Operand] = [g, inner.outs[0]] if op.name.endswith("left") else [inner.outs[0], g]
    return [inner, call("matmul", op, pair)]


def shared_quotient(op: Call, facts: Facts) -> Call | None:
    """``g * (o / y)`` is ``(g / y) * o`` where ``g / y`` is computed already."""
    if not is_late(op, facts):
        return None
    for side in (0, 1):
        maker, g = once(op.args[side], "divide", facts), op.args[1 - side]
        if maker is None or not isinstance(g, Value) or not as_large(maker.args[0].type, op.outs[0].type):
            continue
        o, y = maker.args
        for earlier in facts.before(maker):
            if not isinstance(earlier, Call) or earlier.name != "divide" or not is_late(earlier, facts):
                continue
            quotient = earlier.outs[0]
            if earlier.args[0] is g and earlier.args[1] is y and as_large(quotient.type, op.outs[0].type) and facts.is_steady(earlier):
                return call("multiply", op, [quotient, o])
    return None


def add_to_transpose(op: Call, facts: Facts) -> list[Call] | None:
    """``x.T[...] += v`` is ``x += v.T``."""
    x, v = op.args[0].type, op.args[1].type
    if op.settings["index"] != ".T" or not isinstance(x, Array) or not isinstance(v, Array) or x.shape is None or len(x.shape) != 2:
        return None
    if not same_shape(v.shape, x.shape[::-1]):
        return None
    inner = transposed(op, op.args[1])
    return [inner, call("accumulate", op, [op.args[0], inner.outs[0]])]


def add_to_new_axis(op: Call, facts: Facts) -> list[Call] | None:
    """``x[a:b, None] += v`` is ``x[a:b] += v[:, 0]``."""
    index, bounds = op.settings["index"], op.args[2:]
    x, v = op.args[0].type, op.args[1].type
    if "n" not in index or set(index) - {"s", "n"} or not isinstance(x, Array) or not isinstance(v, Array) or v.shape is None:
        return None
    if x.rank != index.count("s") or len(v.shape) != len(index) or any(e != 1 for e, i in zip(v.shape, index, strict=True) if i == "n"):
        return None
    rest = tuple(e for e, letter in zip(v.shape, index, strict=True) if letter == "s")
    place = [b for letter in index for b in ([ZERO] if letter == "n" else [NONE, NONE, NONE])]
    read = index.replace("n", "i") + ("" if rest else "e")  # with integers only, the result would be no array
    inner = new("view", op, Array(v.dtype, rest), [op.args[1], *place], index=read)
    if equal_shape(rest, x.shape) and all(isinstance(b, Const) and b.value is None for b in bounds):
        return [inner, call("accumulate", op, [op.args[0], inner.outs[0]])]
    return [inner, call("add_at", op, [op.args[0], inner.outs[0], *bounds], **{**op.settings, "index": "s" * len(rest)})]


def view_of_negative(op: Call, facts: Facts) -> list[Call] | None:
    """``(-x)[0]`` is ``-(x[0])``, which lets a sum below drop its kept axes."""
    maker = once(op.args[0], "negative", facts)
    if maker is None or facts.calls(maker.args[0], "sum") is None or not isinstance(op.outs[0].type, Array):
        return None
    inner = new("view", op, op.outs[0].type, [maker.args[0], *op.args[1:]], index=op.settings["index"])
    return [inner, call("negative", op, [inner.outs[0]])]


def axes_added_and_dropped(op: Call, facts: Facts) -> Operand | Call | None:
    """``x[a:b, None][:, 0]`` is ``x[a:b]``."""
    maker, index = facts.calls(op.args[0], "view"), op.settings["index"]
    if maker is None or maker.settings["index"].replace("n", "i") != index or set(index) != {"s", "i"}:
        return None
    place = [b for letter in index for b in ([ZERO] if letter == "i" else [NONE, NONE, NONE])]
    same = len(place) == len(op.args) - 1 and all(map(same_operand, place, op.args[1:]))
    if not same or getattr(maker.outs[0].type, "rank", None) != len(index):
        return None
    if all(map(same_operand, maker.args[1:], [NONE] * (len(maker.args) - 1))):
        return maker.args[0]
    return call("view", op, list(maker.args), index="s" * index.count("s"))


def sum_kept_and_dropped(op: Call, facts: Facts) -> Call | None:
    """``x.sum(1, keepdims=True)[:, 0]`` is ``x.sum(1)``."""
    maker, index = once(op.args[0], "sum", facts), op.settings["index"]
    if maker is None or not maker.settings["keepdims"] or maker.settings["axis"] is None or set(index) != {"i", "s"}:
        return None
    axis, rank = maker.settings["axis"], len(index)
    gone = {a % rank for a in (axis if isinstance(axis, tuple) else (axis,))}
    place = [b for k in range(rank) for b in ([ZERO] if k in gone else [NONE, NONE, NONE])]
    same = index == "".join("i" if k in gone else "s" for k in range(rank)) and len(place) == len(op.args) - 1
    if not same or not all(map(same_operand, place, op.args[1:])) or getattr(maker.outs[0].type, "rank", None) != rank:
        return None
    return call("sum", op, list(maker.args), axis=axis)


# ------------------------------------------------------------------ stores


def same_place(a: Call, b: Call) -> bool:
    """Whether two stores write to the same place."""
    if a.settings["index"] != b.settings["index"] or len(a.args) != len(b.args):
        return False
    return all(map(same_operand, a.args[2:], b.args[2:]))


def store_after_zero(op: Call, facts: Facts) -> Call | None:
    """``x[i] = 0.0; x[i] += v`` is ``x[i] = v``."""
    zero = facts.calls(op.args[0], "set_at")
    if zero is None or not same_place(zero, op) or not is_number(zero.args[1], 0.0):
        return None
    if not is_real(op.outs[0].type) or not is_real(op.args[1].type):
        return None
    here = facts.home.get(zero.outs[0]) is facts.home.get(op.outs[0]) and facts.count.get(zero.outs[0], 0) == 1
    if not here or has_arrays(op.settings["index"], [a.type for a in op.args[2:]]):
        return None
    return call("set_at", op, [zero.args[0], *op.args[1:]], index=op.settings["index"])


#: rows whose index array has no duplicates, and those whose pairs of arrays have none
DISTINCT = frozenset({"arange", "argsort", "argpartition", "flatnonzero"})
DISTINCT_PAIRS = frozenset({"triu_indices", "tril_indices", "diag_indices"})


def names_apart(maker: Op | None) -> bool:
    """Whether an op yields indices without duplicates, also where negative ones count from the end."""
    if not isinstance(maker, Call) or maker.name not in DISTINCT:
        return False
    if maker.name != "arange":
        return True
    if not all(isinstance(a.type, Scalar) and a.type.kind == "int" for a in maker.args):
        return False
    values = [a.value if isinstance(a, Const) else None for a in maker.args]
    if len(values) == 1:
        return True
    step = values[2] if len(values) > 2 else 1
    if step is None:
        return False
    start, stop = values[:2]
    return step > 0 and start is not None and start >= 0 or step < 0 and stop is not None and stop >= -1


def is_distinct(op: Call, operands: list[Operand], facts: Facts) -> bool:
    """Whether an index selects no cell twice."""
    index = op.settings["index"]
    if not has_arrays(index, [a.type for a in operands]):
        return True
    if ";" in index or "." in index or set(index) - {"i"}:
        return False
    shapes = [a.type.shape if isinstance(a.type, Array) and a.type.kind == "int" else None for a in operands]
    if any(s is None or len(s) != 1 for s in shapes):
        return False
    sources = [facts.sources(a) for a in operands]
    alike = all(same_shape(shapes[0], s) for s in shapes)
    if alike and any(values and all(names_apart(facts.maker.get(s)) for s in values) for values in sources):
        return True
    if len(operands) != 2 or not all(len(values) == 1 for values in sources):
        return False
    makers = [facts.maker.get(values[0]) for values in sources]
    pair = makers[0]
    return pair is makers[1] and isinstance(pair, Call) and pair.name in DISTINCT_PAIRS and sources[0] != sources[1]


def take_distinct(op: Call, facts: Facts) -> Call | None:
    """Without duplicates no element is overwritten, so a plain read suffices."""
    return call("take", op, list(op.args), index=op.settings["index"]) if is_distinct(op, op.args[1:], facts) else None


def add_distinct(op: Call, facts: Facts) -> Call | None:
    """Without duplicates ``x[index] += v`` adds every element."""
    if op.settings.get("distinct") or not has_arrays(op.settings["index"], [a.type for a in op.args[2:]]):
        return None
    return call("add_at", op, list(op.args), index=op.settings["index"], distinct=True) if is_distinct(op, op.args[2:], facts) else None


CHEAPER: dict[str, tuple[Rewrites, ...]] = {
    "multiply": (
        first_power_operand,
        spread_outwards,
        joined_factors,
        scaled_quotient,
        sign_outwards,
        shared_quotient,
        scaled_view,
        once_is_a_copy,
    ),
    "divide": (spread_outwards, sign_outwards, plain_divisor),
    "negative": (spread_outwards, negative_product),
    "add": (negative_first, doubled),
    "accumulate": (square_of_vector,),
    "sum": (sum_of_spread, sum_of_negative, sum_of_scaled, product_of_vectors, sum_of_product),
    "power": (first_power,),
    "matmul": (sign_outwards,),
    "dot": (sign_outwards,),
    "matmul_left": (product_of_matrices,),
    "matmul_right": (product_of_matrices,),
    "dot_left": (product_of_matrices,),
    "dot_right": (product_of_matrices,),
    "lowered": (lowered_number,),
    "part_of_bound": (part_of_range,),
    "log_of_base": (log_of_number,),
    "ratio": (sure_ratio, ratio_of_size, sign_of_ratio),
    "slope_power": (kind_of_power,),
    "spread": (spread_with_axes,),
    "copy": (filled,),
    "view": (transpose, sum_kept_and_dropped, view_of_negative, axes_added_and_dropped),
    "mT": (transpose,),
    "add_at": (add_to_transpose, add_to_new_axis, store_after_zero, add_distinct),
    "add_written": (add_distinct,),
    "take_written": (take_distinct,),
}

__all__ = ["CHEAPER", "Rewrites", "add_to_new_axis", "axes_added_and_dropped", "is_transpose"]
