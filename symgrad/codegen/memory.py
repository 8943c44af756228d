"""Alias analysis of a block tree for emission: alias classes, the memory that each op reads and writes, the exceptions that it may raise.

Views, stores, joins of control flow and containers join values into classes, conservatively: values of one class may share memory,
values of two classes never do. Layout asks whether a read may be printed later than its position. Exceptions have kinds that a handler
can distinguish; those of different kinds keep the order that the user wrote.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from symgrad.identity import DisjointSets
from symgrad.ir.core import Apply, Block, Call, For, If, Op, Operand, Value, While
from symgrad.ir.types import Array, List, Scalar, ShapeOf, Tape, Undefined
from symgrad.ops.analysis.access_regions import PATHS
from symgrad.ops.analysis.raising import may_raise
from symgrad.ops.declare import ROWS, Row

IMMUTABLE = (Scalar, ShapeOf, Undefined)
CONTAINERS = (List, Tape)

#: rows whose result, with its contents, is new
NEW = frozenset({"list_zeros", "zeros_like", "list_add", "copy"})

#: a value's own memory, or (True) that of its contents
Cell = tuple[Value, bool]


def is_mutable(operand: Operand) -> bool:
    """Whether the operand has memory that a store may change."""
    return isinstance(operand, Value) and not isinstance(operand.type, IMMUTABLE)


def is_opaque(row: Row) -> bool:
    """Whether the effect of the row on its operands is unknown."""
    return row.effect or "f" in row.params and "*args" in row.params


@dataclass(slots=True)
class Memory(DisjointSets[Cell]):
    """The alias classes of one function."""

    read: dict[Op, frozenset[Cell]] = field(default_factory=dict)
    effects: dict[Op, tuple[frozenset[Cell], bool]] = field(default_factory=dict)

    def join(self, a: Cell, b: Cell) -> None:
        """Record that the two cells may share memory."""
        self.unite(b, a)

    def same(self, a: Operand, b: Operand) -> None:
        """Record that two values may be the same object, or views of one."""
        if isinstance(a, Value) and isinstance(b, Value) and is_mutable(a) and is_mutable(b):
            self.join((a, False), (b, False))
            if not (isinstance(a.type, Array) and isinstance(b.type, Array)):  # arrays hold no references
                self.join((a, True), (b, True))

    def holds(self, container: Operand, item: Operand) -> None:
        """Record that the container keeps a reference to the item."""
        if isinstance(container, Value) and isinstance(item, Value) and is_mutable(item):
            self.join((container, True), (item, False))
            self.join((container, True), (item, True))

    # ------------------------------------------------------------------ construction

    def block(self, block: Block) -> None:
        """Join the cells that the ops of a block may alias."""
        for op in block.ops:
            for inner in op.blocks:
                self.block(inner)
            match op:
                case Call():
                    self.call(op)
                case For():
                    self.alike(op.inits, op.carried, op.body.yields, op.outs)
                case While():
                    self.alike(op.inits, op.carried, op.body.yields, op.outs)
                    self.alike(op.carried, op.test.args)
                case If():
                    self.alike(op.outs, op.then.yields)
                    self.alike(op.outs, op.orelse.yields)
                case _:
                    self.mixed([*op.operands, *op.outs])

    def alike(self, first: Iterable[Operand], *others: Iterable[Operand]) -> None:
        """Join lists of operands, position by position."""
        firsts = list(first)
        for other in others:
            for a, b in zip(firsts, other, strict=False):
                self.same(a, b)

    def mixed(self, operands: list[Operand]) -> None:
        """Join all operands and their contents: nothing is known of them."""
        values = [o for o in operands if isinstance(o, Value) and is_mutable(o)]
        for a, b in pairwise(values):
            self.same(a, b)
        for a in values:
            self.join((a, False), (a, True))

    def call(self, op: Call) -> None:
        """Join according to a row's alias law."""
        row = ROWS[op.name]
        if op.name in NEW:
            return
        containers = [v for v in (*op.args[:1], *op.outs) if isinstance(v.type, CONTAINERS)]
        if is_opaque(row):
            self.mixed([*op.args, *op.outs])
        elif containers:
            self.container(op)
        elif row.consumes or row.alias in ("same", "view"):
            self.alike(op.args[:1], op.outs[:1])
        elif row.alias == "depends":
            for out in op.outs:
                for arg in op.args:
                    self.same(arg, out)

    def container(self, op: Call) -> None:
        """Join everything with the container's content: items go in and come out."""
        row = ROWS[op.name]
        first = op.args[0] if op.args and isinstance(op.args[0].type, CONTAINERS) else op.outs[0]
        for value in (*op.args, *op.outs):
            if value is first:
                continue
            if isinstance(value.type, CONTAINERS):
                if row.consumes and value is op.outs[0]:
                    self.same(first, value)
                elif isinstance(first, Value) and isinstance(value, Value):
                    self.join((first, True), (value, True))
                    self.join((first, True), (value, False))
            else:
                self.holds(first, value)

    # ------------------------------------------------------------------ queries

    def reads(self, op: Op) -> frozenset[Cell]:
        """The classes that an op, or one inside it, reads."""
        if op not in self.read:
            read = [o for o in op.operands if isinstance(o, Value) and is_mutable(o)]
            cells = {self.find((o, False)) for o in read} | {self.find((o, True)) for o in read if not isinstance(o.type, Array)}
            self.read[op] = frozenset(cells.union(*(self.reads(inner) for block in op.blocks for inner in block.ops)))
        return self.read[op]

    def writes(self, op: Op) -> tuple[frozenset[Cell], bool]:
        """The classes that an op, or one inside it, writes, and whether it has other side effects."""
        if op not in self.effects:
            self.effects[op] = self.written(op)
        return self.effects[op]

    def written(self, op: Op) -> tuple[frozenset[Cell], bool]:
        cells: set[Cell] = set()
        effect = False
        if isinstance(op, Call):
            row = ROWS[op.name]
            effect = row.effect or row.statement and not row.consumes
            touched = op.args if effect else op.args[:1] if row.consumes else []
        else:
            effect = isinstance(op, Apply)
            touched = op.operands if effect else []
        for operand in touched:
            if isinstance(operand, Value) and is_mutable(operand):
                cells.add(self.find((operand, False)))
                if effect or isinstance(op, Call) and ROWS[op.name].within:
                    cells.add(self.find((operand, True)))
        for block in op.blocks:
            for inner in block.ops:
                more, other = self.writes(inner)
                cells |= more
                effect = effect or other
        return frozenset(cells), effect


def memory_of(block: Block) -> Memory:
    """The alias classes of a block tree."""
    memory = Memory()
    memory.block(block)
    return memory


#: for each op that may raise, the kinds of its exceptions
Raised = dict[Op, frozenset[str]]


def raised_in(block: Block) -> Raised:
    """The exceptions that the ops of a block tree may raise."""
    raised: Raised = {}
    collect(block, raised, {}, {})
    return raised


def collect(block: Block, raised: Raised, makers: dict[Value, Call], rounds: dict[Value, For]) -> frozenset[str]:
    """Enter the exceptions that each op of a block may raise; return those of all ops."""
    kinds: set[str] = set()
    for op in block.ops:
        if isinstance(op, Call):
            makers.update(dict.fromkeys(op.outs, op))
        if isinstance(op, For):
            rounds[op.index] = op
        inside = frozenset().union(*(collect(inner, raised, makers, rounds) for inner in op.blocks))
        own = inside | kinds_of(op, makers, rounds)
        if own:
            raised[op] = own
            kinds |= own
    return frozenset(kinds)


def kinds_of(op: Op, makers: dict[Value, Call], rounds: dict[Value, For]) -> frozenset[str]:
    """The kinds of exceptions that an op itself may raise: one kind for reads of parts of arrays, a kind of its own for every other row."""
    if isinstance(op, Apply):
        return frozenset({"any"})
    if not isinstance(op, Call) or ROWS[op.name].by_name or not may_raise(op, makers, rounds):
        return frozenset()  # the user's own text keeps its position
    return frozenset({"index" if op.name in PATHS else op.name})


__all__ = ["Raised", "raised_in"]
