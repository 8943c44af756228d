# Written by "python -m tests.stubs --write" from the signatures in symgrad/vocabulary.
from symgrad.vocabulary.typed import cholesky as cholesky
from symgrad.vocabulary.typed import cross as cross
from symgrad.vocabulary.typed import det as det
from symgrad.vocabulary.typed import diagonal as diagonal
from symgrad.vocabulary.typed import eigh as eigh
from symgrad.vocabulary.typed import eigvalsh as eigvalsh
from symgrad.vocabulary.typed import inv as inv
from symgrad.vocabulary.typed import matmul as matmul
from symgrad.vocabulary.typed import matrix_norm as matrix_norm
from symgrad.vocabulary.typed import matrix_power as matrix_power
from symgrad.vocabulary.typed import multi_dot as multi_dot
from symgrad.vocabulary.typed import norm as norm
from symgrad.vocabulary.typed import pinv as pinv
from symgrad.vocabulary.typed import qr as qr
from symgrad.vocabulary.typed import slogdet as slogdet
from symgrad.vocabulary.typed import solve as solve
from symgrad.vocabulary.typed import svd as svd
from symgrad.vocabulary.typed import triangular_solve as triangular_solve
from symgrad.vocabulary.typed import vector_norm as vector_norm

__all__ = [
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eigh",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "triangular_solve",
    "vector_norm",
]
