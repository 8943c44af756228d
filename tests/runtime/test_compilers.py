"""Our kernel compiler compared with numba's own, on every kernel of the corpus; unknown releases use numba's."""

from __future__ import annotations

import copy
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import programs_of_objects  # noqa: F401  # enters its programs
import pytest
from programs import PROGRAMS, Program
from targets import keep_kernels, same

import symgrad
from symgrad.errors import NotCompiled
from symgrad.runtime import kernels

numba = pytest.importorskip("numba")
X = np.array([0.7, -0.3, 1.1])


def squares(x):
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * x[i]
    return total


def result(program: Program) -> Any:
    """Value and gradients of a program as a kernel computes them, None where it has no kernel."""
    arguments = program.arguments(program.sizes[-1])
    derivative = symgrad.value_and_grad(program.function, argnums=program.wrt, jit=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotCompiled)
        try:
            derivative(*copy.deepcopy(arguments))
        except NotCompiled:
            return None
    keep_kernels(derivative)
    return derivative(*copy.deepcopy(arguments))


@pytest.fixture
def in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMGRAD_CACHE_DIR", "off")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.usefixtures("in_memory")
@pytest.mark.sweep(50)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_both_compilers_give_the_same(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = result(program)
    if ours is None:
        pytest.skip("has no kernel")
    monkeypatch.setattr(kernels, "COMPARED", ())

    assert same(result(program), ours)


@pytest.mark.usefixtures("in_memory")
def test_an_unknown_release_gets_its_own_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    assert kernels.own_compiler() is not None
    monkeypatch.setattr(numba, "__version__", "0.999.0")

    assert kernels.own_compiler() is None
    derivative = symgrad.grad(squares, jit=True)
    np.testing.assert_allclose(derivative(X), 2 * X)
    told = derivative.explain(X)
    assert "numba's own is used" in told
    hint = re.search(r"install a tested release, (\S+) to (\S+)", told)
    assert hint is not None and hint.groups() == (kernels.COMPARED[0], kernels.COMPARED[-1])


def test_following_the_hint_gives_our_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    for release in (kernels.COMPARED[0], kernels.COMPARED[-1]):
        monkeypatch.setattr(numba, "__version__", f"{release}.1")
        assert kernels.is_compared()


def test_the_oldest_release_is_that_of_the_project() -> None:
    declared = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    assert f"numba>={kernels.COMPARED[0]}" in declared
