"""The iterables of ``for``: ranges, arrays, lists, tuples, ``enumerate``, ``reversed``; the first of several items.

An iterable whose items differ in kind is a list of bindings. Every other iterable is ``Items``: the
bounds of a counter, and the item at a value of the counter.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from symgrad.errors import BadArgument, UnknownType, UnsupportedArgument, UnsupportedSyntax
from symgrad.frontend.containers.appending import append, discard
from symgrad.frontend.containers.generators import gathered
from symgrad.frontend.containers.stepping import begin
from symgrad.frontend.flow.absent import definite
from symgrad.frontend.flow.edges import fail_unless
from symgrad.frontend.flow.flow import branch
from symgrad.frontend.flow.sequences import FEW, sequence_of
from symgrad.frontend.objects.dicts import in_order, is_set
from symgrad.frontend.objects.operands import static_binding
from symgrad.frontend.objects.outside import check_reader, outside, rely_on_keys
from symgrad.frontend.objects.protocols import as_index
from symgrad.frontend.objects.python_values import answer, python_items
from symgrad.frontend.state.bindings import (
    MISSING,
    Binding,
    External,
    Generator,
    HeapKey,
    Iter,
    Num,
    Obj,
    Ref,
    Static,
    Step,
    Tup,
    View,
    is_range,
    python_class,
)
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.conversions import is_number_or_array
from symgrad.frontend.state.interruptions import NeedsState
from symgrad.frontend.state.members import is_enumeration
from symgrad.frontend.state.pinning import pinned_length
from symgrad.frontend.state.program_state import State, is_long
from symgrad.frontend.state.reach import parts_of
from symgrad.frontend.state.tables import special
from symgrad.ir.core import FALSE, ONE, ZERO, Const, Operand
from symgrad.ir.types import UNKNOWN, Array, List, Scalar, Unknown
from symgrad.kinds import passed_instead, row_of, what_of


@dataclass(frozen=True, slots=True)
class Items:
    """A counter's bounds, and the item at each of its values; ``counts``: the counter is the item."""

    bounds: tuple[Operand, Operand, Operand]
    item: Callable[[Operand], Binding]
    counts: bool = False


@dataclass(frozen=True, slots=True)
class Firsts:
    """The first of some items that are known one by one: ``count`` is their dynamic number, ``most`` the number of known items."""

    most: int
    count: Operand
    item: Callable[[int], Binding]


#: the longest loop that is written out where it cannot be lowered as a loop
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
    """The remaining items of an iterable; those of a generator are collected in a list."""
    outer, ctx.looped = ctx.looped, False
    try:
        items = every_item(ctx, binding, node)
    finally:
        ctx.looped = outer
    return items_of(ctx, list_of_firsts(ctx, binding, items, node), node) if isinstance(items, Firsts) else items


def every_item(ctx: Lowering, binding: Binding, node: ast.AST) -> list[Binding] | Items | Firsts:
    """The same; in a loop it may also be the first of some items, of a dynamic number."""
    binding = binding if is_range(binding) else begin(ctx, binding, node)
    if python_class(binding) is not None:
        return every_item(ctx, python_items(ctx, binding, node), node)
    match binding:
        case View() if not binding.is_current(ctx.state.heap):
            word = "items" if binding.pairs else "keys" if binding.keys else "values"
            return every_item(ctx, ctx.apply_method(Obj(binding.owner), word, [], node), node)
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
            return every_item(ctx, collected, node)
        case Iter(kind, parts) if kind in ITERATORS:
            return ITERATORS[kind](ctx, parts, node)
        case Num(operand) if isinstance(operand.type, Unknown) and not is_kept(ctx.state, operand):
            return every_item(ctx, read_at_once(ctx, binding), node)
    row = row_of(binding.value) if isinstance(binding, Static) else None
    if row is not None:
        name = getattr(binding, "name", None) or "x"
        raise BadArgument(what_of(row, name), ctx.loc(node), passed_instead(row, name))
    is_named = isinstance(binding, Num) and isinstance(binding.operand.type, Unknown)
    hint = "make it a list where it is created, with list" if is_named else "use range, an array, a list or a tuple"
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


def items_of_loop(ctx: Lowering, binding: Binding, node: ast.AST) -> list[Binding] | Items | Firsts:
    """The items of a loop's iterable; many items of one form become a list of any length, so that they need one loop body."""
    outer, ctx.looped = ctx.looped, True
    try:
        return every_item(ctx, binding, node)
    finally:
        ctx.looped = outer


def held_lists(ctx: Lowering, binding: Any) -> dict[HeapKey, Any]:
    """The lists and dicts that an iterator iterates over, each with the content that must not change meanwhile."""
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

    ``sites``: the locations that could give the iterable a position instead.
    """
    if isinstance(over, Obj) and over.key.kind == "list":
        content = ctx.state.heap[over.key]
        again: list[Any] | None = [b for _, b in content] if not isinstance(content, Ref) else None
        if again is None and not all(isinstance(x, Binding) for x in items):
            again = items
    elif isinstance(over, Iter) and over.kind in ("enumerate", "zip") and over.key is None and all(isinstance(x, Binding) for x in items):
        known = every_item(ctx, over, node)
        again = known if isinstance(known, list) else None
    else:
        return items
    if again is None and not sites <= ctx.stateful:
        raise NeedsState(sites)
    if again is None:
        what = "the length of a list becomes unknown while it is iterated over"
        raise UnsupportedSyntax(what, ctx.loc(node), "iterate over a copy of it")
    return again


def sequence(ctx: Lowering, binding: Binding, node: ast.AST) -> Binding:
    """A binding for a consumer that takes all items more than once: a generator becomes a list."""
    binding = begin(ctx, binding, node)
    if isinstance(binding, Iter) and binding.kind in ("enumerate", "zip", "zip_strict"):
        items = every_item(ctx, binding, node)
        return list_of_firsts(ctx, binding, items, node) if isinstance(items, Firsts) else binding
    if not isinstance(binding, Generator):
        return binding
    collected = ctx.new_object("list", ())
    gathered(ctx, binding, lambda value: discard(append(ctx, collected, value, node)), node, lazily=False)
    return collected


def firsts_now(ctx: Lowering, over: Binding, node: ast.AST) -> Firsts:
    """The first of some items at the begin of an iteration over them: the iteration before may have changed their containers."""
    items = items_of_loop(ctx, over, node)
    if not isinstance(items, Firsts):
        what = "the length of a list becomes unknown while it is iterated over"
        raise UnsupportedSyntax(what, ctx.loc(node), "iterate over a copy of it")
    return items


def each_of_firsts(ctx: Lowering, over: Binding, most: int, body: Callable[[Binding], None], node: ast.AST) -> None:
    """Lower ``body`` for each of the first of some items, of which there are at most ``most``."""

    def one(firsts: Firsts, place: int) -> Callable[[], None]:
        return lambda: body(firsts.item(place))

    for place in range(most):
        ctx.write_out(node)
        firsts = firsts_now(ctx, over, node)
        branch(ctx, ctx.call("less", Const(place), firsts.count), one(firsts, place), lambda: None, [], ctx.loc(node))


def list_of_firsts(ctx: Lowering, over: Binding, firsts: Firsts, node: ast.AST) -> Binding:
    """The first of some items as a list."""
    name = (ctx.frame, f"%firsts{next(ctx.builder.fresh)}")
    ctx.state.names[name] = ctx.new_object("list", ())
    each_of_firsts(ctx, over, firsts.most, lambda item: discard(append(ctx, ctx.state.names[name], item, node)), node)
    return ctx.state.names.pop(name)


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
        raise UnknownType("the type of the iterable is not known", ctx.loc(node))
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


def over_enumerate(ctx: Lowering, parts: tuple[Binding, Operand], node: ast.AST) -> list[Binding] | Items | Firsts:
    inner, start = every_item(ctx, parts[0], node), parts[1]
    first = start.value if isinstance(start, Const) else None

    def counter_at(place: int) -> Num:
        return Num(Const(first + place)) if first is not None else Num(ctx.call("add", start, Const(place)))

    if isinstance(inner, list):
        counters = [counter_at(k) for k in range(len(inner))]
        return [Tup((c, b)) for c, b in zip(counters, inner, strict=True)]
    if isinstance(inner, Firsts):
        item_at = inner.item
        return Firsts(inner.most, inner.count, lambda place: Tup((counter_at(place), item_at(place))))
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


def over_reversed(ctx: Lowering, parts: tuple[Binding, int | None], node: ast.AST) -> list[Binding] | Items:
    inner, length = items_of(ctx, parts[0], node), parts[1]
    if isinstance(inner, list):
        if length is not None and length != len(inner):
            what = "the length of a list has changed since reversed was called"
            raise UnsupportedSyntax(what, ctx.loc(node), "iterate over it at once")
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


#: lowers iteration over the iterators of each kind; ``zipping`` adds those of ``zip``
ITERATORS: dict[str, Callable[..., list[Binding] | Items | Firsts]] = {
    "range": over_range,
    "enumerate": over_enumerate,
    "reversed": over_reversed,
    "items": lambda ctx, parts, node: list(parts),
    "flat": lambda ctx, parts, node: of_memory(ctx, flattened(ctx, parts[0]), node),
}


@special(range)
def range_(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    parts = [ctx.read(a if is_number_or_array(a) else as_index(ctx, a, node), node) for a in args]
    words = [ast.unparse(arg) for arg in node.args] if isinstance(node, ast.Call) else []
    for k, part in enumerate(parts):
        if not (isinstance(part.type, Scalar) and part.type.kind in ("int", "bool") or isinstance(part.type, Unknown)):
            hint = f"write int({words[k]})" if len(words) == len(parts) else "make it an integer with int"
            raise UnsupportedArgument(f"range takes integers, not {part.type}", ctx.loc(node), hint)
    start, stop, step = {1: (ZERO, *parts, ONE), 2: (*parts, ONE), 3: tuple(parts)}[len(parts)]
    if not isinstance(step, Const) or step.value == 0:
        fail_unless(
            ctx, FALSE if isinstance(step, Const) else ctx.call("not_equal", step, ZERO), ValueError, "range() arg 3 must not be zero"
        )
    return Iter("range", (start, stop, step))


def elements(
    ctx: Lowering,
    nodes: list[ast.expr],
    generated: Callable[[Lowering, ast.GeneratorExp], Binding] | None = None,
    evaluate: Callable[[Lowering, ast.expr], Binding] = Lowering.evaluate,
) -> list[Binding]:
    """Elements of a display or arguments of a call, with stars expanded.

    ``generated`` lowers generator expressions that are consumed at once, ``evaluate`` all other
    expressions.
    """
    bindings: list[Binding] = []
    for node in nodes:
        if isinstance(node, ast.Starred):
            items = items_of(ctx, spread := ctx.evaluate(node.value), node)
            if not isinstance(items, list):
                if (indices := indices_of(items)) is None:
                    refusal = UnsupportedSyntax(
                        "a star needs an iterable of known length",
                        ctx.loc(node),
                        "name the items, as in x[0], x[1]; for zip(*pairs) write [p[0] for p in pairs]",
                    )
                    raise pinned_length(ctx, refusal, ctx.held(spread) if is_long(spread, ctx.state) else None)
                items = [items.item(Const(k)) for k in indices]
            bindings += items
        elif isinstance(node, ast.GeneratorExp) and generated is not None:
            bindings.append(generated(ctx, node))
        else:
            bindings.append(evaluate(ctx, node))
    return bindings
