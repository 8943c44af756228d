"""Derivatives of derivatives: each composition of operators compared with differences of the inner one, on both targets."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import BadArgument, NoDerivative, UnsupportedSyntax

PARAMETERS = {"a": np.array([0.3, 0.5]), "b": [np.array([1.3, 1.5]), 0.7]}
HELD = SimpleNamespace(a=np.array([0.3, 0.5]), b=0.5)


def of_dict(p, s):
    return np.sum(p["a"] ** 3) * p["b"][1] * s + np.sum(p["b"][0]) * s**2


def of_held(p, s):
    return np.sum(p.a**3) * p.b * s


def gradient_by_a_dict_from_outside(s):
    g = symgrad.grad(of_dict)(PARAMETERS, s)
    return np.sum(g["a"]) + g["b"][1] + np.sum(g["b"][0])


def gradient_by_an_object_from_outside(s):
    g = symgrad.grad(of_held)(HELD, s)
    return np.sum(g.a) + g.b


def along_a_dict_from_outside(s):
    return symgrad.jvp(lambda p: of_dict(p, s), (PARAMETERS,), (PARAMETERS,))[1]


def by_seeds_from_outside(s):
    _, pullback = symgrad.vjp(lambda x: {"a": x**2 * np.ones(2), "b": [x * np.ones(2), x**3]}, s)
    return pullback(PARAMETERS)[0]


def product_with_a_dict_from_outside(s):
    h = symgrad.hvp(of_dict, (PARAMETERS, s), PARAMETERS)
    return np.sum(h["a"]) + h["b"][1]


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize(
    "function",
    [
        gradient_by_a_dict_from_outside, gradient_by_an_object_from_outside, along_a_dict_from_outside, by_seeds_from_outside,
        product_with_a_dict_from_outside,
    ],
)  # fmt: skip
def test_containers_from_outside_take_part_in_inner_derivatives(function, jit):
    expected = (8 * (function(0.701) - function(0.699)) - (function(0.702) - function(0.698))) / 0.012
    assert symgrad.grad(function, jit=jit)(0.7) == pytest.approx(expected, rel=1e-7)


TWICE = {"a": (shared := np.array([0.3, 0.5])), "b": [shared, 0.7]}


def test_a_container_that_holds_one_array_twice_is_refused_or_passed():
    def f(s):
        return np.sum(symgrad.grad(of_dict)(TWICE, s)["a"])

    with pytest.raises(UnsupportedSyntax, match="a dict from outside the function is used in a nested derivative"):
        symgrad.grad(f)(0.7)
    g = symgrad.grad(lambda p, s: np.sum(symgrad.grad(of_dict)(p, s)["a"]), wrt=1)
    assert g(TWICE, 0.7) == pytest.approx(np.sum(3 * shared**2) * 0.7)


X, V = np.array([0.3, 0.5, -0.4]), np.array([1.0, -0.5, 2.0])


def differences(function, x, step=1e-4):
    """The gradient of a function of a vector by central differences of fourth order."""
    moved = [step * direction for direction in np.eye(len(x))]
    return np.array([(8 * (function(x + d) - function(x - d)) - (function(x + 2 * d) - function(x - 2 * d))) / (12 * step) for d in moved])


def saved_by_rounds(y):
    out = np.empty(2)
    for k in range(2):
        z = y * (k + 1.0)
        out[k] = np.sum(np.sin(z) * z)
    return out


def saved_by_rounds_of_rounds(y):
    out = np.empty(2)
    for k in range(2):
        z = y * (k + 1.0)
        for _ in range(3):
            z = np.sin(z) * z + np.cos(z)
        out[k] = np.sum(np.sin(z) * z)
    return out


def many_rows(y):
    out = np.empty(150)
    for k in range(150):
        z = y * (k / 50 + 1.0)
        out[k] = np.sum(np.sin(z) * z)
    return out


@pytest.mark.filterwarnings("ignore::symgrad.errors.NotCompiled")
@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("inner", "jit"), [(saved_by_rounds, False), (saved_by_rounds_of_rounds, True), (saved_by_rounds, True), (many_rows, False)]
)
def test_rows_of_jacobians_add_to_what_rounds_have_saved(inner, jit):
    def cubed(x):
        return np.sum(symgrad.jacobian(inner)(x) ** 3)

    gradient = symgrad.grad(cubed, jit=jit)
    np.testing.assert_allclose(gradient(X), differences(cubed, X), rtol=1e-6)
    matrix = symgrad.jacobian(inner)
    second = symgrad.jacobian(matrix, jit=jit)(X)
    assert np.allclose(second, np.swapaxes(second, -1, -2), rtol=1e-10)
    np.testing.assert_allclose(second[1, 2], differences(lambda x: matrix(x)[1, 2], X), rtol=1e-7)
    tangent = symgrad.jvp(symgrad.grad(cubed), (X,), (V,))[1]
    np.testing.assert_allclose(tangent[1], differences(lambda x: symgrad.grad(cubed)(x)[1], X) @ V, rtol=1e-6)
    np.testing.assert_allclose(symgrad.hvp(cubed, X, V), tangent, rtol=1e-9)


def saved_by_any_rounds(y):
    out = np.empty(2)
    for k in range(2):
        z = y * (k + 1.0)
        n = 0
        while n < 3:
            z = np.sin(z) * 2.5
            n += 1
        out[k] = np.sum(np.sin(z) * z)
    return out


def test_rows_that_read_what_any_number_of_rounds_has_saved_are_refused_and_columns_are_taken_in_their_place():
    def cubed(derive):
        return lambda x: np.sum(derive(saved_by_any_rounds)(x) ** 3)

    with pytest.raises(NoDerivative, match="rows of a Jacobian") as raised:
        symgrad.grad(cubed(symgrad.jacrev))(X)
    assert raised.value.hint is not None
    assert "symgrad.jacfwd" in raised.value.hint
    assert "grad(lambda x: f(x)[k])(x)" in raised.value.hint

    def as_the_hint_says(x):
        rows = [symgrad.grad(lambda y, k=k: saved_by_any_rounds(y)[k])(x) for k in range(2)]
        return np.sum(np.stack(rows) ** 3)

    expected = differences(as_the_hint_says, X)
    for function in (as_the_hint_says, cubed(symgrad.jacfwd), cubed(symgrad.jacobian)):
        np.testing.assert_allclose(symgrad.grad(function)(X), expected, rtol=1e-6)


# ------------------------------------------------------------------ compositions

XS = np.stack([X, X**2, V / 3])


def scalar(x):
    return np.sum(np.sin(x) * x**2) + x[0] * x[1] * x[2]


def vector(x):
    return np.array([x[0] * x[1], np.sin(x[1]) * x[2], x[2] ** 3])


def vector_of_any_length(x):
    return np.sin(x) * np.roll(x, 1)


class Layer:
    def __init__(self, w):
        self.w = w

    def loss(self, x):
        return np.sum(np.tanh(self.w * x) ** 2 * self.w)


def vmap_of_grad(x):
    return symgrad.vmap(symgrad.grad(scalar))(np.stack([x, x**2]))


def hessian_of_vmap(x):
    return symgrad.hessian(lambda y: np.sum(symgrad.vmap(scalar)(np.stack([y, 2.0 * y]))))(x)


def jvp_of_vjp(x):
    return symgrad.jvp(lambda y: symgrad.vjp(vector, y)[1](V)[0], (x,), (V,))[1]


def vjp_of_jvp(x):
    _, pullback = symgrad.vjp(lambda y: symgrad.jvp(vector, (y,), (V,))[1], x)
    return pullback(V)[0]


def grad_of_jvp(x):
    return symgrad.grad(lambda y: np.sum(symgrad.jvp(vector, (y,), (V,))[1] ** 2))(x)


def jacrev_of_vmap(x):
    return symgrad.jacrev(lambda y: symgrad.vmap(scalar)(np.stack([y, y**2])))(x)


def vmap_of_hessian(x):
    return symgrad.vmap(symgrad.hessian(scalar))(np.stack([x, x**2]))


def vmap_of_jvp(x):
    return symgrad.vmap(lambda y: symgrad.jvp(scalar, (y,), (V,))[1])(np.stack([x, x**2]))


def grad_of_grad_of_grad(x):
    return symgrad.grad(lambda a: symgrad.grad(lambda b: symgrad.grad(lambda c: np.sin(c) * c**4)(b) * b)(a))(x[0])


def jacobian_of_grad_of_a_method(x):
    return symgrad.jacobian(symgrad.grad(Layer.loss, wrt="self.w"), wrt="self.w")(Layer(x), V)


def hvp_of_vmap(x):
    return symgrad.hvp(lambda w: np.sum(symgrad.vmap(lambda a: np.tanh(a @ w) ** 2)(XS)), x, V)


def linearize_of_grad(x):
    out, linear = symgrad.linearize(symgrad.grad(scalar), x)
    return linear(V) * out


def vmap_of_vmap(x):
    return symgrad.vmap(symgrad.vmap(lambda a: np.sin(a) * a * x[0]))(np.outer(x, x))


def jvp_of_jvp(x):
    return symgrad.jvp(lambda y: symgrad.jvp(scalar, (y,), (V,))[1], (x,), (V,))[1]


def hessian_of_the_determinant_of_a_jacobian(x):
    return symgrad.hessian(lambda y: np.linalg.det(symgrad.jacobian(vector_of_any_length)(y) + 4.0 * np.eye(3)))(x)


def hessian_inside(x):
    return np.linalg.det(symgrad.hessian(scalar)(x) + 5.0 * np.eye(3))


def penalty_on_the_norm_of_a_gradient(x):
    return (np.sqrt(np.sum(symgrad.grad(scalar)(x) ** 2)) - 1.0) ** 2


def jacrev_of_a_linear_function(x):
    return symgrad.jacrev(lambda t: symgrad.linearize(vector, x)[1](t) * t)(V)


def vjp_of_hvp(x):
    _, pullback = symgrad.vjp(lambda y: symgrad.hvp(scalar, y, V), x)
    return pullback(V)[0]


def vmap_of_jacrev(x):
    return symgrad.vmap(symgrad.jacrev(vector))(np.stack([x, x**2]))


def derivative_in_a_loop(x):
    total, y = 0.0, x
    for _ in range(3):
        y = y - 0.1 * symgrad.grad(scalar)(y)
        total = total + np.sum(y**2)
    return symgrad.grad(lambda s: np.sum(np.sin(s * y)))(total)


def newton_steps(x):
    for _ in range(2):
        x = x - np.linalg.solve(symgrad.hessian(scalar)(x) + 5.0 * np.eye(3), symgrad.grad(scalar)(x))
    return x


#: a new operator is composed here with those that there are
COMPOSITIONS = [
    vmap_of_grad, hessian_of_vmap, jvp_of_vjp, vjp_of_jvp, grad_of_jvp, jacrev_of_vmap, vmap_of_hessian, vmap_of_jvp, grad_of_grad_of_grad,
    jacobian_of_grad_of_a_method, hvp_of_vmap, linearize_of_grad, vmap_of_vmap, jvp_of_jvp, hessian_inside,
    penalty_on_the_norm_of_a_gradient, jacrev_of_a_linear_function, vjp_of_hvp, vmap_of_jacrev, derivative_in_a_loop, newton_steps,
    hessian_of_the_determinant_of_a_jacobian,
]  # fmt: skip


@pytest.mark.sweep(8)
@pytest.mark.parametrize("function", COMPOSITIONS)
def test_compositions(function):
    symgrad.check_grads(function, (X,), directions=1)


@pytest.mark.filterwarnings("ignore::symgrad.errors.NotCompiled")
@pytest.mark.sweep(6)
@pytest.mark.parametrize("function", COMPOSITIONS)
def test_compositions_in_kernels(function):
    out, pullback = symgrad.vjp(function, X)
    seed = np.cos(np.arange(float(np.size(out)))).reshape(np.shape(out))[()]
    compiled, back = symgrad.vjp(function, X, jit=True)
    np.testing.assert_allclose(compiled, out, rtol=1e-10)
    np.testing.assert_allclose(back(seed)[0], pullback(seed)[0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(symgrad.jvp(function, (X,), (V,), jit=True)[1], symgrad.jvp(function, (X,), (V,))[1], rtol=1e-9, atol=1e-12)


# ------------------------------------------------------------------ auxiliary results inside


def with_more(x, k=1.0):
    return np.sum(np.sin(x) * x**2) * k, {"m": x * 2.0, "n": np.sum(x**3), "text": "abc", "x": x}


def many_with_more(x):
    return np.sin(x) * x**2, {"m": x * 2.0, "n": np.sum(x**3), "text": "abc", "x": x}


#: what each operator gives with auxiliary results: the derivative, and these
WITH_AUX = {
    "grad": lambda x: symgrad.grad(with_more, has_aux=True)(x),
    "grad by two": lambda x: (lambda both: (both[0][0] * both[0][1], both[1]))(symgrad.grad(with_more, ("x", "k"), has_aux=True)(x, x[0])),
    "value_and_grad": lambda x: (lambda both: (both[1] * both[0][0], both[0][1]))(symgrad.value_and_grad(with_more, has_aux=True)(x)),
    "jacobian": lambda x: symgrad.jacobian(many_with_more, has_aux=True)(x),
    "jacfwd": lambda x: symgrad.jacfwd(many_with_more, has_aux=True)(x),
    "hessian": lambda x: symgrad.hessian(with_more, has_aux=True)(x),
    "hvp": lambda x: symgrad.hvp(with_more, x, V, has_aux=True),
    "vhp": lambda x: symgrad.vhp(with_more, x, V, has_aux=True),
    "jvp": lambda x: symgrad.jvp(many_with_more, (x,), (V,), has_aux=True)[1:],
    "linearize": lambda x: (lambda out, linear, aux: (linear(V) * out, aux))(*symgrad.linearize(many_with_more, x, has_aux=True)),
    "vjp": lambda x: (lambda out, pullback, aux: (pullback(V)[0] * out, aux))(*symgrad.vjp(many_with_more, x, has_aux=True)),
    "vmap": lambda x: symgrad.vmap(symgrad.grad(lambda y: (np.sum(y**3), {"m": y, "n": y[0], "text": y, "x": y * y}), has_aux=True))(XS * x),
}  # fmt: skip


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", WITH_AUX)
def test_auxiliary_results_inside_a_function_have_derivatives_too(name):
    def total(x):
        derivative, aux = WITH_AUX[name](x)
        return np.sum(derivative**2) + np.sum(aux["m"] ** 2) * np.sum(aux["n"]) + np.sum(aux["x"] ** 3) + len(aux["text"])

    gradient = symgrad.grad(total)(X)
    np.testing.assert_allclose(gradient, differences(total, X), rtol=1e-6)
    assert symgrad.jvp(total, (X,), (V,))[1] == pytest.approx(gradient @ V, rel=1e-10)


def test_a_function_without_auxiliary_results_is_refused_inside_too():
    with pytest.raises(BadArgument, match=r"has_aux=True needs a function that returns \(out, aux\)"):
        symgrad.grad(lambda x: np.sum(symgrad.grad(scalar, has_aux=True)(x)[0]))(X)
    assert symgrad.grad(lambda x: np.sum(symgrad.grad(lambda y: (scalar(y), y), has_aux=True)(x)[0]))(X).shape == (3,)


# ------------------------------------------------------------------ derived functions, called inside


@symgrad.differentiable
def decorated(x):
    return np.sum(np.sin(x) * x)


LINEARIZED = symgrad.linearize(vector)
TANGENT = symgrad.jvp(vector)
PRODUCT = symgrad.hvp(scalar)
#: forms in which a derived function is at hand, each a function of a vector
CALLED = {
    "linearize of a decorated function": lambda x: decorated.linearize(x)[1](x),
    "vjp of a decorated function": lambda x: decorated.vjp(x)[1](1.0)[0],
    "jvp of a decorated function": lambda x: decorated.jvp((x,), (x,))[1],
    "linearize from outside": lambda x: LINEARIZED(x)[0] * LINEARIZED(x)[1](x),
    "jvp from outside": lambda x: TANGENT((x,), (x,))[1],
    "hvp from outside": lambda x: PRODUCT(x, v=x),
    "linearize that is called later": lambda x: symgrad.linearize(vector)(x)[1](x),
    "hvp that is called later": lambda x: symgrad.hvp(scalar)(x, v=x),
    "vhp by name": lambda x: symgrad.vhp(scalar, args=x, v=x),
}


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", CALLED)
def test_derived_functions_are_called_inside_in_every_form(name):
    def total(x):
        return np.sum(CALLED[name](x) ** 2)

    gradient = symgrad.grad(total)(X)
    np.testing.assert_allclose(gradient, differences(total, X), rtol=1e-6)
    assert symgrad.jvp(total, (X,), (V,))[1] == pytest.approx(gradient @ V, rel=1e-10)


def test_a_product_inside_without_its_vector_is_refused():
    with pytest.raises(BadArgument, match="hvp takes the arguments and the vector"):
        symgrad.grad(lambda x: np.sum(symgrad.hvp(scalar, x)))(X)
    with pytest.raises(BadArgument, match="hvp takes the vector by name"):
        symgrad.grad(lambda x: np.sum(symgrad.hvp(scalar)(x)))(X)


@dataclass
class Held:
    a: Any
    b: Any


class Plain:
    def __init__(self, a, b):
        self.a, self.b = a, b


@pytest.mark.parametrize("cls", [Held, Plain], ids=["dataclass", "class"])
def test_axes_of_a_record_inside_a_function(cls):
    def total(x):
        each = symgrad.vmap(lambda p: np.sum(np.sin(p.a)) * p.b, in_axes=(cls(0, None),))
        return np.sum(each(cls(np.stack([x, 2.0 * x]), 1.5)) ** 2)

    np.testing.assert_allclose(symgrad.grad(total)(X), differences(total, X), rtol=1e-6)


@pytest.mark.parametrize("option", ["jit=True", "verify=False", "no_grad=('k',)", "strict=True", "memory='1 MB'"])
def test_options_of_how_code_is_made_are_said_of_the_outer_derivative(option):
    word = option.partition("=")[0]
    for make in ("grad", "vjp", "jvp", "vmap"):
        if word in inspect.signature(getattr(symgrad, make)).parameters:
            text = f"def f(x): return np.sum(symgrad.{make}(scalar, {option})(x))"
            function = symgrad.from_source(text, globals={"np": np, "symgrad": symgrad, "scalar": scalar})
            with pytest.raises(UnsupportedSyntax, match=f"{word}= of {make} cannot be given") as raised:
                symgrad.grad(function)(X)
            assert ("stop_gradient" if word == "no_grad" else "outer derivative") in str(raised.value.hint)
