"""An objective that depends on a tree of parameters, and its derivatives: of a function, or of an object such as a sum over shards."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from symgrad.api import value_and_grad
from symgrad.callables import derived
from symgrad.errors import BadArgument
from symgrad.integrations.vectors import HessianProduct, as_tuple, matrix
from symgrad.jacobians import hessian
from symgrad.jit import Jit
from symgrad.parameters import options as settings_of
from symgrad.trees import Form, form_of


class Objective:
    """A number that depends on a tree of parameters, and its derivatives. Calling the object returns ``value``."""

    def value(self, params: Any) -> Any:
        """The number."""
        raise NotImplementedError

    def value_and_grad(self, params: Any) -> tuple[Any, Any]:
        """Return the number and its gradient, a tree of the form of ``params``."""
        raise NotImplementedError

    def hvp(self, params: Any, v: Any) -> Any:
        """Return the product of the Hessian with ``v``; both have the form of the gradient."""
        raise NotImplementedError

    def hessian(self, params: Any) -> np.ndarray:
        """Return the Hessian as a matrix, rows and columns in the order of ``symgrad.ravel(params)``."""
        raise NotImplementedError

    def __call__(self, params: Any) -> Any:
        return self.value(params)


class OfFunction(Objective):
    """An objective defined by a function and further arguments; each derivative is compiled at its first call."""

    def __init__(self, function: Callable[..., Any], args: Any, jit: Jit) -> None:
        self.function, self.args, self.jit = function, as_tuple(args), jit

    @cached_property
    def _primal(self) -> Callable[..., Any]:
        return primal(self.function, self.jit)

    @cached_property
    def _both(self) -> Callable[..., Any]:
        return value_and_grad(self.function, jit=self.jit)

    @cached_property
    def _second(self) -> Callable[..., Any]:
        return hessian(self.function, jit=self.jit)

    @cached_property
    def _product(self) -> HessianProduct:
        return HessianProduct(self.function, self.args, self.jit)

    def value(self, params: Any) -> Any:
        return self._primal(params, *self.args)

    def value_and_grad(self, params: Any) -> tuple[Any, Any]:
        both: tuple[Any, Any] = self._both(params, *self.args)
        return both

    def hvp(self, params: Any, v: Any) -> Any:
        return self._product(params, v)

    def hessian(self, params: Any) -> np.ndarray:
        form = form_of(params, "params")
        whole: np.ndarray = matrix(self._second(params, *self.args), form, form)
        return whole


def primal(function: Callable[..., Any], jit: Jit) -> Callable[..., Any]:
    """Return the function itself, compiled if its derivatives are."""
    return function if jit is False else as_derived(function, jit)


def as_derived(function: Callable[..., Any], jit: Jit) -> Callable[..., Any]:
    """Return the function as generated code, which does not modify its arguments and can be pickled like a derivative."""
    written: Callable[..., Any] = derived(function, settings_of("primal", None, None, False, True, (), jit, False, None))
    return written


def objective_of(function: Any, args: Any, jit: Jit) -> Objective:
    """Return the objective for a function or objective passed to a solver; raise BadArgument for settings that the objective defines."""
    if not isinstance(function, Objective):
        return OfFunction(function, args, jit)
    kind = type(function).__name__
    if as_tuple(args):
        raise BadArgument(f"a {kind} takes no further arguments", hint=f"leave args out: the data of the function belongs to the {kind}")
    if jit is not False:
        raise BadArgument(f"a {kind} is compiled as its own jit says", hint=f"leave jit out here, and pass jit={jit!r} to {kind}")
    return function


def vector_of(form: Form, tree: Any) -> np.ndarray:
    """Return a gradient as a float64 vector, the form that solvers expect."""
    return form.vector(tree, np.dtype(float))
