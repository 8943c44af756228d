"""Calls that only rearrange an array, as steps of a view path: a write through the view reaches the array itself."""

from __future__ import annotations

import ast
import itertools
import math
from typing import Any

from symgrad.frontend.flow.edges import check_count
from symgrad.frontend.objects.operands import row_operand
from symgrad.frontend.state.bindings import Binding, Num, Ref, Step
from symgrad.frontend.state.context import Lowering
from symgrad.ir.core import Const, Operand
from symgrad.ir.types import Array, Dim, Extent, Scalar, is_plural
from symgrad.ops.rows.arrays import number_kept

#: rows that return a NumPy number unchanged, each with its setting for axes
OF_NUMBERS = {"transpose": "axes", "squeeze": "axis", "reshape": ""}
#: rows that return views which NumPy marks read-only
READ_ONLY = frozenset({"broadcast_to", "diagonal"})
FULL = (Const(None), Const(None), Const(None))


def axes_of(value: Any, rank: int) -> list[int] | None:
    """The axes that a setting names, counted from 0; None if it is something else."""
    items = value if isinstance(value, tuple) else (value,)
    return [k % rank for k in items] if rank and all(isinstance(k, int) and -rank <= k < rank for k in items) else None


def step_of(name: str, type_: Array, settings: dict[str, Any]) -> Step | None:
    """A row that only rearranges axes, as a step of a view path."""
    assert type_.shape is not None
    rank = len(type_.shape)
    axis = settings.get("axis")
    match name:
        case "moveaxis":
            moved, places = (axes_of(settings.get(word), rank) for word in ("source", "destination"))
            if moved is not None and places is not None and len(set(moved)) == len(set(places)) == len(moved) == len(places):
                order = [k for k in range(rank) if k not in moved]
                for place, axis_ in sorted(zip(places, moved, strict=True)):
                    order.insert(place, axis_)
                return Step(f".transpose:{rank}", tuple(map(Const, order)))
        case "mT" if rank > 1:
            return Step(f".transpose:{rank}", tuple(map(Const, (*range(rank - 2), rank - 1, rank - 2))))
        case "flip":
            axes = list(range(rank)) if axis is None else axes_of(axis, rank)
            if axes is not None:
                parts = [(Const(None), Const(None), Const(-1)) if k in axes else FULL for k in range(rank)]
                return Step("s" * rank, tuple(o for p in parts for o in p))
        case "expand_dims":
            axes = axes_of(axis, rank + (len(axis) if isinstance(axis, tuple) else 1))
            if axes is not None:
                letters = ["n" if k in axes else "s" for k in range(rank + len(axes))]
                return Step("".join(letters), FULL * rank)
        case "squeeze":
            axes = [k for k, e in enumerate(type_.shape) if e == 1] if axis is None else axes_of(axis, rank)
            if axes is not None and all(isinstance(e, int) or e.plural for e in type_.shape) and all(type_.shape[k] == 1 for k in axes):
                letters = ["i" if k in axes else "s" for k in range(rank)]
                if "s" in letters:
                    return Step("".join(letters), tuple(o for c in letters for o in ((Const(0),) if c == "i" else FULL)))
        case "swapaxes":
            axes = axes_of((settings.get("axis1"), settings.get("axis2")), rank)
            if axes is not None:
                order = list(range(rank))
                order[axes[0]], order[axes[1]] = order[axes[1]], order[axes[0]]
                return Step(f".transpose:{rank}", tuple(map(Const, order)))
        case "real" | "imag" if type_.kind == "complex":
            return Step(f".{name}")
        case "transpose":
            axes = None if settings.get("axes") is None else axes_of(settings["axes"], rank)
            if axes is not None:
                return Step(f".transpose:{rank}", tuple(map(Const, axes)))
    return None


def split_views(ctx: Lowering, name: str, ref: Any, settings: dict[str, Any]) -> list[Binding]:
    """The parts of an array, as views of it, if their number is static."""
    type_ = ctx.type_of(ref) if isinstance(ref, Ref) else None
    axes = axes_of(settings["axis"], len(type_.shape)) if isinstance(type_, Array) and type_.shape else None
    if not axes or not isinstance(type_, Array) or not type_.shape:
        return []
    before = FULL * axes[0]
    cuts = cuts_of(ctx, name, ref, axes[0], type_.shape[axes[0]], settings["sections"])
    steps = [Step("s" * (axes[0] + 1), (*before, a, b, Const(None))) for a, b in itertools.pairwise(cuts)]
    return [Ref(ref.location, (*ref.path, step)) for step in steps]


def cuts_of(ctx: Lowering, name: str, ref: Ref, axis: int, extent: Extent, sections: Any) -> list[Operand]:
    """The bounds of the parts, the end included; empty where they are unknown."""
    if isinstance(sections, tuple | list) and all(isinstance(k, int) for k in sections):
        return [Const(0), *map(Const, sections), Const(extent if isinstance(extent, int) else None)]
    if not isinstance(sections, int) or sections < 1:
        return []
    if isinstance(extent, int):
        if name == "split" and extent % sections:
            return []
        size, more = divmod(extent, sections)
        return [Const(k * size + min(k, more)) for k in range(sections + 1)]
    if name != "split":
        return []
    whole, count = ctx.call("extent", ctx.read(ref), axis=axis), Const(sections)
    check_count(ctx, ctx.call("mod", whole, count), Const(0), "array split does not result in an equal division")
    part = ctx.call("floor_divide", whole, count)
    return [Const(None), *(part if k == 1 else ctx.call("multiply", Const(k), part) for k in range(1, sections)), Const(None)]


def view_step(ctx: Lowering, name: str, args: list[Any], settings: dict[str, Any]) -> Binding | None:
    """The view that a step of a path expresses: writes through it reach the array itself. For a NumPy number: the number."""
    if len(args) == 1 and isinstance(args[0], Num) and name in OF_NUMBERS and settings.get(OF_NUMBERS[name]) in (None, ()):
        return args[0] if isinstance(number_kept(ctx.type_of(args[0])), Scalar) else None
    if not args or not isinstance(args[0], Ref):
        return None
    type_ = ctx.type_of(args[0])
    if not isinstance(type_, Array) or type_.shape is None:
        return None
    if name == "real" and type_.kind in ("float", "int", "bool"):
        return args[0]
    step = step_of(name, type_, settings) if len(args) == 1 else None
    if step is not None:
        return Ref(args[0].location, (*args[0].path, step))
    root = getattr(ctx.state.memory[args[0].location].type, "layout", "?")  # copies and cotangents of it lie by rows
    if name in READ_ONLY:
        return read_only_view(ctx, name, args, settings)
    ctx.laid = ctx.laid or name in ("reshape", "ravel")
    if name == "transpose" and settings.get("axes") is None and len(args) == 1:
        return args[0] if len(type_.shape) < 2 else Ref(args[0].location, (*args[0].path, Step(".T")))
    by_rows = root in ("C", "CF") and (type_.layout in ("C", "CF") or is_piece_of_vector(ctx, args[0]))
    if name in ("reshape", "ravel") and by_rows and set(settings.get("order", "C") or "C") <= {"C"}:
        operands = tuple(row_operand(ctx, a, ast.Pass()) for a in args[1:])
        if not all(isinstance(o.type, Scalar) for o in operands):  # an array may hold several extents
            return None
        view = Ref(args[0].location, (*args[0].path, Step(f".{name}:{len(operands)}" if operands else f".{name}", operands)))
        if operands and not fits(type_, operands):
            ctx.look(view)
            if view.location not in ctx.state.stale:
                ctx.read(view)  # Python checks the shape now, even if the view is never read
        return view
    if name == "reshape" and (step := along_axes(ctx, type_, args[1:])) is not None:
        return Ref(args[0].location, (*args[0].path, step))
    in_line = name == "reshape" and [row_operand(ctx, a, ast.Pass()) for a in args[1:]] == [Const(-1)]
    if in_line and is_by_columns(type_) or name == "ravel" and settings.get("order", "C") in ("C", None) and is_surely_copied(type_):
        return ctx.make(ctx.call("flatten", ctx.read(args[0])))
    return None


def read_only_view(ctx: Lowering, name: str, args: list[Any], settings: dict[str, Any]) -> Ref | None:
    """A view that NumPy marks read-only: it shows the result of a row for the content of the array at the time of reading."""
    array, operands = args[0], [row_operand(ctx, a, ast.Pass()) for a in args[1:]]
    (shown,) = ctx.call_many(name, ctx.read(array), *operands, **settings)
    if not isinstance(shown.type, Array):
        return None
    step = Step(f"@{name}", (*operands, ctx.state.memory[array.location], shown), True, tuple(settings.items()))
    return Ref(array.location, (*array.path, step))


def along_axes(ctx: Lowering, type_: Array, shape: list[Any]) -> Step | None:
    """A reshape that only inserts or drops axes of extent 1, as a view step of any memory layout; for a vector, -1 is allowed."""
    asked = [ctx.builder.extent_of(row_operand(ctx, a, ast.Pass())) for a in shape]
    axes, long = type_.shape or (), [e for e in asked if e != 1]
    kept = [e for e in axes if e != 1]
    if not kept or len(kept) != len(long) or long != [-1] and not all(map(is_same, kept, long)):
        return None
    letters, rest = "", list(axes)
    for extent in asked:
        while extent != 1 and rest[0] == 1:
            letters, rest = letters + "i", rest[1:]
        letters, rest = (letters + "n", rest) if extent == 1 else (letters + "s", rest[1:])
    letters += "i" * len(rest)
    return Step(letters, tuple(o for c in letters if c != "n" for o in ((Const(0),) if c == "i" else FULL)))


def is_same(one: Extent, other: Extent) -> bool:
    """Whether two extents are certainly equal."""
    if isinstance(one, Dim) and isinstance(other, Dim):
        return (one.symbol, one.offset) == (other.symbol, other.offset) and one.symbol != "?"
    return one == other


def fits(type_: Array, operands: tuple[Operand, ...]) -> bool:
    """Whether the array certainly has as many elements as the requested shape."""
    asked = [o.value if isinstance(o, Const) else None for o in operands]
    if asked == [-1]:
        return True
    extents = [*(type_.shape or (None,)), *asked]
    if not all(isinstance(e, int) for e in extents) or asked.count(-1) > 1:
        return False
    size, rest = math.prod(type_.shape or ()), math.prod(e for e in asked if e != -1)  # type: ignore[arg-type, misc]
    return size == rest if -1 not in asked else rest != 0 and size % rest == 0


def is_piece_of_vector(ctx: Lowering, ref: Ref) -> bool:
    """Whether the view is a slice of a vector without gaps, so that its elements are contiguous if the vector's are."""
    steps = [step.operands[2] if step.spec == "s" else None for step in ref.path]
    slices = all(isinstance(step, Const) and step.value in (None, 1) for step in steps)
    return slices and getattr(ctx.state.memory[ref.location].type, "rank", None) == 1


def is_surely_copied(type_: Array) -> bool:
    """Whether ``ravel`` copies: it does if the array is not row-major or has gaps. ``reshape`` makes views of some arrays with gaps."""
    return type_.layout == "N" or is_by_columns(type_)


def is_by_columns(type_: Array) -> bool:
    """Whether the array is column-major with two extents other than 1, and therefore not row-major."""
    return type_.layout == "F" and len([e for e in type_.shape or () if is_plural(e)]) > 1
