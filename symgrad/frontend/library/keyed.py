"""Dicts of ``collections`` and sets: their constructors and methods."""

from __future__ import annotations

import ast
import collections
from collections.abc import Callable, Iterable
from typing import Any

from symgrad.errors import SymgradError, UnsupportedSyntax
from symgrad.frontend.containers.growing_dicts import as_dict, dict_of, is_growing, new_dict, note_new_key, update
from symgrad.frontend.containers.growing_sets import new_set_at, note_new_element, note_order, set_to_grow
from symgrad.frontend.containers.iterables import items_of, sequence
from symgrad.frontend.containers.static_containers import counts_of
from symgrad.frontend.containers.stepping import iterator, site_of
from symgrad.frontend.flow.edges import fail, sees
from symgrad.frontend.library.builtins import content_of
from symgrad.frontend.objects.dicts import COUNTED, ELEMENT, combined, elements_of, is_dict, is_set, new_set
from symgrad.frontend.objects.operands import known_value, static_binding, static_key, unwrap
from symgrad.frontend.objects.python_values import set_from_outside, set_of_computed
from symgrad.frontend.state.bindings import Binding, Missing, Num, Obj, Static, Tup, known_key
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.tables import method, special
from symgrad.ir.core import Const
from symgrad.ops.composed.growing import put_keys

Args = list[Binding]
Kwargs = dict[str, Binding]


@special(collections.defaultdict)
def defaultdict(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """A dict that creates the item of a missing key when it is read."""
    maker = args[0] if args else Static(None)
    cls = None if maker == Static(None) else ("made", maker)

    def known() -> Obj:
        return new_dict(ctx, content_of(ctx, args[1:], kwargs, node), node, cls, collections.defaultdict)

    return dict_of(ctx, args[1:], node, known, update(ctx, args[1:], kwargs, node), cls)


@special(collections.OrderedDict)
def ordered_dict(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    args = [as_dict(ctx, a, node) for a in args]

    def known() -> Obj:
        return new_dict(ctx, content_of(ctx, args, kwargs, node), node, None, collections.OrderedDict)

    return dict_of(ctx, args, node, known, update(ctx, args, kwargs, node), None, collections.OrderedDict)


@special(collections.Counter)
def counter(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """The counts of static items; a dict is taken as counts."""

    def known() -> Obj:
        if args and is_dict(args[0]):
            content = content_of(ctx, args, {}, node)
        else:
            counts = collections.Counter(known_elements(ctx, args[0], node) if args else ())
            content = tuple((k, Num(Const(n))) for k, n in counts.items())
        return new_dict(ctx, {**dict(content), **kwargs}.items(), node, COUNTED, collections.Counter)

    return dict_of(ctx, args, node, known, update(ctx, args, kwargs, node), COUNTED)


@special(dict.fromkeys)
def from_keys(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    value = args[1] if len(args) > 1 else Static(None)

    def known() -> Obj:
        return new_dict(ctx, dict.fromkeys(known_elements(ctx, args[0], node), value).items(), node)

    return dict_of(ctx, args[:1], node, known, lambda held: ctx.apply(Static(put_keys), [held, args[0], value], {}, node))


@method("dict", "popitem")
def dict_popitem(ctx: Lowering, owner: Obj, args: Args, node: ast.AST) -> Binding:
    ctx.check_keys(owner.key, node)
    content = list(ctx.state.entries(owner.key))
    if not content:
        raise UnsupportedSyntax("an item is taken out of an empty dict", ctx.loc(node))
    key, value = content.pop(-1 if not args or unwrap(args[0]) else 0)
    ctx.change(owner.key, tuple(content))
    return Tup((static_binding(key), value))


@method("dict", "move_to_end")
def dict_move_to_end(ctx: Lowering, owner: Obj, args: Args, node: ast.AST) -> Binding:
    if isinstance(known_key(args[0]), Missing):
        note_new_key(ctx, owner)
    ctx.check_keys(owner.key, node)
    content, key = dict(ctx.state.entries(owner.key)), static_key(ctx, args[0], node)
    if key not in content:
        if sees(ctx, KeyError) and isinstance(key, str | int):
            fail(ctx, KeyError, key)
        raise UnsupportedSyntax(f"key {key!r} is not in this dict", ctx.loc(node), f"set it before, or use get({key!r}, 0.0)")
    moved = {key: content.pop(key)}
    content = {**content, **moved} if len(args) < 2 or unwrap(args[1]) else {**moved, **content}
    ctx.change(owner.key, tuple(content.items()))
    return Static(None)


@method("set", "clear")
@method("dict", "clear")
def dict_clear(ctx: Lowering, owner: Obj, args: Args, node: ast.AST) -> Binding:
    ctx.change(owner.key, ())
    return Static(None)


@method("dict", "most_common")
def most_common(ctx: Lowering, owner: Obj, args: Args, node: ast.AST) -> Binding:
    ctx.check_keys(owner.key, node)
    counts = {k: known_value(b) for k, b in ctx.state.entries(owner.key)}
    if owner.key.cls is not COUNTED or not all(counts.values()):
        raise UnsupportedSyntax("the count of each item is not known at compile time", ctx.loc(node), "use np.unique")
    most = collections.Counter({k: n for k, (n,) in counts.items()}).most_common(*map(unwrap, args))
    return ctx.new_object("list", enumerate(Tup((static_binding(k), Num(Const(n)))) for k, n in most))


@method("dict", "total")
def counter_total(ctx: Lowering, owner: Obj, args: Args, node: ast.AST) -> Binding:
    if owner.key.exact is not collections.Counter:
        raise UnsupportedSyntax("a dict has no total", ctx.loc(node))
    return ctx.apply(Static(sum), [ctx.apply_method(owner, "values", [], node)], {}, node)


@method("dict", "subtract")
def counter_subtract(ctx: Lowering, owner: Obj, args: Args, node: ast.AST) -> Binding:
    """Subtraction of counts: supported for a Counter with dynamic keys, refused for one with static keys."""
    if owner.key.exact is not collections.Counter:
        raise UnsupportedSyntax("a dict has no subtract", ctx.loc(node))
    note_new_key(ctx, owner)
    raise UnsupportedSyntax("counts are subtracted from a Counter of known keys", ctx.loc(node), "subtract from its items one by one")


@method("dict", "elements")
def counter_elements(ctx: Lowering, owner: Obj, args: Args, node: ast.AST) -> Binding:
    if owner.key.exact is not collections.Counter:
        raise UnsupportedSyntax("a dict has no elements", ctx.loc(node))
    return iterator(ctx, "items", tuple(map(static_binding, counts_of(ctx, owner, node).elements())), node)


# ------------------------------------------------------------------ sets


def known_elements(ctx: Lowering, binding: Binding, node: ast.AST) -> list[Any]:
    """The elements of an iterable, if all of them are static."""
    binding = set_from_outside(ctx, binding, node)
    if is_set(binding):
        assert isinstance(binding, Obj)
        return elements_of(ctx, binding)
    items = items_of(ctx, binding, node)
    if isinstance(items, list):
        return [static_key(ctx, item, node, *ELEMENT) for item in items]
    bounds = [known_value(Num(b)) for b in items.bounds]
    if not items.counts or not all(bounds):
        what = "the elements of this are not known at compile time"
        raise UnsupportedSyntax(what, ctx.loc(node), f"use {ELEMENT[1]} that are computed")
    return list(range(*(b for (b,) in bounds)))


@special(set)
def set_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    if (growing := set_to_grow(ctx, args, node)) is not None:
        return growing
    args = [sequence(ctx, a, node) for a in args]
    if args and (computed := set_of_computed(ctx, set, args[0], node)) is not None:
        ctx.set_sites[site_of(ctx, node)] = None
        return computed
    return new_set_at(ctx, known_elements(ctx, args[0], node) if args else (), node)


@special(frozenset)
def frozen_set(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    if args and is_growing(args[0]):
        raise UnsupportedSyntax("a frozenset is made from the keys of a dict or the elements of a set", ctx.loc(node), "use a set")
    args = [sequence(ctx, a, node) for a in args]
    if args and (computed := set_of_computed(ctx, frozenset, args[0], node)) is not None:
        return computed
    result = new_set(ctx, known_elements(ctx, args[0], node) if args else ())
    result.key.exact = frozenset
    return result


def known_element(ctx: Lowering, owner: Obj, element: Binding, node: ast.AST) -> Any:
    """An element that changes a set; if it is dynamic, the set must be one of dynamic elements."""
    try:
        return static_key(ctx, element, node, *ELEMENT)
    except SymgradError:
        note_new_element(ctx, owner)
        raise


@method("set", "add")
def set_add(ctx: Lowering, owner: Obj, args: Args, node: ast.AST) -> Binding:
    element = known_element(ctx, owner, args[0], node)
    content = {**dict(ctx.state.entries(owner.key)), element: Static(None)}
    ctx.change(owner.key, tuple(content.items()))
    return Static(None)


@method("set", "discard")
def set_discard(ctx: Lowering, owner: Obj, args: Args, node: ast.AST) -> Binding:
    gone = known_element(ctx, owner, args[0], node)
    ctx.change(owner.key, tuple((k, b) for k, b in ctx.state.entries(owner.key) if k != gone))
    return Static(None)


@method("set", "remove")
def set_remove(ctx: Lowering, owner: Obj, args: Args, node: ast.AST) -> Binding:
    gone = known_element(ctx, owner, args[0], node)
    if gone not in elements_of(ctx, owner):
        fail(ctx, KeyError, gone)
    return set_discard(ctx, owner, args, node)


@method("set", "pop")
def set_pop(ctx: Lowering, owner: Obj, args: Args, node: ast.AST) -> Binding:
    """The one element of a set; of several, Python's choice is unknown."""
    elements = elements_of(ctx, owner)
    if not elements:
        fail(ctx, KeyError, "pop from an empty set")
    if len(elements) > 1:
        note_order(ctx, owner)
        raise UnsupportedSyntax("which element of a set is taken is not known", ctx.loc(node), "take the element from a list")
    ctx.change(owner.key, ())
    return static_binding(*elements)


@method("set", "copy")
def set_copy(ctx: Lowering, owner: Obj, args: Args, node: ast.AST) -> Binding:
    return owner if owner.key.exact is frozenset else set_like(ctx, owner, elements_of(ctx, owner))


def set_like(ctx: Lowering, owner: Obj, elements: Iterable[Any]) -> Obj:
    """A new set of the class of another one."""
    result = new_set(ctx, elements)
    result.key.exact = owner.key.exact
    result.key.sites = owner.key.sites
    return result


def become(ctx: Lowering, owner: Obj, elements: list[Any]) -> Binding:
    ctx.change(owner.key, tuple(dict.fromkeys(elements, Static(None)).items()))
    return Static(None)


def of_sets(name: str, into: bool = False) -> Callable[..., Binding]:
    """A set method that combines the elements with those of other sets; ``into`` changes the set itself."""

    def lower(ctx: Lowering, owner: Obj, args: Args, node: ast.AST) -> Binding:
        try:
            others = [known_elements(ctx, a, node) for a in args]
        except SymgradError:
            if into:
                note_new_element(ctx, owner)
            raise
        result = combined(ctx, name, elements_of(ctx, owner), others)
        if isinstance(result, bool):
            return Num(Const(result))
        return become(ctx, owner, result) if into else set_like(ctx, owner, result)

    return lower


for _name in ("union", "intersection", "difference", "symmetric_difference", "issubset", "issuperset", "isdisjoint"):
    method("set", _name)(of_sets(_name))
for _name, _same in (
    ("update", "union"),
    ("intersection_update", "intersection"),
    ("difference_update", "difference"),
    ("symmetric_difference_update", "symmetric_difference"),
):
    method("set", _name)(of_sets(_same, into=True))
