"""Lists of unknown length on some paths only, beside other kinds of values."""

from __future__ import annotations

import itertools

import pytest

from tests.plainly import verdict

#: what the list is made of, and what stands there on the other path
LISTS = {"argument": "lst", "slice": "lst[1:]", "grown": "[v * a for v in x if v > 0]", "sum": "lst + [b]"}
OTHERS = {"number": "b", "none": "None", "bool": "b > a", "tuple": "(b,)", "dict": "{'k': b}"}
#: how the name comes to be bound, with the list as {L} and the other as {O}
WAYS = {
    "branch": "    if a > 0:\n        v = {L}\n    else:\n        v = {O}\n",
    "other first": "    v = {O}\n    if a > 0:\n        v = {L}\n",
    "call": "    def g(z):\n        if z > 0:\n            return {L}\n        return {O}\n    v = g(a)\n",
    "expression": "    v = {L} if a > 0 else {O}\n",
    "loop": "    for i in range(3):\n        if x[i] > 2:\n            v = {L}\n        else:\n            v = {O}\n",
}
USES = {
    "read": "    if a > 0:\n        s += sum(v) * v[0]\n",
    "isinstance": "    if isinstance(v, list):\n        s += v[-1] * len(v)\n",
    "hasattr": "    if hasattr(v, 'append'):\n        s += v[0]\n",
    "iterated": "    if a > 0:\n        for w in v:\n            s = s * 0.5 + w\n",
}


@pytest.mark.sweep(9)
@pytest.mark.parametrize(("initial", "other", "way", "use"), list(itertools.product(LISTS, OTHERS, WAYS, USES)))
def test_a_list_on_some_paths_only(initial: str, other: str, way: str, use: str) -> None:
    text = WAYS[way].format(L=LISTS[initial], O=OTHERS[other])
    whole = f"def f(a, b, x, lst):\n    s = b\n{text}{USES[use]}    return s * a\n"
    for a in (0.7, -0.7):
        verdict(whole, [a, 1.9, [0.7, -1.3, 2.1], [0.5, 1.5, 2.5]])
