"""Tiling: runs long chains of ops on large arrays some rows at a time, so that temporaries stay in cache. Works in place.

    t = x * y; t = np.exp(t); z = t + x      ->      for k in range(0, n, 8192): ... z[k:k + 8192] = t + x[k:k + 8192]

Smaller arrays run the original statements; each call decides. Total sums add up the tiles' partial sums. For
emission, not for differentiation.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from symgrad.ir.core import NONE, ONE, ZERO, Block, Call, Const, For, Func, If, Op, Operand, Value, clone_block, substitute
from symgrad.ir.types import BOOL, INT, Array, Dim, Extent, Type, same_extent, same_shape
from symgrad.location import Loc
from symgrad.ops.analysis.contents import CHAIN
from symgrad.ops.declare import ROWS, USER_ROWS
from symgrad.passes.batching.rowwise import Part, Rows, first_extent
from symgrad.passes.facts import Places, halves_kept
from symgrad.passes.simplification.remarks import tell

BLOCK = 8192  #: elements of a piece: some of them fit a second-level cache, and none is large enough to be fetched from the system
ROWS_BLOCK = 2 * BLOCK  #: the same for arrays of more axes, where each row costs something as well
LEAST = 8 * BLOCK  #: elements of an array for which it pays
OPS = CHAIN  #: ops for each result of a chain for which it pays
MOST = 64  #: ops of a chain that is printed twice, for short arrays and for long ones
NEAR = 4 * OPS  #: ops that a search may go through at no cost to the next one


def row_tiling(func: Func) -> Func:
    """Tile long chains outside of loops, in place."""
    with halves_kept(func):
        _Strips(func).run()
    return func


@dataclass(slots=True)
class _Chain:
    """Ops on the same rows, and the ops between them."""

    rows: Rows
    ops: list[Call] = field(default_factory=list)
    parts: dict[Call, Part] = field(default_factory=dict)
    before: list[Op] = field(default_factory=list)  #: ops independent of the chain
    after: list[Op] = field(default_factory=list)  #: ops that depend on the chain
    late: set[Value] = field(default_factory=set)

    def enter(self, op: Call) -> bool:
        """Add an op to the chain, or move it before or after; False if neither is possible."""
        reads = [a for a in op.args if isinstance(a, Value)]
        part = None if any(a in self.late for a in reads) else self.rows.part(op)
        if part is not None and (op.name != "accumulate" or op.args[0] in self.rows.partial):
            self.ops.append(op)
            self.parts[op] = part
            self.rows.extents += [e for e in part.news if not any(same_extent(e, known) for known in self.rows.extents)]
            (self.late if part.total else self.rows.partial).update(op.outs)
            return True
        row = ROWS[op.name]
        if row.consumes or row.effect or row.statement or op.name in USER_ROWS:
            return False
        if any(a in self.rows.partial or a in self.late for a in reads):
            self.after.append(op)
            self.late.update(op.outs)
        else:
            self.before.append(op)
        return True

    def inputs(self) -> list[Value]:
        """The arrays of which the chain reads rows."""
        return list(
            dict.fromkeys(
                a
                for op in self.ops
                for a, along in zip(op.args, self.parts[op].along, strict=True)
                if along and isinstance(a, Value) and a not in self.rows.partial
            )
        )

    def others(self) -> list[Value]:
        """The arrays that the chain reads as a whole."""
        return list(
            dict.fromkeys(
                a
                for op in self.ops
                for a, along in zip(op.args, self.parts[op].along, strict=True)
                if not along and isinstance(a, Value) and isinstance(a.type, Array)
            )
        )

    def widest(self) -> tuple[Extent, ...]:
        """The shape of one row of the largest arrays."""
        values = [*self.inputs(), *(out for op in self.ops for out in op.outs if out in self.rows.partial)]
        return max((row_of(v) for v in values), key=size_rank)

    def is_wide(self, value: Operand, widest: tuple[Extent, ...]) -> bool:
        """Whether a value is one of the largest."""
        return isinstance(value.type, Array) and bool(value.type.shape) and size_rank(row_of(value)) == size_rank(widest)


class _Strips:
    """One walk through the body of a function."""

    def __init__(self, func: Func) -> None:
        self.func = func
        self.places = Places.of(func)
        self.table: dict[Value, Operand] = {}
        self.looked = 0  #: ops that the last search visited
        self.passed = 0  #: ops of a chain that was too long

    def run(self) -> None:
        done: list[Op] = []
        todo = list(self.func.body.ops)
        while todo:
            op = todo[0]
            extent = first_extent(op) if isinstance(op, Call) and op.args else None
            plan = None if extent is None else self.chain(todo, extent)
            if plan is None:
                # unsuccessful searches take time linear in the number of all ops
                rest = max(1 + max(self.looked - NEAR, 0) // OPS, self.passed)
                self.passed = 0
                done += todo[:rest]
                del todo[:rest]
                self.looked = 0
                continue
            chain, choice = plan
            del todo[: len(chain.before) + len(chain.ops) + len(chain.after)]
            done += [*chain.before, *choice, *chain.after]
        self.func.body.ops = done
        substitute(self.func.body, self.table)

    # -------------------------------------------------------------- search

    def chain(self, ops: list[Op], extent: Dim) -> tuple[_Chain, list[Op]] | None:
        """The chain that begins with the first op, and the ops that replace it; None if tiling does not pay."""
        chain = _Chain(Rows([extent]))
        self.looked = 0
        for op in ops:
            if not isinstance(op, Call) or not chain.enter(op) or not chain.ops:
                break
            self.looked += 1
        results = self.results(chain)
        if len(chain.ops) < OPS or not chain.inputs() or not results or not storable(chain, results):
            return None
        widest = chain.widest()
        count = sum(any(chain.is_wide(v, widest) for v in (*op.operands, *op.outs)) for op in chain.ops if op.name != "stop_gradient")
        wide = sum(chain.is_wide(r, widest) for r in results)
        if count < OPS:
            return None
        if len(chain.ops) > MOST:
            tell(self.func.notes, ops[0], f"is done at once, however long the vectors are: {len(chain.ops)} ops would be printed twice")
            self.passed = self.looked
            return None
        if count < OPS * wide:
            tell(self.func.notes, ops[0], "is done at once, however long the vectors are: too many results would have to be put together")
            return None
        plan = _Pieces(chain, results, widest, self.func.body.args).choice()
        if plan is None:
            return None
        outs, choice = plan
        self.table.update(zip(results, outs, strict=True))
        size = f"{BLOCK}" if not widest else f"about {ROWS_BLOCK}"
        tell(
            self.func.notes,
            chain.ops[0],
            f"{count} ops on {'arrays' if widest else 'vectors'} of more than {LEAST} elements are done in pieces of {size}",
        )
        return chain, choice

    def results(self, chain: _Chain) -> list[Value]:
        """The values of the chain that are read outside it."""
        inside = set(chain.ops)
        return [
            out
            for op in chain.ops
            for out in op.outs
            if out in self.places.yielded or any(reader not in inside for reader in self.places.readers.get(out, ()))
        ]


class _Pieces:
    """A chain as a branch: a loop over its tiles, or the original ops."""

    def __init__(self, chain: _Chain, results: list[Value], widest: tuple[Extent, ...], arguments: list[Value]) -> None:
        self.chain = chain
        self.arguments = arguments  #: of the function: arrays of any memory layout
        self.results = results
        self.widest = widest
        self.loc: Loc = chain.ops[0].loc
        self.ops: list[Op] = []  #: the ops emitted so far
        self.count = Value(INT, "n")
        #: the integers that equal extents
        self.asked: dict[tuple[Operand, int], Value] = {
            (op.args[0], op.settings["axis"]): op.outs[0] for op in chain.before if isinstance(op, Call) and op.name == "extent"
        }

    def call(self, type_: Type, row: str, *args: Operand, word: str | None = None, **settings: Any) -> Value:
        """Emit an op."""
        out = Value(type_, word)
        self.ops.append(Call([out], self.loc, row, list(args), {**ROWS[row].settings, **settings}))
        return out

    def choice(self) -> tuple[list[Value], list[Op]] | None:
        """A branch with one side for large arrays and one for others; None if their extents are not available."""
        inputs = self.chain.inputs()
        self.count = self.call(INT, "extent", inputs[0], word="n")
        size = self.count
        width: Operand | None = None
        for extent in self.widest:
            one = self.extent(extent)
            if one is None:
                return None
            if one is not ONE:
                width = one if width is None else self.call(INT, "multiply", width, one)
        if isinstance(width, Value) and width.name is None:
            width.name = "width"
        if width is not None:
            size = self.call(INT, "multiply", self.count, width)
        test = self.call(BOOL, "greater", size, Const(LEAST))
        for other in self.unproved(inputs):
            own = Value(INT)
            asked = Call([own], self.loc, "extent", [other], dict(ROWS["extent"].settings))
            test = self.both(test, "equal", own, self.count, first=asked)
        large = [v for v in inputs if v in self.arguments and self.chain.is_wide(v, self.widest)]
        if self.widest and large:
            test = self.both(test, "lies_by_rows", large[0])  # arrays passed together usually have the same layout
        ahead, self.ops = self.ops, []
        short = Block([], list(self.chain.ops), list(self.results))
        long = self.pieces(inputs, width)
        if long is None:
            return None
        outs = [Value(r.type, r.name) for r in self.results]
        return outs, [*ahead, If(outs, self.loc, test, long, clone_block(short, {}))]

    def both(self, test: Value, row: str, *args: Operand, first: Call | None = None) -> Value:
        """``test and row(args)``."""
        both, second = Value(BOOL), Call([Value(BOOL)], self.loc, row, list(args), dict(ROWS[row].settings))
        then = Block([], [second] if first is None else [first, second], list(second.outs))
        self.ops.append(If([both], self.loc, test, then, Block([], [], [test])))
        return both

    def unproved(self, inputs: list[Value]) -> list[Value]:
        """One array for each extent that must be tested at run time."""
        seen: list[Extent] = []
        arrays = []
        for value in inputs:
            extent = rows_of(value)
            if not any(same_extent(extent, known) for known in seen):
                seen.append(extent)
                arrays.append(value)
        return arrays[1:]

    def extent(self, extent: Extent) -> Operand | None:
        """An extent as an operand."""
        if isinstance(extent, int):
            return Const(extent) if extent != 1 else ONE
        for value in [*self.chain.inputs(), *self.chain.others()]:
            assert isinstance(value.type, Array)
            for axis, have in enumerate(value.type.shape or ()):
                if same_extent(have, extent):
                    if (value, axis) not in self.asked:
                        self.asked[value, axis] = self.call(INT, "extent", value, axis=axis)
                    return self.asked[value, axis]
        return None

    def pieces(self, inputs: list[Value], width: Operand | None) -> Block | None:
        """The loop over tiles, after the allocation of the results."""
        step: Operand = Const(BLOCK)
        if width is not None:
            step = self.call(INT, "maximum", ONE, self.call(INT, "floor_divide", Const(ROWS_BLOCK), width), word="step", via="math")
        buffers = [self.allocated(r, inputs) for r in self.results]
        if any(m is None for m in buffers):
            return None
        inits = [m for m in buffers if m is not None]
        ahead, self.ops = self.ops, []
        begin = Value(INT, "k")
        inside = {r: Value(r.type, r.name) for r in self.results}
        body = Block([begin, *inside.values()], self.ops)
        end = self.call(INT, "add", begin, step, word="end")
        piece = Dim(f"{self.chain.rows.extents[0].symbol}_piece")
        table: dict[Value, Operand] = {v: self.call(sliced(v, piece), "view", v, begin, end, NONE, word=v.name, index="s") for v in inputs}
        for op in self.chain.ops:
            self.again(op, table, piece)
            (out,) = op.outs
            slot = inside.get(out)
            if slot is None:
                continue
            if self.chain.parts[op].total and isinstance(slot.type, Array):
                inside[out] = self.call(slot.type, "accumulate", slot, table[out], word=slot.name)
            elif self.chain.parts[op].total:
                inside[out] = self.call(slot.type, "add", slot, table[out], word=slot.name)
            else:
                inside[out] = self.call(slot.type, "set_at", slot, table[out], begin, end, NONE, word=slot.name, index="s")
        body.yields = list(inside.values())
        after = [Value(r.type, r.name) for r in self.results]
        loop = For(after, self.loc, ZERO, self.count, step, inits, body)
        return Block([], [*ahead, loop], list(after))

    def again(self, op: Call, table: dict[Value, Operand], piece: Dim) -> None:
        """Emit an op of the chain, on a tile."""
        (out,) = op.outs
        part = self.chain.parts[op]
        args = [table[a] if along and isinstance(a, Value) else a for a, along in zip(op.args, part.along, strict=True)]
        result = Value(out.type if part.total else sliced(out, piece), out.name)
        self.ops.append(Call([result], op.loc, op.name, args, dict(op.settings)))
        table[out] = result

    def allocated(self, result: Value, inputs: list[Value]) -> Operand | None:
        """The initial value of a result."""
        if not isinstance(result.type, Array):
            return Const(0.0)
        dtype, row = result.type.dtype, row_of(result)
        if result not in self.chain.rows.partial:  # a sum over the tiles
            return self.new_array("zeros", result, [self.extent(e) for e in result.type.shape or ()])
        for value in inputs:
            assert isinstance(value.type, Array)
            if same_shape(row_of(value), row) and (not row or result.type.layout in ("?", value.type.layout)):
                other = None if dtype == value.type.dtype else dtype
                return self.call(result.type, "empty_like", value, word=result.name, dtype=other)
        return self.new_array("empty", result, [self.count, *(self.extent(e) for e in row)])

    def new_array(self, row: str, result: Value, extents: list[Operand | None]) -> Operand | None:
        """A new array for a result; None if one of its extents is not available."""
        assert isinstance(result.type, Array)
        known = [e for e in extents if e is not None]
        if len(known) < len(extents) or result.type.layout not in ("?", "C"):
            return None
        return self.call(result.type, row, *known, word=result.name, dtype=result.type.dtype)


def storable(chain: _Chain, results: list[Value]) -> bool:
    """Whether all results can be stored tile by tile: not views, nor arrays that the chain overwrites."""
    consumed = {op.args[0] for op in chain.ops if ROWS[op.name].consumes}
    makers = {out: op for op in chain.ops for out in op.outs}
    return not any(r in consumed or ROWS[makers[r].name].alias != "fresh" for r in results)


def rows_of(value: Value) -> Extent:
    """The number of rows of an array."""
    assert isinstance(value.type, Array)
    assert value.type.shape
    return value.type.shape[0]


def row_of(value: Operand) -> tuple[Extent, ...]:
    """The shape of one row."""
    assert isinstance(value.type, Array)
    assert value.type.shape
    return value.type.shape[1:]


def size_rank(row: tuple[Extent, ...]) -> tuple[int, int]:
    """A measure for comparing rows of unknown extents: the number of axes longer than one, then the rank."""
    return sum(e != 1 for e in row), len(row)


def sliced(value: Value, piece: Dim) -> Array:
    """The type of some rows."""
    assert isinstance(value.type, Array)
    return Array(value.type.dtype, (piece, *row_of(value)))


__all__ = ["row_tiling"]
