"""Random programs of complex numbers against differences, to second order; a refusal is allowed, a wrong number never."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from complex_strategies import ARGUMENTS, complex_programs, random_complex_program
from hypothesis import HealthCheck, given, settings

import symgrad
from symgrad.errors import InvalidIR

#: a program may not depend on all of its arguments
pytestmark = pytest.mark.filterwarnings("ignore::symgrad.errors.NotActiveWarning")

WRT = tuple(range(len(ARGUMENTS)))
QUICK, SLOW = 20, 4000
#: the most of all programs that may be refused
REFUSED = 0.10
RNG = np.random.default_rng(17)


def arguments() -> list[Any]:
    return [a.copy() if isinstance(a, np.ndarray) else a for a in ARGUMENTS]


def direction() -> list[Any]:
    """Random numbers in the form of the arguments."""
    drawn = [RNG.normal(size=np.shape(a)) + (1j * RNG.normal(size=np.shape(a)) if np.iscomplexobj(a) else 0) for a in ARGUMENTS]
    return [d if isinstance(a, np.ndarray) else type(a)(d) for a, d in zip(ARGUMENTS, drawn, strict=True)]


def at(step: float, along: list[Any]) -> list[Any]:
    return [a + step * d for a, d in zip(arguments(), along, strict=True)]


def product(gradient: Any, along: list[Any]) -> float:
    """How much a change changes what has this gradient."""
    return float(sum(np.sum(np.asarray(g) * d) for g, d in zip(gradient, along, strict=True)).real)


def slope(function: Any, along: list[Any]) -> tuple[float, float]:
    """Differences of two steps."""
    return tuple((function(*at(h, along)) - function(*at(-h, along))) / (2 * h) for h in (1e-5, 2e-6))  # type: ignore[return-value]


def agree(actual: float, differences: tuple[float, float], text: str, tolerance: float) -> None:
    wide, narrow = differences
    if abs(wide - narrow) < tolerance * (1 + abs(narrow)):  # else a branch changes in between
        assert actual == pytest.approx(narrow, rel=tolerance, abs=tolerance), text


def refused(text: str, second: bool) -> bool:
    """Check one program; was it refused?"""
    function = symgrad.from_source(text, "f")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = function(*arguments())
        if not np.isfinite(expected):
            return False
        derived = symgrad.value_and_grad(function, wrt=WRT)
        first = symgrad.grad(function, wrt=WRT)
        try:
            given_arguments = arguments()
            value, gradient = derived(*given_arguments)
        except InvalidIR as fault:
            raise AssertionError(f"a stage fails\n{text}") from fault
        except symgrad.SymgradError:
            return True
        except Exception as problem:
            raise AssertionError(f"the derivative of a good program raises\n{text}") from problem
        assert value == pytest.approx(expected, rel=1e-12, abs=1e-14), text
        for g, a, b in zip(gradient, ARGUMENTS, given_arguments, strict=True):
            assert np.shape(g) == np.shape(a) and np.iscomplexobj(g) == np.iscomplexobj(a), text
            np.testing.assert_array_equal(a, b, err_msg=text)
        along, other = direction(), direction()
        agree(product(gradient, along), slope(function, along), text, 2e-6)
        if not second:
            return False
        try:
            _, pullback = symgrad.vjp(first, *arguments(), wrt=WRT)
            twice = pullback(tuple(along))
        except InvalidIR as fault:
            raise AssertionError(f"a stage fails in the second derivative\n{text}") from fault
        except symgrad.SymgradError:
            return True
        agree(product(twice, other), slope(lambda *args: product(first(*args), along), other), text, 2e-5)
    return False


def of_numbers(numbers: range) -> None:
    turned_down = [n for n in numbers if refused(random_complex_program(n), n % 3 == 0)]

    assert len(turned_down) <= REFUSED * len(numbers), turned_down


def test_random_programs_are_right_or_refused() -> None:
    of_numbers(range(QUICK))


@pytest.mark.slow
def test_many_random_programs_are_right_or_refused() -> None:
    of_numbers(range(QUICK, QUICK + SLOW))


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(complex_programs())
def test_programs_that_shrink_are_right_or_refused(text: str) -> None:
    refused(text, False)
