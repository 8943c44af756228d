"""Functions that call themselves: a ``Func`` of their own, lowered until the type of its result is known."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import Any

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.activation import bind_arguments, body_result, default_bindings
from symgrad.frontend.bindings import Binding, Fun, Location, Maybe, Num, OneOf, Ref, Static, Tup
from symgrad.frontend.context import Lowering
from symgrad.frontend.filling import operands_of
from symgrad.frontend.frames import Frame
from symgrad.frontend.interruptions import Raised, Unresolved
from symgrad.frontend.reach import memory_within, objects_around
from symgrad.frontend.scopes import local_names
from symgrad.frontend.sequences import of_any_length, own_lists
from symgrad.frontend.skeletons import NOTHING, Skeleton, leaves, merge, rebuild
from symgrad.frontend.source import Source
from symgrad.frontend.tables import SPREAD
from symgrad.ir.core import Apply, Block, Func, Operand, Value, substitute, walk
from symgrad.ir.types import Array, Dim, List, Scalar, Type

ROUNDS = 6
RETURNED = ("num", "array", "tuple", "maybe", "oneof", "object")  #: forms of results
DEEP = 12  #: forms of the arguments of one function, each met while the one before is lowered


@dataclass(slots=True)
class Recursive:
    """A function that calls itself, for some types of its arguments."""

    func: Func
    form: Skeleton = NOTHING
    known: bool = False
    done: bool = False


@dataclass(frozen=True, slots=True)
class Callee:
    """A function of the user's: its tree, the frame around it (nested ones have one), and what it is known by."""

    node: ast.FunctionDef | ast.Lambda
    source: Source
    parent: Frame | None
    code: Any

    @property
    def name(self) -> str:
        return "lambda_" if isinstance(self.node, ast.Lambda) else self.node.name


def call_recursive(ctx: Lowering, source: Source, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """Call a function that calls itself; it becomes a function of the program."""
    callee = Callee(source.node, source, None, source.function)
    bound = bind_arguments(ctx, source.node.args, args, kwargs, default_bindings(ctx, source), source.name, False)
    outermost = not any(k[0] == callee.code and not v.done for k, v in ctx.recursive.items())
    try:
        return call_callee(ctx, callee, bound, node)
    finally:
        if outermost and ctx.global_sources:  # a global variable may have another value at the next call
            forget(ctx, callee)


def call_nested_recursive(ctx: Lowering, function: Fun, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """The same for a nested function; what it reads of the functions around it is handed to it at each call."""
    callee = Callee(function.node, function.frame.source, function.frame, (function.node, function.frame))
    outermost = not any(v.func.name == callee.name and not v.done for v in ctx.recursive.values())
    try:
        bound = bind_arguments(ctx, function.node.args, args, kwargs, dict(function.defaults), callee.name, False)
        return call_callee(ctx, callee, bound, node)
    finally:
        if outermost:  # the variables around it may have other values at the next call
            forget(ctx, callee)


def forget(ctx: Lowering, callee: Callee) -> None:
    """Lower a function anew at its next call."""
    for key in [k for k in ctx.recursive if k[0] == callee.code]:
        del ctx.recursive[key]


def call_callee(ctx: Lowering, source: Callee, bound: dict[str, Binding], node: ast.AST) -> Binding:
    operands: list[Operand] = []
    forms = {name: general(ctx, binding, operands, node) for name, binding in bound.items()}
    key = (source.code, tuple(forms.items()))
    record = ctx.recursive.get(key)
    if record is None and sum(k[0] == source.code and not v.done for k, v in ctx.recursive.items()) > DEEP:
        what = f"{source.name} calls itself with other functions, texts or forms of arguments each time"
        raise UnsupportedSyntax(what, ctx.loc(node), "hand it numbers and arrays")
    if record is None:
        record = ctx.recursive[key] = Recursive(Func(source.name, loc=source.source.loc(source.node)))
        settle(ctx, source, forms, record, node)
    if not record.known:
        raise Unresolved
    SPREAD["unfollowed"](ctx)
    op = Apply([Value(ctx.builder.freshen(leaf.type)) for leaf in leaves(record.form)], ctx.builder.loc, record.func, operands)
    ctx.builder.append(op)
    result = rebuild(record.form, list(op.outs), ctx.state, None, ctx.builder.loc)
    ctx.state.twins |= frozenset(objects_around(result, ctx.state))  # they may be what was given
    for location in memory_within(result, ctx.state):
        for argument in bound.values():
            for source_ in memory_within(argument, ctx.state):
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
        case Maybe(present, inner, absent):
            operands.append(present)
            return Skeleton("maybe", items=(general(ctx, inner, operands, node),), same=absent)
        case OneOf(place, values):
            operands.append(place)
            return Skeleton("oneof", same=values)
        case Static() | Fun():
            return Skeleton("same", same=binding)
        case _ if (form := of_any_length(ctx, binding)) is not None:
            value = ctx.read(binding, node)
            operands.append(value)
            return replace(form, items=(Skeleton("array", widened(value.type)),))
    raise UnsupportedSyntax("a function that calls itself takes numbers, arrays and tuples of these", ctx.loc(node))


def widened(type_: Type) -> Type:
    if isinstance(type_, Array) and type_.shape is not None:
        return Array(type_.dtype, tuple(Dim("?") for _ in type_.shape))
    return List(widened(type_.item), type_.of) if isinstance(type_, List) else type_


def settle(ctx: Lowering, source: Callee, forms: dict[str, Skeleton], record: Recursive, node: ast.AST) -> None:
    """Lower the body until the form of the result no longer changes."""
    for _ in range(ROUNDS):
        before = ctx.unresolved
        form = lower_body(ctx, source, forms, record, node)
        if record.known and form == record.form and ctx.unresolved == before:
            record.done = True
            return
        if record.known and form == record.form and any(not other.done and other is not record for other in ctx.recursive.values()):
            # it waits for the result of a function around it: good for the type only, lowered again the next time
            for key in [k for k, v in ctx.recursive.items() if v is record]:
                del ctx.recursive[key]
            return
        record.form, record.known = merge(record.form, form), True
    raise UnsupportedSyntax(f"the type of what {source.name} returns does not settle", ctx.loc(node))


def lower_body(ctx: Lowering, source: Callee, forms: dict[str, Skeleton], record: Recursive, node: ast.AST) -> Skeleton:
    """One attempt at the body; the form of its result."""
    frame = Frame(source.source, source.parent, local_names(source.node))
    outer = (ctx.state, ctx.frame, ctx.builder.loc)
    entry = ctx.state.copy()
    ctx.state, ctx.frame = entry.copy(), frame
    params: list[Value] = []
    for name, form in forms.items():
        values = [Value(ctx.builder.freshen(leaf.type), name) for leaf in leaves(form)]
        params += values
        ctx.state.names[frame, name] = argument = rebuild(form, list(values), ctx.state, name, ctx.builder.loc)
        ctx.state.twins |= frozenset(objects_around(argument, ctx.state))  # they are the caller's
    block = Block(params)
    ctx.stack.append((source.code, node))
    try:
        with ctx.inside(block):
            try:
                result = body_result(ctx, frame, source.node)
            except Raised:
                raise UnsupportedSyntax(f"{source.name} calls itself and always raises", ctx.loc(node)) from None
            state = ctx.state
            form = own_lists(ctx.skeleton(result, state))
            if any(leaf.form not in ("num", "array") for leaf in leaves(form)) or form.form not in RETURNED:
                raise UnsupportedSyntax(
                    f"{source.name} calls itself and returns something that is not a number, array or tuple", ctx.loc(node)
                )
            target = merge(record.form, form) if record.known else form
            block.yields = operands_of(ctx, result, target)
        rebound = [
            name for name, binding in entry.names.items() if name[0] is not None and state.names.get(name) != binding and name[1] != "stop"
        ]
        if rebound:
            raise UnsupportedSyntax(
                f"{source.name} calls itself and assigns to a variable around it", ctx.loc(node), "return the value instead"
            )
        if any(state.heap.get(key) != content for key, content in entry.heap.items()):
            what = f"{source.name} calls itself and changes a list, dict or instance of the function around it"
            raise UnsupportedSyntax(what, ctx.loc(node), "return the value instead")
        written = [loc for loc, value in entry.memory.items() if state.memory.get(loc) is not value]
        own = [b for v in params for loc, b in state.memory.items() if isinstance(loc, Location) and loc.name == v.name and b is v]
        arrays = [v for v in params if not isinstance(v.type, Scalar)]
        if written or len(set(own)) < len([v for v in arrays if isinstance(v.type, Array)]):
            raise UnsupportedSyntax(f"{source.name} calls itself and writes to an array it is given", ctx.loc(node), "copy it first")
    finally:
        ctx.stack.pop()
        ctx.state, ctx.frame, ctx.builder.loc = outer
    record.func.body = block
    record.func.results = ["out"] if len(block.yields) == 1 else [f"out_{k}" for k in range(len(block.yields))]
    return form


def close(ctx: Lowering, body: Block) -> None:
    """What the functions applied in a body read from around them becomes parameters, handed on at each call."""
    funcs = [func for func in applied(body) if func not in ctx.closed]
    inside = {func: defined(func.body) for func in funcs}
    free = {func: dict.fromkeys(v for v in read_in(func.body) if v not in inside[func]) for func in funcs}
    size = -1
    while size != (size := sum(map(len, free.values()))):
        for func in funcs:
            for other in applied(func.body):
                free[func] |= {v: None for v in free.get(other, ctx.closed.get(other, ())) if v not in inside[func]}
    ctx.closed.update({func: list(values) for func, values in free.items()})
    for func in funcs:
        params = {v: Value(v.type, v.name) for v in free[func]}
        hand_on(ctx, func.body, params)
        substitute(func.body, dict(params))
        func.body.args += params.values()
    hand_on(ctx, body, {})


def hand_on(ctx: Lowering, body: Block, params: dict[Value, Value]) -> None:
    """Complete the arguments of the calls in a body."""
    for op in walk(body):
        if isinstance(op, Apply) and op not in ctx.completed:
            assert op.func is not None
            op.args = [*op.args, *(params.get(v, v) for v in ctx.closed.get(op.func, ()))]
            ctx.completed.add(op)


def applied(body: Block) -> list[Func]:
    """Every function that a body calls, directly or through others, in order."""
    funcs: dict[Func, None] = {}
    todo = [body]
    while todo:
        for op in walk(todo.pop()):
            if isinstance(op, Apply) and op.func is not None and op.func not in funcs:
                funcs[op.func] = None
                todo.append(op.func.body)
    return list(funcs)


def defined(block: Block) -> set[Value]:
    """Every value that a block or one inside it defines."""
    values = set(block.args)
    for op in block.ops:
        values.update(op.outs)
        for child in op.blocks:
            values |= defined(child)
    return values


def read_in(block: Block) -> list[Value]:
    """Every value that a block or one inside it reads, in order."""
    values = [o for op in walk(block) for o in op.operands if isinstance(o, Value)]
    blocks = [block, *(child for op in walk(block) for child in op.blocks)]
    return values + [o for inner in blocks for o in inner.yields if isinstance(o, Value)]


__all__ = ["Any", "call_recursive", "close"]
