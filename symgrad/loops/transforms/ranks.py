"""Infers array shapes that types leave open because one path yields the number zero; zeros of that shape replace it.

The adjoint begins cotangents as 0.0, which NumPy adds to an array of any shape; a kernel needs each array's
shape. For the cotangent of a list the zero becomes an empty list, which ``in_form`` fills with zeros.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

from symgrad.ir.core import Block, Call, Const, Func, Operand, Value, defined_by, walk
from symgrad.ir.layout import entries, joins
from symgrad.ir.types import INT, Array, Dim, Extent, List, Scalar, Tape, Type, Unknown, join
from symgrad.ops.build import Builder, symbols
from symgrad.ops.declare import ROWS

#: iterations after which types that still change count as unknown
ROUNDS = 20
#: rows that accept an empty list for zeros, or pass it on
FILLING = frozenset({"in_form", "copy"})


def ranks(func: Func) -> Func:
    """Set the shapes of arrays in the types, in place; zero numbers become arrays.

    >>> from symgrad.ir.parse import parse
    >>> from symgrad.ir.show import show
    >>> import symgrad.ops.spelling  # which loads the rows
    >>> func = parse('''
    ... func f(x: f64[3], n: int) -> s: f64[...]:
    ...     for i in range(0, n, 1):
    ...         carry s.0 = 0.0 -> s.1 : f64[...]
    ...         s.2 = add(s.0, x) : f64[...]
    ...         yield s.2
    ...     return s.1
    ... ''')
    >>> print(show(ranks(func)).strip())
    func f(x: f64[3], n: int) -> s: f64[3]/C:
        %0 = zeros(3) : f64[3]/C
        for i.0 in range(0, n, 1):
            carry s.0 = %0 -> s.1
            s.2 = add(s.0, x) : f64[3]/C
            yield s.2
        return s.1
    """
    if not any(is_open(v.type) for op in func.body.ops for v in defined_by(op)):
        return func
    known = {
        dim.symbol: (param, axis)
        for param in reversed(func.params)
        if isinstance(param.type, Array)
        for axis, dim in enumerate(param.type.shape or ())
        if isinstance(dim, Dim) and not dim.offset and dim.symbol != "?"
    }
    inferred = consistent(func, set(known))
    for value, type_ in inferred.items():
        value.type = type_
    builder = Builder()
    builder.taken = symbols(func)
    fill(builder, func.body, inferred, known)
    return func


def consistent(func: Func, symbols_known: set[str]) -> dict[Value, Type]:
    """The inferred types of values with open types, as far as all their sources agree."""
    refused: set[Value] = set()
    while True:
        inferred = assumed(func, refused)
        wrong = set(contradicted(func, inferred, symbols_known))
        if not wrong:
            return inferred
        refused |= wrong


def assumed(func: Func, refused: set[Value]) -> dict[Value, Type]:
    """The types that follow from known ones. At joins an array takes precedence over a number."""
    current: dict[Value, Type] = {}

    def known(operand: Operand) -> Type | None:
        return current.get(operand) if isinstance(operand, Value) and is_open(operand.type) else operand.type

    for _ in range(ROUNDS):
        before = dict(current)
        for op in walk(func.body):
            for value, operands in joins(op):
                if is_open(value.type) and (type_ := met([known(operand) for operand in operands])) is not None:
                    current[value] = type_
            if isinstance(op, Call) and any(is_open(out.type) for out in op.outs):
                results_here = zip(op.outs, results(op, [known(a) for a in op.args]), strict=False)
                current |= {out: type_ for out, type_ in results_here if is_open(out.type) and type_ is not None}
        if current == before:
            break
    return {
        value: type_ for value, type_ in current.items() if value not in refused and not isinstance(type_, Scalar) and not is_open(type_)
    }


def met(types: Sequence[Type | None]) -> Type | None:
    """The join of the known types."""
    here = [type_ for type_ in types if type_ is not None]
    several = [type_ for type_ in here if not isinstance(type_, Scalar)] or here
    return reduce(join, several) if several else None


def contradicted(func: Func, inferred: dict[Value, Type], symbols_known: set[str]) -> Iterator[Value]:
    """Values for which some path contradicts the inferred type."""
    for op in walk(func.body):
        for value, operands in joins(op):
            if value not in inferred:
                continue
            for operand in operands:
                type_ = inferred.get(operand, operand.type) if isinstance(operand, Value) else operand.type
                if is_zero(operand) and can_be_made(inferred[value], symbols_known) or type_ == inferred[value]:
                    continue
                if join(type_, inferred[value]) != inferred[value]:
                    yield value
        if isinstance(op, Call):
            types = [inferred.get(a, a.type) if isinstance(a, Value) else a.type for a in op.args]
            yield from (a for a in op.args if isinstance(a, Value) and isinstance(inferred.get(a), List) and op.name not in FILLING)
            for out, result in zip(op.outs, results(op, types), strict=False) if any(out in inferred for out in op.outs) else ():
                if out in inferred and (result is None or join(result, inferred[out]) != inferred[out]):
                    yield out


def results(op: Call, types: Sequence[Type | None]) -> tuple[Type | None, ...]:
    """The types of an op's results; None where unknown."""
    if None in types:
        return ()
    result = ROWS[op.name].law([t for t in types if t is not None], op.settings, lambda k: Dim("?"))
    return result if isinstance(result, tuple) else (result,)


def is_open(type_: Type | None) -> bool:
    """Whether a type lacks the shape or dtype of an array, or is unknown."""
    match type_:
        case Unknown():
            return True
        case Array(dtype=dtype, shape=shape):
            return dtype is None or shape is None
        case List(item=item):
            return is_open(item)
        case Tape(items=items):
            return any(map(is_open, items))
    return False


def is_zero(operand: Operand) -> bool:
    """Whether the operand is the number zero."""
    return isinstance(operand, Const) and type(operand.value) in (int, float) and operand.value == 0


def can_be_made(type_: Type, symbols_known: set[str]) -> bool:
    """Whether zeros of this type can be created: for an array if arguments give its extents; for a list always, as an empty list."""
    return isinstance(type_, List) or (
        isinstance(type_, Array) and all(isinstance(e, int) or e.symbol in symbols_known for e in type_.shape or ())
    )


def fill(builder: Builder, block: Block, inferred: dict[Value, Type], known: dict[str, tuple[Value, int]]) -> None:
    """Replace the number zero by an array where it joins with an array."""
    for op in list(block.ops):
        for inner in op.blocks:
            fill(builder, inner, inferred, known)
        for value, places in entries(op):
            for operands, place in places if value in inferred else ():
                if not is_zero(operands[place]) or not isinstance(value.type, Array | List):
                    continue
                inside = next((inner for inner in op.blocks if inner.yields is operands), None)
                filling = Block()
                with builder.inside(filling), builder.at(op.loc):
                    operands[place] = zeros_for(builder, value.type, known)
                target, where = (block.ops, block.ops.index(op)) if inside is None else (inside.ops, len(inside.ops))
                target[where:where] = filling.ops


def zeros_for(builder: Builder, type_: Array | List, known: dict[str, tuple[Value, int]]) -> Value:
    """Zeros of a type; for a list an empty one."""
    if isinstance(type_, List):
        nothing = builder.call("list_of")
        nothing.type = type_
        return nothing
    return builder.call("zeros", *(extent_of(builder, extent, known) for extent in type_.shape or ()), dtype=type_.dtype)


def extent_of(builder: Builder, extent: Extent, known: dict[str, tuple[Value, int]]) -> Operand:
    """An extent as an operand."""
    if isinstance(extent, int):
        return Const(extent)
    param, axis = known[extent.symbol]
    plain = builder.call("extent", param, axis=axis)
    if not extent.offset:
        return plain
    total = builder.call("add", plain, Const(extent.offset))
    assert total.type == INT
    return builder.call("maximum", total, Const(0))


__all__ = ["ranks"]
