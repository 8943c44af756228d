"""table: what a row becomes where some of its operands have one more axis, in front: the same operation for all rows of a batch.

A rule is given the op and a ``Batch``, which knows the operands with the axis, and returns what computes all rows at once. Where there
is no rule, or the rule cannot tell from types what to do, ``NotBatched`` is raised. Rules assume that one operand has the axis; those of
elementwise rows, and of rows that join arrays, that any may.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from symgrad.ir.core import NONE, ONE, ZERO, Call, Const, Operand, Value
from symgrad.ir.types import Array, Scalar, ShapeOf, Type, same_extent
from symgrad.ops.build import Builder
from symgrad.ops.declare import ROWS
from symgrad.ops.indexing import has_arrays, steps


class NotBatched(Exception):
    """Something cannot be computed for all rows at once."""


Rule = Callable[["Batch", Call], Operand]
#: by the name of a row
RULES: dict[str, Rule] = {}
#: rows that ask an array, or a tape, for its form alone
FORM = frozenset({"shape_of", "extent", "slots_like"})
#: rows that read and write tapes, and how many operands stand before what is written; those that make empty ones
ON_TAPES = {"put": 2, "push": 1, "get": 2, "pop": 1}
EMPTY_TAPES = frozenset({"slots", "slots_like", "tape"})
#: rows of new arrays that hold zeros
ZEROS = frozenset({"zeros", "zeros_of", "zeros_like", "zeros_as"})
LIKE = frozenset({"zeros_like", "zeros_as"})


def batched(*names: str) -> Callable[[Rule], Rule]:
    """Enter a rule for rows."""

    def enter(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, rule))
        return rule

    return enter


@dataclass(slots=True)
class Batch:
    """What is known while ops are batched; ``rows`` is how many rows there are.

    ``table``: each operand that depends on the seeds, with its value for all rows. ``makers``: the op that computes a value. ``shapes``:
    each shape of an operand with the axis, as the extents of one row. ``lists``: each list of the parts of an array, as that array.
    """

    builder: Builder
    rows: Operand
    makers: dict[Value, Call]
    table: dict[Operand, Value] = field(default_factory=dict)
    shapes: dict[Operand, list[Operand]] = field(default_factory=dict)
    lists: dict[Operand, Value] = field(default_factory=dict)

    def varies(self, operand: Operand) -> bool:
        """Has it the axis?"""
        return operand in self.table

    def new(self, operand: Operand) -> Operand:
        """The operand, or its value for all rows."""
        if operand in self.shapes or operand in self.lists:
            raise NotBatched
        return self.table.get(operand, operand)

    def rank(self, operand: Operand) -> int:
        """The rank of one row of an operand."""
        return rank_of(operand.type)

    def extents(self, operand: Operand) -> list[Operand]:
        """The extents of one row of a number or an array."""
        new, shift = self.new(operand), int(self.varies(operand))
        shape = operand.type.shape if isinstance(operand.type, Array) else ()
        if shape is None:
            raise NotBatched
        return [Const(e) if isinstance(e, int) else self.builder.call("extent", new, axis=k + shift) for k, e in enumerate(shape)]

    def shape(self, operands: Sequence[Operand]) -> list[Operand]:
        """Extents that are given as operands: integers, or one shape."""
        if len(operands) != 1 or not isinstance(operands[0].type, ShapeOf):
            return [self.new(o) for o in operands]
        (asked,) = operands
        if asked in self.shapes:
            return self.shapes[asked]
        assert isinstance(asked.type, ShapeOf)
        if asked.type.shape is not None and all(isinstance(e, int) for e in asked.type.shape):
            return [Const(e) for e in asked.type.shape]
        maker = self.makers.get(asked) if isinstance(asked, Value) else None
        if maker is None or maker.name != "shape_of":
            raise NotBatched
        return self.extents(maker.args[0])

    def form(self, shape: Operand) -> Value:
        """The shape of all rows of something whose shape is given."""
        return self.builder.call("shape_of", self.builder.call("broadcast_to", Const(0.0), self.rows, *self.shape([shape])))

    def promoted(self, operand: Operand) -> Value:
        """The operand for each row, in memory of its own."""
        if operand in self.table:
            return self.table[operand]
        hint = operand.name if isinstance(operand, Value) else None
        dtype = getattr(operand.type, "dtype", None)
        dtype = "f64" if dtype in (None, "any") and isinstance(operand.type, Scalar) else dtype
        if dtype is not None and (extents := self.zeros(operand)) is not None:
            return self.builder.call("zeros", self.rows, *extents, hint=hint, dtype=dtype)
        spread = self.builder.call("broadcast_to", self.new(operand), self.rows, *self.extents(operand))
        return self.builder.call("copy", spread, hint=hint)

    def zeros(self, operand: Operand) -> list[Operand] | None:
        """The extents of what is known to hold zeros; None for what is not."""
        if isinstance(operand, Const):
            return [] if operand.value == 0 else None
        maker = self.makers.get(operand)
        if maker is None or maker.name not in ZEROS:
            return None
        return self.extents(maker.args[0]) if maker.name in LIKE else self.shape(maker.args)

    def aligned(self, operand: Operand, rank: int) -> Operand:
        """An operand whose rows broadcast with others of a rank: axes of length one are put behind the first axis."""
        new, missing = self.new(operand), rank - self.rank(operand)
        if not self.varies(operand) or missing <= 0:
            return new
        return self.builder.call("view", new, NONE, NONE, NONE, index="s" + "n" * missing)


def rank_of(type_: Type) -> int:
    """The rank of a number or an array; NotBatched where it is not known."""
    if isinstance(type_, Scalar):
        return 0
    if not isinstance(type_, Array) or type_.shape is None:
        raise NotBatched
    return len(type_.shape)


def shape_rank(shape: Operand) -> int:
    """How many extents a shape has."""
    if not isinstance(shape.type, ShapeOf) or shape.type.shape is None:
        raise NotBatched
    return len(shape.type.shape)


def apply(batch: Batch, op: Call) -> Value:
    """What computes the result of an op for all rows."""
    row = ROWS[op.name]
    rule = RULES.get(op.name) or (elementwise if row.elementwise or op.name == "where" else None)
    if rule is None or len(op.outs) != 1:
        raise NotBatched
    new = rule(batch, op)
    if not isinstance(new, Value):
        raise NotBatched
    if new.name is None:
        new.name = op.outs[0].name
    return new


# ------------------------------------------------------------------ element by element


def elementwise(batch: Batch, op: Call) -> Operand:
    if op.settings.get("via") is not None:
        raise NotBatched
    rank = max(batch.rank(a) for a in op.args)
    return batch.builder.call(op.name, *(batch.aligned(a, rank) for a in op.args), **op.settings)


@batched("copy", "cast", "settled", "by_rows")
def kept(batch: Batch, op: Call) -> Operand:
    """Each row by itself; a number that has the axis is an array."""
    return batch.builder.call(op.name, batch.new(op.args[0]), **op.settings)


@batched("number", "item")
def number(batch: Batch, op: Call) -> Operand:
    if len(op.args) > 1 or op.settings.get("kind", "float") != "float":
        raise NotBatched
    return batch.builder.call("copy", batch.builder.call("reshape", batch.new(op.args[0]), batch.rows))


@batched("array_or_zeros", "in_form")
def formed(batch: Batch, op: Call) -> Operand:
    """What has the form already that is asked for."""
    if not isinstance(op.args[0].type, Array) or rank_of(op.args[0].type) != rank_of(op.outs[0].type):
        raise NotBatched
    return batch.new(op.args[0])


@batched("zeros_like")
def zeros_like(batch: Batch, op: Call) -> Operand:
    dtype = getattr(op.outs[0].type, "dtype", None) or "f64"
    return batch.builder.call("zeros", batch.rows, *batch.extents(op.args[0]), dtype="f64" if dtype == "any" else dtype)


@batched("accumulate")
def accumulate(batch: Batch, op: Call) -> Operand:
    to, g = op.args
    if batch.rank(g) > batch.rank(to):
        raise NotBatched
    if isinstance(to.type, Scalar):  # a number cannot be changed, so that others may still read it
        return batch.builder.call("add", batch.new(to), batch.new(g))
    return batch.builder.call("accumulate", batch.promoted(to), batch.aligned(g, batch.rank(to)))


# ------------------------------------------------------------------ parts of arrays


def inner_path(batch: Batch, op: Call, first: int) -> tuple[str, list[Operand]]:
    """The path behind the axis of the rows, and its operands; the path's own operands begin at ``first``."""
    taken = op.args[first:]
    if any(batch.varies(o) for o in taken):
        raise NotBatched
    path: list[str] = []
    operands: list[Operand] = []
    at, words = 0, op.settings["index"].split(";")
    for place, (step, count) in enumerate(steps(op.settings["index"])):
        own = taken[at : at + count]
        if step.startswith("."):
            own = method_behind(batch, step, own, rank_of(part_type(batch, op, ";".join(words[:place]), taken[:at])))
            path.append(f".{'reshape' if step in ('.reshape', '.ravel') else 'transpose'}:{len(own)}")
        else:
            path.append("s" + step)
            arrays = [k for k, letter in enumerate(step) if letter == "i"]
            if has_arrays(step, [o.type for o in own]) and arrays and arrays[-1] - arrays[0] >= len(arrays):
                raise NotBatched  # with arrays apart from one another NumPy puts their axis first
            own = [NONE, NONE, NONE, *own]
        operands += own
        at += count
    return ";".join(path), operands


def method_behind(batch: Batch, step: str, own: Sequence[Operand], rank: int) -> list[Operand]:
    """The operands of a method that lays an array of a rank out anew, for all rows."""
    match step:
        case ".T":
            return [ZERO, *(Const(k) for k in range(rank, 0, -1))]
        case ".transpose" if all(isinstance(o, Const) for o in own):
            return [ZERO, *(Const(o.value % rank + 1) for o in own if isinstance(o, Const))]
        case ".reshape":
            return [batch.rows, *own]
        case ".ravel":
            return [batch.rows, Const(-1)]
    raise NotBatched


def part_type(batch: Batch, op: Call, index: str, operands: Sequence[Operand]) -> Type:
    """The type of what a path reaches in one row of the first operand."""
    if not index:
        return op.args[0].type
    asked = batch.builder.asked([op.args[0], *operands])
    part = ROWS["take"].law([op.args[0].type, *(o.type for o in operands)], {"index": index}, asked)
    assert isinstance(part, Type)
    return part


@batched("view", "take", "take_written")
def taken(batch: Batch, op: Call) -> Operand:
    index, operands = inner_path(batch, op, 1)
    name = "take" if op.name == "view" and has_arrays(index, [o.type for o in operands]) else op.name
    return batch.builder.call(name, batch.new(op.args[0]), *operands, index=index)


@batched("set_at", "add_at", "add_written")
def stored(batch: Batch, op: Call) -> Operand:
    index, operands = inner_path(batch, op, 2)
    rank = rank_of(part_type(batch, op, op.settings["index"], op.args[2:]))
    if batch.rank(op.args[1]) > rank:
        raise NotBatched
    settings = {**op.settings, "index": index}
    return batch.builder.call(op.name, batch.promoted(op.args[0]), batch.aligned(op.args[1], rank), *operands, **settings)


@batched("unstack", "list_from")
def unstacked(batch: Batch, op: Call) -> Operand:
    """A list of the parts of an array is represented by the array."""
    new, rank = batch.new(op.args[0]), batch.rank(op.args[0])
    if op.settings.get("depth", 1) != 1:
        raise NotBatched
    axis = op.settings.get("axis", 0) % rank + 1
    moved = new if axis == 1 else batch.builder.call("moveaxis", new, source=axis, destination=1)
    assert isinstance(moved, Value)
    batch.lists[op.outs[0]] = moved
    return moved


@batched("list_take")
def item_taken(batch: Batch, op: Call) -> Operand:
    held, at = op.args
    if held not in batch.lists or batch.varies(at):
        raise NotBatched
    return batch.builder.call("take", batch.lists[held], NONE, NONE, NONE, at, index="si")


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
    if axis is None and rank != 1 or isinstance(axis, tuple) or any(batch.varies(a) for a in op.args[1:]):
        raise NotBatched
    return batch.builder.call(op.name, *map(batch.new, op.args), **{**op.settings, "axis": (axis or 0) % rank + 1})


# ------------------------------------------------------------------ shapes


@batched("reshape")
def reshaped(batch: Batch, op: Call) -> Operand:
    return own(batch, op, batch.builder.call("reshape", batch.new(op.args[0]), batch.rows, *batch.shape(op.args[1:])))


def own(batch: Batch, op: Call, new: Value) -> Value:
    """A copy, where the operand is a number: the result may be written to, and the array of the numbers must not change."""
    return batch.builder.call("copy", new) if isinstance(op.args[0].type, Scalar) else new


@batched("ravel", "flatten")
def flat(batch: Batch, op: Call) -> Operand:
    size: Operand = ONE
    for extent in batch.extents(op.args[0]):
        size = extent if size is ONE else batch.builder.call("multiply", size, extent)
    return batch.builder.call("copy", batch.builder.call("reshape", batch.new(op.args[0]), batch.rows, size))


@batched("transpose", "untranspose")
def transposed(batch: Batch, op: Call) -> Operand:
    rank, axes = batch.rank(op.args[0]), op.settings["axes"]
    if rank < 2:
        return batch.new(op.args[0])
    behind = tuple(range(rank, 0, -1)) if axes is None else tuple(a % rank + 1 for a in axes)
    return batch.builder.call(op.name, batch.new(op.args[0]), axes=(0, *behind))


@batched("mT", "triu", "tril", "symmetric", "half_tril")
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


@batched("diagonal")
def diagonal(batch: Batch, op: Call) -> Operand:
    rank = batch.rank(op.args[0])
    axes = {key: op.settings[key] % rank + 1 for key in ("axis1", "axis2")}
    return batch.builder.call("diagonal", batch.new(op.args[0]), offset=op.settings["offset"], **axes)


@batched("diag", "diag_back")
def diagonal_of_matrix(batch: Batch, op: Call) -> Operand:
    """The diagonal of the matrix in each row, in memory of its own; that of a vector is not made."""
    if (batch.rank(op.args[0]), rank_of(op.outs[0].type)) != (2, 1):
        raise NotBatched
    part = batch.builder.call("diagonal", batch.new(op.args[0]), offset=op.settings["k"], axis1=1, axis2=2)
    return batch.builder.call("copy", part)


@batched("diagonal_place", "stack_place")
def placed(batch: Batch, op: Call) -> Operand:
    """What stands in a place of something that is zero elsewhere."""
    g, shape = op.args
    rank = shape_rank(shape)
    settings = {key: value % rank + 1 if key.startswith("axis") else value for key, value in op.settings.items()}
    return batch.builder.call(op.name, batch.new(g), batch.form(shape), **settings)


@batched("over_matrix")
def over_matrix(batch: Batch, op: Call) -> Operand:
    """A number for each row is laid over the matrix where it meets that."""
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
    rank = rank_of(op.outs[0].type)
    parts = [batch.promoted(a) for a in op.args]
    return batch.builder.call(op.name, *parts, **{**op.settings, "axis": (op.settings["axis"] or 0) % rank + 1})


@batched("concatenate_part")
def part_of_joined(batch: Batch, op: Call) -> Operand:
    g, *parts = op.args
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


__all__ = ["EMPTY_TAPES", "FORM", "ON_TAPES", "Batch", "NotBatched", "apply", "batched", "shape_rank"]
