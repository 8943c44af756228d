"""Audio: Karplus-Strong plucked strings mixed into a short phrase, compared with a recording."""

from collections import deque
from functools import lru_cache

import numpy as np

NOTES = {"C": 0, "D": 2, "E": 4, "F": 5, "G": 7, "A": 9, "B": 11}


@lru_cache(maxsize=32)
def frequency(note):
    name, octave = note[:-1], int(note[-1])
    semitone = NOTES[name[0]] + name.count("#") - name.count("b")
    return 440.0 * 2 ** ((semitone - 9) / 12 + octave - 4)


def excitation(period, brightness, seed=0):
    noise = np.random.RandomState(seed).uniform(-1, 1, period)
    smooth = noise.copy()
    for i in range(1, period):
        smooth[i] = brightness * noise[i] + (1 - brightness) * smooth[i - 1]
    return smooth


def pluck(note, duration, damping, blend, brightness, rate):
    period = int(round(rate / frequency(note)))
    if period < 2:
        raise ValueError(f"{note} is too high for a rate of {rate} Hz")
    buffer = deque(excitation(period, brightness), maxlen=period)
    samples = []
    for _ in range(duration):
        first = buffer[0]
        second = buffer[1]
        samples.append(first)
        buffer.append(damping * (blend * first + (1 - blend) * second))
    return np.array(samples)


def loss(damping, brightness, gains, phrase, recording, blend=0.5, rate=4000):
    if not 0.0 < damping <= 1.0:
        raise ValueError(f"damping must be in (0, 1], got {damping}")
    mix = np.zeros(len(recording))
    for (start, note), gain in zip(phrase, gains):
        end = min(start + 60, len(mix))
        mix[start:end] += gain * pluck(note, end - start, damping, blend, brightness, rate)
    residual = mix - recording
    energy = np.sqrt(np.mean(recording**2))
    return float(np.mean(residual**2) / energy)


WRT = ("damping", "brightness", "gains", "blend")


def arguments():
    rng = np.random.default_rng(9)
    recording = np.exp(-np.arange(120) / 80) * np.sin(np.arange(120) * 0.9) + 0.05 * rng.normal(size=120)
    return 0.98, 0.6, [0.7, 0.5, 0.6], [(0, "A4"), (30, "C#5"), (70, "E5")], recording, 0.45
