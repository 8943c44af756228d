"""Coalesced finiteness checks: tests a sum instead of each of its terms. Works in place.

for k: total = plus(total, t * t)                      for k: total = plus(total, t * t)
       unsure = plus(unsure, t * 0.0)           ->     unsure = plus(unsure, total * 0.0)

An infinity or nan stays non-finite under addition, multiplication and summation. A sum of finite numbers that
overflows is a false alarm: the kernel is left, and the NumPy code gives the same.
"""

from __future__ import annotations

from symgrad.ir.core import Block, Call, Const, For, Op, Operand, Value, key_of, substitute, uses
from symgrad.ops.build import Builder

#: operands that make the result non-finite if they are non-finite
PASSED_ON = {
    "add": (0, 1),
    "subtract": (0, 1),
    "multiply": (0, 1),
    "divide": (0,),
    "negative": (0,),
    "abs": (0,),
    "square": (0,),
    "sqrt": (0,),
}


def finiteness(block: Block) -> None:
    """Move finiteness checks of numbers in loops behind the loops, where a sum decides them; for a block and all inside it."""
    ops: list[Op] = []
    table: dict[Value, Operand] = {}
    for op in block.ops:
        for inner in op.blocks:
            finiteness(inner)
        ops.append(op)
        if isinstance(op, For) and not op.until:
            ops += checks_after_loop(op, table)
    block.ops = ops
    substitute(block, table)


def checks_after_loop(loop: For, table: dict[Value, Operand]) -> list[Op]:
    """Remove from a loop each check that a sum covers; return the ops that check the sum.

    ``table`` maps the loop results to their replacements.
    """
    ops: list[Op] = []
    makers = {out: op for op in loop.body.ops if isinstance(op, Call) for out in op.outs}
    sums = {k: parts for k in range(len(loop.inits)) if (parts := added(loop, k, makers)) is not None}
    asked = {k: v for k, (m, _) in sums.items() if (v := zero_times(m, makers)) is not None}
    others = {k: reached(m, makers) for k, (m, _) in sums.items() if k not in asked}
    counts = uses(loop.body)
    for k, value in sorted(asked.items(), reverse=True):
        slot = loop.carried[k]
        total = next((q for q, meanings in others.items() if meaning(value, makers) in meanings), None)
        if total is None or counts[slot] != 1:
            continue
        build = Builder()
        with build.at(loop.loc):
            table[loop.outs[k]] = build.call("plus", loop.inits[k], build.call("multiply", loop.outs[total], Const(0.0), via=None))
        ops += build.block.ops
        adding = sums[k][1]
        loop.body.ops.remove(adding)
        for values in (loop.inits, loop.outs, loop.body.yields):
            del values[k]
        loop.body.args.remove(slot)
        others = {q - (q > k): meanings for q, meanings in others.items()}
    return ops


def added(loop: For, k: int, makers: dict[Value, Call]) -> tuple[Operand, Call] | None:
    """The term that each iteration adds to a loop-carried sum, and the adding op."""
    end = loop.body.yields[k]
    op = makers.get(end) if isinstance(end, Value) else None
    if op is None or op.name != "plus" or loop.carried[k] not in op.args or op.args[0] is op.args[1]:
        return None
    return next(a for a in op.args if a is not loop.carried[k]), op


def zero_times(operand: Operand, makers: dict[Value, Call]) -> Value | None:
    """The number whose finiteness the term tests."""
    op = makers.get(operand) if isinstance(operand, Value) else None
    if op is None or op.name != "multiply" or not isinstance(op.args[1], Const) or op.args[1].value != 0.0:
        return None
    return op.args[0] if isinstance(op.args[0], Value) else None


def reached(operand: Operand, makers: dict[Value, Call]) -> set[object]:
    """The keys of an iteration's numbers that are finite if this one is."""
    meanings: set[object] = set()
    pending = [operand]
    while pending:
        value = pending.pop()
        said = meaning(value, makers)
        if said not in meanings:
            meanings.add(said)
            op = makers.get(value) if isinstance(value, Value) else None
            if op is not None:
                pending += [op.args[place] for place in PASSED_ON.get(op.name, ())]
    return meanings


def meaning(operand: Operand, makers: dict[Value, Call], depth: int = 3) -> object:
    """A key that is equal for numbers computed alike, before common subexpressions are merged."""
    op = makers.get(operand) if isinstance(operand, Value) else None
    if op is None or depth == 0 or op.name not in PASSED_ON and op.name != "take":
        return key_of(operand)
    return op.name, *(meaning(a, makers, depth - 1) for a in op.args), repr(op.settings)
