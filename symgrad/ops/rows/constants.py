"""table: functions whose derivative is zero almost everywhere, or whose results are not numbers.

Functions applied element by element are in ``elementwise.py``, reductions in ``reductions.py``.
"""

from __future__ import annotations

from typing import Any

from symgrad.errors import UnsupportedArgument
from symgrad.ir.types import UNKNOWN, Array, Dim, Extent, Scalar, Type
from symgrad.ops.declare import RUNTIME, constant, missing, rule
from symgrad.ops.indexing import Extents
from symgrad.ops.rows.arrays import order_law
from symgrad.ops.shapes import array_or_scalar, bool_law, dtype_of, given_shape, is_none, rank_of, shape_of
from symgrad.ops.signatures import QUADRATURE


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


def _diagonal_indices_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> tuple[Type, ...]:
    """Of a matrix; of more axes there are more results."""
    if rank_of(types[0]) != 2:
        raise UnsupportedArgument("np.diag_indices_from is supported for matrices", hint="use np.arange for each axis")
    return _indices_law(types, settings, dim)


def _grid_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    shape = given_shape(types, dim)
    return Array("i64", None if shape is None else (len(shape), *shape), "C")


def _lexsort_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    """The shape law of indices along the last axis; scalar keys have one."""
    shape = shape_of(types[0])
    return array_or_scalar("i64", shape[1:] if len(types) == 1 and shape and len(shape) > 1 else shape)


def _lexsort_text(settings: dict[str, Any], types: list[Type]) -> str:
    """Several keys, or one array whose items are the keys."""
    keys = "*keys" if len(types) == 1 and (rank_of(types[0]) or 0) > 1 else "(*keys,)"
    return f"np.lexsort({keys})" if settings["axis"] == -1 else f"np.lexsort({keys}, axis)"


def _window_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return Array("f64", (dim(0),), "C")


def _refusing_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    """The law of a row for unsupported calls of a composition: building it is an error."""
    if settings["what"]:
        raise UnsupportedArgument(settings["what"])
    return UNKNOWN


def _tri_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    columns: Extent = dim(0) if is_none(types[1]) else dim(1)
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
# of equal elements the first passes the derivative on
rule("unique(x)", _unknown_length(), x_grad="take_items_back(out_grad, unique_places(x), shape_of(x))")
constant("unique_places(x)", _unknown_length("i64"), emit="np.unique(x, return_index=True)[1]")
constant("kept_places(shape, obj, axis=None)", _unknown_length("i64"), emit=RUNTIME)
constant("argwhere(x)", lambda types, settings, dim: Array("i64", None if (rank := rank_of(types[0])) is None else (Dim("?"), rank)))
constant("indices(*shape)", _grid_law, emit="np.indices((*shape,))")
constant("lexsort(*keys, axis=-1)", _lexsort_law, emit=_lexsort_text)
for _name in ("bartlett", "blackman", "hamming", "hanning"):
    constant(f"{_name}(n)", _window_law, emit=f"np.{_name}(n)")
for _name, _module in QUADRATURE.items():
    constant(
        f"{_name}(n) -> places, weights",
        lambda types, settings, dim: (_window_law(types, settings, dim), _window_law(types, settings, dim)),
        emit=f"np.polynomial.{_module}.{_name}(n)",
    )
rule("kaiser(n, beta)", _window_law, emit="np.kaiser(n, beta)", n_grad=None, beta_grad="sum(out_grad * kaiser_slope(n, beta))")
missing("kaiser_slope(n, beta)", _window_law, "second derivatives of np.kaiser are not known", emit=RUNTIME)
for _name in ("triu", "tril"):
    constant(f"{_name}_indices_from(x, k=0) -> rows, columns", _indices_law, emit=f"np.{_name}_indices_from(x, k)")
constant("diag_indices_from(x) -> rows, columns", _diagonal_indices_law, emit="np.diag_indices_from(x)")
constant("argpartition(x, kth, axis=-1)", order_law, emit="np.argpartition(x, kth, axis)")
constant("triu_indices(n, k=0) -> rows, columns", _indices_law, emit="np.triu_indices(n, k)")
constant("tril_indices(n, k=0) -> rows, columns", _indices_law, emit="np.tril_indices(n, k)")
constant("diag_indices(n) -> rows, columns", _indices_law, emit="np.diag_indices(n)")
constant('tri(n, m, k=0, dtype="f64")', _tri_law, emit="np.tri(n, m, k, dtype)")
constant("array_equal(x, y)", bool_law)
constant("allclose(x, y, rtol=1e-05, atol=1e-08)", bool_law, emit="np.allclose(x, y, rtol, atol)")
constant("refuse(what='')", _refusing_law)
constant("is_array(x)", bool_law, emit="isinstance(x, np.ndarray)")
