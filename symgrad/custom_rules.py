"""``custom_vjp`` and ``custom_jvp``: user functions whose derivative is computed by other user functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

from symgrad.dispatch.table import forget_all
from symgrad.errors import BadArgument
from symgrad.ops import declarations
from symgrad.rules import remember
from symgrad.tracebacks import boundary
from symgrad.typed import WithJvp, WithVjp

P = ParamSpec("P")
R = TypeVar("R")


@boundary
def custom_vjp(function: Callable[P, R], forward: Any = None, backward: Any = None) -> WithVjp[P, R]:
    """Define a function's derivative: ``forward(*args) -> out, residuals`` and ``backward(residuals, out_grad) -> gradients``.

    Use it as a decorator, followed by ``f.defvjp(forward, backward)``, or as a call with all three functions. ``backward`` returns a tuple
    with one gradient for each argument, or None for zero. Second derivatives differentiate ``forward`` and ``backward``.

    >>> import symgrad
    >>> names = {}
    >>> cube = symgrad.from_source("def cube(x): return x ** 3", globals=names)
    >>> forward = symgrad.from_source("def forward(x): return x ** 3, x", globals=names)
    >>> backward = symgrad.from_source("def backward(x, out_grad): return (3 * x ** 2 * out_grad,)", globals=names)
    >>> names["cube"] = custom_vjp(cube, forward, backward)
    >>> symgrad.grad(symgrad.from_source("def f(x): return 2 * cube(x)", globals=names))(2.0)
    24.0
    """
    if not callable(function):
        raise BadArgument(f"{function!r} is not a function", hint="declare the function itself")
    if (forward is None) != (backward is None):
        raise BadArgument("a custom_vjp needs both functions, forward and backward")

    def defvjp(forward: Callable[..., Any], backward: Callable[..., Any]) -> None:
        """Define the derivative."""
        if not callable(forward) or not callable(backward):
            raise BadArgument("forward and backward are functions")
        enter_custom(function, forward, backward)

    try:
        function.defvjp = defvjp  # type: ignore[attr-defined]
    except AttributeError:
        if forward is None:
            raise BadArgument(f"{function!r} can have no defvjp", hint="custom_vjp(function, forward, backward)") from None
    enter_custom(function, forward, backward)
    return cast("WithVjp[P, R]", function)


def enter_custom(function: Any, forward: Any, backward: Any) -> None:
    """Register the three functions for the frontend."""
    try:
        declarations.DECLARED[function] = declarations.Custom(function, forward, backward)
    except TypeError:
        raise BadArgument(f"{function!r} cannot be declared: it has no hash") from None
    remember(function, enter_custom, forward, backward)
    forget_all()


@boundary
def custom_jvp(function: Callable[P, R], jvp: Any = None) -> WithJvp[P, R]:
    """Define the derivative of a function by a rule for tangents: ``jvp(primals, tangents) -> out, tangent``.

    ``primals`` and ``tangents`` are tuples with one item for each argument; the tangent of an integer is None. Use it as a decorator,
    followed by ``f.defjvp(jvp)``, or as a call with both functions. The rule must be linear in the tangents. It serves both modes:
    reverse mode transposes it.

    >>> import symgrad
    >>> cube = symgrad.from_source("def cube(x): return x ** 3")
    >>> rule = symgrad.from_source("def rule(primals, tangents): return cube(primals[0]), 3 * primals[0] ** 2 * tangents[0]")
    >>> _ = symgrad.custom_jvp(cube, rule)
    """
    if not callable(function):
        raise BadArgument(f"{function!r} is not a function", hint="declare the function itself")

    def defjvp(jvp: Callable[..., Any]) -> Callable[..., Any]:
        """Define the derivative."""
        if not callable(jvp):
            raise BadArgument("the rule of a custom_jvp is a function")
        enter_custom_jvp(function, jvp)
        return jvp

    try:
        function.defjvp = defjvp  # type: ignore[attr-defined]
    except AttributeError:
        if jvp is None:
            raise BadArgument(f"{function!r} can have no defjvp", hint="custom_jvp(function, jvp)") from None
    if jvp is None:
        enter_custom_jvp(function, False)
    else:
        defjvp(jvp)
    return cast("WithJvp[P, R]", function)


def enter_custom_jvp(function: Any, jvp: Any) -> None:
    """Register the function and its rule with the frontend; the rule is False until ``defjvp`` is called."""
    try:
        declarations.DECLARED[function] = declarations.Custom(function, jvp=jvp)
    except TypeError:
        raise BadArgument(f"{function!r} cannot be declared: it has no hash") from None
    remember(function, enter_custom_jvp, jvp)
    forget_all()
