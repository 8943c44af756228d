"""Values defined by equations: roots, fixed points, minima, solutions of differential equations, integrals; with derivatives.

Each function calls SciPy and returns the solution. Inside a differentiated function, the solution has derivatives of any order in both
modes: by the implicit function theorem, by sensitivity equations, or by Leibniz's rule. Calls of SciPy's own functions have the same
derivatives. The functions of this module differ from SciPy's in three ways: they pass ``*args`` to the user's function, they return plain
values, and their default tolerances suit derivatives. ``docs/implicit.md`` gives the cost of each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from symgrad.api import grad
from symgrad.errors import BadArgument, SciPyMissing
from symgrad.runtime.solvers import convergence, differentiated_by, integrated, reached

try:
    from scipy import integrate, optimize
except ImportError:
    __tracebackhide__ = True
    raise SciPyMissing("symgrad.implicit calls SciPy, which is not installed") from None

#: how a differential equation is differentiated
Sensitivity = Literal["auto", "forward", "adjoint"]

__all__ = ["fixed_point", "minimize", "odeint", "quad", "root", "solve_ivp"]


def check_function(f: Any, word: str) -> None:
    """Raise unless the function is callable."""
    if not callable(f):
        raise BadArgument(f"{word} is of the class {type(f).__name__}, not a function")


def check_start(x0: Any) -> None:
    """Raise unless the start is a number or a vector."""
    if np.ndim(x0) > 1:
        hint = "pass x0.ravel(), and reshape in the function"
        raise BadArgument(f"x0 has {np.ndim(x0)} axes: unknowns are a number or a vector", hint=hint)


def root(f: Callable[..., Any], x0: Any, *args: Any, method: str = "hybr", tol: float = 1e-12) -> Any:
    """Return a root of ``f(x, *args)`` near ``x0``.

    If ``x0`` is a number, ``f`` takes and returns a number, and the root is a float, computed by the secant method. If ``x0`` is a vector,
    ``f`` returns a vector of the same length, and the root is computed by ``scipy.optimize.root`` with ``method``. The root has
    derivatives with respect to ``args`` and to every other value that ``f`` reads, by the implicit function theorem; its derivative with
    respect to ``x0`` is zero.

    Raises RuntimeError if the secant method does not converge. If ``scipy.optimize.root`` does not, emits a RuntimeWarning, and the
    derivative is NaN.

    >>> import symgrad
    >>> text = "def cube_root(a): return root(lambda x: x ** 3 - a, 1.0)"
    >>> cube_root = symgrad.from_source(text, globals={"root": root})
    >>> round(float(cube_root(8.0)), 9), round(float(symgrad.grad(cube_root)(8.0)), 9)  # 1 / (3 * 2 ** 2)
    (2.0, 0.083333333)
    """
    check_function(f, "f")
    check_start(x0)
    if np.ndim(x0) == 0:
        return optimize.newton(f, x0, args=args, tol=tol)
    solution = optimize.root(f, x0, args=args, method=method, tol=tol)
    convergence(solution.success, solution.message)
    return solution.x


def fixed_point(g: Callable[..., Any], x0: Any, *args: Any, tol: float = 1e-12, maxiter: int = 500) -> Any:
    """Return a fixed point of ``g(x, *args)``, by ``scipy.optimize.fixed_point`` from the start ``x0``.

    The result is a float if ``x0`` is a number, else a vector of the same length. It has derivatives with respect to ``args`` and to every
    other value that ``g`` reads; its derivative with respect to ``x0`` is zero. Raises RuntimeError after ``maxiter`` steps without
    convergence.

    >>> import symgrad
    >>> text = "def square_root(a): return fixed_point(lambda x: 0.5 * (x + a / x), 1.0)"
    >>> square_root = symgrad.from_source(text, globals={"fixed_point": fixed_point})
    >>> round(float(square_root(4.0)), 9), round(float(symgrad.grad(square_root)(4.0)), 9)
    (2.0, 0.25)
    """
    check_function(g, "g")
    check_start(x0)
    point = optimize.fixed_point(g, x0, args=args, xtol=tol, maxiter=maxiter)
    return point[()] if np.ndim(x0) == 0 else point


def minimize(f: Callable[..., Any], x0: Any, *args: Any, method: str = "BFGS", tol: float = 1e-6) -> Any:
    """Return a local minimiser of the scalar function ``f(x, *args)`` near the vector ``x0``, by ``scipy.optimize.minimize``.

    symgrad derives the gradient that the search uses. The minimiser has derivatives with respect to ``args`` and to every other value that
    ``f`` reads: it is a root of the gradient, whose Jacobian must be nonsingular there. Its derivative with respect to ``x0`` is zero.
    ``tol`` bounds the elements of the gradient at the minimiser, and so the accuracy of the result and its derivative.

    Emits a RuntimeWarning if the search does not converge; the derivative is then NaN.

    >>> import symgrad
    >>> text = "def lowest(a): return minimize(lambda x: (x[0] - a) ** 2 + x[0] ** 2, [1.0])[0]"
    >>> lowest = symgrad.from_source(text, globals={"minimize": minimize})
    >>> round(float(lowest(3.0)), 6), round(float(symgrad.grad(lowest)(3.0)), 6)
    (1.5, 0.5)
    """
    check_function(f, "f")
    check_start(x0)
    solution = optimize.minimize(f, x0, args=args, method=method, jac=grad(f), tol=tol)
    convergence(solution.success, solution.message)
    return solution.x


def solve_ivp(
    fun: Callable[..., Any],
    t_span: Sequence[float],
    y0: Any,
    *args: Any,
    t_eval: Any = None,
    method: str = "RK45",
    rtol: float = 1e-8,
    atol: float = 1e-10,
    sensitivity: Sensitivity = "auto",
) -> Any:
    """The solution of ``dy/dt = fun(t, y, *args)`` with ``y = y0`` at the first end of ``t_span``, with ``scipy.integrate.solve_ivp``.

    Returns an object as SciPy does: ``t`` are the times, those in ``t_eval`` or those of the steps, and the columns
    of ``y`` are the states. They have derivatives with respect to ``y0``, ``args`` and all other values that ``fun``
    reads, the ends of ``t_span``, and ``t_eval``. ``sensitivity`` selects the method: ``"forward"`` solves for
    sensitivities forwards in time, ``"adjoint"`` solves the adjoint equation, ``"auto"`` chooses the faster one.
    Raises BadArgument for other words. Where the last time is not reached, a RuntimeWarning is emitted, and the
    derivative is NaN.

    >>> import symgrad
    >>> text = "def last(k): return solve_ivp(lambda t, y: -k * y, (0.0, 1.0), [1.0]).y[0, -1]"
    >>> last = symgrad.from_source(text, globals={"solve_ivp": solve_ivp})
    >>> round(float(last(0.0)), 6), round(float(symgrad.grad(last)(0.0)), 6)
    (1.0, -1.0)
    """
    check_function(fun, "fun")
    solution = integrate.solve_ivp(fun, t_span, y0, method=method, t_eval=t_eval, args=args, rtol=rtol, atol=atol)
    differentiated_by(sensitivity)
    convergence(solution.success, solution.message)
    return solution


def odeint(
    fun: Callable[..., Any], y0: Any, t: Any, *args: Any, rtol: float = 1e-8, atol: float = 1e-10, sensitivity: Sensitivity = "auto"
) -> Any:
    """The solution of ``dy/dt = fun(y, t, *args)`` with ``y = y0`` at ``t[0]``, with ``scipy.integrate.odeint``.

    Returns a matrix whose rows are the states at the times ``t``. It has derivatives with respect to ``y0``, ``t``,
    ``args`` and all other values that ``fun`` reads, by the method that ``sensitivity`` selects (see ``solve_ivp``).
    Where the last time is not reached, a RuntimeWarning is emitted, and the derivative is NaN.

    >>> import symgrad
    >>> text = "def last(k): return odeint(lambda y, t: k * y, [1.0], [0.0, 1.0])[-1, 0]"
    >>> last = symgrad.from_source(text, globals={"odeint": odeint})
    >>> round(float(last(0.0)), 6), round(float(symgrad.grad(last)(0.0)), 6)
    (1.0, 1.0)
    """
    check_function(fun, "fun")
    states, report = integrate.odeint(fun, y0, t, args=args, rtol=rtol, atol=atol, full_output=True)
    differentiated_by(sensitivity)
    reached(report)
    return states


def quad(f: Callable[..., Any], a: float, b: float, *args: Any, epsabs: float = 1e-10, epsrel: float = 1e-10) -> Any:
    """Return the integral of ``f(x, *args)`` from ``a`` to ``b``, by ``scipy.integrate.quad``. The limits may be infinite.

    The integral has derivatives with respect to ``a``, ``b``, ``args`` and every other value that ``f`` reads. Emits a RuntimeWarning if
    the required accuracy is not reached; the derivative is then NaN.

    >>> import symgrad
    >>> text = "def area(b, n): return quad(lambda x: x ** n, 0.0, b)"
    >>> area = symgrad.from_source(text, globals={"quad": quad})
    >>> round(area(2.0, 2.0), 9), round(float(symgrad.grad(area)(2.0, 2.0)), 9)
    (2.666666667, 4.0)
    """
    check_function(f, "f")
    result = integrate.quad(f, a, b, args=args, epsabs=epsabs, epsrel=epsrel, full_output=True)
    integrated(result)
    return result[0]
