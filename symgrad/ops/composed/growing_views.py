"""Views of dicts with computed keys, and iteration over such a dict."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from symgrad.ops.composed.growing_keys import Unanswered, compared, undecided


class View(Unanswered):
    """A view of a dict."""

    __slots__ = ("viewed",)

    def __init__(self, viewed: Any) -> None:
        self.viewed = viewed

    def __len__(self) -> Any:
        return len(self.viewed)


class GrowingKeys(View):
    """``d.keys()``."""

    __slots__ = ()

    def __iter__(self) -> Any:
        return self.viewed.walk(False, False)

    def __reversed__(self) -> Any:
        return self.viewed.walk_backwards(False, False)

    def __contains__(self, key: Any) -> Any:
        return key in self.viewed

    def __eq__(self, other: Any) -> Any:
        return len(self) == len(other) and all(key in other for key in self) if is_set_like(other) else NotImplemented

    def __ne__(self, other: Any) -> Any:
        return not (len(self) == len(other) and all(key in other for key in self)) if is_set_like(other) else NotImplemented

    def __le__(self, other: Any) -> Any:
        return len(self) <= len(other) and all(key in other for key in self) if is_set_like(other) else NotImplemented

    def __and__(self, other: Any) -> Any:
        is_smaller = len(self) <= len(other) if isinstance(other, (set, frozenset)) else is_set_like(other) and len(self) < len(other)
        return {key for key in self if key in other} if is_smaller else {key for key in other if key in self}

    __rand__ = __and__

    def __or__(self, other: Any) -> Any:
        result = set(self.viewed)  # as Python does it, with more room than for the keys one by one
        result.update(other)
        return result

    def __sub__(self, other: Any) -> Any:
        result = set(self.viewed)  # as Python does it, with more room than for the keys one by one
        result.difference_update(other)
        return result

    def __ror__(self, other: Any) -> Any:
        result = set(other)
        result.update(list(self))
        return result

    def __rsub__(self, other: Any) -> Any:
        result = set(other)
        result.difference_update(list(self))
        return result

    def isdisjoint(self, other: Any, /) -> Any:
        return not any(key in self for key in other)


class GrowingValues(View):
    """``d.values()``."""

    __slots__ = ()

    def __iter__(self) -> Any:
        return self.viewed.walk(True, False)

    def __reversed__(self) -> Any:
        return self.viewed.walk_backwards(True, False)

    def __contains__(self, item: Any) -> Any:
        compared(self.viewed, self.viewed)
        return any(not is_different(held, item) for held in self.viewed.values())


class GrowingItems(View):
    """``d.items()``."""

    __slots__ = ()

    def __iter__(self) -> Any:
        return self.viewed.walk(False, True)

    def __reversed__(self) -> Any:
        return self.viewed.walk_backwards(False, True)

    def __contains__(self, pair: Any) -> Any:
        compared(self.viewed, self.viewed)
        if not isinstance(pair, tuple) or len(pair) != 2:
            return False
        key, item = pair
        return key in self.viewed and not is_different(self.viewed[key], item)


def is_set_like(other: Any) -> Any:
    """Whether it is a set, or the keys of a dict."""
    return isinstance(other, (set, frozenset, type({}.keys())))


def is_different(item: Any, other: Any) -> Any:
    """Whether two items differ; a NaN is refused, because Python compares it by identity."""
    if item != item or other != other:
        undecided("items of a dict are compared, and there is a nan", "compare them one by one")
    return item != other


def items_under(held: Any, keys: Any) -> Any:
    """The items of a dict under some keys, which it must have."""
    for key in keys:
        if key not in held:
            undecided("keys are put in order by the items of a dict, and one of them is not in it", "leave such keys out before")
    return [held[key] for key in keys]


def walk_over(held: Any, count: Any, version: Any, part: Any) -> Iterator[Any]:
    """Yield ``part`` of each entry of a dict, in insertion order."""
    for place in range(count):
        check_unchanged(held, count, version)
        yield part(held, place)
    check_unchanged(held, count, version)


def walk_back(held: Any, count: Any, version: Any, part: Any) -> Iterator[Any]:
    """Yield the same in reverse order."""
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
    """Raise as Python does if the number of keys changed during iteration; refuse other changes, whose effect is undefined."""
    if held.version != version:
        if len(held.stored_keys) != count:
            raise RuntimeError("dictionary changed size during iteration")
        undecided("a loop over a dict deletes keys and stores others", "loop over a copy of its keys, collected in a list before")
