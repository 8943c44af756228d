"""A function to something that pickles, and back: its name where it can be imported, else its text and what that needs.

Never code objects, which tie a pickle to one version of Python.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
import textwrap
import types
from dataclasses import dataclass, field
from typing import Any

from symgrad.errors import SourceNotFound
from symgrad.frontend.source import from_source, plain_function, read


@dataclass(frozen=True, slots=True)
class Named:
    """A function of an importable module."""

    module: str
    qualname: str


@dataclass(frozen=True, slots=True)
class Module:
    """A module, as a global of a function."""

    name: str


@dataclass(frozen=True, slots=True)
class Written:
    """A function by its text, and the values of the names that the text refers to."""

    text: str
    name: str
    module: str
    names: dict[str, Any] = field(default_factory=dict)
    defaults: tuple[Any, ...] | None = None
    keyword_defaults: dict[str, Any] | None = None


Reference = Named | Written


def refer(function: types.FunctionType) -> Reference:
    """What stands for a function in a pickle."""
    named = Named(function.__module__, function.__qualname__)
    try:
        if lookup(named) is function:
            return named
    except (ImportError, AttributeError, SourceNotFound):
        pass
    source = read(function)
    if isinstance(source.node, ast.Lambda):
        text = f"lambda_ = {ast.unparse(source.node)}\n"
    else:
        last = source.node.end_lineno or source.node.lineno
        text = textwrap.dedent("\n".join(source.lines[source.node.lineno - 1 : last])) + "\n"
    free = {n.id for n in ast.walk(source.node) if isinstance(n, ast.Name)} - {source.name}
    names = {name: _pack(source.read_name(name)) for name in sorted(free) if name in source.cells or name in source.globals}
    return Written(text, source.name, function.__module__, names, function.__defaults__, function.__kwdefaults__)


def lookup(named: Named) -> types.FunctionType:
    """The function that a name stands for."""
    found: Any = sys.modules.get(named.module) or importlib.import_module(named.module)
    for part in named.qualname.split("."):
        found = inspect.getattr_static(found, part) if isinstance(found, type) else getattr(found, part)
    return plain_function(found)


def resolve(reference: Reference) -> types.FunctionType:
    """The function that a pickle refers to."""
    if isinstance(reference, Named):
        return lookup(reference)
    namespace = {"__name__": reference.module, **{name: _unpack(value) for name, value in reference.names.items()}}
    made = from_source(reference.text, reference.name, namespace)
    made.__defaults__, made.__kwdefaults__ = reference.defaults, reference.keyword_defaults
    return made


def _pack(value: Any) -> Any:
    if isinstance(value, types.ModuleType):
        return Module(value.__name__)
    return refer(value) if isinstance(value, types.FunctionType) else value


def _unpack(value: Any) -> Any:
    if isinstance(value, Module):
        return importlib.import_module(value.name)
    return resolve(value) if isinstance(value, Named | Written) else value
