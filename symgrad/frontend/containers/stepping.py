"""Iterators: recipes that are fused with the loop over them, and records with a position where several statements use one.

Creating an iterator returns a recipe, an ``Iter`` or a ``Generator``, whose key is its identity. The first loop over it is fused: a
counted loop, or the generator's body with the consumer's in it. From then on the heap marks it as used. A second use raises
``NeedsState`` with the location of creation. Lowering restarts, and creates at that location a record of a class of
``ops.composed.stepping`` or ``without_lookahead``, which every consumer advances. So fusion happens only where it cannot be observed.
"""

from __future__ import annotations

import ast
import collections
import itertools
import types
from collections.abc import Callable
from dataclasses import replace
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.flow.absent import definite
from symgrad.frontend.objects.derived import as_base
from symgrad.frontend.objects.dicts import in_order, is_set
from symgrad.frontend.objects.operands import static_binding
from symgrad.frontend.objects.protocols import own_method
from symgrad.frontend.objects.reading import from_class
from symgrad.frontend.state.bindings import MISSING, Binding, External, Fun, Generator, HeapKey, Iter, Num, Obj, Ref, Static, Tup, View
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.interruptions import NeedsState
from symgrad.frontend.state.tables import special
from symgrad.ir.core import ONE, ZERO, Const
from symgrad.ir.types import List, Scalar
from symgrad.ops.composed import iterating, shared_reading, stepping, without_lookahead

FRESH, USED = Static("fresh"), Static("used")
#: recipes that become generators when they are iterated over, with their source texts
TEXTS: dict[Any, Callable[..., Any]] = (
    {getattr(itertools, name): getattr(iterating, name) for name in "starmap takewhile dropwhile chain repeat cycle pairwise".split()}
    | {map: iterating.mapped, filter: iterating.kept, iter: iterating.called, itertools.filterfalse: iterating.dropped}
    | {itertools.chain.from_iterable: iterating.from_iterable, itertools.accumulate: iterating.accumulated}
    | {itertools.islice: iterating.sliced, itertools.compress: iterating.compressed, itertools.count: iterating.counting}
    | {itertools.product: iterating.product_of_two, itertools.combinations: iterating.pairs_of}
)

#: the classes of records, and the Python class of each
CLASSES: dict[type, type] = stepping.CLASSES | without_lookahead.CLASSES | shared_reading.CLASSES


def site_of(ctx: Lowering, node: ast.AST) -> Any:
    """The place in the source where an iterator is created."""
    place = tuple(getattr(node, name, 0) for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"))
    return (ctx.frame.source.file, *place)


def iterator(ctx: Lowering, kind: Any, parts: tuple[Any, ...], node: ast.AST) -> Binding:
    """A new iterator: a recipe, or a record where an earlier attempt has shown that a recipe does not suffice."""
    key = HeapKey("iterator", site_of(ctx, node))
    ctx.state.heap[key] = (("state", FRESH),)
    recipe = Iter(kind, parts, key)
    return record(ctx, recipe, node) if key.cls in ctx.stateful else recipe


def use(ctx: Lowering, key: HeapKey) -> None:
    """Mark a recipe as iterated over; raise ``NeedsState`` if it is marked already."""
    content = ctx.state.heap.get(key)
    if isinstance(content, Ref) or content is None or dict(content).get("state") != FRESH:
        raise NeedsState(frozenset({key.cls}))
    ctx.state.heap[key] = (("state", USED),)


def is_record(binding: Any) -> bool:
    """Whether the binding is an iterator with a position."""
    return isinstance(binding, Obj) and binding.key.kind == "record" and binding.key.cls in CLASSES


def is_iterator(binding: Any) -> bool:
    """Whether the binding is an iterator in any form."""
    return isinstance(binding, Generator) or isinstance(binding, Iter) and binding.key is not None or is_record(binding)


#: an empty iterable of each class, whose iterator has the class of its iterators
ITERABLES: tuple[Any, ...] = ([], (), {}, set(), "", range(0), collections.deque(), {}.keys(), {}.values(), {}.items())
EMPTY: dict[type, Any] = {type(empty): empty for empty in ITERABLES}


def class_of_iterator(binding: Any, type_of: Callable[[Binding], type]) -> type | None:
    """The Python class of an iterator; None for every other binding."""
    if is_record(binding):
        held: type = CLASSES[binding.key.cls]
        return held
    if isinstance(binding, Generator):
        return types.GeneratorType
    if not isinstance(binding, Iter) or binding.key is None:
        return range if isinstance(binding, Iter) and binding.kind == "range" else None
    names: dict[Any, type] = {"enumerate": enumerate, "zip": zip, "zip_strict": zip}
    if binding.kind in ("iter", "reversed"):
        inner = type_of(binding.parts[0])
        empty = next((EMPTY[base] for base in inner.__mro__ if base in EMPTY), np.zeros(0))
        return type(iter(empty) if binding.kind == "iter" else reversed(empty))
    return names.get(binding.kind) or (binding.kind if isinstance(binding.kind, type) else type(iter([])))


# ------------------------------------------------------------------ iteration


def begin(ctx: Lowering, binding: Binding, node: ast.AST) -> Binding:
    """The form of an iterable for its one consumer: a container, a recipe without a key, or a generator."""
    ctx.check_position(binding)
    binding = stepped(ctx, own_iterator(ctx, binding, node), node)
    if is_record(binding):
        assert isinstance(binding, Obj)
        return ctx.apply(Static(binding.key.cls.__iter__), [binding], {}, node)
    if not isinstance(binding, Iter) or binding.key is None:
        return binding
    use(ctx, binding.key)
    match binding:
        case Iter(kind="iter", parts=(inner,)):
            return begin(ctx, inner, node)
        case Iter(kind="enumerate", parts=(inner, start)):
            over = begin(ctx, inner, node)
            if isinstance(over, Generator):
                return ctx.apply(Static(iterating.numbered), [over, Num(start)], {}, node)
            return replace(binding, parts=(over, start), key=None)
        case Iter(kind="zip" | "zip_strict", parts=parts):
            return begin_zip(ctx, binding, parts, node)
        case Iter(kind="reversed", parts=(inner, _)):
            if is_iterator(inner):
                raise UnsupportedSyntax("an iterator cannot be reversed", ctx.loc(node), "make it a list")
            return replace(binding, key=None)
        case Iter(kind=itertools.zip_longest, parts=parts):
            return begin(ctx, longest(ctx, parts, node), node)
        case Iter(kind=itertools.islice, parts=(inner, Num(Const(0)), stop, Num(Const(1)))) if stop != Static(None):
            return ctx.apply(Static(iterating.first_of), [inner, stop], {}, node)
        case Iter(kind=itertools.product | itertools.combinations as kind, parts=(*pools, Static(before))):
            if any(now is not then for now, then in zip(held_now(ctx, pools), before, strict=True)):
                raise NeedsState(frozenset({binding.key.cls}))
            return ctx.apply(Static(TEXTS[kind]), pools, {}, node)
        case Iter(kind=kind, parts=parts) if kind in TEXTS:
            text = iterating.starmap if kind is map and len(parts) > 2 else TEXTS[kind]
            text = iterating.repeat_forever if endless(binding) and kind is itertools.repeat else text
            if kind is map and len(parts) > 2:
                parts = (parts[0], iterator(ctx, "zip", parts[1:], node))
            text = iterating.neighbours if kind is itertools.pairwise and is_iterator(parts[0]) else text
            return ctx.apply(Static(text), list(parts), {}, node)
    return replace(binding, key=None)


def held_now(ctx: Lowering, pools: list[Binding]) -> tuple[Any, ...]:
    """The contents of arrays and lists: ``itertools.product`` and ``combinations`` read them when they are called."""
    contents = [ctx.state.heap[pool.key] if isinstance(pool, Obj) else pool for pool in pools]
    return tuple(ctx.state.memory[held.location] if isinstance(held, Ref) else held for held in contents)


def sites_of(ctx: Lowering, binding: Binding, node: ast.AST) -> frozenset[Any]:
    """The locations whose iterables must get a position, so that the loop observes its body's changes of a list."""
    if isinstance(binding, Iter) and binding.key is not None:
        return frozenset({binding.key.cls})
    return frozenset({site_of(ctx, node)}) if isinstance(binding, Obj) and binding.key.kind == "list" else frozenset()


def with_position(ctx: Lowering, binding: Binding, node: ast.AST) -> Binding:
    """The iterable of a loop; for a list that the loop's body changes, an iterator with a position."""
    is_changed = isinstance(binding, Obj) and sites_of(ctx, binding, node) & ctx.stateful
    return record(ctx, binding, node) if is_changed else binding


def own_iterator(ctx: Lowering, binding: Binding, node: ast.AST) -> Binding:
    """The iterator that ``__iter__`` of the user's class returns, which may be an instance with ``__next__``."""
    binding = definite(ctx, binding, node)
    if (
        isinstance(binding, External)
        and isinstance(binding.value, list | dict)
        and isinstance(from_class(ctx, type(binding.value), "__iter__"), FunctionType)
    ):
        return definite(ctx, ctx.apply_method(binding, "__iter__", [], node), node)
    if not is_record(binding) and own_method(ctx, binding, "__iter__") is not None:
        result = definite(ctx, ctx.apply_method(binding, "__iter__", [], node), node)
        if isinstance(result, Num | Tup | Obj | Ref) and not is_iterator(result) and own_method(ctx, result, "__next__") is None:
            return definite(ctx, MISSING, node, TypeError, f"iter() returned non-iterator of type {class_name(ctx, result)!r}")
        return result
    binding = as_base(ctx, binding, "__iter__")
    if (word := never_iterable(ctx, binding)) is not None:
        return definite(ctx, MISSING, node, TypeError, f"{word!r} object is not iterable")
    return binding


def class_name(ctx: Lowering, binding: Num | Tup | Obj | Ref) -> str:
    """The name of the class of a number, an array, a tuple, a list, a dict or an instance."""
    if isinstance(binding, Ref):
        return "list" if isinstance(ctx.type_of(binding), List) else "numpy.ndarray"
    if isinstance(binding, Obj):
        return str(binding.key.cls.__name__) if binding.key.kind == "record" else binding.key.kind
    return "tuple" if isinstance(binding, Tup) else getattr(binding.operand.type, "kind", "numpy.ndarray")


def stepped(ctx: Lowering, binding: Binding, node: ast.AST) -> Binding:
    """A generator of the items of an instance with ``__next__``, or with ``__getitem__`` alone; every other binding unchanged."""
    if is_record(binding):
        return binding
    if own_method(ctx, binding, "__next__") is not None:
        return ctx.apply(Static(iterating.stepped), [binding], {}, node)
    if own_method(ctx, binding, "__iter__") is None and own_method(ctx, binding, "__getitem__") is not None:
        return ctx.apply(Static(iterating.by_places), [binding], {}, node)
    return binding


def never_iterable(ctx: Lowering, binding: Binding) -> str | None:
    """The class name of a binding that is certainly not iterable: a number, a function, an instance without ``__iter__``."""
    match binding:
        case Num(operand) if isinstance(operand.type, Scalar):
            return operand.type.kind
        case Fun():
            return "function"
        case Static(value) if all(from_class(ctx, type(value), word) is None for word in ("__iter__", "__getitem__")):
            name: str = type(value).__name__
            return name if value is None or isinstance(value, type | FunctionType | BuiltinFunctionType) else None
        case Obj(key) if key.kind == "record" and isinstance(key.cls, type) and not is_record(binding):
            if all(from_class(ctx, key.cls, word) is None for word in ("__iter__", "__getitem__")):
                return str(key.cls.__name__)
    return None


def runs(ctx: Lowering, binding: Binding) -> bool:
    """Whether iterating over this recipe runs user code, or can be resumed at one place only."""
    match binding:
        case Generator():
            return True
        case Iter(kind=kind, parts=parts) if binding.key is not None:
            return (
                kind in TEXTS
                and not endless(binding)
                or kind is itertools.zip_longest
                or any(runs(ctx, part) for part in parts if isinstance(part, Binding))
            )
    return False


def begin_zip(ctx: Lowering, whole: Iter, parts: tuple[Binding, ...], node: ast.AST) -> Binding:
    """Fuse counted loops; inline one generator with them; otherwise give each part a position."""
    parts = tuple(stepped(ctx, own_iterator(ctx, part, node), node) for part in parts)
    if len(parts) == 0:
        return Tup(())
    if not any(is_record(part) or runs(ctx, part) for part in parts):
        if not all(endless(part) for part in parts):
            return replace(
                whole, parts=tuple(mark_iterated(ctx, part) if endless(part) else begin(ctx, part, node) for part in parts), key=None
            )
    running = [k for k, part in enumerate(parts) if runs(ctx, part)]
    if whole.kind == "zip" and len(running) == 1 and not any(is_record(part) for part in parts):
        (k,) = running
        held = begin(ctx, parts[k], node)
        before, after = ([record(ctx, part, node) for part in some] for some in (parts[:k], parts[k + 1 :]))
        return begin(ctx, new_record(ctx, without_lookahead.ZippedAround, [Tup(tuple(before)), held, Tup(tuple(after))], node), node)
    return begin(ctx, zipped(ctx, parts, node, whole.kind == "zip_strict"), node)


def endless(part: Binding) -> bool:
    """Whether the binding is ``itertools.count``, or ``repeat`` without an end: its items are functions of their index."""
    return isinstance(part, Iter) and (part.kind is itertools.count or part.kind is itertools.repeat and part.parts[1] == Static(None))


def mark_iterated(ctx: Lowering, part: Binding) -> Binding:
    """A recipe, marked as iterated over."""
    assert isinstance(part, Iter)
    assert part.key is not None
    use(ctx, part.key)
    return replace(part, key=None)


def longest(ctx: Lowering, parts: tuple[Binding, ...], node: ast.AST) -> Obj:
    """``itertools.zip_longest`` of two, with a position."""
    tuples = new_record(ctx, stepping.ZippedLongest, [record(ctx, parts[0], node), record(ctx, parts[1], node), parts[2]], node)
    if not tells_all(ctx, tuples, node):
        raise UnsupportedSyntax("itertools.zip_longest needs iterables of known length", ctx.loc(node), "make it a list")
    return tuples


def zipped(ctx: Lowering, parts: tuple[Binding, ...], node: ast.AST, strict: bool = False) -> Obj:
    """``zip`` with a position."""
    if not parts:
        return new_record(ctx, stepping.Walk, [Tup(())], node)
    tuples = new_record(ctx, stepping.Single, [record(ctx, parts[0], node)], node)
    for k, part in enumerate(parts[1:], 2):
        others = "argument 1" if k == 2 else f"arguments 1-{k - 1}"
        words = [Static(f"zip() argument {k} is {what} than {others}") for what in ("shorter", "longer")] if strict else []
        tuples = new_record(
            ctx, without_lookahead.ZippedStrictly if strict else without_lookahead.Zipped, [tuples, record(ctx, part, node), *words], node
        )
    return tuples


# ------------------------------------------------------------------ records


def new_record(ctx: Lowering, cls: type, args: list[Binding], node: ast.AST) -> Obj:
    """An iterator with a position."""
    instance = ctx.new_object("record", (), cls)
    ctx.apply(Static(cls.__init__), [instance, *args], {}, node)  # type: ignore[misc]
    return instance


def record(ctx: Lowering, binding: Binding, node: ast.AST) -> Obj:
    """``iter`` of something as an object with a position."""
    binding = stepped(ctx, own_iterator(ctx, binding, node), node)
    if is_record(binding):
        assert isinstance(binding, Obj)
        return binding
    if isinstance(binding, Iter) and binding.key is not None:
        use(ctx, binding.key)
    match binding:
        case Generator():
            return new_record(ctx, without_lookahead.Running, [binding], node)
        case Iter(kind="iter", parts=(inner,)):
            return record(ctx, inner, node)
        case Iter(kind="range", parts=parts):
            return new_record(ctx, stepping.WalkOfRange, [Num(p) for p in parts], node)
        case Iter(kind="enumerate", parts=(inner, start)):
            return new_record(ctx, stepping.Enumerated, [record(ctx, inner, node), Num(start)], node)
        case Iter(kind="zip" | "zip_strict" as kind, parts=parts):
            return zipped(ctx, parts, node, kind == "zip_strict")
        case Iter(kind=itertools.zip_longest, parts=parts):
            return longest(ctx, parts, node)
        case Iter(kind="reversed", parts=(inner, _)):
            return backwards(ctx, inner, node)
        case Iter(kind="items", parts=parts):
            return new_record(ctx, stepping.Walk, [Tup(parts)], node)
        case Iter(kind=kind, parts=parts) if kind in TEXTS:
            return adapted(ctx, kind, list(parts), node)
        case View(owner=owner, keys=False):
            return new_record(ctx, stepping.WalkOfItems if binding.pairs else stepping.WalkOfValues, [Obj(owner)], node)
        case Static(str()) | Tup() | Ref():
            return new_record(ctx, stepping.Walk, [Tup(binding.items) if isinstance(binding, View) else binding], node)
        case Obj(key) if key.kind == "list":
            return new_record(ctx, stepping.Walk, [binding], node)
        case Obj(key) if key.kind == "dict" and not is_set(binding):
            ctx.check_keys(key, node)
            return new_record(ctx, stepping.Walk, [Tup(tuple(static_binding(k) for k, _ in ctx.state.entries(key)))], node)
        case Obj() if is_set(binding):
            return new_record(ctx, stepping.Walk, [Tup(tuple(static_binding(k) for k in in_order(ctx, binding, node)))], node)
        case Static(value) if isinstance(value, range | tuple):
            return new_record(ctx, stepping.Walk, [Tup(tuple(static_binding(v) for v in value))], node)
        case External(value) if isinstance(value, list | tuple | dict):
            return new_record(ctx, stepping.Walk, [ctx.apply(Static(tuple), [binding], {}, node)], node)
    raise UnsupportedSyntax("this iterator is used in several places", ctx.loc(node), "make it a list before iter")


@special(stepping.positioned)
def positioned(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """The iterable of a ``for`` statement in a generator that is suspended and resumed."""
    return record(ctx, args[0], node)


@special(stepping.tells)
def tells(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    return Num(Const(tells_all(ctx, args[0], node)))


def tells_all(ctx: Lowering, binding: Binding, node: ast.AST) -> bool:
    """Whether an iterator and those it reads have ``left`` and ``take``, which their classes decide."""
    if not is_record(binding):
        raise UnsupportedSyntax("this iterator is used in several places", ctx.loc(node), "make it a list")
    assert isinstance(binding, Obj)
    below = stepping.TELLING.get(binding.key.cls)
    content = dict(ctx.state.entries(binding.key))
    return below is not None and all(tells_all(ctx, content[name], node) for name in below)


def backwards(ctx: Lowering, inner: Binding, node: ast.AST) -> Obj:
    """``reversed``."""
    match inner:
        case Iter(kind="range", parts=(start, stop, step)):
            count = ctx.call("range_len", start, stop, step)
            last = ctx.call("add", start, ctx.call("multiply", ctx.call("subtract", count, ONE), step))
            before = ctx.call("subtract", start, step)
            return new_record(ctx, stepping.WalkOfRange, [Num(last), Num(before), Num(ctx.call("subtract", ZERO, step))], node)
        case Obj(key) if key.kind == "list":
            return new_record(ctx, stepping.Backwards, [inner], node)
        case Obj(key) if key.kind == "dict" and not is_set(inner):
            ctx.check_keys(key, node)
            return new_record(ctx, stepping.Walk, [Tup(tuple(static_binding(k) for k, _ in ctx.state.entries(key))[::-1])], node)
        case Tup() | Ref() if not isinstance(inner, View):
            return new_record(ctx, stepping.Backwards, [inner], node)
        case Static(str(text)):
            return new_record(ctx, stepping.Walk, [Static(text[::-1])], node)
    raise UnsupportedSyntax("this iterator is used in several places", ctx.loc(node), "make it a list")


def adapted(ctx: Lowering, kind: Any, parts: list[Binding], node: ast.AST) -> Obj:
    """An iterator over another one, with a position."""

    def new(cls: type, *args: Binding) -> Obj:
        return new_record(ctx, cls, list(args), node)

    def over(part: Binding) -> Binding:
        return record(ctx, part, node)

    true, false = Num(Const(True)), Num(Const(False))
    match kind, parts:
        case (_, [function, iterable]) if kind is map:
            return new(stepping.Mapped, function, over(iterable))
        case (_, [function, *iterables]) if kind is map:
            return new(stepping.Starred, function, zipped(ctx, tuple(iterables), node))
        case (_, [function, iterable]) if kind in (filter, itertools.filterfalse):
            return new(without_lookahead.Filtered, function, over(iterable), true if kind is filter else false)
        case itertools.starmap, [function, iterable]:
            return new(stepping.Starred, function, over(iterable))
        case itertools.takewhile, [predicate, iterable]:
            return new(without_lookahead.TakenWhile, predicate, over(iterable))
        case itertools.dropwhile, [predicate, iterable]:
            return new(without_lookahead.DroppedWhile, predicate, over(iterable))
        case itertools.accumulate, [iterable, function, initial]:
            return new(without_lookahead.Accumulated, over(iterable), function, initial)
        case itertools.islice, [iterable, Num(Const(0)), stop, Num(Const(1))] if stop != Static(None):
            return new(stepping.Limited, over(iterable), stop)
        case itertools.islice, [iterable, start, stop, step]:
            return new(without_lookahead.Sliced, over(iterable), start, stop, step)
        case itertools.compress, [pairs]:
            return new(without_lookahead.Compressed, over(pairs))
        case itertools.count, [start, step]:
            return new(stepping.Counting, start, step)
        case itertools.repeat, [item, times]:
            return new(stepping.Repeated, item, times)
        case itertools.pairwise, [iterable]:
            return new(without_lookahead.Pairwise, over(iterable))
        case itertools.product, [first, second, _]:
            return new(stepping.Product, first, second)
        case itertools.combinations, [items, _]:
            return new(stepping.Pairs, items)
        case (_, [function, sentinel]) if kind is iter:
            return new(without_lookahead.Called, function, sentinel)
        case (_, iterables) if kind is itertools.chain:
            return chained(ctx, iterables, node)
        case (_, [outer]) if kind == itertools.chain.from_iterable and (inner := held_by(ctx, outer)) is not None:
            return chained(ctx, inner, node)
    raise UnsupportedSyntax("this iterator is used in several places", ctx.loc(node), "make it a list")


def held_by(ctx: Lowering, binding: Binding) -> list[Binding] | None:
    """The items of a tuple or list of static structure."""
    if isinstance(binding, Tup):
        return list(binding.items)
    if not isinstance(binding, Obj) or binding.key.kind != "list":
        return None
    content = ctx.state.heap[binding.key]
    return None if isinstance(content, Ref) else [item for _, item in content]


def chained(ctx: Lowering, iterables: list[Binding], node: ast.AST) -> Obj:
    """``itertools.chain`` with a position."""
    if not iterables:
        return new_record(ctx, stepping.Walk, [Tup(())], node)
    chain = record(ctx, iterables[0], node)
    for other in iterables[1:]:
        chain = new_record(ctx, stepping.Chained, [chain, record(ctx, other, node)], node)
    return chain


__all__ = ["begin", "class_of_iterator", "held_now", "is_iterator", "is_record", "iterator", "new_record", "own_iterator", "record"]
__all__ += ["site_of", "sites_of", "use", "with_position"]
