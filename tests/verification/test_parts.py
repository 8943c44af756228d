"""Parts of the comparison: copies of arguments, distances of results, rounding, slopes."""

from __future__ import annotations

import itertools
import math
from collections import OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from planted import anew, planted

import symgrad
from symgrad.errors import Mismatch
from symgrad.verification.agreement import OtherForm, allowed_for, gaps
from symgrad.verification.duplicate import Duplicate, NotCopied, Snapshot
from symgrad.verification.rounding import explains
from symgrad.verification.slope import judged

Pair = namedtuple("Pair", "first second")


@dataclass
class Point:
    x: float
    held: list


@dataclass(slots=True)
class Slotted:
    x: float
    held: list


class Keyed(dict):
    pass


ARRAY = np.arange(6.0)
LAYOUTS = [
    ARRAY, ARRAY.reshape(2, 3), ARRAY.reshape(2, 3).T, np.arange(16.0).reshape(4, 4)[::2, ::2], ARRAY[::2], ARRAY[::-1], np.array(2.0),
    np.zeros((0, 3)), np.broadcast_to(1.0, (3, 3)), ARRAY.astype(np.float32), np.arange(3), ARRAY > 2.0, ARRAY * 1j,
]  # fmt: skip


@pytest.mark.parametrize("array", LAYOUTS, ids=lambda a: f"{a.dtype}{a.shape}{a.strides}")
def test_a_copied_array_is_equal_and_lies_as_the_array_does(array) -> None:
    copied = Duplicate().of(array)

    assert copied.dtype == array.dtype
    assert np.array_equal(copied, array)
    assert not np.shares_memory(copied, array)
    if array.strides and min(array.strides) > 0:
        assert (copied.flags.c_contiguous, copied.flags.f_contiguous) == (array.flags.c_contiguous, array.flags.f_contiguous)


@pytest.mark.parametrize(
    "make",
    [
        lambda inner: [inner, 1.0], lambda inner: (inner, 1.0), lambda inner: {"a": inner}, lambda inner: Pair(inner, 2.0),
        lambda inner: Point(1.0, inner), lambda inner: Slotted(1.0, inner), lambda inner: SimpleNamespace(a=inner),
        lambda inner: OrderedDict(a=inner), lambda inner: defaultdict(list, a=inner), lambda inner: deque([inner], 3),
    ],
)  # fmt: skip
def test_a_copied_container_is_equal_and_shares_nothing_that_can_change(make) -> None:
    inner = [0.5, ARRAY]
    first, second = Duplicate().all((make(inner), inner), {})[0]
    held = first[0] if isinstance(first, list | tuple | deque) else first["a"] if isinstance(first, dict) else None
    held = held if held is not None else first.a if isinstance(first, SimpleNamespace) else first.held

    assert type(first) is type(make(inner))
    assert held is second
    assert held is not inner
    assert held[1] is not ARRAY
    assert np.array_equal(held[1], ARRAY)


def test_a_container_that_holds_itself_is_copied_once() -> None:
    ring: list = [1.0]
    ring.append(ring)
    copied = Duplicate().of(ring)

    assert copied[1] is copied
    assert copied is not ring


def test_a_dict_of_a_class_is_copied_with_its_attributes() -> None:
    value = Keyed(a=1.0)
    value.held = [2.0]
    duplicate = Duplicate().of(value)
    assert type(duplicate) is Keyed
    assert (duplicate, duplicate.held) == ({"a": 1.0}, [2.0])
    assert duplicate is not value
    assert duplicate.held is not value.held


@pytest.mark.parametrize("value", [iter([1.0]), (x for x in [1.0]), itertools.count()], ids=lambda v: type(v).__name__)
def test_what_cannot_be_copied_is_not(value) -> None:
    with pytest.raises(NotCopied):
        Duplicate().of([value])


@pytest.mark.parametrize(
    "value", [math.sin, np, "text", None, 3, True, np.float64, Point, object()], ids=lambda value: type(value).__name__
)
def test_what_holds_no_number_is_handed_on(value) -> None:
    assert Duplicate().of([value])[0] is value


def test_what_arguments_held_is_put_back() -> None:
    array, point, numbers, table, row = ARRAY.copy(), Point(1.0, [2.0]), [1.0, 2.0], {"a": 1.0, "b": 2.0}, deque([1.0])
    snapshot = Snapshot()
    for value in (array, point, [numbers, table, row]):
        snapshot.take(value)
    array[1] = 77.0
    point.x, point.y = 3.0, 4.0
    point.held.append(5.0)
    numbers.clear()
    del table["a"]
    table["c"] = 1.0
    row.append(2.0)
    snapshot.put_back()

    assert np.array_equal(array, ARRAY)
    assert (vars(point), numbers, list(table), list(row)) == ({"x": 1.0, "held": [2.0]}, [1.0, 2.0], ["a", "b"], [1.0])


# ------------------------------------------------------------------ results


SAME = [
    (1.0, np.float64(1.0)), (1, np.int64(1)), (True, np.True_), (math.nan, math.nan), (math.inf, math.inf), (-0.0, 0.0),
    (np.array([np.nan, np.inf]), np.array([np.nan, np.inf])), ((1.0, [2.0]), (1.0, [2.0])), ("a", "a"), (None, None),
    ({"a": ARRAY}, {"a": ARRAY}), (1j, np.complex128(1j)), (Point(1.0, []), Point(1.0, [])),
]  # fmt: skip
APART = [
    (1.0, 1.1), (math.nan, 1.0), (math.inf, -math.inf), (1, 2), (True, False), ("a", "b"), (ARRAY, ARRAY + 1e-3), (ARRAY, ARRAY * np.nan),
    ((1.0, 2.0), (1.0, 3.0)), ({"a": 1.0}, {"a": 2.0}), (1j, -1j), (Point(1.0, []), Point(2.0, [])), (np.arange(3), np.arange(3) + 1),
]  # fmt: skip
OTHERWISE = [
    ((1.0,), [1.0]), ([1.0], [1.0, 2.0]), ({"a": 1.0}, {"b": 1.0}), ({"a": 1.0, "b": 1.0}, {"b": 1.0, "a": 1.0}), (1.0, None),
    (ARRAY, ARRAY.reshape(2, 3)), (ARRAY, ARRAY.astype(np.float32)), (np.array(1.0), 1.0), (Pair(1.0, 2.0), (1.0, 2.0)), (1.0, "1.0"),
]  # fmt: skip


@pytest.mark.parametrize(("ours", "theirs"), SAME, ids=repr)
def test_equal_results_have_no_gap(ours, theirs) -> None:
    assert not list(gaps(ours, theirs))


@pytest.mark.parametrize(("ours", "theirs"), APART, ids=repr)
def test_other_results_have_a_gap(ours, theirs) -> None:
    allowed = allowed_for(8, 10, 1.0)

    assert any(not allowed.admits(gap) for gap in gaps(ours, theirs))


@pytest.mark.parametrize(("ours", "theirs"), OTHERWISE, ids=repr)
def test_results_of_another_form_are_told_apart(ours, theirs) -> None:
    with pytest.raises(OtherForm):
        list(gaps(ours, theirs))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_rounding_in_a_sum_is_allowed_and_a_thousandth_is_not(dtype) -> None:
    numbers = np.random.default_rng(0).uniform(0.0, 1.0, 1000).astype(dtype)
    allowed = allowed_for(np.dtype(dtype).itemsize, numbers.size, 1.0)
    total = np.sum(numbers)
    for other in (np.sum(numbers[::-1]), dtype(math.fsum(map(float, numbers)))):
        assert all(allowed.admits(gap) for gap in gaps(total, other))
    if dtype is not np.float16:
        assert not all(allowed.admits(gap) for gap in gaps(total, dtype(total * 1.01)))


# ------------------------------------------------------------------ slopes


def values(function, step=1e-3):
    return {k: function(k * step) for k in (-2, -1, -0.5, 0, 0.5, 1, 2)}


@pytest.mark.parametrize(
    ("function", "right"), [(lambda t: math.sin(t + 0.3), math.cos(0.3)), (lambda t: math.exp(3.0 * t), 3.0), (lambda t: 5.0, 0.0)]
)
def test_a_wrong_slope_is_told_and_a_right_one_is_not(function, right) -> None:
    assert judged(right, values(function), 1e-3, 1e-5, 2.3e-16) is None
    assert judged(right + 0.01, values(function), 1e-3, 1e-5, 2.3e-16) is not None


@pytest.mark.parametrize(
    "function",
    [
        abs, lambda t: max(t, 0.0), lambda t: float(t > 0.0), lambda t: abs(t - 3e-4), lambda t: math.sqrt(abs(t)), lambda t: math.nan,
        lambda t: math.inf * t if t else 0.0, lambda t: 1e20 + t,
    ],
)  # fmt: skip
def test_nothing_is_said_of_kinks_steps_and_noise(function) -> None:
    assert judged(0.37, values(function), 1e-3, 1e-5, 2.3e-16) is None


X = np.array([0.3, -0.7, 1.1])


def smooth(x, w):
    return np.sum(np.sin(x * w["a"]) + np.exp(x) * w["b"])


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("kind", ["grad", "value_and_grad", "vjp"])
def test_a_wrong_gradient_is_a_mismatch_where_gradients_are_verified(kind: str, jit: bool) -> None:
    if jit:
        pytest.importorskip("numba")
    arguments = (X, {"a": 0.5, "b": 1.5})

    def call(verify):
        function = anew(smooth)
        if kind == "vjp":
            return symgrad.vjp(function, *arguments, verify=verify, jit=jit)
        return getattr(symgrad, kind)(function, wrt=("x", "w"), verify=verify, jit=jit)(*arguments)

    with planted(*(("vector_cos(", "2.0 * vector_cos(") if jit else ("np.cos", "np.sin"))) as changed:
        if jit:
            with pytest.raises(Mismatch, match="the kernel of smooth gives the gradient"):
                call(True)
        else:
            call(True)
        with pytest.raises(Mismatch, match="the kernel of smooth gives the gradient" if jit else "the gradient of"):
            call("gradient")
    call("gradient")

    assert changed


def test_a_wrong_second_derivative_is_a_mismatch() -> None:
    def cube(x):
        return math.sin(x) * x

    gradient = symgrad.grad(cube)
    gradient(0.7)
    with planted("t_1 - x * t + t_1", "t_1 - x * t") as changed:
        symgrad.grad(gradient, allow_unused=True)(0.7)
        with pytest.raises(Mismatch, match="the gradient of"):
            symgrad.grad(gradient, verify="gradient")(0.7)

    assert changed


def stopped(x):
    return np.sum(symgrad.stop_gradient(x) * x)


def kinked(x):
    return np.sum(np.abs(x - x)) + np.sum(np.maximum(x, x)) + np.max(np.zeros(3) * x)


def whole(x):
    return np.sum(np.floor(x) * x)


@pytest.mark.parametrize("function", [stopped, kinked, whole])
def test_gradients_that_are_meant_otherwise_or_have_no_slope_are_no_mismatch(function) -> None:
    symgrad.value_and_grad(function, verify="gradient")(X)
    symgrad.value_and_grad(function, verify="gradient")(np.zeros(3))


# ------------------------------------------------------------------ what rounding explains


def explained(ours, theirs, of_copies) -> bool:
    """Is the difference of two results explained by a function that gives ``of_copies(change)`` for copies of its arguments?"""
    allowed = allowed_for(8, 1, 1.0)
    return explains(of_copies, [gap for gap in gaps(ours, theirs) if not allowed.admits(gap)], allowed, 8)


def test_a_result_that_a_last_digit_decides_is_explained() -> None:
    assert explained(2.0, 1.0, lambda change: 1.0 if change(1.0) == 1.0 else 2.0)


def test_a_result_that_differs_each_time_is_explained() -> None:
    random = np.random.default_rng(3)
    assert explained(0.25, 0.75, lambda change: random.uniform())


def test_results_that_differ_for_copies_alone_explain_nothing() -> None:
    assert not explained(3.0, 2.0, lambda change: 3.0)


def test_exceptions_for_unmoved_copies_explain_nothing() -> None:
    def insists(change):
        raise ValueError("another object")

    assert not explained(3.0, 2.0, insists)


def test_an_exception_beside_the_arguments_explains_a_difference() -> None:
    def domain(change):
        if change(1.0) != 1.0:
            raise ValueError("outside the domain")
        return 2.0

    assert explained(3.0, 2.0, domain)
