"""Without any optional pass, with neighbours swapped, and in random orders, all programs stay correct.

What each of these pipelines makes of programs of the corpus is compared with what the one in use makes of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

import pytest
from differences import leaves
from planted import anew
from programs import PROGRAMS, Program
from targets import outcome, same

import symgrad
from symgrad.pipeline import runner
from symgrad.pipeline.registry import PASSES, PIPELINES
from symgrad.pipeline.runner import Pass, Stage

#: every seventh or so of the corpus: 200 programs
SAMPLE = PROGRAMS[:: max(1, len(PROGRAMS) // 200)][:200]
#: how many parts the programs are tried in
PARTS = 20
#: stages whose passes prepare one another for what comes then: what is taken from the order of these is part of what they mean
FIXED = ("filed", "growing tapes", "numbers")


@dataclass(frozen=True)
class Change:
    """A change of every stage, under a name."""

    name: str
    of: Callable[[Stage], tuple[Pass, ...]]


def without(name: str) -> Change:
    return Change(f"without {name}", lambda stage: stage.without(name).passes)


def swapped(one: str, other: str) -> Change:
    """Where one of two passes stands right before the other, it stands right behind it."""

    def of(stage: Stage) -> tuple[Pass, ...]:
        derivative = [*stage.passes]
        for k in range(len(derivative) - 1):
            if (derivative[k].name, derivative[k + 1].name) == (one, other):
                derivative[k], derivative[k + 1] = derivative[k + 1], derivative[k]
        return tuple(derivative)

    return Change(f"{other} before {one}", of)


def permuted(seed: int) -> Change:
    """The optional passes of each stage in a random order, each behind those that it requires."""

    def of(stage: Stage) -> tuple[Pass, ...]:
        if stage.name in FIXED:
            return stage.passes
        places = [k for k, one in enumerate(stage.passes) if is_movable(one)]
        drawn = [stage.passes[k] for k in places]
        Random(f"{seed} {stage.name}").shuffle(drawn)
        drawn = in_order(drawn)
        derivative = [*stage.passes]
        for k, one in zip(places, drawn, strict=True):
            derivative[k] = one
        return tuple(derivative)

    return Change(f"order {seed}", of)


def is_movable(one: Pass) -> bool:
    """May a pass run before or behind others of its stage?  Not where values are handles of memory, which end with ``loops.versions``."""
    return one.optional and not one.loose and one.name not in REQUIRED


REQUIRED = {name for one in PASSES.values() for name in one.requires if not PASSES[name].optional}


def in_order(drawn: list[Pass]) -> list[Pass]:
    """The same passes, each behind those of them that it requires."""
    derivative: list[Pass] = []
    waiting = [*drawn]
    while waiting:
        one = next(p for p in waiting if not any(q.name in p.requires for q in waiting))
        waiting.remove(one)
        derivative.append(one)
    return derivative


def neighbours() -> Iterator[tuple[str, str]]:
    """Pairs of passes that may change places."""
    for parts in PIPELINES.values():
        for stage in parts:
            if isinstance(stage, Stage) and stage.name not in FIXED:
                for one, other in zip(stage.passes, stage.passes[1:]):
                    if is_movable(one) and is_movable(other) and one.name != other.name and one.name not in other.requires:
                        yield one.name, other.name


CHANGES = [
    *(without(name) for name, one in PASSES.items() if one.optional),
    *(swapped(*pair) for pair in dict.fromkeys(neighbours())),
    *(permuted(seed) for seed in range(12)),
]


def gradients(program: Program, jit: bool) -> Any:
    derived = symgrad.value_and_grad(anew(program.function), program.wrt, jit="auto" if jit else False, verify=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [*leaves(outcome(derived, *program.arguments(program.sizes[-1])))]


@cache
def expected(place: int, jit: bool) -> Any:
    """What the pipeline in use makes of a program."""
    return gradients(SAMPLE[place], jit)


@pytest.mark.sweep(240)
@pytest.mark.parametrize(("jit", "part"), [*((False, part) for part in range(PARTS)), (True, 0)])
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)
def test_every_order_is_right(change: Change, part: int, jit: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if jit:
        pytest.importorskip("numba")
    places = range(part, len(SAMPLE), PARTS)
    reference = [expected(place, jit) for place in places]
    monkeypatch.setattr(runner, "passes_of", change.of)
    for place, result in zip(places, reference, strict=True):
        assert same(gradients(SAMPLE[place], jit), result, 1e-9, 1e-11), SAMPLE[place].name


def test_the_changes_change_something() -> None:
    """One of each kind changes some stage; there are as many as the pipelines have passes, neighbours, and twelve orders."""
    stages = [stage for parts in PIPELINES.values() for stage in parts if isinstance(stage, Stage)]

    assert len(SAMPLE) >= 200
    assert len(CHANGES) > 80
    assert all(any(change.of(stage) != stage.passes for stage in stages) for change in CHANGES)
