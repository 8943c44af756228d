"""Counters and ordered dicts that get computed keys."""

from __future__ import annotations

import collections
from collections.abc import Iterator
from typing import Any

from symgrad.ops.composed.growing_dicts import (
    GrowingDict,
    have_equal_items,
    put_all,
    put_keys,
    share_content,
)
from symgrad.ops.composed.growing_keys import compared, create, is_among, key_for, place_among, unanswered
from symgrad.ops.composed.growing_views import is_different


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


class GrowingOrderedDict(GrowingDict):
    """A ``collections.OrderedDict``."""

    __slots__ = ()

    def __eq__(self, other: Any) -> Any:
        return unanswered("compared, in order")

    def __ror__(self, other: Any) -> Any:
        if not isinstance(other, dict):
            return NotImplemented
        result = create(GrowingOrderedDict)
        put_all(result, other)
        put_all(result, self)
        return result

    def move_to_end(self, key: Any, last: Any = True) -> None:
        sought = key_for(self.stored_keys, key)
        if not is_among(self.stored_keys, sought):
            raise KeyError(key)
        place = place_among(self.stored_keys, sought)
        held = self.stored_keys[place]
        item = self.stored_items[place]
        del self.stored_keys[place]
        del self.stored_items[place]
        if last:
            self.stored_keys.append(held)
            self.stored_items.append(item)
        else:
            self.stored_keys.insert(0, held)
            self.stored_items.insert(0, item)
        self.version += 1

    def popitem(self, last: Any = True) -> Any:
        if len(self.stored_keys) == 0:
            raise KeyError("dictionary is empty")
        self.version += 1
        if last:
            return self.stored_keys.pop(), self.stored_items.pop()
        pair = self.stored_keys[0], self.stored_items[0]
        del self.stored_keys[0]
        del self.stored_items[0]
        return pair

    def copy(self) -> Any:
        result = create(GrowingOrderedDict)
        share_content(result, self)
        return result


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
    """Whether the other Counter has the counts of the first."""
    compared(held, other)
    return all(not is_different(count, other[key]) for key, count in held.items())


__all__ = ["GrowingCounter", "GrowingOrderedDict", "put_all", "put_keys"]
