"""Path conditions: what taken branches imply about other bools, compared with runs of random programs."""

from __future__ import annotations

import itertools
import random

import pytest

from symgrad.adjoint.analysis.path_conditions import implied
from symgrad.ir.core import Block, Call, Const, If, Op, Operand, Value, walk
from symgrad.ir.types import BOOL
from symgrad.location import Loc
from symgrad.ops.rows import elementwise  # noqa: F401

INPUTS = 3
LOC = Loc("f.py", 1)


def grown(draw: random.Random, known: list[Operand], depth: int) -> Block:
    """A block of bools that are computed of those known before it, and of each other."""
    block, known = Block(), [*known]
    for _ in range(draw.randint(1, 3)):
        out = Value(BOOL)
        name = draw.choice(["not_", "both", "either", "logical_and", "logical_or", "if", "if"])
        if name == "if" and depth:
            sides = [grown(draw, known, depth - 1) for _ in range(2)]
            outs = [out, Value(BOOL)]
            for side in sides:
                inside = [*known, *(o for op in side.ops for o in op.outs), Const(True), Const(False)]
                side.yields = [draw.choice(inside) for _ in outs]
            block.ops.append(If(outs, LOC, draw.choice(known), *sides))
        else:
            name = "not_" if name == "if" else name
            block.ops.append(Call([out], LOC, name, [draw.choice(known) for _ in range(1 if name == "not_" else 2)], {}))
        known += block.ops[-1].outs
    return block


def run(block: Block, values: dict[Operand, bool], taken: dict[Block, bool]) -> None:
    """The bools of a block for some of the inputs, and which blocks run."""
    taken[block] = True
    for op in block.ops:
        sides = [values[o] if isinstance(o, Value) else bool(o.value) for o in op.operands]
        if isinstance(op, If):
            chosen = op.then if sides[0] else op.orelse
            run(chosen, values, taken)
            values_of = [values[o] if isinstance(o, Value) else bool(o.value) for o in chosen.yields]
        else:
            assert isinstance(op, Call)
            values_of = [not sides[0] if op.name == "not_" else all(sides) if op.name in ("both", "logical_and") else any(sides)]
        values.update(zip(op.outs, values_of, strict=True))


def places(block: Block, taken: list[tuple[Operand, bool]]) -> list[tuple[Block, list[tuple[Operand, bool]]]]:
    """Each block, with the tests of the branches it stands in."""
    blocks = [(block, taken)]
    for op in block.ops:
        for inner, outcome in zip(op.blocks, (True, False), strict=False):
            blocks += places(inner, [*taken, (op.test, outcome)])  # type: ignore[attr-defined]
    return blocks


@pytest.mark.parametrize("seed", range(60))
def test_what_is_implied_holds_in_every_run(seed: int) -> None:
    draw = random.Random(seed)
    inputs = [Value(BOOL) for _ in range(INPUTS)]
    body = grown(draw, list(inputs), 3)
    producers: dict[Operand, Op] = {out: op for op in walk(body) for out in op.outs}
    runs = []
    for argument in itertools.product((False, True), repeat=INPUTS):
        values: dict[Operand, bool] = dict(zip(inputs, argument, strict=True))
        ran: dict[Block, bool] = {}
        run(body, values, ran)
        runs.append((values, ran))
    for block, taken in places(body, []):
        known = implied(producers, taken)
        for value in (*inputs, *producers):
            outcomes = {values[value] for values, ran in runs if block in ran and value in values}
            said = known.outcome(value)
            assert said is None or outcomes <= {said}
        if any(block in ran for _, ran in runs):
            assert all(known.outcome(test) is outcome for test, outcome in taken)


def test_a_bool_made_of_tests_is_known_behind_both() -> None:
    """``stopped`` is false where neither ``failed`` nor ``late`` holds, though it is computed after both branches."""
    failed, late = Value(BOOL), Value(BOOL)
    seen, stopped = Value(BOOL), Value(BOOL)
    inner = If([seen], LOC, failed, Block([], [], [Const(True)]), Block([], [], [late]))
    last = Call([stopped], LOC, "either", [failed, seen], {})
    producers: dict[Operand, Op] = {seen: inner, stopped: last}

    assert implied(producers, [(failed, False), (late, False)]).outcome(stopped) is False
    assert implied(producers, [(failed, False)]).outcome(stopped) is None
    assert implied(producers, [(failed, False), (seen, True)]).outcome(late) is True
    assert implied(producers, [(stopped, False)]).outcome(late) is False
