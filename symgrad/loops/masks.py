"""Boolean-mask subscripts: converts a mask to the integer indices where it holds."""

from __future__ import annotations

from symgrad.ir.core import ONE, ZERO, Call, Const, Operand
from symgrad.loops.context import Context, Thing
from symgrad.loops.forms import Form, Index, mapped, stored
from symgrad.loops.paths import Item
from symgrad.loops.reach import OutOfReach
from symgrad.loops.writer import scalar
from symgrad.ops.indexing import OPERANDS


def without_masks(lowering: Context, index: str, items: list[Item]) -> tuple[str, list[Item]]:
    """The path with an integer array for each axis of a mask."""
    if not any(isinstance(i, Form) and i.dtype == "bool" for i in items):
        return index, items
    steps: list[str] = []
    operands: list[Item] = []
    at = 0
    for step in index.split(";"):
        if step.startswith("."):
            count = int(step.partition(":")[2] or 0)
            operands += items[at : at + count]
            at += count
            steps.append(step)
            continue
        letters = ""
        for letter in step:
            here = items[at : at + OPERANDS[letter]]
            at += OPERANDS[letter]
            if letter == "i" and isinstance(here[0], Form) and here[0].dtype == "bool":
                extents = here[0].extents
                here = list(places(lowering, here[0]))
                for array, extent in zip(here, extents, strict=True):
                    array.within = extent  # type: ignore[union-attr]
                letter = "i" * len(here)
            letters += letter
            operands += here
        steps.append(letters)
    return ";".join(steps), operands


def triangle_places(lowering: Context, op: Call) -> list[Thing]:
    """``triu_indices``, ``tril_indices`` and ``diag_indices``: rows and columns."""
    writer = lowering.writer
    n = lowering.number(op.args[0])
    writer.not_negative(n)
    test = {"triu_indices": "greater_equal", "tril_indices": "less_equal", "diag_indices": "equal"}[op.name]
    shift = Const(op.settings.get("k", 0))

    def at(index: Index) -> Operand:
        return writer.call(test, writer.subtract(index[1], shift), index[0])

    return list(places(lowering, Form("bool", (n, n), at)))


def nonzero_places(lowering: Context, op: Call) -> Thing:
    """``flatnonzero`` of a vector."""
    x = lowering.form(op.args[0])
    if x.rank != 1:
        raise OutOfReach("np.flatnonzero of an array that is not a vector", op.loc)
    return places(lowering, as_mask(lowering, x))[0]


def as_mask(lowering: Context, x: Form) -> Form:
    """The mask of an array's nonzero elements."""
    zero = Const(0.0 if x.dtype[0] == "f" else 0)
    return x if x.dtype == "bool" else mapped(lowering.writer, "bool", [x], lambda e: lowering.writer.call("not_equal", e[0], zero), 1)


def places(lowering: Context, mask: Form) -> list[Form]:
    """The indices where a mask holds: an integer array for each axis."""
    writer = lowering.writer
    if mask.cost:
        mask = lowering.give_memory(mask, None, "%mask") if mask.memory is None else mask
    count = writer.running(scalar("i64"), ZERO, "%count")
    with writer.nest(mask.extents) as index, writer.when(mask.at(index)):
        writer.let(count, writer.call("add", count, ONE))
    total: Operand = count
    length = writer.call("number", total, kind="int")
    arrays = [writer.empty("i64", (length,), "%places") for _ in mask.extents]
    at = writer.running(scalar("i64"), ZERO, "%at")
    with writer.nest(mask.extents) as index, writer.when(mask.at(index)):
        for array, i in zip(arrays, index, strict=True):
            writer.store(array, i, (at,))
        writer.let(at, writer.call("add", at, ONE))
    return [stored(writer, a, "i64", (length,), frozenset({a})) for a in arrays]


def fits(lowering: Context, op: Call) -> list[Thing]:
    """Check that a mask's extents equal those of the indexed array."""
    lowering.writer.require_equal(*map(lowering.number, op.args))
    return []


RULES = {
    "check_equal": fits,
    **dict.fromkeys(("triu_indices", "tril_indices", "diag_indices"), triangle_places),
    "flatnonzero": nonzero_places,
}
