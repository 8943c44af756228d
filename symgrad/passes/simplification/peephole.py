"""table: peephole rewrites of the backward half for NumPy: fewer passes over memory. Works in place.

(a * b).sum()                         ->      np.vdot(a, b)
a @ b                                 ->      a.dot(b)
g[:, None] * x * c                    ->      (g * c)[:, None] * x
g * np.where(x == y, 0.5, x == out)   ->      g * split_ties(x == out, x == y)
row = x[i]; row[0]                    ->      x[i, 0]
"""

from __future__ import annotations

from dataclasses import dataclass

import symgrad.ops.contracted
import symgrad.ops.rows.into  # noqa: F401  (it has the rows)
from symgrad.ir.core import NONE, ZERO, Call, Const, Func, Operand, Value, walk
from symgrad.ir.types import Array, Dim, Extent, Scalar, Shape, is_plural, same_extent, same_shape
from symgrad.ops.declare import ROWS
from symgrad.passes.facts import Facts, call
from symgrad.passes.simplification.factors import as_large, is_late, new, once
from symgrad.passes.simplification.fold import rewritten
from symgrad.passes.simplification.identities import shape_of_type, spread_operand
from symgrad.passes.simplification.strength_reduction import Rewrites, add_to_new_axis, axes_added_and_dropped, is_transpose

LETTERS = "ijklmnop"


@dataclass(slots=True)
class Factor:
    """An array, and which axis of a product each of its axes is broadcast to."""

    array: Operand
    axes: list[int]

    @property
    def shape(self) -> Shape:
        assert isinstance(self.array.type, Array)
        assert self.array.type.shape is not None
        return self.array.type.shape

    def extents(self) -> dict[int, Extent]:
        """The extents of the array by axis of the product, except for extents 1."""
        return {axis: extent for axis, extent in zip(self.axes, self.shape, strict=True) if extent != 1}


def only_summed(func: Func) -> set[Operand]:
    """The values that only sums read, so that they need not be computed if the sums are computed otherwise."""
    others: set[Operand] = set(func.body.yields)
    summed: set[Operand] = set()
    for op in walk(func.body):
        (summed if isinstance(op, Call) and op.name == "sum" else others).update(op.operands)
        for inner in op.blocks:
            others.update(inner.yields)
    return summed - others


def sum_of_broadcast(op: Call, facts: Facts, summed: set[Operand]) -> list[Call] | None:
    """Rewrite the sum of a broadcast product as a matrix product.

    ``(g[:, None, :] * b[None, :, :]).sum(2)`` becomes ``g.dot(b.T)``: the same products are added in another order,
    without an array that holds them all.
    """
    maker, out, product = facts.calls(op.args[0], "multiply"), op.outs[0].type, op.args[0].type
    if maker is None or op.args[0] not in summed or not (is_late(op, facts) and is_late(maker, facts) and facts.is_steady(maker)):
        return None
    if not isinstance(product, Array) or product.dtype != "f64" or not product.shape or not 2 <= len(product.shape) <= len(LETTERS):
        return None
    if isinstance(out, Array) and len(out.shape or ()) > 1 and out.layout != "?":
        return None
    pair = [factor_of(a, len(product.shape), facts) for a in maker.args]
    if any(f is None or not is_settled(f, product.shape) for f in pair):
        return None
    (a, before), (b, more) = (squeezed(f, op) for f in pair if f is not None)
    rank, axis = len(product.shape), op.settings["axis"]
    over = set(range(rank)) if axis is None else {k % rank for k in (axis if isinstance(axis, tuple) else (axis,))}
    kept = [k for k in range(rank) if k not in over and k in {*a.axes, *b.axes}]
    if not set(a.axes) & set(b.axes) & over or not pays(a, b):
        return None
    words = ["".join(LETTERS[k] for k in axes) for axes in (a.axes, b.axes, kept)]
    inner = new("contract", op, out, [a.array, b.array], subscripts=f"{words[0]},{words[1]}->{words[2]}")
    last = inner
    if len(kept) != len(shape_of_type(out) or ()):  # the axes of extent 1 are inserted again
        if not kept or not isinstance(out, Array) or out.shape is None or facts.is_stored(op.outs[0]) or facts.is_returned(op.outs[0]):
            return None
        index = "".join("s" if k in kept else "n" for k in range(rank) if op.settings["keepdims"] or k not in over)
        inner.outs[0].type = Array("f64", tuple(e for e, letter in zip(out.shape, index, strict=True) if letter == "s"))
        last = call("view", op, [inner.outs[0], *[NONE] * (3 * len(kept))], index=index)
    else:
        inner.outs = op.outs
    return [*before, *more, inner] if last is inner else [*before, *more, inner, last]


def pays(a: Factor, b: Factor) -> bool:
    """Whether a matrix product is faster; products of arrays without broadcasting are tiled together with the ops around them."""
    return not len(a.axes) == len(b.axes) == len({*a.axes, *b.axes})


def factor_of(operand: Operand, rank: int, facts: Facts) -> Factor | None:
    """The array that an operand of a product of this rank is a view of, with axes added, or broadcast."""
    shape = shape_of_type(operand.type)
    if not shape or getattr(operand.type, "dtype", None) != "f64":
        return None
    factor = Factor(operand, list(range(rank - len(shape), rank)))
    while (further := viewed_factor(factor, facts)) is not None:
        factor = further
    return factor


def viewed_factor(factor: Factor, facts: Facts) -> Factor | None:
    """The factor whose array the array of ``factor`` is a view of; None if it is no such view."""
    maker = facts.calls(factor.array, "view") or facts.calls(factor.array, "spread") or facts.calls(factor.array, "mT")
    if maker is None or not isinstance(maker.args[0].type, Array) or maker.args[0].type.shape is None or maker.args[0].type.dtype != "f64":
        return None
    rank = len(maker.args[0].type.shape)
    if is_transpose(maker):
        return Factor(maker.args[0], factor.axes[::-1])
    if maker.name == "spread":
        same = rank == len(factor.axes) and (maker.settings["keepdims"] or maker.settings["axis"] is None)
        return Factor(maker.args[0], factor.axes) if same else None
    index = maker.settings.get("index", ".")
    if set(index) - {"s", "n"} or not all(isinstance(bound, Const) and bound.value is None for bound in maker.args[1:]):
        return None
    letters = index + "s" * (rank - index.count("s"))
    return Factor(maker.args[0], [axis for axis, letter in zip(factor.axes, letters, strict=True) if letter == "s"])


def is_settled(factor: Factor, product: Shape) -> bool:
    """Whether types decide along which axes the array is broadcast."""
    return all(is_plural(extent) or same_extent(extent, product[axis]) for axis, extent in factor.extents().items())


def squeezed(factor: Factor, op: Call) -> tuple[Factor, list[Call]]:
    """The factor without the axes along which it is broadcast, and the ops that compute it."""
    wide = factor.extents()
    if len(wide) == len(factor.axes):
        return factor, []
    index = "".join("s" if axis in wide else "i" for axis in factor.axes)
    place = [b for letter in index for b in ([NONE] * 3 if letter == "s" else [ZERO])]
    view = new("view", op, Array("f64", tuple(wide.values())), [factor.array, *place], index=index)
    return Factor(view.outs[0], list(wide)), [view]


def spread_later(op: Call, facts: Facts) -> list[Call] | None:
    """Compute a product with a broadcast operand before broadcasting, where it is smaller then."""
    out = op.outs[0].type
    if not is_late(op, facts) or not isinstance(out, Array) or not out.shape:
        return None
    if facts.is_stored(op.outs[0]) or facts.is_returned(op.outs[0]):
        return None
    for side in (0, 1):
        maker = once(op.args[side], "spread", facts)
        if maker is None or not isinstance(maker.args[0].type, Array) or not maker.settings["keepdims"]:
            continue
        args = list(op.args)
        args[side] = maker.args[0]
        type_ = ROWS[op.name].law([a.type for a in args], op.settings, lambda k: Dim("?"))
        if not isinstance(type_, Array) or type_.shape is None or len(type_.shape) != len(out.shape) or type_.dtype != out.dtype:
            continue
        smaller = any(m == 1 and is_plural(o) for m, o in zip(type_.shape, out.shape, strict=True))
        if smaller and shape_of_type(op.args[side].type) == out.shape:
            inner = new(op.name, op, type_, args, **op.settings)
            return [inner, call("spread", op, [inner.outs[0], maker.args[1]], **maker.settings)]
    return None


#: layouts that NumPy traverses without a copy
BY_ROWS = frozenset({"C", "CF"})
#: cotangents of the factors of a product; for vectors an outer product
OUTER = frozenset({"matmul_left", "matmul_right", "dot_left", "dot_right", "outer"})
#: rows that choose the larger or smaller operand, and the winner's comparison
CHOOSING = {"maximum": "greater", "minimum": "less"}


def peephole(func: Func) -> Func:
    """Reduce the number of passes over memory, in place."""
    summed = only_summed(func)

    def contracted(op: Call, facts: Facts) -> list[Call] | None:
        """The sum of a broadcast product is a matrix product."""
        return sum_of_broadcast(op, facts, summed)

    def table(name: str, elementwise: bool) -> tuple[Rewrites, ...]:
        return (*((spread_operand,) if elementwise else ()), *LEANER.get(name, ()), *((contracted,) if name == "sum" else ()))

    return rewritten(func, table, "peephole")


def sum_as_product(op: Call, facts: Facts) -> Call | None:
    """``(a * b).sum()`` is ``np.vdot(a, b)``, which allocates no product; a column-major array is copied, but only one."""
    maker = once(op.args[0], "multiply", facts)
    if maker is None or op.settings["axis"] is not None or op.settings["keepdims"] or not is_late(op, facts):
        return None
    types = [a.type for a in maker.args]
    if not all(isinstance(t, Array) and t.dtype == "f64" and t.rank for t in types) or op.outs[0].type != Scalar("float", "f64"):
        return None
    a, b = types
    assert isinstance(a, Array)
    assert isinstance(b, Array)
    if not same_shape(a.shape, b.shape) or not {a.layout, b.layout} & BY_ROWS:
        return None
    return call("inner_product", op, list(maker.args))


def scaled_outer_product(op: Call, facts: Facts) -> list[Call] | None:
    """The outer product of ``g`` and ``x``, times a number, is that of ``g`` times the number, and ``x``."""
    if not is_late(op, facts):
        return None
    for side in (0, 1):
        number, product = op.args[1 - side], op.args[side]
        maker = facts.maker.get(product) if isinstance(product, Value) else None
        if not isinstance(maker, Call) or maker.name not in OUTER or once(product, maker.name, facts) is None:
            continue
        g, x, *shape = maker.args
        known = isinstance(number.type, Scalar) and number.type.kind in ("float", "int") and number.type.dtype in (None, "f64", "any")
        if known and is_vector(g) and is_vector(x) and is_double(op.outs[0], 2):
            inner = new("multiply", op, g.type, [g, number])
            return [inner, call(maker.name, op, [inner.outs[0], x, *shape], **maker.settings)]
    return None


def product_by_dot(op: Call, facts: Facts) -> Call | None:
    """``a @ b`` of matrices and vectors is ``a.dot(b)``, whose call takes half the time."""
    pair = list(op.args[:2])
    if op.name != "matmul":  # the cotangent of a vector: g has fewer axes than the matrix
        if not is_double(op.outs[0], 1) or not is_double(pair[1], 2):
            return None
        pair = pair[::-1] if op.name == "matmul_left" else pair
    if not is_late(op, facts) or not all(is_double(a, 1) or is_double(a, 2) for a in pair):
        return None
    return call("dot", op, pair)


def is_double(operand: Operand, rank: int) -> bool:
    """Whether the operand is an array of float64 of this rank."""
    return isinstance(operand.type, Array) and operand.type.rank == rank and operand.type.dtype == "f64"


def is_vector(operand: Operand) -> bool:
    return is_double(operand, 1)


def share_of_ties(op: Call, facts: Facts) -> list[Call] | None:
    """Ties are rare: without them, the bools that mark the winners suffice."""
    if not is_late(op, facts):
        return None
    for side in (0, 1):
        g, share = op.args[1 - side], op.args[side]
        maker = facts.calls(share, "share")
        out = op.outs[0].type
        if maker is None or not isinstance(out, Array) or out.dtype != "f64" or facts.count.get(share, 0) != 1:  # type: ignore[arg-type]
            continue
        if not isinstance(g.type, Array) or g.type.dtype != "f64" or not as_large(g.type, out) or not facts.is_steady(maker):
            continue
        if not isinstance(share.type, Array):
            continue
        x, best, y = maker.args
        truths = Array("bool", share.type.shape)
        won = new("equal", op, truths, [x, best])
        pair = [x, y]
        chosen = facts.maker.get(best) if isinstance(best, Value) else None
        if isinstance(chosen, Call) and chosen.name in CHOOSING and chosen.settings["via"] is None and is_pair(chosen.args, x, y):
            pair = list(chosen.args)  # the same text for both operands
            if best in facts.late and facts.is_steady(chosen):
                won = new(CHOOSING[chosen.name], op, truths, [x, y])  # compares the operands, so that the chosen value need not be kept
        tied = new("equal", op, truths, pair)
        split = new("split_ties", op, truths, [won.outs[0], tied.outs[0]])
        return [won, tied, split, call("multiply", op, [g, split.outs[0]])]
    return None


def is_pair(args: list[Operand], x: Operand, y: Operand) -> bool:
    """Whether these are the two operands, in either order."""
    return len(args) == 2 and (args[0] is x and args[1] is y or args[0] is y and args[1] is x)


def element_of_row(op: Call, facts: Facts) -> Call | None:
    """An element of a row is an element of the array; where both are read in one iteration, the array may become a list."""
    row = facts.calls(op.args[0], "view")
    if row is None or facts.home.get(row.outs[0]) is not facts.home.get(op.outs[0]) or not isinstance(op.outs[0].type, Scalar):
        return None
    if not is_cell(row) or not is_cell(op) or facts.home.get(row.outs[0]) is facts.body:
        return None
    return call("take", op, [*row.args, *op.args[1:]], index=row.settings["index"] + op.settings["index"])


def is_cell(op: Call) -> bool:
    """Whether the path is one index on each of the first axes of an array of float64."""
    x, path = op.args[0].type, op.args[1:]
    return (
        isinstance(x, Array)
        and x.dtype == "f64"
        and op.settings["index"] == "i" * len(path)
        and all(isinstance(p.type, Scalar) and p.type.kind == "int" for p in path)
    )


def shape_of_computed(op: Call, facts: Facts) -> Call | None:
    """A value used only for its shape is not computed: the shape is that of one operand, or of two broadcast together."""
    computed = op.args[0]
    maker = facts.maker.get(computed) if isinstance(computed, Value) and facts.count.get(computed) == 1 else None
    if not isinstance(maker, Call) or op.outs[0] not in facts.late or computed not in facts.late:
        return None
    if not ROWS[maker.name].elementwise or maker.settings.get("via") is not None or not facts.is_steady(maker):
        return None
    arrays = [a for a in maker.args if isinstance(a.type, Array) and a.type.rank is not None]
    if not all(a in arrays or isinstance(a.type, Scalar) for a in maker.args):
        return None
    if len(arrays) == 1:
        return call("shape_of", op, arrays)
    return call("broadcast_shape", op, arrays) if len(arrays) == 2 else None


LEANER: dict[str, tuple[Rewrites, ...]] = {
    "shape_of": (shape_of_computed,),
    "sum": (sum_as_product,),
    **dict.fromkeys(("matmul", "matmul_left", "matmul_right"), (product_by_dot,)),
    "view": (axes_added_and_dropped,),
    "add_at": (add_to_new_axis,),
    "multiply": (share_of_ties, scaled_outer_product, spread_later),
    "take": (element_of_row,),
}


__all__ = ["only_summed", "peephole", "spread_later", "sum_of_broadcast"]
