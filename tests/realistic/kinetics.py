"""Chemistry: fit of rate constants of a reaction network, integrated by Runge-Kutta."""

from dataclasses import dataclass
from typing import Dict, List

import numpy as np


@dataclass
class Reaction:
    reactants: Dict[str, int]
    products: Dict[str, int]
    name: str = ""


class Network:
    def __init__(self, species: List[str], reactions: List[Reaction]):
        self.species = species
        self.index = {s: i for i, s in enumerate(species)}
        self.reactions = reactions
        for r in reactions:
            for s in list(r.reactants) + list(r.products):
                if s not in self.index:
                    raise KeyError(f"unknown species {s!r} in reaction {r.name!r}")

    def rates(self, concentrations, k):
        dcdt = np.zeros_like(concentrations)
        for constant, reaction in zip(k, self.reactions):
            speed = constant
            for s, order in reaction.reactants.items():
                speed = speed * concentrations[self.index[s]] ** order
            for s, order in reaction.reactants.items():
                dcdt[self.index[s]] -= order * speed
            for s, order in reaction.products.items():
                dcdt[self.index[s]] += order * speed
        return dcdt


def rk4(f, y, h):
    k1 = f(y)
    k2 = f(y + h / 2 * k1)
    k3 = f(y + h / 2 * k2)
    k4 = f(y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def loss(log_k, initial, network, times, measured, substeps=2):
    if len(times) != len(measured):
        raise ValueError(f"{len(times)} times for {len(measured)} measurements")
    k = np.exp(log_k)
    y = np.array([initial.get(s, 0.0) for s in network.species])
    error, t = 0.0, 0.0
    for time, observed in zip(times, measured):
        h = (time - t) / substeps
        for _ in range(substeps):
            y = rk4(lambda c: network.rates(c, k), y, h)
        t = time
        if np.any(y < -1e-6):
            print(f"negative concentration at t={t:.2f}")
            return 1e6
        error += np.sum((y - observed) ** 2)
    return error


WRT = ("log_k", "initial")


def arguments():
    network = Network(
        ["A", "B", "C", "D"],
        [
            Reaction({"A": 1, "B": 1}, {"C": 1}, "forward"),
            Reaction({"C": 1}, {"A": 1, "B": 1}, "backward"),
            Reaction({"C": 2}, {"D": 1}, "dimer"),
        ],
    )
    times = [0.25, 0.5, 1.0, 1.5]
    measured = np.array([[0.8, 0.6, 0.17, 0.01], [0.7, 0.5, 0.25, 0.03], [0.6, 0.4, 0.3, 0.06], [0.55, 0.33, 0.3, 0.1]])
    return np.log([1.2, 0.3, 0.5]), {"A": 1.0, "B": 0.8}, network, times, measured
