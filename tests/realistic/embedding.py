"""Graphs: t-SNE like embedding with neighbours, adaptive bandwidth by bisection."""

import numpy as np


def pairwise(X):
    n = X.shape[0]
    D = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1, n):
            D[i, j] = D[j, i] = np.sum((X[i] - X[j]) ** 2)
    return D


def affinities(D, perplexity, steps=25):
    n = len(D)
    P = np.zeros_like(D)
    target = np.log(perplexity)
    for i in range(n):
        lo, hi, beta = 0.0, np.inf, 1.0
        others = np.delete(np.arange(n), i)
        d = D[i, others]
        for _ in range(steps):
            p = np.exp(-d * beta)
            s = p.sum()
            h = np.log(s) + beta * (d * p).sum() / s
            if abs(h - target) < 1e-5:
                break
            if h > target:
                lo = beta
                beta = beta * 2 if hi == np.inf else (beta + hi) / 2
            else:
                hi = beta
                beta = (beta + lo) / 2
        P[i, others] = p / s
    return (P + P.T) / (2 * n)


def loss(Y, X, perplexity=3.0):
    P = affinities(pairwise(X), perplexity)
    num = 1 / (1 + pairwise(Y))
    np.fill_diagonal(num, 0.0)
    Q = num / num.sum()
    mask = ~np.eye(len(Y), dtype=bool)
    return np.sum(P[mask] * np.log((P[mask] + 1e-12) / (Q[mask] + 1e-12)))


WRT = ("Y",)


def arguments():
    r = np.random.default_rng(7)
    return r.normal(size=(8, 2)), r.normal(size=(8, 4))
