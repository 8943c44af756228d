"""Values passed to opaque functions have the class and contents of plain Python."""

from __future__ import annotations

import collections
import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from strategies import loaded

import symgrad
from symgrad.errors import UnknownFunction

Pair = collections.namedtuple("Pair", "first second")
#: expressions over ``x k several``, the last a tuple of any length
GIVEN = {
    "tuple": "(1, 2)",
    "tuple_of_one": "(k,)",
    "empty_tuple": "()",
    "tuple_in_a_tuple": "((1, 2), k)",
    "list_in_a_tuple": "([1, k], (2,))",
    "list": "[1, k]",
    "tuples_in_a_list": "[(1, 2), (k, 4)]",
    "named_tuple": "Pair(1, k)",
    "named_tuple_in_a_tuple": "(Pair(1, (2, 3)), k)",
    "tuple_with_none": "(None, 1)",
    "tuple_with_text": "('a', 1)",
    "argument": "several",
    "argument_in_a_tuple": "(several, k)",
    "joined": "(1,) + (k, 3)",
    "shape": "x.shape",
    "comprehension": "tuple(j * k for j in range(3))",
    "of_two": "(1, 2) if k > 2 else (3, 4)",
}


def told(value: Any) -> str:
    """A value with the classes of all that it holds."""
    inside = ", ".join(told(item) for item in value) if isinstance(value, tuple | list) else repr(value)
    return f"{type(value).__name__}({inside})"


def in_c(function: Callable[[Any], Any]) -> Any:
    """A function that has no source to read."""
    return ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(function)


@pytest.mark.parametrize("call", ["record({})", "record([{}, 3])", "record(({}, 0))"])
@pytest.mark.parametrize("argument", GIVEN.values(), ids=GIVEN)
def test_what_is_given_has_its_class(argument: str, call: str) -> None:
    seen: list[str] = []
    text = f"def f(x, k, several):\n    {call.format(argument)}\n    return np.sum(x**2)\n"
    with loaded(text) as function:
        function.__globals__.update(np=np, Pair=Pair, record=in_c(lambda value: seen.append(told(value))))
        function(np.ones(3), 5, (1.0, 2.0, 3.0))
        expected = seen.copy()
        gradient = symgrad.grad(function)(np.ones(3), 5, (1.0, 2.0, 3.0))

    assert seen == expected * 2
    assert gradient.tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("argument", ["y", "(y, 1)", "((1, y),)", "Pair(2, y)"])
def test_an_array_is_changed_that_stands_in_what_is_given(argument: str) -> None:
    def fill(value: Any) -> None:
        for item in value if isinstance(value, tuple) else [value]:
            if isinstance(item, np.ndarray):
                item.fill(3.0)
            elif isinstance(item, tuple):
                fill(item)

    text = f"def f(x):\n    y = np.ones(2)\n    fill({argument})\n    return np.sum(x * y)\n"
    with loaded(text) as function:
        function.__globals__.update(np=np, Pair=Pair, fill=in_c(fill))
        value, gradient = symgrad.value_and_grad(function)(np.ones(2))

    assert value == 6.0
    assert gradient.tolist() == [3.0, 3.0]


@pytest.mark.parametrize("argument", ["x[0]", "(x[0], 1)", "((1, x),)", "Pair(2, x)", "[(x[0], 1)]"])
def test_the_function_that_is_given_a_derivative_is_named(argument: str) -> None:
    text = f"def f(x):\n    return np.sum(x) * record({argument})\n"
    with loaded(text) as function:
        function.__globals__.update(np=np, Pair=Pair, record=in_c(lambda value: 1.0))
        with pytest.raises(UnknownFunction, match="CFunctionType has no rule"):
            symgrad.grad(function)(np.ones(2))


def test_a_place_in_a_tuple_is_one_place() -> None:
    """A list of two numbers would be two rows."""

    def tripled(x: Any) -> Any:
        y = np.ones((2, 2))
        np.multiply.at(y, (1, 0), 3.0)
        return np.sum(x * y)

    assert symgrad.grad(tripled)(np.ones((2, 2))).tolist() == [[1.0, 1.0], [3.0, 1.0]]
