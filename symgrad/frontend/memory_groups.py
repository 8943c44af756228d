"""Copies of arrays on entry, which protect the caller's arrays from stores."""

from __future__ import annotations

from collections.abc import Container

from symgrad.errors import UnsureAlias
from symgrad.frontend.read_rows import copy_read
from symgrad.ir.core import Call, Func, Value, substitute, walk
from symgrad.ir.types import Array, List, Scalar
from symgrad.location import Loc
from symgrad.ops.aliases import memory_groups
from symgrad.ops.declare import ROWS


def copy_written(func: Func, loc: Loc, copies: Container[Value] = ()) -> list[Value]:
    """Copy on entry every parameter whose memory the function may write to, except for ``copies``; return these parameters.

    Also copies each inner list that is read after a store to it in place.
    """
    copy_read(func)
    groups = memory_groups(func)
    written = {
        groups.find(op.args[0])
        for op in walk(func.body)
        if isinstance(op, Call) and ROWS[op.name].consumes and isinstance(op.args[0], Value)
    }
    stored = {
        groups.find(op.args[0])
        for op in walk(func.body)
        if isinstance(op, Call)
        and ROWS[op.name].consumes
        and isinstance(op.args[0], Value)
        and not isinstance(op.args[0].type, List | Scalar)
    }
    for param in func.params:
        if isinstance(param.type, List) and not isinstance(param.type.item, Scalar) and groups.find(param) in stored:
            raise UnsureAlias(f"an array in {param.name} is written to, and another item of it may be the same array", loc)
    written_params = [p for p in func.params if isinstance(p.type, Array | List) and groups.find(p) in written]
    for param in (p for p in written_params if p not in copies):
        copy = Value(param.type, param.name)
        substitute(func.body, {param: copy})
        func.body.ops.insert(0, Call([copy], loc, "copy", [param], dict(ROWS["copy"].settings)))
    return written_params
