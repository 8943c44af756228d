"""Definedness at run time in the adjoint: whether a name is bound; an unbound name is saved as None.

A bool accompanies the name where a branch or loop decides it; the branch's own test serves where it is
equivalent.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from symgrad.ir.core import FALSE, NONE, TRUE, Block, Call, For, If, Op, Operand, Value, While
from symgrad.ir.layout import Layout, enter, leave
from symgrad.ir.types import BOOL
from symgrad.ir.unbound import Unbound, is_undefined
from symgrad.location import Loc


@dataclass(slots=True)
class Presence:
    """The bools created so far; each is a result of the op that defines its value."""

    unbound: Unbound
    layout: Layout
    after: dict[tuple[Block, int], list[Op]]  #: ops to insert after the ops of blocks
    flags: dict[Value, Operand] = field(default_factory=dict)

    def of(self, operand: Operand) -> Operand:
        """The bool that is true where the value is bound."""
        if not isinstance(operand, Value) or operand not in self.unbound.sides:
            return FALSE if is_undefined(operand) else TRUE
        if operand not in self.flags:
            block, index = self.layout.places[operand]
            op = block.ops[index] if index >= 0 else self.layout.owners[block][2]
            if isinstance(op, Call):
                self.flags[operand] = self.taken_off(operand, op, (block, index))
            elif isinstance(op, If):
                self.flags[operand] = self.branch(op, op.outs.index(operand))
            else:
                assert isinstance(op, For | While)
                self.loop(op, (op.outs if index >= 0 else op.carried).index(operand))
        return self.flags[operand]

    def taken_off(self, value: Value, op: Call, place: tuple[Block, int]) -> Value:
        """The bool of a popped value: None was pushed where it was unbound."""
        test = Call([Value(BOOL, f"{value.name or 'value'}_bound")], op.loc, "is_not", [value, NONE], {})
        self.after.setdefault(place, []).append(test)
        return test.outs[0]

    def branch(self, op: If, k: int) -> Operand:
        """The bool of one branch result."""
        sides = [self.of(block.yields[k]) for block in op.blocks]
        if sides[0] is TRUE and sides[1] is FALSE and op.test.type == BOOL:
            return op.test
        out = Value(BOOL, f"{op.outs[k].name or 'value'}_bound")
        op.outs.append(out)
        for block, side in zip(op.blocks, sides, strict=True):
            block.yields.append(side)
        return out

    def loop(self, op: For | While, k: int) -> None:
        """The bools of one loop slot."""
        inside, out = enter(op, op.body, self.of(op.inits[k]), BOOL, f"{op.carried[k].name or 'value'}_bound")
        self.flags[op.carried[k]], self.flags[op.outs[k]] = inside, out
        if isinstance(op, While):
            self.flags[op.test.args[k]] = op.test.args[-1]
        place = len(op.body.yields) - op.until
        leave(op, op.body, TRUE)  # reserves its place among the slots before other bools of the loop are requested
        op.body.yields[place] = self.of(op.body.yields[k])

    def guarded(self, value: Value, ops: list[Op]) -> If | None:
        """A branch that applies ``ops`` to a bound value and else yields None. Returns None where the value itself already is None."""
        if not ops and isinstance(self.layout.op_of(value), Call):
            return None
        saved = ops[-1].outs[0] if ops else value
        return If([Value(saved.type, saved.name)], self.loc(value), self.of(value), Block([], ops, [saved]), Block([], [], [NONE]))

    def loc(self, value: Value) -> Loc:
        """The location of a possibly unbound value."""
        block, index = self.layout.places[value]
        return (block.ops[index] if index >= 0 else self.layout.owners[block][2]).loc


__all__ = ["Presence"]
