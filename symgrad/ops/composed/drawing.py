"""Functions of ``random`` of numbers that carry a derivative: they draw what Python draws, and leave its generator as Python does.

Source: the formulas are those of Python's documentation; each variate is a function of one draw from ``random.random``, or a standard
normal one that is scaled.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any


def uniform(a: Any, b: Any) -> Any:
    """``random.uniform``."""
    return a + (b - a) * random.random()


def gauss(mu: Any = 0.0, sigma: Any = 1.0) -> Any:
    """``random.gauss``."""
    return mu + sigma * random.gauss(0.0, 1.0)


def normalvariate(mu: Any = 0.0, sigma: Any = 1.0) -> Any:
    """``random.normalvariate``."""
    return mu + sigma * random.normalvariate(0.0, 1.0)


def lognormvariate(mu: Any = 0.0, sigma: Any = 1.0) -> Any:
    """``random.lognormvariate``."""
    return math.exp(mu + sigma * random.normalvariate(0.0, 1.0))


def expovariate(lambd: Any = 1.0) -> Any:
    """``random.expovariate``."""
    return -math.log(1.0 - random.random()) / lambd


def weibullvariate(alpha: Any, beta: Any) -> Any:
    """``random.weibullvariate``."""
    return alpha * (-math.log(1.0 - random.random())) ** (1.0 / beta)


def paretovariate(alpha: Any) -> Any:
    """``random.paretovariate``."""
    return (1.0 - random.random()) ** (-1.0 / alpha)


def choice(seq: Any) -> Any:
    """``random.choice``."""
    if len(seq) == 0:
        raise IndexError("Cannot choose from an empty sequence")
    return seq[random.randrange(len(seq))]


def shuffle(x: Any) -> None:
    """``random.shuffle``."""
    for place in range(len(x) - 1, 0, -1):
        other = random.randrange(place + 1)
        x[place], x[other] = x[other], x[place]


#: functions of ``random`` by what says them where an argument is no constant
DRAWING: dict[Callable[..., Any], Callable[..., Any]] = {
    random.uniform: uniform, random.gauss: gauss, random.normalvariate: normalvariate, random.lognormvariate: lognormvariate,
    random.expovariate: expovariate, random.weibullvariate: weibullvariate, random.paretovariate: paretovariate, random.choice: choice,
    random.shuffle: shuffle,
}  # fmt: skip
