"""Functions of ``bisect``, and sorting by ``functools.cmp_to_key``, with exactly the comparisons of CPython."""

from __future__ import annotations

import bisect
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.ops.composed.refusing import is_text_or_tuple


def bisect_right(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> Any:
    """``bisect.bisect_right``."""
    if key is None and lo == 0 and hi is None and not is_text_or_tuple(x):
        return int(np.searchsorted(a, x, side="right"))
    if lo < 0:
        raise ValueError("lo must be non-negative")
    first = lo
    last = len(a) if hi is None else hi
    while first < last:
        middle = (first + last) // 2
        if x < (a[middle] if key is None else key(a[middle])):
            last = middle
        else:
            first = middle + 1
    return first


def bisect_left(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> Any:
    """``bisect.bisect_left``."""
    if key is None and lo == 0 and hi is None and not is_text_or_tuple(x):
        return int(np.searchsorted(a, x))
    if lo < 0:
        raise ValueError("lo must be non-negative")
    first = lo
    last = len(a) if hi is None else hi
    while first < last:
        middle = (first + last) // 2
        if (a[middle] if key is None else key(a[middle])) < x:
            first = middle + 1
        else:
            last = middle
    return first


def insort_right(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> None:
    """``bisect.insort_right``."""
    put_in(a, x, bisect_right(a, x if key is None else key(x), lo, hi, key=key))


def insort_left(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> None:
    """``bisect.insort_left``."""
    put_in(a, x, bisect_left(a, x if key is None else key(x), lo, hi, key=key))


def put_in(items: Any, item: Any, place: Any) -> None:
    """``list.insert`` at a computed index, for lists of known length."""
    items.append(item)
    k = len(items) - 1
    while k > place:
        items[k] = items[k - 1]
        k -= 1
    items[place] = item


class Compared:
    """The key that ``functools.cmp_to_key`` returns for an item."""

    __slots__ = ("mycmp", "obj")

    def __init__(self, mycmp: Any, obj: Any) -> None:
        self.mycmp = mycmp
        self.obj = obj

    def __lt__(self, other: Any) -> Any:
        mycmp = self.mycmp
        return mycmp(self.obj, other.obj) < 0

    def __gt__(self, other: Any) -> Any:
        mycmp = self.mycmp
        return mycmp(self.obj, other.obj) > 0

    def __le__(self, other: Any) -> Any:
        mycmp = self.mycmp
        return mycmp(self.obj, other.obj) <= 0

    def __ge__(self, other: Any) -> Any:
        mycmp = self.mycmp
        return mycmp(self.obj, other.obj) >= 0

    def __eq__(self, other: Any) -> Any:
        mycmp = self.mycmp
        return mycmp(self.obj, other.obj) == 0

    __hash__ = None  # type: ignore[assignment]


def ordered_by_comparison(items: Any, mycmp: Any, backwards: Any) -> Any:
    """``sorted`` by a function that compares two items; of equal ones the first stays first, backwards too."""
    result = list(items)[::-1] if backwards else list(items)
    for last in range(1, len(result)):
        item = result[last]
        place = last
        while place > 0 and mycmp(item, result[place - 1]) < 0:
            result[place] = result[place - 1]
            place -= 1
        result[place] = item
    return result[::-1] if backwards else result


BISECTING: dict[Callable[..., Any], Callable[..., Any]] = {
    bisect.bisect_right: bisect_right,
    bisect.bisect_left: bisect_left,
    bisect.insort_right: insort_right,
    bisect.insort_left: insort_left,
}

__all__ = ["BISECTING", "Compared", "ordered_by_comparison"]
