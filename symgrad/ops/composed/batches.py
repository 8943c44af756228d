"""Helpers of a loop over a batch: lists of arrays, and extents that must agree."""

from __future__ import annotations

from typing import Any


def same_size(size: Any, other: Any, place: str, other_place: str) -> None:
    """Raise ValueError if two arguments have different numbers of examples."""
    if other != size:
        raise ValueError(f"vmap: {place} has {size} examples, and {other_place} has {other}")


def size_of_items(items: Any, axis: Any, word: str) -> Any:
    """The number of examples of the arrays in a list; ValueError if they have different numbers."""
    size = items[0].shape[axis]
    for item in items:
        if item.shape[axis] != size:
            raise ValueError(f"vmap: axis {axis} of the arrays in {word} has {size} examples, and {item.shape[axis]}")
    return size


def items_at(items: Any, k: Any, axis: Any) -> Any:
    """One example of the arrays of a list."""
    if axis == 0:
        return [item[k] for item in items]
    return [item[:, k] for item in items]


__all__ = ["items_at", "same_size", "size_of_items"]
