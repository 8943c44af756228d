"""``paddle.linalg``."""

from symgrad.compat.missing import explaining
from symgrad.vocabulary.matrices import (  # type: ignore[attr-defined]
    cholesky,
    cross,
    det,
    diagonal,
    eigh,
    eigvalsh,
    inv,
    matrix_power,
    multi_dot,
    pinv,
    qr,
    slogdet,
    solve,
    svd,
    triangular_solve,
)
from symgrad.vocabulary.statistics import matrix_norm, norm, vector_norm
from symgrad.vocabulary.tensors import matmul

__all__ = ["cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh", "inv", "matmul", "matrix_norm", "matrix_power", "multi_dot", "norm"]
__all__ += ["pinv", "qr", "slogdet", "solve", "svd", "triangular_solve", "vector_norm"]

__getattr__ = explaining("paddle.linalg", __all__)
