"""Replaces calls of other functions of the program by forward and backward pairs, one per set of active arguments and results.

Forward returns the results and a box of residuals (a tape with one entry); backward takes the box and the
cotangents. A pair is registered before it is filled, so that a function may be recursive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from symgrad.adjoint.analysis.memory import Memory, has_memory
from symgrad.adjoint.pullback import split_pullback
from symgrad.ir.core import Apply, Block, Call, Func, Operand, Value, substitute, walk
from symgrad.ir.layout import Layout
from symgrad.ops.analysis.aliases import shares_of
from symgrad.ops.build import Builder

Key = tuple[Func, tuple[int, ...], tuple[int, ...]]


@dataclass(slots=True)
class Pairs:
    """The forward and backward pairs created so far; ``differentiate`` creates a gradient with seeds."""

    differentiate: Callable[[Func, Sequence[int], Sequence[int], Pairs, bool], Func]
    pairs: dict[Key, tuple[Func, Func]] = field(default_factory=dict)
    gradients: dict[Key, Func] = field(default_factory=dict)

    def pair(self, func: Func, wrt: tuple[int, ...], active_results: tuple[int, ...]) -> tuple[Func, Func]:
        """Forward and backward of ``func``."""
        key = (func, wrt, active_results)
        if key not in self.pairs:
            keep_arguments(func, set())
            self.pairs[key] = pair = (Func(f"{func.name}_forward", loc=func.loc), Func(f"{func.name}_backward", loc=func.loc))
            pair[0].shares = (*shares_of(func), ())  # the box has memory of its own
            whole = self.differentiate(func, wrt, active_results, self, True)
            first, second = split_pullback(whole, values=len(func.body.yields), seeds=len(active_results), parts=True)
            count = len(first.body.yields) - len(func.body.yields)
            boxed(first, pair[0], count)
            pair[0].shares = None
            unboxed(second, pair[1], count)
        return self.pairs[key]

    def gradient(self, func: Func, wrt: tuple[int, ...], active_results: tuple[int, ...]) -> Func:
        """The gradient of ``func``, which takes its arguments and cotangents of its results."""
        key = (func, wrt, active_results)
        if key not in self.gradients:
            keep_arguments(func, set())
            self.gradients[key] = gradient = self.differentiate(func, wrt, active_results, self, False)
            names = ", ".join(func.params[k].name or f"argument {k}" for k in wrt)
            gradient.doc = f"Gradient of {func.name} with respect to {names}, for cotangents of its results."
        return self.gradients[key]


def boxed(source: Func, target: Func, count: int) -> None:
    """Move the last ``count`` results of ``source`` into one box, and make the result the body of ``target``."""
    body = source.body
    own = len(body.yields) - count
    with (builder := Builder(body)).at(source.loc):
        box = builder.call("push", builder.call("tape", hint="box"), *body.yields[own:], hint="box")
    body.yields[own:] = [box]
    target.body, target.results = body, [*source.results[:own], "box"]


def unboxed(source: Func, target: Func, count: int) -> None:
    """Move the first ``count`` parameters of ``source`` into one box, which is not changed."""
    body = source.body
    items = body.args[:count]
    fresh = [Value(item.type, item.name) for item in items]
    start = Block()
    with (builder := Builder(start)).at(source.loc):
        box = Value(builder.call("push", builder.call("tape"), *items).type, "box")
        start.ops.clear()
        copy = builder.call("copy", box, hint="box")
        start.ops.append(Call([Value(box.type, "box"), *fresh], source.loc, "pop", [copy], {}))
    table: dict[Value, Operand] = dict(zip(items, fresh, strict=True))
    substitute(body, table)
    body.args = [box, *body.args[count:]]
    body.ops[:0] = start.ops
    target.body, target.results = body, source.results


def keep_arguments(func: Func, seen: set[Func]) -> None:
    """Let a function and its callees write to copies of their arguments: backward functions write to lists of cotangents."""
    if func in seen:
        return
    seen.add(func)
    layout = Layout()
    layout.enter(func.body)
    memory = Memory.of(func, layout)
    for param in [p for p in func.params if has_memory(p.type) and memory.find(p) in memory.stores]:
        copy = Value(param.type, param.name)
        substitute(func.body, {param: copy})
        func.body.ops.insert(0, Call([copy], func.loc, "copy", [param], {}))
    for op in walk(func.body):
        if isinstance(op, Apply) and op.func is not None:
            keep_arguments(op.func, seen)
