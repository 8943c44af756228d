"""Moves calls with side effects out of a function's body into one that runs after the kernel. Works in place.

    def f(x): t = sum(x); print("total", t); return t * t     ->     def f(x): t = sum(x); return t * t, t
                                                                     def effects(t): print("total", t)

A kernel that raises has had no effect, and the NumPy code runs everything from the start. So effects run once,
in order.
"""

from __future__ import annotations

from dataclasses import dataclass

from symgrad.ir.core import Block, Call, Const, For, Func, Op, Operand, Value, clone, defined_by, operands_within, uses, walk
from symgrad.ir.layout import kind_in, meetings, mixed
from symgrad.ir.types import Array, Scalar, Type
from symgrad.loops.tapes.recorded import calls_in, recorded
from symgrad.loops.transforms.leaving import is_for_effect
from symgrad.ops.declare import ROWS
from symgrad.passes.facts import BORROWED, halves_kept


@dataclass(frozen=True, slots=True)
class Effects:
    """Calls with side effects as a function; its parameters are some of the program's, by index, then the last results of the kernel."""

    func: Func
    parameters: list[int]


def effects_behind(func: Func) -> Effects | None:
    """Move the calls with side effects out of a function, in place; their other operands become its last results.

    None, with the function unchanged, if there are no such calls, or one must stay: its result is used, or it
    reads a value that no kernel holds. If only calls in loops and branches must stay, these stay alone.
    """
    if any(list(calls_in(op)) for op in func.body.ops):
        trial = clone(func)
        replays = recorded(trial, of_several_classes(trial))
        if replays is not None and (effects := taken_out(trial, replays)) is not None:
            func.body, func.results, func.split = trial.body, trial.results, trial.split
            return effects
    return taken_out(func, [])


def of_several_classes(func: Func) -> set[Value]:
    """The numbers that are integers on one path and floats or bools on another: a kernel has one class for them."""
    return mixed([func.body]) | bools_and_integers(func)


def taken_out(func: Func, replays: list[For]) -> Effects | None:
    """Move the calls in the body, and the loops ``replays``, out of a function, in place; None, with nothing changed, if one must stay."""
    ops = delayed_calls(func, replays)
    own = {value for op in ops for value in defined_by(op)}
    read = dict.fromkeys(operand for op in ops for operand in operands_within(op) if isinstance(operand, Value) and operand not in own)
    parameters = [value for value in read if value in func.params]
    computed = [value for value in read if value not in func.params]
    if not ops or not all(can_be_handed(value) for value in computed):
        return None
    within = {operand for op in ops if not is_shown_as_text(op) for operand in operands_within(op)}
    if not of_several_classes(func).isdisjoint(computed) or any(is_of_either(value.type) for value in within.intersection(computed)):
        return None
    effects = clone(Func(f"{func.name}_effects", Block([*parameters, *computed], list(ops), []), [], func.loc))
    effects.split = effects.notes = None
    handed = [copy_at_first_read(func, value, ops) if may_be_stored_to(func, value, ops) else value for value in computed]
    with halves_kept(func):
        func.body.ops = [op for op in func.body.ops if op not in ops]
    func.body.yields, func.results = [*func.body.yields, *handed], [*func.results, *(value.name or "shown" for value in computed)]
    return Effects(effects, [func.params.index(value) for value in parameters])


def delayed_calls(func: Func, replays: list[For]) -> list[Op]:
    """The calls with side effects in a function's body, with the ops that serve only them and yield no number."""
    counts = uses(func.body)
    calls = [op for op in func.body.ops if is_for_effect(op) and not any(counts.get(out) for out in op.outs)]
    chosen: dict[Op, None] = dict.fromkeys([*calls, *replays])
    makers = {out: op for op in func.body.ops for out in op.outs}
    if len(calls) < sum(1 for op in func.body.ops if is_for_effect(op)):
        return []  # another one must stay, and they run in order
    todo = list(chosen)
    while todo:
        for operand in operands_within(todo.pop()):
            maker = makers.get(operand) if isinstance(operand, Value) else None
            if maker is None or maker in chosen or can_be_handed(operand) or maker.blocks:
                continue
            if all(reader in chosen for reader in func.body.ops if operand in set(operands_within(reader))):
                chosen[maker] = None
                todo.append(maker)
    return [op for op in func.body.ops if op in chosen]


def bools_and_integers(func: Func) -> set[Value]:
    """The integers that are bools on some path."""
    joined = [(out, parts) for op in walk(func.body) for out, parts in meetings(op) if kind_in(out.type) == "int"]
    several: set[Value] = set()
    before = -1
    while before != (before := len(several)):
        several |= {out for out, parts in joined if any(part in several or kind_in(part.type) == "bool" for part in parts)}
    return several


def is_shown_as_text(op: Op) -> bool:
    """Whether the op takes numbers one by one and treats Python and NumPy numbers alike."""
    return isinstance(op, Call) and op.name in ("opaque", "format_text")


def is_of_either(type_: Type) -> bool:
    """Whether the type may be that of a Python or a NumPy number."""
    return isinstance(type_, Scalar) and type_.dtype == "any"


def can_be_handed(operand: Operand) -> bool:
    """Whether a kernel can return it: a number or an array of real numbers."""
    match operand.type:
        case Scalar(kind=kind):
            return kind != "complex"
        case Array(dtype=str() as dtype, shape=tuple()):
            return dtype[0] != "c"
    return isinstance(operand, Const)


def may_be_stored_to(func: Func, value: Value, ops: list[Op]) -> bool:
    """Whether the value is an array that may be stored to: not new, or used by ops other than the calls ``ops`` for more than numbers."""
    if not isinstance(value.type, Array):
        return False
    maker = next((op for op in func.body.ops if value in op.outs), None)
    if not isinstance(maker, Call) or ROWS[maker.name].alias != "fresh" or ROWS[maker.name].consumes or maker.name in BORROWED:
        return True
    readers = [op for op in func.body.ops if op not in ops and value in set(operands_within(op))]
    return not all(isinstance(op, Call) and op.outs and all(isinstance(out.type, Scalar) for out in op.outs) for op in readers)


def copy_at_first_read(func: Func, value: Value, ops: list[Op]) -> Value:
    """A copy of an array with its content at its first read."""
    first = next(k for k, op in enumerate(func.body.ops) if op in ops and value in set(operands_within(op)))
    copy = Value(value.type, value.name)
    with halves_kept(func):
        func.body.ops.insert(first, Call([copy], func.body.ops[first].loc, "copy", [value], dict(ROWS["copy"].settings)))
    return copy


__all__ = ["effects_behind"]
