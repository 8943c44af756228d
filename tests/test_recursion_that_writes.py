"""Recursive functions that write to arguments or outer variables: products of cases, compared with plain Python."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from plainly import HEAD, function_of, verdict
from recursive_programs import RIGHT
from refused_recursion import NEVER_WRONG, RAISING, REFUSED

import symgrad

#: what is handed over: how it comes about, and what is passed
ARGUMENTS = {
    "array": ("y = x * 1.5", "y"),
    "slice": ("y = x * 1.5", "y[1:]"),
    "reversed": ("y = x * 1.5", "y[::-1]"),
    "strided": ("y = np.concatenate([x, x * 0.5])", "y[::2]"),
    "row": ("y = np.outer(x, x + 0.5)", "y[1]"),
    "column": ("y = np.outer(x, x + 0.5)", "y[:, 1]"),
    "transposed": ("y = np.outer(x, x + 0.5)", "y.T[2]"),
    "ravelled": ("y = np.outer(x, x + 0.5)", "y.ravel()"),
    "chosen": ("z = x * 0.9; y = x * 1.5; y = y if x[0] > 0.5371 else z", "y"),
    "other of two": ("z = x * 0.9; y = x * 1.5; w = y if x[0] < 0.5 else z; z = w", "w"),
}
STORES = {
    "item": "v[0] = 0.5 * v[0] + 0.2 * v[-1]",
    "slice": "v[1:] *= 0.9 + 0.1 * v[0]",
    "whole": "v[:] = np.sin(v)",
    "in place": "v *= 0.8",
    "out": "np.multiply(v, 0.7, out=v)",
    "view": "u = v[1:]; u[0] += 0.3 * v[0]",
    "other name": "u = v; u[-1] = u[0] * 0.6",
    "sometimes": "if v[0] > 0.6371:\n        v[-1] = 0.4 * v[0] * v[0]",
    "loop": "for k in range(1, len(v)):\n        v[k] += 0.2 * v[k - 1]",
    "own": "v = v * 0.9\n    v[0] = v[1] * v[0]",
    "own sometimes": "if v[0] > 0.6371:\n        v = v * 0.9\n    v[0] = v[0] * v[0]",
    "behind": "u = v\n    v = v * 0.9\n    u[0] = v[0] * 0.5",
}
INNER = {"same": "v", "rest": "v[1:]", "turned": "v[::-1]", "copy": "v * 1.1", "first": "v[:-1]", "row of two": "np.stack([v, v])[1]"}
RETURNED = {
    "number": ("0.7 * v[0]", "0.4 * v[0] + r", "r"),
    "itself": ("v", "v", "np.sum(r)"),
    "part": ("v[:1]", "v[:1]", "r[0]"),
    "deeper": ("v", "r", "np.sum(r)"),
    "new": ("v * 2.0", "r * 0.5", "np.sum(r)"),
    "pair": ("(v, v[0])", "(v, r[1] * v[-1])", "r[1] + r[0][0]"),
    "nothing": ("None", "None", "0.0"),
    "one of two": ("v", "v if v[0] > 0.3371 else v * 2.0", "np.sum(r)"),
}
AFTER = {
    "read": "",
    "write to it": "y[0] = y[0] * 3.0",
    "write to the result": "r = r * 1.0 if isinstance(r, float) else r\n    whole = r[0] if isinstance(r, tuple) else r\n    if isinstance(whole, np.ndarray):\n        whole[0] = 7.0",
    "call again": "r2 = h({passed}, n - 1)",
}


def program(argument: str, store: str, inner: str, returned: str, after: str) -> str:
    """A program: a recursive function, called with something that it writes to, of which all is read afterwards."""
    initial, passed = ARGUMENTS[argument]
    base, end, read = RETURNED[returned]
    later = AFTER[after].format(passed=passed)
    return f"""
def h(v, n):
    if n == 0 or len(v) < 3:
        return {base}
    {STORES[store]}
    r = h({INNER[inner]}, n - 1)
    v[-1] += 0.1
    return {end}

def f(x):
    {initial}
    n = len(x) - 2
    part = y[1:]
    r = h({passed}, n)
    {later}
    return {read} + np.sum(y * np.arange(1.0, 1.0 + y.size).reshape(y.shape)) + np.sum(part ** 2)
"""


CASES = list(itertools.product(ARGUMENTS, STORES, INNER, RETURNED, AFTER))
X = np.array([0.7, 1.1, 0.4, 0.9, 0.6])
#: what the derivative of a derivative does not follow: stores that the caller sees
FIRST_ORDER = ("memory of results", "an array from outside", "global counter", "another one that reads")
#: known not to be followed twice: a loop that takes what was saved in a branch
NOT_TWICE = ("merge sort",)


@pytest.mark.parametrize("case", random.Random(5).sample(CASES, 400), ids="; ".join)
@pytest.mark.sweep(30)
def test_what_is_handed_over_and_written_to(case):
    assert verdict(program(*case), [X]) in ("right", "refused")


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("argument", [a for a in ARGUMENTS if a != "ravelled"])
@pytest.mark.sweep(4)
def test_a_plain_recursion_is_followed(argument, store):
    assert verdict(program(argument, store, "rest", "number", "write to it"), [X]) == "right"


@pytest.mark.parametrize("name", RIGHT)
def test_programs_that_are_followed(name):
    assert verdict(RIGHT[name], [X], stores=False) == "right"


@pytest.mark.parametrize("name", REFUSED)
def test_programs_that_are_refused(name):
    cause, text = REFUSED[name]
    assert verdict(text, [X], stores=False) == "refused"
    with pytest.raises(symgrad.SymgradError, match=cause):
        symgrad.grad(function_of(HEAD + text))(X)


@pytest.mark.parametrize("name", RAISING)
def test_programs_that_raise(name):
    assert verdict(RAISING[name], [X]) == "raises"


@pytest.mark.parametrize("name", NEVER_WRONG)
def test_programs_that_are_right_or_refused(name):
    assert verdict(NEVER_WRONG[name], [X]) in ("right", "refused")


@pytest.mark.parametrize("name", [name for name in RIGHT if not name.startswith((*FIRST_ORDER, *NOT_TWICE))])
@pytest.mark.sweep(3)
def test_second_derivative(name):
    slope = symgrad.grad(function_of(HEAD + RIGHT[name]))
    weights, step = np.array([0.3, -0.5, 0.8, 0.2, 1.1]), 1e-5
    differences = [(slope(X + s) @ weights - slope(X - s) @ weights) / (2 * step) for s in step * np.eye(5)]
    np.testing.assert_allclose(symgrad.grad(lambda x: slope(x) @ weights)(X), differences, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.sweep(4)
def test_where_a_kernel_is_asked_for(name):
    pytest.importorskip("numba")
    f = function_of(HEAD + RIGHT[name])
    np.testing.assert_allclose(symgrad.grad(f, jit="auto")(X.copy()), symgrad.grad(f)(X.copy()), rtol=1e-9)


def test_the_text_hands_the_array_back():
    text = symgrad.grad(function_of(HEAD + RIGHT["the argument itself"])).source(X)
    assert "value, v_1, box = h_forward(v[1:])" in text
    assert "v[1:] = v_1" in text


def test_what_is_only_read_is_not_copied():
    def solve(U, b, x, i):
        if i < 0:
            return
        x[i] = (b[i] - np.sum(x)) * U[i, i]
        solve(U, b, x, i - 1)

    def f(b):
        U, x = np.outer(b, b), np.zeros(b.shape)
        solve(U, b, x, int(b[0] * 6.0))
        return np.sum(x**2)

    text = symgrad.grad(f).source(X)
    assert "U = U.copy()" not in text
    assert "b = b.copy()" not in text


#: two arguments, of which the second one is written to in a recursion
SHARED = {
    "whole": "h(y, n)",
    "a part": "h(y[1:], n)",
    "in a loop": "for k in range(n):\n        h(y, k)",
    "around": """def g(k):
        if k > 0:
            y[0] *= 0.5
            g(k - 1)
    g(n)""",
    "one of two": "z = y if x[0] > 0.5371 else x * 2.0\n    h(z, n)",
    "bound anew": "y = y if x[0] > 0.5371 else x * 2.0\n    h(y, n)\n    h(y, n)",
    "what a call gives": "z = h(y, n)\n    h(z, n)",
    "on a path": "if x[1] > 0.5371:\n        h(y, n)",
}


@pytest.mark.parametrize("name", SHARED)
def test_an_array_that_is_two_arguments(name):
    text = f"""
def h(v, n):
    if n == 0:
        return v
    v[0] *= 0.9
    return h(v, n - 1)

def f(x, y):
    n = int(x[1] * 3.0)
    {SHARED[name]}
    return x @ x + y @ y
"""
    f = function_of(HEAD + text)
    slopes = symgrad.value_and_grad(f, wrt=("x", "y"))
    assert slopes(X.copy(), X * 1.5)[0] == pytest.approx(f(X.copy(), X * 1.5))
    array, other = X.copy(), X.copy()
    try:
        value, _ = slopes(array, array)
    except symgrad.SymgradError:
        return
    assert value == pytest.approx(f(other, other))
