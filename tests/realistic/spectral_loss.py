"""Audio: multi-resolution spectral loss of an additive synthesiser."""

import logging
from dataclasses import dataclass

import numpy as np

logger = logging.getLogger(__name__)


@dataclass
class Config:
    rate: int = 8000
    fft_sizes: tuple = (32, 64)
    overlap: float = 0.5
    eps: float = 1e-4


def hann(n):
    return 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(n) / n)


def stft_magnitude(signal, size, overlap):
    hop = int(size * (1 - overlap))
    if hop < 1:
        raise ValueError(f"overlap {overlap} leaves no hop for size {size}")
    window = hann(size)
    frames = []
    start = 0
    while start + size <= len(signal):
        frames.append(np.abs(np.fft.rfft(window * signal[start : start + size])))
        start += hop
    return np.stack(frames)


def synthesise(f0, amplitudes, decay, n, rate):
    t = np.arange(n) / rate
    out = np.zeros(n)
    for k, a in enumerate(amplitudes, 1):
        if k * f0 > rate / 2:
            logger.warning("harmonic %d is above Nyquist", k)
            break
        out += a * np.sin(2 * np.pi * k * f0 * t) * np.exp(-decay * k * t)
    return out


def loss(f0, amplitudes, decay, target, config=None):
    config = config or Config()
    signal = synthesise(f0, amplitudes, decay, len(target), config.rate)
    total = 0.0
    for size in config.fft_sizes:
        if size > len(target):
            raise ValueError(f"FFT size {size} exceeds {len(target)} samples")
        S = stft_magnitude(signal, size, config.overlap)
        T = stft_magnitude(target, size, config.overlap)
        convergence = np.linalg.norm(S - T) / np.linalg.norm(T)
        log_term = np.abs(np.log(S + config.eps) - np.log(T + config.eps)).mean()
        total += convergence + log_term
    return total / len(config.fft_sizes)


WRT = ("f0", "amplitudes", "decay")


def arguments():
    t = np.arange(160) / 8000
    target = np.sin(2 * np.pi * 450 * t) * np.exp(-20 * t) + 0.4 * np.sin(2 * np.pi * 910 * t) + 0.05 * np.cos(3000 * t)
    return 440.0, np.array([0.9, 0.3, 0.1, 0.05]), 15.0, target
