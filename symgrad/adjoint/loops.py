"""Reverses loops: the same iterations, last first. Loop-carried are the cotangents of the loop's slots and of outer values."""

from __future__ import annotations

from symgrad.adjoint.accumulate import Cotangent, Scope, cotangent_type, hinted, in_memory, loosened
from symgrad.adjoint.expand import arithmetic, number, operand
from symgrad.adjoint.sweep import Sweep, reverses
from symgrad.adjoint.unbroadcast import conformed
from symgrad.ir.core import ONE, ZERO, For, Operand, Value, While
from symgrad.ir.types import INT, Array, Type, same_shape


def active_slots(sweep: Sweep, op: For | While) -> list[int]:
    """The indices of a loop's carried values that carry a derivative; the reversed loop carries their cotangents first, in this order."""
    return [k for k in range(len(op.carried)) if op.carried[k] in sweep.active or op.outs[k] in sweep.active]


@reverses(For, While)
def reverse_loop(sweep: Sweep, scope: Scope, op: For | While, index: int) -> None:
    """Reverse a loop: the same iterations, last first; it carries the cotangents of the loop's slots and of outer values."""
    slots = active_slots(sweep, op)
    grads = {k: sweep.ledger.take(scope, op.outs[k]) for k in slots}
    loop = reversed_range(sweep, op)
    loop.body.args = [Value(INT, op.index.name if isinstance(op, For) else None)]
    inner = sweep.scope(op.body, loop.body, scope, index, True)
    inner.op = loop
    loose = {k for k in slots if is_loose(sweep, op, k, scope, inner)}
    arrived = {k: Value(loosened(op.carried[k].type) if k in loose else arriving(op, k), hinted(op.carried[k])) for k in slots}
    loop.body.args += arrived.values()
    with sweep.builder.inside(loop.body):
        for k in slots:
            target = op.body.yields[k]
            if isinstance(target, Value) and target in sweep.active:
                sweep.ledger.contribute(inner, target, Cotangent(arrived[k], True, loose=k in loose))
        sweep.mark(inner, 0, len(op.body.ops))
        sweep.block(inner)
        start = len(loop.body.ops)
        cotangents = [handed_round(sweep, inner, inner.table.get(op.carried[k]), op.carried[k]) for k in slots]
        cotangents += [handed_round(sweep, inner, inner.table[v], v) for v in inner.slots]
        loop.body.yields = entering(sweep, loop, cotangents)
        sweep.mark(inner, start, -1)
    cotangents = [handed_round(sweep, scope, grads[k], op.outs[k]) for k in slots]
    cotangents += [handed_round(sweep, scope, sweep.ledger.get(scope, v), v) for v in inner.slots]
    loop.inits = entering(sweep, loop, cotangents)
    loop.outs = [Value(slot.type, slot.name) for slot in loop.carried]
    for k, out in zip(slots, loop.outs, strict=False):
        out.type = like(op.inits[k].type, out.type)
    sweep.builder.append(loop)
    for v, out in zip(inner.slots, loop.outs[len(slots) :], strict=True):
        scope.table[v] = Cotangent(out, in_memory(out.type), loose=sweep.ledger.is_formless(scope, v))
    for k, out in zip(slots, loop.outs, strict=False):
        target = op.inits[k]
        if isinstance(target, Value) and target in sweep.active:
            sweep.ledger.contribute(scope, target, Cotangent(out, in_memory(out.type), loose=k in loose))


def entering(sweep: Sweep, loop: For, cotangents: list[Operand]) -> list[Operand]:
    """The cotangents as initial values of a reversed loop: each in its slot's dtype, as the verifier requires."""
    held = [conformed(sweep.builder, grad, slot, hinted(slot)) for grad, slot in zip(cotangents, loop.carried, strict=True)]
    return [in_slot(sweep, grad, slot) for grad, slot in zip(held, loop.carried, strict=True)]


def in_slot(sweep: Sweep, grad: Operand, slot: Value) -> Operand:
    """Cast a cotangent of open dtype to that of its slot; without narrow numbers both are float64."""
    want = getattr(slot.type, "dtype", None)
    is_open = isinstance(slot.type, Array) and isinstance(grad.type, Array) and grad.type.dtype is None
    if not sweep.narrow or not is_open or want in (None, "any"):
        return grad
    return sweep.builder.call("cast", grad, hint=hinted(slot), dtype=want)


def handed_round(sweep: Sweep, scope: Scope, grad: Cotangent | None, value: Value) -> Operand:
    """The cotangent of ``value`` as a reversed loop carries it: in memory that it owns, or the number 0."""
    grad = sweep.ledger.handed(scope, grad, value)
    if not grad.loose:
        return sweep.ledger.owned(grad, value)
    return grad.value if grad.owned else sweep.ledger.copied(grad.value, value)


def is_loose(sweep: Sweep, op: For | While, k: int, scope: Scope, inner: Scope) -> bool:
    """Whether a slot's cotangent may be the number 0, because the name may be unbound before the loop, or before or after an iteration."""
    ends = ((scope, op.inits[k]), (inner, op.carried[k]), (inner, op.body.yields[k]), (scope, op.outs[k]))
    return any(isinstance(value, Value) and sweep.ledger.is_formless(where, value) for where, value in ends)


def arriving(op: For | While, k: int) -> Type:
    """The type of a slot's cotangent at the start of a reversed iteration: that of the value yielded, not of the value carried in."""
    return cotangent_type(like(op.body.yields[k].type, op.carried[k].type))


def reversed_range(sweep: Sweep, op: For | While) -> For:
    """The reversed loop's range; for a loop with an exit, over the iterations that were started."""
    if isinstance(op, While):
        return For([], op.loc, ZERO, op.outs[-1], ONE, backward=True)
    if not op.until:
        return For([], op.loc, op.start, op.stop, op.step, backward=not op.backward)
    assert not op.backward
    span = operand(arithmetic(sweep.builder, "multiply", op.outs[-1], op.step))
    stop = span if number(op.start) == 0 else operand(arithmetic(sweep.builder, "add", op.start, span))
    return For([], op.loc, op.start, stop, op.step, backward=True)


def like(here: Type, type_: Type) -> Type:
    """A type with the extents known at another place, where they differ."""
    if not isinstance(here, Array) or not isinstance(type_, Array) or here.shape is None or type_.shape is None:
        return type_
    return type_ if same_shape(here.shape, type_.shape) else Array(type_.dtype, here.shape)
