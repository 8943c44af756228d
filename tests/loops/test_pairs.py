"""Lowerings against files of pairs: IR text before and after, both executed.

A file is named for the module that it shows. ``--update-golden`` writes what comes after anew; read the difference.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from interpreter import oracle
from pairs import BECOMES, NUMBERS, arguments, pairs

import symgrad.compile  # all rows
from symgrad.ir.core import Block, Call, For, Func, Value, walk
from symgrad.ir.parse import parse
from symgrad.ir.show import show
from symgrad.ir.verify import verify
from symgrad.loops.tapes.tape_reads import tape_reads
from symgrad.loops.transforms.array_contraction import array_contraction
from symgrad.loops.transforms.buffers import buffers
from symgrad.loops.transforms.checks import checks_first
from symgrad.loops.transforms.definedness import definedness
from symgrad.loops.transforms.finiteness import finiteness
from symgrad.loops.transforms.float_widths import float_widths
from symgrad.loops.transforms.loop_fusion import loop_fusion
from symgrad.loops.transforms.ssa import ssa
from symgrad.loops.writer import Writer
from symgrad.passes.simplification.dce import dce
from symgrad.pipeline.lowering import to_loops

HERE = Path(__file__).parent
LOOPS = HERE.parents[1] / "symgrad" / "loops"


def in_place(run: Callable[[Any, Writer], None]) -> Callable[[Func], Func]:
    """A pass over what ``Writer`` wrote; all loops stand for array statements, and handles of numbers are parameters of the text."""

    def whole(func: Func) -> Func:
        writer = Writer()
        writer.nests = {op for op in walk(func.body) if isinstance(op, For)}
        writer.maker = {out: op for op in walk(func.body) for out in op.outs}  # type: ignore[misc]
        run(func.body, writer)
        defined = {*func.body.args, *(out for op in walk(func.body) for out in op.outs)}
        numbers = [op.args[0] for op in walk(func.body) if isinstance(op, Call) and op.name == "let"]
        func.body.args += dict.fromkeys(v for v in numbers if isinstance(v, Value) and v not in defined)
        return func

    return whole


def on_body(run: Callable[[Block], None]) -> Callable[[Func], Func]:
    """A pass over the block of a function, in place."""

    def whole(func: Func) -> Func:
        run(func.body)
        return func

    return whole


#: passes on their own; every other file shows the lowering
PASSES: dict[str, Callable[[Func], Func]] = {
    "loop_fusion": in_place(loop_fusion), "array_contraction": in_place(array_contraction), "buffers": in_place(buffers), "ssa": ssa,
    "definedness": definedness, "float_widths": float_widths, "checks": on_body(checks_first), "tape_reads": tape_reads,
    "finiteness": on_body(finiteness),
}  # fmt: skip
#: whose text is from before versions are given
WRITTEN = ("loop_fusion", "array_contraction", "buffers")


FILES = sorted(HERE.glob("*.ir"))
CASES = [pytest.param(path.stem, b, a, id=f"{path.stem}: {title}") for path in FILES for title, b, a in pairs(path)]


def lowered(name: str, before: str) -> Func:
    func = parse(before)
    run = PASSES.get(name)
    return to_loops(func) if run is None else run(func)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_text_before_becomes_the_text_after(path: Path, request: pytest.FixtureRequest) -> None:
    shown = [(title, before, show(lowered(path.stem, before))) for title, before, _ in pairs(path)]
    text = "\n".join(f"--- {title}\n{before}\n{BECOMES}\n{after}" for title, before, after in shown)
    if request.config.getoption("--update-golden"):
        path.write_text(text)

    assert text == path.read_text(), "if this is meant, run pytest --update-golden and read the difference"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_is_named_for_its_module(path: Path) -> None:
    (module,) = LOOPS.rglob(f"{path.stem}.py")
    assert ast.get_docstring(ast.parse(module.read_text(encoding="utf-8")))


# ------------------------------------------------------------------ the same meaning


@pytest.mark.parametrize(("name", "before", "after"), CASES)
def test_the_text_before_and_the_text_after_give_the_same(name: str, before: str, after: str) -> None:
    first, second = (dce(ssa(parse(t))) if name in WRITTEN else parse(t) for t in (before, after))
    if name == "ssa":
        first = second  # there is no running what has no versions; the text after is held to the rules
    for func in (first, second):
        verify(func)
    tried = 0
    for args in arguments(second.params, NUMBERS[:1]):
        try:
            expected, actual = oracle(first, args[: len(first.params)]), oracle(second, args)
        except (ValueError, IndexError):
            continue  # extents that do not go together, or of 1 where loops were not made for it
        for one, other in zip(actual, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)
            assert np.shape(one) == np.shape(other)
        tried += 1
    assert tried


assert symgrad.compile.__all__
