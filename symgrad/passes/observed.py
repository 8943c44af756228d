"""Keeps ops that may raise though nothing reads their result: exceptions are part of the function's behaviour. Works in place.

Each such op gets a reader, the side effect ``evaluated``. This is the first pass on a lowered function; dead
code that cannot raise is left to ``dce``. Views are created anew at each read: only the view created where the
program takes the part has an ``evaluated``, put there by the frontend. It is removed where that part is read or
written to later, because that raises as well. The same holds for items of a list read from a list of lists.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from symgrad.ir.core import Apply, Block, Call, Const, For, Func, If, Op, Operand, Value, substitute, uses, walk
from symgrad.ir.types import Array
from symgrad.ops.indexing import steps
from symgrad.ops.parts import PATHS
from symgrad.ops.raising import may_raise
from symgrad.ops.sharing import applied
from symgrad.passes.dce import Marks, is_reader


def observed(func: Func) -> Func:
    """Give every op that may raise a reader.

    The reader of its result is another op that is kept, or an inserted ``evaluated``. The same is done in
    called functions: for one without results, an op that may raise counts as a side effect.
    """
    for each in [*applied(func.body)[::-1], func]:
        substitute(each.body, decided(each.body))
        marks = Marks(each)
        marks.run()
        _Observer(marks, counts=uses(each.body)).block(each.body)
    return func


def decided(body: Block) -> dict[Value, Operand]:
    """The branch results that both sides agree on: later passes replace them, and the test may then be unread."""
    table: dict[Value, Operand] = {}
    for op in walk(body):
        if isinstance(op, If):
            table |= {out: a for out, a, b in zip(op.outs, op.then.yields, op.orelse.yields, strict=True) if is_same(a, b)}
    return table


@dataclass
class _Observer:
    marks: Marks
    makers: dict[Value, Call] = field(default_factory=dict)
    rounds: dict[Value, For] = field(default_factory=dict)
    counts: dict[Value, int] = field(default_factory=dict)

    def block(self, block: Block) -> None:
        """Process the ops of a block, last first: a kept op keeps its operands."""
        for op in block.ops:
            if isinstance(op, Call):
                self.makers.update(dict.fromkeys(op.outs, op))
            if isinstance(op, For):
                self.rounds[op.index] = op
        ops: list[Op] = []
        for op in reversed(block.ops):
            for inner in op.blocks:
                self.block(inner)
            if is_reader(op) and self.is_idle(op, ops):
                continue
            if isinstance(op, Call | Apply) and op.outs and op not in self.marks.kept:
                if isinstance(op, Apply) or op.name != "view" and self.raises(op, ops):
                    reader = Call([], op.loc, "evaluated", [op.outs[0]])
                    self.marks.also(reader, self.marks.parent[op])
                    ops.append(reader)
                elif op.name == "view" and not self.counts.get(op.outs[0]):
                    continue  # removed at once, so that later reads of the part raise instead
            ops.append(op)
        block.ops = ops[::-1]

    def is_idle(self, reader: Call, later: list[Op]) -> bool:
        """Whether evaluating the value there is unnecessary."""
        (value,) = reader.args
        maker = self.makers.get(value) if isinstance(value, Value) else None
        if maker is None or self.raises(maker, later):
            return False
        self.counts[maker.outs[0]] -= 1
        if not self.counts[maker.outs[0]]:
            self.marks.kept.discard(maker)
        return True

    def raises(self, op: Call, later: list[Op]) -> bool:
        """Whether the op may raise, and no later op raises in its place."""
        if not may_raise(op, self.makers, self.rounds):
            return False
        if op.name not in ("view", "list_take"):
            return True
        is_same_part = is_part_of if op.name == "view" else is_of_item
        following = (inner for after in reversed(later) for inner in (after, *(o for b in after.blocks for o in walk(b))))
        return not any(inner in self.marks.kept and is_same_part(inner, op) for inner in following)


def is_part_of(op: Op, view: Call) -> bool:
    """Whether an op accesses the part that a view selects, or a part of that, in an array of the same shape."""
    if not isinstance(op, Call) or op.name not in PATHS or not has_shape_of(op.args[0], view.args[0]):
        return False
    path, own = steps(op.settings["index"]), steps(view.settings["index"])
    operands, places = op.args[PATHS[op.name] :], view.args[PATHS["view"] :]
    return path[: len(own)] == own and all(is_same(a, b) for a, b in zip(operands, places))


def is_of_item(op: Op, read: Call) -> bool:
    """Whether an op reads or stores a number in the list at the same index of the same list."""
    return isinstance(op, Call) and op.name in ("table_take", "table_set") and all(map(is_same, op.args[:2], read.args))


def has_shape_of(a: Operand, b: Operand) -> bool:
    """Whether the two arrays have one shape."""
    return isinstance(a.type, Array) and isinstance(b.type, Array) and a.type.shape is not None and a.type.shape == b.type.shape


def is_same(a: Operand, b: Operand) -> bool:
    """Whether two operands are the same value or equal constants."""
    return a is b or isinstance(a, Const) and isinstance(b, Const) and a.key() == b.key()


__all__ = ["observed"]
