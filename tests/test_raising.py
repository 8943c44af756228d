"""Exceptions: operations that raise x places x handlers, compared with plain Python.

A program is right if it gives what plain Python gives, prints what it prints, or raises what it raises.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import math
import re
import textwrap
from typing import Any

import numpy as np
import pytest
from strategies import loaded

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
    "index_of_rows": "np.ones((3, 2))[k]",
    "slice_of_rows": "np.ones((3, 2))[1:, k - 2]",
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
    "step_of_slice": "x[:: 4 - k]",
    "step_of_list": "items[:: 4 - k]",
    "step_of_range": "range(0, 9, 4 - k)",
    "rounds_of_range": "sum(v * a for v in range(0, 9, 4 - k))",
    "shift": "1 << (3 - k)",
    "singular": "np.linalg.solve(np.array([[1.0, 2.0], [2.0, 4.0 + z]]), x[:2])",
    "index_of_literals": "[1.0, 2.0, 3.0][k]",
    "index_of_a_tuple": "(1.0, 2.0, 3.0)[k]",
    "gathered": "x[np.array([0, k])]",
    "inverse": "np.linalg.inv((4.0 - k) * np.eye(2))",
    "not_square": "np.linalg.det(np.ones((k, 2)))",
    "shift_back": "1 >> (3 - k)",
    "axis": "np.roll(x, 1, axis=k - 2)",
    "negative_extent": "np.zeros(3 - k)",
    "not_found": "[1, 2].index(k)",
    "repeated": "np.repeat(x, 3 - k)",
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

#: what is around it
HANDLERS = {
    "none": "{0}",
    "caught": "try:\n    {0}\nexcept (ArithmeticError, ValueError, LookupError):\n    s = 5.0 * a",
    "caught_with_else": "try:\n    {0}\nexcept (ArithmeticError, ValueError, LookupError):\n    s = 5.0 * a\nelse:\n    s = 7.0 * a",
    "not_caught": "try:\n    {0}\nexcept AttributeError:\n    s = 5.0 * a",
    "finally": "try:\n    {0}\nfinally:\n    s = 3.0 * a\n    print('done')",
    "suppressed": "with contextlib.suppress(ArithmeticError, ValueError, LookupError):\n    {0}\n    s = 7.0 * a",
    "one_of_several": (
        "try:\n    {0}\nexcept ArithmeticError as e:\n    print('arithmetic', e)\n    s = 5.0 * a\n"
        "except (LookupError, ValueError) as e:\n    print(str(e))\n    s = 11.0 * a"
    ),
    "raised_again": (
        "try:\n    try:\n        s *= 2.0\n        {0}\n        s *= 5.0\n    except Exception:\n        s += a\n        raise\n"
        "except (ArithmeticError, ValueError, LookupError):\n    s *= 3.0"
    ),
    "raised_from": (
        "try:\n    try:\n        {0}\n    except Exception as e:\n        raise Own(3.0 * a, 'own') from e\n"
        "except Own as own:\n    print(own, len(str(own)))\n    s += own.value"
    ),
    "described": (
        "try:\n    {0}\nexcept Exception as e:\n    print(type(e).__name__, e.args, isinstance(e, ValueError), e.__class__ is IndexError)\n"
        "    s += a * len(e.args)"
    ),
    "cause_is_asked_for": (
        "try:\n    try:\n        {0}\n    except Exception as e:\n        raise Own(3.0 * a, 'own') from e\n"
        "except Own as own:\n    s += own.value * (2.0 if isinstance(own.__cause__, ArithmeticError) else 3.0)\n"
        "    print(type(own.__cause__).__name__, own.__cause__.args, own.__suppress_context__)"
    ),
    "on_the_way_out": (
        "try:\n    try:\n        {0}\n        s = 5.0 * a\n    finally:\n        s *= 3.0\n        print('out')\n"
        "except Exception:\n    s += a"
    ),
    "in_a_loop_around": (
        "for j in range(3):\n    try:\n        if j == 1:\n            {0}\n        s += a\n    except Exception:\n"
        "        s *= 2.0\n        continue\n    finally:\n        print(j)\n    s += 3.0 * a"
    ),
    "told": "with Told(True) as told:\n    {0}\n    s = 7.0 * a\ns *= told.times",
    "told_and_not_taken": "with Told(False) as told:\n    {0}\n    s = 7.0 * a\ns *= told.times",
    "told_by_raising": (
        "try:\n    with Refusing():\n        {0}\n        s = 7.0 * a\nexcept Own as own:\n    print(own)\n    s += own.value"
    ),
    "generator": "with managed() as times:\n    s *= times\n    {0}\n    s *= 5.0",
    "left_by_return": "try:\n    {0}\n    return s\nexcept Exception:\n    return 9.0 * a\nfinally:\n    print('returned')",
}

PARTS = 4  #: the operations are taken in so many parts, one of them at each place in the ordinary run

X = np.array([0.7, -1.3, 2.1, 0.4])
FINE = {"a": 0.7, "x": X, "z": 1.5, "k": 2, "text": "15", "items": [0.5, 1.5, 2.5]}
RAISING = {"a": 0.7, "x": X, "z": 0.0, "k": 4, "text": "one", "items": [0.5, 1.5, 2.5]}

PROGRAM = """
class Own(Exception):
    def __init__(self, value, text):
        super().__init__(text)
        self.value = value

class Told:
    def __init__(self, takes):
        self.takes, self.times = takes, 1.0
    def __enter__(self):
        return self
    def __exit__(self, kind, error, place):
        print(kind is None)
        self.times += 1.0
        return self.takes

class Refusing:
    def __enter__(self):
        return self
    def __exit__(self, kind, error, place):
        raise Own(3.0, 'on exit')

@contextlib.contextmanager
def managed():
    print('enter')
    try:
        yield 2.0
    except (ArithmeticError, ValueError, LookupError):
        print('taken')
    finally:
        print('exit')

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
    inner, around = PLACES[place].format(OPERATIONS[operation]), HANDLERS[handler]
    before = around[: around.index("{0}")].rpartition("\n")[2]
    text = PROGRAM.format(body=indented(around.format(indented(inner, len(before)))))
    return symgrad.from_source(text, "f", {"np": np, "math": math, "contextlib": contextlib, "__name__": "raising"})


def outcome(function: Any, arguments: dict[str, Any]) -> Any:
    """What a call gives: a value, or the class of what it raises."""
    return outcome_and_output(function, arguments)[0]


def outcome_and_output(function: Any, arguments: dict[str, Any]) -> tuple[Any, str]:
    """The same, and what it prints."""
    printed = io.StringIO()
    try:
        with np.errstate(all="ignore"), contextlib.redirect_stdout(printed):
            return function(**arguments), printed.getvalue()
    except SymgradError:
        raise
    except Exception as error:
        return type(error), printed.getvalue()


def fault(operation: str, place: str, handler: str, arguments: dict[str, Any], jit: str | bool = False) -> str | None:
    """What is wrong about the derivative of a program, if anything is."""
    function = program(operation, place, handler)
    expected, printed = outcome_and_output(function, arguments)
    raises = arguments is RAISING
    assert isinstance(outcome(program(operation, place, "none"), arguments), type) is raises, f"{operation} is not of this table"
    try:
        actual, shown = outcome_and_output(symgrad.value_and_grad(function, wrt="a", jit=jit), arguments)
    except SymgradError as error:
        return f"is refused: {error}"
    if shown != printed:
        return f"prints {shown!r}, plain Python {printed!r}"
    if isinstance(expected, type) or isinstance(actual, type):
        return None if actual is expected else f"{actual}, plain Python {expected}"
    with contextlib.redirect_stdout(io.StringIO()):
        slope = (function(**{**arguments, "a": 0.7 + 1e-6}) - function(**{**arguments, "a": 0.7 - 1e-6})) / 2e-6
    if actual != (pytest.approx(expected, rel=1e-14), pytest.approx(slope, abs=1e-7)):
        return f"{actual}, plain Python {expected, slope}"
    return None


@pytest.mark.sweep(24)
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


#: the same, of a function that takes numbers and arrays alone
KERNEL = """
def first(p, q):
    return p

def ignore(f):
    f()

def f({parameters}):
    s = 2.0 * a
    {body}
    return s + a
"""


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::symgrad.errors.NotCompiled")
@pytest.mark.sweep(6)
@pytest.mark.parametrize("jit", [False, True], ids=["numpy", "numba"])
@pytest.mark.parametrize("place", [*PLACES, "used"])
def test_later_calls_raise(place: str, jit: bool) -> None:
    """The code that a call has left raises for the arguments of a later one."""
    if jit:
        pytest.importorskip("numba")
    faults = {}
    for name, operation in OPERATIONS.items():
        parameters = ["a", *(p for p in list(FINE)[1:] if re.search(rf"\b{p}\b", operation))]
        body = {**PLACES, "used": "s = s + 0.0 * np.sum({0})"}[place].format(operation)
        text = KERNEL.format(parameters=", ".join(parameters), body=indented(body))
        function = symgrad.from_source(text, "f", {"np": np, "math": math, "__name__": "raising"})
        derivative = symgrad.value_and_grad(function, wrt="a", jit=jit)
        fine, raising = ({p: arguments[p] for p in parameters} for arguments in (FINE, RAISING))
        assert outcome(derivative, fine) == (pytest.approx(2.1), pytest.approx(3.0))
        expected, actual = outcome(function, raising), outcome(derivative, raising)
        if actual is not expected:
            faults[name] = (actual, expected)
    assert not faults


#: stores on the ways on which nothing is raised, before or after what may raise, and on the ways out
STORES = [
    "y[::-1] /= 1.2 + np.sum(m, axis=0)",
    "z *= np.sum(m)",
    "y[np.array([0])] = w",
    "for i in range(2):\n    z += np.sum(m, axis=0)[i]",
]
WATCHED = {
    "finally": "try:\n{0}\nfinally:\n{1}",
    "handler": "try:\n{0}\nexcept FloatingPointError:\n{1}",
    "finally_in_a_loop": "for k in range(2):\n    try:\n{0}\n    finally:\n{1}",
    "round_that_continues": "for k in range(2):\n    try:\n{0}\n        if w < 0:\n            continue\n        y *= 1.5\n    finally:\n{1}",
}


@pytest.mark.parametrize("watched", WATCHED)
@pytest.mark.parametrize("store", STORES, ids=range(len(STORES)))
def test_stores_beside_what_is_pending(watched: str, store: str) -> None:
    by = 8 if "loop" in watched or "round" in watched else 4
    body = textwrap.indent(f"y = np.min(m, axis=0)\nz = y[::2]\n{store}\ns += np.sum(np.sort(m, axis=0)[0] * y)", " " * by)
    text = WATCHED[watched].format(body, textwrap.indent("m[:, -2] = m[:, 0] * w\ns += np.sum(m)", " " * by))
    inside = textwrap.indent(text, "    ")
    with loaded(f"import numpy as np\n\n\ndef f(m, w):\n    s = 0.0\n{inside}\n    return s * w + np.sum(np.sin(m))\n") as function:
        m, w = np.linspace(0.2, 1.0, 12).reshape(3, 4), 0.7
        value, (dm, dw) = symgrad.value_and_grad(function, wrt=(0, 1))(m.copy(), w)
        assert value == pytest.approx(function(m.copy(), w), rel=1e-12)
        step = 1e-6
        both = (function(m + step, w + step) - function(m - step, w - step)) / (2 * step)
        assert np.sum(dm) + dw == pytest.approx(both, rel=1e-5)
