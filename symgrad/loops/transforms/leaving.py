"""Turns a branch that prints, logs or calls Python for a side effect into one that leaves the kernel. Works in place.

    if error > limit: print(f"large: {error:.2f}")     ->      if error > limit: <leave>

A kernel has no side effects; its caller then runs the NumPy code from the start, which prints. A kernel that
always reached such a call would be useless, so only branches are converted. Ops that served only the call, such
as its text, become dead.
"""

from __future__ import annotations

from collections.abc import Iterator

from symgrad.ir.core import TRUE, Block, Call, For, Func, If, Op, While, substitute, uses, walk
from symgrad.passes.simplification.dce import dce


def leaving(func: Func) -> Func:
    """Make branches with calls for a side effect leave the kernel, in place."""
    branches = [block for op in walk(func.body) if isinstance(op, If) for block in op.blocks]
    left = [leave_in(branch) for branch in branches if any(is_for_effect(op) for block in begun_in(branch) for op in block.ops)]
    return dce(func) if any(left) else func


def leave_in(branch: Block) -> bool:
    """Leave at the beginning of a branch with calls for a side effect; unread ones among them are removed."""
    for block in begun_in(branch):
        # results of calls (new versions of arrays, checked values) have readers, which are never reached
        touched = {op.outs[0]: op.args[0] for op in block.ops if isinstance(op, Call) and op.name == "touched"}
        block.ops = [op for op in block.ops if not isinstance(op, Call) or op.name not in ("touched", "evaluated")]
        substitute(branch, dict(touched))
    counts = uses(branch)
    left: Op | None = None
    for block in begun_in(branch):
        for op in [op for op in block.ops if is_for_effect(op) and not any(counts.get(out) for out in op.outs)]:
            block.ops.remove(op)
            left = left or op
    if left is not None:
        branch.ops.insert(0, Call([], left.loc, "bail_out", [TRUE], {}))
    return left is not None


def is_for_effect(op: Op) -> bool:
    """Whether the op is an opaque call."""
    return isinstance(op, Call) and op.name == "opaque"


def begun_in(branch: Block) -> Iterator[Block]:
    """The blocks that run whenever a branch does: its own block and those of its loops, but not of further branches."""
    yield branch
    for op in branch.ops:
        if isinstance(op, For | While):
            for inner in op.blocks:
                yield from begun_in(inner)


__all__ = ["leaving"]
