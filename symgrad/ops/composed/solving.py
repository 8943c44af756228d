"""Functions of ``scipy.linalg``, expressed by NumPy functions and by the rows of triangular matrices."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from symgrad.ops.composed.products import norm as numpy_norm
from symgrad.ops.composed.refusing import Numbers, must, need
from symgrad.tables import named


def flipped(a: Any) -> Any:
    """The transpose of each matrix of a stack."""
    return np.transpose(a) if np.ndim(a) == 2 else np.swapaxes(a, -1, -2)


def triangular(a: Any, b: Any, lower: bool) -> Any:
    """``solve_triangular`` of a triangle: a row where it is inlined."""
    return sys.modules["scipy.linalg"].solve_triangular(a, b, lower=lower)


def transposed(a: Any, b: Any, lower: bool) -> Any:
    """``solve_triangular`` of the transpose of a triangle: a row where it is inlined."""
    return sys.modules["scipy.linalg"].solve_triangular(a, b, trans=1, lower=lower)


def expm_row(a: Any) -> Any:
    """The matrix exponential: a row where it is inlined."""
    return sys.modules["scipy.linalg"].expm(a)


def sylvester(a: Any, b: Any, q: Any) -> Any:
    """The solution of ``a x + x b = q``: a row where it is inlined."""
    return sys.modules["scipy.linalg"].solve_sylvester(a, b, q)


#: the rows of these: their operands, and the call of the row
ROWS_OF: dict[Any, tuple[str, str]] = {
    sylvester: ("a, b, q", "sylvester(a, b, q)"),
    triangular: ("a, b, lower", "solve_triangular(a, b, lower=lower)"),
    transposed: ("a, b, lower", "solve_transposed(a, b, lower=lower)"),
    expm_row: ("a", "expm(a)"),
}


def solve(
    a: Numbers,
    b: Numbers,
    lower: Any = False,
    overwrite_a: Any = False,
    overwrite_b: Any = False,
    check_finite: Any = True,
    assume_a: Any = None,
    transposed: Any = False,
) -> Any:
    """``scipy.linalg.solve``."""
    need(not overwrite_a and not overwrite_b, "scipy.linalg.solve is supported where it does not write to its arguments")
    need(
        assume_a is None or assume_a in ("gen", "general", "sym", "symmetric", "pos", "positive definite"), "this assume_a is not supported"
    )
    if assume_a in ("sym", "symmetric", "pos", "positive definite"):  # one triangle is read
        return np.linalg.solve(np.tril(a) + flipped(np.tril(a, -1)) if lower else np.triu(a) + flipped(np.triu(a, 1)), b)
    return np.linalg.solve(flipped(a) if transposed else a, b)


def solve_triangular(
    a: Numbers,
    b: Numbers,
    trans: Any = 0,
    lower: Any = False,
    unit_diagonal: Any = False,
    overwrite_b: Any = False,
    check_finite: Any = True,
) -> Any:
    """``scipy.linalg.solve_triangular``."""
    need(not overwrite_b, "scipy.linalg.solve_triangular is supported without overwrite_b")
    need(trans in (0, 1, "N", "T"), "this trans of scipy.linalg.solve_triangular is not supported")
    if unit_diagonal:
        a = (np.tril(a, -1) if lower else np.triu(a, 1)) + np.eye(a.shape[-1], dtype=a.dtype)
    if np.ndim(a) > 2 and np.ndim(b) == 1:  # the same vector for each matrix of the stack
        column = np.expand_dims(b, -1)
        return (transposed(a, column, lower) if trans in (1, "T") else triangular(a, column, lower))[..., 0]
    if trans in (1, "T"):
        return transposed(a, b, lower)
    return triangular(a, b, lower)


def cholesky(a: Numbers, lower: Any = False, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    """``scipy.linalg.cholesky`` of a symmetric matrix."""
    need(not overwrite_a, "scipy.linalg.cholesky is supported where it does not write to its argument")
    return np.linalg.cholesky(a) if lower else flipped(np.linalg.cholesky(flipped(a)))


def cho_factor(a: Numbers, lower: Any = False, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    """``scipy.linalg.cho_factor`` of a symmetric matrix; the other triangle, which is undefined in SciPy, is zero."""
    return cholesky(a, lower, overwrite_a), lower


def cho_solve(c_and_lower: Any, b: Numbers, overwrite_b: Any = False, check_finite: Any = True) -> Any:
    """``scipy.linalg.cho_solve``."""
    need(not overwrite_b, "scipy.linalg.cho_solve is supported where it does not write to its argument")
    c, lower = c_and_lower
    if lower:
        return transposed(c, triangular(c, b, True), True)
    return triangular(c, transposed(c, b, False), False)


def inv(a: Numbers, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    """``scipy.linalg.inv``."""
    need(not overwrite_a, "scipy.linalg.inv is supported where it does not write to its argument")
    return np.linalg.inv(a)


def det(a: Numbers, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    """``scipy.linalg.det``."""
    need(not overwrite_a, "scipy.linalg.det is supported where it does not write to its argument")
    return np.linalg.det(a.astype(np.float64) if a.dtype == np.float32 else a)


def eigh(a: Numbers, b: Any = None, lower: Any = True, eigvals_only: Any = False) -> Any:
    """``scipy.linalg.eigh`` of a symmetric matrix, all of its values; with ``b``, ``a v = w b v``, by the Cholesky factor of ``b``."""
    if b is not None:
        a, b = (a, b) if lower else (flipped(a), flipped(b))
        factor = np.linalg.cholesky(b)
        whole = np.tril(a) + flipped(np.tril(a, -1))
        values, inner = np.linalg.eigh(triangular(factor, flipped(triangular(factor, whole, True)), True))
        return values if eigvals_only else (values, transposed(factor, inner, True))
    values, vectors = np.linalg.eigh(a) if lower else np.linalg.eigh(flipped(a))
    return values if eigvals_only else (values, vectors)


def eigvalsh(a: Numbers, b: Any = None, lower: Any = True) -> Any:
    """``scipy.linalg.eigvalsh`` of a symmetric matrix, all of its values."""
    return eigh(a, b, lower, True)


def svd(a: Numbers, full_matrices: Any = True, compute_uv: Any = True) -> Any:
    """``scipy.linalg.svd``."""
    if not compute_uv:
        return np.linalg.svd(a, compute_uv=False)
    u, s, vh = np.linalg.svd(a, full_matrices=full_matrices)
    return u, s, vh


def svdvals(a: Numbers) -> Any:
    """``scipy.linalg.svdvals``."""
    return np.linalg.svd(a, compute_uv=False)


def qr(a: Numbers, mode: Any = "full") -> Any:
    """``scipy.linalg.qr`` in its economic mode, which is each mode of a square matrix."""
    need(np.ndim(a) == 2, "scipy.linalg.qr is supported for one matrix")
    need(mode in ("economic", "full", "r"), "scipy.linalg.qr is supported with mode='economic'")
    must(mode == "economic" or a.shape[0] == a.shape[1], "scipy.linalg.qr of a matrix that is not square takes mode='economic'")
    if mode == "r":
        return (np.linalg.qr(a, mode="r"),)
    q, r = np.linalg.qr(a)
    return q, r


def pinv(a: Numbers, rtol: Any = None, check_finite: Any = True) -> Any:
    """``scipy.linalg.pinv``."""
    return np.linalg.pinv(a) if rtol is None else np.linalg.pinv(a, rtol)


def expm(A: Numbers) -> Any:
    """``scipy.linalg.expm``."""
    return expm_row(A)


def norm(a: Numbers, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    """``scipy.linalg.norm``, which returns a Python float where it calls BLAS or LAPACK."""
    out = numpy_norm(a, ord, axis, keepdims)
    whole = axis is None and not keepdims and a.dtype.kind == "f"
    if whole and np.ndim(a) == 1 and ord in (None, 2) or whole and np.ndim(a) == 2 and ord in (1, math.inf):
        return float(out)
    return out


def block_diag(*arrs: Any) -> Any:
    """``scipy.linalg.block_diag`` of matrices; a vector is one row."""
    need(len(arrs) > 0, "scipy.linalg.block_diag takes a matrix")
    for a in arrs:
        need(np.ndim(a) < 3, "scipy.linalg.block_diag is supported for matrices")
    matrices = [np.atleast_2d(a) for a in arrs]
    rows, columns = sum([a.shape[0] for a in matrices]), sum([a.shape[1] for a in matrices])
    matrix = np.zeros((rows, columns), dtype=np.result_type(*matrices))
    row, column = 0, 0
    for a in matrices:
        matrix[row : row + a.shape[0], column : column + a.shape[1]] = a
        row, column = row + a.shape[0], column + a.shape[1]
    return matrix


def toeplitz(c: Numbers, r: Numbers = None) -> Any:
    """``scipy.linalg.toeplitz`` of vectors."""
    need(np.ndim(c) < 2 and (r is None or np.ndim(r) < 2), "scipy.linalg.toeplitz is supported for vectors")
    first, top = np.ravel(c), np.ravel(c if r is None else r)
    n, m = first.shape[0], top.shape[0]
    values = np.concatenate([first[::-1], top[1:]])
    return values[np.expand_dims(np.arange(n - 1, -1, -1), 1) + np.arange(m)]


def circulant(c: Numbers) -> Any:
    """``scipy.linalg.circulant`` of a vector."""
    need(np.ndim(c) == 1, "scipy.linalg.circulant is supported for a vector")
    n = c.shape[0]
    return c[(np.expand_dims(np.arange(n), 1) - np.arange(n)) % n]


def band(ab: Any, above: Any) -> Any:
    """Return the matrix whose diagonals are given as rows, from an upper diagonal downwards."""
    need(np.ndim(ab) == 2, "banded matrices are supported one at a time")
    count = ab.shape[1]
    row = np.expand_dims(np.arange(count), 1) + (above - np.arange(count))
    column = np.arange(count) + np.zeros_like(row)
    return np.where((row >= 0) & (row < ab.shape[0]), ab[np.clip(row, 0, ab.shape[0] - 1), column], 0.0)


def solve_banded(
    l_and_u: Any, ab: Numbers, b: Numbers, overwrite_ab: Any = False, overwrite_b: Any = False, check_finite: Any = True
) -> Any:
    """``scipy.linalg.solve_banded``, by the whole matrix."""
    need(not overwrite_ab and not overwrite_b, "scipy.linalg.solve_banded is supported where it does not write to its arguments")
    lower, upper = l_and_u
    must(lower + upper + 1 == ab.shape[0], "invalid values for the number of lower and upper diagonals")
    return np.linalg.solve(band(ab, upper), b)


def solveh_banded(
    ab: Numbers, b: Numbers, overwrite_ab: Any = False, overwrite_b: Any = False, lower: Any = False, check_finite: Any = True
) -> Any:
    """``scipy.linalg.solveh_banded``, by the whole matrix."""
    need(not overwrite_ab and not overwrite_b, "scipy.linalg.solveh_banded is supported where it does not write to its arguments")
    half = band(ab, 0 if lower else ab.shape[0] - 1)
    return np.linalg.solve(half + np.transpose(half) - np.diag(np.diagonal(half)), b)


def solve_toeplitz(c_or_cr: Any, b: Numbers, check_finite: Any = True) -> Any:
    """``scipy.linalg.solve_toeplitz``, by the whole matrix."""
    matrix = toeplitz(c_or_cr[0], c_or_cr[1]) if isinstance(c_or_cr, tuple) else toeplitz(c_or_cr)
    return np.linalg.solve(matrix, b)


def matmul_toeplitz(c_or_cr: Any, x: Numbers, check_finite: Any = False, workers: Any = None) -> Any:
    """``scipy.linalg.matmul_toeplitz``, by the whole matrix."""
    return (toeplitz(c_or_cr[0], c_or_cr[1]) if isinstance(c_or_cr, tuple) else toeplitz(c_or_cr)) @ x


def hankel(c: Numbers, r: Numbers = None) -> Any:
    """``scipy.linalg.hankel`` of vectors."""
    need(np.ndim(c) < 2 and (r is None or np.ndim(r) < 2), "scipy.linalg.hankel is supported for vectors")
    first = np.ravel(c)
    last = np.zeros_like(first) if r is None else np.ravel(r)
    values = np.concatenate([first, last[1:]])
    return values[np.expand_dims(np.arange(first.shape[0]), 1) + np.arange(last.shape[0])]


def polar(a: Numbers, side: Any = "right") -> Any:
    """``scipy.linalg.polar``, by the singular values."""
    need(np.ndim(a) == 2, "scipy.linalg.polar is supported for one matrix")
    need(side == "right" or side == "left", "`side` must be either 'right' or 'left'")
    w, s, vh = np.linalg.svd(a, full_matrices=False)
    return w @ vh, (np.transpose(vh) * s) @ vh if side == "right" else (w * s) @ np.transpose(w)


def lstsq(
    a: Numbers,
    b: Numbers,
    cond: Any = None,
    overwrite_a: Any = False,
    overwrite_b: Any = False,
    check_finite: Any = True,
    lapack_driver: Any = None,
) -> Any:
    """``scipy.linalg.lstsq`` of a matrix of full rank."""
    need(not overwrite_a and not overwrite_b, "scipy.linalg.lstsq is supported where it does not write to its arguments")
    need(cond is None, "cond of scipy.linalg.lstsq is not supported")
    x, left, rank, values = np.linalg.lstsq(a, b)
    if np.ndim(b) > 1:
        return x, left, int(rank), values
    must(a.shape[0] > a.shape[1], "scipy.linalg.lstsq of a vector is supported for more rows than columns")
    return x, left[0], int(rank), values


def solve_sylvester(a: Numbers, b: Numbers, q: Numbers) -> Any:
    """``scipy.linalg.solve_sylvester``."""
    return sylvester(a, b, q)


def solve_continuous_lyapunov(a: Numbers, q: Numbers) -> Any:
    """``scipy.linalg.solve_continuous_lyapunov`` of real matrices."""
    return sylvester(a, flipped(a), q)


def solve_discrete_lyapunov(a: Numbers, q: Numbers, method: Any = None) -> Any:
    """``scipy.linalg.solve_discrete_lyapunov`` of real matrices, as a system of equations for all elements."""
    need(method is None or method == "direct", "scipy.linalg.solve_discrete_lyapunov is supported with method='direct'")
    need(np.ndim(a) == 2, "scipy.linalg.solve_discrete_lyapunov is supported for one matrix")
    count = np.shape(a)[0]
    must(method == "direct" or count < 10, "scipy.linalg.solve_discrete_lyapunov of ten rows and more is supported with method='direct'")
    return np.reshape(np.linalg.solve(np.eye(count * count) - np.kron(a, a), np.ravel(q)), (count, count))


SOLVING: dict[str, Any] = (
    named(solve_sylvester, solve_continuous_lyapunov, solve_discrete_lyapunov, solve_banded, solveh_banded, solve_toeplitz)
    | named(matmul_toeplitz, hankel, polar, lstsq, solve, solve_triangular, cholesky, cho_factor, cho_solve, inv, det, eigh, eigvalsh)
    | named(svd, svdvals, qr, pinv, expm, norm, block_diag, toeplitz, circulant, solve_lyapunov=solve_continuous_lyapunov)
)
