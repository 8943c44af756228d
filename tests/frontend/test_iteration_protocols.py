"""Iteration over instances: protocols x consumers x origins, compared with plain Python."""

from __future__ import annotations

import itertools

import pytest

from tests.plainly import verdict
from tests.sweeps import fast_cases

#: classes by the protocol that they follow; each holds three numbers
CLASSES = """
class Places:
    def __init__(self, d):
        self.d = d
    def __getitem__(self, i):
        return self.d[i]

class Longer:
    def __init__(self, d):
        self.d = d
    def __getitem__(self, i):
        return self.d[i] * 1.5
    def __len__(self):
        return len(self.d) + 1

class Raising:
    def __init__(self, d):
        self.d = d
    def __getitem__(self, i):
        if i >= len(self.d):
            raise IndexError(i)
        return self.d[i] * (i + 1)

class Steps:
    def __init__(self, d):
        self.d, self.k = d, 0
    def __iter__(self):
        return self
    def __next__(self):
        if self.k >= len(self.d):
            raise StopIteration
        self.k += 1
        return self.d[self.k - 1]

class Fresh:
    def __init__(self, d):
        self.d = d
    def __iter__(self):
        return Steps(self.d)

class Yielding:
    def __init__(self, d):
        self.d = d
    def __iter__(self):
        for v in self.d:
            yield v * 2

class Handing:
    def __init__(self, d):
        self.d = d
    def __iter__(self):
        return iter(self.d)

class NoIterator:
    def __init__(self, d):
        self.d = d
    def __iter__(self):
        return self.d

class NextAlone:
    def __init__(self, d):
        self.d, self.k = d, 0
    def __next__(self):
        self.k += 1
        return self.d[self.k - 1]
"""
NAMES = ["Places", "Longer", "Raising", "Steps", "Fresh", "Yielding", "Handing", "NoIterator", "NextAlone"]

#: what iterates over ``o``
CONSUMERS = {
    "for": "for v in o:\n    s += v * v",
    "break": "for v in o:\n    s += v\n    if s > 1.0:\n        break\nelse:\n    s += 5",
    "enumerate": "for k, v in enumerate(o):\n    s += v * k",
    "zip": "for v, w in zip(o, [1.0, 2.0, 3.0]):\n    s += v * w",
    "zip with itself": "for v, w in zip(o, o):\n    s += v * w",
    "list": "l = list(o)\ns += l[0] * l[-1] + len(l)",
    "tuple": "s += tuple(o)[1]",
    "sum": "s += sum(o)",
    "max": "s += max(o)",
    "sorted": "s += sorted(o)[0]",
    "unpacking": "a, b, c = o\ns += a * b + c",
    "starred": "a, *r = o\ns += a * r[0] + len(r)",
    "starred call": "s += (lambda a, b, c: a * b * c)(*o)",
    "comprehension": "s += sum([v * v for v in o if v > 0.1])",
    "generator": "s += sum(v * v for v in o)",
    "in": "s += 2 if 2.0 in o else 3",
    "next": "it = iter(o)\ns += next(it) * 3 + next(it)",
    "next and for": "it = iter(o)\ns += next(it) * 3\nfor v in it:\n    s += v",
    "next with default": "it = iter(o)\nfor _ in range(4):\n    s += next(it, 0.5) * x",
    "extend": "l = [x]\nl.extend(o)\ns += l[-1] * l[1]",
    "map": "s += sum(map(lambda v: v * x, o))",
    "chain": "s += sum(itertools.chain(o, [x]))",
    "twice": "for v in o:\n    s += v\nfor v in o:\n    s += v * v",
    "nested": "for v in o:\n    for w in o:\n        s += v * w",
    "any": "s += 1 if any(v > 1.0 for v in o) else 2",
    "identity": "s += 2 if iter(o) is o else 3",
    "yield from": "def g():\n    yield from o\ns += sum(g())",
    "caught": "it = iter(o)\nwhile True:\n    try:\n        v = next(it)\n    except StopIteration:\n        break\n    s += v",
}
#: where the instance comes from
ORIGINS = {
    "items": "o = CLASS([x, 2.0, x * x])",
    "loop": "o = CLASS([q * x for q in range(3)])",
    "array": "o = CLASS(np.array([x, 0.35, x]))",
}

CASES = {
    "-".join(values): dict(zip(("cls", "consumer", "origin"), values, strict=True))
    for values in itertools.product(NAMES, CONSUMERS, ORIGINS)
}
FAST = fast_cases(CASES, 15)


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in FAST else pytest.mark.slow) for n in CASES])
def test_product(name: str) -> None:
    case = CASES[name]
    lines = [ORIGINS[case["origin"]].replace("CLASS", case["cls"]), *CONSUMERS[case["consumer"]].splitlines()]
    text = CLASSES + "def f(x):\n    s = 0.0\n" + "".join(f"    {line}\n" for line in lines) + "    return s * x\n"
    assert verdict(text, [0.7]) in ("right", "raises")


OUTSIDE = """
HELD = Steps([0.4, 2.0, 0.3])

def f(x):
    HELD.k = 0
    return next(HELD) * x + sum(v * x * x for v in HELD) + next(HELD, x) * HELD.k
"""


def test_an_instance_from_outside_keeps_its_place() -> None:
    assert verdict(CLASSES + OUTSIDE, [0.7]) == "right"
