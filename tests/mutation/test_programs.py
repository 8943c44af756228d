"""Programs that detect faults of the frontend which no other fast test detects."""
# ruff: noqa: B007, F841 - the constructs are the point

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from verdicts import Verdicts, check_right

import symgrad

X = np.array([0.7, -1.3, 1.9, 0.4])
VERDICTS = Verdicts()
right = VERDICTS.right


@right
def items_between_the_first_and_the_last_two(x):
    a, *b, c, d = [x[0], x[1], x[2], x[3], x[0] * x[1]]
    return a * sum(b) + len(b) * c * d


@right
def no_integer_of_nan(x):
    try:
        k = int(float(x[0]) * float("nan"))
    except ValueError:
        return x[1] * 3.0
    return x[k]


@right
def no_integer_of_infinity(x):
    try:
        k = int(float(x[0]) * float("inf"))
    except OverflowError:
        return x[1] * 3.0
    return x[k]


@right
def left_in_a_branch_before_a_last_block(x):
    total = x[0]
    try:
        if total > 1.5:
            return total * x[1]
        total = total * 2.0
    finally:
        total = total + 1.0
    return total * x[2]


@right
def raised_in_a_round(x):
    total = x[0]
    try:
        for v in x:
            if v > 1.5:
                raise ValueError
            total += v
        total *= 5.0
    except ValueError:
        total *= x[1]
    return total


@right
def raised_where_the_other_branch_returns(x):
    try:
        if x[0] > 0:
            y = 1.0 / (float(x[1]) - float(x[1]))
        else:
            return x[2]
        total = y * 2.0
    except ZeroDivisionError:
        return x[3] * x[0]
    return total


class Scaled:
    scale = 2.0

    @staticmethod
    def twice(v):
        return v * 2.0

    @classmethod
    def scaled(cls, v):
        return v * cls.scale


class Derived(Scaled):
    def four_times(self, v):
        return super().twice(v) * 2.0


OUTSIDE = Scaled()


@right
def methods_of_classes_by_instances(x):
    scaled = Scaled()
    return scaled.twice(x[0]) * scaled.scaled(x[1]) + OUTSIDE.twice(x[2]) * OUTSIDE.scaled(x[3]) + Derived().four_times(x[0])


@right
def a_display_without_items_says_no_places(x):
    return np.sum(np.take(x, []) * 2.0) + np.sum(np.delete(x, []) * x) + np.sum(np.append(x, [])) + np.concatenate([x, []])[0]


@right
def the_way_out_of_a_loop_says_which_word_it_is(x):
    mode, k = "a", 0
    while mode == "a":
        k += 1
        mode = "b" if x[k] > 0 else "a"
    return {"a": 1.0, "b": 2.0}[mode] * x[k]


@right
def lengths_that_are_known_and_that_are_not(x):
    y, rows = np.array([x[0], x[1], x[2]]), np.array([[v * w for w in x] for v in x])
    a, b, c = [x[1]] * len(y)
    return a * b * c * len(rows) + y[len(y) - 1] + len(np.ones((3, 2)) * x[0])


@right
def whether_two_names_are_one_array(x):
    z = x * 1.0
    y = z if x[0] > 0 else x * 2.0
    other = z if x[0] < 0 else x * 2.0
    return (x[0] if y is z else x[1]) * (x[2] if other is z else x[3])


@right
def whether_two_names_are_one_list(x):
    p, q = [x[0]], [x[1]]
    r = p if x[0] > 0 else q
    r.append(x[2])
    return (x[0] if r is p else x[1]) * sum(p) + sum(q) * (x[3] if OUTSIDE is Scaled() else x[2])


@right
def one_of_two_functions_where_it_is_known_which(x):
    chosen = x[3] > 0
    g = np.sin if chosen else np.cos
    if chosen:
        total = 0.0
        for v in x:
            total += g(v)
    else:
        total = g(x[0])
    return total


@pytest.mark.parametrize("f", VERDICTS.to_be_right, ids=lambda f: f.__name__)
def test_right(f: Any) -> None:
    check_right(f, X, jit=False)


def a_while_that_asks_an_array(x):
    y, k = x * 1.0, 0
    while np.sum(y * y) < 50.0:
        y = y * 1.5 + x[k % 4]
        k += 1
    return np.sum(y)


def test_a_while_that_asks_an_array_has_a_kernel() -> None:
    pytest.importorskip("numba")
    check_right(a_while_that_asks_an_array, X, jit=True)
    symgrad.grad(a_while_that_asks_an_array, jit=True)(X)  # it would be told that there is none


def test_what_is_needed_before_a_branch_too_is_reversed_once() -> None:
    def f(x):
        u = np.sin(x[0])
        w = u * u
        if x[1] > 0:
            r = u * 2.0
        else:
            r = x[2]
        return r * w

    derived = symgrad.grad(f)
    check_right(f, X, jit=False)
    assert derived.source(X).count("cos") == 1


def asserted(x):
    total = 0.0
    for i in range(len(x)):
        assert x[i] < 10.0, "large"
        total += x[i] ** 2
    return total


def test_what_is_asserted_holds_in_kernels_too() -> None:
    pytest.importorskip("numba")
    derived = symgrad.value_and_grad(asserted, jit=True, verify=False)

    assert derived(X)[0] == pytest.approx(asserted(X))
    with pytest.raises(AssertionError, match="large"):
        derived(10.0 * X)


def test_what_a_last_block_lets_out_is_raised_in_kernels_too() -> None:
    def f(a, n):
        total = 0.0
        for i in range(n):
            try:
                total += 1.0 / (a - i)
            finally:
                total = total * 2.0
        return total

    pytest.importorskip("numba")
    derived = symgrad.value_and_grad(f, jit=True, verify=False)

    assert derived(0.5, 3)[0] == pytest.approx(f(0.5, 3))
    with pytest.raises(ZeroDivisionError):
        derived(2.0, 3)


def test_a_cotangent_that_one_branch_leaves_undefined_is_a_number() -> None:
    def f(x):
        if x[0] > 0:
            y = x * 2.0
        else:
            z = x * 3.0
        if x[1] > 0:
            total = np.sum(y * y)
        else:
            total = x[2]
        if x[0] > 0:
            total = total + np.sum(y)
        return total

    check_right(f, X, jit=False)
    assert "None" not in symgrad.grad(f).source(X)


def test_an_array_of_one_round_is_kept_without_a_copy() -> None:
    def f(x):
        y = x * 1.0
        total = 0.0
        for i in range(len(x)):
            z = x * y[i]
            v = z[1] * z[1]
            z[1] = v * 2.0
            w = np.sin(z)
            total += np.sum(w * z) * v
            y[i] *= total
        return total * np.sum(y)

    check_right(f, 0.4 * X, jit=False)
    assert "z.copy()" not in symgrad.grad(f).source(X)


def triangles(depth: int) -> Any:
    """Loops in loops, each up to the index of the one around it; the innermost index picks an element."""
    lines = [f"{'    ' * (k + 1)}for i{k} in range({f'i{k - 1}' if k else 'len(x)'}):" for k in range(depth)]
    text = "\n".join(
        ["def f(x):", "    total = x[0]", *lines, f"{'    ' * (depth + 1)}total += x[i{depth - 1}] * x[0]", "    return total"]
    )
    return symgrad.from_source(text + "\n")


@pytest.mark.parametrize(("depth", "proved"), [(3, True), (6, True), (8, False)])
def test_bounds_are_proved_through_some_loops_but_not_through_any_number(depth: int, proved: bool) -> None:
    pytest.importorskip("numba")
    f = triangles(depth)
    derived = symgrad.value_and_grad(f, jit=True, verify=False)

    assert derived(np.arange(1.0, 10.0))[0] == pytest.approx(f(np.arange(1.0, 10.0)))
    assert (derived.source().count("raise ValueError") == 2) == proved


def test_an_array_of_lists_in_lists_knows_how_deep_they_go() -> None:
    def f(x):
        rows = [[v * w for w in x] for v in x]
        return np.sum(np.array(rows)[1:] * x)

    check_right(f, X, jit=False)
    assert "depth=2" in symgrad.grad(f).ir(np.arange(30.0), stage="lowered")
