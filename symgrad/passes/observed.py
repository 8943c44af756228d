"""Keeps what may raise though nothing reads its result: exceptions are part of what a function does. Works in place.

Behind such an op an ``evaluated`` is put, an effect that reads the result. It is the first pass on a function as it was read;
dead code that cannot raise is left to ``dce``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from symgrad.ir.core import Block, Call, For, Func, Op, Value
from symgrad.ops.raising import may_raise
from symgrad.passes.dce import Marks


def observed(func: Func) -> Func:
    """Let every op that may raise be read.

    The result of such an op is read by another that is kept, or by an ``evaluated`` put behind it.
    """
    marks = Marks(func)
    marks.run()
    _Observer(marks).block(func.body)
    return func


@dataclass
class _Observer:
    marks: Marks
    makers: dict[Value, Call] = field(default_factory=dict)
    rounds: dict[Value, For] = field(default_factory=dict)

    def block(self, block: Block) -> None:
        """The ops of a block, the last first: an op that is kept keeps what it reads."""
        for op in block.ops:
            if isinstance(op, Call):
                self.makers.update(dict.fromkeys(op.outs, op))
            if isinstance(op, For):
                self.rounds[op.index] = op
        ops: list[Op] = []
        for op in reversed(block.ops):
            for inner in op.blocks:
                self.block(inner)
            if isinstance(op, Call) and op.outs and op not in self.marks.kept and may_raise(op, self.makers, self.rounds):
                reader = Call([], op.loc, "evaluated", [op.outs[0]])
                self.marks.also(reader, self.marks.parent[op])
                ops.append(reader)
            ops.append(op)
        block.ops = ops[::-1]


__all__ = ["observed"]
