"""A function on both targets: NumPy code, and the loops that numba compiles."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from differences import derivative, direction_for, inner

import symgrad
from symgrad.errors import NotCompiled
from symgrad.jit import Fallback


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
    compiled, plain = (symgrad.value_and_grad(function, jit=j, **options) for j in (jit, False))
    keep_kernels(compiled)
    return outcome(compiled, *args), outcome(plain, *args)


def keep_kernels(derived: Any) -> None:
    """Forget that kernels have failed, so that they are called again: two failures in a row are no matter of these tests."""
    functions = [entry.compiled.function for kept in derived._table.entries.values() for entry in kept]
    for value in [v for function in functions for v in getattr(function, "__globals__", {}).values()]:
        if isinstance(value, Fallback):
            value.attempts.settle(0)


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


def agreed(function: Callable[..., Any], wrt: Any, calls: Sequence[tuple[Any, ...]]) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...]]]:
    """Each call's arguments and gradients, when value and gradients of the kernel have proved to be those of the NumPy code."""
    compiled, plain = (symgrad.value_and_grad(function, wrt=wrt, jit=jit) for jit in (True, False))
    for arguments in calls:
        with warnings.catch_warnings():
            warnings.simplefilter("error", NotCompiled)
            value, gradients = compiled(*arguments)
        expected, others = plain(*arguments)

        assert value == pytest.approx(expected, rel=1e-12, abs=1e-14, nan_ok=True)
        gradients, others = (g if isinstance(wrt, tuple) else (g,) for g in (gradients, others))
        for one, other in zip(gradients, others, strict=True):
            assert np.asarray(one).dtype == np.asarray(other).dtype
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-14)
        yield arguments, gradients


def stays(function: Callable[..., Any], *args: Any, wrt: Any = 0) -> bool:
    """Does the kernel do it, without leaving it to the NumPy code behind it?"""
    caller = symgrad.grad(function, wrt=wrt, jit=True).compiled(*args)
    (plain,) = (name for name in caller.__globals__ if name.endswith("_numpy"))
    behind, called = caller.__globals__[plain], []

    def seen(*args: Any) -> Any:
        called.append(args)
        return behind(*args)

    caller.__globals__[plain] = seen
    try:
        caller(*args)
    finally:
        caller.__globals__[plain] = behind
    return not called


def check_targets(
    function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], others: Sequence[tuple[Any, ...]] = (), jit: Any = "auto"
) -> None:
    """Compare value and gradients of a function of ``x`` and ``w`` on both targets; for the first call with differences too."""
    compiled, plain = (symgrad.value_and_grad(function, wrt=("x", "w"), jit=target) for target in (jit, False))
    for arguments in [*calls, *others]:
        keep_kernels(compiled)
        actual, expected = (outcome(one, *(a.copy() for a in arguments)) for one in (compiled, plain))
        narrow = arguments[0].dtype == np.float32
        assert same(actual, expected, *((1e-4, 1e-4) if narrow else (1e-10, 1e-13))), (arguments, actual, expected)

    first = calls[0]
    direction = direction_for(first, np.random.default_rng(0))
    slope = derivative(lambda a: function(*(part.copy() for part in a)), first, direction, 1e-5)
    assert inner(compiled(*(a.copy() for a in first))[1], direction) == pytest.approx(slope, rel=1e-6)


def strange(x: Any, w: Any) -> list[tuple[Any, Any]]:
    """The same with an infinity, with what is not a number, and in single precision."""
    variants = [(x.astype(np.float32), w.astype(np.float32))]
    for value in (np.inf, -np.inf, np.nan):
        y, v = x.copy(), w.copy()
        if x.size and w.size:
            y[(0,) * y.ndim] = v[(-1,) * v.ndim] = value
            variants += [(y, w), (x, v)]
    return variants
