"""``eig`` and ``eigvals`` of general matrices: against differences, against the functions of a matrix that they make, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad import check_grads, grad
from symgrad.errors import NoDerivative, UnknownType

M = np.array([[0.9 - 0.2j, -1.3 + 1.1j, 0.4j], [0.7 + 0.3j, 1.6 - 0.8j, 2.2 + 0.5j], [-0.4 - 0.6j, 0.8 + 0.1j, 1.9 - 1.2j]])
#: real, with two eigenvalues that are conjugates of one another
A = np.array([[0.2, -1.5, 0.3], [1.1, 0.4, -0.2], [0.5, 0.7, 1.8]])
WEIGHTS = np.arange(9.0).reshape(3, 3)


def values(a: Any) -> Any:
    return np.sum(np.abs(np.linalg.eigvals(a)) ** 2 * np.array([1.0, 2.0, 2.0])) + np.sum(np.linalg.eigvals(a) ** 3).imag


def real_values(a: Any) -> Any:
    return np.sum(np.linalg.eigvals(a + a.T).real ** 4)


def stacked(a: Any) -> Any:
    return np.sum(np.abs(np.linalg.eigvals(np.stack([a, a @ a]))) ** 2)


def weights(a: Any) -> Any:
    w, v = np.linalg.eig(a)
    return np.sum(np.abs(v) ** 2 * WEIGHTS) + np.sum(np.abs(w)) ** 2


def named(a: Any) -> Any:
    pairs = np.linalg.eig(a)
    return np.sum(np.abs(pairs.eigenvectors[0]) ** 3) + pairs.eigenvalues[0].real


def projector(a: Any) -> Any:
    _, v = np.linalg.eig(a)
    return np.sum((np.outer(v[:, 0], v[:, 0].conj()) * WEIGHTS).real)


@pytest.mark.parametrize("matrix", [M, A], ids=["complex", "real"])
@pytest.mark.parametrize("function", [values, real_values, stacked])
def test_derivatives_of_eigenvalues(function: Any, matrix: Any) -> None:
    check_grads(function, (matrix,), order=2, directions=1)


@pytest.mark.parametrize("matrix", [M, A], ids=["complex", "real"])
@pytest.mark.parametrize("function", [weights, named, projector])
def test_derivatives_of_eigenvectors(function: Any, matrix: Any) -> None:
    check_grads(function, (matrix,), modes=("reverse",), order=2, directions=1)


@pytest.mark.parametrize("matrix", [M, A], ids=["complex", "real"])
def test_a_function_of_a_matrix_by_its_eigenvectors(matrix: Any) -> None:
    def cube(a: Any) -> Any:
        w, v = np.linalg.eig(a)
        return np.sum((((v * w**3) @ np.linalg.inv(v)) * WEIGHTS).real)

    np.testing.assert_allclose(grad(cube)(matrix), grad(lambda a: np.sum((a @ a @ a * WEIGHTS).real))(matrix), rtol=1e-11)


def test_eigenvalues_have_complex_derivatives() -> None:
    """The sum of the eigenvalues is the trace, that of their squares the trace of the square; their product is the determinant."""
    derivative = grad(lambda a: np.sum(np.linalg.eigvals(a) ** 2) + np.prod(np.linalg.eigvals(a)), holomorphic=True)

    np.testing.assert_allclose(derivative(M), 2 * M.T + np.linalg.det(M) * np.linalg.inv(M).T, rtol=1e-12)


def test_sizes_and_precisions() -> None:
    assert grad(lambda a: np.sum(np.linalg.eigvals(a)).real)(np.array([[3.0]])) == 1.0
    assert grad(lambda a: np.sum(np.linalg.eigvals(a)).real)(np.zeros((0, 0))).shape == (0, 0)
    narrow = grad(weights)(M.astype(np.complex64))
    assert narrow.dtype == np.complex64
    np.testing.assert_allclose(narrow, grad(weights)(M), rtol=1e-3, atol=1e-4)
    assert grad(values)(A.astype(np.float32)).dtype == np.float32


def test_many_eigenvalues_stand_in_numpys_order() -> None:
    a = np.random.default_rng(3).normal(size=(60, 60))

    np.testing.assert_allclose(symgrad.value_and_grad(lambda a: np.abs(np.linalg.eigvals(a)[7]))(a)[0], np.abs(np.linalg.eigvals(a)[7]))


def test_a_function_of_the_phases_is_refused() -> None:
    with pytest.raises(ValueError, match="phases of complex eigenvectors"):
        grad(lambda a: np.sum(np.linalg.eig(a)[1].real))(M)
    with pytest.raises(NoDerivative, match="phases of the vectors of eig"):
        symgrad.jacfwd(weights)(M.real)
    with pytest.raises(NoDerivative, match="an eigenvector of length one has no complex derivative"):
        grad(lambda a: np.linalg.eig(a)[1][0, 0], holomorphic=True)(M)


def test_whether_numpy_gives_complex_eigenvalues_is_not_asked() -> None:
    """NumPy gives real ones where all are real, which shows when the program runs."""

    def f(a: Any) -> Any:
        w = np.linalg.eigvals(a)
        return np.sum(np.abs(w)) if np.iscomplexobj(w) else 2.0 * np.sum(np.abs(w))

    with pytest.raises(UnknownType, match="known only at run time"):
        grad(f)(A)
    np.testing.assert_allclose(grad(lambda a: f(a + 0j))(A), grad(lambda a: np.sum(np.abs(np.linalg.eigvals(a))))(A))  # the hint
