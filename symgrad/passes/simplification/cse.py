"""Common-subexpression elimination: computes once what occurs twice in a scope. Works in place.

Ops with a side effect are left alone, except repeated checks of the same numbers. So are results whose memory is written to, or two of
which would be returned to the caller: each needs its own memory.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from symgrad.ir.core import Block, Call, Const, Func, Operand, Value, resolved
from symgrad.ir.show import literal
from symgrad.ops.declare import ROWS
from symgrad.passes.facts import facts_of, has_memory, record

#: calls that may return a different object each time
DISTINCT = frozenset({"opaque", "opaque_pure", "solver", "tape", "slots", "slots_like", "list_of"})
#: calls that only raise, unless their operands, which are numbers, pass
CHECKS = frozenset({"check_index", "check_equal", "check_less", "check_at_least"})
COMMUTATIVE = frozenset({"add", "multiply"})


def cse(func: Func) -> Func:
    """Merge common subexpressions, in place, in time linear in the size of the function."""
    merger = _Merger(func)
    merger.block(func.body)
    record(func, "cse", changed=bool(merger.merged))
    return func


class _Merger:
    """The visible computed ops, by their keys."""

    def __init__(self, func: Func) -> None:
        self.func = func
        self.facts = facts_of(func)
        self.known: dict[Hashable, Call] = {}
        self.merged = 0
        self.table: dict[Value, Operand] = {}

    def block(self, block: Block) -> None:
        entered: list[Hashable] = []
        kept = []
        split = self.func.split if block is self.func.body else None
        for k, op in enumerate(block.ops):
            if self.table:
                op.replace_operands([resolved(o, self.table) for o in op.operands])
            key = self.key(op) if isinstance(op, Call) else None
            if isinstance(op, Call) and key is not None:
                first = self.known.get(key)
                if first is not None and self.may_merge(first, op):
                    self.merge(first, op)
                    if split is not None and k < split:
                        assert self.func.split is not None
                        self.func.split -= 1
                    continue
                if first is None:
                    self.known[key] = op
                    entered.append(key)
            for inner in op.blocks:
                self.block(inner)
            kept.append(op)
        block.ops = kept
        block.yields = [resolved(y, self.table) for y in block.yields]
        for key in entered:
            del self.known[key]

    def key(self, op: Call) -> Hashable | None:
        """A key that is equal for ops that compute the same value; None for ops that must each run."""
        row = ROWS[op.name]
        if op.name not in CHECKS and (row.effect or row.consumes or row.statement or op.name in DISTINCT or not op.outs):
            return None
        operands: Iterable[Hashable] = tuple(a.key() if isinstance(a, Const) else a for a in op.args)
        if op.name in COMMUTATIVE and op.args[0] is not op.args[1] and all(a.type.is_number for a in op.args):
            operands = frozenset(operands)
        return (op.name, operands, tuple([(s, settings_key(v)) for s, v in op.settings.items()]))

    def may_merge(self, first: Call, second: Call) -> bool:
        facts = self.facts
        if first.name == "view":
            return True  # both view one version of an array, which nothing overwrites before the second
        for a, b in zip(first.outs, second.outs, strict=True):
            if has_memory(a) and (facts.is_stored(a) or facts.is_stored(b) or (facts.is_returned(a) and facts.is_returned(b))):
                return False
        return True

    def merge(self, first: Call, second: Call) -> None:
        self.merged += 1
        if self.func.notes is not None and second.outs and first.loc.line != second.loc.line and not ROWS[second.name].cheap:
            name = second.outs[0].name or second.name
            self.func.notes.add("passes", "moved", second.loc, f"reuses the result of line {first.loc.line}", name=name)
        for a, b in zip(first.outs, second.outs, strict=True):
            if first.loc.backward or not second.loc.backward:  # a user's expression is not named after its derivative
                a.name = a.name or b.name
            self.table[b] = a
            self.facts.replaced(b, a)


def settings_key(setting: Any) -> Hashable:
    """A key that is equal for equal settings of one class: 1, 1.0 and True differ."""
    if isinstance(setting, Func):
        return setting
    return (type(setting), setting) if type(setting) in (str, int, bool, type(None)) else literal(setting)


__all__ = ["cse"]
