"""Contents of dicts of all kinds and of sets; a set is a dict without values.

``HeapKey.cls`` is the kind of a dict: None for a plain dict, ``set``, or a word and the factory of missing items.
"""

from __future__ import annotations

import ast
import collections
from collections.abc import Iterable
from typing import Any, TypeGuard

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.state.bindings import Binding, Num, Obj, Static
from symgrad.frontend.state.context import Lowering
from symgrad.ir.core import ZERO
from symgrad.tables import pairs

ELEMENT = ("an element of a set", "a tuple or a list for values")  #: its name in a refusal, and what to use instead
#: operators on sets, by the equivalent method
SET_OPERATORS: dict[type[ast.AST], str] = {
    getattr(ast, kind): name for kind, name in pairs("BitOr:union BitAnd:intersection Sub:difference BitXor:symmetric_difference").items()
}


COUNTED = ("counted", Num(ZERO))  #: the kind of a ``Counter``


def is_dict(binding: Any) -> TypeGuard[Obj]:
    """Whether the binding is a dict created in the function, and no set."""
    return isinstance(binding, Obj) and binding.key.kind == "dict" and binding.key.cls is not set


def is_set(binding: Any) -> TypeGuard[Obj]:
    """Whether the binding is a set created in the function."""
    return isinstance(binding, Obj) and binding.key.cls is set


def missing_item(ctx: Lowering, owner: Obj, key: Any, node: ast.AST) -> Binding:
    """The item that a ``defaultdict`` or ``Counter`` returns for a missing key."""
    word, held = owner.key.cls
    if word == "counted":
        return held  # type: ignore[no-any-return]
    value = ctx.apply(held, [], {}, node)
    ctx.change(owner.key, (*ctx.state.entries(owner.key), (key, value)))
    return value


def merged(ctx: Lowering, one: Obj, two: Obj, into: bool = False) -> Obj:
    """``one | two`` of dicts, or ``one |= two``."""
    for held in (one, two):
        ctx.check_keys(held.key)
    if one.key.exact is collections.Counter:
        what = "| of a Counter gives the larger of two counts, which is not supported"
        raise UnsupportedSyntax(what, ctx.builder.loc, "iterate over the keys")
    content = {**dict(ctx.state.entries(one.key)), **dict(ctx.state.entries(two.key))}
    if not into:
        return ctx.new_object("dict", content.items(), one.key.cls, one.key.exact)
    ctx.change(one.key, tuple(content.items()))
    return one


# ------------------------------------------------------------------ sets


def new_set(ctx: Lowering, elements: Iterable[Any]) -> Obj:
    return ctx.new_object("dict", dict.fromkeys(elements, Static(None)).items(), set)


def elements_of(ctx: Lowering, owner: Obj) -> list[Any]:
    """The elements of a set, in order of insertion."""
    ctx.check_keys(owner.key)
    return [k for k, _ in ctx.state.entries(owner.key)]


def combined(ctx: Lowering, name: str, own: list[Any], others: list[list[Any]]) -> list[Any] | bool:
    """The result of a method of sets for one set and others."""
    result = getattr(set(own), name)(*others)
    if isinstance(result, bool):
        return result
    return [k for k in dict.fromkeys([*own, *(k for other in others for k in other)]) if k in result]


def in_order_text(node: ast.AST) -> str:
    """The expression of a set, sorted, if the set is the node or a call's only argument.

    >>> in_order_text(ast.parse("sum({a, b})", mode="eval").body), in_order_text(ast.parse("f(s, 1)", mode="eval").body)
    ('sorted({a, b})', 'sorted')
    """
    if isinstance(node, ast.Call):
        return f"sorted({ast.unparse(node.args[0])})" if len(node.args) == 1 and isinstance(node.args[0], ast.Set | ast.Name) else "sorted"
    return f"sorted({ast.unparse(node)})" if isinstance(node, ast.Name | ast.Set | ast.Attribute) else "sorted"


#: the reason why a set cannot be iterated over
ORDER_UNKNOWN = "the iteration order of this set is not known at compile time"


def in_order(ctx: Lowering, owner: Obj, node: ast.AST) -> list[Any]:
    """The elements in Python's order of iteration, which is certain for small integers only: ascending."""
    elements = elements_of(ctx, owner)
    if len(elements) > 1 and not all(type(k) is int and 0 <= k < max(8, len(elements)) for k in elements):
        for site in owner.key.sites:
            ctx.growing_sites.update({site: True, ("ordered", site): True})
        raise UnsupportedSyntax(ORDER_UNKNOWN, ctx.loc(node), f"iterate over it in order, with {in_order_text(node)}")
    return sorted(elements) if len(elements) > 1 else elements
