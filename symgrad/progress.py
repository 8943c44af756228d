"""Reports a long first call on the standard error of a terminal or notebook: what is compiled, and the current stage.

One clock for all: compiling holds a lock, and what is compiled inside of something else belongs to that.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

AFTER = 5.0  #: seconds before the line is written
#: what a call is given: the seconds after which it calls the function, in a thread of its own
Clock = Callable[[float, Callable[[], None]], Any]
CLOCK: Clock = threading.Timer

#: the stages in words; others are said by their names
WORDS = {
    "read": "reading the function",
    "differentiate": "differentiating it",
    "print": "writing the code",
    "numba": "numba compiles the kernel",
}


class Progress:
    """What is compiled now, if anything is."""

    def __init__(self) -> None:
        self.what: str | None = None
        self.stage = ""

    def tell(self) -> None:
        """Write the line."""
        if self.what is not None:
            with contextlib.suppress(OSError, ValueError):  # an output that is closed meanwhile
                stage = self.stage or WORDS["read"]
                print(f"symgrad: compiling {self.what} takes long; now: {stage}", file=sys.stderr, flush=True)


NOW = Progress()


def is_interactive() -> bool:
    """Does somebody watch the standard error: a terminal, or a notebook's cell?"""
    stream = sys.stderr
    if stream is None:
        return False
    try:
        return type(stream).__module__.startswith("ipykernel") or bool(stream.isatty())
    except (AttributeError, ValueError):
        return False


@contextlib.contextmanager
def watched(what: str) -> Iterator[None]:
    """Tell of what stands in the block if it takes long; the outermost block counts.

    >>> with watched("the derivative of f"):
    ...     enter("print")
    """
    if NOW.what is not None or not is_interactive():
        yield
        return
    NOW.what, NOW.stage = what, ""
    timer = CLOCK(AFTER, NOW.tell)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        NOW.what = None


def enter(stage: str) -> None:
    """Note that a stage begins."""
    NOW.stage = WORDS.get(stage, stage)


__all__ = ["enter", "watched"]
