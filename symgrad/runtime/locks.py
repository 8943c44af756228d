"""The lock of all compilation, held across a fork: a child process never inherits a half-compiled derivative.

Modules that are imported late are imported under it too. Python locks a module while a thread imports it, and a child of a fork has
that lock, but not the thread that would let go of it.
"""

from __future__ import annotations

import importlib
import os
import threading
import types

#: held while anything is compiled; one lock for all, because compiling one function may compile another
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
