"""The interface of an emitted function: its name, its parameters, and how its results are returned.

``collect`` enters the names that the function's text takes from its module, before its variables are named.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from string import Formatter
from typing import Any

from symgrad.codegen.expressions import Names, bound_inside, constant, literal, mentions, text_of
from symgrad.codegen.texts import Lines
from symgrad.ir.core import Call, Const, Func, Operand, Value, walk
from symgrad.ops.declare import ROWS, Row
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
    fast: bool = False  #: whether the text is run rather than read
    once: bool = False  #: whether it is run once, and never read
    kernel: bool = False  #: whether numba compiles it
    is_read: bool = False  #: whether it is read, and not run
    beside: frozenset[str] = frozenset()  #: the names of functions that are already defined in the same text
    again: str = ""  #: the call of the plain form, for a function that is ``guarded``


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


# ------------------------------------------------------------------ names of the module

#: builtins that the printer itself uses
BUILTINS = ("range", "reversed", "slice", "complex", "memoryview")


def collect(func: Func, names: Names, texts: dict[Call, str]) -> set[str]:
    """Enter all global names that the function's text will use, so that variables avoid them, and the names that rows' texts bind.

    ``texts`` collects the texts of the ops.
    """
    for name in ("np", "math", *BUILTINS):
        if name in names.hidden:
            names.use(name)
    inner: set[str] = set()
    seen: set[tuple[str, str]] = set()
    for op in walk(func.body):
        if isinstance(op, Call):
            row = ROWS[op.name]
            text = texts[op] = text_of(op)
            if (op.name, text) not in seen or row.by_name:
                seen.add((op.name, text))
                inner |= bound_inside(text) - params_of(row)  # a statement such as ``x += y`` binds its operand's name
                for name in asked_of_the_module(op, text):
                    names.use(name)
            for value in op.settings.values() if not row.by_name else ():
                if not isinstance(value, Func):
                    literal(value, names)
        collect_constants(op.operands, names)
        for block in op.blocks:
            collect_constants(block.yields, names)
    collect_constants(func.body.yields, names)
    return inner


def asked_of_the_module(op: Call, text: str) -> list[str]:
    """The global names that an op's text reads: those that are neither its parameters nor bound in it."""
    row = ROWS[op.name]
    if row.emit in ("push", "pop"):
        return []
    if row.by_name:
        return [name for name in mentions(text) if name not in op.settings["names"]]
    own = params_of(row) | {*row.settings, *row.outs, "path"} | bound_inside(text)
    return [name for name in mentions(text) if name not in own]


def params_of(row: Row) -> set[str]:
    """The parameters of a row, as they are named in its text."""
    return {param.lstrip("*") for param in row.params}


def collect_constants(operands: list[Operand], names: Names) -> None:
    """Enter the names of constants."""
    for operand in operands:
        if isinstance(operand, Const) and not isinstance(operand.value, Func):
            constant(operand, names)
