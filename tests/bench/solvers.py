"""``python -m tests.bench.solvers [METHOD ...]``: ``minimize`` on Rosenbrock's function of 100 variables, beside SciPy's with differences.

``calls`` counts how often the function ran, ``gradients`` how often generated code gave value and gradient (which runs the function
too), ``products`` how often a product of the Hessian with a vector was computed. Milliseconds of processor time of one thread, with the
code generated before. ``error`` is the largest distance of a variable from 1, where the minimum is.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize

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
    main(sys.argv[1:])
