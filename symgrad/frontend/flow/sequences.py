"""Structured items of lists of any length: tuples, dicts and instances, packed into one value and unpacked again.

A list of such items is a value of type ``List(Struct)``. An object read from it is a new object
that must not be changed, and an object put into it must not be changed from then on: aliases are
not tracked through a list.
"""

from __future__ import annotations

import ast
import functools
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.flow.filling import operands_of
from symgrad.frontend.state.abstract_values import Skeleton, decided, is_of_row, leaves, merge, rebuild
from symgrad.frontend.state.bindings import NO_KEYS, Binding, HeapKey, Link, Obj, Ref, Static, Tup, View, is_row, row_at
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.program_state import State
from symgrad.frontend.state.reach import count_ways, holders, memory_within, objects_around, objects_in
from symgrad.frontend.state.tables import PARTS
from symgrad.ir.core import FALSE, UNDEF, Call, Operand, Value
from symgrad.ir.types import UNDEFINED, Array, List, Scalar, Struct, Type
from symgrad.tables import entered

DIFFERENT = "the items of a list are of different kinds"
FEW = 8  #: up to this many static items are unrolled


def has_parts(ctx: Lowering, binding: Binding) -> bool:
    """Whether the binding is a tuple, a dict or an instance, or a list with one in it."""
    match binding:
        case Tup():
            return not isinstance(binding, View)
        case Obj(key):
            content = ctx.state.heap.get(key)
            if key.kind in ("dict", "record"):
                return key.cls is not set and key.exact is None
            return isinstance(content, tuple) and any(has_parts(ctx, item) for _, item in content)
    return False


def form_of(ctx: Lowering, binding: Binding) -> Skeleton:
    """The form of an item, in which each object is a distinct one."""
    return _anew(ctx, ctx.skeleton(binding, ctx.state))


def _anew(ctx: Lowering, form: Skeleton) -> Skeleton:
    if form.form == "same" and isinstance(form.same, Obj):
        if form.anew is None:
            raise UnsupportedSyntax("an object created on some paths only is added to a list", ctx.builder.loc, "create it on every path")
        return _anew(ctx, form.anew)
    if is_of_row(form) and form.anew is not None:  # the tuple holds the list itself, not its place in the outer list
        return _anew(ctx, form.anew)
    if form.form in ("broken", "missing"):
        raise UnsupportedSyntax(DIFFERENT, ctx.builder.loc, "give all of them the same structure")
    return replace(form, items=tuple(_anew(ctx, item) for item in form.items)) if form.items else form


def own_lists(form: Skeleton) -> Skeleton:
    """The same form, in which a list of any length is an object of its own, not a fixed one."""
    if form.form == "same" and isinstance(form.same, Obj) and form.anew is not None and form.anew.same[2] is None:
        return form.anew
    return replace(form, items=tuple(map(own_lists, form.items))) if form.items else form


def of_any_length(ctx: Lowering, binding: Binding) -> Skeleton | None:
    """The form of a list of any length; None for anything else."""
    form = own_lists(ctx.skeleton(binding, ctx.state))
    return form if form.form == "object" and form.same[0] == "list" and form.same[2] is None else None


def untyped(form: Skeleton) -> Skeleton:
    """A form without the types of its values, which is equal for any two items of one list."""
    return replace(form, type=UNDEFINED, items=tuple(map(untyped, form.items)), anew=None)


def put_together(ctx: Lowering, binding: Binding, form: Skeleton) -> Value:
    """Pack a structured item into one value."""
    ctx.parted = True
    parts = operands_of(ctx, binding, form)
    if any(part is UNDEF for part in parts):
        raise UnsupportedSyntax("an array added to a list may share memory with an array written to", ctx.builder.loc, "append a copy")
    parts = parts or [FALSE]  # the list needs at least one part for its length
    hold(ctx, binding)
    out = Value(Struct(tuple(part.type for part in parts), untyped(form)))
    ctx.builder.append(Call([out], ctx.builder.loc, "struct_of", parts, {}))
    return out


def hold(ctx: Lowering, binding: Binding) -> None:
    """Record that a list of any length holds the objects in a binding: a later change of them would miss the list's copy."""
    held = objects_around(binding, ctx.state)
    kinds = [key.exact.__name__ for key in held if key.kind == "list" and key.exact is not None]
    if kinds or holds_view(binding):
        what = f"a {kinds[0] if kinds else 'view of a dict'} in a list of any length would become a list"
        raise UnsupportedSyntax(what, ctx.builder.loc, "put a list or an array in it")
    same = (other for key in held for other, is_same in ctx.state.kin.get(key, NO_KEYS).items() if decided(is_same, ctx.state) is not False)
    ctx.state.twins |= frozenset([*held, *same])
    for key in held:
        if isinstance(content := ctx.state.heap.get(key), Ref):
            ctx.share_rows(content.location)


def takes_over(ctx: Lowering, content: Ref, item: Binding) -> bool:
    """Whether a list that alone holds its inner lists also alone holds this one after it is added. Its names then see it there."""
    state = ctx.state
    if isinstance(item, Ref):
        return content.location in state.owning and is_alone(state, item)
    if content.location not in state.owning or not isinstance(item, Obj) or not is_plain(item.key):
        return False
    if item.key in state.twins or item.key in state.kin or is_of_caller(ctx, state, item.key):
        return False
    seen: set[HeapKey] = set()
    for binding in [*state.names.values(), *(held for held in state.operands if held != item)]:
        objects_in(binding, state, seen)
    if any(is_row(row := state.heap.get(key)) and row.location is content.location for key in seen):  # type: ignore[union-attr]
        return False
    return item.key not in seen or isinstance(state.heap[item.key], Ref)


def is_alone(state: State, array: Ref) -> bool:
    """Whether the array has memory of its own, which neither the caller nor a list holds."""
    location, type_ = array.location, state.memory[array.location].type
    is_own = not array.path and not location.outside and not location.read_only and isinstance(type_, Array) and bool(type_.rank)
    shares_none = location not in state.bases and location not in state.stale and location not in state.stored_arrays
    return is_own and shares_none and not any(other in state.memory for other in state.near(location))


def see_within(ctx: Lowering, content: Ref, item: Binding, index: Operand) -> None:
    """Let a list that was added to a list of lists be seen there; for an array, record its place."""
    if isinstance(item, Ref):
        ctx.links[item.location] = Link(content.location, index, {ctx.state.memory[content.location]})
    if isinstance(item, Obj) and isinstance(ctx.state.heap[item.key], Ref):
        ctx.state.heap[item.key] = row_at(content.location, index)


def is_plain(key: HeapKey) -> bool:
    """Whether the object is a plain Python list."""
    return key.kind == "list" and key.cls is None and key.exact is None


def is_of_caller(ctx: Lowering, state: State, key: HeapKey) -> bool:
    """Whether the caller holds an object: an argument, or an object stored in one."""
    return key in ctx.arguments or key in state.handles


def owns_items(ctx: Lowering, state: State, key: HeapKey) -> bool:
    """Whether a list of static items alone holds the lists in it."""
    content = state.heap[key]
    if isinstance(content, Ref) or not is_plain(key) or key in state.twins:
        return False
    arrays = [item for _, item in content if isinstance(item, Ref)]
    if arrays and len(arrays) == len(content):
        return all(is_alone(state, array) and holders(array.location, state) == 1 for array in arrays)
    ways: Counter[HeapKey] = Counter()
    for binding in state.roots():
        count_ways(binding, state, ways)
    items = [item.key if isinstance(item, Obj) else None for _, item in content]
    return all(k is not None and is_plain(k) and ways[k] == 1 and k not in state.twins and not is_of_caller(ctx, state, k) for k in items)


def holds_view(binding: Binding) -> bool:
    """Whether the binding is a view of a dict, or a tuple with one in it."""
    return isinstance(binding, View) or isinstance(binding, Tup) and any(map(holds_view, binding.items))


@entered(PARTS, "taken apart")
def taken_apart(ctx: Lowering, value: Operand) -> Binding:
    """Unpack a structured item into a binding."""
    type_ = value.type
    assert isinstance(type_, Struct)
    if ctx.holes:
        raise UnsupportedSyntax("the item read here may be None", ctx.builder.loc, "fill the list with items of one kind")
    parts = []
    for place, part in enumerate(type_.items):
        parts.append(Value(ctx.builder.freshen(part)))
        ctx.builder.append(Call([parts[-1]], ctx.builder.loc, "part_of", [value], {"place": place}))
    binding = rebuild(type_.form, parts, ctx.state, None, ctx.builder.loc)
    ctx.state.twins |= frozenset(objects_around(binding, ctx.state))
    return binding


def item_value(ctx: Lowering, binding: Binding, node: ast.AST | None = None) -> Operand:
    """The operand of one item for a list of any length."""
    if ctx.sequences and has_parts(ctx, binding):
        return put_together(ctx, binding, form_of(ctx, binding))
    operand = ctx.read(binding, node)
    hold(ctx, binding)
    return operand


def shares(ctx: Lowering, binding: Binding, ref: Ref) -> None:
    """Record that arrays added to a list are the same arrays there, and may alias there what they may alias here.

    Those aliases are recorded themselves: the array may have been read from another list, and be
    dropped afterwards.
    """
    for location in memory_within(binding, ctx.state):
        if location is not ref.location:
            memory = ctx.state.memory
            near = [o for o in ctx.state.near(location) if o in memory and isinstance(memory[o].type, Array | List)]
            ctx.state.pair(location, ref.location)
            ctx.state.share_all(ref.location, near)


@entered(PARTS, "listed")
def listed(ctx: Lowering, items: Sequence[Binding], node: ast.AST | None = None) -> Operand:
    """A list value of the given items, some of which are structured."""
    if not ctx.sequences or not any(has_parts(ctx, item) for item in items):
        for item in items:
            hold(ctx, item)
        return ctx.list_of(items, node)
    form = functools.reduce(lambda one, other: merge(one, other), (form_of(ctx, item) for item in items))
    form = _anew(ctx, form)
    values = [put_together(ctx, item, form) for item in items]
    return ctx.call("list_of", *values)


def is_one_class(types: Sequence[Type]) -> bool:
    """Whether all types are one class: numbers of one type, arrays of one dtype and rank, lists of these."""
    first = types[0]
    match first:
        case Scalar():
            return all(t == first for t in types)
        case Array(dtype=str() as dtype, rank=int() as rank):
            return all(isinstance(t, Array) and (t.dtype, t.rank) == (dtype, rank) for t in types)
        case List(of=of):
            return all(isinstance(t, List) and t.of == of for t in types) and is_one_class([t.item for t in types if isinstance(t, List)])
    return False


def sequence_of(ctx: Lowering, items: Sequence[Binding], node: ast.AST) -> Ref | None:
    """Many static items as a list of any length; None where their forms differ."""
    try:
        forms = [form_of(ctx, item) for item in items]
    except UnsupportedSyntax:
        return None
    if len({untyped(form) for form in forms}) > 1 or not all(
        is_one_class([leaf.type for leaf in column]) for column in zip(*map(leaves, forms), strict=True)
    ):
        return None
    if any(isinstance(item, Static) for item in items):
        return None
    sequence = ctx.make(listed(ctx, items, node))
    assert isinstance(sequence, Ref)
    ctx.parted = True
    for item in items:
        shares(ctx, item, sequence)
    return sequence


__all__ = ["FEW", "has_parts", "item_value", "listed", "of_any_length", "own_lists", "owns_items", "see_within", "sequence_of", "shares"]
__all__ += ["takes_over"]
