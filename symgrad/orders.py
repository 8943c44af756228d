"""The derivative of a given order of a function, as the command line and notebooks show it."""

from __future__ import annotations

from typing import Any

from symgrad.api import grad, value_and_grad
from symgrad.errors import BadArgument, NotScalar
from symgrad.jacobians import hessian, jacobian
from symgrad.parameters import Wrt


def wrt_of(text: str | None) -> Wrt:
    """Parse ``wrt`` from a text: names, paths and positions, separated by commas.

    >>> wrt_of("x, 1"), wrt_of("p.w,"), wrt_of(None)
    (('x', 1), 'p.w', None)
    """
    if text is None:
        return None
    parts = [part for part in text.replace(" ", "").split(",") if part] or [""]
    items = tuple(int(part) if part.lstrip("-").isdigit() else part for part in parts)
    return items[0] if len(items) == 1 else items


def derivative_of_order(
    function: Any,
    wrt: Wrt,
    order: int,
    args: tuple[Any, ...] = (),
    signature: str | None = None,
    *,
    value: bool = False,
    strict: bool = False,
    jit: bool = False,
) -> Any:
    """Return the derivative of an order: the gradient, the gradient of that, and so on; for arrays, the Hessian and its Jacobian.

    ``args``, ``signature`` or annotations determine the types of the arguments; without them, gradients are assumed to be numbers.
    With ``value`` the last derivative also returns the value of the one before it, which must be a number.

    >>> from symgrad.frontend.text.source import from_source
    >>> energy = from_source("def energy(x: 'f8[:]'): return x @ x")
    >>> print(derivative_of_order(energy, None, 2).source().partition("(")[0])
    def energy_grad_jacobian
    >>> cube = from_source("def cube(x): return x * x * x")
    >>> derivative_of_order(cube, None, 3, (2.0,))(2.0)
    6.0
    """
    words: dict[str, Any] = {"strict": strict, "jit": jit}
    inner: dict[str, Any] = {"strict": strict}
    chain: Any = function
    for _ in range(order - 1):
        chain = grad(chain, wrt, **inner)
    chain = (value_and_grad if value else grad)(chain, wrt, **words)
    if order == 1 or value:
        return chain
    try:
        chain.ir(*args, **({} if signature is None else {"signature": signature}))
    except NotScalar:
        if order == 2:
            return hessian(function, wrt, **words)
        return jacobian(hessian(function, wrt, **inner), wrt, **words)
    except BadArgument:
        pass  # no types are known: the request for the text raises
    return chain


__all__ = ["derivative_of_order", "wrt_of"]
