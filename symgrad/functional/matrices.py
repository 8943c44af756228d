"""Matrix products and factorisations, as NumPy functions of arrays and plain settings."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.functional.tensors import Tensor
from symgrad.runtime.marks import stop_gradient


def mv(x: Tensor, vec: Tensor) -> Tensor:
    """A matrix times a vector."""
    return np.matmul(x, vec)


def inner(x: Tensor, y: Tensor) -> Tensor:
    """Sums of products over the last axes."""
    return np.inner(x, y)


def kron(x: Tensor, y: Tensor) -> Tensor:
    """The Kronecker product."""
    return np.kron(x, y)


def cross(x: Tensor, y: Tensor, axis: int = -1) -> Tensor:
    """The vector product along an axis of extent 3."""
    return np.cross(x, y, axis=axis)


def tensordot(x: Tensor, y: Tensor, axes: Any = 2) -> Tensor:
    """The sum of products over the last axes of ``x`` and the first of ``y``, or over axes that are named."""
    return np.tensordot(x, y, axes)


def addmm(input: Tensor, x: Tensor, y: Tensor, beta: float = 1.0, alpha: float = 1.0) -> Tensor:
    """``beta * input + alpha * (x @ y)``."""
    return beta * input + alpha * np.matmul(x, y)


def multi_dot(*x: Tensor) -> Tensor:
    """The product of several matrices."""
    product = x[0]
    for k in range(1, len(x)):
        product = np.matmul(product, x[k])
    return product


def trace(x: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """The sum of the diagonal."""
    return np.trace(x, offset, axis1, axis2)


def diagonal(x: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """The diagonal."""
    return np.diagonal(x, offset, axis1, axis2)


def diag(x: Tensor, offset: int = 0, padding_value: float = 0.0) -> Tensor:
    """The diagonal of a matrix; the matrix of a diagonal, with a number everywhere else."""
    if np.ndim(x) == 0:
        x = np.reshape(x, (1,))
    result = np.diag(x, offset)
    if padding_value == 0 or np.ndim(x) != 1:
        return result
    extent = np.shape(result)[0]
    rows, columns = np.expand_dims(np.arange(extent), 1), np.expand_dims(np.arange(extent), 0)
    return np.where(columns - rows == offset, result, np.full_like(result, padding_value))


def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices that have the vectors of the last axis on a diagonal."""
    shape = np.shape(input)
    extent = shape[-1] + abs(offset)
    rows, columns = np.expand_dims(np.arange(extent), 1), np.expand_dims(np.arange(extent), 0)
    place = np.clip(np.minimum(rows, columns), 0, shape[-1] - 1)
    matrices = np.where(columns - rows == offset, np.take(input, place, axis=-1), np.zeros_like(np.take(input, place, axis=-1)))
    return np.moveaxis(matrices, (-2, -1), (dim1, dim2))


def inv(x: Tensor) -> Tensor:
    """The inverse."""
    return np.linalg.inv(x)


def pinv(x: Tensor) -> Tensor:
    """The pseudo-inverse (Moore 1920, Penrose 1955)."""
    return np.linalg.pinv(x)


def det(x: Tensor) -> Tensor:
    """The determinant."""
    return np.linalg.det(x)


def slogdet(x: Tensor) -> Tensor:
    """The sign of the determinant, and the logarithm of its size."""
    sign, size = np.linalg.slogdet(x)
    return np.stack([sign, size])


def solve(x: Tensor, y: Tensor) -> Tensor:
    """The solution ``s`` of ``x @ s = y``."""
    return np.linalg.solve(x, y)


def triangular_solve(x: Tensor, y: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False) -> Tensor:
    """The solution of a triangular system with a triangle of ``x`` or its transpose; ``unitriangular``: with ones on the diagonal."""
    triangle = np.triu(x) if upper else np.tril(x)
    if unitriangular:
        triangle = (np.triu(x, 1) if upper else np.tril(x, -1)) + np.eye(np.shape(x)[-1], dtype=x.dtype)
    return np.linalg.solve(np.swapaxes(triangle, -1, -2) if transpose else triangle, y)


def symmetric(x: Tensor, upper: bool = False) -> Tensor:
    """The symmetric matrix given by one triangle; the derivative of each off-diagonal element is shared by both triangles."""
    mean = 0.5 * (x + np.conj(np.swapaxes(x, -1, -2)))
    half = np.triu(x, 1) if upper else np.tril(x, -1)
    said = half + np.conj(np.swapaxes(half, -1, -2)) + (np.triu(np.tril(x)))
    return stop_gradient(said - mean) + mean


def cholesky(x: Tensor, upper: bool = False) -> Tensor:
    """The triangular factor whose product with its transpose is ``x``; one triangle of ``x`` is read, and the derivative is symmetric."""
    factor = np.linalg.cholesky(symmetric(x, upper))
    return np.conj(np.swapaxes(factor, -1, -2)) if upper else factor


def qr(x: Tensor) -> Tensor:
    """Orthonormal columns and a triangle whose product is ``x``."""
    factors = np.linalg.qr(x)
    return factors[0], factors[1]


def svd(x: Tensor) -> Tensor:
    """Singular vectors and values."""
    factors = np.linalg.svd(x, full_matrices=False)
    return factors[0], factors[1], factors[2]


def eigh(x: Tensor, upper: bool = False) -> Tensor:
    """The eigenvalues of a symmetric matrix, and its eigenvectors; one triangle is read, and the derivative is symmetric."""
    factors = np.linalg.eigh(symmetric(x, upper))
    return factors[0], factors[1]


def eigvalsh(x: Tensor, upper: bool = False) -> Tensor:
    """The eigenvalues of a symmetric matrix, read from one triangle; their derivative is symmetric."""
    return np.linalg.eigvalsh(symmetric(x, upper))


def matrix_power(x: Tensor, n: int) -> Tensor:
    """The product of ``n`` times a matrix."""
    return np.linalg.matrix_power(x, n)
