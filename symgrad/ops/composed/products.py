"""Products of vectors and matrices, norms, and linear algebra expressed by other functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.ops.composed.refusing import Numbers, inexact, must, need
from symgrad.ops.composed.shapes import kept

#: the distance from 1 to the next number
EPSILON = 2.0**-52


def inner(a: Numbers, b: Numbers) -> Any:
    """``np.inner``: sums over the last axes."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return np.multiply(a, b)
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return np.dot(a, b)
    return np.tensordot(a, b, axes=(-1, -1))


def vdot(a: Numbers, b: Numbers) -> Any:
    """``np.vdot`` of real arrays."""
    return np.dot(np.ravel(a), np.ravel(b))


def kron(a: Numbers, b: Numbers) -> Any:
    """``np.kron``: the products of all pairs of elements, in blocks along every axis; axes that one operand lacks come first."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return np.multiply(a, b)
    rank = max(np.ndim(a), np.ndim(b))
    left = a if np.ndim(a) == rank else np.expand_dims(a, tuple(range(rank - np.ndim(a))))
    right = b if np.ndim(b) == rank else np.expand_dims(b, tuple(range(rank - np.ndim(b))))
    pairs = np.expand_dims(left, tuple(range(1, 2 * rank, 2))) * np.expand_dims(right, tuple(range(0, 2 * rank, 2)))
    return np.reshape(pairs, tuple([p * q for p, q in zip(left.shape, right.shape)]))


def cross(a: Numbers, b: Numbers, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None) -> Any:
    """``np.cross`` of three-vectors, each along an axis of its own, or all along one."""
    need(np.ndim(a) > 0 and np.ndim(b) > 0, "np.cross takes vectors")
    if axis is not None:
        axisa, axisb, axisc = axis, axis, axis
    p = a if axisa == -1 else np.moveaxis(a, axisa, -1)
    q = b if axisb == -1 else np.moveaxis(b, axisb, -1)
    is_three = p.shape[-1] == 3 and q.shape[-1] == 3
    must(is_three, "np.cross is supported for vectors of three numbers; for two write p[0] * q[1] - p[1] * q[0]")
    x = p[..., 1] * q[..., 2] - p[..., 2] * q[..., 1]
    y = p[..., 2] * q[..., 0] - p[..., 0] * q[..., 2]
    z = p[..., 0] * q[..., 1] - p[..., 1] * q[..., 0]
    return np.stack([x, y, z], axis=axisc)


def cross_turned(a: Numbers, b: Numbers, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None) -> Any:
    """``np.cross`` of three-vectors along the last axis, all components at once: for text that is read, whose reverse is short then."""
    if axis is not None or axisa != -1 or axisb != -1 or axisc != -1:
        return cross(a, b, axisa, axisb, axisc, axis)
    need(np.ndim(a) > 0 and np.ndim(b) > 0, "np.cross takes vectors")
    return np.roll(a * np.roll(b, -1, axis=-1) - np.roll(a, -1, axis=-1) * b, -1, axis=-1)


def norm(x: Numbers, ord: Any = None, axis: Any = None, keepdims: Any = None) -> Any:
    """``np.linalg.norm``: of vectors of any order, of one matrix, and of Frobenius along two axes."""
    x = inexact(x)
    if axis is None and np.ndim(x) == 2:
        norms = matrix_norm(x, ord)
    else:
        vectors = axis is None and np.ndim(x) == 1 or isinstance(axis, int)
        need(not vectors or not isinstance(ord, str), "a norm of vectors has a number as its order")
        if vectors or ord is None or ord == "fro":
            norms = norm_along(x, None if ord == "fro" else ord, axis)
        else:
            need(isinstance(axis, tuple), "this norm of matrices is not supported")
            norms = norms_of_matrices(np.moveaxis(x, axis, (-2, -1)), ord)
    return kept(norms, x, axis) if keepdims else norms


def matrix_norm(x: Any, ord: Any) -> Any:
    """The norms of a matrix."""
    return np.sqrt(np.sum(x * x)) if ord is None or ord == "fro" else norms_of_matrices(x, ord)


def norms_of_matrices(x: Any, ord: Any) -> Any:
    """The norms of matrices in the last two axes by the sums of their columns or rows, or by their singular values."""
    if ord == 1:
        return np.max(np.sum(np.abs(x), axis=-2), axis=-1, initial=0.0)
    if ord == math.inf:
        return np.max(np.sum(np.abs(x), axis=-1), axis=-1, initial=0.0)
    if ord == -1:
        return np.min(np.sum(np.abs(x), axis=-2), axis=-1)
    if ord == -math.inf:
        return np.min(np.sum(np.abs(x), axis=-1), axis=-1)
    values = np.linalg.svd(x, compute_uv=False)
    if ord == "nuc":
        return np.sum(values, axis=-1)
    need(ord == 2 or ord == -2, "Invalid norm order for matrices")
    return np.max(values, axis=-1, initial=0.0) if ord == 2 else np.min(values, axis=-1)


def norm_along(x: Any, ord: Any, axis: Any) -> Any:
    """The norms of vectors along an axis."""
    if ord is None or ord == 2:
        return np.sqrt(np.sum(x * x, axis=axis))
    if ord == 1:
        return np.sum(np.abs(x), axis=axis)
    if ord == math.inf:
        return np.max(np.abs(x), axis=axis, initial=0.0)
    if ord == -math.inf:
        return np.min(np.abs(x), axis=axis)
    if ord == 0:
        return np.sum((x != 0).astype(x.real.dtype), axis=axis)
    return np.sum(np.abs(x) ** ord, axis=axis) ** (1.0 / ord)


def matrix_power(a: Numbers, n: int) -> Any:
    """``np.linalg.matrix_power`` with ``n`` known at compile time or not."""
    if n == 1:
        return a
    if n == 0:
        return np.zeros_like(a) + np.eye(a.shape[-1], dtype=a.dtype)
    base = a if n >= 0 else np.linalg.inv(a)
    power = np.eye(a.shape[-1], dtype=base.dtype)
    for _ in range(abs(n)):
        power = power @ base
    return power


def multi_dot(arrays: Any) -> Any:
    """``np.linalg.multi_dot``, from left to right."""
    need(max([np.ndim(a) for a in arrays]) < 3, "np.linalg.multi_dot takes matrices, and vectors at both ends")
    product = arrays[0]
    for a in arrays[1:]:
        product = np.dot(product, a)
    return product


def solve_columns(a: Numbers, b: Numbers) -> Any:
    """``np.linalg.solve`` of a stack of matrices and one vector: the vector is a matrix of one column."""
    return np.linalg.solve(a, np.expand_dims(b, -1))[..., 0]


def tall_qr(a: Any) -> Any:
    """The row: ``np.linalg.qr`` of matrices with no more columns than rows."""
    return np.linalg.qr(a)


def upper_eigh(a: Any) -> Any:
    """The row: ``np.linalg.eigh`` that reads the upper triangle."""
    return np.linalg.eigh(a, "U")


def truncated_pinv(a: Any, rcond: Any) -> Any:
    """The row: ``np.linalg.pinv`` that drops the singular values below a fraction of the largest."""
    return np.linalg.pinv(a, rcond)


#: the rows of these: their operands, and the call of the row
ROWS_OF: dict[Any, tuple[str, str]] = {
    tall_qr: ("a", "qr(a)"),
    upper_eigh: ("a", "eigh_upper(a)"),
    truncated_pinv: ("a, rcond", "pinv_of(a, rcond)"),
}


def eigh_within(a: Numbers, UPLO: Any = "L") -> Any:
    """``np.linalg.eigh`` of either triangle."""
    need(UPLO in ("L", "U", "l", "u"), "UPLO argument must be 'L' or 'U'")
    return upper_eigh(a) if UPLO in ("U", "u") else np.linalg.eigh(a)


def cholesky_within(a: Numbers, upper: Any = False) -> Any:
    """``np.linalg.cholesky`` of either triangle."""
    return np.swapaxes(np.linalg.cholesky(np.swapaxes(a, -1, -2)), -1, -2) if upper else np.linalg.cholesky(a)


def mirrored(a: Any) -> Any:
    """The Hermitian matrix of which NumPy reads the lower triangle."""
    across = np.swapaxes(np.tril(a, -1), -1, -2)
    return np.tril(a) + (np.conj(across) if np.iscomplexobj(a) else across)


def pinv_within(a: Numbers, rcond: Any = None, hermitian: Any = False, rtol: Any = None) -> Any:
    """``np.linalg.pinv`` that drops singular values below a limit: those that it drops must be zero up to rounding."""
    need(rcond is None or rtol is None, "np.linalg.pinv takes one of rcond and rtol")
    a = inexact(mirrored(a) if hermitian else a)
    rows, columns = a.shape[-2], a.shape[-1]
    if rows == 0 or columns == 0:
        return np.linalg.pinv(a)
    values = np.linalg.svd(a, compute_uv=False)
    eps = np.finfo(a.dtype).eps
    limit = (1e-15 if rtol is None else rtol) if rcond is None else rcond
    sizes = values / np.max(values, axis=-1, keepdims=True)
    is_dropped = sizes <= np.expand_dims(limit, -1)
    must(
        not np.any(is_dropped & (sizes > 4 * max(rows, columns) * eps)),
        "np.linalg.pinv is supported where the singular values that it drops are zero up to rounding",
    )
    return truncated_pinv(a, limit)


def matrix_rank_within(A: Numbers, tol: Any = None, hermitian: Any = False, rtol: Any = None) -> Any:
    """``np.linalg.matrix_rank`` with a limit."""
    need(np.ndim(A) > 1, "this np.linalg.matrix_rank of a vector is not supported")
    need(tol is None or rtol is None, "np.linalg.matrix_rank takes one of tol and rtol")
    values = np.abs(np.linalg.eigvalsh(A)) if hermitian else np.linalg.svd(A, compute_uv=False)
    relative = max(A.shape[-2], A.shape[-1]) * np.finfo(values.dtype).eps if rtol is None else np.expand_dims(rtol, -1)
    limit = np.max(values, axis=-1, keepdims=True, initial=0.0) * relative if tol is None else np.expand_dims(tol, -1)
    return np.count_nonzero(values > limit, axis=-1)


def qr(a: Numbers) -> Any:
    """``np.linalg.qr``; with more columns than rows of the leading square part: the other columns are in its basis."""
    rows = a.shape[-2]
    q, r = tall_qr(a[..., :rows])
    if a.shape[-1] > rows:
        across = np.conj(np.swapaxes(q, -1, -2)) if np.iscomplexobj(q) else np.swapaxes(q, -1, -2)
        r = np.concatenate([r, np.matmul(across, a[..., rows:])], axis=-1)
    return q, r


def eigvalsh(a: Numbers, UPLO: Any = "L") -> Any:
    """``np.linalg.eigvalsh``."""
    return eigh_within(a, UPLO)[0]


def eigvals(a: Numbers) -> Any:
    """``np.linalg.eigvals``."""
    return np.linalg.eig(a)[0]


def cond(x: Numbers, p: Any = None) -> Any:
    """``np.linalg.cond`` of each matrix."""
    x = inexact(x)
    if p is None or p == 2 or p == -2:
        values = np.linalg.svd(x, compute_uv=False)
        largest, smallest = np.max(values, axis=-1), np.min(values, axis=-1)
        return largest / smallest if p != -2 else smallest / largest
    return np.linalg.norm(x, p, (-2, -1)) * np.linalg.norm(np.linalg.inv(x), p, (-2, -1))


def svdvals(x: Numbers) -> Any:
    """``np.linalg.svdvals``."""
    return np.linalg.svd(x, compute_uv=False)


def tensorsolve(a: Numbers, b: Numbers) -> Any:
    """``np.linalg.tensorsolve`` over the last axes."""
    must(np.size(a) == np.size(b) ** 2, "np.linalg.tensorsolve takes as many unknowns as equations")
    solution = np.linalg.solve(np.reshape(a, (np.size(b), np.size(b))), np.ravel(b))
    return np.reshape(solution, np.shape(a)[np.ndim(b) :])


def tensorinv(a: Numbers, ind: int = 2) -> Any:
    """``np.linalg.tensorinv``."""
    shape = np.shape(a)[ind:] + np.shape(a)[:ind]
    rows = 1
    for extent in np.shape(a)[:ind]:
        rows = rows * extent
    return np.reshape(np.linalg.inv(np.reshape(a, (rows, -1))), shape)


def lstsq(a: Numbers, b: Numbers, rcond: Any = None) -> Any:
    """``np.linalg.lstsq`` of a matrix of full rank."""
    need(np.ndim(a) == 2 and np.ndim(b) < 3, "np.linalg.lstsq takes matrices")
    values = np.linalg.svd(a, compute_uv=False)
    rows, columns = a.shape
    least = max(rows, columns) * np.finfo(values.dtype).eps
    limit = least if rcond is None else np.maximum(rcond, least)
    is_full = np.min(values, initial=np.inf) > limit * np.max(values, initial=0.0)
    must(is_full, "np.linalg.lstsq of a matrix without full rank is not supported")
    x = np.linalg.pinv(a) @ b
    apart = b - a @ x
    squares = np.square(apart.real) + np.square(apart.imag) if np.iscomplexobj(apart) else apart * apart
    left = np.ravel(np.sum(squares, axis=0)) if rows > columns else np.zeros(0, dtype=squares.dtype)
    return x, left, np.int32(min(rows, columns)), values


def vector_norm(x: Numbers, axis: Any = None, keepdims: Any = False, ord: Any = 2) -> Any:
    """``np.linalg.vector_norm``: of all elements, or along one axis."""
    x = inexact(x)
    norms = norm_along(np.ravel(x) if axis is None else x, ord, axis)
    return kept(norms, x, axis) if keepdims else norms


def frobenius_norm(x: Numbers, keepdims: Any = False, ord: Any = "fro") -> Any:
    """``np.linalg.matrix_norm``: of the matrices in the last two axes."""
    if np.ndim(x) == 2 and not keepdims:
        return matrix_norm(inexact(x), ord)
    return norm(x, ord, (-2, -1), keepdims)


def vecdot(x1: Numbers, x2: Numbers, axis: Any = -1) -> Any:
    """``np.vecdot`` of real arrays: the axis of each is counted before broadcasting; integers and bools keep their dtype."""
    need(np.ndim(x1) > 0 and np.ndim(x2) > 0, "np.vecdot takes vectors")
    p = x1 if axis == -1 or np.ndim(x1) == 1 else np.moveaxis(x1, axis, -1)
    q = x2 if axis == -1 or np.ndim(x2) == 1 else np.moveaxis(x2, axis, -1)
    if p.dtype.kind == "f" and q.dtype.kind == "f":
        if p.shape[-1] != q.shape[-1]:
            raise ValueError("vecdot: the vectors are of unequal lengths")
        return np.sum(p * q, axis=-1)
    if np.ndim(p) == 1 and np.ndim(q) == 1:
        return np.matmul(p, q)
    return np.matmul(np.expand_dims(p, -2), np.expand_dims(q, -1))[..., 0, 0]


def matvec(x1: Numbers, x2: Numbers) -> Any:
    """``np.matvec``."""
    need(np.ndim(x1) > 1 and np.ndim(x2) > 0, "np.matvec takes matrices, then vectors")
    return np.matmul(x1, np.expand_dims(x2, -1))[..., 0]


def vecmat(x1: Numbers, x2: Numbers) -> Any:
    """``np.vecmat`` of real arrays."""
    need(np.ndim(x1) > 0 and np.ndim(x2) > 1, "np.vecmat takes vectors, then matrices")
    return np.matmul(np.expand_dims(x1, -2), x2)[..., 0, :]
