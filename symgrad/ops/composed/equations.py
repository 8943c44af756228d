"""The equations that solvers of SciPy solve, said in NumPy: what their users' functions give, as one number or vector that is zero."""

from __future__ import annotations

from typing import Any

import numpy as np


def first_of(function: Any, x: Any, *args: Any) -> Any:
    """The first of what a function gives that gives its derivative too."""
    return function(x, *args)[0]


def vector_of(function: Any, x: Any, *args: Any) -> Any:
    """What a function gives as a vector."""
    return np.ravel(np.asarray(function(x, *args)))


def first_vector_of(function: Any, x: Any, *args: Any) -> Any:
    """The first of what a function gives, as a vector."""
    return np.ravel(np.asarray(function(x, *args)[0]))


def moved_by(function: Any, x: Any, *args: Any) -> Any:
    """How far a function moves what it is given: not at all if that is a fixed point."""
    return function(x, *args) - x


def within(gradient: Any, lower: Any, upper: Any, x: Any, *args: Any) -> Any:
    """What is zero at a minimum between bounds: the gradient, or the distance to a bound that is reached."""
    return np.where(x <= lower, x - lower, np.where(x >= upper, x - upper, gradient(x, *args)))
