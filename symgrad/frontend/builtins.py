"""table: builtins and NumPy functions that deal with the structure of Python values rather than with numbers."""

from __future__ import annotations

import ast
import collections
import functools
import itertools
import math
import operator
from typing import Any

import numpy as np

from symgrad.errors import UnknownType, UnsupportedArgument, UnsupportedSyntax
from symgrad.frontend.attributes import attribute_of
from symgrad.frontend.bindings import Binding, External, Fun, Generator, HeapKey, Iter, Num, Obj, Ref, Static, Step, Tup
from symgrad.frontend.context import SPECIAL, Lowering, special
from symgrad.frontend.flow import choose, counted, loop_key
from symgrad.frontend.generators import gathered
from symgrad.frontend.iterate import append, discard, items_of, iterated, known_items
from symgrad.frontend.memory import Index, load
from symgrad.frontend.opaque import opaque
from symgrad.frontend.operands import array_of, as_array, unwrap
from symgrad.frontend.operators import binary, comparison, truth
from symgrad.frontend.rows import apply_row, call_row
from symgrad.ir.core import ONE, ZERO, Const
from symgrad.ir.types import DTYPES, Array, List, Object, Scalar, Type, Unknown
from symgrad.ops import spelling
from symgrad.ops.composed import iterating
from symgrad.ops.spelling import named_dtype

Args = list[Binding]
Kwargs = dict[str, Binding]


@special(range)
def range_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    parts = [ctx.read(a, node) for a in args]
    for part in parts:
        if not (isinstance(part.type, Scalar) and part.type.kind in ("int", "bool") or isinstance(part.type, Unknown)):
            raise UnsupportedArgument(f"range takes integers, not {part.type}", ctx.loc(node), "use int(...)")
    start, stop, step = {1: (ZERO, *parts, ONE), 2: (*parts, ONE), 3: tuple(parts)}[len(parts)]
    return Iter("range", (start, stop, step))


@special(slice)
def slice_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    parts = [ctx.read(a, node) for a in args]
    return Iter("slice", {1: (Const(None), *parts, Const(None)), 2: (*parts, Const(None)), 3: tuple(parts)}[len(parts)])


@special(enumerate)
def enumerate_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    start = kwargs.get("start", args[1] if len(args) > 1 else Num(ZERO))
    return Iter("enumerate", (args[0], ctx.read(start, node)))


@special(zip)
def zip_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    if "strict" in kwargs and unwrap(kwargs["strict"]) is not False:
        raise UnsupportedArgument("zip with strict=True is not supported", ctx.loc(node), "compare the lengths before")
    return Iter("zip", tuple(args))


@special(reversed)
def reversed_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    return Iter("reversed", (args[0],))


@special(len)
def len_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    match args[0]:
        case Tup(items):
            return Num(Const(len(items)))
        case Obj(key) if key.kind == "record":
            return ctx.apply(attribute_of(ctx, args[0], "__len__", node), [], {}, node)
        case Obj(key):
            ctx.check_keys(key, node)
            content = ctx.state.heap[key]
            return Num(ctx.call("list_len", ctx.read(args[0]))) if isinstance(content, Ref) else Num(Const(len(content)))
        case External(value) | Static(value):
            return Num(Const(len(value)))
        case Iter(kind="range", parts=parts):
            return Num(ctx.call("range_len", *parts))
        case Ref():
            type_ = ctx.type_of(args[0])
            if isinstance(type_, List):
                return Num(ctx.call("list_len", ctx.read(args[0])))
            if isinstance(type_, Array) and type_.shape:
                extent = type_.shape[0]
                return Num(Const(extent) if isinstance(extent, int) else ctx.call("extent", ctx.read(args[0]), axis=0))
    return Num(ctx.call("list_len", ctx.read(args[0], node)))


@special(isinstance)
def isinstance_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    wanted = unwrap(args[1])
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    known = python_type(ctx, args[0], node)
    return Num(Const(any(issubclass(known, w) for w in wanted)))


def python_type(ctx: Lowering, binding: Binding, node: ast.AST) -> type:
    """The class that a value will have."""
    match binding:
        case Tup(kind=kind):
            return kind or tuple
        case Obj(key):
            return {"list": list, "dict": dict}.get(key.kind) or key.cls
        case External(value) | Static(value):
            return type(value)
        case Fun():
            return type(lambda: None)
        case Num() | Ref():
            match ctx.type_of(binding):
                case Array():
                    return np.ndarray
                case List():
                    return list
                case Scalar(kind=kind, dtype=None):
                    return {"float": float, "int": int, "bool": bool, "complex": complex}[kind]
                case Scalar(kind="float", dtype="any"):
                    return float
                case Scalar(dtype=str() as dtype) if dtype != "any":
                    return np.dtype(DTYPES[dtype]).type
    raise UnknownType("the class of this is not known while compiling", ctx.loc(node))


@special(type)
def type_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    made = python_type(ctx, args[0], node)
    return Static(made, made.__name__)


@special(list, tuple)
def list_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    if not args:
        return ctx.new_object("list", ())
    if isinstance(args[0], Generator):
        made = ctx.new_object("list", ())
        gathered(ctx, args[0], lambda value: discard(append(ctx, made, value, node)), node, lazily=False)
        return made
    known = known_items(ctx, args[0], node)
    if known is not None:
        return ctx.new_object("list", enumerate(known))
    if isinstance(args[0], Ref) and isinstance(ctx.type_of(args[0]), Array):
        return ctx.new_object("list", ctx.make(ctx.call("list_from", ctx.read(args[0], node))))
    if isinstance(args[0], Obj):
        return ctx.list_sharing(ctx.call("list_slice", ctx.read(args[0]), Const(None), Const(None), Const(None)), args[0])
    raise UnsupportedSyntax("a list of this cannot be made here", ctx.loc(node), "use a comprehension")


@special(tuple)
def tuple_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    if not args:
        return Tup(())
    items = items_of(ctx, args[0], node)
    return Tup(tuple(items)) if isinstance(items, list) else list_(ctx, args, kwargs, node)


@special(dict)
def dict_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    content: dict[Any, Binding] = {}
    for item in args:
        match item:
            case Obj(key) if key.kind == "dict":
                content.update(dict(ctx.state.heap[key]))  # type: ignore[arg-type]
            case _:
                pairs = items_of(ctx, item, node)
                if not isinstance(pairs, list) or not all(isinstance(p, Tup) for p in pairs):
                    raise UnsupportedSyntax("a dict is made of pairs that are known", ctx.loc(node))
                content.update({unwrap(p.items[0]): p.items[1] for p in pairs})  # type: ignore[attr-defined]
    content.update(kwargs)
    return ctx.new_object("dict", content.items())


@special(sum)
def sum_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    start = kwargs.get("start", args[1] if len(args) > 1 else Num(ZERO))
    if isinstance(args[0], Generator):
        return fold_generator(ctx, args[0], start, lambda total, item: binary(ctx, ast.Add, total, item, node), node)
    items = items_of(ctx, args[0], node)
    if isinstance(items, list):
        return functools.reduce(lambda a, b: binary(ctx, ast.Add, a, b, node), items, start)
    return fold(ctx, items, start, lambda total, item: binary(ctx, ast.Add, total, item, node), node)


def fold(ctx: Lowering, items: Any, start: Binding, step: Any, node: ast.AST) -> Binding:
    """Go over items with one running value."""
    key = (ctx.frame, f"%fold{next(ctx.builder.fresh)}")
    ctx.state.names[key] = start

    def body(index: Any) -> None:
        ctx.state.names[key] = step(ctx.state.names[key], items.item(index))

    counted(ctx, loop_key(ctx, node), [key], items.bounds, body, ctx.loc(node))
    return ctx.state.names.pop(key)


def fold_generator(ctx: Lowering, held: Generator, start: Binding, step: Any, node: ast.AST) -> Binding:
    """Go over what a generator yields with one running value."""
    key = (ctx.frame, f"%fold{next(ctx.builder.fresh)}")
    ctx.state.names[key] = start

    def keep(value: Binding) -> None:
        ctx.state.names[key] = step(ctx.state.names[key], value)

    gathered(ctx, held, keep, node)
    return ctx.state.names.pop(key)


def extreme(ctx: Lowering, args: Args, node: ast.AST, smaller: bool) -> Binding:
    """``max`` and ``min`` of several arguments or of the items of one."""
    if len(args) == 1:
        if isinstance(args[0], Ref) and isinstance(ctx.type_of(args[0]), Array):
            return ctx.apply(Static(np.min if smaller else np.max, "max"), args, {}, node)
        items = items_of(ctx, args[0], node)
        if not isinstance(items, list):
            value = ctx.array_of(ctx.read(args[0], node), None)
            return apply_row(ctx, "min" if smaller else "max", [ctx.make(value)], {"axis": None, "keepdims": False}, node)
        args = items

    def better(a: Binding, b: Binding) -> Binding:
        op = ast.Lt() if smaller else ast.Gt()
        test = truth(ctx, comparison(ctx, op, b, a, node), node)
        if isinstance(test, Const):
            return b if test.value else a
        return choose(ctx, test, node, lambda: b, lambda: a)

    return functools.reduce(better, args)


@special(max)
def max_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    if kwargs:
        raise UnsupportedArgument("keywords of max are not supported", ctx.loc(node))
    return extreme(ctx, args, node, smaller=False)


@special(min)
def min_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    if kwargs:
        raise UnsupportedArgument("keywords of min are not supported", ctx.loc(node))
    return extreme(ctx, args, node, smaller=True)


def _truths(of: Any) -> Any:
    def lower(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
        if isinstance(args[0], Ref) and isinstance(ctx.type_of(args[0]), Array):
            return ctx.apply(Static(of, of.__name__), args, {}, node)
        items = items_of(ctx, args[0], node)
        if not isinstance(items, list):
            return ctx.apply(Static(of, of.__name__), [ctx.make(array_of(ctx, args[0], None, node))], {}, node)
        made: Any = Const(of is np.all)
        for item in items:
            test = truth(ctx, item, node)
            if isinstance(test, Const):
                if bool(test.value) != (of is np.all):
                    return Num(Const(of is np.any))
                continue
            made = test if isinstance(made, Const) else ctx.call("logical_and" if of is np.all else "logical_or", made, test)
        return Num(made)

    return lower


SPECIAL[any], SPECIAL[all] = _truths(np.any), _truths(np.all)


def in_loops(ctx: Lowering, function: Any, args: Args, kwargs: Kwargs, node: ast.AST) -> Any:
    """The generator that says a function of ``itertools`` where loops over its arguments are loops."""
    iterable = [a for a in args if not isinstance(a, Num)]
    if kwargs or ctx.unroll or any(isinstance(a, Tup | Obj | External | Static) and not is_long(ctx, a) for a in iterable):
        return None
    match function, args:
        case itertools.product, [_, _]:
            return iterating.product_of_two, args
        case itertools.product, [_, _, _]:
            return iterating.product_of_three, args
        case itertools.chain, _:
            return iterating.chain, args
        case itertools.pairwise, [_]:
            return iterating.pairwise, args
        case itertools.combinations, [Iter(kind="range", parts=(Const(0), stop, Const(1))), Num(Const(2))]:
            return iterating.pairs_below, [Num(stop)]
        case itertools.combinations, [Ref() | Obj() as items, Num(Const(2))]:
            return iterating.pairs_of, [items]
    return None


def is_long(ctx: Lowering, binding: Binding) -> bool:
    """Is it a list whose length is not known?"""
    return isinstance(binding, Obj) and binding.key.kind == "list" and isinstance(ctx.state.heap[binding.key], Ref)


def _combined(function: Any) -> Any:
    def lower(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
        if (said := in_loops(ctx, function, args, kwargs, node)) is not None:
            return ctx.apply(Static(said[0]), said[1], {}, node)
        lists: list[Any] = []
        for arg in args:
            known = None if isinstance(arg, Num) else known_items(ctx, arg, node)
            if known is None and not isinstance(arg, Num):
                raise UnsupportedSyntax(f"itertools.{function.__name__} needs items whose number is known", ctx.loc(node))
            lists.append(unwrap(arg) if known is None else known)
        options = {k: unwrap(v) for k, v in kwargs.items()}
        made = [Tup(tuple(c)) if isinstance(c, tuple) else c for c in function(*lists, **options)]
        return Iter("items", tuple(made))

    return lower


for _function in (itertools.product, itertools.combinations, itertools.permutations, itertools.combinations_with_replacement,
                  itertools.chain, itertools.pairwise):  # fmt: skip
    SPECIAL[_function] = _combined(_function)


@special(itertools.accumulate)
def accumulate(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """Running totals, as a list."""
    given = dict(zip(("iterable", "func"), args, strict=False)) | kwargs
    function = [] if given.get("func", Static(None)) == Static(None) else [given["func"]]
    start = given.get("initial", Static(None))
    if start != Static(None):
        return ctx.apply(Static(iterating.accumulate), [start, given["iterable"], *function], {}, node)
    whole = given["iterable"] if isinstance(given["iterable"], Ref) else list_(ctx, [given["iterable"]], {}, node)
    first = load(ctx, whole, Index("i", (ZERO,), (Num(ZERO),)), node)
    rest = load(ctx, whole, Index("s", (ONE, Const(None), Const(None)), ()), node)
    return ctx.apply(Static(iterating.accumulate), [first, rest, *function], {}, node)


@special(collections.deque)
def deque(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """A deque is a list with a few methods more."""
    most = unwrap(kwargs.get("maxlen", args[1] if len(args) > 1 else Static(None)))
    made = list_(ctx, args[:1], {}, node)
    assert isinstance(made, Obj)
    content = ctx.state.heap[made.key]
    if most is not None and isinstance(content, Ref):
        raise UnsupportedArgument("maxlen of a deque of unknown length is not supported", ctx.loc(node))
    kept = content if isinstance(content, Ref) or most is None else tuple(enumerate([b for _, b in content][-most:]))
    key = HeapKey("list", None if most is None else ("deque", most))
    ctx.state.heap[key] = kept
    return Obj(key)


@special(itertools.islice)
def islice(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """The first so many."""
    if len(args) == 2:
        return ctx.apply(Static(iterating.first_of), args, {}, node)
    whole = args[0] if isinstance(args[0], Ref) else list_(ctx, args[:1], {}, node)
    bounds = [ctx.read(a, node) for a in args[1:]]
    return load(ctx, whole, Index("s", (*bounds, Const(None))[:3], ()), node)


@special(iter)
def iter_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    return iterated(ctx, args[0], node)


@special(map)
def map_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    items = items_of(ctx, args[1] if len(args) == 2 else Iter("zip", tuple(args[1:])), node)
    spread = len(args) > 2
    if isinstance(items, list):
        return Tup(tuple(ctx.apply(args[0], list(i.items) if spread and isinstance(i, Tup) else [i], {}, node) for i in items))

    def step(total: Binding, item: Binding) -> Binding:
        return append(ctx, total, ctx.apply(args[0], list(item.items) if spread and isinstance(item, Tup) else [item], {}, node), node)

    return fold(ctx, items, ctx.new_object("list", ()), step, node)


@special(functools.reduce)
def reduce_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    items = items_of(ctx, args[1], node)
    if isinstance(items, list):
        start = args[2:] or items[:1]
        return functools.reduce(lambda a, b: ctx.apply(args[0], [a, b], {}, node), items[0 if args[2:] else 1 :], start[0])
    if len(args) < 3:
        raise UnsupportedSyntax("reduce over something of unknown length needs a start", ctx.loc(node))
    return fold(ctx, items, args[2], lambda a, b: ctx.apply(args[0], [a, b], {}, node), node)


@special(divmod)
def divmod_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    return Tup((binary(ctx, ast.FloorDiv, args[0], args[1], node), binary(ctx, ast.Mod, args[0], args[1], node)))


@special(callable)
def callable_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    return Num(Const(isinstance(args[0], Fun) or isinstance(args[0], Static) and callable(args[0].value)))


@special(hasattr)
def hasattr_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    cls = python_type(ctx, args[0], node)
    name = unwrap(args[1])
    own = isinstance(args[0], Obj) and args[0].key.kind == "record" and name in dict(ctx.state.heap[args[0].key])  # type: ignore[arg-type]
    return Num(Const(own or hasattr(cls, name) or isinstance(args[0], External | Static) and hasattr(args[0].value, name)))


@special(getattr)
def getattr_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    name = unwrap(args[1])
    if len(args) == 3 and not unwrap(hasattr_(ctx, args[:2], {}, node)):
        return args[2]
    return attribute_of(ctx, args[0], name, node)


@special(str, repr)
def str_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    try:
        return Static(str(unwrap(args[0])))
    except ValueError:
        return Num(ctx.call("format_text", Const("{}"), ctx.read(args[0], node)))


@special(round)
def round_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    operands = [ctx.read(a, node) for a in [*args, *kwargs.values()]]
    return ctx.make(ctx.call("rounded", *operands))


@special(print)
def print_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    opaque(ctx, print, "print", args, kwargs, node)
    return Static(None)


@special(math.prod)
def prod_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    start = kwargs.get("start", Num(ONE))
    items = items_of(ctx, args[0], node)
    if isinstance(items, list):
        return functools.reduce(lambda a, b: binary(ctx, ast.Mult, a, b, node), items, start)
    return fold(ctx, items, start, lambda total, item: binary(ctx, ast.Mult, total, item, node), node)


OPERATOR_MODULE = {
    operator.add: ast.Add, operator.sub: ast.Sub, operator.mul: ast.Mult, operator.truediv: ast.Div, operator.pow: ast.Pow,
    operator.matmul: ast.MatMult, operator.floordiv: ast.FloorDiv, operator.mod: ast.Mod,
}  # fmt: skip
for _operation, _syntax in OPERATOR_MODULE.items():
    SPECIAL[_operation] = functools.partial(
        lambda ctx, args, kwargs, node, syntax: binary(ctx, syntax, args[0], args[1], node), syntax=_syntax
    )


# ------------------------------------------------------------------ NumPy on structure


@special(np.shape)
def shape(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    return attribute_of(ctx, as_array(ctx, args[0], node), "shape", node)


@special(np.ndim)
def ndim(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    return attribute_of(ctx, as_array(ctx, args[0], node), "ndim", node)


@special(np.size)
def size(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    args = [*args, *kwargs.values()]
    if len(args) == 2:
        found = attribute_of(ctx, args[0], "shape", node)
        assert isinstance(found, Tup)
        axis: int = unwrap(args[1])
        return found.items[axis]
    return attribute_of(ctx, as_array(ctx, args[0], node), "size", node)


def _array(copies: bool) -> Any:
    def lower(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
        given = dict(kwargs)
        if len(args) > 1:
            given["dtype"] = args[1]
        copy = copies and bool(unwrap(given.pop("copy", Num(Const(True)))))
        dtype = unwrap(given.pop("dtype", Static(None)))
        if given:
            raise UnsupportedArgument(f"the keyword {next(iter(given))} of np.array is not supported", ctx.loc(node))
        name = None if dtype is None else named_dtype(dtype)
        return make_array(ctx, args[0], name, copy, node)

    return lower


def make_array(ctx: Lowering, binding: Binding, dtype: str | None, copy: bool, node: ast.AST) -> Binding:
    if isinstance(binding, Obj | Tup) or isinstance(binding, Ref) and isinstance(ctx.type_of(binding), List):
        return ctx.make(array_of(ctx, binding, dtype, node))
    type_: Type = ctx.type_of(binding)
    if isinstance(type_, Object):
        return opaque(ctx, np.array, "np.array", [binding], {}, node)
    value = ctx.read(binding, node)
    if isinstance(type_, Array) and dtype not in (None, type_.dtype):
        return ctx.make(ctx.call("cast", value, dtype=dtype))
    if isinstance(type_, Array):
        return ctx.make(ctx.call("copy", value)) if copy else binding
    if isinstance(type_, Unknown):
        return ctx.make(ctx.call("to_array", value, dtype=dtype)) if copy else ctx.shared(ctx.call("to_array", value, dtype=dtype), binding)
    return ctx.make(ctx.call("to_array", value, dtype=dtype))


SPECIAL[np.array] = _array(True)
for _converter in (np.asarray, np.asanyarray, np.ascontiguousarray):
    SPECIAL[_converter] = _array(False)


@special(np.where)
def where(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    if len(args) == 1 and not kwargs:
        return ctx.apply(Static(np.nonzero, "np.nonzero"), args, {}, node)
    spelled = spelling.spelled(np.where)
    assert spelled is not None
    return call_row(ctx, spelled, args, kwargs, node)


@special(np.copyto)
def copyto(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    if kwargs or not isinstance(args[0], Ref):
        raise UnsupportedArgument("this form of np.copyto is not supported", ctx.loc(node))
    ctx.store(args[0], ctx.read(args[1], node), None if args[0].path else Step("e"))
    return Static(None)
