"""Recursive generators over known structures: trees, nested lists, counts."""

from __future__ import annotations

import pytest

import symgrad
from symgrad.errors import UnsupportedSyntax
from tests.plainly import HEAD, function_of, verdict

PROGRAMS = {
    "an instance": """
class Tree:
    def __init__(self, v, *ch): self.v, self.ch = v, ch
    def __iter__(self):
        yield self.v
        for c in self.ch: yield from c
    def __len__(self): return 1 + sum(len(c) for c in self.ch)
def f(x):
    t = Tree(x, Tree(x * x, Tree(2.0)), Tree(3.0 * x))
    return sum(k * v for k, v in enumerate(t)) + len(t)
""",
    "nested lists": """
def flat(items):
    for i in items:
        if isinstance(i, (list, tuple)):
            yield from flat(i)
        else:
            yield i
def f(x):
    return sum(k * v for k, v in enumerate(flat([x, [x * x, (2.0, [x])], 3.0])))
""",
    "two branches": """
class N:
    def __init__(self, k, l=None, r=None): self.k, self.l, self.r = k, l, r
def walk(n):
    if n is None: return
    yield from walk(n.l)
    yield n.k
    yield from walk(n.r)
def f(x):
    t = N(x, N(x * x), N(2.0, N(x + 1)))
    s = 0.0
    for k, v in enumerate(walk(t)):
        if v > 5: break
        s = s * 0.5 + v * k
    return s
""",
    "permutations": """
def perms(items):
    if not items:
        yield ()
    for i in range(len(items)):
        for rest in perms(items[:i] + items[i + 1:]):
            yield (items[i], *rest)
def f(x):
    return max(a * 2 + b - c for a, b, c in perms((x, x * x, 0.3)))
""",
    "a count": """
def down(n, x):
    if n == 0: return
    yield x * n
    yield from down(n - 1, x)
def f(x, n=4):
    return sum(down(4, x))
""",
    "an argument": """
def flat(items):
    for i in items:
        if isinstance(i, list): yield from flat(i)
        else: yield i
def f(x, l):
    return sum(x * v * k for k, v in enumerate(flat(l)))
""",
    "two that call each other": """
def ev(items):
    for i in items:
        if isinstance(i, list): yield from od(i)
        else: yield i
def od(items):
    for i in items:
        if isinstance(i, list): yield from ev(i)
        else: yield -i
def f(x):
    return sum(k * v for k, v in enumerate(ev([x, [x * x, [2.0, x]], 3.0])))
""",
    "taken one by one": """
def flat(items):
    for i in items:
        if isinstance(i, list): yield from flat(i)
        else: yield i
def f(x):
    g = flat([x, [x * x, [2.0]], 3.0])
    a = next(g); b = next(g)
    return a * b + sum(g)
""",
    "stores on the way": """
def visit(node, log):
    log.append(node["v"])
    for c in node["ch"]:
        yield from visit(c, log)
    yield node["v"]
def f(x):
    log = []
    t = {"v": x, "ch": [{"v": x * x, "ch": []}, {"v": 2.0, "ch": [{"v": x, "ch": []}]}]}
    s = 0.0
    for v in visit(t, log): s = s * 0.5 + v + len(log)
    return s + sum(k * q for k, q in enumerate(log))
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    arguments = [0.7, [1.0, [2.0, [0.3]], 4.0]] if name == "an argument" else [0.7]
    assert verdict(PROGRAMS[name], arguments) == "right"


#: how deep they go is known when they run
REFUSED = {
    "a number": """
def down(y):
    if y < 0.1: return
    yield y
    yield from down(y * 0.5)
def f(x):
    return sum(down(x))
""",
    "beside a constant, twice": """
def down(y, kind):
    if y < 0.1:
        return
    yield y
    yield from down(y * 0.5, kind)
    yield from down(y * 0.4, kind)
def f(x):
    return sum(down(x, "a"))
""",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_goes_as_deep_as_data_says_is_refused(name: str) -> None:
    with pytest.raises(UnsupportedSyntax, match="a generator that calls itself") as refused:
        symgrad.grad(function_of(HEAD + REFUSED[name]))(0.7)
    assert refused.value.hint == "write it as a loop that appends to a list"


def test_the_hint_is_a_way_out() -> None:
    text = """
def f(x):
    values, y = [], x
    while y >= 0.1:
        values.append(y)
        y = y * 0.5
    return sum(values)
"""
    assert verdict(text, [0.7]) == "right"
