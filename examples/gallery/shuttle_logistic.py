"""
A logistic regression and its uncertainty
=========================================

Damage to O-rings on 23 flights of the Space Shuttle, by temperature (Dalal, Fowlkes and Hoadley
1989). Newton's method with gradient and Hessian finds the maximum-likelihood curve; the Hessian
also gives its uncertainty.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import symgrad

DATA = Path("examples/data") if Path("examples/data").is_dir() else Path("../data")


def surprise(weights, temperature, damaged):
    score = weights[0] + weights[1] * (temperature - 70.0)
    return np.sum(np.logaddexp(0.0, score) - damaged * score)


# %%

temperature, damaged = np.loadtxt(DATA / "challenger.csv", delimiter=",", skiprows=5, unpack=True)
gradient, hessian = symgrad.grad(surprise), symgrad.hessian(surprise)
weights = np.zeros(2)
for step in range(8):
    slope = gradient(weights, temperature, damaged)
    weights = weights - np.linalg.solve(hessian(weights, temperature, damaged), slope)
    print(f"step {step + 1}: deviance {2.0 * surprise(weights, temperature, damaged):.6f}")
assert np.abs(gradient(weights, temperature, damaged)).max() < 1e-10

# %%
# The band is two standard deviations of the score on each side.

covariance = np.linalg.inv(hessian(weights, temperature, damaged))
grid = np.linspace(30.0, 85.0, 111)
rows = np.stack([np.ones_like(grid), grid - 70.0], axis=1)
score, deviation = rows @ weights, np.sqrt(np.einsum("ij,jk,ik->i", rows, covariance, rows))

figure, axis = plt.subplots(figsize=(7.0, 3.5), layout="constrained")
axis.plot(temperature, damaged, "o", color="grey", label="flights")
axis.plot(grid, 1.0 / (1.0 + np.exp(-score)), label="probability of damage")
axis.fill_between(
    grid,
    1.0 / (1.0 + np.exp(2 * deviation - score)),
    1.0 / (1.0 + np.exp(-2 * deviation - score)),
    alpha=0.2,
)
axis.axvline(31.0, color="C3", linestyle="dashed", label="28 January 1986")
axis.set_xlabel("temperature in degrees Fahrenheit")
axis.legend()
plt.show()

# %%

print(gradient.source())
