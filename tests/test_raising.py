"""What raises is part of what a function does: operations that raise x places they stand in x handlers, beside plain Python.

A program is right if it gives what plain Python gives, or raises what plain Python raises; it may be refused, but only where an
exception is raised that the function itself handles.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import SymgradError

#: expressions over ``a x z k text items``, which raise for the second set of these and not for the first
OPERATIONS = {
    "division": "a / z",
    "integer_division": "k // (4 - k)",
    "remainder": "a % z",
    "power": "z**-1",
    "overflow": "math.exp(a / (abs(z) + 1e-6))",
    "root": "math.sqrt(z - 0.5)",
    "logarithm": "math.log(z)",
    "index": "x[k]",
    "negative_index": "x[-k - 1]",
    "index_of_list": "items[k]",
    "reshape": "x.reshape(2, k)",
    "broadcast": "x + np.ones(6 - k)",
    "concatenate": "np.concatenate([x, np.ones((1,) * (k - 1))])",
    "stack": "np.stack([x, np.ones(k + 2)])",
    "matmul": "np.ones((3, k + 2)) @ x",
    "number_of_text": "float(text)",
    "whole_number_of_text": "int(text)",
    "whole_number": "int(np.float64(a) / z)",
    "extreme_of_none": "np.max(x[k + 1 :])",
    "cholesky": "np.linalg.cholesky(np.array([[1.0, 3.0 - k], [3.0 - k, 1.5]]) - 2.0 * (k > 3) * np.eye(2))",
    "singular": "np.linalg.solve(np.array([[1.0, 2.0], [2.0, 4.0 + z]]), x[:2])",
}

#: where the operation stands; the function goes on to use nothing of it
PLACES = {
    "statement": "{0}",
    "assigned": "t = {0}",
    "in_a_list": "t = [a, {0}]",
    "in_a_dict": "t = {{'v': {0}}}",
    "in_a_loop": "for i in range(2):\n    t = {0}",
    "in_a_comprehension": "t = [{0} for i in range(2)]",
    "in_a_branch": "if a > 0:\n    t = {0}\nelse:\n    t = 0.0",
    "in_a_call": "t = first(a, {0})",
    "in_a_function": "ignore(lambda: {0})",
}

#: what is around it, and whether it may be refused when the operation raises
HANDLERS = {
    "none": ("{0}", False),
    "caught": ("try:\n    {0}\nexcept (ArithmeticError, ValueError, LookupError):\n    s = 5.0 * a", False),
    "caught_with_else": (
        "try:\n    {0}\nexcept (ArithmeticError, ValueError, LookupError):\n    s = 5.0 * a\nelse:\n    s = 7.0 * a",
        False,
    ),
    "not_caught": ("try:\n    {0}\nexcept AttributeError:\n    s = 5.0 * a", False),
    "finally": ("try:\n    {0}\nfinally:\n    s = 3.0 * a", False),
    "suppressed": ("with contextlib.suppress(ArithmeticError, ValueError, LookupError):\n    {0}\n    s = 7.0 * a", False),
}

PARTS = 4  #: the operations are taken in so many parts, one of them at each place in the ordinary run

X = np.array([0.7, -1.3, 2.1, 0.4])
FINE = {"a": 0.7, "x": X, "z": 1.5, "k": 2, "text": "15", "items": [0.5, 1.5, 2.5]}
RAISING = {"a": 0.7, "x": X, "z": 0.0, "k": 4, "text": "one", "items": [0.5, 1.5, 2.5]}

PROGRAM = """
def first(p, q):
    return p

def ignore(f):
    f()

def f(a, x, z, k, text, items):
    s = 2.0 * a
    {body}
    return s + x[0]
"""


def indented(text: str, by: int = 4) -> str:
    return text.replace("\n", "\n" + " " * by)


def program(operation: str, place: str, handler: str) -> Any:
    inner = PLACES[place].format(OPERATIONS[operation])
    body = HANDLERS[handler][0].format(inner if handler == "none" else indented(inner))
    text = PROGRAM.format(body=indented(body))
    return symgrad.from_source(text, "f", {"np": np, "math": math, "contextlib": contextlib, "__name__": "raising"})


def outcome(function: Any, arguments: dict[str, Any]) -> Any:
    """What a call gives: a value, or the class of what it raises."""
    try:
        with np.errstate(all="ignore"):
            return function(**arguments)
    except SymgradError:
        raise
    except Exception as error:
        return type(error)


def fault(operation: str, place: str, handler: str, arguments: dict[str, Any], jit: str | bool = False) -> str | None:
    """What is wrong about the derivative of a program, if anything is."""
    function = program(operation, place, handler)
    expected = outcome(function, arguments)
    raises = arguments is RAISING
    assert isinstance(outcome(program(operation, place, "none"), arguments), type) is raises, f"{operation} is not of this table"
    try:
        actual = outcome(symgrad.value_and_grad(function, wrt="a", jit=jit), arguments)
    except SymgradError as error:
        return None if raises and HANDLERS[handler][1] else f"is refused: {error}"
    if isinstance(expected, type) or isinstance(actual, type):
        return None if actual is expected else f"{actual}, plain Python {expected}"
    slope = (function(**{**arguments, "a": 0.7 + 1e-6}) - function(**{**arguments, "a": 0.7 - 1e-6})) / 2e-6
    if actual != (pytest.approx(expected, rel=1e-14), pytest.approx(slope, abs=1e-7)):
        return f"{actual}, plain Python {expected, slope}"
    return None


@pytest.mark.sweep(4)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("arguments", [FINE, RAISING], ids=["fine", "raising"])
@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.slow) for part in range(1, PARTS))])
@pytest.mark.parametrize(("place", "handler"), list(itertools.product(PLACES, HANDLERS)))
def test_what_raises_is_not_dropped(place: str, handler: str, part: int, arguments: dict[str, Any]) -> None:
    begin = (part + list(itertools.product(PLACES, HANDLERS)).index((place, handler))) % PARTS
    faults = {operation: fault(operation, place, handler, arguments) for operation in list(OPERATIONS)[begin::PARTS]}
    assert not {operation: what for operation, what in faults.items() if what is not None}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("arguments", [FINE, RAISING], ids=["fine", "raising"])
@pytest.mark.parametrize("place", ["assigned", *(pytest.param(place, marks=pytest.mark.slow) for place in PLACES if place != "assigned")])
def test_what_raises_is_not_dropped_by_kernels(place: str, arguments: dict[str, Any]) -> None:
    pytest.importorskip("numba")
    faults = {operation: fault(operation, place, "none", arguments, "auto") for operation in OPERATIONS}
    assert not {operation: what for operation, what in faults.items() if what is not None}
