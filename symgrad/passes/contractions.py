"""table: sums of broadcast products rewritten as matrix products, for ``leaner``.

(g[:, None, :] * b[None, :, :]).sum(2)                      ->      g.dot(b.T)
np.broadcast_to(g[:, None, :], shape) * b * w               ->      g[:, None, :] * b * w

The products are the same but are added in another order, and the array of all products is never allocated.
"""

from __future__ import annotations

from dataclasses import dataclass

import symgrad.ops.contracted  # noqa: F401  (it has the row)
from symgrad.ir.core import NONE, ZERO, Call, Const, Func, Operand, walk
from symgrad.ir.types import Array, Dim, Extent, Shape, is_plural, same_extent
from symgrad.ops.declare import ROWS
from symgrad.passes.cheaper import is_transpose
from symgrad.passes.factors import is_late, new, once
from symgrad.passes.facts import Facts
from symgrad.passes.identities import call, shape_of_type

LETTERS = "ijklmnop"


@dataclass(slots=True)
class Factor:
    """An array, and the axis of the product to which each of its axes is broadcast."""

    array: Operand
    axes: list[int]

    @property
    def shape(self) -> Shape:
        assert isinstance(self.array.type, Array)
        assert self.array.type.shape is not None
        return self.array.type.shape

    def extents(self) -> dict[int, Extent]:
        """The product axes along which the array has, or may have, more than one element."""
        return {axis: extent for axis, extent in zip(self.axes, self.shape, strict=True) if extent != 1}


def only_summed(func: Func) -> set[Operand]:
    """The values read by sums only, which need not be computed if the sums are rewritten."""
    others: set[Operand] = set(func.body.yields)
    summed: set[Operand] = set()
    for op in walk(func.body):
        (summed if isinstance(op, Call) and op.name == "sum" else others).update(op.operands)
        for inner in op.blocks:
            others.update(inner.yields)
    return summed - others


def sum_of_broadcast(op: Call, facts: Facts, summed: set[Operand]) -> list[Call] | None:
    """The sum of a broadcast product is a matrix product."""
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
    if len(kept) != len(shape_of_type(out) or ()):  # restores the axes of extent 1
        if not kept or not isinstance(out, Array) or out.shape is None or facts.is_stored(op.outs[0]) or facts.is_returned(op.outs[0]):
            return None
        index = "".join("s" if k in kept else "n" for k in range(rank) if op.settings["keepdims"] or k not in over)
        inner.outs[0].type = Array("f64", tuple(e for e, letter in zip(out.shape, index, strict=True) if letter == "s"))
        last = call("view", op, [inner.outs[0], *[NONE] * (3 * len(kept))], index=index)
    else:
        inner.outs = op.outs
    return [*before, *more, inner] if last is inner else [*before, *more, inner, last]


def pays(a: Factor, b: Factor) -> bool:
    """Whether a matrix product is faster. Products without broadcasting are tiled together with neighbouring ops instead."""
    return not len(a.axes) == len(b.axes) == len({*a.axes, *b.axes})


def factor_of(operand: Operand, rank: int, facts: Facts) -> Factor | None:
    """The array that an operand of a product of this rank is a view of, with axes added or broadcast."""
    shape = shape_of_type(operand.type)
    if not shape or getattr(operand.type, "dtype", None) != "f64":
        return None
    factor = Factor(operand, list(range(rank - len(shape), rank)))
    while (further := behind(factor, facts)) is not None:
        factor = further
    return factor


def behind(factor: Factor, facts: Facts) -> Factor | None:
    """The factor whose array the array of ``factor`` is a view of; None if there is none."""
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
    """Multiply before broadcasting, where the product is smaller then."""
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


__all__ = ["only_summed", "spread_later", "sum_of_broadcast"]
