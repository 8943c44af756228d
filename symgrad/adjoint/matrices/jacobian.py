"""The Jacobian in reverse mode: the IR of a function -> the IR of the derivatives of all result elements, in rows.

The forward half runs once. The backward half is linear in its seeds, so its seed-independent part is computed
before the rows. The rest runs for many seeds at once, with a leading seed axis (``together``), or else in a
loop, once per result element, with a one-hot seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from symgrad.adjoint.analysis.definedness import Presence
from symgrad.adjoint.calling import with_sensitivities
from symgrad.adjoint.matrices.elements import Elements, Part
from symgrad.adjoint.matrices.invariants import common, distributed
from symgrad.adjoint.matrices.seed_batches import together
from symgrad.adjoint.pullback import Halves, backward, bound
from symgrad.adjoint.reversals.custom import expanded
from symgrad.adjoint.reverse import gradient
from symgrad.adjoint.saving.budget import Budget
from symgrad.adjoint.saving.costs import INTERPRETED, Costs
from symgrad.ir.core import NONE, ONE, ZERO, Block, Call, Const, For, Func, Operand, Value, substitute
from symgrad.ir.layout import Layout
from symgrad.ir.types import INT, Type, is_complex
from symgrad.ir.unbound import Unbound
from symgrad.ops.build import Builder, know, symbols
from symgrad.ops.seeds.seed_products import holds_products
from symgrad.ops.seeds.seeds import Batch, NotBatched

#: the number of rows computed at once: more do not run faster
MOST = 128
#: fewer rows do not justify turning a loop over numbers into one over arrays
FEW = 12


def jacobian(
    func: Func,
    wrt: Sequence[int],
    active_results: Sequence[int],
    *,
    name: str | None = None,
    taken: set[str] | None = None,
    costs: Costs = INTERPRETED,
    compiled: bool = False,
    budget: Budget | None = None,
) -> Func:
    """The function that computes ``func`` and its Jacobians.

    Its results are those of ``func``, then an array for each active result of shape ``m`` and each parameter in
    ``wrt`` of shape ``n``, in this order. The array has the shape ``(*m, *n)``: element ``(*i, *j)`` is the
    derivative of element ``i`` of the result with respect to element ``j`` of the parameter. Results and
    parameters are numbers, or arrays of known rank. ``taken``, ``costs`` and ``budget`` as for ``gradient``. If
    ``compiled``, several rows are computed at once only where that turns products with vectors into matrix
    products.
    """
    label = name or f"{func.name}_jacobian"
    taken = set() if taken is None else taken
    whole = gradient(
        with_sensitivities(func),
        wrt,
        active_results=active_results,
        value=True,
        seeds=True,
        name=label,
        taken=taken,
        costs=costs,
        budget=budget,
    )
    return Rows.of(expanded(whole, taken), len(func.body.yields), list(active_results), wrt, taken, costs).whole(compiled)


@dataclass(slots=True)
class Rows:
    """The Jacobian during construction: ``body`` is its body, ``once`` the backward half for one seed per result."""

    func: Func
    body: Block
    once: Block
    builder: Builder
    params: list[Value]  #: the parameters in ``wrt``
    elements: Elements  #: the elements of the differentiated results
    costs: Costs

    @classmethod
    def of(
        cls,
        whole: Func,
        values: int,
        active: list[int],
        wrt: Sequence[int],
        taken: set[str],
        costs: Costs,
        changed: Callable[[Func], Func] = lambda second: second,
    ) -> Rows:
        """Start from a gradient made with ``seeds=True``, of a function with ``values`` results.

        ``changed`` returns the replacement of the backward half, whose first parameters are the residuals.
        """
        halves = Halves.of(whole, values, len(active))
        second = changed(backward(Func(whole.name, halves.after, [], whole.loc), halves.residuals, halves.doubtful))
        params = second.body.args[: len(halves.residuals)]
        once = Block(second.body.args[len(params) :], second.body.ops, second.body.yields)
        copied = {op.args[0] for op in once.ops if isinstance(op, Call) and op.name == "copy"}
        layout = Layout()
        layout.enter(halves.before)
        presence = Presence(Unbound.of(halves.before), layout, {})
        pairs = list(zip(params, halves.residuals, strict=True))  # copies are made in each row, also where the value is unbound
        substitute(once, {p: bound(r, halves.before, presence) if p in copied else r for p, r in pairs})
        func = Func(whole.name, halves.before, list(whole.results[:values]), whole.loc, notes=whole.notes, guarded=whole.guarded)
        builder = Builder(halves.before, whole.loc, taken=taken | symbols(whole))
        know(builder, Func(whole.name, Block(halves.before.args, [*halves.before.ops, *once.ops])))
        rows = cls(func, halves.before, once, builder, [func.params[k] for k in wrt], Elements(builder), costs)
        for k in active:
            rows.elements.add(halves.before.yields[k])
        return rows

    def whole(self, compiled: bool) -> Func:
        """The function with the Jacobians among its results."""
        if self.elements.is_one_number():
            matrices = self.single()
        else:
            self.body.ops += common(self.once)
            rows = self.in_blocks() if self.pays(compiled) else None
            matrices = self.parted(self.loop() if rows is None else rows)
        self.body.yields += matrices
        self.func.results += [name_of(param) for _ in self.elements.parts for param in self.params]
        return self.func

    def pays(self, compiled: bool) -> bool:
        """Whether computing many rows at once pays: kernels gain matrix products; otherwise loops over numbers become loops over arrays."""
        if compiled:
            return holds_products(self.once)
        few = isinstance(self.elements.total, Const) and self.elements.total.value < FEW
        return not few or not any(isinstance(op, For) for op in self.once.ops)

    def single(self) -> list[Operand]:
        """The gradients of the only result, a number."""
        seed = self.elements.one(self.elements.parts[0].value.type)
        substitute(self.once, {self.once.args[0]: seed})
        self.body.ops += self.once.ops
        return list(self.once.yields)

    # ---------------------------------------------------------------- one row at a time

    def loop(self) -> list[Value]:
        """The rows of each parameter's Jacobians, stacked."""
        distributed(self.once, self.builder, self.costs)
        buffers = [self.buffer(grad, param) for grad, param in zip(self.once.yields, self.params, strict=True)]
        index = Value(INT, "row")
        inside = Block([index, *(Value(b.type, b.name) for b in buffers)])
        with self.builder.inside(inside):
            seeds = self.seeds(index)
            substitute(self.once, dict(zip(self.once.args, seeds, strict=True)))
            inside.ops += self.once.ops
            for carried, grad in zip(inside.args[1:], self.once.yields, strict=True):
                inside.yields.append(self.builder.call("set_at", carried, grad, index, hint=carried.name, index="i"))
        outs = [Value(b.type, b.name) for b in buffers]
        self.builder.append(For(list(outs), self.func.loc, ZERO, self.elements.total, ONE, list(buffers), inside))
        return outs

    def buffer(self, grad: Operand, param: Value) -> Value:
        """Memory for the rows of one parameter."""
        dtype = getattr(grad.type, "dtype", None)
        dtype = dtype if dtype not in (None, "any") else "c128" if is_complex(grad.type) else "f64"
        return self.builder.call("empty", self.elements.total, *self.elements.extents(param), hint=name_of(param), dtype=dtype)

    def seeds(self, row: Value) -> list[Operand]:
        """The cotangent of each result for one row: one-hot."""
        call, alone, label = self.builder.call, len(self.elements.parts) == 1, self.label
        flat = call("zeros", self.elements.total, hint=label, dtype=seed_dtype([o.value.type for o in self.elements.parts]))
        flat = call("set_at", flat, Const(1.0), row, hint=label, index="i")
        if alone:
            return [self.shaped(flat, self.elements.parts[0])]
        seeds: list[Operand] = []
        for output in self.elements.parts:
            if output.is_number:
                seeds.append(call("take", flat, output.first, index="i"))
                continue
            part = call("view", flat, output.first, self.elements.stop(output), NONE, index="s")
            seeds.append(self.shaped(part, output))
        return seeds

    def shaped(self, flat: Value, output: Part) -> Operand:
        """The elements of one result in its shape."""
        if output.rank is None:
            return self.builder.call("reshape", flat, self.builder.call("shape_of", output.value))
        return flat if output.rank == 1 else self.builder.call("reshape", flat, *self.elements.extents(output.value))

    # ---------------------------------------------------------------- many rows at once

    def in_blocks(self) -> list[Value] | None:
        """The rows, ``MOST`` at a time to bound their memory; None where they cannot be batched."""
        size = len(self.body.ops)
        try:
            if isinstance(self.elements.total, Const) and 0 < self.elements.total.value <= MOST:
                flat = self.builder.call("eye", self.elements.total, NONE, hint=self.label)
                return self.apart(zip(self.batch(flat, self.elements.total), self.once.yields, strict=True))
            return self.loop_over_blocks()
        except NotBatched:
            del self.body.ops[size:]
            return None

    def loop_over_blocks(self) -> list[Value]:
        """The loop over blocks of rows."""
        call = self.builder.call
        buffers = [self.buffer(grad, param) for grad, param in zip(self.once.yields, self.params, strict=True)]
        every = call("arange", self.elements.total, hint="every")
        first = Value(INT, "first")
        inside = Block([first, *(Value(b.type, b.name) for b in buffers)])
        with self.builder.inside(inside):
            last = call("add", first, Const(MOST))  # slices end at the last row
            places = call("view", every, first, last, NONE, hint="rows", index="s")
            count = call("extent", places, axis=0, hint="count")
            flat = call("zeros", count, self.elements.total, hint=self.label)
            flat = call("set_at", flat, Const(1.0), call("arange", count), places, hint=self.label, index="ii")
            for carried, rows in zip(inside.args[1:], self.batch(flat, count), strict=True):
                inside.yields.append(call("set_at", carried, rows, first, last, NONE, hint=carried.name, index="s"))
        outs = [Value(b.type, b.name) for b in buffers]
        self.builder.append(For(list(outs), self.func.loc, ZERO, self.elements.total, Const(MOST), list(buffers), inside))
        return outs

    def batch(self, flat: Value, count: Operand) -> list[Value]:
        """The rows of the parameters' Jacobians for a batch of seed rows."""
        makers = {out: op for op in self.body.ops if isinstance(op, Call) for out in op.outs}
        batch = Batch(self.builder, count, makers)
        return together(self.once, batch, [self.elements.directions(flat, count, part) for part in self.elements.parts])

    def apart(self, pairs: Iterable[tuple[Value, Operand]]) -> list[Value]:
        """Rows in the dtypes of gradients, each in memory of its own: scalar gradients may be the same value."""
        results: list[Value] = []
        for rows, grad in pairs:
            dtype = getattr(grad.type, "dtype", None)
            if dtype not in (None, "any", getattr(rows.type, "dtype", None)):
                results.append(self.builder.call("cast", rows, hint=rows.name, dtype=dtype))
            else:
                results.append(self.builder.call("copy", rows, hint=rows.name) if rows in results else rows)
        return results

    @property
    def label(self) -> str:
        """A name for the seeds."""
        return self.once.args[0].name or "seed" if len(self.elements.parts) == 1 else "seed"

    # ---------------------------------------------------------------- the results

    def parted(self, rows: Sequence[Value]) -> list[Operand]:
        """The Jacobians, cut out of the rows of all results: for each result those of all parameters."""
        alone = len(self.elements.parts) == 1
        matrices: list[Operand] = []
        for output in self.elements.parts:
            for block in rows:
                own: Operand = block
                if output.is_number:
                    own = self.builder.call("take", block, output.first, hint=block.name, index="i")
                elif not alone:
                    stop = self.elements.stop(output)
                    own = self.builder.call("take", block, output.first, stop, NONE, hint=block.name, index="s")
                matrices.append(own if output.is_number or output.rank == 1 else self.folded(own, output))
        return matrices

    def folded(self, rows: Operand, output: Part) -> Operand:
        """Rows reshaped to the axes of a result."""
        own, hint = self.elements.extents(rows)[1:], rows.name if isinstance(rows, Value) else None
        if output.rank is None:
            shape = self.builder.call("shape_and", self.builder.call("shape_of", output.value), *own)
            return self.builder.call("reshape", rows, shape, hint=hint)
        return self.builder.call("reshape", rows, *self.elements.extents(output.value), *own, hint=hint)


def name_of(param: Operand) -> str:
    """The name of a Jacobian with respect to a parameter."""
    return f"{(param.name if isinstance(param, Value) else None) or 'arg'}_jacobian"


def seed_dtype(types: Sequence[Type]) -> str:
    """The dtype that holds a seed of each type."""
    if any(map(is_complex, types)):
        return "c64" if all(getattr(t, "dtype", None) == "c64" for t in types) else "c128"
    first, *others = [getattr(t, "dtype", None) for t in types]
    return first if first in ("f16", "f32") and all(dtype == first for dtype in others) else "f64"


__all__ = ["jacobian"]
