"""table: rows applied to operands with one more leading axis: the same operation for every seed of a batch.

A rule receives the op and a ``Batch``, which knows the operands with the axis, and returns the value of all rows at once. Where there
is no rule, the row's batching rule is used (``batched``). Where there is neither, or the types do not decide, ``NotBatched`` is raised.
Rules assume that one operand has the axis; those of elementwise rows, and of rows that join arrays, that any operand may.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from symgrad.ir.core import NONE, ONE, UNDEF, ZERO, Call, Const, Operand, Value
from symgrad.ir.types import Array, List, Scalar, ShapeOf, Type, Undefined
from symgrad.ops.batched import Examples, NotBatched
from symgrad.ops.build import Builder
from symgrad.ops.declare import ROWS
from symgrad.ops.indexing import has_arrays, steps
from symgrad.tables import entered

Rule = Callable[["Batch", Call], Operand]
#: by the name of a row
RULES: dict[str, Rule] = {}
#: rows that ask an array, or a tape, for its form alone
FORM = frozenset({"shape_of", "extent", "slots_like", "list_len"})
#: rows that read and write tapes, with the number of operands before the written values; rows that create tapes
ON_TAPES = {"put": 2, "push": 1, "get": 2, "pop": 1}
EMPTY_TAPES = frozenset({"slots", "slots_like", "tape"})
#: rows of new arrays that hold zeros
ZEROS = frozenset({"zeros", "zeros_of", "zeros_like", "zeros_as"})
LIKE = frozenset({"zeros_like", "zeros_as"})


def batched(*names: str) -> Callable[[Rule], Rule]:
    """Enter a rule for rows."""
    return entered(RULES, *names)


@dataclass(slots=True)
class Batch:
    """The state of batching over seeds; ``rows`` is the number of seeds.

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
        """Whether it has the axis."""
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

    def in_line(self, operand: Operand) -> Value:
        """Flatten an operand with the seed axis to one vector for each seed."""
        return self.builder.call("reshape", self.new(operand), self.rows, self.product(self.extents(operand)))

    def laid_out(self, operand: Operand, extents: list[Operand]) -> list[Operand]:
        """The extents of one row of a reshaped operand; one that is -1 is computed, for NumPy cannot infer it where there are no rows."""
        free = [k for k, extent in enumerate(extents) if isinstance(extent, Const) and extent.value == -1]
        if len(free) != 1 or isinstance(self.rows, Const) or isinstance(operand.type, Array) and operand.type.shape is None:
            return extents
        if len(extents) == 1:
            return [self.product(self.extents(operand))]
        one_row = self.builder.call("broadcast_to", Const(0.0), *self.extents(operand))
        length = self.builder.call("extent", self.builder.call("reshape", one_row, *extents), axis=free[0])
        return [*extents[: free[0]], length, *extents[free[0] + 1 :]]

    def product(self, extents: Sequence[Operand]) -> Operand:
        """How many elements there are."""
        size: Operand = ONE
        for extent in extents:
            size = extent if size is ONE else self.builder.call("multiply", size, extent)
        return size

    def shape(self, operands: Sequence[Operand]) -> list[Operand]:
        """Return extents given as operands: integers, or one shape."""
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
        """Return a given shape with the seed axis in front."""
        return self.builder.call("shape_of", self.builder.call("broadcast_to", Const(0.0), self.rows, *self.shape([shape])))

    def promoted(self, operand: Operand) -> Any:
        """Return a copy of the operand for each seed; an unbound value remains unbound."""
        if operand is UNDEF:
            return operand
        if operand in self.lists:
            return self.builder.call("unstack", self.lists[operand], axis=1)
        if operand in self.table:
            return self.table[operand]
        if isinstance(operand.type, List):
            return self.promoted_list(operand)
        hint = operand.name if isinstance(operand, Value) else None
        dtype = getattr(operand.type, "dtype", None)
        dtype = "f64" if dtype in (None, "any") and isinstance(operand.type, Scalar) else dtype
        if dtype is not None and (extents := self.zeros(operand)) is not None:
            return self.builder.call("zeros", self.rows, *extents, hint=hint, dtype=dtype)
        spread = self.builder.call("broadcast_to", self.new(operand), self.rows, *self.extents(operand))
        return self.builder.call("copy", spread, hint=hint)

    def promoted_list(self, operand: Operand) -> Value:
        """A list whose items do not vary: one that has just been made."""
        maker = self.makers.get(operand) if isinstance(operand, Value) else None
        if maker is not None and maker.name == "list_of":
            return self.builder.call("list_of", *map(self.promoted, maker.args))
        if maker is not None and maker.name == "list_zeros":
            return self.zero_list(maker.args[0])
        raise NotBatched

    def zero_list(self, like: Operand) -> Value:
        """Return a list of zeros for all seeds. All items share one vector, since numbers are never modified in place."""
        item = like.type.item if isinstance(like.type, List) else None
        if isinstance(item, Undefined):  # there is nothing in it, or nothing yet
            return self.builder.call("list_zeros", self.new(like))
        if not isinstance(item, Scalar):
            raise NotBatched
        zeros = self.builder.call("list_of", self.builder.call("zeros", self.rows))
        return self.builder.call("list_repeat", zeros, self.builder.call("list_len", self.new(like)))

    def parts(self, op: Call, axis: int) -> Value:
        """The list of the parts of an array along an axis of one row, represented by the array; a copy, if the parts are numbers."""
        new = self.new(op.args[0])
        if self.rank(op.args[0]) == 1:  # a list of numbers does not change when the array is written to
            new = self.builder.call("copy", new)
        moved = new if axis == 0 else self.builder.call("moveaxis", new, source=axis + 1, destination=1)
        assert isinstance(moved, Value)
        self.lists[op.outs[0]] = moved
        return moved

    def zeros(self, operand: Operand) -> list[Operand] | None:
        """Return the extents of an operand known to be zero, or None."""
        if isinstance(operand, Const):
            return [] if operand.value == 0 else None
        maker = self.makers.get(operand)
        if maker is None or maker.name not in ZEROS:
            return None
        return self.extents(maker.args[0]) if maker.name in LIKE else self.shape(maker.args)

    def aligned(self, operand: Operand, rank: int) -> Operand:
        """Return an operand that broadcasts with others of a given rank: axes of extent 1 follow the seed axis."""
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
    """Emit the ops that compute the result of an op for all seeds."""
    row = ROWS[op.name]
    rule = RULES.get(op.name) or (elementwise if row.elementwise or op.name == "where" else None)
    if len(op.outs) != 1 or rule is None and row.batch is None:
        raise NotBatched
    new = of_examples(batch, op) if rule is None else rule(batch, op)
    if not isinstance(new, Value):
        raise NotBatched
    if new.name is None:
        new.name = op.outs[0].name
    return new


def of_examples(batch: Batch, op: Call) -> Operand:
    """By the rule that the row names for the examples of a batch."""
    row = ROWS[op.name]
    assert row.batch is not None
    operands = [batch.new(a) for a in op.args]
    examples = Examples(
        batch.builder, op.name, op.settings, [a.type for a in op.args], operands, list(map(batch.varies, op.args)), batch.rows, {}, {}
    )
    result = row.batch(examples)
    if not isinstance(result, Value):
        raise NotBatched
    return result


def of_seeds(examples: Examples, name: str, op: Call) -> Value:
    """A row that names no rule for examples, by that for seeds; raises NotBatched unless one differentiable operand has the axis.

    The result has memory of its own where that of the row has.
    """
    row, rule = ROWS[name], RULES.get(name)
    many = [k for k, is_many in enumerate(examples.many) if is_many]
    params = [*row.params, *row.params[-1:] * len(op.args)]
    if rule is None or len(many) != 1 or params[many[0]] not in row.differentiable or any(isinstance(t, List) for t in examples.types):
        raise NotBatched
    operands = [op.args[k] if k in many else operand for k, operand in enumerate(examples.operands)]
    batch = Batch(examples.build, examples.size, dict(examples.makers))
    batch.table = {op.args[k]: new for k in many if isinstance(new := examples.operands[k], Value)}
    value = rule(batch, Call(op.outs, op.loc, name, operands, op.settings))
    if not isinstance(value, Value):
        raise NotBatched
    maker = next((op for op in reversed(examples.build.block.ops) if value in op.outs), None)
    is_fresh = isinstance(maker, Call) and ROWS[maker.name].alias == "fresh"
    return value if is_fresh or row.alias != "fresh" else examples.call("copy", value)


# ------------------------------------------------------------------ element by element


def elementwise(batch: Batch, op: Call) -> Operand:
    if op.settings.get("via") in ("math", "cmath"):
        raise NotBatched
    rank = max(batch.rank(a) for a in op.args)
    return batch.builder.call(op.name, *(batch.aligned(a, rank) for a in op.args), **op.settings)


@batched("settled", "by_rows")
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
    """Return an operand that already has the requested form."""
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
    """Return the index path after the seed axis, and its operands, which begin at ``first``."""
    taken = op.args[first:]
    if any(batch.varies(o) for o in taken):
        raise NotBatched
    path: list[str] = []
    operands: list[Operand] = []
    at, words = 0, op.settings["index"].split(";")
    for place, (step, count) in enumerate(steps(op.settings["index"])):
        own = taken[at : at + count]
        if step.startswith("."):
            if place == 0 and step in (".reshape", ".ravel"):
                own = batch.laid_out(op.args[0], list(own) if step == ".reshape" else [Const(-1)])
                step = ".reshape"
            own = method_behind(batch, step, own, rank_of(part_type(batch, op, ";".join(words[:place]), taken[:at])))
            path.append(f".{'reshape' if step in ('.reshape', '.ravel') else 'transpose'}:{len(own)}")
        else:
            path.append("s" + step)
            arrays = [k for k, letter in enumerate(step) if letter == "i"]
            if has_arrays(step, [o.type for o in own]) and arrays and arrays[-1] - arrays[0] >= len(arrays):
                raise NotBatched  # NumPy moves the axis of separated index arrays to the front
            own = [NONE, NONE, NONE, *own]
        operands += own
        at += count
    return ";".join(path), operands


def method_behind(batch: Batch, step: str, own: Sequence[Operand], rank: int) -> list[Operand]:
    """Return the operands of a method that changes the shape of an array, for all seeds."""
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
    """Return the type of the part of one seed's operand that a path selects."""
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


__all__ = ["EMPTY_TAPES", "FORM", "ON_TAPES", "Batch", "NotBatched", "apply", "batched", "of_seeds", "shape_rank"]
