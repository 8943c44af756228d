"""Graphs: two graph convolution layers over an adjacency dict, semi-supervised cross-entropy."""

from collections import defaultdict

import numpy as np


class GCNLayer:
    def __init__(self, weight, bias, activation=None):
        self.weight = weight
        self.bias = bias
        self.activation = activation

    def __call__(self, features, adjacency):
        degree = {node: len(adjacency[node]) + 1 for node in adjacency}
        out = {}
        for node, others in adjacency.items():
            total = features[node] / degree[node]
            for other in others:
                total = total + features[other] / np.sqrt(degree[node] * degree[other])
            out[node] = total @ self.weight + self.bias
            if self.activation is not None:
                out[node] = self.activation(out[node])
        return out


def to_adjacency(edges):
    adjacency = defaultdict(list)
    for a, b in edges:
        if a == b:
            raise ValueError(f"self loop at {a!r}")
        adjacency[a].append(b)
        adjacency[b].append(a)
    return dict(adjacency)


def relu(x):
    return np.maximum(x, 0)


def cross_entropy(logits, label):
    shifted = logits - logits.max()
    return np.log(np.exp(shifted).sum()) - shifted[label]


def loss(params, edges, features, labels, weight_decay=1e-2):
    adjacency = to_adjacency(edges)
    missing = set(adjacency) - set(features)
    if missing:
        raise KeyError(f"nodes without features: {sorted(missing)}")
    layers = [GCNLayer(params["W1"], params["b1"], relu), GCNLayer(params["W2"], params["b2"])]
    h = features
    for layer in layers:
        h = layer(h, adjacency)
    losses = [cross_entropy(h[node], label) for node, label in labels.items() if node in h]
    decay = sum((W**2).sum() for name, W in params.items() if name.startswith("W"))
    return np.mean(losses) + 0.5 * weight_decay * decay


WRT = ("params",)


def arguments():
    rng = np.random.default_rng(21)
    people = ["ann", "bob", "cat", "dan", "eve", "fay"]
    edges = [("ann", "bob"), ("bob", "cat"), ("ann", "cat"), ("cat", "dan"), ("dan", "eve"), ("eve", "fay"), ("dan", "fay")]
    features = {p: rng.normal(size=4) for p in people}
    params = {"W1": rng.normal(size=(4, 5)), "b1": 0.1 * rng.normal(size=5), "W2": rng.normal(size=(5, 2)), "b2": np.zeros(2)}
    return params, edges, features, {"ann": 0, "fay": 1, "dan": 1}
