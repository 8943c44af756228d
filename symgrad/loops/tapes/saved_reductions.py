"""Saves per-iteration array reductions that both halves of a gradient compute, for the backward half. Works in place.

    for i: n = count_nonzero(x > i); ...              for i: n = count_nonzero(x > i); kept[i] = n; ...
    for i, last first: n = count_nonzero(x > i)  ->   for i, last first: n = kept[i]

Element-wise values are cheap to recompute; a pass over an array is not. Runs before the walk.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

from symgrad.ir.core import Block, Call, For, Func, Op, Operand, Value, blocks_within, key_of, substitute
from symgrad.ir.types import Array, Scalar, Tape
from symgrad.loops.writer import number
from symgrad.ops.declare import ROWS
from symgrad.passes.facts import Facts, is_pure

#: rows that reduce an array to a number
REDUCTIONS = frozenset({"sum", "mean", "prod", "max", "min", "var", "std", "any", "all", "count_nonzero", "dot"})


def saved_reductions(func: Func) -> Func:
    """Save the array reductions that both halves of loops compute, in place."""
    facts = Facts(func)
    for block in [*blocks_within(func.body)]:
        loops = [op for op in block.ops if isinstance(op, For) and not op.until]
        for forward, backward in combinations(loops, 2):
            if not forward.backward and backward.backward and same_rounds(forward, backward):
                if matches := reduced_by_both(forward, backward, facts):
                    keep(block, forward, backward, matches)
    return func


def same_rounds(a: For, b: For) -> bool:
    """Whether the loops have the same indices, from 0 on."""
    start = number(a.start)
    bounds = [(key_of(o.start), key_of(o.stop), key_of(o.step)) for o in (a, b)]
    return bounds[0] == bounds[1] and start is not None and start >= 0 and number(a.step) == 1


def reduced_by_both(forward: For, backward: For, facts: Facts) -> dict[Value, Value]:
    """Maps each reduction in the body of the second loop to the same reduction in the first."""
    forward_values: dict[Any, Value] = {}
    for op in forward.body.ops:
        if isinstance(op, Call) and len(op.outs) == 1 and is_repeatable(op, facts):
            forward_values.setdefault(key(op, {}), op.outs[0])
    same: dict[Operand, Operand] = {backward.index: forward.index}
    matches: dict[Value, Value] = {}
    for op in backward.body.ops:
        if isinstance(op, Call) and len(op.outs) == 1 and is_repeatable(op, facts):
            other = forward_values.get(key(op, same))
            if other is not None:
                same[op.outs[0]] = other
                if op.name in REDUCTIONS and isinstance(op.outs[0].type, Scalar) and isinstance(op.args[0].type, Array):
                    matches[op.outs[0]] = other
    return matches


def is_repeatable(op: Call, facts: Facts) -> bool:
    """Whether the op gives the same result for the same operands at any time."""
    row = ROWS[op.name]
    if not is_pure(row) or row.consumes or row.statement:
        return False
    return not any(isinstance(a.type, Array) and isinstance(a, Value) and facts.is_stored(a) for a in [*op.args, *op.outs])


def key(op: Call, same: dict[Operand, Operand]) -> Any:
    """A key that is equal for ops that compute the same."""
    return op.name, tuple(key_of(same.get(a, a) if isinstance(a, Value) else a) for a in op.args), repr(sorted(op.settings.items()))


def keep(block: Block, forward: For, backward: For, matches: dict[Value, Value]) -> None:
    """Save the numbers on a slot tape, and read them from it."""
    items = list(dict.fromkeys(matches.values()))
    type_ = Tape(tuple(i.type for i in items), True)
    tapes = [Value(Tape((), True), "%kept"), *(Value(type_, "%kept") for _ in range(3))]

    def call(name: str, outs: list[Value], *args: Operand) -> Op:
        return Call(outs, forward.loc, name, list(args), dict(ROWS[name].settings))

    block.ops.insert(block.ops.index(forward), call("slots", [tapes[0]], forward.stop))
    forward.inits.append(tapes[0])
    forward.body.args.append(tapes[1])
    forward.body.ops.append(call("put", [tapes[2]], tapes[1], forward.index, *items))
    forward.body.yields.append(tapes[2])
    forward.outs.append(tapes[3])
    read = {item: Value(item.type, item.name) for item in items}
    backward.body.ops = [op for op in backward.body.ops if not (op.outs and op.outs[0] in matches)]
    backward.body.ops.insert(0, call("get", list(read.values()), tapes[3], backward.index))
    substitute(backward.body, {old: read[item] for old, item in matches.items()})
