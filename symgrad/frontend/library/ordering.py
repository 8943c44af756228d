"""``max``, ``min`` and ``sorted``: of numbers in the program, of tuples item by item, and folded where all is static."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from typing import Any

from symgrad.errors import UnsupportedArgument, UnsupportedSyntax
from symgrad.frontend.calls.rows import apply_row
from symgrad.frontend.containers.appending import append
from symgrad.frontend.containers.generators import gathered
from symgrad.frontend.containers.iterables import items_of, known_items, sequence
from symgrad.frontend.containers.stepping import begin
from symgrad.frontend.flow.absent import definite
from symgrad.frontend.flow.flow import choose
from symgrad.frontend.library.builtins import len_, list_
from symgrad.frontend.library.folding import check_vector
from symgrad.frontend.memory.exception_texts import of_some, text_of_extreme
from symgrad.frontend.objects.dicts import elements_of, is_set
from symgrad.frontend.objects.operands import known_value, static_binding
from symgrad.frontend.objects.protocols import class_of
from symgrad.frontend.objects.python_values import set_from_outside
from symgrad.frontend.state.bindings import MISSING, Binding, Generator, Iter, Num, Obj, Ref, Static, Tup
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.program_state import held_items
from symgrad.frontend.state.tables import special
from symgrad.frontend.values.comparison import comparison
from symgrad.frontend.values.operators import binary
from symgrad.frontend.values.sorting import comparing, first_in_order, keys_of_items, listed_in_order, lists_of_growing
from symgrad.frontend.values.truths import truth
from symgrad.ir.core import ZERO, Const, Operand
from symgrad.ir.types import Array, List, Scalar, Type
from symgrad.ops.composed.bisecting import ordered_by_comparison
from symgrad.ops.composed.sequences import (
    largest,
    largest_item,
    least_of,
    most_of,
    ordered_by,
    ordered_of,
    smallest,
    smallest_item,
    sorted_items,
    sorted_numbers,
)
from symgrad.ops.composed.sequences import sorted_ as ordered
from symgrad.ops.composed.sorting import keys_by

Args = list[Binding]
Kwargs = dict[str, Binding]


def extreme(ctx: Lowering, args: Args, node: ast.AST, smaller: bool) -> Binding:
    """``max`` and ``min`` of several arguments or of the items of one."""
    if len(args) == 1:
        if isinstance(args[0], Ref) and isinstance(ctx.type_of(args[0]), Array):
            return of_vector(ctx, args[0], node, smaller)
        items = items_of(ctx, args[0], node)
        if not isinstance(items, list) and (first := first_in_order(ctx, args[0], None, smaller, node)) is not None:
            return first
        if not isinstance(items, list):
            whole = ctx.read(args[0], node)
            if is_of_pythons_numbers(whole.type):
                with of_some(ctx, lambda: length_of(ctx, args[0], node), smaller):
                    return ctx.apply(Static(smallest_item if smaller else largest_item), [ctx.list_sharing(whole)], {}, node)
            return of_vector(ctx, ctx.make(ctx.array_of(whole, None)), node, smaller)
        if not items:
            return definite(ctx, MISSING, node, ValueError, text_of_extreme(smaller))
        args = items

    return best_of(ctx, [(a, a) for a in args], node, smaller)


def length_of(ctx: Lowering, items: Binding, node: ast.AST) -> Operand:
    return ctx.read(len_(ctx, [items], {}, node))


def is_of_pythons_numbers(type_: Type) -> bool:
    """Whether the type is a list of numbers, some of which may be Python's."""
    return isinstance(type_, List) and isinstance(type_.item, Scalar) and type_.item.dtype in (None, "any")


def of_vector(ctx: Lowering, vector: Binding, node: ast.AST, smaller: bool) -> Binding:
    """``max`` and ``min`` of the numbers in an array; of rows, Python raises."""
    type_ = ctx.type_of(vector)
    if isinstance(type_, Array) and type_.shape == ():
        definite(ctx, MISSING, node, TypeError, "iteration over a 0-d array")
    if isinstance(type_, Array) and type_.shape is not None and len(type_.shape) > 1:
        raise UnsupportedSyntax("rows of an array have no largest or smallest one", ctx.loc(node), "use np.max or np.min")
    with of_some(ctx, lambda: length_of(ctx, vector, node), smaller):
        if getattr(type_, "kind", None) in ("int", "bool"):
            return apply_row(ctx, "min" if smaller else "max", [vector], {"axis": None, "keepdims": False}, node)
        return ctx.apply(Static(smallest if smaller else largest), [vector], {}, node)


def best_of(ctx: Lowering, candidates: list[tuple[Binding, Binding]], node: ast.AST, smaller: bool) -> Binding:
    """The item whose key is the largest or smallest; of equals the first. The candidates are pairs of key and item."""

    def better(a: tuple[Binding, Binding], b: tuple[Binding, Binding]) -> tuple[Binding, Binding]:
        op = ast.Lt() if smaller else ast.Gt()
        test = truth(ctx, comparison(ctx, op, b[0], a[0], node), node)
        if isinstance(test, Const):
            return b if test.value else a
        if a[0] is a[1] and b[0] is b[1]:
            chosen = choose(ctx, test, node, lambda: b[0], lambda: a[0])
            return chosen, chosen
        chosen = choose(ctx, test, node, lambda: Tup(b), lambda: Tup(a))
        assert isinstance(chosen, Tup)
        key, item = chosen.items
        return key, item

    return functools.reduce(better, candidates)[1]


def extreme_of(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST, smaller: bool) -> Binding:
    """``max`` and ``min`` with ``key`` and ``default``."""
    if unknown := set(kwargs) - {"key", "default"}:
        raise UnsupportedArgument(f"the keyword {min(unknown)} of max and min is not supported", ctx.loc(node), f"leave {min(unknown)} out")
    key = kwargs.get("key", Static(None))
    if len(args) == 1 and "default" not in kwargs and (lists := lists_of_growing(ctx, args[0], key, node)) is not None:
        with of_some(ctx, lambda: length_of(ctx, lists[0], node), smaller):
            return ctx.apply(Static(least_of if smaller else most_of), list(lists), {}, node)
    if len(args) == 1 and not kwargs and (held := keys_of_items(ctx, args[0], node)) is not None:
        return by_keys(ctx, sequence(ctx, args[0], node), held, node, smaller)
    args = [begin(ctx, args[0], node)] if len(args) == 1 else args
    default = kwargs.get("default")
    if key != Static(None) and isinstance(args[0], Generator):
        return extreme_of_generator(ctx, args[0], key, default, node, smaller)
    args = [sequence(ctx, args[0], node)] if len(args) == 1 else args
    if default is None:
        return extreme_by(ctx, args, key, node, smaller)
    whole = args[0] if isinstance(args[0], Ref) else list_(ctx, args, {}, node)
    return unless_empty(ctx, whole, default, lambda: extreme_by(ctx, [whole] if key != Static(None) else args, key, node, smaller), node)


def unless_empty(ctx: Lowering, items: Binding, default: Binding, use: Callable[[], Binding], node: ast.AST) -> Binding:
    """The result of ``use`` if there are items, else the default."""
    test = truth(ctx, len_(ctx, [items], {}, node), node)
    if isinstance(test, Const):
        return use() if test.value else default
    return choose(ctx, ctx.call("greater", test, ZERO), node, use, lambda: default)


def extreme_by(ctx: Lowering, args: Args, key: Binding, node: ast.AST, smaller: bool) -> Binding:
    """``max`` and ``min`` of several arguments or of the items of one, by a key or without one."""
    if key == Static(None):
        return extreme(ctx, args, node, smaller)
    whole = args[0] if len(args) == 1 else Tup(tuple(args))
    items = known_items(ctx, whole, node)
    keys = [ctx.apply(key, [item], {}, node) for item in items or ()]
    if items and (any(isinstance(k, Tup) for k in keys) or not all(isinstance(x, Num | Ref) for x in items)):
        return best_of(ctx, list(zip(keys, items, strict=True)), node, smaller)
    if items:
        return ctx.apply(Static(least_of if smaller else most_of), [Tup(tuple(items)), Tup(tuple(keys))], {}, node)
    return by_keys(ctx, whole, ctx.apply(Static(keys_by), [whole, key], {}, node), node, smaller)


def extreme_of_generator(ctx: Lowering, held: Generator, key: Binding, default: Binding | None, node: ast.AST, smaller: bool) -> Binding:
    """``max`` and ``min`` by a key, which is evaluated for each item in turn."""
    items, keys = ctx.new_object("list", ()), ctx.new_object("list", ())

    def keep(item: Binding) -> None:
        append(ctx, items, item, node)
        append(ctx, keys, ctx.apply(key, [item], {}, node), node)

    def best() -> Binding:
        known, known_keys = known_items(ctx, items, node), known_items(ctx, keys, node)
        if known and known_keys and any(isinstance(k, Tup) for k in known_keys):
            return best_of(ctx, list(zip(known_keys, known, strict=True)), node, smaller)
        return by_keys(ctx, items, keys, node, smaller)

    gathered(ctx, held, keep, node, lazily=False)
    return best() if default is None else unless_empty(ctx, items, default, best, node)


def by_keys(ctx: Lowering, items: Binding, keys: Binding, node: ast.AST, smaller: bool) -> Binding:
    """The item whose key is the largest or smallest, for two lists of any length."""
    with of_some(ctx, lambda: length_of(ctx, items, node), smaller):
        first = first_in_order(ctx, items, keys, smaller, node)
        return ctx.apply(Static(least_of if smaller else most_of), [items, keys], {}, node) if first is None else first


@special(max)
def max_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    return extreme_of(ctx, args, kwargs, node, smaller=False)


@special(min)
def min_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    return extreme_of(ctx, args, kwargs, node, smaller=True)


@special(sorted)
def sorted_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """Static items are sorted at compile time; all others by their numbers, or by those of the key."""
    key, backwards = kwargs.get("key", Static(None)), kwargs.get("reverse", Num(Const(False)))
    if (lists := lists_of_growing(ctx, args[0], key, node)) is not None:
        return ctx.apply(Static(ordered_of), [*lists, backwards], {}, node)
    args = [set_from_outside(ctx, args[0], node), *args[1:]]
    keys_held = keys_of_items(ctx, args[0], node) if key == Static(None) else None
    if is_set(args[0]):
        args = [Tup(tuple(static_binding(k) for k in elements_of(ctx, args[0])))]
    args = [sequence(ctx, args[0], node), *args[1:]]
    if isinstance(args[0], Ref) and key == Static(None) and isinstance(ctx.type_of(args[0]), Array):
        check_vector(ctx, args[0], node)
    items = None if set(kwargs) - {"key", "reverse"} else known_items(ctx, args[0], node)
    if (items is None or len(items) > OBJECTS) and (compare := comparing(ctx, key, node)) is not None:
        return ctx.apply(Static(ordered_by_comparison), [args[0], compare, backwards], {}, node)
    if items is None and not set(kwargs) - {"key", "reverse"}:
        keys_held = ctx.apply(Static(keys_by), [args[0], key], {}, node) if key != Static(None) else keys_held
        if (ordered_list := listed_in_order(ctx, args[0], keys_held, backwards, node)) is not None:
            return ordered_list
        if keys_held is not None:
            return ctx.apply(Static(ordered_of), [args[0], keys_held, backwards], {}, node)
    if items is None and key == Static(None) and is_of_several(ctx, args[0]):
        what = "tuples can be sorted only if their number is known"
        raise UnsupportedSyntax(what, ctx.loc(node), "use np.lexsort on arrays")
    if items is not None:
        keys = items if key == Static(None) else [ctx.apply(key, [item], {}, node) for item in items]
        if known_value(backwards) and (order := known_order(keys, bool(known_value(backwards)[0]))) is not None:
            return ctx.new_object("list", enumerate(items[k] for k in order))
        if any(isinstance(k, Ref) and isinstance(ctx.type_of(k), Array) for k in keys):
            raise UnsupportedSyntax("arrays have no order", ctx.loc(node), "sort by a number computed from each")
        if not all(map(is_of_numbers, items)) or any(class_of(k) is not None for k in keys):
            return sorted_objects(ctx, items, keys, backwards, node)
        if any(isinstance(k, Tup | Obj) for k in keys):
            return sorted_by_several(ctx, items, keys, bool(known_value(backwards)[0]), node)
        if key != Static(None):
            return ctx.apply(Static(ordered_of), [Tup(tuple(items)), Tup(tuple(keys)), backwards], {}, node)
    if key == Static(None) and set(kwargs) <= {"key", "reverse"}:
        whole = ctx.read(args[0], node)
        if isinstance(whole.type, List) and is_of_pythons_numbers(whole.type):
            held, item = ctx.list_sharing(whole), whole.type.item
            alike = whole not in ctx.mixed.values and isinstance(item, Scalar) and item.dtype is None
            return ctx.apply(Static(sorted_numbers if alike else sorted_items), [held, backwards], {}, node)
    return ctx.apply(Static(ordered), args, kwargs, node)


#: the most objects that are sorted by pairwise comparison
OBJECTS = 8


def is_of_numbers(binding: Binding) -> bool:
    """Whether the binding is a number or an array, or a tuple of these."""
    return isinstance(binding, Num | Ref) or type(binding) is Tup and binding.kind is None and all(map(is_of_numbers, binding.items))


def sorted_objects(ctx: Lowering, items: list[Binding], keys: list[Binding], backwards: Binding, node: ast.AST) -> Binding:
    """``sorted`` of lists, dicts, instances or texts: insertion sort by comparisons in the program."""
    known = known_value(backwards)
    if len(items) > OBJECTS or not known:
        raise UnsupportedSyntax(f"more than {OBJECTS} objects are sorted", ctx.loc(node), "sort their numbers with np.argsort")
    pairs = [Tup((key, item)) for key, item in zip(keys, items, strict=True)]
    for last in range(1, len(pairs)):
        for k in range(last, 0, -1):
            pairs[k - 1 : k + 1] = in_order(ctx, pairs[k - 1], pairs[k], bool(known[0]), node)
    return ctx.new_object("list", enumerate(pair.items[1] for pair in pairs))


def in_order(ctx: Lowering, one: Tup, two: Tup, backwards: bool, node: ast.AST) -> tuple[Tup, Tup]:
    """Two pairs of key and item, sorted by their keys; pairs of equal keys keep their order."""
    keys = (one.items[0], two.items[0]) if backwards else (two.items[0], one.items[0])
    test = truth(ctx, comparison(ctx, ast.Lt(), *keys, node), node)
    if isinstance(test, Const):
        return (two, one) if test.value else (one, two)
    pair = choose(ctx, test, node, lambda: Tup((two, one)), lambda: Tup((one, two)))
    assert isinstance(pair, Tup)
    first, second = pair.items
    if not isinstance(first, Tup) or not isinstance(second, Tup):
        raise UnsupportedSyntax("the items to sort are of several kinds", ctx.loc(node), "convert them to one class")
    return first, second


def is_of_several(ctx: Lowering, binding: Binding) -> bool:
    """Whether the items of an iterable are tuples or lists."""
    if isinstance(binding, Iter):
        return binding.kind in ("zip", "enumerate", "zip_strict")
    if isinstance(binding, Obj):
        content = ctx.state.heap[binding.key]
        type_ = ctx.type_of(content) if isinstance(content, Ref) else None
        return isinstance(type_, List) and isinstance(type_.item, List | Array)
    return False


def known_order(keys: list[Binding], backwards: bool) -> list[int] | None:
    """The order of static keys, or of tuples that begin with static items, all different."""
    known = [constants_of(key) for key in keys]
    if not all(held and whole for held, whole in known):
        firsts = [held[:1] for held, _ in known]
        if not all(firsts) or len({value for (value,) in firsts}) < len(keys):
            return None
        known = [(first, True) for first in firsts]
    values = [held[0] if len(held) == 1 and not isinstance(key, Tup) else held for (held, _), key in zip(known, keys, strict=True)]
    try:
        return sorted(range(len(keys)), key=lambda k: values[k], reverse=backwards)
    except TypeError:
        return None


def constants_of(key: Binding) -> tuple[list[Any], bool]:
    """The static items at the beginning of a key, and whether these are all."""
    if not isinstance(key, Tup):
        return known_value(key), True
    held: list[Any] = []
    for item in key.items:
        if not (value := known_value(item)):
            return held, False
        held += value
    return held, True


def sorted_by_several(ctx: Lowering, items: list[Binding], keys: list[Binding], backwards: bool, node: ast.AST) -> Binding:
    """``sorted`` by tuples of numbers."""
    rows = [leaves_of(ctx, key) for key in keys]
    if len({len(row) for row in rows}) > 1 or not all(isinstance(leaf, Num) for row in rows for leaf in row):
        raise UnsupportedSyntax("the sort keys are not tuples of the same number of numbers", ctx.loc(node), "use a key that is a number")
    columns = [ctx.make(ctx.array_of(ctx.list_of(column, node))) for column in zip(*rows, strict=True)]
    if backwards:
        columns = [binary(ctx, ast.Sub, Num(ZERO), column, node) for column in columns]
    return ctx.apply(Static(ordered_by), [Tup(tuple(items)), Tup(tuple(columns))], {}, node)


def leaves_of(ctx: Lowering, binding: Binding) -> list[Binding]:
    """The numbers in a tuple or list of static structure, nested ones included."""
    items = held_items(binding, ctx.state)
    return [binding] if items is None else [leaf for item in items for leaf in leaves_of(ctx, item)]
