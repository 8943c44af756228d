"""Splits a pullback lowered as one function: parameters -> results and residuals; residuals and seeds -> gradients.

    t = exp(x); g = seeds(t); return g * t   ->   def forward(x): t = exp(x); return t, copy(t)
                                                  def backward(t, g): return g * t

The second half receives what it reads of the first as numbers and as arrays that nothing else references (``packed`` converts lists). It
may be called any number of times, so it writes to copies. Extents, and integers computed from them, are recomputed.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, field

from symgrad.ir.core import Block, Call, Const, Func, Op, Operand, Value, blocks_within, key_of, substitute, uses, walk
from symgrad.ir.types import Array, Dim, List, Object, Scalar, ShapeOf, Tape
from symgrad.loops.accesses import handed_on, stored_to
from symgrad.loops.context import Context, Thing, Turn
from symgrad.loops.forms import CHEAP, Form, refuse
from symgrad.loops.lists.packed import copied, extents_of, pack, unpack
from symgrad.loops.reach import OutOfReach, in_words, named
from symgrad.loops.writer import BOUNDED, Scope, Writer

Finish = Callable[[Func, Writer], Func]


# ------------------------------------------------------------------ the end of the first half


def seeds(context: Context, op: Call) -> list[Thing]:
    """End the first half: expensive recipes get memory; the second half continues in a block of its own."""
    frame, writer = context.frames[-1], context.writer
    for value, form in list(frame.alive.items()):
        if form.memory is None and form.cost > CHEAP:
            context.give_memory(form, value, value.name)
            del frame.alive[value]
    context.turn = Turn(writer.build.block, [context.result(a) for a in op.args], [], Block())
    writer.scopes.append(Scope(context.turn.second, "body"))
    writer.build.block = context.turn.second
    return [seed(context, context.turn, out) for out in op.outs]


def seed(context: Context, turn: Turn, out: Value) -> Thing:
    """The lowered form of a seed: a parameter of the second half, in the shape of a result."""
    parameter = Value(out.type, out.name)
    turn.seeds.append(parameter)
    match out.type:
        case Array(shape=shape):
            refuse(out.type)
            extents = context.extents_at(parameter, out)
            for dim, extent in zip(shape or (), extents, strict=True):
                if isinstance(dim, Dim) and not dim.offset and dim.symbol != "?":
                    context.frames[-1].symbols.setdefault(dim.symbol, extent)
            return context.memory(parameter, out, extents)
        case ShapeOf(shape=shape) if shape is not None:
            return tuple(context.writer.call("shape_part", parameter, axis=k) for k in range(len(shape)))
        case Scalar() | Object():
            return parameter
    raise OutOfReach(f"{named(out)}, which is {in_words(out.type)}", context.func.loc)


# ------------------------------------------------------------------ the split


@dataclass(frozen=True, slots=True)
class Parted:
    """The two functions; ``copies`` maps results of the first that are copies of its parameters to these parameters."""

    forward: Func
    backward: Func
    copies: dict[int, int]


def parted(context: Context, results: list[Operand], finish: Finish) -> Parted:
    """Split the lowered function; ``finish`` runs on each half, and may change it in place."""
    assert context.turn is not None
    work = Parting(context, context.turn)
    backward = work.backward(results)
    backward = finish(backward, writer_for(context.writer, backward.body))
    context.writer.scopes.pop()
    return Parted(finish(work.forward(backward), context.writer), backward, work.copies)


@dataclass
class Parting:
    """Collects the values that the first half passes to the second."""

    context: Context
    turn: Turn
    residuals: dict[Value, list[Value]] = field(default_factory=dict)  #: each with the parameters that represent it
    copies: dict[int, int] = field(default_factory=dict)

    def backward(self, results: list[Operand]) -> Func:
        """The second half; its parameters are the residuals, then the seeds."""
        func, second, seeds = self.context.func, self.turn.second, self.turn.seeds
        second.args, second.yields = list(seeds), results
        arrays, written = self.arrays(), stored_classes(second)
        makers: dict[Value, list[Operand]] = {v: self.extents(v) for v in arrays if v in written and isinstance(v.type, Array)}
        head = Block(list(seeds), self.integers(arrays, [e for extents in makers.values() for e in extents]), [])
        lists, copies = self.context.writer.beside(), self.context.writer.beside()
        params: dict[Value, Operand] = {}
        table: dict[Value, Operand] = {}
        for value in free(Block(list(seeds), [*head.ops, *second.ops], [*second.yields, *(e for entry in makers.values() for e in entry)])):
            if (entry := self.taken(value, lists)) is not value:
                params[value] = table[value] = entry
        for value, extents in makers.items():
            table[value] = copied(copies, self.residuals[value][0], extents)
        substitute(head, params)
        substitute(copies.build.block, params)
        substitute(second, table)
        second.ops[:0] = [*lists.build.block.ops, *head.ops, *copies.build.block.ops]
        second.args = [*(p for parts in self.residuals.values() for p in parts), *seeds]
        hand_out_copies(second, self.context.writer.beside())
        return Func(f"{func.name}_backward", second, list(func.results), func.loc, None, func.doc)

    def extents(self, value: Value) -> list[Operand]:
        """The extents of an array at its allocation."""
        form = next((f for f in self.context.env.values() if isinstance(f, Form) and f.memory is value), None)
        return [*(form.extents if form is not None else extents_of(self.context.writer, value))]

    def arrays(self) -> dict[Value, None]:
        """The arrays of the first half whose elements the second reads; moves the ``extent`` ops of the others to the first half."""
        second = self.turn.second
        counts, free_values = uses(second), free(second)
        asked = [op for op in walk(second) if isinstance(op, Call) and op.name == "extent" and op.args[0] in free_values]
        for op in asked:
            assert isinstance(op.args[0], Value)
            counts[op.args[0]] -= 1
        moved = [op for op in asked if not counts[op.args[0]]]  # type: ignore[index]
        for block in [*blocks_within(second)]:
            block.ops = [op for op in block.ops if op not in moved]
        self.turn.first.ops += moved
        return {value: None for value in free_values if counts[value]}

    def integers(self, arrays: Container[Value], others: Iterable[Operand]) -> list[Op]:
        """The ops that recompute the extents, and sums and products of extents, that the second half and ``others`` need."""
        makers, fixed = self.context.writer.maker, self.context.writer.fixed
        again: dict[Value, Op] = {}

        def is_known(operand: Operand) -> bool:
            """Whether the operand has the same value throughout."""
            maker = makers.get(operand) if isinstance(operand, Value) else None
            return isinstance(operand, Const) or operand in fixed or maker is not None and (maker.name == "extent" or is_sum(maker))

        def is_sum(maker: Call) -> bool:
            return maker.name in BOUNDED and all(map(is_known, maker.args))

        def compute(operand: Operand) -> None:
            maker = makers.get(operand) if isinstance(operand, Value) else None
            if maker is None or maker.outs[0] in again:
                return
            if maker.name == "extent" and maker.args[0] in arrays or is_sum(maker):
                for a in maker.args if maker.name != "extent" else ():
                    compute(a)
                again[maker.outs[0]] = Call(list(maker.outs), maker.loc, maker.name, list(maker.args), dict(maker.settings))

        for value in [*free(self.turn.second), *others]:
            compute(value)
        return list(again.values())

    def taken(self, value: Value, writer: Writer) -> Value:
        """The replacement, in the second half, of a value of the first."""
        if isinstance(value.type, List | Tape):
            self.residuals[value], replacement = unpack(writer, value)
            return replacement
        replacement = Value(Array(value.type.dtype, value.type.shape, "C"), value.name) if isinstance(value.type, Array) else value
        self.residuals[value] = [replacement]
        return replacement

    def forward(self, backward: Func) -> Func:
        """The first half, which returns the values that the second half reads; removes unread parameters of the second half."""
        func, first, turn, writer = self.context.func, self.turn.first, self.turn, self.context.writer.beside()
        read = uses(backward.body)
        names = handed_on(first)
        held = {names.get(v, v) for v in (*self.context.params, *turn.results) if isinstance(v, Value)}
        handed: list[Operand] = []
        for value, parts in self.residuals.items():
            if not any(p in read for p in parts):
                continue
            if isinstance(value.type, List | Tape):
                residuals = pack(writer, value)
            elif isinstance(value.type, Array) and names.get(value, value) in held:
                residuals = [copied(writer, value)]
                if value in self.context.params:
                    self.copies[self.context.params.index(value)] = len(turn.results) + len(handed)
            else:
                residuals = [value]
            handed += [g for g, p in zip(residuals, parts, strict=True) if p in read]
        backward.body.args = [p for p in backward.params if p in read or p in turn.seeds]
        first.args = self.context.params
        first.ops = [*self.context.writer.entry.ops, *first.ops, *writer.build.block.ops]
        first.yields = [*turn.results, *handed]
        count = len(turn.results)
        words = [r.name or f"out{k}" if isinstance(r, Value) else f"out{k}" for k, r in enumerate(turn.results)]
        words += [p.name or f"residual{k}" for k, p in enumerate(backward.params[: len(first.yields) - count])]
        return Func(f"{func.name}_forward", first, words, func.loc, None, func.doc)


def writer_for(writer: Writer, block: Block) -> Writer:
    """A new writer that knows the definitions in a block."""
    block_writer, own = writer.beside(), defined(block)
    block_writer.maker = {out: op for op in walk(block) if isinstance(op, Call) for out in op.outs}
    first: dict[object, Value] = {}
    for value in own:
        same = first.setdefault(key_of(writer.same(value)), value)
        if same is not value:
            block_writer.scopes[-1].equal[value] = same
    return block_writer


def defined(block: Block) -> dict[Value, None]:
    """The values that a block and the blocks inside it define."""
    values = dict.fromkeys(block.args)
    for op in walk(block):
        values |= dict.fromkeys(op.outs)
        for inner in op.blocks:
            values |= dict.fromkeys(inner.args)
        if isinstance(op, Call) and op.settings.get("begin"):
            values |= dict.fromkeys(v for v in op.args[:1] if isinstance(v, Value))
    return values


def free(block: Block) -> list[Value]:
    """The free variables of a block, in the order of their first read."""
    own = defined(block)
    return [value for value in uses(block) if value not in own]


def stored_classes(block: Block) -> set[Value]:
    """The arrays that a block stores to, under all their names."""
    names = handed_on(block)
    stored = {names.get(v, v) for v in map(stored_to, walk(block)) if v is not None}
    return stored | {value for value, name in names.items() if name in stored}


def hand_out_copies(block: Block, writer: Writer) -> None:
    """Copy each array that a block yields if it is an argument of the block."""
    names = handed_on(block)
    held = {names.get(p, p) for p in block.args if isinstance(p.type, Array)}
    yields = [y if not isinstance(y, Value) or names.get(y, y) not in held else copied(writer, y) for y in block.yields]
    block.ops += writer.build.block.ops
    block.yields = yields
