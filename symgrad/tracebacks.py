"""Shortens tracebacks: of a refusal only the user's frames remain, and the frame of the public function that was called.

An exception that the user's program raises in generated code shows that code, and a note with the user's line. A defect of symgrad keeps
all frames. ``SYMGRAD_TRACEBACK=full`` always shows all frames.
"""

from __future__ import annotations

import functools
import os
import traceback
from collections.abc import Callable
from typing import Any, TypeVar

from symgrad.errors import REFUSED, InvalidIR, SymgradError, refused
from symgrad.location import NOWHERE, PLACES, Loc

Function = TypeVar("Function", bound=Callable[..., Any])
#: the environment variable, and its value, that keeps all frames
SWITCH, FULL = "SYMGRAD_TRACEBACK", "full"
#: the base of the exceptions considered: refusals have many classes, including those of the documented APIs
REFUSALS = Exception
HERE = os.path.dirname(__file__) + os.sep  #: the directory of symgrad's modules
__all__ = ["REFUSALS", "boundary", "forget_context", "is_trimmed", "pass_on", "refused"]


def is_trimmed(error: BaseException) -> bool:
    """Whether this is a refusal; if so, its frames, all of symgrad, are removed, and the caller raises it again.

    >>> is_trimmed(refused(TypeError("f() missing a required argument: 'x'"))), is_trimmed(TypeError("of the user's"))
    (True, False)
    """
    ours = isinstance(error, SymgradError) and not isinstance(error, InvalidIR) or getattr(error, REFUSED, False)
    if not ours or os.environ.get(SWITCH) == FULL:
        return False
    error.__traceback__ = None
    error.__suppress_context__ = True
    return True


def pass_on(error: BaseException) -> None:
    """Prepare an exception of the user's program in generated code for re-raising: a note names the user's line.

    Frames of symgrad are removed.
    """
    if isinstance(error, SymgradError):
        return
    leave_out_frames(error)
    place = place_of(error)
    note = f"in {place.file}:{place.line}\n    {place.text.strip()}"
    if place.line and note not in getattr(error, "__notes__", ()):
        error.add_note(note)


def place_of(error: BaseException) -> Loc:
    """Return the user's line for the innermost generated line of a traceback, or NOWHERE."""
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        place = PLACES.get(frame.f_code.co_filename)
        if place is not None:
            return place(line)
    return NOWHERE


def leave_out_frames(error: BaseException) -> None:
    """Remove the outermost frame, that of the caller of this function, and frames of symgrad that lead to others.

    A bare ``raise`` adds no frame. An exception that starts in symgrad, a defect, keeps its frames.
    """
    if os.environ.get(SWITCH) == FULL:
        return
    entries = []
    entry = error.__traceback__
    while entry is not None:
        entries.append(entry)
        entry = entry.tb_next
    ours = [entry.tb_frame.f_code.co_filename.startswith(HERE) for entry in entries]
    last = max((k for k, own in enumerate(ours) if not own), default=0)
    shown = [entry for k, entry in enumerate(entries) if k > last or k > 0 and not ours[k]]
    for entry, following in zip(shown, [*shown[1:], None], strict=True):
        entry.tb_next = following
    if shown:
        error.__traceback__ = shown[0]


def forget_context(error: BaseException, first: BaseException) -> None:
    """Remove internal failed attempts from the context of an exception."""
    while error.__context__ is not None and error is not first:
        if error.__context__ is first:
            error.__context__ = None
            return
        error = error.__context__


def boundary(function: Function) -> Function:
    """Decorate a public function: its refusals show no frame of symgrad but that of the function."""

    @functools.wraps(function)
    def refuse_here(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except REFUSALS as error:
            if not is_trimmed(error):
                raise
            __tracebackhide__ = True  # pytest and IPython's debugger hide this frame too
            raise error

    return refuse_here  # type: ignore[return-value]
