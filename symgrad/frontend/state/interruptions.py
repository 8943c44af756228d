"""Interruptions: exceptions of the frontend that end a path, or restart lowering with more knowledge."""

from __future__ import annotations

from typing import Any

from symgrad.frontend.state.caller import Captured


class Recapture(Exception):
    """The function reads an array from outside: lowering restarts with the array in memory from the beginning."""

    def __init__(self, captured: Captured) -> None:
        super().__init__(captured.text)
        self.captured = captured


class StoredOutside(Exception):
    """Arrays that the caller sees are written to: lowering restarts, and stores to them also write to the caller's arrays."""

    def __init__(self, texts: frozenset[str]) -> None:
        super().__init__(texts)
        self.texts = texts


class NeedsState(Exception):
    """An iterator is used after its first use: lowering restarts, and iterators created at these locations have a position."""

    def __init__(self, sites: frozenset[Any]) -> None:
        super().__init__(sites)
        self.sites = sites


class CallsItself(Exception):
    """A function that is being inlined calls itself: lowering restarts, and it becomes a function of the program."""

    def __init__(self, site: Any) -> None:
        super().__init__(site)
        self.site = site


class AssignedOutside(Exception):
    """An outside variable is assigned to: lowering restarts, with a variable of the program in its place.

    For a global variable, ``key`` is its module's names and its own, ``source`` the function that
    assigns to it; for an attribute, ``key`` is its owner and its name, ``source`` the owner.
    """

    def __init__(self, key: tuple[Any, str], source: Any) -> None:
        super().__init__(key)
        self.key = key
        self.source = source


class LoggersChange(Exception):
    """Discarded messages were omitted, and the function changes loggers: it is lowered again with all messages."""


class GivenUp(Exception):
    """A refusal that is discarded: another way of lowering follows, or a more helpful refusal came before."""


class Unresolved(Exception):
    """A recursive call whose result is not known yet: this path contributes nothing."""


class Raised(Exception):
    """The path that is being lowered certainly raises here: the rest of the statement is unreachable."""
