"""Audio: cascade of biquad equaliser sections; how far the filtered signal is from a target."""

import math
from dataclasses import dataclass

import numpy as np

SAMPLE_RATE = 8000


@dataclass
class Band:
    kind: str
    frequency: float
    gain: float = 0.0
    q: float = 0.707


def design(band, rate=SAMPLE_RATE):
    """Coefficients of the audio EQ cookbook."""
    if not 0 < band.frequency < rate / 2:
        raise ValueError(f"frequency {band.frequency} Hz is outside 0..{rate / 2:.0f} Hz")
    w0 = 2 * math.pi * band.frequency / rate
    alpha = math.sin(w0) / (2 * band.q)
    cosw = math.cos(w0)
    if band.kind == "lowpass":
        b = [(1 - cosw) / 2, 1 - cosw, (1 - cosw) / 2]
        a = [1 + alpha, -2 * cosw, 1 - alpha]
    elif band.kind == "highpass":
        b = [(1 + cosw) / 2, -(1 + cosw), (1 + cosw) / 2]
        a = [1 + alpha, -2 * cosw, 1 - alpha]
    elif band.kind == "peak":
        A = 10 ** (band.gain / 40)
        b = [1 + alpha * A, -2 * cosw, 1 - alpha * A]
        a = [1 + alpha / A, -2 * cosw, 1 - alpha / A]
    else:
        raise ValueError(f"unknown filter {band.kind!r}")
    return [v / a[0] for v in b], [v / a[0] for v in a]


class Biquad:
    def __init__(self, b, a):
        self.b0, self.b1, self.b2 = b
        _, self.a1, self.a2 = a
        self.z1 = self.z2 = 0.0

    def tick(self, x):
        y = self.b0 * x + self.z1
        self.z1 = self.b1 * x - self.a1 * y + self.z2
        self.z2 = self.b2 * x - self.a2 * y
        return y


def process(signal, filters):
    out = np.zeros_like(signal)
    for n, x in enumerate(signal):
        for f in filters:
            x = f.tick(x)
        out[n] = x
    return out


def loss(bands, signal, target):
    filters = [Biquad(*design(band)) for band in bands]
    out = process(signal, filters)
    peak = np.max(np.abs(out))
    if peak > 1.0:
        print(f"clipping: peak {20 * math.log10(peak):.2f} dB")
    return np.mean((out - target) ** 2) / np.mean(target**2)


WRT = ("bands", "signal")


def arguments():
    n = np.arange(64)
    signal = 0.5 * np.sin(0.2 * n) + 0.3 * np.sin(1.1 * n)
    target = 0.5 * np.sin(0.2 * n - 0.1)
    return [Band("lowpass", 1200.0), Band("peak", 500.0, gain=3.0, q=1.2), Band("highpass", 40.0)], signal, target
