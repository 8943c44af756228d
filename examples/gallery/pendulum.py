"""
Swinging up a pendulum
======================

Which torque, at each moment, swings a hanging pendulum up to the upright position? The motor is
too weak to lift it directly. One backward run through the simulation computes the gradient with
respect to all hundred torques.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import symgrad


def swing(torques, step):
    """Angle and speed after each step; an angle of 0 is hanging."""
    angle, speed = 0.0, 0.0
    path = np.empty((len(torques), 2))
    for k in range(len(torques)):
        speed += step * (torques[k] - np.sin(angle) - 0.02 * speed)
        angle += step * speed
        path[k, 0] = angle
        path[k, 1] = speed
    return path


def effort(torques, step, price):
    path = swing(torques, step)
    angle, speed = path[-1]
    return (angle - np.pi) ** 2 + speed**2 + price * np.sum(torques**2) * step


# %%

step, limit = 0.12, 0.35
function = symgrad.value_and_grad(effort, jit="auto")
start = 0.1 * np.sin(np.arange(100) * step)
best = minimize(
    function,
    start,
    args=(step, 0.001),
    jac=True,
    method="L-BFGS-B",
    bounds=[(-limit, limit)] * 100,
    options={"maxiter": 500},
)
path = swing(best.x, step)
print(f"angle at the end {path[-1, 0]:.3f}, speed {path[-1, 1]:.3f}, calls {best.nfev}")

time = np.arange(100) * step
figure, axes = plt.subplots(2, 1, figsize=(7.0, 4.0), sharex=True, layout="constrained")
axes[0].plot(time, path[:, 0])
axes[0].axhline(np.pi, color="grey", linestyle="dashed")
axes[0].set_ylabel("angle")
axes[1].step(time, best.x)
axes[1].set_ylabel("torque")
axes[1].set_xlabel("time")
plt.show()

assert abs(path[-1, 0] - np.pi) < 0.1
assert abs(path[-1, 1]) < 0.1

# %%

print(symgrad.grad(effort).source(best.x, step, 0.001))
