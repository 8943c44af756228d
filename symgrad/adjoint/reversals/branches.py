"""Reverses branches: the same test, each side reversed; cotangents of outer values changed on either side are joined."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from symgrad.adjoint.accumulate import Cotangent, Scope, hinted, in_memory, loosened
from symgrad.adjoint.analysis.memory import Memory, has_memory
from symgrad.adjoint.analysis.path_conditions import Implied, implied
from symgrad.adjoint.analysis.zero_masks import Mask, common
from symgrad.adjoint.sweep import Sweep, reverses
from symgrad.ir.core import UNDEF, Block, Call, Const, Func, If, Op, Operand, Value, operands_within, uses
from symgrad.ir.layout import Layout
from symgrad.ir.types import Array, Box, Scalar, Tape, join
from symgrad.ops.declare import ROWS


@reverses(If)
def reverse_branch(sweep: Sweep, scope: Scope, op: If, index: int) -> None:
    """Reverse a branch: the same test, each side reversed, cotangents of outer values joined. A branch always taken has one side."""
    if isinstance(op.test, Const) and op.test.value is True:
        reverse_taken(sweep, scope, op, index)
        return
    grads = [(k, gap_left(sweep, op, out, grad)) for k, out in enumerate(op.outs) if (grad := sweep.ledger.take(scope, out)) is not None]
    sides: list[Scope] = []
    for place, block in enumerate(op.blocks):
        inner = sweep.scope(block, Block(), scope, index, False)
        inner.side = (op.test, place)
        with sweep.builder.inside(inner.reverse):
            for k, grad in grads:
                target = block.yields[k]
                if isinstance(target, Value) and target in sweep.active:
                    sweep.ledger.contribute(inner, target, Cotangent(grad.value, grad.owned, in_doubt(sweep, inner, grad.mask), grad.loose))
            sweep.mark(inner, 0, len(block.ops))
            sweep.block(inner)
        sides.append(inner)
    sink(sweep, scope, index, sides)
    branch = If([], op.loc, op.test, sides[0].reverse, sides[1].reverse)
    for value in touched(sweep, sides):
        add_result(sweep, scope, value, sides, branch)
    separate(sweep, scope, branch, sides)
    sweep.builder.append(branch)


def reverse_taken(sweep: Sweep, scope: Scope, op: If, index: int) -> None:
    """Reverse a branch that is always taken."""
    grads = [(out, target, sweep.ledger.take(scope, out)) for out, target in zip(op.outs, op.then.yields, strict=True)]
    branch = If([], op.loc, op.test)
    inner = sweep.scope(op.then, branch.then, scope, index, False)
    sweep.scope(op.orelse, branch.orelse, scope, index, False)
    with sweep.builder.inside(inner.reverse):
        for _, target, grad in grads:
            if grad is not None and isinstance(target, Value) and target in sweep.active:
                sweep.ledger.contribute(inner, target, grad)
        sweep.mark(inner, 0, len(op.then.ops))
        sweep.block(inner)
        start = len(inner.reverse.ops)
        values = touched(sweep, [inner])
        cotangents = [sweep.ledger.handed(inner, sweep.ledger.get(inner, value), value) for value in values]
        sweep.mark(inner, start, -1)
    for value, grad in zip(values, cotangents, strict=True):
        inner.reverse.yields.append(grad.value)
        branch.orelse.yields.append(UNDEF)
        branch.outs.append(out := Value(grad.value.type, hinted(value)))
        scope.table[value] = Cotangent(out, grad.owned and in_memory(out.type), grad.mask, grad.loose)
    separate(sweep, scope, branch, [inner])
    sweep.builder.append(branch)


def in_doubt(sweep: Sweep, scope: Scope, mask: Mask) -> Mask:
    """The conditions of a mask that the enclosing branches do not imply."""
    if not mask:
        return ()
    known = known_in(sweep, scope)
    return tuple((condition, side) for condition, side in mask if known.outcome(condition) is not side)


def known_in(sweep: Sweep, scope: Scope) -> Implied:
    """The path conditions of a block."""
    if scope not in sweep.known:
        taken: list[tuple[Operand, bool]] = []
        around: Scope | None = scope
        while around is not None:
            taken += [] if around.side is None else [(around.side[0], around.side[1] == 0)]
            around = around.parent
        sweep.known[scope] = implied(sweep.producers, reversed(taken))
    return sweep.known[scope]


def sink(sweep: Sweep, scope: Scope, index: int, sides: list[Scope]) -> None:
    """Reverse, inside one side of a branch, the preceding ops whose results only that side uses.

    The other side has nothing to reverse: it would cost as much, and zero times an infinite slope is nan.
    """
    waiting: set[Operand] = set()  #: values whose cotangents have, or will have, contributions from outside the branch
    place, first = index, min((first_of(sweep, scope, side, side.table) for side in sides), default=index)
    while (place := place - 1) >= first:
        op = scope.block.ops[place]
        holders = [side for side in sides if any(out in side.table for out in op.outs)]
        elsewhere = any(out in scope.table or out in waiting for out in op.outs)
        if not holders and not elsewhere:
            continue
        if elsewhere or len(holders) > 1 or not is_plain(holders[0], op) or any(v in waiting for v in op.operands if has_memory(v.type)):
            waiting.update(v for v in operands_within(op) if v in sweep.active)
            continue
        (side,) = holders
        start = len(side.reverse.ops)
        with sweep.builder.inside(side.reverse), sweep.builder.at(op.loc):
            sweep.op(side, op, place)
        sweep.mark(side, start, -1)
        first = min(first, first_of(sweep, scope, side, op.operands))


def first_of(sweep: Sweep, scope: Scope, side: Scope, values: Iterable[Operand]) -> int:
    """The place, in the block around the branch, of the first op with a result whose cotangent exists on a side only."""
    own = [sweep.layout.places[v] for v in values if isinstance(v, Value) and v in side.table and v not in scope.table]
    return min((place for block, place in own if block is scope.block and place >= 0), default=len(scope.block.ops))


def is_plain(side: Scope, op: Op) -> bool:
    """Whether the op may be skipped on the other side, and all cotangents of its results have a known form."""
    if not isinstance(op, Call) or ROWS[op.name].consumes or any(isinstance(v.type, Tape | Box) for v in (*op.operands, *op.outs)):
        return False
    return all(grad.gap is None and not grad.loose for out in op.outs if (grad := side.table.get(out)) is not None)


def gap_left(sweep: Sweep, op: If, out: Value, grad: Cotangent) -> Cotangent:
    """The cotangent of a branch result; it may stay undefined on the side that does not bind the result."""
    without = sweep.ledger.unbound.sides.get(out)
    return grad if without is not None and without[0] is op.test else sweep.ledger.filled(grad)


def add_result(sweep: Sweep, scope: Scope, value: Value, sides: list[Scope], branch: If) -> None:
    """Add one result to the reversed branch: the cotangent of ``value`` after it."""
    cotangents: list[Cotangent] = []
    gap: tuple[Block, int] | None = None
    for place, side in enumerate(sides):
        grad = sweep.ledger.get(side, value)
        if (grad is None or grad.gap is not None) and sweep.ledger.unbound.sides.get(value) == (branch.test, place):
            gap = side.reverse, len(side.reverse.yields)
            cotangents.append(Cotangent(UNDEF, True))
            continue
        start = len(side.reverse.ops)
        with sweep.builder.inside(side.reverse), sweep.builder.at(branch.loc):
            if mixed(grad, value):
                grad = Cotangent(sweep.ledger.owned(grad, value), True, () if grad is None else grad.mask)
            cotangents.append(sweep.ledger.handed(side, grad, value))
        sweep.mark(side, start, -1)
    for side, grad in zip(sides, cotangents, strict=True):
        side.reverse.yields.append(grad.value)
    loose = any(grad.loose for grad in cotangents)
    type_ = join(cotangents[0].value.type, cotangents[1].value.type)
    out = Value(loosened(type_) if loose else type_, hinted(value))
    branch.outs.append(out)
    owned = all(grad.owned for grad in cotangents) and in_memory(out.type)
    alone = [place for place, side in enumerate(sides) if value in side.table]
    mask = common(cotangents[0].mask, cotangents[1].mask)
    if len(alone) == 1 and sweep.ledger.get(scope, value) is None and not loose:  # the other side yields a zero
        mask = ((branch.test, alone[0] == 0),)
    scope.table[value] = Cotangent(out, owned, mask, loose, gap)


def mixed(grad: Cotangent | None, value: Value) -> bool:
    """Whether the cotangent is a scalar for an array's cotangent, which the other side may hold as an array."""
    return grad is not None and isinstance(value.type, Array) and value.type.shape != () and isinstance(grad.value.type, Scalar)


def separate(sweep: Sweep, scope: Scope, branch: If, sides: list[Scope]) -> None:
    """Copy results of the branch so that no two of them share a buffer if one of them may be written to."""
    owners = {cotangent.value: cotangent for cotangent in scope.table.values() if cotangent.value in branch.outs}
    groups = [outside(side.reverse) for side in sides]
    taken: set[Value] = set()
    for k, out in sorted(enumerate(branch.outs), key=lambda entry: not owners[entry[1]].owned):
        buffer_sets = [group(side.reverse.yields[k]) for group, side in zip(groups, sides, strict=True)]
        for side, buffers in zip(sides, buffer_sets, strict=True):
            if buffers & taken:
                with sweep.builder.inside(side.reverse):
                    side.reverse.yields[k] = sweep.builder.call("copy", side.reverse.yields[k], hint=out.name)
                sweep.mark(side, len(side.reverse.ops) - 1, -1)
        if owners[out].owned:
            taken.update(*buffer_sets)


def touched(sweep: Sweep, sides: list[Scope]) -> list[Value]:
    """Outer values whose cotangent changed on a side, in a fixed order."""
    values = dict.fromkeys(v for side in sides for v in side.table if sweep.ledger.homes[v] is not side.block)
    return list(values)


def outside(block: Block) -> Callable[[Operand], set[Value]]:
    """For a value yielded by a block: the outer values that it may share memory with."""
    layout = Layout()
    layout.enter(block)
    memory = Memory.of(Func("", block), layout)
    shared: dict[Value, set[Value]] = {}
    for value in [v for v in (*uses(block),) if v not in layout.places and has_memory(v.type)]:
        shared.setdefault(memory.find(value), set()).add(value)
    return lambda operand: shared.get(memory.find(operand), set()) if isinstance(operand, Value) and has_memory(operand.type) else set()
