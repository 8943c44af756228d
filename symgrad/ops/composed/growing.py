"""Counters that get computed keys, and the classes of all such dicts and views."""

from __future__ import annotations

import collections
from collections.abc import Iterator
from typing import Any

from symgrad.ops.composed.growing_dicts import (
    GrowingDefaultDict,
    GrowingDict,
    have_equal_items,
    put_all,
    put_keys,
    share_content,
)
from symgrad.ops.composed.growing_keys import compared, create, is_among, key_for, place_among, unanswered
from symgrad.ops.composed.growing_sets import GrowingSet
from symgrad.ops.composed.growing_views import GrowingItems, GrowingKeys, GrowingValues, is_different


class GrowingCounter(GrowingDict):
    """A ``collections.Counter``."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        sought = key_for(self.stored_keys, key)
        if is_among(self.stored_keys, sought):
            return self.stored_items[place_among(self.stored_keys, sought)]
        return 0

    def __delitem__(self, key: Any) -> None:
        sought = key_for(self.stored_keys, key)
        if is_among(self.stored_keys, sought):
            place = place_among(self.stored_keys, sought)
            del self.stored_keys[place]
            del self.stored_items[place]
            self.version += 1

    def __eq__(self, other: Any) -> Any:
        if not isinstance(other, dict):
            return NotImplemented
        if not isinstance(other, collections.Counter):
            return have_equal_items(self, other)
        return self is other or have_equal_counts(self, other) and have_equal_counts(other, self)

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, collections.Counter):
            return NotImplemented
        result = create(GrowingCounter)
        for key, count in self.items():
            keep_positive(result, key, count + other[key])
        for key, count in other.items():
            if key not in self:
                keep_positive(result, key, count)
        return result

    def __sub__(self, other: Any) -> Any:
        if not isinstance(other, collections.Counter):
            return NotImplemented
        result = create(GrowingCounter)
        for key, count in self.items():
            keep_positive(result, key, count - other[key])
        for key, count in other.items():
            if key not in self:
                keep_positive(result, key, 0 - count)
        return result

    def __or__(self, other: Any) -> Any:
        if not isinstance(other, collections.Counter):
            return NotImplemented
        result = create(GrowingCounter)
        for key, count in self.items():
            keep_positive(result, key, max(count, other[key]))
        for key, count in other.items():
            if key not in self:
                keep_positive(result, key, count)
        return result

    def __and__(self, other: Any) -> Any:
        if not isinstance(other, collections.Counter):
            return NotImplemented
        result = create(GrowingCounter)
        for key, count in self.items():
            keep_positive(result, key, min(count, other[key]))
        return result

    def __ror__(self, other: Any) -> Any:
        return unanswered("combined with a dict")

    def __ior__(self, other: Any) -> Any:
        return unanswered("changed by another Counter in place")

    __iand__ = __iadd__ = __isub__ = __ior__

    def copy(self) -> Any:
        result = create(GrowingCounter)
        share_content(result, self)
        return result

    def update(self, *others: Any, **items: Any) -> None:
        for other in others:
            add_counts(self, other, 1)
        add_counts(self, items, 1)

    def subtract(self, *others: Any, **items: Any) -> None:
        for other in others:
            add_counts(self, other, -1)
        add_counts(self, items, -1)

    def total(self) -> Any:
        return sum(self.stored_items)

    def elements(self) -> Iterator[Any]:
        for key, count in self.items():
            for _ in range(count):
                yield key

    def most_common(self, n: Any = None) -> Any:
        ordered = sorted(self.items(), key=lambda pair: pair[1], reverse=True)
        if n is None:
            return ordered
        return ordered[: max(n, 0)]


def add_counts(held: Any, other: Any, times: Any) -> None:
    """Add the counts of a dict, or one for each element; ``times`` is 1 or -1."""
    if isinstance(other, dict):
        for key, count in other.items():
            held[key] = held.get(key, 0) + times * count
    else:
        for key in other:
            held[key] = held.get(key, 0) + times


def keep_positive(held: Any, key: Any, count: Any) -> None:
    """Store a count, if it is above 0."""
    if count > 0:
        held[key] = count


def have_equal_counts(held: Any, other: Any) -> Any:
    """Has the other Counter the counts of the first?"""
    compared(held, other)
    return all(not is_different(count, other[key]) for key, count in held.items())


#: what the class of each is in Python
CLASSES: dict[type, type] = {
    GrowingDict: dict, GrowingDefaultDict: collections.defaultdict, GrowingCounter: collections.Counter,
    GrowingSet: set, GrowingKeys: type({}.keys()), GrowingValues: type({}.values()), GrowingItems: type({}.items()),
}  # fmt: skip
#: what a program may read of each, beside special methods
METHODS: dict[type, list[str]] = {
    cls: [word for word in dir(cls) if not word.startswith("_") and hasattr(python, word)] for cls, python in CLASSES.items()
}
#: those that are dicts
DICTS = (GrowingDict, GrowingDefaultDict, GrowingCounter)

__all__ = ["CLASSES", "DICTS", "METHODS", "GrowingCounter", "GrowingDefaultDict", "GrowingDict", "put_all", "put_keys"]
