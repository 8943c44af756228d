"""Tracks which names are in use when, and finds free names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from symgrad.codegen.lifetimes import Stretch


@dataclass(slots=True)
class Timeline:
    """The numbers in use over time: a segment tree of bit sets; each node covers half the interval of its parent.

    The parent of node ``k`` is ``k // 2``; time ``t`` is leaf ``t + size``.
    """

    size: int  #: a power of two, at least the number of time steps
    throughout: dict[int, int] = field(default_factory=dict)  #: for each node the numbers in use throughout its interval
    sometime: dict[int, int] = field(default_factory=dict)  #: for each node the numbers in use at some time in its interval

    def nodes(self, start: int, end: int) -> Iterator[int]:
        """The few nodes that cover an interval."""
        left, right = start + self.size, end + self.size
        while left < right:
            if left & 1:
                yield left
            if right & 1:
                yield right - 1
            left, right = (left + 1) >> 1, right >> 1

    def use(self, number: int, stretches: list[Stretch]) -> None:
        """Mark a number as in use during the intervals."""
        bit = 1 << number
        for start, end in stretches:
            for node in self.nodes(start, end):
                self.throughout[node] = self.throughout.get(node, 0) | bit
                while node and not (known := self.sometime.get(node, 0)) & bit:
                    self.sometime[node] = known | bit
                    node >>= 1

    def used(self, stretches: list[Stretch]) -> int:
        """The numbers in use at some time in the intervals, as bits."""
        bits = 0
        for start, end in stretches if self.sometime else ():
            for node in self.nodes(start, end):
                bits |= self.sometime.get(node, 0)
            for node in (start + self.size, end - 1 + self.size):
                while node:
                    bits |= self.throughout.get(node, 0)
                    node >>= 1
        return bits


def numbered(base: str, k: int) -> str:
    """The k-th name derived from ``base``.

    >>> numbered("x", 0), numbered("x", 2)
    ('x', 'x_2')
    """
    return f"{base}_{k}" if k else base


@dataclass(slots=True)
class Register:
    """The usage of names over time."""

    bases: set[str]  #: the bases of names
    moments: int
    most: int  #: an upper bound of the numbers in names
    timelines: dict[str, Timeline] = field(default_factory=dict)

    def timeline(self, base: str) -> Timeline:
        """The usage of the names derived from ``base``."""
        if base not in self.timelines:
            self.timelines[base] = Timeline(1 << self.moments.bit_length())
        return self.timelines[base]

    def use(self, name: str, stretches: list[Stretch]) -> None:
        """Mark a name as in use; ``x_2`` may be derived from ``x`` or from ``x_2``."""
        if name in self.bases:
            self.timeline(name).use(0, stretches)
        base, _, digits = name.rpartition("_")
        if (
            base in self.bases
            and digits.isascii()
            and digits.isdecimal()
            and digits[0] != "0"
            and len(digits) < 10
            and int(digits) <= self.most
        ):
            self.timeline(base).use(int(digits), stretches)

    def free(self, base: str, stretches: list[Stretch]) -> Iterator[str]:
        """The names derived from ``base`` that are free during the intervals, shortest first."""
        used = self.timeline(base).used(stretches)
        while True:
            bit = ~used & (used + 1)
            yield numbered(base, bit.bit_length() - 1)
            used |= bit
