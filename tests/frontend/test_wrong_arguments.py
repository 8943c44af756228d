"""Calls with wrong arguments inside a handler: the text of each ``TypeError`` is Python's."""

from __future__ import annotations

import pytest

from tests.plainly import verdict

HELPERS = """
from dataclasses import dataclass
class K:
    def __init__(self, u, v): self.v = u * v
    def go(self, u, *, k): return u
    @classmethod
    def cm(cls, u): return u
    @staticmethod
    def sm(u=1.0): return u
N = collections.namedtuple("N", "u v w", defaults=[1.0])
P = collections.namedtuple("P", "u v")
@dataclass
class D:
    u: float
    v: float
    w: float = 1.0
@dataclass
class E:
    u: float
    v: float
class Empty: pass
def g(u, v, w): return u
def g0(): return 1.0
def g1(u): return u
def gd(u, v=1.0): return u
def gk(u, *, k, m): return u
def gp(u, /, v): return u
def outer(a):
    def inner(u, v): return u
    return inner(a)
"""
CALLS = (
    *("g()", "g(a)", "g(a, b)", "g(a, b, a, b)", "g1()", "g1(a, b)", "g0(a)", "g0(a, b)", "gd()", "gd(a, b, a)", "gk(a)", "gk(a, k=1.0)"),
    *("gk(a, b, k=1.0, m=2.0)", "gk(a, b, k=1.0)", "g(a, b, u=a)", "g(a, b, z=a)", "g(a, z=a, u=b)", "g(a, u=b, z=a)", "gp(u=a, v=b)"),
    *("K()", "K(a)", "K(a, b, a)", "K(a, b).go()", "K(a, b).go(a)", "K(a, b).go(a, b, k=b)", "K.cm()", "K.cm(a, b)", "K.sm(a, b)"),
    *("N()", "N(a)", "N(a, b, a, b)", "N(a, u=b)", "N(a, b, z=b)", "D()", "D(a)", "D(a, b, a, b)", "D(a, b, z=b)", "D(a, u=b)"),
    *("Empty(a)", "Empty(u=a)", "outer(a)", "local()", "local(a, b)", "(lambda u: u)()"),
    *(
        "max()",
        "abs()",
        "abs(a, b)",
        "len()",
        "sum()",
        "float(a, b)",
        "range()",
        "sorted()",
        "zip(q=1)",
        "range(3, q=1)",
        "bool(a, q=1)",
        "set(q=1)",
        "getattr(a)",
        "print(a, q=1)",
    ),
    *("dict(a, b)", "list(a, b)", "map()", "next()", "isinstance(a)", "round()", "divmod(a)"),
)


@pytest.mark.parametrize("call", CALLS)
def test_wrong_arguments(call: str) -> None:
    text = f"def f(a, b):\n    def local(u): return u\n    try:\n        {call}\n    except TypeError as e:\n        print(e)\n    return a * b\n"
    assert verdict(HELPERS + text, [0.9, 0.7]) == "right"


@pytest.mark.parametrize("function", ["g", "g0", "g1", "K", "P", "E"])
@pytest.mark.parametrize("first", ["", "b, ", "b, b, b, b, "])
def test_a_star_with_a_wrong_number_of_items(function: str, first: str) -> None:
    text = f"def f(xs, b):\n    try:\n        {function}({first}*xs)\n        return b\n"
    text += "    except TypeError as e:\n        print(e)\n        return b * b\n"
    for count in range(5):
        assert verdict(HELPERS + text, [[0.5 + k for k in range(count)], 0.7]) == "right"
