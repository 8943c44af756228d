"""Side effects that a kernel does not have: executed once, in order, after the kernel."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import NotCompiled

pytest.importorskip("numba")

X = np.array([0.5, 1.5, 2.5])


class Counted:
    """A function that counts its calls, as optimisers do."""

    def __init__(self) -> None:
        self.calls, self.last = 0, None

    def loss(self, x):
        self.calls += 1
        total = 0.0
        for i in range(len(x)):
            total += x[i] ** 2
        self.last = total
        return total


def told(x):
    print("start", len(x))
    y = x * 2
    print(y)
    y[0] = 0.0
    total = np.sum(y * y)
    print(f"{total:.1f}", float(np.sum(x)))
    return total


def logged(x, log):
    log.append(len(x))
    return np.sum(x**3)


def told_and_raised(x):
    print("at", x[0])
    total = 0.0
    for i in range(4):
        total += x[i] ** 2
    print("after", total)
    return total


def told_in_turn(x):
    print("first")
    if x[0] > 1.0:
        print("large")
    print("last")
    return np.sum(x * x)


def compiled(f: Any, *args: Any, wrt: Any = 0) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotCompiled)
        return symgrad.value_and_grad(f, wrt, jit=True)(*args)


def test_attributes_are_stored_once_in_each_call() -> None:
    counted = Counted()
    df = symgrad.value_and_grad(counted.loss, jit=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotCompiled)
        for k in range(1, 4):
            value, gradient = df(X * k)
            assert (counted.calls, counted.last) == (k, value)
            np.testing.assert_allclose(gradient, 2 * k * X)
    assert "_kernel(" in df.source(X)


def test_what_is_printed_is_what_python_prints(capsys: pytest.CaptureFixture[str]) -> None:
    told(X)
    expected = capsys.readouterr().out
    value, gradient = compiled(told, X)
    assert capsys.readouterr().out == expected
    np.testing.assert_allclose(gradient, [0.0, *8 * X[1:]])
    assert value == pytest.approx(np.sum((2 * X[1:]) ** 2))


def test_lists_of_the_caller_are_appended_to() -> None:
    log: list[int] = []
    compiled(logged, X, log)
    compiled(logged, X[:2], log)
    assert log == [3, 2]


def test_nothing_is_done_twice_where_the_kernel_leaves(capsys: pytest.CaptureFixture[str]) -> None:
    long = np.arange(4.0)
    df = symgrad.grad(told_and_raised, jit=True)
    np.testing.assert_allclose(df(long), 2 * long)
    assert capsys.readouterr().out == "at 0.0\nafter 14.0\n"
    with pytest.raises(IndexError):
        df(X)
    assert capsys.readouterr().out == "at 0.5\n"


def test_calls_on_some_paths_keep_their_places(capsys: pytest.CaptureFixture[str]) -> None:
    df = symgrad.grad(told_in_turn, jit="auto")
    for x, out in ((X, "first\nlast\n"), (X + 1.0, "first\nlarge\nlast\n"), (X, "first\nlast\n")):
        np.testing.assert_allclose(df(x), 2 * x)
        assert capsys.readouterr().out == out


def test_a_saved_kernel_does_it_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "saved.py"
    symgrad.save(symgrad.grad(told, jit=True), path, X)
    capsys.readouterr()
    space: dict[str, Any] = {"__name__": "saved"}
    exec(compile(path.read_text(), str(path), "exec"), space)  # noqa: S102
    np.testing.assert_allclose(space["told_grad"](X), [0.0, *8 * X[1:]])
    assert capsys.readouterr().out.startswith("start 3\n[1. 3. 5.]\n")


def test_pullbacks_run_as_numpy_code_and_do_it_once(capsys: pytest.CaptureFixture[str]) -> None:
    out, pullback = symgrad.vjp(told, X, jit="auto")
    assert capsys.readouterr().out.count("start") == 1
    np.testing.assert_allclose(pullback(1.0)[0] if isinstance(pullback(1.0), tuple) else pullback(1.0), [0.0, *8 * X[1:]])


def of_two_classes(a, n):
    t = True if a > 0.0 else 2
    k = False
    for _ in range(n):
        k = k + 1
    u = 3 if a > 0.0 else 2.5
    print(t, k, u, max(n, a))
    return a * t + k


def test_numbers_of_several_classes_are_shown_as_what_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    df = symgrad.grad(of_two_classes, jit="auto")
    for args in ((0.5, 0), (0.5, 2), (-0.5, 0), (-0.5, 2), (3.5, 2)):
        of_two_classes(*args)
        expected = capsys.readouterr().out
        df(*args)
        assert capsys.readouterr().out == expected
