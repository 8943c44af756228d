"""Kernels that raise where the NumPy code does not: fallback, and deoptimisation after two calls in a row."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import NotCompiled
from symgrad.jit import Attempts, Fallback

pytest.importorskip("numba")


@pytest.fixture(autouse=True)
def gradients_checked() -> None:
    """Derivatives are called as users call them, without the frames of checks."""


@pytest.fixture(autouse=True)
def in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMGRAD_CACHE_DIR", "off")


class Faulty:
    """Stands for a kernel: raises where it is told to, and counts its calls."""

    def __init__(self, attempts: Attempts) -> None:
        self.kernel, self.calls, self.raising = attempts.kernel, 0, True
        attempts.kernel = self
        attempts.settle(0)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.kernel, name)

    def __call__(self, *arguments: Any) -> Any:
        self.calls += 1
        if self.raising:
            raise ValueError
        return self.kernel(*arguments)


def faulty(caller: Callable[..., Any], place: int = 0) -> Faulty:
    """A faulty kernel in the place of one that a caller calls."""
    return Faulty([v.attempts for v in caller.__globals__.values() if isinstance(v, Fallback)][place])


def squares(scale: float) -> Callable[..., Any]:
    """A function of its own for each test: notices are given once for each."""

    def squared(x, n):
        total = 0.0
        for i in range(n):
            total += scale * x[i] ** 2
        return total

    return squared


def alone() -> Callable[..., Any]:
    """The same of its arguments alone, so that the guard calls the kernel itself."""
    return symgrad.from_source("""
        def squared(x, n):
            total = 0.0
            for i in range(n):
                total += 2.0 * x[i] ** 2
            return total
    """)


KINDS = pytest.mark.parametrize("make", [alone, lambda: squares(2.0)], ids=["called by the guard", "called by its caller"])
X = np.array([0.5, 1.5, -0.5])
GRADIENT = 4.0 * X


@KINDS
def test_after_two_failures_in_a_row_the_numpy_code_is_installed_with_one_notice(make: Callable[..., Any]) -> None:
    derived = symgrad.grad(make(), jit=True)
    derived(X, 3)
    kernel = faulty(derived.compiled(X, 3))

    np.testing.assert_array_equal(derived(X, 3), GRADIENT)
    with pytest.warns(NotCompiled) as told:
        np.testing.assert_array_equal(derived(X, 3), GRADIENT)
    assert len(told) == 1
    assert told[0].filename == __file__
    lines = str(told[0].message).splitlines()
    assert lines[0].endswith("squared runs as NumPy code: its kernel has raised ValueError in two calls in a row")
    assert lines[1].strip().startswith((__file__, "<symgrad source"))
    assert lines[2].strip() == "def squared(x, n):"

    kernel.raising = False
    for _ in range(3):
        np.testing.assert_array_equal(derived(X, 3), GRADIENT)
    assert kernel.calls == 2
    assert "njit" not in derived.source(optimize="speed")
    assert "kernel" not in derived.compiled(X, 3).__code__.co_names


@KINDS
def test_auto_says_nothing(make: Callable[..., Any]) -> None:
    derived = symgrad.grad(make(), jit="auto")
    derived(X, 3)
    kernel = faulty(derived.compiled(X, 3))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(4):
            np.testing.assert_array_equal(derived(X, 3), GRADIENT)
    assert kernel.calls == 2


@KINDS
def test_a_kernel_that_fails_now_and_then_is_called_again(make: Callable[..., Any]) -> None:
    derived = symgrad.grad(make(), jit=True)
    derived(X, 3)
    kernel = faulty(derived.compiled(X, 3))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for call in range(12):
            kernel.raising = call % 2 == 0
            np.testing.assert_allclose(derived(X, 3), GRADIENT)
        assert kernel.calls == 12
    callers = [derived.compiled(X, 3), *([type(derived).__call__] if make is alone else [])]
    assert all(kernel in caller.__globals__.values() for caller in callers), "what tells successes is there only after a failure"


def test_a_notice_that_is_an_error_comes_once_the_numpy_code_is_installed() -> None:
    derived = symgrad.grad(squares(2.0), jit=True)
    derived(X, 3)
    kernel = faulty(derived.compiled(X, 3))

    derived(X, 3)
    with warnings.catch_warnings(), pytest.raises(NotCompiled):
        warnings.simplefilter("error")
        derived(X, 3)
    np.testing.assert_array_equal(derived(X, 3), GRADIENT)
    assert kernel.calls == 2


def test_what_the_function_itself_raises_is_no_fault_of_the_kernel() -> None:
    def checked(x, n):
        if n < 0:
            raise ValueError("n is negative")
        return np.sum(x[:n] ** 2)

    derived = symgrad.grad(checked, jit=True)
    derived(X, 3)
    kernel = faulty(derived.compiled(X, 3))
    kernel.raising = False

    for _ in range(4):
        with pytest.raises(ValueError, match="n is negative"):
            derived(X, -1)
    np.testing.assert_allclose(derived(X, 2), [1.0, 3.0, 0.0])
    assert kernel.calls == 5


def test_another_signature_keeps_its_kernel() -> None:
    derived = symgrad.grad(squares(2.0), jit="auto")
    derived(X, 3)
    derived(X.astype(np.float32), 3)
    kernel, other = (faulty(derived.compiled(x, 3)) for x in (X, X.astype(np.float32)))
    other.raising = False

    for _ in range(4):
        derived(X, 3)
        derived(X.astype(np.float32), 3)
    assert (kernel.calls, other.calls) == (2, 4)


@pytest.mark.parametrize("place", [0, 1], ids=["forward", "backward"])
def test_each_half_of_a_pullback_is_given_up(place: int) -> None:
    function = squares(2.0)
    value, pullback = symgrad.vjp(function, X, 3, jit=True)
    kernel = faulty(pullback, place)

    with pytest.warns(NotCompiled, match="squared runs as NumPy code: its kernel has raised ValueError"):
        for _ in range(4):
            again, pullback = symgrad.vjp(function, X, 3, jit=True)
            assert again == pytest.approx(value)
            (gradient,) = pullback(0.5)
            np.testing.assert_allclose(gradient, 0.5 * GRADIENT)
    assert kernel.calls == 2


def test_arrays_that_lie_otherwise_are_no_failure() -> None:
    derived = symgrad.grad(squares(2.0), jit=True)
    wide = np.arange(12.0).reshape(3, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x in (X, wide[:, 1], X, wide[:, 2], wide[0, ::2], X):
            np.testing.assert_allclose(derived(x, 2), [4 * x[0], 4 * x[1], *np.zeros(len(x) - 2)])
    fallback = next(v for v in derived.compiled(X, 2).__globals__.values() if isinstance(v, Fallback))
    assert fallback.attempts.failures == 0


def test_seeds_that_a_kernel_does_not_take_are_no_failure() -> None:
    def scaled(x):
        return x * 2.0

    value, pullback = symgrad.vjp(scaled, X, jit=True)
    single = np.ones(3, np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for seed in (single, single, single, np.ones(3), single):
            np.testing.assert_allclose(pullback(seed), np.full((1, 3), 2.0))
    assert all(v.attempts.failures < 2 for v in pullback.__globals__.values() if isinstance(v, Fallback))
    np.testing.assert_allclose(value, X * 2.0)
