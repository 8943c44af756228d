"""Lexicographic sorting of lists of tuples or texts, given as one array or list for each part."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.ops.composed.refusing import must
from symgrad.ops.composed.sequences import UNORDERED


def parts_at(items: Any, place: Any) -> Any:
    """Return one part of each tuple."""
    return [item[place] for item in items]


def keys_by(items: Any, key: Any) -> Any:
    """Return the key of each item."""
    return [key(item) for item in items]


def places_by(columns: Any, backwards: Any) -> Any:
    """Return the sorted order as indices; the sort is stable, also in reverse."""
    must(not any(bool(np.any(column != column)) for column in columns), UNORDERED)
    if backwards:
        return (len(columns[0]) - 1 - places_upwards([column[::-1] for column in columns]))[::-1]
    return places_upwards(columns)


def places_upwards(columns: Any) -> Any:
    """Return the lexicographic order as indices: stable sorts by the last column, then by each preceding column."""
    order = np.argsort(columns[-1], kind="stable")
    for column in columns[:-1][::-1]:
        order = order[np.argsort(column[order], kind="stable")]
    return order


def ordered_by_columns(items: Any, columns: Any, backwards: Any) -> Any:
    """``sorted`` by arrays of numbers."""
    return [items[place] for place in places_by(columns, backwards)]


def first_by_columns(items: Any, columns: Any, backwards: Any) -> Any:
    """``min`` by arrays of numbers, or ``max`` backwards."""
    if len(items) == 0:
        raise ValueError("max() arg is an empty sequence" if backwards else "min() arg is an empty sequence")
    return items[places_by(columns, backwards)[0]]


def ordered_by_places(items: Any, places: Any) -> Any:
    """Return the items at some indices."""
    return [items[place] for place in places]


def first_by_places(items: Any, places: Any, what: Any) -> Any:
    """Return the item at the first index; raise if there is none."""
    if len(places) == 0:
        raise ValueError(what)
    return items[places[0]]
