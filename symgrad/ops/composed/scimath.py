"""Functions of ``np.emath`` (``np.lib.scimath``), for arguments that they leave real, and for complex ones.

NumPy makes an argument complex if one of its elements lies outside the real domain; whether one does is known when the program runs
only, and the type of the result depends on it. Such arguments are refused when the program runs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.ops.composed.refusing import Numbers, must
from symgrad.tables import counterparts


def not_negative(x: Any) -> Any:
    """The argument, whose real elements are not negative."""
    if not np.iscomplexobj(x):
        must(not np.any(np.less(x, 0)), "np.emath is complex for negative numbers; convert the argument to complex numbers before")
    return x


def within_one(x: Any) -> Any:
    """The argument, whose real elements lie from -1 to 1."""
    if not np.iscomplexobj(x):
        is_outside = np.any(np.greater(np.abs(x), 1))
        must(not is_outside, "np.emath is complex beyond -1 and 1; convert the argument to complex numbers before")
    return x


def sqrt(x: Numbers) -> Any:
    """``np.emath.sqrt``."""
    return np.sqrt(not_negative(x))


def log(x: Numbers) -> Any:
    """``np.emath.log``."""
    return np.log(not_negative(x))


def log2(x: Numbers) -> Any:
    """``np.emath.log2``."""
    return np.log2(not_negative(x))


def log10(x: Numbers) -> Any:
    """``np.emath.log10``."""
    return np.log10(not_negative(x))


def logn(n: Numbers, x: Numbers) -> Any:
    """``np.emath.logn``."""
    return np.log(not_negative(x)) / np.log(not_negative(n))


def power(x: Numbers, p: Numbers) -> Any:
    """``np.emath.power`` to powers that are no negative integers."""
    if np.asarray(p).dtype.kind == "i":
        must(not np.any(np.less(p, 0)), "np.emath.power is supported for powers that are not negative integers; write them as floats")
    if isinstance(p, int | float) and np.asarray(x).dtype.kind in "fc":
        p = np.float64(p)  # NumPy makes an array of it
    if isinstance(x, int | float) and np.asarray(p).dtype.kind in "fc":
        x = np.float64(x)
    return np.power(not_negative(x), p)


def arccos(x: Numbers) -> Any:
    """``np.emath.arccos``."""
    return np.arccos(within_one(x))


def arcsin(x: Numbers) -> Any:
    """``np.emath.arcsin``."""
    return np.arcsin(within_one(x))


def arctanh(x: Numbers) -> Any:
    """``np.emath.arctanh``."""
    return np.arctanh(within_one(x))


SCIMATH: dict[Any, Any] = counterparts(np.emath, sqrt, log, log2, log10, logn, power, arccos, arcsin, arctanh)
