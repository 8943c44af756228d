"""``zip`` of items of unlike kinds and a list of dynamic length, compared with plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from tests.plainly import check_kernel_and_second_derivative, verdict

#: static items, and the expression that reads each
ITEMS = {
    "texts": ("['p', 'qq', 'rrr', 'ssss', 'ttttt']", "1.0 + len(t) * 0.3"),
    "fewer texts": ("('p', 'qq')", "1.0 + len(t) * 0.3"),
    "of several kinds": ("[(1, a), (2, b), None, 'x']", "0.5 if t is None else 0.25 if t == 'x' else t[0] * t[1]"),
    "functions": ("[np.sin, np.exp, np.tanh, abs]", "t(0.3)"),
    "arrays": ("[x * b, x[:2] * a, np.ones(1) * b]", "t.sum()"),
    "numbers": ("[b, 1, 2.0, a]", "t * 0.7"),
}
LOOPS = {
    "for": "for t, v in zip(q, l):\n    s = s * 1.1 + g(t) * v",
    "break": "for t, v in zip(q, l):\n    if v > 0.9 * a: break\n    s = s * 1.1 + g(t) * v\nelse:\n    s += b",
    "continue": "for t, v in zip(q, l):\n    if v > 0.9 * a: continue\n    s = s * 1.1 + g(t) * v\nelse:\n    s += b",
    "return": "for t, v in zip(q, l):\n    if v > 0.9 * a: return s + v * b\n    s = s * 1.1 + g(t) * v",
    "names afterwards": "for t, v in zip(q, l):\n    s = s * 1.1 + g(t) * v\ns += v * b",
    "enumerate": "for i, (t, v) in enumerate(zip(q, l), 1):\n    s = s * 1.1 + g(t) * v * i",
    "of enumerate": "for (i, t), v in zip(enumerate(q), l):\n    s = s * 1.1 + g(t) * v * i",
    "of zip": "for (t, v), w in zip(zip(q, l), x):\n    s = s * 1.1 + g(t) * v * w",
    "three": "for t, v, w in zip(q, l, [z * b for z in x if z < 1]):\n    s = s * 1.1 + g(t) * v * w",
    "comprehension": "r = [g(t) * v for t, v in zip(q, l) if v < 0.9 * a]\ns = sum(r) + len(r) * a",
    "generator": "s = sum(g(t) * v for t, v in zip(q, l))",
    "map": "s = sum(map(lambda t, v: g(t) * v, q, l))",
    "strict": "try:\n    for t, v in zip(q, l, strict=True):\n        s = s * 1.1 + g(t) * v\nexcept ValueError:\n    s += b",
    "count": "for i, t, v in zip(itertools.count(2), q, l):\n    s = s * 1.1 + g(t) * v * i",
    "reversed": "for t, v in zip(reversed(q), reversed(l)):\n    s = s * 1.1 + g(t) * v",
    "begun": "it = zip(q, l)\nt, v = next(it)\ns += g(t) * v\nfor t, v in it:\n    s = s * 1.1 + g(t) * v",
    "list that grows": "for t, v in zip(q, l):\n    s = s * 1.1 + g(t) * v\n    if len(l) < 5: l.append(v * b)",
    "list that is stored to": "for i, (t, v) in enumerate(zip(q, l)):\n    s = s * 1.1 + g(t) * v\n    if i + 1 < len(l): l[i + 1] = v * b",
    "inner loop": "for k in range(2):\n    for t, v in zip(q, l[k:]):\n        s = s * 1.1 + g(t) * v",
    "nothing": "for t, v in zip(q, l[:0]):\n    s = s * 1.1 + g(t) * v\ns += a",
}  # fmt: skip
ARGUMENTS = (0.7, 1.9, np.array([0.6, 1.5, -2.6, 0.4]))


def program(items: str, loop: str) -> str:
    known, asked = ITEMS[items]
    lines = [f"g = lambda t: {asked}", f"q = {known}", "l = [v * a for v in x if v > 0]", "s = 0.0", *LOOPS[loop].splitlines(), "return s"]
    return "def f(a, b, x):\n" + "".join(f"    {line}\n" for line in lines)


@pytest.mark.sweep(8)
@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("items", ITEMS)
def test_as_many_rounds_as_the_shortest_has(items: str, loop: str) -> None:
    assert verdict(program(items, loop), list(ARGUMENTS)) == "right"


def test_kernel_and_second_derivative() -> None:
    check_kernel_and_second_derivative(program("of several kinds", "list that grows"), ARGUMENTS)


def test_the_length_of_an_argument_becomes_part_of_the_signature() -> None:
    text = "def f(a, x):\n    s = 0.0\n    for t, v in zip(['p', 'qq', 'rrr'], x):\n        s = s * a + v * len(t)\n    return s\n"
    for x in (np.array([0.5, 2.0]), [0.5, 2.0, 1.5, 4.0]):
        assert verdict(text, [0.7, x]) == "right"
