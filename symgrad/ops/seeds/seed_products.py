"""table: matrix products of which one factor has one more leading axis (see ``seeds``)."""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass

from symgrad.ir.core import Block, Call, Operand, walk
from symgrad.ir.types import Array, ShapeOf, is_plural
from symgrad.ops.rows.einsum import MOST_EINSUM, subscripts_of
from symgrad.ops.rows.linalg import contracted
from symgrad.ops.seeds.seeds import Batch, NotBatched, batched, shape_rank


@dataclass(frozen=True, slots=True)
class Lifted:
    """A factor: its value, the rank of one row of it, and whether it has the axis."""

    value: Operand
    rank: int
    varies: bool


def lifted(batch: Batch, operand: Operand) -> Lifted:
    return Lifted(batch.new(operand), batch.rank(operand), batch.varies(operand))


@batched("tensordot")
def over_axes(batch: Batch, op: Call) -> Operand:
    (a, b), ranks = (lifted(batch, x) for x in op.args), [batch.rank(x) for x in op.args]
    axes = contracted(op.settings["axes"], *ranks)
    if axes is None or a.varies and b.varies:
        raise NotBatched
    left, right = (tuple(k + one.varies for k in side) for one, side in zip((a, b), axes, strict=True))
    out = batch.builder.call("tensordot", a.value, b.value, axes=(left, right))
    return out if a.varies else batch.builder.call("moveaxis", out, source=a.rank - len(left), destination=0)


@batched("tensordot_left", "tensordot_right")
def factor_over_axes(batch: Batch, op: Call) -> Operand:
    """The cotangent of a factor of ``tensordot``: that of the result with the other factor, over the axes that this brings in alone."""
    (g, other), own = (lifted(batch, x) for x in op.args[:2]), shape_rank(op.args[2])
    left = op.name == "tensordot_left"
    axes = contracted(op.settings["axes"], *((own, other.rank) if left else (other.rank, own)))
    if axes is None or g.varies and other.varies:
        raise NotBatched
    mine, theirs = axes if left else axes[::-1]
    free = [k for k in range(own) if k not in mine]
    alone = [k for k in range(other.rank) if k not in theirs]
    first = len(free) if left else 0  # the positions of these axes in the cotangent of the result
    over_g = tuple(first + k + g.varies for k in range(len(alone)))
    over_other = tuple(k + other.varies for k in alone)
    met = [mine[theirs.index(k)] for k in sorted(theirs)]
    of_g, of_other = [-1] * g.varies + free, [-1] * other.varies + met  # -1 is the axis of the rows
    if left:
        out, labels = batch.builder.call("tensordot", g.value, other.value, axes=(over_g, over_other)), of_g + of_other
    else:
        out, labels = batch.builder.call("tensordot", other.value, g.value, axes=(over_other, over_g)), of_other + of_g
    order = tuple(labels.index(k) for k in range(-1, own))
    return out if order == tuple(range(own + 1)) else batch.builder.call("transpose", out, axes=order)


def einsum(batch: Batch, op: Call) -> Operand:
    labels, out = subscripts_of(op.settings["subscripts"])
    letter = free_letter([*labels, out])
    marked = [letter + names if batch.varies(a) else names for names, a in zip(labels, op.args, strict=True)]
    return batch.builder.call(op.name, *map(batch.new, op.args), subscripts=f"{','.join(marked)}->{letter}{out}")


def einsum_part(batch: Batch, op: Call) -> Operand:
    """The cotangent of one operand, where nothing was broadcast."""
    labels, out = subscripts_of(op.settings["subscripts"])
    count, _, position = op.name.removeprefix("einsum").partition("_part")
    own = labels[int(position)]
    rest = [names for k, names in enumerate(labels) if k != int(position)]
    *operands, shape = op.args
    asked = shape.type.shape if isinstance(shape.type, ShapeOf) else None
    shapes = [a.type.shape if isinstance(a.type, Array) else () for a in operands]
    plural = {c for names, s in zip([out, *rest], shapes, strict=True) for c, e in zip(names, s or (), strict=False) if is_plural(e)}
    if asked is None or not all(map(is_plural, asked)) or len(set(own)) < len(own) or not set(own) <= plural:
        raise NotBatched
    letter = free_letter([*labels, out])
    marked = [letter + names if batch.varies(a) else names for names, a in zip([out, *rest], operands, strict=True)]
    return batch.builder.call(f"einsum{count}", *map(batch.new, operands), subscripts=f"{','.join(marked)}->{letter}{own}")


def free_letter(labels: Sequence[str]) -> str:
    """A letter that no operand has."""
    free = [c for c in string.ascii_letters[::-1] if not any(c in names for names in labels)]
    if not free:
        raise NotBatched
    return free[-1]


for _count in range(1, MOST_EINSUM + 1):
    batched(f"einsum{_count}")(einsum)
    batched(*(f"einsum{_count}_part{p}" for p in range(_count)))(einsum_part)

#: products that several rows at once make products of matrices
PRODUCTS = frozenset({"matmul", "matmul_left", "matmul_right", "dot", "dot_left", "dot_right", "solve"})


def holds_products(block: Block) -> bool:
    """Whether there is a product of matrices in a block, or in those inside it."""
    return any(isinstance(op, Call) and op.name in PRODUCTS and is_matrix_product(op) for op in walk(block))


def is_matrix_product(op: Call) -> bool:
    """Whether one factor is a matrix and the product is not an outer product."""
    ranks = [a.type.rank for a in op.args[:2] if isinstance(a.type, Array)]
    return 2 in ranks


__all__ = ["holds_products"]
