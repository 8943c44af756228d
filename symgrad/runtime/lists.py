"""Run-time support: index and order of items in lists of texts and of tuples."""

from __future__ import annotations

from typing import Any


def contains_row(*parts: Any) -> bool:
    """Whether one index of the lists in the first half of ``parts`` holds the numbers in the second half.

    >>> contains_row([1, 2], [3, 4], 2, 3)
    False
    """
    count = len(parts) // 2
    return parts[count:] in zip(*parts[:count])


def row_index(*parts: Any) -> int:
    """Return the first such index.

    >>> row_index([1, 2], [3, 4], 2, 4)
    1
    """
    count = len(parts) // 2
    return list(zip(*parts[:count])).index(parts[count:])


def order_of(backwards: bool, first: list[Any], *more: list[Any]) -> list[int]:
    """Return the sorted order of a list as indices; ``more`` lists break ties.

    >>> order_of(False, ["b", "a", "b"], [2, 1, 1])
    [1, 2, 0]
    """
    rows = list(zip(first, *more)) if more else first
    return sorted(range(len(first)), key=rows.__getitem__, reverse=backwards)
