"""Growth of the work of lowering with branches, handlers and unrolled iterations: counted; results compared with differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import SymgradError
from symgrad.frontend.flow import carried
from symgrad.frontend.flow.joined_arrays import JoinedArrays
from symgrad.frontend.state.context import Lowering
from symgrad.testing import check_grads
from tests.plainly import function_of

X = np.linspace(0.3, 1.2, 4)


def counted(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> list[int]:
    """A list that gets an item for each call of a function."""
    calls: list[int] = []
    function = getattr(owner, name)

    def call(*args: Any, **kwargs: Any) -> Any:
        calls.append(1)
        return function(*args, **kwargs)

    monkeypatch.setattr(owner, name, call)
    return calls


def written(lines: list[str]) -> Callable[..., Any]:
    return function_of("import numpy as np\n\ndef f(x, w):\n" + "".join(f"    {line}\n" for line in lines))


def kinds(count: int) -> Callable[..., Any]:
    """A name that is bound to a list or to a number, or to one of two dicts, and stays what it is on other paths."""
    choices = ["[w, {k}.5]", "w * {k}.25", "{{'a': w}}"]
    lines = [line for k in range(count) for line in (f"if x[{k % 4}] * w > 0.{k % 7 + 2}:", f"    t = {choices[k % 3].format(k=k)}")]
    ends = ["if isinstance(t, list):", "    w = w * t[0]", "elif isinstance(t, dict):", "    w = w + t['a']", "else:", "    w = w * t"]
    return written(["t = w", *lines, *ends, "return np.sum(x) * w"])


def functions(count: int) -> Callable[..., Any]:
    """A name that is bound to one of two functions of the program."""
    lines = [f"if x[{k % 4}] * w > 0.{k % 7 + 2}:\n        t = {'uv'[k % 2]}" for k in range(count)]
    return written(["u = lambda a: a * w", "v = lambda a: np.sin(a)", "t = u", *lines, "return np.sum(t(x))"])


def handled(count: int) -> Callable[..., Any]:
    """Statements that may raise, under one handler."""
    lines = [f"    y = y * w + 1.0 / int(w > 0.{k % 3})" for k in range(count)]
    return written(["y = x * w", "try:", *lines, "except ZeroDivisionError as err:", "    y = 0.5 * y", "return np.sum(y)"])


def handled_in_turn(count: int) -> Callable[..., Any]:
    """Exceptions of two kinds, caught by name, on their way through ``finally``."""
    lines = [f"        y = y * w + {['1.0 / int(w > 0.2)', f'x[int(9.0 * w) - 8 + {k % 3}]'][k % 2]}" for k in range(count)]
    handlers = ["    except ZeroDivisionError as err:", "        y = 0.5 * y", "    except IndexError as err:", "        y = 0.25 * y"]
    return written(["y = x * w", "try:", "    try:", *lines, *handlers, "finally:", "    y = y + w", "return np.sum(y)"])


@pytest.mark.parametrize("program", [kinds, functions, handled, handled_in_turn])
def test_a_join_adds_as_many_values_as_there_are_names_and_kinds(
    program: Callable[[int], Callable[..., Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls, work = counted(monkeypatch, JoinedArrays, "out"), []
    for count in (6, 12, 24):
        calls.clear()
        function = program(count)
        check_grads(function, (X, 0.9))
        check_grads(function, (X[::-1].copy(), 0.15))
        work.append(len(calls))

    assert work[0] > 0
    assert work[2] - work[1] <= 2.5 * (work[1] - work[0])


def test_a_loop_whose_finally_is_left_settles_what_it_carries(monkeypatch: pytest.MonkeyPatch) -> None:
    trials = counted(monkeypatch, carried, "make_head")
    function = written([
        "s = w",
        "for v in x:",
        "    try:",
        "        try:",
        "            if v > w:",
        "                break",
        "            s = s * v",
        "        finally:",
        "            s = s + 1.0 / int(s > 0.3)",
        "    except ZeroDivisionError:",
        "        s = s + v",
        "return s",
    ])  # fmt: skip
    for w in (0.1, 0.5, 2.0):
        check_grads(function, (X, w))

    assert 0 < len(trials) <= 6 * 3


def test_a_loop_that_no_static_test_ends_is_not_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = counted(monkeypatch, Lowering, "write_out")
    function = written([
        "s, k, a, b = w, 0, x * 1.0, x * w",
        "while True:",
        "    if abs(s) < 0.12 or k >= 5:",
        "        break",
        "    for j in range(3):",
        "        a[j] = 0.29 * np.sin(a[j - 1] + s)",
        "    a, b = b, a",
        "    m = 0",
        "    while m < 3 and 0.08 < a[k % 4] < 0.7:",
        "        c = b",
        "        m += 1",
        "    s, k = s / (1.2 + s**2), k + 1",
        "b[0] = a[1]",
        "return np.sum(a * b) + s",
    ])  # fmt: skip
    try:
        check_grads(function, (X, 0.9))
    except SymgradError:
        pass

    assert 0 < len(rounds) <= 30


def test_a_loop_that_a_static_test_ends_is_written_out() -> None:
    function = written([
        "parts, k = (), 0",
        "while True:",
        "    k += 1",
        "    if k > 3:",
        "        break",
        "    parts = (*parts, x[:k] * w if k % 2 else [w])",
        "return np.sum(parts[0]) + parts[1][0] * np.sum(parts[2])",
    ])  # fmt: skip
    check_grads(function, (X, 0.9))
    assert "while" not in symgrad.grad(function).source(X, 0.9)
