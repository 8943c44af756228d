"""The registry of passes: every record is true, every pass is registered, one runner calls them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from structure import tree_of

import symgrad
from symgrad.errors import BadArgument, InvalidIR
from symgrad.ir.core import Apply, Block, Call, For, Func, If, Value
from symgrad.ir.parse import parse
from symgrad.ir.show import show
from symgrad.ir.types import FLOAT, INT, Array
from symgrad.location import NOWHERE
from symgrad.notes import Notes
from symgrad.ops.analysis.contents import CHAIN, CONTENTS, ROWS_IN_LOOPS, ROWS_OF, Contents
from symgrad.pipeline.registry import OPTIMISE, PASSES, PIPELINES, page
from symgrad.pipeline.runner import PROPERTIES, Pass, PassContext, Stage, run

ROOT = Path(symgrad.__file__).parent
#: functions from Func to Func that are no passes: what passes are made of, and what asks
PARTS = {"passes.simplification.fold:rewritten", "loops.lower:walked", "loops.lower:whole"}
#: packages that hold passes; a pass may run another one of them on what it makes itself
HOLDERS = ("passes", "loops", "adjoint")


def functions_of(path: Path) -> Iterator[ast.FunctionDef]:
    for node in tree_of(path).body:
        if isinstance(node, ast.FunctionDef):
            yield node


def named(node: ast.expr | None) -> str:
    return node.id if isinstance(node, ast.Name) else ""


@pytest.mark.parametrize("one", PASSES.values(), ids=lambda one: one.name)
def test_a_record_names_a_function_that_says_what_it_does(one: Pass) -> None:
    assert one.function.__name__ == one.place.partition(":")[2]
    assert one.summary.endswith((".", "?"))
    assert set(one.preserves) <= PROPERTIES.keys()
    assert set(one.requires) <= PASSES.keys()
    assert set(one.takes) <= {field.name for field in fields(PassContext)}
    assert set(one.needs) <= CONTENTS.keys()


def test_every_pass_is_entered() -> None:
    entered = {one.place.removeprefix("symgrad.") for one in PASSES.values()}
    modules = {
        f"{'.'.join(path.relative_to(ROOT).with_suffix('').parts)}:{node.name}"
        for package in ("passes", "loops")
        for path in sorted((ROOT / package).rglob("*.py"))
        for node in functions_of(path)
        if node.args.args and named(node.args.args[0].annotation) == "Func" == named(node.returns) and node.name == path.stem
    }

    assert len(modules) > 30
    assert modules <= entered | PARTS


def test_nobody_but_the_runner_calls_a_pass() -> None:
    places = {tuple(one.place.split(":")) for one in PASSES.values()}
    calls = [
        (path.relative_to(ROOT).as_posix(), node.module, alias.name)
        for path in sorted(ROOT.rglob("*.py"))
        if path.relative_to(ROOT).parts[0] not in HOLDERS
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if (node.module, alias.name) in places
    ]

    assert not calls


@pytest.mark.parametrize("target", PIPELINES)
def test_what_a_pass_requires_has_run_before_it(target: str) -> None:
    done: set[str] = set()
    for part in PIPELINES[target]:
        for one in part.passes if isinstance(part, Stage) else ():
            assert done >= set(one.requires), one.name
            done.add(one.name)


@pytest.mark.parametrize("target", PIPELINES)
def test_the_page_lists_every_pass_of_a_target_in_order(target: str) -> None:
    names = [one.name for part in PIPELINES[target] if isinstance(part, Stage) for one in part.passes]
    listed = [line.split()[0] for line in page(target) if line.startswith("    ") and not line.strip().startswith("(")]

    assert listed == names


UNREAD = """
func f(x: float, n: int) -> float:
    for i.0 in range(0, n, 1):
        carry s.0 = x -> s.1
        s.2 = add(s.0, 1.0) : float
        yield s.2
    y.0 = sin(x) : float
    return y.0
""".strip()


def test_a_pass_is_held_to_what_it_declares(monkeypatch: pytest.MonkeyPatch) -> None:
    """``dce`` drops a loop that nobody reads, so it does not preserve loops."""
    monkeypatch.setenv("SYMGRAD_CHECK", "1")
    false = Stage("false", (replace(PASSES["dce"], preserves=("loops",)),))

    with pytest.raises(InvalidIR, match="the pass dce does not preserve which loops and branches there are"):
        run(false, parse(UNREAD))
    assert "for" not in show(run(Stage("true", (PASSES["dce"],)), parse(UNREAD)))


def holding(word: str) -> Func:
    """A minimal function with the content that a word of ``CONTENTS`` names."""
    loop = For([Value(INT)], NOWHERE, body=Block([Value(INT)]))
    branch = If([Value(FLOAT)], NOWHERE)
    func = Func("f", Block())
    if word in ROWS_OF:
        func.body.ops = [Call([Value(FLOAT)], NOWHERE, name, []) for name in sorted(ROWS_OF[word])[:1]]
    elif word in ROWS_IN_LOOPS:
        loop.body.ops = [Call([Value(FLOAT)], NOWHERE, name, []) for name in sorted(ROWS_IN_LOOPS[word])[:1]]
        func.body.ops = [loop]
    elif word in ("loops", "batches", "known arrays in loops"):
        loop.batch = word == "batches"
        loop.body.args += [Value(Array("f64", (3,)))] if word.startswith("known") else []
        func.body.ops = [loop]
    elif word == "chains":
        func.body.ops = [Call([Value(FLOAT)], NOWHERE, "sin", []) for _ in range(CHAIN)]
    elif word == "calls":
        func.body.ops = [Apply([], NOWHERE, Func("g", Block()))]
    elif word == "remarks":
        func.notes = Notes()
    else:
        branch.loc = replace(NOWHERE, backward=word == "reversed branches")
        func.body.ops = [branch]
    return func


@pytest.mark.parametrize("word", CONTENTS)
def test_what_a_function_holds_is_found(word: str) -> None:
    held = {other for other in CONTENTS if Contents.of(holding(word)).holds(other)}

    assert word in held
    assert held <= {word, "loops", "branches", *(other for other in ROWS_OF if ROWS_OF[other] & ROWS_IN_LOOPS.get(word, set()))}
    assert not Contents.of(Func("f", Block())).holds_any(CONTENTS)


def test_a_pass_that_has_nothing_to_do_is_left_out_and_held_to_that(monkeypatch: pytest.MonkeyPatch) -> None:
    """``dce`` drops a loop that nobody reads, so it does not need stores."""
    false = Stage("false", (replace(PASSES["dce"], needs=("stores",)),))
    monkeypatch.delenv("SYMGRAD_CHECK", raising=False)
    assert "for" in show(run(false, parse(UNREAD)))

    monkeypatch.setenv("SYMGRAD_CHECK", "1")
    with pytest.raises(InvalidIR, match="the pass dce changes a function that holds none of what it needs: stores"):
        run(false, parse(UNREAD))


def test_the_runner_says_how_long_each_pass_took() -> None:
    func = parse(UNREAD)
    func.notes = notes = Notes()
    run(OPTIMISE, func)

    assert [(one.stage, one.name) for one in notes.trace.timings] == [("optimise", one.name) for one in OPTIMISE.passes]
    assert all(one.seconds >= 0.0 for one in notes.trace.timings)


def looped(x: float, n: int) -> float:
    total = 0.0
    for _ in range(n):
        total += np.sin(x) * total + x
    return total


@pytest.mark.parametrize("jit", [False, "auto"])
def test_a_derivative_says_what_each_pass_took(jit: bool | str) -> None:
    text = symgrad.grad(looped, jit=jit).timings(0.5, 3)

    assert text.startswith("grad(")
    ran = {line.split()[2] for line in text.splitlines()[3:-2]}
    assert {"read", "lower", "fold", "gradient", "loop_invariants", "emit", "buffer_reuse"} <= ran
    if jit and pytest.importorskip("numba"):
        assert {"walk", "loops.loop_fusion", "loops.ssa"} <= ran


def test_the_ir_after_a_pass_is_shown() -> None:
    derived = symgrad.grad(looped)
    before, after = derived.ir(0.5, 3, stage="adjoint"), derived.ir(0.5, 3, stage="unbox")

    assert "sin" in before
    assert before != after
    with pytest.raises(BadArgument, match="there is no stage 'hoisted'"):
        derived.ir(0.5, 3, stage="hoisted")
