"""Random compositions of operators, two or three deep, compared with differences."""

from __future__ import annotations

import linecache
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from composed import composition

import symgrad
from symgrad.errors import NoDerivative

X = np.array([0.6, 0.9, -0.5])
#: what is not differentiated again: rows that read what any number of rounds has saved
REFUSED = "the rows of a Jacobian that is differentiated read values saved"


def loaded(seed: int, depth: int) -> tuple[Any, list[str]]:
    """The last function of a composition, with its source in reach of ``inspect``, and the words of what it is composed of."""
    text, words = composition(seed, depth)
    name = f"<composition {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    module: dict[str, Any] = {"__name__": f"composition_{seed}"}
    exec(compile(text, name, "exec", dont_inherit=True), module)
    return module[f"f{len(words) - 1}"], words


@contextmanager
def refused_rows(words: list[str]) -> Iterator[None]:
    """Let the refusal of rows pass that are not differentiated again, where a matrix is among the operators."""
    try:
        yield
    except NoDerivative as refusal:
        assert refusal.what.startswith(REFUSED)
        assert any(one.startswith(("jac", "determinant", "hessian", "root")) for one in words), words


@pytest.mark.filterwarnings("ignore::symgrad.errors.NotActiveWarning")
@pytest.mark.parametrize("seed", [104, 107, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(108, 208))])
def test_compositions_agree_with_differences(seed: int) -> None:
    function, words = loaded(seed, 3 if seed % 3 == 0 else 2)
    with refused_rows(words):
        symgrad.check_grads(function, (X,), directions=1)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::symgrad.errors.NotActiveWarning", "ignore::symgrad.errors.NotCompiled")
@pytest.mark.parametrize("seed", range(300, 320))
def test_compositions_in_kernels_are_those_of_numpy_code(seed: int) -> None:
    pytest.importorskip("numba")
    function, words = loaded(seed, 2)
    with refused_rows(words):
        out, pullback = symgrad.vjp(function, X)
        compiled, back = symgrad.vjp(function, X, jit=True)
        weights = np.cos(np.arange(float(np.size(out)))).reshape(np.shape(out))[()]
        np.testing.assert_allclose(compiled, out, rtol=1e-10, atol=1e-13)
        np.testing.assert_allclose(back(weights)[0], pullback(weights)[0], rtol=1e-9, atol=1e-12)


def test_what_is_composed_is_varied() -> None:
    words = {one.partition(" (")[0] for seed in range(108, 208) for one in composition(seed, 2 + (seed % 3 == 0))[1]}
    assert len(words) >= 20
    assert composition(7) == composition(7)
