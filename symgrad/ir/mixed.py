"""Numbers that may be of a narrower class than their type: 3 on one path and 1.5 on another is a ``float`` of the IR.

A value computed from such numbers alone may be an integer too. So no rewrite may replace a float by one, as in
``1.0 * x`` -> ``x``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from symgrad.ir.core import Block, Call, Op, Operand, Value, walk
from symgrad.ir.layout import joins
from symgrad.ir.types import List, Scalar, Type

#: operators whose result has the widest class of their operands, as in Python
ARITHMETIC = frozenset({"add", "subtract", "multiply", "floor_divide", "mod", "negative", "positive", "abs", "power", "maximum", "minimum"})
#: rows that pass numbers on: the result may be, or contain, an operand
HOLDING = frozenset({"list_of", "list_append", "list_join", "list_set", "list_take", "table_set", "table_take", "list_slice",
                     "list_drop", "stop_gradient", "where"})  # fmt: skip


def mixed(blocks: Iterable[Block]) -> set[Value]:
    """The values in these blocks that may be of a narrower class than their types.

    >>> from symgrad.ir.parse import parse
    >>> func = parse('''
    ... func f(a: float, n: int) -> s: float:
    ...     for i in range(0, n, 1):
    ...         carry k.0 = a -> k.1 : float
    ...         yield 3
    ...     s = multiply(k.1, k.1) : float
    ...     t = multiply(k.1, 1.5) : float
    ...     return s
    ... ''')
    >>> sorted(v.name for v in mixed([func.body]))
    ['k', 'k', 's']
    """
    ops = [op for block in blocks for op in walk(block)]
    narrowed: set[Value] = set()
    joined = [pair for op in ops for pair in meetings(op)]
    count = -1
    while count != len(narrowed):
        count = len(narrowed)
        narrowed.update(out for out, parts in joined if out not in narrowed and any(narrower(part, out.type, narrowed) for part in parts))
        if not narrowed and not count:
            return narrowed
        narrowed.update(op.outs[0] for op in ops if isinstance(op, Call) and len(op.outs) == 1 and stays_mixed(op, narrowed))
        if any(isinstance(op, Call) and op.name in ("push", "put") and any(a in narrowed for a in op.args) for op in ops):
            saved = (op for op in ops if isinstance(op, Call) and op.name in ("pop", "get"))
            narrowed.update(out for op in saved for out in op.outs if is_wide(out.type))
    return narrowed


def meetings(op: Op) -> Iterator[tuple[Value, list[Operand]]]:
    """The values defined at joins, or that contain others, each with its sources."""
    yield from joins(op)
    match op:
        case Call(name="list_set", args=[before, _, item]):
            yield op.outs[0], [before, item]
        case Call(name="table_set", args=[before, _, _, item]):
            yield op.outs[0], [before, item]
        case Call(name=name, args=args, outs=[out]) if name in HOLDING:
            yield out, args


def stays_mixed(op: Call, narrowed: set[Value]) -> bool:
    """Whether a result is computed from integers and mixed numbers alone."""
    out = op.outs[0]
    if op.name not in ARITHMETIC or out in narrowed or not is_wide(out.type):
        return False
    return all(narrower(a, out.type, narrowed) for a in op.args)


def narrower(operand: Operand, type_: Type, narrowed: set[Value]) -> bool:
    """Whether a number, or those in a list, may be of a narrower class than the type of its holder."""
    if operand in narrowed:
        return True
    own, wide = kind_in(operand.type), kind_in(type_)
    return is_wide(type_) and own is not None and wide is not None and own != wide


def is_wide(type_: Type) -> bool:
    """Whether the type is that of a Python float or complex number, or a list of them."""
    while isinstance(type_, List):
        type_ = type_.item
    return isinstance(type_, Scalar) and type_.kind in ("float", "complex") and type_.dtype in (None, "any")


def kind_in(type_: Type) -> str | None:
    """The kind of the numbers in a type."""
    while isinstance(type_, List):
        type_ = type_.item
    return type_.kind if isinstance(type_, Scalar) else None


__all__ = ["is_wide", "kind_in", "mixed"]
