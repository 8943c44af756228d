"""Audio: Schroeder reverb with comb and allpass filters on circular buffers."""

import numpy as np


class Comb:
    def __init__(self, delay, feedback, damping):
        self.buffer = np.zeros(delay)
        self.index = 0
        self.feedback = feedback
        self.damping = damping
        self.store = 0.0

    def process(self, x):
        y = self.buffer[self.index]
        self.store = y * (1 - self.damping) + self.store * self.damping
        self.buffer[self.index] = x + self.store * self.feedback
        self.index = (self.index + 1) % len(self.buffer)
        return y


class Allpass:
    def __init__(self, delay, gain=0.5):
        self.buffer = [0.0] * delay
        self.index = 0
        self.gain = gain

    def process(self, x):
        buffered = self.buffer[self.index]
        y = -x + buffered
        self.buffer[self.index] = x + buffered * self.gain
        self.index += 1
        if self.index >= len(self.buffer):
            self.index = 0
        return y


def energy_decay(impulse):
    energy = np.cumsum(impulse[::-1] ** 2)[::-1]
    return 10 * np.log10(energy / energy[0] + 1e-12)


def loss(feedback, damping, wet, signal):
    combs = [Comb(d, feedback, damping) for d in (11, 13, 17)]
    allpasses = [Allpass(5), Allpass(7, 0.6)]
    out = np.zeros(len(signal))
    for n in range(len(signal)):
        acc = 0.0
        for c in combs:
            acc += c.process(signal[n])
        for a in allpasses:
            acc = a.process(acc)
        out[n] = wet * acc / len(combs) + (1 - wet) * signal[n]
    edc = energy_decay(out)
    below = np.where(edc < -20)[0]
    t20 = below[0] if below.size else len(signal)
    return np.mean((edc - np.linspace(0, -40, len(edc))) ** 2) * 1e-2 + 1e-3 * t20


WRT = ("feedback", "damping", "wet", "signal")


def arguments():
    s = np.zeros(80)
    s[0] = 1.0
    s[3] = 0.4
    return 0.7, 0.2, 0.35, s
