"""Derivatives by central differences of fourth order, for any tree of arguments: the independent oracle of the tests.

A tree's *leaves* are its floats and floating arrays, in order; everything else is structure.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

#: offset in steps and weight over the step, of the difference that is exact to fourth order
STENCIL = ((1, 2 / 3), (-1, -2 / 3), (2, -1 / 12), (-2, 1 / 12))


def children(tree: Any) -> list[Any] | None:
    """The subtrees of a container, or None for a leaf.

    >>> children({"a": 1.0, "b": 2.0})
    [1.0, 2.0]
    """
    if isinstance(tree, dict):
        return list(tree.values())
    if isinstance(tree, tuple | list):
        return list(tree)
    if dataclasses.is_dataclass(tree) and not isinstance(tree, type):
        return [getattr(tree, f.name) for f in dataclasses.fields(tree)]
    return None


def rebuilt(tree: Any, parts: list[Any]) -> Any:
    """A container like ``tree`` that holds ``parts``."""
    if isinstance(tree, dict):
        return dict(zip(tree, parts, strict=True))
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*parts)
    if isinstance(tree, tuple | list):
        return type(tree)(parts)
    return type(tree)(**{f.name: p for f, p in zip(dataclasses.fields(tree), parts, strict=True)})


def is_floating(leaf: Any) -> bool:
    """Is it a float, a NumPy float or an array of floats?"""
    return isinstance(leaf, float | np.floating) or isinstance(leaf, np.ndarray) and leaf.dtype.kind == "f"


def copied(leaf: Any) -> Any:
    """A copy that is contiguous only if the leaf is, for views and copies depend on that."""
    if not isinstance(leaf, np.ndarray) or leaf.flags.forc:
        return copy.deepcopy(leaf)
    spread = np.empty([2 * extent for extent in leaf.shape], leaf.dtype)[(slice(None, None, 2),) * leaf.ndim]
    spread[...] = leaf
    return spread


def changed(tree: Any, change: Callable[[Any], Any]) -> Any:
    """A copy of the tree with ``change`` applied to each floating leaf, in order."""
    inside = children(tree)
    if inside is not None:
        return rebuilt(tree, [changed(part, change) for part in inside])
    return change(tree) if is_floating(tree) else copy.deepcopy(tree)


def leaves(tree: Any) -> Iterator[Any]:
    """The floating leaves of a tree, in order."""
    inside = children(tree)
    if inside is not None:
        for part in inside:
            yield from leaves(part)
    elif is_floating(tree):
        yield tree


def direction_for(tree: Any, generator: np.random.Generator) -> Any:
    """A random tree of the same structure, shapes and dtypes, with entries around one."""

    def draw(leaf: Any) -> Any:
        drawn = generator.uniform(0.4, 1.2, np.shape(leaf)) * generator.choice([-1.0, 1.0], np.shape(leaf))
        return np.asarray(drawn, leaf.dtype) if isinstance(leaf, np.ndarray) else type(leaf)(drawn)

    return changed(tree, draw)


def moved(tree: Any, direction: Any, length: float) -> Any:
    """``tree + length * direction``, with each leaf's kind, dtype and layout kept."""
    steps = leaves(direction)

    def move(leaf: Any) -> Any:
        step = next(steps)
        if not isinstance(leaf, np.ndarray):
            return type(leaf)(leaf + length * step)
        fresh = copied(leaf)
        fresh[...] = leaf + length * step
        return fresh

    return changed(tree, move)


def double(tree: Any) -> Any:
    """The tree in double precision."""
    return changed(tree, lambda leaf: leaf.astype(np.float64) if isinstance(leaf, np.ndarray) else float(leaf))


def derivative(value: Callable[[Any], Any], tree: Any, direction: Any, step: float = 3e-4) -> Any:
    """The derivative of ``value`` at ``tree`` along ``direction``.

    >>> round(float(derivative(lambda x: x**3, 2.0, 1.0)), 9)
    12.0
    """
    return sum(np.asarray(value(moved(tree, direction, k * step)), np.float64) * weight for k, weight in STENCIL) / step


def inner(gradient: Any, direction: Any) -> float:
    """The inner product of two trees of the same structure.

    >>> inner((1.0, np.array([2.0, 3.0])), (10.0, np.array([1.0, 1.0])))
    15.0
    """
    pairs = zip(leaves(gradient), leaves(direction), strict=True)
    return float(sum(np.sum(np.asarray(a, np.float64) * np.asarray(b, np.float64)) for a, b in pairs))


def same(a: Any, b: Any) -> bool:
    """Are two trees equal in structure, dtype and every bit?"""
    inside, others = children(a), children(b)
    if inside is not None or others is not None:
        return (
            type(a) is type(b)
            and inside is not None
            and others is not None
            and len(inside) == len(others)
            and all(map(same, inside, others))
        )
    if isinstance(a, np.ndarray):
        return (
            isinstance(b, np.ndarray)
            and a.dtype == b.dtype
            and a.shape == b.shape
            and bool(np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))
        )
    return a is b or type(a) is type(b) and (a == b or is_floating(a) and a != a and b != b) or hasattr(a, "bit_generator")
