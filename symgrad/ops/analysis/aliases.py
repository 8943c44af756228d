"""Alias analysis of a function: which of its values may share memory, and which parameters its results may alias."""

from __future__ import annotations

from dataclasses import dataclass, field

from symgrad.identity import DisjointSets
from symgrad.ir.core import Apply, Call, For, Func, If, Operand, Value, While, applied, definitions, walk
from symgrad.ir.types import Array, List, Scalar
from symgrad.ir.walks import read_in
from symgrad.ops.declare import ROWS

#: rows that store an operand in a container, or read one from it
CONTAINERS = frozenset({"list_of", "list_from", "unstack", "list_append", "list_set", "list_take", "list_slice", "list_join"})
#: the same of tapes, whose values are of any type
TAPES = frozenset({"push", "put", "pop", "get"})
#: for each result of a function the values that it may alias: positions of parameters, and free values
Shares = tuple[tuple[int | Value, ...], ...]


@dataclass(slots=True)
class Groups(DisjointSets[Value]):
    """Values that may share memory, as disjoint sets."""

    joined: dict[Value, None] = field(default_factory=dict)  #: all that share memory with another one

    def join(self, *values: Operand) -> None:
        real = [v for v in values if isinstance(v, Value) and not isinstance(v.type, Scalar)]
        if len(real) > 1:
            self.joined |= dict.fromkeys(real)
        for other in real[1:]:
            self.unite(real[0], other)


def memory_groups(func: Func, known: dict[Func, Shares] | None = None) -> Groups:
    """Return the alias classes of a function's values, by stores, views, joins and calls.

    ``known`` holds the aliases of the results of callees; those of other callees are computed.
    """
    groups = Groups()
    for op in walk(func.body):
        match op:
            case Call(
                name="struct_of" | "part_of", args=args, outs=outs
            ):  # which have no rows: ``frontend/objects/columns`` takes them out
                groups.join(*outs, *args)
            case Call(name=name, args=args, outs=outs):
                row = ROWS[name]
                if row.consumes and args and outs:
                    groups.join(outs[0], args[0])
                elif row.alias != "fresh":
                    groups.join(*outs, *args)
                if name in CONTAINERS:
                    groups.join(*outs, *[a for a in args if isinstance(a.type, Array | List)])
                elif name in TAPES:
                    groups.join(*outs, *args)
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
                for out, sources in zip(outs, sources_of(op, known), strict=True):
                    groups.join(out, *sources)
    return groups


def sources_of(op: Apply, known: dict[Func, Shares] | None = None) -> list[list[Operand]]:
    """Return the aliases of each result of a call; all arguments if the callee is not fully known."""
    assert op.func is not None
    shares = op.func.shares
    if shares is None:
        shares = known[op.func] if known is not None and op.func in known else shares_of(op.func)
        if len(shares) != len(op.outs) or len(op.args) != len(op.func.params):
            return [op.args] * len(op.outs)
    return [[op.args[source] if isinstance(source, int) else source for source in sources] for sources in shares]


def shares_of(func: Func) -> Shares:
    """Return the aliases of each result of a function."""
    known: dict[Func, Shares] = {each: ((),) * len(each.body.yields) for each in [func, *applied(func.body)]}
    news = True
    while news:
        news = False
        for each in known:
            if (shares := results_shared(each, known)) != known[each]:
                known[each], news = shares, True
    return known[func]


def results_shared(func: Func, known: dict[Func, Shares]) -> Shares:
    """Return the same, given the aliases of its callees."""
    groups = memory_groups(func, known)
    inside = set(definitions(func.body))
    around = [value for value in dict.fromkeys([*groups.joined, *read_in(func.body)]) if value not in inside]
    sources: list[tuple[int | Value, Value]] = [*enumerate(func.params), *((value, value) for value in around)]
    roots = [(source, groups.find(value)) for source, value in sources if not isinstance(value.type, Scalar)]
    ends = [groups.find(value) if isinstance(value, Value) and not isinstance(value.type, Scalar) else None for value in func.body.yields]
    return tuple(tuple(source for source, root in roots if root is end) for end in ends)


__all__ = ["Groups", "Shares", "memory_groups", "shares_of", "sources_of"]
