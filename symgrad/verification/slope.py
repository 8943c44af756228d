"""Checks a gradient against the function: the derivative in one direction, by a complex step or by differences at two steps.

A gradient that the complex step confirms is right. Otherwise fourth-order differences decide, where those at
two steps agree with each other and with the one-sided slopes. Near kinks, in noise, and where the function
raises there is no verdict.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from symgrad.verification.agreement import EPSILON, children, is_float, widths
from symgrad.verification.directions import by_key, dot, moved, random_like

#: the step relative to the arguments, and the allowed difference of slopes, by the width of the narrowest float
STEPS = {4: (2e-2, 1e-2), 8: (2e-4, 1e-5)}
COMPLEX_STEP = 1e-30

#: the derivative, from a seed in the form of the result, the seed as nested lists, and tangents by parameter as nested lists
Slope = Callable[[Any, Any, Mapping[str, Any]], float]
Run = Callable[[Mapping[str, Any]], Any]  #: evaluates the function with some of its arguments replaced


def disagreement(run: Run, inputs: Mapping[str, Any], value: Any, slope: Slope) -> tuple[float, float] | None:
    """The derivative in a direction by the code and by differences, if they surely differ; else None.

    ``inputs`` are the differentiated arguments, ``value`` is the function's result for them, ``slope`` returns the
    code's derivative.
    """
    sizes = [width for argument in inputs.values() for width in widths(argument)]
    if not sizes or min(sizes) not in STEPS:
        return None
    width = min(sizes)
    random = np.random.default_rng(20261123)
    tangents = {name: scaled(random_like(argument, random), argument) for name, argument in inputs.items()}
    seed = 1.0 if is_float(value) and np.ndim(value) == 0 else random_like(value, random)
    ours = slope(by_key(value, seed), seed, tangents)
    if not math.isfinite(ours):
        return None
    if width == 8 and (theirs := complex_slope(run, inputs, tangents, seed)) is not None and abs(theirs - ours) <= 1e-8 * abs(ours):
        return None
    step, allowed = STEPS[width]
    try:
        at = {k: dot(run({n: moved(a, tangents[n], k * step) for n, a in inputs.items()}), seed).real for k in (-2, -1, -0.5, 0, 0.5, 1, 2)}
    except Exception:
        return None
    return judged(ours, at, step, allowed, EPSILON[width])


def judged(ours: float, at: Mapping[float, float], step: float, allowed: float, epsilon: float) -> tuple[float, float] | None:
    """Compare a slope with the function's, from its values at multiples of a step; None unless they surely differ."""
    if not all(map(math.isfinite, at.values())):
        return None
    wide = (8.0 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12.0 * step)
    narrow = (8.0 * (at[0.5] - at[-0.5]) - (at[1] - at[-1])) / (6.0 * step)
    right = (4.0 * at[0.5] - at[1] - 3.0 * at[0]) / step
    left = (3.0 * at[0] - 4.0 * at[-0.5] + at[-1]) / step
    noise = 1024.0 * epsilon * max(map(abs, at.values())) / step
    size = max(abs(wide), abs(narrow))
    smooth = abs(wide - narrow) <= 0.1 * allowed * size + noise and abs(right - left) <= 100.0 * allowed * size + noise
    return (ours, narrow) if smooth and abs(ours - narrow) > allowed * max(size, abs(ours)) + 4.0 * noise else None


def complex_slope(run: Run, inputs: Mapping[str, Any], tangents: Mapping[str, Any], seed: Any) -> float | None:
    """The derivative by a complex step; None if the function rejects complex numbers, returns none, or drops imaginary parts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        try:
            result = run({name: complex_step(argument, tangents[name]) for name, argument in inputs.items()})
            return dot(result, seed).imag / COMPLEX_STEP
        except Exception:
            return None


def complex_step(value: Any, tangent: Any) -> Any:
    """A value moved by a tiny imaginary step; raises TypeError for complex values."""
    if np.iscomplexobj(value):
        raise TypeError
    if is_float(value):
        shifted = value + np.asarray(tangent) * (1j * COMPLEX_STEP)
        return shifted if isinstance(value, np.ndarray) else complex(shifted)
    match value:
        case tuple() if hasattr(value, "_fields"):
            return type(value)(*map(complex_step, value, tangent))
        case tuple() | list():
            return type(value)(map(complex_step, value, tangent))
        case dict():
            return {key: complex_step(item, inner) for (key, item), inner in zip(value.items(), tangent, strict=True)}
    if tangent is not None:
        raise TypeError
    return value


def scaled(tangent: Any, value: Any) -> Any:
    """A direction scaled to the value: each number by a part of itself, zeros by a part of their neighbours."""
    items = children(value)
    if items is not None:
        return [scaled(inner, item) for inner, item in zip(tangent, items, strict=True)]
    if tangent is None:
        return None
    size = np.abs(np.asarray(value)).astype(float)
    largest = float(np.max(size, initial=0.0))
    direction = tangent * np.where(size > 0.0, size, largest or 1.0)
    return direction.astype(value.dtype)[()] if isinstance(value, np.ndarray | np.generic) else type(value)(direction)


__all__ = ["disagreement"]
