"""The public operators, ``grad``, ``value_and_grad``, ``vjp``, ``jvp``, ``linearize`` and ``vmap``: a function -> its derivative.

Only public functions are defined here. ``derivatives`` defines the objects that they return, ``callables`` the functions that they accept.
"""

from __future__ import annotations

import functools
import os
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar, Unpack, overload

from symgrad.batching import batched
from symgrad.bound import Bound, Stage
from symgrad.callables import KINDS, STATE, Differentiable, derived, is_written_in_class
from symgrad.custom_rules import custom_jvp, custom_vjp
from symgrad.derivatives import Derived, derive
from symgrad.dispatch.entry import examples_of
from symgrad.errors import BadArgument, SaveError
from symgrad.files import write_file
from symgrad.frontend.text.source import describe, from_source, plain_function
from symgrad.jit import Jit
from symgrad.marks import checkpoint, on_backward, stop_gradient
from symgrad.parameters import Checkpoints, Wrt, function_loc, options, resolve_wrt
from symgrad.rules import constant, elementwise, rule
from symgrad.runtime.batches import Axes
from symgrad.saving import is_saved_module
from symgrad.signature import without_relations
from symgrad.tracebacks import boundary
from symgrad.typed import Common, Declared, Decorator, DerivedFunction, DifferentiableFunction, Several, Sweeping
from symgrad.verification.first_call import Verify

P = ParamSpec("P")
X = TypeVar("X")
R = TypeVar("R")
A = TypeVar("A")

# ------------------------------------------------------------------ the public functions


@overload
def grad(
    function: Callable[Concatenate[X, P], tuple[Any, A]], wrt: None = None, *, has_aux: Literal[True], **settings: Unpack[Sweeping]
) -> DerivedFunction[Concatenate[X, P], tuple[X, A]]: ...
@overload
def grad(
    function: Callable[Concatenate[X, P], Any], wrt: None = None, *, has_aux: Literal[False] = False, **settings: Unpack[Sweeping]
) -> DerivedFunction[Concatenate[X, P], X]: ...
@overload
def grad(
    function: Callable[P, Any], wrt: Several, *, has_aux: Literal[False] = False, **settings: Unpack[Sweeping]
) -> DerivedFunction[P, tuple[Any, ...]]: ...
@overload
def grad(
    function: Callable[P, Any], wrt: Wrt = None, *, argnums: Wrt = None, has_aux: bool = False, **settings: Unpack[Sweeping]
) -> DerivedFunction[P, Any]: ...
@boundary
def grad(
    function: Callable[..., Any],
    wrt: Wrt = None,
    *,
    argnums: Wrt = None,
    has_aux: bool = False,
    allow_unused: bool = False,
    strict: bool = False,
    no_grad: Iterable[str] = (),
    jit: Jit = False,
    verify: Verify = None,
    checkpoints: Checkpoints = None,
    memory: int | str | None = None,
    holomorphic: bool = False,
) -> Any:
    """Return the gradient of a scalar function, as a function of the same arguments.

    Each gradient has the shape, dtype and tree structure of its argument.

    - ``wrt`` selects the arguments to differentiate with respect to: a position, a name, a path to a part of an argument
      (``"params.w"``, ``"p['w']"``, ``"layers[0].w"``), or a tuple of these. The result has the same structure. The default is the first
      parameter; positions beyond the named parameters count into ``*args``. ``argnums`` is a synonym.
    - ``has_aux=True``: the function returns ``(out, aux)``, and its gradient function ``(gradient, aux)``.
    - ``no_grad`` names variables of the function that are treated as constants.
    - ``jit=True`` compiles the gradient with numba at the first call. ``jit="auto"`` compiles it where that is possible, without a notice.
      Any other text names a target of ``symgrad/targets.py``.
    - ``allow_unused``, ``strict``: where the result does not depend on an argument in ``wrt``, its gradient is zero, and the call that
      compiles emits a ``NotActiveWarning``. ``allow_unused=True`` suppresses the warning; ``strict=True`` raises NotActive instead.
    - ``verify``: the first call for arguments of new types also runs the function and compares the two values.
      ``verify="gradient"`` compares the gradient with finite differences too; ``verify=False`` compares nothing.
    - ``checkpoints={"t": 10}`` limits the loop over ``t`` to 10 snapshots of its state; the backward half recomputes the iterations between
      them instead of saving their values. A loop is named by its variable or by its line number. ``memory="200 MB"`` does the same for
      every outermost loop, with as many snapshots as fit.
    - ``holomorphic=True``: the function returns one complex number, the arguments in ``wrt`` are complex, and the gradient is the complex
      derivative.

    Raises BadArgument if ``wrt`` names no argument (the message lists the valid paths); NotScalar if the function does not return one
    number; Mismatch if the comparison of the first call fails; with ``holomorphic``, NotScalar or BadArgument for values that are not
    complex, and NoDerivative if the function takes a conjugate, a real or imaginary part, or an absolute value.

    >>> import numpy as np
    >>> energy = from_source("def energy(x, k): return 0.5 * k * np.sum(x * x)")
    >>> grad(energy)(np.array([1.0, 2.0]), 3.0)
    array([3., 6.])
    >>> by_x, by_k = grad(energy, wrt=("x", "k"))(np.array([1.0, 2.0]), 3.0)
    >>> float(by_k)
    2.5
    """
    settings = options("grad", wrt, argnums, has_aux, allow_unused, no_grad, jit, strict, verify, checkpoints=checkpoints, memory=memory,
                       holomorphic=holomorphic)  # fmt: skip
    return derived(function, settings)


@overload
def value_and_grad(
    function: Callable[Concatenate[X, P], R], wrt: None = None, *, has_aux: bool = False, **settings: Unpack[Sweeping]
) -> DerivedFunction[Concatenate[X, P], tuple[R, X]]: ...
@overload
def value_and_grad(
    function: Callable[P, R], wrt: Several, *, has_aux: bool = False, **settings: Unpack[Sweeping]
) -> DerivedFunction[P, tuple[R, tuple[Any, ...]]]: ...
@overload
def value_and_grad(
    function: Callable[P, R], wrt: Wrt = None, *, argnums: Wrt = None, has_aux: bool = False, **settings: Unpack[Sweeping]
) -> DerivedFunction[P, tuple[R, Any]]: ...
@boundary
def value_and_grad(
    function: Callable[..., Any],
    wrt: Wrt = None,
    *,
    argnums: Wrt = None,
    has_aux: bool = False,
    allow_unused: bool = False,
    strict: bool = False,
    no_grad: Iterable[str] = (),
    jit: Jit = False,
    verify: Verify = None,
    checkpoints: Checkpoints = None,
    memory: int | str | None = None,
    holomorphic: bool = False,
) -> Any:
    """Return a function that computes ``(value, gradient)``; with ``has_aux``, ``((value, aux), gradient)``.

    The parameters and errors are those of ``grad``.

    >>> value_and_grad(from_source("def square(x): return x * x"))(3.0)
    (9.0, 6.0)
    """
    settings = options(
        "value_and_grad",
        wrt,
        argnums,
        has_aux,
        allow_unused,
        no_grad,
        jit,
        strict,
        verify,
        checkpoints=checkpoints,
        memory=memory,
        holomorphic=holomorphic,
    )
    return derived(function, settings)


# the frontend recognises calls of these functions in user code by this attribute
grad.__symgrad_derives__ = "grad"  # type: ignore[attr-defined]
value_and_grad.__symgrad_derives__ = "value_and_grad"  # type: ignore[attr-defined]


@overload
def vjp(
    function: Callable[..., R],
    *args: Any,
    wrt: None = None,
    argnums: None = None,
    has_aux: Literal[False] = False,
    strict: bool = False,
    no_grad: Iterable[str] = (),
    jit: Jit = False,
    verify: Verify = None,
    checkpoints: Checkpoints = None,
    memory: int | str | None = None,
    **kwargs: Any,
) -> tuple[R, Callable[..., tuple[Any, ...]]]: ...
@overload
def vjp(
    function: Callable[..., Any],
    *args: Any,
    wrt: Wrt = None,
    argnums: Wrt = None,
    has_aux: bool = False,
    strict: bool = False,
    no_grad: Iterable[str] = (),
    jit: Jit = False,
    verify: Verify = None,
    checkpoints: Checkpoints = None,
    memory: int | str | None = None,
    **kwargs: Any,
) -> Any: ...
@boundary
def vjp(
    function: Callable[..., Any],
    *args: Any,
    wrt: Wrt = None,
    argnums: Wrt = None,
    has_aux: bool = False,
    strict: bool = False,
    no_grad: Iterable[str] = (),
    jit: Jit = False,
    verify: Verify = None,
    checkpoints: Checkpoints = None,
    memory: int | str | None = None,
    **kwargs: Any,
) -> Any:
    """Run the function and return ``(out, pullback)``; ``pullback(seed)`` returns the gradients of ``sum(seed * out)``.

    The seed has the structure, shapes and dtypes of ``out``. Without ``wrt``, the pullback returns a tuple with one gradient for each
    positional argument that holds floats; where ``out`` does not depend on an argument, its gradient is zero. With ``wrt``, or with
    ``strict=True``, such an argument causes the warning or error of ``grad``. The pullback may be called any number of times.
    The other parameters are those of ``grad``.

    >>> import numpy as np
    >>> out, pullback = vjp(from_source("def scaled(x, s): return s * x"), np.array([1.0, 2.0]), 3.0)
    >>> x_grad, s_grad = pullback(np.array([1.0, 10.0]))
    >>> x_grad, float(s_grad)
    (array([ 3., 30.]), 21.0)
    """
    settings = options("vjp", wrt, argnums, has_aux, False, no_grad, jit, strict, verify, checkpoints=checkpoints, memory=memory)
    return derived(function, settings)(*args, **kwargs)


vjp.__symgrad_derives__ = "vjp"  # type: ignore[attr-defined]


@boundary
def vmap(
    function: Callable[..., Any], in_axes: Axes = 0, out_axes: Axes = 0, *, jit: Jit = False, verify: Verify = None
) -> DerivedFunction[..., Any]:
    """Return a function that applies ``function`` to every example of a batch: ``vmap(f)(x)`` is ``np.stack([f(x[0]), f(x[1]), ...])``.

    ``in_axes`` is the batch axis of each argument: one axis for all arguments, or a tuple with one item for each. None marks an argument
    that all examples share. For an argument that is a tuple, list, dict or instance, the item may be a tree of the same structure. A
    keyword argument has the axis of its parameter, or axis 0 if the tuple has no item for it. Defaults, and arguments that ``partial``
    has bound, are shared. ``out_axes`` is the batch axis of the results: one axis, or a tree of the results' structure. None marks a
    result that is the same for all examples; it is returned once.

    The examples are evaluated in order, as by a Python loop. ``function`` may be a derivative (``vmap(grad(f))``) or another ``vmap``, and
    ``grad`` differentiates the function that ``vmap`` returns.

    Raises ValueError where arguments have different numbers of examples, and BadArgument where ``in_axes`` or ``out_axes`` does not fit.

    >>> import numpy as np
    >>> loss = from_source("def loss(w, x, y): return (np.dot(w, x) - y) ** 2")
    >>> each = vmap(grad(loss), in_axes=(None, 0, 0))
    >>> each(np.array([1.0, 2.0]), np.array([[1.0, 0.0], [0.5, 1.0]]), np.array([0.0, 1.0]))
    array([[2. , 0. ],
           [1.5, 3. ]])
    """
    over_batch: Any = batched(function, in_axes, out_axes, jit, verify)
    return over_batch  # type: ignore[no-any-return]


vmap.__symgrad_derives__ = "vmap"  # type: ignore[attr-defined]


@overload
def jvp(
    function: Callable[..., R],
    primals: tuple[Any, ...],
    tangents: tuple[Any, ...],
    *,
    wrt: Wrt = None,
    argnums: Wrt = None,
    has_aux: Literal[False] = False,
    strict: bool = False,
    no_grad: Iterable[str] = (),
    jit: Jit = False,
    verify: Verify = None,
    **kwargs: Any,
) -> tuple[R, R]: ...
@overload
def jvp(
    function: Callable[..., Any],
    primals: tuple[Any, ...],
    tangents: tuple[Any, ...],
    *,
    wrt: Wrt = None,
    argnums: Wrt = None,
    has_aux: Literal[True],
    strict: bool = False,
    no_grad: Iterable[str] = (),
    jit: Jit = False,
    verify: Verify = None,
    **kwargs: Any,
) -> tuple[Any, Any, Any]: ...
@overload
def jvp(
    function: Callable[..., R],
    primals: None = None,
    tangents: None = None,
    *,
    wrt: Wrt = None,
    argnums: Wrt = None,
    has_aux: bool = False,
    **settings: Unpack[Common],
) -> DerivedFunction[..., tuple[R, R]]: ...
@boundary
def jvp(function: Callable[..., Any], primals: tuple[Any, ...] | None = None, tangents: tuple[Any, ...] | None = None, *,
        wrt: Wrt = None, argnums: Wrt = None, has_aux: bool = False, strict: bool = False, no_grad: Iterable[str] = (), jit: Jit = False,
        verify: Verify = None, **kwargs: Any) -> Any:  # fmt: skip
    """Run the function and return ``(out, tangent)``; ``tangent`` is the derivative of ``out`` in the direction ``tangents``.

    ``primals`` is the tuple of arguments. ``tangents`` is a tuple with one tangent for each argument, or with ``wrt`` for each selected
    argument, of the same structure, shapes and dtypes; None for an argument that holds no floats. ``tangent`` has the structure of
    ``out``. With ``has_aux`` the function returns ``(out, aux)``, and the result is ``(out, tangent, aux)``. Other keyword arguments are
    passed to the function.

    Without ``primals``, ``jvp`` returns the derived function, which takes both tuples. The other parameters are those of ``grad``.

    Raises BadArgument for a tangent that does not fit; the message names the leaf.

    >>> area = from_source("def area(w, h): return w * h")
    >>> jvp(area, (3.0, 4.0), (1.0, 0.5))
    (12.0, 5.5)
    """
    derivative = derived(function, options("jvp", wrt, argnums, has_aux, False, no_grad, jit, strict, verify))
    if primals is None and tangents is None and not kwargs:
        return derivative
    if primals is None or tangents is None:
        raise BadArgument("jvp takes the arguments and their tangents, as two tuples", hint="jvp(f, (x, w), (dx, dw))")
    return derivative(primals, tangents, **kwargs)


jvp.__symgrad_derives__ = "jvp"  # type: ignore[attr-defined]


@overload
def linearize(
    function: Callable[P, R], *, wrt: Wrt = None, argnums: Wrt = None, has_aux: Literal[False] = False, **settings: Unpack[Common]
) -> DerivedFunction[P, tuple[R, Callable[..., R]]]: ...
@overload
def linearize(function: Callable[..., R], *args: Any, wrt: Wrt = None, argnums: Wrt = None, has_aux: Literal[False] = False,
              strict: bool = False, no_grad: Iterable[str] = (), jit: Jit = False, verify: Verify = None,
              **kwargs: Any) -> tuple[R, Callable[..., R]]: ...  # fmt: skip
@overload
def linearize(function: Callable[..., Any], *args: Any, wrt: Wrt = None, argnums: Wrt = None, has_aux: bool = False,
              strict: bool = False, no_grad: Iterable[str] = (), jit: Jit = False, verify: Verify = None,
              **kwargs: Any) -> Any: ...  # fmt: skip
@boundary
def linearize(function: Callable[..., Any], *args: Any, wrt: Wrt = None, argnums: Wrt = None, has_aux: bool = False, strict: bool = False,
              no_grad: Iterable[str] = (), jit: Jit = False, verify: Verify = None, **kwargs: Any) -> Any:  # fmt: skip
    """Run the function and return ``(out, linear)``; ``linear(*tangents)`` returns the tangent of ``out``.

    ``linear`` takes one tangent for each argument, as ``jvp`` does. It does not run the function again, and may be called any number of
    times. With ``has_aux`` the function returns ``(out, aux)``, and the result is ``(out, linear, aux)``. Without arguments, ``linearize``
    returns the derived function. ``jit`` compiles both parts. The other parameters are those of ``grad``.

    >>> area = from_source("def area(w, h): return w * h")
    >>> out, linear = linearize(area, 3.0, 4.0)
    >>> out, linear(1.0, 0.0), linear(0.0, 1.0)
    (12.0, 4.0, 3.0)
    """
    derivative = derived(function, options("linearize", wrt, argnums, has_aux, False, no_grad, jit, strict, verify))
    return derivative(*args, **kwargs) if args or kwargs else derivative


linearize.__symgrad_derives__ = "linearize"  # type: ignore[attr-defined]


@overload
def differentiable(function: None = None, **settings: Unpack[Declared]) -> Decorator: ...
@overload
def differentiable(function: staticmethod[P, R] | classmethod[X, P, R], **settings: Unpack[Declared]) -> Any: ...
@overload
def differentiable(function: Callable[P, R], **settings: Unpack[Declared]) -> DifferentiableFunction[P, R]: ...
@boundary
def differentiable(function: Any = None, *, wrt: Wrt = None, argnums: Wrt = None, no_grad: Iterable[str] = (), has_aux: bool = False,
                   allow_unused: bool = False, strict: bool = False, jit: Jit = False, verify: Verify = None) -> Any:  # fmt: skip
    """Decorate a function or method with its derivatives: ``.grad``, ``.value_and_grad``, ``.vjp``, ``.jvp``, ``.linearize``.

    The function itself is unchanged. The parameters are those of ``grad``.

    >>> square = differentiable(from_source("def square(x): return x * x"))
    >>> square(3.0), square.grad(3.0), square.grad.grad(3.0)
    (9.0, 6.0, 2.0)
    """
    if function is None:
        return functools.partial(
            differentiable,
            wrt=wrt,
            argnums=argnums,
            no_grad=no_grad,
            has_aux=has_aux,
            allow_unused=allow_unused,
            strict=strict,
            jit=jit,
            verify=verify,
        )
    if isinstance(function, types.MethodType):
        hint = "decorate the method in its class, or use symgrad.grad(obj.method)"
        what = f"{function.__qualname__} is bound to an instance, and can have no attributes"
        raise BadArgument(what, function_loc(plain_function(function)), hint)
    settings = options("grad", wrt, argnums, has_aux, allow_unused, no_grad, jit, strict, verify)
    if isinstance(function, staticmethod | classmethod):
        return type(function)(differentiable(function.__func__, wrt=wrt, argnums=argnums, no_grad=no_grad, has_aux=has_aux,
                                             allow_unused=allow_unused, strict=strict, jit=jit, verify=verify))  # fmt: skip
    plain = plain_function(function)
    if plain is function and is_written_in_class(plain):
        return Differentiable(plain, settings)
    resolve_wrt(settings, plain)
    for what in KINDS:
        setattr(function, what, derive(plain, replace(settings, what=what)))
    setattr(function, STATE, settings)
    return function


# ------------------------------------------------------------------ inspection, saving


@boundary
def show_ir(function: Any, *args: Any, stage: Stage = None, signature: str | None = None, **kwargs: Any) -> None:
    """Print the IR of a derivative, for arguments of these types. For a function that is no derivative, print that of its gradient.

    ``stage`` is one of ``pipeline.job.STAGES``; a pair of stages prints the difference between them.

    >>> show_ir(from_source("def square(x): return x * x"), 3.0, stage="lowered")  # doctest: +ELLIPSIS
    func square(x: float) -> out: float: @ ...
        %0 = multiply(x, x) : float ...
        return %0
    """
    derivative = function if isinstance(function, Derived | Bound) or hasattr(type(function), "__symgrad_refuses__") else grad(function)
    extra = {} if signature is None else {"signature": signature}
    print(derivative.ir(*args, stage=stage, **extra, **kwargs))


@boundary
def explain(function: Any, *args: Any, signature: str | None = None, **kwargs: Any) -> None:
    """Print for each line of a function how its derivative treats it, and why.

    The report is for arguments of these types, by default those of the latest call. For a function that is no derivative, it is about
    its gradient.

    >>> explain(from_source("def square(x): return x * x"), 3.0)  # doctest: +ELLIPSIS
    grad(square...) for x: float
    ...
    """
    derivative = function if isinstance(function, Derived | Bound) or hasattr(type(function), "__symgrad_refuses__") else grad(function)
    extra = {} if signature is None else {"signature": signature}
    print(derivative.explain(*args, **extra, **kwargs), end="")


@boundary
def save(
    function: Any, path: str | os.PathLike[str], *args: Any, signature: str | None = None, overwrite: bool = False, **kwargs: Any
) -> None:
    """Write a derivative to a self-contained module that needs only NumPy.

    A sparse Jacobian is written with the pattern of such arguments, and needs SciPy too.
    A module that ``save`` has written before is replaced. Any other file, and a symbolic link, is left as it is, with
    SaveError, unless ``overwrite`` is true; then the file that a link points to is replaced.

    >>> import pathlib, tempfile
    >>> square = from_source("def square(x): return x * x")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "square_grad.py"
    ...     save(grad(square), path, 3.0)
    ...     path.read_text()[3:53]
    'The derivative square_grad of square, written by s'
    """
    content = saved_text(function, args, kwargs, signature).encode()
    write_file(path, lambda file: file.write(content), is_saved_module, overwrite)


def saved_text(function: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None, signature: str | None = None) -> str:
    """Return the text of the module that ``save`` writes; raise SaveError for a derivative that cannot be saved."""
    if isinstance(function, Bound):
        raise SaveError("a method's gradient depends on its instance", hint="save the gradient of a function")
    if (module := getattr(type(function), "__symgrad_module__", None)) is not None:
        return str(module(function, args, dict(kwargs or {}), saved_text))
    if hasattr(type(function), "__symgrad_refuses__"):
        raise SaveError(f"{function!r} runs several functions", hint="save one sweep: symgrad.save(symgrad.grad(f), path)")
    if not isinstance(function, Derived):
        raise BadArgument(
            f"{describe(function)} is not a derived function",
            hint=f"save its gradient: symgrad.save(symgrad.grad({describe(function)}), path)",
        )
    words = dict(kwargs or {})
    entry = function._entry(args, words, signature)
    if entry.compiled.saved is None:
        raise SaveError(f"{function!r} cannot be written to a file of its own")
    examples = examples_of(function._function, function._table.bind(args, words).arguments) if args or words else entry.examples
    needed = without_relations(entry.compiled.pins)
    compiled = entry.compiled if needed == entry.compiled.pins else function._table.entry(entry.signature, needed).compiled
    assert compiled.saved is not None
    return compiled.saved(examples)


__all__ = ["Bound", "Derived", "Differentiable", "checkpoint", "constant", "custom_jvp", "custom_vjp", "differentiable", "elementwise"]
__all__ += ["explain", "from_source", "grad", "jvp", "linearize", "on_backward", "rule", "save", "show_ir", "stop_gradient"]
__all__ += ["value_and_grad", "vjp", "vmap"]
