"""The Jacobian by forward mode, column by column: the IR of a function -> its results, and a loop over the argument elements.

For functions with an op that has no form for many tangents at once. The forward half of a pullback runs once.
Its backward half is transposed, so that inside the loop it maps tangents of the arguments to those of the
results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from symgrad.adjoint.calling import with_sensitivities
from symgrad.adjoint.matrices.elements import Elements, Part
from symgrad.adjoint.matrices.invariants import common, distributed
from symgrad.adjoint.matrices.jacobian import Rows, name_of
from symgrad.adjoint.reversals.custom import expanded
from symgrad.adjoint.reverse import gradient
from symgrad.adjoint.saving.costs import INTERPRETED, Costs
from symgrad.ir.core import NONE, ONE, ZERO, Block, Const, For, Func, Operand, Value, substitute
from symgrad.ir.types import INT, is_complex
from symgrad.tangent.half import linear_half
from symgrad.tangent.write import phases_checked


def columns_in_turn(
    func: Func,
    wrt: Sequence[int],
    active_results: Sequence[int],
    *,
    name: str | None = None,
    taken: set[str] | None = None,
    costs: Costs = INTERPRETED,
) -> Func:
    """The function that computes ``func`` and its Jacobians; parameters and results are those of ``adjoint.jacobian``.

    Raises NoDerivative where the backward half has no transpose.
    """
    label = name or f"{func.name}_jacobian"
    whole = gradient(
        with_sensitivities(phases_checked(func, wrt, active_results, taken)),
        wrt,
        active_results=active_results,
        value=True,
        seeds=True,
        name=label,
        taken=taken,
        costs=costs,
    )
    count = len(active_results)

    def transpose(second: Func) -> Func:
        seeds = range(len(second.params) - count, len(second.params))
        return linear_half(second, seeds, len(wrt), label, costs, 'use mode="reverse"')

    rows = Rows.of(expanded(whole, taken), len(func.body.yields), list(active_results), wrt, taken or set(), costs, transpose)
    seeds, rows.once.args = rows.once.args[:count], rows.once.args[count:]
    substitute(rows.once, dict(zip(seeds, [part.value for part in rows.elements.parts], strict=True)))  # only their form is read
    return InTurn(rows, Elements(rows.builder)).whole()


@dataclass(slots=True)
class InTurn:
    """The Jacobian during construction: ``rows.once`` maps tangents of the parameters to those of the results."""

    rows: Rows
    elements: Elements  #: of the parameters

    def whole(self) -> Func:
        """The function with the Jacobians among its results."""
        rows, elements = self.rows, self.elements
        with rows.builder.at(rows.func.loc):
            for param in rows.params:
                elements.add(param)
            if elements.is_one_number():
                substitute(rows.once, {rows.once.args[0]: elements.one(rows.once.args[0].type)})
                rows.body.ops += rows.once.ops
                (number,) = elements.parts
                matrices = [elements.as_argument(y, number, name_of(number.value)) for y in rows.once.yields]
            else:
                rows.body.ops += common(rows.once)
                columns = self.loop()
                pairs = zip(columns, rows.elements.parts, strict=True)
                matrices = [self.turned(block, output, part) for block, output in pairs for part in elements.parts]
        rows.body.yields += matrices
        rows.func.results += [name_of(param) for _ in rows.elements.parts for param in rows.params]
        return rows.func

    def loop(self) -> list[Value]:
        """The tangents of each result, one for each element of the parameters."""
        rows, builder = self.rows, self.rows.builder
        distributed(rows.once, builder, rows.costs)
        pairs = list(zip(rows.once.yields, rows.elements.parts, strict=True))
        buffers = [self.buffer(tangent, output) for tangent, output in pairs]
        index = Value(INT, "column")
        inside = Block([index, *(Value(b.type, b.name) for b in buffers)])
        with builder.inside(inside):
            substitute(rows.once, dict(zip(rows.once.args, self.seeds(index), strict=True)))
            inside.ops += rows.once.ops
            for carried, tangent, (_, output) in zip(inside.args[1:], rows.once.yields, pairs, strict=True):
                flat = builder.call("reshape", tangent, output.size) if output.rank is None else tangent
                inside.yields.append(builder.call("set_at", carried, flat, index, hint=carried.name, index="i"))
        outs = [Value(b.type, b.name) for b in buffers]
        builder.append(For(list(outs), rows.func.loc, ZERO, self.elements.total, ONE, list(buffers), inside))
        return outs

    def buffer(self, tangent: Operand, output: Part) -> Value:
        """Memory for the tangents of one result, flat if its rank is unknown."""
        dtype = getattr(tangent.type, "dtype", None)
        extents = [output.size] if output.rank is None else self.elements.extents(output.value)
        dtype = dtype if dtype not in (None, "any") else "c128" if is_complex(tangent.type) else "f64"
        return self.rows.builder.call("empty", self.elements.total, *extents, hint="columns", dtype=dtype)

    def seeds(self, column: Value) -> list[Operand]:
        """The tangent of each parameter for one column: one-hot."""
        call, elements = self.rows.builder.call, self.elements
        flat = call("zeros", elements.total, hint="tangent")
        flat = call("set_at", flat, Const(1.0), column, hint="tangent", index="i")
        seeds: list[Operand] = []
        for part in elements.parts:
            if part.is_number:
                seeds.append(call("take", elements.exact(flat, part), part.first, index="i"))
                continue
            own = flat if len(elements.parts) == 1 else call("view", flat, part.first, elements.stop(part), NONE, index="s")
            own = elements.exact(own, part)
            seeds.append(own if part.rank == 1 else call("reshape", own, *elements.extents(part.value)))
        return seeds

    def turned(self, columns: Value, output: Part, part: Part) -> Operand:
        """The Jacobian of one result with respect to one parameter."""
        block = self.elements.turned(columns, part, name_of(part.value))
        if output.rank is not None:
            return block
        call, extents = self.rows.builder.call, self.elements.extents(part.value)
        shape = call("shape_and", call("shape_of", output.value), *extents)
        return call("reshape", block, shape, hint=name_of(part.value))


__all__ = ["columns_in_turn"]
