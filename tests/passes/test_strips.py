"""Vectors done piece by piece give what they give when done at once: every program that has such a chain, with tiny pieces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.passes import strips
from tests.programs import PROGRAMS, Program


def flat(value: Any) -> list[Any]:
    """The leaves of a result."""
    if isinstance(value, dict):
        value = list(value.values())
    return [leaf for item in value for leaf in flat(item)] if isinstance(value, list | tuple) else [value]


@pytest.mark.parametrize("program", PROGRAMS[::9], ids=lambda program: program.name)
def test_pieces_of_three_elements(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    args = program.arguments(program.sizes[-1])
    derived = symgrad.grad(program.function, program.wrt)
    entry = derived._entry(tuple(args), {}, None)
    wanted = derived(*args)
    monkeypatch.setattr(strips, "BLOCK", 3)
    monkeypatch.setattr(strips, "ROWS_BLOCK", 7)
    monkeypatch.setattr(strips, "LEAST", 0)
    monkeypatch.setattr(strips, "OPS", 1)
    made = derived._make(derived._function, entry.signature, entry.compiled.pins)

    found = made.function(*program.arguments(program.sizes[-1]))

    for a, b in zip(flat(wanted), flat(found), strict=True):
        if isinstance(a, float | np.ndarray):
            np.testing.assert_allclose(b, a, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("size", [0, 1, 65536, 65537, 200_000])
def test_a_long_vector(size: int) -> None:
    def activated(x: Any, c: float) -> Any:
        return np.sum(0.5 * x * (1.0 + np.tanh(c * (x + 0.04 * x * x * x))))

    derived = symgrad.grad(activated)
    x = np.linspace(-2.0, 2.0, size)
    inner = 0.8 * (x + 0.04 * x**3)
    wanted = 0.5 * (1.0 + np.tanh(inner)) + 0.5 * x * (1.0 - np.tanh(inner) ** 2) * 0.8 * (1.0 + 0.12 * x * x)

    np.testing.assert_allclose(derived(x, 0.8), wanted, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(derived(x[::-1], 0.8), wanted[::-1], rtol=1e-12, atol=1e-14)
    if size == 1:  # it is another signature, of vectors that are no longer
        return
    assert "for k in range(0, n, 8192):" in derived.source(x, 0.8, optimize="speed")
    assert "8192" not in derived.source(x, 0.8)
