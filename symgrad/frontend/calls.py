"""Calls to ops: rows of the vocabulary, the user's own functions and classes, builtins, and what cannot be seen into."""

from __future__ import annotations

import ast
import dataclasses
import functools
import itertools
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.errors import SymgradError, UnknownFunction, UnknownType, UnsupportedArgument, UnsupportedSyntax
from symgrad.frontend.bindings import MISSING, Above, Binding, Bound, Broken, Choice, External, Fun, Num, Obj, Ref, Static, Step, Tup, View
from symgrad.frontend.context import Frame, Lowering, expression
from symgrad.frontend.expressions import choose, elements, gather, outside, owner_name
from symgrad.frontend.flow import NEXT, RETURN, assigned, proceed, run
from symgrad.frontend.source import Source, read
from symgrad.ir.core import Const, Operand, Value
from symgrad.ir.types import UNKNOWN, Array, List, Scalar, Unknown, is_plural
from symgrad.ops import spelling
from symgrad.ops.declare import ROWS

Special = Callable[[Lowering, list[Binding], dict[str, Binding], ast.AST], Binding]
#: callables that are neither rows nor the user's: builtins, and NumPy functions that take lists
SPECIAL: dict[Any, Special] = {}
LIBRARIES = {"numpy", "scipy", "math", "builtins", "symgrad"} | set(sys.stdlib_module_names)
#: functions of the libraries that change an argument
MUTATORS = {"shuffle", "copyto", "put", "place", "putmask", "put_along_axis", "fill_diagonal", "at", "sort", "partition", "fill", "resize"}


def special(*callables: Any) -> Callable[[Special], Special]:
    """Enter a function into the table of special calls."""

    def enter(function: Special) -> Special:
        SPECIAL.update(dict.fromkeys(callables, function))
        return function

    return enter


@expression(ast.Call)
def call_expression(ctx: Lowering, node: ast.Call) -> Binding:
    callee = ctx.evaluate(node.func)
    if isinstance(callee, Static) and callee.value is super and not node.args:
        return super_of(ctx, node)
    lazily = isinstance(callee, Static) and callee.value is sum and len(node.args) == 1 and not node.keywords
    if lazily and isinstance(node.args[0], ast.GeneratorExp):
        return sum_generator(ctx, node.args[0], node)
    args = elements(ctx, node.args)
    kwargs: dict[str, Binding] = {}
    for keyword in node.keywords:
        made = ctx.evaluate(keyword.value)
        if keyword.arg is not None:
            kwargs[keyword.arg] = made
            continue
        if isinstance(made, Obj) and made.key.kind == "dict":
            kwargs.update(dict(ctx.state.heap[made.key]))  # type: ignore[arg-type]
        elif isinstance(made, External) and isinstance(made.value, dict):
            kwargs.update({k: outside(ctx, v, f"{made.text}[{k!r}]", k) for k, v in made.value.items()})
        else:
            raise UnsupportedSyntax("only a dict of known keys can be spread with **", ctx.loc(keyword.value))
    return call(ctx, callee, args, kwargs, node)


def super_of(ctx: Lowering, node: ast.AST) -> Binding:
    """``super()``: the instance, seen from the class after the one that the method is written in."""
    frame: Frame | None = ctx.frame
    while frame is not None and frame.parent is not None:
        frame = frame.parent
    assert frame is not None
    cell = frame.source.cells.get("__class__")
    arguments = parameters(frame.source.node.args)
    if cell is None or not arguments:
        raise UnsupportedSyntax("super() is used outside a method", ctx.loc(node))
    return Above(ctx.state.names[frame, arguments[0]], cell.cell_contents)


def sum_generator(ctx: Lowering, generator: ast.GeneratorExp, node: ast.AST) -> Binding:
    """``sum(f(a) for a in x)`` adds up in a loop, without a list."""
    from symgrad.frontend.expressions import binary

    return gather(
        ctx, generator.generators, lambda: Num(Const(0)), lambda total: binary(ctx, ast.Add, total, ctx.evaluate(generator.elt), node), node
    )


def call(ctx: Lowering, callee: Binding, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """Call what a binding stands for."""
    from symgrad.frontend.declared import call_declared, is_declared
    from symgrad.frontend.nested import Derivative, call_derivative, make_derivative

    match callee:
        case Static(value) | External(value) if is_declared(ctx, value):
            return call_declared(ctx, value, args, kwargs, node)
        case Choice(test, one, two):
            return choose(ctx, test, node, lambda: call(ctx, one, args, kwargs, node), lambda: call(ctx, two, args, dict(kwargs), node))
        case Derivative():
            return call_derivative(ctx, callee, args, kwargs, node)
        case Static(value) if (what := getattr(value, "__symgrad_derives__", None)) is not None:
            return make_derivative(ctx, what, args, kwargs, node)
        case Static(value) if (given := getattr(value, "__symgrad_derivative__", None)) is not None:
            return call_derivative(ctx, derivative_of(given), args, kwargs, node)
        case Fun():
            return call_nested(ctx, callee, args, kwargs, node)
        case Bound(owner, _, function) if function is not None:
            return call_function(ctx, function, [owner, *args], kwargs, node)
        case Bound(owner, name):
            return call_method(ctx, owner, name, args, kwargs, node)
        case Static(value, name):
            return call_object(ctx, value, name or str(getattr(value, "__name__", "object")), args, kwargs, node)
        case External(value) if isinstance(getattr(type(value), "__call__", None), types.FunctionType):  # noqa: B004
            return call_function(ctx, type(value).__call__, [callee, *args], kwargs, node)
        case External(functools.partial() as held, text):
            fixed = [outside(ctx, v, f"{text}.args[{k}]", f"argument_{k}") for k, v in enumerate(held.args)]
            named = {k: outside(ctx, v, f"{text}.keywords[{k!r}]", k) for k, v in held.keywords.items()}
            return call(ctx, Static(held.func), [*fixed, *args], {**named, **kwargs}, node)
        case Obj(key) if key.kind == "record" and isinstance(getattr(key.cls, "__call__", None), types.FunctionType):  # noqa: B004
            return call_function(ctx, key.cls.__call__, [callee, *args], kwargs, node)
        case External(value, text) if callable(value):
            return opaque(ctx, value, owner_name(ctx, value), args, kwargs, node)
    raise UnsupportedSyntax("this cannot be called", ctx.loc(node))


def derivative_of(given: tuple[Any, str, Any, bool, frozenset[str]]) -> Any:
    """The binding of a derived function made outside; ``given``: of what, which, wrt, has_aux, no_grad."""
    from symgrad.frontend.nested import Derivative

    of, what, wrt, has_aux, no_grad = given
    inner = getattr(of, "__symgrad_derivative__", None)
    return Derivative(Static(of) if inner is None else derivative_of(inner), what, wrt, has_aux, no_grad)


def call_object(ctx: Lowering, value: Any, name: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """Call a Python object known while compiling."""
    from symgrad.ops.composed import COMPOSED

    if isinstance(out := kwargs.get("out"), Ref):
        del kwargs["out"]
        made = call_object(ctx, value, name, args, kwargs, node)
        ctx.store(out, ctx.read(made, node), None if out.path else Step("e"))
        return out
    if isinstance(value, functools.partial):
        fixed = [outside(ctx, v, f"{owner_name(ctx, value)}.args[{k}]", f"argument_{k}") for k, v in enumerate(value.args)]
        named = {k: outside(ctx, v, f"{owner_name(ctx, value)}.keywords[{k!r}]", k) for k, v in value.keywords.items()}
        return call(ctx, Static(value.func), [*fixed, *args], {**named, **kwargs}, node)
    try:
        found = SPECIAL.get(value)
        composed = COMPOSED.get(value)
    except TypeError:
        found = composed = None
    if found is not None:
        return found(ctx, args, kwargs, node)
    spelled = spelling.spelled(value)
    if spelled is not None:
        return call_row(ctx, spelled, args, kwargs, node)
    if composed is not None:
        return call_function(ctx, composed, args, kwargs, node)
    if isinstance(value, types.BuiltinMethodType) and isinstance(value.__self__, np.ufunc):
        return ufunc_method(ctx, value.__self__, value.__name__, args, kwargs, node)
    if isinstance(value, types.MethodType):
        owner = outside(ctx, value.__self__, f"{owner_name(ctx, value)}.__self__", "self_")
        return call_function(ctx, value.__func__, [owner, *args], kwargs, node)
    if isinstance(value, type):
        return construct(ctx, value, name, args, kwargs, node)
    root = (getattr(value, "__module__", None) or "").split(".")[0]
    if isinstance(value, types.FunctionType) and (root not in LIBRARIES or root == "symgrad" and "composed" in value.__module__):
        return call_function(ctx, value, args, kwargs, node)
    wrapped = getattr(value, "__wrapped__", None)
    if isinstance(wrapped, types.FunctionType) and root not in LIBRARIES:
        return call_function(ctx, wrapped, args, kwargs, node)
    return opaque(ctx, value, name, args, kwargs, node)


# ------------------------------------------------------------------ rows


class NotLiteral(UnsupportedSyntax, ValueError):
    """What has to be known while compiling is not; for whoever can do without it, a ``ValueError``."""


def unwrap(value: Any) -> Any:
    """The Python data of a binding known while compiling, for settings of rows."""
    match value:
        case Num(Const(data)) | Static(data):
            return data
        case Tup(items):
            return tuple(unwrap(i) for i in items)
    try:
        return spelling.plain(value)
    except ValueError:
        raise NotLiteral("this must be a literal") from None


def call_row(ctx: Lowering, spelled: spelling.Spelling, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST,
             **more: Any) -> Binding:  # fmt: skip
    """Bind a call to a row and append it; ``more`` are settings that have no spelling."""

    def items(value: Any) -> Any:
        if isinstance(value, Tup):
            return value.items
        if isinstance(value, Obj) and value.key.kind == "list":
            content = ctx.state.heap[value.key]
            return None if isinstance(content, Ref) else [b for _, b in content]
        return spelling.parts(value)

    def data(value: Any) -> Any:
        if isinstance(value, Obj) and (inner := items(value)) is not None:
            return [unwrap(i) for i in inner]
        return unwrap(value)

    try:
        bound = spelled.bind(args, kwargs, data, items)
    except spelling.NotSettings as error:
        refusal = UnsupportedArgument(str(error), ctx.loc(node))
        refusal.pin = next((text for a in (*args, *kwargs.values()) if (text := pinnable(ctx, a)) is not None), None)
        refusal.objects = dict(ctx.external_names)
        raise refusal from None
    except spelling.BindError as error:
        raise UnsupportedArgument(str(error), ctx.loc(node)) from None
    return apply_row(ctx, bound.row, bound.args, {**bound.settings, **more}, node)


def pinnable(ctx: Lowering, binding: Any) -> str | None:
    """The expression that reads an integer of the call or from outside, whose value could be made part of the signature."""
    match binding:
        case Num(Value() as value) if isinstance(value.type, Scalar) and value.type.kind in ("int", "bool"):
            return ctx.texts.get(value)
        case Tup(items):
            return next((text for i in items if (text := pinnable(ctx, i)) is not None), None)
    return None


def apply_row(ctx: Lowering, name: str, args: list[Any], settings: dict[str, Any], node: ast.AST) -> Binding:
    """Append a row's op; say what the result shares memory with."""
    if name == "copy" and isinstance(args[0], Ref) and getattr(ctx.type_of(args[0]), "layout", "?") in ("F", "N"):
        name = "copy_rows"
    row = ROWS[name]
    path = view_step(ctx, name, args, settings)
    if path is not None:
        return path
    if name in ("split", "array_split") and ctx.unroll and (parts := split_views(ctx, name, args[0], settings)):
        return ctx.new_object("list", enumerate(parts))
    operands = [row_operand(ctx, a, node) for a in args]
    made = ctx.builder.call_many(name, *operands, **settings)
    owners = [a for a in args if isinstance(a, Ref)] if row.alias in ("view", "depends", "same") else []
    results = [ctx.shared(value, *owners) for value in made]
    return results[0] if len(results) == 1 and len(row.outs) == 1 else Tup(tuple(results))


def row_operand(ctx: Lowering, value: Any, node: ast.AST) -> Operand:
    if isinstance(value, Const):
        return value
    operand = ctx.read(value, node)
    if isinstance(operand.type, List):
        return ctx.array_of(operand, None, display_shape(ctx, value))
    return operand


FULL = (Const(None), Const(None), Const(None))


def axes_of(value: Any, rank: int) -> list[int] | None:
    """The axes a setting names, counted from 0; None if it is something else."""
    items = value if isinstance(value, tuple) else (value,)
    return [k % rank for k in items] if rank and all(isinstance(k, int) and -rank <= k < rank for k in items) else None


def step_of(name: str, type_: Array, settings: dict[str, Any]) -> Step | None:
    """A row that only rearranges axes, as a step of a view path."""
    assert type_.shape is not None
    rank = len(type_.shape)
    axis = settings.get("axis")
    match name:
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
        case "transpose":
            axes = None if settings.get("axes") is None else axes_of(settings["axes"], rank)
            if axes is not None:
                return Step(f".transpose:{rank}", tuple(map(Const, axes)))
    return None


def split_views(ctx: Lowering, name: str, ref: Any, settings: dict[str, Any]) -> list[Binding]:
    """The parts of an array of known size, as views of it."""
    type_ = ctx.type_of(ref) if isinstance(ref, Ref) else None
    sections = settings["sections"]
    axes = axes_of(settings["axis"], len(type_.shape)) if isinstance(type_, Array) and type_.shape else None
    if not axes or not isinstance(type_, Array) or not isinstance(extent := (type_.shape or ())[axes[0]], int):
        return []
    if isinstance(sections, int):
        if sections < 1 or name == "split" and extent % sections:
            return []
        size, more = divmod(extent, sections)
        cuts = [k * size + min(k, more) for k in range(sections + 1)]
    elif isinstance(sections, tuple | list) and all(isinstance(k, int) for k in sections):
        cuts = [0, *sections, extent]
    else:
        return []
    before = FULL * axes[0]
    steps = [Step("s" * (axes[0] + 1), (*before, Const(a), Const(b), Const(None))) for a, b in itertools.pairwise(cuts)]
    return [Ref(ref.location, (*ref.path, step)) for step in steps]


def diagonal_view(ref: Ref, type_: Array, settings: dict[str, Any]) -> Ref | None:
    """The main diagonal of a matrix of known size that lies in order: every so many of its elements."""
    shape = type_.shape or ()
    plain = len(shape) == 2 and not settings["offset"] and (settings["axis1"], settings["axis2"]) == (0, 1)
    if not plain or type_.layout not in ("C", "CF") or not all(isinstance(e, int) for e in shape):
        return None
    rows, columns = shape
    bounds = (Const(0), Const(min(rows, columns) * (columns + 1)), Const(columns + 1))  # type: ignore[type-var,operator]
    return Ref(ref.location, (*ref.path, Step(".ravel"), Step("s", bounds)))


def view_step(ctx: Lowering, name: str, args: list[Any], settings: dict[str, Any]) -> Binding | None:
    """Views that a path can say: writing through them reaches the array itself."""
    if not args or not isinstance(args[0], Ref):
        return None
    type_ = ctx.type_of(args[0])
    if not isinstance(type_, Array) or type_.shape is None:
        return None
    step = step_of(name, type_, settings) if len(args) == 1 else None
    if step is not None:
        return Ref(args[0].location, (*args[0].path, step))
    if name == "diagonal" and len(args) == 1 and ctx.unroll:
        return diagonal_view(args[0], type_, settings)
    if name == "transpose" and settings.get("axes") is None and len(args) == 1:
        return args[0] if len(type_.shape) < 2 else Ref(args[0].location, (*args[0].path, Step(".T")))
    root = getattr(ctx.state.memory[args[0].location].type, "layout", "?")  # copies and cotangents of it lie by rows
    by_rows = root in ("C", "CF") and type_.layout in ("C", "CF")
    if name in ("reshape", "ravel") and by_rows and set(settings.get("order", "C") or "C") <= {"C"}:
        operands = tuple(row_operand(ctx, a, ast.Pass()) for a in args[1:])
        return Ref(args[0].location, (*args[0].path, Step(f".{name}:{len(operands)}" if operands else f".{name}", operands)))
    if name == "ravel" and settings.get("order", "C") in ("C", None) and is_surely_copied(type_):
        return ctx.make(ctx.call("flatten", ctx.read(args[0])))
    return None


def is_surely_copied(type_: Array) -> bool:
    """Does ``ravel`` copy?  It does what does not lie by rows: an array by columns with two extents that are not 1, one with gaps."""
    plural = [e for e in type_.shape or () if is_plural(e)]
    return type_.layout == "N" or type_.layout == "F" and len(plural) > 1


def ufunc_method(ctx: Lowering, ufunc: np.ufunc, name: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """``np.add.at``, ``np.add.reduce`` and their like."""
    from symgrad.ops import composed

    reduce = {"add": np.sum, "multiply": np.prod, "maximum": np.max, "minimum": np.min, "logical_and": np.all, "logical_or": np.any}
    accumulate = {"add": np.cumsum, "multiply": np.cumprod}
    if name == "reduce" and ufunc.__name__ in reduce:
        if len(args) == 1 and "axis" not in kwargs:
            kwargs = {**kwargs, "axis": Num(Const(0))}
        return call_object(ctx, reduce[ufunc.__name__], name, args, kwargs, node)
    if name == "accumulate" and ufunc.__name__ in accumulate:
        if len(args) == 1 and "axis" not in kwargs:
            kwargs = {**kwargs, "axis": Num(Const(0))}
        return call_object(ctx, accumulate[ufunc.__name__], name, args, kwargs, node)
    if name == "at" and ufunc.__name__ in ("add", "subtract") and isinstance(args[0], Ref) and len(args) == 3:
        return add_at(ctx, args[0], args[1], args[2], ufunc.__name__ == "subtract", node)
    running = {"maximum": "running_max", "minimum": "running_min"}
    if name == "accumulate" and ufunc.__name__ in running and len(args) + len(kwargs) <= 2 and set(kwargs) <= {"axis"}:
        axis = unwrap(args[1] if len(args) > 1 else kwargs.get("axis", Num(Const(0))))
        return apply_row(ctx, running[ufunc.__name__], args[:1], {"axis": axis}, node)
    if name == "reduceat" and ufunc.__name__ == "add" and 2 <= len(args) <= 3 and set(kwargs) <= {"axis"}:
        axis = unwrap(args[2] if len(args) > 2 else kwargs.get("axis", Num(Const(0))))
        return apply_row(ctx, "sum_from", args[:2], {"axis": axis}, node)
    if name == "reduce" and ufunc.__name__ == "logaddexp":
        return call_function(ctx, composed.logaddexp_reduce, args, kwargs, node)
    if name == "outer" and len(args) == 2 and not kwargs:
        return call_function(ctx, composed.outer_of, [Static(ufunc, f"np.{ufunc.__name__}"), *args], {}, node)
    return opaque(ctx, getattr(ufunc, name), f"np.{ufunc.__name__}.{name}", args, kwargs, node)


def add_at(ctx: Lowering, target: Ref, index: Binding, value: Binding, negative: bool, node: ast.AST) -> Binding:
    """``np.add.at``: repeated cells add up."""
    from symgrad.frontend.context import spelled as spelled_path
    from symgrad.frontend.memory import index_item

    letters, operands = "", []
    for item in index.items if isinstance(index, Tup) else [index]:
        letter, values = index_item(ctx, item, node)
        letters += letter
        operands += values
    path = (*target.path, Step(letters, tuple(operands)))
    amount = ctx.read(value, node)
    if negative:
        amount = ctx.call("negative", amount)
    ctx.check_fresh(target)
    base = ctx.state.memory[target.location]
    made = ctx.call("add_at", base, amount, *[o for s in path for o in s.operands], index=spelled_path(path), hint=target.location.name)
    ctx.replace_version(target.location, made)
    return Static(None)


# ------------------------------------------------------------------ methods


def call_method(ctx: Lowering, owner: Binding, name: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """Call a method of an array, number, list, dict, tuple, string or instance."""
    match owner:
        case Static(value):
            return call_object(ctx, getattr(value, name), name, args, kwargs, node)
        case Obj(key) if key.kind == "record":
            found = getattr(key.cls, name, None)
            if isinstance(found, types.FunctionType):
                return call_function(ctx, found, [owner, *args], kwargs, node)
        case External(value, text):
            found = getattr(type(value), name, None)
            if isinstance(found, types.FunctionType):
                return call_function(ctx, found, [owner, *args], kwargs, node)
            if name in ("items", "keys", "values", "get") and isinstance(value, dict):
                return external_dict_method(ctx, value, text, name, args, node)
            if isinstance(value, list | dict | set | bytearray) and name not in ("index", "count", "copy"):
                raise UnsupportedSyntax(
                    f"{name!r} of a {type(value).__name__} from outside the function may change it",
                    ctx.loc(node),
                    "make a copy in the function",
                )
            return opaque_method(ctx, owner, name, args, kwargs, node)
        case Obj(key):
            found_method = METHODS.get((key.kind, name))
            if key.kind == "dict" and name == "update" and kwargs:
                args, kwargs = [*args, ctx.new_object("dict", kwargs.items())], {}
            if found_method is not None and not kwargs:
                return found_method(ctx, owner, args, node)
        case Tup(items, kind):
            if name == "_replace" and kind is not None:
                return Tup(tuple(kwargs.get(f, b) for f, b in zip(kind._fields, items, strict=True)), kind)
            if kind is not None and isinstance(getattr(kind, name, None), types.FunctionType):
                return call_function(ctx, getattr(kind, name), [owner, *args], kwargs, node)
        case Ref() if isinstance(ctx.type_of(owner), List):
            found_method = METHODS.get(("list", name))
            if found_method is not None:
                key_ = ctx.new_object("list", owner)
                return found_method(ctx, key_, args, node)
        case Ref() | Num():
            return array_method(ctx, owner, name, args, kwargs, node)
    raise UnsupportedSyntax(f"method {name!r} cannot be differentiated here", ctx.loc(node))


def array_method(ctx: Lowering, owner: Ref | Num, name: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    if isinstance(owner, Ref):
        match name:
            case "fill" if len(args) == 1:
                ctx.store(owner, ctx.read(args[0], node), None if owner.path else Step("e"))
                return Static(None)
            case "sort" if not args and not kwargs:
                made = call_object(ctx, np.sort, "np.sort", [owner], {}, node)
                ctx.store(owner, ctx.read(made, node), None if owner.path else Step("e"))
                return Static(None)
            case "tolist" if not args:
                made_list = ctx.make(ctx.call("list_from", ctx.read(owner, node)))
                return ctx.new_object("list", made_list) if isinstance(made_list, Ref) else made_list
    if name == "item" and isinstance(ctx.type_of(owner), Scalar) and not args:
        return owner
    if isinstance(owner, Num) and isinstance(ctx.type_of(owner), Unknown) and name in MUTATORS:
        return opaque_method(ctx, owner, name, args, kwargs, node)
    spelled = spelling.method(name)
    if spelled is None:
        if isinstance(ctx.type_of(owner), Unknown):
            return opaque_method(ctx, owner, name, args, kwargs, node)
        raise UnknownFunction(f"method {name!r} of arrays has no rule", ctx.loc(node), name=name, known=[*spelling.OF_ARRAYS])
    if kwargs.get("out") is not None and isinstance(out := kwargs["out"], Ref):
        kwargs = {k: v for k, v in kwargs.items() if k != "out"}
        made = call_row(ctx, spelled, [owner, *args], kwargs, node)
        ctx.store(out, ctx.read(made, node), None if out.path else Step("e"))
        return out
    return call_row(ctx, spelled, [owner, *args], kwargs, node)


def external_dict_method(ctx: Lowering, value: dict[Any, Any], text: str, name: str, args: list[Binding], node: ast.AST) -> Binding:
    pairs: list[tuple[Binding, Binding]] = [(Static(k), outside(ctx, v, f"{text}[{k!r}]", str(k))) for k, v in value.items()]
    return dict_view(name, pairs, args, node, ctx)


def dict_view(name: str, pairs: list[tuple[Binding, Binding]], args: list[Binding], node: ast.AST, ctx: Lowering) -> Binding:
    match name:
        case "items":
            return Tup(tuple(Tup(p) for p in pairs))
        case "keys":
            return Tup(tuple(k for k, _ in pairs))
        case "values":
            return Tup(tuple(v for _, v in pairs))
    key = unwrap(args[0])
    for k, v in pairs:
        if unwrap(k) == key:
            return v
    return args[1] if len(args) > 1 else Static(None)


def static_binding(value: Any) -> Binding:
    return Num(Const(value)) if isinstance(value, bool | int | float) else Static(value)


def dict_method(name: str) -> Callable[..., Binding]:
    def run_(ctx: Lowering, owner: Obj, args: list[Binding], node: ast.AST) -> Binding:
        content = ctx.state.heap[owner.key]
        assert not isinstance(content, Ref)
        made = dict_view(name, [(static_binding(k), b) for k, b in content], args, node, ctx)
        return View(made.items, None, owner.key, name == "items") if name in ("items", "values") and isinstance(made, Tup) else made

    return run_


def dict_setdefault(ctx: Lowering, owner: Obj, args: list[Binding], node: ast.AST) -> Binding:
    ctx.check_keys(owner.key, node)
    content, key = dict(ctx.state.heap[owner.key]), unwrap(args[0])  # type: ignore[arg-type]
    made = content.setdefault(key, args[1] if len(args) > 1 else Static(None))
    ctx.state.heap[owner.key] = tuple(content.items())
    return made


def dict_pop(ctx: Lowering, owner: Obj, args: list[Binding], node: ast.AST) -> Binding:
    ctx.check_keys(owner.key, node)
    content, key = dict(ctx.state.heap[owner.key]), unwrap(args[0])  # type: ignore[arg-type]
    if key not in content and len(args) < 2:
        raise UnsupportedSyntax(f"key {key!r} is not in this dict", ctx.loc(node))
    made = content.pop(key, args[-1])
    ctx.state.heap[owner.key] = tuple(content.items())
    return made


def dict_update(ctx: Lowering, owner: Obj, args: list[Binding], node: ast.AST) -> Binding:
    for other in args:
        if not (isinstance(other, Obj) and other.key.kind == "dict"):
            raise UnsupportedSyntax("a dict can only be updated with a dict made in the function", ctx.loc(node))
        ctx.state.heap[owner.key] = tuple({**dict(ctx.state.heap[owner.key]), **dict(ctx.state.heap[other.key])}.items())  # type: ignore[arg-type]
    return Static(None)


def list_append(ctx: Lowering, owner: Obj, args: list[Binding], node: ast.AST) -> Binding:
    from symgrad.frontend.iterate import append

    append(ctx, owner, args[0], node)
    return Static(None)


def list_extend(ctx: Lowering, owner: Obj, args: list[Binding], node: ast.AST) -> Binding:
    from symgrad.frontend.iterate import append, items_of

    items = items_of(ctx, args[0], node)
    if isinstance(items, list):
        for item in items:
            append(ctx, owner, item, node)
        return Static(None)
    content = ctx.state.heap[owner.key]
    ctx.check_still(owner.key)
    joined = ctx.state.heap[ctx.list_sharing(ctx.call("list_join", ctx.read(owner), list_value(ctx, args[0], node)), owner, args[0]).key]
    assert isinstance(joined, Ref)
    if isinstance(content, Ref):
        ctx.replace_version(content.location, ctx.state.memory[joined.location])
        ctx.state.pair(content.location, joined.location)
    else:
        ctx.state.heap[owner.key] = joined
    return Static(None)


def list_value(ctx: Lowering, binding: Binding, node: ast.AST) -> Operand:
    value = ctx.read(binding, node)
    return ctx.call("list_from", value) if isinstance(value.type, Array) else value


def list_pop(ctx: Lowering, owner: Obj, args: list[Binding], node: ast.AST) -> Binding:
    content = ctx.state.heap[owner.key]
    ctx.check_still(owner.key)
    place = unwrap(args[0]) if args else -1
    if isinstance(content, Ref):
        if place != -1:
            raise UnsupportedSyntax("only the last item of a list of unknown length can be popped", ctx.loc(node))
        item = ctx.make(ctx.call("list_take", ctx.read(content), Const(-1)))
        ctx.replace_version(content.location, ctx.call("list_drop", ctx.read(content)))
        return item
    items = [b for _, b in content]
    made = items.pop(place)
    ctx.state.heap[owner.key] = tuple(enumerate(items))
    return made


def list_insert(ctx: Lowering, owner: Obj, args: list[Binding], node: ast.AST) -> Binding:
    content = ctx.state.heap[owner.key]
    if isinstance(content, Ref):
        raise UnsupportedSyntax("nothing can be inserted into a list of unknown length", ctx.loc(node))
    items = [b for _, b in content]
    items.insert(unwrap(args[0]), args[1])
    ctx.state.heap[owner.key] = tuple(enumerate(items))
    return Static(None)


def list_reverse(ctx: Lowering, owner: Obj, args: list[Binding], node: ast.AST) -> Binding:
    content = ctx.state.heap[owner.key]
    if isinstance(content, Ref):
        raise UnsupportedSyntax("a list of unknown length cannot be reversed in place", ctx.loc(node), "loop over reversed(...)")
    ctx.state.heap[owner.key] = tuple(enumerate([b for _, b in content][::-1]))
    return Static(None)


def list_copy(ctx: Lowering, owner: Obj, args: list[Binding], node: ast.AST) -> Binding:
    content = ctx.state.heap[owner.key]
    if isinstance(content, Ref):
        return ctx.list_sharing(ctx.call("list_slice", ctx.read(content), Const(None), Const(None), Const(None)), owner)
    return ctx.new_object(owner.key.kind, content)


METHODS: dict[tuple[str, str], Callable[..., Binding]] = {
    ("list", "append"): list_append,
    ("list", "extend"): list_extend,
    ("list", "pop"): list_pop,
    ("list", "insert"): list_insert,
    ("list", "reverse"): list_reverse,
    ("list", "copy"): list_copy,
    ("dict", "copy"): list_copy,
    ("dict", "update"): dict_update,
    ("dict", "setdefault"): dict_setdefault,
    ("dict", "pop"): dict_pop,
    **{("dict", name): dict_method(name) for name in ("items", "keys", "values", "get")},
}


# ------------------------------------------------------------------ the user's own functions


def parameters(arguments: ast.arguments) -> list[str]:
    """Every name that a signature binds."""
    plain = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return plain + [a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None]


def local_names(node: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    """Names that live in an activation of a function."""
    found = set(parameters(node.args))
    if isinstance(node, ast.FunctionDef):
        found |= assigned(node.body)
        todo: list[ast.AST] = list(node.body)
        while todo:  # what a nested function declares is its own affair
            inner = todo.pop()
            if isinstance(inner, ast.Global | ast.Nonlocal):
                found -= set(inner.names)
            elif not isinstance(inner, ast.FunctionDef | ast.Lambda | ast.ClassDef):
                todo += ast.iter_child_nodes(inner)
    else:
        found |= {n.target.id for n in ast.walk(node.body) if isinstance(n, ast.NamedExpr)}
    return frozenset(found)


def call_function(ctx: Lowering, function: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """Inline a function of the user's."""
    from symgrad.frontend.declared import call_declared, is_declared

    if is_declared(ctx, function):
        return call_declared(ctx, function, args, kwargs, node)
    held = ctx.forms.setdefault("sources", {})
    source = held.get(function.__code__) if isinstance(function, types.FunctionType) else None
    if source is None or source.function is not function:
        source = held[function.__code__] = read(function)
    if calls_itself(source) or any(code is source.function.__code__ for code, _ in ctx.stack):
        from symgrad.frontend.recursion import call_recursive

        return call_recursive(ctx, source, args, kwargs, node)
    frame = Frame(source, None, local_names(source.node))
    return activate(ctx, frame, source.node, args, kwargs, default_bindings(ctx, source), node, source.function.__code__)


def calls_itself(source: Source) -> bool:
    """Does the text of a function call the function by its own name?"""
    name = source.function.__name__
    if source.globals.get(name) is not source.function:
        return False
    return calls_by_name(source.node, name)


def calls_by_name(node: ast.AST, name: str) -> bool:
    """Does a function of this name occur as a call in the tree?"""
    return any(isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == name for n in ast.walk(node))


def default_bindings(ctx: Lowering, source: Source) -> dict[str, Binding]:
    """The defaults of a function, read at each call; those of our own compositions are constants."""
    ours = source.function.__module__ == "symgrad.ops.composed"
    made: dict[str, Binding] = {}
    for name, (value, where) in default_places(source).items():
        if ours or value is None or isinstance(value, bool | str):
            made[name] = static_binding(value)
        else:
            made[name] = outside(ctx, value, f"{owner_name(ctx, source.function)}.{where}", name)
    return made


def default_places(source: Source) -> dict[str, tuple[Any, str]]:
    """The defaults of a function, each with the expression that reads it."""
    arguments = source.node.args
    plain = [*arguments.posonlyargs, *arguments.args]
    values = source.function.__defaults__ or ()
    made = {a.arg: (v, f"__defaults__[{k}]") for k, (a, v) in enumerate(zip(plain[len(plain) - len(values) :], values, strict=True))}
    return made | {k: (v, f"__kwdefaults__[{k!r}]") for k, v in (source.function.__kwdefaults__ or {}).items()}


def call_nested(ctx: Lowering, callee: Fun, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """Inline a nested function or lambda, in the frame it was made in."""
    name = getattr(callee.node, "name", None)
    if any(code is callee.node for code, _ in ctx.stack) or name and calls_by_name(callee.node, name):
        from symgrad.frontend.recursion import call_nested_recursive

        return call_nested_recursive(ctx, callee, args, kwargs, node)
    frame = Frame(callee.frame.source, callee.frame, local_names(callee.node))
    return activate(ctx, frame, callee.node, args, kwargs, dict(callee.defaults), node, callee.node)


def activate(ctx: Lowering, frame: Frame, function: ast.FunctionDef | ast.Lambda, args: list[Binding], kwargs: dict[str, Binding],
             defaults: dict[str, Binding], node: ast.AST, code: Any) -> Binding:  # fmt: skip
    """Bind the arguments and lower the body; the caller's frame comes back afterwards."""
    for inner in ast.walk(function):
        if isinstance(inner, ast.Yield | ast.YieldFrom | ast.Await):
            raise UnsupportedSyntax("a generator cannot be differentiated", ctx.loc(node), "return a list")
    bound = bind_arguments(ctx, function.args, args, kwargs, defaults, node)
    outer, loc = ctx.frame, ctx.builder.loc
    ctx.frame = frame
    ctx.stack.append((code, id(node)))
    try:
        for name, binding in bound.items():
            ctx.state.names[frame, name] = binding
        return body_result(ctx, frame, function)
    finally:
        ctx.stack.pop()
        ctx.frame, ctx.builder.loc = outer, loc


def body_result(ctx: Lowering, frame: Frame, function: ast.FunctionDef | ast.Lambda) -> Binding:
    """Lower a function's body and give what it returns."""
    if isinstance(function, ast.Lambda):
        return ctx.evaluate(function.body)
    proceed(ctx)
    run(ctx, list(function.body))
    codes = ctx.state.codes
    made = ctx.state.names.get((frame, "%return"), MISSING)
    if ctx.state.dead or RETURN not in codes:
        made = Static(None)
    elif NEXT in codes and made != Static(None):
        made = Broken("the function may end without a return")
    if not holds_function(ctx, made):
        for name in [n for n in ctx.state.names if n[0] is frame]:
            del ctx.state.names[name]
    proceed(ctx)
    return made


def holds_function(ctx: Lowering, binding: Binding) -> bool:
    match binding:
        case Fun() | Bound():
            return True
        case Tup(items):
            return any(holds_function(ctx, i) for i in items)
        case Obj(key):
            content = ctx.state.heap.get(key)
            return not isinstance(content, Ref) and any(holds_function(ctx, b) for _, b in content or ())
    return False


def bind_arguments(ctx: Lowering, arguments: ast.arguments, args: list[Binding], kwargs: dict[str, Binding], defaults: dict[str, Binding],
                   node: ast.AST) -> dict[str, Binding]:  # fmt: skip
    """Arguments to parameters, as Python does it."""
    plain = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    bound = dict(zip(plain, args, strict=False))
    extra = args[len(plain) :]
    left = dict(kwargs)
    if extra and arguments.vararg is None:
        raise UnsupportedSyntax(f"{len(args)} arguments are given to {len(plain)} parameters", ctx.loc(node))
    if arguments.vararg is not None:
        bound[arguments.vararg.arg] = Tup(tuple(extra))
    for name in [*plain, *(a.arg for a in arguments.kwonlyargs)]:
        if name in left and name not in bound:
            bound[name] = left.pop(name)
        elif name not in bound:
            if name not in defaults:
                raise UnsupportedSyntax(f"argument {name!r} is missing", ctx.loc(node))
            bound[name] = defaults[name]
    if arguments.kwarg is not None:
        bound[arguments.kwarg.arg] = ctx.new_object("dict", left.items())
    elif left:
        raise UnsupportedSyntax(f"there is no parameter {next(iter(left))!r}", ctx.loc(node))
    return bound


# ------------------------------------------------------------------ classes


def construct(ctx: Lowering, cls: type, name: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """Make an instance of the user's class, a named tuple or a dataclass; cast with a NumPy type."""
    if issubclass(cls, np.generic) and len(args) == 1 and not kwargs:
        from symgrad.signature import DTYPE_NAMES

        return ctx.make(ctx.call("cast", ctx.read(args[0], node), dtype=DTYPE_NAMES[np.dtype(cls)]))
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        fields: list[str] = list(cls._fields)
        given = {**dict(zip(fields, args, strict=False)), **kwargs}
        for field, value in getattr(cls, "_field_defaults", {}).items():
            given.setdefault(field, outside(ctx, value, f"{owner_name(ctx, cls)}._field_defaults[{field!r}]", field))
        return Tup(tuple(given[f] for f in fields), cls)
    if cls.__module__.split(".")[0] in LIBRARIES:
        return opaque(ctx, cls, name, args, kwargs, node)
    made = ctx.new_object("record", (), cls)
    if dataclasses.is_dataclass(cls) and "__init__" in cls.__dict__ and not _has_source(cls.__init__):
        ctx.state.heap[made.key] = tuple(dataclass_fields(ctx, cls, args, kwargs, node).items())
        if hasattr(cls, "__post_init__"):
            call_function(ctx, cls.__post_init__, [made], {}, node)
        return made
    init = cls.__init__  # type: ignore[misc]
    if isinstance(init, types.FunctionType):
        call_function(ctx, init, [made, *args], kwargs, node)
    return made


def _has_source(function: Any) -> bool:
    try:
        read(function)
    except SymgradError:
        return False
    return True


def dataclass_fields(ctx: Lowering, cls: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> dict[str, Binding]:
    fields = [f for f in dataclasses.fields(cls) if f.init]
    given = {**dict(zip((f.name for f in fields), args, strict=False)), **kwargs}
    made: dict[str, Binding] = {}
    for field in dataclasses.fields(cls):
        if field.name in given:
            made[field.name] = given[field.name]
        elif field.default is not dataclasses.MISSING:
            made[field.name] = outside(
                ctx, field.default, f"{owner_name(ctx, cls)}.__dataclass_fields__[{field.name!r}].default", field.name
            )
        elif field.default_factory in (list, dict):
            made[field.name] = ctx.new_object(field.default_factory.__name__, ())
        elif field.init:
            raise UnsupportedSyntax(f"argument {field.name!r} is missing", ctx.loc(node))
    return made


# ------------------------------------------------------------------ what cannot be seen into


def opaque(ctx: Lowering, value: Any, name: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """A call kept in its place: it runs once; what it may change is a new version that carries no known derivative."""
    operands = [opaque_operand(ctx, a, node) for a in (*args, *kwargs.values())]
    root = (getattr(value, "__module__", None) or type(value).__module__).split(".")[0]
    last = getattr(value, "__name__", "")
    pure = root in ("numpy", "math", "scipy", "operator") and last not in MUTATORS or value in (print, repr, str, format, hash, type, id)
    spelled = (
        name
        if root in ("numpy", "math", "builtins") and name.split(".")[0] in ("np", "math", *dir(__builtins__))
        else owner_name(ctx, value)
    )
    row = "opaque_pure" if pure and value is not print else "opaque"
    made = ctx.call(row, Const(value, spelled), *operands, names=tuple(kwargs))
    if not pure:
        touch(ctx, [*args, *kwargs.values()], made)
    return Num(made)


def opaque_operand(ctx: Lowering, binding: Binding, node: ast.AST) -> Operand:
    match binding:
        case External(value, _):
            return Const(value, owner_name(ctx, value))
        case Tup() | Obj() | Ref() | Num() | Static():
            return ctx.read(binding, node)
    raise UnknownFunction("a function cannot be handed to something without a rule", ctx.loc(node))


def opaque_method(ctx: Lowering, owner: Binding, name: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """A method of something that is not an array of ours, such as a generator of random numbers."""
    operands = [opaque_operand(ctx, a, node) for a in (owner, *args, *kwargs.values())]
    made = ctx.call("opaque_method", Const(name), *operands, names=tuple(kwargs))
    touch(ctx, [*args, *kwargs.values()], made)
    return Num(made)


def touch(ctx: Lowering, args: list[Binding], made: Operand) -> None:
    """What an unknown call was given may have changed."""
    for binding in args:
        if isinstance(binding, Ref):
            ctx.replace_version(binding.location, ctx.call("touched", ctx.state.memory[binding.location], made, hint=binding.location.name))


def display_shape(ctx: Lowering, binding: Any) -> tuple[int, ...] | None:
    """The shape of a nested list or tuple display, where it is known."""
    match binding:
        case Tup(items):
            inner = list(items)
        case Obj(key) if key.kind == "list" and not isinstance(ctx.state.heap[key], Ref):
            inner = [b for _, b in ctx.state.entries(key)]
        case _:
            return None
    if not inner:
        return (0,)
    if all(isinstance(b, Num) for b in inner):
        return (len(inner),)
    below = {display_shape(ctx, b) for b in inner}
    only = below.pop() if len(below) == 1 else None
    return None if only is None else (len(inner), *only)


def array_of(ctx: Lowering, binding: Binding, dtype: str | None, node: ast.AST) -> Operand:
    """``np.array(display)``."""
    return ctx.array_of(ctx.read(binding, node), dtype, display_shape(ctx, binding))


__all__ = ["UNKNOWN", "UnknownType", "array_of", "call", "call_function", "call_method", "construct", "opaque", "special"]
