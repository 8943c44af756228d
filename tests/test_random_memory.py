"""Random programs with views and aliases, for several extents, layouts and types: value, gradient, exceptions."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from differences import changed, copied, derivative, direction_for, double, inner, leaves, same
from memory_strategies import SITUATIONS, memory_arguments, random_memory_program
from strategies import loaded
from targets import outcome
from targets import same as alike

import symgrad
from symgrad.errors import InvalidIR

#: a program may not depend on all of its arguments
pytestmark = pytest.mark.filterwarnings("ignore::symgrad.errors.NotActiveWarning")

QUICK, SLOW = 8, 6_000
#: the positions of the arguments that are differentiated: x, m and w
WRT = (0, 1, 4)
#: the most of all calls that may be refused, that stand at a kink, that raise by themselves, and that are singular
REFUSED, KINKS, RAISING, SINGULAR = 0.4, 0.05, 0.4, 0.05


@dataclass
class Tally:
    """What became of the calls of the programs."""

    right: int = 0
    refused: int = 0
    at_a_kink: int = 0
    raising: int = 0  #: the program raises, and so does its derivative, or its value is not finite
    singular: int = 0  #: the gradient is not finite, though differences are: infinite partials of what is not chosen

    def report(self) -> str:
        return f"{self.right} right, {self.refused} refused, {self.at_a_kink} at a kink, {self.raising} raise, {self.singular} singular"


def held(situation: int) -> tuple[Any, ...]:
    """Arguments as they are laid out."""
    return tuple(copied(a) if isinstance(a, np.ndarray) else a for a in memory_arguments(situation))


def along(function: Callable[..., Any], situation: int) -> Callable[[Any], Any]:
    """The function, of what is differentiated alone."""
    _, _, k, j, _ = memory_arguments(situation)

    def value(at: Any) -> Any:
        x, m, w = changed(at, copied)
        return function(x, m, k.copy(), j, w)

    return value


def differentiated(situation: int) -> tuple[Any, ...]:
    return tuple(memory_arguments(situation)[place] for place in WRT)


def is_narrow(situation: int) -> bool:
    return SITUATIONS[situation][3] == "float32"


def check(text: str, tally: Tally) -> None:
    """One program at all arguments, which share their code where their types are the same; what is wrong fails with its source."""
    with loaded(text) as function:
        derived = symgrad.value_and_grad(function, wrt=WRT, allow_unused=True)
        for situation in range(len(SITUATIONS)):
            check_at(text, function, derived, situation, tally)


def check_at(text: str, function: Callable[..., Any], derived: Any, situation: int, tally: Tally) -> None:
    where = f"at {SITUATIONS[situation]}\n{text}"
    expected = outcome(function, *held(situation))
    arguments = held(situation)
    try:
        actual = derived(*arguments)
    except InvalidIR as fault:
        raise AssertionError(f"a stage fails {where}") from fault
    except symgrad.SymgradError:
        tally.refused += 1
        return
    except Exception as problem:
        if isinstance(expected, tuple):  # of two exceptions, a later one may come first
            tally.raising += 1
            return
        raise AssertionError(f"the derivative of a program that gives {expected} raises {where}") from problem
    assert not isinstance(expected, tuple), f"the program raises {expected}, its derivative does not, {where}"
    assert same(arguments, held(situation)), f"an argument was written to {where}"
    value, gradient = actual
    if not np.isfinite(expected):
        assert np.array_equal(value, expected, equal_nan=True), f"the value is {value}, not {expected} {where}"
        tally.raising += 1
        return
    assert value == pytest.approx(expected, rel=1e-4 if is_narrow(situation) else 1e-11, abs=1e-13), f"the value is wrong {where}"
    for one, other in zip(leaves(gradient), leaves(differentiated(situation)), strict=True):
        assert np.asarray(one).dtype == np.asarray(other).dtype and np.shape(one) == np.shape(other), (
            f"a gradient is of another type {where}"
        )
    again = derived(*held(situation))
    assert same(again, actual), f"a second call gives another result {where}"
    agree(where, function, gradient, situation, tally)


def agree(where: str, function: Any, gradient: Any, situation: int, tally: Tally) -> None:
    """Two directions and two steps; where the steps disagree a branch changes in between, and nothing can be said."""
    narrow_type = is_narrow(situation)
    relative, absolute = (2e-3, 2e-3) if narrow_type else (2e-6, 2e-7)
    at = double(differentiated(situation))
    for seed in range(2):
        direction = direction_for(at, np.random.default_rng(seed))
        wide, narrow, least = (outcome(derivative, along(function, situation), at, direction, step) for step in (1e-4, 2e-5, 4e-6))
        if isinstance(wide, tuple) or isinstance(narrow, tuple) or isinstance(least, tuple):
            tally.at_a_kink += 1
            return
        if not (abs(wide - narrow) <= 1e-6 * (1.0 + abs(narrow)) and abs(least - narrow) <= 1e-6 * (1.0 + abs(narrow))):
            tally.at_a_kink += 1
            return
        got = inner(gradient, direction)
        if not np.isfinite(got):
            tally.singular += 1
            return
        size = max(1.0, *(float(np.max(np.abs(g), initial=0.0)) for g in leaves(gradient)))
        assert abs(got - narrow) <= relative * abs(narrow) + absolute * size, f"the gradient is {got}, not {narrow} {where}"
    tally.right += 1


def check_further(text: str, tally: Tally) -> None:
    """The pullback, called twice, and the second derivative, against differences of the gradient."""
    with loaded(text) as function:
        derived = symgrad.grad(function, wrt=WRT, allow_unused=True)
        for situation in (0, 2, 3):
            where = f"at {SITUATIONS[situation]}\n{text}"
            if isinstance(outcome(function, *held(situation)), tuple):
                tally.raising += 1
                continue
            at = differentiated(situation)
            directions = [direction_for(at, np.random.default_rng(seed)) for seed in (2, 3)]
            try:
                gradient = derived(*held(situation))
                _, pullback = symgrad.vjp(function, *held(situation), wrt=WRT)
                pulled = [pullback(1.0) for _ in range(2)]
                _, pullback = symgrad.vjp(derived, *held(situation), wrt=WRT)
                second = pullback(directions[0])
            except InvalidIR as fault:
                raise AssertionError(f"a stage fails in the second derivative {where}") from fault
            except symgrad.SymgradError:
                tally.refused += 1
                continue
            except Exception as problem:
                raise AssertionError(f"the second derivative of a good program raises {where}") from problem
            if not all(np.all(np.isfinite(one)) for one in leaves((gradient, second))):
                tally.singular += 1
                continue
            for one in pulled:
                assert all(map(np.allclose, leaves(one), leaves(gradient))), f"the pullback is wrong {where}"

            def slope(at: Any, situation: int = situation, direction: Any = directions[0]) -> Any:
                x, m, w = changed(at, copied)
                _, _, k, j, _ = memory_arguments(situation)
                with loaded(text):
                    return inner(derived(x, m, k, j, w), direction)

            wide, narrow, least = (outcome(derivative, slope, at, directions[1], step) for step in (1e-4, 2e-5, 4e-6))
            if any(isinstance(one, tuple) for one in (wide, narrow, least)) or not (
                abs(wide - narrow) <= 1e-5 * (1.0 + abs(narrow)) and abs(least - narrow) <= 1e-5 * (1.0 + abs(narrow))
            ):
                tally.at_a_kink += 1
                continue
            got = inner(second, directions[1])
            assert got == pytest.approx(narrow, rel=2e-5, abs=2e-6), f"the second derivative is {got}, not {narrow} {where}"
            tally.right += 1


def check_targets(text: str, tally: Tally) -> None:
    """The compiled loops give what the NumPy code gives, and raise what it raises."""
    with loaded(text) as function:
        compiled, plain = (symgrad.value_and_grad(function, wrt=WRT, allow_unused=True, jit=jit) for jit in ("auto", False))
        for situation in range(len(SITUATIONS)):
            try:
                expected = plain(*held(situation))
            except symgrad.SymgradError:
                tally.refused += 1
                continue
            except Exception as error:
                expected = type(error).__name__, str(error)
            actual = outcome(compiled, *held(situation))
            where = f"at {SITUATIONS[situation]}\n{text}"
            if isinstance(expected[0], str) or isinstance(actual[0], str):
                assert isinstance(actual[0], str) and isinstance(expected[0], str), f"{actual}, not {expected} {where}"
                tally.raising += 1
                continue
            assert alike(actual, expected, *((1e-3, 1e-3) if is_narrow(situation) else (1e-9, 1e-11))), f"{actual}, not {expected} {where}"
            tally.right += 1


def run(count: int, first: int = 0, checking: Callable[[str, Tally], None] = check, size: int = 10) -> Tally:
    tally = Tally()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        for seed in range(first, first + count):
            checking(random_memory_program(seed, size), tally)
    print(tally.report())
    return tally


def assert_few_refused(tally: Tally) -> None:
    every = tally.right + tally.refused + tally.at_a_kink + tally.raising + tally.singular
    assert tally.refused <= REFUSED * every, tally.report()
    assert tally.at_a_kink <= KINKS * every, tally.report()
    assert tally.raising <= RAISING * every, tally.report()
    assert tally.singular <= SINGULAR * every, tally.report()


def test_random_programs_of_memory_are_right_or_refused() -> None:
    assert_few_refused(run(QUICK))


@pytest.mark.slow
def test_many_random_programs_of_memory_are_right_or_refused() -> None:
    assert_few_refused(run(SLOW, int(os.environ.get("SYMGRAD_FIRST_SEED", "1000"))))


@pytest.mark.slow
def test_random_programs_of_memory_have_right_second_derivatives() -> None:
    run(SLOW // 20, int(os.environ.get("SYMGRAD_FIRST_SEED", "1000")), check_further)


@pytest.mark.slow
def test_random_programs_of_memory_give_the_same_on_both_targets(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    monkeypatch.setenv("SYMGRAD_CACHE_DIR", "off")
    run(SLOW // 40, int(os.environ.get("SYMGRAD_FIRST_SEED", "1000")), check_targets)


def test_a_seed_always_gives_the_same_program() -> None:
    assert random_memory_program(12) == random_memory_program(12)
