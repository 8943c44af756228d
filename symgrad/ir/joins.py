"""Join points (phis): the values after branches and at the head and end of loops, with their incoming operands."""

from __future__ import annotations

from collections.abc import Iterator

from symgrad.ir.core import For, If, Op, Operand, Value, While

#: the incoming operand of one path, as a list of the op and an index
Entry = tuple[list[Operand], int]


def entries(op: Op) -> Iterator[tuple[Value, list[Entry]]]:
    """Each value defined at a join, with the positions of its operands."""
    match op:
        case If():
            for k, out in enumerate(op.outs):
                yield out, [(op.then.yields, k), (op.orelse.yields, k)]
        case For() | While():
            tested = op.test.args if isinstance(op, While) else op.carried
            for k, (test, slot, out) in enumerate(zip(tested, op.carried, op.outs, strict=False)):
                for value in dict.fromkeys((test, slot, out)):
                    yield value, [(op.inits, k), (op.body.yields, k)]


def joins(op: Op) -> Iterator[tuple[Value, list[Operand]]]:
    """Each value defined at a join, with its operands."""
    for value, places in entries(op):
        yield value, [operands[place] for operands, place in places]


__all__ = ["Entry", "entries", "joins"]
