"""The ops of a block that must run again for its reverse, and whether they may: a second run must give the same values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from symgrad.adjoint.accumulate import Scope
from symgrad.adjoint.sweep import Sweep
from symgrad.errors import NoDerivative
from symgrad.ir.core import Block, Call, Op, Operand, Value, defined_by, operands_within, uses, walk
from symgrad.ir.walks import remove_ops
from symgrad.ops.declare import ROWS


def needed(scope: Scope, sweep: Sweep, reads: Iterable[Operand], slots: Mapping[Value, int]) -> tuple[set[Op], list[int]]:
    """The ops of a block that compute the values read, and the ``slots`` that they need.

    ``scope`` reverses the block. A slot is a loop-carried value; if one is needed, so is the value that the
    iteration yields for it. Loops and branches whose reverse is in the reversed block are needed too.
    """
    body = scope.block
    owner = {value: op for op in body.ops for value in defined_by(op)}
    reversed_ = [body.ops[sweep.scopes[inner].position] for op in scope.reverse.ops for inner in op.blocks if inner in sweep.scopes]
    todo = [*reads, *(operand for op in reversed_ for operand in operands_within(op))]
    ops = set(reversed_)
    places: set[int] = set()
    while todo:
        value = todo.pop()
        if not isinstance(value, Value):
            continue
        if value in slots and slots[value] not in places:
            places.add(slots[value])
            todo.append(body.yields[slots[value]])
        elif value in owner and owner[value] not in ops:
            ops.add(owner[value])
            todo += operands_within(owner[value])
    return ops, sorted(places)


def refuse_unrepeatable(body: Block, ops: set[Op], when: str, hint: str) -> None:
    """Raise NoDerivative where one of these ops may give another result when it runs again: an opaque call, a random draw.

    ``when`` says why it runs again, ``hint`` is the way out.
    """
    kept = Block([], [op for op in body.ops if op in ops], body.yields)
    counts = uses(kept)
    for op in walk(kept):
        if isinstance(op, Call) and ROWS[op.name].effect and any(counts.get(out) for out in op.outs):
            what = f"the function called here is unknown or random, and may return another value when {when}"
            raise NoDerivative(what, op.loc if op.loc.line else None, hint)


def effects_in(body: Block) -> set[Op]:
    """The ops of a block, and of the blocks inside it, with side effects: prints, checks, stores visible to the caller."""
    return {op for op in walk(body) if isinstance(op, Call) and ROWS[op.name].effect}


def drop_from(scope: Scope, ops: set[Op], sweep: Sweep) -> None:
    """Remove ops from a block that a scope reverses, and update the recorded positions."""
    places: list[int] = []
    count = 0
    for op in scope.block.ops:
        places.append(count)
        count += op not in ops
    places.append(count)
    for op in scope.reverse.ops:
        if sweep.turns[op] >= 0:
            sweep.turns[op] = places[sweep.turns[op]]
        for block in op.blocks:
            if block in sweep.scopes:
                sweep.scopes[block].position = places[sweep.scopes[block].position]
                drop_from(sweep.scopes[block], ops, sweep)
    remove_ops(scope.block, ops)


__all__ = ["drop_from", "effects_in", "needed", "refuse_unrepeatable"]
