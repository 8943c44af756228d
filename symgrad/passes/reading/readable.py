"""Prepares a function for readable text: shapes are read from the variable's current value, and cheap ops are repeated.

The result is printed, not run for speed. Works in place.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from symgrad.identity import DisjointSets
from symgrad.ir.core import Block, Call, For, Func, Op, Operand, Value, While, defined_by, operands_within, ops_within, uses, walk
from symgrad.ir.types import Array, Dim, Scalar
from symgrad.location import Loc
from symgrad.ops.declare import ROWS

#: rows that read the shape of their first operand, and no element
SHAPES = frozenset({"shape_of", "extent", "zeros_like", "ones_like", "empty_like", "full_like"})
#: scalar arithmetic that is repeated at each use
ARITHMETIC = frozenset({"add", "subtract", "multiply", "divide", "floor_divide", "mod", "negative", "power"})
#: parts of arrays
PARTS = frozenset({"view", "take"})


# ------------------------------------------------------------------ shapes


class Families(DisjointSets[Value]):
    """Classes of values that are one user variable at different times, all of one shape."""

    def __init__(self, func: Func) -> None:
        super().__init__()
        self.consumed: set[Value] = set()
        self.shown: dict[Value, Value] = {}  #: for each view its base
        params = set(func.params)
        for op in walk(func.body):
            if isinstance(op, Call) and op.args and isinstance(op.args[0], Value) and not ROWS[op.name].consumes:
                self.shown.update(dict.fromkeys(op.outs if ROWS[op.name].alias != "fresh" else [], op.args[0]))
            match op:
                case Call() if ROWS[op.name].consumes and op.outs and isinstance(op.args[0], Value):
                    self.unite(op.args[0], op.outs[0])
                    self.consumed.add(op.args[0])
                case Call(name="copy", args=[Value() as param]) if param in params:
                    self.unite(param, op.outs[0])
                    params.discard(param)
                case For() | While():
                    for out, *values in zip(op.outs, op.inits, op.carried, op.body.yields, strict=False):
                        self.join_of_one_shape(out, values)
        renewed = {value.name for op in func.body.ops for value in defined_by(op)}
        self.lasting = {param for param in params if param.name not in renewed}  #: parameters whose name is never bound to another value
        self.changing = self.memory(self.consumed)

    def join_of_one_shape(self, out: Value, operands: Iterable[Operand]) -> None:
        """Join those operands to ``out`` that have its shape."""
        for operand in operands:
            if isinstance(operand, Value) and has_shape_of(operand, out):
                self.unite(operand, out)

    def memory(self, operands: Iterable[Operand]) -> set[Value]:
        """The families whose memory is read where these operands are read."""
        families: set[Value] = set()
        pending = [operand for operand in operands if isinstance(operand, Value)]
        while pending:
            value = pending.pop()
            for member in (value, self.find(value)):
                if member not in families:
                    families.add(member)
                    pending += [self.shown[member]] if member in self.shown else []
        return families


def has_shape_of(one: Value, other: Value) -> bool:
    """Whether types prove that the two arrays have the same shape."""
    a, b = one.type, other.type
    return isinstance(a, Array) and isinstance(b, Array) and a.shape is not None and a.shape == b.shape


def current_shapes(func: Func) -> Func:
    """Read shapes from a variable's current value, not from an earlier value or one computed only for its shape."""
    families = Families(func)
    follow(func.body, {families.find(param): param for param in func.params if isinstance(param.type, Array)}, families)
    return func


def follow(block: Block, current: dict[Value, Value], families: Families) -> None:
    """Walk a block, tracking the ``current`` member of each family."""
    for op in block.ops:
        if isinstance(op, Call) and op.name in SHAPES and isinstance(op.args[0], Value) and op.args[0] not in families.lasting:
            array = current.get(families.find(op.args[0]), op.args[0])
            op.args[0] = array if array in families.shown else named(array, current)
        for inner in op.blocks:
            inside = dict(current)
            if isinstance(op, For | While):
                inside |= {families.find(value): value for value in op.carried}
            follow(inner, inside, families)
        current |= {families.find(out): out for out in op.outs if isinstance(out.type, Array)}


def named(array: Value, current: dict[Value, Value]) -> Value:
    """A named array of the same shape, if this one has no name."""
    return array if array.name else next((other for other in current.values() if other.name and has_shape_of(other, array)), array)


# ------------------------------------------------------------------ sinking


def sunk(func: Func) -> Func:
    """Sink an unnamed value that only the backward half reads to its first use there."""
    if func.split is None:
        return func
    families, ops, first = Families(func), func.body.ops, func.split
    backward = set(ops[first:])
    for op in ops[:first][::-1]:
        if not (isinstance(op, Call) and len(op.outs) == 1 and op.outs[0].name is None and is_pure(op)):
            continue
        readers = [k for k, other in enumerate(ops) if op.outs[0] in operands_within(other)]
        if op.outs[0] in func.body.yields or not readers or ops[readers[0]] not in backward:
            continue
        place = ops.index(op)
        if families.memory(op.args).isdisjoint(changed(ops[place : readers[0]], families)):
            ops.insert(readers[0] - 1, ops.pop(place))
            op.loc = ops[readers[0]].loc
            func.split -= 1
            backward.add(op)
    return func


def is_pure(op: Call) -> bool:
    """Whether an op only computes a value."""
    row = ROWS[op.name]
    return not (row.effect or row.consumes or row.statement)


def changed(ops: list[Op], families: Families) -> set[Value]:
    """The families whose memory some op writes to."""
    inside = (inner for op in ops for inner in ops_within(op))
    return families.memory(op.args[0] for op in inside if isinstance(op, Call) and ROWS[op.name].consumes)


# ------------------------------------------------------------------ sums


def added(func: Func) -> Func:
    """Merge additions for one user line into one line: ``a + b``, or ``x += a + b``, where nothing else reads the first sum."""
    add_in(func.body, uses(func.body))
    return func


def add_in(block: Block, counts: dict[Value, int]) -> None:
    """Merge the additions of a block."""
    makers: dict[Operand, Call] = {}
    ops: list[Op] = []
    for op in block.ops:
        for inner in op.blocks:
            add_in(inner, counts)
        if isinstance(op, Call):
            makers.update(dict.fromkeys(op.outs, op))
            first = makers.get(op.args[0]) if op.args else None
            if first is not None and op.name in ("accumulate", "add") and counts[first.outs[0]] == 1 and first.loc.line == op.loc.line:
                if first.name == op.name and first.loc.backward and first.outs[0].name == op.outs[0].name is not None:
                    ops += one_step(first, op, ops)
                elif op.name == "accumulate" and is_pure(first) and ROWS[first.name].alias == "fresh":
                    term = makers.get(op.args[1])
                    is_negative = term is not None and term.name == "negative" and counts[term.outs[0]] == 1
                    write_sum(op, "subtract" if is_negative else "add", term.args[0] if term and is_negative else op.args[1])
        ops.append(op)
    block.ops = ops


def one_step(first: Call, second: Call, before: list[Op]) -> list[Op]:
    """Merge two additions into one that adds the sum of both terms; return the new op that computes this sum."""
    (x, a), b = first.args, second.args[1]
    if first not in before or plain_type(a) is None or plain_type(a) != plain_type(b):
        return []
    before.remove(first)
    addition = Call([Value(a.type)], second.loc, "add", [a, b], dict(ROWS["add"].settings))
    if isinstance(a.type, Array):
        addition.outs[0].type = replace(a.type, layout="?")
    second.args = [x, addition.outs[0]]
    return [addition]


def plain_type(operand: Operand) -> object:
    """The shape and dtype of an array, or the type of a number; None if unknown."""
    match operand.type:
        case Array(dtype=str() as dtype, shape=tuple() as shape):
            return dtype, shape
        case Scalar() as type_:
            return type_
    return None


def write_sum(op: Call, name: str, term: Operand) -> None:
    """Replace an ``accumulate`` by a sum or a difference, if the types agree except for the layout."""
    row, types = ROWS[name], [op.args[0].type, term.type]
    sum_type, type_ = row.law(types, row.settings, lambda k: Dim("?")), op.outs[0].type
    if isinstance(sum_type, Array) and isinstance(type_, Array) and (sum_type.dtype, sum_type.shape) == (type_.dtype, type_.shape):
        op.name, op.args, op.settings = name, [op.args[0], term], dict(row.settings)
        op.outs[0].type = sum_type


# ------------------------------------------------------------------ repetition


def repeated(func: Func) -> Func:
    """Recompute unnamed cheap values at each use, so that they are printed inline."""
    families = Families(func)
    makers = {out: op for op in walk(func.body) if isinstance(op, Call) for out in op.outs}
    counts = uses(func.body)
    late = set() if func.split is None else {op for root in func.body.ops[func.split :] for op in ops_within(root)}
    unnamed = {value for value, op in makers.items() if value.name is None or op in late and op.name == "shape_of"}
    short = {value: op for value, op in makers.items() if value in unnamed and is_cheap(op, families)}
    cheap: set[Value] = set()
    pending: list[Operand] = [value for value, op in short.items() if counts.get(value, 0) > 1 or op.name not in PARTS]
    while pending:  # copies copy their operands too
        value = pending.pop()
        if isinstance(value, Value) and value in short and value not in cheap:
            cheap.add(value)
            pending += short[value].args
    if cheap:
        first = None if func.split is None else next(iter(func.body.ops[func.split :]), None)
        repeat(func.body, makers, cheap)
        if first is not None:
            func.split = beginning(func.body.ops, first)
    return func


def beginning(ops: list[Op], first: Op) -> int:
    """The index of an op, or of the first preceding copy that only it reads."""
    place = ops.index(first)
    while place and ops[place - 1].loc is first.loc and isinstance(ops[place - 1], Call) and ops[place - 1].outs[0].name is None:
        place -= 1
    return place


def is_cheap(op: Call, families: Families) -> bool:
    """Whether the op is short to print, and has the same value at each place."""
    if len(op.outs) != 1:
        return False
    if op.name in PARTS:
        return families.memory(op.args[:1]).isdisjoint(families.changing)
    if op.name in ("extent", "shape_of", "arange"):
        return True
    return op.name in ARITHMETIC and all(isinstance(v.type, Scalar) for v in (*op.args, *op.outs))


def repeat(block: Block, makers: dict[Value, Call], cheap: set[Value]) -> None:
    """Insert copies of cheap ops before each op of a block that reads them."""
    ops: list[Op] = []

    def again(operand: Operand, loc: Loc) -> Operand:
        if not isinstance(operand, Value) or operand not in cheap:
            return operand
        op = makers[operand]
        copy = Call([Value(operand.type)], loc, op.name, [again(a, loc) for a in op.args], dict(op.settings))
        ops.append(copy)
        return copy.outs[0]

    for op in block.ops:
        if not (isinstance(op, Call) and op.outs and op.outs[0] in cheap):
            op.replace_operands([again(o, op.loc) for o in op.operands])
        for inner in op.blocks:
            repeat(inner, makers, cheap)
        ops.append(op)
    block.ops = ops


__all__ = ["added", "current_shapes", "repeated", "sunk"]
