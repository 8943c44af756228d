"""Ops of a backward half that are the same for all seeds: computed once, before the loop over the rows or columns of a Jacobian.

Ops outside loops are moved (``common``). In loops whose iterations have numbers, expensive ops are distributed into a loop of their own,
which saves their results on a tape with a slot for each iteration (``distributed``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from symgrad.adjoint.analysis.memory import Memory
from symgrad.adjoint.saving.costs import Costs
from symgrad.ir.core import ONE, Block, Call, Const, For, Func, Op, Operand, Value, clone_block, invariant_ops, operands_within, substitute
from symgrad.ir.layout import Layout
from symgrad.ir.types import Array, Scalar, ShapeOf, Tape, is_complex
from symgrad.ops.build import Builder
from symgrad.ops.declare import ROWS, USER_ROWS


def common(block: Block) -> list[Op]:
    """Remove the ops that do not depend on the arguments of a block; only those whose results get memory that nothing writes to."""
    stores = stores_of(block)
    chosen = set(invariant_ops(block, {*block.args}, stores.may_move).values())
    moved = [op for op in block.ops if isinstance(op, Call) and op in chosen]
    block.ops = [op for op in block.ops if not isinstance(op, Call) or op not in chosen]
    return list(moved)


def distributed(block: Block, builder: Builder, costs: Costs) -> None:
    """Append loops that compute the values that are the same for all arguments of ``block``; the block reads their tapes. In place.

    ``block`` itself holds no such op any more: see ``common``.
    """
    varying = {*block.args, *(out for op in block.ops for out in op.outs)}
    work = Distribution(builder, costs, stores_of(block))
    for op in block.ops:
        if isinstance(op, For):
            work.loop(op, varying)


@dataclass(frozen=True, slots=True)
class Stores:
    """The memory of a block, which decides which ops may move."""

    memory: Memory

    def may_move(self, op: Call) -> bool:
        """Whether the op has the same result at any position, in memory that nothing writes to."""
        return is_repeatable(op) and not any(self.memory.find(out) in self.memory.stores for out in op.outs)


def stores_of(block: Block) -> Stores:
    """The memory that a block writes to."""
    layout = Layout()
    layout.enter(block)
    return Stores(Memory.of(Func("once", block), layout))


def is_repeatable(op: Call) -> bool:
    """Whether the op has the same result at any position."""
    row = ROWS[op.name]
    numbers = bool(op.outs) and all(isinstance(out.type, Array | Scalar | ShapeOf) for out in op.outs)
    return numbers and not (row.effect or row.statement or row.consumes or op.name in USER_ROWS)


@dataclass(frozen=True, slots=True)
class Distribution:
    """Distributes the loops of one block."""

    builder: Builder
    costs: Costs
    stores: Stores

    def loop(self, loop: For, varying: set[Value]) -> Value | None:
        """Append the loop that computes the expensive fixed values of a loop; return their tape, or None where there are none.

        The loops in this loop are distributed too: their tapes are values of its iterations.
        """
        count = self.slots(loop)
        if count is None or not varying.isdisjoint((loop.start, loop.stop)):
            return None
        varying.update(loop.carried)
        fixed = set(invariant_ops(loop.body, varying, self.stores.may_move).values())
        first = Block([loop.index])
        items: list[Value] = []
        chosen: set[Op] = set()
        for op in loop.body.ops:
            if isinstance(op, For):
                inner = Block()
                with self.builder.inside(inner):
                    tape = self.loop(op, varying)
                if tape is not None:
                    first.ops += inner.ops
                    items.append(tape)
            elif isinstance(op, Call) and op in fixed:
                first.ops.append(op)
                if self.is_expensive(op):
                    chosen.add(op)
                    items += op.outs
        if not items:
            return None
        with self.builder.at(loop.loc):
            return self.moved(loop, first, self.read(loop, items, chosen), count)

    def slots(self, loop: For) -> tuple[Operand, int] | None:
        """The number of slots of a loop's iterations as a number that is to be increased; None where its indices do not begin at 0."""
        start, stop, step = (o.value if isinstance(o, Const) else None for o in (loop.start, loop.stop, loop.step))
        if loop.until or loop.batch:
            return None
        if step == 1 and start == 0:
            return loop.stop, 0
        return (loop.start, 1) if step == -1 and stop == -1 else None

    def is_expensive(self, op: Call) -> bool:
        """Whether computing the op costs more than writing and reading a slot."""
        types = [out.type for out in op.outs]
        known = all(isinstance(t, Scalar) or isinstance(t, Array) and t.shape is not None and t.dtype is not None for t in types)
        return known and ROWS[op.name].elementwise and self.costs.of(op) > self.costs.tape and not any(map(is_complex, types))

    def read(self, loop: For, items: Sequence[Value], chosen: set[Op]) -> list[Value]:
        """Those of ``items`` that the rest of a loop reads, once the ``chosen`` ops are no part of it."""
        left = [op for op in loop.body.ops if op not in chosen]
        read = {operand for op in left for operand in operands_within(op)} | {*loop.body.yields}
        return [item for item in items if item in read]

    def moved(self, loop: For, first: Block, items: list[Value], count: tuple[Operand, int]) -> Value | None:
        """Append the loop that fills the tape of ``items``, and let ``loop`` read it."""
        if not items:
            return None
        slots = self.builder.call("add", count[0], ONE) if count[1] else count[0]
        begun = self.builder.call("slots", slots, hint="tape")
        first.ops = needed(first.ops, items)
        table: dict[Value, Operand] = {}
        copy = clone_block(first, table)
        inside = Value(Tape(tuple(item.type for item in items), True), "tape")
        copy.args.append(inside)
        with self.builder.inside(copy):
            copy.yields = [self.builder.call("put", inside, copy.args[0], *(table[item] for item in items), hint="tape")]
        tape = Value(inside.type, "tape")
        self.builder.append(For([tape], loop.loc, loop.start, loop.stop, loop.step, [begun], copy, backward=loop.backward))
        outs = [Value(item.type, item.name) for item in items]
        gone = {*items}
        loop.body.ops = [op for op in loop.body.ops if gone.isdisjoint(op.outs)]
        substitute(loop.body, dict(zip(items, outs, strict=True)))
        loop.body.ops.insert(0, Call([*outs], loop.loc, "get", [tape, loop.index], {}))
        return tape


def needed(ops: Sequence[Op], values: Sequence[Operand]) -> list[Op]:
    """Those of the ops on which the values depend."""
    read = {*values}
    kept: list[Op] = []
    for op in reversed(ops):
        if not read.isdisjoint(op.outs):
            kept.append(op)
            read.update(operands_within(op))
    return kept[::-1]


__all__ = ["common", "distributed"]
