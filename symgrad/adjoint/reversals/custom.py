"""Expands ``custom_vjp`` in a gradient: the user's backward function, as IR, replaces ``custom_backward``.

The result is ordinary IR, so a second derivative differentiates what forward and backward compute. Derivatives
of solutions of equations are expanded likewise (``solutions.py``), but the solutions stay, so that a second
derivative uses the first derivative's rule again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from symgrad.ir.core import Apply, Block, Call, Const, Func, Op, Operand, Value, clone, clone_block, substitute, walk
from symgrad.ops.build import symbols
from symgrad.ops.rows.implicit import PULLED_BACK

NAMES = frozenset({"custom", "held", "custom_backward"}) | PULLED_BACK

#: functions that expand derivatives of solutions, by row name; ``solutions.py``, which takes derivatives itself, registers them
WRITERS: dict[str, Callable[[Call, list[int], set[str]], Func]] = {}


def expanded(func: Func, taken: set[str] | None = None) -> Func:
    """Expand the rows of ``ops/rows/custom.py``, in place; called functions are replaced by expanded copies.

    ``taken`` are extent symbols with another meaning where the result is inserted; new symbols are added to it.
    """
    copies = {func: func}
    pending = [func]
    while pending:
        for callee in callees(pending.pop()):
            if callee not in copies:
                copies[callee] = clone(callee)
                pending.append(callee)
    if not any(isinstance(op, Call) and op.name in NAMES for one in copies for op in walk(one.body)):
        return func
    taken = set() if taken is None else taken
    for copy in copies.values():
        taken |= symbols(copy)
    for copy in copies.values():
        table: dict[Value, Operand] = {}
        copy.split = expand(copy.body, table, taken, copy.split)
        substitute(copy.body, table)
        for op in walk(copy.body):
            if isinstance(op, Apply) and op.func is not None:
                op.func = copies.get(op.func, op.func)
    return func


def callees(func: Func) -> list[Func]:
    """The functions that a function calls, including those called by the user's backward functions."""
    direct = [op.func for op in walk(func.body) if isinstance(op, Apply) and op.func is not None]
    inner = [op.settings["func"] for op in walk(func.body) if isinstance(op, Call) and op.name == "custom_backward"]
    return [*direct, *(callee for one in inner for callee in callees(one))]


def expand(block: Block, table: dict[Value, Operand], taken: set[str], split: int | None = None) -> int | None:
    """Expand these rows in a block and the blocks inside it; ``table`` maps their results to the operands that replace them."""
    ops: list[Op] = []
    place = split
    implicit = Implicit(block)
    for number, op in enumerate(block.ops):
        if number == split:
            place = len(ops)
        for inner in op.blocks:
            expand(inner, table, taken)
        if not (isinstance(op, Call) and op.name in NAMES):
            ops.append(op)
        elif op.name in PULLED_BACK:
            ops += implicit.written_out(op, table, taken)
        elif op.name == "custom_backward":
            body: Func = op.settings["func"]
            copy = clone_block(body.body, {})
            actives = op.settings["actives"]
            table.update(zip(copy.args, [op.args[0], *op.args[1 + actives :]], strict=True))
            table[op.outs[0]] = copy.yields[op.settings["position"]]
            ops += copy.ops
        else:
            table[op.outs[0]] = op.args[0]
    if split is not None and split >= len(block.ops):
        place = len(ops)
    block.ops = ops
    return place


class Implicit:
    """The derivatives of solutions of equations in one block; those of one solution are expanded together."""

    def __init__(self, block: Block) -> None:
        self.together: dict[Hashable, list[Call]] = {}
        for op in block.ops:
            if isinstance(op, Call) and op.name in PULLED_BACK:
                self.together.setdefault(self.key(op), []).append(op)

    @staticmethod
    def key(op: Call) -> Hashable:
        """A key that is equal for derivatives of one solution with one cotangent."""
        return op.settings["func"], tuple(a.key() if isinstance(a, Const) else a for a in op.args)

    def written_out(self, op: Call, table: dict[Value, Operand], taken: set[str]) -> list[Op]:
        """The ops that replace this op and all others with its key; none if they have been expanded already."""
        group = self.together.pop(self.key(op), [])
        if not group:
            return []
        positions = list(dict.fromkeys(one.settings["position"] for one in group))
        pullback = expanded(WRITERS[op.name](op, positions, taken), taken)
        copy = clone_block(pullback.body, {})
        table.update(zip(copy.args, op.args, strict=True))
        table.update((one.outs[0], copy.yields[positions.index(one.settings["position"])]) for one in group)
        return copy.ops
