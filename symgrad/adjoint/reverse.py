"""The adjoint: the IR of a function -> the IR of its gradient.

The forward half is the function itself. The backward half is written here as if all values of the
forward half were still there; ``tape`` then makes that true.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from symgrad.adjoint.account import tell_activity, tell_rule
from symgrad.adjoint.accumulate import Cotangent, Ledger, Mask, Scope, common, cotangent_type, hinted, in_memory, loosened
from symgrad.adjoint.activity import active_values, may_be_active, parameters
from symgrad.adjoint.again import not_again
from symgrad.adjoint.calls import Pairs
from symgrad.adjoint.costs import INTERPRETED, Costs
from symgrad.adjoint.expand import Absent, Expansion, arithmetic, needed_row, negated, number, operand, parsed
from symgrad.adjoint.extents import known_extents
from symgrad.adjoint.fit import conformed, fitted
from symgrad.adjoint.memory import Layout, Memory, has_memory
from symgrad.adjoint.prune import prune
from symgrad.adjoint.pullback import split_pullback
from symgrad.adjoint.share import share
from symgrad.adjoint.tape import Unplanned, available
from symgrad.ir.core import ONE, UNDEF, ZERO, Apply, Block, Call, Const, For, Func, If, Op, Operand, Value, While, clone, uses, walk
from symgrad.ir.types import INT, Array, List, Scalar, Tape, Type, join, same_shape
from symgrad.ir.unbound import Unbound
from symgrad.ops.build import Builder, symbols
from symgrad.ops.declare import ROWS, Row
from symgrad.ops.indexing import has_arrays

__all__ = ["gradient", "split_pullback"]


def gradient(func: Func, wrt: Sequence[int], *, active_results: Sequence[int] = (0,), value: bool = True, seeds: bool = False,
             name: str | None = None, taken: set[str] | None = None, costs: Costs = INTERPRETED, shared: bool = False) -> Func:  # fmt: skip
    """The function that computes ``func`` and its gradient.

    Its parameters are ``func``'s, then, if ``seeds``, a cotangent for each active result; its results
    ``func``'s, if ``value``, then the gradient with respect to each parameter in ``wrt``. ``taken`` are
    symbols of extents that mean something else where the result will stand. ``costs`` are those of what will run it. The results
    of ``func`` are copied where they share memory, unless they may be ``shared``.
    """

    def differentiate(forwarding: bool) -> Func:
        pairs = Pairs(partial(pullback_of, forwarding=forwarding, costs=costs))
        return differentiated(func, wrt, active_results, value, seeds, name, pairs, taken, forwarding, costs, shared)

    try:
        return differentiate(True)
    except Unplanned:  # rare: reading back what was stored was planned where it is not there any more; then it is saved
        return differentiate(False)


def pullback_of(func: Func, wrt: Sequence[int], active_results: Sequence[int], pairs: Pairs, *, forwarding: bool, costs: Costs) -> Func:
    """The gradient of a function that the program calls."""
    return differentiated(func, wrt, active_results, True, True, None, pairs, None, forwarding, costs)


def differentiated(func: Func, wrt: Sequence[int], active_results: Sequence[int], value: bool, seeds: bool, name: str | None,
                   pairs: Pairs, taken: set[str] | None, forwarding: bool, costs: Costs, shared: bool = False) -> Func:  # fmt: skip
    """``gradient``, with the pairs of functions made so far."""
    made = clone(func, name or f"{func.name}_grad")
    results = list(made.body.yields)
    names = made.results or [f"out{k}" if k else "out" for k in range(len(results))]
    builder = Builder(taken=set() if taken is None else taken)
    builder.taken |= symbols(made)
    sweep = Sweep(made, active_values(made, wrt, active_results), pairs, builder)
    tell_activity(made, wrt, active_results)
    given = sweep.seeds(active_results, seeds)
    scope = sweep.run(given, active_results)
    gradients = sweep.gradients(scope, wrt)
    scope.reverse.yields = list(gradients)
    prune(scope.reverse)
    not_again(scope, sweep.scopes)
    share(scope.reverse, sweep.ledger.copies)
    body = available(made, scope, sweep.scopes, sweep.turns, results if value else [], builder.taken, forwarding, costs, shared)
    made.split = len(body.ops) - len(scope.reverse.ops)
    made.body = body
    made.body.args += given
    made.body.yields = [*(body.yields if value else []), *scope.reverse.yields]
    made.results = [*(names if value else []), *(f"{func.params[k].name or f'arg{k}'}_grad" for k in wrt)]
    return made


@dataclass(slots=True)
class Sweep:
    """One walk backwards over a function; ``turns`` says which op of the forward half each new op belongs to."""

    func: Func
    active: set[Value]
    pairs: Pairs
    builder: Builder
    scopes: dict[Block, Scope] = field(default_factory=dict)
    turns: dict[Op, int] = field(default_factory=dict)
    ledger: Ledger = field(init=False)
    producers: dict[Operand, Op] = field(init=False)
    counts: dict[Value, int] = field(init=False)

    def __post_init__(self) -> None:
        self.builder.extents.update(known_extents(self.func))
        self.ledger = Ledger(self.builder, homes(self.func.body), Unbound.of(self.func.body), self.func.params)
        self.producers = {out: op for op in walk(self.func.body) for out in op.outs}
        self.counts = uses(self.func.body)
        self.ledger.nullable.update(unboxed_items(self.func.body))

    # ---------------------------------------------------------------- from results to parameters

    def seeds(self, active_results: Sequence[int], wanted: bool) -> list[Value]:
        """The parameters for the results' cotangents."""
        made: list[Value] = []
        for k in active_results if wanted else ():
            result = self.func.body.yields[k]
            label = self.func.results[k] if k < len(self.func.results) else "out"
            made.append(Value(cotangent_type(result.type), f"{label}_grad"))
        return made

    def run(self, given: list[Value], active_results: Sequence[int]) -> Scope:
        """Reverse the whole function."""
        body = self.func.body
        scope = self.scope(body, Block(), None, 0, False)
        with self.builder.inside(scope.reverse):
            for place, k in enumerate(active_results):
                result = body.yields[k]
                if isinstance(result, Value) and result in self.active:
                    seed = given[place] if given else self.unit(result)
                    self.ledger.contribute(scope, result, Cotangent(seed))
            self.mark(scope, 0, len(body.ops))
            self.block(scope)
        return scope

    def unit(self, result: Value) -> Operand:
        """The seed of a scalar result, in its precision."""
        dtype = getattr(result.type, "dtype", None)
        if isinstance(result.type, Scalar) and dtype in ("f16", "f32", "c64"):
            return self.builder.call("cast", Const(1.0), dtype=dtype)
        return Const(1.0)

    def gradients(self, scope: Scope, wrt: Sequence[int]) -> list[Operand]:
        """What is returned: each gradient in memory of its own, in its parameter's dtype and shape."""
        made: list[Operand] = []
        start = len(scope.reverse.ops)
        with self.builder.inside(scope.reverse):
            for k in wrt:
                param = self.func.params[k]
                cotangent = scope.table.get(param)
                if cotangent is not None and cotangent.value in made:
                    cotangent.owned = False
                grad = self.ledger.owned(cotangent, param)
                made.append(grad if isinstance(grad, Const) else conformed(self.builder, grad, param, hinted(param)))
        self.mark(scope, start, -1)
        return made

    # ---------------------------------------------------------------- blocks

    def scope(self, block: Block, reverse: Block, parent: Scope | None, position: int, loop: bool) -> Scope:
        """Note that ``reverse`` reverses ``block``."""
        made = Scope(block, reverse, parent, position, loop)
        self.scopes[reverse] = made
        return made

    def mark(self, scope: Scope, start: int, turn: int) -> None:
        """The ops of the reversed block from ``start`` on belong to op ``turn`` of the block."""
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
        match op:
            case Call(name="push"):
                self.push(scope, op)
            case Call(name="pop"):
                self.pop(scope, op)
            case Call(name="put"):
                self.put(scope, op)
            case Call(name="get"):
                self.get(scope, op)
            case Call():
                self.call(scope, op)
            case If():
                self.branch(scope, op, index)
            case For() | While():
                self.loop(scope, op, index)
            case Apply():
                self.apply(scope, op)
            case _:
                raise AssertionError(f"no adjoint of {type(op).__name__}")

    # ---------------------------------------------------------------- calls

    def call(self, scope: Scope, op: Call) -> None:
        """Instantiate the row's derivative for each active operand."""
        op = squared(op)
        if self.augmented(scope, op):
            return
        row = ROWS[op.name]
        outs = [self.ledger.arrived(scope, out) for out in op.outs]
        wanted = [(position, param, a) for position, param, a in parameters(op) if isinstance(a, Value) and a in self.active]
        if self.func.notes is not None:
            tell_rule(self.func.notes, op, row, [param for _, param, _ in wanted])
        if row.elementwise and len(outs) == 1 and outs[0] is not None:
            self.elementwise(scope, op, row, outs[0], wanted)
        else:
            self.pullbacks(scope, op, row, outs, wanted)

    def augmented(self, scope: Scope, op: Call) -> bool:
        """``x[i] += w``: the cotangent of ``x`` stays as it is, and ``w``'s is read from it."""
        if op.name != "set_at" or has_arrays(op.settings["index"], [a.type for a in op.args[2:]]):
            return False
        stored = op.args[1]
        total = self.producers.get(stored) if isinstance(stored, Value) and self.counts.get(stored) == 1 else None
        if not isinstance(total, Call) or total.name not in ("add", "subtract"):
            return False
        first, second = total.args
        if self.reads_same(self.producers.get(first), op):
            other = second
        elif total.name == "add" and self.reads_same(self.producers.get(second), op):
            other = first
        else:
            return False
        grad = self.ledger.arrived(scope, op.outs[0])
        assert grad is not None
        if isinstance(other, Value) and other in self.active:
            whole = self.ledger.dense(grad.value, op.outs[0])
            part = self.builder.call("take", whole, *op.args[2:], hint=hinted(other), index=op.settings["index"])
            made = negated(self.builder, part, hinted(other)) if total.name == "subtract" else part
            Keeping(self, scope, Cotangent(ZERO)).add(other, operand(made), (), True)
        if isinstance(op.args[0], Value) and op.args[0] in self.active:
            self.ledger.contribute(scope, op.args[0], Cotangent(grad.value, grad.owned))
        return True

    def reads_same(self, read: Op | None, store: Call) -> bool:
        """Is it a read, used once, of what the store overwrites?"""
        if not isinstance(read, Call) or read.name not in ("take", "view") or self.counts.get(read.outs[0]) != 1:
            return False
        same = [self.same(a, b) for a, b in zip([read.args[0], *read.args[1:]], [store.args[0], *store.args[2:]], strict=False)]
        return len(read.args) == len(store.args) - 1 and read.settings["index"] == store.settings["index"] and all(same)

    def same(self, a: Operand, b: Operand) -> bool:
        """Are the two one operand?"""
        return a is b or isinstance(a, Const) and isinstance(b, Const) and a.key() == b.key()

    def names(self, op: Call, row: Row) -> dict[str, Any]:
        """What the names in the row's derivative mean."""
        table: dict[str, Any] = dict(op.settings)
        for place, param in enumerate(row.params):
            table[param] = op.args[place:] if param.startswith("*") else op.args[place]
        table.update(zip(row.outs, op.outs, strict=False))
        return table

    def elementwise(self, scope: Scope, op: Call, row: Row, grad: Cotangent, wanted: list[tuple[int, str, Value]]) -> None:
        """``out_grad * partial`` for each operand, summed over what was broadcast."""
        names = self.names(op, row)
        kept = Keeping(self, scope, grad)
        for _, param, target in wanted:
            text = row.partials.get(param)
            if text is None:
                if (pullback := row.pullbacks.get(param)) is not None:
                    kept.add(target, self.pullback(op, row, names, [grad], pullback, target), self.side(op, param, target, grad), True)
                continue
            product, constant = self.scaled(grad.value, text, names, hinted(target))
            mask = grad.mask
            if mask and not constant:
                product = self.masked(product, mask)
            kept.add(target, product, mask, True)
        kept.settle()

    def scaled(self, grad: Operand, text: str, names: dict[str, Any], hint: str) -> tuple[Operand, bool]:
        """``grad * partial``, and whether the partial is a literal."""
        node = parsed(text)
        expansion = Expansion(self.builder, names)
        if (found := reciprocal(node)) is not None:
            name, below = found[0], operand(expansion.value(found[1]))
            return operand(arithmetic(self.builder, needed_row(name, [grad, below]), grad, below, hint)), False
        partial = expansion.value(node)
        known = number(partial)
        if known == 1:
            return grad, True
        if known == -1:
            return operand(negated(self.builder, grad, hint)), True
        return operand(arithmetic(self.builder, "multiply", grad, partial, hint)), known is not None

    def masked(self, grad: Operand, mask: Mask) -> Operand:
        """``grad`` where the mask says, else exactly zero, whatever it was multiplied with."""
        for condition, side in mask:
            sides = (grad, Const(0.0)) if side else (Const(0.0), grad)
            grad = self.builder.call("where", condition, *sides, hint="t_grad")
        return grad

    def side(self, op: Call, param: str, target: Value, grad: Cotangent | None) -> Mask:
        """The mask of a cotangent that comes out of ``where`` in the shape it went in with."""
        if op.name != "where" or param not in ("x", "y") or grad is None or not alike(target, op.outs[0]):
            return ()
        return ((op.args[0], param == "x"), *grad.mask)

    def pullback(self, op: Call, row: Row, names: dict[str, Any], outs: list[Cotangent | None], text: str, target: Value) -> Operand:
        """The cotangent that one pullback text gives."""
        table = dict(names)
        for label, out, grad in zip(row.outs, op.outs, outs, strict=False):
            zero = partial(self.ledger.zero, out)
            table[f"{label}_grad"] = Absent(zero) if grad is None else self.ledger.dense(grad.value, out)
        made = Expansion(self.builder, table, hinted(target)).expand(text)
        return self.ledger.zero(target) if isinstance(made, Absent) else made

    def pullbacks(self, scope: Scope, op: Call, row: Row, outs: list[Cotangent | None], wanted: list[tuple[int, str, Value]]) -> None:
        """The whole cotangent of each operand, as the row says it; what takes over the output's memory comes last."""
        names = self.names(op, row)
        first = outs[0]
        kept = Keeping(self, scope, first or Cotangent(ZERO))
        texts = [(position, param, target, text) for position, param, target in wanted if (text := row.pullbacks.get(param)) is not None]
        for position, param, target, text in sorted(texts, key=lambda entry: "taken" in entry[3]):
            names["position"] = position
            if "into" in text:
                names["into"] = self.by_rows(op, self.ledger.buffer(scope, target))
                scope.table[target] = Cotangent(self.pullback(op, row, names, outs, text, target), True)
            elif "taken" in text:
                names["taken"] = self.by_rows(op, self.taken(first, op.outs[0], kept))
                self.ledger.contribute(scope, target, Cotangent(self.pullback(op, row, names, outs, text, target), True))
            else:
                mask = self.side(op, param, target, first)
                kept.add(target, self.pullback(op, row, names, outs, text, target), mask, False)
        kept.settle()

    def by_rows(self, op: Call, buffer: Operand) -> Operand:
        """A cotangent that is written to through ``reshape`` must lie as the value does, else the store goes to a copy."""
        through = any(step in str(op.settings.get("index", "")) for step in (".reshape", ".ravel"))
        if through and isinstance(buffer.type, Array) and buffer.type.layout not in ("C", "CF") and buffer.type.shape != ():
            return self.builder.call("by_rows", buffer, hint=buffer.name if isinstance(buffer, Value) else None)
        return buffer

    def taken(self, grad: Cotangent | None, out: Value, kept: Keeping) -> Operand:
        """The output's cotangent, given up to be written to."""
        if grad is not None and kept.aliases and not isinstance(out.type, List):  # of a list the item is taken out
            grad = Cotangent(grad.value)
        return self.ledger.owned(grad, out)

    # ---------------------------------------------------------------- tapes

    def push(self, scope: Scope, op: Call) -> None:
        """What was pushed has the cotangent that was pushed for it when it was popped."""
        grad = self.ledger.arrived(scope, op.outs[0])
        assert grad is not None
        places = self.places(op.args[1:])
        hints = (hinted(op.outs[0]), *(hinted(op.args[1 + k]) for k in places))
        rest, *found = self.popped(self.ledger.owned(grad, op.outs[0]), [self.ledger.item_type(op.args[1 + k]) for k in places], hints)
        for k, item in zip(places, found, strict=False):
            self.off_tape(scope, op.args[1 + k], item)
        if isinstance(op.args[0], Value):
            self.ledger.contribute(scope, op.args[0], Cotangent(rest, True))

    def popped(self, tape: Operand, types: list[Type], hints: tuple[str, ...]) -> list[Value]:
        """``pop`` of a tape whose items are only known by what was pushed elsewhere."""
        outs = [Value(t, h) for t, h in zip([tape.type, *types], hints, strict=True)]
        self.builder.append(Call(outs, self.builder.loc, "pop", [tape], {}))
        return outs

    def pop(self, scope: Scope, op: Call) -> None:
        """The cotangents of what was popped are pushed."""
        rest, *found = [self.ledger.take(scope, out) for out in op.outs]
        tape = self.ledger.owned(rest, op.outs[0])
        values = [self.ledger.handed(scope, found[k], op.outs[1 + k]).value for k in self.places(op.outs[1:])]
        pushed = self.builder.call("push", tape, *values, hint=hinted(op.args[0]))
        assert isinstance(op.args[0], Value)
        self.ledger.contribute(scope, op.args[0], Cotangent(pushed, True))

    def put(self, scope: Scope, op: Call) -> None:
        """The cotangents of what was put in a place are those put there when it was got."""
        grad = self.ledger.arrived(scope, op.outs[0])
        assert grad is not None
        places = self.places(op.args[2:])
        outs = [Value(self.ledger.item_type(op.args[2 + k]), hinted(op.args[2 + k])) for k in places]
        self.builder.append(Call(outs, self.builder.loc, "get", [grad.value, op.args[1]], {}))
        for k, item in zip(places, outs, strict=True):
            self.off_tape(scope, op.args[2 + k], item)
        if isinstance(op.args[0], Value):
            self.ledger.contribute(scope, op.args[0], grad)

    def get(self, scope: Scope, op: Call) -> None:
        """The cotangents of what was got, in its place; each place is read once."""
        found = [self.ledger.take(scope, out) for out in op.outs]
        tape = op.args[0]
        assert isinstance(tape, Value)
        into = self.ledger.buffer(scope, tape)
        values = [self.ledger.handed(scope, found[k], op.outs[k]).value for k in self.places(op.outs)]
        scope.table[tape] = Cotangent(self.builder.call("put", into, op.args[1], *values, hint=hinted(tape)), True)

    def off_tape(self, scope: Scope, target: Operand, item: Value) -> None:
        """What was put on a tape has the cotangent that was put there for it."""
        if isinstance(target, Value) and target in self.active:
            self.ledger.contribute(scope, target, Cotangent(item, loose=self.ledger.is_perhaps_nothing(target)))

    def places(self, items: Sequence[Operand]) -> list[int]:
        """Which of the items of a tape can carry a derivative."""
        return [k for k, item in enumerate(items) if may_be_active(item.type)]

    # ---------------------------------------------------------------- calls of functions

    def apply(self, scope: Scope, op: Apply) -> None:
        """The call becomes one of the forward function, which gives a box; its reverse a call of the backward function."""
        grads = [(k, grad) for k, out in enumerate(op.outs) if (grad := self.ledger.arrived(scope, out)) is not None]
        wanted = [k for k, a in enumerate(op.args) if isinstance(a, Value) and a in self.active]
        if not wanted:
            return
        assert op.func is not None
        forward, backward = self.pairs.pair(op.func, tuple(wanted), tuple(k for k, _ in grads), op.loc)
        if self.func.notes is not None:
            self.func.notes.add("reverse", "rule", op.loc, f"{forward.name} keeps what {backward.name} needs", name=f"{op.func.name}(...)")
        given = [self.ledger.dense(grad.value, op.outs[k]) for k, grad in grads]
        box = Value(Tape(), "box")
        op.func = forward
        op.outs.append(box)
        self.ledger.homes[box] = scope.block
        sources = [a for k in wanted if isinstance(a := op.args[k], Value)]
        outs = [Value(cotangent_type(a.type), hinted(a)) for a in sources]
        self.builder.append(Apply(outs, op.loc, backward, [box, *given]))
        for source, out in zip(sources, outs, strict=True):
            self.ledger.contribute(scope, source, Cotangent(out, in_memory(out.type)))

    # ---------------------------------------------------------------- branches

    def branch(self, scope: Scope, op: If, index: int) -> None:
        """The same test; each side reversed; outer values touched on either side are joined."""
        grads = [(k, self.left(op, out, grad)) for k, out in enumerate(op.outs) if (grad := self.ledger.take(scope, out)) is not None]
        sides: list[Scope] = []
        for place, block in enumerate(op.blocks):
            inner = self.scope(block, Block(), scope, index, False)
            inner.side = (op.test, place)
            with self.builder.inside(inner.reverse):
                for k, grad in grads:
                    target = block.yields[k]
                    if isinstance(target, Value) and target in self.active:
                        self.ledger.contribute(inner, target, Cotangent(grad.value, grad.owned, grad.mask, grad.loose))
                self.mark(inner, 0, len(block.ops))
                self.block(inner)
            sides.append(inner)
        made = If([], op.loc, op.test, sides[0].reverse, sides[1].reverse)
        for value in self.touched(sides):
            self.joined(scope, value, sides, made)
        self.separate(scope, made, sides)
        self.builder.append(made)

    def left(self, op: If, out: Value, grad: Cotangent) -> Cotangent:
        """The cotangent of a result: on the side that does not bind it it may stay undefined."""
        without = self.ledger.unbound.sides.get(out)
        return grad if without is not None and without[0] is op.test else self.ledger.filled(grad)

    def separate(self, scope: Scope, made: If, sides: list[Scope]) -> None:
        """Let no two results of the branch live in one buffer if one of them may be written to."""
        owners = {cotangent.value: cotangent for cotangent in scope.table.values() if cotangent.value in made.outs}
        groups = [outside(side.reverse) for side in sides]
        taken: set[Value] = set()
        for k, out in sorted(enumerate(made.outs), key=lambda entry: not owners[entry[1]].owned):
            found = [group(side.reverse.yields[k]) for group, side in zip(groups, sides, strict=True)]
            for side, buffers in zip(sides, found, strict=True):
                if buffers & taken:
                    with self.builder.inside(side.reverse):
                        side.reverse.yields[k] = self.builder.call("copy", side.reverse.yields[k], hint=out.name)
                    self.mark(side, len(side.reverse.ops) - 1, -1)
            if owners[out].owned:
                taken.update(*found)

    def touched(self, sides: list[Scope]) -> list[Value]:
        """Outer values whose cotangent changed on a side, in a fixed order."""
        found = dict.fromkeys(v for side in sides for v in side.table if self.ledger.homes[v] is not side.block)
        return list(found)

    def joined(self, scope: Scope, value: Value, sides: list[Scope], made: If) -> None:
        """One result of the reversed branch: the cotangent of ``value`` after it."""
        found: list[Cotangent] = []
        gap: tuple[Block, int] | None = None
        for place, side in enumerate(sides):
            grad = self.ledger.get(side, value)
            if (grad is None or grad.gap is not None) and self.ledger.unbound.sides.get(value) == (made.test, place):
                gap = side.reverse, len(side.reverse.yields)
                found.append(Cotangent(UNDEF, True))
                continue
            start = len(side.reverse.ops)
            with self.builder.inside(side.reverse), self.builder.at(made.loc):
                if self.mixed(grad, value):
                    grad = Cotangent(self.ledger.owned(grad, value), True, () if grad is None else grad.mask)
                found.append(self.ledger.handed(side, grad, value))
            self.mark(side, start, -1)
        for side, grad in zip(sides, found, strict=True):
            side.reverse.yields.append(grad.value)
        loose = any(grad.loose for grad in found)
        type_ = join(found[0].value.type, found[1].value.type)
        out = Value(loosened(type_) if loose else type_, hinted(value))
        made.outs.append(out)
        owned = all(grad.owned for grad in found) and in_memory(out.type)
        scope.table[value] = Cotangent(out, owned, common(found[0].mask, found[1].mask), loose, gap)

    def mixed(self, grad: Cotangent | None, value: Value) -> bool:
        """Is it a scalar standing for an array, which the other side may hold as one?"""
        return grad is not None and isinstance(value.type, Array) and value.type.shape != () and isinstance(grad.value.type, Scalar)

    # ---------------------------------------------------------------- loops

    def loop(self, scope: Scope, op: For | While, index: int) -> None:
        """The same rounds, last first; carried: cotangents of the loop's own slots and of outer values."""
        slots = [k for k in range(len(op.carried)) if op.carried[k] in self.active or op.outs[k] in self.active]
        grads = {k: self.ledger.take(scope, op.outs[k]) for k in slots}
        made = self.header(op)
        made.body.args = [Value(INT, op.index.name if isinstance(op, For) else None)]
        inner = self.scope(op.body, made.body, scope, index, True)
        inner.op = made
        loose = {k for k in slots if self.is_loose(op, k, scope, inner)}
        arrived = {k: Value(loosened(op.carried[k].type) if k in loose else self.arriving(op, k), hinted(op.carried[k])) for k in slots}
        made.body.args += arrived.values()
        with self.builder.inside(made.body):
            for k in slots:
                target = op.body.yields[k]
                if isinstance(target, Value) and target in self.active:
                    self.ledger.contribute(inner, target, Cotangent(arrived[k], True, loose=k in loose))
            self.mark(inner, 0, len(op.body.ops))
            self.block(inner)
            start = len(made.body.ops)
            made.body.yields = [self.carried(inner, inner.table.get(op.carried[k]), op.carried[k]) for k in slots]
            made.body.yields += [self.carried(inner, inner.table[v], v) for v in inner.slots]
            self.mark(inner, start, -1)
        made.inits = [self.carried(scope, grads[k], op.outs[k]) for k in slots]
        made.inits += [self.carried(scope, self.ledger.get(scope, v), v) for v in inner.slots]
        made.outs = [Value(slot.type, slot.name) for slot in made.carried]
        for k, out in zip(slots, made.outs, strict=False):
            out.type = like(op.inits[k].type, out.type)
        self.builder.append(made)
        for v, out in zip(inner.slots, made.outs[len(slots) :], strict=True):
            scope.table[v] = Cotangent(out, in_memory(out.type), loose=self.ledger.is_formless(scope, v))
        for k, out in zip(slots, made.outs, strict=False):
            target = op.inits[k]
            if isinstance(target, Value) and target in self.active:
                self.ledger.contribute(scope, target, Cotangent(out, in_memory(out.type), loose=k in loose))

    def carried(self, scope: Scope, grad: Cotangent | None, value: Value) -> Operand:
        """The cotangent of ``value`` as a reversed loop carries it: in memory of its own, or the number 0."""
        grad = self.ledger.handed(scope, grad, value)
        if not grad.loose:
            return self.ledger.owned(grad, value)
        return grad.value if grad.owned else self.ledger.copied(grad.value, value)

    def is_loose(self, op: For | While, k: int, scope: Scope, inner: Scope) -> bool:
        """May a slot's cotangent be the number 0, as the name has no value before the loop, or before or after a round?"""
        ends = ((scope, op.inits[k]), (inner, op.carried[k]), (inner, op.body.yields[k]), (scope, op.outs[k]))
        return any(isinstance(value, Value) and self.ledger.is_formless(where, value) for where, value in ends)

    def arriving(self, op: For | While, k: int) -> Type:
        """What a round of the reversed loop is handed for a slot: the cotangent of what the round yielded, not of what it began with."""
        return cotangent_type(like(op.body.yields[k].type, op.carried[k].type))

    def header(self, op: For | While) -> For:
        """The reversed loop's range; with an exit, over the rounds that were begun."""
        if isinstance(op, While):
            return For([], op.loc, ZERO, op.outs[-1], ONE, backward=True)
        if not op.until:
            return For([], op.loc, op.start, op.stop, op.step, backward=not op.backward)
        assert not op.backward
        span = operand(arithmetic(self.builder, "multiply", op.outs[-1], op.step))
        stop = span if number(op.start) == 0 else operand(arithmetic(self.builder, "add", op.start, span))
        return For([], op.loc, op.start, stop, op.step, backward=True)


@dataclass(slots=True)
class Keeping:
    """Contributions of one op whose output had the cotangent ``grad``: who may call that memory its own afterwards."""

    sweep: Sweep
    scope: Scope
    grad: Cotangent
    aliases: int = 0
    heirs: list[tuple[Value, Cotangent]] = field(default_factory=list)
    start: int = field(init=False)

    def __post_init__(self) -> None:
        self.start = len(self.sweep.builder.block.ops)

    def add(self, target: Value, product: Operand, mask: Mask, fit: bool) -> None:
        """Fit one contribution to its value and add it."""
        builder, ledger = self.sweep.builder, self.sweep.ledger
        if fit:
            fitting = fitted(builder, product, target, hinted(target))
            mask = mask if fitting is product else ()
            product = fitting
        product = conformed(builder, product, target, hinted(target))
        fresh = self.fresh(product)
        new = Cotangent(product, fresh, mask)
        if not fresh and in_memory(product.type) and ledger.get(self.scope, target) is None:
            self.aliases += 1
            if product is self.grad.value:
                self.heirs.append((target, new))
        ledger.contribute(self.scope, target, new)

    def fresh(self, product: Operand) -> bool:
        """Was it made just now, in memory that nobody else knows?"""
        ops = self.sweep.builder.block.ops[self.start :]
        if not ops or product not in ops[-1].outs or not isinstance(product.type, Array):
            return False
        makers = {out: op for op in ops for out in op.outs}
        source: Operand = product
        while isinstance(source, Value) and isinstance(op := makers.get(source), Call) and not ROWS[op.name].consumes:
            if ROWS[op.name].alias == "fresh":
                return True
            if ROWS[op.name].alias == "view":
                return False
            source = op.args[0]  # it may be its operand, which was made just now too
        return False

    def settle(self) -> None:
        """A single heir inherits the memory of the cotangent that is done with."""
        if self.aliases == 1 and len(self.heirs) == 1 and self.grad.owned:
            target, heir = self.heirs[0]
            if self.scope.table.get(target) is heir:
                heir.owned = True


def like(here: Type, type_: Type) -> Type:
    """A type with the extents that are known in another place, where they differ."""
    if not isinstance(here, Array) or not isinstance(type_, Array) or here.shape is None or type_.shape is None:
        return type_
    return type_ if same_shape(here.shape, type_.shape) else Array(type_.dtype, here.shape)


def unboxed_items(block: Block) -> list[Value]:
    """What a backward function takes out of its box, where residuals of a side not taken are None."""
    boxes = {op.outs[0] for op in block.ops if isinstance(op, Call) and op.name == "copy" and isinstance(op.outs[0].type, Tape)}
    return [out for op in block.ops if isinstance(op, Call) and op.name == "pop" and op.args[0] in boxes for out in op.outs[1:]]


def outside(block: Block) -> Callable[[Operand], set[Value]]:
    """For a value yielded by a block: the values of outside that it may share memory with."""
    layout = Layout()
    layout.enter(block)
    memory = Memory.of(Func("", block), layout)
    shared: dict[Value, set[Value]] = {}
    for value in [v for v in (*uses(block),) if v not in layout.places and has_memory(v.type)]:
        shared.setdefault(memory.find(value), set()).add(value)
    return lambda operand: shared.get(memory.find(operand), set()) if isinstance(operand, Value) and has_memory(operand.type) else set()


def squared(op: Call) -> Call:
    """``x * x`` as the square it is, whose derivative has one term."""
    if op.name == "multiply" and op.args[0] is op.args[1] and isinstance(op.args[0], Value):
        return Call(op.outs, op.loc, "square", op.args[:1], dict(ROWS["square"].settings))
    return op


def reciprocal(node: ast.expr) -> tuple[str, ast.expr] | None:
    """The row and the ``y`` of a partial ``1 / y``."""
    match node:
        case ast.BinOp(left=ast.Constant(value=value), op=ast.Div(), right=below) if value == 1:
            return "divide", below
        case ast.Call(func=ast.Name(id="ratio"), args=[ast.Constant(value=value), below]) if value == 1:
            return "ratio", below
    return None


def alike(a: Value, b: Value) -> bool:
    """Have the two provably the same shape?"""
    if isinstance(a.type, Array) and isinstance(b.type, Array):
        return same_shape(a.type.shape, b.type.shape)
    return isinstance(a.type, Scalar) and isinstance(b.type, Scalar)


def homes(block: Block) -> dict[Value, Block]:
    """The block in which each value is defined."""
    table: dict[Value, Block] = dict.fromkeys(block.args, block)
    for op in block.ops:
        table.update(dict.fromkeys(op.outs, block))
        for inner in op.blocks:
            table.update(homes(inner))
    return table
