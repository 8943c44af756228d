"""``python -m tests.bench.matrices [NAME ...]``: Jacobians of 100 outputs beside 100 pullbacks, and of 100 inputs beside 100 ``jvp``.

Also products of Hessians beside gradients, and Hessians in both modes.

Processor time of one thread, microseconds, the least of some rounds; beside JAX where it is installed, for functions that it takes as
they are. Each Jacobian is compared with the pullbacks, or with the tangents, before anything is timed.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import symgrad

RANDOM = np.random.default_rng(1)
OUTPUTS, VARIABLES = 100, 1000


def dense(x, w):
    return np.tanh(w @ x)


def layers(x, w, v):
    h = np.tanh(w @ x)
    return v @ (h * h + np.sin(h))


def elements(x):
    return np.sin(x) * np.exp(-x * x) + np.cumsum(x)


def stencil(x):
    y = np.empty(x.shape[0])
    y[0], y[-1] = x[0], x[-1]
    y[1:-1] = x[2:] - 2 * x[1:-1] + x[:-2] - 0.1 * np.exp(x[1:-1])
    return y


def euler(x, w):
    for _ in range(20):
        x = x + 0.01 * np.tanh(w @ x)
    return x


def numbers(x):
    y = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        y[i] = np.sin(x[i]) * x[(i + 1) % x.shape[0]]
    return y


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def network(x, w):
    h = np.tanh(w @ x)
    return np.sum(h * h) + np.sum(np.sin(x))


def recurrence(x):
    total = 0.0
    for i in range(x.shape[0]):
        total = total + np.sin(total) * x[i] * x[i]
    return total


def quadratic(x, a):
    return 0.5 * (x @ (a @ x))


def logistic(x, rows, labels):
    z = rows @ x
    return np.mean(np.log1p(np.exp(-np.abs(z))) + np.maximum(z, 0.0) - labels * z)


def perceptron(x, rows, labels):
    w, b, v = x[:800].reshape(20, 40), x[800:840], x[840:880]
    return np.mean((np.tanh(rows @ w + b) @ v - labels) ** 2)


def diffusion(x):
    u = x.copy()
    for _ in range(10):
        v = u.copy()
        for i in range(1, u.shape[0] - 1):
            v[i] = u[i] + 0.1 * (u[i - 1] - 2.0 * u[i] + u[i + 1]) + 0.01 * np.sin(u[i])
        u = v
    return np.sum(u * u)


def gates(x, steps):
    w, u, h, c, total = x[:400].reshape(10, 40), x[400:800].reshape(10, 40), np.zeros(10), np.zeros(10), 0.0
    for t in range(steps.shape[0]):
        z = steps[t] @ w + h @ u
        c = c / (1.0 + np.exp(-z[:10])) + np.tanh(z[30:]) / (1.0 + np.exp(-z[10:20]))
        h = np.tanh(c) / (1.0 + np.exp(-z[20:30]))
        total = total + np.sum(h * h)
    return total


def factored(x):
    a = x[:900].reshape(30, 30)
    return np.sum(np.log(np.diag(np.linalg.cholesky(a @ a.T + 100.0 * np.eye(30)))))


def normal(*shape: int) -> np.ndarray:
    return RANDOM.normal(size=shape)


#: functions of 100 results, and functions of 1,000 variables, each with arguments; the first argument is differentiated by
JACOBIANS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (dense, (normal(OUTPUTS), normal(OUTPUTS, OUTPUTS) / 10)),
    (layers, (normal(50), normal(200, 50) / 10, normal(OUTPUTS, 200))),
    (elements, (normal(OUTPUTS),)),
    (stencil, (normal(OUTPUTS),)),
    (euler, (normal(OUTPUTS), normal(OUTPUTS, OUTPUTS) / 10)),
    (numbers, (normal(OUTPUTS),)),
]
PRODUCTS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (rosenbrock, (normal(VARIABLES),)),
    (network, (normal(VARIABLES), normal(300, VARIABLES) / 30)),
    (recurrence, (normal(VARIABLES) / 30,)),
    (quadratic, (normal(VARIABLES), normal(VARIABLES, VARIABLES) / 30)),
    (logistic, (normal(VARIABLES) / 30, normal(2000, VARIABLES), RANDOM.integers(0, 2, 2000) * 1.0)),
    (perceptron, (normal(VARIABLES) / 10, normal(200, 20), normal(200))),
    (diffusion, (normal(VARIABLES),)),
    (gates, (normal(VARIABLES) / 10, normal(30, 10))),
    (factored, (normal(VARIABLES),)),
]
HESSIANS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (rosenbrock, (normal(OUTPUTS),)),
    (network, (normal(OUTPUTS), normal(30, OUTPUTS) / 30)),
    (recurrence, (normal(OUTPUTS) / 30,)),
]


def least(function: Callable[[], Any], rounds: int = 7, budget: float = 0.02) -> float:
    """The least time of a call, in microseconds."""
    function()
    times = []
    for _ in range(rounds):
        start, calls = time.process_time(), 0
        while time.process_time() - start < budget:
            function()
            calls += 1
        times.append((time.process_time() - start) / calls)
    return 1e6 * min(times)


def of_jacobian(function: Callable[..., Any], arguments: tuple[Any, ...], jit: bool) -> tuple[float, float]:
    """The time of a pullback for each output, and of the Jacobian by reverse mode."""
    jacobian = symgrad.jacrev(function, jit=jit)
    seeds = np.eye(OUTPUTS)

    def pullbacks() -> np.ndarray:
        _, pullback = symgrad.vjp(function, *arguments, wrt=0, jit=jit)
        return np.array([pullback(seed) for seed in seeds])

    np.testing.assert_allclose(jacobian(*arguments), pullbacks(), rtol=1e-8, atol=1e-10)
    return least(pullbacks), least(lambda: jacobian(*arguments))


def of_columns(function: Callable[..., Any], arguments: tuple[Any, ...], jit: bool) -> tuple[float, float]:
    """The time of a ``jvp`` for each input, and of the Jacobian by forward mode."""
    jacobian, along = symgrad.jacfwd(function, jit=jit), symgrad.jvp(function, wrt=0, jit=jit)
    directions = np.eye(arguments[0].size)

    def tangents() -> np.ndarray:
        return np.array([along(arguments, (direction,))[1] for direction in directions]).T

    np.testing.assert_allclose(jacobian(*arguments), tangents(), rtol=1e-8, atol=1e-10)
    return least(tangents), least(lambda: jacobian(*arguments))


def of_hessian(function: Callable[..., Any], arguments: tuple[Any, ...], jit: bool) -> tuple[float, float]:
    """The time of a Hessian by forward over reverse, and by reverse over reverse."""
    forward, reverse = (symgrad.hessian(function, mode=mode, jit=jit) for mode in ("forward", "reverse"))
    np.testing.assert_allclose(forward(*arguments), reverse(*arguments), rtol=1e-8, atol=1e-10)
    return least(lambda: forward(*arguments)), least(lambda: reverse(*arguments))


def of_product(function: Callable[..., Any], arguments: tuple[Any, ...], jit: bool) -> tuple[float, float]:
    """The time of a gradient, and of the product of the Hessian with a vector."""
    gradient, product = symgrad.grad(function, jit=jit), symgrad.hvp(function, jit=jit)
    vector = normal(VARIABLES)
    return least(lambda: gradient(*arguments)), least(lambda: product(*arguments, v=vector))


def of_jax(function: Callable[..., Any], arguments: tuple[Any, ...], mode: str = "jacrev") -> float | None:
    """The time of JAX for the same Jacobian in the same mode, compiled; None where it is not installed or does not take the function."""
    if importlib.util.find_spec("jax") is None:
        return None
    import jax

    jax.config.update("jax_enable_x64", True)
    space = {**function.__globals__, "np": jax.numpy}
    ported = type(function)(function.__code__, space)  # type: ignore[call-arg, attr-defined]
    passed = [jax.numpy.asarray(a) for a in arguments]
    try:
        compiled = jax.jit(getattr(jax, mode)(ported))
        return least(lambda: compiled(*passed).block_until_ready())
    except Exception:
        return None


def main(names: list[str]) -> None:
    """Print both tables."""
    matrices("jacrev", "pullbacks", of_jacobian, names)
    matrices("jacfwd", "jvps", of_columns, names)
    print(f"{'product':12}{'target':>8}{'gradient':>12}{'hvp':>12}{'times':>8}")
    for function, arguments in PRODUCTS:
        if not names or function.__name__ in names:
            for target, jit in (("numpy", False), ("numba", True)):
                gradient, product = of_product(function, arguments, jit)
                print(f"{function.__name__:12}{target:>8}{gradient:12.1f}{product:12.1f}{product / gradient:8.2f}", flush=True)
    print(f"\n{'Hessian':12}{'target':>8}{'forward':>12}{'reverse':>12}")
    for function, arguments in HESSIANS:
        if not names or function.__name__ in names:
            for target, jit in (("numpy", False), ("numba", True)):
                forward, reverse = of_hessian(function, arguments, jit)
                print(f"{function.__name__:12}{target:>8}{forward:12.0f}{reverse:12.0f}", flush=True)


def matrices(mode: str, single: str, timed: Callable[..., tuple[float, float]], names: list[str]) -> None:
    """Print the table of Jacobians by one mode."""
    print(f"{mode:12}{'target':>8}{single:>12}{'jacobian':>12}{'times':>8}{'JAX':>12}")
    for function, arguments in JACOBIANS:
        if not names or function.__name__ in names:
            jax = of_jax(function, arguments, mode)
            for target, jit in (("numpy", False), ("numba", True)):
                slow, fast = timed(function, arguments, jit)
                beside = "-" if jax is None else f"{jax:.0f}"
                print(f"{function.__name__:12}{target:>8}{slow:12.0f}{fast:12.0f}{slow / fast:8.1f}{beside:>12}", flush=True)
    print()


if __name__ == "__main__":
    main(sys.argv[1:])
