"""Values defined by equations: roots, fixed points, minima, solutions of differential equations, integrals; with derivatives.

Each function calls SciPy and returns the solution. In a function that is differentiated the solution has a derivative: by the implicit
function theorem, by sensitivity equations, or by Leibniz's rule, to any order and in both modes. Calls of SciPy's own functions
have the same derivatives; these differ in that they take the arguments of the user's function one by one, return plain values, and are
as accurate as derivatives need. ``docs/implicit.md`` says what each costs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symgrad.api import grad
from symgrad.errors import BadArgument, SciPyMissing
from symgrad.runtime.solvers import convergence, integrated, reached

try:
    from scipy import integrate, optimize
except ImportError:
    __tracebackhide__ = True
    raise SciPyMissing("symgrad.implicit calls SciPy, which is not installed") from None

__all__ = ["fixed_point", "minimize", "odeint", "quad", "root", "solve_ivp"]


def check_function(f: Any, word: str) -> None:
    """Refuse what cannot be called."""
    if not callable(f):
        raise BadArgument(f"{word} is of the class {type(f).__name__}, not a function")


def check_start(x0: Any) -> None:
    """Refuse a start that is neither a number nor a vector."""
    if np.ndim(x0) > 1:
        hint = "pass x0.ravel(), and reshape in the function"
        raise BadArgument(f"x0 has {np.ndim(x0)} axes: unknowns are a number or a vector", hint=hint)


def root(f: Callable[..., Any], x0: Any, *args: Any, method: str = "hybr", tol: float = 1e-12) -> Any:
    """Where ``f(x, *args)`` is zero, near ``x0``.

    A float where ``x0`` is a number, and ``f`` then takes and returns one; it is found by the secant method. Else a vector of the
    length of ``x0``, and ``f`` returns as many numbers; it is found by ``scipy.optimize.root`` with ``method``.
    It has a derivative with respect to ``args`` and all else that ``f`` reads, none with respect to ``x0``.

    Where no number is found a RuntimeError is raised. Where no vector is, a RuntimeWarning is given, and the derivative is nan.

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
    """Where ``g(x, *args)`` is ``x``, from ``x0`` on, with ``scipy.optimize.fixed_point``.

    A float where ``x0`` is a number, else a vector of its length. It has a derivative with respect to ``args`` and all else that ``g``
    reads, none with respect to ``x0``. A RuntimeError is raised where none is found after ``maxiter`` steps.

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
    """The vector where ``f(x, *args)``, which is one number, is least, near the vector ``x0``, with ``scipy.optimize.minimize``.

    The search is led by the gradient that symgrad derives of ``f``. The vector has a derivative with respect to ``args`` and all else
    that ``f`` reads, as the root of that gradient, whose Jacobian must not be singular there. There is none with respect to ``x0``. ``tol``
    is the largest element that the gradient may have; vector and derivative are as accurate as it.
    Where the search does not converge a RuntimeWarning is given, and the derivative is nan.

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


def solve_ivp(fun: Callable[..., Any], t_span: Sequence[float], y0: Any, *args: Any, t_eval: Any = None, method: str = "RK45",
              rtol: float = 1e-8, atol: float = 1e-10) -> Any:  # fmt: skip
    """The solution of ``dy/dt = fun(t, y, *args)`` with ``y = y0`` at the first end of ``t_span``, with ``scipy.integrate.solve_ivp``.

    An object as SciPy returns it: ``t`` are the times, those in ``t_eval`` or those of the steps, and the columns of ``y`` the states. They
    have derivatives with respect to ``y0``, ``args`` and all else that ``fun`` reads, the ends of ``t_span`` and ``t_eval``.
    Where the last time is not reached a RuntimeWarning is given, and the derivative is nan.

    >>> import symgrad
    >>> text = "def last(k): return solve_ivp(lambda t, y: -k * y, (0.0, 1.0), [1.0]).y[0, -1]"
    >>> last = symgrad.from_source(text, globals={"solve_ivp": solve_ivp})
    >>> round(float(last(0.0)), 6), round(float(symgrad.grad(last)(0.0)), 6)
    (1.0, -1.0)
    """
    check_function(fun, "fun")
    solution = integrate.solve_ivp(fun, t_span, y0, method=method, t_eval=t_eval, args=args, rtol=rtol, atol=atol)
    convergence(solution.success, solution.message)
    return solution


def odeint(fun: Callable[..., Any], y0: Any, t: Any, *args: Any, rtol: float = 1e-8, atol: float = 1e-10) -> Any:
    """The solution of ``dy/dt = fun(y, t, *args)`` with ``y = y0`` at ``t[0]``, with ``scipy.integrate.odeint``.

    A matrix whose rows are the states at the times ``t``. It has derivatives with respect to ``y0``, ``t``, ``args`` and all else that
    ``fun`` reads. Where the last time is not reached a RuntimeWarning is given, and the derivative is nan.

    >>> import symgrad
    >>> text = "def last(k): return odeint(lambda y, t: k * y, [1.0], [0.0, 1.0])[-1, 0]"
    >>> last = symgrad.from_source(text, globals={"odeint": odeint})
    >>> round(float(last(0.0)), 6), round(float(symgrad.grad(last)(0.0)), 6)
    (1.0, 1.0)
    """
    check_function(fun, "fun")
    states, report = integrate.odeint(fun, y0, t, args=args, rtol=rtol, atol=atol, full_output=True)
    reached(report)
    return states


def quad(f: Callable[..., Any], a: float, b: float, *args: Any, epsabs: float = 1e-10, epsrel: float = 1e-10) -> Any:
    """The integral of ``f(x, *args)`` from ``a`` to ``b``, either of which may be infinite, with ``scipy.integrate.quad``.

    It has derivatives with respect to ``a``, ``b``, ``args`` and all else that ``f`` reads. Where the accuracy is not reached a
    RuntimeWarning is given, and the derivative is nan.

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
