"""Functions of ``heapq`` on lists, with the same order of items as in CPython.

Source: Williams, Algorithm 232, Heapsort, 1964; Floyd, Algorithm 245, Treesort, 1964, whose descent goes to a leaf before it compares.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

from symgrad.tables import counterparts


def raise_up(heap: Any, lowest: Any, place: Any) -> None:
    """Move the item at an index towards ``lowest``, past each greater parent."""
    item = heap[place]
    above = (place - 1) >> 1
    while place > lowest and item < heap[above]:
        heap[place] = heap[above]
        place = above
        above = (place - 1) >> 1
    heap[place] = item


def sink(heap: Any, start: Any) -> None:
    """Move the item at an index down to a leaf along the smaller children, then up to its position."""
    count = len(heap)
    place = start
    item = heap[start]
    child = 2 * place + 1
    while child < count:
        if child + 1 < count and not heap[child] < heap[child + 1]:
            child += 1
        heap[place] = heap[child]
        place = child
        child = 2 * place + 1
    heap[place] = item
    raise_up(heap, start, place)


def heapify(x: Any) -> None:
    """``heapq.heapify``."""
    for place in range(len(x) // 2 - 1, -1, -1):
        sink(x, place)


def heappush(heap: Any, item: Any) -> None:
    """``heapq.heappush``."""
    heap.append(item)
    raise_up(heap, 0, len(heap) - 1)


def heappop(heap: Any) -> Any:
    """``heapq.heappop``."""
    last = heap.pop()
    if len(heap) > 0:
        least = heap[0]
        heap[0] = last
        sink(heap, 0)
        return least
    return last


def heapreplace(heap: Any, item: Any) -> Any:
    """``heapq.heapreplace``."""
    least = heap[0]
    heap[0] = item
    sink(heap, 0)
    return least


def heappushpop(heap: Any, item: Any) -> Any:
    """``heapq.heappushpop``."""
    if len(heap) > 0 and heap[0] < item:
        least = heap[0]
        heap[0] = item
        sink(heap, 0)
        return least
    return item


def nsmallest(n: Any, iterable: Any, key: Any = None) -> Any:
    """``heapq.nsmallest``."""
    return sorted(iterable, key=key)[: max(n, 0)]


def nlargest(n: Any, iterable: Any, key: Any = None) -> Any:
    """``heapq.nlargest``."""
    return sorted(iterable, key=key, reverse=True)[: max(n, 0)]


#: functions of ``heapq``, with their compositions
HEAPS: dict[Callable[..., Any], Callable[..., Any]] = counterparts(
    heapq, heapify, heappush, heappop, heapreplace, heappushpop, nsmallest, nlargest
)
