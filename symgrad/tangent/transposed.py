"""The push-forward of a row that has only a pullback, by transposition.

The pullback is linear in the cotangents of the results, so its own reverse by them maps tangents of operands to
those of results.
"""

from __future__ import annotations

from typing import Any

from symgrad.adjoint.expand import Absent, Expansion, is_by_numpy, operand
from symgrad.adjoint.reversals.custom import expanded
from symgrad.adjoint.reverse import gradient
from symgrad.errors import NoDerivative
from symgrad.ir.core import Block, Call, Func, Operand, Value, clone_block, substitute, walk
from symgrad.ir.types import is_complex
from symgrad.ops.build import Builder
from symgrad.ops.declare import Row
from symgrad.ops.tangents import VECTORS
from symgrad.tangent.forward import Forward, hinted, tangent_type
from symgrad.tangent.half import removed


def transposed(forward: Forward, op: Call, row: Row, targets: list[tuple[int, int, str, Value]]) -> dict[Value, Operand]:
    """The tangents of the results of an op, by result."""
    refuse_phases(forward, op)
    fresh: dict[Value, Value] = {}

    def inside(value: Operand) -> Operand:
        if not isinstance(value, Value):
            return value
        return fresh.setdefault(value, Value(value.type, value.name))

    outs = [out for out in op.outs if out in forward.active]
    names: dict[str, Any] = dict(op.settings)
    arguments = [inside(a) for a in op.args]
    for place, param in enumerate(row.params):
        names[param] = arguments[place:] if param.startswith("*") else arguments[place]
    names.update((label, inside(out)) for label, out in zip(row.outs, op.outs, strict=False))
    grads = {out: Value(tangent_type(out.type), f"{out.name or 't'}_grad") for out in outs}
    for label, out in zip(row.outs, op.outs, strict=False):
        names[f"{label}_grad"] = grads[out] if out in grads else Absent(lambda: operand(0.0))
    builder = Builder(Block(), forward.builder.loc, taken=forward.builder.taken)
    builder.extents.update({fresh[v]: e for v, e in forward.builder.extents.items() if v in fresh})
    seeds: list[Operand] = []
    computed: dict[str, Any] = {}
    for _, position, param, source in targets:
        text = row.pullbacks.get(param)
        if text is None:
            continue
        names["position"] = position
        pulled = Expansion(builder, names, hinted(source), is_by_numpy(op), computed).expand(text)
        if not isinstance(pulled, Absent):
            builder.block.yields.append(pulled)
            seeds.append(forward.tangents[source])
    block = builder.block
    block.args = [*fresh.values(), *grads.values()]
    removed(block, "unphased")  # the cotangents here are placeholders, which say nothing about phases
    pullback = expanded(Func("pullback", block, [], op.loc), builder.taken)
    wrt = list(range(len(fresh), len(block.args)))
    linear = gradient(pullback, wrt, active_results=range(len(seeds)), value=False, seeds=True, taken=builder.taken)
    # only the form of a cotangent of the pullback is read, which is that of the result
    return dict(zip(outs, inlined(forward, expanded(linear, builder.taken), [*fresh, *outs, *seeds]), strict=True))


def refuse_phases(forward: Forward, op: Call) -> None:
    """Refuse tangents of vectors determined up to a phase whose use nothing checks: those of called functions."""
    for k in VECTORS.get(op.name, ()):
        if op.outs[k] in forward.active and is_complex(op.outs[k].type) and op.outs[k] not in forward.varied:
            what = f"forward mode does not check whether a called function depends on the phases of the complex vectors of {op.name}"
            raise NoDerivative(what, op.loc, "use reverse mode: grad, vjp or jacrev")


def inlined(forward: Forward, func: Func, operands: list[Operand]) -> list[Operand]:
    """Inline the ops of a function here, with these operands as its parameters."""
    copy = clone_block(func.body, {})
    substitute(copy, dict(zip(copy.args, operands, strict=True)))
    for op in walk(copy):
        for out in op.outs:
            out.name = None if out.name is None else "%t_tangent"
    forward.builder.block.ops += copy.ops
    return list(copy.yields)
