"""Names for iterators: Python makes their items when they are gone over, and once.

One that is gone over in one place is made there. One that ``next`` steps on is a list and a place in it, made where it stands.
"""

from __future__ import annotations

import ast
from typing import Any

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.bindings import Binding, Choice, Fun, State, Static
from symgrad.frontend.comprehensions import lazily
from symgrad.frontend.context import Lowering
from symgrad.frontend.iterators import made_list, walk
from symgrad.ops.composed import iterating

#: what gives an iterator
ITERATORS: tuple[Any, ...] = (map, filter, zip, iter, enumerate, reversed)


def named_iterator(ctx: Lowering, node: ast.Assign) -> Binding | None:
    """What a name for an iterator is bound to; None where the value is no iterator, or one that is read when it is gone over anyway."""
    if len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name) or not makes_iterator(ctx, node.value, ITERATORS):
        return None
    whole = ctx.frame.source.node
    name = node.targets[0].id
    loads = [n for n in ast.walk(whole) if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)]
    again = [loop for loop in ast.walk(whole) if isinstance(loop, ast.For | ast.While) and node not in ast.walk(loop)]
    inside = any(n in loads for loop in again for part in (*loop.body, *getattr(loop, "orelse", ())) for n in ast.walk(part))
    inside = inside or any(n in loads for loop in again if isinstance(loop, ast.While) for n in ast.walk(loop.test))
    stepped = any(isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "next" for n in ast.walk(whole))
    several = len(loads) != 1 or inside
    if (stepped or several) and isinstance(node.value, ast.Call) and makes_iterator(ctx, node.value, (iter,)):
        return walk(ctx, ctx.evaluate(node.value), node) if len(node.value.args) == 1 else None
    if stepped and several:
        return walk(ctx, made_list(ctx, ctx.evaluate(node.value), node), node, since=read_by(ctx, node.value))
    if several:
        raise UnsupportedSyntax(f"{name!r} is an iterator, which is gone over only once", ctx.loc(node), "make it a list")
    if isinstance(node.value, ast.GeneratorExp):
        return lazily(ctx, node.value)
    if isinstance(node.value, ast.Call) and makes_iterator(ctx, node.value, (map,)) and not node.value.keywords:
        function, *iterables = [ctx.evaluate(argument) for argument in node.value.args]
        if len(iterables) == 1:
            return ctx.apply(Static(iterating.mapped), [function, *iterables], {}, node)
        over = ctx.apply(Static(zip), iterables, {}, node)
        return ctx.apply(Static(iterating.starmap), [function, over], {}, node)
    return None


def read_by(ctx: Lowering, node: ast.expr) -> State:
    """The state as far as an expression may read it: its own variables, or all if it calls functions of the user's."""
    state = ctx.state.copy()
    read = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    if not any(isinstance(state.names.get((ctx.home(name), name)), Fun | Choice) for name in read):
        state.names = {key: binding for key, binding in state.names.items() if key[1] in read}
    return state


def makes_iterator(ctx: Lowering, node: ast.expr, kinds: tuple[Any, ...]) -> bool:
    """Does an expression make an iterator?"""
    if isinstance(node, ast.GeneratorExp):
        return True
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return False
    held = ctx.evaluate(node.func)
    return isinstance(held, Static) and any(held.value is kind for kind in kinds)


__all__ = ["named_iterator"]
