"""``StopIteration`` in a generator becomes a ``RuntimeError``; in the body of a loop it stays."""

from __future__ import annotations

import pytest

from tests.plainly import verdict

STOPS = {
    "next of nothing": "it = iter([])\nyield a\nyield next(it)",
    "raised": "yield a\nyield a * 2\nraise StopIteration",
    "raised with a value": "yield a\nif a > 0:\n    raise StopIteration(3)\nyield b",
    "in a loop": "it = iter([a, b, a])\nwhile True:\n    yield next(it) * next(it)",
    "at the beginning": "v = next(iter([]))\nyield v",
    "taken": "it = iter([a, b])\nwhile True:\n    try:\n        v = next(it)\n    except StopIteration:\n        return\n    yield v * a",
    "none": "it = iter([a, b, a])\nv = next(it)\nfor w in it:\n    yield v * w\n    v = w",
}  # fmt: skip
CONSUMERS = {
    "for": "for v in g():\n    s = s * 2 + v", "sum": "s += sum(g())", "list": "s += len(list(g()))", "max": "s += max(g())",
    "comprehension": "s += len([v for v in g() if v > 0])", "break": "for v in g():\n    s += v\n    if s > 1.0:\n        break",
    "unpacked": "p, q = g()\ns += p * q", "handed on": "def h():\n    yield b\n    yield from g()\nfor v in h():\n    s += v",
    "stops itself": "for v in g():\n    s += v\n    next(iter([]))", "raises itself": "for v in g():\n    s += v\n    raise StopIteration",
}  # fmt: skip
HANDLER = (
    "try:\n    {0}\nexcept RuntimeError:\n    s = s * 3 + a\nexcept StopIteration:\n    s = s * 5 + b\nexcept ValueError:\n    s = s * 7"
)


def indented(text: str, by: int) -> str:
    return text.replace("\n", "\n" + " " * by)


@pytest.mark.parametrize("consumer", [pytest.param(c, marks=pytest.mark.sweep(3)) for c in CONSUMERS])
def test_a_generator_that_stops_is_at_fault(consumer: str) -> None:
    for stop, body in STOPS.items():
        lines = f"def g():\n        {indented(body, 8)}\n    s = 0.0\n    {indented(HANDLER.format(indented(CONSUMERS[consumer], 4)), 4)}"
        assert verdict(f"def f(a, b):\n    {lines}\n    return s\n", [0.7, 1.9]) == "right", stop
