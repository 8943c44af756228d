"""``Derived``: one derivative of one function. Equal requests return the same object.

It contains no mathematics: it resolves a request against the function's parameters, and its generated ``__call__``
(see ``dispatch``) calls the function that ``compile`` generated for the types of the arguments.
"""

from __future__ import annotations

import functools
import inspect
import linecache
import os
import sys
import types
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from symgrad.along import ALONG, REMADE, standing_for, without
from symgrad.bound import Stage, bound
from symgrad.compile import compile_gradient, import_stages
from symgrad.debugging import watching
from symgrad.directions import tangents_by_name
from symgrad.dispatch.entry import Entry
from symgrad.dispatch.table import Asked, Table
from symgrad.errors import BadArgument, IntegerArgument
from symgrad.exits import checked, look_forward, watched
from symgrad.explaining import explain as explained
from symgrad.explaining import timings as table_of_timings
from symgrad.frontend.text.source import describe, read
from symgrad.identity import Same
from symgrad.ir.difference import difference
from symgrad.ir.show import show
from symgrad.notes import Notes, Trace
from symgrad.ops import declarations
from symgrad.parameters import (
    Options,
    annotated_signature,
    carries_derivative,
    check_cut,
    check_wrt,
    function_loc,
    given_signature,
    resolve_wrt,
)
from symgrad.pickling import Reference, is_importable, refer, resolve, when_loaded, writer
from symgrad.pipeline.readings import Readings
from symgrad.runtime.batches import BATCH
from symgrad.runtime.load import LOCK, imported
from symgrad.signature import Compiled, Request, Signature
from symgrad.targets import available
from symgrad.tracebacks import boundary
from symgrad.verification.first_call import parts_of

EVERY = ("vjp", "jvp", "linearize")  #: the derivatives that are with respect to all arguments with floats if ``wrt`` is not given


class Derived:
    """A derivative of a function, called like the function itself. Created by ``grad``, ``value_and_grad``, ``vjp``."""

    __slots__ = ("__dict__", "__weakref__")
    _of: Any  #: the differentiated function, or another ``Derived``
    _options: Options
    _function: Any  #: the user's function at the bottom
    _table: Table

    def __init__(self, of: Any, settings: Options) -> None:
        self._of, self._options = of, settings
        self._function = of._function if isinstance(of, Derived) else of
        names = resolve_wrt(settings, self._function)
        if settings.no_grad and isinstance(of, Derived):
            raise BadArgument(
                f"no_grad names variables of a function, and {of!r} is a derivative",
                function_loc(self._function),
                "give no_grad to the inner one: grad(grad(f, no_grad='y'))",
            )
        check_cut(settings, self._function, None if settings.what in EVERY and settings.wrt is None else names)
        self._table = Table(self._function, self._make, self._install, self._asked())
        self.__name__ = f"{getattr(of, '__name__', 'function')}_{settings.what}".replace("<lambda>", "lambda")
        self.__qualname__ = self.__name__
        self.__module__ = self._function.__module__
        self.__doc__ = (
            f"{settings.what} of {describe(of)}, written by symgrad.\n\n{inspect.cleandoc(self._function.__doc__ or '')}".rstrip()
        )
        import_stages(self._function, settings.jit)

    def _asked(self) -> Asked:
        """Return the comparison that the first calls run."""
        settings, of = self._options, self._of
        every = settings.what in EVERY and settings.wrt is None

        def names(signature: Signature) -> tuple[str, ...]:
            return self._positional_floats(signature) if every else resolve_wrt(settings, self._function)

        parts = parts_of(settings.what, settings.has_aux, every or isinstance(settings.wrt, tuple), names)
        program = {"derivative": repr(self), "jit": repr(settings.jit)}
        return Asked(settings.verify, parts, program, (lambda: of._table) if isinstance(of, Derived) else None)

    @classmethod
    def _install(cls, guard: Callable[..., Any]) -> None:
        """Make a new guard the way this object is called; each object has a class of its own for it."""
        setattr(cls, "__call__", watched(guard) if os.environ.get("SYMGRAD_CHECK") else guard)  # noqa: B010  # for mypy, a method is not assigned to

    def _make(
        self,
        function: types.FunctionType,
        signature: Signature,
        pins: tuple[tuple[str, Any], ...] = (),
        notes: Notes | None = None,
        read: Callable[[str], Any] | None = None,
        readings: Readings | None = None,
    ) -> Compiled:
        settings, what = self._options, self._options.what
        jit = settings.jit and available(settings.jit)
        if what == "primal":
            request = Request((), no_grad=settings.no_grad, pins=pins, read=read, jit=jit, primal=True)
            return compile_gradient(function, signature, request, notes, readings)
        if what in ("hvp", "vhp"):
            return self._along(function, signature, pins, notes, read)
        every = what in EVERY and settings.wrt is None
        names = self._positional_floats(signature) if every else resolve_wrt(settings, function)
        check_wrt(function, names, signature)
        single = not isinstance(settings.wrt, tuple) and not every
        unused = settings.allow_unused or every and not settings.strict
        request = Request(
            names,
            "single" if single else "tuple",
            what == "value_and_grad",
            settings.has_aux,
            what == "vjp",
            unused,
            settings.strict,
            settings.no_grad,
            pins=pins,
            read=read,
            jit=jit,
            forward=what == "jvp",
            linear=what == "linearize",
            jacobian=what in ("jacobian", "frame"),
            mode=settings.mode,
            checkpoints=settings.checkpoints,
            memory=settings.memory,
            sparsity=what == "frame",
            holomorphic=settings.holomorphic,
        )
        inner: Any = self._of._table.exact_entry(signature, pins).compiled.function if isinstance(self._of, Derived) else function
        return compile_gradient(inner, signature, request, notes, readings)

    def _along(self, function: types.FunctionType, signature: Signature, pins: tuple[tuple[str, Any], ...], notes: Notes | None,
               read: Callable[[str], Any] | None) -> Compiled:  # fmt: skip
        """Return the product of the Hessian with a vector: the gradient of the gradient, weighted by the vector."""
        settings, (gradient, vector) = self._options, getattr(function, ALONG)
        rest = without(signature, vector)
        below = gradient._table.exact_entry(rest, pins)
        comparable = gradient._table.comparable(rest, below.compiled)
        if settings.what == "hvp" and (comparable is None or comparable.cut or comparable.custom):
            what = f"the Hessian of {function.__qualname__} need not be symmetric: the function has custom derivatives"
            raise BadArgument(what, function_loc(gradient._function), "use vhp, or jvp(grad(f), (x,), (v,))")
        structure: Literal["single", "tuple"] = "tuple" if isinstance(settings.wrt, tuple) else "single"
        request = Request(resolve_wrt(settings, function), structure, has_aux=settings.has_aux, allow_unused=True, pins=pins, read=read,
                          jit=available(settings.jit), along=vector, mode="forward" if settings.what == "hvp" else "reverse")  # fmt: skip
        return compile_gradient(standing_for(below.compiled.function, function), signature, request, notes)

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
        """Compile the code for a signature."""
        return self._table.entry(signature).compiled

    @property
    def __symgrad_derivative__(self) -> tuple[Any, str, Any, bool, frozenset[str], bool] | None:
        """Describe the derivative to the frontend, for calls inside a differentiated function."""
        settings = self._options
        if settings.what in ("hvp", "vhp"):
            return None
        if settings.what in ("vjp", "jvp", "linearize") and settings.wrt is None:
            return self._of, settings.what, None, settings.has_aux, settings.no_grad, False
        names = resolve_wrt(settings, self._function)
        wrt = names if isinstance(settings.wrt, tuple) else names[0]
        return self._of, settings.word, wrt, settings.has_aux, settings.no_grad, settings.holomorphic

    @property
    def __symgrad_inlines__(self) -> Any:
        """Return the function that the frontend reads in place of this one, or None."""
        return self._function if self._options.what in ("hvp", "vhp") else None

    # -------------------------------------------------------------- the protocol of functions

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else bound(self, instance)

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self._function, follow_wrapped=False)

    @property
    @boundary
    def grad(self) -> Derived:
        """Return the gradient of this derivative, with respect to the same parameters."""
        return derive(self, replace(self._options, what="grad", has_aux=False))

    @property
    @boundary
    def primal(self) -> Derived:
        """Return the function itself, compiled if this derivative is; it does not modify its arguments."""
        return derive(self._function, replace(self._options, what="primal", wrt=None, has_aux=False))

    @boundary
    def __reduce__(self) -> tuple[Any, ...]:
        if (remade := getattr(self._of, REMADE, None)) is not None:
            make, parts = remade
            return make, (*parts, self._options)
        of = self._of if isinstance(self._of, Derived) else refer(self._function, writer(sys._getframe(1)))
        return restore, (of, self._options)

    def __copy__(self) -> Derived:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Derived:
        return self  # as copies of functions are

    def __symgrad_reduce__(self) -> tuple[Any, ...]:
        """Implement ``__reduce__`` while the function itself is pickled by value and may refer to this derivative."""
        if is_importable(self._function):
            return self.__reduce__()
        return unfinished, (self._options.what,), (self._of, self._options)

    def __setstate__(self, state: tuple[Any, Options]) -> None:
        when_loaded(lambda: self._finish(*state))

    def _finish(self, of: Any, settings: Options) -> None:
        """Initialize the object, now that the function is complete."""
        Derived.__init__(self, of, settings)
        ALIVE.setdefault((Key.of_function(of), settings), self)

    def __repr__(self) -> str:
        batch = getattr(self._of, BATCH, None)
        if batch is not None and self._options.what == "primal":
            return repr(batch)
        of = repr(self._of) if isinstance(self._of, Derived) else describe(self._of) if batch is None else repr(batch)
        wrt = "" if self._options.wrt is None else f", wrt={self._options.wrt!r}"
        return f"{self._options.word}({of}{wrt})"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Return the representations that a notebook shows: both texts for the latest call, and formulas of short ones."""
        shown: dict[str, str] = imported("symgrad.notebook.display").bundle(self)
        return shown

    # -------------------------------------------------------------- inspection

    def _entry(self, args: tuple[Any, ...], kwargs: dict[str, Any], signature: str | None) -> Entry:
        if args or kwargs:
            return self._table.find(self._table.bind(args, kwargs).arguments)
        if signature is not None:
            return self._table.entry(given_signature(self._function, signature))
        latest = self._table.current()
        return latest if latest is not None else self._table.entry(annotated_signature(self._function))

    @boundary
    def compiled(self, *args: Any, **kwargs: Any) -> Callable[..., Any]:
        """Return the generated function for arguments of these types, by default those of the latest call."""
        entry = self._entry(args, kwargs, None)
        if (args or kwargs) and entry.compiled.pending is not None:
            entry = self._table.ready(entry, self._table.bind(args, kwargs).arguments)
        return entry.compiled.function

    @boundary
    def source(self, *args: Any, signature: str | None = None, optimize: Literal["read", "speed"] = "read", **kwargs: Any) -> str:
        """Return the generated source for arguments of these types, or for ``signature="f8[:], float"`` (default: the latest call).

        ``optimize="read"`` keeps the user's statements; ``"speed"`` is the optimised text that runs.
        """
        compiled = self._entry(args, kwargs, signature).compiled
        if compiled.pending is not None:
            compiled = compiled.pending.shown()
        return compiled.text if optimize == "speed" or compiled.readable is None else compiled.readable.shown().text

    @boundary
    def ir(self, *args: Any, stage: Stage = None, signature: str | None = None, **kwargs: Any) -> str:
        """Return the IR as text, after the last stage of the pipeline or after ``stage``; for a pair of stages, their difference.

        A stage may also be the name of a pass (``python -m symgrad passes`` lists them): the IR is that after the pass last ran.
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
        """Return a report on each line of the function: which values are active, saved, recomputed, and why."""
        entry = self._entry(args, kwargs, signature)
        source = read(self._function)

        def line(file: str, number: int) -> str:
            return source.line(number) if file == source.file else linecache.getline(file, number).rstrip("\n")

        span = (source.file, source.node.lineno, source.node.end_lineno or source.node.lineno)
        return explained(f"{self!r} for {entry.signature}", self._retold(entry), line, span)

    @boundary
    def debug(self, *args: Any, signature: str | None = None, debug_nans: bool = False, **kwargs: Any) -> Callable[..., Any]:
        """Return a function that runs the statements of ``source``, for arguments of these types, so that a debugger can step through it.

        The code that normally runs is optimised, and a kernel has no Python lines. With ``debug_nans`` the function raises
        FloatingPointError at the first variable of the backward half that is infinite or NaN; the message names it and the user's line.

        >>> import symgrad
        >>> slope = symgrad.grad(symgrad.from_source("def f(x): return math.sqrt(x) + x * x"))
        >>> step = slope.debug(4.0)  # then: pdb.runcall(step, 4.0)
        >>> step(4.0) == slope(4.0)
        True
        """
        entry = self._entry(args, kwargs, signature)
        if self._options.jit:  # a kernel has no statements of Python
            entry = derive(self._of, replace(self._options, jit=False))._table.entry(entry.signature, entry.compiled.pins)
        compiled = entry.compiled
        if compiled.readable is None:
            raise BadArgument(f"{self!r} has no text that can be stepped through")
        function, emitted = compiled.readable.steppable()
        return watching(function, emitted) if debug_nans else function

    @boundary
    def timings(self, *args: Any, signature: str | None = None, **kwargs: Any) -> str:
        """Compile the derivative again for arguments of these types, and return the time of each pass in ms.

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
        """Compile the derivative again and return the remarks of the stages."""
        notes = Notes(trace=Trace(stop_after=stop_after))
        with LOCK:
            self._make(self._function, entry.signature, entry.compiled.pins, notes)
        return notes


class Directional(Derived):
    """A directional derivative, called with two tuples: the arguments and their tangents. Created by ``jvp``."""

    __slots__ = ()
    at: Callable[..., Any]  #: the guard: arguments -> a function of tangents by name

    @classmethod
    def _install(cls, guard: Callable[..., Any]) -> None:
        setattr(cls, "at", guard)  # noqa: B010  # for mypy, a method is not assigned to

    @boundary
    def __call__(self, primals: tuple[Any, ...], tangents: tuple[Any, ...], /, **kwargs: Any) -> Any:
        """``(out, tangent)``, or with ``has_aux`` ``(out, tangent, aux)``."""
        return self.pushed((), primals, tangents, kwargs)

    def pushed(self, instance: tuple[Any, ...], primals: Any, tangents: Any, kwargs: dict[str, Any]) -> Any:
        """Compute the same for a method of an instance."""
        if not isinstance(primals, tuple | list):
            raise BadArgument(f"the arguments are {type(primals).__name__}, not a tuple", hint="pass a tuple, also for one argument: (x,)")
        along = self.at(*instance, *primals, **kwargs)
        named = self.by_name(tangents, primals, self.arguments(instance, primals, kwargs), len(instance))
        result = along(named)
        if checked():
            look_forward(result[0], result[1], (instance, primals, kwargs, named))
        return result

    def arguments(self, instance: tuple[Any, ...], primals: Any, kwargs: dict[str, Any]) -> Mapping[str, Any]:
        """Return arguments and defaults by parameter."""
        names = self._positional
        if names is not None and not kwargs and len(names) == len(instance) + len(primals):
            return dict(zip(names, (*instance, *primals), strict=True))
        return self._table.bind((*instance, *primals), kwargs).arguments

    @functools.cached_property
    def _positional(self) -> tuple[str, ...] | None:
        """Return the names of the parameters if all are passed in order."""
        parameters = self._table.parameters.parameters.values()
        plain = all(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
        return tuple(p.name for p in parameters) if plain else None

    @functools.cached_property
    def _wrt(self) -> tuple[str, ...] | None:
        """The names of the parameters in ``wrt``, if they are named."""
        return None if self._options.wrt is None else resolve_wrt(self._options, self._function)

    @property
    def grad(self) -> Derived:
        """Raise: a function of primals and tangents is not differentiated as a whole."""
        raise not_whole(self)

    def by_name(self, tangents: Any, primals: Any, arguments: Mapping[str, Any], instance: int) -> dict[str, Any]:
        """Return the tangents by parameter, each validated against its argument."""
        return tangents_by_name(tangents, len(primals), arguments, self._wrt, self._table.parameters, instance)


class Linearized(Directional):
    """The value of a function and its derivative as a linear function, called with the arguments. Created by ``linearize``."""

    __slots__ = ()

    @boundary
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """``(out, linear)``, or with ``has_aux`` ``(out, linear, aux)``."""
        return self.pushed((), args, None, kwargs)

    def pushed(self, instance: tuple[Any, ...], primals: Any, tangents: Any, kwargs: dict[str, Any]) -> Any:
        out, linear, *aux = self.at(*instance, *primals, **kwargs)
        arguments = dict(self.arguments(instance, primals, kwargs))

        @boundary
        def linear_function(*tangents: Any) -> Any:
            """The tangent of the result for tangents of the arguments, one for each."""
            return linear(self.by_name(tangents, primals, arguments, len(instance)))

        return (out, linear_function, *aux)


def not_whole(derivative: Derived) -> BadArgument:
    """Return the error for differentiating ``jvp`` or ``linearize`` as a whole."""
    what = f"{derivative!r} takes or gives tangents, and is not differentiated as a whole"
    name = describe(derivative._function)
    return BadArgument(what, hint=f"call it in a function of your own: lambda x: jvp({name}, (x,), (dx,))")


@dataclass(frozen=True, slots=True)
class Key:
    """The identity of a function: code, globals, cells, defaults. A function with rules of its own equals only itself.

    A lambda that a loop creates again is therefore the same function.
    """

    parts: tuple[Any, ...]
    of: Any = field(compare=False)

    @classmethod
    def of_function(cls, of: Any) -> Key:
        """The key of a function, or of a ``Derived``."""
        if isinstance(of, Derived):
            return cls((Same(of),), of)
        keywords = [part for pair in sorted((of.__kwdefaults__ or {}).items()) for part in pair]
        parts = [of.__code__, of.__globals__, *(of.__closure__ or ()), *(of.__defaults__ or ()), *keywords]
        if of in declarations.DECLARED:  # its declared rules belong to this object
            parts.append(of)
        return cls((of.__qualname__, len(of.__defaults__ or ()), *map(Same, parts)), of)


#: every ``Derived`` that is still referenced; ``_derive`` also caches the latest ones
ALIVE: weakref.WeakValueDictionary[tuple[Key, Options], Derived] = weakref.WeakValueDictionary()


def derive(of: Any, settings: Options) -> Derived:
    """Return the ``Derived`` for a function and settings; equal settings return the same object."""
    key = Key.of_function(of)
    derivative = ALIVE.get((key, settings))
    if derivative is None:
        derivative = ALIVE[key, settings] = _derive(key, settings)
    return derivative


@functools.lru_cache(maxsize=1024)
def _derive(key: Key, settings: Options) -> Derived:
    derived = unfinished(settings.what)
    Derived.__init__(derived, key.of, settings)
    return derived


def unfinished(what: str = "grad") -> Derived:
    """Return an uninitialised object of a class of its own."""
    base = {"jvp": Directional, "linearize": Linearized}.get(what, Derived)
    kind: type[Derived] = type(base.__name__, (base,), {"__slots__": (), "__module__": __name__})
    return kind.__new__(kind)


def restore(of: Derived | Reference, settings: Options) -> Derived:
    """Rebuild a pickled ``Derived``."""
    return derive(of if isinstance(of, Derived) else resolve(of), settings)
