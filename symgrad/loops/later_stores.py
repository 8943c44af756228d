"""Finds stores to arrays that may run after a view is created: without any, a list may hold the view without a copy."""

from __future__ import annotations

from symgrad.ir.core import Block, Call, For, Func, Op, Operand, Value, While
from symgrad.ir.types import Array
from symgrad.ops.declare import ROWS
from symgrad.passes.facts import Facts

Place = tuple[int, frozenset[Op]]  #: the number of an op in order of evaluation, and the loops around it


class LaterStores:
    """The stores to the arrays of a function, by the memory that they change."""

    def __init__(self, func: Func, facts: Facts) -> None:
        self.facts = facts
        self.places: dict[Op, Place] = {}
        self.stores: dict[object, list[Place]] = {}
        self.enter(func.body, frozenset())

    def enter(self, block: Block, loops: frozenset[Op]) -> None:
        """Number the ops of a block, and record its stores."""
        for op in block.ops:
            place = self.places[op] = (len(self.places), loops)
            first = op.args[0] if isinstance(op, Call) and ROWS[op.name].consumes else None
            if isinstance(first, Value) and isinstance(first.type, Array):
                self.stores.setdefault(self.facts.find((first, False)), []).append(place)
            for inner in op.blocks:
                self.enter(inner, loops | {op} if isinstance(op, For | While) else loops)

    def behind(self, value: Operand, listed: bool = False) -> bool:
        """Whether a store to the memory of a value may run after its definition, or in another iteration of a loop around both.

        ``listed``: stores to the contents of a list. True for a value without a defining op, such as a
        loop-carried one, if there are stores at all.
        """
        if not isinstance(value, Value):
            return False
        stores = self.stores.get(self.facts.find((value, listed)), ())
        maker = self.facts.maker.get(value)
        if not stores or maker is None or maker not in self.places:
            return bool(stores)
        number, loops = self.places[maker]
        return any(later > number or around & loops for later, around in stores)


__all__ = ["LaterStores"]
