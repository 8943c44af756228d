"""Lists and arrays from outside that a function changes: effects visible to the caller, and shared identity.

The products are compared with plain Python: what a call gives, what the lists hold afterwards, and the slope against differences.
"""

from __future__ import annotations

import linecache
from itertools import count
from typing import Any

import numpy as np
import pytest

import symgrad

NUMBER = count()
POINT, STEP = 1.5, 1e-5

#: what is done to the list ``held``
CHANGES = {
    "append": "held.append(x)",
    "append_computed": "held.append(2.0 * x + held[0])",
    "extend": "held.extend([x, 2.0])",
    "insert": "held.insert(0, x)",
    "insert_inside": "held.insert(1, x)",
    "pop": "held.pop()",
    "pop_first": "held.pop(0)",
    "set": "held[0] = x",
    "set_last": "held[-1] = x * x",
    "add_to_item": "held[1] += x",
    "slice": "held[:1] = [x, 3.0]",
    "delete": "del held[0]",
    "clear": "held.clear()",
    "reverse": "held.reverse()",
    "sort": "held.sort()",
    "join": "held += [x]",
    "branch": "if x > 1.0:\n        held.append(x)\n    else:\n        held.pop()",
    "loop": "for k in range(3):\n        held.append(k * x)",
    "while": "while len(held) < 5:\n        held.append(x)",
}
#: how the function reaches the list that ``make()`` gives; ``reach()`` gives it to the test
PLACES = {
    "global": "{name} = make()\ndef f(x):\n    {body}\ndef reach(): return {name}\n",
    "alias": "there = make()\ndef f(x):\n    held = there\n    {body}\ndef reach(): return there\n",
    "cell": "def outer():\n    there = make()\n    def f(x):\n        held = there\n        {body8}\n    return f, lambda: there\nf, reach = outer()\n",
    "attribute": "class Model: pass\nm = Model()\nm.log = make()\ndef f(x):\n    held = m.log\n    {body}\ndef reach(): return m.log\n",
    "attribute_of_a_class": "class Model: log = make()\ndef f(x):\n    held = Model.log\n    {body}\ndef reach(): return Model.log\n",
    "item": "logs = (make(), 1.0)\ndef f(x):\n    held = logs[0]\n    {body}\ndef reach(): return logs[0]\n",
    "helper": "there = make()\ndef change(held, x):\n    {change}\ndef f(x):\n    held = there\n    change(there, x)\n    {end}\n"
    "def reach(): return there\n",
}
#: a global that the function assigns to by ``+=`` is refused as any that is declared; it is reached through another name
NOT_THERE = {("global", "join")}
END = "return x * sum(held) + len(held)"


def module_of(text: str, make: Any) -> dict[str, Any]:
    """The names of a program, whose source ``inspect`` finds."""
    name = f"<outside memory {next(NUMBER)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    module: dict[str, Any] = {"make": make, "__name__": f"outside_memory_{next(NUMBER)}"}
    exec(compile(text, name, "exec"), module)
    return module


def program(place: str, change: str) -> str:
    body = f"{change}\n    {END}"
    return PLACES[place].format(name="held", body=body, body8=body.replace("\n", "\n    "), change=change, end=END)


def world(place: str, change: str) -> dict[str, Any]:
    return module_of(program(place, change), lambda: [1.0, 2.0, 0.5])


@pytest.mark.sweep(4)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("change", CHANGES)
def test_a_list_from_outside_holds_what_was_stored_in_it(place: str, change: str) -> None:
    if (place, change) in NOT_THERE:
        return
    plain, derived = world(place, CHANGES[change]), world(place, CHANGES[change])
    gradient = symgrad.value_and_grad(derived["f"], jit="auto" if change in ("append", "set") else False)
    for _ in range(2):
        before = list(plain["reach"]())
        try:
            value = plain["f"](POINT)
        except IndexError:
            with pytest.raises(IndexError):
                gradient(POINT)
            continue
        after = list(plain["reach"]())
        actual, slope = gradient(POINT)
        assert derived["reach"]() == after
        assert actual == pytest.approx(value, rel=1e-12)
        ends = []
        for point in (POINT + STEP, POINT - STEP):
            plain["reach"]()[:] = before
            ends.append(plain["f"](point))
        plain["reach"]()[:] = after
        assert slope == pytest.approx((ends[0] - ends[1]) / (2 * STEP), rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("jit", [False, "auto"])
@pytest.mark.parametrize("place", [place for place in PLACES if place != "item"])
def test_a_list_that_held_nothing_grows_from_call_to_call(place: str, jit: Any) -> None:
    text = program(place, "held.append(x * x)")
    module = module_of(text, list)
    derived = symgrad.value_and_grad(module["f"], jit=jit)
    for k, at in enumerate((2.0, 3.0, 5.0)):
        value, slope = derived(at)
        held = module["reach"]()
        assert held == [4.0, 9.0, 25.0][: k + 1]
        assert (value, slope) == (at * sum(held) + len(held), sum(held) + at * 2 * at)


@pytest.mark.parametrize("jit", [False, "auto"])
@pytest.mark.parametrize(
    ("make", "store"), [(lambda: [1.0, 2.0], "a[0] = x"), (lambda: [1.0, 2.0], "a.insert(0, x)"), (lambda: np.array([1.0, 2.0]), "a[0] = x")],
    ids=["item_of_a_list", "list", "array"],
)  # fmt: skip
def test_names_of_one_object_are_told_from_names_of_two(make: Any, store: str, jit: Any) -> None:
    text = f"a = b = make()\ndef f(x):\n    {store}\n    return x * b[0] + b[1]\n"
    module = module_of(text, make)
    derived = symgrad.value_and_grad(module["f"], jit=jit)
    for together in (True, False, True, False, False, True, True):
        a = make()
        module["a"], module["b"] = a, a if together else make()
        expected = (POINT * POINT, 2 * POINT) if together else (POINT, 1.0)
        value, slope = derived(POINT)
        rest = module_of(text, make)["b"][1] if store == "a[0] = x" or not together else 1.0
        assert (float(value), float(slope)) == pytest.approx((expected[0] + rest, expected[1]))


@pytest.mark.parametrize("jit", [False, "auto"])
def test_an_array_from_outside_that_lies_in_another_one_which_is_written_to_is_refused(jit: Any) -> None:
    text = "a, b = make(), make()\ndef f(x):\n    a[0] = x\n    return x * b[0]\n"
    module = module_of(text, lambda: np.array([1.0, 2.0]))
    derived = symgrad.value_and_grad(module["f"], jit=jit)
    assert derived(POINT) == (POINT, 1.0)
    apart, module["b"] = module["b"], module["a"][:1]
    with pytest.raises(symgrad.errors.UnsureAlias, match="share memory") as refusal:
        derived(POINT)
    assert refusal.value.hint == "pass a .copy() of one of the two"
    module["b"] = module["a"][:1].copy()  # which holds by now what was stored
    assert derived(POINT) == (POINT * POINT, POINT)
    module["b"] = apart
    assert derived(POINT) == (POINT, 1.0)


def test_arrays_from_outside_that_nothing_writes_to_may_share_memory() -> None:
    text = "a, b, c = make(), make(), make()\ndef f(x):\n    c[0] = x\n    return x * b[0] + a[0] + c[0]\n"
    module = module_of(text, lambda: np.array([1.0, 2.0]))
    derived = symgrad.value_and_grad(module["f"])
    assert derived(POINT) == (2 * POINT + 1.0, 2.0)
    module["b"] = module["a"][:1]
    assert derived(POINT) == (2 * POINT + 1.0, 2.0)


def test_a_list_that_is_an_argument_too_is_refused() -> None:
    text = "held = make()\ndef f(x, given):\n    held.append(x)\n    given.append(2.0 * x)\n    return x * held[-1]\n"
    module = module_of(text, lambda: [1.0, 2.0])
    derived = symgrad.value_and_grad(module["f"])
    assert derived(POINT, [1.0]) == (POINT * POINT, 2 * POINT)
    assert module["held"] == [1.0, 2.0, POINT]
    with pytest.raises(symgrad.errors.UnsureAlias, match="reads the same object from outside"):
        derived(POINT, module["held"])
    assert module["held"] == [1.0, 2.0, POINT]


def test_which_list_it_is_may_be_asked_of_lists_from_outside() -> None:
    text = "a, b = make(), make()\ndef f(x):\n    return 2.0 * x if a is b else 3.0 * x\n"
    module = module_of(text, lambda: [1.0, 2.0])
    derived = symgrad.value_and_grad(module["f"])
    for together in (False, True, False):
        module["b"] = module["a"] if together else [1.0, 2.0]
        assert derived(POINT) == ((2.0 * POINT, 2.0) if together else (3.0 * POINT, 3.0))


def test_whether_an_argument_is_a_list_from_outside_is_known_or_refused() -> None:
    text = "a = make()\ndef f(x, given):\n    return 2.0 * x * given[0] if given is a else 3.0 * x\n"
    module = module_of(text, lambda: [1.0, 2.0])
    derived = symgrad.value_and_grad(module["f"])
    assert derived(POINT, [1.0, 2.0]) == (3.0 * POINT, 3.0)
    with pytest.raises(symgrad.errors.UnsureAlias, match="compares by identity") as refusal:
        derived(POINT, module["a"])
    assert refusal.value.hint == "read it from given alone, or pass a copy"
    assert derived(POINT, list(module["a"])) == (3.0 * POINT, 3.0)
