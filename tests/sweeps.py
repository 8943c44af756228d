"""Which cases of a product are fast: every n-th, and one for each value of a parameter that is in as many cases as that."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Hashable, Mapping

#: the values of a case's parameters, by their names
Values = Mapping[str, Hashable]


def fast_cases(cases: Mapping[str, Values], step: int) -> set[str]:
    """The names of the fast cases of a test, of which every ``step``-th is fast.

    Names decide which, so that a case that is added moves no other one. A value that ``step`` cases or more have is in one of the fast
    ones: where chance has left it out, the first case in the order of chance is added. One case at least is fast.

    >>> sorted(fast_cases({f"{one}{other}": {"one": one, "other": other} for one in "ab" for other in "cd"}, 2))
    ['ad', 'bc']
    """
    chance = {name: zlib.crc32(name.encode()) for name in cases}
    fast = {name for name in cases if chance[name] % step == 0}
    counts = Counter(item for values in cases.values() for item in values.items())
    missing = {item for item, count in counts.items() if count >= step}.difference(*(cases[name].items() for name in fast))
    in_turn = sorted(cases, key=lambda name: (chance[name], name))
    for name in in_turn:
        if not missing.isdisjoint(cases[name].items()):
            fast.add(name)
            missing.difference_update(cases[name].items())
    return fast or {*in_turn[:1]}
