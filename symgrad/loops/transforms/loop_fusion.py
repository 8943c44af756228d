"""Loop fusion: merges neighbouring loop nests where each iteration of the second needs only the same one of the first.

    for i: t[i] = exp(x[i])           for i:
    for i: total += t[i]        ->        t[i] = exp(x[i]); total += t[i]

Works in place, on what ``Writer`` emits. Outer loops are merged first, then their bodies.
"""

from __future__ import annotations

from dataclasses import dataclass

from symgrad.ir.core import Block, Call, For, If, Op, Operand, Value, While, key_of, substitute, walk
from symgrad.loops.accesses import Access, Summary, arrays, conflict, handed_on, is_apart, linear, seen_from, summary
from symgrad.loops.writer import Writer

#: how many preceding ops are searched for a nest
NEAR = 40
#: the maximum number of possibly overlapping array pairs, one of them written, in a loop: LLVM compares no more
PAIRS = 8
#: the maximum number of arrays that a loop traverses: processors prefetch no more streams
STREAMS = 24


def loop_fusion(block: Block, writer: Writer) -> None:
    """Fuse the loop nests of a block and of all blocks inside it."""
    Merging(writer, occurrences(block), unaliased_arrays(block), handed_on(block)).block(block)


def unaliased_arrays(block: Block) -> set[Value]:
    """The arrays that overlap no written array: created in the block, or only read; and the results of joins of such arrays."""
    arrays = set(block.args)
    joined: dict[Value, list[Operand]] = {}
    for op in walk(block):
        if is_apart(op):
            arrays.add(op.outs[0])
        elif isinstance(op, If):
            joined |= {o: [a, b] for o, a, b in zip(op.outs, op.then.yields, op.orelse.yields, strict=True)}
        elif isinstance(op, For | While):
            for slots in (op.carried, op.outs, op.test.args if isinstance(op, While) else []):
                joined |= {s: [a, b] for s, a, b in zip(slots, op.inits, op.body.yields, strict=False)}
    arrays |= set(joined)
    while loose := {v for v in arrays if not arrays.issuperset(joined.get(v, ()))}:
        arrays -= loose
    return arrays


def occurrences(block: Block) -> dict[Value, int]:
    """The number of accesses of each value."""
    count: dict[Value, int] = {}
    for op in block.ops:
        for access in summary(op).accesses:
            count[access.handle] = count.get(access.handle, 0) + 1
    for y in block.yields:
        if isinstance(y, Value):
            count[y] = count.get(y, 0) + 1
    return count


@dataclass
class Merging:
    """The fusion pass."""

    writer: Writer
    count: dict[Value, int]
    unaliased: set[Value]
    names: dict[Value, Value]  #: representatives of may-alias values

    def block(self, block: Block) -> None:
        done: list[tuple[Op, Summary]] = []
        alias = seen_from(block, self.names)
        for op in block.ops:
            facts = summary(op, alias)
            if not (isinstance(op, For) and op in self.writer.nests and self.joined(op, facts, done)):
                done.append((op, facts))
        block.ops = [op for op, _ in done]
        for op in block.ops:
            for inner in op.blocks:
                self.block(inner)

    def joined(self, op: For, own: Summary, done: list[tuple[Op, Summary]]) -> bool:
        """Fuse a nest into a preceding one, preferably one whose inner loops match too."""
        return self.joined_with(op, own, done, deep=True) or self.joined_with(op, own, done, deep=False)

    def joined_with(self, op: For, own: Summary, done: list[tuple[Op, Summary]], deep: bool) -> bool:
        """The same with the nearest candidate; ``deep``: only candidates with an inner loop over the same range."""
        if deep and not any(inner.blocks for inner in op.body.ops):
            return False
        for place in range(len(done) - 1, max(len(done) - 1 - NEAR, -1), -1):
            other, theirs = done[place]
            if (
                isinstance(other, For)
                and other in self.writer.nests
                and self.same_range(other, op)
                and (not deep or self.meets(other, op))
                and self.may_join(other, theirs, op, own)
            ):
                order = self.cleared(done, place, own)
                if order is not None:
                    done[place:] = order
                    substitute(op.body, {op.index: other.index})
                    other.body.ops += op.body.ops
                    checked = theirs.checks
                    for inner in op.body.ops:
                        theirs.add(inner)
                    if theirs.checks and not checked:
                        self.join_again(done, next(k for k, (one, _) in enumerate(done) if one is other))
                    return True
            if theirs.checks and conflict(theirs, own):
                return False
        return False

    def join_again(self, done: list[tuple[Op, Summary]], place: int) -> None:
        """Try to fuse a nest that has grown, and may bail out, into a preceding one."""
        op, own = done[place]
        before = done[:place]
        if isinstance(op, For) and self.joined(op, own, before):
            done[: place + 1] = before

    def meets(self, a: For, b: For) -> bool:
        """Whether both have an inner loop over the same range."""
        loops = [[inner for inner in loop.body.ops if isinstance(inner, For) and inner in self.writer.nests] for loop in (a, b)]
        return any(self.same_range(one, other) for one in loops[0] for other in loops[1])

    def same_range(self, a: For, b: For) -> bool:
        return bool(key_of(self.writer.same(a.stop)) == key_of(self.writer.same(b.stop)))

    def cleared(self, done: list[tuple[Op, Summary]], place: int, own: Summary) -> list[tuple[Op, Summary]] | None:
        """The ops from ``place`` on, reordered so that the nest there and the new one are neighbours; None if impossible."""
        target = done[place]
        before: list[tuple[Op, Summary]] = []
        after: list[tuple[Op, Summary]] = []
        for pair in done[place + 1 :]:
            held = conflict(target[1], pair[1]) or any(conflict(a[1], pair[1]) for a in after)
            if not held and not pair[0].blocks:
                before.append(pair)
            elif not pair[1].checks and not conflict(pair[1], own):
                after.append(pair)
            elif not held:
                before.append(pair)
            else:
                return None
        if any(conflict(pair[1], own) for pair in after):
            return None
        return [*before, target, *after]

    def may_join(self, first: For, theirs: Summary, second: For, own: Summary) -> bool:
        """Whether each iteration of the second needs only the same iteration of the first.

        Loops that may bail out do not vectorise anyway: two of them may be fused although their arrays may
        overlap, or are added to at different places.
        """
        scalar = theirs.checks and own.checks
        written = theirs.written | own.written
        shared = theirs.touched & own.touched & written

        def by_rounds(handle: Value) -> bool:
            mine, others = theirs.of(handle), own.of(handle)
            return scalar and all(a.adds for a in (*mine, *others)) or self.same_round(mine, first.index, others, second.index)

        if not all(by_rounds(handle) for handle in shared):
            return False
        if theirs.defined & own.used or runs_in_registers(first, second) or runs_in_registers(second, first):
            return False
        inner = any(op.blocks for op in first.body.ops) or any(op.blocks for op in second.body.ops)
        return inner or scalar or self.stays_light(theirs, own)

    def same_round(self, mine: list[Access], index: Value, others: list[Access], other_index: Value) -> bool:
        """Whether on some axis all accesses advance with the loop alike."""
        ranks = {len(a.index) if a.index is not None else 0 for a in [*mine, *others]}
        if len(ranks) != 1:
            return False
        for axis in range(ranks.pop()):
            ways = {linear(self.writer, at(a, axis), index) for a in mine} | {linear(self.writer, at(a, axis), other_index) for a in others}
            if len(ways) == 1 and None not in ways:
                return True
        return False

    def stays_light(self, theirs: Summary, own: Summary) -> bool:
        """Whether LLVM can still prove that the arrays of the loop do not overlap."""
        both = [*theirs.accesses, *own.accesses]
        pairs, streams = self.pairs(both)
        least = [self.pairs(part.accesses) for part in (theirs, own)]
        return pairs <= max(PAIRS, *(p for p, _ in least)) and streams <= max(STREAMS, *(s for _, s in least))

    def pairs(self, accesses: list[Access]) -> tuple[int, int]:
        """The number of array pairs to be proved disjoint, and of arrays; arrays without other readers will be contracted."""
        here: dict[Value, int] = {}
        for a in accesses:
            here[a.handle] = here.get(a.handle, 0) + 1
        kept = {h for h in arrays(accesses) if self.count.get(h, 0) > here[h]}
        written = {a.handle for a in accesses if a.writes} & kept
        loose = kept - self.unaliased
        pairs = {frozenset((one, other)) for one in written for other in kept - {one} if one in loose or other in loose}
        return len(pairs), len(kept)


def runs_in_registers(flat: For, other: For) -> bool:
    """Whether a loop with vectorised functions would stop vectorising inside one that sums along other axes.

    If that one has such functions inside too, keeping rows in cache is worth more.
    """
    if any(op.blocks for op in flat.body.ops) or not any(map(in_registers, flat.body.ops)):
        return False
    inside = [op for inner in other.body.ops for block in inner.blocks for op in walk(block)]
    sums = any(isinstance(op, Call) and op.name in ("let", "plus") for op in inside)
    return sums and not any(map(in_registers, inside))


def in_registers(op: Op) -> bool:
    return isinstance(op, Call) and op.name.startswith("vector_")


def at(access: Access, axis: int) -> Operand:
    assert access.index is not None
    return access.index[axis]
