"""State read after a ``try`` that changes it while an exception may be pending."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from differences import derivative, direction_for, inner
from strategies import loaded

import symgrad

#: bodies that raise nothing here, and of which that shows only when the program runs
BODIES = {
    "statement": "x *= np.sort(x)",
    "two_statements": "x *= np.sort(x)\nx += np.sort(x) ** 2",
    "in_a_loop": "for i in range(2):\n    x *= np.sort(x)",
    "in_a_while": "n = 0\nwhile n < 2:\n    x *= np.sort(x)\n    n += 1",
    "in_a_branch": "if w > 0.0:\n    x *= np.sort(x)\nelse:\n    x += 1.0",
    "in_a_loop_in_a_try": "for i in range(2):\n    try:\n        x[0] *= w\n    finally:\n        x *= np.sort(x)",
}
#: what is changed behind them: arrays, views of them, items, attributes, names
CHANGES = {
    "array": "x *= w",
    "element": "x[0] = w * x[1]",
    "view": "v = x[::-1]\nv[0] = np.dot(x, x)",
    "list": "held[0] = held[0] * w",
    "instance": "box.value = w * x[0]",
    "name": "y = w * x[1]",
}
#: what is around both
WAYS = {
    "finally": "try:\n{body}\nfinally:\n{change}",
    "nested_finally": "try:\n    try:\n{deeper_body}\n    finally:\n        y = y * w\nfinally:\n{change}",
    "else": "try:\n{body}\nexcept ValueError:\n    y = 0.0\nelse:\n{change}",
    "else_and_finally": "try:\n{body}\nexcept ValueError:\n    y = 0.0\nelse:\n{change}\nfinally:\n{change}",
    "with": "with changing(x, w):\n{body}\n{plain_change}",
}
PROGRAM = """
import contextlib

import numpy as np


class Box:
    def __init__(self, value):
        self.value = value


@contextlib.contextmanager
def changing(x, w):
    try:
        yield
    finally:
        x *= w


def f(x, w):
    x = x.copy()
    y = 1.0
    held = [w, 2.0]
    box = Box(w)
{text}
    return np.sum(np.sin(x)) + y * held[0] + box.value
"""


def indented(text: str, by: int = 4) -> str:
    return "\n".join(" " * by + line for line in text.splitlines())


def program(body: str, change: str, way: str) -> str:
    body, change = BODIES[body], CHANGES[change]
    text = WAYS[way].format(body=indented(body), deeper_body=indented(body, 8), change=indented(change), plain_change=change)
    return PROGRAM.format(text=indented(text))


@pytest.mark.sweep(6)
@pytest.mark.parametrize(("body", "change", "way"), list(itertools.product(BODIES, CHANGES, WAYS)))
def test_what_is_changed_on_the_way_out_is_read_behind_it(body: str, change: str, way: str) -> None:
    text = program(body, change, way)
    at = (np.array([0.7, -0.4, 1.2]), 0.8)
    with loaded(text) as function:
        value, gradient = symgrad.value_and_grad(function, wrt=(0, 1))(*at)
        assert value == pytest.approx(function(*at), rel=1e-12), text
        for seed in range(2):
            direction: Any = direction_for(at, np.random.default_rng(seed))
            expected = derivative(lambda both: function(*both), at, direction, 2e-5)
            assert inner(gradient, direction) == pytest.approx(expected, rel=1e-6, abs=1e-8), text
