"""Derivatives of one function share its lowering: what is shared, what it depends on, and equal texts."""

from __future__ import annotations

import functools
import itertools
import linecache
import types
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from programs import PROGRAMS, Program

import symgrad
from symgrad.dispatch.entry import RECENT, TRAILS
from symgrad.errors import NotActiveWarning, SymgradError
from symgrad.frontend.attempt import Attempt

NUMBERS = itertools.count()
X = np.array([0.4, 1.3, 0.7])


@pytest.fixture
def lowered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the functions that are lowered, once for each attempt."""
    names: list[str] = []
    attempt = Attempt.lowered
    monkeypatch.setattr(Attempt, "lowered", lambda self: names.append(self.source.name) or attempt(self))
    return names


def function_of(text: str, **space: Any) -> Callable[..., Any]:
    """The function ``f`` of a text, new each time."""
    name = f"<program {next(NUMBERS)} of test_read_once>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space |= {"np": np}
    exec(compile(text, name, "exec"), space)
    function = space["f"]
    assert callable(function)
    return function


def slope(function: Callable[..., Any], x: Any) -> Any:
    """The gradient by differences."""
    steps = np.eye(len(x)) * 1e-6
    return np.array([(function(x + step) - function(x - step)) / 2e-6 for step in steps])


#: programs that are followed at once, as loops written out, where extents are known, where it is known how arrays lie, and with one
#: extent for two
TEXTS = {
    "straight": "def f(x):\n    return np.sum(np.sin(x) * x)\n",
    "loop": "def f(x):\n    s = 0.0\n    for v in x:\n        s += np.sin(v)\n    return s\n",
    "written out": "def f(x):\n    s = 0.0\n    for k in (1, 2.5):\n        s = s + np.sum(x) * k\n        k = 'a'\n    return s\n",
    "of these extents": "def f(x):\n    d = {k: x[k] for k in range(len(x))}\n    return d[0] * d[1] + d[len(x) - 1]\n",
    "laid out": "def f(x):\n    y = x * 2.0\n    z = y.reshape(-1, 1)\n    z[0] = 5.0\n    return np.sum(y * y)\n",
    "related": "def f(x):\n    y = np.concatenate([x, x])\n    y[: len(x)] += np.sin(y[len(x) :]) * x\n    return np.sum(y * y)\n",
    "helper": "def g(v):\n    return v * v\n\n\ndef f(x):\n    return np.sum(g(x)) + g(x[0])\n",
}

DERIVATIVES: dict[str, Callable[[Callable[..., Any]], Any]] = {
    "grad": symgrad.grad,
    "value_and_grad": symgrad.value_and_grad,
    "kernel": functools.partial(symgrad.grad, jit="auto"),
}


@pytest.mark.parametrize("text", TEXTS)
def test_a_second_derivative_reads_nothing_anew(text: str, lowered: list[str]) -> None:
    f = function_of(TEXTS[text])
    first, second = symgrad.value_and_grad(f), symgrad.grad(f)
    value, gradient = first(X)
    assert lowered
    lowered.clear()

    np.testing.assert_array_equal(second(X), gradient)
    np.testing.assert_allclose(gradient, slope(f, X), rtol=1e-6)
    assert value == pytest.approx(f(X))
    assert not lowered


@pytest.mark.parametrize("text", TEXTS)
def test_refused_attempts_are_not_made_again_for_other_extents(text: str, lowered: list[str]) -> None:
    f = function_of(TEXTS[text])
    derived = symgrad.grad(f)
    derived(X)
    attempts = len(lowered)
    lowered.clear()

    longer = np.array([0.4, 1.3, 0.7, 0.2])
    np.testing.assert_allclose(derived(longer), slope(f, longer), rtol=1e-6)
    assert len(lowered) < attempts


def twin(function: Any) -> Any:
    """Another function of the same text, of which nothing is known."""
    copied = types.FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    copied.__kwdefaults__, copied.__qualname__, copied.__module__ = function.__kwdefaults__, function.__qualname__, function.__module__
    return copied


def text_of(derived: Any, arguments: tuple[Any, ...]) -> str:
    """The text that runs, after a call."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        derived(*arguments)
    text = derived.source(optimize="speed")
    assert isinstance(text, str)
    return text


@pytest.mark.parametrize(("first", "second"), list(itertools.permutations(DERIVATIVES, 2)))
@pytest.mark.parametrize("text", TEXTS)
def test_the_text_is_the_same_after_another_derivative(text: str, first: str, second: str) -> None:
    f = function_of(TEXTS[text])
    alone = text_of(DERIVATIVES[second](twin(f)), (X,))
    other = DERIVATIVES[first](f)
    text_of(other, (X,))

    assert text_of(DERIVATIVES[second](f), (X,)) == alone


@pytest.mark.sweep(48)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_the_text_of_a_program_is_the_same_after_another_derivative(program: Program) -> None:
    function, arguments = twin(program.function), program.arguments(program.sizes[0])
    alone = text_of(symgrad.grad(twin(program.function), wrt=program.wrt), arguments)
    other = symgrad.value_and_grad(function, wrt=program.wrt)
    text_of(other, program.arguments(program.sizes[0]))

    assert text_of(symgrad.grad(function, wrt=program.wrt), program.arguments(program.sizes[0])) == alone


def test_only_so_much_is_kept() -> None:
    functions = [function_of(TEXTS["straight"]) for _ in range(RECENT + 3)]
    for f in functions:
        symgrad.grad(f)(X)
    assert len(TRAILS) <= RECENT


def test_a_new_body_is_read(lowered: list[str]) -> None:
    f, g = function_of(TEXTS["loop"]), function_of(TEXTS["straight"])
    first = symgrad.value_and_grad(f)
    first(X)
    f.__code__ = g.__code__
    np.testing.assert_allclose(symgrad.grad(f)(X), slope(f, X), rtol=1e-6)


def test_a_rule_declared_later_is_followed() -> None:
    f = function_of("def g(v):\n    return v * v\n\n\ndef f(x):\n    return np.sum(g(x)) + np.sum(x)\n")
    first = symgrad.value_and_grad(f)
    np.testing.assert_allclose(first(X)[1], 2 * X + 1)
    symgrad.elementwise(f.__globals__["g"], "g(v)", dv="7.0")
    np.testing.assert_allclose(symgrad.grad(f, verify=False)(X), np.full(3, 8.0))


def test_what_was_read_is_asked_itself_whether_it_holds() -> None:
    f = function_of("K = 2.0\n\n\ndef f(x):\n    return np.sum(x) * K\n")
    first = symgrad.value_and_grad(f)
    first(X)
    trail = TRAILS[-1]()
    assert trail is not None
    assert trail.entry is not None
    trail.entry = replace(trail.entry, compiled=replace(trail.entry.compiled, relied=(), captured=(), related=()))  # of other code
    f.__globals__["K"] = 3.0
    np.testing.assert_allclose(symgrad.grad(f)(X), np.full(3, 3.0))


class Held:
    """An object that holds an array."""

    def __init__(self, w: Any) -> None:
        self.w = w


def test_arrays_of_objects_are_written_to_where_no_gradient_is_asked_for() -> None:
    f = function_of("def f(x, o):\n    o.w[0] = 5.0\n    return np.sum(x * o.w)\n")
    first = symgrad.value_and_grad(f, wrt=0)
    held = Held(np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(first(X, held)[1], [5.0, 2.0, 3.0])
    np.testing.assert_array_equal(held.w, [5.0, 2.0, 3.0])
    other = Held(np.array([1.0, 2.0, 3.0]))
    x_grad, o_grad = symgrad.grad(f, wrt=(0, 1))(X, other)
    np.testing.assert_allclose(x_grad, [5.0, 2.0, 3.0])
    np.testing.assert_allclose(o_grad.w, [0.0, X[1], X[2]])
    np.testing.assert_array_equal(other.w, [1.0, 2.0, 3.0])


def test_parameters_without_gradients_are_told_apart() -> None:
    f = function_of("def f(x, y):\n    return np.sum(x * y) + np.sum(y * y)\n")
    first = symgrad.value_and_grad(f, wrt=(0, 1))
    first(X, X + 1)
    second = symgrad.grad(f, wrt=0, no_grad=("y",))
    np.testing.assert_allclose(second(X, X + 1), X + 1)


def test_each_derivative_tells_of_arguments_without_influence() -> None:
    f = function_of("def f(x, y):\n    return np.sum(x * x)\n")
    for make in (symgrad.value_and_grad, symgrad.grad):
        with pytest.warns(NotActiveWarning, match="does not depend on y"):
            make(f, wrt=(0, 1))(X, X)


def test_notes_are_told_of_what_was_read_before() -> None:
    f = function_of(TEXTS["written out"])
    first = symgrad.value_and_grad(f)
    first(X)
    assert "unrolled" in str(symgrad.grad(f).explain(X))


def test_a_refusal_is_not_kept() -> None:
    f = function_of("K = 'a'\n\n\ndef f(x):\n    return np.sum(x) * K\n")
    first, second = symgrad.value_and_grad(f), symgrad.grad(f)
    with pytest.raises((SymgradError, TypeError)):
        first(X)
    f.__globals__["K"] = 2.0
    np.testing.assert_allclose(second(X), np.full(3, 2.0))
