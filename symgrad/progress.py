"""Reports a long first call on the standard error of a terminal or notebook: what is compiled, and the current stage.

There is one clock: compilation holds a lock, and a nested compilation counts as part of the outer one.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

AFTER = 5.0  #: seconds before the line is printed
#: a timer: seconds, and the function to call in a thread of its own
Clock = Callable[[float, Callable[[], None]], Any]
CLOCK: Clock = threading.Timer

#: descriptions of the stages; other stages appear by name
WORDS = {
    "read": "reading the function",
    "differentiate": "differentiating it",
    "print": "writing the code",
    "numba": "numba compiles the kernel",
}


class Progress:
    """The current compilation, if any."""

    def __init__(self) -> None:
        self.what: str | None = None
        self.stage = ""

    def tell(self) -> None:
        """Write the line."""
        if self.what is not None:
            with contextlib.suppress(OSError, ValueError):  # the output has been closed
                stage = self.stage or WORDS["read"]
                print(f"symgrad: compiling {self.what} takes long; now: {stage}", file=sys.stderr, flush=True)


NOW = Progress()


def is_interactive() -> bool:
    """Whether the standard error is a terminal or a notebook."""
    stream = sys.stderr
    if stream is None:
        return False
    try:
        return type(stream).__module__.startswith("ipykernel") or bool(stream.isatty())
    except (AttributeError, ValueError):
        return False


@contextlib.contextmanager
def watched(what: str) -> Iterator[None]:
    """Report the block if it takes long; only the outermost block counts.

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
    """Record the start of a stage."""
    NOW.stage = WORDS.get(stage, stage)


__all__ = ["enter", "watched"]
