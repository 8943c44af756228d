"""One lock for all compiling, held across a fork: a child process never starts with a derivative that is half compiled."""

from __future__ import annotations

import os
import threading

#: held while anything is compiled; one lock for all, because compiling one function may compile another
LOCK = threading.RLock()


def release() -> None:
    """Let go of the lock after a fork, in the parent and in the child."""
    LOCK.release()


if hasattr(os, "register_at_fork"):
    # the thread that forks waits for a compilation in another thread; in the child that other thread would never finish
    os.register_at_fork(before=LOCK.acquire, after_in_parent=release, after_in_child=release)
