"""
Heat inversion
==============

A rod was heated at some point in the past. From noisy measurements of its temperature now, we
estimate its temperature at the start. The simulation updates its arrays in place, as many
simulations do; so does its gradient.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import symgrad


def diffuse(start, conductivity, steps):
    u = start.copy()
    for _ in range(steps):
        u[1:-1] += conductivity * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return u


def misfit(start, measured, conductivity, steps, smoothness):
    distance = diffuse(start, conductivity, steps) - measured
    return np.sum(distance**2) + smoothness * np.sum((start[1:] - start[:-1]) ** 2)


# %%
# The true temperature, and the measurements:

random = np.random.default_rng(3)
place = np.linspace(0.0, 1.0, 80)
truth = np.exp(-(((place - 0.3) / 0.06) ** 2)) + 0.6 * np.exp(-(((place - 0.7) / 0.1) ** 2))
measured = diffuse(truth, 0.25, 100) + 0.005 * random.normal(size=80)

# %%
# L-BFGS with the gradient:

arguments = (measured, 0.25, 100, 0.0005)
function = symgrad.value_and_grad(misfit)
estimate = minimize(function, measured, args=arguments, jac=True, method="L-BFGS-B").x

figure, axis = plt.subplots(figsize=(7.0, 3.5), layout="constrained")
axis.plot(place, truth, label="at the start")
axis.plot(place, measured, ".", markersize=3, label="measured later")
axis.plot(place, estimate, label="estimated")
axis.set_xlabel("place")
axis.set_ylabel("temperature")
axis.legend()
plt.show()

assert np.abs(estimate - truth).mean() < 0.5 * np.abs(measured - truth).mean()

# %%
# The second half of the gradient runs the simulation backwards. No state of the rod is saved,
# because the equation is linear:

print(function.source())
