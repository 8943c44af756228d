"""``holomorphic=True`` of Jacobians and Hessians, compared with differences and JAX; functions without a complex derivative."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from symgrad import check_grads, grad, hessian, jacfwd, jacobian, jacrev, jvp, vjp
from symgrad.errors import BadArgument, NoDerivative, NotScalar

Z = np.array([0.9 + 0.4j, -1.3 + 0.8j, 0.7 - 1.1j])


def powers(z: Any) -> Any:
    return np.array([z[0] * z[1], np.exp(1j * z[2]) / z[0], z[1] ** 3, z[0] + 2j])


def stored(z: Any) -> Any:
    w = np.zeros(3, complex)
    s = 0j
    for i in range(3):
        s = s * z[i] + 1.0
        w[i] = s * z[0]
    return w


def solved(z: Any) -> Any:
    return np.linalg.solve(np.outer(z, z) + np.diag(z), z)


def transformed(z: Any) -> Any:
    return np.fft.fft(z) * np.linalg.eigvals(np.outer(z, z) + np.diag(z))


def differences(function: Any, z: Any, step: complex) -> Any:
    """The derivatives by central differences of steps in one direction of the plane."""
    h = 1e-6 * step
    return np.stack([(function(z + h * e) - function(z - h * e)) / (2 * h) for e in np.eye(len(z))], axis=-1)


@pytest.mark.parametrize("function", [powers, stored, solved, transformed])
def test_jacobians_are_complex_derivatives(function: Any) -> None:
    by_rows, by_columns = (derivative(function, holomorphic=True)(Z) for derivative in (jacrev, jacfwd))

    np.testing.assert_allclose(by_rows, by_columns, rtol=1e-11, atol=1e-12)
    for step in (1, 1j):
        np.testing.assert_allclose(by_rows, differences(function, Z, step), rtol=1e-7, atol=1e-8)


def test_modes_and_precisions() -> None:
    for mode in ("auto", "forward", "reverse"):
        np.testing.assert_allclose(jacobian(powers, mode=mode, holomorphic=True)(Z), jacrev(powers, holomorphic=True)(Z), rtol=1e-13)
    for derivative in (jacrev, jacfwd):
        assert derivative(powers, holomorphic=True)(Z.astype(np.complex64)).dtype == np.complex64
        assert derivative(lambda c: 1j * c * c, holomorphic=True)(0.5 + 1j) == 2j * (0.5 + 1j)
        by_c, by_z = derivative(lambda c, z: c * z, wrt=("c", "z"), holomorphic=True)(2j, Z)
        np.testing.assert_array_equal(by_c, Z)
        np.testing.assert_array_equal(by_z, 2j * np.eye(3))
        assert derivative(lambda z: z * z, holomorphic=True)(Z[:0]).shape == (0, 0)


def test_hessians() -> None:
    def f(z: Any) -> Any:
        return np.sum(z**3) * z[0]

    expected = differences(grad(f, holomorphic=True), Z, 1j)
    for mode in ("auto", "forward", "reverse"):
        np.testing.assert_allclose(hessian(f, mode=mode, holomorphic=True)(Z), expected, rtol=1e-7, atol=1e-7)


def test_products_with_a_jacobian() -> None:
    jacobian_matrix, v, seed = jacrev(powers, holomorphic=True)(Z), np.array([1j, 2.0, 1 - 1j]), np.array([1j, 2.0, 1 - 1j, 0.5])
    _, tangent = jvp(powers, (Z,), (v,))
    _, pullback = vjp(powers, Z)

    np.testing.assert_allclose(tangent, jacobian_matrix @ v, rtol=1e-13)
    np.testing.assert_allclose(pullback(seed)[0], seed @ jacobian_matrix, rtol=1e-13)


def of_gradient(z: Any) -> Any:
    return np.sum(np.abs(grad(lambda w: np.sum(w**3) * w[1], holomorphic=True)(z)) ** 2)


def of_rows(z: Any) -> Any:
    return np.sum(np.abs(jacrev(lambda w: w * w[0], holomorphic=True)(z)) ** 2 * np.arange(9.0).reshape(3, 3))


def of_columns(z: Any) -> Any:
    return np.sum(np.abs(jacfwd(lambda w: w * w[0], holomorphic=True)(z)) ** 2 * np.arange(9.0).reshape(3, 3))


def of_hessian(z: Any) -> Any:
    return np.sum(np.abs(hessian(lambda w: np.sum(w**3) * w[1], holomorphic=True)(z)) ** 2)


slope = grad(lambda w: w**3 - 1, holomorphic=True)


def of_newton(z: Any) -> Any:
    w = z[0]
    for _ in range(3):
        w = w - (w**3 - 1) / slope(w)
    return abs(w)


@pytest.mark.parametrize("function", [of_gradient, of_rows, of_columns, of_hessian, of_newton])
def test_complex_derivatives_inside_other_functions(function: Any) -> None:
    check_grads(function, (Z,), order=2, directions=1)


@pytest.mark.parametrize(
    ("function", "kind", "what"),
    [
        (lambda w: np.sum(w * w.conj()), NoDerivative, "the conjugate of a complex number has no complex derivative"),
        (lambda w: np.sum(np.abs(w)), NotScalar, "for functions that return a complex number"),
    ],
)
def test_the_same_is_refused_inside_other_functions(function: Any, kind: type[Exception], what: str) -> None:
    with pytest.raises(kind, match=what):
        grad(lambda z: np.abs(np.sum(grad(function, holomorphic=True)(z))))(Z)
    with pytest.raises(BadArgument, match="for complex arguments"):
        grad(lambda z: np.abs(np.sum(grad(lambda w: np.sum(w * 1j), holomorphic=True)(z.real))))(Z)


@pytest.mark.slow
def test_jax_gives_the_same() -> None:
    jax = pytest.importorskip("jax")
    jnp = pytest.importorskip("jax.numpy")

    def of_jax(z: Any) -> Any:
        return jnp.array([z[0] * z[1], jnp.exp(1j * z[2]) / z[0], z[1] ** 3, z[0] + 2j])

    z = Z.astype(np.complex64)
    for ours, theirs in ((jacrev, jax.jacrev), (jacfwd, jax.jacfwd)):
        np.testing.assert_allclose(ours(powers, holomorphic=True)(z), theirs(of_jax, holomorphic=True)(z), rtol=1e-5)
    seed = np.array([1j, 2.0, 1 - 1j, 0.5], np.complex64)
    np.testing.assert_allclose(vjp(powers, z)[1](seed)[0], jax.vjp(of_jax, z)[1](jnp.array(seed))[0], rtol=1e-5)


def real_store(z: Any) -> Any:
    w = z * 1
    w.real = 0.0
    return w


def cast_store(z: Any) -> Any:
    w = np.zeros(3)
    w[:] = z
    return w * z


def matrix(z: Any) -> Any:
    return np.outer(z, z) + np.eye(3)


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize(
    ("function", "what"),
    [
        (lambda z: z.conj(), "the conjugate"),
        (lambda z: np.abs(z) * z, "the absolute value"),
        (lambda z: np.linalg.norm(z) * z, "the real part"),
        (lambda z: np.linalg.eigh(matrix(z))[0] * z, "the decomposition of a Hermitian matrix"),
        (lambda z: np.linalg.svd(matrix(z))[1] * z, "the singular value decomposition"),
        (lambda z: np.linalg.qr(matrix(z))[1][0], "a factor with orthonormal columns"),
        (lambda z: np.linalg.cholesky(matrix(z))[2], "a factor of a Hermitian matrix"),
        (lambda z: np.linalg.pinv(matrix(z))[0], "a pseudoinverse"),
        (lambda z: np.linalg.slogdet(matrix(z))[1] * z, "the sign of a determinant"),
        (lambda z: np.var(z) * z, "a real number that is computed from a complex one"),
        (lambda z: np.fft.irfft(z)[:3] * z, "a real number that is computed from a complex one"),
        (lambda z: z.astype(float) * z, "a real number that is computed from a complex one"),
        (cast_store, "a real number that is computed from a complex one"),
        (real_store, "a store to the real or imaginary part"),
    ],
)
def test_what_has_no_complex_derivative_is_refused(function: Any, what: str) -> None:
    for derivative in (jacrev, jacfwd):
        with pytest.raises(NoDerivative, match=f"{what}.* has no complex derivative"):
            derivative(function, holomorphic=True)(Z)
    with pytest.raises(NoDerivative, match=what):
        grad(lambda z: np.sum(function(z) * (1 + 0j)), holomorphic=True)(Z)


def test_what_is_real_is_refused_and_the_hints_work() -> None:
    with pytest.raises(NotScalar, match="for functions that return a complex number"):
        jacrev(lambda z: np.abs(z), holomorphic=True)(Z)
    with pytest.raises(BadArgument, match="for complex arguments"):
        jacrev(lambda x: x * 1j, holomorphic=True)(Z.real.copy())
    with pytest.raises(BadArgument, match="sparse matrices of derivatives are of real numbers"):
        jacobian(powers, holomorphic=True, sparsity="auto")
    with pytest.raises(NotScalar, match=r"(?s)a Jacobian is of real numbers.*holomorphic=True"):
        jacrev(powers)(Z)
    np.testing.assert_array_equal(jacrev(lambda x: x * 1j, holomorphic=True)(Z.real + 0j), 1j * np.eye(3))
    assert jacrev(lambda x: np.stack([(x * 1j).real, (x * 1j).imag]))(Z.real.copy()).shape == (2, 3, 3)
    check_grads(powers, (Z,), order=2, directions=1)
