"""Which ops may raise an exception; these are kept even where their results are dead.

An op that may raise is part of the function's behaviour: the exception reaches a handler or the caller. Every op may raise unless it is
proved here not to: rows that are ``total``, elementwise rows whose operands broadcast and that are defined everywhere, and reads at
indices that are inside the array.
"""

from __future__ import annotations

import re
from string import Formatter

from symgrad.ir.core import Call, Const, For, Operand, Value
from symgrad.ir.types import BOOL, FLOAT, INT, Array, Dim, List, Object, Scalar, Type
from symgrad.ops.analysis.access_regions import PATHS
from symgrad.ops.build import SIZED
from symgrad.ops.declare import ROWS
from symgrad.ops.indexing import OPERANDS, steps

#: rows that raise for no operands that the types admit
TOTAL = frozenset(
    {
        *("extent", "list_len", "shape_of", "list_of", "list_append", "list_add", "copy"),
        *("zeros_like", "ones_like", "empty_like", "full_like"),
        *("failure", "is_failure", "is_instance"),
        *("solved", "implicit", "attained", "integral", "trajectory", "weighted_sensitivity"),
        *("convergence", "integrated", "reached", "states_reached"),
        *("stop_gradient", "barrier", "label", "probe", "may_share", "cut", "as_written", "literal_text"),
    }
)
#: elementwise rows that raise for Python numbers outside a domain, and the operand that alone decides whether they do; a number
#: whose type is NumPy's may be Python's all the same, as the sum of a list that is empty
PARTIAL = {"divide": 1, "floor_divide": 1, "mod": 1, "power": None, "left_shift": None, "right_shift": None}
#: array rows outside of linear algebra, which do not raise ``LinAlgError``
NO_ALGEBRA = frozenset(
    {
        *("matmul", "dot", "outer", "trace", "transpose", "mT", "reshape", "broadcast_to", "squeeze", "concatenate", "stack", "diag"),
        *("sum", "mean", "prod", "max", "min", "cumsum", "sum_of", "mean_of", "prod_of", "max_of", "min_of", "cumsum_of", "any", "all"),
        *("zeros", "ones", "empty", "full", "eye", "arange", "linspace", "zeros_like", "ones_like", "take", "view", "set_at", "add_at"),
    }
)
#: reductions of all elements, which raise for no array
QUIET = frozenset({"sum", "mean", "var", "std", "prod", "any", "all"})
#: rows with no other effect than an exception
ONLY_RAISE = frozenset({"evaluated", "raise_error", "raise_again", "check_count"})
#: functions of ``math`` that take every number
DEFINED_EVERYWHERE = frozenset(
    {"abs", "fabs", "copysign", "arctan", "arctan2", "tanh", "arcsinh", "erf", "erfc", "isnan", "isinf", "isfinite", "deg2rad", "rad2deg"}
)


#: types of values that can be formatted, whatever their value
F64 = Scalar("float", "f64")
PRINTED = frozenset({FLOAT, INT, BOOL, F64, Object("str"), Object("None")})
#: a format of floats
DIGITS = re.compile(r"[<>^]?[+]?[0-9]{0,2}(\.[0-9]{1,2})?[efg]")


def may_raise(op: Call, makers: dict[Value, Call], rounds: dict[Value, For]) -> bool:
    """Whether the op may raise. ``makers`` maps values to their defining calls, ``rounds`` maps loop indices to their loops."""
    row = ROWS[op.name]
    is_test = op.name == "not_" or op.name == "number" and op.settings["kind"] == "bool"
    if op.name in TOTAL or is_test and all(isinstance(operand.type, Scalar) for operand in op.args):
        return False
    if op.name == "format_text":
        return not is_plain_format(op, makers, rounds)
    if op.name == "range_len":
        return not is_nonzero(op.args[2])
    if op.name in SIZED:
        return not all(is_size(operand, makers) for operand in op.args[SIZED[op.name] :])
    if op.name in QUIET and op.settings.get("axis") is None and isinstance(op.args[0].type, Array):
        return op.args[0].type.dtype is None
    if op.name == "array_of" and op.settings["dtype"] is None:
        return not (isinstance(op.args[0].type, List) and isinstance(op.args[0].type.item, Scalar))
    if op.name in PATHS and not op.name.endswith("_written"):
        return not is_inside(op, makers, rounds)
    if not row.elementwise or not broadcasts([operand.type for operand in op.args]):
        return True
    if op.settings.get("via") == "math":
        return op.name not in DEFINED_EVERYWHERE | {"maximum", "minimum"}
    if op.name == "power" and is_power_of_integers(op):
        return True
    if op.name not in PARTIAL or any(isinstance(operand.type, Array) for operand in op.args):
        return any(isinstance(operand.type, Object) for operand in op.args)
    divisor = PARTIAL[op.name]
    return divisor is None or not is_nonzero(op.args[divisor])


def is_power_of_integers(op: Call) -> bool:
    """Whether it may be a power of NumPy's integers, which raises for a negative exponent."""
    types, exponent = [operand.type for operand in op.args], op.args[1]
    if isinstance(exponent, Const) and isinstance(exponent.value, int) and exponent.value >= 0:
        return False
    whole = all(getattr(type_, "kind", None) in ("int", "bool", None) for type_ in types)
    return whole and any(getattr(type_, "dtype", "any") is not None or isinstance(type_, Array) for type_ in types)


def is_plain_format(op: Call, makers: dict[Value, Call], rounds: dict[Value, For]) -> bool:
    """Whether a format only contains values that can always be formatted, or floats with a number of digits."""
    template, *values = op.args
    if not isinstance(template, Const) or not isinstance(template.value, str):
        return False
    fields = [(spec, conversion) for _, name, spec, conversion in Formatter().parse(template.value) if name is not None]

    def is_shown(value: Operand, spec: str | None) -> bool:
        if spec:
            return DIGITS.fullmatch(spec) is not None and value.type in (FLOAT, F64)
        if value.type == INT and isinstance(value, Value):  # Python refuses the text of an integer of more than 4300 digits
            return value in rounds or is_size(value, makers)
        return value.type in PRINTED

    return len(fields) == len(values) and all(
        conversion is None and is_shown(value, spec) for (spec, conversion), value in zip(fields, values, strict=True)
    )


def is_size(operand: Operand, makers: dict[Value, Call]) -> bool:
    """Whether it is an extent of an array, or a nonnegative number."""
    if isinstance(operand, Const):
        return isinstance(operand.value, int) and operand.value >= 0
    maker = makers.get(operand) if isinstance(operand, Value) else None
    return maker is not None and maker.name in ("extent", "list_len", "range_len")


def is_nonzero(operand: Operand) -> bool:
    return isinstance(operand, Const) and isinstance(operand.value, int | float | complex) and operand.value != 0


def broadcasts(types: list[Type]) -> bool:
    """Whether operands of these types broadcast for all values of the symbolic extents."""
    shapes = []
    for type_ in types:
        if isinstance(type_, Array):
            if type_.shape is None:
                return False
            shapes.append(type_.shape)
        elif not isinstance(type_, Scalar | Object):
            return False
    for axis in range(1, max(map(len, shapes), default=0) + 1):
        if len({shape[-axis] for shape in shapes if len(shape) >= axis} - {1}) > 1:
            return False
    return True


def is_inside(op: Call, makers: dict[Value, Call], rounds: dict[Value, For]) -> bool:
    """Whether a path only accesses elements that exist."""
    array, at = op.args[0].type, PATHS[op.name]
    if not isinstance(array, Array) or array.shape is None:
        return False
    if op.name in ("set_at", "add_at") and not isinstance(op.args[1].type, Scalar):
        return False
    path = [step for step, _ in steps(op.settings["index"])]
    if all(step in (".T", ".ravel") for step in path):
        return op.name in ("view", "take")
    if len(path) > 1 or path[0].startswith("."):
        return False
    axis = 0
    for letter in path[0]:
        operands = op.args[at : at + OPERANDS[letter]]
        at += OPERANDS[letter]
        if letter == "e":
            return path[0].endswith("e")
        if letter == "n":
            continue
        if letter == "i" and not (axis < len(array.shape) and is_index(operands[0], array.shape[axis], op.args[0], axis, makers, rounds)):
            return False
        if letter == "s" and not (isinstance(operands[2], Const) and operands[2].value in (None, 1, -1) and all(map(is_bound, operands))):
            return False
        axis += 1
    return axis <= len(array.shape)


def is_bound(operand: Operand) -> bool:
    """Whether it is a bound of a slice: None or an integer."""
    if isinstance(operand, Const):
        return operand.value is None or isinstance(operand.value, int)
    return isinstance(operand.type, Scalar) and operand.type.kind in ("int", "bool")


def is_index(operand: Operand, extent: int | Dim, array: Operand, axis: int, makers: dict[Value, Call], rounds: dict[Value, For]) -> bool:
    """Whether it is a valid index of an axis: a number, or the index of a loop over the axis."""
    if isinstance(operand, Const):
        return isinstance(operand.value, int) and isinstance(extent, int) and -extent <= operand.value < extent
    loop = rounds.get(operand) if isinstance(operand, Value) else None
    bounds = (loop.start, loop.step) if loop is not None else ()
    if loop is None or not all(isinstance(b, Const) and b.value >= 0 for b in bounds):  # downwards, the first index is the largest
        return False
    if isinstance(loop.stop, Const):
        return isinstance(extent, int) and loop.stop.value <= extent
    maker = makers.get(loop.stop) if isinstance(loop.stop, Value) else None
    if maker is None or maker.name != "extent" or not isinstance(maker.args[0].type, Array):
        return False
    shape = maker.args[0].type.shape
    return shape is not None and shape[maker.settings["axis"]] == extent


__all__ = ["DEFINED_EVERYWHERE", "is_power_of_integers", "may_raise"]
