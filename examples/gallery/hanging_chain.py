"""
A hanging chain
===============

Springs and weights settle in the position of least energy. Newton's method solves for the
positions of all weights with Hessian-vector products only (``hvp``); the matrix is never built.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import symgrad


def energy(vector, ends, stiffness, weight, rest):
    places = np.concatenate((ends[:1], vector.reshape(-1, 2), ends[1:]))
    lengths = np.sqrt(np.sum((places[1:] - places[:-1]) ** 2, axis=1))
    return 0.5 * stiffness * np.sum((lengths - rest) ** 2) + weight * np.sum(places[:, 1])


# %%

ends = np.array([[0.0, 0.0], [1.0, 0.2]])
count, stiffness, weight = 30, 2000.0, 0.3
rest = 1.5 / (count + 1)
share = np.linspace(0.0, 1.0, count + 2)[1:-1, None]
start = ends[0] + share * (ends[1] - ends[0]) - np.array([0.0, 0.5]) * np.sin(np.pi * share)

arguments = (ends, stiffness, weight, rest)
function = symgrad.value_and_grad(energy)
product = symgrad.hvp(energy)


def times_hessian(x, v, *rest):
    return product(x, *rest, v=v)


best = minimize(
    function,
    start.ravel(),
    args=arguments,
    jac=True,
    hessp=times_hessian,
    method="trust-krylov",
    options={"gtol": 1e-8},
)
print(f"{best.nit} steps, largest force left {np.abs(best.jac).max():.1e}")

places = np.concatenate((ends[:1], best.x.reshape(-1, 2), ends[1:]))
figure, axis = plt.subplots(figsize=(7.0, 3.5), layout="constrained")
axis.plot(*np.concatenate((ends[:1], start, ends[1:])).T, ".-", color="lightgrey", label="start")
axis.plot(*places.T, ".-", label="at rest")
axis.set_aspect("equal")
axis.legend()
plt.show()

# %%
# At rest the forces on each weight add up to zero: the horizontal force is the same in all
# springs.

parts = places[1:] - places[:-1]
lengths = np.sqrt(np.sum(parts**2, axis=1))
pull = stiffness * (lengths - rest) * parts[:, 0] / lengths
assert np.ptp(pull) < 1e-6

print(function.source())
