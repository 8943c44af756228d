"""Scalar replacement of small arrays: the same values, warnings and errors on both targets; random programs."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from differences import derivative, direction_for, inner
from targets import outcome, same

import symgrad
from symgrad.dispatch.table import forget_all
from symgrad.passes.representation import scalar_replacement as module
from symgrad.pipeline import runner
from symgrad.testing import check_grads
from tests.against_numpy import function_of, judged
from tests.programs import PROGRAMS
from tests.strategies import loaded

# ------------------------------------------------------------------ what becomes of programs


def code(text: str) -> str:
    """A text without its comments."""
    return "\n".join(line.partition("  # ")[0] for line in text.splitlines())


@pytest.mark.parametrize("program", [p for p in PROGRAMS if p.group == "scalar_replacement"], ids=lambda p: p.name)
def test_no_small_array_is_left_in_the_loop(program: Any) -> None:
    text = symgrad.grad(program.function, program.wrt).source(*program.arguments(program.sizes[0]), optimize="speed")
    whole = program.function.__name__ in ("read_as_a_whole_now_and_then", "named_by_a_counter")

    assert ("np.array([" in code(text)) is whole


def rotated(x, n):
    q = np.array([x, 0.5])
    for _ in range(n):
        q = q / (q[0] * q[1])
    return q[0] + 2.0 * q[1]


def rooted(x, n):
    y = np.array([x, 2.0])
    for _ in range(n):
        y = y - np.sqrt(y) - y**0.5 + np.log(y) * y**-1
    return np.sum(y)


def stepped(y, p, n):
    for _ in range(n):
        y = y + 0.1 * np.array([y[1], -p * y[0]])
    return y[0] * y[1]


def narrow(x, n):
    y = np.array([x[0], x[1]])
    for _ in range(n):
        y = y * np.float32(1.1) + 0.25
    return y[0] * y[1]


def integers(x, n):
    y = np.array([1, 2])
    s = 0.0
    for k in range(n):
        y = y + np.array([1, y[0]])
        s = s + x / y[1] + y[0] // 2
    return s


@pytest.mark.sweep(16)
@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (rotated, [(0.4, 3), (0.0, 2), (-0.0, 1), (np.inf, 2), (np.nan, 2), (1e200, 4), (0.4, 0)]),
        (rooted, [(3.0, 1), (-1.0, 2), (0.0, 1), (np.float64(4.0), 2)]),
        (stepped, [(np.array([0.3, 0.2]), 2.0, 4), (np.array([0.3, 0.2]), 2.0, 0), (np.array([0.3, 0.2, 0.1]), 2.0, 2),
                   (np.array([0.3]), 2.0, 2), (np.array([0.3]), 2.0, 0),
                   (np.array([0.3, 0.2], np.float32), 2.0, 3)]),
        (narrow, [(np.array([0.3, 0.2]), 3), (np.array([0.3, 0.2], np.float32), 3)]),
        (integers, [(2.0, 3)]),
    ],
    ids=lambda case: getattr(case, "__name__", None),
)  # fmt: skip
def test_strange_arguments_give_what_arrays_give(
    function: Callable[..., Any], calls: list[tuple[Any, ...]], jit: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if jit:
        pytest.importorskip("numba")
    derived = symgrad.value_and_grad(function, jit="auto" if jit else False)
    actual = [outcome(derived, *args) for args in calls]
    monkeypatch.setattr(runner, "passes_of", lambda stage: stage.without("scalar_replacement").passes)
    forget_all()
    plain = symgrad.value_and_grad(function)
    expected = [outcome(plain, *args) for args in calls]
    forget_all()

    for args, one, other in zip(calls, actual, expected, strict=True):
        value = outcome(function, *args)
        assert same(one, other, 1e-13), args
        if not isinstance(value, tuple):
            assert type(one[0]) is type(value) or isinstance(value, float)
            assert np.allclose(one[0], value, 1e-13, equal_nan=True)


def test_division_by_zero_warns_where_it_is_read_and_raises_nowhere() -> None:
    text = symgrad.grad(rotated).source(0.4, 2, optimize="speed")

    assert "except (ArithmeticError, ValueError)" in text
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert np.isnan(symgrad.grad(rotated)(0.0, 2))
    assert any("divide by zero" in str(warning.message) for warning in seen)


def test_what_does_not_pay_stays_and_says_why() -> None:
    def sorted_each_time(x, n):
        y = np.array([x, 0.5, 0.2])
        for _ in range(n):
            y = np.sort(y) * 0.5
        return y[0]

    check_grads(sorted_each_time, (0.3, 3), wrt=0)
    assert "np.array([" in code(symgrad.grad(sorted_each_time).source(0.3, 3, optimize="speed"))
    assert "a small array stays an array" in symgrad.grad(sorted_each_time).explain(0.3, 3)
    assert "each a number of its own" in symgrad.grad(stepped).explain(np.array([0.3, 0.2]), 2.0, 4)


# ------------------------------------------------------------------ random programs

SHAPES: dict[str, tuple[int, ...]] = {"a": (2,), "b": (2,), "c": (3,), "m": (2, 2), "u": (1,)}
UNARY = ("np.sin({})", "-{}", "0.5 * {}", "np.tanh({}) + 0.1", "1.0 / (1.5 + {} ** 2)", "np.maximum({}, 0.2)", "np.sqrt(0.3 + {} ** 2)")
BINARY = ("({} + {})", "({} - 0.5 * {})", "(0.4 * {} * {})", "({} / (2.0 + np.cos({})))", "np.where({} > 0.3, {}, 0.25)")


class Writer:
    """Writes a function of a vector ``x`` of four numbers and a number ``w``."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []

    def pick(self, options: Any) -> Any:
        return self.random.choice(list(options))

    def number(self, depth: int = 1) -> str:
        kind = self.random.randrange(9 if depth else 4)
        match kind:
            case 0:
                return self.pick(("w", "0.5", "-0.3", "1", "s"))
            case 1:
                return f"x[{self.pick(('i', 0, -1, 'i - 1'))}]"
            case 4:
                return f"np.sum({self.array(self.pick(SHAPES.values()), 1)})"
            case 5:
                return f"np.dot({self.array((2,), 0)}, {self.array((2,), 0)})"
            case 6:
                return f"np.mean({self.array(self.pick(SHAPES.values()), 0)})"
            case 7:
                return f"np.linalg.norm({self.array((3,), 0)} + 2.0)"
            case 8:
                return f"np.max({self.array((3,), 0)})"
        name = self.pick(SHAPES)
        return f"{name}[{', '.join(str(self.pick((*range(-e, e), *(['i % ' + str(e)] if e > 1 else [])))) for e in SHAPES[name])}]"

    def array(self, shape: tuple[int, ...], depth: int = 2) -> str:
        names = [name for name, own in SHAPES.items() if own == shape]
        kind = self.random.randrange(9 if depth else 1)
        match kind:
            case 1 | 2:
                form = self.pick(UNARY)
                return str(form).format(f"({self.array(shape, depth - 1)})")
            case 3 | 4:
                form = self.pick(BINARY)
                other = self.number(depth - 1) if self.random.random() < 0.4 else self.array(shape, depth - 1)
                return form.format(self.array(shape, depth - 1), other)
            case 5:
                rows = [self.number(depth - 1) for _ in range(shape[0])]
                if len(shape) == 2:
                    rows = [f"[{self.number(0)}, {self.number(0)}]" for _ in rows]
                return f"np.array([{', '.join(rows)}], dtype=float)"
        special = {
            (2,): ("c[1:]", "c[::2]", "m[0]", "m[:, 1]", "m @ a", "b @ m", "np.diag(m)", "m.sum(axis=0)", "a[::-1]", "x[1:3]", "c[:2] * u",
                   "np.concatenate([u, c[2:]])", "x[i % 2 : i % 2 + 2]"),
            (3,): ("c[::-1]", "np.concatenate([a, u])", "np.array([b[0], b[1], 0.5])", "np.append(a, w)", "x[:3]", "np.cumsum(c)"),
            (2, 2): ("m.T", "np.outer(a, b)", "m @ m", "np.stack([a, b])", "a[:, None] * b", "np.eye(2)", "np.array([a, b])", "a.reshape(2, 1) * u"),
            (1,): ("c[1:2]", "u * u", "np.array([w])", "a[:1]"),
        }  # fmt: skip
        return f"0.5 * ({self.pick(special[shape])})" if kind > 5 else self.pick(names)

    def statement(self, indent: str, depth: int) -> None:
        name = self.pick(SHAPES)
        match self.random.randrange(11):
            case 0 | 1 | 2:
                self.lines.append(f"{indent}{name} = np.tanh({self.array(SHAPES[name])})")
            case 3:
                self.lines.append(f"{indent}{name} {self.pick(('+=', '*=', '-='))} 0.3 * {self.array(SHAPES[name], 1)}")
            case 4:
                self.lines.append(
                    f"{indent}{name}[{self.pick((0, -1))}] = 0.5 * {self.array(SHAPES[name][1:], 0) if SHAPES[name][1:] else self.number()}"
                )
            case 5:
                self.lines.append(f"{indent}s = s + 0.1 * {self.number()}")
            case 6:
                self.lines.append(f"{indent}a, b = b, np.sin(a)")
            case 7:
                self.lines.append(f"{indent}a = b.copy()")
            case 8:
                self.lines.append(f"{indent}kept[i] = {self.array((2,), 1)}")
            case 9 if depth:
                self.lines.append(f"{indent}if {self.number(0)} > 0.35:")
                self.statement(indent + "    ", 0)
                if self.random.random() < 0.5:
                    self.lines.append(f"{indent}else:")
                    self.statement(indent + "    ", 0)
            case 10 if depth:
                self.lines.append(f"{indent}for _ in range(i):")
                self.statement(indent + "    ", 0)
            case _:
                self.lines.append(f"{indent}c[1:] = {self.array((2,), 1)}")

    def function(self, length: int) -> str:
        start = ["a = np.array([x[0], w])", "b = np.array([0.2, x[1]])", "c = np.array([x[2], w * w, 1])",
                 "m = np.array([[w, 0.1], [x[3], 0.2]])", "u = np.array([0.4])", "s = 0.0", "kept = np.zeros((4, 2))"]  # fmt: skip
        for _ in range(length):
            self.statement("        ", 1)
        end = "return s + np.sum(a * b) + c[0] * c[2] + np.sum(np.sin(m)) + np.sum(kept) * u[0]"
        lines = [
            "import numpy as np",
            "",
            "def f(x, w):",
            *(f"    {line}" for line in start),
            "    for i in range(4):",
            *self.lines,
            f"    {end}",
        ]
        return "\n".join(lines) + "\n"


def arguments() -> tuple[Any, ...]:
    return np.array([0.3171, 0.7239, -0.4313, 0.9477]), 0.5719


def check(seed: int, length: int, jit: bool) -> bool:
    """One program: its value, its gradient against differences, on one target; False if it is refused."""
    text = Writer(seed).function(length)
    with loaded(text) as function, warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            expected = function(*arguments())
        except Exception:
            return True
        try:
            value, gradient = symgrad.value_and_grad(function, (0, 1), jit="auto" if jit else False)(*arguments())
        except symgrad.SymgradError:
            return False
        assert np.isclose(value, expected, 1e-12), f"{seed}: {value}, not {expected}\n{text}"
        if np.isfinite(expected):
            direction = direction_for(arguments(), np.random.default_rng(seed))
            slopes = [derivative(lambda a: function(*a), arguments(), direction, h) for h in (1e-5, 1e-6)]
            if np.isclose(*slopes, 1e-4):  # else there is a kink nearby
                assert np.isclose(inner(gradient, direction), slopes[0], 1e-5, 1e-7), f"{seed}\n{text}"
    return True


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Arrays become numbers whether that pays or not."""
    monkeypatch.setattr(module.Groups, "pays", lambda self, group: True)
    yield


#: of how many programs the others are for the slow run
COUNTS = pytest.mark.parametrize("count", [15, pytest.param(60, marks=pytest.mark.slow)])


@COUNTS
def test_random_programs(count: int) -> None:
    assert sum(check(seed, 6, False) for seed in range(count)) > count - 10


@COUNTS
def test_random_programs_of_which_all_is_replaced(count: int, always: None) -> None:
    assert sum(check(seed, 8, False) for seed in range(1000, 1000 + count)) > count - 10


def test_random_programs_in_kernels() -> None:
    pytest.importorskip("numba")
    assert sum(check(seed, 4, True) for seed in range(2000, 2006)) > 4


NARROW = ("w[0]", "w", "w[i]", "x[0] * w[1]")
WIDE = ("np.ones(2)", "np.zeros(2)", "np.array([1.5, 2.0])", "np.arange(2)", "np.full(2, 0.5)", "2.5", "3", "x")
BESIDE = ("{} * {}", "{} + {}", "{} - {}", "{} / (2 + {})", "np.maximum({}, {})", "np.arctan2({}, {})", "np.where(x > 0, {}, {})")


@pytest.mark.sweep(12)
@pytest.mark.parametrize(("narrow", "wide", "form"), list(product(NARROW, WIDE, BESIDE)), ids=str)
def test_elements_are_as_wide_as_their_array(narrow: str, wide: str, form: str) -> None:
    source = f"""import numpy as np
def f(x):
    s = x[0]
    for i in range(2):
        w = np.cos(np.arange(2)).astype(np.float32)
        v = {form.format(narrow, wide)}
        s = s + np.sum(v + w) * x[i]
    return s
"""
    verdict = judged(function_of(source), {"x": np.array([0.7, 1.3])})
    assert verdict[0] == "right", (source, verdict)
