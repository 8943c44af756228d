"""Code motion of checks: out of loops that would repeat them, and up to where their operands are known. Works in place.

A kernel that is left frees its arrays, so a check inside a loop over many arrays is long code; before they are
created it is short. A check may be stricter than necessary: a loop that runs zero times would not have made it.
"""

from __future__ import annotations

from symgrad.ir.core import Block, Call, Const, For, Op, Operand, Value, While, key_of
from symgrad.ir.types import Scalar
from symgrad.loops.writer import number
from symgrad.ops.declare import ROWS
from symgrad.passes.facts import is_pure

#: checks that leave the kernel if they fail, on integers only
CHECKS = frozenset({"check_equal", "check_less", "check_at_least", "check_index"})


def checks_first(block: Block) -> None:
    """Move the checks of a block and of all blocks inside it outwards and up, and remove repeated ones."""
    outwards(block)
    asked_once(block, frozenset(), {})


def asked_once(block: Block, known: frozenset[object], makers: dict[Value, Call]) -> None:
    """Remove bail-out tests that have passed before: ``known`` are the tests on the way to the block."""
    kept: list[Op] = []
    for op in block.ops:
        if isinstance(op, Call):
            makers.update(dict.fromkeys(op.outs, op))
            if op.name == "bail_out":
                meaning = key_of_test(op.args[0], makers)
                if meaning in known:
                    continue
                known |= {meaning}
        for inner in op.blocks:
            asked_once(inner, known, makers)
        kept.append(op)
    block.ops = kept


def key_of_test(operand: Operand, makers: dict[Value, Call], depth: int = 3) -> object:
    """A key that is equal for tests of the same values."""
    op = makers.get(operand) if isinstance(operand, Value) else None
    if op is None or depth == 0 or not is_pure(ROWS[op.name]) or not is_number(op):
        return key_of(operand)
    return op.name, tuple(key_of_test(a, makers, depth - 1) for a in op.args), repr(sorted(op.settings.items()))


def outwards(block: Block) -> None:
    """Move the checks of a block and of all blocks inside it outwards and up."""
    ops: list[Op] = []
    for op in block.ops:
        for inner in op.blocks:
            outwards(inner)
        if isinstance(op, For | While):
            ops += taken_out(op)
        ops.append(op)
    block.ops = ops
    moved_up(block)


def taken_out(loop: For | While) -> list[Op]:
    """The loop-invariant checks of a loop, and those of the largest index, with the sums that they test."""
    body = loop.blocks[-1]
    inside = {v for block in loop.blocks for v in block.args}
    for block in loop.blocks:
        inside.update(out for op in block.ops for out in op.outs)
    out: list[Op] = []
    kept: list[Op] = []
    for op in body.ops:
        moved: list[Op] | None = None
        if isinstance(op, Call) and (op.name in CHECKS or is_sum(op)):
            if not any(a in inside for a in op.args):
                moved = [op]
                inside.difference_update(op.outs)
            elif isinstance(loop, For) and op.name == "check_less" and op.args[1] not in inside:
                moved = of_largest(loop, op)
        if moved is None:
            kept.append(op)
        else:
            out += moved
    body.ops = kept
    return out


def of_largest(loop: For, check: Call) -> list[Op] | None:
    """The check that all indices of a loop, plus an optional literal, are less than an extent.

    None if there is no such check, or if for a loop that runs zero times it could fail for other arrays than
    those of one element.
    """
    index, shift = shifted(loop, check.args[0])
    step = number(loop.step)
    if index is not loop.index or step not in (1, -1) or loop.until or loop.backward:
        return None
    last = loop.start if step == 1 else loop.stop
    end = number(last)
    if end is None or end + shift > 1:
        return None
    top, more = (loop.stop, shift - 1) if step == 1 else (loop.start, shift)
    if more == 0:
        return [Call([], check.loc, check.name, [top, check.args[1]], dict(check.settings))]
    bound = number(top)
    if bound is not None:
        return [Call([], check.loc, check.name, [Const(bound + more), check.args[1]], dict(check.settings))]
    sum_ = Value(top.type)
    name, by = ("add", more) if more > 0 else ("subtract", -more)
    return [
        Call([sum_], check.loc, name, [top, Const(by)], {"via": None}),
        Call([], check.loc, check.name, [sum_, check.args[1]], dict(check.settings)),
    ]


def shifted(loop: For, operand: Operand) -> tuple[Operand, int]:
    """Split an operand into a value and a literal that the loop body adds to it."""
    op = next((op for op in loop.body.ops if operand in op.outs), None)
    if isinstance(op, Call) and op.name in ("add", "subtract") and (by := number(op.args[1])) is not None:
        base, shift = shifted(loop, op.args[0])
        return base, shift + (by if op.name == "add" else -by)
    return operand, 0


def moved_up(block: Block) -> None:
    """Move checks up behind the definitions of their operands, before allocations and loops; drop repeated ones."""
    defined_at: dict[Value, int] = {}
    waiting: dict[int, list[Op]] = {}
    heavy = [k for k, op in enumerate(block.ops) if not is_number(op) and not is_check(op)]
    seen: set[object] = set()
    asked = {a for op in block.ops if is_check(op) for a in op.operands}
    for op in reversed(block.ops):
        if isinstance(op, Call) and is_sum(op) and op.outs[0] in asked:
            asked.update(op.args)
    for k, op in enumerate(block.ops):
        place = k
        if isinstance(op, Call) and (is_check(op) or is_sum(op) and op.outs[0] in asked):
            after = max((defined_at[a] for a in op.args if isinstance(a, Value) and a in defined_at), default=-1)
            place = next((h for h in heavy if h > after), len(block.ops))
            place = min(place, k)
        if is_check(op):
            assert isinstance(op, Call)
            key = (op.name, *map(key_of, op.args))
            if key in seen:
                continue
            seen.add(key)
        waiting.setdefault(place, []).append(op)
        defined_at.update(dict.fromkeys(op.outs, place - 1 if place < k else k))
    ops: list[Op] = []
    for k in range(len(block.ops) + 1):
        own = block.ops[k : k + 1]
        here = waiting.get(k, [])
        ops += [op for op in here if op not in own] + [op for op in here if op in own]
    block.ops = ops


def is_check(op: Op) -> bool:
    return isinstance(op, Call) and op.name in CHECKS | {"check_plural", "check_single"}


def is_number(op: Op) -> bool:
    """Whether the op computes numbers only."""
    return isinstance(op, Call) and bool(op.outs) and all(isinstance(v.type, Scalar) for v in op.outs)


def is_sum(op: Call) -> bool:
    """Whether the op is a sum of integers, as the operand of a check."""
    return op.name in ("add", "subtract") and all(getattr(v.type, "kind", None) == "int" for v in [*op.args, *op.outs])


__all__ = ["checks_first"]
