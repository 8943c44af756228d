"""Programs whose value or gradient was once silently wrong: now correct, or refused."""

from __future__ import annotations

import collections
import functools
import queue
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.compat.paddle import argsort, cummax, moveaxis, topk
from symgrad.compat.paddle.nn import functional as network
from symgrad.eager import Tensor, backward, grad
from symgrad.errors import BadArgument, Overwritten, SymgradError
from symgrad.static import Executor, Program, Scope, append_backward, create_parameter, data, gradients, program_guard
from symgrad.static.initializers import Assign
from symgrad.testing import check_grads
from symgrad.vocabulary import tensors

X = np.array([0.7, -1.3, 1.9, 0.4, -0.6, 1.2, 0.9, 1.5, -0.8])


def around_the_end(x):
    i = np.arange(-1, 3)
    y = x[i]
    return np.sum((y[1:] - y[:-1]) ** 2) + np.sum(x.reshape(3, 3)[i] ** 2)


def steps_below_one(x):
    return np.sum(x[np.arange(0, 3, 0.5, dtype=int)] ** 2)


def size_by_keyword(x):
    return np.size(x.reshape(1, 9), axis=0) * x[0]


def digits_by_keyword(x):
    return round(x[0], ndigits=1) * x[1]


def windows(x):
    return np.sum(np.lib.stride_tricks.sliding_window_view(x, 3) ** 2)


def vectorized(x):
    def g(a):
        b = a * a
        return b + 1.0

    return np.vectorize(g)(x).sum()


def areas(x):
    return np.sum(np.trapezoid(x[:4].reshape(2, 2), x[4:8].reshape(2, 2) ** 2))


def broadcast_then_stored(x):
    y = x.copy()
    a, _ = np.broadcast_arrays(y, np.ones((2, 9)))
    y[0] = y[1] * 3.0
    return np.sum(a * a)


@pytest.mark.parametrize(
    "f", [broadcast_then_stored, around_the_end, steps_below_one, size_by_keyword, digits_by_keyword, windows, vectorized, areas]
)
def test_right(f: Any) -> None:
    value, gradient = symgrad.value_and_grad(f)(X)
    steps = 1e-6 * np.eye(9)
    assert value == pytest.approx(f(X), rel=1e-12)
    assert gradient == pytest.approx(np.array([(f(X + s) - f(X - s)) / 2e-6 for s in steps]), abs=1e-6)


class Doubled:
    """A decorator that changes what is computed, and says that it wraps the function."""

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.function = function

    def __call__(self, *args):
        return 2.0 * self.function(*args)

    def __get__(self, owner, kind=None):
        return lambda *args: 5.0 * self.function(owner, *args)


class Plainly:
    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.function = function

    def __call__(self, *args):
        return 3.0 * self.function(*args)


@Doubled
def decorated(x):
    return np.sum(x * x)


@Plainly
def decorated_plainly(x):
    return np.sum(x * x)


@functools.lru_cache
def factorial(n):
    return 1.0 if n < 2 else n * factorial(n - 1)


class Model:
    @Doubled
    def energy(self, x, times=1.0):
        return times * np.sum(x * x)

    @functools.cache  # noqa: B019 - as users write it
    def scale(self, n):
        return 2.0 * n


MODEL = Model()


def by_decorators_of_classes(x):
    return decorated(x) + decorated_plainly(x)


def by_a_descriptor_of_the_users(x):
    return MODEL.energy(x) + Model().energy(x, 2.0)


def by_numbers_that_are_kept(x):
    return factorial(5) * np.sum(x) + MODEL.scale(3) * x[0]


@pytest.mark.parametrize("f", [by_decorators_of_classes, by_a_descriptor_of_the_users, by_numbers_that_are_kept])
def test_what_decorators_do_is_not_dropped(f: Any) -> None:
    value, gradient = symgrad.value_and_grad(f)(X)
    steps = 1e-6 * np.eye(9)
    assert value == pytest.approx(f(X), rel=1e-12)
    assert gradient == pytest.approx(np.array([(f(X + s) - f(X - s)) / 2e-6 for s in steps]), rel=1e-7, abs=1e-6)


COUNT = np.zeros(1)


@functools.lru_cache
def table(n):
    return np.zeros(n)


@functools.lru_cache
def counted_once(n):
    COUNT[0] += 1.0
    return COUNT[0] * n


@functools.lru_cache
def drawn_once(n):
    return float(np.random.normal()) * n


def by_a_table_that_is_kept_and_changed(x):
    a = table(9)
    a[0] = x[0]
    return np.sum(table(9) * x)


def by_a_count_that_is_kept(x):
    return counted_once(3) * x[0] + counted_once(3) * x[1]


def by_a_draw_that_is_kept(x):
    return drawn_once(3) * x[0] - drawn_once(3) * x[0]


def test_a_table_that_is_kept_and_changed_is_the_same_object() -> None:
    table.cache_clear()
    value, gradient = symgrad.value_and_grad(by_a_table_that_is_kept_and_changed)(X)
    assert table(9)[0] == X[0]
    table.cache_clear()
    assert value == by_a_table_that_is_kept_and_changed(X)
    np.testing.assert_allclose(gradient, 2 * X * np.eye(len(X))[0])


@pytest.mark.parametrize("f", [by_a_count_that_is_kept, by_a_draw_that_is_kept])
def test_what_is_kept_is_not_computed_again_where_that_is_another_program(f: Any) -> None:
    with pytest.raises(SymgradError, match="a cached function"):
        symgrad.grad(f)(X)


def stored_then_raising(x, w):
    x[1:] *= 2.0
    w = w * 3.0
    s = 0.0
    for v in x:
        s = s + np.log(v) * w
    return s


def rebound_then_raising(x, w):
    for _ in range(2):
        x = x * 2.0
    s = 0.0
    for v in x:
        s = s + w / v
    return s


@pytest.mark.parametrize("f", [stored_then_raising, rebound_then_raising])
@pytest.mark.parametrize("last", [3.0, -3.0, 0.0])
def test_what_starts_again_in_the_plain_form_starts_with_the_same_arguments(f: Any, last: float) -> None:
    x, w = np.array([1.0, 2.0, last]), 2.0
    with np.errstate(all="ignore"):
        value, (x_grad, w_grad) = symgrad.value_and_grad(f, wrt=(0, 1))(x, w)
        expected = 3.0 * w / x if f is stored_then_raising else -w / (4.0 * x * x)

        assert value == pytest.approx(f(x.copy(), w), nan_ok=True)
        np.testing.assert_allclose(x_grad, expected, rtol=1e-13)
        assert w_grad == pytest.approx(value / w, nan_ok=True)


def windows_then_stored(x):
    y = x.copy()
    v = np.lib.stride_tricks.sliding_window_view(y, 3)
    y[0] = y[1] * 9.0
    return np.sum(v * v)


def coordinates(x):
    return np.sum(np.gradient(x * x, np.ones((3, 3))))


def counted(x):
    seen = []

    def g(a):
        seen.append(a)
        return a * len(seen)

    return np.vectorize(g)(x).sum()


@pytest.mark.parametrize("f", [windows_then_stored, coordinates, counted])
def test_refused(f: Any) -> None:
    with pytest.raises(SymgradError):
        symgrad.grad(f)(X)


def read_by_mask(x, m):
    return np.sum(x[m]) ** 2


def stored_by_mask(x, m):
    y = x.copy()
    y[m] = 2.0 * x[0]
    y[m] += x[1]
    return np.sum(y * y)


@pytest.mark.parametrize("f", [read_by_mask, stored_by_mask])
@pytest.mark.parametrize("length", [1, 3, 5])
def test_masks_of_another_length_raise_on_both_targets(f: Any, length: int) -> None:
    pytest.importorskip("numba")
    for jit in (False, True):
        with pytest.raises(IndexError):
            symgrad.grad(f, jit=jit)(X[:4], np.arange(length) == 0)


def cubes() -> tuple[Program, Program, Any, Any, Any]:
    main, startup = Program(), Program()
    with program_guard(main, startup):
        w = create_parameter([3], "float64", "w", default_initializer=Assign(np.array([0.1, -0.3, 0.5])))
        v = create_parameter([], "float64", "v", default_initializer=Assign(np.array(2.0)))
        loss = tensors.sum(w * w * w * v)
    return main, startup, w, v, loss


def test_a_gradient_that_is_cut_is_cut_itself() -> None:
    main, startup, w, v, loss = cubes()
    with program_guard(main, startup):
        (g,) = gradients(loss, w)
        assert g is not None
        (h,) = gradients(tensors.sum(g * w * v), w, no_grad_set={g})
    scope = Scope()
    Executor().run(startup, scope=scope)
    values = np.array([0.1, -0.3, 0.5])
    assert Executor().run(main, {}, [h], scope)[0] == pytest.approx(12 * values**2)


def test_what_is_fed_is_used() -> None:
    main, startup, _, _, loss = cubes()
    scope = Scope()
    Executor().run(startup, scope=scope)
    assert Executor().run(main, {"w": np.ones(3)}, [loss], scope)[0] == pytest.approx(6.0)
    with pytest.raises(BadArgument, match="makes it itself"):
        Executor().run(main, {loss.name: np.array(1.0)}, [loss], scope)
    with program_guard(main, startup):
        append_backward(loss)
    with pytest.raises(BadArgument, match="use_prune"):
        Executor().run(main, {}, [loss], scope, use_prune=True)


def test_grad_runs_hooks() -> None:
    x = Tensor(np.array([1.0, 2.0]), stop_gradient=False)
    y = x * x
    y.register_hook(lambda g: g * 10.0)
    (actual,) = grad(y * 3.0, x)
    np.testing.assert_array_equal(actual.numpy(), [60.0, 120.0])
    x.register_hook(lambda g: g + 1.0)
    (actual,) = grad(x * x, x, create_graph=True)
    np.testing.assert_array_equal(actual.numpy(), [3.0, 5.0])


def test_hooks_of_what_was_changed_in_place_are_refused() -> None:
    x = Tensor(np.array([1.0, 2.0]), stop_gradient=False)
    y = x * 1.0
    y.register_hook(lambda g: g * 10.0)
    z = y * 2.0
    y[0] = 5.0
    with pytest.raises(Overwritten):
        backward(z.sum())


def kept_by_a_queue(x):
    waiting = queue.Queue()
    waiting.put(x[0] ** 2)
    return waiting.get() * x[1]


OUTSIDE = queue.Queue()


def kept_outside(x):
    OUTSIDE.put(x[0] ** 2)
    return OUTSIDE.get() * x[1]


@pytest.mark.parametrize("f", [kept_by_a_queue, kept_outside])
def test_what_is_kept_or_changed_where_nobody_can_see_is_refused(f: Any) -> None:
    with pytest.raises(SymgradError):
        symgrad.grad(f)(X)


def deque_of_values(x):
    waiting = collections.deque()
    waiting.append(x[0] ** 2)
    return waiting.pop() * x[1] + x[2]


def filled_with_none(x):
    held = [None] * 2
    for i in range(2):
        held[i] = x[i] * x[i]
    return held[0] * held[1] + x[2]


def filled_with_integers(x):
    held = [0] * 2
    for i in range(2):
        held[i] = x[i] * x[i]
    return held[0] * held[1] + x[2]


def several_quantiles(x):
    return np.sum(np.quantile(x, [0.2, 0.7]) ** 2)


@pytest.mark.parametrize("f", [deque_of_values, filled_with_none, filled_with_integers, several_quantiles])
def test_containers_keep_derivatives(f: Any) -> None:
    steps = np.eye(9) * 1e-6
    np.testing.assert_allclose(symgrad.grad(f)(X), [(f(X + s) - f(X - s)) / 2e-6 for s in steps], rtol=1e-6, atol=1e-8)


def expression_gone_over_twice(x):
    squares = (a * a for a in x)
    return sum(squares) + x[0] * sum(squares)


def zip_gone_over_twice(x):
    pairs = zip(x, x[::-1])
    return sum(a * b for a, b in pairs) + x[0] * sum(a * b for a, b in pairs)


def kept_results_and_a_counter(x):
    count = [0]

    @functools.lru_cache(None)
    def square(k):
        count[0] += 1
        return x[k] ** 2

    square(0)
    square(0)
    return square(1) * count[0]


@pytest.mark.parametrize("f", [expression_gone_over_twice, zip_gone_over_twice])
def test_iterators_are_used_up(f: Any) -> None:
    steps = np.eye(9) * 1e-6
    np.testing.assert_allclose(symgrad.grad(f)(X), [(f(X + s) - f(X - s)) / 2e-6 for s in steps], rtol=1e-6, atol=1e-8)


def test_kept_results_with_a_counter_are_refused() -> None:
    with pytest.raises(SymgradError):
        symgrad.grad(kept_results_and_a_counter)(X)


def yielding(x):
    yield x[0] * 2.0


def test_a_generator_itself_is_refused() -> None:
    with pytest.raises(SymgradError, match="a generator cannot itself be differentiated"):
        symgrad.grad(yielding)(X)


def test_numbers_that_do_not_fit_are_not_fed() -> None:
    main = Program()
    with program_guard(main):
        doubled = data("n", [1], "int32") * 2
    assert Executor().run(main, {"n": np.array([3])}, [doubled], Scope())[0].tolist() == [6]
    with pytest.raises(TypeError, match="do not fit"):
        Executor().run(main, {"n": np.array([2**32 + 5])}, [doubled], Scope())


def test_axes_and_layouts_that_are_not_there_are_refused() -> None:
    image = Tensor(np.ones((1, 4, 2, 2)))
    for call in (lambda: moveaxis(image, 5, 0), lambda: network.maxout(image, 2, axis=9), lambda: network.pixel_shuffle(image, 2, "NHWC")):
        with pytest.raises(ValueError, match=r"out of bounds|not supported"):
            call()
    assert network.pixel_shuffle(image, 2, data_format="NCHW").shape == [1, 1, 4, 4]


def test_what_is_no_number_stays_in_order() -> None:
    x = Tensor(np.array([1.0, np.nan, 2.0]))
    np.testing.assert_array_equal(cummax(x)[0].numpy(), [1.0, np.nan, np.nan])
    assert argsort(Tensor(np.array([0, 1, 2], "uint8")), descending=True).numpy().tolist() == [2, 1, 0]
    assert np.isnan(topk(x, 1)[0].numpy()).all()


OUTSIDE = np.array([1.0, 2.0])


def partners_before_a_loop(x, c):
    a, b = x * 1.0, x * 2.0
    if c > 0:
        b = a
    total = 0.0
    for i in range(5):
        a[0] = a[0] * 3.0 + i
        total = total + b[0]
        if i == 1:
            a = a * 1.0
        if i == 2:
            b = b * 1.0
    return total + np.sum(a * b)


def shared_with_an_array_from_outside(x, c):
    a = x * 1.0
    if c > 0:
        a = OUTSIDE
    total = 0.0
    for i in range(5):
        a[0] = a[0] * 3.0 + i
        total = total + OUTSIDE[0]
        if i == 1:
            a = a * 1.0
    return total + np.sum(a)


@pytest.mark.parametrize("function", [partners_before_a_loop, shared_with_an_array_from_outside])
@pytest.mark.parametrize("c", [1.0, -1.0])
def test_arrays_that_may_be_one_before_a_loop_may_be_one_in_it(function, c):
    def plainly(x):
        OUTSIDE[:] = [1.0, 2.0]  # which plain Python writes to
        return function(x, c)

    x = X[:2].copy()
    value, gradient = symgrad.value_and_grad(function)(x, c)
    expected = plainly(x)
    steps = [(plainly(x + e) - plainly(x - e)) / 2e-6 for e in 1e-6 * np.eye(2)]
    OUTSIDE[:] = [1.0, 2.0]

    assert value == pytest.approx(expected, rel=1e-14)
    assert gradient == pytest.approx(steps, rel=1e-6)


def test_copies_of_arrays_that_may_be_one_are_apart():
    def follows_the_hint(x, c):
        a, b = x * 1.0, x * 2.0
        if c > 0:
            b = a.copy()
        total = 0.0
        for i in range(5):
            a[0] = a[0] * 3.0 + i
            total = total + b[0]
            if i == 1:
                a = a * 1.0
            if i == 2:
                b = b * 1.0
        return total + np.sum(a * b)

    for c in (1.0, -1.0):
        check_grads(follows_the_hint, (X[:2].copy(), c), wrt="x")
