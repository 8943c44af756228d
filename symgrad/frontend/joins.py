"""How the states of the two paths through a branch become one."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any

from symgrad.frontend.bindings import (
    MISSING,
    Binding,
    Bound,
    Broken,
    Choice,
    Fun,
    HeapKey,
    Location,
    Name,
    Num,
    Obj,
    Ref,
    State,
    Static,
)
from symgrad.frontend.context import CODE, Lowering
from symgrad.frontend.reach import objects_in
from symgrad.frontend.skeletons import Skeleton, array_leaves, leaves, merge, operands_of, rebuild
from symgrad.ir.core import UNDEF, Block, Const, If, Operand, Value
from symgrad.ir.types import Type, join
from symgrad.location import Loc


@dataclass(slots=True)
class Side:
    """One path through a branch: its block and the state at its end."""

    block: Block
    state: State


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
            state.twins |= side.twins
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
        made = HeapKey(keys[0].kind, keys[0].cls, alone or any(k.doubtful for k in keys))
        if any(k in state.twins for k, state in zip(held, states, strict=True)):
            self.state.twins |= {made}
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
        for key, content in zip(keys, contents, strict=True):
            self.ctx.check_sure(key, content)
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
