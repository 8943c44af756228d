"""Arrays held by objects among the arguments: stores are visible to the caller."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import NotCompiled, UnsureAlias
from tests.plainly import function_of

HEAD = "import numpy as np\n"
POINT, STEP = 1.5, 1e-6


@dataclass
class Model:
    buf: Any = field(default_factory=lambda: np.array([1.0, 2.5, 0.5]))
    rows: list[Any] = field(default_factory=lambda: [np.zeros(3), np.ones(3)])
    named: dict[str, Any] = field(default_factory=lambda: {"k": np.full(3, 2.0)})
    counts: Any = field(default_factory=lambda: np.zeros(2, int))
    step: int = 0

    def put(self, value: Any) -> None:
        self.step += 1
        self.buf[0] += value


STORES = (
    "m.buf[0] += x", "m.buf[:] = m.buf * x", "m.buf *= x", "np.multiply(m.buf, x, out=m.buf)", "m.rows[0][1] = x", "m.named['k'][0] = x",
    "m.counts[0] += 1", "m.put(x)", "b = m.buf[1:]; b[0] = x", "np.add.at(m.buf, [0, 0], x)", "m.buf.fill(x)", "m.buf[m.buf > 1.0] = x",
    "m.buf = m.buf * x; m.buf[0] = 2.0", "m.rows.append(m.buf); m.buf[0] = x", "m.buf[0] = x; m.step += 1; m.buf[1] = m.step",
)  # fmt: skip
PLACES = {
    "at once": "{store}\nreturn {read}",
    "read before": "y = {read}\n{store}\nreturn y * {read}",
    "branch": "if x > 1.0:\n    {store}\nreturn {read}",
    "loop": "for k in range(3):\n    {store}\nreturn {read}",
    "raise": "{store}\nif x > 0.0:\n    raise ValueError('late')\nreturn {read}",
    "callee": "def g(m, x):\n    {store}\ng(m, x)\nreturn {read}",
}
READ = "x * x * (np.sum(m.buf) + m.rows[0][1] + m.named['k'][0] + m.counts[0])"


def program(store: str, place: str) -> Any:
    lines: list[str] = []
    for line in PLACES[place].splitlines():
        pad = line[: len(line) - len(line.lstrip())]
        lines += [f"{pad}{part.strip()}" for part in store.split(";")] if line.strip() == "{store}" else [line.replace("{read}", READ)]
    return function_of(HEAD + "def f(m, x):\n" + "".join(f"    {line}\n" for line in lines))


def held(model: Model) -> list[Any]:
    """All that a model holds, as numbers."""
    return [*model.buf, *(v for row in model.rows for v in row), *model.named["k"], *model.counts, model.step]


@pytest.mark.sweep(3)
@pytest.mark.parametrize(("place", "store"), [(place, store) for store in STORES for place in PLACES])
def test_an_object_keeps_what_is_stored_in_its_arrays(place: str, store: str) -> None:
    f, plain, own = program(store, place), Model(), Model()
    derived = symgrad.value_and_grad(f, wrt="x")
    for _ in range(2):
        ends = []
        for point in (POINT + STEP, POINT - STEP, POINT):
            model = copy.deepcopy(plain) if point != POINT else plain
            try:
                ends.append(f(model, point))
            except ValueError:
                ends.append(None)
        if ends[2] is None:
            with pytest.raises(ValueError, match="late"):
                derived(own, POINT)
        else:
            value, slope = derived(own, POINT)
            assert value == pytest.approx(ends[2], rel=1e-12)
            assert slope == pytest.approx((ends[0] - ends[1]) / (2 * STEP), rel=1e-6)
        np.testing.assert_allclose(held(own), held(plain), rtol=1e-13)


class Counter:
    def __init__(self) -> None:
        self.total, self.weights = np.zeros(2), np.array([1.0, 2.0])

    def loss(self, x: float) -> Any:
        self.total[0] += x
        return x * self.total[0] * np.sum(self.weights)

    @symgrad.differentiable(wrt="x")
    def cost(self, x: float) -> Any:
        self.total[0] += x
        return x * self.total[0] * np.sum(self.weights)


WAYS = {
    "bound": lambda c: symgrad.value_and_grad(c.loss),
    "declared": lambda c: c.cost.value_and_grad,
    "passed": lambda c: lambda x: symgrad.value_and_grad(Counter.loss, wrt="x")(c, x),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_method_keeps_what_it_stores_in_arrays_of_its_instance(way: str) -> None:
    counter, plain = Counter(), Counter()
    derived = WAYS[way](counter)
    for point in (POINT, 2.0):
        before = plain.total[0]
        assert derived(point) == pytest.approx((plain.loss(point), 3.0 * (before + 2.0 * point)))
        np.testing.assert_array_equal(counter.total, plain.total)


def test_an_array_that_a_gradient_is_asked_for_stays_as_it_was() -> None:
    f = function_of(
        HEAD + "def f(m):\n    m.counts[0] += 1\n    m.buf[0] *= 3.0\n    m.step += 1\n    return np.sum(m.buf) * m.counts[0]\n"
    )
    model = Model()
    for k in (1, 2):
        value, gradient = symgrad.value_and_grad(f)(model)
        assert value == 6.0 * k
        np.testing.assert_array_equal(gradient.buf, [3.0 * k, k, k])
        np.testing.assert_array_equal(model.buf, Model().buf)
        assert (model.step, list(model.counts)) == (k, [k, 0])


def test_a_second_derivative_for_an_array_that_the_first_one_writes_to_is_refused_and_the_way_out_works() -> None:
    text = HEAD + "def f(m, x):\n    {}\n    return x * x * np.sum(m.buf)\n"
    second = symgrad.grad(symgrad.grad(function_of(text.format("m.buf[0] *= 2.0")), wrt="x"), wrt="m")
    with pytest.raises(UnsureAlias, match=r"m\.buf is written to, where the caller sees it") as refusal:
        second(Model(), POINT)
    assert refusal.value.hint == "bind the attribute to a new array instead"
    follows = "m.buf = m.buf * np.array([2.0, 1.0, 1.0])"
    gradient = symgrad.grad(symgrad.grad(function_of(text.format(follows)), wrt="x"), wrt="m")(Model(), POINT)
    np.testing.assert_allclose(gradient.buf, [4.0 * POINT, 2.0 * POINT, 2.0 * POINT])


def test_an_array_of_an_object_that_is_an_argument_too_is_refused() -> None:
    f = function_of(HEAD + "def f(m, x):\n    m.buf[0] = 2.0\n    return np.sum(x * x) * m.buf[0]\n")
    derived, model = symgrad.grad(f, wrt="x"), Model()
    np.testing.assert_array_equal(derived(model, model.buf.copy()), 4.0 * Model().buf)
    with pytest.raises(UnsureAlias, match="are the same array, and the function writes to it") as refusal:
        derived(model, model.buf)
    assert refusal.value.hint == "pass a .copy() of one of the two"


def test_such_a_function_runs_as_numpy_code() -> None:
    f = function_of(HEAD + "def f(m, x):\n    for k in range(3):\n        m.buf[k] += x\n    return x * np.sum(m.buf)\n")
    model = Model()
    with pytest.warns(NotCompiled, match="an array that the function writes to where the caller sees it"):
        symgrad.grad(f, wrt="x", jit=True)(model, POINT)
    np.testing.assert_array_equal(model.buf, Model().buf + POINT)
