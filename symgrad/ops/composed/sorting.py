"""Lexicographic sorting of lists of tuples or texts, given as one array or list for each part."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.ops.composed.refusing import must
from symgrad.ops.composed.sequences import UNORDERED


def parts_at(items: Any, place: Any) -> Any:
    """The part of each tuple at a place."""
    return [item[place] for item in items]


def keys_by(items: Any, key: Any) -> Any:
    """What a key gives for each item."""
    return [key(item) for item in items]


def places_by(columns: Any, backwards: Any) -> Any:
    """The places of the items in order; of equals the first stays first, backwards too."""
    must(not any(bool(np.any(column != column)) for column in columns), UNORDERED)
    if backwards:
        return (len(columns[0]) - 1 - places_upwards([column[::-1] for column in columns]))[::-1]
    return places_upwards(columns)


def places_upwards(columns: Any) -> Any:
    """The places in order by the last column, then by the one before it where that decides, up to the first."""
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
    """The items that stand at some places."""
    return [items[place] for place in places]


def first_by_places(items: Any, places: Any, what: Any) -> Any:
    """The item at the first of some places, of which there must be one."""
    if len(places) == 0:
        raise ValueError(what)
    return items[places[0]]
