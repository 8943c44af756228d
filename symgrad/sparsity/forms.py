"""Forms of values for the pattern: the structure of a value with the number of a set in place of each of its numbers.

The form of a number is a set number. That of an array is an array of set numbers with the same memory layout,
so that views and copies match. That of a list is a list. A number through which no derivative passes has the
empty set.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from symgrad.sparsity.graph import Graph, members


def filled(value: Any, one: int) -> Any:
    """The form of a value, with one set everywhere.

    >>> filled([1.5, [np.zeros(2), 3]], 7)
    [7, [array([7, 7]), 0]]
    """
    match value:
        case np.ndarray():
            return np.full_like(value, one if value.dtype.kind in "fcO" else 0, np.int64)
        case list() | tuple():
            return [filled(item, one) for item in value]
        case float() | complex() | np.inexact():
            return one
    return 0


def laid_alike(value: np.ndarray, form: Any) -> np.ndarray:
    """A copy of a form in an array that is contiguous if and only if the value is."""
    alike = np.empty_like(value, np.int64)
    if not value.flags.forc and value.ndim:
        alike = np.empty([2 * extent for extent in value.shape], np.int64)[(slice(None, None, 2),) * value.ndim]
    alike[...] = form
    return alike


def leaves(form: Any) -> Iterator[np.ndarray]:
    """The sets in a form, as vectors."""
    if isinstance(form, list | tuple):
        for item in form:
            yield from leaves(item)
    else:
        yield np.ravel(np.asarray(form, np.int64))


def everything(graph: Graph, forms: list[Any]) -> int:
    """The union of all sets of some forms."""
    return graph.all_of(members([part for form in forms for part in leaves(form)]))


def as_integers(form: Any) -> Any:
    """A form computed by an op, converted to plain integers; the op may have produced floats.

    Raises TypeError for other contents.
    """
    if type(form) is int:
        return form
    match form:
        case np.ndarray() if form.dtype == np.int64:
            return form
        case np.ndarray() if form.dtype == np.float64 or not form.any():
            return form.astype(np.int64)
        case float() | np.integer():
            return int(form)
        case list() | tuple():
            return form if all(type(item) is int for item in form) else [as_integers(item) for item in form]
        case None | bool() | str():
            return 0
    raise TypeError(f"a form of {type(form).__name__}")


def union_of_forms(graph: Graph, a: Any, b: Any) -> Any:
    """The union of two forms, element by element; the empty set represents an empty form."""
    if isinstance(a, list | tuple) or isinstance(b, list | tuple):
        if isinstance(a, int) and a == 0:
            return b
        if isinstance(b, int) and b == 0:
            return a
        return [union_of_forms(graph, x, y) for x, y in zip(a, b, strict=True)]
    return graph.join(a, b)


__all__ = ["everything", "filled", "union_of_forms", "laid_alike", "leaves", "as_integers"]
