"""Functions of ``random`` whose parameters carry a derivative: the same draws, and the same state of the generator, as in Python.

Source: the formulas are those of Python's documentation; each variate is a function of one draw from ``random.random``, or a standard
normal one that is scaled.
"""

from __future__ import annotations

import bisect
import math
import random
from collections.abc import Callable
from typing import Any

from symgrad.ops.composed.refusing import need
from symgrad.tables import counterparts


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


def triangular(low: Any = 0.0, high: Any = 1.0, mode: Any = None) -> Any:
    """``random.triangular``."""
    u = random.random()
    if mode is None:
        c = 0.5
    elif high == low:
        return low
    else:
        c = (mode - low) / (high - low)
    if u > c:
        u = 1.0 - u
        c = 1.0 - c
        low, high = high, low
    return low + (high - low) * math.sqrt(u * c)


def sample(population: Any, k: Any, *, counts: Any = None) -> Any:
    """``random.sample``: from a shrinking pool, or, for large populations, by redrawing duplicates."""
    need(counts is None, "counts of random.sample are not supported with numbers that carry a derivative")
    n = len(population)
    if k < 0 or k > n:
        raise ValueError("Sample larger than population or is negative")
    most = 21 if k <= 5 else 21 + 4 ** math.ceil(math.log(k * 3, 4))
    places: list[int] = []
    if n <= most:
        pool = list(range(n))
        for i in range(k):
            j = random.randrange(n - i)
            places.append(pool[j])
            pool[j] = pool[n - i - 1]
    else:
        for _ in range(k):
            j = random.randrange(n)
            while j in places:
                j = random.randrange(n)
            places.append(j)
    return [population[place] for place in places]


def choices(population: Any, weights: Any = None, *, cum_weights: Any = None, k: Any = 1) -> Any:
    """``random.choices``."""
    n = len(population)
    if weights is None and cum_weights is None:
        return [population[math.floor(random.random() * n)] for _ in range(k)]
    sums = list(cum_weights) if weights is None else running_sums(weights)
    if len(sums) != n:
        raise ValueError("The number of weights does not match the population")
    total = sums[-1] + 0.0
    if total <= 0.0:
        raise ValueError("Total of weights must be greater than zero")
    return [population[min(bisect.bisect_right(sums, random.random() * total), n - 1)] for _ in range(k)]


def running_sums(weights: Any) -> Any:
    """The sums of the first weights."""
    sums = []
    total = 0
    for weight in weights:
        total = total + weight
        sums.append(total)
    return sums


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


#: functions of ``random``, with their compositions for arguments that are not constant
DRAWING: dict[Callable[..., Any], Callable[..., Any]] = counterparts(
    random, uniform, gauss, normalvariate, lognormvariate, expovariate, weibullvariate, paretovariate, choice, shuffle
) | counterparts(random, triangular, sample, choices)
