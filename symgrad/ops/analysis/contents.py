"""table: the contents of a function (loops, stores, tapes, ...), by which the runner skips passes that have nothing to do.

A function is scanned once for all passes; rare contents are looked for on demand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from symgrad.ir.core import Apply, Block, Call, For, Func, If, Op, Value, While
from symgrad.ir.types import Array
from symgrad.ops.rows.implicit import PULLED_BACK

#: the number of ops in a chain from which tiling pays
CHAIN = 8

#: the kinds of constructs, by the word in ``Pass.needs``
CONTENTS: dict[str, str] = {
    "loops": "a loop",
    "branches": "a branch",
    "reversed branches": "a branch of the backward half",
    "batches": "a loop over the examples of a batch",
    "known arrays in loops": "an array in a loop whose extents are all known",
    "extremes": "the largest or smallest element of an array",
    "stores": "a store to a part of an array",
    "additions": "an addition to a part of an array",
    "parts": "a part of an array that is read as an array or a number of its own",
    "parts in loops": "the same in a loop",
    "cells in loops": "an element that is read as a Python number, or a store or addition to a part, in a loop",
    "cell lists": "a list that replaces an array",
    "lists": "a list of given items",
    "products": "an outer product, or the cotangent of a factor of a product of matrices",
    "failures": "a question whether an operation raises",
    "sorts": "an array that is sorted",
    "tapes": "a tape that something is put on",
    "tapes in loops": "a tape that is made in a loop",
    "chains": "as many ops outside of loops and branches as make a chain",
    "calls": "a call of a function of the program",
    "custom derivatives": "a derivative that the user wrote, or one of the solution of an equation",
    "checkpoints": "a mark around what is to run again",
    "remarks": "somebody who is told what passes decide",
}

#: the rows that show a kind of construct, anywhere
ROWS_OF: dict[str, frozenset[str]] = {
    "extremes": frozenset({"max", "min"}),
    "stores": frozenset({"set_at"}),
    "additions": frozenset({"add_at"}),
    "parts": frozenset({"take"}),
    "cell lists": frozenset({"to_list", "array_of_cells", "array_of_lists"}),
    "lists": frozenset({"list_of"}),
    "products": frozenset({"dot_left", "dot_right", "matmul_left", "matmul_right", "outer"}),
    "failures": frozenset({"failure"}),
    "sorts": frozenset({"sort"}),
    "tapes": frozenset({"push", "put"}),
    "custom derivatives": frozenset({"custom", "held", "custom_backward"}) | PULLED_BACK,
    "checkpoints": frozenset({"checkpoint_begin", "checkpoint_end"}),
}
#: the same, in a loop
ROWS_IN_LOOPS: dict[str, frozenset[str]] = {
    "parts in loops": frozenset({"take"}),
    "cells in loops": frozenset({"item", "set_at", "add_at"}),
    "tapes in loops": frozenset({"tape", "slots"}),
}


def holds_any(func: Func, *words: str) -> bool:
    """Whether a function contains a construct of one of these kinds."""
    return Contents.of(func).holds_any(words)


@dataclass(slots=True)
class Contents:
    """The constructs found by one walk over a function."""

    func: Func
    rows: set[str] = field(default_factory=set)
    rows_in_loops: set[str] = field(default_factory=set)
    others: set[str] = field(default_factory=set)  #: words that are not about rows

    @staticmethod
    def of(func: Func) -> Contents:
        """The contents of a function in its present state."""
        contents = Contents(func)
        if func.notes is not None:
            contents.others.add("remarks")
        if sum(isinstance(op, Call) for op in func.body.ops) >= CHAIN:
            contents.others.add("chains")
        contents.enter(func.body)
        return contents

    def enter(self, body: Block) -> None:
        """Walk all blocks, without recursion: programs may be deep."""
        pending = [(body, False)]
        while pending:
            block, looped = pending.pop()
            rows = self.rows_in_loops if looped else self.rows
            for op in block.ops:
                if isinstance(op, Call):
                    rows.add(op.name)
                elif isinstance(op, Apply):
                    self.others.add("calls")
                elif op.blocks:
                    self.note(op)
                    pending += [(inner, looped or isinstance(op, For | While)) for inner in op.blocks]

    def note(self, op: Op) -> None:
        """Record a loop or a branch."""
        if isinstance(op, If):
            self.others.add("branches")
            if op.loc.backward:
                self.others.add("reversed branches")
        elif isinstance(op, For | While):
            self.others.add("loops")
            if isinstance(op, For) and op.batch:
                self.others.add("batches")

    def holds_any(self, words: Iterable[str]) -> bool:
        """Whether the function contains a construct of one of these kinds."""
        return any(self.holds(word) for word in words)

    def holds(self, word: str) -> bool:
        """Whether the function contains a construct of this kind."""
        if word in ROWS_OF:
            return not (self.rows.isdisjoint(ROWS_OF[word]) and self.rows_in_loops.isdisjoint(ROWS_OF[word]))
        if word in ROWS_IN_LOOPS:
            return not self.rows_in_loops.isdisjoint(ROWS_IN_LOOPS[word])
        if word == "known arrays in loops":
            return "loops" in self.others and any(map(is_known, defined_in_loops(self.func.body)))
        return word in self.others


def is_known(value: Value) -> bool:
    """Whether the value is an array whose extents are all static."""
    shape = value.type.shape if isinstance(value.type, Array) else None
    return bool(shape) and all(isinstance(extent, int) for extent in shape or ())


def defined_in_loops(body: Block) -> Iterator[Value]:
    """The values defined in loops."""
    pending = [(body, False)]
    while pending:
        block, looped = pending.pop()
        if looped:
            yield from block.args
        for op in block.ops:
            if looped:
                yield from op.outs
            pending += [(inner, looped or isinstance(op, For | While)) for inner in op.blocks]


__all__ = ["CHAIN", "CONTENTS", "Contents", "holds_any"]
