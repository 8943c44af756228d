"""Batching of outer products: sums those of a reversed loop as one matrix product after it. Works in place.

``W_grad += g[:, None] * h`` in a loop becomes ``columns.append(g); rows.append(h)`` there and ``W_grad +=
np.array(columns).T @ np.array(rows)`` after it. Only in the backward half, and only where the loop pops arrays
from a tape or reads an array row by row. Such loops use memory proportional to the iterations anyway. For
emission, not for differentiation.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import symgrad.ops.rows.into  # noqa: F401  (it has the row)
from symgrad.ir.core import Apply, Block, Call, For, Func, Op, Operand, Value, While, substitute, walk
from symgrad.ir.types import Array, List, Tape
from symgrad.ops.declare import ROWS
from symgrad.passes.facts import Facts, Node, Places, halves_kept, holds
from symgrad.passes.simplification.remarks import tell

#: cotangents of the factors of a product; for vectors both are outer products, the second with swapped factors
LEFT, RIGHT = frozenset({"matmul_left", "dot_left"}), frozenset({"matmul_right", "dot_right"})
DTYPES = frozenset({"f64", "f32"})
Factors = tuple[Value, Value]


def outer_products(func: Func) -> Func:
    """Sum outer products after loops, in place."""
    if holds(func, For):
        with halves_kept(func):
            _Sums(func).run()
    return func


@dataclass(slots=True)
class _Sum:
    """The uses of one loop-carried array: the products added to it, and whether there are any others."""

    slots: dict[For, int] = field(default_factory=dict)  #: the loop and the inner loops that carry the array, with the slots
    added: dict[Call, Factors] = field(default_factory=dict)
    alone: bool = True


class _Sums:
    """One walk through a function."""

    def __init__(self, func: Func) -> None:
        self.func = func
        self.facts = Facts(func)
        self.places = Places.of(func)
        self.table: dict[Value, Operand] = {}
        self.written: dict[Node, list[Op]] = {}
        for op in walk(func.body):
            for node in written(op):
                self.written.setdefault(self.facts.find(node), []).append(op)
        loops = (op for op in walk(func.body) if isinstance(op, For | While))
        self.carried = {self.facts.find((a, False)) for loop in loops for inner in loop.blocks for a in inner.args}

    def run(self) -> None:
        self.block(self.func.body)
        substitute(self.func.body, self.table)

    def block(self, block: Block) -> None:
        """Process the loops of a block, outer loops first."""
        done: list[Op] = []
        for op in block.ops:
            before: list[Op] = []
            after: list[Op] = []
            if isinstance(op, For) and not op.until:
                for k in reversed(range(len(op.inits))):
                    if op.outs[k] in self.facts.late:
                        self.slot(op, k, before, after)
            for inner in op.blocks:
                self.block(inner)
            done += [*before, op, *after]
        block.ops = done

    def slot(self, loop: For, k: int, before: list[Op], after: list[Op]) -> None:
        """Process one loop-carried array."""
        accumulation = _Sum()
        if not self.follow(loop, k, accumulation) or not accumulation.added:
            return
        first = next(iter(accumulation.added))
        if not any(has_rounds(op, inner) for inner in accumulation.slots for op in walk(inner.body)):
            tell(
                self.func.notes,
                first,
                "outer products are added one by one, as their factors would take memory for each iteration",
                loop.outs[k],
            )
        elif not all(self.is_settled(op, f) for op, factors in accumulation.added.items() for f in factors):
            tell(self.func.notes, first, "outer products are added one by one, as a factor is written to later", loop.outs[k])
        else:
            tell(self.func.notes, first, "outer products are summed after the loop, as one product of matrices", loop.outs[k])
            self.gather(loop, k, accumulation, before, after)

    def is_settled(self, op: Call, factor: Value) -> bool:
        """Whether a factor keeps the content that it has when its product is added."""
        memory = self.facts.find((factor, False))
        stores = self.written.get(memory)
        if not stores:
            return True
        block = self.places.above[op][0]
        first: Operand = factor
        while isinstance(maker := self.facts.maker.get(first), Call) and ROWS[maker.name].consumes:  # type: ignore[arg-type]
            first = maker.args[0]
        if memory in self.carried or not self.facts.is_fresh(first) or self.facts.home[first] is not block:  # type: ignore[index]
            return False  # a later iteration may write to it
        return all(self.places.above[s][0] is block and self.places.number[s] < self.places.number[op] for s in stores)

    # -------------------------------------------------------------- legality

    def follow(self, loop: For, k: int, accumulation: _Sum) -> bool:
        """Follow an array through a loop; False if it has other uses than additions."""
        accumulation.slots[loop] = k
        current: Operand = loop.carried[k]
        while current is not loop.body.yields[k] or self.places.readers.get(current):  # type: ignore[arg-type]
            readers = self.places.readers.get(current, [])  # type: ignore[arg-type]
            if len(readers) != 1 or current in self.places.yielded:
                return False
            (op,) = readers
            if isinstance(op, For) and not op.until and op.inits.count(current) == 1:
                place = op.inits.index(current)
                if not self.follow(op, place, accumulation):
                    return False
                current = op.outs[place]
            elif isinstance(op, Call) and op.name in ("accumulate", "add_at") and op.args[0] is current and current not in op.args[1:]:
                factors = self.factors(op.args[1]) if op.name == "accumulate" else None
                accumulation.alone = accumulation.alone and factors is not None
                if factors is not None:
                    accumulation.added[op] = factors
                current = op.outs[0]
            else:
                return False
        return loop.body.yields.count(current) == 1

    def factors(self, operand: Operand) -> Factors | None:
        """The column and the row whose outer product the operand is, if this is its only use."""
        maker = self.facts.maker.get(operand) if isinstance(operand, Value) and self.facts.count.get(operand) == 1 else None
        if not isinstance(maker, Call) or not is_float(operand, 2):
            return None
        pair = maker.args[:2]
        if maker.name == "view" and maker.settings["index"] == ".T":
            return None if (inner := self.factors(pair[0])) is None else inner[::-1]
        if maker.name in RIGHT:
            pair.reverse()
        elif maker.name not in LEFT and maker.name != "outer":
            return None
        column, row = pair
        if not (is_float(column, 1) and is_float(row, 1) and isinstance(column, Value) and isinstance(row, Value)):
            return None
        dtypes = {getattr(x.type, "dtype", None) for x in (maker.outs[0], column, row)}
        return (column, row) if len(dtypes) == 1 else None

    # -------------------------------------------------------------- rewriting

    def gather(self, loop: For, k: int, accumulation: _Sum, before: list[Op], after: list[Op]) -> None:
        """Collect the factors in lists, and sum their products after the loop."""
        total = loop.outs[k]
        word = total.name or "products"
        column, row = next(iter(accumulation.added.values()))
        lists = [Value(List(f.type), f"{word}_{end}") for f, end in ((column, "columns"), (row, "rows"))]
        for list_value in lists:
            before.append(Call([list_value], loop.loc, "list_of", [], {}))
        lists = self.thread(loop, accumulation, lists)
        loop.outs[k] = base = Value(total.type, total.name)
        if accumulation.alone:
            for inner, place in accumulation.slots.items():
                self.drop(inner, place)
        first = next(iter(accumulation.added))
        after.append(Call([total], first.loc, "add_products", [base, *lists], dict(ROWS["add_products"].settings)))

    def thread(self, loop: For, accumulation: _Sum, lists: list[Value]) -> list[Value]:
        """Carry the lists through a loop, with appends in place of the additions; return the lists after the loop."""
        inside = [Value(v.type, v.name) for v in lists]
        loop.inits += lists
        loop.body.args += inside
        done: list[Op] = []
        for op in loop.body.ops:
            if isinstance(op, Call) and op in accumulation.added:
                for end, factor in enumerate(accumulation.added[op]):
                    extended = Value(inside[end].type, inside[end].name)
                    done.append(Call([extended], op.loc, "list_append", [inside[end], factor], {}))
                    inside[end] = extended
                self.table[op.outs[0]] = op.args[0]
                continue
            if isinstance(op, For) and op in accumulation.slots:
                inside = self.thread(op, accumulation, inside)
            done.append(op)
        loop.body.ops = done
        loop.body.yields += inside
        lists_after = [Value(v.type, v.name) for v in lists]
        loop.outs += lists_after
        return lists_after

    def drop(self, loop: For, k: int) -> None:
        """Stop carrying an array that the loop leaves unchanged."""
        for value in (loop.carried[k], loop.outs[k]):
            self.table[value] = loop.inits[k]
        del loop.inits[k], loop.body.args[k + 1], loop.body.yields[k], loop.outs[k]


def written(op: Op) -> list[Node]:
    """The memory of arrays that an op writes to, or may write to."""
    if isinstance(op, Call) and ROWS[op.name].consumes and isinstance(op.args[0], Value) and not isinstance(op.args[0].type, Tape):
        return [(op.args[0], False)]
    if isinstance(op, Apply) or isinstance(op, Call) and op.name == "opaque":
        return [(a, held) for a in op.operands if isinstance(a, Value) for held in (False, True)]
    return []


def has_rounds(op: Op, loop: For) -> bool:
    """Whether the op pops arrays from a tape, or reads a row of an array in each iteration."""
    if not isinstance(op, Call) or not any(isinstance(out.type, Array) for out in op.outs):
        return False
    return op.name in ("get", "pop") or op.name in ("view", "take") and loop.index in op.args[1:]


def is_float(operand: Operand, rank: int) -> bool:
    """Whether the operand is an array of floats of this rank."""
    return isinstance(operand.type, Array) and operand.type.rank == rank and operand.type.dtype in DTYPES


__all__ = ["outer_products"]
