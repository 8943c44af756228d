"""Run-time support: checkpoint schedules: after which iterations a loop saves its state, as plain integers."""

from __future__ import annotations


def next_snapshot(start: int, stop: int, free: int) -> int:
    """Return the iteration before which to take the next snapshot, to reverse iterations ``start`` to ``stop - 1``, last first.

    The state before iteration ``start`` is saved already, and there is room for ``free`` more snapshots; the result
    is ``stop`` if another one is useless. With ``c = free + 1`` snapshots and each iteration run at most ``r`` times
    before its reverse, ``binomial(c + r, c)`` iterations can be reversed. A split into parts that need at most ``r -
    1`` and ``r`` runs is optimal: it repeats the fewest iterations (A. Griewank, A. Walther, Algorithm 799: revolve,
    ACM Transactions on Mathematical Software 26 (2000), 19-45).

    >>> next_snapshot(0, 10, 2)  # 10 = binomial(3 + 2, 3): the 4 rounds before the next snapshot once more, the 6 behind it twice
    4
    >>> next_snapshot(0, 10, 0), next_snapshot(0, 10, 9)
    (10, 1)
    """
    rounds = stop - start
    if free <= 0 or rounds <= 1:
        return stop
    if free >= rounds - 1:
        return start + 1
    kept = free + 1
    times, before, reach = 0, 1, 1  # reach = binomial(kept + times, kept), before the same for one time less
    while reach < rounds:
        times += 1
        before = reach
        reach = reach * (kept + times) // times
    behind = before * kept // (kept + times - 1)  # binomial(kept + times - 2, kept - 1)
    return start + min(before, rounds - behind)


def snapshots_within(memory: int, loops: int, size: int) -> int:
    """Return the number of snapshots of ``size`` bytes for each of ``loops`` loops that share the memory.

    Raises MemoryError if one snapshot for each does not fit.

    >>> snapshots_within(1000, 2, 100)
    5
    """
    count = memory // (loops * size)
    if count < 1:
        raise MemoryError(f"memory={memory} is too little: one snapshot in each loop takes {loops} * {size} = {loops * size} bytes")
    return count


__all__ = ["next_snapshot", "snapshots_within"]
