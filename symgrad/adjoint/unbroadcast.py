"""Unbroadcast and cast: brings a cotangent into the space of its value: its shape, its dtype, and the real or complex numbers.

Sums are used where types decide the shape; otherwise ``unbroadcast`` decides at run time.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from symgrad.ir.core import Const, Operand, Value
from symgrad.ir.layout import is_wide, kind_in
from symgrad.ir.types import Array, Extent, List, Scalar, Shape, Type, Unknown, is_plural, same_extent, same_shape
from symgrad.ops.build import Builder


def fitted(builder: Builder, grad: Operand, target: Operand, hint: str | None = None) -> Operand:
    """``grad`` summed over the axes along which ``target`` was broadcast."""
    g, t = grad.type, target.type
    match g, t:
        case Scalar(), Scalar():
            return grad
        case Array(), Scalar():
            return builder.call("sum", grad, hint=hint)
        case Scalar(), Array():
            if t.shape == ():
                return grad
            return builder.call("spread", grad, builder.call("shape_of", target), hint=hint)
        case Array(shape=tuple() as have), Array(shape=tuple() as want):
            if same_shape(have, want):
                return grad
            axes = broadcast_axes(have, want)
            if axes is not None:
                return summed(builder, grad, len(have) - len(want), axes, hint)
    array = isinstance(t, Array) and t.shape == ()
    return builder.call("unbroadcast", grad, builder.call("shape_of", target), hint=hint, array=array)


def broadcast_axes(have: Shape, want: Shape) -> tuple[int, ...] | None:
    """Axes of ``want`` with extent 1 that may be longer in ``have``; None where types do not decide.

    ``have`` is the result of broadcasting ``want`` with something, so extents other than 1 are equal.
    """
    if len(want) > len(have):
        return None
    axes = []
    for axis, (h, w) in enumerate(zip(have[len(have) - len(want) :], want, strict=True)):
        if w == 1:
            if h != 1:
                axes.append(axis)
        elif not decided(h, w):
            return None
    return tuple(axes)


def decided(have: Extent, want: Extent) -> bool:
    """Whether ``want`` was surely not stretched to ``have``."""
    return is_plural(want) or same_extent(have, want) or have == 1


def summed(builder: Builder, grad: Operand, leading: int, axes: tuple[int, ...], hint: str | None) -> Operand:
    """Sum over the leading axes that ``target`` lacks, then over its axes of extent 1."""
    if leading:
        grad = builder.call("sum", grad, hint=hint, axis=0 if leading == 1 else tuple(range(leading)))
    if axes:
        grad = builder.call("sum", grad, hint=hint, axis=axes[0] if len(axes) == 1 else axes, keepdims=True)
    return grad


def conformed(builder: Builder, grad: Operand, target: Value, hint: str | None = None) -> Operand:
    """``grad`` in ``target``'s kind and dtype, where both are known and differ."""
    grad = in_plane(builder, grad, target, hint)
    have, want = getattr(grad.type, "dtype", None), getattr(target.type, "dtype", None)
    if want in (None, "any") or have == want or isinstance(grad, Const) or have in (None, "any"):
        return grad
    return builder.call("cast", grad, hint=hint, dtype=want)


#: dtypes that are narrower than Python's numbers
NARROW = frozenset({"f16", "f32", "c64"})


@dataclass(frozen=True, slots=True)
class Doubts:
    """Types of a program that are incomplete. ``narrow``: some number is narrower than Python's, so open dtypes are examined;

    ``declared``: some dtype comes from a user's declaration; ``mixed``: numbers that may be of a narrower class
    than their type.
    """

    narrow: bool
    declared: bool
    mixed: Container[Operand]

    def is_mixed(self, grad: Operand, kind: str) -> bool:
        """Whether a cotangent may be of another class than Python's numbers of this kind."""
        return grad in self.mixed or not isinstance(grad, Const) and kind_in(grad.type) not in (None, kind)


def in_dtype(builder: Builder, grad: Operand, param: Value, doubts: Doubts, hint: str | None = None) -> Operand:
    """Cast a gradient to the dtype and class of its argument; every returned gradient passes here.

    Open dtypes are examined only where the program has numbers of several widths.
    """
    target, want = param.type, getattr(param.type, "dtype", None)
    if isinstance(grad, Const):
        is_narrow_number = isinstance(target, Scalar) and want in NARROW
        return builder.call("cast", grad, hint=hint, dtype=want) if is_narrow_number else of_class(grad, target)
    grad = conformed(builder, grad, param, hint)
    if doubts.declared and isinstance(target, Array) and isinstance(grad.type, Array) and want is not None:
        return builder.call("settled", grad, hint=hint, dtype=want)
    if is_wide(target) and want is None and doubts.is_mixed(grad, kind := kind_in(target) or "float"):
        return builder.call("python_numbers" if isinstance(target, List) else "number", grad, hint=hint, kind=kind)
    if not doubts.narrow:
        return grad
    if isinstance(target, List) and isinstance(target.item, Scalar) and target.item.kind in ("float", "complex"):
        return builder.call("python_numbers", grad, hint=hint, kind=target.item.kind)
    if not isinstance(target, Scalar | Array) or not isinstance(grad.type, Scalar | Array | Unknown) or want == "any":
        return grad
    have = "any" if isinstance(grad.type, Unknown) else grad.type.dtype
    if have == want or have is None and isinstance(grad.type, Scalar) and want not in NARROW:
        return grad
    if want is not None:
        return builder.call("cast", grad, hint=hint, dtype=want)
    return builder.call("number", grad, hint=hint, kind=target.kind) if target.kind in ("float", "complex") else grad


def of_class(grad: Const, target: Type) -> Const:
    """Convert a literal to the number class of a type."""
    classes = {"float": float, "complex": complex}
    known = isinstance(grad.value, int | float | complex) and grad.name is None
    kind = classes.get(kind_in(target) or "")
    return grad if not known or kind is None or isinstance(grad.value, kind) else Const(kind(grad.value))


def is_narrow(type_: Type) -> bool:
    """Whether the type is that of a number, an array or a list of numbers of a narrow dtype."""
    while isinstance(type_, List):
        type_ = type_.item
    return getattr(type_, "dtype", None) in NARROW


def in_plane(builder: Builder, grad: Operand, target: Value, hint: str | None = None) -> Operand:
    """Convert a cotangent to complex for a complex value, or to its real part for a real value."""
    have, want = (getattr(o.type, "kind", None) for o in (grad, target))
    if have == want or "complex" not in (have, want) or None in (have, want):
        return grad
    if isinstance(grad, Const):
        return Const(complex(grad.value) if want == "complex" else grad.value.real)
    if want != "complex":
        return builder.call("real_part", grad, hint=hint)
    if isinstance(grad.type, Array) or getattr(grad.type, "dtype", None) not in (None, "any"):
        dtype = getattr(target.type, "dtype", None)
        return builder.call("cast", grad, hint=hint, dtype="c128" if dtype in (None, "any") else dtype)
    return builder.call("number", grad, hint=hint, kind="complex")
