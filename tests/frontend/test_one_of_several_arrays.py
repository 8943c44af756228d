"""Names that are one of several arrays by nested branches: stores are visible to the others, or refused."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from plainly import function_of

import symgrad
from symgrad.errors import UnsureAlias

#: what the name is bound to on a path; ``pass`` leaves what was there
CHOICES = ("q = z", "q = y ** 2", "pass", "q = y", "q = r")
#: how the paths are told apart, by the places of three choices
TREES = {
    "elif": ["if x > 1:", "    {0}", "elif x > 0:", "    {1}", "else:", "    {2}"],
    "nested": ["if x > 0:", "    {0}", "    if x > 1:", "        {1}", "else:", "    {2}"],
    "after": ["if x > 1:", "    {0}", "else:", "    r = y * 3", "    if x > 0:", "        {1}", "    else:", "        {2}"],
}
STORES = ("q[1] = 0.5 * z[1]", "q += z[0]")
#: around the choice and the store
PLACES = {
    "once": (),
    "twice": ("q[0] = z[1] + y[1]",),
    "loop": ("for i in range(2):",),
}
CASES = [
    (*chosen, tree, store, place)
    for chosen in itertools.product(CHOICES, repeat=3)
    for tree in TREES
    for store in STORES
    for place in PLACES
    if len(set(chosen)) > 1 and not (chosen[2] == "q = r" and tree == "elif")
]


def text_of(first: str, second: str, third: str, tree: str, store: str, place: str) -> str:
    body = [line.format(first, second, third) for line in TREES[tree]] + [store]
    match PLACES[place]:
        case (line,) if line.startswith("for"):
            body = [line, *("    " + inner for inner in body)]
        case (line,):
            body = [*body, line]
    lines = ["q = y * 2", "r = y + z", *body, "return z[0] * q[1] + z[1] * q[0] + y[0] * r[1]"]
    return "def f(x, y, z):\n" + "".join(f"    {line}\n" for line in lines)


def slopes(f: Callable[..., Any], x: float, y: Any, z: Any) -> list[complex]:
    """The derivative by each item of ``y`` and ``z``, by a complex step."""
    values = np.concatenate([y, z]).astype(complex)
    return [f(x, *np.split(values + 1e-30j * one, 2)).imag / 1e-30 for one in np.eye(len(values))]


@pytest.mark.sweep(72)
@pytest.mark.parametrize("case", CASES, ids=" - ".join)
def test_a_store_by_one_name_is_seen_by_the_others(case: tuple[str, ...]) -> None:
    f = function_of(text_of(*case))
    y, z = np.array([0.7, 0.8]), np.array([0.2, 0.3])
    derived = symgrad.value_and_grad(f, wrt=("y", "z"), allow_unused=True, verify=False)
    for x in (-0.5, 0.5, 1.5):
        try:
            value, gradients = derived(x, y, z)
        except UnsureAlias:
            continue
        assert value == pytest.approx(f(x, y.copy(), z.copy()), rel=1e-12)
        np.testing.assert_allclose(np.concatenate(gradients), slopes(f, x, y, z), rtol=1e-10)
