"""table: diagonals and triangles of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.ir.types import Array, Dim, Extent, Shape, Type, same_extent
from symgrad.ops.declare import by_default, rule
from symgrad.ops.indexing import Extents
from symgrad.ops.rows.arrays import back, into_shape_law, layout_law
from symgrad.ops.rows.elementwise import Emit
from symgrad.ops.shapes import array_dtype, axes_of, rank_of, scalar_of


def _smaller(a: Extent, b: Extent) -> Extent:
    return a if same_extent(a, b) else min(a, b) if isinstance(a, int) and isinstance(b, int) else Dim("?")


def _diagonal(shape: Shape, settings: dict[str, Any]) -> Shape | None:
    axes = axes_of((settings["axis1"], settings["axis2"]), len(shape))
    if axes is None or len(shape) < 2 or axes[0] == axes[1]:
        return None
    length = _smaller(shape[axes[0]], shape[axes[1]]) if settings["offset"] == 0 else Dim("?")
    return (*(e for k, e in enumerate(shape) if k not in axes), length)


def _diag(shape: Shape, settings: dict[str, Any]) -> Shape | None:
    if len(shape) == 1:
        n, shift = shape[0], abs(settings["k"])
        side: Extent = n + shift if isinstance(n, int) else n if not shift else Dim("?")
        return (side, side) if side != Dim("?") else (side, Dim("?"))
    return _diagonal(shape, {"axis1": 0, "axis2": 1, "offset": settings["k"]})


def _trace_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    type_ = layout_law(_diagonal)(types, settings, dim)
    dtype = array_dtype(np.sum, [types[0]])
    shape = None if type_.shape is None else type_.shape[:-1]
    return scalar_of(dtype) if shape == () else Array(dtype, shape)


def _of_diagonal(start: str) -> Emit:
    """Emit a call with the settings of the diagonal that differ from the defaults."""

    def emit(settings: dict[str, Any], types: list[Type]) -> str:
        if (settings["axis1"], settings["axis2"]) != (0, 1):
            return f"{start}, offset, axis1, axis2)"
        return f"{start}, offset)" if settings["offset"] else f"{start})"

    return emit


_DIAGONAL = "offset=0, axis1=0, axis2=1"
_SAME_DIAGONAL = "offset=offset, axis1=axis1, axis2=axis2"
# a matrix from a vector; of arrays of unknown rank also the diagonal of a matrix, which is a view
for _name, _alias in (("diag", "fresh"), ("diag_of_any", "depends")):
    rule(
        f"{_name}(x, k=0)",
        layout_law(_diag),
        emit=by_default("np.diag(x", k=0),
        alias=_alias,  # type: ignore[arg-type]
        linear="x",
        x_grad=f"{_name}_back(out_grad, shape_of(x), k=k)",
    )
    back(f"{_name}_back(g, shape, k=0)", emit="diag_back(g, shape, k)", g_grad=f"{_name}(out_grad, k=k)")
rule(
    f"diagonal(x, {_DIAGONAL})",
    layout_law(_diagonal),
    emit=_of_diagonal("np.diagonal(x"),
    alias="view",
    linear="x",
    x_grad=f"diagonal_place(out_grad, shape_of(x), {_SAME_DIAGONAL})",
)
rule(
    f"diagonal_place(g, shape, {_DIAGONAL})",
    into_shape_law,
    emit=_of_diagonal("diagonal_place(g, shape"),
    linear="g",
    g_grad=f"diagonal(out_grad, {_SAME_DIAGONAL})",
)
rule(
    f"trace(x, {_DIAGONAL})",
    _trace_law,
    emit=lambda s, t: "np.trace(x)" if rank_of(t[0]) == 2 and not s["offset"] else "np.trace(x, offset, axis1, axis2)",
    linear="x",
    x_grad=f"trace_back(out_grad, shape_of(x), {_SAME_DIAGONAL})",
)
rule(
    f"trace_back(g, shape, {_DIAGONAL})",
    into_shape_law,
    emit="trace_back(g, shape, offset, axis1, axis2)",
    linear="g",
    g_grad=f"trace(out_grad, {_SAME_DIAGONAL})",
)


def _triangle(shape: Shape, settings: dict[str, Any]) -> Shape | None:
    return shape if len(shape) >= 2 else (*shape, *shape) or None


for _name in ("triu", "tril"):
    rule(
        f"{_name}(x, k=0)",
        layout_law(_triangle),
        emit=by_default(f"np.{_name}(x", k=0),
        linear="x",
        x_grad=f"fit({_name}(out_grad, k=k), shape_of(x))",
    )
