"""Builds each list of constants that is only read once, at the start of the function.

    for i: s += [0.5, 2.0, 4.0][i]      ->      h = [0.5, 2.0, 4.0]; for i: s += h[i]

The list is labelled with the user's name for it, where the user reads it by a name.
"""

from __future__ import annotations

from symgrad.ir.core import Block, Call, Const, For, Func, Op, Operand, Value, While, substitute, walk
from symgrad.passes.facts import halves_kept

#: rows that only read their first operand, a list
READING = frozenset({"list_take", "list_len"})
NUMBERS = (bool, int, float, complex)


def constant_lists(func: Func) -> Func:
    """Move lists of numbers that are known and only read to the start, in place, and let equal ones be one list.

    A list that is read at one place outside loops stays there.
    """
    makers = {op.outs[0]: op for op in walk(func.body) if isinstance(op, Call) and is_list_of_numbers(op)}
    changed = changed_or_returned(func.body, makers)
    makers = {value: op for value, op in makers.items() if value not in changed}
    equal: dict[object, list[Value]] = {}
    for value, op in makers.items():
        equal.setdefault(tuple((type(item.value), repr(item.value)) for item in op.args if isinstance(item, Const)), []).append(value)
    repeated = {op for loop in walk(func.body) if isinstance(loop, For | While) for block in loop.blocks for op in walk(block)}
    first: list[Op] = []
    replaced: dict[Value, Operand] = {}
    for values in equal.values():
        maker, *others = (makers[value] for value in values)
        if others or maker in repeated:
            first.append(maker)
            if func.notes is not None:
                func.notes.add("passes", "moved", maker.loc, "a list of constants is built once", name=maker.outs[0].label or maker.name)
            replaced |= {op.outs[0]: maker.outs[0] for op in others}
    if first:
        with halves_kept(func):
            remove(func.body, {*first, *(makers[value] for value in replaced)})
            substitute(func.body, replaced)
            func.body.ops[:0] = first
    return func


def is_list_of_numbers(op: Call) -> bool:
    """Whether the op builds a list of numbers that are constants."""
    return op.name == "list_of" and bool(op.args) and all(isinstance(item, Const) and type(item.value) in NUMBERS for item in op.args)


def changed_or_returned(block: Block, lists: dict[Value, Call]) -> set[Value]:
    """The lists that an op other than a read uses, or a block yields."""
    used: set[Value] = set()
    for op in walk(block):
        reads = isinstance(op, Call) and op.name in READING
        used.update(operand for operand in op.operands[1 if reads else 0 :] if operand in lists)
        used.update(operand for inner in op.blocks for operand in inner.yields if operand in lists)
    return used.union(operand for operand in block.yields if operand in lists)


def remove(block: Block, ops: set[Op]) -> None:
    """Remove ops from a block and the blocks inside it."""
    block.ops = [op for op in block.ops if op not in ops]
    for op in block.ops:
        for inner in op.blocks:
            remove(inner, ops)


__all__ = ["constant_lists"]
