"""Dead-code elimination: removes unneeded ops, loop-carried values and branch results. Works in place.

Needed are the function's results, the operands of ops with a side effect, and everything that these are
computed from. A loop-carried value that only feeds itself is dead, and so is a chain of stores whose last
version nothing reads. An op that may raise is removed too: where the exception is part of the user's function,
``observed`` has given it a reader.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeGuard

from symgrad.ir.core import (
    Apply,
    Block,
    Call,
    Const,
    For,
    Func,
    If,
    Op,
    Operand,
    Value,
    While,
    applied,
    ops_within,
    same_operand,
    substitute,
    uses,
    walk,
)
from symgrad.ir.types import UNKNOWN, Array, Tape, Type
from symgrad.ir.walks import remove_ops
from symgrad.notes import Notes
from symgrad.ops.analysis.access_regions import PATHS
from symgrad.ops.analysis.raising import may_raise
from symgrad.ops.declare import ROWS, Row
from symgrad.ops.indexing import steps
from symgrad.ops.rows.implicit import SOLUTIONS
from symgrad.passes.facts import Facts, Node, has_memory, holds, record
from symgrad.passes.simplification.remarks import tell


def dce(func: Func) -> Func:
    """Remove dead code from the function, in place, in time linear in its size."""
    marks = Marks(func)
    marks.run()
    if func.split is not None:
        func.split = sum(op in marks.kept for op in func.body.ops[: func.split])
    marks.sweep(func.body)
    record(func, "dce", marks.removed)
    return func


def has_effect(op: Op, running: frozenset[Func] = frozenset()) -> bool:
    """Whether the op itself (not the ops in its blocks) must run even if nothing reads its results."""
    if isinstance(op, Call):
        row = ROWS[op.name]
        return row.effect or (row.statement and not op.outs)
    if isinstance(op, Apply) and op.func is not None and op.func not in running:
        return any(has_effect(inner, running | {op.func}) for inner in walk(op.func.body))
    return False


def is_reader(op: Op) -> TypeGuard[Call]:
    """Whether the op only keeps its operand from being removed."""
    return isinstance(op, Call) and op.name == "evaluated"


@dataclass
class Marks:
    """The values and ops needed so far, and the definition of each value."""

    func: Func
    given_by: dict[Value, tuple[Op, int]] = field(default_factory=dict)
    carried_by: dict[Value, tuple[For | While, int]] = field(default_factory=dict)
    parent: dict[Op, Op | None] = field(default_factory=dict)
    kept: set[Op] = field(default_factory=set)
    live: set[Value] = field(default_factory=set)
    slots: set[tuple[Op, int]] = field(default_factory=set)
    todo: list[Value] = field(default_factory=list)
    readers: list[tuple[Call, Block]] = field(default_factory=list)  #: every ``evaluated``, and its block
    removed: bool = False  #: whether anything was dead

    def run(self) -> None:
        self.enter(self.func.body, None)
        for op in list(self.parent):
            if has_effect(op) and not is_reader(op):
                self.keep(op)
        self.need(self.func.body.yields)
        self.settle()
        self.keep_readers()

    def keep_readers(self) -> None:
        """Keep each ``evaluated`` unless another kept op in its block reads the same value."""
        beside: dict[Block, set[Operand]] = {}
        for reader, block in self.readers:
            if block not in beside:
                beside[block] = {operand for op in block.ops if op in self.kept for operand in op.operands}
            if reader.args[0] not in beside[block]:
                beside[block].add(reader.args[0])
                self.keep(reader)
                self.settle()

    def also(self, op: Op, parent: Op | None) -> None:
        """Mark one more op with a side effect, inside ``parent``."""
        self.parent[op] = parent
        self.keep(op)
        self.settle()

    def settle(self) -> None:
        """Propagate from needed values to the operands that they are computed from."""
        while self.todo:
            self.follow(self.todo.pop())

    def enter(self, block: Block, parent: Op | None) -> None:
        """Record the definitions in a block."""
        for op in block.ops:
            self.parent[op] = parent
            if is_reader(op):
                self.readers.append((op, block))
            for k, out in enumerate(op.outs):
                self.given_by[out] = (op, k)
            if isinstance(op, For):
                self.carried_by.update({a: (op, k) for k, a in enumerate(op.carried)})
            if isinstance(op, While):
                for arguments in (op.test.args, op.body.args):
                    self.carried_by.update({a: (op, k) for k, a in enumerate(arguments)})
            for inner in op.blocks:
                self.enter(inner, op)

    def need(self, operands: list[Operand]) -> None:
        for operand in operands:
            if isinstance(operand, Value) and operand not in self.live:
                self.live.add(operand)
                self.todo.append(operand)

    def keep(self, op: Op | None) -> None:
        """Mark an op that runs, and the operands that decide whether it runs."""
        while op is not None and op not in self.kept:
            self.kept.add(op)
            match op:
                case For():
                    self.need([op.start, op.stop, op.step])
                case While():
                    self.need(op.test.yields)
                case _:
                    self.need(op.operands)
            if isinstance(op, For | While) and op.until:
                self.need(op.body.yields[-1:])
            op = self.parent[op]

    def follow(self, value: Value) -> None:
        if value in self.carried_by:
            self.slot(*self.carried_by[value])
        if value not in self.given_by:
            return
        op, k = self.given_by[value]
        self.keep(op)
        if isinstance(op, For | While) and k < len(op.inits):
            self.slot(op, k)
        elif isinstance(op, If):
            self.need([block.yields[k] for block in op.blocks])

    def slot(self, op: For | While, k: int) -> None:
        if (op, k) not in self.slots:
            self.slots.add((op, k))
            self.need([op.inits[k], op.body.yields[k]])

    # -------------------------------------------------------------- removal

    def sweep(self, block: Block) -> None:
        kept = [op for op in block.ops if op in self.kept]
        self.removed |= len(kept) < len(block.ops)
        block.ops = kept
        for op in block.ops:
            match op:
                case For() | While():
                    self.sweep_loop(op)
                case If():
                    keep = [k for k, out in enumerate(op.outs) if out in self.live]
                    self.removed |= len(keep) < len(op.outs)
                    op.outs = [op.outs[k] for k in keep]
                    for inner in op.blocks:
                        inner.yields = [inner.yields[k] for k in keep]
            for inner in op.blocks:
                self.sweep(inner)

    def sweep_loop(self, op: For | While) -> None:
        carried = len(op.inits)
        keep = [k for k in range(carried) if (op, k) in self.slots]
        self.removed |= len(keep) < carried
        op.outs = [op.outs[k] for k in keep] + op.outs[carried:]
        op.body.yields = [op.body.yields[k] for k in keep] + op.body.yields[carried:]
        op.inits = [op.inits[k] for k in keep]
        if isinstance(op, For):
            op.body.args = [op.index, *(op.carried[k] for k in keep)]
        else:
            op.test.args = [op.test.args[k] for k in keep]
            op.body.args = [op.body.args[k] for k in keep]


def observed(func: Func) -> Func:
    """Give each op that may raise a reader, so that dead-code elimination keeps it.

    Exceptions are part of the function's behaviour, so this is the first pass on a lowered function. Views are
    created anew at each read. Only the view at the position where the program takes the part has an ``evaluated``,
    which the frontend inserts. That reader is removed where a later op on every path reads or writes the same part,
    because that op raises as well. The same holds for operations on an item of a list that was read from a list of lists.

    Every other op that may raise is read by another kept op, or by an ``evaluated`` inserted after it. The pass also
    runs on the functions that ``func`` calls; in one without results, an exception counts as an effect.
    """
    for each in [*applied(func.body)[::-1], func]:
        substitute(each.body, decided(each.body))
        marks = Marks(each)
        marks.run()
        _Observer(marks, counts=uses(each.body)).block(each.body)
    return func


def decided(body: Block) -> dict[Value, Operand]:
    """The branch results that are the same on both sides, with their operands: later passes know them, and then the test may be unread."""
    table: dict[Value, Operand] = {}
    for op in walk(body):
        if isinstance(op, If):
            table |= {out: a for out, a, b in zip(op.outs, op.then.yields, op.orelse.yields, strict=True) if same_operand(a, b)}
    return table


@dataclass
class _Observer:
    marks: Marks
    makers: dict[Value, Call] = field(default_factory=dict)
    rounds: dict[Value, For] = field(default_factory=dict)
    counts: dict[Value, int] = field(default_factory=dict)

    def block(self, block: Block) -> None:
        """Process the ops of a block in reverse order, because a kept op keeps its operands."""
        for op in block.ops:
            if isinstance(op, Call):
                self.makers.update(dict.fromkeys(op.outs, op))
            if isinstance(op, For):
                self.rounds[op.index] = op
        ops: list[Op] = []
        for op in reversed(block.ops):
            for inner in op.blocks:
                self.block(inner)
            if is_reader(op) and self.is_idle(op, ops):
                continue
            if isinstance(op, Call | Apply) and op.outs and op not in self.marks.kept:
                if isinstance(op, Apply) or op.name != "view" and self.raises(op, ops):
                    reader = Call([], op.loc, "evaluated", [op.outs[0]])
                    self.marks.also(reader, self.marks.parent[op])
                    ops.append(reader)
                elif op.name == "view" and not self.counts.get(op.outs[0]):
                    continue  # removed at once, so that the op that reads the part later creates the view there
            ops.append(op)
        block.ops = ops[::-1]

    def is_idle(self, reader: Call, later: list[Op]) -> bool:
        """Whether a reader is redundant, because its value cannot raise or a later op raises instead."""
        (value,) = reader.args
        maker = self.makers.get(value) if isinstance(value, Value) else None
        if maker is None or self.raises(maker, later):
            return False
        self.counts[maker.outs[0]] -= 1
        if not self.counts[maker.outs[0]]:
            self.marks.kept.discard(maker)
        return True

    def raises(self, op: Call, later: list[Op]) -> bool:
        """Whether the op may raise, and none of the later ones would raise in its stead."""
        if not may_raise(op, self.makers, self.rounds):
            return False
        if op.name not in ("view", "list_take"):
            return True
        is_same_part = is_part_of if op.name == "view" else is_of_item
        return not self.surely(reversed(later), lambda other: is_same_part(other, op))

    def surely(self, ops: Iterable[Op], test: Callable[[Op], bool]) -> bool:
        """Whether one of the ops, or one inside them that runs on every path, is kept and passes the test, before there is an effect."""
        for op in ops:
            blocks = op.blocks if isinstance(op, If) else [op.test] if isinstance(op, While) else []
            if op in self.marks.kept and test(op) or blocks and all(self.surely(block.ops, test) for block in blocks):
                return True
            if any(has_effect(inner) and not is_reader(inner) for inner in ops_within(op)):
                return False
        return False


def is_part_of(op: Op, view: Call) -> bool:
    """Whether an op reads or writes the part that a view shows, or a part of it, in an array of the same shape."""
    if not isinstance(op, Call) or op.name not in PATHS or not has_shape_of(op.args[0], view.args[0]):
        return False
    path, own = steps(op.settings["index"]), steps(view.settings["index"])
    operands, places = op.args[PATHS[op.name] :], view.args[PATHS["view"] :]
    return path[: len(own)] == own and all(same_operand(a, b) for a, b in zip(operands, places))


def is_of_item(op: Op, read: Call) -> bool:
    """Whether an op reads or stores a number in the list at the same index of the same list."""
    return isinstance(op, Call) and op.name in ("table_take", "table_set") and all(map(same_operand, op.args[:2], read.args))


def has_shape_of(a: Operand, b: Operand) -> bool:
    """Whether the two arrays have the same static or symbolic shape."""
    return isinstance(a.type, Array) and isinstance(b.type, Array) and a.type.shape is not None and a.type.shape == b.type.shape


#: rows of tapes: the position of the first item, among the operands (filling) or the results (emptying)
FILLING, EMPTYING = {"push": 1, "put": 2}, {"pop": 1, "get": 0}


def dead_tapes(func: Func) -> Func:
    """Narrow the tapes of a function, in place; tapes that are parameters or results stay unchanged.

    A tape keeps only the items that are read from it and are not available elsewhere::

        put(tape, i, a, b, shape); a, _, shape = get(tape, i)     ->     put(tape, i, a); a = get(tape, i)
    """
    if not holds(func, *FILLING):
        return func
    narrower = _Narrower(Facts(func), {value for op in func.body.ops for value in op.outs}, func.notes)
    narrower.find(func)
    for tape, ops in narrower.groups.items():
        if tape not in narrower.whole:
            narrower.narrow(ops)
    if func.split is not None:
        func.split -= sum(op in narrower.gone for op in func.body.ops[: func.split])
    if narrower.gone:
        remove_ops(func.body, narrower.gone)
    substitute(func.body, narrower.table)
    return func


@dataclass(slots=True)
class _Narrower:
    """The ops that fill and empty each tape."""

    facts: Facts
    outer: set[Value]  #: the values of the function's own block, outside loops and branches
    notes: Notes | None
    groups: dict[Node, list[Call]] = field(default_factory=dict)
    whole: set[Node] = field(default_factory=set)  #: tapes that other ops use too
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
                    tell(self.notes, op, "is not saved on the tape after all: nothing reads it there", item)
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


def unread(func: Func) -> Func:
    """Replace operands that no text mentions by holes, in place, for printing; then ``dce`` can remove the ops that only served them.

    ``matmul_left(g, b, shape)`` prints as ``g @ b.T`` where the ranks are known, so nothing reads the shape. The
    solution of an equation is replaced by the solver's result. The function is then only printed, not differentiated.
    """
    solutions: dict[Value, Operand] = {}
    for op in walk(func.body):
        if isinstance(op, Call) and op.name in SOLUTIONS:
            solutions[op.outs[0]] = value = op.args[0]
            if isinstance(value, Value):
                value.name = op.outs[0].name or value.name
    substitute(func.body, solutions)
    for op in walk(func.body):
        if isinstance(op, Call):
            row = ROWS[op.name]
            if not (row.statement or row.consumes or row.effect or "index" in row.settings or "f" in row.params or row.by_name):
                drop(op, row)
    return func


@dataclass(frozen=True, slots=True, eq=False)
class Hole(Const):
    """A placeholder for an unneeded operand; its type still decides how the op is printed."""

    shown: Type = UNKNOWN

    @property
    def type(self) -> Type:
        return self.shown


def drop(op: Call, row: Row) -> None:
    """Replace the operands of one op that its text does not mention."""
    said = text(op, row, [a.type for a in op.args])
    for place, operand in enumerate(op.args):
        param = row.params[min(place, len(row.params) - 1)].lstrip("*")
        if isinstance(operand, Value) and not re.search(rf"\b{param}\b", said):
            op.args[place] = Hole(None, None, operand.type)


def text(op: Call, row: Row, types: list[Type]) -> str:
    """The text that computes an op."""
    if row.math is not None and op.settings.get("via") == "math":
        return row.math
    return row.emit if isinstance(row.emit, str) else row.emit(op.settings, types)


__all__ = ["Marks", "dce", "dead_tapes", "has_effect", "observed"]
