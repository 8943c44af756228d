"""table: functions that join, split and repeat arrays.

The ``*_part`` rows are cotangents that no single function of NumPy computes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.errors import UnsupportedArgument
from symgrad.ir.types import (
    UNKNOWN,
    Array,
    Dim,
    Extent,
    List,
    Scalar,
    Shape,
    Type,
)
from symgrad.ops import batched
from symgrad.ops.declare import RUNTIME, by_default, rule
from symgrad.ops.indexing import Extents
from symgrad.ops.rows.arrays import back, into_shape_law, layout_law
from symgrad.ops.rows.elementwise import Emit
from symgrad.ops.shapes import (
    array_dtype,
    axes_of,
    dtype_of,
    joined_dtype,
    rank_of,
    scalar_of,
    shape_of,
)

# ------------------------------------------------------------------ joining


def _concatenate_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    if not types or not all(t.is_number for t in types):
        return Array(None, None)
    shapes = [shape_of(t) for t in types]
    dtype = joined_dtype(types)
    if any(isinstance(t, Scalar) and t.dtype is None for t in types):  # a Python number takes the dtype of the others
        dtype = array_dtype(_joined_flat, types)
    known = [s for s in shapes if s is not None]
    if settings["axis"] is None or not known:
        return Array(dtype, (Dim("?"),) if settings["axis"] is None else None, "C")
    axes = axes_of(settings["axis"], len(known[0]))
    if axes is None or any(len(s) != len(known[0]) for s in known):
        return Array(dtype, None)
    rows = [s[axes[0]] for s in known]
    total: Extent = (
        sum(r for r in rows if isinstance(r, int)) if len(known) == len(types) and all(isinstance(r, int) for r in rows) else Dim("?")
    )
    if len(known) == len(types) and sum(isinstance(r, Dim) for r in rows) == 1:
        (one,) = [r for r in rows if isinstance(r, Dim)]
        if one.offset == 0 and one.symbol != "?":  # an offset below zero may have been cut off at zero
            total = Dim(one.symbol, sum(r for r in rows if isinstance(r, int)))
    others = [next((s[k] for s in known if isinstance(s[k], int)), known[0][k]) for k in range(len(known[0]))]
    return Array(
        dtype, tuple(total if k == axes[0] else e for k, e in enumerate(others)), "C" if axes[0] == 0 and len(others) == 1 else "?"
    )


def _joined_flat(*parts: Any) -> Any:
    return np.concatenate(parts, axis=None)


def _join_text(name: str) -> Emit:
    return lambda settings, types: f"np.{name}([*xs])" if settings["axis"] == 0 else f"np.{name}([*xs], axis)"


def _own_part_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    own = types[1 + settings["at"]]
    return Array(dtype_of(types[0]), shape_of(own)) if own.is_number else Array(dtype_of(types[0]), None)


def _part_text(settings: dict[str, Any], types: list[Type]) -> str:
    """A literal slice where the extents before are numbers."""
    axis, position = settings["axis"], settings["at"]
    shapes = [shape_of(t) for t in types[1:]]
    rank = len(shapes[0]) if shapes[0] is not None else None
    axes = None if axis is None or rank is None else axes_of(axis, rank)
    if axes is not None and all(s is None or len(s) == rank for s in shapes):  # of other ranks NumPy joins nothing
        extents = [None if s is None else s[axes[0]] for s in shapes]
        before, own = extents[:position], extents[position]
        if all(isinstance(e, int) for e in before) and isinstance(own, int):
            start = sum(e for e in before if isinstance(e, int))
            return f"g[{':, ' * axes[0]}{start}:{start + own}]"
    return "concatenate_part(g, [*xs], at, axis)"


def _stack_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    if not types or not all(t.is_number for t in types):
        return Array(None, None)
    shapes = [shape_of(t) for t in types if shape_of(t) is not None]
    dtype = joined_dtype(types)
    if not shapes or shapes[0] is None or any(s is not None and len(s) != len(shapes[0]) for s in shapes):
        return Array(dtype, None)
    first = shapes[0]
    extents = [next((s[k] for s in shapes if s is not None and isinstance(s[k], int)), first[k]) for k in range(len(first))]
    axes = axes_of(settings["axis"], len(first) + 1)
    if axes is None:
        return Array(dtype, None)
    extents.insert(axes[0], len(types))
    return Array(dtype, tuple(extents), "C" if not first else "?")


def _unstacked(shape: Shape, settings: dict[str, Any]) -> Shape | None:
    axes = axes_of(settings["axis"], len(shape))
    return None if axes is None else tuple(e for k, e in enumerate(shape) if k != axes[0])


def _unstack_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    type_ = layout_law(_unstacked)(types, settings, dim)
    return scalar_of(type_.dtype) if type_.shape == () else type_


def _unstack_text(settings: dict[str, Any], types: list[Type]) -> str:
    axis = settings["axis"]
    if rank_of(types[0]) == 1:
        return "g[at]"
    return f"g[{':, ' * axis}at]" if axis >= 0 else f"g[..., at{', :' * (-1 - axis)}]"


def _list_join_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    item = types[0].item if isinstance(types[0], List) else UNKNOWN
    shape = shape_of(item)
    axes = None if shape is None or settings["axis"] is None else axes_of(settings["axis"], len(shape))
    return Array(
        dtype_of(item), None if shape is None or axes is None else tuple(Dim("?") if k == axes[0] else e for k, e in enumerate(shape))
    )


def _list_stack_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    item = types[0].item if isinstance(types[0], List) else UNKNOWN
    shape = shape_of(item)
    axes = None if shape is None else axes_of(settings["axis"], len(shape) + 1)
    if shape is None or axes is None:
        return Array(dtype_of(item), None)
    extents = list(shape)
    extents.insert(axes[0], Dim("?"))
    return Array(dtype_of(item), tuple(extents))


def _like_list_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return List(types[1].item if isinstance(types[1], List) else UNKNOWN)


def _list_join_text(name: str) -> Emit:
    return lambda settings, types: f"np.{name}(l)" if settings["axis"] == 0 else f"np.{name}(l, axis)"


rule(
    "concatenate(*xs, axis=0)",
    _concatenate_law,
    batch=batched.joined,
    emit=_join_text("concatenate"),
    linear="*xs",
    xs_grad="concatenate_part(out_grad, *xs, at=position, axis=axis)",
)
# the part of a concatenation that comes from operand ``at``, and its cotangent, padded with zeros
rule(
    "concatenate_part(g, *xs, at=0, axis=0)",
    _own_part_law,
    emit=_part_text,
    alias="view",
    linear="g",
    g_grad="concatenate_place(out_grad, shape_of(g), *xs, at=at, axis=axis)",
    xs_grad=None,
)
rule(
    "concatenate_place(g, shape, *xs, at=0, axis=0)",
    into_shape_law,
    emit="concatenate_place(g, shape, [*xs], at, axis)",
    linear="g",
    g_grad="concatenate_part(out_grad, *xs, at=at, axis=axis)",
    xs_grad=None,
)
rule(
    "stack(*xs, axis=0)",
    _stack_law,
    batch=batched.joined,
    emit=_join_text("stack"),
    linear="*xs",
    xs_grad="stack_part(out_grad, at=position, axis=axis)",
)
rule(
    "stack_part(g, at=0, axis=0)",
    _unstack_law,
    emit=_unstack_text,
    alias="view",
    linear="g",
    g_grad="stack_place(out_grad, shape_of(g), at=at, axis=axis)",
)
back("stack_place(g, shape, at=0, axis=0)", g_grad="stack_part(out_grad, at=at, axis=axis)")
rule(
    "concatenate_list(l, axis=0)",
    _list_join_law,
    emit=_list_join_text("concatenate"),
    linear="l",
    l_grad="split_like(out_grad, l, axis=axis)",
)
rule("split_like(g, l, axis=0)", _like_list_law, emit=RUNTIME, linear="g", g_grad="concatenate_list(out_grad, axis=axis)", l_grad=None)
rule("stack_list(l, axis=0)", _list_stack_law, emit=_list_join_text("stack"), linear="l", l_grad="unstack(out_grad, axis=axis)")
rule(
    "unstack(g, axis=0)",
    lambda types, settings, dim: List(_unstack_law(types, settings, dim)),
    emit=lambda s, t: "list(g)" if s["axis"] == 0 else "list(np.moveaxis(g, axis, 0))",
    linear="g",
    g_grad="stack_list(out_grad, axis=axis)",
)


def _merged_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    """The first axis of one array, joined into the axis ``axis`` of its items."""
    shape = shape_of(types[0])
    axes = None if shape is None or settings["axis"] is None or len(shape) < 2 else axes_of(settings["axis"], len(shape) - 1)
    if shape is None or axes is None:
        return Array(dtype_of(types[0]), None)
    count, own = shape[0], shape[1 + axes[0]]
    total: Extent = count * own if isinstance(count, int) and isinstance(own, int) else Dim("?")
    return Array(dtype_of(types[0]), tuple(total if k == axes[0] else e for k, e in enumerate(shape[1:])))


def _restacked_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    shape = shape_of(types[0])
    axes = None if not shape else axes_of(settings["axis"], len(shape))
    if not shape or axes is None:
        return Array(dtype_of(types[0]), None)
    extents = list(shape[1:])
    extents.insert(axes[0], shape[0])
    return Array(dtype_of(types[0]), tuple(extents))


# joins of the items of one array
rule(
    "concatenate_array(x, axis=0)",
    _merged_law,
    emit=by_default("np.concatenate(x", axis=0),
    linear="x",
    x_grad="split_array(out_grad, shape_of(x), axis=axis)",
)
back("split_array(g, shape, axis=0)", g_grad="concatenate_array(out_grad, axis=axis)")
rule(
    "stack_array(x, axis=0)",
    _restacked_law,
    emit=by_default("np.stack(x", axis=0),
    linear="x",
    x_grad="moveaxis(out_grad, source=axis, destination=0)",
)


# ------------------------------------------------------------------ parting


def _split_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    shape, sections = shape_of(types[0]), settings["sections"]
    axes = None if shape is None else axes_of(settings["axis"], len(shape))
    if shape is None or axes is None:
        return List(Array(dtype_of(types[0]), None))
    whole = shape[axes[0]]
    alike = isinstance(sections, int) and isinstance(whole, int) and sections > 0 and whole % sections == 0
    part: Extent = whole // sections if alike else Dim("?")
    return List(Array(dtype_of(types[0]), tuple(part if k == axes[0] else e for k, e in enumerate(shape))))


def _split_text(name: str) -> Emit:
    return lambda settings, types: f"np.{name}(x, sections)" if settings["axis"] == 0 else f"np.{name}(x, sections, axis)"


for _name in ("split", "array_split"):
    rule(
        f"{_name}(x, sections=2, axis=0)",
        _split_law,
        emit=_split_text(_name),
        alias="view",
        linear="x",
        x_grad="concatenate_list(out_grad, axis=axis)",
    )


# ------------------------------------------------------------------ repeating


def _tile_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    shape = shape_of(types[0])
    if shape is None:
        return Array(dtype_of(types[0]), None)
    if any(isinstance(t, Array) and t.kind == "int" for t in types[1:]):
        raise UnsupportedArgument(
            "np.tile with an array of repetitions is not supported", hint="give the repetitions as a tuple of integers"
        )
    reps: Shape = tuple(dim(k) for k in range(1, len(types)))
    rank = max(len(shape), len(reps))
    long: Shape = (1,) * (rank - len(shape)) + shape
    often: Shape = (1,) * (rank - len(reps)) + reps
    extents = [
        e if r == 1 else r if e == 1 else e * r if isinstance(e, int) and isinstance(r, int) else Dim("?")
        for e, r in zip(long, often, strict=True)
    ]
    return Array(dtype_of(types[0]), tuple(extents))


def _repeat_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    shape = shape_of(types[0])
    if settings["axis"] is None:
        return Array(dtype_of(types[0]), (Dim("?"),), "C")
    axes = None if shape is None else axes_of(settings["axis"], len(shape))
    if shape is None or axes is None:
        return Array(dtype_of(types[0]), None)
    often: Extent = dim(1) if isinstance(types[1], Scalar) else Dim("?")
    own = shape[axes[0]]
    new: Extent = own * often if isinstance(own, int) and isinstance(often, int) else Dim("?")
    return Array(dtype_of(types[0]), tuple(new if k == axes[0] else e for k, e in enumerate(shape)))


rule("tile(x, *reps)", _tile_law, emit="np.tile(x, (*reps,))", linear="x", x_grad="tile_back(out_grad, shape_of(x), *reps)")
rule("tile_back(g, shape, *reps)", into_shape_law, emit="tile_back(g, shape, (*reps,))", linear="g", g_grad="tile(out_grad, *reps)")
rule(
    "repeat(x, repeats, axis=None)",
    _repeat_law,
    emit=by_default("np.repeat(x, repeats", axis=None),
    linear="x",
    x_grad="repeat_back(out_grad, shape_of(x), repeats, axis=axis)",
)
back("repeat_back(g, shape, repeats, axis=None)", g_grad="repeat(out_grad, repeats, axis=axis)")
