"""Stars of dynamic length: starred iterables x callees and displays, against plain Python, on later calls too."""

from __future__ import annotations

from itertools import product

import pytest

from tests.plainly import check_kernel_and_second_derivative, verdict

HELPERS = """
from dataclasses import dataclass
from functools import partial
T = collections.namedtuple("T", "u v")
@dataclass
class D:
    u: float
    v: float
class C:
    def __init__(self, *items): self.items = items
    def total(self, w, *more): return w * sum(self.items) + sum(more)
    def __call__(self, u, v): return u - v
def every(*items, k=2.0): return k * sum(items) + len(items)
def first(u, *items): return u * u + sum(items)
def two(u, v): return u * v
def deep(*items):
    if not items: return 0.0
    head, *tail = items
    return 2 * head + 0.5 * deep(*tail)
"""
#: iterables of dynamic length: the positive items of ``x``
STARRED = {
    "list": "[v for v in x if v > 0]",
    "tuple": "tuple([v * v for v in x if v > 0])",
    "generator": "(v + 1.0 for v in x if v > 0)",
    "map": "map(math.sqrt, [v for v in x if v > 0])",
    "array": "x[x > 0] * 2",
    "integers": "[i for i in range(len(x)) if x[i] > 0]",
}
TAKEN = {
    "*args": "every(*l)", "*args and more": "every(1.0, *l, a, k=b)", "two stars": "every(*l, *[a, b])", "first of them": "first(*l)",
    "after one": "first(a, *l)", "two": "two(*l)", "method": "C(a, *l).total(b, *l)", "instance": "C()(*l)", "lambda": "(lambda *p: p[-1] * a)(*l)",
    "partial": "partial(first, a)(*l)", "chosen": "(every if a > b else first)(*l)", "recursive": "deep(*l)", "dataclass": "D(*l).u * a",
    "named tuple": "T(*l).v * a", "max": "max(*l)", "min": "min(*l, a)", "hypot": "math.hypot(*l)", "list display": "sum([*l, a]) * b",
    "tuple display": "(lambda t: sum(t) * len(t) + t[0])((a, *l, b))", "set display": "len({*l})",
}  # fmt: skip
#: rows of tuples of one structure, and of rows of any length, starred in ``zip``
ROWS = {
    "pairs": "[(v, i) for i, v in enumerate(x) if v > 0]",
    "appended": "[]\nfor v in x:\n    if v > 0:\n        r.append((v, v * v))",
    "zipped": "zip([v for v in x if v > 0], [a * v for v in x if v > 0])",
    "sorted": "sorted((v, a) for v in x if v > 0)",
    "lists": "[[v] * 2 for v in x if v > 0]",
}
COLUMNS = {
    "unpacked": "p, q = zip(*r)\ns = sum(p) * a + sum(q) + len(p)",
    "handled": "try:\n    p, q = zip(*r)\nexcept ValueError:\n    p, q = (a,), (b,)\ns = p[0] * q[-1]",
    "loop": "s = a\nfor k, c in enumerate(zip(*r)):\n    s += (k + 1) * sum(c)",
    "list": "t = list(zip(*r))\ns = a * len(t)",
    "arrays": "p, q = map(np.array, zip(*r))\ns = np.dot(p, q) * a",
    "comprehension": "s = a + sum(max(c) for c in zip(*r))",
}
DATA = {"three": [0.3, 0.7, 0.4], "two": [0.7, -0.2, 0.5], "one": [0.9, -0.3], "none": [-0.5]}


def program(body: str) -> str:
    return HELPERS + "def f(a, b, x):\n    x = np.array(x)\n" + "".join(f"    {line}\n" for line in body.splitlines()) + "    return s\n"


@pytest.mark.sweep(4)
@pytest.mark.parametrize(("starred", "taken"), [*product(STARRED, TAKEN)])
def test_starred_arguments_are_those_that_python_passes(starred: str, taken: str) -> None:
    if starred in ("generator", "map") and taken == "method":
        pytest.skip("an iterator has no items left for the second star")
    text = program(f"l = {STARRED[starred]}\ns = {TAKEN[taken]}")
    for data in DATA.values():
        assert verdict(text, [0.4, 1.7, data]) != "refused" or taken == "set display"


@pytest.mark.sweep(3)
@pytest.mark.parametrize(("rows", "columns"), [*product(ROWS, COLUMNS)])
def test_columns_are_those_of_python(rows: str, columns: str) -> None:
    text = program(f"r = {ROWS[rows]}\n{COLUMNS[columns]}")
    for data in DATA.values():
        assert verdict(text, [0.4, 1.7, data]) != "refused" or columns == "list" and rows != "lists"


@pytest.mark.parametrize(
    "body", ["l = [v for v in x if v > 0]\ns = first(a, *l, b) * a", "r = [(v, b * v) for v in x if v > 0]\n" + COLUMNS["unpacked"]]
)
def test_kernels_and_second_derivatives(body: str) -> None:
    check_kernel_and_second_derivative(program(body).replace("x = np.array(x)", "x = a * np.array(x)"), (0.4, 1.7, DATA["two"]))
