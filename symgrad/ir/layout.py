"""The position of each value and op of a function: its block, its index there, and the order of evaluation of all values.

``joins`` lists the values in which paths meet, after branches and at the head and end of loops, with their operands. ``enter`` and
``leave`` carry one more value through an op. ``mixed`` lists the numbers that may be of a narrower class than their type: 3 on one path
and 1.5 on another is a ``float`` of the IR. A value computed from such numbers alone may be an integer too, so no rewrite may replace a
float by one, as in ``1.0 * x`` -> ``x``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from symgrad.ir.core import Block, Call, For, If, Op, Operand, Value, While, walk
from symgrad.ir.types import List, Scalar, Type

Place = tuple[Block, int]


@dataclass(slots=True)
class Layout:
    """The position of each value and op; ``order`` numbers values in order of evaluation."""

    places: dict[Value, Place] = field(default_factory=dict)
    owners: dict[Block, tuple[Block, int, Op]] = field(default_factory=dict)
    order: dict[Value, float] = field(default_factory=dict)
    depths: dict[Block, int] = field(default_factory=dict)

    def enter(self, block: Block, depth: int = 0) -> None:
        """Record everything in a block."""
        self.depths[block] = depth
        for value in block.args:
            self.places[value] = (block, -1)
            self.order[value] = len(self.order)
        for index, op in enumerate(block.ops):
            for inner in op.blocks:
                self.owners[inner] = (block, index, op)
                self.enter(inner, depth + (not isinstance(op, If)))
            for out in op.outs:
                self.places[out] = (block, index)
                self.order[out] = len(self.order)

    def path(self, place: Place) -> list[Place]:
        """The positions that contain a position, outermost first, itself included."""
        places = [place]
        block = place[0]
        while block in self.owners:
            outer, index, _ = self.owners[block]
            places.append((outer, index))
            block = outer
        return places[::-1]

    def static(self, block: Block) -> bool:
        """Whether the block runs at most once."""
        return self.depths[block] == 0

    def rounds(self, value: Value) -> int:
        """The estimated number of times a value is computed."""
        return int(100 ** self.depths[self.places[value][0]])

    def op_of(self, value: Value) -> Op | None:
        """The op that defines a value."""
        block, index = self.places[value]
        return block.ops[index] if index >= 0 else None


#: an operand that comes from one path, as its index in a list of the op
Entry = tuple[list[Operand], int]


def entries(op: Op) -> Iterator[tuple[Value, list[Entry]]]:
    """Each value in which paths meet, with the positions of its operands."""
    match op:
        case If():
            for k, out in enumerate(op.outs):
                yield out, [(op.then.yields, k), (op.orelse.yields, k)]
        case For() | While():
            tested = op.test.args if isinstance(op, While) else op.carried
            for k, (test, slot, out) in enumerate(zip(tested, op.carried, op.outs, strict=False)):
                for value in dict.fromkeys((test, slot, out)):
                    yield value, [(op.inits, k), (op.body.yields, k)]


def joins(op: Op) -> Iterator[tuple[Value, list[Operand]]]:
    """Each value in which paths meet, with its operands."""
    for value, places in entries(op):
        yield value, [operands[place] for operands, place in places]


def enter(op: Op, inner: Block, start: Operand, type_: Type, hint: str) -> tuple[Value, Value]:
    """Carry one more value into one block of an op; the value inside, and the value after the op."""
    out = Value(type_, hint)
    if isinstance(op, If):
        op.outs.append(out)
        for side in op.blocks:
            if side is not inner:
                side.yields.append(start)
        assert isinstance(start, Value)
        return start, out
    assert isinstance(op, For | While)
    count = len(op.inits)
    inside = Value(type_, hint)
    op.inits.append(start)
    inner.args.append(inside)
    if isinstance(op, While):
        op.test.args.append(Value(type_, hint))
    op.outs.insert(count, out)
    return inside, out


def leave(op: Op, block: Block, end: Operand) -> None:
    """Yield one more value: after all that is carried, before the bool that ends the loop."""
    until = isinstance(op, For | While) and op.until
    block.yields.insert(len(block.yields) - until, end)


#: operators whose result has the widest class of their operands, as in Python
ARITHMETIC = frozenset({"add", "subtract", "multiply", "floor_divide", "mod", "negative", "positive", "abs", "power", "maximum", "minimum"})
#: rows that pass numbers on: the result may be, or contain, an operand
HOLDING = frozenset(
    """
    list_of list_append list_join list_set list_take table_set table_take list_slice list_drop stop_gradient where
    """.split()
)


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


__all__ = ["Entry", "Layout", "Place", "enter", "entries", "is_wide", "joins", "kind_in", "leave", "mixed"]
