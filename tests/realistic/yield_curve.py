"""Finance: bootstrap a discount curve from deposits and par swaps, then price a bond portfolio with it."""

import math
from collections import namedtuple

import numpy as np

Bond = namedtuple("Bond", ["coupon", "maturity", "market_price"])


class Curve:
    def __init__(self):
        self.times = [0.0]
        self.factors = [1.0]

    def add(self, time, factor):
        if time <= self.times[-1]:
            raise ValueError(f"nodes must be added in order: {time} after {self.times[-1]}")
        self.times.append(time)
        self.factors.append(factor)

    def discount(self, t):
        """Log-linear interpolation, flat forward beyond the last node."""
        if t == 0:
            return 1.0
        k = 1
        while k < len(self.times) - 1 and self.times[k] < t:
            k += 1
        t0, t1 = self.times[k - 1], self.times[k]
        w = (t - t0) / (t1 - t0)
        return math.exp((1 - w) * math.log(self.factors[k - 1]) + w * math.log(self.factors[k]))


def bootstrap(deposit_rates, swap_rates):
    curve = Curve()
    for tenor, rate in deposit_rates.items():
        curve.add(tenor, 1.0 / (1.0 + rate * tenor))
    annuity = curve.discount(1.0)
    for year, rate in enumerate(swap_rates, start=2):
        factor = (1.0 - rate * annuity) / (1.0 + rate)
        annuity += factor
        curve.add(float(year), factor)
    return curve


def present_value(bond, curve):
    payment_times = np.arange(bond.maturity, 0, -1.0)[::-1]
    value = sum(bond.coupon * curve.discount(t) for t in payment_times)
    return value + 100.0 * curve.discount(bond.maturity)


def loss(swap_rates, deposit_rates, bonds, verbose=False):
    if len(swap_rates) < 2:
        raise ValueError(f"at least two swaps are needed, got {len(swap_rates)}")
    curve = bootstrap(deposit_rates, swap_rates)
    error = 0.0
    for bond in bonds:
        model = present_value(bond, curve)
        if verbose:
            print(f"{bond.maturity:4.1f}y {model:9.4f} {bond.market_price:9.4f}")
        error += (model - bond.market_price) ** 2
    return error / len(bonds)


WRT = ("swap_rates", "deposit_rates")


def arguments():
    swaps = np.array([0.021, 0.0235, 0.025, 0.0262, 0.027])
    deposits = {0.25: 0.015, 0.5: 0.0165, 1.0: 0.018}
    bonds = [Bond(3.0, 2.5, 101.3), Bond(2.0, 4.0, 97.9), Bond(4.5, 5.5, 108.8)]
    return swaps, deposits, bonds
