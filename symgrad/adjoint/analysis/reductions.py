"""Reductions among the loop-carried values of a reversed loop, and dead-store elimination of cotangent zeroing.

A value is a sum if iterations only add to it, in any order. ``cleared`` removes, in place, stores that zero a cotangent which nothing
reads again, and those that leave a cotangent unchanged. A store's reverse reads the cotangent of the stored part, then zeroes it. If
each iteration of a reversed loop reads and zeroes cells of its own, and nothing reads the cotangent after the loop, the zeroing is
removed. ``x[...] = x + v`` zeroes the cotangent and adds the same value again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from symgrad.adjoint.expand import number
from symgrad.ir.core import Block, Call, For, If, Op, Operand, Value, substitute, walk
from symgrad.ir.types import INT
from symgrad.ir.walks import remove_ops
from symgrad.ops.indexing import OPERANDS

#: rows that add to their first operand
ADDING = frozenset({"add", "accumulate", "add_at", "list_add_at"})
EITHER = frozenset({"add"})  #: those in which the sum may be the second operand as well


@dataclass(slots=True)
class Sums:
    """The reversed loops of a function; ``readers``: the ops that read a value, with their block; None: the block yields it."""

    outside: ClassVar[Op] = Op()  #: placeholder for a reader in another block
    owners: dict[Block, tuple[Block, Op]] = field(default_factory=dict)
    readers: dict[Value, list[tuple[Block, Op | None]]] = field(default_factory=dict)
    makers: dict[Operand, Op] = field(default_factory=dict)

    @classmethod
    def of(cls, block: Block) -> Sums:
        """Index a block and the blocks inside it."""
        sums = cls()
        sums.enter(block)
        return sums

    def enter(self, block: Block) -> None:
        for op in block.ops:
            self.read(op.operands, block, op)
            self.makers.update(dict.fromkeys(op.outs, op))
            for inner in op.blocks:
                self.owners[inner] = (block, op)
                self.enter(inner)
        self.read(block.yields, block, None)

    def read(self, operands: list[Operand], block: Block, op: Op | None) -> None:
        for operand in operands:
            if isinstance(operand, Value):
                self.readers.setdefault(operand, []).append((block, op))

    def is_sum(self, loop: For, k: int) -> bool:
        """Whether the iterations of a loop only add to its carried value in a slot."""
        return self.end(loop.body, loop.carried[k]) == k

    def end(self, block: Block, value: Value) -> int | None:
        """The yield index that a value reaches by additions only; None if it has other uses."""
        while True:
            readers = [reader for where, op in self.readers.get(value, ()) if (reader := self.within(block, where, op)) is not self.outside]
            if len(set(readers)) != 1:
                return None
            reader = readers[0]
            match reader:
                case None:
                    return block.yields.index(value) if len(readers) == 1 else None
                case Call() if len(readers) == 1 and reader.name in ADDING:
                    if reader.args[0] is not value and reader.name not in EITHER:
                        return None
                    value = reader.outs[0]
                case If() if reader.test is not value:
                    ends = {self.end(side, value) for side in reader.blocks}
                    if len(ends) != 1 or (k := ends.pop()) is None:
                        return None
                    value = reader.outs[k]
                case For() if len(readers) == 1 and value in reader.inits:
                    k = reader.inits.index(value)
                    if not self.is_sum(reader, k):
                        return None
                    value = reader.outs[k]
                case _:
                    return None

    def within(self, block: Block, where: Block, op: Op | None) -> Op | None:
        """The op of the block itself that is, or contains, a reader; None if the block yields the value."""
        while where is not block:
            if where not in self.owners:
                return self.outside
            where, op = self.owners[where]
        return op


# ------------------------------------------------------------------ stores that clear cotangents

READING = frozenset({"take", "take_written"})
WRITING = ("set_at", "add_at", "add_written")


def cleared(block: Block, indices: Mapping[For, Value]) -> bool:
    """Remove stores that clear cotangents from a backward half; False if there are none that may go."""
    sums = Sums.of(block)
    table: dict[Value, Operand] = {}
    for op in walk(block):
        if isinstance(op, Call) and op.name in ("accumulate", "add_at", "add_written"):
            restored(op, sums, table)
        elif isinstance(op, For) and op in indices and has_distinct_rounds(op):
            for k, out in enumerate(op.outs):
                cells = Cells(sums, indices)
                if out not in sums.readers and cells.follow(op.body, op.carried[k], [op]) == k:
                    table.update({store.outs[0]: store.args[0] for store in cells.stores})
    if table:
        remove_ops(block, {op for op in walk(block) if op.outs and op.outs[0] in table})
        substitute(block, table)
    return bool(table)


def restored(op: Call, sums: Sums, table: dict[Value, Operand]) -> None:
    """``t = take_written(g, p); set_at(g, 0, p); add_at(g, t, p)`` leaves ``g`` as it was."""
    before, added = op.args[:2]
    store, read = sums.makers.get(before), sums.makers.get(added)
    if not (isinstance(store, Call) and store.name == "set_at" and isinstance(read, Call) and read.name == "take_written"):
        return
    if store.args[0] is not read.args[0] or number(store.args[1]) != 0 or len(sums.readers[store.outs[0]]) != 1:
        return
    where = [(c.settings.get("index", "e"), *c.args[k:]) for c, k in ((store, 2), (read, 1), (op, 2))]
    same = all(len(w) == len(where[0]) and all(a is b or a == b for a, b in zip(w, where[0], strict=True)) for w in where)
    if same and getattr(added.type, "dtype", 0) == getattr(before.type, "dtype", 1):
        table[store.outs[0]] = table[op.outs[0]] = store.args[0]


def has_distinct_rounds(loop: For) -> bool:
    """Whether the loop's indices are distinct elements of an axis of any length."""
    start, stop, step = number(loop.start), number(loop.stop), number(loop.step)
    if step is None or step == 0:
        return False
    return start is not None and start >= 0 if step > 0 else stop is not None and stop >= -1


@dataclass(slots=True)
class Cells:
    """The cells of one array that each iteration of the loops around accesses: all paths have the loop's index on the same axis."""

    sums: Sums
    indices: Mapping[For, Value]
    again: bool = False  #: whether an iteration may read cells that it has written, and leave values there
    axes: dict[For, int] = field(default_factory=dict)
    stores: list[Call] = field(default_factory=list)

    def are_apart(self, loop: For, k: int) -> bool:
        """Whether different iterations of a loop access disjoint cells of one slot."""
        self.again = True
        return loop in self.indices and has_distinct_rounds(loop) and self.follow(loop.body, loop.carried[k], [loop]) == k

    def follow(self, block: Block, value: Value, loops: list[For]) -> int | None:
        """The index in the block's yields at which an array arrives whose cells are read, then written; else None."""
        first = True
        while True:
            links: list[Op | None] = []
            for where, op in self.sums.readers.get(value, ()):
                if isinstance(op, Call) and op.name in READING and op.args[0] is value:
                    if not (first or self.again) or not self.is_own(op, op.args[1:], loops):
                        return None
                elif (link := self.sums.within(block, where, op)) not in links:
                    links.append(link)
            links = [link for link in links if link is not self.sums.outside]
            if len(links) != 1:
                return None
            link = links[0]
            match link:
                case None:
                    return block.yields.index(value)
                case Call() if link.name in WRITING[: 3 if self.again else 1] and link.args[0] is value and value not in link.args[1:]:
                    if not self.is_own(link, link.args[2:], loops):
                        return None
                    self.stores.append(link)
                    value = link.outs[0]
                case If() if link.test is not value:
                    ends = {self.follow(side, value, loops) for side in link.blocks}
                    if len(ends) != 1 or (k := ends.pop()) is None:
                        return None
                    value = link.outs[k]
                case For() if link.inits.count(value) == 1 and (self.again or link in self.indices and has_distinct_rounds(link)):
                    k = link.inits.index(value)
                    if self.follow(link.body, link.carried[k], loops if self.again else [*loops, link]) != k:
                        return None
                    value = link.outs[k]
                case _:
                    return None
            first = False

    def is_own(self, op: Call, path: list[Operand], loops: list[For]) -> bool:
        """Whether the path contains the index of each of the loops, on the axis where all other paths have it."""
        positions: dict[Operand, int] = {}
        at = 0
        for axis, letter in enumerate(op.settings.get("index", "e")):
            if letter not in "is" or letter == "i" and path[at].type != INT:
                break
            if letter == "i":
                positions.setdefault(path[at], axis)
            at += OPERANDS[letter]
        return all(
            self.axes.setdefault(loop, positions.get(self.indices[loop], -1)) == positions.get(self.indices[loop], -2) for loop in loops
        )


__all__ = ["Cells", "Sums", "cleared"]
