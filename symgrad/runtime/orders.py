"""Run-time support of kernels: sorting, argsort, medians.

For equal elements the order is NumPy's, and NaN comes last: for these the functions raise, and NumPy sorts.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.runtime.vector import compiled

#: runs of this length are sorted by insertion before they are merged
RUN = 16

plainly = compiled(forceinline=False)


@plainly
def merged(x: Any, places: Any) -> Any:
    """Return ``x`` sorted by merging; ``places`` receives the original indices."""
    n = x.shape[0]
    keys, here = np.empty(n, x.dtype), np.empty(n, np.int64)
    for low in range(0, n, RUN):
        for i in range(low, min(low + RUN, n)):
            key, k = x[i], i
            while k > low and key < keys[k - 1]:
                keys[k], here[k] = keys[k - 1], here[k - 1]
                k -= 1
            keys[k], here[k] = key, i
    other_keys, others = np.empty(n, x.dtype), np.empty(n, np.int64)
    width = RUN
    while width < n:
        for low in range(0, n, 2 * width):
            middle, high = min(low + width, n), min(low + 2 * width, n)
            i, j = low, middle
            for k in range(low, high):
                if i < middle and (j >= high or not keys[j] < keys[i]):
                    other_keys[k], others[k] = keys[i], here[i]
                    i += 1
                else:
                    other_keys[k], others[k] = keys[j], here[j]
                    j += 1
        keys, other_keys = other_keys, keys
        here, others = others, here
        width *= 2
    for k in range(n):
        places[k] = here[k]
    return keys


@plainly
def order_into(out: Any, x: Any) -> None:
    """Store the sorted order as indices, like ``np.argsort``; no two elements may be equal.

    >>> out = np.empty(3, np.int64)
    >>> order_into(out, np.array([3.0, 1.0, 2.0]))
    >>> out
    array([1, 2, 0])
    """
    keys = merged(x, out)
    for k in range(1, len(keys)):
        if not keys[k - 1] < keys[k]:
            raise ArithmeticError


@plainly
def sorted_into(out: Any, x: Any) -> None:
    """Store the sorted elements, like ``np.sort``; all zeros must have one sign.

    >>> out = np.empty(3)
    >>> sorted_into(out, np.array([3.0, 1.0, 1.0]))
    >>> out
    array([1., 1., 3.])
    """
    keys = merged(x, np.empty(x.shape[0], np.int64))
    for k in range(len(keys)):
        if k > 0 and not keys[k - 1] <= keys[k]:
            raise ArithmeticError
        if k > 0 and keys[k] == 0 and keys[k - 1] == 0 and math.copysign(1.0, keys[k]) != math.copysign(1.0, keys[k - 1]):
            raise ArithmeticError
        out[k] = keys[k]


@plainly
def middle_into(out: Any, x: Any) -> None:
    """Store 1 at the median, 0.5 at each of two middle elements, else 0; these must be unique.

    >>> out = np.empty(3)
    >>> middle_into(out, np.array([3.0, 1.0, 2.0]))
    >>> out
    array([0., 0., 1.])
    """
    n = x.shape[0]
    places = np.empty(n, np.int64)
    keys = merged(x, places)
    for k in range(n):
        out[k] = 0.0
        if keys[k] != keys[k]:
            raise ArithmeticError
    if n == 0:
        return
    first, last = (n - 1) // 2, n // 2
    if first > 0 and keys[first - 1] == keys[first] or last + 1 < n and keys[last + 1] == keys[last]:
        raise ArithmeticError
    out[places[first]] += 0.5
    out[places[last]] += 0.5
