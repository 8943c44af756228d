"""Lists of numbers as arguments and gradients of kernels: equal to the NumPy code, with the same classes."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import NotCompiled

pytest.importorskip("numba")

COEFFICIENTS = [0.1 * k - 0.4 for k in range(12)]
X = np.linspace(0.2, 1.5, 12)


def horner(c, x):
    total = 0.0
    for k in range(len(c)):
        total = total * x[0] + c[k] ** 2
    return total


def gone_over(c, x):
    return sum(v * v for v in c) + max(c) * x[1]


def as_array(c, x):
    return np.sum(np.array(c) * x) + np.dot(c, x)


def from_the_end(c, x):
    return c[-1] * x[0] + c[len(c) - 2] * c[-3]


def copied_and_changed(c, x):
    d = list(c)
    d[0] = x[0] * d[1]
    d.append(x[1])
    return sum(v * v for v in d)


def in_pairs(c, x):
    return sum(a * b for a, b in zip(c, x, strict=True)) + sum(a * b for a, b in zip(c, c[1:], strict=False))


def word(value: Any) -> str:
    """What a case is called by."""
    return getattr(value, "__name__", str(value))


FUNCTIONS = (horner, gone_over, as_array, from_the_end, copied_and_changed, in_pairs)


def derivative(f: Callable[..., Any], args: list[Any], jit: bool, order: int) -> Any:
    if order == 2:
        inner = symgrad.grad(f, 1)
        return symgrad.grad(lambda c, x: np.sum(inner(c, x) ** 2), 1)(*args)
    return symgrad.value_and_grad(f, (0, 1), jit=jit)(*args)


@pytest.mark.sweep(3)
@pytest.mark.parametrize(("f", "kind", "length"), list(product(FUNCTIONS, (list, tuple), (9, 12))), ids=word)
def test_gradients_of_lists_are_those_of_numpy_code(f: Callable[..., Any], kind: type, length: int) -> None:
    args = [kind(COEFFICIENTS[:length]), X[:length]]
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotCompiled)
        (value, (c_grad, x_grad)), (own, (c_own, x_own)) = (derivative(f, copy.deepcopy(args), jit, 1) for jit in (True, False))
    assert value == pytest.approx(own, rel=1e-13)
    assert type(c_grad) is type(c_own)
    np.testing.assert_allclose(c_grad, c_own, rtol=1e-12)
    np.testing.assert_allclose(x_grad, x_own, rtol=1e-12)
    steps = [kind(v + s for v, s in zip(args[0], row, strict=True)) for row in 1e-6 * np.eye(length)]
    back = [kind(v - s for v, s in zip(args[0], row, strict=True)) for row in 1e-6 * np.eye(length)]
    slopes = [(f(up, args[1]) - f(down, args[1])) / 2e-6 for up, down in zip(steps, back, strict=True)]
    np.testing.assert_allclose(c_grad, slopes, rtol=1e-5, atol=1e-7)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("f", FUNCTIONS, ids=word)
def test_pullbacks_of_lists_may_be_called_again_when_the_list_has_changed(f: Callable[..., Any]) -> None:
    def changed_later(jit: bool) -> list[Any]:
        c = list(COEFFICIENTS)
        out, pullback = symgrad.vjp(f, c, X.copy(), jit=jit)
        first = pullback(1.0)
        c[3] = 7.0
        return [out, first, pullback(2.0)]

    with warnings.catch_warnings():
        warnings.simplefilter("error", NotCompiled)
        (out, first, second), (own, own_first, own_second) = changed_later(True), changed_later(False)
    assert out == pytest.approx(own, rel=1e-13)
    for got, expected in ((first, own_first), (second, own_second)):
        np.testing.assert_allclose(got[0], expected[0], rtol=1e-12)
        np.testing.assert_allclose(got[1], expected[1], rtol=1e-12)


def chosen(places, x):
    return sum(x[i] ** 2 for i in places)


def masked(keep, x):
    return sum(v * v for k, v in zip(keep, x, strict=True) if k)


def test_lists_of_integers_and_bools_are_taken() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotCompiled)
        for f, others in ((chosen, [3, 1, 4, 1, 5, 9, 2, 6, 5]), (masked, [True, False] * 6)):
            np.testing.assert_allclose(symgrad.grad(f, 1, jit=True)(others, X), symgrad.grad(f, 1)(others, X))


def test_what_raises_in_a_kernel_raises_what_python_raises() -> None:
    df = symgrad.grad(chosen, 1, jit=True)
    assert df([3, 1, 4, 1, 5, 9, 2, 6, 5], X).shape == (12,)
    with pytest.raises(IndexError):
        df([3, 1, 4, 1, 5, 9, 2, 6, 50], X)
    with pytest.raises(IndexError):
        df([3, 1, 4, 1, 5, 9, 2, 6, 10**30], X)


def test_a_list_whose_items_are_of_another_kind_later() -> None:
    df, own = symgrad.grad(horner, (0, 1), jit="auto"), symgrad.grad(horner, (0, 1))
    for c in (COEFFICIENTS, list(np.array(COEFFICIENTS)), [1.5] * 10, [0.5] * 3):
        (got, _), (expected, _) = df(c, X), own(c, X)
        np.testing.assert_allclose(got, expected)


def test_a_saved_kernel_takes_lists(tmp_path: Path) -> None:
    path = tmp_path / "saved.py"
    symgrad.save(symgrad.grad(horner, (0, 1), jit=True), path, COEFFICIENTS, X)
    space: dict[str, Any] = {"__name__": "saved"}
    exec(compile(path.read_text(), str(path), "exec"), space)  # noqa: S102
    got, expected = space["horner_grad"](COEFFICIENTS, X), symgrad.grad(horner, (0, 1))(COEFFICIENTS, X)
    np.testing.assert_allclose(got[0], expected[0])
    np.testing.assert_allclose(got[1], expected[1])


def told(x, verbose):
    total = 0.0
    for k in range(len(x)):
        total += x[k] ** 2
        if verbose:
            print(f"{k}: {total:.2f}")
    return total


def test_what_is_printed_on_some_paths_is_printed_by_numpy_code(capsys: pytest.CaptureFixture[str]) -> None:
    df = symgrad.grad(told, jit=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotCompiled)
        np.testing.assert_allclose(df(X[:2], False), 2 * X[:2])
        assert capsys.readouterr().out == ""
        np.testing.assert_allclose(df(X[:2], True), 2 * X[:2])
    assert capsys.readouterr().out == "0: 0.04\n1: 0.14\n"


def repeated(x, n):
    m = np.outer(x, x)
    rows = np.sum(np.repeat(m, n, axis=0) * np.arange(n * len(x))[:, None])
    return rows + np.sum(np.repeat(m[:, None, :], 3, axis=1) ** 3) + np.sum(np.repeat(x, n)[1:] ** 2)


@pytest.mark.parametrize(("size", "count"), [(1, 2), (3, 1), (3, 2), (3, 5)])
def test_repeat_is_compiled(size: int, count: int) -> None:
    x = X[:size]
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotCompiled)
        got = symgrad.grad(repeated, jit=True)(x, count)
    np.testing.assert_allclose(got, symgrad.grad(repeated)(x, count), rtol=1e-12)
    slopes = [(repeated(x + s, count) - repeated(x - s, count)) / 2e-6 for s in 1e-6 * np.eye(size)]
    np.testing.assert_allclose(got, slopes, rtol=1e-5)


def counted_in_floats(x):
    total = 0.0
    for v in x:
        total += v * float(v > 0.5) + (v > 1.0) / 2
    return total


def test_bools_are_numbers() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotCompiled)
        np.testing.assert_allclose(symgrad.grad(counted_in_floats, jit=True)(X), (X > 0.5).astype(float))


def allowed(x, sizes):
    if len(x) not in sizes:
        raise ValueError("size")
    return np.sum(x**2) + (x[0] if 3 in sizes else 0.0)


def among(x, marks):
    return sum(v * v for v in x if v in marks)


def test_what_is_in_a_list() -> None:
    sizes = [2, 3, 5, 10, 20, 30, 50, 100, 200]
    df = symgrad.grad(allowed, jit=True)
    marks = [0.2, 1.5, *np.linspace(3.0, 4.0, 8).tolist()]
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotCompiled)
        np.testing.assert_allclose(df(X[:5], sizes), 2 * X[:5] + np.eye(5)[0])
        np.testing.assert_allclose(symgrad.grad(among, jit=True)(X, marks), symgrad.grad(among)(X, marks))
        with pytest.raises(ValueError, match="size"):
            df(X[:4], sizes)
    nan = float("nan")
    one = symgrad.value_and_grad(lambda x, marks: x * 2.0 if marks[0] in marks else x, jit="auto")
    assert one(1.0, [nan] * 9) == (2.0, 2.0)


def finite(x, y):
    return np.sum(np.nan_to_num(x / y, nan=0.5, posinf=2.0, neginf=-2.0) * x) + np.nan_to_num(x[0])


def mean_of_what_is_there(x, y):
    return np.nanmean(x) ** 2 + np.sum(np.nanmean(np.outer(y, x), axis=0) ** 2) + np.sum(np.nanmean(np.outer(y, y), axis=1, keepdims=True))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("f", [finite, mean_of_what_is_there], ids=word)
def test_what_is_not_finite(f: Callable[..., Any]) -> None:
    df, own = symgrad.value_and_grad(f, (0, 1), jit=True), symgrad.value_and_grad(f, (0, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotCompiled)
        for x in (X[:3], np.array([0.5, np.nan, 1.0]), np.array([np.nan] * 3), np.array([0.0, 1.0, -1.0])):
            for y in (np.array([1.0, 2.0, 4.0]), np.array([0.0, 2.0, 0.0])):
                (value, gradients), (expected, others) = df(x, y), own(x, y)
                np.testing.assert_allclose(value, expected, rtol=1e-12)
                np.testing.assert_allclose(gradients[0], others[0], rtol=1e-12)
                np.testing.assert_allclose(gradients[1], others[1], rtol=1e-12)


def items(x):
    m = np.outer(x, x)
    return m.item(1, -1) ** 2 + x[:1].item() * x.item(2) + m[:1, :1].item()


def test_items_are_compiled() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotCompiled)
        got = symgrad.grad(items, jit=True)(X)
    slopes = [(items(X + s) - items(X - s)) / 2e-6 for s in 1e-6 * np.eye(len(X))]
    np.testing.assert_allclose(got, slopes, rtol=1e-6, atol=1e-8)
