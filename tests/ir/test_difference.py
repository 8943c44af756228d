"""The difference between two stages, with names that denote the same value in both."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.derivatives import derive
from symgrad.errors import BadArgument
from symgrad.ir.core import Func
from symgrad.ir.difference import difference, first_free_numbers, matching, renamed
from symgrad.ir.parse import parse
from symgrad.ir.show import show
from symgrad.parameters import Options
from symgrad.pipeline.job import STAGES
from tests.programs import PROGRAMS, Program

PAGE = (Path(__file__).parent.parent.parent / "docs" / "ir.md").read_text()


def rate(x: Any, w: Any) -> Any:
    y = np.sin(w) * x
    y[0] = y[1] * 2.0 + 1.0 * w
    return np.sum(y * y)


def decay(x: Any, w: Any) -> Any:
    for _ in range(3):
        x = x * np.exp(-w)
    return np.sum(x)


ARGS = (np.ones(3), 2.0)


def stages_of(program: Program) -> Mapping[str, Func]:
    entry = symgrad.grad(program.function, wrt=program.wrt)._entry(program.arguments(program.sizes[0]), {}, None)
    stages: Mapping[str, Func] = entry.compiled.stages()
    return stages


@pytest.mark.sweep(4)
@pytest.mark.parametrize("program", PROGRAMS[::19], ids=lambda program: program.name)
def test_the_renamed_text_is_the_same_function(program: Program) -> None:
    stages = stages_of(program)
    for first, second in itertools.pairwise(stages.values()):
        before, after = show(first).splitlines(), show(second).splitlines()
        text = "\n".join(renamed(after, matching(before, after), first_free_numbers(before))) + "\n"

        assert show(parse(text)) == show(second)


@pytest.mark.parametrize("program", PROGRAMS[::19], ids=lambda program: program.name)
def test_a_function_does_not_differ_from_itself(program: Program) -> None:
    for func in stages_of(program).values():
        assert difference(func, func) == ""


def test_lines_that_only_have_new_numbers_do_not_differ() -> None:
    first = parse("func f(x: float) -> float:\n    %0 = sin(x) : float\n    %1 = cos(x) : float\n    return %1\n")
    second = parse("func f(x: float) -> float:\n    %0 = cos(x) : float\n    return %0\n")
    changed = [line for line in difference(first, second).splitlines()[2:] if line[0] in "+-"]

    assert changed == ["-    %0 = sin(x) : float"]


def test_numbers_inside_strings_are_no_names() -> None:
    lines = ["func f(x: f64[4]) -> f64[2, 2]:", '    %0 = view(x, index=".reshape:2;s.3") : f64[2, 2]', "    return %0"]

    assert renamed(lines, {"%0": "%7"}, {}) == [line.replace("%0", "%7") for line in lines]


def test_a_pair_of_stages() -> None:
    text = symgrad.grad(rate).ir(*ARGS, stage=("lowered", "optimized"))

    assert text.startswith("--- lowered\n+++ optimized\n@@ ")
    assert text == symgrad.grad(rate).ir(*ARGS, stage=["lowered", "optimized"])


def test_a_pair_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    symgrad.show_ir(rate, *ARGS, stage=("simplified", "adjoint"))

    assert capsys.readouterr().out.startswith("--- simplified\n+++ adjoint\n")


@pytest.mark.parametrize("stage", ["parsed", ("lowered", "parsed"), (), ("lowered", "adjoint", "optimized")])
def test_a_stage_that_is_none_is_refused(stage: Any) -> None:
    with pytest.raises(BadArgument, match="there is no stage") as refusal:
        symgrad.grad(rate).ir(*ARGS, stage=stage)
    assert "lowered, simplified, adjoint, optimized" in str(refusal.value)


def test_every_stage_is_kept_and_on_the_page() -> None:
    derived = symgrad.grad(decay)._entry(ARGS, {}, None).compiled.stages()
    pullback = derive(rate, Options("vjp"))._entry(ARGS, {}, None).compiled.stages()

    assert list(dict.fromkeys([*derived, *pullback])) == list(STAGES)
    assert dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", PAGE, re.MULTILINE)) == STAGES
