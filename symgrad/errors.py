"""The classes of errors, each with its facts in fields, and the one renderer that turns the fields into text.

Each kind is a class with a section in ``docs/errors.md``, which the command line prints. A refusal names what, where, and the way
out; several offences of one function are held together by the first of them (``together``).
"""

from __future__ import annotations

import difflib
import re
import sys
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from pickle import PicklingError
from typing import Any, TypeVar

from symgrad.location import Loc

#: prints the section about a kind, wherever symgrad is installed
COMMAND = "python -m symgrad errors"

Note = tuple[Loc, str]
#: texts of refused arguments that tell what to leave out, or to write
WRITES = re.compile(r"does not write to its arguments?$")
LEFT_OUT, INSTEAD = re.compile(r"(\w+) of (?:np|scipy)\.[\w.]+ is not supported"), re.compile(r"supported with (\w+=\S+)$")


class SymgradError(Exception):
    """Base of all kinds: ``what`` went wrong, ``loc`` where, ``hint`` the way out, ``notes`` other places that matter.

    ``pin`` is the expression of an integer whose value, were it known while compiling, would do; it reads the ``objects``. ``integers``
    are the expressions of those that were read from outside.
    ``follows`` says that it only follows from another refusal, of what assigns to a name that is read here.
    Its text begins with ``what``: the kind stands before it in a traceback, and in what ``render`` gives.

    >>> print(UnsupportedSyntax("a set display cannot be differentiated", hint="try a tuple"))
    a set display cannot be differentiated
      try a tuple
      more: python -m symgrad errors UnsupportedSyntax
    """

    default_hint: str | None = None
    pin: str | None = None
    follows = False
    objects: dict[str, Any] = {}
    integers: tuple[str, ...] = ()

    def __init__(self, what: str, loc: Loc | None = None, hint: str | None = None, notes: Sequence[Note] = ()) -> None:
        super().__init__(what)
        self.what = what
        self.loc = loc
        self.hint = hint if hint is not None else self.default_hint
        self.notes: list[Note] = list(notes)
        self.others: list[SymgradError] = []

    @property
    def errors(self) -> list[SymgradError]:
        """Every offence held by this error, itself first."""
        return [self, *self.others]

    def at(self, loc: Loc) -> SymgradError:
        """Say where, if that is not said yet."""
        if self.loc is None or not self.loc.file:
            self.loc = loc
        return self

    def __str__(self) -> str:
        first, *others = self.errors
        lines = [*_lines(first)]
        for other in others:
            head, *rest = _lines(other)
            lines += [f"{type(other).__name__}: {head}", *rest]
        return "\n".join([*lines, more(*(type(error).__name__ for error in self.errors))])

    def __reduce__(self) -> tuple[Any, ...]:
        kept = {name: value for name, value in self.__dict__.items() if name != "objects"}  # which other processes have not
        return _rebuild, (type(self), kept)


def _rebuild(kind: type[SymgradError], fields: dict[str, Any]) -> SymgradError:
    error = kind.__new__(kind, fields["what"])
    error.__dict__.update(fields)
    return error


def anew(error: SymgradError) -> SymgradError:
    """A copy of an error that holds nothing of where the error was raised."""
    new_error = _rebuild(type(error), dict(error.__dict__))
    new_error.others = [anew(other) for other in error.others]
    return new_error


def render(error: SymgradError) -> str:
    """An error as a traceback ends: kind and what, file and line, the line with carets, the way out."""
    return f"{type(error).__name__}: {error}"


def more(*kinds: str) -> str:
    """The line that says where kinds are explained."""
    return f"  more: {COMMAND} {' '.join(dict.fromkeys(kinds))}"


def _lines(error: SymgradError) -> list[str]:
    """What, where, and the way out."""
    lines = [error.what]
    if error.loc is not None and error.loc.file:
        lines += _place(error.loc)
    for loc, text in error.notes:
        lines.append(f"  {text}")
        lines += _place(loc) if loc.file else []
    return lines if not error.hint else [*lines, f"  {error.hint}"]


def _place(loc: Loc) -> list[str]:
    return [f"  {loc.file}:{loc.line}", *([loc.excerpt()] if loc.text.strip() else [])]


def together(errors: Iterable[SymgradError]) -> SymgradError:
    """One error that holds all the given ones, in order and each offence once; the first gives the kind.

    What only follows from another one is left out: who mends the first needs no other way out.
    """
    seen: dict[tuple[Any, ...], SymgradError] = {}
    every = [held for outer in errors for held in outer.errors]
    for error in [error for error in every if not error.follows] or every:
        seen.setdefault((type(error), error.what, error.loc), error)
    first, *rest = seen.values()
    for error in seen.values():
        error.others = []
    first.others = rest
    return first


def nearest(name: str, known: Iterable[str], count: int = 3) -> list[str]:
    """The known names that look most like ``name``.

    >>> nearest("arctan_2", ["arctan", "arctan2", "tanh"])
    ['arctan2', 'arctan']
    """
    return difflib.get_close_matches(name, sorted(set(known)), count, 0.6)


# ------------------------------------------------------------------ what the user's function contains


class UnsupportedSyntax(SymgradError):
    """A construct of the language that is not differentiated."""


class UnknownFunction(SymgradError):
    """A call of something without a rule, on a value that carries a derivative.

    ``known`` are the names there are; the nearest become the hint.
    """

    default_hint = "declare it with symgrad.elementwise, rule or constant"

    def __init__(self, what: str, loc: Loc | None = None, hint: str | None = None, notes: Sequence[Note] = (),
                 *, name: str | None = None, known: Iterable[str] = ()) -> None:  # fmt: skip
        close = nearest(name, known) if name else []
        if hint is None and close:
            hint = f"nearest known: {', '.join(close)}"
        super().__init__(what, loc, hint, notes)
        self.name = name


class UnsupportedArgument(SymgradError):
    """An argument of a known function that its rule does not take, or that must be a literal.

    What follows a semicolon in the text is the hint; an argument that is not supported is to be left out.

    >>> error = UnsupportedArgument("axes of np.f is not supported")
    >>> error.hint, UnsupportedArgument("np.f takes a list; write [x] for x").hint, UnsupportedArgument("np.f is supported with k=1").hint
    ('leave axes out', 'write [x] for x', 'write k=1')
    """

    def __init__(self, what: str, loc: Loc | None = None, hint: str | None = None, notes: Sequence[Note] = ()) -> None:
        if hint is None:
            what, _, told = what.partition("; ")
            hint = told or None
        if hint is None and WRITES.search(what):
            hint = "leave the arguments out that begin with overwrite"
        if hint is None and (match := LEFT_OUT.fullmatch(what) or INSTEAD.search(what)):
            hint = f"{'leave' if match.re is LEFT_OUT else 'write'} {match[1]}{' out' if match.re is LEFT_OUT else ''}"
        super().__init__(what, loc, hint, notes)


class NoDerivative(SymgradError):
    """A function that has a derivative which nobody has written; ``what`` ends with the row's reason."""

    default_hint = "declare one with symgrad.rule, or stop_gradient it"


class ShapeMismatch(SymgradError):
    """Shapes that can never go together."""


class CaughtException(SymgradError):
    """An exception was caught in code that carries a derivative; known only while running."""

    default_hint = "test for the condition with if"


# ------------------------------------------------------------------ memory


class UnsureAlias(SymgradError):
    """A store to memory that another name, read later, may or may not share.

    ``laid``: might it be known if it were known how the arguments lie in memory?
    """

    default_hint = "take a .copy() of one of the two"
    laid: bool = True


class UnknownType(SymgradError):
    """A store, augmented assignment or view through something whose type is not known."""

    default_hint = "make it an array of a known type, with np.asarray and dtype=float"


class CastStore(SymgradError):
    """A value that carries a derivative is stored where only integers or booleans fit."""

    default_hint = "make the array float, for example dtype=float"


# ------------------------------------------------------------------ what is asked for


class BadArgument(SymgradError, TypeError, ValueError):
    """What was asked for does not fit the function: a ``wrt`` that does not exist, a wrong call."""


class IntegerArgument(SymgradError, TypeError):
    """A gradient with respect to an integer or a boolean was asked for."""

    default_hint = "pass a float: 2.0 in the place of 2"


class NotActive(SymgradError):
    """With ``strict=True``: the result can never depend on an argument in ``wrt``."""

    default_hint = "without strict=True the gradient is zero"


class NotScalar(SymgradError):
    """The gradient of something that is not one number was asked for."""

    default_hint = "use vjp, or sum the output"


# ------------------------------------------------------------------ recorded tensors


class FreedGraph(SymgradError, RuntimeError, SystemError):
    """A second sweep through a record that the first one freed."""

    default_hint = "call the first backward with retain_graph=True"


class NotReached(SymgradError, ValueError):
    """A gradient was asked for with respect to a tensor that no output was made of."""

    default_hint = "allow_unused=True gives None for it"


class Overwritten(SymgradError, RuntimeError):
    """A tensor whose values the backward half needs was changed in place since they were used."""

    default_hint = "change a clone() of it, or call backward first"


class LeafInPlace(SymgradError, ValueError):
    """A leaf whose gradient is asked for is changed in place while operations are recorded."""

    default_hint = "change it inside no_grad(), or change a clone()"


REFUSED = "__symgrad_refused__"  #: the attribute of an error of Python's own class that is a message of ours about the user's call

Told = TypeVar("Told", bound=Exception)


def refused(error: Told) -> Told:
    """Mark an error of Python's own class as a message of ours."""
    setattr(error, REFUSED, True)
    return error


def required(holds: object, what: str) -> None:
    """Refuse an argument with the documented AssertionError, also under ``python -O``."""
    if not holds:
        raise refused(AssertionError(what))


# ------------------------------------------------------------------ source text


class SourceNotFound(SymgradError):
    """Python has kept no text of the function."""

    default_hint = "define it in a file, or from its text with symgrad.from_source"


class StaleSource(SymgradError):
    """The file has changed since the function was made, so its text is not its code."""

    default_hint = "import the module again"


class SaveError(SymgradError):
    """A derived function depends on something that cannot be written to a file of its own."""


class NumbaMissing(SymgradError, ImportError):
    """Compiled code was asked for where numba is not installed."""

    default_hint = "pip install numba scipy, or say jit='auto'"


class SciPyMissing(SymgradError, ImportError):
    """A solver or a sparse derivative was asked for where SciPy is not installed."""

    default_hint = "pip install scipy"


class CloudpickleMissing(SymgradError, ImportError, PicklingError):
    """A derivative of a function that another process cannot import was pickled where cloudpickle is not installed."""

    default_hint = "pip install cloudpickle, or move the function to a module"


class DaskMissing(SymgradError, ImportError):
    """A sum over the shards of a cluster was asked for where dask.distributed is not installed."""

    default_hint = 'pip install "symgrad[dask]"'


class ClusterFailed(SymgradError, RuntimeError):
    """The cluster cannot compute a sum: it is closed, has no worker, or its workers die."""


class Notice(UserWarning):
    """Base of what is told without an error: ``what``, ``loc`` where, ``hint`` the way to change it."""

    hint = ""

    def __init__(self, what: str, loc: Loc | None = None) -> None:
        super().__init__(what, loc)
        self.what, self.loc = what, loc

    def __str__(self) -> str:
        place = _place(self.loc) if self.loc is not None and self.loc.file else []
        return "\n".join([self.what, *place, f"  {self.hint}", more(type(self).__name__)])

    def give(self) -> None:
        """Warn, at the line of the user's own that led here."""
        here = str(Path(__file__).parent)
        depth, frame = 1, sys._getframe(1)
        while frame.f_back is not None and frame.f_code.co_filename.startswith((here, "<symgrad")):
            depth, frame = depth + 1, frame.f_back
        warnings.warn(self, stacklevel=depth + 1)


class NotCompiled(Notice):
    """With ``jit=True``, a function runs as NumPy code because it cannot be compiled, or its kernel fails.

    >>> print(NotCompiled("f", "kernels cannot hold complex numbers"))
    f runs as NumPy code: kernels cannot hold complex numbers
      jit="auto" gives no such notice
      more: python -m symgrad errors NotCompiled
    """

    hint = 'jit="auto" gives no such notice'

    def __init__(self, function: str, reason: str, loc: Loc | None = None) -> None:
        super().__init__(f"{function} runs as NumPy code: {reason}", loc)
        self.function, self.reason = function, reason


class NotActiveWarning(Notice):
    """The result does not depend on an argument in ``wrt``, so that its gradient is zero.

    >>> print(NotActiveWarning("the result does not depend on x: it is never used"))
    the result does not depend on x: it is never used; the gradient is zero
      allow_unused=True is silent, strict=True raises
      more: python -m symgrad errors NotActiveWarning
    """

    hint = "allow_unused=True is silent, strict=True raises"

    def __init__(self, what: str, loc: Loc | None = None) -> None:
        super().__init__(f"{what}; the gradient is zero", loc)


class CacheNotUsed(Notice):
    """A directory that others can write to is not used, and nothing is kept on the disk.

    >>> print(CacheNotUsed("/srv/kept", "others can write to it"))
    /srv/kept is not used to keep compiled code: others can write to it
      set SYMGRAD_CACHE_DIR to a directory of your own
      more: python -m symgrad errors CacheNotUsed
    """

    hint = "set SYMGRAD_CACHE_DIR to a directory of your own"

    def __init__(self, place: str, why: str) -> None:
        super().__init__(f"{place} is not used to keep compiled code: {why}")
        self.place, self.why = place, why


# ------------------------------------------------------------------ ours


class InvalidIR(SymgradError):
    """The compiler has made a program that breaks its own rules; never the user's fault."""

    default_hint = "this is a fault of symgrad: please report it"


class Mismatch(SymgradError):
    """Generated code and the user's function give two results for one call; never the user's fault.

    ``ours`` and ``theirs`` are the two, ``report`` a text to send: the program, the types of its arguments, versions.
    """

    default_hint = "this is a fault of symgrad: please report it with the text in .report; verify=False runs the code as it is"

    def __init__(self, what: str, loc: Loc | None = None, hint: str | None = None, notes: Sequence[Note] = (), *,
                 ours: Any = None, theirs: Any = None, report: str = "") -> None:  # fmt: skip
        super().__init__(what, loc, hint, notes)
        self.ours, self.theirs, self.report = ours, theirs, report


def kinds() -> list[type[SymgradError]]:
    """Every kind of error, in the order of this file."""
    return [
        value for value in globals().values() if isinstance(value, type) and issubclass(value, SymgradError) and value is not SymgradError
    ]
