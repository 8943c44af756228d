"""Methods, builtins and operators on dicts with computed keys; lists as items; whole algorithms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import SymgradError, UnsupportedSyntax
from tests.plainly import HEAD, function_of, verdict

NUMBERS = np.array([3, 5, 3, 2, 7, 5, 3, 2, 4, 1, 20])
FLOATS = np.array([0.3, 1.2, -0.7, 0.9, 2.1, -1.4, 0.2, 0.8])
#: what fills the dict ``d`` that the programs of ``FILLED`` ask
FILL = "d = {}\nfor n in numbers:\n    d[n] = d.get(n, b) * a + n\n"

#: what is done with a dict that is filled before
FILLED = {
    "list(d)": "s = 0.0\nfor k in list(d):\n    s = s * 0.5 + d[k] * k\n    del d[k]\nreturn s + len(d)",
    "list(d.values())": "v = list(d.values())\nreturn v[0] * v[1] + v[-1]",
    "list(d.items())": "v = list(d.items())\nreturn v[0][1] * v[1][1] + v[-1][0] * a",
    "[*d]": "v = [*d]\nreturn v[0] * a + len(v)",
    "tuple(d)": "v = tuple(d)\nreturn v[0] * a + len(v)",
    "copy": "e = d.copy()\ne[3] = a\ne[99] = b\nreturn d[3] * e[3] + len(d) * e[99] + len(e)",
    "dict(d)": "e = dict(d)\ne[3] = a\ne[99] = b\nreturn d[3] * e[3] + len(d) * e[99] + len(e)",
    "copy.copy": "import copy\ne = copy.copy(d)\ne[3] = a\nreturn d[3] * e[3]",
    "deepcopy": "import copy\ne = copy.deepcopy(d)\ne[3] = a\nreturn d[3] * e[3]",
    "update": "e = {}\nfor n in numbers:\n    e[n + 1] = b * n\nd.update(e)\nreturn sum(v * k for k, v in d.items())",
    "update known": "d.update({3: a, 77: b})\nreturn d[3] * d[77] + len(d)",
    "update pairs": "d.update([(n, a) for n in numbers])\nreturn sum(d.values())",
    "or": "e = {}\nfor n in numbers:\n    e[n + 1] = b * n\nh = d | e\nreturn sum(v * k for k, v in h.items()) + len(d)",
    "or known": "h = d | {3: a}\ng = {3: b, 1000: a} | d\ns = 0.0\nfor k, v in g.items():\n    s = s * 0.9 + k * v\n"
    "return h[3] + d[3] + s",
    "ior": "e = {}\nfor n in numbers:\n    e[n + 1] = b * n\nd |= e\nreturn sum(v * k for k, v in d.items())",
    "known |= growing": "e = {3: a}\ne |= d\nreturn e[3] * e[5] * a",
    "known.update(growing)": "e = {3: a}\ne.update(d)\nreturn e[3] * e[5] * a",
    "star star": "e = {**d, 3: a, 88: b}\nreturn e[3] * e[88] * e[5]",
    "eq": "e = d.copy()\ns = a if d == e else b\ne[3] = 0.0\n"
    "return s * (2.0 if d != e else 3.0) * (5.0 if d == {} else 7.0) * (11.0 if {3: a} == d else 13.0)",
    "sorted(d)": "s = 0.0\nfor k in sorted(d):\n    s = s * 0.5 + d[k]\nreturn s",
    "sorted(d, reverse)": "s = 0.0\nfor k in sorted(d, reverse=True):\n    s = s * 0.5 + d[k]\nreturn s",
    "sorted items": "s = 0.0\nfor k, v in sorted(d.items()):\n    s = s * 0.5 + v * k\nreturn s",
    "sorted items reverse": "s = 0.0\nfor k, v in sorted(d.items(), reverse=True):\n    s = s * 0.5 + v * k\nreturn s",
    "sorted by get": "s = 0.0\nfor k in sorted(d, key=d.get):\n    s = s * 0.5 + d[k] * k\nreturn s",
    "sorted by get reverse": "s = 0.0\nfor k in sorted(d, key=d.get, reverse=True):\n    s = s * 0.5 + d[k] * k\nreturn s",
    "sorted items by value": "s = 0.0\nfor k, v in sorted(d.items(), key=lambda p: p[1]):\n    s = s * 0.5 + v * k\nreturn s",
    "sorted items by tuple": "s = 0.0\nfor k, v in sorted(d.items(), key=lambda p: (-p[1], p[0])):\n    s = s * 0.5 + v * k\nreturn s",
    "sorted by lambda": "s = 0.0\nfor k in sorted(d, key=lambda k: -d[k]):\n    s = s * 0.5 + d[k] * k\nreturn s",
    "sorted values": "s = 0.0\nfor v in sorted(d.values()):\n    s = s * 0.5 + v\nreturn s",
    "max by get": "k = max(d, key=d.get)\nreturn d[k] * a + k",
    "min by get": "k = min(d, key=d.get)\nreturn d[k] * a + k",
    "max keys by get": "k = max(d.keys(), key=d.get)\nreturn d[k] * a + k",
    "max by lambda": "k = max(d, key=lambda q: d[q])\nreturn d[k] * a + k",
    "max items by value": "k, v = max(d.items(), key=lambda p: p[1])\nreturn v * a + k",
    "max items by tuple": "k, v = max(d.items(), key=lambda p: (p[0] % 2, p[1]))\nreturn v * a + k",
    "max items": "k, v = max(d.items())\nreturn v * a + k",
    "max pairs": "v, k = max((v, k) for k, v in d.items())\nreturn v * a + k",
    "min values": "return min(d.values()) * a",
    "max d": "return max(d) * a + min(d)",
    "sum values": "return sum(d.values())",
    "sum d": "return sum(d) * a",
    "popitem": "k, v = d.popitem()\nreturn v * k + len(d)",
    "popitem all": "s = 0.0\nwhile d:\n    k, v = d.popitem()\n    s = s * 0.5 + v * k\nreturn s",
    "clear": "e = d\nd.clear()\nd[5] = a\nreturn sum(e.values()) + len(e)",
    "truth": "s = a\nif d:\n    s = s * b\nd.clear()\nif not d:\n    s = s * b\nreturn s",
    "comprehension": "e = {k: v * v for k, v in d.items() if v > 1}\nreturn sum(e.values()) + len(e)",
    "inverted": "e = {v: k for k, v in d.items()}\nreturn sum(e) + len(e) * a",
    "inner function": "def total(h, w):\n    s = 0.0\n    for k, v in h.items():\n        s += v * w\n    return s\n"
    "return total(d, a) + total(d, b)",
    "result of inner": "def scaled(h, w):\n    r = {}\n    for k, v in h.items():\n        r[k] = v * w\n    return r\n"
    "e = scaled(scaled(d, a), b)\nreturn e[3] * e[5] + len(e)",
    "reversed": "s = 0.0\nfor k in reversed(d):\n    s = s * 0.5 + d[k]\nfor k, v in reversed(d.items()):\n"
    "    s = s * 0.5 + v * k\nreturn s",
    "enumerate": "s = 0.0\nfor i, (k, v) in enumerate(d.items()):\n    s = s * 0.5 + v * k * i\nreturn s",
    "asked with other numbers": "return d[3.0] * a + (1.0 if True in d else 2.0) + d.get(7.5, b)",
    "value search": "return 1.0 * a if b in d.values() else 2.0 * a",
    "items search": "return 1.0 * a if (3, b) in d.items() else 2.0 * a",
    "settings beside": "opts = {'w': a, 'name': 'x', 'f': np.sin}\nother = {'p': opts, 'q': b}\n"
    "return opts['f'](d[3]) * other['p']['w'] * other['q']",
    "settings in branch": "if numbers[0] > 2:\n    opts = {'w': a, 'f': np.sin}\nelse:\n    opts = {'w': b, 'f': np.cos}\n"
    "for n in numbers:\n    e = {}\n    e[n] = a\n    opts['w'] = opts['w'] + e[n]\nreturn opts['w'] * d[3]",
    "printed": "print(d)\nprint(f'{d}', [d])\nreturn a * len(d)",
}  # fmt: skip

#: programs that fill their dicts themselves
OWN = {
    "setdefault append": "d = {}\nfor i, n in enumerate(numbers):\n    d.setdefault(n, []).append(a * i + b)\ns = 0.0\n"
    "for k, v in d.items():\n    s = s * 0.9 + sum(v) * k\nreturn s",
    "defaultdict list": "d = collections.defaultdict(list)\nfor i, n in enumerate(numbers):\n    d[n].append(a * i + b)\ns = 0.0\n"
    "for k, v in d.items():\n    s = s * 0.9 + sum(v) / len(v) * k\nreturn s",
    "dict gen": "d = dict((n, a * n) for n in numbers)\nreturn sum(v * v for v in d.values())",
    "fromkeys": "d = dict.fromkeys(numbers, 0.0)\nfor n in numbers:\n    d[n] += a\nreturn sum(v * v for v in d.values())",
    "Counter of array": "d = collections.Counter(numbers)\nreturn sum(v * v * a**k for k, v in d.items())",
    "Counter of list": "d = collections.Counter([n % 3 for n in numbers])\nk, c = d.most_common(1)[0]\n"
    "return a * k + c * b + d.total() * a",
    "Counter most": "d = collections.Counter(numbers)\ns = 0.0\nfor k, c in d.most_common():\n    s = s * a + k * c\n"
    "for k, c in d.most_common(2):\n    s = s * a + k * c\nreturn s",
    "Counter update": "d = collections.Counter()\nd.update(numbers)\nd.update(numbers[:3])\nd.subtract(numbers[:1])\n"
    "return sum(v * v * a**k for k, v in d.items())",
    "Counter arithmetic": "c = collections.Counter(numbers)\ne = collections.Counter(numbers[2:7] + 1)\ns = 0.0\n"
    "for h in (c + e, c - e, c | e, c & e):\n    for k, v in h.items():\n        s = s * a + k * v\nreturn s",
    "Counter weights": "d = collections.Counter()\nfor i, n in enumerate(numbers):\n    d[n] += a * i + 0.01 * n\ns = b\n"
    "for k, v in d.most_common(3):\n    s = s * 0.5 + k * v\nreturn s",
    "pair keys sorted": "d = {}\nfor n in numbers:\n    d[n % 3, n] = a * n\ns = 0.0\nfor k in sorted(d):\n"
    "    s = s * 0.5 + d[k] + k[0]\nfor (i, j), v in sorted(d.items(), reverse=True):\n    s = s * 0.5 + v * i\n"
    "return s",
    "float keys active": "d = {}\nfor n in numbers:\n    d[a * n] = b * n\ns = 0.0\nfor k, v in d.items():\n    s = s * 0.5 + v * k\n"
    "return s",
    "text keys sorted": "d = {}\nfor n in numbers:\n    d[f'k{n}'] = a * n\ns = 0.0\nfor k in sorted(d):\n    s = s * 0.5 + d[k]\n"
    "for k, v in sorted(d.items(), reverse=True):\n    s = s * 0.5 + v\n"
    "return s + len(max(d)) * a + len(min(d)) + d[max(d, key=d.get)]",
    "elements": "d = collections.Counter(numbers)\ns = 0.0\nfor k in d.elements():\n    s = s * a + k\nreturn s",
    "lost in join": "if b > 1:\n    e = {}\nelse:\n    e = {1: a}\nopts = {'w': a, 'f': np.sin}\nfor n in numbers:\n"
    "    e[n] = a * n\nreturn opts['f'](e[3]) * opts['w']",
    "in values 2": "d = {}\nfor n in numbers:\n    d[n] = a * n\nreturn a if 1 * a in d.values() else b",
    "in items": "d = {}\nfor n in numbers:\n    d[n] = a * n\n"
    "return (a if (1, a) in d.items() else b) * (2.0 if (3, 7.0) in d.items() else 3.0) * (5.0 if 3 in d.items() else 7.0)",
    "print text": "d = {}\nfor n in numbers:\n    d[f'k{n}'] = n\nprint(d)\nprint(f'{d}')\ns = str(d)\nprint(repr(d), len(s))\n"
    "return a",
    "print counter": "d = collections.Counter(numbers.tolist())\nprint(d)\nreturn a",
    "print defaultdict": "d = collections.defaultdict(float)\nfor n in numbers.tolist():\n    d[n] += n * 0.5\nprint(d)\nreturn a",
    "print pairs": "d = {}\nfor n in numbers.tolist():\n    d[n, 1] = n * 0.5\nprint(d)\nreturn a",
    "print changed after": "d = {}\nfor n in numbers.tolist():\n    d[n] = n * 0.5\n    print(d)\nd[3] = 7.0\nprint(d)\nreturn a * d[3]",
    "joined choice 2": "if b < 1:\n    d = {1: a}\nelse:\n    d = {}\n    for n in numbers:\n        d[n] = a * n\n"
    "d[3] = d.get(3, 0.0) + b\ns = 0.0\nfor k, v in d.items():\n    s = s * 0.5 + k * v\nreturn s",
    "maybe none": "d = None\nif b > 1:\n    d = {}\n    for n in numbers:\n        d[n] = a * n\ns = b\nif d is not None:\n"
    "    s = s + sum(d.values())\nreturn s",
    "path keys": "d = {}\nif b > 1:\n    d['x'] = a\nelse:\n    d['y'] = b\ns = 0.0\nfor k, v in d.items():\n"
    "    s = s * 0.5 + v * (2.0 if k == 'x' else 3.0)\nreturn s + len(d)",
    "path order": "d = {'x': a}\nif b > 1:\n    del d['x']\n    d['y'] = b\nd['x'] = a * a\ns = 0.0\nfor k, v in d.items():\n"
    "    s = s * 0.5 + v\nreturn s",
    "list of dicts": "ds = []\nfor n in numbers[:3]:\n    d = {}\n    d[n] = a * n\n    ds.append(d)\nreturn ds[0][3] * ds[1][5]",
    "two dicts swap": "d, e = {}, {}\nfor n in numbers:\n    d[n] = a * n\n    e[n + 1] = b\n    d, e = e, d\n"
    "return sum(d.values()) * 2.0 + sum(e.values())",
    "new each round": "s = 0.0\nfor n in numbers:\n    d = {}\n    for m in numbers:\n        d[m % n] = a * m\n"
    "    s = s + sum(d.values())\nreturn s",
    "try store": "d = {}\nfor n in numbers:\n    try:\n        d[n] += a\n    except KeyError:\n        d[n] = b\n"
    "return sum(v * k for k, v in d.items())",
    "finally": "d = {}\nfor n in numbers:\n    try:\n        if n == 7:\n            raise ValueError\n        d[n] = a\n"
    "    except ValueError:\n        d[n] = b\n    finally:\n        d[n] = d[n] * n\nreturn sum(d.values())",
    "nonlocal rebind": "d = {}\ndef reset():\n    nonlocal d\n    d = {}\nfor n in numbers:\n    if n == 7:\n        reset()\n"
    "    d[n] = a * n\nreturn sum(d.values())",
    "generator over": "d = {}\nfor n in numbers:\n    d[n] = a * n\ndef gen(h):\n    for k, v in h.items():\n        if k > 2:\n"
    "            yield v * k\nreturn sum(gen(d))",
    "mixed tuple computed": "d = {}\nfor n in numbers:\n    k = (f'k{n % 3}', n)\n    d[k] = d.get(k, 0.0) + a * n\ns = 0.0\n"
    "for (c, i), v in d.items():\n    s = s * 0.5 + v * i + len(c)\nfor k in sorted(d):\n    s = s * 0.5 + d[k]\n"
    "return s",
    "nested tuple": "d = {}\nfor n in numbers:\n    d[(n % 2, (n % 3, n))] = a * n\ns = 0.0\n"
    "for (i, (j, k)), v in sorted(d.items()):\n    s = s * 0.5 + v * i + j - k\nreturn s",
    "float sort": "d = {}\nfor n in numbers:\n    d[n / 4] = a * n\ns = 0.0\nfor k in sorted(d):\n    s = s * 0.5 + d[k] * k\n"
    "return s + d[0.75]",
    "tuple of float": "d = {}\nfor n in numbers:\n    d[n, n / 2] = a * n\nreturn sum(v * k[1] for k, v in d.items())",
}  # fmt: skip

#: lists as items that are changed
LISTS = {
    "setdefault append": "d = {}\nfor i, n in enumerate(numbers):\n    d.setdefault(n, []).append(a * i + b)\ns = 0.0\n"
    "for k, v in d.items():\n    s = s * 0.9 + sum(v) * k\nreturn s",
    "if not in": "d = {}\nfor i, n in enumerate(numbers):\n    if n not in d:\n        d[n] = []\n    d[n].append(a * i + b)\n"
    "s = 0.0\nfor k, v in d.items():\n    s = s * 0.9 + sum(v) * k\nreturn s",
    "defaultdict": "d = collections.defaultdict(list)\nfor i, n in enumerate(numbers):\n    d[n].append(a * i + b)\ns = 0.0\n"
    "for k, v in d.items():\n    s = s * 0.9 + sum(v) / len(v) * k\nreturn s",
    "pairs": "d = {}\nfor i, n in enumerate(numbers):\n    d.setdefault(n, []).append((i, a * i + b))\ns = 0.0\n"
    "for k, v in d.items():\n    for i, x in v:\n        s = s * 0.9 + x * i\nreturn s",
    "first item": "d = {}\nfor i, n in enumerate(numbers):\n    if n in d:\n        d[n].append(a * i)\n    else:\n"
    "        d[n] = [b * i]\ns = 0.0\nfor k, v in d.items():\n    s = s * 0.9 + sum(v) / len(v) * k\nreturn s",
    "list alias3": "d = {}\nfor i, n in enumerate(numbers):\n    d[n] = [b]\nq = d[3]\nq.append(a)\nd[5].append(a * a)\n"
    "return sum(d[3]) * sum(d[5]) + len(q)",
    "list sort": "d = {}\nfor i, n in enumerate(numbers):\n    d.setdefault(n, []).append(a * i + b)\nfor k in d:\n"
    "    d[k].sort()\n    d[k][0] = 2.0 * b\ns = 0.0\nfor k, v in d.items():\n    s = s * 0.9 + v[0] * k + v[-1]\n"
    "return s",
    "loop over values append": "d = {}\nfor i, n in enumerate(numbers):\n    d[n] = [b]\nfor v in d.values():\n    v.append(a)\n"
    "return sum(sum(v) for v in d.values())",
    "sorted items": "d = {}\nfor n in numbers:\n    d.setdefault(n, []).append(a * n)\ns = 0.0\nfor k, v in sorted(d.items()):\n"
    "    s = s * 0.5 + sum(v) * k\nreturn s",
    "list items": "d = {}\nfor n in numbers:\n    d.setdefault(n, []).append(a * n)\ns = 0.0\nfor k, v in list(d.items()):\n"
    "    s = s * 0.5 + sum(v) * k\nreturn s",
    "max len": "d = {}\nfor n in numbers:\n    d.setdefault(n, []).append(a * n)\nk = max(d, key=lambda q: len(d[q]))\n"
    "return sum(d[k]) * k",
    "row in tuple then changed": "L = []\nfor n in numbers:\n    L.append([a * n])\nM = []\nfor k in range(len(L)):\n    M.append((k, L[k]))\n"
    "L[0].append(b)\nreturn sum(M[0][1]) + len(M[1][1])",
}  # fmt: skip

#: lists that other names may be bound to: right, or refused
UNSURE = {
    "list alias": "d = {}\nq = []\nfor i, n in enumerate(numbers):\n    d[n] = q\n    q.append(a * i)\nreturn sum(d[3]) + len(q)",
    "list alias2": "d = {}\nfor i, n in enumerate(numbers):\n    q = [b]\n    d[n] = q\n    d[n + 100] = q\n    q.append(a * i)\n"
    "return sum(d[3]) + sum(d[103])",
    "list alias4": "d = {}\nfor i, n in enumerate(numbers):\n    d[n] = [b]\nd[5] = d[3]\nd[3].append(a)\n"
    "return sum(d[3]) * sum(d[5]) * len(d[5])",
    "list alias5": "d = {}\nfor i, n in enumerate(numbers):\n    d[n] = [b]\ne = d.copy()\nd[3].append(a)\n"
    "return sum(d[3]) * sum(e[3]) * len(e[3])",
    "list alias6": "d = {}\nfor i, n in enumerate(numbers):\n    d[n] = [b]\ne = list(d.values())\nd[3].append(a)\n"
    "return sum(d[3]) * sum(e[0]) * len(e[0])",
    "list alias7": "d = {}\nfor i, n in enumerate(numbers):\n    d[n] = [b]\nq = d.pop(3)\nq.append(a)\nd[5] = q\nq.append(a)\n"
    "return sum(d[5]) * len(q)",
    "default twice": "d = {}\nz = [b]\nfor i, n in enumerate(numbers):\n    d.setdefault(n, z)\nd[3].append(a)\n"
    "return sum(d[5]) + len(z)",
}  # fmt: skip


def program(body: str) -> str:
    return "def f(a, b, numbers):\n" + "".join(f"    {line}\n" for line in body.splitlines())


PROGRAMS = {
    **{name: program(FILL + body) for name, body in FILLED.items()},
    **{name: program(body) for name, body in {**OWN, **LISTS}.items()},
}


@pytest.mark.sweep(20)
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_slopes(name: str) -> None:
    assert verdict(PROGRAMS[name], [0.7, 1.3, NUMBERS]) == "right"


@pytest.mark.sweep(7)
@pytest.mark.parametrize("name", UNSURE)
def test_lists_that_may_be_one(name: str) -> None:
    assert verdict(program(UNSURE[name]), [0.7, 1.3, NUMBERS]) in ("right", "refused")


def check_targets(text: str, args: list[Any]) -> None:
    """Kernels beside NumPy code, and the second derivative with respect to ``a`` against differences of the first."""
    f = function_of(HEAD + text)
    expected = symgrad.value_and_grad(f, allow_unused=True)(*args)
    compiled = symgrad.value_and_grad(f, jit="auto", allow_unused=True)(*args)
    assert compiled[0] == pytest.approx(expected[0], rel=1e-12)
    assert (compiled[1] or 0.0) == pytest.approx(expected[1] or 0.0, rel=1e-9)
    first = symgrad.grad(f, allow_unused=True)
    ends = [first(args[0] + step, *args[1:]) or 0.0 for step in (1e-6, -1e-6)]
    assert (symgrad.grad(first, allow_unused=True)(*args) or 0.0) == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-4, abs=1e-5)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PROGRAMS)
def test_both_targets(name: str) -> None:
    pytest.importorskip("numba")
    check_targets(PROGRAMS[name], [0.7, 1.3, NUMBERS])


U, V = np.array([0, 0, 1, 1, 2, 3, 3, 4]), np.array([1, 2, 2, 3, 3, 4, 5, 5])
W, X = np.array([0.7, 2.1, 0.9, 2.2, 0.4, 1.3, 3.0, 0.8]), np.array([0.3, 1.2, -0.7, 0.9, 2.1, -1.4, 0.2, 0.8, 1.1, -0.3, 0.6])
LABELS = np.array([0, 1, 2, 0, 1, 1, 2, 0, 2, 1, 0])
#: algorithms, with what they are called with
ALGORITHMS: dict[str, tuple[str, list[Any]]] = {
    "dijkstra": (
        """def f(a, u, v, w):
    adj = {}
    for i in range(len(u)):
        adj.setdefault(int(u[i]), []).append(i)
    dist = {0: 0.0}
    done = {}
    while len(done) < 6:
        best = -1
        for k in dist:
            if k not in done and (best < 0 or dist[k] < dist[best]):
                best = k
        done[best] = 1
        for i in adj.get(best, []):
            t = dist[best] + a * w[i]
            q = int(v[i])
            if q not in dist or t < dist[q]:
                dist[q] = t
    return dist[5] * dist[3]
""",
        [0.7, U, V, W],
    ),
    "topological": (
        """def f(a, u, v, w):
    deg = {}
    for i in range(len(u)):
        deg[int(v[i])] = deg.get(int(v[i]), 0) + 1
        deg.setdefault(int(u[i]), 0)
    value = {k: a for k in deg}
    ready = [k for k, c in deg.items() if c == 0]
    order = []
    while ready:
        p = ready.pop()
        order.append(p)
        for i in range(len(u)):
            if u[i] == p:
                q = int(v[i])
                value[q] = value[q] + value[p] * w[i]
                deg[q] -= 1
                if deg[q] == 0:
                    ready.append(q)
    return value[order[-1]] + len(order)
""",
        [0.7, U, V, W],
    ),
    "union find halving": (
        """def f(a, u, v, w):
    parent = {int(k): int(k) for k in u}
    for k in v:
        if int(k) not in parent:
            parent[int(k)] = int(k)
    weight = dict.fromkeys(parent, 0.0)
    for i in range(len(u)):
        x, y = int(u[i]), int(v[i])
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        while parent[y] != y:
            parent[y] = parent[parent[y]]
            y = parent[y]
        if x != y:
            parent[y] = x
            weight[x] += weight[y] + a * w[i]
    return max(weight.values()) * a
""",
        [0.7, U, V, W],
    ),
    "edit distance": (
        """def f(a, b, s, t):
    d = {}
    for i in range(len(s) + 1):
        d[i, 0] = a * i
    for j in range(len(t) + 1):
        d[0, j] = b * j
    for i in range(1, len(s) + 1):
        for j in range(1, len(t) + 1):
            cost = 0.0 if s[i - 1] == t[j - 1] else a * b
            d[i, j] = min(d[i - 1, j] + a, d[i, j - 1] + b, d[i - 1, j - 1] + cost)
    return d[len(s), len(t)]
""",
        [0.7, 1.3, np.array([1, 2, 3, 4, 2]), np.array([1, 3, 4, 4])],
    ),
    "knapsack": (
        """def f(a, size, w):
    best = {0: 0.0}
    for i in range(len(size)):
        new = dict(best)
        for k, v in best.items():
            q = k + size[i]
            if q <= 9:
                t = v + a * w[i]
                if q not in new or t > new[q]:
                    new[q] = t
        best = new
    return max(best.values())
""",
        [0.7, np.array([2, 3, 4, 5]), np.array([1.1, 2.0, 2.3, 3.7])],
    ),
    "game states": (
        """def f(a, moves):
    value = {}
    state = (0, 0)
    for m in moves:
        state = (state[0] + m % 2, (state[1] + m) % 3)
        value[state] = value.get(state, 0.0) * a + m
    best = max(value, key=value.get)
    return value[best] + best[0] * a
""",
        [0.7, NUMBERS],
    ),
    "q learning": (
        """def f(a, g, s, r):
    q = collections.defaultdict(float)
    for i in range(len(s) - 1):
        here, there = int(s[i]), int(s[i + 1])
        best = max(q[there, 0], q[there, 1])
        q[here, i % 2] += a * (r[i] + g * best - q[here, i % 2])
    return sum(q.values()) + q[int(s[0]), 0] ** 2
""",
        [0.7, 0.9, np.array([0, 1, 2, 0, 1, 1, 2, 0, 2]), X],
    ),
    "group means": (
        """def f(a, lab, x):
    g = collections.defaultdict(list)
    for l, q in zip(lab, x):
        g[l].append(q * a)
    s = 0.0
    for k in sorted(g):
        m = sum(g[k]) / len(g[k])
        s += sum((q - m) ** 2 for q in g[k])
    return s
""",
        [0.7, LABELS, X],
    ),
    "lru cache": (
        """def f(a, keys):
    cache = {}
    s = 0.0
    for k in keys:
        if k in cache:
            v = cache.pop(k)
        else:
            v = np.sin(a * k)
            if len(cache) >= 3:
                old = next(iter(cache))
                del cache[old]
        cache[k] = v
        s = s * 0.9 + v
    return s + sum(cache.values())
""",
        [0.7, NUMBERS],
    ),
    "events": (
        """def f(a, ts, ws):
    ev = {}
    for t, w in zip(ts, ws):
        ev[t] = ev.get(t, 0.0) + w
    s, cur = 0.0, 0.0
    for t, w in sorted(ev.items()):
        cur = cur * a + w
        s = max(s, cur)
    return s
""",
        [0.7, NUMBERS[:8], W],
    ),
    "pagerank": (
        """def f(a, u, v, w):
    r = {k: 1.0 / 6 for k in range(6)}
    out = collections.Counter(u.tolist())
    for _ in range(3):
        new = {k: (1 - a) / 6 for k in r}
        for p, q in zip(u.tolist(), v.tolist()):
            new[q] += a * r[p] / out[p]
        r = new
    return r[5] * r[3]
""",
        [0.7, U, V, W],
    ),
    "nested comp": (
        """def f(a, k):
    d = {i: {j: a * i * j for j in k if j > i} for i in k}
    return sum(sum(e.values()) for e in d.values())
""",
        [0.7, NUMBERS],
    ),
}


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", ALGORITHMS)
def test_algorithms(name: str) -> None:
    text, args = ALGORITHMS[name]
    assert verdict(text, args) == "right"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ALGORITHMS)
def test_algorithms_on_both_targets(name: str) -> None:
    pytest.importorskip("numba")
    check_targets(*ALGORITHMS[name])


# ------------------------------------------------------------------ what is refused


#: programs that are refused, what the refusal says, and the same program as the hint says it
REFUSED = {
    "mixed keys": (
        "d = {}\nfor n in numbers:\n    d[n] = a\n    d[n * 0.5] = b\nreturn sum(d.values())",
        "convert all keys of the dict to one class",
        "d = {}\nfor n in numbers:\n    d[float(n)] = a\n    d[n * 0.5] = b\nreturn sum(d.values())",
    ),
    "dicts in a dict copied deeply": (
        "d = collections.defaultdict(dict)\nfor n in numbers:\n    d[n % 2][n] = a * n\nimport copy\nreturn copy.deepcopy(d)[1][3] * b",
        "whose keys are not known at compile time",
        "d = collections.defaultdict(dict)\nfor n in numbers:\n    d[n % 2][n] = a * n\nreturn {k: dict(v) for k, v in d.items()}[1][3] * b",
    ),
    "nan as a key": (
        "d = {}\nfor n in numbers:\n    d[n * (float('nan') if n == 7 else 0.5)] = a\nreturn a * len(d)",
        "leave nans out before",
        "d = {}\nfor n in numbers:\n    if n != 7:\n        d[n * 0.5] = a\nreturn a * len(d)",
    ),
    "large number among others": (
        "d = {}\nfor n in numbers:\n    d[n] = a\nreturn d.get(float(2**53), b) * a",
        "make all keys of one class",
        "d = {}\nfor n in numbers:\n    d[n] = a\nreturn d.get(2**53, b) * a",
    ),
    "nan among items": (
        "d = {}\nfor n in numbers:\n    d[n] = a if n != 7 else float('nan')\nreturn a if d == d.copy() else b",
        "compare their items one by one|compare them one by one",
        "d = {}\nfor n in numbers:\n    d[n] = a if n != 7 else float('nan')\ne = d.copy()\n"
        "return a if all(e[k] == v or v != v for k, v in d.items()) else b",
    ),
    "arrays compared": (
        "d = {}\nfor n in numbers:\n    d[n] = np.ones(2) * a\nreturn a if d == d.copy() else b",
        "compare their items one by one",
        "d = {}\nfor n in numbers:\n    d[n] = np.ones(2) * a\ne = d.copy()\nreturn a if all((e[k] == v).all() for k, v in d.items()) else b",
    ),
    "other methods": (
        "d = {}\nfor n in numbers:\n    d[n] = a\nreturn d.fromkeys([1, 2], a)[1]",
        "use clear, copy, get, items",
        "d = {}\nfor n in numbers:\n    d[n] = a\nd.update({1: a, 2: a})\nreturn d[1]",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_and_its_hint(name: str) -> None:
    refused, hint, instead = REFUSED[name]
    with pytest.raises(SymgradError, match=hint):
        symgrad.grad(function_of(HEAD + program(refused)), allow_unused=True)(0.7, 1.3, NUMBERS)
    assert verdict(program(instead), [0.7, 1.3, NUMBERS]) == "right"


def test_the_derivative_of_a_dict_is_that_of_two_lists() -> None:
    """The hint is followed by a pullback and by what is returned beside the value."""

    def returned(a: float, numbers: np.ndarray) -> Any:
        d: dict[int, float] = {}
        for n in numbers:
            d[n] = a * a * n
        return d

    def as_lists(a: float, numbers: np.ndarray) -> Any:
        d = returned(a, numbers)
        return list(d), list(d.values())

    def beside(a: float, numbers: np.ndarray) -> Any:
        d = returned(a, numbers)
        return d[3], (list(d), list(d.values()))

    with pytest.raises(UnsupportedSyntax, match=r"list\(d\) and list\(d.values\(\)\)"):
        symgrad.vjp(returned, 0.7, NUMBERS)
    with pytest.raises(UnsupportedSyntax, match=r"list\(d\) and list\(d.values\(\)\)"):
        symgrad.jvp(returned, (0.7, NUMBERS), (1.0, None))
    (value, (keys, items)), slope = symgrad.value_and_grad(beside, has_aux=True)(0.7, NUMBERS)
    assert dict(zip(keys, items, strict=True)) == pytest.approx(returned(0.7, NUMBERS))
    assert (value, slope) == (pytest.approx(0.49 * 3), pytest.approx(1.4 * 3))
    (keys, items), pullback = symgrad.vjp(as_lists, 0.7, NUMBERS)
    assert dict(zip(keys, items, strict=True)) == pytest.approx(returned(0.7, NUMBERS))
    gradient = pullback((None, [1.0] * len(items)))[0]
    assert gradient == pytest.approx(1.4 * sum(set(NUMBERS.tolist())))


def test_other_dicts_of_the_program_have_known_keys() -> None:
    """A dict of settings beside one whose place two paths lead to: what it holds are functions, which no list of any length holds."""
    text = program(
        "e = {1: a} if b < 1 else {}\noptions = {'f': np.sin, 'w': a}\nfor n in numbers:\n    e[n] = a * n\n"
        "return options['f'](e[3]) * options['w']"
    )
    assert verdict(text, [0.7, 1.3, NUMBERS]) == "right"


def test_the_place_of_an_item_reads_as_it_is_written() -> None:
    def placed(a: float, numbers: np.ndarray) -> float:
        items = [n * 2 for n in numbers]
        return a * items.index(14) + a * a

    assert "items.index(14)" in symgrad.grad(placed).source(0.7, NUMBERS)
    assert symgrad.grad(placed, jit="auto")(0.7, NUMBERS) == pytest.approx(4 + 1.4)
    with pytest.raises(ValueError, match="not in list"):
        symgrad.grad(placed)(0.7, NUMBERS[:2])
