"""Reverses tape ops: a second derivative pushes where the first one popped, and pops where it pushed."""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.adjoint.accumulate import Cotangent, Scope, hinted
from symgrad.adjoint.analysis.activity import may_be_active
from symgrad.adjoint.sweep import Sweep, reverses
from symgrad.ir.core import Block, Call, Operand, Value
from symgrad.ir.types import List, Type


@reverses("push")
def reverse_push(sweep: Sweep, scope: Scope, op: Call, index: int) -> None:
    """Reverse a push: the cotangent of a pushed value is popped; the reverse of the pop has pushed it."""
    grad = sweep.ledger.arrived(scope, op.outs[0])
    assert grad is not None
    places = active_places(op.args[1:])
    hints = (hinted(op.outs[0]), *(hinted(op.args[1 + k]) for k in places))
    rest, *items = taken_off(sweep, sweep.ledger.owned(grad, op.outs[0]), [sweep.ledger.item_type(op.args[1 + k]) for k in places], hints)
    for k, item in zip(places, items, strict=False):
        off_tape(sweep, scope, op.args[1 + k], item)
    if isinstance(op.args[0], Value):
        sweep.ledger.contribute(scope, op.args[0], Cotangent(rest, True))


def taken_off(sweep: Sweep, tape: Operand, types: list[Type], hints: tuple[str, ...]) -> list[Value]:
    """Emit a ``pop`` of a tape whose item types are known only from the pushes elsewhere."""
    outs = [Value(t, h) for t, h in zip([tape.type, *types], hints, strict=True)]
    sweep.builder.append(Call(outs, sweep.builder.loc, "pop", [tape], {}))
    return outs


@reverses("pop")
def reverse_pop(sweep: Sweep, scope: Scope, op: Call, index: int) -> None:
    """Reverse a pop: the cotangents of the popped values are pushed."""
    cotangents = [sweep.ledger.take(scope, out) for out in op.outs]
    tape = sweep.ledger.owned(cotangents[0], op.outs[0])
    values = [copied_for_tape(sweep, scope, cotangents[1 + k], op.outs[1 + k]) for k in active_places(op.outs[1:])]
    pushed = sweep.builder.call("push", tape, *values, hint=hinted(op.args[0]))
    assert isinstance(op.args[0], Value)
    sweep.ledger.contribute(scope, op.args[0], Cotangent(pushed, True))


@reverses("put")
def reverse_put(sweep: Sweep, scope: Scope, op: Call, index: int) -> None:
    """Reverse a ``put``: the cotangents of the saved values are read from the slot that the reverse of ``get`` has filled."""
    grad = sweep.ledger.arrived(scope, op.outs[0])
    assert grad is not None
    places = active_places(op.args[2:])
    outs = [Value(sweep.ledger.item_type(op.args[2 + k]), hinted(op.args[2 + k])) for k in places]
    sweep.builder.append(Call(outs, sweep.builder.loc, "get", [grad.value, op.args[1]], {}))
    for k, item in zip(places, outs, strict=True):
        off_tape(sweep, scope, op.args[2 + k], item)
    if isinstance(op.args[0], Value):
        sweep.ledger.contribute(scope, op.args[0], grad)


@reverses("get")
def reverse_get(sweep: Sweep, scope: Scope, op: Call, index: int) -> None:
    """Reverse a ``get``: the cotangents are put in the slot, or added there where several iterations or ops read it."""
    cotangents = [sweep.ledger.take(scope, out) for out in op.outs]
    tape = op.args[0]
    assert isinstance(tape, Value)
    into = sweep.ledger.buffer(scope, tape)
    values = [copied_for_tape(sweep, scope, cotangents[k], op.outs[k]) for k in active_places(op.outs)]
    several = sweep.counts[tape] > 1 or loops_around(scope, sweep.ledger.homes[tape]) > 1
    put = sweep.builder.call("put", into, op.args[1], *values, hint=hinted(tape), add=several)
    scope.table[tape] = Cotangent(put, True)


def loops_around(scope: Scope | None, home: Block) -> int:
    """The number of loops around a block, up to an outer block."""
    count = 0
    while scope is not None and scope.block is not home:
        count += scope.loop
        scope = scope.parent
    return count


def copied_for_tape(sweep: Sweep, scope: Scope, grad: Cotangent | None, value: Value) -> Operand:
    """A cotangent as a tape holds it: a list that may be inside another one is copied, because it may be changed there."""
    handed = sweep.ledger.handed(scope, grad, value)
    if isinstance(handed.value.type, List) and not handed.owned:
        return sweep.ledger.copied(handed.value, value)
    return handed.value


def off_tape(sweep: Sweep, scope: Scope, target: Operand, item: Value) -> None:
    """Contribute the cotangent read from a tape to the value that was saved there."""
    if isinstance(target, Value) and target in sweep.active:
        sweep.ledger.contribute(scope, target, Cotangent(item, loose=sweep.ledger.is_perhaps_nothing(target)))


def active_places(items: Sequence[Operand]) -> list[int]:
    """The indices of a tape's items that can carry a derivative."""
    return [k for k, item in enumerate(items) if may_be_active(item.type)]
