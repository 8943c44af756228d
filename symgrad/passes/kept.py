"""Dead-code elimination on tapes: a tape holds only values that are read from it and not available elsewhere. Works in place.

put(tape, i, a, b, shape); a, _, shape = get(tape, i)     ->     put(tape, i, a); a = get(tape, i)
"""

from __future__ import annotations

from dataclasses import dataclass, field

from symgrad.ir.core import Block, Call, Func, Op, Operand, Value, substitute, walk
from symgrad.ir.types import Tape
from symgrad.notes import Notes
from symgrad.passes.facts import Facts, Node, has_memory, holds
from symgrad.passes.telling import tell

#: rows of tapes: the position among operands, or results, of the first saved value
FILLING, EMPTYING = {"push": 1, "put": 2}, {"pop": 1, "get": 0}


def kept(func: Func) -> Func:
    """Narrow the tapes of a function, in place; tapes that are parameters or results stay as they are."""
    if not holds(func, *FILLING):
        return func
    narrower = _Narrower(Facts(func), {value for op in func.body.ops for value in op.outs}, func.notes)
    narrower.find(func)
    for tape, ops in narrower.groups.items():
        if tape not in narrower.whole:
            narrower.narrow(ops)
    if func.split is not None:
        func.split -= sum(op in narrower.gone for op in func.body.ops[: func.split])
    narrower.sweep(func.body)
    substitute(func.body, narrower.table)
    return func


@dataclass(slots=True)
class _Narrower:
    """The ops that fill and empty each tape."""

    facts: Facts
    outer: set[Value]  #: values defined at the function's top level
    notes: Notes | None
    groups: dict[Node, list[Call]] = field(default_factory=dict)
    whole: set[Node] = field(default_factory=set)  #: tapes with other uses
    table: dict[Value, Operand] = field(default_factory=dict)
    gone: set[Op] = field(default_factory=set)

    def find(self, func: Func) -> None:
        for op in walk(func.body):
            if isinstance(op, Call) and op.name in (*FILLING, *EMPTYING) and isinstance(op.args[0], Value):
                self.groups.setdefault(self.facts.find((op.args[0], False)), []).append(op)
            elif not op.blocks:
                self.keep(op.operands)
        self.keep([*func.params, *func.body.yields])

    def keep(self, operands: list[Operand]) -> None:
        """Exclude the tapes among these operands."""
        self.whole.update(self.facts.find((o, False)) for o in operands if isinstance(o, Value) and isinstance(o.type, Tape))

    def narrow(self, ops: list[Call]) -> None:
        filling, emptying = [op for op in ops if op.name in FILLING], [op for op in ops if op.name in EMPTYING]
        widths = {len(op.args) - FILLING[op.name] for op in filling} | {len(op.outs) - EMPTYING[op.name] for op in emptying}
        if len(widths) != 1 or not filling or not emptying:
            return
        (width,) = widths
        keep = []
        for k in range(width):
            items = {op.args[FILLING[op.name] + k] for op in filling}
            outs = [op.outs[EMPTYING[op.name] + k] for op in emptying]
            if len(items) == 1 and items <= self.outer and not any(map(has_memory, outs)):
                self.table.update(dict.fromkeys(outs, items.pop()))  # the same in every iteration
            elif any(self.facts.count.get(out) for out in outs):
                keep.append(k)
        if len(keep) == width:
            return
        for op in filling:
            start = FILLING[op.name]
            for item in (op.args[start + k] for k in range(width) if k not in keep):
                if isinstance(item, Value):
                    tell(self.notes, op, "is not kept on the tape after all: nobody takes it from there", item)
            op.args = op.args[:start] + [op.args[start + k] for k in keep]
            if not keep:
                self.table[op.outs[0]] = op.args[0]
                self.gone.add(op)
        for op in emptying:
            start = EMPTYING[op.name]
            if not keep:
                self.gone.add(op)
                if start:
                    self.table[op.outs[0]] = op.args[0]
            op.outs = op.outs[:start] + [op.outs[start + k] for k in keep]

    def sweep(self, block: Block) -> None:
        """Remove the ops that fill and empty tapes without items."""
        if self.gone:
            block.ops = [op for op in block.ops if op not in self.gone]
            for op in block.ops:
                for inner in op.blocks:
                    self.sweep(inner)


__all__ = ["kept"]
