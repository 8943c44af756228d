"""The front door: ordinary functions to callables that give their gradients.

A ``Derived`` stands for one derivative of one function. It holds no mathematics: it resolves what is
asked for against the function's parameters, and its generated ``__call__`` (see ``dispatch``) calls
what ``compile`` has made for the types at hand.
"""

from __future__ import annotations

import functools
import inspect
import linecache
import os
import sys
import types
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from symgrad.bound import Bound, Stage
from symgrad.compile import compile_gradient, import_stages
from symgrad.dispatch.entry import Entry
from symgrad.dispatch.table import Asked, Table
from symgrad.errors import BadArgument, IntegerArgument, SaveError
from symgrad.examples import examples_of
from symgrad.exits import watched
from symgrad.explaining import explain as explained
from symgrad.explaining import timings as table_of_timings
from symgrad.files import check_free, write_file
from symgrad.frontend.adapters import adapted, is_adapted, refused_class
from symgrad.frontend.source import describe, from_source, plain_function, read, seen_through
from symgrad.identity import Same
from symgrad.ir.difference import difference
from symgrad.ir.show import show
from symgrad.jit import Jit
from symgrad.marks import on_backward, stop_gradient
from symgrad.notes import Notes, Trace
from symgrad.parameters import (
    Options,
    What,
    Wrt,
    annotated_signature,
    carries_derivative,
    check_wrt,
    function_loc,
    given_signature,
    resolve_wrt,
)
from symgrad.pickling import Reference, is_importable, refer, resolve, when_loaded, writer
from symgrad.pipeline.readings import Readings
from symgrad.rules import constant, custom_vjp, elementwise, rule
from symgrad.runtime.locks import LOCK
from symgrad.saving import is_saved_module
from symgrad.signature import Compiled, Request, Signature, without_relations
from symgrad.targets import available
from symgrad.tracebacks import boundary
from symgrad.verification.first_call import Verify, checked_verify, parts_of

STATE = "__symgrad__"  #: the attribute of a decorated function that holds its ``Options``


def options(what: What, wrt: Wrt, argnums: Wrt, has_aux: bool, allow_unused: bool, no_grad: Iterable[str], jit: Jit,
            strict: bool = False, verify: Verify = None) -> Options:  # fmt: skip
    """Check what can be checked without the function."""
    available(jit)
    if strict and allow_unused:
        raise BadArgument("strict=True refuses what allow_unused=True allows", hint="give one of them")
    if wrt is not None and argnums is not None:
        raise BadArgument("wrt and argnums are one argument under two names", hint="give one of them")
    wrt = wrt if wrt is not None else argnums
    wrt = tuple(wrt) if isinstance(wrt, list) else wrt
    for item in wrt if isinstance(wrt, tuple) else (wrt,):
        if isinstance(item, bool) or not isinstance(item, int | str | None):
            raise BadArgument(
                f"wrt names a parameter by position or name, not by {item!r}", hint="for example wrt=0, wrt='x', wrt=('x', 'w')"
            )
    names = frozenset((no_grad,) if isinstance(no_grad, str) else no_grad)
    return Options(what, wrt, has_aux, allow_unused, names, strict=bool(strict), jit=jit, verify=checked_verify(verify))


# ------------------------------------------------------------------ derived functions


class Derived:
    """A derivative of a function; called like the function itself. Made by ``grad``, ``value_and_grad``, ``vjp``."""

    __slots__ = ("__dict__", "__weakref__")
    _of: Any  #: what was differentiated: a function, or another ``Derived``
    _options: Options
    _function: Any  #: the user's function at the bottom
    _table: Table

    def __init__(self, of: Any, settings: Options) -> None:
        self._of, self._options = of, settings
        self._function = of._function if isinstance(of, Derived) else of
        resolve_wrt(settings, self._function)
        self._table = Table(self._function, self._make, self._install, self._asked())
        self.__name__ = f"{getattr(of, '__name__', 'function')}_{settings.what}".replace("<lambda>", "lambda")
        self.__qualname__ = self.__name__
        self.__module__ = self._function.__module__
        self.__doc__ = (
            f"{settings.what} of {describe(of)}, written by symgrad.\n\n{inspect.cleandoc(self._function.__doc__ or '')}".rstrip()
        )
        import_stages(self._function, settings.jit)

    def _asked(self) -> Asked:
        """What the first calls are compared with, and how."""
        settings, of = self._options, self._of
        every = settings.what == "vjp" and settings.wrt is None

        def names(signature: Signature) -> tuple[str, ...]:
            return self._positional_floats(signature) if every else resolve_wrt(settings, self._function)

        parts = parts_of(settings.what, settings.has_aux, every or isinstance(settings.wrt, tuple), names)
        program = {"derivative": repr(self), "jit": repr(settings.jit)}
        return Asked(settings.verify, parts, program, (lambda: of._table) if isinstance(of, Derived) else None)

    @classmethod
    def _install(cls, guard: Callable[..., Any]) -> None:
        """Make a new guard the way this object is called; each object has a class of its own for it."""
        setattr(cls, "__call__", watched(guard))  # noqa: B010  # for mypy, a method is not assigned to

    def _make(self, function: types.FunctionType, signature: Signature, pins: tuple[tuple[str, Any], ...] = (),
              notes: Notes | None = None, read: Callable[[str], Any] | None = None,
              readings: Readings | None = None) -> Compiled:  # fmt: skip
        settings, what = self._options, self._options.what
        jit = available(settings.jit)
        if what == "primal":
            request = Request((), no_grad=settings.no_grad, pins=pins, read=read, jit=jit, primal=True)
            return compile_gradient(function, signature, request, notes, readings)
        names = self._positional_floats(signature) if what == "vjp" and settings.wrt is None else resolve_wrt(settings, function)
        check_wrt(function, names, signature)
        single = not isinstance(settings.wrt, tuple) and not (what == "vjp" and settings.wrt is None)
        unused = settings.allow_unused or what == "vjp" and settings.wrt is None and not settings.strict
        request = Request(names, "single" if single else "tuple", what == "value_and_grad", settings.has_aux, what == "vjp", unused,
                          settings.strict, settings.no_grad, pins=pins, read=read, jit=jit)  # fmt: skip
        inner: Any = self._of._table.entry(signature, pins).compiled.function if isinstance(self._of, Derived) else function
        return compile_gradient(inner, signature, request, notes, readings)

    def _positional_floats(self, signature: Signature) -> tuple[str, ...]:
        parameters = self._table.parameters.parameters
        positional = [
            n for n in signature.names if parameters[n].kind not in (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)
        ]
        names = tuple(n for n in positional[self._options.bound :] if carries_derivative(signature[n]))
        if not names:
            raise IntegerArgument(f"no argument of {self._function.__qualname__} carries a derivative", function_loc(self._function))
        return names

    def derive(self, signature: Signature) -> Compiled:
        """The code for a signature."""
        return self._table.entry(signature).compiled

    @property
    def __symgrad_derivative__(self) -> tuple[Any, str, Any, bool, frozenset[str]] | None:
        """For the frontend, when this is called inside another function: of what, which, wrt, has_aux, no_grad."""
        settings = self._options
        if settings.what == "vjp":
            return None
        names = resolve_wrt(settings, self._function)
        return self._of, settings.what, names if isinstance(settings.wrt, tuple) else names[0], settings.has_aux, settings.no_grad

    # -------------------------------------------------------------- being a function

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else Bound(self, instance)

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self._function, follow_wrapped=False)

    @property
    @boundary
    def grad(self) -> Derived:
        """The gradient of this derivative, with respect to the same parameters."""
        return derive(self, replace(self._options, what="grad", has_aux=False))

    @property
    @boundary
    def primal(self) -> Derived:
        """The function itself: compiled, if this derivative is; it leaves its arguments alone."""
        return derive(self._function, replace(self._options, what="primal", wrt=None, has_aux=False))

    @boundary
    def __reduce__(self) -> tuple[Any, ...]:
        of = self._of if isinstance(self._of, Derived) else refer(self._function, writer(sys._getframe(1)))
        return restore, (of, self._options)

    def __copy__(self) -> Derived:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Derived:
        return self  # as copies of functions are

    def __symgrad_reduce__(self) -> tuple[Any, ...]:
        """As ``__reduce__``, where the function itself is being written by value and may refer to this derivative."""
        if is_importable(self._function):
            return self.__reduce__()
        return unfinished, (), (self._of, self._options)

    def __setstate__(self, state: tuple[Any, Options]) -> None:
        when_loaded(lambda: self._finish(*state))

    def _finish(self, of: Any, settings: Options) -> None:
        """Initialize the object, now that the function is complete."""
        Derived.__init__(self, of, settings)
        ALIVE.setdefault((Key.of_function(of), settings), self)

    def __repr__(self) -> str:
        of = repr(self._of) if isinstance(self._of, Derived) else describe(self._of)
        wrt = "" if self._options.wrt is None else f", wrt={self._options.wrt!r}"
        return f"{self._options.what}({of}{wrt})"

    # -------------------------------------------------------------- looking at what was made

    def _entry(self, args: tuple[Any, ...], kwargs: dict[str, Any], signature: str | None) -> Entry:
        if args or kwargs:
            return self._table.find(self._table.bind(args, kwargs).arguments)
        if signature is not None:
            return self._table.entry(given_signature(self._function, signature))
        latest = self._table.current()
        return latest if latest is not None else self._table.entry(annotated_signature(self._function))

    @boundary
    def compiled(self, *args: Any, **kwargs: Any) -> Callable[..., Any]:
        """The generated function itself, for arguments like these (without arguments: the latest)."""
        entry = self._entry(args, kwargs, None)
        if (args or kwargs) and entry.compiled.pending is not None:
            entry = self._table.ready(entry, self._table.bind(args, kwargs).arguments)
        return entry.compiled.function

    @boundary
    def source(self, *args: Any, signature: str | None = None, optimize: Literal["read", "speed"] = "read", **kwargs: Any) -> str:
        """The generated source, for arguments like these, or ``signature="f8[:], float"`` (without both: the latest).

        With ``optimize="read"`` the statements are the user's, with ``"speed"`` as they run, rewritten to run fast.
        """
        compiled = self._entry(args, kwargs, signature).compiled
        if compiled.pending is not None:
            compiled = compiled.pending.shown()
        return compiled.text if optimize == "speed" or compiled.readable is None else compiled.readable()

    @boundary
    def ir(self, *args: Any, stage: Stage = None, signature: str | None = None, **kwargs: Any) -> str:
        """The IR as text, at the end or after a stage of the pipeline; for a pair of stages what changed between them.

        A stage may also be the name of a pass (``python -m symgrad passes`` lists them): the IR is then that which it left last.
        """
        entry = self._entry(args, kwargs, signature)
        stages = entry.compiled.stages()
        if isinstance(stage, str) and stage not in stages and (stopped := self._retold(entry, stage).trace.stopped) is not None:
            return show(stopped)
        names = ("optimized",) if stage is None else (stage,) if isinstance(stage, str) else stage
        if not 1 <= len(names) <= 2 or not all(name in stages for name in names):
            kept = ", ".join(stages) or "none kept"
            raise BadArgument(f"there is no stage {stage!r}", hint=f"stages: {kept}; or a pair of them, for what changed")
        if len(names) == 1:
            return show(stages[names[0]])
        return difference(stages[names[0]], stages[names[1]], (names[0], names[1]))

    @boundary
    def explain(self, *args: Any, signature: str | None = None, **kwargs: Any) -> str:
        """What becomes of each line of the function, and why: what is active, kept, computed again, and what could not be proved."""
        entry = self._entry(args, kwargs, signature)
        source = read(self._function)

        def line(file: str, number: int) -> str:
            return source.line(number) if file == source.file else linecache.getline(file, number).rstrip("\n")

        span = (source.file, source.node.lineno, source.node.end_lineno or source.node.lineno)
        return explained(f"{self!r} for {entry.signature}", self._retold(entry), line, span)

    @boundary
    def timings(self, *args: Any, signature: str | None = None, **kwargs: Any) -> str:
        """How long each pass takes on the function, in ms: the derivative is made anew for arguments like these.

        >>> import symgrad
        >>> print(symgrad.grad(lambda x: x * x).timings(2.0))  # doctest: +ELLIPSIS
        grad(<lambda>...) for x: float
        <BLANKLINE>
            ms  runs  pass
        ...  simplify
        ...
        """
        entry = self._entry(args, kwargs, signature)
        return table_of_timings(f"{self!r} for {entry.signature}", self._retold(entry).trace.timings)

    def _retold(self, entry: Entry, stop_after: str = "") -> Notes:
        """What the stages tell while the derivative is made anew; nothing else is done with it."""
        notes = Notes(trace=Trace(stop_after=stop_after))
        with LOCK:
            self._make(self._function, entry.signature, entry.compiled.pins, notes)
        return notes


@dataclass(frozen=True, slots=True)
class Key:
    """What makes two function objects one function: code, globals, cells, defaults. A fresh lambda of a loop is not new."""

    parts: tuple[Any, ...]
    of: Any = field(compare=False)

    @classmethod
    def of_function(cls, of: Any) -> Key:
        """The key of a function, or of a ``Derived``."""
        if isinstance(of, Derived):
            return cls((Same(of),), of)
        keywords = [part for pair in sorted((of.__kwdefaults__ or {}).items()) for part in pair]
        parts = [of.__code__, of.__globals__, *(of.__closure__ or ()), *(of.__defaults__ or ()), *keywords]
        return cls((of.__qualname__, len(of.__defaults__ or ()), *map(Same, parts)), of)


#: every ``Derived`` that somebody still holds; ``_derive`` keeps the latest ones besides
ALIVE: weakref.WeakValueDictionary[tuple[Key, Options], Derived] = weakref.WeakValueDictionary()


def derive(of: Any, settings: Options) -> Derived:
    """The ``Derived`` for a function and settings; equal settings give the same object."""
    key = Key.of_function(of)
    derivative = ALIVE.get((key, settings))
    if derivative is None:
        derivative = ALIVE[key, settings] = _derive(key, settings)
    return derivative


@functools.lru_cache(maxsize=1024)
def _derive(key: Key, settings: Options) -> Derived:
    derived = unfinished()
    Derived.__init__(derived, key.of, settings)
    return derived


def unfinished() -> Derived:
    """An object of a class of its own, which has yet to be told what it is the derivative of."""
    kind: type[Derived] = type("Derived", (Derived,), {"__slots__": (), "__module__": __name__})
    return kind.__new__(kind)


def restore(of: Derived | Reference, settings: Options) -> Derived:
    """Rebuild a pickled ``Derived``."""
    return derive(of if isinstance(of, Derived) else resolve(of), settings)


def derived(function: Any, settings: Options) -> Any:
    """The derived callable of whatever was passed: function, method, decorated function, derivative."""
    match function:
        case Derived():
            return derive(function, settings)
        case types.MethodType() if is_adapted(function):
            return derive(adapted(function), settings)
        case Bound():
            return Bound(derive(function._derived, replace(settings, bound=True)), function._instance)
        case BoundDifferentiable() | types.MethodType():
            instance = function.__self__
            return Bound(derived(function.__func__, replace(settings, bound=True)), instance)
    if isinstance(function, classmethod):
        name = describe(function.__func__)
        raise BadArgument(f"{name} is a classmethod that belongs to no class yet", hint=f"look it up on its class: {name}")
    if not callable(function):
        raise BadArgument(f"{function!r} is not a function", hint="pass the function itself, not what it returns")
    if is_adapted(function):
        return derive(adapted(function), settings)
    if isinstance(function, type):
        raise refused_class(function)
    call = getattr(type(function), "__call__", None)  # noqa: B004  # the function of the class, not whether there is one
    seen = getattr(type(function), "symgrad_transparent", False) or seen_through(function) is not None
    if isinstance(call, types.FunctionType) and not seen:
        return Bound(derive(call, replace(settings, bound=True)), function)
    plain = plain_function(function if seen or isinstance(function, types.FunctionType | staticmethod) else adapted(function))
    state = getattr(function, STATE, None)
    if isinstance(state, Options):
        settings = replace(settings, no_grad=settings.no_grad | state.no_grad, has_aux=settings.has_aux or state.has_aux)
    return derive(plain, settings)


# ------------------------------------------------------------------ the public functions


@boundary
def grad(function: Callable[..., Any], wrt: Wrt = None, *, argnums: Wrt = None, has_aux: bool = False, allow_unused: bool = False,
         strict: bool = False, no_grad: Iterable[str] = (), jit: Jit = False, verify: Verify = None) -> Any:  # fmt: skip
    """The gradient of a function that returns one number, as a function of the same arguments.

    ``wrt`` is a position, a name, or a tuple of them, by default the first parameter; the result has that structure.
    With ``has_aux`` the function returns ``(out, aux)``, and the gradient function ``(gradient, aux)``. ``no_grad``
    names variables of the function through which no derivative flows. ``jit=True`` compiles it with numba when it is first called;
    ``jit="auto"`` where that can be done, without a word where it cannot; another text names a target of ``symgrad/targets.py``.

    Where the result does not depend on an argument in ``wrt`` its gradient is zero, which a ``NotActiveWarning`` says at the
    call that compiles; ``allow_unused=True`` is silent, and ``strict=True`` raises ``NotActive``.

    The first call for arguments of new types runs the function too and compares the two results: a difference raises ``Mismatch``.
    ``verify="gradient"`` also compares the gradient with differences, ``verify=False`` nothing.
    """
    return derived(function, options("grad", wrt, argnums, has_aux, allow_unused, no_grad, jit, strict, verify))


@boundary
def value_and_grad(function: Callable[..., Any], wrt: Wrt = None, *, argnums: Wrt = None, has_aux: bool = False,
                   allow_unused: bool = False, strict: bool = False, no_grad: Iterable[str] = (), jit: Jit = False,
                   verify: Verify = None) -> Any:  # fmt: skip
    """As ``grad``, but the result is ``(value, gradient)``; with ``has_aux`` ``((value, aux), gradient)``."""
    return derived(function, options("value_and_grad", wrt, argnums, has_aux, allow_unused, no_grad, jit, strict, verify))


# calls of these inside a function that is differentiated are known to the frontend by this attribute
grad.__symgrad_derives__ = "grad"  # type: ignore[attr-defined]
value_and_grad.__symgrad_derives__ = "value_and_grad"  # type: ignore[attr-defined]


@boundary
def vjp(function: Callable[..., Any], *args: Any, wrt: Wrt = None, has_aux: bool = False, strict: bool = False,
        no_grad: Iterable[str] = (), jit: Jit = False, verify: Verify = None, **kwargs: Any) -> Any:  # fmt: skip
    """Run the function and return ``(out, pullback)``; ``pullback(seed)`` gives the gradients of ``sum(seed * out)``.

    Without ``wrt`` it gives a tuple with one gradient for each positional argument that holds floats, also for those that the
    result does not depend on; with ``wrt``, or with ``strict=True``, these are told or refused as ``grad`` does it.
    The pullback may be called any number of times.
    """
    return derived(function, options("vjp", wrt, None, has_aux, False, no_grad, jit, strict, verify))(*args, **kwargs)


vjp.__symgrad_derives__ = "vjp"  # type: ignore[attr-defined]


@boundary
def differentiable(function: Any = None, *, wrt: Wrt = None, argnums: Wrt = None, no_grad: Iterable[str] = (), has_aux: bool = False,
                   allow_unused: bool = False, strict: bool = False, jit: Jit = False, verify: Verify = None) -> Any:  # fmt: skip
    """Decorator: the function stays as it is and gains ``.grad``, ``.value_and_grad`` and ``.vjp``; methods too."""
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


KINDS: tuple[What, ...] = ("grad", "value_and_grad", "vjp", "primal")


def is_written_in_class(function: types.FunctionType) -> bool:
    """Is the function defined in the body of a class?"""
    return "." in function.__qualname__.rpartition("<locals>.")[2]


class Differentiable:
    """A decorated method as its class holds it; looked up on an instance it is a ``BoundDifferentiable``."""

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


class BoundDifferentiable:
    """A decorated method and its instance: callable as the method, with ``.grad`` and the others."""

    def __init__(self, method: Differentiable, instance: Any) -> None:
        self.__func__, self.__self__ = method, instance
        self.__name__, self.__doc__ = getattr(method, "__name__", "method"), method.__doc__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__func__(self.__self__, *args, **kwargs)

    @property
    @boundary
    def grad(self) -> Bound:
        """The gradient; positions in ``wrt`` count from the first parameter after the instance."""
        return Bound(self.__func__._derived("grad", True), self.__self__)

    @property
    @boundary
    def value_and_grad(self) -> Bound:
        """Value and gradient."""
        return Bound(self.__func__._derived("value_and_grad", True), self.__self__)

    @property
    @boundary
    def vjp(self) -> Bound:
        """Output and pullback."""
        return Bound(self.__func__._derived("vjp", True), self.__self__)

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


# ------------------------------------------------------------------ looking, saving


@boundary
def show_ir(function: Any, *args: Any, stage: Stage = None, signature: str | None = None, **kwargs: Any) -> None:
    """Print the IR of a derived function (of the gradient, if the function is not derived) for arguments like these.

    ``stage`` is one of ``pipeline.job.STAGES``, or a pair of them to see what changed from one to the other.
    """
    derivative = function if isinstance(function, Derived | Bound) else grad(function)
    extra = {} if signature is None else {"signature": signature}
    print(derivative.ir(*args, stage=stage, **extra, **kwargs))


@boundary
def explain(function: Any, *args: Any, signature: str | None = None, **kwargs: Any) -> None:
    """Print what becomes of each line of a function in its derivative, for arguments like these (else the latest), and why.

    A function that is not derived is explained in its gradient.
    """
    derivative = function if isinstance(function, Derived | Bound) else grad(function)
    extra = {} if signature is None else {"signature": signature}
    print(derivative.explain(*args, **extra, **kwargs), end="")


@boundary
def save(function: Any, path: str | os.PathLike[str], *args: Any, signature: str | None = None, overwrite: bool = False,
         **kwargs: Any) -> None:  # fmt: skip
    """Write a derived function to a module of its own that needs NumPy only, for arguments like these (else the latest).

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
    if isinstance(function, Bound):
        raise SaveError("a method's gradient depends on its instance", hint="save the gradient of a function")
    if not isinstance(function, Derived):
        raise BadArgument(
            f"{describe(function)} is not a derived function",
            hint=f"save its gradient: symgrad.save(symgrad.grad({describe(function)}), path)",
        )
    entry = function._entry(args, kwargs, signature)
    if entry.compiled.saved is None:
        raise SaveError(f"{function!r} cannot be written to a file of its own")
    examples = examples_of(function._function, function._table.bind(args, kwargs).arguments) if args or kwargs else entry.examples
    needed = without_relations(entry.compiled.pins)
    compiled = entry.compiled if needed == entry.compiled.pins else function._table.entry(entry.signature, needed).compiled
    assert compiled.saved is not None
    check_free(path, is_saved_module, overwrite)
    content = compiled.saved(examples).encode()
    write_file(path, lambda file: file.write(content), is_saved_module, overwrite)


__all__ = [
    "Bound", "Derived", "Differentiable", "Options", "constant", "custom_vjp", "differentiable", "elementwise", "explain", "from_source",
    "grad", "on_backward", "rule", "save", "show_ir", "stop_gradient", "value_and_grad", "vjp",
]  # fmt: skip
