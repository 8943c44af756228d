"""Texts -> a callable function with its inspection methods; stages run on demand, when the texts do not hold the answer."""

from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from symgrad.codegen.texts import Emitted
from symgrad.errors import BadArgument, CaughtException, NotScalar
from symgrad.frontend.containers.results import Lowered
from symgrad.ir.core import Func
from symgrad.kinds import row_of
from symgrad.location import Loc
from symgrad.notes import Notes
from symgrad.pipeline.job import Job
from symgrad.runtime import support
from symgrad.runtime.load import LOCK, collector_paused, load, load_tree
from symgrad.signature import Comparable, Compiled
from symgrad.tracebacks import forget_context

if TYPE_CHECKING:
    from symgrad.pipeline.derivation import Derivation


@dataclass(slots=True)
class Later:
    """The derivation of a job, made at once or on demand; once only, also with several threads."""

    make: Callable[[], Derivation]
    derivation: Derivation | None = None
    #: makes the readable text, with the user's statements, and its remarks; None if impossible
    reading: Callable[[Notes | None], Emitted | None] | None = None
    text: Emitted | None = None  #: the readable text, once requested

    def __call__(self) -> Derivation:
        with LOCK:
            if self.derivation is None:
                with collector_paused():
                    self.derivation = self.make()
            return self.derivation

    def stages(self) -> Mapping[str, Func]:
        """The IR after each stage."""
        return self().job.stages

    def shown(self) -> Emitted:
        """The readable text: with the user's statements as they were written, where possible."""
        with LOCK:
            if self.text is None:
                kept = None if self.reading is None else self.reading(None)
                self.text = self.readable() if kept is None else kept
            return self.text

    def told(self, notes: Notes) -> Emitted | None:
        """The readable text, emitted again with remarks collected in ``notes``; None if it is the text that runs."""
        with LOCK:
            return None if self.reading is None else self.reading(notes)

    def steppable(self) -> tuple[Callable[..., Any], Emitted]:
        """The readable text as a function that runs, with the user's defaults, and that text; debuggers show its lines."""
        emitted, derivation = self.shown(), self()
        namespace = {**own_namespace(derivation.job, emitted.namespace), **derivation.job.lowered.objects}
        function = load(emitted.text, derivation.name, namespace, emitted.place)
        give_defaults(function, derivation.job.source.defaults)
        return function, emitted

    def readable(self) -> Emitted:
        """The runnable text nearest to the user's statements."""
        derivation = self().readable()
        return derivation.emission(replace(derivation.job, request=replace(derivation.job.request, optimize="read")))

    def saved(self, kernel: bool, examples: Sequence[str] | None) -> str:
        """The text of a saved module."""
        return self().saved(examples, kernel)

    def primal(self) -> Callable[..., Any]:
        """The original function itself, loaded."""
        derivation = self()
        with collector_paused():
            tree, namespace, name = derivation.primal()
            return load_tree(tree, name, {**own_namespace(derivation.job, namespace), **derivation.job.lowered.objects})

    def program(self) -> Lowered:
        """The derivative as if it had just been lowered."""
        program = self().readable().program
        assert program is not None
        return program()


def loaded(job: Job, emitted: Emitted, name: str, later: Later, comparable: Comparable | None = None) -> Compiled:
    """Load the text, with the records of its dependencies."""
    lowered = job.lowered
    namespace = {**own_namespace(job, emitted.namespace), **lowered.objects, f"{name}_plain": plain_form(job, name, later)}
    function = load(emitted.text, name, namespace, emitted.place)
    if lowered.caught:
        function = refusing(function, lowered.caught)
    kernel = job.target is not None and job.target.kept and not lowered.caught
    return Compiled(
        function,
        emitted.text,
        tuple((c.text, c.abstract) for c in lowered.captured),
        lowered.mutated,
        later.stages,
        functools.partial(later.saved, kernel),
        job.request.pins,
        lowered.objects,
        later,
        relied=lowered.relied,
        inactive=tuple(job.inactive),
        identities=lowered.identities,
        apart=lowered.apart,
        related=lowered.related,
        comparable=comparable,
    )


def give_defaults(function: Callable[..., Any], values: Mapping[str, Any]) -> None:
    """Set the defaults of a function's parameters, by name; a parameter before one without a default gets none."""
    code = function.__code__
    positional, keywords = code.co_varnames[: code.co_argcount], code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]
    last = [*itertools.takewhile(values.__contains__, reversed(positional))]
    function.__defaults__ = tuple(values[name] for name in reversed(last)) or None
    function.__kwdefaults__ = {name: values[name] for name in keywords if name in values} or None


def own_namespace(job: Job, namespace: dict[str, Any]) -> dict[str, Any]:
    """The names of the text; checks of arrays and numbers in it report the function's location."""
    if "tangent_of" in namespace:
        namespace = {**namespace, "tangent_of": functools.partial(checked_tangent, job.result_loc())}
    if "check_result" not in namespace and "check_real" not in namespace:
        return namespace

    def check_result(x: Any, one: bool = True) -> None:
        try:
            support.check_result(x, one)
        except TypeError as error:
            hint = None if isinstance(x, np.ndarray) else "return a number on every path"
            raise NotScalar(str(error), job.result_loc(), hint) from None

    def check_real(x: Any) -> None:
        try:
            support.check_real(x)
        except TypeError as error:
            row = row_of(x)
            raise BadArgument(str(error), job.result_loc(), None if row is None else f"use {row.means}, x being the value") from None

    return {**namespace, "check_result": check_result, "check_real": check_real}


def checked_tangent(loc: Loc, tangents: Any, read: Callable[[Any], Any], primal: Any, name: str) -> Any:
    """A tangent that fits its argument; else BadArgument."""
    try:
        return support.tangent_of(tangents, read, primal, name)
    except (TypeError, ValueError) as error:
        raise BadArgument(str(error), loc, "give it the form, the shapes and the dtypes of its argument") from None


def plain_form(job: Job, name: str, later: Later) -> Callable[..., Any]:
    """The plain form of the function, for exceptions of Python numbers; made on demand."""

    @functools.cache
    def loaded() -> Callable[..., Any]:
        emitted = later.readable()
        return load(emitted.text, name, {**own_namespace(job, emitted.namespace), **job.lowered.objects}, emitted.place)

    def run(*args: Any, **kwargs: Any) -> Any:
        first = sys.exception()
        try:
            return loaded()(*args, **kwargs)
        except Exception as error:
            if first is not None and first.__traceback__ is not None and first.__traceback__.tb_frame is sys._getframe(1):
                forget_context(error, first)
            raise

    return run


def shortened(error: BaseException) -> BaseException:
    """An exception whose traceback begins in the generated text, not in its caller."""
    return error.with_traceback(error.__traceback__ and error.__traceback__.tb_next)


def refusing(function: Callable[..., Any], caught: tuple[tuple[type[BaseException], Loc], ...]) -> Callable[..., Any]:
    """Wrap a derivative of a function that handles these exceptions: it refuses where they are raised."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except tuple(kind for kind, _ in caught) as error:
            loc = next(loc for kind, loc in caught if isinstance(error, kind))
            __tracebackhide__ = True
            raise CaughtException(f"{type(error).__name__} was raised where the function handles it: {error}", loc) from shortened(error)

    return run
