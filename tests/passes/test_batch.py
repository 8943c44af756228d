"""The pass ``batch``: rules of rows compared with a Python loop, and which values are batched."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad

Shape = tuple[int, ...]


def branch_of_each(x: Any, w: Any) -> Any:
    if x[0] > 0.0:
        return np.sum(np.sqrt(x[0]) * w)
    return np.sum(x * w) + 2.0 * x[1]


def branches_in_branches(x: Any, w: Any) -> Any:
    y = x * w
    if y.sum() > 0.0:
        y = np.exp(-y)
        if x[1] > 0.0:
            y = y * x
    return y


def branch_that_stores(x: Any, w: Any) -> Any:
    y = np.zeros(3)
    if x[0] > w[0]:
        y[1] = x[0] * 2.0
    y[0] = x[2] * w[1]
    return y


def branch_of_all(x: Any, w: Any) -> Any:
    y = np.tanh(x) * w if len(x) == 3 else x
    return y * 2.0


def rounds(x: Any, w: Any) -> Any:
    h = x
    for i in range(4):
        h = np.tanh(h * w + x) + i
    return h


def rounds_over_elements(x: Any, w: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total += x[i] * w[i] ** 2
    return total


def rounds_that_store(x: Any, w: Any) -> Any:
    y = np.zeros(4)
    for i in range(3):
        y[i + 1] = y[i] * w[i] + x[i]
    return y


def swapped(x: Any, w: Any) -> Any:
    y = x.copy()
    a = y[0]
    y[0] = y[2]
    y[2] = a
    return y * w


def softmax(x: Any, w: Any) -> Any:
    z = np.exp(x - np.max(x))
    return z / z.sum() @ w


def standardised(x: Any, w: Any) -> Any:
    return (x - x.mean()) / np.std(x) * np.prod(w) + np.var(w)


def joined(x: Any, w: Any) -> Any:
    return np.concatenate([x, w, x[:1]]) + np.stack([x.sum(), w.sum()])[1]


def ordered(x: Any, w: Any) -> Any:
    return np.cumsum(np.sort(x)) + np.argmax(x) * w


def shapes(x: Any, w: Any) -> Any:
    return (np.outer(x, w).T.reshape(9)[2:7] + np.broadcast_to(x[0], (5,))).sum()


def masks(x: Any, w: Any) -> Any:
    return np.where(x > 0.0, x * w, -x)[np.array([True, False, True])]


VECTORS: list[Callable[[Any, Any], Any]] = [
    branch_of_each, branches_in_branches, branch_that_stores, branch_of_all, rounds, rounds_over_elements, rounds_that_store, swapped,
    softmax, standardised, joined, ordered, shapes, masks,
]  # fmt: skip
#: of these the shapes of the results are not known before the loop
LISTED = (joined, masks)


def is_at_once(derived: Any, *arguments: Any) -> bool:
    """Is there no loop over a batch left?"""
    return "batch(" not in derived.ir(*arguments)


def compared(function: Callable[..., Any], arguments: tuple[Any, ...], in_axes: Any, at_once: bool = True) -> Any:
    """A function over a batch, held to a loop; is it computed at once?"""
    axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(arguments)
    count = next(len(a) for a, axis in zip(arguments, axes, strict=True) if axis == 0)
    batched = symgrad.vmap(function, in_axes=in_axes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        actual = batched(*arguments)
    expected = np.array([function(*(a if axis is None else a[k] for a, axis in zip(arguments, axes, strict=True))) for k in range(count)])
    np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-14)
    assert not any(np.shares_memory(actual, a) for a in arguments)
    assert is_at_once(batched, *arguments) is at_once
    return actual


@pytest.mark.parametrize("count", [1, 4])
@pytest.mark.parametrize("axis", [0, None])
@pytest.mark.parametrize("function", VECTORS)
def test_values_of_all_examples(function: Callable[[Any, Any], Any], axis: int | None, count: int, random: np.random.Generator) -> None:
    w = random.normal(size=3 if axis is None else (count, 3))
    compared(function, (random.normal(size=(count, 3)), w), (0, axis), function not in LISTED)


@pytest.mark.parametrize("axis", [0, None])
@pytest.mark.parametrize("function", VECTORS)
def test_gradients_of_all_examples(function: Callable[[Any, Any], Any], axis: int | None, random: np.random.Generator) -> None:
    x, w = random.normal(size=(4, 3)), random.normal(size=3 if axis is None else (4, 3))

    def total(x: Any, w: Any) -> Any:
        return np.sum(symgrad.vmap(function, in_axes=(0, axis))(x, w) ** 2)

    def in_a_loop(x: Any, w: Any) -> Any:
        whole = 0.0
        for k in range(4):
            whole += np.sum(function(x[k], w if axis is None else w[k]) ** 2)
        return whole

    derived = symgrad.grad(total, wrt=("x", "w"))
    for one, other in zip(derived(x, w), symgrad.grad(in_a_loop, wrt=("x", "w"))(x, w), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)
    assert is_at_once(derived, x, w) is (function not in LISTED)


@pytest.mark.parametrize("axis", [0, None])
@pytest.mark.parametrize("function", [rounds, rounds_over_elements, rounds_that_store, softmax, standardised, ordered, shapes, swapped])
def test_gradients_of_each_example(function: Callable[[Any, Any], Any], axis: int | None, random: np.random.Generator) -> None:
    def one_number(x: Any, w: Any) -> Any:
        return np.sum(function(x, w) ** 2)

    x, w = random.normal(size=(4, 3)), random.normal(size=3 if axis is None else (4, 3))
    slopes = symgrad.grad(one_number, wrt=("x", "w"))
    each = symgrad.vmap(slopes, in_axes=(0, axis))
    gradients = each(x, w)
    for k in range(4):
        for one, other in zip(gradients, slopes(x[k], w if axis is None else w[k]), strict=True):
            np.testing.assert_allclose(one[k], other, rtol=1e-10, atol=1e-12)
    assert is_at_once(each, x, w) or function not in (rounds, rounds_that_store, softmax, swapped)


@pytest.mark.parametrize("shapes", [((4, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((3,), (3,))], ids=str)
@pytest.mark.parametrize("axes", [(0, 0), (0, None), (None, 0)], ids=str)
def test_products(shapes: tuple[Shape, Shape], axes: tuple[int | None, int | None], random: np.random.Generator) -> None:
    arguments = tuple(random.normal(size=shape if axis is None else (5, *shape)) for shape, axis in zip(shapes, axes, strict=True))
    for function in (lambda a, b: a @ b, np.dot, lambda a, b: np.matmul(a, b) * 2.0):
        compared(function, arguments, axes)

    def total(a: Any, b: Any) -> Any:
        return np.sum((a @ b) ** 2)

    slopes = symgrad.grad(total, wrt=("a", "b"))
    each = symgrad.vmap(slopes, in_axes=axes)
    for k in range(5):
        expected = slopes(*(a if axis is None else a[k] for a, axis in zip(arguments, axes, strict=True)))
        for one, other in zip(each(*arguments), expected, strict=True):
            np.testing.assert_allclose(one[k], other, rtol=1e-12)
    assert is_at_once(each, *arguments)


@pytest.mark.parametrize("axes", [(0, 0), (0, None), (None, 0)], ids=str)
@pytest.mark.parametrize("columns", [(), (2,)])
def test_systems(axes: tuple[int | None, int | None], columns: Shape, random: np.random.Generator) -> None:
    a = random.normal(size=(3, 3) if axes[0] is None else (5, 3, 3)) + 4.0 * np.eye(3)
    b = random.normal(size=(3, *columns) if axes[1] is None else (5, 3, *columns))
    compared(np.linalg.solve, (a, b), axes)


@pytest.mark.parametrize("function", [np.linalg.inv, np.linalg.det, lambda a: np.linalg.cholesky(a @ a.T)])
def test_functions_of_matrices(function: Callable[[Any], Any], random: np.random.Generator) -> None:
    compared(function, (random.normal(size=(5, 3, 3)) + 4.0 * np.eye(3),), 0)


def test_places_of_each_example(random: np.random.Generator) -> None:
    def chosen(x: Any, k: Any) -> Any:
        y = x * 2.0
        y[k] = x[k] ** 2
        return y[k] * x.sum() + y[0]

    x, places = random.normal(size=(4, 3)), np.array([0, 2, -1, 1])
    compared(chosen, (x, places), 0)
    slopes = symgrad.vmap(symgrad.grad(chosen))
    np.testing.assert_allclose(slopes(x, places), [symgrad.grad(chosen)(*one) for one in zip(x, places, strict=True)], rtol=1e-12)
    assert is_at_once(slopes, x, places)
    with pytest.raises(IndexError):
        symgrad.vmap(chosen)(x, np.array([0, 3, 0, 0]))


def test_a_side_that_is_not_taken_neither_warns_nor_raises_nor_spoils_a_slope() -> None:
    def root(x: Any, w: Any) -> Any:
        return np.sqrt(x) if x > 0.0 else w * x

    x = np.array([0.0, -1.0, 4.0])
    values = compared(root, (x, 3.0), (0, None))
    assert values.tolist() == [0.0, -3.0, 2.0]

    def total(x: Any, w: Any) -> Any:
        return np.sum(symgrad.vmap(root, in_axes=(0, None))(x, w))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        slopes = symgrad.grad(total, wrt=("x", "w"))(x, 3.0)
    assert slopes[0].tolist() == [3.0, 3.0, 0.25]
    assert slopes[1] == -1.0


def test_what_is_shared_on_a_side_that_nobody_takes_is_not_computed() -> None:
    def scaled(x: Any, w: Any) -> Any:
        if x[0] > 0.0:
            return x * np.log(w[0])
        return x

    x = np.array([[-1.0, 2.0], [-3.0, 4.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert symgrad.vmap(scaled, in_axes=(0, None))(x, np.array([-1.0])).tolist() == x.tolist()


def test_exceptions_are_those_of_the_loop() -> None:
    def checked(x: Any) -> Any:
        if x[0] < 0.0:
            raise ArithmeticError(f"negative: {x[0]}")
        return x * 2.0

    batched = symgrad.vmap(checked)
    assert batched(np.ones((2, 2))).tolist() == [[2.0, 2.0], [2.0, 2.0]]
    with pytest.raises(ArithmeticError, match=r"negative: -1.0"):
        batched(np.array([[1.0, 1.0], [-1.0, 1.0], [-2.0, 1.0]]))
    with pytest.raises(np.linalg.LinAlgError):
        symgrad.vmap(np.linalg.inv)(np.zeros((2, 3, 3)))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: float(x[0]) * 2.0,
        lambda x: [t for t in [x] if True][0] * 1.0 if x.sum() > 0 and float(x[0]) > 0 else x,
    ],
)
def test_numbers_of_python_keep_the_loop(function: Callable[[Any], Any], random: np.random.Generator) -> None:
    compared(function, (random.normal(size=(4, 3)),), 0, at_once=False)


def test_a_while_keeps_the_loop(random: np.random.Generator) -> None:
    def halved(x: Any) -> Any:
        while np.sum(x * x) > 1.0:
            x = x * 0.5
        return x

    compared(halved, (random.normal(size=(4, 3)) * 3.0,), 0, at_once=False)


def test_single_precision_stays(random: np.random.Generator) -> None:
    x, w = random.normal(size=(4, 3)).astype(np.float32), random.normal(size=3).astype(np.float32)
    for function in (softmax, branch_of_each, rounds_over_elements):
        batched = symgrad.vmap(function, in_axes=(0, None))
        expected = np.array([function(row, w) for row in x])
        np.testing.assert_allclose(batched(x, w), expected, rtol=1e-5)
        assert batched(x, w).dtype == expected.dtype


def test_results_by_another_axis_and_shared_results(random: np.random.Generator) -> None:
    x, w = random.normal(size=(4, 3)), random.normal(size=3)
    batched = symgrad.vmap(lambda x, w: (x * w, x, w * 2.0), in_axes=(0, None), out_axes=(1, 1, 0))
    product, itself, shared = batched(x, w)
    np.testing.assert_allclose(product, (x * w).T)
    np.testing.assert_allclose(itself, x.T)
    np.testing.assert_allclose(shared, [w * 2.0] * 4)
    assert is_at_once(batched, x, w)
    itself[:] = 0.0
    assert x.any()


def test_explain_says_so(random: np.random.Generator) -> None:
    x, w = random.normal(size=(4, 3)), random.normal(size=3)
    assert "all examples are computed at once" in symgrad.vmap(softmax, in_axes=(0, None)).explain(x, w)


def test_results_lie_as_those_of_the_loop(random: np.random.Generator) -> None:
    def doubled(t: Any) -> Any:
        return t * 2.0

    def stored_through_a_view(x: Any) -> Any:
        y = symgrad.vmap(doubled)(x)
        z = y.ravel()
        z[1] = 5.0
        return y

    x = np.asfortranarray(random.normal(size=(4, 3)))
    assert symgrad.vmap(doubled)(x).flags.c_contiguous
    expected = x * 2.0
    expected[0, 1] = 5.0
    np.testing.assert_allclose(symgrad.grad(stored_through_a_view).primal(x), expected, rtol=1e-12)


def loops_in_branches_in_loops(x: Any, w: Any) -> Any:
    y = x * w
    for i in range(3):
        if y[0] > 0.0:
            for j in range(i):
                if x[1] > 0.1:
                    y = y + x * j
                y = y * w
            y = y - x[2]
        else:
            y = -y + w
    return y


@pytest.mark.parametrize("axis", [0, None])
@pytest.mark.parametrize("count", [1, 7])
def test_loops_in_branches_in_loops(axis: int | None, count: int, random: np.random.Generator) -> None:
    w = random.normal(size=3 if axis is None else (count, 3))
    compared(loops_in_branches_in_loops, (random.normal(size=(count, 3)), w), (0, axis))

    def total(x: Any, w: Any) -> Any:
        return np.sum(symgrad.vmap(loops_in_branches_in_loops, in_axes=(0, axis))(x, w) ** 2)

    def in_a_loop(x: Any, w: Any) -> Any:
        whole = 0.0
        for k in range(len(x)):
            whole += np.sum(loops_in_branches_in_loops(x[k], w if axis is None else w[k]) ** 2)
        return whole

    x = random.normal(size=(count, 3))
    for one, other in zip(symgrad.grad(total, (0, 1))(x, w), symgrad.grad(in_a_loop, (0, 1))(x, w), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("function", [np.sum, np.max, np.mean, np.cumsum, np.concatenate, np.sort, np.argmin, np.std, np.any, np.prod])
def test_every_axis(function: Any, axis: int | None, random: np.random.Generator) -> None:
    x = random.normal(size=(4, 3, 2))

    def along(x: Any) -> Any:
        return function((x, x * 2.0), axis=axis) if function is np.concatenate else function(x, axis=axis) * 1.0

    batched = symgrad.vmap(along)
    np.testing.assert_allclose(batched(x), [along(one) for one in x], rtol=1e-12)


#: rows that have a rule for seeds only, applied to a vector and a matrix of each example
BY_SEEDS: list[Callable[[Any, Any], Any]] = [
    lambda x, m: np.flip(x) * x + np.roll(x, 1),
    lambda x, m: np.swapaxes(m * 2.0, 0, 1) + np.moveaxis(m * m, 0, -1),
    lambda x, m: np.expand_dims(x, 0) * m + np.squeeze(m[None], 0),
    lambda x, m: np.sum(np.diagonal(m) ** 2) * m + np.trace(m) * np.diag(m * m, 1)[0],
    lambda x, m: np.diag(x) + np.triu(m) * np.tril(m, 1),
    lambda x, m: np.sum(np.tile(x, 2) * np.repeat(x, 2)) * x,
    lambda x, m: np.take(x, [0, 2, 2]) * np.take(m, 1, axis=0),
    lambda x, m: np.tensordot(SHARED, m, 2) * np.tensordot(SHARED, x, 1)[0, 0],
    lambda x, m: np.einsum("ij,jk->ik", SHARED[0], m) @ x,
    lambda x, m: (SHARED @ m)[1] + (x @ SHARED) + SHARED @ x[:3],
]
SHARED = np.arange(27.0).reshape(3, 3, 3) / 27 + 0.1


@pytest.mark.parametrize("count", [1, 4])
@pytest.mark.parametrize("function", BY_SEEDS)
def test_rules_of_seeds_are_those_of_examples(function: Callable[[Any, Any], Any], count: int, random: np.random.Generator) -> None:
    compared(function, (random.normal(size=(count, 3)), random.normal(size=(count, 3, 3))), 0)


@pytest.mark.parametrize("function", BY_SEEDS)
def test_what_a_rule_of_seeds_returns_may_be_written_to(function: Callable[[Any, Any], Any], random: np.random.Generator) -> None:
    def stores(x: Any, m: Any) -> Any:
        y, n = np.flip(x), np.expand_dims(x, 0)
        z = function(x, m)
        y, n, z = y * 1.0, n.copy(), z + 0.0
        y[0] = z[0].sum()
        z[0] = y[1]
        n[0, 1] = 3.0
        return y * np.sum(z * z) + x * n[0]

    compared(stores, (random.normal(size=(4, 3)), random.normal(size=(4, 3, 3))), 0)
