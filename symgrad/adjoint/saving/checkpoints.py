"""Checkpointing of loops: the reverse of a loop runs iterations again instead of reading what each has saved.

The forward half takes snapshots: the loop-carried values before some iterations. The reverse of iteration ``t``
starts from the last snapshot and runs the iterations up to ``t``, taking snapshots where there is room again.
It then runs ``t`` with its reverse, which is planned as a function of its own. Works in place, between sweep
and plan: to the plan the whole reversed loop is one call that reads values from outside the loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from symgrad.adjoint.accumulate import Scope
from symgrad.adjoint.analysis.memory import Memory
from symgrad.adjoint.saving.budget import Budget
from symgrad.adjoint.saving.recomputed_calls import CalledAgain, Completed, insert, outlined
from symgrad.adjoint.saving.remarks import tell_rerun
from symgrad.adjoint.saving.repeatable import drop_from, effects_in, needed, refuse_unrepeatable
from symgrad.adjoint.sweep import Sweep
from symgrad.errors import NoDerivative
from symgrad.ir.core import (
    ONE,
    ZERO,
    Apply,
    Block,
    Call,
    Const,
    For,
    Func,
    If,
    Op,
    Operand,
    Value,
    While,
    clone_block,
    definitions,
    substitute,
    walk,
)
from symgrad.ir.layout import Layout, enter, leave
from symgrad.ir.types import INT, Tape, Type
from symgrad.ir.walks import read_in, remove_ops
from symgrad.ops.build import renamed, retype, symbols_of


@dataclass(slots=True)
class Checkpoints:
    """The loops and calls that run again for their reverse; ``reversals`` are the reversals emitted so far."""

    budget: Budget
    calls: set[If] = field(default_factory=set)  #: the branches that hold the ops of calls of checkpointed functions
    reversals: set[Func] = field(default_factory=set)
    depth: int = 0  #: how many enclosing loops save values of their iterations

    def apply(self, func: Func, scope: Scope, sweep: Sweep, completed: Completed) -> None:
        """Rewrite the chosen loops of a block and of the blocks inside it; ``scope`` reverses the block."""
        for op in list(scope.reverse.ops):
            reversed_ = [sweep.scopes[block] for block in op.blocks if block in sweep.scopes]
            primal = scope.block.ops[reversed_[0].position] if reversed_ else None
            self.depth += isinstance(op, For)
            if not self.rewritten(func, scope, reversed_, primal, op, sweep, completed):
                for inner in reversed_:
                    self.apply(func, inner, sweep, completed)
            self.depth -= isinstance(op, For)

    def rewritten(
        self, func: Func, scope: Scope, reversed_: list[Scope], primal: Op | None, op: Op, sweep: Sweep, completed: Completed
    ) -> bool:
        """Rewrite one loop or call if it is to run again; ``op`` reverses ``primal``, and ``reversed_`` its blocks."""
        if isinstance(op, If) and isinstance(primal, If) and primal in self.calls:
            tell_rerun(func, primal, "nothing inside is saved, and it runs again in the backward half")
            self.reversals.add(CalledAgain(func, scope, reversed_[0], sweep, primal, op).run(completed))
            return True
        if not isinstance(op, For) or not isinstance(primal, For | While) or not self.budget.covers(primal.loc, self.depth == 1):
            return False
        rerun = Rerun(func, scope, reversed_[0], sweep, primal, op, self.budget)
        if not rerun.find_needed():
            tell_rerun(func, primal, "no snapshot is kept, since the backward half reads no value of its iterations")
            return False
        tell_rerun(func, primal, f"{self.budget.spoken(primal.loc)}, and its iterations run again in the backward half")
        self.reversals.add(rerun.run(completed))
        return True

    def inline(self, block: Block) -> None:
        """Replace calls of reversed loops by the loops themselves."""
        ops: list[Op] = []
        for op in block.ops:
            if isinstance(op, Apply) and op.func in self.reversals:
                assert op.func is not None
                substitute(op.func.body, dict(zip(op.func.params, op.args, strict=True)))
                self.inline(op.func.body)
                ops += op.func.body.ops
                continue
            for inner in op.blocks:
                self.inline(inner)
            ops.append(op)
        block.ops = ops


@dataclass(slots=True)
class Rerun:
    """One loop: ``primal``, and ``op``, which reverses it.

    ``body`` is the block whose values the reverse reads: it moves into the reversed loop, and the forward half
    gets a copy. ``slots`` are the loop-carried values that form the state of an iteration.
    """

    func: Func
    scope: Scope
    inner: Scope
    sweep: Sweep
    primal: For | While
    op: For
    budget: Budget
    body: Block = field(init=False)
    slots: list[int] = field(default_factory=list)
    kept: set[Op] = field(default_factory=set)  #: the ops of an iteration that its reverse or the next state needs
    stored: set[int] = field(default_factory=set)  #: the slots whose memory the iterations write to
    before: list[Op] = field(default_factory=list)  #: ops to insert before the loop
    symbols: dict[str, str] = field(default_factory=dict)  #: the extent symbols of earlier iterations, by those of the reversed iteration

    def __post_init__(self) -> None:
        self.body = self.primal.body

    def run(self, completed: Completed) -> Func:
        """Rewrite the loop and its reverse; return the function that the backward half calls to reverse all iterations."""
        layout, place = Layout(), self.inner.position
        layout.enter(self.func.body)
        memory = Memory.of(self.func, layout)
        self.stored = {k for k in self.slots if memory.is_written(self.args[k])}
        self.symbols = self.symbols_of_rounds()
        self.primal.body = clone_block(self.body, {})
        ticks = Ticks(self)
        kept = self.keep_in_forward_half(ticks) if self.slots else ()  # iterations that need no state run again where they are reversed
        reversal = self.replace(self.reversed_loop(ticks, kept, completed))
        insert(self.scope, place, self.before, self.sweep)
        return reversal

    @property
    def args(self) -> list[Value]:
        """The loop-carried values of the body that runs again."""
        return self.body.args[1:] if isinstance(self.primal, For) else self.body.args

    # ---------------------------------------------------------------- the ops of an iteration

    def find_needed(self) -> bool:
        """Find the state and the ops that compute it; False if the reverse reads only shapes of the iterations."""
        slots = {value: k for k, value in enumerate(self.args)}
        reads = [o for op in walk(self.inner.reverse) if not is_about_shape(op) for o in op.operands]
        reads += [o for block in blocks_in(self.inner.reverse) for o in block.yields]
        self.kept, self.slots = needed(self.inner, self.sweep, reads, slots)
        if not self.kept and not self.slots:
            return False
        self.kept, self.slots = needed(self.inner, self.sweep, read_in(self.inner.reverse), slots)
        refuse_unrepeatable(self.body, self.kept, "the loop runs again in the backward half", "call it before the loop, for all at once")
        for k in self.slots:
            if self.args[k] in self.sweep.ledger.unbound.sides:
                what = f"a loop that runs again in the backward half carries {self.args[k].name or 'a name'}, which may be unbound before"
                raise NoDerivative(what, self.primal.loc, f"give {self.args[k].name or 'it'} a value before the loop")
        return True

    def round_again(self, table: dict[Value, Operand]) -> tuple[list[Op], list[Operand]]:
        """A copy of the ops of one iteration, from one state to the next; ``table`` maps the block's arguments."""
        copy = clone_block(Block([], [op for op in self.body.ops if op in self.kept], [self.body.yields[k] for k in self.slots]), table)
        remove_ops(copy, effects_in(copy))
        return copy.ops, copy.yields

    # ---------------------------------------------------------------- the forward half

    def keep_in_forward_half(self, ticks: Ticks) -> tuple[Operand, ...]:
        """Let the loop take snapshots; return those left after the loop, and how many more fit."""
        primal, call = self.primal, self.sweep.builder.call
        type_ = Tape((INT, *(self.of_another_round(k) for k in self.slots)))
        with self.sweep.builder.inside(Block([], self.before)), self.sweep.builder.at(primal.loc):
            count = self.budget.count(self.sweep.builder, primal, [(primal.inits[k], self.args[k]) for k in self.slots])
            self.own_memory()
            tape = call("tape", hint="snapshots")
            if isinstance(primal, While):
                kept = call("push", tape, ZERO, *self.copies([primal.inits[k] for k in self.slots]), hint="snapshots")
                kept.type = type_
                return kept, Const(count.value - 1) if isinstance(count, Const) else call("subtract", count, ONE, hint="free")
        snapshots, kept = enter(primal, primal.body, tape, type_, "snapshots")
        free, left = enter(primal, primal.body, count, INT, "free")
        due, _ = enter(primal, primal.body, ticks.first, INT, "due")
        start = Block()
        with self.sweep.builder.inside(start), self.sweep.builder.at(primal.loc):
            tick = ticks.counted_in_forward_half()
            states = [primal.carried[k] for k in self.slots]
            ends = self.kept_if_due(tick, ticks.most, (snapshots, free, due), states)
            next_tick = ticks.next_in_forward_half(tick)
        primal.body.ops[:0] = start.ops
        for end in (*ends, *next_tick):
            leave(primal, primal.body, end)
        return kept, left

    def own_memory(self) -> None:
        """Give the loop its own copy of the memory that it writes to: the values before the loop stay unchanged."""
        for k in sorted(self.stored):
            init = self.primal.inits[k]
            self.primal.inits[k] = self.sweep.builder.call("copy", init, hint=init.name if isinstance(init, Value) else None)

    def copies(self, states: Sequence[Operand]) -> list[Operand]:
        """The state as a snapshot holds it: memory that iterations write to is copied."""
        call = self.sweep.builder.call
        return [
            call("copy", state, hint=getattr(state, "name", None)) if k in self.stored else state
            for k, state in zip(self.slots, states, strict=True)
        ]

    def kept_if_due(self, tick: Operand, stop: Operand, held: tuple[Value, Value, Value], states: Sequence[Operand]) -> list[Value]:
        """Take a snapshot if one is due before this iteration; return the snapshots, the room left and the next due iteration."""
        snapshots, free, due = held
        call = self.sweep.builder.call
        test = call("equal", tick, due)
        with self.sweep.builder.inside(Block()) as then:
            pushed = call("push", snapshots, tick, *self.copies(states), hint="snapshots")
            pushed.type = snapshots.type
            less = call("subtract", free, ONE, hint="free")
            then.yields = [pushed, less, call("next_snapshot", tick, stop, less, hint="due")]
        ends = [Value(pushed.type, "snapshots"), Value(INT, "free"), Value(INT, "due")]
        self.sweep.builder.append(If(list(ends), self.primal.loc, test, then, Block([], [], list(held))))
        return ends

    # ---------------------------------------------------------------- the backward half

    def reversed_loop(self, ticks: Ticks, kept: tuple[Operand, ...], completed: Completed) -> For:
        """The loop that visits the iterations last first, and runs each again before it is reversed.

        ``kept`` are the snapshots and the room left when the primal loop has ended.
        """
        builder, old, loc = self.sweep.builder, self.op, self.primal.loc
        tick = Value(INT, old.index.name or "round")
        (old_index, *cotangents), old.body.args = old.body.args, []
        held = [Value(value.type, name) for value, name in zip(kept, ("snapshots", "free"), strict=False)]
        body = Block([tick, *cotangents, *held])
        with builder.inside(body), builder.at(loc):
            ends, states = self.advanced(ticks, tick, *held) if held else ([], [])
            table: dict[Value, Operand] = {self.args[k]: state for k, state in zip(self.slots, states, strict=True)}
            index = ticks.index(tick)
        substitute(old.body, {old_index: tick if isinstance(self.primal, While) else self.primal_index})
        if isinstance(self.primal, For):
            table[self.primal_index] = index
        self.inner.parent, self.inner.position, self.inner.loop = None, 0, False
        drop_from(self.inner, {op for op in self.body.ops if op not in self.kept} | effects_in(self.body), self.sweep)
        self.body.yields = []
        whole = completed(Func(self.func.name, self.body, loc=loc, notes=self.func.notes), self.inner)
        round_ = Block([], whole.ops, list(self.inner.reverse.yields))
        substitute(round_, table)
        body.ops += round_.ops
        body.yields = [*round_.yields, *ends]
        outs = [*old.outs, *(Value(value.type, value.name) for value in held)]
        return For(outs, loc, ticks.first, ticks.end, ONE, [*old.inits, *kept], body, backward=True)

    @property
    def primal_index(self) -> Value:
        """The index of the body that runs again."""
        return self.body.args[0]

    def advanced(self, ticks: Ticks, tick: Value, snapshots: Value, free: Value) -> tuple[list[Value], list[Value]]:
        """The remaining snapshots and room, and the state before iteration ``tick``, recomputed from the last snapshot."""
        call = self.sweep.builder.call
        types = [self.args[k].type for k in self.slots]
        names = [self.args[k].name for k in self.slots]
        rest, start = Value(snapshots.type, "snapshots"), Value(INT, "start")
        saved = [Value(self.of_another_round(k), name) for k, name in zip(self.slots, names, strict=True)]
        self.sweep.builder.append(Call([rest, start, *saved], self.primal.loc, "pop", [snapshots], {}))
        again = call("less", start, tick)
        with self.sweep.builder.inside(Block()) as then:
            pushed = call("push", rest, start, *saved, hint="snapshots")
            pushed.type = rest.type
            then.yields = [pushed, free]
        with self.sweep.builder.inside(Block()) as orelse:
            orelse.yields = [rest, call("add", free, ONE, hint="free")]
        now, room = Value(snapshots.type, "snapshots"), Value(INT, "free")
        self.sweep.builder.append(If([now, room], self.primal.loc, again, then, orelse))
        stop = call("add", tick, ONE)
        due = call("next_snapshot", start, stop, room, hint="due")
        index = Value(INT, "earlier")
        carried = [Value(snapshots.type, "snapshots"), Value(INT, "free"), Value(INT, "due")]
        states = [Value(type_, name) for type_, name in zip(types, names, strict=True)]
        block = Block([index, *carried, *states])
        with self.sweep.builder.inside(block):
            ends = self.kept_if_due(index, stop, (carried[0], carried[1], carried[2]), list(states))
            table: dict[Value, Operand] = {self.args[k]: state for k, state in zip(self.slots, states, strict=True)}
            if isinstance(self.primal, For):
                table[self.primal_index] = ticks.index(index)
            ops, yields = self.round_again(table)
            block.ops += ops
            block.yields = [*ends, *yields]
        outs = [Value(value.type, value.name) for value in block.args[1:]]
        if self.symbols:
            retype(block, lambda type_: renamed(type_, self.symbols))
        self.sweep.builder.append(For(list(outs), self.primal.loc, start, tick, ONE, [now, room, due, *self.copies(list(saved))], block))
        return outs[:2], outs[3:]

    def symbols_of_rounds(self) -> dict[str, str]:
        """New symbols for the extents that belong to one iteration, where the state's shape changes between iterations."""
        changing = any(symbols_of(self.args[k].type) - symbols_of(self.primal.inits[k].type) for k in self.slots)
        own = {value for block in self.primal.blocks for value in definitions(block)} if changing else set()
        outside = {name for value in definitions(self.func.body) if value not in own for name in symbols_of(value.type)}
        inside = {name for value in own for name in symbols_of(value.type)}
        return {name: self.sweep.builder.symbol("k") for name in sorted(inside - outside)}

    def of_another_round(self, slot: int) -> Type:
        """The type of a loop-carried value in a snapshot: extents of one iteration get symbols of their own."""
        type_ = self.args[slot].type
        names = {name: self.sweep.builder.symbol("k") for name in sorted(symbols_of(type_) & self.symbols.keys())}
        return renamed(type_, names)

    def replace(self, loop: For) -> Func:
        """Replace the old reversed loop by a call; return the called function."""
        with self.sweep.builder.inside(Block()) as block, self.sweep.builder.at(self.primal.loc):
            if self.slots and self.is_in_loop():
                loop.inits[-2] = self.sweep.builder.call("copy", loop.inits[-2], hint="snapshots")
            if self.slots and isinstance(self.primal, While):
                loop.inits[-2] = self.without_first(loop.inits[-2], loop.stop)
        return outlined(self.sweep, self.scope, self.op, [*block.ops, loop], f"{self.func.name}_reverse")

    def without_first(self, snapshots: Operand, rounds: Operand) -> Value:
        """The snapshots, emptied for a loop that ran zero times: the snapshot before its first iteration is popped here."""
        assert isinstance(snapshots, Value)
        call = self.sweep.builder.call
        test = call("equal", rounds, ZERO)
        rest = Value(snapshots.type, "snapshots")
        states = [Value(self.args[k].type, self.args[k].name) for k in self.slots]
        pop = Call([rest, Value(INT, "start"), *states], self.primal.loc, "pop", [snapshots], {})
        left = Value(snapshots.type, "snapshots")
        self.sweep.builder.append(If([left], self.primal.loc, test, Block([], [pop], [rest]), Block([], [], [snapshots])))
        return left

    def is_in_loop(self) -> bool:
        """Whether the loop is inside another one, which saves its snapshots in turn."""
        scope: Scope | None = self.scope
        while scope is not None and not scope.loop:
            scope = scope.parent
        return scope is not None


@dataclass(slots=True)
class Ticks:
    """The counter of a loop's iterations: its index if that steps by one, else a count from zero.

    ``first`` and ``end`` bound the reversed iterations; ``most`` is the bound known before the loop.
    """

    rerun: Rerun
    first: Operand = ZERO
    most: Operand = ZERO
    end: Operand = ZERO
    start: Operand = ZERO  #: the index of iteration 0, where iterations are counted
    step: Operand | None = None

    def __post_init__(self) -> None:
        primal, reverse = self.rerun.primal, self.rerun.op
        if isinstance(primal, While):
            self.most = self.end = primal.outs[-1]
            return
        if isinstance(primal.step, Const) and primal.step.value == 1 and not primal.backward:
            self.first, self.most, self.end = primal.start, primal.stop, reverse.stop
            return
        call = self.rerun.sweep.builder.call
        with self.rerun.sweep.builder.inside(Block([], self.rerun.before)), self.rerun.sweep.builder.at(primal.loc):
            self.most = call("range_len", primal.start, primal.stop, primal.step, hint="rounds")
            self.start, self.step = primal.start, primal.step
            if primal.backward:
                last = call("multiply", call("subtract", self.most, ONE), primal.step)
                self.start, self.step = call("add", primal.start, last), call("negative", primal.step)
        self.end = primal.outs[-1] if primal.until else self.most

    def index(self, tick: Operand) -> Operand:
        """The loop index of an iteration."""
        call = self.rerun.sweep.builder.call
        return tick if self.step is None else call("add", self.start, call("multiply", tick, self.step))

    def counted_in_forward_half(self) -> Operand:
        """The iteration counter in the loop of the forward half; loop-carried unless it is the index."""
        primal = self.rerun.primal
        assert isinstance(primal, For)
        if self.step is None:
            return primal.index
        return enter(primal, primal.body, ZERO, INT, "round")[0]

    def next_in_forward_half(self, tick: Operand) -> list[Operand]:
        """The next counter that the loop of the forward half yields, if it carries one."""
        return [] if self.step is None else [self.rerun.sweep.builder.call("add", tick, ONE, hint="round")]


def is_about_shape(op: Op) -> bool:
    """Whether an op reads only the shape of its operand."""
    return isinstance(op, Call) and op.name in ("shape_of", "extent")


def blocks_in(block: Block) -> list[Block]:
    """A block and the blocks inside it."""
    return [block, *(inner for op in walk(block) for inner in op.blocks)]


__all__ = ["Checkpoints"]
