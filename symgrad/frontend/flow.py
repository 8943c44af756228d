"""Joins: how the states of two paths become one, for branches and for loops; and how exits become values.

A path that breaks, continues or returns yields a code; what follows stands in the other branch. A loop's
body is lowered again until the forms of what it carries are stable.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from symgrad.errors import SymgradError, UnsupportedSyntax
from symgrad.frontend.bindings import (
    MISSING,
    Above,
    Binding,
    Bound,
    Broken,
    Choice,
    Fun,
    HeapKey,
    Iter,
    Location,
    Name,
    Num,
    Obj,
    Ref,
    Skeleton,
    State,
    Static,
    Tup,
    array_leaves,
    leaves,
    merge,
    operands_of,
    rebuild,
)
from symgrad.frontend.context import STATEMENTS, Loop, Lowering, Unresolved
from symgrad.ir.core import FALSE, TRUE, UNDEF, Block, Const, For, If, Operand, Value, While
from symgrad.ir.types import INT, Type, join
from symgrad.location import Loc

NEXT, BREAK, CONTINUE, RETURN = 0, 1, 2, 3
CODE: Name = (None, "code")
Item = "ast.stmt | Callable[[Lowering, list[Any]], bool]"
TRIALS = 16
WHOLE = "all of a list"  #: the place of a list that is carried as one value, beside the places of its items


def run(ctx: Lowering, items: list[Any]) -> None:
    """Lower statements in order. A statement that takes over what follows it says so by returning True."""
    for k, item in enumerate(items):
        rest = items[k + 1 :]
        if lower_one(ctx, item, rest) or ctx.state.dead or NEXT not in ctx.state.codes:
            return
        if ctx.state.codes != {NEXT}:
            code = ctx.state.names[CODE]
            assert isinstance(code, Num)
            test = ctx.call("equal", code.operand, Const(NEXT))
            branch(ctx, test, partial(go_on, ctx, rest), partial(left, ctx), [], ctx.builder.loc)
            return


def go_on(ctx: Lowering, rest: list[Any]) -> None:
    """Lower what follows, on the path that has not left."""
    proceed(ctx)
    run(ctx, rest)


def left(ctx: Lowering) -> None:
    """The other paths, which have."""
    ctx.state.codes -= {NEXT}


def lower_one(ctx: Lowering, item: Any, rest: list[Any]) -> bool:
    """Lower one statement; a refusal is noted and what the statement would have bound is unusable."""
    if callable(item):
        return bool(item(ctx, rest))
    lower = STATEMENTS.get(type(item))
    before = ctx.builder.loc
    ctx.builder.loc = ctx.loc(item)
    try:
        if lower is None:
            raise UnsupportedSyntax(f"{statement_word(item)} cannot be differentiated", ctx.loc(item))
        return bool(lower(ctx, (item, rest)))
    except SymgradError as error:
        ctx.refusals.append(error.at(ctx.loc(item)))
        for name in assigned([item]):
            ctx.state.names[(ctx.home(name) or ctx.frame), name] = Broken("its assignment was refused")
        return False
    finally:
        ctx.builder.loc = before


STATEMENT_WORDS = {
    "ClassDef": "a class definition", "AsyncFor": "an async for", "AsyncWith": "an async with", "AsyncFunctionDef": "an async function",
    "Match": "a match statement", "With": "a with statement", "Global": "an assignment to a global", "Import": "an import",
    "ImportFrom": "an import",
}  # fmt: skip


def statement_word(node: ast.stmt) -> str:
    """What a statement is called in a message."""
    kind = type(node).__name__
    return STATEMENT_WORDS.get(kind, f"a {kind.lower()} statement")


def leave(ctx: Lowering, code: int, exit_code: int | None = None) -> None:
    """Mark that this path ends here; ``exit_code`` is what the loop remembers, if that is something else."""
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


# ------------------------------------------------------------------ branches


@dataclass(slots=True)
class Side:
    """One path through a branch: its block and the state at its end."""

    block: Block
    state: State


def branch(ctx: Lowering, test: Operand, then: Callable[[], None], orelse: Callable[[], None], rest: list[Any], loc: Loc) -> bool:
    """Lower an ``if``; where only one side goes on, what follows is lowered inside it. True if that happened."""
    if isinstance(test, Const) and not isinstance(test.value, str):
        (then if test.value else orelse)()
        return False
    entry = ctx.state
    sides, unresolved = [], 0
    for body in (then, orelse):
        side = Side(Block(), entry.copy())
        ctx.state = side.state
        try:
            with ctx.inside(side.block):
                body()
        except Unresolved:
            ctx.state.dead = True
            ctx.unresolved += 1
            unresolved += 1
        side.state = ctx.state
        sides.append(side)
    if unresolved == 2:
        ctx.state = entry
        raise Unresolved
    taken = False
    for one, other in ((sides[0], sides[1]), (sides[1], sides[0])):
        leaves_for_good = not other.state.dead and NEXT not in other.state.codes
        if leaves_for_good and not one.state.dead and one.state.codes == {NEXT}:
            ctx.state = one.state
            with ctx.inside(one.block):
                try:
                    run(ctx, rest)
                except Unresolved:
                    ctx.state.dead = True
                    ctx.unresolved += 1
            one.state = ctx.state
            taken = True
            break
    join_states(ctx, entry, test, sides[0], sides[1], loc)
    return taken


def join_states(ctx: Lowering, entry: State, test: Operand, then: Side, orelse: Side, loc: Loc) -> None:
    """Make an ``If`` of two sides and go on in the state that covers both."""
    op = If([], loc, test, then.block, orelse.block)
    joining = Joining(ctx, entry, then, orelse, op)
    ctx.state = joining.joined()
    ctx.builder.append(op)


def can_be_called(binding: Binding) -> bool:
    """Is it a function?"""
    return isinstance(binding, Fun | Bound | Choice) or isinstance(binding, Static) and callable(binding.value)


@dataclass(slots=True)
class Joining:
    """The work of one join; ``done`` remembers what pair of bindings became what, so that aliases stay aliases."""

    ctx: Lowering
    entry: State
    then: Side
    orelse: Side
    op: If
    state: State = field(default_factory=State)
    done: dict[Any, Binding] = field(default_factory=dict)

    def joined(self) -> State:
        a, b = self.then.state, self.orelse.state
        state = self.state
        if a.dead and b.dead:
            self.op.outs = []
            dead = self.entry.copy()
            dead.dead = True
            return dead
        alive = [s for s in (a, b) if not s.dead]
        for side in alive:
            for location, others in side.partners.items():
                state.partners[location] = state.partners.get(location, frozenset()) | others
            state.stale = {**side.stale, **state.stale}
        for location in self.entry.memory:
            state.memory[location] = self.version(location)
        for key in self.entry.heap:
            state.heap[key] = self.content(key)
        for name in dict.fromkeys([*a.names, *b.names]):
            made = self.binding(self.of(a, b, name), self.of(b, a, name), name[1])
            if made != MISSING:
                state.names[name] = made
        state.codes = frozenset().union(*(s.codes for s in alive))
        if len(state.codes) == 1:
            state.names[CODE] = Num(Const(next(iter(state.codes))))
        return state

    @staticmethod
    def of(side: State, other: State, name: Name) -> Binding:
        return (other if side.dead else side).names.get(name, MISSING)

    def out(self, a: Operand, b: Operand, type_: Type, name: str | None) -> Value:
        out = Value(self.ctx.builder.freshen(type_), None if name is None or name.startswith("%") else name)
        self.op.outs.append(out)
        self.then.block.yields.append(UNDEF if self.then.state.dead else a)
        self.orelse.block.yields.append(UNDEF if self.orelse.state.dead else b)
        return out

    def version(self, location: Location) -> Operand:
        """The content of a location after the join."""
        a, b = self.then.state, self.orelse.state
        one = (b if a.dead else a).memory[location]
        two = (a if b.dead else b).memory[location]
        if one is two and (not (a.dead or b.dead) or one is self.entry.memory[location]):
            return one
        return self.out(one, two, join(one.type, two.type), location.name)

    def content(self, key: HeapKey) -> Any:
        """The content of an object after the join."""
        a, b = self.then.state, self.orelse.state
        one = (b if a.dead else a).heap[key]
        two = (a if b.dead else b).heap[key]
        if one == two and (not (a.dead or b.dead) or one == self.entry.heap[key]):
            return one
        if isinstance(one, Ref) or isinstance(two, Ref) or key.kind == "list" and len(one) != len(two):
            return self.whole_list([key, key], [one, two])
        first, second = dict(one), dict(two)
        if key.kind == "dict":
            first, second = shared_keys(first, second), shared_keys(second, first)
        return tuple((k, self.binding(first.get(k, MISSING), second.get(k, MISSING), str(k))) for k in dict.fromkeys([*first, *second]))

    def read(self, side: Side, binding: Binding) -> Operand:
        kept, self.ctx.state = self.ctx.state, side.state
        try:
            with self.ctx.inside(side.block):
                return self.ctx.read(binding)
        finally:
            self.ctx.state = kept

    def binding(self, a: Binding, b: Binding, name: str) -> Binding:
        """One binding that covers both sides'."""
        if a == b and (not (self.then.state.dead or self.orelse.state.dead) or self.is_outer(a)):
            return a
        if (a, b) not in self.done:
            self.done[a, b] = self.new_binding(a, b, name)
        return self.done[a, b]

    def is_outer(self, binding: Binding) -> bool:
        """Was this binding there before the branch?"""
        return binding in self.entry.names.values() or not isinstance(binding, Num | Ref | Obj)

    def new_binding(self, a: Binding, b: Binding, name: str) -> Binding:
        if isinstance(a, Obj) or isinstance(b, Obj):
            return self.objects(a, b)
        if can_be_called(a) and can_be_called(b):
            return Choice(self.op.test, a, b)
        one = self.form(self.then, a)
        two = self.form(self.orelse, b)
        form = merge(one, two)
        operands = [self.operands(side, binding, form) for side, binding in ((self.then, a), (self.orelse, b))]
        values = [
            self.out(p, q, leaf.type, name if len(operands[0]) == 1 else None) for p, q, leaf in zip(*operands, leaves(form), strict=True)
        ]
        made = rebuild(form, list(values), self.state, name if not name.startswith("%") else None, self.op.loc)
        for location, *sources in zip(array_leaves(made), *(self.locations(x, form) for x in (a, b)), strict=True):
            for side, source in zip((self.then.state, self.orelse.state), sources, strict=True):
                if location is not None and source is not None and not side.dead:
                    self.state.pair(location, source)
                    if source in side.stale:
                        self.state.stale[location] = side.stale[source]
        return made

    def locations(self, binding: Binding, form: Skeleton) -> list[Location | None]:
        found = array_leaves(binding)
        return found if len(found) == len(leaves(form)) else [None] * len(leaves(form))

    def form(self, side: Side, binding: Binding) -> Skeleton:
        return self.ctx.skeleton(binding, side.state if not side.state.dead else self.other(side).state)

    def other(self, side: Side) -> Side:
        return self.orelse if side is self.then else self.then

    def operands(self, side: Side, binding: Binding, form: Skeleton) -> list[Operand]:
        if side.state.dead:
            return [UNDEF] * len(leaves(form))
        stale = side.state.stale
        return operands_of(binding, form, lambda ref: self.read(side, ref), lambda ref: ref.location in stale)

    def held_elsewhere(self, a: Binding, b: Binding) -> bool:
        """Is one of two objects that become one reached by another name too?  What is done to the new one would not be seen there."""
        for side, own, first in ((self.then.state, a, True), (self.orelse.state, b, False)):
            if side.dead or not isinstance(own, Obj) or own.key not in self.entry.heap:
                continue
            others = self.orelse.state if first else self.then.state
            seen: set[HeapKey] = set()
            for name, binding in side.names.items():
                if not (binding == own and others.names.get(name, MISSING) == (b if first else a)):
                    objects_in(binding, side, seen)
            if own.key in seen:
                return True
        return False

    def objects(self, a: Binding, b: Binding) -> Binding:
        """Join two objects: a new object with joined content."""
        states = [(self.other(side) if side.state.dead else side).state for side in (self.then, self.orelse)]
        held = [x.key if isinstance(x, Obj) else None for x in (a, b)]
        keys = [k for k in held if k is not None]
        alone = len(keys) == 1 and MISSING in (a, b)
        if self.held_elsewhere(a, b) or not (alone or len(keys) == 2 and keys[0].kind == keys[1].kind and keys[0].cls is keys[1].cls):
            return Broken("it is bound to different objects on different paths")
        contents = [() if k is None else state.heap.get(k) for k, state in zip(held, states, strict=True)]
        made = HeapKey(keys[0].kind, keys[0].cls)
        lengths = {len(c or ()) for c in contents if not isinstance(c, Ref)}
        whole = any(isinstance(c, Ref) for c in contents) or not alone and made.kind == "list" and len(lengths) > 1
        if whole and alone or None in contents:
            return Broken("it is bound to a list on one path only")
        if whole:
            self.state.heap[made] = self.whole_list(held, contents)
            return Obj(made)
        first, second = dict(contents[0] or ()), dict(contents[1] or ())  # type: ignore[arg-type]
        if made.kind == "dict" and not alone:
            first, second = shared_keys(first, second), shared_keys(second, first)
        self.state.heap[made] = tuple(
            (k, self.binding(first.get(k, MISSING), second.get(k, MISSING), str(k))) for k in dict.fromkeys([*first, *second])
        )
        return Obj(made)

    def whole_list(self, keys: list[Any], contents: list[Any]) -> Ref:
        """Two lists joined as one value, which shares memory with the arrays in both."""
        sides = (self.then, self.orelse)
        values = [UNDEF if side.state.dead else self.read(side, Obj(k)) for side, k in zip(sides, keys, strict=True)]
        known = [v.type for v, side in zip(values, sides, strict=True) if not side.state.dead]
        location = Location(None, self.op.loc)
        self.state.memory[location] = self.out(values[0], values[1], functools.reduce(join, known), None)
        for content in contents:
            for item in [content] if isinstance(content, Ref) else [b for _, b in content]:
                for source in array_leaves(item):
                    if source is not None and source is not location:
                        self.state.pair(location, source)
        return Ref(location)


def shared_keys(own: dict[Any, Binding], other: dict[Any, Binding]) -> dict[Any, Binding]:
    """A dict in the form that it has together with another one: a key that is in one of them only cannot be used."""
    only = Broken("this key is in the dict on some paths only")
    return {k: own[k] if k in own and k in other else only for k in dict.fromkeys([*own, *other])}


def objects_in(binding: Any, state: State, seen: set[HeapKey]) -> None:
    """Every object that a binding reaches."""
    match binding:
        case Obj(key) if key not in seen:
            seen.add(key)
            content = state.heap.get(key, ())
            for _, item in () if isinstance(content, Ref) else content:
                objects_in(item, state, seen)
        case Tup(items=parts) | Iter(parts=parts):
            for part in parts:
                objects_in(part, state, seen)
        case Bound(owner=owner) | Above(owner=owner):
            objects_in(owner, state, seen)
        case Fun(defaults=defaults):
            for _, default in defaults:
                objects_in(default, state, seen)
        case Choice(then=one, orelse=two):
            objects_in(one, state, seen)
            objects_in(two, state, seen)


# ------------------------------------------------------------------ loops


class TestChanges(Exception):
    """The test of a ``while`` writes to memory: it is lowered as a part of the body."""


@dataclass(slots=True)
class Plan:
    """What a loop carries, as far as is known: forms of names, types of memory and lists, what may share memory."""

    names: dict[Name, Skeleton] = field(default_factory=dict)
    memory: dict[Location, Type] = field(default_factory=dict)
    heap: dict[HeapKey, Any] = field(default_factory=dict)
    shares: set[tuple[Any, Any]] = field(default_factory=set)
    stale: set[Any] = field(default_factory=set)

    def add(self, table: dict[Any, Any], key: Any, value: Any) -> bool:
        """Enter a form; True if that is news."""
        if key in table and table[key] == value:
            return False
        table[key] = value
        return True


@dataclass(slots=True)
class Head:
    """One attempt at a loop: what it starts from, its block arguments, and the state at the top of the body."""

    inits: list[Operand]
    args: list[Value]
    state: State
    places: dict[Any, Location]
    types: list[Type] = field(default_factory=list)  #: of ``args``, with ``?`` for each extent that may change from round to round

    def slot(self, ctx: Lowering, type_: Type, name: str | None) -> Value:
        """A block argument for what is carried."""
        self.types.append(type_)
        self.args.append(Value(ctx.builder.freshen(type_), name))
        return self.args[-1]


def loop(
    ctx: Lowering, key: Any, guess: Iterable[Name], build: Callable[[Head], tuple[Block, Operand]]
) -> tuple[Block, Operand, Plan, Head]:
    """Find what a loop carries by lowering its body until nothing new is learned.

    ``build(head)`` lowers the body from a head and returns its block and its stop operand; the state is then the end of the body.
    """
    entry = ctx.state
    plan = Plan()
    names = visible(ctx, entry)
    remembered = ctx.forms.get(key, {})
    for name in guess:
        plan.names[name] = remembered.get(name[1], ctx.skeleton(entry.names.get(name, MISSING), entry))
    for _ in range(TRIALS):
        ctx.state = entry
        head = make_head(ctx, entry, plan)
        ctx.state = head.state
        top = head.state.copy()
        block, stop = build(head)
        head.state = top
        if not learn(ctx, entry, plan, head, ctx.state, names):
            ctx.forms[key] = {name[1]: form for name, form in plan.names.items() if name[0] is ctx.frame and form.form in ("num", "array")}
            block.yields[:0] = end_operands(ctx, plan, ctx.state, block)
            ctx.state = entry
            return block, stop, plan, head
    raise UnsupportedSyntax("the types of what this loop carries do not settle", ctx.builder.loc)


def make_head(ctx: Lowering, entry: State, plan: Plan) -> Head:
    """Block arguments for what is carried, and the state in which they are bound."""
    state = entry.copy()
    head = Head([], [], state, {})
    for name, form in plan.names.items():
        before = entry.names.get(name, MISSING)
        form = plan.names[name] = merge(ctx.skeleton(before, entry), form)
        inits = operands_of(before, form, ctx.read, lambda ref: ref.location in entry.stale)
        hint = None if name[1].startswith("%") else name[1]
        args = [head.slot(ctx, leaf.type, hint) for leaf in leaves(form)]
        head.inits += inits
        made = rebuild(form, list(args), state, name[1], ctx.builder.loc)
        state.names[name] = made
        for k, location in enumerate(array_leaves(made)):
            if location is not None:
                head.places[name, k] = location
    for location, type_ in plan.memory.items():
        head.inits.append(entry.memory[location])
        plan.memory[location] = type_ = join(entry.memory[location].type, type_)
        state.memory[location] = head.slot(ctx, type_, location.name)
    for key, form in plan.heap.items():
        head_object(ctx, entry, state, key, form, head)
    relate(entry, plan, head)
    return head


def head_object(ctx: Lowering, entry: State, state: State, key: HeapKey, form: Any, head: Head) -> None:
    """Carry the content of an object: as a list value, or item by item."""
    content = entry.heap[key]
    if isinstance(form, Type):
        init = ctx.read(Obj(key))
        head.inits.append(init)
        location = content.location if isinstance(content, Ref) else Location(None, ctx.builder.loc)
        state.memory[location] = head.slot(ctx, join(init.type, form), None)
        state.heap[key] = Ref(location)
        head.places[(key, WHOLE), 0] = location
        return
    before = dict(content)  # type: ignore[arg-type]
    items = dict(before)
    for k, part in form:
        binding = before.get(k, MISSING)
        inits = operands_of(binding, part, ctx.read, lambda ref: ref.location in entry.stale)
        args = [head.slot(ctx, leaf.type, str(k) if str(k).isidentifier() else None) for leaf in leaves(part)]
        head.inits += inits
        made = rebuild(part, list(args), state, None, ctx.builder.loc)
        items[k] = made
        for n, place in enumerate(array_leaves(made)):
            if place is not None:
                head.places[(key, k), n] = place
    state.heap[key] = tuple(items.items())


def source_of(entry: State, plan: Plan, name: Any, k: int) -> list[Location]:
    """What a carried place may share memory with before the loop: of a list, each array in it."""
    if name in plan.names:
        found = array_leaves(entry.names.get(name, MISSING))[k : k + 1]
    else:
        key, item = name
        content = entry.heap.get(key, ())
        items = content if isinstance(content, Ref) else dict(content).get(item, MISSING)
        found = (
            [x for _, b in content for x in array_leaves(b)]
            if item is WHOLE and not isinstance(content, Ref)
            else array_leaves(items)[k : k + 1]
        )
    return [x for x in found if x is not None]


def reachable(state: State, carried: Iterable[Name]) -> set[Location]:
    """Locations that a name or object still reaches under its own identity."""
    skip = set(carried)
    found: set[Location] = set()
    for name, binding in state.names.items():
        if name not in skip:
            found.update(x for x in array_leaves(binding) if x is not None)
    for content in state.heap.values():
        if isinstance(content, Ref):
            found.add(content.location)
        else:
            for _, item in content:
                found.update(x for x in array_leaves(item) if x is not None)
    return found


def relate(entry: State, plan: Plan, head: Head) -> None:
    """Pair what may share memory at the top of the body."""
    state = head.state
    seen = reachable(state, plan.names)
    sources: dict[Location, list[Location]] = {}
    pairs = [(location, source) for (name, k), location in head.places.items() for source in source_of(entry, plan, name, k)]
    for location, source in pairs:
        if location is source:
            continue
        if source in seen:
            state.pair(location, source)
        for other in entry.partners.get(source, frozenset()):
            if other in seen:
                state.pair(location, other)
        for twin in sources.setdefault(source, []):
            state.pair(location, twin)
        sources[source].append(location)
        if source in entry.stale:
            state.stale[location] = entry.stale[source]
    for a, b in plan.shares:
        one, two = head.places.get(a), b if isinstance(b, Location) else head.places.get(b)
        if one is not None and two is not None and (two in head.places.values() or two in seen):
            state.pair(one, two)
    for mark in plan.stale:
        doubtful = mark if isinstance(mark, Location) else head.places.get(mark)
        if doubtful is not None:
            state.stale.setdefault(doubtful, doubtful.owner)


def learn(ctx: Lowering, entry: State, plan: Plan, head: Head, end: State, names: Callable[[Name], bool]) -> bool:
    """Compare the end of the body with its top; True if something new must be carried."""
    news = False
    if end.dead:
        return False
    for name in dict.fromkeys([*end.names, *head.state.names]):
        if name == CODE or name[1] == "stop" and isinstance(name[0], Loop) or not names(name):
            continue
        after = end.names.get(name, MISSING)
        if name in plan.names:
            news |= plan.add(plan.names, name, merge(plan.names[name], ctx.skeleton(after, end)))
        elif after != head.state.names.get(name, MISSING):
            news |= plan.add(plan.names, name, merge(ctx.skeleton(entry.names.get(name, MISSING), entry), ctx.skeleton(after, end)))
    for location in entry.memory:
        if end.memory[location] is not head.state.memory[location] or location in plan.memory:
            carried_as_list = any(isinstance(c, Ref) and c.location is location for c in entry.heap.values())
            if not carried_as_list:
                old = plan.memory.get(location, entry.memory[location].type)
                news |= plan.add(plan.memory, location, join(old, end.memory[location].type))
        if location in end.stale and location not in head.state.stale:
            plan.stale.add(location)
            news = True
    for key in entry.heap:
        news |= learn_object(ctx, entry, plan, head, end, key)
    return learn_sharing(entry, plan, head, end) or news


def learn_object(ctx: Lowering, entry: State, plan: Plan, head: Head, end: State, key: HeapKey) -> bool:
    top, bottom = head.state.heap[key], end.heap[key]
    if isinstance(bottom, Ref) or isinstance(top, Ref):
        changed = (
            not (isinstance(top, Ref) and isinstance(bottom, Ref)) or end.memory[bottom.location] is not head.state.memory[top.location]
        )
        if not changed and key not in plan.heap:
            return False
        kept, ctx.state = ctx.state, end
        scratch = Block()
        with ctx.inside(scratch):
            type_ = ctx.read(Obj(key)).type
        ctx.state = kept
        old = plan.heap.get(key)
        return plan.add(plan.heap, key, join(old, type_) if isinstance(old, Type) else type_)
    if top == bottom and key not in plan.heap:
        return False
    first, last = dict(top), dict(bottom)
    if key.kind == "list" and len(first) != len(last):
        kept, ctx.state = ctx.state, end
        with ctx.inside(Block()):
            type_ = ctx.read(Obj(key)).type
        ctx.state = kept
        return plan.add(plan.heap, key, type_)
    old = dict(plan.heap.get(key, ())) if not isinstance(plan.heap.get(key), Type) else {}
    for k in dict.fromkeys([*first, *last]):
        if k in old or first.get(k) != last.get(k):  # an item that stays the same object keeps its memory
            form = merge(ctx.skeleton(first.get(k, MISSING), head.state), ctx.skeleton(last.get(k, MISSING), end))
            old[k] = merge(old[k], form) if k in old else form
    return plan.add(plan.heap, key, tuple(old.items()))


def learn_sharing(entry: State, plan: Plan, head: Head, end: State) -> bool:
    """Which carried arrays may share memory with each other, or with what is reached otherwise, in the next round."""
    news = False
    ends: dict[Any, Location] = {}
    for name in plan.names:
        for k, location in enumerate(array_leaves(end.names.get(name, MISSING))):
            if location is not None:
                ends[name, k] = location
    for key, form in plan.heap.items():
        content = end.heap[key]
        held = (
            [(WHOLE, content)]
            if isinstance(content, Ref)
            else [(k, b) for k, b in content if not isinstance(form, Type) and k in dict(form)]
        )
        ends |= {((key, k), n): x for k, b in held for n, x in enumerate(array_leaves(b)) if x is not None}
    items = list(ends.items())
    for n, (a, one) in enumerate(items):
        if one in end.stale and a not in plan.stale and a in head.places and head.places[a] not in head.state.stale:
            plan.stale.add(a)
            news = True
        others = end.partners.get(one, frozenset())
        for b, two in items[:n]:
            if (one is two or two in others) and (a, b) not in plan.shares:
                plan.shares.add((a, b))
                news = True
        for other in {one} | others:
            if other in entry.memory and (a, other) not in plan.shares:
                plan.shares.add((a, other))
                news = True
    return news


def end_operands(ctx: Lowering, plan: Plan, end: State, block: Block) -> list[Operand]:
    """What the body hands to its next round, in the order of the head."""
    made: list[Operand] = []
    kept, ctx.state = ctx.state, end
    with ctx.inside(block):
        for name, form in plan.names.items():
            if end.dead:
                made += [UNDEF] * len(leaves(form))
            else:
                made += operands_of(end.names.get(name, MISSING), form, ctx.read, lambda ref: ref.location in end.stale)
        made += [end.memory[location] for location in plan.memory]
        for key, form in plan.heap.items():
            if isinstance(form, Type):
                made.append(ctx.read(Obj(key)))
            else:
                content = dict(end.heap[key])  # type: ignore[arg-type]
                for k, part in form:
                    made += operands_of(content.get(k, MISSING), part, ctx.read, lambda ref: ref.location in end.stale)
    ctx.state = kept
    return made


def after_loop(ctx: Lowering, plan: Plan, outs: list[Value]) -> None:
    """Bind what the loop carried to its results."""
    entry = ctx.state
    state = entry.copy()
    head = Head([], [], state, {})
    values = list(outs)
    for name, form in plan.names.items():
        made = rebuild(form, values, state, name[1], ctx.builder.loc)
        state.names[name] = made
        for k, location in enumerate(array_leaves(made)):
            if location is not None:
                head.places[name, k] = location
    for location in plan.memory:
        state.memory[location] = values.pop(0)
    for key, form in plan.heap.items():
        content = entry.heap[key]
        if isinstance(form, Type):
            location = content.location if isinstance(content, Ref) else Location(None, ctx.builder.loc)
            state.memory[location] = values.pop(0)
            state.heap[key] = Ref(location)
            head.places[(key, WHOLE), 0] = location
        else:
            items = dict(content)  # type: ignore[arg-type]
            for k, part in form:
                items[k] = made = rebuild(part, values, state, None, ctx.builder.loc)
                head.places |= {((key, k), n): x for n, x in enumerate(array_leaves(made)) if x is not None}
            state.heap[key] = tuple(items.items())
    relate(entry, plan, head)
    ctx.state = state


def visible(ctx: Lowering, entry: State) -> Callable[[Name], bool]:
    """Which names matter after a loop: those bound before it, and those of the functions around it."""
    frames: set[Any] = set()
    frame = ctx.frame
    while frame is not None:
        frames.add(frame)
        if frame.parent is None:
            break
        frame = frame.parent
    return lambda name: name in entry.names or name[0] in frames


def counted(ctx: Lowering, key: Any, guess: Iterable[Name], bounds: tuple[Operand, Operand, Operand], body: Callable[[Value], None],
            loc: Loc, hint: str | None = None) -> Loop:  # fmt: skip
    """Lower a ``for`` over a range; ``body(index)`` lowers one round."""
    loop_ = Loop(1)
    ctx.state.names[loop_.exit] = Num(Const(0))

    def build(head: Head) -> tuple[Block, Operand]:
        block = Block([Value(INT, hint), *head.args])
        round_(ctx, loop_, block, lambda: body(block.args[0]))
        return block, stop_operand(ctx, loop_)

    block, stop, plan, head = loop(ctx, key, guess, build)
    outs = finish(ctx, block, stop, head)
    made = For([*outs], loc, *bounds, inits=head.inits, body=block, until=stop is not FALSE)
    if made.until:
        made.outs.append(Value(INT, "rounds"))
    ctx.builder.append(made)
    after_loop(ctx, plan, outs)
    return loop_


def finish(ctx: Lowering, block: Block, stop: Operand, head: Head) -> list[Value]:
    """Add the loop's stop test to its body, and make its results."""
    if stop is not FALSE:
        block.yields.append(stop)
    return [Value(ctx.builder.freshen(t), a.name) for a, t in zip(head.args, head.types, strict=True)]


def round_(ctx: Lowering, loop_: Loop, block: Block, body: Callable[[], None]) -> None:
    """Lower one round of a loop's body into its block."""
    outer, ctx.frame.loop = ctx.frame.loop, loop_
    ctx.state.names[loop_.stop] = Num(FALSE)
    ctx.state.names[loop_.exit] = ctx.state.names.get(loop_.exit, Num(Const(0)))
    try:
        with ctx.inside(block):
            body()
    finally:
        ctx.frame.loop = outer
    if not ctx.state.dead:
        proceed(ctx)


def stop_operand(ctx: Lowering, loop_: Loop) -> Operand:
    stop = ctx.state.names.get(loop_.stop)
    return stop.operand if isinstance(stop, Num) else FALSE


def conditional(ctx: Lowering, key: Any, guess: Iterable[Name], test: Callable[[], Operand], body: Callable[[], None], loc: Loc) -> Loop:
    """Lower a ``while`` whose test changes nothing."""
    loop_ = Loop(1)
    ctx.state.names[loop_.exit] = Num(Const(0))
    tests: list[Block] = []

    def build(head: Head) -> tuple[Block, Operand]:
        block = Block([Value(a.type, a.name) for a in head.args])
        top = head.state.copy()
        swap_versions(head.state, dict(zip(head.args, block.args, strict=True)))
        before = ctx.state.copy()
        with ctx.inside(block):
            block.yields = [test()]
        if any(ctx.state.memory[k] is not v for k, v in before.memory.items()) or any(
            ctx.state.heap[k] != v for k, v in before.heap.items()
        ):
            raise TestChanges
        tests[:] = [block]
        ctx.state = top
        body_block = Block(list(head.args))
        round_(ctx, loop_, body_block, body)
        return body_block, stop_operand(ctx, loop_)

    block, stop, plan, head = loop(ctx, key, guess, build)
    outs = finish(ctx, block, stop, head)
    made = While([*outs, Value(INT, "rounds")], loc, head.inits, tests[0], block, stop is not FALSE)
    ctx.builder.append(made)
    after_loop(ctx, plan, outs)
    return loop_


def swap_versions(state: State, table: dict[Value, Value]) -> None:
    """Let a state speak of other block arguments."""

    def new(operand: Operand) -> Operand:
        return table.get(operand, operand) if isinstance(operand, Value) else operand

    def binding(old: Binding) -> Binding:
        match old:
            case Num(operand):
                return Num(new(operand))
            case Tup(items, kind):
                return Tup(tuple(map(binding, items)), kind)
        return old

    state.memory = {k: new(v) for k, v in state.memory.items()}
    state.names = {k: binding(v) for k, v in state.names.items()}
    state.heap = {k: v if isinstance(v, Ref) else tuple((n, binding(b)) for n, b in v) for k, v in state.heap.items()}


# ------------------------------------------------------------------ what a piece of source assigns


def assigned(nodes: Iterable[ast.AST], augmented: bool = True) -> set[str]:
    """Names that statements bind, nested functions and comprehensions left out; without ``augmented`` not by ``x += ...``."""
    found: set[str] = set()
    stack: list[ast.AST] = list(nodes)
    while stack:
        node = stack.pop()
        match node:
            case ast.AugAssign(target=ast.Name()) if not augmented:
                stack.append(node.value)
                continue
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
                continue
            case ast.Lambda():
                continue
            case ast.ListComp() | ast.GeneratorExp() | ast.SetComp() | ast.DictComp():
                stack += [n.target for n in ast.walk(node) if isinstance(n, ast.NamedExpr)]
                continue
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                found |= {(a.asname or a.name).split(".")[0] for a in names}
            case ast.ExceptHandler(name=str(name)):
                found.add(name)
        stack += ast.iter_child_nodes(node)
    return found
