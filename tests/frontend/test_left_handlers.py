"""The state after a handler: exceptions that it held are gone."""

from __future__ import annotations

import contextlib
from functools import partial

import numpy as np
import pytest
from scipy import signal

import symgrad
from symgrad.errors import UnsupportedArgument
from symgrad.frontend.flow.edges import RAISED, taken_by
from symgrad.frontend.flow.joins import Joining
from symgrad.testing import check_grads
from tests.plainly import verdict


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
    outcome = ask(row_taken_before_a_way_out, wrt=(0, 1))(0.3, y.copy())
    x_grad, y_grad = outcome if ask is symgrad.grad else outcome[1]
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


def left_by_finally(x, z):
    for k in range(3):
        try:
            if z[k] < -0.36:
                raise ValueError("stop")
        except ValueError:
            x = x * 2.0
            if z[1] > 0.37:
                return x * z[2]
        finally:
            if -0.26 < z[-1] - k < 0.2:
                break
        x = x - 0.3
    return x * z[0]


def raised_with_and_without_a_text(x, z):
    s = x
    try:
        assert x < 10.0
        try:
            if s < 0.81:
                raise ValueError("stop")
        except ValueError:
            assert z[0] > 0.0, "not positive"
    except (KeyError, TypeError):
        x = x * 3.0
    finally:
        s = s * z[1]
    return x * s * z[0]


@contextlib.contextmanager
def scaled(k):
    yield k


def left_inside_a_manager(x, z):
    for i in range(4):
        with scaled(2.0) as k:
            x = x * z[i] * k
            if x > 1.0 + z[3]:
                break
        x = x + 0.1
    return x


def raised_in_an_inner_loop(x, z):
    with contextlib.suppress(ZeroDivisionError):
        for i, t in enumerate(z, 1):
            for row in np.outer(z, z):
                held = 1.0 / float(x - row[0])
            x = x + t * i * held
    return x * z[0]


FORGOTTEN = [left_by_finally, raised_with_and_without_a_text, left_inside_a_manager, raised_in_an_inner_loop]


@pytest.mark.parametrize("function", FORGOTTEN, ids=lambda function: function.__name__)
def test_rounds_begin_without_what_the_way_out_of_the_last_one_kept(function) -> None:
    gradient = symgrad.value_and_grad(function, wrt="x")
    for x, z in ((0.5, [0.5, 0.6, 0.7, 0.9]), (1.5, [0.5, 0.2, 0.7, 2.1]), (0.25, [0.5, -0.6, -0.7, 0.4]), (0.7, [-0.5, 0.6, 0.7, 0.9])):
        z = np.array(z)
        try:
            expected = function(x, z)
        except AssertionError:
            with pytest.raises(AssertionError, match="not positive"):
                gradient(x, z)
            continue
        value, slope = gradient(x, z)
        assert value == pytest.approx(expected, rel=1e-12)
        jumps = function is raised_in_an_inner_loop and x == 0.25  # it is divided by 0 there alone
        expected = z[0] if jumps else (function(x + 1e-6, z) - function(x - 1e-6, z)) / 2e-6
        assert slope == pytest.approx(expected, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("handler", ["except (ValueError, TypeError):", "except Exception as err:", "finally:"])
@pytest.mark.parametrize("call", ["np.sum(np.gradient(x) ** 2)", "sum(sorted(x, key=lambda t: -t)[:2])", "np.gradient(x, x**2)[1]"])
def test_a_call_that_a_composition_may_refuse_stands_under_a_handler(call, handler) -> None:
    text = f"def f(x):\n    s = 0.5\n    try:\n        s = s + {call}\n    {handler}\n        s = s + x[1]\n    return s * x[0]\n"
    assert verdict(text, [np.array([1.0, 2.0, 4.0])]) == "right"


def test_no_handler_takes_a_refusal() -> None:
    def smoothed(x, order):
        try:
            return np.sum(signal.detrend(x, bp=order) ** 2)
        except Exception:
            return x[0]

    check_grads(partial(smoothed, order=[3]), (np.array([1.0, 2.0, 4.0, 3.0, 7.0, 5.0]),))
    with pytest.raises(UnsupportedArgument, match="breakpoints must be no more"):
        symgrad.grad(smoothed)(np.array([1.0, 2.0, 4.0]), [5])
