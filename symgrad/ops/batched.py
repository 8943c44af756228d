"""Batching rules: how a row is computed for all examples of a batch at once. Rows name their rule in the field ``batch``.

A value of all examples has the batch axis first; a scalar of each example is an element of a vector. A rule receives the op of one
example, in ``Examples``, and appends ops for all; it raises NotBatched where NumPy has no function for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from symgrad.ir.core import NONE, ZERO, Const, Operand, Value
from symgrad.ir.types import Array, Extent, Scalar, ShapeOf, Tape, Type
from symgrad.ops.indexing import OPERANDS, has_arrays, steps

#: the operands of a slice of a whole axis
WHOLE = (NONE, NONE, NONE)


class NotBatched(Exception):
    """There is no op that does this for all examples at once."""


@dataclass(frozen=True, slots=True)
class Examples:
    """An op of one example, and its operands for all: those that are ``many`` have the batch axis."""

    build: Any  #: the builder, a ``Builder``
    name: str
    settings: dict[str, Any]
    types: Sequence[Type]  #: of the operands of one example
    operands: Sequence[Operand]
    many: Sequence[bool]
    size: Operand  #: how many examples there are
    sources: Any  #: the array that a shape is of, by the value of the shape
    makers: Any  #: the op that makes a value of all examples alike

    def call(self, name: str, *args: Operand, **settings: Any) -> Value:
        """Append an op, and return its result."""
        value: Value = self.build.call(name, *args, **settings)
        return value

    def again(self, *args: Operand, **settings: Any) -> Value:
        """The same op of other operands."""
        return self.call(self.name, *args, **{**self.settings, **settings})

    def rank(self, k: int) -> int:
        """The axes of an operand of one example."""
        return rank_of(self.types[k])

    def aligned(self, k: int, rank: int) -> Operand:
        """Return an operand with the given number of axes after the batch axis; missing axes have extent 1."""
        lacks = rank - self.rank(k)
        if not self.many[k] or not lacks:
            return self.operands[k]
        if lacks < 0:
            raise NotBatched
        return self.call("view", self.operands[k], NONE, NONE, NONE, index="s" + "n" * lacks)

    def each(self, k: int) -> Operand:
        """An operand with a batch axis: one that all examples share shows the same for each of them."""
        operand = self.operands[k]
        if self.many[k]:
            return operand
        type_ = self.types[k]
        if isinstance(type_, ShapeOf):
            if operand not in self.sources:
                raise NotBatched
            source = self.sources[operand]
            return self.call("shape_of", self.repeated(source, source.type))
        return self.repeated(operand, type_)

    def repeated(self, operand: Operand, type_: Type) -> Value:
        """A shared array as a view that shows it once for each example."""
        extents = [self.call("extent", operand, axis=axis) for axis in range(rank_of(type_))]
        return self.call("broadcast_to", operand, self.size, *extents)

    def own(self, k: int) -> Operand:
        """An operand with a batch axis that is written to: of a shared one each example has a copy."""
        if self.many[k]:
            return self.operands[k]
        maker = self.makers.get(self.operands[k])
        if maker is not None and maker.name in ("zeros", "ones", "empty"):
            return self.call(maker.name, self.size, *maker.args, **maker.settings)
        if maker is not None and maker.name == "zeros_of" and (source := self.sources.get(maker.args[0])) is not None:
            extents = [self.call("extent", source, axis=axis) for axis in range(rank_of(source.type))]
            return self.call("zeros", self.size, *extents, **maker.settings)
        return self.call("copy", self.each(k))


@dataclass(frozen=True, slots=True)
class Shared:
    """A result that is the same for all examples."""

    value: Value


def rank_of(type_: Type) -> int:
    """The axes of a number, array or shape; raises NotBatched where they are not known."""
    if isinstance(type_, Scalar):
        return 0
    if not isinstance(type_, Array | ShapeOf) or type_.shape is None:
        raise NotBatched
    return len(type_.shape)


def elements(e: Examples) -> Value:
    """Elementwise rows. An operand of lower rank gets axes of length 1 directly after the batch axis."""
    if e.settings.get("via") in ("math", "cmath"):
        raise NotBatched  # they raise where NumPy's functions do not
    rank = max(e.rank(k) for k in range(len(e.operands)))
    return e.again(*(e.aligned(k, rank) for k in range(len(e.operands))))


def same(e: Examples) -> Value:
    """Batch a row that is independent of the number of axes."""
    return e.again(*e.operands)


def moved_axis(axis: int) -> int:
    """An axis of one example as that of all."""
    if not isinstance(axis, int):
        raise NotBatched
    return axis + 1 if axis >= 0 else axis


def axes_of(axis: Any, rank: int) -> Any:
    """Axes to go over, None for all."""
    if axis is None:
        return 1 if rank == 1 else tuple(range(1, rank + 1))
    return moved_axis(axis) if isinstance(axis, int) else tuple(map(moved_axis, axis))


def along(e: Examples) -> Value:
    """Functions that go over axes: ``axis`` None is all of those of one example."""
    return e.again(*(e.each(k) for k in range(len(e.operands))), axis=axes_of(e.settings["axis"], e.rank(0)))


def in_order(e: Examples) -> Value:
    """Functions along one axis, or of all elements if ``axis`` is None."""
    axis = e.settings["axis"]
    if axis is None and e.rank(0) != 1:
        raise NotBatched
    return e.again(*(e.each(k) for k in range(len(e.operands))), axis=1 if axis is None else moved_axis(axis))


def size_over(e: Examples) -> Shared:
    """How many elements of each example make one."""
    return Shared(e.again(e.operands[0], axis=axes_of(e.settings["axis"], e.rank(0))))


def over_shape(e: Examples) -> Value:
    """Batch ``spread``: broadcast a reduced value of each example to the shape of the second operand."""
    axis, shape = e.settings["axis"], e.each(1)
    if not e.rank(0) and not e.many[0]:
        return e.again(e.operands[0], shape, axis=None, keepdims=False)
    if not e.rank(0):
        g = e.call("view", e.each(0), NONE, NONE, NONE, index="s" + "n" * e.rank(1)) if e.rank(1) else e.each(0)
        return e.again(g, shape, axis=axes_of(axis, e.rank(1)) if e.rank(1) else None, keepdims=True)
    return e.again(e.each(0), shape, axis=axes_of(axis, e.rank(1)))


def filled(e: Examples) -> Value:
    """Batch the creation of constant arrays, in a shape given as one operand or as several."""
    if any(e.many[k] and not isinstance(e.types[k], ShapeOf) for k in range(1, len(e.operands))) or e.rank(0):
        raise NotBatched
    if e.settings["dtype"] is not None:
        raise NotBatched
    is_shape = len(e.operands) == 2 and isinstance(e.types[1], ShapeOf)
    rank = e.rank(1) if is_shape else len(e.operands) - 1
    value = e.call("view", e.each(0), NONE, NONE, NONE, index="s" + "n" * rank) if rank else e.each(0)
    extents = [e.each(1)] if is_shape else [e.size, *e.operands[1:]]
    return e.call("copy", e.call("broadcast_to", value, *extents))


def zeros_of(e: Examples) -> Value:
    """Zeros in a shape."""
    return e.again(e.each(0))


def unbroadcast(e: Examples) -> Value:
    """Batch ``unbroadcast``: sum a cotangent to the shape of the operand that was broadcast."""
    g, more = e.each(0), e.rank(0) - e.rank(1)
    if more < 0:
        raise NotBatched
    if more:
        g = e.call("sum", g, axis=1 if more == 1 else tuple(range(1, more + 1)))
    return e.again(g, e.each(1), array=True)


def added_in_place(e: Examples) -> Value:
    """``x += g``, of memory that each example has its own part of."""
    return e.again(e.own(0), e.aligned(1, e.rank(0)))


def extent(e: Examples) -> Shared:
    """An extent of each example, which all have."""
    return Shared(e.again(e.operands[0], axis=moved_axis(e.settings["axis"])))


# ------------------------------------------------------------------ parts of arrays


def path_of(index: str) -> list[str]:
    """The steps of a path, each with the number of its operands where it is a method."""
    return [step + (f":{count}" if step.startswith(".") and count else "") for step, count in steps(index)]


def check_arrays(e: Examples, first: int) -> None:
    """Raise for an index with several arrays: NumPy moves their axes to the front if a slice separates them."""
    if any(e.many[first:]) or sum(isinstance(t, Array) for t in e.types[first:]) > 1:
        raise NotBatched


def read(e: Examples) -> Value:
    """Batch reading by index: a slice of each example, or an element or row at an index of its own."""
    if any(e.many[1:]):
        return gathered(e)
    check_arrays(e, 1)
    path = path_of(e.settings["index"])
    if len(path) == 1 and not path[0].startswith("."):
        return e.again(e.operands[0], NONE, NONE, NONE, *e.operands[1:], index="s" + path[0])
    reading = "take_written" if e.name == "take_written" else "view"
    value = stepped(e.build, e.size, e.operands[0], path, list(e.operands[1:]), reading)
    return value if e.name == "view" else e.call("copy", value)


def stepped(build: Any, size: Operand, array: Operand, path: list[str], operands: list[Operand], reading: str = "view") -> Value:
    """A path of steps, each taken for all examples as a view; ``reading`` is the row of a step with an array of integers."""
    for step in path:
        name, _, count = step.partition(":")
        taken = int(count or 0) if step.startswith(".") else sum(OPERANDS[letter] for letter in step)
        own, operands = operands[:taken], operands[taken:]
        if name == ".T":
            array = build.call("transpose", array, axes=(0, *reversed(range(1, rank_of(array.type)))))
        elif name == ".transpose" and all(isinstance(o, Const) for o in own):
            array = build.call("transpose", array, axes=(0, *(o.value % len(own) + 1 for o in own if isinstance(o, Const))))
        elif name == ".reshape":
            array = build.call("reshape", array, size, *own)
        elif step.startswith("."):
            raise NotBatched
        elif step:
            row = reading if has_arrays(step, [o.type for o in own]) else "view"
            array = build.call(row, array, NONE, NONE, NONE, *own, index="s" + step)
    if not isinstance(array, Value):
        raise NotBatched
    return array


def gathered(e: Examples) -> Value:
    """Gather an element or row of each example, at an index of its own."""
    if e.settings["index"] != "i" or e.rank(1) or getattr(e.types[1], "kind", None) != "int":
        raise NotBatched
    if not e.many[0]:
        return e.call("take", *e.operands, index="i")
    return e.call("take", e.operands[0], e.call("arange", e.size, dtype=None), e.operands[1], index="ii")


def written(e: Examples) -> Value:
    """``x[...] = v`` and ``x[...] += v``."""
    path = steps(e.settings["index"])
    if any(step.startswith(".") for step, _ in path):
        raise NotBatched
    if any(e.many[2:]):
        return written_at(e)
    check_arrays(e, 2)
    index = e.operands[2:]
    part = e.build.type_of("view", [e.types[0], *e.types[2:]], {"index": e.settings["index"]}, [e.operands[0], *index])
    value, operands = e.aligned(1, rank_of(part)), list[Operand]()
    for _, count in path:
        operands += [NONE, NONE, NONE, *index[:count]]
        index = index[count:]
    return e.again(e.own(0), value, *operands, index=";".join("s" + step for step, _ in path))


def written_at(e: Examples) -> Value:
    """Batch a store to an element or row of each example, at an index of its own."""
    if e.settings["index"] != "i" or e.rank(2) or getattr(e.types[2], "kind", None) != "int":
        raise NotBatched
    settings = {"distinct": True} if "distinct" in e.settings else {}
    value = e.aligned(1, e.rank(0) - 1)
    return e.again(e.own(0), value, e.call("arange", e.size, dtype=None), e.operands[2], index="ii", **settings)


# ------------------------------------------------------------------ tapes


def has_axis_on_tapes(type_: Type) -> bool:
    """Whether a tape stores the values of all examples as one array: true for arrays and floats."""
    return isinstance(type_, Array) or isinstance(type_, Scalar) and type_.kind in ("float", "complex")


def on_tape(type_: Type, size: Extent) -> Type:
    """Return the type of a tape that stores the values of all examples."""
    if not isinstance(type_, Tape):
        raise NotBatched
    return Tape(tuple(of_all(item, size) if has_axis_on_tapes(item) else item for item in type_.items), type_.indexed)


def of_all(type_: Type, size: Extent) -> Type:
    """The type of a value of all examples."""
    dtype = "f64" if isinstance(type_, Scalar) and type_.dtype in (None, "any") else getattr(type_, "dtype", None)
    shape = () if isinstance(type_, Scalar) else type_.shape if isinstance(type_, Array) else None
    if dtype is None or shape is None:
        raise NotBatched
    return Array(dtype, (size, *shape))


def kept(e: Examples) -> Value:
    """Batch saving on a tape: ``put`` at an index, ``push`` at the end."""
    first = 2 if e.name == "put" else 1
    values = list[Operand]()
    for k in range(first, len(e.operands)):
        if e.many[k] and not has_axis_on_tapes(e.types[k]):
            raise NotBatched
        values.append(e.each(k) if has_axis_on_tapes(e.types[k]) else e.operands[k])
    return e.again(*e.operands[:first], *values)


def fetched(e: Examples) -> list[Value | Shared]:
    """Batch reading from a tape in the reversed loop."""
    outs = e.build.call_many(e.name, *e.operands, **e.settings)
    before = e.types[0]
    if not isinstance(before, Tape) or len(outs) != len(before.items) + (e.name == "pop"):
        raise NotBatched
    first = len(outs) - len(before.items)
    pairs = zip(outs[first:], before.items, strict=True)
    return [*outs[:first], *(value if has_axis_on_tapes(type_) else Shared(value) for value, type_ in pairs)]


# ------------------------------------------------------------------ shapes


def reshaped(e: Examples) -> Value:
    """Another shape of each example."""
    if any(e.many[1:]):
        raise NotBatched
    return e.call("reshape", e.operands[0], e.size, *e.operands[1:])


def in_a_row(e: Examples) -> Value:
    """The elements of each example in a row."""
    if e.rank(0) != 1:
        raise NotBatched
    return e.again(e.operands[0]) if e.name == "copy" else e.call("copy", e.operands[0])


def broadcast(e: Examples) -> Value:
    """The same with more axes, or longer ones."""
    if any(e.many[1:]):
        raise NotBatched
    return e.again(e.aligned(0, len(e.operands) - 1), e.size, *e.operands[1:])


def transposed(e: Examples) -> Value:
    """The axes of each example in another order."""
    axes = e.settings["axes"]
    axes = tuple(reversed(range(e.rank(0)))) if axes is None else tuple(a % e.rank(0) for a in axes)
    return e.again(e.operands[0], axes=(0, *(a + 1 for a in axes)))


def joined(e: Examples) -> Value:
    """Batch concatenation and stacking."""
    return e.again(*(e.each(k) for k in range(len(e.operands))), axis=moved_axis(e.settings["axis"]))


# ------------------------------------------------------------------ matrices


def stacks(e: Examples) -> Value:
    """Functions of matrices that NumPy applies to each of a stack."""
    if len(e.operands) != 1 or e.rank(0) < 2:
        raise NotBatched
    return e.again(*e.operands)


#: a factor: its value, whether it has a batch axis, and the axes of one example
Factor = tuple[Operand, bool, int]


def times(e: Examples, a: Factor, b: Factor) -> Value:
    """The product of two matrices or vectors, or of stacks of matrices if one of them has no batch axis."""
    (left, many_left, rank_left), (right, many_right, rank_right) = a, b
    if not rank_left or not rank_right:
        raise NotBatched
    if max(rank_left, rank_right) > 2:
        return times_stacks(e, a, b)
    if rank_left == 1 and rank_right == 1 and many_left and many_right:
        return e.call("sum", e.call("multiply", left, right), axis=1)
    if rank_left == 2 and rank_right == 1 and many_right and not many_left:
        return e.call("matmul", right, e.call("transpose", left))
    if rank_left == 2 and rank_right == 1 and many_right:
        column = e.call("view", right, *WHOLE, *WHOLE, index="ssn")
        return e.call("view", e.call("matmul", left, column), *WHOLE, *WHOLE, Const(0), index="ssi")
    if rank_left == 1 and rank_right == 2 and many_left and many_right:
        row = e.call("view", left, *WHOLE, index="sn")
        return e.call("view", e.call("matmul", row, right), *WHOLE, Const(0), index="si")
    if rank_left == 1 and rank_right == 1 and many_right:
        left, right = right, left
    return e.call("matmul", left, right)


def times_stacks(e: Examples, a: Factor, b: Factor) -> Value:
    """The product of stacks of matrices, whose axes follow the batch axis; a vector becomes a matrix meanwhile."""
    (left, is_left, rank_left), (right, is_right, rank_right) = a, b
    if is_left and is_right:
        raise NotBatched
    value, own = (left, rank_left) if is_left else (right, rank_right)
    index = "s" + "n" * (max(rank_left, rank_right) - max(own, 2)) + ("s" * own if own > 1 else "ns" if is_left else "sn")
    opened = e.call("view", value, *WHOLE * index.count("s"), index=index) if "n" in index else value
    out = e.call("matmul", opened, right) if is_left else e.call("matmul", left, opened)
    if own > 1:
        return out
    return e.call("take", out, ZERO, *WHOLE, index="eis") if is_left else e.call("take", out, ZERO, index="ei")


def side(e: Examples, k: int) -> Factor:
    """An operand of a product."""
    return e.operands[k], e.many[k], e.rank(k)


def scaled(e: Examples) -> Value:
    """The product with a number, or of two vectors element by element."""
    rank = max(e.rank(0), e.rank(1))
    return e.call("multiply", e.aligned(0, rank), e.aligned(1, rank))


def product(e: Examples) -> Value:
    """``a @ b``, and ``np.dot(a, b)``."""
    if e.name == "dot" and not (e.rank(0) and e.rank(1)):
        return scaled(e)
    if e.name == "dot" and max(e.rank(0), e.rank(1)) > 2:
        raise NotBatched
    return times(e, side(e, 0), side(e, 1))


def outer(e: Examples, a: int, b: int) -> Value:
    """All products of an element of one vector and one of another."""
    column = e.call("view", e.operands[a], *WHOLE, *(WHOLE if e.many[a] else ()), index="ssn" if e.many[a] else "sn")
    row = e.call("view", e.operands[b], *WHOLE, *WHOLE, index="sns") if e.many[b] else e.operands[b]
    return e.call("multiply", column, row)


def turned(e: Examples, k: int) -> Factor:
    """A matrix with its axes exchanged."""
    return e.call("mT" if e.many[k] else "transpose", e.operands[k]), e.many[k], 2


def left_factor(e: Examples) -> Value:
    """The cotangent of the left factor of a product."""
    match e.rank(2), e.rank(1):
        case (0, 0) | (1, 1):
            return scaled(e)
        case (2, 1):
            return outer(e, 0, 1)
        case (1, 2):
            return times(e, side(e, 1), side(e, 0))
        case (2, 2):
            return times(e, side(e, 0), turned(e, 1))
    raise NotBatched


def right_factor(e: Examples) -> Value:
    """The cotangent of the right factor of a product."""
    match e.rank(2), e.rank(1):
        case (0, 0) | (1, 1):
            return scaled(e)
        case (1, 2):
            return times(e, side(e, 0), side(e, 1))
        case (2, 1):
            return outer(e, 1, 0)
        case (2, 2):
            return times(e, turned(e, 1), side(e, 0))
    raise NotBatched


def outer_product(e: Examples) -> Value:
    """``np.outer`` of vectors."""
    if (e.rank(0), e.rank(1)) != (1, 1):
        raise NotBatched
    return outer(e, 0, 1)


def solved(e: Examples) -> Value:
    """``np.linalg.solve``; vectors are the columns of a matrix if all examples share the equations, else matrices of one column."""
    if e.rank(0) != 2 or e.rank(1) not in (1, 2):
        raise NotBatched
    if e.rank(1) == 2:
        return e.again(*e.operands)
    if not e.many[0]:
        return e.call("transpose", e.again(e.operands[0], e.call("transpose", e.operands[1])))
    column = e.call("view", e.each(1), *WHOLE, *WHOLE, index="ssn")
    return e.call("view", e.again(e.operands[0], column), *WHOLE, *WHOLE, Const(0), index="ssi")


__all__ = ["Examples", "NotBatched", "Shared", "elements", "on_tape", "path_of", "rank_of", "stepped"]
