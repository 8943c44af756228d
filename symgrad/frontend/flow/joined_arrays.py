"""Joins of arrays: the contents on the two sides of a branch -> the content after it, and the arrays it may alias."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from symgrad.frontend.flow.branch_sides import Side
from symgrad.frontend.flow.filling import blank, filled
from symgrad.frontend.state.bindings import Location, Ref
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.program_state import NO_LOCATIONS, State
from symgrad.ir.core import FALSE, NONE, TRUE, UNDEF, Block, If, Operand, Value
from symgrad.ir.types import BOOL, Array, Scalar, Type, join


@dataclass(slots=True)
class JoinedArrays:
    """The part of a join that creates the results of the branch: values, and the memory of arrays."""

    ctx: Lowering
    entry: State
    then: Side
    orelse: Side
    op: If
    state: State = field(default_factory=State)
    promoted: dict[tuple[Block, Location], Location] = field(default_factory=dict)  #: arrays created on one side: their joined memory
    blank: bool = False  #: whether joined values may be undefined, if nothing reads them then
    passed_on: frozenset[Value] = frozenset()  #: arrays from before the branch whose memory is written to on the dead side

    def out(self, a: Operand, b: Operand, type_: Type, name: str | None) -> Value:
        out = Value(self.ctx.builder.freshen(type_), None if name is None or name.startswith("%") else name)
        self.ctx.mixed.joined(out, tuple(o for o, side in ((a, self.then), (b, self.orelse)) if not side.state.dead))
        self.op.outs.append(out)
        for side, operand in ((self.then, a), (self.orelse, b)):
            held = UNDEF if side.state.dead else operand
            side.block.yields.append(blank(held, type_) if self.blank else held)
            if operand in self.ctx.doubtful and not side.state.dead:
                self.ctx.doubtful.add(out)
        if out.type == BOOL:
            ends = zip((self.then, self.orelse), (a, b), strict=True)
            self.ctx.decided.joined([(o, side.state.known) for side, o in ends if not side.state.dead], out)
        return out

    def of_both(self, one: Operand, two: Operand) -> Operand:
        """A bool of both sides, after the join."""
        if one == two:
            return one
        if (one, two) == (TRUE, FALSE):
            return self.op.test
        if (one, two) == (FALSE, TRUE):
            return self.ctx.call("not_", self.op.test)
        return self.out(one, two, BOOL, None)

    def alive(self, side: Side) -> State:
        """The state of a side, or of the other one if it is dead."""
        return side.state if not side.state.dead else self.other(side).state

    def other(self, side: Side) -> Side:
        return self.orelse if side is self.then else self.then

    def version(self, location: Location) -> Operand:
        """The content of a location after the join."""
        a, b = self.then.state, self.orelse.state
        one = (b if a.dead else a).memory[location]
        two = (a if b.dead else b).memory[location]
        both_alive = not (a.dead or b.dead)
        if one is two and not self.is_written(location, one) and (both_alive or one is self.entry.memory[location]):
            return one
        return self.out(one, two, join(one.type, two.type), location.name)

    def is_written(self, location: Location, held: Operand) -> bool:
        """Whether the memory of an array from before the branch may be written to on a path that goes on elsewhere."""
        gone = self.then.state if self.then.state.dead else self.orelse.state
        return held in self.passed_on or gone.memory.get(location, held) is not held

    def pair(self, side: Side, location: Location, source: Location) -> None:
        """Record that a joined array may alias ``source`` of a side, and everything that ``source`` may alias there."""
        near = dict.fromkeys((source, *self.state.near(source), *side.state.near(source)))
        if self.promoted:
            near |= {after: None for other in near if (after := self.promoted.get((side.block, other))) is not None}
        self.state.share_all(location, near)

    def is_one_of(self, location: Location | None, one: Ref | None, two: Ref | None) -> bool:
        """Record the arrays, or views, that a joined array may be; False if they are not requested or not known."""
        states = [(side, x) for side, x in ((self.then, one), (self.orelse, two)) if not side.state.dead]
        if not self.ctx.tagged or location is None or not isinstance(self.state.memory[location].type, Array) or len(states) < 2:
            return False
        held = [self.bases_of(side, x) for side, x in states]
        places = [(side, x.location) for side, x in states if x is not None]
        if None in held or all(x not in self.entry.memory and x not in side.state.bases for side, x in places):
            return False
        first, second = (x or {} for x in held)
        self.state.bases[location] = {x: self.of_both(first.get(x, FALSE), second.get(x, FALSE)) for x in (*first, *second)}
        for side, x in places:
            for other in side.state.partners.get(x, NO_LOCATIONS):
                self.state.share(location, other)
        return True

    def bases_of(self, side: Side, ref: Ref | None) -> dict[Ref, Operand] | None:
        """The arrays and views of after the join that an array of one side may be."""
        if ref is None or ref.location in side.state.stale or not isinstance(side.state.memory[ref.location].type, Array):
            return None
        bases = side.state.bases.get(ref.location, {Ref(ref.location): TRUE})
        own = {out for op in side.block.ops for out in op.outs}
        moved = {}
        for base, test in bases.items():
            steps = [replace(step, operands=(*step.operands[:-2], NONE, NONE)) if step.row else step for step in (*base.path, *ref.path)]
            if any(o in own and not isinstance(o.type, Scalar) for step in steps for o in step.operands):
                return None
            path = [replace(step, operands=tuple(self.after(side, o) if o in own else o for o in step.operands)) for step in steps]
            moved[Ref(self.base(side, base.location), tuple(path))] = test
        return moved

    def after(self, side: Side, number: Operand) -> Operand:
        """A number of one side, after the join; nothing reads it where the other path was taken."""
        blank_number = blank(UNDEF, number.type)
        return self.out(*((number, blank_number) if side is self.then else (blank_number, number)), number.type, None)

    def base(self, side: Side, location: Location) -> Location:
        """The location after the join for an array of one side: itself if it existed before the branch."""
        if location in self.entry.memory:
            return location
        if (side.block, location) not in self.promoted:
            self.promoted[side.block, location] = self.promote(side, location)
        return self.promoted[side.block, location]

    def promote(self, side: Side, location: Location) -> Location:
        """Give an array created on one side memory after the join; the other side yields zeros."""
        version = side.state.memory[location]
        promoted = Location(location.name, location.owner)
        other = self.other(side)
        kept, self.ctx.state = self.ctx.state, other.state
        try:
            with self.ctx.inside(other.block):
                empty = filled(self.ctx, version.type)
        finally:
            self.ctx.state = kept
        ends = (version, empty) if side is self.then else (empty, version)
        self.state.memory[promoted] = self.out(*ends, version.type, location.name)
        for partner in (*self.state.near(location), *side.state.near(location)):
            self.state.share(promoted, partner)
        if location in side.state.stored_arrays:  # on one path the caller holds a copy of it: stores to it must be tracked
            self.state.stored_arrays[promoted] = None
        return promoted
