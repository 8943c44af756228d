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
                alike(read_captured(function, expression, self.objects, arguments or {}, item), item)
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


def alike(one: Abstract | None, other: Abstract) -> bool:
    """Whether two abstract values are equal except for the names of extents."""
    match one, other:
        case Array(shape=first), Array(shape=second) if first is not None and second is not None:
            return (one.dtype, one.layout) == (other.dtype, other.layout) and [e == 1 for e in first] == [e == 1 for e in second]
        case Tree(), Tree():
            return (one.kind, one.names) == (other.kind, other.names) and all(map(alike, one.items, other.items))
        case Many(), Many():
            return one.kind is other.kind and alike(one.item, other.item)
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
            what = f"{path} is an object that the function changes or asks the identity of, and it reads the same object from outside"
            is_given = root_of(path) in entry.signature.names
            raise UnsureAlias(
                what, hint=f"read it from {root_of(path)} alone, or pass a copy" if is_given else "make one of the two a copy"
            )


def are_apart(one: Any, other: Any) -> bool:
    """Whether no array in one argument shares memory with an array in another one."""
    first, second = ([leaf for _, leaf in array_leaves("", value) if isinstance(leaf, np.ndarray)] for value in (one, other))
    return not any(np.may_share_memory(a, b) for a, b in product(first, second))


def _overlap(one: Any, other: Any) -> bool:
    return (
        isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and np.may_share_memory(one, other) and np.shares_memory(one, other)
    )
