"""Statistics: negative log marginal likelihood of Gaussian process regression with a sum of kernels."""

import numpy as np


class Kernel:
    def __add__(self, other):
        return Sum(self, other)

    def matrix(self, X, Z):
        K = np.empty((len(X), len(Z)))
        for i, x in enumerate(X):
            for j, z in enumerate(Z):
                K[i, j] = self(x, z)
        return K


class RBF(Kernel):
    def __init__(self, variance, lengthscales):
        self.variance = variance
        self.lengthscales = lengthscales

    def __call__(self, x, z):
        d = (x - z) / self.lengthscales
        return self.variance * np.exp(-0.5 * np.dot(d, d))


class Periodic(Kernel):
    def __init__(self, variance, period, scale=1.0):
        self.variance, self.period, self.scale = variance, period, scale

    def __call__(self, x, z):
        s = np.sin(np.pi * np.abs(x[0] - z[0]) / self.period)
        return self.variance * np.exp(-2 * s**2 / self.scale**2)


class Sum(Kernel):
    def __init__(self, left, right):
        self.left, self.right = left, right

    def __call__(self, x, z):
        return self.left(x, z) + self.right(x, z)


def stable_cholesky(K, jitter=1e-8, tries=4):
    for attempt in range(tries):
        try:
            return np.linalg.cholesky(K + jitter * 10**attempt * np.eye(len(K)))
        except np.linalg.LinAlgError:
            print(f"Cholesky failed, attempt {attempt + 1}")
    raise ValueError("matrix is not positive definite")


def loss(log_params, X, y, mean=0.0):
    if X.shape[0] != y.shape[0]:
        raise ValueError(f"{X.shape[0]} inputs, {y.shape[0]} targets")
    d = X.shape[1]
    variance, period_variance, period, noise = np.exp(log_params[:4])
    lengthscales = np.exp(log_params[4 : 4 + d])
    kernel = RBF(variance, lengthscales) + Periodic(period_variance, period)
    K = kernel.matrix(X, X)
    K[np.diag_indices(len(X))] += noise
    L = stable_cholesky(K)
    alpha = np.linalg.solve(L.T, np.linalg.solve(L, y - mean))
    return 0.5 * (y - mean) @ alpha + np.log(np.diagonal(L)).sum() + 0.5 * len(X) * np.log(2 * np.pi)


WRT = ("log_params", "mean")


def arguments():
    rng = np.random.default_rng(6)
    X = rng.uniform(-2, 2, (12, 2))
    y = np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] + 0.1 * rng.normal(size=12)
    return np.array([0.1, -0.5, 0.4, -2.0, 0.0, 0.3]), X, y, 0.1
