"""Guards and dispatch tables, with a stand-in for the compiler that records its requests."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symgrad.abstraction import abstract_value
from symgrad.dispatch.table import GUARDED, KEPT, Table
from symgrad.errors import UnsureAlias
from symgrad.ir.types import FLOAT
from symgrad.signature import Compiled, Signature

FACTOR = 2.0


class Calls:
    """A table over a function whose "compiled code" is the function itself; ``compiled`` lists the signatures compiled."""

    def __init__(self, function: Any, **fields: Any) -> None:
        self.compiled: list[Signature] = []
        self.fields = fields
        self.guard: Callable[..., Any]
        self.table = Table(function, self.make, self.install)

    def install(self, guard: Callable[..., Any]) -> None:
        self.guard = guard

    def make(self, function: Any, signature: Signature, pins: Any, read: Any, readings: Any) -> Compiled:
        self.compiled.append(signature)
        return Compiled(function, "", **self.fields)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.guard(None, *args, **kwargs)


def scaled(x, n=3, *, k=1.0):
    return x * n * k


def test_one_compilation_a_signature() -> None:
    calls = Calls(scaled)
    assert [calls(2.0), calls(3.0, 4), calls(x=2.0, k=2.0), calls(2.0, n=3, k=1.0)] == [6.0, 12.0, 12.0, 6.0]
    assert len(calls.compiled) == 1
    calls(np.ones(3)), calls(np.ones(5)), calls(np.ones(3)[::2])
    assert len(calls.compiled) == 2
    calls(np.ones(1)), calls(np.ones((3, 1))), calls(np.ones((1, 3))), calls(np.ones(3, np.float32)), calls(np.float64(1)), calls(1)
    assert len(calls.compiled) == 8
    for _ in range(2):
        calls(np.ones((2, 1))), calls(np.ones((1, 2))), calls(np.float64(1))
    assert len(calls.compiled) == 8


@pytest.mark.parametrize(
    "call", [lambda c: c(), lambda c: c(1.0, 2, 3), lambda c: c(1.0, q=2), lambda c: c(1.0, x=2.0), lambda c: c(1.0, 2, n=3)]
)
def test_calls_that_do_not_fit(call: Any) -> None:
    calls = Calls(scaled)
    calls(1.0)
    with pytest.raises(TypeError):
        call(calls)


def test_all_kinds_of_parameters() -> None:
    def f(a, /, b, *rest, c=3.0, **named):
        return a, b, rest, c, named

    calls = Calls(f)
    for _ in range(2):
        assert calls(1.0, 2.0) == (1.0, 2.0, (), 3.0, {})
        assert calls(1.0, b=2.0, d=4.0) == (1.0, 2.0, (), 3.0, {"d": 4.0})
        assert calls(1.0, 2.0, 5.0, 6.0, c=1.0, a=0.0) == (1.0, 2.0, (5.0, 6.0), 1.0, {"a": 0.0})
    assert len(calls.compiled) == 3


def test_parameters_named_as_the_guard_would_like_to() -> None:
    def f(type, len, _k0, float=2.0):
        return type, len, _k0, float

    calls = Calls(f)
    for _ in range(2):
        assert calls(np.ones(2).sum(), [1.0], 3.0) == (2.0, [1.0], 3.0, 2.0)
    assert len(calls.compiled) == 1


def test_containers() -> None:
    def f(p):
        return p

    calls = Calls(f)
    values: list[Any] = [{"a": 1.0, "b": (1, 2.0)}, (1.0,), [1.0, "s"], [1.0, 2.0], [1.0], {"a": 1.0}, None, "s", "t"]
    for _ in range(3):
        for value in values:
            assert calls(value) is value
    assert len(calls.compiled) == len(values) - 1, "a list of floats has any length"


def test_what_the_call_raises_is_not_taken_for_a_test() -> None:
    runs = []

    def f(p):
        runs.append(p)
        raise KeyError("the user's")

    calls = Calls(f)
    for _ in range(2):
        with pytest.raises(KeyError, match="the user's"):
            calls({"a": 1.0})
    assert len(runs) == 2


def test_captured_types(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x):
        return x * FACTOR

    calls = Calls(f, captured=(("FACTOR", FLOAT),))
    calls(1.0)
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    assert calls(1.0) == 3.0
    assert len(calls.compiled) == 1
    monkeypatch.setitem(globals(), "FACTOR", 3)
    calls(1.0)
    assert len(calls.compiled) == 2
    monkeypatch.setitem(globals(), "FACTOR", 4.0)
    calls(1.0)
    assert len(calls.compiled) == 2


def test_captured_functions_and_cells() -> None:
    def build():
        def inner(x):
            return x

        k = 1.0

        def f(x):
            return inner(x) * k

        def change(new: Any) -> None:
            nonlocal inner
            inner = new

        return f, inner, change

    f, inner, change = build()
    calls = Calls(f, captured=(("inner", abstract_value(inner, "i")), ("k", FLOAT)))
    calls(1.0), calls(1.0)
    assert len(calls.compiled) == 1
    change(lambda x: -x)
    calls(1.0)
    assert len(calls.compiled) == 2


def test_attributes_of_arguments() -> None:
    class Model:
        def __init__(self, w):
            self.w = w

        def f(self, x):
            return self.w * x

    calls = Calls(Model.f, captured=(("self.w", FLOAT),))
    for w in (1.0, 2.0, 3.0):
        assert calls(Model(w), 2.0) == 2.0 * w
    assert len(calls.compiled) == 1
    calls(Model(1), 2.0)
    assert len(calls.compiled) == 2


def written(a, b):
    return a, b


def test_sharing_matters_only_where_memory_is_written() -> None:
    x, y = np.ones(4), np.ones(4)
    calls = Calls(written)
    calls(x, y), calls(x, x), calls(x[1:], x[:-1])
    assert len(calls.compiled) == 1
    calls = Calls(written, mutated=("a",))
    for _ in range(2):
        calls(x, y), calls(x, x), calls(x[::2], x[1::2])
    assert [s.same for s in calls.compiled] == [(), (("a", "b"),)]
    for _ in range(2):
        with pytest.raises(UnsureAlias, match="a and b share memory"):
            calls(x[1:], x[:-1])


def test_new_code() -> None:
    def f(x, n=3):
        return x * n

    def longer(x, n, m):
        return x * n * m

    calls = Calls(f)
    assert calls(2.0) == 6.0
    f.__code__, f.__defaults__ = longer.__code__, None
    assert calls(2.0, 3, 4) == 24.0
    assert calls(2.0, 3, m=4) == 24.0
    f.__defaults__ = (1, 1)
    assert calls(2.0) == 2.0


def test_the_table_is_bounded() -> None:
    calls = Calls(lambda x: x)
    for i in range(KEPT + 20):
        calls(str(i))
    assert len(calls.table.entries) == KEPT
    calls(str(KEPT + 19)), calls(str(KEPT + 19 - GUARDED * 2))
    assert len(calls.compiled) == KEPT + 20


def test_a_failure_is_not_kept() -> None:
    calls = Calls(lambda x: x)
    make, calls.table.make = calls.table.make, lambda f, s, pins, read, readings: 1 / 0
    with pytest.raises(ZeroDivisionError):
        calls(1.0)
    calls.table.make = make
    assert calls(1.0) == 1.0


def test_many_threads_compile_once() -> None:
    calls = Calls(lambda x: x)
    make = calls.table.make

    def slowly(*asked: Any, **more: Any) -> Compiled:
        time.sleep(0.05)
        return make(*asked, **more)

    calls.table.make = slowly
    threads = [threading.Thread(target=calls, args=(1.0,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls.compiled) == 1
