"""table: functions that rearrange, sort and select the elements of arrays.

Shapes are operands (``reshape(x, 2, n)`` or ``reshape(x, shape)``), axes are settings. The
``*_place`` and ``*_back`` rows are cotangents that no single function of NumPy computes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from symgrad.ir.types import (
    INT,
    UNKNOWN,
    Array,
    Dim,
    Extent,
    Layout,
    Scalar,
    Shape,
    ShapeOf,
    Type,
    is_plural,
    same_shape,
)
from symgrad.ops import batched
from symgrad.ops.declare import RUNTIME, by_default, constant, rule
from symgrad.ops.indexing import Extents, broadcast, reshape_extents
from symgrad.ops.rows.elementwise import Emit
from symgrad.ops.shapes import (
    array_dtype,
    array_or_scalar,
    axes_of,
    dtype_of,
    given_shape,
    joined_dtype,
    kept_layout,
    of_numpy,
    rank_of,
    shape_of,
)

#: a row whose result is a view of its operand
view = partial(rule, alias="view", cheap=True, linear="x")
Reshape = Callable[[Shape, dict[str, Any]], "Shape | None"]


def into_shape_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    """The shape law of an array with the dtype of the first operand and the shape of the operand of type ``ShapeOf``."""
    shapes = [t for t in types if isinstance(t, ShapeOf)]
    return Array(dtype_of(of_numpy(types[0])), shapes[0].shape if shapes else None)


#: the cotangent of a row that selects or rearranges elements: a row that puts them into an array of the operand's shape
back = partial(rule, law=into_shape_law, emit=RUNTIME, linear="g")


def layout_law(change: Reshape) -> Any:
    """Return the shape law of a function that keeps the dtype and changes a known shape."""

    def law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
        shape = shape_of(types[0])
        if not types[0].is_number:
            return Array(None, None)
        return Array(dtype_of(types[0]), None if shape is None else change(shape, settings))

    return law


def numpy_axis(name: str, *words: str) -> Emit:
    """``np.name(x, word=word)`` with only the settings that differ from None."""

    def emit(settings: dict[str, Any], types: list[Type]) -> str:
        return f"np.{name}({', '.join(['x', *(w for w in words if settings[w] is not None)])})"

    return emit


# ------------------------------------------------------------------ shape


def _reshape_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    own, requested = shape_of(types[0]), given_shape(types, dim, 1)
    if len(types) == 1 and (number := number_kept(types[0])) is not None:
        return number
    if isinstance(types[0], Scalar) and len(types) == 2 and isinstance(types[1], ShapeOf) and types[1].shape == ():
        return types[0]
    if not types[0].is_number:
        return Array(None, requested if requested is not None and -1 not in requested else None)
    if requested is None:
        return Array(dtype_of(types[0]), None)
    layout: Layout = "C" if kept_layout(types[0]) in ("C", "CF") else "?"  # of an array with gaps it may be a view with gaps
    if own is None:
        return Array(dtype_of(types[0]), tuple(Dim("?") if e == -1 else e for e in requested), layout)
    return Array(dtype_of(types[0]), reshape_extents(own, list(requested)), layout)


def _reshape_text(settings: dict[str, Any], types: list[Type]) -> str:
    if len(types) == 2 and isinstance(types[1], ShapeOf) and same_shape(shape_of(types[0]), types[1].shape):
        return "x"
    if isinstance(types[0], Array):
        return "x.reshape(*shape)" if len(types) > 1 else "x.reshape(())"
    if len(types) == 1:
        return "np.reshape(x, ())"
    return "np.reshape(x, *shape)" if len(types) == 2 else "np.reshape(x, (*shape,))"


def _ravel(shape: Shape, settings: dict[str, Any]) -> Shape | None:
    return reshape_extents(shape, [-1]) if shape else (1,)


def _transposed(shape: Shape, settings: dict[str, Any]) -> Shape | None:
    axes = axes_of(settings["axes"], len(shape))
    if settings["axes"] is None:
        return shape[::-1]
    return None if axes is None or len(axes) != len(shape) else tuple(shape[a] for a in axes)


def _untransposed(shape: Shape, settings: dict[str, Any]) -> Shape | None:
    axes = axes_of(settings["axes"], len(shape))
    if settings["axes"] is None:
        return shape[::-1]
    return None if axes is None or len(axes) != len(shape) else tuple(shape[axes.index(k)] for k in range(len(shape)))


def number_kept(of: Type) -> Type | None:
    """Return the result of a NumPy scalar's method that returns the scalar itself; None for other operands."""
    if not isinstance(of, Scalar) or of.dtype is None:
        return None
    return UNKNOWN if of.dtype == "any" else of  # of a number of Python's it is an array


def _squeeze_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return number_kept(types[0]) or layout_law(_squeezed)(types, settings, dim)


def _transpose_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    if (number := number_kept(types[0])) is not None:
        return number
    type_ = layout_law(_transposed)(types, settings, dim)
    if isinstance(types[0], Array) and isinstance(type_, Array) and settings["axes"] is None:
        flipped: Any = {"C": "F", "F": "C"}.get(types[0].layout, types[0].layout)
        return Array(type_.dtype, type_.shape, flipped)
    return type_  # type: ignore[no-any-return]


def _transpose_text(settings: dict[str, Any], types: list[Type]) -> str:
    if isinstance(types[0], Array):
        return "x.T" if settings["axes"] is None else "x.transpose(axes)"
    return "np.transpose(x)" if settings["axes"] is None else "np.transpose(x, axes)"


def _untranspose_text(settings: dict[str, Any], types: list[Type]) -> str:
    axes = settings["axes"]
    if axes is None:
        return "x.T"
    rank = len(axes)
    order = sorted(range(rank), key=lambda k: axes[k] % rank)
    return f"x.transpose(({', '.join(map(str, order))},))"


def _swapped(shape: Shape, settings: dict[str, Any]) -> Shape | None:
    axes = axes_of((settings["axis1"], settings["axis2"]), len(shape))
    if axes is None:
        return None
    extents = list(shape)
    extents[axes[0]], extents[axes[1]] = extents[axes[1]], extents[axes[0]]
    return tuple(extents)


def _moved(shape: Shape, settings: dict[str, Any]) -> Shape | None:
    source, destination = axes_of(settings["source"], len(shape)), axes_of(settings["destination"], len(shape))
    if source is None or destination is None or len(source) != len(destination):
        return None
    rest = [k for k in range(len(shape)) if k not in source]
    for to, come in sorted(zip(destination, source, strict=True)):
        rest.insert(to, come)
    return tuple(shape[k] for k in rest)


def _expanded(shape: Shape, settings: dict[str, Any]) -> Shape | None:
    axis = settings["axis"]
    count = len(axis) if isinstance(axis, tuple) else 1
    axes = axes_of(axis, len(shape) + count)
    if axes is None:
        return None
    rest = iter(shape)
    return tuple(1 if k in axes else next(rest) for k in range(len(shape) + count))


def _squeezed(shape: Shape, settings: dict[str, Any]) -> Shape | None:
    if settings["axis"] is None:
        return tuple(e for e in shape if e != 1) if all(e == 1 or is_plural(e) for e in shape) else None
    axes = axes_of(settings["axis"], len(shape))
    return None if axes is None else tuple(e for k, e in enumerate(shape) if k not in axes)


def _item_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    match types[0]:
        case Array(kind=str() as kind):
            return Scalar(kind)
        case Scalar(kind=kind):
            return Scalar(kind)
    return UNKNOWN


def _mT(shape: Shape, settings: dict[str, Any]) -> Shape | None:
    return (*shape[:-2], shape[-1], shape[-2]) if len(shape) >= 2 else None


def _mT_text(settings: dict[str, Any], types: list[Type]) -> str:
    return "x.T" if rank_of(types[0]) == 2 else "x.swapaxes(-1, -2)"


def _broadcast_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return Array(dtype_of(types[0]), given_shape(types, dim, 1))


def _to_shape(name: str) -> Emit:
    """Emit ``np.name(x, shape)``, for a shape given as one operand or as several."""
    return lambda settings, types: f"np.{name}(x, *shape)" if len(types) == 2 else f"np.{name}(x, (*shape,))"


rule(
    "reshape(x, *shape)",
    _reshape_law,
    batch=batched.reshaped,
    emit=_reshape_text,
    alias="depends",
    cheap=True,
    linear="x",
    x_grad="reshape(out_grad, shape_of(x))",
)
rule(
    "ravel(x)",
    layout_law(_ravel),
    batch=batched.in_a_row,
    emit="np.ravel(x)",
    alias="depends",
    cheap=True,
    linear="x",
    x_grad="reshape(out_grad, shape_of(x))",
)
rule("flatten(x)", layout_law(_ravel), batch=batched.in_a_row, emit="x.flatten()", linear="x", x_grad="reshape(out_grad, shape_of(x))")
view("transpose(x, axes=None)", _transpose_law, batch=batched.transposed, emit=_transpose_text, x_grad="untranspose(out_grad, axes=axes)")
view("untranspose(x, axes=None)", layout_law(_untransposed), emit=_untranspose_text, x_grad="transpose(out_grad, axes=axes)")
view("mT(x)", layout_law(_mT), emit=_mT_text, x_grad="mT(out_grad)")
view(
    "swapaxes(x, axis1=0, axis2=1)",
    layout_law(_swapped),
    emit="np.swapaxes(x, axis1, axis2)",
    x_grad="swapaxes(out_grad, axis1=axis1, axis2=axis2)",
)
view(
    "moveaxis(x, source=0, destination=0)",
    layout_law(_moved),
    emit="np.moveaxis(x, source, destination)",
    x_grad="moveaxis(out_grad, source=destination, destination=source)",
)
view("expand_dims(x, axis=0)", layout_law(_expanded), emit="np.expand_dims(x, axis)", x_grad="reshape(out_grad, shape_of(x))")
view("squeeze(x, axis=None)", _squeeze_law, emit=numpy_axis("squeeze", "axis"), x_grad="reshape(out_grad, shape_of(x))")
view(
    "broadcast_to(x, *shape)", _broadcast_law, batch=batched.broadcast, emit=_to_shape("broadcast_to"), x_grad="fit(out_grad, shape_of(x))"
)
rule("item(x, *index)", _item_law, emit="x.item(*index)", linear="x", x_grad="item_place(out_grad, shape_of(x), *index)")
rule(
    "item_place(g, shape, *index)",
    into_shape_law,
    emit=lambda s, t: "np.full(shape, g)" if len(t) == 2 else "item_place(g, shape, (*index,))",
    linear="g",
    g_grad="item(out_grad, *index)",
)
constant("size(x)", lambda types, settings, dim: INT, emit="np.size(x)", cheap=True)
constant("ndim(x)", lambda types, settings, dim: INT, emit="np.ndim(x)", cheap=True)


# ------------------------------------------------------------------ order


def _same(shape: Shape, settings: dict[str, Any]) -> Shape | None:
    return shape


def _ordered(shape: Shape, settings: dict[str, Any]) -> Shape | None:
    """The shape law of sorting: the same shape, or a vector if no axis is given."""
    return reshape_extents(shape, [-1]) if settings["axis"] is None else shape


def order_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    """The shape law of indices along an axis; a number counts as a vector of one."""
    shape = shape_of(types[0])
    return Array("i64", None if shape is None else (1,) if shape == () else _ordered(shape, settings))


def _flip_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    shape = shape_of(types[0])
    return array_or_scalar(dtype_of(types[0]), shape) if types[0].is_number else Array(None, None)


def _along_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return Array(dtype_of(types[0]), shape_of(types[1]) if rank_of(types[0]) == rank_of(types[1]) else None)


view("flip(x, axis=None)", _flip_law, emit=numpy_axis("flip", "axis"), x_grad="flip(out_grad, axis=axis)")
rule(
    "roll(x, shift, axis=None)",
    layout_law(_same),
    emit=by_default("np.roll(x, shift", axis=None),
    linear="x",
    x_grad="roll(out_grad, -shift, axis=axis)",
    shift_grad=None,
)
rule(
    "sort(x, axis=-1)",
    layout_law(_ordered),
    batch=batched.in_order,
    emit=by_default("np.sort(x", axis=-1),
    x_grad="add_along_axis(out_grad, argsort(x, axis=axis), shape_of(x), axis=axis)",
)
constant("argsort(x, axis=-1)", order_law, batch=batched.in_order, emit=by_default("np.argsort(x", axis=-1))
constant(
    "stable_argsort(x, axis=-1)",
    order_law,
    emit=lambda s, t: f"np.argsort(x{'' if s['axis'] == -1 else ', ' + str(s['axis'])}, kind='stable')",
)
rule(
    "take_along_axis(x, order, axis=-1)",
    _along_law,
    batch=batched.in_order,
    emit="np.take_along_axis(x, order, axis)",
    linear="x",
    x_grad="add_along_axis(out_grad, order, shape_of(x), axis=axis)",
)
back("add_along_axis(g, order, shape, axis=-1)", g_grad="take_along_axis(out_grad, order, axis=axis)")


# ------------------------------------------------------------------ picking and padding


def _items_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    shape, places, axis = shape_of(types[0]), shape_of(types[1]), settings["axis"]
    dtype = dtype_of(types[0])
    if axis is None:
        return Array(dtype, None) if places is None else array_or_scalar(dtype, places)
    axes = None if shape is None else axes_of(axis, len(shape))
    if shape is None or places is None or axes is None:
        return Array(dtype, None)
    return array_or_scalar(dtype, (*shape[: axes[0]], *places, *shape[axes[0] + 1 :]))


def _sums_from_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    """Sums of items, in the dtype that sums have."""
    of = types[0]
    summed = Array(array_dtype(np.sum, [of]), of.shape, of.layout) if isinstance(of, Array) else of
    return _items_law([summed, *types[1:]], settings, dim)


def _fewer_law(position: int) -> Any:
    """The operand at ``position`` with an axis of another length."""

    def law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
        shape, dtype = shape_of(types[position]), dtype_of(types[position])
        if settings["axis"] is None:
            return Array(dtype, (Dim("?"),), "C")
        axes = None if shape is None else axes_of(settings["axis"], len(shape))
        if shape is None or axes is None:
            return Array(dtype, None)
        return Array(dtype, tuple(Dim("?") if k == axes[0] else e for k, e in enumerate(shape)))

    return law


def pad_widths(width: Any, rank: int) -> tuple[tuple[int, int], ...]:
    """How many are put before and after along each axis, as ``np.pad`` reads it.

    >>> pad_widths(1, 2), pad_widths((1, 2), 2), pad_widths(((1, 2), (3, 4)), 2)
    (((1, 1), (1, 1)), ((1, 2), (1, 2)), ((1, 2), (3, 4)))
    """
    return tuple((int(a), int(b)) for a, b in np.broadcast_to(np.asarray(width), (rank, 2)))


def _padded(shape: Shape, settings: dict[str, Any]) -> Shape | None:
    extents: list[Extent] = []
    for e, (before, after) in zip(shape, pad_widths(settings["width"], len(shape)), strict=True):
        extents.append(e + before + after if isinstance(e, int) else Dim("?") if before + after else e)
    return tuple(extents)


def _pad_text(settings: dict[str, Any], types: list[Type]) -> str:
    words = ["x", "width"] + (["mode"] if settings["mode"] != "constant" else [])
    return f"np.pad({', '.join(words + (['constant_values=constant_values'] if settings['constant_values'] else []))})"


def _choose_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    shape = broadcast([shape_of(t) for t in types])
    return array_or_scalar(joined_dtype(types[1:]) if len(types) > 1 else None, shape)


def _chosen_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    own = types[2 + settings["at"]] if len(types) > 2 + settings["at"] else UNKNOWN
    return array_or_scalar(dtype_of(types[0]), shape_of(own)) if own.is_number else UNKNOWN


def _unwrap_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return Array(array_dtype(np.unwrap, types[:1]), shape_of(types[0]))


def _unwrap_text(settings: dict[str, Any], types: list[Type]) -> str:
    usual = {"discont": None, "axis": -1, "period": 6.283185307179586}
    words = [f"{word}={word}" for word in usual if settings[word] != usual[word]]
    return f"np.unwrap({', '.join(['x', *words])})"


rule(
    "take_items(x, places, axis=None)",
    _items_law,
    linear="x",
    emit=by_default("np.take(x, places", axis=None),
    x_grad="take_items_back(out_grad, places, shape_of(x), axis=axis)",
)
back("take_items_back(g, places, shape, axis=None)", g_grad="take_items(out_grad, places, axis=axis)")
# sums of the elements between indices
rule(
    "sum_from(x, starts, axis=0)",
    _sums_from_law,
    emit="np.add.reduceat(x, starts, axis)",
    linear="x",
    x_grad="sum_from_back(out_grad, starts, shape_of(x), axis=axis)",
)
back("sum_from_back(g, starts, shape, axis=0)", g_grad="sum_from(out_grad, starts, axis=axis)")
rule(
    "compress(c, x, axis=None)",
    _fewer_law(1),
    linear="x",
    c_grad=None,
    emit=by_default("np.compress(c, x", axis=None),
    x_grad="take_items_back(out_grad, flatnonzero(c), shape_of(x), axis=axis)",
)
rule(
    "delete(x, obj, axis=None)",
    _fewer_law(0),
    linear="x",
    obj_grad=None,
    emit=by_default("np.delete(x, obj", axis=None),
    x_grad="take_items_back(out_grad, kept_places(shape_of(x), obj, axis=axis), shape_of(x), axis=axis)",
)
rule(
    "choose(i, *choices)",
    _choose_law,
    emit="np.choose(i, [*choices])",
    linear="*choices",
    choices_grad="choose_part(out_grad, i, *choices, at=position)",
)
rule(
    "choose_part(g, i, *choices, at=0)",
    _chosen_law,
    emit="choose_part(g, i, [*choices], at)",
    linear="g",
    choices_grad=None,
    g_grad="broadcast_to(where(i == at, out_grad, 0.0), shape_of(g))",
)
_PAD = 'width=0, mode="constant", constant_values=0'
rule(f"pad(x, {_PAD})", layout_law(_padded), emit=_pad_text, x_grad="pad_back(out_grad, shape_of(x), width=width, mode=mode)")
back('pad_back(g, shape, width=0, mode="constant")', g_grad="pad(out_grad, width=width, mode=mode)")
rule("unwrap(x, discont=None, axis=-1, period=6.283185307179586)", _unwrap_law, emit=_unwrap_text, x_grad="out_grad")
