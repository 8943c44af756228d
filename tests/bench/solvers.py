"""``python -m tests.bench.solvers [METHOD ...]``: ``minimize`` on Rosenbrock's function of 100 variables, beside SciPy's with differences.
``python -m tests.bench.solvers sensitivities``: gradients of a differential equation by the adjoint equation and by sensitivities.

``calls`` counts how often the function ran, ``gradients`` how often generated code gave value and gradient (which runs the function
too), ``products`` how often a product of the Hessian with a vector was computed. Milliseconds of processor time of one thread, with the
code generated before. ``error`` is the largest distance of a variable from 1, where the minimum is.

The gradient is that of the sum of squares of states at some times. ``ratio`` is forward by adjoint; ``difference`` that of the two
gradients, by the largest element.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize

import symgrad
from symgrad import implicit
from symgrad.integrations import scipy as solvers

VARIABLES = 100
METHODS = ["L-BFGS-B", "BFGS", "CG", "Newton-CG", "trust-ncg", "trust-krylov"]
DIFFERENCES = ("L-BFGS-B", "BFGS", "CG")  #: the others need a derivative
LIMITS = {"L-BFGS-B": {"maxfun": 1_000_000, "maxiter": 10_000}}


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def timed(solve: Callable[[], Any]) -> tuple[Any, float]:
    """A result, and the milliseconds that it took."""
    start = time.process_time()
    result = solve()
    return result, 1e3 * (time.process_time() - start)


def row(method: str, how: str, result: Any, calls: int, gradients: int, milliseconds: float) -> str:
    products = result.get("nhev", 0)
    error = float(np.max(np.abs(result.x - 1.0)))
    return f"{method:13s} {how:11s} {calls:9,d} {gradients:9,d} {products:9,d} {milliseconds:9.1f}   {error:.1e}"


def network(sensitivity: Any, method: str, times: np.ndarray) -> Callable[..., Any]:
    """A function of a full matrix, whose gradient is computed in one way."""

    def squares(a, y0):
        return np.sum(implicit.solve_ivp(lambda t, y: np.tanh(a @ y) - 0.5 * y, (0.0, 2.0), y0, t_eval=times, method=method, rtol=1e-6,
                                         atol=1e-8, sensitivity=sensitivity).y ** 2)  # fmt: skip

    return squares


def chain(sensitivity: Any, method: str, times: np.ndarray) -> Callable[..., Any]:
    """The same of a rate for each of the links of a chain of tanks."""

    def flow(t, y, a):
        run_out = np.abs(a) * y
        return np.concatenate([np.ones(1), run_out[:-1]]) - run_out

    def squares(a, y0):
        return np.sum(implicit.solve_ivp(flow, (0.0, 2.0), y0, a, t_eval=times, method=method, rtol=1e-6, atol=1e-8,
                                         sensitivity=sensitivity).y ** 2)  # fmt: skip

    return squares


#: the equation, the number of states, the shape of the parameters, methods
EQUATIONS = [(network, 2, (2, 2), "RK45 LSODA BDF"), (network, 5, (5, 5), "RK45 LSODA BDF"), (network, 10, (10, 10), "RK45 LSODA BDF"),
             (network, 20, (20, 20), "RK45 LSODA"), (network, 50, (50, 50), "RK45"), (chain, 100, (100,), "RK45 LSODA")]  # fmt: skip


def sensitivities() -> None:
    """Gradients with respect to few and many parameters, of states at one time and at many."""
    rng = np.random.default_rng(0)
    print("equation method states parameters times  forward ms  adjoint ms     auto ms   ratio   difference")
    for equation, size, shape, methods in EQUATIONS:
        for method, count in itertools.product(methods.split(), (1, 21)):
            a, y0, times = rng.normal(size=shape) / np.sqrt(size), np.ones(size), np.linspace(0.0, 2.0, count + 1)[1:]
            results = []
            for sensitivity in ("forward", "adjoint", "auto"):
                gradient = symgrad.grad(equation(sensitivity, method, times), verify=False)
                gradient(a, y0)
                results.append(min((timed(lambda f=gradient, a=a, y0=y0: f(a, y0)) for _ in range(3)), key=lambda pair: pair[1]))
            (one, forward), (other, adjoint), (_, chosen) = results
            difference = np.max(np.abs(one - other)) / np.max(np.abs(one))
            print(f"{equation.__name__:8s} {method:6s} {size:6d} {a.size:10d} {count:5d} {forward:11.1f} {adjoint:11.1f} {chosen:11.1f} "
                  f"{forward / adjoint:7.1f}   {difference:.1e}")  # fmt: skip


def main(names: list[str]) -> None:
    start = np.zeros(VARIABLES)
    print(f"{VARIABLES} variables                  calls gradients  products        ms   error")
    for method in names or METHODS:
        options = LIMITS.get(method, {"maxiter": 10_000})
        if method in DIFFERENCES:
            result, taken = timed(lambda: optimize.minimize(rosenbrock, start, method=method, options=options))
            print(row(method, "differences", result, result.nfev, 0, taken))
        for jit in (False, True):
            solvers.minimize(rosenbrock, start, method=method, jit=jit, options={"maxiter": 2})
            result, taken = timed(lambda: solvers.minimize(rosenbrock, start, method=method, jit=jit, options=options))
            print(row(method, "numba" if jit else "NumPy", result, 0, result.nfev, taken))


if __name__ == "__main__":
    sensitivities() if sys.argv[1:] == ["sensitivities"] else main(sys.argv[1:])
