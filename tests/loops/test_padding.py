"""``np.pad`` in kernels: every mode at widths below and beyond the extents, on both targets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from differences import derivative, direction_for, inner
from targets import agreed, outcome, stays

import symgrad

pytest.importorskip("numba")
MODES = ("constant", "edge", "reflect", "symmetric", "wrap")


@pytest.fixture(autouse=True)
def in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMGRAD_CACHE_DIR", "off")


def padded_by(mode: str, width: Any) -> Any:
    """A function of an array that it pads, weighted by place."""

    def padded(x, w):
        p = np.pad(x, width, mode=mode)
        return np.sum(np.sin(p) * (w + np.arange(p.size).reshape(p.shape)))

    return padded


@pytest.mark.sweep(4)
@pytest.mark.parametrize("mode", MODES)
def test_vectors_are_padded_as_numpy_pads_them(mode: str) -> None:
    for width in (2, (0, 3), (7, 1)):
        f = padded_by(mode, width)
        calls = [(np.linspace(-1.0, 2.0, n), 0.5) for n in (4, 2, 7)]
        assert len(list(agreed(f, ("x", "w"), calls))) == 3
        assert stays(f, *calls[0])


@pytest.mark.sweep(4)
@pytest.mark.parametrize("mode", MODES)
def test_matrices_are_padded_as_numpy_pads_them(mode: str) -> None:
    f = padded_by(mode, ((2, 1), (0, 4)))
    calls = [(np.random.default_rng(n).normal(size=(n, 3)), 0.5) for n in (4, 2)]
    for arguments, gradients in agreed(f, ("x", "w"), [*calls, (np.asfortranarray(calls[0][0]), 0.5), (calls[0][0][::-1, ::-1], 0.5)]):
        direction = direction_for(arguments, np.random.default_rng(1))
        assert inner(gradients, direction) == pytest.approx(derivative(lambda a: f(*a), arguments, direction, 1e-5), rel=1e-6)


@pytest.mark.parametrize("mode", MODES)
def test_one_element_and_none(mode: str) -> None:
    f = padded_by(mode, 2)
    for first in (np.array([0.7]), np.ones((1, 3))):
        assert len(list(agreed(f, ("x", "w"), [(first, 0.5)]))) == 1
    compiled, plain = (symgrad.value_and_grad(f, wrt="x", jit=jit) for jit in (True, False))
    for d in (compiled, plain):
        d(np.linspace(0.0, 1.0, 3), 0.5)
    empty = (np.zeros(0), 0.5)
    actual, expected = outcome(compiled, *empty), outcome(f, *empty)
    assert actual == expected if mode != "constant" else actual[0] == expected


@pytest.mark.parametrize("mode", MODES)
def test_second_derivatives_of_padding(mode: str) -> None:
    f = padded_by(mode, (1, 2))
    x, v = np.linspace(-1.0, 2.0, 4), np.array([0.3, -0.2, 0.5, 1.0])
    compiled, plain = (symgrad.hvp(f, jit=jit)(x, 0.5, v=v) for jit in (True, False))
    np.testing.assert_allclose(compiled, plain, rtol=1e-12)
    difference = (symgrad.grad(f)(x + 1e-5 * v, 0.5) - symgrad.grad(f)(x - 1e-5 * v, 0.5)) / 2e-5
    np.testing.assert_allclose(compiled, difference, rtol=1e-6, atol=1e-8)
