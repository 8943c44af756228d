"""``try``, ``raise`` and ``assert``: exceptions that are raised, and the statements that see them.

The body of a ``try`` is lowered under a watcher; each operation in it that may raise what the handlers take has an edge. Behind the body
the edges to one handler are joined, as the sides of a branch are, and the handler stands in a branch. ``finally`` is lowered on the
paths on which an exception is pending, and on those on which none is.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.bindings import MISSING, Binding, Name, Num, Obj, Static, Tup
from symgrad.frontend.classes import construct
from symgrad.frontend.context import Lowering
from symgrad.frontend.exceptions import (
    GIVEN,
    KIND,
    RAISED,
    Edge,
    Pending,
    Raisable,
    Watcher,
    args_of,
    both,
    close,
    common,
    instance_of,
    is_seen,
    join_pending,
    kind_of,
    name_of,
    name_of_taken,
    of_handlers_around,
    opposite,
    raise_here,
    reopen,
    taken_by,
)
from symgrad.frontend.flow import branch, forget_result, fork, left, proceed, run
from symgrad.frontend.frames import CODE, NEXT, RESULT
from symgrad.frontend.interruptions import Raised
from symgrad.frontend.joins import Side
from symgrad.frontend.operands import known_value
from symgrad.frontend.reading import module_named, name_in_module
from symgrad.frontend.tables import method, statement
from symgrad.frontend.truths import truth
from symgrad.ir.core import FALSE, TRUE, Block, Const, If, Operand
from symgrad.location import Loc


@dataclass(frozen=True, slots=True)
class Clause:
    """A handler: the classes that it takes, and what lowers its body where exceptions of some kinds have been taken."""

    kinds: tuple[type, ...]
    body: Callable[[frozenset[int]], None]


@contextmanager
def watched(ctx: Lowering, watcher: Watcher) -> Iterator[None]:
    """What is raised meanwhile is seen."""
    ctx.watchers = (*ctx.watchers, watcher)
    try:
        yield
    finally:
        ctx.watchers = ctx.watchers[:-1]


# ------------------------------------------------------------------ try


@statement(ast.Try)
def try_(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> bool:
    if node.finalbody:
        return with_finally(ctx, node, rest)
    if (failure := failed_import(ctx, node.body)) is not None:
        handler = next((h for h in node.handlers if isinstance(failure, caught_by(ctx, h))), None)
        if handler is not None and handler.name is None:
            run(ctx, [*handler.body, *rest])
            return True
    clauses = [Clause(caught_by(ctx, handler), handler_of(ctx, handler)) for handler in node.handlers]
    return caught(ctx, node, clauses, lambda: run(ctx, node.body), lambda: run(ctx, node.orelse), rest)


def caught(ctx: Lowering, node: ast.AST, clauses: list[Clause], body: Callable[[], None], orelse: Callable[[], None],
           rest: list[ast.stmt]) -> bool:  # fmt: skip
    """Lower a body whose exceptions the clauses take; ``orelse`` is lowered where it has raised nothing. True if the rest is lowered."""
    entry, mark, watcher = ctx.state.copy(), len(ctx.edges), Watcher(tuple(k for c in clauses for k in c.kinds), ctx.loc(node))
    with watched(ctx, watcher):
        body()
    mine = [edge for edge in ctx.edges[mark:] if watcher in edge.pending.watchers]
    if not any(can_be_taken(ctx, kind, clauses) for edge in mine for kind in edge.pending.kinds):
        if not ctx.state.dead and NEXT in ctx.state.codes:
            orelse_where_it_goes_on(ctx, orelse)
        return False
    if not ctx.state.dead and NEXT in ctx.state.codes:
        orelse_where_it_goes_on(ctx, orelse)
    if (alone := edge_to_one(ctx, mark, watcher, clauses)) is not None:
        edge, clause = alone
        return in_place(ctx, edge, clause, rest, ctx.loc(node))
    several = close(ctx, mark)
    go_on = ctx.state
    taken: dict[int, list[Pending]] = {k: [] for k in range(len(clauses))}
    left_over: list[Pending] = []
    ctx.state = entry.copy()
    for pending in several:
        if watcher not in pending.watchers:
            left_over.append(pending)
            continue
        for one in split(ctx, pending):
            share_out(ctx, one, clauses, taken, left_over)
    done = [(clause, join_pending(ctx, entry, held)) for clause, held in zip(clauses, taken.values(), strict=True) if held]
    ctx.state = common(ctx, entry, [go_on, *(pending.state for _, pending in done)])
    beyond(ctx, left_over, watcher)
    loc = ctx.loc(node)

    def arrange(k: int) -> None:
        if k == len(done):
            ctx.state = go_on
            return
        clause, pending = done[k]
        if go_on.dead and k == len(done) - 1:
            take(ctx, clause, pending)
        else:
            branch(ctx, pending.test, lambda: take(ctx, clause, pending), lambda: arrange(k + 1), [], loc)

    first, pending = done[0]
    if go_on.dead and len(done) == 1:
        take(ctx, first, pending)
        return False
    return branch(ctx, pending.test, lambda: take(ctx, first, pending), lambda: arrange(1), rest, loc)


def edge_to_one(ctx: Lowering, mark: int, watcher: Watcher, clauses: list[Clause]) -> tuple[Edge, Clause] | None:
    """The one edge above a mark, if a clause surely takes what it leads to."""
    if len(ctx.edges) != mark + 1 or ctx.edges[mark].go_on is None or watcher not in ctx.edges[mark].pending.watchers:
        return None
    edge = ctx.edges[mark]
    for clause in clauses:
        verdicts = {ctx.raisables[kind].verdict(clause.kinds) for kind in edge.pending.kinds}
        if verdicts != {False}:
            return (edge, clause) if verdicts == {True} else None
    return None


def in_place(ctx: Lowering, edge: Edge, clause: Clause, rest: list[ast.stmt], loc: Loc) -> bool:
    """Lower a handler at the one edge that leads to it."""
    ctx.edges.pop()
    edge.pending = of_handlers_around(ctx, edge.pending)
    assert edge.go_on is not None
    assert edge.outer is not None
    del ctx.builder.facts[edge.facts :]
    ctx.builder.block = edge.outer
    ways = [(Side(edge.block, edge.pending.state), lambda: take(ctx, clause, edge.pending)), (Side(edge.go_on, ctx.state), lambda: None)]
    entry = edge.entry if edge.pending.depth > len(ctx.edges) else common(ctx, edge.entry, [ctx.state, edge.pending.state])
    return fork(ctx, entry, edge.pending.test, ways, rest, loc)


def orelse_where_it_goes_on(ctx: Lowering, orelse: Callable[[], None]) -> None:
    """Lower what follows a body that may have been left."""
    if ctx.state.codes == {NEXT}:
        orelse()
        return
    code = ctx.number(CODE)

    def going() -> None:
        proceed(ctx)
        forget_result(ctx)
        orelse()

    branch(ctx, ctx.call("equal", code, Const(NEXT)), going, lambda: left(ctx), [], ctx.builder.loc)


def take(ctx: Lowering, clause: Clause, pending: Pending) -> None:
    """Lower a handler in the state in which it takes an exception."""
    ctx.state = pending.state.copy()
    proceed(ctx)
    forget_result(ctx)
    clause.body(pending.kinds)


def can_be_taken(ctx: Lowering, kind: int, clauses: list[Clause]) -> bool:
    return any(ctx.raisables[kind].verdict(clause.kinds) is not False for clause in clauses)


def split(ctx: Lowering, pending: Pending) -> list[Pending]:
    """Something that is pending by its kinds."""
    if len(pending.kinds) == 1:
        return [pending]
    held = ctx.read(pending.state.names[KIND])
    return [
        replace(pending, test=both(ctx, pending.test, partial(ctx.call, "equal", held, Const(kind))), kinds=frozenset({kind}))
        for kind in sorted(pending.kinds)
    ]


def share_out(ctx: Lowering, pending: Pending, clauses: list[Clause], taken: dict[int, list[Pending]], left_over: list[Pending]) -> None:
    """Say which clause takes an exception of one kind; where that shows when the program runs, each may."""
    (kind,) = pending.kinds
    for k, clause in enumerate(clauses):
        verdict = ctx.raisables[kind].verdict(clause.kinds)
        if verdict is True:
            taken[k].append(pending)
            return
        if verdict is None:
            error, before = ctx.read(pending.state.names[name_of(kind)]), pending.test
            test = both(ctx, before, partial(instance_of, ctx, error, clause.kinds))
            taken[k].append(replace(pending, test=test))
            pending = replace(pending, test=both(ctx, before, partial(opposite, ctx, test)))
    left_over.append(pending)


def beyond(ctx: Lowering, several: list[Pending], watcher: Watcher) -> None:
    """What a statement has not taken: others see it, or else it is raised."""
    seen = []
    for pending in several:
        pending = replace(pending, watchers=tuple(w for w in pending.watchers if w is not watcher))
        if any(ctx.raisables[kind].verdict(w.kinds) is not False for kind in pending.kinds for w in pending.watchers):
            seen.append(pending)
            continue
        raised_in(ctx, pending)
    reopen(ctx, seen)


def raised_in(ctx: Lowering, pending: Pending) -> None:
    """Raise what is pending."""
    go_on, block = ctx.state, Block()
    ctx.state = pending.state.copy()
    with ctx.inside(block):
        for_good(ctx, pending.kinds)
    ctx.state = go_on
    ctx.builder.append(If([], ctx.builder.loc, pending.test, block, Block()))


def for_good(ctx: Lowering, kinds: frozenset[int]) -> None:
    """Raise what is pending, for the caller to see."""
    first, *others = sorted(kinds)
    if others:
        test = ctx.call("equal", ctx.number(KIND), Const(first))
        branch(ctx, test, lambda: for_good(ctx, frozenset({first})), lambda: for_good(ctx, frozenset(others)), [], ctx.builder.loc)
        return
    raise_op(ctx, first, ctx.state.names[name_of(first)], ctx.state.names.get(args_of(first), MISSING))


def raise_op(ctx: Lowering, kind: int, exception: Binding, args: Binding) -> None:
    """The op that raises an exception, for the caller to see."""
    raisable = ctx.raisables[kind]
    with ctx.unwatched():
        operands = [ctx.read(item) for item in (items_in(args) if raisable.own else (exception,))]
    if raisable.own:
        (cls,) = raisable.classes
        ctx.builder.call_many("raise_error", ctx.constant(cls, cls.__name__), *operands)
    else:
        ctx.builder.call_many("raise_again", *operands)
    ctx.state.dead = True


# ------------------------------------------------------------------ handlers


def caught_by(ctx: Lowering, handler: ast.ExceptHandler) -> tuple[type, ...]:
    """The classes of exceptions that a handler is for."""
    if handler.type is None:
        return (BaseException,)
    return classes_in(ctx, ctx.evaluate(handler.type), handler.type)


def classes_in(ctx: Lowering, held: Binding, node: ast.AST) -> tuple[type, ...]:
    """A class, or those in a tuple."""
    if (cls := class_in(held)) is not None:
        return (cls,)
    (value,) = known_value(held) or (None,)
    inner: tuple[Binding, ...] = tuple(map(Static, value)) if isinstance(value, tuple) else items_in(held)
    if inner == (held,):
        raise UnsupportedSyntax("what is caught must be a class", ctx.loc(node))
    return tuple(cls for item in inner for cls in classes_in(ctx, item, node))


def items_in(held: Binding) -> tuple[Binding, ...]:
    """The items of a tuple; of everything else itself as the one item, which cannot be read where it is missing."""
    return held.items if isinstance(held, Tup) else (held,)


def handler_of(ctx: Lowering, handler: ast.ExceptHandler) -> Callable[[frozenset[int]], None]:
    """Lowers the body of a handler."""
    frame, name = ctx.frame, handler.name

    def body(kinds: frozenset[int]) -> None:
        exceptions = Taken(ctx, kinds)
        if name is not None:
            ctx.state.names[ctx.home(name) or frame, name] = exceptions.shown()
        ctx.handling.append(exceptions)
        try:
            run(ctx, handler.body)
        finally:
            ctx.handling.pop()
            exceptions.forget()
        if name is not None and not ctx.state.dead:
            ctx.state.names[ctx.home(name) or frame, name] = MISSING

    return body


class Taken:
    """The exception that a handler has taken, of one of several kinds; it can be raised again whatever is raised in between."""

    def __init__(self, ctx: Lowering, kinds: frozenset[int]) -> None:
        self.ctx, self.kinds, self.number = ctx, kinds, next(ctx.builder.fresh)
        names = ctx.state.names
        for kind in kinds:
            names[self.name(kind)] = names[name_of(kind)]
            names[self.name(f"{kind}.given")] = names.get(args_of(kind), MISSING)
        names[self.name("kind")] = names[KIND]

    def name(self, what: object) -> Name:
        return name_of_taken(self.number, what)

    def test(self, kind: int) -> Operand:
        """Is it of this kind?"""
        held = self.ctx.number(self.name("kind"))
        return Const(held.value == kind) if isinstance(held, Const) else self.ctx.call("equal", held, Const(kind))

    def shown(self) -> Binding:
        """The exception as a value."""
        return self.chosen(lambda kind: self.ctx.state.names[self.name(kind)])

    def cls(self) -> Binding:
        """Its class."""
        return self.chosen(self.cls_of)

    def cls_of(self, kind: int) -> Binding:
        raisable = self.ctx.raisables[kind]
        if raisable.exact and all(self.ctx.raisables[k].exact for k in self.kinds):
            return Static(raisable.classes[0], raisable.classes[0].__name__)
        if raisable.own:
            return Num(self.ctx.constant(raisable.classes[0], raisable.classes[0].__name__))
        with self.ctx.unwatched():
            return Num(self.ctx.call("opaque_pure", Const(type, "type"), self.ctx.read(self.ctx.state.names[self.name(kind)])))

    def chosen(self, make: Callable[[int], Binding]) -> Binding:
        """What is made of the exception, of each kind."""
        key = (KIND[0], f"%chosen{next(self.ctx.builder.fresh)}")

        def choose(kind: int) -> None:
            self.ctx.state.names[key] = make(kind)

        self.each(choose)
        return self.ctx.state.names.pop(key)

    def again(self) -> None:
        """Raise it once more."""

        def raised(kind: int) -> None:
            names = self.ctx.state.names
            raise_kind(self.ctx, kind, names[self.name(kind)], names.get(self.name(f"{kind}.given"), MISSING))

        self.each(raised)

    def each(self, do: Callable[[int], None], kinds: list[int] | None = None) -> None:
        """Do something for each kind that it may be of."""
        kinds = sorted(self.kinds) if kinds is None else kinds
        if len(kinds) == 1:
            do(kinds[0])
            return
        loc = self.ctx.builder.loc
        branch(self.ctx, self.test(kinds[0]), lambda: do(kinds[0]), lambda: self.each(do, kinds[1:]), [], loc)

    def forget(self) -> None:
        """The handler is done with it."""
        for name in [n for n in self.ctx.state.names if n[0] == RAISED and taken_by(n[1]) == self.number]:
            del self.ctx.state.names[name]


def failed_import(ctx: Lowering, body: list[ast.stmt]) -> ImportError | None:
    """What the imports that a block begins with raise: whether a module is there is known while compiling."""
    for node in body:
        if not isinstance(node, ast.Import | ast.ImportFrom):
            return None
        try:
            for alias in node.names:
                name_in_module(ctx, node.module or "", alias.name) if isinstance(node, ast.ImportFrom) else module_named(ctx, alias.name)
        except ImportError as error:
            return error
    return None


# ------------------------------------------------------------------ finally


def with_finally(ctx: Lowering, node: ast.Try, rest: list[ast.stmt]) -> bool:
    """``try`` with ``finally``: what is done on the way out is done on all ways."""
    inner: list[ast.stmt] = node.body
    if node.handlers:
        inner = [ast.copy_location(ast.Try(node.body, node.handlers, node.orelse, []), node)]
    return on_all_ways(ctx, node, lambda: run(ctx, inner), lambda: run(ctx, node.finalbody), rest)


def on_all_ways(ctx: Lowering, node: ast.AST, body: Callable[[], None], finish: Callable[[], None], rest: list[ast.stmt],
                told: Callable[[Taken], None] | None = None) -> bool:  # fmt: skip
    """Lower a body, and behind it what is done whichever way it is left; ``told`` is what is done where an exception is pending."""

    def again(taken: Taken) -> None:
        finish()
        if not ctx.state.dead:
            go_on_with(ctx, taken.again)

    def after_raising(kinds: frozenset[int]) -> None:
        taken = Taken(ctx, kinds)
        ctx.handling.append(taken)
        try:
            (told or again)(taken)
        finally:
            ctx.handling.pop()
            taken.forget()

    return caught_then(ctx, node, Clause((BaseException,), after_raising), body, lambda: on_the_way_out(ctx, finish, node), rest)


def go_on_with(ctx: Lowering, again: Callable[[], None]) -> None:
    """Raise again, unless what was done on the way out has left otherwise."""
    if NEXT not in ctx.state.codes:
        return
    if ctx.state.codes == {NEXT}:
        try:
            again()
        except Raised:
            assert ctx.state.dead
        return
    code = ctx.number(CODE)
    branch(ctx, ctx.call("equal", code, Const(NEXT)), again, lambda: left(ctx), [], ctx.builder.loc)


def caught_then(ctx: Lowering, node: ast.AST, clause: Clause, body: Callable[[], None], finish: Callable[[], None],
                rest: list[ast.stmt]) -> bool:  # fmt: skip
    """Lower a body whose exceptions one clause takes, and ``finish`` where it has raised none, whichever way it is left."""
    entry, mark, watcher = ctx.state.copy(), len(ctx.edges), Watcher(clause.kinds, ctx.loc(node))
    with watched(ctx, watcher):
        body()
    with suppress(Raised):  # nothing follows on this path; on the others it is still to be done
        finish()
    if not any(watcher in edge.pending.watchers for edge in ctx.edges[mark:]):
        return False
    if (alone := edge_to_one(ctx, mark, watcher, [clause])) is not None:
        return in_place(ctx, alone[0], clause, rest, ctx.loc(node))
    several = close(ctx, mark)
    go_on = ctx.state
    ctx.state = entry.copy()
    mine = [pending for pending in several if watcher in pending.watchers]
    pending = join_pending(ctx, entry, mine)
    ctx.state = common(ctx, entry, [go_on, pending.state])
    beyond(ctx, [pending for pending in several if watcher not in pending.watchers], watcher)

    def going() -> None:
        ctx.state = go_on

    if go_on.dead:
        take(ctx, clause, pending)
        return False
    return branch(ctx, pending.test, lambda: take(ctx, clause, pending), going, rest, ctx.loc(node))


def on_the_way_out(ctx: Lowering, finish: Callable[[], None], node: ast.AST) -> None:
    """Lower what is done on every way out of a block; the way out, and what is returned, stay what they were."""
    if ctx.state.dead:
        return
    held = kept_exit(ctx)
    codes = ctx.state.codes
    proceed(ctx)
    finish()
    if ctx.state.dead or NEXT not in ctx.state.codes:
        return

    def restore() -> None:
        for name, key in held.items():
            ctx.state.names[name] = ctx.state.names.pop(key)
        ctx.state.codes = codes

    if ctx.state.codes == {NEXT}:
        restore()
        return
    code = ctx.number(CODE)
    branch(ctx, ctx.call("equal", code, Const(NEXT)), restore, lambda: left(ctx), [], ctx.loc(node))


def kept_exit(ctx: Lowering) -> dict[Name, Name]:
    """Keep how a block is left, and what is returned, under other names: from here on it is as if it had not been left."""
    if ctx.state.codes == {NEXT}:
        return {}
    number = next(ctx.builder.fresh)
    names: list[Name] = [CODE, (ctx.frame, RESULT)]
    loop = ctx.frame.loop
    if loop is not None:
        names += [loop.stop, loop.exit]
    held: dict[Name, Name] = {}
    for k, name in enumerate(names):
        if name in ctx.state.names:
            held[name] = (ctx.frame, f"%held{number}.{k}")
            ctx.state.names[held[name]] = ctx.state.names.pop(name)
    if loop is not None:
        ctx.state.names |= {loop.stop: Num(FALSE), loop.exit: Num(Const(0))}
    return held


# ------------------------------------------------------------------ raise and assert


@statement(ast.Raise)
def raise_(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> None:
    if node.exc is None:
        if not ctx.handling:
            raise UnsupportedSyntax("a bare raise outside a handler cannot be differentiated", ctx.loc(node))
        ctx.handling[-1].again()
        return
    kind, args = raised_by(ctx, node.exc)
    cls = class_in(kind)
    cause = None if node.cause is None else cause_of(ctx, ctx.evaluate(node.cause), node)
    if cls is None or not issubclass(cls, BaseException):
        if (taken := exception_again(ctx, kind) or made_before(ctx, kind)) is not None:
            raised_from(ctx, taken[1], cause, node)
            raise_kind(ctx, *taken)
            return
        raise UnsupportedSyntax("only exception classes can be raised", ctx.loc(node.exc))
    raise_class(ctx, cls, args, node, cause)


def cause_of(ctx: Lowering, held: Binding, node: ast.Raise) -> Binding:
    """What an exception is raised from: an exception or None; of a class, one that is made."""
    cls = class_in(held)
    return held if cls is None else construct(ctx, cls, cls.__name__, [], {}, node)


def raised_from(ctx: Lowering, exception: Binding, cause: Binding | None, node: ast.AST) -> None:
    """Store in an exception what it is raised from."""
    if cause is None:
        return
    if isinstance(exception, Obj):
        held = {**dict(ctx.state.entries(exception.key)), "__cause__": cause, "__suppress_context__": Num(TRUE)}
        ctx.change(exception.key, tuple(held.items()))
    elif cause != Static(None):
        what = "an exception that an operation raised is raised from another one"
        raise UnsupportedSyntax(what, ctx.loc(node), "raise one of a class of your own")


def class_in(held: Binding) -> type | None:
    """The class that a binding is known to be, if it is one."""
    return next((value for value in known_value(held) if isinstance(value, type)), None)


def raised_by(ctx: Lowering, node: ast.expr) -> tuple[Binding, list[Binding]]:
    """The class that is raised and its arguments; or an exception, without arguments."""
    match node:
        case ast.Call(func=function, args=arguments, keywords=[]) if not any(isinstance(a, ast.Starred) for a in arguments):
            held = ctx.evaluate(function)
            if class_in(held) is not None:
                return held, [ctx.evaluate(a) for a in arguments]
            return ctx.apply(held, [ctx.evaluate(a) for a in arguments], {}, node), []
    return ctx.evaluate(node), []


def raise_class(ctx: Lowering, cls: type, args: list[Binding], node: ast.AST, cause: Binding | None = None) -> None:
    """Raise an exception of a class, and say from which other one."""
    raisable = Raisable((cls,), exact=True, own=True)
    if not is_seen(ctx, raisable):
        operands = [ctx.read(argument, node) for argument in args]
        if (place := ctx.frame.place) is not None and isinstance(operands[0], Const):  # raised by a composition of ours
            operands[0] = Const(f"{operands[0].value} ({Path(place.file).name}:{place.line})")
        ctx.builder.call_many("raise_error", ctx.constant(cls, cls.__name__), *operands)
        ctx.state.dead = True
        return
    exception = construct(ctx, cls, cls.__name__, args, {}, node)
    raised_from(ctx, exception, cause, node)
    raise_here(ctx, kind_of(ctx, raisable), exception, Tup(tuple(args)))


def raise_kind(ctx: Lowering, kind: int, exception: Binding, args: Binding) -> None:
    """Raise an exception of a kind, for the program to see or for the caller."""
    if is_seen(ctx, ctx.raisables[kind]):
        raise_here(ctx, kind, exception, args)
    raise_op(ctx, kind, exception, args)


def exception_again(ctx: Lowering, held: Binding) -> tuple[int, Binding, Binding] | None:
    """An exception that a handler has taken, with its kind and what it was given."""
    for taken in reversed(ctx.handling):
        for kind in sorted(taken.kinds):
            names = ctx.state.names
            if held == names[taken.name(kind)]:
                return kind, held, names.get(taken.name(f"{kind}.given"), MISSING)
    return None


def made_before(ctx: Lowering, held: Binding) -> tuple[int, Binding, Binding] | None:
    """An exception that the program has made, with its kind and the arguments of its class."""
    if not (isinstance(held, Obj) and held.key.kind == "record"):
        return None
    arguments = dict(ctx.state.entries(held.key)).get(GIVEN)
    return None if arguments is None else (kind_of(ctx, Raisable((held.key.cls,), exact=True, own=True)), held, arguments)


@method("record", GIVEN)
def set_args(ctx: Lowering, owner: Obj, args: list[Binding], node: ast.AST) -> Binding:
    """``super().__init__(...)`` in a class of exceptions: what is given is what the exception says of itself."""
    ctx.change(owner.key, tuple({**dict(ctx.state.entries(owner.key)), "args": Tup(tuple(args))}.items()))
    return Static(None)


@statement(ast.Assert)
def assert_(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> None:
    test = truth(ctx, ctx.evaluate(node.test), node.test)
    if isinstance(test, Const) and test.value is True:
        return
    is_told = node.msg is not None and not isinstance(node.msg, ast.Constant)  # evaluated where the test fails, and nowhere else
    if is_told or is_seen(ctx, Raisable((AssertionError,), exact=True)):

        def fails() -> None:
            raise_class(ctx, AssertionError, [] if node.msg is None else [ctx.evaluate(node.msg)], node)

        if isinstance(test, Const) and is_told and not test.value:
            fails()
        else:
            branch(ctx, test, lambda: None, fails, [], ctx.loc(node))
        return
    message = Const(None) if node.msg is None else ctx.read(ctx.evaluate(node.msg), node.msg)
    ctx.builder.call_many("check", test, message)
    ctx.state.known = {**ctx.state.known, **ctx.decided.by(test, True)}


__all__ = ["Clause", "caught", "classes_in", "on_all_ways", "on_the_way_out", "watched"]
