"""Joins: the states at the ends of the two sides of a branch become one state."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field, replace
from typing import Any

from symgrad.errors import UnsureAlias
from symgrad.frontend.flow.branch_sides import Side, only_where, passed_on
from symgrad.frontend.flow.exposed import expose_on_both, hand_on, is_exposed, join_exposed, make_for_caller
from symgrad.frontend.flow.filling import operands_of
from symgrad.frontend.flow.joinable import can_be_called, chooses_object, holds_object, is_same_number, sites_of
from symgrad.frontend.flow.joined_choices import JoinedChoices
from symgrad.frontend.flow.joined_rows import own_items, own_rows, row_in_both, rows_left, share_rows
from symgrad.frontend.state.abstract_values import (
    DIFFERENT,
    Skeleton,
    arrays_in,
    constant_of,
    inner_of,
    leaf_names,
    leaves,
    merge,
    objects_of,
    or_missing,
    places_in,
    rebuild,
    resolved_by_paths,
    rows_in,
)
from symgrad.frontend.state.bindings import (
    ABSENT,
    MISSING,
    NO_KEYS,
    Binding,
    Broken,
    Choice,
    HeapKey,
    Location,
    Maybe,
    Num,
    Obj,
    OneOf,
    Ref,
    Tup,
    View,
    is_row,
)
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.path_conditions import in_all
from symgrad.frontend.state.program_state import CODE, NO_LOCATIONS, RAISED, State
from symgrad.frontend.state.reach import memory_held, memory_within, objects_in, parts_of, reached, tuple_and_items
from symgrad.identity import Same
from symgrad.ir.containers import is_number_list
from symgrad.ir.core import FALSE, TRUE, UNDEF, Block, Const, If, Operand
from symgrad.ir.types import BOOL, Object, join
from symgrad.location import Loc


def join_states(ctx: Lowering, entry: State, test: Operand, then: Side, orelse: Side, loc: Loc, where: Operand = TRUE) -> If:
    """Create an ``If`` of two sides and continue in the state that covers both; nothing reads it where ``where`` is false."""
    op = If([], loc, test, then.block, orelse.block)
    with ctx.unwatched():
        joining = Joining(ctx, entry, then, orelse, op)
        ctx.state = joining.joined()
        ctx.builder.append(op)
        after_join(ctx, joining, where)
    return op


def after_join(ctx: Lowering, joining: Joining, where: Operand) -> None:
    """Separate the lists that share memory since a join."""
    if any(side.state.owning > ctx.state.owning for side in (joining.then, joining.orelse) if not side.state.dead):
        ctx.part_rows()
    for location in joining.apart:
        ctx.state.memory[location] = copied_where(ctx, ctx.state.memory[location], where)


def copied_where(ctx: Lowering, held: Operand, test: Operand) -> Operand:
    """A copy of a list where a test is true; undefined elsewhere."""
    block = Block()
    with ctx.inside(block):
        block.yields = [ctx.call("list_slice", held, *[Const(None)] * 3)]
    only_where(ctx, block, test)
    for op in block.ops:
        ctx.builder.append(op)
    return block.yields[0]


#: the hint for a join of two iterators
ONE_ITERATOR = "choose between two lists, and make one iterator of that, as in iter([*p] if c else [*q])"


@dataclass(slots=True)
class Joining(JoinedChoices):
    """One join; ``done`` maps pairs of bindings to their join, so that aliases stay aliases."""

    done: dict[Any, Binding] = field(default_factory=dict)
    chosen: dict[HeapKey, tuple[HeapKey | None, HeapKey | None]] = field(default_factory=dict)  #: new objects: the object on each side
    together: set[tuple[Binding, Binding]] = field(default_factory=set)  #: objects that become one, whose items are being joined
    apart: dict[Location, None] = field(default_factory=dict)  #: lists that get memory of their own, because others may be the same list
    owning: frozenset[Location] = frozenset()  #: joined lists of lists that alone hold their inner lists
    outer: frozenset[Binding] | None = None  #: the bindings of names and objects before the branch, computed on demand

    def joined(self) -> State:
        a, b = self.then.state, self.orelse.state
        state = self.state
        if a.dead and b.dead:
            self.op.outs = []
            dead = self.entry.copy()
            dead.dead = True
            return dead
        alive = [s for s in (a, b) if not s.dead]
        if len(alive) == 1:
            self.passed_on = passed_on((self.then if a.dead else self.orelse).block)
        state.known = in_all([s.known for s in alive])
        expose_on_both(self.ctx, self.entry, [(s.block, s.state) for s in (self.then, self.orelse) if not s.state.dead])
        join_exposed(state, self.entry, a, b, self.out)
        state.operands = self.entry.operands
        state.partners, state.stale = dict(alive[0].partners), dict(alive[0].stale)
        for side in alive[1:]:
            for location, others in side.partners.items():
                if (known := state.partners.get(location, NO_LOCATIONS)) is not others:
                    state.partners[location] = {**known, **others}
            state.stale = {**side.stale, **state.stale}
        state.twins = state.twins.union(*(side.twins for side in alive))
        state.kin, state.bases = dict(self.entry.kin), dict(self.entry.bases)
        lost = {location for location in self.entry.memory if self.blank and any(location not in side.memory for side in alive)}
        for location in (known for known in self.entry.memory if known not in lost):
            state.memory[location] = self.version(location)
        gone = {key for key in self.entry.heap if any(key not in side.heap for side in alive)}
        gone |= rows_left(self.entry.heap.keys() - gone, alive)
        for key in (k for k in self.entry.heap if k not in gone):
            state.heap[key] = self.content(key)
        first, second = (b if a.dead else a).names, (a if b.dead else b).names
        for name in dict.fromkeys([*a.names, *b.names]):
            one, two = first.get(name, MISSING), second.get(name, MISSING)
            if one is two and (len(alive) == 2 or one is self.entry.names.get(name)):
                joint = one
            else:
                outer, self.blank = self.blank, self.blank or name[0] == RAISED
                joint = self.binding(one, two, name[1])
                self.blank = outer
            if joint != MISSING:
                state.names[name] = joint
        if lost and (any(location.outside for location in lost) or not lost.isdisjoint(memory_held(state, ()))):
            raise UnsureAlias("the content of an array depends on the exception that is raised", self.ctx.builder.loc)
        if gone and not gone.isdisjoint(reached(state)):
            raise UnsureAlias("the content of an object depends on the exception that is raised", self.ctx.builder.loc)
        self.relate()
        state.owning = frozenset.intersection(*(side.owning for side in alive)) | self.owning
        outside = (*self.ctx.arrays.values(), *self.ctx.owned.values())
        state.drop_partners(held.location for held in outside if isinstance(held, Ref))
        state.codes = frozenset().union(*(s.codes for s in alive))
        if len(state.codes) == 1:
            state.names[CODE] = Num(Const(next(iter(state.codes))))
        return state

    def content(self, key: HeapKey) -> Any:
        """The content of an object after the join."""
        a, b = self.then.state, self.orelse.state
        one = (b if a.dead else a).heap[key]
        two = (a if b.dead else b).heap[key]
        if one == two and (not (a.dead or b.dead) or one == self.entry.heap[key]):
            return one
        if isinstance(one, Ref) or isinstance(two, Ref) or key.kind == "list" and len(one) != len(two):
            owns = own_items(self.ctx, (self.then, self.orelse), key)
            joined_list = self.whole_list([key, key], [one, two])
            self.owning |= {joined_list.location} if owns else frozenset()
            return joined_list
        return self.items(dict(one), dict(two), key)

    def items(self, first: dict[Any, Binding], second: dict[Any, Binding], key: HeapKey) -> tuple[tuple[Any, Binding], ...]:
        """The content of an object, item by item; an item that one path lacks may be missing."""
        several = [dict.fromkeys([*first, *second]), dict.fromkeys([*second, *first])]
        in_order = [keys for keys in several if all([k for k in keys if k in one] == [*one] for one in (first, second))]
        key.unordered |= key.kind == "dict" and key.cls is not set and not in_order
        return tuple((k, self.item(first.get(k, MISSING), second.get(k, MISSING), str(k))) for k in (in_order or several)[0])

    def item(self, a: Binding, b: Binding, name: str) -> Binding:
        if a != b:
            a, b = resolved_by_paths(a, self.then.state), resolved_by_paths(b, self.orelse.state)
        alone = [x for x in (a, b) if x != MISSING]
        held = inner_of(alone[0]) if len(alone) == 1 else MISSING
        if held == MISSING or isinstance(held, Obj) and isinstance(alone[0], Maybe) and alone[0].absent != MISSING:
            return self.binding(a, b, name)
        if isinstance(held, Obj) and held.key in self.entry.heap:
            tests = [FALSE if x == MISSING else x.present if isinstance(x, Maybe) else TRUE for x in (a, b)]
            return Maybe(self.out(tests[0], tests[1], BOOL, f"has_{name}"), held, MISSING)
        form = merge(self.form(self.then, a), self.form(self.orelse, b), anew=isinstance(held, Obj))
        return self.of_form(a, b, name, or_missing(form))

    def relate(self) -> None:
        """Record for each joined object whether it is one of the other reachable objects, from the facts of each side."""
        live = reached(self.state) | self.ctx.arguments.keys() if self.chosen else set()
        objects = {key: sides for key, sides in self.chosen.items() if key in live}
        ends = (self.then.state, self.orelse.state)  # read again: the join may have put a value into a list
        self.state.twins |= {k for k, sides in objects.items() if any(own in end.twins for own, end in zip(sides, ends, strict=True))}
        for n, (key, sides) in enumerate(objects.items()):
            near: dict[HeapKey, None] = {}
            for own, side in zip(sides, (self.then.state, self.orelse.state), strict=True):
                if own is not None:
                    near |= dict.fromkeys([own, *side.kin.get(own, NO_KEYS)])
            others = {k: (k, k) for k in near if k in self.entry.heap and k in live}
            for other, theirs in [*others.items(), *list(objects.items())[:n]]:
                same = self.same(sides, theirs)
                if same is not FALSE:
                    self.state.relate(key, other, same)
                    contents = [self.state.heap[k] for k in (key, other)]
                    if isinstance(contents[0], Ref) and isinstance(contents[1], Ref):
                        self.apart[contents[0].location] = None

    def same(self, one: tuple[HeapKey | None, HeapKey | None], other: tuple[HeapKey | None, HeapKey | None]) -> Operand:
        """A bool after the join that says whether two objects are the same."""
        alive = [(side.state, a, b) for side, a, b in zip((self.then, self.orelse), one, other, strict=True) if not side.state.dead]
        answers = [state.sameness(a, b) for state, a, b in alive]
        return self.of_both(answers[0], answers[-1])

    def stand(self, joint: Binding, a: Binding, b: Binding, form: Skeleton) -> None:
        """Record which object each new object in a joined binding is on each side."""
        sides = [self.alive(side).heap for side in (self.then, self.orelse)]
        for key, *own in zip(*(objects_of(x, form, h) for x, h in zip((joint, a, b), (self.state.heap, *sides), strict=True)), strict=True):
            if key is not None:
                self.chosen[key] = (own[0], own[1])
                for side, held in zip((self.then, self.orelse), () if is_row(self.state.heap[key]) else own):
                    share_rows(self.ctx, side, side.state.heap.get(held))

    def read(self, side: Side, binding: Binding) -> Operand:
        kept, self.ctx.state = self.ctx.state, side.state
        try:
            with self.ctx.inside(side.block):
                return self.ctx.whole(binding)
        finally:
            self.ctx.state = kept
            self.state.twins |= side.state.twins

    def binding(self, a: Binding, b: Binding, name: str) -> Binding:
        """One binding that covers both sides'."""
        if a == b and (not (self.then.state.dead or self.orelse.state.dead) or self.is_outer(a)):
            return a
        if isinstance(a, Num) and isinstance(b, Num):
            one, two = (constant_of(x.operand, self.alive(side)) for x, side in ((a, self.then), (b, self.orelse)))
            if is_same_number(one, two):
                return Num(one)
        a, b = (resolved_by_paths(x, self.alive(side)) for x, side in ((a, self.then), (b, self.orelse)))
        if (a, b) not in self.done:
            self.done[a, b] = self.new_binding(a, b, name)
        return self.done[a, b]

    def is_outer(self, binding: Binding) -> bool:
        """Whether the binding existed before the branch."""
        if not isinstance(binding, (Num, Ref, Obj, Tup, Maybe, OneOf, Choice)):
            return not can_be_called(binding) or all(map(self.is_outer, parts_of(binding)))
        if isinstance(binding, Ref) and binding.location in self.entry.memory:
            if all(isinstance(operand, Const) for step in binding.path for operand in step.operands):
                return True
        if self.outer is None:
            items = [b for content in self.entry.heap.values() if not isinstance(content, Ref) for _, b in content]
            self.outer = frozenset(x for b in (*self.entry.names.values(), *items) for x in tuple_and_items(b))
        return binding in self.outer

    def new_binding(self, a: Binding, b: Binding, name: str) -> Binding:
        if refused := next((x for x in (a, b) if isinstance(x, Broken) and x.follows), None):
            return refused
        if (sites := sites_of(a)) and (others := sites_of(b)):
            return Broken(DIFFERENT, ONE_ITERATOR, sites | others)
        chosen = any(isinstance(x, Choice) and not can_be_called(x) for x in (a, b)) and MISSING not in (a, b)
        if chosen or can_be_called(a) and can_be_called(b):
            return self.either(a, b)
        if MISSING in (a, b) and any(isinstance(x, Choice) and (chooses_object(x) or can_be_called(x)) for x in (a, b)):
            return self.alone(self.orelse, b) if a == MISSING else self.alone(self.then, a)
        if isinstance(inner_of(a), Obj) or isinstance(inner_of(b), Obj):
            return self.objects_or_none(a, b, name) if any(x == ABSENT or isinstance(x, Maybe) for x in (a, b)) else self.objects(a, b)
        if isinstance(a, Tup) and isinstance(b, Tup) and self.are_joined_item_by_item(a, b):
            return Tup(tuple(self.binding(x, y, name) for x, y in zip(a.items, b.items, strict=True)), a.kind)
        form = merge(self.form(self.then, a), self.form(self.orelse, b))
        return self.of_form(a, b, name, self.in_places(form) if form.form == "oneof" else form)

    def are_joined_item_by_item(self, a: Tup, b: Tup) -> bool:
        """Whether two tuples have the same structure and contain an object."""
        views = isinstance(a, View) or isinstance(b, View)
        return not views and a.kind is b.kind and len(a.items) == len(b.items) and (holds_object(a) or holds_object(b))

    def in_places(self, form: Skeleton) -> Skeleton:
        """The form of one of several constants, with the indices from before the branch."""
        items = [b for content in self.entry.heap.values() if not isinstance(content, Ref) for _, b in content]
        before = [b.values for b in (*self.entry.names.values(), *items) if isinstance(b, OneOf)]
        return next((Skeleton("oneof", same=values) for values in before if set(form.same) <= set(values)), form)

    def of_form(self, a: Binding, b: Binding, name: str, form: Skeleton) -> Binding:
        """One binding of a form that covers both."""
        alive = [side.state.owning for side in (self.then, self.orelse) if not side.state.dead]
        form = rows_in(self.anew(form), frozenset.intersection(*alive))
        operands = [self.operands(side, binding, form) for side, binding in ((self.then, a), (self.orelse, b))]
        named = (len(operands[0]) == 1 or form.form == "maybe") and not name.startswith("%")
        words = leaf_names(form, name) if named else [None] * len(operands[0])
        values = [self.out(p, q, leaf.type, word) for p, q, leaf, word in zip(*operands, leaves(form), words, strict=True)]
        joint = rebuild(form, list(values), self.state, name if not name.startswith("%") else None, self.op.loc)
        heaps = self.state.heap, *(self.alive(side).heap for side in (self.then, self.orelse))
        arrays = zip(*(arrays_in(x, form, heap) for x, heap in zip((a, b), heaps[1:], strict=True)), strict=True)
        for location, *sources in zip(*(places_in(x, form, heap) for x, heap in zip((joint, a, b), heaps, strict=True)), strict=True):
            hand_on(self.ctx, self.state, location, zip(sources, (self.then.state, self.orelse.state), strict=True))
            if self.is_one_of(location, *next(arrays)):
                continue
            for side, source in zip((self.then, self.orelse), sources, strict=True):
                if location is not None and source is not None and not side.state.dead:
                    self.pair(side, location, source)
                    if source in side.state.stale:
                        self.state.stale[location] = side.state.stale[source]
        for key, *objects in zip(*(objects_of(x, form, heap) for x, heap in zip((joint, a, b), heaps, strict=True)), strict=True):
            hand_on(self.ctx, self.state, key, zip(objects, (self.then.state, self.orelse.state), strict=True))
        self.stand(joint, a, b, form)
        return joint

    def anew(self, form: Skeleton) -> Skeleton:
        """A form in which objects that were created on one path, inside others, are rebuilt from their content."""
        if form.form == "same" and isinstance(form.same, Obj) and form.same.key not in self.entry.heap:
            return self.anew(form.anew) if form.anew is not None else Skeleton("broken", same=DIFFERENT)
        return replace(form, items=tuple(map(self.anew, form.items))) if form.items else form

    def operands(self, side: Side, binding: Binding, form: Skeleton) -> list[Operand]:
        if side.state.dead:
            return [UNDEF] * len(leaves(form))
        kept, self.ctx.state = self.ctx.state, side.state
        try:
            with self.ctx.inside(side.block):
                return operands_of(self.ctx, binding, form)
        finally:
            self.ctx.state = kept

    def held_elsewhere(self, a: Binding, b: Binding) -> bool:
        """Whether one of two objects that become one has another reference, which would not observe changes of the new one."""
        for side, own, first in ((self.then.state, a, True), (self.orelse.state, b, False)):
            if side.dead or not isinstance(held := inner_of(own), Obj):
                continue
            others = self.orelse.state if first else self.then.state
            seen: set[HeapKey] = set()
            for name, binding in side.names.items():
                there = resolved_by_paths(others.names.get(name, MISSING), others)
                self.reach(resolved_by_paths(binding, side), there, own, b if first else a, first, seen)
            for binding in side.operands:
                objects_in(binding, side, seen)
            if held.key in seen:
                return True
        return False

    def reach(self, here: Binding, there: Binding, own: Binding, other: Binding, first: bool, seen: set[HeapKey]) -> None:
        """Collect the objects that a binding reaches on one path, except through the joined reference that corresponds to ``own``."""
        if here == own and there == other:
            return
        pair = (here, there) if first else (there, here)
        if pair not in self.together or not isinstance(here, Obj) or not isinstance(there, Obj):
            objects_in(here, self.state_of(first), seen)
            return
        contents = [state.heap.get(x.key, ()) for state, x in ((self.state_of(first), here), (self.state_of(not first), there))]
        if not any(isinstance(content, Ref) for content in contents):
            one, two = (dict(content) for content in contents)  # type: ignore[arg-type]
            seen.add(here.key)
            for name, item in one.items():
                self.reach(item, two.get(name, MISSING), own, other, first, seen)

    def state_of(self, first: bool) -> State:
        return self.then.state if first else self.orelse.state

    def objects_or_none(self, a: Binding, b: Binding, name: str) -> Binding:
        """Join objects that may be None, or are None on one path."""
        one, two = inner_of(a), inner_of(b)
        absent = MISSING if any(isinstance(x, Maybe) and x.absent == MISSING for x in (a, b)) else ABSENT
        if absent == MISSING and any(x == ABSENT or isinstance(x, Maybe) and x.absent == ABSENT for x in (a, b)):
            return Broken("it is None on one path, and not set on another")
        keys = {x.key for x in (one, two) if isinstance(x, Obj)}
        if len(keys) == 1 and keys <= self.entry.heap.keys() and all(isinstance(x, Obj) or x == ABSENT for x in (one, two)):
            first, second = (TRUE if isinstance(x, Obj) else x.present if isinstance(x, Maybe) else FALSE for x in (a, b))
            return Maybe(self.out(first, second, BOOL, f"has_{name}"), Obj(*keys), absent)
        if isinstance(one, Obj) and isinstance(two, Obj):
            inner = self.binding(one, two, name)
            tests = [x.present if isinstance(x, Maybe) else TRUE for x in (a, b)]
            return inner if isinstance(inner, Broken) else Maybe(self.out(tests[0], tests[1], BOOL, f"has_{name}"), inner, absent)
        form = merge(self.form(self.then, a), self.form(self.orelse, b), anew=True)
        return self.of_form(a, b, name, form)

    def objects(self, a: Binding, b: Binding) -> Binding:
        """Join two objects: a new object with joined content."""
        states = [(self.other(side) if side.state.dead else side).state for side in (self.then, self.orelse)]
        held = [x.key if isinstance(x, Obj) else None for x in (a, b)]
        keys = [k for k in held if k is not None]
        alone = len(keys) == 1 and MISSING in (a, b)
        alike = len({(k.kind, Same(k.cls), k.exact) for k in keys}) == 1
        if not (alone or len(keys) == 2 and alike):
            return self.either(a, b)
        contents = [() if k is None else state.heap.get(k) for k, state in zip(held, states, strict=True)]
        if None in contents:
            return Broken("it is bound to a list on one path only")
        lengths = {len(c or ()) for c in contents if not isinstance(c, Ref)}
        whole = any(isinstance(c, Ref) for c in contents) or not alone and keys[0].kind == "list" and len(lengths) > 1
        joined_key = HeapKey(keys[0].kind, keys[0].cls, alone or any(k.doubtful for k in keys), keys[0].exact)
        joined_key.unordered = any(k.unordered for k in keys)
        joined_key.sites = tuple(dict.fromkeys(site for k in keys for site in k.sites))
        if any(k in state.twins for k, state in zip(held, states, strict=True)):
            self.state.twins |= {joined_key}
        self.ctx.compared(*keys)
        self.ctx.stands_for(joined_key, keys)
        self.expose(joined_key, held, a, b)
        self.chosen[joined_key] = (held[0], held[1])
        if (row := row_in_both((self.then, self.orelse), contents, self.out)) is not None:
            self.state.heap[joined_key] = row
            self.done[a, b] = Obj(joined_key)
            return Obj(joined_key)
        owns = whole and own_rows((self.then, self.orelse), contents) and not self.held_elsewhere(a, b)
        for side, content in zip((self.then, self.orelse), contents, strict=True):
            share_rows(self.ctx, side, content)
        self.done[a, b] = Obj(joined_key)
        if whole:
            self.state.heap[joined_key] = joined_list = self.whole_list(held, contents)
            self.owning |= {joined_list.location} if owns else frozenset()
            return Obj(joined_key)
        first, second = dict(contents[0] or ()), dict(contents[1] or ())  # type: ignore[arg-type]
        self.together.add((a, b))
        if alone:
            keys_ = dict.fromkeys([*first, *second])
            self.state.heap[joined_key] = tuple((k, self.binding(first.get(k, MISSING), second.get(k, MISSING), str(k))) for k in keys_)
        else:
            self.state.heap[joined_key] = self.items(first, second, joined_key)
        return Obj(joined_key)

    def expose(self, joined_key: HeapKey, held: list[HeapKey | None], a: Binding, b: Binding) -> None:
        """If the caller may hold one of two joined objects, give the joined one the handle of the object that it is."""
        pairs = [(side.block, self.alive(side), key) for side, key in zip((self.then, self.orelse), held, strict=True)]
        if not any(key is not None and is_exposed(self.ctx, state, key) for _, state, key in pairs):
            return
        is_held = self.held_elsewhere(a, b)
        handles = [None if key is None else self.handle(block, state, key, is_held) for block, state, key in pairs]
        one, other = handles
        self.state.handles[joined_key] = None if one is None or other is None else self.out(one, other, Object(joined_key.kind), None)

    def handle(self, block: Block, state: State, key: HeapKey, is_held: bool) -> Operand | None:
        """The handle of an object at the end of a side, created there if the object has no other reference."""
        assert self.ctx.storing is not None
        if not is_exposed(self.ctx, state, key) and not is_held:
            with self.ctx.inside(block):
                make_for_caller(self.ctx, state, key)
        kept, self.ctx.state = self.ctx.state, state
        try:
            return self.ctx.storing.known_handle(key)
        finally:
            self.ctx.state = kept

    def nothing(self, side: Side) -> Operand:
        """An empty list on a path without one, where nothing reads it."""
        if side.state.dead:
            return UNDEF
        with self.ctx.inside(side.block):
            return self.ctx.call("list_of")

    def whole_list(self, keys: list[Any], contents: list[Any]) -> Ref:
        """Two lists joined as one value, which may alias the arrays in both."""
        sides = (self.then, self.orelse)
        for side, content in zip(sides, contents, strict=True):
            share_rows(self.ctx, side, content)
        present = [k is not None and not side.state.dead for k, side in zip(keys, sides, strict=True)]
        for key, content in zip(keys, contents, strict=True):
            if key is not None:
                self.ctx.check_sure(key, content)
        values = [self.read(side, Obj(k)) if there else self.nothing(side) for side, k, there in zip(sides, keys, present, strict=True)]
        known = [v.type for v, there in zip(values, present, strict=True) if there]
        location = Location(None, self.op.loc)
        self.state.memory[location] = self.out(values[0], values[1], functools.reduce(join, known), None)
        if is_number_list(self.state.memory[location].type):
            return Ref(location)
        for content, side in zip(contents, sides, strict=True):
            for item in [content] if isinstance(content, Ref) else [b for _, b in content]:
                for source in memory_within(item, side.state):
                    if source is not location:
                        self.state.pair(location, source)
        return Ref(location)
