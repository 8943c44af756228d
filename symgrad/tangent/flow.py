"""Tangents of branches, loops and calls of functions: they are yielded together with the values."""

from __future__ import annotations

from symgrad.ir.core import Apply, For, If, Value, While
from symgrad.ir.layout import enter, leave
from symgrad.ir.types import join
from symgrad.tangent.forward import Forward, hinted, pushes, tangent_type


@pushes(If)
def push_branch(forward: Forward, op: If) -> None:
    """Each side yields the tangents of its results, zeros for values without one."""
    active = [k for k, out in enumerate(op.outs) if out in forward.active]
    for side in op.blocks:
        forward.block(side)
        with forward.builder.inside(side):
            side.yields += [forward.held(side.yields[k], tangent_type(op.outs[k].type)) for k in active]
    for n, k in enumerate(active):
        ends = [side.yields[len(side.yields) - len(active) + n].type for side in op.blocks]
        forward.tangents[op.outs[k]] = tangent = Value(join(ends[0], ends[1]), hinted(op.outs[k]))
        op.outs.append(tangent)
    forward.builder.append(op)


@pushes(For, While)
def push_loop(forward: Forward, op: For | While) -> None:
    """The loop carries the tangents of its carried values too."""
    active = [k for k in range(len(op.carried)) if op.carried[k] in forward.active or op.outs[k] in forward.active]
    for k in active:
        slot, after = op.carried[k], op.outs[k]
        type_ = tangent_type(slot.type)
        inside, out = enter(op, op.body, forward.held(op.inits[k], type_), type_, hinted(slot))
        out.type = tangent_type(after.type)
        forward.tangents[slot], forward.tangents[after] = inside, out
    forward.block(op.body)
    with forward.builder.inside(op.body):
        for k in active:
            leave(op, op.body, forward.held(op.body.yields[k], tangent_type(op.carried[k].type)))
    forward.builder.append(op)


@pushes(Apply)
def push_apply(forward: Forward, op: Apply) -> None:
    """The call becomes one of a function that computes the tangents of its results too."""
    outs = [k for k, out in enumerate(op.outs) if out in forward.active]
    args = [k for k, a in enumerate(op.args) if isinstance(a, Value) and a in forward.tangents]
    if outs and args:
        assert op.func is not None
        op.func = forward.functions(op.func, tuple(args), tuple(outs))
        op.args = [*op.args, *(forward.held(op.args[k], tangent_type(op.args[k].type)) for k in args)]
        tangents = {op.outs[k]: Value(tangent_type(op.outs[k].type), hinted(op.outs[k])) for k in outs}
        op.outs = [*op.outs, *tangents.values()]
        forward.tangents |= tangents
    forward.builder.append(op)
