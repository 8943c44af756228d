"""More elementwise functions, under the documented names and arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symgrad.errors import refused
from symgrad.functional import elements as f
from symgrad.functional import tensors as functions
from symgrad.vocabulary import statistics, tensors
from symgrad.vocabulary.dispatch import apply
from symgrad.vocabulary.exposed import table
from symgrad.vocabulary.promotion import arithmetic, unified

Tensor = Any

FLOATS = ("asinh", "acosh", "atanh", "erf", "lgamma", "digamma", "logit", "stanh", "rad2deg", "deg2rad")
OTHERS = ("trunc", "frac", "nan_to_num", "isnan", "isinf", "isfinite", "logical_xor")
BINARY = ("atan2", "hypot", "logaddexp", "fmax", "fmin")
NAMES = (*FLOATS, *OTHERS, *BINARY)
globals().update(
    table(f, FLOATS, floats=True)
    | table(f, OTHERS)
    | {name: arithmetic(getattr(f, name), floats=name not in ("fmax", "fmin")) for name in BINARY}
)


def lerp(x: Tensor, y: Tensor, weight: Any, name: str | None = None) -> Tensor:
    """Linear interpolation, ``x + weight * (y - x)``."""
    x, y = unified(x, y)
    return apply(f.lerp, x, y, unified(x, weight)[1])


def isclose(x: Tensor, y: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False, name: str | None = None) -> Tensor:
    """Where ``|x - y| <= atol + rtol * |y|``."""
    return apply(f.isclose, *unified(x, y), rtol=float(rtol), atol=float(atol), equal_nan=bool(equal_nan))


def mod(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """``x % y``, with the sign of ``y``."""
    return tensors.remainder(x, y)  # type: ignore[attr-defined]


floor_mod = mod


def neg(x: Tensor, name: str | None = None) -> Tensor:
    """``-x``."""
    return apply(functions.negative, x)


def increment(x: Tensor, value: float = 1.0, name: str | None = None) -> Tensor:
    """``x + value``."""
    return tensors.scale(x, bias=value)


def add_n(inputs: Tensor | Sequence[Tensor], name: str | None = None) -> Tensor:
    """The sum of several tensors of one shape."""
    if not isinstance(inputs, list | tuple):
        return apply(functions.assign, inputs)
    if not inputs:
        raise refused(ValueError("add_n needs a tensor at least"))
    total = inputs[0]
    for other in inputs[1:]:
        total = tensors.add(total, other)  # type: ignore[attr-defined]
    return total if len(inputs) > 1 else apply(functions.assign, total)


def allclose(x: Tensor, y: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False, name: str | None = None) -> Tensor:
    """Whether ``|x - y| <= atol + rtol * |y|`` everywhere."""
    return statistics.all(isclose(x, y, rtol, atol, equal_nan))  # type: ignore[attr-defined]


__all__ = ["add_n", "allclose", "floor_mod", "increment", "isclose", "lerp", "mod", "neg", *NAMES]
