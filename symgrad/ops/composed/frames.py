"""Functions of pandas on numbers and arrays, expressed by NumPy functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.ops.composed.refusing import Numbers


def isna(obj: Numbers) -> Any:
    """``pandas.isna``: where an array is nan; whether a number is nan, or a value is None."""
    if obj is None or isinstance(obj, str):
        return obj is None
    return np.isnan(obj) if np.ndim(obj) else bool(np.isnan(obj))


def notna(obj: Numbers) -> Any:
    """``pandas.notna``, the opposite of ``isna``."""
    if obj is None or isinstance(obj, str):
        return obj is not None
    return ~np.isnan(obj) if np.ndim(obj) else not np.isnan(obj)


FRAMES: dict[str, Callable[..., Any]] = {"isna": isna, "notna": notna}

__all__ = ["FRAMES"]
