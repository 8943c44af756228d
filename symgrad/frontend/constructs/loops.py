"""``for`` and ``while`` to loops of the IR, or to unrolled iterations where a loop is impossible."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.constructs.targets import bind
from symgrad.frontend.containers.generators import each_value
from symgrad.frontend.containers.iterables import (
    UNROLLED,
    Firsts,
    Items,
    firsts_now,
    held_lists,
    indices_of,
    items_now,
    items_of,
    items_of_loop,
    shape_of_object,
)
from symgrad.frontend.containers.stepping import begin, sites_of, with_position
from symgrad.frontend.containers.zipping import lengths_compared
from symgrad.frontend.flow.absent import definite
from symgrad.frontend.flow.flow import TestChanges, branch, conditional, counted, forget_result, guess_names, leave, loop_key, proceed, run
from symgrad.frontend.objects.derived import as_base
from symgrad.frontend.state.abstract_values import static_part
from symgrad.frontend.state.bindings import MISSING, Binding, Generator, Iter, Name, Num, Obj, Ref, View, is_range
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.interruptions import Raised
from symgrad.frontend.state.program_state import BREAK, NEXT, RETURN, Going, Loop, held_items, is_long
from symgrad.frontend.state.tables import statement
from symgrad.frontend.text.source import assigned
from symgrad.frontend.values.truths import condition
from symgrad.ir.core import FALSE, ONE, TRUE, Block, Const, Operand, Value

ENDLESS = 1000  #: the most iterations of a loop over a list that its own body extends


@statement(ast.For)
def for_(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> bool:
    iterable, sites = ctx.evaluate(node.iter), frozenset[Any]()
    if not is_range(iterable):
        iterable = as_base(ctx, iterable, "__iter__")
        sites = sites_of(ctx, iterable, node.iter)
        iterable = begin(ctx, with_position(ctx, iterable, node.iter), node.iter)
    if isinstance(iterable, Generator):
        return over_generator(ctx, node, iterable, rest)
    check = None  #: of the lengths, after the iterations that precede the end of the shortest
    if isinstance(iterable, Iter) and iterable.kind == "zip_strict" and not ctx.unroll:
        shorter = replace(iterable, kind="zip")
        if not isinstance(items_of_loop(ctx, shorter, node.iter), list):
            check, iterable = lengths_compared(ctx, iterable.parts, node.iter), shorter
    items = items_of_loop(ctx, iterable, node.iter)
    if isinstance(items, Firsts):
        return firsts_written_out(ctx, node, iterable, items.most, rest, check)
    if isinstance(items, list):
        return unrolled(ctx, node, iterable, items, rest, sites)
    if ctx.unroll and (indices := indices_of(items)) is not None:
        return unrolled(ctx, node, iterable, [Later(items, Const(k)) for k in indices], rest, sites)
    going = Going(held_lists(ctx, iterable), sites)
    # during the loop, arrays have names of their own: rebinding the user's names must not change the iterable
    held = {(ctx.frame, f"%over{next(ctx.builder.fresh)}"): array for array in arrays_of(iterable)}
    ctx.state.names |= held

    def body(index: Value) -> None:
        ctx.going.append(going)
        try:
            now = items_of(ctx, over_arrays(iterable, iter([ctx.state.names[name] for name in held])), node.iter) if held else items
            assert isinstance(now, Items)
            bind(ctx, node.target, now.item(index))
            run(ctx, node.body)
        finally:
            ctx.going.pop()

    hint = node.target.id if isinstance(node.target, ast.Name) and items.counts else None
    guess = guess_names(ctx, [node.target, *node.body])
    ctx.loops[ctx.loc(node)] = tuple(sorted(assigned([node.target])))
    loop_ = counted(ctx, loop_key(ctx, node), guess, items.bounds, body, ctx.loc(node), hint)
    for name in held:
        ctx.state.names.pop(name, None)
    check_after(ctx, loop_, check, node)
    return after_loop(ctx, loop_, node.orelse, rest)


def check_after(ctx: Lowering, loop: Loop, check: Callable[[], None] | None, node: ast.For | ast.While) -> None:
    """Emit the exception for a loop that has run all its iterations."""
    if check is not None and not ctx.state.dead:
        branch(ctx, same(ctx, ctx.number(loop.exit, Const(NEXT)), NEXT), check, lambda: None, [], ctx.loc(node))


def arrays_of(iterable: Binding) -> list[Ref]:
    """The arrays that an iterable reads."""
    match iterable:
        case Ref():
            return [iterable]
        case Iter(parts=parts):
            return [array for part in parts if isinstance(part, Ref | Iter) for array in arrays_of(part)]
    return []


def over_arrays(iterable: Binding, arrays: Iterator[Binding]) -> Binding:
    """The same iterable over other arrays."""
    match iterable:
        case Ref():
            return next(arrays)
        case Iter(parts=parts):
            return replace(iterable, parts=tuple(over_arrays(part, arrays) if isinstance(part, Ref | Iter) else part for part in parts))
    return iterable


def over_generator(ctx: Lowering, node: ast.For, held: Generator, rest: list[ast.stmt]) -> bool:
    """A loop over the values of a generator."""
    loop = Loop(0)

    def body(value: Binding) -> None:
        bind(ctx, node.target, value)
        run(ctx, node.body)

    ends = each_value(ctx, held, loop, body, node.iter)
    if not ends and loop.exits == {RETURN}:
        leave(ctx, RETURN)  # there is no other exit
        return False
    return after_loop(ctx, loop, node.orelse, rest)


@dataclass(frozen=True, slots=True)
class Later:
    """An item that is read when its iteration begins."""

    items: Items
    index: Const


def unrolled(ctx: Lowering, node: ast.For, iterable: Binding, items: list[Any], rest: list[ast.stmt], sites: frozenset[Any]) -> bool:
    """Unroll a loop over a container of static length whose items differ in form."""
    is_live = isinstance(iterable, Obj) and held_items(iterable, ctx.state) is not None
    held = {} if is_live else held_lists(ctx, iterable)
    if isinstance(iterable, Iter) and iterable.kind in ("enumerate", "zip") and not any(isinstance(item, Later) for item in items):
        held = {key: before for key, before in held.items() if key.kind == "dict"}

    def enter(place: int) -> Operand:
        now = items_now(ctx, iterable, items, node, sites)
        if any(key.kind == "dict" and len(shape_of_object(ctx, key)) != len(before) for key, before in held.items()):
            definite(ctx, MISSING, node, RuntimeError, "dictionary changed size during iteration")
        if place >= len(now):
            return FALSE
        if place > ENDLESS or any(shape_of_object(ctx, key) != before for key, before in held.items()):
            raise UnsupportedSyntax("a list or dict is changed while it is iterated over", ctx.loc(node), "iterate over a copy of it")
        if isinstance(iterable, View) and not iterable.is_current(ctx.state.heap, place):
            raise UnsupportedSyntax(
                "a dict is changed while its items are iterated over", ctx.loc(node), "iterate over list(d) and read d[key]"
            )
        item = now[place]
        bind(ctx, node.target, item.items.item(item.index) if isinstance(item, Later) else item)
        return TRUE

    def others(place: int) -> Loop | None:
        if not (is_live and is_long(iterable, ctx.state)):
            return None

        def body(item: Binding) -> None:
            bind(ctx, node.target, item)
            run(ctx, node.body)

        return rounds_from(ctx, iterable, place, loop_key(ctx, node), guess_names(ctx, [node.target, *node.body]), body, node.iter)

    return written_out(ctx, node, enter, rest, others)


def firsts_written_out(
    ctx: Lowering, node: ast.For, iterable: Binding, most: int, rest: list[ast.stmt], check: Callable[[], None] | None
) -> bool:
    """Unroll a loop over the first of some items of different kinds, whose number is dynamic: each iteration has a test."""

    def enter(place: int) -> Operand:
        return FALSE if place == most else ctx.call("less", Const(place), firsts_now(ctx, iterable, node.iter).count)

    def ready(place: int) -> None:
        bind(ctx, node.target, firsts_now(ctx, iterable, node.iter).item(place))

    return written_out(ctx, node, enter, rest, ready=ready, check=check)


def written_out(
    ctx: Lowering,
    node: ast.For | ast.While,
    enter: Callable[[int], Operand],
    rest: list[ast.stmt],
    others: Callable[[int], Loop | None] = lambda place: None,
    ready: Callable[[int], None] = lambda place: None,
    check: Callable[[], None] | None = None,
) -> bool:
    """Unroll a loop: iteration ``place`` runs if ``enter(place)`` is true; ``ready(place)`` binds its targets.

    ``others(place)`` lowers all further iterations as a loop, where their number is dynamic; ``check`` follows the
    last iteration.
    """
    loop, most = Loop(0), sum(isinstance(inner, ast.stmt) for inner in ast.walk(node))
    ctx.state.names[loop.exit] = Num(Const(NEXT))
    if ctx.notes is not None:
        ctx.notes.add("frontend", "unrolled", ctx.loc(node), "the loop is unrolled, since its items are known one by one")

    def rounds(place: int) -> None:
        ctx.state.names[loop.stop] = Num(FALSE)
        forget_result(ctx)
        if (inner := others(place)) is not None:
            leave_unrolled(ctx, inner, loop)
            return
        branch(ctx, enter(place), lambda: one(place), lambda: None, [], ctx.loc(node))

    def one(place: int) -> None:
        ready(place)
        outer, ctx.frame.loop = ctx.frame.loop, loop
        before = ctx.frame.lowered
        try:
            run(ctx, node.body)
        finally:
            ctx.frame.loop = outer
        ctx.write_out(node, min(ctx.frame.lowered - before + 1, most))
        if ctx.state.dead:
            return
        proceed(ctx)
        branch(ctx, ctx.number(loop.stop), lambda: None, lambda: rounds(place + 1), [], ctx.loc(node))

    rounds(0)
    check_after(ctx, loop, check, node)
    return after_loop(ctx, loop, node.orelse, rest)


def leave_unrolled(ctx: Lowering, inner: Loop, outer: Loop) -> None:
    """Leave an unrolled loop as the loop of its last iterations was left."""
    exit_, loc = ctx.number(inner.exit, Const(NEXT)), ctx.builder.loc
    around, ctx.frame.loop = ctx.frame.loop, outer

    def leave_with(codes: list[int]) -> None:
        if codes:
            branch(ctx, same(ctx, exit_, codes[0]), lambda: leave(ctx, codes[0]), lambda: leave_with(codes[1:]), [], loc)

    try:
        if not ctx.state.dead:
            leave_with([code for code in (RETURN, BREAK) if code in inner.exits])
            proceed(ctx)
    finally:
        ctx.frame.loop = around


def after_loop(ctx: Lowering, loop: Any, orelse: list[ast.stmt], rest: list[ast.stmt]) -> bool:
    """Lower the code after a loop: a return propagates outwards, ``else`` runs if nothing broke."""
    if ctx.state.dead:
        return False
    exit_ = ctx.number(loop.exit, Const(NEXT))
    loc = ctx.builder.loc

    def otherwise() -> None:
        forget_result(ctx)
        if orelse and BREAK in loop.exits:
            branch(ctx, ctx.call("equal", exit_, Const(NEXT)), lambda: run(ctx, orelse), lambda: None, [], loc)
        elif orelse:
            run(ctx, orelse)

    if RETURN in loop.exits:
        return branch(ctx, same(ctx, exit_, RETURN), lambda: leave(ctx, RETURN), otherwise, rest, loc)
    otherwise()
    return False


def same(ctx: Lowering, operand: Any, code: int) -> Any:
    """A test whether a code is this one; folded if the code is static."""
    return Const(operand.value == code) if isinstance(operand, Const) else ctx.call("equal", operand, Const(code))


def known_test(ctx: Lowering, node: ast.expr) -> bool | None:
    """The value of a test, if it is static; the test is lowered in a scratch block."""
    kept = ctx.state
    ctx.state = kept.copy()
    try:
        with ctx.inside(Block()):
            test = condition(ctx, node)
    except Raised:
        return None
    finally:
        ctx.state = kept
    return bool(test.value) if isinstance(test, Const) else None


def while_written_out(ctx: Lowering, node: ast.While, rest: list[ast.stmt]) -> bool:
    """Unroll a ``while`` whose test is static each time, as long as an iteration changes something static."""
    before: object = None

    def enter(place: int) -> Operand:
        nonlocal before
        test, last = condition(ctx, node.test), before
        names = {name: held for name, held in ctx.state.names.items() if not isinstance(name[0], Loop)}
        before = {name: part for name, held in names.items() if (part := static_part(held, ctx.state)) is not None}
        if not isinstance(test, Const) or place > UNROLLED or test.value and before == last:
            raise UnsupportedSyntax("the number of iterations of this loop is not known", ctx.loc(node))
        return TRUE if test.value else FALSE

    return written_out(ctx, node, enter, rest)


@statement(ast.While)
def while_(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> bool:
    guess = guess_names(ctx, [node.test, *node.body])
    walrus = any(isinstance(n, ast.NamedExpr) for n in ast.walk(node.test))

    def test() -> Any:
        return condition(ctx, node.test)

    def stop() -> None:
        leave(ctx, BREAK, exit_code=NEXT)

    def whole() -> None:
        branch(ctx, test(), lambda: run(ctx, node.body), stop, [], ctx.loc(node))

    entry = ctx.state.copy()
    if ctx.unroll and known_test(ctx, node.test) is not None:
        return while_written_out(ctx, node, rest)
    ctx.loops[ctx.loc(node)] = ()
    try:
        if walrus:
            raise TestChanges
        loop_ = conditional(ctx, loop_key(ctx, node), guess, test, lambda: run(ctx, node.body), ctx.loc(node))
    except TestChanges:
        ctx.state = entry
        loop_ = conditional(ctx, loop_key(ctx, node), guess, lambda: TRUE, whole, ctx.loc(node))
    if isinstance(node.test, ast.Constant) and node.test.value and loop_.exits == {RETURN}:
        leave(ctx, RETURN)  # there is no other exit
        return False
    return after_loop(ctx, loop_, node.orelse, rest)


# ------------------------------------------------------------------ lists that a loop over them changes


def rounds_from(
    ctx: Lowering, over: Binding, place: int, key: Any, guess: Iterable[Name], body: Callable[[Binding], None], node: ast.AST
) -> Loop:
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
