"""Bindings: the values of names during lowering.

Memory is in SSA form: an array object is a ``Location`` whose content is the version in ``State.memory`` (``program_state``); a name
holds a ``Ref`` (location and view path).
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from symgrad.ir.core import UNDEF, Const, Operand, Value
from symgrad.ir.types import Object
from symgrad.location import NOWHERE, Loc


@dataclass(eq=False, slots=True)
class Location:
    """One mutable object of the running program: an array or a list of any length."""

    name: str | None = None
    owner: Loc = NOWHERE
    read_only: bool = False  #: NumPy forbids stores to it
    outside: bool = False  #: the caller holds it
    may_be_view: bool = False  #: another array's memory layout decides whether it is a view or a copy


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a view path: its spelling in an index path, and its operands.

    A step ``@name`` is a row of the vocabulary that returns a read-only view: the step shows the result of the row
    for the part that the path before it shows. Its last two operands are the array's content when the view was
    created, and the part that the view showed then.
    """

    spec: str
    operands: tuple[Operand, ...] = ()
    read_only: bool = False
    settings: tuple[tuple[str, Any], ...] = ()  #: of a row

    @property
    def row(self) -> str | None:
        """The row of the step, if an index path cannot express it."""
        return self.spec[1:] if self.spec.startswith("@") else None


@dataclass(frozen=True, slots=True, eq=False)
class Binding:
    """Base of the kinds of binding; abstract. A kind without ``__eq__`` compares by identity."""


@dataclass(frozen=True, slots=True)
class Num(Binding):
    """An immutable value: a number, or an object that is only passed on."""

    operand: Operand


@dataclass(frozen=True, slots=True)
class Ref(Binding):
    """An array, or a list of any length: a location, and the path of the view of it."""

    location: Location
    path: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Tup(Binding):
    """A tuple; ``kind`` is its class when it is a named tuple."""

    items: tuple[Binding, ...]
    kind: Any = None


@dataclass(frozen=True, slots=True)
class View(Tup):
    """``d.items()``, ``d.values()`` or ``d.keys()``: the content of the dict ``owner`` at the call, to compare with its present content."""

    owner: Any = None
    pairs: bool = False  #: the items are pairs of key and value
    keys: bool = False  #: the items are the keys

    def is_current(self, heap: Mapping[HeapKey, Any], place: int | None = None) -> bool:
        """Whether the dict still holds the same values (or the one at a place)."""
        if self.owner is None:
            return True
        content = heap.get(self.owner)
        if not isinstance(content, tuple) or len(content) != len(self.items):
            return False
        if self.keys:
            return all(isinstance(held, Static) and held.value == key for (key, _), held in zip(content, self.items, strict=True))
        pairs = list(zip(content, self.items, strict=True))
        chosen = pairs if place is None else pairs[place : place + 1]
        return all(now == (held.items[1] if self.pairs and isinstance(held, Tup) else held) for (_, now), held in chosen)


@dataclass(frozen=True, slots=True)
class Obj(Binding):
    """A list, dict or instance of static structure; its content is in ``State.heap``."""

    key: HeapKey


@dataclass(eq=False, slots=True)
class HeapKey:
    """The identity of a mutable object of static structure."""

    kind: str  #: "list", "dict" or "record"
    cls: Any = None
    doubtful: bool = False  #: on one of the paths to this point, the object does not exist
    exact: type | None = None  #: its class, if it is none of ``list``, ``dict`` and ``cls``
    unordered: bool = False  #: a dict whose order of keys depends on the path
    sites: tuple[Any, ...] = ()  #: locations that may have created a dict, as far as they are known


@dataclass(frozen=True, slots=True)
class Static(Binding):
    """A static Python object: a function, module, class, string, None, dtype. Equal strings are the same."""

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
    """A nested function or lambda with its enclosing frame."""

    node: ast.FunctionDef | ast.Lambda
    frame: Any
    defaults: tuple[tuple[str, Binding], ...] = ()
    keeps: bool = False  #: memoised, as by ``functools.lru_cache``
    manages: bool = False  #: ``contextlib.contextmanager`` decorates it
    attributes: HeapKey | None = None  #: its attributes, if the program assigns to one


@dataclass(frozen=True, slots=True)
class Bound(Binding):
    """A method and its owner."""

    owner: Binding
    name: str
    function: Any = None


@dataclass(frozen=True, slots=True)
class Frozen(Binding):
    """A distribution of SciPy's with parameters: the arguments of its functions after the first."""

    distribution: str
    args: tuple[Binding, ...] = ()
    kwargs: tuple[tuple[str, Binding], ...] = ()


@dataclass(frozen=True, slots=True)
class Partial(Binding):
    """A function with some arguments bound; ``again``: or the result of ``checkpoint``, which runs again in the backward half."""

    function: Binding
    args: tuple[Binding, ...] = ()
    kwargs: tuple[tuple[str, Binding], ...] = ()
    again: bool = False


@dataclass(frozen=True, slots=True)
class Choice(Binding):
    """One of two functions, or of two values of different classes, chosen by an evaluated test."""

    test: Operand
    then: Binding
    orelse: Binding


@dataclass(frozen=True, slots=True)
class Maybe(Binding):
    """A value that exists on some paths only: a bool that says whether, and the value; otherwise it is ``absent``, None or no value.

    Where the value is absent, its components are zeros that nothing reads.
    """

    present: Operand
    inner: Binding
    absent: Binding


@dataclass(frozen=True, slots=True)
class OneOf(Binding):
    """One of several constants, given by an index into them."""

    place: Operand
    values: tuple[Static, ...]


@dataclass(frozen=True, slots=True)
class External(Binding):
    """An instance from outside, whose attributes are read on demand; ``text`` is the expression that reads it."""

    value: Any
    text: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, External) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


@dataclass(frozen=True, slots=True)
class Above(Binding):
    """``super()``: an instance, and the class after which lookup starts."""

    owner: Binding
    cls: Any


@dataclass(frozen=True, slots=True)
class Iter(Binding):
    """An iterator without consumed items: ``enumerate``, ``zip``, ``reversed``, ``map`` and others; also a ``range``, which has no state.

    ``key`` is its identity: the heap says whether it has been used. If it is used several times, lowering restarts
    and creates a record with a position instead (``stepping``).
    """

    kind: Any  #: a word, or the Python function that creates it
    parts: tuple[Any, ...]
    key: HeapKey | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Generator(Binding):
    """A call of a generator function: its body is inlined where its values are consumed, once; ``key`` says whether it has been."""

    node: ast.FunctionDef
    frame: Any
    bound: tuple[tuple[str, Binding], ...]
    key: HeapKey
    resumes: bool = False  #: whether it is resumed in several statements; its variables are then those of its frame: see ``resuming``


@dataclass(frozen=True, slots=True)
class Rest(Binding):
    """The arguments of a call from a star of dynamic length on: a list of them, and the refusal where they must be known one by one."""

    items: Binding
    refusal: Any
    node: Any


REFUSED = "its assignment was refused"


@dataclass(frozen=True, slots=True)
class Broken(Binding):
    """An unusable binding, with the reason; reading it is refused. ``sites``: the iterators that would need a position.

    ``pin`` is the expression that reads an integer or bool which, if it were static, would make it
    usable.
    """

    why: str
    hint: str = ""
    sites: frozenset[Any] = frozenset()
    pin: str | None = None

    @property
    def follows(self) -> bool:
        """Whether it is unusable only because the statement that assigns it was refused."""
        return self.why == REFUSED


@dataclass(frozen=True, slots=True)
class Missing(Binding):
    """Not bound."""


ROW = "row"  #: the step from a list of lists to an inner list: the index, the outer list when the item was read, and the item then
MISSING = Missing()
ABSENT = Static(None)
Name = tuple[Any, str]
#: the objects that an object may be, each with the bool that says whether it is; it is replaced, never changed
Keys = Mapping["HeapKey", Operand]
NO_KEYS: Keys = MappingProxyType({})

#: path conditions: on bools; on indices and numbers, whether they equal a value or are among several
Known = Mapping[Operand | tuple[Operand, Hashable], bool]


def memory_of(content: Any) -> Location | None:
    """The memory of a list of any length, by its content; None for a list of static items."""
    return content.location if isinstance(content, Ref) else None


def is_row(content: Any) -> bool:
    """Whether the content is that of a list inside a list of lists, in the memory of the outer list."""
    return isinstance(content, Ref) and bool(content.path) and content.path[0].spec == ROW


def row_at(location: Location, index: Operand, owner: Operand = UNDEF, item: Operand = UNDEF) -> Ref:
    """The content of a list inside a list of lists; ``item`` is its value where the outer list is ``owner``."""
    return Ref(location, (Step(ROW, (index, owner, item)),))


def is_none(binding: Any) -> bool:
    """Whether the binding is statically None."""
    return isinstance(binding, Static) and binding.value is None


def is_slice(binding: Any) -> bool:
    """Whether the binding is a slice."""
    return isinstance(binding, Iter) and binding.kind == "slice" or isinstance(binding, Static) and isinstance(binding.value, slice)


def is_plain_tuple(binding: Binding) -> bool:
    """Whether the binding is a tuple of static length, but no named one."""
    return isinstance(binding, Tup) and not isinstance(binding, View) and binding.kind is None


def is_range(binding: Any) -> bool:
    """Whether the binding is a ``range``."""
    return isinstance(binding, Iter) and binding.kind == "range" and binding.key is None


def is_taken_whole(binding: Binding) -> bool:
    """Whether NumPy treats the binding as one object: an iterator, a dict, a view of one, or a set."""
    match binding:
        case View() | Generator() | Obj(HeapKey(kind="dict")):
            return True
        case Iter(key=key):
            return key is not None
    return False


def python_class(binding: Binding) -> type | None:
    """The class of a dynamic text or set; None for all else."""
    match binding:
        case Num(Value(type=Object() as type_)):
            return type_.python_class
    return None


def known_key(held: Any) -> Any:
    """The value of a static dict key; ``MISSING`` if the key is dynamic."""
    match held:
        case Static(value):
            return value
        case Num(Const(value)):
            return value
        case Tup(items):
            keys = tuple(map(known_key, items))
            return MISSING if any(isinstance(key, Missing) for key in keys) else keys
    return MISSING


def element_of(binding: Binding) -> Binding:
    """The number in an array without axes."""
    return Ref(binding.location, (*binding.path, Step("", ()))) if isinstance(binding, Ref) else binding


# ------------------------------------------------------------------ arrays inside lists


@dataclass(slots=True)
class Link:
    """The place of an array in a list of pairwise distinct arrays: the list, and the index.

    ``versions`` are the contents of the list in which the array is at that index.
    """

    owner: Location
    index: Operand
    versions: set[Operand]


__all__ = ["ABSENT", "MISSING", "NO_KEYS", "REFUSED", "ROW", "Above", "Binding", "Bound", "Broken", "Choice", "External", "Frozen", "Fun"]
__all__ += ["Generator", "HeapKey", "Iter", "Keys", "Known", "Link", "Location", "Maybe", "Missing", "Name", "Num", "Obj", "OneOf"]
__all__ += ["Partial", "Ref", "Rest", "Static", "Step", "Tup", "View", "element_of", "is_none", "is_plain_tuple", "is_row", "is_slice"]
__all__ += ["is_taken_whole", "memory_of", "replace", "row_at"]
