"""Tiling of loops over long vectors: runs them strip by strip, so that a strip stays in cache for all its ops.

    for j: for i in range(n): r[i] -= x[j] * p[i]     ->     for low in range(0, n, 256): for j: for i: r[i] -= x[j] * p[low + i]

Arrays used only inside the strips are as long as one strip. Values that program loops reduce along the axis are
saved per iteration, and ops on them follow in a second loop. Works in place, on what ``Writer`` emits, before
``versions``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from symgrad.ir.core import ONE, ZERO, Block, Call, Const, For, Op, Operand, Value, clone_block, definitions, key_of, substitute, walk
from symgrad.ir.types import INT, Array, Scalar
from symgrad.loops.accesses import SHAPES, Summary, handed_on, seen_from, summary
from symgrad.loops.arrays import constant
from symgrad.loops.transforms.tiling_legality import Kind, Part, Region, running
from symgrad.loops.writer import Writer, number

#: the length of a strip, and for nests with inner loops the number of elements that one of these traverses
STRIP, ELEMENTS = 256, 4096
#: the maximum number of nests tried in vain as the start of a region
TRIES = 16


def tiling(block: Block, writer: Writer) -> None:
    """Run loops strip by strip where that pays, in a block and all blocks inside it."""
    in_block(block, writer, handed_on(block))


def in_block(block: Block, writer: Writer, names: Mapping[Value, Value]) -> None:
    """The same; ``names`` maps may-alias values to one representative."""
    loops: set[Op] = set()
    rest = block.ops
    while region := next_region(block, rest, writer, names):
        rewriting = Rewriting(region, block, writer)
        rewriting.run()
        loops.add(rewriting.loop)
        rest = rewriting.after
    for op in block.ops:
        for inner in op.blocks if op not in loops else ():
            in_block(inner, writer, names)


def next_region(block: Block, ops: list[Op], writer: Writer, names: Mapping[Value, Value]) -> Region | None:
    """The first ops that can run in strips and pay."""
    alias = seen_from(block, names)
    summaries: dict[Op, Summary] = {}
    for extent in extents(ops, writer):
        trial = Region(block, extent, writer, alias)
        starts = [k for k, op in enumerate(ops) if trial.goes_along(op)]
        for start in starts[:TRIES]:
            region = Region(block, extent, writer, alias, summaries)
            for op in ops[start:]:
                region.add(op)
            if region.goes_round() and (region.stays() or shortened(region, block)):
                return region
    return None


def extents(ops: Iterable[Op], writer: Writer) -> list[Operand]:
    """The extents of nests in program loops, except those known to be short, or known only inside a loop."""
    lengths: dict[object, Operand] = {}

    def look(op: Op) -> None:
        if op in writer.nests and isinstance(op, For):
            extent = writer.same(op.stop)
            if (number(extent) or STRIP + 1) > STRIP:
                lengths.setdefault(key_of(extent), extent)
        elif isinstance(op, For):
            for inner in op.body.ops:
                look(inner)

    for op in ops:
        if op not in writer.nests:
            look(op)
    inside = {out for op in ops for inner in op.blocks for child in walk(inner) for out in child.outs}
    return [extent for extent in lengths.values() if extent not in inside]


def shortened(region: Region, block: Block) -> dict[Value, Call]:
    """The arrays that only the strips use, which may be as long as a strip, with their allocations."""
    everywhere = counted(block.ops)
    here = counted([leaf.op for part in region.order for leaf in part.of_kind(Kind.STRIP)])
    asked = {a for op in walk(block) if isinstance(op, Call) and op.name in SHAPES for a in op.args} | set(block.yields)
    makers = {op.outs[0]: op for op in walk(block) if isinstance(op, Call) and op.name in ("empty", "zeros") and op.outs}
    return {
        handle: makers[handle]
        for handle, count in here.items()
        if handle in makers
        and region.axes.get(handle)
        and everywhere[handle] == count
        and handle not in asked
        and handle not in region.alias
    }


class Rewriting:
    """The rewriting of a region: the ops before the strips, the strip loop, the ops after it."""

    def __init__(self, region: Region, block: Block, writer: Writer) -> None:
        self.region, self.block = region, block
        self.before = [part.op for part in region.order if part.kind is Kind.EARLY]
        self.after: list[Op] = []
        self.loop = For([], region.order[0].op.loc, ZERO, ZERO, ONE, [], Block([Value(INT, "%strip")]))
        self.length: Operand = ZERO  #: of every strip but the last
        self.low, self.width = ZERO, ZERO  # type: Operand, Operand  # where a strip begins, and how long it is
        self.arrays: dict[Value, int] = {}  #: arrays as long as a strip, with the shortened axis
        self.sums: dict[Value, Value] = {}  #: for each number folded in iterations, the array that saves it
        self.table: dict[Value, Operand] = {}  #: replacements in the late ops
        self.writer = Writer()
        self.writer.maker, self.writer.build.extents = writer.maker, writer.build.extents
        self.writer.build.fresh, self.writer.build.taken = writer.build.fresh, writer.build.taken

    def run(self) -> None:
        """Rewrite the block."""
        loop, writer, extent = self.loop, self.writer, self.region.extent
        loops = [part for part in self.region.order if part.parts is not None]
        with writer.inside(Block(ops=self.before)):
            self.length = self.best_length()
            loop.stop = self.count(any(does_something(leaf) for part in loops for leaf in part.of_kind(Kind.EARLY)))
            zeros = self.shorten()
            for part in loops:
                self.keep_sums(part, ())
        with writer.inside(loop.body):
            self.low = writer.multiply(loop.index, self.length)  # with a loop step instead, LLVM could not prove it positive
            self.width = writer.smaller(self.length, writer.subtract(extent, self.low))
            for operand, name in ((self.low, "%low"), (self.width, "%width")):
                if isinstance(operand, Value):
                    operand.name = name
            for maker in zeros:
                self.clear(maker)
        for part in self.region.order:
            if part.kind is Kind.LATE:
                self.after.append(part.op)
            elif part.parts is not None:
                self.after += self.second(part, (), whole=False)
                loop.body.ops.append(self.first(part, ()))
            elif part.kind is Kind.STRIP:
                loop.body.ops.append(self.along_strip(part.op))
        place = self.block.ops.index(self.region.order[0].op)
        rest = Block(ops=self.after, yields=self.block.yields)
        substitute(rest, self.table)
        self.block.ops[place:] = [*self.before, loop, *self.after]
        self.block.yields = rest.yields

    def count(self, once: bool) -> Operand:
        """The number of strips; at least 1 if ``once``: for ops that must run even without elements."""
        all_but_one = self.writer.add(self.region.extent, self.writer.add(self.length, Const(-1)))
        most, length = number(all_but_one), number(self.length)
        if most is not None and length is not None:
            return Const(max(most // length, int(once)))
        count = self.writer.pure("floor_divide", all_but_one, self.length)
        return self.writer.larger(count, ONE) if once else count

    # -------------------------------------------------------------- memory

    def best_length(self) -> Operand:
        """The length of a strip: shorter where each element has inner loops."""
        inner: Operand = ONE
        inside = {v for part in self.region.order if part.kind is Kind.STRIP for block in part.op.blocks for v in definitions(block)}
        for part in self.region.order:
            for leaf in part.of_kind(Kind.STRIP):
                for stops in chains(leaf.op):
                    product: Operand = ONE
                    for stop in stops:
                        product = self.writer.multiply(product, Const(STRIP) if stop in inside else stop)
                    inner = self.writer.larger(inner, product)
        if (known := number(inner)) is not None:
            return Const(max(1, min(STRIP, ELEMENTS // max(known, 1))))
        rows = self.writer.pure("floor_divide", Const(ELEMENTS), self.writer.larger(inner, ONE))
        return self.writer.smaller(self.writer.larger(rows, ONE), Const(STRIP))

    def shorten(self) -> list[Call]:
        """Shorten the arrays that only the strips use; return the allocations that each strip must clear."""
        block, zeros = self.block, []
        length = self.writer.smaller(self.length, self.region.extent)
        for handle, maker in shortened(self.region, block).items():
            self.arrays[handle] = axis = min(self.region.axes[handle])
            maker.args[axis] = length
            with self.writer.inside(Block()):
                handle.type = self.writer.call("empty", *maker.args, dtype=maker.settings["dtype"]).type
            if maker not in self.before and maker not in block.ops:
                continue  # allocated in each iteration
            for ops in (self.before, block.ops):
                if maker in ops and maker is not self.region.order[0].op:
                    ops.remove(maker)
            if maker.name == "zeros":
                maker.name = "empty"
                zeros.append(maker)
            self.before.append(maker)
        return zeros

    def clear(self, maker: Call) -> None:
        """Fill the array with zeros at the start of a strip."""
        handle = maker.outs[0]
        assert isinstance(handle.type, Array)
        assert handle.type.dtype is not None
        extents = [self.width if k == self.arrays[handle] else e for k, e in enumerate(maker.args)]
        with self.writer.nest(extents) as index:
            self.writer.store(handle, constant(handle.type.dtype, 0), index)

    def keep_sums(self, part: Part, counts: tuple[Operand, ...]) -> None:
        """Create arrays for the values folded along the axis in each iteration."""
        assert isinstance(part.op, For)
        counts = (*counts, rounds_of(part.op, self.writer))
        for inner in part.parts or ():
            if inner.parts is not None:
                self.keep_sums(inner, counts)
            elif inner.kind is Kind.START:
                handle, start = inner.op.operands
                assert isinstance(handle, Value)
                assert isinstance(handle.type, Scalar)
                dtype = handle.type.dtype or "i64"
                if isinstance(start, Const) and not start.value:
                    self.sums[handle] = self.writer.call("zeros", *counts, hint=handle.name, dtype=dtype)
                    continue
                self.sums[handle] = kept = self.writer.empty(dtype, counts, handle.name)
                with self.writer.nest(counts) as index:
                    self.writer.store(kept, start, index)

    # -------------------------------------------------------------- loops

    def along_strip(self, nest: Op) -> For:
        """Restrict a nest along the axis to the strip."""
        assert isinstance(nest, For)
        nest.stop = self.width
        whole = Value(INT)
        add = Call([whole], nest.loc, "add", [self.low, nest.index], {"via": None})
        for op in walk(nest.body):
            operands = [whole if o is nest.index else o for o in op.operands]
            if isinstance(op, Call) and op.name in ("take", "set_at", "add_at") and op.args[0] in self.arrays:
                axis = self.arrays[op.args[0]] + (1 if op.name == "take" else 2)
                operands[axis] = op.args[axis]
            op.replace_operands(operands)
        nest.body.ops.insert(0, add)
        return nest

    def first(self, part: Part, where: tuple[Operand, ...]) -> For:
        """The copy of a program loop inside a strip: without the late ops."""
        loop = part.op
        assert isinstance(loop, For)
        ops: list[Op] = []
        where = (*where, self.round_of(loop, loop.index, ops))
        for inner in part.parts or ():
            if inner.parts is not None:
                ops.append(self.first(inner, where))
            elif inner.kind is Kind.STRIP:
                nest = self.along_strip(inner.op)
                with self.writer.inside(Block(ops=ops)):
                    ops.append(nest)
                    for total in running(nest, inner.facts):
                        self.writer.store(self.sums[total], total, where)
            elif inner.kind is Kind.START:
                self.go_on(inner.op, where, ops)
            elif inner.kind is Kind.EARLY:
                ops.append(inner.op)
        loop.body.ops = ops
        kept = [k for k in range(len(loop.inits)) if k not in part.late]
        loop.body.yields = [loop.body.yields[k] for k in kept]
        loop.outs = [loop.outs[k] for k in kept]
        loop.inits = [loop.inits[k] for k in kept]
        loop.body.args = [loop.index, *(loop.carried[k] for k in kept)]
        return loop

    def second(self, part: Part, where: tuple[Operand, ...], whole: bool) -> list[Op]:
        """The copy of the loop after all strips, for the late ops. None if there are none, unless the ``whole`` is needed."""
        loop = part.op
        assert isinstance(loop, For)
        if not (whole or loop.outs or part.of_kind(Kind.LATE)):
            return []
        table = self.table
        table |= {v: Value(v.type, v.name) for k, v in enumerate(loop.body.args) if k - 1 not in part.late}
        outs = [out if k in part.late else Value(out.type, out.name) for k, out in enumerate(loop.outs)]
        ops: list[Op] = []
        index = table[loop.index]
        assert isinstance(index, Value)
        where = (*where, self.round_of(loop, index, ops))
        read = {a.handle for leaf in part.of_kind(Kind.EARLY, Kind.LATE) for a in leaf.facts.accesses if not a.writes}
        for inner in part.parts or ():
            if inner.parts is not None:
                ops += self.second(inner, where, whole=True)
            elif inner.kind is Kind.LATE:
                ops.append(inner.op)
            elif inner.kind is Kind.START:
                self.go_on(inner.op, where, ops)
            elif inner.kind is Kind.EARLY and not is_done(inner, read):
                ops += clone_block(Block(ops=[inner.op]), table).ops
        body = Block([index], ops, list(loop.body.yields))
        body.args += [v if k in part.late else fresh(table, v) for k, v in enumerate(loop.carried)]
        table |= {old: new for old, new in zip(loop.outs, outs, strict=True) if old is not new}
        return [For(outs, loop.loc, loop.start, loop.stop, loop.step, list(loop.inits), body)]

    def go_on(self, start: Op, where: tuple[Operand, ...], ops: list[Op]) -> None:
        """Continue a fold from the saved value of its iteration."""
        handle = start.operands[0]
        assert isinstance(handle, Value)
        with self.writer.inside(Block(ops=ops)):
            kept = self.writer.read(self.sums[handle], where)
        ops.append(Call([], start.loc, "let", [handle, kept], {"begin": True}))

    def round_of(self, loop: For, index: Value, ops: list[Op]) -> Operand:
        """The number of an iteration by its index, counted from the smallest index."""
        with self.writer.inside(Block(ops=ops)):
            first = loop.start if number(loop.step) == 1 else self.writer.add(loop.stop, ONE)
            return self.writer.subtract(index, first)


def rounds_of(loop: For, writer: Writer) -> Operand:
    """The number of iterations of a loop."""
    ends = (loop.stop, loop.start) if number(loop.step) == 1 else (loop.start, loop.stop)
    return writer.larger(writer.subtract(*ends), ZERO)


def fresh(table: dict[Value, Operand], value: Value) -> Value:
    """The replacement of a value in the second loop."""
    replacement = table[value]
    assert isinstance(replacement, Value)
    return replacement


def does_something(part: Part) -> bool:
    """Whether an op checks, or stores to arrays, so that it must run once even without elements."""
    return part.facts.checks or any(isinstance(h.type, Array) for h in part.facts.written)


def is_done(part: Part, read: set[Value]) -> bool:
    """Whether an op is complete after the strips: a check, or a store that only the strips read."""
    if part.op.outs:
        return isinstance(part.op, Call) and part.op.name in ("empty", "zeros") and part.op.outs[0] not in read
    written = part.facts.written
    return part.facts.checks or bool(written) and all(isinstance(h.type, Array) and h not in read for h in written)


def counted(ops: Iterable[Op]) -> dict[Value, int]:
    """The number of accesses of arrays and numbers."""
    count: dict[Value, int] = {}
    for op in ops:
        for access in summary(op).accesses:
            count[access.handle] = count.get(access.handle, 0) + 1
    return count


def chains(op: Op) -> list[list[Operand]]:
    """The bounds of the loops in a nest: a list for each innermost loop, outermost first."""
    ends = []
    for inner in (i for b in op.blocks for i in b.ops):
        deeper = chains(inner)
        ends += [[inner.stop, *chain] for chain in deeper or [[]]] if isinstance(inner, For) else deeper
    return ends
