"""
Option prices and their Greeks
==============================

The price of a European call by Black and Scholes (1973), and its sensitivities: first and second
derivatives of one plain function.
"""

import math

import matplotlib.pyplot as plt
import numpy as np

import symgrad


def normal(x):
    return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))


def price(spot, strike, rate, volatility, years):
    width = volatility * math.sqrt(years)
    d1 = (math.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / width
    return spot * normal(d1) - strike * math.exp(-rate * years) * normal(d1 - width)


# %%
# *Delta* is the derivative with respect to the share price, *gamma* the derivative of delta, *vega*
# the derivative with respect to the volatility.

delta = symgrad.grad(price, wrt="spot")
gamma = symgrad.grad(delta, wrt="spot")
vega = symgrad.grad(price, wrt="volatility")

market = (95.0, 0.03, 0.25, 0.75)
spots = np.linspace(60.0, 140.0, 81)
curves = {"price": price, "delta": delta, "gamma": gamma, "vega": vega}

figure, axes = plt.subplots(2, 2, figsize=(7.0, 5.0), sharex=True, layout="constrained")
for axis, (name, function) in zip(axes.flat, curves.items(), strict=True):
    axis.plot(spots, [function(spot, *market) for spot in spots])
    axis.axvline(market[0], color="grey", linewidth=0.8, linestyle="dashed")
    axis.set_title(name)
for axis in axes[1]:
    axis.set_xlabel("price of the share")
plt.show()

# %%
# In closed form, delta is the normal distribution function at ``d1``. The generated code computes
# the same value:

width = 0.25 * math.sqrt(0.75)
d1 = (math.log(100.0 / 95.0) + (0.03 + 0.5 * 0.25**2) * 0.75) / width
assert math.isclose(delta(100.0, *market), normal(d1), rel_tol=1e-12)

print(delta.source())
