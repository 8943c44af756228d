"""A location in the user's source: a file, a line, columns, and the text of the line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Loc:
    """A position in a source file; lines count from 1, columns from 0. ``backward``: of the op's reverse, in the backward half.

    >>> Loc("gated.py", 7, 4, 11, "    z = {w * h, x}")
    Loc(file='gated.py', line=7, column=4, end_column=11, text='    z = {w * h, x}')
    """

    file: str
    line: int
    column: int = 0
    end_column: int = 0
    text: str = ""
    backward: bool = field(default=False, compare=False, repr=False)

    def excerpt(self, margin: str = "      ") -> str:
        """The line with carets under the columns, indented by ``margin``."""
        stripped = self.text.lstrip()
        shift = len(self.text) - len(stripped)
        start = max(self.column - shift, 0)
        width = max(self.end_column - self.column, 1)
        width = max(1, min(width, len(stripped) - start))
        return f"{margin}{stripped.rstrip()}\n{margin}{' ' * start}{'^' * width}"


NOWHERE = Loc("", 0)

#: generated texts by their file names: functions from a line to the position in the user's source
PLACES: dict[str, Callable[[int], Loc]] = {}
