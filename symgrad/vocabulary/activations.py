"""More activations, under the documented names and arguments (``nn.functional``)."""

from __future__ import annotations

from typing import Any

from symgrad.functional import activations as f
from symgrad.vocabulary.dispatch import apply
from symgrad.vocabulary.exposed import table

Tensor = Any

NAMES = ("celu", "hardswish", "hardshrink", "softshrink", "tanhshrink", "thresholded_relu", "glu", "maxout")
globals().update(table(f, NAMES))


def prelu(x: Tensor, weight: Tensor, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """``x`` where it is positive, else a multiple of it, one for all or one for each channel."""
    if not data_format.startswith("NC"):
        raise ValueError(f"data_format {data_format!r} is not supported; the channels come second")
    return apply(f.prelu, x, weight)


def rrelu(x: Tensor, lower: float = 0.125, upper: float = 0.3333333333333333, training: bool = True, name: str | None = None) -> Tensor:
    """``x`` where it is not negative, else a multiple of it, drawn between two bounds; in a test their mean."""
    if not training:
        return apply(f.rrelu, x, (lower + upper) / 2)
    return apply(f.rrelu, x, apply(f.uniform_noise, x.detach(), low=float(lower), high=float(upper)))


def gumbel_softmax(x: Tensor, temperature: float = 1.0, hard: bool = False, axis: int = -1, name: str | None = None) -> Tensor:
    """A softmax of ``x`` and of Gumbel's noise; ``hard``: ones and zeros, with the derivative of the softmax."""
    noise = apply(f.uniform_noise, x.detach(), low=1e-20, high=1.0)
    return apply(f.gumbel_softmax, x, noise, temperature=float(temperature), hard=bool(hard), axis=int(axis))


__all__ = ["gumbel_softmax", "prelu", "rrelu", *NAMES]
