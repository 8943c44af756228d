"""Short lists of numbers as arguments: unrolled where lists of any length are not supported."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad
from symgrad.errors import SymgradError
from tests.plainly import function_of, verdict

USES = {
    "star of a call": "def g(*v): return sum(k * w for k, w in enumerate(v))\nr = g(*(v * a for v in l))",
    "star between": "r = max(a, *l) + math.hypot(*l[:2])",
    "pattern": "match l:\n    case [u, v]: r = u * v\n    case [u, *w, v]: r = u * 2 + v + sum(w) * a",
    "pairs": "r = sum(u * v * k for k, (u, v) in enumerate(itertools.permutations(l, 2)))",
    "nested tuples": "t = None\nfor v in l:\n    t = (v, t)\nr = 0.0\nwhile t is not None:\n    r = r * a + t[0]\n    t = t[1]",
    "instances": "r = 0.0\nfor p in [P(v) for v in l]:\n    p.v *= 2\n    r += p.v * a",
    "stored, then spread": "l[0] = l[-1] * 3\nl.append(a)\ndef g(*v): return v[0] * v[-1]\nr = g(*l)",
}  # fmt: skip
HEAD = "class P:\n    def __init__(self, v): self.v = v\n"


def program(use: str) -> str:
    body = "".join(f"    {line}\n" for line in USES[use].splitlines())
    return f"{HEAD}def f(a, l):\n{body}    return r + a * len(l)\n"


@pytest.mark.parametrize("length", [2, 3, pytest.param(8, marks=pytest.mark.slow)])
@pytest.mark.parametrize("use", USES)
def test_a_short_list_is_followed_item_by_item(use: str, length: int) -> None:
    if use == "pairs" and length > 3:
        pytest.skip("56 pairs are written out one by one")
    assert verdict(program(use), [0.7, [0.3 + 0.45 * k for k in range(length)]]) == "right"


def test_lists_of_other_lengths_have_code_of_their_own_and_long_ones_are_refused() -> None:
    derived = symgrad.grad(function_of(program("pattern")), wrt="l")
    for expected in ([1.0, 1.0], [2.0, 0.5, 0.5, 0.5, 1.0]) * 2:
        np.testing.assert_allclose(derived(0.5, [1.0] * len(expected)), expected)
    table = derived._table
    assert len(table.entries) == 2
    with pytest.raises(SymgradError, match="length of this list is not known"):
        derived(0.5, [1.0] * 9)


def test_what_needs_no_items_is_for_any_length() -> None:
    derived = symgrad.grad(function_of("def f(a, l):\n    return a * sum(v * v for v in l)\n"), wrt="l")
    for length in (2, 5, 40):
        np.testing.assert_allclose(derived(0.5, [1.0] * length), np.ones(length))
    assert len(derived._table.entries) == 1


def test_some_of_the_lists_in_a_long_list_are_empty() -> None:
    """They are lists of numbers of which there are none: one code for all, and the guard knows it."""
    function = symgrad.from_source(
        "def f(rows):\n    t = 0.0\n    for r in rows:\n        for v in r:\n            t += v * v\n    return t\n"
    )
    derivative = symgrad.grad(function)
    for count in (10, 13, 10):
        rows = [[0.5 * i] * (i % 3) for i in range(count)]
        assert derivative(rows) == [[2 * v for v in row] for row in rows]
    assert derivative([[0.5]] * 11) == [[1.0]] * 11
    assert len(derivative._table.entries) == 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("symgrad.dispatch.table.Table.find", lambda *args: pytest.fail("the guard knows these lists"))
        assert derivative([[], *[[1.5]] * 9]) == [[], *[[3.0]] * 9]
