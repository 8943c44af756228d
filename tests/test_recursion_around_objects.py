"""Recursive functions of computed depth that change lists, dicts and instances, compared with plain Python."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad
from tests.plainly import HEAD, STEP, function_of, verdict

PROGRAMS = {
    "memo": "memo = {}\ndef g(k):\n    if k in memo: return memo[k]\n    r = a if k < 2 else g(k - 1) * b + g(k - 2)\n    memo[k] = r\n"
    "    return r\ns = g(int(b * 4)) + g(int(b * 2)) * len(memo)",
    "memo, asked by get": "memo = {}\ndef g(k):\n    r = memo.get(k)\n    if r is None:\n        r = a if k < 2 else g(k - 1) * b + g(k - 2)\n"
    "        memo[k] = r\n    return r\ns = g(int(b * 4))",
    "memo, tried": "memo = {}\ndef g(k):\n    try:\n        return memo[k]\n    except KeyError:\n        pass\n"
    "    r = a if k < 2 else g(k - 1) * b + g(k - 2)\n    memo[k] = r\n    return r\ns = g(int(b * 4))",
    "memo of pairs": "memo = {}\ndef g(i, j):\n    if i == 0 or j == 0: return a\n    if (i, j) not in memo:\n"
    "        memo[i, j] = g(i - 1, j) * b + g(i, j - 1) * 0.3\n    return memo[i, j]\ns = g(int(b * 2), int(b * 1.6)) + len(memo)",
    "memo that is an argument": "def g(k, memo):\n    if k not in memo: memo[k] = a if k < 2 else g(k - 1, memo) * b + g(k - 2, memo)\n"
    "    return memo[k]\nm = {}\ns = g(int(b * 4), m)\nm[0] = b\ns += m[1] + g(int(b * 5), m) * len(m)",
    "walk in order": "out = []\ndef g(i):\n    if i >= len(x): return\n    g(2 * i + 1)\n    out.append(x[i] * a)\n    g(2 * i + 2)\ng(0)\n"
    "s = b\nfor v in out: s = s * b + v",
    "stack": "def g(k, stack):\n    if k <= 0: return sum(stack)\n    stack.append(a * k)\n    r = g(k - 1, stack)\n    stack.pop()\n"
    "    return r * b + len(stack)\ns = g(int(b * 3), [])",
    "two arguments that change places": "p, q = [a], [b]\ndef g(k, p, q):\n    if k <= 0: return p[-1] * q[-1]\n    p.append(b * k)\n"
    "    return g(k - 1, q, p) + len(p)\ns = g(int(b * 2), p, q) + sum(p) * sum(q)",
    "one list twice": "p = [a]\ndef g(k, p, q):\n    if k <= 0: return 0.0\n    p.append(b * k)\n    q.append(a)\n"
    "    return g(k - 1, q, p) + len(p)\ns = g(int(b * 2), p, p) + sum(p)",
    "stores at both ends": "l = [a]\ndef g(k):\n    if k <= 0: return\n    l.insert(0, l[-1] * b)\n    g(k - 1)\n    l[k] *= 2\ng(int(b * 2))\n"
    "s = sum(v * (i + 1) for i, v in enumerate(l))",
    "sorted and cut": "l = [a, b]\ndef g(k):\n    if k <= 0: return\n    l.append(l[0] * 0.5)\n    l.sort()\n    if len(l) > 3: del l[0]\n"
    "    g(k - 1)\ng(int(b * 3))\ns = sum(v * (i + 1) for i, v in enumerate(l))",
    "two functions": "l = [a]\ndef g(k):\n    if k <= 0: return 0.0\n    l.append(b * k)\n    return h(k - 1) + l[-1]\ndef h(k):\n"
    "    if k <= 0: return a\n    l.append(l[0] * k)\n    return g(k - 1) * b\ns = g(int(b * 3)) + sum(l)",
    "called again": "l = [a]\ndef g(k):\n    if k <= 0: return 0.0\n    l.append(b * k)\n    return g(k - 1) + l[-1]\ns = g(int(b * 3))\n"
    "l.append(a * b)\ns += g(int(b * 2)) + sum(l)",
    "in a loop": "l = [a]\ndef g(k):\n    if k <= 0: return 0.0\n    l.append(b * k)\n    return g(k - 1) + l[-1]\ns = 0.0\n"
    "for v in x: s = s * 0.5 + g(int(v * 3 + 0.5))\ns += sum(l)",
    "by another name": "l = []\nd = {'q': l}\ndef g(k):\n    if k <= 0: return\n    d['q'].append(a * k)\n    l.append(b)\n    g(k - 1)\n"
    "g(int(b * 2))\ns = sum(l) * b",
    "items of known lists and dicts": "c = {'n': 0, 's': 0.0}\nl = [1, a]\ndef g(k):\n    if k <= 0: return\n    c['n'] += 1\n    c['s'] += a * k\n"
    "    l[1] *= b\n    g(k - 1)\n    l[0] += 1\ng(int(b * 3))\ns = c['s'] * c['n'] + l[0] * l[1]",
    "attributes": "c = types.SimpleNamespace(n=0, s=b)\ndef g(k):\n    if k <= 0: return\n    c.n += 1\n    c.s = c.s * a + k\n    g(k - 1)\n"
    "g(int(b * 3))\ns = c.s * c.n",
    "an instance that is an argument": "def g(k, c):\n    if k <= 0: return\n    c.s += a * k\n    g(k - 1, c)\nc = types.SimpleNamespace(s=b)\n"
    "g(int(b * 2), c)\nc.s *= b\ng(int(b), c)\ns = c.s * a",
    "the best so far": "best = [0.0]\ndef g(i, t):\n    if i == len(x):\n        if t > best[0]: best[0] = t\n        return\n    g(i + 1, t)\n"
    "    g(i + 1, t + x[i] * a)\ng(0, b)\ns = best[0]",
    "set": "seen = set()\ndef g(k):\n    if k in seen or k > 6: return 0.0\n    seen.add(k)\n    return a * k + g(k + 1) * b + g(2 * k)\n"
    "s = g(int(b))",
    "counts": "c = collections.defaultdict(float)\ndef g(k):\n    if k <= 0: return\n    c[k % 2] += a * k\n    g(k - 1)\n"
    "    if k == 3: del c[0]\ng(int(b * 3))\ns = c[0] * b + c[1]",
    "tuples": "out = []\ndef g(k):\n    if k <= 0: return\n    out.append((a * k, k))\n    g(k - 1)\ng(int(b * 2))\ns = sum(u * v for u, v in out)",
    "tuples within": "def g(k):\n    if k == 0: return a\n    l = []\n    for i in range(k): l.append((a * i, b))\n"
    "    return g(k - 1) + sum(u * v for u, v in l)\ns = g(int(b * 2))",
}  # fmt: skip
ARGUMENTS = (0.7, 1.9, np.array([0.4, 2.0, 0.3]))


def program(name: str) -> str:
    lines = [*PROGRAMS[name].splitlines(), "return s * a"]
    return "import types\ndef f(a, b, x):\n" + "".join(f"    {line}\n" for line in lines)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_changed_is_seen_by_all_who_hold_it(name: str) -> None:
    assert verdict(program(name), list(ARGUMENTS)) == "right"


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", PROGRAMS)
def test_second_derivative(name: str) -> None:
    gradient = symgrad.grad(function_of(HEAD + program(name)))
    second = symgrad.grad(gradient, allow_unused=True)(*ARGUMENTS)
    ends = [gradient(ARGUMENTS[0] + step, *ARGUMENTS[1:]) for step in (STEP, -STEP)]
    assert second == pytest.approx((ends[0] - ends[1]) / (2 * STEP), rel=1e-5, abs=1e-6)


#: programs that change what the caller sees, or what holds other things than numbers
REFUSED = {
    "a list of the caller's": "def g(k):\n    if k > 0:\n        q.append(a * k)\n        g(k - 1)\ng(int(b * 2))\ns = sum(q)",
    "a dict of the caller's": "def g(k):\n    if k > 0:\n        w['u'] *= b\n        g(k - 1)\ng(int(b * 2))\ns = w['u']",
    "a list that the caller is given": "l = [a]\nw['new'] = l\ndef g(k):\n    if k > 0:\n        l.append(a * k)\n        g(k - 1)\n"
    "g(int(b * 2))\ns = sum(l)",
    "a list of arrays": "l = [np.ones(2) * a]\ndef g(k):\n    if k > 0:\n        l[0] = l[0] * b\n        g(k - 1)\ng(int(b * 2))\ns = l[0].sum()",
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    text = "def f(a, b, q, w):\n" + "".join(f"    {line}\n" for line in [*REFUSED[name].splitlines(), "return s * a"])
    assert verdict(text, [0.7, 1.9, [0.5, 0.6], {"u": 0.3}]) == "refused"
