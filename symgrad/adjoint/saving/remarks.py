"""Emits remarks on the decisions of the adjoint: active values, derivatives taken, and values saved or recomputed, with reasons."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from symgrad.adjoint.analysis.activity import closure, dependences, may_be_active, results_of
from symgrad.adjoint.analysis.memory import UNDO, Trace, has_memory
from symgrad.adjoint.expand import parsed
from symgrad.adjoint.saving.costs import NEVER
from symgrad.adjoint.saving.plan import Plan
from symgrad.ir.core import Block, Call, Func, Op, Operand, Value, walk
from symgrad.ir.types import Array, List, Scalar
from symgrad.location import Loc
from symgrad.notes import Notes
from symgrad.ops.declare import Row
from symgrad.ops.indexing import is_part

SHAPES = frozenset({"shape_of", "extent"})  #: ops that read only the shape of their operand
WIDEST = 40  #: the most characters of a user's expression that are quoted


def called(value: Value, op: Op | None) -> str:
    """The name of a value in messages: its own, else the text of the expression that computes it."""
    if value.name is not None:
        return value.name
    text = "" if op is None else " ".join(op.loc.text[op.loc.column : op.loc.end_column].split()).rstrip(":")
    if not text:
        return f"the result of {op.name}" if isinstance(op, Call) else "a value"
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 3].rstrip()}..."


# ------------------------------------------------------------------ activity


def tell_activity(func: Func, wrt: Sequence[int], active_results: Sequence[int]) -> None:
    """Emit a remark for each line: the active values, and why the others are inactive."""
    if func.notes is None:
        return
    table = dependences(func.body)
    varied = closure((func.params[k] for k in wrt), table.forward)
    useful = closure(results_of(func, active_results), table.backward)
    inputs = " or ".join(func.params[k].name or f"argument {k}" for k in wrt)
    lines: dict[tuple[str, int], list[tuple[Value, Op]]] = {}
    for op in walk(func.body):
        for out in op.outs if isinstance(op, Call) else ():
            lines.setdefault((op.loc.file, op.loc.line), []).append((out, op))
    for results in lines.values():
        active = [(out, op) for out, op in results if out in varied and out in useful]
        for out, op in [(out, op) for out, op in active if out.name is not None] or active[-1:]:
            func.notes.add("activity", "active", op.loc, "", name=called(out, op))
        for out, op in results:
            if out.name is not None and not (out in varied and out in useful):
                func.notes.add("activity", "inactive", op.loc, why_inactive(out, varied, inputs), name=out.name)


def why_inactive(value: Value, varied: set[Value], inputs: str) -> str:
    """Why a value is inactive."""
    if not may_be_active(value.type):
        return f"{value.type.kind if isinstance(value.type, Scalar | Array) else value.type} has no derivative"
    return "the result does not depend on it" if value in varied else f"it carries no derivative with respect to {inputs}"


# ------------------------------------------------------------------ rules


#: matches paths to the parts of complex numbers in a rule's text
OF_PART = re.compile(r"of_part\((.*?), index\)")


def tell_rule(notes: Notes, op: Call, row: Row, params: Sequence[str]) -> None:
    """Emit a remark with the derivatives of a row that were used, in the row's own text."""
    if row.name == "as_written":  # the user's text, followed by the ops lowered from it
        return
    said = {}
    for param in params:
        word = param.lstrip("*")
        if (text := row.partials.get(param)) is not None:
            said[word] = "out_grad" if text == "1" else "-out_grad" if text == "-1" else f"out_grad * {grouped(text)}"
        elif (text := row.pullbacks.get(param)) is not None:
            said[word] = text if is_part(op.settings.get("index", "e")) else OF_PART.sub(r"\1", text)
    settings = "".join(f", {k}={v!r}" for k, v in op.settings.items() if v != row.settings.get(k) and isinstance(v, int | str | tuple))
    notes.add(
        "reverse",
        "rule",
        op.loc,
        "; ".join(f"{word}_grad = {text}" for word, text in said.items()),
        name=f"{row.name.removeprefix('user_')}({', '.join(row.params)}{settings})",
    )


def grouped(text: str) -> str:
    """Parenthesise a partial for use as a factor."""
    return text if isinstance(parsed(text), ast.Name | ast.Call) else f"({text})"


# ------------------------------------------------------------------ the plan


def tell_plan(plan: Plan) -> None:
    """Emit remarks on the values saved, restored and carried for the backward half, and why."""
    notes = plan.func.notes
    if notes is None:
        return
    for value in sorted(plan.saved, key=plan.layout.order.__getitem__):
        if value not in plan.demands.shapes:
            name = called(value, plan.layout.op_of(value))
            notes.add("plan", "saved", loc_of(plan, value), f"{why(plan, value)}; {how(plan, value)}", name=name)
            tell_trace(plan, notes, value)
    for store in sorted(plan.undone, key=lambda store: plan.layout.order[store.outs[0]]):
        what = {
            "take": "the elements it overwrites are saved and restored",
            "copy": "the array is copied before the store and restored",
            **dict.fromkeys(("list_take", "table_take"), "the item it overwrites is saved and restored"),
        }.get(UNDO[store.name][0], "it is undone")
        notes.add("plan", "undone", store.loc, f"{what}, so the backward half can read earlier versions", name=store.outs[0].name)
    for op, k in sorted(plan.carried, key=lambda entry: plan.layout.order[entry[0].outs[entry[1]]]):
        notes.add("plan", "carried", op.loc, "its value after an iteration is the saved start value of the next", name=op.outs[k].name)
    for value, (branch, k) in sorted(plan.joins.items(), key=lambda entry: plan.layout.order[entry[0]]):
        notes.add(
            "plan",
            "carried",
            loc_of(plan, value),
            f"equals {called(branch.outs[k], None)} after the branch",
            name=called(value, plan.layout.op_of(value)),
        )


def tell_fused(func: Func, loop: Op) -> None:
    """Emit the remark that each iteration of a loop is reversed right after it."""
    if func.notes is not None:
        func.notes.add("plan", "fused", loop.loc, "each iteration is reversed as soon as it has run, so nothing is saved")


def tell_unfused(func: Func, loop: Op, reason: str) -> None:
    """Emit the reason why a loop is reversed after all its iterations."""
    if func.notes is not None:
        func.notes.add("plan", "unfused", loop.loc, f"the iterations are reversed after the loop: {reason}")


def tell_rerun(func: Func, op: Op, text: str) -> None:
    """Emit the remark that a loop or a function runs again in the backward half."""
    if func.notes is not None:
        func.notes.add("plan", "rerun", op.loc, text)


def tell_kept(func: Func) -> Func:
    """Emit remarks for a whole gradient: the arrays of the forward half that stay live because the backward half reads them."""
    if func.notes is None or func.split is None:
        return func
    producers = {out: op for op in func.body.ops[: func.split] for out in op.outs if isinstance(out.type, Array | List)}
    readers: dict[Value, set[int]] = {}
    for op in walk(Block([], func.body.ops[func.split :])):
        for operand in [*op.operands, *(y for block in op.blocks for y in block.yields)]:
            if isinstance(operand, Value) and operand in producers and not (isinstance(op, Call) and op.name in SHAPES):
                readers.setdefault(operand, set()).add(op.loc.line)
    for value, op in producers.items():
        if value in readers:
            func.notes.add("plan", "kept", op.loc, f"{lines_that_need(readers[value])}, and it is still live", name=called(value, op))
    return func


def loc_of(plan: Plan, value: Value) -> Loc:
    """The source location of a value: of its op, or for a block argument of the op that owns the block."""
    op = plan.layout.op_of(value)
    if op is None:
        owner = plan.layout.owners.get(plan.layout.places[value][0])
        return plan.func.loc if owner is None else owner[2].loc
    return op.loc


def why(plan: Plan, value: Value) -> str:
    """Which lines read a value, and why it is not live there."""
    return f"{needed(plan, value)}, but {why_not_live(plan, value)}"


def needed(plan: Plan, value: Value) -> str:
    """The lines whose derivatives read a value."""
    return lines_that_need({line_at(scope.block.ops, time // 2) for scope, time in plan.demands.required.get(value, ())})


def lines_that_need(lines: set[int]) -> str:
    """``lines 5, 7 need it``."""
    known = sorted(line for line in lines if line)
    if not known:
        return "the gradient needs it"
    return f"line{'s' * (len(known) > 1)} {', '.join(map(str, known))} need{'s' * (len(known) == 1)} it"


def line_at(ops: list[Op], index: int) -> int:
    """The line of the op at an index; 0 if there is none."""
    return ops[index].loc.line if 0 <= index < len(ops) else 0


def why_not_live(plan: Plan, value: Value) -> str:
    """Why a value is not live when the sweep reaches its use."""
    block = plan.layout.places[value][0]
    if not plan.layout.static(block):
        return "the next iteration replaces it"
    stores = plan.memory.stores.get(plan.memory.find(value), ()) if has_memory(value.type) else ()
    line = next((store.loc.line for store, place in stores if plan.memory.after(place, value, plan.memory.find(value))), None)
    return "it is no longer live then" if line is None else f"line {line} overwrites it"


def how(plan: Plan, value: Value) -> str:
    """The form in which a value is saved."""
    copied = "a copy of it " if plan.memory.overwritten(value) else ""
    if plan.layout.static(plan.layout.places[value][0]):
        return f"{copied or 'it '}is saved"
    return f"{copied or 'it '}is saved on a tape in each iteration{dearer(plan, value)}"


def dearer(plan: Plan, value: Value) -> str:
    """Why a value with available operands is not recomputed: that costs more."""
    op = plan.layout.op_of(value)
    if not isinstance(op, Call) or not 0 < plan.costs.of(op) < NEVER or not isinstance(value.type, Array | Scalar):
        return ""
    if not all(plan.can(a, *demand) for a in op.args for demand in plan.demands.required.get(value, ())):
        return ""
    return f", which costs less than computing {called(value, op) if value.name is None else op.name} again"


def tell_trace(plan: Plan, notes: Notes, value: Value) -> None:
    """Emit a remark if an array is copied because its stores cannot be undone."""
    if not isinstance(value.type, Array) or not plan.memory.overwritten(value):
        return
    root = plan.memory.find(value)
    if root in plan.traces or Trace(plan.memory, root).run(plan.func).ok:
        return
    notes.add(
        "plan",
        "unproved",
        loc_of(plan, value),
        "whether its stores can be undone one by one, so the whole array is copied",
        name=called(value, plan.layout.op_of(value)),
        hint="store to an array that only one name holds, made outside the loop",
    )


def tell_again(plan: Plan, value: Value, args: Sequence[Operand]) -> None:
    """Emit the remark that a value is recomputed."""
    op = plan.layout.op_of(value)
    if plan.func.notes is None or op is None:
        return
    sources = [a for a in args if isinstance(a, Value) and a in plan.layout.places]
    name = called(value, op)
    names = [n for n in dict.fromkeys(called(a, plan.layout.op_of(a)) for a in sources) if n != name]
    if names or not sources:
        text = f"from {', '.join(names)}" if names else "from live values"
        plan.func.notes.add("plan", "recomputed", op.loc, text, name=name)


__all__ = ["grouped", "tell_activity", "tell_again", "tell_fused", "tell_kept", "tell_plan", "tell_rerun", "tell_rule", "tell_unfused"]
