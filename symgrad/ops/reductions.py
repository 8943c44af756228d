"""table: functions that make one number of many along axes (sum, prod, max, var), and the running ones (cumsum, cumprod).

``axis`` is None, an int or a tuple. Ties of max and min share equally; products are right where
something is zero, to any order of derivative.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.ir.types import INT, UNKNOWN, Array, Scalar, ShapeOf, Type, kind_of
from symgrad.ops.declare import Row, add, constant, parse_signature, rule
from symgrad.ops.elementwise import Emit
from symgrad.ops.indexing import Extents, broadcast, reshape_extents
from symgrad.ops.shapes import Result, array_dtype, dtype_of, reduction_law, shape_of

# ------------------------------------------------------------------ texts


def reduction_text(name: str, *extra: str) -> Emit:
    """``x.sum(axis)`` where ``x`` is an array, else ``np.sum(x, axis)``; only the settings that matter are said."""

    def emit(settings: dict[str, Any], types: list[Type]) -> str:
        words = ["axis"] if settings["axis"] is not None else []
        words += [f"{word}={word}" for word in ("keepdims", *extra) if settings.get(word)]
        if isinstance(types[0], Array) and types[0].shape is not None:
            return f"x.{name}({', '.join(words)})"
        return f"np.{name}({', '.join(['x', *words])})"

    return emit


def numpy_text(name: str, *words: str) -> Emit:
    """``np.name(x, axis)`` with only the settings that matter."""

    def emit(settings: dict[str, Any], types: list[Type]) -> str:
        said = ["x"] + [f"{word}={word}" for word in words if settings.get(word) is not None and settings[word] is not False]
        return f"np.{name}({', '.join(said)})"

    return emit


def _size_text(settings: dict[str, Any], types: list[Type]) -> str:
    shape = types[0].shape if isinstance(types[0], ShapeOf) else None
    axis = settings["axis"]
    if isinstance(axis, int):
        return "shape[axis]"
    if axis is None:
        return "shape[0]" if shape is not None and len(shape) == 1 else "math.prod(shape)"
    return " * ".join(f"shape[{a}]" for a in axis) or "1"


# ------------------------------------------------------------------ laws


def _running_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    shape = shape_of(types[0])
    if not types[0].is_number:
        return UNKNOWN
    dtype = array_dtype(np.cumsum, types)
    if settings["axis"] is None:
        return Array(dtype, None if shape is None else reshape_extents(shape, [-1]), "C")
    return Array(dtype, shape)


def _product_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    if not all(t.is_number for t in types):
        return UNKNOWN
    return Array(array_dtype(np.add, [types[0], types[-1]]), broadcast([shape_of(t) for t in types]))


def _extreme_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    dtype = dtype_of(types[0])
    return Array(dtype if dtype and kind_of(dtype) == "float" else "f64" if dtype else None, shape_of(types[0]))


def _size_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return INT


def _count_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Result:
    if settings["axis"] is None and not settings["keepdims"]:
        return Scalar("int", "any")  # a Python int in older versions of NumPy
    return reduction_law(lambda x: np.count_nonzero(x, axis=0))(types, settings, dim)


# ------------------------------------------------------------------ sums and means

_AXES = "axis=None, keepdims=False"

rule(f"sum(x, {_AXES})", reduction_law(np.sum), emit=reduction_text("sum"), linear="x",
     x_grad="spread(out_grad, shape_of(x), axis=axis, keepdims=keepdims)")  # fmt: skip
rule(f"mean(x, {_AXES})", reduction_law(np.mean), emit=reduction_text("mean"), linear="x",
     x_grad="spread(out_grad / reduced_size(shape_of(x), axis=axis), shape_of(x), axis=axis, keepdims=keepdims)")  # fmt: skip
rule(f"var(x, {_AXES}, ddof=0)", reduction_law(np.var), emit=reduction_text("var", "ddof"),
     x_grad="(x - mean(x, axis=axis, keepdims=True)) * spread("
            "2 * out_grad / (reduced_size(shape_of(x), axis=axis) - ddof), shape_of(x), axis=axis, keepdims=keepdims)")  # fmt: skip
rule(f"std(x, {_AXES}, ddof=0)", reduction_law(np.std), emit=reduction_text("std", "ddof"),
     x_grad="(x - mean(x, axis=axis, keepdims=True)) * spread("
            "out_grad / (out * (reduced_size(shape_of(x), axis=axis) - ddof)), shape_of(x), axis=axis, keepdims=keepdims)")  # fmt: skip
constant("reduced_size(shape, axis=None)", _size_law, emit=_size_text, cheap=True)

# ------------------------------------------------------------------ largest and smallest

for _name in ("max", "min"):
    rule(
        f"{_name}(x, {_AXES})",
        reduction_law(np.max),
        emit=reduction_text(_name),
        x_grad="extreme_share(x, out, axis=axis, keepdims=keepdims) * spread(out_grad, shape_of(x), axis=axis, keepdims=keepdims)",
    )
    rule(
        f"nan{_name}(x, {_AXES})",
        reduction_law(np.max),
        emit=numpy_text(f"nan{_name}", "axis", "keepdims"),
        x_grad="extreme_share(x, out, axis=axis, keepdims=keepdims) * spread(out_grad, shape_of(x), axis=axis, keepdims=keepdims)",
    )
# 1 where x is the extreme, divided by how often it is reached
constant(f"extreme_share(x, out, {_AXES})", _extreme_law, emit="extreme_share(x, out, axis, keepdims)")
rule(f"nansum(x, {_AXES})", reduction_law(np.sum), emit=numpy_text("nansum", "axis", "keepdims"),
     x_grad="where(isnan(x), 0.0, spread(out_grad, shape_of(x), axis=axis, keepdims=keepdims))")  # fmt: skip
rule(f"nanmean(x, {_AXES})", reduction_law(np.mean), emit=numpy_text("nanmean", "axis", "keepdims"),
     x_grad="where(isnan(x), 0.0, spread(out_grad / sum(logical_not(isnan(x)), axis=axis, keepdims=keepdims), "
            "shape_of(x), axis=axis, keepdims=keepdims))")  # fmt: skip

# ------------------------------------------------------------------ products

# With P_i = prod(x_j, j before i) and W_i = sum(g_j * prod(x_k, k between i and j), j after i),
# the derivatives of both are said by themselves and their mirror images, so no order needs a division.
rule(
    f"prod(x, {_AXES})",
    reduction_law(np.prod),
    emit=reduction_text("prod"),
    x_grad="product_before(x, axis=axis) * product_after(x, axis=axis) * spread(out_grad, shape_of(x), axis=axis, keepdims=keepdims)",
)
rule("product_before(x, axis=None)", _product_law, emit="product_before(x, axis)", x_grad="out * weighted_after(x, out_grad, axis=axis)")
rule("product_after(x, axis=None)", _product_law, emit="product_after(x, axis)", x_grad="out * weighted_before(x, out_grad, axis=axis)")
rule("weighted_after(x, g, axis=None)", _product_law, emit="weighted_after(x, g, axis)",
     x_grad="out * weighted_before(x, out_grad, axis=axis)", g_grad="weighted_before(x, out_grad, axis=axis)")  # fmt: skip
rule("weighted_before(x, g, axis=None)", _product_law, emit="weighted_before(x, g, axis)",
     x_grad="out * weighted_after(x, out_grad, axis=axis)", g_grad="weighted_after(x, out_grad, axis=axis)")  # fmt: skip
rule(
    "cumprod(x, axis=None)",
    _running_law,
    emit=reduction_text("cumprod"),
    x_grad="product_before(x, axis=axis) * ("
    "reshape(out_grad, shape_of(x)) + weighted_after(x, reshape(out_grad, shape_of(x)) * x, axis=axis))",
)
rule("cumsum(x, axis=None)", _running_law, emit=reduction_text("cumsum"), linear="x",
     x_grad="reshape(flip(cumsum(flip(out_grad, axis=axis), axis=axis), axis=axis), shape_of(x))")  # fmt: skip


# ------------------------------------------------------------------ derivative zero


def flat_reduction(text: str, function: Any) -> Row:
    """Declare a reduction whose derivative is zero."""
    name, params, settings, _, _ = parse_signature(text)
    return add(Row(name, params, reduction_law(function), settings, pullbacks=dict.fromkeys(params), emit=reduction_text(name)))


flat_reduction(f"any(x, {_AXES})", np.any)
flat_reduction(f"all(x, {_AXES})", np.all)
flat_reduction(f"argmax(x, {_AXES})", np.argmax)
flat_reduction(f"argmin(x, {_AXES})", np.argmin)
constant(f"count_nonzero(x, {_AXES})", _count_law, emit=numpy_text("count_nonzero", "axis", "keepdims"))
constant(f"nanargmax(x, {_AXES})", reduction_law(np.argmax), emit=numpy_text("nanargmax", "axis", "keepdims"))
constant(f"nanargmin(x, {_AXES})", reduction_law(np.argmin), emit=numpy_text("nanargmin", "axis", "keepdims"))
