"""Functions and constructs of scientific code: value and gradient on both targets, also with strided arrays and single precision."""
# ruff: noqa: B007, B023, E731 - the constructs are the point

from __future__ import annotations

import enum
import math
from collections import deque
from typing import Any

import numpy as np
import pytest
from verdicts import Verdicts

import symgrad
from symgrad.errors import NoDerivative, SymgradError

X = np.array([0.7, -1.3, 1.9, 0.4, -0.6, 1.2, 0.9, 1.5, -0.8])
VERDICTS = Verdicts()
right, refused = VERDICTS.right, VERDICTS.refused


# ------------------------------------------------------------------ indices beyond the ends


@right
def taken_around_the_ends(x):
    places = np.array([[0, 9], [-4, 21]])
    return np.sum(np.take(x, places, mode="wrap") ** 2 * np.array([[1.0, 2.0], [3.0, 4.0]])) + x.take(11, mode="wrap")


@right
def taken_up_to_the_ends(x):
    return np.sum(x.take([-3, 0, 9], mode="clip") ** 2) + np.sum(np.take(x.reshape(3, 3), [5, -5], axis=1, mode="clip") ** 2)


@right
def chosen_around_the_ends(x):
    choices = [x[:3], x[3:6] ** 2, x[6:] ** 3]
    return np.sum(np.choose([4, -1, 1], choices, mode="wrap")) + np.sum(np.choose([4, -1, 1], choices, mode="clip") ** 2)


@right
def placed_over_and_over(x):
    y = x * 2.0
    np.place(y, y > 0, [x[0], x[1] ** 2])
    return np.sum(y * y)


# ------------------------------------------------------------------ memory


@right
def views_of_no_axes_beside_numbers(x):
    y = x * 1.0
    for i in range(3):
        v = y[i : i + 1].reshape(())
        v = v - x[0]
        y[0] += v
    return np.sum(y * y)


@right
def items_changed_and_then_replaced(x):
    held = [x.reshape(3, 3) * 1.0, x.reshape(3, 3) * 2.0]
    for i in range(3):
        first = held[0]
        first[first > 1.0] *= 0.5
        held[0] = first * 1.5
        held[1][i, 0] *= x[i]
    return np.sum(np.sin(held[0]) * held[1])


@right
def sums_that_begin_before_a_loop_with_the_shape_of_a_copy(x):
    y = x * 1.0
    y[2] += 0.2 * np.sin(x[0])
    rows = [v * y for v in y[:2]]
    total = 0.3 * sum(v * v for v in y)
    other = np.sin(y.copy().sum())
    return x[0] * np.sum(y) + total + other + np.sum(np.tanh(rows[-1]))


# ------------------------------------------------------------------ grids and differences


@right
def dense_grids(x):
    i, j = np.mgrid[0:3, 1:6:2]
    rows, columns = np.mgrid[-1:1:0.5, 0:2]
    return np.sum(np.sin(i * x[0] + j * x[1])) + np.sum(np.exp(rows * x[2]) * columns) + np.sum(np.mgrid[0:1:5j] * x[3] ** 2)


@right
def open_grids(x):
    i, j = np.ogrid[: len(x), 0:1:4j]
    return np.sum(np.sin(i * x[0] + j * x[1]))


@right
def grids_of_vectors(x):
    a, b, c = np.meshgrid(x[:2], x[2:5] ** 2, x[5:7])
    d, e = np.meshgrid(x[:3], x[3:5], sparse=True)
    (f,) = np.meshgrid(x)
    return np.sum(a * np.sin(b) * c) + np.sum(d * e**2) + np.sum(f**3)


@right
def indices_of_two_kinds(x):
    i, j = np.indices((2, 3), sparse=True)
    k, _ = np.indices((2, 3), dtype=float)
    return np.sum((i + 1.0) * x[0] * (j + 1)) + np.sum(k * x[1] ** 2)


@right
def slopes_between_coordinates(x):
    t = np.array([0.0, 1.0, 2.5, 3.0, 4.2, 6.0, 6.5, 8.0, 9.1])
    m = (x * x).reshape(3, 3)
    a, b = np.gradient(m, 2.0, t[:3])
    return np.sum(np.gradient(x**2, t, edge_order=2) ** 2) + np.sum(a * b) + np.sum(np.gradient(x, 0.5, edge_order=2) ** 2)


@right
def slopes_between_places_that_move(x):
    return np.sum(np.gradient(np.sin(x), np.cumsum(x**2 + 0.1)) ** 2)


# ------------------------------------------------------------------ between points


@right
def the_last_of_points_at_one_place(x):
    return np.sum(np.interp(np.array([0.5, 1.0, 1.5, 2.5, -1.0, 4.0]), [0.0, 1.0, 1.0, 2.0], x[:4]) ** 2)


@right
def values_beyond_the_points(x):
    return (
        np.sum(np.interp(x, [0.0, 1.0, 2.0], [0.0, 3.0, 4.0], left=-1.0, right=9.0) ** 2)
        + np.interp(5.0, x[:2] ** 2, x[2:4], right=x[4]) ** 2
    )


@right
def points_that_repeat(x):
    return np.sum(np.interp(4.9 * x, [2.0, 0.3, 4.1], [0.0, 3.0, 4.0], period=3.0) ** 2)


# ------------------------------------------------------------------ statistics


@right
def averages_with_their_weights(x):
    m = x.reshape(3, 3)
    mean, total = np.average(x, weights=x**2 + 1, returned=True)
    kept = np.average(m, axis=0, weights=np.array([1.0, 2.0, 0.5]), keepdims=True)
    return mean * total + np.sum(kept**2) + np.average(m, axis=1, returned=True)[1][0] * x[0]


@right
def spread_about_a_mean(x):
    m = x.reshape(3, 3)
    middle = np.mean(m, axis=1, keepdims=True)
    return np.sum(np.var(m, axis=1, mean=middle, keepdims=True) ** 2) + x.std(mean=0.5) + np.var(x, correction=1)


@right
def integrated_by_quadrature(x):
    places, weights = np.polynomial.legendre.leggauss(6)
    total = 0.0
    for k in range(3):
        total = total + np.sum(weights * np.exp(x[k] * places) / (1.5 + places))
    u, w = np.polynomial.hermite.hermgauss(5)
    return total + np.sum(w * np.cos(u * x[3])) * x[4]


@right
def histogram_of_weights(x):
    h, e = np.histogram(np.linspace(0.05, 0.95, 9), bins=4, range=(0, 1), weights=x**2)
    g, _ = np.histogram(np.linspace(0.05, 0.95, 9).reshape(3, 3), bins=[0.0, 0.3, 0.6, 1.0], weights=x.reshape(3, 3), density=True)
    return np.sum(h**2 * e[1:]) + g[1]


@right
def histogram_of_counts(x):
    h, e = np.histogram(x, bins=3)
    return np.sum(h * e[1:] * x[:3]) + np.histogram(x, bins=[-1.0, 0.5, 1.3])[0][1] * x[4] + np.histogram_bin_edges(x, 4)[1]


@right
def before_and_behind_the_point(x):
    part, whole = math.modf(x[2])
    return part * x[0] + whole * x[1]


@refused
def differences_of_no_order(x):
    return np.sum(np.gradient(x, edge_order=3))


@refused
def bins_by_a_rule(x):
    return np.sum(np.histogram(x, bins="auto")[1])


@right
def rows_of_a_display_unpacked(x):
    (a, b, c), (d, e, f) = np.array([[x[0], 1.0, x[2]], [2.0, x[1], x[0] * x[1]]])
    return a * b * c + d * e * f


# ------------------------------------------------------------------ members of enumerations


class Activation(enum.Enum):
    RELU = "relu"
    TANH = "tanh"

    def __call__(self, v):
        return np.maximum(v, 0.0) if self is Activation.RELU else np.tanh(v)

    @property
    def scale(self):
        return 2.0 if self == Activation.RELU else 3.0

    @classmethod
    def default(cls):
        return cls.TANH


class Place(enum.IntEnum):
    FIRST = 1
    SECOND = 2


CHOSEN = Activation.TANH
WEIGHTS = {Activation.RELU: 2.0, Activation.TANH: np.array([1.0, 2.0, 3.0])}


@right
def members_and_their_methods(x):
    return np.sum(CHOSEN(x)) * CHOSEN.scale + np.sum(Activation.RELU(x) * Activation.default().scale) + x[0] * len(CHOSEN.value)


@right
def members_as_keys(x):
    factors = {Activation.RELU: x[0], Activation.TANH: x[1]}
    return factors[CHOSEN] * np.sum(WEIGHTS[Activation.TANH] * x[:3]) * WEIGHTS[Activation.RELU] + factors[Activation("relu")]


@right
def members_that_are_numbers(x):
    total = 0.0
    for place in Place:
        total += x[place] ** place * place.value
    return total if Place.SECOND == 2 and Place.FIRST < 2 else x[0]


@right
def members_matched(x, chosen=Activation.RELU):
    match chosen:
        case Activation.TANH:
            return np.sum(x)
        case Activation.RELU:
            return np.sum(x**2)


@refused
def a_member_as_a_number(x):
    return x[0] * Activation.RELU


@refused
def a_member_as_an_index(x):
    return np.sum(x[Activation.RELU])


@pytest.mark.parametrize("jit", [False, True])
def test_each_member_has_code_of_its_own(jit: bool) -> None:
    if jit:
        pytest.importorskip("numba")

    def f(x, chosen, place=Place.SECOND):
        return np.sum(x**2) * place if chosen is Activation.RELU else np.sum(x)

    derived = symgrad.grad(f, jit="auto" if jit else False)
    assert derived(X, Activation.RELU) == pytest.approx(4 * X)
    assert derived(X, Activation.TANH) == pytest.approx(np.ones(9))
    assert derived(X, Activation.RELU, Place.FIRST) == pytest.approx(2 * X)
    assert derived(X, Activation.RELU) == pytest.approx(4 * X)


# ------------------------------------------------------------------ iterators


@right
def steps_of_an_iterator(x):
    it = iter(x)
    total = next(it)
    for v in it:
        total = total * v + next(it, 1.5)
    return total + next(it, 2.0) * x[0]


@right
def steps_in_a_while_and_a_branch(x):
    it, n, total = iter(list(x)), 0, 0.0
    rows = iter(x.reshape(3, 3))
    while n < 3:
        total = 2 * total + next(rows)[n] ** 2
        n += 1
    return total


@right
def a_step_on_one_path(x):
    it = iter(x)
    total = next(it)
    if total > 0.5:
        total = total * next(it)
    return total * next(it)


@right
def steps_over_views(x):
    m = x.reshape(3, 3).copy()
    it = iter(m)
    row = next(it)
    row *= 2.0
    return np.sum(m * next(it))


@right
def the_first_that_fits(x):
    least = 0.3
    product = next(a * b for a in x for b in x[1:3] if a * b > least)
    held = {"a": x[0], "b": x[1]}
    return product**2 + x[2] * next((k for k, v in enumerate(x) if v > 100.0), 7) + next(iter(held.values())) ** 3


@right
def places_one_by_one(x):
    m, cube = x.reshape(3, 3), np.zeros((2, 2, 2))
    total = 0.0
    for i, j in np.ndindex(3, 3):
        if m[i, j] > 1.6:
            break
        if j == 1:
            continue
        total += (i + 1) * m[i, j] ** 2
    for place in np.ndindex(cube.shape):
        cube[place] = x[place[0]] * x[place[1]] * x[place[2]]
    return total + np.sum(cube**2)


@right
def elements_with_their_places(x):
    total = 0.0
    for (i, j), v in np.ndenumerate(x.reshape(3, 3)):
        total += (i - j) * v**2
    return total


@right
def two_steps_of_a_generator(x):
    def values():
        yield x[0]
        yield x[1]

    it = values()
    return next(it) + next(it)


@right
def an_iterator_beside_itself(x):
    it = iter(x)
    return sum(a * b for a, b in zip(it, it))


# ------------------------------------------------------------------ numbers taken from arrays, ends of loops, texts of exceptions


@right
def views_of_a_number(x):
    a = x[0] * 2.0
    same = np.reshape(a, ()) + np.squeeze(a) * np.transpose(a) + np.transpose(a, ()) + np.squeeze(a, axis=())
    return same + np.ravel(a)[0] + np.reshape(a, (1,))[0] * x[1] + np.expand_dims(a, 0)[0]


@right
def items_of_a_number(x):
    a = np.sum(x) * x[1]
    return a[()] * len(a[None]) + a[None, None][0, 0] * x[2] + a[...]


@right
def a_loop_of_no_rounds_is_not_left(x):
    total = x[0]
    for i in range(np.sum(x > 100.0)):
        if x[i] > 1.0:
            break
        total += x[i]
    else:
        total *= x[1]
    return total


@right
def the_text_of_an_exception_of_the_users(x):
    try:
        if x[0] > 0.0:
            raise ValueError("two", 2.0)
    except ValueError as error:
        return x[0] * len(error.args) + len(str(error)) * x[1]
    return x[2]


@right
def tuples_without_items_are_one(x):
    none, nothing, one, two = (), (), (x[3],), (x[3], x[4])
    return (x[0] if none is nothing else x[1]) * (x[2] if one is two else x[5])


# ------------------------------------------------------------------ comparisons that a class defines


class Length:
    def __init__(self, size):
        self.size = size

    def __lt__(self, other):
        return self.size < other.size


class Never(Length):
    def __lt__(self, other):
        return False

    def __gt__(self, other):
        return False


class Always:
    def __init__(self, size):
        self.size = size

    def __lt__(self, other):
        return True

    def __gt__(self, other):
        return True


@right
def the_left_operand_is_asked_first(x):
    small, large, always = Length(x[3]), Length(x[2]), Always(x[0])
    first = x[0] if small < large else x[1]
    second = x[4] if large < always else x[5]  # 1.9 < 0.7
    third = x[6] if large > always else x[7]  # Length has no answer to that, Always has
    return first * second * third


@right
def a_derived_class_is_asked_first(x):
    small, never = Length(x[3]), Never(x[2])
    return x[0] if small < never else x[1] * x[2]


# ------------------------------------------------------------------ in order


@right
def lists_in_the_order_of_a_key(x):
    pairs = [(x[0], 1.0), (x[1], 2.0), (x[2], x[3])]
    pairs.sort(key=lambda p: p[0], reverse=True)
    words = sorted(["bb", "a", "ccc"], key=len)
    held = {"a": x[4], "bb": x[5] ** 2, "ccc": x[6] ** 3}
    return pairs[0][0] ** 2 * pairs[0][1] + pairs[2][0] * pairs[1][1] + sum((k + 1) * held[w] for k, w in enumerate(words))


@right
def ranks_by_a_key(x):
    order = sorted(range(len(x)), key=lambda i: -x[i])
    return sum((k + 1) * x[i] ** 2 for k, i in enumerate(order))


@right
def sums_of_a_sorted_list(x):
    held = list(x)
    held.sort()
    return sum(k * v for k, v in enumerate(held)) + ["a", "b", "a"].count("a") * x[0]


@right
def turned_queues(x):
    q = deque([x[0], x[1], x[2]])
    q.rotate(1)
    q.appendleft(x[3])
    return q[0] * q[1] + q[2] ** 2


@right
def pairs_of_equal_lengths(x):
    return sum(a * b for a, b in zip(x[:3], x[3:6], strict=True)) + sum(a * b for a, b in zip([x[0], x[1]], x[2:4], strict=True))


@pytest.mark.parametrize("jit", [False, True])
def test_lengths_that_differ_raise(jit: bool) -> None:
    if jit:
        pytest.importorskip("numba")

    def f(x, y):
        return sum(a * b for a, b in zip(x, y, strict=True))

    derived = symgrad.grad(f, jit="auto" if jit else False)
    assert derived(X, 2 * X) == pytest.approx(2 * X)
    with pytest.raises(ValueError, match="argument 2"):
        derived(X, X[1:])


# ------------------------------------------------------------------ powers that are complex


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize(
    "f", [lambda a: a**0.5, lambda a: abs(a**0.5) * a, lambda a: abs(pow(a, -1.5)), lambda a: (a * 2.0) ** (a + 2.5) * a]
)
def test_a_complex_power_of_python_is_refused(f: Any, jit: bool) -> None:
    if jit:
        pytest.importorskip("numba")

    def function(a):
        return f(a)

    derived = symgrad.value_and_grad(function, jit="auto" if jit else False)
    at = 1.7
    slope = (8 * (f(at + 1e-4) - f(at - 1e-4)) - (f(at + 2e-4) - f(at - 2e-4))) / 1.2e-3
    assert derived(at)[0] == pytest.approx(f(at), rel=1e-12)
    assert derived(at)[1] == pytest.approx(slope, rel=1e-8)
    with pytest.raises(NoDerivative, match="complex"):
        derived(-1.2)
    assert symgrad.grad(lambda a: abs(complex(a) ** 0.5))(-1.2) == pytest.approx(-0.5 * 1.2**-0.5)  # as the hint says


def test_a_complex_power_on_the_path_not_taken_is_no_matter() -> None:
    def f(a, n):
        return (a**0.5 if a > 0 else a**2) + abs(a) ** 0.5 + (a * a) ** 1.5 + a**n

    assert symgrad.grad(f)(-2.0, 3.0) == pytest.approx(-4 - 0.5 / 2**0.5 - 12 + 12)


# ------------------------------------------------------------------ the tests


def gradient_by_differences(f: Any, x: np.ndarray) -> np.ndarray:
    steps = 1e-4 * np.eye(9)
    return np.array([(8 * (f(x + s) - f(x - s)) - (f(x + 2 * s) - f(x - 2 * s))) / 1.2e-3 for s in steps])


@pytest.mark.sweep(2)
@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("f", VERDICTS.to_be_right, ids=lambda f: f.__name__)
def test_right(f: Any, jit: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if jit:
        pytest.importorskip("numba")
    monkeypatch.setenv("SYMGRAD_CHECK", "1")
    derived = symgrad.value_and_grad(f, jit="auto" if jit else False)
    expected = gradient_by_differences(f, X)
    for x, digits in ((X, 1e-9), (np.repeat(X, 2)[::2], 1e-9), (X.astype(np.float32), 2e-3)):
        before = x.copy()
        value, gradient = derived(x)
        assert np.array_equal(x, before) and gradient.dtype == x.dtype
        assert value == pytest.approx(f(x.copy()), rel=1e-12 if x.dtype == float else 1e-4)
        assert gradient == pytest.approx(expected, rel=digits, abs=digits)
        if jit:
            break  # other layouts and precisions of kernels have tests of their own


@pytest.mark.parametrize("f", VERDICTS.to_be_refused, ids=lambda f: f.__name__)
def test_refused(f: Any) -> None:
    with pytest.raises(SymgradError) as refusal:
        symgrad.grad(f)(X)
    assert "test_constructs.py" in str(refusal.value)
