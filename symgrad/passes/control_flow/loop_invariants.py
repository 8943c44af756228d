"""Loop-invariant code motion: moves ops with the same result in every iteration before the loop. Works in place.

``loop_invariants``, for gradients, moves cheap ops that cannot raise. ``primal_invariants``, for the function to be differentiated,
moves all expensive ops.
"""

from __future__ import annotations

from symgrad.ir.core import Block, Call, Const, For, Func, Op, Value, While, invariant_ops
from symgrad.ir.types import Array, List, Scalar
from symgrad.ir.unbound import Unbound
from symgrad.notes import Notes
from symgrad.ops.declare import ROWS, USER_ROWS
from symgrad.ops.indexing import steps
from symgrad.passes.facts import Facts, halves_kept, holds, is_pure
from symgrad.passes.representation.unbox import NUMBERS, may_start_again
from symgrad.passes.simplification.cse import DISTINCT

ARITHMETIC = frozenset("add subtract multiply negative less less_equal greater greater_equal equal not_equal not_ both either".split())


def loop_invariants(func: Func) -> Func:
    """Move loop-invariant ops outwards, in place.

    Only ops that cannot raise are moved, because a loop may run zero times: shapes, extents, comparisons, and sums
    and products of scalars. None of them may read a name that may be unbound.
    """
    count = _hoisted(func.body, func.notes, set(Unbound.of(func.body).sides), func.split)
    if func.split is not None:
        func.split += count
    return func


def _hoisted(block: Block, notes: Notes | None, doubtful: set[Value], split: int | None = None) -> int:
    """Move ops out of the loops of a block; return how many were inserted before index ``split``."""
    ops: list[Op] = []
    before = 0
    for k, op in enumerate(block.ops):
        for inner in op.blocks:
            _hoisted(inner, notes, doubtful)
        if isinstance(op, For | While):
            moved = _leave(op, notes, doubtful)
            ops += moved
            before += len(moved) if split is not None and k < split else 0
        ops.append(op)
    block.ops = ops
    return before


def _leave(loop: For | While, notes: Notes | None, doubtful: set[Value]) -> list[Op]:
    """The ops that leave a loop, in order."""
    moved: list[Op] = []
    inside = _inside(loop, doubtful)
    _shapes(loop, inside, moved)
    for block in loop.blocks:
        chosen = dict.fromkeys(invariant_ops(block, inside, cannot_raise).values())
        block.ops = [op for op in block.ops if op not in chosen]
        moved += chosen
        for op in chosen:
            if notes is not None:
                notes.add("passes", "moved", op.loc, f"computed once, before the loop of line {loop.loc.line}", name=called(op))
    return moved


def _inside(loop: For | While, doubtful: set[Value]) -> set[Value]:
    """The values that vary in a loop, or may be unbound before it."""
    args = {arg for block in loop.blocks for arg in block.args}
    return doubtful | args | {out for block in loop.blocks for op in block.ops for out in op.outs}


def called(op: Call) -> str:
    """The user's name for an op's result, else the row's name."""
    return op.outs[0].name or op.name


def _shapes(loop: For | While, inside: set[Value], moved: list[Op]) -> None:
    """Hoist the shape of a part of an array that the loop changes in place; it is loop-invariant."""
    pairs = zip(loop.inits, loop.carried, strict=True)
    slots = {
        c: i
        for i, c in pairs
        if isinstance(i, Value)
        and isinstance(i.type, Array)
        and isinstance(c.type, Array)
        and i.type.rank is not None
        and i.type.rank == c.type.rank
    }
    base: dict[Value, Value] = {carried: carried for carried in slots}
    parts: dict[Value, Call] = {}
    for op in loop.body.ops:
        if not isinstance(op, Call):
            continue
        first = op.args[0] if op.args else None
        if isinstance(first, Value) and first in base and ROWS[op.name].consumes and len(op.outs) == 1:
            base[op.outs[0]] = base[first]
        elif isinstance(first, Value) and first in base and op.name in ("view", "take"):
            parts[op.outs[0]] = op
    steady = {c for c, y in zip(loop.carried, loop.body.yields, strict=False) if isinstance(y, Value) and base.get(y) is c}
    for op in loop.body.ops:
        part = parts.get(op.args[0]) if isinstance(op, Call) and op.name == "shape_of" and isinstance(op.args[0], Value) else None
        if part is None or base[part.args[0]] not in steady or not set(part.settings["index"]) <= set("sne;"):  # type: ignore[index]
            continue
        if any(isinstance(a, Value) and a in inside for a in part.args[1:]):
            continue
        view = Value(part.outs[0].type)
        moved.append(Call([view], part.loc, "view", [slots[base[part.args[0]]], *part.args[1:]], dict(part.settings)))  # type: ignore[index]
        assert isinstance(op, Call)
        op.args[0] = view


def cannot_raise(op: Call) -> bool:
    """Whether the op is cheap, without side effect, and surely succeeds."""
    types = [a.type for a in op.args]
    if op.name == "shape_of":
        return isinstance(types[0], Array) and types[0].shape is not None  # else it may be a Python number
    if op.name == "extent":
        shape = types[0].shape if isinstance(types[0], Array) else None
        return shape is not None and -len(shape) <= op.settings["axis"] < len(shape)
    if op.settings.get("via") is not None or not all(isinstance(t, Scalar) for t in types):
        return False
    return op.name in ARITHMETIC or op.name == "divide" and is_safe_division(op)


def is_safe_division(op: Call) -> bool:
    """Whether the op divides a float by a nonzero literal."""
    above, below = op.args
    return (
        getattr(above.type, "kind", None) == "float" and isinstance(below, Const) and type(below.value) in (int, float) and below.value != 0
    )


# ------------------------------------------------------------------ before differentiation

NOTHING: frozenset[str] = frozenset()
#: the exception of a missing item; those of numbers, and of operands that do not fit, are in ``NUMBERS``
PLACES = frozenset({"LookupError"})


def primal_invariants(func: Func, guarded: bool = True) -> Func:
    """Move expensive loop-invariant ops before their loops, in place; if ``guarded``, also ops that may raise.

    Then their results are not saved for each iteration, and they are differentiated once, for the sum of the
    iterations' cotangents. A loop may run zero times, and must then not raise. So ``Func.guarded`` records the
    exceptions that moved ops may raise; if one is raised, the original function runs instead. The halves of pullbacks
    have no such fallback: in them only ops that cannot raise are moved.
    """
    if holds(func, For, While):
        with halves_kept(func):
            _Lifter(func, guarded and may_start_again(func)).block(func.body)
    return func


class _Lifter:
    """Moves ops out of loops, from the innermost loop outwards, with the facts about the function."""

    def __init__(self, func: Func, risky: bool) -> None:
        self.func, self.risky = func, risky
        self.facts = Facts(func)
        self.doubtful = set(Unbound.of(func.body).sides)

    def block(self, block: Block) -> None:
        """Move ops out of the loops of a block."""
        ops: list[Op] = []
        for op in block.ops:
            for inner in op.blocks:
                self.block(inner)
            if isinstance(op, For | While):
                ops += self.leaving(op)
            ops.append(op)
        block.ops = ops

    def leaving(self, loop: For | While) -> list[Call]:
        """The ops that leave a loop, in order."""
        inside = _inside(loop, self.doubtful)
        calls: list[Call] = []
        for block in loop.blocks:
            moved = self.taken(block, self.alike(block, inside))
            inside.difference_update(out for op in moved for out in op.outs)
            calls += moved
        for op in calls:
            self.func.guarded |= raised(op)
            if self.func.notes is not None and (is_work(op) or op.outs[0].name):
                self.func.notes.add("passes", "moved", op.loc, f"computed once, before the loop of line {loop.loc.line}", name=called(op))
        return calls

    def alike(self, block: Block, inside: set[Value]) -> dict[Value, Call]:
        """The loop-invariant ops of a loop's block, by their results."""
        handed = {*block.yields}
        return invariant_ops(block, {*inside}, lambda op: handed.isdisjoint(op.outs) and self.may_move(op))

    def taken(self, block: Block, alike: dict[Value, Call]) -> list[Call]:
        """Take the calls that are worth it out of the block, with the calls whose results they read."""
        pending = [op for op in alike.values() if is_work(op)]
        chosen = set(pending)
        while pending:
            for value in values(pending.pop()):
                needed = alike.get(value)
                if needed is not None and needed not in chosen:
                    chosen.add(needed)
                    pending.append(needed)
        moved = [op for op in block.ops if isinstance(op, Call) and op in chosen]
        block.ops = [op for op in block.ops if op not in chosen]
        return moved

    def may_move(self, op: Call) -> bool:
        """Whether the op has the same result at any position, in memory that nothing writes to."""
        row = ROWS[op.name]
        if not is_pure(row) or row.consumes or op.name in DISTINCT or op.name in USER_ROWS or not op.outs:
            return False
        if not all(isinstance(v.type, Scalar | Array | List) for v in (*values(op), *op.outs)):
            return False
        own = not any(isinstance(out.type, List) or self.facts.is_stored(out) or self.facts.is_returned(out) for out in op.outs)
        return (own or row.alias == "view") and (self.risky or not raised(op))


def values(op: Op) -> list[Value]:
    """The operands of an op that are values, not constants."""
    return [operand for operand in op.operands if isinstance(operand, Value)]


def is_work(op: Call) -> bool:
    """Whether the op computes a float or an array, or reads a number, so that computing it once saves time."""
    if ROWS[op.name].alias != "fresh":
        return False
    return all(isinstance(out.type, Array) or isinstance(out.type, Scalar) and out.type.kind == "float" for out in op.outs)


def raised(op: Call) -> frozenset[str]:
    """The classes of the exceptions that the op may raise, whatever its operands are."""
    if cannot_raise(op):
        return NOTHING
    if op.name in ("list_take", "table_take"):
        return PLACES
    if "index" in op.settings:
        return subscripted(op)
    types = [a.type for a in op.args]
    shapes = {t.shape for t in types if isinstance(t, Array)}
    if not ROWS[op.name].elementwise or op.settings.get("via") is not None or len(shapes) > 1 or None in shapes:
        return NUMBERS
    numpy = all(isinstance(out.type, Scalar) and out.type.dtype not in (None, "any") for out in op.outs)
    return NOTHING if numpy or shapes and all(isinstance(t, Array | Scalar) for t in types) else NUMBERS


def subscripted(op: Call) -> frozenset[str]:
    """The exceptions that a subscript path may raise: missing items, zero steps, shapes that do not fit."""
    errors, at = NOTHING, 1
    for step, count in steps(op.settings["index"]):
        operands, at = op.args[at : at + count], at + count
        if not step.startswith("."):
            errors |= PLACES if "i" in step else NOTHING
            errors |= NOTHING if all(isinstance(o, Const) for o in operands) or "s" not in step else NUMBERS
        elif step != ".T":
            errors |= NUMBERS
    return errors


__all__ = ["cannot_raise", "loop_invariants", "primal_invariants"]
