"""A derivative bound to an instance, as Python binds a method."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any, Protocol

from symgrad.runtime.load import imported
from symgrad.tracebacks import REFUSALS, boundary, is_trimmed

Stage = str | tuple[str, ...] | list[str] | None  #: a stage of the pipeline, or a pair of them


class Derivative(Protocol):
    """A derived function whose first parameter is the instance."""

    __name__: str
    _function: types.FunctionType

    @property
    def __signature__(self) -> inspect.Signature: ...

    @property
    def grad(self) -> Derivative: ...

    def compiled(self, *args: Any, **kwargs: Any) -> Callable[..., Any]: ...

    def source(self, *args: Any, **kwargs: Any) -> str: ...

    def ir(self, *args: Any, stage: Stage = None, **kwargs: Any) -> str: ...

    def explain(self, *args: Any, **kwargs: Any) -> str: ...

    def debug(self, *args: Any, **kwargs: Any) -> Callable[..., Any]: ...


class Bound:
    """A derived function bound to an instance, as in ``M().loss.grad``."""

    def __init__(self, derived: Derivative, instance: Any) -> None:
        self._derived, self._instance = derived, instance
        self.__name__, self.__doc__ = derived.__name__, derived.__doc__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        call: Any = self._derived
        try:
            return call(self._instance, *args, **kwargs)
        except REFUSALS as error:
            if not is_trimmed(error):
                raise
            __tracebackhide__ = True
            raise error

    @property
    def __self__(self) -> Any:
        return self._instance

    @property
    def __wrapped__(self) -> Any:
        return types.MethodType(self._derived._function, self._instance)

    @property
    def __signature__(self) -> inspect.Signature:
        signature = self._derived.__signature__
        return signature.replace(parameters=list(signature.parameters.values())[1:])

    @property
    @boundary
    def grad(self) -> Bound:
        """Return the gradient of this derivative."""
        return Bound(self._derived.grad, self._instance)

    @boundary
    def compiled(self, *args: Any, **kwargs: Any) -> Callable[..., Any]:
        """Return the generated function for arguments of these types; its first parameter is the instance."""
        return self._derived.compiled(self._instance, *args, **kwargs) if args or kwargs else self._derived.compiled()

    @boundary
    def source(self, *args: Any, **kwargs: Any) -> str:
        """Return the generated source for arguments of these types."""
        return self._derived.source(self._instance, *args, **kwargs) if args or kwargs else self._derived.source()

    @boundary
    def ir(self, *args: Any, stage: Stage = None, **kwargs: Any) -> str:
        """Return the IR as text for arguments of these types."""
        return self._derived.ir(self._instance, *args, stage=stage, **kwargs) if args or kwargs else self._derived.ir(stage=stage)

    @boundary
    def explain(self, *args: Any, **kwargs: Any) -> str:
        """Return, for each line, how the derivative treats it, and why, for arguments of these types."""
        return self._derived.explain(self._instance, *args, **kwargs) if args or kwargs else self._derived.explain()

    @boundary
    def debug(self, *args: Any, **kwargs: Any) -> Callable[..., Any]:
        """Return a function that a debugger can step through, for arguments of these types."""
        return functools.partial(self._derived.debug(self._instance, *args, **kwargs), self._instance)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Return the representations that a notebook shows."""
        shown: dict[str, str] = imported("symgrad.notebook.display").bundle(self)
        return shown

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._derived, self._instance)

    def __repr__(self) -> str:
        return f"<{self._derived!r} of {self._instance!r}>"


class BoundDirectional(Bound):
    """A directional derivative bound to an instance, which has no tangent."""

    @boundary
    def __call__(self, primals: tuple[Any, ...], tangents: tuple[Any, ...], /, **kwargs: Any) -> Any:
        derived: Any = self._derived
        return derived.pushed((self._instance,), primals, tangents, kwargs)


class BoundLinearized(Bound):
    """A linearised function bound to an instance, which has no tangent."""

    @boundary
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        derived: Any = self._derived
        return derived.pushed((self._instance,), args, None, kwargs)


def bound(derived: Any, instance: Any) -> Bound:
    """Bind a derived function to an instance."""
    kinds: dict[str, type[Bound]] = {"jvp": BoundDirectional, "linearize": BoundLinearized}
    return kinds.get(derived._options.what, Bound)(derived, instance)
