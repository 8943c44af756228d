"""Cotangents of lists are added element by element where two uses of one list meet."""

from __future__ import annotations

from itertools import product

import pytest

from tests.plainly import verdict

LISTS = {"argument": "l = lst", "comprehension": "l = [v * a for v in lst]", "copy": "l = lst[:]"}
USES = {
    "sum": "{to} += sum(l)",
    "loop": "for v in l:\n        {to} += v * v",
    "item": "{to} += l[0] * l[1]",
    "branch": "{to} += max(l) if a > 0 else sum(l)",
    "stored": "l[0] = l[0] * 2.0\n    {to} += l[0]",
}


@pytest.mark.parametrize("expression", LISTS)
def test_two_uses_of_a_list_add_up(expression: str) -> None:
    for (one, first), (other, second) in product(USES.items(), USES.items()):
        if expression == "argument" and "stored" in (one, other):
            continue
        lines = [LISTS[expression], "s = 0.0", first.format(to="s"), "if a > 0:\n        s = s * s", second.format(to="s")]
        text = "def f(lst, a):\n" + "".join(f"    {line}\n" for line in [*lines, "return s + 3 * sum(l)"])
        assert verdict(text, [[0.5, 1.5, 2.5], 0.7]) == "right", (one, other)
