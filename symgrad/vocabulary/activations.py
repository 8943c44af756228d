"""More activations, under the documented names and arguments (``nn.functional``)."""

from __future__ import annotations

import math
from typing import Any

from symgrad.functional import activations as f
from symgrad.vocabulary.dispatch import apply, plain_integer
from symgrad.vocabulary.exposed import table
from symgrad.vocabulary.fitting import channels_second, ranked, shaped

Tensor = Any

NAMES = ("celu", "hardswish", "hardshrink", "softshrink", "tanhshrink", "thresholded_relu", "glu", "maxout")
globals().update(table(f, NAMES, floats=True))


def prelu(x: Tensor, weight: Tensor, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """``x`` where it is positive, else a multiple of it, one for all or one for each channel."""
    channels_second(data_format)
    ranked(x, "x")
    ranked(weight, "weight")
    if math.prod(weight.shape) != 1:
        shaped(weight, "weight", [x.shape[1] if len(x.shape) > 1 else 1])
    return apply(f.prelu, x, weight)


def rrelu(x: Tensor, lower: float = 0.125, upper: float = 0.3333333333333333, training: bool = True, name: str | None = None) -> Tensor:
    """``x`` where it is not negative, else a multiple of it, drawn between two bounds; in a test their mean."""
    if not training:
        return apply(f.rrelu, x, (lower + upper) / 2)
    return apply(f.rrelu, x, apply(f.uniform_noise, x.detach(), low=float(lower), high=float(upper)))


def gumbel_softmax(x: Tensor, temperature: float = 1.0, hard: bool = False, axis: int = -1, name: str | None = None) -> Tensor:
    """A softmax of ``x`` and of Gumbel's noise; ``hard``: ones and zeros, with the derivative of the softmax."""
    ranked(x, "x")
    return apply(
        f.gumbel_softmax, x, apply(f.gumbel_noise, x.detach()), temperature=float(temperature), hard=bool(hard), axis=plain_integer(axis)
    )


__all__ = ["gumbel_softmax", "prelu", "rrelu", *NAMES]
