"""table: ops on lists: reading and writing them, conversion to arrays."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from symgrad.ir.containers import leaf
from symgrad.ir.types import (
    INT,
    UNDEFINED,
    UNKNOWN,
    Array,
    Dim,
    List,
    Object,
    Scalar,
    Type,
    Unknown,
    is_complex,
    join,
    kind_of,
)
from symgrad.ops.declare import RUNTIME, by_default, constant, rule
from symgrad.ops.indexing import Extents
from symgrad.ops.rows.engine import _like, is_surely_array
from symgrad.ops.shapes import int_law, same_law

# ------------------------------------------------------------------ laws


def _zeros_like(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    """Zeros in the form of an array; for a number a float or complex number of Python's."""
    return Scalar("complex" if is_complex(types[0]) else "float") if isinstance(types[0], Scalar) else _like(types, settings, dim)


def _list_of(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    item: Type = UNDEFINED  # nothing is in it, or None until something is: any item fits
    for t in types:
        item = join(item, UNDEFINED if t == Object("None") else t)
    return List(item)


def _list_append(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    old = types[0]
    if not isinstance(old, List):
        return List(types[1])
    return List(join(old.item, types[1]))


def _list_set(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return List(join(types[0].item, types[2])) if isinstance(types[0], List) else types[0]


def _list_take(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    match types[0]:
        case List(item=item):
            return item
        case Array(dtype=str() as dtype, shape=shape) if shape:  # the cotangent of a nested list is an array
            return Array(dtype, shape[1:]) if len(shape) > 1 else Scalar(kind_of(dtype), dtype)
    return UNKNOWN


def _table_take(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    inner = _list_take(types[:2], settings, dim)
    return _list_take([inner, types[2]], settings, dim)


def _table_set(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    match types[0]:
        case List(item=List(item=item) as inner) as outer:
            return replace(outer, item=replace(inner, item=join(item, types[3])))
    return types[0]


def _to_array(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    dtype = settings["dtype"]
    match types[0]:
        case Array(shape=shape, dtype=own):
            return Array(dtype or own, shape)
        case Scalar(kind=kind, dtype=own):
            return Array(dtype or (NATURAL[kind] if own is None else None if own == "any" else own), ())
    return Array(dtype, None)


NATURAL = {"float": "f64", "int": "i64", "bool": "bool", "complex": "c128"}


def _array_of(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    item = types[0].item if isinstance(types[0], List) else UNKNOWN
    dtype, known = settings["dtype"], settings["shape"]
    part = leaf(item)
    if known is None and settings.get("depth", 1) > 1 and isinstance(part, Scalar):
        known = (Dim("?"),) * settings["depth"]
    if known is not None and isinstance(part, Scalar | Array):
        own = part.dtype if part.dtype not in (None, "any") or isinstance(part, Array) else NATURAL[part.kind]
        inner = part.shape if isinstance(part, Array) else ()
        return Array(dtype or own, None if inner is None else (*known, *inner), "C")
    match item:
        case Scalar(kind=kind, dtype=own):
            own = own if own not in (None, "any") else NATURAL[kind]
            return Array(dtype or own, (Dim("?"),), "C")
        case Array(dtype=own, shape=shape):
            return Array(dtype or own, None if shape is None else (Dim("?"), *shape), "C")
    return Array(dtype, None)


def _array_of_text(settings: dict[str, Any], types: list[Type]) -> str:
    """The sums of cotangents in a list may be numbers of Python's, which NumPy takes for wide ones."""
    if settings["dtype"] is not None:
        return "np.array(l, dtype)"
    narrow = {"f32": "np.float32", "f16": "np.float16", "c64": "np.complex64"}.get(str(getattr(leaf(types[0]), "dtype", None)))
    return f"np.array(l, {narrow})" if narrow else "np.array(l)"


def _list_from(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    depth = settings["depth"]
    item: Type = UNKNOWN
    match types[0]:
        case Array(dtype=str() as dtype, shape=shape) if shape is not None:
            item = Array(dtype, shape[depth:]) if len(shape) > depth else Scalar(kind_of(dtype), None if settings["python"] else dtype)
    for _ in range(depth):
        item = List(item)
    return item


def _list_from_text(settings: dict[str, Any], types: list[Type]) -> str:
    if settings["python"]:
        return "x.tolist()"
    return "list(x)" if settings["depth"] == 1 else "nested_list(x, depth)"


def _list_join(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return join(types[0], types[1])


# ------------------------------------------------------------------ emitted text


def _list_slice_text(settings: dict[str, Any], types: list[Type]) -> str:
    """Return the text of a slice, without parts that are None."""
    start, stop, step = ("" if type_ == Object("None") else word for word, type_ in zip(("start", "stop", "step"), types[1:], strict=True))
    return f"l[{start}:{stop}{f':{step}' if step else ''}]"


def _list_add_text(settings: dict[str, Any], types: list[Type]) -> str:
    nested = isinstance(types[2], List) or isinstance(types[0], List) and isinstance(types[0].item, List | Unknown)
    return "l[i] = list_add(l[i], g)" if nested else "l[i] = l[i] + g"


def _list_zeros_text(settings: dict[str, Any], types: list[Type]) -> str:
    item = types[0].item if isinstance(types[0], List) else UNKNOWN
    if isinstance(item, Scalar):
        return "[0j] * len(l)" if is_complex(types[0]) else "[0.0] * len(l)"
    if not is_surely_array(item):
        return "zeros_as(l)"
    if getattr(item, "layout", None) not in ("C", "?"):
        return "[np.zeros_like(item) for item in l]"
    if getattr(item, "dtype", None) != "f64":
        return "[np.zeros_like(item) for item in l]"
    return "[np.zeros(np.shape(item)) for item in l]"  # np.zeros_like takes some times as long; None has the shape of a number


def _zeros_like_text(settings: dict[str, Any], types: list[Type]) -> str:
    if isinstance(types[0], Scalar):
        return "0j" if is_complex(types[0]) else "0.0"
    return "np.zeros_like(x)" if is_surely_array(types[0]) and not settings["item"] else "zeros_as(x)"  # an item of a list may be None yet


# ------------------------------------------------------------------ lists

rule("list_of(*items)", _list_of, emit="[*items]", items_grad="list_take(out_grad, position)")
rule("list_append(l, v)", _list_append, emit="l.append(v)", consumes=True, l_grad="list_drop(taken)", v_grad="list_take(out_grad, -1)")
# not del l[-1]: numba frees a deleted item twice if it is a list or an array
rule("list_drop(l)", same_law, emit="l.pop()", consumes=True, l_grad="list_append(taken, zeros_like(list_take(l, -1)))")
rule("list_take(l, i)", _list_take, emit="l[i]", cheap=True, alias="depends", l_grad="list_add_at(into, i, out_grad)")
rule(
    "list_set(l, i, v)",
    _list_set,
    emit="l[i] = v",
    consumes=True,
    l_grad="list_set(taken, i, zeros_like(v, item=True) if are_alike(l, v) else zeros_like(list_take(l, i), item=True))",
    v_grad="list_take(out_grad, i)",
)
rule("list_add_at(l, i, g)", same_law, emit=_list_add_text, consumes=True, l_grad="out_grad", g_grad="list_take(out_grad, i)")

# an item of a list in a list, changed where it is: nothing else may hold the lists in the list
rule("table_take(l, i, j)", _table_take, emit="l[i][j]", cheap=True, l_grad="table_add_at(into, i, j, out_grad)")
rule(
    "table_set(l, i, j, v)",
    _table_set,
    emit="l[i][j] = v",
    consumes=True,
    within=True,
    l_grad="table_set(taken, i, j, zeros_like(v, item=True))",
    v_grad="table_take(out_grad, i, j)",
)
rule(
    "table_add_at(l, i, j, g)",
    same_law,
    emit="l[i][j] += g",
    consumes=True,
    within=True,
    l_grad="out_grad",
    g_grad="table_take(out_grad, i, j)",
)

rule("list_add(a, b)", _list_join, emit=RUNTIME, a_grad="out_grad", b_grad="out_grad")
constant("list_zeros(l)", same_law, emit=_list_zeros_text)
constant("zeros_like(x, item=False)", _zeros_like, emit=_zeros_like_text)
constant("list_len(l)", int_law, emit="len(l)", cheap=True)
constant("list_index(l, v)", int_law, emit="l.index(v)")
constant("is_float(x)", lambda types, settings, dim: Scalar("bool"), emit="isinstance(x, float)")
# the index of a number or text in each of several lists of equal lengths, at which all of them are found
constant("contains_row(*parts)", lambda types, settings, dim: Scalar("bool"), emit=RUNTIME)
constant("row_index(*parts)", int_law, emit=RUNTIME)
constant("order_of(backwards, first, *more)", lambda types, settings, dim: List(INT), emit=RUNTIME)
rule("array_of(l, dtype=None, shape=None, depth=1)", _array_of, l_grad="list_from(out_grad, depth=depth)", emit=_array_of_text)
# ``depth``: how many of the dimensions become lists; ``python``: all, and the numbers are Python's
rule("list_from(x, depth=1, python=False)", _list_from, emit=_list_from_text, x_grad="array_of(out_grad, depth=depth)")

# a list of Python's floats or complex numbers, from one that may hold NumPy's
rule(
    "python_numbers(l, kind='float')",
    lambda types, settings, dim: List(Scalar(settings["kind"])),
    l_grad="out_grad",
    emit=lambda settings, types: "list(map(complex, l))" if settings["kind"] == "complex" else "list(map(float, l))",
)

rule("list_repeat(l, times)", same_law, emit="l * times", l_grad="list_fold(out_grad, list_len(l))", times_grad=None)
rule("list_fold(l, count)", same_law, emit=RUNTIME, l_grad="list_unfold(out_grad, list_len(l))", count_grad=None)
rule("list_unfold(l, count)", same_law, emit=RUNTIME, l_grad="list_fold(out_grad, list_len(l))", count_grad=None)
rule(
    "list_join(a, b)",
    _list_join,
    emit="a + b",
    a_grad="list_slice(out_grad, None, list_len(a), None)",
    b_grad="list_slice(out_grad, list_len(a), None, None)",
)
rule(
    "list_slice(l, start, stop, step)",
    same_law,
    emit=_list_slice_text,
    l_grad="list_add_slice(into, start, stop, step, out_grad)",
    start_grad=None,
    stop_grad=None,
    step_grad=None,
)
rule(
    "list_add_slice(l, start, stop, step, g)",
    same_law,
    emit=RUNTIME,
    consumes=True,
    l_grad="out_grad",
    start_grad=None,
    stop_grad=None,
    step_grad=None,
    g_grad="list_slice(out_grad, start, stop, step)",
)
constant("range_len(start, stop, step)", int_law, emit="len(range(start, stop, step))", cheap=True)
rule("to_array(x, dtype=None)", _to_array, emit=by_default("np.array(x", dtype=None), x_grad="fit(out_grad, shape_of(x))")
