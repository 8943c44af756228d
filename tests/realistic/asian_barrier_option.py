"""Finance: Monte Carlo price of an arithmetic Asian call that is knocked out above a barrier."""

import logging
import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Option:
    strike: float
    barrier: float
    maturity: float = 1.0
    rebate: float = 0.5


@dataclass
class MonteCarlo:
    paths: int = 40
    steps: int = 12
    seed: int = 7
    antithetic: bool = True


@lru_cache(maxsize=None)
def normal_draws(paths, steps, seed):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((paths, steps))


def simulate_path(spot, rate, sigma, dt, shocks, sign=1.0):
    prices = [spot]
    drift = (rate - 0.5 * sigma**2) * dt
    for z in shocks:
        prices.append(prices[-1] * math.exp(drift + sign * sigma * math.sqrt(dt) * z))
    return prices


def payoff(prices, option):
    """Rebate if the barrier was touched, Asian call otherwise."""
    for price in prices:
        if price >= option.barrier:
            return option.rebate
    average = sum(prices[1:]) / (len(prices) - 1)
    return max(average - option.strike, 0.0)


def loss(spot, rate, sigma, option, settings=None):
    if settings is None:
        settings = MonteCarlo()
    if sigma <= 0:
        raise ValueError(f"volatility must be positive, got {sigma:.4f}")
    if option.barrier <= option.strike:
        raise ValueError(f"barrier {option.barrier} is below strike {option.strike}")

    draws = normal_draws(settings.paths, settings.steps, settings.seed)
    dt = option.maturity / settings.steps
    signs = (1.0, -1.0) if settings.antithetic else (1.0,)
    total, count = 0.0, 0
    for i, shocks in enumerate(draws):
        for sign in signs:
            total += payoff(simulate_path(spot, rate, sigma, dt, shocks, sign), option)
            count += 1
        if (i + 1) % 20 == 0:
            log.debug("%d paths, running price %.4f", i + 1, total / count)
    return math.exp(-rate * option.maturity) * total / count


WRT = ("spot", "rate", "sigma")


def arguments():
    return 100.0, 0.03, 0.2, Option(strike=98.0, barrier=125.0)
