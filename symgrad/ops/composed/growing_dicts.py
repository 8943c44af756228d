"""Dicts with computed keys, which the frontend inlines: a list of keys and a list of items, in insertion order.

Both are lists of any length, so that loops, branches and derivatives treat them as any other list. ``version`` counts changes of the keys.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from symgrad.ops.composed.growing_keys import (
    Unanswered,
    compared,
    create,
    is_among,
    key_for,
    key_to_store,
    place_among,
    to_hold,
)
from symgrad.ops.composed.growing_views import (
    GrowingItems,
    GrowingKeys,
    GrowingValues,
    is_different,
    item_at,
    key_at,
    pair_at,
    walk_back,
    walk_over,
)


class GrowingDict(Unanswered):
    """A ``dict``."""

    __slots__ = ("stored_items", "stored_keys", "version")

    def __init__(self) -> None:
        self.stored_keys: Any = []
        self.stored_items: Any = []
        self.version = 0

    def __len__(self) -> Any:
        return len(self.stored_keys)

    def __contains__(self, key: Any) -> Any:
        return is_among(self.stored_keys, key_for(self.stored_keys, key))

    def __getitem__(self, key: Any) -> Any:
        sought = key_for(self.stored_keys, key)
        if not is_among(self.stored_keys, sought):
            raise KeyError(key)
        return self.stored_items[place_among(self.stored_keys, sought)]

    def __setitem__(self, key: Any, item: Any) -> None:
        sought = key_to_store(self.stored_keys, key)
        if is_among(self.stored_keys, sought):
            self.stored_items[place_among(self.stored_keys, sought)] = to_hold(self.stored_items, item)
            del item
        else:
            self.stored_keys.append(sought)
            self.stored_items.append(to_hold(self.stored_items, item))
            self.version += 1
            del item  # from here on only the list of items refers to a list

    def __delitem__(self, key: Any) -> None:
        sought = key_for(self.stored_keys, key)
        if not is_among(self.stored_keys, sought):
            raise KeyError(key)
        place = place_among(self.stored_keys, sought)
        del self.stored_keys[place]
        del self.stored_items[place]
        self.version += 1

    def walk(self, of_values: Any, of_pairs: Any) -> Iterator[Any]:
        part = pair_at if of_pairs else item_at if of_values else key_at
        return walk_over(self, len(self.stored_keys), self.version, part)

    def walk_backwards(self, of_values: Any, of_pairs: Any) -> Iterator[Any]:
        part = pair_at if of_pairs else item_at if of_values else key_at
        return walk_back(self, len(self.stored_keys), self.version, part)

    def __iter__(self) -> Iterator[Any]:
        return self.walk(False, False)

    def __reversed__(self) -> Iterator[Any]:
        return self.walk_backwards(False, False)

    def __eq__(self, other: Any) -> Any:
        if not isinstance(other, dict):
            return NotImplemented
        return self is other or have_equal_items(self, other)

    def __ne__(self, other: Any) -> Any:
        return not self == other

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Any:
        result = self.copy()
        result.stored_items = copy.deepcopy(self.stored_items)
        return result

    def __or__(self, other: Any) -> Any:
        if not isinstance(other, dict):
            return NotImplemented
        result = self.copy()
        put_all(result, other)
        return result

    def __ror__(self, other: Any) -> Any:
        if not isinstance(other, dict):
            return NotImplemented
        result = create(GrowingDict)
        put_all(result, other)
        put_all(result, self)
        return result

    def __ior__(self, other: Any) -> Any:
        put_all(self, other)
        return self

    def get(self, key: Any, default: Any = None, /) -> Any:
        sought = key_for(self.stored_keys, key)
        if is_among(self.stored_keys, sought):
            return self.stored_items[place_among(self.stored_keys, sought)]
        return default

    def setdefault(self, key: Any, default: Any = None, /) -> Any:
        sought = key_to_store(self.stored_keys, key)
        if not is_among(self.stored_keys, sought):
            self.stored_keys.append(sought)
            self.stored_items.append(to_hold(self.stored_items, default))
            self.version += 1
            del default
        else:
            del default
        return self.stored_items[place_among(self.stored_keys, sought)]

    def pop(self, key: Any, *default: Any) -> Any:
        sought = key_for(self.stored_keys, key)
        if not is_among(self.stored_keys, sought):
            if not default:
                raise KeyError(key)
            return default[0]
        place = place_among(self.stored_keys, sought)
        item = self.stored_items[place]
        del self.stored_keys[place]
        del self.stored_items[place]
        self.version += 1
        return item

    def popitem(self) -> Any:
        if len(self.stored_keys) == 0:
            raise KeyError("popitem(): dictionary is empty")
        self.version += 1
        return self.stored_keys.pop(), self.stored_items.pop()

    def clear(self) -> None:
        if len(self.stored_keys) > 0:
            self.stored_keys.clear()
            self.stored_items.clear()
            self.version += 1

    def copy(self) -> Any:
        result = create(GrowingDict)
        share_content(result, self)
        return result

    def update(self, *others: Any, **items: Any) -> None:
        for other in others:
            put_all(self, other)
        put_all(self, items)

    def keys(self) -> Any:
        return create(GrowingKeys, self)

    def values(self) -> Any:
        return create(GrowingValues, self)

    def items(self) -> Any:
        return create(GrowingItems, self)


class GrowingDefaultDict(GrowingDict):
    """A ``collections.defaultdict``."""

    __slots__ = ("factory",)

    def __init__(self, factory: Any) -> None:
        self.stored_keys = []
        self.stored_items = []
        self.version = 0
        self.factory = factory

    def __getitem__(self, key: Any) -> Any:
        sought = key_to_store(self.stored_keys, key)
        if not is_among(self.stored_keys, sought):
            self[key] = self.factory()
        return self.stored_items[place_among(self.stored_keys, sought)]

    def __ror__(self, other: Any) -> Any:
        if not isinstance(other, dict):
            return NotImplemented
        result = create(GrowingDefaultDict, self.factory)
        put_all(result, other)
        put_all(result, self)
        return result

    @property
    def default_factory(self) -> Any:
        return self.factory

    def copy(self) -> Any:
        result = create(GrowingDefaultDict, self.factory)
        share_content(result, self)
        return result


# ------------------------------------------------------------------ of several dicts


def put_all(held: Any, other: Any) -> None:
    """Store the items of a dict, or of pairs of key and item."""
    if isinstance(other, dict):
        for key, item in other.items():
            held[key] = item
    else:
        for key, item in other:
            held[key] = item


def dict_by_keys(held: Any) -> Any:
    """Return a dict of an object with a method ``keys``."""
    return {key: held[key] for key in held.keys()}  # noqa: SIM118 - that is what Python calls


def put_keys(held: Any, keys: Any, item: Any) -> None:
    """Store one item under each of some keys."""
    for key in keys:
        held[key] = item


def share_content(held: Any, other: Any) -> None:
    """Make a new dict share the content of another one."""
    held.stored_keys = other.stored_keys[:]
    held.stored_items = other.stored_items[:]


def have_equal_items(held: Any, other: Any) -> Any:
    """Whether two dicts have the same keys, with equal items."""
    compared(held, other)
    if len(held) != len(other):
        return False
    for key, item in held.items():
        if key not in other:
            return False
        if is_different(item, other[key]):
            return False
    return True
