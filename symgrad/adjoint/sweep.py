"""The reverse sweep: one walk backwards over a function, its state, the table of reversal functions by kind of op, and the
reversal of loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from symgrad.adjoint.accumulate import Cotangent, Ledger, Scope, cotangent_type, hinted, in_memory, loosened
from symgrad.adjoint.analysis.path_conditions import Implied
from symgrad.adjoint.calls import Pairs
from symgrad.adjoint.expand import arithmetic, number, operand
from symgrad.adjoint.unbroadcast import NARROW, Doubts, conformed, in_dtype, is_narrow
from symgrad.ir.core import ONE, ZERO, Block, Call, Const, For, Func, Op, Operand, Value, While, uses, walk
from symgrad.ir.layout import Layout, mixed
from symgrad.ir.types import FLOAT, INT, Array, Scalar, Tape, Type, is_complex, same_shape
from symgrad.ir.unbound import Unbound
from symgrad.ops.build import Builder, know
from symgrad.ops.declare import USER_ROWS
from symgrad.ops.tangents import VECTORS
from symgrad.tables import entered

#: reverses one op; the last argument is its index in its block
Reversal = Callable[["Sweep", Scope, Any, int], None]
#: by the name of a row, else by the kind of op
TABLE: dict[str | type[Op], Reversal] = {}


def reverses(*kinds: str | type[Op]) -> Callable[[Reversal], Reversal]:
    """Register a reversal for kinds of ops."""
    return entered(TABLE, *kinds)


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
        sizes = {vectors: Value(FLOAT, "terms") for vectors in unsure_of_phase(self.func.body)}
        self.layout.places |= {size: self.layout.places[vectors] for vectors, size in sizes.items()}
        self.layout.order |= {size: self.layout.order[vectors] for vectors, size in sizes.items()}
        homes = {value: block for value, (block, _) in self.layout.places.items()}
        self.ledger = Ledger(self.builder, homes, Unbound.of(self.func.body), self.func.params, sizes=sizes)
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


def unsure_of_phase(block: Block) -> list[Value]:
    """The vectors of complex matrices, which are determined up to a phase."""
    calls = [op for op in walk(block) if isinstance(op, Call) and op.name in VECTORS]
    return [op.outs[k] for op in calls for k in VECTORS[op.name] if is_complex(op.outs[k].type)]


def unboxed_items(block: Block) -> list[Value]:
    """The values that a backward function pops from its box; residuals of a side not taken are None."""
    boxes = {op.outs[0] for op in block.ops if isinstance(op, Call) and op.name == "copy" and isinstance(op.outs[0].type, Tape)}
    return [out for op in block.ops if isinstance(op, Call) and op.name == "pop" and op.args[0] in boxes for out in op.outs[1:]]


def active_slots(sweep: Sweep, op: For | While) -> list[int]:
    """The indices of a loop's carried values that carry a derivative; the reversed loop carries their cotangents first, in this order."""
    return [k for k in range(len(op.carried)) if op.carried[k] in sweep.active or op.outs[k] in sweep.active]


@reverses(For, While)
def reverse_loop(sweep: Sweep, scope: Scope, op: For | While, index: int) -> None:
    """Reverse a loop: the same iterations, last first; it carries the cotangents of the loop's slots and of outer values."""
    slots = active_slots(sweep, op)
    grads = {k: sweep.ledger.take(scope, op.outs[k]) for k in slots}
    loop = reversed_range(sweep, op)
    loop.body.args = [Value(INT, op.index.name if isinstance(op, For) else None)]
    inner = sweep.scope(op.body, loop.body, scope, index, True)
    inner.op = loop
    loose = {k for k in slots if is_loose(sweep, op, k, scope, inner)}
    arrived = {k: Value(loosened(op.carried[k].type) if k in loose else arriving(op, k), hinted(op.carried[k])) for k in slots}
    loop.body.args += arrived.values()
    with sweep.builder.inside(loop.body):
        for k in slots:
            target = op.body.yields[k]
            if isinstance(target, Value) and target in sweep.active:
                sweep.ledger.contribute(inner, target, Cotangent(arrived[k], True, loose=k in loose))
        sweep.mark(inner, 0, len(op.body.ops))
        sweep.block(inner)
        start = len(loop.body.ops)
        cotangents = [handed_round(sweep, inner, inner.table.get(op.carried[k]), op.carried[k]) for k in slots]
        cotangents += [handed_round(sweep, inner, inner.table[v], v) for v in inner.slots]
        loop.body.yields = entering(sweep, loop, cotangents)
        sweep.mark(inner, start, -1)
    cotangents = [handed_round(sweep, scope, grads[k], op.outs[k]) for k in slots]
    cotangents += [handed_round(sweep, scope, sweep.ledger.get(scope, v), v) for v in inner.slots]
    loop.inits = entering(sweep, loop, cotangents)
    loop.outs = [Value(slot.type, slot.name) for slot in loop.carried]
    for k, out in zip(slots, loop.outs, strict=False):
        out.type = like(op.inits[k].type, out.type)
    sweep.builder.append(loop)
    for v, out in zip(inner.slots, loop.outs[len(slots) :], strict=True):
        scope.table[v] = Cotangent(out, in_memory(out.type), loose=sweep.ledger.is_formless(scope, v))
    for k, out in zip(slots, loop.outs, strict=False):
        target = op.inits[k]
        if isinstance(target, Value) and target in sweep.active:
            sweep.ledger.contribute(scope, target, Cotangent(out, in_memory(out.type), loose=k in loose))


def entering(sweep: Sweep, loop: For, cotangents: list[Operand]) -> list[Operand]:
    """The cotangents as initial values of a reversed loop: each in its slot's dtype, as the verifier requires."""
    held = [conformed(sweep.builder, grad, slot, hinted(slot)) for grad, slot in zip(cotangents, loop.carried, strict=True)]
    return [in_slot(sweep, grad, slot) for grad, slot in zip(held, loop.carried, strict=True)]


def in_slot(sweep: Sweep, grad: Operand, slot: Value) -> Operand:
    """Cast a cotangent of open dtype to that of its slot; without narrow numbers both are float64."""
    want = getattr(slot.type, "dtype", None)
    is_open = isinstance(slot.type, Array) and isinstance(grad.type, Array) and grad.type.dtype is None
    if not sweep.narrow or not is_open or want in (None, "any"):
        return grad
    return sweep.builder.call("cast", grad, hint=hinted(slot), dtype=want)


def handed_round(sweep: Sweep, scope: Scope, grad: Cotangent | None, value: Value) -> Operand:
    """The cotangent of ``value`` as a reversed loop carries it: in memory that it owns, or the number 0."""
    grad = sweep.ledger.handed(scope, grad, value)
    if not grad.loose:
        return sweep.ledger.owned(grad, value)
    return grad.value if grad.owned else sweep.ledger.copied(grad.value, value)


def is_loose(sweep: Sweep, op: For | While, k: int, scope: Scope, inner: Scope) -> bool:
    """Whether a slot's cotangent may be the number 0, because the name may be unbound before the loop, or before or after an iteration."""
    ends = ((scope, op.inits[k]), (inner, op.carried[k]), (inner, op.body.yields[k]), (scope, op.outs[k]))
    return any(isinstance(value, Value) and sweep.ledger.is_formless(where, value) for where, value in ends)


def arriving(op: For | While, k: int) -> Type:
    """The type of a slot's cotangent at the start of a reversed iteration: that of the value yielded, not of the value carried in."""
    return cotangent_type(like(op.body.yields[k].type, op.carried[k].type))


def reversed_range(sweep: Sweep, op: For | While) -> For:
    """The reversed loop's range; for a loop with an exit, over the iterations that were started."""
    if isinstance(op, While):
        return For([], op.loc, ZERO, op.outs[-1], ONE, backward=True)
    if not op.until:
        return For([], op.loc, op.start, op.stop, op.step, backward=not op.backward)
    assert not op.backward
    span = operand(arithmetic(sweep.builder, "multiply", op.outs[-1], op.step))
    stop = span if number(op.start) == 0 else operand(arithmetic(sweep.builder, "add", op.start, span))
    return For([], op.loc, op.start, stop, op.step, backward=True)


def like(here: Type, type_: Type) -> Type:
    """A type with the extents known at another place, where they differ."""
    if not isinstance(here, Array) or not isinstance(type_, Array) or here.shape is None or type_.shape is None:
        return type_
    return type_ if same_shape(here.shape, type_.shape) else Array(type_.dtype, here.shape)
