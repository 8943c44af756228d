"""Tangents of saved values, in the derivative of a derivative: a tape of tangents for each tape of values."""

from __future__ import annotations

from symgrad.adjoint.analysis.activity import may_be_active
from symgrad.adjoint.reversals.tape_ops import active_places
from symgrad.ir.core import Call, Operand, Value
from symgrad.tangent.forward import Forward, hinted, pushes, tangent_type


@pushes("tape", "slots")
def push_tape(forward: Forward, op: Call) -> None:
    """Create a tape of tangents with the number of slots of the tape itself."""
    forward.builder.append(op)
    out = op.outs[0]
    forward.tangents[out] = forward.builder.call(op.name, *op.args, hint=hinted(out), **op.settings)


@pushes("push", "put")
def push_kept(forward: Forward, op: Call) -> None:
    """Save the tangents of saved values in the same slot."""
    first = 1 if op.name == "push" else 2
    tape = forward.held(op.args[0], op.args[0].type)
    items = op.args[first:]
    tangents = [forward.held(items[k], tangent_type(items[k].type)) for k in active_places(items)]
    if tangents:
        tape = forward.builder.call(op.name, tape, *op.args[1:first], *tangents, hint=hinted(op.outs[0]), **op.settings)
    forward.tangents[op.outs[0]] = tape
    forward.builder.append(op)


@pushes("pop", "get")
def push_read(forward: Forward, op: Call) -> None:
    """Read the tangents of saved values from the same slot."""
    first = 1 if op.name == "pop" else 0
    tape: Operand = forward.held(op.args[0], op.args[0].type)
    outs = [op.outs[first + k] for k in active_places(op.outs[first:])]
    tangents = {out: Value(tangent_type(out.type), hinted(out)) for out in outs if may_be_active(out.type)}
    if tangents:
        rest = [Value(tape.type, hinted(op.outs[0]))] if first else []
        forward.builder.append(Call([*rest, *tangents.values()], op.loc, op.name, [tape, *op.args[1:]], dict(op.settings)))
        forward.tangents |= dict(zip(op.outs[:first], rest, strict=True))
    elif first:
        forward.tangents[op.outs[0]] = tape
    forward.tangents |= {out: tangent for out, tangent in tangents.items() if out in forward.active}
    forward.builder.append(op)
