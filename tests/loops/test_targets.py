"""Both targets on array programs: the compiled loops give the results of the NumPy code."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import programs_of_objects  # noqa: F401  # enters its programs
import pytest
from differences import leaves
from programs import PROGRAMS, Program
from targets import agreed

import symgrad
from symgrad.dispatch.table import forget_all
from symgrad.ir.core import Value
from symgrad.ir.types import INT

pytest.importorskip("numba")


@pytest.fixture(autouse=True)
def in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMGRAD_CACHE_DIR", "off")


def logsumexp(x):
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))


def softmax_weighted(x, w):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.sum(w * (e / e.sum(axis=-1, keepdims=True)))


def jacobi(a, b, steps):
    for _ in range(steps):
        b[1:-1] = 0.3 * (a[:-2] + a[1:-1] + a[2:])
        a[1:-1] = 0.3 * (b[:-2] + b[1:-1] + b[2:])
    return np.sum(a * a)


def shifted(x):
    x[1:] = x[:-1] * 2.0
    x[:-1] += x[1:] * x[1:]
    return np.sum(np.sin(x))


def layers(w, v, x):
    h = np.tanh(x @ w)
    return np.sum((h @ v) ** 2)


def masked(x):
    y = x.copy()
    y[x > 1.0] = 0.5
    return np.sum(y * x) + np.mean(x[x < 1.2])


def gathered(x, ids):
    return np.sum(x[ids] ** 2) + np.sum(x.T * 2.0)


def picked(x):
    return np.sum(x[np.array([2, 0, -1])] * np.array([1.0, x[0], 0.5]))


def columns(x):
    return np.sum(np.exp(x).sum(axis=0) * x.mean(axis=0)) + np.var(x)


def carried(x, n):
    h = x
    for _ in range(n):
        h = np.tanh(0.5 * h + x)
    return np.sum(h)


def saved_on_one_side(x, w):
    x = x.copy()
    part = x[:2]
    if w > 0.0:
        part += 0.2 * np.sin(np.tanh(part) * part)
    return w * np.sum(np.sin(x)) + np.sum(np.cos(part))


def corners(a, b):
    return np.sum(np.sin(a[:, :2] @ b[:2]) ** 2) + np.sum(np.cos(a[:2] @ b[:, :3]))


def states_of_columns(m, v):
    push = np.zeros_like(v)
    e = 0.0
    for _ in range(2):
        v += push
        x, y = v[:, 0:1], v[:, 1:2]
        push = np.hstack(((x.T - x) @ m, (y.T - y) @ m))
        e = e + np.sum(v * v)
    return e


def until_small(x, tolerance):
    for _ in range(3):
        e = x * 1.0
        while e > tolerance:
            y = np.sin(e) * x
            e = y * 0.5
        x = y + 0.3 * x
    return x


def bound_on_one_side(x, n):
    s = 0.0
    for i in range(n):
        if x > 0.5:
            y = x * x
        if i >= 2:
            s += y * x
        x = x * 0.8
    return s


def read_back_before_it_is_zeroed(x, m, w):
    x[::2] = m[::-1][[0, 1], [1, 3]] + 0.3
    return np.sum(np.tanh(np.full((4, 4), w) @ x))


R = np.random.default_rng(0)


def read_before_a_loop_changes_it(x, n):
    for _ in range(n):
        x += x
    y = np.sin(x)
    for _ in range(n):
        x += x
    return np.sum(y) + np.sum(x)


CASES: list[tuple[Any, Any, list[tuple[Any, ...]]]] = [
    (logsumexp, 0, [(R.random(n),) for n in (5, 1)]),
    (softmax_weighted, (0, 1), [(R.random(s), R.random(s)) for s in ((3, 4), (1, 1), (2, 0, 3))]),
    (jacobi, (0, 1), [(R.random(n), R.random(n), k) for n, k in ((7, 3), (3, 2), (2, 1), (7, 0))]),
    (shifted, 0, [(R.random(n),) for n in (6, 2, 1, 0)]),
    (until_small, 0, [(0.9, 0.1), (0.9, 0.01)]),
    (bound_on_one_side, 0, [(0.9, 4), (0.3, 2)]),
    (corners, (0, 1), [(R.random((4, 4)), R.random((4, 4))), (R.random((5, 3)), R.random((3, 6)))]),
    (states_of_columns, (0, 1), [(R.random((3, 1)), R.random((3, 2)))]),
    (layers, (0, 1), [(R.random((4, 3)), R.random((3, 2)), R.random((5, 4))), (R.random((1, 1)), R.random((1, 1)), R.random((0, 1)))]),
    (masked, 0, [(R.random(9) + 0.5,)]),
    (gathered, 0, [(R.random((4, 3)), np.array([0, 2, 2, -1]))]),
    (picked, 0, [(R.random(4),)]),
    (columns, 0, [(R.random((4, 3)),), (R.random((6, 8))[::2, ::3],), (np.asfortranarray(R.random((4, 3))),)]),
    (read_before_a_loop_changes_it, 0, [(R.random(4), n) for n in (0, 1, 2)]),
    (carried, 0, [(R.random(4), 5), (R.random(4), 0), (R.random(8)[::2], 2)]),
    (read_back_before_it_is_zeroed, (0, 1, 2), [(R.random(4), R.random((3, 4)), 0.6)]),
    (saved_on_one_side, (0, 1), [(R.standard_normal(5), 1.0), (R.standard_normal(5), -1.0), (R.standard_normal(2), -1.0)]),
]


@pytest.mark.sweep(4)
@pytest.mark.parametrize(("function", "wrt", "calls"), CASES, ids=lambda c: getattr(c, "__name__", ""))
def test_compiled_loops_give_what_numpy_gives(function: Any, wrt: Any, calls: list[tuple[Any, ...]]) -> None:
    assert len(list(agreed(function, wrt, calls))) == len(calls)


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_the_corpus_gives_the_same_on_both_targets(program: Program) -> None:
    compiled, plain = (symgrad.value_and_grad(program.function, wrt=program.wrt, jit=jit) for jit in ("auto", False))
    for size in program.sizes:
        actual, expected = compiled(*program.arguments(size)), plain(*program.arguments(size))
        narrow = any(getattr(leaf, "dtype", None) == np.float32 for leaf in leaves(expected))

        for one, other in zip(leaves(actual), leaves(expected), strict=True):
            assert np.shape(one) == np.shape(other)
            np.testing.assert_allclose(one, other, rtol=1e-4 if narrow else 1e-9, atol=1e-5 if narrow else 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_pullbacks_of_the_corpus_give_the_same_on_both_targets(program: Program) -> None:
    for size in program.sizes:
        (out, actual), (other, expected) = (
            symgrad.vjp(program.function, *program.arguments(size), wrt=program.wrt, jit=jit) for jit in ("auto", False)
        )
        np.testing.assert_allclose(out, other, rtol=1e-4)
        for scale in (1.0, -0.5, 1.0):
            seed = np.full_like(other, scale) if isinstance(other, np.ndarray | np.generic) else scale
            gradients = list(leaves(expected(seed)))
            narrow = any(getattr(leaf, "dtype", None) == np.float32 for leaf in gradients)
            for one, leaf in zip(leaves(actual(seed)), gradients, strict=True):
                assert np.shape(one) == np.shape(leaf)
                np.testing.assert_allclose(one, leaf, rtol=1e-4 if narrow else 1e-9, atol=1e-5 if narrow else 1e-12)


def four_counts(x, a, b, c, d):
    total = 0.0
    for k in range(a * b + c * d):
        total += x[k] * x[k]
    return total


def test_texts_do_not_hang_on_where_objects_lie_in_memory() -> None:
    def text(seed: int) -> str:
        holes = [Value(INT) for _ in range(4000)]
        random.Random(seed).shuffle(holes)
        del holes[:2000]  # what is made from here on lies wherever there is room
        forget_all()
        return symgrad.grad(four_counts, jit=True).source(np.ones(9), 1, 2, 3, 2)

    assert len({text(seed) for seed in range(8)}) == 1
