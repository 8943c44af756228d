"""Refusals that programs provoke: how often does a hint that is followed literally work?

``provoked.txt`` holds programs that were written before their hints were read. Behind each stand the hint and the texts that are replaced
to follow it literally; the edited program must give the value of the program in plain Python, and its gradient. ``! why`` marks a hint that
does not work.

    python -m tests.provoked            prints the share, by kind of refusal, and what does not work
    python -m tests.provoked NAME ...   prints these programs' refusals, and what the edited programs give
"""

from __future__ import annotations

import ast
import copy
import importlib.util
import inspect
import sys
import warnings
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import symgrad
from symgrad.errors import SymgradError

ARGUMENTS: dict[str, Any] = {
    "x": np.array([0.7, -1.3, 2.1, 0.4]), "y": np.array([1.1, 0.3, -0.8, 2.2]), "a": 0.7, "b": 1.9, "c": -0.6, "p": 0.35, "n": 4,
    "lst": [0.5, 1.5, 2.5],
}  # fmt: skip
BEGINNING = "import itertools\nimport functools\nimport math\nimport numpy as np\nimport symgrad\n"
STEP = 1e-4


@dataclass
class Refusal:
    """A program, its refusal, and the edits that follow the hint."""

    name: str
    text: str = BEGINNING
    kind: str = ""
    hint: str | None = None
    edits: list[tuple[str, str]] = field(default_factory=list)
    fails: str = ""  #: why the hint does not work
    is_other: bool = False  #: whether the way out gives another value

    @property
    def edited(self) -> str:
        """The edited program; each edit must apply."""
        text = self.text
        for old, new in self.edits:
            assert old in text, f"{self.name}: {old!r} is not in the program"
            text = text.replace(old, new)
        return text

    @cached_property
    def missing(self) -> list[str]:
        """The packages that the program imports and that are not installed."""
        nodes = [node for node in ast.walk(ast.parse(self.text + self.edited)) if isinstance(node, ast.Import | ast.ImportFrom)]
        names = [alias.name if isinstance(node, ast.Import) else str(node.module) for node in nodes for alias in node.names]
        return [root for name in names if importlib.util.find_spec(root := name.partition(".")[0]) is None]


def refusals() -> list[Refusal]:
    """The programs of ``provoked.txt``."""
    every: list[Refusal] = []
    for line in (Path(__file__).parent / "provoked.txt").read_text().splitlines():
        last = every[-1] if every else Refusal("")
        if line.startswith("### "):
            every.append(Refusal(line[4:].removesuffix(", another value"), is_other=line.endswith(", another value")))
        elif line.startswith(">>> "):
            last.kind, _, hint = line[4:].partition(": ")
            last.hint = hint or None
        elif line.startswith("! "):
            last.fails = line[2:]
        elif last.kind and line.startswith("-"):
            if not last.edits or last.edits[-1][1]:
                last.edits.append(("", ""))
            last.edits[-1] = (f"{last.edits[-1][0]}\n{line[1:]}".removeprefix("\n"), "")
        elif last.kind and line.startswith("+"):
            last.edits[-1] = (last.edits[-1][0], f"{last.edits[-1][1]}\n{line[1:]}".removeprefix("\n"))
        elif every:
            last.text += f"{line}\n"
    return every


def function_of(text: str) -> Any:
    """The function f of a program, and its parameters that have values here."""
    return symgrad.from_source(text, "f", {"__name__": "provoked"})


def arguments_of(function: Any) -> dict[str, Any]:
    """Fresh arguments, by the parameters without defaults."""
    names = [name for name, one in inspect.signature(function).parameters.items() if one.default is one.empty]
    return {name: copy.deepcopy(ARGUMENTS[name]) for name in names}


def refusal_of(text: str) -> SymgradError:
    """The error that the first gradient of a program raises."""
    function = function_of(text)
    try:
        derivative(function)(**arguments_of(function))
    except SymgradError as error:
        return error
    raise AssertionError("it is not refused")


def derivative(function: Any) -> Any:
    """The value and the gradients of a program."""
    wrt = tuple(name for name, value in arguments_of(function).items() if not isinstance(value, int))
    return symgrad.value_and_grad(function, wrt=wrt, allow_unused=True)


def slope(text: str, name: str, place: int | None) -> float:
    """The differences along a number of an argument, with one Richardson step; each call runs a fresh program."""

    def at(step: float) -> float:
        function = function_of(text)
        arguments = arguments_of(function)
        if place is None:
            arguments[name] += step
        else:
            arguments[name][place] += step
        return float(function(**arguments))

    wide, narrow = ((at(h) - at(-h)) / (2 * h) for h in (2 * STEP, STEP))
    return (4 * narrow - wide) / 3


def check(refusal: Refusal) -> None:
    """The edited program has the value of the program in plain Python, and a gradient that differences confirm."""
    plain = refusal.edited if refusal.is_other else refusal.text
    function, expected = function_of(refusal.edited), function_of(plain)
    value, gradients = derivative(function)(**arguments_of(function))
    np.testing.assert_allclose(value, expected(**arguments_of(expected)), rtol=1e-5, atol=1e-9)
    names = [name for name, held in arguments_of(function).items() if not isinstance(held, int)]
    for name, gradient in zip(names, gradients, strict=True):
        many = isinstance(ARGUMENTS[name], float)
        slopes = [slope(plain, name, place) for place in ([None] if many else range(len(ARGUMENTS[name])))]
        np.testing.assert_allclose(np.ravel(gradient), slopes, rtol=2e-4, atol=2e-5)


def outcome(refusal: Refusal) -> str:
    """An empty text if the hint works, otherwise why it does not."""
    if refusal.fails:
        return refusal.fails
    try:
        check(refusal)
    except Exception as error:
        return f"{type(error).__name__}: {str(error).strip().splitlines()[0]}"
    return ""


def main(names: list[str]) -> None:
    """Print the share, or some programs."""
    warnings.simplefilter("ignore")
    chosen = [refusal for refusal in refusals() if not refusal.missing and (not names or refusal.name in names)]
    works: Counter[str] = Counter()
    for refusal in chosen:
        why = outcome(refusal)
        works[refusal.kind] += not why
        if names:
            print(symgrad.errors.render(refusal_of(refusal.text)))
        if why:
            print(f"{refusal.name}: {refusal.kind}, {refusal.hint}\n    {why}")
    counts = Counter(refusal.kind for refusal in chosen)
    for kind, count in counts.most_common():
        print(f"{kind:20} {works[kind]:4} of {count:4}")
    distinct = len({(refusal.kind, refusal.hint) for refusal in chosen})
    total = sum(works.values())
    print(f"{total} of {len(chosen)} hints work: {100 * total / max(len(chosen), 1):.0f} %; {distinct} different hints")


if __name__ == "__main__":
    main(sys.argv[1:])
