"""What a handler keeps of the exception that it has taken is gone from the state once the handler is left."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad
from symgrad.frontend.exceptions import RAISED, taken_by
from symgrad.frontend.joins import Joining


def nested(x, names):
    total = 0.0
    for k in range(len(x)):
        try:
            try:
                total += x[names[k]]
            except KeyError as error:
                total += len(str(error)) * x[k + 1]
        except (IndexError, TypeError):
            total -= x[k]
    return total


def handed_on(x):
    total = 0.0
    for k in range(3):
        try:
            try:
                total += x[k + 1]
            except IndexError:
                total *= 2.0
                raise
            finally:
                total += x[0]
        except LookupError:
            total -= x[1]
    return total


@pytest.mark.parametrize(("function", "further"), [(nested, ({0: 1, 1: 7},)), (handed_on, ())])
def test_no_join_sees_what_handlers_that_are_left_have_taken(function, further, monkeypatch):
    joined, seen = Joining.joined, []

    def watched(self):
        around = {taken.number for taken in self.ctx.handling}
        sides = [side.state for side in (self.then, self.orelse) if not side.state.dead]
        numbers = {taken_by(name) for state in sides for place, name in state.names if place == RAISED}
        seen.append(numbers - around - {None})
        return joined(self)

    monkeypatch.setattr(Joining, "joined", watched)
    x = np.array([0.7, -1.2, 0.4])
    value, gradient = symgrad.value_and_grad(function)(x, *further)
    assert seen
    assert not any(seen)
    assert value == pytest.approx(function(x, *further))
    steps = 1e-6 * np.eye(3)
    differences = [(function(x + step, *further) - function(x - step, *further)) / 2e-6 for step in steps]
    assert gradient == pytest.approx(differences, rel=1e-6)


def row_taken_before_a_way_out(x, y):
    kept = 1.09 * x**2
    try:
        x = x + 1.0 / 0
    except (ZeroDivisionError, TypeError):
        k = 0
        while True:
            if not np.tanh(0.5 * (x * y[1, 1])) >= -0.9 or k >= 3:
                break
            row = y.T[1]
            try:
                np.zeros(y.shape, dtype=np.float32)
            except (ValueError, TypeError):
                for place in np.ndindex(y.shape):
                    y[place] += 0.33 * np.sin(y[place]) * x
            finally:
                least = np.argmin(row)
            k += 1
    finally:
        size = int(abs(3.78 * x)) % y.size
    return 0.86 * x + np.sum(np.sin(y)) + kept


@pytest.mark.parametrize("ask", [symgrad.grad, symgrad.value_and_grad])
def test_views_that_are_read_again_are_no_statements(ask):
    """Only where the program takes a part of an array does it look whether that is there."""
    y = np.linspace(-1.0, 1.0, 12).reshape(3, 4)
    made = ask(row_taken_before_a_way_out, wrt=(0, 1))(0.3, y.copy())
    x_grad, y_grad = made if ask is symgrad.grad else made[1]
    step = 1e-6
    across = row_taken_before_a_way_out(0.3 + step, y.copy()) - row_taken_before_a_way_out(0.3 - step, y.copy())
    assert x_grad == pytest.approx(across / (2 * step), rel=1e-7)
    assert y_grad == pytest.approx(np.cos(y))


def joined_first_items(x):
    try:
        return np.sum(np.concatenate([np.atleast_1d(v) for v in (x[0], x[1] * 2.0)]))
    except IndexError:
        return x[0] * 3.0


@pytest.mark.parametrize(("x", "expected"), [([2.0], [3.0]), ([2.0, 5.0], [1.0, 2.0]), ([1.0, 2.0, 3.0], [1.0, 2.0, 0.0])])
def test_a_comprehension_that_raises_half_way_leaves_nothing(x: list[float], expected: list[float]) -> None:
    assert np.array_equal(symgrad.grad(joined_first_items)(np.array(x)), expected)


def several_kinds(x, both=False):
    y = np.sin(x)
    if both:
        return y, np.array([y, 2 * y])
    return y


def test_a_flag_that_decides_what_is_returned_is_part_of_the_signature() -> None:
    assert np.isclose(symgrad.grad(several_kinds)(0.7), np.cos(0.7))
    assert np.isclose(symgrad.grad(several_kinds)(0.7, both=False), np.cos(0.7))
    with pytest.raises(symgrad.errors.NotScalar):
        symgrad.grad(several_kinds)(0.7, both=True)
