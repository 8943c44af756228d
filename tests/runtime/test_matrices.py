"""Matrix functions of kernels, compared with NumPy: layouts and sizes."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

numba = pytest.importorskip("numba")
matrices = pytest.importorskip("symgrad.runtime.matrices")

R = np.random.default_rng(0)
LIES: dict[str, Callable[[int, int], np.ndarray]] = {
    "by rows": lambda m, n: R.random((m, n)),
    "by columns": lambda m, n: R.random((n, m)).T,
    "apart": lambda m, n: R.random((2 * m, 3 * n))[::2, ::-3],
}
SHAPES = [(1, 1, 1), (2, 3, 4), (5, 6, 7), (1, 300, 1), (300, 1, 2), (0, 3, 4), (3, 0, 4), (40, 1, 40)]


@numba.njit
def product(out, a, b):
    matrices.product_into(out, a, b)


@numba.njit
def twice(out, a, b):
    matrices.product_into(out, a, b)
    matrices.add_product(out, a, b)


@numba.njit
def added(out, a, b):
    matrices.add_product(out, a, b)


@pytest.mark.sweep(4)
@pytest.mark.parametrize(("first", "second"), [*itertools.product(LIES, repeat=2)])
def test_products(first: str, second: str) -> None:
    for m, k, n in SHAPES:
        a, b, out = LIES[first](m, k), LIES[second](k, n), R.random((m, n))
        twice(out, a, b)
        np.testing.assert_allclose(out, 2.0 * (a @ b), rtol=1e-13)


def test_products_added_to_parts() -> None:
    for m, k, n in ((2, 3, 4), (20, 30, 40)):
        a, b, whole = R.random((m, k)), R.random((k, n)), R.random((m, 2 * n))
        before = whole.copy()
        added(whole[:, ::2], a, b)
        np.testing.assert_allclose(whole[:, ::2], before[:, ::2] + a @ b, rtol=1e-13)
        np.testing.assert_array_equal(whole[:, 1::2], before[:, 1::2])


def test_products_of_float32() -> None:
    for m, k, n in ((2, 3, 4), (20, 30, 40)):
        a, b, out = R.random((m, k), np.float32), R.random((k, n), np.float32), np.empty((m, n), np.float32)
        product(out, a, b)
        np.testing.assert_allclose(out, a @ b, rtol=1e-5)


@pytest.mark.parametrize("n", [1, 2, 3, 6, 9])
def test_inverses_determinants_and_cofactors(n: int) -> None:
    a = R.random((n, n)) - 0.5
    out = np.empty((n, n))
    matrices.inverse_into(out, a)
    np.testing.assert_allclose(out, np.linalg.inv(a), rtol=1e-10)
    matrices.inverse_into(out, a.T)
    np.testing.assert_allclose(out, np.linalg.inv(a.T), rtol=1e-10)
    determinant = np.linalg.det(a)
    np.testing.assert_allclose(matrices.determinant(a), determinant, rtol=1e-12)
    matrices.cofactors_into(out, a)
    np.testing.assert_allclose(out, determinant * np.linalg.inv(a).T, rtol=1e-9)


@pytest.mark.parametrize("a", [np.zeros((2, 2)), np.array([[1.0, 2.0], [2.0, 4.0]]), np.full((2, 2), 1e-200), np.eye(2) * 1e200])
def test_what_elimination_cannot_invert_is_left_to_numpy(a: np.ndarray) -> None:
    with pytest.raises(ArithmeticError):
        matrices.inverse_into(np.empty((2, 2)), a)


@numba.njit
def triangular(out, a, b, lower, turned):
    matrices.triangular_into(out, a, b, lower, turned)


@numba.njit
def solution(out, a, b):
    matrices.solution_into(out, a, b)


@pytest.mark.sweep(4)
@pytest.mark.parametrize(("first", "second"), [*itertools.product(LIES, repeat=2)])
def test_systems(first: str, second: str) -> None:
    for n, m in [(0, 1), (1, 1), (2, 3), (5, 0), (6, 2), (7, 2), (7, 0), (40, 5)]:
        a, b = LIES[first](n, n), LIES[second](n, m)
        copies, whole = (a.copy(), b.copy()), np.full((n, 2 * m), np.nan)
        for out in (np.full((n, m), np.nan), whole[:, ::2]):
            solution(out, a, b)
            np.testing.assert_allclose(out, np.linalg.solve(a, b), rtol=1e-8)
        np.testing.assert_array_equal(a, copies[0])
        np.testing.assert_array_equal(b, copies[1])
        assert np.all(np.isnan(whole[:, 1::2]))


@pytest.mark.parametrize("n", [1, 2, 6, 7, 30])
def test_systems_without_a_solution_raise(n: int) -> None:
    with pytest.raises(ArithmeticError):
        solution(np.empty((n, 1)), np.zeros((n, n)), np.ones((n, 1)))


@pytest.mark.sweep(3)
@pytest.mark.parametrize("lie", LIES)
def test_systems_of_triangles_of_all_sizes(lie: str) -> None:
    for n, columns in ((0, 2), (1, 1), (3, 2), (47, 1), (48, 3), (49, 1), (100, 7)):
        full = LIES[lie](n, n)
        full[np.arange(n), np.arange(n)] += 2.0 * n
        b = LIES[lie](n, columns)
        for lower, turned in itertools.product((True, False), repeat=2):
            out = np.empty((n, columns))
            triangular(out, full, b, lower, turned)

            triangle = np.tril(full) if lower else np.triu(full)
            np.testing.assert_allclose(out, np.linalg.solve(triangle.T if turned else triangle, b), rtol=1e-11, atol=1e-13)
