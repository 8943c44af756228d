"""The classes of errors, each with its facts in fields, and the one renderer that turns the fields into text.

Each kind is a class with a section in ``docs/errors.md``, which the command line prints. A refusal names the cause, the location and a
way out. Several errors of one function are attached to the first of them (``together``).
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

from symgrad.location import OWN_FILES, Loc

#: the command that prints the section about a kind
COMMAND = "python -m symgrad errors"

Note = tuple[Loc, str]
#: texts about refused arguments that name arguments to omit or to write
WRITES = re.compile(r"does not write to its arguments?$")
LEFT_OUT, INSTEAD = re.compile(r"(\w+) of (?:np|scipy)\.[\w.]+ is not supported"), re.compile(r"supported with (\w+=\S+)$")


class SymgradError(Exception):
    """Base of all errors: ``what`` is the cause, ``loc`` the location, ``hint`` the way out, ``notes`` further locations.

    ``pin`` is the expression of an integer with which the call would compile if its value were static; it reads the
    ``objects``. ``integers`` are the expressions of such integers that were read from outside. ``by_layout``: the
    call might compile if the memory layouts of the arguments were known. ``follows``: the error is a consequence of
    another refusal, of the statement that assigns a name read here. The text of the error begins with ``what``; the
    class precedes it in a traceback, and in the result of ``render``.

    >>> print(UnsupportedSyntax("a set display cannot be differentiated", hint="try a tuple"))
    a set display cannot be differentiated
      try a tuple
      more: python -m symgrad errors UnsupportedSyntax
    """

    default_hint: str | None = None
    pin: str | None = None
    by_layout = False
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
        """Set the place unless it is set already."""
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
        kept = {name: value for name, value in self.__dict__.items() if name != "objects"}  # which other processes lack
        return _rebuild, (type(self), kept)


def _rebuild(kind: type[SymgradError], fields: dict[str, Any]) -> SymgradError:
    error = kind.__new__(kind, fields["what"])
    error.__dict__.update(fields)
    return error


def anew(error: SymgradError) -> SymgradError:
    """Return a copy of an error without its traceback."""
    new_error = _rebuild(type(error), dict(error.__dict__))
    new_error.others = [anew(other) for other in error.others]
    return new_error


def render(error: SymgradError) -> str:
    """Render an error as at the end of a traceback: kind and cause, file and line, the line with carets, the hint."""
    return f"{type(error).__name__}: {error}"


def more(*kinds: str) -> str:
    """Return the line that refers to the explanation of the kind."""
    return f"  more: {COMMAND} {' '.join(dict.fromkeys(kinds))}"


def _lines(error: SymgradError) -> list[str]:
    """Return the lines: cause, place, hint."""
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
    """Combine errors into one, in order and without repetition; the first determines the kind.

    Consequences of another error are omitted: resolving the cause resolves them too.
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
    """Return the known names that are most similar to ``name``.

    >>> nearest("arctan_2", ["arctan", "arctan2", "tanh"])
    ['arctan2', 'arctan']
    """
    return difflib.get_close_matches(name, sorted(set(known)), count, 0.6)


# ------------------------------------------------------------------ the user's function


class UnsupportedSyntax(SymgradError):
    """A construct of the language that is not differentiated."""


class UnknownFunction(SymgradError):
    """A call of a function without a rule, on a value that carries a derivative.

    ``known`` are the names with a rule; the nearest become the hint.
    """

    default_hint = "call it in a function with a symgrad.custom_vjp, or pass it symgrad.stop_gradient(x) if its derivative is zero"

    def __init__(
        self,
        what: str,
        loc: Loc | None = None,
        hint: str | None = None,
        notes: Sequence[Note] = (),
        *,
        name: str | None = None,
        known: Iterable[str] = (),
    ) -> None:
        close = nearest(name, known) if name else []
        if hint is None and close:
            hint = f"nearest known: {', '.join(close)}"
        super().__init__(what, loc, hint, notes)
        self.name = name


class UnsupportedArgument(SymgradError):
    """An argument that the rule of a function does not accept, or that must be a literal.

    The text after a semicolon is the hint. For an unsupported argument, the hint is to leave it out.

    >>> error = UnsupportedArgument("axes of np.f is not supported")
    >>> error.hint, UnsupportedArgument("np.f takes a list; write [x] for x").hint, UnsupportedArgument("np.f is supported with k=1").hint
    ('leave axes out', 'write [x] for x', 'write k=1')
    """

    def __init__(self, what: str, loc: Loc | None = None, hint: str | None = None, notes: Sequence[Note] = ()) -> None:
        if hint is None:
            what, _, told = what.partition("; ")
            hint = told or None
        if hint is None and WRITES.search(what):
            hint = "leave out the arguments whose names begin with overwrite"
        if hint is None and (match := LEFT_OUT.fullmatch(what) or INSTEAD.search(what)):
            hint = f"{'leave' if match.re is LEFT_OUT else 'write'} {match[1]}{' out' if match.re is LEFT_OUT else ''}"
        super().__init__(what, loc, hint, notes)


class NoDerivative(SymgradError):
    """A function whose derivative exists but is not implemented; ``what`` ends with the row's reason."""

    default_hint = "declare one with symgrad.rule, or stop_gradient it"


class ShapeMismatch(SymgradError):
    """Shapes that never broadcast."""


class CaughtException(SymgradError):
    """An exception was caught in code that carries a derivative; detected at run time."""

    default_hint = "test for the condition with if"


# ------------------------------------------------------------------ memory


class UnsureAlias(SymgradError):
    """A store to memory that another name, read later, may or may not share.

    ``laid``: whether the memory layout of the arguments could decide it.
    """

    default_hint = "take a .copy() of one of the two"
    laid: bool = True


class UnknownType(SymgradError):
    """A store, augmented assignment or view of a value of unknown type."""

    default_hint = "convert it to an array of a known type, with np.asarray and dtype=float"


class CastStore(SymgradError):
    """A value that carries a derivative is stored into integers or booleans."""

    default_hint = "make the array float, for example dtype=float"


# ------------------------------------------------------------------ requests


class BadArgument(SymgradError, TypeError, ValueError):
    """A request that does not fit the function, such as a ``wrt`` that names no argument, or a call with wrong arguments."""


class IntegerArgument(SymgradError, TypeError):
    """A gradient with respect to an integer or a boolean was requested."""

    default_hint = "pass a float: 2.0 instead of 2"


class NotActive(SymgradError):
    """With ``strict=True``: the result can never depend on an argument in ``wrt``."""

    default_hint = "without strict=True the gradient is zero"


class NotScalar(SymgradError):
    """The gradient of a result that is not one number was requested."""

    default_hint = "sum the output, or use symgrad.jacobian or symgrad.vjp"


# ------------------------------------------------------------------ recorded tensors


class FreedGraph(SymgradError, RuntimeError, SystemError):
    """A second sweep through a record that the first one freed."""

    default_hint = "call the first backward with retain_graph=True"


class NotReached(SymgradError, ValueError):
    """A gradient was requested with respect to a tensor that no output depends on."""

    default_hint = "allow_unused=True gives None for it"


class Overwritten(SymgradError, RuntimeError):
    """A tensor whose values the backward half needs was modified in place after their use."""

    default_hint = "change a clone() of it, or call backward first"


class LeafInPlace(SymgradError, ValueError):
    """A leaf that requires a gradient is modified in place while operations are recorded."""

    default_hint = "change it inside no_grad(), or change a clone()"


REFUSED = "__symgrad_refused__"  #: the attribute of an exception of a Python class that is symgrad's message about the user's call

Told = TypeVar("Told", bound=Exception)


def refused(error: Told) -> Told:
    """Mark an exception of a Python class as a message of symgrad."""
    setattr(error, REFUSED, True)
    return error


def required(holds: object, what: str) -> None:
    """Raise the documented AssertionError unless the condition holds, also under ``python -O``."""
    if not holds:
        raise refused(AssertionError(what))


# ------------------------------------------------------------------ source text


class SourceNotFound(SymgradError):
    """Python has no source text of the function."""

    default_hint = "define it in a file, or from its text with symgrad.from_source"


class StaleSource(SymgradError):
    """The file has changed since the function was defined, so its text does not match its code."""

    default_hint = "import the module again"


class SaveError(SymgradError):
    """A derivative cannot be written to a self-contained file."""


class NumbaMissing(SymgradError, ImportError):
    """Compiled code was requested, but numba is not installed."""

    default_hint = "pip install numba scipy, or pass jit='auto'"


class SciPyMissing(SymgradError, ImportError):
    """A solver or a sparse derivative was requested, but SciPy is not installed."""

    default_hint = "pip install scipy"


class CloudpickleMissing(SymgradError, ImportError, PicklingError):
    """A derivative of a function that other processes cannot import was pickled, but cloudpickle is not installed."""

    default_hint = "pip install cloudpickle, or move the function to a module"


class DaskMissing(SymgradError, ImportError):
    """A sum over shards was requested, but dask.distributed is not installed."""

    default_hint = 'pip install "symgrad[dask]"'


class ClusterFailed(SymgradError, RuntimeError):
    """The cluster cannot compute a sum: it is closed, has no worker, or its workers die."""


class Notice(UserWarning):
    """Base of notices: ``what`` is the fact, ``loc`` the location, ``hint`` how to change it."""

    hint = ""

    def __init__(self, what: str, loc: Loc | None = None) -> None:
        super().__init__(what, loc)
        self.what, self.loc = what, loc

    def __str__(self) -> str:
        place = _place(self.loc) if self.loc is not None and self.loc.file else []
        return "\n".join([self.what, *place, f"  {self.hint}", more(type(self).__name__)])

    def give(self) -> None:
        """Emit the warning at the user's line that caused it."""
        here = str(Path(__file__).parent)
        depth, frame = 1, sys._getframe(1)
        while frame.f_back is not None and frame.f_code.co_filename.startswith((here, *OWN_FILES)):
            depth, frame = depth + 1, frame.f_back
        warnings.warn(self, stacklevel=depth + 1)


class NotCompiled(Notice):
    """With ``jit=True``, a function runs as NumPy code because it cannot be compiled, or its kernel fails.

    >>> print(NotCompiled("f", "kernels do not support complex numbers"))
    f runs as NumPy code: kernels do not support complex numbers
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
    """The cache directory is writable by others, so it is not used, and nothing is stored on disk.

    >>> print(CacheNotUsed("/srv/kept", "others can write to it"))
    /srv/kept is not used to keep compiled code: others can write to it
      set SYMGRAD_CACHE_DIR to a directory of your own
      more: python -m symgrad errors CacheNotUsed
    """

    hint = "set SYMGRAD_CACHE_DIR to a directory of your own"

    def __init__(self, place: str, why: str) -> None:
        super().__init__(f"{place} is not used to keep compiled code: {why}")
        self.place, self.why = place, why


# ------------------------------------------------------------------ defects of symgrad


class InvalidIR(SymgradError):
    """The compiler produced an invalid program. This is a defect of symgrad."""

    default_hint = "this is a fault of symgrad: please report it"


class Mismatch(SymgradError):
    """Generated code and the user's function return different results for one call. This is a defect of symgrad.

    ``ours`` and ``theirs`` are the two results. ``report`` is a text for a bug report: the program, the types of its arguments, versions.
    """

    default_hint = "this is a fault of symgrad: please report it with the text in .report; verify=False runs the code as it is"

    def __init__(
        self,
        what: str,
        loc: Loc | None = None,
        hint: str | None = None,
        notes: Sequence[Note] = (),
        *,
        ours: Any = None,
        theirs: Any = None,
        report: str = "",
    ) -> None:
        super().__init__(what, loc, hint, notes)
        self.ours, self.theirs, self.report = ours, theirs, report


def kinds() -> list[type[SymgradError]]:
    """Every kind of error, in the order of this file."""
    return [
        value for value in globals().values() if isinstance(value, type) and issubclass(value, SymgradError) and value is not SymgradError
    ]
