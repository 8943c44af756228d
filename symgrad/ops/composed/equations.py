"""The equations that SciPy's solvers solve: residuals of the user's functions, as one number or vector that is zero at the solution."""

from __future__ import annotations

from typing import Any

import numpy as np


def first_of(function: Any, x: Any, *args: Any) -> Any:
    """Return the value of a function that also returns its derivative."""
    return function(x, *args)[0]


def vector_of(function: Any, *args: Any) -> Any:
    """Return the result of a function as a vector."""
    return np.ravel(np.asarray(function(*args)))


def first_vector_of(function: Any, *args: Any) -> Any:
    """Return the first result of a function as a vector."""
    return vector_of(first_of, function, *args)


def moved_by(function: Any, x: Any, *args: Any) -> Any:
    """Return ``g(x) - x``, which is zero at a fixed point."""
    return function(x, *args) - x


def within(gradient: Any, lower: Any, upper: Any, x: Any, *args: Any) -> Any:
    """Return a residual that is zero at a constrained minimum: the gradient, or the distance to an active bound."""
    return np.where(x <= lower, x - lower, np.where(x >= upper, x - upper, gradient(x, *args)))


def swapped_rate_of(function: Any, t: Any, y: Any, *args: Any) -> Any:
    """The rate of change of a state, as a vector, of a function that takes the state first."""
    return vector_of(function, y, t, *args)


def part_of(result: Any, name: str) -> Any:
    """An attribute of an object that SciPy returns; it has no derivative."""
    return getattr(result, name)


def reported_part(name: str) -> property:
    """Return an attribute of SciPy's result."""
    return property(lambda self: part_of(self.reported, name))


class Result:
    """A solver's result: attributes with a derivative are stored, messages and counts are read from the object ``reported``."""

    reported: Any

    def __getitem__(self, name: Any) -> Any:
        return getattr(self, name)

    success = reported_part("success")
    converged = reported_part("converged")
    status = reported_part("status")
    message = reported_part("message")
    flag = reported_part("flag")
    method = reported_part("method")
    nfev = reported_part("nfev")
    njev = reported_part("njev")
    nhev = reported_part("nhev")
    nlu = reported_part("nlu")
    nit = reported_part("nit")
    iterations = reported_part("iterations")
    function_calls = reported_part("function_calls")
