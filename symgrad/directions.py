"""Checks the tangents that a user passes against the trees and leaves of the arguments, and sorts them by parameter."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from symgrad.abstraction import is_record, record_names
from symgrad.containers import items_held
from symgrad.errors import BadArgument
from symgrad.paths import value_at
from symgrad.text import attribute, has_literal, item

#: classes of leaves with a tangent: the fast path for most arguments
PLAIN = (float, complex)


def tangents_by_name(
    tangents: Any, passed: int, arguments: Mapping[str, Any], wrt: Sequence[str] | None, parameters: inspect.Signature, instance: int
) -> dict[str, Any]:
    """Return the tangents by parameter. ``wrt`` names the parameters that have one, by default all that are ``passed`` by position.

    ``instance`` is 1 where the first parameter is an instance, which has no tangent.
    """
    if not isinstance(tangents, tuple | list):
        raise BadArgument(f"the tangents are {type(tangents).__name__}, not a tuple", hint="pass a tuple, also for one argument: (dx,)")
    if wrt is None:
        named = in_order(tangents, passed, arguments, parameters, instance)
    else:
        if len(tangents) != len(wrt):
            raise BadArgument(f"{counted(tangents)} passed for {', '.join(wrt)}", hint="pass one tangent for each parameter in wrt")
        named = dict(zip(wrt, tangents, strict=True))
    for name, tangent in named.items():
        check_tree(name, part_passed(arguments, name), tangent)
    return named


def part_passed(arguments: Mapping[str, Any], path: str) -> Any:
    """Return the part of the arguments that a path names; raise BadArgument if there is none."""
    try:
        return value_at(arguments, path)
    except (AttributeError, LookupError, TypeError):
        raise BadArgument(f"the argument passed has no part {path}, which wrt names") from None


def counted(tangents: Sequence[Any]) -> str:
    """Return the number of tangents, in words."""
    return "1 tangent is" if len(tangents) == 1 else f"{len(tangents)} tangents are"


def in_order(
    tangents: Sequence[Any], passed: int, arguments: Mapping[str, Any], parameters: inspect.Signature, instance: int
) -> dict[str, Any]:
    """Return the tangents of positional arguments; defaults and keyword arguments have none."""
    if len(tangents) != passed:
        raise BadArgument(f"{counted(tangents)} passed for {passed} arguments", hint="pass one for each, None for those without floats")
    named: dict[str, Any] = {}
    rest = list(tangents)
    for parameter in list(parameters.parameters.values())[instance:]:
        if parameter.kind is parameter.VAR_POSITIONAL:
            named[parameter.name], rest = tuple(rest), []
        elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            named[parameter.name] = rest.pop(0) if rest else unmoved(arguments[parameter.name])
    return named


def unmoved(primal: Any) -> Any:
    """Return zeros in the tree of an argument, with None for leaves without a tangent."""
    match primal:
        case dict():
            return {key: unmoved(part) for key, part in items_held(primal)}
        case tuple() if hasattr(primal, "_fields"):
            return type(primal)(*map(unmoved, primal))
        case list():
            return [*map(unmoved, items_held(primal))]
        case tuple():
            return type(primal)(map(unmoved, primal))
        case np.ndarray() | np.generic():
            return np.zeros_like(primal)[()] if primal.dtype.kind in "fc" else None
        case float() | complex():
            return 0 * primal
    return SimpleNamespace(**{name: unmoved(getattr(primal, name)) for name in record_names(primal)}) if is_record(primal) else None


def check_tree(path: str, primal: Any, tangent: Any) -> None:
    """Raise BadArgument if a tangent differs from its argument in structure, or belongs to a leaf without tangents."""
    if type(primal) in PLAIN or isinstance(primal, np.ndarray | np.generic) and primal.dtype.kind in "fcO":
        return
    match primal:
        case dict():
            if not isinstance(tangent, dict) or list(map(repr, tangent)) != list(map(repr, primal)) and set(tangent) != set(primal):
                has = f"the keys {list(tangent)}" if isinstance(tangent, dict) else f"the class {type(tangent).__name__}"
                if tangent is None and not holds_floats(primal):
                    return
                raise BadArgument(f"the tangent of {path} has {has}, not the keys {list(primal)}", hint="give it the form of its argument")
            for key, part in primal.items():
                check_tree(item(path, key) if has_literal(key) else path, part, tangent[key])
        case list() | tuple():
            if not isinstance(tangent, list | tuple) or len(tangent) != len(primal):
                has = f"{len(tangent)} items" if isinstance(tangent, list | tuple) else f"the class {type(tangent).__name__}"
                if tangent is None and not holds_floats(primal):
                    return
                raise BadArgument(f"the tangent of {path} has {has}, not {len(primal)} items", hint="give it the form of its argument")
            for k, (part, its) in enumerate(zip(primal, tangent, strict=True)):
                check_tree(item(path, k), part, its)
        case bool() | int() | np.ndarray() | np.generic():
            if tangent is not None:
                kind = primal.dtype if isinstance(primal, np.ndarray | np.generic) else type(primal).__name__
                raise BadArgument(f"{path} is {kind}, and integers and booleans have no tangent", hint="pass None as its tangent")
        case str() | bytes() | None:
            if tangent is not None:
                raise BadArgument(f"{path} is {type(primal).__name__}, which has no tangent", hint="pass None as its tangent")
        case _:
            for name in record_names(primal):
                if name in record_names(tangent):
                    check_tree(attribute(path, name), getattr(primal, name), getattr(tangent, name))


def holds_floats(primal: Any) -> bool:
    """Whether a tree holds a float or a complex number."""
    match primal:
        case dict():
            return any(map(holds_floats, primal.values()))
        case list() | tuple():
            return any(map(holds_floats, primal))
        case np.ndarray() | np.generic():
            return primal.dtype.kind in "fc"
    return isinstance(primal, float | complex) or hasattr(primal, "__dict__")
