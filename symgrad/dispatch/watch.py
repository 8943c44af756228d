"""Tests that captured objects, as the code has read them, are unchanged; made from the record of those reads."""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from symgrad.identity import Same
from symgrad.signature import ASPECTS, QUESTIONS, Relied
from symgrad.text import is_name, item, literal, names_in, respelled

#: matches a path that begins at a global or cell of a function
PLACE = re.compile(r"([^\W\d]\w*)\.(?:__globals__\['(\w+)'\]|__closure__\[(\d+)\]\.cell_contents)(?=$|[.\[])")
#: up to this many names that one class does not define are tested one by one, more at once
ONE_BY_ONE = 6


@dataclass(slots=True)
class Names:
    """Names for the objects in the guard's text, distinct from parameters.

    ``home`` are the globals that the guard reads by their own names, as the user's function does: see
    ``write_guard``.
    """

    prefix: str
    home: dict[str, Any] = field(default_factory=dict)
    parameters: frozenset[str] = frozenset()
    objects: dict[str, Any] = field(default_factory=dict)
    classes: dict[Same, str] = field(default_factory=dict)

    def of(self, value: Any) -> str:
        """The name of an object."""
        for name, known in self.objects.items():
            if known is value:
                return name
        return self.new(value)

    def new(self, value: Any) -> str:
        name = f"{self.prefix}{len(self.objects)}"
        self.objects[name] = value
        return name

    def of_class(self, cls: type) -> str:
        """The name of a class's namespace."""
        key = Same(cls)
        if key not in self.classes:
            self.classes[key] = self.new(vars(cls))
        return self.classes[key]

    def of_global(self, space: dict[str, Any], name: str) -> str:
        """The expression that reads a global."""
        own = space is self.home and is_name(name) and name not in self.parameters and not name.startswith(self.prefix)
        return name if own else item(self.of(space), name)


def captured_text(function: types.FunctionType, expression: str, objects: Mapping[str, Any], names: Names) -> str | None:
    """The expression, with the user's globals and cells spelled for the guard; None if the guard cannot read them."""
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
    """Tests of the whole record, without duplicates; None where the guard cannot read an expression."""
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
    """Tests that a class does not define these names."""
    if len(words) > ONE_BY_ONE:
        yield f"{names.of(frozenset(words))}.isdisjoint({space})"
    else:
        yield from (f"{literal(word)} not in {space}" for word in words)


def relied_tests(text: str, relied: Relied, names: Names) -> list[str]:
    """Tests that an object that the code depends on is unchanged."""
    if relied.aspect in QUESTIONS:
        return [question_test(text, relied, names)]
    now = text if relied.aspect == "itself" else f"{names.of(ASPECTS[relied.aspect])}({text})"
    tests = [f"{now} {'==' if relied.by_equality() else 'is'} {names.of(relied.value)}"]
    if isinstance(relied.value, str | int) and relied.aspect == "itself":
        tests.insert(0, f"{names.of(type)}({text}) is {names.of(type(relied.value))}")
    same = text if relied.by_equality() or relied.aspect != "itself" else names.of(relied.value)
    return tests if relied.code is None else [*tests, f"{same}.__code__ is {names.of(relied.code)}"]


def question_test(text: str, relied: Relied, names: Names) -> str:
    """The test of a recorded property of an object and a name."""
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


__all__ = ["Names", "all_relied_tests", "captured_text", "relied_tests"]
