"""Texts of the ``TypeError`` of a call with wrong arguments of a function that is written in Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wording:
    """What Python says of the calls of one function."""

    name: Callable[[], str]  #: the qualified name
    count: int  #: parameters that can be passed by position
    optional: int = 0  #: the number of these with a default
    by_name: int = 0  #: keyword-only arguments of this call

    def excess(self, number: int | None) -> str:
        """Too many arguments by position; ``None`` for a number that is filled in."""
        least = f"from {self.count - self.optional} to " if self.optional else ""
        said = f"{self.name()}() takes {least}{self.count} positional argument{'s' if self.optional or self.count != 1 else ''} but "
        shown = "{}" if number is None else str(number)
        if self.by_name:
            words = f"(and {self.by_name} keyword-only argument{'s' if self.by_name != 1 else ''})"
            return said + f"{shown} positional argument{'s' if number != 1 else ''} {words} were given"
        return said + f"{shown} {'was' if number == 1 else 'were'} given"

    def missing(self, names: Sequence[str], kind: str = "positional") -> str:
        """Required arguments are missing."""
        *others, last = map(repr, names)
        listed = f"{', '.join(others)}{',' if len(others) > 1 else ''} and {last}" if others else last
        return f"{self.name()}() missing {len(names)} required {kind} argument{'s' if others else ''}: {listed}"

    def unexpected(self, name: str) -> str:
        """An argument by a name that no parameter has."""
        return f"{self.name()}() got an unexpected keyword argument {name!r}"

    def only_by_position(self, names: Sequence[str]) -> str:
        """Arguments by the names of parameters that are positional only."""
        return f"{self.name()}() got some positional-only arguments passed as keyword arguments: {', '.join(names)!r}"

    def twice(self, name: str) -> str:
        """An argument by position and by name."""
        return f"{self.name()}() got multiple values for argument {name!r}"


__all__ = ["Wording"]
