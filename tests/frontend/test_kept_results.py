"""Memoised functions called with constants: called at compile time, with their cached results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import UnsupportedSyntax
from tests.against_numpy import function_of, judged

HEAD = """import functools, math
import numpy as np
CALLS = []
@functools.lru_cache
def nodes(n): return np.polynomial.legendre.leggauss(n)
@functools.lru_cache(None)
def table(kind, n=3): return {"a": 2.0, "b": np.arange(float(n)), "kind": kind}, np
@functools.cache
def module_of(kind): return np if issubclass(kind, np.ndarray) else math
@functools.cache
def coefficient(k): return math.comb(5, k) * 0.5
@functools.cache
def word(flag): return "on" if flag else "off"
@functools.cache
def nothing(k): return None
@functools.cache
def is_there(name):
    try:
        TABLE[name]
    except KeyError:
        return False
    return True
TABLE = {"here": 1.0}
class Methods:
    @staticmethod
    @functools.cache
    def weights(n): return np.linspace(0.0, 1.0, n)
@functools.cache
def drawn(n, seed): return np.random.default_rng(seed).standard_normal(n) + np.random.RandomState(7).uniform(-1.0, 1.0, n)
@functools.cache
def one_drawn(seed): return float(np.random.default_rng(seed).standard_normal())
@functools.cache
def parsed(text):
    rows, counts, table = [], {}, np.zeros(3)
    for k, letter in enumerate(text):
        rows.append(float(letter))
        counts[letter] = counts.get(letter, 0) + 1
        table[k] = rows[-1] * counts[letter]
    rows += [1.0]
    return table, tuple(rows)
class Settings:
    count = 3
"""
#: expressions of a vector of three numbers
EXPRESSIONS = [
    "np.sum(np.sin(x[0] * nodes(4)[0]) * nodes(4)[1])", "x * table(float)[0]['b'] * table(float)[0]['a']", "table(str, n=3)[1].sum(x * x)",
    "x * len(table(int, 5)[0]['b'])", "module_of(np.ndarray).exp(x)", "module_of(type(x)).exp(x)", "module_of(float).exp(x[0])",
    "x * coefficient(2)", "x * sum(coefficient(k) for k in (0, 1, 2))", "x * (2.0 if word(True) == 'on' else 3.0)",
    "x if nothing(3) is None else x * 2", "x * (2.0 if is_there('here') else 3.0)", "x * (2.0 if is_there('gone') else 3.0)",
    "x * Methods.weights(3)", "x * drawn(3, 5)", "x * one_drawn(5)", "x * parsed('252')[0]", "x * parsed('252')[1][3]",
    "x * drawn(Settings.count, Settings.count + 1)", "x * (table(float)[0]['kind'] is float)",
]  # fmt: skip


@pytest.mark.sweep(3)
@pytest.mark.parametrize("jit", [False, "auto"])
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_results_for_constants(expression: str, jit: Any) -> None:
    function = function_of(f"{HEAD}def f(x):\n    return {expression}\n")
    assert judged(function, {"x": np.array([0.5, 1.2, 0.9])}, jit=jit) == ("right", "")


def test_a_result_that_is_no_longer_kept_is_made_again() -> None:
    """The object that a function keeps may be changed; after ``cache_clear``, or where there is no room for it, there is a new one."""
    for decorator in ("lru_cache", "lru_cache(maxsize=1)", "lru_cache(maxsize=0)"):
        text = f"@functools.{decorator}\ndef kept(n): return np.full(n, 2.0)\ndef f(x): return np.sum(x * kept(3))\n"
        function, plain = function_of(HEAD + text), function_of(HEAD + text)
        gradient = symgrad.grad(function, verify=False)
        for step in range(6):
            np.testing.assert_array_equal(gradient(np.ones(3)), np.full(3, plain(np.ones(3)) / 3))
            for one in (function, plain):
                kept = one.__globals__["kept"]
                if step == 1:
                    kept(3)[:] = 5.0
                if step == 3:
                    kept.cache_clear()
                if step == 4:
                    kept(4)


#: functions that depend on more than their arguments, or do more than give a result
IMPURE = {
    "a list": "return np.full(n, float(len(CALLS)))",
    "an append": "y = CALLS.append(n)\n    return np.ones(n)",
    "an effect in a function": "y = noted(n)\n    return np.ones(n) * y",
    "a draw": "return np.random.normal(size=n)",
    "a number outside": "return np.full(n, SCALE)",
    "a global variable": "global SCALE\n    SCALE = 2.0\n    return np.ones(n)",
    "a print": "print(n)\n    return np.ones(n)",
    "an iterator": "return np.full(n, float(next(ITEMS)))",
    "an object that calls": "y = PART(n)\n    return np.ones(n)",
    "a part of an argument": "rows = [CALLS]\n    for row in rows:\n        row.append(n)\n    return np.ones(n)",
    "an argument under another name": "rows = CALLS\n    rows.append(n)\n    return np.ones(n)",
    "a name that is bound twice": "rows = []\n    rows = CALLS\n    rows[0:] = [n]\n    return np.ones(n)",
    "a draw without a seed": "return np.random.default_rng().normal(size=n)",
    "a number drawn without a seed": "seed = None\n    return np.random.default_rng(seed).normal()",
    "a comprehension": "a = [CALLS.append(k) for k in range(n)]\n    return np.ones(n)",
}


@pytest.mark.parametrize("place", ["np.sum(x * kept(3))", "np.sum(x) if x[0] > 0 else np.sum(x * kept(3))"])
@pytest.mark.parametrize("name", IMPURE)
def test_functions_that_do_more_are_not_called_while_compiling(name: str, place: str) -> None:
    text = "SCALE = 1.5\nPART = functools.partial(CALLS.append)\nITEMS = iter(range(100))\ndef noted(n):\n    CALLS.append(n)\n    return 1.0\n"
    function = function_of(f"{HEAD}{text}@functools.cache\ndef kept(n):\n    {IMPURE[name]}\ndef f(x):\n    return {place}\n")
    with pytest.raises(UnsupportedSyntax):
        symgrad.grad(function)(np.ones(3))
    names = function.__globals__
    assert names["CALLS"] == [] and names["SCALE"] == 1.5 and next(names["ITEMS"]) == 0 and names["kept"].cache_info().currsize == 0


def test_one_that_changes_something_is_not_called_while_compiling() -> None:
    function = function_of(
        HEAD + "@functools.cache\ndef kept(n):\n    CALLS.append(n)\n    return np.ones(n)\ndef f(x): return np.sum(x * kept(3))\n"
    )
    with pytest.raises(UnsupportedSyntax, match="call the function before"):
        symgrad.grad(function)(np.ones(3))
    assert function.__globals__["CALLS"] == []


def test_one_that_raises_raises() -> None:
    function = function_of(
        HEAD
        + "@functools.cache\ndef kept(n):\n    if n > 2:\n        raise ValueError('too many')\n    return 2.0\ndef f(x): return np.sum(x * kept(3))\n"
    )
    with pytest.raises(ValueError, match="too many"):
        symgrad.grad(function)(np.ones(3))


def test_arguments_that_are_not_constants_are_lowered() -> None:
    function = function_of(HEAD + "def f(x, n): return np.sum(x) * coefficient(n)\n")
    gradient = symgrad.grad(function)
    for n in (1, 2, 3):
        np.testing.assert_array_equal(gradient(np.ones(3), n), np.full(3, function(np.ones(3), n) / 3))
