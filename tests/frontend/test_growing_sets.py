"""Sets that get computed elements, compared with plain Python and differences."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad
from symgrad.errors import UnsupportedSyntax
from tests.plainly import HEAD, function_of, verdict

NUMBERS = np.array([3, 5, 3, 2, 7, 5, 3, 2, 4, 1, 20])

PROGRAMS = {
    "seen before": "seen = set()\ns = a\nfor n in numbers:\n    if n in seen:\n        s = s * b\n        continue\n    seen.add(n)\n    s = s + a * n\n"
    "s = s * len(seen)",
    "begins with one": "seen = {3}\ns = a\nfor n in numbers:\n    if int(n) not in seen:\n        seen.add(int(n))\n        s += b * n\ns += len(seen) * a",
    "pairs": "seen = set()\ns = a\nfor i in range(len(numbers) - 1):\n    e = (numbers[i], numbers[i + 1])\n    if e in seen or (e[1], e[0]) in seen:\n"
    "        s *= b\n    else:\n        seen.add(e)\n        s += a",
    "discarded": "seen = set()\ns = a\nfor n in numbers:\n    if n in seen:\n        seen.discard(n)\n    else:\n        seen.add(n)\n"
    "    s = s * 0.9 + b * len(seen)\nseen.discard(99)\ns = s if seen else s * 2",
    "removed": "seen = set()\ns = a\nfor n in numbers:\n    seen.add(n)\nseen.remove(3)\ntry:\n    seen.remove(77)\nexcept KeyError:\n    s = s * 2\n"
    "s = s * len(seen) + b * (20 in seen)",
    "texts": "seen = set()\nfor n in numbers:\n    seen.add(f'k{n}')\ns = a * len(seen) + b * ('k3' in seen)",
    "breadth first": "edges = {0: [1, 2], 1: [3], 2: [3, 4], 3: [0], 4: []}\nseen, queue, s = {0}, collections.deque([(0, 1.0)]), 0.0\nwhile queue:\n"
    "    u, w = queue.popleft()\n    s += w * a\n    for v in edges[u]:\n        if v not in seen:\n            seen.add(v)\n"
    "            queue.append((v, w * b))\ns += len(seen)",
    "in a function": "def mark(held, n):\n    if n in held:\n        return False\n    held.add(n)\n    return True\nseen = set()\n"
    "s = sum(a * n for n in numbers if mark(seen, n)) + b * len(seen)",
    "aliases": "seen = set()\nother = seen\nthird = seen.copy()\nfor n in numbers:\n    other.add(n)\nthird.add(numbers[0])\ns = a * len(seen) + b * len(third)",
    "updated": "seen = set()\nseen.update(numbers)\nseen.update([1, 2], (50,))\ns = a * len(seen) + isinstance(seen, set) * b",
    "in a dict": "held = {'odd': set(), 'even': set()}\nfor n in numbers:\n    held['odd' if n % 2 else 'even'].add(n)\n"
    "s = a * len(held['odd']) + b * len(held['even'])",
    "beside settings": "allowed = {1, 2, 3}\nseen = set()\ns = 0.0\nfor n in numbers:\n    seen.add(n)\n    if n in allowed:\n        s += a\n"
    "s += b * len(seen) + sum(sorted(allowed))",
    "cleared": "seen = set()\ns = a\nfor n in numbers:\n    seen.add(n)\n    if len(seen) > 3:\n        seen.clear()\n        s *= b",
}  # fmt: skip


def text_of(body: str) -> str:
    return "def f(a, b, numbers):\n" + "".join(f"    {line}\n" for line in body.splitlines()) + "    return s\n"


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    assert verdict(text_of(PROGRAMS[name]), [0.7, 1.3, NUMBERS]) == "right"


@pytest.mark.parametrize("name", ["seen before", "pairs", "cleared"])
def test_kernels_and_second_derivatives(name: str) -> None:
    f = function_of(HEAD + text_of(PROGRAMS[name]))
    value, slopes = symgrad.value_and_grad(f, wrt=("a", "b"), jit=True)(0.7, 1.3, NUMBERS)
    assert value == pytest.approx(f(0.7, 1.3, NUMBERS))
    assert slopes == pytest.approx(symgrad.grad(f, wrt=("a", "b"))(0.7, 1.3, NUMBERS))
    second = symgrad.grad(symgrad.grad(f, wrt="b"), wrt="b")(0.7, 1.3, NUMBERS)
    ends = [symgrad.grad(f, wrt="b")(0.7, 1.3 + step, NUMBERS) for step in (1e-6, -1e-6)]
    assert second == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-5, abs=1e-6)


#: sets that are asked for what they hold, in Python's order; some are items of dicts
ORDERED = {
    "order with discards": "p = set()\nfor n in numbers:\n    p.add(int(n) * 17)\n    if len(p) > 3:\n        p.discard(51)\n"
    "for n in numbers[:4]:\n    p.discard(int(n) * 17)\nfor n in range(30, 60, 7):\n    p.add(n * n)\ns = 0.0\n"
    "for n in p:\n    s = s * 0.9 + a * n",
    "order after merge": "p = {int(n) * 31 for n in numbers}\nq = {int(n) * 57 + 9 for n in numbers}\nr = p | q\nr |= {1000, 5, 77}\n"
    "r.update([88, 99], q, (3,))\nr -= {5}\ns = 0.0\nfor n in r:\n    s = s * 0.9 + a * n * 1e-3\n"
    "t = r & {1000, 77, 88, 3, 99}\nfor n in t:\n    s = s * 0.9 + a * n * 1e-3\nfor n in r ^ p:\n"
    "    s = s * 0.9 + a * n * 1e-3\nfor n in p - t:\n    s = s * 0.9 + b * n * 1e-3",
    "order of texts": "p = set()\nfor n in numbers:\n    p.add(f'key{n}')\ns = 0.0\nfor i, w in enumerate(p):\n"
    "    s = s * 0.9 + a * len(w) * i + b * (w == 'key3') * i",
    "order of tuples discard": "p = {(int(n), int(n) + 1) for n in numbers}\np.discard((3, 4))\np |= {(100, 1), (3, 200)}\ns = 0.0\nfor u, v in p:\n"
    "    s = 0.9 * s + a * u + b * v",
    "changed size": "p = {int(n) for n in numbers}\ns = a\ntry:\n    for n in p:\n        p.add(n + 100)\nexcept RuntimeError:\n"
    "    s = s * 2 + b",
    "pop all mixed": "p = {int(n) * 13 for n in numbers}\ns = 0.0\nwhile len(p) > 2:\n    k = p.pop()\n    s = s * 0.9 + k * a\n"
    "    if k % 2:\n        p.add(k * 2)\ns = s * b + sum(p)",
    "pop empty": "p = set()\nfor n in numbers[:2]:\n    p.add(int(n))\ns = a\ntry:\n    for i in range(5):\n"
    "        s = s * 0.5 + p.pop() * b\nexcept KeyError:\n    s = s + 3",
    "rebinding two sets": "p = {1, 50}\nfor n in numbers[:5]:\n    q = set()\n    for m in p:\n        q.add(m * 3 % 101)\n"
    "        q.add(m + int(n))\n    p = q\ns = 0.0\nfor n in p:\n    s = s * 0.9 + a * n",
    "np ints ordered": "p = set()\nfor n in numbers:\n    p.add(n * 37)\ns = 0.0\nfor v in p:\n    s = s * 0.9 + a * v",
    "constants": "p = {100, 33, 7, 64, 12345}\ns = 0.0\nfor v in p:\n    s = s * 0.9 + a * v\np.add(8)\np.discard(33)\nfor v in p:\n"
    "    s = s * 0.9 + a * v",
    "constants of constructor": "p = set([100, 33, 7, 64, 12345])\nq = set(range(90, 100))\ns = 0.0\nfor v in p | q:\n    s = s * 0.9 + a * v",
    "key max over set": "p = {int(n) for n in numbers}\ns = a * max(p, key=lambda n: n % 5) + b * min(p, key=lambda n: -n)",
    "set of set": "p = {int(n) for n in numbers}\nq = set(p)\nq.add(99)\ns = len(p) * a + len(q) * b\nfor n in q:\n    s = s * 0.9 + n",
    "comparison all": "p = {int(n) for n in numbers}\nq = set()\nfor n in numbers:\n    q.add(int(n))\n"
    "s = a * (p == q) + b * (p <= q) + 2 * a * (p < q) + 3 * b * (q >= {3}) + (q > {3, 5}) + (q != {3}) + ({3} < q) + (q == [3])",
    "isdisjoint etc": "q = set()\nfor n in numbers:\n    q.add(int(n))\n"
    "s = a * q.isdisjoint([100]) + b * q.issubset(range(50)) + a * q.issuperset((3, 5)) + len(q.union([77], {78})) + len(q.intersection([3, 5, 900])) + len(q.difference([3])) + len(q.symmetric_difference([3, 1000]))\n"
    "q.difference_update([3, 4])\nq.intersection_update(range(8))\nq.symmetric_difference_update({5, 600})\n"
    "s += sum(q) * b",
    "kahn toposort": "deps = {0: [1, 2], 1: [3], 2: [3], 3: []}\nindeg = {k: 0 for k in deps}\nfor k, v in deps.items():\n"
    "    for w in v:\n        indeg[w] += 1\nready = {k for k in indeg if indeg[k] == 0}\nval = [a, b, 1.0, 2.0]\n"
    "s = 0.0\nwhile ready:\n    k = ready.pop()\n    s = s * 0.5 + val[k]\n    for w in deps[k]:\n        indeg[w] -= 1\n"
    "        if indeg[w] == 0:\n            ready.add(w)",
    "sum over set": "seen = set()\nfor n in numbers:\n    seen.add(int(n))\ns = sum(a * n for n in sorted(seen)) * b",
    "min max sum": "seen = set()\nfor n in numbers:\n    seen.add(n)\ns = a * min(seen) + b * max(seen) + a * sum(seen) + len(seen)",
    "algebra computed": "p = {int(n) for n in numbers}\nq = {int(n) + 1 for n in numbers}\n"
    "s = a * len(p | q) + b * len(p & q) + a * sum(p - q) + b * len(p ^ q)\ns = s * 2 if p <= q else s * 3\n"
    "s = s + (p == q) + (p != q) * a + p.isdisjoint(q)",
    "algebra in place": "p = set()\nfor n in numbers:\n    p |= {int(n)}\np -= {3}\np &= set(range(10))\np ^= {100}\n"
    "s = sum(a * n for n in sorted(p)) + b * len(p)",
    "frontier sets": "edges = {0: [1, 2], 1: [3], 2: [3, 4], 3: [0], 4: []}\nfrontier = {0}\nseen = set()\ns, w = 0.0, 1.0\n"
    "while frontier:\n    s += w * a * len(frontier)\n    w *= b\n    seen |= frontier\n"
    "    frontier = {v for u in frontier for v in edges[u]} - seen",
    "texts in set": "seen = set()\nfor n in numbers:\n    seen.add('odd' if n % 2 else 'even')\ns = a * len(seen) + b * ('odd' in seen)\n"
    "for name in sorted(seen):\n    s += len(name) * a",
    "dict by set": "p = {int(n) for n in numbers}\nd = {n: a * n for n in p}\ns = sum(d.values()) * b + d[3]",
    "unique sorted": "u = sorted(set(numbers))\ns = sum(a * v / (i + 1) for i, v in enumerate(u)) * b",
    "adjacency": "g = defaultdict(set)\nfor u, v in zip(numbers, numbers[1:]):\n    g[int(u)].add(int(v))\n    g[int(v)].add(int(u))\n"
    "s = 0.0\nfor u in sorted(g):\n    s += a * len(g[u]) + b * sum(g[u]) + (3 in g[u])\n    for v in sorted(g[u]):\n"
    "        s = s * 0.99 + a * v",
    "set algebra inner": "g = defaultdict(set)\nfor i, n in enumerate(numbers):\n    g[int(n) % 2].add(int(n))\n"
    "    g[int(n) % 3] |= {int(n) + 1, i}\nboth = g[0] & g[1]\ng[2] = g[0] | g[1]\ng[2].discard(3)\n"
    "s = a * len(both) + b * len(g[2]) + sum(g[0] - g[1]) * a + (g[0] <= g[2])",
    "iterate inner set": "g = defaultdict(set)\nfor u, v in zip(numbers, numbers[1:]):\n    g[int(u)].add(int(v))\ns = 0.0\nfor u in g:\n"
    "    for v in g[u]:\n        s = s * 0.9 + a * v",
    "aliased inner set": "g = {}\nfor i, n in enumerate(numbers):\n    n = int(n)\n    if n not in g:\n        g[n] = set()\n    p = g[n]\n"
    "    p.add(i)\n    if len(p) > 1:\n        p.remove(min(p))\ns = sum(a * sum(p) + b * len(p) for p in g.values())",
    "inner ordered ops": "g = defaultdict(set)\nfor i, n in enumerate(numbers):\n    g[int(n) % 2].add(int(n) * 17)\n"
    "    g[int(n) % 3] |= {int(n) * 31 + 1, i}\n    g[0].discard(51)\ng[5] = g[0] | g[1]\ng[6] = g[5] & g[1]\n"
    "h = g[5] - g[1]\ns = 0.0\nfor k in g:\n    for v in g[k]:\n        s = s * 0.9 + a * v\nfor v in h:\n"
    "    s = s * 0.9 + b * v\nwhile g[5]:\n    s = s * 0.8 + g[5].pop() * a\nfor v in g[0] ^ {1, 17, 34}:\n"
    "    s = s * 0.9 + b * v",
    "inner ordered changed": "g = defaultdict(set)\nfor i, n in enumerate(numbers):\n    g[int(n) % 2].add(int(n) * 17)\ns = a\ntry:\n"
    "    for v in g[0]:\n        g[0].add(v + 1)\nexcept RuntimeError:\n    s = s * b\nfor v in g[0]:\n    g[1].add(v)\n"
    "s += sum(g[1])",
}  # fmt: skip
FAST = ("order with discards", "order after merge", "algebra computed", "comparison all", "texts in set", "inner ordered ops")
HELPERS = "from collections import defaultdict\n"


def text_with_array(body: str) -> str:
    return HELPERS + "def f(a, b, numbers, x):\n" + "".join(f"    {line}\n" for line in body.splitlines()) + "    return s\n"


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in FAST else pytest.mark.slow) for n in ORDERED])
def test_what_python_tells_of_sets(name: str) -> None:
    assert verdict(text_with_array(ORDERED[name]), [0.7, 1.3, NUMBERS, np.array([0.3, -0.7, 1.1, 0.5])]) == "right"


def test_a_kernel_of_sets_whose_order_does_not_matter() -> None:
    f = function_of(HEAD + text_with_array(ORDERED["sum over set"]))
    args = (0.7, 1.3, NUMBERS, np.ones(4))
    assert symgrad.grad(f, jit=True)(*args) == pytest.approx(symgrad.grad(f)(*args))


def test_a_set_is_returned() -> None:
    f = function_of(HEAD + text_with_array("p = set()\nfor n in numbers:\n    p.add(int(n) * 17)\np.discard(51)\ns = a * len(p), p"))
    args = (0.7, 1.3, NUMBERS, np.ones(4))
    (value, held), slope = symgrad.value_and_grad(f, has_aux=True)(*args)
    assert (value, slope) == (pytest.approx(0.7 * len(held)), len(held))
    assert list(held) == list(f(*args)[1])


def test_the_text_of_a_set_is_refused() -> None:
    with pytest.raises(UnsupportedSyntax, match="a set whose elements are not known") as refused:
        symgrad.grad(function_of(HEAD + text_of("seen = set()\nfor n in numbers:\n    seen.add(n)\ns = a * len(str(seen))")))(
            0.7, 1.3, NUMBERS
        )
    assert refused.value.hint == "keep its elements in a list too, and use that"


def test_the_hint_is_a_way_out() -> None:
    text = "seen = set()\nkept = []\nfor n in numbers:\n    if n not in seen:\n        seen.add(n)\n        kept.append(n)\ns = a * len(str(kept))"
    assert verdict(text_of(text), [0.7, 1.3, NUMBERS]) == "right"
