"""User-declared rules: every form, first and second order, invalid texts."""

from __future__ import annotations

import math

import numpy as np
import pytest

import symgrad
from symgrad.errors import BadArgument, NoDerivative, UnsupportedSyntax, UnsureAlias
from symgrad.ops import declarations
from symgrad.ops.declare import ROWS, USER_ROWS
from symgrad.testing import check_grads

X = np.array([0.3, 0.7, 1.1])

softplus = symgrad.elementwise("softplus(x) = log(1 + exp(x))")
stable = symgrad.elementwise("stable(x) = log(1 + exp(x))", dx="1 / (1 + exp(-x))")
area = symgrad.elementwise("area(r, h) = 2 * pi * r * (r + h)")


@symgrad.elementwise(dx="1 - out * out")
def soft_sign(x):
    return np.tanh(x)


@symgrad.elementwise("swish(x, b)", dx="out / x + b * out * (1 - out / x)", db="out * (x - out)")
def swish(x, b):
    return x / (1.0 + np.exp(-b * x))


@symgrad.elementwise("soft_formula(x) = log(1 + exp(x))")
def soft_formula(x):
    return np.logaddexp(0.0, x)


@symgrad.rule("scaled(x, y, *, k=1)", result="x", x_grad="out_grad * k * y", y_grad="out_grad * k * x")
def scaled(x, y, *, k=1):
    return k * x * y


@symgrad.rule(x_grad="out_grad * 2 * x")
def squares(x):
    return x * x


@symgrad.rule(a_grad="out_grad @ transpose(b)", b_grad="transpose(a) @ out_grad")
def product(a, b):
    return a @ b


@symgrad.constant
def rounded(x):
    return np.round(x)


@symgrad.custom_vjp
def log_sum_exp(x):
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))


def log_sum_exp_forward(x):
    v = log_sum_exp(x)
    return v, (v, x)


def log_sum_exp_backward(residuals, g):
    v, x = residuals
    return (g * np.exp(x - v),)


log_sum_exp.defvjp(log_sum_exp_forward, log_sum_exp_backward)


@symgrad.custom_vjp
def blend(p, t):
    return t * p[0] + (1.0 - t) * p[1] ** 2


def blend_forward(p, t):
    return blend(p, t), (p, t)


def blend_backward(residuals, g):
    p, t = residuals
    return (g * t, g * (1.0 - t) * 2.0 * p[1]), np.sum(g * (p[0] - p[1] ** 2))


blend.defvjp(blend_forward, blend_backward)


def recursive(x, n):
    return np.sum(x) if n == 0 else recursive(np.sin(x) * log_sum_exp(x), n - 1)


def in_a_loop(x, w):
    h = x
    for _ in range(3):
        h = np.tanh(h) * log_sum_exp(w * h)
    return np.sum(h)


def stored(x):
    y = np.zeros(3)
    for i in range(3):
        y[i] = soft_sign(x[i]) * log_sum_exp(x[: i + 1])
    y[0] = y[1] * 2.0
    return np.sum(y * softplus(x))


RIGHT = {
    "formula": (lambda x: np.sum(softplus(x) * x), (X,)),
    "formula of a number": (lambda x: softplus(x) * x, (0.4,)),
    "formula and partial": (lambda x: np.sum(stable(x) * x), (X,)),
    "formula of two": (lambda r, h: np.sum(area(r, h) ** 2), (X, 0.5)),
    "decorator": (lambda x: np.sum(soft_sign(x) * x), (X,)),
    "decorator of two": (lambda x, b: np.sum(swish(x, b)), (X, 1.5)),
    "decorator with a formula": (lambda x: np.sum(soft_formula(x) * x), (X,)),
    "rule with a keyword": (lambda x, y: np.sum(scaled(x, y, k=3) ** 2), (X, 0.5)),
    "rule by position": (lambda x, y: np.sum(scaled(x, y)), (X, X)),
    "rule without result": (lambda x: np.sum(squares(x) ** 2 * x), (X,)),
    "matrices": (lambda a, b: np.sum(product(a, b) ** 2), (np.outer(X, X), np.ones((3, 2)))),
    "custom": (lambda x: log_sum_exp(x * x) * np.sum(x), (X,)),
    "custom in a loop": (in_a_loop, (X, 0.4)),
    "custom of a tuple": (lambda a, b, t: np.sum(blend((a, b), t) ** 2), (X, X + 1.0, 0.3)),
    "all together, with stores": (stored, (X,)),
    "in a recursive function": (recursive, (X, 3)),
    "itself": (log_sum_exp, (X,)),
    "a formula itself": (softplus, (0.3,)),
    "a rule itself": (swish, (0.3, 0.4)),
}


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", RIGHT)
def test_first_and_second_order(name: str) -> None:
    function, arguments = RIGHT[name]
    check_grads(function, arguments, order=2)


def test_a_derivative_inside_a_function() -> None:
    check_grads(lambda x: np.sum(symgrad.grad(lambda y: log_sum_exp(y) ** 2)(x) ** 2), (X,))


def test_the_rule_counts_also_for_the_function_itself() -> None:
    @symgrad.custom_vjp
    def clipped(x):
        return np.sum(x**2)

    clipped.defvjp(lambda x: (clipped(x), x), lambda x, g: (np.clip(g * 2.0 * x, -1.0, 1.0),))
    assert np.allclose(symgrad.grad(clipped)(X), np.clip(2.0 * X, -1.0, 1.0))
    assert np.allclose(symgrad.grad(lambda x: 3.0 * clipped(x))(X), np.clip(6.0 * X, -1.0, 1.0))


def test_what_forward_calls_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    derived = symgrad.grad(lambda x: np.sum(watched(x)))
    assert np.allclose(derived(X), 2.0)
    monkeypatch.setitem(globals(), "slope", lambda x: 3.0 + 0.0 * x)
    assert np.allclose(derived(X), 3.0)


def slope(x):
    return 2.0 + 0.0 * x


@symgrad.custom_vjp
def watched(x):
    return x * 1.0


watched.defvjp(lambda x: (x * 1.0, slope(x)), lambda residuals, g: (g * residuals,))


def test_a_pullback_of_a_custom_function() -> None:
    _, pullback = symgrad.vjp(in_a_loop, X, 0.4)
    expected = symgrad.grad(in_a_loop, (0, 1))(X, 0.4)
    for _ in range(2):
        for a, b in zip(pullback(1.0), expected, strict=True):
            assert np.allclose(a, b)


def test_no_gradient_for_one_argument() -> None:
    @symgrad.custom_vjp
    def half(x, y):
        return x * y

    half.defvjp(lambda x, y: (x * y, y), lambda y, g: (g * y, None))
    a, b = symgrad.grad(lambda x, y: np.sum(half(x, y)) + np.sum(y), (0, 1))(X, X + 0.0)
    assert np.allclose(a, X)
    assert np.allclose(b, 1.0)


def test_forward_and_backward_that_cannot_be_seen_into() -> None:
    forward = np.vectorize(lambda x: math.erf(x), otypes=[float])
    backward = np.vectorize(lambda x: 2.0 / math.sqrt(math.pi) * math.exp(-x * x), otypes=[float])

    @symgrad.custom_vjp
    def erf(x):
        return forward(x)

    erf.defvjp(lambda x: (forward(x), x), lambda x, g: (g * backward(x),))
    check_grads(lambda x: np.sum(erf(x) ** 2), (X,))


def test_a_custom_function_without_its_two_functions() -> None:
    undecided = symgrad.custom_vjp(lambda x: x * 2.0)
    with pytest.raises(NoDerivative, match="defvjp"):
        symgrad.grad(lambda x: np.sum(undecided(x)))(X)


def test_constant() -> None:
    assert np.allclose(symgrad.grad(lambda x: np.sum(rounded(x) * x))(X), np.round(X))


def test_a_function_that_may_return_its_argument_is_not_written_through() -> None:
    @symgrad.rule(result="x", x_grad="out_grad")
    def same(x):
        return x

    def f(x):
        y = x * 1.0
        z = same(y)
        z[0] = 3.0
        return np.sum(y * z)

    with pytest.raises(UnsureAlias):
        symgrad.grad(f)(X)


def test_the_type_of_the_result_is_read() -> None:
    def f(x):
        y = np.zeros((2, 3))
        y[0] = squares(x) * 2.0
        y[1] = squares(y[0])
        z = squares(x).copy()
        z[0] = 5.0
        return np.sum(y) + np.sum(z * x)

    check_grads(f, (X,), order=2)


def test_a_rule_of_a_function_that_writes_to_its_argument_is_refused() -> None:
    @symgrad.rule(x_grad="2.0 * out_grad")
    def doubled(x):
        x *= 2.0
        return x

    with pytest.raises(UnsupportedSyntax, match="writes"):
        symgrad.grad(lambda x: np.sum(doubled(x)))(X)


def test_a_declaration_counts_at_once_and_again() -> None:
    @symgrad.elementwise(dx="2.0 + 0.0 * x")
    def double(x):
        return 2.0 * x

    derived = symgrad.grad(lambda x: np.sum(double(x)))
    assert np.allclose(derived(X), 2.0)
    symgrad.elementwise(double, dx="3.0 + 0.0 * x")
    assert np.allclose(derived(X), 3.0)


def test_a_function_of_numpy_may_be_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(declarations, "DECLARED", dict(declarations.DECLARED))
    symgrad.rule(np.ptp, "ptp(a)", result="float64", a_grad="out_grad * (where(a == max(a), 1.0, 0.0) - where(a == min(a), 1.0, 0.0))")
    check_grads(lambda x: np.ptp(x) * np.sum(x), (X,))


def test_names_never_clash() -> None:
    mine = symgrad.elementwise("sin(x) = x * x")
    assert np.allclose(symgrad.grad(lambda x: np.sum(mine(x) + np.sin(x)))(X), 2.0 * X + np.cos(X))
    assert all(name.startswith("user_") for name in USER_ROWS)
    assert not any(name.startswith("user_") for name in ROWS)


def test_a_formula_computes() -> None:
    assert softplus(0.0) == pytest.approx(math.log(2.0))
    assert np.allclose(area(X, 1.0), 2.0 * np.pi * X * (X + 1.0))


BAD_FORMULAS = [
    "f(x) = __import__('os').getpid()",
    "f(x) = x.__class__",
    "f(x) = (lambda y: y)(x)",
    "f(x) = [x for x in (1,)]",
    "f(x) = y",
    "f(x) = eval(x)",
    "f(x) = sum(x)",
    "f(x) = set_at(x, x)",
    "f(x) = maximum(x, 1)",
    "f(x) = x +",
    "f(x",
    "f(lambda) = 2",
    "f(out) = 2 * out",
    "f(x, k=2) = x",
    "f(x) = exp(x, x, x)",
    "f(x) = exp()",
    "f(x) = exp(x, y=2)",
]


@pytest.mark.parametrize("text", BAD_FORMULAS)
def test_bad_formulas(text: str) -> None:
    with pytest.raises(BadArgument):
        symgrad.elementwise(text)


BAD_PARTIALS = [
    "y",
    "open('f')",
    "x.T",
    "x[0]",
    "__import__",
    "f'{x}'",
    "out_grad",
    "lambda: x",
    "x if x else 1",
    "np.sin(x)",
    "(x, x)",
    "",
    3,
    "x := 2",
]


@pytest.mark.parametrize("text", BAD_PARTIALS)
def test_bad_partials(text: object) -> None:
    with pytest.raises(BadArgument):
        symgrad.elementwise(lambda x: x, "f(x)", dx=text)


@pytest.mark.parametrize("texts", [{}, {"x_grad": "out_grad", "y_grad": None}, {"dx": "1"}, {"x_grad": "residual"}])
def test_bad_rules(texts: dict[str, str | None]) -> None:
    with pytest.raises(BadArgument):
        symgrad.rule(lambda x: x, "f(x)", **texts)


def test_a_text_that_does_not_go_with_the_function() -> None:
    with pytest.raises(BadArgument, match="called"):
        symgrad.rule(lambda x: x, "f(x, y)", x_grad="out_grad", y_grad=None)
    with pytest.raises(BadArgument, match="not a function"):
        symgrad.rule(3, "f(x)", x_grad="out_grad")


def test_on_backward_sees_and_changes() -> None:
    seen: list[float] = []

    def note(g):
        seen.append(np.array(g))

    def halve(g):
        g *= 0.5
        return g

    def spoil(g):
        g *= 100.0

    def f(x, w):
        y = symgrad.on_backward(x * w, halve)
        return np.sum(symgrad.on_backward(y, spoil) * x) + symgrad.on_backward(w, note) ** 2

    x_grad, w_grad = symgrad.grad(f, (0, 1))(X, 3.0)
    assert np.allclose(x_grad, 3.0 * X + 0.5 * X * 3.0)
    assert np.allclose(w_grad, 0.5 * np.sum(X * X) + 6.0)
    assert np.allclose(seen, [6.0])
