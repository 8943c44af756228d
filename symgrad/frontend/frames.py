"""Frames: a frame is one activation of a function that is being lowered, with its source and the enclosing loop.

A path leaves a frame or a loop with one of the exit codes below.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from symgrad.frontend.bindings import Binding, HeapKey, Name
from symgrad.frontend.source import Source
from symgrad.ir.core import Operand
from symgrad.location import Loc


@dataclass(eq=False, slots=True)
class Frame:
    """One activation of a function: its source, and the frame whose variables it can access."""

    source: Source
    parent: Frame | None = None
    locals: frozenset[str] = frozenset()
    globals: frozenset[str] = frozenset()  #: the names that it declares global
    top: bool = False
    loop: Loop | None = None
    consume: Callable[[Binding], Operand] | None = None  #: of a generator: lowers the use of a value; returns whether that ends it
    consumer: Frame | None = None  #: of a generator: the frame that iterates over it
    lives_on: bool = False  #: of a generator that runs code when it is closed: a name holds it while a loop iterates over it
    place: Loc | None = None  #: of one of our compositions: the location of its call, which the user sees for all its lines
    called_at: Loc | None = None  #: the same for a library function whose source is lowered
    sent: Binding | None = None  #: of a generator: the value sent to it at the next resumption
    nested: int = 0  #: of a call: the nesting depth of its body in branches and loops
    lowered: int = 0  #: the number of lowered statements, counted again for each unrolled iteration


@dataclass(eq=False, slots=True)
class Loop:
    """The loop being lowered: its two flags are names of the state, so that joins merge them."""

    depth: int
    exits: set[int] = field(default_factory=set)
    watchers: dict[int, tuple[Any, ...]] = field(default_factory=dict)  #: the handlers around it, by the kind of exception that leaves it

    @property
    def stop(self) -> tuple[Any, str]:
        return (self, "stop")

    @property
    def exit(self) -> tuple[Any, str]:
        return (self, "exit")


@dataclass(eq=False, slots=True)
class Going:
    """The lists and dicts that loops iterate over: the content that must not change, and the locations for a position instead."""

    lists: dict[HeapKey, Any]
    sites: frozenset[Any] = frozenset()


#: the codes of a path: it continues, or the way in which it has left
NEXT, BREAK, CONTINUE, RETURN = 0, 1, 2, 3
CODE: Name = (None, "code")  #: the name that holds it
OUTSIDE: Any = "outside"  #: replaces the frame in names for arrays from outside that are written to; these are never forgotten
RAISED: Any = "raised"  #: replaces the frame in names that say which exception is pending
LONGEST: Any = "longest"  #: replaces the frame in names that hold the ``maxlen`` of a deque
RESULT = "%return"  #: the variable of each frame that holds its result
