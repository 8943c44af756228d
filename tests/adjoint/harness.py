"""Checks a gradient made of IR text: verified, run in both modes, compared with central differences."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import symgrad.ops.rows.arrays
import symgrad.ops.rows.constants
import symgrad.ops.rows.creation
import symgrad.ops.rows.diagonals
import symgrad.ops.rows.einsum
import symgrad.ops.rows.elementwise
import symgrad.ops.rows.engine
import symgrad.ops.rows.engine_lists
import symgrad.ops.rows.engine_opaque
import symgrad.ops.rows.joining
import symgrad.ops.rows.linalg
import symgrad.ops.rows.reductions  # noqa: F401
from symgrad.adjoint.reverse import gradient
from symgrad.ir.core import Func
from symgrad.ir.parse import parse
from symgrad.ir.show import show
from symgrad.ir.verify import verify
from tests.interpreter import execute, interpret


def differences(value: Callable[[list[Any]], float], args: Sequence[Any], k: int, step: float = 1e-6) -> Any:
    """Central differences of ``value`` in each number of argument ``k``."""
    if isinstance(args[k], float):
        ends = [value([*args[:k], args[k] + s, *args[k + 1 :]]) for s in (step, -step)]
        return (ends[0] - ends[1]) / (2 * step)
    slopes = np.zeros_like(args[k])
    for place in np.ndindex(args[k].shape):
        ends = []
        for s in (step, -step):
            moved = [copy.deepcopy(a) for a in args]
            moved[k][place] += s
            ends.append(value(moved))
        slopes[place] = (ends[0] - ends[1]) / (2 * step)
    return slopes


def check(text: str | Func, args: Sequence[Any], wrt: Sequence[int], order: int = 1, tolerance: float = 2e-6) -> Func:
    """Raise unless the gradient of the first result is right; the gradient's IR is returned.

    For ``order`` 2 the gradient's own gradient, of a weighted sum of its results, is checked too.
    """
    func = parse(text) if isinstance(text, str) else text
    verify(func)
    derivative = gradient(func, wrt)
    try:
        verify(derivative)
        compare(func, derivative, args, wrt, tolerance)
        fused = gradient(func, wrt, fused=True)
        verify(fused)
        compare(func, fused, args, wrt, tolerance)
    except Exception:
        print(show(derivative))
        raise
    if order > 1:
        for k in range(len(wrt)):
            check(summed(gradient(func, [wrt[k]], value=False), args), args, wrt, order - 1, tolerance * 20)
    return derivative


def compare(func: Func, derivative: Func, args: Sequence[Any], wrt: Sequence[int], tolerance: float) -> None:
    """The two modes agree with each other and with differences."""
    pure = interpret(derivative, copy.deepcopy(list(args)))
    arguments = copy.deepcopy(list(args))
    done = execute(derivative, arguments)
    value = interpret(func, copy.deepcopy(list(args)))
    count = len(func.body.yields)
    for a, b in zip(value, pure[:count], strict=True):
        np.testing.assert_allclose(b, a, err_msg="value")
    for a, b in zip(pure, done, strict=True):
        np.testing.assert_allclose(b, a, err_msg="in place and functional")
    for k, actual in zip(wrt, pure[count:], strict=True):
        expected = differences(lambda moved: float(interpret(func, moved)[0]), args, k)
        assert np.shape(actual) == np.shape(args[k]), (np.shape(actual), np.shape(args[k]))
        np.testing.assert_allclose(actual, expected, rtol=tolerance * 10, atol=tolerance, err_msg=f"argument {k}")


def summed(func: Func, args: Sequence[Any]) -> Func:
    """A scalar made of a gradient's one result: the sum of its cubes and itself, as another function."""
    from symgrad.ops.build import Builder

    builder = Builder(func.body)
    result = func.body.yields[0]
    cube = builder.call("multiply", result, builder.call("multiply", result, result))
    func.body.yields = [builder.call("sum", builder.call("add", cube, result))]
    func.results = ["out"]
    func.split = None
    return func
