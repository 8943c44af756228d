"""Vectorisation of a batch loop's body: the same ops on values that have a batch axis.

``Rounds`` walks a block: rows by their batching rules, loops and branches by their blocks. A branch whose test
differs between examples is computed only for the examples that take it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from symgrad.errors import SymgradError
from symgrad.ir.core import NONE, UNDEF, Block, Call, Const, For, If, Op, Operand, Value, uses
from symgrad.ir.types import INT, Array, Scalar, ShapeOf, Tape, Type, kind_of
from symgrad.ops.batched import Examples, NotBatched, Shared, on_tape, path_of, rank_of, stepped
from symgrad.ops.build import SIZED, Builder
from symgrad.ops.declare import ROWS, Row
from symgrad.ops.indexing import OPERANDS, steps
from symgrad.ops.seeds import seed_products, seed_shapes  # noqa: F401  # they enter their rules
from symgrad.ops.seeds.seeds import of_seeds
from symgrad.ops.shapes import DEFAULT_DTYPE, dtype_of
from symgrad.passes.facts import is_pure
from symgrad.passes.representation.unbox import HARMLESS

#: the maximum number of attempts to find the loop-carried values with a batch axis
TRIALS = 8


@dataclass(slots=True)
class Rounds:
    """The batched values of all examples, or of those that take a branch."""

    build: Builder
    size: Operand  #: the number of examples
    index: Value | None = None  #: the index of an example
    values: dict[Value, tuple[Operand, bool]] = field(default_factory=dict)  #: batched values, by those of one example; with a batch axis?
    lent: set[Operand] = field(default_factory=set)  #: values whose memory belongs to something else
    sources: dict[Value, Value] = field(default_factory=dict)  #: for each shape its array
    makers: dict[Value, Call] = field(default_factory=dict)  #: the defining ops of values that all examples share
    around: Rounds | None = None  #: the walk over the whole batch, if this one covers the examples of a branch
    chosen: Value | None = None  #: the indices of these examples

    # -------------------------------------------------------------- operands

    def operand(self, operand: Operand, keep: bool = True) -> tuple[Operand, bool]:
        """The batched operand, and whether it has a batch axis.

        With ``keep`` false, a selection from a value is not cached: an inner block may have requested it.
        """
        if not isinstance(operand, Value):
            return operand, False
        if operand is self.index:
            raise NotBatched
        if operand not in self.values and self.around is not None:
            value, many = self.around.operand(operand, keep=False)
            if many:
                value = self.of_chosen(value)
            elif value in self.around.makers:
                self.makers[value] = self.around.makers[value]
            if not keep:
                return value, many
            self.values[operand] = value, many
        return self.values.get(operand, (operand, False))

    def of_chosen(self, value: Operand) -> Value:
        """A value restricted to the examples that take a branch."""
        if not isinstance(value.type, Array):
            raise NotBatched
        assert self.chosen is not None
        return self.build.call("take", value, self.chosen, index="i")

    def with_axis(self, operand: Operand, like: Type, own: bool) -> Value:
        """A value with a batch axis, in memory of its own if it will be written to."""
        value, many = self.operand(operand)
        if isinstance(value, Value) and isinstance(value.type, Tape):
            return value
        if not many and isinstance(operand.type, Scalar):
            dtype = dtype_of(like) or DEFAULT_DTYPE[operand.type.kind]
            if kind_of(dtype) != operand.type.kind and operand.type.kind != "bool" and kind_of(dtype) != "float":
                raise NotBatched
            return self.build.call("full", value, self.size, dtype=dtype)
        if not many:
            e = self.examples("copy", {}, [operand], [(value, False)])
            return e.own(0)  # type: ignore[return-value]
        if not isinstance(value, Value) or own and value in self.lent:
            return self.build.call("copy", value)
        return value

    def examples(self, name: str, settings: dict[str, object], args: Sequence[Operand], pairs: list[tuple[Operand, bool]]) -> Examples:
        """The arguments of a batching rule."""
        operands, many = [operand for operand, _ in pairs], [many for _, many in pairs]
        if ROWS[name].consumes and operands[0] in self.lent:
            operands[0] = self.build.call("copy", operands[0])
        types = [a.type for a in args]
        return Examples(self.build, name, settings, types, operands, many, self.size, self.sources, self.makers)

    # -------------------------------------------------------------- ops

    def block(self, ops: Sequence[Op]) -> None:
        """Batch the ops of a block."""
        for op in ops:
            self.build.loc = op.loc
            match op:
                case Call():
                    self.call(op)
                case If():
                    self.branch(op)
                case For():
                    self.loop(op)
                case _:
                    raise NotBatched

    def call(self, op: Call) -> None:
        """Batch a call of a row."""
        row = ROWS[op.name]
        if self.index in op.args:
            if self.around is None:
                self.example(op)
            else:  # values of the whole batch
                self.around.call(op)
            return
        pairs = [self.operand(a) for a in op.args]
        if not any(many for _, many in pairs):
            self.shared(op, row, [operand for operand, _ in pairs])
            return
        if op.name == "evaluated":
            return  # each example has this part
        if row.effect:
            raise NotBatched
        try:
            examples = self.examples(op.name, op.settings, op.args, pairs)
            result = of_seeds(examples, op.name, op) if row.batch is None else row.batch(examples)
        except SymgradError:
            raise NotBatched from None
        values = result if isinstance(result, list) else [result]
        if len(values) != len(op.outs):
            raise NotBatched
        for out, value in zip(op.outs, values, strict=True):
            if isinstance(value, Shared):
                self.values[out] = value.value, False
            else:
                self.enter(op, out, value, [operand for operand, _ in pairs])

    def enter(self, op: Call, out: Value, value: Value, operands: Sequence[Operand]) -> None:
        """Record the batched result of an op, if its type matches that of one example."""
        check_type(out.type, value.type, ROWS[op.name])
        value.name = value.name or out.name
        self.values[out] = value, True
        if ROWS[op.name].alias != "fresh" or value in operands and not ROWS[op.name].consumes:
            self.lent.add(value)

    def shared(self, op: Call, row: Row, operands: list[Operand]) -> None:
        """Emit once an op that is the same for all examples; not one with visible effects if no example may need it."""
        if row.consumes or not is_pure(row) and op.name not in HARMLESS or self.around is not None and not is_quiet(op, row):
            raise NotBatched
        outs = self.build.call_many(op.name, *operands, **op.settings)
        for out, new in zip(op.outs, outs, strict=True):
            new.name = out.name
            self.values[out] = new, isinstance(new.type, Tape)  # it will hold values of all examples
            self.makers[new] = Call([new], op.loc, op.name, operands, dict(op.settings))
        if op.name == "shape_of" and isinstance(operands[0], Value):
            self.sources[outs[0]] = operands[0]

    def example(self, op: Call) -> None:
        """Batch ``x[k]``, with optional further steps: the array with its example axis first, and the further steps applied."""
        if op.name not in ("view", "take") or self.index is op.args[0]:
            raise NotBatched
        array, many = self.operand(op.args[0])
        (first, count), *_ = steps(op.settings["index"])
        own, rest = op.args[1 : 1 + count], op.args[1 + count :]
        assert self.index is not None
        place = place_of(first, own, self.index)
        if many or place is None or self.index in rest or not isinstance(array.type, Array):
            raise NotBatched
        axis, own, left = place
        whole = array if not axis else self.build.call("moveaxis", array, source=axis, destination=0)
        path = [left, *path_of(op.settings["index"])[1:]]
        value = stepped(self.build, self.size, whole, path, [*(self.operand(o)[0] for o in own), *(self.operand(o)[0] for o in rest)])
        self.enter(op, op.outs[0], value, [])
        self.lent |= {whole, value}

    # -------------------------------------------------------------- branches

    def branch(self, op: If) -> None:
        """Batch a branch: taken by all examples alike, or by each separately."""
        test, many = self.operand(op.test)
        if many:
            self.branch_of_each(op, test)
            return
        blocks, sides = [Block(), Block()], list[Rounds]()
        for block, source in zip(blocks, op.blocks, strict=True):
            side = replace(self, values=dict(self.values), makers=dict(self.makers), sources=dict(self.sources), lent=set(self.lent))
            with self.build.inside(block):
                side.block(source.ops)
            sides.append(side)
        outs = []
        for k, out in enumerate(op.outs):
            has_axis = any(side.operand(source.yields[k])[1] for side, source in zip(sides, op.blocks, strict=True))
            for side, block, source in zip(sides, blocks, op.blocks, strict=True):
                with self.build.inside(block):
                    end = source.yields[k]
                    block.yields.append(side.with_axis(end, out.type, True) if has_axis else side.operand(end)[0])
            new = Value(with_batch(out.type, blocks[0].yields[k].type) if has_axis else out.type, out.name)
            outs.append(new)
            self.values[out] = new, has_axis
        self.build.append(If(outs, op.loc, test, *blocks))

    def branch_of_each(self, op: If, test: Operand) -> None:
        """Batch a branch that some examples take: each side is computed for the examples that take it."""
        if not isinstance(test, Value) or not isinstance(test.type, Array) or test.type.rank != 1:
            raise NotBatched
        other = self.build.call("logical_not", test)
        places = [self.build.call("flatnonzero", mask) for mask in (test, other)]
        ends: list[list[Value | None]] = []
        for place, source in zip(places, op.blocks, strict=True):
            side = Rounds(self.build, self.build.call("extent", place, axis=0), self.index, around=self, chosen=place)
            side.block(source.ops)
            pairs = zip(source.yields, op.outs, strict=True)
            ends.append([None if end is UNDEF else side.with_axis(end, out.type, False) for end, out in pairs])
        for out, one, another in zip(op.outs, *ends, strict=True):
            self.values[out] = self.scattered(out, one, another, places), True

    def scattered(self, out: Value, one: Value | None, another: Value | None, places: list[Value]) -> Value:
        """The results of two sides, each at the indices of its examples; a side without a result is never read."""
        ends = [(place, value) for place, value in zip(places, (one, another), strict=True) if value is not None]
        types = [value.type for _, value in ends]
        if not ends or not all(isinstance(t, Array) and t.dtype == dtype_of(types[0]) and rank_of(t) == rank_of(types[0]) for t in types):
            raise NotBatched
        _, first = ends[0]
        extents = [self.build.call("extent", first, axis=axis) for axis in range(1, rank_of(first.type))]
        whole = self.build.call("empty", self.size, *extents, dtype=dtype_of(first.type), hint=out.name)
        for place, value in ends:
            whole = self.build.call("set_at", whole, value, place, index="i", hint=out.name)
        return whole

    # -------------------------------------------------------------- loops

    def loop(self, op: For) -> None:
        """Batch a loop with the same iterations for all examples; carried values have a batch axis where needed."""
        bounds = [self.operand(o) for o in (op.start, op.stop, op.step)]
        if any(many for _, many in bounds) or op.until:
            raise NotBatched
        flags = [self.operand(init)[1] for init in op.inits]
        for _ in range(TRIALS):
            new = self.rounds_of(op, [bound for bound, _ in bounds], flags)
            if isinstance(new, For):
                break
            flags = new
        else:
            raise NotBatched
        self.build.append(new)
        for out, value, many in zip(op.outs, new.outs, flags, strict=True):
            self.values[out] = value, many

    def rounds_of(self, op: For, bounds: list[Operand], flags: list[bool]) -> For | list[bool]:
        """The loop, if exactly the carried values in ``flags`` have a batch axis; otherwise corrected flags."""
        index = Value(INT, op.index.name)
        side = replace(self, values=dict(self.values), makers=dict(self.makers), sources=dict(self.sources), lent=set(self.lent))
        side.values[op.index] = index, False
        before, inits = Block(), list[Operand]()
        with self.build.inside(before):
            for init, arg, many in zip(op.inits, op.carried, flags, strict=True):
                inits.append(self.with_axis(init, arg.type, True) if many else self.operand(init)[0])
        body = Block([index])
        for arg, init, many in zip(op.carried, inits, flags, strict=True):
            type_ = on_tape(arg.type, self.build.extent_of(self.size)) if isinstance(arg.type, Tape) else arg.type
            new = Value(with_batch(type_, init.type) if many and type_ is arg.type else type_, arg.name)
            body.args.append(new)
            side.values[arg] = new, many
        with self.build.inside(body):
            self.build.note_round(index, *bounds)
            side.block(op.body.ops)
            ends = [side.operand(end)[1] for end in op.body.yields]
            if any(end and not many for end, many in zip(ends, flags, strict=True)):
                return [end or many for end, many in zip(ends, flags, strict=True)]
            for end, arg, many in zip(op.body.yields, op.carried, flags, strict=True):
                body.yields.append(side.with_axis(end, arg.type, True) if many else side.operand(end)[0])
        self.build.block.ops += before.ops
        outs = [Value(arg.type, out.name) for arg, out in zip(body.args[1:], op.outs, strict=True)]
        for many, arg, end in zip(flags, body.args[1:], body.yields, strict=True):
            if many and dtype_of(arg.type) != dtype_of(end.type):
                raise NotBatched
        start, stop, step = bounds
        return For(list(outs), op.loc, start, stop, step, inits, body, backward=op.backward, batch=op.batch)


# ------------------------------------------------------------------ the loop over the batch


def results(loop: For, rounds: Rounds) -> list[Operand]:
    """The operands that replace the results of a batch loop; raises NotBatched."""
    if loop.until or loop.backward or not is_literal(loop.start, 0) or not is_literal(loop.step, 1):
        raise NotBatched
    count = uses(loop.body)
    stores = [store_of(loop, k, count) for k in range(len(loop.carried))]
    rounds.block([op for op in loop.body.ops if op not in stores])
    return [result(loop, k, store, rounds) for k, store in enumerate(stores)]


def store_of(loop: For, k: int, count: dict[Value, int]) -> Call:
    """The one op that writes to the array of results number ``k``: a part of it in each iteration."""
    argument, end = loop.carried[k], loop.body.yields[k]
    for op in loop.body.ops:
        if isinstance(op, Call) and op.name == "set_at" and op.args[0] is argument and op.outs[0] is end:
            if count[argument] == 1 and count[op.outs[0]] == 1 and axis_of(loop, op) is not None:
                return op
    raise NotBatched


def axis_of(loop: For, store: Call) -> int | None:
    """The example axis of an index that selects one example and nothing else; None for other indices."""
    place = place_of(store.settings["index"], store.args[2:], loop.index)
    return place[0] if place is not None and not place[2] else None


def result(loop: For, k: int, store: Call, rounds: Rounds) -> Operand:
    """The array of all results: a value without other references, or the array stored to."""
    axis, type_, build = axis_of(loop, store), loop.outs[k].type, rounds.build
    if not isinstance(type_, Array) or type_.shape is None or type_.dtype is None or axis is None:
        raise NotBatched
    value, many = rounds.operand(store.args[1])
    if many and not axis and value not in rounds.lent and is_made(build.block, value):
        if isinstance(value.type, Array) and (value.type.dtype, value.type.shape) == (type_.dtype, type_.shape):
            rounds.lent.add(value)
            if len(type_.shape) < 2 or value.type.layout in ("C", "CF"):
                return value
            return build.call("by_rows", value, hint=loop.carried[k].name)  # in the memory layout of the array that the loop fills
    if many and axis:
        if rank_of(value.type) != len(type_.shape):
            raise NotBatched
        value = build.call("moveaxis", value, source=0, destination=axis)
    lacks = len(type_.shape) - rank_of(value.type)
    if many and lacks > 0:
        value = build.call("view", value, NONE, NONE, NONE, index="s" + "n" * lacks)
    return build.call("set_at", loop.inits[k], value, index="e", hint=loop.carried[k].name)


def is_made(block: Block, value: Operand) -> bool:
    """Whether a value is new in a block, in memory of its own."""
    return any(value in op.outs and isinstance(op, Call) and ROWS[op.name].alias == "fresh" for op in block.ops)


def place_of(step: str, operands: Sequence[Operand], index: Value) -> tuple[int, list[Operand], str] | None:
    """Where the example's index occurs in an index path: its axis, and the remaining operands and letters; None if on no axis."""
    at, kept, left = 0, list[Operand](), ""
    axis: int | None = None
    for place, letter in enumerate(step):
        own = operands[at : at + OPERANDS[letter]]
        at += OPERANDS[letter]
        if letter == "i" and own[0] is index:
            if axis is not None or any(c != "s" for c in step[:place]):
                return None
            axis = place
        else:
            kept += own
            left += letter
    if axis is None:
        return None
    whole = all(is_literal(o, None) for o in kept) and not left.removesuffix("e").strip("s")
    return (axis, [], "") if whole else (axis, kept, left)


# ------------------------------------------------------------------ types


def check_type(one: Type, all_: Type, row: Row) -> None:
    """Refuse a batched result of another dtype or rank, and a Python number, which raises where NumPy does not."""
    if isinstance(one, ShapeOf | Tape) and type(one) is type(all_):
        return
    plain = isinstance(one, Scalar) and one.dtype in (None, "any") and one.kind != "bool"
    if plain and not (isinstance(one, Scalar) and one.kind == "float" and one.dtype == "any" and row.linear):
        raise NotBatched
    dtype = DEFAULT_DTYPE["float"] if plain else dtype_of(one)
    if not isinstance(all_, Array) or rank_of(all_) != rank_of(one) + 1 or all_.dtype != dtype or dtype is None:
        raise NotBatched


def with_batch(one: Type, all_: Type) -> Type:
    """The type of a yielded value with a batch axis: its dtype and rank are those of the initial value."""
    if not isinstance(all_, Array) or all_.shape is None or rank_of(all_) != rank_of(one) + 1:
        raise NotBatched
    shape = one.shape if isinstance(one, Array) else ()
    assert shape is not None
    return Array(all_.dtype, (all_.shape[0], *shape))


def is_quiet(op: Call, row: Row) -> bool:
    """Whether an op has no visible effect: it reads a part of an array or an extent, or allocates memory."""
    if row.elementwise:
        return all(isinstance(out.type, Scalar) and out.type.dtype is None and out.type.kind in ("int", "bool") for out in op.outs)
    return row.cheap or row.alias != "fresh" or op.name in SIZED or op.name in ("shape_of", "arange", "zeros_of")


def is_literal(operand: Operand, value: object) -> bool:
    """Whether an operand is this constant."""
    return isinstance(operand, Const) and (operand.value is value or value is not None and operand.value == value)


__all__ = ["Rounds", "results"]
