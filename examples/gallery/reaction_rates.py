"""
Reaction rates and their uncertainty
====================================

In ``A -> B -> C`` only the amount of B is measured. The Jacobian of the residuals gives the two
rates by the Gauss-Newton method, and their confidence ellipse.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import least_squares

import symgrad


def amount(rates, t):
    """The amount of B at the times ``t``, if only A is present at first (Bateman 1910)."""
    fast, slow = rates
    return fast / (fast - slow) * (np.exp(-slow * t) - np.exp(-fast * t))


def residuals(rates, t, measured):
    return (amount(rates, t) - measured) / 0.02


# %%

random = np.random.default_rng(9)
t = np.linspace(0.2, 12.0, 25)
true_rates = np.array([0.9, 0.25])
measured = amount(true_rates, t) + 0.02 * random.normal(size=25)

jacobian = symgrad.jacobian(residuals)
fit = least_squares(residuals, np.array([1.5, 0.5]), jac=jacobian, args=(t, measured))
matrix = jacobian(fit.x, t, measured)
covariance = np.linalg.inv(matrix.T @ matrix)
print("rates", fit.x.round(3), "+-", np.sqrt(np.diag(covariance)).round(3))

# %%
# If the noise is normal, the ellipse contains the true rates with a probability of 95 %.

angle = np.linspace(0.0, 2.0 * np.pi, 200)
circle = np.array([np.cos(angle), np.sin(angle)])
ellipse = fit.x[:, None] + np.sqrt(5.99) * np.linalg.cholesky(covariance) @ circle

figure, axes = plt.subplots(1, 2, figsize=(7.0, 3.0), layout="constrained")
axes[0].plot(t, measured, ".", color="grey")
axes[0].plot(np.linspace(0.0, 12.0, 200), amount(fit.x, np.linspace(0.0, 12.0, 200)))
axes[0].set_xlabel("time")
axes[0].set_ylabel("amount of B")
axes[1].plot(*ellipse)
axes[1].plot(*fit.x, "o", label="estimated")
axes[1].plot(*true_rates, "x", label="true")
axes[1].set_xlabel("rate of A to B")
axes[1].set_ylabel("rate of B to C")
axes[1].legend()
plt.show()

assert np.all(np.abs(fit.x - true_rates) < 4.0 * np.sqrt(np.diag(covariance)))

# %%

print(jacobian.source())
