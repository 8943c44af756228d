"""Statistics: log-likelihood of a Gaussian mixture with full covariances, with a weak prior."""

import math

import numpy as np


def log_gaussian(x, mean, chol):
    """Log-density of a normal distribution with Cholesky factor ``chol``."""
    d = len(mean)
    z = np.linalg.solve(chol, x - mean)
    return -0.5 * (z @ z) - np.sum(np.log(np.diag(chol))) - 0.5 * d * math.log(2 * math.pi)


def logsumexp(values):
    top = max(values)
    return top + math.log(sum(math.exp(v - top) for v in values))


def cholesky_factor(raw, d):
    L = np.zeros((d, d))
    k = 0
    for i in range(d):
        for j in range(i + 1):
            L[i, j] = math.exp(raw[k]) if i == j else raw[k]
            k += 1
    return L


def loss(params, data, prior_strength=0.1):
    logits, means, raws = params["logits"], params["means"], params["raws"]
    n_components = len(logits)
    if not (len(means) == len(raws) == n_components):
        raise ValueError(f"inconsistent components: {n_components}, {len(means)}, {len(raws)}")
    n, d = data.shape
    if raws[0].shape != (d * (d + 1) // 2,):
        raise ValueError(f"need {d * (d + 1) // 2} entries per factor, got {raws[0].shape}")

    normaliser = logsumexp(logits)
    log_weights = [logit - normaliser for logit in logits]
    factors = [cholesky_factor(raw, d) for raw in raws]
    total = 0.0
    for x in data:
        terms = [w + log_gaussian(x, m, L) for w, m, L in zip(log_weights, means, factors)]
        total += logsumexp(terms)
    prior = prior_strength * sum(np.sum(m**2) for m in means)
    return -(total / n) + prior


WRT = ("params",)


def arguments():
    rng = np.random.default_rng(12)
    data = np.vstack([rng.normal(-1, 0.6, (10, 2)), rng.normal(1.5, 0.8, (12, 2))])
    params = {
        "logits": np.array([0.1, -0.2, 0.3]),
        "means": [np.array([-1.0, -0.8]), np.array([1.2, 1.0]), np.array([0.1, 0.2])],
        "raws": [np.array([-0.3, 0.1, -0.2]), np.array([0.1, -0.1, 0.0]), np.array([0.2, 0.3, 0.1])],
    }
    return params, data
