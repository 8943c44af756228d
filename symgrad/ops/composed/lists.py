"""Methods of lists of any length, and repetition of lists, expressed by slices."""

from __future__ import annotations

import itertools
from typing import Any

from symgrad.ops.composed.refusing import must


def first_items(iterable: Any, count: Any) -> Any:
    """Return the first ``count`` items of an iterable, as ``np.fromiter`` takes them."""
    must(count >= 0, "np.fromiter is supported with a count that is not negative, or with the literal -1")
    items = list(itertools.islice(iterable, count))
    if len(items) < count:
        raise ValueError(f"iterator too short: Expected {count} but iterator had only {len(items)} items.")
    return items


def place_of(items: Any, value: Any) -> Any:
    """``items.index(value)``."""
    place = -1
    for k, item in enumerate(items):
        if item == value:
            place = k
            break
    if place < 0:
        raise ValueError("list.index(x): x not in list")
    return place


def place_between(items: Any, value: Any, start: Any, stop: Any = 9223372036854775807) -> Any:
    """``items.index(value, start, stop)``."""
    first = start + len(items) if start < 0 else start
    last = stop + len(items) if stop < 0 else stop
    place = -1
    for k, item in enumerate(items):
        if k >= first and k < last and item == value:
            place = k
            break
    if place < 0:
        raise ValueError("list.index(x): x not in list")
    return place


def rotated(items: Any, steps: Any) -> Any:
    """``items.rotate(steps)``."""
    if len(items) == 0:
        return items[:]
    at = len(items) - steps % len(items)
    return items[at:] + items[:at]


def place_to_remove(items: Any, value: Any) -> Any:
    """Return the index of the first item equal to a value, for ``items.remove(value)``."""
    place = -1
    for k, item in enumerate(items):
        if item == value:
            place = k
            break
    if place < 0:
        raise ValueError("list.remove(x): x not in list")
    return place


def times_in(items: Any, value: Any) -> Any:
    """``items.count(value)``."""
    times = 0
    for item in items:
        if item == value:
            times += 1
    return times


def without(items: Any, place: Any) -> Any:
    """Return a list without the item at an index."""
    return items[:place] + items[place + 1 :]


def without_item(items: Any, place: Any) -> Any:
    """Return the list after ``del items[place]``."""
    at = place + len(items) if place < 0 else place
    if at < 0 or at >= len(items):
        raise IndexError("list assignment index out of range")
    return items[:at] + items[at + 1 :]


def without_popped(items: Any, place: Any) -> Any:
    """Return the list after ``items.pop(place)``."""
    at = place + len(items) if place < 0 else place
    return items[:at] + items[at + 1 :]


def with_part(items: Any, start: Any, stop: Any, others: Any) -> Any:
    """Return a list with ``items[start:stop]`` replaced."""
    first = items[: 0 if start is None else start]
    before = len(items) if stop is None else stop + len(items) if stop < 0 else stop
    if before < len(first):
        before = len(first)
    return first + others + items[before:]


def repeated(items: Any, times: Any) -> Any:
    """``items * times``."""
    copies = items[:0]
    for _ in range(times):
        copies.extend(items)
    return copies


def repeated_tuple(items: Any, times: Any) -> Any:
    """``items * times`` of a tuple."""
    return tuple(repeated(list(items), times))


def range_item(start: Any, stop: Any, step: Any, place: Any) -> Any:
    """``range(start, stop, step)[place]``."""
    count = len(range(start, stop, step))
    at = place + count if place < 0 else place
    if at < 0 or at >= count:
        raise IndexError("range object index out of range")
    return start + at * step


__all__ = ["place_of", "place_to_remove", "range_item", "repeated", "repeated_tuple", "times_in", "with_part", "without", "without_item"]
__all__ += ["without_popped"]


def last_items(items: Any, count: Any) -> Any:
    """The last ``count`` items of a list, or all."""
    return items[max(len(items) - count, 0) :]
