"""Order of exceptions: of two operations that raise, the first one does; pairs of operations x places."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from tests.plainly import verdict

#: operations that raise exceptions of different classes, for x of three elements, a = -0.7, n = 0 and lst of two
RAISING = {
    "index": "x[9]",
    "domain": "math.sqrt(a)",
    "division": "1.0 / n",
    "remainder": "5 % n",
    "item of a list": "lst[7]",
    "shape": "np.sum(x.reshape(2, 2))",
    "conversion": "float('k' * n + 'v')",
    "empty": "np.max(x[3:])",
}
#: where the one is needed later, so that the other might be evaluated in the same line behind it
FAST = ("sum of parts", "in a loop")
PLACES = {
    "sum": "return {} + {}",
    "sum of parts": "return 2.0 * ({}) + np.sin(x[0]) * ({})",
    "one named": "t = {}\nu = {}\nreturn t + u * u",
    "other named": "t = {}\nreturn t * t + {}",
    "argument": "return max({}, {}) + a",
    "stored": "x[0] = {}\nreturn x[0] * {}",
    "at a computed place": "x[int({}) % 3] += {}\nreturn np.sum(x)",
    "in a loop": "s = 0.0\nfor i in range(2):\n    s += ({}) * ({})\nreturn s",
    "on one path of a loop": "s = 0.0\nfor i in range(2):\n    t = {}\n    u = {}\n    s += t * t if i > 5 else u\nreturn s",
    "in a branch": "s = {}\nif a < 0:\n    s = s * ({})\nreturn s",
}


@pytest.mark.parametrize("place", [pytest.param(p, id=p, marks=() if p in FAST else pytest.mark.slow) for p in PLACES])
@pytest.mark.parametrize("pair", list(permutations(RAISING, 2)), ids=" before ".join)
def test_the_first_exception_is_raised(pair: tuple[str, str], place: str) -> None:
    body = PLACES[place].format(*(RAISING[name] for name in pair))
    text = "def f(x, a, n, lst):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    assert verdict(text, [np.array([0.7, -1.3, 2.1]), -0.7, 0, [0.5, 1.5]], stores=False) in ("raises", "refused")
