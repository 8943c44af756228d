"""Graphs: length of the shortest path through a grid of costs, by dynamic programming, hard or softened."""

import math

import numpy as np

INF = float("inf")


def neighbours(i, j):
    for di, dj in ((-1, 0), (0, -1), (-1, -1)):
        if i + di >= 0 and j + dj >= 0:
            yield i + di, j + dj


def soft_minimum(values, temperature):
    if temperature == 0:
        return min(values)
    low = min(values)
    return low - temperature * math.log(sum(math.exp((low - v) / temperature) for v in values))


def distances(cost, temperature, walls=()):
    rows, cols = cost.shape
    best = np.full((rows, cols), INF)
    best[0, 0] = cost[0, 0]
    for i in range(rows):
        for j in range(cols):
            if (i, j) == (0, 0) or (i, j) in walls:
                continue
            incoming = []
            for a, b in neighbours(i, j):
                step = math.sqrt(2) if a != i and b != j else 1.0
                if best[a, b] < INF:
                    incoming.append(best[a, b] + step * cost[i, j])
            if incoming:
                best[i, j] = soft_minimum(incoming, temperature)
    return best


def trace_back(best):
    i, j = best.shape[0] - 1, best.shape[1] - 1
    path = [(i, j)]
    while (i, j) != (0, 0):
        i, j = min(neighbours(i, j), key=lambda p: best[p])
        path.append((i, j))
    return path[::-1]


def loss(log_cost, temperature, walls, demonstration):
    if temperature < 0:
        raise ValueError(f"negative temperature {temperature}")
    cost = np.exp(log_cost)
    best = distances(cost, temperature, walls)
    total = best[-1, -1]
    if math.isinf(total):
        raise ValueError(f"no way around the walls {sorted(walls)}")
    shown = sum(cost[p] for p in demonstration)
    overlap = len(set(trace_back(best)) & set(demonstration)) / len(demonstration)
    return shown - total + 0.1 * (1 - overlap)


WRT = ("log_cost", "temperature")


def arguments():
    rng = np.random.default_rng(14)
    walls = frozenset({(1, 1), (2, 3), (3, 1)})
    demonstration = [(0, 0), (0, 1), (1, 2), (2, 2), (3, 3), (4, 4)]
    return 0.5 * rng.normal(size=(5, 5)), 0.3, walls, demonstration
