"""SciPy's solvers for plain functions of a tree of parameters, with derivatives by symgrad.

The functions of this module have the names and parameters of SciPy's. Where SciPy has a vector of unknowns, they have a tree of parameters
(see ``symgrad.ravel``). symgrad derives the gradients, Jacobians and Hessian-vector products. ``docs/solvers.md`` has an example of each.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from symgrad.errors import BadArgument, SciPyMissing
from symgrad.integrations.objectives import Objective, objective_of, primal, vector_of
from symgrad.integrations.vectors import Equations, as_tuple, box_of, matrix, refuse, start
from symgrad.jacobians import hessian
from symgrad.jit import Jit
from symgrad.tracebacks import boundary
from symgrad.trees import Form

try:
    from scipy import integrate, optimize
    from scipy.sparse.linalg import LinearOperator
except ImportError:
    __tracebackhide__ = True
    raise SciPyMissing("symgrad.integrations.scipy calls SciPy, which is not installed") from None

__all__ = ["curve_fit", "hessian_operator", "least_squares", "minimize", "root", "solve_ivp"]

Tree = TypeVar("Tree")

#: methods of ``minimize`` by the derivatives that they use
WITHOUT = ("nelder-mead", "powell", "cobyla", "cobyqa")
WITH_PRODUCTS = ("newton-cg", "trust-ncg", "trust-krylov")
WITH_MATRICES = ("dogleg", "trust-exact")


@boundary
def minimize(function: Callable[..., Any], params: Any, args: Any = (), method: str | None = None, *, jit: Jit = False,
             bounds: Any = None, constraints: Any = (), sparsity: Any = None, callback: Callable[..., Any] | None = None,
             **settings: Any) -> optimize.OptimizeResult:  # fmt: skip
    """Minimise the scalar ``function(params, *args)`` over a tree of parameters, by ``scipy.optimize.minimize``.

    - ``params`` is the start; ``function`` is called with trees of the same form. It may be a ``ShardedSum`` of
      ``symgrad.integrations.dask``, which has its own ``jit`` and accepts neither ``args`` nor ``sparsity``.
    - ``args`` is a tuple of further arguments; any other value is a single argument, as in SciPy.
    - ``method``: all methods that use derivatives receive the gradient. ``"Newton-CG"``, ``"trust-ncg"`` and ``"trust-krylov"`` also
      receive Hessian-vector products; ``"trust-constr"`` a ``LinearOperator`` for these, or with ``sparsity`` (see ``symgrad.hessian``) a
      sparse Hessian; ``"dogleg"`` and ``"trust-exact"`` the Hessian. ``"Nelder-Mead"``, ``"Powell"``, ``"COBYLA"`` and ``"COBYQA"``
      use no derivatives.
    - ``jit`` compiles the derivatives, as for ``symgrad.grad``.
    - ``bounds`` is a tuple ``(lower, upper)`` or SciPy's ``Bounds``. Each bound is a number for all parameters, None, or a tree of the form
      of ``params`` whose leaves are numbers, None or arrays.
    - ``constraints`` are SciPy's dicts or ``NonlinearConstraint`` objects, with functions of a tree and without derivatives, or a
      ``LinearConstraint`` on the vector.
    - ``callback`` is called with a tree. The other keywords are SciPy's (``tol``, ``options``).

    Returns SciPy's result with a tree as ``x``; its other fields refer to the vector of ``symgrad.ravel``. Raises BadArgument for bounds of
    another form and for derivatives among the keywords, and the errors of ``ravel`` and ``grad``.

    >>> import symgrad
    >>> loss = symgrad.from_source("def loss(p): return (p['a'] - 3.0) ** 2 + np.sum((p['b'] - p['a']) ** 2)", globals={"np": np})
    >>> result = minimize(loss, {"a": 0.0, "b": np.zeros(2)}, method="trust-ncg")
    >>> round(result.x["a"], 6), result.x["b"].round(6)
    (3.0, array([3., 3.]))
    """
    refuse("minimize", settings, ("jac", "hess", "hessp", "x0", "fun"))
    form, args, kind = start(params), as_tuple(args), (method or "").lower()
    objective = objective_of(function, args, jit)
    if sparsity is not None:
        check_sparsity(objective is function, method, kind)
        second = hessian(function, jit=jit, sparsity=sparsity)
        settings["hess"] = lambda x: matrix(second(form.tree(x), *args), form, form)
    if kind in WITHOUT:
        settings["fun"] = lambda x: objective.value(form.tree(x))
    else:
        settings |= {"fun": lambda x: value_and_vector(objective.value_and_grad(form.tree(x)), form), "jac": True}
    if kind in WITH_PRODUCTS:
        settings["hessp"] = lambda x, v: product_with(objective, form, form.tree(x), v)
    elif kind in WITH_MATRICES:
        settings["hess"] = lambda x: objective.hessian(form.tree(x))
    elif kind == "trust-constr" and sparsity is None:
        settings["hess"] = lambda x: operator(objective, form, form.tree(x))
    if bounds is not None:
        settings["bounds"] = bounds if isinstance(bounds, optimize.Bounds) else optimize.Bounds(*box_of(bounds, form))
    if (limits := constraints_of(constraints, form, jit)) != []:
        settings["constraints"] = limits
    if callback is not None:
        settings["callback"] = callback_of(callback, form)
    return with_tree(optimize.minimize(x0=form.vector(params, np.dtype(float)), method=method, **settings), form)


@boundary
def hessian_operator(function: Callable[..., Any], params: Any, *args: Any, jit: Jit = False) -> LinearOperator:
    """Return the Hessian of the scalar ``function(params, *args)`` as a ``scipy.sparse.linalg.LinearOperator``.

    It acts on vectors in the order of ``symgrad.ravel(params)``. A product costs a few gradients; the Hessian is not computed. The first
    product raises the errors of ``symgrad.jvp``.

    >>> import symgrad
    >>> loss = symgrad.from_source("def loss(p): return p[0] ** 2 * p[1]")
    >>> hessian_operator(loss, [2.0, 3.0]) @ np.array([1.0, 0.0])
    array([6., 4.])
    """
    return operator(objective_of(function, args, jit), start(params), params)


@boundary
def least_squares(
    function: Callable[..., Any],
    params: Any,
    args: Any = (),
    *,
    jit: Jit = False,
    bounds: Any = None,
    sparsity: Any = None,
    **settings: Any,
) -> optimize.OptimizeResult:
    """Minimise the sum of squares of ``function(params, *args)``, by ``scipy.optimize.least_squares``.

    The function returns an array of residuals, or a tree of arrays. ``jit`` compiles the Jacobian. With ``sparsity`` (see
    ``symgrad.jacobian``) the Jacobian is a sparse array, computed in as few sweeps as its pattern allows, for the methods ``"trf"`` and
    ``"dogbox"``. ``params``, ``bounds`` and the result are those of ``minimize``; the other keywords are SciPy's (``method``, ``loss``,
    ...).

    >>> import symgrad
    >>> text = "def misfit(p, t, y): return p['scale'] * np.exp(-p['rate'] * t) - y"
    >>> misfit, t = symgrad.from_source(text, globals={"np": np}), np.linspace(0.0, 4.0, 9)
    >>> fit = least_squares(misfit, {"scale": 1.0, "rate": 1.0}, args=(t, 2.0 * np.exp(-0.7 * t)))
    >>> round(fit.x["scale"], 6), round(fit.x["rate"], 6)
    (2.0, 0.7)
    """
    refuse("least_squares", settings, ("jac", "jac_sparsity", "x0", "fun"))
    form = start(params)
    if sparsity is not None and settings.get("method") == "lm":
        raise BadArgument("method='lm' takes no sparse Jacobian", hint='leave sparsity out, or use method="trf"')
    equations = Equations(primal(function, jit), function, form, args, jit, sparsity)
    if bounds is not None:
        settings["bounds"] = box_of(bounds, form)
    solution = optimize.least_squares(equations.values, form.vector(params, np.dtype(float)), jac=equations.jacobian, **settings)
    return with_tree(solution, form)


@boundary
def root(
    function: Callable[..., Any],
    params: Any,
    args: Any = (),
    method: str = "hybr",
    *,
    jit: Jit = False,
    sparsity: Any = None,
    **settings: Any,
) -> optimize.OptimizeResult:
    """Find parameters where ``function(params, *args)`` is zero, by ``scipy.optimize.root``.

    The function returns as many numbers as there are parameters, as an array or a tree. Methods ``"hybr"`` and ``"lm"`` receive the
    Jacobian, which ``jit`` compiles; the other methods use no derivative. With ``sparsity`` (see ``symgrad.jacobian``) the Jacobian is
    computed in as few sweeps as its pattern allows, and passed as a dense matrix, the only form that these methods accept. ``params`` and
    the result are those of ``minimize``; the other keywords are SciPy's.

    >>> import symgrad
    >>> circle = symgrad.from_source("def circle(p): return [p[0] ** 2 + p[1] ** 2 - 1.0, p[0] - p[1]]")
    >>> [round(x, 6) for x in root(circle, (1.0, 0.5)).x]
    [0.707107, 0.707107]
    """
    refuse("root", settings, ("jac", "x0", "fun"))
    form = start(params)
    equations = Equations(primal(function, jit), function, form, args, jit, sparsity)
    if method in ("hybr", "lm"):
        settings["jac"] = equations.dense
    elif sparsity is not None:
        raise BadArgument(f"method={method!r} takes no Jacobian", hint='leave sparsity out, or use method="hybr"')
    return with_tree(optimize.root(equations.values, form.vector(params, np.dtype(float)), method=method, **settings), form)


@boundary
def curve_fit(
    function: Callable[..., Any], xdata: Any, ydata: Any, params: Tree, *, jit: Jit = False, bounds: Any = None, **settings: Any
) -> Any:
    """Fit ``function(xdata, params)`` to ``ydata`` by least squares, with ``scipy.optimize.curve_fit``.

    The function returns a vector; ``jit`` compiles its Jacobian. Returns a tuple: the tree of parameters, and their covariance matrix in
    the order of ``symgrad.ravel(params)``; with ``full_output=True`` also SciPy's three further results. ``bounds`` are those of
    ``minimize``; the other keywords are SciPy's (``sigma``, ``absolute_sigma``, ``method``, ...).

    >>> import symgrad
    >>> line = symgrad.from_source("def line(x, p): return p['slope'] * x + p['start']")
    >>> x = np.arange(5.0)
    >>> best, covariance = curve_fit(line, x, 2.0 * x + 1.0, {"slope": 1.0, "start": 0.0})
    >>> round(best["slope"], 6), round(best["start"], 6), covariance.shape
    (2.0, 1.0, (2, 2))
    """
    refuse("curve_fit", settings, ("jac", "p0", "f"))
    form, plain = start(params), primal(function, jit)
    equations = Equations(plain, function, form, (), jit, None, before=True)
    if bounds is not None:
        settings["bounds"] = box_of(bounds, form)
    vector, *rest = optimize.curve_fit(
        lambda x, *numbers: equations.values(numbers, x),
        xdata,
        ydata,
        p0=form.vector(params, np.dtype(float)),
        jac=lambda x, *numbers: equations.dense(numbers, x),
        **settings,
    )
    return form.tree(vector), *rest


@boundary
def solve_ivp(
    function: Callable[..., Any],
    t_span: Sequence[float],
    y0: Any,
    method: str = "RK45",
    *,
    args: Any = (),
    jit: Jit = False,
    sparsity: Any = None,
    events: Any = None,
    **settings: Any,
) -> optimize.OptimizeResult:
    """Solve ``dy/dt = function(t, y, *args)`` with initial value ``y0``, by ``scipy.integrate.solve_ivp``.

    ``y0`` is a tree of floats, and ``function`` returns a tree of the same form. ``"Radau"``, ``"BDF"`` and ``"LSODA"`` receive the
    Jacobian, which ``jit`` compiles; with ``sparsity`` (see ``symgrad.jacobian``) ``"Radau"`` and ``"BDF"`` receive a sparse array.
    ``events`` are functions of ``t``, a tree and ``args``. The other keywords are SciPy's (``t_eval``, ``rtol``, ``dense_output``, ...).

    Returns SciPy's result with a tree as ``y``; the last axis of each leaf is that of the times. The other fields refer to vectors. Raises
    BadArgument where the method does not use ``sparsity``, and where the function returns a tree of another form.

    >>> import symgrad
    >>> swing = symgrad.from_source("def swing(t, y): return {'angle': y['speed'], 'speed': -y['angle']}")
    >>> run = solve_ivp(swing, (0.0, np.pi), {"angle": 1.0, "speed": 0.0}, method="Radau", rtol=1e-8, atol=1e-8)
    >>> run.y["angle"][[0, -1]].round(4)
    array([ 1., -1.])
    """
    refuse("solve_ivp", settings, ("jac", "jac_sparsity", "fun", "vectorized"))
    form, args = start(y0), as_tuple(args)
    equations = Equations(primal(function, jit), function, form, args, jit, sparsity, before=True, rows=form)
    if sparsity is not None and method not in ("Radau", "BDF"):
        raise BadArgument(f"method={method!r} takes no sparse Jacobian", hint='leave sparsity out, or use method="BDF"')
    if method in ("Radau", "BDF", "LSODA"):
        settings["jac"] = lambda t, y: equations.jacobian(y, t)
    if events is not None:
        settings["events"] = [event_of(event, form, args) for event in ([events] if callable(events) else events)]
    first = form.vector(y0, np.dtype(float))
    run = integrate.solve_ivp(lambda t, y: equations.values(y, t), t_span, first, method=method, **settings)
    run.y = form.stack(run.y)
    return run


# ------------------------------------------------------------------ arguments of the solvers


def check_sparsity(own: bool, method: str | None, kind: str) -> None:
    """Raise unless the method accepts a sparse Hessian and the objective is a plain function."""
    if kind != "trust-constr":
        raise BadArgument(f"method={method!r} takes no sparse Hessian", hint='leave sparsity out, or use method="trust-constr"')
    if own:
        raise BadArgument("the objective computes its derivatives itself, and no sparse Hessian", hint="leave sparsity out")


def value_and_vector(result: tuple[Any, Any], form: Form) -> tuple[float, np.ndarray]:
    """Return value and gradient in SciPy's form."""
    value, gradient = result
    return float(value), vector_of(form, gradient)


def product_with(objective: Objective, form: Form, params: Any, v: np.ndarray) -> np.ndarray:
    """The product of the Hessian at some parameters with a vector."""
    return vector_of(form, objective.hvp(params, form.tangent(np.ravel(v))))


def operator(objective: Objective, form: Form, params: Any) -> LinearOperator:
    """The Hessian at some parameters as an operator."""

    def product(v: np.ndarray) -> np.ndarray:
        return product_with(objective, form, params, v)

    return LinearOperator((form.size, form.size), matvec=product, rmatvec=product, dtype=np.dtype(float))


def constraints_of(constraints: Any, form: Form, jit: Jit) -> list[Any]:
    """Constraints on trees as constraints on vectors."""
    alone = isinstance(constraints, dict | optimize.NonlinearConstraint | optimize.LinearConstraint)
    each: Iterable[Any] = [constraints] if alone else constraints
    return [constraint_of(one, form, jit) for one in each]


def constraint_of(constraint: Any, form: Form, jit: Jit) -> Any:
    """One constraint, with its Jacobian by symgrad."""
    match constraint:
        case dict():
            refuse("the constraint", constraint, ("jac",))
            function = constraint["fun"]
            equations = Equations(primal(function, jit), function, form, constraint.get("args", ()), jit, None)
            return {"type": constraint["type"], "fun": equations.values, "jac": equations.dense}
        case optimize.NonlinearConstraint():
            if callable(constraint.jac) or callable(constraint.hess):
                raise BadArgument("symgrad derives the Jacobian of the constraint", hint="leave jac and hess out of NonlinearConstraint")
            equations = Equations(primal(constraint.fun, jit), constraint.fun, form, (), jit, None)
            return optimize.NonlinearConstraint(
                equations.values,
                constraint.lb,
                constraint.ub,
                jac=equations.dense,
                hess=constraint.hess,
                keep_feasible=constraint.keep_feasible,
            )
    return constraint


def callback_of(callback: Callable[..., Any], form: Form) -> Callable[..., Any]:
    """Return a callback that receives trees; the name of its parameter tells SciPy what to pass."""
    if set(inspect.signature(callback).parameters) == {"intermediate_result"}:

        def with_result(intermediate_result: Any) -> Any:
            return callback(intermediate_result=with_tree(optimize.OptimizeResult(intermediate_result), form))

        return with_result
    return lambda x, *rest: callback(form.tree(x), *rest)


def event_of(event: Callable[..., Any], form: Form, args: Any) -> Callable[..., Any]:
    """Return an event as a function of a vector, with the attributes that SciPy reads."""

    def of_vector(t: float, y: np.ndarray) -> Any:
        return event(t, form.tree(y), *args)

    for name in ("terminal", "direction"):
        if hasattr(event, name):
            setattr(of_vector, name, getattr(event, name))
    return of_vector


def with_tree(solution: optimize.OptimizeResult, form: Form) -> optimize.OptimizeResult:
    """SciPy's result with a tree as ``x``."""
    solution.x = form.tree(solution.x)
    return solution
