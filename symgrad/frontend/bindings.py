"""What a name can be bound to while a function is lowered, and how two states of a program are joined.

Memory becomes values here: an array object is a ``Location`` whose content is the version in
``State.memory``; a name holds a ``Ref`` (location and view path). ``Skeleton`` is a binding without
its values: what loops need to know before their body has been lowered.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from typing import Any

from symgrad.ir.core import UNDEF, Const, Operand, Value
from symgrad.ir.types import UNDEFINED, UNKNOWN, Array, List, Type, join
from symgrad.location import NOWHERE, Loc


@dataclass(eq=False, slots=True)
class Location:
    """One mutable object of the running program: an array or a list of any length."""

    name: str | None = None
    owner: Loc = NOWHERE
    read_only: bool = False  #: NumPy does not let it be written to


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


@dataclass(frozen=True, slots=True)
class Static(Binding):
    """A Python object known while compiling: a function, module, class, string, None, dtype."""

    value: Any
    name: str | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


@dataclass(frozen=True, slots=True, eq=False)
class Fun(Binding):
    """A nested function or lambda with the frame it was made in."""

    node: ast.FunctionDef | ast.Lambda
    frame: Any
    defaults: tuple[tuple[str, Binding], ...] = ()
    keeps: bool = False  #: its results are kept, as ``functools.lru_cache`` does it


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
    """A function with arguments that are given already."""

    function: Binding
    args: tuple[Binding, ...] = ()
    kwargs: tuple[tuple[str, Binding], ...] = ()


@dataclass(frozen=True, slots=True)
class Choice(Binding):
    """One of two functions, by a test that has been made."""

    test: Operand
    then: Binding
    orelse: Binding


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
    """Something to loop over once: ``range``, ``enumerate``, ``zip``, ``reversed`` and their like."""

    kind: str
    parts: tuple[Any, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Generator(Binding):
    """A call of a function that yields: its body is lowered where the values are gone over, once; ``key`` tells whether it has been."""

    node: ast.FunctionDef
    frame: Any
    bound: tuple[tuple[str, Binding], ...]
    key: HeapKey


@dataclass(frozen=True, slots=True)
class Broken(Binding):
    """Not usable here, and why; reading it is refused."""

    why: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Missing(Binding):
    """Not bound."""


MISSING = Missing()
Name = tuple[Any, str]


@dataclass(slots=True)
class State:
    """Everything that changes as a program runs: names, memory, objects, and which memory is doubtful.

    ``partners`` are pairs of locations that may share memory; ``stale`` are those whose partner was
    written to, with the place of the store. ``dead``: this path has raised.
    """

    names: dict[Name, Binding] = field(default_factory=dict)
    memory: dict[Location, Operand] = field(default_factory=dict)
    heap: dict[HeapKey, tuple[tuple[Any, Binding], ...] | Ref] = field(default_factory=dict)
    partners: dict[Location, frozenset[Location]] = field(default_factory=dict)
    stale: dict[Location, Loc] = field(default_factory=dict)
    codes: frozenset[int] = frozenset({0})
    dead: bool = False

    def copy(self) -> State:
        return State(dict(self.names), dict(self.memory), dict(self.heap), dict(self.partners), dict(self.stale), self.codes, self.dead)

    def pair(self, new: Location, old: Location) -> None:
        """Note that two locations may share memory; what ``old`` may share, ``new`` may share too."""
        for other in {old} | self.partners.get(old, frozenset()):
            if other is not new:
                self.partners[new] = self.partners.get(new, frozenset()) | {other}
                self.partners[other] = self.partners.get(other, frozenset()) | {new}

    def stored(self, location: Location, loc: Loc) -> None:
        """Note that a location was written to: what may share its memory is doubtful from here on.

        What is done to a list is not done to the arrays in it.
        """
        is_of_list = isinstance(self.memory[location].type, List)
        for partner in self.partners.get(location, frozenset()):
            if not (is_of_list and partner in self.memory and isinstance(self.memory[partner].type, Array)):
                self.stale.setdefault(partner, loc)

    def entries(self, key: HeapKey) -> tuple[tuple[Any, Binding], ...]:
        """What an object of known structure holds."""
        content = self.heap[key]
        assert not isinstance(content, Ref)
        return content

    def become(self, other: State) -> None:
        """Take over another state."""
        self.names, self.memory, self.heap = other.names, other.memory, other.heap
        self.partners, self.stale, self.codes, self.dead = other.partners, other.stale, other.codes, other.dead


# ------------------------------------------------------------------ skeletons


@dataclass(frozen=True, slots=True)
class Skeleton:
    """The form of a binding: what it is made of, with types for values.

    ``form`` is "num", "array", "tuple", "same" (a binding that must not change), "missing" or "broken".
    """

    form: str
    type: Type = UNDEFINED
    items: tuple[Skeleton, ...] = ()
    same: Any = None


NOTHING = Skeleton("missing")


def skeleton(binding: Binding, state: State, type_of: Any) -> Skeleton:
    """The form of a binding in a state; ``type_of(ref)`` is the type of what a ``Ref`` shows."""
    match binding:
        case Missing():
            return NOTHING
        case Num(operand):
            return Skeleton("num", operand.type)
        case Ref():
            return Skeleton("array", type_of(binding))
        case Tup(items, kind):
            return Skeleton("tuple", items=tuple(skeleton(i, state, type_of) for i in items), same=kind)
        case Broken(why):
            return Skeleton("broken", same=why)
    return Skeleton("same", same=binding)


def _opaque(value: Skeleton) -> bool:
    return value.form == "same" and isinstance(value.same, Static) and (value.same.value is None or isinstance(value.same.value, str))


def merge(a: Skeleton, b: Skeleton) -> Skeleton:
    """The form that covers both."""
    if a == b:
        return a
    if a.form == "missing":
        return b
    if b.form == "missing":
        return a
    if {a.form, b.form} <= {"num", "array"}:
        both = join(a.type, b.type)
        form = "num" if a.form == b.form == "num" and not isinstance(both, Array) else "array"
        return Skeleton(form, both)
    if a.form == b.form == "tuple" and len(a.items) == len(b.items) and a.same is b.same:
        return Skeleton("tuple", items=tuple(map(merge, a.items, b.items)), same=a.same)
    if _opaque(a) and b.form == "num" or _opaque(b) and a.form == "num" or _opaque(a) and _opaque(b):
        return Skeleton("num", UNKNOWN)
    return Skeleton("broken", same="it is bound to different kinds of things on different paths")


def leaves(form: Skeleton) -> list[Skeleton]:
    """The values a form is made of, in order."""
    if form.form == "tuple":
        return [leaf for item in form.items for leaf in leaves(item)]
    return [form] if form.form in ("num", "array") else []


def operands_of(binding: Binding, form: Skeleton, read: Any, stale: Any) -> list[Operand]:
    """The operands that fill a form from a binding; ``read`` gives a ``Ref``'s value, ``stale`` says which cannot be read."""
    match form.form:
        case "tuple":
            items = binding.items if isinstance(binding, Tup) else (MISSING,) * len(form.items)
            return [o for item, part in zip(items, form.items, strict=True) for o in operands_of(item, part, read, stale)]
        case "num" | "array":
            match binding:
                case Num(operand):
                    return [operand]
                case Ref():
                    return [UNDEF if stale(binding) else read(binding)]
                case Static(value=value) if value is None or isinstance(value, str):
                    return [Const(value)]
            return [UNDEF]
    return []


def rebuild(form: Skeleton, values: list[Value], state: State, name: str | None, loc: Loc) -> Binding:
    """A binding of a form, made of values (taken from the front of the list)."""
    match form.form:
        case "num":
            return Num(values.pop(0))
        case "array":
            location = Location(name, loc)
            state.memory[location] = values.pop(0)
            return Ref(location)
        case "tuple":
            return Tup(tuple(rebuild(item, values, state, name, loc) for item in form.items), form.same)
        case "missing":
            return MISSING
        case "broken":
            return Broken(str(form.same))
    assert isinstance(form.same, Binding)
    return form.same


def array_leaves(binding: Binding) -> list[Location | None]:
    """The location behind each leaf of a binding, None for numbers; parallel to ``leaves`` of its form."""
    match binding:
        case Ref(location):
            return [location]
        case Num():
            return [None]
        case Tup(items):
            return [x for item in items for x in array_leaves(item)]
    return []


def is_list(type_: Type) -> bool:
    return isinstance(type_, List)


__all__ = [
    "MISSING", "NOTHING", "Above", "Binding", "Bound", "Broken", "Choice", "External", "Frozen", "Fun", "Generator", "HeapKey", "Iter",
    "Location", "Missing", "Name", "Num", "Obj", "Partial", "Ref", "Skeleton", "State", "Static", "Step", "Tup", "View", "array_leaves",
    "is_list", "leaves", "merge", "operands_of", "rebuild", "replace", "skeleton",
]  # fmt: skip
