"""Unified diff of two IR functions, with the same names for corresponding values.

The printer numbers values consecutively, so one added op would change every later line. Lines equal up to these numbers are matched
first. The second text takes its names from the matches; its new values get numbers that the first text does not use.
"""

from __future__ import annotations

import difflib
import re

from symgrad.ir.core import Func
from symgrad.ir.show import COLUMN, show

#: a string, which contains no names, or a numbered name: ``%3``, ``h.2``, ``` `p["w"]`.1 ```
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|(?P<name>%|(?:[^\W\d]\w*|`[^`]*`)\.)(?P<number>\d+)\b')


def difference(first: Func, second: Func, titles: tuple[str, str] = ("first", "second"), context: int = 3) -> str:
    """The unified diff of two functions; empty if only numbers differ.

    >>> from symgrad.ir.parse import parse
    >>> a = parse('''
    ... func f(x: float) -> float:
    ...     %0 = sin(x) : float
    ...     %1 = cos(x) : float
    ...     %2 = multiply(%1, %1) : float
    ...     return %2
    ... ''')
    >>> b = parse('''
    ... func f(x: float) -> float:
    ...     %0 = cos(x) : float
    ...     %1 = square(%0) : float
    ...     return %1
    ... ''')
    >>> print(difference(a, b, ("lowered", "optimized")))
    --- lowered
    +++ optimized
    @@ -1,5 +1,4 @@
     func f(x: float) -> float:
    -    %0 = sin(x) : float
         %1 = cos(x) : float
    -    %2 = multiply(%1, %1) : float
    +    %2 = square(%1) : float
         return %2
    """
    before, after = show(first).splitlines(), show(second).splitlines()
    after = renamed(after, matching(before, after), first_free_numbers(before))
    return "\n".join(difflib.unified_diff(before, after, *titles, lineterm="", n=context))


def matching(before: list[str], after: list[str]) -> dict[str, str]:
    """Map names of the second text to names of the first, by the lines that agree except for numbers."""
    pairs = difflib.SequenceMatcher(None, [anonymous(line) for line in before], [anonymous(line) for line in after], autojunk=False)
    old_names: dict[str, str] = {}
    for start, other, size in pairs.get_matching_blocks():
        for k in range(size):
            for old, new in zip(names_in(before[start + k]), names_in(after[other + k]), strict=True):
                if new not in old_names and old not in old_names.values():
                    old_names[new] = old
    return old_names


def anonymous(line: str) -> str:
    """A line without the numbers of its names and without alignment."""
    return re.sub(r" +", " ", TOKEN.sub(lambda m: m["name"] or m[0], line))


def names_in(line: str) -> list[str]:
    """The numbered names of a line, in order."""
    return [m[0] for m in TOKEN.finditer(line) if m["name"]]


def first_free_numbers(lines: list[str]) -> dict[str, int]:
    """For each name the first number that a text does not use."""
    free: dict[str, int] = {}
    for line in lines:
        for m in TOKEN.finditer(line):
            if m["name"]:
                free[m["name"]] = max(free.get(m["name"], 0), int(m["number"]) + 1)
    return free


def renamed(lines: list[str], table: dict[str, str], free: dict[str, int]) -> list[str]:
    """The text with new names, its locations aligned again."""

    def name(m: re.Match[str]) -> str:
        if not m["name"]:
            return m[0]
        if m[0] not in table:
            number = free.get(m["name"], 0)
            free[m["name"]] = number + 1
            table[m[0]] = f"{m['name']}{number}"
        return table[m[0]]

    new_lines = []
    for line in lines:
        text, at, place = line.rpartition(" @ ")
        new_lines.append(f"{TOKEN.sub(name, text).rstrip().ljust(COLUMN)}{at}{place}" if at else TOKEN.sub(name, line))
    return new_lines


__all__ = ["difference"]
