"""Access regions: the part of an array that an op reads or writes, and whether a later store may overlap it.

Only proved disjointness counts: index paths whose integers are sums of loop indices, extents and other integers
are compared axis by axis.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from symgrad.adjoint.analysis.memory import Memory, Trace
from symgrad.ir.containers import leaf
from symgrad.ir.core import Block, Call, For, Func, If, Op, Value, While, walk
from symgrad.ir.layout import Layout
from symgrad.ir.types import Array, Scalar, Type, same_shape
from symgrad.ops.analysis.access_regions import follows_in, meet
from symgrad.ops.build import Builder, know, symbols
from symgrad.ops.declare import ROWS
from symgrad.ops.indexing import is_basic

MOST = 40  #: the maximum number of stores examined for one read


@dataclass(slots=True)
class Regions:
    """The results for one function, cached."""

    layout: Layout
    memory: Memory
    traces: dict[Value, Trace] = field(default_factory=dict)
    clashes: dict[tuple[Call, Call], bool] = field(default_factory=dict)
    stands: dict[Call, Value | None] = field(default_factory=dict)
    lasts: dict[tuple[Block, Value], Value] = field(default_factory=dict)

    def clash(self, store: Call, access: Call) -> bool:
        """Whether a store that runs after an access to the same buffer may overlap it."""
        if (store, access) not in self.clashes:
            self.clashes[store, access] = self.find_clash(store, access)
        return self.clashes[store, access]

    def find_clash(self, store: Call, access: Call) -> bool:
        home = self.layout.places[self.last(access)][0]
        late, early = (self.layout.path(self.layout.places[op.outs[0]]) for op in (store, access))
        level = 0
        while level + 1 < min(len(late), len(early)) and late[level + 1][0] is early[level + 1][0]:
            level += 1
        if follows_in(late, early, level) and meet(store, access, None, self.layout):
            return True
        owners = self.layout.owners
        start = next((k for k, (block, _) in enumerate(early) if block is home), None)
        if start is None or start > level:
            return True
        loops = [block for block, _ in early[start + 1 : level + 1] if block in owners and isinstance(owners[block][2], For | While)]
        return any(meet(store, access, block, self.layout) for block in loops)

    def last_with(self, access: Call) -> Value | None:
        """The last state of a buffer, if it still holds the value that an op read or stored."""
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

    # ---------------------------------------------------------------- last states of buffers

    def last(self, access: Call) -> Value:
        """The last state of the buffer that an op reads or has stored to, in the block where the buffer dies."""
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
            state = value
            while (index := trace.moved.get((block, state))) is not None:
                after = self.after(trace, state, block.ops[index])
                if after is None:
                    break
                state = after
            self.lasts[block, value] = state
        return self.lasts[block, value]

    def after(self, trace: Trace, value: Value, op: Op) -> Value | None:
        """The state in which an op leaves a state that it takes over."""
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
        """Whether the buffer is in the same slot in each iteration."""
        return self.end(trace, op.carried[k], op.body) is op.body.yields[k]

    def handed(self, trace: Trace, value: Value, block: Block) -> Value | None:
        """The result of the block's owner that is the block's last state."""
        op = self.layout.owners[block][2]
        for k in trace.slots.get(op, ()):
            if block.yields[k] is value and (isinstance(op, If) or isinstance(op, For | While) and self.steady(trace, op, k)):
                return op.outs[k]
        return None


#: rows that store a value, with its operand position
STORING = {"set_at": 1, "table_set": 3}


def stored_values(func: Func, layout: Layout) -> dict[Value, Call]:
    """The values that a store in their own block writes to an array unchanged, each with that store."""
    stores: dict[Value, Call] = {}
    integers: Builder | None = None
    for op in walk(func.body):
        if (
            not isinstance(op, Call)
            or op.name not in STORING
            or not isinstance(value := op.args[STORING[op.name]], Value)
            or value in stores
        ):
            continue
        if value not in layout.places or layout.places[value][0] is not layout.places[op.outs[0]][0] or layout.places[value][1] < 0:
            continue
        if op.name == "table_set":
            if isinstance(value.type, Scalar) and leaf(op.outs[0].type) == leaf(op.args[0].type) == value.type:
                stores[value] = op
        elif is_basic(op.settings["index"], [a.type for a in op.args[2:]]) and ".r" not in op.settings["index"]:
            if integers is None:
                know(integers := Builder(taken=symbols(func)), func)
            if same_content(op, value.type, integers):
                stores[value] = op
                maker = layout.op_of(value)
                if isinstance(maker, Call) and maker.name == "as_written" and isinstance(maker.args[0], Value):
                    stores.setdefault(maker.args[0], op)
    return stores


def same_content(store: Call, type_: Type, integers: Builder) -> bool:
    """Whether reading the stored cells yields the stored value, in kind and shape."""
    types = [store.args[0].type, *(a.type for a in store.args[2:])]
    read = ROWS["take"].law(types, {"index": store.settings["index"]}, integers.asked(store.args[1:]))
    if isinstance(read, Array) and isinstance(type_, Array):
        return read.dtype is not None and read.dtype == type_.dtype and same_shape(read.shape, type_.shape)
    return isinstance(read, Scalar) and isinstance(type_, Scalar) and read == type_
