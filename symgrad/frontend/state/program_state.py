"""The state of a program at one point of lowering: names, memory, objects, and the facts known about them.

A state is copied at branches and merged by joins. A frame is one activation of a function, with its source and the
enclosing loop; a path leaves a frame or a loop with an exit code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from symgrad.frontend.state.bindings import NO_KEYS, Binding, HeapKey, Keys, Known, Location, Name, Obj, Ref, Step, Tup
from symgrad.frontend.text.source import Source
from symgrad.ir.core import FALSE, TRUE, Operand
from symgrad.ir.types import Array, List
from symgrad.location import Loc

#: a set of locations in order of entry; it is replaced, never changed
Locations = Mapping["Location", None]
NO_LOCATIONS: Locations = MappingProxyType({})
#: the copies of an array that were made for the caller, each with the path of its view
StoredArrays = tuple[tuple[tuple[Step, ...], Operand], ...]
NOTHING_KNOWN: Known = MappingProxyType({})


@dataclass(slots=True)
class State:
    """The mutable state of lowering: names, operands, memory, objects, and which memory is doubtful.

    ``operands`` are the values that the current statements have evaluated and not used yet, outermost first:
    arguments while others are evaluated, owners of stores, iterables of loops, managers of ``with``. They are roots,
    as names are. ``partners`` are pairs of locations that may share memory. ``stale`` are locations whose partner was
    written to, with the location of the store. ``twins`` are objects that must not be changed. ``kin`` holds, for
    pairs of may-alias objects, a bool that is true where they are the same: a store to one is then a store to the
    other. ``known``: the path conditions, bools decided by tests. ``dead``: this path has raised. ``owning``: lists
    of lists of any length whose inner lists have no other reference. ``handles`` and ``stored_arrays``: objects and
    arrays that the caller holds because they were stored in one of the caller's objects, with their operands there;
    None where that depends on the path (see ``stored``).
    """

    names: dict[Name, Binding] = field(default_factory=dict)
    operands: tuple[Binding, ...] = ()
    memory: dict[Location, Operand] = field(default_factory=dict)
    heap: dict[HeapKey, tuple[tuple[Any, Binding], ...] | Ref] = field(default_factory=dict)
    partners: dict[Location, Locations] = field(default_factory=dict)
    stale: dict[Location, Loc] = field(default_factory=dict)
    twins: frozenset[HeapKey] = frozenset()
    kin: dict[HeapKey, Keys] = field(default_factory=dict)
    bases: dict[Location, Mapping[Ref, Operand]] = field(default_factory=dict)  #: of may-alias arrays: see ``aliases``
    codes: frozenset[int] = frozenset({0})
    known: Known = field(default_factory=lambda: NOTHING_KNOWN)  #: is replaced, never changed
    dead: bool = False
    owning: frozenset[Location] = frozenset()
    handles: dict[HeapKey, Operand | None] = field(default_factory=dict)
    stored_arrays: dict[Location, StoredArrays | None] = field(default_factory=dict)

    def copy(self) -> State:
        memory = dict(self.memory), dict(self.heap), dict(self.partners), dict(self.stale)
        objects = self.twins, dict(self.kin), dict(self.bases)
        stored = dict(self.handles), dict(self.stored_arrays)
        return State(dict(self.names), self.operands, *memory, *objects, self.codes, self.known, self.dead, self.owning, *stored)

    def roots(self) -> Iterator[Binding]:
        """The roots from which the program can reach objects and memory."""
        yield from self.names.values()
        yield from self.operands

    def pair(self, new: Location, old: Location) -> None:
        """Record that two locations may alias; ``new`` may also alias what ``old`` may."""
        self.share_all(new, (old, *self.near(old)))

    def near(self, location: Location) -> list[Location]:
        """The locations that a location may alias."""
        partners = self.partners.get(location, NO_LOCATIONS)
        if not self.bases:
            return [*partners]
        bases = [base.location for base in self.bases.get(location, ())]
        near = dict.fromkeys([location, *partners, *bases, *(x for base in bases for x in self.partners.get(base, NO_LOCATIONS))])
        near |= {alias: None for alias, others in self.bases.items() if any(other.location in near for other in others)}
        del near[location]
        return [*near]

    def share(self, one: Location, other: Location) -> None:
        """Record that two locations may alias; this implies nothing about their other aliases."""
        self.share_all(one, (other,))

    def share_all(self, one: Location, others: Iterable[Location]) -> None:
        """Record that a location may alias each of the others."""
        known = self.partners.get(one, NO_LOCATIONS)
        added = {other: None for other in others if other is not one and other not in known}
        for other in added:
            self.partners[other] = {**self.partners.get(other, NO_LOCATIONS), one: None}
        if added:
            self.partners[one] = {**known, **added}

    def drop_partners(self, outside: Iterable[Location]) -> None:
        """Forget the aliases of locations that no longer exist: the locations that they may alias need not alias each other.

        Arrays from ``outside`` always exist.
        """
        kept = {*self.memory, *self.stored_arrays, *outside}
        for location, others in list(self.partners.items()):
            if location not in kept:
                del self.partners[location]
            elif not kept >= others.keys():
                self.partners[location] = {other: None for other in others if other in kept}

    def relate(self, one: HeapKey, other: HeapKey, same: Operand) -> None:
        """Record that two objects may be the same: a bool says whether they are."""
        self.kin[one] = MappingProxyType({**self.kin.get(one, NO_KEYS), other: same})
        self.kin[other] = MappingProxyType({**self.kin.get(other, NO_KEYS), one: same})

    def sameness(self, one: HeapKey | None, other: HeapKey | None) -> Operand:
        """A bool that says whether two objects are the same; None is no object."""
        if one is None or other is None:
            return FALSE
        return TRUE if one is other else self.kin.get(one, NO_KEYS).get(other, FALSE)

    def stored(self, location: Location, loc: Loc) -> None:
        """Record a store to a location: its possible aliases are doubtful from here on.

        A store to a list changes neither the arrays in it nor other lists of them: the identity of
        objects is known per object.
        """
        is_of_list = isinstance(self.memory[location].type, List)
        for partner in self.partners.get(location, NO_LOCATIONS):
            if not (is_of_list and partner in self.memory and isinstance(self.memory[partner].type, Array | List)):
                self.stale.setdefault(partner, loc)
                for alias, bases in self.bases.items():
                    if any(base.location is partner for base in bases):  # an array that may be the partner is as doubtful
                        self.stale.setdefault(alias, loc)
        if not is_of_list:
            for other in self.through_lists(location):
                self.stale.setdefault(other, loc)

    def through_lists(self, location: Location) -> list[Location]:
        """The locations that may be an array, or hold it, because lists hold the same arrays."""

        def is_list(other: Location) -> bool:
            return other in self.memory and isinstance(self.memory[other].type, List)

        locations: dict[Location, None] = {}
        todo = [other for other in self.partners.get(location, NO_LOCATIONS) if is_list(other)]
        while todo:
            for item in self.partners.get(todo.pop(), NO_LOCATIONS):
                for other in [item, *self.partners.get(item, NO_LOCATIONS)]:
                    if other is not location and other not in locations and (other is item or is_list(other)):
                        locations[other] = None
                        todo += [other] if is_list(other) else []
        return list(locations)

    def entries(self, key: HeapKey) -> tuple[tuple[Any, Binding], ...]:
        """The content of an object of static structure."""
        content = self.heap[key]
        assert not isinstance(content, Ref)
        return content

    def become(self, other: State) -> None:
        """Take over another state."""
        self.names, self.operands, self.memory, self.heap = other.names, other.operands, other.memory, other.heap
        self.partners, self.stale, self.twins, self.kin, self.bases = other.partners, other.stale, other.twins, other.kin, other.bases
        self.codes, self.known, self.dead, self.owning = other.codes, other.known, other.dead, other.owning
        self.handles, self.stored_arrays = other.handles, other.stored_arrays


def is_long(binding: Any, state: State) -> bool:
    """Whether the binding is a list of dynamic length, or a tuple created from one."""
    return isinstance(binding, Obj) and binding.key.kind == "list" and isinstance(state.heap[binding.key], Ref)


def held_items(binding: Any, state: State) -> list[Binding] | None:
    """The items of a tuple, or of a list of static length; None for all else."""
    if isinstance(binding, Tup):
        return list(binding.items)
    is_known = isinstance(binding, Obj) and binding.key.kind == "list" and not isinstance(state.heap[binding.key], Ref)
    return [item for _, item in state.entries(binding.key)] if is_known else None


@dataclass(eq=False, slots=True)
class Frame:
    """One activation of a function: its source, and the frame whose variables it can access."""

    source: Source
    parent: Frame | None = None
    locals: frozenset[str] = frozenset()
    globals: frozenset[str] = frozenset()  #: the names that it declares global
    top: bool = False
    loop: Loop | None = None
    consume: Callable[[Binding], Operand] | None = None  #: of a generator: lowers the use of a value; returns whether that ends it
    consumer: Frame | None = None  #: of a generator: the frame that iterates over it
    lives_on: bool = False  #: of a generator that runs code when it is closed: a name holds it while a loop iterates over it
    place: Loc | None = None  #: of one of our compositions: the location of its call, which the user sees for all its lines
    called_at: Loc | None = None  #: the same for a library function whose source is lowered
    sent: Binding | None = None  #: of a generator: the value sent to it at the next resumption
    nested: int = 0  #: of a call: the nesting depth of its body in branches and loops
    lowered: int = 0  #: the number of lowered statements, counted again for each unrolled iteration


@dataclass(eq=False, slots=True)
class Loop:
    """The loop being lowered: its two flags are names of the state, so that joins merge them."""

    depth: int
    exits: set[int] = field(default_factory=set)
    watchers: dict[int, tuple[Any, ...]] = field(default_factory=dict)  #: the handlers around it, by the kind of exception that leaves it

    @property
    def stop(self) -> tuple[Any, str]:
        return (self, "stop")

    @property
    def exit(self) -> tuple[Any, str]:
        return (self, "exit")


@dataclass(eq=False, slots=True)
class Going:
    """The lists and dicts that loops iterate over: the content that must not change, and the locations for a position instead."""

    lists: dict[HeapKey, Any]
    sites: frozenset[Any] = frozenset()


#: the codes of a path: it continues, or the way in which it has left
NEXT, BREAK, CONTINUE, RETURN = 0, 1, 2, 3
CODE: Name = (None, "code")  #: the name that holds it
OUTSIDE: Any = "outside"  #: replaces the frame in names for arrays from outside that are written to; these are never forgotten
RAISED: Any = "raised"  #: replaces the frame in names that say which exception is pending
LONGEST: Any = "longest"  #: replaces the frame in names that hold the ``maxlen`` of a deque
RESULT = "%return"  #: the variable of each frame that holds its result
