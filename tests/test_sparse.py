"""Sparse Jacobians and Hessians, compared with dense ones and differences; patterns; refusals; both targets."""

from __future__ import annotations

import pickle
import tracemalloc
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import programs_of_objects  # noqa: F401  # enters its programs
import pytest
from programs import PROGRAMS, Program
from strategies import arguments, loaded, random_program

import symgrad
from symgrad.errors import (
    BadArgument,
    IntegerArgument,
    NotActive,
    NotActiveWarning,
    NotScalar,
    SymgradError,
    UnsupportedSyntax,
    UnsureAlias,
)

sparse = pytest.importorskip("scipy.sparse")
RNG = np.random.default_rng(3)
TARGETS = pytest.mark.parametrize("jit", [False, True], ids=["numpy", "numba"])
Pair = namedtuple("Pair", "left right")


@dataclass
class Layer:
    weight: Any
    bias: Any


def differences(function: Callable[..., Any], x: Any, *others: Any, step: float = 1e-6) -> np.ndarray:
    """The Jacobian with a row for each element of the result, by central differences."""
    columns = []
    for place in np.ndindex(*np.shape(x)):
        ends = []
        for shift in (step, -step):
            moved = np.array(x, float)
            moved[place] += shift
            ends.append(np.ravel(function(moved if np.ndim(x) else float(moved), *others)))
        columns.append((ends[0] - ends[1]) / (2 * step))
    return np.array(columns).reshape(np.size(x), -1).T


def leaves(tree: Any) -> list[Any]:
    """The matrices in a structure, in order."""
    match tree:
        case None:
            return []
        case dict():
            return [leaf for part in tree.values() for leaf in leaves(part)]
        case list() | tuple():
            return [leaf for part in tree for leaf in leaves(part)]
    is_matrix = isinstance(tree, np.ndarray | np.generic | float) or sparse.issparse(tree)
    return [tree] if is_matrix else [leaf for part in vars(tree).values() for leaf in leaves(part)]


def same_matrices(ours: Any, dense: Any, **tolerance: float) -> None:
    """Sparse matrices beside dense ones in the same structure; every entry that is not zero is one of the pattern's."""
    for matrix, expected in zip(leaves(ours), leaves(dense), strict=True):
        expected = np.asarray(expected)
        assert sparse.issparse(matrix)
        assert matrix.format == "csr"
        assert matrix.dtype == expected.dtype
        assert matrix.shape[0] * matrix.shape[1] == expected.size
        np.testing.assert_allclose(matrix.toarray(), expected.reshape(matrix.shape), **{"rtol": 1e-9, "atol": 1e-12, **tolerance})


# ------------------------------------------------------------------ functions that are differentiated


def sliced(x):
    y = np.zeros(x.shape)
    y[1:-1] = x[2:] - 2.0 * x[1:-1] + x[:-2] ** 3
    return y


def looped(x):
    n = x.shape[0]
    y = np.zeros(n)
    for i in range(1, n - 1):
        y[i] = x[i - 1] - 2.0 * x[i] * np.sin(x[i]) + x[i + 1]
    return y


def wide(x):
    """Five diagonals."""
    padded = np.concatenate([np.zeros(2), x, np.zeros(2)])
    return padded[:-4] * x + padded[1:-3] - 4.0 * padded[3:-1] ** 2 + np.tanh(padded[4:])


def two_axes(x):
    y = 4.0 * x
    y[1:] -= x[:-1] * x[1:]
    y[:-1] -= x[1:]
    y[:, 1:] -= x[:, :-1] ** 2
    y[:, :-1] -= x[:, 1:]
    return y


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def arrow(x):
    return np.sum(x * x * x[0]) + np.sum(np.sin(x))


def layered(x):
    w = x[:6].reshape(2, 3)
    h = np.tanh(w @ x[6:9])
    return np.sum(h * h) + np.dot(x[9:12], np.exp(x[12:15])) + np.einsum("ij,j->", w, x[15:18])


BANDS = [sliced, looped, wide]


@TARGETS
@pytest.mark.parametrize("size", [2, 3, 20])
@pytest.mark.parametrize("function", BANDS)
def test_bands(function: Callable[..., Any], size: int, jit: bool) -> None:
    x = RNG.normal(size=size)
    jacobian = symgrad.jacobian(function, sparsity="auto", jit=jit)
    same_matrices(jacobian(x), differences(function, x), rtol=1e-6, atol=1e-7)
    assert jacobian.plan(x).sweeps <= 5


@TARGETS
@pytest.mark.parametrize("function", [sliced, lambda x: x * x, lambda x: x[:0], lambda x: np.array([2.0]) * np.sum(x)])
@pytest.mark.parametrize("size", [0, 1])
def test_hardly_any_elements(function: Callable[..., Any], size: int, jit: bool) -> None:
    x = np.full(size, 0.5)
    same_matrices(symgrad.jacobian(function, sparsity="auto", jit=jit)(x), symgrad.jacobian(function)(x))


@TARGETS
def test_ten_thousand_unknowns_take_few_sweeps_and_little_memory(jit: bool) -> None:
    x = np.linspace(0.0, 1.0, 10_000)
    jacobian = symgrad.jacobian(wide, sparsity="auto", jit=jit)
    jacobian(x)
    plan = jacobian.plan(x)
    assert plan.sweeps == 5
    tracemalloc.start()
    matrix = jacobian(x)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert matrix.shape == (10_000, 10_000)
    assert matrix.nnz < 50_000
    assert peak < 20e6
    v = RNG.normal(size=10_000)
    np.testing.assert_allclose(matrix @ v, symgrad.jvp(wide, (x,), (v,))[1], rtol=1e-9, atol=1e-9)


@TARGETS
def test_several_axes_count_in_order(jit: bool) -> None:
    x = RNG.normal(size=(4, 5))
    jacobian = symgrad.jacobian(two_axes, sparsity="auto", jit=jit)
    same_matrices(jacobian(x), differences(two_axes, x), rtol=1e-6, atol=1e-7)
    same_matrices(jacobian(x.T.copy().T), differences(two_axes, x), rtol=1e-6, atol=1e-7)
    assert jacobian(x[::2, ::-1]).shape == (10, 10)


@TARGETS
@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
def test_the_fewer_colours_are_taken(mode: str, jit: bool) -> None:
    def few_rows(x):
        return np.array([np.sum(x[:5] ** 2), np.sum(x[5:] ** 3)])

    def few_columns(x):
        return np.concatenate([np.arange(6.0) * x[0], np.sin(x[1] * np.arange(4.0))])

    x = RNG.normal(size=9)
    wide = symgrad.jacobian(few_rows, sparsity="auto", mode=mode, jit=jit)
    same_matrices(wide(x), symgrad.jacobian(few_rows)(x))
    assert (wide.plan(x).by, wide.plan(x).sweeps) == (("columns", 5) if mode == "forward" else ("rows", 1))
    tall = symgrad.jacobian(few_columns, sparsity="auto", mode=mode, jit=jit)
    same_matrices(tall(x[:2]), symgrad.jacobian(few_columns)(x[:2]))
    assert tall.plan(x[:2]).by == ("rows" if mode == "reverse" else "columns")


def test_single_precision() -> None:
    x = RNG.normal(size=12).astype(np.float32)
    ours = symgrad.jacobian(wide, sparsity="auto")(x)
    assert ours.dtype == np.float32
    np.testing.assert_allclose(ours.toarray(), symgrad.jacobian(wide)(x), rtol=1e-4, atol=1e-5)
    mixed = symgrad.jacobian(lambda x, w: x * w, wrt=("x", "w"), sparsity="auto")(x, np.ones(12))
    assert [matrix.dtype for matrix in mixed] == [np.float32, np.float64]


# ------------------------------------------------------------------ Hessians


@TARGETS
@pytest.mark.parametrize(("function", "sweeps"), [(rosenbrock, 3), (arrow, 3), (layered, 18)])
def test_hessians_agree_with_dense_ones(function: Callable[..., Any], sweeps: int, jit: bool) -> None:
    x = RNG.normal(size=18)
    hessian = symgrad.hessian(function, sparsity="auto", jit=jit)
    same_matrices(hessian(x), symgrad.hessian(function)(x))
    same_matrices(hessian(x), differences(symgrad.grad(function), x), rtol=1e-6, atol=1e-4)
    assert hessian.plan(x).by == "stars"
    assert hessian.plan(x).sweeps <= sweeps


PRODUCTS = {
    "matmul": lambda x: np.sum(np.sin(x[:6].reshape(2, 3) @ x[6:12].reshape(3, 2))),
    "vectors": lambda x: np.sin(x[:3] @ x[3:6].reshape(3, 1))[0] + np.sum(np.sin(x[6:9].reshape(3, 1) @ x[9:10])),
    "dot": lambda x: np.sum(np.dot(x[:6].reshape(2, 3), x[6:9]) ** 2) + np.dot(x[9:], x[9:]) ** 2,
    "einsum": lambda x: np.sum(np.einsum("ij,kj->ik", x[:4].reshape(2, 2), x[4:8].reshape(2, 2)) ** 2),
    "three": lambda x: np.sum(np.einsum("i,j,ij->j", x[:2], x[2:5], x[5:11].reshape(2, 3)) ** 2),
    "diagonal": lambda x: np.einsum("ii->", x[:4].reshape(2, 2) ** 2) ** 2,
    "outer": lambda x: np.sum(np.tanh(np.outer(x[:3], x[3:6]))) + np.sum(np.tensordot(x[:4].reshape(2, 2), x[4:8].reshape(2, 2), 1) ** 3),
    "convolve": lambda x: np.sum(np.convolve(x[:5], x[5:8]) ** 3),
    "chosen": lambda x: np.sum(x[np.array([0, 3, 3, 5])] ** 3 * x[:4]) + np.sum(np.sort(x)[:3] ** 3),
    "taken": lambda x: np.sum(np.take(x, np.array([1, 1, 4])) ** 3) + np.sum(np.take_along_axis(x, np.array([2, 0, 2]), 0) ** 3),
    "repeated": lambda x: np.sum(np.repeat(x[:3], 2) ** 3 * x[:6]) + np.sum(np.tile(x[3:5], 3) ** 3) + np.sum(x[x > 0.0] ** 3),
    "padded": lambda x: np.sum(np.pad(x[:4], 1) ** 3 * x[:6]) + np.sum(np.pad(x[4:8], (2, 1), mode="edge") ** 3),
    "stacked": lambda x: np.prod(np.stack([x[:3], x[3:6]]).sum(0)) + np.max(x) ** 2 + np.sum(np.cumsum(x[:4]) ** 3),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_hessians_of_products(name: str) -> None:
    x = RNG.normal(size=12)
    same_matrices(symgrad.hessian(PRODUCTS[name], sparsity="auto")(x), symgrad.hessian(PRODUCTS[name])(x), atol=1e-9)


def test_a_hessian_that_need_not_be_symmetric_is_computed_by_columns() -> None:
    @symgrad.custom_vjp
    def odd(x):
        return x[0] * x[1]

    odd.defvjp(lambda x: (odd(x), x), lambda x, g: (g * np.array([x[1] * x[0], 2.0, 0.0]),))

    def total(x):
        return odd(x) + x[2] ** 2

    x = np.array([0.5, 2.0, 3.0])
    hessian = symgrad.hessian(total, sparsity="auto", verify=False)
    same_matrices(hessian(x), symgrad.hessian(total, verify=False)(x))
    assert hessian.plan(x).by != "stars"
    same_matrices(symgrad.jacobian(total, sparsity="auto", verify=False)(x), symgrad.jacobian(total, verify=False)(x))


# ------------------------------------------------------------------ patterns


@pytest.mark.filterwarnings("ignore")
@pytest.mark.sweep(120)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_the_corpus_is_as_dense_matrices_are(program: Program) -> None:
    for size in program.sizes:
        for take in (symgrad.jacobian, symgrad.hessian) if program.second else (symgrad.jacobian,):
            settings: dict[str, Any] = {"wrt": program.wrt, "allow_unused": True}
            try:
                dense = take(program.function, **settings)(*program.arguments(size))
                ours = take(program.function, sparsity="auto", **settings)(*program.arguments(size))
            except SymgradError as refusal:
                assert type(refusal) is not symgrad.errors.InvalidIR
                continue
            same_matrices(ours, dense, rtol=1e-7, atol=1e-9)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 200))])
def test_random_programs_are_as_dense_matrices_are(seed: int) -> None:
    with loaded(random_program(seed)) as function:
        for take in (symgrad.jacobian, symgrad.hessian):
            same_matrices(take(function, sparsity="auto")(*arguments()), take(function)(*arguments()), rtol=1e-7, atol=1e-9)


def test_a_pattern_that_depends_on_values_is_found_again() -> None:
    def turned(x, order):
        y = np.zeros(x.shape)
        for i in range(x.shape[0]):
            y[i] = x[i] ** 2 if x[i] > 0 else x[i] * x[0]
        return y + x[order]

    jacobian = symgrad.jacobian(turned, sparsity="auto")
    dense = symgrad.jacobian(turned)
    for signs in ([1, 1, 1, 1], [1, -1, 1, 1], [-1, -1, -1, -1], [1, 1, 1, 1]):
        for order in ([0, 1, 2, 3], [3, 2, 1, 0]):
            argument = np.array(signs) * np.array([0.5, 1.5, 2.5, 3.5]), np.array(order)
            same_matrices(jacobian(*argument), dense(*argument))
    rounds = symgrad.jacobian(lambda x, n: np.array([np.sum(x[:n]), x[n]]), sparsity="auto")
    assert [rounds(np.ones(5), n).nnz for n in (1, 2, 4)] == [2, 3, 5]


def flattened(x):
    y = x.reshape(-1)
    y[1:] = y[1:] * y[0]
    return x * 2.0 + np.sum(x[0])


def turned_and_flattened(x):
    y = x.T.ravel()
    y[0] = y[1] * y[2]
    return np.append(y, x[0, 0] * x[-1, -1])


@pytest.mark.parametrize("function", [flattened, turned_and_flattened])
def test_views_and_copies_are_those_of_the_values(function: Callable[..., Any]) -> None:
    x = RNG.normal(size=(3, 4))
    compared = 0
    for laid in (x, np.asfortranarray(x), np.repeat(np.repeat(x, 2, 0), 2, 1)[::2, ::2], np.repeat(x, 2, 1).T[::2].T, x[::-1]):
        try:
            dense = symgrad.jacobian(function)(laid)
        except UnsureAlias:
            with pytest.raises(UnsureAlias):
                symgrad.jacobian(function, sparsity="auto")(laid)
            continue
        same_matrices(symgrad.jacobian(function, sparsity="auto")(laid), dense)
        compared += 1
    assert compared >= 1


@pytest.mark.parametrize(("function", "entries"), [
    (lambda x: np.sum(np.repeat(x, 2) ** 3), 6),
    (lambda x: np.sum(np.tile(x, 3) ** 3), 6),
    (lambda x: np.sum(np.take(x, np.array([1, 1, 4])) ** 3), 2),
    (lambda x: np.sum(x[np.array([1, 1, 4])] ** 3), 2),
    (lambda x: np.sum(np.pad(x, 1) ** 3), 6),
    (lambda x: np.sum(np.pad(x, (2, 1), mode="edge") ** 3), 6),
    (lambda x: np.sum(np.take_along_axis(x, np.array([2, 0, 2]), 0) ** 3), 2),
    (lambda x: np.sum((x.reshape(2, 3) @ np.ones((3, 2))) ** 2), 18),
    (lambda x: np.sum(np.einsum("ij,jk->ik", x.reshape(2, 3), np.ones((3, 2))) ** 2), 18),
    (lambda x: np.sum(np.roll(x, 1) ** 2 * x), 18),
    (lambda x: np.sum(np.diff(x) ** 4), 16),
    (lambda x: np.sum(np.max(x.reshape(3, 2), axis=1) ** 2), 12),
    (lambda x: np.sum(np.cumsum(x)[:2] ** 2), 4),
    (lambda x: np.sum(x) + np.dot(x, np.arange(6.0)) + x[2] ** 2, 1),
])  # fmt: skip
def test_hessians_have_no_more_entries_than_their_operations_say(function: Callable[..., Any], entries: int) -> None:
    x = np.arange(1.0, 7.0)
    hessian = symgrad.hessian(function, sparsity="auto")(x)
    same_matrices(hessian, symgrad.hessian(function)(x))
    assert hessian.nnz == entries


@TARGETS
def test_patterns_of_the_user(jit: bool) -> None:
    x = RNG.normal(size=6)
    for pattern in (
        np.tri(6, k=1) - np.tri(6, k=-2),
        sparse.diags_array([1.0, 1.0, 1.0], offsets=[-1, 0, 1], shape=(6, 6)),
        np.ones((6, 6), bool),
    ):
        jacobian = symgrad.jacobian(sliced, sparsity=pattern, jit=jit)
        same_matrices(jacobian(x), symgrad.jacobian(sliced)(x))
        assert jacobian.pattern(x).nnz == sparse.csr_array(pattern).nnz


def test_a_pattern_of_the_user_is_of_all_results_and_arguments() -> None:
    def two(x, y):
        return x * y, np.sum(x)

    x, y = np.ones(3), np.arange(3.0)
    whole = np.vstack([np.hstack([np.eye(3), np.eye(3)]), [1, 1, 1, 0, 0, 0]])
    ours = symgrad.jacobian(two, wrt=("x", "y"), sparsity=whole)(x, y)
    same_matrices(ours, symgrad.jacobian(two, wrt=("x", "y"), allow_unused=True)(x, y))
    assert [matrix.nnz for matrix in leaves(ours)] == [3, 3, 3, 0]


def test_an_entry_that_a_pattern_misses_is_named() -> None:
    x = RNG.normal(size=6)
    pattern = np.tri(6, k=1) - np.tri(6, k=-2)
    pattern[3, 4] = 0
    with pytest.raises(BadArgument, match=r"the pattern has no entry at \(3, 4\), where the derivative is 1") as caught:
        symgrad.jacobian(sliced, sparsity=pattern)(x)
    assert 'sparsity="auto"' in (caught.value.hint or "")
    same_matrices(symgrad.jacobian(sliced, sparsity="auto")(x), symgrad.jacobian(sliced)(x))
    with pytest.raises(BadArgument, match="the pattern has no entry at"):
        symgrad.hessian(rosenbrock, sparsity=np.eye(6))(x)
    with pytest.raises(BadArgument, match="the pattern has no entry at"):
        symgrad.jacobian(sliced, sparsity=pattern, mode="reverse")(x)


def test_a_missing_entry_that_is_no_number_is_told() -> None:
    with np.errstate(all="ignore"), pytest.raises(BadArgument, match="row 1 of the Jacobian|no entry at"):
        symgrad.jacobian(lambda x: np.array([x[0], np.sqrt(x[1])]), sparsity=np.array([[1, 0], [0, 0]]), verify=False)(np.zeros(2))


def far_apart(x):
    return np.array([x[0] * x[0], x[2] if x[1] > 0.0 else x[3], x[1]])


def infinite_in_part(x):
    return np.sqrt(x - x[0]) + (np.roll(x, 1) if x[1] > 0.0 else np.roll(x, 2))


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_missing_entry_beside_much_larger_rows_is_noticed(mode: str) -> None:
    jacobian = symgrad.jacobian(far_apart, sparsity="auto", mode=mode)
    for x in ([1e15, 1.0, 2.0, 3.0], [1e15, -1.0, 2.0, 3.0]):
        assert np.array_equal(jacobian(np.array(x)).toarray(), symgrad.jacobian(far_apart)(np.array(x)))
    with pytest.raises(BadArgument, match=r"the pattern has no entry at \(1, 3\), where the derivative is 1"):
        symgrad.jacobian(far_apart, sparsity=[[1, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0]], mode=mode)(np.array(x))


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_infinite_derivatives_do_not_hide_other_entries(mode: str) -> None:
    """Columns of one colour are 0 * inf in rows that are infinite; all other rows are as without them."""
    jacobian = symgrad.jacobian(infinite_in_part, sparsity="auto", mode=mode, verify=False)
    with np.errstate(all="ignore"):
        for x in (np.array([0.0, 1.0, 2.0, 3.0]), np.array([-9.0, -1.0, 2.0, 3.0])):
            matrix = jacobian(x)
            assert matrix.nnz >= 8
            expected = symgrad.jacobian(infinite_in_part, mode="forward")(x)
            finite = np.isfinite(expected) & np.isfinite(matrix.toarray())
            assert finite[1:, 1:].all()
            assert np.array_equal(matrix.toarray()[1:, 1:], expected[1:, 1:])


@pytest.mark.parametrize(("pattern", "says"), [
    (np.eye(5), r"the pattern has the shape \(5, 5\), and the Jacobian \(6, 6\)"),
    (np.eye(6)[:5], r"the pattern has the shape \(5, 6\), and the Jacobian \(6, 6\)"),
    (np.ones(6), r"the pattern has the shape \(6,\)"),
    (np.full((6, 6), "x"), "and the dtype <U1"),
    (1j * np.eye(6), "and the dtype complex128"),
    ("dense", "there is no sparsity 'dense'"),
])  # fmt: skip
def test_bad_patterns(pattern: Any, says: str) -> None:
    with pytest.raises(BadArgument, match=says):
        symgrad.jacobian(sliced, sparsity=pattern)(RNG.normal(size=6))


# ------------------------------------------------------------------ trees, options, objects


def several(p, x, *, scale=1.0):
    y = p["w"] * x * scale + p["pair"].left
    return {"y": y, "both": (np.sum(y * y), [p["pair"].right * y[:2]])}


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
def test_trees_hold_matrices(mode: str) -> None:
    p, x = {"w": RNG.normal(size=4), "pair": Pair(RNG.normal(size=4), 2.0), "n": 3}, RNG.normal(size=4)
    ours = symgrad.jacobian(several, wrt=("p", "x"), sparsity="auto", mode=mode)(p, x, scale=3.0)
    same_matrices(ours, symgrad.jacobian(several, wrt=("p", "x"))(p, x, scale=3.0))
    of_p, of_x = ours["y"]
    assert list(of_p) == ["w", "pair", "n"]
    assert of_p["n"] is None
    assert isinstance(of_p["pair"], Pair)
    assert of_p["pair"].right.shape == (4, 1)
    assert of_x.shape == (4, 4)
    assert ours["both"][1][0][0]["w"].shape == (2, 4)


def test_records_and_methods() -> None:
    class Model:
        def __init__(self) -> None:
            self.w = RNG.normal(size=5)

        def outputs(self, x):
            return np.tanh(self.w * x)

    model, x = Model(), RNG.normal(size=5)
    same_matrices(symgrad.jacobian(model.outputs, sparsity="auto")(x), symgrad.jacobian(model.outputs)(x))
    ours = symgrad.jacobian(lambda layer, x: layer.weight * x + layer.bias, sparsity="auto")(Layer(model.w, 1.0), x)
    assert isinstance(ours, Layer)
    np.testing.assert_allclose(ours.weight.toarray(), np.diag(x))
    np.testing.assert_allclose(ours.bias.toarray(), np.ones((5, 1)))
    hessian = symgrad.hessian(lambda p: np.sum(p["w"] ** 3) * p["b"], sparsity="auto")({"w": x, "b": 2.0})
    np.testing.assert_allclose(hessian["w"]["w"].toarray(), np.diag(12 * x))
    np.testing.assert_allclose(hessian["w"]["b"].toarray()[:, 0], 3 * x**2)


def test_what_jacobian_takes_is_taken() -> None:
    def scaled(x, y, *, by=2.0):
        return by * x**2, {"by": by}

    x = RNG.normal(size=3)
    ours, aux = symgrad.jacobian(scaled, has_aux=True, sparsity="auto")(x, x, by=3.0)
    np.testing.assert_allclose(ours.toarray(), np.diag(6.0 * x))
    assert aux == {"by": 3.0}
    np.testing.assert_allclose(symgrad.jacobian(scaled, argnums="by", has_aux=True, sparsity="auto")(x, x)[0].toarray()[:, 0], x**2)
    with pytest.warns(NotActiveWarning):
        assert symgrad.jacobian(lambda x, y: 2.0 * x, wrt="y", sparsity="auto")(x, x).nnz == 0
    with pytest.raises(NotActive):
        symgrad.jacobian(lambda x, y: 2.0 * x, wrt="y", strict=True, sparsity="auto")(x, x)
    assert symgrad.jacobian(lambda x, y: 3.0 * x, wrt="y", allow_unused=True, sparsity="auto")(x, x).nnz == 0
    assert symgrad.jacobian(sliced, sparsity="auto").__signature__.parameters.keys() == {"x"}
    assert symgrad.jacobian(lambda x: x**3, sparsity="auto")(2.0).toarray().tolist() == [[12.0]]
    hessian, aux = symgrad.hessian(lambda x: (np.sum(x**3), "kept"), has_aux=True, sparsity="auto")(x)
    np.testing.assert_allclose(hessian.toarray(), np.diag(6 * x))
    assert aux == "kept"


def test_it_is_pickled_and_shown(capsys: pytest.CaptureFixture[str]) -> None:
    x = RNG.normal(size=6)
    jacobian = symgrad.jacobian(sliced, sparsity="auto", jit="auto")
    again = pickle.loads(pickle.dumps(jacobian))
    same_matrices(again(x), jacobian(x).toarray())
    assert repr(again) == repr(jacobian) == "jacobian(sliced, sparsity='auto')"
    assert repr(symgrad.hessian(rosenbrock, sparsity=np.eye(2))) == "jacobian(grad(rosenbrock), sparsity=...)"
    assert "def sliced_jvp(x, *, x_tangent):" in jacobian.source(x)
    assert "def sliced_vjp(" in symgrad.jacobian(sliced, sparsity="auto", mode="reverse").source(x)
    assert "6 x 6, 12 entries, 3 sweeps forward by columns, of the colours 0 1 2 0 1 2" in jacobian.explain(x)
    assert "func sliced_jvp" in jacobian.ir(x)
    symgrad.explain(jacobian, x)
    symgrad.show_ir(jacobian, x)
    shown = capsys.readouterr().out
    assert jacobian.explain(x) in shown
    assert jacobian.ir(x) in shown
    pattern = jacobian.pattern(x)
    assert pattern.dtype == bool
    assert np.array_equal(pattern.toarray(), symgrad.jacobian(sliced)(x) != 0)


def test_arguments_are_left_as_they_were_and_results_are_new() -> None:
    x = RNG.normal(size=6)
    before, jacobian = x.copy(), symgrad.jacobian(two_axes, sparsity="auto")
    one = jacobian(x.reshape(2, 3))
    values = one.toarray()
    other = jacobian(x.reshape(2, 3))
    other.data[:], other.indices[:] = 0.0, 0
    assert np.array_equal(x, before)
    assert np.array_equal(one.toarray(), values)
    assert np.array_equal(jacobian(x.reshape(2, 3)).toarray(), values)


# ------------------------------------------------------------------ what is refused


def test_functions_that_run_once_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    x = np.ones(3)
    assert symgrad.jacobian(prints)(x).shape == (3, 3)
    capsys.readouterr()
    with pytest.raises(BadArgument, match="runs prints several times, and it prints") as caught:
        symgrad.jacobian(prints, sparsity="auto")(x)
    assert "without sparsity" in (caught.value.hint or "")
    assert not capsys.readouterr().out


class Counter:
    def __init__(self) -> None:
        self.calls, self.shown = 1.0, {"w": np.ones(2)}

    def counted(self, x):
        self.calls = self.calls * 2.0
        self.shown["w"] = x * self.shown["w"]
        return x * self.calls * self.shown["w"]


def prints(x):
    print("here")
    return x * x


def overwrites(x):
    x[0] *= 2.0
    return x * x


@TARGETS
@pytest.mark.filterwarnings("ignore:.*runs as NumPy code")
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_what_is_written_to_is_written_to_once(mode: str, jit: bool) -> None:
    x = np.array([1.0, 2.0])
    same_matrices(symgrad.jacobian(overwrites, sparsity="auto", mode=mode, jit=jit)(x), symgrad.jacobian(overwrites)(x))
    assert x.tolist() == [1.0, 2.0]
    one, other = Counter(), Counter()
    same_matrices(symgrad.jacobian(one.counted, sparsity="auto", mode=mode, jit=jit)(x), symgrad.jacobian(other.counted)(x))
    assert one.calls == other.calls == 2.0
    assert one.shown["w"].tolist() == other.shown["w"].tolist() == [1.0, 2.0]
    same_matrices(symgrad.jacobian(one.counted, sparsity="auto", mode=mode, jit=jit)(x), symgrad.jacobian(other.counted)(x))


def test_what_is_written_to_and_cannot_be_copied_is_refused() -> None:
    counter = Counter()
    counter.file = open(__file__)  # noqa: SIM115
    with counter.file, pytest.raises(BadArgument, match="writes to an argument that cannot be copied") as caught:
        symgrad.jacobian(counter.counted, sparsity="auto")(np.ones(2))
    assert "without sparsity" in (caught.value.hint or "")
    assert symgrad.jacobian(counter.counted)(np.ones(2)).shape == (2, 2)


def test_derivatives_of_sparse_matrices_are_refused() -> None:
    x, jacobian = np.ones(6), symgrad.jacobian(sliced, sparsity="auto")
    with pytest.raises(BadArgument, match="has no derivative") as caught:
        symgrad.grad(jacobian)
    assert "without it can be differentiated" in (caught.value.hint or "")
    with pytest.raises(UnsupportedSyntax, match="has no derivative"):
        symgrad.grad(lambda x: np.sum(jacobian(x)))(x)
    with pytest.raises(UnsupportedSyntax, match="has no derivative"):
        symgrad.vmap(jacobian)(np.ones((2, 6)))
    with pytest.raises(UnsupportedSyntax, match="sparsity= of jacobian cannot be given inside"):
        symgrad.grad(lambda x: np.sum(symgrad.jacobian(sliced, sparsity="auto")(x)))(x)
    with pytest.raises(UnsupportedSyntax, match="sparsity= of hessian cannot be given inside"):
        symgrad.grad(lambda x: np.sum(symgrad.hessian(rosenbrock, sparsity="auto")(x)))(x)
    assert symgrad.grad(lambda x: np.sum(symgrad.jacobian(sliced, sparsity=None)(x)))(x).shape == (6,)
    assert symgrad.jacobian(symgrad.jacobian(sliced))(x).shape == (6, 6, 6)


def test_what_has_no_jacobian_is_refused_as_without_sparsity() -> None:
    with pytest.raises(IntegerArgument):
        symgrad.jacobian(sliced, sparsity="auto")(np.arange(4))
    with pytest.raises(NotScalar, match="complex"):
        symgrad.jacobian(lambda x: x * 1j, sparsity="auto")(np.ones(3))
    with pytest.raises(NotScalar, match="integers"):
        symgrad.jacobian(lambda x: np.argsort(x), sparsity="auto")(np.ones(3))
    with pytest.raises(BadArgument, match="there is no mode 'backward'"):
        symgrad.jacobian(sliced, sparsity="auto", mode="backward")
    with pytest.raises(ZeroDivisionError):
        symgrad.jacobian(lambda x: x / 0.0, sparsity="auto")(2.0)
