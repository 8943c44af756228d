"""Jacobians and Hessians: against differences and pullbacks, for trees, sizes, both targets; what is refused."""

from __future__ import annotations

import collections
import functools
import math
import pickle
import subprocess
import sys
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import programs_of_objects  # noqa: F401  # enters its programs
import pytest
from differences import derivative, direction_for, double, inner, leaves
from programs import PROGRAMS, Program

import symgrad
from symgrad.adjoint.matrices import jacobian as rows
from symgrad.errors import (
    BadArgument,
    IntegerArgument,
    NotActive,
    NotActiveWarning,
    NotScalar,
    SymgradError,
    UnsupportedArgument,
)
from symgrad.verification.directions import contracted

RNG = np.random.default_rng(11)
X, W = RNG.normal(size=3), RNG.normal(size=(4, 3))
TARGETS = pytest.mark.parametrize("jit", [False, True], ids=["numpy", "numba"])
Pair = namedtuple("Pair", "left right")


@dataclass
class Layer:
    weight: Any
    bias: Any


def differences(function: Callable[..., Any], arguments: tuple[Any, ...], position: int = 0, step: float = 1e-6) -> np.ndarray:
    """The Jacobian of a function that returns one array, by central differences."""
    at = np.asarray(arguments[position], float)
    columns = np.zeros(np.shape(function(*arguments)) + at.shape)
    for place in np.ndindex(*at.shape):
        ends = []
        for shift in (step, -step):
            moved = at.copy()
            moved[place] += shift
            ends.append(function(*arguments[:position], moved if at.ndim else float(moved), *arguments[position + 1 :]))
        columns[(..., *place)] = (ends[0] - ends[1]) / (2 * step)
    return columns


# ------------------------------------------------------------------ functions that are differentiated


def layer(x, w):
    return np.tanh(w @ x)


def overwrites(x, w):
    h = np.tanh(w @ x)
    y = np.zeros(h.shape[0])
    for i in range(y.shape[0]):
        y[i] = h[i] * x[0]
        y[i] *= y[i]
    return y


def steps_until(x, w):
    y = w @ x
    while np.sum(y * y) > 0.01:
        y = 0.5 * y * np.cos(y)
    return y


def branches(x, w):
    y = np.empty(w.shape[0])
    for i in range(w.shape[0]):
        if w[i, 0] > 0:
            y[i] = np.exp(x[0] * w[i, 0])
        else:
            y[i] = w[i] @ x
    return y


def table(x, w):
    return np.outer(w @ x, x) * x


def recursive(x, w):
    def power(base, n):
        return base if n == 0 else base * power(np.sin(base), n - 1)

    return power(w @ x, 3)


def sorted_sums(x, w):
    return np.cumsum(np.sort(w @ x))


FUNCTIONS = [layer, overwrites, steps_until, branches, table, recursive, sorted_sums]


@TARGETS
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore:recursive runs as NumPy code")
def test_jacobian_agrees_with_differences(function: Callable[..., Any], jit: bool) -> None:
    ours = symgrad.jacrev(function, wrt=("x", "w"), jit=jit)(X, W)
    for position, matrix in enumerate(ours):
        expected = differences(function, (X, W), position)
        assert matrix.shape == expected.shape
        np.testing.assert_allclose(matrix, expected, rtol=1e-6, atol=1e-8)


@TARGETS
@pytest.mark.parametrize("rows", [0, 1, 2, 30])
def test_any_number_of_rows(rows: int, jit: bool) -> None:
    w = RNG.normal(size=(rows, 3))
    ours = symgrad.jacobian(layer, jit=jit)(X, w)
    assert ours.shape == (rows, 3)
    np.testing.assert_allclose(ours, (1 - layer(X, w) ** 2)[:, None] * w, rtol=1e-12)


@TARGETS
def test_numbers_in_and_out(jit: bool) -> None:
    assert symgrad.jacobian(lambda x: x * x * x, jit=jit)(2.0) == 12.0
    np.testing.assert_allclose(symgrad.jacobian(lambda x: np.array([x, x * x]), jit=jit)(3.0), [1.0, 6.0])
    np.testing.assert_allclose(symgrad.jacobian(lambda x: np.sum(x * x), jit=jit)(X), 2 * X)
    np.testing.assert_allclose(symgrad.jacobian(lambda x: np.array(np.sum(x * x)), jit=jit)(X), 2 * X)
    np.testing.assert_allclose(symgrad.jacobian(lambda x: 2.0 * x, jit=jit)(np.array(1.5)), 2.0)


@TARGETS
def test_axes_of_the_result_come_before_those_of_the_argument(jit: bool) -> None:
    a = RNG.normal(size=(2, 3))
    ours = symgrad.jacobian(lambda a: a.T * 2.0, jit=jit)(a)
    assert ours.shape == (3, 2, 2, 3)
    np.testing.assert_allclose(ours, 2 * np.einsum("ik,jl->ijlk", np.eye(3), np.eye(2)))


def test_trees_of_results_hold_trees_of_arguments() -> None:
    def several(layer, pair, scale):
        y = layer.weight @ pair.left
        return {"y": y * scale, "both": (np.sum(y), [pair.right * y[0]])}

    held, pair = Layer(W, np.ones(4)), Pair(X, 2.0)
    ours = symgrad.jacobian(several, wrt=("layer", "pair", "scale"))(held, pair, 3.0)

    assert list(ours) == ["y", "both"]
    of_layer, of_pair, of_scale = ours["y"]
    assert isinstance(of_layer, Layer)
    assert isinstance(of_pair, Pair)
    np.testing.assert_allclose(of_layer.weight, 3.0 * np.einsum("ij,k->ijk", np.eye(4), X))
    np.testing.assert_allclose(of_layer.bias, np.zeros((4, 4)))
    np.testing.assert_allclose(of_pair.left, 3.0 * W)
    np.testing.assert_allclose(of_scale, W @ X)
    total, (scaled,) = ours["both"]
    np.testing.assert_allclose(total[0].weight, np.tile(X, (4, 1)))
    np.testing.assert_allclose(total[1].left, W.sum(0))
    assert total[1].right == 0.0
    assert total[2] == 0.0
    assert scaled[1].right == pytest.approx((W @ X)[0])


@TARGETS
def test_several_results_of_several_shapes(jit: bool) -> None:
    def several(x, w):
        y = np.tanh(w @ x)
        return y, np.sum(y), np.outer(y, x)

    ours = symgrad.jacobian(several, jit=jit)(X, W)
    for part, matrix in enumerate(ours):
        np.testing.assert_allclose(matrix, differences(lambda x, w: several(x, w)[part], (X, W)), rtol=1e-6, atol=1e-8)


def test_what_grad_takes_is_taken() -> None:
    def scaled(x, *, by=2.0):
        return by * x**2, {"by": by}

    ours, aux = symgrad.jacobian(scaled, has_aux=True)(X, by=3.0)
    np.testing.assert_allclose(ours, np.diag(6.0 * X))
    assert aux == {"by": 3.0}
    np.testing.assert_allclose(symgrad.jacobian(scaled, argnums="by", has_aux=True)(X, by=3.0)[0], X**2)
    np.testing.assert_allclose(symgrad.jacrev(layer, argnums=0)(X, W), symgrad.jacobian(layer, mode="reverse")(X, W))
    with pytest.warns(NotActiveWarning):
        assert symgrad.jacobian(lambda x, y: 2.0 * x, wrt="y")(X, X).tolist() == np.zeros((3, 3)).tolist()
    assert not symgrad.jacobian(lambda x, y: 3.0 * x, wrt="y", allow_unused=True)(X, X).any()
    with pytest.raises(NotActive):
        symgrad.jacobian(lambda x, y: 2.0 * x, wrt="y", strict=True)(X, X)


def test_dtypes_are_those_of_the_arguments() -> None:
    single, jacobian = X.astype(np.float32), symgrad.jacobian(layer, wrt=(0, 1))
    of_x, of_w = jacobian(single, W)
    assert of_x.dtype == np.float32
    assert of_w.dtype == np.float64
    np.testing.assert_allclose(of_x, jacobian(X, W)[0], rtol=1e-5)


def test_methods_and_the_first_calls_comparison() -> None:
    class Model:
        def __init__(self) -> None:
            self.w = W

        def outputs(self, x):
            return np.tanh(self.w @ x)

    model = Model()
    np.testing.assert_allclose(symgrad.jacobian(model.outputs, verify="gradient")(X), differences(model.outputs, (X,)), rtol=1e-6)
    several = symgrad.jacobian(lambda x, w: {"a": w @ x, "b": (x[0], x * x)}, wrt=(0, 1), verify="gradient")(X, W)
    np.testing.assert_allclose(several["a"][0], W)


def test_arguments_are_left_as_they_were_and_results_have_memory_of_their_own() -> None:
    x, w = X.copy(), W.copy()
    of_x, of_w = symgrad.jacobian(overwrites, wrt=(0, 1))(x, w)
    assert np.array_equal(x, X)
    assert np.array_equal(w, W)
    assert not any(np.shares_memory(one, other) for one, other in ((of_x, x), (of_w, w), (of_x, of_w)))
    rows = symgrad.jacobian(lambda x: (x * x, x[0]))(x)
    rows[0][...] = 0.0
    assert rows[1].tolist() == [1.0, 0.0, 0.0]


@TARGETS
def test_numbers_that_are_alike_have_arrays_of_their_own(jit: bool) -> None:
    def total(a, b, c):
        y = np.zeros(20)
        for i in range(20):
            s = a + b
            y[i] = s * i + c * np.sum(np.reshape(s, (1,)) * 2.0)
        return y

    of_a, of_b, of_c = symgrad.jacobian(total, wrt=(0, 1, 2), jit=jit)(1.0, 2.0, 3.0)
    np.testing.assert_allclose(of_a, np.arange(20) + 6.0)
    np.testing.assert_allclose(of_b, of_a)
    np.testing.assert_allclose(of_c, np.full(20, 6.0))
    assert not any(np.shares_memory(one, other) for one, other in ((of_a, of_b), (of_b, of_c), (of_a, of_c)))


# ------------------------------------------------------------------ Hessians


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def energy(x, w):
    y = np.tanh(w @ x)
    for i in range(2):
        y = y * np.cos(y)
    return np.sum(y * y)


@TARGETS
@pytest.mark.parametrize("size", [2, 3, 8])
def test_hessian_agrees_with_differences_of_gradients(size: int, jit: bool) -> None:
    x = np.linspace(-1.0, 1.5, size)
    ours = symgrad.hessian(rosenbrock, jit=jit)(x)
    np.testing.assert_allclose(ours, differences(symgrad.grad(rosenbrock), (x,)), rtol=1e-6, atol=1e-5)
    np.testing.assert_allclose(ours, ours.T, rtol=1e-12, atol=1e-12)


def test_code_that_relies_on_a_length_serves_no_other_length() -> None:
    def summed(x):
        table = {0: math.sin, 1: lambda t: t * t, 2: functools.partial(max, 0.9)}
        return sum(table[k % 3](float(a)) for k, a in enumerate(x))

    hessian, product = symgrad.hessian(summed), symgrad.hvp(summed)
    for size in (4, 6, 5):
        x = np.linspace(0.51, 1.53, size)
        symgrad.grad(summed)(x)
        assert hessian(x).shape == (size, size)
        np.testing.assert_allclose(hessian(x), differences(symgrad.grad(summed), (x,)), rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(product(x, v=x), hessian(x) @ x, rtol=1e-10)


def test_hessian_of_several_arguments_is_nested() -> None:
    ours = symgrad.hessian(energy, wrt=("x", "w"))(X, W)
    assert [[part.shape for part in row] for row in ours] == [[(3, 3), (3, 4, 3)], [(4, 3, 3), (4, 3, 4, 3)]]
    np.testing.assert_allclose(ours[0][1], np.moveaxis(ours[1][0], -1, 0), atol=1e-10)
    gradient = symgrad.grad(energy, wrt="x")
    np.testing.assert_allclose(ours[0][1], differences(gradient, (X, W), 1), rtol=1e-5, atol=1e-7)


def test_results_whose_rank_depends_on_values() -> None:
    def summed(x):
        y = x * x
        if x[0] > 0:
            y = np.sum(y)
        return y

    def nested(x):
        return np.zeros([2] * int(x[0])) + x[0] * x[1]

    jacobian = symgrad.jacobian(summed)
    assert jacobian(np.array([1.0, 2.0])).tolist() == [2.0, 4.0]
    assert jacobian(np.array([-1.0, 2.0])).tolist() == [[-2.0, 0.0], [0.0, 4.0]]
    assert symgrad.jacobian(nested)(np.array([2.0, 3.0])).tolist() == [[[3.0, 2.0]] * 2] * 2
    assert symgrad.jacobian(nested)(np.array([0.0, 3.0])).tolist() == [3.0, 0.0]


def of_complex(x):
    z = np.exp(1j * x) * (1 + 2j)
    return (z * z.conj() * z).real + np.angle(z) + np.abs(np.fft.fft(x))


def of_factors(x):
    a = np.outer(x, x) + 3.0 * np.eye(3)
    q, r = np.linalg.qr(a + np.diag(x))
    return np.linalg.cholesky(a)[:, 0] + r[0] + np.linalg.eigvalsh(a + np.diag(x * x)) * np.prod(x)


def of_order(x):
    return np.sort(x)[::-1] * np.median(x) + np.std(x) + np.convolve(x, x)[:3] + np.pad(x, 1)[:-2]


@pytest.mark.parametrize("function", [of_complex, of_factors, of_order])
@pytest.mark.parametrize("jit", [False, pytest.param("auto", marks=pytest.mark.slow)])
def test_what_is_computed_row_by_row(function: Callable[..., Any], jit: Any) -> None:
    np.testing.assert_allclose(symgrad.jacrev(function, jit=jit)(X), differences(function, (X,)), rtol=1e-5, atol=1e-7)


def test_lists_are_trees() -> None:
    def listed(p):
        return [p[0] * p[1], p[1] ** 2]

    ours = symgrad.jacobian(listed)([2.0, 3.0])
    assert ours == [[3.0, 2.0], [0.0, 6.0]]
    nested = symgrad.hessian(lambda p: p[0][0] ** 2 * p[1] ** 3)([[0.5], 2.0])
    np.testing.assert_allclose(flat(nested), [16.0, 12.0, 12.0, 3.0])


def test_hessian_of_trees_and_numbers() -> None:
    def loss(p):
        return np.sum(p["w"] * p["w"]) * p["b"]

    ours = symgrad.hessian(loss)({"w": X, "b": 2.0})
    np.testing.assert_allclose(ours["w"]["w"], 4.0 * np.eye(3))
    np.testing.assert_allclose(ours["w"]["b"], 2 * X)
    np.testing.assert_allclose(ours["b"]["w"], 2 * X)
    assert ours["b"]["b"] == 0.0
    assert symgrad.hessian(lambda x: x**3)(2.0) == pytest.approx(12.0)
    value, aux = symgrad.hessian(lambda x: (x**3, "kept"), has_aux=True)(2.0)
    assert (value, aux) == (pytest.approx(12.0), "kept")


def test_derivatives_of_jacobians() -> None:
    third = symgrad.jacobian(symgrad.hessian(lambda x: np.sum(x**4)))(X)
    expected = np.zeros((3, 3, 3))
    for i in range(3):
        expected[i, i, i] = 24 * X[i]
    np.testing.assert_allclose(third, expected)
    twice = symgrad.jacobian(symgrad.jacobian(layer))
    np.testing.assert_allclose(twice(X, W), differences(symgrad.jacobian(layer), (X, W)), rtol=1e-6, atol=1e-8)


# ------------------------------------------------------------------ products of Hessians with vectors

V = RNG.normal(size=3)


@TARGETS
@pytest.mark.parametrize("product", [symgrad.hvp, symgrad.vhp])
def test_products_are_those_of_the_hessian(product: Callable[..., Any], jit: bool) -> None:
    np.testing.assert_allclose(product(rosenbrock, X, V, jit=jit), symgrad.hessian(rosenbrock)(X) @ V, rtol=1e-10)
    gradient = symgrad.grad(energy)
    expected = (gradient(X + 1e-5 * V, W) - gradient(X - 1e-5 * V, W)) / 2e-5
    np.testing.assert_allclose(product(energy, (X, W), V, jit=jit), expected, rtol=1e-6, atol=1e-8)


def test_products_for_several_arguments_and_trees() -> None:
    whole = symgrad.hessian(energy, wrt=("x", "w"))(X, W)
    direction = RNG.normal(size=W.shape)
    of_x, of_w = symgrad.hvp(energy, (X, W), (V, direction), wrt=("x", "w"))
    np.testing.assert_allclose(of_x, whole[0][0] @ V + np.tensordot(whole[0][1], direction, 2), rtol=1e-9)
    np.testing.assert_allclose(of_w, np.tensordot(whole[1][0], V, 1) + np.tensordot(whole[1][1], direction, 2), rtol=1e-9)

    def loss(p, *, scale=1.0):
        return scale * np.sum(p["w"] * p["w"]) * p["b"]

    ours = symgrad.hvp(loss, {"w": X, "b": 2.0}, {"w": V, "b": 1.0}, scale=3.0)
    np.testing.assert_allclose(ours["w"], 3.0 * (4.0 * V + 2.0 * X))
    assert ours["b"] == pytest.approx(6.0 * X @ V)


Line = collections.namedtuple("Line", "w b")


@pytest.mark.parametrize("product", [symgrad.hvp, symgrad.vhp])
def test_a_product_of_a_named_tuple(product: Any) -> None:
    ours = product(lambda p: np.sum(p.w**2) * p.b, (Line(X, 2.0),), Line(V, 3.0))
    np.testing.assert_allclose(ours.w, 4.0 * V + 6.0 * X)
    assert ours.b == pytest.approx(2.0 * X @ V)


def test_a_product_is_an_object_that_takes_the_vector_by_name(tmp_path: Path) -> None:
    product = symgrad.hvp(rosenbrock)
    assert product is symgrad.hvp(rosenbrock)
    np.testing.assert_allclose(product(X, v=V), symgrad.hvp(rosenbrock, X, V))
    np.testing.assert_allclose(pickle.loads(pickle.dumps(product))(X, v=V), product(X, v=V))
    assert pickle.loads(pickle.dumps(product)) is product
    assert "def rosenbrock_hvp(x, *, v):" in product.source(X, v=V)
    assert "rosenbrock_hvp" in product.source(X, v=V, optimize="speed")
    assert "hvp(rosenbrock)" in product.explain(X, v=V)
    symgrad.save(product, tmp_path / "saved.py", X, v=V)
    space: dict[str, Any] = {"__name__": "saved"}
    exec((tmp_path / "saved.py").read_text(), space)
    np.testing.assert_allclose(space["rosenbrock_hvp"](X, v=V), product(X, v=V))
    assert symgrad.hvp(lambda v: v**3, 2.0, 1.0) == pytest.approx(12.0)
    assert symgrad.hvp(lambda v: v**3)(2.0, vector=1.0) == pytest.approx(12.0)
    of_vector = symgrad.jacobian(product, wrt="v")(X, v=V)
    np.testing.assert_allclose(of_vector, symgrad.hessian(rosenbrock)(X), rtol=1e-10)


def test_products_of_methods_and_with_auxiliary_results() -> None:
    class Model:
        scale = 3.0

        def loss(self, x):
            return self.scale * np.sum(x**4), "kept"

    ours, aux = symgrad.hvp(Model().loss, X, V, has_aux=True)
    np.testing.assert_allclose(ours, 36 * X**2 * V)
    assert aux == "kept"


@pytest.mark.parametrize(("vector", "error", "says"), [
    (np.ones(2), ValueError, "v has another shape than x"),
    (np.ones((3, 1)), BadArgument, "form of the gradient"),
    (1.0, BadArgument, "form of the gradient"),
    (V + 1j, BadArgument, "form of the gradient"),
])  # fmt: skip
@TARGETS
def test_vectors_of_another_form_are_refused(vector: Any, error: type[Exception], says: str, jit: bool) -> None:
    with pytest.raises(error, match=says):
        symgrad.hvp(rosenbrock, X, vector, jit=jit)
    np.testing.assert_allclose(symgrad.hvp(rosenbrock, X, np.ones(3, int), jit=jit), symgrad.hvp(rosenbrock, X, np.ones(3)))


def test_what_else_products_refuse() -> None:
    def cut(x):
        return np.sum(x * symgrad.stop_gradient(x * x))

    with pytest.raises(BadArgument, match="symmetric"):
        symgrad.hvp(cut, X, V)
    np.testing.assert_allclose(symgrad.vhp(cut, X, V), V @ symgrad.hessian(cut, allow_unused=True)(X))
    with pytest.raises(BadArgument, match="takes the arguments and the vector"):
        symgrad.hvp(rosenbrock, X)
    with pytest.raises(BadArgument, match="no parameter 'scale'"):
        symgrad.hvp(rosenbrock, scale=2.0)


# ------------------------------------------------------------------ many rows at once


def laplace(x, w):
    y = np.empty(x.shape[0])
    y[0], y[-1] = x[0], x[-1]
    y[1:-1] = x[2:] - 2 * x[1:-1] + x[:-2] - 0.1 * np.exp(x[1:-1])
    return y


def steps(x, w):
    for i in range(5):
        if i % 2 == 0:
            x = x + 0.1 * np.tanh(w.T @ (w @ x))
        else:
            x = np.cumsum(x) / (1.0 + np.sum(x * x))
    return x


def reductions(x, w):
    y = w * x
    return np.sum(y, axis=1) - np.mean(y, axis=0)[0] + np.concatenate([x, y[:1, 0]]) * np.max(y)


def indexed(x, w):
    places = np.array([0, 2, 2, 1])
    return x[places] * w[:, 0] + np.where(x[places] > 0, np.sin(x[places]), 0.0)


def solved(x, w):
    return np.linalg.solve(w.T @ w + np.diag(np.exp(x)), x)


def contracted_by_name(x, w):
    return np.einsum("ij,j,kj->ik", w, x, w) @ w


def placed(x, w):
    matrix = np.tensordot(w, np.stack([x, x * x], axis=1), axes=1) * np.linalg.det(w.T @ w + np.eye(3))
    return np.diagonal(matrix @ matrix.T) + np.take(np.sum(w[:3] * x) * w, 1, axis=1)


def shapes(x, w):
    return np.stack([w[:3] * x, (w[1:] * x).T]).reshape(2, -1) * np.outer(np.ones(2), np.ones(9))


AT_ONCE = [layer, overwrites, table, laplace, steps, reductions, indexed, solved, contracted_by_name, placed, shapes]


@pytest.mark.sweep(4)
@pytest.mark.parametrize("function", AT_ONCE, ids=lambda f: f.__name__)
@TARGETS
@pytest.mark.filterwarnings("ignore::symgrad.errors.NotActiveWarning")
@pytest.mark.filterwarnings("ignore::symgrad.errors.NotCompiled")
def test_rows_at_once_are_the_rows_one_by_one(function: Callable[..., Any], jit: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows.Rows, "pays", lambda self, compiled: True)
    together = symgrad.jacrev(function, wrt=(0, 1), jit=jit)
    first = together(X, W)
    text = together.ir(X, W)
    monkeypatch.setattr(rows.Rows, "pays", lambda self, compiled: False)
    alone = symgrad.jacrev(function, wrt=(0, 1), jit=jit, allow_unused=True)
    second = alone(X, W)
    assert "row.0 in range" not in text
    assert "row.0 in range" in alone.ir(X, W)
    for one, other in zip(first, second, strict=True):
        assert one.shape == other.shape
        assert one.dtype == other.dtype
        assert one.flags.writeable
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11)


PRODUCTS = [
    (1, (2, 3), (3, 4)), (2, (2, 3, 4), (3, 4, 2)), (((0, 2), (1, 0)), (3, 2, 4), (4, 3, 5)), (((1,), (2,)), (2, 3), (4, 2, 3)),
    (0, (2,), (3,)), (((2, 0), (0, 2)), (3, 2, 4), (4, 5, 3)),
]  # fmt: skip


@pytest.mark.parametrize(("axes", "first", "second"), PRODUCTS)
def test_products_over_any_axes_at_once(axes: Any, first: tuple[int, ...], second: tuple[int, ...]) -> None:
    a, b = np.random.default_rng(3).normal(size=first), np.random.default_rng(4).normal(size=second)

    def product(a, b):
        return np.tensordot(np.sin(a), b * b, axes)

    def total(a, b):
        return np.sum(np.tensordot(np.sin(a), b * b, axes) ** 2)

    jacobian, hessian = symgrad.jacrev(product, wrt=(0, 1)), symgrad.hessian(total, wrt=(0, 1), mode="reverse")
    ours, second_order, gradient = jacobian(a, b), hessian(a, b), symgrad.grad(total, wrt=(0, 1))
    assert "row.0" not in jacobian.ir(a, b) + hessian.ir(a, b)
    for k in (0, 1):
        np.testing.assert_allclose(ours[k], differences(product, (a, b), k), rtol=1e-6, atol=1e-7)
        for i in (0, 1):
            expected = differences(lambda *args, i=i: gradient(*args)[i], (a, b), k)
            np.testing.assert_allclose(second_order[i][k], expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("size", [0, 1, 127, 128, 129, 300])
def test_blocks_of_rows_begin_and_end_anywhere(size: int) -> None:
    x = np.linspace(-1.0, 1.0, size)
    ours = symgrad.jacrev(lambda x: np.sin(x) * np.sum(x))(x)
    np.testing.assert_allclose(ours, np.diag(np.cos(x) * np.sum(x)) + np.sin(x)[:, None] * np.ones(size), atol=1e-12)


# ------------------------------------------------------------------ inside functions that are differentiated

SQUARE = np.array([[0.4, -0.3, 0.2], [0.1, 0.8, -0.5], [0.3, 0.2, 0.6]])


def inner_layer(x):
    return np.tanh(SQUARE @ x) * x[0]


def inner_energy(x):
    return np.sum(x**3) * x[0]


MADE_OUTSIDE = symgrad.jacobian(inner_layer), symgrad.hessian(inner_energy), symgrad.hvp(inner_energy)


def squares_of_a_jacobian(x):
    return np.sum(symgrad.jacobian(inner_layer)(x) ** 2)


def determinant_of_a_hessian(x):
    return np.linalg.det(symgrad.hessian(inner_energy)(x) + 5.0 * np.eye(3))


def squares_of_a_product(x):
    return np.sum(symgrad.hvp(inner_energy, x, x * x) ** 2)


def trees_of_matrices(x):
    matrices = symgrad.jacobian(lambda y: {"a": y * y, "b": (np.sum(y), y[:2])})(x)
    return np.sum(matrices["a"] @ matrices["b"][0]) + np.sum(matrices["b"][1] @ x)


def of_several_arguments(x):
    return np.sum(symgrad.jacrev(lambda a, b: np.outer(a, b) @ a, argnums=(0, 1))(x, x * 2)[1] ** 2)


def objects_made_outside(x):
    jacobian, hessian, product = MADE_OUTSIDE
    return np.sum(jacobian(x) @ hessian(x)) + np.sum(product(x, v=x))


def a_jacobian_of_a_jacobian(x):
    return np.sum(symgrad.jacobian(symgrad.jacobian(inner_layer))(x) ** 2)


def a_product_of_several_arguments(x):
    return np.sum(symgrad.vhp(lambda y, z: np.sum(y**3 * z), (x, x * x), (x, SQUARE[0]), wrt=(0, 1))[1] ** 2)


def a_pullback_of_several_results(x):
    (value, total), pull = symgrad.vjp(lambda z: (z * z, np.sum(z**3)), x)
    (gradient,) = pull((x, 2.0))
    return np.sum(gradient * gradient) * total + np.sum(value)


NESTED = [squares_of_a_jacobian, determinant_of_a_hessian, squares_of_a_product, trees_of_matrices, of_several_arguments,
          objects_made_outside, a_jacobian_of_a_jacobian, a_product_of_several_arguments, a_pullback_of_several_results]  # fmt: skip


@pytest.mark.sweep(4)
@TARGETS
@pytest.mark.parametrize("function", NESTED, ids=lambda f: f.__name__)
def test_matrices_inside_a_function(function: Callable[..., Any], jit: bool) -> None:
    gradient = symgrad.grad(function, jit=jit)(X)
    np.testing.assert_allclose(gradient, differences(function, (X,), step=1e-5), rtol=1e-5, atol=1e-7)


def test_gradients_of_nested_lists_inside_a_function() -> None:
    def inner(q):
        return q[0][0] ** 2 * q[1] ** 3

    def outer(p):
        gradient = symgrad.grad(inner)(p)
        return gradient[0][0] * gradient[1] + len(gradient[0])

    (first,), second = symgrad.grad(outer)([[0.5], 0.7])
    assert first == pytest.approx(18 * 0.5**2 * 0.7**5)
    assert second == pytest.approx(30 * 0.5**3 * 0.7**4)

    def long(q):
        return sum([a * a * q[1] ** 2 for a in q[0]])

    numbers, last = symgrad.grad(lambda p: symgrad.grad(long)(p)[0][3])([[0.1 * k for k in range(12)], 0.7])
    assert numbers == pytest.approx([0.0] * 3 + [2 * 0.7**2] + [0.0] * 8)
    assert last == pytest.approx(4 * 0.3 * 0.7)


def test_second_order_inside_a_function() -> None:
    ours = symgrad.hessian(squares_of_a_jacobian)(X)
    np.testing.assert_allclose(ours, differences(symgrad.grad(squares_of_a_jacobian), (X,)), rtol=1e-5, atol=1e-6)


def refused_inside(body: str) -> None:
    names = {"symgrad": symgrad, "np": np}
    symgrad.grad(symgrad.from_source(f"def outer(x):\n    return np.sum({body})\n", globals=names))(X)


@pytest.mark.parametrize(("body", "says"), [
    ("symgrad.jacobian(lambda y: y > 0)(x)", "real numbers"),
    ("symgrad.jacobian(lambda y: None)(x)", "neither a number nor an array"),
    ('symgrad.jacobian(lambda y: y, mode="sideways")(x)', "no mode 'sideways'"),
    ("symgrad.jacfwd(lambda y: y > 0)(x)", "real numbers"),
    ("symgrad.jacobian(lambda y: y, jit=True)(x)", "jit"),
    ("symgrad.hvp(lambda y: np.sum(y * symgrad.stop_gradient(y)), x, x)", "symmetric"),
    ("symgrad.hvp(lambda y: np.sum(y * y))(x)", "hvp takes the vector by name"),
    ("symgrad.hvp(lambda y: np.sum(y * symgrad.stop_gradient(y)))(x, v=x)", "symmetric"),
    ("symgrad.vjp(lambda y: (y, np.sum(y)), x)[1](x)[0]", "another structure"),
])  # fmt: skip
def test_what_is_refused_inside_a_function(body: str, says: str) -> None:
    with pytest.raises(SymgradError, match=says):
        refused_inside(body)


# ------------------------------------------------------------------ as an object


def module_level(x):
    return np.tanh(x) * x[0]


def test_it_is_an_object_like_a_gradient(tmp_path: Path) -> None:
    jacobian = symgrad.jacobian(module_level)
    assert jacobian is symgrad.jacobian(module_level)
    assert pickle.loads(pickle.dumps(jacobian)) is jacobian
    assert "x_jacobian[first:first + 128] = x_grad" in jacobian.source(X)
    assert "jacobian" in repr(jacobian)
    assert "is kept" in jacobian.explain(X) or "tanh" in jacobian.explain(X)
    assert "func module_level_jacobian" in jacobian.ir(X)


@pytest.mark.parametrize("jit", [False, pytest.param("auto", marks=pytest.mark.slow)])
def test_a_saved_jacobian_compares_itself_with_differences(tmp_path: Path, jit: Any) -> None:
    def several(x, w):
        return {"y": np.tanh(w @ x), "s": x[0] * x[1]}

    for number, (derived, arguments) in enumerate([
        (symgrad.jacobian(several, wrt=("x", "w"), jit=jit), (X, W)),
        (symgrad.jacobian(module_level, jit=jit), (X,)),
        (symgrad.hessian(rosenbrock, jit=jit), (X,)),
    ]):  # fmt: skip
        path = tmp_path / f"saved_{number}.py"
        symgrad.save(derived, path, *arguments)
        run = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
        assert "agrees with differences" in run.stdout, run.stderr


# ------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(("function", "argument", "error", "says"), [
    (lambda x: x > 0, X, NotScalar, "integers and booleans have no derivative"),
    (lambda x: (x, x.shape[0]), X, NotScalar, "has_aux"),
    (lambda x: None, X, NotScalar, "not a number or an array"),
    (lambda x: np.exp(1j * x), X, NotScalar, "real and its imaginary"),
    (lambda x: x * 2.0, X + 1j, NotScalar, "complex"),
    (lambda x: [a * a for a in x], np.ones(70), UnsupportedArgument, "np.array"),
    (lambda p: p[0] * np.array(p), [0.5] * 70, UnsupportedArgument, "pass an array"),
    (lambda x: x, np.arange(3), IntegerArgument, "astype"),
])  # fmt: skip
def test_what_has_no_jacobian_is_refused(function: Callable[..., Any], argument: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        symgrad.jacobian(function)(argument)


def test_ways_out_of_refusals_work() -> None:
    y, count = symgrad.jacobian(lambda x: (2 * x, x.shape[0]), has_aux=True)(X)
    assert count == 3
    assert y.tolist() == np.diag([2.0] * 3).tolist()
    parts = symgrad.jacobian(lambda x: np.stack([np.exp(1j * x).real, np.exp(1j * x).imag]))(X)
    np.testing.assert_allclose(parts, [np.diag(-np.sin(X)), np.diag(np.cos(X))])
    assert symgrad.jacobian(lambda x: np.array([a * a for a in x]))(X).tolist() == np.diag(2 * X).tolist()


def test_modes() -> None:
    with pytest.raises(BadArgument, match="there is no mode 'sideways'"):
        symgrad.jacobian(layer, mode="sideways")
    with pytest.raises(BadArgument, match="there is no mode 1"):
        symgrad.hessian(rosenbrock, mode=1)
    assert symgrad.jacobian(layer, mode="reverse") is symgrad.jacrev(layer)
    assert symgrad.jacobian(layer, mode="forward") is symgrad.jacfwd(layer)
    assert repr(symgrad.jacfwd(layer)) == "jacfwd(layer)"


# ------------------------------------------------------------------ the corpus


def variant(function: Callable[..., Any], count: int) -> Callable[..., Any]:
    """A function of the same arguments that returns three numbers, which depend on what the function returns."""

    def many(y):
        return np.array([y, 2.0 * y * y, np.sin(y)])

    def one(a):
        return many(function(a))

    def two(a, b):
        return many(function(a, b))

    def three(a, b, c):
        return many(function(a, b, c))

    return (one, two, three)[count - 1]


def precision(arguments: Any) -> float:
    return 2e-4 if any(getattr(leaf, "dtype", None) == np.float32 for leaf in leaves(arguments)) else 1e-7


CORPUS = [(p, jit) for jit in (False, True) for p in PROGRAMS]


def ids(value: Any) -> str:
    return value.name if isinstance(value, Program) else ("numpy", "numba")[value]


@pytest.mark.sweep(70)
@pytest.mark.parametrize(("program", "jit"), CORPUS, ids=ids)
@pytest.mark.filterwarnings("ignore::symgrad.errors.NotCompiled")
def test_jacobians_of_the_corpus_are_rows_of_gradients(program: Program, jit: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "FEW", 0)
    arguments = program.arguments(program.sizes[0])
    function = variant(program.function, len(arguments))
    ours = symgrad.jacrev(function, wrt=program.wrt, jit=jit)(*arguments)
    value, gradient = symgrad.value_and_grad(program.function, wrt=program.wrt)(*program.arguments(program.sizes[0]))
    for row, factor in enumerate((1.0, 4.0 * value, np.cos(value))):
        for part, expected in zip(leaves(ours), leaves(gradient), strict=True):
            scale = max(1.0, float(np.max(np.abs(expected), initial=0.0))) * max(1.0, abs(float(factor)))
            np.testing.assert_allclose(part[row], factor * np.asarray(expected), rtol=1e-3, atol=precision(gradient) * scale)


@pytest.mark.sweep(110)
@pytest.mark.parametrize(("program", "jit"), [pair for pair in CORPUS if pair[0].second], ids=ids)
@pytest.mark.filterwarnings("ignore::symgrad.errors.NotActiveWarning")  # of a linear function it is zero
@pytest.mark.filterwarnings("ignore::symgrad.errors.NotCompiled")
def test_hessians_of_the_corpus_agree_with_differences_of_gradients(program: Program, jit: bool) -> None:
    size = program.sizes[0]
    gradient = symgrad.grad(program.function, wrt=program.wrt)
    positions = program.wrt if isinstance(program.wrt, tuple) else (program.wrt,)
    chosen = tuple(program.arguments(size)[k] for k in positions)
    first = gradient(*program.arguments(size))
    direction, seed = (direction_for(tree, np.random.default_rng(n)) for n, tree in enumerate((chosen, first)))

    def slope(moved: tuple[Any, ...]) -> float:
        arguments = list(double(program.arguments(size)))
        for k, argument in zip(positions, moved, strict=True):
            arguments[k] = argument
        return inner(gradient(*arguments), double(seed))

    hessian = symgrad.hessian(program.function, wrt=program.wrt, jit=jit)
    ours = hessian(*program.arguments(size))
    parts = contracted(ours, seed)
    along = sum(float(np.sum(part * d)) for part, d in zip(flat(parts), leaves(direction), strict=True))
    expected = derivative(slope, double(chosen), double(direction))
    assert along == pytest.approx(expected, rel=10 * precision(chosen), abs=10 * precision(chosen))


def flat(tree: Any) -> list[Any]:
    """The leaves of nested lists."""
    return [leaf for item in tree for leaf in flat(item)] if isinstance(tree, list) else [] if tree is None else [tree]


def shrinking(a, depth):
    return a if depth > 5 else shrinking(a * 1.5 + 0.1, depth + 1) * 0.9


def test_rows_of_a_gradient_of_a_linear_recursion() -> None:
    """The backward half applies a function to a seed, and nothing of that comes back."""

    def product(x):
        return shrinking(x[0] * x[1], 0)

    expected = np.array([[0.0, 1.0], [1.0, 0.0]]) * (1.5 * 0.9) ** 6
    np.testing.assert_allclose(symgrad.hessian(product, mode="reverse")(np.array([0.7, 0.9])), expected, rtol=1e-12)
