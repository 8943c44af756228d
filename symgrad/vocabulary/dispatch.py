"""Dispatches an operation to the eager record or to a program, by the kind of its inputs."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.tracebacks import REFUSALS, is_trimmed, refused

Tensor = Any

#: whether operations are appended to programs, instead of run at once
STATIC = [False]
#: converts a newly created array while operations are appended to programs
CONSTANT: list[Callable[[Any], Any]] = []
#: by class of tensor: ``group(parts)`` records which tensors are the parts of one
GROUP: dict[type, Callable[[list[Any]], None]] = {}
#: by class of input: ``apply(function, *inputs, **settings)``; under None the default for inputs without tensors
APPLY: dict[type | None, Callable[..., Any]] = {}


def apply(function: Callable[..., Any], *inputs: Any, **settings: Any) -> Any:
    """Apply a NumPy function to tensors, or append it to the program of variables; NumPy's float64 in settings is a Python float."""
    if settings:
        settings = {name: float(value) if type(value) is np.float64 else value for name, value in settings.items()}
    for operand in inputs:
        kind = type(operand)
        if kind in APPLY:
            return APPLY[kind](function, *inputs, **settings)
    return APPLY[None](function, *inputs, **settings)


def parts(results: list[Any]) -> list[Any]:
    """Return the results of an operation that splits a tensor."""
    group = GROUP.get(type(results[0])) if results else None
    if group is not None:
        group(results)
    return results


def unary(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of one tensor, as users call it."""

    def call(x: Tensor, name: str | None = None) -> Tensor:
        try:
            return apply(function, x)
        except REFUSALS as error:
            if not is_trimmed(error):
                raise
            __tracebackhide__ = True
            raise error

    call.__name__ = call.__qualname__ = function.__name__
    call.__doc__ = function.__doc__
    return call


def binary(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of two tensors, or of a tensor and a number, as users call it."""

    def call(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
        try:
            return apply(function, x, y)
        except REFUSALS as error:
            if not is_trimmed(error):
                raise
            __tracebackhide__ = True
            raise error

    call.__name__ = call.__qualname__ = function.__name__
    call.__doc__ = function.__doc__
    return call


#: the dtype of tensors created from Python floats, and of integers where a float is computed
DEFAULT = [np.dtype("float32")]


def plain_integer(value: Any, what: str = "an axis") -> int:
    """An integer as plain data."""
    try:
        return operator.index(value)
    except TypeError as error:
        if getattr(value, "ndim", None) == 0 or isinstance(value, str):
            raise refused(TypeError(f"{what} must be an integer, not {value!r}")) from error
        raise refused(TypeError(f"{what} must be an integer, not {type(value).__name__}")) from error


def axes(axis: Any) -> Any:
    """An axis or several as plain data."""
    if axis is None or isinstance(axis, int):
        return axis
    return extents(axis, "an axis") or None


def extents(shape: Any, what: str = "an extent or axis") -> tuple[int, ...]:
    """A shape, or axes, as plain data."""
    return tuple([plain_integer(extent, what) for extent in (shape if isinstance(shape, list | tuple) else [shape])])
