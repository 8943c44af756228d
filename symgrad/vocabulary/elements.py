"""More functions of single elements, under the documented names and arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symgrad.errors import refused
from symgrad.functional import elements as f
from symgrad.functional import tensors as arithmetic
from symgrad.vocabulary import statistics, tensors
from symgrad.vocabulary.dispatch import apply
from symgrad.vocabulary.exposed import table

Tensor = Any

NAMES = (
    "asinh", "acosh", "atanh", "atan2", "hypot", "logaddexp", "fmax", "fmin", "erf", "lgamma", "digamma", "trunc", "frac", "lerp", "logit",
    "stanh", "nan_to_num", "rad2deg", "deg2rad", "isnan", "isinf", "isfinite", "logical_xor", "isclose",
)  # fmt: skip
globals().update(table(f, NAMES))


def mod(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """``x % y``, with the sign of ``y``."""
    return apply(arithmetic.remainder, x, y)


floor_mod = mod


def neg(x: Tensor, name: str | None = None) -> Tensor:
    """``-x``."""
    return apply(arithmetic.negative, x)


def increment(x: Tensor, value: float = 1.0, name: str | None = None) -> Tensor:
    """``x + value``."""
    return apply(arithmetic.scale, x, bias=float(value))


def add_n(inputs: Tensor | Sequence[Tensor], name: str | None = None) -> Tensor:
    """The sum of several tensors of one shape."""
    if not isinstance(inputs, list | tuple):
        return apply(arithmetic.assign, inputs)
    if not inputs:
        raise refused(ValueError("add_n needs a tensor at least"))
    made = inputs[0]
    for other in inputs[1:]:
        made = tensors.add(made, other)  # type: ignore[attr-defined]
    return made if len(inputs) > 1 else apply(arithmetic.assign, made)


def allclose(x: Tensor, y: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False, name: str | None = None) -> Tensor:
    """Is ``|x - y| <= atol + rtol * |y|`` everywhere?"""
    close = apply(f.isclose, x, y, rtol=float(rtol), atol=float(atol), equal_nan=bool(equal_nan))
    return statistics.all(close)  # type: ignore[attr-defined]


__all__ = ["add_n", "allclose", "floor_mod", "increment", "mod", "neg", *NAMES]
