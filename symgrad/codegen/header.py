"""The interface of an emitted function: its name, its parameters, and the template of its results."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from string import Formatter
from typing import Any

from symgrad.codegen.comments import Lines
from symgrad.ir.core import Func, Value
from symgrad.text import identifier, names_in


def no_lines(file: str, line: int) -> str:
    """The source lookup for unavailable source."""
    return ""


@dataclass(slots=True)
class Header:
    """The interface of an emitted function.

    ``signature`` is the text between the parentheses. ``bind`` gives, for ``Func`` parameters that are not in
    the signature, the expression evaluated on entry. ``result`` is a template over the results. ``lines``
    returns a line of a file.
    """

    name: str
    signature: str
    bind: dict[Value, str] = field(default_factory=dict)
    result: str = ""
    doc: str = ""
    lines: Lines = no_lines
    comments: bool = True
    objects: Mapping[str, Any] = field(default_factory=dict)  #: names for the user's objects in the texts
    fast: bool = False  #: is the text run rather than read?
    once: bool = False  #: is it run once, and never read?
    kernel: bool = False  #: is it compiled by numba?
    beside: frozenset[str] = frozenset()  #: the names of functions already in the same text
    again: str = ""  #: the call of the plain form, for a ``guarded`` function


def plain_header(func: Func, taken: set[str]) -> Header:
    """The header of a function that only emitted code calls."""
    base = name = identifier(func.name)
    k = 0
    while name in taken:
        k += 1
        name = f"{base}_{k}"
    words: list[str] = []
    bind: dict[Value, str] = {}
    for value in func.params:
        word = base = identifier(value.name or "t")
        k = 0
        while word in words or word in taken:
            k += 1
            word = f"{base}_{k}"
        words.append(word)
        bind[value] = word
    return Header(name, ", ".join(words), bind, doc=func.doc)


def outer_names(header: Header) -> set[str]:
    """Names in the header's texts: of the signature, the entry bindings and the result."""
    result = result_text(header.result, places_in(header.result))
    paths = (names_in(path) for path in header.bind.values() if path)
    return set().union(*names_of(f"lambda {header.signature}: 0"), *(names_of(result) if result else ()), *paths)


@lru_cache(maxsize=256)  # a function and its gradient have the same signature
def names_of(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The parameters in an expression, and its other names."""
    nodes = list(ast.walk(ast.parse(text, mode="eval")))
    return (
        frozenset(node.arg for node in nodes if isinstance(node, ast.arg)),
        frozenset(node.id for node in nodes if isinstance(node, ast.Name)),
    )


def places_in(template: str) -> int:
    """The number of results in a template.

    >>> places_in("{0}, {{'w': {2}}}")
    3
    """
    return max((int(field) + 1 for _, field, _, _ in Formatter().parse(template) if field), default=0)


def result_text(template: str, number: int) -> str:
    """The template filled with placeholders."""
    return template.format(*(f"__result_{k}__" for k in range(number)))
