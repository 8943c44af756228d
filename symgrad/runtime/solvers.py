"""What generated code calls where a solver has been called: was it successful?  And the adjoint of a differential equation."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np


def convergence(success: Any, message: Any) -> float:
    """The factor of the derivative of a solution: 1.0, or nan where the solver did not converge, after a warning with its message.

    >>> convergence(True, "")
    1.0
    """
    if success:
        return 1.0
    depth, frame = 1, sys._getframe()
    while frame.f_back is not None and "symgrad" in (str(frame.f_globals.get("__name__"))[:7], frame.f_code.co_filename[1:8]):
        depth, frame = depth + 1, frame.f_back  # to the line of the user's own that led here
    warnings.warn(f"the solver did not converge, and its result has no derivative (nan): {message}", RuntimeWarning, stacklevel=depth)
    return math.nan


def integrated(result: Any) -> float:
    """The same for what ``scipy.integrate.quad`` gives with ``full_output=True``, which has a message if it did not converge.

    >>> integrated((0.5, 5.5e-15, {"neval": 21}))
    1.0
    """
    return convergence(len(result) == 3, result[-1] if len(result) == 3 else result[3])


def reached(report: Any) -> float:
    """The same for what ``scipy.integrate.odeint`` reports with ``full_output=True``.

    >>> reached({"message": "Integration successful."})
    1.0
    """
    done = ("Integration successful.", "Nothing was done; the integration time was 0.")
    return convergence(report["message"] in done, report["message"])


def adjoint_solution(solve_ivp: Callable[..., Any], rate: Callable[..., Any], pullback: Callable[..., Any], weights: Any, start: Any,
                     times: Any, y0: Any, args: tuple[Any, ...] = (), **options: Any) -> np.ndarray:  # fmt: skip
    """The cotangents of ``y0``, and behind them of what ``rate`` reads, for the cotangents ``weights`` of the states at ``times``.

    The states, of ``dy/dt = rate(t, y, *args)`` from ``y0`` at ``start``, are the columns that belong to ``weights``. The vector
    ``pullback(t, y, w, *args)`` is the cotangent of ``y``, and behind it those of values in ``args``, for the cotangent ``w`` of the rate.
    The adjoint ``w`` solves ``dw/dt = -w df/dy`` from the last time to ``start``, and grows by the column of ``weights`` at each
    time; the integral of ``w df/da`` is solved for beside it (Cao, Li, Petzold and Serban, Adjoint sensitivity analysis for
    differential-algebraic equations, SIAM Journal on Scientific Computing 24, 2003). The states come from one solution forwards, by
    the solver's interpolation. ``options`` are those of ``scipy.integrate.solve_ivp``, which is handed in.
    Where a solver does not converge a RuntimeWarning is given, and all is nan.

    >>> from scipy.integrate import solve_ivp
    >>> decay = lambda t, y, k: -k * y
    >>> pullback = lambda t, y, w, k: np.array([-k * w[0], -y[0] * w[0]])
    >>> cotangents = adjoint_solution(solve_ivp, decay, pullback, np.ones((1, 1)), 0.0, np.ones(1), np.ones(1), (1.0,), rtol=1e-9)
    >>> np.round(cotangents * np.e, 4)
    array([ 1., -1.])
    """
    size = np.size(y0)
    count = np.size(pullback(start, y0, np.zeros(size), *args))
    seen = [k for k in range(np.size(times)) if np.any(weights[:, k])]
    if not seen or not np.all(np.isfinite(weights)):
        return np.full(count, np.nan if seen else 0.0)
    method, rtol, atol = (options.get(word, default) for word, default in (("method", "RK45"), ("rtol", 1e-3), ("atol", 1e-6)))
    of_states, of_adjoint = dict(options), {word: value for word, value in options.items() if word != "first_step"}
    if method in ("BDF", "LSODA"):  # whose errors add up over their steps: they are those of the states with a tenth of the tolerances
        of_adjoint |= {"rtol": max(0.1 * rtol, min(rtol, 1e-12)), "atol": 0.1 * atol}
    if method in ("BDF", "LSODA", "Radau"):
        of_states["jac"] = lambda t, y: jacobian_by_rows(pullback, t, y, args)[:, :size]
        of_adjoint["jac"] = lambda t, z: adjoint_jacobian(jacobian_by_rows(pullback, t, path(t), args), method)
    last = times[seen[-1]]
    run = solve_ivp(lambda t, y: rate(t, y, *args), (start, last), y0, dense_output=True, **of_states)
    valid = convergence(run.success, run.message)
    path, scale, adjoint = run.sol, np.max(np.abs(weights)), np.zeros(count)
    ends = [*(times[k] for k in reversed(seen[:-1])), start]
    for k, end in zip(reversed(seen), ends, strict=True):
        adjoint[:size] += weights[:, k] / scale
        if times[k] != end and valid == 1.0:
            run = solve_ivp(lambda t, z: -pullback(t, path(t), z[:size], *args), (times[k], end), adjoint, t_eval=(end,), **of_adjoint)
            valid = convergence(run.success, run.message)
            adjoint = run.y[:, -1] if valid == 1.0 else adjoint
    return adjoint * (scale * valid)


def jacobian_by_rows(pullback: Callable[..., Any], t: float, y: np.ndarray, args: tuple[Any, ...]) -> np.ndarray:
    """The Jacobian of a rate with respect to all that its pullback gives cotangents of."""
    return np.stack([pullback(t, y, unit, *args) for unit in np.eye(np.size(y))])


def adjoint_jacobian(rows: np.ndarray, method: str) -> Any:
    """The Jacobian of the adjoint and of what is integrated beside it, which does not depend on the latter; sparse where that is taken."""
    from scipy.sparse import csc_matrix

    size, count = rows.shape
    whole = np.zeros((count, count))
    whole[:, :size] = -rows.T
    return whole if method == "LSODA" else csc_matrix(whole)
