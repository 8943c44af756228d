"""Reverses calls of functions of the program: the forward function of a pair is called, and later the backward one."""

from __future__ import annotations

from symgrad.adjoint.accumulate import Cotangent, Scope, cotangent_type, hinted, in_memory
from symgrad.adjoint.sweep import Sweep, reverses
from symgrad.ir.core import Apply, Value
from symgrad.ir.types import Tape


@reverses(Apply)
def reverse_apply(sweep: Sweep, scope: Scope, op: Apply, index: int) -> None:
    """Reverse a call: it becomes a call of the forward function, which also returns a box; its reverse calls the backward function."""
    active = [k for k, a in enumerate(op.args) if isinstance(a, Value) and a in sweep.active]
    if not active:
        return
    assert op.func is not None
    if op.func.original is not None:
        reverse_kept(sweep, scope, op, active)
        return
    grads = [(k, grad) for k, out in enumerate(op.outs) if (grad := sweep.ledger.arrived(scope, out)) is not None]
    forward, backward = sweep.pairs.pair(op.func, tuple(active), tuple(k for k, _ in grads))
    if sweep.func.notes is not None:
        sweep.func.notes.add("reverse", "rule", op.loc, f"{forward.name} keeps what {backward.name} needs", name=f"{op.func.name}(...)")
    seeds = [sweep.ledger.dense(grad.value, op.outs[k]) for k, grad in grads]
    box = Value(Tape(), "box")
    op.func = forward
    op.outs.append(box)
    sweep.ledger.homes[box] = scope.block
    contribute(sweep, scope, op, active, Apply([], op.loc, backward, [box, *seeds]))


def reverse_kept(sweep: Sweep, scope: Scope, op: Apply, active: list[int]) -> None:
    """Reverse a call that text to read keeps: the gradient of the function is called with the same arguments, and the cotangents."""
    assert op.func is not None
    grads = [(k, grad) for k, out in enumerate(op.outs) if (grad := sweep.ledger.arrived(scope, out)) is not None]
    gradient = sweep.pairs.gradient(op.func, tuple(active), tuple(k for k, _ in grads))
    seeds = [sweep.ledger.dense(grad.value, op.outs[k]) for k, grad in grads]
    contribute(sweep, scope, op, active, Apply([], op.loc, gradient, [*op.args, *seeds]))


def contribute(sweep: Sweep, scope: Scope, op: Apply, active: list[int], reverse: Apply) -> None:
    """Append the reverse of a call, and add its results to the cotangents of the active arguments."""
    sources = [a for k in active if isinstance(a := op.args[k], Value)]
    reverse.outs = [Value(cotangent_type(a.type), hinted(a)) for a in sources]
    sweep.builder.append(reverse)
    for source, out in zip(sources, reverse.outs, strict=True):
        sweep.ledger.contribute(scope, source, Cotangent(out, in_memory(out.type)))
