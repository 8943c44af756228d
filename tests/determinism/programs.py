"""Programs that keep many arrays apart which may share memory: lists of arrays, loops that carry them, objects that hold them.

What is decided of such programs depends on many facts at once, so the order of those facts must be that of the program.
"""
# mypy: ignore-errors

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy import linalg


@dataclass(frozen=True, slots=True)
class Case:
    """A program, with respect to what it is differentiated, and arguments."""

    function: Callable[..., Any]
    wrt: Any
    arguments: Callable[[], tuple[Any, ...]]


CASES: list[Case] = []


def case(wrt: Any, arguments: Callable[[], tuple[Any, ...]]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter a program in the list."""

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        CASES.append(Case(function, wrt, arguments))
        return function

    return enter


def numbers(*shape: int) -> np.ndarray:
    """Numbers between 0.1 and 0.9 in no order."""
    return 0.1 + 0.8 * ((np.arange(np.prod(shape)) * 0.618034 + 0.2) % 1.0).reshape(shape)


# ------------------------------------------------------------------ estimation


def series() -> tuple[Any, ...]:
    observed = np.cumsum(numbers(5) - 0.5)[:, None]
    truth = observed[:, 0] * 0.9
    observed[2] = np.nan
    return np.array([1.0, 0.05, 0.3]), observed, truth


def forward_pass(transition, emission, process, noise, mean, spread, observed):
    means, spreads, ahead, ahead_spreads = [], [], [], []
    likelihood = 0.0
    for seen in observed:
        expected = transition @ mean
        expected_spread = transition @ spread @ transition.T + process
        if np.isnan(seen).any():
            mean, spread = expected, expected_spread
        else:
            error = seen - emission @ expected
            total = emission @ expected_spread @ emission.T + noise
            gain = expected_spread @ emission.T @ linalg.inv(total)
            mean = expected + gain @ error
            spread = (np.eye(len(mean)) - gain @ emission) @ expected_spread
            likelihood -= 0.5 * (error @ linalg.solve(total, error) + linalg.slogdet(total)[1])
        means.append(mean)
        spreads.append(spread)
        ahead.append(expected)
        ahead_spreads.append(expected_spread)
    return means, spreads, ahead, ahead_spreads, likelihood


@case("theta", series)
def smoother(theta, observed, truth):
    drift, noise, drag = theta
    transition = np.array([[1.0, 0.1], [0.0, 1.0 - 0.1 * drag]])
    process = drift * np.array([[0.01, 0.05], [0.05, 0.1]])
    emission = np.array([[1.0, 0.0]])
    means, spreads, ahead, ahead_spreads, likelihood = forward_pass(
        transition, emission, process, noise * np.eye(1), np.zeros(2), np.eye(2), observed
    )
    smooth = [None] * len(means)
    smooth[-1] = means[-1]
    for t in range(len(means) - 2, -1, -1):
        back = spreads[t] @ transition.T @ linalg.inv(ahead_spreads[t + 1])
        smooth[t] = means[t] + back @ (smooth[t + 1] - ahead[t + 1])
    return np.mean((np.stack(smooth)[:, 0] - truth) ** 2) - 0.01 * likelihood


@case("theta", series)
def filtered(theta, observed, truth):
    means, spreads, ahead, _, likelihood = forward_pass(
        np.array([[1.0, 0.1], [0.0, 1.0 - theta[2]]]), np.array([[1.0, 0.0]]), theta[0] * np.eye(2), theta[1] * np.eye(1),
        np.zeros(2), np.eye(2), observed
    )  # fmt: skip
    total = likelihood
    for mean, expected in zip(means, ahead):
        total += (mean - expected) @ (mean - expected)
    return total + spreads[-1][0, 0]


@case("x", lambda: (numbers(6), 5))
def four_histories(x, count):
    first, second, third, fourth = [], [], [], []
    a, b, c = x, x * 2.0, x + 1.0
    for k in range(count):
        if k % 2:
            a, b = b, a * 0.5
        else:
            c = a
        first.append(a)
        second.append(b)
        third.append(c)
        fourth.append(a + c)
    out = np.zeros(6)
    for p, q, r, s in zip(first, second, third, fourth):
        out = out + p * q - r * s
    return np.sum(out)


@case("x", lambda: (numbers(5), 4))
def swapped_states(x, count):
    old, new, kept = x.copy(), np.zeros(5), x.copy()
    for _ in range(count):
        new[1:] = old[:-1] * 0.5 + kept[1:]
        new[0] = old[-1]
        old, new = new, old
        if old[0] > 0.3:
            kept = old
        else:
            kept = new.copy()
    return np.sum(kept * old) + np.sum(new)


@case("x", lambda: (numbers(6), 6))
def several_that_may_be_one(x, count):
    a, b, c, d = x * 1.0, x * 2.0, x * 3.0, x * 4.0
    for k in range(count):
        if x[k] > 0.6:
            a, b, c, d = b, c, d, a
        elif x[k] > 0.4:
            a = c
        else:
            d = b
    return np.sum(a * b) + np.sum(c * d)


# ------------------------------------------------------------------ problems as objects


class Problem:
    """Objectives on a unit cube, the distance from the best surface in the last variables."""

    def __init__(self, variables, objectives):
        self.variables = variables
        self.objectives = objectives
        self.rest = variables - objectives + 1

    def distance(self, rest):
        return np.sum((rest - 0.5) ** 2, axis=1)

    def rugged(self, rest):
        return 100.0 * (self.rest + np.sum((rest - 0.5) ** 2 - np.cos(20.0 * np.pi * (rest - 0.5)), axis=1))

    def surface(self, angles, distance, power=1):
        columns = []
        for k in range(self.objectives):
            column = 1.0 + distance
            column *= np.prod(np.cos(angles[:, : angles.shape[1] - k] ** power * np.pi / 2.0), axis=1)
            if k > 0:
                column *= np.sin(angles[:, angles.shape[1] - k] ** power * np.pi / 2.0)
            columns.append(column)
        return np.column_stack(columns)


class Sphere(Problem):
    def evaluate(self, x, out, *args, **kwargs):
        angles, rest = x[:, : self.objectives - 1], x[:, self.objectives - 1 :]
        out["F"] = self.surface(angles, self.distance(rest))


class RuggedSphere(Problem):
    def evaluate(self, x, out, *args, **kwargs):
        angles, rest = x[:, : self.objectives - 1], x[:, self.objectives - 1 :]
        out["F"] = self.surface(angles, self.rugged(rest), power=2)


class Constrained:
    """Two objectives, and constraints whose coefficients follow from each other."""

    def __init__(self, constraints=2):
        self.left, self.right = [], []
        step = 1.0 / (constraints + 1)
        alpha, beta, at = 1.0, 1.0, step
        for k in range(constraints):
            beta = at * 0.5 * (k + 1.0)
            alpha = alpha * (1.0 - beta)
            at += step
            self.left.append(alpha)
            self.right.append(beta)

    def evaluate(self, x, out):
        first = x[:, 0]
        weight = np.sum(x[:, 1:], axis=1) + 1.0
        second = weight * np.exp(-first / weight)
        limits = []
        for a, b in zip(self.left, self.right):
            limits.append(a * np.exp(-b * first) - second)
        out["F"] = np.column_stack([first, second])
        out["G"] = np.column_stack(limits)


class Transformed:
    """Variables that are transformed several times, each time in groups, before the objectives are made of them."""

    def __init__(self, variables, objectives, positions):
        self.variables, self.objectives, self.positions = variables, objectives, positions
        self.weights = np.arange(2.0, 2.0 * variables + 1.0, 2.0)

    @staticmethod
    def shifted(y, at):
        return np.abs(y - at) / np.abs(np.floor(at - y) + at)

    @staticmethod
    def flat(y, level, low, high):
        result = level + np.minimum(0.0, np.floor(y - low)) * (level * (low - y) / low)
        result = result - np.minimum(0.0, np.floor(high - y)) * ((1.0 - level) * (y - high) / (1.0 - high))
        return np.clip(result, 0.0, 1.0)

    def grouped(self, y, weights):
        gap = self.positions // (self.objectives - 1)
        parts = []
        for m in range(1, self.objectives):
            own, held = y[:, (m - 1) * gap : m * gap], weights[(m - 1) * gap : m * gap]
            parts.append(np.dot(own, held) / np.sum(held))
        parts.append(np.dot(y[:, self.positions :], weights[self.positions :]) / np.sum(weights[self.positions :]))
        return np.column_stack(parts)

    def evaluate(self, x, out):
        y = x / np.arange(1.0, self.variables + 1.0)
        y[:, self.positions :] = self.shifted(y[:, self.positions :], 0.35)
        y[:, self.positions :] = self.flat(y[:, self.positions :], 0.8, 0.75, 0.85)
        y = y**0.02
        y = self.grouped(y, self.weights)
        columns = []
        for k in range(self.objectives - 1):
            columns.append(np.maximum(y[:, -1], 1.0) * (y[:, k] - 0.5) + 0.5)
        columns.append(y[:, -1])
        z = np.column_stack(columns)
        shapes = []
        for k in range(self.objectives):
            shape = np.ones(len(z))
            for j in range(self.objectives - 1 - k):
                shape *= 1.0 - np.cos(0.5 * np.pi * z[:, j])
            if k > 0:
                shape *= 1.0 - np.sin(0.5 * np.pi * z[:, self.objectives - 1 - k])
            shapes.append(z[:, -1] + 2.0 * (k + 1.0) * shape)
        out["F"] = np.column_stack(shapes)


def total(problem):
    def objective(x):
        out = {}
        problem.evaluate(x, out)
        return np.sum(out["F"])

    objective.__name__ = f"{type(problem).__name__.lower()}_total"
    return objective


for problem in (Sphere(6, 3), RuggedSphere(6, 3), Constrained(), Transformed(6, 3, 4)):
    case("x", lambda: (numbers(2, 6),))(total(problem))


# ------------------------------------------------------------------ layers and sweeps


@case("weights", lambda: ([numbers(3, 4), numbers(4, 4), numbers(4, 2)], numbers(5, 3)))
def layers(weights, inputs):
    kept = [inputs]
    for k, weight in enumerate(weights):
        value = kept[-1] @ weight
        if k < len(weights) - 1:
            value = np.maximum(value, 0.1)
        kept.append(value)
    norm = 0.0
    for value in kept[1:]:
        norm += np.sum(value**2)
    return np.sum(kept[-1]) + 0.1 * norm


@case("x", lambda: (numbers(4), numbers(4, 4)))
def stages(x, a):
    slopes = []
    y = x
    for _ in range(3):
        slopes = []
        for share in (0.0, 0.5, 0.5, 1.0):
            at = y
            if slopes:
                at = y + share * 0.1 * slopes[-1]
            slopes.append(a @ at - at**3)
        y = y + 0.1 / 6.0 * (slopes[0] + 2.0 * slopes[1] + 2.0 * slopes[2] + slopes[3])
    return np.sum(y * slopes[-1])


@case(("x", "y"), lambda: (numbers(4), numbers(4)))
def table(x, y):
    cost = np.zeros((5, 5))
    cost[0, 1:] = 9.0
    cost[1:, 0] = 9.0
    for i, j in itertools.product(range(1, 5), range(1, 5)):
        cost[i, j] = abs(x[i - 1] - y[j - 1]) + min(cost[i - 1, j], cost[i, j - 1], cost[i - 1, j - 1])
    return cost[4, 4]


@case("x", lambda: ([numbers(3), numbers(3), numbers(3)], 0.3))
def by_name(x, step):
    state = {"place": x[0], "speed": x[1], "force": x[2]}
    trace = []
    for k in range(4):
        if k == 2:
            state["force"] = state["place"]
        state["speed"] = state["speed"] + step * state["force"]
        state["place"] = state["place"] + step * state["speed"]
        trace.append(state["place"])
    return np.sum(np.stack(trace)) + np.sum(state["speed"] * state["force"])
