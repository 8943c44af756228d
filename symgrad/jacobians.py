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
def jacobian(
    function: Callable[Concatenate[Array, P], Array],
    wrt: None = None,
    *,
    mode: Mode = "auto",
    has_aux: Literal[False] = False,
    sparsity: None = None,
    checkpoints: Checkpoints = None,
    memory: int | str | None = None,
    **settings: Unpack[Settings],
) -> DerivedFunction[Concatenate[Array, P], Array]: ...
@overload
def jacobian(
    function: Callable[P, Any],
    wrt: Wrt = None,
    *,
    argnums: Wrt = None,
    mode: Mode = "auto",
    has_aux: bool = False,
    sparsity: Any = None,
    checkpoints: Checkpoints = None,
    memory: int | str | None = None,
    **settings: Unpack[Settings],
) -> DerivedFunction[P, Any]: ...
@boundary
def jacobian(function: Callable[..., Any], wrt: Wrt = None, *, argnums: Wrt = None, mode: Mode = "auto", has_aux: bool = False,
             allow_unused: bool = False, strict: bool = False, no_grad: Iterable[str] = (), jit: Jit = False,
             verify: Verify = None, checkpoints: Checkpoints = None, memory: int | str | None = None,
             sparsity: Any = None, holomorphic: bool = False) -> Any:  # fmt: skip
    """Return the Jacobian of a function, as a function of the same arguments.

    For a result of shape ``m`` and an argument of shape ``n``, the Jacobian has shape ``(*m, *n)`` and the argument's dtype; a number has
    shape ``()``. For a result that is a tuple, list, dict or record of arrays, the Jacobian has the result's structure, with one Jacobian
    for each array. Each of these has the structure of ``wrt`` and of the arguments, as a gradient has.

    ``mode`` selects the method; the values are the same:

    - ``"reverse"``: row by row, each row the gradient of one element of the result.
    - ``"forward"``: column by column, each column the derivative in the direction of one element of the arguments. One sweep through the
      program computes all columns.
    - ``"auto"``: forward where the arguments of the call have fewer elements than the results, and in kernels (``jit``) of loops without
      matrix products also where they have equally many. Otherwise reverse: also where the shapes of the results depend on more than the
      shapes of the arguments, and where an operation has no vectorised forward rule.

    ``sparsity`` makes each Jacobian a ``scipy.sparse.csr_array``, with one row for each element of the result and one column for each
    element of the argument, in the order of ``ravel()``. Its value is the sparsity pattern, a matrix that is nonzero where the Jacobian
    may be, or ``"auto"``, which derives the pattern for the arguments of the call. One forward sweep computes all columns that share no
    row (``mode="forward"``), or one backward sweep all rows that share no column (``mode="reverse"``); ``"auto"`` chooses the mode with
    fewer sweeps. The returned function also has the methods ``plan(*args)`` and ``pattern(*args)``, and cannot be differentiated again.

    ``holomorphic=True``: results and arguments are complex, and each element is the complex derivative of an element of the result with
    respect to an element of the argument.

    The other parameters are those of ``grad``.

    Raises NotScalar where the function returns integers, lists of unknown length, or, without ``holomorphic``, complex numbers;
    NoDerivative where no complex derivative exists; BadArgument where the pattern has the wrong shape or lacks an entry, and for
    ``sparsity`` together with ``holomorphic``; SciPyMissing for ``sparsity`` without SciPy.

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
    settings = options(
        "jacobian", wrt, argnums, has_aux, allow_unused, no_grad, jit, strict, verify, mode, checkpoints, memory, holomorphic
    )
    return derived(function, settings)


@boundary
def jacrev(
    function: Callable[P, Any],
    wrt: Wrt = None,
    *,
    argnums: Wrt = None,
    has_aux: bool = False,
    allow_unused: bool = False,
    strict: bool = False,
    no_grad: Iterable[str] = (),
    jit: Jit = False,
    verify: Verify = None,
    holomorphic: bool = False,
) -> DerivedFunction[P, Any]:
    """``jacobian`` with ``mode="reverse"``."""
    derivative: DerivedFunction[P, Any] = derived(
        function, options("jacobian", wrt, argnums, has_aux, allow_unused, no_grad, jit, strict, verify, holomorphic=holomorphic)
    )
    return derivative


@boundary
def jacfwd(
    function: Callable[P, Any],
    wrt: Wrt = None,
    *,
    argnums: Wrt = None,
    has_aux: bool = False,
    allow_unused: bool = False,
    strict: bool = False,
    no_grad: Iterable[str] = (),
    jit: Jit = False,
    verify: Verify = None,
    holomorphic: bool = False,
) -> DerivedFunction[P, Any]:
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
def hessian(
    function: Callable[Concatenate[Array, P], Any],
    wrt: None = None,
    *,
    mode: Mode = "auto",
    has_aux: Literal[False] = False,
    sparsity: None = None,
    **settings: Unpack[Settings],
) -> DerivedFunction[Concatenate[Array, P], Array]: ...
@overload
def hessian(
    function: Callable[P, Any],
    wrt: Wrt = None,
    *,
    argnums: Wrt = None,
    mode: Mode = "auto",
    has_aux: bool = False,
    sparsity: Any = None,
    **settings: Unpack[Settings],
) -> DerivedFunction[P, Any]: ...
@boundary
def hessian(
    function: Callable[..., Any],
    wrt: Wrt = None,
    *,
    argnums: Wrt = None,
    mode: Mode = "auto",
    has_aux: bool = False,
    allow_unused: bool = False,
    strict: bool = False,
    no_grad: Iterable[str] = (),
    jit: Jit = False,
    verify: Verify = None,
    sparsity: Any = None,
    holomorphic: bool = False,
) -> Any:
    """Return the Hessian of a scalar function, as a function of the same arguments: the Jacobian of its gradient.

    For one argument of shape ``n``, the Hessian has shape ``(*n, *n)``. For a tuple in ``wrt``, or an argument that holds several arrays,
    it is nested: ``hessian(f, wrt=("x", "w"))(x, w)[0][1]`` has the axes of ``x``, then those of ``w``.

    ``mode`` selects the method for the Jacobian of the gradient: ``"forward"`` (forward over reverse), ``"reverse"`` (reverse over
    reverse), or ``"auto"``, as for ``jacobian``. ``sparsity`` is that of ``jacobian``: the Hessian is a ``scipy.sparse.csr_array``,
    computed in as many sweeps as a star colouring has colours. ``holomorphic=True`` returns the second complex derivatives of a complex
    function. The other parameters are those of ``grad``; the errors are those of ``grad`` and ``jacobian``.

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
    """Return the sparse Jacobian of a function, or of a gradient."""
    checked_mode(mode)
    frame = derived(function, replace(settings, jit=False, verify=False))
    return SparseJacobian(frame, settings, sparsity, mode, symmetric)


@overload
def hvp(
    function: Callable[Concatenate[X, P], Any],
    *,
    wrt: None = None,
    argnums: None = None,
    has_aux: Literal[False] = False,
    no_grad: Iterable[str] = (),
    jit: Jit = False,
    verify: Verify = None,
) -> DerivedFunction[..., X]: ...
@overload
def hvp(
    function: Callable[Concatenate[X, P], Any],
    args: X | tuple[Any, ...],
    v: X,
    *,
    wrt: None = None,
    argnums: None = None,
    has_aux: Literal[False] = False,
    no_grad: Iterable[str] = (),
    jit: Jit = False,
    verify: Verify = None,
    **kwargs: Any,
) -> X: ...
@overload
def hvp(
    function: Callable[..., Any],
    args: Any = ...,
    v: Any = ...,
    *,
    wrt: Wrt = None,
    argnums: Wrt = None,
    has_aux: bool = False,
    no_grad: Iterable[str] = (),
    jit: Jit = False,
    verify: Verify = None,
    **kwargs: Any,
) -> Any: ...
@boundary
def hvp(
    function: Callable[..., Any],
    args: Any = NOTHING,
    v: Any = NOTHING,
    *,
    wrt: Wrt = None,
    argnums: Wrt = None,
    has_aux: bool = False,
    no_grad: Iterable[str] = (),
    jit: Jit = False,
    verify: Verify = None,
    **kwargs: Any,
) -> Any:
    """Return the product of the Hessian of a scalar function with a vector, at the cost of a few gradients.

    The Hessian itself is not computed. ``args`` is the argument, or the tuple of arguments. ``v`` and the result have the structure and
    shapes of the gradient: those of the first argument, or of the arguments in ``wrt``. Other keyword arguments are passed to the
    function.

    Without ``args`` and ``v``, ``hvp`` returns a function of the same arguments and of the vector, which is a keyword argument:
    ``hvp(f)(x, v=v)``. The keyword is ``vector`` where the function has a parameter ``v``. The other parameters are those of ``grad``.

    Raises BadArgument where ``v`` does not have the structure of the gradient, and for functions with derivatives of their own
    (``custom_vjp``, ``stop_gradient``, ``no_grad``), whose Hessian need not be symmetric: use ``vhp`` for these.

    >>> import numpy as np
    >>> hvp(lambda x: x[0] ** 2 * x[1], np.array([2.0, 3.0]), np.array([1.0, 0.0]))
    array([6., 4.])
    """
    return product("hvp", function, args, v, kwargs, options("grad", wrt, argnums, has_aux, True, no_grad, jit, False, verify))


@overload
def vhp(
    function: Callable[Concatenate[X, P], Any],
    *,
    wrt: None = None,
    argnums: None = None,
    has_aux: Literal[False] = False,
    no_grad: Iterable[str] = (),
    jit: Jit = False,
    verify: Verify = None,
) -> DerivedFunction[..., X]: ...
@overload
def vhp(
    function: Callable[Concatenate[X, P], Any],
    args: X | tuple[Any, ...],
    v: X,
    *,
    wrt: None = None,
    argnums: None = None,
    has_aux: Literal[False] = False,
    no_grad: Iterable[str] = (),
    jit: Jit = False,
    verify: Verify = None,
    **kwargs: Any,
) -> X: ...
@overload
def vhp(
    function: Callable[..., Any],
    args: Any = ...,
    v: Any = ...,
    *,
    wrt: Wrt = None,
    argnums: Wrt = None,
    has_aux: bool = False,
    no_grad: Iterable[str] = (),
    jit: Jit = False,
    verify: Verify = None,
    **kwargs: Any,
) -> Any: ...
@boundary
def vhp(
    function: Callable[..., Any],
    args: Any = NOTHING,
    v: Any = NOTHING,
    *,
    wrt: Wrt = None,
    argnums: Wrt = None,
    has_aux: bool = False,
    no_grad: Iterable[str] = (),
    jit: Jit = False,
    verify: Verify = None,
    **kwargs: Any,
) -> Any:
    """Return the product of a vector with the Hessian, the gradient of ``sum(v * grad(f)(x))``.

    Parameters and result are those of ``hvp``. The Hessian need not be symmetric.
    """
    return product("vhp", function, args, v, kwargs, options("grad", wrt, argnums, has_aux, True, no_grad, jit, False, verify))


def product(what: What, function: Any, args: Any, v: Any, kwargs: dict[str, Any], settings: Options) -> Any:
    """Implement ``hvp`` and ``vhp``: differentiate the gradient once more."""
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
    """Return the function that multiplies a Hessian by a vector, given the gradient."""
    settings = gradient._options
    names = resolve_wrt(settings, gradient._function)
    wrapper = along(gradient, names if isinstance(settings.wrt, tuple) else names[0], settings.has_aux, vjp)
    setattr(wrapper, REMADE, (restored, (gradient,)))
    return wrapper


def restored(gradient: Derived, settings: Options) -> Derived:
    """Rebuild a pickled product."""
    return derive(product_of(gradient), settings)


# the frontend recognises calls of these functions in user code by this attribute
for _function in (jacobian, jacfwd, jacrev, hessian, hvp, vhp):
    setattr(_function, "__symgrad_derives__", _function.__name__)  # noqa: B010  # of functions mypy knows no attributes

__all__ = ["hessian", "hvp", "jacfwd", "jacobian", "jacrev", "vhp"]
