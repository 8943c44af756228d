"""table: peephole rewrites of the backward half for NumPy: fewer passes over memory. Works in place.

(a * b).sum()                         ->      np.vdot(a, b)
a @ b                                 ->      a.dot(b)
g[:, None] * x * c                    ->      (g * c)[:, None] * x
g * np.where(x == y, 0.5, x == out)   ->      g * split_ties(x == out, x == y)
row = x[i]; row[0]                    ->      x[i, 0]
"""

from __future__ import annotations

import symgrad.ops.into  # noqa: F401  (it has the rows)
from symgrad.ir.core import Call, Func, Operand, Value
from symgrad.ir.types import Array, Scalar, same_shape
from symgrad.ops.declare import ROWS
from symgrad.passes.cheaper import Rewrites, add_to_new_axis, axes_added_and_dropped
from symgrad.passes.contractions import only_summed, spread_later, sum_of_broadcast
from symgrad.passes.factors import as_large, is_late, new, once
from symgrad.passes.facts import Facts
from symgrad.passes.fold import rewritten
from symgrad.passes.identities import call, spread_operand

#: layouts that NumPy traverses without a copy
BY_ROWS = frozenset({"C", "CF"})
#: cotangents of the factors of a product; for vectors an outer product
OUTER = frozenset({"matmul_left", "matmul_right", "dot_left", "dot_right", "outer"})
#: rows that choose the larger or smaller operand, and the winner's comparison
CHOOSING = {"maximum": "greater", "minimum": "less"}


def leaner(func: Func) -> Func:
    """Reduce the number of passes over memory, in place."""
    summed = only_summed(func)

    def contracted(op: Call, facts: Facts) -> list[Call] | None:
        """The sum of a broadcast product is a matrix product."""
        return sum_of_broadcast(op, facts, summed)

    def table(name: str, elementwise: bool) -> tuple[Rewrites, ...]:
        return (*((spread_operand,) if elementwise else ()), *LEANER.get(name, ()), *((contracted,) if name == "sum" else ()))

    return rewritten(func, table)


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
    return (isinstance(x, Array) and x.dtype == "f64" and op.settings["index"] == "i" * len(path)
            and all(isinstance(p.type, Scalar) and p.type.kind == "int" for p in path))  # fmt: skip


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

__all__ = ["leaner"]
