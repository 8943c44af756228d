"""
Three bodies in a figure of eight
=================================

Three equal masses can follow each other for ever on a figure of eight (Chenciner and Montgomery
2000). We seek the initial velocities with which they return to their initial positions after one
period, by differentiating the simulation of that period.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import symgrad


def accelerations(places):
    out = np.zeros_like(places)
    for i in range(3):
        for j in range(3):
            if i != j:
                away = places[j] - places[i]
                out[i] += away / np.sum(away * away) ** 1.5
    return out


def travel(speed, places, period, steps):
    """Positions and velocities of the bodies after each step (velocity Verlet)."""
    places = places.copy()
    motion = np.empty((3, 2))
    motion[0] = speed
    motion[1] = speed
    motion[2] = -2.0 * speed
    start = motion.copy()
    path = np.empty((steps, 3, 2))
    step = period / steps
    pull = accelerations(places)
    for k in range(steps):
        motion += 0.5 * step * pull
        places += step * motion
        pull = accelerations(places)
        motion += 0.5 * step * pull
        path[k] = places
    return path, motion - start


def gap(speed, places, period, steps):
    path, change = travel(speed, places, period, steps)
    return np.sum((path[-1] - places) ** 2) + np.sum(change**2)


# %%

places = np.array([[-0.97000436, 0.24308753], [0.97000436, -0.24308753], [0.0, 0.0]])
period, steps = 6.32591398, 600
function = symgrad.value_and_grad(gap, jit="auto")
guess = np.array([0.43, 0.50])
rest = (places, period, steps)
best = minimize(function, guess, args=rest, jac=True, method="BFGS", options={"gtol": 1e-9})
print("speeds", best.x.round(4), "gap", f"{gap(guess, *rest):.3f} -> {best.fun:.1e}")

figure, axes = plt.subplots(1, 2, figsize=(7.0, 2.8), sharey=True, layout="constrained")
for axis, speed, title in zip(axes, (guess, best.x), ("guess", "found"), strict=True):
    path, _ = travel(speed, places, period, steps)
    for body in range(3):
        axis.plot(path[:, body, 0], path[:, body, 1], linewidth=1.0)
        axis.plot(*path[-1, body], "o", color=f"C{body}")
    axis.set_aspect("equal")
    axis.set_title(title)
plt.show()

assert np.allclose(np.abs(best.x), [0.4662, 0.4324], atol=2e-3)

# %%
# numba compiles a loop over numbers:

print(function.source())
