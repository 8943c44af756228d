"""table: the ops that the engine itself brings in: reading and writing arrays, shapes, tapes, lists, calls it cannot see into.

Their derivatives are rows like all others, so a gradient can be differentiated again.
"""

from __future__ import annotations

from typing import Any

from symgrad.ir.types import (
    BOOL,
    INT,
    UNDEFINED,
    UNKNOWN,
    Array,
    Dim,
    List,
    Object,
    Scalar,
    ShapeOf,
    Tape,
    Type,
    Unknown,
    is_complex,
    join,
    kind_of,
    same_shape,
)
from symgrad.ops.declare import constant, missing, rule
from symgrad.ops.indexing import Extents, after, broadcast, has_arrays, index_type
from symgrad.ops.shapes import as_array, kept_layout
from symgrad.text import attribute

# ------------------------------------------------------------------ laws


def _first(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return types[0]


def _second(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return types[1]


def _by_rows(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return Array(types[0].dtype, types[0].shape, "C") if isinstance(types[0], Array) else types[0]


def _array_by_rows(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return _by_rows(types, settings, dim) if not isinstance(types[0], Scalar) else as_array(types[0])


def _zeros_like(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    """Zeros in the form of an array; for a number a float or complex number of Python's."""
    return Scalar("complex" if is_complex(types[0]) else "float") if isinstance(types[0], Scalar) else _like(types, settings, dim)


def _array_or_zeros(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    """The array that is there, or zeros of a dtype."""
    shape = types[1].shape if isinstance(types[1], ShapeOf) else None
    own = settings["dtype"] if isinstance(types[0], Scalar) else getattr(types[0], "dtype", None)
    return Array(own if own == settings["dtype"] else None, shape)


def _like(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return Array(types[0].dtype, types[0].shape, kept_layout(types[0])) if isinstance(types[0], Array) else types[0]


def _owned(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return types[0]


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


def _int(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return INT


def _bool(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return BOOL


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


def _put_text(settings: dict[str, Any], types: list[Type]) -> str:
    return "tape[i] = first" if len(types) == 3 else "tape[i] = (first, *more)"


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


def _to_array(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    dtype = settings["dtype"]
    match types[0]:
        case Array(shape=shape, dtype=own):
            return Array(dtype or own, shape)
        case Scalar(kind=kind, dtype=own):
            return Array(dtype or (NATURAL[kind] if own is None else None if own == "any" else own), ())
    return Array(dtype, None)


NATURAL = {"float": "f64", "int": "i64", "bool": "bool", "complex": "c128"}


def _leaf(type_: Type) -> Type:
    while isinstance(type_, List):
        type_ = type_.item
    return type_


def _array_of(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    item = types[0].item if isinstance(types[0], List) else UNKNOWN
    dtype, known = settings["dtype"], settings["shape"]
    leaf = _leaf(item)
    if known is not None and isinstance(leaf, Scalar | Array):
        own = leaf.dtype if leaf.dtype not in (None, "any") or isinstance(leaf, Array) else NATURAL[leaf.kind]
        inner = leaf.shape if isinstance(leaf, Array) else ()
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
    narrow = {"f32": "np.float32", "f16": "np.float16", "c64": "np.complex64"}.get(str(getattr(_leaf(types[0]), "dtype", None)))
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


def _rounded(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    if isinstance(types[0], Scalar) and (len(types) == 1 or types[1] == Object("None")):
        return INT
    return types[0]


def _text(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return Object("str")


def _unknown(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return UNKNOWN


def _drawn(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    dtype = settings["dtype"]
    shape = tuple(dim(k) for k in range(1, len(types)))
    return Array(dtype, shape, "C") if shape else Scalar(kind_of(dtype), "any")


def _nothing(types: list[Type], settings: dict[str, Any], dim: Extents) -> tuple[Type, ...]:
    return ()


# ------------------------------------------------------------------ emitted text


def is_surely_array(type_: Type) -> bool:
    """Is it an array whatever path was taken?  What has no known rank may be a number."""
    return isinstance(type_, Array) and type_.shape is not None


def _copy_text(settings: dict[str, Any], types: list[Type]) -> str:
    if not is_surely_array(types[0]):
        return "copy(x)"
    return 'x.copy(order="F")' if getattr(types[0], "layout", "?") == "F" else "x.copy()"


def _path(settings: dict[str, Any], types: list[Type]) -> str:
    return "x[path]"  # codegen writes a path's operands in place


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
    return "x.astype(dtype)" if isinstance(types[0], Array) else "dtype(x)"


def _zeros_text(settings: dict[str, Any], types: list[Type]) -> str:
    return "np.zeros(shape)" if settings["dtype"] == "f64" else "np.zeros(shape, dtype)"


def _array_or_zeros_text(settings: dict[str, Any], types: list[Type]) -> str:
    return "array_or_zeros(g, shape)" if settings["dtype"] == "f64" else "array_or_zeros(g, shape, dtype)"


def _shape_text(settings: dict[str, Any], types: list[Type]) -> str:
    return "x.shape" if is_surely_array(types[0]) else "np.shape(x)"


def _extent_text(settings: dict[str, Any], types: list[Type]) -> str:
    return "x.shape[axis]" if is_surely_array(types[0]) else "np.shape(x)[axis]"


def _unbroadcast_text(settings: dict[str, Any], types: list[Type]) -> str:
    shape = types[1].shape if isinstance(types[1], ShapeOf) else None
    if shape == () and isinstance(types[0], Array) and not settings["array"]:
        return "np.sum(g)"
    return "unbroadcast(g, shape, True)" if settings["array"] else "unbroadcast(g, shape)"


def _list_slice_text(settings: dict[str, Any], types: list[Type]) -> str:
    return "l[slice(start, stop, step)]"


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


def _set_text(settings: dict[str, Any], types: list[Type]) -> str:
    return "x[path] = v"


# ------------------------------------------------------------------ reading and writing arrays

_PATH = 'index="e"'
rule(f"view(x, *index, {_PATH})", _view, emit="x[path]", alias="view", cheap=True, linear="x",
     x_grad="add_at(into, out_grad, *index, index=index)", index_grad=None)  # fmt: skip
rule(f"take(x, *index, {_PATH})", _take, emit=_take_text, cheap=True, linear="x",
     x_grad="add_at(into, out_grad, *index, index=index)", index_grad=None)  # fmt: skip
rule(f"take_written(x, *index, {_PATH})", _take, emit=_take_written_text, linear="x",
     x_grad="add_written(into, out_grad, *index, index=index)", index_grad=None)  # fmt: skip
rule(f"set_at(x, v, *index, {_PATH})", _owned, emit=_set_text, consumes=True, statement=True, linear="x v",
     x_grad="set_at(taken, 0.0, *index, index=index)",
     v_grad="fit(take_written(out_grad, *index, index=index), shape_of(v))", index_grad=None)  # fmt: skip
# ``distinct``: no cell is named twice
rule(f"add_at(x, v, *index, {_PATH}, distinct=False)", _owned, emit=_add_at_text, consumes=True, statement=True, linear="x v",
     x_grad="out_grad", v_grad="fit(take(out_grad, *index, index=index), shape_of(v))", index_grad=None)  # fmt: skip
rule(f"add_written(x, v, *index, {_PATH})", _owned, emit="add_written(x, path, v)", consumes=True, statement=True, linear="x v",
     x_grad="out_grad", v_grad="fit(take_written(out_grad, *index, index=index), shape_of(v))", index_grad=None)  # fmt: skip
rule("copy(x)", _like, emit=_copy_text, linear="x", x_grad="out_grad")
# what ``x.copy()`` of the user's does to an array that lies otherwise
rule("copy_rows(x)", _by_rows, emit="x.copy()", linear="x", x_grad="out_grad")
rule("by_rows(x)", _array_by_rows, emit='np.asarray(x, order="C")', alias="depends", linear="x", x_grad="out_grad")
rule("accumulate(x, g)", _accumulate, emit="x += g", consumes=True, statement=True, linear="x g",
     x_grad="out_grad", g_grad="fit(out_grad, shape_of(g))")  # fmt: skip

# ------------------------------------------------------------------ shapes

constant("shape_of(x)", _shape_of, emit=_shape_text, cheap=True)
constant("extent(x, axis=0)", _int, emit=_extent_text, cheap=True)
constant('zeros_of(shape, dtype="f64")', _zeros_of, emit=_zeros_text)
rule("spread(g, shape, axis=None, keepdims=False)", _spread, emit=_spread_text, alias="view", linear="g",
     g_grad="fit(sum(out_grad, axis=axis, keepdims=keepdims), shape_of(g))",
     shape_grad=None)  # fmt: skip
# a cotangent that has its form already, or the number 0 in its stead
rule('array_or_zeros(g, shape, dtype="f64")', _array_or_zeros, emit=_array_or_zeros_text, alias="depends", linear="g",
     g_grad="fit(out_grad, shape_of(g))", shape_grad=None)  # fmt: skip
rule("in_form(g, x)", _second, emit="in_form(g, x)", alias="depends", g_grad="out_grad", x_grad=None)
# sums a cotangent to the shape of what was broadcast; ``array``: a 0-d array stays one. Which axes are summed is known when it
# runs, so that the derivative spreads over ``axis=()``: in turn, nothing is summed but what ``fit`` finds
rule("unbroadcast(g, shape, array=False)", _unbroadcast, emit=_unbroadcast_text, linear="g", alias="depends",
     g_grad="spread(out_grad, shape_of(g), axis=(), keepdims=True)", shape_grad=None)  # fmt: skip
rule('cast(x, dtype="f64")', _cast, emit=_cast_text, linear="x", x_grad="fit(out_grad, shape_of(x))")
# the same where nothing is known of the dtype but what a declaration says; nothing is done where it is right
rule('settled(x, dtype="f64")', _cast, emit="x.astype(dtype, copy=False)", alias="depends", linear="x", x_grad="fit(out_grad, shape_of(x))")
rule('number(x, kind="float")', _number, emit=lambda s, t: f"{s['kind']}(x)", linear="x", x_grad="fit(out_grad, shape_of(x))")

# ------------------------------------------------------------------ tapes

rule("tape()", _tape, emit="[]")
rule("push(tape, *values)", _push, emit="push", consumes=True, statement=True,
     tape_grad="part(pop(out_grad), 0)", values_grad="part(pop(out_grad), position + 1)")  # fmt: skip
rule("pop(tape) -> rest, values", _pop, emit="pop", consumes=True, statement=True, tape_grad="push(rest_grad, values_grad)")

# where the number of rounds is known before: ``put`` stores once in each place that ``get`` reads
constant("slots(count)", _slots, emit="[None] * count")
constant("slots_like(tape)", _slots, emit="[None] * len(tape)")
rule("put(tape, i, first, *more)", _put, emit=_put_text, consumes=True, statement=True,
     tape_grad="out_grad", i_grad=None, first_grad="part(get(out_grad, i), 0)",
     more_grad="part(get(out_grad, i), position + 1)")  # fmt: skip
rule("get(tape, i) -> values", _get, emit="tape[i]", tape_grad="put(out_grad, i, values_grad)", i_grad=None)

# ------------------------------------------------------------------ lists

rule("list_of(*items)", _list_of, emit="[*items]", items_grad="list_take(out_grad, position)")
rule("list_append(l, v)", _list_append, emit="l.append(v)", consumes=True, statement=True,
     l_grad="list_drop(taken)", v_grad="list_take(out_grad, -1)")  # fmt: skip
rule("list_drop(l)", _first, emit="del l[-1]", consumes=True, statement=True,
     l_grad="list_append(taken, zeros_like(list_take(l, -1)))")  # fmt: skip
rule("list_take(l, i)", _list_take, emit="l[i]", cheap=True, alias="depends", l_grad="list_add_at(into, i, out_grad)", i_grad=None)
rule("list_set(l, i, v)", _list_set, emit="l[i] = v", consumes=True, statement=True,
     l_grad="list_set(taken, i, zeros_like(v, item=True) if are_alike(l, v) else zeros_like(list_take(l, i), item=True))", i_grad=None,
     v_grad="list_take(out_grad, i)")  # fmt: skip
rule("list_add_at(l, i, g)", _first, emit=_list_add_text, consumes=True, statement=True,
     l_grad="out_grad", i_grad=None, g_grad="list_take(out_grad, i)")  # fmt: skip
rule("list_add(a, b)", _list_join, emit="list_add(a, b)", a_grad="out_grad", b_grad="out_grad")
constant("list_zeros(l)", _first, emit=_list_zeros_text)
constant("zeros_like(x, item=False)", _zeros_like, emit=_zeros_like_text)
constant("list_len(l)", _int, emit="len(l)", cheap=True)
rule("array_of(l, dtype=None, shape=None, depth=1)", _array_of, l_grad="list_from(out_grad, depth=depth)",
     emit=_array_of_text)  # fmt: skip
# ``depth``: how many of the dimensions become lists; ``python``: all, and the numbers are Python's
rule("list_from(x, depth=1, python=False)", _list_from, emit=_list_from_text, x_grad="array_of(out_grad, depth=depth)")

# a list of Python's floats or complex numbers, from one that may hold NumPy's
rule("python_numbers(l, kind='float')", lambda types, settings, dim: List(Scalar(settings["kind"])), l_grad="out_grad",
     emit=lambda settings, types: "list(map(complex, l))" if settings["kind"] == "complex" else "list(map(float, l))")  # fmt: skip

rule("list_repeat(l, times)", _first, emit="l * times", l_grad="list_fold(out_grad, list_len(l))", times_grad=None)
rule("list_fold(l, count)", _first, emit="list_fold(l, count)", l_grad="list_unfold(out_grad, list_len(l))", count_grad=None)
rule("list_unfold(l, count)", _first, emit="list_unfold(l, count)", l_grad="list_fold(out_grad, list_len(l))", count_grad=None)
rule("list_join(a, b)", _list_join, emit="a + b", a_grad="list_slice(out_grad, None, list_len(a), None)",
     b_grad="list_slice(out_grad, list_len(a), None, None)")  # fmt: skip
rule("list_slice(l, start, stop, step)", _first, emit=_list_slice_text, l_grad="list_add_slice(into, start, stop, step, out_grad)",
     start_grad=None, stop_grad=None, step_grad=None)  # fmt: skip
rule("list_add_slice(l, start, stop, step, g)", _first, emit="list_add_slice(l, start, stop, step, g)", consumes=True, statement=True,
     l_grad="out_grad", start_grad=None, stop_grad=None, step_grad=None, g_grad="list_slice(out_grad, start, stop, step)")  # fmt: skip
constant("range_len(start, stop, step)", _int, emit="len(range(start, stop, step))", cheap=True)
rule("to_array(x, dtype=None)", _to_array, emit=lambda s, t: "np.array(x)" if s["dtype"] is None else "np.array(x, dtype)",
     x_grad="fit(out_grad, shape_of(x))")  # fmt: skip

# ------------------------------------------------------------------ what the engine cannot see into

SEEN = "nothing is known of its derivative"
missing("opaque(f, *args, names=())", _unknown, SEEN, emit="f(*args)", effect=True)
missing("opaque_pure(f, *args, names=())", _unknown, SEEN, emit="f(*args)")
# a store in an array of the caller's, which the program reads a copy of
constant(f"store_outside(x, v, *index, {_PATH})", _nothing, emit=_set_text, effect=True, statement=True)
missing("opaque_attribute(owner, attribute='')", _unknown, SEEN, emit=lambda settings, types: attribute("owner", settings["attribute"]))
# what a call is known to give: a generator of random numbers, or a number or array that it has drawn
missing("generator(x)", lambda types, settings, dim: Object("generator"), SEEN, emit="x")
rule("drawn(x, *shape, dtype='f64')", _drawn, emit="x", alias="same", cheap=True, x_grad="out_grad", shape_grad=None)
# what an unknown call may have changed: a new version whose derivative is not known
missing("touched(x, call)", _first, SEEN, emit="pass", consumes=True, effect=True, statement=True)

# ------------------------------------------------------------------ cuts, checks and texts

# a copy of what NumPy makes a view of ``x``
rule("may_share(x, y)", lambda types, settings, dim: types[1], emit="y", alias="depends", linear="y", x_grad=None, y_grad="out_grad")
constant("stop_gradient(x)", _first, emit="x", alias="same", cheap=True)
# a value that no derivative passes, and one whose total derivative is asked for: that of ``p``
constant("barrier(x)", _first, emit="x", alias="same", cheap=True)
# a value in a block inside, which gradients find by its key
rule("label(x, key='')", _first, emit="x", alias="same", cheap=True, x_grad="out_grad")
rule("probe(x, p)", _first, emit="x", alias="same", cheap=True, x_grad="out_grad", p_grad="out_grad")
# what the user's ``text`` computes of the operands ``reads``, which it calls by ``names``; then the text alone, in what is read
rule("as_written(x, *reads, text='', names=(), is_augmented=False)", _first, emit="x", x_grad="out_grad", reads_grad=None)
constant("written(*reads, text='', names=(), is_augmented=False, type=None)", lambda types, settings, dim: settings["type"] or UNKNOWN,
         emit=lambda s, t: s["text"], by_name=True)  # fmt: skip
constant("cut(x)", _first, emit="pass", consumes=True, statement=True)
constant("check(test, message)", _nothing, emit=lambda s, t: "assert test" if t[1] == Object("None") else "assert test, message",
         effect=True, statement=True)  # fmt: skip
# a number or an array of which nothing is known, beside what carries a derivative
constant("check_real(x)", _nothing, emit="check_real(x)", effect=True, statement=True)
# what a function returned, of which nothing is known: is it a number (``one``), or else a number, an array or a list?
constant("check_result(x, one=True)", _nothing, emit=lambda s, t: "check_result(x)" if s["one"] else "check_result(x, False)",
         effect=True, statement=True)  # fmt: skip
# as many items as names that they are unpacked to
constant("check_count(n, count, message)", _nothing, emit="if n != count:\n    raise ValueError(message)", effect=True, statement=True)
constant("raise_error(kind, *args)", _nothing, emit="raise kind(*args)", effect=True, statement=True)
# a value that nothing reads, computed since that may raise
constant("evaluated(x)", _nothing, emit="x", effect=True, statement=True)
# leave a compiled function: its caller runs the NumPy code instead
constant("bail_out(test)", _nothing, emit="if test:\n    raise ArithmeticError", effect=True, statement=True)
constant("rounded(x, *digits)", _rounded, emit="round(x, *digits)")
constant("format_text(template, *args)", _text, emit="template.format(*args)")
constant("format_percent(template, value)", _text, emit="template % value")

__all__ = ["broadcast", "same_shape"]
