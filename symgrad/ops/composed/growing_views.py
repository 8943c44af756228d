"""Views of dicts with computed keys, and iteration over such a dict."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from symgrad.ops.composed.growing_keys import Unanswered, compared, is_among, key_for, undecided


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

    def __reversed__(self) -> Iterator[Any]:
        return walk_back(self.viewed, len(self.viewed.stored_keys), self.viewed.version, key_at)

    def __contains__(self, key: Any) -> Any:
        return is_among(self.viewed.stored_keys, key_for(self.viewed.stored_keys, key))


class GrowingValues(View):
    """``d.values()``."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        return walk_over(self.viewed, len(self.viewed.stored_keys), self.viewed.version, item_at)

    def __reversed__(self) -> Iterator[Any]:
        return walk_back(self.viewed, len(self.viewed.stored_keys), self.viewed.version, item_at)

    def __contains__(self, item: Any) -> Any:
        compared(self.viewed, self.viewed)
        return any(not is_different(held, item) for held in self.viewed.stored_items)


class GrowingItems(View):
    """``d.items()``."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        return walk_over(self.viewed, len(self.viewed.stored_keys), self.viewed.version, pair_at)

    def __reversed__(self) -> Iterator[Any]:
        return walk_back(self.viewed, len(self.viewed.stored_keys), self.viewed.version, pair_at)

    def __contains__(self, pair: Any) -> Any:
        compared(self.viewed, self.viewed)
        if not isinstance(pair, tuple) or len(pair) != 2:
            return False
        key, item = pair
        return key in self.viewed and not is_different(self.viewed[key], item)


def is_different(item: Any, other: Any) -> Any:
    """Are two items different?  Of nans Python asks whether they are one object."""
    if item != item or other != other:
        undecided("items of a dict are compared, and there is a nan", "compare them one by one")
    return item != other


def walk_over(held: Any, count: Any, version: Any, part: Any) -> Iterator[Any]:
    """What ``part`` reads of a dict at each place, in order of insertion."""
    for place in range(count):
        check_unchanged(held, count, version)
        yield part(held, place)
    check_unchanged(held, count, version)


def walk_back(held: Any, count: Any, version: Any, part: Any) -> Iterator[Any]:
    """The same from the last place to the first."""
    for place in range(count - 1, -1, -1):
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
        undecided("a loop over a dict deletes keys and stores others", "loop over a copy of its keys, collected in a list before")
