"""Remarks: the stages record their decisions here, if requested; ``explain`` prints them.

A function carries its collector (``func.notes``, None unless requested), so each stage has access to it:

    if func.notes is not None:
        func.notes.add("plan", "saved", op.loc, "the next iteration overwrites it", name="h")
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from symgrad.location import Loc

#: the stages that emit remarks
STAGES = ("frontend", "passes", "activity", "reverse", "plan", "lowering", "codegen", "numba")

#: the kinds of remarks, in the order of printing for one line, with their meaning
KINDS: dict[str, str] = {
    "pinned": "an integer whose value is part of the generated code, or a relation between extents of the arguments",
    "inlined": "a called function that is inlined: its lines are listed below",
    "unrolled": "a loop that is unrolled, and why",
    "copied": "an array that is copied, and why",
    "active": "the value carries a derivative",
    "inactive": "the value carries no derivative, and why",
    "rule": "the operation whose derivative rule was applied, and the rule",
    "kept": "a variable that is still live when the backward half needs it",
    "fused": "each iteration of a loop is reversed directly after it has run, so that nothing is saved",
    "unfused": "the iterations of a loop are reversed after the loop, and why",
    "rerun": "a loop or a function that the backward half runs again, and the number of snapshots",
    "saved": "a value that is saved for the backward half: the statement that reads it, why it would be overwritten, and the saved form",
    "undone": "the elements that a store overwrites are saved, and restored by the backward half",
    "recomputed": "a value that the backward half computes again, and from which values",
    "carried": "a value that equals a later one, which the backward half already has",
    "moved": "a computation that is moved: out of a loop, or to be shared by two lines",
    "lowered": "a computation that is replaced by an equivalent one",
    "forward": "the code of the line in the forward half",
    "backward": "the code of the line in the backward half",
    "emitted": "the code of the line where there are no two halves: kernels, pullbacks, called functions",
    "unverified": "the reason why the first call is not compared with the function itself",
    "uncompiled": "the reason why numba does not compile the derivative",
    "unproved": "a property that an analysis could not prove, what that costs, and what the user could change",
}


@dataclass(frozen=True, slots=True)
class Note:
    """One remark of a stage.

    ``name`` is the user's variable, expression or row that it is about, ``message`` the remark without a full stop, ``hint`` what the
    user could change.
    """

    stage: str
    kind: str
    loc: Loc
    message: str
    name: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Timing:
    """The time of one run of a pass."""

    stage: str
    name: str
    seconds: float


@dataclass(slots=True)
class Trace:
    """The record of a compilation: ``timings`` of the passes, in order; ``stopped`` is the function after ``stop_after`` last ran."""

    timings: list[Timing] = field(default_factory=list)
    stop_after: str = ""
    stopped: Any = None

    @contextmanager
    def timed(self, stage: str, name: str) -> Iterator[None]:
        """Time the block."""
        started = time.perf_counter()
        yield
        self.timings.append(Timing(stage, name, time.perf_counter() - started))


@dataclass(slots=True)
class Notes:
    """A collector of remarks, in the order of their first occurrence and without repetition.

    >>> notes = Notes()
    >>> notes.add("plan", "saved", Loc("gated.py", 7), "the next iteration overwrites it", name="h")
    >>> [(note.name, note.message) for note in notes]
    [('h', 'the next iteration overwrites it')]
    """

    entries: dict[Note, None] = field(default_factory=dict)
    trace: Trace = field(default_factory=Trace)

    def silent(self) -> Notes:
        """Return a collector whose remarks are discarded, with the same trace."""
        return Notes(trace=self.trace)

    def add(self, stage: str, kind: str, loc: Loc, message: str, *, name: str | None = None, hint: str = "") -> None:
        """Add a remark; raise LookupError if the stage or the kind has no entry in the tables of this module."""
        if stage not in STAGES or kind not in KINDS:
            raise LookupError(f"{stage} {kind}")
        if kind == "unproved" and not hint:
            raise ValueError(f"what could not be proved needs a way out: {message}")
        self.entries[Note(stage, kind, loc, message, name or "", hint)] = None

    def taken(self, *stages: str) -> list[Note]:
        """Remove and return the remarks of some stages."""
        notes = [note for note in self.entries if note.stage in stages]
        for note in notes:
            del self.entries[note]
        return notes

    def __iter__(self) -> Iterator[Note]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)


__all__ = ["KINDS", "STAGES", "Note", "Notes", "Timing", "Trace"]
