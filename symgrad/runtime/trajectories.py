"""Run-time support: cotangents of solutions of differential equations, by the adjoint equation or by sensitivities.

``rate(t, y, *args)`` is ``dy/dt``. ``jacobian(t, y, *args)`` is the matrix ``df/dy``, followed by the columns ``df/da`` of the values
that the equation reads. ``pullback(t, y, w, *args)`` is ``w`` times that matrix. ``solve_ivp`` is SciPy's function, as an argument.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from symgrad.runtime.solvers import convergence


def solution_cotangents(
    solve_ivp: Callable[..., Any],
    rate: Callable[..., Any],
    pullback: Callable[..., Any],
    jacobian: Callable[..., Any],
    weights: Any,
    start: Any,
    times: Any,
    y0: Any,
    args: tuple[Any, ...] = (),
    is_adjoint: bool = False,
    **options: Any,
) -> Any:
    """The cotangents of ``y0``, then of the values that ``rate`` reads, for the cotangents ``weights`` of the states at ``times``.

    The states, of ``dy/dt = rate(t, y, *args)`` from ``y0`` at ``start``, are columns. ``options`` are those of
    ``solve_ivp``. The adjoint equation is solved where that takes less time, or always if ``is_adjoint``. Where a
    solver does not converge, a RuntimeWarning is emitted and all results are NaN.

    >>> from scipy.integrate import solve_ivp
    >>> decay = lambda t, y, k: -k * y
    >>> pullback = lambda t, y, w, k: np.array([-k * w[0], -y[0] * w[0]])
    >>> jacobian = lambda t, y, k: np.array([[-k, -y[0]]])
    >>> functions, one = (solve_ivp, decay, pullback, jacobian), np.ones(1)
    >>> cotangents = solution_cotangents(*functions, np.ones((1, 1)), 0.0, one, one, (1.0,), rtol=1e-9)
    >>> np.round(cotangents * np.e, 4)
    array([ 1., -1.])
    """
    count = np.size(pullback(start, y0, np.zeros(np.size(y0)), *args))
    seen = np.flatnonzero(np.any(weights != 0.0, axis=0))
    if not seen.size or not np.all(np.isfinite(weights)):
        return np.full(count, np.nan if seen.size else 0.0)
    moments = times[seen]
    firsts = np.flatnonzero(np.append(True, moments[1:] != moments[:-1]))  # times may be repeated
    moments, scale = moments[firsts], np.max(np.abs(weights))
    jumps = np.add.reduceat(weights[:, seen], firsts, axis=1) / scale
    if moments[-1] == start:
        return np.append(scale * jumps[:, 0], np.zeros(count - np.size(y0)))
    if options.get("first_step") is not None:
        options["first_step"] = min(options["first_step"], abs(moments[-1] - start))
    of_states = dict(options)
    if options.get("method") in ("BDF", "LSODA", "Radau"):
        of_states["jac"] = lambda t, y: jacobian(t, y, *args)[:, : y.size]
    run = solve_ivp(lambda t, y: rate(t, y, *args), (start, moments[-1]), y0, dense_output=True, **of_states)
    if np.isnan(convergence(run.success, run.message)):
        return np.full(count, np.nan)
    if is_adjoint or is_adjoint_faster(run.t.size - 1, moments.size, np.size(y0), count, options.get("method", "RK45")):
        cotangents = by_adjoint(solve_ivp, pullback, jacobian, jumps, [start, *moments], run.sol, count, args, options)
    else:
        cotangents = by_sensitivities(solve_ivp, rate, jacobian, jumps, [start, *moments], y0, count, args, options)
    return scale * cotangents


def is_adjoint_faster(steps: int, times: int, size: int, count: int, method: Any) -> bool:
    """Whether the adjoint equation takes less time.

    It restarts at each time, which costs ``begun`` steps. Sensitivities are ``size * count`` numbers in each step;
    about 3000 of them take as long as a step of the adjoint equation (``python -m tests.bench.solvers
    sensitivities``).
    """
    begun = 12 if method in ("BDF", "LSODA", "Radau") else 2
    return 3000 * begun * times < steps * size * count


def by_adjoint(
    solve_ivp: Callable[..., Any],
    pullback: Callable[..., Any],
    jacobian: Callable[..., Any],
    jumps: Any,
    moments: Any,
    path: Callable[[Any], Any],
    count: int,
    args: tuple[Any, ...],
    options: Mapping[str, Any],
) -> Any:
    """The cotangents by the adjoint equation ``dw/dt = -w df/dy``, backwards in time; at each moment a column of ``jumps`` is added.

    The integral of ``w df/da`` is computed along with ``w`` (Cao, Li, Petzold and Serban, Adjoint sensitivity
    analysis for differential-algebraic equations, SIAM Journal on Scientific Computing 24, 2003). ``path`` returns
    the state at a time. The states are not solved for backwards in time, which is unstable where the equation is
    stiff. The first of ``moments`` is the start.
    """
    size, cotangents, settings = len(jumps), np.zeros(count), dict(options)
    settings.pop("first_step", None)  # it is for the solution of the states
    method, rtol, atol = (options.get(word, default) for word, default in (("method", "RK45"), ("rtol", 1e-3), ("atol", 1e-6)))
    if method == "LSODA" and count > 1000:  # LSODA stores the Jacobian as a full matrix only
        method = settings["method"] = "BDF"
        settings.pop("min_step", None)
    if method in ("BDF", "LSODA"):  # their errors accumulate over the steps; these tolerances make them as accurate as the states
        settings |= {"rtol": max(0.1 * rtol, min(rtol, 1e-12)), "atol": 0.1 * atol}
    if method in ("BDF", "LSODA", "Radau"):
        settings["jac"] = lambda t, z: adjoint_jacobian(jacobian(t, path(t), *args), method == "LSODA")
    step = None
    for k in range(len(moments) - 1, 0, -1):
        cotangents[:size] += jumps[:, k - 1]
        span = abs(moments[k] - moments[k - 1])
        if not span:
            continue
        if method in ("RK23", "RK45", "DOP853") and step is not None:
            settings["first_step"] = min(step, span)
        ends = moments[k], moments[k - 1]
        run = solved(solve_ivp, lambda t, z: -pullback(t, path(t), z[:size], *args), ends, cotangents, ends[1:], settings)
        if run is None:
            return np.full(count, np.nan)
        cotangents, step = run.y[:, -1], span / max(1, run.nfev // 6)
    return cotangents


def by_sensitivities(
    solve_ivp: Callable[..., Any],
    rate: Callable[..., Any],
    jacobian: Callable[..., Any],
    jumps: Any,
    moments: Any,
    y0: Any,
    count: int,
    args: tuple[Any, ...],
    options: Mapping[str, Any],
) -> Any:
    """The cotangents by sensitivities, which are solved for together with the states: ``ds/dt = df/dy s + df/da``."""
    size, settings = len(jumps), dict(options)
    if options.get("method") in ("BDF", "Radau"):
        settings["jac"] = lambda t, z: sensitivity_jacobian(jacobian(t, z[:size], *args))
    first = np.concatenate([y0, np.ravel(np.eye(size, count))])
    ends = moments[0], moments[-1]
    change = lambda t, z: rate_with_sensitivities(rate, jacobian, t, z, args, size)  # noqa: E731
    run = solved(solve_ivp, change, ends, first, moments[1:], settings)
    if run is None:
        return np.full(count, np.nan)
    return np.einsum("ik,ijk->j", jumps, run.y[size:].reshape(size, count, -1))


def solved(
    solve_ivp: Callable[..., Any], change: Callable[..., Any], ends: Any, first: Any, times: Any, settings: Mapping[str, Any]
) -> Any:
    """A solution at some times; None, after a warning, where there is none.

    An explicit method would search for its first step forever where the initial rate is not finite.
    """
    if not np.all(np.isfinite(change(ends[0], first))):
        convergence(False, f"the derivative of the rate is not finite at t = {ends[0]}")
        return None
    run = solve_ivp(change, ends, first, t_eval=times, **settings)
    return None if np.isnan(convergence(run.success, run.message)) else run


def states_reached(result: Any, initial: Any, times: Any) -> Any:
    """The states that ``solve_ivp`` has computed at some times; all are NaN, after a warning, where it did not reach the last one.

    >>> from scipy.integrate import solve_ivp
    >>> states_reached(solve_ivp(lambda t, y: 0.0 * y, (0.0, 1.0), np.ones(1), t_eval=[0.5, 1.0]), np.ones(1), [0.5, 1.0])
    array([[1., 1.]])
    """
    if np.isnan(convergence(result.success, result.message)):
        return np.full((np.size(initial), np.size(times)), np.nan)
    return result.y


def rate_with_sensitivities(
    rate: Callable[..., Any], jacobian: Callable[..., Any], t: float, z: Any, args: tuple[Any, ...], size: int
) -> Any:
    """The rate of the state, then that of the sensitivities, as one vector."""
    rows, matrix = jacobian(t, z[:size], *args), z[size:].reshape(size, -1)
    moved = rows[:, :size] @ matrix
    moved[:, size:] += rows[:, size:]
    return np.concatenate([rate(t, z[:size], *args), np.ravel(moved)])


def adjoint_jacobian(rows: Any, is_full: bool) -> Any:
    """The Jacobian of the adjoint and its integrals, which nothing depends on: an array, or a sparse matrix."""
    from scipy.sparse import csc_matrix, hstack

    size, count = rows.shape
    if is_full:
        return np.hstack([-rows.T, np.zeros((count, count - size))])
    return hstack([csc_matrix(-rows.T), csc_matrix((count, count - size))], format="csc")


def sensitivity_jacobian(rows: Any) -> Any:
    """The Jacobian of states and sensitivities without their coupling: only the solver's Newton iteration uses it."""
    from scipy.sparse import block_diag, identity, kron

    size, count = rows.shape
    return block_diag([rows[:, :size], kron(rows[:, :size], identity(count))], format="csc")
