"""
A Kalman filter for the Nile
============================

The yearly flow of the Nile at Aswan from 1871 to 1970 (Cobb 1978) is modelled as a drifting level,
observed with noise. The variances of drift and noise maximise the likelihood, which a Kalman
filter computes step by step. Durbin and Koopman (2012) give 15099 and 1469.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import symgrad

DATA = Path("examples/data") if Path("examples/data").is_dir() else Path("../data")


def surprise(logarithms, flow):
    """The negative log-likelihood; the first year initialises the filter."""
    noise, drift = np.exp(logarithms)
    level, variance = flow[0], noise
    total = 0.0
    for y in flow[1:]:
        variance += drift
        spread = variance + noise
        innovation = y - level
        total += 0.5 * (np.log(2.0 * np.pi * spread) + innovation**2 / spread)
        gain = variance / spread
        level += gain * innovation
        variance -= gain * variance
    return total


def levels(noise, drift, flow):
    """The estimated level and its standard deviation, year by year."""
    level, variance = flow[0], noise
    rows = [(level, variance**0.5)]
    for y in flow[1:]:
        variance += drift
        gain = variance / (variance + noise)
        level += gain * (y - level)
        variance -= gain * variance
        rows.append((level, variance**0.5))
    return np.array(rows).T


# %%

year, flow = np.loadtxt(DATA / "nile.csv", delimiter=",", skiprows=3, unpack=True)
function = symgrad.value_and_grad(surprise, jit="auto")
best = minimize(function, np.log([10000.0, 1000.0]), args=(flow,), jac=True, method="BFGS")
noise, drift = np.exp(best.x)
print(f"variance of the noise {noise:.0f}, of the drift {drift:.0f}")

level, deviation = levels(noise, drift, flow)
figure, axis = plt.subplots(figsize=(7.0, 3.5), layout="constrained")
axis.plot(year, flow, ".", color="grey", label="measured")
axis.plot(year, level, label="level")
axis.fill_between(year, level - 2 * deviation, level + 2 * deviation, alpha=0.2)
axis.set_ylabel("flow, 100 million cubic metres")
axis.legend()
plt.show()

assert abs(noise - 15099) < 20
assert abs(drift - 1469) < 10

# %%
# Uncertainty of the two variances: the inverse of the Hessian is their covariance.

print(np.sqrt(np.diag(np.linalg.inv(symgrad.hessian(surprise)(best.x, flow)))).round(3))
print(symgrad.grad(surprise).source(best.x, flow))
