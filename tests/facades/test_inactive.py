"""Results that do not depend on an argument: zeros with a notice of the reason, and its keywords."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import BadArgument, NotActive, NotActiveWarning
from symgrad.frontend.text.source import from_source

TARGETS = [False, "auto"]
#: functions of x, with words of the reason and the text of the place
REASONS: list[tuple[Callable[..., Any], str, str]] = []


def inactive(reason: str, place: str) -> Callable[..., Any]:
    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        REASONS.append((function, reason, place))
        return function

    return enter


@inactive("never used", "def unused(x):")
def unused(x):
    return 3.0


@inactive("overwritten before it is used", "x = 5.0")
def overwritten(x):
    x = 5.0
    return x * 2


@inactive("stop_gradient ends its derivative", "symgrad.stop_gradient(x)")
def stopped(x):
    return symgrad.stop_gradient(x) * 2.0


@inactive("converted to an integer", "int(x)")
def cast(x):
    return int(x) * 2.0


@inactive("converted to an integer", "int(x)")
def an_integer(x):
    return int(x)


@inactive("only compared", "x > 1")
def a_bool(x):
    return x > 1


@inactive("only compared", "if x > 1:")
def compared(x):
    if x > 1:
        return 3.0
    return 4.0


@inactive("only compared", "while n < x:")
def counted(x):
    n = 0
    while n < x:
        n += 1
    return n * 1.0


@inactive("floor is constant between its steps", "np.floor(x)")
def stepped(x):
    return np.floor(x)


@inactive("argmax", "np.argmax")
def chosen(x):
    return float(np.argmax([x, 1.0]))


@inactive("reaches the result", "def lost(x):")
def lost(x):
    y = x * 2
    assert y is not None
    return 3.0


@pytest.mark.parametrize("jit", TARGETS)
@pytest.mark.parametrize(("function", "reason", "place"), REASONS, ids=lambda item: getattr(item, "__name__", None))
def test_zeros_with_a_reason(function, reason, place, jit):
    derivative = symgrad.grad(function, jit=jit)
    with pytest.warns(NotActiveWarning) as told:
        assert derivative(2.0) == 0.0
    (notice,) = told
    assert notice.filename == __file__
    assert "does not depend on x" in str(notice.message)
    assert reason in str(notice.message)
    assert place in str(notice.message)
    assert f"{Path(__file__).name}:" in str(notice.message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert derivative(3.0) == 0.0  # said once
        assert symgrad.grad(function, allow_unused=True, jit=jit)(2.0) == 0.0
    with pytest.raises(NotActive, match="does not depend on x") as refused:
        symgrad.grad(function, strict=True, jit=jit)(2.0)
    assert reason in str(refused.value)


@pytest.mark.parametrize("jit", TARGETS)
def test_the_notice_points_at_the_call(jit):
    derivative = symgrad.value_and_grad(unused, jit=jit)
    with pytest.warns(NotActiveWarning) as told:
        assert derivative(2.0) == (3.0, 0.0)
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    assert "assert derivative(2.0) == (3.0, 0.0)" in lines[told[0].lineno - 1]


def test_once_for_each_signature():
    derivative = symgrad.grad(lambda x: 1.0)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for argument in (2.0, 3.0, np.ones(2), np.ones(3), np.float32(1), np.ones((2, 2)), 4.0):
            derivative(argument)
    assert [w.category for w in told] == [NotActiveWarning] * 4


@dataclass
class Weights:
    w: Any
    b: float


@pytest.mark.parametrize("jit", TARGETS)
def test_zeros_have_the_structure_of_the_argument(jit):
    def f(x, p):
        return x * x

    arguments: list[Any] = [
        np.ones((2, 3), np.float32), np.float32(1), 2.0, np.ones(()), {"w": np.ones(2), "b": [1.0, 2.0]}, (1.0, [np.ones(1)]),
        Weights(np.ones(3), 1.0), np.ones(2) + 1j,
    ]  # fmt: skip
    for argument in arguments:
        with pytest.warns(NotActiveWarning, match="does not depend on p"):
            zeros = symgrad.grad(f, wrt="p", jit=jit)(1.0, argument)
        expected = symgrad.grad(f, wrt="p", jit=jit, allow_unused=True)(1.0, argument)
        assert repr(zeros) == repr(expected)
        assert type(zeros) is type(argument)
        if isinstance(argument, np.ndarray):
            assert (zeros.shape, zeros.dtype, zeros.any()) == (argument.shape, argument.dtype, False)
        if isinstance(argument, Weights):
            assert (zeros.w.tolist(), zeros.b) == ([0.0, 0.0, 0.0], 0.0)


def test_vjp_tells_what_was_asked_for_by_name():
    def f(x, w):
        return x * x

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, pullback = symgrad.vjp(f, 2.0, 3.0)
        assert pullback(1.0) == (4.0, 0.0)
    with pytest.warns(NotActiveWarning, match="does not depend on w"):
        _, pullback = symgrad.vjp(f, 2.0, 3.0, wrt="w")
    assert pullback(1.0) == 0.0
    with pytest.raises(NotActive, match="does not depend on w"):
        symgrad.vjp(f, 2.0, 3.0, strict=True)


def test_second_derivative_of_a_linear_function():
    second = symgrad.grad(symgrad.grad(lambda x: 3.0 * x))
    with pytest.warns(NotActiveWarning, match="is the same for every x") as told:
        assert second(2.0) == 0.0
    assert Path(__file__).name in str(told[0].message)
    with pytest.warns(NotActiveWarning, match="sign is constant between its steps"):
        assert symgrad.grad(symgrad.grad(lambda x: abs(x)))(2.0) == 0.0
    with pytest.raises(NotActive, match="the same for every x"):
        symgrad.grad(symgrad.grad(lambda x: 3.0 * x), strict=True)(2.0)


def test_several_arguments_are_told_apart():
    with pytest.warns(NotActiveWarning) as told:
        gradients = symgrad.grad(lambda x, y, z: x * int(z), wrt=(0, 1, 2))(2.0, 3.0, 4.0)
    assert gradients == (4.0, 0.0, 0.0)
    assert ["depend on y" in str(told[0].message), "depend on z" in str(told[1].message)] == [True, True]


def test_strict_and_allow_unused_are_one_question():
    with pytest.raises(BadArgument, match="strict"):
        symgrad.grad(unused, strict=True, allow_unused=True)


def test_strict_of_a_decorated_function_and_a_method():
    @symgrad.differentiable(strict=True)
    def f(x):
        return 1.0

    class Model:
        @symgrad.differentiable(strict=True)
        def loss(self, x):
            return 1.0

    for derivative in (f.grad, f.value_and_grad, Model().loss.grad):
        with pytest.raises(NotActive):
            derivative(2.0)


def test_inside_a_function_strict_is_refused_and_zeros_are_silent():
    def outer(x):
        return symgrad.grad(lambda y: 2.0)(x) + x * x

    assert symgrad.grad(outer)(3.0) == 6.0
    with pytest.raises(symgrad.errors.UnsupportedSyntax, match="strict="):
        symgrad.grad(lambda x: symgrad.grad(unused, strict=True)(x) + x)(1.0)


def test_a_generated_function_has_no_file():
    with pytest.warns(NotActiveWarning, match="never used"):
        symgrad.grad(from_source("def f(x): return 1.0"))(2.0)
