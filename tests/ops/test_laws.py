"""The law of every row against NumPy, over ranks, extents, dtypes, settings and unknowns: generated from the table."""

from __future__ import annotations

import pytest

from symgrad.ops.declare import ROWS
from tests.ops.laws import APART, calls, compared, texts, untried

#: the fast test tries one in so many of a text's calls
STEP = 101
NAMES = sorted(texts())


def check(name: str, step: int = 1) -> int:
    """How many of a row's calls NumPy takes; all of them must give what the law says."""
    actual = [compared(*call) for call in calls(name, step)]
    wrong = [difference for differences in actual for difference in differences or ()]
    assert not wrong, "\n".join(map(str, wrong[:20]))
    return sum(one is not None for one in actual)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", NAMES)
def test_a_law_says_what_numpy_makes(name: str) -> None:
    check(name, STEP)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_law_says_what_numpy_makes_of_anything(name: str) -> None:
    assert check(name)


def test_every_row_is_tried_or_named_as_apart() -> None:
    assert untried() == []
    assert not {name for names in APART.values() for name in names.split()} - set(ROWS)
