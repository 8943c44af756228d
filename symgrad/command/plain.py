"""Converts values to types that JSON can represent."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Convert a value for JSON: arrays become lists; unsupported values, including infinities, become their text.

    >>> plain({"x": np.ones(2), 3: float("inf")})
    {'x': [1.0, 1.0], '3': 'inf'}
    """
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key if isinstance(key, str) else repr(key): plain(item) for key, item in value.items()}
    known = value is None or type(value) in (bool, int, str) or type(value) is float and math.isfinite(value)
    return value if known else repr(value)


__all__ = ["plain"]
