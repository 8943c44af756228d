"""Raises Python's recursion limit while a function is read and differentiated: the stages traverse programs recursively."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

#: the recursion limit: four times the need of the longest programs; in C it takes less than half of a thread's stack
DEPTH = 20_000

_LOCK = threading.Lock()
_inside: list[int] = []  #: the limits that were in force when those that are inside came in


@contextmanager
def deep_calls() -> Iterator[None]:
    """Let Python call deeper meanwhile; the last one to leave puts the limit back, if nobody else has set another one."""
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


__all__ = ["deep_calls"]
