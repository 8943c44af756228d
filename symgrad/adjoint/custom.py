"""Takes ``custom_vjp`` out of a gradient: the user's backward function, as IR, takes the place of ``custom_backward``.

What is left is ordinary, so a second derivative is that of what forward and backward compute.
"""

from __future__ import annotations

from symgrad.ir.core import Block, Call, Func, Op, Operand, Value, clone_block, substitute, walk

NAMES = frozenset({"custom", "held", "custom_backward"})


def expanded(func: Func) -> Func:
    """The function without the rows of ``ops/custom.py``; changed in place."""
    if not any(isinstance(op, Call) and op.name in NAMES for op in walk(func.body)):
        return func
    table: dict[Value, Operand] = {}
    split = expand(func.body, table, func.split)
    substitute(func.body, table)
    func.split = split
    return func


def expand(block: Block, table: dict[Value, Operand], split: int | None = None) -> int | None:
    """Replace the rows in a block and those inside it; ``table`` gets what stands for their results."""
    made: list[Op] = []
    place = split
    for number, op in enumerate(block.ops):
        if number == split:
            place = len(made)
        for inner in op.blocks:
            expand(inner, table)
        if not (isinstance(op, Call) and op.name in NAMES):
            made.append(op)
        elif op.name == "custom_backward":
            body: Func = op.settings["func"]
            copy = clone_block(body.body, {})
            actives = op.settings["actives"]
            table.update(zip(copy.args, [op.args[0], *op.args[1 + actives :]], strict=True))
            table[op.outs[0]] = copy.yields[op.settings["position"]]
            made += copy.ops
        else:
            table[op.outs[0]] = op.args[0]
    if split is not None and split >= len(block.ops):
        place = len(made)
    block.ops = made
    return place
