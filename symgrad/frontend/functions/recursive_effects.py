"""State that a recursive function changes: each call passes arrays and variables as arguments and returns their new contents."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from symgrad.errors import UnsupportedSyntax, UnsureAlias
from symgrad.frontend.flow.filling import operands_of
from symgrad.frontend.objects.columns import columns
from symgrad.frontend.state.abstract_values import (
    NOTHING,
    Skeleton,
    leaf_names,
    leaves,
    merge,
    places_in,
    rebuild,
    sure_arrays,
    with_arrays,
)
from symgrad.frontend.state.bindings import MISSING, Binding, HeapKey, Location, Name, Obj, Ref, Step, memory_of
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.program_state import State
from symgrad.frontend.state.reach import memory_in
from symgrad.ir.core import Apply, Block, Call, Const, Func, Operand, Value, applied, walk
from symgrad.ir.types import UNDEFINED, Array, Dim, List, Scalar, Type, join
from symgrad.ir.verify import MAY_RETURN_OPERAND, READS_SHAPE
from symgrad.ops.analysis.aliases import sources_of
from symgrad.ops.declare import ROWS
from symgrad.text import identifier

INSTEAD = "return the value instead"
APART = "make a copy of one of the two before the call"
#: rows that are no views, but whose result may alias an operand
MAY_SHARE = frozenset({"list_take", "opaque", "opaque_pure"}) | MAY_RETURN_OPERAND
#: the part of an array that a result is: the index of the argument, and the view steps to it
Part = tuple[int, tuple[tuple[str, tuple[Any, ...]], ...]]


@dataclass(eq=False, slots=True)
class Recursive:
    """A recursive function, for certain types of its arguments.

    The facts about it only grow while its body is lowered, until a whole attempt adds none. Its
    parameters are the arguments' values, one for each leaf of their forms, then the arrays and
    variables around it that it changes. Its results are those of the function, without parts of
    arguments, then the final contents of the changed arguments, arrays and variables.
    """

    func: Func
    entry: State  #: from which its body is lowered
    form: Skeleton = NOTHING  #: of its result
    known: bool = False  #: whether ``form`` is known
    done: bool = False
    news: bool = False  #: whether this attempt has added a fact
    parts: dict[int, Part] | None = None  #: the leaves of the result that are an argument or a view of one
    #: leaves of the result that may alias an argument, or an array around the function
    kept: dict[tuple[int, int | Location], None] = field(default_factory=dict)
    twins: dict[tuple[int, int], None] = field(default_factory=dict)  #: and each other
    written: dict[int, None] = field(default_factory=dict)  #: the arguments, leaf by leaf, that it may write to
    around: dict[Location, None] = field(default_factory=dict)  #: the arrays around it that it may write to
    names: dict[Name, Skeleton] = field(default_factory=dict)  #: the variables around it that it may assign to
    #: the numbers that it changes in objects around it, by the object and the item or attribute
    items: dict[tuple[HeapKey, Any], Skeleton] = field(default_factory=dict)
    lists: dict[Location, Type] = field(default_factory=dict)  #: the types of those around it that are lists
    grown: dict[HeapKey, None] = field(default_factory=dict)  #: the lists around it of known items that it makes longer or shorter
    reads: dict[int | Location, None] = field(default_factory=dict)  #: the arguments and arrays around it whose elements it reads

    def learn(self, known: dict[Any, None], items: Iterable[Any]) -> None:
        """Add facts."""
        for item in items:
            if item not in known:
                known[item] = None
                self.news = True

    def learn_result(self, form: Skeleton, parts: dict[int, Part]) -> None:
        """Add the form of the result, and the leaves that are parts of arguments."""
        merged = merge(self.form, form) if self.known else form
        if self.parts is None:
            self.parts = parts
        elif len(leaves(merged)) != len(leaves(self.form)):
            parts = {}
        common = {place: part for place, part in self.parts.items() if parts.get(place) == part}
        if not self.known or merged != self.form or common != self.parts:
            self.form, self.known, self.parts, self.news = merged, True, common, True

    def returned(self) -> list[int]:
        """The leaves of the result that the function of the program returns."""
        return [place for place in range(len(leaves(self.form))) if place not in (self.parts or {})]


# ------------------------------------------------------------------ the body


def begin(ctx: Lowering, record: Recursive, arguments: Sequence[tuple[Value, Location | None]]) -> list[Value]:
    """Bind the parameters at the top of the body; return those other than the arguments.

    An array that is written to is copied, so that the function does not change its arguments.
    """
    for place in record.written:
        value, location = arguments[place]
        assert location is not None
        ctx.state.memory[location] = ctx.call("copy", value, hint=value.name)
    params: list[Value] = []
    for location in record.around:
        own = record.lists.get(location, record.entry.memory[location].type)
        type_ = widened(own)
        if isinstance(own, Array) and isinstance(type_, Array) and own.layout in ("C", "CF"):
            type_ = replace(type_, layout=own.layout)
        params.append(value := Value(ctx.builder.freshen(type_), location.name))
        ctx.state.memory[location] = ctx.call("copy", value, hint=location.name)
    for name, form in record.names.items():
        words = leaf_names(form, name[1])
        values = [Value(ctx.builder.freshen(leaf.type), word) for leaf, word in zip(leaves(form), words, strict=True)]
        params += values
        ctx.state.names[name] = rebuild(form, list(values), ctx.state, name[1], ctx.builder.loc)
    for item, form in record.items.items():
        values = item_values(ctx, item, form)
        params += values
        put_item(ctx, item, rebuild(form, list(values), ctx.state, None, ctx.builder.loc))
    return params


def item_values(ctx: Lowering, place: tuple[HeapKey, Any], form: Skeleton) -> list[Value]:
    """New values for a number, or a tuple of numbers, in an object."""
    words = leaf_names(form, identifier(str(place[1]) or "item"))
    return [Value(ctx.builder.freshen(leaf.type), word) for leaf, word in zip(leaves(form), words, strict=True)]


def put_item(ctx: Lowering, place: tuple[HeapKey, Any], binding: Binding) -> None:
    """Replace the item of an object under a key, an attribute or an index."""
    key, name = place
    ctx.state.heap[key] = tuple({**dict(ctx.state.entries(key)), name: binding}.items())


def changed_at_end(ctx: Lowering, record: Recursive, top: State, arguments: Sequence[tuple[Value, Location | None]], node: ast.AST) -> None:
    """Record the changes that the body has made at its end."""
    state = ctx.state
    for place, (_, location) in enumerate(arguments):
        if location is not None and state.memory[location] is not top.memory[location]:
            check_is_array(ctx, record, state.memory[location].type, node)
            record.learn(record.written, [place])
    learn_changes(ctx, record, top, node)


def learn_changes(ctx: Lowering, record: Recursive, before: State, node: ast.AST) -> None:
    """Record the arrays and variables around a function that differ from before."""
    state = ctx.state
    for location in record.entry.memory:
        if location not in state.memory or state.memory[location] is before.memory[location]:
            continue
        if isinstance(before.memory[location].type, List):
            learn_list(ctx, record, location, before.memory[location].type, node)
        elif location not in record.around:
            check_is_array(ctx, record, before.memory[location].type, node)
            record.learn(record.around, [location])
    for name in dict.fromkeys([*record.entry.names, *ctx.assigned_outside]):
        old, new = before.names.get(name, MISSING), state.names.get(name, MISSING)
        if old == new or name[0] is None or name[1] == "stop":
            continue
        form = merge(record.names.get(name) or ctx.skeleton(record.entry.names.get(name, MISSING), record.entry), ctx.skeleton(new, state))
        if form.form not in ("num", "tuple", "maybe") or any(leaf.form != "num" for leaf in leaves(form)):
            what = f"{record.func.name} calls itself and assigns a value that is not a number to an enclosing variable"
            raise UnsupportedSyntax(what, ctx.loc(node), INSTEAD)
        if record.names.get(name) != form:
            record.names[name], record.news = form, True
    for key in record.entry.heap:
        if state.heap.get(key) != before.heap.get(key):
            learn_object(ctx, record, key, before, node)


def learn_list(ctx: Lowering, record: Recursive, location: Location, before: Type, node: ast.AST) -> None:
    """Record that a function changes items of a list of numbers around it, and their type."""
    now = ctx.state.memory[location].type
    known = join(record.lists.get(location, before), now)
    holders = [key for key, content in record.entry.heap.items() if memory_of(content) is location]
    seen = location.outside or any(key in ctx.arguments or key in record.entry.handles for key in holders)
    if seen or not isinstance(known, List) or not all(isinstance(part, List) and isinstance(part.item, Scalar) for part in columns(known)):
        what = f"{record.func.name} calls itself and changes a list that the caller sees, or that holds other things than numbers"
        raise UnsupportedSyntax(what, ctx.loc(node), "use an array, or return the items")
    record.learn(record.around, [location])
    if record.lists.get(location) != known:
        record.lists[location], record.news = known, True


def learn_object(ctx: Lowering, record: Recursive, key: HeapKey, before: State, node: ast.AST) -> None:
    """Record the changes of a function to a list of known items, a dict or an instance around it."""
    old, new = before.heap.get(key), ctx.state.heap.get(key)
    seen = key in ctx.arguments or key in record.entry.handles or key in record.entry.kin or key in record.entry.twins
    if not seen and isinstance(old, tuple) and key.kind == "list" and (not isinstance(new, tuple) or len(old) != len(new)):
        record.learn(record.grown, [key])
        return
    if seen or not isinstance(old, tuple) or not isinstance(new, tuple) or [k for k, _ in old] != [k for k, _ in new]:
        what = f"{record.func.name} calls itself and changes a list, dict or instance of the enclosing function"
        raise UnsupportedSyntax(what, ctx.loc(node), INSTEAD)
    entry = dict(record.entry.entries(key))
    for (name, held), (_, now) in zip(old, new, strict=True):
        if held == now:
            continue
        form = merge(record.items.get((key, name)) or ctx.skeleton(entry[name], record.entry), ctx.skeleton(now, ctx.state))
        if form.form not in ("num", "tuple", "maybe") or any(leaf.form != "num" for leaf in leaves(form)):
            what = f"{record.func.name} calls itself and puts into a list, dict or instance around it what is not a number"
            raise UnsupportedSyntax(what, ctx.loc(node), INSTEAD)
        if record.items.get((key, name)) != form:
            record.items[key, name], record.news = form, True


def of_any_length_from_now(ctx: Lowering, record: Recursive, node: ast.AST) -> None:
    """Let the lists of known items that a function makes longer or shorter be lists of any length before it is called."""
    grown = [key for key in record.grown if isinstance(ctx.state.heap.get(key), tuple)]
    for key in grown:
        value = ctx.read(Obj(key), node)
        if not isinstance(value.type, List) or not (isinstance(value.type.item, Scalar) or value.type.item == UNDEFINED):
            what = f"{record.func.name} calls itself and changes a list that holds other things than numbers"
            raise UnsupportedSyntax(what, ctx.loc(node), INSTEAD)
        ctx.state.heap[key] = ctx.make(value)  # type: ignore[assignment]
    if grown:
        record.entry = ctx.state.copy()


def check_is_array(ctx: Lowering, record: Recursive, type_: Type, node: ast.AST) -> None:
    """Refuse a changed list: only arrays are returned."""
    if not isinstance(type_, Array):
        what = f"{record.func.name} calls itself and changes a list, or a value of unknown type"
        raise UnsupportedSyntax(what, ctx.loc(node), "use an array, or return the items")


def final_values(ctx: Lowering, record: Recursive, arguments: Sequence[tuple[Value, Location | None]]) -> list[Operand]:
    """The final contents of the changed arguments, arrays and variables."""
    locations = [*(arguments[place][1] for place in record.written), *record.around]
    values = [ctx.read(Ref(location)) for location in locations if location is not None]
    for name, form in record.names.items():
        values += operands_of(ctx, ctx.state.names.get(name, MISSING), form)
    return values + item_operands(ctx, record)


def item_operands(ctx: Lowering, record: Recursive) -> list[Operand]:
    """The present numbers, in the objects around a function, that it changes."""
    return [o for (key, name), form in record.items.items() for o in operands_of(ctx, dict(ctx.state.entries(key))[name], form)]


def learn_reads(ctx: Lowering, record: Recursive, block: Block, arguments: Sequence[tuple[Value, Location | None]], node: ast.AST) -> None:
    """Record the arguments and outer arrays that a function reads; refuse those that were used and are doubtful at its end."""
    read = read_values(block)
    record.learn(record.reads, (place for place, (value, _) in enumerate(arguments) if value in read))
    record.learn(record.reads, (location for location, value in record.entry.memory.items() if value in read))
    used: list[Location | None] = [location for place, (_, location) in enumerate(arguments) if {place} & {*record.reads, *record.written}]
    used += [location for location in record.entry.memory if location in record.reads or location in record.around]
    for location in used:
        if location in ctx.state.stale and location not in record.entry.stale:
            stored = ctx.state.stale[location]
            ctx.unsure = True
            name = location.name if location is not None and location.name else "an array"
            what = f"{record.func.name} calls itself, and {name} may share memory with the array that it writes to at line {stored.line}"
            raise UnsureAlias(what, ctx.loc(node), "write to a copy", notes=[(stored, "the store")])


def read_values(block: Block) -> set[Operand]:
    """The values whose elements the ops of a block read, including the functions that it calls."""
    read: set[Operand] = set()
    for body in (block, *(func.body for func in applied(block))):
        read.update(body.yields)
        for op in walk(body):
            read.update(() if isinstance(op, Call) and op.name in READS_SHAPE else op.operands)
            for inner in op.blocks:
                read.update(inner.yields)
    return read


def parts_of_arguments(binding: Binding, form: Skeleton, arguments: Sequence[tuple[Value, Location | None]]) -> dict[int, Part]:
    """The leaves of a result that are an array argument, or a view of it that is the same at each call."""
    places = {location: place for place, (_, location) in enumerate(arguments) if location is not None}
    parts: dict[int, Part] = {}
    for leaf, held in enumerate(sure_arrays(binding, form)):
        if held is not None and held.location in places and all(isinstance(o, Const) for step in held.path for o in step.operands):
            steps = tuple((step.spec, tuple(o.value for o in step.operands if isinstance(o, Const))) for step in held.path)
            if not any(step.read_only for step in held.path):
                parts[leaf] = places[held.location], steps
    return parts


def learn_sharing(ctx: Lowering, record: Recursive, binding: Binding, form: Skeleton, arrays: Sequence[Location | None]) -> None:
    """Record the leaves of the result that may alias arguments, outer arrays, or each other."""
    state = ctx.state
    places = places_in(binding, form, state.heap)
    near = [{} if place is None else dict.fromkeys([place, *state.near(place)]) for place in places]
    for leaf, locations in enumerate(near):
        record.learn(record.kept, ((leaf, location) for location in locations if location in record.entry.memory))
        record.learn(record.kept, ((leaf, place) for place, location in enumerate(arrays) if location in locations))
    for one, other in itertools.combinations(range(len(places)), 2):
        if places[other] in near[one] and places[other] is not None:
            record.learn(record.twins, [(one, other)])


# ------------------------------------------------------------------ a call


def is_as_before(ctx: Lowering, record: Recursive) -> bool:
    """Whether everything that a function reads around it is unchanged since its body was lowered."""
    state, entry = ctx.state, record.entry
    for location in record.reads:
        if isinstance(location, Location) and location not in record.around:
            if state.memory.get(location) is not entry.memory[location] or (location in state.stale) != (location in entry.stale):
                return False
    return all(state.heap.get(key) == entry.heap.get(key) for key in ctx.arguments)


def check_apart(ctx: Lowering, record: Recursive, arrays: Sequence[Ref | None], node: ast.AST) -> None:
    """Refuse a call where an array that is written to may alias another one that the function uses, or may have been changed."""
    used: dict[int | Location, Ref] = {}
    for key in dict.fromkeys([*record.written, *record.around, *record.reads]):
        ref = Ref(key) if isinstance(key, Location) else arrays[key]
        if ref is not None:
            used[key] = ref
            if isinstance(key, Location):
                ctx.check_fresh(ref)
    changed: list[int | Location] = [*record.written, *record.around]
    for key in changed:
        for other, ref in used.items():
            if other != key and may_overlap(ctx, used[key], ref):
                one, two = (r.location.name or "an array" for r in (used[key], ref))
                same = "" if one == two else f"{one} and {two}: "
                what = f"{same}{record.func.name} calls itself, writes to an array, and uses another one that may share memory with it"
                raise UnsureAlias(what, ctx.loc(node), APART)


def may_overlap(ctx: Lowering, one: Ref, other: Ref) -> bool:
    """Whether two views may overlap."""
    if one.location is not other.location:
        return other.location in ctx.state.near(one.location)
    for first, second in zip(one.path, other.path, strict=False):
        if (first.spec, first.operands) != (second.spec, second.operands):
            return not are_apart(first, second)
    return True


def are_apart(one: Step, other: Step) -> bool:
    """Whether two subscripts of one array are certainly disjoint: different rows, or slices before and after one bound."""
    if not one.spec or not other.spec or one.spec[0] != other.spec[0]:
        return False
    if one.spec[0] == "i":
        first, second = one.operands[0], other.operands[0]
        known = isinstance(first, Const) and isinstance(second, Const) and isinstance(first.value, int) and isinstance(second.value, int)
        return known and first.value != second.value and (first.value < 0) == (second.value < 0)  # type: ignore[union-attr]
    if one.spec[0] != "s":
        return False
    steps = [step.operands[2] for step in (one, other)]
    if not all(isinstance(step, Const) and step.value in (None, 1) for step in steps):
        return False
    return any(is_one_place(a.operands[1], b.operands[0]) for a, b in ((one, other), (other, one)))


def is_one_place(one: Operand, other: Operand) -> bool:
    """Whether two slice bounds are the same."""
    if isinstance(one, Const) and isinstance(other, Const):
        return isinstance(one.value, int) and one.value == other.value
    return one is other and isinstance(one, Value)


def handed_over(ctx: Lowering, record: Recursive) -> list[Operand]:
    """The operands of a call other than its arguments: the arrays and variables around the function that it changes."""
    operands: list[Operand] = [ctx.read(Ref(location)) for location in record.around]
    for name, form in record.names.items():
        operands += operands_of(ctx, ctx.state.names.get(name, MISSING), form)
    return operands + item_operands(ctx, record)


def outs_for(ctx: Lowering, record: Recursive, arrays: Sequence[Ref | None]) -> list[Value]:
    """The results of a call other than the function's own."""
    refs = [*(arrays[place] for place in record.written), *map(Ref, record.around)]
    types = [record.lists.get(ref.location, ctx.type_of(ref)) if ref is not None else None for ref in refs]
    outs = [Value(as_copied(type_), ref.location.name) for ref, type_ in zip(refs, types, strict=True) if ref is not None and type_]
    for name, form in record.names.items():
        words = leaf_names(form, name[1])
        outs += [Value(ctx.builder.freshen(leaf.type), word) for leaf, word in zip(leaves(form), words, strict=True)]
    for place, form in record.items.items():
        outs += item_values(ctx, place, form)
    return outs


def hand_back(ctx: Lowering, record: Recursive, arrays: Sequence[Ref | None], outs: list[Value]) -> None:
    """Bind the changed arrays and variables to their final contents; ``outs`` are consumed."""
    for place in record.written:
        ref = arrays[place]
        assert ref is not None
        check_not_seen(ctx, ref)
        ctx.check_fresh(ref)
        if ref.path or ref.location.read_only or ref.location in ctx.state.bases or not is_own(ctx, ref.location):
            ctx.store(ref, outs.pop(0))
        else:
            ctx.replace_version(ref.location, outs.pop(0))
    for location in record.around:  # the function itself performs the stores that the caller sees
        if location in ctx.state.bases:
            raise UnsureAlias("an array that is one of several, by the path taken, is changed in an unsupported way", ctx.builder.loc)
        value: Operand = outs.pop(0)
        if location not in record.lists and not is_own(ctx, location):
            value = ctx.call("set_at", ctx.state.memory[location], value, index="e", hint=location.name)
        ctx.state.memory[location] = value
        ctx.renew(location)
        ctx.state.stored(location, ctx.builder.loc)
    for name, form in record.names.items():
        ctx.state.names[name] = rebuild(form, outs, ctx.state, name[1], ctx.builder.loc)
    for item, form in record.items.items():
        put_item(ctx, item, rebuild(form, outs, ctx.state, None, ctx.builder.loc))


def is_own(ctx: Lowering, location: Location) -> bool:
    """Whether an array is certainly no argument of the program, whose stores must be visible. In bodies of functions it is not one."""
    return bool(ctx.bodies) or is_fresh(ctx, location)


def is_fresh(ctx: Lowering, location: Location) -> bool:
    """Whether an op of the current block has created the array, in memory without aliases."""
    version = ctx.state.memory[location]
    makers = {out: op for op in ctx.builder.block.ops for out in op.outs}
    while isinstance(op := makers.get(version) if isinstance(version, Value) else None, Call) and op.name == "set_at":
        version = op.args[0]
    if isinstance(op, Call):
        row = ROWS[op.name]
        return row.alias == "fresh" and not row.consumes and op.name not in MAY_SHARE
    return isinstance(op, Apply) and isinstance(version, Value) and not sources_of(op)[op.outs.index(version)]


def check_not_seen(ctx: Lowering, ref: Ref) -> None:
    """Refuse an outside array as an argument: the caller would see its stores only after the function returns."""
    outside = {location for held in (*ctx.arrays.values(), *ctx.owned.values()) for location in memory_in(held)}
    if ref.location in outside or ref.location in ctx.state.stored_arrays:
        what = "a function that calls itself writes to an argument that the caller sees, an array from outside"
        raise UnsupportedSyntax(what, ctx.builder.loc, "pass it a copy, or let it name that array itself")


def result_of(ctx: Lowering, record: Recursive, arrays: Sequence[Ref | None], outs: list[Value]) -> Binding:
    """The result of a call, built from its values; ``outs`` are consumed."""
    values, parts = list(outs), record.parts or {}
    kinds = leaves(record.form)
    fillers = [Value(kind.type) for kind in kinds]
    for leaf in record.returned():
        fillers[leaf] = values.pop(0)
    result = rebuild(record.form, list(fillers), ctx.state, None, ctx.builder.loc)
    places = places_in(result, record.form, ctx.state.heap)
    for leaf, other in record.kept:
        place, shared = places[leaf], Ref(other) if isinstance(other, Location) else arrays[other]
        if place is not None and leaf not in parts and shared is not None and shared.location in ctx.state.memory:
            ctx.state.pair(place, shared.location)
    for one, two in record.twins:
        first, second = places[one], places[two]
        if first is not None and second is not None and one not in parts and two not in parts:
            ctx.state.pair(first, second)
    refs = {}
    for leaf, (argument, steps) in parts.items():
        ref, place = arrays[argument], places[leaf]
        assert ref is not None
        assert place is not None
        path = tuple(Step(spec, tuple(map(Const, operands))) for spec, operands in steps)
        refs[place] = Ref(ref.location, (*ref.path, *path))
        del ctx.state.memory[place]
    return with_arrays(result, refs)


def as_copied(type_: Type) -> Type:
    """The type of a copy of an array that the function has made: row-major."""
    if isinstance(type_, Array) and type_.layout not in ("C", "CF"):
        return replace(type_, layout="?")
    return type_


def widened(type_: Type) -> Type:
    """A type without the facts that vary by call: extents, and memory layout."""
    if isinstance(type_, Array) and type_.shape is not None:
        return Array(type_.dtype, tuple(Dim("?") for _ in type_.shape))
    return List(widened(type_.item), type_.of) if isinstance(type_, List) else type_


__all__ = ["Recursive", "begin", "changed_at_end", "check_apart", "final_values", "hand_back", "handed_over", "is_as_before"]
__all__ += ["learn_changes", "learn_reads", "learn_sharing", "of_any_length_from_now", "outs_for", "parts_of_arguments", "result_of"]
__all__ += ["widened"]
