"""Transforms of ``scipy.fft`` and ``scipy.signal``, expressed by NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.ops.composed.refusing import Numbers, need
from symgrad.tables import named


def fft(x: Numbers, n: Any = None, axis: Any = -1, norm: Any = None, overwrite_x: Any = False, workers: Any = None) -> Any:
    """``scipy.fft.fft``."""
    return np.fft.fft(x, n, axis, norm)


def ifft(x: Numbers, n: Any = None, axis: Any = -1, norm: Any = None, overwrite_x: Any = False, workers: Any = None) -> Any:
    """``scipy.fft.ifft``."""
    return np.fft.ifft(x, n, axis, norm)


def rfft(x: Numbers, n: Any = None, axis: Any = -1, norm: Any = None, overwrite_x: Any = False, workers: Any = None) -> Any:
    """``scipy.fft.rfft``."""
    return np.fft.rfft(x, n, axis, norm)


def irfft(x: Numbers, n: Any = None, axis: Any = -1, norm: Any = None, overwrite_x: Any = False, workers: Any = None) -> Any:
    """``scipy.fft.irfft``."""
    return np.fft.irfft(x, n, axis, norm)


def hfft(x: Numbers, n: Any = None, axis: Any = -1, norm: Any = None, overwrite_x: Any = False, workers: Any = None) -> Any:
    """``scipy.fft.hfft``."""
    return np.fft.hfft(x, n, axis, norm)


def ihfft(x: Numbers, n: Any = None, axis: Any = -1, norm: Any = None, overwrite_x: Any = False, workers: Any = None) -> Any:
    """``scipy.fft.ihfft``."""
    return np.fft.ihfft(x, n, axis, norm)


def fft2(x: Numbers, s: Any = None, axes: Any = (-2, -1), norm: Any = None, overwrite_x: Any = False, workers: Any = None) -> Any:
    """``scipy.fft.fft2``."""
    return np.fft.fft2(x, s, axes, norm)


def fftn(x: Numbers, s: Any = None, axes: Any = None, norm: Any = None, overwrite_x: Any = False, workers: Any = None) -> Any:
    """``scipy.fft.fftn``."""
    return np.fft.fftn(x, s, axes, norm)


def ifft2(x: Numbers, s: Any = None, axes: Any = (-2, -1), norm: Any = None, overwrite_x: Any = False, workers: Any = None) -> Any:
    """``scipy.fft.ifft2``."""
    return np.fft.ifft2(x, s, axes, norm)


def ifftn(x: Numbers, s: Any = None, axes: Any = None, norm: Any = None, overwrite_x: Any = False, workers: Any = None) -> Any:
    """``scipy.fft.ifftn``."""
    return np.fft.ifftn(x, s, axes, norm)


def rfft2(x: Numbers, s: Any = None, axes: Any = (-2, -1), norm: Any = None, overwrite_x: Any = False, workers: Any = None) -> Any:
    """``scipy.fft.rfft2``."""
    return np.fft.rfft2(x, s, axes, norm)


def rfftn(x: Numbers, s: Any = None, axes: Any = None, norm: Any = None, overwrite_x: Any = False, workers: Any = None) -> Any:
    """``scipy.fft.rfftn``."""
    return np.fft.rfftn(x, s, axes, norm)


def irfft2(x: Numbers, s: Any = None, axes: Any = (-2, -1), norm: Any = None, overwrite_x: Any = False, workers: Any = None) -> Any:
    """``scipy.fft.irfft2``."""
    return np.fft.irfft2(x, s, axes, norm)


def irfftn(x: Numbers, s: Any = None, axes: Any = None, norm: Any = None, overwrite_x: Any = False, workers: Any = None) -> Any:
    """``scipy.fft.irfftn``."""
    return np.fft.irfftn(x, s, axes, norm)


def fftshift(x: Numbers, axes: Any = None) -> Any:
    """``scipy.fft.fftshift``."""
    return np.fft.fftshift(x, axes)


def ifftshift(x: Numbers, axes: Any = None) -> Any:
    """``scipy.fft.ifftshift``."""
    return np.fft.ifftshift(x, axes)


def fftfreq(n: Any, d: Any = 1.0) -> Any:
    """``scipy.fft.fftfreq``."""
    return np.fft.fftfreq(n, d)


def rfftfreq(n: Any, d: Any = 1.0) -> Any:
    """``scipy.fft.rfftfreq``."""
    return np.fft.rfftfreq(n, d)


def hilbert(x: Numbers, N: Any = None, axis: Any = -1) -> Any:
    """``scipy.signal.hilbert``: without negative frequencies, the positive ones twice."""
    need(axis == -1 or axis == np.ndim(x) - 1, "scipy.signal.hilbert is supported along the last axis")
    count = x.shape[-1] if N is None else N
    weights = np.zeros(count)
    weights[0] = 1.0
    weights[1 : (count + 1) // 2] = 2.0
    if count % 2 == 0:
        weights[count // 2] = 1.0
    return np.fft.ifft(np.fft.fft(x, count) * weights)


FFT = named(fft, ifft, rfft, irfft, hfft, ihfft, fft2, ifft2, rfft2, irfft2, fftn, ifftn, rfftn, irfftn) | named(
    fftshift, ifftshift, fftfreq, rfftfreq
)
