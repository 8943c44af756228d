"""Plain NumPy functions, grouped by the construct they use, each with sample arguments: what the corpus tests differentiate.

A program is a function as a user would write it; nothing in it knows of derivatives. ``PROGRAMS`` lists
them all, with the sizes at which the arguments are made and what they are differentiated by.
"""
# ruff: noqa: B007, B011, C408, C416, C417, E731, F841, PERF401, PLR1704, PLW2901, RET, SIM, UP032 - the constructs are the point
# mypy: ignore-errors

from __future__ import annotations

import enum
import functools
import itertools
import math
import types
from collections import deque, namedtuple
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Program:
    """A function of the corpus; ``arguments(n)`` makes its arguments at size ``n``."""

    function: Callable[..., Any]
    group: str
    arguments: Callable[[int], tuple[Any, ...]]
    sizes: tuple[int, ...]
    wrt: int | tuple[int, ...]
    second: bool

    @property
    def name(self) -> str:
        return f"{self.group}-{self.function.__name__}"


PROGRAMS: list[Program] = []


def vector(n: int) -> np.ndarray:
    """Distinct numbers between 0.5 and 1.7, in no order.

    >>> vector(3).round(2).tolist()
    [0.86, 1.6, 1.14]
    """
    return 0.5 + 1.2 * ((np.arange(n) * 0.618034 + 0.3) % 1.0)


def signed(n: int) -> np.ndarray:
    """Distinct numbers between -1.1 and 1.1, none near zero."""
    drawn = vector(n) - 1.1
    return drawn + 0.5 * np.sign(drawn)


def matrix(rows: int, columns: int) -> np.ndarray:
    """Distinct numbers as a table."""
    return vector(rows * columns).reshape(rows, columns).copy()


def one_vector(n: int) -> tuple[Any, ...]:
    return (vector(n),)


def two_vectors(n: int) -> tuple[Any, ...]:
    return vector(n), vector(n + 3)[3:].copy()


def one_matrix(n: int) -> tuple[Any, ...]:
    return (matrix(n, 3),)


def square_matrix(n: int) -> tuple[Any, ...]:
    return (matrix(n, n),)


def two_floats(n: int) -> tuple[Any, ...]:
    return 0.7 + 0.01 * n, 1.3


@dataclass(frozen=True)
class Group:
    """Enters the functions it decorates in ``PROGRAMS`` and leaves them as they are."""

    name: str

    def __call__(
        self,
        arguments: Callable[[int], tuple[Any, ...]] = one_vector,
        sizes: tuple[int, ...] = (4, 6),
        wrt: int | tuple[int, ...] = 0,
        second: bool = True,
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def enter(function: Callable[..., Any]) -> Callable[..., Any]:
            PROGRAMS.append(Program(function, self.name, arguments, sizes, wrt, second))
            return function

        return enter


# ------------------------------------------------------------------ assignment

assignment = Group("assignment")


@assignment()
def tuple_targets(x):
    a, b = x[0] * x[1], x[2] + x[3]
    a, b = b * a, a - b
    return a * b


@assignment(sizes=(4, 5))
def starred_target(x):
    first, *rest = [x[0] * 2.0, x[1] * x[1], x[2], x[3]]
    return first * rest[0] + rest[1] * rest[2]


@assignment()
def starred_target_in_the_middle(x):
    first, *middle, last = (x[0], x[1] * x[0], x[2] * x[2], x[3])
    return first * last + middle[0] * middle[1]


@assignment()
def chained_targets(x):
    a = b = c = x * x
    return np.sum(a * b) + c[0]


@assignment()
def chained_targets_stored_through(x):
    a = b = x * x
    b[0] = b[0] * b[1]
    return np.sum(a * a)


@assignment()
def nested_targets(x):
    (a, (b, c)), d = (x[0], (x[1], x[2])), x[3]
    return a * b + c * d * a


@assignment(two_floats, wrt=(0, 1))
def augmented_scalars(x, y):
    a = x
    a += y
    a *= x
    a -= y * y
    a /= x + 2.0
    a **= 2
    return a


@assignment(two_floats, wrt=(0, 1))
def annotated(x, y):
    a: float = x * y
    b: float
    b = a * x
    return a * b


@assignment()
def unpacked_array(x):
    a, b, c, d = x[:4] * 2.0
    return a * b + c * d


@assignment()
def unpacked_rows(x):
    first, second = np.reshape(x[:4], (2, 2)) * x[0]
    return np.sum(first * second)


@assignment()
def rebound_many_times(x):
    a = x * x
    a = a + x
    a = np.sin(a)
    a = a.sum()
    a = a * a
    return a


@assignment()
def swap_of_elements(x):
    y = x * x
    y[0], y[1] = y[1] * y[2], y[0]
    return y[0] * x[0] + y[1] * x[1] * y[3]


@assignment()
def multiple_stores_from_one_value(x):
    y = np.zeros(4)
    z = np.zeros(4)
    y[0] = z[1] = x[0] * x[1]
    return np.sum(y * y) + z[1] * x[2]


@assignment()
def augmented_with_own_value(x):
    y = x * 1.0
    y += y
    y *= y
    return np.sum(y * x)


# ------------------------------------------------------------------ for loops

loops = Group("loops")


@loops()
def accumulates(x):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] ** 3
    return s


@loops()
def product_by_hand(x):
    p = 1.0
    for i in range(len(x)):
        p = p * x[i]
    return p


@loops()
def range_downward(x):
    s = 1.0
    for i in range(len(x) - 1, -1, -1):
        s = s * x[i] + 0.5
    return s


@loops()
def range_with_step(x):
    s = 0.3
    for i in range(0, len(x), 2):
        s = s * s + x[i]
    return s


@loops()
def range_downward_with_step(x):
    s = 0.3
    for i in range(len(x) - 1, 0, -2):
        s = np.sin(s) + x[i] * s
    return s


@loops()
def range_that_is_empty(x):
    s = x[0] * x[1]
    for i in range(5, 2):
        s = s * x[2]
    return s * s


@loops()
def range_with_offset(x):
    s = 1.0
    for i in range(1, len(x)):
        s = s * (x[i] - 0.5 * x[i - 1])
    return s


@loops(lambda n: (vector(n), 3))
def trip_count_by_argument(x, n):
    h = x
    for i in range(n):
        h = np.tanh(h * x + 0.1)
    return np.sum(h)


@loops(lambda n: (vector(n), 0))
def trip_count_of_zero(x, n):
    h = x * x
    for i in range(n):
        h = np.tanh(h)
    return np.sum(h)


@loops()
def over_array(x):
    s = 1.0
    for a in x:
        s = s * a + a
    return s


@loops(one_matrix)
def over_rows(x):
    s = 0.0
    for row in x:
        s = s + np.sum(row) * row[0] * s + row[1]
    return s


@loops()
def over_list(x):
    s = 1.0
    for a in [x[0], x[1] * x[2], x[3]]:
        s = s * a + 0.1
    return s


@loops()
def over_list_of_constants(x):
    s = x[0]
    for k in [0.5, 1.5, 2.0]:
        s = s * k * x[1] + k
    return s


@loops()
def over_tuple_of_arrays(x):
    s = 0.0
    for a in (x, x * x, np.sin(x)):
        s = s + np.sum(a * a)
    return s


@loops()
def with_enumerate(x):
    s = 1.0
    for i, a in enumerate(x):
        s = s + (i + 1) * a * s
    return s


@loops()
def with_enumerate_from_three(x):
    s = 0.0
    for i, a in enumerate(x, 3):
        s = s + a**i
    return s


@loops(two_vectors, wrt=(0, 1))
def with_zip(x, y):
    s = 0.0
    for a, b in zip(x, y):
        s = s * a + b * b
    return s


@loops(two_vectors, wrt=(0, 1))
def zip_with_uneven_lengths(x, y):
    s = 1.0
    for a, b in zip(x, y[1:]):
        s = s * a - b
    return s


@loops(two_vectors, wrt=(0, 1))
def enumerate_of_zip(x, y):
    s = 0.0
    for i, (a, b) in enumerate(zip(x, y)):
        s = s + i * a * b * b
    return s


@loops()
def with_reversed_range(x):
    s = 0.2
    for i in reversed(range(len(x))):
        s = s * x[i] + 1.0
    return s


@loops()
def with_reversed_array(x):
    s = 0.2
    for a in reversed(x):
        s = s * a + 1.0
    return s


@loops()
def nested_triangular(x):
    s = 0.0
    for i in range(len(x)):
        for j in range(i):
            s = s + x[i] * x[j] * x[j]
    return s


@loops()
def nested_three_deep(x):
    s = 1.0
    for i in range(2):
        for j in range(2):
            for k in range(2):
                s = s + 0.1 * s * x[i] * x[j + k]
    return s


@loops()
def carried_integer_index(x):
    j = 0
    s = 1.0
    for i in range(6):
        j = (j * 3 + 1) % 4
        s = s * x[j]
    return s


@loops()
def carried_swap(x):
    a = x[0]
    b = x[1]
    for i in range(4):
        a, b = b, 0.5 * a * b + x[2]
    return a * b


@loops()
def invariant_inside(x):
    s = x * 0.0
    for i in range(3):
        t = np.exp(x) * x
        s = s + t * (i + 1) + s * t
    return np.sum(s)


@loops()
def branch_inside(x):
    s = x[0]
    for i in range(6):
        if s > 1.5:
            s = s * 0.4 * x[1]
        else:
            s = s * s + x[2]
    return s


@loops()
def branch_by_index_inside(x):
    s = 1.0
    for i in range(len(x)):
        if i % 2 == 0:
            s = s * x[i]
        else:
            s = s + x[i]
    return s


@loops()
def variable_read_after_loop(x):
    for i in range(3):
        last = x[i] * x[i]
    return last * last + i


@loops()
def for_else(x):
    s = 1.0
    for i in range(3):
        s = s * x[i]
    else:
        s = s * s
    return s


@loops()
def loop_variable_rebound(x):
    s = 1.0
    for i in range(3):
        i = i + 1
        s = s * x[i]
    return s


@loops()
def array_carried_and_stored(x):
    h = np.zeros(len(x))
    for t in range(3):
        h = np.tanh(x + h)
        h[0] = h[1] * x[0]
    return np.sum(h * h)


@loops()
def scalar_that_becomes_an_array(x):
    s = 0.0
    for i in range(3):
        s = s + x * x[i]
    return np.sum(s * s)


@loops()
def integer_that_becomes_a_float(x):
    s = 0
    for i in range(3):
        s = s + x[i] * x[i]
    return s * s


@loops()
def over_slices(x):
    s = 1.0
    for i in range(1, len(x) - 1):
        s = s + np.sum(x[i - 1 : i + 2]) * s * 0.1
    return s


@loops()
def horner(x):
    r = 0.0
    for c in x[::-1]:
        r = r * 0.7 + c * c
    return r


@loops(lambda n: (vector(n), 0.7))
def sequence_kept_in_a_list(x, w):
    states = [x]
    for t in range(3):
        states.append(np.tanh(w * states[-1] + x))
    return np.sum(states[-1] * states[1])


# ------------------------------------------------------------------ while loops

whiles = Group("while")


@whiles()
def until_large(x):
    s = x[0]
    while s < 20.0:
        s = s * s + x[1]
    return s


@whiles()
def never_entered(x):
    s = x[0]
    while s > 100.0:
        s = s * 0.5
    return s * s


@whiles()
def with_counter(x):
    i = 0
    s = 1.0
    while i < len(x):
        s = s * x[i] + 0.1
        i += 1
    return s


@whiles()
def true_with_break(x):
    s = x[0]
    n = 0
    while True:
        s = s * x[1] + 0.1
        n += 1
        if n > 3:
            break
    return s


@whiles(lambda n: (2.3 + 0.1 * n,))
def newton_square_root(a):
    r = a
    while abs(r * r - a) > 1e-13:
        r = 0.5 * (r + a / r)
    return r


@whiles()
def while_else(x):
    s = x[0]
    while s < 4.0:
        s = s * 1.5 + x[1]
    else:
        s = s * x[2]
    return s


@whiles()
def while_else_with_break(x):
    s = x[0]
    while s < 400.0:
        s = s * 1.5 + x[1]
        if s > 5.0:
            break
    else:
        s = s * 100.0 * x[2]
    return s * s


@whiles()
def while_in_for(x):
    s = 0.1
    for i in range(3):
        t = x[i]
        while t < 3.0:
            t = t * 1.7
        s = s * t + x[i]
    return s


@whiles()
def compound_test(x):
    i = 0
    s = 1.0
    while i < len(x) and s < 2.0:
        s = s * (0.9 + x[i])
        i = i + 1
    return s * s + x[0]


@whiles()
def array_state(x):
    h = x * 1.0
    while np.sum(h * h) > 0.05:
        h = h * 0.5 * np.sin(x)
    return np.sum(h * x)


@whiles()
def walrus_in_test(x):
    s = x[0]
    while (t := s * x[1] + 0.6) < 3.0:
        s = t * 1.2
    return s * t


@whiles()
def stores_in_while(x):
    y = np.zeros(len(x))
    i = 0
    while i < 3:
        y[i] = x[i] * x[i + 1]
        i += 1
    return np.sum(y * y)


@whiles()
def test_that_writes_to_a_copy(x):
    def scaled(y, t):
        y[0] *= t
        return np.sum(y) * t

    s, k = x[1], 0
    while k < 4 and scaled(x.copy(), s) < 50.0:
        k += 1
        s = s * x[2] + x[0]
    return s


@whiles()
def two_whiles_in_a_row(x):
    s = x[0]
    while s < 3.0:
        s = s * 1.5
    while s > 0.5:
        s = s * 0.6 * x[1] ** 0.1
    return s


# ------------------------------------------------------------------ exits

exits = Group("exits")


@exits()
def break_by_index(x):
    s = 0.2
    for i in range(4):
        if i == 2:
            break
        s = s + x[i] * x[i] * s + x[i]
    return s


@exits()
def break_by_data(x):
    s = 1.0
    for a in x:
        s = s * (1.0 + a)
        if s > 5.0:
            break
    return s * s


@exits()
def continue_by_index(x):
    s = 1.0
    for i in range(len(x)):
        if i == 1:
            continue
        s = s * x[i]
    return s


@exits()
def continue_by_data(x):
    s = 0.5
    for a in x:
        if a < 1.0:
            s = s + 0.1 * a
            continue
        s = s * a
    return s


@exits()
def early_return(x):
    if x[0] > 0.5:
        return x[0] * x[1]
    return x[2] * x[3]


@exits()
def early_return_not_taken(x):
    if x[0] > 50.0:
        return x[0] * x[1]
    y = x * x
    return np.sum(y * y)


@exits()
def returns_in_all_branches(x):
    if x[0] > 1.5:
        return x[1]
    elif x[0] > 0.7:
        return x[1] * x[2] * x[0]
    else:
        return x[3]


@exits()
def return_in_loop(x):
    s = 1.0
    for i in range(len(x)):
        s = s * x[i]
        if i == 2:
            return s * s
    return s


@exits()
def return_in_loop_by_data(x):
    s = 0.4
    for a in x:
        s = s * a + 0.5
        if s > 1.4:
            return s * a
    return s


@exits()
def return_in_nested_loop(x):
    s = 0.4
    for i in range(len(x)):
        for j in range(i, len(x)):
            s = s + 0.3 * s * x[i] * x[j]
            if s > 2.0:
                return s * x[j] + i
        s = s * 0.9
    return s


@exits()
def break_in_both_loops(x):
    s = 0.4
    for i in range(len(x)):
        for j in range(len(x)):
            s = s + 0.2 * x[i] * x[j] * s
            if j > i:
                break
        if s > 1.5:
            break
    return s * x[0]


@exits()
def break_under_for_else(x):
    s = 1.0
    for a in x:
        s = s * a
        if s > 1000.0:
            break
    else:
        s = s + x[0] * x[1]
    return s * s


@exits()
def break_taken_under_for_else(x):
    s = 1.0
    for a in x:
        s = s * (a + 1.0)
        if s > 4.0:
            break
    else:
        s = s + 100.0 * x[0]
    return s * s


@exits()
def return_under_both_elses(x):
    y = x * 1.0
    s = x[0]
    for i in range(len(x)):
        y[i] = y[i] * s
        if y[i] < 0.6:
            s = s + 0.1 * y[i]
            continue
        for j in range(i, len(x)):
            y[j] = y[j] + 0.3 * s * x[i]
            if y[j] > 2.4:
                return s * y[j] + j
            s = s * 0.9 + y[j] * 0.1
            if s > 2.2:
                break
        else:
            s = s * 1.1
        if s < -1.0:
            break
    else:
        s = s * s + y[0]
    return s + y.sum() * x[-1]


@exits()
def continue_in_while(x):
    i = 0
    s = 0.5
    while i < len(x):
        i += 1
        if i == 2:
            continue
        s = s * x[i - 1] + 0.3
    return s


@exits()
def return_in_while(x):
    s = x[0]
    while True:
        s = s * 1.3 + x[1]
        if s > 6.0:
            return s * s


@exits()
def store_before_break(x):
    y = x * 1.0
    for i in range(len(x)):
        y[i] = y[i] * y[i - 1]
        if i == 2:
            break
    return np.sum(y * y)


@exits(second=False)
def long_range_left_early(x):
    s = x[0]
    for i in range(10**9):
        s = 0.5 * s + 0.1 * x[1] * s
        if s < 1e-2:
            break
    return s


@exits()
def return_of_different_expressions(x):
    for i in range(len(x)):
        if x[i] > 1.5:
            return x[i] * x[0]
        if x[i] < 0.55:
            return np.sum(x * x)
    return x[0] * x[1] * x[2]


@exits()
def guard_clauses(x):
    if len(x) == 0:
        return 0.0
    if len(x) == 1:
        return x[0]
    return x[0] * x[1] + np.sum(x * x * x)


# ------------------------------------------------------------------ conditions

conditions = Group("conditions")


@conditions()
def if_elif_else(x):
    if x[0] > 2.0:
        r = x[1] * x[1]
    elif x[0] > 0.5:
        r = x[1] * x[2]
    else:
        r = x[3]
    return r * r


@conditions()
def if_without_else(x):
    r = x[0] * x[0]
    if x[1] > 0.9:
        r = r * x[1]
    if x[1] > 900.0:
        r = r * x[2]
    return r


@conditions()
def nested_ifs(x):
    r = 1.0
    if x[0] > 0.5:
        if x[1] > 5.0:
            r = x[2]
        else:
            r = x[2] * x[3] * x[0]
    return r * r


@conditions()
def ternary(x):
    a = x[0] * x[1] if x[0] > 0.5 else x[2]
    return a * a


@conditions()
def nested_ternary(x):
    a = x[0] if x[0] > 5.0 else x[1] * x[2] if x[1] > 0.1 else x[3]
    return a * a * a


@conditions()
def ternary_guards_division(x):
    d = x[0] - x[0]
    r = x[1] / d if d != 0.0 else x[1] * x[2]
    return r * r


@conditions()
def walrus_in_if(x):
    if (s := x[0] * x[1]) > 0.1:
        return s * s
    return s


@conditions()
def comparison_chain(x):
    if 0.0 < x[0] < 1.0 <= x[1]:
        r = x[0] * x[1]
    else:
        r = x[2] * x[3]
    return r * r


@conditions()
def and_or_not(x):
    if x[0] > 0.5 and not x[1] > 100.0 or x[2] < 0.0:
        r = x[0] * x[1]
    else:
        r = x[2]
    return r * r


@conditions()
def and_guards_an_index(x):
    s = 1.0
    for i in range(6):
        if i < len(x) and x[i] > 0.7:
            s = s * x[i]
    return s


@conditions()
def or_chooses_a_value(x):
    k = 0 or 3
    return x[k] * x[0] * x[k]


@conditions()
def boolean_in_a_variable(x):
    large = x[0] > 0.2
    small = not large
    r = x[1] * x[1]
    if large and not small:
        r = r * x[0]
    return r


@conditions()
def array_any_and_all(x):
    if np.any(x > 1.0) and np.all(x > 0.0):
        return np.sum(x * x)
    return np.sum(x)


@conditions()
def test_on_array_method(x):
    if (x > 0.0).all():
        y = x * x
    else:
        y = x
    return (y * x).sum()


@conditions()
def defined_in_one_branch_only(x):
    flag = x[0] > 0.1
    if flag:
        extra = x[1] * x[2]
    r = x[0]
    if flag:
        r = r * extra
    return r


@conditions()
def stores_in_branches(x):
    y = x * 1.0
    if x[0] > 0.2:
        y[0] = y[1] * y[2]
    else:
        y[1] = 0.0
    return np.sum(y * y)


@conditions()
def dead_branch_with_infinity(x):
    r = x[0] * x[0]
    if x[1] < -1.0:
        r = r / (x[0] - x[0]) * x[1]
    return r + x[3] * r


@conditions(lambda n: (vector(n), None))
def comparison_with_none(x, weights):
    if weights is None:
        weights = np.ones(len(x))
    return np.sum(weights * x * x)


@conditions(lambda n: (vector(n), "square"))
def choice_by_string(x, kind):
    if kind == "square":
        y = x * x
    elif kind in ("sine", "wave"):
        y = np.sin(x)
    else:
        y = x
    return np.sum(y * x)


# ------------------------------------------------------------------ stores

stores = Group("stores")


@stores()
def recurrence_in_an_array(x):
    y = np.zeros(len(x))
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = y[i - 1] * x[i] + 0.1
    return np.sum(y * y)


@stores()
def augmented_elements(x):
    y = np.ones(len(x))
    for i in range(len(x)):
        y[i] += x[i] * x[i]
        y[i] *= x[0]
    return np.prod(y)


@stores()
def element_overwritten_repeatedly(x):
    y = x * 1.0
    for t in range(3):
        y[0] = y[0] * y[0] * 0.5 + y[1]
        y[1] = y[1] * y[0] * 0.3
    return np.sum(y * y)


@stores()
def all_augmented_operators(x):
    y = x * 1.0
    y[0] += x[1]
    y[1] -= x[2] * x[0]
    y[2] *= x[3]
    y[3] /= x[0]
    y[0] **= 2
    return np.sum(y * y)


@stores()
def stencil_in_place(x):
    y = x * x
    for t in range(3):
        y[1:-1] = y[1:-1] * (y[:-2] + y[2:]) * 0.3
    return np.sum(y * y)


@stores()
def linear_stencil(x):
    y = x * x
    for t in range(4):
        y[1:-1] = y[1:-1] + 0.1 * (y[:-2] - 2.0 * y[1:-1] + y[2:])
    return np.sum(y * y)


@stores()
def overlapping_shift_right(x):
    y = x * x
    y[1:] = y[:-1] * 2.0
    return np.sum(y * y)


@stores()
def overlapping_shift_left(x):
    y = x * x
    y[:-1] = y[1:]
    return np.sum(y * y * x)


@stores()
def overlapping_reversal(x):
    y = x * x
    y[:] = y[::-1]
    return np.sum(y * x)


@stores()
def overlapping_augmented(x):
    y = x * x
    y[1:] += y[:-1] * y[1:]
    return np.sum(y * y)


@stores()
def scalar_into_slice(x):
    y = x * x
    y[1:3] = x[0] * x[3]
    return np.sum(y * y)


@stores()
def scalar_augments_slice(x):
    y = x * x
    y[1:] *= x[0]
    y[:2] += x[3] * x[3]
    return np.sum(y * y)


@stores()
def constant_into_slice(x):
    y = x * x
    y[1:3] = 0.5
    return np.sum(y * y)


@stores()
def zero_into_elements(x):
    y = x * x
    y[0] = 0
    y[-1] = 0.0
    return np.sum(y * y)


@stores()
def slices_with_step(x):
    y = x * x
    y[::2] = y[::2] * 3.0 * x[::2]
    y[1::2] -= x[0]
    return np.sum(y * y)


@stores()
def negative_step_store(x):
    y = np.zeros(len(x))
    y[::-1] = x * x
    return np.sum(y * x)


@stores()
def negative_indices(x):
    y = x * 1.0
    y[-1] = y[-2] * y[0]
    y[-2] += y[-1]
    return np.sum(y * y)


@stores(one_matrix)
def rows_and_columns(x):
    y = x * x
    y[0] = y[1] * y[0]
    y[:, 1] = y[:, 0] * 2.0
    y[1, 2] = y[0, 0] * x[1, 1]
    return np.sum(y * y)


@stores(one_matrix)
def row_broadcast_into_matrix(x):
    y = np.zeros(x.shape)
    y[:] = x[0] * x[1]
    y[:, :2] += x[1, :2]
    return np.sum(y * y * x)


@stores(one_matrix)
def none_in_the_value(x):
    y = x * 1.0
    y[:] = x[:, 0][:, None] * x[0][None, :]
    return np.sum(y * y)


@stores(lambda n: (vector(n * 6).reshape(n, 2, 3).copy(),))
def ellipsis_store(x):
    y = x * x
    y[..., 0] = y[..., 1] * 2.0
    y[0, ...] *= x[1]
    return np.sum(y * y)


@stores()
def integer_array_store(x):
    y = np.zeros(len(x))
    index = np.array([3, 0, 2])
    y[index] = x[:3] * x[1]
    return np.sum(y * y * x)


@stores()
def integer_array_store_with_repeats(x):
    y = x * 1.0
    index = np.array([0, 0, 2])
    y[index] = x[:3] * x[1:4]
    return np.sum(y * y * x)


@stores()
def integer_array_augmented_with_repeats(x):
    y = x * 1.0
    index = np.array([1, 1, 3])
    y[index] += x[:3] * x[:3]
    return np.sum(y * y)


@stores()
def scalar_into_integer_array(x):
    y = x * x
    y[np.array([0, 2, 2])] = x[1] * x[3]
    return np.sum(y * y)


@stores()
def list_as_index(x):
    y = x * x
    y[[0, 2]] = y[[1, 3]] * x[0]
    return np.sum(y * y)


@stores()
def mask_store_of_constant(x):
    y = x * x
    y[y > 1.0] = 0.0
    return np.sum(y * x)


@stores()
def mask_store_of_values(x):
    y = x * x
    mask = x > 1.0
    y[mask] = x[mask] * 3.0 * y[0]
    return np.sum(y * y)


@stores()
def mask_augmented(x):
    y = x * 1.0
    y[x > 1.0] *= x[0]
    y[x < 1.0] += 2.0 * x[1]
    return np.sum(y * y)


@stores(one_matrix)
def mask_of_rows(x):
    y = x * x
    y[x[:, 0] > 1.0] = x[0] * x[1]
    return np.sum(y * y)


@stores(one_matrix)
def mask_of_two_dimensions(x):
    y = x * x
    y[x > 1.0] *= 0.5
    return np.sum(y * y)


@stores(one_matrix)
def pairs_of_integer_arrays(x):
    y = x * 1.0
    rows, columns = np.array([0, 1, 0]), np.array([2, 0, 1])
    y[rows, columns] = x[0] * x[1, 1]
    y[rows, 0] *= 2.0
    return np.sum(y * y)


@stores(one_matrix)
def integer_and_slice(x):
    y = x * x
    y[1, 1:] = y[0, :-1] * y[1, :2]
    y[:2, -1] += x[0, 0]
    return np.sum(y * y)


@stores(one_matrix)
def integer_array_and_slice(x):
    y = x * x
    y[np.array([1, 0]), 1:] = x[:2, :2] * 2.0 * x[0, 0]
    return np.sum(y * y)


@stores()
def add_at_with_repeats(x):
    y = np.zeros(3)
    np.add.at(y, np.array([0, 2, 0, 1]), x[:4] * x[:4])
    return np.sum(y * y)


@stores(one_matrix)
def triangular_factor_by_hand(x):
    low = np.zeros((3, 3))
    for i in range(3):
        for j in range(i + 1):
            s = x[i, j] + x[j, i]
            for k in range(j):
                s = s - 0.1 * low[i, k] * low[j, k]
            low[i, j] = s
    return np.sum(low * low)


@stores()
def whole_array_augmented(x):
    y = x.copy()
    y += x * x
    y *= 2.0
    y -= x[0]
    y /= x + 1.0
    return np.sum(y * y)


@stores()
def whole_array_by_colon_and_ellipsis(x):
    y = np.empty(len(x))
    y[:] = x * x
    z = np.empty_like(x)
    z[...] = y * x
    return np.sum(y * z)


@stores()
def value_read_before_it_is_overwritten(x):
    y = x * x
    old = y[0]
    y[0] = y[1] * 3.0
    return old * y[0] + np.sum(y * y)


@stores()
def no_identity_removes_an_allocation(x):
    y = x * 1.0
    z = y + 0.0
    y[0] = 0.0
    return np.sum(y * z * x)


@stores()
def index_computed_from_data(x):
    y = x * 1.0
    k = int(np.argmax(x))
    y[k] = y[k] * y[0]
    return np.sum(y * y)


@stores()
def extended_index_loads(x):
    a = x[:, None] * x[None, :]
    return np.sum(a[1:, ::-1] * a[:-1, :]) + a[-1, -2] * a[..., 0].sum()


@stores()
def gather_with_repeats(x):
    index = np.array([0, 1, 1, 3, 1])
    return np.sum(x[index] * x[index] * np.arange(5.0))


@stores()
def gather_by_matrix_of_indices(x):
    index = np.array([[0, 1], [3, 1]])
    return np.sum(x[index] ** 2 * np.array([[1.0, 2.0], [3.0, 4.0]]))


@stores()
def mask_load(x):
    return np.sum(x[x > 1.0] ** 3) * x[0]


@stores()
def store_in_a_loop_over_slices(x):
    y = np.zeros((3, len(x)))
    y[0] = x
    for t in range(1, 3):
        y[t, 1:] = y[t - 1, :-1] * x[1:]
        y[t, 0] = np.sum(y[t - 1])
    return np.sum(y * y)


@stores()
def prefix_sums_in_place(x):
    y = x * x
    for i in range(1, len(x)):
        y[i] += y[i - 1]
    return np.sum(y * y)


# ------------------------------------------------------------------ views

views = Group("views")


@views()
def slice_scaled_in_place(x):
    y = x * 1.0
    v = y[1:3]
    v *= x[0]
    return np.sum(y * y)


@views()
def view_written_base_read(x):
    y = x * 1.0
    v = y[:2]
    v[0] = x[2] * x[3]
    return np.sum(y * y) * y[0]


@views()
def base_written_view_read(x):
    y = x * 1.0
    v = y[1:3]
    y[1] = x[0] * x[3]
    return np.sum(v * v) * y[0]


@views()
def base_and_view_written_by_turns(x):
    y = x * 1.0
    v = y[1:3]
    y[1] *= 2.0
    v[1] = y[1] * x[0]
    y[2] += v[0]
    v += x[3]
    return np.sum(y * y) + np.sum(v * v * v)


@views()
def view_of_a_view(x):
    y = x * 1.0
    v = y[1:]
    w = v[1:]
    w[0] = w[0] * x[0]
    v[0] *= w[0]
    return np.sum(y * y)


@views()
def view_of_a_view_with_step(x):
    y = x * 1.0
    v = y[::-1]
    w = v[::2]
    w *= x[0]
    v[1] = w[0] * w[1]
    return np.sum(y * y * x)


@views()
def overlapping_views(x):
    y = x * 1.0
    a = y[:3]
    b = y[1:4]
    a *= x[0]
    b += a[0]
    a[2] = b[0] * b[2]
    return np.sum(y * y)


@views()
def reshape_is_a_view(x):
    y = x[:4] * 1.0
    m = y.reshape(2, 2)
    m[0, 1] = x[0] * x[3]
    m[1] *= 2.0
    return np.sum(y * y)


@views(one_matrix)
def transpose_is_a_view(x):
    y = x * 1.0
    t = y.T
    t[0] *= x[0, 1]
    t[1, 0] = t[2, 1] * t[0, 0]
    return np.sum(y * y)


@views(one_matrix)
def ravel_is_a_view_of_contiguous(x):
    y = x * 1.0
    r = y.ravel()
    r[1:3] = r[3:5] * x[0, 0]
    return np.sum(y * y)


@views(one_matrix)
def flatten_is_a_copy(x):
    y = x * 1.0
    r = y.flatten()
    r[0] = 100.0
    return np.sum(y * y) + np.sum(r * r)


@views(one_matrix)
def einsum_that_orders_axes_is_a_view(x):
    y = x * 1.0
    t = np.einsum("ij->ji", y)
    t[0] *= x[0, 1]
    np.einsum("ji", y)[1, 0] = t[2, 1] * t[0, 0]
    return np.sum(y * y)


@views(one_matrix)
def ravel_of_a_transpose_is_a_copy(x):
    y = x * 1.0
    r = y.T.ravel()
    r[0] = r[1] * 3.0
    return np.sum(y * y) + np.sum(r * r)


@views(one_matrix)
def row_is_a_view(x):
    y = x * 1.0
    row = y[1]
    row[0] = row[1] * row[2]
    y[1, 1] += row[0]
    return np.sum(y * y)


@views(one_matrix)
def column_is_a_view(x):
    y = x * 1.0
    column = y[:, 0]
    column *= y[:, 1]
    return np.sum(y * y)


@views(one_matrix)
def rows_written_while_iterating(x):
    y = x * 1.0
    for row in y:
        row *= row[0]
    return np.sum(y * y)


@views(one_matrix)
def rows_written_by_index(x):
    y = x * 1.0
    for i in range(len(y)):
        row = y[i]
        row[1:] = row[:-1] * x[0, 0]
    return np.sum(y * y)


@views()
def integer_indexing_copies(x):
    y = x * 1.0
    c = y[np.array([0, 1])]
    c *= 10.0
    return np.sum(y * y) + np.sum(c * c)


@views()
def mask_indexing_copies(x):
    y = x * 1.0
    c = y[x > 1.0]
    c += x[0]
    return np.sum(y * y) + np.sum(c * c)


@views()
def view_taken_before_the_base_is_rebound(x):
    y = x * 1.0
    v = y[:2]
    y = y * x[0]
    v[0] = 5.0 * x[1]
    return np.sum(y * y) + np.sum(v * v)


@views()
def view_with_new_axis(x):
    y = x * 1.0
    v = y[:, None]
    v[0, 0] = y[1] * y[2]
    return np.sum(y * y)


@views()
def view_by_ellipsis(x):
    y = x * 1.0
    v = y[...]
    v *= x[0]
    return np.sum(y * y)


@views()
def zero_dimensional_view(x):
    y = x * 1.0
    v = y[0, ...]
    v += x[1] * x[1]
    return np.sum(y * y)


@views()
def element_is_not_a_view(x):
    y = x * 1.0
    a = y[0]
    a += 10.0
    return np.sum(y * y) * a


@views(one_matrix)
def swapaxes_and_expand_dims(x):
    y = x * 1.0
    v = np.swapaxes(y, 0, 1)
    v[0, 1] = v[1, 0] * x[0, 0]
    w = np.expand_dims(y, 0)
    w[0, 0] *= 2.0
    return np.sum(y * y)


@views(square_matrix)
def diagonal_read_through(x):
    y = x * x
    d = np.diagonal(y)
    y[0, 0] = y[0, 1] * 3.0
    return np.sum(d * d)


@views()
def split_gives_views(x):
    y = x[:4] * 1.0
    a, b = np.split(y, 2)
    a *= b
    return np.sum(y * y)


@views()
def split_of_any_length_gives_views(x):
    y = np.concatenate((x, x * x)) * 1.0
    a, b = np.split(y, 2)
    a *= b
    first, last = np.split(y, [1])
    last += first * y[0]
    return np.sum(y * y) + np.sum(a) ** 2


@views()
def view_written_in_a_loop(x):
    y = np.zeros(len(x) + 2)
    inside = y[1:-1]
    inside[:] = x
    for t in range(3):
        inside *= 0.5
        inside += 0.1 * (y[:-2] + y[2:]) * x
    return np.sum(y * y)


@views()
def view_made_in_a_loop(x):
    y = x * 1.0
    for i in range(len(x) - 1):
        v = y[i : i + 2]
        v *= x[i]
    return np.sum(y * y)


@views()
def view_kept_from_the_round_before(x):
    y = np.zeros((4, len(x)))
    before = x
    s = 0.0
    for t in range(4):
        y[t] = np.tanh(before * x)
        before = y[t]
        s = s + np.sum(before * before)
    return s


@views()
def views_in_a_tuple(x):
    y = x * 1.0
    parts = (y[:2], y[2:])
    parts[0][:] = parts[1][:2] * x[0]
    return np.sum(y * y)


@views(one_matrix)
def flip_is_a_view(x):
    y = x * 1.0
    v = np.flip(y, 0)
    v[0] *= x[1]
    return np.sum(y * y)


# ------------------------------------------------------------------ aliases

aliases = Group("aliases")


@aliases()
def written_through_another_name(x):
    y = x * 1.0
    z = y
    z[0] = z[0] * z[1]
    return np.sum(y * y)


@aliases()
def augmented_through_another_name(x):
    y = x * 1.0
    z = y
    z += x * x
    return np.sum(y * y)


@aliases()
def rebinding_is_not_a_write(x):
    y = x * 1.0
    z = y
    z = z + x
    return np.sum(y * y * z)


@aliases()
def copy_breaks_the_link(x):
    y = x * 1.0
    z = y.copy()
    z[0] = 0.0
    y[1] = x[2] * x[3]
    return np.sum(y * y) + np.sum(z * z)


@aliases()
def numpy_copy_and_array_break_the_link(x):
    y = x * 1.0
    a = np.copy(y)
    b = np.array(y)
    a *= 2.0
    b += x
    return np.sum(y * a * b)


@aliases()
def asarray_is_the_same_object(x):
    y = x * 1.0
    z = np.asarray(y)
    z[0] = x[1] * x[1]
    return np.sum(y * y)


@aliases()
def alias_of_the_argument(x):
    y = x
    z = y * y
    return np.sum(z * x)


@aliases(lambda n: (vector(n), True))
def same_alias_in_both_branches(x, flag):
    y = x * 1.0
    if flag:
        z = y
        z[0] = z[1] * 2.0
    else:
        z = y
        z[1] = z[0]
    return np.sum(y * y)


@aliases()
def alias_through_a_tuple(x):
    y = x * 1.0
    pair = (y, x)
    pair[0][1] = x[0] * x[2]
    return np.sum(y * y)


@aliases()
def alias_through_a_list(x):
    y = x * 1.0
    items = [y, y * 2.0]
    items[0][1] = x[0] * x[2]
    items[1] *= 3.0
    return np.sum(y * y) + np.sum(items[1] * x)


@aliases()
def alias_through_a_function(x):
    def same(a):
        return a

    y = x * 1.0
    z = same(y)
    z[0] = x[1] * x[2]
    return np.sum(y * y)


# ------------------------------------------------------------------ arguments that are written to

arguments = Group("arguments")


@arguments()
def element_of_the_argument(x):
    x[0] = x[0] * x[1]
    x[0] = x[0] * x[0]
    return np.sum(x * x)


@arguments()
def whole_argument_in_place(x):
    x *= x
    x += 1.0
    return np.sum(x * x)


@arguments()
def view_of_the_argument(x):
    v = x[1:3]
    v *= x[0]
    return np.sum(x * x)


@arguments(two_vectors, wrt=(0, 1))
def both_arguments(x, y):
    x[:2] = y[:2] * x[0]
    y *= x
    return np.sum(x * y)


@arguments(lambda n: (vector(n), np.zeros(n)))
def workspace_argument(x, work):
    for i in range(len(x)):
        work[i] = x[i] * x[i - 1]
    return np.sum(work * work)


@arguments(lambda n: (vector(n), np.array([2, 0, 3, 1])))
def permutation_sorted_in_place(x, order):
    y = x[order] * np.arange(4.0)
    order.sort()
    return np.sum(y * x[order])


@arguments(lambda n: (vector(2 * n)[::2],))
def strided_argument_in_place(x):
    x[1:] *= x[:-1]
    return np.sum(x * x)


@arguments(lambda n: (np.asfortranarray(matrix(n, 3)),))
def column_major_argument_in_place(x):
    x[0] *= x[1]
    r = x.ravel()
    return np.sum(r * r * np.arange(1.0, r.size + 1.0))


def add_twice(a, b):
    a += b
    a *= b
    return np.sum(a * b)


@arguments()
def same_array_passed_twice(x):
    y = x * 1.0
    return add_twice(y, y) + np.sum(y)


# ------------------------------------------------------------------ created arrays

creation = Group("creation")


@creation()
def zeros_filled(x):
    y = np.zeros((2, len(x)))
    y[0] = x * x
    y[1] = y[0] * x
    return np.sum(y * y)


@creation()
def empty_filled(x):
    y = np.empty(3)
    y[0] = x[0] * x[1]
    y[1] = y[0] * x[2]
    y[2] = y[1] + y[0] ** 2
    return np.sum(y * y)


@creation()
def full_of_an_active_value(x):
    y = np.full(5, x[0] * x[1])
    y[2] = x[2]
    return np.sum(y * y)


@creation()
def likes(x):
    a = np.zeros_like(x)
    b = np.ones_like(x)
    c = np.full_like(x, 2.0)
    d = np.empty_like(x)
    a += x
    b *= x
    c -= x
    d[:] = a * b * c
    return np.sum(d * d)


@creation()
def array_from_scalars(x):
    y = np.array([x[0] * x[1], x[2], 1.0, x[3] ** 2])
    return np.sum(y * y * np.arange(4.0))


@creation()
def nested_array_from_scalars(x):
    m = np.array([[x[0], x[1] * 2.0], [0.0, x[2] * x[3]]])
    return np.sum(m @ m)


@creation()
def array_from_arrays(x):
    m = np.array([x, x * x, np.sin(x)])
    return np.sum(m * m[::-1])


@creation()
def ranges_and_identity(x):
    t = np.linspace(0.0, 1.0, len(x))
    k = np.arange(len(x))
    e = np.eye(len(x))
    return np.sum((e * 2.0 + 1.0) @ (x * t * k)) * x[0]


@creation()
def array_from_appended_list(x):
    values = []
    for i in range(len(x)):
        values.append(x[i] * x[i - 1])
    y = np.array(values)
    return np.sum(y * y)


@creation()
def array_from_comprehension(x):
    y = np.array([a * a for a in x])
    return np.sum(y * x)


@creation()
def stacked_list(x):
    rows = [x * (i + 1.0) for i in range(3)]
    return np.sum(np.stack(rows) ** 2) + np.sum(np.concatenate(rows) ** 3)


# ------------------------------------------------------------------ buffers

buffers = Group("buffers")


@buffers()
def double_buffer(x):
    a = x * 1.0
    b = np.zeros(len(x))
    for t in range(4):
        b[1:-1] = a[1:-1] * 0.5 + 0.25 * (a[:-2] * a[2:])
        b[0] = a[0]
        b[-1] = a[-1]
        a, b = b, a
    return np.sum(a * a)


@buffers()
def double_buffer_with_temporary(x):
    old = x * 1.0
    new = np.empty_like(x)
    for t in range(3):
        for i in range(len(x)):
            new[i] = np.sin(old[i - 1]) * old[i]
        temporary = old
        old = new
        new = temporary
    return np.sum(old * old)


@buffers()
def triple_buffer_wave(x):
    before = np.zeros(len(x))
    now = x * 1.0
    after = np.zeros(len(x))
    for t in range(4):
        after[1:-1] = 2.0 * now[1:-1] - before[1:-1] + 0.1 * (now[2:] - 2.0 * now[1:-1] + now[:-2]) * now[1:-1]
        before, now, after = now, after, before
    return np.sum(now * now)


@buffers()
def views_taken_before_a_swap(x):
    a = x * 1.0
    b = x * x
    v = a[1:3]
    a, b = b, a
    v *= 2.0
    a[0] = v[0]
    return np.sum(a * a) + np.sum(b * b * b)


@buffers()
def ring_of_rows(x):
    ring = np.zeros((3, len(x)))
    ring[0] = x
    ring[1] = x * x
    for t in range(2, 7):
        ring[t % 3] = np.tanh(ring[(t - 1) % 3] + ring[(t - 2) % 3])
    return np.sum(ring[6 % 3] * x)


@buffers()
def buffer_returned_from_a_function(x):
    def step(source, target):
        target[:] = np.sin(source) * x
        return target, source

    a = x * 1.0
    b = np.zeros(len(x))
    a, b = step(a, b)
    a, b = step(a, b)
    return np.sum(a * a) + np.sum(b)


# ------------------------------------------------------------------ calls

calls = Group("calls")

FACTOR = 1.7
TABLE = np.array([1.0, -2.0, 0.5, 3.0, 0.25, 1.5])


def scaled_square(a, scale=2.0):
    """A function with a default."""
    return a * a * scale


def sum_of_squares(*values):
    total = 0.0
    for v in values:
        total = total + v * v
    return total


def weighted(a, *, weight=1.0, shift=0.0):
    return weight * a * a + shift


def normalise(a):
    """Writes to its argument."""
    a -= np.sum(a) / len(a)
    a *= 2.0


def fill(target, source, start=0):
    for i in range(start, len(source)):
        target[i] = source[i] * source[i - 1]


def power(a, n):
    if n == 0:
        return 1.0
    return a * power(a, n - 1)


def two_results(a):
    return np.sin(a), a * a


def first_large(values, limit):
    for v in values:
        if v > limit:
            return v * v
    return values[0]


@calls()
def function_called_twice(x):
    return scaled_square(x[0]) * scaled_square(x[1])


@calls()
def keyword_and_default(x):
    return scaled_square(x[0], scale=3.0) + scaled_square(scale=x[1], a=x[2])


@calls()
def keyword_only(x):
    return weighted(x[0], weight=x[1]) * weighted(x[2], shift=x[3])


@calls()
def star_parameters(x):
    return sum_of_squares(x[0], x[1], x[2]) * sum_of_squares(x[3])


@calls()
def starred_call(x):
    values = (x[0], x[1])
    return sum_of_squares(*values) * sum_of_squares(*values, x[2])


@calls()
def double_starred_call(x):
    settings = {"weight": x[1], "shift": x[2]}
    return weighted(x[0], **settings) ** 2


@calls()
def takes_keyword_dictionary(x):
    def combine(a, **parts):
        return a * parts["b"] + parts["c"] ** 2

    return combine(x[0], b=x[1], c=x[2])


@calls()
def writes_to_its_argument(x):
    y = x * x
    normalise(y)
    return np.sum(y * y * x)


@calls()
def writes_to_a_view_of_the_caller(x):
    y = x * x
    normalise(y[:3])
    return np.sum(y * y)


@calls()
def fills_a_buffer_of_the_caller(x):
    y = np.zeros(len(x))
    fill(y, x)
    fill(y, y * 1.0, start=2)
    return np.sum(y * y)


@calls()
def recursion_by_count(x):
    return power(x[0], 3) + power(x[1], 2) * x[2]


def tree_sum(a, low, high):
    if high - low == 1:
        return a[low] * a[low]
    middle = (low + high) // 2
    return np.sin(tree_sum(a, low, middle)) + tree_sum(a, middle, high) * a[low]


@calls()
def recursion_on_halves(x):
    return tree_sum(x, 0, len(x))


def collatz_like(a, depth):
    if a > 8.0 or depth > 20:
        return a
    return collatz_like(a * 1.5 + 0.1, depth + 1) * 0.9


@calls()
def recursion_by_data(x):
    return collatz_like(x[0] * x[1], 0)


def is_even_step(a, n):
    return a if n == 0 else np.sin(is_odd_step(a, n - 1))


def is_odd_step(a, n):
    return a * a if n == 0 else 1.3 * is_even_step(a, n - 1)


@calls()
def mutual_recursion(x):
    return is_even_step(x[0], 5) * is_odd_step(x[1], 4)


@calls()
def closure_over_a_local(x):
    k = x[2]

    def inner(a):
        return a * k

    return inner(x[0]) * inner(x[1])


@calls()
def closure_sees_a_later_value(x):
    k = x[2]

    def inner(a):
        return a * k

    first = inner(x[0])
    k = k * x[3]
    return first * inner(x[1])


@calls()
def closure_writes_an_array(x):
    y = x * 1.0

    def scale(i, factor):
        y[i] *= factor

    scale(0, x[1])
    scale(1, y[0])
    return np.sum(y * y)


@calls()
def lambda_in_a_variable(x):
    square = lambda a: a * a + 1.0
    return square(x[0]) * square(x[1])


@calls()
def lambda_with_default(x):
    scale = lambda a, k=2.0: a * k
    return scale(x[0]) * scale(x[1], x[2])


@calls()
def nested_definitions(x):
    def outer(a):
        def inner(b):
            return a * b

        return inner(a) + inner(x[1])

    return outer(x[0]) * outer(x[2])


@calls()
def function_as_an_argument(x):
    def twice(f, a):
        return f(f(a))

    return np.sum(twice(np.sin, x)) + twice(lambda a: a * a, x[0])


@calls()
def function_that_returns_a_function(x):
    def make(k):
        return lambda a: a**2 * k

    f, g = make(x[0]), make(2.0)
    return f(x[1]) * g(x[2])


@calls()
def chosen_function(x):
    f = np.sin if x[0] > 0.1 else np.cos
    return np.sum(f(x) * x)


@calls()
def several_results(x):
    s, q = two_results(x)
    t, r = two_results(s[0])
    return np.sum(s * q) + t * r


@calls()
def early_return_in_a_callee(x):
    return first_large(x, 1.2) * first_large(x * 0.1, 5.0)


@calls()
def call_in_a_loop(x):
    s = 0.3
    for i in range(len(x)):
        s = scaled_square(s, x[i]) + 0.4
    return s


@calls()
def globals_are_read(x):
    return FACTOR * np.sum(x * x * TABLE[: len(x)])


@calls(second=False)
def global_helper_with_constant(x):
    return np.sum(TABLE[: len(x)] * np.exp(x)) / math.pi


@calls(lambda n: (vector(n),))
def default_argument_not_given(x, scale=1.5, shift=None):
    if shift is None:
        shift = x[0]
    return np.sum(scale * x * x) + shift


@calls()
def comprehension_calls_a_function(x):
    parts = [scaled_square(a, x[0]) for a in x]
    return parts[0] * parts[1] + parts[-1]


# ------------------------------------------------------------------ lists, tuples, dicts

containers = Group("containers")


@containers()
def list_display_indexed(x):
    items = [x[0] * x[1], x[2] * x[2], x[3]]
    return items[0] * items[1] + items[-1] * items[0]


@containers()
def list_element_replaced(x):
    items = [x[0], x[1], x[2]]
    items[1] = items[0] * items[2]
    items[0] += x[3]
    return items[0] * items[1] * items[2]


@containers()
def list_appended(x):
    items = []
    for i in range(len(x)):
        items.append(x[i] * x[i])
    return items[0] * items[3] + items[1]


@containers()
def list_appended_under_a_branch(x):
    items = []
    for a in x:
        if a > 1.0:
            items.append(a * a)
    s = 0.5
    for b in items:
        s = s * b + 0.2
    return s + len(items) * x[0] ** 2


@containers()
def list_comprehension(x):
    items = [x[i] * x[i] for i in range(4)]
    return items[0] * items[1] + items[2] * items[3]


@containers()
def comprehension_with_condition(x):
    items = [a * a for a in x if a > 0.9]
    return sum(items) * x[0]


@containers()
def nested_comprehension(x):
    table = [[x[i] * x[j] for j in range(2)] for i in range(3)]
    return table[0][1] * table[2][0] + table[1][1]


@containers()
def comprehension_of_two_loops(x):
    items = [a * b for a in x[:2] for b in x[1:3]]
    return items[0] * items[3] + items[1] * items[2]


@containers()
def generator_summed(x):
    return sum(a * a for a in x) * x[0]


@containers()
def generator_with_zip(x):
    return sum(a * b * b for a, b in zip(x[1:], x[:-1]))


@containers()
def generator_in_maximum(x):
    return max(a * a for a in x) * x[0] + min(a * 2.0 for a in x)


@containers()
def sum_of_list_with_start(x):
    return sum([x[0] * x[1], x[2]], x[3]) ** 2


@containers()
def list_of_arrays(x):
    layers = [x, x * x, np.tanh(x)]
    out = layers[0]
    for layer in layers[1:]:
        out = np.sin(out * layer)
    return np.sum(out)


@containers()
def list_concatenated_and_sliced(x):
    items = [x[0], x[1]] + [x[2] * x[0]]
    tail = items[1:]
    return tail[0] * tail[1] + items[0]


@containers()
def list_popped(x):
    stack = [x[0], x[1] * x[0], x[2]]
    a = stack.pop()
    b = stack.pop()
    return a * b + stack[0] ** 2


@containers()
def list_multiplied(x):
    items = [0.0] * 4
    for i in range(4):
        items[i] = x[i] * x[i - 1]
    return items[0] * items[1] + items[2] * items[3]


@containers()
def list_of_rows_filled(x):
    rows = [np.zeros(len(x)) for _ in range(2)]
    rows[0][:] = x * x
    rows[1][0] = rows[0][1] * x[0]
    return np.sum(rows[0] * x) + np.sum(rows[1] ** 2)


@containers()
def tuple_indexed(x):
    pair = (x[0] * x[1], x[2])
    return pair[0] * pair[1] * pair[-1]


@containers()
def tuple_of_tuples(x):
    t = ((x[0], x[1]), (x[2] * x[2], x[3]))
    (a, b), c = t[0], t[1]
    return a * b * c[0] + c[1]


@containers()
def tuple_carried_through_a_loop(x):
    state = (x[0], x[1])
    for i in range(3):
        state = (state[1] * x[2], state[0] + 0.5 * state[1])
    return state[0] * state[1]


@containers()
def dict_display(x):
    d = {"a": x[0] * x[1], "b": x[2]}
    return d["a"] * d["b"] * d["b"]


@containers()
def dict_entry_replaced(x):
    d = {"a": x[0], "b": x * x}
    d["a"] = d["a"] * x[1]
    d["c"] = np.sum(d["b"])
    d["b"][0] = d["a"]
    return d["a"] * d["c"] + np.sum(d["b"] ** 2)


@containers()
def dict_iterated(x):
    d = {"a": x[0], "b": x[1] * x[2]}
    s = 0.5
    for key in d:
        s = s * d[key] + 0.1
    for key, value in d.items():
        s = s + value * value
    return s + sum(d.values())


@containers()
def dict_by_call(x):
    d = dict(first=x[0] * 2.0, second=x[1])
    return d["first"] * d.get("second") + d.get("third", 1.0) * x[2] ** 2


@containers()
def dict_with_integer_keys(x):
    d = {0: x[0], 1: x[1] * x[2]}
    return d[0] * d[1]


@containers()
def map_and_len(x):
    items = [x[0], x[1], x[2]]
    return items[len(items) - 1] * items[0] + len(x) * x[3] ** 2


# ------------------------------------------------------------------ classes

classes = Group("classes")


class Scale:
    """A class with a method and an attribute."""

    def __init__(self, weight, shift=0.5):
        self.weight = weight
        self.shift = shift

    def apply(self, a):
        return self.weight * a * a + self.shift

    def __call__(self, a):
        return self.apply(a) * 2.0

    @property
    def doubled(self):
        return 2.0 * self.weight

    @staticmethod
    def cube(a):
        return a * a * a


class Accumulator:
    """An object whose state is rebound by its methods."""

    def __init__(self):
        self.total = 0.0
        self.count = 0

    def add(self, a):
        self.total = self.total + a * a
        self.count += 1
        return self

    def mean(self):
        return self.total / self.count


class Shifted(Scale):
    """A subclass that calls its parent."""

    def apply(self, a):
        return super().apply(a) + a


@dataclass
class Pair:
    """A dataclass of the user's."""

    left: Any
    right: Any

    def product(self):
        return self.left * self.right


Point = namedtuple("Point", ["horizontal", "vertical"])


@classes()
def method_of_an_instance(x):
    s = Scale(x[0])
    return s.apply(x[1]) * s.apply(x[2])


@classes()
def attribute_assigned(x):
    s = Scale(x[0])
    s.shift = x[1] * x[2]
    s.weight *= 3.0
    return s.apply(x[3])


@classes()
def instance_called(x):
    s = Scale(x[0], shift=x[1])
    return np.sum(s(x))


@classes()
def property_and_static_method(x):
    s = Scale(x[0] * x[1])
    return s.doubled * Scale.cube(x[2])


@classes()
def state_changed_by_methods(x):
    box = Accumulator()
    for a in x:
        box.add(a)
    return box.mean() * x[0]


@classes()
def inheritance(x):
    return Shifted(x[0]).apply(x[1] * x[2])


@classes()
def dataclass_made_inside(x):
    p = Pair(x[0] * x[1], x[2])
    q = Pair(p.product(), right=x[3])
    return p.product() * q.product()


@classes()
def namedtuple_made_inside(x):
    p = Point(x[0], x[1] * x[2])
    h, v = p
    return p.horizontal * p.vertical + h * v * v


# ------------------------------------------------------------------ statements that carry no derivative

statements = Group("statements")


@statements()
def try_that_raises_nothing(x):
    try:
        r = x[0] * x[1]
    except ValueError:
        r = x[2]
    return r * r


@statements()
def try_else_finally(x):
    r = x[0]
    try:
        r = r * x[1]
    except (ValueError, ZeroDivisionError) as problem:
        r = 0.0
    else:
        r = r * x[2]
    finally:
        r = r + x[3]
    return r * r


@statements()
def formatted_and_printed(x):
    label = f"value {2:d} of {'x'}"
    r = x[0] * x[1]
    print(label, r)
    return r * r


@statements()
def formatted_active_value(x):
    r = x[0] * x[1]
    print(f"{r:.3f}")
    return r * r


@statements()
def asserted(x):
    assert x.ndim == 1
    assert x[0] > 0.0, "positive only"
    return x[0] * np.sum(x)


@statements()
def raised_on_another_path(x):
    if x[0] < 0.0:
        raise ValueError(f"negative: {x[0]}")
    return np.sqrt(x[0]) * x[1]


@statements()
def deleted_names(x):
    a = x * x
    b = a[0] * x[1]
    del a
    a = b * x[2]
    return a * b


@statements()
def pass_and_docstring(x):
    """Does little."""
    if x[0] > 0.0:
        pass
    for i in range(3):
        pass
    return x[0] * x[1]


@statements()
def expression_statements(x):
    x[0] * 3.0
    "a string"
    np.sin(x)
    return x[0] * x[1]


@statements()
def import_inside(x):
    import math as m

    return np.sum(x * x) * m.pi


@statements(lambda n: (vector(n), np.random.default_rng(3)), second=False)
def unused_generator(x, generator):
    return np.sum(x * x)


# ------------------------------------------------------------------ linear algebra

linear = Group("linear")


@linear(lambda n: (matrix(3, n), vector(n)), wrt=(0, 1))
def matrix_times_vector(a, x):
    return np.sum(np.tanh(a @ x))


@linear(lambda n: (matrix(n, 3), vector(n)), wrt=(0, 1))
def vector_times_matrix(a, x):
    return np.sum(np.sin(x @ a))


@linear(lambda n: (matrix(n, 3), matrix(3, n)), wrt=(0, 1))
def matrix_times_matrix(a, b):
    return np.sum(np.sin(a @ b))


@linear(two_vectors, wrt=(0, 1))
def inner_products(x, y):
    return np.dot(x, y) * (x @ x) + np.vdot(x, y) + np.inner(y, y)


@linear(two_vectors, wrt=(0, 1))
def outer_product(x, y):
    return np.sum(np.outer(x, y * y) ** 2)


@linear(lambda n: (matrix(2 * n, 3).reshape(2, n, 3).copy(), matrix(3, 2)), wrt=(0, 1))
def stacked_matmul(a, b):
    return np.sum(np.tanh(a @ b))


@linear(lambda n: (matrix(n, 3), matrix(3, 4)), wrt=(0, 1))
def dot_of_matrices(a, b):
    return np.sum(np.dot(a, b) ** 2) + np.sum(a.dot(b))


@linear(lambda n: (matrix(n, 3), matrix(n, 3)), wrt=(0, 1))
def einsum_forms(a, b):
    return np.sum(np.einsum("ij,kj->ik", a, b) ** 2) + np.einsum("ij,ij->", a, b) ** 2


@linear(lambda n: (matrix(n, 3), matrix(3, 2)), wrt=(0, 1))
def tensordot_form(a, b):
    return np.sum(np.tensordot(a, b, axes=1) ** 2)


@linear(lambda n: (matrix(n, n) + 3.0 * np.eye(n), vector(n)), wrt=(0, 1))
def solve_system(a, b):
    return np.sum(np.linalg.solve(a, b) ** 2)


@linear(lambda n: (matrix(n, n) + 3.0 * np.eye(n),))
def inverse_and_determinant(a):
    return np.sum(np.linalg.inv(a) ** 2) + np.linalg.det(a)


@linear(lambda n: (matrix(n, n) + 3.0 * np.eye(n),))
def log_determinant(a):
    sign, logarithm = np.linalg.slogdet(a)
    return sign * logarithm**2


@linear(lambda n: (matrix(n, n) * 0.3,), sizes=(3, 4))
def cholesky_factor(a):
    s = a @ a.T + 2.0 * np.eye(a.shape[0])
    low = np.linalg.cholesky(s)
    return np.sum(np.log(np.diag(low))) + np.sum(low**3)


@linear()
def norms(x):
    return np.linalg.norm(x) * np.linalg.norm(x.reshape(2, -1))


@linear(square_matrix)
def trace_and_diagonal(a):
    return np.trace(a @ a) + np.sum(np.diag(a) ** 2) * np.sum(np.diag(a[0]))


@linear(square_matrix)
def triangles(a):
    return np.sum(np.triu(a) @ np.tril(a)) + np.sum(np.tril(a, -1) ** 3)


@linear(lambda n: (matrix(n, n), 4))
def matrix_power_by_loop(a, steps):
    m = np.eye(a.shape[0])
    for i in range(steps):
        m = m @ a * 0.3
    return np.sum(m)


@linear(lambda n: (matrix(n, 3), vector(n)), wrt=(0, 1))
def least_squares_residual(a, b):
    normal = a.T @ a + 0.1 * np.eye(3)
    solution = np.linalg.solve(normal, a.T @ b)
    residual = a @ solution - b
    return residual @ residual


# ------------------------------------------------------------------ reductions

reductions = Group("reductions")


@reductions(one_matrix)
def sums_over_axes(x):
    return np.sum(np.sum(x, axis=0) ** 2) + np.sum(x.sum(axis=1) ** 3) + x.sum(axis=(0, 1)) ** 2


@reductions(one_matrix)
def sum_keeps_dimensions(x):
    return np.sum(x / np.sum(x, axis=1, keepdims=True) * x)


@reductions(one_matrix)
def means(x):
    return np.mean(x) * np.sum(np.mean(x, axis=0) ** 2) + np.sum(x.mean(axis=-1, keepdims=True) * x)


@reductions(one_matrix)
def products(x):
    return np.prod(x) + np.sum(np.prod(x, axis=1) * x[:, 0]) + x.prod(axis=0)[1]


@reductions()
def product_with_a_zero(x):
    y = x * 1.0
    y[1] = x[0] - x[0]
    return np.prod(y) + np.sum(x * x)


@reductions(one_matrix)
def extremes(x):
    return np.max(x) * np.min(x) + np.sum(np.max(x, axis=0) ** 2) + np.sum(x.min(axis=1, keepdims=True) * x)


@reductions(one_matrix)
def spread(x):
    return np.var(x) + np.std(x) ** 3 + np.sum(np.var(x, axis=0)) + np.sum(x.std(axis=1, ddof=1))


@reductions(one_matrix)
def cumulative(x):
    return np.sum(np.cumsum(x) ** 2) + np.sum(np.cumsum(x, axis=1) ** 3) + np.sum(x.cumsum(axis=0) * x)


@reductions()
def peak_to_peak(x):
    return np.ptp(x) ** 2 * x[0]


@reductions()
def log_sum_exp(x):
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))


@reductions(one_matrix)
def softmax_by_rows(x):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    p = e / np.sum(e, axis=1, keepdims=True)
    return np.sum(p * p * x)


@reductions()
def built_in_sum_of_an_array(x):
    return sum(x) ** 2 + sum(x * x)


@reductions()
def built_in_extremes(x):
    return max(x[0], x[1]) * min(x[2], x[3], 0.2 * x[0]) + max(x) + min(x) ** 2


@reductions(one_matrix)
def reduction_of_a_view(x):
    return np.sum(x[1:, ::2]) * np.mean(x[:, -1]) ** 2


@reductions()
def sum_with_mask(x):
    return np.sum(x**2 * (x > 1.0)) + np.sum(np.where(x > 1.0, 0.0, x**3))


# ------------------------------------------------------------------ broadcasting

broadcasting = Group("broadcasting")


@broadcasting(lambda n: (vector(n), 0.7), wrt=(0, 1))
def scalar_with_vector(x, w):
    return np.sum(w * x + x**w / w - w)


@broadcasting(lambda n: (matrix(3, n), vector(n)), wrt=(0, 1))
def matrix_with_row(a, x):
    return np.sum(a * x + np.sin(a - x) / x)


@broadcasting(lambda n: (matrix(n, 3), vector(n)), wrt=(0, 1))
def matrix_with_column(a, x):
    return np.sum(a**2 * x[:, None] + np.exp(a / x.reshape(-1, 1)))


@broadcasting(two_vectors, wrt=(0, 1))
def column_with_row(x, y):
    return np.sum(np.reshape(x, (-1, 1)) ** np.reshape(y, (1, -1)))


@broadcasting(lambda n: (matrix(n, 1), matrix(1, 3)), wrt=(0, 1))
def unit_dimensions(a, b):
    return np.sum((a + b) * a / b)


@broadcasting(lambda n: (vector(n), np.array([1.3])), wrt=(0, 1))
def array_of_one_element(x, w):
    return np.sum(x * w) * w[0] + np.sum(x / w)


@broadcasting(lambda n: (vector(n), np.array(1.3)), wrt=(0, 1))
def array_of_no_dimension(x, w):
    return np.sum(x * w * w)


@broadcasting(lambda n: (vector(n), vector(n)[:1].copy()), sizes=(4, 1, 6), wrt=(0, 1))
def extent_that_may_be_one(x, w):
    return np.sum(x * w + w)


@broadcasting(two_vectors, wrt=(0, 1))
def pairwise_distances(x, y):
    d = x[:, None] - y[None, :]
    return np.sum(np.exp(-d * d))


@broadcasting(lambda n: (matrix(n, 3), matrix(2, 3)), wrt=(0, 1))
def pairwise_in_three_dimensions(a, b):
    d = np.sum((a[:, None, :] - b[None, :, :]) ** 2, axis=2)
    return np.sum(np.sqrt(d + 1.0))


@broadcasting(lambda n: (matrix(n, 3), 0.4, vector(3)), wrt=(0, 1, 2))
def everything_at_once(a, s, v):
    return np.mean(np.tanh(a * v + s) * (s - v) ** 2)


@broadcasting()
def broadcast_to_a_shape(x):
    return np.sum(np.broadcast_to(x, (3, len(x))) * np.arange(3.0)[:, None] * x)


@broadcasting(lambda n: (vector(n), 0.7), wrt=(0, 1))
def augmented_with_broadcasting(x, w):
    y = np.outer(x, x)
    y += w
    y *= x
    y -= x[:, None]
    return np.sum(y * y)


# ------------------------------------------------------------------ shapes

shapes = Group("shapes")


@shapes()
def reshaped_and_transposed(x):
    m = np.reshape(x[:4], (2, 2))
    return np.sum(m @ m.T) + np.sum(m.transpose() * m)


@shapes(one_matrix)
def ravel_and_flatten(x):
    return np.sum(x.ravel()[1:] * x.flatten()[:-1]) + np.sum(np.ravel(x.T) * np.ravel(x))


@shapes()
def concatenated(x):
    y = np.concatenate([x * x, x[:2], np.ones(2)])
    return np.sum(y[1:] * y[:-1])


@shapes(one_matrix)
def concatenated_by_columns(x):
    y = np.concatenate((x, x * x[0], x[:, :1]), axis=1)
    return np.sum(y[:, 1:] * y[:, :-1])


@shapes()
def stacks(x):
    a = np.stack([x, x * x], axis=1)
    b = np.vstack([x, x * x[0]])
    c = np.hstack([x, x[:1]])
    return np.sum(a[:, 0] * a[:, 1]) + np.sum(b[0] * b[1]) + np.sum(c * c)


@shapes()
def flipped_and_rolled(x):
    return np.sum(np.flip(x) * x) + np.sum(np.roll(x, 1) * x**2) + np.sum(np.roll(x, -2) * x)


@shapes()
def tiled_and_repeated(x):
    t = np.tile(x, 2)
    r = np.repeat(x, 3)
    return np.sum(t * np.arange(float(len(t))) * t) + np.sum(r[::2] ** 3)


@shapes(one_matrix)
def axes_moved(x):
    c = x[:, :, None] * x[0]
    m = np.moveaxis(c, 0, -1)
    s = np.swapaxes(c, 0, 2)
    return np.sum(m * m[0]) + np.sum(np.squeeze(s[:1]) ** 2) + np.sum(np.transpose(c, (2, 0, 1))[0] * x)


@shapes()
def taken(x):
    return np.sum(np.take(x, np.array([0, 2, 2])) ** 2) * x[1]


@shapes()
def shapes_as_numbers(x):
    n = x.shape[0]
    m = x.size
    return np.sum(x) ** 2 / n + np.sum(x * x) * x.ndim / (m - 1)


@shapes(one_matrix)
def shape_unpacked(x):
    rows, columns = x.shape
    s = 0.0
    for i in range(rows):
        for j in range(columns):
            s = s + x[i, j] ** 2 * (i + 2 * j)
    return s


@shapes()
def differences_and_interpolation_by_slices(x):
    d = x[1:] - x[:-1]
    return np.sum(d * d * d) + np.sum((x[1:] + x[:-1]) * 0.5 * d)


# ------------------------------------------------------------------ kinds of numbers

numbers = Group("numbers")


@numbers(lambda n: (vector(n).astype(np.float32),), second=False)
def single_precision(x):
    return np.sum(np.sin(x) * x)


@numbers(lambda n: (vector(n).astype(np.float32), 0.5), second=False)
def single_precision_with_python_float(x, w):
    y = x * 2.0 + w
    y[1:] *= y[:-1]
    return np.sum(y * y)


@numbers(lambda n: (vector(n).astype(np.float32), 3), second=False)
def single_precision_in_a_loop(x, n):
    h = x
    for i in range(n):
        h = np.tanh(h * x)
    return np.sum(h)


@numbers(lambda n: (vector(n).astype(np.float32), vector(n)), wrt=(0, 1), second=False)
def mixed_precision(x, y):
    return np.sum(x * y * y)


@numbers(lambda n: (np.array(0.3 * n),))
def zero_dimensional(x):
    return x * np.sin(x)


@numbers(lambda n: (np.array(0.3 * n),))
def zero_dimensional_augmented(x):
    y = x
    y += 1.0
    return x * y


@numbers(lambda n: (np.array(0.3 * n),))
def zero_dimensional_stored(x):
    y = np.zeros(())
    y[...] = x * x
    y[()] = y * x
    return y * 2.0


@numbers(lambda n: (np.float64(0.3 * n),))
def numpy_scalar(x):
    y = x
    y += 1.0
    return x * y


@numbers(lambda n: (np.zeros(0),), sizes=(4,), second=False)
def empty_array(x):
    s = 1.0
    for a in x:
        s = s * a
    return np.sum(x * x) + s


@numbers(lambda n: (vector(1),), sizes=(4,))
def array_of_size_one(x):
    y = x * x
    y[1:] = y[:-1]
    return np.sum(y * x) + y[0] * x[-1]


@numbers(lambda n: (vector(n),), sizes=(4, 1, 0, 7))
def any_size(x):
    return np.sum(np.sin(x) * x)


@numbers(lambda n: (vector(n), np.arange(n)))
def integer_array_argument(x, k):
    return np.sum(x[k] ** k * (k // 2) + x * (k % 3))


@numbers(lambda n: (vector(n), vector(n) > 1.0))
def boolean_array_argument(x, mask):
    return np.sum(x[mask] ** 2) + np.sum(x * mask * x[0])


@numbers(lambda n: (vector(n), 3, True))
def python_integers_and_booleans(x, k, flag):
    return np.sum(x**k) * (k // 2) + flag * x[0] ** 2 + (-7 % k) * x[1] ** 2


@numbers()
def integer_arithmetic_of_indices(x):
    s = 0.0
    for i in range(8):
        s = s + x[i // 2] * x[(i * 3) % 4] * (i & 1) + x[i >> 1] ** 2
    return s


@numbers()
def conversions(x):
    a = float(x[0]) * float(x[1])
    n = int(3.7)
    return a * n * abs(-x[2]) + round(2.6) * x[3] ** 2


@numbers(lambda n: (vector(n),), second=False)
def astype_and_back(x):
    y = x.astype(np.float64) * 2.0
    return np.sum(y.astype(float) ** 2)


# ------------------------------------------------------------------ scalars and the math module

scalars = Group("scalars")


@scalars(two_floats, wrt=(0, 1))
def polynomial(x, y):
    return 3.0 * x**2 * y - x * y**3 + x / y - 4.0


@scalars(two_floats, wrt=(0, 1))
def reductions_of_a_number(x, y):
    for k in range(3):
        x = np.sin(x) * y
    z = np.mean(x) + np.max(x)
    for k in range(2):
        y = np.cos(y) * z
    return np.sum(y) * np.prod(x)


@scalars(two_floats, wrt=(0, 1))
def powers(x, y):
    return x**y + y**x + x**2 + y**-1.5 + 2.0**x + pow(x, 3)


@scalars(two_floats, wrt=(0, 1))
def math_functions(x, y):
    return math.sin(x) * math.exp(y) + math.log(x) * math.sqrt(y) - math.tan(x * 0.5) + math.pow(x, y)


@scalars(two_floats, wrt=(0, 1))
def more_math_functions(x, y):
    return math.atan2(y, x) * math.hypot(x, y) + math.tanh(x) * math.cosh(y) + math.asin(x * 0.5) + math.log1p(x) * math.expm1(y)


@scalars(two_floats, wrt=(0, 1))
def error_and_gamma_functions(x, y):
    return math.erf(x) * math.erfc(y) + math.gamma(x + 1.0) + math.lgamma(y + 2.0)


@scalars(two_floats, wrt=(0, 1))
def numpy_functions_on_floats(x, y):
    return np.sin(x) * np.exp(y) + np.log(x) / np.sqrt(y)


@scalars(two_floats, wrt=(0, 1))
def unary_operators(x, y):
    return -x * +y - abs(-x) * (-(-y)) ** 2


@scalars(two_floats, wrt=(0, 1))
def floor_division_and_remainder(x, y):
    return (7.0 * x) % y * x + (x // 0.3) * y**2


@scalars(lambda n: (0.9 + 0.01 * n,))
def one_number(x):
    return x * x * x * math.sin(x)


@scalars(lambda n: (0.9, 5))
def iterated_map(x, n):
    r = 3.1
    for i in range(n):
        x = r * x * (1.0 - 0.3 * x)
    return x


@scalars(two_floats, wrt=1)
def one_argument_of_two(x, y):
    return x * y * y


@scalars(two_floats, wrt=(1, 0))
def arguments_in_other_order(x, y):
    return x * y * y


# ------------------------------------------------------------------ arguments that are trees

trees = Group("trees")


@dataclass
class Parameters:
    """A tree of parameters."""

    weights: np.ndarray
    bias: float = 0.0
    steps: int = 2


@dataclass
class Network:
    """A tree with a tree and a list inside."""

    layers: list[Parameters] = field(default_factory=list)
    scale: float = 1.0


@trees(lambda n: ((vector(n), 0.7), vector(n)), second=False)
def tuple_argument(pair, x):
    w, b = pair
    return np.sum(np.tanh(w * x + b))


@trees(lambda n: ([matrix(3, n), matrix(3, 3)], vector(n)), second=False)
def list_argument(layers, x):
    h = x
    for w in layers:
        h = np.tanh(w @ h)
    return np.sum(h)


@trees(lambda n: ({"w": vector(n), "b": 0.3}, vector(n)), wrt=(0, 1), second=False)
def dict_argument(p, x):
    return np.sum((p["w"] * x + p["b"]) ** 2)


@trees(lambda n: (Parameters(vector(n), 0.2), vector(n)), second=False)
def dataclass_argument(p, x):
    h = x
    for i in range(p.steps):
        h = np.sin(p.weights * h + p.bias)
    return np.sum(h)


@trees(lambda n: (Point(vector(n), 0.3),), second=False)
def namedtuple_argument(p):
    return np.sum(p.horizontal * p.horizontal) * p.vertical


@trees(lambda n: (Network([Parameters(vector(n), 0.1), Parameters(vector(n), 0.4)], 1.2),), second=False)
def nested_tree(net):
    h = net.layers[0].weights * net.scale + net.layers[0].bias
    g = net.layers[1].weights * h + net.layers[1].bias
    return np.sum(g * h)


@trees(lambda n: (vector(n), [1, 2, 3]), second=False)
def list_of_integers(x, steps):
    s = 0.0
    for k in steps:
        s = s + np.sum(x**k)
    return s


@trees(lambda n: ([0.5, 1.5, 0.75],), second=False)
def list_of_floats(values):
    s = 1.0
    for v in values:
        s = s * v + v * v
    return s


# ------------------------------------------------------------------ the vocabulary in context

vocabulary = Group("vocabulary")


@vocabulary()
def exponentials_and_logarithms(x):
    return np.sum(np.exp(-x) + np.exp2(x) * np.expm1(x) + np.log(x) * np.log2(x) - np.log10(x) / np.log1p(x))


@vocabulary()
def roots_and_powers(x):
    return np.sum(np.sqrt(x) * np.cbrt(x) + np.square(x) * np.reciprocal(x + 1.0) + np.power(x, 1.5) + np.float_power(x, 0.5))


@vocabulary(lambda n: (0.4 * signed(n),))
def trigonometric(x):
    return np.sum(np.sin(x) * np.cos(x) + np.tan(x) + np.arcsin(x) * np.arccos(x) + np.arctan(x) + np.arctan2(x, x + 2.0))


@vocabulary(lambda n: (0.4 * signed(n),))
def hyperbolic(x):
    return np.sum(np.sinh(x) * np.cosh(x) + np.tanh(x) + np.arcsinh(x) * np.arccosh(x + 2.0) + np.arctanh(x) + np.hypot(x, 1.0))


@vocabulary(lambda n: (signed(n),))
def piecewise(x):
    return np.sum(np.abs(x) * x**2 + np.sign(x) * x + np.maximum(x, 0.1) ** 2 + np.minimum(x, -0.2 * x**2) + np.fabs(x) ** 3)


@vocabulary(lambda n: (signed(n),))
def steps_and_clips(x):
    return np.sum(np.floor(x) * x**2 + np.ceil(x) * x + np.clip(x, -0.7, 0.7) ** 3 + np.fmax(x, 0.0) * np.fmin(x, 0.3))


@vocabulary(lambda n: (signed(n),))
def where_is_safe(x):
    return np.sum(np.where(x > 0.0, np.sqrt(np.where(x > 0.0, x, 1.0)), x**2) * x)


@vocabulary(two_vectors, wrt=(0, 1))
def log_add_exp_and_remainder(x, y):
    return np.sum(np.logaddexp(x, y) * x + np.mod(5.0 * x, y) * x)


@vocabulary(two_vectors, wrt=(0, 1))
def operator_names(x, y):
    a = np.add(x, y)
    b = np.subtract(a, x * 2.0)
    c = np.multiply(a, b)
    d = np.divide(c, np.negative(y))
    return np.sum(np.true_divide(d, x) ** 2)


@vocabulary(lambda n: (signed(n),))
def relu_network(x):
    h = np.maximum(0.0, x * 2.0 + 0.1)
    return np.sum(h * np.tanh(h) * x)


@vocabulary(lambda n: (signed(n),))
def logistic_loss(x):
    p = 1.0 / (1.0 + np.exp(-x))
    return -np.mean(np.log(p) * 0.3 + np.log(1.0 - p) * 0.7)


@vocabulary(lambda n: (signed(n),))
def masks_as_numbers(x):
    positive = x > 0.0
    both = np.logical_and(positive, x < 1.0)
    return np.sum(positive * x**2 - (~both) * x**3 + (x != 0.0) * x)


@vocabulary(lambda n: (matrix(n, 3),))
def methods_of_arrays(x):
    return x.sum() * x.mean() + x.max() * x.min() + (x.T @ x).trace() + x.clip(0.6, 1.5).sum() ** 2 + x.dot(x[0]).std()


@vocabulary(lambda n: (vector(n),))
def sorted_by_argsort(x):
    order = np.argsort(x)
    return np.sum(x[order] ** 2 * np.arange(len(x)))


@vocabulary(lambda n: (vector(n), 0.01, 20))
def gradient_descent_inside(x, rate, steps):
    w = np.zeros(len(x))
    for i in range(steps):
        w -= rate * (w**3 - x)
    return np.sum(w * w)


@vocabulary(lambda n: (vector(n),))
def moving_average(x):
    s = 0.0
    m = x[0]
    for i in range(1, len(x)):
        m = 0.8 * m + 0.2 * x[i]
        s += (x[i] - m) ** 2
    return np.sqrt(s)


@vocabulary(lambda n: (vector(3), n))
def runge_kutta(y0, steps):
    def slope(y):
        return np.array([y[1], -y[0] * y[2], -0.1 * y[2]])

    y = y0
    h = 0.1
    for i in range(steps):
        a = slope(y)
        b = slope(y + 0.5 * h * a)
        c = slope(y + 0.5 * h * b)
        d = slope(y + h * c)
        y = y + h / 6.0 * (a + 2.0 * b + 2.0 * c + d)
    return np.sum(y * y)


@vocabulary(lambda n: (vector(2), n))
def fixed_point_with_tolerance(p, limit):
    z = 0.0
    for i in range(50):
        new = np.cos(z * p[0]) * 0.5 * p[1]
        if abs(new - z) < 1e-14:
            break
        z = new
    return z * p[0]


@vocabulary(lambda n: (matrix(n, 2),))
def n_body_energy(position):
    energy = 0.0
    for i in range(len(position)):
        for j in range(i + 1, len(position)):
            d = position[i] - position[j]
            energy -= 1.0 / np.sqrt(np.dot(d, d) + 0.1)
    return energy


@vocabulary(lambda n: (vector(n), matrix(n, n) * 0.2), wrt=(0, 1))
def hidden_markov_forward(start, transition):
    alpha = start / np.sum(start)
    total = 0.0
    for t in range(4):
        alpha = alpha @ transition * np.cos(0.1 * t + np.arange(len(alpha)) * 0.2)
        size = np.sum(alpha)
        total += np.log(size)
        alpha = alpha / size
    return total


# ------------------------------------------------------------------ found by hunting: what was once wrong or needlessly refused

regression = Group("found")


@regression()
def array_that_gets_shorter(x):
    y = x
    while y.shape[0] > 1:
        y = y[1:]
    return y[0] ** 2 * x[0]


@regression()
def products_of_neighbours(x):
    while len(x) > 1:
        x = x[1:] * x[:-1]
    return x[0]


@regression(lambda n: (vector(n), {"w": vector(n + 1)}, vector(n + 2)))
def extents_of_like_names(x, p, p_w):
    return np.sum(p["w"]) * np.sum(x) * np.sum(p_w) * np.sum(x * x)


@regression()
def mask_of_an_argument_called_k(k):
    y = k[k > 1.2]
    return np.sum(y) * np.sum(k * k)


@regression()
def entry_of_a_dict_with_another_name(x):
    state = {"p": x[:2] * 1.0, "v": x[2:4] * 1.0}
    p = state["p"]
    for i in range(3):
        state["v"] = state["v"] * 1.5
        state["p"] += state["v"]
    return np.sum(p * p)


@regression()
def rows_of_a_slice_of_a_list(x):
    rows = []
    for i in range(3):
        rows.append(x * i)
    some = rows[1:]
    rows[1][0] = x[3] ** 2
    return np.sum(some[0] * some[1])


@regression()
def item_replaced_while_iterated(x):
    items = [x[0], x[1], x[2]]
    total = 0.0
    for item in items:
        total = total * item + item
        items[2] = total
    return total


@regression()
def items_appended_while_iterated(x):
    items = [x[0], x[1]]
    total = 0.0
    for item in items:
        total += item * item
        if len(items) < 5:
            items.append(item * x[2])
    return total


@regression()
def finally_on_every_way_out(x):
    i = 0
    total = 0.0
    while True:
        i += 1
        if i > 6:
            return total
        try:
            if i % 2:
                continue
            total += x[i % 4] * total + x[0]
        finally:
            total += 0.1 * x[1]


class Doubling:
    def __init__(self, w):
        self.inner = w

    @property
    def w(self):
        return self.inner

    @w.setter
    def w(self, value):
        self.inner = value * 2.0


@regression()
def property_that_is_set(x):
    held = Doubling(x[0])
    held.w = x[1]
    return held.w * x[2]


class Scaled:
    def __init__(self, w):
        self.w = w

    def __add__(self, other):
        return Scaled(self.w + other)

    def __iadd__(self, other):
        self.w = self.w * other
        return self

    def __lt__(self, other):
        return self.w > other.w

    def __eq__(self, other):
        return self.w > other.w

    def __len__(self):
        return 0


@regression()
def operator_in_place_of_a_class(x):
    a = Scaled(x[0])
    b = a
    a += x[1]
    return b.w * x[2] + a.w


@regression()
def truth_and_order_of_instances(x):
    a, b = Scaled(x[0]), Scaled(x[1])
    r = x[0] if a == b else x[1] * x[2]
    if a < b:
        r = r * x[3]
    if a:
        r = x[0]
    return r * x[2]


@regression()
def list_repeated_in_place(x):
    a = [x[0], x[1]]
    b = a
    b *= 2
    a[3] = a[0] * x[2]
    return b[3] * b[1] * len(a)


@regression()
def closures_in_a_list(x):
    functions = []
    for i in range(3):
        functions.append(lambda a, k=i: a * x[k])
    value = x[3]
    for f in functions:
        value = f(value)
    return value


@regression()
def keys_that_are_computed(x):
    sums = {}
    for i, v in enumerate(x):
        sums[i % 2] = sums.get(i % 2, 0.0) + v * v
    return sums[0] * sums[1]


@regression()
def lists_of_lists_filled(x):
    a = [[0.0] * 2 for _ in range(2)]
    for i in range(2):
        for j in range(2):
            a[i][j] = x[i] * x[j + 2]
    return a[0][0] * a[1][1] + a[0][1]


@regression()
def queue_and_stack(x):
    queue = [v for v in x]
    total = 0.0
    while queue:
        total = total * queue.pop(0) + x[1]
    stack = [(x[0], 1)]
    while stack:
        v, depth = stack.pop()
        total += v * depth
        if depth < 3:
            stack.append((v * x[1], depth + 1))
            stack.append((v * x[2], depth + 1))
    return total


@regression()
def sorted_by_exchange(x):
    items = list(x)
    for i in range(len(items)):
        for j in range(len(items) - 1 - i):
            if items[j] > items[j + 1]:
                items[j], items[j + 1] = items[j + 1], items[j]
    return items[0] * items[1] ** 2 + items[3]


class Link:
    def __init__(self, value, after=None):
        self.value = value
        self.after = after


@regression()
def linked_list(x):
    head = None
    for i in range(4):
        head = Link(x[i], head)
    total = 0.0
    while head is not None:
        total = total * x[0] + head.value
        head = head.after
    return total


@regression()
def instance_made_anew_in_a_branch(x):
    v = Scaled(x[0])
    if x[0] > 0.5:
        v = Scaled(x[1] * x[2])
    return v.w * v.w


@regression()
def list_made_anew_in_a_loop(x):
    items = [x[0], x[1], x[2]]
    for i in range(3):
        items = [v * x[3] for v in items]
    return items[0] * items[1]


@regression()
def last_of_a_star(x):
    a, *b, c = x
    return a * c + sum(b)


@regression()
def products_and_combinations(x):
    total = 0.0
    for i, j in itertools.product(range(2), range(2)):
        total += x[i] * x[j + 2]
    for a, b in itertools.combinations(x, 2):
        total += a * b
    return total


@regression()
def any_and_all(x):
    r = x[0] if any(v > 1.5 for v in x) else x[1]
    return r * (x[2] if all([v > 0 for v in x]) else 1.0)


@regression()
def dict_methods(x):
    d = {"a": x[0]}
    d.setdefault("b", x[1])
    d.update(c=x[2] * 2.0)
    a = d.pop("a")
    return d["b"] * d["c"] * a * len(d)


@regression()
def store_in_a_loop_in_a_while(x):
    for i in range(3, -1, -1):
        k = 0
        while k < 2 and x[0] < 5.0:
            k += 1
            x[x > 1.2] = x[2]
    return np.sum(x * x)


# ------------------------------------------------------------------ match

matching = Group("match")


@matching(lambda n: (vector(n), "squares"))
def match_on_a_word(x, how):
    match how:
        case "sum" | "total":
            return np.sum(x)
        case "squares":
            return np.sum(x * x)
        case _:
            raise ValueError(how)


@matching()
def match_on_a_count(x):
    total = 0.0
    for k in range(len(x)):
        match k % 3:
            case 0:
                total = total + x[k]
            case 1:
                total = total * x[k]
            case _:
                if total > 2.0:
                    continue
                total = total - x[k] ** 2
    return total


@matching(one_matrix)
def match_on_a_shape(x):
    match x.shape:
        case (n,):
            return np.sum(x) * n
        case (n, m) if n > 100:
            return np.sum(x) * m
        case (n, m):
            return np.sum(x * x) * n + m


@matching()
def match_with_guards(x):
    total = 0.0
    for pair in zip(x[:-1], x[1:]):
        match pair:
            case (a, b) if a > b:
                total += a * b
            case (a, 0.0):
                total += a
            case (a, b) if a + b > 1.5:
                total += np.sin(a) - b
            case _:
                return total * 2.0
    return total


@matching()
def match_on_structure(x):
    total = 0.0
    for shape in ({"kind": "circle", "r": x[0]}, {"kind": "box", "sides": [x[1], x[2], x[3]]}, {"kind": "box", "sides": [x[0]]}, x[2]):
        match shape:
            case {"kind": "circle", "r": r}:
                total += 3.0 * r * r
            case {"kind": "box", "sides": [first, *others]}:
                total += first * sum(others) + len(others)
            case None | True:
                total += 1.0
            case number:
                total *= number
    return total


class Disc:
    __match_args__ = ("radius",)

    def __init__(self, radius, at):
        self.radius = radius
        self.at = at


@dataclass
class Oblong:
    width: float
    height: float


@matching()
def match_on_a_class(x):
    total = 0.0
    for thing in (Disc(x[0], x[1]), Oblong(x[2], x[3]), Disc(x[1], 0.0)):
        match thing:
            case Disc(r, at=0.0):
                total += r
            case Disc(r, at=at):
                total += r * r * at
            case Oblong(width=a, height=b):
                total += a * b
    return total


# ------------------------------------------------------------------ objects made anew in each round

states = Group("states")


@dataclass
class Motion:
    """A state of the user's; ``step`` gives the next one."""

    pace: float
    place: np.ndarray

    def step(self, push):
        return Motion(self.pace * 0.5 + push * self.place[0], self.place * self.pace)


@dataclass
class Held:
    inner: Motion
    weight: float


@states(sizes=(1, 4))
def state_made_anew(x):
    s = Motion(1.0, x)
    for push in x:
        s = s.step(push)
    return s.pace + np.sum(s.place)


@states()
def state_until(x):
    s = Motion(0.5, x)
    while s.pace < 6.0:
        s = Motion(s.pace * 1.5 + s.place[0] ** 2, s.place + 0.1 * s.pace)
    return s.pace + np.sum(s.place**2)


@states()
def state_written_to(x):
    y = x * 1.0
    s = Motion(1.0, y)
    for i in range(len(x)):
        s.place[0] += x[i]
        s = Motion(s.pace * y[0], s.place * 1.5)
        s.pace += x[i]
    return s.pace + np.sum(y) + np.sum(s.place)


@states()
def states_exchanged(x):
    s, t = Motion(1.0, x * 1.0), Motion(2.0, x * 3.0)
    for i in range(len(x)):
        s, t = t, s
        s.pace += x[i] ** 2
    return s.pace + 3.0 * t.pace * s.place[0]


@states()
def state_of_the_round_before(x):
    s = Motion(1.0, x * 1.0)
    before = Motion(0.0, x * 2.0)
    for i in range(len(x)):
        now = Motion(s.pace * x[i] + before.pace, s.place * 0.5 + before.place)
        before = s
        s = now
    return s.pace + np.sum(before.place * s.place)


@states()
def state_with_exits(x):
    s = Motion(1.0, x * 1.0)
    for v in x:
        if v > 1.5:
            break
        if v > 0.9:
            continue
        s = Motion(s.pace * 2.0 + v, s.place)
        s.pace += 1.0
    return s.pace * np.sum(s.place)


@states()
def states_in_loops_in_loops(x):
    s = Motion(1.0, x * 1.0)
    for i in range(len(x)):
        t = s
        for j in range(2):
            t = Motion(t.pace * x[i] + 0.5 * j, t.place * 0.5)
            t.pace += 1.0
        s = Motion(t.pace + 0.1 * s.pace, t.place + s.place)
    return s.pace + np.sum(s.place)


@states()
def state_in_a_state(x):
    h = Held(Motion(1.0, x), 1.0)
    first = h.inner
    for v in x:
        h = Held(h.inner, h.weight * v)
        h.inner.pace += h.weight
    for v in x:
        h = Held(h.inner.step(v), h.weight + v)
    return h.inner.pace * h.weight + first.pace


@states()
def dict_made_anew(x):
    s = {"sum": 0.0, "scaled": x}
    for v in x:
        s = {"sum": s["sum"] + v * s["scaled"][0], "scaled": s["scaled"] * 0.9}
    return s["sum"] ** 2 + np.sum(s["scaled"])


@states(sizes=(2, 3))
def lists_made_anew(x):
    pair, values = [x[0], x[1]], [v * 1.0 for v in x]
    for v in x:
        pair = [pair[1] * v, pair[0] + pair[1]]
        pair[0] *= 2.0
        values = [v * w + 0.5 for w in values]
    return pair[0] * pair[1] + sum(values)


@states()
def place_in_a_dict(x):
    held = {"now": Motion(1.0, x * 1.0)}
    for v in x:
        held["now"] = Motion(held["now"].pace + v * v, held["now"].place * 0.7)
        held["now"].place[0] += v
    return held["now"].pace * np.sum(held["now"].place)


# ------------------------------------------------------------------ objects of NumPy's that are indexed or called

objects = Group("objects")


@objects()
def rows_joined(x):
    return np.sum(np.r_[x[0], x[1:3], 0:3, np.zeros(2), 2.0 * x] ** 2 * np.arange(len(x) + 8))


@objects()
def columns_joined(x):
    columns = np.c_[x, x * x, np.ones(len(x))]
    return np.sum(columns[:, 0] * columns[:, 1]) + np.sum(columns.T @ columns)


@objects(one_matrix)
def flat_read(x):
    total = x.flat[1] * x.T.flat[1] + np.sum(x.flat[2:] ** 2)
    for a in x.T.flat:
        total = total * 0.9 + a * a
    return total


@objects()
def flat_written(x):
    y = np.zeros((2, len(x) // 2))
    y.flat[:] = x
    y.flat[::2] *= 2.0
    y.flat[[1, 3]] = x[:2] * y[0, 0]
    y.flat[-1] += x[0] ** 2
    return np.sum(y * y * np.arange(1.0, len(x) + 1).reshape(2, -1))


@objects()
def flat_of_columns_written(x):
    y = np.ones((len(x), 3)).T
    y.flat[1] = x[0] * x[1]
    y.flat[[2, 5]] = x[2:4]
    return np.sum(y * y * np.arange(3.0 * len(x)).reshape(3, -1))


@objects()
def put_in_place(x):
    y = np.zeros((3, len(x)))
    y.put([1, -2], x[:2])
    np.put(y, np.array([3, 6]), x[2] * x[3])
    z = x.copy()
    z.put(1, z[0] * z[2])
    return np.sum(y * y) * z[1]


@objects()
def places_that_are_not_zero(x):
    (i,) = (x > 1.0).nonzero()
    table = x.reshape(2, -1)
    rows, columns = np.where(table < 1.2)
    return np.sum(x[i] ** 2) + np.sum(table[rows, columns] ** 3)


def bent(a):
    return a * a if a > 1.0 else 3.0 * a


def mixed(a, b):
    total = 0.0
    for k in range(2):
        total = total + a * np.sin(b) ** k
    return total


bent_everywhere = np.vectorize(bent)
mixed_everywhere = np.vectorize(mixed, otypes=[float])


@objects(one_matrix)
def vectorized_outside(x):
    return np.sum(bent_everywhere(x) ** 2) + bent_everywhere(x[0, 0])


@objects(two_vectors, wrt=(0, 1))
def vectorized_of_two(x, y):
    return np.sum(mixed_everywhere(x, y[0])) + np.sum(mixed_everywhere(x[:, None], y[None, :2]) ** 2)


@objects()
def vectorized_inside(x):
    scaled = np.vectorize(lambda a: a * x[0] + np.cos(a))
    return np.sum(scaled(x) * x)


# ------------------------------------------------------------------ first bound in a loop, of another shape in each round

growing = Group("growing")


@growing()
def the_last_slice(x):
    for i in range(len(x) - 1):
        y = x[: i + 1] * 2.0
    return np.sum(y * y)


@growing()
def the_last_slice_or_an_early_sum(x):
    for i in range(len(x) - 1):
        y = x[: i + 1] * np.sin(x[i])
        if x[i] > 1.4:
            return np.sum(y) * x[-1]
    return np.sum(y * y)


@growing()
def the_last_slice_changed_in_place(x):
    for i in range(len(x) - 1):
        y = x[: i + 1] * 2.0
        y[0] *= x[1]
        z = np.sum(y)
        if z > 4.0:
            break
    return np.sum(y * y) * z


@growing()
def the_last_slice_of_loops_in_loops(x):
    total = 0.0
    for j in range(2):
        for i in range(len(x) - 1):
            y = x[j : i + 1 + j] * (1.0 + total)
        total = total + 0.1 * np.sum(y * y)
        y[0] = total
    return total * np.sum(y)


@growing()
def the_last_mask(x):
    k = 0
    while k < 3:
        chosen = x[x > 0.3 * k] ** 2
        k += 1
    return np.sum(chosen) * chosen[0]


@growing(one_matrix)
def the_last_column_product(x):
    for i in range(x.shape[1]):
        y = np.outer(x[:, i], x[: i + 1, 0])
    return np.sum(y @ y.T)


@growing()
def the_last_slice_read_before_a_branch(x):
    for i in range(len(x)):
        y = x[i // 2 :] * 0.25
    last = y[-1]
    if x[0] > 5.0:
        return last * x[1]
    return last + np.sum(np.sin(y))


@growing()
def returned_from_a_loop_or_after_it(x):
    y = np.full(len(x), 1.0 if x[0] < 0.1 else x[1])
    for i in range(len(x)):
        if x[i] > 50.0:
            return x[i]
        if np.max(y) * i > 3.0:
            return y[i] * x[i]
    return np.sum(np.sin(y) * x)


# ------------------------------------------------------------------ on the way out

leaving = Group("leaving")


class Reweighted:
    def __init__(self, weight, factor):
        self.weight = weight
        self.factor = factor
        self.seen = []

    def __enter__(self):
        self.weight *= self.factor
        return self.weight

    def __exit__(self, kind, value, traceback):
        self.weight /= self.factor**2
        self.seen.append(self.weight)


@leaving()
def with_a_class(x):
    scaled = Reweighted(x[0], x[1])
    with scaled as w:
        y = w * np.sum(x)
    with scaled, np.errstate(all="ignore"):
        y += scaled.weight
    return y * scaled.weight + sum(scaled.seen)


@leaving()
def with_exits_inside(x):
    scaled = Reweighted(x[0], 2.0)
    total = 0.0
    for a in x:
        with scaled as w:
            if a > 1.5:
                return w * a * scaled.weight + total
            if a < 0.9:
                continue
            total += w * a
    return total * scaled.weight


@leaving()
def loop_in_finally(x):
    total = [0.0]
    for i in range(len(x)):
        try:
            if x[i] > 1.3:
                return x[i] * total[0]
        finally:
            for a in x[: i + 1]:
                total[0] = total[0] + a
    return total[0]


@leaving()
def array_returned_and_changed_in_finally(x):
    def scaled(y):
        try:
            return y
        finally:
            for k in range(2):
                y[k] *= x[-1]

    return np.sum(scaled(x * x) ** 2)


# ------------------------------------------------------------------ lists that are filled

filled = Group("filled")


@filled()
def list_of_none(x):
    n = len(x)
    hidden = [None] * (n + 1)
    hidden[0] = x * 0.5
    for t in range(n):
        hidden[t + 1] = np.tanh(hidden[t] * x[t]) + hidden[t]
    return np.sum(hidden[n] * hidden[1])


@filled(sizes=(4, 4))
def list_of_none_at_computed_places(x):
    products = [None] * 4
    for i in range(4):
        products[i] = x[i] * x[i - 1]
    return products[0] * products[3] + products[1] * x[2]


@filled(sizes=(4, 4))
def integers_in_the_list(x):
    squares = [0] * 4
    for i in range(4):
        squares[i] = x[i] * x[i]
    return squares[0] * squares[1] + squares[3]


@filled(sizes=(4, 4))
def memory_of_what_was_computed(x):
    memory = [None] * 4
    total = 0.0
    for i in range(3):
        for k in range(2):
            known = memory[i + k]
            if known is None:
                memory[i + k] = x[i] * (k + 1)
            else:
                total = total + known * x[i]
    return total


@filled(sizes=(4, 4))
def table_of_lists(x):
    table = [[None] * 4 for _ in range(4)]
    for i in range(4):
        for j in range(4):
            above = table[i - 1][j] if i > 0 else 1.0
            table[i][j] = x[i] * x[j] + 0.3 * above
    return table[3][3] * table[2][0]


@filled(sizes=(4, 4))
def partly_filled_list(x):
    rows = [None] * 4
    for i in range(2):
        rows[i] = x * x[i]
    return sum([row.sum() for row in rows if row is not None])


@filled(sizes=(4, 4))
def partly_filled_list_in_a_loop(x):
    total = 0.0
    for k in range(3):
        rows = [None] * 4
        for i in range(2):
            rows[i] = x * x[i + k // 2]
        total = total + sum([row.sum() for row in rows if row is not None]) * total if k else x[0]
    return total


# ------------------------------------------------------------------ random numbers

draws = Group("draws")


@draws()
def drawn_inside(x):
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((3, len(x)))
    return np.sum(np.tanh(noise * x)) + x[0] * rng.uniform() * rng.integers(1, 5)


@draws()
def drawn_in_a_loop(x):
    rng = np.random.RandomState(1)
    price, total = x[0], 0.0
    for step in range(4):
        price = price * np.exp(0.1 * x[1] * rng.randn() - 0.01 * x[2])
        total = total + np.maximum(price - 0.5, 0.0)
    return total


@draws()
def drawn_with_mean_and_width(x):
    rng = np.random.default_rng(2)
    sample = rng.normal(x[0], x[1], size=5)
    return np.mean(sample**2) + rng.uniform(x[0], x[2]) * rng.exponential(x[3]) + np.sum(rng.lognormal(0.1 * x[1], 0.3, 3))


@draws()
def drawn_from_the_module(x):
    np.random.seed(5)
    return np.sum(x * np.random.normal(size=len(x))) + x[0] * np.random.rand() + np.sum(np.random.uniform(0.5, x[1], 3))


@draws()
def shuffled(x):
    rng = np.random.default_rng(3)
    places = np.arange(len(x))
    rng.shuffle(places)
    order = rng.permutation(len(x))
    return np.sum(x[places] * np.arange(len(x))) + np.sum(x[order] ** 2 * np.arange(len(x)))


@draws(lambda n: (vector(n), 7))
def drawn_from_a_seed(x, seed):
    generator = np.random.default_rng(seed)
    return np.sum(x * generator.normal(size=x.shape))


# ------------------------------------------------------------------ names that are bound on some paths only, read on fewer

doubtful = Group("doubtful")


@doubtful()
def bound_in_a_branch_and_read_in_no_round(x):
    if x[0] > 100.0:
        y = x[1:] * x[0]
    total = x[1]
    for i in range(int(x[0] / 100.0)):
        total = total + np.sum(y[1:] * x[0]) * y.shape[0]
    return total * x[2]


@doubtful()
def read_under_the_same_test_again(x):
    large = x[0] > 100.0
    if large:
        y = x[1:] * x[2]
    total = x[1] * x[0]
    for i in range(int(x[0] / 100.0)):
        total = total + np.sum(y[1:] * x[0])
    if large:
        total = total + np.sum(y * y)
    return total


@doubtful()
def bound_in_some_rounds(x):
    total = x[0]
    for i in range(1, len(x)):
        if x[i] < 1.0:
            y = x[: i + 1] * x[0]
            c = np.sin(total * x[i])
        if total > 0.1 and x[i] < 1.0:
            total = total + np.sum(np.sin(y)) * c
    if total < 0.0:
        total = total + np.sum(np.sin(y)) * c * c
    return total


@doubtful()
def bound_in_some_rounds_and_changed(x):
    total = x[0]
    for i in range(1, len(x)):
        if x[i] < 1.0:
            y = x[: i + 1] * x[1]
        if total > 0.1 and x[i] < 1.0:
            total = total + np.sum(np.sin(y)) * 0.1
            y[0] = total
            total = total + np.sum(np.sin(y * x[0])) * 0.1
    return total


@doubtful()
def bound_by_a_loop_that_may_have_no_rounds(x):
    total = x[0]
    for i in range(int(x[0] / 100.0)):
        y = x[: i + 1] * x[1]
        y[0] = total
    if total > 100.0:
        total = total + np.sum(np.sin(y)) * 0.1
        y[0] *= total
        total = total * y[0]
    return total * x[1]


@doubtful()
def last_of_a_loop_in_an_endless_loop(x):
    total = 0.0
    k = 0
    while True:
        k += 1
        if k > 2:
            break
        for i in range(2):
            z = x[: i + 1] * x[-1]
        total += z[-1] ** 2 * total + z[0]
    return total * x[0]


@doubtful()
def bound_in_a_branch_that_returns(x):
    k = 0
    while k < 3:
        k += 1
        if x[0] > 100.0:
            for i in range(2):
                z = x[: i + 1] * x[1]
            return z[-1]
    return x[0] * np.sum(x)


@doubtful()
def swapped_before_a_break(x):
    y = np.sort(x) * x[0]
    z = np.zeros(len(x))
    for a in y:
        y, z = z, y
        if a * x[1] > 1.1:
            break
        if np.min(y) != 2.0:
            y[:] = np.min(y) * x[1]
    return np.sum(y * y * x) + np.sum(np.sin(z))


@doubtful()
def shape_of_a_slice_whose_array_is_stored_to(x):
    x = x.copy()
    for i in range(3):
        z = x[: i + 1] * 0.3 * sum(item if item > 0.2 else 0.1 for item in x[1:])
        for _ in range(3):
            x[x > 0.9] = z[-1]
    return 0.7 * np.sum(x) + np.sum(np.sin(z))


# ------------------------------------------------------------------ arrays of a dtype that is only known when it runs

of_any_dtype = Group("of_any_dtype")


@of_any_dtype()
def element_read_before_a_store(x):
    y = np.full((3, 5), sum(item for item in x))
    corner = y[2, 3]
    y[1:] = x[0]
    return corner * x[1] + np.sum(y)


@of_any_dtype()
def items_read_before_stores(x):
    y = np.full(5, sum(item for item in x))
    total = 0.0
    for a in y:
        y[:] = x[0] * y
        total = total + a * a
    b, c = y[:2]
    y[0] = x[1]
    for (i, d), e in zip(enumerate(y), y[1:]):
        y[i] = 0.5
        y[i + 1] = x[0]
        total = total + d * e + b * c
    return total


# ------------------------------------------------------------------ generators and iterators

iterators = Group("iterators")


def powers_without_end(x):
    k = 0
    while True:
        yield x[k % len(x)] * (k + 1)
        k += 1


def pairs_of_items(items):
    for i in range(len(items)):
        for j in range(i):
            yield items[i], items[j]


def sums_in_place(x):
    total = np.zeros(3)
    for a in x:
        total += a
        yield total


def steps_of_motion(x, n):
    y = x[:2]
    for t in range(n):
        y = y + 0.1 * np.array([y[1], -x[2] * y[0]])
        yield t * 0.1, y


class Squares:
    def __init__(self, x):
        self.x = x

    def __iter__(self):
        for a in self.x:
            yield a * a

    def neighbours(self):
        for k in range(len(self.x) - 1):
            yield self.x[k : k + 2]


@iterators()
def generator_without_end(x):
    total = 0.0
    for power in powers_without_end(x):
        total = total + power * power
        if total > 20.0:
            break
    return total


@iterators()
def return_from_a_generator(x):
    total = 1.0
    for k, power in enumerate(powers_without_end(x)):
        if k == 1:
            continue
        total = total * power
        if total > 3.0:
            return total * total + k


@iterators()
def generator_of_pairs(x):
    total = 0.0
    for k, (a, b) in enumerate(pairs_of_items(x), 1):
        total += k * a * b**2
        last = a
    return total * last + sum(a * b for a, b in pairs_of_items(x))


@iterators()
def generator_that_changes_what_it_yields(x):
    total = 0.0
    for part in sums_in_place(x):
        total = total + np.sum(part * part)
    return total + np.sum(sum(sums_in_place(x)) ** 2)


@iterators()
def generator_of_states(x):
    total = 0.0
    for t, y in steps_of_motion(x, 5):
        total += t * y[0] ** 2
    return total + y[1]


@iterators()
def generator_from_generators(x):
    def twice(items):
        yield from items
        yield from items

    def positive():
        for a in twice(x):
            if a > 1.5:
                return
            yield a * a

    return sum(positive()) + np.sum(np.array(list(twice(x))) ** 2)


@iterators()
def instance_that_iterates(x):
    product = 1.0
    for a in Squares(x):
        product = product * a
    return product + sum(np.sum(pair) ** 2 for pair in Squares(x).neighbours())


@iterators()
def loops_of_itertools(x):
    n = len(x)
    total = 0.0
    for i, j in itertools.combinations(range(n), 2):
        total += (x[i] - x[j]) ** 4
    for a, b in itertools.product(x, x[:2]):
        total += a * b**2
    for a in itertools.chain(x[:2], x[1:]):
        total = total * 0.9 + a * a
    return total + sum((b - a) ** 2 * a for a, b in itertools.pairwise(x)) + sum(a * b * a for a, b in itertools.combinations(x, 2))


@iterators()
def values_of_itertools(x):
    totals = list(itertools.accumulate(x, lambda a, b: a * b + 0.1))
    total = totals[-1] + sum(itertools.accumulate(x)) * x[0] + sum(itertools.takewhile(lambda a: a < 1.5, x)) ** 2
    total += sum(itertools.islice(x, 2)) ** 2 + sum(itertools.starmap(lambda a, b: a * b**2, zip(x, x[::-1])))
    total += sum(filter(lambda a: a > 0.8, x)) ** 2
    for k in itertools.count():
        if k >= 3:
            break
        total += x[k] ** 2 * k
    return total


@iterators()
def queue_of_items(x):
    waiting = deque()
    for a in x:
        waiting.append(a * a)
    first = waiting.popleft()
    total = first
    while waiting:
        total = total * 0.5 + waiting.popleft() * first
    return total


@iterators()
def moving_window(x):
    window = deque([0.0, 0.0, x[0]], maxlen=3)
    total = 0.0
    for a in x:
        window.append(a)
        total = total + (window[0] + window[2]) ** 2 / len(window)
    return total


# ------------------------------------------------------------------ more that is kept than fits on a page

long = Group("long")


@long()
def seventy_values_kept(x):
    a, b = x[0], x[1]
    a = np.sin(a * b + 0.00)
    b = np.cos(b * a)
    a = np.sin(a * b + 0.01)
    b = np.cos(b * a)
    a = np.sin(a * b + 0.02)
    b = np.cos(b * a)
    a = np.sin(a * b + 0.03)
    b = np.cos(b * a)
    a = np.sin(a * b + 0.04)
    b = np.cos(b * a)
    a = np.sin(a * b + 0.05)
    b = np.cos(b * a)
    a = np.sin(a * b + 0.06)
    b = np.cos(b * a)
    a = np.sin(a * b + 0.07)
    b = np.cos(b * a)
    a = np.sin(a * b + 0.08)
    b = np.cos(b * a)
    a = np.sin(a * b + 0.09)
    b = np.cos(b * a)
    a = np.sin(a * b + 0.10)
    b = np.cos(b * a)
    a = np.sin(a * b + 0.11)
    b = np.cos(b * a)
    a = np.sin(a * b + 0.12)
    b = np.cos(b * a)
    a = np.sin(a * b + 0.13)
    b = np.cos(b * a)
    a = np.sin(a * b + 0.14)
    b = np.cos(b * a)
    a = np.sin(a * b + 0.15)
    b = np.cos(b * a)
    a = np.sin(a * b + 0.16)
    b = np.cos(b * a)
    a = np.sin(a * b + 0.17)
    b = np.cos(b * a)
    a = np.sin(a * b + 0.18)
    b = np.cos(b * a)
    a = np.sin(a * b + 0.19)
    b = np.cos(b * a)
    a = np.sin(a * b + 0.20)
    b = np.cos(b * a)
    a = np.sin(a * b + 0.21)
    b = np.cos(b * a)
    a = np.sin(a * b + 0.22)
    b = np.cos(b * a)
    a = np.sin(a * b + 0.23)
    b = np.cos(b * a)
    a = np.sin(a * b + 0.24)
    b = np.cos(b * a)
    a = np.sin(a * b + 0.25)
    b = np.cos(b * a)
    a = np.sin(a * b + 0.26)
    b = np.cos(b * a)
    a = np.sin(a * b + 0.27)
    b = np.cos(b * a)
    a = np.sin(a * b + 0.28)
    b = np.cos(b * a)
    a = np.sin(a * b + 0.29)
    b = np.cos(b * a)
    a = np.sin(a * b + 0.30)
    b = np.cos(b * a)
    a = np.sin(a * b + 0.31)
    b = np.cos(b * a)
    a = np.sin(a * b + 0.32)
    b = np.cos(b * a)
    a = np.sin(a * b + 0.33)
    b = np.cos(b * a)
    a = np.sin(a * b + 0.34)
    b = np.cos(b * a)
    return a * b * np.sum(x)


# ------------------------------------------------------------------ functions and instances made of others

made_of_others = Group("made_of_others")


def power_of(k, a, p=2):
    return k * a**p


@made_of_others()
def partial_inside(x):
    cubed = functools.partial(power_of, x[0], p=3)
    return cubed(x[1]) + cubed(x[2], p=2)


@made_of_others()
def decorated_inside(x):
    def scaled(k):
        def around(f):
            @functools.wraps(f)
            def inner(*args):
                return k * f(*args)

            return inner

        return around

    @scaled(x[3])
    @scaled(2.0)
    def square(a):
        return a * a

    return square(x[0]) + square(x[1]) * x[2]


@made_of_others()
def ordered_by_keys(x):
    down = sorted(x, key=lambda a: -a)
    order = sorted(range(len(x)), key=lambda i: x[i], reverse=True)
    best = max(range(len(x)), key=lambda i: x[i] * (i + 1))
    held = list(x)
    held.sort()
    return down[0] * 3 + down[1] * down[2] + x[order[0]] * 5 + x[best] ** 2 + held[0] * held[1] + min(x, key=lambda a: (a - 1.0) ** 2)


@made_of_others()
def reduced_without_start(x):
    return functools.reduce(lambda a, b: a * b + a, x) + max([a for a in x], default=0.0) ** 2


@made_of_others()
def written_where_told(x):
    y = np.zeros(len(x))
    np.copyto(y, x * x, where=x > 1)
    z = np.empty(len(x))
    np.multiply(x, x, z)
    w = np.divide(1.0, x - 1.05, out=np.zeros(len(x)), where=np.abs(x - 1.05) > 0.1)
    return np.sum(y * x) + np.sum(z * x) + np.sum(w)


@made_of_others()
def namespace_of_values(x):
    state = types.SimpleNamespace(position=x[0], speed=x[1])
    for _ in range(3):
        state.position = state.position + 0.1 * state.speed
        state.speed = state.speed - 0.1 * state.position * x[2]
    return state.position**2 + state.speed


@made_of_others()
def placed_by_a_tuple_that_is_made(x):
    y = np.outer(x, x)
    numbers = np.array([[0, 1], [1, 0], [0, 1]])
    np.add.at(y, tuple([numbers[..., k] for k in range(2)]), x[0])
    return np.sum(np.sin(y[tuple([numbers[..., k] for k in range(2)])]))


# ------------------------------------------------------------------ loops whose rounds meet in sums

sums = Group("sums")


@sums(two_vectors, wrt=(0, 1))
def mean_of_terms(x, y):
    loss = 0.0
    for i in range(len(x)):
        d = np.tanh(x[i] * y[i]) - 0.3
        if d > 0:
            loss += d * d
        else:
            loss += 0.5 * d
    return loss / len(x) + 0.1 * np.sum(y * y)


@sums(one_matrix)
def pairs_of_points(p):
    energy = 0.0
    for i in range(p.shape[0]):
        for j in range(i):
            r = p[i] - p[j]
            r2 = r @ r + 0.1
            energy += 1.0 / r2**2 - 1.0 / r2
    return energy


@sums(square_matrix)
def layers_row_by_row(w):
    x = np.arange(12.0).reshape(3, 4)[:, : w.shape[0]] * 0.1
    loss = 0.0
    for row in x:
        h = np.tanh(w[: len(row), : len(row)] @ row)
        loss += h @ h
    return 0.5 * loss


@sums(two_vectors, wrt=(0, 1))
def filled_then_weighted(x, y):
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i] = np.sin(x[i]) * y[i]
    return np.sum(out * np.arange(1.0, len(x) + 1)) * 2.0


@sums(two_vectors, wrt=(0, 1))
def filled_and_read_again(x, y):
    out = x.copy()
    for i in range(len(x)):
        out[i] = np.sin(out[i]) * y[i]
    return np.sum(out)


@sums(one_matrix)
def filled_by_cells(a):
    out = np.zeros(a.shape)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i, j] = np.exp(-a[i, j] * a[i, 0])
    return np.mean(out)


@sums(two_vectors, wrt=(0, 1))
def vectors_added_up(x, y):
    total = np.zeros(3)
    for i in range(len(x)):
        total += np.tanh(y[:3] * x[i])
    return total @ np.array([1.0, -2.0, 3.0])


@sums(two_vectors, wrt=(0, 1))
def solved_by_newton(x, y):
    total = 0.0
    for i in range(len(x)):
        e, m = 0.3 * x[i], y[i]
        u, step = m, 1.0
        while abs(step) > 1e-12:
            step = (u - e * math.sin(u) - m) / (1.0 - e * math.cos(u))
            u = u - step
        total += u * u
    return total


@sums(two_vectors, wrt=(0, 1))
def left_early(x, y):
    s = 0.0
    for i in range(len(x)):
        if x[i] > 1.5:
            break
        s += np.exp(-x[i] * y[i])
    return s


@sums(two_vectors, wrt=(0, 1))
def counted_by_hand(x, y):
    s, i = 0.0, 0
    while i < len(x):
        s += np.sin(x[i] * y[i])
        i += 2 if x[i] > 1.0 else 1
    return s


@sums(two_vectors, wrt=(0, 1))
def scratch_of_the_round(x, y):
    s = 0.0
    for i in range(len(x)):
        z = x * y[i]
        z[0] = z[1] * z[2]
        z[1:] += z[0] * x[i]
        s += np.sum(z * z)
    return s


@sums(two_vectors, wrt=(0, 1))
def written_to_later(x, y):
    s = 0.0
    z = x * y
    for i in range(len(x)):
        s += z[i] * np.sin(z[i])
    z[0] = 5.0
    return s + np.sum(z * x)


@sums(two_vectors, wrt=(0, 1))
def several_sums(x, y):
    a, b, c = 0.0, 0.0, 1.0
    for i in range(len(x)):
        u = np.sin(x[i] * y[0])
        a += u
        b -= u * y[i]
    for i in range(len(x)):
        c += x[i] ** 2 * y[i]
    return 2 * a + b / len(x) - c * 3 + x[0]


@sums(two_vectors, wrt=(0, 1))
def root_of_a_sum(x, y):
    s = 0.0
    for i in range(len(x)):
        s += np.exp(x[i] * y[i])
    return np.log(s)


@sums(two_vectors, wrt=(0, 1))
def counters_beside(x, y):
    s, t, k = 0.0, 0.5, 3
    for i in range(len(x)):
        t = t * 1.5 + 0.1
        k = (k * 7) % len(x)
        s += x[k] * np.cos(t * y[i])
    return s * t


@sums(two_vectors, wrt=(0, 1))
def beginning_with_a_value(x, y):
    s = x[0] * y[1]
    for i in range(len(x)):
        s -= x[i] / y[i]
    return -s * np.max(y)


@sums(two_vectors, wrt=(0, 1))
def history_beside(x, y):
    s = 0.0
    seen = []
    kept = np.zeros(len(x))
    for i in range(len(x)):
        z = x[i] * y[i]
        kept[i] = z
        seen.append(i)
        s += z * z + 0.0 * len(seen)
    return s + 0.0 * kept.shape[0]


# ------------------------------------------------------------------ names that are None on some paths

absent = Group("absent")


def signs(n):
    return (signed(n),)


@absent()
def beside_the_one_before(x):
    total, prev = 0.0, None
    for v in x:
        if prev is not None:
            total += (v - prev) ** 2 * v
        prev = v
    return total


@absent(signs)
def the_least_of_all(x):
    best, place = None, None
    for i, v in enumerate(x):
        if best is None or v * v < best:
            best, place = v * v, i
    return best * x[place]


class Smoothed:
    def __init__(self, share):
        self.share = share
        self.last = None

    def step(self, v):
        if self.last is None:
            self.last = v
        else:
            self.last = self.share * self.last + (1 - self.share) * v
        return self.last


@absent()
def an_attribute_that_is_none_at_first(x):
    smoothed = Smoothed(0.3)
    return sum(smoothed.step(v) ** 2 for v in x)


@absent(one_matrix)
def the_row_before(x):
    total, prev = 0.0, None
    for i in range(len(x)):
        if not (prev is None):
            total += np.sum(x[i] * prev**2)
        prev = x[i]
    return total


@absent()
def a_pair_that_is_none_at_first(x):
    total, last = 0.0, None
    for i in range(len(x)):
        if last is not None:
            j, v = last
            total += (x[i] - v) ** 2 * (i - j)
        if i % 2 == 0:
            last = (i, x[i])
    return total


@absent()
def pairs_that_are_none_together(x):
    when = level = None
    total = 0.0
    for i, v in enumerate(x):
        if when is not None:
            total += (v - level) ** 2 / (i - when)
        when, level = i, v
    return total


def root_of_the_positive(v):
    if v > 0:
        return np.sqrt(v)


@absent(signs)
def a_function_without_a_result_at_times(x):
    total = 0.0
    for v in x:
        if (r := root_of_the_positive(v)) is not None:
            total += r * v
    return total


@absent(signs)
def a_case_for_none(x):
    total = 0.0
    for v in x:
        match root_of_the_positive(v):
            case None:
                total += v**3
            case root if root > 0.9:
                total += root * 3
            case root:
                total += root * v
    return total


def first_beyond(x, limit):
    for v in x:
        if v > limit:
            return v * v
    return None


@absent()
def searches_that_find_and_do_not(x):
    first, missed = first_beyond(x, 0.9), first_beyond(x, 9.0)
    return (first if first is not None else 0.0) * x[1] + (x[0] if missed is None else missed)


@absent()
def until_there_is_one(x):
    i, held = 0, None
    while held is None:
        if x[i] > 1.0 or i + 1 == len(x):
            held = x[i] ** 2
        i += 1
    return held**3


@absent()
def while_there_is_one(x):
    i, held, total = 0, x[0], 0.0
    while held is not None:
        total += held**2
        i += 1
        held = x[i] * held if i < len(x) else None
    return total


@absent()
def found_and_left(x):
    square = None
    for v in x:
        if v > 1.0:
            square = v**2
            break
    return square * x[0] if square is not None else x[0]


@absent()
def gone_on_with(x):
    total, prev = 0.0, None
    for v in x:
        if prev is None:
            prev = v
            continue
        total += prev * v**2
        prev = v
    return total


@absent(signs)
def asked_in_many_ways(x):
    total, prev = 0.0, None
    for v in x:
        total += v * (0.5 if prev is None else prev)
        if prev != None and v > prev:  # noqa: E711
            total += v * prev
        if isinstance(prev, float) or prev is not None and prev * v < 0:
            total += prev**2
        if prev:
            total += np.sin(prev * v)
        there = prev is not None
        if there:
            total += v * prev**3
        total += (prev or 2.0) * v
        prev = v
    return total


@absent()
def sums_of_arrays_without_a_start(x):
    total = None
    for i in range(len(x)):
        term = x * x[i]
        total = term if total is None else total + term
    return np.sum(total**2)


@absent()
def changed_in_place_once_it_is_there(x):
    total = None
    for i in range(len(x)):
        if total is None:
            total = x * x[i]
            first = total
        else:
            total += x**2 * x[i]
    return np.sum(total**2 * first)


@dataclass
class Moments:
    mean: float
    spread: float


@absent()
def objects_that_are_none_at_first(x):
    held = None
    for v in x:
        if held is None:
            held = Moments(v, 0.0)
        else:
            held = Moments(0.5 * (held.mean + v), held.spread + (v - held.mean) ** 2)
    return held.mean * held.spread


@absent()
def objects_that_are_changed_once_they_are_there(x):
    held = None
    for v in x:
        if held is None:
            held = Moments(v, 0.0)
        else:
            held.spread += (v - held.mean) ** 2
            held.mean = v
    return held.mean + held.spread


@absent()
def there_and_gone_again(x):
    total, held = 0.0, None
    for v in x:
        if held is None:
            held = v * v
        else:
            total += held * v
            held = None
    return total


@absent()
def keys_that_come_later(x):
    kept, total = {"square": None}, 0.0
    for v in x:
        if "first" not in kept:
            kept["first"] = np.exp(v)
        if kept["square"] is None:
            kept["square"] = v * v
        total += kept["first"] * v + kept["square"] * v + kept.get("last", 1.5) * v
        kept["last"] = v
    return total


class Lazy:
    scale = 3.0

    def step(self, v):
        if not hasattr(self, "offset"):
            self.offset = v
        value = (v - self.offset) ** 2 * self.scale + v * getattr(self, "last", 0.5)
        self.scale = self.last = v
        return value


@absent()
def attributes_that_come_later(x):
    lazy, total = Lazy(), 0.0
    for v in x:
        total += lazy.step(v)
    return total


@absent()
def first_round_by_a_flag(x):
    first, total = True, 0.0
    for v in x:
        if not first:
            total += (v - prev) ** 2 * v  # noqa: F821
        prev = v
        first = False
    return total


@absent()
def none_beside_a_flag(x):
    there, prev, total = False, None, 0.0
    for v in x:
        if there:
            total += (v - prev) ** 2 * v
        prev, there = v, True
    return total


@absent(signs)
def made_in_a_branch(x):
    y, z = None, None
    if x[0] > 0:
        y = x * x[1]
    if x[0] < 100:
        z = x[2] ** 2
    assert z is not None
    return (np.sum(x**3) if y is None else np.sum(y**2)) * z


@absent(two_vectors, wrt=(0, 1))
def the_least_distance(x, y):
    best = None
    for a in x:
        for b in y:
            d = (a - 1.3 * b) ** 2
            if best is None or d < best:
                best = d
    return best * x[0]


# ------------------------------------------------------------------ words that change

modes = Group("modes")


@modes()
def states_of_a_machine(x):
    state, total = "idle", 0.0
    for v in x:
        if state == "idle":
            if v > 0.8:
                state = "run"
            total += v
        elif state == "run":
            total += v**2
            if v < 0.9:
                state = "stop"
        else:
            total += 0.1 * v**3
    return total


RATES = {"up": 1.5, "down": 0.5, "flat": 1.0}


@modes(signs)
def keys_that_are_words(x):
    inside = {"up": x[0], "down": x[1] ** 2, "flat": 1.0}
    sums = {"up": 0.1, "down": 0.2, "flat": 0.3}
    mode, total = "flat", 0.0
    for v in x:
        total += v * v * RATES[mode] + inside[mode] * v
        sums[mode] += v**3
        mode = "up" if v > 0.7 else "down" if v < 0 else mode
    return total + sums["up"] * sums["down"]


@modes(signs)
def a_word_or_none(x):
    mode, total = None, 0.0
    for v in x:
        if mode is not None:
            total += RATES[mode] * v * v
        total += v if mode is None else v**2 if mode == "up" else v**3
        mode = "up" if v > 0 else "down"
    return total


class Side(enum.Enum):
    BUY = 1
    SELL = -1


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 3


@modes(signs)
def members_that_change(x):
    side, level, total = Side.BUY, Level.LOW, 0.0
    for v in x:
        total += side.value * v * v + level * v**3
        if level == 3 and side is not Side.BUY:
            total += v
        if v < 0:
            side = Side.SELL if side is Side.BUY else Side.BUY
        level = Level.HIGH if v > 0.6 else Level.LOW
    return total


def squared_one(v):
    return v * v


def cubed_one(v):
    return v**3


@modes(signs)
def functions_that_change(x):
    step, after, total = squared_one, None, 0.0
    for v in x:
        total += step(v)
        if after is not None:
            total += after(v) * v
        step = cubed_one if v > 0 else np.sin
        if v > 0.5:
            after = np.cos
    return total


@modes(signs)
def cases_of_words(x):
    state, total = "a", 0.0
    for v in x:
        match state:
            case "a":
                total += v**2
                state = "b" if v > 0 else "c"
            case "b" | "c" if v > 0.6:
                total += np.sin(v)
                state = "a"
            case _:
                total += v**3
    return total


@modes(signs)
def words_among_others(x):
    state, after, total = "a", {"a": "b", "b": "c", "c": "a"}, 0.0
    for v in x:
        if state in ("a", "c"):
            total += v * v * 3
        if state not in {"a", "b"}:
            total += v**3
        if state and isinstance(state, str) and state != "b":
            total -= np.cos(v)
        state = after[state]
    return total


@modes()
def until_a_word_comes(x):
    i, state, total = 0, "go", 0.0
    while state != "stop":
        total += x[i] ** 2
        if x[i] > 1.5 or i + 1 == len(x):
            state = "stop"
        i += 1
    return total


@modes(signs)
def words_of_inner_loops(x):
    state, total = "a", 0.0
    for i in range(3):
        for v in x:
            if state == "a" and v > 0.5:
                state = "b"
            elif state == "b":
                state = "c"
                total += v**3
            else:
                total += v * v
        if state == "c":
            state = "a"
    return total


@modes(signs)
def words_that_functions_return(x):
    def kind(v):
        if v > 0.8:
            return "large"
        return "negative" if v < 0 else "small"

    weights = {"large": 2.0, "negative": -1.0, "small": 0.5}
    return sum(weights[kind(v)] * v * v for v in x)


@dataclass
class Settings:
    rate: float = 0.05
    weights: dict = field(default_factory=lambda: {"a": 1.0, "b": 2.0})
    start: Moments = field(default_factory=lambda: Moments(1.0, 2.0))
    grid: np.ndarray = field(default_factory=lambda: np.full(3, 2.0))
    collected: list = field(init=False, default_factory=list)


@modes()
def fields_that_are_made(x):
    settings = Settings(rate=x[0])
    y = x[1]
    for _ in range(3):
        y = y * settings.rate + np.sum(settings.grid) * x[2]
        settings.collected.append(y)
    return y * settings.weights["b"] * settings.start.spread + sum(settings.collected) * x[0]


# ------------------------------------------------------------------ small arrays in loops

aggregates = Group("aggregates")


def pendulum_slope(y, p):
    return np.array([y[1], -p * np.sin(y[0])])


@aggregates(lambda n: (vector(2), 1.7), wrt=(0, 1))
def pendulum_by_runge_and_kutta(y0, p):
    y = np.array([y0[0], y0[1]])
    h = 0.05
    for _ in range(5):
        k1 = pendulum_slope(y, p)
        k2 = pendulum_slope(y + 0.5 * h * k1, p)
        k3 = pendulum_slope(y + 0.5 * h * k2, p)
        k4 = pendulum_slope(y + h * k3, p)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y[0] ** 2


@aggregates(lambda n: (vector(2), 1.7), wrt=(0, 1))
def state_that_is_a_parameter(y, p):
    for _ in range(4):
        y = y + 0.1 * pendulum_slope(y, p)
    return y[0] * y[1]


@aggregates(two_floats, wrt=(0, 1))
def lorenz_unpacked(s0, rho):
    s = np.array([s0, 1, 1.05])
    for _ in range(6):
        x, y, z = s
        s = s + 0.01 * np.array([10.0 * (y - x), x * (rho - z) - y, x * y - 2.5 * z])
    return np.sum(s**2)


@aggregates(lambda n: (vector(2), vector(5)[3:]), wrt=(0, 1))
def leapfrog_with_norms(q0, p0):
    q, p = q0.copy(), p0.copy()
    for _ in range(4):
        p = p - 0.05 * q / np.linalg.norm(q) ** 3
        q = q + 0.1 * p
        p -= 0.05 * q / np.sqrt(np.sum(q**2)) ** 3
    return 0.5 * np.dot(p, p) - 1 / np.linalg.norm(q)


@aggregates(lambda n: (0.3, 0.7, vector(n)), wrt=(0, 1, 2))
def filter_of_two_states(q, r, seen):
    F = np.array([[1.0, 0.1], [0.0, 1.0]])
    Q = np.array([[q / 3, q / 2], [q / 2, q]])
    x, P = np.zeros(2), np.eye(2)
    loss = 0.0
    for t in range(seen.shape[0]):
        x = F @ x
        P = F @ P @ F.T + Q
        s = P[0, 0] + r
        e = seen[t] - x[0]
        K = P[:, 0] / s
        x = x + K * e
        P = P - np.outer(K, P[0])
        loss = loss + 0.5 * e * e / s + 0.5 * np.log(s)
    return loss + np.trace(P)


@aggregates(lambda n: (1.5, 0.5, vector(n)), wrt=(0, 1, 2))
def trajectory_of_small_arrays(beta, gamma, seen):
    ys = np.zeros((len(seen), 3))
    y = np.array([0.9, 0.1, 0.0])
    for i in range(len(seen)):
        ys[i] = y
        new, gone = beta * y[0] * y[1], gamma * y[1]
        y = y + 0.05 * np.array([-new, new - gone, gone])
    return np.sum((ys[:, 1] - seen) ** 2)


@aggregates()
def stored_to_by_element(x):
    y = np.zeros(3)
    for i in range(len(x)):
        z = y.copy()
        y[0] += x[i] * z[1]
        y[1:] = z[:2] * 0.5 + x[i]
        y[-1] *= 0.9
    return y.sum() * y[0]


@aggregates()
def chosen_by_branches(x):
    y = np.array([0.1, 0.2])
    for i in range(len(x)):
        if x[i] > 1.0:
            y = np.array([y[1], x[i]])
        else:
            y = np.where(y > 0.15, y * x[i], 0.3 - y)
    return y[0] * 2 + y[1]


@aggregates(sizes=(3, 4))
def read_as_a_whole_now_and_then(x):
    y = np.array([0.5, 0.2, 0.1])
    total = 0.0
    for i in range(len(x)):
        y = 0.5 * y + 0.1 * np.array([y[1], y[2], y[0]]) * x[i]
        y = y - 0.2 * y * y
        if i % 2:
            total = total + np.max(np.sort(y))
    return total + y[1]


@aggregates(sizes=(3, 4))
def left_when_large(x):
    y = np.array([0.5, 0.2])
    i = 0
    while y[0] < 2.0:
        y = y + 0.1 * np.array([1.0 + y[1], x[i % 3]])
        i += 1
        if i > 12:
            break
    return y @ np.array([1.0, 2.0])


@aggregates()
def stacked_and_joined(x):
    a, b = np.array([x[0], x[1]]), np.array([x[2], 0.3])
    for i in range(3):
        m = np.stack([a, b])
        c = np.concatenate([a[1:], b[:1]])
        a, b = m.T @ c, np.sin(m).sum(axis=1) * 0.5
    return a[0] * b[1]


@aggregates(sizes=(2, 3))
def named_by_a_counter(x):
    y = np.array([0.5, 0.2, 0.3])
    for i in range(len(x)):
        y = y * 0.9 + 0.1 * x[i] * y[::-1]
        y[i % 3] = y[i % 2] * x[i]
    return np.sum(y)
