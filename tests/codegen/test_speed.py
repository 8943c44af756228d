"""Fast forms give the results of plain forms, also where Python's numbers raise and NumPy's do not."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad
from tests.interpreter import same


def quotients(x: Any) -> Any:
    s = 0.0
    for i in range(x.shape[0]):
        s += 1.0 / x[i]
    return s


def roots(x: Any) -> Any:
    s = 0.0
    for i in range(x.shape[0]):
        s += np.sqrt(x[i]) * x[i]
    return s


def fractional_powers(x: Any) -> Any:
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] ** 0.5 + x[i] ** 3 + x[i] ** -1
    return s


def exponentials(x: Any) -> Any:
    s = 0.0
    for i in range(x.shape[0]):
        s += np.exp(x[i]) * np.log(x[i])
    return s


def recurrence(x: Any) -> Any:
    y = np.zeros_like(x)
    y[0] = x[0]
    for i in range(1, x.shape[0]):
        y[i] = np.tanh(y[i - 1] * 0.5 + x[i])
    return np.sum(y * y)


def smallest_path(x: Any) -> Any:
    n = x.shape[0]
    cost = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            best = x[i] - x[j]
            cost[i, j] = best * best
            if i > 0 and cost[i - 1, j] < cost[i, j]:
                cost[i, j] = cost[i, j] + cost[i - 1, j] / (1.0 + x[j] * x[j])
    return cost[n - 1, n - 1] + np.sum(cost)


def kept_count(x: Any) -> Any:
    y = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        y[i] = i
        if x[i] > 0.2:
            y[i] += x[i] * i
    return y.sum()


FUNCTIONS: list[Callable[..., Any]] = [quotients, roots, fractional_powers, exponentials, recurrence, smallest_path, kept_count]
POINTS = [
    np.array([0.3, 0.7, 1.1]), np.array([0.3, 0.0, -1.5]), np.array([-0.0, 2.0, 1e308]), np.array([np.inf, np.nan, 800.0]),
    np.array([0.5]),
]  # fmt: skip


@pytest.mark.parametrize("point", POINTS, ids=str)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_what_runs_and_what_is_read_agree_wherever_it_is_evaluated(function: Callable[..., Any], point: Any) -> None:
    derived = symgrad.value_and_grad(function)
    with np.errstate(all="ignore"):
        value, gradient = derived(point.copy())
        plain = derived.compiled().__globals__.get(f"{function.__name__}_value_and_grad_plain", derived)
        reference, expected = plain(point.copy())
        own = function(point.copy())

    assert isinstance(value, float) and not isinstance(value, complex)
    np.testing.assert_allclose([value, reference], [own, own], rtol=1e-13)
    np.testing.assert_allclose(gradient, expected, rtol=1e-13)
    assert gradient.dtype == np.float64 and gradient.shape == point.shape


def test_loops_over_elements_run_on_lists_and_python_floats() -> None:
    derived = symgrad.value_and_grad(recurrence)
    fast, plain = derived.source(np.ones(3), optimize="speed"), derived.source(np.ones(3))

    assert "x_list = x.tolist()" in fast and "math.tanh" in fast and "recurrence_value_and_grad_plain(x)" in fast
    assert "tolist" not in plain and "math" not in plain


def test_what_the_function_raises_itself_it_raises_still() -> None:
    def checked(x: Any) -> Any:
        s = 0.0
        for i in range(x.shape[0]):
            if x[i] < 0.0:
                raise ValueError(f"element {i} is negative")
            s += math.log(x[i]) / x[i]
        return s

    derived = symgrad.grad(checked)
    with pytest.raises(ValueError, match="element 1 is negative"):
        derived(np.array([1.0, -2.0]))
    with pytest.raises(ValueError, match="math domain error|expected a positive input"):
        derived(np.array([1.0, 0.0]))


def test_an_effect_is_had_once(capsys: pytest.CaptureFixture[str]) -> None:
    def shown(x: Any) -> Any:
        s = 0.0
        for i in range(x.shape[0]):
            print("element", i)
            s += 1.0 / x[i]
        return s

    derived = symgrad.grad(shown)
    with np.errstate(all="ignore"):
        gradient = derived(np.array([1.0, 0.0]))

    assert same(gradient, np.array([-1.0, -np.inf]))
    assert capsys.readouterr().out == "element 0\nelement 1\n"


def test_an_index_that_is_out_of_range_is_refused_as_numpy_does() -> None:
    def beyond(x: Any, n: int) -> Any:
        s = 0.0
        for i in range(n):
            s += x[i] * x[i - 1]
        return s

    derived = symgrad.grad(beyond)

    assert same(derived(np.array([1.0, 2.0, 3.0]), 3), np.array([5.0, 4.0, 3.0]))
    with pytest.raises(IndexError):
        derived(np.array([1.0, 2.0, 3.0]), 4)


def test_slices_that_every_round_makes_alike_are_made_before_the_loop() -> None:
    def stencil(a: Any, b: Any, n: int) -> Any:
        for _ in range(n):
            a[1:-1] = 0.5 * (a[:-2] + b[2:])
            b = b * a
            for k in range(1, n):
                a[:k] += a[:k] * b[-1]
        return np.sum(a)

    derived = symgrad.grad(stencil, wrt=("a", "b"))
    a, b = np.linspace(0.1, 1.0, 5), np.linspace(0.5, 1.5, 5)
    gradient = derived(a, b, 3)
    text, plain = derived.source(a, b, 3, optimize="speed"), derived.source(a, b, 3)

    assert "a_1_view_1 = a_1[:-2]" in text and "np.multiply(0.5, a_1_view_1 + b_1[2:], out=a_1_view)" in text
    assert "a_1[:k].copy()" in text
    assert "view" not in plain
    symgrad.check_grads(stencil, (a, b, 3), wrt=("a", "b"))
    assert all(np.isfinite(g).all() for g in gradient)


def test_a_comprehension_keeps_its_slices() -> None:
    def tails(x: Any, n: int) -> Any:
        s = 0.0
        for _ in range(n):
            s = s + sum([np.sum(x[k:] * x[1:]) if k == 1 else 0.0 for k in range(2)])
        return s

    x = np.array([0.5, 1.5, -2.0])

    np.testing.assert_allclose(symgrad.grad(tails)(x, 2), [0.0, 6.0, -8.0])


def test_a_slice_of_a_name_that_may_be_unbound_is_made_where_it_is_read() -> None:
    def perhaps(x: Any, n: int) -> Any:
        if n > 0:
            y = x * x
        s = 0.0
        for _ in range(n):
            s = s + np.sum(y[1:] * x[1:])
        return s + np.sum(x)

    derived = symgrad.grad(perhaps)
    x = np.array([0.5, 1.5, -2.0])

    np.testing.assert_allclose(derived(x, 2), 1.0 + 6.0 * np.array([0.0, 1.5**2, 4.0]))
    assert "y_view" not in derived.source(x, 2, optimize="speed")


def rows_and_cells(a: Any, n: int) -> Any:
    a = a.copy()
    for _ in range(n):
        for i in range(1, a.shape[0]):
            a[i, 1:] += 0.5 * a[i - 1, :-1]
            for j in range(1, a.shape[1]):
                a[i, j] += a[i, j - 1] * a[-1, -j]
                a[i, j] /= 3.0 + a[i, j] * a[i, j]
    return np.sum(a * a)


def test_cells_of_an_array_that_is_used_whole_too_go_through_its_memory() -> None:
    derived = symgrad.value_and_grad(rows_and_cells)
    a = np.linspace(0.1, 1.0, 12).reshape(3, 4)
    laid = [a, np.asfortranarray(a), a[::-1, ::-1][::-1, ::-1], np.broadcast_to(a, (2, 3, 4))[1]]
    text = derived.source(a, 2, optimize="speed")

    assert "a_1_cells = memoryview(a_1)" in text and "a_1_cells[i, j] = " in text and "a_grad_cells[i, j - 1] += " in text
    assert "memoryview" not in derived.source(a, 2)
    symgrad.check_grads(rows_and_cells, (a, 2), wrt=("a",))
    for one in laid:
        value, gradient = derived(one, 2)
        assert value == rows_and_cells(a, 2)
        assert same(gradient, derived(a, 2)[1])
    with pytest.raises(IndexError):
        symgrad.grad(beyond_rows)(a, 9)


def beyond_rows(a: Any, n: int) -> Any:
    a = a * 1.0
    for i in range(n):
        a[i, 0] += a[0, i] * 2.0
        a[0] *= 0.5
    return np.sum(a)


def gathered(v: Any, k: Any, p: Any, x: Any) -> Any:
    y = np.zeros(p.shape[0] - 1)
    for i in range(p.shape[0] - 1):
        for j in range(p[i], p[i + 1]):
            y[i] += v[j] * x[k[j]]
    return np.sum(y * y)


def test_places_read_of_integers_are_python_s() -> None:
    v, k, p, x = np.array([0.5, -1.0, 2.0, 0.25]), np.array([0, 2, -1, 0]), np.array([0, 1, 1, 4]), np.array([1.5, -0.5, 3.0])
    derived = symgrad.grad(gathered, wrt=("v", "x"))
    text = derived.source(v, k, p, x, optimize="speed")

    assert "p_cells = memoryview(p)" in text and "x_cells[k_cells[j]]" in text
    symgrad.check_grads(gathered, (v, k, p, x), wrt=("v", "x"))
    assert all(map(same, derived(v, k.astype(np.int32), p, x), derived(v, k, p, x)))


def test_a_variable_named_memoryview_is_left_alone() -> None:
    def named(x: Any, memoryview: Any) -> Any:
        s = 0.0
        for i in range(x.shape[0]):
            x[i] *= memoryview[0]
            s += np.sum(x[:i] * memoryview)
        return s

    x = np.array([0.5, 1.5, -2.0])
    symgrad.check_grads(lambda x, m: named(x.copy(), m), (x, np.array([2.0])))


def test_a_name_that_a_loop_binds_anew_keeps_its_reads() -> None:
    def rebound(x: Any, n: int) -> Any:
        s = 0.0
        for i in range(n):
            s += x[i] * x[0]
            x = x * x + np.sum(x)
        return s

    derived = symgrad.grad(rebound)
    x = np.array([0.5, 0.25, 0.125])

    assert "x_cells" not in derived.source(x, 3, optimize="speed")
    symgrad.check_grads(rebound, (x, 3), wrt=("x",))


def tridiagonal(u: Any, k: float, steps: int) -> Any:
    n = u.shape[0]
    u = u.copy()
    for _ in range(steps):
        c, d = np.zeros(n), np.zeros(n)
        c[0], d[0] = -k / (1.0 + 2.0 * k), u[0] / (1.0 + 2.0 * k)
        for i in range(1, n):
            m = 1.0 + 2.0 * k + k * c[i - 1]
            c[i] = -k / m
            d[i] = (u[i] + k * d[i - 1]) / m
        u[n - 1] = d[n - 1]
        for i in range(n - 2, -1, -1):
            u[i] = d[i] - c[i] * u[i + 1]
    return np.sum(u * u)


def test_lists_stay_lists_between_loops() -> None:
    derived = symgrad.grad(tridiagonal, wrt=("u", "k"))
    u = np.array([0.5, -1.0, 2.0, 0.25, 1.0])
    text = derived.source(u, 0.4, 2, optimize="speed")

    symgrad.check_grads(tridiagonal, (u, 0.4, 2), wrt=("u", "k"))
    assert text.count("np.array(") == 2
    assert "d_grad[t_2] += u_grad[t_2]" in text.replace("t_1", "t_2").replace("t_3", "t_2")
