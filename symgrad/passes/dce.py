"""Dead-code elimination: removes unneeded ops, loop-carried values and branch results. Works in place.

Needed are the function's results, the operands of ops with a side effect, and everything that these are
computed from. A loop-carried value that only feeds itself is dead, and so is a chain of stores whose last
version nothing reads. An op that may raise is removed too: where the exception is part of the user's function,
``observed`` has given it a reader.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeGuard

from symgrad.ir.core import Apply, Block, Call, For, Func, If, Op, Operand, Value, While, walk
from symgrad.ops.declare import ROWS


def dce(func: Func) -> Func:
    """Remove dead code from the function, in place, in time linear in its size."""
    marks = Marks(func)
    marks.run()
    if func.split is not None:
        func.split = sum(op in marks.kept for op in func.body.ops[: func.split])
    marks.sweep(func.body)
    return func


def has_effect(op: Op, running: frozenset[Func] = frozenset()) -> bool:
    """Whether the op itself (not the ops in its blocks) must run even if nothing reads its results."""
    if isinstance(op, Call):
        row = ROWS[op.name]
        return row.effect or (row.statement and not op.outs)
    if isinstance(op, Apply) and op.func is not None and op.func not in running:
        return any(has_effect(inner, running | {op.func}) for inner in walk(op.func.body))
    return False


def is_reader(op: Op) -> TypeGuard[Call]:
    """Whether the op only keeps its operand from being removed."""
    return isinstance(op, Call) and op.name == "evaluated"


@dataclass
class Marks:
    """The values and ops needed so far, and the definition of each value."""

    func: Func
    given_by: dict[Value, tuple[Op, int]] = field(default_factory=dict)
    carried_by: dict[Value, tuple[For | While, int]] = field(default_factory=dict)
    parent: dict[Op, Op | None] = field(default_factory=dict)
    kept: set[Op] = field(default_factory=set)
    live: set[Value] = field(default_factory=set)
    slots: set[tuple[Op, int]] = field(default_factory=set)
    todo: list[Value] = field(default_factory=list)
    readers: list[tuple[Call, Block]] = field(default_factory=list)  #: every ``evaluated``, and its block

    def run(self) -> None:
        self.enter(self.func.body, None)
        for op in list(self.parent):
            if has_effect(op) and not is_reader(op):
                self.keep(op)
        self.need(self.func.body.yields)
        self.settle()
        self.keep_readers()

    def keep_readers(self) -> None:
        """Keep each ``evaluated`` unless another kept op in its block reads the same value."""
        beside: dict[Block, set[Operand]] = {}
        for reader, block in self.readers:
            if block not in beside:
                beside[block] = {operand for op in block.ops if op in self.kept for operand in op.operands}
            if reader.args[0] not in beside[block]:
                beside[block].add(reader.args[0])
                self.keep(reader)
                self.settle()

    def also(self, op: Op, parent: Op | None) -> None:
        """Mark one more op with a side effect, inside ``parent``."""
        self.parent[op] = parent
        self.keep(op)
        self.settle()

    def settle(self) -> None:
        """Propagate from needed values to the operands that they are computed from."""
        while self.todo:
            self.follow(self.todo.pop())

    def enter(self, block: Block, parent: Op | None) -> None:
        """Record the definitions in a block."""
        for op in block.ops:
            self.parent[op] = parent
            if is_reader(op):
                self.readers.append((op, block))
            for k, out in enumerate(op.outs):
                self.given_by[out] = (op, k)
            if isinstance(op, For):
                self.carried_by.update({a: (op, k) for k, a in enumerate(op.carried)})
            if isinstance(op, While):
                for arguments in (op.test.args, op.body.args):
                    self.carried_by.update({a: (op, k) for k, a in enumerate(arguments)})
            for inner in op.blocks:
                self.enter(inner, op)

    def need(self, operands: list[Operand]) -> None:
        for operand in operands:
            if isinstance(operand, Value) and operand not in self.live:
                self.live.add(operand)
                self.todo.append(operand)

    def keep(self, op: Op | None) -> None:
        """Mark an op that runs, and the operands that decide whether it runs."""
        while op is not None and op not in self.kept:
            self.kept.add(op)
            match op:
                case For():
                    self.need([op.start, op.stop, op.step])
                case While():
                    self.need(op.test.yields)
                case _:
                    self.need(op.operands)
            if isinstance(op, For | While) and op.until:
                self.need(op.body.yields[-1:])
            op = self.parent[op]

    def follow(self, value: Value) -> None:
        if value in self.carried_by:
            self.slot(*self.carried_by[value])
        if value not in self.given_by:
            return
        op, k = self.given_by[value]
        self.keep(op)
        if isinstance(op, For | While) and k < len(op.inits):
            self.slot(op, k)
        elif isinstance(op, If):
            self.need([block.yields[k] for block in op.blocks])

    def slot(self, op: For | While, k: int) -> None:
        if (op, k) not in self.slots:
            self.slots.add((op, k))
            self.need([op.inits[k], op.body.yields[k]])

    # -------------------------------------------------------------- removal

    def sweep(self, block: Block) -> None:
        block.ops = [op for op in block.ops if op in self.kept]
        for op in block.ops:
            match op:
                case For() | While():
                    self.sweep_loop(op)
                case If():
                    keep = [k for k, out in enumerate(op.outs) if out in self.live]
                    op.outs = [op.outs[k] for k in keep]
                    for inner in op.blocks:
                        inner.yields = [inner.yields[k] for k in keep]
            for inner in op.blocks:
                self.sweep(inner)

    def sweep_loop(self, op: For | While) -> None:
        carried = len(op.inits)
        keep = [k for k in range(carried) if (op, k) in self.slots]
        op.outs = [op.outs[k] for k in keep] + op.outs[carried:]
        op.body.yields = [op.body.yields[k] for k in keep] + op.body.yields[carried:]
        op.inits = [op.inits[k] for k in keep]
        if isinstance(op, For):
            op.body.args = [op.index, *(op.carried[k] for k in keep)]
        else:
            op.test.args = [op.test.args[k] for k in keep]
            op.body.args = [op.body.args[k] for k in keep]


__all__ = ["Marks", "dce", "has_effect"]
