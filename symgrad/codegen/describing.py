"""Descriptive names for unnamed values: ``exp_x``, ``product``, ``x_shape``. For text that is read."""

from __future__ import annotations

from collections.abc import Mapping

from symgrad.codegen.layout import is_users
from symgrad.ir.core import Call, Const, Func, Op, Value, walk
from symgrad.ir.types import Array, List, Scalar, ShapeOf, Tape
from symgrad.ops.declare import ROWS
from symgrad.tables import pairs
from symgrad.text import is_name

#: nouns for the results of rows
NOUNS = pairs(
    """
    add:total subtract:difference multiply:product divide:quotient negative:negated power:power square:square floor_divide:quotient
    mod:remainder matmul:product dot:product outer:product sum:total max:largest min:smallest maximum:larger minimum:smaller mean:mean
    where:chosen array_of:array list_of:items accumulate:total number:number cast:cast written:term as_written:term concatenate:joined
    stack:joined zeros:zeros ones:ones arange:places
    """
)
#: nouns for results that are named after their operand
PARTS = pairs(
    """
    view:part take:part list_take:item table_take:item shape_of:shape extent:length list_len:length copy:copy
    """
)
#: comparisons and logic
TESTS = frozenset(
    """
    greater greater_equal less less_equal equal not_equal logical_and logical_or logical_not both either not_ isnan isinf isfinite
    is_failure is_instance
    """.split()
)
SHORT = 24  #: the maximum length of a name


def label(func: Func) -> Func:
    """Label unnamed values descriptively, in place, so that their cotangents have descriptive names."""
    producer = {out: op for op in walk(func.body) for out in op.outs}
    arguments = [value for op in walk(func.body) for block in op.blocks for value in block.args]
    for value in (*producer, *arguments):
        if value.name is None:
            value.label = described(value, producer)
    return func


def described(value: Value, producer: Mapping[Value, Op]) -> str:
    """The descriptive name of an unnamed value."""
    op = producer.get(value)
    if isinstance(op, Call):
        return of_row(op, value, producer)
    return of_type(value, op)


def of_row(op: Call, value: Value, producer: Mapping[Value, Op]) -> str:
    """A name after the row that computes a value, and its operands."""
    if op.name in TESTS:
        return "test"
    if isinstance(value.type, Tape):
        return "tape"
    if op.name in ("get", "pop"):
        return value.label or "saved"
    if op.name == "list_of" and value.label:
        return value.label
    if op.name == "copy" and isinstance(inner := producer.get(op.args[0]) if isinstance(op.args[0], Value) else None, Call):
        op = inner
    base = next((a.name for a in op.args if isinstance(a, Value) and is_users(a.name)), None)
    if op.name in PARTS:
        return short(f"{base}_{PARTS[op.name]}" if base else "", PARTS[op.name])
    if op.name in NOUNS:
        return NOUNS[op.name]
    if op.name in ("opaque", "opaque_pure") and isinstance(op.args[0], Const):
        return of_call(op.args[0].value)
    if op.name == "opaque_attribute":
        return short(op.settings["attribute"].strip("_"), "attribute")
    if ROWS[op.name].elementwise and len(op.args) == 1:
        return short(f"{op.name}_{base}" if base else "", op.name)
    return op.name.rstrip("_")


def of_call(function: object) -> str:
    """A name after a function of a library that is called."""
    if function is len:
        return "length"
    word = str(getattr(function, "__name__", "")).strip("_")
    return short(f"{word}_result" if is_name(word) else "", "result")


def of_type(value: Value, op: Op | None) -> str:
    """A name after the type of a value."""
    match value.type:
        case Tape():
            return "tape"
        case ShapeOf():
            return "shape"
        case List():
            return "items"
        case Array():
            return "array"
        case Scalar(kind="bool"):
            return "flag"
    return "value"


def short(name: str, otherwise: str) -> str:
    """The name, unless it is empty or long."""
    return name if 0 < len(name) <= SHORT else otherwise


__all__ = ["described", "label"]
