"""Texts and sets in kernels, compared with the NumPy code; shared sorting; rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from targets import check_targets, stays

import symgrad
from symgrad.errors import NotCompiled

pytest.importorskip("numba")

R = np.random.default_rng(11)
CLASSES = {"A": 0.5, "G": 1.5, "C": -0.5, "T": 2.0}
BOARD = ("..#.", "#...", ".#.#")


@pytest.fixture(autouse=True)
def in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMGRAD_CACHE_DIR", "off")


def letters(x, w):
    total = 0.0
    for i in range(len(x)):
        a, b = "GATTACA"[i], "CATG"[i % 4]
        if a == b:
            total += x[i] * w[0]
        elif a != "T":
            total -= x[i] ** 2
        else:
            total += w[1]
    return total


def keys_of_a_dict(x, w):
    return sum(CLASSES["GATTACA"[k]] * x[k] * w[k % 2] for k in range(len(x)))


def from_the_end(x, w):
    text, total = "abcab", 0.0
    for i in range(1, len(x) + 1):
        if text[-i] == text[0]:
            total += x[-i] * w[0]
    return total * w[1]


def put_together(x, w):
    pairs, total = "CNO", 0.0
    for i in range(len(x)):
        pair = pairs[i % 3] + pairs[(i + 1) % 3]
        if pair == "CN" or pair == "OC":
            total += x[i] * w[0]
        if len(pair + pairs[0]) == 3:
            total += w[1]
    return total


def carried(x, w):
    before, total = "", 0.0
    for k in range(len(x)):
        here = "xyx"[k % 3]
        if before != "" and here != before:
            total += x[k] * w[0]
        before = here if x[k] > 0.0 else before + "x"
    return total + (w[1] if before == "x" else w[1] ** 2)


def boards(x, w):
    total = 0.0
    for i in range(3):
        for j in range(len(x)):
            if BOARD[i][j % 4] == "#":
                total += x[j] * w[0] * (i + 1)
    return total + w[1]


def sets_of_letters(x, w):
    total = 0.0
    for i in range(len(x)):
        pair = {"ABCA"[i % 4], "CAAB"[i % 4]}
        if pair == {"A", "C"}:
            total += x[i] * w[0]
        elif pair <= {"A", "B"}:
            total += x[i] * w[1]
    return total


def sets_of_numbers(x, w):
    seen = set(np.unique(np.where(x > 0.0, 1, 0)).tolist())
    if seen <= {0}:
        return np.sum(x) * w[0]
    if seen == {0, 1} or 5 in seen:
        return np.sum(x * x) * w[1]
    return np.sum(x) + w[1]


def among(x, w):
    total = 0.0
    for i in range(len(x)):
        letter = "stride"[i]
        if letter in "aeiou":
            total += x[i] * w[0]
        if letter not in ("s", "d"):
            total += w[1]
    return total


def once_each(x, w):
    levels = np.unique(np.round(x * 2.0))
    return np.sum(levels * np.sum(x)) * w[0] + len(levels) * w[1]


def rounded(x, w):
    grid = np.round(x * w[0], 1)
    total = 0.0
    for k in range(len(x)):
        total += (x[k] - round(grid[k])) ** 2 + np.round(10.0 * x[k], -1) * w[1] + x[k] * np.round(w[0], 2)
    return total + np.sum(grid * x)


CALLS = [(R.standard_normal(n), np.array(w)) for n, w in ((4, (0.7, 0.3)), (5, (0.2, 0.9)), (3, (-0.4, 0.5)), (2, (1.2, -0.1)))]
PROGRAMS = [
    letters, keys_of_a_dict, from_the_end, put_together, carried, boards, sets_of_letters, sets_of_numbers, among, once_each, rounded,
]  # fmt: skip


@pytest.mark.sweep(5)
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_the_kernel_gives_what_the_numpy_code_gives(function: Any) -> None:
    check_targets(function, CALLS, jit=True)
    assert stays(function, *CALLS[0], wrt=(0, 1))


@pytest.mark.parametrize("place", [7, -8])
def test_a_character_that_is_not_there_raises(place: int) -> None:
    def read(x, k):
        return x * 2.0 if "GATTACA"[k] == "A" else x

    derived = symgrad.grad(read, wrt="x", jit=True)
    assert derived(1.5, 1) == 2.0
    with pytest.raises(IndexError, match="string index out of range"):
        derived(1.5, place)


def test_a_key_that_is_not_there_raises() -> None:
    def read(x, k):
        return x * CLASSES["GATTNCA"[k]]

    derived = symgrad.grad(read, wrt="x", jit=True)
    assert derived(1.5, 1) == 0.5
    with pytest.raises(KeyError, match="N"):
        derived(1.5, 4)


@pytest.mark.parametrize("level", [np.nan, np.inf])
def test_numbers_that_are_equal_to_nothing(level: float) -> None:
    def count(x):
        return np.sum(x) * len(np.unique(x))

    x = np.array([1.0, level, 1.0, level])
    derived, plain = (symgrad.value_and_grad(count, jit=jit) for jit in (True, False))
    for one, other in zip(derived(x), plain(x), strict=True):
        np.testing.assert_equal(one, other)


def test_other_questions_are_left_to_numpy_code() -> None:
    def asked(x, k):
        letter = "GATTACA"[k]
        return x * (2.0 if letter.lower() == "g" else 3.0)

    with pytest.warns(NotCompiled, match="a text or a set that is computed"):
        assert symgrad.grad(asked, wrt="x", jit=True)(1.5, 0) == 2.0
