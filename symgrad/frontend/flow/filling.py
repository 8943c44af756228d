"""Loop-carried and joined values as operands: a binding in a given form, with zeros where it is absent; and attempts at loops."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from typing import Any

from symgrad.frontend.state.abstract_values import Skeleton, is_of_row, item_of, leaves, objects_of, places_in, resolved_by_paths
from symgrad.frontend.state.bindings import (
    MISSING,
    Binding,
    Choice,
    HeapKey,
    Location,
    Maybe,
    Missing,
    Name,
    Num,
    Obj,
    OneOf,
    Ref,
    Static,
)
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.program_state import State
from symgrad.ir.core import FALSE, NONE, TRUE, UNDEF, Block, Const, If, Operand, Value
from symgrad.ir.sums import ONE, sum_of
from symgrad.ir.types import INT, Array, Dim, Extent, Object, Scalar, Type, same_extent
from symgrad.location import Loc


def operands_of(ctx: Lowering, binding: Binding, form: Skeleton) -> list[Operand]:
    """The operands that fill a form from a binding, in the current state."""
    binding = resolved_by_paths(binding, ctx.state)
    match form.form:
        case "tuple" | "object" | "view":
            items = item_of(binding, form, ctx.state.heap)
            return [o for item, part in zip(items, form.items, strict=True) for o in operands_of(ctx, item, part)]
        case "maybe":
            return of_maybe(ctx, binding, form)
        case "num" | "array":
            return [operand_of(ctx, binding)]
        case "oneof":
            return [place_of(ctx, binding, form.same)]
    return []


def blank(operand: Operand, type_: Type) -> Operand:
    """A placeholder for a value that nothing reads: a number or None where possible, so that it can be passed on."""
    if operand is not UNDEF:
        return operand
    if isinstance(type_, Scalar) and type_.dtype is None:
        return Const({"bool": False, "int": 0, "float": 0.0, "complex": 0j}[type_.kind])
    return NONE if isinstance(type_, Object) else UNDEF


def of_maybe(ctx: Lowering, binding: Binding, form: Skeleton) -> list[Operand]:
    """The presence bool and the values that it guards."""
    (inner,) = form.items
    if isinstance(binding, Maybe):
        return [binding.present, *operands_of(ctx, binding.inner, inner)]
    if binding == form.same:
        return [FALSE, *(filled(ctx, leaf.type) for leaf in leaves(inner))]
    if isinstance(binding, Missing):
        return [UNDEF] * len(leaves(form))
    return [TRUE, *operands_of(ctx, binding, inner)]


def place_of(ctx: Lowering, binding: Binding, values: tuple[Static, ...]) -> Operand:
    """The index in ``values`` of the constant that a binding holds, as an operand."""
    match binding:
        case Static():
            return Const(values.index(binding))
        case OneOf(place, held) if held == values[: len(held)]:
            return place
        case OneOf(place, held):
            position: Operand = Const(values.index(held[-1]))
            for k in range(len(held) - 2, -1, -1):
                position = place_by(ctx, ctx.call("equal", place, Const(k)), Const(values.index(held[k])), position)
            return position
        case Choice(test, then, orelse):
            return place_by(ctx, test, place_of(ctx, then, values), place_of(ctx, orelse, values))
    return UNDEF


def place_by(ctx: Lowering, test: Operand, one: Operand, other: Operand) -> Value:
    """One of two indices."""
    out = Value(INT)
    ctx.builder.append(If([out], ctx.builder.loc, test, Block([], [], [one]), Block([], [], [other])))
    return out


def operand_of(ctx: Lowering, binding: Binding) -> Operand:
    """The value of a number or array; ``UNDEF`` where it cannot be read."""
    match binding:
        case Num(operand):
            return operand
        case Ref(location):
            return UNDEF if location in ctx.state.stale else ctx.held(binding)
        case Obj():  # a list that becomes one of dynamic length
            return ctx.held(binding)
        case Maybe() | OneOf():  # a value whose form is that of any value
            return ctx.read(binding)
        case Static(value=value) if value is None or isinstance(value, str):
            return Const(value)
    return UNDEF


def filled(ctx: Lowering, type_: Type) -> Operand:
    """Zeros for an absent value, which nothing reads; ``UNDEF`` where its shape is unknown."""
    if isinstance(type_, Scalar):
        return Const({"float": 0.0, "int": 0, "bool": False, "complex": 0j}[type_.kind])
    if not isinstance(type_, Array) or type_.shape is None or type_.dtype is None:
        return UNDEF
    extents = [Const(extent) if isinstance(extent, int) else extent_in_reach(ctx, extent) for extent in type_.shape]
    known = [extent for extent in extents if extent is not None]
    return ctx.call("zeros", *known, dtype=type_.dtype) if len(known) == len(extents) else UNDEF


def extent_of(ctx: Lowering, ref: Ref, axis: int) -> Operand:
    """An extent of an array, which no store changes: if its content is doubtful, read from another array with the same extent."""
    shape = getattr(ctx.type_of(ref), "shape", None) or ()
    extent = shape[axis] if axis < len(shape) else None
    if isinstance(extent, int):
        return Const(extent)
    known = extent_in_reach(ctx, extent) if ref.location in ctx.state.stale and extent is not None else None
    return known or ctx.call("extent", ctx.read(ref), axis=axis)


def size_of(ctx: Lowering, ref: Ref) -> Operand:
    """The number of elements of an array."""
    shape = getattr(ctx.type_of(ref), "shape", None)
    if shape is not None and all(isinstance(extent, int) for extent in shape):
        return Const(math.prod(shape))
    if ref.location not in ctx.state.stale or not shape:
        return ctx.call("size", ctx.read(ref))
    extents = [extent_of(ctx, ref, axis) for axis in range(len(shape))]
    return functools.reduce(lambda total, extent: ctx.call("multiply", total, extent), extents)


def extent_in_reach(ctx: Lowering, dim: Dim) -> Operand | None:
    """The value of an extent as an operand, if a live array has it."""
    for value in (*(value for location, value in ctx.state.memory.items() if location not in ctx.state.stale), *ctx.texts):
        shape = value.type.shape if isinstance(value.type, Array) else None
        for axis, extent in enumerate(shape or ()):
            if isinstance(extent, Dim) and same_extent(extent, dim):
                return ctx.call("extent", value, axis=axis)
    return None


def operand_of_extent(ctx: Lowering, extent: Extent) -> Operand | None:
    """The value of an extent as an operand: a constant, an extent of a live array, or a sum of these; None otherwise."""
    if isinstance(extent, int):
        return Const(extent)
    if (whole := extent_in_reach(ctx, extent)) is not None:
        return whole
    total: Operand | None = None
    for symbol, count in (sum_of(extent) or {"?": 1}).items():
        term = Const(1) if symbol == ONE else extent_in_reach(ctx, Dim(str(symbol))) or integer_in_reach(ctx, str(symbol))
        if term is None:
            return None
        size = abs(count) if total is not None else count
        part = Const(size) if symbol == ONE else ctx.call("multiply", term, Const(size)) if size != 1 else term
        total = part if total is None else ctx.call("add" if count > 0 else "subtract", total, part)
    if total is None or all(count > 0 for count in (sum_of(extent) or {}).values()):
        return total
    return ctx.call("maximum", total, Const(0), via="math")  # the rest of a short array is empty


def integer_in_reach(ctx: Lowering, symbol: str) -> Operand | None:
    """A number of the program, or an argument, that defines an extent."""
    numbers = [binding.operand for binding in ctx.state.names.values() if isinstance(binding, Num)]
    for value in (*numbers, *ctx.texts):
        if isinstance(value, Value) and ctx.builder.extents.get(value) == Dim(symbol):
            return value
    return None


# ------------------------------------------------------------------ attempts at loops


WHOLE = "all of a list"  #: the key of a list that is carried as one value, besides the keys of its items


@dataclass(slots=True)
class Plan:
    """The loop-carried values known so far: forms of names, types of memory and lists, what may alias or be the same object."""

    names: dict[Name, Skeleton] = field(default_factory=dict)
    memory: dict[Location, Type] = field(default_factory=dict)
    heap: dict[HeapKey, Any] = field(default_factory=dict)
    shares: dict[tuple[Any, Any], None] = field(default_factory=dict)
    twins: dict[Any, None] = field(default_factory=dict)  #: objects, by slot or themselves, that other names may reach after an iteration
    stale: dict[Any, Loc] = field(default_factory=dict)  #: arrays in doubt, with the store behind it
    shared: dict[HeapKey, None] = field(default_factory=dict)  #: lists that do not alone hold the lists in them
    locations: dict[HeapKey, Location] = field(default_factory=dict)  #: the memory of lists that were known item by item before
    rows: dict[Name, None] = field(default_factory=dict)  #: names that are bound to items of lists of lists, as a later attempt shows
    kin: dict[tuple[Any, Any], None] = field(default_factory=dict)  #: objects, by slot or from before the loop, that may be the same
    #: places of arrays that are one of some from before the loop; None where they may be others
    bases: dict[Any, dict[Ref, None] | None] = field(default_factory=dict)
    #: carried slots to which an iteration may pass a number of a narrower class
    mixed: dict[int, None] = field(default_factory=dict)
    exposed: dict[Any, None] = field(default_factory=dict)  #: objects that the caller may hold after an iteration: see ``exposed``

    def seen_in_list(self, name: Name, form: Skeleton, last: Skeleton, entry: State) -> Skeleton:
        """The form of a name that each iteration binds to an item of a list of lists, discovered once that list is carried."""
        own = last.anew if last.form == "same" else last
        if own is None or not is_of_row(own) or is_of_row(form) or name in self.rows or entry.names.get(name, MISSING) != MISSING:
            return form
        self.rows[name] = None
        return own

    def add(self, table: dict[Any, Any], key: Any, value: Any) -> bool:
        """Enter a form; return whether it is new."""
        if key in table and table[key] == value:
            return False
        table[key] = value
        return True


@dataclass(slots=True)
class Head:
    """One attempt at a loop: its initial values, its block arguments, and the state at the top of the body."""

    inits: list[Operand]
    args: list[Value]
    state: State
    places: dict[Any, Location]
    objects: dict[Any, HeapKey] = field(default_factory=dict)
    firsts: dict[HeapKey, HeapKey] = field(default_factory=dict)  #: the ``objects`` of the first iteration
    gone: set[HeapKey] = field(default_factory=set)  #: objects from before the loop that are only reachable as ``objects`` now
    types: list[Type] = field(default_factory=list)  #: of ``args``, with ``?`` for each extent that may vary with the iteration

    def enter(self, place: Any, binding: Binding, form: Skeleton) -> None:
        """Record the memory and the objects of a binding that is carried in a place."""
        self.places |= {(place, n): x for n, x in enumerate(places_in(binding, form, self.state.heap)) if x is not None}
        self.objects |= {(place, n): x for n, x in enumerate(objects_of(binding, form, self.state.heap)) if x is not None}

    def first(self, held: Any) -> HeapKey | None:
        """The object of a carried place in the first iteration; an object from before the loop is itself."""
        if isinstance(held, HeapKey):
            return held
        key = self.objects.get(held)
        return None if key is None else self.firsts.get(key)

    def slot(self, ctx: Lowering, type_: Type, name: str | None) -> Value:
        """A block argument for a carried value."""
        self.types.append(type_)
        self.args.append(Value(ctx.builder.freshen(type_), name))
        return self.args[-1]
