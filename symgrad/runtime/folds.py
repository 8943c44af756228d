"""What kernels call, compiled by numba, and nothing else imports: sums whose terms may be added in any order."""

from __future__ import annotations

from typing import Any

from numba import njit


@njit(fastmath={"reassoc", "contract", "nsz"}, error_model="numpy")
def plus(total: Any, term: Any) -> Any:
    """The sum; LLVM may add several terms at a time in vector registers.

    >>> plus(1.0, 2.0)
    3.0
    """
    return total + term
