"""Plans of loops: the loop-carried values known so far, and one attempt at the head of the loop."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from symgrad.frontend.abstract_values import Skeleton, is_of_row, objects_of, places_in
from symgrad.frontend.bindings import MISSING, Binding, HeapKey, Location, Name, Ref
from symgrad.frontend.context import Lowering
from symgrad.frontend.program_state import State
from symgrad.ir.core import Operand, Value
from symgrad.ir.types import Type

WHOLE = "all of a list"  #: the key of a list that is carried as one value, besides the keys of its items


@dataclass(slots=True)
class Plan:
    """The loop-carried values known so far: forms of names, types of memory and lists, what may alias or be the same object."""

    names: dict[Name, Skeleton] = field(default_factory=dict)
    memory: dict[Location, Type] = field(default_factory=dict)
    heap: dict[HeapKey, Any] = field(default_factory=dict)
    shares: dict[tuple[Any, Any], None] = field(default_factory=dict)
    twins: dict[Any, None] = field(default_factory=dict)  #: objects, by slot or themselves, that other names may reach after an iteration
    stale: dict[Any, None] = field(default_factory=dict)
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


__all__ = ["WHOLE", "Head", "Plan"]
