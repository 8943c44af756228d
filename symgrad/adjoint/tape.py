"""Makes every value that the backward half reads available there: the plan carried out.

The forward half gets the ops that save; the backward half those that pop, undo, compute again and
carry. A block inside loops has one tape: one push for all its values each time it runs, one pop. Where
a loop's rounds are counted from the start, its tape has a place for each, made just before the loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from symgrad.adjoint.account import tell_again, tell_plan
from symgrad.adjoint.accumulate import Scope
from symgrad.adjoint.expand import number
from symgrad.adjoint.memory import UNDO, Layout, Memory, has_memory
from symgrad.adjoint.plan import Plan, path_of
from symgrad.ir.core import ONE, UNDEF, Block, Call, Const, For, Func, If, Op, Operand, Value, While
from symgrad.ir.types import Array, Tape
from symgrad.ops.build import Builder


def available(
    func: Func, top: Scope, scopes: dict[Block, Scope], turns: dict[Op, int], results: Sequence[Operand], taken: set[str]
) -> Block:
    """The body of the whole function: the forward half, extended, followed by the backward half, completed in place.

    The block yields ``results``, copied where they would share memory.
    """
    layout = Layout()
    layout.enter(func.body)
    memory = Memory.of(func, layout)
    plan = Plan(func, layout, memory, top, scopes, turns).make()
    tell_plan(plan)
    work = Availability(plan, Saver(plan, Builder(taken=taken)), Builder(taken=taken))
    work.saver.save()
    work.complete(top)
    yields = work.saver.results(results)
    work.saver.insert()
    return Block(func.body.args, [*func.body.ops, *top.reverse.ops], yields)


@dataclass(slots=True, eq=False)
class TapeUse:
    """One tape: the block that saves, what it saves, and the tape's value when the forward half is over.

    If ``indexed`` the tape is itself one of the values saved by the block around the loop.
    """

    block: Block
    indexed: bool
    items: list[Value] = field(default_factory=list)
    keys: list[Key] = field(default_factory=list)
    end: Operand = UNDEF

    @property
    def name(self) -> str:
        names = [v.name for v in self.items]
        return f"{names[0].removesuffix('_tape')}_tape" if len(names) == 1 and names[0] else "tape"


Key = Value | Call | TapeUse  #: what is saved: a value, what a store overwrites, a tape


@dataclass(slots=True)
class Saver:
    """Extends the forward half. Ops are collected first and inserted last, so that positions hold meanwhile."""

    plan: Plan
    builder: Builder
    before: dict[tuple[Block, int], list[Op]] = field(default_factory=dict)
    after: dict[tuple[Block, int], list[Op]] = field(default_factory=dict)
    kept: dict[Key, Value] = field(default_factory=dict)
    exported: dict[Value, Value] = field(default_factory=dict)
    tapes: dict[Block, TapeUse] = field(default_factory=dict)
    inside: dict[Block, list[Block]] = field(default_factory=dict)  #: of each block those in it, itself included, that have a stack
    made: dict[Value, int] = field(default_factory=dict)  #: the op after which a tape is full, as its place in the block

    def call(self, where: list[Op], model: Op | None, name: str, *args: Operand, hint: str | None = None, **settings: object) -> Value:
        """Build one op into a list."""
        block = Block([], where)
        with self.builder.inside(block), self.builder.at(model.loc if model is not None else self.plan.func.loc):
            return self.builder.call(name, *args, hint=hint, **settings)

    def save(self) -> None:
        """Everything that the plan says is saved."""
        order = self.plan.layout.order
        for value in sorted(self.plan.saved, key=order.__getitem__):
            self.save_value(value)
        for value in self.plan.shapes:
            if value not in self.plan.saved and self.plan.alive(value):
                self.save_value(value)
        for store in sorted(self.plan.undone, key=lambda store: order[store.outs[0]]):
            self.save_slice(store)
        depths = self.plan.layout.depths
        done: set[Block] = set()
        while left := [block for block in self.tapes if block not in done]:
            block = max(left, key=depths.__getitem__)  # the tape of an inner loop is saved by the block around it
            done.add(block)
            if self.tapes[block].indexed:
                self.index(self.tapes[block])
            else:
                self.thread(self.tapes[block])

    def save_value(self, value: Value) -> None:
        """Keep a value as it is when it is defined."""
        block, index = self.plan.layout.places[value]
        where = self.after.setdefault((block, index), [])
        source = self.plan.shapes.get(value)
        if source is not None:
            self.kept_as(value, block, self.call(where, self.plan.layout.op_of(source), "shape_of", source, hint=value.name))
        elif self.plan.memory.overwritten(value):
            self.kept_as(value, block, self.call(where, self.plan.layout.op_of(value), "copy", value, hint=value.name))
        else:
            self.kept_as(value, block, value)

    def save_slice(self, store: Call) -> None:
        """Keep what a store is about to overwrite."""
        block, index = self.plan.layout.places[store.outs[0]]
        row = UNDO[store.name][0]
        if not row:
            return
        where = self.before.setdefault((block, index), [])
        name = store.outs[0].name
        hint = f"{name}_old" if name else "old"
        if row == "take":
            made = self.call(where, store, row, store.args[0], *path_of(store), hint=hint, index=store.settings["index"])
        elif row == "list_take":
            place = path_of(store) or [Const(-1)]
            made = self.call(where, store, row, store.args[0], *place, hint=hint)
        else:
            made = self.call(where, store, row, store.args[0], hint=hint)
        self.kept_as(store, block, made)

    def kept_as(self, key: Key, block: Block, value: Value) -> None:
        """Remember what holds a saved value; inside loops it goes on the block's tape."""
        self.kept[key] = value
        if not self.plan.layout.static(block):
            use = self.tapes.get(block) or self.new_tape(block)
            use.items.append(value)
            use.keys.append(key)

    def new_tape(self, block: Block) -> TapeUse:
        """A tape for what a block saves; a stack is handed through the blocks around."""
        use = TapeUse(block, is_counted(self.plan.layout.owners[block][2]))
        self.tapes[block] = use
        for around, _ in () if use.indexed else self.plan.layout.path((block, 0)):
            self.inside.setdefault(around, []).append(block)
        return use

    # ---------------------------------------------------------------- tapes through loops and branches

    def index(self, use: TapeUse) -> None:
        """Create a tape just before the loop whose rounds it has places for, and save it with what the block around saves."""
        outer, place, op = self.plan.layout.owners[use.block]
        assert isinstance(op, For)
        before = self.before.setdefault((outer, place), [])
        count = op.stop if number(op.step) == 1 else self.call(before, op, "add", op.start, ONE)
        tape = self.call(before, op, "slots", count, hint=use.name)
        inside, out = enter(op, use.block, tape, Tape(tuple(v.type for v in use.items), True), use.name)
        leave(op, use.block, self.store(use, "put", inside, op.index))
        self.made[out] = place
        self.kept_as(use, outer, out)

    def thread(self, use: TapeUse) -> None:
        """Create a tape outside all loops, carry it in to the block that pushes, and out again."""
        path = self.plan.layout.path((use.block, 0))
        blocks = [block for block, _ in path]
        first = next(k for k, block in enumerate(blocks) if not self.plan.layout.static(block))
        hint = use.name
        outer, index = path[first - 1]
        tape = self.call(self.before.setdefault((outer, index), []), outer.ops[index], "tape", hint=hint)
        type_ = Tape(tuple(v.type for v in use.items))
        outs: list[Value] = []
        for (block, place), inner in zip(path[first - 1 :], blocks[first:], strict=False):
            tape, out = enter(block.ops[place], inner, tape, type_, hint)
            outs.append(out)
        pushed = self.store(use, "push", tape)
        for inner, out in zip(reversed(blocks[first:]), reversed(outs), strict=True):
            leave(self.plan.layout.owners[inner][2], inner, pushed)
            pushed = out
        use.end = self.export(pushed, outer)

    def store(self, use: TapeUse, name: str, *where: Value) -> Value:
        """The op that saves, as soon as all its values are there."""
        tables, indices = (self.before, self.after), range(-1, len(use.block.ops) + 1)
        own = {op: index for table in tables for index in indices for op in table.get((use.block, index), ())}
        last = -1
        for value in use.items:
            if value in self.made:
                last = max(last, self.made[value])
                continue
            place = self.plan.layout.places.get(value)
            last = max(last, place[1] if place is not None else next(i for op, i in own.items() if value in op.outs))
        model = use.block.ops[last] if last >= 0 else self.plan.layout.owners[use.block][2]
        return self.call(self.after.setdefault((use.block, last), []), model, name, *where, *use.items, hint=use.name)

    def export(self, value: Value, block: Block) -> Value:
        """The value made visible at the top level, through the results of branches."""
        if value in self.exported:
            return self.exported[value]
        made = value
        while block in self.plan.layout.owners:
            outer, _, op = self.plan.layout.owners[block]
            assert isinstance(op, If)
            out = Value(value.type, value.name)
            op.outs.append(out)
            for side in op.blocks:
                side.yields.append(made if side is block else UNDEF)
            made, block = out, outer
        self.exported[value] = made
        return made

    # ---------------------------------------------------------------- results, and the end

    def results(self, results: Sequence[Operand]) -> list[Operand]:
        """What is returned, in memory that nobody else knows."""
        memory = self.plan.memory
        held = {memory.find(p) for p in self.plan.func.params} | set(self.plan.traces)
        body = self.plan.func.body
        made: list[Operand] = []
        for result in results:
            if isinstance(result, Value) and has_memory(result.type):
                root = memory.find(result)
                if root in held and isinstance(result.type, Array):
                    result = self.call(self.after.setdefault((body, len(body.ops) - 1), []), None, "copy", result, hint=result.name)
                held.add(root)
            made.append(result)
        return made

    def insert(self) -> None:
        """Put the collected ops in their places."""
        for block in {key[0] for key in (*self.before, *self.after)}:
            ops = list(self.after.get((block, -1), []))
            for index, op in enumerate(block.ops):
                ops += [*self.before.get((block, index), []), op, *self.after.get((block, index), [])]
            block.ops = ops


def is_counted(op: Op) -> bool:
    """Has a tape of the loop a place for each index, without waste?"""
    if not isinstance(op, For) or op.until:
        return False
    start, stop, step = number(op.start), number(op.stop), number(op.step)
    if step == 1:
        return start is not None and 0 <= start <= 2
    return step == -1 and stop is not None and -1 <= stop <= 1


def enter(op: Op, inner: Block, tape: Operand, type_: Tape, hint: str) -> tuple[Value, Value]:
    """Carry a tape into one block of an op; the value inside, and the value after the op."""
    out = Value(type_, hint)
    if isinstance(op, If):
        op.outs.append(out)
        for side in op.blocks:
            if side is not inner:
                side.yields.append(tape)
        assert isinstance(tape, Value)
        return tape, out
    assert isinstance(op, For | While)
    count = len(op.inits)
    inside = Value(type_, hint)
    op.inits.append(tape)
    inner.args.append(inside)
    if isinstance(op, While):
        op.test.args.append(Value(type_, hint))
    op.outs.insert(count, out)
    return inside, out


def leave(op: Op, block: Block, tape: Operand) -> None:
    """Yield a tape: after all that is carried, before the bool that ends the loop."""
    until = isinstance(op, For | While) and op.until
    block.yields.insert(len(block.yields) - until, tape)


# ------------------------------------------------------------------ the backward half


@dataclass(slots=True)
class Frame:
    """What is at hand in one reversed block while it is completed."""

    scope: Scope
    parent: Frame | None
    ops: list[Op] = field(default_factory=list)
    known: dict[Value, Operand] = field(default_factory=dict)
    current: dict[Value, Operand] = field(default_factory=dict)
    tapes: dict[Block, Operand] = field(default_factory=dict)
    old: dict[Call | TapeUse, Operand] = field(default_factory=dict)
    popped: bool = False


@dataclass(slots=True)
class Availability:
    """Completes the backward half."""

    plan: Plan
    saver: Saver
    builder: Builder

    def complete(self, top: Scope) -> None:
        """Complete the whole backward half in place."""
        frame = Frame(top, None)
        for use in self.saver.tapes.values():
            if not use.indexed:
                frame.tapes[use.block] = use.end
        for value in self.plan.wanted:
            trace = self.plan.traces[self.plan.memory.find(value)]
            if self.plan.layout.places[value][0] is top.block and (top.block, value) not in trace.moved:
                frame.current[value] = value
        self.block(frame)

    def block(self, frame: Frame) -> None:
        """Complete one reversed block: undo each store at its turn, and resolve what is read."""
        scope, turns = frame.scope, self.plan.turns
        todo = list(scope.reverse.ops)
        for turn in range(len(scope.block.ops), -2, -1):
            if 0 <= turn < len(scope.block.ops):
                op = scope.block.ops[turn]
                if isinstance(op, Call) and any(op is store for store in self.plan.undone):
                    self.undo(frame, op)
            while todo and turns[todo[0]] == turn:
                self.op(frame, todo.pop(0))
        assert not todo
        scope.reverse.yields = [self.get(y, frame) for y in scope.reverse.yields]
        if scope.block in self.saver.tapes and not self.saver.tapes[scope.block].indexed:
            self.pop(frame)
        scope.reverse.ops = frame.ops

    def op(self, frame: Frame, op: Op) -> None:
        """Resolve the operands of an op, complete its blocks, append it."""
        op.replace_operands([self.get(o, frame) for o in op.operands])
        if isinstance(op, For):
            self.loop(frame, op)
        elif isinstance(op, If):
            self.branch(frame, op)
        frame.ops.append(op)

    # ---------------------------------------------------------------- having a value

    def get(self, operand: Operand, frame: Frame) -> Operand:
        """The operand that stands for a value of the forward half here."""
        if not isinstance(operand, Value) or operand not in self.plan.layout.places:
            return operand
        home = self.plan.layout.places[operand][0]
        while operand not in frame.known and operand not in frame.current and frame.scope.block is not home:
            assert frame.parent is not None
            frame = frame.parent
        if operand in frame.known:
            return frame.known[operand]
        if operand in frame.current and operand not in self.plan.saved:
            return frame.current[operand]
        frame.known[operand] = made = self.found(operand, home, frame)
        return made

    def found(self, value: Value, home: Block, frame: Frame) -> Operand:
        """Have a value by the way that the plan chose."""
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
        if value in plan.shapes:
            return self.again(frame, "shape_of", [plan.shapes[value]], {}, value)
        if plan.is_index(value):
            return frame.scope.reverse.args[0]
        op = plan.layout.op_of(value)
        assert isinstance(op, Call), f"cannot have {value}"
        assert not plan.undoable(value), f"cannot have {value} at this time"
        return self.again(frame, op.name, op.args, op.settings, value)

    def again(self, frame: Frame, name: str, args: list[Operand], settings: dict[str, object], value: Value) -> Operand:
        """Compute a value anew."""
        op = self.plan.layout.op_of(value)
        made = Call([Value(value.type, value.name)], op.loc if op is not None else self.plan.func.loc, name,
                    [self.get(a, frame) for a in args], dict(settings))  # fmt: skip
        frame.ops.append(made)
        tell_again(self.plan, value, args)
        return made.outs[0]

    def pop(self, frame: Frame) -> None:
        """Take what the block has pushed from its tape, once."""
        if frame.popped:
            return
        frame.popped = True
        use = self.saver.tapes[frame.scope.block]
        items = [Value(v.type, v.name) for v in use.items]
        loc = frame.scope.op.loc if frame.scope.op is not None else self.plan.func.loc
        if use.indexed:
            assert frame.parent is not None
            frame.ops.append(Call(items, loc, "get", [self.old(frame.parent, use), frame.scope.reverse.args[0]], {}))
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

    # ---------------------------------------------------------------- turning memory back

    def undo(self, frame: Frame, store: Call) -> None:
        """Put back what a store has overwritten."""
        value = store.args[0]
        assert isinstance(value, Value)
        saving, row = UNDO[store.name]
        path = [self.get(o, frame) for o in path_of(store)]
        state = frame.current.pop(store.outs[0])
        old = [self.old(frame, store)] if saving else []
        with self.builder.inside(Block([], frame.ops)), self.builder.at(store.loc):
            if row == "set_at":
                index = store.settings.get("index", "e")
                frame.current[value] = self.builder.call(row, state, *old, *path, hint=value.name, index=index)
            else:
                frame.current[value] = self.builder.call(row, state, *path, *old, hint=value.name)
        self.forget(frame, value)

    def old(self, frame: Frame, key: Call | TapeUse) -> Operand:
        """What a store has overwritten, or a tape of a loop inside."""
        block = frame.scope.block
        if self.plan.layout.static(block):
            return self.saver.export(self.saver.kept[key], block)
        self.pop(frame)
        return frame.old[key]

    def forget(self, frame: Frame, value: Value) -> None:
        """Views of a buffer are not what they were once it is turned back."""
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
        """Carry tapes, buffers that are turned back, and values that are carried backwards."""
        scope = self.plan.scopes[op.body]
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
        made = [Value(slot.type, slot.name) for slot in op.carried[len(op.outs) :]]
        op.outs += made
        for k, out in zip(states, made, strict=False):
            source = primal.inits[k]
            assert isinstance(source, Value)
            frame.current[source] = out
            self.forget(frame, source)
        for owner, out in zip(tapes, made[len(states) + len(values) :], strict=True):
            frame.tapes[owner] = out

    def states(self, primal: Op) -> list[int]:
        """The results of a loop or branch that hold buffers to be turned back to where they were inside it."""
        made: list[int] = []
        for trace in self.plan.traces.values():
            slots = trace.slots.get(primal, [])
            inside: list[Operand] = [b.yields[k] for b in primal.blocks for k in slots] if isinstance(primal, If) else []
            if isinstance(primal, For | While):
                inside = [primal.carried[k] for k in slots]
            made += slots if any(v in self.plan.wanted for v in inside) else []
        return made

    def branch(self, frame: Frame, op: If) -> None:
        """Hand tapes and buffers into both sides, and join them after."""
        sides = [Frame(self.plan.scopes[block], frame) for block in op.blocks]
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
        passed = [v for trace in self.plan.traces.values() for v in trace.passed.get(primal, ()) if v in self.plan.wanted]
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
    """One more result of a reversed branch."""
    op.outs.append(Value(ends[0].type, name))
    for block, end in zip(op.blocks, ends, strict=True):
        block.yields.append(end)
