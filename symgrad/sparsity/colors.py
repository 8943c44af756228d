"""A pattern -> colours of its columns, rows or variables; one sweep computes all that have one colour.

Columns may share a colour where no row has an entry in two of them (Curtis, Powell and Reid 1974). In a symmetric matrix each entry, or
its mirror image, must be alone in its row among the columns of its colour: a star colouring (Coleman and More 1984; Gebremedhin, Manne
and Pothen, "What color is your Jacobian?", SIAM Review 47, 2005). Both are greedy, tried in column order and fullest first; the better
one wins. A set of colours is an integer bit set.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

#: the neighbours of each vertex of a graph, or the rows of each column
Lists = Sequence[Sequence[int]]


def lists_of(offsets: np.ndarray, members: np.ndarray) -> list[list[int]]:
    """The rows of a compressed matrix as lists.

    >>> lists_of(np.array([0, 2, 2, 3]), np.array([0, 4, 1]))
    [[0, 4], [], [1]]
    """
    flat, ends = members.tolist(), offsets.tolist()
    return [flat[start:stop] for start, stop in pairwise(ends)]


def column_colors(columns: Lists, rows: int, most: int | None = None) -> np.ndarray | None:
    """A colour for each column, -1 for one without entries; None if that takes ``most`` colours or more.

    ``columns`` are the rows in which each column has entries.

    >>> column_colors([[0, 1], [0, 1, 2], [1, 2, 3], [2, 3]], 4)
    array([0, 1, 2, 0])
    """
    best: np.ndarray | None = None
    for order in (range(len(columns)), fullest_first(columns)):
        colors = greedy_columns(columns, rows, order, most)
        if colors is not None:
            best, most = colors, int(colors.max(initial=-1)) + 1
    return best


def greedy_columns(columns: Lists, rows: int, order: Sequence[int], most: int | None) -> np.ndarray | None:
    """Greedy colours in a given order; None if they are ``most`` or more."""
    used = [0] * rows  # the colours in each row
    colors = np.full(len(columns), -1)
    for column in order:
        taken = 0
        for row in columns[column]:
            taken |= used[row]
        if not columns[column]:
            continue
        color = first_free(taken)
        if most is not None and color + 1 >= most:
            return None
        colors[column] = color
        for row in columns[column]:
            used[row] |= 1 << color
    return colors


def star_colors(beside: Lists) -> np.ndarray:
    """A star colouring of a graph: neighbours differ, and every path of four vertices has at least three colours.

    ``beside`` are the neighbours of each vertex, and the vertex itself if the matrix has an entry on its diagonal. A
    vertex with neither has the colour -1.

    >>> star_colors([[0, 1, 2, 3], [0, 1], [0, 2], [0, 3]])
    array([0, 1, 1, 1])
    """
    plain, fullest = (greedy_stars(beside, order) for order in (range(len(beside)), fullest_first(beside)))
    return plain if plain.max(initial=-1) <= fullest.max(initial=-1) else fullest


def greedy_stars(beside: Lists, order: Sequence[int]) -> np.ndarray:
    """Algorithm 4.1 of Gebremedhin, Manne and Pothen, with the queries of its inner loops cached for each vertex."""
    count = len(beside)
    colors = np.full(count, -1)
    around = [0] * count  # the colours of the neighbours
    ends = [0] * count  # the colours of neighbours that have another neighbour of this vertex's colour
    first: list[dict[int, int]] = [{} for _ in range(count)]  # for coloured vertices: a neighbour by its colour
    for vertex in order:
        if not beside[vertex]:
            continue
        taken = around[vertex]
        for other in beside[vertex]:
            if other != vertex:
                taken |= ends[other] if colors[other] >= 0 else around[other]
        color = first_free(taken)
        colors[vertex] = color
        for other in beside[vertex]:
            if other == vertex:
                continue
            around[other] |= 1 << color
            if colors[other] < 0:
                continue
            first[vertex][int(colors[other])] = other
            same = first[other].setdefault(color, vertex)
            if same != vertex:
                ends[same] |= 1 << int(colors[other])
                ends[vertex] |= 1 << int(colors[other])
    return colors


def fullest_first(lists: Lists) -> list[int]:
    """The indices of lists, longest first."""
    return sorted(range(len(lists)), key=lambda k: -len(lists[k]))


def first_free(taken: int) -> int:
    """The first colour outside a set.

    >>> first_free(0b1011)
    2
    """
    return (~taken & (taken + 1)).bit_length() - 1


__all__ = ["column_colors", "lists_of", "star_colors"]
