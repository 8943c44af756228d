"""Keyword arguments of a call: names and dicts that are spread, evaluated and merged in Python's order."""

from __future__ import annotations

import ast

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.flow.absent import definite
from symgrad.frontend.objects.outside import entries_of
from symgrad.frontend.state.bindings import MISSING, Binding
from symgrad.frontend.state.context import Lowering


def keyword_arguments(ctx: Lowering, call: ast.Call) -> dict[str, Binding]:
    """The keyword arguments of a call by their names; a name that is passed twice raises, before what follows is evaluated."""
    merged: dict[str, Binding] = {}
    named: dict[str, Binding] = {}
    for keyword in call.keywords:
        value = ctx.evaluate(keyword.value)
        if keyword.arg is not None:
            named[keyword.arg] = value
            continue
        merge(ctx, merged, named, call)
        named = {}
        if (entries := entries_of(ctx, value, keyword.value)) is None:
            raise UnsupportedSyntax("only a dict of known keys can be spread with **", ctx.loc(keyword.value))
        if not all(isinstance(key, str) for key in entries):
            definite(ctx, MISSING, call, TypeError, "keywords must be strings")
        merge(ctx, merged, entries, call)
    merge(ctx, merged, named, call)
    return merged


def merge(ctx: Lowering, merged: dict[str, Binding], more: dict[str, Binding], call: ast.Call) -> None:
    """Add keyword arguments to those that are evaluated already."""
    for name, value in more.items():
        if name in merged:
            definite(ctx, MISSING, call, TypeError, f"{ast.unparse(call.func)}() got multiple values for keyword argument {name!r}")
        merged[name] = value
