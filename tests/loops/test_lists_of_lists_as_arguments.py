"""Lists of lists as arguments and gradients of kernels, whatever the lengths."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import NotCompiled

pytest.importorskip("numba")

SQUARE = [[0.1 * i - 0.3 * j + 0.05 * i * j for j in range(9)] for i in range(9)]
RAGGED = [[0.2 * i - 0.1 * j for j in range(i % 4)] for i in range(11)]
X = np.linspace(0.2, 1.5, 9)


def squares(rows, x):
    total = 0.0
    for row in rows:
        for v in row:
            total += v * v * x[0]
    return total


def by_indices(rows, x):
    total = 0.0
    for i in range(len(rows)):
        for j in range(len(rows[i])):
            total += rows[i][j] ** 2 * x[i % len(x)]
    return total


def sums_of_rows(rows, x):
    sums = [sum(row) for row in rows]
    return max(sums) * x[1] + sum(s * s for s in sums)


def changed_copy(rows, x):
    table = [list(row) for row in rows]
    for row in table:
        row.append(x[2])
    table[0][0] = table[-1][-1] * 2.0
    return sum(v * v for row in table for v in row)


def with_weights(rows, x):
    total = 0.0
    for row, w in zip(rows, x):
        total += w * sum(math_row(v) for v in row)
    return total + len(rows) * x[0]


def math_row(v):
    return np.tanh(v)


def as_matrix(rows, x):
    return np.sum(np.array(rows) @ x)


FUNCTIONS = (squares, by_indices, sums_of_rows, changed_copy, with_weights)


def word(value: Any) -> str:
    """What a case is called by."""
    return str(value.__name__)


def differences(f: Callable[..., Any], rows: list[list[float]], x: Any) -> list[list[float]]:
    """The gradient with respect to the lists, by differences."""

    def at(i: int, j: int, step: float) -> Any:
        moved = copy.deepcopy(rows)
        moved[i][j] += step
        return f(moved, x)

    return [[(at(i, j, 1e-6) - at(i, j, -1e-6)) / 2e-6 for j in range(len(row))] for i, row in enumerate(rows)]


def assert_alike(got: list[list[float]], expected: list[list[float]], **tolerance: float) -> None:
    """The same lists of numbers, by lengths and values."""
    assert [type(row) for row in got] == [list] * len(expected)
    assert [len(row) for row in got] == [len(row) for row in expected]
    np.testing.assert_allclose(sum(got, []), sum(expected, []), **tolerance)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("f", FUNCTIONS, ids=word)
def test_gradients_are_those_of_numpy_code(f: Callable[..., Any]) -> None:
    derivative, plain = symgrad.value_and_grad(f, (0, 1), jit=True), symgrad.value_and_grad(f, (0, 1))
    for rows in (SQUARE, RAGGED[1:] if f is changed_copy else RAGGED, [[0.5]] * 12, [[1.0, 2.0]] * 9 + [[]]):
        before = copy.deepcopy(rows)
        with warnings.catch_warnings():
            warnings.simplefilter("error", NotCompiled)
            value, (rows_grad, x_grad) = derivative(rows, X)
        own, (rows_own, x_own) = plain(rows, X)
        assert rows == before
        assert value == pytest.approx(own, rel=1e-13)
        assert_alike(rows_grad, rows_own, rtol=1e-12)
        np.testing.assert_allclose(x_grad, x_own, rtol=1e-12)
        if rows is SQUARE:
            assert_alike(rows_grad, differences(f, rows, X), rtol=1e-5, atol=1e-7)
    assert sum(map(len, derivative._table.entries.values())) == 1


def test_lists_of_lists_as_an_array() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotCompiled)
        rows_grad, x_grad = symgrad.grad(as_matrix, (0, 1), jit=True)(SQUARE, X)
    assert_alike(rows_grad, [list(X)] * 9, rtol=1e-13)
    np.testing.assert_allclose(x_grad, np.sum(SQUARE, axis=0), rtol=1e-12, atol=1e-14)


def neighbours(links, x):
    total = 0.0
    for i in range(len(links)):
        for j in links[i]:
            total += (x[i] - x[j]) ** 2
    return total


def test_lists_of_indices() -> None:
    links = [[(i + k) % 9 for k in range(1, 1 + i % 3)] + [0] for i in range(9)]
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotCompiled)
        derivative = symgrad.grad(neighbours, 1, jit=True)
        np.testing.assert_allclose(derivative(links, X), symgrad.grad(neighbours, 1)(links, X), rtol=1e-12)
    links[4][0] = 9
    with pytest.raises(IndexError):
        derivative(links, X)


def test_tangents_of_lists_of_lists() -> None:
    tangent = [[0.1 * i + j for j in range(len(row))] for i, row in enumerate(SQUARE)]
    got = symgrad.jvp(squares, jit="auto")((SQUARE, X), (tangent, X))
    expected = symgrad.jvp(squares)((SQUARE, X), (tangent, X))
    np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_pullbacks_of_lists_of_lists_run_as_numpy_code() -> None:
    with pytest.warns(NotCompiled, match="a list of lists of floats"):
        out, pullback = symgrad.vjp(squares, SQUARE, X, jit=True)
    own, expected = symgrad.vjp(squares, SQUARE, X)
    assert out == own
    for got, other in zip(pullback(2.0), expected(2.0), strict=True):
        np.testing.assert_allclose(got, other)


def test_lists_of_lists_in_a_dict() -> None:
    def loss(model):
        total = model["bias"]
        for row in model["rows"]:
            total = total + sum(v**3 for v in row)
        return total

    model = {"rows": SQUARE, "bias": 0.5}
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotCompiled)
        got = symgrad.grad(loss, jit=True)(model)
    expected = symgrad.grad(loss)(model)
    assert got["bias"] == expected["bias"] == 1.0
    assert_alike(got["rows"], expected["rows"], rtol=1e-12)


def test_a_saved_kernel_takes_lists_of_lists(tmp_path: Path) -> None:
    path = tmp_path / "saved.py"
    symgrad.save(symgrad.grad(by_indices, (0, 1), jit=True), path, RAGGED, X)
    space: dict[str, Any] = {"__name__": "saved"}
    exec(compile(path.read_text(), str(path), "exec"), space)  # noqa: S102
    got, expected = space["by_indices_grad"](RAGGED, X), symgrad.grad(by_indices, (0, 1))(RAGGED, X)
    assert_alike(got[0], expected[0], rtol=1e-12)
    np.testing.assert_allclose(got[1], expected[1], rtol=1e-12)


def told(rows, x):
    total = 0.0
    for row in rows:
        print(len(row))
        total += sum(row) * x[0]
    return total


def test_what_is_printed_of_lists_of_lists(capsys: pytest.CaptureFixture[str]) -> None:
    got = symgrad.grad(told, (0, 1), jit="auto")(RAGGED, X)
    printed = capsys.readouterr().out
    expected = symgrad.grad(told, (0, 1))(RAGGED, X)
    assert printed == capsys.readouterr().out == "".join(f"{len(row)}\n" for row in RAGGED)
    assert_alike(got[0], expected[0], rtol=1e-12)


def test_a_kernel_hands_back_a_list_of_lists_beside_the_gradient() -> None:
    def triangle(x):
        rows = []
        for i in range(len(x)):
            row = []
            for j in range(i + 1):
                row.append(x[j] * i)
            rows.append(row)
        return x.sum() ** 2, rows

    gradient, rows = symgrad.grad(triangle, has_aux=True, jit=True)(X)
    np.testing.assert_allclose(gradient, 2 * X.sum(), rtol=1e-12)
    assert_alike(rows, triangle(X)[1], rtol=1e-12)
