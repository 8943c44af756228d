"""A second, unobserved run of the user's function: copies of the arguments, snapshots of their contents, and whether it may be observed.

Shared objects stay shared, and arrays keep their memory layout. Objects without numbers (functions, modules,
strings, library objects) are passed as they are: changing one is a side effect, which the frontend knows.
Iterators cannot be copied.
"""

from __future__ import annotations

import collections
import collections.abc
import contextlib
import copy
import operator
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symgrad.abstraction import is_record, record_names
from symgrad.containers import CONTAINERS, call_of_base, container_of, copied_container, items_held
from symgrad.frontend.containers.results import Lowered
from symgrad.frontend.objects.opaque import GENERATORS
from symgrad.identity import Same
from symgrad.ir.core import Call, Const, Op, Operand, Value, reachable, walk
from symgrad.ir.types import INT, Array, List, Object, Scalar, Type
from symgrad.kinds import slots_of
from symgrad.location import Loc
from symgrad.ops.declare import CUTS, USER_ROWS
from symgrad.runtime.support import refill
from symgrad.text import root_of

#: containers whose own ``copy`` runs no user code
PLAIN = (set, bytearray, collections.OrderedDict, collections.defaultdict, collections.Counter)


class NotCopied(Exception):
    """An argument that cannot be copied; the text describes it."""


def same(leaf: Any) -> Any:
    """A number unchanged."""
    return leaf


@dataclass(slots=True)
class Duplicate:
    """Copies of one call's arguments; ``change`` is applied to each number and array of numbers."""

    change: Callable[[Any], Any] = same
    done: dict[Same, Any] = field(default_factory=dict)
    alive: list[Any] = field(default_factory=list)  #: the originals, kept alive so that their identities stay unique

    def all(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments by position and by name."""
        return tuple(map(self.of, args)), {name: self.of(value) for name, value in kwargs.items()}

    def of(self, value: Any) -> Any:
        """The copy of one value."""
        kind = type(value)
        if kind in (int, bool, str, bytes, types.NoneType):
            return value
        if kind in (float, complex) or isinstance(value, np.generic):
            return self.change(value)
        if Same(value) in self.done:
            return self.done[Same(value)]
        self.alive.append(value)
        duplicate = self.done[Same(value)] = self.begun(value)
        if isinstance(value, tuple):
            return duplicate
        if kind in CONTAINERS or container_of(kind) is not None:
            self.fill_container(value, duplicate)
        elif kind is collections.deque:
            duplicate.extend(map(self.of, value))
        elif duplicate is not value and not isinstance(value, np.ndarray | set | bytearray):
            self.fill(value, duplicate)
        return duplicate

    def begun(self, value: Any) -> Any:
        """The copy before its contents are copied, because these may contain it."""
        kind = type(value)
        if isinstance(value, np.ndarray):
            return self.change(array_copy(value))
        if kind in CONTAINERS or container_of(kind) is not None:
            return copied_container(value)
        if kind is tuple:
            return tuple(map(self.of, value))
        if isinstance(value, tuple) and hasattr(kind, "_fields"):
            return kind._make(map(self.of, value))
        if kind is collections.deque:
            return collections.deque(maxlen=value.maxlen)
        if kind in PLAIN:
            return copy.copy(value)
        if isinstance(value, collections.abc.Iterator):
            raise NotCopied(f"it is passed an iterator ({kind.__name__}), which can be iterated over only once")
        if isinstance(value, list | dict | tuple | set):
            raise NotCopied(f"it is passed a {kind.__name__}, which symgrad does not copy")
        if not is_record(value):
            return value
        if kind is types.SimpleNamespace:
            return kind()
        try:
            return object.__new__(kind)
        except TypeError:
            raise NotCopied(f"it is passed a {kind.__name__}, which symgrad does not copy") from None

    def fill_container(self, value: Any, duplicate: Any) -> None:
        """Fill the copy of a list or dict, of any class, with copies of its items and attributes."""
        if isinstance(value, list):
            refill(duplicate, [*map(self.of, items_held(value))])
        else:
            refill(duplicate, [(key, self.of(item)) for key, item in items_held(value)])
        if container_of(type(value)) is not None and getattr(value, "__dict__", value) is not value:
            vars(duplicate).update((name, self.of(held)) for name, held in vars(value).items())

    def fill(self, value: Any, duplicate: Any) -> None:
        """Set the attributes of the copy of an instance, bypassing its class's ``__setattr__``."""
        if hasattr(value, "__dict__"):
            vars(duplicate).update((name, self.of(held)) for name, held in vars(value).items())
        for slot in slots_of(type(value)):
            with contextlib.suppress(AttributeError):  # the slot is empty
                slot.__set__(duplicate, self.of(slot.__get__(value, type(value))))


def array_copy(value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A copy that is contiguous if and only if the array is: views and copies depend on it.

    >>> array_copy(np.ones((4, 4))[::2, ::2]).flags.forc, array_copy(np.ones((2, 3)).T).flags.fnc
    (False, True)
    """
    if value.flags.forc or value.ndim == 0:
        return value.copy(order="K")
    spread = np.empty([2 * extent for extent in value.shape], value.dtype)[(slice(None, None, 2),) * value.ndim]
    if not value.nbytes > 0 or spread.flags.forc:
        return value.copy(order="K")
    spread[...] = value
    return spread


@dataclass(slots=True)
class Snapshot:
    """The contents of arrays, lists, dicts and instances among some arguments, for restoring after a run of the function."""

    held: list[tuple[Any, Any]] = field(default_factory=list)
    slots: list[tuple[types.MemberDescriptorType, Any, Any]] = field(default_factory=list)  #: slots with the instance and its content
    seen: set[Same] = field(default_factory=set)

    def take(self, value: Any) -> None:
        """Record the contents of a value, recursively."""
        if type(value) in (int, float, complex, bool, str, types.NoneType) or Same(value) in self.seen:
            return
        self.seen.add(Same(value))
        if isinstance(value, np.ndarray):
            self.held.append((value, value.copy(order="K")))
            return
        if isinstance(value, collections.abc.Iterator):
            raise NotCopied(f"it is passed an iterator ({type(value).__name__}), which can be iterated over only once")
        inner: Any = ()
        if isinstance(value, list | collections.deque):
            inner = list(items_held(value)) if isinstance(value, list) else list(value)
            self.held.append((value, inner))
        elif isinstance(value, tuple):
            inner = value
        elif isinstance(value, dict):
            content = dict(items_held(value))
            self.held.append((value, content))
            inner = content.values()
        elif is_record(value):
            if hasattr(value, "__dict__"):
                self.held.append((vars(value), dict(vars(value))))
            self.slots += [(slot, value, in_slot(slot, value)) for slot in slots_of(type(value))]
            inner = [getattr(value, name) for name in record_names(value)]
        if container_of(type(value)) is not None and getattr(value, "__dict__", value) is not value:
            self.take(vars(value))
        for item in list(inner):
            self.take(item)

    def changed(self) -> bool:
        """Whether the contents of a list, dict, deque or instance have changed; arrays do not count."""
        is_other = any(in_slot(slot, instance) is not held for slot, instance, held in self.slots)
        return is_other or any(not isinstance(value, np.ndarray) and not holds_still(value, held) for value, held in self.held)

    def put_back(self) -> bool:
        """Restore all contents; return whether a list, dict, deque or instance had changed."""
        changed = self.changed()
        for value, held in self.held:
            if isinstance(value, np.ndarray):
                if value.flags.writeable and value.tobytes() != held.tobytes():
                    value[...] = held
            elif not holds_still(value, held):
                call_of_base(value, "clear")
                call_of_base(value, "update" if isinstance(value, dict) else "extend", held)
        for slot, instance, held in self.slots:
            if in_slot(slot, instance) is not held:
                slot.__delete__(instance) if held is EMPTY else slot.__set__(instance, held)
        return changed


EMPTY = object()  #: the content of an empty slot


def in_slot(slot: types.MemberDescriptorType, instance: Any) -> Any:
    """The content of a slot of an instance."""
    try:
        return slot.__get__(instance, type(instance))
    except AttributeError:
        return EMPTY


def holds_still(value: Any, held: Any) -> bool:
    """Whether a list, dict or deque contains the same objects in the same order."""
    if not isinstance(value, list | dict):
        return len(value) == len(held) and all(one is other for one, other in zip(value, held, strict=True))
    now = list(items_held(value))
    if isinstance(value, list):
        return len(now) == len(held) and all(one is other for one, other in zip(now, held, strict=True))
    return [key for key, _ in now] == [*held] and all(one is held[key] for key, one in now)


# ------------------------------------------------------------------ whether a second run may be observed


#: calls that store in their argument
STORES = (setattr, delattr, operator.setitem, operator.delitem, refill, np.copyto)
#: methods that store in lists, sets and deques
STORING = frozenset({"append", "extend", "pop", "add", "discard", "sort"})
#: the types of objects whose content the frontend tracks
FOLLOWED = tuple(map(Object, ("list", "dict", "record")))
#: the type of Python sets that a program creates for itself (``frontend/containers/growing_sets.py``)
OWN = Object("container")
#: constructors of generators that draw the same numbers for the same seed
SEEDED = (np.random.default_rng, np.random.RandomState)


def ops_of(lowered: Lowered) -> Iterator[Op]:
    """Every op of a function and of its callees."""
    for func in reachable(lowered.func):
        yield from walk(func.body)


def why_once(lowered: Lowered, names: tuple[str, ...]) -> tuple[str, Loc] | None:
    """Why, and where, a second run of a function would be observable; None if it would not. ``names`` are its parameters."""
    makers: dict[Operand, Call] = {out: op for op in ops_of(lowered) if isinstance(op, Call) for out in op.outs}
    outsiders = {value for value, text in lowered.inputs if root_of(text.removeprefix("(")) not in names}
    for op in ops_of(lowered):
        if isinstance(op, Call) and op.name == "opaque" and not is_repeatable(op, makers):
            store = stored_in(op, makers)
            if isinstance(store, Value) and store not in outsiders:
                continue
            what = "it assigns to a global variable" if isinstance(store, Const) else effect_in_words(op.args[0], makers)
            return what, op.loc
    outside = next((root for root in lowered.mutated if root not in ("", *names)), None)  # no name: a copy
    if outside is not None:
        return "it writes to an array or list from outside", lowered.func.loc
    if lowered.keeps:
        return "it calls a cached function", lowered.keeps[0]
    return None


def stores(lowered: Lowered) -> bool:
    """Whether a function stores in objects that it receives."""
    makers: dict[Operand, Call] = {out: op for op in ops_of(lowered) if isinstance(op, Call) for out in op.outs}
    calls = [op for op in ops_of(lowered) if isinstance(op, Call)]
    return any(op.name == "store_outside" or op.name == "opaque" and stored_in(op, makers) is not None for op in calls)


def stored_in(op: Call, makers: Mapping[Operand, Call]) -> Operand | None:
    """The object that a call emitted by the frontend stores in; None for any other call."""
    function = op.args[0]
    if isinstance(function, Const):
        return op.args[1] if function.value in STORES else None
    attribute = makers.get(function)
    if attribute is None or attribute.name != "opaque_attribute" or attribute.settings["attribute"] not in STORING:
        return None
    owner = attribute.args[0]
    return owner if owner.type in FOLLOWED else None


def is_repeatable(op: Call, makers: Mapping[Operand, Call]) -> bool:
    """Whether a call creates a generator from a seed, or draws from such a generator, or uses a set created in the function."""
    function = op.args[0]
    if isinstance(function, Const) and any(value.type == OWN for value in (*op.args[1:], *op.outs)):
        return True
    if isinstance(function, Const):
        return function.value in SEEDED and len(op.args) > 1 and op.args[1].type == INT
    attribute = makers.get(function)
    owner = None if attribute is None else makers.get(attribute.args[0])
    source = None if owner is None or owner.name != "generator" else makers.get(owner.args[0])
    return source is not None and source.name == "opaque" and is_repeatable(source, makers)


def effect_in_words(function: Operand, makers: Mapping[Operand, Call]) -> str:
    """The effect of an opaque call, in words."""
    attribute = makers.get(function)
    value = function.value if isinstance(function, Const) else None
    if value is print:
        return "it prints"
    if value in STORES:
        return "it stores a value in an object that was passed to it"
    if (getattr(value, "__module__", None) or "").startswith("numpy.random") or isinstance(
        getattr(value, "__self__", None), np.random.RandomState
    ):
        return "it draws random numbers"
    if attribute is not None and attribute.name == "opaque_attribute":
        owner, name = attribute.args[0], attribute.settings["attribute"]
        drawing = owner.type == Object("generator") or isinstance(owner, Const) and isinstance(owner.value, GENERATORS)
        return "it draws random numbers" if drawing else f"it calls .{name}(), which may have effects"
    return f"it calls {getattr(value, '__qualname__', 'an object')}, which may have effects"


def is_cut(lowered: Lowered) -> bool:
    """Whether derivatives of the function deliberately differ from the mathematical ones."""
    return any(isinstance(op, Call) and (op.name in CUTS or op.name in USER_ROWS) for op in ops_of(lowered))


def is_custom(lowered: Lowered) -> bool:
    """Whether the forward function of a ``custom_vjp`` computes a value; it may differ from the function's."""
    return any(isinstance(op, Call) and op.name == "custom" for op in ops_of(lowered))


def dtypes_of(lowered: Lowered) -> frozenset[str]:
    """The dtypes of the values in a function."""
    return frozenset(name for op in ops_of(lowered) for out in op.outs for name in names_in(out.type))


def names_in(type_: Type) -> Iterator[str]:
    """The dtypes in a type."""
    if isinstance(type_, List):
        yield from names_in(type_.item)
    elif isinstance(type_, Array | Scalar) and type_.dtype is not None:
        yield type_.dtype
