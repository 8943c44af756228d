"""Run-time support: cotangents of Fourier transforms. Needs only NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np


def resized(x: Any, sizes: Any, axes: Any) -> Any:
    """``x`` cut off, or followed by zeros, to these sizes along these axes.

    >>> resized(np.array([1.0, 2.0, 3.0]), (2,), (0,)), resized(np.ones(2), (3,), (0,))
    (array([1., 2.]), array([1., 1., 0.]))
    """
    for size, axis in zip(sizes, axes, strict=True):
        if x.shape[axis] > size:
            x = x[(slice(None),) * (axis % x.ndim) + (slice(size),)]
        elif x.shape[axis] < size:
            x = np.pad(x, [(0, size - x.shape[axis] if k == axis % x.ndim else 0) for k in range(x.ndim)])
    return x


def inner(x: Any, axis: int, count: int) -> Any:
    """Select the coefficients of conjugate pairs: all but the first, and the middle one of an even ``count``."""
    return (slice(None),) * (axis % x.ndim) + (slice(1, (count + 1) // 2),)


def norm_of_inverse(norm: Any) -> Any:
    """The norm with which the inverse transform has the same factor."""
    return {"forward": None, "ortho": "ortho"}.get(norm, "forward")


def fourier_back(g: Any, shape: tuple[int, ...], sizes: tuple[int, ...], kind: str, axes: tuple[int, ...], norm: Any) -> Any:
    """The cotangent of the operand, of this shape, of the transform ``kind``, which cut it to ``sizes`` if there are any.

    A transform of complex numbers is a symmetric matrix. That of real numbers leaves out the coefficients that are conjugates
    of others; so the real part counts, and in the inverse each coefficient counts twice except the first and the middle one.

    >>> fourier_back(np.array([1.0, 0.0, 0.0]), (4,), (), "rfft", (0,), None)
    array([1., 1., 1., 1.])
    """
    other = norm_of_inverse(norm)
    extents = [shape[axis] for axis in axes]
    if kind in ("hfft", "ihfft"):  # of the conjugate, and the conjugate, with the other norm
        if kind == "ihfft":
            return fourier_back(np.conj(g), shape, sizes, "rfft", axes, other)
        return np.conj(fourier_back(g, shape, sizes, "irfft", axes, other))
    if kind in ("rfft", "rfftn"):
        cotangent = np.conj(np.fft.fftn(g, axes=axes[:-1], norm=norm) if axes[:-1] else g)
        count = (sizes or extents)[-1]
        cotangent[inner(cotangent, axes[-1], count)] *= 0.5
        cotangent = np.fft.irfft(cotangent, count, axes[-1], other)
    elif kind in ("irfft", "irfftn"):
        cotangent = np.conj(np.fft.rfft(g, axis=axes[-1], norm=other))
        cotangent[inner(cotangent, axes[-1], g.shape[axes[-1]])] *= 2
        cotangent = np.fft.ifftn(cotangent, axes=axes[:-1], norm=norm) if axes[:-1] else cotangent
    else:
        cotangent = getattr(np.fft, "ifftn" if kind[0] == "i" else "fftn")(g, axes=axes, norm=norm)
    cotangent = resized(cotangent, extents, axes)
    return cotangent if cotangent.flags.owndata and cotangent.flags.writeable else cotangent.copy()
