"""``jacobian``, ``jacfwd``, ``jacrev`` and ``hessian``: a function -> a callable that returns the matrix of its derivatives."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar, Unpack, overload

import numpy as np

from symgrad.along import ALONG, REMADE, along
from symgrad.api import vjp
from symgrad.bound import Bound
from symgrad.callables import derived
from symgrad.derivatives import Derived, derive
from symgrad.errors import BadArgument
from symgrad.jit import Jit
from symgrad.parameters import Checkpoints, Mode, Options, What, Wrt, checked_mode, options, resolve_wrt
from symgrad.sparse import SparseJacobian
from symgrad.tracebacks import boundary
from symgrad.typed import DerivedFunction, Settings
from symgrad.verification.first_call import Verify

P = ParamSpec("P")
X = TypeVar("X")
Array = np.ndarray[Any, Any]

NOTHING: Any = ...  #: the default of an argument for which None is a value


@overload
def jacobian(function: Callable[Concatenate[Array, P], Array], wrt: None = None, *, mode: Mode = "auto", has_aux: Literal[False] = False,
             sparsity: None = None, checkpoints: Checkpoints = None, memory: int | str | None = None,
             **settings: Unpack[Settings]) -> DerivedFunction[Concatenate[Array, P], Array]: ...  # fmt: skip
@overload
def jacobian(function: Callable[P, Any], wrt: Wrt = None, *, argnums: Wrt = None, mode: Mode = "auto", has_aux: bool = False,
             sparsity: Any = None, checkpoints: Checkpoints = None, memory: int | str | None = None,
             **settings: Unpack[Settings]) -> DerivedFunction[P, Any]: ...  # fmt: skip
@boundary
def jacobian(function: Callable[..., Any], wrt: Wrt = None, *, argnums: Wrt = None, mode: Mode = "auto", has_aux: bool = False,
             allow_unused: bool = False, strict: bool = False, no_grad: Iterable[str] = (), jit: Jit = False,
             verify: Verify = None, checkpoints: Checkpoints = None, memory: int | str | None = None,
             sparsity: Any = None, holomorphic: bool = False) -> Any:  # fmt: skip
    """The Jacobian of a function, as a function of the same arguments: the derivative of each element of what it returns.

    Where the function returns an array of shape ``m`` and the argument has shape ``n``, the Jacobian has the shape ``(*m, *n)``; numbers
    count as arrays without axes. Where it returns a tuple, list, dict or record of arrays, the Jacobian is one of Jacobians; each of
    these has the structure of ``wrt`` and of the arguments, as a gradient has. Each is of the argument's dtype.

    ``mode`` is how it is computed:

    - ``"reverse"``: by rows, each the gradient of one element of the result.
    - ``"forward"``: by columns, each the derivative in the direction of one element of the arguments; all in one sweep of the function
      and its tangents, in the order of the program.
    - ``"auto"``: by columns where the arguments hold fewer numbers than the results, as the sizes of the arguments at hand tell, and in
      kernels (``jit``) of loops without products of matrices also where both hold as many. By rows otherwise: where the sizes of the
      results depend on more than those of the arguments, and where something cannot be computed for all columns at once.

    The values are the same. The other parameters are those of ``grad``.

    With ``sparsity`` each Jacobian is a ``scipy.sparse.csr_array`` with a row for each element of the result and a column for each element
    of the argument, in the order of ``ravel()``. ``sparsity`` is the pattern, a matrix that is not zero where the Jacobian may differ from
    zero, or ``"auto"``: then it is found for the arguments of the call. Columns that share no row are computed by one forward sweep, or
    rows that share no column by one backward sweep (``mode="forward"``, ``mode="reverse"``; ``"auto"``: whichever takes fewer). The result
    has the methods ``plan(*args)`` and ``pattern(*args)`` too, and is not differentiated again.

    With ``holomorphic=True`` results and arguments are complex, and each element is the complex derivative of an element of the result
    with respect to an element of the argument, in either mode. A function that has none is refused, as ``grad`` refuses it.

    Raises NotScalar where the function returns integers, lists of any length, or, without ``holomorphic``, complex numbers; NoDerivative
    where there is no complex derivative; BadArgument where the pattern has another shape than the Jacobian, or misses an entry, and where
    ``sparsity`` is given together with ``holomorphic``; SciPyMissing where ``sparsity`` is given and SciPy is not installed.

    >>> import numpy as np
    >>> jacobian(lambda x: np.array([x[0] * x[1], x[1] ** 2]))(np.array([2.0, 3.0]))
    array([[3., 2.],
           [0., 6.]])
    >>> matrix = jacobian(lambda x: x[1:] * x[:-1], sparsity="auto")(np.arange(1000.0))
    >>> matrix.shape, matrix.nnz
    ((999, 1000), 1998)
    >>> jacobian(lambda z: np.array([z[0] * z[1], 1j * z[1]]), holomorphic=True)(np.array([1j, 2.0]))
    array([[2.+0.j, 0.+1.j],
           [0.+0.j, 0.+1.j]])
    """
    kept = checkpoints is not None or memory is not None
    if sparsity is not None:
        check_real(holomorphic)
        if kept:
            raise BadArgument("checkpoints and memory are not taken together with sparsity", hint="leave out one of them")
        settings = options("frame", wrt, argnums, has_aux, allow_unused, no_grad, jit, strict, verify)
        return sparse(function, settings, sparsity, mode)
    if kept and mode == "forward":
        raise BadArgument('mode="forward" keeps nothing of loops', hint='leave checkpoints and memory out, or use mode="reverse"')
    mode = "reverse" if kept and mode == "auto" else mode
    settings = options("jacobian", wrt, argnums, has_aux, allow_unused, no_grad, jit, strict, verify, mode, checkpoints, memory,
                       holomorphic)  # fmt: skip
    return derived(function, settings)


@boundary
def jacrev(function: Callable[P, Any], wrt: Wrt = None, *, argnums: Wrt = None, has_aux: bool = False, allow_unused: bool = False,
           strict: bool = False, no_grad: Iterable[str] = (), jit: Jit = False,
           verify: Verify = None, holomorphic: bool = False) -> DerivedFunction[P, Any]:  # fmt: skip
    """``jacobian`` with ``mode="reverse"``."""
    derivative: DerivedFunction[P, Any] = derived(
        function, options("jacobian", wrt, argnums, has_aux, allow_unused, no_grad, jit, strict, verify, holomorphic=holomorphic)
    )
    return derivative


@boundary
def jacfwd(function: Callable[P, Any], wrt: Wrt = None, *, argnums: Wrt = None, has_aux: bool = False, allow_unused: bool = False,
           strict: bool = False, no_grad: Iterable[str] = (), jit: Jit = False,
           verify: Verify = None, holomorphic: bool = False) -> DerivedFunction[P, Any]:  # fmt: skip
    """``jacobian`` with ``mode="forward"``.

    >>> import numpy as np
    >>> jacfwd(lambda t: np.array([np.cos(t), np.sin(t)]))(0.0)
    array([-0.,  1.])
    """
    derivative: DerivedFunction[P, Any] = derived(
        function,
        options("jacobian", wrt, argnums, has_aux, allow_unused, no_grad, jit, strict, verify, "forward", holomorphic=holomorphic),
    )
    return derivative


@overload
def hessian(function: Callable[Concatenate[Array, P], Any], wrt: None = None, *, mode: Mode = "auto", has_aux: Literal[False] = False,
            sparsity: None = None,
            **settings: Unpack[Settings]) -> DerivedFunction[Concatenate[Array, P], Array]: ...  # fmt: skip
@overload
def hessian(function: Callable[P, Any], wrt: Wrt = None, *, argnums: Wrt = None, mode: Mode = "auto", has_aux: bool = False,
            sparsity: Any = None,
            **settings: Unpack[Settings]) -> DerivedFunction[P, Any]: ...  # fmt: skip
@boundary
def hessian(function: Callable[..., Any], wrt: Wrt = None, *, argnums: Wrt = None, mode: Mode = "auto", has_aux: bool = False,
            allow_unused: bool = False, strict: bool = False, no_grad: Iterable[str] = (), jit: Jit = False,
            verify: Verify = None, sparsity: Any = None, holomorphic: bool = False) -> Any:  # fmt: skip
    """The second derivatives of a function that returns one number, as a function of the same arguments: the Jacobian of its gradient.

    For one argument of shape ``n`` the result has the shape ``(*n, *n)``. For a tuple in ``wrt``, or an argument that holds several
    arrays, it is nested: ``hessian(f, wrt=("x", "w"))(x, w)[0][1]`` has the axes of ``x``, then those of ``w``.
    ``mode`` is how the Jacobian of the gradient is computed: ``"forward"`` over reverse, ``"reverse"`` over reverse, or ``"auto"``, as
    ``jacobian`` says. ``sparsity`` is that of ``jacobian``: the Hessian is a ``scipy.sparse.csr_array`` then, computed in as many sweeps
    as a star colouring has colours. ``holomorphic`` is that of ``grad``: of a complex function of complex numbers, the second complex
    derivatives. The other parameters are those of ``grad``. BadArgument and SciPyMissing are raised as by
    ``jacobian``.

    >>> import numpy as np
    >>> hessian(lambda x: x[0] ** 2 * x[1])(np.array([2.0, 3.0]))
    array([[6., 4.],
           [4., 0.]])
    >>> hessian(lambda x: np.sum(x[1:] ** 2 * x[:-1]), sparsity="auto")(np.ones(1000)).nnz
    2997
    """
    inner = derived(function, options("grad", wrt, argnums, has_aux, allow_unused, no_grad, jit, strict, verify, holomorphic=holomorphic))
    if sparsity is not None:
        check_real(holomorphic)
        settings = options("frame", wrt, argnums, has_aux, allow_unused, (), jit, strict, verify)
        return sparse(inner, settings, sparsity, mode, symmetric=True)
    settings = options("jacobian", wrt, argnums, has_aux, allow_unused, (), jit, strict, verify, mode, holomorphic=holomorphic)
    return derived(inner, settings)


def check_real(holomorphic: bool) -> None:
    """Refuse sparse matrices of complex derivatives."""
    if holomorphic:
        raise BadArgument("sparse matrices of derivatives are of real numbers", hint="leave sparsity out, or holomorphic")


def sparse(function: Any, settings: Options, sparsity: Any, mode: Mode, symmetric: bool = False) -> Any:
    """The sparse Jacobian of a function, or of a gradient."""
    checked_mode(mode)
    frame = derived(function, replace(settings, jit=False, verify=False))
    return SparseJacobian(frame, settings, sparsity, mode, symmetric)


@overload
def hvp(function: Callable[Concatenate[X, P], Any], *, wrt: None = None, argnums: None = None, has_aux: Literal[False] = False,
        no_grad: Iterable[str] = (), jit: Jit = False, verify: Verify = None) -> DerivedFunction[..., X]: ...  # fmt: skip
@overload
def hvp(function: Callable[Concatenate[X, P], Any], args: X | tuple[Any, ...], v: X, *, wrt: None = None, argnums: None = None,
        has_aux: Literal[False] = False, no_grad: Iterable[str] = (), jit: Jit = False, verify: Verify = None,
        **kwargs: Any) -> X: ...  # fmt: skip
@overload
def hvp(function: Callable[..., Any], args: Any = ..., v: Any = ..., *, wrt: Wrt = None, argnums: Wrt = None, has_aux: bool = False,
        no_grad: Iterable[str] = (), jit: Jit = False, verify: Verify = None, **kwargs: Any) -> Any: ...  # fmt: skip
@boundary
def hvp(function: Callable[..., Any], args: Any = NOTHING, v: Any = NOTHING, *, wrt: Wrt = None, argnums: Wrt = None,
        has_aux: bool = False, no_grad: Iterable[str] = (), jit: Jit = False, verify: Verify = None, **kwargs: Any) -> Any:  # fmt: skip
    """The product of the Hessian of a function that returns one number with a vector, at the cost of a few gradients.

    ``args`` is the argument, or a tuple of the arguments; ``v`` has the form of the gradient: that of the first argument, or of what
    ``wrt`` names. The result has that form too. The Hessian itself is not computed.

    Without ``args`` and ``v`` the result is a function of the same arguments and of the vector, which is passed by name:
    ``hvp(f)(x, v=v)``. (Where the function has a parameter ``v`` the name is ``vector``.) The other parameters are those of ``grad``;
    more keywords are the function's own.

    Raises BadArgument where ``v`` does not have the form of the gradient, and where the function defines derivatives (``custom_vjp``,
    ``stop_gradient``, ``no_grad``), so that the Hessian need not be symmetric: ``vhp`` takes these.

    >>> import numpy as np
    >>> hvp(lambda x: x[0] ** 2 * x[1], np.array([2.0, 3.0]), np.array([1.0, 0.0]))
    array([6., 4.])
    """
    return product("hvp", function, args, v, kwargs, options("grad", wrt, argnums, has_aux, True, no_grad, jit, False, verify))


@overload
def vhp(function: Callable[Concatenate[X, P], Any], *, wrt: None = None, argnums: None = None, has_aux: Literal[False] = False,
        no_grad: Iterable[str] = (), jit: Jit = False, verify: Verify = None) -> DerivedFunction[..., X]: ...  # fmt: skip
@overload
def vhp(function: Callable[Concatenate[X, P], Any], args: X | tuple[Any, ...], v: X, *, wrt: None = None, argnums: None = None,
        has_aux: Literal[False] = False, no_grad: Iterable[str] = (), jit: Jit = False, verify: Verify = None,
        **kwargs: Any) -> X: ...  # fmt: skip
@overload
def vhp(function: Callable[..., Any], args: Any = ..., v: Any = ..., *, wrt: Wrt = None, argnums: Wrt = None, has_aux: bool = False,
        no_grad: Iterable[str] = (), jit: Jit = False, verify: Verify = None, **kwargs: Any) -> Any: ...  # fmt: skip
@boundary
def vhp(function: Callable[..., Any], args: Any = NOTHING, v: Any = NOTHING, *, wrt: Wrt = None, argnums: Wrt = None,
        has_aux: bool = False, no_grad: Iterable[str] = (), jit: Jit = False, verify: Verify = None, **kwargs: Any) -> Any:  # fmt: skip
    """The product of a vector with the Hessian: the derivatives of ``sum(v * grad(f)(x))``. As ``hvp``, whatever the Hessian is."""
    return product("vhp", function, args, v, kwargs, options("grad", wrt, argnums, has_aux, True, no_grad, jit, False, verify))


def product(what: What, function: Any, args: Any, v: Any, kwargs: dict[str, Any], settings: Options) -> Any:
    """``hvp`` and ``vhp``: of the gradient, once more."""
    gradient = derived(function, settings)
    held: Any = gradient._derived if isinstance(gradient, Bound) else gradient
    wrapper = product_of(held)
    whole: Any = derive(wrapper, replace(held._options, what=what, no_grad=frozenset()))
    whole = Bound(whole, gradient._instance) if isinstance(gradient, Bound) else whole
    if args is NOTHING and v is NOTHING:
        if kwargs:
            raise BadArgument(f"{what} has no parameter {min(kwargs)!r}")
        return whole
    if args is NOTHING or v is NOTHING:
        raise BadArgument(f"{what} takes the arguments and the vector", hint=f"{what}(f, x, v), or {what}(f) for a function of x and v")
    _, vector = getattr(wrapper, ALONG)
    return whole(*(args if isinstance(args, tuple) else (args,)), **{vector: v}, **kwargs)


def product_of(gradient: Derived) -> types.FunctionType:
    """The function that multiplies a Hessian with a vector, of the gradient."""
    settings = gradient._options
    names = resolve_wrt(settings, gradient._function)
    wrapper = along(gradient, names if isinstance(settings.wrt, tuple) else names[0], settings.has_aux, vjp)
    setattr(wrapper, REMADE, (restored, (gradient,)))
    return wrapper


def restored(gradient: Derived, settings: Options) -> Derived:
    """Rebuild a pickled product."""
    return derive(product_of(gradient), settings)


# calls of these inside a function that is differentiated are known to the frontend by this attribute
for _function in (jacobian, jacfwd, jacrev, hessian, hvp, vhp):
    setattr(_function, "__symgrad_derives__", _function.__name__)  # noqa: B010  # of functions mypy knows no attributes

__all__ = ["hessian", "hvp", "jacfwd", "jacobian", "jacrev", "vhp"]
