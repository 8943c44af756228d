"""Memory accesses of ops as ``Writer`` emits them: which memory is read or written, and at which index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from symgrad.ir.core import Block, Call, For, If, Op, Operand, Value, While, key_of, walk
from symgrad.ir.types import Array, Scalar
from symgrad.loops.writer import Writer
from symgrad.ops.declare import ROWS

#: rows that read only the shape of an array
SHAPES = frozenset({"extent", "shape_of", "check_single"})
Index = tuple[Operand, ...]


@dataclass(eq=False, slots=True)
class Access:
    """One read or write; ``index`` None: of the whole array, or of a running number."""

    handle: Value
    writes: bool
    index: Index | None
    adds: bool = False  #: whether the written value is a sum with the old one


@dataclass(eq=False, slots=True)
class Summary:
    """The reads and writes of ops and all ops inside them; ``alias`` maps may-alias values to one representative."""

    alias: Mapping[Value, Value] = field(default_factory=dict)
    defined: set[Value] = field(default_factory=set)
    used: set[Value] = field(default_factory=set)
    accesses: list[Access] = field(default_factory=list)
    written: set[Value] = field(default_factory=set)  #: by their representatives in ``alias``
    touched: set[Value] = field(default_factory=set)
    checks: bool = False

    def add(self, op: Op) -> None:
        """Add the accesses of an op."""
        self.defined.update(op.outs)
        self.used.update(o for o in op.operands if isinstance(o, Value))
        self.access(own_accesses(op))
        self.checks = self.checks or isinstance(op, Call) and op.name != "let" and ROWS[op.name].effect
        for block in op.blocks:
            handed = [y for y in block.yields if isinstance(y, Value)]
            self.used.update(handed)
            self.access([Access(y, False, None) for y in handed])
            for inner in block.ops:
                self.add(inner)

    def access(self, accesses: Iterable[Access]) -> None:
        for access in accesses:
            self.accesses.append(access)
            name = self.alias.get(access.handle, access.handle)
            self.touched.add(name)
            if access.writes:
                self.written.add(name)

    def of(self, handle: Value) -> list[Access]:
        """The accesses of an array under all its names."""
        return [a for a in self.accesses if self.alias.get(a.handle, a.handle) is handle]


def summary(op: Op, alias: Mapping[Value, Value] | None = None) -> Summary:
    """The accesses of an op."""
    result = Summary(alias or {})
    result.add(op)
    return result


def handed_on(block: Block) -> dict[Value, Value]:
    """A representative for values that loops and branches, in a block and all inside it, may bind to one array."""
    names: dict[Value, Value] = {}

    def name(value: Value) -> Value:
        while (other := names.get(value, value)) is not value:
            value = other
        return value

    for op in walk(block):
        slots: list[Sequence[Operand]] = []
        if isinstance(op, For | While):
            slots += zip(op.carried, op.inits, op.body.yields, op.outs, strict=False)
            if isinstance(op, While):
                slots += zip(op.carried, op.test.args, strict=True)
        elif isinstance(op, If):
            slots += zip(op.outs, op.then.yields, op.orelse.yields, strict=True)
        for slot in slots:
            same = [name(v) for v in slot if isinstance(v, Value) and not isinstance(v.type, Scalar)]
            names |= {other: same[0] for other in same[1:] if other is not same[0]}
    return {value: name(value) for value in [*names, *names.values()]}


def seen_from(block: Block, names: Mapping[Value, Value]) -> dict[Value, Value]:
    """The same within one block: an array allocated there aliases no outer one, unless one of its loops yields it."""
    further = {names[out] for op in block.ops if op.blocks for out in op.outs if out in names}
    new_arrays = {op.outs[0] for op in block.ops if isinstance(op, Call) and op.name in ("empty", "zeros")}
    return {value: name for value, name in names.items() if value not in new_arrays or name in further}


def own_accesses(op: Op) -> list[Access]:
    """The accesses of an op itself. Any value may be a running number, so every operand counts as read."""
    if not isinstance(op, Call):
        return wholes(op.operands)
    args = op.args
    if op.name == "take":
        return element(args[0], args[1:], False) + wholes(args[1:])
    if op.name in ("set_at", "add_at"):
        return element(args[0], args[2:], True, op.name == "add_at") + wholes(args[1:])
    if op.name == "let" or ROWS[op.name].consumes:
        assert isinstance(args[0], Value)
        return [Access(args[0], True, None), *wholes(args[1:])]
    return [] if op.name in SHAPES else wholes(args)


def stored_to(op: Op) -> Value | None:
    """The handle whose content an op itself changes."""
    if isinstance(op, Call) and (op.name == "let" or ROWS[op.name].consumes) and isinstance(op.args[0], Value):
        return op.args[0]
    return None


def element(handle: Operand, index: Sequence[Operand], writes: bool, adds: bool = False) -> list[Access]:
    return [Access(handle, writes, tuple(index), adds)] if isinstance(handle, Value) else []


def wholes(operands: Iterable[Operand]) -> list[Access]:
    return [Access(operand, False, None) for operand in operands if isinstance(operand, Value)]


def is_apart(op: Op) -> bool:
    """Whether the op creates an array that is declared to LLVM as not overlapping others."""
    return isinstance(op, Call) and op.name in ("empty", "zeros") and bool(op.args)


def conflict(first: Summary, second: Summary) -> bool:
    """Whether the first must stay before the second."""
    return not (
        first.defined.isdisjoint(second.used) and first.written.isdisjoint(second.touched) and first.touched.isdisjoint(second.written)
    )


def linear(writer: Writer, operand: Operand, index: Value) -> object | None:
    """The offset of an operand that follows a loop's index step by step: a key, equal for equal functions; None otherwise."""
    if operand is index:
        return ("+", 0)
    op = writer.maker.get(operand) if isinstance(operand, Value) else None
    if op is None or op.name not in ("add", "subtract"):
        return None
    a, b = op.args
    left, right = linear(writer, a, index), linear(writer, b, index)
    if left is not None and right is None and not depends(writer, b, index):
        return (op.name, left, key_of(b))
    if right is not None and left is None and not depends(writer, a, index):
        return (op.name, key_of(a), right)
    return None


def depends(writer: Writer, operand: Operand, index: Value) -> bool:
    """Whether the operand is computed from the index."""
    if operand is index:
        return True
    op = writer.maker.get(operand) if isinstance(operand, Value) else None
    return op is not None and any(depends(writer, a, index) for a in op.args)


def arrays(accesses: Iterable[Access]) -> set[Value]:
    """The arrays that are accessed element by element."""
    return {a.handle for a in accesses if a.index is not None and isinstance(a.handle.type, Array)}
