"""More elementwise functions, as NumPy functions of arrays and plain settings."""

from __future__ import annotations

import numpy as np

from symgrad.functional.tensors import Tensor
from symgrad.runtime.special import digamma as digamma_of
from symgrad.runtime.special import erf as error_function
from symgrad.runtime.special import lgamma as log_gamma


def asinh(x: Tensor) -> Tensor:
    """The inverse of the hyperbolic sine."""
    return np.arcsinh(x)


def acosh(x: Tensor) -> Tensor:
    """The inverse of the hyperbolic cosine."""
    return np.arccosh(x)


def atanh(x: Tensor) -> Tensor:
    """The inverse of the hyperbolic tangent."""
    return np.arctanh(x)


def atan2(x: Tensor, y: Tensor) -> Tensor:
    """The angle of the point ``(y, x)``."""
    return np.arctan2(x, y)


def hypot(x: Tensor, y: Tensor) -> Tensor:
    """``sqrt(x * x + y * y)``, without overflow."""
    return np.hypot(x, y)


def logaddexp(x: Tensor, y: Tensor) -> Tensor:
    """``log(exp(x) + exp(y))``, without overflow."""
    return np.logaddexp(x, y)


def fmax(x: Tensor, y: Tensor) -> Tensor:
    """The larger of the two, the other where one is no number."""
    return np.fmax(x, y)


def fmin(x: Tensor, y: Tensor) -> Tensor:
    """The smaller of the two, the other where one is no number."""
    return np.fmin(x, y)


def erf(x: Tensor) -> Tensor:
    """The error function."""
    return error_function(x)


def lgamma(x: Tensor) -> Tensor:
    """The logarithm of the gamma function."""
    return log_gamma(x)


def digamma(x: Tensor) -> Tensor:
    """The derivative of the logarithm of the gamma function."""
    return digamma_of(x)


def trunc(x: Tensor) -> Tensor:
    """The next integer towards 0; its derivative is 0."""
    return np.where(np.isnan(x), x, np.trunc(x))


def frac(x: Tensor) -> Tensor:
    """The fractional part, ``x - trunc(x)``; its derivative is 1."""
    return x - np.trunc(x)


def lerp(x: Tensor, y: Tensor, weight: Tensor) -> Tensor:
    """Linear interpolation, ``x + weight * (y - x)``."""
    return x + weight * (y - x)


def logit(x: Tensor, eps: float | None = None) -> Tensor:
    """``log(x / (1 - x))``; with ``eps`` of ``x`` between ``eps`` and ``1 - eps``."""
    if eps is not None:
        x = np.clip(x, eps, 1.0 - eps)
    return np.log(x / (1 - x))


def stanh(x: Tensor, scale_a: float = 0.67, scale_b: float = 1.7159) -> Tensor:
    """``scale_b * tanh(scale_a * x)``."""
    return scale_b * np.tanh(scale_a * x)


def nan_to_num(x: Tensor, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> Tensor:
    """``x`` with NaN and infinities replaced, infinities by default by the largest numbers of the dtype."""
    return np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


def rad2deg(x: Tensor) -> Tensor:
    """An angle in degrees."""
    return np.rad2deg(x)


def deg2rad(x: Tensor) -> Tensor:
    """An angle in degrees as one of the unit circle."""
    return np.deg2rad(x)


def isnan(x: Tensor) -> Tensor:
    """Whether each element is NaN."""
    return np.isnan(x)


def isinf(x: Tensor) -> Tensor:
    """Whether each element is infinite."""
    return np.isinf(x)


def isfinite(x: Tensor) -> Tensor:
    """Whether each element is finite."""
    return np.isfinite(x)


def bitwise_and(x: Tensor, y: Tensor) -> Tensor:
    """``x & y``: of integers by bits, of bools both."""
    return x & y


def bitwise_or(x: Tensor, y: Tensor) -> Tensor:
    """``x | y``: of integers by bits, of bools one or both."""
    return x | y


def bitwise_xor(x: Tensor, y: Tensor) -> Tensor:
    """``x ^ y``: of integers by bits, of bools one of the two."""
    return x ^ y


def bitwise_not(x: Tensor) -> Tensor:
    """``~x``: of integers by bits, of bools not."""
    return ~x


def bitwise_left_shift(x: Tensor, y: Tensor) -> Tensor:
    """``x << y``."""
    return x << y


def bitwise_right_shift(x: Tensor, y: Tensor) -> Tensor:
    """``x >> y``; the sign stays."""
    return x >> y


def logical_xor(x: Tensor, y: Tensor) -> Tensor:
    """One of the two."""
    return np.logical_xor(x, y)


def isclose(x: Tensor, y: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor:
    """Where ``|x - y| <= atol + rtol * |y|``."""
    return np.isclose(x, y, rtol=rtol, atol=atol, equal_nan=equal_nan)
