"""Float-width inference: the width of floats whose types leave it open, in programs with narrow floats.

The adjoint carries cotangents with open width. Kernels compute in 64 bits, so a narrow one's type must say so.
A number that is narrow on one path and wide on another has no kernel. Arrays computed from open numbers get their dtype here too.
"""

from __future__ import annotations

from dataclasses import replace

from symgrad.errors import SymgradError
from symgrad.ir.core import Call, Func, Op, Operand, Value, walk
from symgrad.ir.layout import joins
from symgrad.ir.types import Array, Dim, Scalar, Tape, Type
from symgrad.loops.reach import OutOfReach
from symgrad.ops.declare import ROWS

NARROW = ("f16", "f32")


def float_widths(func: Func) -> Func:
    """Set narrow float widths in the types, in place; ``OutOfReach`` where a width depends on the path.

    >>> from symgrad.ir.parse import parse
    >>> func = parse('''
    ... func f(x: f32[3], n: int) -> s: float?:
    ...     a = take(x, 0, index="i") : scalar f32
    ...     for i in range(0, n, 1):
    ...         carry s.0 = a -> s.1 : float?
    ...         s.2 = multiply(s.0, 0.5) : float?
    ...         yield s.2
    ...     return s.1
    ... ''')
    >>> str(float_widths(func).body.yields[0].type)
    'scalar f32'
    """
    ops = list(walk(func.body))
    if any(getattr(v.type, "dtype", None) in NARROW for v in [*func.params, *(v for op in ops for v in op.outs)]):
        narrow_numbers(ops)
    for op in ops:
        if isinstance(op, Call) and len(op.outs) == 1 and isinstance(op.outs[0].type, Array) and op.outs[0].type.dtype is None:
            op.outs[0].type = replace(op.outs[0].type, dtype=dtype_of_wide(op))
    return func


def dtype_of_wide(op: Call) -> str | None:
    """The dtype of an array computed from floats of open width, which are 64 bits wide, as Python's numbers or as NumPy's."""
    dtypes = set()
    for dtype in (None, "f64"):
        types = [Scalar("float", dtype) if is_open(a.type) else a.type for a in op.args]
        try:
            dtypes.add(getattr(ROWS[op.name].law(types, op.settings, lambda k: Dim("?")), "dtype", None))
        except SymgradError:
            return None
    return dtypes.pop() if len(dtypes) == 1 else None


def narrow_numbers(ops: list[Op]) -> None:
    """Set the types of narrow floats of open width."""
    meetings = [(value, parts, op) for op in ops for value, parts in joins(op)]
    inferred: dict[Value, Type] = {}  # the types inferred so far for open ones

    def known(operand: Operand) -> Type | None:
        return inferred.get(operand) if isinstance(operand, Value) and is_open(operand.type) else operand.type

    while True:
        before = dict(inferred)
        for op in ops:
            if isinstance(op, Call) and len(op.outs) == 1 and is_open(op.outs[0].type):
                types = [known(a) for a in op.args]
                if None not in types:
                    inferred[op.outs[0]] = result(op, [t for t in types if t is not None])
        for value, parts, _ in meetings:
            part_types = [t for t in map(known, parts) if t is not None]
            if is_open(value.type) and part_types:
                inferred[value] = next((t for t in part_types if is_narrow(t)), part_types[0])
        if inferred == before:
            break
    for value, parts, op in meetings:
        narrow = is_narrow(known(value))
        if isinstance(value.type, Scalar) and any(is_narrow(known(p)) != narrow for p in parts if known(p) is not None):
            raise OutOfReach("a number that is narrow on one path and wide on another", op.loc)
    for op in ops:
        if isinstance(op, Call) and any(isinstance(a.type, Tape) for a in op.args) and any(is_narrow(inferred.get(a)) for a in values(op)):
            raise OutOfReach("a narrow number that is saved as one of any width", op.loc)
    for value, type_ in inferred.items():
        if is_narrow(type_):
            value.type = type_


def result(op: Call, types: list[Type]) -> Type:
    """The result type of an op with one result, for these operand types."""
    results = ROWS[op.name].law(types, op.settings, lambda k: Dim("?"))
    one = results[0] if isinstance(results, tuple) else results
    return one if is_narrow(one) else op.outs[0].type


def values(op: Call) -> list[Value]:
    return [a for a in op.args if isinstance(a, Value)]


def is_open(type_: Type) -> bool:
    """Whether the type is that of a float of any width."""
    return isinstance(type_, Scalar) and type_.kind == "float" and type_.dtype == "any"


def is_narrow(type_: Type | None) -> bool:
    return isinstance(type_, Scalar) and type_.dtype in NARROW
