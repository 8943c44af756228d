"""Nested functions: their yields, returns and closures do not leak into the outer function."""

from __future__ import annotations

import pytest

from tests.plainly import verdict

INNER = {
    "generator": "def inner(v):\n    for k in range(3):\n        yield k * v\nr = sum(inner(u))",
    "one that goes on": "def inner(v):\n    yield v\n    yield v * v\nit = inner(u)\nr = next(it)\nr = r * 2 + next(it)",
    "one without an end": "def inner(v):\n    while True:\n        yield v\n        v = v * 2\nr = 0.0\nfor w in inner(u):\n    r += w\n    if r > 9:\n        break",
    "one that returns": "def inner(v):\n    if v > 9:\n        return 1.0\n    yield v\nr = sum(inner(u))",
    "one that is guarded": "def inner(v):\n    try:\n        yield v\n    finally:\n        print('closed')\nr = sum(inner(u))",
    "one that hands on": "def inner(v):\n    yield from [v, v * v]\nr = sum(inner(u))",
    "manager": "@contextlib.contextmanager\ndef inner(v):\n    yield v * v\nwith inner(u) as w:\n    r = w + 1",
    "function that returns": "def inner(v):\n    return v * v\nr = inner(u)",
}  # fmt: skip
OUTER = {
    "function": "def outer(u):\n{body}\n    return r\ndef f(a):\n    return a * outer(a)",
    "nested function": "def f(a):\n    def outer(u):\n{deeper}\n        return r\n    return a * outer(a)",
    "method": "class C:\n    def outer(self, u):\n{deeper}\n        return r\ndef f(a):\n    return a * C().outer(a)",
    "generator": "def outer(u):\n{body}\n    yield r\n    yield u\ndef f(a):\n    return sum(outer(a))",
    "generator that goes on": "def outer(u):\n{body}\n    yield r\n    yield u\ndef f(a):\n    it = outer(a)\n    return next(it) + 2 * next(it)",
    "generator that is left": "def outer(u):\n{body}\n    yield r\n    yield u\ndef f(a):\n    it = outer(a)\n    for v in it:\n        break\n    return v + a",
    "manager": "@contextlib.contextmanager\ndef outer(u):\n{body}\n    yield r\ndef f(a):\n    with outer(a) as v:\n        return v * a",
    "function without a return": "def outer(u, held):\n{body}\n    held.append(r)\ndef f(a):\n    held = []\n    outer(a, held)\n    return held[0] * a",
    "differentiated inside": "def outer(u):\n{body}\n    return r * u\ndf = symgrad.grad(outer)\ndef f(a):\n    return a * df(a)",
}  # fmt: skip
HEAD = "import contextlib\nimport symgrad\n"
#: a generator that is gone on with inside another such generator is not followed
REFUSED = {("one that goes on", "generator that goes on")}


def program(inner: str, outer: str) -> str:
    body = "".join(f"    {line}\n" for line in INNER[inner].splitlines())
    deeper = "".join(f"    {line}\n" for line in body.splitlines())
    return HEAD + OUTER[outer].format(body=body.rstrip("\n"), deeper=deeper.rstrip("\n")) + "\n"


@pytest.mark.parametrize("outer", OUTER)
def test_what_an_inner_definition_does_is_its_own(outer: str) -> None:
    for inner in INNER:
        assert verdict(program(inner, outer), [0.7]) == ("refused" if (inner, outer) in REFUSED else "right"), inner
