"""Shortens tracebacks: of a refusal only the user's frames remain, and the frame of the public function that was called.

What the user's program raises in generated code shows that code, and a note with the user's line. Faults of symgrad keep all frames;
``SYMGRAD_TRACEBACK=full`` shows all of them always.
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
#: the variable of the environment, and its value, with which nothing is left out
SWITCH, FULL = "SYMGRAD_TRACEBACK", "full"
#: what is looked at: refusals are of many classes, those that the documented APIs raise among them
REFUSALS = Exception
HERE = os.path.dirname(__file__) + os.sep  #: what our own modules lie in
__all__ = ["REFUSALS", "boundary", "forget_context", "is_trimmed", "pass_on", "refused"]


def is_trimmed(error: BaseException) -> bool:
    """Is this a refusal?  Then its frames, which are ours, have been taken off, to be raised anew by who asks.

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
    """Prepare what the user's program raises in generated code to be raised on: a note names the line of the user's own.

    Frames of ours are left out.
    """
    if isinstance(error, SymgradError):
        return
    leave_out_frames(error)
    place = place_of(error)
    note = f"in {place.file}:{place.line}\n    {place.text.strip()}"
    if place.line and note not in getattr(error, "__notes__", ()):
        error.add_note(note)


def place_of(error: BaseException) -> Loc:
    """The user's line that the innermost generated line of a traceback comes from; NOWHERE if there is none."""
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        place = PLACES.get(frame.f_code.co_filename)
        if place is not None:
            return place(line)
    return NOWHERE


def leave_out_frames(error: BaseException) -> None:
    """Take the outermost frame, which is that of who asks, and frames of ours that lead to others off a traceback.

    A bare ``raise`` does not add a frame again. What begins in ours, as a fault does, keeps them.
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
    """Take an attempt that failed before, and of which the user knows nothing, off the exceptions that led to this one."""
    while error.__context__ is not None and error is not first:
        if error.__context__ is first:
            error.__context__ = None
            return
        error = error.__context__


def boundary(function: Function) -> Function:
    """A public function whose refusals show no frame of ours but one."""

    @functools.wraps(function)
    def refuse_here(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except REFUSALS as error:
            if not is_trimmed(error):
                raise
            __tracebackhide__ = True  # pytest and the debugger of IPython leave this frame out too
            raise error

    return refuse_here  # type: ignore[return-value]
