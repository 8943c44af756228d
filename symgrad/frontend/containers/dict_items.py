"""Items of dicts: read, store, delete and membership, under static and dynamic keys."""

from __future__ import annotations

import ast
import collections
from collections.abc import Callable
from typing import Any

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.containers.computed_keys import at_key, is_among, new_key, possible
from symgrad.frontend.flow.absent import definite_item, has_item
from symgrad.frontend.flow.chosen import list_item_at
from symgrad.frontend.flow.edges import fail, sees
from symgrad.frontend.flow.enumerated import each
from symgrad.frontend.flow.flow import choose
from symgrad.frontend.objects.derived import MISSING_ITEMS
from symgrad.frontend.objects.dicts import missing_item
from symgrad.frontend.objects.outside import item_text, outside, rely_on_absence, rely_on_keys
from symgrad.frontend.state.abstract_values import resolved_by_paths
from symgrad.frontend.state.bindings import ABSENT, MISSING, Binding, Missing, Num, Obj, OneOf, known_key
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.pinning import pinned
from symgrad.ir.core import FALSE, Const, Operand
from symgrad.text import is_name


def keys_of(ctx: Lowering, owner: Obj) -> list[Any]:
    """The keys that a dict has, or may have."""
    return [key for key, _ in ctx.state.entries(owner.key)]


def item_of_dict(ctx: Lowering, owner: Obj, held: Binding, node: ast.AST) -> Binding:
    """``owner[held]``."""
    is_possible = bool(possible(ctx, held, keys_of(ctx, owner)))

    def item(key: Any, sought: Binding) -> Binding:
        if isinstance(owner.key.cls, tuple):
            return item_or_default(ctx, owner, key, node)
        return definite_item(ctx, dict(ctx.state.entries(owner.key))[key], node, KeyError, sought)

    def absent(sought: Binding) -> Binding:
        if not isinstance(owner.key.cls, tuple):
            return raise_key_error(ctx, sought, sought is held, node)
        key = known_key(sought)
        if not isinstance(key, Missing):
            return item_or_default(ctx, owner, key, node)
        word, value = owner.key.cls
        return value if word == "counted" else new_key(ctx, owner, sought, is_possible, node)

    return at_key(ctx, held, keys_of(ctx, owner), node, item, absent)


def item_or_missing(ctx: Lowering, owner: Obj, held: Binding, node: ast.AST, otherwise: Callable[[Binding], Binding]) -> Binding:
    """``owner[held]`` of a dict whose class defines the item of a missing key."""

    def item(key: Any, sought: Binding) -> Binding:
        return where_present(ctx, owner, key, node, lambda value: value, lambda: otherwise(sought))

    return at_key(ctx, held, keys_of(ctx, owner), node, item, otherwise)


MISSING_ITEMS["of"] = item_or_missing


def raise_key_error(ctx: Lowering, sought: Binding, is_sure: bool, node: ast.AST) -> Binding:
    """Raise for a key that the dict does not have; ``is_sure``: it is this key on every path."""
    key = known_key(sought)
    if is_sure and not isinstance(key, Missing) and not (sees(ctx, KeyError) and isinstance(key, str | int)):
        raise UnsupportedSyntax(f"key {key!r} is not in this dict", ctx.loc(node), f"set it before, or use get({key!r}, 0.0)")
    fail(ctx, KeyError, sought)
    raise AssertionError


def item_or_default(ctx: Lowering, owner: Obj, key: Any, node: ast.AST) -> Binding:
    """The item of a dict that creates missing items: the stored one, or a new one."""
    content = dict(ctx.state.entries(owner.key))
    held = content.pop(key, MISSING)

    def new_item() -> Binding:
        ctx.change(owner.key, tuple(content.items()))
        return missing_item(ctx, owner, key, node)

    test = has_item(ctx, owner.key, key)
    if isinstance(test, Const):
        return resolved_by_paths(held, ctx.state) if test.value else new_item()
    return choose(ctx, test, node, lambda: resolved_by_paths(held, ctx.state), new_item)


def has_key(ctx: Lowering, owner: Obj, held: Binding, node: ast.AST) -> Operand:
    """``held in owner``, of a dict or set."""
    keys = keys_of(ctx, owner)
    tests = {key: has_item(ctx, owner.key, key) for key in keys}
    if isinstance(held, Num) and all(isinstance(test, Const) for test in tests.values()):
        return is_among(ctx, held, [key for key, test in tests.items() if isinstance(test, Const) and test.value], node)
    answer = at_key(ctx, held, keys, node, lambda key, _: Num(tests[key]), lambda _: Num(FALSE))
    assert isinstance(answer, Num)
    return answer.operand


def where_present(
    ctx: Lowering, owner: Obj, key: Any, node: ast.AST, there: Callable[[Binding], Binding], absent: Callable[[], Binding]
) -> Binding:
    """Apply ``there`` to the item under a known key, or ``absent`` on the paths where the dict lacks it."""
    test, value = has_item(ctx, owner.key, key), dict(ctx.state.entries(owner.key))[key]
    if isinstance(test, Const):
        return there(resolved_by_paths(value, ctx.state)) if test.value else absent()
    return choose(ctx, test, node, lambda: there(resolved_by_paths(value, ctx.state)), absent)


def item_or(ctx: Lowering, owner: Obj, held: Binding, default: Binding, node: ast.AST) -> Binding:
    """``owner.get(held, default)``."""

    def item(key: Any, _: Binding) -> Binding:
        return where_present(ctx, owner, key, node, lambda value: value, lambda: default)

    return at_key(ctx, held, keys_of(ctx, owner), node, item, lambda _: default)


def store(ctx: Lowering, owner: Obj, held: Binding, value: Binding, node: ast.AST) -> Binding:
    """``owner[held] = value``; returns None, because each of several keys has a path of its own."""
    is_possible = bool(possible(ctx, held, keys_of(ctx, owner)))

    def stored(key: Any, sought: Binding) -> Binding:
        store_item(ctx, owner, key, sought, value)
        return ABSENT

    def absent(sought: Binding) -> Binding:
        key = known_key(sought)
        return new_key(ctx, owner, sought, is_possible, node) if isinstance(key, Missing) else stored(key, sought)

    return at_key(ctx, held, keys_of(ctx, owner), node, stored, absent)


def store_item(ctx: Lowering, owner: Obj, key: Any, sought: Binding, value: Binding) -> None:
    """Store under a known key that equals ``sought``; where the dict lacks it, the key becomes the last."""
    content = dict(ctx.state.entries(owner.key))
    if key in content and not isinstance(has_item(ctx, owner.key, key), Const):
        new = known_key(sought)
        owner.key.unordered |= key != [*content][-1] or isinstance(new, Missing) or repr(new) != repr(key)
    ctx.change(owner.key, tuple({**content, key: value}.items()))


def delete(ctx: Lowering, owner: Obj, held: Binding, node: ast.AST) -> Binding:
    """``del owner[held]``."""

    def deleted(key: Any) -> Binding:
        take(ctx, owner, key)
        return ABSENT

    def absent(sought: Binding) -> Binding:
        if owner.key.exact is not collections.Counter:
            fail(ctx, KeyError, sought)
        return ABSENT

    def where(key: Any, sought: Binding) -> Binding:
        return where_present(ctx, owner, key, node, lambda _: deleted(key), lambda: absent(sought))

    return at_key(ctx, held, keys_of(ctx, owner), node, where, absent)


def take(ctx: Lowering, owner: Obj, key: Any) -> None:
    """Remove an item from a dict that has it."""
    ctx.change(owner.key, tuple((k, b) for k, b in ctx.state.entries(owner.key) if k != key))


def taken_out(ctx: Lowering, owner: Obj, held: Binding, default: Binding | None, node: ast.AST) -> Binding:
    """``owner.pop(held, default)``; without a default, a missing key raises as in Python."""

    def taken(key: Any, value: Binding) -> Binding:
        take(ctx, owner, key)
        return value

    def absent(sought: Binding) -> Binding:
        if default is None:
            fail(ctx, KeyError, sought)
        assert default is not None
        return default

    def where(key: Any, sought: Binding) -> Binding:
        return where_present(ctx, owner, key, node, lambda value: taken(key, value), lambda: absent(sought))

    return at_key(ctx, held, keys_of(ctx, owner), node, where, absent)


def item_or_set(ctx: Lowering, owner: Obj, held: Binding, default: Binding, node: ast.AST) -> Binding:
    """``owner.setdefault(held, default)``."""
    is_possible = bool(possible(ctx, held, keys_of(ctx, owner)))

    def set_to_default(key: Any, sought: Binding) -> Binding:
        store_item(ctx, owner, key, sought, default)
        return default

    def absent(sought: Binding) -> Binding:
        key = known_key(sought)
        return new_key(ctx, owner, sought, is_possible, node) if isinstance(key, Missing) else set_to_default(key, sought)

    def where(key: Any, sought: Binding) -> Binding:
        return where_present(ctx, owner, key, node, lambda value: value, lambda: set_to_default(key, sought))

    return at_key(ctx, held, keys_of(ctx, owner), node, where, absent)


# ------------------------------------------------------------------ dicts and lists from outside


def item_of_external(ctx: Lowering, value: Any, text: str, held: Binding, node: ast.AST) -> Binding:
    """``value[held]`` of a container from outside the function."""
    if isinstance(held, OneOf):
        return each(ctx, held, node, lambda one: item_of_external(ctx, value, text, one, node))
    key = known_key(held)
    if isinstance(key, Missing) and isinstance(value, list) and isinstance(held, Num):
        rely_on_keys(ctx, value, text)
        items = [outside(ctx, v, f"{text}[{k}]", f"item_{k}") for k, v in enumerate(value)]
        return list_item_at(ctx, MISSING, items, ctx.read(held, node), node)
    if isinstance(key, Missing) and type(value) is dict:
        rely_on_keys(ctx, value, text)
        return at_key(
            ctx,
            held,
            value,
            node,
            lambda one, _: known_item(ctx, value, text, one, node),
            lambda one: raise_key_error(ctx, one, one is held, node),
        )
    if isinstance(key, Missing | slice):
        raise pinned(ctx, UnsupportedSyntax("this index must be a literal", ctx.loc(node)), [held])
    return known_item(ctx, value, text, key, node)


def known_item(ctx: Lowering, value: Any, text: str, key: Any, node: ast.AST) -> Binding:
    """The item of a container from outside the function under a static key."""
    try:
        item = value[key]
    except (KeyError, IndexError, TypeError) as error:
        if isinstance(error, LookupError) and sees(ctx, type(error)) and isinstance(key, str | int):
            rely_on_absence(ctx, value, text, key)
            fail(ctx, type(error), *error.args)
        raise UnsupportedSyntax(f"this index fails: {type(error).__name__}: {error}", ctx.loc(node)) from None
    if isinstance(key, int) and key < 0:
        ctx.rely(text, len(value), "len")
    name = key if is_name(key) else f"item_{key}" if type(key) is int and key >= 0 else "item"
    return outside(ctx, item, item_text(ctx, text, key), name)


__all__ = ["delete", "has_key", "item_of_dict", "item_of_external", "item_or", "item_or_set", "known_item", "store", "taken_out"]
