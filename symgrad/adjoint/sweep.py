"""The reverse sweep: one walk backwards over a function, its state, and the table of reversal functions by kind of op."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from symgrad.adjoint.accumulate import Cotangent, Ledger, Scope, cotangent_type, hinted
from symgrad.adjoint.calls import Pairs
from symgrad.adjoint.extents import know
from symgrad.adjoint.path_conditions import Implied
from symgrad.adjoint.unbroadcast import NARROW, Doubts, in_dtype, is_narrow
from symgrad.ir.core import Block, Call, Const, Func, Op, Operand, Value, uses, walk
from symgrad.ir.layout import Layout
from symgrad.ir.mixed import mixed
from symgrad.ir.types import Scalar, Tape
from symgrad.ir.unbound import Unbound
from symgrad.ops.build import Builder
from symgrad.ops.declare import USER_ROWS

#: reverses one op; the last argument is its index in its block
Reversal = Callable[["Sweep", Scope, Any, int], None]
#: by the name of a row, else by the kind of op
TABLE: dict[str | type[Op], Reversal] = {}


def reverses(*kinds: str | type[Op]) -> Callable[[Reversal], Reversal]:
    """Register a reversal for kinds of ops."""

    def enter(reversal: Reversal) -> Reversal:
        TABLE.update(dict.fromkeys(kinds, reversal))
        return reversal

    return enter


@dataclass(slots=True)
class Sweep:
    """One walk backwards over a function; ``turns`` maps each new op to the index of the primal op that it reverses."""

    func: Func
    active: set[Value]
    pairs: Pairs
    builder: Builder
    scopes: dict[Block, Scope] = field(default_factory=dict)
    turns: dict[Op, int] = field(default_factory=dict)
    ledger: Ledger = field(init=False)
    producers: dict[Operand, Op] = field(init=False)
    layout: Layout = field(default_factory=Layout)
    counts: dict[Value, int] = field(init=False)
    known: dict[Scope, Implied] = field(default_factory=dict)  #: the bools that are known in a block
    narrow: bool = field(init=False)  #: whether some number is narrower than Python's

    def __post_init__(self) -> None:
        know(self.builder, self.func)
        self.layout.enter(self.func.body)
        homes = {value: block for value, (block, _) in self.layout.places.items()}
        self.ledger = Ledger(self.builder, homes, Unbound.of(self.func.body), self.func.params)
        self.producers = {out: op for op in walk(self.func.body) for out in op.outs}
        self.counts = uses(self.func.body)
        self.narrow = any(is_narrow(value.type) for value in (*self.func.params, *self.producers))
        self.ledger.nullable.update(unboxed_items(self.func.body))

    # ---------------------------------------------------------------- from results to parameters

    def seeds(self, active_results: Sequence[int], requested: bool) -> list[Value]:
        """The parameters for the results' cotangents, if they are ``requested``."""
        params: list[Value] = []
        for k in active_results if requested else ():
            result = self.func.body.yields[k]
            label = self.func.results[k] if k < len(self.func.results) else "out"
            narrow = isinstance(result.type, Scalar) and result.type.dtype in NARROW  # seeds of any dtype are converted to it
            params.append(Value(result.type if narrow else cotangent_type(result.type), f"{label}_grad"))
        return params

    def run(self, seeds: list[Value], active_results: Sequence[int]) -> Scope:
        """Reverse the whole function."""
        body = self.func.body
        scope = self.scope(body, Block(), None, 0, False)
        with self.builder.inside(scope.reverse):
            for place, k in enumerate(active_results):
                result = body.yields[k]
                if isinstance(result, Value) and result in self.active:
                    seed = seeds[place] if seeds else self.unit(result)
                    self.ledger.contribute(scope, result, Cotangent(seed))
            self.mark(scope, 0, len(body.ops))
            self.block(scope)
        return scope

    def unit(self, result: Value) -> Operand:
        """The seed of a scalar result, in its precision."""
        dtype = getattr(result.type, "dtype", None)
        if isinstance(result.type, Scalar) and dtype in NARROW:
            return self.builder.call("cast", Const(1.0), dtype=dtype)
        return Const(1.0)

    def gradients(self, scope: Scope, wrt: Sequence[int]) -> list[Operand]:
        """The returned gradients: each in memory of its own, with its parameter's dtype and shape."""
        gradients: list[Operand] = []
        start = len(scope.reverse.ops)
        declared = any(isinstance(op, Call) and op.name in USER_ROWS for op in self.producers.values())
        doubts = Doubts(self.narrow, declared, mixed([self.func.body, scope.reverse]))
        with self.builder.inside(scope.reverse):
            for k in wrt:
                param = self.func.params[k]
                cotangent = scope.table.get(param)
                if cotangent is not None and cotangent.value in gradients:
                    cotangent.owned = False
                grad = self.ledger.owned(cotangent, param)
                gradients.append(in_dtype(self.builder, grad, param, doubts, hinted(param)))
        self.mark(scope, start, -1)
        return gradients

    # ---------------------------------------------------------------- blocks

    def scope(self, block: Block, reverse: Block, parent: Scope | None, position: int, loop: bool) -> Scope:
        """Record that ``reverse`` reverses ``block``."""
        scope = Scope(block, reverse, parent, position, loop)
        self.scopes[reverse] = scope
        return scope

    def mark(self, scope: Scope, start: int, turn: int) -> None:
        """Assign the ops of the reversed block from ``start`` on to primal op ``turn``."""
        for op in scope.reverse.ops[start:]:
            self.turns.setdefault(op, turn)

    def block(self, scope: Scope) -> None:
        """Reverse the ops of a block, last first."""
        for index in reversed(range(len(scope.block.ops))):
            start = len(scope.reverse.ops)
            op = scope.block.ops[index]
            with self.builder.at(op.loc):
                self.op(scope, op, index)
            self.mark(scope, start, index)

    def op(self, scope: Scope, op: Op, index: int) -> None:
        """Reverse one op, if a derivative passes through it."""
        if not any(out in scope.table for out in op.outs):
            return
        reverse = TABLE.get(op.name) if isinstance(op, Call) else None
        (reverse or TABLE[type(op)])(self, scope, op, index)


def unboxed_items(block: Block) -> list[Value]:
    """The values that a backward function pops from its box; residuals of a side not taken are None."""
    boxes = {op.outs[0] for op in block.ops if isinstance(op, Call) and op.name == "copy" and isinstance(op.outs[0].type, Tape)}
    return [out for op in block.ops if isinstance(op, Call) and op.name == "pop" and op.args[0] in boxes for out in op.outs[1:]]
