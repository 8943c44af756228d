"""Programs whose gradient is easily wrong without an error: each is compared with differences, or refused."""

from __future__ import annotations

import importlib.util
import math
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from differences import changed, copied, derivative, direction_for, inner, same
from targets import keep_kernels

import symgrad
from symgrad.errors import UnsupportedSyntax

X = np.array([0.9, 1.3, 0.7, 1.6])


def differences(function: Callable[..., Any], *arguments: Any) -> np.ndarray:
    """The gradient with respect to the first argument, entry by entry; for an array result, the Jacobian."""
    x = arguments[0]
    rows = []
    for k in range(x.size):
        direction = np.zeros_like(x)
        direction.flat[k] = 1.0
        rows.append(derivative(lambda t: function(t, *changed(arguments[1:], copied)), x, direction))
    slopes = np.array(rows)
    return slopes.reshape(x.shape) if slopes.ndim == 1 else slopes.T


def assert_right(function: Callable[..., Any], *arguments: Any) -> None:
    """The gradient with respect to the first argument agrees with differences, and no argument was written to."""
    before = [np.copy(a, order="K") if isinstance(a, np.ndarray) else a for a in arguments]
    value, gradient = symgrad.value_and_grad(function)(*arguments)

    assert same(list(arguments), before), "an argument was written to"
    assert value == pytest.approx(function(*[np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments]), rel=1e-12)
    np.testing.assert_allclose(gradient, differences(function, *arguments), rtol=1e-8, atol=1e-9)


# ------------------------------------------------------------------ stores


def test_only_the_last_store_to_a_repeated_index_counts() -> None:
    index = np.array([0, 0, 2])
    weights = np.array([1.0, 10.0, 100.0])

    def f(v):
        y = np.zeros(3)
        y[index] = v
        return np.sum(weights * y * y)

    assert_right(f, np.array([1.0, 2.0, 3.0]))


def test_a_repeated_index_augmented_counts_once() -> None:
    def f(x):
        y = x * 1.0
        index = np.array([1, 1, 1, 3])
        y[index] += x * x
        y[index] *= x
        return np.sum(y * y)

    assert_right(f, X)


def test_add_at_counts_every_repeat() -> None:
    def f(x):
        y = x * 1.0
        np.add.at(y, np.array([1, 1, 1, 3]), x * x)
        return np.sum(y * y)

    assert_right(f, X)


def test_a_repeated_pair_of_indices() -> None:
    def f(x):
        y = np.zeros((2, 3))
        rows, columns = np.array([0, 1, 0, 0]), np.array([2, 1, 2, 0])
        y[rows, columns] = x
        y[rows, columns] *= x[::-1]
        return np.sum(y * y * np.arange(6.0).reshape(2, 3))

    assert_right(f, X)


def test_a_scalar_stored_into_a_slice_collects_all_its_cells() -> None:
    def f(x):
        y = x * x
        y[1:4] = x[0] * x[3]
        y[::2] = x[1]
        return np.sum(y * y * np.arange(1.0, 5.0))

    assert_right(f, X)


def test_a_row_stored_into_a_table_collects_all_its_rows() -> None:
    def f(x):
        y = np.ones((3, 4))
        y[...] = x
        y[1:, 2:] = x[:1]
        return np.sum(y**2 * np.arange(12.0).reshape(3, 4))

    assert_right(f, X)


def test_a_store_that_casts_to_integers_is_refused() -> None:
    def f(x):
        y = np.zeros(3, dtype=int)
        y[0] = x[0]
        return y[0] * x[1]

    with pytest.raises(symgrad.SymgradError) as refusal:
        symgrad.grad(f)(X)

    assert type(refusal.value).__name__ == "CastStore"
    assert "y[0] = x[0]" in str(refusal.value)


def test_a_store_that_casts_an_inactive_value_is_not_refused() -> None:
    def f(x):
        k = np.zeros(3, dtype=int)
        k[0] = 2.7
        k[1:] = np.array([1.2, 3.9])
        return np.sum(x[k] ** 2)

    assert_right(f, X)


def test_a_store_that_casts_to_single_precision_rounds() -> None:
    def f(x):
        y = np.zeros(4, dtype=np.float32)
        y[:] = x * x
        return np.sum(y * y)

    gradient = symgrad.grad(f)(X)

    assert gradient.dtype == np.float64
    np.testing.assert_allclose(gradient, 4.0 * X**3, rtol=1e-5)


def test_a_store_reads_its_value_before_it_writes() -> None:
    def f(x):
        y = x * x
        y[1:] = y[:-1] * 2.0
        y[:-1] += y[1:] * y[:-1]
        y[:] = y[::-1] * x
        return np.sum(y * y)

    assert_right(f, X)


# ------------------------------------------------------------------ names and memory


def test_arrays_of_no_dimension_are_aliased() -> None:
    def f(x):
        y = x
        y += 1.0
        return x * y

    value, gradient = symgrad.value_and_grad(f)(np.array(2.0))

    assert value == 9.0
    assert gradient == 6.0
    assert symgrad.value_and_grad(f)(2.0) == (6.0, 5.0)


def test_an_ellipsis_gives_a_view_of_one_cell() -> None:
    def f(x):
        y = x * 1.0
        cell = y[0, ...]
        cell *= x[1]
        other = y[2]
        other *= 100.0
        return np.sum(y * y) * other

    assert_right(f, X)


def test_views_taken_before_a_swap_stay_with_their_array() -> None:
    def f(x):
        a = x * 1.0
        b = x * x
        v, w = a[:2], b[2:]
        a, b = b, a
        v *= 2.0
        w += v * x[0]
        a[0] = b[0] * v[1]
        return np.sum(a * a) + np.sum(b * b * b) + np.sum(v * w)

    assert_right(f, X)


def test_buffers_swapped_an_odd_and_an_even_number_of_times() -> None:
    def f(x, rounds):
        a = x * 1.0
        b = np.zeros(len(x))
        for t in range(rounds):
            b[1:-1] = np.sin(a[1:-1]) * (a[:-2] + a[2:])
            b[0], b[-1] = a[-1], a[0]
            a, b = b, a
        return np.sum(a * a) + np.sum(b)

    for rounds in (0, 1, 2, 3, 4):
        assert_right(f, X, rounds)


def test_an_algebraic_identity_keeps_its_allocation() -> None:
    def f(x):
        y = x * 1.0
        z = y + 0.0
        w = np.reshape(z, (4,)) * 1
        y[0] = 0.0
        z[1] = 0.0
        return np.sum(x * y * z) + np.sum(w * w)

    assert_right(f, X)


def test_the_same_array_passed_as_two_arguments() -> None:
    def f(x, y):
        x *= 2.0
        return np.sum(x * y)

    x = X.copy()
    value, gradient = symgrad.value_and_grad(f)(x, x)

    # both names are one array, so the value is the sum of (2 x)**2
    assert value == pytest.approx(np.sum(4.0 * X * X))
    np.testing.assert_allclose(gradient, 8.0 * X)
    np.testing.assert_array_equal(x, X)


def test_a_view_kept_in_a_name_across_rounds() -> None:
    def f(x):
        hidden = np.zeros((2, 2))
        hidden[:] = x.reshape(2, 2)
        s = 0.0
        for t in range(3):
            view = x[:2]
            for i in range(2):
                hidden[i] = np.tanh(view * x[2:] + hidden[i]) * (1.0 + 0.3 * t)
                view = hidden[i]
            s = s + np.sum(view * view)
        return s

    assert_right(f, X)


def test_a_branch_that_makes_sharing_unsure_is_refused_or_right() -> None:
    def f(x):
        y = x * 1.0
        z = x * x
        v = y if x[0] > 0.5 else z
        v[0] = x[1] * x[2]
        return np.sum(y * y) + np.sum(z)

    try:
        gradient = symgrad.grad(f)(X)
    except symgrad.SymgradError as refusal:
        assert ".copy()" in str(refusal)
        return
    np.testing.assert_allclose(gradient, differences(f, X), rtol=1e-8)


def test_a_helper_that_stores_into_its_argument() -> None:
    def soften(a, k):
        a[k] = np.tanh(a[k]) * a[k - 1]
        a *= 0.9

    def f(x):
        y = x * x
        for k in range(len(y)):
            soften(y, k)
        soften(y[1:3], 0)
        return np.sum(y * y)

    assert_right(f, X)


def test_an_inactive_array_changed_by_a_call() -> None:
    def f(x, order):
        y = x[order] * np.arange(4.0)
        order.sort()
        return np.sum(y * x[order])

    assert_right(f, X, np.array([2, 0, 3, 1]))


def test_strided_and_column_major_arguments_to_ravel() -> None:
    def f(x):
        y = x * 1.0
        r = x.ravel()
        r[0] = r[1] * 3.0
        return np.sum(x * y) + np.sum(r * r * np.arange(1.0, r.size + 1.0))

    table = np.arange(1.0, 13.0).reshape(4, 3) / 7.0
    layouts = {
        "rows": table.copy(),
        "columns": np.asfortranarray(table),
        "transposed": np.ascontiguousarray(table.T).T,
        "strided": np.repeat(table, 2, axis=0)[::2],
    }
    derived = symgrad.value_and_grad(f)
    for x in (*layouts.values(), *layouts.values()):
        again = np.copy(x, order="K") if x.flags.forc else np.repeat(x, 2, axis=0)[::2]
        value, gradient = derived(x)

        assert value == pytest.approx(f(again), rel=1e-13)
        np.testing.assert_array_equal(x, table)
        direction = direction_for(x, np.random.default_rng(0))
        assert inner(gradient, direction) == pytest.approx(derivative(f, x, direction), rel=1e-8)


# ------------------------------------------------------------------ exits


def test_a_return_in_a_nested_loop_under_both_elses() -> None:
    def f(x, high, low):
        y = x * 1.0
        s = x[0]
        n = y.shape[0]
        for i in range(n):
            y[i] = y[i] * s
            if y[i] < low:
                s = s + 0.1 * y[i]
                continue
            for j in range(i, n):
                y[j] = y[j] + 0.3 * s * x[i]
                if y[j] > high:
                    return s * y[j] + j
                s = s * 0.9 + y[j] * 0.1
                if s > high:
                    break
            else:
                s = s * 1.1
            if s < -1.0:
                break
        else:
            s = s * s + y[0]
        return s + y.sum() * x[-1]

    generator = np.random.default_rng(5)
    derived = symgrad.value_and_grad(f)
    checked = 0
    for _ in range(150):
        x = generator.normal(size=generator.integers(2, 6))
        high, low = generator.uniform(0.3, 3.0), generator.uniform(-2.0, 0.3)
        direction = direction_for(x, generator)
        wide, narrow = (derivative(lambda t, high=high, low=low: f(t, high, low), x, direction, step) for step in (1e-4, 1e-5))
        if abs(wide - narrow) > 1e-6 * (1.0 + abs(wide)):
            continue
        value, gradient = derived(x, high, low)
        checked += 1
        assert value == pytest.approx(f(x, high, low), rel=1e-12)
        assert inner(gradient, direction) == pytest.approx(wide, rel=1e-6, abs=1e-8)
    assert checked > 100


def test_a_very_long_range_that_is_left_early() -> None:
    def f(x):
        for it in range(10**9):
            x = 0.5 * np.sin(x)
            if x.sum() < 1e-2:
                break
        return np.sum(x) * 1e3 + it

    assert_right(f, X)


def test_a_return_before_names_are_bound() -> None:
    def f(x, flag):
        if flag:
            return np.sum(x * x)
        y = x * 2.0
        for i in range(3):
            if i == 1:
                z = y * x
                break
        return np.sum(z)

    assert_right(f, X, True)
    assert_right(f, X, False)


# ------------------------------------------------------------------ globals and closures

RATE = 2.0
WEIGHTS = np.array([1.0, 2.0, 3.0, 4.0])


def weighted_by_globals(x):
    return RATE * np.sum(WEIGHTS * x * x)


def test_a_changed_global_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    derived = symgrad.grad(weighted_by_globals)
    np.testing.assert_allclose(derived(X), 2.0 * 2.0 * WEIGHTS * X)
    monkeypatch.setitem(globals(), "RATE", 5.0)
    np.testing.assert_allclose(derived(X), 2.0 * 5.0 * WEIGHTS * X)
    monkeypatch.setitem(globals(), "WEIGHTS", np.ones(4))
    np.testing.assert_allclose(derived(X), 2.0 * 5.0 * X)
    monkeypatch.setitem(globals(), "RATE", np.array([1.0, 0.0, 0.0, 2.0]))
    with pytest.raises((symgrad.SymgradError, TypeError, ValueError)):
        derived(X)


def test_a_changed_closure_cell_is_seen() -> None:
    k = 2.0

    def f(x):
        return k * np.sum(x * x)

    derived = symgrad.grad(f)
    np.testing.assert_allclose(derived(X), 4.0 * X)
    k = 5.0
    np.testing.assert_allclose(derived(X), 10.0 * X)


def test_a_changed_global_array_is_seen() -> None:
    table = np.array([1.0, 2.0, 3.0, 4.0])

    def f(x):
        return np.sum(table * x * x)

    derived = symgrad.grad(f)
    np.testing.assert_allclose(derived(X), 2.0 * table * X)
    table[0] = 10.0
    np.testing.assert_allclose(derived(X), 2.0 * table * X)


# ------------------------------------------------------------------ pullbacks


def overwriting(x):
    y = x * 1.0
    for t in range(3):
        y[1:-1] = y[1:-1] * (y[:-2] + y[2:])
    return y


def test_a_pullback_called_for_every_row_of_an_identity() -> None:
    out, pullback = symgrad.vjp(overwriting, X)
    rows = [pullback(row) for row in np.eye(4)]
    again = [pullback(row) for row in np.eye(4)[::-1]][::-1]

    np.testing.assert_array_equal(out, overwriting(X))
    np.testing.assert_allclose(np.array(rows).reshape(4, 4), differences(overwriting, X), rtol=1e-8, atol=1e-9)
    np.testing.assert_array_equal(np.array(rows), np.array(again))


def test_a_pullback_writes_neither_its_seed_nor_the_result() -> None:
    out, pullback = symgrad.vjp(overwriting, X)
    seed, before = np.ones(4), out.copy()
    result = pullback(seed)
    result = result[0] if isinstance(result, tuple) else result
    result += 100.0

    np.testing.assert_array_equal(seed, np.ones(4))
    np.testing.assert_array_equal(out, before)
    np.testing.assert_allclose(pullback(seed), symgrad.vjp(overwriting, X)[1](np.ones(4)))


def test_residuals_survive_an_optimiser_step_in_place() -> None:
    def f(x):
        return np.sum(x**3) + np.prod(x)

    x = X.copy()
    _, pullback = symgrad.vjp(f, x)
    first = np.array(pullback(1.0))
    x -= 0.1 * first.reshape(4)

    np.testing.assert_array_equal(np.array(pullback(1.0)), first)


def test_residuals_survive_a_change_of_the_result() -> None:
    out, pullback = symgrad.vjp(lambda x: np.exp(x), X)
    out[:] = 0.0

    np.testing.assert_allclose(np.array(pullback(np.ones(4))).reshape(4), np.exp(X))


def test_aux_arrays_keep_the_state_they_had_at_the_end() -> None:
    def f(x):
        y = x * 1.0
        for t in range(3):
            y[1:-1] = y[1:-1] * (y[:-2] + y[2:])
        return np.sum(y * y), y

    (value, aux), gradient = symgrad.value_and_grad(f, has_aux=True)(X)

    np.testing.assert_array_equal(aux, f(X)[1])
    assert value == pytest.approx(f(X)[0])
    np.testing.assert_allclose(gradient, differences(lambda x: f(x)[0], X), rtol=1e-8)


# ------------------------------------------------------------------ ownership


def test_gradients_share_memory_with_nothing() -> None:
    x, w = X.copy(), np.arange(1.0, 5.0)
    by_x, by_w = symgrad.grad(lambda x, w: x @ w, wrt=(0, 1))(x, w)
    by_x *= 0.0
    by_w *= 0.0
    first, second = symgrad.grad(lambda x, y: np.sum(x + y), wrt=(0, 1))(x, w)
    first *= -1.0
    constant = symgrad.grad(lambda x: np.sum(x))(x)
    constant[0] = 3.0

    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(w, np.arange(1.0, 5.0))
    np.testing.assert_array_equal(second, np.ones(4))
    np.testing.assert_array_equal(constant, [3.0, 1.0, 1.0, 1.0])


def test_arguments_may_be_read_only() -> None:
    def f(x):
        x[0] *= x[1]
        return np.sum(x * x)

    x = X.copy()
    x.flags.writeable = False

    np.testing.assert_allclose(symgrad.grad(f)(x), differences(f, X), rtol=1e-8)


def test_a_global_array_is_never_written() -> None:
    table = np.arange(1.0, 5.0)

    def f(x):
        t = table * 1.0
        t *= x
        return np.sum(t * t)

    symgrad.grad(f)(X)

    np.testing.assert_array_equal(table, np.arange(1.0, 5.0))


# ------------------------------------------------------------------ higher order and saved text


def looped(x):
    s = x
    for i in range(4):
        if s > 1.0:
            s = math.sin(s) * x
        else:
            s = s * s + 0.5 * x
    return s * s


def test_the_third_derivative_of_a_loop() -> None:
    first = symgrad.grad(looped)
    second = symgrad.grad(first)
    third = symgrad.grad(second)
    for x in (0.4, 0.9, 1.7):
        assert first(x) == pytest.approx(derivative(looped, x, 1.0), rel=1e-8)
        assert second(x) == pytest.approx(derivative(first, x, 1.0), rel=1e-7)
        assert third(x) == pytest.approx(derivative(second, x, 1.0), rel=1e-6)


def test_a_function_that_calls_a_gradient_has_a_gradient() -> None:
    def energy(x):
        y = x * 1.0
        y[1:] *= y[:-1]
        return np.sum(np.sin(y) * y)

    slope = symgrad.grad(energy)

    def steepness(x):
        return np.sum(slope(x) ** 2)

    assert_right(steepness, X)


def test_saved_text_read_back_gives_the_same_gradient(tmp_path: Path) -> None:
    def f(x, w):
        h = x * 1.0
        for i in range(3):
            h = np.tanh(w * h + x)
            h[0] = h[1] * x[2]
        return np.sum(h)

    derived = symgrad.grad(f, wrt=(0, 1))
    expected = derived(X, 0.7)
    path = tmp_path / "saved_gradient.py"
    symgrad.save(derived, path)
    spec = importlib.util.spec_from_file_location("saved_gradient", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (read,) = [v for k, v in vars(module).items() if callable(v) and k.startswith("f") and k.endswith("grad")]

    text = path.read_text()
    assert "symgrad" not in [line.split()[1] for line in text.splitlines() if line.startswith(("import ", "from "))]
    for a, b in zip(read(X, 0.7), expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13)


# ------------------------------------------------------------------ memory


def peak(function: Callable[[], Any]) -> int:
    """The most bytes in use at once while it runs."""
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_loop_that_saves_one_array_a_step_allocates_little_more() -> None:
    def f(x, steps):
        h = x
        for t in range(steps):
            h = np.tanh(h * x)
        return np.sum(h)

    n, steps = 20_000, 50
    x = np.linspace(0.1, 1.0, n)
    derived = symgrad.grad(f)
    derived(x, 1)

    assert peak(lambda: derived(x, steps)) - peak(lambda: f(x, steps)) <= 1.1 * steps * n * 8


def test_a_linear_stencil_saves_nothing() -> None:
    def f(x, steps):
        y = x * 1.0
        for t in range(steps):
            y[1:-1] = y[1:-1] + 0.1 * (y[:-2] - 2.0 * y[1:-1] + y[2:])
        return np.sum(y * y)

    n, steps = 20_000, 50
    x = np.linspace(0.1, 1.0, n)
    derived = symgrad.grad(f)
    derived(x, 1)

    assert peak(lambda: derived(x, steps)) <= 12 * n * 8


def test_a_dict_that_changes_under_its_items_is_refused() -> None:
    def later(x):
        d = {"a": x[0], "b": 2.0 * x[1]}
        total = 0.0
        for _, value in d.items():
            total += value * value
            d["b"] = x[2]
        return total

    def before(x):
        d = {"a": x[0], "b": 2.0 * x[1]}
        values = d.values()
        d["a"] = x[2]
        return sum(values)

    with pytest.raises(symgrad.SymgradError, match="dict"):
        symgrad.grad(later)(X)
    symgrad.check_grads(before, (X,))  # the view shows what the dict holds now


def test_a_dict_value_may_change_once_it_was_seen() -> None:
    def f(x):
        d = {"a": x[0], "b": 2.0 * x[1]}
        for key, value in d.items():
            d[key] = value * value
        return d["a"] * d["b"]

    assert_right(f, X)


# ------------------------------------------------------------------ infinite slopes of Python's numbers

INF, NAN = math.inf, math.nan
STEEP: list[tuple[Callable[[float], Any], float, float]] = [
    (lambda x: x**0.5, 0.0, INF),
    (lambda x: 2.0 - 3.0 * math.sqrt(x), 0.0, -INF),
    (lambda x: math.pow(x, 0.25), 0.0, INF),
    (lambda x: (x**2) ** 0.5, 0.0, NAN),
    (lambda x: math.sqrt(x * x + x * x), 0.0, NAN),
    (lambda x: math.hypot(x, 2.0 * x), 0.0, NAN),
    (lambda x: math.hypot(x, 0.0), 0.0, NAN),
    (lambda x: math.atan2(x, 0.0), 0.0, NAN),
    (lambda x: math.asin(x), -1.0, INF),
    (lambda x: math.acos(x), 1.0, -INF),
    (lambda x: math.acosh(x), 1.0, INF),
    (lambda x: abs(x) ** 1.5 + x**1.0, 0.0, 1.0),
    (lambda x: x**2.5 + x**0, 0.0, 0.0),
]


@pytest.mark.parametrize(("f", "at", "expected"), STEEP)
def test_an_infinite_slope_is_infinite_for_pythons_numbers_too(f: Callable[[float], Any], at: float, expected: float) -> None:
    value, gradient = symgrad.value_and_grad(f)(at)

    assert value == f(at)
    np.testing.assert_equal(float(gradient), expected)
    np.testing.assert_equal(float(symgrad.grad(f)(at)), expected)


@pytest.mark.parametrize("exponent", [0.5, 1.0, 2.0, 3.5, 0.0])
def test_the_slope_of_a_power_at_zero_is_that_of_numpys_numbers(exponent: float) -> None:
    def f(x, p):
        return x**p

    python = symgrad.grad(f, wrt=(0, 1))(0.0, exponent)
    with np.errstate(divide="ignore"):
        numpy = symgrad.grad(f, wrt=(0, 1))(np.float64(0.0), np.float64(exponent))

    np.testing.assert_equal([float(g) for g in python], [float(g) for g in numpy])


def test_what_the_function_refuses_still_raises() -> None:
    def power(x, p):
        return x**p

    with pytest.raises(ZeroDivisionError):
        symgrad.grad(power)(0.0, -1.0)
    with pytest.raises(ZeroDivisionError):
        symgrad.grad(power)(0.0, -0.5)
    with pytest.raises(ZeroDivisionError):
        symgrad.grad(lambda x: x**-0.5)(0.0)
    with pytest.raises(ZeroDivisionError):
        symgrad.grad(lambda x: 1.0 / x)(0.0)
    with pytest.raises(ValueError, match="domain error"):
        symgrad.value_and_grad(lambda x: math.log(x))(0.0)


def test_slopes_of_slopes_may_be_infinite() -> None:
    second = symgrad.grad(symgrad.grad(lambda x: x**1.5 + math.sqrt(1.0 + x)))

    assert second(0.0) == INF
    assert second(0.25) == pytest.approx(0.75 * 0.25**-0.5 - 0.25 * 1.25**-1.5)


# ------------------------------------------------------------------ functions that raise


def scaled(x, how):
    if how == "sum":
        return np.sum(x)
    raise ValueError(f"scaled does not know {how!r}")


def test_what_always_raises_raises_as_it_does_without_us() -> None:
    def f(x):
        y = 2.0 * scaled(x, "mean")[0]
        return y * x[0]

    for derived in (symgrad.grad(f), symgrad.value_and_grad(f), lambda x: symgrad.vjp(f, x)):
        with pytest.raises(ValueError, match="scaled does not know 'mean'"):
            derived(X)


def test_what_raises_on_one_path_raises_there_only() -> None:
    def f(x):
        total = 0.0
        for a in x:
            if a > 5.0:
                total = total + 3.0 * scaled(a, "mean")[3]
            total = total + a * (scaled(x, "sum") if a < 5.0 else 2.0 * scaled(x, "max"))
        return total

    assert_right(f, X)
    with pytest.raises(ValueError, match="'mean'"):
        symgrad.grad(f)(6.0 * X)


def test_a_loop_whose_test_always_raises_is_refused() -> None:
    def f(x):
        while scaled(x, "mean") > 2.0:
            x = x * 0.5
        return np.sum(x)

    with pytest.raises(UnsupportedSyntax, match="the test of this loop always raises"):
        symgrad.grad(f)(X)


# ------------------------------------------------------------------ pullbacks inside a function


def test_a_pullback_may_be_called_inside_a_function() -> None:
    def inner(y, a):
        return np.sin(y) * y * a

    def once(x):
        out, pull = symgrad.vjp(lambda y: np.sum(np.sin(y) * x), x)
        (gradient,) = pull(out)
        return np.sum(gradient * x) + out

    def twice(x):
        out, pull = symgrad.vjp(inner, x, 2.0 * x[0], wrt=0)
        return np.sum(pull(x) * pull(out)) + out[1]

    def of_both(x):
        out, pull = symgrad.vjp(inner, x, x[0])
        by_vector, by_number = pull(x)
        return np.sum(by_vector * x) + np.sum(out) * by_number

    for f in (once, twice, of_both):
        assert_right(f, X)


# ------------------------------------------------------------------ the mean of nothing


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.mean(x),
        lambda x: np.mean(x * x) ** 2,
        lambda x: np.sum(np.mean(x.reshape(-1, 2), axis=0)),
        lambda x: np.var(x),
        lambda x: np.std(x, ddof=1),
        lambda x: np.average(x),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_gradient_of_the_mean_of_nothing_is_nothing(f: Callable[..., Any], jit: bool) -> None:
    if jit:
        pytest.importorskip("numba")
    gradient = symgrad.grad(f, jit=jit)(np.zeros(0))

    assert gradient.shape == (0,)
    assert gradient.dtype == np.float64


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_variance_of_one_number_with_a_degree_of_freedom_gone_is_undefined_and_so_is_its_slope() -> None:
    np.testing.assert_array_equal(symgrad.grad(lambda x: np.var(x, ddof=1))(np.ones(1)), [np.nan])


# ------------------------------------------------------------------ outer products summed after a loop


def layers(w, u, b, h, x):
    for t in range(len(x)):
        h = np.tanh(w @ h + x[t] @ u + b)
        for k in range(2):
            h = h @ w.T * (k + 1.0)
    return np.sum(h * h)


@pytest.mark.parametrize("rounds", [0, 1, 7])
@pytest.mark.parametrize("jit", [False, True])
def test_outer_products_of_all_rounds_are_summed(rounds: int, jit: bool) -> None:
    if jit:
        pytest.importorskip("numba")
    chance = np.random.default_rng(rounds)
    w, u, b, h, x = (0.4 * chance.normal(size=n) for n in ((3, 3), (2, 3), 3, 3, (rounds, 2)))
    derived = symgrad.grad(layers, wrt=("w", "u", "b", "x"), jit=jit)
    gradients = derived(w, u, b, h, x)

    if not jit:
        assert "add_products(w_grad, w_grad_columns, w_grad_rows)" in derived.source(w, u, b, h, x, optimize="speed")
        assert "add_products" not in derived.source(w, u, b, h, x)
    for k, (gradient, like) in enumerate(zip(gradients, (w, u, b, x), strict=True)):
        direction = chance.normal(size=like.shape)
        ends = []
        for step in (1e-6, -1e-6):
            moved = [w, u, b, h, x]
            moved[(0, 1, 2, 4)[k]] = like + step * direction
            ends.append(layers(*moved))
        assert np.sum(gradient * direction) == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6, abs=1e-8)


def windows(x: Any, w: Any) -> Any:
    """Slices whose lengths nobody knows are added up in place."""
    n = x.shape[0] - w.shape[0] + 1
    out = np.zeros(n)
    for i in range(w.shape[0]):
        out += w[i] * x[i : i + n]
    return np.sum(np.tanh(out))


@pytest.mark.parametrize("jit", [False, True])
def test_what_is_added_in_place_has_the_shape_of_the_place(jit: bool) -> None:
    if jit:
        pytest.importorskip("numba")
    chance = np.random.default_rng(2)
    x, w = chance.normal(size=9), chance.normal(size=3)
    derived = symgrad.grad(windows, wrt=("x", "w"), jit=jit)
    gradients = derived(x, w)

    text = derived.source(x, w, optimize="speed")
    assert jit or "out += w_list[i]" in text
    assert jit or "shape_tape" not in text
    for k, (gradient, like) in enumerate(zip(gradients, (x, w), strict=True)):
        direction = chance.normal(size=like.shape)
        ends = [windows(*((x, w)[:k] + (like + s * 1e-6 * direction,) + (x, w)[k + 1 :])) for s in (1, -1)]
        assert np.vdot(gradient, direction) == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6)


def widened(x: Any, y: Any, n: int) -> Any:
    out = x[:n] * 1.0
    out += y[1:]
    return np.sum(out * out)


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize(("n", "m"), [(3, 4), (3, 2), (1, 2), (0, 2)])
def test_one_cell_is_added_to_all_in_place(n: int, m: int, jit: bool) -> None:
    if jit:
        pytest.importorskip("numba")
    x, y = np.arange(1.0, 6.0), np.arange(2.0, 2.0 + m)
    derived = symgrad.grad(widened, wrt=("x", "y"), jit=jit)
    keep_kernels(derived)
    x_grad, y_grad = derived(x, y, n)

    twice = 2 * (x[:n] + y[1:])
    assert x_grad.tolist() == [*twice, *[0.0] * (5 - n)]
    assert y_grad.tolist() == ([0.0, *twice] if m == n + 1 else [0.0, sum(twice)])


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize(("n", "m"), [(1, 4), (3, 3), (0, 3)])
def test_what_would_grow_in_place_is_refused_as_numpy_does(n: int, m: int, jit: bool) -> None:
    if jit:
        pytest.importorskip("numba")
    x, y = np.arange(1.0, 6.0), np.arange(2.0, 2.0 + m)

    with pytest.raises(ValueError, match="broadcast"):
        widened(x, y, n)
    with pytest.raises(ValueError, match="broadcast|shape"):
        symgrad.grad(widened, wrt=("x", "y"), jit=jit)(x, y, n)
