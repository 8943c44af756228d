"""Extent equations that a function asks for, and the use of code that relies on them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.testing import check_grads

X = np.linspace(0.2, 1.4, 3)


def lengths(function: Any, *args: Any) -> list[str]:
    """What the code for these arguments relies on."""
    derived = symgrad.grad(function, wrt=tuple(range(len(args))))
    derived(*args)
    return [text for text, _ in derived._table.latest.compiled.pins]


def gates(w, x):
    n = x.shape[0]
    return np.sum(np.tanh(w[:n] * x) * w[n : 2 * n] + w[2 * n :])


def shifted(x, y):
    x = x.copy()
    x[1:-1] = np.sin(x[1:-1] * y[:-2])
    return np.sum(x)


def swapped(x, y):
    for _ in range(3):
        x, y = y * x, np.sin(y)
    return np.sum(x)


def chosen(x, y):
    z = np.sin(x) if x[0] > 0.1 else np.cos(y)
    return np.sum(z * z)


def apart(x, y):
    return np.sum(np.outer(x, y) * x[:, None])


def plain(x, y):
    return np.sum(x * np.sin(y))


ASKED = [
    (gates, (np.linspace(0.1, 1.0, 9), X), ["w.shape[0] - 3 * x.shape[0]"]),
    (shifted, (X, X + 1), ["y.shape[0] - x.shape[0]"]),
    (swapped, (X, X + 1), ["y.shape[0] - x.shape[0]"]),
    (chosen, (X, X + 1), ["y.shape[0] - x.shape[0]"]),
    (apart, (X, X + 1), []),
    (plain, (X, X + 1), []),
]


@pytest.mark.parametrize(("function", "arguments", "expected"), ASKED, ids=[case[0].__name__ for case in ASKED])
def test_what_is_asked(function: Any, arguments: tuple[Any, ...], expected: list[str]) -> None:
    assert lengths(function, *arguments) == expected
    check_grads(function, arguments)


@pytest.mark.parametrize(
    ("function", "related", "unrelated"),
    [
        (gates, (np.linspace(0.1, 1.0, 9), X), (np.linspace(0.1, 1.0, 7), X)),  # what is left of w is one number
        (chosen, (X, X + 1), (X, np.linspace(0.1, 1.0, 5))),
        (shifted, (X, X + 1), (X, X + 1)),
    ],
)
@pytest.mark.parametrize("first", [0, 1])
def test_other_arguments_get_other_code(function: Any, related: Any, unrelated: Any, first: int) -> None:
    derived = symgrad.grad(function, wrt=(0, 1))
    for _ in range(2):
        for arguments in (related, unrelated)[:: 1 - 2 * first]:
            fresh = symgrad.grad(function, wrt=(0, 1))(*arguments)
            for have, want in zip(derived(*arguments), fresh, strict=True):
                assert np.array_equal(have, want)
    check_grads(function, related)
    check_grads(function, unrelated)


def test_no_sum_is_decided_at_each_call() -> None:
    derived = symgrad.grad(gates, wrt=(0, 1))
    assert "unbroadcast" not in derived.source(np.linspace(0.1, 1.0, 9), X)
    assert "unbroadcast" in derived.source(np.linspace(0.1, 1.0, 7), X)
    assert "w.shape[0] - 3 * x.shape[0]" in derived.explain(np.linspace(0.1, 1.0, 9), X)


def test_the_second_derivative_relies_on_them_too() -> None:
    w = np.linspace(0.1, 1.0, 9)
    check_grads(gates, (w, X), order=2)
    second = symgrad.grad(lambda w, x: np.sum(symgrad.grad(gates)(w, x) ** 2))
    check_grads(second, (w, X))


def test_a_saved_module_takes_any_lengths(tmp_path: Path) -> None:
    derived = symgrad.grad(gates, wrt=(0, 1))
    derived(np.linspace(0.1, 1.0, 9), X)
    symgrad.save(derived, tmp_path / "saved.py")
    scope: dict[str, Any] = {"__name__": "saved"}
    exec((tmp_path / "saved.py").read_text(), scope)
    for w in (np.linspace(0.1, 1.0, 9), np.linspace(0.1, 1.0, 7)):
        for have, want in zip(scope["gates_grad"](w, X), symgrad.grad(gates, wrt=(0, 1))(w, X), strict=True):
            assert np.allclose(have, want, rtol=1e-14)


def test_vjp_and_kernels() -> None:
    w = np.linspace(0.1, 1.0, 9)
    out, pullback = symgrad.vjp(gates, w, X)
    expected = symgrad.grad(gates, wrt=(0, 1))(w, X)
    assert np.isclose(out, gates(w, X))
    for have, want in zip(pullback(1.0), expected, strict=True):
        assert np.allclose(have, want, rtol=1e-14)
    pytest.importorskip("numba")
    compiled = symgrad.grad(gates, wrt=(0, 1), jit=True)
    for argument in (w, np.linspace(0.1, 1.0, 7)):
        for have, want in zip(compiled(argument, X), symgrad.grad(gates, wrt=(0, 1))(argument, X), strict=True):
            assert np.allclose(have, want, rtol=1e-14)
