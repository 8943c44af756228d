"""Analyses shared by passes: definitions, use counts, and coarse alias classes with their writes.

Alias classes are coarse: values that may share memory at any time are in one class. ``Places`` holds the uses of each value, and the
last use of its memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from symgrad.identity import DisjointSets
from symgrad.ir.core import NONE, UNDEF, Apply, Block, Call, For, Func, If, Op, Operand, Value, While, uses, walk
from symgrad.ir.layout import mixed
from symgrad.ir.types import Array, Box, List, Scalar, Tape, Type, Unknown, join
from symgrad.ir.verify import MAY_RETURN_OPERAND
from symgrad.ops.declare import ROWS, USER_ROWS, Row

#: rows whose result may alias an operand although they are no views
BORROWED = frozenset({"list_take", "opaque", "opaque_pure", "pop", "get"}) | MAY_RETURN_OPERAND
#: rows that keep a reference to their operands in the container they return
KEEPING = frozenset({"push", "put", "list_of", "list_append", "list_set", "list_add_at"})

#: rows that make a list of parts of their operand
PARTING = frozenset({"list_from", "unstack"})
#: rows that create aliases or references although they are neither views nor stores
SHARING = KEEPING | BORROWED | PARTING

NEAR = 60  #: how many preceding ops of a block are examined

Node = tuple[Value, bool]  #: the memory of a value (False), or the memory that it refers to (True)


def has_memory(operand: Operand) -> bool:
    """Whether the operand may be a mutable object."""
    return isinstance(operand, Value) and isinstance(operand.type, Array | List | Tape | Unknown | Box)


def is_pure(row: Row) -> bool:
    """Whether an op of this row may be removed, or merged with another one."""
    return not row.effect and not (row.statement and not row.consumes)


def covers(wide: Type, narrow: Type) -> bool:
    """Whether ``wide`` claims no more than ``narrow``, so that a value of type ``narrow`` may replace one of type ``wide``."""
    if isinstance(wide, Array) and isinstance(narrow, Array):
        wide, narrow = Array(wide.dtype, wide.shape), Array(narrow.dtype, narrow.shape)
        if wide.shape is not None and narrow.shape is not None and len(wide.shape) == len(narrow.shape):
            return wide.dtype in (None, narrow.dtype)  # the extents are equal, whatever their symbols
    if isinstance(wide, Scalar) and isinstance(narrow, Scalar):
        return wide.kind == narrow.kind and wide.dtype in ("any", narrow.dtype)
    return wide == narrow or join(wide, narrow) == wide


def holds(func: Func, *rows_or_kinds: str | type[Op]) -> bool:
    """Whether there is an op of one of these rows or kinds; lets a pass skip its analyses."""
    names = frozenset(w for w in rows_or_kinds if isinstance(w, str))
    kinds = tuple(w for w in rows_or_kinds if not isinstance(w, str))
    return any(op.name in names if isinstance(op, Call) else isinstance(op, kinds) for op in walk(func.body))


@contextmanager
def halves_kept(func: Func) -> Iterator[None]:
    """Keep ``split`` at the first op of the backward half while a pass adds and removes ops."""
    backward = set() if func.split is None else set(func.body.ops[func.split :])
    yield
    if func.split is not None:
        func.split = next((k for k, op in enumerate(func.body.ops) if op in backward), len(func.body.ops))


def call(name: str, op: Call, args: list[Operand], **settings: Any) -> Call:
    """A new op with the results and location of ``op``."""
    return Call(op.outs, op.loc, name, args, {**ROWS[name].settings, **settings})


def ends_of(op: Op) -> list[list[Operand]]:
    """The possible values of a branch's or loop's results: the yields of each side, or the initial values and an iteration's yields."""
    if isinstance(op, If):
        return [block.yields for block in op.blocks]
    return [list(op.inits), op.body.yields] if isinstance(op, For | While) else []


def facts_of(func: Func) -> Facts:
    """The facts of a function; while a stage runs, they are computed once between two changes."""
    if func.known is None:
        return Facts(func)
    if "facts" not in func.known:
        func.known["facts"] = Facts(func)
    facts: Facts = func.known["facts"]
    return facts


def record(func: Func, name: str, changed: bool) -> None:
    """Record whether a pass has changed the function. If not, cached analyses stay valid, and the pass is not run again."""
    if func.known is not None:
        if changed:
            func.known.clear()
        else:
            func.known[name] = True


class Facts(DisjointSets[Node]):
    """Facts of a function in its current form; a rewriting pass updates ``count`` itself."""

    def __init__(self, func: Func) -> None:
        super().__init__()
        self.body = func.body
        self.narrower: set[Value] | None = None
        self.count = uses(func.body)
        self.maker: dict[Value, Op] = {}
        self.home: dict[Value, Block] = {}
        self.origin: dict[Value, Operand] = {}  #: the initial value of a loop-carried value or a loop's result
        self.unbound: set[Value] = set()  #: typed values that some path leaves unbound
        self.recent: list[Op] = []  #: the preceding ops of the block that a pass is rewriting
        self.pushes: list[Call] = []
        self.late: set[Value] = set()  #: values that the backward half of a gradient computes
        self.stored: set[Node] = set()
        self.changed: set[Node] = set()  #: nodes of ``stored`` whose own memory changes, not only a tape's contents
        self.returned: set[Node] = set()
        #: whether anything is accessed through ``reshape``, so that memory layouts must be preserved
        self.reshaped = False
        self.visit(func.body)
        for op in [] if func.split is None else func.body.ops[func.split :]:
            self.late.update(op.outs)
            for inner in op.blocks:
                self.late.update(out for child in walk(inner) for out in child.outs)
        for operand in func.body.yields:
            if isinstance(operand, Value):
                self.returned |= {(operand, False), (operand, True)}
        self.settle()

    @property
    def mixed(self) -> set[Value]:
        """The numbers that may be of a narrower class than their type; computed on demand."""
        if self.narrower is None:
            self.narrower = mixed([self.body])
        return self.narrower

    def may_be_unbound(self, operand: Operand) -> bool:
        """Whether some path leaves a value undefined."""
        return operand is UNDEF or isinstance(operand, Value) and operand in self.unbound

    def settle(self) -> None:
        """Replace the marked nodes by the representatives of their classes."""
        self.stored = {self.find(n) for n in self.stored}
        self.changed = {self.find(n) for n in self.changed}
        self.returned = {self.find(n) for n in self.returned}

    def visit(self, block: Block) -> None:
        maker, home = self.maker, self.home
        for op in block.ops:
            outs = op.outs
            if op.loc.backward:
                self.late.update(outs)
            for out in outs:
                maker[out] = op
                home[out] = block
            if isinstance(op, Call):
                self.reshaped = self.reshaped or ".r" in str(op.settings.get("index", ""))
                self.call(op)
                continue
            if isinstance(op, Apply):
                for a in op.args:
                    self.mark(a)
                    for out in outs:
                        self.mix(a, out)
            elif isinstance(op, For | While):
                self.origin.update(zip(outs, op.inits, strict=False))
                self.loop(op)
            elif isinstance(op, If):
                for inner in op.blocks:
                    for out, yielded in zip(outs, inner.yields, strict=True):
                        self.same(out, yielded)
            for inner in op.blocks:
                self.visit(inner)
            for ends in ends_of(op):
                self.unbound |= {out for out, end in zip(outs, ends, strict=False) if self.may_be_unbound(end)}
            if isinstance(op, For | While):
                for slot, out, end in zip(op.carried, outs, op.body.yields, strict=False):
                    if end in self.late:
                        self.late |= {slot, out}

    def enter(self, op: Call, block: Block, instead: Call) -> None:
        """Record an op that a pass inserts into a block in place of another one."""
        late = instead.outs[0] in self.late
        for out in op.outs:
            self.maker[out] = op
            self.home[out] = block
            if late:
                self.late.add(out)
        self.call(op)
        if ROWS[op.name].consumes and isinstance(op.args[0], Value):
            self.store(self.find((op.args[0], False)), op.args[0].type)

    def store(self, node: Node, type_: Type) -> None:
        """Record a write; for a tape only its contents change."""
        self.stored.add(node)
        if not isinstance(type_, Tape):
            self.changed.add(node)

    def sources(self, operand: Operand) -> list[Value]:
        """The values that the operand may be: itself, or those pushed on the tape that it is popped from."""
        maker = self.maker.get(operand) if isinstance(operand, Value) else None
        if not isinstance(operand, Value):
            return []
        if not isinstance(maker, Call) or maker.name not in ("pop", "get") or not isinstance(maker.args[0], Value):
            return [operand]
        tape, place = self.find((maker.args[0], False)), maker.outs.index(operand) - len(maker.outs)
        pushes = [p for p in self.pushes if self.find((p.outs[0], False)) == tape]
        pushed = [p.args[place] for p in pushes if -place < len(p.args)]
        return [f for f in pushed if isinstance(f, Value)] if all(isinstance(f, Value) for f in pushed) else []

    def before(self, op: Op) -> list[Op]:
        """The last few ops of the block being rewritten."""
        return self.recent[-NEAR:]

    def is_steady(self, op: Call) -> bool:
        """Whether nothing that the op reads or defines has been written to since, in the block being rewritten."""
        cells = {self.find((a, False)) for a in (*op.args, *op.outs) if has_memory(a) and isinstance(a, Value)}
        for k in range(len(self.recent) - 1, max(len(self.recent) - 1 - NEAR, -1), -1):
            later = self.recent[k]
            if later is op:
                return True
            if later.blocks or isinstance(later, Apply):
                return False
            row = ROWS[later.name] if isinstance(later, Call) else None
            if row is not None and row.effect:
                return False
            first = later.operands[0] if row is not None and row.consumes else None
            if isinstance(first, Value) and self.find((first, False)) in cells:
                return False
        return False

    def loop(self, op: For | While) -> None:
        arguments = [op.carried] if isinstance(op, For) else [op.test.args, op.body.args]
        for k, init in enumerate(op.inits):
            for inside in arguments:
                self.same(inside[k], init)
                self.origin[inside[k]] = init
                if self.may_be_unbound(init):
                    self.unbound.add(inside[k])
            self.same(op.outs[k], init)
            self.same(op.outs[k], op.body.yields[k])

    def call(self, op: Call) -> None:
        row = ROWS[op.name]
        if row.alias == "fresh" and not row.consumes and op.name not in SHARING:
            return
        first = op.args[0] if op.args else NONE
        if row.consumes and isinstance(first, Value):
            self.store((first, False), first.type)
        if row.within:  # a list and its inner lists count as one memory then
            self.join((op.outs[0], False), op.outs[0], True)
        if op.name in ("push", "put"):
            self.pushes.append(op)
        if op.name in ("opaque", "opaque_pure"):
            for a in op.args:
                if op.name == "opaque":
                    self.mark(a)
                for out in op.outs:
                    self.mix(a, out)
        elif op.name in KEEPING:
            for a in op.args[0 if op.name == "list_of" else 1 :]:
                self.join((op.outs[0], True), a, False)
                self.join((op.outs[0], True), a, True)
        elif op.name in ("pop", "get", "list_take"):
            for out in op.outs[1:] if op.name == "pop" else op.outs:
                self.join((out, False), first, True)
                self.join((out, True), first, True)
        elif op.name in PARTING:
            self.join((op.outs[0], True), first, False)
        if row.consumes or row.alias != "fresh" or op.name in MAY_RETURN_OPERAND:
            for out in op.outs if op.name != "pop" else op.outs[:1]:
                self.same(out, first)

    # -------------------------------------------------------------- alias classes

    def join(self, node: Node, other: Operand, held: bool) -> None:
        if isinstance(other, Value):
            a, b = self.find(node), self.find((other, held))
            if self.unite(b, a):
                for marked in (self.stored, self.changed, self.returned):
                    if a in marked:
                        marked.add(b)

    def same(self, value: Value, other: Operand) -> None:
        """Record that two values may be the same object."""
        if has_memory(value) and has_memory(other):
            self.join((value, False), other, False)
            if not (isinstance(value.type, Array) and isinstance(other.type, Array)):  # arrays refer to nothing
                self.join((value, True), other, True)

    def mix(self, a: Operand, b: Value) -> None:
        """Record that each may be, or refer to, the other."""
        if isinstance(a, Value):
            for held in (False, True):
                self.join((b, held), a, False)
                self.join((b, held), a, True)

    def mark(self, operand: Operand) -> None:
        if isinstance(operand, Value):
            self.stored |= {(operand, False), (operand, True)}
            self.changed |= {(operand, False), (operand, True)}

    def is_stored(self, operand: Operand) -> bool:
        """Whether the operand's memory, or memory that it refers to, is ever written to."""
        if not isinstance(operand, Value):
            return False
        if isinstance(operand.type, Array):  # no tape, whatever the class, and it refers to nothing
            return self.find((operand, False)) in self.changed
        return self.find((operand, False)) in self.stored or self.find((operand, True)) in self.stored

    def is_returned(self, operand: Operand) -> bool:
        """Whether the operand's memory may be returned to the caller."""
        return isinstance(operand, Value) and self.find((operand, False)) in self.returned

    # -------------------------------------------------------------- queries

    def calls(self, operand: Operand, name: str) -> Call | None:
        """The op that computes the operand, if it is a ``name``."""
        maker = self.maker.get(operand) if isinstance(operand, Value) else None
        return maker if isinstance(maker, Call) and maker.name == name else None

    def is_fresh(self, operand: Operand) -> bool:
        """Whether the operand is an array, or a list of numbers, newly allocated by its op."""
        maker = self.maker.get(operand) if isinstance(operand, Value) else None
        has_own_memory = isinstance(operand.type, Array) or isinstance(operand.type, List) and isinstance(operand.type.item, Scalar)
        if not isinstance(maker, Call) or not has_own_memory or maker.name in BORROWED:
            return False
        row = ROWS[maker.name]
        return row.alias == "fresh" and not row.consumes

    def hands_over(self, operand: Operand, block: Block) -> bool:
        """Whether the operand is an array or list created in this block and read once, so that its memory may be taken over."""
        assert isinstance(operand, Value)
        return self.is_fresh(operand) and self.home[operand] is block and self.count.get(operand, 0) == 1

    def may_replace(self, old: Value, new: Operand, block: Block) -> bool:
        """Whether every reader of ``old``, computed in ``block`` from ``new``, may read ``new`` itself.

        Either their memory is never written to nor returned, or ``new`` is released here.
        """
        if not covers(old.type, new.type):
            return False
        if not has_memory(old) or not has_memory(new):
            return not has_memory(old)
        if self.hands_over(new, block):
            return True
        if self.is_fresh(new) and not self.is_stored(old) and not self.is_stored(new) and not self.is_returned(new):
            return True  # of an array allocated here one copy may be returned
        return not (self.is_stored(old) or self.is_stored(new) or self.is_returned(old))

    def replaced(self, old: Value, new: Operand) -> None:
        """Record that readers of ``old`` now read ``new``."""
        reads = self.count.pop(old, 0)
        if isinstance(new, Value):
            self.count[new] = self.count.get(new, 0) + reads
            self.same(old, new)

    def reads(self, operands: list[Operand], change: int) -> None:
        """Count reads that are added (1) or removed (-1)."""
        for operand in operands:
            if isinstance(operand, Value):
                self.count[operand] = self.count.get(operand, 0) + change


#: rows that keep their operands, or may return them in an unknown way
UNSURE = (KEEPING | BORROWED) - MAY_RETURN_OPERAND


# ------------------------------------------------------------------ where values are read


@dataclass(slots=True)
class Places:
    """The uses of each value; a use is an op, which ``number`` numbers in its own block and ``above`` maps to its block and owner."""

    readers: dict[Value, list[Op]] = field(default_factory=dict)
    yielded: set[Value] = field(default_factory=set)
    above: dict[Op, tuple[Block, Op | None]] = field(default_factory=dict)
    number: dict[Op, int] = field(default_factory=dict)

    @staticmethod
    def of(func: Func) -> Places:
        """The uses in a function."""
        places = Places()
        places.enter(func.body, None)
        return places

    def enter(self, block: Block, owner: Op | None) -> None:
        for k, op in enumerate(block.ops):
            self.number[op] = k
            self.above[op] = block, owner
            for operand in dict.fromkeys(op.operands):
                if isinstance(operand, Value):
                    self.readers.setdefault(operand, []).append(op)
            for inner in op.blocks:
                self.enter(inner, op)
        self.yielded.update(y for y in block.yields if isinstance(y, Value))

    def holder(self, op: Op, block: Block) -> Op | None:
        """The op of ``block`` that is ``op``, or holds it."""
        current: Op | None = op
        while current is not None:
            home, owner = self.above[current]
            if home is block:
                return current
            current = owner
        return None

    def last(self, value: Value, block: Block, unchanged: bool = False) -> int | None:
        """The number of the last op of ``block`` that reads the memory of a value defined there.

        None if it is yielded, or (``unchanged``) overwritten.
        """
        last, pending, seen = -1, [value], {value}
        while pending:
            current = pending.pop()
            if current in self.yielded:
                return None
            for reader in self.readers.get(current, ()):
                holder = self.holder(reader, block)
                if holder is None or not isinstance(reader, Call):
                    return None
                last = max(last, self.number[holder])
                row = ROWS[reader.name]
                if row.effect or reader.name in UNSURE or reader.name in USER_ROWS:
                    return None
                overwrites = row.consumes and reader.args[0] is current
                if unchanged and overwrites:
                    return None
                if row.alias != "fresh" or overwrites:
                    new = [out for out in reader.outs if out not in seen]
                    seen.update(new)
                    pending += new
        return last


__all__ = ["BORROWED", "KEEPING", "Facts", "Places", "call", "covers", "halves_kept", "has_memory", "holds", "is_pure"]
