"""The tasks of a worker in a sum over shards: loading a shard, computing its term, adding terms.

A term is a tuple of arrays (the value; the gradient as a vector; ...), so that sums do not depend on trees. This module does not depend on
the library that runs the cluster.
"""

from __future__ import annotations

import functools
import pickle
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgrad.api import grad, jvp, value_and_grad
from symgrad.errors import BadArgument, ClusterFailed, NotScalar, SourceNotFound, SymgradError
from symgrad.frontend.text.matching import same_code
from symgrad.integrations.objectives import as_derived
from symgrad.integrations.vectors import matrix
from symgrad.jacobians import hessian
from symgrad.jit import Jit
from symgrad.pickling import LIBRARIES, find, is_importable, reached_objects
from symgrad.runtime.load import imported
from symgrad.trees import Form, form_of
from symgrad.verification.duplicate import Duplicate, NotCopied

Term = tuple[np.ndarray, ...]


class Sent:
    """A value sent to workers as bytes, unpickled once by each process that needs it."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    @functools.cached_property
    def value(self) -> Any:
        """The value, as it arrived; ClusterFailed where a module is missing here."""
        try:
            return pickle.loads(self.data)
        except ModuleNotFoundError as missing:
            raise ClusterFailed(f"a worker cannot import {missing.name}, which the function is in", hint=way_there(missing.name)) from None

    def __reduce__(self) -> tuple[Any, ...]:
        return Sent, (self.data,)


def packed(value: Any, name: str) -> bytes:
    """Pickle a value, with the functions and classes of the program by value; raise BadArgument if it cannot be pickled."""
    try:
        data: bytes = imported("cloudpickle").dumps(value)
    except (TypeError, ValueError, AttributeError, pickle.PicklingError) as error:
        if isinstance(error, SymgradError):
            raise
        hint = "create on the workers the objects that cannot be sent, with load="
        raise BadArgument(f"{name} cannot be sent to workers: {error}", hint=hint) from error
    return data


def packed_function(function: Any, plain: Any, name: str) -> bytes:
    """A function, or its derivative, as bytes; they are only unpickled if functions pickled by name have the same code there as here.

    ``plain`` is the Python function at the bottom, if there is one.
    """
    reached = [held.value for held in reached_objects([plain])] if isinstance(plain, types.FunctionType) else []
    named = [value for value in reached if isinstance(value, types.FunctionType) and is_importable(value)]
    own = [value for value in named if value.__module__.partition(".")[0] not in LIBRARIES]
    codes = [(value.__module__, value.__qualname__, value.__code__) for value in own]
    return packed(Agreed(codes, packed(function, name)), name)


@dataclass(frozen=True, slots=True)
class Agreed:
    """A pickled function, with the code of all functions pickled by name; unpickling verifies that code."""

    codes: list[tuple[str, str, types.CodeType]]
    function: bytes

    def __reduce__(self) -> tuple[Any, ...]:
        return agreed, (self.codes, self.function)


def agreed(codes: list[tuple[str, str, types.CodeType]], function: bytes) -> Any:
    """Return the function; raise ClusterFailed if a function pickled by name differs in this process."""
    for module, name, code in codes:
        here = getattr(function_here(module, name), "__code__", None)
        if here is None or not same_code(here, code):
            raise ClusterFailed(f"{module}.{name} of a worker is another function than here", hint=way_there(module))
    return pickle.loads(function)


def function_here(module: str, name: str) -> Any:
    """Return the function of that name in a module of this process, or None."""
    try:
        return find(module, name)
    except (AttributeError, SourceNotFound):
        return None


def way_there(module: str | None) -> str:
    """Return a hint that tells how to make a module available to the workers."""
    return f"client.upload_file the file of {module}, or cloudpickle.register_pickle_by_value({module})"


# ------------------------------------------------------------------ shards


def for_one_call(shard: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return copies of the arguments for one call; raise BadArgument for iterators and similar objects."""
    try:
        arguments: tuple[Any, ...] = OnWorker().of(shard)
    except NotCopied as error:
        hint = "pass arrays, lists and plain objects to the function"
        raise BadArgument(f"the function cannot be called again with its arguments: {error}", hint=hint) from None
    return arguments


class OnWorker(Duplicate):
    """Copies of containers, so that nothing that one call puts into a list is there in the next; arrays stay, and cannot be written to."""

    def begun(self, value: Any) -> Any:
        if not isinstance(value, np.ndarray):
            return super().begun(value)
        view = value.view()
        view.flags.writeable = False
        return view


def as_arguments(value: Any) -> tuple[Any, ...]:
    """The arguments that a shard is: the items of a tuple, else the shard itself."""
    return tuple(value) if type(value) is tuple else (value,)


def loaded(load: Sent | None, shard: Any) -> tuple[Any, ...]:
    """The arguments of a shard, which stay where they are loaded."""
    value = shard.value if isinstance(shard, Sent) else shard
    return as_arguments(value) if load is None else as_arguments(load.value(*as_arguments(value)))


# ------------------------------------------------------------------ terms


def number(value: Any) -> np.ndarray:
    """The result of the function as an array without axes; NotScalar if it is no real number."""
    array = np.asarray(value)
    if array.shape != () or array.dtype.kind not in "fiu":
        said = f"an array of the shape {array.shape}" if isinstance(value, np.ndarray) else type(value).__name__
        raise NotScalar(f"the function returns {said}, and a sum over shards is of numbers", hint="return a float")
    return array


def value_alone(function: Any, form: Form, params: Any, direction: Any, arguments: tuple[Any, ...]) -> Term:
    """The value."""
    return (number(function(params, *arguments)),)


def value_and_vector(both: Any, form: Form, params: Any, direction: Any, arguments: tuple[Any, ...]) -> Term:
    """The value, and the gradient as a vector."""
    value, gradient = both(params, *arguments)
    return number(value), form.vector(gradient)


def product(pushed: Any, form: Form, params: Any, direction: Any, arguments: tuple[Any, ...]) -> Term:
    """The product of the Hessian with a direction, as a vector."""
    _, tangent = pushed((params, *arguments), (direction,))
    return (form.vector(tangent),)


def second(whole: Any, form: Form, params: Any, direction: Any, arguments: tuple[Any, ...]) -> Term:
    """The Hessian as a matrix."""
    return (matrix(whole(params, *arguments), form, form),)


#: the quantities that can be summed over shards: the derivative sent to workers, and the function that computes a term with it
TERMS: dict[str, tuple[Callable[[Any, Jit], Any], Callable[..., Term]]] = {
    "value": (as_derived, value_alone),
    "value_and_grad": (lambda function, jit: value_and_grad(function, jit=jit), value_and_vector),
    "hvp": (lambda function, jit: jvp(grad(function, jit=jit), wrt=0, jit=jit), product),
    "hessian": (lambda function, jit: hessian(function, jit=jit), second),
}


def term(kind: str, function: Sent, at: Sent, shard: tuple[Any, ...]) -> Term:
    """The term of one shard; ``at`` holds the parameters and the direction."""
    params, direction = at.value
    form = form_of(params, "params")
    _, compute = TERMS[kind]
    own = form.with_leaves(form.leaves(params))  # other shards of this worker are computed with the same parameters
    return compute(function.value, form, own, direction, for_one_call(shard))


def total(*terms: Term) -> Term:
    """The sum of some terms, added from left to right."""
    with np.errstate(all="ignore"):  # infinities and nan are right answers here
        return tuple(functools.reduce(np.add, parts) for parts in zip(*terms, strict=True))


__all__ = ["Sent", "loaded", "packed", "packed_function", "term", "total"]
