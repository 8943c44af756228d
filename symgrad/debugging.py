"""Instruments a derivative's text, so that it reports the first variable of the user's that holds a value which is not finite."""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

import numpy as np

from symgrad.codegen.texts import Emitted
from symgrad.location import Loc

DEEPEST = 3  #: the depth of nested lists and tuples that is checked


def watching(function: Callable[..., Any], emitted: Emitted) -> Callable[..., Any]:
    """Return the function, instrumented to raise FloatingPointError at the first variable of its backward half that is not finite.

    It uses ``sys.settrace`` while it runs, so a debugger does not stop in it.
    """
    start = function.__code__.co_firstlineno  # the functions that it calls stand before it
    first = min((tie.line for tie in emitted.line_map if tie.backward and tie.line >= start), default=1)
    names = assigned(emitted.text)

    @functools.wraps(function)
    def watched(*args: Any, **kwargs: Any) -> Any:
        watch = Watch(function.__code__, names, first)
        before = sys.gettrace()
        sys.settrace(watch.enter)
        try:
            result = function(*args, **kwargs)
        finally:
            sys.settrace(before)
        if watch.failing is not None:
            line, name = watch.failing
            raise FloatingPointError(message(name, line, emitted, watch))
        return result

    return watched


def assigned(text: str) -> dict[int, list[str]]:
    """Return the variables that each line of a text assigns; the head of a loop assigns its index."""
    names: dict[int, list[str]] = {}
    for node in ast.walk(ast.parse(text)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
        for target in targets:
            names.setdefault(target.lineno, []).extend(map(base, target.elts if isinstance(target, ast.Tuple) else [target]))
    return {line: [name for name in bound if name] for line, bound in names.items()}


def base(target: ast.expr) -> str:
    """Return the variable that an assignment modifies."""
    while isinstance(target, ast.Subscript | ast.Attribute | ast.Starred):
        target = target.value
    return target.id if isinstance(target, ast.Name) else ""


@dataclass(slots=True)
class Watch:
    """The observations of one run: in each half the first variable that is not finite, with its line."""

    code: CodeType
    names: Mapping[int, list[str]]
    backward: int  #: the line on which the backward half begins
    failing: tuple[int, str] | None = None
    forward: tuple[int, str] | None = None  #: the same for the forward half, where such a value may be intended
    last: dict[FrameType, int] = field(default_factory=dict)

    def enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        """The tracing function for ``sys.settrace``: it observes the function itself, none of its callees."""
        return self.step if frame.f_code is self.code else None

    def step(self, frame: FrameType, event: str, argument: Any) -> Any:
        """Check the variables that the previous line assigned."""
        line = self.last.get(frame, 0)
        for name in self.names.get(line, ()):
            if self.failing is None and name in frame.f_locals and not is_finite(frame.f_locals[name]):
                if line >= self.backward:
                    self.failing = line, name
                elif self.forward is None:
                    self.forward = line, name
        self.last[frame] = frame.f_lineno
        return None if self.failing is not None or event == "return" else self.step


def is_finite(value: Any, depth: int = DEEPEST) -> bool:
    """Whether all floats in a value are finite."""
    if isinstance(value, float | complex | np.floating | np.complexfloating):
        return bool(np.isfinite(value))
    if isinstance(value, np.ndarray):
        return value.dtype.kind not in "fc" or bool(np.isfinite(value).all())
    if isinstance(value, list | tuple) and depth:
        return all(is_finite(item, depth - 1) for item in value)
    return True


def message(name: str, line: int, emitted: Emitted, watch: Watch) -> str:
    """Return the message about the first variable that is not finite: its statement, the user's line, and an origin in the forward half."""
    rows = emitted.text.splitlines()
    lines = [f"{name} is not finite after {rows[line - 1].partition('  #')[0].strip()}", *shown_place(emitted.place(line))]
    if watch.forward is not None:
        number, other = watch.forward
        lines += [f"  {other} was not finite before, after {rows[number - 1].strip()}", *shown_place(emitted.place(number))]
    return "\n".join(lines)


def shown_place(loc: Loc) -> list[str]:
    """Return a place in the form of error messages."""
    return [f"  {loc.file}:{loc.line}", f"      {loc.text.strip()}"] if loc.line else []


__all__ = ["watching"]
