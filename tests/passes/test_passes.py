"""Each pass against its file of pairs: text before, text after."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path

import pytest
from pairs import pairs

from symgrad.ir.core import Func, walk
from symgrad.ir.parse import parse
from symgrad.ir.show import show
from symgrad.ir.verify import verify
from symgrad.location import Loc
from symgrad.notes import Notes
from symgrad.ops import declare
from symgrad.pipeline.stages import LOWER, OPTIMISE, SIMPLIFY

HERE = Path(__file__).parent
for rows in ("engine", "elementwise", "reductions", "arrays", "linalg", "constants", "into", "cells", "making", "joining", "kernel"):
    importlib.import_module(f"symgrad.ops.{rows}")


CASES = [pytest.param(path.stem, b, a, id=f"{path.stem}: {title}") for path in sorted(HERE.glob("*.ir")) for title, b, a in pairs(path)]


def load(name: str) -> Callable[[Func], Func]:
    found: Callable[[Func], Func] = getattr(importlib.import_module(f"symgrad.passes.{name}"), name)
    return found


@pytest.mark.parametrize(("name", "before", "after"), CASES)
def test_a_pass_turns_the_text_before_into_the_text_after(name: str, before: str, after: str) -> None:
    assert declare.ROWS
    func, expected = parse(before), parse(after)
    verify(func)
    verify(expected)
    made = load(name)(func)
    verify(made)

    assert show(made) == show(expected)


@pytest.mark.parametrize(("name", "before", "after"), CASES)
def test_a_pass_run_twice_changes_nothing_more(name: str, before: str, after: str) -> None:
    run = load(name)
    once = show(run(parse(before)))

    assert show(run(parse(once))) == once


TELLING = sorted(
    {"lift", "paired"} | {run.__name__ for run in (*SIMPLIFY, *OPTIMISE, *LOWER)} - {"dce"}
)  # what nobody reads is nobody's loss


@pytest.mark.parametrize("name", TELLING)
def test_a_pass_tells_what_it_did(name: str) -> None:
    notes = Notes()
    for _, before, _ in pairs(HERE / f"{name}.ir"):
        func = parse(before)
        func.notes = notes
        for line, op in enumerate(walk(func.body), start=1):
            op.loc = Loc("f.py", line, backward=op.loc.backward)
        load(name)(func)

    assert any(note.message for note in notes)


def test_what_leaves_a_loop_is_told_by_the_name_that_the_user_gave_it() -> None:
    func = parse(
        "func f(w: float, n: int) -> float:\n"
        "    for i.0 in range(0, n, 1):\n"
        "        carry s.0 = 0.0 -> s.1 : float\n"
        "        twice.0 = multiply(w, 2.0) : float\n"
        "        %0 = add(twice.0, w) : float\n"
        "        s.2 = add(s.0, %0) : float\n"
        "        yield s.2\n"
        "    return s.1\n"
    )
    func.notes = notes = Notes()
    for op in walk(func.body):
        op.loc = Loc("f.py", 3)
    load("hoist")(func)

    assert sorted(note.name for note in notes) == ["add", "twice"]
