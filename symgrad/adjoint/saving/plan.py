"""Chooses how the backward half obtains each primal value that it reads: live, saved, restored or recomputed.

The choices in order: live, the reversed index, read back from an array, recomputed, undone, carried backwards,
saved.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import islice

from symgrad.adjoint.accumulate import Scope
from symgrad.adjoint.analysis.memory import UNDO, Memory, Trace, has_memory, rank_cost
from symgrad.adjoint.analysis.regions import Regions, stored_values
from symgrad.adjoint.saving.costs import INTERPRETED, WHOLE, Costs
from symgrad.adjoint.saving.demands import Demand, Demands
from symgrad.ir.core import Call, For, Func, If, Op, Operand, Value, While
from symgrad.ir.layout import Layout
from symgrad.ir.types import Array, Dim, List, Scalar
from symgrad.ops.analysis.access_regions import TABLES
from symgrad.ops.declare import ROWS

READS = frozenset({"take", "list_take", "table_take"})
PARTS = frozenset({"take", "view", "table_take"})  #: reads whose access region is known

MOST = 2000  #: the maximum number of store and read pairs examined

States = dict[Value, dict[Call | None, None]]  #: buffer states, each with the ops that read a part of it; None: all of it is read


@dataclass(frozen=True, slots=True)
class Means:
    """The ways to obtain values without saving them."""

    forwarding: bool = True  #: read back from the array that a value was stored in
    turning: bool = True  #: read from a buffer whose stores are undone one by one


#: the best first; if one cannot be carried out, the next is used, which saves more and is never wrong
MEANS = (Means(), Means(forwarding=False), Means(forwarding=False, turning=False))


@dataclass(slots=True)
class Plan:
    """The decisions. ``saved``: values kept or put on a tape; ``joins``: branch yields read from the branch's result;

    ``carried``: slots of loops that the reversed loop carries; ``undone``: stores whose old content is saved.
    """

    func: Func
    layout: Layout
    memory: Memory
    demands: Demands
    means: Means = MEANS[0]
    costs: Costs = INTERPRETED
    lasting: set[Value] = field(default_factory=set)  #: memory classes that are not restored, because others read them later
    saved: set[Value] = field(default_factory=set)
    joins: dict[Value, tuple[If, int]] = field(default_factory=dict)
    carried: set[tuple[Op, int]] = field(default_factory=set)
    traces: dict[Value, Trace] = field(default_factory=dict)
    undo_reads: set[Value] = field(default_factory=set)  #: values that undoing stores reads
    undone: list[Call] = field(default_factory=list)
    known: dict[tuple[Value, Scope, int], bool] = field(default_factory=dict)
    stored: dict[Value, Call] = field(default_factory=dict)  #: values that a store puts into an array unchanged
    captured: dict[Call, list[Value]] = field(default_factory=dict)  #: values read back just before the store is undone
    regions: Regions = field(init=False)

    def make(self) -> Plan:
        """Decide everything."""
        self.stored = stored_values(self.func, self.layout) if self.means.forwarding and self.memory.stores else {}
        self.choose_undone()
        self.decide()
        self.undo()
        return self

    # ---------------------------------------------------------------- values obtained without saving

    def can(self, operand: Operand, scope: Scope, time: int) -> bool:
        """Whether the value can be obtained at this time without saving it."""
        if not isinstance(operand, Value) or operand not in self.layout.places:
            return True
        key = (operand, scope, time)
        if key not in self.known:
            self.known[key] = False
            self.known[key] = self.find(operand, scope, time)
        return self.known[key]

    def find(self, value: Value, scope: Scope, time: int) -> bool:
        """``can`` without the cache."""
        if value in self.saved or value in self.joins or self.alive(value):
            return True
        if value in self.demands.shapes:
            return self.can(self.demands.shapes[value], scope, time)
        if self.undoable(value):
            return self.in_interval(value, scope, time)
        scope, time = self.home(value, scope, time)
        if self.is_index(value) or self.is_carried(value):
            return True
        if self.standing(value) is not None:
            return True
        op = self.layout.op_of(value)
        return isinstance(op, Call) and self.repeatable(op, scope, time) or self.readable(value, scope, time)

    def home(self, value: Value, scope: Scope, time: int) -> Demand:
        """The scope that reverses the value's own block, and the time there."""
        block = self.layout.places[value][0]
        while scope.block is not block:
            assert scope.parent is not None
            time = 2 * scope.position + 1
            scope = scope.parent
        return scope, time

    def alive(self, value: Value) -> bool:
        """Whether the value is live."""
        return self.demands.alive(value)

    def is_index(self, value: Value) -> bool:
        """Whether the value is the index of a ``for``."""
        block, index = self.layout.places[value]
        if index >= 0 or block not in self.layout.owners:
            return False
        op = self.layout.owners[block][2]
        return isinstance(op, For) and value is op.index

    def is_carried(self, value: Value) -> bool:
        """Whether the reversed loop carries it."""
        block = self.layout.places[value][0]
        if block not in self.layout.owners:
            return False
        op = self.layout.owners[block][2]
        return any(value is block.yields[k] for o, k in self.carried if o is op)

    def repeatable(self, op: Call, scope: Scope, time: int) -> bool:
        """Whether recomputing the op is cheaper than saving its result."""
        row = ROWS[op.name]
        if row.consumes or row.effect or len(op.outs) != 1:
            return False
        if op.name not in WHOLE and row.alias == "fresh" and op.name not in READS:
            if not self.costs.is_cheap(op) or is_float(op.outs[0]) and self.effort(op, self.costs.tape) > self.costs.tape:
                return False
        if isinstance(op.outs[0].type, Array) and any(is_float(a) and self.hidden(a) > self.costs.light for a in op.args):
            return False  # a mask of numbers that cost more is better saved
        return all(self.can(a, scope, time) for a in op.args)

    def hidden(self, operand: Operand) -> int:
        """The cost of recomputing an array element."""
        before = self.layout.op_of(operand) if isinstance(operand, Value) and not self.at_hand(operand) else None
        return self.effort(before, self.costs.light) if isinstance(before, Call) and self.costs.is_cheap(before) else 0

    def effort(self, op: Call, most: int) -> int:
        """The cost of recomputing a number, with all arithmetic needed only for it; some value above ``most`` if it exceeds that."""
        cost = self.costs.of(op)
        for operand in dict.fromkeys(op.args):
            if cost > most:
                break
            if isinstance(operand, Value) and is_float(operand) and not self.at_hand(operand):
                before = self.layout.op_of(operand)
                if isinstance(before, Call) and self.costs.is_cheap(before):
                    cost += self.effort(before, most - cost)
        return cost

    def at_hand(self, operand: Value) -> bool:
        """Whether a number is available, or will be for other uses too."""
        return operand not in self.layout.places or operand in self.saved or operand in self.demands.required or self.alive(operand)

    # ---------------------------------------------------------------- values read back from arrays

    def standing(self, value: Value) -> tuple[Call, Value] | None:
        """The op that read the value from an array or stored it there, and the array's last state, if that still holds the value."""
        op = self.layout.op_of(value)
        reads = isinstance(op, Call) and op.name in PARTS
        access = op if reads else self.stored.get(value)
        if not isinstance(access, Call):
            return None
        last = self.regions.last_with(access)
        if last is None or self.memory.find(last) in self.traces or not (last in self.saved or self.alive(last)):
            return None
        scope = self.demands.reversals.get(self.layout.places[access.outs[0]][0])
        if scope is None:
            return None
        ends = (2 * len(scope.block.ops), -2)
        path = access.args[1:] if reads else path_of(access)
        return (access, last) if all(self.can(o, scope, time) for o in path for time in ends) else None

    def settle(self, value: Value) -> bool:
        """Save an array's last state if that makes the value available in each iteration of the loop that defines it; False if not."""
        op = self.layout.op_of(value)
        reads = isinstance(op, Call) and op.name in PARTS
        access = op if reads else self.stored.get(value)
        if not isinstance(access, Call) or (last := self.regions.last_with(access)) is None or last in self.saved:
            return False
        if self.memory.find(last) in self.traces or self.weight(last) > self.weight(value):
            return False
        self.saved.add(last)
        if all(self.can(value, *demand) for demand in self.demands.required[value]):
            return True
        self.saved.remove(last)
        self.known.clear()
        return False

    def readable(self, value: Value, scope: Scope, time: int) -> bool:
        """Whether the value can be read back from the array that it was stored in, before or when the store is undone."""
        store = self.stored.get(value)
        if store is None or not self.undoable(store.outs[0]):
            return False
        time = max(time, 2 * self.layout.places[store.outs[0]][1] + 1)
        return all(self.can(o, scope, time) for o in (store.outs[0], *path_of(store)))

    # ---------------------------------------------------------------- restored memory

    def undoable(self, value: Value) -> bool:
        """Whether the value is a buffer state that the sweep restores."""
        if not has_memory(value.type) or (trace := self.traces.get(self.memory.find(value))) is None or value in trace.lost:
            return False
        op = self.layout.op_of(value)
        return not (isinstance(op, Call) and ROWS[op.name].alias != "fresh")

    def in_interval(self, value: Value, scope: Scope | None, time: int) -> bool:
        """Whether the buffer is in this state at this time."""
        trace = self.traces[self.memory.find(value)]
        home = self.layout.places[value][0]
        while scope is not None:
            moved = trace.moved.get((scope.block, value))
            if moved is not None:
                return time <= 2 * moved and (scope.block is not home or time >= self.start(value))
            if scope.block is home:
                return time >= self.start(value)
            if any(y is value for y in scope.block.yields) and not scope.loop:
                return True
            time = 2 * scope.position + 1
            scope = scope.parent
        return False

    def start(self, value: Value) -> int:
        """The last time, backwards, at which a state still exists."""
        index = self.layout.places[value][1]
        op = self.layout.op_of(value)
        return 2 * index + (0 if op is None or isinstance(op, Call) and not ROWS[op.name].consumes else 1)

    def choose_undone(self) -> None:
        """Choose the buffers to restore: those for which that saves less than keeping the values read from them."""
        kept = (v for v in self.layout.places if has_memory(v.type) and self.means.turning)
        roots = dict.fromkeys(map(self.memory.find, kept))
        for root in roots:
            inner = self.memory.within(root)
            if root in self.lasting or self.memory.is_within(root):
                continue
            if root in self.memory.stores and inner not in self.memory.stores and (trace := Trace(self.memory, root).run(self.func)).ok:
                self.traces[root] = trace
                trace.lost = self.lost(trace)
        self.regions = Regions(self.layout, self.memory, dict(self.traces))
        for root in list(self.traces):
            having, needy = self.depending(root)
            price = sum(self.price(store) for store in self.undone_in(root, self.states(having))[0])
            needed = [v for v in needy if isinstance(v.type, Array | List)]
            gain = sum(map(self.weight, needed))
            if not gain or price > gain or price == gain and all(v in self.stored for v in needed):
                del self.traces[root]
                self.known.clear()

    def depending(self, root: Value) -> tuple[list[Value], list[Value]]:
        """The values read that can be obtained, and those of them that depend on restoring this class."""
        self.known.clear()
        having = [v for v, where in self.demands.required.items() if all(self.can(v, *d) for d in where)]
        trace = self.traces.pop(root)
        self.known.clear()
        needy = [v for v in having if not all(self.can(v, *d) for d in self.demands.required[v])]
        self.traces[root] = trace
        self.known.clear()
        return having, needy

    def weight(self, value: Value) -> int:
        """The estimated cost of saving a value."""
        return rank_cost(value.type) * self.layout.rounds(value)

    def price(self, store: Call) -> int:
        """The estimated cost of saving the old content at a store."""
        rounds = self.layout.rounds(store.outs[0])
        row = UNDO[store.name][0]
        if row == "take":
            place = len(ROWS[store.name].params) - 1
            types = [store.args[0].type, *(a.type for a in store.args[place:])]
            type_ = ROWS["take"].law(types, {"index": store.settings["index"]}, lambda k: -2)
            assert not isinstance(type_, tuple)
            return rank_cost(type_) * rounds
        return rank_cost(store.args[0].type) * rounds if row == "copy" else rounds

    def undone_in(self, root: Value, states: States) -> tuple[list[Call], set[Value]]:
        """The stores of a class to undo so that its read states are restored, and all states on the way to them."""
        trace = self.traces[root]
        mine = {state: readers for state, readers in states.items() if self.memory.find(state) is root}
        needed = trace.closure(mine)
        stores = [store for store, _ in self.memory.stores.get(root, ()) if store.args[0] in needed]
        partial = list(dict.fromkeys(r for readers in mine.values() if None not in readers for r in readers if r is not None))
        if len(stores) * len(partial) > MOST:
            return stores, needed
        whole = trace.closure(state for state, readers in mine.items() if None in readers)
        return [s for s in stores if s.args[0] in whole or any(self.regions.clash(s, r) for r in partial)], needed

    def lost(self, trace: Trace) -> set[Value]:
        """The states that the reverse sweep does not restore: behind a loop or branch that is not reversed."""
        behind = []
        for (block, value), index in trace.moved.items():
            if (
                block not in self.demands.reversals
                or not isinstance(block.ops[index], Call)
                and (block, index) not in self.demands.reversed_ops
            ):
                behind.append(value)
        return trace.before(behind)

    def states(self, values: list[Value]) -> States:
        """The states of buffers that are needed to obtain these values."""
        states: States = {}
        self.captured = {}
        for value in values:
            for scope, time in self.demands.required.get(value, ()):
                self.collect(value, scope, time, states, set())
        return states

    def collect(self, operand: Operand, scope: Scope, time: int, states: States, seen: set[Value], reader: Call | None = None) -> None:
        """Follow how ``find`` obtains a value, and record the states that it needs; ``reader``: the op that reads only a part of it."""
        if not isinstance(operand, Value) or operand not in self.layout.places:
            return
        if operand in self.saved or operand in self.joins or self.alive(operand):
            return
        if self.undoable(operand):
            states.setdefault(operand, {})[reader] = None
            return
        if operand in seen:
            return
        seen.add(operand)
        if operand in self.demands.shapes:
            self.collect(self.demands.shapes[operand], scope, time, states, seen)
            return
        scope, time = self.home(operand, scope, time)
        if self.is_index(operand) or self.is_carried(operand) or self.standing(operand) is not None:
            return
        op = self.layout.op_of(operand)
        if isinstance(op, Call) and not self.repeatable(op, scope, time) and (store := self.stored.get(operand)) is not None:
            if time <= 2 * self.layout.places[store.outs[0]][1] + 1:
                captured = self.captured.setdefault(store, [])
                captured += [] if operand in captured else [operand]
            for source in (store.outs[0], *path_of(store)):
                self.collect(source, scope, time, states, seen, store)
            return
        for place, source in enumerate(op.operands if op is not None else ()):
            reads = isinstance(op, Call) and op.name in PARTS and place == 0
            self.collect(source, scope, time, states, seen, op if reads and isinstance(op, Call) else None)

    # ---------------------------------------------------------------- saved values

    def decide(self) -> None:
        """In program order: a value that cannot be obtained is carried backwards if possible, else saved."""
        self.known.clear()
        todo: list[tuple[float, int, Value]] = []
        seen = 0
        while todo or seen < len(self.demands.required):
            fresh = islice(self.demands.required, seen, None) if seen < len(self.demands.required) else ()
            for value in fresh:  # examining one may add others
                heappush(todo, (self.layout.order[value], seen, value))
                seen += 1
            _, _, value = heappop(todo)
            if self.is_read_back(value) and self.carriable(value):
                self.known.clear()
            elif not all(self.can(value, scope, time) for scope, time in self.demands.required[value]):
                self.known.clear()
                if not self.settle(value) and not self.joinable(value) and not self.carriable(value) and not self.save_operands(value):
                    self.save(value)

    def save_operands(self, value: Value) -> bool:
        """Where only the user's variables are saved, demand the operands of the op that computes a value instead of the value."""
        op = self.layout.op_of(value)
        if not self.costs.by_name or value.name is not None or not isinstance(op, Call) or not self.costs.is_cheap(op):
            return False
        row = ROWS[op.name]
        if row.consumes or row.effect or row.alias != "fresh" or len(op.outs) != 1 or op.name in READS:
            return False
        if any(isinstance(a, Value) and has_memory(a.type) and self.memory.overwritten(a) for a in op.args):
            return False
        for scope, time in list(self.demands.required[value]):
            scope, time = self.home(value, scope, time)
            for operand in op.args:
                self.demands.add(operand, scope, time)
        return True

    def save(self, value: Value) -> None:
        """Save a value; for a view of nearly a whole array save the array, which stays in memory anyway."""
        op = self.layout.op_of(value)
        whole = op.args[0] if isinstance(op, Call) and op.name == "view" else None
        if isinstance(whole, Value) and whole not in self.saved and is_nearly(value, whole) and not self.memory.overwritten(whole):
            self.saved.add(whole)
            if all(self.can(value, *demand) for demand in self.demands.required[value]):
                self.saved -= {shape for shape, source in self.demands.shapes.items() if source is whole}
                return
            self.saved.remove(whole)
            self.known.clear()
        self.saved.add(value)

    def is_read_back(self, value: Value) -> bool:
        """Whether a number can only be read from an array restored for it; carrying the number avoids that restoring."""
        store = self.stored.get(value)
        if has_memory(value.type) or store is None or not self.undoable(store.outs[0]) or value in self.saved or value in self.joins:
            return False
        return not (self.alive(value) or self.is_carried(value) or self.standing(value) is not None)

    def joinable(self, value: Value) -> bool:
        """Whether the value can be read from the result of the branch that yields it."""
        block = self.layout.places[value][0]
        if self.layout.static(block) or block not in self.layout.owners or not isinstance(self.layout.owners[block][2], If):
            return False
        outer, index, op = self.layout.owners[block]
        assert isinstance(op, If)
        scope = self.demands.reversed_ops.get((outer, index))
        if scope is None or scope.parent is None or self.undoable(value):
            return False
        for k, yielded in enumerate(block.yields):
            if yielded is value and not self.undoable(out := op.outs[k]):
                where = (scope.parent, 2 * index + 1)
                if out in self.demands.required or self.can(out, *where) or self.carriable(out) or self.joinable(out):
                    self.joins[value] = (op, k)
                    self.demands.required.setdefault(out, []).append(where)
                    return True
        return False

    def carriable(self, value: Value) -> bool:
        """Whether the value can be carried backwards from the loop's result, because the value before the iteration is saved."""
        block = self.layout.places[value][0]
        if block not in self.layout.owners or not isinstance(self.layout.owners[block][2], For | While):
            return False
        outer, index, op = self.layout.owners[block]
        assert isinstance(op, For | While)
        scope = self.demands.reversed_ops.get((outer, index))
        if scope is None or scope.parent is None:
            return False
        for k, slot in enumerate(op.carried):
            if block.yields[k] is value and slot in self.saved and not self.undoable(value) and not self.undoable(op.outs[k]):
                self.carried.add((op, k))
                self.demands.required.setdefault(op.outs[k], []).append((scope.parent, 2 * index + 1))
                return True
        return False

    def undo(self) -> None:
        """Choose the stores to undo, and provide the values that undoing them reads."""
        before: tuple[int, ...] | None = None
        while before != (before := self.size()):
            self.known.clear()
            states = self.states(list(self.demands.required))
            self.undone = []
            self.undo_reads = set()  # values saved meanwhile are no longer needed
            for root in self.traces:
                undone, needed = self.undone_in(root, states)
                self.undo_reads |= needed
                self.undone += undone
            for store in self.undone:
                self.require_paths(store)
            self.decide()

    def size(self) -> tuple[int, ...]:
        """A measure that is constant at the fixed point."""
        return (len(self.demands.required), len(self.saved), len(self.joins), len(self.carried), len(self.undo_reads), len(self.undone))

    def require_paths(self, store: Call) -> None:
        """Demand the operands of a store's path, which undoing it reads."""
        block, index = self.layout.places[store.outs[0]]
        scope = self.demands.reversals[block]
        for operand in path_of(store):
            self.demands.add(operand, scope, 2 * index + 1)


def is_float(value: Operand) -> bool:
    """Whether the operand is a floating-point number."""
    return isinstance(value.type, Scalar) and value.type.kind == "float"


def is_nearly(part: Value, whole: Value) -> bool:
    """Whether an array is shorter than another by at most a literal on each axis."""
    shapes = [v.type.shape for v in (part, whole) if isinstance(v.type, Array) and v.type.shape is not None]
    if len(shapes) < 2 or len(shapes[0]) != len(shapes[1]):
        return False
    pairs = zip(*shapes, strict=True)
    return all(a == b or isinstance(a, Dim) and isinstance(b, Dim) and a.symbol == b.symbol != "?" for a, b in pairs)


def read_back(store: Call) -> tuple[str, dict[str, object]]:
    """The row that reads the cells a store writes, and its settings."""
    return ("table_take", {}) if store.name in TABLES else ("take", {"index": store.settings["index"]})


def path_of(store: Call) -> list[Operand]:
    """The operands of a store's index path."""
    if store.name in ("set_at", "add_at", "add_written"):
        return store.args[2:]
    if store.name in ("table_set", "table_add_at"):
        return store.args[1:3]
    return store.args[1:2] if store.name in ("list_set", "list_add_at") else []
