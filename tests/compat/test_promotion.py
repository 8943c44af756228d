"""Dtypes of operators and functions, of tensors and of variables, compared with PyTorch."""

from __future__ import annotations

import itertools
import operator
from typing import Any

import numpy as np
import pytest

import symgrad.compat.paddle as paddle
from symgrad.compat.paddle import static

OPERATORS = (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow)
DTYPES = ("int64", "int32", "float16", "float32", "float64")
NUMBERS = (2, 2.5)


def test_integers_beside_floats_are_floats() -> None:
    x = paddle.to_tensor([1, 2])
    for actual, expected in (
        (x * 2, "int64"), (x * 2.0, "float32"), (2.0 * x, "float32"), (x / 2, "float32"), (x / x, "float32"), (3 / x, "float32"),
        (x**2, "int64"), (x**0.5, "float32"), (2.0**x, "float32"), (x + True, "int64"), (x // 2, "int64"), (x % 2.0, "float32"),
        (x * paddle.to_tensor(np.ones(2, "float16")), "float16"), (paddle.to_tensor(np.ones(2)) - x, "float64"),
        (paddle.maximum(x, paddle.to_tensor([1.5, 0.5])), "float32"), (paddle.exp(x), "float32"), (paddle.square(x), "int64"),
        ((x > 1) * 0.5, "float32"),
    ):  # fmt: skip
        assert actual.dtype == np.dtype(expected)
    assert (x / 2).tolist() == [0.5, 1.0]


def test_the_default_dtype_is_what_they_become() -> None:
    paddle.set_default_dtype("float64")
    try:
        assert (paddle.to_tensor([1, 2]) * 0.5).dtype == np.float64
        assert paddle.sqrt(paddle.to_tensor([1, 2])).dtype == np.float64
    finally:
        paddle.set_default_dtype("float32")


def test_gradients_have_the_dtype_of_their_tensors() -> None:
    x, count = paddle.to_tensor(np.array([1.0, 2.0], "float16"), stop_gradient=False), paddle.to_tensor([3, 4])
    (x * count / 2).sum().backward()
    assert x.grad.dtype == np.float16
    assert x.grad.tolist() == [1.5, 2.0]


def test_variables_have_them_too() -> None:
    paddle.enable_static()
    try:
        main = static.Program()
        with static.program_guard(main, static.Program()):
            i, x = static.data("i", [2], "int64"), static.data("x", [2], "float32")
            results = [i * 2, i * 0.5, i / i, i * x, x**i, paddle.exp(i)]
        actual = static.Executor().run(main, {"i": np.array([1, 2]), "x": np.ones(2, "float32")}, results)
    finally:
        paddle.disable_static()
    assert [v.dtype for v in results] == [f.dtype for f in actual] == ["int64", *["float32"] * 5]


def test_they_are_those_of_torch() -> None:
    torch: Any = pytest.importorskip("torch")

    def dtype(function: Any, of: Any, argument: Any) -> str:
        return str(function(*[of(np.ones(2, v)) if isinstance(v, str) else v for v in argument]).dtype).removeprefix("torch.")

    tried = [pair for pair in itertools.product((*DTYPES, *NUMBERS), repeat=2) if any(isinstance(v, str) for v in pair)]
    for function, pair in itertools.product(OPERATORS, tried):
        assert dtype(function, paddle.to_tensor, pair) == dtype(function, torch.tensor, pair), (function, pair)
