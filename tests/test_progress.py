"""The progress line of a long first call: its text, and that it is shown on terminals only."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable

import numpy as np
import pytest

import symgrad
from symgrad import progress


class Stream(io.StringIO):
    """An output that is a terminal or not."""

    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


class Cell(io.StringIO):
    """The output of a notebook's cell, which says that it is no terminal."""


Cell.__module__ = "ipykernel.iostream"


class Clock:
    """A clock of which all its seconds pass just before what it watches ends, or never."""

    started = 0
    passes = True

    def __init__(self, seconds: float, function: Callable[[], None]) -> None:
        assert seconds == 5.0
        self.function = function
        self.daemon = False

    def start(self) -> None:
        assert self.daemon, "a program that ends must not wait for it"
        Clock.started += 1

    def cancel(self) -> None:
        if Clock.passes:
            self.function()


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    Clock.started, Clock.passes = 0, True
    monkeypatch.setattr(progress, "CLOCK", Clock)


def shown(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, jit: bool = False) -> str:
    """What two calls of a new derivative write."""
    monkeypatch.setattr(sys, "stderr", stream)
    energy = symgrad.from_source("def energy(x): return np.sum(x * x)")
    derivative = symgrad.grad(energy, jit=jit)
    for _ in range(2):
        assert derivative(np.array([1.0, 2.0])).tolist() == [2.0, 4.0]
    return stream.getvalue()


@pytest.mark.parametrize("stream", [Stream(True), Cell()], ids=["terminal", "notebook"])
def test_a_long_compilation_is_told_of_once(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, stream) == "symgrad: compiling the derivative of energy takes long; now: writing the code\n"
    assert Clock.started == 1


def test_a_kernel_says_that_numba_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")

    assert shown(monkeypatch, Stream(True), jit=True).endswith("now: numba compiles the kernel\n")


def test_a_short_one_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    Clock.passes = False

    assert shown(monkeypatch, Stream(True)) == ""


@pytest.mark.parametrize("stream", [Stream(False), None], ids=["file", "nothing"])
def test_nobody_watches(stream: Stream | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    symgrad.grad(lambda x: np.sum(x * x) * 3.0)(np.array([1.0, 2.0]))

    assert Clock.started == 0
    assert stream is None or stream.getvalue() == ""


def test_what_is_refused_ends_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Stream(True))
    with pytest.raises(symgrad.SymgradError):
        symgrad.grad(lambda x: nowhere * x)(1.0)  # noqa: F821

    assert progress.NOW.what is None


def test_an_output_that_is_closed_meanwhile_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Stream(True)
    monkeypatch.setattr(sys, "stderr", stream)
    with progress.watched("the derivative of f"):
        monkeypatch.setattr(stream, "write", lambda text: (_ for _ in ()).throw(ValueError("closed")))
        progress.NOW.tell()
        Clock.passes = False
