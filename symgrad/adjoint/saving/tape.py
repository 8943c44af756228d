"""Carries out the plan: makes every primal value that the backward half reads available there.

The forward half gains ops that save. The backward half gains ops that get or pop saved values, read them back
from arrays, undo stores, recompute values and carry them through loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from symgrad.adjoint.accumulate import Scope
from symgrad.adjoint.analysis.memory import UNDO, Memory, has_memory
from symgrad.adjoint.saving.costs import INTERPRETED, Costs
from symgrad.adjoint.saving.demands import Demands
from symgrad.adjoint.saving.plan import MEANS, Means, Plan, path_of, read_back
from symgrad.adjoint.saving.remarks import tell_again, tell_plan
from symgrad.adjoint.saving.save import Saver, TapeUse, of_shape
from symgrad.ir.core import Block, Call, For, Func, If, Op, Operand, Value, While
from symgrad.ir.layout import Layout
from symgrad.ir.types import Array, List, Type
from symgrad.ops.build import Builder
from symgrad.ops.declare import ROWS
from symgrad.ops.indexing import is_basic


class Unplanned(AssertionError):
    """The plan relies on a value at a time at which it cannot be obtained."""


def available(
    func: Func,
    top: Scope,
    scopes: dict[Block, Scope],
    turns: dict[Op, int],
    results: Sequence[Operand],
    taken: set[str],
    means: Means = MEANS[0],
    costs: Costs = INTERPRETED,
    shared: bool = False,
    part: bool = False,
) -> Block:
    """The body of the whole function: the extended forward half, then the backward half, completed in place.

    The block yields ``results``, copied where they would share memory unless they may be ``shared``. Raises
    Unplanned where values cannot be obtained by these ``means`` as planned. If ``func`` is ``part`` of another
    function, arrays that it receives and returns are not copied.
    """
    layout = Layout()
    layout.enter(func.body)
    memory = Memory.of(func, layout)
    lasting = [v for v in (*func.body.args, *func.body.yields) if isinstance(v, Value) and has_memory(v.type)] if part else []
    demands = Demands(func, layout, memory, scopes, turns).of(top)
    plan = Plan(func, layout, memory, demands, means, costs, {memory.find(v) for v in lasting}).make()
    if func.notes is not None:
        tell_plan(plan)
    work = Availability(plan, Saver(plan, Builder(taken=taken)), Builder(taken=taken))
    work.saver.save()
    work.complete(top)
    yields = list(results) if shared else work.saver.results(results)
    work.saver.insert()
    return Block(func.body.args, [*func.body.ops, *top.reverse.ops], yields)


@dataclass(slots=True)
class Frame:
    """The values available in one reversed block while it is completed."""

    scope: Scope
    parent: Frame | None
    ops: list[Op] = field(default_factory=list)
    known: dict[Value, Operand] = field(default_factory=dict)
    current: dict[Value, Operand] = field(default_factory=dict)
    tapes: dict[Block, Operand] = field(default_factory=dict)
    old: dict[Call | TapeUse, Operand] = field(default_factory=dict)
    popped: bool = False
    time: int = 0  #: in the plan's unit


@dataclass(slots=True)
class Availability:
    """Completes the backward half: makes each primal value that it reads available."""

    plan: Plan
    saver: Saver
    builder: Builder

    def complete(self, top: Scope) -> None:
        """Complete the whole backward half in place."""
        frame = Frame(top, None)
        for use in self.saver.tapes.values():
            if not use.indexed:
                frame.tapes[use.block] = use.end
        for value in [v for v in self.plan.layout.places if v in self.plan.undo_reads]:
            trace = self.plan.traces[self.plan.memory.find(value)]
            if self.plan.layout.places[value][0] is top.block and (top.block, value) not in trace.moved:
                frame.current[value] = value
        self.block(frame)

    def block(self, frame: Frame) -> None:
        """Complete one reversed block: undo each store at its time, and resolve the operands."""
        scope, turns = frame.scope, self.plan.demands.turns
        todo = list(scope.reverse.ops)
        for turn in range(len(scope.block.ops), -2, -1):
            frame.time = 2 * turn + 1
            if 0 <= turn < len(scope.block.ops):
                op = scope.block.ops[turn]
                if isinstance(op, Call):
                    self.turn(frame, op)
            while todo and turns[todo[0]] == turn:
                self.op(frame, todo.pop(0))
        assert not todo
        frame.time = -2
        scope.reverse.yields = [self.get(y, frame) for y in scope.reverse.yields]
        if scope.block in self.saver.tapes and not self.saver.tapes[scope.block].indexed:
            self.pop(frame)
        scope.reverse.ops = frame.ops

    def op(self, frame: Frame, op: Op) -> None:
        """Resolve the operands of an op, complete its blocks, append it."""
        frame.time = 2 * self.plan.demands.turns[op] + (not isinstance(op, Call))
        op.replace_operands([self.get(o, frame) for o in op.operands])
        if isinstance(op, For):
            self.loop(frame, op)
        elif isinstance(op, If):
            self.branch(frame, op)
        frame.ops.append(op)

    # ---------------------------------------------------------------- obtaining values

    def get(self, operand: Operand, frame: Frame) -> Operand:
        """The operand that holds a primal value here."""
        if not isinstance(operand, Value) or operand not in self.plan.layout.places:
            return operand
        home = self.home(operand, frame)
        while operand not in frame.known and operand not in frame.current and frame.scope.block is not home:
            assert frame.parent is not None
            frame = frame.parent
        if operand in frame.known:
            return frame.known[operand]
        if operand in frame.current and operand not in self.plan.saved:
            return frame.current[operand]
        frame.known[operand] = stand_in = self.retrieved(operand, home, frame)
        return stand_in

    def home(self, value: Value, frame: Frame) -> Block:
        """The block in whose reverse a value is obtained: normally its own.

        A shape is read at its use if it belongs to a restored buffer, or to a name that is not bound
        everywhere.
        """
        source = self.plan.demands.shapes.get(value)
        if source is None or value in self.plan.saved or value in self.saver.kept:
            return self.plan.layout.places[value][0]
        here = self.plan.undoable(source) or source in self.plan.demands.unbound.sides
        return frame.scope.block if here else self.plan.layout.places[value][0]

    def retrieved(self, value: Value, home: Block, frame: Frame) -> Operand:
        """Obtain a value in the way that the plan chose."""
        plan = self.plan
        if value in plan.saved or value in self.saver.kept:
            if plan.layout.static(home):
                return self.saver.export(self.saver.kept[value], home)
            self.pop(frame)
            return frame.known[value]
        if plan.alive(value):
            return self.saver.export(value, home)
        if value in plan.joins:
            branch, k = plan.joins[value]
            assert frame.parent is not None
            return self.get(branch.outs[k], frame.parent)
        if value in plan.demands.shapes:
            source = plan.demands.shapes[value]
            return self.again(frame, "shape_of", [source], of_shape(plan.layout.op_of(source)), value)
        if plan.is_index(value):
            return frame.scope.reverse.args[0]
        op = plan.layout.op_of(value)
        if (standing := plan.standing(value)) is not None:
            access, last = standing
            path = access.args[1:] if access is op else path_of(access)
            like = replace(value.type, layout="?") if isinstance(value.type, Array) else value.type
            row, settings = read_back(access)
            if isinstance(value.type, Array) and is_basic(access.settings["index"], [o.type for o in path]):
                row = "view"
            return self.again(frame, row, [last, *path], settings, value, like)
        store = plan.stored.get(value)
        if (
            store is not None
            and plan.undoable(store.outs[0])
            and not (isinstance(op, Call) and plan.repeatable(op, frame.scope, frame.time))
        ):
            row, settings = read_back(store)
            return self.again(frame, row, [store.outs[0], *path_of(store)], settings, value)
        if not isinstance(op, Call) or plan.undoable(value):
            raise Unplanned(f"cannot have {value} at this time")
        return self.again(frame, op.name, op.args, op.settings, value)

    def again(
        self, frame: Frame, name: str, args: list[Operand], settings: dict[str, object], value: Value, type_: Type | None = None
    ) -> Operand:
        """Recompute a value."""
        op = self.plan.layout.op_of(value)
        call = Call(
            [Value(type_ or value.type, value.name)],
            op.loc if op is not None else self.plan.func.loc,
            name,
            [self.get(a, frame) for a in args],
            dict(settings),
        )
        frame.ops.append(call)
        tell_again(self.plan, value, args)
        return call.outs[0]

    def pop(self, frame: Frame) -> None:
        """Pop the values that the block has pushed, once."""
        if frame.popped:
            return
        frame.popped = True
        use = self.saver.tapes[frame.scope.block]
        items = [Value(v.type, v.name) for v in use.items]
        loc = frame.scope.op.loc if frame.scope.op is not None else self.plan.func.loc
        if use.count is not None:
            assert frame.parent is not None
            first = None if use.count.first is None else self.get(use.count.first, frame.parent)
            with self.builder.inside(Block([], frame.ops)), self.builder.at(loc):
                place = use.count.place(self.builder, frame.scope.reverse.args[0], first)
            frame.ops.append(Call(items, loc, "get", [self.old(frame.parent, use), place], {}))
        else:
            tape = frame.tapes[use.block]
            rest = Value(tape.type, tape.name if isinstance(tape, Value) else None)
            frame.ops.append(Call([rest, *items], loc, "pop", [tape], {}))
            frame.tapes[use.block] = rest
        for key, item in zip(use.keys, items, strict=True):
            if isinstance(key, Call | TapeUse):
                frame.old[key] = item
            else:
                frame.known[key] = item

    # ---------------------------------------------------------------- restoring memory

    def turn(self, frame: Frame, op: Call) -> None:
        """Step back over a store: read back the values needed from it, and undo it, or skip it where nothing reads the old state."""
        for value in self.plan.captured.get(op, ()):
            if value not in frame.known:
                row, settings = read_back(op)
                frame.known[value] = self.again(frame, row, [op.outs[0], *path_of(op)], settings, value)
        if any(op is store for store in self.plan.undone):
            self.undo(frame, op)
        elif ROWS[op.name].consumes and op.outs[0] in frame.current and op.args[0] in self.plan.undo_reads:
            assert isinstance(op.args[0], Value)
            frame.current[op.args[0]] = frame.current.pop(op.outs[0])

    def undo(self, frame: Frame, store: Call) -> None:
        """Restore the content that a store has overwritten."""
        value = store.args[0]
        assert isinstance(value, Value)
        saving, row = UNDO[store.name]
        path = [self.get(o, frame) for o in path_of(store)]
        state = frame.current.pop(store.outs[0])
        old = [self.old(frame, store)] if saving else []
        with self.builder.inside(Block([], frame.ops)), self.builder.at(store.loc):
            if self.plan.memory.nested and old and isinstance(old[0].type, List):  # the list may change it in place
                old = [self.builder.call("copy", old[0], hint="old")]
            if row == "set_at":
                index = store.settings.get("index", "e")
                frame.current[value] = self.builder.call(row, state, *old, *path, hint=value.name, index=index)
            else:
                frame.current[value] = self.builder.call(row, state, *path, *old, hint=value.name)
        self.forget(frame, value)

    def old(self, frame: Frame, key: Call | TapeUse) -> Operand:
        """The content that a store has overwritten, or the tape of an inner loop."""
        block = frame.scope.block
        if self.plan.layout.static(block):
            return self.saver.export(self.saver.kept[key], block)
        self.pop(frame)
        return frame.old[key]

    def forget(self, frame: Frame, value: Value) -> None:
        """Drop the known views of a buffer, which restoring invalidates."""
        root = self.plan.memory.find(value)
        where: Frame | None = frame
        while where is not None:
            for known in [k for k in where.known if has_memory(k.type) and self.plan.memory.find(k) is root and k not in self.plan.saved]:
                del where.known[known]
            where = where.parent

    # ---------------------------------------------------------------- loops and branches

    def chain(self, frame: Frame, block: Block) -> list[Block]:
        """The blocks whose stacks are popped in ``block`` or inside it."""
        return list(self.saver.inside.get(block, ()))

    def loop(self, frame: Frame, op: For) -> None:
        """Let a reversed loop carry tapes, restored buffers, and values that are carried backwards."""
        scope = self.plan.demands.scopes[op.body]
        inner = Frame(scope, frame)
        primal = frame.scope.block.ops[scope.position]
        assert isinstance(primal, For | While)
        states = self.states(primal)
        values = [k for o, k in sorted(self.plan.carried, key=lambda entry: entry[1]) if o is primal]
        tapes = self.chain(frame, scope.block)
        for k in states:
            out, target = primal.outs[k], primal.body.yields[k]
            assert isinstance(target, Value)
            inner.current[target] = carry(op, frame.current.pop(out), target)
        for k in values:
            target = primal.body.yields[k]
            assert isinstance(target, Value)
            inner.known[target] = carry(op, self.get(primal.outs[k], frame), target)
        for owner in tapes:
            inner.tapes[owner] = carry(op, frame.tapes[owner], None)
        self.block(inner)
        extra: list[Operand] = [inner.current[primal.carried[k]] for k in states]
        extra += [self.get(primal.carried[k], inner) for k in values]
        scope.reverse.ops = inner.ops
        extra += [inner.tapes[owner] for owner in tapes]
        op.body.yields += extra
        outs = [Value(slot.type, slot.name) for slot in op.carried[len(op.outs) :]]
        op.outs += outs
        for k, out in zip(states, outs, strict=False):
            source = primal.inits[k]
            assert isinstance(source, Value)
            frame.current[source] = out
            self.forget(frame, source)
        for owner, out in zip(tapes, outs[len(states) + len(values) :], strict=True):
            frame.tapes[owner] = out

    def states(self, primal: Op) -> list[int]:
        """The result indices of a loop or branch that hold buffers to be restored to states inside it."""
        positions: list[int] = []
        for trace in self.plan.traces.values():
            slots = trace.slots.get(primal, [])
            inside: list[Operand] = [b.yields[k] for b in primal.blocks for k in slots] if isinstance(primal, If) else []
            if isinstance(primal, For | While):
                inside = [primal.carried[k] for k in slots]
            positions += slots if any(v in self.plan.undo_reads for v in inside) else []
        return positions

    def branch(self, frame: Frame, op: If) -> None:
        """Pass tapes and buffers into both sides, and join them afterwards."""
        sides = [Frame(self.plan.demands.scopes[block], frame) for block in op.blocks]
        primal = frame.scope.block.ops[sides[0].scope.position]
        assert isinstance(primal, If)
        states = self.states(primal)
        entering = {k: frame.current.pop(primal.outs[k]) for k in states}
        owners = {owner: None for side in sides for owner in self.chain(frame, side.scope.block)}
        for side, block in zip(sides, primal.blocks, strict=True):
            for k in states:
                target = block.yields[k]
                assert isinstance(target, Value)
                side.current[target] = entering[k]
            side.tapes = {owner: frame.tapes[owner] for owner in owners}
            self.block(side)
        passed = [v for trace in self.plan.traces.values() for v in trace.passed.get(primal, ()) if v in self.plan.undo_reads]
        for value in passed:
            join_sides(op, [side.current[value] for side in sides], value.name)
            frame.current[value] = op.outs[-1]
            self.forget(frame, value)
        for owner in owners:
            ends = [side.tapes[owner] for side in sides]
            join_sides(op, ends, ends[0].name if isinstance(ends[0], Value) else None)
            frame.tapes[owner] = op.outs[-1]


def carry(op: For, start: Operand, like: Value | None) -> Value:
    """Carry one more value into a reversed loop."""
    name = like.name if like is not None else start.name if isinstance(start, Value) else None
    slot = Value(start.type if like is None else like.type, name)
    op.inits.append(start)
    op.body.args.append(slot)
    return slot


def join_sides(op: If, ends: list[Operand], name: str | None) -> None:
    """Add one result to a reversed branch."""
    op.outs.append(Value(ends[0].type, name))
    for block, end in zip(op.blocks, ends, strict=True):
        block.yields.append(end)
