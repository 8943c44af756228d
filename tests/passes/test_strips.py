"""Tiling of vector operations: the same results with tiny tiles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.passes.batching import row_tiling
from tests.programs import PROGRAMS, Program


def flat(value: Any) -> list[Any]:
    """The leaves of a result."""
    if isinstance(value, dict):
        value = list(value.values())
    return [leaf for item in value for leaf in flat(item)] if isinstance(value, list | tuple) else [value]


@pytest.mark.sweep(4)
@pytest.mark.parametrize("program", PROGRAMS[::9], ids=lambda program: program.name)
def test_pieces_of_three_elements(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    args = program.arguments(program.sizes[-1])
    derived = symgrad.grad(program.function, program.wrt)
    entry = derived._entry(tuple(args), {}, None)
    expected = derived(*args)
    monkeypatch.setattr(row_tiling, "BLOCK", 3)
    monkeypatch.setattr(row_tiling, "ROWS_BLOCK", 7)
    monkeypatch.setattr(row_tiling, "LEAST", 0)
    monkeypatch.setattr(row_tiling, "OPS", 1)
    compiled = derived._make(derived._function, entry.signature, entry.compiled.pins)

    actual = compiled.function(*program.arguments(program.sizes[-1]))

    for a, b in zip(flat(expected), flat(actual), strict=True):
        if isinstance(a, float | np.ndarray):
            np.testing.assert_allclose(b, a, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("size", [0, 1, 65536, 65537, 200_000])
def test_a_long_vector(size: int) -> None:
    def activated(x: Any, c: float) -> Any:
        return np.sum(0.5 * x * (1.0 + np.tanh(c * (x + 0.04 * x * x * x))))

    derived = symgrad.grad(activated)
    x = np.linspace(-2.0, 2.0, size)
    inner = 0.8 * (x + 0.04 * x**3)
    expected = 0.5 * (1.0 + np.tanh(inner)) + 0.5 * x * (1.0 - np.tanh(inner) ** 2) * 0.8 * (1.0 + 0.12 * x * x)

    np.testing.assert_allclose(derived(x, 0.8), expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(derived(x[::-1], 0.8), expected[::-1], rtol=1e-12, atol=1e-14)
    if size == 1:  # it is another signature, of vectors that are no longer
        return
    assert "for k in range(0, n, 8192):" in derived.source(x, 0.8, optimize="speed")
    assert "8192" not in derived.source(x, 0.8)


@pytest.mark.parametrize("shape", [(3, 5), (700, 300), (2, 50_000), (50_000, 3), (0, 4)])
def test_rows_of_matrices(shape: tuple[int, int]) -> None:
    def normalised(x: Any, scale: Any, w: Any) -> Any:
        mean = x.mean(axis=1, keepdims=True)
        spread = np.sqrt(((x - mean) ** 2).mean(axis=1) + 0.1)
        y = (x - mean) / spread[:, None] * scale
        return np.sum(np.tanh(y) * w)

    derived = symgrad.value_and_grad(normalised, ("x", "scale"))
    rng = np.random.default_rng(0)
    x, scale, w = rng.standard_normal(shape), rng.standard_normal(shape[1]), rng.standard_normal(shape)
    mean, deviation = x.mean(1, keepdims=True), np.sqrt(x.var(1, keepdims=True) + 0.1)
    z = (x - mean) / deviation
    g = w * (1 - np.tanh(z * scale) ** 2) * scale
    x_grad = (g - g.mean(1, keepdims=True) - z * (g * z).mean(1, keepdims=True)) / deviation
    for laid in (np.ascontiguousarray, np.asfortranarray):
        value, (gradient, scale_found) = derived(laid(x), scale, w)

        np.testing.assert_allclose(value, normalised(x, scale, w), rtol=1e-12)
        np.testing.assert_allclose(gradient, x_grad, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(scale_found, (w * (1 - np.tanh(z * scale) ** 2) * z).sum(0), rtol=1e-9, atol=1e-12)
    if shape[0]:
        assert "step = max(1, 16384 // width)" in derived.source(x, scale, w, optimize="speed")


def test_rows_that_do_not_fit_are_refused_as_numpy_does() -> None:
    def activated(x: Any, y: Any) -> Any:
        t = np.tanh(x * y)
        return np.sum(t * np.exp(-t * t) / (1.0 + t * t))

    derived = symgrad.grad(activated)
    x = np.ones(100_000)
    derived(x, x)

    with pytest.raises(ValueError, match="broadcast"):
        derived(x, np.ones(150_000))
    with pytest.raises(ValueError, match="broadcast"):
        derived(np.ones(150_000), x)
