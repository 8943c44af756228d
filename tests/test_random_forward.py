"""Random programs in forward mode: the tangent equals the inner product with the gradient."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from array_strategies import random_array_program
from complex_strategies import ARGUMENTS as COMPLEX
from complex_strategies import random_complex_program
from differences import direction_for, inner, leaves, same
from memory_strategies import SITUATIONS, memory_arguments, random_memory_program
from object_strategies import object_arguments, random_object_program
from strategies import arguments, loaded, random_program
from targets import outcome

import symgrad
from symgrad.errors import InvalidIR, Mismatch

pytestmark = pytest.mark.filterwarnings("ignore::symgrad.errors.NotActiveWarning")


@dataclass
class Tally:
    """What became of the programs, each at its arguments."""

    right: int = 0
    refused: int = 0  #: by both modes
    forward_only: int = 0  #: refused in reverse alone
    raising: int = 0  #: or not finite


def complex_arguments() -> tuple[Any, ...]:
    return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in COMPLEX)


@dataclass(frozen=True)
class Kind:
    """A kind of random programs: how they are written, their arguments, and which of these have tangents."""

    write: Callable[[int], Any]
    arguments: Callable[[Any], Callable[[], tuple[Any, ...]]]
    wrt: tuple[int, ...]
    situations: tuple[Any, ...] = (0,)


def of_memory(situation: int) -> Callable[[], tuple[Any, ...]]:
    return lambda: tuple(a.copy() if isinstance(a, np.ndarray) else a for a in memory_arguments(situation))


KINDS = {
    "numbers": Kind(random_program, lambda _: arguments, tuple(range(len(arguments())))),
    "memory": Kind(lambda seed: random_memory_program(seed, 10), of_memory, (0, 1, 4), tuple(range(len(SITUATIONS)))),
    "objects": Kind(random_object_program, lambda situation: lambda: object_arguments(situation), (0, 1, 3), (0, 1, 2)),
    "complex": Kind(random_complex_program, lambda _: complex_arguments, tuple(range(len(COMPLEX)))),
}


def in_direction(chosen: tuple[Any, ...]) -> Any:
    """A direction, with an imaginary part where the arguments have one."""
    if not any(map(np.iscomplexobj, chosen)):
        return direction_for(chosen, np.random.default_rng(3))
    random = np.random.default_rng(3)
    drawn = [random.normal(size=np.shape(a)) + (1j * random.normal(size=np.shape(a)) if np.iscomplexobj(a) else 0) for a in chosen]
    return tuple(d if isinstance(a, np.ndarray) else type(a)(d) for a, d in zip(chosen, drawn, strict=True))


def product(gradient: Any, direction: Any) -> float:
    """How much a change in a direction changes what has this gradient."""
    if any(map(np.iscomplexobj, direction)):
        return float(sum(np.sum(np.asarray(g) * d) for g, d in zip(gradient, direction, strict=True)).real)
    return inner(gradient, direction)


def check(text: str, wrt: tuple[int, ...], fresh: Callable[[], tuple[Any, ...]], tally: Tally) -> None:
    """One program at its arguments; what is wrong fails with its source."""
    with loaded(text) as function, contextlib.redirect_stdout(io.StringIO()):
        expected = outcome(function, *fresh())
        if isinstance(expected, tuple) or not np.isfinite(expected):
            tally.raising += 1
            return
        direction = in_direction(tuple(fresh()[k] for k in wrt))
        primals = fresh()
        try:
            out, tangent = symgrad.jvp(function, primals, direction, wrt=wrt)
        except (InvalidIR, Mismatch) as fault:
            raise AssertionError(f"a stage fails\n{text}") from fault
        except symgrad.SymgradError:
            tally.refused += 1
            with pytest.raises(symgrad.SymgradError):
                symgrad.grad(function, wrt=wrt, allow_unused=True)(*fresh())
            return
        assert same(primals, fresh()), f"an argument was written to\n{text}"
        narrow = any(getattr(leaf, "dtype", None) == np.float32 for leaf in leaves(fresh()))
        assert out == pytest.approx(expected, rel=1e-4 if narrow else 1e-11, abs=1e-13), f"the value is wrong\n{text}"
        try:
            gradient = symgrad.grad(function, wrt=wrt, allow_unused=True)(*fresh())
        except symgrad.SymgradError:
            tally.forward_only += 1
            return
        total = product(gradient, direction)
        if not np.isfinite(total):  # a slope is infinite
            tally.raising += 1
            return
        size = max(1.0, *(float(np.max(np.abs(g), initial=0.0)) for g in leaves(gradient)))
        assert abs(tangent - total) <= (2e-3 if narrow else 1e-9) * size, f"the tangent is {tangent}, not {total}\n{text}"
        tally.right += 1


def run(kind: Kind, count: int, first: int = 0) -> Tally:
    tally = Tally()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for seed in range(first, first + count):
            for situation in kind.situations:
                check(kind.write(seed), kind.wrt, kind.arguments(situation), tally)
    print(tally)
    return tally


@pytest.mark.parametrize("name", KINDS)
def test_random_programs_are_right_forward(name: str) -> None:
    tally = run(KINDS[name], 12 if name in ("numbers", "complex") else 3)

    assert tally.right > 0
    assert tally.refused <= 0.4 * (tally.right + tally.refused)


def test_random_programs_of_arrays_are_right_forward() -> None:
    tally = Tally()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for seed in range(10):
            text, fresh = random_array_program(seed)
            check(text, (0, 1, 2), fresh, tally)

    assert tally.right > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_many_random_programs_are_right_forward(name: str) -> None:
    run(KINDS[name], 400, 100)
