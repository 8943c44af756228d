"""Lengths of slices between sums of extents and loop indices: inferred where they follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.ir.types import Dim
from symgrad.ops.indexing import Asked, inner_extent


def correlated(x: Any, w: Any) -> Any:
    h = x.shape[0] - w.shape[0] + 1
    out = np.zeros(h)
    for i in range(w.shape[0]):
        out += w[i] * x[i : i + h]
    return np.sum(np.tanh(out))


def windows(x: Any, w: Any) -> Any:
    k, s = w.shape[0], 0.0
    for i in range(x.shape[0] - k + 1):
        s += np.tanh(np.sum(x[i : i + k] * w))
    return s


def windows_in_planes(x: Any, w: Any) -> Any:
    k = w.shape[0]
    out = np.empty((x.shape[0] - k + 1, x.shape[1] - k + 1))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = np.sum(x[i : i + k, j : j + k] * w)
    return np.sum(out * out)


def backwards(x: Any, w: Any) -> Any:
    s = 0.0
    for i in range(x.shape[0] - w.shape[0], -1, -1):
        s += np.sum(np.sin(x[i : i + w.shape[0]] * w))
    return s


def every_second(x: Any, w: Any) -> Any:
    s = 0.0
    for i in range(1, x.shape[0] - w.shape[0], 2):
        s += np.sum(np.sin(x[i - 1 : i - 1 + w.shape[0]] * w))
    return s


@pytest.mark.parametrize("function", [correlated, windows, windows_in_planes, backwards, every_second], ids=lambda f: f.__name__)
def test_windows_are_as_long_as_what_they_meet(function: Callable[..., Any], random: np.random.Generator) -> None:
    ranks = 2 if function is windows_in_planes else 1
    x, w = random.standard_normal([7] * ranks), random.standard_normal([3] * ranks)
    derived = symgrad.grad(function, wrt=("x", "w"))

    assert "unbroadcast" not in derived.source(x, w)
    symgrad.check_grads(function, (x, w), wrt=("x", "w"))
    symgrad.check_grads(function, (x[:3], w) if ranks == 1 else (x[:3, :4], w), wrt=("x", "w"))


def beyond_the_end(x: Any, w: Any) -> Any:
    s = 0.0
    for i in range(x.shape[0]):
        s += np.sum(x[i : i + w.shape[0]] * w[: x.shape[0] - i])
    return s


def before_the_start(x: Any, w: Any) -> Any:
    s = 0.0
    for i in range(x.shape[0] - w.shape[0] + 2):
        s += np.sum(x[i - 1 : i - 1 + w.shape[0]] * np.sum(w))
    return s


def kernel_may_be_longer(x: Any, w: Any) -> Any:
    h, s = x.shape[0] - w.shape[0] + 1, 0.0
    for i in range(w.shape[0]):
        s += np.sum(w[i] * x[i : i + h] ** 2)
    return s


def known_in_a_branch(x: Any, w: Any, flag: bool) -> Any:
    h, s = x.shape[0] - w.shape[0] + 1, 0.0
    if flag:
        s += np.sum(np.zeros(h))
    for i in range(w.shape[0]):
        s += np.sum(w[i] * x[i : i + h] ** 2)
    return s


@pytest.mark.parametrize("sizes", [(6, 3), (3, 3), (3, 6)], ids=str)
@pytest.mark.parametrize("function", [beyond_the_end, before_the_start, kernel_may_be_longer, known_in_a_branch], ids=lambda f: f.__name__)
def test_slices_that_may_be_cut_off_or_count_from_the_end_are_not_taken_to_be_whole(
    function: Callable[..., Any], sizes: tuple[int, int], random: np.random.Generator
) -> None:
    x, w = random.standard_normal(sizes[0]), random.standard_normal(sizes[1])
    more = (False,) if function is known_in_a_branch else ()

    symgrad.check_grads(function, (x, w, *more), wrt=("x", "w"))


def test_what_follows_of_a_slice() -> None:
    n, h, i = Dim("n"), Dim("(-m+n)", 1), Dim("i")
    end = Dim("(i-m+n)", 1)
    inside = [{"i": 1}, {"m": 1, "i": -1, "": -1}]
    some = [{"n": 1, "m": -1, "": 1}]

    assert inner_extent(n, i, end) is None
    assert inner_extent(n, i, end, Asked(lambda k: 0, inside)) is None
    assert inner_extent(n, i, end, Asked(lambda k: 0, [*inside, *some])) == h
    assert inner_extent(n, i, end, Asked(lambda k: 0, [*inside, *some], {("(-m+n)", 1)})) == Dim("(-m+n)", 1, True)
    assert inner_extent(Dim("n", -2), None, None) is None
    assert inner_extent(Dim("n", -2), None, None, Asked(lambda k: 0, [{"n": 1, "": -2}])) == Dim("n", -2)
