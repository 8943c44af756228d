"""Machine learning: a small network trained by Adam; validation loss as a function of hyperparameters."""

from dataclasses import dataclass

import numpy as np


@dataclass
class Hyper:
    learning_rate: float = 0.05
    beta1: float = 0.9
    beta2: float = 0.999
    weight_decay: float = 1e-3
    epochs: int = 4


class Dense:
    def __init__(self, W, b, activation="tanh"):
        self.W = W
        self.b = b
        self.activation = activation

    def forward(self, x):
        self.x = x
        z = x @ self.W + self.b
        if self.activation == "tanh":
            self.out = np.tanh(z)
        elif self.activation == "linear":
            self.out = z
        else:
            raise ValueError(f"unknown activation {self.activation!r}")
        return self.out

    def backward(self, grad):
        if self.activation == "tanh":
            grad = grad * (1 - self.out**2)
        self.dW = self.x.T @ grad
        self.db = grad.sum(axis=0)
        return grad @ self.W.T


class Adam:
    def __init__(self, hyper, eps=1e-6):
        self.hyper = hyper
        self.eps = eps
        self.t = 0
        self.m, self.v = {}, {}

    def update(self, key, value, grad):
        h = self.hyper
        m = h.beta1 * self.m.get(key, 0.0) + (1 - h.beta1) * grad
        v = h.beta2 * self.v.get(key, 0.0) + (1 - h.beta2) * grad**2
        self.m[key], self.v[key] = m, v
        m_hat = m / (1 - h.beta1**self.t)
        v_hat = v / (1 - h.beta2**self.t)
        return value - h.learning_rate * (m_hat / (np.sqrt(v_hat) + self.eps) + h.weight_decay * value)


def loss(weights, hyper, train, valid):
    (x, y), (xv, yv) = train, valid
    if x.shape[1] != weights[0][0].shape[0]:
        raise ValueError(f"{x.shape[1]} features, first layer takes {weights[0][0].shape[0]}")
    last = len(weights) - 1
    layers = [Dense(W, b, "linear" if i == last else "tanh") for i, (W, b) in enumerate(weights)]
    optimizer = Adam(hyper)
    for epoch in range(hyper.epochs):
        out = x
        for layer in layers:
            out = layer.forward(out)
        grad = 2 * (out - y) / len(x)
        for layer in reversed(layers):
            grad = layer.backward(grad)
        optimizer.t += 1
        for i, layer in enumerate(layers):
            layer.W = optimizer.update((i, "W"), layer.W, layer.dW)
            layer.b = optimizer.update((i, "b"), layer.b, layer.db)
        print(f"epoch {epoch + 1}: {np.mean((out - y) ** 2):.4f}")
    out = xv
    for layer in layers:
        out = layer.forward(out)
    return np.mean((out - yv) ** 2)


WRT = ("weights", "hyper")


def arguments():
    rng = np.random.default_rng(17)
    sizes = [2, 5, 1]
    weights = [(0.6 * rng.normal(size=(a, b)), 0.1 * rng.normal(size=b)) for a, b in zip(sizes, sizes[1:])]
    x, xv = rng.normal(size=(16, 2)), rng.normal(size=(6, 2))
    return weights, Hyper(), (x, np.sin(x[:, :1])), (xv, np.sin(xv[:, :1]))
