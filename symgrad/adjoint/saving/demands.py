"""Liveness for the reverse sweep: the primal values that the backward half reads, where and when."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from symgrad.adjoint.accumulate import Scope
from symgrad.adjoint.analysis.memory import Memory
from symgrad.ir.core import Block, Call, Func, If, Op, Operand, Value, substitute
from symgrad.ir.layout import Layout
from symgrad.ir.types import Array, same_shape
from symgrad.ir.unbound import Unbound

Demand = tuple[Scope, int]  #: the scope that reads a value, and the time within it


@dataclass(slots=True)
class Demands:
    """The reads. Times count backwards: op ``k`` of a block is reversed at time ``2k``, its store is undone just before.

    ``scopes``: the reversed block of each block; ``turns``: the primal op that each op of the backward half
    reverses.
    """

    func: Func
    layout: Layout
    memory: Memory
    scopes: dict[Block, Scope]
    turns: dict[Op, int]
    required: dict[Value, list[Demand]] = field(default_factory=dict)
    reversed_ops: dict[tuple[Block, int], Scope] = field(default_factory=dict)
    reversals: dict[Block, Scope] = field(default_factory=dict)
    shapes: dict[Value, Value] = field(default_factory=dict)  #: placeholders for shapes, and the arrays whose shapes they are
    unbound: Unbound = field(init=False)

    def __post_init__(self) -> None:
        self.unbound = Unbound.of(self.func.body)

    def of(self, top: Scope) -> Demands:
        """Record all reads in this scope and within it."""
        for scope in list(self.live(top)):
            self.reversals[scope.block] = scope
            self.shape_sources(scope)
            self.ask(scope)
        return self

    def alive(self, value: Value) -> bool:
        """Whether a primal value is live to the end of the forward half, unchanged."""
        return self.layout.static(self.layout.places[value][0]) and not self.memory.overwritten(value)

    def live(self, scope: Scope) -> Iterator[Scope]:
        """The scopes left after pruning."""
        yield scope
        for op in scope.reverse.ops:
            for inner in op.blocks:
                child = self.scopes[inner]
                child.op = op
                self.reversed_ops[scope.block, child.position] = child
                yield from self.live(child)

    def shape_sources(self, scope: Scope) -> None:
        """Let each ``shape_of`` read a live array of that shape, or else the saved shape itself."""
        table: dict[Value, Operand] = {}
        for op in list(scope.reverse.ops):
            if not isinstance(op, Call) or op.name != "shape_of" or op.args[0] not in self.layout.places:
                continue
            source = op.args[0]
            assert isinstance(source, Value)
            other = source if self.alive(source) else self.alike(source)
            if other is not None:
                op.args = [other]
            else:
                table[op.outs[0]] = self.shape(source, op)
                scope.reverse.ops.remove(op)
        substitute(scope.reverse, table)

    def alike(self, value: Value) -> Value | None:
        """A live value of the same shape."""
        if not isinstance(value.type, Array):
            return None
        for other in self.layout.places:
            if isinstance(other.type, Array) and same_shape(other.type.shape, value.type.shape) and self.alive(other):
                producer = self.layout.op_of(other)
                if self.layout.places[other][0] is self.func.body and not isinstance(producer, If) and other not in self.unbound.sides:
                    return other
        return None

    def shape(self, value: Value, op: Call) -> Value:
        """A placeholder for the shape of a value, defined where the value is."""
        for stand_in, source in self.shapes.items():
            if source is value:
                return stand_in
        stand_in = Value(op.outs[0].type, f"{value.name}_shape" if value.name else "shape")
        self.shapes[stand_in] = value
        self.layout.places[stand_in] = self.layout.places[value]
        self.layout.order[stand_in] = self.layout.order[value] + 0.5
        return stand_in

    def ask(self, scope: Scope) -> None:
        """Record the primal values that a reversed block reads."""
        for op in scope.reverse.ops:
            for value in op.operands:
                time = 2 * self.turns[op] + (0 if isinstance(op, Call) else 1)
                self.add(value, scope, time)
        for value in scope.reverse.yields:
            self.add(value, scope, -2)

    def add(self, value: Operand, scope: Scope, time: int) -> None:
        """Record one read."""
        if isinstance(value, Value) and value in self.layout.places:
            self.required.setdefault(value, []).append((scope, time))
