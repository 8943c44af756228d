"""The record of attempts that led to the code for a call; reused for the next signature and for the function's other derivatives."""

from __future__ import annotations

import types
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from symgrad.dispatch.entry import Entry, World
from symgrad.pipeline.readings import Reading, Readings
from symgrad.runtime.locks import LOCK
from symgrad.signature import Signature

#: the number of calls whose attempts are kept
RECENT = 32
TRAILS: list[weakref.ref[Trail]] = []  #: the oldest first


@dataclass(slots=True, eq=False, weakref_slot=True)
class Trail:
    """The attempts for one call, and the code that they led to."""

    function: types.FunctionType
    code: types.CodeType
    signature: Signature
    readings: Readings = field(default_factory=dict)
    entry: Entry | None = None

    def still_so(self, arguments: Mapping[str, Any]) -> Readings:
        """The readings that are still valid: a reading is tested by its own captured values, a refusal by those of the code."""
        assert self.entry is not None
        world = self.entry.world
        steady = world.is_as_it_was(self.function, arguments, self.signature.names)
        readings: Readings = {}
        for asked, reading in self.readings.items():
            lowered = reading.lowered if isinstance(reading, Reading) else None
            if lowered is None or lowered.relied is world.relied:
                holds = steady
            else:
                captured = tuple((c.text, c.abstract) for c in lowered.captured)
                own = World(lowered.relied, captured, lowered.related, lowered.apart, lowered.objects)
                holds = own.is_as_it_was(self.function, arguments, self.signature.names)
            if holds:
                readings[asked] = reading
        return readings

    def keep(self, entry: Entry) -> None:
        """Record the code that the attempts have led to."""
        self.entry = entry
        with LOCK:
            TRAILS[:] = [reference for reference in TRAILS if reference() is not None][1 - RECENT :]
            TRAILS.append(weakref.ref(self))


def trail_of(function: types.FunctionType, signature: Signature, arguments: Mapping[str, Any]) -> Trail:
    """A new trail, with the readings of earlier calls that still hold."""
    new_trail = Trail(function, function.__code__, signature)
    with LOCK:
        for trail in (reference() for reference in reversed(TRAILS)):
            if trail is not None and trail.function is function and trail.code is new_trail.code and trail.signature == signature:
                new_trail.readings |= trail.still_so(arguments)
                break
    return new_trail


def forget_trails() -> None:
    """Discard all trails: the vocabulary has changed."""
    with LOCK:
        TRAILS.clear()


__all__ = ["Trail", "forget_trails", "trail_of"]
