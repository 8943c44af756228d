"""Matrix products and factorisations, under the documented names and arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symgrad.errors import refused
from symgrad.functional import matrices as f
from symgrad.vocabulary.dispatch import apply, plain_integer
from symgrad.vocabulary.exposed import table
from symgrad.vocabulary.fitting import ranked

Tensor = Any

NAMES = tuple(
    """
    mv inner kron addmm trace diagonal diag diag_embed det slogdet solve triangular_solve cholesky matrix_power inv tensordot
    """.split()
)
globals().update(table(f, NAMES))


def cross(x: Tensor, y: Tensor, axis: int = 9, name: str | None = None) -> Tensor:
    """The vector product along an axis of extent 3, by default the first such one."""
    ranked(x, "x")
    if axis == 9:
        candidates = [k for k, extent in enumerate(x.shape) if extent == 3]
        if not candidates:
            raise refused(ValueError(f"cross needs an axis of extent 3, and the shape is {list(x.shape)}"))
        axis = candidates[0]
    return apply(f.cross, x, y, axis=plain_integer(axis))


def diagflat(x: Tensor, offset: int = 0, name: str | None = None) -> Tensor:
    """The matrix that has all elements on a diagonal."""
    return apply(f.diag, x.reshape([-1]), offset=plain_integer(offset, "offset"))


def multi_dot(x: Sequence[Tensor], name: str | None = None) -> Tensor:
    """The product of several matrices."""
    return apply(f.multi_dot, *x)


def pinv(x: Tensor, rcond: float = 1e-15, hermitian: bool = False, name: str | None = None) -> Tensor:
    """The pseudo-inverse."""
    if rcond != 1e-15 or hermitian:
        raise refused(ValueError("rcond and hermitian are not supported"))
    return apply(f.pinv, x)


def qr(x: Tensor, mode: str = "reduced", name: str | None = None) -> list[Tensor]:
    """The QR factorisation ``x = q @ r``."""
    if mode != "reduced":
        raise refused(ValueError(f"qr with mode={mode!r} is not supported"))
    return apply(f.qr, x)  # type: ignore[no-any-return]


def svd(x: Tensor, full_matrices: bool = False, name: str | None = None) -> list[Tensor]:
    """Singular vectors and values."""
    if full_matrices:
        raise refused(ValueError("full_matrices=True is not supported"))
    return apply(f.svd, x)  # type: ignore[no-any-return]


def is_upper(UPLO: str) -> bool:
    """Whether the upper triangle of a matrix is read."""
    if UPLO not in ("L", "U"):
        raise refused(ValueError(f"UPLO must be 'L' or 'U', the triangle that is read, not {UPLO!r}"))
    return UPLO == "U"


def eigh(x: Tensor, UPLO: str = "L", name: str | None = None) -> list[Tensor]:
    """The eigenvalues and eigenvectors of a symmetric matrix, read from one triangle; the derivative is symmetric."""
    return apply(f.eigh, x, upper=is_upper(UPLO))  # type: ignore[no-any-return]


def eigvalsh(x: Tensor, UPLO: str = "L", name: str | None = None) -> Tensor:
    """The eigenvalues of a symmetric matrix, read from one triangle; their derivative is symmetric."""
    return apply(f.eigvalsh, x, upper=is_upper(UPLO))


inverse = inv  # type: ignore[name-defined]  # noqa: F821

__all__ = ["cross", "diagflat", "eigh", "eigvalsh", "inverse", "multi_dot", "pinv", "qr", "svd", *NAMES]
