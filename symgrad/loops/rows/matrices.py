"""Matrices passed whole to library routines: as memory, transposed if stored that way."""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.ir.core import Block, Call, Operand, Value, key_of
from symgrad.ir.types import INT
from symgrad.loops.context import Context
from symgrad.loops.forms import Form, view_of_form
from symgrad.loops.rows.reductions import innermost


def transposed(form: Form) -> Form:
    return view_of_form(form, form.extents[::-1], lambda index: index[::-1])


def as_matrix(lowering: Context, form: Form) -> Value:
    """A matrix as memory, transposed if it is stored that way."""
    writer = lowering.writer
    row, column = Value(INT), Value(INT)
    trial = Block()
    with writer.inside(trial):
        element = form.at((row, column))
    ops = [o for o in trial.ops if isinstance(o, Call)]
    if len(ops) == len(trial.ops) == 1 and ops[0].name == "take" and ops[0].outs[0] is element:
        handle, *index = ops[0].args
        assert isinstance(handle, Value)
        last = index[-2:]
        lead = index[:-2]
        straight = last in ([row, column], [column, row]) and not any(i in (row, column) for i in lead)
        if straight and fills(lowering, form, handle, last[0] is column):
            matrix = writer.call("view", handle, *lead, index="i" * len(lead)) if lead else handle
            return writer.call("view", matrix, index=".T") if last[0] is column else matrix
    turned = innermost(lowering, form) == 0
    view = transposed(form) if turned else view_of_form(form, form.extents, lambda i: i)
    memory = lowering.give_memory(view, None, "%matrix").memory
    assert memory is not None
    return writer.call("view", memory, index=".T") if turned else memory


def fills(lowering: Context, form: Form, handle: Value, turned: bool) -> bool:
    """Whether a matrix fills the last two axes of the memory that it is read from."""
    same = lowering.writer.same
    own = [key_of(same(e)) for e in (form.extents[::-1] if turned else form.extents)]
    return any(handle in (r.memory, *r.cells) and [key_of(same(e)) for e in r.extents[-2:]] == own for r in form.roots())


def bases(lowering: Context, matrices: Sequence[Operand]) -> list[Operand]:
    """The bases of matrices that are views."""
    arrays: list[Operand] = []
    for matrix in matrices:
        maker = lowering.writer.maker.get(matrix) if isinstance(matrix, Value) else None
        if maker is not None and maker.name == "view":
            arrays += [maker.args[0], *bases(lowering, maker.args[:1])]
    return arrays
