"""The number of snapshots of a checkpointed loop: as requested, or as many as fit into memory, from the shapes at run time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from symgrad.errors import NoDerivative
from symgrad.ir.core import Apply, Block, Const, For, Func, If, Operand, Value, While, walk
from symgrad.ir.types import Array, Scalar, Type, same_shape
from symgrad.location import Loc
from symgrad.ops.build import Builder

#: bytes of one element by dtype
WIDTHS = {"f16": 2, "f32": 4, "f64": 8, "c64": 8, "c128": 16, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "bool": 1}
#: bytes of a number, or of an array without its elements, including its entry in a tuple
OBJECT = 128


@dataclass(slots=True)
class Budget:
    """Snapshot counts by loop location. With ``memory``, in bytes, every outermost loop keeps snapshots.

    ``loops``: how many loops share the memory.
    """

    counts: Mapping[Loc, int] = field(default_factory=dict)
    memory: int | None = None
    loops: int = 1

    def divide(self, func: Func) -> None:
        """Count the loops of a function that share the memory."""
        if self.memory is None:
            return
        call = next((op for op in walk(func.body) if isinstance(op, Apply)), None)
        if call is not None:
            what = "memory= cannot be divided among the calls of a function that calls itself"
            raise NoDerivative(what, call.loc, 'name its loops: checkpoints={"t": 10}')
        self.loops = max(1, loops_side_by_side(func.body))

    def covers(self, loc: Loc, is_outermost: bool) -> bool:
        """Whether a loop keeps snapshots."""
        return loc in self.counts or self.memory is not None and is_outermost

    def spoken(self, loc: Loc) -> str:
        """The number of snapshots of a loop, in words."""
        count = self.counts.get(loc)
        if count is None:
            return f"as many snapshots are kept as fit into {self.memory} bytes, divided by {self.loops}"
        return f"{count} snapshot{'s are' if count > 1 else ' is'} kept"

    def count(self, builder: Builder, loop: For | While, states: Sequence[tuple[Operand, Value]]) -> Operand:
        """Emit the number of snapshots of a loop; ``states`` pairs each initial value with its loop-carried slot."""
        if loop.loc in self.counts:
            return Const(self.counts[loop.loc])
        assert self.memory is not None
        size: Operand = Const(OBJECT * (1 + len(states)))
        for init, slot in states:
            if isinstance(slot.type, Array):
                width = width_of(init.type, slot, loop)
                size = builder.call("add", size, builder.call("multiply", builder.call("size", init), Const(width)), hint="size")
            elif not isinstance(slot.type, Scalar):
                raise unmeasured(slot, "a list or an object, whose size is not known", loop.loc)
        return builder.call("snapshots_within", Const(self.memory), Const(self.loops), size, hint="count")


def width_of(begun: Type, slot: Value, loop: For | While) -> int:
    """The element size in bytes of a loop-carried array; raises NoDerivative where its size changes between iterations."""
    assert isinstance(slot.type, Array)
    same = isinstance(begun, Array) and None not in (begun.shape, slot.type.shape) and same_shape(begun.shape, slot.type.shape)
    if not same or slot.type.dtype not in WIDTHS:
        raise unmeasured(slot, "an array whose size may change between iterations", loop.loc)
    return WIDTHS[slot.type.dtype]


def unmeasured(slot: Value, what: str, loc: Loc) -> NoDerivative:
    """The refusal of a loop-carried value of unknown size."""
    return NoDerivative(
        f"the loop carries {slot.name or 'a value'}, {what}, so memory= cannot determine the number of snapshots",
        loc,
        'give the number of snapshots: checkpoints={"t": 10}',
    )


def loops_side_by_side(block: Block) -> int:
    """An upper bound of the loops that keep snapshots at the same time: a loop counts as its inner loops, which may keep them instead."""
    count = 0
    for op in block.ops:
        inside = sum(loops_side_by_side(inner) for inner in op.blocks)
        count += max(1, inside) if isinstance(op, For | While) else inside if isinstance(op, If) else 0
    return count


__all__ = ["Budget"]
