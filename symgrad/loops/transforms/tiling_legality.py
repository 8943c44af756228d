"""Tiling legality: which ops of a block can run strip by strip: elements interact only in reductions along the axis.

Every other op is *early* if it needs nothing of the strips, else *late*. Loops of the program may have ops of
all three kinds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

from symgrad.ir.core import Block, Call, Const, For, Op, Operand, Value, While, key_of, ops_within, walk
from symgrad.ir.types import Array, Scalar
from symgrad.loops.accesses import Summary, summary
from symgrad.loops.writer import Writer, number


class Kind(Enum):
    """When an op runs: before or between the strips, in each strip, or after them; ``START``: the initial value of a fold."""

    EARLY, STRIP, LATE, START = range(4)


@dataclass(slots=True)
class Part:
    """An op of a block; ``parts``: the ops of a loop run strip by strip, ``late``: the indices of its late carried values."""

    op: Op
    kind: Kind
    facts: Summary
    parts: list[Part] | None = None
    late: set[int] = field(default_factory=set)

    def leaves(self) -> Iterator[Part]:
        """The part itself, or the leaves inside it."""
        if self.parts is None:
            yield self
        for part in self.parts or ():
            yield from part.leaves()

    def of_kind(self, *kinds: Kind) -> list[Part]:
        return [leaf for leaf in self.leaves() if leaf.kind in kinds]


@dataclass(slots=True)
class Seen:
    """The values that ops define, store to, and access."""

    defined: set[Value] = field(default_factory=set)
    written: set[Value] = field(default_factory=set)
    touched: set[Value] = field(default_factory=set)

    def add(self, facts: Summary) -> None:
        self.defined |= facts.defined
        self.written |= facts.written
        self.touched |= facts.touched

    def meets(self, facts: Summary) -> bool:
        """Whether the recorded ops must stay before this op."""
        written = facts.written
        return bool(self.defined & facts.used or self.written & facts.touched or self.touched & written)

    def copy(self) -> Seen:
        return Seen(set(self.defined), set(self.written), set(self.touched))


@dataclass
class Region:
    """Consecutive ops of a block, sorted into kinds; ``extent`` is that of the axis."""

    block: Block
    extent: Operand
    writer: Writer
    alias: Mapping[Value, Value]  #: representatives of may-alias values
    summaries: dict[Op, Summary] = field(default_factory=dict)  #: shared by the regions tried before anything is rewritten
    order: list[Part] = field(default_factory=list)
    strip: Seen = field(default_factory=Seen)
    late: Seen = field(default_factory=Seen)
    axes: dict[Value, frozenset[int]] = field(default_factory=dict)  #: for arrays in strips: the axes of the strip's index
    users: dict[Value, int] = field(default_factory=dict)  #: the number of nests in strips that use an array or a number
    stored: set[Value] = field(default_factory=set)  #: arrays that nests in strips store to

    def add(self, op: Op) -> None:
        """Classify an op: early, in the strip loop, or late."""
        facts = self.summary(op)
        if isinstance(op, For) and self.goes_along(op):
            saved = self.state()
            part = self.nest(op, facts, self.late, top=True) if op in self.writer.nests else self.loop(op, facts)
            if part is not None:
                self.order.append(part)
                for leaf in part.leaves():
                    (self.late if leaf.kind is Kind.LATE else self.strip).add(leaf.facts)
                for k, out in enumerate(op.outs):
                    (self.late if k in part.late else self.strip).defined.add(out)
                return
            self.axes, self.users, self.stored = saved
        kind = Kind.LATE if self.strip.meets(facts) or self.late.meets(facts) else Kind.EARLY
        if kind is Kind.LATE:
            self.late.add(facts)
        self.order.append(Part(op, kind, facts))

    def summary(self, op: Op) -> Summary:
        """The accesses of an op."""
        facts = self.summaries.get(op)
        if facts is None:
            facts = self.summaries[op] = summary(op, self.alias)
        return facts

    def state(self) -> tuple[dict[Value, frozenset[int]], dict[Value, int], set[Value]]:
        """The state to restore if an op does not fit."""
        return dict(self.axes), dict(self.users), set(self.stored)

    def goes_round(self) -> bool:
        """Whether some loop traverses the strip in each iteration."""
        return any(part.parts is not None for part in self.order)

    def stays(self) -> bool:
        """Whether each iteration stores to the elements that the previous one has stored to."""
        leaves = [leaf for part in self.order if part.parts is not None for leaf in part.of_kind(Kind.STRIP)]
        stored = {handle for leaf in leaves for handle in leaf.facts.written}
        return any(self.axes.get(h) and isinstance(h.type, Array) and h.type.rank == 1 for h in stored)

    # -------------------------------------------------------------- nests

    def goes_along(self, op: Op) -> bool:
        """Whether the op is a nest along the axis, or a program loop that contains such nests."""
        if not isinstance(op, For):
            return False
        if op in self.writer.nests:
            return bool(key_of(self.writer.same(op.stop)) == key_of(self.extent))
        return any(self.goes_along(inner) for inner in op.body.ops)

    def nest(self, op: For, facts: Summary, late: Seen, top: bool) -> Part | None:
        """A nest along the axis, if its iterations are independent."""
        if late.meets(facts):
            return None
        for access in facts.accesses:
            if isinstance(access.handle.type, Array):
                places = access.index or ()
                if len(places) != access.handle.type.rank:
                    places = ()
                axes = frozenset(k for k, o in enumerate(places) if o is op.index)
                name = self.alias.get(access.handle, access.handle)
                self.axes[name] = self.axes.get(name, axes) & axes
        for handle in facts.touched:
            self.users[handle] = self.users.get(handle, 0) + 1
        self.stored |= facts.written
        scratch = {h for h in facts.written if op in self.writer.scratch.get(h, ())}
        if any(not self.axes.get(h) and self.users[h] > 1 for h in facts.touched & self.stored):
            return None
        if not top and any(isinstance(h.type, Array) and not self.axes[h] for h in facts.written - scratch):
            return None
        return Part(op, Kind.STRIP, facts)

    # -------------------------------------------------------------- program loops

    def loop(self, op: For, facts: Summary) -> Part | None:
        """A program loop whose iterations may run again for each strip, and afterwards for the late ops."""
        part = self.rounds(op, facts, self.strip, self.late)
        return part if part is not None and self.may_run_again(part) and self.is_counted(part, facts) else None

    def rounds(self, op: For, facts: Summary, strip: Seen, late: Seen) -> Part | None:
        """The same, except for dependences between iterations."""
        fixed = {o for o in (op.start, op.stop) if isinstance(o, Value)}
        if op.until or op.backward or number(op.step) not in (1, -1) or any(isinstance(c.type, Array) for c in op.carried):
            return None
        if not all(isinstance(c.type, Scalar) for c in op.carried) or fixed & (strip.written | late.written | strip.defined | late.defined):
            return None
        part = Part(op, Kind.STRIP, facts, [])
        part.late = {k for k, i in enumerate(op.inits) if i in late.defined or i in late.written or i in strip.written}
        while True:
            saved = self.state()
            beyond = self.round(part, strip.copy(), late.copy())
            if beyond is None or beyond == part.late:
                return None if beyond is None else part
            part.late |= beyond
            self.axes, self.users, self.stored = saved

    def round(self, outer: Part, strip: Seen, late: Seen) -> set[int] | None:
        """Classify the ops of a loop's body; return the indices of the late carried values."""
        op = outer.op
        assert isinstance(op, For)
        late.defined |= {op.carried[k] for k in outer.late}
        totals = self.totals(op)
        outer.parts = []
        for inner in op.body.ops:
            facts = self.summary(inner)
            part: Part | None
            if isinstance(inner, For) and self.goes_along(inner):
                is_nest = inner in self.writer.nests
                part = self.nest(inner, facts, late, top=False) if is_nest else self.rounds(inner, facts, strip, late)
                if part is None or is_nest and not totals.issuperset(running(inner, facts)):
                    return None
                strip.defined.update(out for k, out in enumerate(inner.outs) if k not in part.late)
                late.defined.update(out for k, out in enumerate(inner.outs) if k in part.late)
            elif isinstance(inner, Call) and inner.name == "let" and inner.args[0] in totals:
                if not inner.settings.get("begin") or not isinstance(inner.args[1], Const):
                    return None
                part = Part(inner, Kind.START, facts)
            else:
                part = Part(inner, Kind.LATE if strip.meets(facts) or late.meets(facts) else Kind.EARLY, facts)
            outer.parts.append(part)
            for leaf in part.leaves():
                if leaf.kind is Kind.LATE:
                    late.add(leaf.facts)
                elif leaf.kind is not Kind.EARLY:
                    strip.add(leaf.facts)
        yields = enumerate(op.body.yields)
        return outer.late | {k for k, y in yields if y in late.defined or y in late.written or y in strip.written}

    def totals(self, op: For) -> set[Value]:
        """The numbers that nests in a loop's body fold, each initialised there and folded by one nest."""
        nests = [inner for inner in op.body.ops if isinstance(inner, For) and inner in self.writer.nests and self.goes_along(inner)]
        folded = [value for nest in nests for value in running(nest, self.summary(nest))]
        begun = [inner.args[0] for inner in op.body.ops if isinstance(inner, Call) and inner.name == "let"]
        return {value for value in folded if folded.count(value) == begun.count(value) == 1}

    def may_run_again(self, part: Part) -> bool:
        """Whether the iterations compute the same for every strip, and the late ops the same after all of them."""
        early, strip, late = Seen(), Seen(), Seen()
        folded: set[Value] = set()
        begun: set[Operand] = set()
        makers: set[Value] = set()
        for leaf in part.leaves():
            {Kind.EARLY: early, Kind.LATE: late}.get(leaf.kind, strip).add(leaf.facts)
            if leaf.kind is Kind.START:
                folded |= leaf.facts.written
            inside = [leaf.op, *(inner for b in leaf.op.blocks for inner in walk(b))]
            begun |= {o.args[0] for o in inside if isinstance(o, Call) and o.name == "let" and o.settings.get("begin")}
            if isinstance(leaf.op, Call) and leaf.op.name in ("empty", "zeros"):
                makers.add(leaf.op.outs[0])
            if leaf.kind is Kind.EARLY and is_dear(leaf):
                return False
        if late.written & (strip.touched | early.touched) or late.touched & strip.written - folded or early.touched & strip.written:
            return False
        if any(not self.is_own(part.op, h, makers) if isinstance(h.type, Array) else h not in begun for h in early.written):
            return False
        return all(self.axes.get(h) and h not in early.touched | late.touched for h in makers & strip.touched)

    def is_own(self, loop: Op, handle: Value, makers: set[Value]) -> bool:
        """Whether an array is new at the start of the loop: allocated in it, or unused before it."""
        if handle in makers:
            return True
        users = [op for op in self.block.ops if handle in op.outs or op is not loop and handle in self.summary(op).written]
        return len(users) == 1 and isinstance(users[0], Call) and users[0].name == "empty"

    def is_counted(self, outer: Part, facts: Summary) -> bool:
        """Whether the iteration counts of inner loops are known before the outermost loop."""
        inside = {v for inner in ops_within(outer.op) for b in inner.blocks for v in b.args} | facts.defined
        loops = [part.op for part in nested(outer)]
        return not any(o in inside for loop in loops if isinstance(loop, For) for o in (loop.start, loop.stop))


def is_dear(part: Part) -> bool:
    """Whether an op traverses whole arrays, so that repeating it for each strip would cost more than strips save."""
    inside = [part.op, *(inner for b in part.op.blocks for inner in walk(b))]
    if any(isinstance(op, While) or isinstance(op, For) and (number(op.start), number(op.stop)).count(None) for op in inside):
        return True
    if isinstance(part.op, Call) and part.op.name in ("view", "empty", "zeros"):
        return False
    return any(a.index is None and isinstance(a.handle.type, Array) for a in part.facts.accesses)


def nested(part: Part) -> Iterator[Part]:
    """A loop run strip by strip, and those inside it."""
    if part.parts is not None:
        yield part
        for inner in part.parts:
            yield from nested(inner)


def running(nest: For, facts: Summary) -> list[Value]:
    """The numbers that a nest changes and that outlive its iterations, in the order of their changes."""
    begun = {op.args[0] for op in walk(nest.body) if isinstance(op, Call) and op.name == "let" and op.settings.get("begin")}
    written = dict.fromkeys(a.handle for a in facts.accesses if a.writes and not isinstance(a.handle.type, Array))
    return [handle for handle in written if handle not in begun]
