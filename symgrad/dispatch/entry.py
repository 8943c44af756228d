"""One signature and its code; and whether both still hold for the arguments and for captured objects."""

from __future__ import annotations

import contextlib
import types
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np

from symgrad.abstraction import abstract_value, array_leaves, laid_out_as
from symgrad.errors import UnsureAlias
from symgrad.ir.types import Array
from symgrad.kinds import conversion
from symgrad.signature import Abstract, Compiled, Many, Relied, Signature, Tree, leaves_of
from symgrad.text import root_of, value_of
from symgrad.verification.first_call import FirstCall


@dataclass(frozen=True, slots=True)
class World:
    """What was read from outside when a function was read, as it was."""

    relied: tuple[Relied, ...]
    captured: tuple[tuple[str, Abstract], ...]
    related: tuple[tuple[str, str, bool], ...]
    apart: tuple[tuple[str, str], ...]
    objects: Mapping[str, Any]

    def is_as_it_was(self, function: types.FunctionType, arguments: Mapping[str, Any] | None, names: Collection[str]) -> bool:
        """Is it still so? Without arguments, what is read from those, which have these names, is not looked at."""
        return (
            all(
                self.relies(function, relied, arguments or {})
                for relied in self.relied
                if arguments is not None or root_of(relied.text) not in names
            )
            and all(
                alike(read_captured(function, expression, self.objects, arguments or {}, item), item)
                for expression, item in self.captured
                if arguments is not None or root_of(expression) in self.objects or root_of(expression) not in names
            )
            and all(self.as_related(function, *pair, arguments or {}) for pair in self.related)
            and all(self.as_related(function, text, path, False, {}) for text, path in self.apart if root_of(path) not in names)
        )

    def relies(self, function: types.FunctionType, relied: Relied, arguments: Mapping[str, Any]) -> bool:
        """Is what the code contains of something outside still so?"""
        try:
            return relied.holds(evaluated(function, relied.text, self.objects, arguments))
        except Exception:
            return False

    def as_related(self, function: types.FunctionType, one: str, other: str, same: bool, arguments: Mapping[str, Any]) -> bool:
        """Are two things that are read from outside one object if they were?"""
        first, second = (evaluated(function, text, self.objects, arguments) for text in (one, other))
        return (first is second) == same


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One signature and the code for it."""

    signature: Signature
    compiled: Compiled
    examples: tuple[str, ...] | None = None  #: texts of the arguments of the first call, for the self-check of a saved module
    first: FirstCall | None = None  #: of code that is compared with the user's function when it is first called
    trail: Any = None  #: what was tried until there was this code, which is of use while the code is

    @property
    def awaited(self) -> bool:
        """Is it called through a comparison?"""
        return self.first is not None and not self.first.passed

    def still_holds(self, function: types.FunctionType, arguments: Mapping[str, Any] | None) -> bool:
        """Is what the code reads from outside of the types it was made for? Without arguments, those are not looked at."""
        return self.world.is_as_it_was(function, arguments, self.signature.names) and (
            arguments is None or all(self.pinned(function, text, value, arguments) for text, value in self.compiled.pins)
        )

    @property
    def world(self) -> World:
        """What the code reads from outside."""
        return World(self.compiled.relied, self.compiled.captured, self.compiled.related, self.compiled.apart, self.compiled.objects)

    def pinned(self, function: types.FunctionType, text: str, value: Any, arguments: Mapping[str, Any]) -> bool:
        """Is an integer what it was when it became part of the code?"""
        try:
            now = evaluated(function, text, self.compiled.objects, arguments)
        except Exception:
            return False
        return type(now) is type(value) and bool(now == value)

    def writes(self, path: str) -> bool:
        """Does the function write to the array that this expression over its parameters reaches?"""
        return root_of(path) in self.compiled.mutated

    def outside_arrays(self) -> list[str]:
        """The expressions of the arrays that are read from outside."""
        leaves = (leaf for text, item in self.compiled.captured for leaf in leaves_of(text, item))
        return [text for text, item in leaves if isinstance(item, Array)]


def evaluated(function: types.FunctionType, expression: str, objects: Mapping[str, Any], arguments: Mapping[str, Any]) -> Any:
    """What an expression over the function's globals, cells and arguments is now."""
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
    """The present abstract value of an expression over the function's globals, cells and arguments, in the form of the one ``before``.

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


def alike(one: Abstract | None, other: Abstract) -> bool:
    """Equal but for the names of extents."""
    match one, other:
        case Array(shape=first), Array(shape=second) if first is not None and second is not None:
            return (one.dtype, one.layout) == (other.dtype, other.layout) and [e == 1 for e in first] == [e == 1 for e in second]
        case Tree(), Tree():
            return (one.kind, one.names) == (other.kind, other.names) and all(map(alike, one.items, other.items))
        case Many(), Many():
            return one.kind is other.kind and alike(one.item, other.item)
    return one == other


def is_converted(expression: str) -> bool:
    """Does an expression read an array or number of another kind, and take it as a plain one?"""
    return expression.endswith((".__array__()", "')")) and (".__array__()" in expression or ".astype('" in expression)


def stem(expression: str) -> str:
    """The stem of extents' names for a captured expression."""
    return "".join(c if c.isalnum() else "_" for c in expression)


def refuse_overlap(function: types.FunctionType, arguments: Mapping[str, Any], entry: Entry) -> None:
    """Two different arrays over the same memory, one of them written to, have no gradient of their own.

    Nor has an argument that the function also reads from outside.
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
    """An argument that the function changes and reaches from outside as well: what it reads there would be of before."""
    for text, path in entry.compiled.apart:
        one = evaluated(function, text, entry.compiled.objects, arguments)
        if one is evaluated(function, path, entry.compiled.objects, arguments):
            what = f"{path} is an object that the function changes or asks the identity of, and it reads the same object from outside"
            is_given = root_of(path) in entry.signature.names
            raise UnsureAlias(
                what, hint=f"read it from {root_of(path)} alone, or pass a copy" if is_given else "make one of the two a copy"
            )


def are_apart(one: Any, other: Any) -> bool:
    """Does no array in one argument share memory with an array in another one?"""
    first, second = ([leaf for _, leaf in array_leaves("", value) if isinstance(leaf, np.ndarray)] for value in (one, other))
    return not any(np.may_share_memory(a, b) for a, b in product(first, second))


def _overlap(one: Any, other: Any) -> bool:
    return (
        isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and np.may_share_memory(one, other) and np.shares_memory(one, other)
    )
