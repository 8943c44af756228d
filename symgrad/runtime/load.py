"""Turns source text into a function that tracebacks, ``pdb`` and ``inspect.getsource`` can show, and imports modules when needed.

``deep_calls`` says how deep Python may call while a function is read and differentiated: the stages go through a program by recursion.
"""

from __future__ import annotations

import ast
import gc
import hashlib
import importlib
import linecache
import os
import sys
import threading
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from symgrad.location import GENERATED, PLACES, Loc


def load(text: str, name: str, namespace: dict[str, Any], place: Callable[[int], Loc] | None = None) -> Callable[..., Any]:
    """Compile the text, with the namespace as its globals, and return the function of that name.

    ``place`` maps a line of the text to its place in the user's source.

    >>> load("def double(x):\\n    return 2 * x\\n", "double", {})(3)
    6
    """
    plain = "".join(c if c.isalnum() or c == "_" else "_" for c in name)
    filename = f"{GENERATED}: {plain} {hashlib.sha256(text.encode()).hexdigest()[:8]}>"
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


# ------------------------------------------------------------------ how deep Python may call

#: the recursion limit; the longest programs need a quarter of it, and less than half of a thread's C stack
DEPTH = 20_000

_LOCK = threading.Lock()
_inside: list[int] = []  #: the limits in force when each of the active contexts was entered


@contextmanager
def deep_calls() -> Iterator[None]:
    """Raise Python's recursion limit inside the context; the last one to leave restores it, unless it was changed meanwhile."""
    with _LOCK:
        _inside.append(sys.getrecursionlimit())
        if _inside[0] < DEPTH:
            sys.setrecursionlimit(DEPTH)
    try:
        yield
    finally:
        with _LOCK:
            before = _inside[0] if len(_inside) == 1 else None
            _inside.pop()
            if before is not None and before < DEPTH == sys.getrecursionlimit():
                sys.setrecursionlimit(before)


# ------------------------------------------------------------------ the lock of all compilation

#: held while anything is compiled; one lock for all, because compiling one function may compile another.
#: It is held across a fork: a child process never inherits a half-compiled derivative. Modules that are imported late are imported under
#: it too: Python locks a module while a thread imports it, and a child of a fork has that lock, but not the thread that would release it.
LOCK = threading.RLock()


def imported(name: str) -> types.ModuleType:
    """A module that is imported when it is first needed, so that a fork waits until it is there."""
    with LOCK:
        return importlib.import_module(name)


def release() -> None:
    """Let go of the lock after a fork, in the parent and in the child."""
    LOCK.release()


if hasattr(os, "register_at_fork"):
    # the thread that forks waits for a compilation in another thread; in the child that other thread would never finish
    os.register_at_fork(before=LOCK.acquire, after_in_parent=release, after_in_child=release)


__all__ = ["LOCK", "deep_calls", "imported", "release"]
