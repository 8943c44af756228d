"""``python -m tests.bench.sparse [NAME ...]``: sparse Jacobians and Hessians of 10,000 unknowns beside one gradient, and beside others.

Milliseconds of processor time of one thread. ``first`` is the first call, which finds the pattern, colours it and generates the code,
``call`` a later one, ``gradient`` the gradient of the sum of squares of the same residuals (of the function itself for a Hessian).
``scipy`` is ``approx_derivative`` with the pattern handed to it, ``JAX`` its dense Jacobian of a tenth of the unknowns, where JAX is
installed and takes the function as it is. Each matrix is compared with a derivative in a random direction before anything is timed.
"""

from __future__ import annotations

import importlib.util
import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize._numdiff import approx_derivative

import symgrad
from tests.bench.matrices import least

UNKNOWNS = 10_000


def tridiagonal(x):
    y = np.zeros_like(x)
    y[1:-1] = x[2:] - 2.0 * x[1:-1] + x[:-2] - 0.1 * np.exp(x[1:-1])
    return y


def pentadiagonal(x):
    y = x**3
    y[2:] += x[:-2] * x[2:]
    y[1:] -= 4.0 * x[:-1]
    y[:-1] -= 4.0 * np.sin(x[1:])
    y[:-2] += x[2:]
    return y


def in_a_loop(x):
    n = x.shape[0]
    y = np.zeros(n)
    for i in range(2, n - 2):
        y[i] = x[i - 2] - 4.0 * x[i - 1] + 6.0 * x[i] ** 3 - 4.0 * x[i + 1] + x[i + 2] * x[i]
    return y


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


@dataclass(frozen=True)
class Case:
    """A function, and what is computed of it."""

    function: Callable[..., Any]
    is_hessian: bool = False

    @property
    def name(self) -> str:
        return self.function.__name__

    def matrix(self, jit: bool) -> Any:
        return (symgrad.hessian if self.is_hessian else symgrad.jacobian)(self.function, sparsity="auto", jit=jit)

    def residual(self, jit: bool) -> Callable[..., Any]:
        """What the matrix is the Jacobian of."""
        return symgrad.grad(self.function, jit=jit) if self.is_hessian else self.function

    def gradient(self, jit: bool) -> Callable[..., Any]:
        if self.is_hessian:
            return symgrad.grad(self.function, jit=jit)  # type: ignore[no-any-return]
        function = self.function
        return symgrad.grad(lambda x: np.sum(function(x) ** 2), jit=jit)  # type: ignore[no-any-return]


CASES = [Case(tridiagonal), Case(pentadiagonal), Case(in_a_loop), Case(rosenbrock, True)]


def of_jax(case: Case, x: np.ndarray) -> float | None:
    """The time of JAX for a dense matrix, compiled, in milliseconds; None where it is not installed or does not take the function."""
    if importlib.util.find_spec("jax") is None:
        return None
    import jax

    jax.config.update("jax_enable_x64", True)
    function = case.function
    ported = type(function)(function.__code__, {**function.__globals__, "np": jax.numpy})  # type: ignore[call-arg, attr-defined]
    try:
        compiled = jax.jit((jax.hessian if case.is_hessian else jax.jacfwd)(ported))
        return least(lambda: compiled(x).block_until_ready()) / 1e3
    except Exception:
        return None


def peak(call: Callable[[], Any]) -> float:
    """The most memory that a call holds, in megabytes."""
    tracemalloc.start()
    call()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most / 1e6


def main(names: list[str]) -> None:
    x = np.random.default_rng(0).normal(size=UNKNOWNS)
    v = np.random.default_rng(1).normal(size=UNKNOWNS)
    print(f"{UNKNOWNS:,} unknowns   code   sweeps  entries    first     call  gradient  MB   scipy   JAX of {UNKNOWNS // 10:,}, dense")
    for case in CASES:
        if names and case.name not in names:
            continue
        for jit in (False, True):
            matrix = case.matrix(jit)
            start = time.process_time()
            value = matrix(x)
            first = 1e3 * (time.process_time() - start)
            residual = case.residual(jit)
            np.testing.assert_allclose(value @ v, symgrad.jvp(case.residual(False), (x,), (v,))[1], rtol=1e-7, atol=1e-6)
            gradient = case.gradient(jit)
            pattern = matrix.pattern(x)
            ours, theirs = least(lambda: matrix(x)) / 1e3, least(lambda: gradient(x)) / 1e3
            other = least(lambda: approx_derivative(residual, x, sparsity=pattern), rounds=3) / 1e3
            jax = None if jit else of_jax(case, x[: UNKNOWNS // 10])
            shown = "" if jax is None else f"{jax:9.2f}"
            print(f"{case.name:17s} {'numba' if jit else 'NumPy'} {matrix.plan(x).sweeps:7d} {value.nnz:9,d} {first:8.0f} {ours:8.2f} "
                  f"{theirs:8.2f} {peak(lambda: matrix(x)):5.1f} {other:7.1f} {shown}")  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1:])
