"""Slices of lists and tuples from outside, compared with plain Python and differences."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad
from tests.plainly import verdict

HELD = [3.0, "s", 5.0, np.array([1.0, 2.0])]
PAIR = (3.0, "s", [5.0])


def sliced(a):
    last = HELD[::-1][0]
    return a * len(HELD[1:]) + a * HELD[0] * HELD[-2] + last[1] * a + PAIR[:2][0] * a * len(PAIR[1:]) + HELD[2:3][0]


def test_a_list_of_anything_that_is_changed_between_calls() -> None:
    derivative = symgrad.value_and_grad(sliced)
    for change in (None, lambda: HELD.__setitem__(0, 7.0), lambda: HELD[3].__setitem__(1, 4.0), lambda: HELD.insert(2, 2.0)):  # type: ignore[union-attr]
        if change is not None:
            change()
        value, slope = derivative(0.7)
        assert value == pytest.approx(sliced(0.7))
        assert slope == pytest.approx((sliced(0.7 + 1e-6) - sliced(0.7 - 1e-6)) / 2e-6)


def test_a_slice_is_a_list_of_its_own() -> None:
    text = "HELD = [3.0, 4.0, 5.0]\ndef f(a):\n    q = HELD[0:2]\n    q[0] = a\n    q.append(a * a)\n    return sum(q) * HELD[0]\n"
    assert verdict(text, [0.7]) == "right"
