"""Emitted gradients of well-known programs equal the stored texts and are correct.

A change of the text is looked at as one looks at a change of code: ``python -m tests.golden --write``, then the diff.
"""

from __future__ import annotations

import numpy as np
import pytest
from differences import derivative, direction_for, inner

import symgrad
from tests.golden.__main__ import emitted, path_of
from tests.golden.programs import GOLDEN, Golden

EVERY = pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden.name)


@EVERY
@pytest.mark.parametrize("jit", [False, True], ids=["numpy", "kernel"])
def test_gradient_is_emitted_as_kept(golden: Golden, jit: bool) -> None:
    if jit:
        pytest.importorskip("numba")
    assert emitted(golden, jit) == path_of(golden, jit).read_text(encoding="utf-8"), "python -m tests.golden --write, and read the diff"


@EVERY
def test_gradient_agrees_with_differences(golden: Golden) -> None:
    arguments = golden.arguments()
    gradient = symgrad.grad(golden.function, wrt=golden.wrt)(*arguments)
    chosen = tuple(arguments[k] for k in golden.wrt)

    def value(point: tuple[object, ...]) -> object:
        placed = list(golden.arguments())
        for k, part in zip(golden.wrt, point, strict=True):
            placed[k] = part
        return golden.function(*placed)

    for seed in range(3):
        direction = direction_for(chosen, np.random.default_rng(seed))
        expected = derivative(value, chosen, direction)
        assert inner(gradient, direction) == pytest.approx(expected, rel=1e-7, abs=1e-7)
