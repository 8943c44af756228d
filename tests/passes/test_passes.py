"""Each pass against its file of pairs: IR text before and after, both executed."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from interpreter import Endless, oracle
from pairs import agree, arguments, pairs

import symgrad.ops
from symgrad.ir.core import Func, walk
from symgrad.ir.parse import parse
from symgrad.ir.show import show
from symgrad.ir.verify import verify
from symgrad.location import Loc
from symgrad.notes import Notes
from symgrad.pipeline.registry import LOWER, OPTIMISE, PASSES, SIMPLIFY

HERE = Path(__file__).parent
for module in pkgutil.walk_packages(symgrad.ops.__path__, "symgrad.ops."):  # all rows
    importlib.import_module(module.name)
CASES = [pytest.param(path.stem, b, a, id=f"{path.stem}: {title}") for path in sorted(HERE.glob("*.ir")) for title, b, a in pairs(path)]


def load(name: str) -> Callable[[Func], Func]:
    return PASSES[name].function


@pytest.mark.parametrize(("name", "before", "after"), CASES)
def test_a_pass_turns_the_text_before_into_the_text_after(name: str, before: str, after: str) -> None:
    func, expected = parse(before), parse(after)
    verify(func)
    verify(expected)
    result = load(name)(func)
    verify(result)

    assert show(result) == show(expected)


@pytest.mark.parametrize(("name", "before", "after"), CASES)
def test_a_pass_run_twice_changes_nothing_more(name: str, before: str, after: str) -> None:
    run = load(name)
    once = show(run(parse(before)))

    assert show(run(parse(once))) == once


#: pairs that show one op beside others whose extents go together nowhere, so that neither text runs
NOT_RUN = {
    (
        "fold",
        "what x @ x gives to its factors is given once, also where something was there; other factors, and matrices, are left",
    ),
    ("buffer_reuse", "a store that casts, or whose value's shape is not known, is one"),
    ("reversals", "the vector is reversed, not the place"),
    ("cse", "a check that was passed is not made again, where it was surely made"),
}


@pytest.mark.sweep(3)
@pytest.mark.parametrize(
    ("name", "title", "before", "after"),
    [pytest.param(path.stem, title, b, a, id=f"{path.stem}: {title}") for path in sorted(HERE.glob("*.ir")) for title, b, a in pairs(path)],
)
def test_the_text_before_and_the_text_after_give_the_same(name: str, title: str, before: str, after: str) -> None:
    first, second = parse(before), parse(after)
    tried = 0
    for args in arguments(first.params):
        expected, actual = outcome(first, args), outcome(second, args)
        if isinstance(expected, str):
            tried += expected == "ZeroDivisionError" == actual
            continue  # extents that do not go together, loops that do not end
        assert not isinstance(actual, str), actual
        assert agree(actual, expected)
        tried += 1
    assert tried or (name, title) in NOT_RUN


def outcome(func: Func, args: Sequence[Any]) -> list[Any] | str:
    """The results of a function, or the name of what it raises."""
    try:
        return oracle(func, args, {"g": np.sin})
    except (ValueError, IndexError, ZeroDivisionError, Endless) as error:
        return type(error).__name__


TELLING = sorted(
    {"primal_invariants", "dot_products"} | {one.name for stage in (SIMPLIFY, OPTIMISE, LOWER) for one in stage.passes} - {"dce"}
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
    load("loop_invariants")(func)

    assert sorted(note.name for note in notes) == ["add", "twice"]
