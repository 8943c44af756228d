"""table: sums of products over named axes: ``einsum``, ``tensordot``, and products of stacks of matrices.

Each operand has a label for each of its axes. A matrix product for each index of the remaining axes goes to
BLAS; everything else is a reduction of the product, which has an axis for each label.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from symgrad.ir.core import ONE, ZERO, Call, Operand
from symgrad.ir.types import Scalar
from symgrad.loops.arrays import constant, dtype_of
from symgrad.loops.context import Context, Thing
from symgrad.loops.forms import Form, Index, cast_to, filled, mapped, stored, view_of_form
from symgrad.loops.reach import OutOfReach
from symgrad.loops.rows.matrices import as_matrix, bases
from symgrad.loops.rows.reductions import reduce, sum_fold
from symgrad.loops.writer import number
from symgrad.ops.rows.einsum import MOST_EINSUM, subscripts_of
from symgrad.ops.rows.linalg import contracted

Labels = Sequence[str]


@dataclass(frozen=True, slots=True)
class Factor:
    """An operand with a label for each axis."""

    labels: Labels
    form: Form

    def at(self, index: dict[str, Operand]) -> Operand:
        """The element where each label has this index; axes of extent 1 are broadcast."""
        return self.form.at(tuple(ZERO if number(e) == 1 else index[c] for c, e in zip(self.labels, self.form.extents, strict=True)))


def contraction(lowering: Context, op: Call, factors: Sequence[Factor], out: Labels, shape: Sequence[Operand] | None = None) -> Thing:
    """The sum over all labels that the result lacks; ``shape`` gives extents of the result that no operand has."""
    if dtype_of(op) == "bool":
        raise OutOfReach("products of arrays of booleans", op.loc)
    extents: dict[str, Operand] = {}
    for factor in factors:
        for label, extent in zip(factor.labels, factor.form.extents, strict=True):
            extents[label] = extent if number(extents.get(label, ONE)) == 1 else same_extent(lowering, extents[label], extent)
    labels = list(out)
    for k, extent in enumerate(shape or ()):
        label = labels[k]
        if number(extent) == 1 and number(extents.get(label, ONE)) != 1:
            labels[k] = f"{label}{k}"  # it was broadcast: its cotangent is a sum
            extents[labels[k]] = ONE
        else:
            extents[label] = extent if number(extents.get(label, ONE)) == 1 else same_extent(lowering, extents[label], extent)
    kept = list(dict.fromkeys(labels))
    form = as_products(lowering, op, factors, kept, extents) or as_sums(lowering, op, factors, kept, extents)
    if len(kept) < len(labels):
        form = on_diagonal(lowering, form, kept, labels, extents)
    if isinstance(op.outs[0].type, Scalar):
        return form.at(())
    return lowering.memory(form.memory, op.outs[0], form.extents) if form.memory is not None else form


def same_extent(lowering: Context, a: Operand, b: Operand) -> Operand:
    return a if number(b) == 1 else lowering.writer.require_equal(a, b)


def factor_in_memory(lowering: Context, factor: Factor, extents: dict[str, Operand]) -> Factor:
    """A factor, in memory if its elements are read more than once."""
    form = factor.form
    if form.cost == 0 or set(factor.labels) >= {c for c, e in extents.items() if number(e) != 1}:
        return factor
    return Factor(factor.labels, lowering.give_memory(view_of_form(form, form.extents, lambda i: i), None))


def as_sums(lowering: Context, op: Call, factors: Sequence[Factor], kept: Labels, extents: dict[str, Operand]) -> Form:
    """The product of the factors, summed over the labels that are not kept."""
    writer, dtype = lowering.writer, dtype_of(op)
    factors = [factor_in_memory(lowering, factor, extents) for factor in factors]
    order = [*kept, *(c for c in extents if c not in kept)]

    def at(index: Index) -> Operand:
        places = dict(zip(order, index, strict=True))
        total: Operand | None = None
        for factor in factors:
            element = cast_to(writer, factor.at(places), dtype)
            total = element if total is None else cast_to(writer, writer.call("multiply", total, element, via=None), dtype)
        assert total is not None
        return total

    whole = Form(dtype, tuple(extents[c] for c in order), at, tuple(f.form for f in factors), len(factors) - 1)
    gone = range(len(kept), len(order))
    if not gone:
        return lowering.give_memory(whole, None, op.outs[0].name)
    sums = reduce(lowering, whole, gone, False, sum_fold(writer, dtype), op.outs[0].name)
    if not isinstance(sums, Form):
        return filled(dtype, (), cast_to(writer, sums, dtype))
    if sums.dtype == dtype:
        return sums
    return lowering.give_memory(mapped(writer, dtype, [sums], lambda e: cast_to(writer, e[0], dtype), 0), None)  # sums are wider


def as_products(lowering: Context, op: Call, factors: Sequence[Factor], kept: Labels, extents: dict[str, Operand]) -> Form | None:
    """One matrix product for each index of the shared axes; None if it has no such form."""
    writer, dtype = lowering.writer, dtype_of(op)
    if len(factors) != 2 or len(kept) < 2 or dtype not in ("f32", "f64") or any(f.form.dtype != dtype for f in factors):
        return None
    first, second = factors
    *stack, row, column = kept
    if row not in first.labels:
        first, second = second, first
    (summed, *more) = [c for c in extents if c not in kept] or [""]
    if more or not summed or {*first.labels} != {*first.labels} & {*stack} | {row, summed}:
        return None
    if {*second.labels} != {*second.labels} & {*stack} | {summed, column} or any(len({*f.labels}) < len(f.labels) for f in factors):
        return None
    if any(number(e) == 1 for f in factors for c, e in zip(f.labels, f.form.extents, strict=True) if c in (row, column, summed)):
        return None
    if len(stack) > MOST_PLACES:
        return None

    def matrix(factor: Factor, places: dict[str, Operand], rows: str, columns: str) -> Form:
        def at(index: Index) -> Operand:
            return factor.at({**places, rows: index[0], columns: index[1]})

        return Form(dtype, (extents[rows], extents[columns]), at, (factor.form,))

    if stack:  # a single matrix is stored in its best layout
        first, second = (factor_in_memory(lowering, factor, extents) for factor in (first, second))
    handle = writer.empty(dtype, [extents[c] for c in kept], op.outs[0].name)
    with writer.nest([extents[c] for c in stack]) as index:
        places = dict(zip(stack, index, strict=True))
        pair = as_matrix(lowering, matrix(first, places, row, summed)), as_matrix(lowering, matrix(second, places, summed, column))
        if stack:
            writer.whole(f"product_at{len(stack)}", handle, *pair, *index, *bases(lowering, pair))
        else:
            writer.whole("product_into", handle, *pair, *bases(lowering, pair))
    return stored(writer, handle, dtype, [extents[c] for c in kept], frozenset({handle}))


#: the maximum rank of a stack of products
MOST_PLACES = 3


def on_diagonal(lowering: Context, form: Form, kept: Labels, labels: Labels, extents: dict[str, Operand]) -> Form:
    """The elements on the diagonals where repeated labels agree, and zeros elsewhere."""
    writer, shape = lowering.writer, [extents[c] for c in labels]
    handle = lowering.new_array(filled(form.dtype, shape, constant(form.dtype, 0)))
    with writer.nest([extents[c] for c in kept]) as index:
        places = dict(zip(kept, index, strict=True))
        writer.store(handle, form.at(index), tuple(places[c] for c in labels))
    return stored(writer, handle, form.dtype, shape, frozenset({handle}))


# ------------------------------------------------------------------ rules


def einsum(lowering: Context, op: Call) -> Thing:
    """``einsum`` of any number of operands."""
    labels, out = subscripts_of(op.settings["subscripts"])
    forms = [lowering.form(a) for a in op.args]
    refuse_unlike(op, [*labels], [f.rank for f in forms])
    return contraction(lowering, op, [Factor(names, f) for names, f in zip(labels, forms, strict=True)], out)


def einsum_part(position: int) -> Callable[[Context, Call], Thing]:
    """The cotangent of one operand: the contraction of the result's cotangent with the other operands."""

    def rule(lowering: Context, op: Call) -> Thing:
        labels, out = subscripts_of(op.settings["subscripts"])
        others = [names for k, names in enumerate(labels) if k != position]
        forms = [lowering.form(a) for a in op.args[:-1]]
        shape = lowering.extents(op.args[-1])
        refuse_unlike(op, [out, *others, labels[position]], [*(f.rank for f in forms), len(shape)])
        factors = [Factor(names, f) for names, f in zip([out, *others], forms, strict=True)]
        return contraction(lowering, op, factors, labels[position], shape)

    return rule


def refuse_unlike(op: Call, labels: Sequence[str], ranks: Sequence[int]) -> None:
    if any("." in names or len(names) != rank for names, rank in zip(labels, ranks, strict=True)):
        raise OutOfReach("np.einsum with an ellipsis, or with operands that its subscripts do not fit", op.loc)


def tensordot_labels(op: Call, a: int, b: int) -> tuple[Labels, Labels, Labels]:
    """The labels of the operands of a ``tensordot`` and of its result."""
    axes = contracted(op.settings["axes"], a, b)
    if axes is None:
        raise OutOfReach("axes that do not fit", op.loc)
    left, right = [f"a{k}" for k in range(a)], [f"b{k}" for k in range(b)]
    for k, m in zip(*axes, strict=True):
        right[m] = left[k]
    return left, right, [c for k, c in enumerate(left) if k not in axes[0]] + [c for k, c in enumerate(right) if k not in axes[1]]


def tensordot(lowering: Context, op: Call) -> Thing:
    a, b = lowering.form(op.args[0]), lowering.form(op.args[1])
    left, right, out = tensordot_labels(op, a.rank, b.rank)
    return contraction(lowering, op, [Factor(left, a), Factor(right, b)], out)


def tensordot_part(wants_left: bool) -> Callable[[Context, Call], Thing]:
    """``tensordot_left`` and ``tensordot_right``: the cotangent of one operand."""

    def rule(lowering: Context, op: Call) -> Thing:
        g, other, shape = lowering.form(op.args[0]), lowering.form(op.args[1]), lowering.extents(op.args[2])
        ranks = (len(shape), other.rank) if wants_left else (other.rank, len(shape))
        left, right, out = tensordot_labels(op, *ranks)
        own, theirs = (left, right) if wants_left else (right, left)
        return contraction(lowering, op, [Factor(out, g), Factor(theirs, other)], own, shape)

    return rule


def stack_labels(a: int, b: int) -> tuple[Labels, Labels, Labels]:
    """The labels of the operands of ``matmul`` and of its result; at least one operand is a stack."""
    most = max(a, b) - 2
    stack = [f"s{k}" for k in range(most)]
    left = ["k"] if a == 1 else [*stack[most - (a - 2) :], "i", "k"]
    right = ["k"] if b == 1 else [*stack[most - (b - 2) :], "k", "j"]
    return left, right, [*stack, *(["i"] if a > 1 else []), *(["j"] if b > 1 else [])]


def stacks(lowering: Context, op: Call) -> Thing:
    """``matmul`` where an operand is a stack of matrices."""
    a, b = lowering.form(op.args[0]), lowering.form(op.args[1])
    left, right, out = stack_labels(a.rank, b.rank)
    return contraction(lowering, op, [Factor(left, a), Factor(right, b)], out)


def stacks_part(lowering: Context, op: Call, wants_left: bool) -> Thing:
    """The cotangent of an operand of such a ``matmul``."""
    g, other, shape = lowering.form(op.args[0]), lowering.form(op.args[1]), lowering.extents(op.args[2])
    ranks = (len(shape), other.rank) if wants_left else (other.rank, len(shape))
    left, right, out = stack_labels(*ranks)
    own, theirs = (left, right) if wants_left else (right, left)
    return contraction(lowering, op, [Factor(out, g), Factor(theirs, other)], own, shape)


RULES = {
    "tensordot": tensordot,
    "tensordot_left": tensordot_part(True),
    "tensordot_right": tensordot_part(False),
    **{f"einsum{count}": einsum for count in range(1, MOST_EINSUM + 1)},
    **{f"einsum{count}_part{p}": einsum_part(p) for count in range(1, MOST_EINSUM + 1) for p in range(count)},
}
