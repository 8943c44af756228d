"""Turns the arguments of a call into source text, with which a saved module checks itself."""

from __future__ import annotations

import enum
import inspect
import types
from collections.abc import Mapping
from typing import Any

import numpy as np

from symgrad.kinds import conversion, native
from symgrad.text import exact, literal, plain_key

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
