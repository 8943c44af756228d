"""``eig`` and ``eigvals`` of general matrices, compared with differences and with functions of matrices; refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad import check_grads, grad
from symgrad.errors import NoDerivative, UnknownType
from symgrad.ops.batched import NotBatched
from symgrad.tangent import columns

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
    check_grads(function, (matrix,), order=2, directions=1)


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


def singular_vectors(a: Any) -> Any:
    u, s, vh = np.linalg.svd(a + 0j, full_matrices=False)
    return np.sum(np.abs(u) ** 2 * WEIGHTS) + np.sum(np.abs(vh[0]) ** 3) + (u[0, 0] * vh[0, 1] * s[0]).real


def hermitian(a: Any) -> Any:
    w, v = np.linalg.eigh(a + 0j)
    return np.sum(np.abs(v) ** 2 * WEIGHTS * w)


def in_loops(a: Any) -> Any:
    a = a + 0j
    for k in range(2):
        w, v = np.linalg.eig(a)
        if w[0].real > -100.0:
            a = (v * np.abs(w)) @ v.conj().T
        else:
            a = a * k
    return np.sum(np.abs(a) ** 2 * WEIGHTS)


def several(a: Any) -> Any:
    w, v = np.linalg.eig(np.stack([a, a @ a]) + 0j)
    return np.abs(w), [np.abs(v[0]), {"one": v[1] @ np.linalg.inv(v[1]) * WEIGHTS}]


VECTORS = [weights, named, projector, singular_vectors, hermitian, in_loops]


@pytest.mark.sweep(3)
@pytest.mark.parametrize("jit", [False, True], ids=["numpy", "numba"])
@pytest.mark.parametrize("function", VECTORS, ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore::symgrad.errors.NotCompiled")
def test_forward_mode_through_vectors(function: Any, jit: bool) -> None:
    rng, h = np.random.default_rng(7), 1e-6
    for matrix, t in ((A, rng.normal(size=(3, 3))), (M, rng.normal(size=(3, 3)) + 1j * rng.normal(size=(3, 3)))):
        slope = (function(matrix + h * t) - function(matrix - h * t)) / (2 * h)
        assert symgrad.jvp(function, (matrix,), (t,), jit=jit)[1] == pytest.approx(slope, rel=1e-6, abs=1e-7)
        assert symgrad.linearize(function, matrix, jit=jit)[1](t) == pytest.approx(slope, rel=1e-6, abs=1e-7)
    gradient = symgrad.grad(function, jit=jit)
    np.testing.assert_allclose(symgrad.jacfwd(function, jit=jit)(A), gradient(A), rtol=1e-9, atol=1e-11)
    second = np.stack([(gradient(A + h * e) - gradient(A - h * e)) / (2 * h) for e in np.eye(9).reshape(9, 3, 3)], axis=-1)
    for hessian in (symgrad.hessian(function, jit=jit), symgrad.jacfwd(symgrad.jacfwd(function), jit=jit)):
        np.testing.assert_allclose(hessian(A), second.reshape(3, 3, 3, 3), rtol=1e-5, atol=1e-6)


def test_forward_mode_through_vectors_of_a_batch_and_of_columns_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = np.stack([A, A @ A])
    expected = np.stack([grad(weights)(a) for a in batch])
    np.testing.assert_allclose(symgrad.vmap(symgrad.jacfwd(weights))(batch), expected, rtol=1e-10, atol=1e-12)
    of_batch = symgrad.jacfwd(symgrad.vmap(weights))(batch)
    np.testing.assert_allclose(of_batch[[0, 1], [0, 1]], expected, rtol=1e-10, atol=1e-12)

    def refused(*args: Any) -> None:
        raise NotBatched

    monkeypatch.setattr(columns, "together", refused)
    np.testing.assert_allclose(symgrad.jacfwd(weights)(A), grad(weights)(A), rtol=1e-10, atol=1e-12)


def test_tangents_of_trees_of_vectors() -> None:
    t, h = np.random.default_rng(8).normal(size=(3, 3)), 1e-6
    _, (values, [vectors, named]) = symgrad.jvp(several, (A,), (t,))
    after, before = several(A + h * t), several(A - h * t)
    np.testing.assert_allclose(values, (after[0] - before[0]) / (2 * h), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(vectors, (after[1][0] - before[1][0]) / (2 * h), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(named["one"], (after[1][1]["one"] - before[1][1]["one"]) / (2 * h), rtol=1e-6, atol=1e-8)


PHASED = [
    lambda a: np.sum(np.linalg.eig(a)[1].real),
    lambda a: 1e-9 * np.linalg.eigh(a)[1][1, 0].real + 1.0,
    lambda a: np.stack([1e9 * np.abs(np.linalg.eig(a)[1][0, 0]), np.linalg.eig(a)[1][1, 0].imag])[1],
    lambda a: np.linalg.svd(a, full_matrices=False)[0][0, 0].imag,
    lambda a: np.linalg.svd(a, full_matrices=False)[2][0, 1].imag,
    lambda a: np.sum(grad(weights)(a).real) + np.linalg.eig(a)[1][0, 1].real,
]


@pytest.mark.parametrize("function", PHASED)
def test_a_function_of_the_phases_is_refused_in_every_mode(function: Any) -> None:
    direction = np.random.default_rng(9).normal(size=(3, 3)) + 0.3j
    ways = [
        lambda: grad(function)(M),
        lambda: symgrad.jvp(function, (M,), (direction,)),
        lambda: symgrad.linearize(function, M)[1](direction),
        lambda: symgrad.jacfwd(lambda s: function(M + s * direction))(0.0),
        lambda: grad(lambda s: symgrad.jvp(function, (M * s,), (direction,))[1])(1.0),
        lambda: symgrad.vmap(symgrad.jacfwd(lambda s: function(M + s * direction)))(np.zeros(2)),
    ]
    for way in ways:
        with pytest.raises(ValueError, match="phases of complex eigenvectors"):
            way()


def hermitian_vectors(a: Any) -> Any:
    return np.linalg.eigh(a + a.T + 1j * (a - a.T))


def lengths(a: Any) -> Any:
    return np.sum(np.abs(hermitian_vectors(a)[1]) ** 2)


def unit(a: Any) -> Any:
    v = hermitian_vectors(a)[1]
    return np.sum((v @ v.conj().T * WEIGHTS).real)


def singular_unit(a: Any) -> Any:
    u, _, vh = np.linalg.svd(a + 1j * a.T, full_matrices=False)
    return np.sum(np.abs(u) ** 2) + np.sum((vh @ vh.conj().T * WEIGHTS).real)


def differences(a: Any) -> Any:
    v, total = hermitian_vectors(a)[1], 0.0
    for k in range(4):
        if a[0, 0] > -10.0:
            total = total + (-1) ** k * np.sum(np.abs(v) ** 2 * WEIGHTS)
        else:
            total = 2.0 * total
    return total


def difference(a: Any) -> Any:
    v = hermitian_vectors(a)[1]
    return np.sum(np.abs(v) ** 2 * WEIGHTS) - np.sum((v * v.conj() * WEIGHTS).real)


def lengths_and_more(a: Any) -> Any:
    w, v = hermitian_vectors(a)
    return np.sum(v.real**2 + v.imag**2) + w[0] ** 2


@pytest.mark.sweep(2)
@pytest.mark.parametrize("function", [lengths, unit, singular_unit, differences, difference, lengths_and_more], ids=lambda f: f.__name__)
def test_terms_that_cancel_do_not_depend_on_the_phases(function: Any) -> None:
    """All derivatives by the vectors are zero up to rounding errors, which have no size of their own to be compared with."""
    expected = np.zeros((9, 9))
    if function is lengths_and_more:
        gradient, h = grad(lambda a: np.linalg.eigvalsh(a + a.T + 1j * (a - a.T))[0] ** 2), 1e-6
        expected = np.stack([(gradient(A + h * e) - gradient(A - h * e)).ravel() / (2 * h) for e in np.eye(9).reshape(9, 3, 3)], axis=-1)
    t = np.random.default_rng(11).normal(size=(3, 3))
    for product in (symgrad.hvp(function), symgrad.vhp(function)):
        np.testing.assert_allclose(product(A, v=t).ravel(), expected @ t.ravel(), rtol=1e-6, atol=1e-7)
    for hessian in (symgrad.hessian(function), symgrad.jacfwd(symgrad.jacfwd(function))):
        np.testing.assert_allclose(hessian(A).reshape(9, 9), expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("share", [1.0, 1e-8])
def test_second_derivatives_see_phases_that_the_gradient_does_not_see(share: float) -> None:
    """The slope by the phase is zero where the library makes an element real; so are all derivatives of the other term."""

    def squared_phase(a: Any) -> Any:
        v = hermitian_vectors(a)[1]
        return np.sum(np.abs(v) ** 2) + share * v[0, 0].imag ** 2

    t = np.random.default_rng(12).normal(size=(3, 3))
    ways = [
        lambda: symgrad.hvp(squared_phase, A, t),
        lambda: symgrad.vhp(squared_phase, A, t),
        lambda: symgrad.hessian(squared_phase)(A),
        lambda: symgrad.jacfwd(symgrad.jacfwd(squared_phase))(A),
    ]
    for way in ways:
        with pytest.raises(ValueError, match="phases of complex eigenvectors"):
            way()


def test_what_else_is_refused_of_vectors() -> None:
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
