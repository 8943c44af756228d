"""Context managers of libraries: effects on entry and on each exit, compared with plain Python."""

from __future__ import annotations

import itertools
import threading
import warnings

import pytest

import symgrad
from symgrad.eager.autograd import no_grad
from symgrad.errors import UnsupportedSyntax
from tests.plainly import function_of, verdict
from tests.sweeps import fast_cases

HEAD = "import contextlib, io, threading, warnings\nLOCK = threading.RLock()\nOUT = io.StringIO()\n"
MANAGERS = {
    "lock": "LOCK",
    "output": "contextlib.redirect_stdout(OUT)",
    "warnings": "warnings.catch_warnings()",
    "two": "LOCK, contextlib.redirect_stdout(OUT)",
    "file": "io.StringIO('abc') as s",
    "closing": "contextlib.closing(io.StringIO()) as s",
}
BODIES = {
    "plain": "y = y * 2",
    "return": "if x > 0.5:\n    return y * 3\ny = y * 2",
    "raise": "if x > 0.5:\n    raise ValueError('no')\ny = y * 2",
    "break": "if y > 1.5:\n    break\ny = y * 2",
    "continue": "if y > 1.5:\n    continue\ny = y * 2",
    "division": "y = y / (x - 0.7)",
    "callee": "y = inner(y)",
    "print": "print('in', 3)\ny = y + 1",
    "singular": "y = y + np.linalg.inv(np.zeros((2, 2)))[0, 0]",
}
PROGRAM = """
def inner(v):
    with LOCK:
        if v > 1.0:
            raise ValueError("big")
        return v * v

def f(x):
    y = x
    for k in range(3):
        try:
            with MANAGER:
BODY
        except (ValueError, ZeroDivisionError, np.linalg.LinAlgError) as e:
            y = y + (1 if isinstance(e, ValueError) else 2) + len(str(e))
        y = y * x + k
    return y
"""
CASES = {
    "-".join(map(str, values)): dict(zip(("manager", "body", "x"), values, strict=True))
    for values in itertools.product(MANAGERS, BODIES, (0.4, 0.7, 0.9))
}
FAST = fast_cases(CASES, 9)


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in FAST else pytest.mark.slow) for n in CASES])
def test_ways_out(name: str) -> None:
    case = CASES[name]
    body = "".join(f"                {line}\n" for line in BODIES[case["body"]].splitlines())
    text = HEAD + PROGRAM.replace("MANAGER", MANAGERS[case["manager"]]).replace("BODY\n", body)
    filters = list(warnings.filters)
    assert verdict(text, [case["x"]]) == "right" or case["body"] == "division"
    assert warnings.filters == filters


def test_a_lock_is_released_on_each_way_out() -> None:
    f = function_of("import numpy as np\n" + HEAD + PROGRAM.replace("MANAGER", "LOCK").replace("BODY\n", "                y = inner(y)\n"))
    lock = f.__globals__["LOCK"] = threading.RLock()
    for x in (0.4, 0.9):
        symgrad.grad(f)(x)
        free: list[bool] = []
        thread = threading.Thread(target=lambda: free.append(lock.acquire(blocking=False)))
        thread.start()
        thread.join()
        assert free == [True]
        lock = f.__globals__["LOCK"] = threading.RLock()


RECORD = """
def f(x):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        y = np.sqrt(x) * 2
        warnings.warn("twice")
        warnings.warn("twice")
    return y * len(seen)
"""


def test_what_a_manager_returns_is_data() -> None:
    f = function_of("import numpy as np\n" + HEAD + RECORD)
    value, slope = symgrad.value_and_grad(f)(0.49)
    assert value == pytest.approx(2 * 1.4)
    assert slope == pytest.approx(2 / 0.7)


def test_output_goes_where_it_is_redirected_once() -> None:
    f = function_of(
        "import numpy as np\n" + HEAD + "def f(x):\n    with contextlib.redirect_stdout(OUT):\n        print(x)\n    return x * x\n"
    )
    assert symgrad.grad(f)(0.7) == 1.4
    assert f.__globals__["OUT"].getvalue() == "0.7\n"


def in_no_grad(x):
    with no_grad():
        y = x * x
    return y * x


SWITCH = no_grad()


def in_a_switch(x):
    with SWITCH:
        y = x * x
    return y * x


@no_grad()
def square(x):
    return x * x


def decorated(x):
    return square(x) * x


@pytest.mark.parametrize("f", [in_no_grad, in_a_switch, decorated])
def test_managers_for_tensors_are_refused(f):
    """They switch the recording of tensors, and the numbers here are none."""
    with pytest.raises(UnsupportedSyntax, match="context manager"):
        symgrad.grad(f)(0.7)


def named(x):
    y = x * x
    return y * x


def test_the_way_out_of_no_grad() -> None:
    assert symgrad.grad(named, no_grad=["y"])(0.7) == pytest.approx(0.49)


def test_managers_on_a_stack() -> None:
    text = HEAD + (
        "def f(x):\n    y = x\n    with contextlib.ExitStack() as stack:\n        stack.enter_context(LOCK)\n        y = x * x\n    return y\n"
    )
    assert verdict(text, [0.7]) == "right"
