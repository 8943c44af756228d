"""Stores to objects among the arguments happen in program order: the state after a call, also where it raises.

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
from symgrad.errors import InvalidIR, SymgradError, UnsupportedSyntax, UnsureAlias
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


def tried(text: str, arguments: list[Any], wrt: str = "a", calls: int = 2) -> str:
    """``right`` or ``refused``: the state after each of some calls in a row is that after as many plain calls."""
    f = function_of("import collections\nimport numpy as np\n" + text)
    derived = symgrad.value_and_grad(f, wrt=wrt, allow_unused=True)
    own, plain = copy.deepcopy(arguments), copy.deepcopy(arguments)
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


#: what is done to lists whose length is not known at compile time or differs by path, and to dicts of which the keys do, may be refused
REFUSABLE = {
    "o.insert(1, a)", "o.reverse()", "del o[1]", "o[0:2] = [a]", "o.clear(); o.append(a)", "o.remove(2.5)", "o.pop('n')", "o.pop('n', None)",
    "del o['n']", "o.append({'k': a})",
}  # fmt: skip


def cases(kind: str) -> list[tuple[str, str]]:
    """The product of stores and places: each store with the text of a function."""
    _, stores, read = KINDS[kind]
    return [(store, body_of(place, store, read)) for store, place in itertools.product(stores, PLACES)]


def check_cases(kind: str, every: int) -> None:
    arguments, _, _ = KINDS[kind]
    for store, text in cases(kind)[::every]:
        assert tried(text, [arguments, 0.7, 0]) in (("right", "refused") if store in REFUSABLE else ("right",)), text


@pytest.mark.parametrize("kind", KINDS)
def test_stores_are_done_where_they_stand(kind: str) -> None:
    check_cases(kind, 7)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_all_stores_are_done_where_they_stand(kind: str) -> None:
    check_cases(kind, 1)


#: new objects and arrays that are stored in ``d`` and changed later, where paths meet and from round to round
NEW_OBJECTS = (
    "l = []\nfor i in range(n):\n    d['l'] = l\n    l.append(a*i)\nreturn a*sum(l)",
    "l = []\nfor i in range(n):\n    l.append(a*i)\n    d['l'] = l\nreturn a*sum(l)",
    "l = [1.0]\nfor i in range(n):\n    l[0] = l[0]*a\n    d['l'] = l\nl.append(3.0)\nreturn a*sum(l)",
    "y = np.zeros(5)\nfor i in range(n):\n    y[i] = a\n    d['y'] = y\nreturn a*np.sum(y)",
    "y = np.zeros(5)\nfor i in range(n):\n    d['y'] = y\n    y[i] = a\ny *= 2.0\nreturn a*np.sum(y)",
    "y = np.zeros(5)\nfor i in range(n):\n    d['y'] = y\n    y = y + a\ny[0] = 7.0\nreturn a*np.sum(y)",
    "y = np.zeros(5)\nfor i in range(n):\n    y = y + a\n    d['y'] = y\n    y[0] = 7.0\nreturn a*np.sum(y)",
    "y = np.zeros(5)\nfor i in range(n):\n    y[0] = 7.0\n    y = y + a\n    d['y'] = y\nreturn a*np.sum(y)",
    "e = {'v': a}\nfor i in range(n):\n    d['e'] = e\n    e['v'] = e['v']*a\nreturn a*e['v']",
    "e = {'v': a}\nfor i in range(n):\n    d['e'] = e\n    e = {'v': e['v']*a}\ne['v'] = 3.0\nreturn a*e['v']",
    "if n > 2:\n    e = {'v': a}\n    d['e'] = e\nelse:\n    e = {'v': 2.0}\ne['v'] = 3.0*a\nreturn a*e['v']",
    "e = {'v': a}\nif n > 2:\n    d['e'] = e\ne['v'] = 3.0*a\nreturn a*e['v']",
    "e = {'v': a, 'l': [a]}\nif n > 2:\n    d['e'] = e\ne['l'].append(3.0*a)\nreturn a*e['v']",
    "y = np.zeros(3)\nif n > 2:\n    d['y'] = y\ny[0] = 3.0*a\nreturn a*np.sum(y)",
    "y = np.zeros(3)\nif n > 2:\n    d['y'] = y\n    raise ValueError('x')\ny[0] = 3.0*a\nreturn a*np.sum(y)",
    "y = np.zeros(3)\nd['y'] = y\nd['z'] = y\ny[0] = 3.0*a\nreturn a*np.sum(y)",
    "y = np.zeros(3)\nd['y'] = (y, [y])\nv = y[1:]\nv[0] = 3.0*a\nreturn a*np.sum(y)",
    "y = np.zeros(3)\nd['y'] = y[1:]\ny[1] = 3.0*a\nreturn a*np.sum(y)",
    "y = np.zeros((3,2))\nfor i in range(n):\n    d['y'] = y[i % 3]\n    y[i % 3] = a\nreturn a*np.sum(y)",
    "p = q = [a]\nd['p'] = p\nq.append(2.0)\nd['q'] = q\np.append(1.0)\nreturn a*sum(p)",
    "while n > 0:\n    d['n'] = n\n    n -= 1\n    if n == 1:\n        d['b'] = a\n        break\nreturn a",
    "for i in range(n):\n    if i % 2 == 0:\n        d['n'] = i*a\n    else:\n        d['m'] = i*a\nreturn a",
    "for i in range(n):\n    d['l'].append((i, a))\nreturn a",
    "for i in range(n):\n    d['l'].append({'i': i, 'a': a})\nreturn a",
    "for i in range(n):\n    d['l'].append([i, a])\nreturn a",
    "for i in range(n):\n    d['l'].append(np.array([i, a]))\nreturn a",
    "for i in range(n):\n    d['f'].append(i*a)\nreturn a*sum(d['f'])",
    "for i in range(n):\n    d['c']['x'] = d['c']['x'] + i*a\nreturn a*d['c']['x']",
    "o = d['c']\nfor i in range(n):\n    o['x'] += i*a\n    if o['x'] > 1.0:\n        o = d['c']\nreturn a*o['x']",
    "for k in ('x', 'y'):\n    d['c'][k] = a\nreturn a*d['c']['x']",
    "for k, v in d['c'].items():\n    d['c'][k] = v*a\nreturn a*d['c']['x']",
    "d['t'] = d['c']['x'] = a*2\nreturn a*d['t']",
    "d['c'], d['k'] = d['k'], d['c']\nreturn a",
    "d['c'].update(d['c'], w=a)\nreturn a",
    "e = dict(d['c'])\ne['x'] = a\nd['e'] = e\ne['x'] = a*2\nreturn a*d['c']['x']",
    "import copy\ne = copy.deepcopy(d['c'])\ne['x'] = a\nreturn a*d['c']['x']*e['x']",
)

#: stores in a list from within expressions, loops that are left, and calls
IN_EXPRESSIONS = (
    "for i in range(5):\n    o.append(a*i)\n    if o[-1] > 1.0:\n        break\nreturn sum(o)",
    "i=0\nwhile True:\n    o.append(a*i)\n    i += 1\n    if i > 3:\n        return sum(o)*a",
    "for i in range(5):\n    if i == 2:\n        continue\n    o[0] = o[0] + a*i\nreturn o[0]*a",
    "def g(v):\n    o.append(v)\n    return v*v\nreturn sum(g(a*k) for k in range(3))",
    "ys=[o.append(a*k) for k in range(3)]\nreturn sum(o)*a",
    "l=list(map(lambda k: o.append(k*a), range(3)))\nreturn sum(o)*a",
    "return (o.append(a) or 1.0)*a*len(o)",
    "assert len(o) < 3, 'full'\no.append(a)\nreturn a*sum(o)",
    "try:\n    o.append(a)\n    return a\nfinally:\n    o.append(2.0)",
    "with np.errstate(all='ignore'):\n    o.append(a)\nreturn a*sum(o)",
    "o.append(a)\np = o[:]\np.append(7.0)\nreturn a*sum(p)",
    "p = o\np = p + [a]\no.append(3.0)\nreturn a*sum(p)",
    "x = np.array(o)\no[0] = a\nreturn a*np.sum(x)",
    "for v in list(o):\n    o.append(v*a)\nreturn a*sum(o)",
)


def function_text(parameters: str, body: str) -> str:
    return f"def f({parameters}):\n" + "".join(f"    {line}\n" for line in body.splitlines())


@pytest.mark.parametrize("body", NEW_OBJECTS)
def test_what_was_stored_is_followed(body: str) -> None:
    arguments = {"k": 1.0, "l": [], "f": [1.0], "c": {"x": 0.5}}

    assert tried(function_text("d, a, n", body), [arguments, 0.7, 4]) == "right"


@pytest.mark.parametrize("body", IN_EXPRESSIONS)
def test_stores_in_expressions_and_calls(body: str) -> None:
    assert tried(function_text("o, a", body), [[1.0, 2.0], 0.7]) == "right"


OUTSIDE = "class P:\n    def __init__(self, v): self.v = v\nG = P(2.0)\nL = [1.0, 2.0]\n"


@pytest.mark.parametrize(
    ("text", "shared"),
    [("def f(o, a):\n    o.v = a\n    return G.v * a\n", "G"), ("def f(o, a):\n    o.append(a)\n    return L[0] * a * len(L)\n", "L")],
)
def test_an_object_that_is_changed_and_read_from_outside_is_refused(text: str, shared: str) -> None:
    f = function_of(OUTSIDE + text)
    derived = symgrad.grad(f, wrt="a")
    own, one = copy.deepcopy(f.__globals__[shared]), f.__globals__[shared]
    before = state(one)
    for _ in range(2):
        assert derived(copy.deepcopy(own), 0.7) == pytest.approx(f(copy.deepcopy(own), 1.0))
        with pytest.raises(UnsureAlias, match="reads the same object from outside"):
            derived(one, 0.7)

    assert state(one) == before


SETS = (
    "def f(s, a):\n    return a * 2 if 3 in s else a * 3\n",
    "def f(s, a):\n    return a * len(s)\n",
    "def f(s, a):\n    return a * 2 if s else a * 3\n",
)


@pytest.mark.parametrize("text", SETS)
def test_sets_that_were_given_may_be_others_next_time(text: str) -> None:
    f = function_of(text)
    derived = symgrad.grad(f, wrt="a")
    held = {1, 2}
    for change in (lambda: None, lambda: held.add(3), lambda: held.discard(1), held.clear):
        change()
        assert derived(held, 1.0) == f(held, 1.0)
    for other in ({3}, frozenset({3}), set()):
        assert derived(other, 1.0) == f(other, 1.0)


@pytest.mark.parametrize(("arguments", "store"), [({1, 2}, "s.add(3)"), (collections.deque([1.0]), "s.append(a)")])
def test_what_cannot_be_followed_is_refused_and_left_alone(arguments: Any, store: str) -> None:
    f = function_of(f"def f(s, a):\n    {store}\n    return a * len(s)\n")
    before = state(arguments)

    with pytest.raises(UnsupportedSyntax):
        symgrad.grad(f, wrt="a")(arguments, 0.7)
    assert state(arguments) == before


def of_every_kind(o: Any, a: Any, x: Any) -> Any:
    for v in x:
        o["n"] += 1
        o["log"].append(float(v))
        a = a * v + o["n"]
    o["last"] = a
    return a * a


@pytest.mark.parametrize(
    "derive",
    [
        lambda: symgrad.grad(of_every_kind, wrt="a"),
        lambda: symgrad.value_and_grad(of_every_kind, wrt="x"),
        lambda: symgrad.grad(of_every_kind, wrt="a", jit="auto"),
        lambda: symgrad.grad(symgrad.grad(of_every_kind, wrt="a"), wrt="a"),
        lambda: lambda *args: [symgrad.vjp(of_every_kind, *args, wrt="a")[1](seed) for seed in (1.0,)],
    ],
)
def test_every_derivative_stores_once(derive: Any) -> None:
    own, plain = ({"n": 0, "log": [1.0], "last": 0.0} for _ in range(2))
    x = np.array([0.5, 1.5, 2.0])
    derived = derive()
    for _ in range(2):
        derived(own, 0.7, x)
        of_every_kind(plain, 0.7, x)

        assert state(own) == state(plain)
