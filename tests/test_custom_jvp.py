"""Functions with a user's rule for tangents: both modes, both targets, refusals."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import BadArgument, NoDerivative, ShapeMismatch, SymgradError, UnsupportedSyntax


@symgrad.custom_jvp
def softplus(x: Any, w: Any) -> Any:
    return np.log(1.0 + np.exp(x)) * w


@softplus.defjvp
def softplus_jvp(primals: Any, tangents: Any) -> Any:
    (x, w), (dx, dw) = primals, tangents
    out = softplus(x, w)
    return out, dx * w / (1.0 + np.exp(-x)) + out / w * dw


@symgrad.custom_jvp
def doubled_slope(x: Any) -> Any:
    """A function whose rule says twice its slope, on purpose: so it shows which of the two was used."""
    return x * x


doubled_slope.defjvp(lambda primals, tangents: (doubled_slope(primals[0]), 4.0 * primals[0] * tangents[0]))


def through(x: np.ndarray, w: np.ndarray) -> Any:
    total = 0.0
    for k in range(2):
        total = total + np.sum(softplus(x * w[k], w) * x)
    return total


@pytest.mark.parametrize("jit", [False, True], ids=["numpy", "numba"])
def test_a_right_rule_gives_the_derivative_in_both_modes(jit: bool) -> None:
    if jit:
        pytest.importorskip("numba")
    x, w, dx, dw = np.array([0.3, 0.7]), np.array([1.0, 2.0]), np.array([1.0, -0.5]), np.array([0.2, 0.4])
    plain = [through(x + step * dx, w + step * dw) for step in (1e-5, -1e-5)]
    expected = (plain[0] - plain[1]) / 2e-5
    by_x, by_w = symgrad.grad(through, wrt=(0, 1), jit=jit)(x, w)

    assert np.sum(by_x * dx) + np.sum(by_w * dw) == pytest.approx(expected, rel=1e-8)
    assert symgrad.jvp(through, (x, w), (dx, dw), jit=jit)[1] == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("jit", [False, True], ids=["numpy", "numba"])
def test_it_is_the_rule_that_is_used(jit: bool) -> None:
    if jit:
        pytest.importorskip("numba")
    assert symgrad.grad(lambda x: 3.0 * doubled_slope(x), jit=jit)(2.0) == 24.0
    assert symgrad.jvp(lambda x: 3.0 * doubled_slope(x), (2.0,), (0.5,), jit=jit) == (12.0, 12.0)
    assert symgrad.linearize(doubled_slope, 2.0)[1](1.0) == 8.0
    assert symgrad.vjp(doubled_slope, np.ones(2))[1](np.array([1.0, 2.0]))[0].tolist() == [4.0, 8.0]


def test_second_derivatives_are_those_of_the_rule() -> None:
    x, w, dx = np.array([0.3, 0.7]), np.array([1.0, 2.0]), np.array([1.0, -0.5])
    gradient = symgrad.grad(through)
    expected = (gradient(x + 1e-5 * dx, w) - gradient(x - 1e-5 * dx, w)) / 2e-5

    np.testing.assert_allclose(symgrad.jvp(gradient, (x, w), (dx, 0 * w))[1], expected, rtol=1e-7)
    np.testing.assert_allclose(symgrad.vjp(gradient, x, w)[1](dx)[0], expected, rtol=1e-7)
    assert symgrad.grad(symgrad.grad(doubled_slope))(2.0) == 4.0


def test_integers_tuples_and_numbers() -> None:
    @symgrad.custom_jvp
    def power(pair: Any, n: int) -> Any:
        return pair[0] ** n * pair[1]

    @power.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        (x, w), n = primals
        assert tangents[1] is None
        return power((x, w), n), n * x ** (n - 1) * w * tangents[0][0] + x**n * tangents[0][1]

    def cubed(x: float, w: float) -> Any:
        return power((x, w), 3)

    assert symgrad.grad(cubed, wrt=(0, 1))(2.0, 5.0) == (60.0, 8.0)
    assert symgrad.jvp(cubed, (2.0, 5.0), (1.0, 1.0)) == (40.0, 68.0)


def test_it_travels() -> None:
    derived = pickle.loads(pickle.dumps(symgrad.jvp(through)))
    x, w = np.array([0.3, 0.7]), np.array([1.0, 2.0])
    assert derived((x, w), (x, w)) == symgrad.jvp(through, (x, w), (x, w))


def with_rule(rule: Any) -> Any:
    @symgrad.custom_jvp
    def function(x: Any) -> Any:
        return x * x

    function.defjvp(rule)
    return lambda x: np.sum(function(x))


REFUSED: dict[str, tuple[Any, type[SymgradError], str]] = {
    "a constant beside the tangent": (lambda p, t: (p[0], 2.0 * p[0] * t[0] + 1.0), BadArgument, "does not depend on the tangents"),
    "a value of the function in its place": (
        lambda p, t: (p[0], np.where(p[0] > 0.0, t[0], p[0])),
        BadArgument,
        "does not depend on the tangents",
    ),
    "a square of the tangent": (lambda p, t: (p[0], t[0] * t[0]), BadArgument, "not linear in the tangents"),
    "no tangent": (lambda p, t: (p[0], 1.0), NoDerivative, "does not depend on the tangents"),
    "no pair": (lambda p, t: t[0], UnsupportedSyntax, "must return a pair"),
    "another shape": (lambda p, t: (p[0], np.sum(t[0])), ShapeMismatch, "gives a tangent that is scalar f64 for a result"),
}


@pytest.mark.sweep(3)
@pytest.mark.parametrize("rule, kind, message", REFUSED.values(), ids=REFUSED)
def test_a_rule_that_is_none_is_refused(rule: Any, kind: type[SymgradError], message: str) -> None:
    for derive in (symgrad.grad(with_rule(rule)), lambda x: symgrad.jvp(with_rule(rule), (x,), (x,))):
        with pytest.raises(kind, match=message):
            derive(np.ones(3))


def test_a_function_without_its_rule_is_refused() -> None:
    @symgrad.custom_jvp
    def square(x: float) -> float:
        return x * x

    with pytest.raises(NoDerivative, match="square is a custom_jvp without its rule"):
        symgrad.grad(lambda x: 2.0 * square(x))(3.0)
    square.defjvp(lambda primals, tangents: (square(primals[0]), 2.0 * primals[0] * tangents[0]))
    assert symgrad.grad(lambda x: 2.0 * square(x))(3.0) == 12.0
    with pytest.raises(BadArgument):
        symgrad.custom_jvp(3)
    with pytest.raises(BadArgument):
        square.defjvp(3)


def chosen_beside_zero(primals: Any, tangents: Any) -> Any:
    (x,), (dx,) = primals, tangents
    return np.sum(x * x), np.sum(np.where(x > 0.0, 2.0 * x * dx, 0.0)) + np.sum(np.where(x > 0.0, 0.0, 2.0 * x * dx))


def summed_from_zero(primals: Any, tangents: Any) -> Any:
    (x,), (dx,) = primals, tangents
    total = 0.0
    for k in range(len(x)):
        total = total + 2.0 * x[k] * dx[k]
    return np.sum(x * x), total


def zero_on_one_path(primals: Any, tangents: Any) -> Any:
    (x,), (dx,) = primals, tangents
    return np.sum(x * x), np.sum(2.0 * x * dx) if x[0] < 100.0 else 0.0


@pytest.mark.parametrize("rule", [chosen_beside_zero, summed_from_zero, zero_on_one_path], ids=lambda rule: rule.__name__)
def test_what_is_zero_beside_tangents_is_linear(rule: Any) -> None:
    @symgrad.custom_jvp
    def derived(x: Any) -> Any:
        return np.sum(x * x)

    derived.defjvp(rule)
    x = np.array([0.5, -1.0, 2.0])
    np.testing.assert_allclose(symgrad.grad(lambda x: 3.0 * derived(x))(x), 6.0 * x)
    assert symgrad.jvp(derived, (x,), (np.array([1.0, 2.0, -0.5]),))[1] == pytest.approx(-5.0)


def recurrence(x, dx):
    t = np.zeros(3)
    t[0] = dx[0]
    for k in range(1, 3):
        t[k] = x[k] * t[k - 1] + dx[k]
    return t


def on_one_of_two_sides(x, dx):
    t = np.empty(3)
    for k in range(3):
        if x[k] > 0.4:
            t[k] = dx[k] * 2.0
        else:
            t[k] = x[k] * dx[0]
    return t


def over_a_copy(x, dx):
    t = dx.copy()
    t[1:] += x[1:] * t[:-1]
    t[x > 0.6] = 0.0
    return t


def over_ones(x, dx):
    t = np.ones(3)
    t[:] = 2.0 * x * dx
    t *= x
    return t


@pytest.mark.parametrize("store", [recurrence, on_one_of_two_sides, over_a_copy, over_ones])
def test_rules_may_store_to_arrays_of_tangents(store: Any) -> None:
    @symgrad.custom_jvp
    def squared(x):
        return x * x

    squared.defjvp(lambda primals, tangents: (primals[0] * primals[0], store(primals[0], tangents[0])))
    x, dx, seed = np.array([0.3, 0.5, 0.7]), np.array([1.0, -0.5, 2.0]), np.array([0.7, 0.2, -1.0])
    expected = store(x, dx)
    np.testing.assert_allclose(symgrad.jvp(squared, (x,), (dx,))[1], expected, rtol=1e-12)
    assert symgrad.vjp(squared, x)[1](seed)[0] @ dx == pytest.approx(seed @ expected)


def test_functions_of_one_text_have_rules_of_their_own() -> None:
    for slope in (2.0, 3.0):

        @symgrad.custom_vjp
        def squared(x):
            return x * x

        squared.defvjp(lambda x: (x * x, x), lambda x, out_grad, slope=slope: (slope * out_grad,))
        assert symgrad.grad(squared)(1.0) == slope
        assert symgrad.grad(lambda x, f=squared: f(x) * 1.0)(1.0) == slope
