"""Texts of caught exceptions, and exceptions of integer powers, compared with plain Python."""

from __future__ import annotations

import pytest

import symgrad
from tests.plainly import HEAD, function_of, outcome, verdict

GROW = """
def grow(a, n):
    items = []
    for k in range(n):
        items.append(a * k)
    return items
"""
#: what is computed from a number ``a`` and ``n`` items
BODIES = [
    "grow(a, n).pop() + a",
    "grow(a, n).pop(0) + a",
    "grow(a, n).pop(1) + a",
    "grow(a, n).pop(-2) + a",
    "grow(a, n).pop(n - 1) + a",
    "collections.deque(grow(a, n)).pop() + a",
    "collections.deque(grow(a, n)).popleft() + a",
    "collections.deque(grow(a, n))[1] + a",
    "tuple(grow(a, n))[2] * a",
    "tuple(grow(a, n))[n] * a",
    "range(n)[2] * a",
    "max(grow(a, n)) + a",
    "min(v * v for v in grow(a, n)) + a",
    "max(grow(a, n), key=lambda v: -v) + a",
    "max(np.ones(n) * a)",
    "next(iter(grow(a, n))) + a",
    "[a, a * 2].index(a * n) + a",
    "a * (np.arange(1, 3) ** (n - 1)).sum()",
    "a * 3 ** np.int64(n - 1)",
]
STATEMENTS = [
    "x, y = grow(a, n); s = x + y * a",
    "x, y = np.ones(n) * a; s = x + y * a",
    "x, y, *z = grow(a, n); s = x + y * a + sum(z)",
    "d = collections.deque(grow(a, n)); d[1] = a; s = d[0] + d[1] * a",
    "d = collections.deque(grow(a, n)); d.remove(a); s = sum(d) + a",
    "np.arange(1, 3) ** (n - 1); s = a",
    "s = grow(a, n).pop() + np.ones(2)[n] * a",
    "p, q = grow(a, n); s = p * q + (np.ones(n) * a).reshape(2).sum() + max(grow(a, n))",
    "s = (np.ones(n) * a).foo",
    "s = (np.ones(2) * a).sum().foo",
    "s = a * len(np.ones(2)[0])",
]
#: loops over a strict zip, which do rounds before they raise
LOOPS = [
    "for x, y in zip(grow(a, n), (1, 2), strict=True): s += x * y",
    "for x, y in zip([a, 2 * a], (1, 2, 3), strict=True): s += x * y",
    "for x, y, z in zip((1, 2), np.ones(n), np.ones(2) * a, strict=True): s += x * y * z",
    "for (k, x), y in zip(enumerate(grow(a, n)), (1, 2), strict=True): s += x * y + k",
    "for x, y in zip((v * a for v in range(n)), reversed((1, 2)), strict=True): s += x * y",
]


def program(body: str) -> str:
    """The text of a function that prints what it catches."""
    statement = body if body in STATEMENTS + LOOPS else f"s = {body}"
    return f"{GROW}\ndef f(a, n):\n    s = a\n    try:\n        {statement}\n    except (ValueError, LookupError, StopIteration, AttributeError, TypeError) as e:\n        print(type(e).__name__, e)\n        s += a * 3\n    return s\n"


@pytest.mark.sweep(2)
@pytest.mark.parametrize("body", [*BODIES, *STATEMENTS, *LOOPS])
def test_a_caught_exception_says_what_python_says(body: str) -> None:
    for n in (0, 1, 2, 3):
        assert verdict(program(body), [0.5, n]) == "right"


@pytest.mark.sweep(3)
@pytest.mark.parametrize("body", [*BODIES, *STATEMENTS, *LOOPS])
def test_kernels_print_the_same(body: str) -> None:
    pytest.importorskip("numba")
    f = function_of(HEAD + program(body))
    derivative = symgrad.value_and_grad(f, wrt="a", jit="auto")
    for n in (2, 0, 3, 1):
        (value, gradient), printed = outcome(derivative, [0.5, n])
        expected, expected_print = outcome(f, [0.5, n])
        assert printed == expected_print
        assert value == pytest.approx(expected)
        ends = [outcome(f, [0.5 + step, n])[0] for step in (1e-6, -1e-6)]
        assert gradient == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-6)


SLOTS = """
class Held:
    __slots__ = ("content",)
    def __init__(self): object.__setattr__(self, "content", {})
    def __getattr__(self, name): return self.content[name]
    def __setattr__(self, name, value): self.content[name] = value * 3
class Bare:
    __slots__ = ("v",)
"""


def test_a_setter_of_a_class_decides_before_its_slots() -> None:
    assert verdict(SLOTS + "def f(a, b):\n    o = Held(); o.p = a; o.q = o.p * b; o.p += b\n    return o.q * o.p\n", [0.5, 1.5]) == "right"


@pytest.mark.parametrize("store", ["o.w = a", "object.__setattr__(o, 'w', a)"])
def test_a_slot_that_a_class_lacks(store: str) -> None:
    text = f"def f(a, b):\n    o = Bare(); o.v = a\n    try:\n        {store}\n    except AttributeError as e:\n        print(e)\n    return o.v * b\n"
    assert verdict(SLOTS + text, [0.5, 1.5]) == "right"


def test_a_dead_power_of_integers_raises() -> None:
    f = function_of(HEAD + "def f(x, k):\n    np.arange(3) ** k\n    return x * x\n")
    assert symgrad.grad(f, wrt="x")(0.5, 2) == pytest.approx(1.0)
    with pytest.raises(ValueError, match="negative integer powers"):
        symgrad.grad(f, wrt="x")(0.5, -1)
