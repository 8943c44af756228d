"""Which values of a function may share memory, and the copies on entry that keep the caller's arrays as they are."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field

from symgrad.errors import UnsureAlias
from symgrad.ir.core import Apply, Call, For, Func, If, Operand, Value, While, substitute, walk
from symgrad.ir.types import Array, List, Scalar
from symgrad.location import Loc
from symgrad.ops.declare import ROWS


def copy_written(func: Func, loc: Loc, copies: Container[Value] = ()) -> list[Value]:
    """Copy on entry every parameter whose memory the function may write to, but for those that are ``copies``; returns these parameters."""
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


@dataclass(slots=True)
class Groups:
    """Values that may share memory, as disjoint sets."""

    parent: dict[Value, Value] = field(default_factory=dict)

    def find(self, value: Value) -> Value:
        root = value
        while (above := self.parent.get(root, root)) is not root:
            root = above
        while (above := self.parent.get(value, value)) is not root:
            self.parent[value], value = root, above
        return root

    def join(self, *values: Operand) -> None:
        real = [v for v in values if isinstance(v, Value) and not isinstance(v.type, Scalar)]
        for other in real[1:]:
            one, two = self.find(real[0]), self.find(other)
            if one is not two:
                self.parent[two] = one


def memory_groups(func: Func) -> Groups:
    """Which values of a function may share memory: stores, views, and what flows through joins."""
    groups = Groups()
    for op in walk(func.body):
        match op:
            case Call(name=name, args=args, outs=outs):
                row = ROWS[name]
                if row.consumes and args and outs:
                    groups.join(outs[0], args[0])
                elif row.alias != "fresh":
                    groups.join(*outs, *args)
                if name in ("list_of", "list_from", "unstack", "list_append", "list_set", "list_take", "list_slice", "list_join"):
                    groups.join(*outs, *[a for a in args if isinstance(a.type, Array | List)])
            case For():
                for init, arg, end, out in zip(op.inits, op.carried, op.body.yields, op.outs, strict=False):
                    groups.join(init, arg, end, out)
            case While():
                for init, arg, end, out, test in zip(op.inits, op.carried, op.body.yields, op.outs, op.test.args, strict=False):
                    groups.join(init, arg, end, out, test)
            case If():
                for then, orelse, out in zip(op.then.yields, op.orelse.yields, op.outs, strict=True):
                    groups.join(then, orelse, out)
            case Apply(args=args, outs=outs):
                groups.join(*[v for v in (*outs, *args) if isinstance(v.type, Array | List)])
    return groups
