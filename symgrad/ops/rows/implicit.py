"""table: solutions that SciPy's solvers return, with the derivative that follows from the solved equation.

``solver`` calls SciPy; its result has no derivative. ``implicit``, ``attained``, ``integral`` and ``trajectory`` return that result,
each with the derivative of the solution of a kind of equation. ``adjoint/solvers/solutions.py``, ``trajectories.py`` and
``tangent/trajectories.py`` emit that derivative on demand, as calls of solvers and rows of these kinds. ``weighted_sensitivity`` is
such a derivative: the cotangents of a trajectory, computed by the adjoint equation.
"""

from __future__ import annotations

from typing import Any

from symgrad.ir.types import UNKNOWN, Scalar, Type
from symgrad.ops.declare import RUNTIME, Law, constant, missing, rule
from symgrad.ops.indexing import Extents
from symgrad.ops.shapes import same_law
from symgrad.text import attribute


def _stated(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    stated: Type | None = settings["type"]
    return UNKNOWN if stated is None else stated


def _part(settings: dict[str, Any], types: list[Type]) -> str:
    part = settings["part"]
    if part is None:
        return "result"
    return attribute("result", part) if isinstance(part, str) else f"result[{part}]"


def _factor(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return Scalar("float")


def _of_operand(first: int) -> Law:
    """The type of the operand at ``position``, which counts from the operand ``first``."""

    def law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
        of: Type = types[first + settings["position"]]
        return of

    return law


#: the settings of the rows of a differential equation, and how one hands them on to another
_SOLVED = "func=None, solver='solve_ivp', words=(), sensitivity='auto'"
_EQUATION = "func=func, solver=solver, words=words, sensitivity=sensitivity"


def _moved(position: int | str) -> str:
    """The cotangent of one operand of a trajectory."""
    return f"trajectory_backward(out_grad, out, valid, start, times, y0, *rest, {_EQUATION}, position={position})"


def _weighted(position: int | str) -> str:
    """The cotangent of one operand of cotangents of a trajectory."""
    operands = "out_grad, weights, start, times, y0, *rest"
    return f"weighted_sensitivity_backward({operands}, {_EQUATION}, columns=columns, position={position})"


# a call of SciPy; among the operands may be functions of the program
constant("solver(f, *args, names=(), type=None)", _stated, emit="f(*args)")
# an item of its result, by index, or an attribute, by name; of an array without axes the number, by ()
constant("solved(result, part=0, type=None)", _stated, emit=_part)
# whether ``quad`` returns a message with ``full_output=True``: 1 or nan
constant("integrated(result)", _factor, emit=RUNTIME)
# whether ``odeint`` reports success with ``full_output=True``: 1 or nan
constant("reached(report)", _factor, emit=RUNTIME)
# one, or, after a warning with the solver's message, nan
constant("convergence(success, message)", _factor, emit=RUNTIME)
# the states that ``solve_ivp`` returns, or, after a warning with its message, nan
constant("states_reached(result, initial, times, type=None)", _stated, emit="states_reached(result, initial, times)")
# ``x`` solves ``func(x, *rest) == 0``; its derivative is multiplied by ``valid``
rule(
    "implicit(x, valid, *rest, func=None)",
    same_law,
    emit="x",
    alias="same",
    cheap=True,
    x_grad=None,
    valid_grad=None,
    rest_grad="implicit_backward(out_grad, out, valid, *rest, func=func, position=position)",
)
missing("implicit_backward(g, out, valid, *rest, func=None, position=0)", _of_operand(3), "it is written out after differentiating")
# ``value`` is ``func(*rest)``, which a solver has computed
rule(
    "attained(value, *rest, func=None)",
    same_law,
    emit="value",
    alias="same",
    cheap=True,
    value_grad=None,
    rest_grad="attained_backward(out_grad, *rest, func=func, position=position)",
)
missing("attained_backward(g, *rest, func=None, position=0)", _of_operand(1), "it is written out after differentiating")
# ``value`` is the integral of ``func(x, *rest)`` from ``a`` to ``b``; the first of ``rest`` are the values of the keywords ``words``
rule(
    "integral(value, valid, a, b, *rest, func=None, words=())",
    same_law,
    emit="value",
    alias="same",
    cheap=True,
    value_grad=None,
    valid_grad=None,
    a_grad="integral_backward(out_grad, valid, a, b, *rest, func=func, words=words, position=-2)",
    b_grad="integral_backward(out_grad, valid, a, b, *rest, func=func, words=words, position=-1)",
    rest_grad="integral_backward(out_grad, valid, a, b, *rest, func=func, words=words, position=position)",
)
missing(
    "integral_backward(g, valid, a, b, *rest, func=None, words=(), position=0)", _of_operand(4), "it is written out after differentiating"
)

# the columns of ``value`` are the states at ``times`` of the solution of ``dy/dt = func(t, y, *rest)`` from ``y0`` at ``start``; the first
# of ``rest`` are the values of the keywords ``words``; ``sensitivity`` selects the equation by which it is differentiated
rule(
    f"trajectory(value, valid, start, times, y0, *rest, {_SOLVED})",
    same_law,
    emit="value",
    alias="same",
    cheap=True,
    value_grad=None,
    valid_grad=None,
    start_grad=_moved(-3),
    times_grad=_moved(-2),
    y0_grad=_moved(-1),
    rest_grad=_moved("position"),
)
missing(
    f"trajectory_backward(g, out, valid, start, times, y0, *rest, {_SOLVED}, position=0)",
    _of_operand(6),
    "it is written out after differentiating",
)
# ``value`` holds the cotangents of ``y0`` and of the items of ``rest`` at ``columns``, counted after the keywords, for the cotangents
# ``weights`` of the states of that trajectory
rule(
    f"weighted_sensitivity(value, weights, start, times, y0, *rest, {_SOLVED}, columns=())",
    same_law,
    emit="value",
    alias="same",
    cheap=True,
    value_grad=None,
    weights_grad=_weighted(-4),
    start_grad=_weighted(-3),
    times_grad=_weighted(-2),
    y0_grad=_weighted(-1),
    rest_grad=_weighted("position"),
)
missing(
    f"weighted_sensitivity_backward(g, weights, start, times, y0, *rest, {_SOLVED}, columns=(), position=0)",
    _of_operand(5),
    "it is written out after differentiating",
)

#: rows that are their first operand, with another derivative
SOLUTIONS = frozenset({"implicit", "attained", "integral", "trajectory", "weighted_sensitivity"})
#: rows of their derivatives, which are written out
PULLED_BACK = frozenset(f"{name}_backward" for name in SOLUTIONS)
