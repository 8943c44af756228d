"""Chemistry: Lennard-Jones energy with a shifted cutoff, periodic box and neighbour list."""

import math

import numpy as np


def minimum_image(d, box):
    return d - box * np.round(d / box)


def build_neighbours(positions, box, radius):
    n = len(positions)
    neighbours = [[] for _ in range(n)]
    for i in range(n):
        for j in range(i + 1, n):
            d = minimum_image(positions[i] - positions[j], box)
            if np.dot(d, d) < radius**2:
                neighbours[i].append(j)
    return neighbours


def pair_energy(r2, epsilon, sigma):
    s6 = (sigma * sigma / r2) ** 3
    return 4 * epsilon * (s6 * s6 - s6)


class LennardJones:
    def __init__(self, epsilon=1.0, sigma=1.0, cutoff=2.5, skin=0.3):
        if cutoff <= 0 or skin < 0:
            raise ValueError(f"bad cutoff {cutoff} or skin {skin}")
        self.epsilon = epsilon
        self.sigma = sigma
        self.cutoff = cutoff
        self.skin = skin
        self.shift = pair_energy(cutoff**2, epsilon, sigma)

    def energy(self, positions, box):
        neighbours = build_neighbours(positions, box, self.cutoff + self.skin)
        total = 0.0
        pairs = 0
        for i, others in enumerate(neighbours):
            for j in others:
                d = minimum_image(positions[i] - positions[j], box)
                r2 = d @ d
                if r2 >= self.cutoff**2:
                    continue
                total += pair_energy(r2, self.epsilon, self.sigma) - self.shift
                pairs += 1
        if pairs == 0:
            return 0.0
        return total


def loss(positions, epsilon, sigma, box=6.0, restraint=0.05):
    if positions.ndim != 2 or positions.shape[1] != 3:
        raise ValueError(f"positions must be (n, 3), got {positions.shape}")
    model = LennardJones(epsilon, sigma, cutoff=2.5 * sigma)
    potential = model.energy(positions, box)
    centre = positions.mean(axis=0)
    spread = math.sqrt(sum(((p - centre) ** 2).sum() for p in positions) / len(positions))
    return potential + restraint * spread


WRT = ("positions", "epsilon", "sigma")


def arguments():
    rng = np.random.default_rng(4)
    grid = np.array([[i, j, k] for i in range(2) for j in range(2) for k in range(3)], dtype=float)
    return 1.25 * grid + 0.08 * rng.normal(size=grid.shape), 0.8, 1.05
