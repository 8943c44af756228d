"""Structured control flow: blocks of statements, branches and loops as ops, and exits as values.

A path that breaks, continues or returns yields a code; the statements after it go into the other
side of a branch.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from symgrad.errors import SymgradError, UnsupportedSyntax
from symgrad.frontend.flow.branch_sides import Side
from symgrad.frontend.flow.carried import after_loop, loop
from symgrad.frontend.flow.edges import Pending, after_rounds, come_out, end_round, reopen
from symgrad.frontend.flow.filling import Head
from symgrad.frontend.flow.joins import join_states
from symgrad.frontend.state.bindings import REFUSED, Binding, Broken, Choice, Known, Maybe, Name, Num, OneOf, Ref, Tup
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.interruptions import Raised, Unresolved
from symgrad.frontend.state.pinning import pinnable, refused_beside, what_decides
from symgrad.frontend.state.program_state import BREAK, CODE, NEXT, RESULT, RETURN, Frame, Loop, State
from symgrad.frontend.state.tables import STATEMENTS
from symgrad.frontend.text.source import assigned
from symgrad.identity import Same
from symgrad.ir.core import FALSE, TRUE, Block, Const, For, If, Operand, Value, While
from symgrad.ir.types import INT, Array, Unknown
from symgrad.location import Loc


def run(ctx: Lowering, statements: list[ast.stmt]) -> None:
    """Lower statements in order. A statement that also lowers the statements after it returns True."""
    for k, node in enumerate(statements):
        rest = statements[k + 1 :]
        if lower_one(ctx, node, rest) or ctx.state.dead or NEXT not in ctx.state.codes:
            return
        if ctx.state.codes != {NEXT}:
            test = ctx.call("equal", ctx.number(CODE), Const(NEXT))
            branch(ctx, test, partial(go_on, ctx, rest), partial(end_other_paths, ctx), [], ctx.builder.loc)
            return


def go_on(ctx: Lowering, rest: list[ast.stmt]) -> None:
    """Lower the following statements, on the path that has not left."""
    proceed(ctx)
    forget_result(ctx)
    run(ctx, rest)


def end_other_paths(ctx: Lowering) -> None:
    """End the other paths, which have left."""
    ctx.state.codes -= {NEXT}


def lower_one(ctx: Lowering, node: ast.stmt, rest: list[ast.stmt]) -> bool:
    """Lower one statement; a refusal is recorded, and the names it would have bound become unusable.

    A refusal in one of our compositions is raised at its call.
    """
    lower = STATEMENTS.get(type(node))
    before, state = ctx.builder.loc, ctx.state
    outer, height = (ctx.height, ctx.handing), len(ctx.state.operands)
    ctx.height, ctx.handing = height, None
    ctx.builder.loc = ctx.loc(node)
    ctx.frame.lowered += 1
    mark, block = len(ctx.edges), ctx.builder.block
    try:
        if lower is None:
            raise UnsupportedSyntax(f"{statement_word(node)} cannot be differentiated", ctx.loc(node), STATEMENTS_INSTEAD.get(type(node)))
        return bool(lower(ctx, node, rest))
    except Raised:
        assert ctx.state.dead
        return False
    except SymgradError as error:
        if ctx.frame.place is not None:
            raise error.at(ctx.loc(node)) from None
        ctx.state = state
        del ctx.edges[mark:]
        ctx.builder.block = block
        refused = error.at(ctx.loc(node))
        for name in sorted(assigned([node])):
            ctx.state.names[(ctx.home(name) or ctx.frame), name] = Broken(REFUSED)
        ctx.note_refusal(refused)
        return False
    finally:
        ctx.builder.loc = before
        ctx.height, ctx.handing = outer
        ctx.release(height)


STATEMENT_WORDS = {
    "ClassDef": "a class definition",
    "AsyncFor": "an async for",
    "AsyncWith": "an async with",
    "AsyncFunctionDef": "an async function",
    "With": "a with statement",
    "Global": "an assignment to a global",
    "Import": "an import",
    "ImportFrom": "an import",
}

WAIT_OUTSIDE = "write it as a plain def, and await its inputs before the call"
#: the hint for a statement that is not supported
STATEMENTS_INSTEAD: dict[type[ast.stmt], str] = {
    ast.ClassDef: "write it outside the function",
    ast.TryStar: "handle each class with except, without the star",
    ast.AsyncFunctionDef: WAIT_OUTSIDE,
    ast.AsyncFor: WAIT_OUTSIDE,
    ast.AsyncWith: WAIT_OUTSIDE,
}


def statement_word(node: ast.stmt) -> str:
    """The name of a statement in a message."""
    kind = type(node).__name__
    return STATEMENT_WORDS.get(kind, f"a {kind.lower()} statement")


def leave(ctx: Lowering, code: int, exit_code: int | None = None) -> None:
    """Mark that this path ends here; ``exit_code`` is the code that the loop records, if it is a different one."""
    ctx.state.names[CODE] = Num(Const(code))
    ctx.state.codes = frozenset({code})
    loop = ctx.frame.loop
    if loop is not None and code in (BREAK, RETURN):
        ctx.state.names[loop.stop] = Num(TRUE)
        ctx.state.names[loop.exit] = Num(Const(code if exit_code is None else exit_code))
        loop.exits.add(code if exit_code is None else exit_code)


def proceed(ctx: Lowering) -> None:
    """Forget the code: the path goes on."""
    ctx.state.names[CODE] = Num(Const(NEXT))
    ctx.state.codes = frozenset({NEXT})


def forget_result(ctx: Lowering) -> None:
    """Forget the result of other paths: on this path the function has not returned."""
    ctx.state.names.pop((ctx.frame, RESULT), None)


def branch(ctx: Lowering, test: Operand, then: Callable[[], None], orelse: Callable[[], None], rest: list[ast.stmt], loc: Loc) -> bool:
    """Lower an ``if``; if only one side continues, the rest is lowered inside it. Returns True in that case."""
    if isinstance(test, Const) and not isinstance(test.value, str):
        (then if test.value else orelse)()
        return False
    entry = ctx.state
    sides = [Side(Block(), entry.copy()) for _ in range(2)]
    for side, outcome in zip(sides, (True, False), strict=True):
        side.state.known = {**entry.known, **ctx.decided.by(test, outcome)}
    return fork(ctx, entry, test, [(sides[0], then), (sides[1], orelse)], rest, loc)


def fork(ctx: Lowering, entry: State, test: Operand, ways: list[tuple[Side, Callable[[], None]]], rest: list[ast.stmt], loc: Loc) -> bool:
    """Lower the two sides of a branch, each into a block and from a state, and join them; True if the rest is lowered."""
    sides, unresolved = [side for side, _ in ways], 0
    pending: tuple[list[Pending], list[Pending]] = ([], [])
    for (side, body), left_over in zip(ways, pending, strict=True):
        ctx.state = side.state
        try:
            with pended(ctx, side.block, left_over), ctx.operands(), refused_beside(ctx, test):
                body()
        except Raised:
            assert ctx.state.dead
        except Unresolved:
            ctx.state.dead = True
            ctx.unresolved += 1
            unresolved += 1
        side.state = ctx.state
    if unresolved == 2:
        ctx.state = entry
        raise Unresolved
    taken = False
    for one, other, left_over in ((sides[0], sides[1], pending[0]), (sides[1], sides[0], pending[1])):
        leaves_for_good = not other.state.dead and NEXT not in other.state.codes
        if leaves_for_good and not one.state.dead and one.state.codes == {NEXT}:
            ctx.state = one.state
            ctx.release(ctx.height)  # the statement is done with its operands
            before, left_over[:] = list(left_over), []
            with pended(ctx, one.block, left_over):
                reopen(ctx, before)
                try:
                    run(ctx, rest)
                except Unresolved:
                    ctx.state.dead = True
                    ctx.unresolved += 1
            one.state = ctx.state
            taken = True
            break
    op = join_states(ctx, entry, test, sides[0], sides[1], loc)
    note_what_decides(ctx, entry, test, op)
    come_out(ctx, entry, op, pending)
    return taken


def note_what_decides(ctx: Lowering, entry: State, test: Operand, op: If) -> None:
    """Record the static integer or bool that decides a branch, if there is one, where the sides bind different things.

    It is recorded for names that cannot be used after the branch, and for the function where a type is unknown after
    it.
    """
    broken = {key: binding for key, binding in ctx.state.names.items() if isinstance(binding, Broken) and binding.pin is None}
    broken = {key: binding for key, binding in broken.items() if not isinstance(entry.names.get(key), Broken)}
    if broken and (text := pinnable(ctx, Num(test))) is not None:
        ctx.state.names.update({key: replace(binding, pin=text) for key, binding in broken.items()})
    split = any(isinstance(out.type, Unknown) or isinstance(out.type, Array) and out.type.shape is None for out in op.outs)
    if split and (text := what_decides(ctx, test)) is not None:
        ctx.splits.append(text)


@contextmanager
def pended(ctx: Lowering, block: Block, pending: list[Pending]) -> Iterator[None]:
    """Emit into a block; the exceptions pending at its end are appended to ``pending``."""
    exceptions: list[Pending] = []
    try:
        with ctx.region(block) as exceptions:
            yield
    finally:
        pending += exceptions


def choose(ctx: Lowering, test: Operand, node: ast.AST, then: Any, orelse: Any) -> Binding:
    """The value of one of two expressions, each evaluated only on its path."""
    key = (ctx.frame, f"%choice{next(ctx.builder.fresh)}")

    def side(make: Any) -> Any:
        def run() -> None:
            ctx.state.names[key] = make()

        return run

    branch(ctx, test, side(then), side(orelse), [], ctx.loc(node))
    if ctx.state.dead:
        raise Raised
    return ctx.state.names.pop(key)


def each_side(ctx: Lowering, held: Any, node: ast.AST, use: Callable[[Any], Binding]) -> Binding:
    """A question about a ``Choice``, answered by each of its sides."""
    return choose(ctx, held.test, node, lambda: use(held.then), lambda: use(held.orelse))


def choose_in_turn(ctx: Lowering, test: Operand, node: ast.AST, then: Any, orelse: Any) -> Binding:
    """The same for one of several tests in turn, which become one operation and do not nest."""
    ctx.nested -= 1
    try:
        return choose(ctx, test, node, then, orelse)
    finally:
        ctx.nested += 1


class TestChanges(Exception):
    """The test of a ``while`` has side effects: it is lowered as a part of the body."""


def guess_names(ctx: Lowering, nodes: list[ast.AST]) -> list[tuple[Frame, str]]:
    """Variables that a loop's body assigns, with their frames, sorted by name.

    An array that is only augmented keeps its memory, and is not among them.
    """
    augmented_only = assigned(nodes) - assigned(nodes, augmented=False)
    keys = [((ctx.home(name) or ctx.frame), name) for name in sorted(assigned(nodes))]
    return [key for key in keys if key[1] not in augmented_only or not isinstance(ctx.state.names.get(key), Ref)]


def loop_key(ctx: Lowering, node: ast.AST) -> Any:
    return (node, tuple(ctx.stack))


def counted(
    ctx: Lowering,
    key: Any,
    guess: Iterable[Name],
    bounds: tuple[Operand, Operand, Operand],
    body: Callable[[Value], None],
    loc: Loc,
    hint: str | None = None,
    batch: bool = False,
) -> Loop:
    """Lower a ``for`` over a range; ``body(index)`` lowers one iteration."""
    loop_ = Loop(1)
    ctx.state.names[loop_.exit] = Num(Const(0))

    def build(head: Head) -> tuple[Block, Operand]:
        block = Block([Value(INT, hint), *head.args])

        def one() -> None:
            ctx.builder.note_round(block.args[0], *bounds)
            body(block.args[0])

        round_(ctx, loop_, block, one)
        return block, stop_operand(ctx, loop_)

    block, stop, plan, head = loop(ctx, key, guess, build)
    outs = finish(ctx, block, stop, head)
    op = For([*outs], loc, *bounds, inits=head.inits, body=block, until=stop is not FALSE, batch=batch)
    if op.until:
        op.outs.append(Value(INT, "rounds"))
    ctx.builder.append(op)
    after_loop(ctx, plan, outs)
    if loop_.exits:
        after_rounds(ctx, loop_)
    return loop_


def finish(ctx: Lowering, block: Block, stop: Operand, head: Head) -> list[Value]:
    """Add the loop's stop test to its body, and create its results."""
    if stop is not FALSE:
        block.yields.append(stop)
    outs = [Value(ctx.builder.freshen(t), a.name) for a, t in zip(head.args, head.types, strict=True)]
    ctx.mixed.values |= {out for out, arg in zip(outs, head.args, strict=True) if arg in ctx.mixed.values}
    ctx.doubtful |= {out for out, arg in zip(outs, head.args, strict=True) if arg in ctx.doubtful}
    return outs


def round_(ctx: Lowering, loop_: Loop, block: Block, body: Callable[[], None]) -> None:
    """Lower one iteration of a loop's body into its block."""
    outer, ctx.frame.loop = ctx.frame.loop, loop_
    ctx.state.names[loop_.stop] = Num(FALSE)
    ctx.state.names[loop_.exit] = ctx.state.names.get(loop_.exit, Num(Const(0)))
    entry = ctx.state.copy() if ctx.watchers else ctx.state
    in_order = [key for key in ctx.state.heap if key.kind == "dict" and not key.unordered]
    pending: list[Pending] = []
    try:
        with pended(ctx, block, pending), ctx.operands():
            forget_result(ctx)
            body()
    except Raised:
        assert ctx.state.dead
    except Unresolved:
        if not ctx.passes_over:
            raise
        ctx.unresolved += 1
    finally:
        ctx.frame.loop = outer
    if any(key.unordered for key in in_order):
        what = "the key order of a dict depends on the iterations of this loop"
        raise UnsupportedSyntax(what, ctx.builder.loc, "store all keys in one order before the loop")
    if pending:
        with ctx.builder.inside(block):
            end_round(ctx, loop_, entry, pending)
    if not ctx.state.dead:
        proceed(ctx)


def stop_operand(ctx: Lowering, loop_: Loop) -> Operand:
    return ctx.number(loop_.stop, FALSE)


def conditional(ctx: Lowering, key: Any, guess: Iterable[Name], test: Callable[[], Operand], body: Callable[[], None], loc: Loc) -> Loop:
    """Lower a ``while`` whose test has no side effects."""
    loop_ = Loop(1)
    ctx.state.names[loop_.exit] = Num(Const(0))
    tests: list[Block] = []

    def build(head: Head) -> tuple[Block, Operand]:
        block = Block([Value(a.type, a.name) for a in head.args])
        top = head.state.copy()
        swap_versions(head.state, dict(zip(head.args, block.args, strict=True)))
        before = ctx.state.copy()
        with ctx.region(block) as pending:
            block.yields = [tested(ctx, test)]
        if pending:
            raise TestChanges
        top.known = {**top.known, **decided_by(ctx, block, True, head.args)}
        if is_changed(ctx, before):
            raise TestChanges
        tests[:] = [block]
        ctx.state = top
        body_block = Block(list(head.args))
        round_(ctx, loop_, body_block, body)
        return body_block, stop_operand(ctx, loop_)

    block, stop, plan, head = loop(ctx, key, guess, build)
    outs = finish(ctx, block, stop, head)
    op = While([*outs, Value(INT, "rounds")], loc, head.inits, tests[0], block, stop is not FALSE)
    ctx.builder.append(op)
    after_loop(ctx, plan, outs)
    if not op.until:
        ctx.state.known = {**ctx.state.known, **decided_by(ctx, op.test, False, outs)}
    after_rounds(ctx, loop_)
    return loop_


def is_changed(ctx: Lowering, before: State) -> bool:
    """Whether the content of an array or object, or the binding of a variable, has changed since a state.

    Variables of functions called in between do not count: nothing reads them any more.
    """
    after, frames = ctx.state, {ctx.frame, *(frame for frame, _ in before.names if isinstance(frame, Frame))}
    names = {name: held for name, held in after.names.items() if name[0] in frames or isinstance(name[0], Same)}  # or global ones
    return (
        any(after.memory[location] is not held for location, held in before.memory.items())
        or any(after.heap[key] != content for key, content in before.heap.items())
        or any(before.names.get(name) != held for name, held in names.items())
        or any(name not in after.names for name in before.names)
    )


def decided_by(ctx: Lowering, test: Block, outcome: bool, carried: list[Value]) -> Known:
    """The path conditions on carried values that an outcome of a ``while`` test implies, in terms of ``carried``."""
    (operand,) = test.yields
    known = ctx.decided.by(operand, outcome)
    elsewhere = dict(zip(test.args, carried, strict=True))
    facts: dict[Any, bool] = {}
    for key, value in known.items():
        if isinstance(key, tuple) and key[0] in elsewhere:
            facts[elsewhere[key[0]], key[1]] = value
        elif key in elsewhere:
            facts[elsewhere[key]] = value
    return facts


def tested(ctx: Lowering, test: Callable[[], Operand]) -> Operand:
    """The test of a ``while``, which must not always raise."""
    try:
        return test()
    except Raised:
        raise UnsupportedSyntax("the test of this loop always raises", ctx.builder.loc) from None


def swap_versions(state: State, table: dict[Value, Value]) -> None:
    """Replace the block arguments in a state by those of ``table``."""

    def new(operand: Operand) -> Operand:
        return table.get(operand, operand) if isinstance(operand, Value) else operand

    def shown(old: Ref) -> Ref:
        return Ref(old.location, tuple(replace(step, operands=tuple(map(new, step.operands))) for step in old.path))

    def binding(old: Binding) -> Binding:
        match old:
            case Num(operand):
                return Num(new(operand))
            case Ref():
                return shown(old)
            case Tup(items, kind):
                return Tup(tuple(map(binding, items)), kind)
            case Maybe(present, inner, absent):
                return Maybe(new(present), binding(inner), absent)
            case OneOf(place, values):
                return OneOf(new(place), values)
            case Choice(test, then, orelse):
                return Choice(new(test), binding(then), binding(orelse))
        return old

    state.memory = {k: new(v) for k, v in state.memory.items()}
    state.names = {k: binding(v) for k, v in state.names.items()}
    state.heap = {k: shown(v) if not isinstance(v, tuple) else tuple((n, binding(b)) for n, b in v) for k, v in state.heap.items()}
    state.bases = {location: {shown(base): new(test) for base, test in held.items()} for location, held in state.bases.items()}
    state.kin = {one: {other: new(same) for other, same in others.items()} for one, others in state.kin.items()}
