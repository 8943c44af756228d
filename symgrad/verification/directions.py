"""Trees of numbers (numbers, arrays, and tuples, lists, dicts and records of these) as vectors: directions, steps, inner products."""

from __future__ import annotations

import copy
import itertools
from types import SimpleNamespace
from typing import Any

import numpy as np

from symgrad.abstraction import record_names
from symgrad.containers import copied_container, items_held
from symgrad.runtime.support import refill
from symgrad.text import attribute, has_literal
from symgrad.text import item as item_of
from symgrad.verification.agreement import children, is_float
from symgrad.verification.duplicate import Duplicate


def fresh(value: Any) -> Any:
    """A copy with writable arrays."""
    return Duplicate().of(value) if isinstance(value, np.ndarray) or children(value) is not None else value


def random_like(value: Any, random: np.random.Generator) -> Any:
    """Random numbers of unit variance for each float of a tree, in nested lists; None for other leaves."""
    items = children(value)
    if items is not None:
        return [random_like(item, random) for item in items]
    if not is_float(value):
        return None
    numbers = random.standard_normal(np.shape(value))
    if np.iscomplexobj(value):
        numbers = numbers + 1j * random.standard_normal(np.shape(value))
    return numbers.astype(value.dtype) if isinstance(value, np.ndarray | np.generic) else type(value)(numbers)


def only(tangent: Any, leaf: int) -> Any:
    """A direction that moves only one float or array of floats, given by its index.

    >>> only([1.0, [None, np.ones(2)]], 1)
    [0.0, [None, array([1., 1.])]]
    """
    places = itertools.count()

    def part(tangent: Any) -> Any:
        if isinstance(tangent, list):
            return [part(inner) for inner in tangent]
        return tangent if tangent is None or next(places) == leaf else 0 * tangent

    return part(tangent)


def leaf_names(value: Any, name: str) -> list[str]:
    """The names of the floats and arrays of floats in a tree.

    >>> leaf_names({"w": np.ones(2), "b": [1.0, 2]}, "p")
    ["p['w']", "p['b'][0]"]
    """
    items = children(value)
    if items is None:
        return [name] if is_float(value) else []
    names = item_names(value, name)
    return [leaf for inner, there in zip(items, names, strict=True) for leaf in leaf_names(inner, there)]


def item_names(value: Any, name: str) -> list[str]:
    """The expressions of the items of a container called ``name``, in the order of ``children``."""
    if isinstance(value, dict):
        return [item_of(name, key) if has_literal(key) else f"{name}[...]" for key, _ in items_held(value)]
    if isinstance(value, list) or isinstance(value, tuple) and not hasattr(value, "_fields"):
        return [item_of(name, k) for k, _ in enumerate(children(value) or ())]
    return [attribute(name, word) for word in (value._fields if isinstance(value, tuple) else record_names(value))]  # type: ignore[attr-defined]


def by_key(value: Any, parts: Any) -> Any:
    """Nested lists that represent a tree, converted back to dicts and attributes where the tree has them."""
    items = children(value)
    if items is None:
        return parts
    entries = [by_key(item, part) for item, part in zip(items, parts, strict=True)]
    if isinstance(value, dict):
        return dict(zip([key for key, _ in items_held(value)], entries, strict=True))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*entries)
    return entries if isinstance(value, tuple | list) else SimpleNamespace(**dict(zip(record_names(value), entries, strict=True)))


def with_items(value: Any, items: list[Any]) -> Any:
    """A container of the class of ``value`` with other items, in the order of ``children``.

    >>> with_items({"a": 1.0, "b": 2.0}, [3.0, 4.0])
    {'a': 3.0, 'b': 4.0}
    """
    if isinstance(value, tuple):
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, list | dict):
        record = copied_container(value)
        refill(record, items if isinstance(value, list) else zip([key for key, _ in items_held(value)], items, strict=True))
        return record
    record = copy.copy(value)
    for name, item in zip(record_names(value), items, strict=True):
        object.__setattr__(record, name, item)
    return record


def moved(value: Any, tangent: Any, t: float) -> Any:
    """``value + t * tangent``, with the structure and types of ``value``."""
    items = children(value)
    if items is not None and (isinstance(tangent, list) or isinstance(value, tuple | list | dict)):
        return with_items(value, [moved(v, d, t) for v, d in zip(items, tangent, strict=True)])
    if tangent is None:
        return fresh(value)
    kind = type(value)
    shifted = value + np.asarray(tangent * t, getattr(value, "dtype", None))
    return shifted if isinstance(value, np.ndarray) else kind(shifted)


def dot(value: Any, tangent: Any) -> complex:
    """The inner product of a tree and a tangent, whose real part counts; leaves without floats contribute nothing."""
    if tangent is None or value is None:
        return 0j
    items = children(value)
    if items is not None:
        return sum(dot(v, d) for v, d in zip(items, tangent, strict=True))
    return complex(np.sum(np.asarray(value, complex) * np.asarray(tangent, complex)))


def contracted(jacobian: Any, seed: Any) -> Any:
    """The contraction of a Jacobian with a seed, a tree like the function's result.

    ``jacobian`` has a tree in place of each leaf of the result; such a tree is returned, in nested lists.

    >>> contracted([{"x": np.eye(2)}, {"x": np.ones(2)}], [np.array([1.0, 2.0]), 3.0])
    [array([4., 5.])]
    """
    items = children(seed)
    if items is None:
        return weighted(jacobian, seed)
    parts = [contracted(part, item) for part, item in zip(children(jacobian) or [], items, strict=True) if item is not None]
    return added(parts) if parts else None


def weighted(tree: Any, seed: Any) -> Any:
    """Each array of a tree summed over the leading axes of a seed, weighted by the seed."""
    items = children(tree)
    if items is not None:
        return [weighted(item, seed) for item in items]
    return None if tree is None else np.tensordot(seed, tree, axes=np.ndim(seed))


def added(trees: list[Any]) -> Any:
    """The sum of trees of nested lists."""
    if isinstance(trees[0], list):
        return [added(list(items)) for items in zip(*trees, strict=True)]
    return None if trees[0] is None else sum(trees)
