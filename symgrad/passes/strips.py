"""Computes long chains of elementwise ops on long vectors piece by piece, so that what is in between stays in the cache. Works in place.

    t = x * y; t = np.exp(t); z = t + x      ->      for k in range(0, n, 8192): ... z[k:k + 8192] = t + x[k:k + 8192]

Shorter vectors take the statements as they stood: which way is decided at each call. The result is printed, not differentiated.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from symgrad.ir.core import NONE, ZERO, Block, Call, Const, For, Func, If, Op, Operand, Value, clone_block, substitute
from symgrad.ir.types import BOOL, INT, Array, Dim, Scalar, same_extent
from symgrad.ops.declare import ROWS, USER_ROWS
from symgrad.passes.facts import halves_kept
from symgrad.passes.places import Places
from symgrad.passes.telling import tell

BLOCK = 8192  #: elements of a piece: some of them fit a second-level cache, and none is large enough to be fetched from the system
LEAST = 8 * BLOCK  #: elements of a vector for which it pays
OPS = 8  #: ops for each result of a chain for which it pays
#: rows that are no ufuncs, and work element by element
ALSO = frozenset({"copy", "accumulate"})


def strips(func: Func) -> Func:
    """Let long chains outside of loops run piece by piece, in place."""
    with halves_kept(func):
        _Strips(func).run()
    return func


@dataclass(slots=True)
class _Chain:
    """Ops of one extent, and what stands between them."""

    extent: Dim
    ops: list[Call] = field(default_factory=list)
    made: set[Value] = field(default_factory=set)
    before: list[Op] = field(default_factory=list)  #: what needs nothing of the chain
    after: list[Op] = field(default_factory=list)  #: what needs something of it
    late: set[Value] = field(default_factory=set)


class _Strips:
    """One walk through the body of a function."""

    def __init__(self, func: Func) -> None:
        self.func = func
        self.places = Places.of(func)
        self.table: dict[Value, Operand] = {}
        self.looked = 0  #: ops that the last search went through

    def run(self) -> None:
        done: list[Op] = []
        todo = list(self.func.body.ops)
        while todo:
            extent = extent_of(todo[0]) if todo[0].operands else None
            chain = None if extent is None else self.chain(todo, extent)
            if chain is None:
                rest = 1 if extent is None else 1 + self.looked // OPS  # searches that find nothing take time linear in all ops
                done += todo[:rest]
                del todo[:rest]
                continue
            del todo[: len(chain.before) + len(chain.ops) + len(chain.after)]
            done += [*chain.before, *self.choice(chain), *chain.after]
        self.func.body.ops = done
        substitute(self.func.body, self.table)

    # -------------------------------------------------------------- finding

    def chain(self, ops: list[Op], extent: Dim) -> _Chain | None:
        """The chain that begins with the first op, if it pays."""
        found = _Chain(extent)
        self.looked = 0
        for op in ops:
            if not isinstance(op, Call) or not self.enter(op, found):
                break
            self.looked += 1
        results = self.results(found)
        if not self.inputs(found) or not results:
            return None
        if len(found.ops) >= OPS * len(results):
            return found
        if len(found.ops) >= OPS:
            tell(self.func.notes, ops[0], "is done at once, however long the vectors are: too many results would have to be put together")
        return None

    def enter(self, op: Call, found: _Chain) -> bool:
        """Take an op into a chain, or around it; False if neither can be."""
        own = extent_of(op)
        reads = [a for a in op.args if isinstance(a, Value)]
        if own is not None and same_extent(own, found.extent) and not any(a in found.late for a in reads):
            if op.name != "accumulate" or op.args[0] in found.made:
                found.ops.append(op)
                found.made.update(op.outs)
                return True
        row = ROWS[op.name]
        if row.consumes or row.effect or row.statement or op.name in USER_ROWS:
            return False
        if any(a in found.made or a in found.late for a in reads):
            found.after.append(op)
            found.late.update(op.outs)
        else:
            found.before.append(op)
        return True

    def results(self, found: _Chain) -> list[Value]:
        """What the chain computes for others."""
        inside = set(found.ops)
        return [out for op in found.ops for out in op.outs
                if out in self.places.yielded or any(reader not in inside for reader in self.places.readers.get(out, ()))]  # fmt: skip

    def inputs(self, found: _Chain) -> list[Value]:
        """The vectors that the chain reads."""
        return list(dict.fromkeys(a for op in found.ops for a in op.args if isinstance(a, Value) and isinstance(a.type, Array)
                                  and a not in found.made))  # fmt: skip

    # -------------------------------------------------------------- rewriting

    def choice(self, found: _Chain) -> list[Op]:
        """A branch for long vectors, and one for the others."""
        loc, inputs, results = found.ops[0].loc, self.inputs(found), self.results(found)
        tell(self.func.notes, found.ops[0], f"{len(found.ops)} ops on vectors of more than {LEAST} elements are done in pieces of {BLOCK}")
        count, test = Value(INT, "n"), Value(BOOL)
        outs = [Value(r.type, r.name) for r in results]
        short = Block([], list(found.ops), list(results))
        long = self.pieces(found, inputs, results, count)
        self.table.update(zip(results, outs, strict=True))
        return [
            Call([count], loc, "extent", [inputs[0]], dict(ROWS["extent"].settings)),
            Call([test], loc, "greater", [count, Const(LEAST)], dict(ROWS["greater"].settings)),
            If(outs, loc, test, long, clone_block(short, {})),
        ]

    def pieces(self, found: _Chain, inputs: list[Value], results: list[Value], count: Value) -> Block:
        """The loop over pieces, after the results have been allocated."""
        loc = found.ops[0].loc
        made = Block()
        whole = [Value(r.type, r.name) for r in results]
        for value, result in zip(whole, results, strict=True):
            dtype = result.type.dtype if isinstance(result.type, Array) else None
            made.ops.append(Call([value], loc, "empty_like", [inputs[0]], {**ROWS["empty_like"].settings, "dtype": dtype}))
        begin, end = Value(INT, "k"), Value(INT)
        inside = [Value(r.type, r.name) for r in results]
        body = Block([begin, *inside], [Call([end], loc, "add", [begin, Const(BLOCK)], dict(ROWS["add"].settings))])
        piece = Dim(f"{found.extent.symbol}_piece")
        table: dict[Value, Operand] = {}
        for value in inputs:
            table[value] = part = Value(sliced(value, piece), value.name)
            body.ops.append(Call([part], loc, "view", [value, begin, end, NONE], {**ROWS["view"].settings, "index": "s"}))
        for op in found.ops:
            (out,) = op.outs
            table[out] = Value(sliced(out, piece), out.name)
            args = [table.get(a, a) if isinstance(a, Value) else a for a in op.args]
            body.ops.append(Call([table[out]], op.loc, op.name, args, dict(op.settings)))  # type: ignore[list-item]
        for slot, result in zip(inside, results, strict=True):
            stored = Value(slot.type, slot.name)
            settings = {**ROWS["set_at"].settings, "index": "s"}
            body.ops.append(Call([stored], loc, "set_at", [slot, table[result], begin, end, NONE], settings))
            body.yields.append(stored)
        after = [Value(r.type, r.name) for r in results]
        made.ops.append(For(after, loc, ZERO, count, Const(BLOCK), list(whole), body))
        made.yields = list(after)
        return made


def extent_of(op: Op) -> Dim | None:
    """The extent of the vector that an op computes element by element, from vectors as long and numbers."""
    if not isinstance(op, Call) or len(op.outs) != 1 or op.settings.get("via") is not None:
        return None
    out = op.outs[0].type
    if not (ROWS[op.name].elementwise or op.name in ALSO) or op.name in USER_ROWS or not isinstance(out, Array) or out.rank != 1:
        return None
    (extent,) = out.shape or (1,)
    if out.dtype not in ("f64", "f32", "bool") or not isinstance(extent, Dim):
        return None
    for operand in op.args:
        type_ = operand.type
        vector = isinstance(type_, Array) and type_.rank == 1 and type_.dtype in ("f64", "f32", "bool")
        if not (isinstance(type_, Scalar) or vector and isinstance(type_, Array) and type_.shape and same_extent(type_.shape[0], extent)):
            return None
    return extent


def sliced(value: Value, piece: Dim) -> Array:
    """The type of a piece of a vector."""
    assert isinstance(value.type, Array)
    return Array(value.type.dtype, (piece,))


__all__ = ["strips"]
