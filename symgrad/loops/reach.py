"""What cannot be compiled: the whole function then runs as NumPy code."""

from __future__ import annotations

from symgrad.location import Loc


class OutOfReach(Exception):  # not an error: what the caller asked for runs, as NumPy code
    """A construct that has no compiled form: ``reason`` as the end of a sentence, ``loc`` where the user wrote it.

    >>> str(OutOfReach("complex numbers"))
    'complex numbers'
    """

    def __init__(self, reason: str, loc: Loc | None = None) -> None:
        super().__init__(reason)
        self.reason, self.loc = reason, loc


class NoPlaces(OutOfReach):
    """The rounds of an inner loop are not known before the outer one, so that its tape has to grow."""
