"""product: dtypes x ranks x functions compared with PyTorch: promotion, bits, integers, in both modes."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad.compat.paddle as paddle
import symgrad.compat.paddle.nn.functional as F
from symgrad.compat.paddle import static
from symgrad.static import Executor

torch: Any = pytest.importorskip("torch")
INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
DTYPES = ("bool", *INTEGERS, "float16", "float32", "float64")
SHAPES: tuple[tuple[int, ...], ...] = ((), (3,), (2, 3))
PROMOTING: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "add": (operator.add, operator.add), "multiply": (operator.mul, operator.mul), "divide": (operator.truediv, operator.truediv),
    "maximum": (paddle.maximum, torch.maximum), "where": (lambda x, y: paddle.where(x == x, x, y), lambda x, y: torch.where(x == x, x, y)),
    "fmax": (paddle.fmax, torch.fmax), "hypot": (paddle.hypot, torch.hypot), "atan2": (paddle.atan2, torch.atan2),
}  # fmt: skip


def values(dtype: str, shape: tuple[int, ...]) -> Any:
    """Numbers that every dtype has, and that differ from element to element."""
    count = np.arange(int(np.prod(shape)))
    return np.asarray((count % 3 + 1) if dtype != "bool" else count % 2 == 0).reshape(shape).astype(dtype)


def name_of(tensor: Any) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def answer(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a call gives as (dtype, values); None for one that is refused."""
    try:
        actual = function(*arguments)
    except (TypeError, ValueError, RuntimeError, IndexError, NotImplementedError, OverflowError):
        return None
    return name_of(actual), actual.detach().numpy()


def agree(ours: Any, theirs: Any) -> bool:
    return bool(ours[0] == theirs[0] and ours[1].shape == theirs[1].shape and np.allclose(ours[1], theirs[1], rtol=1e-3, equal_nan=True))


@pytest.mark.parametrize("name", PROMOTING)
def test_the_dtype_of_two_tensors_is_that_of_torch(name: str) -> None:
    ours, theirs = PROMOTING[name]
    compared = 0
    for one, other, shape, second in itertools.product(DTYPES, DTYPES, SHAPES[:2], SHAPES):
        x, y = values(one, shape), values(other, second)
        expected = answer(theirs, torch.tensor(x), torch.tensor(y))
        if expected is None or {one, other} & {"float16"} and name in ("hypot", "atan2"):
            continue
        actual = answer(ours, paddle.to_tensor(x), paddle.to_tensor(y))
        assert actual is not None, (one, shape, other, second)
        assert agree(actual, expected), (one, shape, other, second, actual, expected)
        compared += 1
    assert compared > 150


COMPARISONS = (operator.eq, operator.lt, operator.ge)


@pytest.mark.parametrize("compare", COMPARISONS)
def test_comparisons_are_made_in_the_common_dtype(compare: Callable[..., Any]) -> None:
    for shape, second in itertools.product(SHAPES[:2], repeat=2):
        for one, other in itertools.product(("int64", "float32", "float64"), repeat=2):
            x, y = np.full(shape, 0.1).astype(one), np.full(second, 0.1).astype(other)
            expected = answer(compare, torch.tensor(x), torch.tensor(y))
            assert agree(answer(compare, paddle.to_tensor(x), paddle.to_tensor(y)), expected), (one, shape, other, second)


NUMBERS: tuple[Any, ...] = (True, 2, 2.5)


@pytest.mark.parametrize("swapped", [False, True])
def test_python_numbers_have_no_width(swapped: bool) -> None:
    for dtype, shape, number, function in itertools.product(DTYPES, SHAPES, NUMBERS, (operator.add, operator.mul, operator.truediv)):
        array = values(dtype, shape)
        expected = answer(lambda x, n=number, f=function: f(n, x) if swapped else f(x, n), torch.tensor(array))
        actual = answer(lambda x, n=number, f=function: f(n, x) if swapped else f(x, n), paddle.to_tensor(array))
        if expected is not None:
            assert actual is not None
            assert agree(actual, expected), (dtype, shape, number, function, actual, expected)


@pytest.mark.parametrize("dtype", ["int64", "bool", "float32", "float64", "complex64", "complex128"])
def test_complex_numbers_have_no_width_either(dtype: str) -> None:
    for shape, function, swapped in itertools.product(SHAPES, (operator.add, operator.mul, operator.truediv), (False, True)):
        array = np.ones(shape, dtype)
        expected = answer(lambda x, f=function, s=swapped: f(2j, x) if s else f(x, 2j), torch.tensor(array))
        actual = answer(lambda x, f=function, s=swapped: f(2j, x) if s else f(x, 2j), paddle.to_tensor(array))
        assert agree(actual, expected), (shape, function, swapped, actual, expected)


def test_gradients_have_the_dtypes_and_shapes_of_their_tensors() -> None:
    for one, other, shape, second in itertools.product(("float32", "float64"), ("float32", "float64"), SHAPES, SHAPES):

        def run(package: Any) -> list[Any]:
            arrays = values(one, shape), values(other, second)  # noqa: B023 (called at once)
            actual = [
                paddle.to_tensor(a, stop_gradient=False) if package is paddle else torch.tensor(a, requires_grad=True) for a in arrays
            ]
            (actual[0] * actual[1] + actual[1]).sum().backward()
            return [(name_of(m.grad), m.grad.numpy().tolist()) for m in actual]

        assert run(paddle) == run(torch), (one, shape, other, second)


# ------------------------------------------------------------------ bits

BITS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "&": (operator.and_, torch.bitwise_and), "|": (operator.or_, torch.bitwise_or), "^": (operator.xor, torch.bitwise_xor),
    "<<": (operator.lshift, torch.bitwise_left_shift), ">>": (operator.rshift, torch.bitwise_right_shift),
}  # fmt: skip
NAMED = {"&": paddle.bitwise_and, "|": paddle.bitwise_or, "^": paddle.bitwise_xor, "<<": paddle.bitwise_left_shift,
         ">>": paddle.bitwise_right_shift}  # fmt: skip


def whole(dtype: str, shape: tuple[int, ...], start: int) -> Any:
    """Integers of both signs, or bools."""
    count = np.arange(int(np.prod(shape))) * 5 + start
    return np.asarray(count % 3 == 0 if dtype == "bool" else count).reshape(shape).astype(dtype)


@pytest.mark.parametrize("sign", BITS)
def test_operators_on_bits(sign: str) -> None:
    ours, theirs = BITS[sign]
    for one, other, shape, second in itertools.product(("bool", *INTEGERS), ("bool", *INTEGERS), SHAPES[:2], SHAPES):
        x, y = whole(one, shape, 0 if one == "uint8" else -4), whole(other, second, 1)
        expected = answer(theirs, torch.tensor(x), torch.tensor(y))
        for function in (ours, NAMED[sign], getattr(type(paddle.to_tensor(1)), NAMED[sign].__name__, NAMED[sign])):
            actual = answer(function, paddle.to_tensor(x), paddle.to_tensor(y))
            assert (actual is None) == (expected is None or sign in "<<>>" and "bool" in (one, other)), (one, other)
            assert actual is None or agree(actual, expected), (one, shape, other, second, actual, expected)


@pytest.mark.parametrize("sign", BITS)
def test_operators_on_bits_beside_python_numbers_and_arrays(sign: str) -> None:
    ours, theirs = BITS[sign]
    for dtype in ("bool", *INTEGERS):
        if dtype == "bool" and sign in "<<>>":
            continue
        array = whole(dtype, (3,), 1)
        expected = answer(theirs, torch.tensor(array), 2)
        assert agree(answer(ours, paddle.to_tensor(array), 2), expected), dtype
        assert agree(answer(lambda x: ours(np.full(3, 2, x.dtype), x), paddle.to_tensor(array)),
                     answer(lambda x: theirs(torch.full((3,), 2, dtype=x.dtype), x), torch.tensor(array))), dtype  # fmt: skip
        assert agree(answer(lambda x: ours(2, x), paddle.to_tensor(array)), answer(lambda x: theirs(2, x), torch.tensor(array))), dtype


@pytest.mark.parametrize("dtype", ["bool", *INTEGERS])
def test_not_of_bits(dtype: str) -> None:
    for shape in SHAPES:
        array = whole(dtype, shape, 1)
        assert agree(answer(operator.invert, paddle.to_tensor(array)), answer(operator.invert, torch.tensor(array)))


@pytest.mark.parametrize("sign", [*BITS, "~"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("other", [1.5, None, "same"])
def test_floats_have_no_bits(sign: str, dtype: str, other: Any) -> None:
    x = paddle.to_tensor(np.ones(3, dtype))
    i = paddle.to_tensor(np.ones(3, "int64"))
    if sign == "~":
        with pytest.raises(TypeError, match="must hold integers"):
            ~x
        return
    ours, _ = BITS[sign]
    passed = {1.5: (i, 1.5), None: (i, x), "same": (x, x)}[other]
    for pair in (passed, passed[::-1]):
        with pytest.raises(TypeError, match="must hold integers"):
            ours(*pair)


# ------------------------------------------------------------------ integers


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("shape", SHAPES)
def test_scale_and_clip_of_integers_stay_integers(dtype: str, shape: tuple[int, ...]) -> None:
    array = values(dtype, shape)
    x = paddle.to_tensor(array)
    for actual, expected in (
        (paddle.scale(x, 2.0, 1.0), array * 2 + 1), (paddle.scale(x, 2, 1, bias_after_scale=False), (array + 1) * 2),
        (paddle.clip(x, 2, 3), np.clip(array, 2, 3)), (paddle.clip(x, min=2.0), np.clip(array, 2, None)), (paddle.clip(x, max=2), np.clip(array, None, 2)),
        (paddle.clip(x), array), (paddle.increment(x), array + 1), (paddle.round(x, 2), array), (paddle.round(x), array),
    ):  # fmt: skip
        assert actual.dtype == np.dtype(dtype)
        assert np.array_equal(actual.numpy(), expected)
    for call in (
        lambda: paddle.scale(x, 2.5),
        lambda: paddle.scale(x, 1.0, 0.5),
        lambda: paddle.clip(x, 0.5),
        lambda: paddle.clip(x, max=1.5),
    ):
        with pytest.raises(ValueError, match="cast the tensor to a dtype of floats first"):
            call()


FLOATS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    **{name: (getattr(paddle, name), getattr(torch, name)) for name in (
        "exp", "log1p", "sqrt", "sin", "tanh", "asinh", "erf", "rad2deg", "reciprocal", "rsqrt", "lgamma", "digamma")},
    "logcumsumexp": (lambda x: paddle.logcumsumexp(x, 0), lambda x: torch.logcumsumexp(x.float(), 0)),
    "logsumexp": (lambda x: paddle.logsumexp(x, 0), lambda x: torch.logsumexp(x, 0)),
    "mean": (paddle.mean, lambda x: torch.mean(x.float())), "std": (paddle.std, lambda x: torch.std(x.float())),
    "median": (paddle.median, lambda x: torch.quantile(x.float(), 0.5)), "quantile": (lambda x: paddle.quantile(x, 0.25), lambda x: torch.quantile(x.float(), 0.25)),
    "norm": (paddle.linalg.norm, lambda x: torch.linalg.norm(x.float())), "sigmoid": (F.sigmoid, torch.sigmoid),
    "softmax": (F.softmax, lambda x: torch.softmax(x.float(), -1)), "log_softmax": (F.log_softmax, lambda x: torch.log_softmax(x.float(), -1)),
    "silu": (F.silu, lambda x: torch.nn.functional.silu(x.float())), "gelu": (F.gelu, lambda x: torch.nn.functional.gelu(x.float())),
    "celu": (F.celu, lambda x: torch.nn.functional.celu(x.float())), "nanmean": (paddle.nanmean, lambda x: torch.nanmean(x.float())),
}  # fmt: skip


@pytest.mark.parametrize("name", FLOATS)
def test_functions_whose_results_are_floats(name: str) -> None:
    ours, theirs = FLOATS[name]
    for dtype, shape in itertools.product(("bool", *INTEGERS), SHAPES[1:]):
        array = values(dtype, shape) if dtype != "bool" else np.ones(shape, bool)
        assert agree(answer(ours, paddle.to_tensor(array)), answer(theirs, torch.tensor(array))), (dtype, shape)


# ------------------------------------------------------------------ programs


def test_variables_have_the_dtypes_and_values_of_tensors() -> None:
    functions: list[Callable[..., Any]] = [
        operator.add, operator.truediv, operator.and_, operator.xor, operator.rshift, paddle.maximum,
        lambda x, y: paddle.clip(x, 1, 2) + y, lambda x, y: paddle.scale(x, 3) * y, lambda x, y: ~x | y, lambda x, y: paddle.logcumsumexp(x, 0) + y,
        lambda x, y: paddle.where(x > y, x, y), lambda x, y: paddle.mean(x) + y, lambda x, y: x == y,
    ]  # fmt: skip
    for one, other, second in itertools.product(("int32", "int64", "float32"), ("int64", "float32", "float64"), SHAPES[:2]):
        x, y = values(one, (3,)), values(other, second)
        reference = [answer(f, paddle.to_tensor(x), paddle.to_tensor(y)) for f in functions]
        paddle.enable_static()
        try:
            with static.program_guard(static.Program(), static.Program()):
                a, b = static.data("a", [3], one), static.data("b", list(second), other)
                results = [f(a, b) for f, known in zip(functions, reference, strict=True) if known is not None]
                actual = Executor().run(static.default_main_program(), {"a": x, "b": y}, results)
        finally:
            paddle.disable_static()
        known = [k for k in reference if k is not None]
        for variable, value, (dtype, expected) in zip(results, actual, known, strict=True):
            assert (variable.dtype.name, value.dtype.name) == (dtype, dtype)
            assert np.allclose(value, expected, rtol=1e-5)
            assert list(variable.shape) == list(expected.shape)
