"""Exception handlers as branches: the body and the clauses of ``try`` and of ``with``.

The body is lowered under a watcher: each op in it that may raise an exception of the clauses gets
an edge. After the body, the edges to one clause are joined as the sides of a branch are, and the
clause is a side of a branch. Code for every way out is lowered both on the paths on which an
exception is pending and on those on which none is.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.constructs.raising import class_in, items_in, raise_kind, raised_in
from symgrad.frontend.flow.branch_sides import Side
from symgrad.frontend.flow.edges import (
    KIND,
    RAISED,
    Edge,
    Pending,
    Watcher,
    args_of,
    both_tests,
    close_edges,
    common,
    exception_argument,
    forget_temporaries,
    instance_of,
    join_pending,
    name_of,
    name_of_taken,
    of_handlers_around,
    opposite,
    reopen,
    taken_by,
)
from symgrad.frontend.flow.flow import branch, end_other_paths, forget_result, fork, proceed
from symgrad.frontend.objects.operands import known_value
from symgrad.frontend.state.bindings import MISSING, Binding, Name, Num, Static
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.interruptions import Raised
from symgrad.frontend.state.program_state import CODE, NEXT, RESULT
from symgrad.ir.core import FALSE, Const, Operand
from symgrad.location import Loc


@dataclass(frozen=True, slots=True)
class Clause:
    """A handler: the classes that it catches, and a function that lowers its body for caught exceptions of some kinds."""

    kinds: tuple[type, ...]
    body: Callable[[frozenset[int]], None]


# ------------------------------------------------------------------ clauses


def caught(
    ctx: Lowering, node: ast.AST, clauses: list[Clause], body: Callable[[], None], orelse: Callable[[], None], rest: list[ast.stmt]
) -> bool:
    """Lower a body with its clauses; ``orelse`` is lowered where it has raised nothing. True if the rest is lowered."""
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
        forget_temporaries(edge.pending.state, entry)
        return in_place(ctx, edge, clause, rest, ctx.loc(node))
    several = close_edges(ctx, mark)
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


@contextmanager
def watched(ctx: Lowering, watcher: Watcher) -> Iterator[None]:
    """Add a watcher for the exceptions raised inside."""
    ctx.watchers = (*ctx.watchers, watcher)
    try:
        yield
    finally:
        ctx.watchers = ctx.watchers[:-1]


def edge_to_one(ctx: Lowering, mark: int, watcher: Watcher, clauses: list[Clause]) -> tuple[Edge, Clause] | None:
    """The one edge above a mark, if a clause certainly catches its exceptions."""
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
    """Lower ``orelse`` after a body that may have been left."""
    if ctx.state.codes == {NEXT}:
        orelse()
        return
    code = ctx.number(CODE)

    def going() -> None:
        proceed(ctx)
        forget_result(ctx)
        orelse()

    branch(ctx, ctx.call("equal", code, Const(NEXT)), going, lambda: end_other_paths(ctx), [], ctx.builder.loc)


def take(ctx: Lowering, clause: Clause, pending: Pending) -> None:
    """Lower a handler in the state in which it catches an exception."""
    ctx.state = pending.state.copy()
    proceed(ctx)
    forget_result(ctx)
    clause.body(pending.kinds)


def can_be_taken(ctx: Lowering, kind: int, clauses: list[Clause]) -> bool:
    return any(ctx.raisables[kind].verdict(clause.kinds) is not False for clause in clauses)


def split(ctx: Lowering, pending: Pending) -> list[Pending]:
    """A pending exception, split by its kinds."""
    if len(pending.kinds) == 1:
        return [pending]
    held = ctx.read(pending.state.names[KIND])
    return [
        replace(pending, test=both_tests(ctx, pending.test, partial(ctx.call, "equal", held, Const(kind))), kinds=frozenset({kind}))
        for kind in sorted(pending.kinds)
    ]


def share_out(ctx: Lowering, pending: Pending, clauses: list[Clause], taken: dict[int, list[Pending]], left_over: list[Pending]) -> None:
    """Assign an exception of one kind to the clause that catches it; if that is known at run time only, to each that may."""
    (kind,) = pending.kinds
    for k, clause in enumerate(clauses):
        verdict = ctx.raisables[kind].verdict(clause.kinds)
        if verdict is True:
            taken[k].append(pending)
            return
        if verdict is None:
            error, before = ctx.read(pending.state.names[name_of(kind)]), pending.test
            test = both_tests(ctx, before, partial(instance_of, ctx, error, clause.kinds))
            taken[k].append(replace(pending, test=test))
            pending = replace(pending, test=both_tests(ctx, before, partial(opposite, ctx, test)))
    left_over.append(pending)


def beyond(ctx: Lowering, several: list[Pending], watcher: Watcher) -> None:
    """Handle the exceptions that a statement has not caught: outer handlers get them, or the caller."""
    seen = []
    for pending in several:
        pending = replace(pending, watchers=tuple(w for w in pending.watchers if w is not watcher))
        if any(ctx.raisables[kind].verdict(w.kinds) is not False for kind in pending.kinds for w in pending.watchers):
            seen.append(pending)
            continue
        raised_in(ctx, pending)
    reopen(ctx, seen)


def classes_in(ctx: Lowering, held: Binding, node: ast.AST) -> tuple[type, ...]:
    """A class, or the classes in a tuple."""
    if (cls := class_in(held)) is not None:
        return (cls,)
    (value,) = known_value(held) or (None,)
    inner: tuple[Binding, ...] = tuple(map(Static, value)) if isinstance(value, tuple) else items_in(held)
    if inner == (held,):
        raise UnsupportedSyntax("the operand of except must be a class", ctx.loc(node))
    return tuple(cls for item in inner for cls in classes_in(ctx, item, node))


# ------------------------------------------------------------------ the exception that a clause has caught


class Taken:
    """The exception that a handler has caught, of one of several kinds; it can be re-raised even after others were raised in between."""

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
        """A test whether it is of this kind."""
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

    def as_python(self) -> Binding:
        """The exception as a Python object, for an opaque call."""
        return self.chosen(self.as_python_of)

    def as_python_of(self, kind: int) -> Binding:
        names, raisable = self.ctx.state.names, self.ctx.raisables[kind]
        if not raisable.own:
            return names[self.name(kind)]
        cls = raisable.classes[0]
        with self.ctx.unwatched():
            operands = [exception_argument(self.ctx, item) for item in items_in(names.get(self.name(f"{kind}.given"), MISSING))]
            return Num(self.ctx.call("opaque_pure", self.ctx.constant(cls, cls.__name__), *operands))

    def chosen(self, make: Callable[[int], Binding]) -> Binding:
        """Apply ``make`` for each kind that the exception may be of, and join the results."""
        key = (KIND[0], f"%chosen{next(self.ctx.builder.fresh)}")

        def choose(kind: int) -> None:
            self.ctx.state.names[key] = make(kind)

        self.each(choose)
        return self.ctx.state.names.pop(key)

    def again(self) -> None:
        """Re-raise it."""

        def raised(kind: int) -> None:
            names = self.ctx.state.names
            raise_kind(self.ctx, kind, names[self.name(kind)], names.get(self.name(f"{kind}.given"), MISSING))

        self.each(raised)

    def each(self, do: Callable[[int], None], kinds: list[int] | None = None) -> None:
        """Apply ``do`` for each kind that it may be of."""
        kinds = sorted(self.kinds) if kinds is None else kinds
        if len(kinds) == 1:
            do(kinds[0])
            return
        loc = self.ctx.builder.loc
        branch(self.ctx, self.test(kinds[0]), lambda: do(kinds[0]), lambda: self.each(do, kinds[1:]), [], loc)

    def forget(self) -> None:
        """Forget the exception at the end of the handler."""
        for name in [n for n in self.ctx.state.names if n[0] == RAISED and taken_by(n[1]) == self.number]:
            del self.ctx.state.names[name]


# ------------------------------------------------------------------ code for every way out


def on_all_ways(
    ctx: Lowering,
    node: ast.AST,
    body: Callable[[], None],
    finish: Callable[[], None],
    rest: list[ast.stmt],
    on_error: Callable[[Taken], None] | None = None,
) -> bool:
    """Lower a body, then ``finish`` on every exit; ``on_error``, if given, replaces it where an exception is pending."""

    def again(taken: Taken) -> None:
        finish()
        if not ctx.state.dead:
            go_on_with(ctx, taken.again)

    def after_raising(kinds: frozenset[int]) -> None:
        taken = Taken(ctx, kinds)
        ctx.handling.append(taken)
        try:
            (on_error or again)(taken)
        finally:
            ctx.handling.pop()
            taken.forget()

    return caught_then(ctx, node, Clause((BaseException,), after_raising), body, lambda: on_the_way_out(ctx, finish, node), rest)


def go_on_with(ctx: Lowering, again: Callable[[], None]) -> None:
    """Re-raise, unless the code of the way out has left otherwise."""
    if NEXT not in ctx.state.codes:
        return
    if ctx.state.codes == {NEXT}:
        try:
            again()
        except Raised:
            assert ctx.state.dead
        return
    code = ctx.number(CODE)
    branch(ctx, ctx.call("equal", code, Const(NEXT)), again, lambda: end_other_paths(ctx), [], ctx.builder.loc)


def caught_then(
    ctx: Lowering, node: ast.AST, clause: Clause, body: Callable[[], None], finish: Callable[[], None], rest: list[ast.stmt]
) -> bool:
    """Lower a body whose exceptions one clause catches, and ``finish`` on every way out without an exception."""
    entry, mark, watcher = ctx.state.copy(), len(ctx.edges), Watcher(clause.kinds, ctx.loc(node))
    with watched(ctx, watcher):
        body()
    with suppress(Raised):  # nothing follows on this path; the other paths still need it
        finish()
    if not any(watcher in edge.pending.watchers for edge in ctx.edges[mark:]):
        return False
    if (alone := edge_to_one(ctx, mark, watcher, [clause])) is not None:
        forget_temporaries(alone[0].pending.state, entry)
        return in_place(ctx, alone[0], clause, rest, ctx.loc(node))
    several = close_edges(ctx, mark)
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
    """Lower the code of every exit of a block; it preserves the exit code and the result."""
    if ctx.state.dead:
        return
    held = saved_exit(ctx)
    codes = ctx.state.codes
    proceed(ctx)
    finish()
    if ctx.state.dead or NEXT not in ctx.state.codes:
        forget_exit(ctx, held)
        return

    def restore() -> None:
        for name, key in held.items():
            ctx.state.names[name] = ctx.state.names.pop(key)
        ctx.state.codes = codes

    if ctx.state.codes == {NEXT}:
        restore()
        return
    code = ctx.number(CODE)
    branch(ctx, ctx.call("equal", code, Const(NEXT)), restore, lambda: replace_exit(ctx, held), [], ctx.loc(node))


def replace_exit(ctx: Lowering, held: dict[Name, Name]) -> None:
    """The code of the way out has left otherwise, which replaces the first exit; the saved exit code and result are forgotten."""
    forget_exit(ctx, held)
    end_other_paths(ctx)


def forget_exit(ctx: Lowering, held: dict[Name, Name]) -> None:
    for key in held.values():
        ctx.state.names.pop(key, None)


def saved_exit(ctx: Lowering) -> dict[Name, Name]:
    """Save the exit code and the result of a block under other names: from here on the path counts as not left."""
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


__all__ = ["Clause", "Taken", "caught", "classes_in", "forget_exit", "saved_exit", "on_all_ways", "on_the_way_out"]
