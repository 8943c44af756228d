"""Loop-invariant code motion: loops of no iterations raise nothing; the text to read keeps the user's statements."""

from __future__ import annotations

import importlib.util
import itertools
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad

X = np.array([0.4, -0.7, 1.3])
TARGETS = [False, *([True] if importlib.util.find_spec("numba") else [])]


def divided(x: Any, h: Any, n: Any) -> Any:
    s = np.sum(x)
    for _ in range(n):
        s = s * s / h
    return s


def divided_before(x: Any, h: Any, n: Any) -> Any:
    s = np.sum(x)
    for _ in range(n):
        s = s * s + 1.0 / h
    return s


def rooted(x: Any, h: Any, n: Any) -> Any:
    s = np.sum(x)
    for _ in range(n):
        s = np.sin(s) * math.sqrt(h - 1.0)
    return s


def far(x: Any, h: Any, n: Any) -> Any:
    s = h * 1.0
    for _ in range(n):
        s = np.sin(s) * x[5]
    return s


def beside(x: Any, h: Any, n: Any) -> Any:
    s = np.sum(x)
    for _ in range(n):
        s = s + np.sum(x * np.ones(len(x) + n) * h)
    return s


def until_large(x: Any, h: Any, n: Any) -> Any:
    s, k = np.sum(x), 0
    while k < n and s < 1.0 / h:
        s = s * x[0] + math.exp(h)
        k += 1
    return s


CASES = [
    (divided, 0.0, ZeroDivisionError),
    (divided_before, 0.0, ZeroDivisionError),
    (rooted, 0.5, ValueError),
    (far, 0.5, IndexError),
    (beside, 0.5, ValueError),
    (until_large, 0.0, ZeroDivisionError),
]


@pytest.mark.parametrize("jit", TARGETS)
@pytest.mark.parametrize(("function", "h", "error"), CASES, ids=lambda item: getattr(item, "__name__", ""))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_loop_without_rounds_raises_nothing_and_others_what_the_function_raises(
    function: Callable[..., Any], h: float, error: type[Exception], jit: bool
) -> None:
    derivative = symgrad.value_and_grad(function, wrt=("x", "h"), jit=jit, allow_unused=True)
    value, (x_grad, h_grad) = derivative(X, h, 0)

    assert value == function(X, h, 0)
    assert np.array_equal(x_grad, np.zeros(3) if function is far else np.ones(3))
    assert h_grad == (1.0 if function is far else 0.0)
    for run in (function, derivative):
        try:
            run(X, h, 2)
        except error:
            continue
        assert function is divided, "numbers of NumPy do not raise"


@pytest.mark.parametrize("jit", TARGETS)
def test_second_derivatives_and_pullbacks_are_of_the_function_as_it_was_read(jit: bool) -> None:
    first = symgrad.grad(divided_before, wrt="h", jit=jit, allow_unused=True)
    second = symgrad.grad(first, wrt="h", allow_unused=True, jit=jit and "auto")

    assert second(X, 0.0, 0) == 0.0
    assert second(X, 2.0, 1) == pytest.approx(2.0 / 2.0**3)
    out, pullback = symgrad.vjp(divided_before, X, 0.0, 0, wrt=("x", "h"), jit=jit and "auto")
    assert out == np.sum(X)
    assert np.array_equal(pullback(1.0)[0], np.ones(3))


def decay(x: Any, rate: Any, n: Any) -> Any:
    for _ in range(n):
        factor = np.exp(-rate)
        x = x * factor + np.sqrt(rate)
    return np.sum(x)


def test_nothing_alike_is_kept_for_each_round_and_its_derivative_is_taken_once() -> None:
    derivative = symgrad.grad(decay, wrt=("x", "rate"))
    derivative(X, 0.3, 4)
    forward, backward = derivative.source(optimize="speed").split("# backward")
    loop = re.sub("#.*", "", backward[backward.index("    for ") :]).split("\n")
    rounds = list(itertools.takewhile(lambda line: line.startswith(" " * 8), loop[1:]))

    assert forward.index("exp(") < forward.index("for ")
    assert rounds
    assert not any("sqrt" in line or "exp" in line for line in rounds)
    x_grad, rate_grad = derivative(X, 0.3, 4)
    near = 1e-6
    assert rate_grad == pytest.approx((decay(X, 0.3 + near, 4) - decay(X, 0.3 - near, 4)) / (2 * near), rel=1e-8)
    assert x_grad == pytest.approx(np.full(3, np.exp(-1.2)))


def test_the_text_to_be_read_has_the_statements_where_they_were(tmp_path: Any) -> None:
    derivative = symgrad.grad(decay, wrt=("x", "rate"))
    derivative(X, 0.3, 4)
    text = derivative.source()

    assert text.index("for i in range(n)") < text.index("factor = np.exp(-rate)")
    symgrad.save(derivative, tmp_path / "decay_grad.py")
    assert "factor = np.exp(-rate)" in (tmp_path / "decay_grad.py").read_text()


def announced(x: Any, h: Any, n: Any) -> Any:
    s = np.sum(x)
    for i in range(n):
        print(i)
        s = s + math.sqrt(h)
    return s


def test_what_the_function_does_before_it_raises_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    derivative = symgrad.grad(announced, wrt="h")
    with pytest.raises(ValueError):
        derivative(X, -1.0, 3)

    assert capsys.readouterr().out == "0\n"


def test_explain_says_what_left_its_loop() -> None:
    assert "computed once, before the loop" in symgrad.grad(decay, wrt="rate").explain(X, 0.3, 4)
