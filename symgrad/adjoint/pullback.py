"""Splits a gradient into two functions: parameters -> results and residuals; residuals and seeds -> gradients.

The second may be called any number of times, so it writes to copies only. The first copies values that the caller could change between
the calls.
"""

from __future__ import annotations

from dataclasses import dataclass

from symgrad.adjoint.analysis.activity import may_be_active
from symgrad.adjoint.analysis.definedness import Presence
from symgrad.adjoint.analysis.memory import Memory, has_memory
from symgrad.ir.core import NONE, Block, Call, Func, If, Op, Operand, Value, clone, substitute, uses, walk
from symgrad.ir.layout import Layout
from symgrad.ir.types import UNKNOWN, Array, List, Scalar, Type
from symgrad.ir.unbound import Unbound, is_undefined
from symgrad.ops.declare import ROWS


def split_pullback(func: Func, values: int | None = None, seeds: int | None = None, parts: bool = False) -> tuple[Func, Func]:
    """The forward and backward function of a gradient made with ``seeds=True``.

    ``values`` is the number of the gradient's results that are ``func``'s own, ``seeds`` the number of its
    trailing cotangent parameters; both are inferred if omitted. With ``parts`` only the needed parts of the
    parameters are copied.
    """
    halves = Halves.of(func, values, seeds)
    if parts:
        take_parts(halves.before, halves.residuals)
    own = len(halves.before.yields)
    first = forward(Func(f"{func.name}_forward", halves.before, func.results[:own], func.loc, notes=func.notes), halves.residuals)
    second = Func(f"{func.name}_backward", halves.after, func.results[own:], func.loc, notes=func.notes)
    return first, backward(second, halves.residuals, halves.doubtful)


@dataclass(frozen=True, slots=True)
class Halves:
    """The halves of a gradient as blocks: ``after`` takes the seeds and reads the ``residuals``, which ``before`` computes.

    ``doubtful``: values of the first half that some path does not compute.
    """

    before: Block
    after: Block
    residuals: list[Value]
    doubtful: set[Value]

    @classmethod
    def of(cls, func: Func, values: int | None = None, seeds: int | None = None) -> Halves:
        """Split a copy of a gradient made with ``seeds=True``; ``values`` and ``seeds`` as for ``split_pullback``."""
        whole = clone(func)
        assert whole.split is not None
        early, late = whole.body.ops[: whole.split], whole.body.ops[whole.split :]
        seed_count = count_seeds(whole, early) if seeds is None else seeds
        params = whole.params[: len(whole.params) - seed_count]
        here = {*params, *(out for op in early for out in op.outs)}
        own = count_values(whole, here) if values is None else values
        after = Block(whole.params[len(params) :], late, whole.body.yields[own:])
        doubtful = set(Unbound.of(whole.body).sides)
        early += [*extents(after, here - doubtful), *zeros(after, here - doubtful)]
        here.update(out for op in early for out in op.outs)
        residuals = [v for v in uses(after) if v in here]
        return cls(Block(params, early, whole.body.yields[:own]), after, residuals, doubtful)


def with_seeds(func: Func, values: int, seeds: int) -> Func:
    """The gradient as one function with the op ``seeds`` between the halves, which takes the results and returns the seeds.

    ``values`` and ``seeds`` as for ``split_pullback``.
    """
    whole = clone(func)
    assert whole.split is not None
    body, first_seed = whole.body, len(whole.params) - seeds
    turn = Call(body.args[first_seed:], func.loc, "seeds", body.yields[:values], {})
    body.args, body.yields, whole.results = body.args[:first_seed], body.yields[values:], whole.results[values:]
    body.ops.insert(whole.split, turn)
    whole.split = None
    return whole


def extents(block: Block, here: set[Value]) -> list[Op]:
    """Remove and return the ops that read only the shape of a primal value, so that the array itself need not stay live."""
    nested: list[Op] = []
    for op in block.ops:
        for inner in op.blocks:
            nested += extents(inner, here)
    asks = [op for op in block.ops if isinstance(op, Call) and op.name in ("shape_of", "extent") and op.args[0] in here]
    block.ops = [op for op in block.ops if op not in asks]
    return [*nested, *asks]


def zeros(block: Block, here: set[Value]) -> list[Op]:
    """Remove and return the ops that create zeros shaped like primal values, which may be overwritten later."""
    asks: list[Op] = [op for op in block.ops if isinstance(op, Call) and op.name == "zeros_like" and op.args[0] in here]
    block.ops = [op for op in block.ops if op not in asks]
    return asks


def count_seeds(func: Func, early: list[Op]) -> int:
    """Count the trailing parameters that are named as cotangents and that the forward half does not read."""
    read = uses(Block([], early, []))
    count = 0
    for param in reversed(func.params):
        if param in read or not (param.name or "").endswith("_grad"):
            break
        count += 1
    return count


def count_values(func: Func, here: set[Value]) -> int:
    """Count the leading results, up to the last one that the forward half computes."""
    known = [k for k, y in enumerate(func.body.yields) if y in here]
    return known[-1] + 1 if known else 0


def forward(func: Func, residuals: list[Value]) -> Func:
    """Add the residuals to the results, in memory shared with neither arguments nor other results."""
    body = func.body
    layout = Layout()
    layout.enter(body)
    memory = Memory.of(func, layout)
    held = residual_classes(memory, residuals)
    presence = Presence(Unbound.of(body), layout, {})
    kept = [bound(residual, body, presence) for residual in residuals]
    table: dict[Value, Operand] = {}
    copies: list[Op] = []
    for param in body.args:
        if has_memory(param.type) and memory.find(param) in held:
            copies.append(copied(param, table, func))
    results = list(body.yields)
    substitute(body, table)
    body.ops[:0] = copies
    for k, result in enumerate(results):
        if isinstance(result, Value) and has_memory(result.type) and memory.find(result) in held:
            single: dict[Value, Operand] = {}
            source = body.yields[k]
            assert isinstance(source, Value)
            body.ops.append(copied(source, single, func))
            body.yields[k] = single[source]
    body.yields += [table.get(k, k) if isinstance(k, Value) else k for k in kept]
    func.results = [*func.results, *(r.name or f"residual{k}" for k, r in enumerate(residuals))]
    return func


def take_parts(body: Block, residuals: list[Value]) -> None:
    """Copy the views among the residuals, so that their bases need not stay live."""
    ops = list(walk(body))
    consumed = {op.operands[0] for op in ops if isinstance(op, Call) and ROWS[op.name].consumes}
    kept: set[Operand] = {*residuals}
    size = 0
    while size != (size := len(kept)):
        for op in ops:
            if isinstance(op, If):
                kept.update(side.yields[k] for side in op.blocks for k, out in enumerate(op.outs) if out in kept)
    kept -= consumed
    for op in ops:
        if isinstance(op, Call) and op.name == "view" and op.outs[0] in kept and isinstance(op.outs[0].type, Array):
            if "." not in str(op.settings["index"]):
                op.name = "take"


def bound(residual: Value, body: Block, presence: Presence) -> Operand:
    """A residual that some paths do not define, with None on those paths, where nothing reads it."""
    if residual not in presence.unbound.sides:
        return residual
    if is_exported(residual, 0, presence, uses(body)):
        bind(residual, presence.layout)
        return residual
    if (guarded := presence.guarded(residual, [])) is None:
        return residual
    body.ops.append(guarded)
    return guarded.outs[0]


def is_exported(value: Operand, count: int, presence: Presence, counts: dict[Value, int]) -> bool:
    """Whether branches only yield it, and nothing else in the forward half reads it."""
    if not isinstance(value, Value) or value not in presence.unbound.sides:
        return True
    if not isinstance(op := presence.layout.op_of(value), If) or counts.get(value, 0) != count:
        return False
    return all(is_exported(side.yields[op.outs.index(value)], 1, presence, counts) for side in op.blocks)


def bind(value: Operand, layout: Layout) -> None:
    """Let branches yield None where a name is unbound."""
    op = layout.op_of(value) if isinstance(value, Value) else None
    if not isinstance(op, If):
        return
    k = op.outs.index(value)  # type: ignore[arg-type]
    for side in op.blocks:
        if is_undefined(side.yields[k]):
            side.yields[k] = NONE
        else:
            bind(side.yields[k], layout)


def perhaps_none(type_: Type) -> Type:
    """The type of a value that may be None: ops that could raise are not moved before the test."""
    if isinstance(type_, Array):
        return Array(type_.dtype, None)
    return UNKNOWN if isinstance(type_, Scalar | List) and may_be_active(type_) else type_


def residual_classes(memory: Memory, residuals: list[Value]) -> set[Value]:
    """The memory classes that residuals keep live, including those inside tapes and lists."""
    held: set[Value] = set()
    todo = [r for r in residuals if has_memory(r.type)]
    while todo:
        root = memory.find(todo.pop())
        if root not in held:
            held.add(root)
            if root in memory.contents:
                todo.append(memory.contents[root])
    return held


def copied(value: Value, table: dict[Value, Operand], func: Func) -> Call:
    """A copy of a value, recorded in ``table`` as its replacement."""
    copy = Value(value.type, value.name)
    table[value] = copy
    return Call([copy], func.loc, "copy", [value], {})


def backward(func: Func, residuals: list[Value], doubtful: set[Value]) -> Func:
    """Make the residuals parameters, copied first if they are written to. The type of a residual that may be None includes None."""
    body = func.body
    table: dict[Value, Operand] = {}
    params = []
    for residual in residuals:
        params.append(param := Value(perhaps_none(residual.type) if residual in doubtful else residual.type, residual.name))
        table[residual] = param
    substitute(body, table)
    body.args = [*params, *body.args]
    layout = Layout()
    layout.enter(body)
    memory = Memory.of(func, layout)
    copies: dict[Value, Operand] = {}
    body.ops[:0] = [copied(p, copies, func) for p in params if has_memory(p.type) and memory.find(p) in memory.stores]
    first = len(copies)
    rest = Block([], body.ops[first:], body.yields)
    substitute(rest, copies)
    body.yields = rest.yields
    return func
