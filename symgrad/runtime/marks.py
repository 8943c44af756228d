"""Functions that mean something to the differentiator and nothing to Python: each returns what it is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


def stop_gradient(x: T) -> T:
    """``x`` itself; no derivative flows back through it."""
    return x


def on_backward(x: T, function: Callable[[Any], Any]) -> T:
    """``x`` itself; on the way back its cotangent becomes ``function(cotangent)``, or stays if that returns None."""
    return x


def seen_backward(function: Callable[[Any], Any], g: Any) -> Any:
    """The cotangent once the user's function has seen it: what that returns, of the same shape, or ``g`` itself if that is None.

    >>> seen_backward(lambda g: g / 2, 3.0)
    1.5
    """
    new = function(g.copy() if isinstance(g, np.ndarray) else g)
    if new is None:
        return g
    if np.shape(new) != np.shape(g):
        raise ValueError(f"the function of on_backward returned shape {np.shape(new)} for a cotangent of shape {np.shape(g)}")
    return np.array(new, g.dtype) if isinstance(g, np.ndarray) else new
