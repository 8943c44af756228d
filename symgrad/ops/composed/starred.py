"""Functions of any number of arguments, as functions of one tuple of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any


def largest_argument(values: Any) -> Any:
    """``max(*values)``."""
    if len(values) == 0:
        raise TypeError("max expected at least 1 argument, got 0")
    if len(values) == 1:
        return max(values[0])
    return max(values)


def smallest_argument(values: Any) -> Any:
    """``min(*values)``."""
    if len(values) == 0:
        raise TypeError("min expected at least 1 argument, got 0")
    if len(values) == 1:
        return min(values[0])
    return min(values)


def hypot(values: Any) -> Any:
    """``math.hypot(*values)``."""
    size = max([float(abs(value)) for value in values], default=0.0)
    if size == 0.0 or math.isinf(size):
        return size
    return size * math.sqrt(sum([(value / size) ** 2 for value in values]))


def column(rows: Any, place: int) -> Any:
    """The items at a place of tuples of one structure, as a tuple."""
    return tuple([row[place] for row in rows])


def columns(rows: Any) -> Iterator[Any]:
    """``zip(*rows)`` of rows of any length."""
    for place in range(min([len(row) for row in rows], default=0)):
        yield tuple([row[place] for row in rows])
