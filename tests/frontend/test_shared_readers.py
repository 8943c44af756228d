"""``groupby``, ``tee``, ``cmp_to_key``, ``bisect``, ``ChainMap`` and others, compared with plain Python."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad
from symgrad.errors import UnsupportedSyntax
from tests.plainly import HEAD, check_kernel_and_second_derivative, function_of, program_of, verdict

NUMBERS = np.array([3, 5, 3, 2, 7, 5, 3, 2, 4, 1, 20])
X = np.array([0.3, -0.7, 1.1, 0.5])
HELPERS = (
    "import bisect, functools\nfrom collections import ChainMap, OrderedDict, deque\nfrom functools import cmp_to_key\n"
    "from itertools import groupby, tee\nfrom operator import itemgetter\n"
)
FAST = (
    "groupby itemgetter",
    "groupby active data",
    "groupby skipped groups",
    "tee pairwise",
    "cmp local",
    "dict of chainmap",
    "bisect more",
)
PROGRAMS = {
    "groupby key known": "s = 0.0\nfor k, g in groupby([1, 1, 2, 2, 2, 3], key=lambda v: v % 2):\n    s = s * 0.5 + a * k * sum(g)",
    "groupby numbers": "s = 0.0\nfor k, g in groupby(numbers):\n    s = s * 0.5 + a * k * len(list(g))",
    "groupby sorted by same key": "data = list(zip(numbers, x.tolist() * 3))\ns = 0.0\n"
    "for k, g in groupby(sorted(data, key=lambda t: t[0]), key=lambda t: t[0]):\n"
    "    s = s * 0.5 + k * sum(v for _, v in g) * a",
    "groupby itemgetter": "data = [('u', a), ('u', b), ('v', a * b), ('w', a), ('w', 2 * b)]\ns = 0.0\n"
    "for k, g in groupby(data, key=itemgetter(0)):\n    vals = [v for _, v in g]\n"
    "    s = s * 0.5 + sum(vals) / len(vals) * len(k)",
    "groupby dict": "data = [('u', a), ('u', b), ('v', a * b), ('w', a), ('w', 2 * b)]\n"
    "d = {k: [v for _, v in g] for k, g in groupby(data, key=lambda t: t[0])}\ns = sum(np.mean(v) for v in d.values())",
    "run lengths": "runs = [(k, len(list(g))) for k, g in groupby(numbers > 3)]\ns = sum(a * n if k else b * n for k, n in runs)",
    "run lengths active sign": "runs = [(k, len(list(g))) for k, g in groupby(x, key=lambda v: v > 0)]\n"
    "s = sum(a * n if k else b * n for k, n in runs)",
    "groupby active data": "s = 0.0\nfor k, g in groupby(x, key=lambda v: v > 0):\n    s += sum(g) ** 2 * (a if k else b)",
    "groupby skipped groups": "s = 0.0\nfor k, g in groupby(numbers, key=lambda n: n % 2):\n    if k:\n        s += a * next(g)",
    "groupby groups after advance": "gs = [g for k, g in groupby([1, 1, 2])]\ns = a * sum(len(list(g)) for g in gs) + b",
    "tee": "p, q = tee(x)\ns = sum(v * a for v in p) + sum(v * v for v in q)",
    "tee pairwise": "p, q = tee(x)\nnext(q, None)\ns = sum((v - w) ** 2 for v, w in zip(p, q)) * a",
    "tee list": "p, q, r = tee([a, b, a * b], 3)\ns = sum(p) + sum(v * v for v in q) + max(r)",
    "cmp_to_key": "def cmp(u, v):\n    return (u > v) - (u < v) if u % 2 == v % 2 else (u % 2) - (v % 2)\n"
    "q = sorted(numbers.tolist(), key=cmp_to_key(cmp))\ns = sum(a * n * b ** i for i, n in enumerate(q))",
    "cmp_to_key active": "q = sorted([a, b, 0.1 * a, 3 * b], key=cmp_to_key(lambda u, v: v - u))\ns = sum(n * b ** i for i, n in enumerate(q))",
    "chainmap": "d = ChainMap({'u': a}, {'u': b, 'v': 2 * b})\ns = d['u'] * d['v'] + d.get('w', a)",
    "chainmap new_child": "d = ChainMap({'u': a, 'v': b})\ne = d.new_child({'u': a * b})\ne['v'] = 3.0\n"
    "s = d['v'] * e['u'] + e['v'] * e.parents['u'] + len(e) + sum(e.values())",
    "deque rotate computed": "d = deque([a, b, 2.0])\ns = 0.0\nfor n in numbers:\n    d.rotate(int(n))\n    s = s * 0.5 + d[0]",
    "deque maxlen of unknown": "d = deque([v for v in x if v > 0], maxlen=2)\ns = sum(v * v for v in d) * a",
    "bisect insort": "q = []\nfor n in numbers:\n    bisect.insort(q, int(n))\ns = sum(a * b ** i * n for i, n in enumerate(q))",
    "bisect insort active": "q = []\nfor v in x:\n    bisect.insort(q, v)\ns = sum(a * b ** i * n for i, n in enumerate(q))",
    "bisect insort key": "q = []\nfor n in numbers:\n    bisect.insort(q, (int(n), 1), key=lambda t: -t[0])\n"
    "s = sum(a * b ** i * t[0] for i, t in enumerate(q))",
    "bisect left key": "rows = [(0.0, 1.0), (1.0, 3.0), (2.0, 0.5)]\ni = bisect.bisect_left(rows, a * 2, key=lambda r: r[0])\n"
    "s = rows[i][1] * a * b",
    "bisect range": "q = sorted(numbers)\n"
    "s = a * bisect.bisect_left(q, 4) + b * bisect.bisect_right(q, 5, 2) + a * bisect.bisect(q, 3, lo=1, hi=4)",
    "cmp local": "def cmp(u, v):\n    d = 0\n    for k in range(2):\n        d += (u[k] > v[k]) - (u[k] < v[k])\n        if d:\n"
    "            return d\n    return d\ndata = [(int(n) % 3, i) for i, n in enumerate(numbers)]\ns = 0.0\n"
    "for i, (p, q) in enumerate(sorted(data, key=cmp_to_key(cmp), reverse=True)):\n    s = s * 0.9 + a * p + b * q\n"
    "data.sort(key=functools.cmp_to_key(lambda u, v: v[1] - u[1]))\ns += data[0][1] * a",
    "ordered dict eq etc": "d = OrderedDict()\nfor n in numbers:\n    d[int(n)] = a * n\nd.move_to_end(3, last=False)\n"
    "k, v = d.popitem(last=False)\ns = k * v\nk, v = d.popitem()\ns += k * v * b\ns += sum(d.values())",
    "dict of chainmap": "d = dict(ChainMap({'u': a}, {'u': b, 'v': 2 * b}))\ns = d['u'] * d['v']\nd.update(ChainMap({'w': a * b}, d))\n"
    "s += d['w']",
    "bisect more": "q = sorted([3, 1, 4, 1, 5])\ns = a * bisect.bisect(q, 4, 0, 3) + b * bisect.bisect_left(q, 1, lo=1)\n"
    "rows = [(1, 'a'), (2, 'b'), (2, 'd')]\nbisect.insort(rows, (2, 'c'))\n"
    "s += sum(len(n) * k * a for k, n in rows) + a * bisect.bisect_left(['a', 'c'], 'b')\np = []\nfor v in x:\n"
    "    bisect.insort_left(p, v * a)\n    bisect.insort(p, v, key=lambda w: -w) if v > 5 else None\n"
    "s += sum(v * b ** i for i, v in enumerate(p))",
    "deque more": "d = deque((n * a for n in numbers if n > 2), maxlen=3)\nfor n in numbers:\n    d.append(n * b)\n"
    "    d.rotate(int(n))\ns = sum(v * (i + 1) for i, v in enumerate(d)) + d[-1]\ne = deque([v for v in x if v > 0], 2)\n"
    "e.appendleft(a)\ns += sum(v * (i + 1) for i, v in enumerate(e))",
    "keys and order": "d, e = {}, {}\nfor n in numbers:\n    d[int(n) * 17] = a\n    e[int(n) * 17 + (17 if n % 2 else 0)] = b\ns = 0.0\n"
    "for k in d.keys() & e.keys():\n    s = s * 0.9 + d[k] * e[k] * k\nfor k in sorted(d.keys() - e.keys()):\n"
    "    s = s * 0.9 + d[k] * k\nfor k in sorted(d.keys() | e.keys()):\n    s = s * 0.9 + k\n"
    "for k in d.keys() & {34, 51, 85}:\n    s = s * 0.9 + k\nfor k in {34, 51, 85} - d.keys():\n    s = s * 0.9 + k\n"
    "s = s * 2 if d.keys() == e.keys() else s * 3\ns = s * 2 if d.keys() <= e.keys() else s * 3",
}  # fmt: skip


def text_of(body: str) -> str:
    return program_of(body, HELPERS)


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in FAST else pytest.mark.slow) for n in PROGRAMS])
def test_programs(name: str) -> None:
    assert verdict(text_of(PROGRAMS[name]), [0.7, 1.3, NUMBERS, X]) == "right"


@pytest.mark.parametrize("name", ["groupby numbers", pytest.param("tee pairwise", marks=pytest.mark.slow)])
def test_kernels_and_second_derivatives(name: str) -> None:
    check_kernel_and_second_derivative(text_of(PROGRAMS[name] + "\ns = s * a"), (0.7, 1.3, NUMBERS, X), ("a",))


def test_a_nan_among_keys_is_refused() -> None:
    f = function_of(HEAD + text_of("s = sum(a * k for k, g in groupby(x))"))
    with pytest.raises(UnsupportedSyntax, match="there is a nan") as refused:
        symgrad.grad(f)(0.7, 1.3, NUMBERS, np.array([1.0, np.nan]))
    assert refused.value.hint == "leave nans out before"
    assert verdict(text_of("s = sum(a * k for k, g in groupby([v for v in x if v == v]))"), [0.7, 1.3, NUMBERS, X]) == "right"


def test_a_comparison_with_effects_is_refused() -> None:
    """How often Python compares which items is not known."""
    body = "calls = []\ndef order(u, v):\n    calls.append(u)\n    return u - v\ns = a * sorted(numbers.tolist(), key=cmp_to_key(order))[0]"
    with pytest.raises(UnsupportedSyntax, match="more than compare") as refused:
        symgrad.grad(function_of(HEAD + text_of(body)))(0.7, 1.3, NUMBERS, X)
    assert refused.value.hint == "sort by a key, as in sorted(values, key=lambda value: value)"


def test_variables_for_post_init() -> None:
    fields = "    w: float\n    k: dataclasses.InitVar[float] = 2.0\n    v: float = dataclasses.field(init=False, default=0.0)\n"
    text = f"import dataclasses\n@dataclasses.dataclass\nclass C:\n{fields}    def __post_init__(self, k):\n        self.v = self.w * k\n"
    assert verdict(text + "def f(a, b):\n    return C(a, b).v * C(b).v + C(a, k=3.0).v + C.k\n", [0.7, 1.3]) == "right"
