"""Run-time support of kernels: checkpoint schedules, as machine code."""

from __future__ import annotations

from symgrad.runtime.schedules import next_snapshot
from symgrad.runtime.vector import compiled

schedule = compiled(forceinline=False)(next_snapshot)


@compiled(forceinline=False)
def snapshot_after(start: int, stop: int, free: int) -> int:
    """``next_snapshot``.

    >>> snapshot_after(0, 10, 2)
    4
    """
    round_: int = schedule(start, stop, free)
    return round_


@compiled(forceinline=False)
def count_within(memory: int, loops: int, size: int) -> int:
    """``snapshots_within``; 0 where there is no room.

    >>> count_within(1000, 2, 100)
    5
    """
    return memory // (loops * size)
