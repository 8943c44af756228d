"""The push-forward: the IR of a function -> the IR of a function that computes its results and their tangents, in one sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from symgrad.adjoint.account import tell_activity
from symgrad.adjoint.activity import active_values
from symgrad.ir.core import Call, Func, Op, Operand, Value, clone, walk
from symgrad.ir.types import Array, List
from symgrad.ops.build import Builder, symbols
from symgrad.ops.declare import ROWS
from symgrad.ops.sharing import shares_of
from symgrad.tangent import flow, rows, tapes
from symgrad.tangent.forward import Forward

#: the modules that enter what writes the tangents of each kind of op
PUSHES = (rows, tapes, flow)

__all__ = ["push_forward"]


@dataclass(slots=True)
class Called:
    """The functions with tangents that stand for those that the program calls, made once for each set of active arguments and results."""

    builder: Builder
    known: dict[tuple[Func, tuple[int, ...], tuple[int, ...]], Func] = field(default_factory=dict)

    def __call__(self, func: Func, wrt: tuple[int, ...], active_results: tuple[int, ...]) -> Func:
        """The function for one set; it is entered before it is filled, so that a function may call itself."""
        key = (func, wrt, active_results)
        if key not in self.known:
            self.known[key] = target = Func(f"{func.name}_jvp", loc=func.loc)
            shares = shares_of(func)
            first = len(func.params)
            of_tangents = [tuple(first + wrt.index(p) for p in shares[k] if p in wrt) for k in active_results]
            target.shares = (*shares, *of_tangents)
            copy = written(func, wrt, active_results, self)
            target.body, target.results, target.shares = copy.body, copy.results, None
        return self.known[key]


def push_forward(func: Func, wrt: Sequence[int], active_results: Sequence[int] = (0,), name: str | None = None,
                 taken: set[str] | None = None) -> Func:  # fmt: skip
    """The function that computes ``func`` and its tangent.

    Its parameters are ``func``'s, then a tangent of each parameter in ``wrt``; its results ``func``'s, then the tangent of each active
    result, in memory of its own. ``taken`` are symbols of extents that mean something else where the result will stand.
    """
    builder = Builder(taken=set() if taken is None else taken)
    tell_activity(func, wrt, active_results)
    return written(func, wrt, active_results, Called(builder), name)


def written(func: Func, wrt: Sequence[int], active_results: Sequence[int], called: Called, name: str | None = None) -> Func:
    """``push_forward``, with the functions made so far."""
    result = clone(func, name or f"{func.name}_jvp")
    count = len(result.body.yields)
    labels = result.results or [f"out{k}" if k else "out" for k in range(count)]
    builder = Builder(taken=called.builder.taken)
    builder.taken |= symbols(result)
    forward = Forward(result, active_values(result, wrt, active_results), called, builder)
    forward.run(wrt, active_results)
    with builder.inside(result.body):
        owned(builder, result, count)
    result.results = [*labels, *(f"{labels[k]}_tangent" for k in active_results)]
    result.split = None
    return result


def owned(builder: Builder, func: Func, count: int) -> None:
    """Copy tangents that are handed out and may share memory with something else. Works in place."""
    makers = {out: op for op in walk(func.body) for out in op.outs}
    seen: set[Operand] = set(func.body.yields[:count])
    for k in range(count, len(func.body.yields)):
        tangent = func.body.yields[k]
        if isinstance(tangent, Value) and isinstance(tangent.type, Array | List) and (tangent in seen or not is_new(tangent, makers)):
            func.body.yields[k] = builder.call("copy", tangent, hint=tangent.name)
        seen.add(tangent)


def is_new(value: Value, makers: Mapping[Value, Op]) -> bool:
    """Was it made by an op, in memory that nobody else knows?"""
    op = makers.get(value)
    while isinstance(op, Call):
        row = ROWS[op.name]
        if not row.consumes:
            return row.alias == "fresh"
        source = op.args[0]
        op = makers.get(source) if isinstance(source, Value) else None
    return False
