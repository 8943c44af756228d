"""Random programs with Python objects, compared with Python and differences: values, gradients, prints, unchanged arguments."""

from __future__ import annotations

import contextlib
import io
import os
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from differences import changed, copied, derivative, direction_for, inner, leaves, same
from object_strategies import object_arguments, random_object_program
from strategies import loaded

import symgrad
from symgrad.errors import InvalidIR, Mismatch

pytestmark = pytest.mark.filterwarnings("ignore::symgrad.errors.NotActiveWarning")

QUICK, SLOW = 40, 20_000
#: the most of all calls that may be refused, and that stand at a kink
REFUSED, KINKS = 0.15, 0.05
#: programs that once were wrong
FAILED: tuple[int, ...] = ()
#: values beyond it turn within the step of a difference (their sines do), so that no difference can judge the gradient
LARGEST = 1e12
WRT = ("x", "items", "w")


@dataclass
class Tally:
    """What became of the calls of the programs."""

    right: int = 0
    refused: list[int] = field(default_factory=list)
    at_a_kink: int = 0
    raising: int = 0  #: the program raises, and so does its derivative, or its value is not finite
    singular: int = 0  #: the gradient is not finite: infinite slopes of what has none, such as the root of w + abs(w)
    too_large: int = 0  #: the value is right, and too large for differences to judge the gradient
    reasons: dict[str, int] = field(default_factory=dict)

    @property
    def all(self) -> int:
        return self.right + len(self.refused) + self.at_a_kink + self.raising + self.singular + self.too_large

    def report(self) -> str:
        reasons = sorted(self.reasons.items(), key=lambda pair: -pair[1])[:12]
        text = (
            f"{self.right} right, {len(self.refused)} refused, {self.at_a_kink} at a kink, {self.raising} raise by themselves, "
            f"{self.singular} singular, {self.too_large} too large to judge"
        )
        return "\n".join([text, *(f"{count:5} {reason}" for reason, count in reasons)])


def told(function: Callable[..., Any], *args: Any) -> tuple[Any, str]:
    """What a function gives, or the class and text of what it raises; and what it prints."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output), np.errstate(all="ignore"):
        try:
            return function(*args), output.getvalue()
        except symgrad.SymgradError:
            raise
        except Exception as error:
            return (type(error).__name__, str(error)), output.getvalue()


def check(seed: int, tally: Tally, jit: Any = False, situations: Iterable[int] = (0, 1, 2)) -> None:
    """One program at several arguments, which share their code where they are of one kind; what is wrong fails with its source."""
    text = random_object_program(seed)
    with loaded(text) as function:
        derived = symgrad.value_and_grad(function, wrt=WRT, allow_unused=True, jit=jit)
        for situation in situations:
            check_at(text, function, derived, situation, tally, seed)


def check_at(text: str, function: Callable[..., Any], derived: Any, situation: int, tally: Tally, seed: int) -> None:
    where = f"program {seed} at arguments {situation}\n{text[text.index('def f(') :]}"
    expected, printed = told(function, *object_arguments(situation))
    args = object_arguments(situation)
    try:
        result, output = told(derived, *args)
    except (InvalidIR, Mismatch) as fault:
        raise AssertionError(f"{type(fault).__name__}: {fault}\n{where}") from fault
    except symgrad.SymgradError as refusal:
        tally.refused.append(seed)
        reason = f"{type(refusal).__name__}: {str(refusal).splitlines()[0]}"
        tally.reasons[reason] = tally.reasons.get(reason, 0) + 1
        return
    assert same(args, object_arguments(situation)), f"an argument was written to, {where}"
    assert output == printed, f"{output!r} is printed, not {printed!r}, {where}"
    if isinstance(expected, tuple):
        assert result == expected, f"{result} is raised, not {expected}, {where}"
        tally.raising += 1
        return
    if not np.isfinite(expected):
        tally.raising += 1
        return
    assert not (isinstance(result[0], str)), f"{result} is raised, {where}"
    value, gradients = result
    assert value == pytest.approx(expected, rel=1e-11, abs=1e-13), f"the value is {value}, not {expected}, {where}"
    if abs(expected) > LARGEST:
        tally.too_large += 1
        return
    agree(where, function, gradients, situation, tally)


def agree(where: str, function: Callable[..., Any], gradients: Any, situation: int, tally: Tally) -> None:
    """Two directions and two steps; where the steps disagree a branch changes in between, and nothing can be said."""
    x, items, name, w = object_arguments(situation)
    if not all(np.all(np.isfinite(leaf)) for leaf in leaves(gradients)):
        tally.singular += 1
        return

    def value(at: Any) -> Any:
        with contextlib.redirect_stdout(io.StringIO()):
            y, those, v = changed(at, copied)
            return function(y, list(those), name, v)

    for seed in range(2):
        direction = direction_for((x, items, w), np.random.default_rng(seed))
        wide, narrow = (derivative(value, (x, items, w), direction, step) for step in (1e-4, 2e-5))
        if not abs(wide - narrow) <= 1e-6 * (1.0 + abs(narrow)):
            tally.at_a_kink += 1
            return
        slope = inner(gradients, direction)
        assert slope == pytest.approx(narrow, rel=2e-6, abs=1e-7), f"the gradient is wrong: {slope}, not {narrow}, {where}"
    tally.right += 1


def run(count: int, first: int = 0, jit: Any = False, situations: Iterable[int] = (0, 1, 2)) -> Tally:
    tally = Tally()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(first, first + count):
            check(seed, tally, jit, situations)
    print(tally.report())
    return tally


def assert_few_refused(tally: Tally) -> None:
    assert len(tally.refused) <= REFUSED * tally.all, tally.report()
    assert tally.at_a_kink + tally.singular <= KINKS * tally.all, tally.report()


@pytest.mark.parametrize("first", range(0, QUICK, 20))
def test_random_programs_over_objects(first: int) -> None:
    run(20, first)


@pytest.mark.parametrize("seed", FAILED)
def test_programs_that_once_were_wrong(seed: int) -> None:
    run(1, seed)


@pytest.mark.slow
def test_many_random_programs_over_objects() -> None:
    assert_few_refused(run(SLOW, int(os.environ.get("SYMGRAD_FIRST_SEED", "1000"))))


@pytest.mark.slow
def test_many_random_programs_over_objects_as_kernels() -> None:
    pytest.importorskip("numba")
    run(SLOW // 100, int(os.environ.get("SYMGRAD_FIRST_SEED", "1000")), jit=True)


def test_a_seed_always_gives_the_same_program() -> None:
    assert random_object_program(12) == random_object_program(12)
