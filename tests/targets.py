"""A function on both targets: NumPy code, and the loops that numba compiles."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import symgrad


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    """What a function gives, or the kind of error and what it says."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            return function(*args)
    except Exception as error:
        return type(error).__name__, str(error)


def both(function: Callable[..., Any], *args: Any, jit: Any = True, **options: Any) -> tuple[Any, Any]:
    """Value and gradient, or what is raised: of the compiled loops, then of the NumPy code."""
    compiled, plain = (outcome(symgrad.value_and_grad(function, jit=j, **options), *args) for j in (jit, False))
    return compiled, plain


def same(one: Any, other: Any, relative: float = 1e-12, absolute: float = 1e-14) -> bool:
    """Are two results alike in structure and dtypes, and their numbers equal but for the last digits?

    A number that is NumPy's on one path and Python's on another may be either.
    """
    if isinstance(one, tuple | list):
        return type(one) is type(other) and len(one) == len(other) and all(same(a, b, relative, absolute) for a, b in zip(one, other))
    if isinstance(one, str) or isinstance(other, str | tuple | list):
        return bool(one == other)
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        alike = type(one) is type(other) and one.dtype == other.dtype and one.shape == other.shape
    else:
        alike = type(one) is type(other) or isinstance(one, float) and isinstance(other, float)
    return alike and np.allclose(one, other, relative, absolute, equal_nan=True)
