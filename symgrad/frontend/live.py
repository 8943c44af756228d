"""Loops over lists that their own bodies change: the number of iterations is known at run time only."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

from symgrad.frontend.bindings import Binding, Name, Num
from symgrad.frontend.context import Lowering
from symgrad.frontend.flow import conditional
from symgrad.frontend.iterate import Items, items_of
from symgrad.frontend.program_state import Loop
from symgrad.ir.core import ONE, Const, Operand


def rounds_from(ctx: Lowering, over: Binding, place: int, key: Any, guess: Iterable[Name], body: Callable[[Binding], None],
                node: ast.AST) -> Loop:  # fmt: skip
    """The iterations over a list from an index on: each reads the present length of the list, and the item at its index."""
    number = next(ctx.builder.fresh)
    held, at = (ctx.frame, f"%over{number}"), (ctx.frame, f"%at{number}")
    ctx.state.names |= {held: over, at: Num(Const(place))}

    def items() -> Items:
        result = items_of(ctx, ctx.state.names[held], node)
        assert isinstance(result, Items)
        return result

    def test() -> Operand:
        return ctx.call("less", ctx.number(at), items().bounds[1])

    def one_round() -> None:
        index = ctx.number(at)
        item = items().item(index)
        ctx.state.names[at] = Num(ctx.call("add", index, ONE))
        body(item)

    result = conditional(ctx, key, [*guess, at], test, one_round, ctx.loc(node))
    for name in (held, at):
        ctx.state.names.pop(name, None)
    return result


__all__ = ["rounds_from"]
