"""Attributes defined by descriptors of the class: slots, and attributes implemented in C.

Each is asked for beside plain Python.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.plainly import verdict

HEAD = """
import datetime, functools, re
class Slotted:
    __slots__ = ("numbers", "scale")
    def __init__(self, numbers, scale): self.numbers, self.scale = numbers, scale
class Narrower(Slotted):
    __slots__ = ("names",)
    def __init__(self):
        super().__init__((1.5, 2.5), 0.75)
        self.names = {"first": 2.0}
class Both(Slotted):
    def __init__(self):
        super().__init__((1.0,), 3.0)
        self.further = 0.5
slotted, narrower, both = Slotted((1.0, 2.0, 4.0), 0.25), Narrower(), Both()
union, pattern, day, span = int | float, re.compile("(a)(b)"), datetime.date(2024, 5, 17), slice(1, 7, 2)
partial, rounds, info = functools.partial(max, 2.0, 3.0), range(2, 9, 3), np.dtype("float32")
"""
#: the attributes that hold numbers, containers of numbers, and something else
NUMBERS = ("slotted.scale", "narrower.scale", "both.scale", "both.further", "pattern.groups", "day.year", "span.start", "span.stop",
           "rounds.start", "rounds.step", "info.itemsize")  # fmt: skip
CONTAINERS = ("slotted.numbers", "narrower.numbers", "both.numbers")
QUESTIONS = ("len({})", "{}[0]", "sum({})", "1.0 in {}", "[v for v in {}][-1]", "np.sum(np.array({}))")
OTHERS = (
    "len(partial.args)",
    "float in union.__args__",
    "len(union.__args__)",
    "str in union.__args__",
    "narrower.names['first']",
    "'first' in narrower.names",
)

ASKED = (*NUMBERS, *(question.format(held) for held in CONTAINERS for question in QUESTIONS), *OTHERS)


@pytest.mark.parametrize("asked", ASKED)
def test_an_attribute_is_what_the_instance_holds(asked: str) -> None:
    body = f"def f(x):\n    return np.sum(x) * (1 + ({asked}))\n"
    assert verdict(HEAD + body, [np.array([0.7, -1.3, 2.1])]) == "right"
