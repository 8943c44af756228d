"""table: reductions along axes (sum, prod, max, var) and scans (cumsum, cumprod).

``axis`` is None, an int or a tuple. Ties of max and min share equally; products are right where
something is zero, to any order of derivative.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.ir.types import FLOAT, INT, UNKNOWN, Array, Scalar, ShapeOf, Type, kind_of
from symgrad.ops import batched
from symgrad.ops.declare import ROWS, RUNTIME, Row, add, constant, parse_signature, rule
from symgrad.ops.indexing import Extents, broadcast, reshape_extents
from symgrad.ops.rows.elementwise import Emit
from symgrad.ops.shapes import Result, array_dtype, array_or_scalar, dtype_of, float_law, int_law, is_none, reduced, reduction_law, shape_of

# ------------------------------------------------------------------ texts


def reduction_text(name: str, *extra: str) -> Emit:
    """Emit ``x.sum(axis)`` if ``x`` is an array, else ``np.sum(x, axis)``, without settings at their defaults."""

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
        text = "shape[axis]"
    elif axis is None:
        text = "shape[0]" if shape is not None and len(shape) == 1 else "math.prod(shape)"
    else:
        text = " * ".join(f"shape[{a}]" for a in axis) or "1"
    return f"{text} or 1" if settings["divisor"] and text != "1" else text


# ------------------------------------------------------------------ laws


def _running_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    shape = shape_of(types[0])
    if not types[0].is_number:
        return UNKNOWN
    dtype = array_dtype(np.cumsum, types)
    if settings["axis"] is None:
        return Array(dtype, None if shape is None else reshape_extents(shape, [-1]), "C")
    return Array(dtype, (1,) if shape == () else shape)


def _product_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    if not all(t.is_number for t in types):
        return UNKNOWN
    return Array(array_dtype(np.add, [types[0], types[-1]]), broadcast([shape_of(t) for t in types]))


def _extreme_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    dtype = dtype_of(types[0])
    return Array(dtype if dtype and kind_of(dtype) == "float" else "f64" if dtype else None, shape_of(types[0]))


def _count_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Result:
    if settings["axis"] is None and not settings["keepdims"]:
        return Scalar("int", "any")  # a Python int in older versions of NumPy
    return reduction_law(lambda x: np.count_nonzero(x, axis=0))(types, settings, dim)


# ------------------------------------------------------------------ sums and means

_AXES = "axis=None, keepdims=False"


def _spread(g: str) -> str:
    """The call that repeats a cotangent along the reduced axes."""
    return f"spread({g}, shape_of(x), axis=axis, keepdims=keepdims)"


_SPREAD = _spread("out_grad")
_SIZE = "reduced_size(shape_of(x), axis=axis)"
_DEVIATION = "(x - mean(x, axis=axis, keepdims=True))"
_BY_SIZE = _spread(f"ratio(2 * out_grad, {_SIZE} - ddof)")
# the deviation of one element is always zero: the divisor is then 1, not zero
_BY_ROOT = _spread(f"out_grad / (out * ({_SIZE} - ddof) if ddof else out * {_SIZE} + ({_SIZE} == 1))")
rule(f"sum(x, {_AXES})", reduction_law(np.sum), batch=batched.along, emit=reduction_text("sum"), linear="x", x_grad=_SPREAD)
rule(
    f"mean(x, {_AXES})",
    reduction_law(np.mean),
    batch=batched.along,
    emit=reduction_text("mean"),
    linear="x",
    x_grad=_spread("out_grad / reduced_size(shape_of(x), axis=axis, divisor=True)"),
)
rule(
    f"var(x, {_AXES}, ddof=0)",
    reduction_law(np.var),
    batch=batched.along,
    emit=reduction_text("var", "ddof"),
    x_grad=f"dual{_DEVIATION} * {_BY_SIZE}",
)
rule(
    f"std(x, {_AXES}, ddof=0)",
    reduction_law(np.std),
    batch=batched.along,
    emit=reduction_text("std", "ddof"),
    x_grad=f"dual{_DEVIATION} * {_BY_ROOT}",
)
# how many elements make one; as a divisor 1 where there are none, and so no slopes: Python's numbers would raise
constant("reduced_size(shape, axis=None, divisor=False)", int_law, emit=_size_text, cheap=True, batch=batched.size_over)

# ------------------------------------------------------------------ largest, smallest, middle


def _median_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Result:
    """The law of other reductions, except that a number with ``keepdims`` becomes an array without axes."""
    type_ = reduction_law(np.median)(types, settings, dim)
    if isinstance(type_, Scalar) and settings["keepdims"]:
        return Array(None if type_.dtype == "any" else type_.dtype, ())
    return type_


rule(
    f"median(x, {_AXES})",
    _median_law,
    batch=batched.along,
    emit=numpy_text("median", "axis", "keepdims"),
    x_grad=f"middle_share(x, axis=axis) * {_SPREAD}",
)
# 1 at the median of the sorted elements, 0.5 at each of two
constant("middle_share(x, axis=None)", _extreme_law, emit=RUNTIME)

for _name in ("max", "min"):
    rule(
        f"{_name}(x, {_AXES})",
        reduction_law(np.max),
        batch=batched.along,
        emit=reduction_text(_name),
        x_grad=f"extreme_share(x, out, axis=axis, keepdims=keepdims) * {_SPREAD}",
    )
    rule(
        f"nan{_name}(x, {_AXES})",
        reduction_law(np.max),
        emit=numpy_text(f"nan{_name}", "axis", "keepdims"),
        x_grad=f"extreme_share(x, out, axis=axis, keepdims=keepdims) * {_SPREAD}",
    )
# 1 where x is the extreme, divided by how often it is reached
constant(f"extreme_share(x, out, {_AXES})", _extreme_law, batch=batched.along, emit="extreme_share(x, out, axis, keepdims)")
rule(
    f"nansum(x, {_AXES})",
    reduction_law(np.sum),
    batch=batched.along,
    emit=numpy_text("nansum", "axis", "keepdims"),
    x_grad=f"where(isnan(x), 0.0, {_SPREAD})",
)
rule(
    f"nanmean(x, {_AXES})",
    reduction_law(np.mean),
    batch=batched.along,
    emit=numpy_text("nanmean", "axis", "keepdims"),
    x_grad=f"where(isnan(x), 0.0, {_spread('out_grad / sum(logical_not(isnan(x)), axis=axis, keepdims=keepdims)')})",
)

# ------------------------------------------------------------------ products

# With P_i = prod(x_j, j before i) and W_i = sum(g_j * prod(x_k, k between i and j), j after i),
# the derivatives of both are said by themselves and their mirror images, so no order needs a division.
rule(
    f"prod(x, {_AXES})",
    reduction_law(np.prod),
    batch=batched.along,
    emit=reduction_text("prod"),
    x_grad=f"product_before(x, axis=axis) * product_after(x, axis=axis) * {_SPREAD}",
)
rule("product_before(x, axis=None)", _product_law, emit=RUNTIME, x_grad="out * weighted_after(x, out_grad, axis=axis)")
rule("product_after(x, axis=None)", _product_law, emit=RUNTIME, x_grad="out * weighted_before(x, out_grad, axis=axis)")
rule(
    "weighted_after(x, g, axis=None)",
    _product_law,
    emit=RUNTIME,
    x_grad="out * weighted_before(x, out_grad, axis=axis)",
    g_grad="weighted_before(x, out_grad, axis=axis)",
)
rule(
    "weighted_before(x, g, axis=None)",
    _product_law,
    emit=RUNTIME,
    x_grad="out * weighted_after(x, out_grad, axis=axis)",
    g_grad="weighted_after(x, out_grad, axis=axis)",
)
rule(
    "cumprod(x, axis=None)",
    _running_law,
    batch=batched.in_order,
    emit=reduction_text("cumprod"),
    x_grad="product_before(x, axis=axis) * ("
    "reshape(out_grad, shape_of(x)) + weighted_after(x, reshape(out_grad, shape_of(x)) * x, axis=axis))",
)
rule(
    "cumsum(x, axis=None)",
    _running_law,
    batch=batched.in_order,
    emit=reduction_text("cumsum"),
    linear="x",
    x_grad="reshape(flip(cumsum(flip(out_grad, axis=axis), axis=axis), axis=axis), shape_of(x))",
)


# ------------------------------------------------------------------ with a mask, an initial value or a dtype


def _of_law(function: Any) -> Any:
    """The law of a reduction that computes in a dtype of its own."""

    def law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Result:
        type_ = reduction_law(function)(types[:1], settings, dim)
        dtype = settings.get("dtype")
        if dtype is None or not isinstance(type_, Array | Scalar):
            return type_
        return Array(dtype, type_.shape, type_.layout) if isinstance(type_, Array) else Scalar(kind_of(dtype), dtype)

    return law


def _running_of_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    type_ = _running_law(types, settings, dim)
    return Array(settings["dtype"], type_.shape, type_.layout) if isinstance(type_, Array) and settings["dtype"] else type_


def of_text(name: str, *params: str) -> Emit:
    """Emit ``np.name(x, axis=axis, where=where)`` without settings at their defaults."""

    def emit(settings: dict[str, Any], types: list[Type]) -> str:
        words = [
            f"{word}={word}"
            for word in ("axis", "dtype", "keepdims", "ddof")
            if settings.get(word) not in (None, False, 0) or word == "axis" and settings[word] is not None
        ]
        words += [f"{p}={p}" for p, t in zip(params, types[1:], strict=True) if not is_none(t)]
        return f"np.{name}({', '.join(['x', *words])})"

    return emit


def _masked_text(settings: dict[str, Any], types: list[Type]) -> str:
    return "g" if is_none(types[1]) else "np.where(where, g, 0.0)"


def _filled_text(settings: dict[str, Any], types: list[Type]) -> str:
    return "x" if is_none(types[1]) else "np.where(where, x, 1.0)"


def _where_given(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    """Return the first operand, with masked elements replaced by a float."""
    if is_none(types[1]) or not types[0].is_number:
        return types[0]
    dtype = array_dtype(lambda c, x: np.where(c, x, 1.0), [types[1], types[0]])
    return Array(dtype, broadcast([shape_of(types[0]), shape_of(types[1])]))


def _counted_text(settings: dict[str, Any], types: list[Type]) -> str:
    axis, keepdims = settings["axis"], settings["keepdims"]
    if not is_none(types[1]):
        return f"np.sum(np.broadcast_to(where, np.shape(x)), axis{', keepdims=True' if keepdims else ''})"
    if axis is None:
        return "np.size(x)"
    return " * ".join(f"np.shape(x)[{a}]" for a in (axis if isinstance(axis, tuple) else (axis,))) or "1"


def _counted_law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    if is_none(types[1]):
        return INT
    shape = reduced(shape_of(types[0]), settings["axis"], settings["keepdims"])
    return array_or_scalar("i64", shape)


_OF = f"x, where, initial, {_AXES}, dtype=None"
rule("masked(g, where)", _where_given, emit=_masked_text, alias="depends", linear="g", g_grad="masked(out_grad, where)")
rule("filled(x, where)", _where_given, emit=_filled_text, alias="depends", x_grad="masked(out_grad, where)")
rule(
    "or_one(v)",
    lambda types, settings, dim: FLOAT if is_none(types[0]) else types[0],
    emit=lambda s, t: "1.0" if is_none(t[0]) else "v",
    alias="same",
    cheap=True,
    linear="v",
    v_grad="out_grad",
)
constant(f"counted(x, where, {_AXES})", _counted_law, emit=_counted_text)
rule(
    f"sum_of({_OF})",
    _of_law(np.sum),
    emit=of_text("sum", "where", "initial"),
    linear="x initial",
    x_grad=f"masked({_SPREAD}, where)",
    initial_grad="fit(out_grad, shape_of(initial))",
)
rule(
    f"mean_of(x, where, {_AXES}, dtype=None)",
    _of_law(np.mean),
    emit=of_text("mean", "where"),
    linear="x",
    x_grad=f"masked({_spread('out_grad / counted(x, where, axis=axis, keepdims=keepdims)')}, where)",
)
rule(
    f"prod_of({_OF})",
    _of_law(np.prod),
    emit=of_text("prod", "where", "initial"),
    x_grad="masked(product_before(filled(x, where), axis=axis) * product_after(filled(x, where), axis=axis) * "
    f"{_spread('out_grad * or_one(initial)')}, where)",
    initial_grad="fit(out_grad * prod(filled(x, where), axis=axis, keepdims=keepdims), shape_of(initial))",
)
_SHARES = f"(x, out, where, initial, {_AXES})"
_SHARED = "(x, out, where, initial, axis=axis, keepdims=keepdims)"
for _name in ("max", "min"):
    rule(
        f"{_name}_of(x, where, initial, {_AXES})",
        _of_law(np.max),
        emit=of_text(_name, "where", "initial"),
        x_grad=f"extreme_share_of{_SHARED} * {_SPREAD}",
        initial_grad=f"fit(out_grad * initial_share{_SHARED}, shape_of(initial))",
    )
constant(f"extreme_share_of{_SHARES}", _extreme_law, emit="extreme_share_of(x, out, where, initial, axis, keepdims)")
constant(f"initial_share{_SHARES}", lambda types, settings, dim: types[1], emit="initial_share(x, out, where, initial, axis, keepdims)")
rule(f"var_of(x, {_AXES}, ddof=0, dtype=None)", _of_law(np.var), emit=of_text("var"), x_grad=f"{_DEVIATION} * {_BY_SIZE}")
rule(f"std_of(x, {_AXES}, ddof=0, dtype=None)", _of_law(np.std), emit=of_text("std"), x_grad=f"{_DEVIATION} * {_BY_ROOT}")
rule("cumsum_of(x, axis=None, dtype=None)", _running_of_law, emit=of_text("cumsum"), x_grad=ROWS["cumsum"].pullbacks["x"], linear="x")
rule("cumprod_of(x, axis=None, dtype=None)", _running_of_law, emit=of_text("cumprod"), x_grad=ROWS["cumprod"].pullbacks["x"])
rule("fsum(x)", float_law, emit="math.fsum(x)", linear="x", x_grad="spread(out_grad, shape_of(x))")
# the largest or smallest so far; equal ones: the last
for _name, _ufunc in (("max", "maximum"), ("min", "minimum")):
    rule(
        f"running_{_name}(x, axis=0)",
        lambda types, settings, dim: Array(dtype_of(types[0]), shape_of(types[0])),
        emit=f"np.{_ufunc}.accumulate(x, axis)",
        x_grad="add_along_axis(out_grad, running_places(x, out, axis=axis), shape_of(x), axis=axis)",
    )
constant("running_places(x, out, axis=0)", lambda types, settings, dim: Array("i64", shape_of(types[0])), emit=RUNTIME)

# ------------------------------------------------------------------ derivative zero


def flat_reduction(text: str, function: Any, batch: Any = batched.in_order) -> Row:
    """Declare a reduction whose derivative is zero."""
    name, params, settings, _, _ = parse_signature(text)
    return add(
        Row(name, params, reduction_law(function), settings, pullbacks=dict.fromkeys(params), emit=reduction_text(name), batch=batch)
    )


flat_reduction(f"any(x, {_AXES})", np.any, batched.along)
flat_reduction(f"all(x, {_AXES})", np.all, batched.along)
flat_reduction(f"argmax(x, {_AXES})", np.argmax)
flat_reduction(f"argmin(x, {_AXES})", np.argmin)
constant(f"count_nonzero(x, {_AXES})", _count_law, batch=batched.along, emit=numpy_text("count_nonzero", "axis", "keepdims"))
constant(f"nanargmax(x, {_AXES})", reduction_law(np.argmax), batch=batched.in_order, emit=numpy_text("nanargmax", "axis", "keepdims"))
constant(f"nanargmin(x, {_AXES})", reduction_law(np.argmin), batch=batched.in_order, emit=numpy_text("nanargmin", "axis", "keepdims"))
