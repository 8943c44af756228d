"""Matrices of derivatives: ordinary functions to callables that give their Jacobians and Hessians."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from symgrad.callables import derived
from symgrad.jit import Jit
from symgrad.parameters import Mode, Wrt, checked_mode, options
from symgrad.tracebacks import boundary
from symgrad.verification.first_call import Verify


@boundary
def jacobian(function: Callable[..., Any], wrt: Wrt = None, *, argnums: Wrt = None, mode: Mode = "auto", has_aux: bool = False,
             allow_unused: bool = False, strict: bool = False, no_grad: Iterable[str] = (), jit: Jit = False,
             verify: Verify = None) -> Any:  # fmt: skip
    """The Jacobian of a function, as a function of the same arguments: the derivative of each element of what it returns.

    Where the function returns an array of shape ``m`` and the argument has shape ``n``, the Jacobian has the shape ``(*m, *n)``; numbers
    count as arrays without axes. Where it returns a tuple, list, dict or record of arrays, the Jacobian is one of Jacobians; each of
    these has the structure of ``wrt`` and of the arguments, as a gradient has. Each is of the argument's dtype.

    ``mode`` is how it is computed: ``"reverse"`` in rows, each the gradient of one element, all with one run of the function itself;
    ``"auto"``, which is ``"reverse"``. The other parameters are those of ``grad``.

    Raises NotScalar where the function returns integers, complex numbers, or lists of any length.

    >>> import numpy as np
    >>> jacobian(lambda x: np.array([x[0] * x[1], x[1] ** 2]))(np.array([2.0, 3.0]))
    array([[3., 2.],
           [0., 6.]])
    """
    checked_mode(mode)
    return derived(function, options("jacobian", wrt, argnums, has_aux, allow_unused, no_grad, jit, strict, verify))


@boundary
def jacrev(function: Callable[..., Any], wrt: Wrt = None, *, argnums: Wrt = None, has_aux: bool = False, allow_unused: bool = False,
           strict: bool = False, no_grad: Iterable[str] = (), jit: Jit = False, verify: Verify = None) -> Any:  # fmt: skip
    """``jacobian`` with ``mode="reverse"``."""
    return derived(function, options("jacobian", wrt, argnums, has_aux, allow_unused, no_grad, jit, strict, verify))


@boundary
def hessian(function: Callable[..., Any], wrt: Wrt = None, *, argnums: Wrt = None, has_aux: bool = False, allow_unused: bool = False,
            strict: bool = False, no_grad: Iterable[str] = (), jit: Jit = False, verify: Verify = None) -> Any:  # fmt: skip
    """The second derivatives of a function that returns one number, as a function of the same arguments: the Jacobian of its gradient.

    For one argument of shape ``n`` the result has the shape ``(*n, *n)``. For a tuple in ``wrt``, or an argument that holds several
    arrays, it is nested: ``hessian(f, wrt=("x", "w"))(x, w)[0][1]`` has the axes of ``x``, then those of ``w``.
    The parameters are those of ``grad``.

    >>> import numpy as np
    >>> hessian(lambda x: x[0] ** 2 * x[1])(np.array([2.0, 3.0]))
    array([[6., 4.],
           [4., 0.]])
    """
    inner = derived(function, options("grad", wrt, argnums, has_aux, allow_unused, no_grad, jit, strict, verify))
    return derived(inner, options("jacobian", wrt, argnums, has_aux, allow_unused, no_grad, jit, strict, verify))


# calls of these inside a function that is differentiated are known to the frontend by this attribute
for _function in (jacobian, jacrev, hessian):
    _function.__symgrad_derives__ = _function.__name__  # type: ignore[attr-defined]

__all__ = ["hessian", "jacobian", "jacrev"]
