"""What type checkers are told: the types of derived functions, and of the keywords that derivatives have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ParamSpec, Protocol, TypedDict, TypeVar

from symgrad.jit import Jit
from symgrad.parameters import Checkpoints
from symgrad.verification.first_call import Verify

P = ParamSpec("P")
ROut = TypeVar("ROut", covariant=True)

#: several arguments, as ``wrt`` names them
Several = tuple[int | str, ...] | list[int | str]


class Common(TypedDict, total=False):
    """The keywords that all derivatives take."""

    strict: bool
    no_grad: Iterable[str]
    jit: Jit
    verify: Verify


class Settings(Common, total=False):
    """The keywords of ``jacobian`` and others that may be told of arguments without influence."""

    allow_unused: bool
    holomorphic: bool


class Sweeping(Settings, total=False):
    """The keywords of ``grad`` and ``value_and_grad``."""

    checkpoints: Checkpoints
    memory: int | str | None


class DerivedFunction(Protocol[P, ROut]):
    """A derivative: called as the function is, and asked for its code."""

    __name__: str

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> ROut: ...

    @property
    def grad(self) -> DerivedFunction[P, Any]: ...

    def source(self, *args: Any, **kwargs: Any) -> str: ...

    def ir(self, *args: Any, **kwargs: Any) -> str: ...

    def explain(self, *args: Any, **kwargs: Any) -> str: ...

    def compiled(self, *args: Any, **kwargs: Any) -> Callable[..., Any]: ...

    def debug(self, *args: Any, **kwargs: Any) -> Callable[..., Any]: ...


class WithVjp(Protocol[P, ROut]):
    """A function whose derivative is said by ``forward`` and ``backward``."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> ROut: ...

    def defvjp(self, forward: Callable[P, tuple[Any, Any]], backward: Callable[[Any, Any], tuple[Any, ...]]) -> None: ...


class WithJvp(Protocol[P, ROut]):
    """A function whose derivative is said by a rule for tangents."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> ROut: ...

    def defjvp(self, jvp: Callable[[Any, Any], tuple[Any, Any]]) -> Callable[[Any, Any], tuple[Any, Any]]: ...


__all__ = ["DerivedFunction", "WithJvp", "WithVjp"]
