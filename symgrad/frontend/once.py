"""Iterators that a name is bound to: Python makes their items when they are gone over, and once; here they are made at once."""

from __future__ import annotations

import ast
from typing import Any

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.bindings import Static
from symgrad.frontend.context import Lowering

#: what gives an iterator; of these ``LAZY`` call a function for each item
ITERATORS: tuple[Any, ...] = (map, filter, zip, iter, enumerate, reversed)
LAZY: tuple[Any, ...] = (map, filter)


def check_once(ctx: Lowering, node: ast.Assign) -> bool:
    """Refuse a name for an iterator whose items would be others, or there once more, than when it is gone over.

    Is it one that has to remember how far it has gone?
    """
    if len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name) or not makes_iterator(ctx, node.value, ITERATORS):
        return False
    whole = ctx.frame.source.node
    name = node.targets[0].id
    loads = [n for n in ast.walk(whole) if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)]
    again = [loop for loop in ast.walk(whole) if isinstance(loop, ast.For | ast.While) and node not in ast.walk(loop)]
    inside = any(n in loads for loop in again for part in (*loop.body, *getattr(loop, "orelse", ())) for n in ast.walk(part))
    inside = inside or any(n in loads for loop in again if isinstance(loop, ast.While) for n in ast.walk(loop.test))
    stepped = any(isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "next" for n in ast.walk(whole))
    if (stepped or len(loads) != 1 or inside) and makes_iterator(ctx, node.value, (iter,)) and isinstance(node.value, ast.Call):
        return len(node.value.args) == 1
    if len(loads) != 1 or inside:
        raise UnsupportedSyntax(f"{name!r} is an iterator, which is gone over only once", ctx.loc(node), "make it a list")
    if makes_iterator(ctx, node.value, LAZY):
        read = {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        later = {n.id for n in ast.walk(whole) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n.lineno > node.lineno}
        own = {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        own |= {n.arg for n in ast.walk(node.value) if isinstance(n, ast.arg)}
        if changed := sorted(read & later - own):
            what = f"{changed[0]!r} is bound again after the iterator {name!r} is made, which reads it when it is gone over"
            raise UnsupportedSyntax(what, ctx.loc(node), "make it a list")
    return False


def makes_iterator(ctx: Lowering, node: ast.expr, kinds: tuple[Any, ...]) -> bool:
    """Does an expression make an iterator?"""
    if isinstance(node, ast.GeneratorExp):
        return True
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return False
    held = ctx.evaluate(node.func)
    return isinstance(held, Static) and any(held.value is kind for kind in kinds)


__all__ = ["check_once"]
