"""The iterables of ``for``: ranges, arrays, lists, tuples, ``enumerate``, ``zip``, ``reversed``; and unpacking.

An iterable whose items differ in kind is a list of bindings. Every other iterable is ``Items``: the
bounds of a counter, and the item at a value of the counter.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from symgrad.errors import BadArgument, UnknownType, UnsupportedSyntax
from symgrad.frontend.absent import definite
from symgrad.frontend.bindings import (
    MISSING,
    Binding,
    External,
    Generator,
    HeapKey,
    Iter,
    Num,
    Obj,
    Ref,
    State,
    Static,
    Step,
    Tup,
    View,
    python_class,
)
from symgrad.frontend.context import Lowering
from symgrad.frontend.conversions import standing_for
from symgrad.frontend.dicts import in_order, is_set
from symgrad.frontend.exceptions import check_count, fail
from symgrad.frontend.flow import branch
from symgrad.frontend.generators import gathered
from symgrad.frontend.interruptions import NeedsState
from symgrad.frontend.members import is_enumeration
from symgrad.frontend.operands import static_binding
from symgrad.frontend.outside import check_reader, outside, rely_on_keys
from symgrad.frontend.pinning import pinned_extent
from symgrad.frontend.python_values import answer, python_items
from symgrad.frontend.reach import parts_of
from symgrad.frontend.sequences import FEW, item_value, see_within, sequence_of, shares, takes_over
from symgrad.frontend.stepping import begin
from symgrad.ir.core import ONE, ZERO, Const, Operand
from symgrad.ir.types import UNKNOWN, Array, List, Unknown
from symgrad.kinds import passed_instead, row_of, what_of


@dataclass(frozen=True, slots=True)
class Items:
    """A counter's bounds, and the item at each of its values; ``counts``: the counter is the item."""

    bounds: tuple[Operand, Operand, Operand]
    item: Callable[[Operand], Binding]
    counts: bool = False


#: the longest loop that is unrolled where it cannot be lowered as a loop
UNROLLED = 64


def indices_of(items: Items) -> range | None:
    """The values of the counter, if they are static and not too many."""
    bounds = [b.value for b in items.bounds if isinstance(b, Const) and type(b.value) is int]
    known = range(*bounds) if len(bounds) == 3 and bounds[2] else None
    return known if known is not None and len(known) <= UNROLLED else None


def known_items(ctx: Lowering, binding: Binding, node: ast.AST) -> list[Binding] | None:
    """The items one by one, if their number is static and there is a reason to unroll."""
    items = items_of(ctx, binding, node)
    if isinstance(items, list):
        return items
    indices = indices_of(items) if ctx.unroll or items.counts else None
    return None if indices is None else [items.item(Const(k)) for k in indices]


def items_of(ctx: Lowering, binding: Binding, node: ast.AST) -> list[Binding] | Items:
    """The items that an iteration over a binding still yields; those of a generator are collected in a list."""
    binding = begin(ctx, binding, node)
    if python_class(binding) is not None:
        return items_of(ctx, python_items(ctx, binding, node), node)
    match binding:
        case View() if not binding.is_current(ctx.state):
            word = "items" if binding.pairs else "keys" if binding.keys else "values"
            return items_of(ctx, ctx.apply_method(Obj(binding.owner), word, [], node), node)
        case Tup(items):
            return as_sequence(ctx, binding, list(items), node)
        case Obj(key) if key.kind == "list":
            content = ctx.state.heap[key]
            return of_memory(ctx, content, node) if isinstance(content, Ref) else as_sequence(ctx, binding, [b for _, b in content], node)
        case Obj() if is_set(binding):
            return [static_binding(k) for k in in_order(ctx, binding, node)]
        case Obj(key) if key.kind == "dict":
            ctx.check_keys(key, node)
            return [static_binding(k) for k, _ in ctx.state.entries(key)]
        case Ref():
            return of_memory(ctx, binding, node)
        case External(value, text):
            return external_items(ctx, value, text)
        case Static(value) if is_enumeration(value):
            return [Static(member, member.name) for member in value]
        case Static(value) if isinstance(value, str | range | tuple | frozenset | set):
            return [static_binding(v) for v in value]
        case Generator():
            collected = ctx.new_object("list", ())
            gathered(ctx, binding, lambda value: discard(append(ctx, collected, value, node)), node)
            return items_of(ctx, collected, node)
        case Iter(kind, parts) if kind in ITERATORS:
            return ITERATORS[kind](ctx, parts, node)
        case Num(operand) if isinstance(operand.type, Unknown) and not is_kept(ctx.state, operand):
            return items_of(ctx, read_at_once(ctx, binding), node)
    row = row_of(binding.value) if isinstance(binding, Static) else None
    if row is not None:
        name = getattr(binding, "name", None) or "x"
        raise BadArgument(what_of(row, name), ctx.loc(node), passed_instead(row, name))
    is_named = isinstance(binding, Num) and isinstance(binding.operand.type, Unknown)
    hint = "make it a list where it comes from, with list" if is_named else "use range, an array, a list or a tuple"
    raise UnsupportedSyntax("this cannot be iterated over", ctx.loc(node), hint)


def read_at_once(ctx: Lowering, binding: Binding) -> Binding:
    """A library object whose items are all read, as the list of its items; everything else unchanged."""
    if not isinstance(binding, Num) or not isinstance(binding.operand.type, Unknown):
        return binding
    return answer(ctx, list, [binding.operand], List(UNKNOWN))


def is_kept(state: State, operand: Operand) -> bool:
    """Whether a name or an object holds a value. It may be an iterator, which Python resumes where a loop has left it."""
    held: list[Any] = list(state.names.values())
    held += [part for content in state.heap.values() if not isinstance(content, Ref) for _, part in content]
    while held:
        one = held.pop()
        if isinstance(one, Num) and one.operand is operand:
            return True
        held += parts_of(one) if isinstance(one, Binding) else ()
    return False


def as_sequence(ctx: Lowering, binding: Binding, items: list[Binding], node: ast.AST) -> list[Binding] | Items:
    """Static items; in a loop over many items of one form, the items of a list of any length."""
    if not ctx.looped or len(items) <= FEW or not ctx.sequences:
        return items
    if isinstance(binding, Obj) and (binding.key in ctx.state.kin or binding.key in ctx.state.handles or binding.key in ctx.state.twins):
        return items
    content = sequence_of(ctx, items, node)
    if content is None:
        return items
    if isinstance(binding, Obj):
        ctx.state.heap[binding.key] = content
    return of_memory(ctx, content, node)


def items_of_loop(ctx: Lowering, binding: Binding, node: ast.AST) -> list[Binding] | Items:
    """The items of a loop's iterable: many of one form become a list of any length, so that the loop is not unrolled."""
    outer, ctx.looped = ctx.looped, True
    try:
        return items_of(ctx, binding, node)
    finally:
        ctx.looped = outer


def held_lists(ctx: Lowering, binding: Any) -> dict[HeapKey, Any]:
    """The lists and dicts through which an iteration runs, each with what must not change meanwhile."""
    match binding:
        case Obj(key) if key.kind in ("list", "dict"):
            return {key: shape_of_object(ctx, key)}
        case Iter(parts=parts):
            return {k: v for part in parts for k, v in held_lists(ctx, part).items()}
    return {}


def shape_of_object(ctx: Lowering, key: HeapKey) -> Any:
    """The keys of a dict; the items of a list."""
    content = ctx.state.heap[key]
    return [k for k, _ in content] if key.kind == "dict" and not isinstance(content, Ref) else content


def items_now(ctx: Lowering, over: Binding, items: list[Any], node: ast.AST, sites: frozenset[Any] = frozenset()) -> list[Any]:
    """The present items of a container of static structure: in Python, a loop observes its body's changes of a list.

    ``sites``: the places that could give the iterable a position instead.
    """
    if isinstance(over, Obj) and over.key.kind == "list":
        content = ctx.state.heap[over.key]
        again: list[Any] | None = [b for _, b in content] if not isinstance(content, Ref) else None
        if again is None and not all(isinstance(x, Binding) for x in items):
            again = items
    elif isinstance(over, Iter) and over.kind in ("enumerate", "zip") and over.key is None and all(isinstance(x, Binding) for x in items):
        known = items_of(ctx, over, node)
        again = known if isinstance(known, list) else None
    else:
        return items
    if again is None and not sites <= ctx.stateful:
        raise NeedsState(sites)
    if again is None:
        what = "a list becomes one of any length while it is iterated over"
        raise UnsupportedSyntax(what, ctx.loc(node), "iterate over a copy of it")
    return again


def sequence(ctx: Lowering, binding: Binding, node: ast.AST) -> Binding:
    """A binding for a consumer that takes all items more than once: a generator becomes a list."""
    binding = begin(ctx, binding, node)
    if not isinstance(binding, Generator):
        return binding
    collected = ctx.new_object("list", ())
    gathered(ctx, binding, lambda value: discard(append(ctx, collected, value, node)), node, lazily=False)
    return collected


def discard(binding: Binding) -> None:
    """Discards the result of a call with a side effect."""


def external_items(ctx: Lowering, value: object, text: str) -> list[Binding]:
    if isinstance(value, dict | list | tuple):
        check_reader(ctx, value)
        rely_on_keys(ctx, value, text)
    if isinstance(value, dict):
        return [static_binding(k) for k in value]
    if isinstance(value, list | tuple):
        return [outside(ctx, v, f"{text}[{k}]", f"item_{k}") for k, v in enumerate(value)]
    if isinstance(value, range):
        ctx.rely(text, value)
        return [static_binding(k) for k in value]
    raise UnsupportedSyntax(f"a {type(value).__name__} cannot be iterated over", ctx.builder.loc, "make it a list where it is defined")


def of_memory(ctx: Lowering, ref: Ref, node: ast.AST) -> Items:
    """The rows of an array, or the items of a list of any length."""
    type_ = ctx.type_of(ref)
    if isinstance(type_, List):
        return Items((ZERO, ctx.call("list_len", ctx.held(ref)), ONE), lambda index: list_item(ctx, ref, index))
    if not isinstance(type_, Array) or type_.shape is None:
        raise UnknownType("the type of what is iterated over is not known", ctx.loc(node))
    if not type_.shape:
        definite(ctx, MISSING, node, TypeError, "iteration over a 0-d array")
    extent = type_.shape[0]
    stop = Const(extent) if isinstance(extent, int) else ctx.call("extent", ctx.read(ref), axis=0)
    return Items((ZERO, stop, ONE), lambda index: element(ctx, ref, index))


def element(ctx: Lowering, ref: Ref, index: Operand) -> Binding:
    """``ref[index]``: a view of a row, or a number."""
    type_ = ctx.type_of(ref)
    if isinstance(type_, Array) and type_.shape is not None and len(type_.shape) > 1:
        return Ref(ref.location, (*ref.path, Step("i", (index,))))
    return Num(ctx.call("take", ctx.read(ref), index, index="i"))


def list_item(ctx: Lowering, ref: Ref, index: Operand) -> Binding:
    """One item of a list of any length; an array in it shares the list's memory."""
    return ctx.item_at(ref, index)


def over_range(ctx: Lowering, parts: tuple[Operand, ...], node: ast.AST) -> Items:
    start, stop, step = parts
    return Items((start, stop, step), Num, True)


def over_enumerate(ctx: Lowering, parts: tuple[Binding, Operand], node: ast.AST) -> list[Binding] | Items:
    inner, start = items_of(ctx, parts[0], node), parts[1]
    first = start.value if isinstance(start, Const) else None
    if isinstance(inner, list):
        counters = [Num(Const(first + k)) if first is not None else Num(ctx.call("add", start, Const(k))) for k in range(len(inner))]
        return [Tup((c, b)) for c, b in zip(counters, inner, strict=True)]
    inner = plain(ctx, inner)

    def item(index: Operand) -> Binding:
        counter = Num(index) if first == 0 else Num(ctx.call("add", index, start))
        return Tup((counter, inner.item(index)))

    return Items(inner.bounds, item)


def plain(ctx: Lowering, items: Items) -> Items:
    """The same items counted from 0 in steps of 1."""
    start, stop, step = items.bounds
    if isinstance(start, Const) and start.value == 0 and isinstance(step, Const) and step.value == 1:
        return items
    count = ctx.call("range_len", start, stop, step)

    def item(index: Operand) -> Binding:
        scaled = index if isinstance(step, Const) and step.value == 1 else ctx.call("multiply", index, step)
        return items.item(ctx.call("add", scaled, start))

    return Items((ZERO, count, ONE), item)


def without_end(ctx: Lowering, part: Binding, node: ast.AST) -> Callable[[Operand], Binding] | None:
    """The item of ``itertools.count`` or ``itertools.repeat`` at an index; None for a finite iterable."""
    match part:
        case Iter(kind=itertools.repeat, parts=(item, Static(value=None))):
            return lambda index: item
        case Iter(kind=itertools.count, parts=(first, by)):
            start, step = ctx.read(first, node), ctx.read(by, node)
            return lambda index: Num(ctx.call("add", start, ctx.call("multiply", index, step)))
    return None


def over_zip(ctx: Lowering, parts: tuple[Binding, ...], node: ast.AST) -> list[Binding] | Items:
    endless = [without_end(ctx, p, node) for p in parts]
    if any(endless) and not all(endless):
        finite = over_zip(ctx, tuple(p for p, item in zip(parts, endless, strict=True) if item is None), node)

        def woven(items: Binding, index: Operand) -> Binding:
            others = iter(items.items if isinstance(items, Tup) else ())
            return Tup(tuple(next(others) if item is None else item(index) for item in endless))

        if isinstance(finite, list):
            return [woven(items, Const(k)) for k, items in enumerate(finite)]
        return Items(finite.bounds, lambda index: woven(finite.item(index), index))
    inner = [items_of(ctx, p, node) for p in parts]
    if any(isinstance(i, Items) and not has_known_length(ctx, i) for i in inner):
        inner = [as_value(ctx, part, i, node) for part, i in zip(parts, inner, strict=True)]
    if any(isinstance(i, list) for i in inner):
        shortest = min(len(i) for i in inner if isinstance(i, list))
        known = [i if isinstance(i, list) else first_items(ctx, i, shortest, node) for i in inner]
        return [Tup(tuple(items)) for items in zip(*known, strict=False)]
    counters = [plain(ctx, i) for i in inner if isinstance(i, Items)]
    stops = [c.bounds[1] for c in counters]
    stop = stops[0]
    for other in stops[1:]:
        if isinstance(stop, Const) and isinstance(other, Const):
            stop = Const(min(stop.value, other.value))
        elif other is not stop and ctx.builder.extent_of(other) != ctx.builder.extent_of(stop):
            stop = ctx.call("minimum", stop, other, via="math")
    return Items((ZERO, stop, ONE), lambda index: Tup(tuple(c.item(index) for c in counters)))


def has_known_length(ctx: Lowering, items: Items) -> bool:
    return isinstance(ctx.builder.extent_of(items.bounds[1]), int)


def as_value(ctx: Lowering, part: Binding, items: list[Binding] | Items, node: ast.AST) -> list[Binding] | Items:
    """The items of a tuple or list of numbers, to be indexed in a loop."""
    if not isinstance(items, list) or not items or not all(isinstance(item, Num) for item in items):
        return items
    types = {item.operand.type for item in items if isinstance(item, Num)}
    if len(types) > 1 or not isinstance(part, Tup | Obj) or isinstance(part, View):
        return items
    if isinstance(part, Tup):
        return of_memory(ctx, held_in_memory(ctx, ctx.list_of(items, node)), node)
    ctx.state.heap[part.key] = held_in_memory(ctx, ctx.read(part, node))
    return items_of(ctx, part, node)


def held_in_memory(ctx: Lowering, value: Operand) -> Ref:
    ref = ctx.make(value)
    assert isinstance(ref, Ref)
    return ref


def over_strict_zip(ctx: Lowering, parts: tuple[Binding, ...], node: ast.AST) -> list[Binding] | Items:
    """``zip(..., strict=True)``: the lengths are compared before the first iteration."""
    lengths_compared(ctx, parts, node)()
    return over_zip(ctx, parts, node)


def lengths_compared(ctx: Lowering, parts: tuple[Binding, ...], node: ast.AST) -> Callable[[], None]:
    """Return a check that raises if some iterables have different lengths, as they are now."""
    inner = [items_of(ctx, p, node) for p in parts]
    stops = [Const(len(i)) if isinstance(i, list) else plain(ctx, i).bounds[1] for i in inner]

    def check() -> None:
        for k, other in enumerate(stops[1:]):
            if other is not stops[0] and ctx.builder.extent_of(other) != ctx.builder.extent_of(stops[0]):
                said = f"zip() argument {k + 2} is shorter or longer than argument 1"
                check_count(ctx, other, stops[0], said)

    return check


def first_items(ctx: Lowering, items: Items, count: int, node: ast.AST) -> list[Binding]:
    """The first few items of an iterable of dynamic length, which must have that many."""
    start, stop, step = items.bounds
    extent = ctx.builder.extent_of(stop)
    if not (isinstance(extent, int) and isinstance(start, Const) and isinstance(step, Const)):
        what = "a tuple or list beside an array in zip needs a length that is known"
        way = "unpack the array first, as in a, b = x, or make the other one an array"
        raise pinned_extent(ctx, UnsupportedSyntax(what, ctx.loc(node), way), extent)
    return [items.item(Const(k)) for k in range(start.value, extent, step.value)][:count]


def over_reversed(ctx: Lowering, parts: tuple[Binding, int | None], node: ast.AST) -> list[Binding] | Items:
    inner, length = items_of(ctx, parts[0], node), parts[1]
    if isinstance(inner, list):
        if length is not None and length != len(inner):
            what = "a list has changed in length since its items were asked for in reverse"
            raise UnsupportedSyntax(what, ctx.loc(node), "go over it at once")
        return inner[::-1]
    counters = plain(ctx, inner)
    last = ctx.call("subtract", counters.bounds[1], ONE)
    return Items((last, Const(-1), Const(-1)), counters.item, inner.counts and counters is inner)


def flattened(ctx: Lowering, ref: Ref) -> Ref:
    """The elements of an array, in row-major order, as a read-only vector."""
    vector = ctx.make(ctx.call("reshape", ctx.read(ref), Const(-1)))
    assert isinstance(vector, Ref)
    ctx.state.pair(vector.location, ref.location)
    return vector


ITERATORS: dict[str, Callable[..., list[Binding] | Items]] = {
    "range": over_range,
    "enumerate": over_enumerate,
    "zip": over_zip,
    "zip_strict": over_strict_zip,
    "reversed": over_reversed,
    "items": lambda ctx, parts, node: list(parts),
    "flat": lambda ctx, parts, node: of_memory(ctx, flattened(ctx, parts[0]), node),
}


# ------------------------------------------------------------------ unpacking and appending


def unpack(ctx: Lowering, binding: Binding, targets: list[ast.expr], node: ast.AST) -> list[Binding]:
    """Split a value over the targets of an assignment."""
    binding = read_at_once(ctx, binding)
    star = next((k for k, t in enumerate(targets) if isinstance(t, ast.Starred)), None)
    binding = sequence(ctx, binding, node)
    items = items_of(ctx, binding, node)
    if star is not None and isinstance(items, Items) and not isinstance(binding, Obj):
        binding = ctx.apply(Static(list), [binding], {}, node)
        items = items_of(ctx, binding, node)
    if star is not None and isinstance(items, Items) and isinstance(binding, Obj):
        return unpack_list(ctx, binding, items, star, len(targets) - star - 1, node)
    if not isinstance(items, list):
        items = unpack_memory(ctx, items, len(targets), node)
    if star is None:
        if len(items) != len(targets):
            word, held = ("not enough", f", got {len(items)}") if len(items) < len(targets) else ("too many", "")
            fail(ctx, ValueError, f"{word} values to unpack (expected {len(targets)}{held})")
        return items
    after = len(targets) - star - 1
    if len(items) < len(targets) - 1:
        fail(ctx, ValueError, f"not enough values to unpack (expected at least {len(targets) - 1}, got {len(items)})")
    middle = ctx.new_object("list", enumerate(items[star : len(items) - after]))
    return [*items[:star], middle, *items[len(items) - after :]]


def unpack_list(ctx: Lowering, binding: Obj, items: Items, first: int, last: int, node: ast.AST) -> list[Binding]:
    """The first and the last items of a list of any length, and a list of those between them."""

    what = f"not enough values to unpack (expected at least {first + last})"

    def too_few() -> None:
        fail(ctx, ValueError, what)

    count = items.bounds[1]
    branch(ctx, ctx.call("less", count, Const(first + last)), too_few, lambda: None, [], ctx.loc(node))
    rest = standing_for(ctx.call("list_slice", ctx.read(binding), Const(first), Const(-last if last else None), Const(None)), list)
    ends = [items.item(ctx.call("subtract", count, Const(last - k))) for k in range(last)]
    return [*(items.item(Const(k)) for k in range(first)), ctx.list_sharing(rest, binding), *ends]


def unpack_memory(ctx: Lowering, items: Items, count: int, node: ast.AST) -> list[Binding]:
    items = plain(ctx, items)
    extent = ctx.builder.extent_of(items.bounds[1])
    if isinstance(extent, int):
        return [items.item(Const(k)) for k in range(extent)]
    if items.counts:
        raise UnsupportedSyntax("a range cannot be unpacked", ctx.loc(node))
    check_count(ctx, items.bounds[1], Const(count), f"too many or too few values to unpack (expected {count})")
    return [items.item(Const(k)) for k in range(count)]


def append(ctx: Lowering, owner: Binding, value: Binding, node: ast.AST) -> Binding:
    """``owner.append(value)``; an array appended to a list of any length shares memory with it from then on."""
    assert isinstance(owner, Obj)
    content = ctx.state.heap[owner.key]
    ctx.check_still(owner.key)
    if isinstance(content, Ref):
        owns = takes_over(ctx, content, value)
        place = ctx.call("list_len", ctx.held(content)) if owns else ZERO
        version = ctx.call("list_append", ctx.to_change(content, owns), item_value(ctx, value, node))
        before = ctx.state.memory[content.location]
        ctx.replace_list(content, version, owns)
        if owns:
            ctx.extend_links(content.location, before, ctx.state.memory[content.location])
            see_within(ctx, content, value, place)
        shares(ctx, value, content)
    else:
        ctx.change(owner.key, tuple(enumerate([*(b for _, b in content), value])))
    shorten(ctx, owner)
    return owner


def shorten(ctx: Lowering, owner: Obj, keeps_first: bool = False) -> None:
    """Drop surplus items at the other end of a deque with ``maxlen``."""
    if (most := longest(owner)) is None:
        return
    content = ctx.state.heap[owner.key]
    ends = (0, most) if keeps_first or not most else (-most, None)
    if isinstance(content, Ref):
        ctx.replace_list(content, ctx.call("list_slice", ctx.read(content), Const(ends[0]), Const(ends[1]), Const(None)))
    else:
        ctx.change(owner.key, tuple(enumerate([b for _, b in content][slice(*ends)])))


def longest(owner: Obj) -> int | None:
    """The ``maxlen`` of a deque."""
    return owner.key.cls[1] if isinstance(owner.key.cls, tuple) else None
