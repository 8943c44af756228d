"""Compile-time constants: computed integers, dtypes, the element of a set, names of bounds."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad
from tests.against_numpy import function_of, judged

HEAD = "import operator\nimport numpy as np\nTABLE = {0: 2.0, 1: 3.0, 'a': 4.0}\ndef axis_of(x, axis=-1):\n    return axis % x.ndim\n"
#: bodies of a function of a matrix and an integer
BODIES = [
    "return np.sum(np.moveaxis(x, k % x.ndim, 0), axis=0)", "return np.moveaxis(x, int(k), 0)", "return np.moveaxis(x, operator.index(k), 0)",
    "if k < 0:\n    k = k + x.ndim\nreturn np.sum(x, axis=k)", "axis = k if k is not None else 0\nreturn np.cumsum(x, axis=axis)",
    "s = x.shape\nreturn np.sum(x) * len(s[:k] + s[k + 1:])", "return np.sum(x, axis=axis_of(x, k))", "return np.sum(x, axis=axis_of(x))",
    "return np.sum(x, axis=(k, 1 - k) if k in (0, 1) else 0)", "d = {0: x, 1: x * x}\nreturn d[k % 2]", "return x * TABLE[k % 2]",
    "d = {}\nd[k + 1] = x\nreturn d[k + 1] * 2", "n = x.ndim\nif not -n <= k < n:\n    raise ValueError(k)\nreturn np.take(x, 0, axis=(k + n) % n)",
    "return np.expand_dims(x, abs(k))", "return np.swapaxes(x, k, -1 - k)", "return np.roll(x, 1, axis=min(k, 1))",
    "y = np.sin(x)\nreturn (y, y * 2)[0] if k else y", "if k > 0:\n    s = x, x * 2\nelse:\n    s = x * 3\nreturn s[0]",
    "s = np.linalg.svd(x, full_matrices=k != 0)[1]\nreturn s", "return x if np.allclose(x, x + 0.01 * k, atol=0.005) else x * x",
    "return np.where(np.isclose(x, 0.9, rtol=0.4 * abs(x[0, 0]) + k * k), x, x * x)", "return x[np.isclose(x, x, atol=abs(x[0, 0]), equal_nan=True)]",
    "return x * x.nbytes + x.itemsize + x.ndim",
    # dtypes
    "return x.astype(np.result_type(x, np.float32))", "return np.zeros(3, dtype=np.result_type(x, 1.0)) + x[0, 0]",
    "return x * (2.0 if np.issubdtype(x.dtype, np.floating) else 3.0)", "return np.asarray(x, dtype=np.promote_types(np.float32, x.dtype))",
    "return np.zeros(2, np.common_type(x)) + x[0]", "return x * (2.0 if np.iterable(x) else 3.0)", "return x if np.iterable(k) else x * x",
    "return x * (2.0 if np.iterable(np.array(1.5)) else 3.0)", "return x * (2.0 if np.iterable(np.sum(x, keepdims=True)[0, 0]) else 3.0)",
    "return x * (1.5 if np.can_cast(np.float32, x.dtype) else 2.5)",
    # the rest
    "return x * set(isinstance(a, np.ndarray) for a in (x, x * 2)).pop()", "s = {2.0}\nv = s.pop()\nreturn x * v * (len(s) + 1)",
    "return x[0] * np.arange(stop=2)", "return x[0] * np.arange(1, stop=3)", "return x[0] * np.arange(start=0, stop=4, step=2, dtype=float)",
    "return x[0] * np.arange(2, step=1)", "return x[0] * np.arange(0, stop=2, step=None)",
    "a, b = np.atleast_1d(x[0, 0], x[1])\nreturn a + b", "a, b, c = np.atleast_2d(x[0, 0], x[1], x)\nreturn a + b + c",
    "return np.asarray(x, order='c') * 2", "return np.array(x, copy=None) * 2", "return np.array(x, copy=np._CopyMode.IF_NEEDED) * x",
    "return x.astype(float, copy=True) * x", "return np.require(x, float, ['C', 'W']) * x",
]  # fmt: skip


@pytest.mark.parametrize("k", [0, 1, -1])
@pytest.mark.parametrize("body", BODIES)
def test_what_must_be_known_is_found(body: str, k: int) -> None:
    text = "".join(f"    {line}\n" for line in body.splitlines())
    function = function_of(f"{HEAD}def f(x, k):\n{text}")
    verdict, why = judged(function, {"x": np.array([[0.5, 1.2], [0.9, -0.4]]), "k": k}, by_grad=False)
    assert verdict in ("right", "not taken"), why


def test_a_new_value_makes_new_code() -> None:
    function = function_of(f"{HEAD}def f(x, k): return np.sum(np.cumsum(x, axis=k % x.ndim)[0] * [1.0, 2.0])\n")
    gradient = symgrad.grad(function)
    x = np.array([[0.5, 1.2], [0.9, -0.4]])
    for k in (0, 1, -1, 0, 3, 1):
        steps = [(function(x + h, k) - function(x - h, k)) / 2e-6 for h in 1e-6 * np.eye(4).reshape(4, 2, 2)]
        np.testing.assert_allclose(gradient(x, k).ravel(), steps, rtol=1e-6)


#: functions that call themselves by name, or that share their text with one that is running
CALLED = {
    "a call on a path that is not taken": "def g(v, again=False): return g(v * 2) if again else v * v\ndef f(x, k): return g(x)\n",
    "given something that no number is": "def g(v, h, again=False): return g(v, h) if again else h(v)\ndef f(x, k): return g(x, np.sin)\n",
    "decorated twice": "def by(c):\n    def d(h):\n        def w(*a): return h(*a) * c\n        return w\n    return d\n"
    "@by(2)\ndef one(v): return v * v\n@by(3)\ndef two(v): return one(v) + one(v + 1)\ndef f(x, k): return two(x)\n",
    "made anew each time": "def f(x, k):\n    def step(n):\n        def inner(y): return y * x if n <= 0 else step(n - 1)(y * x)\n        return inner\n"
    "    return step(3)(x)\n",
    "by a number": "def g(v, n): return v if n <= 1 else v * g(v, n - 1)\ndef f(x, k): return g(x, 4)\n",
    "two of each other": "def even(v, n): return v if n == 0 else odd(v * 2, n - 1)\ndef odd(v, n): return v if n == 0 else even(v * v, n - 1)\n"
    "def f(x, k): return even(x, 3)\n",
    "nested": "def f(x, k):\n    def g(v, n): return v if n <= 0 else g(v * x, n - 1)\n    return g(x, 2) + g(x, 1)\n",
}  # fmt: skip


@pytest.mark.parametrize("name", CALLED)
def test_functions_that_call_themselves_or_seem_to(name: str) -> None:
    function = function_of(HEAD + CALLED[name])
    assert judged(function, {"x": np.array([0.5, 1.2]), "k": 0}) == ("right", "")


def test_functions_of_one_text_without_end_are_refused() -> None:
    text = "def f(x):\n    def step(g):\n        def inner(y): return step(inner)(y)\n        return inner\n    return step(None)(x)\n"
    with pytest.raises(symgrad.SymgradError, match="endlessly"):
        symgrad.grad(function_of(text))(1.5)
