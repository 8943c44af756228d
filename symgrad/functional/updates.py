"""Steps of optimisers, as NumPy functions: new values of a parameter and of its state."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from symgrad.functional.tensors import Tensor


def sgd(parameter: Tensor, gradient: Tensor, rate: Tensor) -> Tensor:
    """A step down the gradient."""
    return parameter - rate * gradient


def momentum(parameter: Tensor, gradient: Tensor, rate: Tensor, velocity: Tensor, mu: float = 0.9, nesterov: bool = False) -> Tensor:
    """A step with momentum (Polyak 1964; Nesterov's form looks ahead): parameter, velocity."""
    velocity = mu * velocity + gradient
    if nesterov:
        return parameter - rate * (gradient + mu * velocity), velocity
    return parameter - rate * velocity, velocity


def adam(
    parameter: Tensor,
    gradient: Tensor,
    rate: Tensor,
    first: Tensor,
    second: Tensor,
    power1: Tensor,
    power2: Tensor,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
) -> Tensor:
    """Adam (Kingma and Ba 2015, algorithm 1): parameter, both moments, and the powers of both betas."""
    power1 = power1 * beta1
    power2 = power2 * beta2
    first = beta1 * first + (1 - beta1) * gradient
    second = beta2 * second + (1 - beta2) * gradient * gradient
    step = rate * (first / (1 - power1)) / (np.sqrt(second / (1 - power2)) + epsilon)
    return parameter - step, first, second, power1, power2


def adamw(
    parameter: Tensor,
    gradient: Tensor,
    rate: Tensor,
    first: Tensor,
    second: Tensor,
    power1: Tensor,
    power2: Tensor,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
    decay: float = 0.01,
) -> Tensor:
    """Adam with decay of the parameter itself (Loshchilov and Hutter 2019, algorithm 2)."""
    return adam(parameter * (1 - rate * decay), gradient, rate, first, second, power1, power2, beta1, beta2, epsilon)


def rmsprop(
    parameter: Tensor,
    gradient: Tensor,
    rate: Tensor,
    square: Tensor,
    velocity: Tensor,
    rho: float = 0.95,
    epsilon: float = 1e-6,
    mu: float = 0.0,
) -> Tensor:
    """RMSProp (Hinton 2012, lecture 6e): parameter, mean square, velocity."""
    square = rho * square + (1 - rho) * gradient * gradient
    velocity = mu * velocity + rate * gradient / np.sqrt(square + epsilon)
    return parameter - velocity, square, velocity


def rmsprop_centered(
    parameter: Tensor,
    gradient: Tensor,
    rate: Tensor,
    square: Tensor,
    velocity: Tensor,
    mean: Tensor,
    rho: float = 0.95,
    epsilon: float = 1e-6,
    mu: float = 0.0,
) -> Tensor:
    """RMSProp with the variance instead of the mean square: parameter, mean square, velocity, mean."""
    square = rho * square + (1 - rho) * gradient * gradient
    mean = rho * mean + (1 - rho) * gradient
    velocity = mu * velocity + rate * gradient / np.sqrt(square - mean * mean + epsilon)
    return parameter - velocity, square, velocity, mean


def adagrad(parameter: Tensor, gradient: Tensor, rate: Tensor, total: Tensor, epsilon: float = 1e-6) -> Tensor:
    """AdaGrad (Duchi et al. 2011): parameter, sum of squares."""
    total = total + gradient * gradient
    return parameter - rate * gradient / (np.sqrt(total) + epsilon), total


def lbfgs(gradient: Tensor, steps: Sequence[Tensor], changes: Sequence[Tensor]) -> Tensor:
    """The direction of L-BFGS (Nocedal 1980; Nocedal and Wright 2006, algorithm 7.4), of vectors.

    ``steps`` are the latest steps, oldest first, and ``changes`` those of the gradient, whose products with the steps are positive.
    """
    direction = -gradient
    shares = []
    for step, change in zip(reversed(steps), reversed(changes)):
        share = np.dot(step, direction) / np.dot(step, change)
        direction = direction - share * change
        shares.append(share)
    if steps:
        direction = direction * (np.dot(steps[-1], changes[-1]) / np.dot(changes[-1], changes[-1]))
    for step, change, share in zip(steps, changes, reversed(shares)):
        direction = direction + step * (share - np.dot(change, direction) / np.dot(step, change))
    return direction


#: the state of a parameter, by function: names, initial values, and whether each is one number
MEMORY: dict[str, tuple[tuple[str, float, bool], ...]] = {
    "sgd": (),
    "momentum": (("velocity", 0.0, False),),
    "adam": (("moment1", 0.0, False), ("moment2", 0.0, False), ("beta1_pow_acc", 1.0, True), ("beta2_pow_acc", 1.0, True)),
    "rmsprop": (("mean_square", 0.0, False), ("momentum", 0.0, False)),
    "rmsprop_centered": (("mean_square", 0.0, False), ("momentum", 0.0, False), ("mean_grad", 0.0, False)),
    "adagrad": (("moment", 0.0, False),),
}
MEMORY["adamw"] = MEMORY["adam"]

# ------------------------------------------------------------------ preparation of gradients


def with_l2(gradient: Tensor, parameter: Tensor, coefficient: float = 0.0) -> Tensor:
    """With the gradient of ``coefficient / 2 * sum(parameter ** 2)`` added."""
    return gradient + coefficient * parameter


def with_l1(gradient: Tensor, parameter: Tensor, coefficient: float = 0.0) -> Tensor:
    """With the gradient of ``coefficient * sum(|parameter|)`` added."""
    return gradient + coefficient * np.sign(parameter)


def clipped_by_norm(gradient: Tensor, limit: float = 1.0) -> Tensor:
    """Scaled down to a norm, where it is larger."""
    norm = np.sqrt(np.sum(gradient * gradient))
    return gradient * (limit / np.maximum(norm, limit))


def sum_of_squares(*gradients: Tensor) -> Tensor:
    """The square of the norm of several gradients together."""
    total = 0.0
    for gradient in gradients:
        total = total + np.sum(gradient * gradient)
    return total


def clipped_by_total(gradient: Tensor, total: Tensor, limit: float = 1.0) -> Tensor:
    """Scaled down as all together have to be, where the square of their norm is ``total``."""
    return gradient * (limit / np.maximum(np.sqrt(total), limit))
