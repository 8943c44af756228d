"""Lists of numbers among a kernel's arguments and results are passed as arrays. Works in place, before the walk.

    def g(c): ...; return c_grad   ->   def g(c_array): c = list_from(c_array); ...; return array_of(c_grad)

A list of lists is passed as two arrays: the lengths of its lists, and all their numbers. The caller converts
lists to arrays and returned arrays to lists, where ``crosses`` says so.
"""

from __future__ import annotations

from symgrad.ir.core import Call, Func, Op, Operand, Value, walk
from symgrad.ir.crossing import Crossing
from symgrad.ir.types import Array, Dim, List, Scalar, Type
from symgrad.loops.forms import DTYPES
from symgrad.ops.build import Builder, symbols

#: rows that read a list, with the corresponding row on an array, and its settings
READ: dict[str, tuple[str, dict[str, object]]] = {
    "list_len": ("extent", {"axis": 0}),
    "list_take": ("take", {"index": "i"}),
    "list_zeros": ("list_zeros", {}),
}


def crosses(type_: Type) -> Crossing | None:
    """How a list is passed; None for a type other than a list of numbers or a list of such lists.

    >>> crosses(List(List(Scalar("float")))), crosses(List(Scalar("float", "f32"))), crosses(Scalar("float"))
    (Crossing(dtype='f64', depth=2), None, None)
    """
    match type_:
        case List(item=Scalar(kind="float" | "int" | "bool" | "complex" as kind, dtype=dtype)) if dtype in (None, "any", DTYPES[kind]):
            return Crossing(DTYPES[kind])
        case List(item=List(item=Scalar()) as inner) if (one := crosses(inner)) is not None:
            return Crossing(one.dtype, 2)
    return None


def crossing(func: Func) -> Func:
    """Pass lists of numbers as arrays, in place. The halves of a pullback pass no lists of lists to each other."""
    builder = Builder()
    builder.taken = symbols(func)
    deepest = 1 if any(isinstance(op, Call) and op.name == "seeds" for op in func.body.ops) else 2
    entry: list[Op] = []
    arrays: dict[Operand, Value] = {}
    params: list[Value] = []
    for value in func.params:
        form = crosses(value.type)
        if form is None or form.depth > deepest:
            params.append(value)
            continue
        parts = [vector(builder, dtype, name) for dtype, name in zip(form.dtypes, form.names(value.name), strict=True)]
        params += parts
        if form.depth == 1:
            entry.append(Call([value], func.loc, "list_from", list(parts), {"depth": 1, "python": True}))
            arrays[value] = parts[0]
        else:
            entry.append(Call([value], func.loc, "lists_from", list(parts), {}))
    func.body.args[:] = params
    for op in walk(func.body) if arrays else ():
        if isinstance(op, Call) and op.name in READ and op.args[0] in arrays:
            read_from_array(op, arrays[op.args[0]])
    func.body.ops[:0] = entry
    if func.split is not None:
        func.split += len(entry)
    hand_out(func, builder, deepest)
    return func


def vector(builder: Builder, dtype: str, name: str | None) -> Value:
    """A parameter for an array that is made from a list."""
    return Value(Array(dtype, (Dim(builder.symbol("n")),), "C"), name)


def read_from_array(op: Call, array: Value) -> None:
    """Let an op that reads a list without writes read the array instead."""
    name, settings = READ[op.name]
    op.name, op.args, op.settings = name, [array, *op.args[1:]], dict(settings)


def hand_out(func: Func, builder: Builder, deepest: int) -> None:
    """Convert the results to the form in which they are passed, in place."""
    yields: list[Operand] = []
    results: list[str] = []
    names = func.results or [""] * len(func.body.yields)  # a traced program has no names yet
    with builder.inside(func.body), builder.at(func.loc):
        for operand, name in zip(func.body.yields, names, strict=True):
            form = crosses(operand.type)
            if form is None or form.depth > deepest:
                yields.append(operand)
                results.append(name)
                continue
            if form.depth == 1:
                yields.append(builder.call("array_of", operand, dtype=form.dtype, shape=None, depth=1))
            else:
                yields += [builder.call("lengths_of", operand), builder.call("numbers_of", operand, dtype=form.dtype)]
            results += [str(word) for word in form.names(name)]
    func.body.yields, func.results = yields, results if func.results else []


__all__ = ["crosses", "crossing"]
