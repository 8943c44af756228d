"""Which part of an array an op reads or writes, and whether a later store may touch what was read.

Only what is proved counts as apart: paths whose integers are sums of loop indices, extents and other
integers, compared axis by axis.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from symgrad.adjoint.affine import Round
from symgrad.adjoint.extents import known_extents
from symgrad.adjoint.memory import Layout, Memory, Place, Trace
from symgrad.ir.core import Block, Call, Const, For, Func, If, Op, Operand, Value, While, walk
from symgrad.ir.sums import ONE, Sum, combined, follows
from symgrad.ir.types import Array, Dim, Extent, Scalar, Type, same_shape
from symgrad.ops.declare import ROWS
from symgrad.ops.indexing import OPERANDS, is_basic, steps

#: rows with a path, and where their paths begin among the operands
PATHS = {"view": 1, "take": 1, "take_written": 1, "set_at": 2, "add_at": 2, "add_written": 2}

MOST = 40  #: how many stores are looked at for one reading

Span = tuple[Sum, Sum | None]  #: from, and up to, not including; None where no end is known


def spans(op: Call, here: Round) -> list[Span | None]:
    """What a path selects of each leading axis, or more; None for all of it."""
    array = op.args[0]
    shape = array.type.shape if isinstance(array.type, Array) else None
    if op.name not in PATHS or shape is None:
        return []
    made: list[Span | None] = []
    at = PATHS[op.name]
    first, _ = steps(op.settings["index"])[0]
    for letter in "" if first.startswith(".") else first:
        operands = op.args[at : at + OPERANDS[letter]]
        at += OPERANDS[letter]
        if letter == "n":
            continue
        if letter == "e" or len(made) >= len(shape) or not all(is_plain(o, letter) for o in operands):
            break
        assert isinstance(array, Value)
        made.append(span(letter, operands, shape[len(made)], array, here))
    return made


def is_plain(operand: Operand, letter: str) -> bool:
    """Is it an integer, or None as a bound of a slice?"""
    if isinstance(operand, Const) and operand.value is None:
        return letter == "s"
    return isinstance(operand.type, Scalar) and operand.type.kind == "int"


def span(letter: str, operands: list[Operand], extent: Extent, array: Value, here: Round) -> Span | None:
    """What one item of a path selects of its axis."""

    def counted(operand: Operand) -> Sum | None:
        """A place on the axis, counted from its start; None where it may be counted from the end."""
        place = here.sum(operand)
        if place is None:
            return None
        if set(place) <= {ONE} and place.get(ONE, 0) < 0:
            length = here.extent(extent, array)
            return None if length is None else combined(length, place)
        return place if follows(place, here.facts) else None

    if letter == "i":
        place = counted(operands[0])
        return None if place is None else (place, combined(place, {ONE: 1}))
    start, stop, step = operands
    if not isinstance(step, Const) or step.value is not None and (type(step.value) is not int or step.value < 1):
        return None
    is_none = [isinstance(o, Const) and o.value is None for o in (start, stop)]
    low = {} if is_none[0] else counted(start)
    high = None if is_none[1] else counted(stop)
    return ({} if low is None else low, high)


def apart(a: list[Span | None], b: list[Span | None], facts: list[Sum]) -> bool:
    """Do the two surely have no element in common?"""
    for one, two in zip(a, b, strict=False):
        if one is None or two is None:
            continue
        for (_, end), (start, _) in ((one, two), (two, one)):
            if end is not None and follows(combined(start, end, -1), facts):
                return True
    return False


@dataclass(slots=True)
class Regions:
    """Answers for one function, each worked out once."""

    layout: Layout
    memory: Memory
    traces: dict[Value, Trace] = field(default_factory=dict)
    clashes: dict[tuple[Call, Call], bool] = field(default_factory=dict)
    stands: dict[Call, Value | None] = field(default_factory=dict)
    lasts: dict[tuple[Block, Value], Value] = field(default_factory=dict)

    def clash(self, store: Call, access: Call) -> bool:
        """May a store that runs after an access to the same buffer write to what was accessed?"""
        if (store, access) not in self.clashes:
            self.clashes[store, access] = self.find_clash(store, access)
        return self.clashes[store, access]

    def find_clash(self, store: Call, access: Call) -> bool:
        home = self.layout.places[self.last(access)][0]
        late, early = (self.layout.path(self.layout.places[op.outs[0]]) for op in (store, access))
        level = 0
        while level + 1 < min(len(late), len(early)) and late[level + 1][0] is early[level + 1][0]:
            level += 1
        if self.follows_in(late, early, level) and self.meet(store, access, None):
            return True
        owners = self.layout.owners
        start = next((k for k, (block, _) in enumerate(early) if block is home), None)
        if start is None or start > level:
            return True
        loops = [block for block, _ in early[start + 1 : level + 1] if block in owners and isinstance(owners[block][2], For | While)]
        return any(self.meet(store, access, block) for block in loops)

    def follows_in(self, late: list[Place], early: list[Place], level: int) -> bool:
        """Within one round of all the loops that hold both, does the first come after the second?"""
        (block, one), (_, two) = late[level], early[level]
        if one == two and isinstance(op := block.ops[one], If | While | For):
            inner = [path[level + 1][0] for path in (late, early) if level + 1 < len(path)]
            return len(inner) == 2 and not isinstance(op, If)
        return one > two

    def meet(self, store: Call, access: Call, loop: Block | None) -> bool:
        """May the two touch one element, the store in a later round of a loop or, without one, in the same?"""
        inside = frozenset() if loop is None else frozenset([loop])
        now, later = Round(self.layout), Round(self.layout, inside)
        now.bounds(self.layout.places[access.outs[0]][0])
        later.bounds(self.layout.places[store.outs[0]][0])
        later.facts = now.facts = [*now.facts, *later.facts]
        if loop is not None and isinstance(op := self.layout.owners[loop][2], For) and isinstance(op.step, Const):
            ahead = (1 if op.step.value > 0 else -1) * (-1 if op.backward else 1)
            gap = combined(later.index(op), now.index(op), -1)
            now.facts.append(combined(combined({}, gap, ahead), {ONE: -abs(op.step.value)}))
        return not apart(spans(access, now), spans(store, later), now.facts)

    def last_with(self, access: Call) -> Value | None:
        """The last state of a buffer, if what was read or stored by an op still stands there."""
        if access not in self.stands:
            self.stands[access] = self.find_last_with(access)
        return self.stands[access]

    def find_last_with(self, access: Call) -> Value | None:
        value = access.outs[0] if ROWS[access.name].consumes else access.args[0]
        root = self.memory.find(value) if isinstance(value, Value) else None
        if root not in self.traces or len(stores := self.memory.stores[root]) > MOST:
            return None
        last = self.last(access)
        if self.memory.overwritten(last) or any(self.clash(store, access) for store, _ in stores):
            return None
        return last

    # ---------------------------------------------------------------- what a buffer comes to

    def last(self, access: Call) -> Value:
        """The last state of the buffer that an op reads or has stored to, in the block where the buffer ends."""
        value = access.outs[0] if ROWS[access.name].consumes else access.args[0]
        assert isinstance(value, Value)
        block = self.layout.places[value][0]
        trace = self.traces[self.memory.find(value)]
        value = self.end(trace, value, block)
        while block in self.layout.owners and (up := self.handed(trace, value, block)) is not None:
            block = self.layout.owners[block][0]
            value = self.end(trace, up, block)
        return value

    def end(self, trace: Trace, value: Value, block: Block) -> Value:
        """The last state in this very block."""
        if (block, value) not in self.lasts:
            found = value
            while (index := trace.moved.get((block, found))) is not None:
                after = self.after(trace, found, block.ops[index])
                if after is None:
                    break
                found = after
            self.lasts[block, value] = found
        return self.lasts[block, value]

    def after(self, trace: Trace, value: Value, op: Op) -> Value | None:
        """The state that an op makes of one that it takes over."""
        match op:
            case Call():
                return op.outs[0]
            case For() | While():
                for k in trace.slots[op]:
                    if op.inits[k] is value and self.steady(trace, op, k):
                        return op.outs[k]
            case If():
                for k in trace.slots[op]:
                    if all(self.end(trace, value, b) is b.yields[k] for b in op.blocks):
                        return op.outs[k]
        return None

    def steady(self, trace: Trace, op: For | While, k: int) -> bool:
        """Is the buffer in the same slot in each round?"""
        return self.end(trace, op.carried[k], op.body) is op.body.yields[k]

    def handed(self, trace: Trace, value: Value, block: Block) -> Value | None:
        """What a block's last state is called after the op that the block belongs to."""
        op = self.layout.owners[block][2]
        for k in trace.slots.get(op, ()):
            if block.yields[k] is value and (isinstance(op, If) or isinstance(op, For | While) and self.steady(trace, op, k)):
                return op.outs[k]
        return None


def stored_values(func: Func, layout: Layout) -> dict[Value, Call]:
    """The values that a store in their own block puts into an array as they are, each with the store."""
    found: dict[Value, Call] = {}
    extents: dict[Value, Extent] | None = None
    for op in walk(func.body):
        if not isinstance(op, Call) or op.name != "set_at" or not isinstance(value := op.args[1], Value) or value in found:
            continue
        if value not in layout.places or layout.places[value][0] is not layout.places[op.outs[0]][0] or layout.places[value][1] < 0:
            continue
        if is_basic(op.settings["index"], [a.type for a in op.args[2:]]) and ".r" not in op.settings["index"]:
            extents = known_extents(func) if extents is None else extents
            if same_content(op, value.type, extents):
                found[value] = op
    return found


def same_content(store: Call, type_: Type, extents: dict[Value, Extent]) -> bool:
    """Does reading what was stored give what was stored, in kind and shape?"""

    def extent(k: int) -> Extent:
        operand = store.args[1 + k]
        if isinstance(operand, Const):
            return operand.value if isinstance(operand.value, int) else Dim("?")
        return extents.get(operand, Dim("?"))

    read = ROWS["take"].law([store.args[0].type, *(a.type for a in store.args[2:])], {"index": store.settings["index"]}, extent)
    if isinstance(read, Array) and isinstance(type_, Array):
        return read.dtype is not None and read.dtype == type_.dtype and same_shape(read.shape, type_.shape)
    return isinstance(read, Scalar) and isinstance(type_, Scalar) and read == type_
