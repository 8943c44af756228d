"""Array contraction: drops the loop's axis from arrays that one loop alone uses, where each iteration needs its own part only.

An array without axes left becomes a scalar. Also forwards stores to loads of the same element. Works in place.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from symgrad.ir.core import Block, Call, For, Op, Operand, Value, key_of, walk
from symgrad.ir.types import Array, Scalar
from symgrad.loops.accesses import stored_to
from symgrad.loops.uses import Uses
from symgrad.loops.writer import Writer, scalar

Keys = tuple[object, ...]
#: dtypes of Python numbers
WIDE = frozenset({"f64", "i64", "bool", "c128"})


def array_contraction(block: Block, writer: Writer) -> None:
    """Contract the arrays of a block and of all blocks inside it."""
    forwarded(block)
    uses = Uses(block)
    for op in [*block.ops]:
        if isinstance(op, Call) and op.name == "empty" and op.outs and not uses.escapes(op.outs[0]):
            Contraction(op, writer, uses).run()
    forwarded(block)
    drop_unread(block)
    for op in block.ops:
        for inner in op.blocks:
            array_contraction(inner, writer)


# ------------------------------------------------------------------ forwarding


def forwarded(block: Block) -> None:
    """Forward stored and loaded values to later loads of the same element, in a block and all inside it."""
    written: dict[Op, set[Value]] = {}
    note_written(block, written)
    running = {op.args[0] for op in walk(block) if isinstance(op, Call) and op.name == "let"}
    Forwarding(running, written).block(block, {})


def note_written(block: Block, written: dict[Op, set[Value]]) -> set[Value]:
    """Record the handles that loops and branches store to; return those that the block stores to."""
    handles: set[Value] = set()
    for op in block.ops:
        if (handle := stored_to(op)) is not None:
            handles.add(handle)
        if op.blocks:
            written[op] = set().union(*(note_written(inner, written) for inner in op.blocks))
            handles |= written[op]
    return handles


@dataclass
class Forwarding:
    """One forwarding walk."""

    running: set[Operand]  #: the running numbers, which ops change
    written: dict[Op, set[Value]]  #: the handles that each loop and branch stores to
    table: dict[Operand, Operand] = field(default_factory=dict)  #: replacements of loads

    def block(self, block: Block, known: dict[Value, dict[Keys, Operand]]) -> None:
        """Process a block; ``known`` is the known content of memory at its start."""
        table = self.table
        kept: list[Op] = []
        for op in block.ops:
            if table:
                op.replace_operands([table.get(o, o) for o in op.operands])
            if isinstance(op, Call):
                if op.name == "take" and isinstance(op.args[0], Value) and set(op.settings["index"]) <= {"i"}:
                    place = tuple(map(key_of, op.args[1:]))
                    operand = known.get(op.args[0], {}).get(place)
                    if operand is not None:
                        table[op.outs[0]] = operand
                        continue
                    if self.running.isdisjoint(op.args[1:]):
                        known.setdefault(op.args[0], {})[place] = op.outs[0]
                elif op.name == "set_at":
                    store(op, known)
                elif (handle := stored_to(op)) is not None:
                    known.pop(handle, None)
            else:
                written = self.written.get(op, set())
                for handle in [h for h in known if h in written]:
                    del known[handle]
                for inner in op.blocks:
                    self.block(inner, {h: dict(k) for h, k in known.items()})
            kept.append(op)
        block.ops = kept
        if table:
            block.yields = [table.get(y, y) for y in block.yields]


def store(op: Call, known: dict[Value, dict[Keys, Operand]]) -> None:
    """Record the content that a store leaves in memory, in the array's dtype."""
    handle, value, *index = op.args
    assert isinstance(handle, Value)
    cells = known.setdefault(handle, {})
    cells.clear()
    if (
        isinstance(handle.type, Array)
        and handle.type.dtype is not None
        and (value.type == scalar(handle.type.dtype) or is_exact(value, handle.type.dtype))
    ):
        cells[tuple(map(key_of, index))] = value


def is_exact(value: Operand, dtype: str) -> bool:
    """Whether the array would hold the Python number unchanged."""
    kind, own = getattr(value.type, "kind", None), getattr(value.type, "dtype", "")
    return dtype == "f64" and kind == "float" and own in (None, "any")


# ------------------------------------------------------------------ contraction


@dataclass
class Contraction:
    """The contraction of one array, created by ``op``."""

    op: Call
    writer: Writer
    uses: Uses

    def run(self) -> None:
        handle = self.op.outs[0]
        loop = self.only_loop(None, handle)
        while loop is not None:
            indices = [access.index for _, access in self.uses.accesses(handle)]
            rank = len(self.op.args)
            if any(index is None for index in indices):
                return
            axis = next((k for k in range(rank) if all(index is not None and index[k] is loop.index for index in indices)), None)
            if axis is None:
                return
            self.drop(handle, axis)
            self.writer.scratch.setdefault(handle, []).append(loop)
            del self.op.args[axis]
            shape = handle.type.shape if isinstance(handle.type, Array) else None
            assert isinstance(handle.type, Array)
            assert shape is not None
            handle.type = Array(handle.type.dtype, shape[:axis] + shape[axis + 1 :], "C")
            if not self.op.args:
                self.number(loop, handle)
                return
            loop = self.only_loop(loop, handle)

    def only_loop(self, owner: Op | None, handle: Value) -> For | None:
        """The one loop that contains all uses of the array, if there is one."""
        users = list(self.uses.inside(owner, self.uses.of(handle)))
        return users[0] if len(users) == 1 and isinstance(users[0], For) and users[0] in self.writer.nests else None

    def drop(self, handle: Value, axis: int) -> None:
        """Remove an axis from every index."""
        for op in self.uses.of(handle):
            if isinstance(op, Call) and op.args[0] is handle and op.name in ("take", "set_at", "add_at"):
                first = 1 if op.name == "take" else 2
                del op.args[first + axis]
                op.settings = {**op.settings, "index": "i" * (len(op.args) - first)}

    def number(self, loop: For, handle: Value) -> None:
        """Turn an array without axes into a running number, which begins at its first store."""
        assert isinstance(handle.type, Array)
        assert handle.type.dtype is not None
        users = self.uses.inside(loop, (op for op, _ in self.uses.accesses(handle)))
        first = next((op for op in loop.body.ops if op in users), None)
        if not (isinstance(first, Call) and first.name == "set_at"):
            return
        running = Value(scalar(handle.type.dtype), handle.name)
        for op in self.uses.of(handle):
            if isinstance(op, Call) and op.args[0] is handle:
                self.uses.replace(op, as_number(op, running, op is first))
        self.uses.replace(self.op, [])


def as_number(op: Call, running: Value, begin: bool) -> list[Op]:
    """Rewrite an access of an array without axes to a number: a store becomes ``let``, a load the number itself."""
    if op.name == "take":
        return [Call([op.outs[0]], op.loc, "positive", [running], {"via": None})]
    if op.name == "set_at":
        return assign_converted(op, running, op.args[1], begin)
    total = Value(running.type)
    if isinstance(op.args[1].type, Scalar) and op.args[1].type.dtype == "f64":
        total.type = op.args[1].type
    add = Call([total], op.loc, "add", [running, op.args[1]], {"via": None})
    return [add, *assign_converted(op, running, total, begin)]


def assign_converted(op: Call, running: Value, value: Operand, begin: bool) -> list[Op]:
    """Assign to a running number, converted as storing to the array would."""
    assert isinstance(running.type, Scalar)
    dtype, own = running.type.dtype, value.type
    if own == running.type or isinstance(own, Scalar) and own.kind == running.type.kind and own.dtype in (None, "any") and dtype in WIDE:
        return [Call([], op.loc, "let", [running, value], {"begin": begin})]
    held = Value(running.type)
    return [Call([held], op.loc, "cast", [value], {"dtype": dtype}), Call([], op.loc, "let", [running, held], {"begin": begin})]


# ------------------------------------------------------------------ dead stores


def drop_unread(block: Block) -> None:
    """Remove new arrays without reads."""
    uses = Uses(block)
    for op in [*block.ops]:
        if isinstance(op, Call) and op.name in ("empty", "zeros") and op.outs:
            handle = op.outs[0]
            if not uses.escapes(handle) and all(a.writes and a.index is not None for _, a in uses.accesses(handle)):
                for store in [op, *uses.of(handle)]:
                    uses.replace(store, [])
