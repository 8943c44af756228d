"""Nested dicts with dynamic keys: an inner dict that changes is a number into a pool, one pool for each place that creates them.

An attempt that meets such a dict records where it was created. The next attempt creates a pool at the beginning of
the program, and at that place numbers of dicts in it (``ops.composed.growing_inner``).
"""

from __future__ import annotations

import ast
from typing import Any

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.containers.stepping import new_record, site_of
from symgrad.frontend.objects.dicts import is_set
from symgrad.frontend.state.bindings import Binding, Fun, Obj, OneOf, Ref, Static
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.program_state import OUTSIDE
from symgrad.frontend.state.tables import special
from symgrad.ir.types import List, Struct
from symgrad.ops.composed import growing_inner
from symgrad.ops.composed.growing_dicts import GrowingDefaultDict, GrowingDict
from symgrad.ops.composed.growing_sets import GrowingSet, OrderedSet

#: tag of a record: instances of a class created at a place are such dicts
INNER = "inner"
#: tag of a record: the order of a set, created at a place or in a pool, is read
ORDERED = "ordered"
#: tag of a record: one variable may hold dicts of several pools
JOINED = "joined"
#: tag of a record: one place in one of our compositions creates dicts of different kinds
APART = "apart"
#: tag of a record: a line of the program with a pool of its own
PLACED = "placed"
IN_SEVERAL_PLACES = "a dict that is an item of another one, and is changed there, is created in several places"
IN_ONE_PLACE = "create it in one place, or use one dict with pairs for keys, as in d[i, j]"
CLASSES = (*growing_inner.INNER.values(), growing_inner.OrderedInnerSet)


def is_inner(binding: Any) -> bool:
    """Whether the binding is such a dict."""
    return isinstance(binding, Obj) and binding.key.kind == "record" and binding.key.cls in CLASSES


def is_inner_site(ctx: Lowering, kind: type, node: ast.AST) -> bool:
    """Whether the instance of a class created here is such a dict or set."""
    return (INNER, kind.__name__, site_of(ctx, node)) in ctx.stateful


def new_in_pool(ctx: Lowering, kind: type, args: list[Binding], node: ast.AST) -> Obj:
    """A dict with dynamic keys, of a class of ``growing_dicts``: if it changes inside another dict, a number of a pool."""
    site = site_of(ctx, node)
    if not is_inner_site(ctx, kind, node):
        result = new_record(ctx, kind, args, node)
        result.key.sites = (site,)
        return result
    place = ctx.frame.place if (APART, site) in ctx.stateful else None
    name = name_of_pool(ctx, kind.__name__, site, place)
    if (OUTSIDE, name) not in ctx.state.names:
        ctx.growing_sites[PLACED, kind.__name__, site, place] = True
        raise UnsupportedSyntax(IN_SEVERAL_PLACES, ctx.loc(node), IN_ONE_PLACE)
    inner = growing_inner.OrderedInnerSet if (ORDERED, name) in ctx.stateful else growing_inner.INNER[kind]
    return numbered(ctx, inner, name, args, node)


def numbered(ctx: Lowering, kind: type, pool: str, args: list[Binding], node: ast.AST) -> Obj:
    """A new number of the pool of some creation locations."""
    instance: Obj = ctx.new_object("record", (("pool", Static(pool)),), kind)
    ctx.apply(Static(kind.__init__), [instance, *args], {}, node)  # type: ignore[misc]
    return instance


def note_inner(ctx: Lowering, held: Obj) -> None:
    """Record the locations that may have created a dict which changes inside another one."""
    kind = held.key.cls if held.key.kind == "record" else GrowingSet if is_set(held) else GrowingDict
    for site in held.key.sites if kind in (*growing_inner.INNER, OrderedSet) else ():
        name = (GrowingSet if kind is OrderedSet else kind).__name__
        ctx.growing_sites.update({site: True, (INNER, name, site): True})
        if kind is OrderedSet:
            ctx.growing_sites[ORDERED, name_of_pool(ctx, name, site, None)] = True


def noted(ctx: Lowering, word: str) -> list[tuple[Any, ...]]:
    """The records of earlier attempts under a tag."""
    return [note[1:] for note in sorted(ctx.stateful, key=repr) if note[0] == word]


def enter_pools(ctx: Lowering, node: ast.AST) -> None:
    """Create the pools, at the beginning of the program."""
    places = [(*place, None) for place in noted(ctx, INNER)] + noted(ctx, PLACED)
    for name in sorted({name_of_pool(ctx, *place) for place in places}):
        kind = growing_inner.OrderedPool if (ORDERED, name) in ctx.stateful else growing_inner.Pool
        ctx.state.names[OUTSIDE, name] = new_record(ctx, kind, [], node)


def name_of_pool(ctx: Lowering, kind: str, site: Any, place: Any) -> str:
    """The name of the pool of a creation location: one for all locations whose dicts may be bound to one variable.

    A location in our compositions, such as the factory of a ``defaultdict(dict)``, counts once for all its callers
    (``place``), unless it creates dicts of different kinds.
    """
    several, added = {repr((kind, site, place))}, True
    while added:
        beside = [names for names in noted(ctx, JOINED) if not several.isdisjoint(names)]
        added = any(name not in several for names in beside for name in names)
        several.update(name for names in beside for name in names)
    return min(several)


@special(growing_inner.pool_of)
def of_number(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    return pool_of(ctx, args[0], node)


def pool_of(ctx: Lowering, held: Binding, node: ast.AST) -> Obj:
    """The pool of such a dict; if it is one of several, lowering restarts with one pool instead of them."""
    assert isinstance(held, Obj)
    name = dict(ctx.state.entries(held.key))["pool"]
    if isinstance(name, OneOf):
        note_joined(ctx, [value.value for value in name.values])
    pool = ctx.state.names.get((OUTSIDE, name.value)) if isinstance(name, Static) else None
    if not isinstance(pool, Obj):
        raise UnsupportedSyntax(IN_SEVERAL_PLACES, ctx.loc(node), IN_ONE_PLACE)
    return pool


def note_apart(ctx: Lowering) -> None:
    """Record that the dicts of one pool may be of different kinds: give each line of the program its own."""
    ctx.growing_sites.update({(APART, site): True for _, site in noted(ctx, INNER)})


def note_joined(ctx: Lowering, names: list[str]) -> None:
    """Record pools that must be merged."""
    ctx.growing_sites[(JOINED, *names)] = True


def check_pool(ctx: Lowering, items: Binding, item: Binding, node: ast.AST) -> None:
    """Refuse, for another attempt, to store a dict of one pool among those of another."""
    if not is_inner(item) or not isinstance(content := ctx.state.heap[items.key], Ref):  # type: ignore[attr-defined]
        return
    type_ = ctx.type_of(content)
    form = type_.item.form if isinstance(type_, List) and isinstance(type_.item, Struct) else None
    name = dict(ctx.state.entries(item.key))["pool"]  # type: ignore[attr-defined]
    if form is None or form.form != "object" or "pool" not in form.same[2] or not isinstance(name, Static):
        return
    held = form.items[form.same[2].index("pool")].same
    if isinstance(held, Static) and held.value != name.value:
        note_joined(ctx, [held.value, name.value])
        raise UnsupportedSyntax(IN_SEVERAL_PLACES, ctx.loc(node), IN_ONE_PLACE)


@special(growing_inner.create_like)
def create_like(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    (held,) = args
    assert isinstance(held, Obj)
    pool_of(ctx, held, node)
    return numbered(ctx, held.key.cls, name_in(ctx, held), [held_factory(ctx, held, node)] if is_making(held) else [], node)


def is_making(held: Obj) -> bool:
    """Whether the dict has a factory of missing items."""
    return issubclass(held.key.cls, GrowingDefaultDict)


@special(growing_inner.set_factory)
def set_factory(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """Record the factory of missing items for the pool; it is the same for all its dicts."""
    held, factory = args
    if not is_same_function(ctx.factories.setdefault(name_in(ctx, held), factory), factory):
        what = "dicts that are items of another one have different default factories"
        raise UnsupportedSyntax(what, ctx.loc(node), "create them with one function that has no free variables")
    return Static(None)


@special(growing_inner.factory_of)
def factory_of(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    return held_factory(ctx, args[0], node)


def held_factory(ctx: Lowering, held: Binding, node: ast.AST) -> Binding:
    """The factory of missing items of such a dict."""
    pool_of(ctx, held, node)
    factory: Binding = ctx.factories[name_in(ctx, held)]
    return factory


def name_in(ctx: Lowering, held: Binding) -> str:
    """The name of the pool of a dict that has one."""
    name: str = dict(ctx.state.entries(held.key))["pool"].value  # type: ignore[attr-defined]
    return name


def is_same_function(one: Binding, other: Binding) -> bool:
    """Whether the two are one function, or one text that uses no variable of the calls that created it."""
    if one == other or not isinstance(one, Fun) or not isinstance(other, Fun):
        return one == other
    names = {part.id for part in ast.walk(one.node) if isinstance(part, ast.Name)}
    a, b = one.frame, other.frame
    while a is not b:
        if a is None or b is None or not names.isdisjoint(a.locals | b.locals):
            return False
        a, b = a.parent, b.parent
    return one.node is other.node and not one.defaults and not other.defaults


__all__ = ["ORDERED", "check_pool", "enter_pools", "is_inner", "is_inner_site", "name_in", "new_in_pool", "note_apart", "note_inner"]
__all__ += ["pool_of"]
