"""A call of a ``custom_jvp`` -> the function itself and ``custom``, whose backward function is the transposed tangent rule.

The rule is linear in the tangents, so its reverse with respect to them is the backward function;
forward mode transposes that once more.
"""

from __future__ import annotations

import ast

from symgrad.errors import BadArgument, NoDerivative, ShapeMismatch, UnsupportedSyntax
from symgrad.frontend.derivatives.inner import Fresh
from symgrad.frontend.flow.entry_copies import copy_written
from symgrad.frontend.functions.recursion import close_over, keep_arguments
from symgrad.frontend.state.bindings import Binding, Num, Obj, Ref, Static, Tup
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.interruptions import Raised
from symgrad.ir.core import Block, Call, Const, Func, Operand, Undef, Value, clone_block, substitute, walk
from symgrad.ir.layout import joins
from symgrad.ir.types import Array, Scalar, Type, is_float, is_plural
from symgrad.ir.walks import free_values
from symgrad.ops.declarations import Custom

#: rows that read only the form of an operand, with the index of that operand
FORMS = {"shape_of": 0, "extent": 0, "zeros_like": 0, "list_zeros": 0, "in_form": 1}

#: rows that add or select operands, with the operands that they add or select
SUMMED = {"add": slice(None), "subtract": slice(None), "where": slice(1, None)}
#: rows of arrays of zeros or without contents
NOTHING = frozenset({"zeros", "zeros_like", "zeros_of", "empty", "empty_like"})


def tangents_like(ctx: Lowering, fresh: Fresh, arg: Binding) -> Binding:
    """Parameters for the tangents of an argument, in its structure; None for a part without a tangent."""
    match arg:
        case Tup(items, kind):
            return Tup(tuple(tangents_like(ctx, fresh, item) for item in items), kind)
        case Num() | Ref() if is_float(ctx.type_of(arg)):
            return fresh.binding(arg)
    return Static(None)


def backward_of_rule(
    ctx: Lowering, custom: Custom, name: str, value: Operand, args: list[Binding], actives: list[Operand], node: ast.AST
) -> tuple[Func, list[Operand]]:
    """The backward function as IR, and the values that it reads; its parameters are the cotangent and those values."""
    if ctx.derive is None:
        raise UnsupportedSyntax(f"{name} is a custom_jvp, and its derivative cannot be taken here", ctx.loc(node))
    if any(isinstance(arg, Obj) for arg in args):
        raise UnsupportedSyntax(f"{name} takes a container; a custom_jvp takes numbers, arrays and tuples", ctx.loc(node))
    rule, tangents, held = rule_of(ctx, custom, name, value, args, node)
    refuse_constants(ctx, name, rule.body, tangents, node)
    reverse: Func = ctx.derive("transpose", rule, list(range(len(tangents))), [0], ctx.builder.taken)
    params = reverse.body.args
    copy = clone_block(Block(params, reverse.body.ops, reverse.body.yields), {})
    dummies, inner, seed = copy.args[: len(tangents)], copy.args[len(tangents) : -1], copy.args[-1]
    refuse_other_than_linear(ctx, name, copy, dummies, node)
    primals = [Value(dummy.type, dummy.name) for dummy in dummies]  # they have the form of their tangents
    substitute(copy, dict(zip(dummies, primals, strict=True)))
    copy.args = [seed, *inner, *primals]
    func = Func("backward", copy, [f"grad{k}" for k in range(len(copy.yields))], ctx.loc(node))
    copy_written(func, ctx.loc(node))
    return func, [*held, *actives]


def rule_of(
    ctx: Lowering, custom: Custom, name: str, value: Operand, args: list[Binding], node: ast.AST
) -> tuple[Func, list[Value], list[Value]]:
    """The user's rule as a function of the tangents, with the tangents and its free values; it returns one tangent."""
    entry = ctx.state
    ctx.state = entry.copy()
    fresh, block = Fresh(ctx), Block()
    directions = Tup(tuple(tangents_like(ctx, fresh, arg) for arg in args))
    with ctx.inside(block):
        try:
            result = ctx.apply(Static(custom.jvp), [Tup(tuple(args)), directions], {}, node)
        except Raised:
            raise UnsupportedSyntax(f"the rule of {name} always raises", ctx.loc(node)) from None
        if not isinstance(result, Tup) or len(result.items) != 2 or not isinstance(result.items[1], Num | Ref):
            raise UnsupportedSyntax(f"the rule of {name} must return a pair: the result, and its tangent", ctx.loc(node))
        tangent = ctx.read(result.items[1], node)
    if any(ctx.state.memory.get(k) is not v for k, v in entry.memory.items()):
        raise UnsupportedSyntax(f"the rule of {name} writes to outside memory", ctx.loc(node), "write to a copy")
    ctx.state = entry
    if not isinstance(tangent, Value):
        raise NoDerivative(f"the rule of {name} gives a tangent that does not depend on the tangents of its arguments", ctx.loc(node))
    if surely_differ(tangent.type, value.type):
        raise ShapeMismatch(f"the rule of {name} gives a tangent that is {tangent.type} for a result that is {value.type}", ctx.loc(node))
    block.yields = [tangent]
    close_over(ctx, block)
    keep_arguments(ctx)
    tangents = [param for param, _ in fresh.pairs]
    held = free_values(block, tangents)
    copies = {v: Value(v.type, v.name) for v in held}
    substitute(block, dict(copies))
    block.args = [*tangents, *copies.values()]
    func = Func("rule", block, ["tangent"], ctx.loc(node))
    copy_written(func, ctx.loc(node))
    return func, tangents, list(held)


def surely_differ(one: Type, other: Type) -> bool:
    """Whether two numbers or arrays certainly differ in shape."""
    shapes = [() if isinstance(t, Scalar) else t.shape if isinstance(t, Array) else None for t in (one, other)]
    if shapes[0] is None or shapes[1] is None:
        return False
    if len(shapes[0]) != len(shapes[1]):
        return True
    return any(
        a != b and (isinstance(a, int) and (isinstance(b, int) or a == 1 and is_plural(b)) or b == 1 and is_plural(a))
        for a, b in zip(shapes[0], shapes[1], strict=True)
    )


def refuse_other_than_linear(ctx: Lowering, name: str, block: Block, tangents: list[Value], node: ast.AST) -> None:
    """Refuse a rule whose reverse reads tangents: it is not linear in them."""
    asked = set(tangents)
    for op in walk(block):
        for place, operand in enumerate(op.operands):
            if operand in asked and not (isinstance(op, Call) and FORMS.get(op.name) == place):
                raise BadArgument(
                    f"the rule of {name} is not linear in the tangents", ctx.loc(node), "let it be a sum of factors times tangents"
                )
    if any(operand in asked for operand in block.yields):
        raise BadArgument(f"the rule of {name} is not linear in the tangents", ctx.loc(node))


def refuse_constants(ctx: Lowering, name: str, block: Block, tangents: list[Value], node: ast.AST) -> None:
    """Refuse an operand that is added to a tangent, or replaces it on a path, and is independent of tangents: the transpose drops it."""
    ops = list(walk(block))
    dependent: set[Operand] = set(tangents)
    count = -1
    while count != len(dependent):
        count = len(dependent)
        for op in ops:
            dependent.update(value for value, operands in joins(op) if dependent.intersection(operands))
            if isinstance(op, Call) and dependent.intersection(op.args):
                dependent.update(op.outs)
    makers = {out: op for op in ops if isinstance(op, Call) for out in op.outs}

    def is_nothing(operand: Operand) -> bool:
        maker = makers.get(operand) if isinstance(operand, Value) else None
        if isinstance(operand, Const):
            return isinstance(operand.value, Undef) or operand.value == 0
        return maker is not None and maker.name in NOTHING or not isinstance(operand.type, Scalar | Array)

    summed = [op.args[SUMMED[op.name]] for op in ops if isinstance(op, Call) and op.name in SUMMED]
    for operands in [*summed, *(operands for op in ops for _, operands in joins(op))]:
        if dependent.intersection(operands) and not all(operand in dependent or is_nothing(operand) for operand in operands):
            what = f"the rule of {name} adds something to the tangent that does not depend on the tangents"
            raise BadArgument(what, ctx.loc(node), "let it be a sum of factors times tangents")


__all__ = ["backward_of_rule"]
