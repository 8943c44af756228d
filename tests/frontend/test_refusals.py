"""Refusals of constructs: programs and messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import SymgradError

X = np.array([0.9, 1.3, 0.7, 1.6])
Refused = tuple[Callable[..., Any], str]
REFUSED: list[Refused] = []


def refused(says: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter a program that must be refused with these words."""

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        REFUSED.append((function, says))
        return function

    return enter


@refused("write the indices one by one")
def tuple_of_unknown_length_as_an_index(x):
    places = np.array([[0, 1], [1, 1]])
    return np.sum(np.outer(x, x)[tuple(places[: int(x[0] + 2)])])


@refused("the dtype of np.longdouble is not supported")
def numbers_of_a_wider_class(x):
    return np.longdouble(x[0]) * x[1]


@refused("the dtype of np.timedelta64 is not supported")
def durations(x):
    return np.timedelta64(3) * x[0]


@refused("alternatives that bind different values")
def match_binds_either(x):
    match (x[0], x[1]):
        case (0.0, a) | (a, _):
            return a * x[2]
    return x[0]


@refused("return floats only, 0.0 instead of 0")
def vectorized_integers_and_floats(x):
    return np.sum(np.vectorize(lambda a: a * 2.0 if a > 1.0 else 0)(x))


@refused("without keywords")
def vectorized_with_keywords(x):
    return np.sum(np.vectorize(lambda a: a * 2.0, signature="()->()")(x))


@refused("use np.concatenate")
def joined_along_another_axis(x):
    return np.sum(np.r_["1", x[None], x[None]])


@refused("use np.arange or np.linspace")
def joined_with_a_range_of_floats(x):
    return np.sum(np.r_[0.0:1.0:5j, x])


@refused("pass a copy to vjp")
def argument_of_a_vjp_written_to(x):
    y = x.copy()
    _, pull = symgrad.vjp(lambda z: np.sum(z * z), y)
    y[0] = 2.0
    return np.sum(pull(1.0)[0])


@refused("pass a copy to vjp")
def variable_of_a_vjp_bound_again(x):
    scale = x[0]
    _, pull = symgrad.vjp(lambda z: np.sum(z * z) * scale, x)
    scale = scale * 2.0
    return np.sum(pull(1.0)[0])


@refused("pass a copy to vjp")
def object_of_a_vjp_changed(x):
    held = {"scale": x[0]}
    _, pull = symgrad.vjp(lambda z: np.sum(z * z) * held["scale"], x)
    held["scale"] = x[1]
    return np.sum(pull(1.0)[0])


@pytest.mark.parametrize(("program", "says"), REFUSED, ids=lambda p: getattr(p, "__name__", ""))
def test_a_program_is_refused_with_a_way_out(program: Callable[..., Any], says: str) -> None:
    program(X)  # it is a good program
    with pytest.raises(SymgradError) as caught:
        symgrad.grad(program)(X)

    assert says in str(caught.value)
    assert __file__ in str(caught.value)


def largest_two(x, k):
    try:
        total = sum(sorted(x, key=lambda v: -v)[:2]) / k
    except ZeroDivisionError:
        total = x[0]
    finally:
        k = k + 1
    return total * k


def largest_two_or_none(x, k):
    try:
        return sum(sorted(x, key=lambda v: -v)[:2]) * k
    except Exception:  # noqa: BLE001
        return 0.0


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("function", [largest_two, largest_two_or_none])
def test_handlers_of_the_program_do_not_see_refusals(function: Callable[..., Any], jit: bool) -> None:
    derived = symgrad.value_and_grad(function, jit=jit)
    for k in (2, 3):
        value, gradient = derived(X, k)
        assert value == pytest.approx(function(X, k), rel=1e-12)
        rows = 1e-6 * np.eye(len(X))
        np.testing.assert_allclose(gradient, [(function(X + r, k) - function(X - r, k)) / 2e-6 for r in rows], rtol=1e-7, atol=1e-9)
    with pytest.raises(SymgradError, match="among which there is a nan"):
        derived(np.array([0.9, np.nan, 0.7, 1.6]), 2)
