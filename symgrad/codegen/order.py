"""The exceptions that each op may raise, by classes that a handler can distinguish: their order must be preserved."""

from __future__ import annotations

from symgrad.ir.core import Apply, Block, Call, For, Op, Value
from symgrad.ops.declare import ROWS
from symgrad.ops.parts import PATHS
from symgrad.ops.raising import may_raise

#: for each op that may raise, the kinds of its exceptions
Raised = dict[Op, frozenset[str]]


def raised_in(block: Block) -> Raised:
    """The exceptions that the ops of a block tree may raise."""
    raised: Raised = {}
    collect(block, raised, {}, {})
    return raised


def collect(block: Block, raised: Raised, makers: dict[Value, Call], rounds: dict[Value, For]) -> frozenset[str]:
    """Record the exceptions that each op of a block may raise; return the union."""
    kinds: set[str] = set()
    for op in block.ops:
        if isinstance(op, Call):
            makers.update(dict.fromkeys(op.outs, op))
        if isinstance(op, For):
            rounds[op.index] = op
        inside = frozenset().union(*(collect(inner, raised, makers, rounds) for inner in op.blocks))
        own = inside | kinds_of(op, makers, rounds)
        if own:
            raised[op] = own
            kinds |= own
    return frozenset(kinds)


def kinds_of(op: Op, makers: dict[Value, Call], rounds: dict[Value, For]) -> frozenset[str]:
    """The kinds of an op's own exceptions: one kind for all reads of array parts, and a kind of its own for every other row."""
    if isinstance(op, Apply):
        return frozenset({"any"})
    if not isinstance(op, Call) or ROWS[op.name].by_name or not may_raise(op, makers, rounds):
        return frozenset()  # the user's own text keeps its place
    return frozenset({"index" if op.name in PATHS else op.name})


__all__ = ["Raised", "raised_in"]
