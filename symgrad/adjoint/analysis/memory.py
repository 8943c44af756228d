"""Alias analysis for the adjoint: which values may share memory, where it is written to, and which versions are overwritten.

A *class* joins values connected by ops that consume or borrow, by loops, and by branches. A class can be *undone* if each store has an
inverse and each loop and branch only passes its buffers on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from symgrad.adjoint.analysis.activity import closure
from symgrad.identity import DisjointSets
from symgrad.ir.core import Apply, Block, Call, For, Func, If, Op, Operand, Value, While, walk
from symgrad.ir.layout import Layout, Place
from symgrad.ir.types import UNKNOWN, Array, Box, List, Scalar, Tape, Type, Unknown
from symgrad.ops.analysis.aliases import sources_of
from symgrad.ops.declare import ROWS

#: rows that put a list into a list
HOLDING = frozenset({"list_of", "list_append", "list_set"})


def has_memory(type_: Type) -> bool:
    """Whether a value of this type can be changed in place."""
    return isinstance(type_, Array | List | Tape | Unknown | Box)


@dataclass(slots=True)
class Memory(DisjointSets[Value]):
    """The classes of a function."""

    layout: Layout
    contents: dict[Value, Value] = field(default_factory=dict)
    stores: dict[Value, list[tuple[Call, Place]]] = field(default_factory=dict)
    members: dict[Value, list[Value]] = field(default_factory=dict)
    nested: bool = False  #: whether inner lists are changed in place; a list read from another list then shares its memory
    held: list[tuple[Value, Value]] = field(default_factory=list)  #: pairs of a list and the list that it was put into

    @classmethod
    def of(cls, func: Func, layout: Layout) -> Memory:
        """Build the classes of a function."""
        memory = cls(layout, nested=any(isinstance(op, Call) and ROWS[op.name].within for op in walk(func.body)))
        stores: list[tuple[Call, Place]] = []
        memory.read(func.body, stores)
        for store, place in stores:
            memory.stores.setdefault(memory.find(store.outs[0]), []).append((store, place))
        for value in layout.places:
            if has_memory(value.type):
                memory.members.setdefault(memory.find(value), []).append(value)
        return memory

    def join(self, a: Operand, b: Operand) -> None:
        """Record that two values may share memory, and so may their contents."""
        if not (isinstance(a, Value) and isinstance(b, Value) and has_memory(a.type) and has_memory(b.type)):
            return
        first, second = self.find(a), self.find(b)
        if not self.unite(first, second):
            return
        inner = [self.contents.pop(v) for v in (first, second) if v in self.contents]
        if inner:
            self.contents[first] = inner[0]
            for other in inner[1:]:
                self.join(inner[0], other)

    def content(self, container: Operand, item: Operand) -> None:
        """Record that ``item`` may be in ``container``."""
        if isinstance(container, Value) and isinstance(item, Value) and has_memory(item.type):
            root = self.find(container)
            self.contents.setdefault(root, Value(UNKNOWN))
            self.join(self.contents[root], item)

    def read(self, block: Block, stores: list[tuple[Call, Place]]) -> None:
        """Enter the ops of a block, and add its stores to ``stores``."""
        for index, op in enumerate(block.ops):
            match op:
                case Call():
                    self.read_call(op)
                    if ROWS[op.name].consumes:
                        stores.append((op, (block, index)))
                case For() | While():
                    for k, slot in enumerate(op.carried):
                        for other in (op.inits[k], op.body.yields[k], op.outs[k]):
                            self.join(slot, other)
                        if isinstance(op, While):
                            self.join(slot, op.test.args[k])
                case If():
                    for k, out in enumerate(op.outs):
                        self.join(out, op.then.yields[k])
                        self.join(out, op.orelse.yields[k])
                case Apply():
                    for out, sources in zip(op.outs, sources_of(op), strict=True):
                        for source in sources:
                            self.join(out, source)
            for inner in op.blocks:
                self.read(inner, stores)

    def read_call(self, op: Call) -> None:
        """Record the aliasing between a call's results and its operands."""
        row = ROWS[op.name]
        inside = op.name == "list_take" and isinstance(op.args[0].type, List)  # contained in the list, not sharing its memory
        inside = inside and not (self.nested and isinstance(op.outs[0].type, List))
        if op.name in HOLDING:
            items = op.args[0 if op.name == "list_of" else 1 :]
            self.held += [(item, op.outs[0]) for item in items if isinstance(item, Value) and isinstance(item.type, List)]
        if (row.consumes or row.alias != "fresh") and op.args and not inside:
            for out in op.outs[:1] if row.consumes else op.outs:
                self.join(op.args[0], out)
        if op.args and isinstance(op.args[0].type, Tape):
            for item in (*op.args[1:], *op.outs[row.consumes :]):
                self.content(op.args[0], item)
            return
        containers = [v for v in (*op.args, *op.outs) if isinstance(v.type, List | Tape)]
        for container in containers[:1]:
            for item in (*op.args, *op.outs):
                if not isinstance(item.type, List | Tape):
                    self.content(container, item)

    # ---------------------------------------------------------------- overwriting

    def changed_within(self, root: Value) -> list[Place]:
        """The stores that change a list of this class in place inside a list that holds it."""
        if not self.nested:
            return []
        holders = dict.fromkeys(self.find(holder) for item, holder in self.held if self.find(item) is root)
        return [place for holder in holders for store, place in self.stores.get(holder, ()) if ROWS[store.name].within]

    def is_within(self, root: Value) -> bool:
        """Whether lists of a class are in a list of lists through which they are changed."""
        return bool(self.changed_within(root))

    def overwritten(self, value: Value) -> bool:
        """Whether the memory of a value may be written to after its definition."""
        if not has_memory(value.type):
            return False
        root: Value | None = self.find(value)
        while root is not None:
            if any(self.after(place, value, root) for _, place in self.stores.get(root, ())):
                return True
            root = self.within(root)
        root = self.find(value)
        return any(self.after(place, value, root) for place in self.changed_within(root))

    def is_written(self, value: Value) -> bool:
        """Whether the memory of a value, or of its contents, may be written to at any time."""
        root: Value | None = self.find(value) if has_memory(value.type) else None
        while root is not None and root not in self.stores:
            root = self.within(root)
        return root is not None

    def within(self, root: Value) -> Value | None:
        """The class of the contents of a class of containers."""
        inner = self.contents.get(root)
        return None if inner is None or self.find(inner) is root else self.find(inner)

    def after(self, store: Place, value: Value, root: Value) -> bool:
        """Whether this store may run after ``value`` is defined."""
        there, here = self.layout.path(store), self.layout.path(self.layout.places[value])
        level = 0
        while level + 1 < min(len(there), len(here)) and there[level + 1][0] is here[level + 1][0]:
            level += 1
        if there[level][1] > here[level][1]:
            return True
        return any(self.carried(block, root) for block, _ in here[: level + 1])

    def carried(self, block: Block, root: Value) -> bool:
        """Whether the class is loop-carried in the loop whose body ``block`` is."""
        if block not in self.layout.owners or isinstance(self.layout.owners[block][2], If):
            return False
        return any(has_memory(a.type) and self.find(a) is root for a in block.args)


# ------------------------------------------------------------------ undoing

#: consuming rows: the row that saves the old content, and the row that restores the operand from the result
UNDO: dict[str, tuple[str, str]] = {
    "set_at": ("take", "set_at"),
    "add_at": ("take", "set_at"),
    "add_written": ("take", "set_at"),
    "accumulate": ("copy", "set_at"),
    "list_append": ("", "list_drop"),
    "list_drop": ("list_take", "list_append"),
    "list_set": ("list_take", "list_set"),
    "list_add_at": ("list_take", "list_set"),
    "table_set": ("table_take", "table_set"),
    "table_add_at": ("table_take", "table_set"),
}


#: buffers with their yield indices; None where iterations of a loop may have swapped them
Held = dict[Value, int | None]


@dataclass(slots=True)
class Trace:
    """The flow of the buffers of one class: ``moved[block, value]`` is the index of the op that takes the value over.

    ``passed[op]`` are the outer values that a branch takes over; ``ok`` is False if the class cannot be undone.
    """

    memory: Memory
    root: Value
    moved: dict[tuple[Block, Value], int] = field(default_factory=dict)
    passed: dict[Op, list[Value]] = field(default_factory=dict)
    slots: dict[Op, list[int]] = field(default_factory=dict)
    ok: bool = True
    lost: set[Value] = field(default_factory=set)  #: states that the sweep does not restore
    graph: dict[Value, list[Value]] = field(default_factory=dict)

    def mine(self, operand: Operand) -> bool:
        """Whether the operand is of this class."""
        return isinstance(operand, Value) and has_memory(operand.type) and self.memory.find(operand) is self.root

    def run(self, func: Func) -> Trace:
        """Follow the class through the function."""
        self.back(func.body, {}, True)
        # nor may the class enter a loop or branch that does not yield it
        met = [op in self.slots for op in walk(func.body) if not isinstance(op, Call) and any(map(self.mine, op.outs))]
        self.ok = self.ok and all(met)
        # a store that was not recorded writes to a buffer local to a loop
        self.ok = self.ok and all((place[0], store.args[0]) in self.moved for store, place in self.memory.stores[self.root])
        return self

    def back(self, block: Block, held: Held, top: bool) -> Held:
        """From the buffers live at the end of a block to those live at its start."""
        for index in reversed(range(len(block.ops))):
            op = block.ops[index]
            mine = [k for k, out in enumerate(op.outs) if self.mine(out)]
            if not mine:
                continue
            if isinstance(op, Call) and ROWS[op.name].alias != "fresh":
                self.ok = self.ok and not any(op.outs[k] in held for k in mine)
                continue
            self.ok = self.ok and (top or all(op.outs[k] in held for k in mine))
            for value, place in self.taken(op, mine, [held.pop(op.outs[k], None) for k in mine]).items():
                self.ok = self.ok and value not in held
                self.moved[block, value] = index
                held[value] = place
        return held

    def taken(self, op: Op, mine: list[int], places: list[int | None]) -> Held:
        """The values whose buffers the op takes over, each with the yield index where its buffer ends."""
        match op:
            case Call():
                if not ROWS[op.name].consumes:
                    return {}
                self.ok = self.ok and op.name in UNDO
                return {a: places[0] for a in op.args[:1] if isinstance(a, Value)}
            case For() | While():
                self.slots[op] = mine
                start = self.back(op.body, self.values(op.body.yields, mine), False)
                self.ok = self.ok and set(start) == {op.carried[k] for k in mine}
                steady = all(start.get(op.carried[k]) == k for k in mine)
                inits = self.values(op.inits, mine)
                return dict(zip(inits, places if steady else [None] * len(mine), strict=False))
            case If():
                self.slots[op] = mine
                then, orelse = (self.back(b, self.values(b.yields, mine), False) for b in op.blocks)
                self.ok = self.ok and then == orelse and None not in then.values()
                self.passed[op] = list(then)
                return {value: places[mine.index(k)] for value, k in then.items() if k is not None}
        self.ok = False
        return {}

    # ---------------------------------------------------------------- the reverse path

    def ways(self) -> dict[Value, list[Value]]:
        """For each state, the states that the sweep restores just before it."""
        if not self.graph:
            for (block, moved), index in self.moved.items():
                self.graph.setdefault(moved, []).extend(self.through(block.ops[index]))
            for op, slots in self.slots.items():
                met = [y for b in (op.blocks if isinstance(op, If) else op.blocks[-1:]) for y in b.yields]
                met += [] if isinstance(op, If) else op.blocks[-1].args
                for operand in met if slots else ():
                    if isinstance(operand, Value):
                        self.graph.setdefault(operand, []).extend(self.through(op))
        return self.graph

    def through(self, op: Op) -> list[Value]:
        """The states that the sweep passes when it reverses an op."""
        if isinstance(op, Call):
            return op.outs[:1]
        states = [op.outs[k] for k in self.slots[op]]
        for block in op.blocks if isinstance(op, If) else op.blocks[-1:]:
            states += [y for k in self.slots[op] if isinstance(y := block.yields[k], Value)]
        if isinstance(op, For | While):
            states += [op.carried[k] for k in self.slots[op]]
        return states

    def closure(self, states: Iterable[Value]) -> set[Value]:
        """All states that the sweep must restore on its way to ``states``."""
        return closure(states, self.ways())

    def before(self, states: Iterable[Value]) -> set[Value]:
        """All states that can be restored only by way of one of these."""
        back: dict[Value, list[Value]] = {}
        for state, others in self.ways().items():
            for other in others:
                back.setdefault(other, []).append(state)
        return closure(states, back)

    def values(self, operands: list[Operand], chosen: list[int]) -> Held:
        """The chosen operands, which must be distinct values of the class, with their positions."""
        held: Held = {o: k for k in chosen if isinstance(o := operands[k], Value) and self.mine(o)}
        self.ok = self.ok and len(held) == len(chosen)
        return held


def rank_cost(type_: Type) -> int:
    """The estimated memory of a value."""
    match type_:
        case Scalar():
            return 1
        case Array(shape=tuple() as shape):
            return int(100 ** len(shape))
    return 10_000
