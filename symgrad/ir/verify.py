"""Verifier: a function of the IR is well formed, and every store may be done in place.

First structure: each value is defined once, before its uses and in their scope; counts agree; rows exist. Then
memory: nothing reads a value after an op has consumed its memory. If both hold, codegen may print each store in
place, and each view as a view.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import count

from symgrad.errors import InvalidIR
from symgrad.ir.containers import has_memory, is_container, is_of_lists, is_of_numbers
from symgrad.ir.core import Apply, Block, Call, For, Func, If, Op, Operand, Value, While, callees, uses, walk
from symgrad.ir.show import value_names
from symgrad.ir.types import Array, List, Tape
from symgrad.location import NOWHERE, Loc
from symgrad.ops.declare import ROWS

#: rows that may return their operand itself
MAY_RETURN_OPERAND = frozenset({"unbroadcast"})

#: rows whose result is a read-only view in NumPy: one memory cell may be several of its elements
READ_ONLY = frozenset({"spread", "broadcast_to", "diagonal"})

#: rows that read only the shape and dtype of an array, which no store changes
READS_SHAPE = frozenset({"shape_of", "extent", "zeros_like"})


def verify(func: Func) -> None:
    """Raise ``InvalidIR`` unless the function, and its callees, are well formed."""
    _Summaries().of(func)


def describe(op: Op | None, names: dict[Value, str]) -> str:
    """An op by its name and results, for messages."""
    if op is None:
        return "the caller"
    word = op.name if isinstance(op, Call) else type(op).__name__.lower()
    if isinstance(op, Apply) and op.func is not None:
        word = f"apply {op.func.name}"
    outs = ", ".join(names.get(o, "%?") for o in op.outs)
    return f"{word} -> {outs}" if outs else word


def fault(func: Func, what: str, loc: Loc = NOWHERE) -> InvalidIR:
    """The exception to raise."""
    return InvalidIR(f"{func.name}: {what}", None if loc == NOWHERE else loc)


# ------------------------------------------------------------------ structure


class _Structure:
    """Checks single definition, scope, counts, rows."""

    def __init__(self, func: Func) -> None:
        self.func = func
        self.names = value_names(func)
        self.defined: set[Value] = set()
        self.visible: set[Value] = set()

    def fault(self, what: str, op: Op | None = None) -> InvalidIR:
        return fault(self.func, what, NOWHERE if op is None else op.loc)

    def check(self) -> None:
        func = self.func
        if func.results and len(func.results) != len(func.body.yields):
            raise self.fault(f"{len(func.results)} names for {len(func.body.yields)} results")
        if func.split is not None and not 0 <= func.split <= len(func.body.ops):
            raise self.fault("the backward half begins outside the body")
        self.block(func.body, None)

    def define(self, values: Iterable[Value], op: Op | None) -> None:
        for value in values:
            if value in self.defined:
                raise self.fault(f"{self.names[value]} is defined twice, by {describe(op, self.names)}", op)
            self.defined.add(value)
            self.visible.add(value)

    def read(self, operands: Iterable[Operand], op: Op | None) -> None:
        for operand in operands:
            if isinstance(operand, Value) and operand not in self.visible:
                name = self.names.get(operand, f"a value {operand.name or ''}".rstrip())
                why = "not defined in this scope" if operand in self.defined else "not defined before"
                raise self.fault(f"{describe(op, self.names)} reads {name}, which is {why}", op)

    def count(self, actual: int, expected: int, what: str, op: Op) -> None:
        if actual != expected:
            raise self.fault(f"{describe(op, self.names)}: {what}: {actual}, not {expected}", op)

    def block(self, block: Block, owner: Op | None) -> None:
        self.define(block.args, owner)
        inside = list(block.args)
        for op in block.ops:
            self.read(op.operands, op)
            self.op(op)
            self.define(op.outs, op)
            inside += op.outs
        self.read(block.yields, owner)
        self.visible.difference_update(inside)

    def op(self, op: Op) -> None:
        match op:
            case Call():
                self.call(op)
            case Apply():
                if op.func is None:
                    raise self.fault("apply of no function", op)
                self.count(len(op.args), len(op.func.params), "arguments", op)
                self.count(len(op.outs), len(op.func.body.yields), "results", op)
            case For():
                carried = len(op.inits)
                self.count(len(op.body.args), carried + 1, "arguments of the body", op)
                self.count(len(op.body.yields), carried + op.until, "values that the body yields", op)
                self.count(len(op.outs), carried + op.until, "results", op)
            case While():
                carried = len(op.inits)
                self.count(len(op.test.args), carried, "arguments of the test", op)
                self.count(len(op.test.yields), 1, "values that the test yields", op)
                self.count(len(op.body.args), carried, "arguments of the body", op)
                self.count(len(op.body.yields), carried + op.until, "values that the body yields", op)
                self.count(len(op.outs), carried + 1, "results", op)
            case If():
                for block in op.blocks:
                    self.count(len(block.args), 0, "arguments of a branch", op)
                    self.count(len(block.yields), len(op.outs), "values that a branch yields", op)
            case _:
                raise self.fault(f"no op is a {type(op).__name__}", op)
        if isinstance(op, For | While):
            self.slots(op)
        for block in op.blocks:
            self.block(block, op)

    def slots(self, op: For | While) -> None:
        """The types that enter a loop slot are neither wider nor narrower than the slot."""
        for slot, *operands in zip(op.carried, op.inits, op.body.yields, strict=False):
            want, *dtypes = (getattr(o.type, "dtype", None) for o in (slot, *operands))
            if want in FLOATS and (wrong := [have for have in dtypes if have in FLOATS and have != want]):
                raise self.fault(f"{self.names.get(slot, slot.name)}: a slot of {want} is given {wrong[0]}", op)

    def call(self, op: Call) -> None:
        row = ROWS.get(op.name)
        if row is None:
            raise self.fault(f"there is no row {op.name!r}", op)
        fixed = [p for p in row.params if not p.startswith("*")]
        enough = len(op.args) >= len(fixed) if len(fixed) < len(row.params) else len(op.args) == len(fixed)
        if not enough:
            raise self.fault(f"{describe(op, self.names)}: {len(op.args)} operands for ({', '.join(row.params)})", op)
        strange = [s for s in op.settings if s not in row.settings]
        unsaid = [s for s in row.settings if s not in op.settings]
        if strange or unsaid:
            raise self.fault(f"{describe(op, self.names)}: settings {strange} are not the row's, {unsaid} are missing", op)
        if op.name == "accumulate" and any(isinstance(a.type, List | Tape) for a in op.args):
            raise self.fault(f"{describe(op, self.names)}: accumulate takes arrays and numbers", op)


# ------------------------------------------------------------------ memory


FLOATS = frozenset({"f16", "f32", "f64", "c64", "c128"})  #: dtypes that must agree exactly between a slot and its operands
Root = int  #: one piece of memory, or the possible memory of a loop slot
Roots = frozenset[Root]
NONE: Roots = frozenset()


@dataclass(slots=True)
class _Memory:
    """The memory of a value: a store to the value changes ``own``; a container refers to ``held``."""

    own: Roots
    held: Roots
    born: dict[Root, int]  #: the generations at its definition: a store to a root starts a new generation

    @property
    def all(self) -> Roots:
        return self.own | self.held


NO_MEMORY = _Memory(NONE, NONE, {})


@dataclass(slots=True)
class _Summary:
    """A call's effect on memory: the params that it writes to, and those that each result may alias."""

    consumed: frozenset[int] = frozenset()
    shared: tuple[frozenset[int], ...] = ()


@dataclass
class _Summaries:
    """Checks each function once; recursive ones until their summary is stable."""

    known: dict[Func, _Summary] = field(default_factory=dict)

    def of(self, func: Func) -> _Summary:
        if func in self.known:
            return self.known[func]
        _Structure(func).check()
        for op in walk(func.body):
            if not isinstance(op, Apply) and (storing := [one.name for one in callees(op) if self.of(one).consumed]):
                raise fault(func, f"{storing[0]} stores to what a solver hands it", op.loc)
        self.known[func] = _Summary(frozenset(), tuple(NONE for _ in func.body.yields))
        while True:
            summary = _Borrows(func, self).check()
            if summary == self.known[func]:
                return summary
            self.known[func] = summary


class _Borrows:
    """Walks a function in order of evaluation and tracks the memory of each value.

    ``edges`` join roots that may be the same memory (a loop slot and its initial value). They are not
    transitive: two buffers that are swapped share roots with both origins, but never with one another.
    """

    def __init__(self, func: Func, summaries: _Summaries) -> None:
        self.func = func
        self.summaries = summaries
        self.names: dict[Value, str] | None = None
        self.used: dict[Value, int] = {}
        self.memory: dict[Value, _Memory] = {}
        self.edges: dict[Root, set[Root]] = {}
        self.generation: dict[Root, int] = {}
        self.killer: dict[Root, Op | None] = {}
        self.log: list[tuple[Root, int]] = []
        self.repeated: set[Root] = set()
        self.read_only: set[Root] = set()
        self.collective: set[Root] = set()
        self.fresh = count(1)
        self.times = count(1)

    def check(self) -> _Summary:
        func = self.func
        for param in func.params:
            self.allocate(param)
        params = [self.of(p) for p in func.params]
        self.block(func.body, None)
        stored = {r for r, _ in self.log}
        consumed = frozenset(k for k, m in enumerate(params) if m.own & stored)
        results = [self.of(y).all for y in func.body.yields]
        return _Summary(consumed, tuple(frozenset(k for k, m in enumerate(params) if self.touch(r, m.all)) for r in results))

    # -------------------------------------------------------------- memory

    def root(self, collective: bool = False) -> Root:
        root = next(self.fresh)
        if collective:
            self.collective.add(root)
        return root

    def live(self, own: Roots, held: Roots = NONE) -> _Memory:
        """The memory with its current generations."""
        return _Memory(own, held, {r: self.generation.get(r, 0) for r in own | held})

    def of(self, operand: Operand) -> _Memory:
        return self.memory.get(operand, NO_MEMORY) if isinstance(operand, Value) else NO_MEMORY

    def set(self, value: Value, own: Roots, held: Roots = NONE) -> None:
        if has_memory(value):
            self.memory[value] = self.live(own, held if is_container(value) else NONE)

    def allocate(self, value: Value, held: Roots | None = None) -> None:
        """Allocate memory for a value; a container of unknown content holds an unknown root."""
        if not has_memory(value):
            return
        if held is None:
            held = frozenset({self.root(collective=True)}) if is_container(value) else NONE
        self.set(value, frozenset({self.root()}), held)

    def near(self, roots: Iterable[Root]) -> Roots:
        """The roots and all that may alias them."""
        aliases = set(roots)
        for r in list(aliases):
            aliases |= self.edges.get(r, set())
        return frozenset(aliases)

    def touch(self, a: Roots, b: Roots) -> bool:
        return bool(a & b) or bool(self.near(a) & b)

    def join(self, a: Root, others: Iterable[Root]) -> bool:
        """Record that ``a`` may alias the others; return whether that is new."""
        near = self.edges.setdefault(a, set())
        new = [b for b in others if b != a and b not in near]
        for b in new:
            near.add(b)
            self.edges.setdefault(b, set()).add(a)
        return bool(new)

    def store(self, roots: Roots, op: Op) -> None:
        """Record a store: values defined before it may not be read again."""
        for r in self.near(roots):
            self.log.append((r, self.generation.get(r, 0)))
            self.generation[r] = next(self.times)
            self.killer[r] = op

    def consume(self, operand: Operand, op: Op) -> None:
        """Record a store to the operand's memory."""
        own = self.of(operand).own
        if own & self.read_only:
            assert isinstance(operand, Value)
            names = value_names(self.func)
            raise fault(self.func, f"{describe(op, names)} writes to {names[operand]}, which may be a broadcast view", op.loc)
        self.store(own, op)

    def read(self, operands: Iterable[Operand], op: Op | None) -> None:
        for operand in operands:
            memory = self.of(operand)
            for r, born in memory.born.items():
                if self.generation.get(r, 0) != born:
                    assert isinstance(operand, Value)
                    raise self.clash(operand, op, r in memory.own, self.killer.get(r))

    def clash(self, value: Value, op: Op | None, own: bool, killer: Op | None) -> InvalidIR:
        names = self.names = self.names or value_names(self.func)
        reader = describe(op, names) if op is not None else "the end of the block"
        reader = f"{reader} reads" if not isinstance(op, For | While | If) else f"{reader}: its operands or yields read"
        kept = "whose memory" if own else "which keeps memory that"
        line = f", line {killer.loc.line}" if killer is not None and killer.loc != NOWHERE else ""
        what = f"{reader} {names.get(value, '%?')}, {kept} was overwritten by {describe(killer, names)}{line}"
        return fault(self.func, what, NOWHERE if op is None else op.loc)

    # -------------------------------------------------------------- ops

    def block(self, block: Block, owner: Op | None) -> None:
        for op in block.ops:
            if not (isinstance(op, Call) and op.name in READS_SHAPE and isinstance(op.args[0].type, Array)):
                self.read(op.operands, op)
            match op:
                case Call():
                    self.call(op)
                case Apply():
                    self.apply(op)
                case If():
                    self.branch(op)
                case For() | While():
                    self.loop(op)
        if isinstance(owner, If):  # unread values are not emitted
            self.used = self.used or uses(self.func.body)
            self.read([y for y, out in zip(block.yields, owner.outs, strict=True) if self.used.get(out)], owner)
        else:
            self.read(block.yields, owner)

    def call(self, op: Call) -> None:
        row = ROWS[op.name]
        first = self.of(op.args[0]) if op.args else NO_MEMORY
        rest = [self.of(a) for a in op.args[1:]]
        kept = NONE.union(*(m.all for m in rest))
        if row.consumes:
            self.consume(op.args[0], op)
        if row.within:
            self.store(first.held, op)
        match op.name:
            case "push" | "put":
                repeats = self.touch(kept, first.held)
                self.set(op.outs[0], first.own, first.held | kept)
                if repeats:
                    self.repeated |= first.held | kept
            case "pop":
                self.set(op.outs[0], first.own, first.held)
                for out in op.outs[1:]:
                    self.popped(out, first.held)
            case "get":
                for out in op.outs:
                    self.popped(out, first.held)
            case "list_append" | "list_set":
                self.set(op.outs[0], first.own, first.held | kept)
            case "list_of":
                self.allocate(op.outs[0], first.all | kept)
            case "list_take":
                self.set(op.outs[0], first.held, first.held)
            case "list_slice" | "list_join" if not is_of_lists(op.outs[0].type):
                self.plain(op, first, False)
            case "list_slice" | "list_join":
                self.allocate(op.outs[0], NONE.union(first.held, *(m.held for m in rest)))
            case "list_from" | "unstack":
                self.allocate(op.outs[0], NONE if is_of_numbers(op.outs[0].type) else first.own)
            case "opaque" | "opaque_pure":
                for out in op.outs:
                    self.allocate(out)
                    self.set(out, self.memory[out].own | first.all | kept, first.all | kept) if has_memory(out) else None
            case _:
                self.plain(op, first, row.consumes or row.alias != "fresh" or op.name in MAY_RETURN_OPERAND)

    def plain(self, op: Call, first: _Memory, shares: bool) -> None:
        for out in op.outs:
            if op.name in READ_ONLY:
                lock = self.root()
                self.read_only.add(lock)
                self.set(out, first.own | {lock}, first.held)
            elif shares and first.all:
                self.set(out, first.own, first.held)
            else:
                self.allocate(out)

    def popped(self, out: Value, held: Roots) -> None:
        """Memory of a popped value: each entry is a buffer of its own unless one was pushed twice."""
        if not has_memory(out):
            return
        near = self.near(held)
        owner = self.root()
        self.join(owner, [r for r in near if r not in self.collective or r in self.repeated])
        if held & self.read_only:
            self.read_only.add(owner)
        self.set(out, frozenset({owner}), near if is_container(out) else NONE)

    def apply(self, op: Apply) -> None:
        assert op.func is not None
        summary = self.summaries.of(op.func)
        memories = [self.of(a) for a in op.args]
        for k in summary.consumed:
            self.consume(op.args[k], op)
        for out, shared in zip(op.outs, summary.shared, strict=True):
            self.allocate(out)
            roots = NONE.union(*(memories[k].all for k in shared))
            if has_memory(out) and roots:
                mine = self.memory[out]
                self.set(out, mine.own | roots, mine.held | roots)

    def branch(self, op: If) -> None:
        """Check both branches from the same state; a store in either counts afterwards."""
        start = len(self.log)
        changed: dict[Root, Op | None] = {}
        for block in op.blocks:
            self.block(block, op)
            mine = self.log[start:]
            changed.update((r, self.killer.get(r)) for r, _ in mine)
            for r, old in reversed(mine):
                self.generation[r] = old
            del self.log[start:]
        for r, killer in changed.items():
            self.log.append((r, self.generation.get(r, 0)))
            self.generation[r] = next(self.times)
            self.killer[r] = killer
        for k, out in enumerate(op.outs):
            yields = [self.of(b.yields[k]) for b in op.blocks]
            self.set(out, yields[0].own | yields[1].own, yields[0].held | yields[1].held)

    # -------------------------------------------------------------- loops

    def loop(self, op: For | While) -> None:
        """Repeat iterations until the aliases of the loop slots reach a fixed point."""
        first = self.root()  # all roots from here on belong to the loop
        inits = [self.of(i) for i in op.inits]
        own = [self.root() for _ in inits]
        held = [self.root(collective=True) for _ in inits]
        self.share(own, held, inits, first)
        values = op.carried if isinstance(op, For) else op.test.args
        stores, settled, rounds = len(self.log), False, 0
        while not settled:
            rounds += 1
            for k, value in enumerate(values):
                self.set(value, frozenset({own[k]}), frozenset({held[k]}))
            self.body(op)
            news = self.share(own, held, [self.of(y) for y in op.body.yields[: len(inits)]], first)
            # the next iteration's reads must see stores to outer memory
            settled = not news and (rounds > 1 or all(r >= first for r, _ in self.log[stores:]))
        for k, out in enumerate(op.outs[: len(inits)]):
            self.set(out, frozenset({own[k]}), frozenset({held[k]}))

    def body(self, op: For | While) -> None:
        if isinstance(op, While):
            before, first = len(self.log), self.root()
            self.block(op.test, op)
            if any(root < first for root, _ in self.log[before:]):  # a test may change memory that it has allocated itself
                raise fault(self.func, "the test of a while loop must not store", op.loc)
            for argument, value in zip(op.body.args, op.test.args, strict=True):
                if value in self.memory and has_memory(argument):
                    self.memory[argument] = self.memory[value]
        self.block(op.body, op)

    def share(self, own: list[Root], held: list[Root], memories: list[_Memory], first: Root) -> bool:
        """Bind the slots to the memories and record the possible aliases; return whether any is new."""
        news = False
        slots = [(own[k], m.own) for k, m in enumerate(memories)] + [(held[k], m.held) for k, m in enumerate(memories)]
        for at, (root, roots) in enumerate(slots):
            near = self.near(roots)
            news = self.join(root, [r for r in near if r < first]) or news
            news = self.join(root, [other for other, theirs in slots[at + 1 :] if roots and near & theirs]) or news
            for marked, candidates in ((self.repeated, near), (self.read_only, roots)):
                if candidates & marked and root not in marked and (marked is self.read_only or root in self.collective):
                    marked.add(root)
                    news = True
        return news


__all__ = ["MAY_RETURN_OPERAND", "InvalidIR", "verify"]
