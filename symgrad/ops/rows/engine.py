"""table: ops that the engine introduces: reading and writing arrays, shapes, dtypes, and tapes, which save values for the backward half.

Their derivatives are rows like all others, so a gradient can be differentiated again.
"""

from __future__ import annotations

from typing import Any

from symgrad.ir.types import (
    UNKNOWN,
    Array,
    Scalar,
    ShapeOf,
    Tape,
    Type,
    is_complex,
    join,
    kind_of,
    same_shape,
)
from symgrad.ops import batched
from symgrad.ops.declare import RUNTIME, constant, rule
from symgrad.ops.indexing import Extents, after, broadcast, has_arrays, index_type
from symgrad.ops.shapes import as_array, int_law, kept_layout, same_law, second_law

# ------------------------------------------------------------------ laws


def _by_rows(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return Array(types[0].dtype, types[0].shape, "C") if isinstance(types[0], Array) else types[0]


def _array_by_rows(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return _by_rows(types, settings, dim) if not isinstance(types[0], Scalar) else as_array(types[0])


def _array_or_zeros(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    """The array that is there, or zeros of a dtype."""
    shape = types[1].shape if isinstance(types[1], ShapeOf) else None
    own = settings["dtype"] if isinstance(types[0], Scalar) else getattr(types[0], "dtype", None)
    return Array(own if own == settings["dtype"] else None, shape)


def _like(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return Array(types[0].dtype, types[0].shape, kept_layout(types[0])) if isinstance(types[0], Array) else types[0]


def _view(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return index_type(types[0], settings["index"], types[1:], after(dim, 1), copies=False)


def _take(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return index_type(types[0], settings["index"], types[1:], after(dim, 1), copies=True)


def _shape_of(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    match types[0]:
        case Array(shape=shape):
            return ShapeOf(shape)
        case Scalar():
            return ShapeOf(())
    return ShapeOf(None)


def _shape_and(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    """Return a shape followed by further extents."""
    shape = types[0].shape if isinstance(types[0], ShapeOf) else None
    return ShapeOf(None if shape is None else (*shape, *(dim(k) for k in range(1, len(types)))))


def _zeros_of(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    shape = types[0].shape if isinstance(types[0], ShapeOf) else None
    return Array(settings["dtype"], shape, "C")


def _spread(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    shape = types[1].shape if isinstance(types[1], ShapeOf) else None
    if isinstance(types[0], Scalar) and types[0].dtype in (None, "any"):
        return Array("c128" if types[0].kind == "complex" else "f64", shape)
    return Array(getattr(types[0], "dtype", None), shape)


def _unbroadcast(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    grad, shape = types[0], types[1]
    dtype = getattr(grad, "dtype", None)
    if isinstance(shape, ShapeOf) and shape.shape == () and not settings["array"]:
        return Scalar(kind_of(dtype), dtype) if dtype and dtype != "any" else Scalar("complex" if is_complex(grad) else "float", "any")
    return Array(None if dtype == "any" else dtype, shape.shape if isinstance(shape, ShapeOf) else None)


def _accumulate(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    a, b = types
    if isinstance(a, Scalar) and isinstance(b, Array):
        return b if b.shape == () else Array(b.dtype, b.shape)
    return join(a, b) if isinstance(a, Scalar) and isinstance(b, Scalar) else a


def _cast(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    dtype = settings["dtype"]
    if isinstance(types[0], Array):
        return Array(dtype, types[0].shape, kept_layout(types[0]))
    return Scalar(kind_of(dtype), dtype)


def _number(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return Scalar(settings["kind"])


def _tape(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return Tape()


def _push(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return Tape(tuple(types[1:]))


def _pop(types: list[Type], settings: dict[str, Any], dim: Extents) -> tuple[Type, ...]:
    assert isinstance(types[0], Tape)
    return (types[0], *types[0].items)


def _slots(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return Tape((), True)


def _put(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return Tape(tuple(types[2:]), True)


def _get(types: list[Type], settings: dict[str, Any], dim: Extents) -> tuple[Type, ...]:
    return types[0].items if isinstance(types[0], Tape) else (UNKNOWN,)


# ------------------------------------------------------------------ emitted text


def is_surely_array(type_: Type) -> bool:
    """Whether it is an array on every path; a value of unknown rank may be a number."""
    return isinstance(type_, Array) and type_.shape is not None


def _copy_text(settings: dict[str, Any], types: list[Type]) -> str:
    if not is_surely_array(types[0]):
        return "copy(x)"
    return 'x.copy(order="F")' if getattr(types[0], "layout", "?") == "F" else "x.copy()"


def _take_text(settings: dict[str, Any], types: list[Type]) -> str:
    type_ = _take(types, settings, lambda k: -2)
    arrays = any(isinstance(t, Array) for t in types[1:])
    if settings["index"] == "e" and not is_surely_array(types[0]):
        return "copy(x)"
    if not isinstance(types[0], Array):
        return "copy(x[path])"
    return "x[path]" if isinstance(type_, Scalar) or arrays and ";" not in settings["index"] else "x[path].copy()"


def _take_written_text(settings: dict[str, Any], types: list[Type]) -> str:
    if has_arrays(settings["index"], types[1:]):
        return "take_written(x, path)"
    return _take_text(settings, types)


def _add_at_text(settings: dict[str, Any], types: list[Type]) -> str:
    twice = has_arrays(settings["index"], types[2:]) and not settings.get("distinct")
    return "np.add.at(x, path, v)" if twice else "x[path] += v"


def _spread_text(settings: dict[str, Any], types: list[Type]) -> str:
    axis, keepdims = settings["axis"], settings["keepdims"]
    if axis is None or keepdims or isinstance(types[0], Scalar):
        return "np.broadcast_to(g, shape)"
    return "np.broadcast_to(np.expand_dims(g, axis), shape)"


def _cast_text(settings: dict[str, Any], types: list[Type]) -> str:
    if isinstance(types[0], Scalar):
        return "dtype(x)"
    return "x.astype(dtype)" if is_surely_array(types[0]) else "in_dtype(x, dtype)"


def _zeros_text(settings: dict[str, Any], types: list[Type]) -> str:
    return "np.zeros(shape)" if settings["dtype"] == "f64" else "np.zeros(shape, dtype)"


def _array_or_zeros_text(settings: dict[str, Any], types: list[Type]) -> str:
    return "array_or_zeros(g, shape)" if settings["dtype"] == "f64" else "array_or_zeros(g, shape, dtype)"


def _shape_text(settings: dict[str, Any], types: list[Type]) -> str:
    return "x.shape" if is_surely_array(types[0]) and not settings.get("item") else "np.shape(x)"  # an item of a list may be None yet


def _extent_text(settings: dict[str, Any], types: list[Type]) -> str:
    return "x.shape[axis]" if is_surely_array(types[0]) else "np.shape(x)[axis]"


def _unbroadcast_text(settings: dict[str, Any], types: list[Type]) -> str:
    shape = types[1].shape if isinstance(types[1], ShapeOf) else None
    if shape == () and isinstance(types[0], Array) and not settings["array"]:
        return "np.sum(g)"
    return "unbroadcast(g, shape, True)" if settings["array"] else "unbroadcast(g, shape)"


def _set_text(settings: dict[str, Any], types: list[Type]) -> str:
    return "x[path] = v"


def _put_text(settings: dict[str, Any], types: list[Type]) -> str:
    value = "first" if len(types) == 3 else "(first, *more)"
    return f"add_to_slot(tape, i, {value})" if settings["add"] else f"tape[i] = {value}"


# ------------------------------------------------------------------ reading and writing arrays

# ``of_part`` is the negative where a path leads to imaginary parts: a cotangent of ``x + iy`` is ``df/dx - i df/dy``
_PATH = 'index="e"'
rule(
    f"view(x, *index, {_PATH})",
    _view,
    batch=batched.read,
    emit="x[path]",
    alias="view",
    cheap=True,
    linear="x",
    x_grad="add_at(into, of_part(out_grad, index), *index, index=index)",
)
rule(
    f"take(x, *index, {_PATH})",
    _take,
    batch=batched.read,
    emit=_take_text,
    cheap=True,
    linear="x",
    x_grad="add_at(into, of_part(out_grad, index), *index, index=index)",
)
rule(
    f"take_written(x, *index, {_PATH})",
    _take,
    batch=batched.read,
    emit=_take_written_text,
    linear="x",
    x_grad="add_written(into, of_part(out_grad, index), *index, index=index)",
)
rule(
    f"set_at(x, v, *index, {_PATH})",
    same_law,
    batch=batched.written,
    emit=_set_text,
    consumes=True,
    linear="x v",
    x_grad="set_at(taken, 0.0, *index, index=index)",
    v_grad="fit(of_part(take_written(out_grad, *index, index=index), index), shape_of(v))",
)
# ``distinct``: no cell is named twice
rule(
    f"add_at(x, v, *index, {_PATH}, distinct=False)",
    same_law,
    batch=batched.written,
    emit=_add_at_text,
    consumes=True,
    linear="x v",
    x_grad="out_grad",
    v_grad="fit(of_part(take(out_grad, *index, index=index), index), shape_of(v))",
)
rule(
    f"add_written(x, v, *index, {_PATH})",
    same_law,
    batch=batched.written,
    emit="add_written(x, path, v)",
    consumes=True,
    linear="x v",
    x_grad="out_grad",
    v_grad="fit(of_part(take_written(out_grad, *index, index=index), index), shape_of(v))",
)
rule("copy(x)", _like, batch=batched.same, emit=_copy_text, linear="x", x_grad="out_grad")
# ``x.copy()`` in user code, which changes the memory layout
rule("copy_rows(x)", _by_rows, batch=batched.same, emit="x.copy()", linear="x", x_grad="out_grad")
rule("by_rows(x)", _array_by_rows, emit='np.asarray(x, order="C")', alias="depends", linear="x", x_grad="out_grad")
rule(
    "accumulate(x, g)",
    _accumulate,
    batch=batched.added_in_place,
    emit="x += g",
    consumes=True,
    linear="x g",
    x_grad="out_grad",
    g_grad="fit(out_grad, shape_of(g))",
)

# ------------------------------------------------------------------ shapes

constant("shape_of(x, item=False)", _shape_of, batch=batched.same, emit=_shape_text, cheap=True)
constant("shape_and(shape, *extents)", _shape_and, emit="(*shape, *extents)", cheap=True)
constant("extent(x, axis=0)", int_law, batch=batched.extent, emit=_extent_text, cheap=True)
constant('zeros_of(shape, dtype="f64")', _zeros_of, batch=batched.zeros_of, emit=_zeros_text)
rule(
    "spread(g, shape, axis=None, keepdims=False)",
    _spread,
    batch=batched.over_shape,
    emit=_spread_text,
    alias="view",
    linear="g",
    g_grad="fit(sum(out_grad, axis=axis, keepdims=keepdims), shape_of(g))",
)
# a cotangent that has its form already, or the number 0 in its stead
rule(
    'array_or_zeros(g, shape, dtype="f64")',
    _array_or_zeros,
    emit=_array_or_zeros_text,
    alias="depends",
    linear="g",
    g_grad="fit(out_grad, shape_of(g))",
)
rule("in_form(g, x)", second_law, emit=RUNTIME, alias="depends", g_grad="out_grad", x_grad=None)
# sums a cotangent to the shape before broadcasting; ``array``: a 0-d array stays one. The summed axes are known only at run time, so
# the derivative spreads over ``axis=()``; its own derivative sums only the axes that ``fit`` determines
rule(
    "unbroadcast(g, shape, array=False)",
    _unbroadcast,
    batch=batched.unbroadcast,
    emit=_unbroadcast_text,
    linear="g",
    alias="depends",
    g_grad="spread(out_grad, shape_of(g), axis=(), keepdims=True)",
)
rule('cast(x, dtype="f64")', _cast, batch=batched.same, emit=_cast_text, linear="x", x_grad="fit(out_grad, shape_of(x))")
# the same for a dtype known only by declaration; no operation if it already matches
rule('settled(x, dtype="f64")', _cast, emit="x.astype(dtype, copy=False)", alias="depends", linear="x", x_grad="fit(out_grad, shape_of(x))")
rule('number(x, kind="float")', _number, emit=lambda s, t: f"{s['kind']}(x)", linear="x", x_grad="fit(out_grad, shape_of(x))")

# ------------------------------------------------------------------ tapes

rule("tape()", _tape, emit="[]")
rule(
    "push(tape, *values)",
    _push,
    batch=batched.kept,
    emit="push",
    consumes=True,
    tape_grad="part(pop(out_grad), 0)",
    values_grad="part(pop(out_grad), position + 1)",
)
rule("pop(tape) -> rest, values", _pop, batch=batched.fetched, emit="pop", consumes=True, tape_grad="push(rest_grad, values_grad)")

# where the number of iterations is known in advance: ``put`` stores once in each slot that ``get`` reads, or adds to its content
constant("slots(count)", _slots, emit="[None] * count")
constant("slots_like(tape)", _slots, emit="[None] * len(tape)")
rule(
    "put(tape, i, first, *more, add=False)",
    _put,
    batch=batched.kept,
    emit=_put_text,
    consumes=True,
    tape_grad="out_grad",
    first_grad="part(get(out_grad, i), 0)",
    more_grad="part(get(out_grad, i), position + 1)",
)
rule("get(tape, i) -> values", _get, batch=batched.fetched, emit="tape[i]", tape_grad="put(out_grad, i, values_grad)")

# for loops with checkpoints: the iteration of the next snapshot
constant("next_snapshot(start, stop, free)", int_law, emit=RUNTIME)
constant("snapshots_within(memory, loops, size)", int_law, emit=RUNTIME)


__all__ = ["broadcast", "same_shape"]
