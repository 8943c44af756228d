"""table: functions that create arrays, and functions that count elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.ir.types import (
    FLOAT,
    Array,
    Dim,
    Extent,
    Scalar,
    Type,
)
from symgrad.ops import batched
from symgrad.ops.declare import by_default, constant, rule
from symgrad.ops.indexing import Extents, broadcast
from symgrad.ops.rows.arrays import into_shape_law
from symgrad.ops.rows.elementwise import Emit
from symgrad.ops.shapes import (
    array_dtype,
    dtype_of,
    given_shape,
    is_none,
    kept_layout,
    shape_of,
)

# ------------------------------------------------------------------ making


def _made_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return Array(settings["dtype"], given_shape(types, dim), "C")


def _made_text(name: str) -> Emit:
    def emit(settings: dict[str, Any], types: list[Type]) -> str:
        shape = "*shape" if len(types) == 1 else "(*shape,)"
        return f"np.{name}({shape})" if settings["dtype"] == "f64" else f"np.{name}({shape}, dtype)"

    return emit


def _full_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return Array(settings["dtype"] or dtype_of(types[0]), given_shape(types, dim, 1), "C")


def _full_text(settings: dict[str, Any], types: list[Type]) -> str:
    shape = "*shape" if len(types) == 2 else "(*shape,)"
    return f"np.full({shape}, value)" if settings["dtype"] is None else f"np.full({shape}, value, dtype)"


def _like_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return Array(settings.get("dtype") or dtype_of(types[0]), shape_of(types[0]))


def _like_text(name: str) -> Emit:
    return lambda settings, types: f"np.{name}(x)" if settings["dtype"] is None else f"np.{name}(x, dtype)"


def _array_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    if not types[0].is_number:
        return Array(settings["dtype"], None)
    layout = kept_layout(types[0]) if isinstance(types[0], Array) else "C"
    return Array(settings["dtype"] or dtype_of(types[0]), shape_of(types[0]), layout)


def _arange_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    dtype = settings["dtype"] or array_dtype(_span, types)
    length: Extent = dim(0) if len(types) == 1 and isinstance(types[0], Scalar) and types[0].kind == "int" else Dim("?")
    if isinstance(length, int):
        length = max(length, 0)
    return Array(dtype, (length,), "C")


def bound_named(bounds: int, at: int) -> str:
    """Return which bound of ``np.arange`` an argument is, given the number of arguments."""
    return ("stop", "step")[at // 2] if at or bounds == 1 else "start"


def _part_of_bound_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    """The law of a bound's cotangent: a Python number for the end; for the step, a sum weighted by integers."""
    name = bound_named(len(types) - 1, settings["at"])
    if name == "stop":
        return FLOAT
    return Scalar("float", dtype_of(types[0]) if name == "start" else array_dtype(lambda g: g * np.arange(len(g)), types[:1]))


def _part_of_bound(settings: dict[str, Any], types: list[Type]) -> str:
    return {"start": "np.sum(g)", "stop": "0.0", "step": "np.dot(g, np.arange(g.shape[0]))"}[bound_named(len(types) - 1, settings["at"])]


def _range_of_bound(settings: dict[str, Any], types: list[Type]) -> str:
    name = bound_named(len(types) - 2, settings["at"])
    return {"start": "np.full(shape, g)", "stop": "np.zeros(shape)", "step": "g * np.arange(shape[0])"}[name]


def _linspace_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    shape = broadcast([shape_of(types[0]), shape_of(types[1])])
    dtype = array_dtype(_ends, types[:2])
    return Array(dtype, None if shape is None else (dim(2), *shape), "C" if shape == () else "?")


def _ends(start: Any, stop: Any) -> Any:
    return np.linspace(start, stop, 2)


def _span(*bounds: Any) -> Any:
    return np.arange(*bounds)


def _linspace_text(settings: dict[str, Any], types: list[Type]) -> str:
    return "np.linspace(start, stop, num)" if settings["endpoint"] else "np.linspace(start, stop, num, endpoint=False)"


def _eye_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return Array(settings["dtype"], (dim(0), dim(0) if is_none(types[1]) else dim(1)), "C")


def _eye_text(settings: dict[str, Any], types: list[Type]) -> str:
    words = (
        ["n"]
        + ([] if is_none(types[1]) else ["m"])
        + (["k=k"] if settings["k"] else [])
        + (["dtype=dtype"] if settings["dtype"] != "f64" else [])
    )
    return f"np.eye({', '.join(words)})"


for _name in ("zeros", "ones", "empty"):
    constant(f'{_name}(*shape, dtype="f64")', _made_law, emit=_made_text(_name))
rule(
    "full(value, *shape, dtype=None)",
    _full_law,
    batch=batched.filled,
    emit=_full_text,
    linear="value",
    value_grad="fit(out_grad, shape_of(value))",
)
constant("ones_like(x, dtype=None)", _like_law, batch=batched.same, emit=_like_text("ones_like"))
constant("empty_like(x, dtype=None)", _like_law, batch=batched.same, emit=_like_text("empty_like"))
constant("zeros_as(x, dtype=None)", _like_law, batch=batched.same, emit=_like_text("zeros_like"))
rule(
    "full_like(x, value, dtype=None)",
    _like_law,
    emit=by_default("np.full_like(x, value", dtype=None),
    linear="value",
    x_grad=None,
    value_grad="fit(out_grad, shape_of(value))",
)
rule("array(x, dtype=None)", _array_law, batch=batched.same, emit=_like_text("array"), linear="x", x_grad="fit(out_grad, shape_of(x))")
rule("asarray(x, dtype=None)", _array_law, emit=_like_text("asarray"), alias="depends", linear="x", x_grad="fit(out_grad, shape_of(x))")
rule(
    "arange(*bounds, dtype=None)",
    _arange_law,
    emit=lambda s, t: "np.arange(*bounds)" if s["dtype"] is None else "np.arange(*bounds, dtype=dtype)",
    bounds_grad="part_of_bound(out_grad, *bounds, at=position)",
)
# element i is start + i * step, and the end depends discontinuously on the bounds: the part of a bound in a range, and its cotangent
rule(
    "part_of_bound(g, *bounds, at=0)",
    _part_of_bound_law,
    emit=_part_of_bound,
    g_grad="range_of_bound(out_grad, shape_of(g), *bounds, at=at)",
    bounds_grad=None,
)
rule(
    "range_of_bound(g, shape, *bounds, at=0)",
    into_shape_law,
    emit=_range_of_bound,
    g_grad="part_of_bound(out_grad, *bounds, at=at)",
    bounds_grad=None,
)
rule(
    "linspace(start, stop, num, endpoint=True)",
    _linspace_law,
    emit=_linspace_text,
    linear="start stop",
    num_grad=None,
    start_grad="fit(tensordot(1.0 - linspace(0.0, 1.0, num, endpoint=endpoint), out_grad, axes=1), shape_of(start))",
    stop_grad="fit(tensordot(linspace(0.0, 1.0, num, endpoint=endpoint), out_grad, axes=1), shape_of(stop))",
)
constant('eye(n, m, k=0, dtype="f64")', _eye_law, emit=_eye_text)


# ------------------------------------------------------------------ counting


def _bincount_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return Array("i64" if is_none(types[1]) else "f64", (Dim("?"),), "C")


rule(
    "bincount(x, weights, minlength=0)",
    _bincount_law,
    emit="np.bincount(x, weights, minlength)",
    x_grad=None,
    linear="weights",
    weights_grad="take(out_grad, x, index='i')",
)
