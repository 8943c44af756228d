"""Inner dicts of dicts with computed keys, changed in place."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad
from symgrad.errors import SymgradError
from tests.plainly import HEAD, check_kernel_and_second_derivative, function_of, program_of, verdict

NUMBERS = np.array([3, 5, 3, 2, 7, 5, 3, 2, 4, 1, 20])
X = np.array([0.3, -0.7, 1.1, 0.5])
HELPERS = "import copy\nfrom collections import Counter, defaultdict\n"
FAST = ("alias row", "shared row under two keys", "two nested dicts", "two sites of rows", "triple default", "fixed inner")
PROGRAMS = {
    "alias row": "g = defaultdict(dict)\nfor i in range(len(numbers) - 1):\n    row = g[int(numbers[i])]\n"
    "    row[int(numbers[i + 1])] = a * i\n    other = g[int(numbers[0])]\n    other[99] = b * i\n"
    "s = sum(v * k for r in g.values() for k, v in r.items()) + g[3][99] * a",
    "shared row under two keys": "g = {}\nfor i, n in enumerate(numbers):\n    if n not in g:\n        g[n] = {}\n        g[n + 100] = g[n]\n"
    "    g[n][i] = a * i\n    g[n + 100][i + 50] = b\ns = sum(v * v for r in g.values() for v in r.values())",
    "shallow copy nested": "g = defaultdict(dict)\nfor i in range(len(numbers) - 1):\n    g[int(numbers[i])][int(numbers[i + 1])] = a * i\n"
    "h = copy.copy(g)\nh2 = dict(g)\nh[3][5] = b\nh2[5][77] = a\ns = sum(v * k for r in g.values() for k, v in r.items())",
    "row copy": "g = defaultdict(dict)\nfor i in range(len(numbers) - 1):\n    g[int(numbers[i])][int(numbers[i + 1])] = a * i\n"
    "r = g[3].copy()\nr2 = dict(g[3])\nr[5] = b\nr2[7] = b\ng[5] = r\ng[5][8] = a\n"
    "s = sum(v * k for r in g.values() for k, v in r.items()) + sum(r2.values()) + sum(r.values())",
    "del in rows": "g = defaultdict(dict)\nfor i in range(len(numbers) - 1):\n    g[int(numbers[i])][int(numbers[i + 1])] = a * i\n"
    "    g[i % 3][i] = b\nfor u in list(g):\n    for v in list(g[u]):\n        if v % 2:\n            del g[u][v]\n"
    "t = g[0].pop(0, 5.0) + g[1].pop(100, a)\n"
    "s = t + sum(v * k for r in g.values() for k, v in r.items()) + sum(len(r) for r in g.values())",
    "changed size nested": "g = defaultdict(dict)\nfor i in range(len(numbers) - 1):\n    g[int(numbers[i])][int(numbers[i + 1])] = a * i\n"
    "s = b\ntry:\n    for v in g[3]:\n        g[3][v + 100] = a\nexcept RuntimeError:\n    s = s * 2\nfor v in g[3]:\n"
    "    g[5][v + 1] = a\ns += sum(v * k for k, v in g[5].items())",
    "two nested dicts": "g = defaultdict(dict)\nh = defaultdict(dict)\nfor i in range(len(numbers) - 1):\n"
    "    g[int(numbers[i])][int(numbers[i + 1])] = a * i\n    h[int(numbers[i])][f'k{numbers[i + 1]}'] = b * i\n"
    "s = sum(v * k for r in g.values() for k, v in r.items()) + sum(v * len(k) for r in h.values() for k, v in r.items())",
    "triple default": "g = defaultdict(lambda: defaultdict(lambda: defaultdict(float)))\nfor i in range(len(numbers) - 2):\n"
    "    g[int(numbers[i])][int(numbers[i + 1])][int(numbers[i + 2])] += a * i\n"
    "s = sum(v * k * b for r in g.values() for q in r.values() for k, v in q.items())",
    "nested lists": "g = defaultdict(lambda: defaultdict(list))\nfor i in range(len(numbers) - 1):\n"
    "    g[int(numbers[i])][int(numbers[i + 1]) % 2].append(a * i)\n"
    "s = sum(sum(l) ** 2 * k for r in g.values() for k, l in r.items()) * b",
    "nested counter": "g = defaultdict(Counter)\nfor i in range(len(numbers) - 1):\n    g[int(numbers[i]) % 2][int(numbers[i + 1])] += 1\n"
    "s = 0.0\nfor k, c in g.items():\n    t = c.total()\n    for w, n in c.items():\n        s += n / t * a * w + k\n"
    "s += b * g[1].most_common(1)[0][1]",
    "nested arrays": "g = {}\nfor i in range(len(numbers) - 1):\n    r = g.setdefault(int(numbers[i]) % 2, {})\n"
    "    if int(numbers[i + 1]) not in r:\n        r[int(numbers[i + 1])] = np.zeros(4)\n"
    "    r[int(numbers[i + 1])] += x * i\ns = sum(np.sum(v ** 2) * k for r in g.values() for k, v in r.items()) * a",
    "text keys nested": "g = {}\nfor i in range(len(numbers) - 1):\n    g.setdefault(f'u{numbers[i]}', {})[f'v{numbers[i + 1]}'] = a * i\n"
    "s = sum(v * len(k) for r in g.values() for k, v in r.items()) + g['u3']['v5'] * b + ('v9' in g['u3'])",
    "in helper": "def add(g, u, v, w):\n    if u not in g:\n        g[u] = {}\n    g[u][v] = g[u].get(v, 0.0) + w\ng = {}\n"
    "for i in range(len(numbers) - 1):\n    add(g, int(numbers[i]), int(numbers[i + 1]), a * i)\n"
    "    add(g, int(numbers[i + 1]), int(numbers[i]), b)\ns = sum(v * v * k for r in g.values() for k, v in r.items())",
    "markov": "T = {}\nfor u, v in zip(numbers, numbers[1:]):\n    T.setdefault(u, {})\n    T[u][v] = T[u].get(v, 0.0) + 1.0\n"
    "P = {u: {v: c / sum(row.values()) for v, c in row.items()} for u, row in T.items()}\ns = 0.0\n"
    "for u, row in P.items():\n    for v, p in row.items():\n        s += p * a * v - b * math.log(p) * u",
    "inner returned by function": "def build(ns, w):\n    out = {}\n    for i in range(len(ns) - 1):\n"
    "        out.setdefault(int(ns[i]), {})[int(ns[i + 1])] = w * i\n    return out\ng = build(numbers, a)\n"
    "h = build(numbers[::-1], b)\ng[3][5] = h[3][5] * 2\nh[5][3] = 1.0\n"
    "s = sum(v * k for r in g.values() for k, v in r.items()) + sum(v * k for r in h.values() for k, v in r.items())",
    "equality nested": "g = defaultdict(dict)\nfor i in range(len(numbers) - 1):\n"
    "    g[int(numbers[i])][int(numbers[i + 1])] = int(numbers[i])\ns = a if g[3] == {5: 3, 2: 3, 3: 3} else b\n"
    "s = s * 2 if g[5] != g[3] else s",
    "update nested": "g = defaultdict(dict)\nfor i in range(len(numbers) - 1):\n"
    "    g[int(numbers[i])].update({int(numbers[i + 1]): a * i, 50: b})\ng[3] |= {1: a}\nm = g[3] | g[5]\nm[50] = 7.0\n"
    "s = sum(v * k for r in g.values() for k, v in r.items()) + sum(m.values())",
    "two sites of rows": "g = {}\nfor i, n in enumerate(numbers):\n    n = int(n)\n    if n not in g:\n        if n % 2:\n"
    "            g[n] = {}\n        else:\n            g[n] = {0: b}\n    g[n][i] = a\n"
    "s = sum(v * k + v for r in g.values() for k, v in r.items())",
    "rows sorted by value": "g = defaultdict(dict)\nfor i, n in enumerate(numbers):\n    g[int(n)][i] = a * ((i * 7) % 5)\ns = 0.0\n"
    "for k, v in sorted(g[3].items(), key=lambda kv: kv[1]):\n    s = s * 0.5 + k * v * b\n"
    "for k, v in sorted(g[3].items()):\n    s = s * 0.5 + k * v * b\nbest = max(g[3], key=g[3].get)\ns += best * a",
    "fixed inner": "d = {}\nfor i, n in enumerate(numbers):\n    d.setdefault(n, {'w': 0.0, 'c': 0})\n    d[n]['w'] += x[i % 4] * a\n"
    "    d[n]['c'] += 1\ns = sum(r['w'] / r['c'] for r in d.values()) * b",
    "fixed inner ints used as index": "d = {}\nfor i, n in enumerate(numbers):\n    d.setdefault(int(n), {'w': 0.0, 'c': 0})\n    d[int(n)]['w'] += a\n"
    "    d[int(n)]['c'] += 1\ns = sum(x[r['c']] * r['w'] for r in d.values()) * b\nprint([r['c'] for r in d.values()])",
    "default fixed": "d = defaultdict(lambda: {'w': 0.0, 'c': 1.0})\nfor i, n in enumerate(numbers):\n    d[int(n)]['w'] += a * i\n"
    "    d[int(n)]['c'] *= b\ns = sum(r['w'] * r['c'] for r in d.values())",
    "edges with attrs": "g = {}\nfor i in range(len(numbers) - 1):\n    u, v = int(numbers[i]), int(numbers[i + 1])\n"
    "    g.setdefault(u, {})\n    g[u][v] = {'weight': a * i, 'cap': b}\ns = 0.0\nfor u in g:\n"
    "    for v, e in g[u].items():\n        s += e['weight'] * e['cap'] * v",
}  # fmt: skip


def text_of(body: str) -> str:
    return program_of(body, HELPERS)


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in FAST else pytest.mark.slow) for n in PROGRAMS])
def test_programs(name: str) -> None:
    assert verdict(text_of(PROGRAMS[name]), [0.7, 1.3, NUMBERS, X]) == "right"


SMALL = "g = defaultdict(dict)\nfor i in range(5):\n    g[numbers[i]][i] = a * a * b * i\ns = sum(v * b for row in g.values() for v in row.values())"


@pytest.mark.parametrize("body", [SMALL, pytest.param(PROGRAMS["triple default"] + "\ns = s * a", marks=pytest.mark.slow)])
def test_kernels_and_second_derivatives(body: str) -> None:
    check_kernel_and_second_derivative(text_of(body), (0.7, 1.3, NUMBERS, X))


#: what is not followed, and the same said in a way that is
REFUSED = {
    "copied deeply": ("h = copy.deepcopy(g)\ns = h[3][0] * b", "h = {k: dict(row) for k, row in g.items()}\ns = h[3][0] * b"),
    "shown": ("s = a * len(str(g[3]))", "s = a * len(str(list(g[3])))"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_followed_is_refused(name: str) -> None:
    head = "g = defaultdict(dict)\nfor i, n in enumerate(numbers):\n    g[int(n)][i] = a * i\n"
    refused, instead = REFUSED[name]
    with pytest.raises(SymgradError, match="a dict"):
        symgrad.grad(function_of(HEAD + text_of(head + refused)))(0.7, 1.3, NUMBERS, X)
    assert verdict(text_of(head + instead), [0.7, 1.3, NUMBERS, X]) == "right"
