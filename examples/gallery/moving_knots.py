"""
A curve with moving knots
=========================

A piecewise linear curve is fitted to noisy data: its heights *and* the positions of its knots. The
function looks up the interval of each point with ``np.searchsorted``. The gradient passes through
the interpolation, but not through the choice of the interval.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import symgrad


def broken_line(p, x):
    """The curve with heights ``p["y"]`` over knots that divide [0, 1] in the proportions ``exp(p["gaps"])``."""
    parts = np.exp(p["gaps"])
    knots = np.concatenate((np.zeros(1), np.cumsum(parts) / np.sum(parts)))
    k = np.clip(np.searchsorted(knots, x) - 1, 0, len(parts) - 1)
    share = (x - knots[k]) / (knots[k + 1] - knots[k])
    return (1.0 - share) * p["y"][k] + share * p["y"][k + 1]


def loss(vector, x, y, count):
    p = {"gaps": vector[:count], "y": vector[count:]}
    return np.mean((broken_line(p, x) - y) ** 2) + 1e-5 * np.sum(vector[:count] ** 2)


# %%

random = np.random.default_rng(6)
x = np.sort(random.uniform(size=250))
truth = np.interp(x, [0.0, 0.15, 0.3, 0.75, 0.8, 1.0], [0.0, 1.0, 0.2, 0.4, -0.6, -0.5])
y = truth + 0.05 * random.normal(size=250)

count = 5
start = np.concatenate((np.zeros(count), np.interp(np.linspace(0.0, 1.0, count + 1), x, y)))
function = symgrad.value_and_grad(loss)
best = minimize(function, start, args=(x, y, count), jac=True, method="BFGS").x

figure, axis = plt.subplots(figsize=(7.0, 3.5), layout="constrained")
axis.plot(x, y, ".", color="grey", markersize=3)
for vector, name in ((start, "equal knots"), (best, "fitted knots")):
    axis.plot(x, broken_line({"gaps": vector[:count], "y": vector[count:]}, x), label=name)
axis.legend()
plt.show()

estimate = broken_line({"gaps": best[:count], "y": best[count:]}, x)
assert np.mean((estimate - truth) ** 2) < 0.001

# %%

print(function.source())
