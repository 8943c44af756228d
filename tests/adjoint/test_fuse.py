"""Loops whose iterations are reversed immediately: which they are, that they save nothing, and that results are right."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.ir.core import Call, For, Func, While
from symgrad.ir.parse import parse
from symgrad.ir.verify import verify
from symgrad.notes import Notes
from symgrad.pipeline.registry import OPTIMISE
from symgrad.pipeline.runner import run
from tests.adjoint.cases import X
from tests.adjoint.harness import compare, gradient, summed
from tests.interpreter import execute

SINES = """
func f(x: f64[!x0], w: float) -> float?:
    %n = extent(x) : int
    for i in range(0, %n, 1):
        carry s = 0.0 -> s.9 : float?
        %1 = take(x, i, index="i") : scalar f64
        %2 = multiply(%1, w) : scalar f64
        %3 = sin(%2) : scalar f64
        %4 = multiply(%3, %3) : scalar f64
        s.2 = add(s, %4) : float?
        yield s.2
    BETWEEN
    return %out
"""


def sines(between: str) -> str:
    return SINES.replace("BETWEEN", between.strip().replace("\n", "\n    "))


#: what is done with the sum that keeps its cotangent known before the loop
LINEAR = {
    "as it is": "%out = multiply(s.9, 1.0) : float?",
    "mean": "%m = extent(x) : int\n%out = divide(s.9, %m) : float?",
    "and more": "%a = multiply(w, w) : float\n%b = multiply(s.9, 0.5) : float?\n%out = add(%a, %b) : float?",
    "weighted": "%a = cos(w) : float\n%b = multiply(s.9, %a) : float?\n%c = sum(x) : scalar f64\n%out = multiply(%b, %c) : float?",
}
#: what makes it known only after the loop
NONLINEAR = {
    "squared": "%out = multiply(s.9, s.9) : float?",
    "root": "%out = sqrt(s.9) : float?",
}

#: loops that are fused
FUSED = {
    **{f"sum, {name}": (sines(text), [X, 0.7], [0, 1]) for name, text in LINEAR.items() if name != "weighted"},
    "in a while, which counts": (
        """
func f(x: f64[!x0], w: float) -> float?:
    %n = extent(x) : int
    while:
        carry i = 0 -> i.9
        carry s = 0.0 -> s.9 : float?
        rounds -> %r
        %0 = less(i, %n) : bool
        test %0
        %1 = take(x, i, index="i") : scalar f64
        %2 = multiply(%1, w) : scalar f64
        %3 = tanh(%2) : scalar f64
        s.2 = add(s, %3) : float?
        i.2 = add(i, 1) : int
        yield i.2, s.2
    return s.9
""",
        [X, 0.7],
        [0, 1],
    ),
    "until an exit": (
        """
func f(x: f64[!x0], w: float) -> float?:
    for i in range(0, 4, 1) until:
        carry s = 0.0 -> s.9 : float?
        rounds -> %r
        %1 = take(x, i, index="i") : scalar f64
        %2 = multiply(%1, w) : scalar f64
        %3 = exp(%2) : scalar f64
        s.2 = add(s, %3) : float?
        %stop = greater(%1, 1.2) : bool
        yield s.2, %stop
    return s.9
""",
        [X, 0.7],
        [0, 1],
    ),
    "a branch and a loop inside": (
        """
func f(x: f64[!x0], w: float) -> float?:
    for i in range(0, 4, 1):
        carry s = 0.0 -> s.9 : float?
        %1 = take(x, i, index="i") : scalar f64
        %2 = greater(%1, 1.0) : bool
        for k in range(0, 3, 1):
            carry h = %1 -> h.9 : float?
            %3 = multiply(h, w) : float?
            h.2 = sin(%3) : float?
            yield h.2
        if %2 -> s.4:
            s.2 = add(s, h.9) : float?
            yield s.2
        else:
            %5 = multiply(h.9, h.9) : float?
            s.3 = add(s, %5) : float?
            yield s.3
        yield s.4
    return s.9
""",
        [X, 0.7],
        [0, 1],
    ),
    "an array is filled": (
        """
func f(x: f64[!x0], w: float) -> scalar f64:
    %n = extent(x) : int
    out = zeros(%n) : f64[!x0]
    for i in range(0, %n, 1):
        carry out.1 = out -> out.9
        %1 = take(x, i, index="i") : scalar f64
        %2 = multiply(%1, w) : scalar f64
        %3 = sin(%2) : scalar f64
        out.2 = set_at(out.1, %3, i, index="i") : f64[!x0]
        yield out.2
    %4 = sum(out.9) : scalar f64
    return %4
""",
        [X, 0.7],
        [0, 1],
    ),
    "an array is the sum": (
        """
func f(x: f64[!x0], w: float) -> scalar f64:
    total = zeros(3) : f64[3]
    for i in range(0, 4, 1):
        carry total.1 = total -> total.9
        %1 = take(x, i, index="i") : scalar f64
        %2 = multiply(%1, w) : scalar f64
        %3 = exp(%2) : scalar f64
        %4 = add(total.1, %3) : f64[3]
        total.2 = set_at(total.1, %4) : f64[3]
        yield total.2
    %5 = sum(total.9) : scalar f64
    return %5
""",
        [X, 0.7],
        [0, 1],
    ),
    "a carried array that the reverse does not read is overwritten": (
        """
func f(x: f64[!x0], w: float) -> float?:
    y = copy(x) : f64[!x0]
    for i in range(0, 3, 1):
        carry s = 0.0 -> s.9 : float?
        carry y.1 = y -> y.9
        %1 = take(x, i, index="i") : scalar f64
        %2 = multiply(%1, w) : scalar f64
        y.2 = set_at(y.1, 2.0, i, index="i") : f64[!x0]
        s.2 = add(s, %2) : float?
        yield s.2, y.2
    return s.9
""",
        [X, 0.7],
        [0, 1],
    ),
    "an array of the round is overwritten": (
        """
func f(x: f64[!x0], w: float) -> float?:
    for i in range(0, 3, 1):
        carry s = 0.0 -> s.9 : float?
        y = multiply(x, w) : f64[!x0]
        %0 = multiply(y, y) : f64[!x0]
        %1 = sum(%0) : scalar f64
        y.2 = set_at(y, %1, i, index="i") : f64[!x0]
        %2 = multiply(y.2, x) : f64[!x0]
        %3 = sum(%2) : scalar f64
        s.2 = add(s, %3) : float?
        yield s.2
    return s.9
""",
        [X, 0.7],
        [0, 1],
    ),
    "two loops, the sum goes through both": (
        """
func f(x: f64[!x0], w: float) -> float?:
    for i in range(0, 3, 1):
        carry s = 0.0 -> s.1 : float?
        %1 = take(x, i, index="i") : scalar f64
        %2 = multiply(%1, w) : scalar f64
        %3 = exp(%2) : scalar f64
        s.2 = add(s, %3) : float?
        yield s.2
    for j in range(3, -1, -1):
        carry s.3 = s.1 -> s.4 : float?
        %4 = take(x, j, index="i") : scalar f64
        %5 = multiply(%4, %4) : scalar f64
        %6 = multiply(%5, w) : scalar f64
        s.5 = add(s.3, %6) : float?
        yield s.5
    %7 = sum(x) : scalar f64
    %8 = multiply(%7, %7) : scalar f64
    %9 = add(%8, s.4) : scalar f64
    return %9
""",
        [X, 0.7],
        [0, 1],
    ),
}

#: loops that are not, with a part of the reason
APART = {
    **{name: (sines(text), [X, 0.7], [0, 1], "is known after the loop") for name, text in NONLINEAR.items()},
    "a recurrence": (
        """
func f(x: f64[!x0], w: float) -> float?:
    for i in range(0, 3, 1):
        carry h = 1.0 -> h.9 : float?
        %1 = take(x, i, index="i") : scalar f64
        %2 = multiply(%1, h) : scalar f64
        h.2 = sin(%2) : float?
        yield h.2
    return h.9
""",
        [X, 0.7],
        [0],
        "depends on that of the next one through h_grad",
    ),
    "the last round's value is read": (
        """
func f(x: f64[!x0], w: float) -> float?:
    for i in range(0, 3, 1):
        carry s = 0.0 -> s.9 : float?
        carry v = 1.0 -> v.9 : float?
        %1 = take(x, i, index="i") : scalar f64
        v.2 = multiply(%1, w) : scalar f64
        s.2 = add(s, v.2) : float?
        yield s.2, v.2
    %3 = multiply(s.9, 2.0) : float?
    %4 = add(%3, v.9) : float?
    return %4
""",
        [X, 0.7],
        [0, 1],
        "depends on that of the next one through v_grad",
    ),
    "a cell is written twice": (
        """
func f(x: f64[!x0], w: float) -> scalar f64:
    out = zeros(4) : f64[4]
    for i in range(0, 4, 1):
        carry out.1 = out -> out.9
        %0 = floor_divide(i, 2) : int
        %1 = take(x, i, index="i") : scalar f64
        %2 = multiply(%1, w) : scalar f64
        out.2 = set_at(out.1, %2, %0, index="i") : f64[4]
        yield out.2
    %4 = sum(out.9) : scalar f64
    return %4
""",
        [X, 0.7],
        [0, 1],
        "depends on that of the next one through out_grad",
    ),
    "indices from before zero may be one cell": (
        """
func f(x: f64[!x0], w: float) -> scalar f64:
    out = zeros(4) : f64[4]
    for i in range(-3, 3, 1):
        carry out.1 = out -> out.9
        %1 = take(x, i, index="i") : scalar f64
        %2 = multiply(%1, w) : scalar f64
        out.2 = set_at(out.1, %2, i, index="i") : f64[4]
        yield out.2
    %3 = cos(out.9) : f64[4]
    %4 = sum(out.9) : scalar f64
    return %4
""",
        [X, 0.7],
        [0, 1],
        "depends on that of the next one through out_grad",
    ),
}


def made_of(text: str, wrt: list[int], **settings: Any) -> tuple[Func, Func, Notes]:
    func = parse(text)
    verify(func)
    func.notes = Notes()
    derivative = gradient(func, wrt, fused=True, **settings)
    verify(derivative)
    return func, derivative, func.notes


def loops(func: Func) -> list[For | While]:
    return [op for op in func.body.ops if isinstance(op, For | While)]


@pytest.mark.parametrize("name", FUSED)
def test_a_loop_that_is_one_with_its_reverse_is_right_and_keeps_nothing_for_later(name: str) -> None:
    text, args, wrt = FUSED[name]
    func, derivative, _ = made_of(text, wrt)
    compare(func, derivative, args, wrt, 2e-6)

    assert len(loops(derivative)) == len(loops(func))
    assert not [op for op in derivative.body.ops if isinstance(op, Call) and op.name in ("slots", "tape")]


@pytest.mark.parametrize("name", APART)
def test_a_loop_that_cannot_be_is_reversed_after_it_and_the_reason_is_told(name: str) -> None:
    text, args, wrt, reason = APART[name]
    func, derivative, notes = made_of(text, wrt)
    compare(func, derivative, args, wrt, 2e-6)

    assert len(loops(derivative)) == 2 * len(loops(func))
    assert any(note.kind == "unfused" and reason in note.message for note in notes)


def test_a_weight_from_before_and_after_the_loop_is_computed_before_it() -> None:
    func, derivative, _ = made_of(sines(LINEAR["weighted"]), [0])
    compare(func, derivative, [X, 0.7], [0], 2e-6)

    assert len(loops(derivative)) == 1


def test_the_sum_is_added_up_as_it_was() -> None:
    func, derivative, _ = made_of(FUSED["sum, mean"][0], [0, 1])
    x = np.random.default_rng(3).normal(size=1000)

    assert execute(derivative, [x, 0.3])[0] == execute(func, [x.copy(), 0.3])[0]


@pytest.mark.parametrize("name", FUSED)
def test_the_passes_leave_it_right(name: str) -> None:
    text, args, wrt = FUSED[name]
    func, derivative, _ = made_of(text, wrt)
    derivative = run(OPTIMISE, derivative)
    verify(derivative)
    compare(func, derivative, args, wrt, 2e-6)


@pytest.mark.parametrize("name", FUSED)
@pytest.mark.parametrize("order", [2, 3])
def test_higher_derivatives(name: str, order: int) -> None:
    text, args, wrt = FUSED[name]
    func = parse(text)
    for _ in range(order - 1):
        func = summed(gradient(func, wrt[:1], value=False, fused=True), copy.deepcopy(args))
    derivative = gradient(func, wrt, fused=True)
    verify(derivative)
    compare(func, derivative, args, wrt, 2e-6 * 20 ** (order - 1))


def test_the_derivative_of_a_loop_that_was_fused_is_fused_again() -> None:
    text, args, wrt = FUSED["sum, mean"]
    first = gradient(parse(text), [1], value=False, fused=True)
    first.split, first.results = None, ["out"]
    second = gradient(first, [0, 1], value=False, fused=True)
    compare(first, gradient(first, [0, 1], fused=True), args, [0, 1], 1e-5)

    assert len(loops(second)) == 1


def read_before_it_is_added_to(x, w):
    u = x * w[0]
    v = np.tanh(x)
    t = np.zeros(4)
    s = w[1]
    for i in range(4):
        t[i] = t[i] + u[i] * v[3 - i]
    t += u
    s += np.sum(t)
    t += u
    t *= v
    return s + np.sum(u + t) + np.sum(v)


def read_between_double_loops(x, w):
    u = x * w[0]
    v = np.tanh(x)
    t = np.zeros(4)
    s = w[1]
    for i in range(2):
        for j in range(2):
            s += np.sum(v * u[i]) * w[j]
        t += v
    s += np.sum(t)
    for i in range(2):
        for j in range(2):
            s += np.sum(v * u[i]) * w[j]
        t += v
    for i in range(4):
        t[i] = t[i] + u[i] * v[3 - i]
    return s + np.sum(u + t) + np.sum(v)


@pytest.mark.parametrize("function", [read_before_it_is_added_to, read_between_double_loops])
@pytest.mark.parametrize("wrt", ["x", "w", ("x", "w")])
def test_what_moves_before_a_loop_reads_what_it_read(function: Any, wrt: Any) -> None:
    at = {"x": np.array([0.7, -0.4, 1.3, 0.9]), "w": np.array([0.5, 1.2, 0.3])}
    _, actual = symgrad.value_and_grad(function, wrt=wrt)(**at)
    for name, slope in zip(*((wrt, actual) if isinstance(wrt, tuple) else ((wrt,), (actual,))), strict=True):
        steps = 1e-6 * np.eye(at[name].size)
        slopes = [(function(**{**at, name: at[name] + h}) - function(**{**at, name: at[name] - h})) / 2e-6 for h in steps]
        np.testing.assert_allclose(slope, slopes, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("size", [1, 4])
@pytest.mark.parametrize("jit", [False, True])
def test_the_cotangent_of_an_array_that_the_loop_changes_starts_at_zero(jit: bool, size: int) -> None:
    def f(x):
        y = x * 1.5
        s = 0.0
        for _ in range(3):
            y[0] += 0.7
            s = s + np.sum(y * y) * 0.1
        return s + np.sum(y**2) + np.sum(y**3)

    x = np.linspace(0.4, 1.3, size)
    if jit:
        pytest.importorskip("numba")
    value, slope = symgrad.value_and_grad(f, jit=jit)(x)
    assert value == pytest.approx(f(x), rel=1e-12)
    np.testing.assert_allclose(slope, [(f(x + e) - f(x - e)) / 2e-6 for e in 1e-6 * np.eye(size)], rtol=1e-6)
    second = symgrad.hessian(f)(x)
    gradient = symgrad.grad(f)
    np.testing.assert_allclose(second, [(gradient(x + e) - gradient(x - e)) / 2e-6 for e in 1e-6 * np.eye(size)], atol=1e-7)
