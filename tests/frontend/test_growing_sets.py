"""Sets that get elements which are computed, against plain Python and differences."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad
from symgrad.errors import UnsupportedSyntax
from tests.plainly import HEAD, function_of, verdict

NUMBERS = np.array([3, 5, 3, 2, 7, 5, 3, 2, 4, 1, 20])

PROGRAMS = {
    "seen before": "seen = set()\ns = a\nfor n in numbers:\n    if n in seen:\n        s = s * b\n        continue\n    seen.add(n)\n    s = s + a * n\n"
    "s = s * len(seen)",
    "begins with one": "seen = {3}\ns = a\nfor n in numbers:\n    if int(n) not in seen:\n        seen.add(int(n))\n        s += b * n\ns += len(seen) * a",
    "pairs": "seen = set()\ns = a\nfor i in range(len(numbers) - 1):\n    e = (numbers[i], numbers[i + 1])\n    if e in seen or (e[1], e[0]) in seen:\n"
    "        s *= b\n    else:\n        seen.add(e)\n        s += a",
    "discarded": "seen = set()\ns = a\nfor n in numbers:\n    if n in seen:\n        seen.discard(n)\n    else:\n        seen.add(n)\n"
    "    s = s * 0.9 + b * len(seen)\nseen.discard(99)\ns = s if seen else s * 2",
    "removed": "seen = set()\ns = a\nfor n in numbers:\n    seen.add(n)\nseen.remove(3)\ntry:\n    seen.remove(77)\nexcept KeyError:\n    s = s * 2\n"
    "s = s * len(seen) + b * (20 in seen)",
    "texts": "seen = set()\nfor n in numbers:\n    seen.add(f'k{n}')\ns = a * len(seen) + b * ('k3' in seen)",
    "breadth first": "edges = {0: [1, 2], 1: [3], 2: [3, 4], 3: [0], 4: []}\nseen, queue, s = {0}, collections.deque([(0, 1.0)]), 0.0\nwhile queue:\n"
    "    u, w = queue.popleft()\n    s += w * a\n    for v in edges[u]:\n        if v not in seen:\n            seen.add(v)\n"
    "            queue.append((v, w * b))\ns += len(seen)",
    "in a function": "def mark(held, n):\n    if n in held:\n        return False\n    held.add(n)\n    return True\nseen = set()\n"
    "s = sum(a * n for n in numbers if mark(seen, n)) + b * len(seen)",
    "aliases": "seen = set()\nother = seen\nthird = seen.copy()\nfor n in numbers:\n    other.add(n)\nthird.add(numbers[0])\ns = a * len(seen) + b * len(third)",
    "updated": "seen = set()\nseen.update(numbers)\nseen.update([1, 2], (50,))\ns = a * len(seen) + isinstance(seen, set) * b",
    "in a dict": "held = {'odd': set(), 'even': set()}\nfor n in numbers:\n    held['odd' if n % 2 else 'even'].add(n)\n"
    "s = a * len(held['odd']) + b * len(held['even'])",
    "beside settings": "allowed = {1, 2, 3}\nseen = set()\ns = 0.0\nfor n in numbers:\n    seen.add(n)\n    if n in allowed:\n        s += a\n"
    "s += b * len(seen) + sum(sorted(allowed))",
    "cleared": "seen = set()\ns = a\nfor n in numbers:\n    seen.add(n)\n    if len(seen) > 3:\n        seen.clear()\n        s *= b",
}  # fmt: skip


def text_of(body: str) -> str:
    return "def f(a, b, numbers):\n" + "".join(f"    {line}\n" for line in body.splitlines()) + "    return s\n"


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    assert verdict(text_of(PROGRAMS[name]), [0.7, 1.3, NUMBERS]) == "right"


@pytest.mark.parametrize("name", ["seen before", "pairs", "cleared"])
def test_kernels_and_second_derivatives(name: str) -> None:
    f = function_of(HEAD + text_of(PROGRAMS[name]))
    value, slopes = symgrad.value_and_grad(f, wrt=("a", "b"), jit=True)(0.7, 1.3, NUMBERS)
    assert value == pytest.approx(f(0.7, 1.3, NUMBERS))
    assert slopes == pytest.approx(symgrad.grad(f, wrt=("a", "b"))(0.7, 1.3, NUMBERS))
    second = symgrad.grad(symgrad.grad(f, wrt="b"), wrt="b")(0.7, 1.3, NUMBERS)
    ends = [symgrad.grad(f, wrt="b")(0.7, 1.3 + step, NUMBERS) for step in (1e-6, -1e-6)]
    assert second == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-5, abs=1e-6)


#: what depends on Python's order of the elements, or is not followed
REFUSED = {
    "iterated over": "s = sum(a * n for n in seen)",
    "sorted": "s = a * sorted(seen)[0]",
    "compared": "s = a if seen == {3} else b",
    "combined": "s = a * len(seen | {100})",
    "shown": "s = a * len(str(seen))",
}
MADE = "seen = set()\nfor n in numbers:\n    seen.add(n)\n"


@pytest.mark.parametrize("name", REFUSED)
def test_what_python_alone_knows_is_refused(name: str) -> None:
    with pytest.raises(UnsupportedSyntax, match="a set whose elements are not known") as refused:
        symgrad.grad(function_of(HEAD + text_of(MADE + REFUSED[name])))(0.7, 1.3, NUMBERS)
    assert refused.value.hint == "keep its elements in a list too, and use that"


def test_the_hint_is_a_way_out() -> None:
    text = "seen = set()\nkept = []\nfor n in numbers:\n    if n not in seen:\n        seen.add(n)\n        kept.append(n)\ns = sum(a * n for n in kept)"
    assert verdict(text_of(text), [0.7, 1.3, NUMBERS]) == "right"
