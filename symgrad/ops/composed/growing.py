"""Dicts whose keys are not known while compiling, as the frontend inlines them: a list of keys and a list of items, in order of insertion.

Both are lists of any length, so that loops, branches and derivatives treat them as any other list. ``version`` counts changes of the keys.
``key_for``, ``unanswered`` and ``undecided`` are carried out by the frontend (``frontend/growing_dicts.py``).
"""

from __future__ import annotations

import collections
from collections.abc import Iterator
from typing import Any


def key_for(keys: Any, key: Any) -> Any:
    """The key, which has to be of the same kind as the keys of the dict."""
    return key


def view_of(held: Any, kind: type) -> Any:
    """A view of a dict."""
    return kind(held)


def unanswered(what: str) -> Any:
    """Refuse a question to such a dict."""
    raise NotImplementedError(what)


def undecided(what: str) -> None:
    """Refuse what a program does with such a dict, when it runs."""
    raise NotImplementedError(what)


class Unanswered:
    """What is asked of a dict, or of a view of one, and is not answered."""

    __slots__ = ()

    def __eq__(self, other: Any) -> Any:
        return unanswered("compared")

    def __ne__(self, other: Any) -> Any:
        return unanswered("compared")

    def __hash__(self) -> Any:
        return unanswered("hashed")

    def __repr__(self) -> Any:
        return unanswered("shown as text")

    def __str__(self) -> Any:
        return unanswered("shown as text")

    def __format__(self, spec: Any) -> Any:
        return unanswered("shown as text")

    def __copy__(self) -> Any:
        return unanswered("copied")

    def __deepcopy__(self, memo: Any) -> Any:
        return unanswered("copied")

    def __reversed__(self) -> Any:
        return unanswered("reversed")

    def __or__(self, other: Any) -> Any:
        return unanswered("combined with another one")

    __ror__ = __ior__ = __and__ = __rand__ = __sub__ = __rsub__ = __xor__ = __rxor__ = __or__


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
        return key_for(self.stored_keys, key) in self.stored_keys

    def __getitem__(self, key: Any) -> Any:
        sought = key_for(self.stored_keys, key)
        if sought not in self.stored_keys:
            raise KeyError(key)
        return self.stored_items[self.stored_keys.index(sought)]

    def __setitem__(self, key: Any, item: Any) -> None:
        sought = key_for(self.stored_keys, key)
        if sought in self.stored_keys:
            self.stored_items[self.stored_keys.index(sought)] = item
        else:
            self.stored_keys.append(sought)
            self.stored_items.append(item)
            self.version += 1

    def __delitem__(self, key: Any) -> None:
        sought = key_for(self.stored_keys, key)
        if sought not in self.stored_keys:
            raise KeyError(key)
        place = self.stored_keys.index(sought)
        del self.stored_keys[place]
        del self.stored_items[place]
        self.version += 1

    def __iter__(self) -> Iterator[Any]:
        return walk_over(self, len(self.stored_keys), self.version, key_at)

    def get(self, key: Any, default: Any = None, /) -> Any:
        sought = key_for(self.stored_keys, key)
        if sought in self.stored_keys:
            return self.stored_items[self.stored_keys.index(sought)]
        return default

    def setdefault(self, key: Any, default: Any = None, /) -> Any:
        sought = key_for(self.stored_keys, key)
        if sought not in self.stored_keys:
            self.stored_keys.append(sought)
            self.stored_items.append(default)
            self.version += 1
        return self.stored_items[self.stored_keys.index(sought)]

    def pop(self, key: Any, *default: Any) -> Any:
        sought = key_for(self.stored_keys, key)
        if sought not in self.stored_keys:
            if not default:
                raise KeyError(key)
            return default[0]
        place = self.stored_keys.index(sought)
        item = self.stored_items[place]
        del self.stored_keys[place]
        del self.stored_items[place]
        self.version += 1
        return item

    def keys(self) -> Any:
        return view_of(self, GrowingKeys)

    def values(self) -> Any:
        return view_of(self, GrowingValues)

    def items(self) -> Any:
        return view_of(self, GrowingItems)


class GrowingDefaultDict(GrowingDict):
    """A ``collections.defaultdict``."""

    __slots__ = ("factory",)

    def __init__(self, factory: Any) -> None:
        self.stored_keys = []
        self.stored_items = []
        self.version = 0
        self.factory = factory

    def __getitem__(self, key: Any) -> Any:
        sought = key_for(self.stored_keys, key)
        if sought not in self.stored_keys:
            self[key] = self.factory()
        return self.stored_items[self.stored_keys.index(sought)]


class GrowingCounter(GrowingDict):
    """A ``collections.Counter``."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        sought = key_for(self.stored_keys, key)
        if sought in self.stored_keys:
            return self.stored_items[self.stored_keys.index(sought)]
        return 0

    def __delitem__(self, key: Any) -> None:
        sought = key_for(self.stored_keys, key)
        if sought in self.stored_keys:
            place = self.stored_keys.index(sought)
            del self.stored_keys[place]
            del self.stored_items[place]
            self.version += 1


class View(Unanswered):
    """A view of a dict."""

    __slots__ = ("viewed",)

    def __init__(self, viewed: Any) -> None:
        self.viewed = viewed

    def __len__(self) -> Any:
        return len(self.viewed.stored_keys)


class GrowingKeys(View):
    """``d.keys()``."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        return walk_over(self.viewed, len(self.viewed.stored_keys), self.viewed.version, key_at)

    def __contains__(self, key: Any) -> Any:
        return key_for(self.viewed.stored_keys, key) in self.viewed.stored_keys


class GrowingValues(View):
    """``d.values()``."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        return walk_over(self.viewed, len(self.viewed.stored_keys), self.viewed.version, item_at)

    def __contains__(self, item: Any) -> Any:
        return unanswered("searched for an item")


class GrowingItems(View):
    """``d.items()``."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        return walk_over(self.viewed, len(self.viewed.stored_keys), self.viewed.version, pair_at)

    def __contains__(self, item: Any) -> Any:
        return unanswered("searched for an item")


def walk_over(held: Any, count: Any, version: Any, part: Any) -> Iterator[Any]:
    """What ``part`` reads of a dict at each place, in order of insertion."""
    for place in range(count):
        check_unchanged(held, count, version)
        yield part(held, place)
    check_unchanged(held, count, version)


def key_at(held: Any, place: Any) -> Any:
    return held.stored_keys[place]


def item_at(held: Any, place: Any) -> Any:
    return held.stored_items[place]


def pair_at(held: Any, place: Any) -> Any:
    return held.stored_keys[place], held.stored_items[place]


def check_unchanged(held: Any, count: Any, version: Any) -> None:
    """Python tells a change of the number of keys only; other changes end in what nobody can tell."""
    if held.version != version:
        if len(held.stored_keys) != count:
            raise RuntimeError("dictionary changed size during iteration")
        undecided("a loop over a dict deletes keys and stores others")


#: what the class of each is in Python
CLASSES: dict[type, type] = {
    GrowingDict: dict, GrowingDefaultDict: collections.defaultdict, GrowingCounter: collections.Counter,
    GrowingKeys: type({}.keys()), GrowingValues: type({}.values()), GrowingItems: type({}.items()),
}  # fmt: skip
