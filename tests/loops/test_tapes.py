"""Tapes of kernels: a slot for each iteration of any range, and one array for all its views."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from targets import agreed, check_targets, same, stays

import symgrad

pytest.importorskip("numba")


@pytest.fixture(autouse=True)
def in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMGRAD_CACHE_DIR", "off")


# ------------------------------------------------------------------ rounds that are counted


def rising(x, w):
    x = x.copy()
    for k in range(x.shape[0]):
        for j in range(k + 1, x.shape[0]):
            x[j] = np.sin(x[j]) * x[k] + w[k]
    return np.sum(x * x)


def falling(x, w):
    x = x.copy()
    for k in range(x.shape[0] - 1, 0, -1):
        for j in range(k - 1, -1, -1):
            x[j] = np.sin(x[j]) * x[k] + w[k]
    return np.sum(x * x)


def steps_of_three(x, w):
    x = x.copy()
    for k in range(1, x.shape[0] - 1):
        for j in range(k - 1, k + 2):
            x[j] = np.sin(x[j]) * x[k] + w[k]
    return np.sum(x * x)


def in_three_loops(x, w):
    x = x.copy()
    for i in range(x.shape[0]):
        for k in range(i, x.shape[0]):
            for j in range(k, i, -1):
                x[j] = np.sin(x[j] + x[k]) * 0.9 + x[i] * w[j]
    return np.sum(x * x)


def of_numbers(x, w):
    s = w[0, 0]
    for i in range(x.shape[0]):
        for j in range(i + 2, x.shape[1]):
            s = np.sin(s) * x[i, j] + s
    return s


def from_above(x, w):
    x = x.copy()
    for k in range(x.shape[0] - 1, 2, -1):
        x[k - 1] = np.cos(x[k]) * x[k - 1] + w[k]
    return np.sum(x * x)


R = np.random.default_rng(3)
COUNTED = [rising, falling, steps_of_three, in_three_loops, of_numbers, from_above]


@pytest.mark.sweep(4)
@pytest.mark.parametrize("function", COUNTED, ids=lambda f: f.__name__)
def test_rounds_have_places_wherever_they_begin(function: Any) -> None:
    calls = [(R.standard_normal((n, n)), R.standard_normal((n, n))) for n in (5, 4, 3, 2, 1)]
    check_targets(function, calls, jit=True)

    text = symgrad.grad(function, wrt=("x", "w"), jit=True).source(*calls[0])
    assert re.search(r"_?tape(_\d)? = new_empty\(\(", text)
    assert "= []" not in text
    assert stays(function, *calls[0])


def a_band(x, w, b):
    x = x.copy()
    for k in range(b, x.shape[0]):
        for j in range(k - b, k):
            x[j] = np.sin(x[j]) * x[k] + w[k]
    return np.sum(x * x)


def by_data(x, w, rows):
    s = x[0, 0]
    for i in range(x.shape[0] - 1):
        for j in range(rows[i], rows[i + 1]):
            s = np.sin(s) * x[i, j] + w[j, i] * s
    return s


def left_early(x, w):
    s = x[0, 0]
    for i in range(x.shape[0]):
        for j in range(i + 1, x.shape[0]):
            s = np.sin(s) * x[i, j] + w[j, i] * s
            if s > 2.0:
                break
        if x[i, 0] > 0:
            for j in range(i + 1, x.shape[0]):
                s = np.sin(s) * x[i, j] + s
    return s


@pytest.mark.parametrize(("function", "more"), [(a_band, (2,)), (by_data, (np.array([0, 2, 2, 5, 1]),)), (left_early, ())])
def test_rounds_that_few_of_would_be_run_are_kept_on_a_stack(function: Any, more: Any) -> None:
    arguments = (R.standard_normal((5, 5)), R.standard_normal((5, 5)), *more)

    assert "= []" in symgrad.grad(function, wrt=("x", "w"), jit=True).source(*arguments)
    assert list(agreed(function, ("x", "w"), [arguments]))


# ------------------------------------------------------------------ arrays that shrink


def shrinking(x, w):
    for k in range(x.shape[0] - 1):
        x = np.sin(x[:-1]) * w[0] + x[1:] * w[1]
    return np.sum(x)


def shrinking_together(x, w):
    y = x * w
    while y.shape[0] > 1:
        x = x[1:] * w[0]
        y = np.maximum(y[1:] * w[1] + y[:-1] * y[:-1], x)
    return y[0]


@pytest.mark.parametrize("function", [shrinking, shrinking_together])
def test_arrays_that_shrink(function: Any) -> None:
    calls = [(R.standard_normal(n), R.standard_normal(n)) for n in (6, 3, 2)]
    check_targets(function, calls, jit=True)


def test_the_array_is_saved_of_which_parts_are_read() -> None:
    arguments = R.standard_normal(6), R.standard_normal(6)
    for jit in (True, False):
        text = symgrad.grad(shrinking, jit=jit).source(*arguments)
        assert len(re.findall(r"(?<=_)tape(_\d)?\[k\] = ", text)) == 1


def test_a_part_that_is_much_shorter_is_saved_itself() -> None:
    def few(x, n):
        for _ in range(n):
            x = np.concatenate((np.sin(x[:3]), x[3:]))
        return np.sum(x)

    assert re.search(r" : slots\[[^\n]*f64\[\(", symgrad.grad(few).ir(R.standard_normal(50), 3))


# ------------------------------------------------------------------ what is new overlaps nothing that is older


def handed_over(x, w):
    for _ in range(x.shape[0] - 2):
        y = np.zeros(x.shape[0] - 1)
        y[1:] += x[:-2] * w[0]
        y[:-1] += x[2:] * w[1]
        x = y
    return np.sum(x * x)


def one_of_two(x, w):
    for k in range(3):
        y = np.zeros(x.shape[0])
        y += x * w
        z = y if w[k] > 0 else x
        y[1:] += z[:-1] * 0.5
        x = y
    return np.sum(x * x)


def test_new_arrays_and_those_they_replace() -> None:
    calls = [(R.standard_normal(5), w) for w in (np.array([1.0, -1.0, 1.0, 2.0, 0.5]), -np.ones(5))]
    check_targets(handed_over, calls)
    check_targets(one_of_two, calls)


def mixed(x, w):
    for _ in range(x.shape[0] - 1):
        x = x[:-1] * w[0] + x[1:] * w[1]
    return np.sum(x)


def test_what_is_added_to_a_new_array_is_read_from_the_one_before_it() -> None:
    arguments = R.standard_normal(6), R.standard_normal(2)
    check_targets(mixed, [arguments])

    _, backward = symgrad.grad(mixed, jit=True).source(*arguments).split("-1, -1):")
    assert "new_zeros" in backward
    assert "new_empty" not in backward


def unless_it_cannot_be(x, w):
    if w[0] + w[1] >= 1.0 or w[0] <= 0.0:
        return np.inf
    spread = np.empty(x.shape[0])
    spread[0] = w[2] / (1.0 - w[0] - w[1])
    for t in range(1, x.shape[0]):
        spread[t] = w[2] + w[0] * x[t - 1] ** 2 + w[1] * spread[t - 1]
    return np.sum(np.log(spread) + x**2 / spread)


def one_way_or_the_other(x, w):
    if w[0] > 0.0:
        h = x * 1.0
        for t in range(1, x.shape[0]):
            h[t] = w[0] * h[t - 1] + w[1] * np.sin(x[t] * h[t - 1])
    else:
        h = x * w[1]
    h *= h
    w_2 = h[2] * 3.0
    h[2] = w_2 * w_2 * h[0]
    return np.sum(h) * w[0]


def until_it_is_large(x, w):
    if w[0] > 0.0:
        h, rounds = x, 0
        while h[0] < 3.0 and rounds < 20:
            h = h + np.sin(w[1] * h * h[0]) * w[0] + 0.1
            rounds += 1
    else:
        h = x * w[1]
    h = h * h
    return np.sum(h) * w[0]


@pytest.mark.parametrize("function", [unless_it_cannot_be, one_way_or_the_other, until_it_is_large])
def test_tapes_of_loops_in_branches(function) -> None:
    x = np.array([0.3, 0.7, 1.1, 0.2, 0.9])
    check_targets(function, [(x, np.array(w)) for w in ([0.3, 0.4, 0.5], [-0.3, 0.4, 0.5], [0.3, 0.1, 0.2])])
    assert stays(function, x, np.array([0.3, 0.4, 0.5]), wrt=(0, 1))


# ------------------------------------------------------------------ dtypes of what is saved


def scaled(v, s):
    for i in range(len(v)):
        v[i] = v[i] * s
        if i > 3:
            return i
    return -1


def narrow_on_one_path(x, w):
    v = x.astype(np.float32)
    total = 0.0
    if w[0] > 0.5:
        total += scaled(v, w[1])
    return np.sum(v) + total


@pytest.mark.parametrize("length", [6, 3, 1])
def test_a_tape_of_narrow_numbers_that_only_one_branch_fills(length: int) -> None:
    calls = [(np.linspace(-1.0, 3.0, length), np.array(w)) for w in ([0.7, 1.5], [0.2, 1.5])]
    compiled, plain = (symgrad.value_and_grad(narrow_on_one_path, wrt=("x", "w"), jit=jit) for jit in (True, False))
    for arguments in calls:
        assert same(compiled(*arguments), plain(*arguments), 1e-5, 1e-6)
        assert stays(narrow_on_one_path, *arguments)
