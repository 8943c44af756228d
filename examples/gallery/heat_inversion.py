"""
Heat, backwards
===============

A rod was heated somewhere, some time ago. From temperatures measured now, with noise, we estimate
those at the start. The simulation writes into its arrays, as such programs do; its gradient does
too.
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
# The truth, and what is measured of it:

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
# The simulation runs backwards in the second half. No state of the rod is kept, since the
# equation is linear:

print(function.source())
