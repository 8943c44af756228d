"""Stores to arrays from outside: visible outside, in program order and once, as in a plain call.

Stores x places outside x two calls, against plain Python: value, what the arrays hold afterwards, the slope against differences.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import UnsureAlias
from tests.frontend.test_outside_memory import module_of

POINT, STEP = 1.5, 1e-6

#: what is done to the array ``held`` of two rows and three columns
STORES = {
    "item": "held[0, 1] = x",
    "constant": "held[1, 2] = 7.0",
    "counter": "held[0, 0] += 1",
    "item_of_an_item": "held[0][1] = x * held[0][1]",
    "negative": "held[-1, -2] = x",
    "row": "held[0] = x",
    "column": "held[:, 1] *= x",
    "all": "held[:] = held * x",
    "ellipsis": "held[...] = x",
    "shifted": "held[:, 1:] = held[:, :-1]",
    "reversed": "held[:] = held[::-1]",
    "mask": "held[held > 1.0] = x",
    "numbers": "held[:, [0, 2]] = x",
    "numbers_twice": "held[0, [1, 1]] = np.array([2.0, x])",
    "where": "held[np.where(held > 1.0)] += x",
    "view": "part = held[1]\n    part[0] = x",
    "view_of_a_view": "part = held.T[1:]\n    part[0, 1] = x\n    part[1] += 1.0",
    "in_place": "held += x",
    "in_place_by_another_name": "other = held\n    other *= x",
    "out": "np.multiply(held, x, out=held)",
    "out_of_a_part": "np.add(held[0], x, out=held[1])",
    "copyto": "np.copyto(held, x)",
    "fill": "held.fill(x)",
    "add_at": "np.add.at(held, ([0, 0], [1, 1]), x)",
    "sort": "held.sort()",
    "put": "np.put(held, [1, 4], x)",
    "fill_diagonal": "np.fill_diagonal(held, x)",
    "branch": "if x > 1.0:\n        held[0, 0] = x\n    else:\n        held[1, 1] = x",
    "branch_not_taken": "if x < 1.0:\n        held[0, 0] = x",
    "loop": "for k in range(3):\n        held[0, k] = held[1, k] * x",
    "while": "k = 0\n    while k < 3:\n        held[1, k] += x\n        k += 1",
    "read_before": "y = np.sum(held * held) * x\n    held[0, 0] = y",
    "twice": "held[0, 0] = x\n    held[0, 0] *= held[0, 0]",
    "callee": "def put(a, v):\n        a[1] = v\n    put(held, x)",
    "comprehension": "rows = [np.sum(row) * x for row in held]\n    held[:, 0] = rows",
    "handler": "try:\n        held[0, 0] = x\n        held[2, 0] = 1.0\n    except IndexError:\n        held[1, 1] = x",
    "finally": "try:\n        held[0, 0] = x\n    finally:\n        held[0, 1] = 2.0",
    "one_of_two": "other = held if x > 1.0 else np.zeros((2, 3))\n    other[0, 0] = x",
    "one_of_two_other": "other = held if x < 1.0 else np.zeros((2, 3))\n    other[0, 0] = x",
    "reshaped": "held.reshape(-1)[2] = x",
    "raveled": "part = np.ravel(held)\n    part[4] += x",
    "swapped_rows": "held[0], held[1] = held[1].copy(), held[0].copy()",
    "rows_of_a_loop": "for k, row in enumerate(held):\n        row *= k + x",
    "name_bound_again": "other = held\n    for k in range(2):\n        other[0, 0] += x\n        other = np.zeros((2, 3))",
}  # fmt: skip
#: how the function reaches the array that ``make()`` gives; ``reach()`` gives it to the test
PLACES = {
    "global": "held = make()\ndef f(x):\n    {body}\ndef reach(): return held\n",
    "alias": "there = make()\ndef f(x):\n    held = there\n    {body}\ndef reach(): return there\n",
    "cell": "def outer():\n    held = make()\n    def f(x):\n        {body8}\n    return f, lambda: held\nf, reach = outer()\n",
    "attribute": "class Model: pass\nm = Model()\nm.held = make()\ndef f(x):\n    held = m.held\n    {body}\ndef reach(): return m.held\n",
    "attribute_of_a_class": "class Model: there = make()\ndef f(x):\n    held = Model.there\n    {body}\ndef reach(): return Model.there\n",
    "item_of_a_list": "there = [1.0, make()]\ndef f(x):\n    held = there[1]\n    {body}\ndef reach(): return there[1]\n",
    "item_of_a_dict": "there = {{'k': make()}}\ndef f(x):\n    held = there['k']\n    {body}\ndef reach(): return there['k']\n",
    "item_of_a_tuple": "there = (make(), 1.0)\ndef f(x):\n    held = there[0]\n    {body}\ndef reach(): return there[0]\n",
    "default_of_a_helper": "def g(x, held=make()):\n    {body}\ndef f(x):\n    return g(x)\ndef reach(): return g.__defaults__[0]\n",
    "method": "class Model:\n    def __init__(self): self.held = make()\n    def g(self, x):\n        held = self.held\n        {body8}\n"
    "m = Model()\ndef f(x):\n    return m.g(x)\ndef reach(): return m.held\n",
}
#: a name that the function assigns to is a local one, and ``+=`` is refused of a global or a cell
BINDS_HELD = {(place, "in_place") for place in ("global", "cell")}
END = "return x * x * np.sum(held * np.array([1.0, 2.0, 3.0])) + held[0, 1]"
CASES = [(place, store) for store in STORES for place in PLACES if (place, store) not in BINDS_HELD]


def fresh() -> Any:
    return np.array([[1.0, 2.5, 0.5], [3.0, -1.0, 2.0]])


def program(place: str, store: str, end: str = END) -> str:
    body = f"{store}\n    {end}"
    return "import numpy as np\n" + PLACES[place].format(body=body, body8=body.replace("\n", "\n    "))


def check(place: str, store: str, jit: Any = False, verify: Any = True) -> None:
    """Two calls beside two of plain Python."""
    plain, derived = (module_of(program(place, store), fresh) for _ in range(2))
    gradient = symgrad.value_and_grad(derived["f"], jit=jit, verify=verify)
    for _ in range(2):
        before = plain["reach"]().copy()
        value = plain["f"](POINT)
        after = plain["reach"]().copy()
        ends = []
        for point in (POINT + STEP, POINT - STEP):
            plain["reach"]()[:] = before
            ends.append(plain["f"](point))
        plain["reach"]()[:] = after
        actual, slope = gradient(POINT)
        np.testing.assert_allclose(derived["reach"](), after, rtol=1e-14)
        assert actual == pytest.approx(value, rel=1e-12)
        assert slope == pytest.approx((ends[0] - ends[1]) / (2 * STEP), rel=1e-6, abs=1e-6)


@pytest.mark.sweep(7)
@pytest.mark.parametrize(("place", "store"), CASES)
def test_an_array_from_outside_holds_what_was_stored_in_it(place: str, store: str) -> None:
    check(place, STORES[store])


@pytest.mark.parametrize("store", ["item", "all", "loop", "shifted"])
@pytest.mark.parametrize("verify", [False, "gradient"])
def test_what_is_verified_stores_nothing_twice(store: str, verify: Any) -> None:
    check("global", STORES[store], verify=verify)


@pytest.mark.parametrize("place", ["global", "attribute", "method"])
def test_a_function_that_writes_to_an_array_from_outside_runs_as_numpy_code(place: str) -> None:
    with pytest.warns(symgrad.errors.NotCompiled, match="an array that the function writes to where the caller sees it"):
        check(place, STORES["loop"], jit=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(place, STORES["counter"], jit="auto")


#: the derivatives of a function that stores, and what of them is the value, the slope and its slope
TARGETS = {
    "grad": lambda f: lambda x: {"slope": symgrad.grad(f)(x)},
    "grad of grad": lambda f: lambda x: {"second": symgrad.grad(symgrad.grad(f))(x)},
    "value_and_grad of grad": lambda f: lambda x: dict(zip(("slope", "second"), symgrad.value_and_grad(symgrad.grad(f))(x), strict=True)),
    "vjp": lambda f: lambda x: pulled(*symgrad.vjp(f, x)),
    "compiled": lambda f: lambda x: {"slope": symgrad.grad(f).compiled(x)(x)},
}


def pulled(value: Any, pullback: Any) -> dict[str, Any]:
    """What a pullback gives, asked twice."""
    first, second = pullback(1.0), pullback(1.0)
    assert first == second
    return {"value": value, "slope": first[0] if isinstance(first, tuple) else first}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("store", ["item", "shifted", "read_before", "loop", "branch"])
def test_each_call_of_each_derivative_stores_once(store: str, target: str) -> None:
    plain, derived = (module_of(program("global", STORES[store]), fresh) for _ in range(2))
    derivative = TARGETS[target](derived["f"])
    for _ in range(2):
        before, step = plain["reach"]().copy(), 1e-3
        values = []
        for point in (POINT + step, POINT - step, POINT):
            plain["reach"]()[:] = before
            values.append(plain["f"](point))
        expected = {
            "value": values[2], "slope": (values[0] - values[1]) / (2 * step), "second": (values[0] - 2 * values[2] + values[1]) / step**2,
        }  # fmt: skip
        for word, number in derivative(POINT).items():
            assert number == pytest.approx(expected[word], rel=1e-4)
        np.testing.assert_allclose(derived["reach"](), plain["reach"](), rtol=1e-14)


def test_what_is_stored_before_an_exception_stays() -> None:
    text = "a = make()\ndef f(x):\n    a[0] = x\n    y = 1.0 / (x - x)\n    a[1] = 2.0\n    return y\n"
    module = module_of(text, fresh)
    derived = symgrad.grad(module["f"])
    for point in (POINT, 2.0):
        with pytest.raises(ZeroDivisionError):
            derived(point)
        np.testing.assert_array_equal(module["a"], [[point] * 3, fresh()[1]])


def test_an_array_of_another_kind_holds_what_was_stored_in_it() -> None:
    kinds = [int, bool, "f4", ">f8", complex]
    for kind in kinds:
        module = module_of("a = make()\ndef f(x):\n    a[0, 1] = 3\n    a[1] = a[0]\n    return x * x\n", lambda: fresh().astype(kind))  # noqa: B023
        expected = fresh().astype(kind)
        expected[0, 1], expected[1] = 3, [expected[0, 0], 3, expected[0, 2]]
        assert symgrad.value_and_grad(module["f"])(POINT) == (POINT**2, 2 * POINT)
        np.testing.assert_array_equal(module["a"], expected)
        assert module["a"].dtype == expected.dtype


def test_how_an_array_lies_in_memory_is_part_of_the_code() -> None:
    module = module_of("a = make()\ndef f(x):\n    a.ravel()[1] = x\n    return x * a[0, 1]\n", fresh)
    derived = symgrad.value_and_grad(module["f"])
    assert derived(POINT) == (POINT**2, 2 * POINT)
    module["a"] = np.asfortranarray(fresh())  # ravel gives a copy of it
    assert derived(POINT) == (POINT * 2.5, 2.5)
    np.testing.assert_array_equal(module["a"], fresh())
    module["a"] = fresh()
    assert derived(POINT) == (POINT**2, 2 * POINT)


def test_an_array_that_may_show_the_same_elements_is_refused_and_the_way_out_works() -> None:
    text = "a = make()\ndef f(x):\n    part = a.reshape(3, 2)\n    part[0, 0] = x\n    return x * a[0, 0]\n"
    module = module_of(text, lambda: np.ones((4, 6))[::2, ::2])
    with pytest.raises(UnsureAlias, match="may share memory with a, which the caller sees") as refusal:
        symgrad.grad(module["f"])(POINT)
    assert refusal.value.hint == "write to a itself, by an index, or to a copy of it"
    for follows in ("a[0, 0] = x\n    part = a", "part = a.reshape(3, 2).copy()\n    part[0, 0] = x"):
        plain, derived = (module_of(text.replace("part = a.reshape(3, 2)", follows), lambda: np.ones((4, 6))[::2, ::2]) for _ in range(2))
        assert symgrad.value_and_grad(derived["f"])(POINT)[0] == plain["f"](POINT)
        np.testing.assert_array_equal(derived["a"], plain["a"])


def test_an_array_from_outside_that_is_an_argument_too_is_refused() -> None:
    module = module_of("a = make()\ndef f(x, b):\n    a[0, 0] = x\n    return x * b[0, 0]\n", fresh)
    derived = symgrad.value_and_grad(module["f"])
    assert derived(POINT, fresh()) == (POINT, 1.0)
    with pytest.raises(UnsureAlias, match="share memory, and the function writes to it"):
        derived(POINT, module["a"])
    assert derived(POINT, module["a"].copy()) == (POINT * POINT, POINT)


def test_an_array_from_outside_that_is_stored_in_a_list_is_the_same_array() -> None:
    module = module_of("a = make()\ndef f(x, log):\n    log.append(a)\n    a[0, 0] = x\n    return x * log[0][0, 0]\n", fresh)
    log: list[Any] = []
    assert symgrad.value_and_grad(module["f"])(POINT, log) == (POINT**2, 2 * POINT)
    assert log[0] is module["a"]


def test_arrays_that_were_given_stay_as_they_were() -> None:
    module = module_of("a = make()\ndef f(x, b):\n    a[0] = b[0]\n    b[0] = x\n    return x * b[0, 0]\n", fresh)
    argument = fresh() + 1.0
    assert symgrad.value_and_grad(module["f"])(POINT, argument) == (POINT**2, 2 * POINT)
    np.testing.assert_array_equal(argument, fresh() + 1.0)
    np.testing.assert_array_equal(module["a"], [fresh()[0] + 1.0, fresh()[1]])
