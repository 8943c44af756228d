"""Random programs on both targets: the same results and exceptions."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from array_strategies import random_array_program
from strategies import arguments, loaded, odd_arguments, random_program
from targets import outcome, same

import symgrad

#: a program may not depend on all of its arguments
pytestmark = pytest.mark.filterwarnings("ignore::symgrad.errors.NotActiveWarning")

pytest.importorskip("numba")

#: how many programs of which length; compiling takes most of the time, more than in proportion to the length
QUICK, SHORT = 6, 3
SLOW, LONG = 400, 6
#: the least of all programs that must run compiled
COMPILED, COMPILED_ARRAYS = 0.6, 0.4


@pytest.fixture(autouse=True)
def gradients_checked() -> None:
    """Pullbacks are looked into, and so are handed out as they are."""


@pytest.fixture(autouse=True)
def in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMGRAD_CACHE_DIR", "off")


def check(seed: int, length: int) -> bool | None:
    """Compare the targets on one program; whether it was compiled, None if it is refused."""
    text = random_program(seed, length)
    with loaded(text) as function, np.errstate(all="ignore"):
        compiled, plain = (symgrad.value_and_grad(function, wrt=(0, 1), jit=jit) for jit in ("auto", False))
        try:
            plain(*arguments())
        except symgrad.SymgradError:
            return None
        for args in (arguments(), *odd_arguments()):
            actual, expected = (outcome(derivative, *args) for derivative in (compiled, plain))
            assert same(actual, expected, 1e-9, 1e-11), f"program {seed} of length {length} at {args}: {actual}, not {expected}\n{text}"
        kernels = [value for name, value in compiled.compiled(*arguments()).__globals__.items() if name.endswith("_kernel")]
        for kernel in kernels:
            assert isinstance(outcome(kernel, *arguments())[0], float), f"the kernel of program {seed} of length {length} gives up\n{text}"
        return bool(kernels)


def run(count: int, length: int, first: int = 0) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        outcomes = [check(seed, length) for seed in range(first, first + count)]
    taken = [is_compiled for is_compiled in outcomes if is_compiled is not None]
    print(f"{sum(taken)} compiled, {len(taken) - sum(taken)} run as NumPy code, {len(outcomes) - len(taken)} refused")
    assert sum(taken) >= COMPILED * len(taken)


def test_random_programs_give_the_same_on_both_targets() -> None:
    run(QUICK, SHORT)


@pytest.mark.slow
def test_many_random_programs_give_the_same_on_both_targets() -> None:
    run(SLOW, LONG, int(os.environ.get("SYMGRAD_FIRST_SEED", "1000")))


def check_arrays(seed: int, length: int) -> bool | None:
    """The same for programs of arrays, at their own arguments; a kernel may leave to NumPy what has an extent of 1."""
    text, at = random_array_program(seed, length)
    with loaded(text) as function, np.errstate(all="ignore"):
        compiled, plain = (symgrad.value_and_grad(function, wrt=(0, 1, 2), jit=jit) for jit in ("auto", False))
        try:
            expected = plain(*at())
        except symgrad.SymgradError:
            return None
        actual = outcome(compiled, *at())
        assert same(actual, expected, 1e-9, 1e-11), f"program {seed} of length {length}: {actual}, not {expected}\n{text}"
        return any(name.endswith("_kernel") for name in compiled.compiled(*at()).__globals__)


def run_arrays(count: int, length: int, first: int = 0) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        outcomes = [check_arrays(seed, length) for seed in range(first, first + count)]
    print(f"{outcomes.count(True)} compiled, {outcomes.count(False)} run as NumPy code, {outcomes.count(None)} refused")
    assert outcomes.count(True) >= COMPILED_ARRAYS * (count - outcomes.count(None))


def test_random_programs_of_arrays_give_the_same_on_both_targets() -> None:
    run_arrays(QUICK // 2, SHORT)


@pytest.mark.slow
def test_many_random_programs_of_arrays_give_the_same_on_both_targets() -> None:
    run_arrays(SLOW, LONG, int(os.environ.get("SYMGRAD_FIRST_SEED", "1000")))


# ------------------------------------------------------------------ pullbacks


def pulled(pullback: Callable[..., Any], seeds: Sequence[float]) -> list[Any]:
    """What a pullback gives for each seed, or what is raised."""
    return [outcome(pullback, seed) for seed in seeds]


def check_pullback(text: str, arguments_of: Callable[[], tuple[Any, ...]]) -> bool | None:
    """Call the pullbacks of both targets for several seeds, one of them twice; were there kernels, None if it is refused?"""
    with loaded(text) as function, np.errstate(all="ignore"):
        wrt = tuple(range(len(arguments_of())))
        try:
            out, plain = symgrad.vjp(function, *arguments_of(), wrt=wrt)
        except (symgrad.SymgradError, ArithmeticError, ValueError, IndexError):
            return None
        value, pullback = symgrad.vjp(function, *arguments_of(), wrt=wrt, jit="auto")
        one, other = (pulled(p, (1.0, -0.5, 1.0)) for p in (pullback, plain))
        assert same((value, one), (out, other), 1e-9, 1e-11), f"{one}, not {other}\n{text}"
        return any(name.endswith("_backward_kernel") for name in pullback.__code__.co_names)


def run_pullbacks(count: int, length: int, first: int = 0) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        outcomes = [check_pullback(random_program(seed, length), arguments) for seed in range(first, first + count)]
        outcomes += [check_pullback(*random_array_program(seed, length)) for seed in range(first, first + count)]
    print(f"{outcomes.count(True)} compiled, {outcomes.count(False)} run as NumPy code, {outcomes.count(None)} refused")
    assert outcomes.count(True) >= COMPILED_ARRAYS * (len(outcomes) - outcomes.count(None))


def test_pullbacks_of_random_programs_give_the_same_on_both_targets() -> None:
    run_pullbacks(QUICK // 2, SHORT)


@pytest.mark.slow
def test_pullbacks_of_many_random_programs_give_the_same_on_both_targets() -> None:
    run_pullbacks(SLOW, LONG, int(os.environ.get("SYMGRAD_FIRST_SEED", "1000")))
