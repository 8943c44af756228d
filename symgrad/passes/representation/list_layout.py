"""List-layout propagation: lists stay lists between loops where only single cells are accessed. Works in place.

d = np.array(d)                 ->      d[n] += u[n]
d[n] += u[n]
d = d.tolist()
"""

from __future__ import annotations

from symgrad.ir.core import Block, Call, Func, Operand, Value, substitute
from symgrad.ir.types import Array
from symgrad.ops.declare import ROWS
from symgrad.ops.rows.cells import nested
from symgrad.passes.facts import Places, halves_kept, holds
from symgrad.passes.representation.array_to_list import STORES, indices, is_cell, only_floats
from symgrad.passes.simplification.remarks import tell

#: rows that create an array from a list, or zeros that may begin as a list
MAKING = frozenset({"array_of_cells", "array_of_lists", "zeros_of"})


def list_layout(func: Func) -> Func:
    """Keep arrays as lists between loops, in place."""
    if holds(func, "to_list", "array_of_cells", "array_of_lists"):
        with halves_kept(func):
            _Between(func).block(func.body)
        only_floats(func.body)
    return func


class _Between:
    """One walk through a function."""

    def __init__(self, func: Func) -> None:
        self.func = func
        self.places = Places.of(func)

    def block(self, block: Block) -> None:
        table: dict[Value, Operand] = {}
        for op in block.ops:
            for inner in op.blocks:
                self.block(inner)
            if isinstance(op, Call) and op.name in MAKING and getattr(op.outs[0].type, "dtype", None) == "f64":
                self.array(op, block, table)
        if table:
            block.ops = [op for op in block.ops if not (op.outs and op.outs[0] in table)]
            substitute(self.func.body, table)

    def array(self, root: Call, block: Block, table: dict[Value, Operand]) -> None:
        """Let one array stay a list, or become one."""
        chain = self.chain(root, block)
        if chain is None:
            return
        stores, reads, last = chain
        source, type_ = root.args[0], root.outs[0].type
        assert isinstance(source, Value)
        assert isinstance(type_, Array)
        rank = type_.rank
        if root.name == "zeros_of":
            if last is None or rank != 1:
                return
            root.name, root.settings, root.outs[0].type = "zeros_list", {}, nested(1)
        elif not (self.is_read_only(source) if last is None and not stores else self.places.readers[source] == [root]):
            return
        else:
            table[root.outs[0]] = source
        tell(self.func.notes, root, "stays a list between loops, which read and write only its elements", root.outs[0])
        for op in reads:
            op.name, op.settings = f"cell{rank}", dict(ROWS[f"cell{rank}"].settings)
        for op in stores:
            op.args = [*op.args[:2], *indices(op)]
            op.name, op.settings, op.outs[0].type = f"{STORES[op.name]}{rank}", {}, nested(rank or 1)
        if last is not None:
            table[last.outs[0]] = last.args[0]

    def chain(self, root: Call, block: Block) -> tuple[list[Call], list[Call], Call | None] | None:
        """The stores to an array in its own block, its reads, and the final op that turns it into a list; None if it has other uses."""
        stores: list[Call] = []
        reads: list[Call] = []
        current, last = root.outs[0], None
        while True:
            following: Call | None = None
            if current in self.places.yielded or last is not None:
                return None
            for op in self.places.readers.get(current, ()):
                rank = current.type.rank if isinstance(current.type, Array) else 0
                if not isinstance(op, Call) or op.args[0] is not current or current in op.args[1:]:
                    return None
                if op.name == "item" and is_cell(op, rank or 0):
                    reads.append(op)
                    continue
                if self.places.above[op][0] is not block or following is not None:
                    return None
                if op.name != "to_list" and not (op.name in STORES and is_cell(op, rank or 0)):
                    return None
                following = op
            if following is None:
                return (stores, reads, None) if reads and not stores else None
            if following.name == "to_list":
                return stores, reads, following
            stores.append(following)
            current = following.outs[0]

    def is_read_only(self, value: Value) -> bool:
        """Whether a list is never written to, so that it may be read instead of an array made from it."""
        return value not in self.places.yielded and all(
            isinstance(op, Call) and (op.name in MAKING or op.name.startswith("cell")) for op in self.places.readers.get(value, ())
        )


__all__ = ["list_layout"]
