"""Spectral densities of ``scipy.signal``: means of the spectra of stretches of the samples, each weighed by a window (Welch, 1967)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.ops.composed.filters import detrend as without_trend
from symgrad.ops.composed.refusing import Numbers, inexact, need
from symgrad.tables import named


def window_of(name: Any, size: Any) -> Any:
    """The weights of a window that has a name, as a vector."""
    return np.reshape(np.asarray(sys.modules["scipy.signal"].get_window(name, size), dtype=float), (-1,))


def spectra(x: Any, weights: Any, size: Any, step: Any, nfft: Any, detrend: Any) -> Any:
    """The spectrum of each stretch of the samples, without negative frequencies."""
    need(detrend in ("constant", "linear", False), "this detrend is not supported")
    count = (np.shape(x)[-1] - (size - step)) // step
    stretches = x[..., (np.arange(count) * step)[:, None] + np.arange(size)]
    return np.fft.rfft((without_trend(stretches, -1, detrend) if detrend else stretches) * weights, nfft)


def scales(weights: Any, fs: Any, nfft: Any, scaling: Any) -> Any:
    """The factor of the product of two spectra at each frequency, and the frequencies."""
    need(scaling == "density" or scaling == "spectrum", "scaling must be 'density' or 'spectrum'")
    total = fs * np.sum(weights * weights) if scaling == "density" else np.sum(weights) ** 2
    places = np.arange(nfft // 2 + 1)
    return np.where((places > 0) & (2 * places != nfft), 2.0, 1.0) / total, places * fs / nfft


def stretched(window: Any, nperseg: Any, noverlap: Any, length: Any) -> Any:
    """The weights of a stretch, its length, and the step to the next one."""
    is_named = isinstance(window, str | tuple)
    need(is_named or nperseg is not None, "a window of scipy.signal that is an array is supported with nperseg")
    size = min(256, length) if nperseg is None else min(nperseg, length)
    return window_of(window, size) if is_named else np.asarray(window), size, size - (size // 2 if noverlap is None else noverlap)


def welch(
    x: Numbers,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: Any = None,
    noverlap: Any = None,
    nfft: Any = None,
    detrend: Any = "constant",
    return_onesided: Any = True,
    scaling: Any = "density",
    axis: Any = -1,
    average: Any = "mean",
) -> Any:
    """``scipy.signal.welch`` of real samples: the mean of the powers of stretches that overlap."""
    need(return_onesided, "scipy.signal.welch is supported for one-sided spectra")
    need(average == "mean", "average of scipy.signal.welch is supported as 'mean'")
    moved = np.moveaxis(inexact(x), axis, -1)
    weights, size, step = stretched(window, nperseg, noverlap, np.shape(moved)[-1])
    spectrum = spectra(moved, weights, size, step, size if nfft is None else nfft, detrend)
    factors, places = scales(weights, fs, size if nfft is None else nfft, scaling)
    means = np.mean((np.real(spectrum) ** 2 + np.imag(spectrum) ** 2) * factors, axis=-2)
    return places, np.moveaxis(means.astype(np.float32) if moved.dtype == np.float32 else means, -1, axis)


def periodogram(
    x: Numbers,
    fs: Any = 1.0,
    window: Any = "boxcar",
    nfft: Any = None,
    detrend: Any = "constant",
    return_onesided: Any = True,
    scaling: Any = "density",
    axis: Any = -1,
) -> Any:
    """``scipy.signal.periodogram`` of real samples."""
    length = np.shape(x)[axis]
    need(nfft is None, "nfft of scipy.signal.periodogram is not supported")
    return welch(x, fs, window, length, 0, None, detrend, return_onesided, scaling, axis)


def lengthened(x: Any, length: Any) -> Any:
    """Zeros after the samples of the shorter one of two series."""
    return np.concatenate([x, np.zeros((*x.shape[:-1], max(length - x.shape[-1], 0)))], axis=-1)


def csd(
    x: Numbers,
    y: Numbers,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: Any = None,
    noverlap: Any = None,
    nfft: Any = None,
    detrend: Any = "constant",
    return_onesided: Any = True,
    scaling: Any = "density",
    axis: Any = -1,
    average: Any = "mean",
) -> Any:
    """``scipy.signal.csd`` of real samples: the mean of the products of the spectra; real if both series are the same array."""
    if x is y:
        return welch(x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average)
    need(return_onesided, "scipy.signal.csd is supported for one-sided spectra")
    need(average == "mean", "average of scipy.signal.csd is supported as 'mean'")
    first, second = np.moveaxis(inexact(x), axis, -1), np.moveaxis(inexact(y), axis, -1)
    length = max(first.shape[-1], second.shape[-1])
    if first.shape[-1] != second.shape[-1]:
        first, second = lengthened(first, length), lengthened(second, length)
    weights, size, step = stretched(window, nperseg, noverlap, length)
    count = size if nfft is None else nfft
    one, other = spectra(first, weights, size, step, count, detrend), spectra(second, weights, size, step, count, detrend)
    factors, places = scales(weights, fs, count, scaling)
    means = np.mean(np.conj(one) * other * factors, axis=-2)
    is_narrow = first.dtype == np.float32 and second.dtype == np.float32
    return places, np.moveaxis(means.astype(np.complex64) if is_narrow else means, -1, axis)


def coherence(
    x: Numbers,
    y: Numbers,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: Any = None,
    noverlap: Any = None,
    nfft: Any = None,
    detrend: Any = "constant",
    axis: Any = -1,
) -> Any:
    """``scipy.signal.coherence`` of real samples."""
    places, own = welch(x, fs, window, nperseg, noverlap, nfft, detrend, axis=axis)
    _, others = welch(y, fs, window, nperseg, noverlap, nfft, detrend, axis=axis)
    _, both = csd(x, y, fs, window, nperseg, noverlap, nfft, detrend, axis=axis)
    return places, np.abs(both) ** 2 / own / others


SPECTRA: dict[str, Callable[..., Any]] = named(welch, periodogram, csd, coherence)
