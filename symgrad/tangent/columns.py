"""The Jacobian by forward mode: the IR of a function -> the IR that computes its results and all their tangents in one sweep.

The tangents of the push-forward have a leading axis over all elements of the arguments, each place with a
one-hot tangent. Ops that do not depend on tangents are computed once, as before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from symgrad.adjoint.calling import with_sensitivities
from symgrad.adjoint.matrices.elements import Elements
from symgrad.adjoint.matrices.jacobian import name_of
from symgrad.adjoint.matrices.seed_batches import together
from symgrad.adjoint.reversals.custom import expanded
from symgrad.ir.core import NONE, Block, Func, Operand, Value, substitute
from symgrad.ir.types import Array
from symgrad.ops.build import Builder, know, symbols
from symgrad.ops.seeds.seeds import Batch
from symgrad.tangent.write import push_forward


def columns(
    func: Func, wrt: Sequence[int], active_results: Sequence[int], *, name: str | None = None, taken: set[str] | None = None
) -> Func:
    """The function that computes ``func`` and its Jacobians, by columns; parameters and results are those of ``adjoint.jacobian``.

    Raises NotBatched where an op has no form for many tangents at once.
    """
    label = name or f"{func.name}_jacobian"
    taken = set() if taken is None else taken
    single = len(wrt) == 1 and not isinstance(func.params[wrt[0]].type, Array)  # whose tangents are the Jacobians
    sweep = expanded(push_forward(with_sensitivities(func), wrt, active_results, label, taken=taken, shared=not single), taken)
    taken |= symbols(sweep)
    builder = Builder(Block(), sweep.loc, taken=taken)
    know(builder, sweep)
    return Columns(sweep, len(func.body.yields), [sweep.params[k] for k in wrt], Elements(builder)).whole()


@dataclass(slots=True)
class Columns:
    """The Jacobian during construction.

    ``sweep`` is the push-forward: its first ``own`` results are the function's, its last parameters are the
    tangents of ``params``.
    """

    sweep: Func
    own: int
    params: list[Value]
    elements: Elements

    def whole(self) -> Func:
        """The function with the Jacobians among its results."""
        builder, body = self.elements.builder, self.sweep.body
        count = len(body.args) - len(self.params)
        tangents, body.args = body.args[count:], body.args[:count]
        with builder.inside(block := Block(body.args)), builder.at(self.sweep.loc):
            for param in self.params:
                self.elements.add(param)
            if self.elements.is_one_number():
                substitute(body, {tangents[0]: self.elements.one(tangents[0].type)})
                block.ops += body.ops
                (part,) = self.elements.parts
                matrices = [self.elements.as_argument(y, part, name_of(part.value)) for y in body.yields[self.own :]]
            else:
                matrices = self.at_once(body, tangents)
        block.yields = [*body.yields[: self.own], *matrices]
        self.sweep.body = block
        self.sweep.results[self.own :] = [name_of(param) for _ in body.yields[self.own :] for param in self.params]
        return self.sweep

    def at_once(self, body: Block, tangents: list[Value]) -> list[Operand]:
        """All columns of the Jacobians: for each result those of all parameters."""
        elements = self.elements
        builder = elements.builder
        hint = tangents[0].name if len(tangents) == 1 else "tangents"
        flat = builder.call("eye", elements.total, NONE, hint=hint)
        seeds = [elements.directions(flat, elements.total, part) for part in elements.parts]
        for seed, tangent in zip(seeds, tangents, strict=True):
            seed.name = tangent.name
        results = together(Block(tangents, body.ops, body.yields[self.own :]), Batch(builder, elements.total, {}), seeds)
        return [elements.turned(result, part, name_of(part.value)) for result in results for part in elements.parts]


__all__ = ["columns"]
