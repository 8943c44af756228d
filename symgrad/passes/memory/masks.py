"""Replaces boolean masks by the indices where they hold, if the backward half uses them more than once. Works in place.

``g[mask] += v`` scans the mask twice, and few of its elements usually hold. The first read by the mask stays
where the lengths are not known to agree, so that NumPy still checks them. For emission, not for
differentiation.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from symgrad.ir.core import Block, Call, Func, Op, Value, walk
from symgrad.ir.types import Array, Dim, same_shape
from symgrad.ops.declare import ROWS
from symgrad.passes.facts import Facts, halves_kept, holds
from symgrad.passes.simplification.remarks import tell

#: rows that read or write by an index: its operand position, and how often they scan a mask
USES = {"take": (1, 1), "set_at": (2, 1), "add_at": (2, 2)}
#: rows of tapes: the position among operands, or results, of the first saved value
FILLING, EMPTYING = {"push": 1, "put": 2}, {"pop": 1, "get": 0}
ENOUGH = 2


def masks(func: Func) -> Func:
    """Replace masks by indices, in place."""
    if holds(func, *USES):
        with halves_kept(func):
            _Masks(func, Facts(func)).run()
    return func


@dataclass(slots=True)
class _Masks:
    """The uses and definition of each value."""

    func: Func
    facts: Facts
    readers: dict[Value, list[Op]] = field(default_factory=dict)
    yielded: set[Value] = field(default_factory=set)

    def run(self) -> None:
        self.enter(self.func.body)
        for op in list(walk(self.func.body)):
            if isinstance(op, Call) and op.name in EMPTYING:
                for k, out in enumerate(op.outs[EMPTYING[op.name] :]):
                    if self.pays([out]):
                        self.kept(op, k)
            elif isinstance(op, Call) and len(op.outs) == 1 and op.outs[0] in self.facts.home:
                late = [r for r in self.readers.get(op.outs[0], ()) if self.is_late(r)]
                if op.outs[0] not in self.facts.late and is_mask(op.outs[0]) and self.pays([op.outs[0]], late):
                    self.replace(op.outs[0], self.indices(op, op.outs[0]), late)

    def enter(self, block: Block) -> None:
        for op in block.ops:
            for operand in dict.fromkeys(op.operands):
                if isinstance(operand, Value):
                    self.readers.setdefault(operand, []).append(op)
            for inner in op.blocks:
                self.enter(inner)
        self.yielded.update(y for y in block.yields if isinstance(y, Value))

    def is_late(self, op: Op) -> bool:
        return bool(op.outs) and op.outs[0] in self.facts.late

    def pays(self, values: list[Value], late: list[Op] | None = None) -> bool:
        """Whether these are masks that the backward half uses only as indices, and often enough."""
        count = 0
        for value in values:
            if not is_mask(value) or late is None and value in self.yielded:
                return False
            for op in self.readers.get(value, ()) if late is None else late:
                if not isinstance(op, Call) or not is_use(op, value):
                    return False
                count += USES[op.name][1]
        return count >= ENOUGH

    def kept(self, op: Call, k: int) -> None:
        """For a mask from a tape: save the indices instead, if every value saved at this position is a mask."""
        tape = self.facts.find((op.args[0], False))  # type: ignore[arg-type]
        ends = [
            o
            for o in walk(self.func.body)
            if isinstance(o, Call)
            and o.name in (*FILLING, *EMPTYING)
            and isinstance(o.args[0], Value)
            and self.facts.find((o.args[0], False)) == tape
        ]
        counts = {len(o.outs) - EMPTYING[o.name] if o.name in EMPTYING else len(o.args) - FILLING[o.name] for o in ends}
        if len(counts) > 1:
            return  # different tapes, of which one may replace the other
        outs = [o.outs[EMPTYING[o.name] + k] for o in ends if o.name in EMPTYING]
        items = [o.args[FILLING[o.name] + k] for o in ends if o.name in FILLING]
        if not self.pays(outs) or not items or not all(isinstance(i, Value) and is_mask(i) and i in self.facts.maker for i in items):
            return
        if any(not isinstance(self.facts.maker[i], Call) for i in items if isinstance(i, Value)):
            return
        indices: dict[Value, Value] = {}
        for o in ends:
            if o.name in FILLING:
                mask = o.args[FILLING[o.name] + k]
                assert isinstance(mask, Value)
                if mask not in indices:
                    indices[mask] = self.indices(self.facts.maker[mask], mask)
                    self.forward(mask, indices[mask])
                o.args[FILLING[o.name] + k] = indices[mask]
        for out in outs:
            out.type = Array("i64", (Dim("?"),), "C")
            self.replace(out, out, self.readers.get(out, []))

    def indices(self, maker: Op, mask: Value) -> Value:
        """The indices where a mask holds, computed right after it."""
        index = Value(Array("i64", (Dim("?"),), "C"), None if mask.name is None else f"{mask.name}_indices")
        block = self.facts.home[mask]
        op = Call([index], maker.loc, "flatnonzero", [mask], dict(ROWS["flatnonzero"].settings))
        block.ops.insert(block.ops.index(maker) + 1, op)
        tell(self.func.notes, maker, "its indices are computed once, since it is used more than once", mask)
        return index

    def forward(self, mask: Value, index: Value) -> None:
        """Use the indices in the forward half too, where NumPy has nothing to check."""
        for op in self.readers.get(mask, ()):
            if isinstance(op, Call) and op.name == "take" and is_use(op, mask):
                x = op.args[0].type
                if isinstance(x, Array) and isinstance(mask.type, Array) and x.shape and same_shape(x.shape[:1], mask.type.shape):
                    op.args[1] = index

    def replace(self, mask: Value, index: Value, readers: list[Op]) -> None:
        """Let ops use the indices."""
        for op in list(readers):
            assert isinstance(op, Call)
            op.args[USES[op.name][0]] = index
            if op.name == "add_at":
                op.settings = {**op.settings, "distinct": True}
            if op.name == "take" and isinstance(op.args[0].type, Array) and op.args[0].type.rank == 1:
                for asking in self.readers.get(op.outs[0], ()):
                    if isinstance(asking, Call) and asking.name == "shape_of":
                        asking.args[0] = index


def is_mask(value: Value) -> bool:
    """Whether the value is a vector of booleans."""
    return isinstance(value.type, Array) and value.type.dtype == "bool" and value.type.rank == 1


def is_use(op: Call, mask: Value) -> bool:
    """Whether the op only reads or writes the elements that the mask selects."""
    if op.name not in USES or op.settings["index"] != "i":
        return False
    place = USES[op.name][0]
    return len(op.args) == place + 1 and op.args[place] is mask and mask not in op.args[:place] and isinstance(op.args[0].type, Array)


__all__ = ["masks"]
