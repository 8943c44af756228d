"""Methods that dataclasses generate: comparisons, and the text of an instance."""

from __future__ import annotations

import ast
import dataclasses
import sys

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.calls.attributes import attribute_of
from symgrad.frontend.flow.flow import choose
from symgrad.frontend.state.bindings import (
    Binding,
    Num,
    Static,
    Tup,
)
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.values.comparison import comparison
from symgrad.frontend.values.exact import exact_class
from symgrad.frontend.values.printed import for_printing
from symgrad.frontend.values.truths import truth
from symgrad.ir.core import Const

WORDS: dict[str, type[ast.cmpop]] = {"__eq__": ast.Eq, "__lt__": ast.Lt, "__le__": ast.LtE, "__gt__": ast.Gt, "__ge__": ast.GtE}


def call_generated(ctx: Lowering, owner: Binding, base: type, word: str, args: list[Binding], node: ast.AST) -> Binding:
    """The result of a generated method."""
    fields = dataclasses.fields(base)
    if word == "__repr__":
        names = [f.name for f in fields if f.repr]
        values = [for_printing(ctx, attribute_of(ctx, owner, name, node), node, "__repr__") for name in names]
        cls = exact_class(ctx, owner, node)
        template = f"{cls.__qualname__}({', '.join(f'{name}={{!r}}' for name in names)})"
        return Num(ctx.call("format_text", Const(template), *values))
    if word not in WORDS or len(args) != 1:
        raise UnsupportedSyntax(f"{word} of a dataclass is not supported", ctx.loc(node), f"write {word} in the class")
    if exact_class(ctx, args[0], node) is not exact_class(ctx, owner, node):
        return Static(NotImplemented, "NotImplemented")
    names = [f.name for f in fields if f.compare]
    one, two = ([attribute_of(ctx, x, name, node) for name in names] for x in (owner, args[0]))
    if word == "__eq__" and sys.version_info >= (3, 13):
        return all_equal(ctx, one, two, node)
    return comparison(ctx, WORDS[word](), Tup(tuple(one)), Tup(tuple(two)), node)


def all_equal(ctx: Lowering, one: list[Binding], two: list[Binding], node: ast.AST) -> Binding:
    """Whether values are equal pair by pair, up to the first that are not."""
    if not one:
        return Num(Const(True))
    test = truth(ctx, comparison(ctx, ast.Eq(), one[0], two[0], node), node)
    if isinstance(test, Const):
        return all_equal(ctx, one[1:], two[1:], node) if test.value else Num(Const(False))
    return choose(ctx, test, node, lambda: all_equal(ctx, one[1:], two[1:], node), lambda: Num(Const(False)))
