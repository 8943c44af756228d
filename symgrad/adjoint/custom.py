"""Takes ``custom_vjp`` out of a gradient: the user's backward function, as IR, takes the place of ``custom_backward``.

What is left is ordinary, so a second derivative is that of what forward and backward compute.
"""

from __future__ import annotations

from symgrad.ir.core import Apply, Block, Call, Func, Op, Operand, Value, clone, clone_block, substitute, walk

NAMES = frozenset({"custom", "held", "custom_backward"})


def expanded(func: Func) -> Func:
    """The function without the rows of ``ops/custom.py``, changed in place; the functions it calls become copies without them."""
    copies = {func: func}
    pending = [func]
    while pending:
        for callee in callees(pending.pop()):
            if callee not in copies:
                copies[callee] = clone(callee)
                pending.append(callee)
    if not any(isinstance(op, Call) and op.name in NAMES for one in copies for op in walk(one.body)):
        return func
    for copy in copies.values():
        table: dict[Value, Operand] = {}
        copy.split = expand(copy.body, table, copy.split)
        substitute(copy.body, table)
        for op in walk(copy.body):
            if isinstance(op, Apply) and op.func is not None:
                op.func = copies.get(op.func, op.func)
    return func


def callees(func: Func) -> list[Func]:
    """The functions that a function calls, including those that a backward function of the user's calls."""
    direct = [op.func for op in walk(func.body) if isinstance(op, Apply) and op.func is not None]
    inner = [op.settings["func"] for op in walk(func.body) if isinstance(op, Call) and op.name == "custom_backward"]
    return [*direct, *(callee for one in inner for callee in callees(one))]


def expand(block: Block, table: dict[Value, Operand], split: int | None = None) -> int | None:
    """Replace the calls of the rows in a block and in those inside it; ``table`` maps their results to the operands that replace them."""
    ops: list[Op] = []
    place = split
    for number, op in enumerate(block.ops):
        if number == split:
            place = len(ops)
        for inner in op.blocks:
            expand(inner, table)
        if not (isinstance(op, Call) and op.name in NAMES):
            ops.append(op)
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
