"""Namespace dicts: the variables of a module, the attributes of a function or an instance, as dicts.

The names and the dict are tracked separately, so using both is refused.
"""

from __future__ import annotations

from typing import Any

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.context import Lowering
from symgrad.frontend.reading import own_entries
from symgrad.identity import Same
from symgrad.location import Loc


def check_namespaces(ctx: Lowering, loc: Loc) -> None:
    """Refuse a program that stores in a namespace dict and reads its names, or stores to attributes and reads them as a dict."""
    followed = [(held.value, path in ctx.stored) for held, (path, _) in ctx.followed.items()]
    followed = [(held, is_stored) for held, is_stored in followed if own_entries(held) is not held]  # their items are their attributes
    owned = {Same(own_entries(held)) for held, _ in followed if own_entries(held) is not None}
    for held, is_stored in followed:
        if is_stored and isinstance(held, dict) and (Same(held) in ctx.namespaces or Same(held) in owned):
            what = "a dict is changed that holds the attributes of an object, or the variables of a module, and is read by their names too"
            raise UnsupportedSyntax(what, loc, "assign to the attribute or variable itself")
        if is_stored and is_read_as_dict(ctx, held):
            what = "an object is changed whose attributes are read as a dict"
            raise UnsupportedSyntax(what, loc, "read the attributes by their names")


def is_read_as_dict(ctx: Lowering, held: Any) -> bool:
    """Whether the program reads the attributes of an object as a dict from outside."""
    entries = own_entries(held)
    return entries is not None and Same(entries) in ctx.read_dicts


__all__ = ["check_namespaces"]
