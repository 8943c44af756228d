"""Branches and loops of programs, nested, compared with differences: first and second order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symgrad import static
from symgrad.eager.creation import zeros
from symgrad.static import Executor, Program, append_backward, data, gradients, program_guard
from symgrad.static.initializers import Assign
from symgrad.static.nn import cond, while_loop
from symgrad.vocabulary import tensors

t: Any = tensors
X, W = np.array([0.4, -0.9]), np.array([0.5, 0.7])


def rounds(count: Any, step: Callable[[Any], Any], start: Any) -> Any:
    """A loop of some rounds, over one value or several."""
    return while_loop(lambda i, h: i < count, lambda i, h: [i + 1, step(h)], [zeros([], "int64"), start])[1]


PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "loop": lambda x, w: rounds(3, lambda h: t.tanh(h * w + x), x),
    "no round": lambda x, w: rounds(0, lambda h: h * w, x * w),
    "loop in loop": lambda x, w: rounds(3, lambda h: rounds(2, lambda g: t.sin(g * w), h), x),
    "branch in loop": lambda x, w: rounds(4, lambda h: cond(t.sum(h) > 0.3, lambda: h * w, lambda: h + w), x),
    "loop in branch": lambda x, w: cond(t.sum(x) < 5.0, lambda: rounds(3, lambda h: h * w + x, x), lambda: x * 2.0),
    "branch in branch": lambda x, w: cond(t.sum(x) < 0.0, lambda: cond(t.sum(w) > 9.0, lambda: x, lambda: x * w), lambda: w),
    "as long as it is small": lambda x, w: while_loop(lambda s, h: s < 6.0, lambda s, h: [s * 1.7 + t.sum(w), h * w],
                                                      [t.sum(x * x), x + w])[1],
    "two that change places": lambda x, w: t.add(*rounds(3, lambda pair: (pair[1], pair[0] * w), (x, x * 2.0))),
    "several results": lambda x, w: t.multiply(*cond(t.sum(x) > 0.0, lambda: (x * w, x + 1.0), lambda: (x - w, w * w))),
}  # fmt: skip


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", list(PROGRAMS))
def test_gradients(name: str, order: int) -> None:
    main, startup, scope = Program(), Program(), static.Scope()
    with program_guard(main, startup):
        x = data("x", [-1], "float64")
        x.stop_gradient = False
        w = static.create_parameter([2], "float64", "w", default_initializer=Assign(W))
        loss = t.sum(t.square(PROGRAMS[name](x, w)))
        if order == 2:
            loss = t.sum(t.square(gradients(loss, [x])[0]))
        pairs = append_backward(loss, [x, w])
    Executor().run(startup, scope=scope)
    actual = dict(zip([p.name for p, _ in pairs], Executor().run(main, {"x": X}, [g for _, g in pairs], scope), strict=True))

    def value(**moved: Any) -> float:
        scope.var("w").set(moved.get("w", W))
        return float(Executor().run(main, {"x": moved.get("x", X)}, [loss], scope)[0])

    for word, start in (("x", X), ("w", W)):
        for index in range(2):
            step = np.eye(2)[index] * 1e-5
            expected = (value(**{word: start + step}) - value(**{word: start - step})) / 2e-5
            assert (actual[word][index] if word in actual else 0.0) == pytest.approx(expected, rel=1e-5, abs=1e-7)


def test_a_loops_result_that_is_cut() -> None:
    main, startup, scope = Program(), Program(), static.Scope()
    with program_guard(main, startup):
        x = data("x", [2], "float64")
        x.stop_gradient = False
        w = static.create_parameter([2], "float64", "w", default_initializer=Assign(W))
        h = rounds(3, lambda h: h * w, x)
        gradient_values = gradients(t.sum(h * x), [x, w], no_grad_set={h})
    Executor().run(startup, scope=scope)
    assert gradient_values[1] is None
    assert Executor().run(main, {"x": X}, [gradient_values[0]], scope)[0] == pytest.approx(X * W**3)


def stopped(value: Any) -> Any:
    """The same variable, which no derivative passes."""
    value.stop_gradient = True
    return value


STOPPED: dict[str, tuple[Callable[[Any, Any, Any], Any], list[float] | None, list[float] | None, list[float]]] = {
    "in a branch": (lambda x, w, v: cond(t.sum(x) > -9.0, lambda: stopped(x * w) * v, lambda: v), None, None, list(X * W)),
    "what a branch hands out": (lambda x, w, v: cond(t.sum(x) > -9.0, lambda: stopped(x * w), lambda: v) * v, None, None, list(X * W)),
    "detached in a branch": (lambda x, w, v: cond(t.sum(x) > -9.0, lambda: (x * w).detach() * v, lambda: v), None, None, list(X * W)),
    "in a loop": (lambda x, w, v: rounds(2, lambda h: stopped(h * w) + v, x), None, None, [1.0, 1.0]),
    "what a loop carries": (lambda x, w, v: rounds(2, lambda h: stopped(h) * w + v, x), None, list(X * W + 2.0), [1.0, 1.0]),
    "in a branch in a loop": (
        lambda x, w, v: rounds(2, lambda h: cond(t.sum(h) > -99.0, lambda: stopped(h * w) * v, lambda: h), x), None, None, list(X * W**2 * 2.0),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", list(STOPPED))
def test_stops_inside_count(name: str) -> None:
    make, *expected = STOPPED[name]
    main, startup, scope = Program(), Program(), static.Scope()
    with program_guard(main, startup):
        x = data("x", [2], "float64")
        x.stop_gradient = False
        w = static.create_parameter([2], "float64", "w", default_initializer=Assign(W))
        v = static.create_parameter([2], "float64", "v", default_initializer=Assign([2.0, 2.0]))
        actual = gradients(t.sum(make(x, w, v)), [x, w, v])
    Executor().run(startup, scope=scope)
    values = Executor().run(main, {"x": X}, [t.zeros_like(x) if g is None else g for g in actual], scope)
    for value, right in zip(values, expected, strict=True):
        assert value == pytest.approx(np.zeros(2) if right is None else np.array(right))


def test_each_call_has_its_own_stops_inside() -> None:
    main, startup, scope = Program(), Program(), static.Scope()
    inner: list[Any] = []

    def square() -> Any:
        inner.append(w * w)
        return inner[0] * w

    with program_guard(main, startup):
        w = static.create_parameter([2], "float64", "w", default_initializer=Assign(W))
        loss = t.sum(cond(t.sum(w) > 0.0, square, lambda: w))
        calls = [gradients(loss, w, no_grad_set=cut)[0] for cut in (None, inner, None)]
        second = gradients(calls[1], w)[0]
    copy = main.clone()
    Executor().run(startup, scope=scope)
    for program in (main, copy):
        gradient_values = Executor().run(program, {}, [g.name for g in [*calls, second] if g is not None], scope)
        assert gradient_values[0] == pytest.approx(3 * W**2)
        assert gradient_values[1] == pytest.approx(W**2)
        assert gradient_values[2] == pytest.approx(3 * W**2)
        assert gradient_values[3] == pytest.approx(2 * W)
    (fetched,) = Executor(jit=True).run(main, {}, [calls[1]], scope)
    assert fetched == pytest.approx(W**2)


def test_a_loop_that_is_cut_behind_what_is_asked_for() -> None:
    main, startup, scope = Program(), Program(), static.Scope()
    with program_guard(main, startup):
        x = data("x", [-1, 2], "float64")
        x.stop_gradient = False
        h = t.tanh(x)
        turned = rounds(2, lambda g: stopped(g * 2.0), h)
        gradient_values = gradients(t.sum(turned * h), [x, h])
        again = gradients(t.sum(t.square(turned)) + t.sum(h), [h, x])
    Executor().run(startup, scope=scope)
    points = np.array([X, W])
    values = Executor().run(main, {"x": points}, [*gradient_values, *again], scope)
    slope = 1 - np.tanh(points) ** 2
    for value, right in zip(values, (4 * np.tanh(points) * slope, 4 * np.tanh(points), np.ones((2, 2)), slope), strict=True):
        assert value == pytest.approx(right)


def test_what_a_loop_carries_is_free_in_later_rounds() -> None:
    main, startup, scope = Program(), Program(), static.Scope()
    with program_guard(main, startup):
        x, y = data("x", [], "float64"), data("y", [], "float64")
        w = static.create_parameter([], "float64", "w", default_initializer=Assign(2.0))
        turned = while_loop(lambda i, a, b, c: i < 4, lambda i, a, b, c: [i + 1, b * 2.0, c * 3.0, a], [zeros([], "int64"), x, y, w * w])
        ((_, gradient),) = append_backward(turned[2])
        still = while_loop(lambda i, a: i < 4, lambda i, a: [i + 1, a * y], [zeros([], "int64"), x])
    assert still[1].stop_gradient
    Executor().run(startup, scope=scope)
    (gradient_values,) = Executor().run(main, {"x": 5.0, "y": 6.0}, [gradient], scope)
    assert gradient_values == pytest.approx(18.0 * 4.0)


def test_variables_of_a_block_inside_are_refused_outside() -> None:
    inner: list[Any] = []

    def square() -> Any:
        inner.append(w * w)
        return inner[0] * 2.0

    with program_guard(Program(), Program()):
        w = static.create_parameter([2], "float64", "w", default_initializer=Assign(W))
        loss = t.sum(cond(t.sum(w) > 0.0, square, lambda: w))
        for call in (lambda: gradients(loss, inner), lambda: gradients(inner, w), lambda: append_backward(inner[0])):
            with pytest.raises(ValueError, match="belongs to a branch or a loop"):
                call()


def refused() -> dict[str, tuple[Callable[[], Any], type[Exception], str]]:
    """Calls that are refused, by what is wrong with them."""
    x, i, many = data("x", [1], "float64"), data("i", [1], "int64"), data("many", [2], "float64")
    case, switch_case = static.nn.case, static.nn.switch_case
    return {
        "no variable": (lambda: cond(True, lambda: x, lambda: x), TypeError, "pred of cond must be a Variable"),
        "no bool": (lambda: cond(x, lambda: x, lambda: x), TypeError, "pred of cond must be bool"),
        "many": (lambda: cond(many > 0.0, lambda: x, lambda: x), TypeError, "must have one element"),
        "no function": (lambda: cond(x > 0.0, x, lambda: x), TypeError, "true_fn of cond must be callable"),
        "a loop without a bool": (
            lambda: while_loop(lambda v: v + 1.0, lambda v: v, [x]),
            TypeError,
            "the test of while_loop must be bool",
        ),
        "a loop without a body": (lambda: while_loop(lambda v: v > 0.0, x, [x]), TypeError, "body of while_loop must be callable"),
        "a case without a function": (lambda: case([(x > 0.0, 3)]), TypeError, r"pred_fn_pairs\[0\]"),
        "a case without a test": (lambda: case([(3, lambda: x)]), TypeError, r"the test of pred_fn_pairs\[0\]"),
        "a default": (lambda: case([(x > 0.0, lambda: x)], 3), TypeError, "default of case must be callable"),
        "a float index": (lambda: switch_case(x, [lambda: x]), TypeError, "branch_index of switch_case must be a Variable of integers"),
        "a number": (lambda: switch_case(i, {1: 3}), TypeError, "branch_fns must hold functions"),
        "no branches": (lambda: switch_case(i, []), TypeError, "not empty"),
        "twice": (lambda: switch_case(i, [(1, lambda: x), (1, lambda: x)]), ValueError, "appears twice"),
        "another default": (lambda: switch_case(i, [lambda: x], 3), TypeError, "default of switch_case must be callable"),
    }


def test_what_is_refused() -> None:
    with program_guard(Program(), Program()):
        for call, error, words in refused().values():
            with pytest.raises(error, match=words):
                call()
