"""What generated code takes from outside as it is: functions, classes and texts that names stand for, and tests that they still do."""

from __future__ import annotations

import contextlib
import sys
import types
from dataclasses import dataclass, field
from typing import Any

from symgrad.identity import Same
from symgrad.ops.spelling import Custom, declared
from symgrad.text import attribute, is_name, item


@dataclass(slots=True)
class Names:
    """Objects that the guard's text refers to, by names no parameter has."""

    prefix: str
    objects: dict[str, Any] = field(default_factory=dict)

    def of(self, value: Any) -> str:
        """The name that stands for an object."""
        for name, known in self.objects.items():
            if known is value:
                return name
        name = f"{self.prefix}{len(self.objects)}"
        self.objects[name] = value
        return name


@dataclass(frozen=True, slots=True, eq=False)
class Watch:
    """A name that stood for a function, class or text while compiling, and what it stood for.

    Generated code contains what such an object does, so it holds only as long as the name stands for the same.
    """

    place: Any  #: a dict of globals, a cell, or a module
    name: str
    value: Any
    code: types.CodeType | None

    def holds(self) -> bool:
        """Is it still the same?"""
        missing = object()
        match self.place:
            case dict():
                now = self.place.get(self.name, missing)
            case types.CellType():
                now = self.place.cell_contents
            case _:
                now = getattr(self.place, self.name, missing)
        same = now == self.value if isinstance(self.value, str) and isinstance(now, str) else now is self.value
        return same and (self.code is None or now.__code__ is self.code)

    def tests(self, names: Names) -> list[str]:
        """The same as expressions."""
        place = names.of(self.place)
        match self.place:
            case dict():
                text = item(place, self.name)
            case types.CellType():
                text = f"{place}.cell_contents"
            case _:
                text = attribute(place, self.name) if is_name(self.name) else attribute(place, self.name, names.of(getattr))
        if type(self.value) is str:
            own = names.of(self.value)  # an array in its place would not compare as a whole
            return [f"({text} is {own} or {names.of(type)}({text}) is {names.of(str)} and {text} == {own})"]
        code = [] if self.code is None else [f"{text}.__code__ is {names.of(self.code)}"]
        return [f"{text} is {names.of(self.value)}", *code]


LIBRARIES = frozenset({"numpy", "scipy", "symgrad", *sys.stdlib_module_names}) - {"__main__"}


def watches(function: types.FunctionType) -> tuple[Watch, ...]:
    """What a function, and the user's functions that it names, take from globals, cells and modules of the user's as it is."""
    found: dict[tuple[Same, str], Watch] = {}
    seen: set[types.CodeType] = set()

    def note(place: Any, name: str, value: Any) -> None:
        if isinstance(value, types.ModuleType):
            return
        inner = getattr(value, "__wrapped__", value)
        if isinstance(value, types.FunctionType | type | str | bytes | types.BuiltinFunctionType | None) or inner is not value:
            code = value.__code__ if isinstance(value, types.FunctionType) else None
            found.setdefault((Same(place), name), Watch(place, name, value, code))
        for held in (inner,) if inner is value else (inner, value):
            if isinstance(held, types.FunctionType) and (held.__module__ or "").split(".")[0] not in LIBRARIES:
                visit(held)

    def visit(held: types.FunctionType) -> None:
        if held.__code__ in seen:
            return
        seen.add(held.__code__)
        custom = declared(held)
        for other in (custom.forward, custom.backward) if isinstance(custom, Custom) else ():
            if isinstance(other, types.FunctionType):
                visit(other)
        names = names_in(held.__code__)
        for name, cell in zip(held.__code__.co_freevars, held.__closure__ or (), strict=True):
            with contextlib.suppress(ValueError):
                note(cell, name, cell.cell_contents)
        for name in names:
            if name not in held.__globals__:
                continue
            value = held.__globals__[name]
            note(held.__globals__, name, value)
            if isinstance(value, types.ModuleType) and value.__name__.split(".")[0] not in LIBRARIES:
                for attribute in names:
                    if attribute in vars(value):
                        note(value, attribute, vars(value)[attribute])

    visit(function)
    return tuple(found.values())


def names_in(code: types.CodeType) -> list[str]:
    """Every global and attribute that a code object and those inside it name, in order."""
    inner = [name for const in code.co_consts if isinstance(const, types.CodeType) for name in names_in(const)]
    return list(dict.fromkeys([*code.co_names, *inner]))
