"""What a name can be bound to during lowering, and the state of a program that joins merge.

Memory is in SSA form: an array object is a ``Location`` whose content is the version in
``State.memory``; a name holds a ``Ref`` (location and view path).
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from symgrad.ir.core import FALSE, TRUE, UNDEF, Const, Operand, Value
from symgrad.ir.types import Array, List, Object
from symgrad.location import NOWHERE, Loc


@dataclass(eq=False, slots=True)
class Location:
    """One mutable object of the running program: an array or a list of any length."""

    name: str | None = None
    owner: Loc = NOWHERE
    read_only: bool = False  #: NumPy does not let it be written to
    outside: bool = False  #: the caller holds it
    may_be_view: bool = False  #: whether it is a view or a copy depends on how another array lies in memory


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a view path: its spelling in an index path, and its operands."""

    spec: str
    operands: tuple[Operand, ...] = ()
    read_only: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Binding:
    """Base of what a name can be bound to; abstract.  A kind that does not say when two are equal has each equal to itself alone."""


@dataclass(frozen=True, slots=True)
class Num(Binding):
    """An immutable value: a number, or an object that is only passed on."""

    operand: Operand


@dataclass(frozen=True, slots=True)
class Ref(Binding):
    """An array, or a list of any length: a location, seen through a path of views."""

    location: Location
    path: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Tup(Binding):
    """A tuple; ``kind`` is its class when it is a named tuple."""

    items: tuple[Binding, ...]
    kind: Any = None


@dataclass(frozen=True, slots=True)
class View(Tup):
    """``d.items()``, ``d.values()`` or ``d.keys()``: what the dict ``owner`` held when it was asked, held against what it holds now."""

    owner: Any = None
    pairs: bool = False  #: the items are pairs of key and value
    keys: bool = False  #: the items are the keys

    def is_current(self, state: State, place: int | None = None) -> bool:
        """Does the dict still hold the same values (or the one at a place)?"""
        if self.owner is None:
            return True
        content = state.heap.get(self.owner)
        if not isinstance(content, tuple) or len(content) != len(self.items):
            return False
        if self.keys:
            return all(isinstance(held, Static) and held.value == key for (key, _), held in zip(content, self.items, strict=True))
        pairs = list(zip(content, self.items, strict=True))
        chosen = pairs if place is None else pairs[place : place + 1]
        return all(now == (held.items[1] if self.pairs and isinstance(held, Tup) else held) for (_, now), held in chosen)


@dataclass(frozen=True, slots=True)
class Obj(Binding):
    """A list, dict or instance whose structure is known; its content is in ``State.heap``."""

    key: HeapKey


@dataclass(eq=False, slots=True)
class HeapKey:
    """The identity of a mutable object of known structure."""

    kind: str  #: "list", "dict" or "record"
    cls: Any = None
    doubtful: bool = False  #: there is no such object on one of the paths that lead here
    exact: type | None = None  #: its class, where that is none of ``list``, ``dict`` and ``cls``
    unordered: bool = False  #: a dict of which the order of the keys depends on the path taken
    sites: tuple[Any, ...] = ()  #: where a dict may have been created, as far as that is known


@dataclass(frozen=True, slots=True)
class Static(Binding):
    """A Python object known while compiling: a function, module, class, string, None, dtype.  Strings are the same that are equal."""

    value: Any
    name: str | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Static):
            return False
        return other.value is self.value or type(other.value) is type(self.value) is str and other.value == self.value

    def __hash__(self) -> int:
        return hash(self.value) if type(self.value) is str else id(self.value)


@dataclass(frozen=True, slots=True, eq=False)
class Fun(Binding):
    """A nested function or lambda with the frame it was made in."""

    node: ast.FunctionDef | ast.Lambda
    frame: Any
    defaults: tuple[tuple[str, Binding], ...] = ()
    keeps: bool = False  #: its results are kept, as ``functools.lru_cache`` does it
    manages: bool = False  #: ``contextlib.contextmanager`` decorates it
    attributes: HeapKey | None = None  #: its attributes, where the program assigns to one


@dataclass(frozen=True, slots=True)
class Bound(Binding):
    """A method and what it is called on."""

    owner: Binding
    name: str
    function: Any = None


@dataclass(frozen=True, slots=True)
class Frozen(Binding):
    """A distribution of SciPy's with parameters: what its functions are given after their first argument."""

    distribution: str
    args: tuple[Binding, ...] = ()
    kwargs: tuple[tuple[str, Binding], ...] = ()


@dataclass(frozen=True, slots=True)
class Partial(Binding):
    """A function with arguments that are given already; ``again``: or what ``checkpoint`` makes of one, which runs again in reverse."""

    function: Binding
    args: tuple[Binding, ...] = ()
    kwargs: tuple[tuple[str, Binding], ...] = ()
    again: bool = False


@dataclass(frozen=True, slots=True)
class Choice(Binding):
    """One of two functions, or one of two values of different classes, by a test that has been made."""

    test: Operand
    then: Binding
    orelse: Binding


@dataclass(frozen=True, slots=True)
class Maybe(Binding):
    """What is there on some paths only: a bool that says whether it is, and what it is then; elsewhere ``absent``, None or no value.

    Where it is not there, the values it is made of are zeros that nobody reads.
    """

    present: Operand
    inner: Binding
    absent: Binding


@dataclass(frozen=True, slots=True)
class OneOf(Binding):
    """One of several constants, by its place among them."""

    place: Operand
    values: tuple[Static, ...]


@dataclass(frozen=True, slots=True)
class External(Binding):
    """An instance from outside, whose attributes are read when they are asked for; ``text`` reaches it."""

    value: Any
    text: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, External) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


@dataclass(frozen=True, slots=True)
class Above(Binding):
    """``super()``: an instance, and the class whose bases are looked at."""

    owner: Binding
    cls: Any


@dataclass(frozen=True, slots=True)
class Iter(Binding):
    """An iterator that has not begun: ``enumerate``, ``zip``, ``reversed``, ``map`` and their like; also a ``range``, which has no state.

    ``key`` is its identity: the heap says whether something has gone over it. Where that happens in several places, lowering starts
    again and makes a record with a position instead (``stepping``).
    """

    kind: Any  #: a word, or the function of Python's that makes it
    parts: tuple[Any, ...]
    key: HeapKey | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Generator(Binding):
    """A call of a function that yields: its body is lowered where the values are gone over, once; ``key`` tells whether it has been."""

    node: ast.FunctionDef
    frame: Any
    bound: tuple[tuple[str, Binding], ...]
    key: HeapKey
    resumes: bool = False  #: it is gone on with in several places, and its variables are those of its frame: see ``resuming``


REFUSED = "its assignment was refused"


@dataclass(frozen=True, slots=True)
class Broken(Binding):
    """Not usable here, and why; reading it is refused. ``sites``: where the iterators are made that would have to have a position.

    ``pin`` is the expression that reads an integer or bool which, if it were known while compiling, would make it usable.
    """

    why: str
    hint: str = ""
    sites: frozenset[Any] = frozenset()
    pin: str | None = None

    @property
    def follows(self) -> bool:
        """Is it unusable only because the statement that assigns it was refused?"""
        return self.why == REFUSED


@dataclass(frozen=True, slots=True)
class Missing(Binding):
    """Not bound."""


ROW = "row"  #: the step from a list of lists to one of them: the index, what the list held when the item was read, and the item then
MISSING = Missing()
ABSENT = Static(None)
Name = tuple[Any, str]
#: a set of locations in the order in which they were entered; it is replaced, never changed
Locations = Mapping["Location", None]
NO_LOCATIONS: Locations = MappingProxyType({})
#: the objects that another one may be, each with the bool that says whether it is; it is replaced, never changed
Keys = Mapping["HeapKey", Operand]
NO_KEYS: Keys = MappingProxyType({})
#: the arrays that were made for the caller of one array, each with the path of the view that it is of
StoredArrays = tuple[tuple[tuple[Step, ...], Operand], ...]

#: what is known on a path: of bools; of places of constants and of numbers, whether they are these, or among several
Known = Mapping[Operand | tuple[Operand, Hashable], bool]
NOTHING_KNOWN: Known = MappingProxyType({})


@dataclass(slots=True)
class State:
    """Everything that changes as a program runs: names, operands, memory, objects, and which memory is doubtful.

    ``operands`` are the values that the statements being lowered have evaluated and not used yet, outermost first: arguments while
    others are evaluated, owners of stores, what a loop goes over, managers of ``with``. They are roots, as names are.
    ``partners`` are pairs of locations that may share memory; ``stale`` are those whose partner was
    written to, with the place of the store; ``twins`` are objects that must not be changed; ``kin`` says of objects that may be one
    whether they are: what is stored in one of them is stored in the others where they are it. ``known``: bools that tests on this path
    have decided. ``dead``: this path has raised. ``owning``: lists of lists of any length whose items are lists that nothing else holds.
    ``handles`` and ``stored_arrays``: objects and arrays that the caller holds because they were stored in an object of his, with the
    operands that stand for them there; None where it depends on the path whether he does (see ``stored``).
    """

    names: dict[Name, Binding] = field(default_factory=dict)
    operands: tuple[Binding, ...] = ()
    memory: dict[Location, Operand] = field(default_factory=dict)
    heap: dict[HeapKey, tuple[tuple[Any, Binding], ...] | Ref] = field(default_factory=dict)
    partners: dict[Location, Locations] = field(default_factory=dict)
    stale: dict[Location, Loc] = field(default_factory=dict)
    twins: frozenset[HeapKey] = frozenset()
    kin: dict[HeapKey, Keys] = field(default_factory=dict)
    bases: dict[Location, Mapping[Location, Operand]] = field(default_factory=dict)  #: of arrays that are one of several: see ``aliases``
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
        """What the program can reach objects and memory from."""
        yield from self.names.values()
        yield from self.operands

    def pair(self, new: Location, old: Location) -> None:
        """Note that two locations may share memory; what ``old`` may share, ``new`` may share too."""
        self.share_all(new, (old, *self.near(old)))

    def near(self, location: Location) -> list[Location]:
        """The locations that may share memory with one."""
        partners = self.partners.get(location, NO_LOCATIONS)
        if not self.bases:
            return [*partners]
        bases = self.bases.get(location, NO_LOCATIONS)
        near = dict.fromkeys([location, *partners, *bases, *(x for base in bases for x in self.partners.get(base, NO_LOCATIONS))])
        near |= {alias: None for alias, others in self.bases.items() if not near.keys().isdisjoint(others)}
        del near[location]
        return [*near]

    def share(self, one: Location, other: Location) -> None:
        """Note that two locations may share memory; nothing follows from that for what each of them may share with others."""
        self.share_all(one, (other,))

    def share_all(self, one: Location, others: Iterable[Location]) -> None:
        """Note that a location may share memory with each of others."""
        known = self.partners.get(one, NO_LOCATIONS)
        added = {other: None for other in others if other is not one and other not in known}
        for other in added:
            self.partners[other] = {**self.partners.get(other, NO_LOCATIONS), one: None}
        if added:
            self.partners[one] = {**known, **added}

    def drop_partners(self, outside: Iterable[Location]) -> None:
        """Forget what was noted of locations that are gone: nothing follows from it for those that share memory with them.

        Arrays from ``outside`` never are.
        """
        kept = {*self.memory, *self.stored_arrays, *outside}
        for location, others in list(self.partners.items()):
            if location not in kept:
                del self.partners[location]
            elif not kept >= others.keys():
                self.partners[location] = {other: None for other in others if other in kept}

    def relate(self, one: HeapKey, other: HeapKey, same: Operand) -> None:
        """Note that two objects may be one: a bool says whether they are."""
        self.kin[one] = MappingProxyType({**self.kin.get(one, NO_KEYS), other: same})
        self.kin[other] = MappingProxyType({**self.kin.get(other, NO_KEYS), one: same})

    def sameness(self, one: HeapKey | None, other: HeapKey | None) -> Operand:
        """A bool that says whether two objects are one; None is no object."""
        if one is None or other is None:
            return FALSE
        return TRUE if one is other else self.kin.get(one, NO_KEYS).get(other, FALSE)

    def stored(self, location: Location, loc: Loc) -> None:
        """Note that a location was written to: what may share its memory is doubtful from here on.

        A store to a list changes neither the arrays in it nor other lists of them: which objects are one is known of the objects.
        """
        is_of_list = isinstance(self.memory[location].type, List)
        for partner in self.partners.get(location, NO_LOCATIONS):
            if not (is_of_list and partner in self.memory and isinstance(self.memory[partner].type, Array | List)):
                self.stale.setdefault(partner, loc)
                for alias, bases in self.bases.items():
                    if partner in bases:  # an array that may be the partner is as doubtful
                        self.stale.setdefault(alias, loc)
        if not is_of_list:
            for other in self.through_lists(location):
                self.stale.setdefault(other, loc)

    def through_lists(self, location: Location) -> list[Location]:
        """The locations that may be an array, or hold it, since lists hold the same arrays."""

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
        """What an object of known structure holds."""
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
    """Is it a list, or a tuple that was made of one, whose length is not known while compiling?"""
    return isinstance(binding, Obj) and binding.key.kind == "list" and isinstance(state.heap[binding.key], Ref)


def memory_of(content: Any) -> Location | None:
    """The memory of a list of any length, by its content; None of a list whose items are known."""
    return content.location if isinstance(content, Ref) else None


def is_row(content: Any) -> bool:
    """Is it the content of a list that is an item of a list of lists, seen in the memory of that one?"""
    return isinstance(content, Ref) and bool(content.path) and content.path[0].spec == ROW


def row_at(location: Location, index: Operand, owner: Operand = UNDEF, item: Operand = UNDEF) -> Ref:
    """The content of a list that is an item of a list of lists; ``item`` is its value where the list of lists is ``owner``."""
    return Ref(location, (Step(ROW, (index, owner, item)),))


def is_none(binding: Any) -> bool:
    """Is this None, and known to be?"""
    return isinstance(binding, Static) and binding.value is None


def is_slice(binding: Any) -> bool:
    """Is this a slice?"""
    return isinstance(binding, Iter) and binding.kind == "slice" or isinstance(binding, Static) and isinstance(binding.value, slice)


def is_plain_tuple(binding: Binding) -> bool:
    """Is it a tuple of known length, and no named one?"""
    return isinstance(binding, Tup) and not isinstance(binding, View) and binding.kind is None


def is_taken_whole(binding: Binding) -> bool:
    """Does NumPy take it for one object: an iterator, a dict, a view of one, or a set?"""
    match binding:
        case View() | Generator() | Obj(HeapKey(kind="dict")):
            return True
        case Iter(key=key):
            return key is not None
    return False


def python_class(binding: Binding) -> type | None:
    """The class of a text or set that is not known while compiling; None for all else."""
    match binding:
        case Num(Value(type=Object() as type_)):
            return type_.python_class
    return None


def known_key(held: Any) -> Any:
    """The value of a dict key that is known while compiling; ``MISSING`` if the key is computed."""
    match held:
        case Static(value):
            return value
        case Num(Const(value)):
            return value
        case Tup(items):
            keys = tuple(map(known_key, items))
            return MISSING if any(isinstance(key, Missing) for key in keys) else keys
    return MISSING


def held_items(binding: Any, state: State) -> list[Binding] | None:
    """The items of a tuple, or of a list whose length is known; None for all else."""
    if isinstance(binding, Tup):
        return list(binding.items)
    is_known = isinstance(binding, Obj) and binding.key.kind == "list" and not isinstance(state.heap[binding.key], Ref)
    return [item for _, item in state.entries(binding.key)] if is_known else None


def element_of(binding: Binding) -> Binding:
    """The number in an array without axes."""
    return Ref(binding.location, (*binding.path, Step("", ()))) if isinstance(binding, Ref) else binding


__all__ = [
    "ABSENT", "Above", "Binding", "Bound", "Broken", "Choice", "External", "Frozen", "Fun", "Generator", "HeapKey", "Iter", "Keys",
    "Known", "Location", "MISSING", "Maybe", "Missing", "NO_KEYS", "Name", "Num", "Obj", "OneOf", "Partial", "REFUSED", "ROW", "Ref",
    "State", "Static", "Step", "Tup", "View", "element_of", "held_items", "is_long", "is_none", "is_plain_tuple", "is_row", "is_slice",
    "is_taken_whole", "memory_of", "replace", "row_at",
]  # fmt: skip
