"""Liveness on the structured program: when the variable of each value is in use."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from symgrad.codegen.layout import Layout
from symgrad.ir.core import Block, For, Func, If, Op, Operand, Value, While

#: a half-open time interval; time runs backwards from 0
Stretch = tuple[int, int]


@dataclass(slots=True)
class Lifetimes:
    """Walks a function from its end to its start and records the live range of each value."""

    layout: Layout
    stretches: dict[Value, list[Stretch]] = field(default_factory=dict)
    live: dict[Value, int] = field(default_factory=dict)
    outer: dict[Op, dict[Value, None]] = field(default_factory=dict)
    log: list[Value] = field(default_factory=list)  #: values in the order in which they became live
    clock: int = 0

    def tick(self) -> int:
        self.clock -= 1
        return self.clock

    def add(self, value: Value, start: int, end: int) -> None:
        """Record an interval, merged with an adjacent later one."""
        known = self.stretches.setdefault(value, [])
        if known and known[-1][0] <= end:
            start, end = min(start, known[-1][0]), max(end, known.pop()[1])
        known.append((start, end))

    def read(self, operands: list[Operand], time: int) -> None:
        """Record that the operands are evaluated at ``time``."""
        for value in self.layout.leaves(operands):
            self.need(value, time)

    def need(self, value: Value, time: int) -> None:
        """Record that the value is live up to ``time``, if not longer."""
        if value not in self.live:
            self.live[value] = time
            self.log.append(value)

    def define(self, targets: Iterable[Value], time: int) -> None:
        """Record that the values are assigned at ``time``."""
        for value in targets:
            self.add(value, time, max(self.live.pop(value, time + 1), time + 1))

    def function(self, func: Func, kept: Iterable[Value] = ()) -> None:
        """Walk a whole function; ``kept`` parameters are live to its end."""
        end = self.tick()
        self.read(func.body.yields, end)
        self.read([*kept], end)
        self.define(self.layout.popped(func.body.yields), end)
        self.ops(func.body)
        self.define(func.params, self.tick())

    def ops(self, block: Block) -> None:
        """Walk the ops of a block, last first."""
        for op in reversed(block.ops):
            if not self.layout.is_root(op):
                continue
            match op:
                case If() if op not in self.layout.choices:
                    self.walk_if(op)
                case For():
                    self.walk_for(op)
                case While():
                    self.walk_while(op)
                case _:
                    time = self.tick()
                    self.define(op.outs, time)
                    self.define(self.layout.popped(self.layout.inputs(op)), time)
                    self.read(self.layout.inputs(op), time)

    def walk_if(self, op: If) -> None:
        """Both branches end by assigning the results; a value may be live in one branch only."""
        join = self.tick()
        self.define(op.outs, join)
        merged: dict[Value, None] = {}
        first, end = len(self.log), join
        for block in (op.orelse, op.then):
            for out in op.outs:
                self.add(out, end - 1, end)
            for value in merged:
                del self.live[value]  # live in the other branch only
            self.clock = end - 1
            self.read(block.yields, self.clock)
            self.ops(block)
            end = self.tick()
            # values live after the branches are live through both, and are not in the log
            for value in dict.fromkeys(self.log[first:]):
                if value in self.live:
                    self.add(value, end, self.live[value])
                    merged[value] = None
            del self.log[first:]
            for value in merged:
                self.live[value] = end
        time = self.tick()
        for value in merged:
            self.live[value] = end
        self.log += merged
        self.define(self.layout.popped([op.test]), time)
        self.read([op.test], time)

    def around(self, op: Op, time: int) -> None:
        """Keep values live through a loop that are live after it, or read in it and defined outside."""
        for value in self.outside(op):
            self.need(value, time)

    def outside(self, op: Op) -> dict[Value, None]:
        """The variables read in a loop and defined outside of it."""
        if op not in self.outer:
            read: dict[Value, None] = {}
            inner: set[Value] = set()
            for block in op.blocks:
                inner.update(block.args)
                read |= dict.fromkeys(self.layout.leaves(block.yields))
                for child in block.ops:
                    inner.update(child.outs)
                    if self.layout.is_root(child):
                        read |= dict.fromkeys(self.layout.leaves(self.layout.inputs(child)))
                    if child.blocks:
                        read |= self.outside(child)
            self.outer[op] = {value: None for value in read if value not in inner}
        return self.outer[op]

    def body(self, op: For | While) -> tuple[int, int]:
        """Walk from behind a loop through its body; return the times of its exit and of the body's start."""
        exit_ = self.tick()
        self.define(op.outs, exit_)
        self.around(op, exit_)
        end = self.tick()
        self.read(op.body.yields, end)
        self.define(self.layout.popped(op.body.yields), end)
        self.ops(op.body)
        start = self.tick()
        self.define(op.body.args, start)
        return exit_, start

    def walk_for(self, op: For) -> None:
        """In program order: carried variables are set, bounds are read, then the body runs."""
        exit_, start = self.body(op)
        bounds = self.tick()
        self.define(self.layout.popped([op.start, op.stop, op.step]), bounds)
        self.read([op.start, op.stop, op.step], bounds)
        self.enter(op.carried, op.inits, start)
        if op.until and self.layout.count.get(op.outs[-1]):
            self.add_early(op.outs[-1], self.clock, exit_)

    def walk_while(self, op: While) -> None:
        """Carried variables are live through the test into the body."""
        exit_, start = self.body(op)
        self.around(op, start)
        tested = self.tick()
        self.read(op.test.yields, tested)
        self.define(self.layout.popped(op.test.yields), tested)
        self.ops(op.test)
        first = self.tick()
        self.define(op.test.args, first)
        for argument in op.carried:
            self.add_early(argument, first, start)
        self.enter(op.carried, op.inits, start)
        if self.layout.count.get(op.outs[-1]):
            self.add_early(op.outs[-1], self.clock, exit_)

    def enter(self, carried: list[Value], inits: list[Operand], start: int) -> None:
        """Carried variables are assigned before the loop and live to its body."""
        time = self.tick()
        for argument in carried:
            self.add_early(argument, time, start)
        self.define(self.layout.popped(inits), time)
        self.read(inits, time)

    def add_early(self, value: Value, start: int, end: int) -> None:
        """Record an interval that may overlap recorded ones."""
        known = sorted([*self.stretches.get(value, []), (start, end)], reverse=True)
        self.stretches[value] = []
        for stretch in known:
            self.add(value, *stretch)
