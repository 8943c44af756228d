"""Chooses which values are printed inline at their one use, and which get a statement of their own.

A value is nested if it is used once, in the same block, and the line stays short. No op in between may have a
side effect, change what the value reads, or reassign a variable that it reads. Two ops that may raise different
exceptions keep their order.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from symgrad.codegen.expressions import has_path, mentions, parsed, text_of, times_named
from symgrad.codegen.memory import Cell, Memory, Raised, memory_of, raised_in
from symgrad.ir.core import UNDEF, Apply, Block, Call, For, Func, If, Op, Operand, Value, While, defined_by, ops_within, uses, walk
from symgrad.ir.types import Array, Scalar, Tape
from symgrad.ops.declare import ROWS

WIDTH = 88
READ_WIDTH = 96  #: of text that is read
INDENT = 4
NARROWEST = 40


@dataclass(slots=True)
class Layout:
    """The nesting of values: ``nested`` values have no variable; ``producer`` is the op that defines a value."""

    memory: Memory
    count: dict[Value, int]
    nested: set[Value] = field(default_factory=set)
    producer: dict[Value, Op] = field(default_factory=dict)
    backward: set[Op] = field(default_factory=set)
    choices: set[Op] = field(default_factory=set)  #: ``if`` ops printed as expressions
    shortcuts: dict[Op, bool] = field(default_factory=dict)  #: among these ``and`` (True) and ``or`` (False)
    texts: dict[Call, str] = field(default_factory=dict)  #: cache of ``text``

    def text(self, op: Call) -> str:
        """The text of an op's row."""
        if op not in self.texts:
            self.texts[op] = text_of(op)
        return self.texts[op]

    def inputs(self, op: Op) -> list[Operand]:
        """The operands that the op's own statement or expression evaluates."""
        if op not in self.choices:
            return op.operands
        assert isinstance(op, If)
        if op in self.shortcuts:
            return [op.test, *(op.then if self.shortcuts[op] else op.orelse).yields]
        return [op.test, *op.then.yields, *op.orelse.yields]

    def is_root(self, op: Op) -> bool:
        """Whether the op has a statement of its own."""
        return not any(out in self.nested for out in op.outs)

    def leaves(self, operands: list[Operand]) -> Iterator[Value]:
        """The variables read when the operands are evaluated, including those read by nested values."""
        for operand in operands:
            if not isinstance(operand, Value):
                continue
            if operand in self.nested:
                yield from self.leaves(self.inputs(self.producer[operand]))
            else:
                yield operand

    def popped(self, operands: list[Operand]) -> Iterator[Value]:
        """The further results of ops nested in the operands: tapes after a pop."""
        for operand in operands:
            if isinstance(operand, Value) and operand in self.nested:
                op = self.producer[operand]
                yield from (out for out in op.outs if out is not operand)
                yield from self.popped(self.inputs(op))


def is_users(name: str | None) -> bool:
    """Whether the name is the user's, not generated."""
    return name is not None and not name.startswith("%")


@lru_cache(maxsize=4096)
def preferred_name(name: str | None) -> str:
    """The preferred variable name of a value.

    >>> preferred_name("h_1"), preferred_name("%return"), preferred_name("%choice12_3_grad"), preferred_name(None)
    ('h_1', 'return', 'choice_grad', 't')
    """
    if name is None:
        return "t"
    return name if is_users(name) else re.sub(r"_?\d+", "", name[1:]) or "t"


def is_fused(op: Op) -> bool:
    """Whether the op is a loop whose iterations are reversed immediately."""
    return isinstance(op, For) and not op.backward and any(inner.loc.backward for inner in walk(op.body))


def is_pop(op: Op) -> bool:
    """Whether the op pops one value from a tape."""
    return isinstance(op, Call) and len(op.outs) == 2 and isinstance(op.outs[0].type, Tape) and ROWS[op.name].consumes


@lru_cache(maxsize=4096)
def is_operation(text: str) -> bool:
    """Whether a text is an operator between operands."""
    (statement,) = parsed(text)[:1] or (None,)
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.BinOp | ast.Compare | ast.BoolOp)


def is_reading(op: Op) -> bool:
    """Whether the op only reads memory."""
    return isinstance(op, Call) and (op.name in READING or ROWS[op.name].alias != "fresh")


READING = frozenset({"take", "list_take", "table_take", "shape_of", "extent"})


@dataclass(slots=True)
class Planner:
    """Plans the nesting, block by block."""

    layout: Layout
    raised: Raised = field(default_factory=dict)  #: by the user's function; without an entry none is
    is_read: bool = False
    root_of: dict[Op, int] = field(default_factory=dict)
    widths: dict[Value, int] = field(default_factory=dict)

    def block(self, block: Block, ends: set[Value], depth: int, split: int | None = None, backward: bool = False) -> None:
        """Plan a block; ``ends`` are the operands of its end that may be nested there."""
        for k, op in enumerate(block.ops):
            if backward or op.loc.backward or (split is not None and k >= split):
                self.layout.backward.add(op)
            for out in op.outs:
                self.layout.producer[out] = op
            self.inside(op, depth + 1, op in self.layout.backward and not (self.is_read and is_fused(op)))
        user = users(block)
        history = History.of(block, self.layout.memory)
        raising = [k for k, op in enumerate(block.ops) if op in self.raised and op not in self.layout.backward]
        taken: dict[int, set[Cell]] = {}
        for k in range(len(block.ops) - 1, -1, -1):
            op = block.ops[k]
            self.root_of[op] = k
            value = self.candidate(op)
            if value is None or value not in user:
                continue
            use = user[value]
            if use is None and (value not in ends or is_drop(op) and any(map(self.layout.is_root, block.ops[k + 1 :]))):
                continue
            if use is not None and not self.accepts(use, value, op):
                continue
            root = len(block.ops) if use is None else self.root_of[use]
            if split is not None and k < split <= root or use is not None and use.loc.backward and not (op.loc.backward or is_reading(op)):
                continue  # the primal is computed before anything of its derivative
            if not self.is_substituted(op, value, use) or not history.undisturbed(op, k, root, self.layout, use):
                continue
            if op in self.raised and any(self.overtakes(op, block.ops[j], root) for j in raising[bisect_right(raising, k) :] if j < root):
                continue
            if not is_pop(op) and self.layout.memory.writes(op)[1] and not self.leads_to(block, k, root, user):
                continue  # an op with a side effect keeps its place among the reads of its statement
            if is_pop(op) and not history.alone(op, k, root, self.layout.memory, taken):
                continue
            self.root_of[op] = root
            self.layout.nested.add(value)
        self.narrow(block, depth, user)

    def overtakes(self, op: Op, later: Op, root: int) -> bool:
        """Whether ``later`` would raise its exception before another one of ``op`` if ``op`` were evaluated at ``root``."""
        return self.root_of[later] != root and op not in self.layout.backward and len(self.raised[op] | self.raised[later]) > 1

    def inside(self, op: Op, depth: int, backward: bool) -> None:
        """Plan the blocks of an op."""
        match op:
            case For():
                self.block(op.body, tail_ends(op.body, op.until), depth, backward=backward)
            case While():
                self.block(op.test, set(values(op.test.yields)), depth, backward=backward)
                self.block(op.body, tail_ends(op.body, op.until), depth, backward=backward)
            case If():
                expression = len(op.outs) == 1 and not is_users(op.outs[0].name)
                for block in op.blocks:
                    self.block(block, set(values(block.yields)), depth, backward=backward)
                if expression:
                    self.choose(op)

    def choose(self, op: If) -> None:
        """Make the op an expression, ``a if test else b``, if nothing in it needs a statement."""
        layout = self.layout
        plain = all(y is not UNDEF for block in op.blocks for y in block.yields) and layout.memory.writes(op) == (frozenset(), False)
        if plain and not any(layout.is_root(inner) for block in op.blocks for inner in block.ops):
            layout.choices.add(op)
            for is_and, block in ((True, op.orelse), (False, op.then)):
                if block.yields[0] is op.test and isinstance(op.test, Value) and op not in layout.shortcuts:
                    layout.shortcuts[op] = is_and
                    layout.count[op.test] -= 1

    def leads_to(self, block: Block, k: int, root: int, user: dict[Value, Op | None]) -> bool:
        """Whether each op from the k-th to the one at ``root`` is read by the next, so that nothing is evaluated between them."""
        while k + 1 < root:
            (value, *others), following = block.ops[k].outs, block.ops[k + 1]
            if others or user.get(value) is not following or self.layout.is_root(following):
                return False
            k += 1
        return True

    def candidate(self, op: Op) -> Value | None:
        """The value as which an op might be nested."""
        if op in self.layout.choices:
            return op.outs[0] if self.layout.count.get(op.outs[0]) == 1 else None
        if isinstance(op, Apply) and len(op.outs) == 1:
            return op.outs[0] if self.layout.count.get(op.outs[0]) == 1 else None
        if not isinstance(op, Call) or not op.outs:
            return None
        row = ROWS[op.name]
        if is_pop(op):
            value = op.outs[1]
        elif len(op.outs) == 1 and not row.statement and not row.consumes:
            value = op.outs[0]
        else:
            return None
        return value if self.layout.count.get(value) == 1 else None

    def is_substituted(self, op: Op, value: Value, use: Op | None) -> bool:
        """Whether a person would inline it: unnamed values and gains always, the user's variables only within their backward line."""
        if not is_users(value.name) or is_gain(value, op, use):
            return True
        if op not in self.layout.backward:
            return False
        return use is not None and use.loc.line == op.loc.line

    def narrow(self, block: Block, depth: int, user: dict[Value, Op | None]) -> None:
        """Give values of their own line back until every line is short enough."""
        room = max(
            (READ_WIDTH if self.is_read else WIDTH) - INDENT * (depth + 1), NARROWEST
        )  # the branches of an elif chain are indented less than their blocks
        for op in block.ops:
            line = self.on_one_line(op)
            inside = [v for v in values(line) if v in self.layout.nested]
            total = self.own_width(op) + sum(self.width(o) for o in line)
            is_assigned = self.layout.is_root(op) and not isinstance(op, For | While)
            target = sum(len(preferred_name(o.name)) + 2 for o in op.outs) if is_assigned else 0
            if op in self.layout.choices:
                if total + target > room:
                    self.spread_out(op)
                inside = []
            inside = [v for v in inside if not self.is_users_text(v)]
            while inside and total + target > room:
                widest = max(inside, key=self.width)
                inside.remove(widest)
                total -= self.width(widest) - len(preferred_name(widest.name))
                self.layout.nested.discard(widest)
            for out in op.outs:
                self.widths[out] = total if out in self.layout.nested else len(preferred_name(out.name))
        ending = [v for v in values(block.yields) if v in self.layout.nested]
        if sum(self.width(v) + 2 for v in ending) + len("return ()") > room and len(ending) > 1:
            self.layout.nested.difference_update(ending)

    def is_users_text(self, value: Value) -> bool:
        """Whether the user's own text computes a value; it may have any length."""
        op = self.layout.producer[value]
        return isinstance(op, Call) and ROWS[op.name].by_name

    def spread_out(self, op: Op) -> None:
        """Turn an ``if`` expression that is too long into a statement again."""
        assert isinstance(op, If)
        self.layout.choices.discard(op)
        self.layout.nested.difference_update(op.outs)
        if self.layout.shortcuts.pop(op, None) is not None and isinstance(op.test, Value):
            self.layout.count[op.test] += 1
            self.layout.nested.discard(op.test)

    def on_one_line(self, op: Op) -> list[Operand]:
        """The operands in one line of text with the op; carried variables have lines of their own."""
        return [op.start, op.stop, op.step] if isinstance(op, For) else [] if isinstance(op, While) else self.layout.inputs(op)

    def accepts(self, use: Op, value: Value, op: Op) -> bool:
        """Whether an operand of ``use`` can be the expression of ``op``, evaluated exactly once."""
        if isinstance(use, Apply | For | If | While):
            return True
        assert isinstance(use, Call)
        row = ROWS[use.name]
        if row.consumes and use.args and use.args[0] is value:
            return False
        if row.effect and is_pop(op):
            return False
        return times_named(use, value, self.layout.text(use)) == 1

    def own_width(self, op: Op) -> int:
        """The approximate width of an op's text without its operands."""
        if isinstance(op, Apply):
            return len(op.func.name if op.func else "") + 2 + 2 * len(op.args)
        if op in self.layout.shortcuts:
            return len(" and ")
        if not isinstance(op, Call):
            return len("for i in reversed(range()):") if isinstance(op, For) else len("if  else :")
        row = ROWS[op.name]
        if self.is_read:
            return self.width_between(op)
        text = row.emit if isinstance(row.emit, str) else self.layout.text(op)
        return max(len(text) - 2 * len(row.params), 2) + 2 * len(op.args)

    def width_between(self, op: Call) -> int:
        """The width of an op's text between its operands; the operands of a path are printed between brackets."""
        row, text = ROWS[op.name], self.layout.text(op)
        params = op.settings["names"] if row.by_name else [param.lstrip("*") for param in row.params]
        width = len(text) - sum(len(param) * mentions(text).get(param, 0) for param in params)
        between = 2 if is_operation(text) else 0  # it may be printed in parentheses
        return max(width, 2) + between + (2 * len(op.args) if has_path(row) else 0)

    def width(self, operand: Operand) -> int:
        """The approximate width of an operand."""
        if isinstance(operand, Value):
            return self.widths.get(operand, len(preferred_name(operand.name)))
        return len(operand.name or repr(operand.value)) if operand.value is not None else 0  # an omitted bound of a slice


def values(operands: list[Operand]) -> list[Value]:
    """The operands that are values."""
    return [o for o in operands if isinstance(o, Value)]


def users(block: Block) -> dict[Value, Op | None]:
    """For values read directly in the block: the op that reads it, or None for the block's end."""
    readers: dict[Value, Op | None] = dict.fromkeys(values(block.yields))
    for op in block.ops:
        for value in values(op.operands):
            readers[value] = op
    return readers


def tail_ends(body: Block, until: bool) -> set[Value]:
    """The operands at the end of a loop body that may be nested there: the exit test, and values that take part in a swap."""
    ends = set(values(body.yields[-1:])) if until else set()
    carried = body.yields[: len(body.yields) - until]
    arguments = body.args[len(body.args) - len(carried) :]
    for k, (argument, operand) in enumerate(zip(arguments, carried, strict=True)):
        others = [o for j, o in enumerate(carried) if j != k]
        if isinstance(operand, Value) and operand.name in (None, argument.name) and any(o is argument for o in others):
            ends.add(operand)
    return ends


@dataclass(slots=True)
class History:
    """The positions in a block at which memory is written, side effects happen, and named variables are assigned."""

    writes: dict[Cell, list[int]] = field(default_factory=dict)
    reads: dict[Cell, list[int]] = field(default_factory=dict)
    effects: list[int] = field(default_factory=list)
    named: dict[str, list[int]] = field(default_factory=dict)
    places: dict[Op, int] = field(default_factory=dict)
    ops: list[Op] = field(default_factory=list)

    @staticmethod
    def of(block: Block, memory: Memory) -> History:
        """The history of a block; an op with blocks counts as a whole."""
        history = History(ops=block.ops)
        for k, op in enumerate(block.ops):
            cells, effect = memory.writes(op)
            history.places[op] = k
            for cell in cells:
                history.writes.setdefault(cell, []).append(k)
            for cell in memory.reads(op):
                history.reads.setdefault(cell, []).append(k)
            if effect:
                history.effects.append(k)
            for name in filter(None, (value.name for value in defined_by(op))):
                history.named.setdefault(name, []).append(k)
        return history

    def undisturbed(self, op: Op, start: int, stop: int, layout: Layout, use: Op | None) -> bool:
        """Whether the op has the same result at ``stop`` as at ``start``, and its operands keep their variables.

        Effects of ``use``, the op that reads it, come after it.
        """
        if stop == start + 1:
            return True
        own = self.places.get(use, stop) if use is not None else stop
        if disturbed(self.effects, start, stop, own):
            return False
        if any(disturbed(self.writes.get(cell, []), start, stop, own) for cell in layout.memory.reads(op)):
            return False
        inputs = [v for inner in ops_within(op) for v in values(layout.inputs(inner))]
        return not any(v.name and disturbed(self.assigned(v.name, layout), start, stop, own) for v in inputs)

    def assigned(self, name: str, layout: Layout) -> list[int]:
        """The places where variables of a name are assigned: nested values have none."""
        return [place for place in self.named.get(name, []) if layout.is_root(self.ops[place])]

    def alone(self, op: Op, start: int, stop: int, memory: Memory, taken: dict[int, set[Cell]]) -> bool:
        """Whether neither the ops between, nor those nested in the statement at ``stop``, access the tape that the op pops."""
        tape = op.operands[0]
        assert isinstance(tape, Value)
        cell = memory.find((tape, False))
        if cell in taken.get(stop, set()) or between(self.reads.get(cell, []), start, stop):
            return False
        taken.setdefault(stop, set()).add(cell)
        return True


def disturbed(places: list[int], start: int, stop: int, own: int) -> bool:
    """Whether one of the sorted places is between the two, other than ``own``."""
    return any(place != own for place in places[bisect_right(places, start) : bisect_left(places, stop)])


def between(places: list[int], start: int, stop: int) -> bool:
    """Whether one of the sorted places is after ``start`` and before ``stop``."""
    k = bisect_right(places, start)
    return k < len(places) and places[k] < stop


def is_gain(value: Value, op: Op, use: Op | None) -> bool:
    """Whether a value is only added, in its line, to a cotangent that then has its name."""
    if value.name is None or not value.name.endswith("_grad") or not isinstance(use, Call) or use.loc.line != op.loc.line:
        return False
    return value.name in [o.name for o in use.outs]


def is_drop(op: Op) -> bool:
    """Whether the op reduces an array to a number; delaying it would keep the array longer."""
    return isinstance(op, Call) and isinstance(op.outs[0].type, Scalar) and any(isinstance(a.type, Array) for a in op.args)


def statements_alone(func: Func, texts: dict[Call, str]) -> Layout:
    """The layout in which each op has its own statement."""
    layout = Layout(memory_of(Block()), uses(func.body), texts=texts)
    layout.producer = {out: op for op in walk(func.body) for out in op.outs}
    return layout


def plan(func: Func, texts: dict[Call, str], nest_results: bool = True, ordered: bool = True, is_read: bool = False) -> Layout:
    """Choose for a whole function which values are nested; its results only where each is printed once. ``texts`` are known texts of ops.

    ``ordered``: of two exceptions, the one that the user's function raises first is raised. In text that is read,
    lines may be longer.
    """
    layout = Layout(memory_of(func.body), uses(func.body), texts=texts)
    planner = Planner(layout, raised_in(func.body) if ordered else {}, is_read)
    planner.block(func.body, set(values(func.body.yields)) if nest_results else set(), 0, func.split)
    return layout


__all__ = ["Layout", "plan", "statements_alone"]
