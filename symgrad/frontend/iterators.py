"""Functions of ``itertools``, ``functools`` and ``collections`` that make iterators, lists and functions of others."""

from __future__ import annotations

import ast
import collections
import functools
import itertools
from typing import Any

import numpy as np

from symgrad.errors import UnsupportedArgument, UnsupportedSyntax
from symgrad.frontend.attributes import attribute_of
from symgrad.frontend.bindings import Binding, External, Generator, HeapKey, Iter, Num, Obj, Partial, Ref, State, Static, Tup, View
from symgrad.frontend.builtins import fold, list_
from symgrad.frontend.context import Lowering
from symgrad.frontend.declared import call_function
from symgrad.frontend.iterate import append, check_since, items_of, iterated, known_items
from symgrad.frontend.memory import Index, load
from symgrad.frontend.operands import known_value, unwrap
from symgrad.frontend.tables import SPECIAL, callee, special
from symgrad.ir.core import ONE, ZERO, Const
from symgrad.ops.composed import iterating

Args = list[Binding]
Kwargs = dict[str, Binding]


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


def is_chosen(ctx: Lowering, binding: Binding, node: ast.AST) -> bool:
    """Does ``itertools.compress`` keep what stands beside this?"""
    if not (known := known_value(binding)):
        raise UnsupportedSyntax("what itertools.compress keeps is not known while compiling", ctx.loc(node), "index with a mask")
    return bool(known[0])


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
        options = {} if function is itertools.zip_longest else {k: unwrap(v) for k, v in kwargs.items()}
        if function is itertools.zip_longest:
            options = {"fillvalue": kwargs.get("fillvalue", Static(None))}
        elif function is itertools.compress:
            lists[1] = [is_chosen(ctx, item, node) for item in lists[1]]
        made = [Tup(tuple(c)) if isinstance(c, tuple) else c for c in function(*lists, **options)]
        return Iter("items", tuple(made))

    return lower


for _function in (itertools.product, itertools.combinations, itertools.permutations, itertools.combinations_with_replacement,
                  itertools.chain, itertools.pairwise, itertools.zip_longest, itertools.compress):  # fmt: skip
    SPECIAL[_function] = _combined(_function)


def split(ctx: Lowering, whole: Binding, node: ast.AST) -> tuple[Binding, Binding]:
    """The first item, and the others."""
    first = load(ctx, whole, Index("i", (ZERO,), (Num(ZERO),)), node)
    return first, load(ctx, whole, Index("s", (ONE, Const(None), Const(None)), ()), node)


@special(functools.partial)
def partial_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """A function with arguments that are given already."""
    return Partial(args[0], tuple(args[1:]), tuple(kwargs.items()))


@callee(Partial)
def call_partial(ctx: Lowering, held: Partial, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    return ctx.apply(held.function, [*held.args, *args], dict(held.kwargs) | kwargs, node)


@special(itertools.accumulate)
def accumulate(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """Running totals, as a list."""
    given = dict(zip(("iterable", "func"), args, strict=False)) | kwargs
    function = [] if given.get("func", Static(None)) == Static(None) else [given["func"]]
    start = given.get("initial", Static(None))
    if start != Static(None):
        return ctx.apply(Static(iterating.accumulate), [start, given["iterable"], *function], {}, node)
    whole = given["iterable"] if isinstance(given["iterable"], Ref) else list_(ctx, [given["iterable"]], {}, node)
    first, rest = split(ctx, whole, node)
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


def made_list(ctx: Lowering, items: Binding, node: ast.AST) -> Binding:
    """The items of an iterator, all made now."""
    return items if isinstance(items, Tup | Obj) else list_(ctx, [items], {}, node)


def walk(ctx: Lowering, items: Binding, node: ast.AST, since: State | None = None) -> Binding:
    """An iterator that remembers how far it has gone; with ``since`` nothing may have changed meanwhile, for its items are made already."""
    if isinstance(items, Iter) and items.kind == "range":
        items = list_(ctx, [items], {}, node)
    if not (isinstance(items, Ref | Tup) and not isinstance(items, View) or isinstance(items, Obj) and items.key.kind == "list"):
        raise UnsupportedSyntax("this iterator is gone over step by step", ctx.loc(node), "make it a list before iter is called")
    known = () if since is None else (("since", Static(since)),)
    return ctx.new_object("record", (("items", items), ("place", Num(ZERO)), *known), iterating.Walk)


@special(next)
def next_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """The next item of an iterator that has a name, or the first of one that has none."""
    default = args[1:]
    match args[0]:
        case Obj(key) if key.cls is iterating.Walk:
            check_since(ctx, key, node)
            return call_function(ctx, iterating.Walk.step_or if default else iterating.Walk.step, args, {}, node)
        case Generator() if isinstance(node, ast.Call) and isinstance(node.args[0], ast.Call):
            return ctx.apply(Static(iterating.first_value_or if default else iterating.first_value), args, {}, node)
    unnamed = isinstance(node, ast.Call) and isinstance(node.args[0], ast.Call) and ctx.evaluate(node.args[0].func) == Static(iter)
    if not unnamed:
        raise UnsupportedSyntax(
            "what next steps on is not known", ctx.loc(node), "call iter in a statement before, and give the iterator a name"
        )
    return ctx.apply(Static(iterating.first_value_or if default else iterating.first_value), args, {}, node)


@special(np.ndindex)
def ndindex(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """Loops in loops."""
    extents = list(args[0].items) if len(args) == 1 and isinstance(args[0], Tup) else args
    if not 0 < len(extents) <= len(iterating.PLACES) or kwargs or not all(isinstance(e, Num) for e in extents):
        raise UnsupportedSyntax("np.ndindex takes one to four extents", ctx.loc(node), "write the loops one by one")
    return ctx.apply(Static(iterating.PLACES[len(extents) - 1]), extents, {}, node)


@special(np.ndenumerate)
def ndenumerate(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    shape = attribute_of(ctx, args[0], "shape", node)
    return ctx.apply(Static(iterating.numbered_elements), [args[0], ndindex(ctx, [shape], {}, node)], {}, node)


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
        whole = args[1] if isinstance(args[1], Ref) else list_(ctx, args[1:2], {}, node)
        first, rest = split(ctx, whole, node)
        return reduce_(ctx, [args[0], rest, first], kwargs, node)
    return fold(ctx, items, args[2], lambda a, b: ctx.apply(args[0], [a, b], {}, node), node)
