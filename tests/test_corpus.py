"""Every program of the corpus compared with differences: value, gradient, pullback, second order, other sizes, unchanged arguments."""

from __future__ import annotations

import hashlib
import inspect
import os
import resource
import subprocess
import sys
import time
import types
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import programs_of_objects  # noqa: F401  # enters its programs
import pytest
from differences import derivative, direction_for, double, inner, leaves, same
from of_any_length import LONG, TYPICAL
from programs import PROGRAMS, Program

import symgrad
from symgrad.runtime import special, support
from symgrad.runtime.find import find
from symgrad.runtime.load import load

EVERY = pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
SMOOTH = pytest.mark.parametrize("program", [p for p in PROGRAMS if p.second], ids=lambda p: p.name)


def positions(program: Program) -> tuple[int, ...]:
    return program.wrt if isinstance(program.wrt, tuple) else (program.wrt,)


def tolerance(chosen: Any) -> float:
    """What can be asked of a gradient: as much as its leaves have digits."""
    return 2e-4 if any(getattr(leaf, "dtype", None) == np.float32 for leaf in leaves(chosen)) else 1e-7


def selected(program: Program, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(arguments[k] for k in positions(program))


def as_tuple(program: Program, gradient: Any) -> tuple[Any, ...]:
    return gradient if isinstance(program.wrt, tuple) else (gradient,)


def value_of(program: Program, size: int, function: Callable[..., Any] | None = None) -> Callable[[Any], Any]:
    """The program, or a function of the same arguments, as a function of what it is differentiated by alone, in double precision."""

    def value(chosen: tuple[Any, ...]) -> Any:
        arguments = list(double(program.arguments(size)))
        for k, argument in zip(positions(program), chosen, strict=True):
            arguments[k] = argument
        return (function or program.function)(*arguments)

    return value


def assert_close(actual: float, expected: float, relative: float) -> None:
    assert actual == pytest.approx(expected, rel=relative, abs=relative)


def assert_fits(gradient: Any, argument: Any, arguments: tuple[Any, ...]) -> None:
    """Each leaf of a gradient has the shape and precision of its argument's, and memory of its own."""
    for part, leaf in zip(leaves(gradient), leaves(argument), strict=True):
        assert np.shape(part) == np.shape(leaf)
        if isinstance(leaf, np.ndarray):
            assert isinstance(part, np.ndarray | np.floating) and part.dtype == leaf.dtype
            assert part.ndim == 0 or part.flags.writeable
        assert not any(np.shares_memory(part, other) for other in leaves(arguments))


@pytest.mark.sweep(2)
@EVERY
def test_value_and_gradient_agree_with_differences(program: Program) -> None:
    derived = symgrad.value_and_grad(program.function, wrt=program.wrt)
    for size in program.sizes:
        arguments = program.arguments(size)
        value, gradient = derived(*arguments)
        chosen = selected(program, program.arguments(size))

        assert same(arguments, program.arguments(size)), "an argument was written to"
        assert value == pytest.approx(program.function(*program.arguments(size)), rel=tolerance(chosen) * 1e-4, abs=1e-15)
        assert_fits(as_tuple(program, gradient), chosen, arguments)
        for seed in range(2):
            direction = direction_for(chosen, np.random.default_rng(seed))
            expected = derivative(value_of(program, size), double(chosen), double(direction))
            assert_close(inner(as_tuple(program, gradient), direction), expected, tolerance(chosen))


@pytest.mark.sweep(12)
@EVERY
def test_gradient_alone_is_the_same(program: Program) -> None:
    arguments = program.arguments(program.sizes[0])
    alone = symgrad.grad(program.function, wrt=program.wrt)(*arguments)
    _, beside = symgrad.value_and_grad(program.function, wrt=program.wrt)(*program.arguments(program.sizes[0]))

    assert same(arguments, program.arguments(program.sizes[0]))
    for a, b in zip(leaves(alone), leaves(beside), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12 if tolerance(arguments) < 1e-6 else 1e-5, atol=1e-14)


@pytest.mark.sweep(12)
@EVERY
def test_the_text_to_read_computes_the_same(program: Program) -> None:
    derived = symgrad.grad(program.function, wrt=program.wrt)
    gradient = derived(*program.arguments(program.sizes[0]))
    text = derived.source(optimize="read")
    space = dict(derived.compiled().__globals__)
    space.update({name: find(name) for module in (support, special) for name in vars(module) if name in text and name not in space})
    bound = inspect.signature(program.function).bind(*program.arguments(program.sizes[0]))
    bound.apply_defaults()
    read = load(text, derived.compiled().__name__, space)(*bound.args, **bound.kwargs)

    for a, b in zip(leaves(gradient), leaves(read), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


@pytest.mark.sweep(12)
@EVERY
def test_pullback_may_be_called_twice(program: Program) -> None:
    arguments = program.arguments(program.sizes[0])
    out, pullback = symgrad.vjp(program.function, *arguments, wrt=program.wrt)
    seed = np.ones_like(out) if isinstance(out, np.ndarray | np.generic) else 1.0
    first, second = pullback(seed), pullback(seed)
    chosen = selected(program, program.arguments(program.sizes[0]))
    direction = direction_for(chosen, np.random.default_rng(0))
    expected = derivative(value_of(program, program.sizes[0]), double(chosen), double(direction))

    assert all(np.array_equal(a, b) for a, b in zip(leaves(first), leaves(second), strict=True))
    assert same(arguments, program.arguments(program.sizes[0]))
    assert_close(inner(as_tuple(program, first), direction), expected, tolerance(chosen))


@pytest.mark.sweep(20)
@SMOOTH
@pytest.mark.filterwarnings("ignore::symgrad.errors.NotActiveWarning")  # of a linear function it is zero
def test_second_order_agrees_with_differences_of_the_gradient(program: Program) -> None:
    by = positions(program)[0]
    size = program.sizes[0]
    arguments = program.arguments(size)
    derived = symgrad.grad(program.function, wrt=by)
    generator = np.random.default_rng(1)
    seed, direction = direction_for(arguments[by], generator), direction_for(arguments[by], generator)
    _, pullback = symgrad.vjp(derived, *arguments, wrt=by)
    narrowed = Program(program.function, program.group, program.arguments, program.sizes, by, True)

    expected = derivative(lambda t: inner(value_of(narrowed, size, derived)((t,)), seed), arguments[by], direction)
    assert_close(inner(pullback(seed), direction), expected, 1e-6)
    assert same(arguments, program.arguments(size))


@pytest.mark.slow
def test_emitted_text_is_the_same_in_two_runs() -> None:
    path = os.pathsep.join([str(Path(__file__).resolve().parent.parent), os.environ.get("PYTHONPATH", "")])
    runs = [
        subprocess.run([sys.executable, __file__], capture_output=True, text=True, check=True,
                       env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path})
        for seed in ("1", "2")
    ]  # fmt: skip

    assert runs[0].stdout == runs[1].stdout
    assert len(runs[0].stdout.splitlines()) == len(PROGRAMS[::4])


def test_where_values_lie_in_memory_is_not_seen_in_the_text() -> None:
    """Of a program where several numbers may become Python's, and each decides on the others."""
    program = next(program for program in PROGRAMS if program.name == "vocabulary-runge_kutta")
    function, random = program.function, Random(0)
    held: list[list[object]] = []
    texts = set()
    for _ in range(8):
        held += [[object() for _ in range(random.randint(1, 500))] for _ in range(9)]
        del held[::2]
        anew = types.FunctionType(function.__code__, dict(function.__globals__), function.__name__)
        texts.add(symgrad.grad(anew, wrt=program.wrt).source(*program.arguments(program.sizes[0]), optimize="speed"))

    assert len(texts) == 1


def digests() -> list[str]:
    """One line for every fourth program: its name and a digest of its gradient's source."""
    lines = []
    for program in PROGRAMS[::4]:
        try:
            text = symgrad.grad(program.function, wrt=program.wrt).source(*program.arguments(program.sizes[0]))
        except symgrad.SymgradError as refusal:
            text = str(refusal)
        lines.append(f"{program.name} {hashlib.sha256(text.encode()).hexdigest()[:16]}")
    return lines


if __name__ == "__main__":
    print("\n".join(digests()))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_every_program_has_a_gradient_within_a_minute_and_two_gigabytes() -> None:
    entries = [(program.function, program.wrt, program.arguments(program.sizes[-1])) for program in PROGRAMS]
    entries += [(function, (0, 1), data(np.random.default_rng(0), 100)) for function, data in [*LONG, *TYPICAL]]
    refused = set()
    for function, wrt, arguments in entries:
        start = time.process_time()
        try:
            symgrad.grad(function, wrt)(*arguments)
        except symgrad.SymgradError:
            refused.add(function.__name__)
        assert time.process_time() - start < 60, function.__name__
    assert refused == {"remembered", "warped"}
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 2 * 2**20  # kilobytes
