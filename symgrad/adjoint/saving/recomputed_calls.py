"""``symgrad.checkpoint``: the reverse of a call runs the function again instead of reading saved values.

The frontend marks the begin and the end of such a function's ops. The ops between become a branch that is
always taken, which the sweep reverses as a block of its own. To the plan the reverse is one call that reads the
function's inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from symgrad.adjoint.accumulate import Scope
from symgrad.adjoint.analysis.memory import Memory, has_memory
from symgrad.adjoint.saving.repeatable import drop_from, effects_in, needed, refuse_unrepeatable
from symgrad.adjoint.sweep import Sweep
from symgrad.ir.core import TRUE, UNDEF, Apply, Block, Call, Func, If, Op, Operand, Value, clone_block, substitute, walk
from symgrad.ir.layout import Layout
from symgrad.ir.walks import free_values, read_in, remove_ops

BEGIN, END = "checkpoint_begin", "checkpoint_end"
Completed = Callable[[Func, Scope], Block]  #: the block and its reverse, with all values that it reads available


def gather(block: Block, branches: set[If]) -> None:
    """Move the ops between two marks into a branch that is always taken, in place; ``branches`` collects these branches."""
    for op in list(block.ops):
        for inner in op.blocks:
            gather(inner, branches)
    open_: list[tuple[Call, list[Op]]] = []
    ops: list[Op] = []
    for place, op in enumerate(block.ops):
        if isinstance(op, Call) and op.name == BEGIN:
            open_.append((op, ops))
            ops = []
        elif isinstance(op, Call) and op.name == END:
            begin, outer = open_.pop()
            rest = Block([], block.ops[place + 1 :], block.yields)
            branch = taken_always(begin, ops, rest)
            block.yields = rest.yields
            branches.add(branch)
            ops = [*outer, branch]
        else:
            ops.append(op)
    assert not open_
    block.ops = ops


def taken_always(begin: Call, ops: list[Op], rest: Block) -> If:
    """The branch that computes the results of these ops that ``rest`` reads."""
    own = {out: None for op in ops for out in op.outs}
    read = {value for value in read_in(rest) if value in own}
    values = [value for value in own if value in read]
    outs = [Value(value.type, value.name) for value in values]
    substitute(rest, dict(zip(values, outs, strict=True)))
    return If(outs, begin.loc, TRUE, Block([], ops, list(values)), Block([], [], [UNDEF] * len(outs)))


def unmarked(func: Func) -> Func:
    """Remove all marks, in place: without a reverse nothing is saved, so nothing need run again."""
    seen: set[Func] = set()
    pending = [func]
    while pending:
        one = pending.pop()
        seen.add(one)
        remove_ops(one.body, {op for op in walk(one.body) if isinstance(op, Call) and op.name in (BEGIN, END)})
        pending += [op.func for op in walk(one.body) if isinstance(op, Apply) and op.func is not None and op.func not in seen]
    return func


@dataclass(slots=True)
class CalledAgain:
    """One call: ``primal`` is its branch, ``op`` the reverse of that branch.

    ``body`` is the block whose values the reverse reads: it moves into the backward half, and the forward half
    gets a copy.
    """

    func: Func
    scope: Scope
    inner: Scope
    sweep: Sweep
    primal: If
    op: If
    body: Block = field(init=False)
    before: list[Op] = field(default_factory=list)  #: ops to insert before the call

    def __post_init__(self) -> None:
        self.body = self.primal.then

    def run(self, completed: Completed) -> Func:
        """Rewrite the call and its reverse; return the function that replaces the reverse in the backward half."""
        ops, _ = needed(self.inner, self.sweep, read_in(self.inner.reverse), {})
        refuse_unrepeatable(
            self.body, ops, "the function runs again in the backward half", "call it before, and pass its result as an argument"
        )
        written = self.written()
        with self.sweep.builder.inside(Block([], self.before)), self.sweep.builder.at(self.primal.loc):
            table: dict[Value, Operand] = {value: self.copy(value) for value in written}
        self.primal.then = clone_block(self.body, table)
        again = {value: Value(value.type, value.name) for value in written}
        self.body.args, self.body.yields = list(again.values()), []
        substitute(self.body, {**again})
        substitute(self.inner.reverse, {**again})
        place, self.inner.parent, self.inner.position = self.inner.position, None, 0
        drop_from(self.inner, {op for op in self.body.ops if op not in ops} | effects_in(self.body), self.sweep)
        whole = completed(Func(self.func.name, self.body, loc=self.primal.loc, notes=self.func.notes), self.inner)
        block = Block([], whole.ops, list(self.inner.reverse.yields))
        with self.sweep.builder.inside(Block()) as start, self.sweep.builder.at(self.primal.loc):
            substitute(block, {again[value]: self.copy(value) for value in written})
        block.ops[:0] = start.ops
        self.body.args = []
        branch = If(list(self.op.outs), self.primal.loc, TRUE, block, Block([], [], [UNDEF] * len(self.op.outs)))
        reversal = outlined(self.sweep, self.scope, self.op, [branch], f"{self.func.name}_again")
        insert(self.scope, place, self.before, self.sweep)
        return reversal

    def copy(self, value: Value) -> Value:
        """A copy of memory that the function writes to."""
        return self.sweep.builder.call("copy", value, hint=value.name)

    def written(self) -> list[Value]:
        """The outer values whose memory the function may write to."""
        outer = [value for value in free_values(self.body) if has_memory(value.type)]
        layout = Layout()
        layout.enter(self.body)
        memory = Memory.of(Func("", self.body), layout)
        return [value for value in outer if memory.is_written(value)]


def outlined(sweep: Sweep, scope: Scope, op: Op, ops: list[Op], name: str) -> Func:
    """Replace an op of the backward half by a call of a function of ``ops``, which compute its results."""
    body = Block([], ops, list(op.outs))
    table = {value: Value(value.type, value.name) for value in free_values(body)}
    substitute(body, {**table})
    body.args = list(table.values())
    func = Func(name, body, loc=op.loc)
    place = scope.reverse.ops.index(op)
    scope.reverse.ops[place] = call = Apply(list(op.outs), op.loc, func, list(table))
    sweep.turns[call] = sweep.turns[op]
    return func


def insert(scope: Scope, place: int, ops: list[Op], sweep: Sweep) -> None:
    """Insert ops before index ``place`` of a block, and update the recorded positions of the later ops."""
    scope.block.ops[place:place] = ops
    for op in scope.reverse.ops:
        if sweep.turns[op] >= place:
            sweep.turns[op] += len(ops)
        for block in op.blocks:
            if block in sweep.scopes and sweep.scopes[block].position >= place:
                sweep.scopes[block].position += len(ops)


__all__ = ["BEGIN", "END", "CalledAgain", "gather", "insert", "outlined", "unmarked"]
