"""Deques: construction x methods, of known and any length, with and without ``maxlen``."""

from __future__ import annotations

import numpy as np
import pytest

from tests.plainly import verdict

MADE = {
    "known": "deque([a, b, a * b])", "empty": "deque()", "bounded": "deque([a, b], maxlen=2)", "bounded and empty": "deque(maxlen=3)",
    "for nothing": "deque([a], maxlen=0)", "of any length": "deque(a * i for i in range(n))", "bounded, of any length": "deque(lst, 3)",
}  # fmt: skip
STEPS = {
    "append": "d.append(b)", "appendleft": "d.appendleft(b)", "extend": "d.extend([a, b])", "extend by a list": "d.extend(lst)",
    "extendleft": "d.extendleft([a, b])", "extendleft by a list": "d.extendleft(lst)", "rotate": "d.rotate(1)", "rotate back": "d.rotate(-2)",
    "rotate far": "d.rotate(n)", "pop": "s += d.pop() if d else a", "popleft": "s += d.popleft() * 2 if d else b", "reverse": "d.reverse()",
    "remove": "d.remove(b)", "insert": "d.insert(1, a)", "delete": "if len(d) > 1: del d[1]", "store": "if d: d[-1] = a * 3",
    "sometimes": "if a > 0: d.append(b)", "in a loop": "for i in range(n):\n        d.append(a * i)", "add": "d += [b]", "index": "s += d.index(b, 0, 2) * a",
}  # fmt: skip


@pytest.mark.sweep(40)
@pytest.mark.parametrize("first", STEPS)
@pytest.mark.parametrize("initial", MADE)
def test_a_deque_does_what_pythons_does(initial: str, first: str) -> None:
    verdicts = {}
    for second in STEPS:
        lines = [
            "s = 0.0",
            f"d = {MADE[initial]}",
            STEPS[first],
            STEPS[second],
            "for i, v in enumerate(d):\n        s = s * 1.1 + v * (i + 1)",
        ]
        text = "from collections import deque\ndef f(a, b, n, lst):\n" + "".join(
            f"    {line}\n" for line in [*lines, "return s + len(d) * a"]
        )
        verdicts[second] = verdict(text, [0.7, 1.9, 3, [0.6, 1.5, 2.6, 0.4]])
    assert sum(v in ("right", "raises") for v in verdicts.values()) >= len(STEPS) - 3, verdicts


@pytest.mark.parametrize("initial", MADE)
def test_how_long_a_deque_may_be_is_known(initial: str) -> None:
    text = f"from collections import deque\ndef f(a, b, n, lst):\n    d = {MADE[initial]}\n    return a * (d.maxlen or 7)\n"
    assert verdict(text, [0.7, 1.9, 3, [0.6, 1.5, 2.6]]) == "right"


COMPUTED = {
    "known": "deque([a, b, a * b], maxlen=m)", "empty": "deque(maxlen=m)", "of any length": "deque((a * i for i in range(n + 2)), m)",
    "of an array": "deque(lst, maxlen=m)", "wider": "deque([a, b], maxlen=m + 5)", "for nothing": "deque([a], m - 3)",
    "negative": "deque([a], m - 9)",
}  # fmt: skip
WIDER_STEPS = STEPS | {
    "copy": "d = d.copy()\n    d.append(b)", "sum": "d = d + deque([a])", "times": "d = d * 2", "another": "d = deque(d, maxlen=m - 1)",
    "until full": "for v in lst:\n        if len(d) == d.maxlen: s += d.popleft() * b\n        d.append(v * a)",
}  # fmt: skip


@pytest.mark.sweep(12)
@pytest.mark.parametrize("step", WIDER_STEPS)
@pytest.mark.parametrize("initial", COMPUTED)
def test_maxlen_that_is_computed(initial: str, step: str) -> None:
    lines = ["s = 0.0", "m = int(round(a * 4))", f"d = {COMPUTED[initial]}", WIDER_STEPS[step]]
    lines += ["for i, v in enumerate(d):\n        s = s * 1.1 + v * (i + 1)", "return s + len(d) * a + d.maxlen * b"]
    text = "from collections import deque\ndef f(a, b, n, lst):\n" + "".join(f"    {line}\n" for line in lines)
    assert verdict(text, [0.7, 1.9, 3, [0.6, 1.5, 2.6, 0.4]]) in ("right", "raises")


#: where a deque is created, and where it is used
PLACES = {
    "branch": "if a > 0:\n        d = deque([a], m)\n    else:\n        d = deque([b], m + 1)\n    d.append(b)",
    "behind a branch": "d = deque([a])\n    if a > 0:\n        d = deque([a], m)\n    d.append(b)",
    "loop": "for k in range(n):\n        d = deque([a, b], int(round(lst[k] * 2)))\n        for j in range(n): d.append(a * j)\n        s += sum(d)",
    "behind a loop": "for k in range(n):\n        d = deque([a, b], int(round(lst[k] * 2)))\n    d.append(b)",
    "round by round": "d = deque([a], 2)\n    for k in range(n):\n        d = deque(d, int(round(lst[k] * 2)))\n        d.append(b)",
    "function": "def new(z): return deque([z], maxlen=int(round(z * 4)))\n    d = new(a)\n    for j in range(n): d.append(a * j)",
    "recursion": "d = deque([a], m)\n    def g(k):\n        if k > 0:\n            d.append(a * k)\n            g(k - 1)\n    g(int(b * 2))",
}  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
def test_maxlen_that_is_computed_is_known_where_it_is_used_or_refused(place: str) -> None:
    lines = ["s = 0.0", "m = int(round(a * 4))", PLACES[place], "return s + sum(d) * b + len(d) * a"]
    text = "from collections import deque\ndef f(a, b, n, lst):\n" + "".join(f"    {line}\n" for line in lines)
    expected = "refused" if place == "behind a branch" else "right"
    assert verdict(text, [0.7, 1.9, 3, [0.6, 1.5, 2.6, 0.4]]) == expected


#: lists of any length whose items are deques, or views of dicts, or hold them
HOLDERS = (
    "held = []\n    for k in range(n): held.append(collections.deque([x[0]]))",
    "held = [collections.deque([v for v in x]) for k in range(n)]",
    "held = [(collections.deque([v]), v) for v in x]",
    "held = tuple(collections.deque([v]) for v in x)",
    "p = collections.deque([x[0], 2.0])\n    held = list(itertools.repeat(p, n))",
    "p = collections.deque([x[0], 2.0])\n    held = [p] * n",
    "p = collections.deque([x[0], 2.0])\n    held = [p for k in range(n)]",
    "held = [{'a': x[0]}.items() for k in range(n)]",
    "held = [collections.OrderedDict(a=v) for v in x]",
    "held = [frozenset((1,)) for v in x]",
)


@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("n", [1, 12])
def test_what_a_list_of_any_length_holds_keeps_its_class(holder: str, n: int) -> None:
    text = f"def f(x, n):\n    {holder}\n    print(held, type(held[0]))\n    return np.sum(x * x) + len(held)\n"
    outcome = verdict(text, [np.array([0.7, 0.9]), n])
    assert outcome == "right" or "items()" in holder
