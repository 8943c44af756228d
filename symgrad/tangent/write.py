"""The push-forward: the IR of a function -> the IR of a function that computes its results and their tangents, in one sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from symgrad.adjoint.analysis.activity import active_values
from symgrad.adjoint.saving.recomputed_calls import unmarked
from symgrad.adjoint.saving.remarks import tell_activity
from symgrad.ir.core import Call, For, Func, If, Op, Operand, Value, While, clone, walk
from symgrad.ir.types import Array, List
from symgrad.ops.analysis.aliases import memory_groups, shares_of
from symgrad.ops.build import Builder, symbols
from symgrad.ops.declare import ROWS
from symgrad.tangent import flow, rows, tapes
from symgrad.tangent.by_name import read_by_name
from symgrad.tangent.forward import Forward
from symgrad.tangent.phases import checked_tangents, checked_values
from symgrad.tangent.sink import sink

#: the modules that register tangent functions for each kind of op
PUSHES = (rows, tapes, flow)

#: rows that return a view with repeated elements
SPREADING = frozenset({"spread", "broadcast_to"})

__all__ = ["phases_checked", "push_forward"]


@dataclass(slots=True)
class Called:
    """The called functions with tangents: one for each function and each set of active arguments and results."""

    builder: Builder
    known: dict[tuple[Func, tuple[int, ...], tuple[int, ...]], Func] = field(default_factory=dict)

    def __call__(self, func: Func, wrt: tuple[int, ...], active_results: tuple[int, ...]) -> Func:
        """The function for one set; it is registered before it is filled, so that a function may be recursive."""
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


def push_forward(
    func: Func,
    wrt: Sequence[int],
    active_results: Sequence[int] = (0,),
    name: str | None = None,
    taken: set[str] | None = None,
    shared: bool = False,
) -> Func:
    """The function that computes ``func`` and its tangent.

    Its parameters are ``func``'s, then a tangent of each parameter in ``wrt``. Its results are ``func``'s, then
    the tangent of each active result, each in memory of its own, except tangents that may be ``shared``.
    ``taken`` are extent symbols with another meaning where the result is inserted.
    """
    builder = Builder(taken=set() if taken is None else taken)
    func = unmarked(func)
    tell_activity(func, wrt, active_results)
    called = Called(builder)
    result = checked_tangents(func, wrt, active_results, lambda f, places, results: written(f, places, results, called, name), builder)
    with builder.inside(result.body), builder.at(func.loc):
        owned(builder, result, len(func.body.yields) if shared else len(result.body.yields))
    return result


def phases_checked(func: Func, wrt: Sequence[int], active_results: Sequence[int], taken: set[str] | None = None) -> Func:
    """A function that also checks that its results do not depend on the phases of vectors: for derivatives that are linear in a seed."""
    builder = Builder(taken=set() if taken is None else taken)
    called = Called(builder)
    return checked_values(func, wrt, active_results, lambda f, places, results: written(f, places, results, called), builder)


def written(func: Func, wrt: Sequence[int], active_results: Sequence[int], called: Called, name: str | None = None) -> Func:
    """``push_forward``, with the functions created so far."""
    result = clone(func, name or f"{func.name}_jvp")
    labels = result.results or [f"out{k}" if k else "out" for k in range(len(result.body.yields))]
    builder = Builder(taken=called.builder.taken)
    builder.taken |= symbols(result)
    forward = Forward(result, active_values(result, wrt, active_results), called, builder)
    own = set(walk(result.body))
    forward.run(wrt, active_results)
    read_by_name(result.body, own)
    sink(result, own)
    result.results = [*labels, *(f"{labels[k]}_tangent" for k in active_results)]
    result.split = None
    return result


def owned(builder: Builder, func: Func, count: int) -> None:
    """Copy those of the first results that share memory with a parameter or an earlier result, or are read-only. Works in place."""
    makers: dict[Operand, Op] = {out: op for op in walk(func.body) for out in op.outs}
    groups = memory_groups(func)
    seen = {groups.find(param) for param in func.params}
    for k, result in enumerate(func.body.yields[:count]):
        if isinstance(result, Value) and isinstance(result.type, Array | List):
            if (root := groups.find(result)) in seen or is_spread(result, makers, set()):
                func.body.yields[k] = builder.call("copy", result, hint=result.name)
            seen.add(root)


def is_spread(value: Operand, makers: Mapping[Operand, Op], seen: set[Operand]) -> bool:
    """Whether several of its elements may be one memory cell, so that it cannot be written to."""
    op = makers.get(value)
    if op is None or value in seen:
        return False
    seen.add(value)
    match op:
        case Call():
            row = ROWS[op.name]
            return op.name in SPREADING or (row.alias != "fresh" and any(is_spread(a, makers, seen) for a in op.args[:1]))
        case If():
            place = op.outs.index(value)  # type: ignore[arg-type]
            return any(is_spread(side.yields[place], makers, seen) for side in op.blocks)
        case For() | While():
            place = op.outs.index(value)  # type: ignore[arg-type]
            ends = [op.inits[place], op.body.yields[place]] if place < len(op.inits) else []
            return any(is_spread(end, makers, seen) for end in ends)
    return False
