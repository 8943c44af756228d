"""Functions that call themselves: a ``Func`` of their own, lowered until the type of its result is known."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.bindings import (
    NOTHING,
    Binding,
    Fun,
    Location,
    Num,
    Ref,
    Skeleton,
    Static,
    Tup,
    array_leaves,
    leaves,
    merge,
    operands_of,
    rebuild,
)
from symgrad.frontend.calls import bind_arguments, body_result, default_bindings, local_names
from symgrad.frontend.context import Frame, Lowering, Unresolved
from symgrad.frontend.source import Source
from symgrad.ir.core import Apply, Block, Func, Operand, Value, substitute, walk
from symgrad.ir.types import Array, Dim, Scalar, Type

ROUNDS = 6


@dataclass(slots=True)
class Recursive:
    """A function that calls itself, for some types of its arguments; ``extra`` is what it reads from around it."""

    func: Func
    form: Skeleton = NOTHING
    known: bool = False
    done: bool = False
    extra: list[Value] = field(default_factory=list)


def call_recursive(ctx: Lowering, source: Source, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """Call a function that calls itself; it becomes a function of the program."""
    bound = bind_arguments(ctx, source.node.args, args, kwargs, default_bindings(ctx, source), node)
    operands: list[Operand] = []
    forms = {name: general(ctx, binding, operands, node) for name, binding in bound.items()}
    key = (source.function.__code__, tuple(forms.items()))
    made = ctx.recursive.get(key)
    if made is None:
        made = ctx.recursive[key] = Recursive(Func(source.name, loc=source.loc(source.node)))
        settle(ctx, source, forms, made, node)
    if not made.known:
        raise Unresolved
    op = Apply([Value(ctx.builder.freshen(leaf.type)) for leaf in leaves(made.form)], ctx.builder.loc, made.func, [*operands, *made.extra])
    ctx.builder.append(op)
    result = rebuild(made.form, list(op.outs), ctx.state, None, ctx.builder.loc)
    for location in array_leaves(result):
        for argument in bound.values():
            for source_ in array_leaves(argument):
                if location is not None and source_ is not None:
                    ctx.state.pair(location, source_)
    return result


def general(ctx: Lowering, binding: Binding, operands: list[Operand], node: ast.AST) -> Skeleton:
    """The form of an argument without what changes from call to call: values, extents."""
    match binding:
        case Num(operand):
            operands.append(operand)
            return Skeleton("num", operand.type)
        case Ref():
            value = ctx.read(binding, node)
            operands.append(value)
            return Skeleton("array", widened(value.type))
        case Tup(items, kind):
            return Skeleton("tuple", items=tuple(general(ctx, i, operands, node) for i in items), same=kind)
        case Static() | Fun():
            return Skeleton("same", same=binding)
    raise UnsupportedSyntax("a function that calls itself takes numbers, arrays and tuples of these", ctx.loc(node))


def widened(type_: Type) -> Type:
    if isinstance(type_, Array) and type_.shape is not None:
        return Array(type_.dtype, tuple(Dim("?") for _ in type_.shape))
    return type_


def settle(ctx: Lowering, source: Source, forms: dict[str, Skeleton], made: Recursive, node: ast.AST) -> None:
    """Lower the body until the form of the result no longer changes."""
    for _ in range(ROUNDS):
        before = ctx.unresolved
        form = lower_body(ctx, source, forms, made, node)
        if made.known and form == made.form and ctx.unresolved == before:
            made.done = True
            close(made)
            return
        if made.known and form == made.form and any(not other.done and other is not made for other in ctx.recursive.values()):
            # it waits for the result of a function around it: good for the type only, lowered again the next time
            for key in [k for k, v in ctx.recursive.items() if v is made]:
                del ctx.recursive[key]
            return
        made.form, made.known = merge(made.form, form), True
    raise UnsupportedSyntax(f"the type of what {source.name} returns does not settle", ctx.loc(node))


def lower_body(ctx: Lowering, source: Source, forms: dict[str, Skeleton], made: Recursive, node: ast.AST) -> Skeleton:
    """One attempt at the body; the form of its result."""
    frame = Frame(source, None, local_names(source.node))
    outer = (ctx.state, ctx.frame, ctx.builder.loc)
    entry = ctx.state.copy()
    ctx.state, ctx.frame = entry.copy(), frame
    params: list[Value] = []
    for name, form in forms.items():
        values = [Value(ctx.builder.freshen(leaf.type), name) for leaf in leaves(form)]
        params += values
        ctx.state.names[frame, name] = rebuild(form, list(values), ctx.state, name, ctx.builder.loc)
    block = Block(params)
    ctx.stack.append((source.function.__code__, id(node)))
    try:
        with ctx.inside(block):
            result = body_result(ctx, frame, source.node)
            state = ctx.state
            form = ctx.skeleton(result, state)
            if any(leaf.form not in ("num", "array") for leaf in leaves(form)) or form.form not in ("num", "array", "tuple"):
                raise UnsupportedSyntax(f"{source.name} calls itself and returns something that is not a number, array or tuple", ctx.loc(node))
            target = merge(made.form, form) if made.known else form
            block.yields = operands_of(result, target, ctx.read, lambda ref: ref.location in state.stale)
        written = [loc for loc, value in entry.memory.items() if state.memory.get(loc) is not value]
        own = [b for v in params for loc, b in state.memory.items() if isinstance(loc, Location) and loc.name == v.name and b is v]
        arrays = [v for v in params if not isinstance(v.type, Scalar)]
        if written or len({id(b) for b in own}) < len([v for v in arrays if isinstance(v.type, Array)]):
            raise UnsupportedSyntax(f"{source.name} calls itself and writes to an array it is given", ctx.loc(node), "copy it first")
    finally:
        ctx.stack.pop()
        ctx.state, ctx.frame, ctx.builder.loc = outer
    made.func.body = block
    made.func.results = ["out"] if len(block.yields) == 1 else [f"out_{k}" for k in range(len(block.yields))]
    return form


def close(made: Recursive) -> None:
    """What the body reads from around it becomes parameters, handed on at each call."""
    body = made.func.body
    inside: set[Value] = set(body.args)

    def define(block: Block) -> None:
        inside.update(block.args)
        for op in block.ops:
            inside.update(op.outs)
            for child in op.blocks:
                define(child)

    define(body)
    found: dict[Value, None] = {}

    def read(block: Block) -> None:
        for op in block.ops:
            found.update(dict.fromkeys(o for o in op.operands if isinstance(o, Value) and o not in inside))
            for child in op.blocks:
                read(child)
        found.update(dict.fromkeys(o for o in block.yields if isinstance(o, Value) and o not in inside))

    read(body)
    made.extra = list(found)
    params = [Value(v.type, v.name) for v in made.extra]
    substitute(body, dict(zip(made.extra, params, strict=True)))
    body.args += params
    for op in walk(body):
        if isinstance(op, Apply) and op.func is made.func and len(op.args) < len(body.args):
            op.args = [*op.args, *params]


__all__ = ["Any", "call_recursive"]
