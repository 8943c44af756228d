"""Vectorises loops over a batch where rows have batching rules: ``results[k] = f(x[k])`` becomes ``results = f(x)``.

Each value of the loop's body gets a leading batch axis, unless all examples share it. A loop with an op that
has no rule stays as it is. Exceptions may be raised earlier than in the loop; ``Func.guarded`` then runs the
loop. Works in place.
"""

from __future__ import annotations

from symgrad.ir.core import Block, Call, For, Func, Op, inner_first, substitute, walk
from symgrad.ops.batched import NotBatched
from symgrad.ops.build import Builder
from symgrad.passes.batching.batched_body import Rounds, results
from symgrad.passes.representation.unbox import may_start_again

#: exceptions after which the loop runs instead, example by example
RAISED = frozenset({"Exception"})


def batch(func: Func, guarded: bool = True) -> Func:
    """Vectorise batch loops, in place, where code that raises may run again: ``guarded``."""
    if guarded and any(isinstance(op, For) and op.batch for op in walk(func.body)) and may_start_again(func):
        for block in inner_first(func.body):
            block.ops = [one for op in block.ops for one in (at_once(func, op) if isinstance(op, For) and op.batch else [op])]
    return func


def at_once(func: Func, loop: For) -> list[Op]:
    """The ops that replace a batch loop, or the loop itself if an op has no rule."""
    build = Builder(Block(), loop.loc)
    for op in walk(func.body):
        if isinstance(op, Call) and op.outs:
            build.note_extent(op.name, op.args, op.settings, op.outs[0])
    try:
        values = results(loop, Rounds(build, loop.stop, index=loop.index))
    except NotBatched:
        return [loop]
    substitute(func.body, dict(zip(loop.outs, values, strict=True)))
    func.guarded |= RAISED
    if func.notes is not None:
        func.notes.add("passes", "moved", loop.loc, "all examples are computed at once, by functions of NumPy that take a further axis")
    return build.block.ops


__all__ = ["batch"]
