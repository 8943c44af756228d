"""Run-time support of kernels: ``math.factorial`` and its relatives on 64-bit integers; -1 represents an undefined result.

The caller bails out of the kernel for -1: Python has integers of any size, and raises for arguments that are negative.
"""

from __future__ import annotations

import math

from symgrad.runtime.vector import compiled

MOST = 2**62  #: integers beyond are left to Python
FACTORIAL = 20  #: the last one whose factorial has 64 bits
ROOT = 2**52  #: up to here the square root of a float determines the integer one

plainly = compiled(forceinline=False)


@plainly
def orders_of(n: int, k: int) -> int:
    """``math.perm``.

    >>> orders_of(5, 2), orders_of(2, 5), orders_of(60, 30)
    (20, 0, -1)
    """
    if n < 0 or k < 0:
        return -1
    if k > n:
        return 0
    product = 1
    for factor in range(n - k + 1, n + 1):
        if product > MOST // factor:
            return -1
        product *= factor
    return product


@plainly
def factorial_of(n: int) -> int:
    """``math.factorial``.

    >>> factorial_of(4), factorial_of(21), factorial_of(-1)
    (24, -1, -1)
    """
    if n < 0 or n > FACTORIAL:
        return -1
    product = 1
    for factor in range(2, n + 1):
        product *= factor
    return product


@plainly
def choices_of(n: int, k: int) -> int:
    """``math.comb``; the product of the first k factors is divisible by k!, so each division is exact.

    >>> choices_of(5, 2), choices_of(2, 5), choices_of(80, 40)
    (10, 0, -1)
    """
    if n < 0 or k < 0:
        return -1
    if k > n:
        return 0
    if k > n - k:
        k = n - k
    count = 1
    for step in range(k):
        if count > MOST // (n - step):
            return -1
        count = count * (n - step) // (step + 1)
    return count


@plainly
def root_of(n: int) -> int:
    """``math.isqrt``.

    >>> root_of(15), root_of(16), root_of(-1)
    (3, 4, -1)
    """
    if n < 0 or n > ROOT:
        return -1
    return math.floor(math.sqrt(float(n)))


__all__ = ["choices_of", "factorial_of", "orders_of", "root_of"]
