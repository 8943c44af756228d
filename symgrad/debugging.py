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

DEEPEST = 3  #: lists and tuples in lists that are looked into


def watching(function: Callable[..., Any], emitted: Emitted) -> Callable[..., Any]:
    """The function, which raises FloatingPointError where a variable of its backward half first is not finite.

    It takes the place of a tracing function (``sys.settrace``) while it runs, so a debugger does not stop in it.
    """
    first = min((tie.line for tie in emitted.line_map if tie.backward), default=1)
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
    """The variables that each line of a text binds or stores to; the head of a loop binds its index."""
    names: dict[int, list[str]] = {}
    for node in ast.walk(ast.parse(text)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
        for target in targets:
            names.setdefault(target.lineno, []).extend(map(base, target.elts if isinstance(target, ast.Tuple) else [target]))
    return {line: [name for name in bound if name] for line, bound in names.items()}


def base(target: ast.expr) -> str:
    """The variable that an assignment changes."""
    while isinstance(target, ast.Subscript | ast.Attribute | ast.Starred):
        target = target.value
    return target.id if isinstance(target, ast.Name) else ""


@dataclass(slots=True)
class Watch:
    """What is seen while the function runs: the first variable of each half that is not finite, with the line of the text."""

    code: CodeType
    names: Mapping[int, list[str]]
    backward: int  #: the line on which the backward half begins
    failing: tuple[int, str] | None = None
    forward: tuple[int, str] | None = None  #: the same of the forward half, which may be meant
    last: dict[FrameType, int] = field(default_factory=dict)

    def enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        """For ``sys.settrace``: the function itself is watched, and nothing that it calls."""
        return self.step if frame.f_code is self.code else None

    def step(self, frame: FrameType, event: str, argument: Any) -> Any:
        """Look at what the line before has bound."""
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
    """Are all floats in a value finite?  What holds no floats is."""
    if isinstance(value, float | complex | np.floating | np.complexfloating):
        return bool(np.isfinite(value))
    if isinstance(value, np.ndarray):
        return value.dtype.kind not in "fc" or bool(np.isfinite(value).all())
    if isinstance(value, list | tuple) and depth:
        return all(is_finite(item, depth - 1) for item in value)
    return True


def message(name: str, line: int, emitted: Emitted, watch: Watch) -> str:
    """What is said of the first variable that is not finite: the statement, the user's line, and the forward half if it began there."""
    rows = emitted.text.splitlines()
    lines = [f"{name} is not finite after {rows[line - 1].partition('  #')[0].strip()}", *shown(emitted.place(line))]
    if watch.forward is not None:
        number, other = watch.forward
        lines += [f"  {other} was not finite before, after {rows[number - 1].strip()}", *shown(emitted.place(number))]
    return "\n".join(lines)


def shown(loc: Loc) -> list[str]:
    """A place as errors show it."""
    return [f"  {loc.file}:{loc.line}", f"      {loc.text.strip()}"] if loc.line else []


__all__ = ["watching"]
