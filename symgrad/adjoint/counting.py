"""The tape slot of each iteration of a loop, and the number of slots; nothing where iterations are not counted.

``range(0, n)`` has its indices as slots. ``range(k + 1, n)`` has ``n - (k + 1)``, which a kernel lays out as
arrays with room for the maximum; the interpreter's stacks are no slower than counting. ``range(0, n, 128)`` is
counted too: the loop over rows of a Jacobian has this form. A slot can be read in several iterations and
differentiated again; a stack cannot.
"""

from __future__ import annotations

from dataclasses import dataclass

from symgrad.adjoint.expand import number
from symgrad.adjoint.plan import Plan
from symgrad.ir.core import ZERO, Block, Call, Const, For, Op, Operand, Value
from symgrad.ir.sums import ONE, Sum, combined
from symgrad.ops.affine import Round
from symgrad.ops.build import Builder

#: the longest step of a loop whose indices serve as slots, leaving some empty in the interpreter: a kilobyte per iteration
SPARSEST = 128


@dataclass(frozen=True, slots=True)
class Count:
    """The number of slots, as a term or a difference of two, and the index of the first slot if that is not 0."""

    many: Operand
    less: Operand = ZERO
    first: Operand | None = None
    step: int = 1

    def total(self, build: Builder) -> Operand:
        """Append the ops that compute the number of slots."""
        return self.many if self.less is ZERO else build.call("subtract", self.many, self.less)

    def place(self, build: Builder, index: Operand, first: Operand | None) -> Operand:
        """Append the ops that compute the slot of an iteration, where it is read."""
        if first is None:
            return index
        return build.call("subtract", index, first) if self.step == 1 else build.call("subtract", first, index)


def count_of(plan: Plan, block: Block) -> Count | None:
    """The slots for the iterations of the loop whose body the block is."""
    op = plan.layout.owners[block][2]
    if not isinstance(op, For) or op.until:
        return None
    start, stop, step = number(op.start), number(op.stop), number(op.step)
    if start is not None and 0 <= start <= 2 and step is not None and 1 <= step <= (1 if plan.costs.arrays else SPARSEST):
        return Count(op.stop)
    if step == -1 and stop is not None and -1 <= stop <= 1:
        return Count(op.start, Const(-1))
    if not plan.costs.arrays or step not in (1, -1) or not is_foreseen(plan, block):
        return None
    low, high = (op.start, op.stop) if step == 1 else (op.stop, op.start)
    rounds = Round(plan.layout)
    first, last = rounds.sum(low), rounds.sum(high)
    if first is None or last is None:
        return None
    many = combined(last, first, -1)
    if set(many) <= {ONE}:
        return Count(Const(max(many.get(ONE, 0), 0)), first=op.start, step=step)
    return None if cancels(first, last) else Count(high, low, op.start, step)


def cancels(first: Sum, last: Sum) -> bool:
    """Whether symbols cancel: the difference is then smaller than the difference of the two terms' bounds."""
    return any(first.get(symbol, 0) * count > 0 for symbol, count in last.items() if symbol != ONE)


def is_foreseen(plan: Plan, block: Block) -> bool:
    """Whether an upper bound of this loop's iterations, and of the enclosing loops', is known before the outermost loop."""
    while not plan.layout.static(block):
        block, _, op = plan.layout.owners[block]
        if not isinstance(op, For) or op.until or not all(is_sum(plan, o) for o in (op.start, op.stop)):
            return False
    return True


def is_sum(plan: Plan, operand: Operand) -> bool:
    """Whether the operand is a sum or difference of loop indices and of integers defined outside all loops."""
    if not isinstance(operand, Value):
        return type(operand.value) is int
    block = plan.layout.places[operand][0]
    if plan.layout.static(block):
        return True
    op: Op | None = plan.layout.op_of(operand)
    if op is None:
        owner = plan.layout.owners[block][2]
        return isinstance(owner, For) and operand is owner.index
    return isinstance(op, Call) and op.name in ("add", "subtract") and all(is_sum(plan, o) for o in op.args)


__all__ = ["Count", "count_of"]
