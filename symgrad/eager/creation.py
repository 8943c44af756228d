"""Functions that create tensors: from numbers, ranges and random generators.

Their declared result is ``Tensor``; while programs are built, the result is a ``Variable``, as of ``to_tensor``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.eager.tensor import Tensor, default_dtype, holding
from symgrad.errors import BadArgument
from symgrad.runtime.random import RANDOM, generator, seed
from symgrad.vocabulary.dispatch import CONSTANT, STATIC, extents


def chosen(dtype: Any) -> np.dtype[Any]:
    """Return the requested dtype, or the default."""
    return default_dtype() if dtype is None else np.dtype(dtype)


def tensor_of(array: Any) -> Tensor:
    """A tensor, or while programs are built a variable that is the same in every run."""
    tensor: Tensor = CONSTANT[-1](array) if STATIC[0] else holding(array)
    return tensor


def drawn(array: Any) -> Tensor:
    """A tensor of random numbers."""
    if STATIC[0]:
        raise BadArgument("random numbers would be the same in every run of a program", hint="draw them with NumPy, and feed them")
    return holding(array)


def full(shape: Any, fill_value: float, dtype: Any = None, name: str | None = None) -> Tensor:
    """One number, everywhere."""
    return tensor_of(np.full(extents(shape), fill_value, chosen(dtype)))


def zeros(shape: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """Zeros."""
    return full(shape, 0, dtype)


def ones(shape: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """Ones."""
    return full(shape, 1, dtype)


def arange(start: Any = 0, end: Any = None, step: Any = 1, dtype: Any = None, name: str | None = None) -> Tensor:
    """Numbers at equal distances, without the end."""
    if end is None:
        start, end = 0, start
    floats = any(isinstance(v, float) for v in (start, end, step))
    return tensor_of(np.arange(start, end, step).astype(chosen(dtype) if dtype is not None or floats else np.int64))


def linspace(start: float, stop: float, num: int, dtype: Any = None, name: str | None = None) -> Tensor:
    """Numbers at equal distances, with the end."""
    return tensor_of(np.linspace(start, stop, num).astype(chosen(dtype)))


def eye(num_rows: int, num_columns: int | None = None, dtype: Any = None, name: str | None = None) -> Tensor:
    """The unit matrix."""
    return tensor_of(np.eye(num_rows, num_columns, dtype=chosen(dtype)))


def uniform(shape: Any, dtype: Any = None, min: float = -1.0, max: float = 1.0, seed: int = 0, name: str | None = None) -> Tensor:
    """Random numbers between two bounds."""
    return drawn(generator(seed).uniform(min, max, tuple(shape)).astype(chosen(dtype)))


def rand(shape: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """Random numbers between 0 and 1."""
    return uniform(shape, dtype, 0.0, 1.0)


def normal(mean: float = 0.0, std: float = 1.0, shape: Any = None, name: str | None = None) -> Tensor:
    """Normally distributed random numbers."""
    return drawn(RANDOM[0].normal(mean, std, tuple(shape or ())).astype(default_dtype()))


def randn(shape: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """Random numbers of the standard normal distribution."""
    return drawn(RANDOM[0].normal(0.0, 1.0, tuple(shape)).astype(chosen(dtype)))


def randint(low: int = 0, high: int | None = None, shape: Any = (1,), dtype: Any = None, name: str | None = None) -> Tensor:
    """Random integers."""
    return drawn(RANDOM[0].integers(low, high, tuple(shape)).astype(np.int64 if dtype is None else dtype))


__all__ = ["arange", "eye", "full", "linspace", "normal", "ones", "rand", "randint", "randn", "seed", "uniform", "zeros"]
