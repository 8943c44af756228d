"""What a traceback shows of symgrad: of a refusal the user's own frames, and of ours only the door that was knocked at.

``SYMGRAD_TRACEBACK=full`` shows all frames. What the user's code raises keeps all of its own, and so do faults of symgrad.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any, TypeVar

from symgrad.errors import REFUSED, InvalidIR, SymgradError, refused

Function = TypeVar("Function", bound=Callable[..., Any])
#: the variable of the environment, and its value, with which nothing is left out
SWITCH, FULL = "SYMGRAD_TRACEBACK", "full"
#: what is looked at: refusals are of many classes, those that the documented APIs raise among them
REFUSALS = Exception
__all__ = ["REFUSALS", "boundary", "is_trimmed", "refused"]


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
