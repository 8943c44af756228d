"""Functions compiled by the user with numba: read as their Python source."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import UnknownFunction, UnsupportedArgument

numba = pytest.importorskip("numba")
X = np.array([1.0, 2.0, 3.0])


@numba.njit
def squares(x):
    total = 0.0
    for i in range(len(x)):
        total += x[i] ** 2
    return total


@numba.njit(parallel=True)
def in_parallel(x):
    total = 0.0
    for i in numba.prange(len(x)):
        total += x[i] ** 2
    return total


@numba.jit(nopython=True, fastmath=True, cache=False)
def of_others(x, scale=2.0):
    return squares(x) * scale + in_parallel(x)


@numba.njit("float64(float64[:], int64)")
def declared(x, n):
    return x[0] * n


@numba.njit(["float32(float32)", "float64(float64)"])
def of_both(x):
    return x * x


@numba.njit("float64(float32)")
def narrow(x):
    return x * x


@numba.njit(locals={"s": numba.int64})
def with_types(x):
    s = x
    return s * x


@numba.vectorize
def element(a, b):
    return a * a * b


@numba.vectorize(["float64(float64)"])
def element_declared(a):
    if a > 1.5:
        return 0
    return a * a


@numba.cfunc("float64(float64)")
def for_c(a):
    return a * a


@numba.stencil
def neighbours(a):
    return a[0] + a[1]


@numba.guvectorize(["(float64[:], float64[:])"], "(n)->(n)")
def generalized(a, out):
    for i in range(len(a)):
        out[i] = 2 * a[i]


class Model:
    @staticmethod
    @numba.njit
    def loss(x):
        return squares(x) * 3


@pytest.mark.sweep(2)
@pytest.mark.parametrize(("function", "args", "expected"), [
    (squares, (X,), 2 * X),
    (in_parallel, (X,), 2 * X),
    (of_others, (X,), 6 * X),
    (of_others, (X, 4.0), 10 * X),
    (declared, (X, 3), [3.0, 0.0, 0.0]),
    (of_both, (3.0,), 6.0),
    (for_c, (3.0,), 6.0),
    (element, (3.0, 2.0), 12.0),
    (element_declared, (1.0,), 2.0),
    (Model.loss, (X,), 6 * X),
])  # fmt: skip
def test_given_to_grad(function: Any, args: tuple[Any, ...], expected: Any) -> None:
    for jit in (False, True):
        value, gradient = symgrad.value_and_grad(function, jit=jit)(*args)
        np.testing.assert_allclose(value, function(*args), rtol=1e-14)
        np.testing.assert_allclose(gradient, expected, rtol=1e-14)


@pytest.mark.parametrize(("function", "expected"), [
    (lambda x: squares(x) * 2, 4 * X),
    (lambda x: in_parallel(x * 2), 8 * X),
    (lambda x: of_others(x, scale=3.0), 8 * X),
    (lambda x: declared(x, 3) + declared(n=2, x=x), [5.0, 0.0, 0.0]),
    (lambda x: of_both(x[0]), [2.0, 0.0, 0.0]),
    (lambda x: narrow(np.float32(x[0])), [2.0, 0.0, 0.0]),
    (lambda x: for_c(x[1]), [0.0, 4.0, 0.0]),
    (lambda x: element(x[1], 3.0), [0.0, 12.0, 0.0]),
    (lambda x: np.sum(element(x, x[::-1])), 2 * X * X[::-1] + X[::-1] ** 2),
    (lambda x: np.sum(element_declared(x)), [2.0, 0.0, 0.0]),
    (lambda x: Model().loss(x), 6 * X),
    (lambda x: (lambda f: f(x))(squares), 2 * X),
])  # fmt: skip
def test_called_inside(function: Any, expected: Any) -> None:
    for jit in (False, True):
        np.testing.assert_allclose(symgrad.grad(function, jit=jit)(X), expected, rtol=1e-6)


def test_passed_as_an_argument() -> None:
    def apply(function, x):
        return function(x) * 2

    derivative = symgrad.grad(apply, "x")
    np.testing.assert_allclose(derivative(squares, X), 4 * X)
    np.testing.assert_allclose(derivative(in_parallel, X), 4 * X)


def test_second_derivatives_and_the_decorator() -> None:
    assert symgrad.grad(symgrad.grad(of_both))(3.0) == 2.0
    own = symgrad.differentiable(numba.njit(lambda x: x * x))
    assert (own.grad(3.0), own(3.0)) == (6.0, 9.0)


def test_the_text_is_the_users() -> None:
    derivative = symgrad.grad(squares)
    derivative(X)
    assert "total" in symgrad.value_and_grad(squares).source(X)
    assert "test_numba_functions.py" in derivative.source()


@pytest.mark.parametrize(("function", "way_out", "args", "message"), [
    (lambda x, n: declared(x, n), lambda x, n: declared.py_func(x, n), (X, 2.5), "n as int64, to which numba converts the float passed"),
    (lambda x: narrow(x), lambda x: narrow.py_func(x), (2.0,), "x as float32"),
    (lambda x: with_types(x), lambda x: with_types.py_func(x), (2.5,), "types of its variables"),
])  # fmt: skip
def test_what_numba_converts_is_refused(function: Any, way_out: Any, args: tuple[Any, ...], message: str) -> None:
    """The compiled function computes something else than its text says: ``declared(x, 2.5)`` is ``2 * x[0]``."""
    with pytest.raises(UnsupportedArgument, match=message) as caught:
        symgrad.grad(function)(*args)
    assert caught.value.hint is not None
    assert "py_func" in caught.value.hint
    assert np.all(np.isfinite(symgrad.grad(way_out)(*args)))
    assert declared(X, 2.5) == 2.0


def test_converted_where_given_to_grad() -> None:
    with pytest.raises(UnsupportedArgument, match="to which numba converts"):
        symgrad.grad(declared)(X, 2.5)
    with pytest.raises(UnsupportedArgument, match="types of its variables"):
        symgrad.grad(with_types)(2.5)


@pytest.mark.parametrize("function", [neighbours, generalized])
def test_functions_of_whole_arrays_are_refused(function: Any) -> None:
    for program in (function, lambda x: np.sum(function(x))):
        with pytest.raises(UnknownFunction, match="of numba, whose source does not show") as caught:
            symgrad.grad(program)(X)
        assert caught.value.hint == "declare it with symgrad.rule, or write the loop over elements in an njit function"


def test_the_way_out_of_a_stencil() -> None:
    @numba.njit
    def loop(a):
        out = np.zeros_like(a)
        for i in range(len(a) - 1):
            out[i] = a[i] + a[i + 1]
        return out

    np.testing.assert_allclose(loop(X), neighbours(X))
    np.testing.assert_allclose(symgrad.grad(lambda x: np.sum(loop(x)))(X), [1.0, 2.0, 1.0])
