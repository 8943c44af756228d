"""table: functions whose results do not change with small changes of their inputs, or are not numbers.

Those applied element by element stand with the others in ``elementwise.py``, reductions in ``reductions.py``.
"""

from __future__ import annotations

from typing import Any

from symgrad.ir.types import BOOL, Array, Dim, Extent, Scalar, Type
from symgrad.ops.declare import constant
from symgrad.ops.indexing import Extents
from symgrad.ops.shapes import dtype_of, shape_of


def _unknown_length(dtype: str | None = None) -> Any:
    """The law of a vector of unknown length, with a dtype of its own or that of the first operand."""
    return lambda types, settings, dim: Array(dtype or dtype_of(types[0]), (Dim("?"),), "C")


def _positions_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    shape = shape_of(types[1])
    return Scalar("int", "i64") if shape == () else Array("i64", shape)


def _isin_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return Array("bool", shape_of(types[0]))


def _indices_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> tuple[Type, ...]:
    one = Array("i64", (Dim("?"),), "C")
    return one, one


def _bool_scalar(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return BOOL


def _partition_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return Array("i64", shape_of(types[0]))


def _tri_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    columns: Extent = dim(1) if isinstance(types[1], Scalar) else dim(0)
    return Array(settings["dtype"], (dim(0), columns), "C")


constant("flatnonzero(x)", _unknown_length("i64"))
constant(
    'searchsorted(a, v, side="left")',
    _positions_law,
    emit=lambda s, t: "np.searchsorted(a, v)" if s["side"] == "left" else "np.searchsorted(a, v, side)",
)
constant(
    "digitize(v, a, right=False)",
    lambda types, settings, dim: _positions_law([types[1], types[0]], settings, dim),
    emit="np.digitize(v, a, right)",
)
constant("isin(x, y)", _isin_law)
constant("unique(x)", _unknown_length())
constant("argpartition(x, kth, axis=-1)", _partition_law, emit="np.argpartition(x, kth, axis)")
constant("triu_indices(n, k=0) -> rows, columns", _indices_law, emit="np.triu_indices(n, k)")
constant("tril_indices(n, k=0) -> rows, columns", _indices_law, emit="np.tril_indices(n, k)")
constant("diag_indices(n) -> rows, columns", _indices_law, emit="np.diag_indices(n)")
constant('tri(n, m, k=0, dtype="f64")', _tri_law, emit="np.tri(n, m, k, dtype)")
constant("array_equal(x, y)", _bool_scalar)
constant("allclose(x, y, rtol=1e-05, atol=1e-08)", _bool_scalar, emit="np.allclose(x, y, rtol, atol)")
constant("is_array(x)", _bool_scalar, emit="isinstance(x, np.ndarray)")
