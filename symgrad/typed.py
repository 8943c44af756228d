"""Static types of derived functions, and of the keyword arguments that the operators share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Concatenate, ParamSpec, Protocol, TypedDict, TypeVar, overload

from symgrad.jit import Jit
from symgrad.parameters import Checkpoints, Wrt
from symgrad.verification.first_call import Verify

P = ParamSpec("P")
Q = ParamSpec("Q")
X = TypeVar("X")
R = TypeVar("R")
ROut = TypeVar("ROut", covariant=True)

#: several arguments, as ``wrt`` names them
Several = tuple[int | str, ...] | list[int | str]


class Common(TypedDict, total=False):
    """The keyword arguments of all derivatives."""

    strict: bool
    no_grad: Iterable[str]
    jit: Jit
    verify: Verify


class Settings(Common, total=False):
    """The keyword arguments of ``jacobian`` and others that handle arguments without influence."""

    allow_unused: bool
    holomorphic: bool


class Sweeping(Settings, total=False):
    """The keyword arguments of ``grad`` and ``value_and_grad``."""

    checkpoints: Checkpoints
    memory: int | str | None


class Declared(Common, total=False):
    """The keyword arguments of ``differentiable``."""

    wrt: Wrt
    argnums: Wrt
    has_aux: bool
    allow_unused: bool


class DerivedFunction(Protocol[P, ROut]):
    """A derivative: called like the function, with methods that return its code."""

    __name__: str

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> ROut: ...

    @property
    def grad(self) -> DerivedFunction[P, Any]: ...

    def source(self, *args: Any, **kwargs: Any) -> str: ...

    def ir(self, *args: Any, **kwargs: Any) -> str: ...

    def explain(self, *args: Any, **kwargs: Any) -> str: ...

    def compiled(self, *args: Any, **kwargs: Any) -> Callable[..., Any]: ...

    def debug(self, *args: Any, **kwargs: Any) -> Callable[..., Any]: ...


class DifferentiableFunction(Protocol[P, ROut]):
    """A function with its derivatives; lookup on an instance returns a method that has them too."""

    __name__: str

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> ROut: ...

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> DifferentiableFunction[P, ROut]: ...
    @overload
    def __get__(
        self: DifferentiableFunction[Concatenate[X, Q], ROut], instance: X, owner: type | None = None
    ) -> DifferentiableFunction[Q, ROut]: ...

    @property
    def grad(self) -> DerivedFunction[P, Any]: ...

    @property
    def value_and_grad(self) -> DerivedFunction[P, tuple[ROut, Any]]: ...

    @property
    def vjp(self) -> DerivedFunction[P, tuple[ROut, Callable[..., tuple[Any, ...]]]]: ...

    @property
    def jvp(self) -> DerivedFunction[..., tuple[ROut, ROut]]: ...

    @property
    def linearize(self) -> DerivedFunction[P, tuple[ROut, Callable[..., ROut]]]: ...


class Decorator(Protocol):
    """``differentiable`` with settings, as a decorator."""

    @overload
    def __call__(self, function: staticmethod[P, R] | classmethod[X, P, R]) -> Any: ...
    @overload
    def __call__(self, function: Callable[P, R]) -> DifferentiableFunction[P, R]: ...


class WithVjp(Protocol[P, ROut]):
    """A function whose derivative is defined by ``forward`` and ``backward``."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> ROut: ...

    def defvjp(self, forward: Callable[P, tuple[Any, Any]], backward: Callable[[Any, Any], tuple[Any, ...]]) -> None: ...


class WithJvp(Protocol[P, ROut]):
    """A function whose derivative is defined by a rule for tangents."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> ROut: ...

    def defjvp(self, jvp: Callable[[Any, Any], tuple[Any, Any]]) -> Callable[[Any, Any], tuple[Any, Any]]: ...


__all__ = ["DerivedFunction", "DifferentiableFunction", "WithJvp", "WithVjp"]
