"""``heapq``: order, values and gradients, compared with CPython and differences."""

from __future__ import annotations

import heapq
import random
from typing import Any

import pytest

from symgrad.ops.composed.heaps import HEAPS
from tests.plainly import verdict


def operated(functions: Any, seed: int, item: Any) -> list[Any]:
    """What a random sequence of operations returns, and the heap after each."""
    chance = random.Random(seed)
    heap = [item(chance) for _ in range(chance.randrange(12))]
    seen: list[Any] = [functions["heapify"](heap), list(heap)]
    for _ in range(40):
        name = chance.choice(["heappush", "heappush", "heappop", "heapreplace", "heappushpop"])
        arguments = [] if name == "heappop" else [item(chance)]
        if heap or name in ("heappush", "heappushpop"):
            seen += [functions[name](heap, *arguments), list(heap)]
    return seen


ITEMS = {
    "few values": lambda chance: chance.randrange(5),
    "floats": lambda chance: chance.random(),
    "pairs": lambda chance: (chance.randrange(3), chance.randrange(3)),
}


@pytest.mark.parametrize("items", ITEMS)
def test_the_order_is_that_of_heapq(items: str) -> None:
    ours = {function.__name__: composition for function, composition in HEAPS.items()}
    theirs = {function.__name__: function for function in HEAPS}
    for seed in range(60):
        assert operated(ours, seed, ITEMS[items]) == operated(theirs, seed, ITEMS[items])


@pytest.mark.parametrize("n", [-1, 0, 1, 3, 9])
def test_largest_and_smallest(n: int) -> None:
    items = [3, 1, 2, 3, -4]
    for function in (heapq.nlargest, heapq.nsmallest):
        assert HEAPS[function](n, items) == function(n, items)
        assert HEAPS[function](n, items, key=abs) == function(n, items, key=abs)


PROGRAMS = {
    "all operations": """
def f(x):
    h = [x, 2.0, 0.1, x * x]
    heapq.heapify(h)
    a = heapq.heappop(h)
    heapq.heappush(h, a * 3)
    b = heapq.heapreplace(h, 1.5 * x)
    c = heapq.heappushpop(h, 0.2)
    return a + b * 2 + c * 3 + sum(k * v for k, v in enumerate(h))
""",
    "shortest way": """
def f(w):
    edges = {0: [(1, 0), (2, 1)], 1: [(3, 2)], 2: [(1, 3), (3, 4)], 3: []}
    reached = [math.inf] * 4
    reached[0] = 0.0
    heap = [(0.0, 0)]
    while heap:
        d, u = heapq.heappop(heap)
        if d > reached[u]:
            continue
        for v, k in edges[u]:
            if d + w[k] < reached[v]:
                reached[v] = d + w[k]
                heapq.heappush(heap, (reached[v], v))
    return reached[3] * reached[1]
""",
    "Huffman": """
def f(w):
    heap = list(w)
    heapq.heapify(heap)
    cost = 0.0
    while len(heap) > 1:
        both = heapq.heappop(heap) + heapq.heappop(heap)
        cost += both * both
        heapq.heappush(heap, both)
    return cost
""",
    "queue with counts": """
def f(w):
    heap, count, s = [], 0, 0.0
    for v in w:
        heapq.heappush(heap, (-v, count, v * v))
        count += 1
    while heap:
        priority, place, weight = heapq.heappop(heap)
        s = s * 0.5 + priority * weight * (place + 1)
    return s
""",
    "largest": """
def f(w):
    a, b = heapq.nlargest(2, w), heapq.nsmallest(3, w, key=lambda v: -v * v)
    return a[0] * a[1] + b[0] * 3 + b[2] * len(b)
""",
    "empty": "def f(w):\n    h = []\n    return heapq.heappop(h) * w[0]\n",
    "caught": "def f(w):\n    h = [w[0]]\n    s = heapq.heappop(h)\n    try:\n        heapq.heappop(h)\n    except IndexError:\n        s *= w[1]\n    return s\n",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    argument = 0.7 if "(x)" in PROGRAMS[name] else [0.7, 1.3, 2.1, 0.4, 0.9]
    assert verdict("import heapq\n" + PROGRAMS[name], [argument]) == ("raises" if name == "empty" else "right")


JOINED = """
def f(x):
    names = ["a", "b"]
    told = ", ".join(f"{name}={x:.2f}" for name in names)
    print(told, "-".join(map(str, range(3))), "".join({"k": 1, "l": 2}), ".".join(str(k) for k in names if k > "a"))
    return x * len(",".join(str(k) for k in range(3)))
"""


def test_texts_joined_from_generators() -> None:
    assert verdict(JOINED, [0.7]) == "right"
