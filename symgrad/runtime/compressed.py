"""Compressed sweeps and the sparse matrix that they give: sums of columns or rows of one colour, and the extraction of entries.

A saved sparse Jacobian holds a copy of these functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


def flat(leaves: Sequence[Any]) -> np.ndarray:
    """The numbers of some leaves, in one vector."""
    return np.concatenate([np.zeros(0), *(np.ravel(leaf) for leaf in leaves)])


def shaped(vector: np.ndarray, leaves: Sequence[Any]) -> list[Any]:
    """The numbers of a vector in the forms of some leaves."""
    ends = np.cumsum([np.size(leaf) for leaf in leaves], dtype=int)
    return [in_form_of(leaf, vector[end - np.size(leaf) : end]) for leaf, end in zip(leaves, ends, strict=True)]


def in_form_of(leaf: Any, numbers: np.ndarray) -> Any:
    """Numbers as an array or a number like another one.

    >>> in_form_of(2.0, np.ones(1)), in_form_of(np.zeros((2, 1), np.float32), np.ones(2)).dtype
    (1.0, dtype('float32'))
    """
    match leaf:
        case np.ndarray():
            return numbers.reshape(np.shape(leaf)).astype(leaf.dtype)
        case np.generic():
            return leaf.dtype.type(numbers[0])
    return float(numbers[0])


def seeds_of(colors: np.ndarray) -> np.ndarray:
    """For each colour a vector that is 1 where it is, and 0 elsewhere.

    >>> seeds_of(np.array([0, 1, -1, 0]))
    array([[1., 0., 0., 1.],
           [0., 1., 0., 0.]])
    """
    seeds: np.ndarray = (colors == np.arange(colors.max(initial=-1) + 1)[:, None]).astype(float)
    return seeds


def entries_of_columns(compressed: np.ndarray, colors: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The entries of a matrix at some positions, from ``compressed``, each row of which is the sum of the columns of one colour."""
    entries: np.ndarray = compressed[colors[columns], rows]
    return entries


def entries_of_stars(compressed: np.ndarray, colors: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The same for a symmetric matrix and a star colouring: an entry is read where it is alone, or from its mirror image."""
    if not rows.size:
        return np.zeros(0)
    count = int(colors.max()) + 1
    keys = rows * count + colors[columns]
    _, places, occurrences = np.unique(keys, return_inverse=True, return_counts=True)
    alone = occurrences[places] == 1
    entries: np.ndarray = np.where(alone, compressed[colors[columns], rows], compressed[colors[rows], columns])
    return entries


def directions_of(size: int) -> np.ndarray:
    """A direction in which a matrix is compared with one more sweep: the same in each process, with no zeros."""
    rng = np.random.default_rng(0)
    direction: np.ndarray = rng.uniform(0.5, 1.5, size) * rng.choice([-1.0, 1.0], size)
    return direction


def blocks_of(
    entries: np.ndarray, rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int], outputs: Sequence[Any], inputs: Sequence[Any]
) -> list[Any]:
    """The matrix as ``scipy.sparse`` arrays: a block for each leaf of the results and each of the arguments. ``rows`` are in order."""
    from scipy.sparse import csr_array

    offsets = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=shape[0]))])
    whole = csr_array((entries, columns.copy(), offsets), shape)
    if len(outputs) == len(inputs) == 1:
        return [whole.astype(np.asarray(inputs[0]).dtype)]
    bottoms, rights = (np.cumsum([np.size(leaf) for leaf in leaves], dtype=int) for leaves in (outputs, inputs))
    return [
        whole[bottom - np.size(out) : bottom, right - np.size(leaf) : right].tocsr().astype(np.asarray(leaf).dtype)
        for out, bottom in zip(outputs, bottoms, strict=True)
        for leaf, right in zip(inputs, rights, strict=True)
    ]


def compressed_jacobian(sweep: Any, plan: tuple[Any, ...], inputs: Sequence[Any], trees: tuple[Callable[..., Any], ...]) -> Any:
    """The matrix of one plan, followed by the auxiliary result, if there is one.

    ``plan`` contains the kind of sweep (``"columns"``, ``"rows"`` or ``"stars"``), the rows and columns of the
    entries, the shape, and the colours. ``sweep`` maps tangents to the result and its tangent; by rows it is the
    result and the pullback. ``trees`` are functions from leaves to tangents, from a result to leaves, from leaves to
    a seed of the pullback, from its gradients to leaves, and from blocks to the result. Raises ValueError where
    arguments have other sizes than the plan, or the matrix disagrees with one more sweep.
    """
    by, rows, columns, shape, colors = plan
    tangents, outputs, seed, gradients, matrices = trees
    places = (columns, rows) if by == "rows" else (rows, columns)
    direction = directions_of(shape[0] if by == "rows" else sum(np.size(leaf) for leaf in inputs))
    if by == "rows":
        out, pullback, *aux = sweep
    else:
        out, tangent, *aux = sweep(tangents(shaped(direction, inputs)))
    leaves = outputs(out)
    if (sum(np.size(leaf) for leaf in leaves), sum(np.size(leaf) for leaf in inputs)) != shape:
        raise ValueError(f"the matrix was saved for arguments that give the shape {shape}, and these give another one")
    if by == "rows":
        slope, *sums = (flat(gradients(pullback(seed(shaped(one, leaves))))) for one in (direction, *seeds_of(colors)))
    else:
        slope, sums = flat(outputs(tangent)), [flat(outputs(sweep(tangents(shaped(one, inputs)))[1])) for one in seeds_of(colors)]
    table = np.array(sums).reshape(len(sums), slope.size)
    entries = (entries_of_stars if by == "stars" else entries_of_columns)(table, colors, *places)
    check_slope(slope, places[0], entries * direction[places[1]], [*inputs, *leaves], by)
    return (matrices(blocks_of(entries, rows, columns, shape, leaves, inputs)), *aux)


def check_slope(slope: np.ndarray, places: np.ndarray, parts: np.ndarray, leaves: Sequence[Any], by: str) -> None:
    """ValueError where entries times a direction, summed by place, are not the slope in that direction, up to rounding."""
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.abs(np.bincount(places, parts, slope.size) - slope)
        sizes = np.bincount(places, np.abs(parts), slope.size) + np.abs(slope)
        known = np.isfinite(apart)
        precision = max(np.finfo(leaf.dtype).eps for leaf in map(np.asarray, leaves))
        differ = known & (apart > precision**0.5 * sizes + 1e3 * precision * sizes[known].max(initial=0.0))
    if differ.any():
        place = f"{'column' if by == 'rows' else 'row'} {np.flatnonzero(differ)[0]}"
        raise ValueError(f"the saved pattern misses an entry in {place} for these arguments: save the matrix again for arguments like them")


__all__ = ["blocks_of", "compressed_jacobian", "directions_of", "entries_of_columns", "entries_of_stars", "flat", "seeds_of", "shaped"]
