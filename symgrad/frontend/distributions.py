"""Distributions of ``scipy.stats``: their functions are compositions, and one that is called is one with parameters."""

from __future__ import annotations

import ast

from symgrad.errors import UnknownFunction
from symgrad.frontend.bindings import Binding, External, Frozen, Static
from symgrad.frontend.context import Lowering
from symgrad.frontend.tables import callee
from symgrad.ops.composed.distributions import DISTRIBUTIONS, RAISED, name_of, raised

__all__ = ["call_distribution", "distribution_of"]


def distribution_of(owner: Binding) -> Frozen | None:
    """The distribution that a binding stands for."""
    if isinstance(owner, Frozen):
        return owner
    name = name_of(owner.value) if isinstance(owner, External | Static) else None
    return None if name is None else Frozen(name)


@callee(Frozen)
def freeze(ctx: Lowering, held: Frozen, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """``norm(loc, scale)``."""
    return Frozen(held.distribution, (*held.args, *args), (*held.kwargs, *kwargs.items()))


def call_distribution(ctx: Lowering, held: Frozen, name: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """``norm.pdf(x, loc, scale)``, ``norm(loc, scale).pdf(x)``."""
    known = DISTRIBUTIONS[held.distribution]
    arguments = [*args[:1], *held.args, *args[1:]] if args else list(held.args)
    named = dict(held.kwargs) | kwargs
    if name in known:
        return ctx.apply(Static(known[name]), arguments, named, node)
    if RAISED.get(name) in known:
        logarithm = ctx.apply(Static(known[RAISED[name]]), arguments, named, node)
        return ctx.apply(Static(raised), [logarithm], {}, node)
    raise UnknownFunction(f"scipy.stats.{held.distribution}.{name} has no rule", ctx.loc(node), name=name, known=[*known, *RAISED])
