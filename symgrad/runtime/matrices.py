"""What kernels call for matrices, and nothing else imports: products by loops or by BLAS, cofactors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import overload

from symgrad.runtime.vector import compiled

#: up to how many multiplications loops beat a call of BLAS
SMALL = 1000

plainly = compiled(forceinline=False)
quickly = compiled(fastmath={"reassoc", "contract", "nsz"}, forceinline=False)


def contiguous(a: Any) -> Any:
    """The array, or a copy by rows if it has gaps."""
    return np.ascontiguousarray(a)


@overload(contiguous)
def _contiguous(a):
    if a.layout in "CF":
        return lambda a: a
    return lambda a: np.ascontiguousarray(a)


@quickly
def small_product(a: Any, b: Any, out: Any) -> None:
    """Multiply two matrices by loops."""
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            out[i, j] = 0.0
        for k in range(a.shape[1]):
            factor = a[i, k]
            for j in range(b.shape[1]):
                out[i, j] += factor * b[k, j]


@plainly
def product_into(out: Any, a: Any, b: Any) -> None:
    """Store the product of two matrices.

    >>> out = np.empty((2, 1))
    >>> product_into(out, np.eye(2), np.ones((2, 1)))
    >>> out
    array([[1.],
           [1.]])
    """
    if a.shape[0] * a.shape[1] * b.shape[1] <= SMALL:
        small_product(a, b, out)
    else:
        np.dot(contiguous(a), contiguous(b), out)


@plainly
def eliminated(a: Any, b: Any) -> float:
    """Turn ``b`` into the solution of ``a @ x = b``, both overwritten; gives the determinant of ``a``.

    Gauss-Jordan elimination with the largest pivot of each column; raises where there is none.
    """
    n = a.shape[0]
    determinant = 1.0
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(a[i, k]) > abs(a[best, k]):
                best = i
        pivot = a[best, k]
        if not abs(pivot) > 0.0:
            raise ArithmeticError
        if best != k:
            determinant = -determinant
            for j in range(n):
                a[k, j], a[best, j] = a[best, j], a[k, j]
            for j in range(b.shape[1]):
                b[k, j], b[best, j] = b[best, j], b[k, j]
        determinant *= pivot
        for i in range(n):
            if i != k:
                factor = a[i, k] / pivot
                for j in range(k + 1, n):
                    a[i, j] -= factor * a[k, j]
                for j in range(b.shape[1]):
                    b[i, j] -= factor * b[k, j]
    for k in range(n):
        for j in range(b.shape[1]):
            b[k, j] /= a[k, k]
    return determinant


#: up to what size elimination by loops beats a call of LAPACK
FEW = 6


@plainly
def inverse(a: Any) -> Any:
    """The inverse of a matrix.

    >>> inverse(np.array([[0.0, 2.0], [4.0, 0.0]]))
    array([[0.  , 0.25],
           [0.5 , 0.  ]])
    """
    if a.shape[0] > FEW:
        return np.linalg.inv(a)
    out = np.eye(a.shape[0])
    eliminated(a.copy(), out)
    return out


@plainly
def determinant(a: Any) -> float:
    """The determinant of a matrix.

    >>> determinant(np.array([[0.0, 2.0], [4.0, 0.0]]))
    -8.0
    """
    if a.shape[0] > FEW:
        return np.linalg.det(a)  # type: ignore[no-any-return]
    return eliminated(a.copy(), np.empty((a.shape[0], 0)))


@plainly
def matrix_cofactors(a: Any) -> Any:
    """The derivative of the determinant, also where the matrix is singular.

    >>> matrix_cofactors(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[ 4., -3.],
           [-2.,  1.]])
    """
    n = a.shape[0]
    out = np.empty((n, n))
    if n == 2:
        out[0, 0], out[0, 1], out[1, 0], out[1, 1] = a[1, 1], -a[1, 0], -a[0, 1], a[0, 0]
        return out
    u, s, vh = np.linalg.svd(contiguous(a))
    sign = np.linalg.det(u) * np.linalg.det(vh)
    for i in range(n):
        for j in range(n):
            out[i, j] = 0.0
            for k in range(n):
                others = sign
                for m in range(n):
                    others *= s[m] if m != k else 1.0
                out[i, j] += u[i, k] * others * vh[k, j]
    return out
