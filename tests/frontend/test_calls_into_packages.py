"""Calls into installed packages: where a function's source is refused, it is called as one without a rule, also in handlers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.frontend.library import frames
from tests.plainly import function_of

#: each function does something that may raise, and then something that is refused (a class in a loop)
SOURCE = """
def inverse(y):
    a = 1.0 / y
    for k in range(2):
        class A:
            z = 2.0
    return a * A.z

def item(items, k):
    a = items[k]
    for k in range(2):
        class A:
            z = 3.0
    return a * A.z
"""
CALLS = {
    "no handler": ("s = x * x * unread.inverse(y)", [(2.0, 4.0), (3.0, 0.5)]),
    "in a handler": (
        "s = x * x\ntry:\n    s = s * unread.inverse(y)\n    s = s + 1.0\nexcept ZeroDivisionError:\n    s = 7.0 * x\ns = s + x",
        [(2.0, 4.0), (3.0, 0.5)],
    ),
    "twice, in finally": (
        "s = x\ntry:\n    s = s * unread.inverse(y)\n    s = s * s + unread.inverse(y + 1.0)\nfinally:\n    s = s + x * x",
        [(2.0, 4.0)],
    ),
    "an integer decides": ("s = x * unread.item([y, 2.0 * y, 5.0], 1) + x", [(2.0, 4.0)]),
    "in a loop": ("s = x\nfor k in range(3):\n    s = s * unread.inverse(y + k) + x * k", [(2.0, 4.0), (1.0, 0.5)]),
}


@pytest.fixture
def unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """An installed package whose functions are refused."""
    (tmp_path / "unread.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(frames, "INSTALLED", (*frames.INSTALLED, str(tmp_path)))
    import unread  # type: ignore[import-not-found]

    yield unread
    del sys.modules["unread"]


@pytest.mark.parametrize("call", CALLS)
def test_a_function_whose_source_is_refused_is_called(call: str, unread: ModuleType) -> None:
    body, arguments = CALLS[call]
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    function: Callable[..., Any] = function_of(f"import unread\ndef f(x, y):\n{lines}    return s\n")
    derivative = symgrad.value_and_grad(function, wrt="x")
    for x, y in arguments:
        value, slope = derivative(x, y)
        assert value == pytest.approx(function(x, y), rel=1e-14)
        assert slope == pytest.approx((function(x + 1e-6, y) - function(x - 1e-6, y)) / 2e-6, rel=1e-8)


def test_its_derivative_is_refused_where_one_is_needed(unread: ModuleType) -> None:
    function = function_of("import unread\ndef f(x):\n    return unread.inverse(x) * x\n")
    with pytest.raises(symgrad.SymgradError, match="inverse has no rule"):
        symgrad.grad(function)(2.0)
    assert np.isfinite(function(2.0))
