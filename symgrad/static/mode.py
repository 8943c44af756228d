"""The current mode: operations run at once (eager), or are appended to a program (static)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from symgrad.vocabulary.dispatch import STATIC


def enable_static() -> None:
    """From now on operations are appended to the default program."""
    STATIC[0] = True


def disable_static() -> None:
    """From now on operations run at once."""
    STATIC[0] = False


def in_static(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that appends to programs, whichever mode is on."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        before, STATIC[0] = STATIC[0], True
        try:
            return function(*args, **kwargs)
        finally:
            STATIC[0] = before

    return run


def in_dynamic_mode() -> bool:
    """Whether operations run at once."""
    return not STATIC[0]


def in_static_mode() -> bool:
    """Whether operations are appended to a program."""
    return STATIC[0]
