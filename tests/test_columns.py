"""Jacobians by forward mode, compared with differences and rows; the choice of the mode; the corpus."""

from __future__ import annotations

import contextlib
import io
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from differences import leaves
from programs import Program
from strategies import loaded
from targets import outcome
from test_jacobians import (
    AT_ONCE,
    CORPUS,
    FUNCTIONS,
    TARGETS,
    Layer,
    Pair,
    W,
    X,
    differences,
    energy,
    ids,
    layer,
    of_complex,
    of_factors,
    of_order,
    precision,
    rosenbrock,
    variant,
)
from test_random_forward import KINDS

import symgrad
from symgrad.errors import (
    BadArgument,
    IntegerArgument,
    InvalidIR,
    Mismatch,
    NoDerivative,
    NotActive,
    NotActiveWarning,
    NotScalar,
    UnsupportedArgument,
)
from symgrad.ops.batched import NotBatched
from symgrad.tangent import columns as at_once
from symgrad.tangent import half

RNG = np.random.default_rng(12)
IN_TURN = "column.0 in range"


@pytest.mark.sweep(2)
@TARGETS
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore:recursive runs as NumPy code")
def test_columns_agree_with_differences(function: Callable[..., Any], jit: bool) -> None:
    ours = symgrad.jacfwd(function, wrt=("x", "w"), jit=jit)(X, W)
    for position, matrix in enumerate(ours):
        expected = differences(function, (X, W), position)
        assert matrix.shape == expected.shape
        np.testing.assert_allclose(matrix, expected, rtol=1e-6, atol=1e-8)


@TARGETS
@pytest.mark.parametrize("size", [0, 1, 2, 30, 129])
def test_any_number_of_columns(size: int, jit: bool) -> None:
    x, w = RNG.normal(size=size), RNG.normal(size=(4, size))
    ours = symgrad.jacfwd(layer, jit=jit)(x, w)
    assert ours.shape == (4, size)
    np.testing.assert_allclose(ours, (1 - layer(x, w) ** 2)[:, None] * w, rtol=1e-9, atol=1e-12)


@TARGETS
def test_numbers_in_and_out(jit: bool) -> None:
    assert symgrad.jacfwd(lambda x: x * x * x, jit=jit)(2.0) == 12.0
    np.testing.assert_allclose(symgrad.jacfwd(lambda x: np.array([x, x * x]), jit=jit)(3.0), [1.0, 6.0])
    np.testing.assert_allclose(symgrad.jacfwd(lambda x: np.sum(x * x), jit=jit)(X), 2 * X)
    np.testing.assert_allclose(symgrad.jacfwd(lambda x: np.array(np.sum(x * x)), jit=jit)(X), 2 * X)
    np.testing.assert_allclose(symgrad.jacfwd(lambda x: 2.0 * x, jit=jit)(np.array(1.5)), 2.0)
    of_a, of_b = symgrad.jacfwd(lambda a, b: np.array([a * b, a + b]), wrt=(0, 1), jit=jit)(2.0, 3.0)
    assert of_a.tolist() == [3.0, 1.0]
    assert of_b.tolist() == [2.0, 1.0]


@TARGETS
def test_axes_of_the_result_come_before_those_of_the_argument(jit: bool) -> None:
    a = RNG.normal(size=(2, 3))
    ours = symgrad.jacfwd(lambda a: a.T * 2.0, jit=jit)(a)
    assert ours.flags.c_contiguous
    np.testing.assert_allclose(ours, 2 * np.einsum("ik,jl->ijlk", np.eye(3), np.eye(2)))


def test_trees_of_results_hold_trees_of_arguments() -> None:
    def several(layer, pair, scale):
        y = layer.weight @ pair.left
        return {"y": y * scale, "both": (np.sum(y), [pair.right * y[0]])}

    arguments = Layer(W, np.ones(4)), Pair(X, 2.0), 3.0
    ours, rows = (derive(several, wrt=("layer", "pair", "scale"))(*arguments) for derive in (symgrad.jacfwd, symgrad.jacrev))
    assert list(ours) == ["y", "both"]
    assert isinstance(ours["y"][0], Layer)
    assert isinstance(ours["y"][1], Pair)
    for one, other in zip(leaves(ours), leaves(rows), strict=True):
        assert np.shape(one) == np.shape(other)
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_what_jacrev_takes_is_taken() -> None:
    def scaled(x, *, by=2.0):
        return by * x**2, {"by": by}

    ours, aux = symgrad.jacfwd(scaled, has_aux=True)(X, by=3.0)
    np.testing.assert_allclose(ours, np.diag(6.0 * X))
    assert aux == {"by": 3.0}
    np.testing.assert_allclose(symgrad.jacfwd(scaled, argnums="by", has_aux=True)(X, by=3.0)[0], X**2)
    with pytest.warns(NotActiveWarning):
        assert symgrad.jacfwd(lambda x, y: 2.0 * x, wrt="y")(X, X).tolist() == np.zeros((3, 3)).tolist()
    with pytest.raises(NotActive):
        symgrad.jacfwd(lambda x, y: 2.0 * x, wrt="y", strict=True)(X, X)


def test_dtypes_are_those_of_the_arguments() -> None:
    single, jacobian = X.astype(np.float32), symgrad.jacfwd(layer, wrt=(0, 1))
    of_x, of_w = jacobian(single, W)
    assert (of_x.dtype, of_w.dtype) == (np.float32, np.float64)
    np.testing.assert_allclose(of_x, jacobian(X, W)[0], rtol=1e-5)
    assert symgrad.jacfwd(lambda x: np.tanh(x))(single).dtype == np.float32


def test_arguments_are_left_as_they_were_and_results_have_memory_of_their_own() -> None:
    def overwrites(x, w):
        x[0] = x[1] * w[0, 0]
        w[1] *= x[2]
        return x, w[1], x

    x, w = X.copy(), W.copy()
    ours = symgrad.jacfwd(lambda x, w: overwrites(x.copy(), w.copy()), wrt=(0, 1))(x, w)
    assert np.array_equal(x, X)
    assert np.array_equal(w, W)
    parts = [part for result in ours for part in result]
    assert not any(np.shares_memory(one, other) for k, one in enumerate(parts) for other in (*parts[:k], x, w))
    parts[0][...] = 0.0
    rows = symgrad.jacrev(lambda x, w: overwrites(x.copy(), w.copy()), wrt=(0, 1))(x, w)
    for result, own in zip(ours[1:], rows[1:], strict=True):
        for one, other in zip(result, own, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)


@TARGETS
def test_columns_of_one_number_have_memory_of_their_own(jit: bool) -> None:
    def alike(t):
        y = t * np.ones(3)
        return y, y, y[1:], np.full(2, t)

    parts = symgrad.jacfwd(alike, jit=jit)(2.0)
    assert [part.tolist() for part in parts] == [[1.0] * 3, [1.0] * 3, [1.0] * 2, [1.0] * 2]
    assert all(part.flags.writeable for part in parts)
    assert not any(np.shares_memory(one, other) for k, one in enumerate(parts) for other in parts[:k])


def test_what_a_function_prints_it_prints_once(capsys: pytest.CaptureFixture[str]) -> None:
    def talks(x):
        y = np.zeros(3)
        for i in range(3):
            print("round", i)
            y[i] = x[i] * x[0]
        return y

    jacobian = symgrad.jacfwd(talks, verify=False)
    expected = np.diag(np.full(3, X[0]))
    expected[:, 0] += X
    np.testing.assert_allclose(jacobian(X), expected)
    assert capsys.readouterr().out == "round 0\nround 1\nround 2\n"


# ------------------------------------------------------------------ how columns are computed


def refused(*args: Any) -> None:
    raise NotBatched


def no_transpose(*args: Any, **named: Any) -> None:
    raise NoDerivative("there is none")


@pytest.mark.sweep(8)
@pytest.mark.parametrize("function", AT_ONCE, ids=lambda f: f.__name__)
@TARGETS
@pytest.mark.filterwarnings("ignore::symgrad.errors.NotActiveWarning")
@pytest.mark.filterwarnings("ignore::symgrad.errors.NotCompiled")
def test_columns_at_once_are_the_columns_in_turn_and_the_rows(function: Callable[..., Any], jit: bool,
                                                              monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    together = symgrad.jacfwd(function, wrt=(0, 1), jit=jit)
    first = together(X, W)
    assert IN_TURN not in together.ir(X, W)
    rows = symgrad.jacrev(function, wrt=(0, 1), jit=jit)(X, W)
    monkeypatch.setattr(at_once, "together", refused)
    alone = symgrad.jacfwd(function, wrt=(0, 1), jit=jit, allow_unused=True)
    second = alone(X, W)
    assert IN_TURN in alone.ir(X, W)
    for one, *others in zip(first, second, rows, strict=True):
        assert one.flags.writeable
        for other in others:
            assert (one.shape, one.dtype) == (other.shape, other.dtype)
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11)


def lists_that_grow(x):
    kept, total = [], 0.0
    for a in x:
        total = total + a * a
        if a > 0.0:
            kept.append(total * a)
    kept[0] = kept[-1] * 2.0
    return np.array(kept) * sum(kept)


def parts_of_an_array(x):
    numbers = x.tolist()
    numbers.append(numbers[0] * numbers[1])
    rows = list(np.outer(x, x))
    return np.array(numbers[1:]) * len(numbers) + rows[2][0]


def numbers_before_a_store(x):
    y = 0.5 * x
    numbers = list(y)
    y[1:] += y[:-1]
    return y * sum(numbers) + numbers[2]


def newton(x):
    r = np.ones(3)
    while np.max(np.abs(r * r * r - np.exp(x))) > 1e-12:
        r = r - (r * r * r - np.exp(x)) / (3.0 * r * r)
    return r


def stacks_of_matrices(x):
    a = np.stack([np.outer(x, x), np.diag(x)])
    return (a @ x)[:, 0] + (x @ a)[:, 1] + np.sum(a @ (a * 2.0), axis=(1, 2)) + (a[0] @ a)[1, 0, 0] + (a @ a[1])[0, 1, 1]


def gathered(x):
    y = np.zeros((3, 2))
    y[:, 0] = x[np.array([2, 0, 0])]
    y[x > 0.0, 1] = 2.0 * x[x > 0.0]
    return np.where(y > 0.1, y, y * y).ravel() * np.cumsum(y)


@pytest.mark.sweep(2)
@TARGETS
@pytest.mark.parametrize("function", [lists_that_grow, parts_of_an_array, numbers_before_a_store, newton, stacks_of_matrices, gathered])
@pytest.mark.filterwarnings("ignore::symgrad.errors.NotCompiled")
def test_constructs_whose_columns_are_computed_at_once(function: Callable[..., Any], jit: bool) -> None:
    jacobian = symgrad.jacfwd(function, jit=jit)
    x = np.array([0.4, 1.3, -0.7])
    np.testing.assert_allclose(jacobian(x), differences(function, (x,)), rtol=1e-6, atol=1e-8)
    assert IN_TURN not in jacobian.ir(x)


def laid_in_line(x):
    a = np.outer(x, x)
    return np.concatenate([a, a[:2] * x[0]], axis=None) * 2.0


@pytest.mark.parametrize("derive", [symgrad.jacfwd, symgrad.jacrev])
def test_arrays_that_are_joined_without_an_axis(derive: Any) -> None:
    np.testing.assert_allclose(derive(laid_in_line)(X), differences(laid_in_line, (X,)), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("function", [of_complex, of_factors, of_order])
def test_any_row_has_columns(function: Callable[..., Any]) -> None:
    np.testing.assert_allclose(symgrad.jacfwd(function)(X), differences(function, (X,)), rtol=1e-5, atol=1e-7)


def test_results_whose_rank_depends_on_values() -> None:
    def nested(x):
        return np.zeros([2] * int(x[0])) + x[0] * x[1]

    assert symgrad.jacfwd(nested)(np.array([2.0, 3.0])).tolist() == [[[3.0, 2.0]] * 2] * 2
    assert symgrad.jacfwd(nested)(np.array([0.0, 3.0])).tolist() == [3.0, 0.0]


def test_the_text_is_that_of_the_function_and_its_tangents() -> None:
    text = symgrad.jacfwd(lambda x, w: np.tanh(w @ x)).source(X, W)
    assert "x_tangent = np.eye(x.shape[0])" in text
    assert "x_tangent @ w.T * (1 - tanh * tanh)" in text
    assert "for " not in text


# ------------------------------------------------------------------ which mode is chosen


def by_columns(jacobian: Any, *arguments: Any) -> bool:
    """Is the text that of forward mode, which is another one than that of reverse mode?"""
    of, wrt = jacobian._of, jacobian._options.wrt
    texts = [derive(of, wrt=wrt).source(*arguments) for derive in (symgrad.jacfwd, symgrad.jacrev)]
    assert texts[0] != texts[1]
    text = jacobian.source(*arguments)
    assert text in texts
    return text == texts[0]


def test_columns_are_chosen_where_the_arguments_hold_fewer_numbers() -> None:
    jacobian = symgrad.jacobian(layer)
    assert by_columns(jacobian, X, W)  # 3 numbers and 4 results
    assert not by_columns(jacobian, X, W[:3])
    assert not by_columns(jacobian, X, W[:2])
    for rows in (4, 3, 2, 5):
        np.testing.assert_allclose(jacobian(X, RNG.normal(size=(rows, 3)) * 0.0), np.zeros((rows, 3)))
        np.testing.assert_allclose(jacobian(X, W[:rows]), symgrad.jacrev(layer)(X, W[:rows]), rtol=1e-12)
    assert not by_columns(symgrad.jacobian(layer, wrt=("x", "w")), X, W)
    assert by_columns(symgrad.jacobian(lambda t: np.array([t, t * t])), 2.0)
    assert not by_columns(symgrad.jacobian(lambda x: np.sum(x)), X)
    assert by_columns(symgrad.jacobian(lambda p: np.outer(p["a"], p["b"])), {"a": X, "b": X})
    assert not by_columns(symgrad.jacobian(lambda p: np.outer(p["a"], p["b"])), {"a": X[:2], "b": X[:2]})
    assert not by_columns(symgrad.jacobian(lambda x: x[x > 0.0]), X)  # of as many results as values tell


def test_a_choice_is_no_condition_of_saved_code(tmp_path: Path) -> None:
    jacobian = symgrad.jacobian(layer)
    symgrad.save(jacobian, tmp_path / "saved.py", X, W)
    space: dict[str, Any] = {"__name__": "saved"}
    exec((tmp_path / "saved.py").read_text(), space)
    for rows in (2, 4):
        np.testing.assert_allclose(space["layer_jacobian"](X, W[:rows]), jacobian(X, W[:rows]), rtol=1e-12)


def test_a_key_that_reads_like_a_choice_is_a_condition_of_saved_code(tmp_path: Path) -> None:
    def of_one_axis(x, settings):
        return np.sum(x, axis=settings["a < b"]) * np.ones(2)

    matrix = np.arange(4.0).reshape(2, 2)
    symgrad.save(symgrad.jacobian(of_one_axis), tmp_path / "saved.py", matrix, {"a < b": 0})
    space: dict[str, Any] = {"__name__": "saved"}
    exec((tmp_path / "saved.py").read_text(), space)
    expected = symgrad.jacrev(of_one_axis)(matrix, {"a < b": 0})
    np.testing.assert_allclose(space["of_one_axis_jacobian"](matrix, {"a < b": 0}), expected, rtol=1e-12)
    with pytest.raises(TypeError, match="was made for"):
        space["of_one_axis_jacobian"](matrix, {"a < b": 1})


def test_kernels_of_loops_have_columns_where_both_are_as_many() -> None:
    def numbers(x):
        y = np.zeros(x.shape[0])
        for i in range(x.shape[0]):
            y[i] = np.sin(x[i]) * x[i - 1]
        return y

    assert "_tangent" in symgrad.jacobian(numbers, jit=True).ir(X)
    assert "_tangent" not in symgrad.jacobian(numbers).ir(X)
    np.testing.assert_allclose(symgrad.jacobian(numbers, jit=True)(X), differences(numbers, (X,)), rtol=1e-7)


def test_rows_are_chosen_where_columns_are_not_computed_at_once() -> None:
    def slides(x, w):
        return np.convolve(x, np.sin(x))

    jacobian = symgrad.jacobian(slides)
    assert not by_columns(jacobian, X, W)
    np.testing.assert_allclose(jacobian(X, W), differences(slides, (X, W)), rtol=1e-7, atol=1e-9)


# ------------------------------------------------------------------ Hessians, and derivatives of Jacobians


@TARGETS
@pytest.mark.parametrize("size", [1, 2, 8])
def test_hessians_forward_over_reverse(size: int, jit: bool) -> None:
    x = np.linspace(-1.0, 1.5, size)
    ours = symgrad.hessian(rosenbrock, mode="forward", jit=jit)(x)
    np.testing.assert_allclose(ours, differences(symgrad.grad(rosenbrock), (x,)), rtol=1e-6, atol=1e-5)
    whole = symgrad.hessian(energy, wrt=("x", "w"), mode="forward", jit=jit)(X, W)
    for row, rows in zip(whole, symgrad.hessian(energy, wrt=("x", "w"), mode="reverse")(X, W), strict=True):
        for one, other in zip(row, rows, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11)


@TARGETS
def test_products_are_forward_over_reverse(jit: bool) -> None:
    def recurrence(x, w):
        total = 0.0
        for i in range(x.shape[0]):
            total = total + np.sin(total + w[0, i]) * x[i] * x[i]
        return total

    v = RNG.normal(size=3)
    product, other = symgrad.hvp(recurrence, jit=jit), symgrad.vhp(recurrence, jit=jit)
    assert "_tangent" in product.source(X, W, v=v)
    assert "_tangent" not in other.source(X, W, v=v)
    gradient = symgrad.grad(recurrence)
    expected = (gradient(X + 1e-5 * v, W) - gradient(X - 1e-5 * v, W)) / 2e-5
    np.testing.assert_allclose(product(X, W, v=v), expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(other(X, W, v=v), product(X, W, v=v), rtol=1e-10)


DERIVES = [symgrad.jacfwd, symgrad.jacrev]


@pytest.mark.sweep(2)
@pytest.mark.parametrize("outer", DERIVES, ids=lambda d: d.__name__)
@pytest.mark.parametrize("inner", DERIVES, ids=lambda d: d.__name__)
@TARGETS
def test_jacobians_of_jacobians(outer: Any, inner: Any, jit: bool) -> None:
    twice = outer(inner(layer), jit=jit)(X, W)
    np.testing.assert_allclose(twice, differences(symgrad.jacrev(layer), (X, W)), rtol=1e-6, atol=1e-8)


def of_columns(x):
    return np.sum(symgrad.jacfwd(lambda y: np.outer(y, y) @ np.sin(y))(x) ** 2)


def of_two_modes(x):
    def inner(y):
        return symgrad.jacrev(lambda z: np.tanh(z * y[0]) * z[1])(y)

    return np.sum(symgrad.jacfwd(inner)(x) ** 2)


def of_chosen_columns(x):
    return np.sum(symgrad.jacobian(lambda t: np.array([t, t * x[1], np.sin(t)]))(x[0]) ** 3)


def of_columns_in_turn(x):
    def power(base, n):
        return base if n == 0 else base * power(np.sin(base), n - 1)

    return np.sum(symgrad.jacfwd(lambda y: power(y, 2) * y[0])(x) ** 2)


def of_a_hessian(x):
    return np.linalg.det(symgrad.hessian(lambda y: np.sum(y**3) * y[0], mode="forward")(x) + 5.0 * np.eye(3))


MADE_OUTSIDE = symgrad.jacfwd(lambda x: np.tanh(x) * x[0])


def of_an_object(x):
    return np.sum(MADE_OUTSIDE(x) ** 2)


NESTED = [of_columns, of_two_modes, of_chosen_columns, of_columns_in_turn, of_a_hessian, of_an_object]


@TARGETS
@pytest.mark.sweep(3)
@pytest.mark.parametrize("function", NESTED, ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore::symgrad.errors.NotCompiled")
def test_columns_inside_a_function(function: Callable[..., Any], jit: bool) -> None:
    expected = differences(function, (X,), step=1e-5)
    np.testing.assert_allclose(symgrad.grad(function, jit=jit)(X), expected, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(symgrad.jacfwd(function, jit=jit)(X), expected, rtol=1e-5, atol=1e-7)


def test_columns_of_a_batch() -> None:
    batch = RNG.normal(size=(5, 3))
    ours = symgrad.vmap(symgrad.jacfwd(layer), in_axes=(0, None))(batch, W)
    np.testing.assert_allclose(ours, np.stack([symgrad.jacrev(layer)(x, W) for x in batch]), rtol=1e-12)


# ------------------------------------------------------------------ as an object


def module_level(x):
    return np.tanh(x) * x[0]


def test_it_is_an_object_like_a_gradient(tmp_path: Path) -> None:
    jacobian = symgrad.jacfwd(module_level)
    assert pickle.loads(pickle.dumps(jacobian)) is jacobian
    assert jacobian is not symgrad.jacrev(module_level)
    assert "func module_level_jacobian" in jacobian.ir(X)
    symgrad.save(jacobian, tmp_path / "saved.py", X)
    run = subprocess.run([sys.executable, str(tmp_path / "saved.py")], capture_output=True, text=True, check=False)
    assert "agrees with differences" in run.stdout, run.stderr


def test_methods_and_the_first_calls_comparison() -> None:
    class Model:
        def __init__(self) -> None:
            self.w = W

        def outputs(self, x):
            return np.tanh(self.w @ x)

    model = Model()
    np.testing.assert_allclose(symgrad.jacfwd(model.outputs, verify="gradient")(X), differences(model.outputs, (X,)), rtol=1e-6)


# ------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(("function", "argument", "error", "says"), [
    (lambda x: x > 0, X, NotScalar, "integers and booleans have no derivative"),
    (lambda x: np.exp(1j * x), X, NotScalar, "real and its imaginary"),
    (lambda x: x * 2.0, X + 1j, NotScalar, "complex"),
    (lambda p: p[0] * np.array(p), [0.5] * 70, UnsupportedArgument, "pass an array"),
    (lambda x: x, np.arange(3), IntegerArgument, "astype"),
])  # fmt: skip
def test_what_has_no_jacobian_is_refused(function: Callable[..., Any], argument: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        symgrad.jacfwd(function)(argument)


def test_a_function_that_has_no_columns_has_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    def stores(x, n):
        if n > 0:
            x[n] = x[n - 1] * x[n]
            stores(x, n - 1)

    def outer(x):
        y = x.copy()
        stores(y, 2)
        return y

    np.testing.assert_allclose(symgrad.jacfwd(outer)(X), differences(outer, (X,)), rtol=1e-7, atol=1e-9)
    monkeypatch.setattr(at_once, "together", refused)
    np.testing.assert_allclose(symgrad.jacfwd(lambda x: outer(x))(X), differences(outer, (X,)), rtol=1e-7, atol=1e-9)
    monkeypatch.setattr(half, "gradient", no_transpose)
    with pytest.raises(NoDerivative, match="not written as a linear function") as caught:
        symgrad.jacfwd(outer, allow_unused=True)(X)
    assert 'mode="reverse"' in str(caught.value)
    np.testing.assert_allclose(symgrad.jacobian(outer, mode="reverse")(X), differences(outer, (X,)), rtol=1e-7, atol=1e-9)
    with pytest.raises(BadArgument):
        symgrad.jacobian(outer, mode="columns")


# ------------------------------------------------------------------ the corpus


@pytest.mark.sweep(70)
@pytest.mark.parametrize(("program", "jit"), CORPUS, ids=ids)
@pytest.mark.filterwarnings("ignore::symgrad.errors.NotCompiled")
def test_columns_of_the_corpus_agree_with_gradients(program: Program, jit: bool) -> None:
    arguments = program.arguments(program.sizes[0])
    function = variant(program.function, len(arguments))
    try:
        ours = symgrad.jacfwd(function, wrt=program.wrt, jit=jit)(*arguments)
    except NoDerivative as refusal:
        assert 'mode="reverse"' in str(refusal)
        return
    value, gradient = symgrad.value_and_grad(program.function, wrt=program.wrt)(*program.arguments(program.sizes[0]))
    for row, factor in enumerate((1.0, 4.0 * value, np.cos(value))):
        for part, expected in zip(leaves(ours), leaves(gradient), strict=True):
            scale = max(1.0, float(np.max(np.abs(expected), initial=0.0))) * max(1.0, abs(float(factor)))
            np.testing.assert_allclose(part[row], factor * np.asarray(expected), rtol=1e-3, atol=precision(gradient) * scale)


# ------------------------------------------------------------------ random programs


@pytest.mark.parametrize(("kind", "wrt"), [("numbers", KINDS["numbers"].wrt), ("memory", KINDS["memory"].wrt), ("objects", (0, 3))])
@pytest.mark.parametrize("seeds", [range(8), pytest.param(range(8, 150), marks=pytest.mark.slow)], ids=["few", "many"])
@pytest.mark.filterwarnings("ignore")
def test_columns_of_random_programs_are_their_gradients(kind: str, wrt: tuple[int, ...], seeds: range) -> None:
    own, right = KINDS[kind], 0
    for seed in seeds:
        fresh = own.arguments(own.situations[seed % len(own.situations)])
        with loaded(own.write(seed)) as function, contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
            value = outcome(function, *fresh())
            if isinstance(value, tuple) or not np.isfinite(value):
                continue
            try:
                gradient = symgrad.grad(function, wrt=wrt, allow_unused=True)(*fresh())
            except (InvalidIR, Mismatch):
                raise
            except symgrad.SymgradError:
                continue
            columns = symgrad.jacfwd(function, wrt=wrt, allow_unused=True)(*fresh())
            if not all(np.all(np.isfinite(g)) for g in leaves(gradient)):
                continue
            right += 1
            narrow = any(getattr(leaf, "dtype", None) == np.float32 for leaf in leaves(fresh()))
            for one, other in zip(leaves(columns), leaves(gradient), strict=True):
                size = max(1.0, float(np.max(np.abs(other), initial=0.0)))
                np.testing.assert_allclose(one, other, rtol=1e-9, atol=(2e-3 if narrow else 1e-9) * size, err_msg=own.write(seed))
    assert right > len(seeds) // 4


def flat_store(x):
    y = np.zeros((x.shape[0], x.shape[1]))
    y.reshape(-1)[:] = np.sin(x).reshape(-1)
    return y


LAID_OUT = {"method": lambda x: np.sin(x).reshape(-1) * 2.0, "function": lambda x: np.reshape(np.sin(x), -1), "store": flat_store,
            "behind an extent": lambda x: np.sin(x).reshape(x.shape[0], -1)}  # fmt: skip


@pytest.mark.parametrize("shape", [(2, 0), (0, 2), (2, 3)])
@pytest.mark.parametrize("name", LAID_OUT)
def test_an_extent_that_numpy_infers_where_there_may_be_no_column(name, shape):
    x = np.linspace(0.1, 0.7, 6).reshape(3, 2).T if shape == (2, 3) else np.ones(shape)
    function = LAID_OUT[name]
    if name == "behind an extent" and shape == (0, 2):  # NumPy cannot infer it either
        with pytest.raises(ValueError, match="cannot reshape"):
            symgrad.jacfwd(function)(x)
        return
    columns = symgrad.jacfwd(function)(x)
    expected = np.diag(np.cos(x).reshape(-1)) * (2.0 if name == "method" else 1.0)
    assert columns.shape == (*function(x).shape, *shape)
    assert np.allclose(columns.reshape(expected.shape), expected)
