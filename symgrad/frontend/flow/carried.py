"""Loop-carried values: the fixed point of lowering a loop's body until it shows nothing new."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import Any

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.flow.exposed import expose, learn_exposed, mark_exposed
from symgrad.frontend.flow.filling import WHOLE, Head, Plan, blank, operands_of
from symgrad.frontend.flow.joinable import reordered
from symgrad.frontend.flow.kinship import bases_of, chosen_arrays, learn_bases, relate_objects, related_objects
from symgrad.frontend.flow.sequences import owns_items
from symgrad.frontend.state.abstract_values import (
    Skeleton,
    holds_view,
    is_of_row,
    leaf_names,
    leaves,
    merge,
    merged_item,
    objects_of,
    places_in,
    rebuild,
    rows_in,
)
from symgrad.frontend.state.bindings import MISSING, Binding, Broken, HeapKey, Location, Name, Num, Obj, Ref, Static, is_range, is_row
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.program_state import CODE, RAISED, Loop, State
from symgrad.frontend.state.reach import memory_held, memory_in, memory_within, reached_twice
from symgrad.ir.core import FALSE, UNDEF, Block, Operand, Value
from symgrad.ir.types import BOOL, Array, List, Type, Undefined, join
from symgrad.text import is_name

TRIALS = 16


def loop(
    ctx: Lowering, key: Any, guess: Iterable[Name], build: Callable[[Head], tuple[Block, Operand]]
) -> tuple[Block, Operand, Plan, Head]:
    """Find the loop-carried values by lowering the body until nothing new appears.

    ``build(head)`` lowers the body from a head and returns its block and its stop operand; the
    state is then the end of the body.
    """
    entry = ctx.state
    plan = Plan()
    names = visible(ctx, entry)
    remembered = ctx.forms.get(key, {})
    for name in guess:
        plan.names[name] = remembered.get(name[1], ctx.skeleton(entry.names.get(name, MISSING), entry, entry.memory))
    settled = False
    for _ in range(TRIALS):
        ctx.state = entry
        for list_key in plan.shared:
            if isinstance(content := entry.heap[list_key], Ref):
                ctx.share_rows(content.location)
        head = make_head(ctx, entry, plan)
        if head.firsts:
            ctx.compared(*head.firsts.values())
        ctx.state = head.state
        top = head.state.copy()
        asked = ctx.mixed.asked
        block, stop = build(head)
        head.state = top
        if top.heap and reordered(top, ctx.state):
            continue
        if not learn(ctx, entry, plan, head, ctx.state, names):
            gone = [] if settled else unheld(ctx, plan, top)
            settled = True
            if gone:
                for location in gone:  # it was stored to before the loop was known to carry its owner
                    del plan.memory[location]
                continue
            yields = end_operands(ctx, plan, head, ctx.state, block)
            pairs = enumerate(zip(yields, head.args, strict=True))
            mixed = {k: None for k, (end, arg) in pairs if arg not in ctx.mixed.values and ctx.mixed.is_narrower(end, arg.type)}
            if mixed and ctx.mixed.asked > asked:
                plan.mixed |= mixed
                continue
            ctx.mixed.values.update(head.args[k] for k in mixed)
            ctx.forms[key] = {name[1]: form for name, form in plan.names.items() if name[0] is ctx.frame and form.form in ("num", "array")}
            block.yields[:0] = yields
            ctx.state = entry
            return block, stop, plan, head
    raise UnsupportedSyntax("the types of the variables that this loop carries do not converge", ctx.builder.loc)


def make_head(ctx: Lowering, entry: State, plan: Plan) -> Head:
    """Block arguments for the carried values, and the state in which they are bound."""
    state = entry.copy()
    head = Head([], [], state, {})
    owning = {*entry.owning, *(location for key, location in plan.locations.items() if key not in plan.shared)}
    for name, form in plan.names.items():
        before = entry.names.get(name, MISSING)
        form = plan.names[name] = rows_in(merge(ctx.skeleton(before, entry, entry.memory), form, anew=True), owning)
        inits = operands_of(ctx, before, form)
        if name[0] == RAISED:
            inits = [blank(init, leaf.type) for init, leaf in zip(inits, leaves(form), strict=True)]
        head.inits += inits
        hints = [None] * len(leaves(form)) if name[1].startswith("%") else leaf_names(form, name[1])
        args = [head.slot(ctx, leaf.type, hint) for leaf, hint in zip(leaves(form), hints, strict=True)]
        state.names[name] = binding = rebuild(form, list(args), state, name[1], ctx.builder.loc)
        head.enter(name, binding, form)
    for location, type_ in plan.memory.items():
        head.inits.append(entry.memory[location])
        plan.memory[location] = type_ = join(entry.memory[location].type, type_)
        state.memory[location] = head.slot(ctx, type_, location.name)
    for key in plan.heap:
        head_object(ctx, entry, state, key, plan, head)
    replace_objects(ctx, entry, plan, head)
    if plan.heap.keys() & head.gone:
        plan.heap = {key: form for key, form in plan.heap.items() if key not in head.gone}
        return make_head(ctx, entry, plan)
    for pair in plan.kin:
        head.inits.append(entry.sameness(*(head.first(x) for x in pair)))
        relate_objects(head, pair, head.slot(ctx, BOOL, None))
    for place, bases in chosen_arrays(plan, head) if plan.bases else ():
        held = bases_of(entry, next(iter(source_of(entry, plan, *place)), None))
        head.inits += [held.get(base, FALSE) for base in bases]
        state.bases[head.places[place]] = {base: head.slot(ctx, BOOL, None) for base in bases}
    relate(ctx, entry, plan, head)
    ctx.doubtful |= {arg for init, arg in zip(head.inits, head.args, strict=True) if init in ctx.doubtful}
    for place, (init, arg) in enumerate(zip(head.inits, head.args, strict=True)):
        if place in plan.mixed or ctx.mixed.is_narrower(init, arg.type):
            ctx.mixed.values.add(arg)
    return head


def head_object(ctx: Lowering, entry: State, state: State, key: HeapKey, plan: Plan, head: Head) -> None:
    """Carry the content of an object: as a list value, or item by item."""
    content, form = entry.heap[key], plan.heap[key]
    if isinstance(form, Type):
        ctx.check_sure(key, content)
        owns = is_owning(ctx, entry, plan, key, form)
        init = ctx.held(Obj(key))
        state.twins |= entry.twins
        head.inits.append(init)
        location = location_of(ctx, content, plan, key)
        state.owning |= {location} if owns else frozenset()
        state.memory[location] = head.slot(ctx, join(init.type, form), location.name)
        state.heap[key] = Ref(location)
        head.places[(key, WHOLE), 0] = location
        return
    before = dict(content)  # type: ignore[arg-type]
    items = dict(before)
    for k, part in form:
        head.inits += operands_of(ctx, before.get(k, MISSING), part)
        hints = leaf_names(part, k) if is_name(k) else [None] * len(leaves(part))
        args = [head.slot(ctx, leaf.type, hint) for leaf, hint in zip(leaves(part), hints, strict=True)]
        items[k] = binding = rebuild(part, list(args), state, None, ctx.builder.loc)
        head.enter((key, k), binding, part)
    state.heap[key] = tuple(items.items())


def is_owning(ctx: Lowering, entry: State, plan: Plan, key: HeapKey, type_: Type) -> bool:
    """Whether a list that is carried as one value alone holds the lists or arrays in it, if there are any."""
    holds_memory = isinstance(type_, List) and isinstance(type_.item, List | Array | Undefined)
    return holds_memory and key not in plan.shared and owns_items(ctx, entry, key)


def location_of(ctx: Lowering, content: Any, plan: Plan, key: HeapKey) -> Location:
    """The memory of a list that is carried as one value."""
    if isinstance(content, Ref) and not is_row(content):
        return content.location
    return plan.locations.setdefault(key, Location(None, ctx.builder.loc))


def held_before(entry: State, plan: Plan, place: Any) -> tuple[Binding, Skeleton]:
    """The binding of a carried name, or of an item of a carried object, before the loop, and its form."""
    if place in plan.names:
        return entry.names.get(place, MISSING), plan.names[place]
    key, item = place
    content = entry.heap.get(key, ())
    return MISSING if isinstance(content, Ref) else dict(content).get(item, MISSING), dict(plan.heap[key])[item]


def source_of(entry: State, plan: Plan, place: Any, k: int) -> list[Location]:
    """The possible aliases of a carried slot before the loop: for a list, each array in it."""
    if place not in plan.names and place[1] is WHOLE:
        content = entry.heap.get(place[0], ())
        return [x for b in ([content] if isinstance(content, Ref) else [b for _, b in content]) for x in memory_within(b, entry)]
    return [x for x in places_in(*held_before(entry, plan, place), entry.heap)[k : k + 1] if x is not None]


def leave(state: State, key: HeapKey) -> None:
    """Make the content of an object unreadable: another object replaces it."""
    content = state.heap[key]
    if isinstance(content, Ref):
        state.heap[key] = Ref(location := Location(None, content.location.owner))
        state.memory[location] = state.memory[content.location]
        state.stale[location] = content.location.owner
    else:
        state.heap[key] = tuple((k, Broken("it is bound to a different object in each iteration")) for k, _ in content)


def replace_objects(ctx: Lowering, entry: State, plan: Plan, head: Head) -> None:
    """Give objects that differ by iteration new names: the first ones are reached by these alone, or stay as they are."""
    twice = reached_twice(entry) | ctx.arguments.keys() if head.objects else set()
    twins = {x for x in plan.twins if isinstance(x, HeapKey)}
    for (place, n), key in head.objects.items():
        first = objects_of(*held_before(entry, plan, place), entry.heap)[n]
        if (place, n) in plan.twins or first in entry.twins:
            twins.add(key)
        if first is not None:
            head.firsts[key] = first
            if first not in twice:
                leave(head.state, first)
                head.gone.add(first)
            if first in entry.handles:
                expose(head.state, key)
    head.state.twins |= twins
    if plan.exposed:
        mark_exposed(head.state, plan.exposed, head.objects, head.places)


def reachable(ctx: Lowering, state: State, carried: Mapping[Name, Skeleton]) -> set[Location]:
    """Locations that a name, an operand, an object or an array from outside still reaches under its own identity."""
    skip = {name for name, form in carried.items() if not holds_view(form)}  # a view reaches its array
    reached: set[Location] = {array.location for array in ctx.arrays.values() if isinstance(array, Ref)}
    for binding in [*(binding for name, binding in state.names.items() if name not in skip), *state.operands]:
        if isinstance(binding, Ref):
            reached.add(binding.location)
        elif not isinstance(binding, Num | Static) and not is_range(binding):  # there are many
            reached.update(memory_in(binding))
    for content in state.heap.values():
        if isinstance(content, Ref):
            reached.add(content.location)
        else:
            for _, item in content:
                reached.update(memory_in(item))
    return reached


def unheld(ctx: Lowering, plan: Plan, top: State) -> list[Location]:
    """Carried memory without a reference at the top of the body, at any depth: no name, operand, object or outside array."""
    reached = memory_held(top, ctx.arrays.values()) if plan.memory else ()
    return [location for location in plan.memory if location not in reached]


def relate(ctx: Lowering, entry: State, plan: Plan, head: Head) -> None:
    """Record the possible aliases at the top of the body."""
    state = head.state
    seen = reachable(ctx, state, plan.names)
    held: dict[Location, list[Location]] = {}  #: by their locations before the loop
    sources = [(place, location) for place, location in head.places.items() if not plan.bases.get(place)]
    pairs = [(location, source) for (name, k), location in sources for source in source_of(entry, plan, name, k)]
    for location, source in pairs:
        if location is source:
            continue
        for other in (source, *entry.near(source)):
            if other in seen:
                state.share(location, other)
            for twin in held.get(other, ()):
                state.share(location, twin)
        held.setdefault(source, []).append(location)
        if source in entry.stale:
            state.stale[location] = entry.stale[source]
    for a, b in plan.shares:
        if plan.bases.get(a) or not isinstance(b, Location) and plan.bases.get(b):
            continue  # their possible identities are known
        one, two = head.places.get(a), b if isinstance(b, Location) else head.places.get(b)
        if one is not None and two is not None and (two in head.places.values() or two in seen):
            state.share(one, two)
    for mark, stored in plan.stale.items():
        doubtful = mark if isinstance(mark, Location) else head.places.get(mark)
        if doubtful is not None:
            state.stale.setdefault(doubtful, stored)


def learn(ctx: Lowering, entry: State, plan: Plan, head: Head, end: State, names: Callable[[Name], bool]) -> bool:
    """Compare the end of the body with its top; return whether there is something new to carry."""
    news = False
    if end.dead:
        return False
    for name in dict.fromkeys([*end.names, *head.state.names]):
        if name == CODE or name[1] == "stop" and isinstance(name[0], Loop) or not names(name):
            continue
        after = end.names.get(name, MISSING)
        if name in plan.names:
            form = merge(plan.names[name], ctx.skeleton(after, end, entry.memory), anew=True)
            news |= plan.add(plan.names, name, plan.seen_in_list(name, form, ctx.skeleton(after, end, entry.memory), entry))
        elif after is not (before := head.state.names.get(name, MISSING)) and after != before:
            first = ctx.skeleton(entry.names.get(name, MISSING), entry, entry.memory)
            news |= plan.add(plan.names, name, merge(first, ctx.skeleton(after, end, entry.memory), anew=True))
    for location in entry.memory:
        if end.memory[location] is not head.state.memory[location] or location in plan.memory:
            carried_as_list = any(isinstance(c, Ref) and c.location is location and not is_row(c) for c in entry.heap.values())
            if not carried_as_list:
                old = plan.memory.get(location, entry.memory[location].type)
                news |= plan.add(plan.memory, location, join(old, end.memory[location].type))
        if location in end.stale and location not in head.state.stale:
            plan.stale[location] = end.stale[location]
            news = True
    for key in entry.heap:
        if key not in head.gone:
            news |= learn_object(ctx, entry, plan, head, end, key)
    if end.handles or end.stored_arrays or ctx.arguments:
        news |= learn_exposed(ctx, entry, plan.exposed, head, end, ends_of(plan, end))
    return learn_sharing(ctx, entry, plan, head, end) or news


def learn_object(ctx: Lowering, entry: State, plan: Plan, head: Head, end: State, key: HeapKey) -> bool:
    top, bottom = head.state.heap[key], end.heap[key]
    if top == bottom and is_row(top):
        return False
    if isinstance(bottom, Ref) or isinstance(top, Ref):
        changed = (
            not (isinstance(top, Ref) and isinstance(bottom, Ref)) or end.memory[bottom.location] is not head.state.memory[top.location]
        )
        if not changed and key not in plan.heap:
            return False
        kept, ctx.state = ctx.state, end
        scratch = Block()
        with ctx.inside(scratch):
            type_ = ctx.held(Obj(key)).type
        ctx.state = kept
        old = plan.heap.get(key)
        return plan.add(plan.heap, key, join(old, type_) if isinstance(old, Type) else type_)
    if top == bottom and key not in plan.heap:
        return False
    first, last = dict(top), dict(bottom)
    if key.kind == "list" and len(first) != len(last):
        kept, ctx.state = ctx.state, end
        with ctx.inside(Block()):
            type_ = ctx.whole(Obj(key)).type
        ctx.state = kept
        return plan.add(plan.heap, key, type_)
    old = dict(plan.heap.get(key, ())) if not isinstance(plan.heap.get(key), Type) else {}
    for k in dict.fromkeys([*first, *last]):
        if k in old or first.get(k) != last.get(k):  # an item that stays the same object keeps its memory
            form = merged_item(*(ctx.skeleton(x.get(k, MISSING), state, entry.memory) for x, state in ((first, head.state), (last, end))))
            old[k] = merge(old[k], form, anew=True) if k in old else form
    return plan.add(plan.heap, key, tuple(old.items()))


def ends_of(plan: Plan, end: State) -> Iterator[tuple[Any, Binding, Skeleton]]:
    """Each carried slot, its binding at the end of an iteration, and its form."""
    for name, form in plan.names.items():
        yield name, end.names.get(name, MISSING), form
    for key, parts in plan.heap.items():
        content = end.heap[key]
        if isinstance(parts, Type):
            if isinstance(content, Ref):
                yield (key, WHOLE), content, Skeleton("array", parts)
        else:
            held = dict(content)  # type: ignore[arg-type]
            yield from (((key, k), held.get(k, MISSING), form) for k, form in parts)


def learn_sharing(ctx: Lowering, entry: State, plan: Plan, head: Head, end: State) -> bool:
    """Find which carried arrays may alias each other, or others, in the next iteration."""
    news = False
    if ctx.tagged:
        wholes = [
            (name, places_in(*held_before(entry, plan, name), entry.heap, True), places_in(held, form, end.heap, True))
            for name, held, form in ends_of(plan, end)
            if name in plan.names
        ]
        carried = [((name, n), *both) for name, *sides in wholes for n, both in enumerate(zip(*sides, strict=True))]
        unbound = {name for name in plan.names if entry.names.get(name, MISSING) == MISSING}
        news = learn_bases(entry, plan, head, end, reachable(ctx, head.state, plan.names), carried, unbound)
    ends: dict[Any, Location] = {}
    objects: dict[Any, HeapKey] = {}
    for place, held, form in ends_of(plan, end):
        ends |= {(place, n): x for n, x in enumerate(places_in(held, form, end.heap)) if x is not None}
        objects |= {(place, n): x for n, x in enumerate(objects_of(held, form, end.heap)) if x is not None}
    doubtful = {place: key for place, key in objects.items() if key in end.twins}
    marks = [*doubtful, *(key for key in doubtful.values() if key in entry.heap), *(key for key in entry.heap if key in end.twins)]
    for mark in marks:
        news = news or mark not in plan.twins
        plan.twins[mark] = None
    for pair in related_objects(ctx, entry, head, objects, end) if objects or head.objects else ():
        news = news or pair not in plan.kin
        plan.kin[pair] = None
    for list_key in shared_in_round(entry, head, objects, end, [name for name in plan.rows if is_of_row(plan.names[name])]):
        news = news or list_key not in plan.shared
        plan.shared[list_key] = None
    items = list(ends.items())
    for n, (a, one) in enumerate(items):
        if one in end.stale and a not in plan.stale and a in head.places and head.places[a] not in head.state.stale:
            plan.stale[a] = end.stale[one]
            news = True
        others = end.near(one)
        for b, two in items[:n]:
            if (one is two or two in others) and (a, b) not in plan.shares:
                plan.shares[a, b] = None
                news = True
        for other in (one, *others):
            if other in entry.memory and (a, other) not in plan.shares:
                plan.shares[a, other] = None
                news = True
    return news


def shared_in_round(entry: State, head: Head, objects: Mapping[Any, HeapKey], end: State, seen: Container[Any]) -> Iterator[HeapKey]:
    """The lists of lists that lose sole ownership of their inner lists in an iteration, or are, with these, new objects in each one."""
    kept = {key for key in head.objects.values() if is_row(head.state.heap.get(key))}  # they are seen in the same list of lists
    firsts = [first for key, first in head.firsts.items() if key not in kept]
    ends = [
        end.heap.get(k)
        for place, k in objects.items()
        if place in head.objects and head.objects[place] not in kept and place[0] not in seen
    ]
    renamed = [*(entry.heap.get(key) for key in firsts), *ends]
    locations = {content.location for content in renamed if isinstance(content, Ref)}
    for key in entry.heap:
        content = head.state.heap.get(key)
        if isinstance(content, Ref) and not is_row(content) and content.location in head.state.owning:
            if content.location in locations or content.location not in end.owning:
                yield key


def end_operands(ctx: Lowering, plan: Plan, head: Head, end: State, block: Block) -> list[Operand]:
    """The operands that the body passes to the next iteration, in the order of the head."""
    operands: list[Operand] = []
    kept, ctx.state = ctx.state, end
    with ctx.inside(block):
        for name, form in plan.names.items():
            if end.dead:
                operands += [UNDEF] * len(leaves(form))
            else:
                operands += operands_of(ctx, end.names.get(name, MISSING), form)
        operands += [end.memory[location] for location in plan.memory]
        for key, form in plan.heap.items():
            if isinstance(form, Type):
                operands.append(ctx.held(Obj(key)))
            else:
                content = dict(end.heap[key])  # type: ignore[arg-type]
                for k, part in form:
                    operands += operands_of(ctx, content.get(k, MISSING), part)
        objects = {(place, n): x for place, held, form in ends_of(plan, end) for n, x in enumerate(objects_of(held, form, end.heap))}
        for pair in plan.kin:
            operands.append(UNDEF if end.dead else end.sameness(*(x if isinstance(x, HeapKey) else objects.get(x) for x in pair)))
        ends = {(place, n): x for place, held, form in ends_of(plan, end) for n, x in enumerate(places_in(held, form, end.heap, True))}
        for place, bases in chosen_arrays(plan, head) if plan.bases else ():
            held_now = bases_of(end, ends.get(place))
            operands += [UNDEF if end.dead else held_now.get(base, FALSE) for base in bases]
    ctx.state = kept
    return operands


def after_loop(ctx: Lowering, plan: Plan, outs: list[Value]) -> None:
    """Bind the carried names and objects to the results of the loop."""
    entry = ctx.state
    state = entry.copy()
    head = Head([], [], state, {})
    values = list(outs)
    for name, form in plan.names.items():
        state.names[name] = binding = rebuild(form, values, state, name[1], ctx.builder.loc)
        head.enter(name, binding, form)
    for location in plan.memory:
        state.memory[location] = values.pop(0)
    for key, form in plan.heap.items():
        content = entry.heap[key]
        if isinstance(form, Type):
            location = location_of(ctx, content, plan, key)
            state.owning |= {location} if is_owning(ctx, entry, plan, key, form) else frozenset()
            state.memory[location] = values.pop(0)
            state.heap[key] = Ref(location)
            head.places[(key, WHOLE), 0] = location
        else:
            items = dict(content)  # type: ignore[arg-type]
            for k, part in form:
                items[k] = binding = rebuild(part, values, state, None, ctx.builder.loc)
                head.enter((key, k), binding, part)
            state.heap[key] = tuple(items.items())
    replace_objects(ctx, entry, plan, head)
    for pair in plan.kin:
        relate_objects(head, pair, values.pop(0))
    for place, bases in chosen_arrays(plan, head) if plan.bases else ():
        state.bases[head.places[place]] = {base: values.pop(0) for base in bases}
    relate(ctx, entry, plan, head)
    ctx.state = state


def visible(ctx: Lowering, entry: State) -> Callable[[Name], bool]:
    """Predicate on the names that matter after a loop: bound before it, of enclosing functions, or outside."""
    frames: set[Any] = set()
    todo = [ctx.frame]
    while todo:
        frame = todo.pop()
        if frame not in frames:
            frames.add(frame)
            todo += [f for f in (frame.parent, frame.consumer) if f is not None]
    return lambda name: name in entry.names or name[0] in frames or name[0] == RAISED or name in ctx.assigned_outside
