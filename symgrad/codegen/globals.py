"""Collects the module-level names that a function's text uses, before its variables are named."""

from __future__ import annotations

from symgrad.codegen.expressions import Names, bound_inside, constant, literal, mentions, text_of
from symgrad.ir.core import Call, Const, Func, Operand, walk
from symgrad.ops.declare import ROWS

#: builtins that the printer itself uses
BUILTINS = ("range", "reversed", "slice", "complex", "memoryview")


def collect(func: Func, names: Names, texts: dict[Call, str]) -> set[str]:
    """Register all global names that the function's text uses, so that variables avoid them; return the names bound in rows' texts.

    ``texts`` collects the texts of the ops.
    """
    for name in ("np", "math", *BUILTINS):
        if name in names.hidden:
            names.use(name)
    inner: set[str] = set()
    seen: set[tuple[str, str]] = set()
    for op in walk(func.body):
        if isinstance(op, Call):
            text = texts[op] = text_of(op)
            if (op.name, text) not in seen or ROWS[op.name].by_name:
                seen.add((op.name, text))
                inner |= bound_inside(text)
                for name in asked_of_the_module(op, text):
                    names.use(name)
            if not ROWS[op.name].by_name:
                for value in op.settings.values():
                    if not isinstance(value, Func):
                        literal(value, names)
        collect_constants(op.operands, names)
        for block in op.blocks:
            collect_constants(block.yields, names)
    collect_constants(func.body.yields, names)
    return inner


def asked_of_the_module(op: Call, text: str) -> list[str]:
    """The names in an op's text that are neither its own nor bound in it."""
    row = ROWS[op.name]
    if row.emit in ("push", "pop"):
        return []
    if row.by_name:
        return [name for name in mentions(text) if name not in op.settings["names"]]
    own = {p.lstrip("*") for p in row.params} | {*row.settings, *row.outs, "path"} | bound_inside(text)
    return [name for name in mentions(text) if name not in own]


def collect_constants(operands: list[Operand], names: Names) -> None:
    """Register the names of constants."""
    for operand in operands:
        if isinstance(operand, Const) and not isinstance(operand.value, Func):
            constant(operand, names)
