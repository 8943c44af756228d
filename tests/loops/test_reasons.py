"""Notices about functions without a compiled form: line, source text and reason."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from structure import FILES, tree_of

import symgrad
from symgrad.errors import NotCompiled

pytest.importorskip("numba")

X, M = np.array([0.5, 1.5, 2.5]), np.array([[0.5, 1.5], [2.5, 3.5]])


def complexes(x):
    return abs(np.expm1(np.sum(x) + 1j * x[0]))


def prints(x):
    for _ in range(2):
        print([x], end="")
    return x * x if x < 1.0 else opened(x)


def opened(x):
    print(x, end="\r")
    return x


def half(x):
    narrow = x.astype(np.float16)
    return np.sum(narrow * narrow)


def padded(x):
    return np.sum(np.pad(x, 1, constant_values=((1.0, 2.0),)) ** 2)


def rolled(x):
    return np.sum(np.roll(x, (1, 1), axis=(0, 1)) * x)


def spaced(x):
    return np.sum(np.linspace(x, 2 * x, 4) ** 2)


def recursive(x, n):
    return x if n < 1 else x * recursive(x, n - 1)


def texts(x):
    read = np.loadtxt(["1 2 3"])
    return np.sum(x * read)


def nested(rows):
    total = 0.0
    for row in rows:
        total += row[0][0] * row[-1][1]
    return total


def eigenvalues(x):
    values, _ = np.linalg.eigh(x)
    return np.sum(values)


def rounded(x, n):
    return np.round(np.arange(n), -1)[0] * x


def stepping(x, k):
    total = 0.0
    for i in range(0, len(x), k):
        total = total + x[i] ** 2
    return total


def integers(x, n):
    small = np.int8(n) * np.int8(3)
    return x * small


def spectrum(x):
    return np.sum(np.abs(np.fft.fft(x)))


def remainders(x, n):
    return np.sum(np.fmod(np.arange(3), n) * x)


#: the function, its arguments, the text above the carets, what is said
PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...], str, str]] = [
    (complexes, (X,), "np.expm1(np.sum(x) + 1j * x[0])", "np.expm1 of complex numbers"),
    (prints, (2.0,), 'print([x], end="")', "a call of print, which is a Python function"),
    (half, (X,), "x.astype(np.float16)", "arrays of float16"),
    (padded, (X,), "np.pad(x, 1, constant_values=((1.0, 2.0),))", "np.pad with other than one value"),
    (rolled, (M,), "np.roll(x, (1, 1), axis=(0, 1))", "np.roll along several axes"),
    (spaced, (X,), "np.linspace(x, 2 * x, 4)", "np.linspace between arrays"),
    (recursive, (2.0, 3), "recursive(x, n - 1)", "recursive, which calls itself"),
    (texts, (X,), 'np.loadtxt(["1 2 3"])', "a list of Python objects (str)"),
    (nested, ([[[0.5, 0.1 * k]] * 9 for k in range(10)],), "def nested(rows):", "rows, which is a list of lists of lists of floats"),
    (eigenvalues, (np.eye(2),), "np.linalg.eigh(x)", "np.linalg.eigh of an array of float64"),
    (rounded, (2.0, 3), "np.round(np.arange(n), -1)[0]", "np.round of integers to tens"),
    (stepping, (X, 2), "for i in range(0, len(x), k):", "a loop with a step that is not a literal"),
    (integers, (2.0, 3), "np.int8(n) * np.int8(3)", "arithmetic of integers of type int8"),
    (spectrum, (X,), "np.fft.fft(x)", "np.fft.fft of an array of float64"),
    (remainders, (X, 2), "np.fmod(np.arange(3), n) * x", "np.fmod of integers"),
]


@pytest.mark.parametrize(("function", "arguments", "written", "reason"), PROGRAMS, ids=lambda value: getattr(value, "__name__", None))
def test_a_notice_names_the_line_and_what_stands_there(
    function: Callable[..., Any], arguments: tuple[Any, ...], written: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        symgrad.grad(function, jit=True)(*arguments)
    (notice,) = [one.message for one in told if isinstance(one.message, NotCompiled)]
    loc = notice.loc
    lines = str(notice).splitlines()

    assert lines[0] == f"{function.__name__} runs as NumPy code: kernels do not support {reason}"
    assert loc is not None
    assert lines[1] == f"  {__file__}:{loc.line}"
    assert loc.text[loc.column : loc.end_column].partition("\n")[0].rstrip() == written
    assert lines[3].strip(" ^") == ""
    assert "^" in lines[3]


def test_reasons_are_written_in_words_that_users_know() -> None:
    """No reason shows a type of the IR or the name of a row as it is."""
    reasons = []
    for path in FILES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("OutOfReach", "NoPlaces") and node.args:
                reasons.append((f"{path.name}:{node.lineno}", ast.unparse(node.args[0])))

    assert len(reasons) > 80
    for place, reason in reasons:
        for shown in re.findall(r"{([^{}]*)}", reason):
            words = shown.startswith(
                ("in_words(", "plural(", "dtype_in_words(", "function_in_words(", "named(", "' and '.join(", "op.settings[")
            )
            assert words or shown in ("what", "count:,"), f"{place}: {reason}"


def test_what_goes_wrong_while_compiling_says_so_and_names_the_function(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*arguments: Any) -> Any:
        raise AssertionError("by the test")

    def plain(x):
        return x * x * 5.0

    monkeypatch.delenv("SYMGRAD_CHECK", raising=False)
    monkeypatch.setattr("symgrad.compile.kernel_texts", fails)
    with pytest.warns(NotCompiled) as told:
        assert symgrad.grad(plain, jit=True)(2.0) == 20.0

    lines = str(told[0].message).splitlines()
    assert lines[0].endswith("plain runs as NumPy code: a fault of symgrad, please report it (AssertionError: by the test)")
    assert lines[1].startswith(f"  {__file__}:")
    assert lines[2].strip() == "def plain(x):"
