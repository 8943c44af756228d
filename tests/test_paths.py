"""Paths in ``wrt``: every operator with respect to a part of an argument, compared with the derivative by the whole argument."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import symgrad
from symgrad.errors import BadArgument

X, D = np.array([0.3, 0.5]), np.array([1.0, -2.0])


class Pair(NamedTuple):
    u: Any
    v: float


@dataclass
class Params:
    w: Any
    b: Any


def params():
    return Params(X.copy(), {"k": [X + 1.0, 2.0], "n": Pair(X + 2.0, 0.5), 3: X.copy()})


def loss(p, x):
    return np.sum(p.w**3 * x) * p.b["k"][1] + p.b["n"].v ** 2 * np.sum(p.b["k"][0] * p.w) + np.sum(p.b[3] * p.w)


def values(p, x):
    return p.w**2 * p.b["k"][0] * x


def part(tree, path):
    return eval(path, {"p": tree})


PATHS = ["p.w", "p.b['k']", 'p.b["k"][0]', "p.b['n'].v", "p.b[3]", "p.b"]


def same(one, other):
    if isinstance(one, dict):
        assert list(one) == list(other)
        one, other = one.values(), other.values()
    if isinstance(one, list | tuple) or not isinstance(one, np.ndarray | float):
        pairs = list(zip(one, other, strict=True))
        for a, b in pairs:
            same(a, b)
        return
    np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("path", PATHS)
def test_gradients_by_a_part(path, jit):
    p, words = params(), {"jit": jit, "allow_unused": True}
    whole = symgrad.grad(loss, allow_unused=True)(p, X)
    same(symgrad.grad(loss, path, **words)(p, X), part(whole, path))
    value, gradient = symgrad.value_and_grad(loss, path, **words)(p, X)
    assert value == pytest.approx(loss(p, X))
    same(gradient, part(whole, path))
    both = symgrad.grad(loss, (path, "x"), **words)(p, X)
    assert type(both) is tuple
    same(both[0], part(whole, path))
    _, pullback = symgrad.vjp(loss, p, X, wrt=(path,), jit=jit)
    same(pullback(2.0)[0], part(symgrad.vjp(loss, p, X, wrt="p")[1](2.0), path))


@pytest.mark.sweep(2)
@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("path", ["p.w", "p.b['k'][0]", "p.b[3]"])
def test_tangents_and_matrices_by_an_array_in_an_argument(path, jit):
    p = params()
    gradient = part(symgrad.grad(loss, allow_unused=True)(p, X), path)
    assert symgrad.jvp(loss, (p, X), (D,), wrt=path, jit=jit)[1] == pytest.approx(gradient @ D)
    assert symgrad.linearize(loss, p, X, wrt=(path,))[1](D) == pytest.approx(gradient @ D)
    whole = symgrad.jacobian(values, allow_unused=True)(p, X)
    for operator in (symgrad.jacobian, symgrad.jacrev):
        same(operator(values, path, jit=jit, allow_unused=True)(p, X), part(whole, path))
    hessian = part(part(symgrad.hessian(loss, allow_unused=True)(p, X), path), path)
    same(symgrad.hessian(loss, path, jit=jit, allow_unused=True)(p, X), hessian)
    for operator in (symgrad.hvp, symgrad.vhp):
        same(operator(loss, (p, X), D, wrt=path, jit=jit), hessian @ D)


@pytest.mark.parametrize("jit", [False, True])
def test_paths_in_functions_that_are_differentiated(jit):
    outside = symgrad.grad(loss, "p.w")

    def inside(p, x):
        first = symgrad.grad(loss, wrt="p.w")(p, x) + outside(p, x)
        value, second = symgrad.value_and_grad(loss, wrt=("p.b['k']", "p.b['n'].v"))(p, x)
        _, pullback = symgrad.vjp(loss, p, x, wrt="p.w")
        third = symgrad.jvp(loss, (p, x), (x,), wrt="p.b['k'][0]")[1]
        fourth = symgrad.hvp(loss, (p, x), x, wrt="p.w") + symgrad.hessian(loss, wrt="p.w")(p, x) @ x
        return np.sum(first**2) + value * np.sum(second[0][0]) * second[1] + np.sum(pullback(x[0]) ** 2) + third**2 + np.sum(fourth**3)

    symgrad.check_grads(inside, (params(), X), wrt=("p.w", "p.b['k'][0]", "x"), directions=1)
    gradient = symgrad.grad(inside, "p.w")(params(), X)
    same(symgrad.grad(inside, "p.w", jit=jit)(params(), X), gradient)


class Model:
    def __init__(self):
        self.w, self.inner = X.copy(), Params(X + 1.0, 2.0)

    def loss(self, x):
        return np.sum(self.w**3 * self.inner.w * x)


def test_parts_of_an_instance():
    model = Model()
    same(symgrad.grad(model.loss, "self.w")(X), 3 * X**2 * (X + 1) * X)
    same(symgrad.grad(model.loss, ("self.inner.w", "x"))(X), (X**4, X**3 * (X + 1)))
    same(symgrad.jacobian(symgrad.grad(model.loss, "self.w"), "self.w")(X), np.diag(6 * X * (X + 1) * X))
    same(symgrad.hvp(model.loss, X, D, wrt="self.w"), 6 * X * (X + 1) * X * D)
    same(symgrad.jvp(model.loss, (X,), (D,), wrt="self.w")[1], np.sum(3 * X**2 * (X + 1) * X * D))
    symgrad.differentiable(Model.loss, wrt="self.w")
    each = symgrad.vmap(symgrad.grad(Model.loss, "self.w"), in_axes=(None, 0))(model, np.stack([X, D]))
    same(each, np.stack([3 * X**2 * (X + 1) * x for x in (X, D)]))


def test_only_the_part_is_differentiated():
    def stores(p, x):
        p.b["n"] = Pair(p.w, 1.0)
        p.b[3][0] = 5.0
        return np.sum(p.w**2) * p.b[3][0]

    p = params()
    assert isinstance(symgrad.grad(stores, "p.w")(p, X), np.ndarray)
    assert p.b[3][0] == 5.0


def test_what_a_derivative_by_a_part_is_compared_with():
    assert symgrad.grad(loss, "p.w", verify="gradient")(params(), X).shape == (2,)
    symgrad.check_grads(loss, (params(), X), 2, wrt=("p.w", "p.b['k']"))
    with pytest.raises(BadArgument, match="names no float"):
        symgrad.check_grads(loss, (params(), X), wrt="p.q")


NOWHERE = ["p.q", "p['w']", "p.w.z", "p.b.k", "p.b['z']", "p.b['3']", "p.b[3.0]", "p.b['n'][0]", "p.b['k'][2]", "p.b['k'][-1]"]


@pytest.mark.parametrize("path", NOWHERE)
def test_a_path_that_leads_nowhere_lists_the_paths(path):
    text = f"def f(p, x): return np.sum(symgrad.grad(loss, wrt={path!r})(p, x))"
    inside = symgrad.from_source(text, globals={"np": np, "symgrad": symgrad, "loss": loss})
    for call in (
        lambda: symgrad.grad(loss, path)(params(), X),
        lambda: symgrad.jvp(loss, (params(), X), (X,), wrt=path),
        lambda: symgrad.hessian(loss, path)(params(), X),
        lambda: symgrad.grad(inside, "x")(params(), X),
    ):
        with pytest.raises(BadArgument) as raised:
            call()
        assert raised.value.what == f"p has no part {path}"
        assert raised.value.hint is not None
        listed = raised.value.hint.removeprefix("its parts are ").split(", ")
        assert "p.b['k'][0]" in listed
        symgrad.grad(loss, listed[1])(params(), X)  # as the hint says


@pytest.mark.parametrize("path", ["p.w[0]", "p.b[3][1]"])
def test_elements_of_arrays_are_no_parts(path):
    with pytest.raises(BadArgument, match="is differentiated as a whole") as raised:
        symgrad.grad(loss, path)(params(), X)
    assert raised.value.hint is not None
    whole = raised.value.hint.split("'")[1] if "p.w" in path else "p.b[3]"
    assert symgrad.grad(loss, whole)(params(), X).shape == (2,)


@pytest.mark.parametrize(
    "path", ["p.w()", "p.b[x]", "p + p", "p; p", "p.b[__import__('os')]", "", "p.", "p.b[f'k']", "p." * 999 + "w", "[p]"]
)
def test_what_is_no_path_is_refused_and_not_run(path):
    for operator in (symgrad.grad, symgrad.jvp, symgrad.jacobian, symgrad.hvp):
        with pytest.raises(BadArgument, match="is not a path"):
            operator(loss, wrt=path)


@pytest.mark.parametrize("wrt", [("p", "p.w"), ("p.b", "p.b['k']"), ("p.w", "p . w")])
def test_parts_of_one_another_are_refused(wrt):
    with pytest.raises(BadArgument, match="twice"):
        symgrad.grad(loss, wrt)
