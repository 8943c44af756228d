"""The adjoint: the IR of a function -> the IR of its gradient.

The forward half is the function itself. The backward half is written here as if all primal values were still
live; ``tape`` then makes them available.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from symgrad.adjoint.accumulate import Scope
from symgrad.adjoint.analysis.activity import active_values
from symgrad.adjoint.calls import Pairs
from symgrad.adjoint.pullback import split_pullback
from symgrad.adjoint.reversals import applied, branches, rows, tape_ops
from symgrad.adjoint.reversals.fused_loops import fuse, mark
from symgrad.adjoint.saving.budget import Budget
from symgrad.adjoint.saving.checkpoints import Checkpoints
from symgrad.adjoint.saving.costs import INTERPRETED, Costs
from symgrad.adjoint.saving.plan import MEANS, Means
from symgrad.adjoint.saving.prune import not_again, prune, share
from symgrad.adjoint.saving.recomputed_calls import BEGIN, gather
from symgrad.adjoint.saving.remarks import tell_activity
from symgrad.adjoint.saving.tape import Unplanned, available
from symgrad.adjoint.sweep import Sweep
from symgrad.ir.core import Block, Call, For, Func, Operand, Value, clone, substitute, walk
from symgrad.ops.build import Builder, symbols

#: the modules that register the reversals of other ops than loops
REVERSALS = (rows, tape_ops, applied, branches)

__all__ = ["gradient", "split_pullback"]


def gradient(
    func: Func,
    wrt: Sequence[int],
    *,
    active_results: Sequence[int] = (0,),
    value: bool = True,
    seeds: bool = False,
    name: str | None = None,
    taken: set[str] | None = None,
    costs: Costs = INTERPRETED,
    shared: bool = False,
    fused: bool = False,
    budget: Budget | None = None,
) -> Func:
    """The function that computes ``func`` and its gradient.

    Its parameters are ``func``'s, then, if ``seeds``, a cotangent for each active result. Its results are
    ``func``'s, if ``value``, then the gradient with respect to each parameter in ``wrt``.

    ``taken`` are extent symbols with another meaning where the result is inserted. ``costs`` is the cost model
    of the target. Results of ``func`` that share memory are copied unless they may be ``shared``. If ``fused``,
    loops are reversed iteration by iteration where possible; the two halves can then not be split. ``budget``
    selects the loops that run again.
    """

    def differentiate(means: Means) -> Func:
        pairs = Pairs(partial(pullback_of, means=means, costs=costs, budget=budget))
        return differentiated(func, wrt, active_results, value, seeds, name, pairs, taken, means, costs, shared, fused, budget)

    for means in MEANS[:-1]:
        with suppress(Unplanned):  # rare: the plan relied on a value that is no longer live; the next means save it
            return differentiate(means)
    return differentiate(MEANS[-1])


def pullback_of(
    func: Func,
    wrt: Sequence[int],
    active_results: Sequence[int],
    pairs: Pairs,
    value: bool,
    *,
    means: Means,
    costs: Costs,
    budget: Budget | None,
) -> Func:
    """The gradient of a function that the program calls."""
    return differentiated(func, wrt, active_results, value, True, None, pairs, None, means, costs, budget=budget)


def differentiated(
    func: Func,
    wrt: Sequence[int],
    active_results: Sequence[int],
    value: bool,
    seeds: bool,
    name: str | None,
    pairs: Pairs,
    taken: set[str] | None,
    means: Means,
    costs: Costs,
    shared: bool = False,
    fused: bool = False,
    budget: Budget | None = None,
) -> Func:
    """``gradient``, with the pairs of functions created so far."""
    adjoint = clone(func, name or f"{func.name}_grad")
    mark(adjoint.body, backward=False)
    again = checkpoints_of(adjoint, budget)
    results = list(adjoint.body.yields)
    names = adjoint.results or [f"out{k}" if k else "out" for k in range(len(results))]
    builder = Builder(taken=set() if taken is None else taken)
    builder.taken |= symbols(adjoint)
    sweep = Sweep(adjoint, active_values(adjoint, wrt, active_results), pairs, builder)
    if adjoint.notes is not None:
        tell_activity(adjoint, wrt, active_results)
    seed_params = sweep.seeds(active_results, seeds)
    scope = sweep.run(seed_params, active_results)
    gradients = sweep.gradients(scope, wrt)
    scope.reverse.yields = list(gradients)
    prune(scope.reverse, indices(sweep))
    read_by_name(adjoint.body, scope.reverse)
    not_again(scope, sweep.scopes)
    share(scope.reverse, sweep.ledger.copies)

    def completed(part: Func, inner: Scope) -> Block:
        if again is not None:
            again.apply(part, inner, sweep, completed)
        return available(part, inner, sweep.scopes, sweep.turns, part.body.yields, builder.taken, means, costs, True, True)

    if fused:
        fuse(adjoint, scope, sweep, completed)
    if again is not None:
        again.apply(adjoint, scope, sweep, completed)
    body = available(adjoint, scope, sweep.scopes, sweep.turns, results if value else [], builder.taken, means, costs, shared)
    adjoint.split = len(body.ops) - len(scope.reverse.ops)
    if again is not None:
        again.inline(body)
    adjoint.body = body
    adjoint.body.args += seed_params
    adjoint.body.yields = [*(body.yields if value else []), *scope.reverse.yields]
    adjoint.results = [*(names if value else []), *(f"{func.params[k].name or f'arg{k}'}_grad" for k in wrt)]
    return adjoint


def checkpoints_of(adjoint: Func, budget: Budget | None) -> Checkpoints | None:
    """The loops and calls of a function that are checkpointed, or None; the calls become branches, in place."""
    is_marked = any(isinstance(op, Call) and op.name == BEGIN for op in walk(adjoint.body))
    if budget is None and not is_marked:
        return None
    again = Checkpoints(budget or Budget())
    again.budget.divide(adjoint)
    gather(adjoint.body, again.calls)
    return again


def read_by_name(body: Block, reverse: Block) -> None:
    """Let the backward half read the user's variable instead of the value that the user's text has computed for it."""
    named: dict[Value, Operand] = {}
    for op in walk(body):
        if isinstance(op, Call) and op.name == "as_written" and op.outs[0].name is not None:
            (value, out) = op.args[0], op.outs[0]
            if isinstance(value, Value) and value.name is None:
                named[value] = out
    if named:
        substitute(reverse, named)


def indices(sweep: Sweep) -> dict[For, Value]:
    """For each reversed loop, the index of the primal loop, if it has one."""
    by_loop: dict[For, Value] = {}
    for scope in sweep.scopes.values():
        if scope.parent is not None and isinstance(scope.op, For):
            primal = scope.parent.block.ops[scope.position]
            if isinstance(primal, For):
                by_loop[scope.op] = primal.index
    return by_loop
