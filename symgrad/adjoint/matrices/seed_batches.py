"""Batches the backward half over many seeds: a block linear in its arguments -> the same with one more leading axis.

Values that depend on the arguments have the axis; the rest is computed as before. Branches and loops are kept
where no test depends on the arguments, as in backward halves. A called function is rewritten once for each set
of arguments with the axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from symgrad.ir.core import Apply, Block, Call, For, Func, If, Op, Operand, Value, While, clone, operands_within
from symgrad.ir.types import INT, Array, List, Scalar, Tape, Type, Undefined
from symgrad.ops.seeds import seed_lists, seed_products, seed_shapes  # noqa: F401  # they enter their rules
from symgrad.ops.seeds.seeds import EMPTY_TAPES, FORM, ON_TAPES, Batch, NotBatched, apply


def together(block: Block, batch: Batch, seeds: Sequence[Value]) -> list[Value]:
    """Append the batched ops of ``block`` to the builder's block and return its batched yields; raises NotBatched where impossible.

    ``seeds`` are the batched arguments of the block. The block itself is not changed.
    """
    batch.table.update(zip(block.args, seeds, strict=True))
    batch.makers |= {out: op for op in block.ops if isinstance(op, Call) for out in op.outs}
    walk = Together(batch, Varying(), {})
    walk.block(block)
    return [batch.promoted(y) for y in block.yields]


#: a function, and the positions of its batched arguments
Kind = tuple[Func, frozenset[int]]


@dataclass(slots=True)
class Together:
    """One walk over a block and the blocks inside it."""

    batch: Batch
    varying: Varying
    functions: dict[Kind, Func]  #: the batched form of each called function

    def block(self, block: Block) -> None:
        """Batch the ops of a block, in order."""
        for op in block.ops:
            if isinstance(op, Call):
                self.batch.makers |= dict.fromkeys(op.outs, op)
            with self.batch.builder.at(op.loc):
                self.op(op)

    def op(self, op: Op) -> None:
        """Batch one op; an op that does not depend on the arguments is left as it is."""
        varying = {v for v in self.batch.table if isinstance(v, Value)}
        before = len(varying)
        self.varying.mark(op, varying)
        if isinstance(op, Call) and op.name in FORM and self.batch.varies(op.args[0]):
            self.form(op)
        elif len(varying) == before:
            if any(o in self.batch.shapes or o in self.batch.lists or o in self.batch.table for o in reads(op)):
                raise NotBatched  # also for a linear function that passes on nothing of its argument
            self.batch.builder.append(op)
        elif isinstance(op, Call) and op.name in ON_TAPES:
            self.tape(op)
        elif isinstance(op, Call):
            self.batch.table[op.outs[0]] = apply(self.batch, op)
        elif isinstance(op, For | While):
            self.loop(op, varying)
        elif isinstance(op, If):
            self.branch(op, varying)
        elif isinstance(op, Apply):
            self.apply(op, varying)
        else:
            raise NotBatched

    def tape(self, op: Call) -> None:
        """Batch a tape op: the tape holds values that have the axis."""
        batch, first = self.batch, ON_TAPES[op.name]
        if any(batch.varies(o) for o in op.args[1:first]):
            raise NotBatched
        taken = [self.owned(op.args[0]), *op.args[1:first], *(batch.promoted(o) for o in op.args[first:])]
        if op.args[first:]:
            batch.table[op.outs[0]] = batch.builder.call(op.name, *taken, hint=op.outs[0].name, **op.settings)
            return
        outs = [Value(self.type(out.type), out.name) for out in op.outs]
        batch.builder.append(Call(outs, op.loc, op.name, taken, dict(op.settings)))
        batch.table.update(zip(op.outs, outs, strict=True))

    def owned(self, operand: Operand) -> Any:
        """A batched operand in writable memory; for an empty tape the tape itself."""
        if not isinstance(operand.type, Tape):
            return self.batch.promoted(operand)
        maker = self.batch.makers.get(operand) if isinstance(operand, Value) else None
        if isinstance(operand, Value) and operand not in self.batch.table and maker is not None and maker.name in EMPTY_TAPES:
            return operand
        if operand not in self.batch.table:
            raise NotBatched
        return self.batch.table[operand]

    def form(self, op: Call) -> None:
        """Batch a row that reads only the form of its operand."""
        if op.name == "slots_like":
            self.batch.builder.append(Call(list(op.outs), op.loc, op.name, [self.batch.new(op.args[0])], {}))
            return
        if op.name == "list_len":
            parts = self.batch.lists.get(op.args[0])
            name, settings = ("list_len", {}) if parts is None else ("extent", {"axis": 1})
            held = self.batch.new(op.args[0]) if parts is None else parts
            self.batch.builder.append(Call(list(op.outs), op.loc, name, [held], settings))
            return
        if op.name == "shape_of":
            self.batch.shapes[op.outs[0]] = self.batch.extents(op.args[0])
            return
        rank = self.batch.rank(op.args[0])
        axis = op.settings["axis"] % rank + 1
        self.batch.builder.append(Call(list(op.outs), op.loc, "extent", [self.batch.new(op.args[0])], {"axis": axis}))

    def loop(self, op: For | While, varying: set[Value]) -> None:
        """Batch a loop: a carried value has the axis if it depends on the arguments in any iteration."""
        batch = self.batch
        inits: list[Operand] = [self.owned(i) if c in varying else batch.new(i) for i, c in zip(op.inits, op.carried, strict=True)]
        inside = Block([op.index] if isinstance(op, For) else [])
        inside.args += self.slots(op.carried, op.carried, varying)
        with batch.builder.inside(inside):
            self.block(op.body)
            for carried, y in zip(op.carried, op.body.yields, strict=False):
                inside.yields.append(self.owned(y) if carried in varying else batch.new(y))
            inside.yields += [batch.new(y) for y in op.body.yields[len(op.carried) :]]
        outs: list[Value] = []
        for k, out in enumerate(op.outs):
            if k < len(op.carried) and op.carried[k] in varying:
                batch.table[out] = Value(self.type(out.type), out.name)
            outs.append(batch.table.get(out, out))
        if isinstance(op, While):
            test = Block(self.slots(op.test.args, op.carried, varying), op.test.ops, op.test.yields)
            batch.builder.append(While(outs, op.loc, inits, test, inside, op.until))
            return
        batch.builder.append(For(outs, op.loc, op.start, op.stop, op.step, inits, inside, op.until, op.backward))

    def slots(self, values: Sequence[Value], carried: Sequence[Value], varying: set[Value]) -> list[Value]:
        """The arguments of a loop's block; varying ones have the axis."""
        slots = [Value(self.type(v.type), v.name) if c in varying else v for v, c in zip(values, carried, strict=True)]
        self.batch.table.update((v, slot) for v, slot in zip(values, slots, strict=True) if v is not slot)
        return slots

    def branch(self, op: If, varying: set[Value]) -> None:
        """Batch a branch: a result has the axis if it has it on either side."""
        batch = self.batch
        if batch.varies(op.test):
            raise NotBatched
        sides = [Block(), Block()]
        for side, block in zip(sides, op.blocks, strict=True):
            with batch.builder.inside(side):
                self.block(block)
                side.yields = [self.owned(y) if out in varying else batch.new(y) for out, y in zip(op.outs, block.yields, strict=True)]
        outs: list[Value] = []
        for out in op.outs:
            if out in varying:
                batch.table[out] = Value(self.type(out.type), out.name)
            outs.append(batch.table.get(out, out))
        batch.builder.append(If(outs, op.loc, op.test, *sides))

    def apply(self, op: Apply, varying: set[Value]) -> None:
        """Batch a call: it calls the batched form of the function, which takes the number of rows as an argument."""
        batch = self.batch
        assert op.func is not None
        places = frozenset(k for k, a in enumerate(op.args) if a in varying)
        args = [self.owned(a) if k in places else batch.new(a) for k, a in enumerate(op.args)]
        outs: list[Value] = []
        for out in op.outs:
            if out in varying:
                batch.table[out] = Value(self.type(out.type), out.name)
            outs.append(batch.table.get(out, out))
        batch.builder.append(Apply(outs, op.loc, self.function(op.func, places), [*args, batch.rows]))

    def function(self, func: Func, places: frozenset[int]) -> Func:
        """The batched form of a function; it is registered before it is filled, so that the function may be recursive."""
        if (func, places) not in self.functions:
            self.functions[func, places] = target = Func(f"{func.name}_rows", loc=func.loc)
            copy, builder = clone(func), self.batch.builder
            results = self.varying.results(func, places)
            rows = Value(INT, "rows")
            inner = Together(Batch(builder, rows, {}), self.varying, self.functions)
            params = [Value(inner.type(p.type), p.name) if k in places else p for k, p in enumerate(copy.params)]
            inner.batch.table.update((p, new) for p, new in zip(copy.params, params, strict=True) if p is not new)
            with builder.inside(target.body):
                inner.block(copy.body)
                target.body.yields = [inner.owned(y) if k in results else inner.batch.new(y) for k, y in enumerate(copy.body.yields)]
            target.body.args, target.results = [*params, rows], list(func.results)
        return self.functions[func, places]

    def type(self, type_: Type) -> Type:
        """The batched type."""
        rows = self.batch.builder.extent_of(self.batch.rows)
        if isinstance(type_, Tape):
            return Tape(tuple(map(self.type, type_.items)), type_.indexed)
        if isinstance(type_, List):
            return List(self.type(type_.item))
        if isinstance(type_, Undefined):
            return type_
        if isinstance(type_, Scalar) and type_.kind == "float":
            return Array("f64" if type_.dtype in (None, "any") else type_.dtype, (rows,))
        if isinstance(type_, Array) and type_.shape is not None:
            return Array(type_.dtype, (rows, *type_.shape))
        raise NotBatched


def reads(op: Op) -> list[Operand]:
    """All operands of an op and of the ops in its blocks."""
    return list(operands_within(op))


@dataclass(slots=True)
class Varying:
    """The values that depend on the arguments; ``known``: the dependent results of functions, for each set of arguments."""

    known: dict[Kind, frozenset[int]] = field(default_factory=dict)

    def results(self, func: Func, places: frozenset[int]) -> frozenset[int]:
        """The results of a function that depend on some of its arguments; a fixed point for a recursive one."""
        if (func, places) in self.known:
            return self.known[func, places]
        before, self.known[func, places] = None, frozenset[int]()
        first = len(self.known)
        while before != self.known[func, places]:
            before = self.known[func, places]
            for later in list(self.known)[first:]:  # computed while less was known of this one
                del self.known[later]
            inside = {p for k, p in enumerate(func.params) if k in places}
            for op in func.body.ops:
                self.mark(op, inside)
            self.known[func, places] = frozenset(k for k, y in enumerate(func.body.yields) if y in inside)
        return self.known[func, places]

    def mark(self, op: Op, varying: set[Value]) -> None:
        """Add the results of an op, and of the ops in its blocks, that depend on varying values."""
        match op:
            case Call():
                if op.name not in FORM and any(a in varying for a in op.args):
                    varying.update(op.outs)
            case If():
                for block in op.blocks:
                    for inner in block.ops:
                        self.mark(inner, varying)
                sides = zip(op.outs, op.then.yields, op.orelse.yields, strict=True)
                varying.update(out for out, *ends in sides if any(end in varying for end in ends))
            case For() | While():
                if isinstance(op, For) and any(o in varying for o in (op.start, op.stop, op.step)):
                    raise NotBatched
                varying.update(c for c, i in zip(op.carried, op.inits, strict=True) if i in varying)
                size = -1
                while size != len(varying):
                    size = len(varying)
                    for inner in op.body.ops:
                        self.mark(inner, varying)
                    varying.update(c for c, y in zip(op.carried, op.body.yields, strict=False) if y in varying)
                if any(y in varying for y in op.body.yields[len(op.carried) :]):
                    raise NotBatched
                if isinstance(op, While):
                    varying.update(a for a, c in zip(op.test.args, op.carried, strict=True) if c in varying)
                    if any(o in varying for inner in op.test.ops for o in reads(inner)) or any(y in varying for y in op.test.yields):
                        raise NotBatched
                varying.update(out for out, c in zip(op.outs, op.carried, strict=False) if c in varying)
            case Apply() if op.func is not None:
                places = frozenset(k for k, a in enumerate(op.args) if a in varying)
                varying.update(op.outs[k] for k in (self.results(op.func, places) if places else ()))
            case _ if any(o in varying for o in reads(op)):
                raise NotBatched


__all__ = ["together"]
