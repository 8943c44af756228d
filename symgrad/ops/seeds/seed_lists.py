"""table: lists of numbers and arrays that have one more leading axis (see ``seeds``).

A list of numbers becomes a list of vectors, a list of arrays one of arrays with the axis. The parts of an array become a list only
where the list is changed.
"""

from __future__ import annotations

from symgrad.ir.core import NONE, Call, Operand, Value
from symgrad.ir.types import List, Scalar, Type
from symgrad.ops.seeds.seeds import Batch, NotBatched, batched, rank_of


def item_of(operand: Operand) -> Type:
    """The type of the items of a list."""
    if not isinstance(operand.type, List):
        raise NotBatched
    return operand.type.item


def fixed(batch: Batch, *operands: Operand) -> None:
    """Refuse indices that have the axis."""
    if any(batch.varies(o) for o in operands):
        raise NotBatched


@batched("list_of")
def listed(batch: Batch, op: Call) -> Operand:
    return batch.builder.call("list_of", *(batch.promoted(a) for a in op.args))


@batched("list_append")
def appended(batch: Batch, op: Call) -> Operand:
    return batch.builder.call("list_append", batch.promoted(op.args[0]), batch.promoted(op.args[1]))


@batched("list_drop", "list_take", "list_slice", "list_repeat", "list_fold", "list_unfold")
def with_places(batch: Batch, op: Call) -> Operand:
    first, *places = op.args
    fixed(batch, *places)
    if op.name == "list_take" and first in batch.lists:
        return batch.builder.call("take", batch.lists[first], NONE, NONE, NONE, *places, index="si")
    return batch.builder.call(op.name, batch.promoted(first), *map(batch.new, places))


@batched("list_set", "list_add_at", "list_add_slice")
def changed(batch: Batch, op: Call) -> Operand:
    first, *places, new = op.args
    fixed(batch, *places)
    return batch.builder.call(op.name, batch.promoted(first), *map(batch.new, places), batch.promoted(new))


@batched("list_add", "list_join")
def both(batch: Batch, op: Call) -> Operand:
    return batch.builder.call(op.name, *(batch.promoted(a) for a in op.args))


@batched("list_zeros")
def zeros(batch: Batch, op: Call) -> Operand:
    """Return zeros in the form of a list of numbers; each item is later replaced as a whole."""
    return batch.zero_list(op.args[0])


@batched("python_numbers")
def numbers(batch: Batch, op: Call) -> Operand:
    if op.settings["kind"] != "float":
        raise NotBatched
    return batch.builder.call("list_slice", batch.promoted(op.args[0]), NONE, NONE, NONE)


@batched("list_from")
def parts(batch: Batch, op: Call) -> Operand:
    if op.settings["depth"] != 1:
        raise NotBatched
    return batch.parts(op, 0)


@batched("unstack")
def unstacked(batch: Batch, op: Call) -> Operand:
    return batch.parts(op, op.settings["axis"] % batch.rank(op.args[0]))


@batched("array_of", "stack_list")
def joined(batch: Batch, op: Call) -> Operand:
    """Return a list stacked to an array, after the seed axis."""
    (held_,) = op.args
    axis = op.settings.get("axis", 0)
    item = item_of(held_)
    if op.settings.get("depth", 1) != 1 or op.settings.get("shape") is not None and len(op.settings["shape"]) != 1:
        raise NotBatched
    axis = axis % (rank_of(item) + 1) + 1
    maker = batch.makers.get(held_) if isinstance(held_, Value) else None
    call = batch.builder.call
    if maker is not None and maker.name == "list_of" and maker.args:
        whole = call("stack", *(batch.promoted(a) for a in maker.args), axis=axis)
    else:
        new = batch.promoted(held_)
        if isinstance(item, Scalar):  # there may be nothing in it
            rows = call("reshape", call("array_of", new), call("list_len", new), batch.rows)
            whole = call("copy_rows", call("transpose", rows))
        else:
            whole = call("stack_list", new, axis=axis)
    dtype = op.settings.get("dtype")
    return whole if dtype in (None, getattr(whole.type, "dtype", None)) else call("cast", whole, dtype=dtype)


__all__: list[str] = []
