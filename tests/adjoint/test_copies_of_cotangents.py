"""Loop-carried cotangents: an iteration adds in place, and copies only where both arrays are needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from programs_of_copies import COPIED, IN_PLACE
from targets import check_targets

import symgrad


def arguments(count: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(count)
    return generator.normal(size=count), generator.normal(size=count)


@pytest.mark.parametrize("function", IN_PLACE, ids=lambda f: f.__name__)
def test_the_cotangent_of_the_state_stays_in_its_memory(function: Callable[..., Any]) -> None:
    for optimize in ("read", "speed"):
        assert ".copy()" not in symgrad.grad(function, wrt=(0, 1)).source(*arguments(3), optimize=optimize)


@pytest.mark.parametrize("function", COPIED, ids=lambda f: f.__name__)
def test_two_arrays_that_are_both_added_to_are_two(function: Callable[..., Any]) -> None:
    assert ".copy()" in symgrad.grad(function, wrt=(0, 1)).source(*arguments(3), optimize="speed")


@pytest.mark.sweep(3)
@pytest.mark.parametrize("function", [*IN_PLACE, *COPIED], ids=lambda f: f.__name__)
def test_gradients_and_their_gradients_are_right(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMGRAD_CHECK", "1")
    check_targets(function, [arguments(count) for count in (3, 1, 0)], jit="auto")
    for count in (0, 1, 4):
        symgrad.check_grads(function, arguments(count), wrt=(0, 1), order=2)
