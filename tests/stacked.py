"""Trees of examples <-> one tree of stacked arrays, and the loop of Python that a function over a batch is compared with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from differences import changed, children, is_floating, rebuilt


def axes_for(tree: Any, axis: int = 0) -> Any:
    """``in_axes`` that map every floating leaf; what holds none is shared."""
    if is_floating(tree):
        return axis
    inside = children(tree)
    axes = None if inside is None else [axes_for(part, axis) for part in inside]
    return None if axes is None or all(part is None for part in axes) else rebuilt(tree, axes)


def stacked(examples: Sequence[Any], axis: int = 0) -> Any:
    """Trees of one form as one tree with a further axis in each floating leaf; all else is that of the first."""
    first = examples[0]
    if is_floating(first):
        dtype = getattr(first, "dtype", float)
        return np.stack([np.asarray(e, dtype) for e in examples], min(axis, np.ndim(first)))
    inside = [children(e) for e in examples]
    if inside[0] is None:
        return first
    return rebuilt(first, [stacked(column, axis) for column in zip(*inside, strict=True)])  # type: ignore[arg-type]


def joined(results: Sequence[Any]) -> Any:
    """Results of one form as one tree with a further axis in each number and array."""
    first = results[0]
    inside = [children(r) for r in results]
    if inside[0] is not None:
        return rebuilt(first, [joined(column) for column in zip(*inside, strict=True)])  # type: ignore[arg-type]
    return None if first is None else np.stack([np.asarray(r) for r in results])


def example(tree: Any, k: int) -> Any:
    """One example of a stacked tree, in memory of its own; what holds no floating leaf is the same object for all examples."""
    if is_floating(tree):
        return np.array(tree[k])[()]
    inside = children(tree)
    if inside is None or axes_for(tree) is None:
        return tree
    return rebuilt(tree, [example(part, k) for part in inside])


def varied(tree: Any, k: int) -> Any:
    """A tree with numbers that differ a little from example to example."""

    def vary(leaf: Any) -> Any:
        fresh = leaf * (1 + 0.013 * k)
        return fresh.astype(leaf.dtype) if isinstance(leaf, np.ndarray) else type(leaf)(fresh)

    return changed(tree, vary)


def in_a_loop(function: Callable[..., Any], examples: Sequence[tuple[Any, ...]]) -> Any:
    """What ``vmap`` means: one call for each example, in order."""
    return joined([function(*one) for one in examples])
