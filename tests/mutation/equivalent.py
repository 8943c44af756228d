"""Faults that no program can tell from the package as it is, and why."""

from __future__ import annotations

from faults import Fault

#: module, function, kind, the line: the reason
EQUIVALENT: dict[tuple[str, str, str, str], str] = {}


def reason(fault: Fault) -> str | None:
    """Why the fault makes no difference; None if nothing is known."""
    return EQUIVALENT.get((fault.module, fault.function, fault.kind, fault.text))
