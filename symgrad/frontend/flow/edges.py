"""Exception edges: edges from ops that may raise to the handlers in the program, and the exceptions pending at the ends of blocks.

Where an exception may be raised inside a handler, a ``finally`` or a ``with``, the program gets an
edge: a test, a side on which the exception is pending, with the state at exactly that point, and a
side on which the program goes on. The end of a block closes its edges: a pending exception leaves
the block as a value, outwards to the statement that handles it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Never

from symgrad.errors import UnsupportedSyntax, UnsureAlias
from symgrad.frontend.flow.branch_sides import Side, only_where, passed_on
from symgrad.frontend.flow.joins import Joining, after_join, join_states
from symgrad.frontend.state.bindings import MISSING, Binding, Name, Num, Static, Tup, is_plain_tuple
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.interruptions import Raised
from symgrad.frontend.state.program_state import NEXT, RAISED, Loop, State
from symgrad.frontend.state.reach import memory_in
from symgrad.frontend.state.tables import SPREAD
from symgrad.ir.core import FALSE, TRUE, Block, Call, Const, If, Operand, Value
from symgrad.ir.types import BOOL
from symgrad.location import Loc

#: names of the state for the pending exception: its kind, and for each kind the exception itself
KIND: Name = (RAISED, "%kind")
#: the entry of a created exception that holds its class's arguments
GIVEN = "%given"
#: exit codes of a loop from here on mean the kind of exception that left it
ABOVE = 4


@dataclass(frozen=True, slots=True)
class Raisable:
    """A set of exceptions that may be raised somewhere: these classes and their subclasses; ``exact``: the one class itself.

    ``own``: the program raises it, so that it is an object of the program; else an operation raises it at run time.
    ``count``: the number of arguments that the program passes to it.
    """

    classes: tuple[type, ...]
    exact: bool = False
    own: bool = False
    count: int = 0

    def verdict(self, kinds: tuple[type, ...]) -> bool | None:
        """Whether a handler of some classes catches it; None if that is known at run time only."""
        if all(issubclass(cls, kinds) for cls in self.classes):
            return True
        below = not self.exact and any(issubclass(kind, cls) for kind in kinds for cls in self.classes)
        return None if below or any(issubclass(cls, kinds) for cls in self.classes) else False


@dataclass(frozen=True, slots=True, eq=False)
class Watcher:
    """A statement that handles exceptions of some classes raised in its body."""

    kinds: tuple[type, ...]
    loc: Loc


@dataclass(frozen=True, slots=True, eq=False)
class Pending:
    """An exception that is pending where a test is true, in a state; ``depth``: the count of edges around the definitions of both."""

    test: Operand
    state: State
    kinds: frozenset[int]
    watchers: tuple[Watcher, ...]
    depth: int


@dataclass(slots=True, eq=False)
class Edge:
    """A test with an exception pending on one side; without ``go_on`` the program does not continue."""

    pending: Pending
    block: Block
    entry: State
    loc: Loc
    go_on: Block | None = None
    outer: Block | None = None
    facts: int = 0


def name_of(kind: int) -> Name:
    """The name of the pending exception of a kind."""
    return (RAISED, f"%{kind}")


def args_of(kind: int) -> Name:
    """The name of the class arguments of a pending exception that the program raised."""
    return (RAISED, f"%{kind}.given")


def name_of_taken(number: int, what: object) -> Name:
    """The name under which a handler holds the caught exception."""
    return (RAISED, f"%taken{number}.{what}")


def taken_by(name: str) -> int | None:
    """The number of the handler that keeps a binding under a name."""
    return int(name[6 : name.index(".")]) if name.startswith("%taken") else None


def kind_of(ctx: Lowering, raisable: Raisable) -> int:
    """The number of a ``Raisable``."""
    if raisable not in ctx.raisables:
        ctx.raisables.append(raisable)
    return ctx.raisables.index(raisable)


def kind_now(ctx: Lowering, kinds: frozenset[int]) -> Operand:
    """The kind of the pending exception, one of some kinds."""
    return Const(next(iter(kinds))) if len(kinds) == 1 else ctx.number(KIND)


def is_seen(ctx: Lowering, raisable: Raisable) -> bool:
    """Whether a statement in the program handles it."""
    return any(raisable.verdict(watcher.kinds) is not False for watcher in ctx.watchers)


def sees(ctx: Lowering, cls: type) -> bool:
    """Whether a statement in the program handles an exception of a class."""
    return is_seen(ctx, Raisable((cls,), exact=True))


# ------------------------------------------------------------------ raising


def raise_where(ctx: Lowering, test: Operand, raisable: Raisable, exception: Callable[[], Binding], args: Binding = MISSING) -> None:
    """Make an exception pending where a test is true; the program goes on where it is not."""
    if isinstance(test, Const):
        if test.value:
            with ctx.unwatched():
                held = exception()
            raise_here(ctx, kind_of(ctx, raisable), held, args)
        return
    kind, block, state = kind_of(ctx, raisable), Block(), ctx.state.copy()
    kept, ctx.state = ctx.state, state
    with ctx.inside(block):
        held = exception()
    ctx.state = kept
    state.names |= {KIND: Num(Const(kind)), name_of(kind): held, args_of(kind): args}
    state.known = {**state.known, **ctx.decided.by(test, True)}
    push(ctx, Pending(test, state, frozenset({kind}), ctx.watchers, len(ctx.edges) + 1), block)


def raise_here(ctx: Lowering, kind: int, exception: Binding, args: Binding = MISSING) -> None:
    """Make an exception pending; nothing follows."""
    state = ctx.state.copy()
    state.names |= {KIND: Num(Const(kind)), name_of(kind): exception, args_of(kind): args}
    pend(ctx, Pending(TRUE, state, frozenset({kind}), ctx.watchers, len(ctx.edges)))
    ctx.state.dead = True
    raise Raised


def fail(ctx: Lowering, cls: type[Exception], what: Any) -> Never:
    """Raise an exception with a text or another argument; nothing follows."""
    fail_unless(ctx, FALSE, cls, what)
    raise Raised


def fail_unless(ctx: Lowering, test: Operand, cls: type[Exception], what: Any) -> None:
    """Raise an exception with a text or another argument where a test is false."""
    raisable = Raisable((cls,), exact=True, own=True, count=1)
    if is_seen(ctx, raisable):
        with ctx.unwatched():
            fails = opposite(ctx, test)
        arguments = Tup((what if isinstance(what, Binding) else Static(what) if isinstance(what, str) else Num(Const(what)),))
        exception = ctx.new_object("record", (("args", arguments), (GIVEN, arguments)), cls)
        raise_where(ctx, fails, raisable, lambda: exception, arguments)
        return
    told = exception_argument(ctx, what) if isinstance(what, Binding) else Const(what)
    raised = Call([], ctx.builder.loc, "raise_error", [ctx.constant(cls, cls.__name__), told], {})
    if isinstance(test, Const):
        ctx.builder.append(raised)
        ctx.state.dead = True
    else:
        ctx.builder.append(If([], ctx.builder.loc, test, Block(), Block([], [raised])))
        ctx.state.known = {**ctx.state.known, **ctx.decided.by(test, True)}


def filled_in(ctx: Lowering, template: str, *operands: Operand) -> Num:
    """The text of an exception with numbers in it."""
    with ctx.unwatched():
        return Num(ctx.call("format_text", Const(template), *operands))


def exception_argument(ctx: Lowering, what: Binding, node: ast.AST | None = None) -> Operand:
    """An argument of an exception for the caller; a tuple is a tuple there."""
    operand = ctx.read(what, node)
    return ctx.call("opaque_pure", ctx.constant(tuple, "tuple"), operand) if is_plain_tuple(what) else operand


def check_count(ctx: Lowering, number: Operand, count: Operand, what: str) -> None:
    """Raise a ``ValueError`` unless a number equals the required count."""
    if is_seen(ctx, Raisable((ValueError,), exact=True)):
        fail_unless(ctx, ctx.call("equal", number, count), ValueError, what)
    else:
        ctx.builder.call_many("check_count", number, count, Const(what))


def pend(ctx: Lowering, pending: Pending) -> None:
    """Record a pending exception after which nothing follows."""
    ctx.edges.append(Edge(pending, Block(), pending.state, ctx.builder.loc))


def push(ctx: Lowering, pending: Pending, block: Block) -> None:
    """Continue where an exception is not pending."""
    builder = ctx.builder
    edge = Edge(pending, block, ctx.state.copy(), builder.loc, Block(), builder.block, len(builder.facts))
    ctx.edges.append(edge)
    ctx.state.known = {**ctx.state.known, **ctx.decided.by(pending.test, False)}
    assert edge.go_on is not None
    builder.block = edge.go_on


def reopen(ctx: Lowering, several: Iterable[Pending]) -> None:
    """Continue where none of the exceptions that left a block is pending."""
    depth = len(ctx.edges)
    for pending in several:
        pending = replace(pending, depth=depth)
        if ctx.state.dead or isinstance(pending.test, Const):
            pend(ctx, pending)
        else:
            push(ctx, pending, Block())


# ------------------------------------------------------------------ ends of blocks


def close_edges(ctx: Lowering, mark: int) -> list[Pending]:
    """Close the edges above a mark; return their pending exceptions, as values of the block that contains the first edge."""
    pending: list[Pending] = []
    with ctx.unwatched():
        while len(ctx.edges) > mark:
            edge = ctx.edges.pop()
            edge.pending = of_handlers_around(ctx, edge.pending)
            pending = [edge.pending, *pending] if edge.go_on is None else close_one(ctx, edge, pending)
    return pending


def of_handlers_around(ctx: Lowering, pending: Pending) -> Pending:
    """A pending exception without the exceptions caught by handlers that it has left."""
    around = {taken.number for taken in ctx.handling}
    left = [
        name for name in pending.state.names if name[0] == RAISED and (number := taken_by(name[1])) is not None and number not in around
    ]
    if not left:
        return pending
    state = pending.state.copy()
    for name in left:
        del state.names[name]
    return replace(pending, state=state)


def close_one(ctx: Lowering, edge: Edge, inner: list[Pending]) -> list[Pending]:
    """Emit the branch of an edge; return the exceptions pending on either side."""
    assert edge.go_on is not None
    assert edge.outer is not None
    depth = len(ctx.edges)
    del ctx.builder.facts[edge.facts :]
    ctx.builder.block = edge.outer
    op = If([], edge.loc, edge.pending.test, edge.block, edge.go_on)
    first, also = edge.pending, None
    alike = next((p for p in inner if p.depth > depth and p.kinds == first.kinds and p.watchers == first.watchers), None)
    if alike is not None:
        also, first = joined_at(ctx, edge, op, alike)
        inner = [p for p in inner if p is not alike]
    elif first.depth > depth:
        first = replace(first, state=handed_out(ctx, edge.entry, op, first.state, True), depth=depth)
    elif not passed_on(op.orelse).isdisjoint(first.state.memory.values()):
        entry = common(ctx, edge.entry, [first.state, edge.entry])
        first = replace(first, state=handed_out(ctx, entry, op, first.state, True), depth=depth)
    pending = [first, *(p if p.depth <= depth else out_of(ctx, edge.entry, op, p, False, depth) for p in inner)]
    if not ctx.state.dead:
        ctx.state = handed_out(ctx, edge.entry, op, ctx.state, False)
    ctx.builder.append(op)
    if also is not None:
        kept, ctx.state = ctx.state, first.state
        after_join(ctx, also, first.test)
        ctx.state = kept
    return pending


def joined_at(ctx: Lowering, edge: Edge, op: If, inner: Pending) -> tuple[Joining, Pending]:
    """The exception of an edge and a later one of the same kind as one, pending after the branch of the edge."""
    for state in (edge.pending.state, inner.state):
        forget_temporaries(state, edge.entry)
    test: Operand = TRUE
    if not isinstance(inner.test, Const):
        op.outs.append(test := Value(BOOL))
        op.then.yields.append(TRUE)
        op.orelse.yields.append(inner.test)
    entry = common(ctx, edge.entry, [edge.pending.state, inner.state])
    joining = Joining(ctx, entry, Side(op.then, edge.pending.state), Side(op.orelse, inner.state), op, passed_on=passed_on(op.orelse))
    return joining, replace(inner, test=test, state=joining.joined(), depth=len(ctx.edges))


def out_of(ctx: Lowering, entry: State, op: If, pending: Pending, then: bool, depth: int) -> Pending:
    """The exception pending at the end of one side of a branch, as it is after the branch."""
    test: Operand
    if isinstance(pending.test, Const):
        test = op.test if then else opposite(ctx, op.test)
    else:
        test = Value(BOOL)
        op.outs.append(test)
        for block, is_own in ((op.then, then), (op.orelse, not then)):
            block.yields.append(pending.test if is_own else FALSE)
    return replace(pending, test=test, state=handed_out(ctx, entry, op, pending.state, then), depth=depth)


def opposite(ctx: Lowering, test: Operand) -> Operand:
    return Const(not test.value) if isinstance(test, Const) else ctx.call("not_", test)


def handed_out(ctx: Lowering, entry: State, op: If, state: State, then: bool) -> State:
    """The state at the end of one side of a branch, as it is after the branch; on the other side nothing reads it."""
    gone = State(dead=True)
    sides = (Side(op.then, state), Side(op.orelse, gone)) if then else (Side(op.then, gone), Side(op.orelse, state))
    return Joining(ctx, entry, *sides, op, blank=True).joined()


def come_out(ctx: Lowering, entry: State, op: If, sides: tuple[list[Pending], list[Pending]]) -> None:
    """Continue after a branch where no exception from its sides is pending."""
    if any(sides):
        with ctx.unwatched():
            several = [out_of(ctx, entry, op, p, then, 0) for then, side in zip((True, False), sides, strict=True) for p in side]
        reopen(ctx, several)


def common(ctx: Lowering, entry: State, several: list[State]) -> State:
    """The common part of states that lead on from ``entry``: after a loop, on the paths with and without an exception.

    Where they differ in the content of an array or object, neither is kept: a join would take one's
    content for the original.
    """
    alive = [state for state in several if not state.dead]
    if not alive:
        return entry.copy()
    shared = alive[0].copy()
    shared.operands, shared.codes, shared.dead = entry.operands, entry.codes, False
    shared.names = {name: held for name, held in shared.names.items() if all(state.names.get(name) == held for state in alive)}
    for place, held in alive[0].memory.items():
        if any(place not in state.memory for state in alive):
            del shared.memory[place]
        elif any(state.memory[place] is not held for state in alive):
            shared.memory[place] = entry.memory[place] if place in entry.memory else Value(held.type)
    for key, content in alive[0].heap.items():
        if any(key not in state.heap for state in alive):
            del shared.heap[key]
        elif any(state.heap[key] != content for state in alive):
            before = entry.heap.get(key, ())
            items = [item for _, item in before] if isinstance(before, tuple) else [before]
            is_lost = any(location not in shared.memory for item in items for location in memory_in(item))
            shared.heap[key] = () if is_lost else before
    relations = [{k: {o: s for o, s in held.items() if o in shared.heap} for k, held in x.kin.items() if k in shared.heap} for x in alive]
    if any(one.get(key, other[key]) != other[key] for one in relations for other in relations for key in other):
        raise UnsureAlias("whether two objects are the same depends on the exception that is raised", ctx.builder.loc)
    shared.kin = {key: held for key, held in relations[0].items() if held and all(key in other for other in relations)}
    shared.bases = {place: held for place, held in shared.bases.items() if all(state.bases.get(place) == held for state in alive)}
    return shared


#: prefixes of the variables that hold the partial result of an expression or a loop, or the exit that ``finally`` interrupts
TEMPORARIES = ("%made", "%fold", "%found", "%firsts", "%choice", "%over", "%at", "%held", "%left")


def forget_temporaries(state: State, entry: State) -> None:
    """Forget the partial results of the expressions and loops that an exception has left, which began after ``entry``."""
    for name in [n for n in state.names if n[1].startswith(TEMPORARIES) and n not in entry.names]:
        del state.names[name]


def join_pending(ctx: Lowering, entry: State, several: list[Pending]) -> Pending:
    """Join exceptions, at most one of which is pending, into one of several kinds."""
    for pending in several:
        forget_temporaries(pending.state, entry)
    first, *others = several
    for other in others:
        with ctx.unwatched():
            ctx.state = before = common(ctx, entry, [first.state, other.state])
            test = either(ctx, first.test, other.test)
            op = join_states(ctx, before, first.test, Side(Block(), first.state), Side(Block(), other.state), ctx.builder.loc, test)
            only_where(ctx, op.orelse, other.test)
        first = Pending(test, ctx.state, first.kinds | other.kinds, ctx.watchers, len(ctx.edges))
    return first


def either(ctx: Lowering, one: Operand, other: Operand) -> Operand:
    """Whether one of two tests is true."""
    return TRUE if TRUE in (one, other) else chosen(ctx, one, lambda: TRUE, lambda: other)


def both_tests(ctx: Lowering, one: Operand, other: Callable[[], Operand]) -> Operand:
    """Whether both tests are true. The operands of the second exist only where the first is true."""
    return other() if one is TRUE else chosen(ctx, one, other, lambda: FALSE)


def chosen(ctx: Lowering, test: Operand, then: Callable[[], Operand], orelse: Callable[[], Operand]) -> Value:
    """A bool computed on one or the other side of a branch."""
    out, blocks = Value(BOOL), (Block(), Block())
    for block, make in zip(blocks, (then, orelse), strict=True):
        with ctx.inside(block):
            block.yields = [make()]
    ctx.builder.append(If([out], ctx.builder.loc, test, *blocks))
    ctx.decided.joined([(blocks[0].yields[0], ctx.decided.by(test, True)), (blocks[1].yields[0], ctx.decided.by(test, False))], out)
    return out


def instance_of(ctx: Lowering, error: Operand, kinds: tuple[type, ...]) -> Operand:
    """Whether an exception is of one of these classes."""
    tests = [ctx.call("is_instance", error, ctx.constant(kind, kind.__name__)) for kind in kinds]
    disjunction: Operand = tests[0]
    for test in tests[1:]:
        disjunction = either(ctx, disjunction, test)
    return disjunction


# ------------------------------------------------------------------ loops


def end_round(ctx: Lowering, loop: Loop, entry: State, several: list[Pending]) -> None:
    """End an iteration with an exception pending: the loop ends, and records the kind of the exception."""
    for pending in several:
        state, there = pending.state.copy(), Block()
        forget_temporaries(state, entry)
        held, ctx.state = ctx.state, state
        with ctx.inside(there):
            code = kind_now(ctx, pending.kinds)
            code = Const(code.value + ABOVE) if isinstance(code, Const) else ctx.call("add", code, Const(ABOVE))
        state.names |= {loop.stop: Num(TRUE), loop.exit: Num(code)}
        state.codes = frozenset({NEXT})
        for k in pending.kinds:
            loop.exits.add(ABOVE + k)
            watchers = tuple(w for w in pending.watchers if w in ctx.watchers)
            if loop.watchers.setdefault(k, watchers) != watchers:
                raise UnsupportedSyntax("a generator and the loop over it raise exceptions of the same class", ctx.builder.loc)
        ctx.state = before = common(ctx, entry, [state, held])
        with ctx.unwatched():
            join_states(ctx, before, pending.test, Side(there, state), Side(Block(), held), ctx.builder.loc)


def after_rounds(ctx: Lowering, loop: Loop) -> None:
    """Continue after a loop that was not left with an exception."""
    kinds = sorted(code - ABOVE for code in loop.exits if code >= ABOVE)
    if not kinds or ctx.state.dead:
        return
    code = ctx.number(loop.exit)
    several = []
    for kind in kinds:
        with ctx.unwatched():
            test = ctx.call("equal", code, Const(ABOVE + kind))
        state = ctx.state.copy()
        state.names[KIND] = Num(Const(kind))
        several.append(Pending(test, state, frozenset({kind}), loop.watchers[kind], len(ctx.edges)))
    loop.exits -= {ABOVE + k for k in kinds}
    reopen(ctx, several)


SPREAD["close"] = close_edges

__all__ = [
    "GIVEN",
    "KIND",
    "RAISED",
    "Edge",
    "Pending",
    "Raisable",
    "Watcher",
    "after_rounds",
    "args_of",
    "both_tests",
    "check_count",
    "close_edges",
]
__all__ += ["come_out", "common", "either", "end_round", "fail", "fail_unless", "filled_in", "forget_temporaries", "instance_of", "is_seen"]
__all__ += ["join_pending", "kind_now", "kind_of", "name_of", "name_of_taken", "of_handlers_around", "opposite", "raise_here"]
__all__ += ["raise_where", "reopen", "sees", "taken_by", "exception_argument"]
