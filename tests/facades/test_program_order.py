"""Stores in objects that were given happen where they stand: the state after a call is that after a plain call, also where it raises.

Kinds of objects and stores x places x what happens after the store; the oracle is the function itself on copies of the arguments.
"""

from __future__ import annotations

import collections
import copy
import itertools
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import InvalidIR, SymgradError
from tests.plainly import function_of


@dataclass
class Meter:
    k: float = 1.5
    n: int = 0
    log: list[Any] = field(default_factory=list)
    info: dict[str, Any] = field(default_factory=lambda: {"k": 2.5})

    @property
    def twice(self) -> float:
        return self.k * 2

    @twice.setter
    def twice(self, value: float) -> None:
        self.k = value / 2

    def add(self, value: Any) -> None:
        self.n += 1
        self.log.append(value)


#: an argument ``o``, stores in it, and an expression that reads it
KINDS: dict[str, tuple[Any, tuple[str, ...], str]] = {
    "list of floats": (
        [1.5, 2.5, 3.5],
        (
            "o[0] = o[0] * a", "o[-1] = a", "o.append(a)", "o.extend([a, a * 2])", "o.pop()", "o.pop(0)", "o.insert(1, a)", "o.sort()",
            "o.reverse()", "o += [a]", "del o[1]", "o[0:2] = [a]", "o[i] = a", "o.clear(); o.append(a)", "o.remove(2.5)",
        ),
        "o[0]",
    ),
    "mixed list": (
        [1.5, "s", [2.5]],
        ("o[0] = a", "o.append((a, 's'))", "o.insert(0, a)", "o[2].append(a)", "o.pop()", "o[1] = None", "o.append({'k': a})", "o[2][0] *= a"),
        "1.0",
    ),
    "dict": (
        {"k": 1.5, "in": {"l": [1.0], "j": 2.0}, "n": 0},
        (
            "o['k'] = o['k'] * a", "o['z'] = a", "o['n'] += 1", "o.update(k=a, z=2)", "o['in']['j'] *= a", "o['in']['l'].append(a)",
            "o.setdefault('z', []).append(a)", "o.setdefault('k', 9.0)", "o.pop('n')", "del o['n']", "o['z'] = [a, (a, 'x')]",
            "o |= {'z': a}", "o['k'], o['n'] = a, 7", "o['z'] = np.array([a, 1.0])", "o.pop('n', None)", "o['z'] = o['in']", "o['z'] = {1, 2}",
        ),
        "o['k']",
    ),
    "instance": (
        Meter(),
        (
            "o.k = o.k * a", "o.n += 1", "o.log.append(a)", "o.info['k'] = a", "o.info['z'] = [a]", "o.add(a)", "o.twice = a", "o.twice += 1.0",
            "setattr(o, 'k', a)", "o.log = [a, o.n]", "o.new = a", "o.log += [a]", "o.info.update(z=a)", "o.log.extend((a, 'x'))",
            "o.last = o", "o.log = o.log + [a]", "o.k = o.n = 3",
        ),
        "o.k",
    ),
}  # fmt: skip

PLACES: dict[str, str] = {
    "at once": "{store}\nreturn {read} * a",
    "before a raise": "{store}\nif a > 0:\n    raise ValueError('late')\nreturn a",
    "before an error": "{store}\ny = a / (a - a)\no = None\nreturn y",
    "after an error": "y = a / (a - a)\n{store}\nreturn y",
    "between errors": "x = np.ones(3)\n{store}\ny = x[i + 7]\n{store}\nreturn y * a",
    "in a branch": "if a > 0:\n    {store}\nreturn {read} * a",
    "in the branch that is not taken": "if a < 0:\n    {store}\nreturn {read} * a",
    "in both branches": "if a > 0:\n    {store}\nelse:\n    {store}\n    {store}\nreturn {read} * a",
    "in a loop": "for _ in range(2):\n    {store}\nreturn {read} * a",
    "in a loop that ends in an error": "for j in range(4):\n    {store}\n    y = a / (2 - j)\nreturn y",
    "in a while": "m = 2\nwhile m > i:\n    {store}\n    m -= 1\nreturn {read} * a",
    "in a callee": "def put(o):\n    {store}\nput(o)\nreturn {read} * a",
    "through an alias": "p = o\no = None\no = p\n{store}\nreturn {read} * a",
    "in a tuple": "p = (o, 1)\no = None\no, _ = p\n{store}\nreturn {read} * a",
    "twice": "{store}\ny = {read} * a\n{store}\nreturn y",
    "before an early return": "if a > 0:\n    {store}\n    return {read} * a\nreturn a",
    "in finally": "try:\n    y = a * 2\nfinally:\n    {store}\nreturn y * {read}",
}


def body_of(place: str, store: str, read: str) -> str:
    """The text of a function ``f(o, a, i)``."""
    lines: list[str] = []
    for line in PLACES[place].splitlines():
        pad = line[: len(line) - len(line.lstrip())]
        stores = [f"{pad}{part.strip()}" for part in store.split(";")]
        lines += stores if line.strip() == "{store}" else [line.replace("{read}", read)]
    return "def f(o, a, i):\n" + "".join(f"    {line}\n" for line in lines)


def state(value: Any, seen: tuple[int, ...] = ()) -> Any:
    """What can be seen of an object, with the exact classes; what holds itself is not gone into again."""
    if id(value) in seen:
        return "itself"
    seen = (*seen, id(value))
    if isinstance(value, dict):
        return type(value).__name__, [(k, state(v, seen)) for k, v in value.items()]
    if isinstance(value, list | tuple | collections.deque):
        return type(value).__name__, [state(v, seen) for v in value]
    if isinstance(value, set):
        return "set", sorted(value)
    if isinstance(value, np.ndarray):
        return "array", value.dtype.str, np.round(value, 12).tolist()
    if isinstance(value, float):
        return type(value).__name__, round(float(value), 12)
    return state(vars(value), seen) if hasattr(value, "__dict__") else value


def outcome(call: Any, args: list[Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call(*args)
        except Exception as error:
            return error


def tried(text: str, given: list[Any], wrt: str = "a", calls: int = 2) -> str:
    """``right`` or ``refused``: the state after each of some calls in a row is that after as many plain calls."""
    f = function_of("import collections\nimport numpy as np\n" + text)
    derived = symgrad.value_and_grad(f, wrt=wrt, allow_unused=True)
    own, plain = copy.deepcopy(given), copy.deepcopy(given)
    for _ in range(calls):
        before = state(own)
        expected, got = outcome(f, plain), outcome(derived, own)
        if isinstance(got, SymgradError) and not isinstance(got, InvalidIR):
            assert state(own) == before, f"{text}\nrefused, and yet stored {state(own)}"
            return "refused"
        if isinstance(expected, Exception):
            assert type(got) is type(expected), f"{text}\n{got!r} where Python raises {expected!r}"
        else:
            assert not isinstance(got, Exception), f"{text}\n{got!r}"
            assert np.isclose(got[0], expected), f"{text}\nvalue {got[0]}, plain Python {expected}"
        assert state(own) == state(plain), f"{text}\nstored {state(own)}\nplain  {state(plain)}"
    return "right"


def cases(kind: str) -> list[tuple[str, str]]:
    """The texts of the product of stores and places, by where they are."""
    _, stores, read = KINDS[kind]
    return [(place, body_of(place, store, read)) for store, place in itertools.product(stores, PLACES)]


@pytest.mark.parametrize("kind", KINDS)
def test_stores_are_done_where_they_stand(kind: str) -> None:
    given, _, _ = KINDS[kind]
    verdicts = [tried(text, [given, 0.7, 0]) for _, text in cases(kind)[::5]]

    assert verdicts.count("right") > len(verdicts) * 0.8


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_all_stores_are_done_where_they_stand(kind: str) -> None:
    given, _, _ = KINDS[kind]
    verdicts = [tried(text, [given, 0.7, 0]) for _, text in cases(kind)]

    assert verdicts.count("right") > len(verdicts) * 0.8
