"""Programs that tell faults of the frontend which no other fast test told: value and gradient beside differences."""
# ruff: noqa: B007, F841 - the constructs are the point

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from verdicts import Verdicts, check_right

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
    made = Scaled()
    return made.twice(x[0]) * made.scaled(x[1]) + OUTSIDE.twice(x[2]) * OUTSIDE.scaled(x[3]) + Derived().four_times(x[0])


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


@pytest.mark.parametrize("f", VERDICTS.to_be_right, ids=lambda f: f.__name__)
def test_right(f: Any) -> None:
    check_right(f, X, jit=False)
