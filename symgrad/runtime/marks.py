"""Marker functions: identities in Python, with a meaning to symgrad."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numpy as np

from symgrad.errors import BadArgument

T = TypeVar("T")
R = TypeVar("R")
P = ParamSpec("P")


def stop_gradient(x: T) -> T:
    """Return ``x`` unchanged; its derivative is treated as zero."""
    return x


def on_backward(x: T, function: Callable[[Any], Any]) -> T:
    """Return ``x`` unchanged; in the backward half its cotangent becomes ``function(cotangent)``, or stays if that returns None."""
    return x


class Checkpointed:
    """A function whose intermediate values are recomputed instead of saved; created by ``checkpoint``. Usable as a method."""

    symgrad_transparent = True

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.__wrapped__ = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__wrapped__(*args, **kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __reduce__(self) -> str:
        return str(getattr(self, "__qualname__", "checkpoint"))  # a global of its module, as a function is

    def __repr__(self) -> str:
        return f"checkpoint({getattr(self, '__qualname__', self.__wrapped__)})"


def checkpoint(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function that computes the same as ``function``, whose intermediate values are recomputed instead of saved.

    In reverse mode, the backward half runs the function a second time before reversing it. This needs the memory of one call instead of
    that of all calls, and the time of one more run. Memory that the function writes to is copied before. Prints and other side effects
    happen once. Also usable as a decorator.

    Raises NoDerivative, when the derivative is compiled, if the function draws random numbers or makes calls that may return something
    else the second time.

    >>> layer = checkpoint(lambda h, w: np.tanh(w @ h))
    >>> layer(np.zeros(2), np.eye(2))
    array([0., 0.])
    """
    if not callable(function):
        raise BadArgument(f"checkpoint takes a function, not {function!r}", hint="pass the function itself: checkpoint(f)(x)")
    return Checkpointed(function)


def seen_backward(function: Callable[[Any], Any], g: Any) -> Any:
    """Return ``function(g)``, which must have the shape of ``g``, or ``g`` itself if that is None.

    >>> seen_backward(lambda g: g / 2, 3.0)
    1.5
    """
    new = function(g.copy() if isinstance(g, np.ndarray) else g)
    if new is None:
        return g
    if np.shape(new) != np.shape(g):
        raise ValueError(f"the function of on_backward returned shape {np.shape(new)} for a cotangent of shape {np.shape(g)}")
    return np.array(new, g.dtype) if isinstance(g, np.ndarray) else new
