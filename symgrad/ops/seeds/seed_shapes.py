"""table: reductions, and functions of shape and order, of arrays with one more leading axis (see ``seeds``)."""

from __future__ import annotations

from typing import Any

from symgrad.ir.core import NONE, ONE, Call, Const, Operand, Value
from symgrad.ir.types import Array, Scalar, ShapeOf, same_extent
from symgrad.ops.seeds.seeds import Batch, NotBatched, batched, rank_of, shape_rank

# ------------------------------------------------------------------ reductions and running sums


def axes_behind(axis: int | tuple[int, ...] | None, rank: int) -> tuple[int, ...]:
    """Axes of a row as axes of the batch."""
    axes = tuple(range(rank)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return tuple(a % rank + 1 for a in axes)


@batched("sum", "mean", "flip")
def reduced(batch: Batch, op: Call) -> Operand:
    rank = batch.rank(op.args[0])
    axes = axes_behind(op.settings["axis"], rank) if rank else ()
    if not axes:
        return batch.builder.call("copy", batch.new(op.args[0]))
    return batch.builder.call(op.name, batch.new(op.args[0]), **{**op.settings, "axis": axes if len(axes) > 1 else axes[0]})


@batched("cumsum", "roll")
def along(batch: Batch, op: Call) -> Operand:
    rank, axis = batch.rank(op.args[0]), op.settings["axis"]
    if op.name == "cumsum" and axis is None and rank > 1:
        return batch.builder.call("cumsum", batch.in_line(op.args[0]), axis=1)
    if axis is None and rank != 1 or isinstance(axis, tuple) or any(batch.varies(a) for a in op.args[1:]):
        raise NotBatched
    return batch.builder.call(op.name, *map(batch.new, op.args), **{**op.settings, "axis": (axis or 0) % rank + 1})


# ------------------------------------------------------------------ shapes


@batched("reshape")
def reshaped(batch: Batch, op: Call) -> Operand:
    return own(
        batch, op, batch.builder.call("reshape", batch.new(op.args[0]), batch.rows, *batch.laid_out(op.args[0], batch.shape(op.args[1:])))
    )


def own(batch: Batch, op: Call, new: Value) -> Value:
    """A copy, where the operand is a number: the result may be written to, and the array of the numbers must not change."""
    return batch.builder.call("copy", new) if isinstance(op.args[0].type, Scalar) else new


@batched("ravel", "flatten")
def flat(batch: Batch, op: Call) -> Operand:
    return batch.builder.call("copy", batch.in_line(op.args[0]))


@batched("transpose", "untranspose")
def transposed(batch: Batch, op: Call) -> Operand:
    rank, axes = batch.rank(op.args[0]), op.settings["axes"]
    if rank < 2:
        return batch.new(op.args[0])
    behind = tuple(range(rank, 0, -1)) if axes is None else tuple(a % rank + 1 for a in axes)
    return batch.builder.call(op.name, batch.new(op.args[0]), axes=(0, *behind))


@batched("mT", "triu", "tril")
def of_matrices(batch: Batch, op: Call) -> Operand:
    if batch.rank(op.args[0]) < 2:
        raise NotBatched
    return batch.builder.call(op.name, batch.new(op.args[0]), **op.settings)


@batched("swapaxes", "moveaxis")
def axes_moved(batch: Batch, op: Call) -> Operand:
    rank = batch.rank(op.args[0])
    settings: dict[str, Any] = {key: axes_behind(a, rank) if isinstance(a, tuple) else a % rank + 1 for key, a in op.settings.items()}
    return batch.builder.call(op.name, batch.new(op.args[0]), **settings)


@batched("expand_dims", "squeeze")
def axes_of_one(batch: Batch, op: Call) -> Operand:
    return own(batch, op, batch.builder.call("reshape", batch.new(op.args[0]), batch.rows, *result_extents(batch, op)))


def result_extents(batch: Batch, op: Call) -> list[Operand]:
    """The extents of the result of ``expand_dims`` or ``squeeze``."""
    axis, extents = op.settings["axis"], batch.extents(op.args[0])
    rank = rank_of(op.outs[0].type)
    if axis is None:
        raise NotBatched
    if op.name == "squeeze":
        gone = {a - 1 for a in axes_behind(axis, len(extents))}
        return [e for k, e in enumerate(extents) if k not in gone]
    new, rest = {a - 1 for a in axes_behind(axis, rank)}, iter(extents)
    return [ONE if k in new else next(rest) for k in range(rank)]


@batched("spread")
def spread(batch: Batch, op: Call) -> Operand:
    g, shape = op.args
    extents, axis, rank = batch.shape([shape]), op.settings["axis"], batch.rank(g)
    if axis is None or op.settings["keepdims"] or not rank:
        return batch.builder.call("broadcast_to", batch.aligned(g, len(extents)), batch.rows, *extents)
    axes = axes_behind(axis, len(extents))
    index = "s" + "".join("n" if k + 1 in axes else "s" for k in range(len(extents)))
    opened = batch.builder.call("view", batch.new(g), *[NONE] * (3 * index.count("s")), index=index)
    return batch.builder.call("broadcast_to", opened, batch.rows, *extents)


@batched("broadcast_to")
def broadcast(batch: Batch, op: Call) -> Operand:
    extents = batch.shape(op.args[1:])
    return batch.builder.call("broadcast_to", batch.aligned(op.args[0], len(extents)), batch.rows, *extents)


@batched("unbroadcast")
def unbroadcast(batch: Batch, op: Call) -> Operand:
    g, asked = op.args
    own, shape = g.type.shape if isinstance(g.type, Array) else (), asked.type.shape if isinstance(asked.type, ShapeOf) else None
    new = batch.new(g)
    if own is None or shape is None or len(own) < len(shape):
        raise NotBatched
    extra = len(own) - len(shape)
    axes = tuple(range(1, extra + 1))
    if axes:
        new = batch.builder.call("sum", new, axis=axes if len(axes) > 1 else axes[0])
    if not all(same_extent(a, b) or b == 1 for a, b in zip(own[extra:], shape, strict=True)):
        return batch.builder.call("unbroadcast", new, batch.form(asked))
    ones = tuple(k + 1 for k, (a, b) in enumerate(zip(own[extra:], shape, strict=True)) if b == 1 and a != 1)
    return batch.builder.call("sum", new, axis=ones, keepdims=True) if ones else new


@batched("diagonal", "trace")
def diagonal(batch: Batch, op: Call) -> Operand:
    rank = batch.rank(op.args[0])
    axes = {key: op.settings[key] % rank + 1 for key in ("axis1", "axis2")}
    return batch.builder.call(op.name, batch.new(op.args[0]), offset=op.settings["offset"], **axes)


@batched("tile")
def tiled(batch: Batch, op: Call) -> Operand:
    times = list(map(batch.new, op.args[1:]))
    times[:0] = [ONE] * (batch.rank(op.args[0]) - len(times))
    return batch.builder.call("tile", batch.aligned(op.args[0], len(times)), ONE, *times)


@batched("repeat")
def repeated(batch: Batch, op: Call) -> Operand:
    rank, axis, (x, times) = batch.rank(op.args[0]), op.settings["axis"], map(batch.new, op.args)
    if axis is None:
        x, axis = batch.in_line(op.args[0]), 0
    return batch.builder.call("repeat", x, times, axis=axis % max(rank, 1) + 1)


@batched("diag", "diag_back")
def diagonal_of_matrix(batch: Batch, op: Call) -> Operand:
    """The diagonal of the matrix in each row, in memory of its own, or the matrix with that diagonal."""
    ranks = batch.rank(op.args[0]), rank_of(op.outs[0].type)
    if ranks == (1, 2):
        (length,), offset = batch.extents(op.args[0]), op.settings["k"]
        extent = batch.builder.call("add", length, Const(abs(offset))) if offset else length
        shape = batch.builder.call("shape_of", batch.builder.call("broadcast_to", Const(0.0), batch.rows, extent, extent))
        return batch.builder.call("diagonal_place", batch.new(op.args[0]), shape, offset=offset, axis1=1, axis2=2)
    if ranks != (2, 1):
        raise NotBatched
    part = batch.builder.call("diagonal", batch.new(op.args[0]), offset=op.settings["k"], axis1=1, axis2=2)
    return batch.builder.call("copy", part)


@batched("diagonal_place", "stack_place")
def placed(batch: Batch, op: Call) -> Operand:
    """Place a value at an index of zeros."""
    g, shape = op.args
    rank = shape_rank(shape)
    settings = {key: value % rank + 1 if key.startswith("axis") else value for key, value in op.settings.items()}
    return batch.builder.call(op.name, batch.new(g), batch.form(shape), **settings)


@batched("over_matrix")
def over_matrix(batch: Batch, op: Call) -> Operand:
    """A number for each row; it broadcasts over the matrix at its use."""
    if batch.rank(op.args[0]):
        raise NotBatched
    return batch.new(op.args[0])


@batched("take_items", "take_items_back")
def items(batch: Batch, op: Call) -> Operand:
    x, places, *shape = op.args
    rank, axis = shape_rank(shape[0]) if shape else batch.rank(x), op.settings["axis"]
    if axis is None and rank != 1 or batch.varies(places):
        raise NotBatched
    return batch.builder.call(op.name, batch.new(x), batch.new(places), *map(batch.form, shape), axis=(axis or 0) % rank + 1)


@batched("concatenate", "stack")
def joined(batch: Batch, op: Call) -> Operand:
    rank, axis = rank_of(op.outs[0].type), op.settings["axis"]
    if axis is None and any(batch.rank(a) != 1 for a in op.args):
        raise NotBatched
    parts = [batch.promoted(a) for a in op.args]
    return batch.builder.call(op.name, *parts, **{**op.settings, "axis": (axis or 0) % rank + 1})


@batched("concatenate_part")
def part_of_joined(batch: Batch, op: Call) -> Operand:
    g, *parts = op.args
    if op.settings["axis"] is None:
        raise NotBatched
    axis, at = op.settings["axis"] % batch.rank(g), op.settings["at"]
    lengths = [batch.extents(p)[axis] if batch.rank(p) else ONE for p in parts[: at + 1]]
    first: Operand = Const(0)
    for length in lengths[:at]:
        first = batch.builder.call("add", first, length)
    last = batch.builder.call("add", first, lengths[at])
    return batch.builder.call("view", batch.new(g), *[NONE] * (3 * (axis + 1)), first, last, NONE, index="s" * (axis + 2))


@batched("stack_part")
def part_of_stacked(batch: Batch, op: Call) -> Operand:
    axis = op.settings["axis"] % batch.rank(op.args[0])
    name = "take" if batch.rank(op.args[0]) == 1 else "view"
    before = [NONE] * (3 * (axis + 1))
    return batch.builder.call(name, batch.new(op.args[0]), *before, Const(op.settings["at"]), index="s" * (axis + 1) + "i")


__all__: list[str] = []
