"""Gathers additions to shifted parts of one array in one loop: the adjoint of a stencil.

    x[:-2] += 2 * t;  x[1:-1] += t;  x[2:] -= t     ->     x[i] += 2 * p[i + 2] + p[i + 1] - p[i]

``p`` is the array padded with zeros, so that every shift stays inside. Separate loops that add to neighbours do
not vectorise, and each reads and writes all of ``x``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from symgrad.ir.core import ZERO, Block, Call, Const, Func, Op, Operand, Value, blocks_within, key_of, uses
from symgrad.ir.types import INT
from symgrad.loops.context import Context
from symgrad.loops.forms import Form, Index, same_index
from symgrad.loops.paths import Place
from symgrad.loops.writer import number
from symgrad.ops.declare import ROWS

#: the number of stores that pays for zero padding
ENOUGH = 3
#: the maximum distance of two shifts
FAR = 8
#: rows that map zeros to zero
ADDITIVE = frozenset({"add", "subtract", "negative", "positive", "cast"})


@dataclass(frozen=True, slots=True)
class Addition:
    """A pending store: ``value`` is to be added to the part ``where`` of ``x``."""

    op: Call
    x: Form
    where: Place
    value: Form


def neighbours(func: Func) -> dict[Op, list[Call]]:
    """Groups of consecutive stores that add to parts of one array, by store."""
    count = uses(func.body)
    groups: dict[Op, list[Call]] = {}

    def enter(group: list[Call]) -> None:
        if len(group) >= ENOUGH:
            groups.update(dict.fromkeys(group, group))

    for block in [*blocks_within(func.body)]:
        group: list[Call] = []
        for op in block.ops:
            if isinstance(op, Call) and is_addition(op):
                if group and not (op.args[0] is group[-1].outs[0] and count[group[-1].outs[0]] == 1):
                    enter(group)
                    group = []
                group.append(op)
            elif not (isinstance(op, Call) and is_quiet(op)):
                enter(group)
                group = []
        enter(group)
    return groups


def is_addition(op: Call) -> bool:
    """Whether the op adds an array to a part selected by slices."""
    return op.name == "add_at" and set(op.settings["index"]) == {"s"} and isinstance(op.args[1], Value)


def is_quiet(op: Call) -> bool:
    """Whether the op may be between the stores of a group; if it turns out to write to memory, the pending stores are done first."""
    row = ROWS[op.name]
    return op.name == "accumulate" or not (row.effect or row.consumes or row.statement)


# ------------------------------------------------------------------ emission


def gather(lowering: Context, additions: Sequence[Addition]) -> bool:
    """Emit pending additions as one loop, if they are shifts of one array; else return False."""
    writer = lowering.writer
    x = additions[0].x
    shifts = [shift_of(lowering, a.where) for a in additions]
    known = [s for s in shifts if s is not None]
    base = base_of(lowering, [a.value for a in additions])
    if base is None or base.rank != x.rank or base.dtype != x.dtype or len(known) < len(shifts):
        return False
    low, high = [min(s) for s in zip(*known, strict=True)], [max(s) for s in zip(*known, strict=True)]
    wide = [b - a for a, b in zip(low, high, strict=True)]
    if max(wide) > FAR or any(number(e) == 1 for e in base.extents):
        return False
    around = writer.call(
        "zeros", *(writer.add(e, Const(2 * w)) for e, w in zip(base.extents, wide, strict=True)), dtype=base.dtype, hint="%padded"
    )
    with writer.nest(base.extents) as index:
        writer.store(around, base.at(index), moved(lowering, index, wide))
    plain, base.at = base.at, lambda index: writer.read(around, moved(lowering, index, wide))
    room = [writer.subtract(n, Const(b)) for n, b in zip(x.extents, low, strict=True)]
    lengths = [writer.larger(writer.smaller(writer.add(e, Const(w)), r), ZERO) for e, w, r in zip(base.extents, wide, room, strict=True)]
    assert x.memory is not None
    with writer.nest(lengths) as index:
        total: Operand | None = None
        for a, shift in zip(additions, known, strict=True):
            term = a.value.at(moved(lowering, index, [b - s for b, s in zip(low, shift, strict=True)]))
            total = term if total is None else writer.call("add", total, term, via=None)
        assert total is not None
        writer.store(x.memory, total, moved(lowering, index, low), "add_at")
    base.at = plain
    return True


def base_of(lowering: Context, values: Sequence[Form]) -> Form | None:
    """The array that all values are computed from, element by element, so that its zero padding pads each of them."""
    writer = lowering.writer
    if all(v is values[0] for v in values):
        return values[0]
    roots = list(dict.fromkeys(root for v in values for root in v.roots()))
    base = roots[0]
    if len(roots) > 1 or base.memory is None or any(v.dtype != base.dtype for v in values):
        return None
    extents = [key_of(writer.same(e)) for e in base.extents]
    if any([key_of(writer.same(e)) for e in v.extents] != extents for v in values):
        return None
    return base if all(keeps_zero(lowering, v, base) for v in values) else None


def moved(lowering: Context, index: Index, by: Sequence[int]) -> Index:
    return tuple(lowering.writer.add(i, Const(d)) for i, d in zip(index, by, strict=True))


def shift_of(lowering: Context, where: Place) -> tuple[int, ...] | None:
    """The shift of a part along each axis; None if it is more than a shift."""
    writer = lowering.writer
    index = tuple(Value(INT) for _ in where.extents)
    with writer.inside(Block()):
        parts = [writer.split(i) for i in where.at(index)]
    plain = len(parts) == len(index) and all(base is i for (base, _), i in zip(parts, index, strict=True))
    return tuple(shift for _, shift in parts) if plain and not where.arrays else None


def keeps_zero(lowering: Context, value: Form, base: Form) -> bool:
    """Whether an element is computed from the same element of the base, and zero gives zero."""
    writer = lowering.writer
    index = tuple(Value(INT) for _ in base.extents)
    trial = Block()
    with writer.inside(trial):
        result = value.at(index)
    zero: set[Operand] = set()
    for op in trial.ops:
        if not isinstance(op, Call):
            return False
        if op.name == "take":
            if op.args[0] is not base.memory or not same_index(op.args[1:], index):
                return False
        elif op.name == "multiply":
            if not any(a in zero for a in op.args) or not all(a in zero or is_finite(a) for a in op.args):
                return False
        elif op.name not in ADDITIVE or not all(a in zero for a in op.args):
            return False
        zero.update(op.outs)
    return result in zero


def is_finite(operand: Operand) -> bool:
    """Whether the operand is a finite literal."""
    return isinstance(operand, Const) and isinstance(operand.value, int | float) and abs(operand.value) < float("inf")
