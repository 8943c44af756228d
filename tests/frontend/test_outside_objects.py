"""Dicts, lists of any items and instances from outside that a function changes.

Objects and changes x ways to reach them x calls, and what is bound anew between calls, against plain Python: value, slope by
differences of replayed calls, and what the objects hold afterwards.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import UnsupportedSyntax, UnsureAlias
from tests.facades.test_program_order import state
from tests.plainly import function_of

POINT, STEP = 1.5, 1e-6
HEAD = """import numpy as np
import types
from dataclasses import dataclass
class Model:
    def __init__(self):
        self.n, self.log, self.info, self.buffer = 1, [], {'k': 2.0}, np.array([1.0, 2.0])
    def put(self, value):
        self.n += 1
        self.log.append((self.n, value))
    @property
    def twice(self): return self.n * 2
    @twice.setter
    def twice(self, value): self.n = value / 2
@dataclass
class Point:
    a: float = 1.0
    b: int = 0
"""
#: what makes an object ``o``, changes of it, and an expression that reads it
OBJECTS: dict[str, tuple[str, tuple[str, ...], str]] = {
    "dict": (
        "{'a': 1.0, 'in': {'l': [1.0]}}",
        ("o['a'] *= x", "o['k'] = x", "o['in']['l'].append(x)", "o.update(k=x, a=2.0 * x)", "o.setdefault('l', []).append((x, 'x'))",
         "if 'y' not in o:\n    o['y'] = 3.0", "o['k'] = x; del o['k']", "for k in range(3):\n    o['a'] += k * x", "o['in'] = {'l': [x]}",
         "if x > 1.0:\n    o['a'] = x\nelse:\n    o['z'] = x", "p = o\np |= {'a': x}"),
        "o['a'] + sum(o['in']['l'])",
    ),
    "empty dict": ("{}", ("o['a'] = x", "o['a'] = o.get('a', 1.0) * x", "if not o:\n    o['a'] = x"), "o['a']"),
    "instance": (
        "Model()",
        ("o.n += 1", "o.last = x", "o.put(x)", "o.twice = x", "o.info['k'] *= x", "o.log.append(x); o.n += 1", "setattr(o, 'n', x)",
         "o.buffer[0] += x; o.n += 1", "o.n += 1; o.buffer[0] += x", "o.log = [x, o.n]", "o.last = x; del o.last", "o.info = {'k': x, 'l': [o.n]}"),
        "o.n * o.info['k'] + o.buffer[0]",
    ),
    "dataclass": ("Point()", ("o.a *= x; o.b += 1", "o.a = o.b = 3"), "o.a * 2.0 + o.b"),
    "namespace": ("types.SimpleNamespace(a=1.0)", ("o.a *= x", "o.new = x"), "o.a"),
    "list": (
        "[]",
        ("o.append((x, 2.0))", "o.append('text')", "o.append([x])", "o.append({'k': x})", "o.append(np.ones(2) * x)", "o.append(None)",
         "o.extend([(x, 1), (2.0, 'b')])", "o.insert(0, (x, x))"),
        "len(o)",
    ),
    "mixed list": ("[(1.0, 2), 'a', [2.0]]", ("o.pop(1); o.append('b')", "o[0] = (x, 3)", "o[2].append(x)", "o[1] = x", "p = o\np += ['c']"), "len(o)"),
}  # fmt: skip
#: how the function reaches the object; ``reach()`` gives it to the test
PLACES = {
    "global": "o = {make}\ndef f(x):\n    {body}\ndef reach(): return o\n",
    "alias": "there = {make}\ndef f(x):\n    o = there\n    {body}\ndef reach(): return there\n",
    "cell": "def outer():\n    o = {make}\n    def f(x):\n        {body8}\n    return f, lambda: o\nf, reach = outer()\n",
    "attribute": "box = types.SimpleNamespace(there={make})\ndef f(x):\n    o = box.there\n    {body}\ndef reach(): return box.there\n",
    "item": "box = ({make}, 1.0)\ndef f(x):\n    o = box[0]\n    {body}\ndef reach(): return box[0]\n",
    "callee": "there = {make}\ndef g(o, x):\n    {change}\ndef f(x):\n    o = there\n    g(o, x)\n    {end}\ndef reach(): return there\n",
    "read in a helper": "o = {make}\ndef read(): return {read}\ndef f(x):\n    {change}\n    return x * x * read()\ndef reach(): return o\n",
}


def indented(text: str, width: int) -> str:
    return text.replace("\n", "\n" + " " * width)


def program(kind: str, change: str, place: str) -> str:
    make, _, read = OBJECTS[kind]
    change = change.replace("; ", "\n")
    end = f"return x * x * ({read})"
    body = f"{change}\n{end}"
    parts = {"body": indented(body, 4), "body8": indented(body, 8), "change": indented(change, 4), "end": end, "read": read}
    return HEAD + PLACES[place].format(make=make, **parts)


def check(text: str, between: Any = None, calls: int = 2, jit: Any = False) -> None:
    """Calls of the derivative beside those of plain Python, with ``between`` run in both worlds before some of them."""
    worlds = [function_of(text).__globals__ for _ in range(2)]
    derived = symgrad.value_and_grad(worlds[1]["f"], jit=jit)
    for k in range(calls):
        ends = []
        for point in (POINT + STEP, POINT - STEP):  # all that went before happens anew
            world = function_of(text).__globals__
            for earlier in range(k + 1):
                prepare(world, between, earlier)
                ends += [world["f"](point)] if earlier == k else []
                if earlier < k:
                    world["f"](POINT)
        for world in worlds:
            prepare(world, between, k)
        expected = worlds[0]["f"](POINT)
        value, slope = derived(POINT)
        assert value == pytest.approx(expected, rel=1e-12)
        assert slope == pytest.approx((ends[0] - ends[1]) / (2 * STEP), rel=1e-5, abs=1e-6)
        first, second = (state(world["reach"]()) for world in worlds)
        assert str(second).replace("np.float64", "") == str(first).replace("np.float64", "")


def prepare(world: dict[str, Any], between: Any, call: int) -> None:
    if between is not None and call in (1, 3):
        between(world)


CASES = [(kind, change, place) for kind, (_, changes, _) in OBJECTS.items() for change in changes for place in PLACES]


@pytest.mark.sweep(9)
@pytest.mark.parametrize(("kind", "change", "place"), CASES)
def test_an_object_from_outside_keeps_what_is_stored_in_it(kind: str, change: str, place: str) -> None:
    check(program(kind, change, place), jit="auto" if place == "alias" else False)


#: programs whose objects are bound anew or come to share something between the calls
SHARED = {
    "another object": ("o = {'a': 1.0}", "o['a'] *= x", "o['a']", lambda w: w.update(o={"a": 5.0})),
    "another key": ("o = {'a': 1.0}", "o['a'] *= x", "o['a']", lambda w: w["o"].update(z="text")),
    "two names": ("o = {'a': 1.0}\np = o", "o['a'] *= x", "p['a']", lambda w: w.update(o={"a": 5.0})),
    "two names from now on": ("o = {'a': 1.0}\np = {'a': 2.0}", "o['a'] *= x", "p['a']", lambda w: w.update(p=w["o"])),
    "a part by a name": ("o = Model()\np = o.log", "o.n += 1; p.append(x)", "o.log[-1]", lambda w: w.update(p=[7.0])),
    "a part by a name from now on": ("o = Model()\np = [1.0]", "o.n += 1; o.log.append(x)", "p[-1]", lambda w: w.update(p=w["o"].log)),
    "an array by a name": ("o = Model()\np = o.buffer", "o.n += 1; o.buffer[0] *= x", "p[0]", lambda w: w.update(p=np.ones(2))),
    "an array by a name from now on": ("o = Model()\np = np.ones(2)", "o.n += 1; o.buffer[0] *= x", "p[0]", lambda w: w.update(p=w["o"].buffer)),
    "inside another one": ("o = {'a': 1.0}\np = {'b': o}", "o['a'] *= x", "p['b']['a']", lambda w: w.update(p={"b": {"a": 2.0}})),
    "which one it is": ("o = {'a': 1.0}\np = {'a': 1.0}", "o['a'] *= x", "2.0 if o is p else 3.0", lambda w: w.update(p=w["o"])),
}  # fmt: skip


@pytest.mark.parametrize("case", SHARED)
def test_which_objects_are_one_is_known_at_each_call(case: str) -> None:
    make, change, read, between = SHARED[case]
    body = indented(change.replace("; ", "\n"), 4)
    check(f"{HEAD}{make}\ndef f(x):\n    {body}\n    return x * x * ({read})\ndef reach(): return o\n", between, calls=4)


#: objects of before a loop that are stored outside in one of its rounds, and changed in later rounds and after it
KEPT_IN_LOOPS = {
    "an object": "mine = Point(x)\nfor k in range(3):\n    mine.a = mine.a * (x + k)\n    o.last = mine\nmine.a = mine.a + 1.0\nend = mine.a",
    "in some rounds": "mine = Point(x)\nfor k in range(3):\n    mine.a *= x + k\n    if k > 0:\n        o.last = mine\nmine.a += x\nend = mine.a",
    "a list": "mine = [x]\nfor k in range(3):\n    mine[0] *= x + k\n    if k > 0:\n        o.last = mine\nmine[0] += 1.0\nend = mine[0]",
    "an array": "mine = np.zeros(3)\nfor k in range(3):\n    o.last = mine\n    mine[k] = x * k\nmine[0] += 3.0\nend = np.sum(mine * mine)",
    "two that are exchanged": "mine, other = Point(x), Point(x + 1.0)\nfor k in range(3):\n    o.last = other\n    mine.a *= x\n    other.a += mine.a"
    "\n    mine, other = other, mine\nmine.a += 1.0\nend = mine.a - other.a",
    "two loops": "mine = Point(x)\nfor k in range(2):\n    for n in range(3):\n        o.last = mine\n        mine.a *= x + n"
    "\n    mine.a += k\nend = mine.a",
    "a list in an object": "mine = Point([x])\nfor k in range(3):\n    o.last = mine.a\n    mine.a[0] *= x\n    mine.a = [mine.a[0] + k]"
    "\nmine.a[0] *= x\nend = mine.a[0]",
}  # fmt: skip


@pytest.mark.parametrize("case", KEPT_IN_LOOPS)
def test_what_a_round_stores_outside_is_changed_there_in_later_rounds(case: str) -> None:
    body = indented(KEPT_IN_LOOPS[case], 4)
    check(f"{HEAD}o = types.SimpleNamespace(last=None)\ndef f(x):\n    {body}\n    return end * x\ndef reach(): return o\n")


def test_an_object_that_is_an_argument_too_is_refused() -> None:
    f = function_of(
        f"{HEAD}o = {{'l': [1.0], 'n': 0}}\ndef f(x, given):\n    o['n'] += 1\n    o['l'].append(x)\n    return x * given[-1]\n"
    )
    world, derived = f.__globals__, symgrad.value_and_grad(f)
    assert derived(POINT, [2.0]) == (2.0 * POINT, 2.0)
    with pytest.raises(UnsureAlias, match="reads the same object from outside") as refusal:
        derived(POINT, world["o"]["l"])
    assert refusal.value.hint == "read it from given alone, or pass a copy"
    assert derived(POINT, list(world["o"]["l"])) == (POINT * POINT, POINT)
    assert world["o"] == {"l": [1.0, POINT, POINT], "n": 2}


def test_a_list_of_numbers_that_is_changed_outside_and_read_as_an_argument_is_refused() -> None:
    f = function_of(f"{HEAD}o = [1.0]\ndef f(x, given):\n    o.append(x)\n    return x * given[-1]\n")
    derived = symgrad.value_and_grad(f)
    assert derived(POINT, [2.0]) == (2.0 * POINT, 2.0)
    with pytest.raises(UnsureAlias, match="reads the same object from outside"):
        derived(POINT, f.__globals__["o"])


@pytest.mark.parametrize("make", ["o = Model()\no.log = o.more = [1.0]", "o = Model()\no.itself = o"])
def test_an_object_that_holds_another_one_twice_is_refused(make: str) -> None:
    f = function_of(f"{HEAD}{make}\ndef f(x):\n    o.n += 1\n    return x * o.n\n")
    with pytest.raises(UnsupportedSyntax, match="attribute 'n' of an object from outside the function is assigned to"):
        symgrad.grad(f)(POINT)
    assert f.__globals__["o"].n == 1


def test_what_is_stored_before_an_exception_stays() -> None:
    f = function_of(f"{HEAD}o = {{'n': 0}}\ndef f(x):\n    o['n'] += 1\n    if x > 0.0:\n        raise ValueError('late')\n    return x\n")
    derived = symgrad.grad(f)
    for k in (1, 2):
        with pytest.raises(ValueError, match="late"):
            derived(POINT)
        assert f.__globals__["o"] == {"n": k}


def test_each_call_of_a_second_derivative_stores_once() -> None:
    f = function_of(f"{HEAD}o = Model()\ndef f(x):\n    o.put(x)\n    return x ** 3 * o.n\n")
    second = symgrad.grad(symgrad.grad(f))
    for k in (2, 3):
        assert second(POINT) == pytest.approx(6.0 * POINT * k)
        assert (f.__globals__["o"].n, f.__globals__["o"].log) == (k, [(n, POINT) for n in range(2, k + 1)])


@pytest.mark.parametrize("change", ["n=x", "n=o.n * x, put=2.0", "put=x"])
def test_a_changed_copy_of_a_dataclass_outside(change: str) -> None:
    made_of = "import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass Part:\n    n: float\n    put: float = 3.0\no = Part(2.0)\n"
    f = function_of(f"{made_of}def f(x):\n    p = dataclasses.replace(o, {change})\n    return p.n * p.put * x\n")
    value, slope = symgrad.value_and_grad(f)(POINT)
    assert value == f(POINT)
    assert slope == pytest.approx((f(POINT + 1e-6) - f(POINT - 1e-6)) / 2e-6, rel=1e-8)
