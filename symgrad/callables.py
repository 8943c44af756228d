"""The callables that can be differentiated: functions, methods, instances, decorated methods; ``derived`` returns their derivatives."""

from __future__ import annotations

import functools
import inspect
import types
from dataclasses import replace
from typing import Any

from symgrad.bound import Bound, bound
from symgrad.derivatives import Derived, Directional, derive, not_whole
from symgrad.errors import BadArgument
from symgrad.frontend.functions.adapters import adapted, is_adapted, refused_class
from symgrad.frontend.objects.reading import LIBRARIES, root_of
from symgrad.frontend.text.source import describe, plain_function, seen_through
from symgrad.identity import Same
from symgrad.parameters import Options, What
from symgrad.runtime.marks import Checkpointed
from symgrad.tracebacks import boundary

STATE = "__symgrad__"  #: the attribute of a decorated function that holds its ``Options``


def derived(function: Any, settings: Options) -> Any:
    """Return the derivative of any supported callable: function, method, decorated function, derivative."""
    match function:
        case Directional():
            raise not_whole(function)
        case Derived() if function._options.what == "primal":  # which is the function itself
            return derive(function._function, settings)
        case Derived():
            return derive(function, settings)
        case Checkpointed():  # the whole runs once, even if a part of it is saved
            return derived(function.__wrapped__, settings)
        case types.MethodType() if is_adapted(function):
            return derive(adapted(function), settings)
        case Bound():
            return bound(derive(function._derived, replace(settings, bound=True)), function._instance)
        case BoundDifferentiable() | types.MethodType():
            instance = function.__self__
            return bound(derived(function.__func__, replace(settings, bound=True)), instance)
    if isinstance(function, classmethod):
        name = describe(function.__func__)
        raise BadArgument(f"{name} is a classmethod that belongs to no class yet", hint=f"look it up on its class: {name}")
    if (refusal := getattr(type(function), "__symgrad_refuses__", None)) is not None:
        raise BadArgument(refusal[0], hint=refusal[1])
    if not callable(function):
        raise BadArgument(f"{function!r} is not a function", hint="pass the function itself, not what it returns")
    is_users = isinstance(function, types.FunctionType) and not vars(function) and root_of(function) not in LIBRARIES
    if not is_users and is_adapted(function):
        return derive(adapted(function), settings)
    if isinstance(function, type):
        raise refused_class(function)
    call = getattr(type(function), "__call__", None)  # noqa: B004  # the function of the class, not whether there is one
    seen = getattr(type(function), "symgrad_transparent", False) or seen_through(function) is not None
    if isinstance(call, types.FunctionType) and not seen:
        return bound(derive(call, replace(settings, bound=True)), function)
    plain = plain_function(function if seen or isinstance(function, types.FunctionType | staticmethod) else adapted(function))
    state = getattr(function, STATE, None)
    if isinstance(state, Options):
        settings = replace(settings, no_grad=settings.no_grad | state.no_grad, has_aux=settings.has_aux or state.has_aux)
    return derive(plain, settings)


KINDS: tuple[What, ...] = ("grad", "value_and_grad", "vjp", "jvp", "linearize", "primal")


def is_written_in_class(function: types.FunctionType) -> bool:
    """Whether the function is defined in the body of a class."""
    return "." in function.__qualname__.rpartition("<locals>.")[2]


class Differentiable:
    """A decorated method in its class; lookup on an instance returns a ``BoundDifferentiable``."""

    symgrad_transparent = True

    def __init__(self, function: types.FunctionType, settings: Options) -> None:
        functools.update_wrapper(self, function)
        self._options = settings
        setattr(self, STATE, settings)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__wrapped__(*args, **kwargs)  # type: ignore[attr-defined]

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else BoundDifferentiable(self, instance)

    def _derived(self, what: What, bound: bool) -> Derived:
        return derive(self.__wrapped__, replace(self._options, what=what, bound=bound))  # type: ignore[attr-defined]

    @property
    @boundary
    def grad(self) -> Derived:
        """The gradient, called without an instance: positions in ``wrt`` count the first parameter."""
        return self._derived("grad", False)

    @property
    @boundary
    def value_and_grad(self) -> Derived:
        """Value and gradient, called without an instance."""
        return self._derived("value_and_grad", False)

    @property
    @boundary
    def vjp(self) -> Derived:
        """Output and pullback, called without an instance."""
        return self._derived("vjp", False)

    @property
    @boundary
    def jvp(self) -> Derived:
        """Output and tangent, called without an instance."""
        return self._derived("jvp", False)

    @property
    @boundary
    def linearize(self) -> Derived:
        """Output and linear function, called without an instance."""
        return self._derived("linearize", False)


class BoundDifferentiable:
    """A decorated method bound to an instance, with ``.grad`` and the other derivatives."""

    def __init__(self, method: Differentiable, instance: Any) -> None:
        self.__func__, self.__self__ = method, instance
        self.__name__, self.__doc__ = getattr(method, "__name__", "method"), method.__doc__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__func__(self.__self__, *args, **kwargs)

    @property
    @boundary
    def grad(self) -> Bound:
        """The gradient; positions in ``wrt`` count from the first parameter after the instance."""
        return bound(self.__func__._derived("grad", True), self.__self__)

    @property
    @boundary
    def value_and_grad(self) -> Bound:
        """Value and gradient."""
        return bound(self.__func__._derived("value_and_grad", True), self.__self__)

    @property
    @boundary
    def vjp(self) -> Bound:
        """Output and pullback."""
        return bound(self.__func__._derived("vjp", True), self.__self__)

    @property
    @boundary
    def jvp(self) -> Bound:
        """Output and tangent."""
        return bound(self.__func__._derived("jvp", True), self.__self__)

    @property
    @boundary
    def linearize(self) -> Bound:
        """Output and linear function."""
        return bound(self.__func__._derived("linearize", True), self.__self__)

    @property
    def __signature__(self) -> inspect.Signature:
        signature = inspect.signature(self.__func__.__wrapped__)  # type: ignore[attr-defined]
        return signature.replace(parameters=list(signature.parameters.values())[1:])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BoundDifferentiable) and self.__func__ is other.__func__ and self.__self__ is other.__self__

    def __hash__(self) -> int:
        return hash((Same(self.__func__), Same(self.__self__)))

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (self.__self__, self.__name__)
