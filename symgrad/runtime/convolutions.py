"""Run-time support of kernels: convolution and correlation of vectors."""

from __future__ import annotations

from typing import Any

from symgrad.runtime.folds import plus
from symgrad.runtime.vector import compiled

plainly = compiled(forceinline=False)


@plainly
def convolution_into(out: Any, a: Any, v: Any) -> None:
    """Store the convolution of two vectors; the inner loop goes along the longer.

    >>> import numpy as np
    >>> out = np.empty(4)
    >>> convolution_into(out, np.array([1.0, 2.0, 3.0]), np.array([1.0, 10.0]))
    >>> out
    array([ 1., 12., 23., 30.])
    """
    for i in range(out.shape[0]):
        out[i] = 0
    if v.shape[0] > a.shape[0]:
        for i in range(a.shape[0]):
            for k in range(v.shape[0]):
                out[i + k] += a[i] * v[k]
        return
    for k in range(v.shape[0]):
        for i in range(a.shape[0]):
            out[i + k] += a[i] * v[k]


@plainly
def correlation_into(out: Any, g: Any, v: Any) -> None:
    """Store the inner products of a vector with each window of another; the inner loop is the longer one.

    >>> import numpy as np
    >>> out = np.empty(2)
    >>> correlation_into(out, np.array([1.0, 2.0, 3.0]), np.array([1.0, 10.0]))
    >>> out
    array([21., 32.])
    """
    for i in range(out.shape[0]):
        out[i] = 0
    if v.shape[0] > out.shape[0]:
        for i in range(out.shape[0]):
            total = out[i]
            for k in range(v.shape[0]):
                total = plus(total, g[i + k] * v[k])
            out[i] = total
        return
    for k in range(v.shape[0]):
        for i in range(out.shape[0]):
            out[i] += g[i + k] * v[k]


__all__ = ["convolution_into", "correlation_into"]
