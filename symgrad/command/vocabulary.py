"""The verb ``rules``: for each row its signature, its spellings in NumPy and elsewhere, and its derivative."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from symgrad.ops.composed import COMPOSED, SCIPY
from symgrad.ops.declare import ROWS, Row
from symgrad.ops.signatures import SCIPY_SPECIAL
from symgrad.ops.spelling import CALLABLES, OF_ARRAYS

TARGET = re.compile(r"\w+")


def spellings() -> dict[str, list[str]]:
    """Return the public names of each row and composition, by its internal name."""
    names: dict[str, list[str]] = {}
    for spelling in (*CALLABLES.values(), *OF_ARRAYS.values()):
        entry(names, spelling.name, spelling.call)
    for name, (_, target) in SCIPY_SPECIAL.items():
        entry(names, f"scipy.special.{name}", target)
    for function in COMPOSED:
        name = getattr(function, "__name__", "")
        entry(names, f"np.{name}" if getattr(np, name, None) is function else name, name)
    for module, table in SCIPY.items():
        for name in table:
            entry(names, f"{module}.{name}", name)
    return names


def entry(names: dict[str, list[str]], name: str, target: str) -> None:
    """Enter a name under the row that its text begins with."""
    row = TARGET.match(target)
    if row is not None and name not in names.setdefault(row[0], []):
        names[row[0]].append(name)


def described() -> Iterator[dict[str, Any]]:
    """Yield each public row by name, then each composition."""
    names = spellings()
    for name in sorted(names):
        row = ROWS.get(name)
        if row is None:
            yield {
                "name": name,
                "call": f"{name}(...)",
                "spelled": sorted(names[name]),
                "derivative": {},
                "why": "written in terms of other functions, from which its derivative follows",
            }
        else:
            yield {"name": name, "call": call_of(row), "spelled": sorted(names[name]), "derivative": derivative_of(row), "why": why(row)}


def call_of(row: Row) -> str:
    """Return the row's call in the IR."""
    words = [*row.params, *(f"{name}={value!r}" for name, value in row.settings.items() if name != "via")]
    return f"{row.name}({', '.join(words)})"


def derivative_of(row: Row) -> dict[str, str]:
    """Return the cotangent of each operand as declared by the row; ``out`` is the result and ``out_grad`` its cotangent."""
    texts = {}
    for param in row.params:
        name = param.lstrip("*")
        if (partial := row.partials.get(param)) is not None:
            texts[name] = "out_grad" if partial == "1" else f"out_grad * ({partial})"
        elif (pullback := row.pullbacks.get(param)) is not None:
            texts[name] = pullback
    return texts


def why(row: Row) -> str:
    """Why a row has no derivative, if it has none."""
    if row.missing is not None:
        return f"no derivative: {row.missing}"
    return "" if row.differentiable or not row.params else "its derivative is zero wherever it has one"


__all__ = ["described", "spellings"]
