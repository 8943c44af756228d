"""Compiles source text to a function that tracebacks, ``pdb`` and ``inspect.getsource`` can show."""

from __future__ import annotations

import ast
import gc
import hashlib
import linecache
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from symgrad.location import PLACES, Loc


def load(text: str, name: str, namespace: dict[str, Any], place: Callable[[int], Loc] | None = None) -> Callable[..., Any]:
    """Compile the text, with the namespace as its globals, and return the function of that name.

    ``place`` maps a line of the text to its place in the user's source.

    >>> load("def double(x):\\n    return 2 * x\\n", "double", {})(3)
    6
    """
    plain = "".join(c if c.isalnum() or c == "_" else "_" for c in name)
    filename = f"<symgrad {plain} {hashlib.sha256(text.encode()).hexdigest()[:8]}>"
    space = {"__name__": "symgrad.generated", **namespace}
    exec(compile(text, filename, "exec"), space)
    if place is not None:
        PLACES[filename] = place
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    function: Callable[..., Any] = space[name]
    return function


def load_tree(tree: ast.Module, name: str, namespace: dict[str, Any]) -> Callable[..., Any]:
    """The function of that name of a tree, with the namespace as its globals; tracebacks show no lines of it."""
    space = {"__name__": "symgrad.generated", **namespace}
    exec(compile(tree, f"<symgrad {name}>", "exec"), space)
    function: Callable[..., Any] = space[name]
    return function


@contextmanager
def collector_paused() -> Iterator[None]:
    """No search for garbage meanwhile: all that is made stays in use, and looking through it again and again takes a third of the time."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()
