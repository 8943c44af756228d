"""Functions of ``scipy.linalg`` said in NumPy's, and in the rows of triangular matrices."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from symgrad.ops.composed.products import norm as numpy_norm
from symgrad.ops.composed.refusing import Numbers, need


def triangular(a: Any, b: Any, lower: bool) -> Any:
    """``solve_triangular`` of a triangle: a row where it is inlined."""
    return sys.modules["scipy.linalg"].solve_triangular(a, b, lower=lower)


def transposed(a: Any, b: Any, lower: bool) -> Any:
    """``solve_triangular`` of the transpose of a triangle: a row where it is inlined."""
    return sys.modules["scipy.linalg"].solve_triangular(a, b, trans=1, lower=lower)


def expm_row(a: Any) -> Any:
    """The matrix exponential: a row where it is inlined."""
    return sys.modules["scipy.linalg"].expm(a)


#: the rows of these: their operands, and the call of the row
ROWS_OF: dict[Any, tuple[str, str]] = {
    triangular: ("a, b, lower", "solve_triangular(a, b, lower=lower)"), transposed: ("a, b, lower", "solve_transposed(a, b, lower=lower)"),
    expm_row: ("a", "expm(a)"),
}  # fmt: skip


def solve(a: Numbers, b: Numbers, lower: Any = False, overwrite_a: Any = False, overwrite_b: Any = False, check_finite: Any = True,
          assume_a: Any = None, transposed: Any = False) -> Any:  # fmt: skip
    """``scipy.linalg.solve``."""
    need(not overwrite_a and not overwrite_b, "scipy.linalg.solve is supported where it does not write to its arguments")
    need(
        assume_a is None or assume_a in ("gen", "general", "sym", "symmetric", "pos", "positive definite"), "this assume_a is not supported"
    )
    return np.linalg.solve(np.transpose(a) if transposed else a, b)


def solve_triangular(a: Numbers, b: Numbers, trans: Any = 0, lower: Any = False, unit_diagonal: Any = False, overwrite_b: Any = False,
                     check_finite: Any = True) -> Any:  # fmt: skip
    """``scipy.linalg.solve_triangular``."""
    need(not unit_diagonal and not overwrite_b, "scipy.linalg.solve_triangular is supported without unit_diagonal and overwrite_b")
    need(trans in (0, 1, "N", "T"), "this trans of scipy.linalg.solve_triangular is not supported")
    if trans in (1, "T"):
        return transposed(a, b, lower)
    return triangular(a, b, lower)


def cholesky(a: Numbers, lower: Any = False, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    """``scipy.linalg.cholesky`` of a symmetric matrix."""
    need(not overwrite_a, "scipy.linalg.cholesky is supported where it does not write to its argument")
    return np.linalg.cholesky(a) if lower else np.transpose(np.linalg.cholesky(np.transpose(a)))


def cho_factor(a: Numbers, lower: Any = False, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    """``scipy.linalg.cho_factor`` of a symmetric matrix; the other triangle, which SciPy does not say, is zero."""
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
    return np.linalg.det(a)


def eigh(a: Numbers, b: Any = None, lower: Any = True, eigvals_only: Any = False) -> Any:
    """``scipy.linalg.eigh`` of a symmetric matrix, all of its values."""
    need(b is None, "the generalized eigenvalue problem is not supported")
    values, vectors = np.linalg.eigh(a) if lower else np.linalg.eigh(np.transpose(a))
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
    """``scipy.linalg.qr`` in its economic mode."""
    need(mode == "economic" or mode == "r" and a.shape[0] == a.shape[1], "scipy.linalg.qr is supported with mode='economic'")
    if mode == "r":
        return (np.linalg.qr(a, mode="r"),)
    q, r = np.linalg.qr(a)
    return q, r


def pinv(a: Numbers) -> Any:
    """``scipy.linalg.pinv``."""
    return np.linalg.pinv(a)


def expm(A: Numbers) -> Any:
    """``scipy.linalg.expm``."""
    return expm_row(A)


def norm(a: Numbers, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    """``scipy.linalg.norm``; it gives a float of Python's where it calls BLAS or LAPACK."""
    out = numpy_norm(a, ord, axis, keepdims)
    whole = axis is None and not keepdims and a.dtype.kind == "f"
    if whole and np.ndim(a) == 1 and ord in (None, 2) or whole and np.ndim(a) == 2 and ord in (1, math.inf):
        return float(out)
    return out


def block_diag(*arrs: Any) -> Any:
    """``scipy.linalg.block_diag`` of matrices."""
    need(np.ndim(arrs[0]) == 2, "scipy.linalg.block_diag is supported for matrices")
    rows, columns = sum([a.shape[0] for a in arrs]), sum([a.shape[1] for a in arrs])
    matrix = np.zeros((rows, columns))
    row, column = 0, 0
    for a in arrs:
        matrix[row : row + a.shape[0], column : column + a.shape[1]] = a
        row, column = row + a.shape[0], column + a.shape[1]
    return matrix


def toeplitz(c: Numbers, r: Numbers = None) -> Any:
    """``scipy.linalg.toeplitz`` of vectors."""
    first, top = np.ravel(c), np.ravel(c if r is None else r)
    n, m = first.shape[0], top.shape[0]
    values = np.concatenate([first[::-1], top[1:]])
    return values[np.expand_dims(np.arange(n - 1, -1, -1), 1) + np.arange(m)]


def circulant(c: Numbers) -> Any:
    """``scipy.linalg.circulant`` of a vector."""
    n = c.shape[0]
    return c[(np.expand_dims(np.arange(n), 1) - np.arange(n)) % n]


SOLVING: dict[str, Any] = {
    "solve": solve, "solve_triangular": solve_triangular, "cholesky": cholesky, "cho_factor": cho_factor, "cho_solve": cho_solve,
    "inv": inv, "det": det, "eigh": eigh, "eigvalsh": eigvalsh, "svd": svd, "svdvals": svdvals, "qr": qr, "pinv": pinv, "expm": expm,
    "norm": norm, "block_diag": block_diag, "toeplitz": toeplitz, "circulant": circulant,
}  # fmt: skip
