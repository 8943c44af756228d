"""The real cosine and sine transforms of ``scipy.fft``, expressed by NumPy's transforms of twice the length."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.ops.composed.refusing import Numbers, need


def inverse(kind: int) -> int:
    """The type of the inverse."""
    if kind == 2:
        return 3
    return 2 if kind == 3 else kind


def swapped(norm: Any) -> Any:
    """The norm with which the inverse has the same factor."""
    if norm == "ortho":
        return "ortho"
    return None if norm == "forward" else "forward"


def waves(x: Any, count: Any) -> Any:
    """Sums of ``x[n] * exp(2j * pi * n * k / count)``, for each ``k``."""
    return np.fft.ifft(x, count, norm="forward")


def turned(halves: Any) -> Any:
    """Numbers of size one, at these multiples of a half turn."""
    return np.exp(1j * math.pi * halves)


def weighted(n: Any, place: int, weight: float) -> Any:
    """Return ones with another value at one index."""
    weights = np.ones(n)
    weights[place] = weight
    return weights


def cosines(x: Any, kind: int, ortho: bool) -> Any:
    """The cosine transform without a factor, along the last axis."""
    n = x.shape[-1]
    k = np.arange(n)
    if kind == 1:
        ends = weighted(n, 0, math.sqrt(0.5)) * weighted(n, -1, math.sqrt(0.5)) if ortho else np.ones(n)
        y = x / ends
        return np.real(waves(np.concatenate([y, y[..., -2:0:-1]], axis=-1), 2 * n - 2)[..., :n]) * ends
    if kind == 2:
        coefficients = 2.0 * np.real(turned(k / (2 * n)) * waves(x, 2 * n)[..., :n])
        return coefficients * weighted(n, 0, math.sqrt(0.5)) if ortho else coefficients
    if kind == 3:
        return np.real(waves(x * weighted(n, 0, math.sqrt(0.5) if ortho else 0.5) * (2.0 * turned(k / (2 * n))), 2 * n)[..., :n])
    return 2.0 * np.real(turned((2 * k + 1) / (4 * n)) * waves(x * turned(k / (2 * n)), 2 * n)[..., :n])


def sines(x: Any, kind: int, ortho: bool) -> Any:
    """The sine transform without a factor, along the last axis."""
    n = x.shape[-1]
    k = np.arange(n)
    before = np.zeros((*x.shape[:-1], 1))
    if kind == 1:
        return 2.0 * np.imag(waves(np.concatenate([before, x], axis=-1), 2 * n + 2)[..., 1 : n + 1])
    if kind == 2:
        coefficients = 2.0 * np.imag(turned((k + 1) / (2 * n)) * waves(x, 2 * n)[..., 1 : n + 1])
        return coefficients * weighted(n, -1, math.sqrt(0.5)) if ortho else coefficients
    if kind == 3:
        y = x * weighted(n, -1, math.sqrt(0.5) if ortho else 0.5) * (2.0 * turned((k + 1) / (2 * n)))
        return np.imag(waves(np.concatenate([before, y], axis=-1), 2 * n)[..., :n])
    return 2.0 * np.imag(turned((2 * k + 1) / (4 * n)) * waves(x * turned(k / (2 * n)), 2 * n)[..., :n])


def scaled(transformed: Any, of: Any, norm: Any) -> Any:
    """A transform times the factor of a norm, for waves of the length ``of``."""
    if norm == "ortho":
        return transformed / np.sqrt(of)
    return transformed / of if norm == "forward" else transformed


def transform(x: Any, even: bool, kind: int, axis: int, norm: Any) -> Any:
    """The transform along one axis."""
    need(kind == 1 or kind == 2 or kind == 3 or kind == 4, "there is no such type of a cosine or sine transform")
    y = np.moveaxis(x, axis, -1)
    extra = (-2 if even else 2) if kind == 1 else 0
    transformed = cosines(y, kind, norm == "ortho") if even else sines(y, kind, norm == "ortho")
    return np.moveaxis(scaled(transformed, 2.0 * y.shape[-1] + extra, norm), -1, axis)


def dct(x: Numbers, type: int = 2, n: None = None, axis: int = -1, norm: Any = None) -> Any:
    """``scipy.fft.dct``."""
    need(n is None, "n of scipy.fft.dct is not supported")
    return transform(x, True, type, axis, norm)


def idct(x: Numbers, type: int = 2, n: None = None, axis: int = -1, norm: Any = None) -> Any:
    """``scipy.fft.idct``."""
    need(n is None, "n of scipy.fft.idct is not supported")
    return transform(x, True, inverse(type), axis, swapped(norm))


def dst(x: Numbers, type: int = 2, n: None = None, axis: int = -1, norm: Any = None) -> Any:
    """``scipy.fft.dst``."""
    need(n is None, "n of scipy.fft.dst is not supported")
    return transform(x, False, type, axis, norm)


def idst(x: Numbers, type: int = 2, n: None = None, axis: int = -1, norm: Any = None) -> Any:
    """``scipy.fft.idst``."""
    need(n is None, "n of scipy.fft.idst is not supported")
    return transform(x, False, inverse(type), axis, swapped(norm))


def over(x: Any, even: bool, type: int, axes: Any, norm: Any) -> Any:
    """The transform along several axes, or along all."""
    transformed = x
    if axes is None:
        need(np.ndim(x) < 4, "a cosine transform of so many axes is not supported: name them")
        for axis in (0, 1, 2):
            if axis < np.ndim(x):
                transformed = transform(transformed, even, type, axis, norm)
        return transformed
    for axis in (axes,) if isinstance(axes, int) else axes:
        transformed = transform(transformed, even, type, axis, norm)
    return transformed


def dctn(x: Numbers, type: int = 2, s: None = None, axes: Any = None, norm: Any = None) -> Any:
    """``scipy.fft.dctn``."""
    need(s is None, "s of scipy.fft.dctn is not supported")
    return over(x, True, type, axes, norm)


def idctn(x: Numbers, type: int = 2, s: None = None, axes: Any = None, norm: Any = None) -> Any:
    """``scipy.fft.idctn``."""
    need(s is None, "s of scipy.fft.idctn is not supported")
    return over(x, True, inverse(type), axes, swapped(norm))


def dstn(x: Numbers, type: int = 2, s: None = None, axes: Any = None, norm: Any = None) -> Any:
    """``scipy.fft.dstn``."""
    need(s is None, "s of scipy.fft.dstn is not supported")
    return over(x, False, type, axes, norm)


def idstn(x: Numbers, type: int = 2, s: None = None, axes: Any = None, norm: Any = None) -> Any:
    """``scipy.fft.idstn``."""
    need(s is None, "s of scipy.fft.idstn is not supported")
    return over(x, False, inverse(type), axes, swapped(norm))


COSINES = {said.__name__: said for said in (dct, idct, dst, idst, dctn, idctn, dstn, idstn)}
