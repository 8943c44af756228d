"""Finance: negative log-likelihood of a GARCH(1,1) model with an asymmetric (GJR) term."""

import warnings

import numpy as np

DEFAULTS = {"burn_in": 5, "floor": 1e-8, "verbose": False}


def unpack(theta):
    mu, omega, alpha, gamma, beta = theta
    return mu, np.exp(omega), alpha, gamma, beta


def conditional_variances(residuals, omega, alpha, gamma, beta, floor):
    n = len(residuals)
    variances = np.empty(n)
    variances[0] = np.var(residuals)
    for t in range(1, n):
        shock = residuals[t - 1]
        leverage = gamma if shock < 0 else 0.0
        variances[t] = omega + (alpha + leverage) * shock**2 + beta * variances[t - 1]
        if variances[t] < floor:
            variances[t] = floor
    return variances


def loss(theta, returns, **options):
    settings = {**DEFAULTS, **options}
    returns = np.asarray(returns, dtype=float)
    if returns.ndim != 1:
        raise ValueError(f"returns must be one-dimensional, not {returns.ndim}-dimensional")
    if len(theta) != 5:
        raise ValueError(f"expected 5 parameters (mu, omega, alpha, gamma, beta), got {len(theta)}")

    mu, omega, alpha, gamma, beta = unpack(theta)
    persistence = alpha + gamma / 2 + beta
    if persistence >= 1:
        warnings.warn(f"the process is not stationary: persistence {persistence:.3f}")
        return 1e10
    residuals = returns - mu
    variances = conditional_variances(residuals, omega, alpha, gamma, beta, settings["floor"])
    burn = settings["burn_in"]
    log_likelihood = -0.5 * (np.log(2 * np.pi) + np.log(variances) + residuals**2 / variances)
    result = -log_likelihood[burn:].sum()
    if settings["verbose"]:
        print(f"nll={result:.6f} persistence={persistence:.4f}")
    return result


WRT = ("theta",)


def arguments():
    rng = np.random.default_rng(3)
    returns = 0.01 * rng.standard_t(6, size=120)
    return np.array([0.0004, -10.5, 0.06, 0.05, 0.86]), returns
