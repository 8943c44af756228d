"""Characters of texts at computed indices, read by Python at run time, in loops of any length."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad

FIRST, SECOND = "GATTACAGGATTACACATTAGGATTACA", "GCATGCUGGATTACAT"
X = np.array([0.3, 0.5])


def matched(x, first, second):
    total = 0.0
    for i in range(1, len(first) + 1):
        for j in range(len(second)):
            total += x[0] * i if first[i - 1] == second[j] else x[1] * j
    return total


def of_the_module(x):
    total = 0.0
    for i in range(len(FIRST)):
        if FIRST[-i] in "GC":
            total += x[0] * i
    return total * x[1]


def caught(x):
    total = 0.0
    for i in range(20):
        try:
            total += x[0] if SECOND[i] == "A" else x[1]
        except IndexError:
            total += x[0] * x[1]
    return total


def beyond(x):
    total = 0.0
    for i in range(len(FIRST)):
        total += x[0] if SECOND[i] == "A" else x[1]
    return total


@pytest.mark.parametrize(("f", "others"), [(matched, (FIRST, SECOND)), (of_the_module, ()), (caught, ())])
@pytest.mark.parametrize("jit", [False, "auto"])
def test_items_of_texts(f, others, jit):
    value, gradient = symgrad.value_and_grad(f, jit=jit)(X, *others)
    slopes = [(f(X + s, *others) - f(X - s, *others)) / 2e-6 for s in 1e-6 * np.eye(2)]
    assert value == pytest.approx(f(X, *others))
    np.testing.assert_allclose(gradient, slopes, rtol=1e-6)
    assert len(symgrad.grad(f).source(X, *others).splitlines()) < 80


def test_an_index_beyond_the_end_raises():
    with pytest.raises(IndexError, match="string index out of range"):
        symgrad.grad(beyond)(X)
