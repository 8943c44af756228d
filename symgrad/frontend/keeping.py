"""Functions whose results are kept, as ``functools.lru_cache`` does it: called anew each time, where nobody can tell."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.bindings import Binding, Num, Static
from symgrad.frontend.context import Lowering
from symgrad.ir.core import Block, Call, walk
from symgrad.ir.types import Scalar

#: decorators that keep results, and what they make
KEEPS = (functools.cache, functools.lru_cache)
KEEPING = (functools._lru_cache_wrapper,)
#: rows of calls that may be seen from outside, or give something else each time
SEEN = ("opaque", "drawn", "generator")


def run_again(ctx: Lowering, tree: ast.AST, call: Callable[[], Binding], node: ast.AST) -> Binding:
    """A call of a function whose results are kept, lowered as if they were not.

    Refused where that would be another program: where it changes something, draws random numbers, or gives what can be changed.
    """
    block, before = ctx.builder.block, len(ctx.builder.block.ops)
    result = None if any(map(changes_something, ast.walk(tree))) else call()
    number = isinstance(result, Static) or isinstance(result, Num) and isinstance(ctx.type_of(result), Scalar)
    ops = walk(Block([], block.ops[before:]))
    if not number or any(isinstance(op, Call) and op.name in SEEN for op in ops):
        what = "a function whose results are kept is called, which changes something, draws random numbers or does not give a number"
        raise UnsupportedSyntax(what, ctx.loc(node), "leave functools.lru_cache out, or call the function before")
    ctx.keeps.append(ctx.loc(node))
    return result if result is not None else Static(None)


def changes_something(node: ast.AST) -> bool:
    """Might it be seen from outside that this runs once more?"""
    if isinstance(node, ast.Subscript | ast.Attribute):
        return isinstance(node.ctx, ast.Store | ast.Del)
    return isinstance(node, ast.Nonlocal | ast.Global) or isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
