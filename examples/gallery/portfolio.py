"""
Portfolios
==========

How much of each share to hold, for the least risk at a required return. Shares are positive and
add up to one. A softmax ensures this, so a method without constraints suffices.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import symgrad


def shares(scores):
    weights = np.exp(scores - np.max(scores))
    return weights / np.sum(weights)


def loss(scores, returns, covariance, caution):
    held = shares(scores)
    return 0.5 * caution * (held @ covariance @ held) - held @ returns


# %%
# Six kinds of shares, with fictitious yearly returns and risks:

random = np.random.default_rng(4)
returns = np.array([0.02, 0.04, 0.05, 0.07, 0.09, 0.12])
risk = np.array([0.03, 0.07, 0.10, 0.14, 0.20, 0.28])
mixed = random.normal(size=(6, 12))
covariance = np.cov(mixed)
covariance *= np.outer(risk, risk) / np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))

function = symgrad.value_and_grad(loss)
frontier = []
for caution in np.geomspace(0.5, 100.0, 25):
    scores = minimize(function, np.zeros(6), args=(returns, covariance, caution), jac=True).x
    held = shares(scores)
    frontier.append((np.sqrt(held @ covariance @ held), held @ returns, held))

figure, axes = plt.subplots(1, 2, figsize=(7.0, 3.2), layout="constrained")
axes[0].plot(risk, returns, "o", color="grey", label="single shares")
axes[0].plot([point[0] for point in frontier], [point[1] for point in frontier], label="mixtures")
axes[0].set_xlabel("risk")
axes[0].set_ylabel("return")
axes[0].legend()
axes[1].stackplot([point[1] for point in frontier], np.array([point[2] for point in frontier]).T)
axes[1].set_xlabel("return")
axes[1].set_ylabel("share of each")
plt.show()

# %%
# At the minimum, a small exchange between two held shares changes nothing: their marginal gains
# are equal.

caution = 5.0
arguments = (returns, covariance, caution)
held = shares(minimize(function, np.zeros(6), args=arguments, jac=True, tol=1e-10).x)
marginal = caution * covariance @ held - returns
print(np.round(marginal[held > 0.02], 5))
assert np.ptp(marginal[held > 0.02]) < 1e-4

print(function.source())
