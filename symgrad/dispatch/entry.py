"""One signature and its code, and whether the code is still valid for the arguments and for the captured state.

A ``Trail`` records the attempts that led to the code of a call. It is kept with that code, for the next signature and for other
derivatives of the function. ``Names`` and ``relied_tests`` write the guard's tests of the captured state, as expressions;
``examples_of`` the arguments with which a saved module checks itself.
"""

from __future__ import annotations

import contextlib
import enum
import inspect
import re
import types
import weakref
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any

import numpy as np

from symgrad.abstraction import abstract_value, array_leaves, laid_out_as
from symgrad.errors import UnsureAlias
from symgrad.identity import Same
from symgrad.ir.types import Array
from symgrad.kinds import conversion, native
from symgrad.pipeline.readings import Reading, Readings
from symgrad.runtime.load import LOCK
from symgrad.signature import ASPECTS, QUESTIONS, Abstract, Compiled, Many, Relied, Signature, Tree, leaves_of
from symgrad.text import exact, is_name, item, literal, names_in, plain_key, respelled, root_of, value_of
from symgrad.verification.first_call import FirstCall


@dataclass(frozen=True, slots=True)
class World:
    """The captured state: objects and values read from outside when the function was lowered."""

    relied: tuple[Relied, ...]
    captured: tuple[tuple[str, Abstract], ...]
    related: tuple[tuple[str, str, bool], ...]
    apart: tuple[tuple[str, str], ...]
    objects: Mapping[str, Any]

    def is_as_it_was(self, function: types.FunctionType, arguments: Mapping[str, Any] | None, names: Collection[str]) -> bool:
        """Whether the captured state is unchanged. Without arguments, reads from the parameters ``names`` are not tested."""
        return (
            all(
                self.relies(function, relied, arguments or {})
                for relied in self.relied
                if arguments is not None or root_of(relied.text) not in names
            )
            and all(
                is_alike(read_captured(function, expression, self.objects, arguments or {}, item), item)
                for expression, item in self.captured
                if arguments is not None or root_of(expression) in self.objects or root_of(expression) not in names
            )
            and all(self.as_related(function, *pair, arguments or {}) for pair in self.related)
            and all(self.as_related(function, text, path, False, {}) for text, path in self.apart if root_of(path) not in names)
        )

    def relies(self, function: types.FunctionType, relied: Relied, arguments: Mapping[str, Any]) -> bool:
        """Whether an object that the code depends on is unchanged."""
        try:
            return relied.holds(evaluated(function, relied.text, self.objects, arguments))
        except Exception:
            return False

    def as_related(self, function: types.FunctionType, one: str, other: str, same: bool, arguments: Mapping[str, Any]) -> bool:
        """Whether two captured objects are identical, as they were (or were not) when the function was lowered."""
        first, second = (evaluated(function, text, self.objects, arguments) for text in (one, other))
        return (first is second) == same


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One signature and its code."""

    signature: Signature
    compiled: Compiled
    examples: tuple[str, ...] | None = None  #: texts of the first call's arguments, for the self-check of a saved module
    first: FirstCall | None = None  #: for code that is compared with the user's function at its first call
    trail: Any = None  #: the attempts that led to this code, kept alive with it

    @property
    def awaited(self) -> bool:
        """Whether its first call, with the comparison, is still due."""
        return self.first is not None and not self.first.passed

    def still_holds(self, function: types.FunctionType, arguments: Mapping[str, Any] | None) -> bool:
        """Whether captured values still have their types. Without arguments, reads from parameters are not tested."""
        return self.world.is_as_it_was(function, arguments, self.signature.names) and (
            arguments is None or all(self.pinned(function, text, value, arguments) for text, value in self.compiled.pins)
        )

    @property
    def world(self) -> World:
        """The captured state that the code reads."""
        return World(self.compiled.relied, self.compiled.captured, self.compiled.related, self.compiled.apart, self.compiled.objects)

    def pinned(self, function: types.FunctionType, text: str, value: Any, arguments: Mapping[str, Any]) -> bool:
        """Whether an integer still has the value with which it became part of the code."""
        try:
            now = evaluated(function, text, self.compiled.objects, arguments)
        except Exception:
            return False
        return type(now) is type(value) and bool(now == value)

    def writes(self, path: str) -> bool:
        """Whether the function writes to the array that this expression over its parameters reads."""
        return root_of(path) in self.compiled.mutated

    def outside_arrays(self) -> list[str]:
        """The expressions of the captured arrays."""
        leaves = (leaf for text, item in self.compiled.captured for leaf in leaves_of(text, item))
        return [text for text, item in leaves if isinstance(item, Array)]


def evaluated(function: types.FunctionType, expression: str, objects: Mapping[str, Any], arguments: Mapping[str, Any]) -> Any:
    """The current value of an expression over the function's globals, cells and arguments."""
    scope = dict(arguments)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):
            scope[name] = cell.cell_contents
    scope |= objects

    def read_name(name: str) -> Any:
        return scope[name] if name in scope else function.__globals__[name]

    return value_of(expression, read_name)


def read_captured(
    function: types.FunctionType, expression: str, objects: Mapping[str, Any], arguments: Mapping[str, Any], before: Abstract
) -> Abstract | None:
    """The current abstract value of an expression over the function's globals, cells and arguments, in the form of ``before``.

    None where it cannot be evaluated.
    """
    try:
        value = evaluated(function, expression, objects, arguments)
        is_other = isinstance(value, np.ndarray | np.generic) and conversion(value)  # the code would have to convert it
        abstract = None if is_other else abstract_value(value, stem(expression), whole=not isinstance(before, Tree | Many))
        if isinstance(abstract, Array) and isinstance(before, Array) and before.layout != "?":
            return laid_out_as(abstract, value)
        return abstract
    except Exception:
        return None


def is_alike(one: Abstract | None, other: Abstract) -> bool:
    """Whether two abstract values are equal except for the names of extents."""
    match one, other:
        case Array(shape=first), Array(shape=second) if first is not None and second is not None:
            return (one.dtype, one.layout) == (other.dtype, other.layout) and [e == 1 for e in first] == [e == 1 for e in second]
        case Tree(), Tree():
            return (one.kind, one.names) == (other.kind, other.names) and all(map(is_alike, one.items, other.items))
        case Many(), Many():
            return one.kind is other.kind and is_alike(one.item, other.item)
    return one == other


def is_converted(expression: str) -> bool:
    """Whether an expression reads an array or number of another library and converts it to a plain one."""
    return expression.endswith((".__array__()", "')")) and (".__array__()" in expression or ".astype('" in expression)


def stem(expression: str) -> str:
    """The stem of a captured expression's extent names."""
    return "".join(c if c.isalnum() else "_" for c in expression)


def refuse_overlap(function: types.FunctionType, arguments: Mapping[str, Any], entry: Entry) -> None:
    """Refuse different arrays over the same memory if one is written to: they have no separate gradients.

    Also refuse an argument that the function reads from outside as well.
    """
    leaves = [(path, leaf) for name, value in arguments.items() for path, leaf in array_leaves(name, value)]
    outside = [(text, evaluated(function, text, entry.compiled.objects, arguments)) for text in entry.outside_arrays()]
    distinct = [(one, other) for one, other, same in entry.compiled.related if not same]
    for (path, one), (other_path, other) in [*combinations(outside, 2), *combinations(leaves, 2), *product(outside, leaves)]:
        written = (path, other_path) in distinct if other_path in dict(outside) else entry.writes(path) or entry.writes(other_path)
        if written and (one is not other or path not in dict(leaves)) and _overlap(one, other):
            raise UnsureAlias(
                f"{path} and {other_path} share memory, and the function writes to it", hint="pass a .copy() of one of the two"
            )


def refuse_shared(function: types.FunctionType, arguments: Mapping[str, Any], entry: Entry) -> None:
    """Refuse an argument that the function changes and also reaches from outside: those reads would be outdated."""
    for text, path in entry.compiled.apart:
        one = evaluated(function, text, entry.compiled.objects, arguments)
        if one is evaluated(function, path, entry.compiled.objects, arguments):
            what = f"{path} is an object that the function changes or compares by identity, and it reads the same object from outside"
            is_given = root_of(path) in entry.signature.names
            raise UnsureAlias(
                what, hint=f"read it from {root_of(path)} alone, or pass a copy" if is_given else "replace one of the two by a copy"
            )


def are_apart(one: Any, other: Any) -> bool:
    """Whether no array in one argument shares memory with an array in another one."""
    first, second = ([leaf for _, leaf in array_leaves("", value) if isinstance(leaf, np.ndarray)] for value in (one, other))
    return not any(np.may_share_memory(a, b) for a, b in product(first, second))


def _overlap(one: Any, other: Any) -> bool:
    return (
        isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and np.may_share_memory(one, other) and np.shares_memory(one, other)
    )


# ------------------------------------------------------------------ attempts

#: the number of calls whose attempts are kept
RECENT = 32
TRAILS: list[weakref.ref[Trail]] = []  #: the oldest first


@dataclass(slots=True, eq=False, weakref_slot=True)
class Trail:
    """The attempts for one call, and the code that they led to."""

    function: types.FunctionType
    code: types.CodeType
    signature: Signature
    readings: Readings = field(default_factory=dict)
    entry: Entry | None = None

    def still_so(self, arguments: Mapping[str, Any]) -> Readings:
        """The readings that would not change. A reading is tested by the state that it has captured, a refusal by that of the code."""
        assert self.entry is not None
        world = self.entry.world
        steady = world.is_as_it_was(self.function, arguments, self.signature.names)
        readings: Readings = {}
        for asked, reading in self.readings.items():
            lowered = reading.lowered if isinstance(reading, Reading) else None
            if lowered is None or lowered.relied is world.relied:
                holds = steady
            else:
                captured = tuple((c.text, c.abstract) for c in lowered.captured)
                own = World(lowered.relied, captured, lowered.related, lowered.apart, lowered.objects)
                holds = own.is_as_it_was(self.function, arguments, self.signature.names)
            if holds:
                readings[asked] = reading
        return readings

    def keep(self, entry: Entry) -> None:
        """Record the code that the attempts have led to."""
        self.entry = entry
        with LOCK:
            TRAILS[:] = [reference for reference in TRAILS if reference() is not None][1 - RECENT :]
            TRAILS.append(weakref.ref(self))


def trail_of(function: types.FunctionType, signature: Signature, arguments: Mapping[str, Any]) -> Trail:
    """A new trail, with the readings of earlier calls that still hold."""
    new_trail = Trail(function, function.__code__, signature)
    with LOCK:
        for trail in (reference() for reference in reversed(TRAILS)):
            if trail is not None and trail.function is function and trail.code is new_trail.code and trail.signature == signature:
                new_trail.readings |= trail.still_so(arguments)
                break
    return new_trail


def forget_trails() -> None:
    """Discard all trails: the vocabulary has changed."""
    with LOCK:
        TRAILS.clear()


#: a path that begins at a global or cell of a function
PLACE = re.compile(r"([^\W\d]\w*)\.(?:__globals__\['(\w+)'\]|__closure__\[(\d+)\]\.cell_contents)(?=$|[.\[])")
#: up to this number, names that a class does not define are tested one by one; beyond it, all at once
ONE_BY_ONE = 6


@dataclass(slots=True)
class Names:
    """Objects that the guard's text refers to, by names no parameter has.

    ``home`` are the globals that the guard reads by their own names, as the user's function does: see ``write_guard``.
    """

    prefix: str
    home: dict[str, Any] = field(default_factory=dict)
    parameters: frozenset[str] = frozenset()
    objects: dict[str, Any] = field(default_factory=dict)
    classes: dict[Same, str] = field(default_factory=dict)

    def of(self, value: Any) -> str:
        """The name for an object."""
        for name, known in self.objects.items():
            if known is value:
                return name
        return self.new(value)

    def new(self, value: Any) -> str:
        name = f"{self.prefix}{len(self.objects)}"
        self.objects[name] = value
        return name

    def of_class(self, cls: type) -> str:
        """The name for the namespace of a class."""
        key = Same(cls)
        if key not in self.classes:
            self.classes[key] = self.new(vars(cls))
        return self.classes[key]

    def of_global(self, space: dict[str, Any], name: str) -> str:
        """The expression that reads a global."""
        own = space is self.home and is_name(name) and name not in self.parameters and not name.startswith(self.prefix)
        return name if own else item(self.of(space), name)


def captured_text(function: types.FunctionType, expression: str, objects: Mapping[str, Any], names: Names) -> str | None:
    """The expression with the user's globals and cells spelled so that the guard can read them."""
    place = PLACE.match(expression)
    if place is not None and place[1] in objects:
        owner, rest = objects[place[1]], expression[place.end() :]
        if place[3] is None:
            return f"{names.of_global(owner.__globals__, place[2])}{rest}"
        return f"{names.of(owner.__closure__[int(place[3])])}.cell_contents{rest}"
    parameters = function.__code__.co_varnames[: _parameter_count(function.__code__)]
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))

    def spell(name: str) -> str:
        if name in objects:
            return names.of(objects[name])
        if name in parameters:
            return name
        if name in cells:
            return f"{names.of(cells[name])}.cell_contents"
        return item(names.of(function.__globals__), name) if name in function.__globals__ else ""

    known = names_in(expression)
    return respelled(expression, spell, names.of(getattr) if "getattr(" in expression else "") if all(map(spell, known)) else None


def _parameter_count(code: types.CodeType) -> int:
    starred = bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return code.co_argcount + code.co_kwonlyargcount + starred


def all_relied_tests(function: types.FunctionType, relied: Iterable[Relied], objects: Mapping[str, Any], names: Names) -> list[str] | None:
    """Tests of the whole record, each once; None where an expression cannot be read by a guard."""
    undefined: dict[str, list[str]] = {}
    tests: dict[str, None] = {}
    for one in relied:
        text = captured_text(function, one.text, objects, names)
        if text is None:
            return None
        if one.aspect == "undefined":
            undefined.setdefault(names.of_class(names.objects[text]), []).append(one.value)
        else:
            tests |= dict.fromkeys(relied_tests(text, one, names))
    for space, words in undefined.items():
        tests |= dict.fromkeys(undefined_tests(space, words, names))
    return list(tests)


def undefined_tests(space: str, words: list[str], names: Names) -> Iterator[str]:
    """Tests that a class does not define names."""
    if len(words) > ONE_BY_ONE:
        yield f"{names.of(frozenset(words))}.isdisjoint({space})"
    else:
        yield from (f"{literal(word)} not in {space}" for word in words)


def relied_tests(text: str, relied: Relied, names: Names) -> list[str]:
    """Tests that an object from outside, which the code contains, is unchanged."""
    if relied.aspect in QUESTIONS:
        return [question_test(text, relied, names)]
    now = text if relied.aspect == "itself" else f"{names.of(ASPECTS[relied.aspect])}({text})"
    tests = [f"{now} {'==' if relied.by_equality() else 'is'} {names.of(relied.value)}"]
    if isinstance(relied.value, str | int) and relied.aspect == "itself":
        tests.insert(0, f"{names.of(type)}({text}) is {names.of(type(relied.value))}")
    same = text if relied.by_equality() or relied.aspect != "itself" else names.of(relied.value)
    return tests if relied.code is None else [*tests, f"{same}.__code__ is {names.of(relied.code)}"]


def question_test(text: str, relied: Relied, names: Names) -> str:
    """The test of a recorded question about an object and a name."""
    word = literal(relied.value) if isinstance(relied.value, str | int) else names.of(relied.value)
    match relied.aspect:
        case "has":
            return f"{names.of(hasattr)}({text}, {word})"
        case "lacks":
            return f"not {names.of(hasattr)}({text}, {word})"
        case "contains":
            return f"{word} in {text}"
        case "unset":
            owner, _, part = text.rpartition(".")
            space = names.of(names.objects[owner].__globals__) if part == "__globals__" and owner in names.objects else text
            return f"{word} not in {space}"
    return f"{names.of(QUESTIONS[relied.aspect])}({text}, {word})"


# ------------------------------------------------------------------ example arguments


#: arrays with at most this number of elements are written out
SMALL = 24


def example_text(value: Any) -> str:
    """Return an expression for an argument of this type and shape. It may use ``np`` and ``rng``, a seeded generator. Raises ValueError."""
    if conversion(value):
        value = np.asarray(value).astype(native(value.dtype))[()]
    match value:
        case np.ndarray() if value.dtype.kind in "fiub" and value.size <= SMALL:
            order = ', order="F"' if value.flags.fnc else ""
            items = repr(value.tolist()).replace("nan", "np.nan").replace("inf", "np.inf")
            return f"np.array({items}, np.{value.dtype.type.__name__}{order})"
        case np.ndarray() if value.dtype.kind == "f" and np.isfinite(value).all():
            low, high = float(value.min()), float(value.max())
            return f"rng.uniform({low!r}, {high!r}, {value.shape!r}).astype(np.{value.dtype.type.__name__})"
        case np.ndarray() if value.dtype.kind in "iu":
            return f"rng.integers({int(value.min())}, {int(value.max()) + 1}, {value.shape!r}).astype(np.{value.dtype.type.__name__})"
        case np.floating() | np.integer() | np.bool_():
            return f"np.{value.dtype.type.__name__}({literal(value.item())})"
        case bool() | int() | str() | float() | None if not isinstance(value, enum.Enum):
            return literal(exact(value))
        case tuple() | list() if type(value) in (tuple, list):
            inside = "".join(f"{example_text(v)}, " for v in value)
            return f"({inside})" if isinstance(value, tuple) else f"[{inside.removesuffix(', ')}]"
        case dict():
            return "{" + ", ".join(f"{literal(plain_key(k))}: {example_text(v)}" for k, v in value.items()) + "}"
    raise ValueError(value)


def examples_of(function: types.FunctionType, arguments: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the texts of the positional arguments of a call; None if one has no text, or if keyword-only arguments are required."""
    texts = []
    for p in inspect.signature(function, follow_wrapped=False).parameters.values():
        if p.kind in (p.KEYWORD_ONLY, p.VAR_KEYWORD, p.VAR_POSITIONAL):
            argument = arguments.get(p.name, p.default)
            if argument is not p.default and not (p.kind is not p.KEYWORD_ONLY and len(argument) == 0):
                return None
            continue
        try:
            texts.append(example_text(arguments[p.name]))
        except (ValueError, KeyError, RecursionError):  # a list that holds itself has no text either
            return None
    return tuple(texts)


__all__ = ["SMALL", "Names", "Trail", "all_relied_tests", "captured_text", "example_text", "examples_of", "forget_trails", "relied_tests"]
__all__ += ["trail_of"]
