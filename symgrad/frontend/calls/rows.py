"""A call of a function in the vocabulary to the op of its row."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.errors import UnsupportedArgument
from symgrad.frontend.calls.common_arguments import call_besides, is_own_dtype
from symgrad.frontend.flow.absent import definite
from symgrad.frontend.memory.views import axes_of, split_views, view_step
from symgrad.frontend.objects.operands import are_complex, row_operand, unwrap, with_items
from symgrad.frontend.state.bindings import MISSING, Binding, Num, Obj, Ref, Static, Tup, is_slice
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.pinning import pinned
from symgrad.frontend.state.program_state import held_items, is_long
from symgrad.frontend.values.exact import possible_classes
from symgrad.frontend.values.lists import may_be_of_unlike_lengths
from symgrad.ir.core import ZERO, Const
from symgrad.ir.types import DTYPES, Array, List, is_complex
from symgrad.ops import spelling
from symgrad.ops.composed import WIDER, joining, parameters_of, places, products
from symgrad.ops.declare import ROWS
from symgrad.ops.shapes import rank_of
from symgrad.ops.signatures import DTYPE_CALLS

#: rows whose other call forms also hold for complex numbers
ALIKE = frozenset("take_items choose indices convolution pad eigh cholesky pinv matrix_rank".split())
#: rows of arrays that flatten their operand if no axis is given
OF_ALL = frozenset({"sort", "argsort", "stable_argsort", "argpartition", "take_along_axis"})
#: rows whose results NumPy does not let one write to
READ_ONLY = frozenset({"broadcast_to", "diagonal", "imag", "may_share"})
#: rows along an axis that NumPy lets a number have, of extent 1: reductions, and those along one axis alone
EXTREMES, ONE_AXIS = frozenset({"max", "min", "nanmax", "nanmin"}), frozenset({"take_items", "repeat"})
#: rows with an operand that holds indices
OF_PLACES = frozenset({"take_items", "delete"})
#: integers that every signed integer dtype can hold
SMALL = range(-128, 128)
#: ``np.float64`` and other scalar types
CALLS_OF_DTYPES = frozenset(f"np.{dtype.__name__}" for dtype in DTYPE_CALLS)
#: rows that give numbers where NumPy's functions give arrays without axes
NUMBERED = frozenset({"tensordot", "reshape"})
#: rows whose results NumPy returns as a named tuple
RESULTS = {
    **dict.fromkeys(("eigh", "eigh_upper"), type(np.linalg.eigh(np.eye(1)))),
    "svd": type(np.linalg.svd(np.eye(1))),
    "qr": type(np.linalg.qr(np.eye(1))),
    "slogdet": type(np.linalg.slogdet(np.eye(1))),
    "eig": type(np.linalg.eig(np.eye(1))),
}


def call_row(
    ctx: Lowering, spelled: spelling.Spelling, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST, **more: Any
) -> Binding:
    """Bind a call to a row and append it; ``more`` are settings that have no spelling."""
    args, kwargs = [with_items(ctx, a, node) for a in args], {word: with_items(ctx, a, node) for word, a in kwargs.items()}
    if "dtype" in kwargs and is_own_dtype(ctx, spelled.row, args, kwargs.get("dtype")):
        del kwargs["dtype"]

    def items(value: Any) -> Any:
        held = held_items(value, ctx.state)
        return held if held is not None or is_long(value, ctx.state) else spelling.parts(value)

    def data(value: Any) -> Any:
        if isinstance(value, Obj) and (inner := items(value)) is not None:
            return [unwrap(i) for i in inner]
        return ctx.literals[value.operand] if isinstance(value, Num) and value.operand in ctx.literals else unwrap(value)

    try:
        bound = spelled.bind(args, kwargs, data, items)
    except spelling.NotSettings as error:
        refusal = pinned(ctx, UnsupportedArgument(str(error), ctx.loc(node), error.hint), [*args, *kwargs.values()])
        if refusal.pin is not None or spelled.row not in WIDER:
            raise refusal from None
        return as_result(spelled.row, ctx.apply(Static(WIDER[spelled.row]), args, kwargs, node))
    except spelling.BindError as error:
        if (wider := WIDER.get(spelled.row)) is not None and (spelled.row in ALIKE or not are_complex(ctx, [*args, *kwargs.values()])):
            check_words(ctx, wider, spelled.name, frozenset(kwargs), kwargs, node)
            return as_result(spelled.row, ctx.apply(Static(wider), args, kwargs, node))

        def call(rest: list[Binding], named: dict[str, Binding]) -> Binding:
            return call_row(ctx, spelled, rest, named, node, **more)

        if (out := call_besides(ctx, spelled, args, kwargs, call, node)) is not None:
            return out
        raise UnsupportedArgument(str(error), ctx.loc(node), error.hint) from None
    if bound.row == "delete" and is_slice(args[1] if len(args) > 1 else kwargs.get("obj")):
        return ctx.apply(Static(joining.delete_slice), args, kwargs, node)
    if bound.row == "choose" and isinstance(ctx.type_of(args[1] if len(args) > 1 else kwargs.get("choices", MISSING)), Array):
        return ctx.apply(Static(places.choose_of_array), bound.args, {}, node)
    if (form := form_by_shape(ctx, bound.row, bound.args)) is not None:
        return as_result(bound.row, ctx.apply(Static(form), bound.args, {}, node))
    if spelled.name in CALLS_OF_DTYPES and (out := itself(ctx, bound.args[0], bound.settings["dtype"], node)) is not None:
        return out
    if bound.row == "concatenate_array" and may_be_of_unlike_lengths(ctx, bound.args[0]):
        return ctx.make(ctx.call("concatenate_list", ctx.read(bound.args[0], node), axis=bound.settings["axis"]))
    out = apply_row(ctx, bound.row, bound.args, {**bound.settings, **more}, node)
    if bound.row in NUMBERED and isinstance(out, Num) and out is not bound.args[0]:  # the row returns a number, NumPy an array without axes
        return ctx.make(ctx.call("to_array", out.operand, dtype=None))
    if spelled.name in CALLS_OF_DTYPES and getattr(ctx.type_of(out), "shape", None) == ():
        return ctx.make(ctx.call("take", ctx.read(out, node), index=""))  # ``np.float64`` of an array without axes is a number
    return out


def as_result(row: str, out: Binding) -> Binding:
    """The named tuple that NumPy returns, as a composition returns it."""
    return Tup(out.items, RESULTS[row]) if isinstance(out, Tup) and row in RESULTS else out


def itself(ctx: Lowering, array: Any, dtype: str, node: ast.AST) -> Binding | None:
    """``np.float64(x)`` of an array with axes that may have this dtype already, which NumPy returns itself; None for all else."""
    type_ = ctx.type_of(array)
    if not isinstance(type_, Array) or type_.dtype not in (None, dtype) or type_.rank == 0:
        return None
    if type_.rank is None:  # a number, if it has no axes
        return ctx.shared(ctx.call("cast", ctx.read(array, node), dtype=dtype), array)
    return ctx.apply(Static(np.asarray, "np.asarray"), [array], {"dtype": Static(np.dtype(DTYPES[dtype]))}, node)


def check_words(
    ctx: Lowering, saying: Callable[..., Any], name: str, words: frozenset[str], kwargs: dict[str, Binding], node: ast.AST
) -> None:
    """Refuse a keyword that the library function accepts but its composition does not support."""
    taken = parameters_of(saying)
    word = next((word for word in kwargs if word in words and word not in taken), None)
    if word is not None and "kwargs" not in taken:
        raise UnsupportedArgument(f"the argument {word} of {name} is not supported", ctx.loc(node), "leave it out")


def without_places(ctx: Lowering, argument: Binding) -> Binding:
    """An argument that may hold indices: an empty list holds none, and is no array of floats."""
    says_none = isinstance(argument, Obj) and held_items(argument, ctx.state) == []
    return ctx.make(ctx.call("zeros", ZERO, dtype="i64")) if says_none else argument


def check_split(ctx: Lowering, name: str, whole: Binding, settings: dict[str, Any], node: ast.AST) -> None:
    """Treat lists as ``np.split`` and ``np.array_split`` do: a list has no shape, so the first raises and the second uses its length."""
    classes = possible_classes(ctx, whole, node)
    if not classes or not all(issubclass(cls, list | tuple) for cls in classes):
        return
    if name == "split" and isinstance(settings["sections"], int):
        definite(ctx, MISSING, node, AttributeError, f"{classes[0].__name__!r} object has no attribute 'shape'")
    shape: Any = getattr(row_operand(ctx, whole, node).type, "shape", None)
    axes = axes_of(settings["axis"], len(shape)) if shape else None
    if settings["axis"] != 0 and not (axes and isinstance(shape[0], int) and shape[axes[0]] == shape[0]):
        what = "np.array_split of a list takes the number of its items for the extent along every axis"
        raise UnsupportedArgument(what, ctx.loc(node), "make it an array before, with np.array")


def overlap(sections: Any) -> bool:
    """Whether the parts of a split at these indices may overlap: they do if an index is less than the one before it."""
    if not isinstance(sections, tuple | list) or not all(isinstance(k, int) for k in sections):
        return False
    return list(sections) != sorted(sections) or len(sections) > 1 and min(sections) < 0


def form_by_shape(ctx: Lowering, name: str, args: list[Any]) -> Callable[..., Any] | None:
    """The composition for a row's operands of these shapes, for which the row's own derivative does not hold."""
    if name == "solve" and len(args) == 2:
        matrices, vector = (getattr(ctx.type_of(a), "rank", None) if isinstance(a, Binding) else None for a in args)
        return products.solve_columns if vector == 1 and matrices is not None and matrices > 2 else None
    return None


def with_an_axis(ctx: Lowering, name: str, args: list[Any], settings: dict[str, Any], node: ast.AST) -> tuple[list[Any], dict[str, Any]]:
    """Operands and settings of a row along an axis, of a number: NumPy lets it have one axis here, of extent 1."""
    axis = settings.get("axis")
    if name in ONE_AXIS and isinstance(axis, tuple):
        raise UnsupportedArgument(f"the axis {axis!r} is not supported", ctx.loc(node), "name one axis")
    if axis not in (0, -1) or name not in EXTREMES | ONE_AXIS or rank_of(ctx.type_of(args[0])) != 0:
        return args, settings
    return args, {**settings, "axis": None}


def diag_by_rank(rank: int | None, settings: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The row that ``np.diag`` is for an operand of this rank: of a matrix it is a view, of a vector a new matrix."""
    if rank == 2:
        return "diagonal", {"offset": settings["k"], "axis1": 0, "axis2": 1}
    return "diag" if rank == 1 else "diag_of_any", settings


def apply_row(ctx: Lowering, name: str, args: list[Any], settings: dict[str, Any], node: ast.AST) -> Binding:
    """Append a row's op, and record which memory its result shares."""
    if name == "copy" and isinstance(args[0], Ref) and getattr(ctx.type_of(args[0]), "layout", "?") in ("F", "N"):
        name = "copy_rows"
    args, settings = with_an_axis(ctx, name, args, settings, node)
    if name in OF_ALL and settings["axis"] is None and isinstance(args[0], Ref | Num):
        array = ctx.make(ctx.call("to_array", args[0].operand, dtype=None)) if isinstance(args[0], Num) else args[0]
        flat = array if getattr(ctx.type_of(array), "rank", None) == 1 else ctx.make(ctx.call("flatten", ctx.read(array, node)))
        args, settings = [flat, *args[1:]], {**settings, "axis": -1}
    if name == "diag":
        name, settings = diag_by_rank(getattr(ctx.type_of(args[0]), "rank", None), settings)
    row = ROWS[name]
    if row.alias != "fresh" and (path := view_step(ctx, name, args, settings)) is not None:
        return path
    if name in ("split", "array_split"):
        check_split(ctx, name, args[0], settings, node)
    apart = name in ("split", "array_split") and (ctx.unroll or node is ctx.unpacked or overlap(settings["sections"]))
    if apart and (parts := split_views(ctx, name, args[0], settings)):
        return ctx.new_object("list", enumerate(parts))
    operands = [row_operand(ctx, a, node) for a in args]
    ctx.has_real_eig = ctx.has_real_eig or name == "eig" and not is_complex(operands[0].type)
    out = ctx.call_many(name, *operands, **settings)
    owners = [a for a in args if isinstance(a, Ref)] if row.alias in ("view", "depends", "same") else []
    if name == "cast" and settings["dtype"][0] == "i" and isinstance(operands[0], Const) and operands[0].value in SMALL:
        ctx.literals[out[0]] = operands[0].value
    results = [ctx.shared(value, *owners) for value in out]
    for result in results if name in READ_ONLY else ():
        if isinstance(result, Ref):
            result.location.read_only = True
    results = [ctx.list_in_memory(out) if isinstance(out, Ref) and isinstance(ctx.type_of(out), List) else out for out in results]
    return results[0] if len(results) == 1 and len(row.outs) == 1 else Tup(tuple(results), RESULTS.get(name))


def with_out_by_name(value: np.ufunc, args: list[Binding], kwargs: dict[str, Binding]) -> tuple[list[Binding], dict[str, Binding]]:
    """The arguments of a ufunc, with the array that it is written to by the name ``out``, alone."""
    if len(args) == value.nin + 1 and value.nout == 1:
        kwargs, args = {**kwargs, "out": args[-1]}, args[:-1]
    if isinstance(held := kwargs.get("out"), Tup) and len(held.items) == 1:
        kwargs = {**kwargs, "out": held.items[0]}
    return args, kwargs
