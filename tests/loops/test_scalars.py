"""Numbers in kernels: values, types and exceptions of Python and NumPy."""

from __future__ import annotations

import itertools
import math
import warnings
from random import Random
from typing import Any

import numpy as np
import pytest
from targets import keep_kernels

import symgrad

pytest.importorskip("numba")

FLOATS = [0.0, -0.0, 1.0, -2.5, 1e300, math.inf, -math.inf, math.nan, 700.0]
INTEGERS = [0, 1, -1, 2, -7, 63, 2**31, 2**62, -(2**63)]


@pytest.fixture(autouse=True)
def in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMGRAD_CACHE_DIR", "off")


def outcome(function: Any, arguments: tuple[Any, ...]) -> Any:
    """What a function gives, or the kind of error that it raises."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            return function(*arguments)
    except Exception as error:
        return type(error).__name__


def same(one: Any, other: Any) -> bool:
    """Equal to the last digits, and of one type."""
    if isinstance(one, tuple):
        return isinstance(other, tuple) and all(map(same, one, other))
    if type(one) is not type(other):
        return False
    if isinstance(one, float | np.floating):
        digits = 1e-6 if isinstance(one, np.float32) else 1e-14
        return bool(np.isclose(one, other, digits, 0, equal_nan=True)) and (one != 0 or math.copysign(1, one) == math.copysign(1, other))
    return bool(one == other)


#: expressions, and the numbers that they are given
CASES = [
    ("x / y, x // 3.0, x % -3.0, x // 1.5", FLOATS),
    ("x ** y", FLOATS[:6]),
    ("math.log(abs(x)), math.sin(x), math.exp(x), math.fmod(x, 3.0), max(x, y), min(1.0, x)", FLOATS),
    ("int(x), math.floor(x), math.ceil(x)", FLOATS),
    ("np.log(x), np.sign(x), np.heaviside(x, 0.5), x / y, x % y, np.maximum(x, y), np.clip(x, -1.0, 2.0)", [np.float64(v) for v in FLOATS]),
    ("x * 0.1, x / y, np.sqrt(x), x + 1, math.sin(1.0 / (1.0 + abs(x))), float(x) * 0.1", [np.float32(v) for v in FLOATS if v != 1e300]),
    ("x + y, x - y, x * y, -x, abs(x), x // 3, x % -3, x * 1.5", INTEGERS),
    ("x // y, x % y", INTEGERS),
    ("x ** y", INTEGERS[:6]),
    ("x << y", INTEGERS[:6]),
    ("x + y, x - y, x * y, x // 2, x & y, x / y", [np.int64(v) for v in (0, 1, -7, 2**31 - 1, 2**62)]),
    ("max(x, y), x < y, x == y, float(x)", [np.int32(v) for v in (0, 1, -7, 2**31 - 1)]),
]


@pytest.mark.parametrize("expressions, numbers", CASES, ids=[f"{text} of {type(numbers[0]).__name__}" for text, numbers in CASES])
def test_expressions_of_numbers(expressions: str, numbers: list[Any]) -> None:
    function = symgrad.from_source(f"def tried(x, y):\n    return ({expressions},)\n")
    function.__globals__.update(np=np, math=math)  # type: ignore[attr-defined]
    compiled = symgrad.grad(function, jit=True).primal
    for arguments in itertools.product(numbers, repeat=2):
        keep_kernels(compiled)
        actual, expected = outcome(compiled, arguments), outcome(function, arguments)
        if isinstance(expected, tuple) and any(isinstance(value, complex) for value in expected):
            expected = "NoDerivative"  # of a power that Python makes complex
        assert same(actual, expected), (arguments, actual, expected)
    assert "njit" in compiled.source()


def test_integers_that_wrap_are_left_to_numpy() -> None:
    function = symgrad.from_source("def wrapped(x, y):\n    return x + y\n")
    compiled = symgrad.grad(function, jit="auto").primal
    with pytest.warns(RuntimeWarning, match="overflow"):
        assert compiled(np.int32(1), np.int32(2**31 - 1)) == -(2**31)
    assert "njit" not in compiled.source()


def scaled(x, y):
    s = y
    for v in x:
        s = s * 0.1 + v
    return s


def summed(x, y):
    s = 0.0
    for v in x:
        s += v * y
    return s


def picked(x, y):
    s = y * x[0] if x[0] > 0 else 0.5
    return s * 0.1


@pytest.mark.parametrize("function", [scaled, summed, picked])
@pytest.mark.parametrize("x", [[0.1, 2.0], [-0.3], [0.7]], ids=str)
def test_narrow_floats_stay_narrow_where_loops_and_branches_meet(function: Any, x: list[float]) -> None:
    for y in (np.float32(0.3), 0.3, np.float64(0.3)):
        derivatives = [symgrad.value_and_grad(function, wrt=(0, 1), jit=jit) for jit in ("auto", False)]
        actual, expected = (derived(np.float32(x), y) for derived in derivatives)

        # what is NumPy's on one path and Python's on another is Python's, as docs/numba.md says
        either = function is picked and type(y) is np.float64 and type(actual[0]) is float
        assert same(actual[0], expected[0]) or either and actual[0] == expected[0], (y, actual, expected)
        assert same(actual[1][1], expected[1][1]) or type(y) is float or either, (y, actual, expected)
        np.testing.assert_allclose(actual[1][0], expected[1][0], rtol=1e-6)
        np.testing.assert_allclose(actual[1][1], expected[1][1], rtol=1e-6)
        assert actual[1][0].dtype == expected[1][0].dtype


def test_where_values_lie_in_memory_is_not_seen_in_the_text() -> None:
    text = "def f(x, a, b, c):\n    for i in range(a * b + c):\n        x = x * x\n    return x"
    random, held, texts = Random(0), [], set()
    for _ in range(12):
        held += [[object() for _ in range(random.randint(1, 500))] for _ in range(9)]
        del held[::2]
        texts.add(symgrad.grad(symgrad.from_source(text), jit=True).source(1.0, 2, 3, 4))

    assert len(texts) == 1
