"""Refusals that programs provoke: the hint is the one that ``provoked.txt`` shows, and following it gives the right gradient."""

from __future__ import annotations

import io
import warnings
from typing import Any

import numpy as np
import pytest
from provoked import Refusal, check, refusal_of, refusals

import symgrad

REFUSALS = refusals()


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda refusal: refusal.name)
def test_the_hint_works(refusal: Refusal) -> None:
    if refusal.missing:
        pytest.skip(f"{refusal.missing[0]} is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        error = refusal_of(refusal.text)
        assert (type(error).__name__, error.hint) == (refusal.kind, refusal.hint)
        if not refusal.fails:
            check(refusal)


def test_nine_hints_of_ten_work() -> None:
    assert len({refusal.name for refusal in REFUSALS}) == len(REFUSALS)
    assert sum(not refusal.fails for refusal in REFUSALS) >= 0.9 * len(REFUSALS)


def noted(x: Any) -> Any:
    log = io.StringIO()
    print(x, file=log)
    log.write(f"{x[0]}\n")
    np.savetxt(log, x)
    return np.sum(x * x)


def counted(x: Any) -> Any:
    """The result depends on the file, to which nothing is written that carries a derivative."""
    log = io.StringIO()
    log.write("abc")
    print(x)
    return np.sum(x * x) * len(log.getvalue())


@pytest.mark.parametrize("function", [noted, counted])
def test_files_that_do_not_decide_the_result(function: Any, capsys: pytest.CaptureFixture[str]) -> None:
    x = np.array([0.7, -1.3])
    np.testing.assert_allclose(symgrad.grad(function)(x), [(function(x + s) - function(x - s)) / 2e-6 for s in 1e-6 * np.eye(2)], rtol=1e-6)
