"""Access regions of ops on arrays that are only passed on, written to and indexed.

An array with any other use (in a list, through ``reshape``, or a branch that chooses a part of it) is *unsure*.
"""

from __future__ import annotations

from collections.abc import Iterable

from symgrad.ir.core import Apply, Block, Call, For, Func, Op, Operand, Value, While
from symgrad.ir.layout import Layout
from symgrad.ops.analysis.access_regions import follows_in, meet
from symgrad.ops.declare import ROWS
from symgrad.passes.facts import BORROWED, KEEPING, Facts, Node, has_memory


class Touched:
    """The positions of a function's ops, and the unsure arrays."""

    def __init__(self, func: Func, facts: Facts) -> None:
        self.facts = facts
        self.layout = Layout()
        self.layout.enter(func.body)
        self.unsure: set[Node] = set()
        self.paths: dict[Value, Call | None] = {}  #: cache of ``path_of``
        self.spot: dict[Op, tuple[Block, int]] = {}
        self.members: dict[Node, set[Block]] | None = None  #: for each memory class the blocks with values of it
        self.doubt(func.params)
        self.enter(func.body)

    def enter(self, block: Block) -> None:
        for index, op in enumerate(block.ops):
            self.spot[op] = block, index
            if isinstance(op, Apply):
                self.doubt(op.operands, op.outs)
            elif isinstance(op, Call):
                row = ROWS[op.name]
                if op.name in KEEPING | BORROWED or row.effect or row.alias != "fresh" and not row.consumes and op.name != "view":
                    self.doubt(op.args, op.outs)
            elif isinstance(op, For | While):
                self.doubt(i for i in op.inits if self.path_of(i) is not None)
            for inner in op.blocks:
                self.enter(inner)
                self.doubt(y for y in inner.yields if self.path_of(y) is not None)

    def doubt(self, *operands: Iterable[Operand]) -> None:
        for group in operands:
            for operand in group:
                if isinstance(operand, Value) and has_memory(operand):
                    self.unsure |= {self.facts.find((operand, False)), self.facts.find((operand, True))}

    def path_of(self, operand: Operand) -> Call | None:
        """The first view on the chain from a value's array; None if the value may be all of the array."""
        chain: list[tuple[Value, Call]] = []
        while isinstance(operand, Value) and operand not in self.paths:
            maker = self.facts.maker.get(operand)
            if not isinstance(maker, Call) or not maker.args or not (maker.name == "view" or ROWS[maker.name].consumes):
                break
            chain.append((operand, maker))
            operand = maker.args[0]
        path = self.paths.get(operand) if isinstance(operand, Value) else None
        for value, maker in reversed(chain):
            path = self.paths[value] = path if path is not None or maker.name != "view" else maker
        return path

    def is_whole(self, operand: Operand) -> bool:
        """Whether the operand is a whole array whose accesses are all known, so that the paths of ops determine what they access."""
        return isinstance(operand, Value) and self.facts.find((operand, False)) not in self.unsure and self.path_of(operand) is None

    def is_own(self, op: Call, body: Block) -> bool:
        """Whether each iteration of a loop allocates the memory that an op accesses."""
        root = self.facts.find((op.args[0], False))  # type: ignore[arg-type]
        if self.members is None:
            self.members = {}
            for value, (block, _) in self.layout.places.items():
                if has_memory(value):
                    self.members.setdefault(self.facts.find((value, False)), set()).add(block)
        carried = any(has_memory(a) and self.facts.find((a, False)) == root for a in body.args)
        return not carried and all(body is block or self.is_inside(block, body) for block in self.members[root])

    def is_inside(self, block: Block, outer: Block) -> bool:
        """Whether a block is inside another."""
        while block in self.layout.owners:
            block = self.layout.owners[block][0]
            if block is outer:
                return True
        return False

    def meet_later(self, op: Op, path: Call | None, early: Call) -> bool:
        """Whether an op, which accesses the part that ``path`` selects (None: all), may run after ``early`` and overlap its region."""
        behind, before = self.layout.path(self.spot[op]), self.layout.path(self.spot[early])
        level = 0
        while level + 1 < min(len(behind), len(before)) and behind[level + 1][0] is before[level + 1][0]:
            level += 1
        if follows_in(behind, before, level) and (path is None or meet(path, early, None, self.layout)):
            return True
        owners = self.layout.owners
        loops = [b for b, _ in before[: level + 1] if b in owners and isinstance(owners[b][2], For | While) and not self.is_own(early, b)]
        return any(path is None or meet(path, early, loop, self.layout) for loop in loops)


__all__ = ["Touched"]
