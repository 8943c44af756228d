"""Reverses calls of rows: applies the row's derivative for each active operand, and tracks who owns the memory afterwards."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import partial, reduce
from typing import Any

from symgrad.adjoint.accumulate import Cotangent, Scope, hinted, in_memory, is_zero
from symgrad.adjoint.analysis.activity import parameters
from symgrad.adjoint.analysis.regions import STORING
from symgrad.adjoint.analysis.zero_masks import Mask, either, fitting, masked, moved_mask, moving
from symgrad.adjoint.expand import Absent, Expansion, arithmetic, is_by_numpy, needed_row, negated, number, operand, parsed
from symgrad.adjoint.saving.plan import PARTS, path_of, read_back
from symgrad.adjoint.saving.remarks import tell_rule
from symgrad.adjoint.sweep import Sweep, reverses
from symgrad.adjoint.unbroadcast import conformed, fitted
from symgrad.ir.core import ZERO, Call, Const, Op, Operand, Value, same_operand
from symgrad.ir.types import Array, List, Scalar
from symgrad.ops.build import Builder
from symgrad.ops.declare import ROWS, Row
from symgrad.ops.indexing import has_arrays, is_part, steps


@reverses(Call)
def reverse_call(sweep: Sweep, scope: Scope, op: Call, index: int) -> None:
    """Instantiate the row's derivative for each active operand."""
    op = squared(op)
    if augmented(sweep, scope, op):
        return
    row = ROWS[op.name]
    outs = [sweep.ledger.arrived(scope, out) for out in op.outs]
    targets = [(position, param, a) for position, param, a in parameters(op) if isinstance(a, Value) and a in sweep.active]
    if sweep.func.notes is not None:
        tell_rule(sweep.func.notes, op, row, [param for _, param, _ in targets])
    if row.elementwise and len(outs) == 1 and outs[0] is not None:
        elementwise(sweep, scope, op, row, outs[0], targets)
    else:
        pullbacks(sweep, scope, op, row, outs, targets)


def augmented(sweep: Sweep, scope: Scope, op: Call) -> bool:
    """Reverse ``x[i] += w``: the cotangent of ``x`` is unchanged, and that of ``w`` is read from it. False for other ops."""
    if op.name not in STORING or op.name == "set_at" and has_arrays(op.settings["index"], [a.type for a in op.args[2:]]):
        return False
    stored = op.args[STORING[op.name]]
    total = sweep.producers.get(stored) if isinstance(stored, Value) and sweep.counts.get(stored) == 1 else None
    if not isinstance(total, Call) or total.name not in ("add", "subtract"):
        return False
    first, second = total.args
    if reads_same(sweep, sweep.producers.get(first), op):
        other = second
    elif total.name == "add" and reads_same(sweep, sweep.producers.get(second), op):
        other = first
    else:
        return False
    grad = sweep.ledger.arrived(scope, op.outs[0])
    assert grad is not None
    if isinstance(other, Value) and other in sweep.active:
        whole = sweep.ledger.dense(grad.value, op.outs[0])
        row, settings = read_back(op)
        part = sweep.builder.call(row, whole, *path_of(op), hint=hinted(other), **settings)
        is_negative = (total.name == "subtract") != ((".imag", 0) in steps(op.settings.get("index", "e")))
        cotangent = negated(sweep.builder, part, hinted(other)) if is_negative else part
        Keeping(sweep, scope, Cotangent(ZERO)).add(other, operand(cotangent), (), True)
    if isinstance(op.args[0], Value) and op.args[0] in sweep.active:
        sweep.ledger.contribute(scope, op.args[0], Cotangent(grad.value, grad.owned))
    return True


def reads_same(sweep: Sweep, read: Op | None, store: Call) -> bool:
    """Whether ``read`` reads exactly the cells that the store overwrites, and is used once."""
    if not isinstance(read, Call) or read.name not in PARTS or sweep.counts.get(read.outs[0]) != 1:
        return False
    same = [same_operand(a, b) for a, b in zip(read.args, [store.args[0], *path_of(store)], strict=False)]
    return len(read.args) == len(store.args) - 1 and read.settings.get("index") == store.settings.get("index") and all(same)


def meanings(op: Call, row: Row) -> dict[str, Any]:
    """The meaning of each name in the row's derivative."""
    table: dict[str, Any] = dict(op.settings)
    for place, param in enumerate(row.params):
        table[param] = op.args[place:] if param.startswith("*") else op.args[place]
    table.update(zip(row.outs, op.outs, strict=False))
    return table


def elementwise(sweep: Sweep, scope: Scope, op: Call, row: Row, grad: Cotangent, targets: list[tuple[int, str, Value]]) -> None:
    """Contribute ``out_grad * partial`` for each operand, unbroadcast."""
    names = meanings(op, row)
    kept = Keeping(sweep, scope, grad)
    for _, param, target in targets:
        text = row.partials.get(param)
        if text is None:
            if (pullback := row.pullbacks.get(param)) is not None:
                kept.add(target, pulled_back(sweep, op, row, names, [grad], pullback, target), (), True)
            continue
        product, constant = scaled(sweep.builder, grad.value, text, names, hinted(target), is_by_numpy(op))
        mask = grad.mask
        if mask and not constant:
            product = masked(sweep.builder, product, mask)
        kept.add(target, product, mask, True)
    kept.settle()


def scaled(builder: Builder, grad: Operand, text: str, names: dict[str, Any], hint: str, by_numpy: bool) -> tuple[Operand, bool]:
    """``grad * partial``, and whether the partial is a literal."""
    node = parsed(text)
    expansion = Expansion(builder, names, by_numpy=by_numpy)
    if (division := reciprocal(node)) is not None:
        name, below = division[0], operand(expansion.value(division[1]))
        return operand(arithmetic(builder, needed_row(name, [grad, below]), grad, below, hint, by_numpy)), False
    partial = expansion.value(node)
    known = number(partial)
    if known == 1:
        return grad, True
    if known == -1:
        return operand(negated(builder, grad, hint)), True
    if isinstance(partial, Value) and isinstance(partial.type, Array | Scalar) and partial.type.kind == "bool":
        return operand(builder.call("where", partial, grad, Const(0.0), hint=hint)), False  # also zero where grad is infinite
    return operand(arithmetic(builder, "multiply", grad, partial, hint)), known is not None


def mask_of(sweep: Sweep, op: Call, row: Row, param: str, target: Value, grad: Cotangent | None, names: dict[str, Any]) -> Mask:
    """The mask of an operand's cotangent, where its elements are elements of the result's cotangent, or sums of them."""
    if grad is None or len(op.outs) > 1:
        return ()
    if is_part(op.settings.get("index", "e")):
        return ()
    mask, out, builder = grad.mask, op.outs[0], sweep.builder
    if op.name == "where":
        return fitting(builder, ((op.args[0], param == "x"), *mask), out, target)
    if not mask or (text := moving(row, row.pullbacks.get(param))) is None:
        return ()

    def move(weights: Operand) -> Operand:
        table = {**names, "out_grad": sweep.ledger.dense(weights, out)}
        if "into" in text:
            table["into"] = builder.call("zeros_of", builder.call("shape_of", target), dtype="f64")
        return operand(Expansion(builder, table, hinted(target)).expand(text))

    return moved_mask(builder, mask, out, move)


def pulled_back(
    sweep: Sweep,
    op: Call,
    row: Row,
    names: dict[str, Any],
    outs: list[Cotangent | None],
    text: str,
    target: Value,
    computed: dict[str, Any] | None = None,
) -> Operand:
    """The cotangent that one pullback text computes; ``computed`` caches results of the op's other pullbacks."""
    table = dict(names)
    for label, out, grad in zip(row.outs, op.outs, outs, strict=False):
        zero = partial(sweep.ledger.zero, out)
        table[f"{label}_grad"] = Absent(zero) if grad is None else sweep.ledger.dense(grad.value, out)
    grad_ = Expansion(sweep.builder, table, hinted(target), is_by_numpy(op), {} if computed is None else computed).expand(text)
    return sweep.ledger.zero(target) if isinstance(grad_, Absent) else grad_


def pullbacks(sweep: Sweep, scope: Scope, op: Call, row: Row, outs: list[Cotangent | None], targets: list[tuple[int, str, Value]]) -> None:
    """Contribute each operand's cotangent by the row's pullbacks; the one that takes over the output cotangent's memory comes last."""
    names, computed = meanings(op, row), dict[str, Any]()
    sizes = [sweep.ledger.arrived(scope, sweep.ledger.sizes[out]) for out in op.outs if out in sweep.ledger.sizes]
    names["terms"] = reduce(partial(arithmetic, sweep.builder, "add"), [size.value for size in sizes if size is not None], ZERO)
    first = outs[0]
    kept = Keeping(sweep, scope, first or Cotangent(ZERO))
    texts = [(position, param, target, text) for position, param, target in targets if (text := row.pullbacks.get(param)) is not None]
    for position, param, target, text in sorted(texts, key=lambda entry: "taken" in entry[3]):
        names["position"] = position
        if "into" in text:
            old, mask = sweep.ledger.get(scope, target), mask_of(sweep, op, row, param, target, first, names)
            if old is not None and not is_zero(old):
                mask = either(sweep.builder, old.mask, mask, target)
            names["into"] = by_rows(sweep, op, sweep.ledger.buffer(scope, target))
            scope.table[target] = Cotangent(pulled_back(sweep, op, row, names, outs, text, target), True, mask)
        elif "taken" in text:
            names["taken"] = by_rows(sweep, op, released_cotangent(sweep, first, op.outs[0], kept))
            mask = first.mask if first is not None and op.name == "set_at" else ()
            sweep.ledger.contribute(scope, target, Cotangent(pulled_back(sweep, op, row, names, outs, text, target), True, mask))
        else:
            mask = mask_of(sweep, op, row, param, target, first, names)
            product = pulled_back(sweep, op, row, names, outs, text, target, computed)
            kept.add(target, masked(sweep.builder, product, mask) if mask and param not in row.linear else product, mask, False)
    kept.settle()


def by_rows(sweep: Sweep, op: Call, buffer: Operand) -> Operand:
    """A cotangent written to through ``reshape`` with the memory layout of its value: else the store would go to a copy."""
    through = any(step in str(op.settings.get("index", "")) for step in (".reshape", ".ravel"))
    if through and isinstance(buffer.type, Array) and buffer.type.layout not in ("C", "CF") and buffer.type.shape != ():
        return sweep.builder.call("by_rows", buffer, hint=buffer.name if isinstance(buffer, Value) else None)
    return buffer


def released_cotangent(sweep: Sweep, grad: Cotangent | None, out: Value, kept: Keeping) -> Operand:
    """The output's cotangent, released so that it may be written to."""
    if grad is not None and kept.aliases and not isinstance(out.type, List):  # an item of a list is taken out of it
        grad = Cotangent(grad.value)
    if isinstance(out.type, Array) and out.type.rank is None and grad is not None and not is_zero(grad):
        return sweep.builder.call("to_array", grad.value, hint=hinted(out), dtype=None)  # for a 0-d array it may be a number
    return sweep.ledger.owned(grad, out)


@dataclass(slots=True)
class Keeping:
    """Contributions of one op whose output had the cotangent ``grad``, to decide who owns that memory afterwards."""

    sweep: Sweep
    scope: Scope
    grad: Cotangent
    aliases: int = 0
    heirs: list[tuple[Value, Cotangent]] = field(default_factory=list)
    start: int = field(init=False)

    def __post_init__(self) -> None:
        self.start = len(self.sweep.builder.block.ops)

    def add(self, target: Value, product: Operand, mask: Mask, fit: bool) -> None:
        """Unbroadcast one contribution and add it."""
        builder, ledger = self.sweep.builder, self.sweep.ledger
        if fit or isinstance(target.type, Scalar) and isinstance(product.type, Array):  # from the spread of a scalar reduction
            whole, product = product, fitted(builder, product, target, hinted(target))
            mask = fitting(builder, mask, whole, target) if mask and product is not whole else mask
        product = conformed(builder, product, target, hinted(target))
        fresh = self.fresh(product)
        new = Cotangent(product, fresh, mask)
        if not fresh and in_memory(product.type) and ledger.get(self.scope, target) is None:
            self.aliases += 1
            if product is self.grad.value:
                self.heirs.append((target, new))
        ledger.contribute(self.scope, target, new)

    def fresh(self, product: Operand) -> bool:
        """Whether the product was created just now, in memory that nothing else references."""
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
            source = op.args[0]  # it may be its operand, which is also new
        return False

    def settle(self) -> None:
        """Let a single heir inherit the memory of the dead cotangent."""
        if self.aliases == 1 and len(self.heirs) == 1 and self.grad.owned:
            target, heir = self.heirs[0]
            if self.scope.table.get(target) is heir:
                heir.owned = True


def squared(op: Call) -> Call:
    """Rewrite ``x * x`` as ``square``, whose derivative has one term."""
    if op.name == "multiply" and op.args[0] is op.args[1] and isinstance(op.args[0], Value):
        return Call(op.outs, op.loc, "square", op.args[:1], dict(ROWS["square"].settings))
    return op


def reciprocal(node: ast.expr) -> tuple[str, ast.expr] | None:
    """The row and the divisor of a partial ``1 / y``."""
    match node:
        case ast.BinOp(left=ast.Constant(value=value), op=ast.Div(), right=below) if value == 1:
            return "divide", below
        case ast.Call(func=ast.Name(id="ratio"), args=[ast.Constant(value=value), below]) if value == 1:
            return "ratio", below
    return None
