"""Run-time support: index and order of items in lists of texts and of tuples."""

from __future__ import annotations

from typing import Any


def contains_row(*parts: Any) -> bool:
    """Do the numbers in the second half of ``parts`` stand at one place of the lists in the first half?

    >>> contains_row([1, 2], [3, 4], 2, 3)
    False
    """
    count = len(parts) // 2
    return parts[count:] in zip(*parts[:count])


def row_index(*parts: Any) -> int:
    """The first place at which they stand there.

    >>> row_index([1, 2], [3, 4], 2, 4)
    1
    """
    count = len(parts) // 2
    return list(zip(*parts[:count])).index(parts[count:])


def order_of(backwards: bool, first: list[Any], *more: list[Any]) -> list[int]:
    """The places of the items of a list in order; ``more`` lists decide where items of the first are equal.

    >>> order_of(False, ["b", "a", "b"], [2, 1, 1])
    [1, 2, 0]
    """
    rows = list(zip(first, *more)) if more else first
    return sorted(range(len(first)), key=rows.__getitem__, reverse=backwards)
