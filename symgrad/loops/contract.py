"""Makes arrays smaller that only one loop uses: what each round writes and reads of them needs no axis for the rounds.

An array of which nothing is left is a number. An element that was just stored is not read back. Works in place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from symgrad.ir.core import Block, Call, For, Op, Operand, Value, substitute, walk
from symgrad.ir.types import INT, Array
from symgrad.loops.accesses import own_accesses, summary
from symgrad.loops.writer import Writer, key_of, scalar

Keys = tuple[object, ...]


def contract(block: Block, writer: Writer) -> None:
    """Contract the arrays of a block and of all inside it."""
    forward(block, {}, running_numbers(block))
    for op in [*block.ops]:
        if isinstance(op, Call) and op.name == "empty" and op.outs and not escapes(op.outs[0], block):
            Contraction(op, block, writer).run()
    forward(block, {}, running_numbers(block))
    drop_unread(block)
    for op in block.ops:
        for inner in op.blocks:
            contract(inner, writer)


# ------------------------------------------------------------------ forwarding


def running_numbers(block: Block) -> set[Operand]:
    """The numbers that ops of a block change."""
    return {op.args[0] for op in walk(block) if isinstance(op, Call) and op.name == "let"}


def forward(block: Block, known: dict[Value, dict[Keys, Operand]], running: set[Operand]) -> None:
    """Replace reads of what was just stored or read, in a block and all inside it; ``known`` is what memory holds when it begins."""
    table: dict[Value, Operand] = {}
    kept: list[Op] = []
    for op in block.ops:
        op.replace_operands([table.get(o, o) if isinstance(o, Value) else o for o in op.operands])
        if isinstance(op, Call) and op.name == "take" and isinstance(op.args[0], Value) and set(op.settings["index"]) <= {"i"}:
            found = known.get(op.args[0], {}).get(tuple(map(key_of, op.args[1:])))
            if found is not None:
                table[op.outs[0]] = found
                continue
            if running.isdisjoint(op.args[1:]):
                known.setdefault(op.args[0], {})[tuple(map(key_of, op.args[1:]))] = op.outs[0]
        kept.append(op)
        if isinstance(op, Call) and op.name == "set_at":
            store(op, known)
        elif isinstance(op, Call):
            for access in summary(op).accesses:
                if access.writes:
                    known.pop(access.handle, None)
        else:
            written = summary(op).written
            inside = {h: dict(k) for h, k in known.items() if h not in written}
            for inner in op.blocks:
                substitute(inner, table)
                forward(inner, {h: dict(k) for h, k in inside.items()}, running)
            for handle in written:
                known.pop(handle, None)
    block.ops = kept
    block.yields = [table.get(y, y) if isinstance(y, Value) else y for y in block.yields]


def store(op: Call, known: dict[Value, dict[Keys, Operand]]) -> None:
    """Note what a store leaves in memory, in the dtype that it has there."""
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
    """Is a Python number what the array would hold?"""
    kind, own = getattr(value.type, "kind", None), getattr(value.type, "dtype", "")
    return dtype == "f64" and kind == "float" and own in (None, "any", "f64")


# ------------------------------------------------------------------ axes that fall away


@dataclass
class Contraction:
    """One array, made by ``op`` in ``block``."""

    op: Call
    block: Block
    writer: Writer

    def run(self) -> None:
        handle = self.op.outs[0]
        loop = self.only_loop(self.block, handle)
        while loop is not None:
            accesses = [a for a in summary(loop).accesses if a.handle is handle]
            if any(a.index is None for a in accesses):
                return
            rank = len(self.op.args)
            axis = next((k for k in range(rank) if all(a.index is not None and a.index[k] is loop.index for a in accesses)), None)
            if axis is None:
                return
            self.drop(loop.body, handle, axis)
            self.writer.scratch.setdefault(handle, []).append(loop)
            del self.op.args[axis]
            shape = handle.type.shape if isinstance(handle.type, Array) else None
            assert isinstance(handle.type, Array)
            assert shape is not None
            handle.type = Array(handle.type.dtype, shape[:axis] + shape[axis + 1 :], "C")
            if not self.op.args:
                self.number(loop.body, handle)
                return
            loop = self.only_loop(loop.body, handle)

    def only_loop(self, block: Block, handle: Value) -> For | None:
        """The one loop in which the array is used, if there is one."""
        users = [op for op in block.ops if op is not self.op and handle in summary(op).touched | summary(op).used]
        return users[0] if len(users) == 1 and isinstance(users[0], For) and users[0] in self.writer.nests else None

    def drop(self, block: Block, handle: Value, axis: int) -> None:
        """Leave an axis out of every index."""
        for op in block.ops:
            if isinstance(op, Call) and op.args and op.args[0] is handle and op.name in ("take", "set_at", "add_at"):
                first = 1 if op.name == "take" else 2
                del op.args[first + axis]
                op.settings = {**op.settings, "index": "i" * (len(op.args) - first)}
            for inner in op.blocks:
                self.drop(inner, handle, axis)

    def number(self, body: Block, handle: Value) -> None:
        """An array without axes is a running number, which begins where it is stored first."""
        assert isinstance(handle.type, Array)
        assert handle.type.dtype is not None
        users = [op for op in body.ops if handle in summary(op).touched]
        first = users[0] if users else None
        if not (isinstance(first, Call) and first.name == "set_at"):
            return
        made = Value(scalar(handle.type.dtype), handle.name)
        self.rename(body, handle, made, first)
        self.block.ops.remove(self.op)

    def rename(self, block: Block, handle: Value, made: Value, first: Call) -> None:
        """Stores become ``let``, reads the number itself."""
        ops: list[Op] = []
        table: dict[Value, Operand] = {}
        for op in block.ops:
            if isinstance(op, Call) and op.args and op.args[0] is handle:
                if op.name == "take":
                    now = Call([op.outs[0]], op.loc, "positive", [made], {"via": None})
                    ops.append(now)
                    continue
                value = op.args[1]
                if op.name == "add_at":
                    total = Value(made.type)
                    ops.append(Call([total], op.loc, "add", [made, value], {"via": None}))
                    value = total
                ops.append(Call([], op.loc, "let", [made, value], {"begin": op is first}))
                continue
            for inner in op.blocks:
                self.rename(inner, handle, made, first)
            ops.append(op)
        block.ops = ops
        substitute(block, table)


def escapes(handle: Value, block: Block) -> bool:
    """Is the array handed on by a block, or read as a whole?"""
    if any(y is handle for y in block.yields):
        return True
    return any(a.handle is handle and a.index is None for op in inner_ops(block) for a in own_accesses(op) if not borrows(op))


#: ops that look at whole arrays, or store to them, without keeping them
BORROWS = frozenset(
    {"product_into", "add_product", "inverse_into", "cofactors_into", "triangular_into", "determinant", "view"}
    | {f"product_at{places}" for places in (1, 2, 3)}
)


def borrows(op: Op) -> bool:
    """Does the op look at whole arrays without keeping them?  Views are looked through at once."""
    return isinstance(op, Call) and op.name in BORROWS


def inner_ops(block: Block) -> Iterator[Op]:
    """The ops of a block and of all inside it; what inner blocks hand on counts as read by an op of theirs."""
    for op in block.ops:
        yield op
        for inner in op.blocks:
            yield Call([], op.loc, "let", [Value(INT), *inner.yields], {})
            yield from inner_ops(inner)


# ------------------------------------------------------------------ what nobody reads


def drop_unread(block: Block) -> None:
    """Remove new arrays that are only stored to."""
    for op in [*block.ops]:
        if isinstance(op, Call) and op.name in ("empty", "zeros") and op.outs:
            handle = op.outs[0]
            if escapes(handle, block):
                continue
            accesses = [a for other in block.ops for a in summary(other).accesses if a.handle is handle]
            if all(a.writes and a.index is not None for a in accesses):
                remove(block, handle)


def remove(block: Block, handle: Value) -> None:
    block.ops = [op for op in block.ops if not (handle in op.outs or isinstance(op, Call) and op.args and op.args[0] is handle)]
    for op in block.ops:
        for inner in op.blocks:
            remove(inner, handle)
