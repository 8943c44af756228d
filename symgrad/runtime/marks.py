"""Functions that mean something to the differentiator and nothing to Python: each returns what it is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


def stop_gradient(x: T) -> T:
    """``x`` itself; no derivative flows back through it."""
    return x


def on_backward(x: T, function: Callable[[Any], Any]) -> T:
    """``x`` itself; on the way back its cotangent becomes ``function(cotangent)``, or stays if that returns None."""
    return x
