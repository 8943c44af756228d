"""Removes the copies that were made in case a cotangent is written to, where in the end nobody writes."""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.adjoint.memory import Layout, Memory
from symgrad.ir.core import Block, Call, Func, Operand, Value, substitute


def share(block: Block, copies: Sequence[Value]) -> None:
    """Replace, in place, each of ``copies`` that may as well be its source."""
    func = Func("", block)
    layout = Layout()
    layout.enter(block)
    for copy in copies:
        if copy not in layout.places:
            continue
        op = layout.op_of(copy)
        assert isinstance(op, Call)
        memory = Memory.of(func, layout)
        source = op.args[0]
        written = {memory.find(v) for v in block.yields if isinstance(v, Value)} | set(memory.stores)
        if isinstance(source, Value) and source in layout.places and not {memory.find(copy), memory.find(source)} & written:
            table: dict[Value, Operand] = {copy: source}
            substitute(block, table)
            layout.places[copy][0].ops.remove(op)
            layout = Layout()
            layout.enter(block)
