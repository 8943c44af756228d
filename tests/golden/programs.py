"""Well-known programs as one would write them with NumPy, whose gradients stand as text in ``emitted``."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


def gmm(alphas, means, inverse, x, gamma):
    """Log likelihood of a mixture of Gaussians with a Wishart prior; ``inverse`` holds Cholesky factors of the precisions."""
    count = x.shape[0]
    terms = np.empty((count, alphas.shape[0]))
    squares = 0.0
    for k in range(alphas.shape[0]):
        logs = np.diag(inverse[k])
        factor = np.tril(inverse[k], -1) + np.diag(np.exp(logs))
        whitened = (x - means[k]) @ factor.T
        terms[:, k] = alphas[k] + np.sum(logs) - 0.5 * np.sum(whitened**2, axis=1)
        squares += 0.5 * gamma**2 * np.sum(factor**2) - np.sum(logs)
    largest = np.max(terms, axis=1)
    likelihood = np.sum(largest + np.log(np.sum(np.exp(terms - largest[:, None]), axis=1)))
    top = np.max(alphas)
    normalised = count * (top + np.log(np.sum(np.exp(alphas - top))))
    return likelihood - normalised - squares


def lstm(weights, bias, initial, inputs, targets):
    """Squared error of what one layer of long short-term memory predicts."""
    size = initial.shape[0]
    hidden = initial
    cell = np.zeros(size)
    loss = 0.0
    for t in range(inputs.shape[0]):
        gates = weights @ np.concatenate((inputs[t], hidden)) + bias
        forget = 1.0 / (1.0 + np.exp(-gates[:size]))
        ingate = 1.0 / (1.0 + np.exp(-gates[size : 2 * size]))
        outgate = 1.0 / (1.0 + np.exp(-gates[2 * size : 3 * size]))
        change = np.tanh(gates[3 * size :])
        cell = forget * cell + ingate * change
        hidden = outgate * np.tanh(cell)
        loss += np.sum((hidden - targets[t]) ** 2)
    return loss


def heat_3d(start, steps):
    """Energy after diffusion in a cube, two sweeps a step between two arrays."""
    A = start.copy()
    B = start.copy()
    for _ in range(steps):
        B[1:-1, 1:-1, 1:-1] = (
            0.125 * (A[2:, 1:-1, 1:-1] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[:-2, 1:-1, 1:-1])
            + 0.125 * (A[1:-1, 2:, 1:-1] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[1:-1, :-2, 1:-1])
            + 0.125 * (A[1:-1, 1:-1, 2:] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[1:-1, 1:-1, :-2])
            + A[1:-1, 1:-1, 1:-1]
        )
        A[1:-1, 1:-1, 1:-1] = (
            0.125 * (B[2:, 1:-1, 1:-1] - 2.0 * B[1:-1, 1:-1, 1:-1] + B[:-2, 1:-1, 1:-1])
            + 0.125 * (B[1:-1, 2:, 1:-1] - 2.0 * B[1:-1, 1:-1, 1:-1] + B[1:-1, :-2, 1:-1])
            + 0.125 * (B[1:-1, 1:-1, 2:] - 2.0 * B[1:-1, 1:-1, 1:-1] + B[1:-1, 1:-1, :-2])
            + B[1:-1, 1:-1, 1:-1]
        )
    return np.sum(A * A)


def vdp(x, v, stiffness, h, steps):
    """Where the oscillator of van der Pol is after steps of the midpoint rule."""
    for _ in range(steps):
        middle_x = x + 0.5 * h * v
        middle_v = v + 0.5 * h * (stiffness * (1.0 - x * x) * v - x)
        x = x + h * middle_v
        v = v + h * (stiffness * (1.0 - middle_x * middle_x) * middle_v - middle_x)
    return x * x + math.sin(v)


def kalman(motion, noise, seen, error, measurements):
    """Log likelihood of measurements of a linear system, filtered one after the other."""
    state = np.zeros(motion.shape[0])
    spread = np.eye(motion.shape[0])
    likelihood = 0.0
    for z in measurements:
        state = motion @ state
        spread = motion @ spread @ motion.T + noise
        surprise = z - seen @ state
        innovation = seen @ spread @ seen.T + error
        gain = np.linalg.solve(innovation, seen @ spread).T
        state = state + gain @ surprise
        spread = spread - gain @ seen @ spread
        likelihood -= 0.5 * (surprise @ np.linalg.solve(innovation, surprise) + np.log(np.linalg.det(innovation)))
    return likelihood


def lu(matrix):
    """Logarithm of the determinant by elimination in place, without pivots."""
    A = matrix.copy()
    n = A.shape[0]
    for k in range(n - 1):
        A[k + 1 :, k] /= A[k, k]
        A[k + 1 :, k + 1 :] -= np.outer(A[k + 1 :, k], A[k, k + 1 :])
    return np.sum(np.log(np.diag(A)))


def cholesky(matrix):
    """Sum of the Cholesky factor, column by column."""
    A = matrix.copy()
    n = A.shape[0]
    for j in range(n):
        for k in range(j):
            A[j:, j] -= A[j:, k] * A[j, k]
        A[j, j] = np.sqrt(A[j, j])
        A[j + 1 :, j] /= A[j, j]
    return np.sum(np.tril(A))


def yule_walker(correlations):
    """Squares of the coefficients of linear prediction, by the recursion of Levinson and Durbin."""
    order = correlations.shape[0] - 1
    coefficients = np.zeros(order)
    reflection = -correlations[1] / correlations[0]
    error = correlations[0]
    coefficients[0] = reflection
    for k in range(1, order):
        error *= 1.0 - reflection * reflection
        reflection = -(correlations[k + 1] + coefficients[:k] @ correlations[k:0:-1]) / error
        coefficients[:k] += reflection * coefficients[:k][::-1]
        coefficients[k] = reflection
    return np.sum(coefficients**2)


@dataclass(frozen=True, slots=True)
class Golden:
    """A program whose gradient stands in ``emitted``: with respect to what, and arguments."""

    function: Callable[..., Any]
    wrt: tuple[int, ...]
    arguments: Callable[[], tuple[Any, ...]]

    @property
    def name(self) -> str:
        return self.function.__name__


def drawn(*shape: int) -> np.ndarray:
    """Random numbers, the same each time."""
    return np.random.default_rng(3).standard_normal(shape)


def definite(n: int) -> np.ndarray:
    """A matrix that is symmetric and well positive."""
    half = drawn(n, n)
    return half @ half.T + n * np.eye(n)


GOLDEN = [
    Golden(gmm, (0, 1, 2), lambda: (drawn(3), drawn(3, 2), 0.3 * drawn(3, 2, 2), drawn(5, 2), 0.7)),
    Golden(lstm, (0, 1, 2), lambda: (0.4 * drawn(12, 5), drawn(12), drawn(3), drawn(4, 2), drawn(4, 3))),
    Golden(heat_3d, (0,), lambda: (drawn(5, 5, 5), 3)),
    Golden(vdp, (0, 1, 2), lambda: (1.2, -0.3, 1.5, 0.05, 12)),
    Golden(kalman, (0, 1, 3), lambda: (0.3 * drawn(3, 3), definite(3), drawn(2, 3), definite(2), drawn(4, 2))),
    Golden(lu, (0,), lambda: (definite(5),)),
    Golden(cholesky, (0,), lambda: (definite(5),)),
    Golden(yule_walker, (0,), lambda: (0.5 ** np.arange(6.0) + 0.1 * drawn(6) ** 2,)),
]
