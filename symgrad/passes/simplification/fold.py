"""Constant folding, and the identities of ``identities.py``. Works in place.

An identity is not applied where two names would then share memory that is written to or returned to the caller.
Operands that become unread are left to ``dce``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from symgrad.ir.core import Block, Call, Const, For, Func, If, Op, Operand, Undef, Value, While, resolved
from symgrad.ir.types import is_complex
from symgrad.ops.declare import ROWS
from symgrad.passes.facts import covers, facts_of, has_memory, record
from symgrad.passes.simplification.factors import FIRST, OF_COMPLEX
from symgrad.passes.simplification.identities import FOLDED, IDENTITIES, folded, spread_operand
from symgrad.passes.simplification.strength_reduction import CHEAPER, Rewrites

VIEWS = frozenset({"view", "mT"})
ROUNDS = 12  #: each iteration sees the result of the last one; most programs need three


Table = Callable[[str, bool], tuple[Rewrites, ...]]


def fold(func: Func) -> Func:
    """Fold constants and apply identities, in place."""
    return rewritten(func, rewrites, "fold")


def rewritten(func: Func, table: Table, name: str) -> Func:
    """Apply the rewrites that ``table`` returns for an op's row, and whether it is elementwise, until nothing changes.

    ``name`` is the name of the pass.
    """
    for _ in range(ROUNDS):
        changed = _Folder(func, table).run()
        record(func, name, changed)
        if not changed:
            break
    return func


@cache
def rewrites(name: str, elementwise: bool) -> tuple[Rewrites, ...]:
    """The rewrites tried on an op of a row, in order."""
    general = (folded,) if name in FOLDED else ()
    return (*general, *FIRST.get(name, ()), *((spread_operand,) if elementwise else ()), *IDENTITIES.get(name, ()), *CHEAPER.get(name, ()))


class _Folder:
    """One walk through a function."""

    def __init__(self, func: Func, tried: Table) -> None:
        self.func = func
        self.tried = tried
        self.facts = facts_of(func)
        self.table: dict[Value, Operand] = {}
        self.changed = False

    def run(self) -> bool:
        self.block(self.func.body)
        return self.changed

    def replace(self, old: Value, new: Operand) -> None:
        self.table[old] = new
        self.facts.replaced(old, new)
        self.changed = True

    def block(self, block: Block) -> None:
        done: list[Op] = []
        split = None
        for k, op in enumerate(block.ops):
            if block is self.func.body and k == self.func.split:
                split = len(done)
            self.op(op, block, done)
        if block is self.func.body and self.func.split is not None:
            self.func.split = len(done) if split is None else split
        block.ops = done
        block.yields = [resolved(y, self.table) for y in block.yields]

    def op(self, op: Op, block: Block, done: list[Op]) -> None:
        if self.table:
            op.replace_operands([resolved(o, self.table) for o in op.operands])
        match op:
            case Call():
                self.call(op, block, done)
            case If(test=Const(value=bool() | int() | float() as test)):
                self.inline(op, op.then if test else op.orelse, block, done)
            case For() if self.never_runs(op):
                for out, init in zip(op.outs, [*op.inits, Const(0)], strict=False):
                    self.replace(out, init)
            case For() | While():
                self.invariants(op)
                for inner in op.blocks:
                    self.block(inner)
                done.append(op)
            case _:
                for inner in op.blocks:
                    self.block(inner)
                if isinstance(op, If):
                    self.agreed(op)
                done.append(op)

    def agreed(self, op: If) -> None:
        """Replace a branch result that both sides agree on."""
        for k in reversed(range(len(op.outs))):
            a, b = op.then.yields[k], op.orelse.yields[k]
            if a is b or (isinstance(a, Const) and isinstance(b, Const) and a.key() == b.key()):
                self.facts.reads([a, b], -1)
                self.replace(op.outs[k], a)
                del op.outs[k], op.then.yields[k], op.orelse.yields[k]

    def inline(self, op: If, chosen: Block, block: Block, done: list[Op]) -> None:
        """Replace a branch that is always taken by the ops of its block."""
        for inner in chosen.ops:
            for out in inner.outs:
                self.facts.home[out] = block
            self.op(inner, block, done)
        for out, yielded in zip(op.outs, chosen.yields, strict=True):
            self.replace(out, resolved(yielded, self.table))
        self.changed = True

    def never_runs(self, op: For) -> bool:
        """Whether the loop runs zero times. A loop that would bind a name is kept, so that reading the name raises."""
        unbound = [out for init, out in zip(op.inits, op.outs, strict=False) if isinstance(init, Const) and isinstance(init.value, Undef)]
        if any(self.facts.count.get(out) for out in unbound):
            return False
        bounds = [o.value for o in (op.start, op.stop, op.step) if isinstance(o, Const) and type(o.value) is int]
        return len(bounds) == 3 and bounds[2] != 0 and not range(*bounds)

    def invariants(self, op: For | While) -> None:
        """Replace a loop-carried value that every iteration yields unchanged by its initial value."""
        arguments = [list(op.carried)] if isinstance(op, For) else [list(op.test.args), list(op.body.args)]
        inside = list(op.carried)
        for k in reversed(range(len(op.inits))):
            init = op.inits[k]
            if op.body.yields[k] is not inside[k] or not (covers(op.outs[k].type, init.type) and covers(inside[k].type, init.type)):
                continue
            if not isinstance(init, Value) and has_memory(op.outs[k]):
                continue
            dropped = [values[k] for values in arguments] + [op.outs[k]]
            del op.inits[k], op.body.yields[k], op.outs[k]
            del op.body.args[k + 1 if isinstance(op, For) else k]
            if isinstance(op, While):
                del op.test.args[k]
            self.facts.reads([init, inside[k]], -1)
            for value in dropped:
                self.replace(value, init)

    def call(self, op: Call, block: Block, done: list[Op]) -> None:
        self.facts.recent = done
        tried = self.tried(op.name, ROWS[op.name].elementwise) if len(op.outs) == 1 else ()
        if tried:
            exact = is_complex(op.outs[0].type)
            for operand in () if exact else op.args:
                exact = exact or is_complex(operand.type)
            for rewrite in tried:
                if exact and rewrite not in OF_COMPLEX:
                    continue
                replacement = rewrite(op, self.facts)
                if isinstance(replacement, Call | list):
                    if self.func.notes is not None and (self.tried is not rewrites or rewrite in CHEAPER.get(op.name, ())):
                        self.tell(op, replacement if isinstance(replacement, Call) else replacement[-1], rewrite)
                    self.put(op, replacement if isinstance(replacement, list) else [replacement], block, done)
                    return
                if replacement is not None and self.may_replace(op, replacement := resolved(replacement, self.table), block):
                    self.facts.reads(op.args, -1)
                    self.replace(op.outs[0], replacement)
                    return
        done.append(op)

    def tell(self, op: Call, replacement: Call, rewrite: Callable[..., Any]) -> None:
        """Emit a remark that an op is replaced by another kind of op; reordered arithmetic is not remarked."""
        if self.func.notes is not None and replacement.name != op.name:
            text = (rewrite.__doc__ or rewrite.__name__).splitlines()[0].replace("``", "").rstrip(".")
            text = text[:1].lower() + text[1:] if text[1:2] in "abcdefghijklmnopqrstuvwxyz " else text
            self.func.notes.add("passes", "lowered", op.loc, text, name=op.name)

    def put(self, op: Call, replacements: list[Call], block: Block, done: list[Op]) -> None:
        """Replace an op by others; the last one has its results."""
        self.facts.reads(op.args, -1)
        for one in replacements:
            one.args = [resolved(a, self.table) for a in one.args]
            self.facts.reads(one.args, 1)
        self.discard(op.args, done)
        for one in replacements:
            self.facts.enter(one, block, op)
            done.append(one)
        self.changed = True

    def discard(self, operands: list[Operand], done: list[Op]) -> None:
        """Remove dead stores of this block: their memory is stored to again."""
        for operand in operands:
            maker = self.facts.maker.get(operand) if isinstance(operand, Value) else None
            if not isinstance(maker, Call) or not ROWS[maker.name].consumes or any(self.facts.count.get(out, 0) for out in maker.outs):
                continue  # further values popped with the operand may be read
            if maker in done:
                done.remove(maker)
                self.facts.reads(maker.args, -1)

    def may_replace(self, op: Call, new: Operand, block: Block) -> bool:
        old = op.outs[0]
        if ROWS[op.name].consumes and new is op.args[0]:
            return covers(old.type, new.type)  # the result already is the operand's memory
        if self.is_view_of(op, new):
            return covers(old.type, new.type)
        return self.facts.may_replace(old, new, block)

    def is_view_of(self, op: Op | None, whole: Operand) -> bool:
        """Whether the result is a view, or a view of a view, of an array; they share memory already."""
        while isinstance(op, Call) and op.name in VIEWS:
            if op.args[0] is whole:
                return True
            op = self.facts.maker.get(op.args[0]) if isinstance(op.args[0], Value) else None
        return False


__all__ = ["fold", "rewritten"]
