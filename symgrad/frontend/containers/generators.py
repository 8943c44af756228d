"""Generators: the body is inlined into the loop that consumes it; the loop's body is lowered at each ``yield``.

So both run interleaved, as in Python. An exit of the consumer's loop returns from the generator.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.containers.resuming import AT, DELEGATED, SENT, SOURCE, VALUE, Resumed, resumable, returned, without_sending
from symgrad.frontend.containers.static_containers import is_of_known_structure
from symgrad.frontend.containers.stepping import FRESH, site_of, use
from symgrad.frontend.flow.edges import fail_unless
from symgrad.frontend.flow.flow import branch, forget_result, leave, proceed, run
from symgrad.frontend.state.bindings import MISSING, Binding, Generator, HeapKey, Num, Obj, Ref, Static
from symgrad.frontend.state.context import WRITTEN_OUT, Lowering
from symgrad.frontend.state.interruptions import NeedsState, Raised
from symgrad.frontend.state.program_state import NEXT, RETURN, Frame, Loop, State
from symgrad.frontend.state.reach import parts_of
from symgrad.frontend.state.tables import SPREAD, expression, special
from symgrad.frontend.text.source import body_nodes, own_nodes
from symgrad.identity import Same
from symgrad.ir.core import FALSE, Const, Operand
from symgrad.ir.types import Array
from symgrad.ops.composed.without_lookahead import Running

#: the most recursive calls of a generator while a program is lowered
MOST_CALLS = 200

__all__ = ["called", "drive", "each_value", "gathered", "send", "yielded"]


def called(ctx: Lowering, frame: Frame, node: ast.FunctionDef, bound: dict[str, Binding], call: ast.AST) -> Generator:
    """The result of a call of a generator function, which has run nothing yet."""
    key = HeapKey("generator", (*site_of(ctx, call), node.name, node.lineno))
    frame.locals |= {DELEGATED, SOURCE, VALUE}
    ctx.state.heap[key] = (("state", FRESH),)
    if key.cls in ctx.stateful and (body := body_to_resume(ctx, node)) is not None:
        frame.locals |= body.names
        for name in sorted(frame.locals):
            ctx.state.names[frame, name] = MISSING
        for name, binding in bound.items():
            ctx.state.names[frame, name] = binding
        ctx.state.names[frame, AT] = Num(Const(0))
        ctx.state.names[frame, VALUE] = Static(None)
        return Generator(node, frame, tuple(bound.items()), key, resumes=True)
    return Generator(node, frame, tuple(bound.items()), key)


def body_to_resume(ctx: Lowering, node: ast.FunctionDef) -> Resumed | None:
    """The body of a generator that is resumed by several statements."""
    bodies = ctx.forms.setdefault("resumable", {})
    if node not in bodies:
        bodies[node] = resumable(node)
    resumed: Resumed | None = bodies[node]
    return resumed


def resume(ctx: Lowering, held: Generator, consume: Callable[[Binding], Operand], node: ast.AST) -> bool:
    """Resume a generator where it was suspended; its variables persist."""
    form = body_to_resume(ctx, held.node)
    assert form is not None
    outer, loc, frame = ctx.frame, ctx.builder.loc, held.frame
    before = frame.consume, frame.consumer, frame.loop
    if frame.consume is not None and form.count > 1:
        raise UnsupportedSyntax("a generator is advanced while a loop iterates over it", ctx.loc(node), "make it a list")
    frame.consume, frame.consumer, frame.loop = consume, outer, None
    ctx.state.names[frame, SENT], frame.sent = frame.sent or Static(None), None
    ctx.frame = frame
    ctx.stack.append((held.node, Same(node)))
    try:
        proceed(ctx)
        forget_result(ctx)
        run(ctx, form.body)
        if ctx.state.dead:
            raise Raised
        forget_result(ctx)
        proceed(ctx)
        ctx.state.names[frame, SENT] = Static(None)
        return True
    finally:
        ctx.stack.pop()
        frame.consume, frame.consumer, frame.loop = before
        ctx.frame, ctx.builder.loc = outer, loc


def send(ctx: Lowering, held: Generator, value: Binding, node: ast.AST) -> Binding:
    """``generator.send(value)``: the next yielded value, after the suspended ``yield`` has received the sent one."""
    if held.key.cls not in ctx.stateful:
        raise NeedsState(frozenset({held.key.cls}))
    if not held.resumes:
        what = "a value is sent to a generator with a yield inside of try, with or an expression"
        raise UnsupportedSyntax(what, ctx.loc(node), "yield in a statement or an assignment of its own")
    if value != Static(None):
        begun = ctx.call("not_equal", ctx.number((held.frame, AT)), Const(0))
        fail_unless(ctx, begun, TypeError, "can't send non-None value to a just-started generator")
    hand_on(ctx, held, value)
    return ctx.apply(Static(next), [held], {}, node)


def hand_on(ctx: Lowering, held: Generator, value: Binding) -> None:
    """Send a value to a generator and, where it is suspended in ``yield from``, to the generator from which that takes its items."""
    held.frame.sent = value
    form = body_to_resume(ctx, held.node)
    for name, number in form.delegates.items() if form is not None else ():
        source = ctx.state.names.get((held.frame, name), MISSING)
        if isinstance(source, Obj) and source.key.cls is Running:
            source = dict(ctx.state.entries(source.key))["generator"] if source.key in ctx.state.heap else MISSING
        if isinstance(source, Generator) and source.resumes:
            hand_on(ctx, source, value)
        elif source != MISSING and value != Static(None):
            elsewhere = ctx.call("not_equal", ctx.number((held.frame, AT)), Const(number))
            fail_unless(ctx, elsewhere, AttributeError, "an iterator that is no generator has no attribute 'send'")


def drive(ctx: Lowering, held: Generator, consume: Callable[[Binding], Operand], node: ast.AST, within: bool = False) -> bool:
    """Lower the generator's body; ``consume`` lowers the use of each value and returns whether that was the last.

    Returns whether the generator can end by itself. ``within``: its handlers see exceptions raised
    by the uses.
    """
    if not within:
        consume = outside_handlers(ctx, held, consume, node)
    if held.resumes:
        return resume(ctx, held, consume, node)
    if held.key.cls in ctx.stateful and dict(ctx.state.entries(held.key))["state"] != FRESH:
        raise UnsupportedSyntax("a generator is iterated over twice", ctx.loc(node), "call its function again")
    use(ctx, held.key)
    held.frame.lives_on = closes(held.node) and is_held(ctx.state, held)
    depth = sum(code is held.node for code, _ in ctx.stack) if held.frame.place is None else 0
    if depth and not is_written_out(ctx, held, depth):
        raise UnsupportedSyntax(
            "a generator that calls itself cannot be differentiated", ctx.loc(node), "write it as a loop that appends to a list"
        )
    outer, loc, frame = ctx.frame, ctx.builder.loc, held.frame
    frame.consume, frame.consumer = consume, outer
    ctx.frame = frame
    ctx.stack.append((held.node, node))
    try:
        for name, binding in held.bound:
            ctx.state.names[frame, name] = binding
        ctx.state.names[frame, VALUE] = Static(None)
        proceed(ctx)
        run(ctx, statements_of(held.node) if frame.place is None else list(held.node.body))
        if ctx.state.dead:
            raise Raised
        ends = NEXT in ctx.state.codes or any(isinstance(n, ast.Return) for n in body_nodes(held.node))
        for key in [n for n in ctx.state.names if n[0] is frame and n[1] != VALUE]:
            del ctx.state.names[key]
        proceed(ctx)
        return ends
    finally:
        ctx.stack.pop()
        ctx.frame, ctx.builder.loc = outer, loc


def is_written_out(ctx: Lowering, held: Generator, depth: int) -> bool:
    """Whether a recursive generator has an argument that bounds its depth, and is called within the limits."""
    calls = ctx.forms.setdefault("generators", {})
    calls[held.node] = calls.get(held.node, 0) + 1
    known = any(is_of_known_structure(ctx, binding) for _, binding in held.bound)
    return known and depth <= WRITTEN_OUT and calls[held.node] <= MOST_CALLS


@lru_cache(maxsize=256)
def statements_of(node: ast.FunctionDef) -> list[ast.stmt]:
    """The body of a generator: a ``StopIteration`` that leaves it becomes a ``RuntimeError`` for its consumer."""
    body = without_sending(list(node.body))
    if not any(may_stop(inner) for inner in body_nodes(node)):
        return body
    told = ast.Call(ast.Name("RuntimeError", ast.Load()), [ast.Constant("generator raised StopIteration")], [])
    handler = ast.ExceptHandler(ast.Name("StopIteration", ast.Load()), None, [ast.Raise(told, None)])
    return [ast.fix_missing_locations(ast.copy_location(ast.Try(body, [handler], [], []), node.body[0]))]


def may_stop(node: ast.AST) -> bool:
    """Whether a statement or a call explicitly may raise ``StopIteration``."""
    match node:
        case (
            ast.Call(func=ast.Name("next"), args=[_]) | ast.Raise(exc=ast.Name("StopIteration") | ast.Call(func=ast.Name("StopIteration")))
        ):
            return True
    return False


def outside_handlers(ctx: Lowering, held: Generator, consume: Callable[[Binding], Operand], node: ast.AST) -> Callable[[Binding], Operand]:
    """Wrap ``consume`` so that its exceptions go to handlers of the consumer, not to those of the generator."""
    outside, runs_more = ctx.watchers, closes(held.node)
    if runs_more:
        SPREAD["unfollowed"](ctx)

    def used(value: Binding) -> Operand:
        inside, mark = ctx.watchers, len(ctx.edges)
        ctx.watchers = outside
        try:
            stop = consume(value)
        finally:
            ctx.watchers = inside
        if runs_more and len(ctx.edges) > mark:
            what = "an exception leaves a loop over a generator with finally or with in it"
            raise UnsupportedSyntax(what, ctx.loc(node), "make it a list first")
        return stop

    return used


def closes(node: ast.FunctionDef) -> bool:
    """Whether closing the generator runs code."""
    guarded = (n for n in body_nodes(node) if isinstance(n, ast.With) or isinstance(n, ast.Try) and n.finalbody)
    return any(isinstance(n, ast.Yield | ast.YieldFrom) for part in guarded for n in own_nodes([part]))


def is_held(state: State, held: Generator) -> bool:
    """Whether a name or an object holds a generator, so that it outlives a loop that is left early."""

    def holds(binding: Any) -> bool:
        return binding is held or any(holds(part) for part in parts_of(binding))

    items = (item for content in state.heap.values() if not isinstance(content, Ref) for _, item in content)
    return any(map(holds, state.names.values())) or any(map(holds, items))


def each_value(ctx: Lowering, held: Generator, loop: Loop, body: Callable[[Binding], None], node: ast.AST) -> bool:
    """Iterate over a generator with statements that may break, continue and return; returns whether it can end by itself."""
    consumer, stack = ctx.frame, list(ctx.stack)
    ctx.state.names[loop.exit] = Num(Const(NEXT))
    ctx.state.names[loop.stop] = Num(FALSE)

    def consume(value: Binding) -> Operand:
        yielding, loc, outer, inside = ctx.frame, ctx.builder.loc, consumer.loop, ctx.stack
        ctx.frame, consumer.loop, ctx.stack = consumer, loop, list(stack)
        ctx.state.names[loop.stop] = Num(FALSE)
        forget_result(ctx)
        try:
            body(value)
        finally:
            ctx.frame, consumer.loop, ctx.builder.loc, ctx.stack = yielding, outer, loc, inside
        if ctx.state.dead:
            return FALSE
        proceed(ctx)
        return ctx.number(loop.stop)

    return drive(ctx, held, consume, node)


def gathered(ctx: Lowering, held: Generator, keep: Callable[[Binding], None], node: ast.AST, lazily: bool = True) -> None:
    """Apply ``keep`` to all values; ``lazily`` copies an array before the next value is computed."""
    endless = [n for n in body_nodes(held.node) if isinstance(n, ast.While) and isinstance(n.test, ast.Constant) and n.test.value]
    if endless and not any(isinstance(n, ast.Return | ast.Break | ast.Raise) or may_stop(n) for n in body_nodes(held.node)):
        raise UnsupportedSyntax("an endless generator is collected", ctx.loc(node), "iterate over it in a for statement that breaks")
    consumer = ctx.frame

    def consume(value: Binding) -> Operand:
        yielding = ctx.frame
        if lazily and isinstance(value, Ref) and isinstance(ctx.type_of(value), Array):
            value = ctx.make(ctx.call("copy", ctx.read(value, node)))
        ctx.frame = consumer
        try:
            keep(value)
        finally:
            ctx.frame = yielding
        return FALSE

    drive(ctx, held, consume, node)


def yielded(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> bool:
    """``yield value`` as a statement."""
    if isinstance(node, ast.YieldFrom):
        item = ast.Name(DELEGATED, ast.Load())
        over = ast.For(ast.Name(DELEGATED, ast.Store()), node.value, [ast.Expr(ast.Yield(item))], [])
        run(ctx, [ast.fix_missing_locations(ast.copy_location(over, node)), *rest])
        return True
    if ctx.frame.consume is None:
        raise UnsupportedSyntax(
            "a generator cannot itself be differentiated", ctx.loc(node), "differentiate a function that iterates over it"
        )
    stop = ctx.frame.consume(Static(None) if node.value is None else ctx.evaluate(node.value))
    if ctx.frame.lives_on and stop != FALSE:
        what = "a generator with finally or with in it is left early, and is closed later"
        raise UnsupportedSyntax(what, ctx.loc(node), "iterate over it where it is created")
    return branch(ctx, stop, lambda: leave(ctx, RETURN), lambda: None, rest, ctx.loc(node))


@special(returned)
def value_of(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """The result of an exhausted generator, for ``yield from``."""
    source = args[0]
    return ctx.state.names.get((source.frame, VALUE), Static(None)) if isinstance(source, Generator) else Static(None)


@expression(ast.Yield, ast.YieldFrom)
def sent(ctx: Lowering, node: ast.Yield | ast.YieldFrom) -> Binding:
    if isinstance(node, ast.YieldFrom):
        hint = f"assign it first, as in value = yield from {ast.unparse(node.value)}"
        raise UnsupportedSyntax("a yield from inside of an expression cannot be differentiated", ctx.loc(node), hint)
    raise UnsupportedSyntax(
        "a yield inside of an expression cannot be differentiated", ctx.loc(node), "yield in a statement or an assignment of its own"
    )
