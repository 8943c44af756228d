"""The table of examples: what each shows of Python, a small function, and what becomes of it."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Function = Callable[..., Any]

READ = "differentiated"
CARRIED_OUT = "static"
KEPT = "executed"
REFUSED = "refused"
CLASSES = (READ, CARRIED_OUT, KEPT, REFUSED)

#: what a parameter of an example is called with, by its name
ARGUMENTS: dict[str, Any] = {
    "x": 1.3,
    "y": 0.7,
    "v": np.array([0.7, -1.3, 1.9]),
    "m": np.array([[1.1, 0.4], [-0.3, 0.8]]),
    "n": 3,
    "table": {"a": 0.5, "b": 1.5},
}


@dataclass(frozen=True)
class Example:
    """Some constructs, a function that holds them, and what becomes of it."""

    section: str
    names: tuple[str, ...]
    function: Function
    verdict: str
    error: str = ""
    instead: Function | None = None
    beside: tuple[Any, ...] = ()  #: functions and classes that the example uses, and that are shown with it
    text: str = ""  #: of what is kept: how the forward half says it, where it does so in other words than the user
    runs: bool = True  #: does Python run what is refused, and give what the way out gives?

    @property
    def title(self) -> str:
        """The constructs, to tell examples apart."""
        return f"{self.section}: {', '.join(self.names)} ({self.verdict})"


@dataclass
class Section:
    """A section of the page: what stands in it, and whether its examples are rows of a table or blocks of code."""

    title: str
    words: str = ""  #: what stands before the examples
    examples: list[Example] = field(default_factory=list)

    def enter(self, names: tuple[str, ...], verdict: str, **more: Any) -> Callable[[Function], Function]:
        """Enter a function as an example."""

        def enter(function: Function) -> Function:
            self.examples.append(Example(self.title, names, function, verdict, **more))
            return function

        return enter

    def read(self, *names: str, beside: tuple[Any, ...] = ()) -> Callable[[Function], Function]:
        """The derivative passes through it."""
        return self.enter(names, READ, beside=beside)

    def carried_out(self, *names: str, beside: tuple[Any, ...] = ()) -> Callable[[Function], Function]:
        """It is done while compiling."""
        return self.enter(names, CARRIED_OUT, beside=beside)

    def kept(self, *names: str, text: str = "") -> Callable[[Function], Function]:
        """The forward half does it where it stands, as the user wrote it or in the words of ``text``."""
        return self.enter(names, KEPT, text=text)

    def refused(self, *names: str, error: str, instead: Function, runs: bool = True) -> Callable[[Function], Function]:
        """It raises an error; ``instead`` is the way out."""
        return self.enter(names, REFUSED, error=error, instead=instead, runs=runs)


def arguments_of(function: Function) -> dict[str, Any]:
    """Fresh arguments for a function, by the names of its parameters."""
    return {name: copy.deepcopy(ARGUMENTS[name]) for name in inspect.signature(function).parameters}
