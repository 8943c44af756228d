"""Functions of ``itertools``, ``functools`` and ``collections`` that return iterators, lists and functions."""

from __future__ import annotations

import ast
import collections
import functools
import itertools
from typing import Any

import numpy as np

from symgrad.errors import UnknownType, UnsupportedSyntax
from symgrad.frontend.calls.attributes import attribute_of
from symgrad.frontend.calls.declared import run_again_in_reverse
from symgrad.frontend.containers.appending import bounded
from symgrad.frontend.containers.iterables import items_of, known_items, sequence
from symgrad.frontend.containers.stepping import (
    begin,
    held_now,
    is_iterator,
    is_record,
    iterator,
    new_record,
    own_iterator,
    record,
    stepped,
)
from symgrad.frontend.flow.absent import as_python_does, definite
from symgrad.frontend.flow.edges import fail, fail_unless
from symgrad.frontend.flow.enumerated import each
from symgrad.frontend.library.builtins import list_
from symgrad.frontend.library.folding import fold, fold_generator
from symgrad.frontend.memory.loads import Index, load
from symgrad.frontend.objects.operands import unwrap
from symgrad.frontend.objects.protocols import ITERABLE, defines_any, own_method
from symgrad.frontend.state.bindings import (
    ABSENT,
    MISSING,
    Binding,
    External,
    Generator,
    HeapKey,
    Iter,
    Num,
    Obj,
    Partial,
    Ref,
    Static,
    Tup,
)
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.pinning import pinnable
from symgrad.frontend.state.program_state import is_long
from symgrad.frontend.state.tables import SPECIAL, callee, special
from symgrad.frontend.values.exact import is_anything, possible_classes
from symgrad.ir.core import ONE, ZERO, Const, Operand
from symgrad.ir.types import INT
from symgrad.ops.composed import iterating, shared_reading
from symgrad.ops.composed.bisecting import Compared
from symgrad.ops.composed.lists import last_items

Args = list[Binding]
Kwargs = dict[str, Binding]


EMPTY = "reduce() of empty iterable with no initial value"


def in_loops(ctx: Lowering, function: Any, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding | None:
    """A function of ``itertools`` whose arguments are iterated over by loops."""
    iterable = [a for a in args if not isinstance(a, Num)]
    if kwargs or ctx.unroll or any(isinstance(a, Tup | Obj | External | Static) and not is_long(a, ctx.state) for a in iterable):
        return None
    match function, args:
        case itertools.product, [_, _]:
            return iterator(ctx, itertools.product, (*args, Static(held_now(ctx, args))), node)
        case itertools.product, [_, _, _]:
            return ctx.apply(Static(iterating.product_of_three), args, {}, node)
        case itertools.pairwise, [_]:
            return iterator(ctx, itertools.pairwise, tuple(args), node)
        case itertools.combinations, [Iter(kind="range", parts=(Const(0), stop, Const(1))), Num(Const(2))]:
            return ctx.apply(Static(iterating.pairs_below), [Num(stop)], {}, node)
        case itertools.combinations, [Ref() | Obj() as items, Num(Const(2))]:
            return iterator(ctx, itertools.combinations, (items, Static(held_now(ctx, [items]))), node)
    return None


def has_known_items(ctx: Lowering, binding: Binding) -> bool:
    """Whether the binding is a tuple, a list or a constant with static items."""
    return (
        isinstance(binding, Tup | Static | External)
        or isinstance(binding, Obj)
        and not is_record(binding)
        and not is_long(binding, ctx.state)
    )


def _combined(function: Any) -> Any:
    def lower(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
        if function is itertools.pairwise and is_iterator(args[0]):
            return iterator(ctx, function, tuple(args), node)
        if function is itertools.zip_longest and len(args) == 2 and not all(has_known_items(ctx, a) for a in args):
            return iterator(ctx, function, (*args, kwargs.get("fillvalue", Static(None))), node)
        args = [sequence(ctx, a, node) if is_iterator(a) else a for a in args]
        if (said := in_loops(ctx, function, args, kwargs, node)) is not None:
            return said
        lists: list[Any] = []
        for arg in args:
            known = None if isinstance(arg, Num) else known_items(ctx, arg, node)
            if known is None and not isinstance(arg, Num):
                raise UnsupportedSyntax(
                    f"itertools.{function.__name__} needs a known number of items", ctx.loc(node), "write loops over range(len(x))"
                )
            lists.append(unwrap(arg) if known is None else known)
        options = {} if function is itertools.zip_longest else {k: unwrap(v) for k, v in kwargs.items()}
        if function is itertools.zip_longest:
            options = {"fillvalue": kwargs.get("fillvalue", Static(None))}
        results = as_python_does(ctx, node, lambda: list(function(*lists, **options)))
        items = [Tup(tuple(c)) if isinstance(c, tuple) else c for c in results]
        return iterator(ctx, "items", tuple(items), node)

    return lower


for _function in (
    itertools.product,
    itertools.combinations,
    itertools.permutations,
    itertools.combinations_with_replacement,
    itertools.pairwise,
    itertools.zip_longest,
):
    SPECIAL[_function] = _combined(_function)


def split(ctx: Lowering, whole: Binding, node: ast.AST) -> tuple[Binding, Binding]:
    """The first item, and the others."""
    first = load(ctx, whole, Index("i", (ZERO,), (Num(ZERO),)), node)
    return first, load(ctx, whole, Index("s", (ONE, Const(None), Const(None)), ()), node)


@special(functools.partial)
def partial_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """A function with some arguments bound."""
    return Partial(args[0], tuple(args[1:]), tuple(kwargs.items()))


@special(functools.cmp_to_key)
def cmp_to_key(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """A key that is compared by a function of two items."""
    return Partial(Static(Compared), (*args, *kwargs.values()))


@callee(Partial)
def call_partial(ctx: Lowering, held: Partial, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    def call() -> Binding:
        return ctx.apply(held.function, [*held.args, *args], dict(held.kwargs) | kwargs, node)

    return run_again_in_reverse(ctx, call, node) if held.again else call()


def _adapted(kind: Any, *names: str, defaults: tuple[Binding, ...] = ()) -> Any:
    """An iterator over its arguments, of which no item has been read yet."""

    def lower(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
        values = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True)) | dict(zip(names, args, strict=False)) | kwargs
        if len(args) > len(names) or set(values) != set(names):
            raise UnsupportedSyntax(f"{kind.__name__} takes {', '.join(names)}", ctx.loc(node))
        return iterator(ctx, kind, tuple(values[name] for name in names), node)

    return lower


NONE = Static(None)
for _kind, _names, _defaults in (
    (filter, ("function", "iterable"), ()),
    (itertools.filterfalse, ("function", "iterable"), ()),
    (itertools.starmap, ("function", "iterable"), ()),
    (itertools.takewhile, ("predicate", "iterable"), ()),
    (itertools.dropwhile, ("predicate", "iterable"), ()),
    (itertools.chain.from_iterable, ("iterable",), ()),
    (itertools.count, ("start", "step"), (Num(ZERO), Num(ONE))),
    (itertools.repeat, ("object", "times"), (NONE,)),
):
    SPECIAL[_kind] = _adapted(_kind, *_names, defaults=_defaults)


@special(map)
def map_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    return iterator(ctx, map, tuple(args), node)


@special(itertools.chain)
def chain(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    return iterator(ctx, itertools.chain, tuple(args), node)


@special(itertools.compress)
def compress(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    data, selectors = (*args, *(kwargs[name] for name in ("data", "selectors") if name in kwargs))
    return iterator(ctx, itertools.compress, (iterator(ctx, "zip", (data, selectors), node),), node)


@special(itertools.accumulate)
def accumulate(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """Running totals."""
    values = {"func": NONE, "initial": NONE} | dict(zip(("iterable", "func"), args, strict=False)) | kwargs
    return iterator(ctx, itertools.accumulate, (values["iterable"], values["func"], values["initial"]), node)


@special(collections.deque)
def deque(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """A deque is a list with a few more methods."""
    sought = kwargs.get("maxlen", args[1] if len(args) > 1 else NONE)
    most = None if sought == NONE else maximum_length(ctx, sought)
    initial = list_(ctx, args[:1], {}, node)
    assert isinstance(initial, Obj)
    content = ctx.state.heap[initial.key]
    if most is not None and not (isinstance(most, Const) and not isinstance(content, Ref)):
        whole = initial if content else ctx.new_object("list", ctx.make(ctx.call("list_of")))
        last = ctx.apply(Static(last_items), [whole, Num(most)], {}, node)
        content = ctx.state.heap[last.key]  # type: ignore[attr-defined]
    elif isinstance(most, Const):
        content = tuple(enumerate([b for _, b in ctx.state.entries(initial.key)][-most.value :] if most.value else ()))
    key = HeapKey("list", None if most is None else bounded(ctx, most), exact=collections.deque)
    ctx.state.heap[key] = content
    return Obj(key)


def maximum_length(ctx: Lowering, most: Binding) -> Operand:
    """How many items a deque holds at most, which may be computed; an integer of the call becomes part of the signature."""
    if isinstance(most, Num) and not isinstance(most.operand, Const) and most.operand.type == INT and pinnable(ctx, most) is None:
        fail_unless(ctx, ctx.call("greater_equal", most.operand, ZERO), ValueError, "maxlen must be non-negative")
        return most.operand
    count = unwrap(most)
    if isinstance(count, int) and count < 0:
        fail(ctx, ValueError, "maxlen must be non-negative")
    return Const(count)


@special(itertools.islice)
def islice(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """Items by index; for an array, a view of it."""
    start, stop, step = {2: (Num(ZERO), *args[1:], NONE), 3: (*args[1:], NONE), 4: tuple(args[1:])}[len(args)]
    start, step = (Num(Const(least)) if part == NONE else part for part, least in ((start, 0), (step, 1)))
    if isinstance(args[0], Ref):
        bounds = [ctx.read(part, node) for part in (start, stop, step)]
        if bounds[0] == ZERO:
            bounds[0] = Const(None)
        view = load(ctx, args[0], Index("s", tuple(Const(None) if b == ONE and k == 2 else b for k, b in enumerate(bounds)), ()), node)
        return iterator(ctx, "iter", (view,), node)
    return iterator(ctx, itertools.islice, (args[0], start, stop, step), node)


@special(iter)
def iter_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """``iter`` of an iterator is itself; ``iter`` of a function calls it for each item."""
    if len(args) == 2:
        return iterator(ctx, iter, tuple(args), node)
    return each(ctx, args[0], node, lambda held: iter_of(ctx, held, node))


def iter_of(ctx: Lowering, binding: Binding, node: ast.AST) -> Binding:
    """``iter`` of a value that is the same on every path."""
    if is_anything(ctx, binding) and not possible_classes(ctx, binding, node):
        raise UnknownType("whether this can be iterated over is not known", ctx.loc(node), "make it a list")
    if possible_classes(ctx, binding, node) == (slice,):
        return definite(ctx, MISSING, node, TypeError, "'slice' object is not iterable")
    if isinstance(binding, Static) and not defines_any(ctx, binding.value, *ITERABLE):
        return definite(ctx, MISSING, node, TypeError, f"{type(binding.value).__name__!r} object is not iterable")
    held = own_iterator(ctx, binding, node)
    if not is_record(held) and own_method(ctx, held, "__next__") is not None:
        return held
    held = stepped(ctx, held, node)
    return held if is_iterator(held) else iterator(ctx, "iter", (held,), node)


@special(next)
def next_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """The next item of an iterator; of a recipe the first, which is undone by a restart if a further item is read."""
    if not is_record(args[0]) and own_method(ctx, args[0], "__next__") is not None:
        if len(args) > 1:
            return ctx.apply(Static(iterating.next_or), args, {}, node)
        return ctx.apply_method(args[0], "__next__", [], node)
    if not is_iterator(args[0]):
        hint = "create the iterator in the function, with iter in a statement before"
        raise UnsupportedSyntax("the iterator that next advances is not known", ctx.loc(node), hint)
    default = args[1:]
    if is_record(args[0]):
        assert isinstance(args[0], Obj)
        cls = args[0].key.cls
        return ctx.apply(Static(cls.step_or if default else cls.step), args, {}, node)
    return ctx.apply(Static(iterating.first_value_or if default else iterating.first_value), args, {}, node)


@special(itertools.groupby)
def groupby(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """Groups of neighbours with equal keys, which share one iterator."""
    values = {"key": NONE} | dict(zip(("iterable", "key"), args, strict=False)) | kwargs
    return new_record(ctx, shared_reading.Grouped, [record(ctx, values["iterable"], node), values["key"]], node)


@special(itertools.tee)
def tee(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """Iterators that share one iterator, which keeps the items that it has yielded."""
    count = unwrap(args[1]) if len(args) > 1 else unwrap(kwargs.get("n", Num(Const(2))))
    source = new_record(ctx, shared_reading.Copied, [record(ctx, args[0], node)], node)
    return Tup(tuple(new_record(ctx, shared_reading.Copy, [source], node) for _ in range(count)))


@special(itertools.cycle)
def cycle(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    return ctx.apply(Static(iterating.cycle_of_iterator if is_iterator(args[0]) else iterating.cycle), args, {}, node)


@special(np.ndindex)
def ndindex(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """Nested loops."""
    extents = list(args[0].items) if len(args) == 1 and isinstance(args[0], Tup) else args
    if not 0 < len(extents) <= len(iterating.PLACES) or kwargs or not all(isinstance(e, Num) for e in extents):
        raise UnsupportedSyntax("np.ndindex takes one to four extents", ctx.loc(node), "write the loops one by one")
    return ctx.apply(Static(iterating.PLACES[len(extents) - 1]), extents, {}, node)


@special(np.ndenumerate)
def ndenumerate(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    shape = attribute_of(ctx, args[0], "shape", node)
    return ctx.apply(Static(iterating.numbered_elements), [args[0], ndindex(ctx, [shape], {}, node)], {}, node)


@special(functools.reduce)
def reduce_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    over = begin(ctx, args[1], node) if is_iterator(args[1]) and len(args) == 3 else args[1]
    if isinstance(over, Generator) and len(args) == 3:
        return fold_generator(ctx, over, args[2], lambda a, b: ctx.apply(args[0], [a, b], {}, node), node)
    if len(args) == 2 and is_iterator(over):
        rest: Binding = record(ctx, over, node)
        first = definite(ctx, next_(ctx, [rest, ABSENT], {}, node), node, TypeError, EMPTY)
        return reduce_(ctx, [args[0], rest, first], kwargs, node)
    args = [args[0], over, *args[2:]]
    items = items_of(ctx, args[1], node)
    if isinstance(items, list):
        start = args[2:] or items[:1]
        if not start:
            return definite(ctx, MISSING, node, TypeError, EMPTY)
        return functools.reduce(lambda a, b: ctx.apply(args[0], [a, b], {}, node), items[0 if args[2:] else 1 :], start[0])
    if len(args) < 3:
        whole = args[1] if isinstance(args[1], Ref) else list_(ctx, args[1:2], {}, node)
        if not isinstance(count := items.bounds[1], Const):
            fail_unless(ctx, ctx.call("greater", count, ZERO), TypeError, EMPTY)
        elif not count.value:
            fail(ctx, TypeError, EMPTY)
        first, rest = split(ctx, whole, node)
        return reduce_(ctx, [args[0], rest, first], kwargs, node)
    return fold(ctx, items, args[2], lambda a, b: ctx.apply(args[0], [a, b], {}, node), node)
