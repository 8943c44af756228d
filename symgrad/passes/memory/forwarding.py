"""Store-to-load forwarding: the backward half reads the stored value instead of the array. Works in place.

``y.1 = set_at(y.0, v, i); take(y.1, i)`` reads ``v``. Stores that become unread are left to ``dce``. The result
is for emission, not for differentiation.
"""

from __future__ import annotations

from symgrad.ir.core import Block, Call, Func, Operand, Value, same_operand, substitute
from symgrad.ir.types import Array, Scalar, same_shape
from symgrad.notes import Notes
from symgrad.ops.indexing import OPERANDS, has_arrays, steps
from symgrad.passes.facts import Facts, holds
from symgrad.passes.representation.unbox import is_int
from symgrad.passes.simplification.remarks import tell

READS = frozenset({"view", "take"})


def forwarding(func: Func) -> Func:
    """Forward stored values to their readers, in place."""
    if holds(func, "set_at"):
        _stores(func.body, Facts(func), func.notes)
    return func


def _stores(block: Block, facts: Facts, notes: Notes | None) -> None:
    table: dict[Value, Operand] = {}
    for op in block.ops:
        for inner in op.blocks:
            _stores(inner, facts, notes)
        if isinstance(op, Call) and op.name in READS and isinstance(op.args[0], Value):
            store = facts.calls(op.args[0], "set_at")
            if store is not None and op.outs[0] in facts.late:
                before = op.args[0]
                _read(op, store, facts, table)
                if op.args[0] is not before or op.outs[0] in table:
                    tell(notes, op, "the value that was just stored is used, instead of reading it back", store.outs[0])
    substitute(block, table)


def _read(op: Call, store: Call, facts: Facts, table: dict[Value, Operand]) -> None:
    """Replace a read of the stored place by the stored value."""
    value, place, index = store.args[1], store.args[2:], str(store.settings["index"])
    own, rest = op.args[1 : 1 + len(place)], op.args[1 + len(place) :]
    path = str(op.settings["index"])
    if path != index and not path.startswith(f"{index};") or len(own) < len(place) or not all(map(same_operand, own, place)):
        return
    if has_arrays(index, [a.type for a in place]) or "." in index or len(steps(index)) > 1:
        return
    if isinstance(value.type, Scalar):
        whole = path == index and isinstance(op.outs[0].type, Scalar) and value.type.kind == "float" and op.outs[0].type.dtype == "f64"
        if whole and value.type == op.outs[0].type:
            table[op.outs[0]] = value
        return
    stored = store.args[0].type
    if not isinstance(value, Value) or not isinstance(value.type, Array) or not isinstance(stored, Array) or facts.is_stored(value):
        return
    if value.type.dtype != stored.dtype or not _fills(value, store, facts):
        return
    if path != index:
        op.args, op.settings = [value, *rest], {**op.settings, "index": path[len(index) + 1 :]}
    elif op.name == "view" or not facts.is_stored(op.outs[0]) and not facts.is_returned(op.outs[0]):
        table[op.outs[0]] = value


def _fills(value: Value, store: Call, facts: Facts) -> bool:
    """Whether the value has the shape of the place it is stored to, because it was read from there."""
    maker = facts.maker.get(value)
    index: tuple[Operand, Operand] | None = None
    for source in facts.sources(value):
        read = facts.maker.get(source)
        if not isinstance(read, Call) or read.name not in READS or read.settings["index"] != store.settings["index"]:
            return False
        if not same_shape(getattr(read.args[0].type, "shape", None), getattr(store.args[0].type, "shape", None)):
            return False
        if isinstance(maker, Call) and maker.name == "get":
            tape = facts.find((maker.args[0], False))  # type: ignore[arg-type]
            puts = [p for p in facts.pushes if facts.find((p.outs[0], False)) == tape and source in p.args]
            if len(puts) != 1 or puts[0].name != "put" or puts[0].settings["add"]:
                return False
            index = puts[0].args[1], maker.args[1]
        elif source is not value and not (isinstance(maker, Call) and maker.name == "pop"):
            return False
        single = _are_single(store)
        places = zip(read.args[1:], store.args[2:], single, strict=True)
        if not all(same_operand(a, b) or index is not None and (a, b) == index or any_ and is_int(a) for a, b, any_ in places):
            return False
    return bool(facts.sources(value))


def _are_single(store: Call) -> list[bool]:
    """For each operand of a path: whether it is a single integer subscript, which does not affect the shape."""
    flags: list[bool] = []
    operands = store.args[2:]
    for letter in str(store.settings["index"]):
        count = OPERANDS[letter]
        flags += [letter == "i" and is_int(operands[len(flags)])] * count
    return flags


__all__ = ["forwarding"]
