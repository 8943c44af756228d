"""Derivatives inside a function, of methods, callable instances, partials, one of two functions; by every operator."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import symgrad
from symgrad.errors import BadArgument

X = np.array([0.7, -0.4, 0.9])


class Model:
    def __init__(self, w):
        self.w, self.b = np.outer(w, np.cos(w)) + np.eye(3), np.sin(w)

    def vector(self, x):
        return np.tanh(self.w @ x) * self.b * x

    def number(self, x):
        return np.sum(self.vector(x) ** 2)

    def __call__(self, x):
        return self.number(x)

    @staticmethod
    def cubes(x):
        return np.sum(x**3)

    @classmethod
    def scaled(cls, x):
        return 2.0 * cls.cubes(np.sin(x))


def squares(x):
    return np.sum(x * x * np.cos(x))


def weighted(w, x):
    return np.sum(np.sin(w * x) * x[::-1])


#: functions of one argument, made from ``x``, which they also depend on
FUNCTIONS = {
    "a method of a new instance": lambda x: Model(x).number,
    "an instance": lambda x: Model(x),
    "a static method": lambda x: Model.cubes,
    "a class method": lambda x: Model.scaled,
    "a class method of an instance": lambda x: Model(x).scaled,
    "a partial": lambda x: functools.partial(weighted, x),
    "a partial by name": lambda x: functools.partial(lambda y, w: weighted(w, y), w=x),
    "one of two functions": lambda x: squares if x[0] > 0.0 else Model.cubes,
    "one of two methods": lambda x: Model(x).number if x[0] < 0.0 else Model(x * x).number,
}
#: a number by each operator, of a function ``f`` at ``x``
OPERATORS = {
    "grad": lambda f, x: np.sum(symgrad.grad(f)(x) * x),
    "value_and_grad": lambda f, x: symgrad.value_and_grad(f)(x)[0] * symgrad.value_and_grad(f)(x)[1][0],
    "jvp": lambda f, x: symgrad.jvp(f, (x,), (np.cos(x),))[1],
    "vjp": lambda f, x: np.sum(symgrad.vjp(f, x)[1](1.5)[0] ** 2),
    "linearize": lambda f, x: symgrad.linearize(f, x)[1](np.sin(x)),
    "hvp": lambda f, x: np.sum(symgrad.hvp(f, x, x)),
    "vhp": lambda f, x: np.sum(symgrad.vhp(f)(x, v=x)),
    "hessian": lambda f, x: np.sum(np.cos(symgrad.hessian(f)(x))),
    "jacfwd": lambda f, x: np.sum(np.sin(symgrad.jacfwd(f)(x))),
    "vmap": lambda f, x: np.sum(symgrad.vmap(f)(np.stack([x, 2.0 * x]))),
    "vmap of grad": lambda f, x: np.sum(np.sin(symgrad.vmap(symgrad.grad(f))(np.stack([x, 2.0 * x])))),
}
#: all pairs, but for the axes of what a partial binds by name, which ``vmap`` wants to be told
CASES = [(of, operator) for of in FUNCTIONS for operator in OPERATORS if of != "a partial by name" or not operator.startswith("vmap")]


@pytest.mark.filterwarnings("ignore::symgrad.errors.NotCompiled")
@pytest.mark.sweep(48)
@pytest.mark.parametrize("jit", [False, True], ids=["numpy", "numba"])
@pytest.mark.parametrize(("of", "operator"), CASES)
def test_a_derivative_inside_is_of_anything_that_can_be_called(of, operator, jit):
    make, apply = FUNCTIONS[of], OPERATORS[operator]

    def whole(x):
        return apply(make(x), x)

    step = 1e-5
    expected = [(whole(X + step * e) - whole(X - step * e)) / (2 * step) for e in np.eye(3)]
    np.testing.assert_allclose(symgrad.grad(whole, jit=jit)(X), expected, rtol=1e-6, atol=1e-7)


def test_names_are_those_of_the_method():
    def by_name(x):
        return np.sum(symgrad.grad(Model(x).number, wrt="x")(x))

    def by_position(x):
        return np.sum(symgrad.grad(Model(x).number)(x))

    def by_a_wrong_name(x):
        return np.sum(symgrad.grad(functools.partial(weighted, x), wrt="w")(x))

    np.testing.assert_array_equal(symgrad.grad(by_name)(X), symgrad.grad(by_position)(X))
    with pytest.raises(BadArgument, match="there is no argument 'w'"):
        symgrad.grad(by_a_wrong_name)(X)


def test_names_that_mean_two_places_are_refused():
    def chosen(x):
        return np.sum(symgrad.grad(weighted if x[0] > 0.0 else (lambda x, w: weighted(w, x)), wrt="w")(x, x))

    with pytest.raises(BadArgument, match="there is no argument 'w'"):
        symgrad.grad(chosen)(X)


def test_a_method_of_one_of_two_instances_sees_what_is_assigned_later():
    """The instances are created on the paths, and one has a name there."""

    def scaled(x):
        if x[0] > 0.0:
            model = Model(x)
            f = model.number
        else:
            model = Model(x * x)
            f = model.number
        model.b = 2.0 * x
        return f(x) + np.sum(symgrad.grad(f)(x))

    for x in (X, -X):
        step = 1e-5
        expected = [(scaled(x + step * e) - scaled(x - step * e)) / (2 * step) for e in np.eye(3)]
        np.testing.assert_allclose(symgrad.grad(scaled)(x), expected, rtol=1e-6, atol=1e-7)


@pytest.mark.filterwarnings("ignore::symgrad.errors.NotCompiled")
@pytest.mark.parametrize("jit", [False, True], ids=["numpy", "numba"])
def test_maps_over_many_seeds_return_trees(jit):
    """Nothing is known of the result of a pullback or of a linear function before it is called: it may be a tuple or a dict."""

    def product(a, b):
        return np.sin(a) * b[::-1]

    def tree(a):
        return {"s": np.sin(a), "p": [np.prod(a), a * a]}

    seeds = np.arange(12.0).reshape(4, 3) - 5.0
    _, pullback = symgrad.vjp(product, X, X * X, wrt=(0, 1), jit=jit)
    _, linear = symgrad.linearize(tree, X, jit=jit)
    by_a, by_b = symgrad.vmap(pullback)(seeds)
    parts = symgrad.vmap(linear)(seeds)

    np.testing.assert_allclose(by_a, seeds * np.cos(X) * (X * X)[::-1])
    np.testing.assert_allclose(by_b, (seeds * np.sin(X))[:, ::-1])
    np.testing.assert_allclose(parts["s"], np.cos(X) * seeds)
    np.testing.assert_allclose(parts["p"][0], seeds @ (np.prod(X) / X))
    np.testing.assert_allclose(parts["p"][1], 2.0 * X * seeds)
    np.testing.assert_allclose(symgrad.vmap(pullback, in_axes=1, out_axes=1)(seeds.T)[0], by_a.T)
    with pytest.raises(ValueError, match="an empty batch"):
        symgrad.vmap(pullback)(seeds[:0])


#: derivatives by attributes of an instance that the function creates
BY_ATTRIBUTES = {
    "grad": lambda x: np.sum(symgrad.grad(Model(x).number, wrt="self.w")(x) * np.outer(x, x)),
    "several": lambda x: np.prod([np.sum(part * x) for part in symgrad.grad(Model(x).number, wrt=("self.b", "x"))(x)]),
    "an instance": lambda x: np.sum(symgrad.grad(Model(x), wrt="self.b")(x) ** 2),
    "jvp": lambda x: np.sum(symgrad.jvp(Model(x).vector, (x,), (x,), wrt="self.b")[1]),
    "vjp": lambda x: np.sum(symgrad.vjp(Model(x).vector, x, wrt="self.b")[1](x)),
    "hessian": lambda x: np.sum(np.sin(symgrad.hessian(Model(x).number, wrt="self.b")(x))),
    "hvp": lambda x: np.sum(symgrad.hvp(Model(x).number, x, np.sin(x), wrt="self.b")),
    "jacfwd of jacrev": lambda x: np.sum(symgrad.jacfwd(symgrad.jacrev(Model(x).vector, wrt="self.b"), wrt="x")(x)),
    "vmap": lambda x: np.sum(symgrad.vmap(symgrad.grad(Model(x).number, wrt="self.b"))(np.stack([x, 2.0 * x])) ** 2),
}


def descended(x):
    model = Model(x)
    for _ in range(3):
        model.b = model.b - 0.1 * symgrad.grad(model.number, wrt="self.b")(x)
    return model.number(x)


@pytest.mark.filterwarnings("ignore::symgrad.errors.NotCompiled")
@pytest.mark.sweep(6)
@pytest.mark.parametrize("jit", [False, True], ids=["numpy", "numba"])
@pytest.mark.parametrize("function", [*BY_ATTRIBUTES.values(), descended], ids=[*BY_ATTRIBUTES, "descent"])
def test_derivatives_by_attributes_of_a_new_instance(function, jit):
    step = 1e-5
    expected = [(function(X + step * e) - function(X - step * e)) / (2 * step) for e in np.eye(3)]
    np.testing.assert_allclose(symgrad.grad(function, jit=jit)(X), expected, rtol=1e-6, atol=1e-7)


def test_an_attribute_that_there_is_not_is_named():
    with pytest.raises(BadArgument, match="self has no part self.c"):
        symgrad.grad(lambda x: np.sum(symgrad.grad(Model(x).number, wrt="self.c")(x)))(X)
