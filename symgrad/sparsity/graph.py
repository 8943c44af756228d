"""Union graph: numbered sets of input elements, each the union of others, built during the run and read at its end.

Number 0 is the empty set, numbers 1 to n are the singletons. A union gets a new number and edges to its parts.
Contents are computed only at the end, and only for the sets that results need, so that a union's cost does not
depend on its size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symgrad.errors import BadArgument

#: arrays of at most this many elements are united element by element, which is faster
FEW = 8
#: the maximum number of entries of a pattern
MOST = 50_000_000
#: the maximum number of entries sorted at once
AT_ONCE = 4_000_000

Ids = Any  #: the number of a set, or an array of set numbers


@dataclass(slots=True)
class Unions:
    """Sets created in sequence: each set ``targets[k]`` contains the set ``sources[k]``.

    ``levels`` is their order: the sources of a target have lower levels, or are older than all of these.
    """

    targets: np.ndarray
    sources: np.ndarray
    levels: np.ndarray | None = None

    def stages(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """The edges of each level, lowest first, sorted by target."""
        if self.levels is None:
            return [(self.targets, self.sources)]
        order = np.argsort(self.levels, kind="stable")
        starts = np.flatnonzero(np.diff(self.levels[order])) + 1
        parts = np.split(order, starts)
        return [(self.targets[part], self.sources[part]) for part in parts]


@dataclass(slots=True)
class Graph:
    """The sets of a function of ``size`` input elements."""

    size: int
    count: int = 0  #: the number of sets, and the number of the next one
    unions: list[Unions] = field(default_factory=list)
    pairs: dict[tuple[int, int], int] = field(default_factory=dict)  #: existing unions of two sets
    recent: list[tuple[int, int, int]] = field(default_factory=list)  #: the latest such unions: both parts and the level
    first: int = 0  #: the number of the first recent one

    def __post_init__(self) -> None:
        self.count = self.first = self.size + 1

    # ------------------------------------------------------------------ construction

    def pair(self, a: int, b: int) -> int:
        """The union of two sets."""
        if a == b or not b:
            return a
        if not a:
            return b
        key = (a, b) if a < b else (b, a)
        known = self.pairs.get(key)
        if known is None:
            recent, first = self.recent, self.first
            level = max(recent[a - first][2] if a >= first else 0, recent[b - first][2] if b >= first else 0) + 1
            recent.append((*key, level))
            known = self.pairs[key] = self.count
            self.count += 1
        return known

    def settle(self) -> None:
        """Append the recent unions of two sets to the list of unions."""
        if self.recent:
            table = np.array(self.recent, np.int64)
            targets = np.repeat(np.arange(self.first, self.count), 2)
            self.unions.append(Unions(targets, table[:, :2].ravel(), np.repeat(table[:, 2], 2)))
            self.recent = []
        self.first = self.count

    def join(self, a: Ids, b: Ids) -> Ids:
        """The union of two sets, or of two arrays of sets element by element, with broadcasting."""
        if isinstance(a, int) and isinstance(b, int):
            return self.pair(a, b)
        left, right = np.broadcast_arrays(a, b)
        if left.size <= FEW:
            pairs = [self.pair(x, y) for x, y in zip(left.ravel().tolist(), right.ravel().tolist(), strict=True)]
            return np.array(pairs, np.int64).reshape(left.shape)
        result = np.where(left == 0, right, left)
        differ = (left != right) & (left != 0) & (right != 0)
        if differ.any():
            low, high = np.minimum(left[differ], right[differ]), np.maximum(left[differ], right[differ])
            keys, places = np.unique(low * self.count + high, return_inverse=True)
            result[differ] = self.new(
                np.repeat(np.arange(keys.size), 2), np.stack([keys // self.count, keys % self.count], 1).ravel(), keys.size
            )[places.ravel()]
        return result

    def new(self, groups: np.ndarray, sources: np.ndarray, count: int) -> np.ndarray:
        """Create ``count`` sets; ``sources[k]`` is a part of the set ``groups[k]``, and groups are sorted."""
        self.settle()
        numbers = np.arange(self.count, self.count + count)
        self.unions.append(Unions(numbers[groups], sources))
        self.count = self.first = self.count + count
        return numbers

    def gather(self, groups: np.ndarray, ids: np.ndarray, count: int) -> np.ndarray:
        """For each of ``count`` groups the union of its sets: ``ids[k]`` is in group ``groups[k]``."""
        groups, ids = groups.ravel(), ids.ravel()
        held = ids != 0
        keys = np.unique(groups[held] * self.count + ids[held])
        rows, sources = keys // self.count, keys % self.count
        sizes = np.bincount(rows, minlength=count)
        result = np.zeros(count, np.int64)
        alone = sizes[rows] == 1
        result[rows[alone]] = sources[alone]
        several = np.flatnonzero(sizes > 1)
        if several.size:
            ranks = np.zeros(count, np.int64)
            ranks[several] = np.arange(several.size)
            result[several] = self.new(ranks[rows[~alone]], sources[~alone], several.size)
        return result

    def all_of(self, ids: np.ndarray) -> int:
        """The union of all sets of an array."""
        if ids.size <= FEW:
            total = 0
            for one in ids.ravel().tolist():
                total = self.pair(total, one)
            return total
        return int(self.gather(np.zeros(ids.size, np.int64), ids, 1)[0])

    # ------------------------------------------------------------------ contents

    def pattern(self, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The contents of each set of a vector: offsets and elements, as of a compressed sparse matrix with a row per set."""
        self.settle()
        needed = self.needed(ids)
        sets = Contents(self.size, self.count)
        for unions in self.unions:
            for targets, sources in unions.stages():
                chosen = needed[targets]
                sets.add(targets[chosen], sources[chosen])
        lengths = sets.lengths[ids]
        return np.concatenate([[0], np.cumsum(lengths)]), sets.of(ids) - 1

    def needed(self, ids: np.ndarray) -> np.ndarray:
        """The sets that the given ones are built from, as a mask."""
        needed = np.zeros(self.count, bool)
        needed[ids] = True
        for unions in reversed(self.unions):
            for targets, sources in reversed(unions.stages()):
                needed[sources[needed[targets]]] = True
        return needed


@dataclass(slots=True)
class Contents:
    """The contents of sets: for each the position and number of its sorted elements in one array."""

    size: int
    count: int
    starts: np.ndarray = field(init=False)
    lengths: np.ndarray = field(init=False)
    elements: np.ndarray = field(init=False)
    used: int = field(init=False)

    def __post_init__(self) -> None:
        self.starts, self.lengths = np.zeros(self.count, np.int64), np.zeros(self.count, np.int64)
        self.elements = np.arange(max(4 * self.size, 64), dtype=np.int64)
        self.starts[1 : self.size + 1] = np.arange(1, self.size + 1)
        self.lengths[1 : self.size + 1] = 1
        self.used = self.size + 1

    def of(self, ids: np.ndarray) -> np.ndarray:
        """The elements of some sets, one set after the other."""
        lengths = self.lengths[ids]
        ends = np.cumsum(lengths)
        shifts = np.repeat(self.starts[ids] - ends + lengths, lengths)
        return self.elements[shifts + np.arange(shifts.size)]

    def add(self, targets: np.ndarray, sources: np.ndarray) -> None:
        """Compute unions whose parts are known; targets are sorted."""
        sizes = np.cumsum(self.lengths[sources])
        start = 0
        while start < targets.size:
            reached = sizes[start - 1] if start else 0
            stop = int(np.searchsorted(sizes, reached + AT_ONCE, "right"))
            last = targets[min(max(stop, start + 1), targets.size) - 1]
            stop = int(np.searchsorted(targets, last, "right"))
            self.enter(targets[start:stop], sources[start:stop])
            start = stop

    def enter(self, targets: np.ndarray, sources: np.ndarray) -> None:
        owners = np.repeat(targets, self.lengths[sources])
        keys = np.unique(owners * (self.size + 1) + self.of(sources))
        owners, elements = keys // (self.size + 1), keys % (self.size + 1)
        self.reserve(elements.size)
        self.elements[self.used : self.used + elements.size] = elements
        numbers, starts, lengths = np.unique(owners, return_index=True, return_counts=True)
        self.starts[numbers], self.lengths[numbers] = starts + self.used, lengths
        self.used += elements.size

    def reserve(self, more: int) -> None:
        """Reserve memory for ``more`` elements."""
        if self.used + more > MOST:
            what = f"the pattern and its intermediate results have more than {MOST:,} entries: the derivative is not sparse"
            raise BadArgument(what, hint="leave sparsity out, or pass the pattern as sparsity=pattern")
        if self.used + more > self.elements.size:
            larger = np.empty(max(self.used + more, 2 * self.elements.size), np.int64)
            larger[: self.used] = self.elements[: self.used]
            self.elements = larger


def members(parts: Sequence[np.ndarray]) -> np.ndarray:
    """All sets of some arrays, in one vector."""
    return np.concatenate([np.ravel(part) for part in parts]) if parts else np.zeros(0, np.int64)


__all__ = ["Graph", "Ids", "members"]
