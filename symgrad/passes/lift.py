"""Loop-invariant code motion before differentiation: computes loop-invariant ops of the primal before their loop. Works in place.

Nothing of them is then saved per iteration, and their derivative is taken once, of the summed cotangents. A
loop may run zero times, and then must not raise: ``Func.guarded`` lists the possible exceptions, and if one is
raised, the original function runs instead. Halves of pullbacks have no such fallback: there only ops that
cannot raise are moved.
"""

from __future__ import annotations

from symgrad.ir.core import Block, Call, Const, For, Func, Op, Value, While
from symgrad.ir.types import Array, List, Scalar
from symgrad.ir.unbound import Unbound
from symgrad.ops.declare import ROWS, USER_ROWS
from symgrad.ops.indexing import steps
from symgrad.passes.cse import DISTINCT
from symgrad.passes.facts import Facts, halves_kept, holds, is_pure
from symgrad.passes.hoist import called, cannot_raise
from symgrad.passes.unbox import NUMBERS, may_start_again

NOTHING: frozenset[str] = frozenset()
#: raised by a missing item; arithmetic and mismatched operands raise ``NUMBERS``
PLACES = frozenset({"LookupError"})


def lift(func: Func, guarded: bool = True) -> Func:
    """Hoist loop-invariant ops, in place; ``guarded``: ops that may raise are hoisted too."""
    if holds(func, For, While):
        with halves_kept(func):
            _Lifter(func, guarded and may_start_again(func)).block(func.body)
    return func


class _Lifter:
    """The analyses of a function while its loops are visited, innermost first."""

    def __init__(self, func: Func, risky: bool) -> None:
        self.func, self.risky = func, risky
        self.facts = Facts(func)
        self.doubtful = set(Unbound.of(func.body).sides)

    def block(self, block: Block) -> None:
        """Move ops out of the loops of a block."""
        ops: list[Op] = []
        for op in block.ops:
            for inner in op.blocks:
                self.block(inner)
            if isinstance(op, For | While):
                ops += self.leaving(op)
            ops.append(op)
        block.ops = ops

    def leaving(self, loop: For | While) -> list[Call]:
        """The ops that leave a loop, in order."""
        inside = set(self.doubtful)
        for block in loop.blocks:
            inside.update(block.args)
            for op in block.ops:
                inside.update(op.outs)
        calls: list[Call] = []
        for block in loop.blocks:
            moved = self.taken(block, self.alike(block, inside))
            inside.difference_update(out for op in moved for out in op.outs)
            calls += moved
        for op in calls:
            self.func.guarded |= raised(op)
            if self.func.notes is not None and (is_work(op) or op.outs[0].name):
                self.func.notes.add("passes", "moved", op.loc, f"computed once, before the loop of line {loop.loc.line}", name=called(op))
        return calls

    def alike(self, block: Block, inside: set[Value]) -> dict[Value, Call]:
        """The loop-invariant ops of a loop's block, by their results."""
        handed, varying = {*block.yields}, {*inside}
        invariant: dict[Value, Call] = {}
        for op in block.ops:
            if isinstance(op, Call) and self.may_move(op) and varying.isdisjoint(values(op)) and handed.isdisjoint(op.outs):
                varying.difference_update(op.outs)
                invariant |= dict.fromkeys(op.outs, op)
        return invariant

    def taken(self, block: Block, alike: dict[Value, Call]) -> list[Call]:
        """Remove the calls that are worth hoisting from the block, with the calls that they depend on."""
        pending = [op for op in alike.values() if is_work(op)]
        chosen = set(pending)
        while pending:
            for value in values(pending.pop()):
                needed = alike.get(value)
                if needed is not None and needed not in chosen:
                    chosen.add(needed)
                    pending.append(needed)
        moved = [op for op in block.ops if isinstance(op, Call) and op in chosen]
        block.ops = [op for op in block.ops if op not in chosen]
        return moved

    def may_move(self, op: Call) -> bool:
        """Whether the op gives the same result at any place, in memory that nothing writes to."""
        row = ROWS[op.name]
        if not is_pure(row) or row.consumes or op.name in DISTINCT or op.name in USER_ROWS or not op.outs:
            return False
        if not all(isinstance(v.type, Scalar | Array | List) for v in (*values(op), *op.outs)):
            return False
        own = not any(isinstance(out.type, List) or self.facts.is_stored(out) or self.facts.is_returned(out) for out in op.outs)
        return (own or row.alias == "view") and (self.risky or not raised(op))


def values(op: Op) -> list[Value]:
    """The operands of an op other than constants."""
    return [operand for operand in op.operands if isinstance(operand, Value)]


def is_work(op: Call) -> bool:
    """Whether the op computes a float or an array, or reads a number, so that hoisting it saves time."""
    if ROWS[op.name].alias != "fresh":
        return False
    return all(isinstance(out.type, Array) or isinstance(out.type, Scalar) and out.type.kind == "float" for out in op.outs)


def raised(op: Call) -> frozenset[str]:
    """The classes of exceptions that the op may raise for any operands."""
    if cannot_raise(op):
        return NOTHING
    if op.name in ("list_take", "table_take"):
        return PLACES
    if "index" in op.settings:
        return subscripted(op)
    types = [a.type for a in op.args]
    shapes = {t.shape for t in types if isinstance(t, Array)}
    if not ROWS[op.name].elementwise or op.settings.get("via") is not None or len(shapes) > 1 or None in shapes:
        return NUMBERS
    numpy = all(isinstance(out.type, Scalar) and out.type.dtype not in (None, "any") for out in op.outs)
    return NOTHING if numpy or shapes and all(isinstance(t, Array | Scalar) for t in types) else NUMBERS


def subscripted(op: Call) -> frozenset[str]:
    """The exceptions that a path of subscripts may raise: missing items, zero steps, mismatched shapes."""
    errors, at = NOTHING, 1
    for step, count in steps(op.settings["index"]):
        operands, at = op.args[at : at + count], at + count
        if not step.startswith("."):
            errors |= PLACES if "i" in step else NOTHING
            errors |= NOTHING if all(isinstance(o, Const) for o in operands) or "s" not in step else NUMBERS
        elif step != ".T":
            errors |= NUMBERS
    return errors


__all__ = ["lift"]
