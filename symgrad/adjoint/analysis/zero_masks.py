"""Masks of exactly zero cotangents: of values that ``where`` or a branch did not choose.

A mask is a set of conditions, on one side of each of which the cotangent is zero. It is propagated through rows
that move elements or sum them. For that the row's derivative is applied to ones where the cotangent may be
nonzero; the new cotangent may be nonzero where the result is positive.
"""

from __future__ import annotations

from collections.abc import Callable

from symgrad.adjoint.unbroadcast import broadcast_axes, fitted
from symgrad.ir.core import Const, Operand, Value
from symgrad.ir.types import Array, Scalar
from symgrad.ops.build import Builder
from symgrad.ops.declare import Row

Mask = tuple[tuple[Operand, bool], ...]  #: conditions, each with the side on which the cotangent may be nonzero
NAMES = """reshape ravel flatten transpose untranspose mT swapaxes moveaxis expand_dims squeeze broadcast_to item flip roll rot90 tril triu
    set_at add_at concatenate stack split array_split tile repeat take_items take_along_axis compress delete pad diagonal diag trace
    sum cumsum mean view take copy by_rows spread cast number positive"""
MOVING = frozenset(NAMES.split())  #: rows whose results consist of elements of their operands, or of sums of them


def masked(builder: Builder, grad: Operand, mask: Mask) -> Operand:
    """``grad`` where the mask allows it, else exactly zero, whatever its factors."""
    for condition, side in mask:
        sides = (grad, Const(0.0)) if side else (Const(0.0), grad)
        grad = builder.call("where", condition, *sides, hint="t_grad")
    return grad


def ones(builder: Builder, mask: Mask, like: Operand) -> Operand:
    """One where a cotangent in the form of ``like`` may be nonzero, else zero."""
    one = Const(1.0) if isinstance(like.type, Scalar) else builder.call("spread", Const(1.0), builder.call("shape_of", like))
    return masked(builder, one, mask)


def positive(builder: Builder, weights: Operand) -> Mask:
    """The mask of positive weights."""
    return ((builder.call("greater", weights, Const(0.0)), True),)


def moved_mask(builder: Builder, mask: Mask, like: Operand, move: Callable[[Operand], Operand]) -> Mask:
    """The mask after ``move`` is applied to a cotangent in the form of ``like``; conditions on the whole are kept."""
    if not mask or not isinstance(like.type, Array | Scalar):
        return ()
    whole = tuple((condition, side) for condition, side in mask if isinstance(condition.type, Scalar))
    parts = tuple(entry for entry in mask if entry not in whole)
    return (*whole, *(positive(builder, move(ones(builder, parts, like))) if parts else ()))


def fitting(builder: Builder, mask: Mask, like: Operand, target: Value) -> Mask:
    """The mask of an unbroadcast cotangent."""
    return mask if has_same_shape(target, like) else moved_mask(builder, mask, like, lambda weights: fitted(builder, weights, target))


def either(builder: Builder, a: Mask, b: Mask, like: Operand) -> Mask:
    """The mask of the sum of two cotangents in the form of ``like``: zero where both are."""
    shared = common(a, b)
    if shared or not a or not b or not isinstance(like.type, Array | Scalar):
        return shared
    return positive(builder, builder.call("add", ones(builder, a, like), ones(builder, b, like)))


def common(a: Mask, b: Mask) -> Mask:
    """The conditions of both masks."""
    return tuple(entry for entry in a if any(entry[0] is other[0] and entry[1] == other[1] for other in b))


def moving(row: Row, text: str | None) -> str | None:
    """The expression that maps weights of a row's result to those of an operand; None if they do not follow its elements."""
    if row.name in MOVING and text is not None:
        return text
    if row.params == ("x",) and {"axis", "keepdims"} <= set(row.settings):
        return "spread(out_grad, shape_of(x), axis=axis, keepdims=keepdims)"
    return None


def has_same_shape(a: Operand, b: Operand) -> bool:
    """Whether a value and its broadcast provably have the same shape."""
    have, want = b.type, a.type
    if isinstance(have, Array) and isinstance(want, Array):
        if have.shape is None or want.shape is None or len(have.shape) != len(want.shape):
            return False
        return broadcast_axes(have.shape, want.shape) == ()
    return isinstance(have, Scalar) and isinstance(want, Scalar)
