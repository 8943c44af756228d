"""Tangents of calls of rows: by partials, by the row applied to tangents, by a push-forward, or by the transposed pullback."""

from __future__ import annotations

from typing import Any

from symgrad.adjoint.analysis.activity import parameters
from symgrad.adjoint.expand import Expansion, is_by_numpy, operand
from symgrad.adjoint.reversals.rows import meanings, scaled, squared
from symgrad.adjoint.saving.remarks import grouped
from symgrad.ir.core import Call, Const, Operand, Value
from symgrad.ir.types import Array, List, Object, Scalar, ShapeOf, Tape, is_complex
from symgrad.notes import Notes
from symgrad.ops.declare import ROWS, Row
from symgrad.ops.tangents import PUSHED, apart, together
from symgrad.tangent.forward import Forward, hinted, pushes
from symgrad.tangent.transposed import transposed

#: an operand with a tangent: its index in the call, its index in a variadic parameter, the parameter, and the operand
Target = tuple[int, int, str, Value]


@pushes(Call)
def push_call(forward: Forward, op: Call) -> None:
    """Emit the op, then the tangents of its results; before the op if it overwrites their operands."""
    row = ROWS[op.name]
    if not row.consumes:
        forward.builder.append(op)
    targets = [
        (place, position, param, source)
        for place, (position, param, source) in enumerate(parameters(op))
        if isinstance(source, Value) and source in forward.tangents and param in row.differentiable
    ]
    if targets and forward.func.notes is not None:
        tell_rule(forward.func.notes, op, row, [param for _, _, param, _ in targets])
    if targets:
        tangents_of(forward, squared(op) if row.elementwise else op, targets)
    else:  # an empty container for values with tangents, such as a list
        forward.tangents |= {out: forward.zero(out) for out in op.outs if out in forward.active}
    if row.consumes:
        forward.builder.append(op)


def tell_rule(notes: Notes, op: Call, row: Row, params: list[str]) -> None:
    """Emit a remark on the contribution of each operand with a tangent, in the row's own text."""
    said: dict[str, None] = {}
    for param in params:
        word = f"{param.lstrip('*')}_tangent"
        partial, pushed = row.partials.get(param), PUSHED.get(row.name, {}).get(param)
        if row.elementwise and partial is not None:
            said[word if partial == "1" else f"-{word}" if partial == "-1" else f"{word} * {grouped(partial)}"] = None
        elif pushed is not None:
            said[pushed] = None
        elif param in together(row) or param in apart(row):
            said[f"{row.name} of {word}"] = None
        else:
            said[f"the cotangent of {param.lstrip('*')} transposed"] = None
    notes.add(
        "reverse", "rule", op.loc, f"out_tangent = {' + '.join(said)}", name=f"{row.name.removeprefix('user_')}({', '.join(row.params)})"
    )


def tangents_of(forward: Forward, op: Call, targets: list[Target]) -> None:
    """Record the tangents of an op's results."""
    row, builder = ROWS[op.name], forward.builder
    if op.name != row.name or len(op.args) != len(targets) and op.name == "square":
        targets = [(0, 0, "x", targets[0][3])]
    start = len(builder.block.ops)
    names = {param for _, _, param, _ in targets}
    at_once = together(row)
    has_partials = row.elementwise and all(row.partials.get(param) for param in names)
    if names <= at_once and not has_partials:
        mirrored(forward, op, row, at_once, targets)
        return
    pushed = PUSHED.get(op.name, {})
    known = {param for param in names if param in pushed or param in apart(row) or row.elementwise and row.partials.get(param)}
    if names - known or len(op.outs) > 1:
        results = transposed(forward, op, row, targets)
        for out, tangent in results.items():
            forward.tangents[out] = forward.settle(tangent, out, start, True)
        return
    out = op.outs[0]
    total: Operand | None = None
    if (text := pushed.get(" ".join(param for _, _, param, _ in targets))) is not None and len(targets) > 1:
        total = operand(expansion(forward, op, row, targets, hinted(out)).expand(text))
    else:
        for target in targets:
            total = added(forward, total, term(forward, op, row, target, len(targets) > 1), hinted(out))
    assert total is not None
    if isinstance(total, Value) and (total.name or "%").startswith("%"):
        total.name = hinted(out)
    forward.tangents[out] = forward.settle(total, out, start, is_whole(op, targets))


def is_whole(op: Call, targets: list[Target]) -> bool:
    """Whether no operand without a tangent has broadcast the result."""
    reached = {id_of for id_of, *_ in targets}
    return all(k in reached or isinstance(a.type, Scalar | ShapeOf | Object) for k, a in enumerate(op.args))


def mirrored(forward: Forward, op: Call, row: Row, at_once: frozenset[str], targets: list[Target]) -> None:
    """Apply the row to tangents: it has the same effect on their memory as on the values'."""
    start = len(forward.builder.block.ops)
    arguments: list[Operand] = []
    for _, param, source in parameters(op):
        if param not in at_once:
            arguments.append(source)
        elif isinstance(source, Value) and source in forward.tangents:
            arguments.append(forward.tangents[source])
        else:
            arguments.append(without_tangent(forward, op, param, source))
    if op.name == "may_share":  # only the memory of the first operand matters
        first = op.args[0]
        if not (isinstance(first, Value) and first in forward.tangents):
            forward.tangents[op.outs[0]] = arguments[1]
            return
        arguments[0] = forward.tangents[first]
    out = op.outs[0]
    settings = op.settings
    if settings.get("dtype", "") is None and isinstance(out.type, Array) and is_complex(out.type):  # the dtype of numbers may be open
        settings = {**settings, "dtype": out.type.dtype}
    tangent: Operand = forward.builder.call(op.name, *arguments, hint=hinted(out), **settings)
    if not row.consumes and op.name in BROADCASTING and not isinstance(out.type, List | Tape):
        tangent = forward.settle(tangent, out, start, False)
    forward.tangents[out] = tangent


#: rows that broadcast their operands, so that a missing tangent may be the number 0
BROADCASTING = frozenset({"where", "set_at", "add_at", "add_written", "accumulate"})


def without_tangent(forward: Forward, op: Call, param: str, source: Operand) -> Operand:
    """A zero tangent, for an operand that has none."""
    row = ROWS[op.name]
    is_stored_in = row.consumes and param == row.params[0]
    if op.name in BROADCASTING and not is_stored_in and isinstance(source.type, Array | Scalar):
        return Const(0.0)
    return forward.zero(source)


def term(forward: Forward, op: Call, row: Row, target: Target, is_part: bool) -> Operand:
    """The contribution of one operand's tangent; ``is_part``: is it one of several?"""
    place, _, param, source = target
    builder, tangent, hint = forward.builder, forward.tangents[source], "%t_tangent" if is_part else hinted(op.outs[0])
    if (text := PUSHED.get(op.name, {}).get(param)) is not None:
        return operand(expansion(forward, op, row, [target], hint).expand(text))
    if param in apart(row):
        arguments = [tangent if k == place else a for k, a in enumerate(op.args)]
        return builder.call(op.name, *arguments, hint=hint, **op.settings)
    text = row.partials[param]
    product, _ = scaled(builder, tangent, text, meanings(op, row), hint, is_by_numpy(op))
    return product


def expansion(forward: Forward, op: Call, row: Row, targets: list[Target], hint: str | None) -> Expansion:
    """The instantiation of a formula for the tangents of these operands."""
    names: dict[str, Any] = meanings(op, row)
    names |= {f"{param}_tangent": forward.tangents[source] for _, _, param, source in targets}
    return Expansion(forward.builder, names, hint, is_by_numpy(op))


def added(forward: Forward, total: Operand | None, new: Operand, hint: str) -> Operand:
    """The sum of the contributions; a difference if the last one is negated."""
    if total is None:
        return new
    ops = forward.builder.block.ops
    last = ops[-1] if ops else None
    if isinstance(last, Call) and last.name == "negative" and last.outs[0] is new:
        ops.pop()
        return forward.builder.call("subtract", total, last.args[0], hint=hint)
    return forward.builder.call("add", total, new, hint=hint)
