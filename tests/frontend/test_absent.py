"""Names that are None on some paths: compiled, and an exception where they are read while absent."""

from __future__ import annotations

import collections
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from programs import PROGRAMS, Program

import symgrad
from symgrad.errors import SymgradError
from symgrad.frontend.state.path_conditions import Decided
from symgrad.ir.core import Const, Value
from symgrad.ir.types import BOOL

X = np.array([0.7, -1.3, 1.9, 0.4, -0.6, 1.2])
BOTH = pytest.mark.parametrize("jit", [False, True])


@pytest.fixture(autouse=True)
def checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMGRAD_CHECK", "1")


def gradient_by_differences(f: Callable[..., Any], x: np.ndarray) -> np.ndarray:
    return np.array([(8 * (f(x + s) - f(x - s)) - (f(x + 2 * s) - f(x - 2 * s))) / 1.2e-3 for s in 1e-4 * np.eye(len(x))])


@pytest.mark.sweep(3)
@pytest.mark.parametrize("program", [p for p in PROGRAMS if p.group in ("absent", "modes")], ids=lambda p: p.function.__name__)
def test_types_are_known_and_kernels_made(program: Program) -> None:
    pytest.importorskip("numba")
    arguments = program.arguments(6)
    plain = symgrad.grad(program.function, wrt=program.wrt)
    assert ": ?" not in plain.ir(*arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled = symgrad.grad(program.function, wrt=program.wrt, jit=True)(*program.arguments(6))
    for one, two in zip(np.atleast_1d(compiled), np.atleast_1d(plain(*arguments)), strict=True):
        assert one == pytest.approx(two, rel=1e-12)


# ------------------------------------------------------------------ read where there is nothing


def added(x):
    prev, total = None, 0.0
    for v in x:
        if v < 0:
            total += prev * v
        if v > 1.0:
            prev = v
    return total


def negated(x):
    prev = None
    for v in x:
        if v > 100.0:
            prev = v
    return -prev


def ordered(x):
    prev = None
    for v in x:
        if v > 100.0:
            prev = v
    return x[0] if prev < 1.0 else x[1]


def applied(x):
    prev = None
    for v in x:
        if v > 100.0:
            prev = v
    return np.sin(prev)


def indexed(x):
    row = None
    for i in range(3):
        if x[i] > 100.0:
            row = x * x[i]
    return row[0]


def unpacked(x):
    pair = None
    for i in range(3):
        if x[i] > 100.0:
            pair = (x[i], x[0])
    a, b = pair
    return a * b


def changed(x):
    total = None
    for i in range(3):
        if x[i] > 100.0:
            total = x * x[i]
    total += x
    return np.sum(total)


def never_anything(x):
    prev = None
    return x[0] - prev if x[0] > 0 else x[1]


@BOTH
@pytest.mark.parametrize("f", [added, negated, ordered, applied, indexed, unpacked, changed, never_anything])
def test_what_is_not_there_raises(f: Any, jit: bool) -> None:
    if jit:
        pytest.importorskip("numba")
    derived = symgrad.value_and_grad(f, jit="auto" if jit else False)
    with pytest.raises(TypeError):
        f(X)
    with pytest.raises(TypeError):
        derived(X)
    large = -X if f is never_anything else abs(X) + (100.0 if f is not added else 0.0)
    value, gradient = derived(large)
    assert value == pytest.approx(f(large))
    assert gradient == pytest.approx(gradient_by_differences(f, large), rel=1e-7, abs=1e-7)


class Holder:
    pass


def attribute_read(x):
    held = Holder()
    for v in x:
        if v > 100.0:
            held.last = v
    return held.last**2


def key_read(x):
    held = {}
    for v in x:
        if v > 100.0:
            held["last"] = v
    return held["last"] ** 2


def attribute_of_none(x):
    held = None
    for v in x:
        if v > 100.0:
            held = Holder()
            held.last = v
    return held.last**2


@BOTH
@pytest.mark.parametrize(("f", "error"), [(attribute_read, AttributeError), (key_read, KeyError), (attribute_of_none, AttributeError)])
def test_attributes_and_keys_that_are_not_there_raise(f: Any, error: type[Exception], jit: bool) -> None:
    if jit:
        pytest.importorskip("numba")
    derived = symgrad.value_and_grad(f, jit="auto" if jit else False)
    with pytest.raises(error):
        f(X)
    with pytest.raises(error):
        derived(X)
    assert derived(X + 101.5)[0] == pytest.approx(f(X + 101.5))


# ------------------------------------------------------------------ once silently wrong


def key_of_a_later_round(x):
    cache, total = {}, 0.0
    for v in x:
        if "k" in cache:
            total += v
        else:
            cache["k"] = v
            total += 100.0 * v
    return total


def attribute_of_a_later_round(x):
    held, total = Holder(), 0.0
    for v in x:
        if hasattr(held, "k"):
            total += v * held.k
        else:
            held.k = v
            total += 100.0 * v
    return total


def attribute_of_a_branch(x):
    held = Holder()
    if x[0] > 1.0:
        held.k = x[1] ** 2
    return x[0] * (held.k if hasattr(held, "k") else 3.0) + getattr(held, "k", x[2])


def key_of_a_branch(x):
    held = {"a": x[0]}
    if x[0] > 1.0:
        held["k"] = x[1] ** 2
    return x[0] * (held["k"] if "k" in held else 3.0) + held.get("k", x[2]) * held["a"]


def sums_by_what_was_met(x):
    sums, met, total = collections.defaultdict(float), set(), 0.0
    for v in x:
        if v > 0.5:
            sums["up"] += v * v
            met.add("up")
        total += v**3 if "up" in met else v
    return total + sums["up"] * sums["down"] + x[0] * sums["up"]


def sets_that_grow(x):
    met, total = {"none"}, 0.0
    for v in x:
        total += v * v if "low" in met else v
        if v < 0:
            met.add("low")
    return total


def objects_whose_attributes_come_later(x):
    total = 0.0
    held = Holder()
    for v in x:
        if hasattr(held, "k"):
            total += v * held.k
            held = Holder()
        elif v > 0:
            held = Holder()
            held.k = v
            total += 10.0 * v
    return total


def keys_that_hold_none(x):
    held, total = {}, 0.0
    for v in x:
        total += v * v if "low" in held else v
        if v < 0:
            held["low"] = None
    return total * (1.0 if held.get("low") is None else 2.0)


def tuple_beside_an_exception(x):
    if x[0] > 5.0:
        raise ValueError("too large")
    else:
        pair = (x[0] * 2.0, x[1])
    return pair[0] * pair[1]


def derivative_taken_inside(x):
    start, total = None, 0.0
    for v in x:
        if start is not None:
            total += symgrad.grad(lambda a: a**3 * v)(start)  # noqa: B023
        start = v
    return total


RIGHT = [
    objects_whose_attributes_come_later,
    sets_that_grow,
    keys_that_hold_none,
    sums_by_what_was_met,
    key_of_a_later_round,
    attribute_of_a_later_round,
    attribute_of_a_branch,
    key_of_a_branch,
    tuple_beside_an_exception,
    derivative_taken_inside,
]


@pytest.mark.sweep(2)
@BOTH
@pytest.mark.parametrize("f", RIGHT)
def test_right(f: Any, jit: bool) -> None:
    if jit:
        pytest.importorskip("numba")
    derived = symgrad.value_and_grad(f, jit="auto" if jit else False)
    for x in (X, X + 0.8):
        value, gradient = derived(x)
        assert value == pytest.approx(f(x))
        assert gradient == pytest.approx(gradient_by_differences(f, x), rel=1e-7, abs=1e-7)


class Level:
    def __init__(self, value):
        self.value = value


def two_names_of_what_a_branch_makes(x):
    held = Level(1.0)
    if x[0] > 0:
        level = Level(x[0])
        held = level
    else:
        level = Level(x[1])
    level.value = 5.0 * x[2]
    return held.value * x[1]


def a_key_that_is_missing_or_none_or_a_number(x):
    held, total = {}, 0.0
    for v in x:
        if "k" in held:
            held["k"] = 1.0
            total += v
        elif v < 0:
            held["k"] = None
            total += 10 * v
    return total


def how_many_keys(x):
    held = {}
    for v in x:
        if v > 1.0:
            held["k"] = v
    return x[0] * len(held)


def all_the_keys(x):
    held = {}
    for v in x:
        if v > 1.0:
            held["k"] = v
    return sum(v * v for v in held.values())


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_two_names_of_what_a_branch_makes(sign: float) -> None:
    x = sign * X
    value, _ = symgrad.value_and_grad(two_names_of_what_a_branch_makes)(x)

    assert value == pytest.approx(two_names_of_what_a_branch_makes(x), rel=1e-14)
    symgrad.check_grads(two_names_of_what_a_branch_makes, (x,), wrt=0)


@pytest.mark.parametrize("f", [a_key_that_is_missing_or_none_or_a_number])
def test_refused(f: Any) -> None:
    with pytest.raises(SymgradError):
        symgrad.grad(f)(X)


@pytest.mark.parametrize("x", [X, np.array([0.5, 2.0, 3.0]), np.array([0.5, 0.25])])
def test_keys_that_some_paths_set_are_counted(x: np.ndarray) -> None:
    value, gradient = symgrad.value_and_grad(how_many_keys)(x)

    assert value == how_many_keys(x)
    np.testing.assert_array_equal(gradient, np.eye(len(x))[0] * bool((x > 1.0).any()))


@pytest.mark.parametrize("x", [X, np.array([0.5, 2.0, 3.0]), np.array([0.5, 0.25])])
def test_a_loop_over_keys_that_some_paths_set(x: np.ndarray) -> None:
    value, gradient = symgrad.value_and_grad(all_the_keys)(x)
    above = np.flatnonzero(x > 1.0)[-1:]  # each number above 1 is stored in the place of the one before

    assert value == all_the_keys(x)
    np.testing.assert_allclose(gradient, np.where(np.isin(np.arange(len(x)), above), 2.0 * x, 0.0))


# ------------------------------------------------------------------ forms that are left as they were


def of_different_shapes(x):
    total, prev = 0.0, None
    for i in range(1, len(x)):
        if prev is not None:
            total += np.sum(prev**2)
        prev = x[:i]
    return total


def a_list_with_holes(x):
    squares = [v * v if v > 0 else None for v in x]
    return sum([v for v in squares if v is not None])


def a_word_in_a_text(x):
    mode, total = "none", 0.0
    for v in x:
        total += v if f"{mode}!" == "up!" else v**2
        mode = "up" if v > 0 else "down"
    return total


def returned_as_it_is(x):
    prev = None
    for v in x:
        if v > 1.0:
            prev = v
    return np.sum(x**2), prev


@BOTH
@pytest.mark.parametrize("f", [of_different_shapes, a_list_with_holes, a_word_in_a_text])
def test_forms_that_are_not_known_are_right(f: Any, jit: bool) -> None:
    if jit:
        pytest.importorskip("numba")
    value, gradient = symgrad.value_and_grad(f, jit="auto" if jit else False)(X)
    assert value == pytest.approx(f(X))
    assert gradient == pytest.approx(gradient_by_differences(f, X), rel=1e-7, abs=1e-7)


def test_what_is_none_is_returned_as_none() -> None:
    derived = symgrad.value_and_grad(returned_as_it_is, has_aux=True)
    assert derived(X)[0][1] == 1.2
    assert derived(X * 0.1)[0][1] is None


# ------------------------------------------------------------------ what tests decide


def test_conjunctions_decide_where_they_hold_and_disjunctions_where_they_do_not() -> None:
    decided = Decided()
    a, b, both, one, neither = (Value(BOOL) for _ in range(5))
    decided.computed("logical_and", (a, b), both)
    decided.computed("logical_or", (a, b), one)
    decided.computed("not_", (one,), neither)

    assert decided.by(both, True) == {a: True, b: True, both: True}
    assert decided.by(both, False) == {both: False}
    assert decided.by(neither, True) == {a: False, b: False, one: False, neither: True}


def test_a_bool_that_a_branch_yields_decides_what_is_known_on_each_side_that_can_yield_it() -> None:
    decided = Decided()
    test, other, out = (Value(BOOL) for _ in range(3))
    decided.joined([(other, {test: True}), (Const(False), {test: False})], out)

    assert decided.by(out, True) == {test: True, other: True, out: True}
    assert decided.by(out, False) == {out: False}


def last_of_positive(x, c):
    last, total = None, 0.0
    for v in x:
        if c > 0:
            ok = last is not None
        else:
            ok = False
        if ok:
            total = total + v * last
        last = v * v
    return total


def test_a_bool_that_a_branch_yields_spares_a_second_test() -> None:
    derivative = symgrad.value_and_grad(last_of_positive)
    value, slopes = derivative(X, 2.0)
    assert value == pytest.approx(last_of_positive(X, 2.0), rel=1e-12)
    assert slopes == pytest.approx(gradient_by_differences(lambda x: last_of_positive(x, 2.0), X), rel=1e-8)
    assert "raise" not in derivative.source()


def of_the_round_before(x, y, a):
    while y > 0.43:
        for t in x:
            y = y * 0.65
        for u in t:
            t = 0.39 * t + x[0]
            a[0] = u
    return np.sum(x * x) + y + np.sum(a)


def summed_afterwards(x, y, a):
    while y > 0.43:
        for t in x:
            y = y * 0.65
        for _ in t:
            t = 0.39 * t
        y = y + np.sum(t * a) * 0.001
    return np.sum(x * x) + y


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("f", [of_the_round_before, summed_afterwards])
def test_the_shape_of_a_name_is_not_that_of_the_round_before_in_which_it_was_not_bound(f: Any, jit: bool) -> None:
    if jit:
        pytest.importorskip("numba")
    x, a = np.arange(9.0).reshape(3, 3) + 0.1, np.ones(3)
    value, (slopes, slope, _) = symgrad.value_and_grad(f, argnums=(0, 1, 2), jit="auto" if jit else False)(x.copy(), 0.9, a.copy())
    assert value == pytest.approx(f(x.copy(), 0.9, a.copy()), rel=1e-12)
    ends = [f(x.copy(), 0.9 + step, a.copy()) for step in (1e-6, -1e-6)]
    assert slope == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6)
    step = np.zeros((3, 3))
    step[0, 1] = 1e-6
    ends = [f(x + step, 0.9, a.copy()), f(x - step, 0.9, a.copy())]
    assert slopes[0, 1] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6)
