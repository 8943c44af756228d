"""The comparison with differences itself: accepted functions, depth, detected errors."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import BadArgument
from symgrad.ops.declare import ROWS
from symgrad.testing import check_grads, compare_grads

X = np.array([0.3, 0.5])


@dataclass
class Pair:
    a: Any
    b: float


def number(x, w):
    return np.sum(np.sin(x) * w**3)


def array(x):
    return x * x * x


def nested(x, y):
    return x * y, {"a": x**2 * y, "b": [np.sin(y), 3]}


def of_tree(p, k):
    return np.sum(p["a"] ** 3) * p["b"][1] ** 2 + np.sum(p["b"][0]) * k


def of_keyword(x, *, k=2.0):
    return np.sum(x**3) * k**2


def of_places(x, /, y):
    return x**3 * y**2


def of_record(p):
    return np.sum(p.a**3) * p.b**2


def of_many(*xs):
    return xs[0] ** 2 * xs[1] ** 3


@pytest.mark.sweep(3)
@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize(
    ("function", "args", "words"),
    [
        (number, (X, 1.5), {}),
        (number, (X, 1.5), {"wrt": "w"}),
        (number, (X, 1.5), {"wrt": (1, 0)}),
        (array, (X,), {}),
        (nested, (1.5, 0.5), {}),
        (of_tree, ({"a": X, "b": [X + 1.0, 0.7]}, 2.0), {}),
        (of_keyword, (X,), {"k": 3.0}),
        (of_places, (1.2, 0.7), {}),
        (of_record, (Pair(X, 0.7),), {}),
        (of_many, (1.2, 0.7), {}),
    ],
)
def test_orders_of_what_is_right(function: Any, args: Any, words: Any, order: int) -> None:
    check_grads(function, args, order, **words)


def test_a_wrong_rule_is_found_at_its_order() -> None:
    @symgrad.elementwise(dx="cos(x) + 0 * x")
    def wave(x):
        return np.sin(x)

    @symgrad.elementwise(dx="2.5 * x")
    def square(x):
        return x * x

    @symgrad.custom_vjp
    def cube(x):
        return x**3

    def forward(x):
        return x**3, x

    def backward(x, out_grad):
        return (out_grad * 3.0 * x * symgrad.stop_gradient(x),)

    cube.defvjp(forward, backward)

    check_grads(lambda x: np.sum(wave(x)), (X,), order=3)
    with pytest.raises(AssertionError, match="order 1"):
        check_grads(lambda x: np.sum(square(x)), (X,))
    check_grads(lambda x: np.sum(cube(x)), (X,))
    with pytest.raises(AssertionError, match="order 2"):
        check_grads(lambda x: np.sum(cube(x)), (X,), order=2)


def test_what_is_wrong_is_named_with_its_leaf_mode_and_both_numbers() -> None:
    @symgrad.elementwise(dx="2.5 * x")
    def square(x):
        return x * x

    def loss(p, k):
        return np.sum(p["a"] ** 3) + square(p["b"][1]) * k

    with pytest.raises(AssertionError) as raised:
        check_grads(loss, ({"a": X, "b": [1.0, 2.0]}, 3.0), directions=1)
    _, *lines = str(raised.value).splitlines()
    assert [line.partition(", direction")[0] for line in lines] == ["order 1, forward, p['b'][1]", "order 1, reverse, p['b'][1]"]
    for line in lines:
        got, expected = (float(line.partition(word)[2].split()[0].rstrip(",")) for word in ("got ", "expected "))
        assert got == pytest.approx(1.25 * expected, rel=1e-6)


def test_each_mode_is_checked_by_itself() -> None:
    @symgrad.custom_jvp
    def double(x):
        return 2.0 * x

    @double.defjvp
    def double_jvp(primals, tangents):
        return 2.0 * primals[0], 3.0 * tangents[0]

    for modes in (("forward",), ("reverse",), ("reverse", "forward")):
        with pytest.raises(AssertionError) as raised:
            check_grads(double, (X,), modes=modes, directions=1)
        lines = str(raised.value).splitlines()[1:]
        assert {line.split(", ")[1] for line in lines} == set(modes)


@pytest.mark.parametrize("order", [1, 2])
def test_complex_arguments_and_results(order: int) -> None:
    z = np.array([0.3 + 0.4j, -0.7 + 0.2j])
    check_grads(lambda z, w: z * w * np.exp(z), (z, 1.5), order)
    check_grads(lambda p: np.sum(np.abs(p["z"]) ** 3) * p["r"], ({"z": z, "r": 0.5},), order)
    check_grads(lambda x: np.fft.fft(x)[1] ** 2, (np.array([0.3, 0.5, 0.2]),), order)


def test_single_precision_and_many_leaves() -> None:
    check_grads(array, (X.astype(np.float32),), order=2)
    items = [0.1 * k for k in range(40)]
    check_grads(lambda p: p[0] * p[39] + sum(v**2 for v in p), (items,))

    @symgrad.elementwise(dx="2.5 * x")
    def square(x):
        return x * x

    with pytest.raises(AssertionError, match=r"p\[17\]"):
        check_grads(lambda p: p[0] * p[39] + square(p[17]), (items,), directions=1)


def test_leaves_that_are_complex_are_checked_in_both_modes() -> None:
    def f(p, r):
        return p["z"] * p["c"].conjugate() * r, {"parts": [abs(p["c"]), np.sum(p["z"]).imag]}

    leaves = {"z": np.array([0.9 + 0.4j, -1.3 + 0.8j]), "c": 0.6 - 1.1j}
    comparisons = compare_grads(f, (leaves, 0.7), order=2, directions=1)

    assert all(one.agrees for one in comparisons)
    assert {one.leaf for one in comparisons} == {"p['z']", "p['c']", "r"}
    assert {one.mode for one in comparisons if one.order == 1} == {"forward", "reverse", "forward and reverse"}


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_derivative_that_is_wrong_in_imaginary_directions_is_named(mode, monkeypatch):
    monkeypatch.setitem(ROWS["sin"].partials, "x", "conj(cos(x))")
    leaves = {"z": np.array([0.9 + 0.4j, -1.3 + 0.8j]), "r": 0.5}

    with pytest.raises(AssertionError, match=rf"order 1, {mode}, p\['z'\]") as caught:
        check_grads(lambda p: np.sum(np.abs(np.sin(p["z"]))) * p["r"], (leaves,), modes=(mode,))
    assert "p['r']" not in str(caught.value)


def test_a_complex_step_finds_what_differences_do_not() -> None:
    @symgrad.elementwise(dx="cos(x) * (1 + 1e-7)")
    def wave(x):
        return np.sin(x)

    with pytest.raises(AssertionError, match="complex step"):
        check_grads(lambda x: np.sum(wave(x)), (X,))


def test_a_kink_is_called_one() -> None:
    def edge(x):
        return np.where(x < 1.0, x, 3.0 * x - 2.0)

    with pytest.raises(AssertionError, match="this is a kink"):
        check_grads(edge, (1.0,))
    check_grads(edge, (0.5,))
    check_grads(np.abs, (0.0,))  # the slope that is shared is that of the central difference


def test_arguments_by_name_are_checked() -> None:
    check_grads(of_keyword, (X,), 2, wrt=("k", "x"), k=3.0)
    with pytest.raises(BadArgument, match="no argument is passed for k"):
        check_grads(of_keyword, (X,), wrt="k")
    with pytest.raises(BadArgument, match="names no argument"):
        check_grads(of_keyword, (X,), wrt="w")


@pytest.mark.parametrize(
    "words",
    [{"order": 0}, {"order": 4}, {"directions": 0}, {"args": (2,)}, {"wrt": ()}, {"modes": ()}, {"modes": ("rev",)}, {"modes": "reverse"}],
)
def test_nothing_to_compare_is_no_agreement(words: Any) -> None:
    with pytest.raises(BadArgument):
        check_grads(**{"function": array, "args": (X,), **words})


def stored(x):
    terms = np.zeros(3)
    for i in range(3):
        terms[i] = x[i] ** 2
    return terms.sum()


def test_a_function_that_drops_imaginary_parts_is_compared_with_differences_and_says_nothing() -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        comparisons = compare_grads(stored, (np.array([0.3, 0.5, 0.7]),))
    assert told == []
    assert {one.method for one in comparisons} == {"differences", "the other mode"}
    assert all(one.agrees for one in comparisons)


def none_at_first(x):
    total = 0
    for a in x:
        if a > 0.4:
            total += a * a
    return total


def zero_or_square(x):
    return 0 if x > 1.0 else x * x


@pytest.mark.parametrize(
    ("function", "argument"),
    [(none_at_first, np.array([0.3, 0.2])), (none_at_first, np.array([0.3, 0.7])), (zero_or_square, 2.0), (zero_or_square, 0.5)],
)
def test_functions_that_return_an_integer_on_some_path(function, argument):
    symgrad.check_grads(function, (argument,), order=2, directions=1)


@pytest.mark.parametrize("function", [lambda p: sum(a * a * a for a in p), lambda p: [a * p[0] for a in p]], ids=["number", "list"])
def test_both_modes_of_lists_of_any_length_to_the_second_order(function):
    symgrad.check_grads(function, ([0.1 * k for k in range(12)],), order=2, directions=1)
