"""Lists of numbers among the arguments and results of a kernel: they cross as arrays. Works in place, before the walk.

    def g(c): ...; return c_grad   ->   def g(c_array): c = list_from(c_array); ...; return array_of(c_grad)

The caller makes the array of the list, and a list of the array that it is handed (``crosses`` tells of which it does so).
"""

from __future__ import annotations

from symgrad.ir.core import Call, Func, Op, Operand, Value, walk
from symgrad.ir.types import Array, Dim, List, Scalar, Type
from symgrad.loops.forms import DTYPES
from symgrad.ops.build import Builder, symbols

#: rows that read a list, each with the row that reads an array so, and its settings
READ: dict[str, tuple[str, dict[str, object]]] = {
    "list_len": ("extent", {"axis": 0}),
    "list_take": ("take", {"index": "i"}),
    "list_zeros": ("list_zeros", {}),
}


def crosses(type_: Type) -> str | None:
    """The dtype of the array in whose form a list crosses; None for whatever is no list of numbers.

    >>> crosses(List(Scalar("float"))), crosses(List(Scalar("float", "f32"))), crosses(Scalar("float"))
    ('f64', None, None)
    """
    match type_:
        case List(item=Scalar(kind="float" | "int" | "bool" as kind, dtype=dtype)) if dtype in (None, "any", DTYPES[kind]):
            return DTYPES[kind]
    return None


def crossing(func: Func) -> Func:
    """Let lists of numbers come in and go out as arrays, in place."""
    builder = Builder()
    builder.taken = symbols(func)
    entry: list[Op] = []
    arrays: dict[Operand, Value] = {}
    for k, value in enumerate(func.params):
        if (dtype := crosses(value.type)) is not None:
            array = Value(Array(dtype, (Dim(builder.symbol("n")),), "C"), value.name)
            func.body.args[k] = array
            entry.append(Call([value], func.loc, "list_from", [array], {"depth": 1, "python": True}))
            arrays[value] = array
    for op in walk(func.body) if arrays else ():
        if isinstance(op, Call) and op.name in READ and op.args[0] in arrays:
            read_from_array(op, arrays[op.args[0]])
    func.body.ops[:0] = entry
    if func.split is not None:
        func.split += len(entry)
    with builder.inside(func.body), builder.at(func.loc):
        func.body.yields = [handed_out(builder, operand) for operand in func.body.yields]
    return func


def read_from_array(op: Call, array: Value) -> None:
    """Let an op that reads a list which nobody writes to read the array instead."""
    name, settings = READ[op.name]
    op.name, op.args, op.settings = name, [array, *op.args[1:]], dict(settings)


def handed_out(builder: Builder, operand: Operand) -> Operand:
    """A result as it crosses."""
    dtype = crosses(operand.type)
    return operand if dtype is None else builder.call("array_of", operand, dtype=dtype, shape=None, depth=1)


__all__ = ["crosses", "crossing"]
