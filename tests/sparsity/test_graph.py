"""Union graphs of element sets compared with Python's sets; colourings."""

from __future__ import annotations

import random

import numpy as np
import pytest

from symgrad.errors import BadArgument
from symgrad.runtime.compressed import entries_of_columns, entries_of_stars, seeds_of
from symgrad.sparsity import graph as graphs
from symgrad.sparsity.colors import column_colors, lists_of, star_colors
from symgrad.sparsity.graph import Graph


@pytest.mark.parametrize("seed", range(30))
def test_unions_hold_what_sets_hold(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "AT_ONCE", 7)
    chance = random.Random(seed)
    size = chance.randint(1, 12)
    graph = Graph(size)
    held: dict[int, frozenset[int]] = {0: frozenset(), **{k: frozenset([k - 1]) for k in range(1, size + 1)}}
    for _ in range(chance.randint(1, 25)):
        count = chance.choice([1, 1, 2, 9, 20])
        left, right = (np.array(chance.choices(list(held), k=count)) for _ in range(2))
        match chance.choice(["pair", "join", "gather", "all"]):
            case "pair":
                number = graph.pair(int(left[0]), int(right[0]))
                held[number] = held[int(left[0])] | held[int(right[0])]
            case "join":
                for number, a, b in zip(graph.join(left, right).tolist(), left.tolist(), right.tolist()):
                    held[number] = held[a] | held[b]
            case "gather":
                groups = np.array(chance.choices(range(3), k=count))
                for group, number in enumerate(graph.gather(groups, left, 3).tolist()):
                    held[number] = frozenset().union(*(held[int(a)] for a, g in zip(left, groups) if g == group))
            case "all":
                held[graph.all_of(left)] = frozenset().union(*(held[a] for a in left.tolist()))
    asked = np.array(chance.choices(list(held), k=6))
    offsets, elements = graph.pattern(asked)
    for number, row in zip(asked.tolist(), lists_of(offsets, elements)):
        assert row == sorted(held[number])


def test_a_pattern_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "MOST", 50)
    graph = Graph(20)
    total = graph.all_of(np.arange(1, 21))
    with pytest.raises(BadArgument, match="not sparse"):
        graph.pattern(graph.join(np.full(20, total), graph.join(np.arange(1, 21), np.arange(20, 0, -1))))


def pattern(rng: np.random.Generator, rows: int, columns: int, share: float) -> np.ndarray:
    return rng.random((rows, columns)) < share


@pytest.mark.parametrize("seed", range(40))
def test_columns_of_one_colour_share_no_row(seed: int) -> None:
    rng = np.random.default_rng(seed)
    held = pattern(rng, rng.integers(0, 12), rng.integers(0, 12), rng.choice([0.05, 0.2, 0.6]))
    colors = column_colors([np.flatnonzero(column).tolist() for column in held.T], len(held))

    assert colors is not None
    assert np.array_equal(colors < 0, ~held.any(0)) or not held.size
    matrix = held * rng.normal(size=held.shape)
    rows, columns = np.nonzero(held)
    compressed = (matrix @ seeds_of(colors).T).T
    np.testing.assert_allclose(entries_of_columns(compressed, colors, rows, columns), matrix[rows, columns])


@pytest.mark.parametrize("seed", range(60))
def test_symmetric_matrices_are_read_from_star_colourings(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(0, 14))
    half = np.triu(pattern(rng, size, size, rng.choice([0.05, 0.15, 0.4, 0.8])))
    held = half | half.T
    colors = star_colors([np.flatnonzero(row).tolist() for row in held])
    matrix = np.triu(held * rng.normal(size=held.shape))
    matrix = matrix + np.triu(matrix, 1).T
    rows, columns = np.nonzero(held)
    compressed = seeds_of(colors) @ matrix

    np.testing.assert_allclose(entries_of_stars(compressed, colors, rows, columns), matrix[rows, columns], atol=1e-15)


def test_few_colours_do() -> None:
    def banded(size: int, width: int) -> list[list[int]]:
        return [list(range(max(k - width, 0), min(k + width + 1, size))) for k in range(size)]

    for width in (0, 1, 2, 5):
        colors = column_colors(banded(200, width), 200)
        assert colors is not None
        assert colors.max() + 1 == 2 * width + 1
        assert star_colors(banded(200, width)).max() + 1 <= 2 * width + 1
    arrow = [list(range(50)), *([0, k] for k in range(1, 50))]
    assert star_colors(arrow).max() == 1
    last = [*([k, 49] for k in range(49)), list(range(50))]
    assert star_colors(last).max() == 1
    assert column_colors(arrow, 50, most=50) is None
