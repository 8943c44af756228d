"""table: the lowering rule of each row. A rule takes the op and returns the forms of its results.

Rows applied element by element need no rule: ``pointwise`` identifies them.
"""

from __future__ import annotations

from collections.abc import Callable

from symgrad.ir.core import Call, Const, Operand
from symgrad.loops import arrays, masks, splitting
from symgrad.loops.context import Context, Thing
from symgrad.loops.lists import list_rows, packed
from symgrad.loops.numbers.probabilities import PROBABILITIES
from symgrad.loops.rows import contractions, creation, gathering, joining, layout, ordering, products, reductions, scans, stores
from symgrad.loops.tapes import slot_tapes, tapes
from symgrad.loops.writer import Writer
from symgrad.ops.declare import ROWS
from symgrad.runtime.vector_text import VECTOR

Rule = Callable[["Context", Call], "Thing | list[Thing]"]

#: exponents computed by multiplications or a square root
SMALL_POWERS = (-2, -1, -0.5, 0.5, 1, 1.5, 2, 3, 4)
#: rows applied element by element that the table of rows does not mark as such
POINTWISE = frozenset(
    {"where", "share", "inside", "below", "above", "round", "real", "real_part", "imaginary", "cast", "plus", "isrealobj"}
)
#: the cost of one element in additions; 1 by default
PRICES = (
    {"positive": 0, "negative": 1, "cast": 0, "divide": 4, "floor_divide": 6, "mod": 8, "sqrt": 5, "reciprocal": 4, "share": 5}
    | dict.fromkeys(
        """
        exp exp2 expm1 log log2 log10 log1p cbrt hypot logaddexp sin cos tan arcsin arccos arctan arctan2 sinh cosh tanh arcsinh arccosh
        arctanh sinc erf erfc gamma lgamma digamma polygamma i0 bessel_i erfcx_slope power float_power log_of_base
        """.split(),
        20,
    )
    | dict.fromkeys(PROBABILITIES, 20)
)
MODULES = (
    arrays,
    creation,
    layout,
    list_rows,
    joining,
    masks,
    products,
    contractions,
    reductions,
    scans,
    gathering,
    ordering,
    stores,
    packed,
)
RULES: dict[str, Rule] = (
    {name: rule for module in MODULES for name, rule in module.RULES.items()}
    | {"tape": tapes.tape, "push": tapes.push, "pop": tapes.pop, "seeds": splitting.seeds}
    | {"slots": slot_tapes.slots, "slots_like": slot_tapes.slots, "put": slot_tapes.put, "get": slot_tapes.get}
)


def logaddexp(writer: Writer, x: Operand, y: Operand) -> Operand:
    """As NumPy computes it: the larger operand plus a term from the difference, which is 0 for equal infinities."""
    call = writer.call
    difference = call("where", call("equal", x, y), Const(0.0), call("abs", call("subtract", x, y, via=None), via="numpy"), via=None)
    top = call("where", call("greater", x, y), x, y, via=None)
    return call("add", top, call("vector_log1p", call("vector_exp", call("negative", difference))), via=None)


def vectorised(name: str) -> Callable[..., Operand]:
    """A function of probabilities in its vectorisable form."""
    return lambda writer, *args: PROBABILITIES[name](writer.call, "vector_", *args)


#: rows composed of vectorisable functions, for arrays of floats
COMPOSED: dict[str, Callable[..., Operand]] = {
    "logaddexp": logaddexp,
    **{name: vectorised(name) for name in PROBABILITIES if name not in ("ndtr", "log_ndtr", "erfcx")},  # erfc is numba's
}


def pointwise(op: Call) -> bool:
    """Whether the row is applied element by element, with one result."""
    row = ROWS[op.name]
    return len(op.outs) == 1 and (row.elementwise or op.name in POINTWISE)


def vector_name(op: Call, dtype: str) -> str | None:
    """The row of the vectorisable function that computes the same, for arrays of floats."""
    name = VECTOR.get(op.name)
    if name is None or dtype not in ("f32", "f64"):
        return None
    if name == "vector_power" and isinstance(op.args[1], Const) and op.args[1].value in SMALL_POWERS:
        return None
    return name


def as_numpy_takes_it(op: Call, elements: list[Operand]) -> tuple[str, list[Operand]]:
    """The row and operands for one element: for the power 0.5 NumPy takes the square root, which differs below zero."""
    if op.name == "power" and isinstance(op.args[1], Const) and op.args[1].value == 0.5:
        return "sqrt", elements[:1]
    return op.name, elements


def price_of(op: Call) -> int:
    """The cost of one element of the result."""
    if op.name == "power" and isinstance(op.args[1], Const) and op.args[1].value in SMALL_POWERS:
        return 2 if type(op.args[1].value) is int and op.args[1].value > 0 else 6
    return PRICES.get(op.name, 1)
