"""Dead-store elimination of cotangent zeroing: removes stores that clear unread cotangents or leave a cotangent unchanged.

Works in place. The cotangent of a stored value is read and then cleared. Where each iteration of a reversed
loop reads and clears cells of its own, and nothing reads the cotangent after the loop, it need not be cleared.
``x[...] = x + v`` clears the cotangent and adds the same back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from symgrad.adjoint.expand import number
from symgrad.adjoint.sums import Sums
from symgrad.ir.core import Block, Call, For, If, Op, Operand, Value, substitute, walk
from symgrad.ir.types import INT
from symgrad.ops.indexing import OPERANDS

READING = frozenset({"take", "take_written"})
WRITING = ("set_at", "add_at", "add_written")


def cleared(block: Block, indices: Mapping[For, Value]) -> bool:
    """Remove dead clearing stores from a backward half; False if there are none."""
    sums = Sums.of(block)
    table: dict[Value, Operand] = {}
    for op in walk(block):
        if isinstance(op, Call) and op.name in ("accumulate", "add_at", "add_written"):
            restored(op, sums, table)
        elif isinstance(op, For):
            for k, out in enumerate(op.outs):
                if out not in sums.readers and op in indices and has_distinct_rounds(op):
                    cells = Cells(sums, indices)
                    if cells.follow(op.body, op.carried[k], [op]) == k:
                        table.update({store.outs[0]: store.args[0] for store in cells.stores})
    if table:
        remove(block, set(table))
        substitute(block, table)
    return bool(table)


def remove(block: Block, gone: set[Value]) -> None:
    """Remove the ops that define these values."""
    for op in block.ops:
        for inner in op.blocks:
            remove(inner, gone)
    block.ops = [op for op in block.ops if not (op.outs and op.outs[0] in gone)]


def restored(op: Call, sums: Sums, table: dict[Value, Operand]) -> None:
    """Match ``t = take_written(g, p); set_at(g, 0, p); add_at(g, t, p)``, which leaves ``g`` unchanged."""
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
    """Whether the loop's indices are distinct places of an axis, whatever its length."""
    start, stop, step = number(loop.start), number(loop.stop), number(loop.step)
    if step is None or step == 0:
        return False
    return start is not None and start >= 0 if step > 0 else stop is not None and stop >= -1


@dataclass(slots=True)
class Cells:
    """The cells of one array that each iteration of the enclosing loops accesses: each loop's index is on the same axis in all paths."""

    sums: Sums
    indices: Mapping[For, Value]
    again: bool = False  #: may an iteration read a cell that it has written, and leave a value there?
    axes: dict[For, int] = field(default_factory=dict)
    stores: list[Call] = field(default_factory=list)

    def are_apart(self, loop: For, k: int) -> bool:
        """Whether different iterations of a loop access different cells in one slot."""
        self.again = True
        return loop in self.indices and has_distinct_rounds(loop) and self.follow(loop.body, loop.carried[k], [loop]) == k

    def follow(self, block: Block, value: Value, loops: list[For]) -> int | None:
        """The yield index of an array whose cells are read and then written; None if it has other uses."""
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
        """Whether the path has the index of each loop on the axis where all other paths have it."""
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


__all__ = ["Cells", "cleared"]
