"""Kernels for one row or construct each: both targets agree with differences."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from differences import derivative, direction_for, inner
from scipy import linalg, special, stats
from targets import agreed, both, keep_kernels, outcome, same, stays

import symgrad

pytest.importorskip("numba")
R = np.random.default_rng(3)


@pytest.fixture(autouse=True)
def in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMGRAD_CACHE_DIR", "off")


# ------------------------------------------------------------------ contractions


def attention(q, k, v):
    s = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    p = np.exp(s - np.max(s, axis=-1, keepdims=True))
    return np.sum(((p / np.sum(p, axis=-1, keepdims=True)) @ v) ** 2)


def heads(q, k):
    return np.sum(np.tanh(np.einsum("bihd,bjhd->bhij", q, k)) ** 2)


def matrix_of(x, y):
    return np.sum(np.einsum("ij,jk->ik", x, y) ** 2)


def turned(x, y):
    return np.sum(np.einsum("ij,jk->ki", x, y) ** 2)


def rows_of(x, y):
    return np.sum(np.einsum("ij,ij->i", x, y) ** 3)


def diagonal_of(x):
    return np.sum(np.einsum("ii->i", x) ** 2) + np.einsum("ii", x)


def form_of(x, y, z):
    return np.einsum("i,ij,j->", x, y, z)


def batched(x, y):
    return np.sum(np.einsum("bij,jk->bik", x, y) ** 2)


def tensors(x, y):
    return np.sum(np.tensordot(x, y, axes=([0, 2], [1, 0])) ** 2)


def stack_by_vector(x, y):
    return np.sum((x @ y) ** 2)


def broadcast_stack(x, y):
    return np.sum(np.tanh(x @ y))


# ------------------------------------------------------------------ lists


def grown(x):
    items = []
    for v in x:
        items.append(v * v + 1.0)
    return np.sum(np.array(items) ** 1.5)


def comprehended(x):
    return sum([math.exp(-v) for v in x])


def states(x):
    held = [x]
    for _ in range(4):
        held.append(np.tanh(held[-1] * 1.1 + held[0]))
    return sum(np.sum(h * h) for h in held)


def replaced(x):
    items = [0.0] * len(x)
    for k in range(len(x)):
        items[k] = items[k - 1] * 0.5 + x[k]
    return items[-1] * items[0]


def kept_if(x):
    items = []
    for v in x:
        if v > 0.0:
            items.append(v * 2.0)
    total = 0.0
    for k in range(len(items)):
        total = total + items[k] ** 2
    return total


def sliced(x):
    items = list(x * x)
    return sum(items[1:]) * items[0] + sum(items[:2] + items[-2:])


def nested(x):
    return np.sum(np.take_along_axis(x.reshape(2, 2), np.array([[1], [0]]), 1)) ** 2


# ------------------------------------------------------------------ lists of lists, numbers out of arrays, single columns


def turned_by(x):
    c, s = np.cos(x[0]), np.sin(x[0])
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])
    move = np.array([[1, 0, 0, x[1]], [0, 1, 0, x[2]], [0, 0, 1, c * s], [0, 0, 0, 1]])
    return np.sum((turn @ turn) ** 2) + np.sum((move @ move.T) ** 2)


def crossed(x, y):
    product = np.cross(x, y)
    return product @ product + product[0]


def slopes(x):
    return np.sum(np.gradient(x) ** 2)


def columns_in_turn(x, y):
    total = np.zeros((x.shape[0], 3))
    for k in range(x.shape[1]):
        total += x[:, k : k + 1] * y[k] + x[k : k + 1]
    return np.sum(total**3)


def likelihood(w, b, x):
    """Rows become numbers, these go through functions, and rows are added up."""
    z = x @ w + b
    return np.mean(np.logaddexp(0.0, z) - x[:, 0] * z)


# ------------------------------------------------------------------ what is sorted


def in_order(x):
    return np.sum(np.sort(x) * np.arange(x.size)) + np.sum(np.sort(x)[-2:] ** 3)


def in_lines(x):
    return np.sum(np.sort(x, axis=0) ** 2 * np.arange(x.shape[1])) + np.sum(np.sort(x)[:, -1] ** 3) + np.sum(np.sort(x, axis=None)[:2])


def ranked(x):
    order = np.argsort(x)
    y = x[order]
    return np.sum(y[1:] * y[:-1]) + np.sum(x * np.argsort(order))


def middles(x):
    return np.median(x) ** 2 + np.sum(np.median(x, axis=0) ** 3) + np.sum(np.median(x, axis=1, keepdims=True) * x)


def between(x):
    return np.quantile(x, 0.3) ** 2 + np.percentile(x, 70) + np.median(np.abs(x - np.median(x)))


def row_after_row(x):
    total = 0.0
    for i in range(x.shape[0]):
        total += np.sum(np.sort(x[i]) ** 2 * np.arange(x.shape[1])) + np.median(x[:, 0] * x[i, 0])
    return total


def so_far(x):
    wide = np.stack([x, x[::-1] ** 2])
    return (
        np.sum(np.maximum.accumulate(x) ** 2) + np.sum(np.minimum.accumulate(wide, axis=1) ** 3) + np.sum(np.maximum.accumulate(wide) ** 3)
    )


SORTING = (in_order, in_lines, ranked, middles, between, row_after_row, so_far)


def stepped(a, x):
    t = np.arange(0.0, 2.0, 0.3)
    return np.sum(np.sin(a * t)) + np.sum(x[0] * np.arange(3.0)) + np.sum(np.arange(4, 0.5, -1.5) * a) + np.trace(np.outer(x, x), offset=1)


# ------------------------------------------------------------------ matrices, orders, products, edges

A = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 2.0]])


def log_determinant(x):
    factor = np.linalg.cholesky(A + np.outer(x, x))
    return np.sum(np.log(np.diag(factor))) + np.sum(factor[1:] ** 2)


def triangles(x):
    factor = np.linalg.cholesky(A + np.outer(x, x))
    half = linalg.solve_triangular(factor, x, lower=True)
    upper = linalg.solve_triangular(np.triu(A) + np.eye(3), np.outer(half, x))
    turned_one = linalg.solve_triangular(factor, x * x, lower=True, trans=1)
    return half @ half + np.sum(upper**2) + np.sum(turned_one)


def systems_of_triangles(x):
    """Triangles because of what made them: solved as such."""
    factor = np.linalg.cholesky(A + np.outer(x, x))
    half = np.linalg.solve(factor, x)
    whole = np.linalg.solve(factor.T, half)
    corner = np.linalg.solve(np.triu(A + np.outer(x, x)), np.outer(half, x))
    other = np.linalg.solve(np.tril(A).T.copy(), half)
    banded = np.linalg.solve(np.tril(A + np.outer(x, x), 1), x)  # none
    return half @ half + whole @ x + np.sum(corner**2) + np.sum(other**3) + np.sum(banded**2)


def multiplied(x):
    return np.prod(x) + np.sum(np.cumprod(x) ** 2) + np.sum(np.prod(x.reshape(-1, 1) * x, axis=0))


def edged(x):
    p = np.pad(x, 1)
    return np.sum((p[2:] - 2.0 * p[1:-1] + p[:-2]) ** 2) + np.sum(np.pad(x.reshape(-1, 1), ((1, 0), (2, 1)), constant_values=3.0) ** 3)


def interpolated(x):
    return np.sum(np.interp(x, np.array([-2.0, 0.0, 1.0, 3.0]), np.array([0.0, 1.0, 4.0, 2.0])) ** 2)


def looked_up(x):
    edges = np.array([-0.5, 0.0, 0.5])
    return x[np.searchsorted(edges, 0.2, side="right")] * x[0] + np.sum(x * np.searchsorted(edges, x))


def gathered_along(x):
    order = np.array([[2, 0], [1, -1], [0, 0]])
    return np.sum(np.take_along_axis(np.outer(x, x[:3]), order, 1) ** 2)


def gamma_functions(x):
    return np.sum(special.gammaln(x + 3.0)) + np.sum(special.digamma(np.abs(x) + 0.2) ** 2) + math.lgamma(x[0] + 4.0)


def beside_one_another(x, w):
    heads = []
    for k in range(w.shape[0] // 2):
        heads.append(np.tanh(x[:, 2 * k : 2 * k + 2] @ w[2 * k : 2 * k + 2]))
    late = np.hstack([x[2 - j : x.shape[0] - j] for j in range(2)])
    return np.sum(np.concatenate(heads, axis=-1)[:, -1] ** 3) + np.sum(late @ np.arange(2.0 * x.shape[1]))


def in_the_middle(x):
    pairs = [np.stack([x[i] * x[i], x[0]]) for i in range(x.shape[0])]
    return np.sum(np.concatenate(pairs, axis=1) ** 3 * x[0, :1])


def sharpened(x, width):
    slope = np.exp(-0.5 * (np.arange(-2, 3) / width) ** 2)
    guess = x * 0.5
    for _ in range(3):
        seen = np.convolve(guess, slope / slope.sum(), mode="same")
        guess = guess * np.convolve(x / (1.0 + seen**2), slope[::-1], "same") + np.convolve(x, slope)[2:-2]
    return np.sum(guess**2) + np.sum(np.correlate(x, slope[:2]) ** 2)


def probabilities(x, a):
    y = special.expit(x)
    numbers = special.ndtr(a) + special.log_ndtr(a) + special.expit(a) * special.log_expit(a) + special.xlogy(y[0], y[0] + a * a)
    rows = special.ndtr(x) * special.log_expit(x) + special.log_ndtr(x) * special.logit(y) + special.xlog1py(y, x * x)
    return numbers + np.sum(rows + special.entr(y)) + np.sum(special.rel_entr(y, x * x) - special.kl_div(x * x, y))


def bought(spot, strikes):
    total = 0.0
    for strike in strikes:
        first = np.log(spot / strike) / 0.2 + 0.1
        total += spot * stats.norm.cdf(first) - strike * stats.norm.cdf(first - 0.2) + stats.norm.logcdf(first)
    return total


def matrix_by_hand(theta, y):
    z = y * 1.0
    for _ in range(3):
        step = np.array([[1.0, -theta], [theta * z[0] + 2.0, z[1]]])
        z = np.linalg.solve(step, z) + 0.5 * y
    return np.sum(z * z) + np.sum(np.array([[[theta], [y[0]]], [[y[1]], [1.0]]]) ** 3)


def gates(w, x):
    h = x * 0.5
    for _ in range(3):
        i, f, g = np.split(np.tanh(w @ h + 0.1), 3)
        h = np.exp(-i * i) * h + f * g
    first, last = np.split(np.outer(h, x), [1], axis=1)
    return np.sum(h * h) + np.sum(first**3) + np.sum(last**2)


def m(*shape: int) -> Any:
    return R.standard_normal(shape)


CASES: list[tuple[Any, list[tuple[Any, ...]]]] = [
    (attention, [(m(2, 3, 4, 5), m(2, 3, 6, 5), m(2, 3, 6, 5)), (m(1, 4, 2), m(1, 3, 2), m(1, 3, 3))]),
    (heads, [(m(2, 3, 2, 4), m(2, 5, 2, 4)), (m(2, 3, 1, 4), m(2, 3, 1, 4)), (m(0, 3, 2, 2), m(0, 3, 2, 2))]),
    (matrix_of, [(m(3, 4), m(4, 2)), (m(3, 0), m(0, 2)), (m(1, 4), m(4, 1))]),
    (turned, [(m(3, 4), m(4, 2))]),
    (rows_of, [(m(3, 4), m(3, 4)), (m(3, 4)[:, ::-1], np.asfortranarray(m(3, 4)))]),
    (diagonal_of, [(m(3, 3),), (m(1, 1),)]),
    (form_of, [(m(3), m(3, 2), m(2)), (m(1), m(1, 2), m(2))]),
    (batched, [(m(2, 3, 4), m(4, 5)), (m(0, 3, 4), m(4, 5))]),
    (tensors, [(m(2, 3, 4), m(4, 2))]),
    (stack_by_vector, [(m(2, 3, 4), m(4))]),
    (broadcast_stack, [(m(2, 1, 3, 4), m(5, 4, 2)), (m(3, 4), m(5, 4, 2))]),
    (grown, [(m(5),), (m(1),)]),
    (comprehended, [(m(5),), (m(1),), (m(0),)]),
    (states, [(m(4),), (m(1),), (m(2, 3),)]),
    (replaced, [(m(4),), (m(1),)]),
    (kept_if, [(m(9),), (-np.ones(3),), (m(0),)]),
    (sliced, [(m(5),), (m(2),)]),
    (nested, [(m(4),)]),
    (turned_by, [(m(3),)]),
    (crossed, [(m(3), m(3))]),
    (slopes, [(m(5),)]),
    (columns_in_turn, [(m(3, 3), m(3, 3))]),
    (likelihood, [(m(3), 0.2, m(5, 3)), (m(1), 0.2, m(1, 1))]),
    (in_order, [(m(7),), (m(40),)]),
    (in_lines, [(m(4, 5),)]),
    (ranked, [(m(6),)]),
    (middles, [(m(4, 5),), (m(5, 5),)]),
    (between, [(m(9),), (m(10),)]),
    (row_after_row, [(m(3, 4),)]),
    (so_far, [(m(6),)]),
    (stepped, [(0.7, m(3))]),
    (log_determinant, [(m(3),)]),
    (triangles, [(m(3),)]),
    (systems_of_triangles, [(m(3),)]),
    (multiplied, [(m(4),), (m(1),), (np.array([0.5, 0.0, 2.0]),), (m(8)[::2],)]),
    (edged, [(m(4),), (m(1),)]),
    (interpolated, [(2.0 * m(7),), (m(1),)]),
    (looked_up, [(m(4),)]),
    (gathered_along, [(m(3),)]),
    (gamma_functions, [(m(5),)]),
    (beside_one_another, [(m(5, 4), m(4, 3)), (m(2, 2), m(2, 1))]),
    (in_the_middle, [(m(3, 2, 4),), (m(1, 3, 1),)]),
    (sharpened, [(m(8), 0.9), (m(5), 1.4)]),
    (probabilities, [(m(5), 0.3), (m(1), -2.5)]),
    (bought, [(1.1, np.array([0.9, 1.0, 1.3]))]),
    (matrix_by_hand, [(0.3, m(2))]),
    (gates, [(m(12, 4), m(4)), (m(3, 1), m(1))]),
]


@pytest.mark.sweep(20)
@pytest.mark.parametrize(("function", "calls"), CASES, ids=lambda c: getattr(c, "__name__", ""))
def test_kernels_hold_it(function: Any, calls: list[tuple[Any, ...]]) -> None:
    for arguments, gradients in agreed(function, tuple(range(len(calls[0]))), calls):
        direction = direction_for(arguments, R)
        slope = float(derivative(lambda a: function(*a), arguments, direction))
        assert inner(gradients, direction) == pytest.approx(slope, rel=1e-6, abs=1e-8)


@pytest.mark.sweep(4)
@pytest.mark.parametrize(
    ("function", "calls"),
    [
        c
        for c in CASES
        if c[0] in (columns_in_turn, turned_by, stepped, beside_one_another, in_the_middle, sharpened, probabilities, bought, *SORTING)
    ],
    ids=lambda c: getattr(c, "__name__", ""),
)
def test_kernels_do_it_themselves(function: Any, calls: list[tuple[Any, ...]]) -> None:
    for arguments in calls:
        assert stays(function, *arguments)


def test_a_column_that_is_not_there_is_left_to_numpy() -> None:
    def past_the_end(x, k):
        return np.sum(x[:, k : k + 1] * x) + np.sum(x[k : k + 1])

    x = m(3, 3)
    for k in (0, 2, 3, 7, -1, -2):
        compiled, plain = both(past_the_end, x, k)
        assert same(compiled, plain), k
    assert stays(past_the_end, x, 2)
    assert not stays(lambda x, k: np.sum(x[k : k + 1] ** 2), x, 3)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("function", SORTING, ids=lambda f: f.__name__)
def test_equal_numbers_and_what_is_none_are_sorted_as_numpy_sorts_them(function: Any) -> None:
    lines = [
        np.array([1.0, 3.0, 1.0, 2.0, 3.0, 3.0]),
        np.array([2.0, math.nan, 1.0, 2.5, 0.0, -1.0]),
        np.zeros(6),
        np.array([0.0, -0.0, 1.0, 2.0, 3.0, -0.0]),
    ]
    for line in lines:
        x = line if function in (in_order, ranked, between, so_far) else np.stack([line, line[::-1], np.arange(6.0)])
        compiled, plain = both(function, x)
        assert same(compiled, plain), x


def test_steps_of_floats_that_numpy_refuses_are_refused() -> None:
    def steps(a, stop, step):
        return np.sum(a * np.arange(0.5, stop, step)) + a

    for stop, step in (
        (3.0, 0.25),
        (0.5, 0.25),
        (0.4, 0.25),
        (0.6, 0.25),
        (3.0, -0.1),
        (-3.0, -0.5),
        (3.0, 0.0),
        (math.inf, 1.0),
        (math.nan, 1.0),
        (1e300, 1e-9),
    ):
        compiled, plain = both(steps, 0.3, stop, step)
        assert same(compiled, plain), (stop, step)


ENDS = (0.0, -0.0, 1.0, -1.0, 700.0, -700.0, 1e308, -1e308, math.inf, -math.inf, math.nan, 1e-300, 36.0, 37.5)


def test_sums_of_exponentials_are_those_of_numpy_at_their_ends() -> None:
    def added(x, y):
        return np.sum(np.logaddexp(x, y))

    for one in ENDS:
        for other in ENDS:
            compiled, plain = both(added, np.array([one, 1.0]), np.array([other, 0.5]), wrt=(0, 1))
            assert same(compiled, plain), (one, other)
    assert stays(added, np.ones(3), np.zeros(3))


ENDS = np.array(
    [-np.inf, -800.0, -30.0, -1.0, -0.5, -0.0, 0.0, 1e-300, 1e-20, 0.1, 0.3, 0.4, 0.5, 0.65, 0.9, 1.0, 9.0, 800.0, np.inf, np.nan]
)


@pytest.mark.parametrize("name", ["expit", "log_expit", "logit", "ndtr", "log_ndtr", "entr"])
def test_functions_of_probabilities_are_those_of_scipy_at_their_ends(name: str) -> None:
    inside = ENDS[2:-3] if "ndtr" in name else ENDS
    function = symgrad.from_source(f"def f(x):\n    return special.{name}(x)\n", globals={"np": np, "special": special})
    compiled = symgrad.grad(function, jit=True).primal
    with np.errstate(all="ignore"):
        expected = function(inside)
        np.testing.assert_allclose(compiled(inside), expected, rtol=3e-14)
        np.testing.assert_allclose([compiled(float(x)) for x in inside], expected, rtol=3e-14)


@pytest.mark.parametrize("name", ["xlogy", "xlog1py", "rel_entr", "kl_div"])
def test_functions_of_pairs_of_probabilities_are_those_of_scipy_at_their_ends(name: str) -> None:
    x, y = map(np.ravel, np.meshgrid(ENDS, ENDS))
    function = symgrad.from_source(f"def f(x, y):\n    return special.{name}(x, y)\n", globals={"np": np, "special": special})
    compiled = symgrad.grad(function, jit=True).primal
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(compiled(x, y), function(x, y), rtol=3e-14)


def test_a_probability_too_small_for_a_float_is_left_to_scipy() -> None:
    function = symgrad.from_source("def f(x):\n    return special.log_ndtr(x)\n", globals={"np": np, "special": special})
    assert symgrad.grad(function, jit=True).primal(-60.0) == special.log_ndtr(-60.0)


def test_systems_of_triangles_are_known_as_such() -> None:
    text = symgrad.grad(systems_of_triangles, jit=True).source(np.ones(3))

    assert text.count("triangular_into(") > 4
    assert "solution_into(" in text  # of what has another diagonal too


def test_triangles_that_cannot_be_solved_are_left_to_numpy() -> None:
    def solved(x):
        return np.sum(np.linalg.solve(np.tril(np.outer(x, x)), x))

    derivatives = [symgrad.value_and_grad(solved, jit=jit) for jit in (True, False)]
    for diagonal in (0.0, math.nan, math.inf):
        keep_kernels(derivatives[0])
        compiled, plain = (outcome(derived, np.array([1.0, diagonal, 2.0])) for derived in derivatives)
        assert same(compiled, plain), diagonal
