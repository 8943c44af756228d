"""Interruptions: exceptions of the frontend that end a path, or restart lowering with more knowledge."""

from __future__ import annotations

from typing import Any

from symgrad.frontend.caller import Captured


class Recapture(Exception):
    """An array from outside was found: lowering starts again with it in memory from the beginning."""

    def __init__(self, captured: Captured) -> None:
        super().__init__(captured.text)
        self.captured = captured


class StoredOutside(Exception):
    """Arrays are written to that are the caller's to see: lowering starts again, and what is stored in them is stored there too."""

    def __init__(self, texts: frozenset[str]) -> None:
        super().__init__(texts)
        self.texts = texts


class NeedsState(Exception):
    """Something asks for an iterator after its first use: lowering starts again, and those made at these places have a position."""

    def __init__(self, sites: frozenset[Any]) -> None:
        super().__init__(sites)
        self.sites = sites


class CallsItself(Exception):
    """A function that is being inlined is called again: lowering starts again, and it becomes a function of the program."""

    def __init__(self, site: Any) -> None:
        super().__init__(site)
        self.site = site


class AssignedOutside(Exception):
    """Something outside is assigned to: lowering starts again, with a variable of the program in its place.

    Of a global variable ``key`` is its module's names and its own, ``source`` the function that assigns to it; of an attribute ``key`` is
    its owner and its name, ``source`` the owner.
    """

    def __init__(self, key: tuple[Any, str], source: Any) -> None:
        super().__init__(key)
        self.key = key
        self.source = source


class LoggersChange(Exception):
    """Messages were left out that loggers did not take, and the function changes loggers: it is lowered again with all messages."""


class GivenUp(Exception):
    """Something is refused, and nobody will be told: the function is lowered in another way next, or was refused before in a better one."""


class Unresolved(Exception):
    """A recursive call whose result is not known yet: this path tells nothing."""


class Raised(Exception):
    """The path that is being lowered surely raises here: what is left of the statement is never reached."""
