"""Interprets the IR of a function on values together with sets of input elements -> the pattern of its Jacobian."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from symgrad.adjoint.analysis.activity import may_be_active, parameters
from symgrad.codegen.header import Header
from symgrad.codegen.python import emit_to_run
from symgrad.identity import Same
from symgrad.ir.core import Apply, Block, Call, For, Func, If, Op, Operand, Value, While
from symgrad.ops.declare import ROWS, Row
from symgrad.runtime.load import load_tree
from symgrad.sparsity.forms import filled, laid_alike, leaves
from symgrad.sparsity.graph import Graph, members
from symgrad.sparsity.rules import Applied, Rule, dense, rule_of
from symgrad.verification.duplicate import array_copy

#: settings for running an op on forms: sets are integers, and padding has the empty set
OF_FORMS = {"dtype": "i64", "constant_values": 0}
#: exceptions of ops that do not fit forms
UNFIT = (TypeError, ValueError, IndexError, AttributeError, ArithmeticError, AssertionError)

Pair = tuple[Any, Any]  #: a value and its form, None if that is empty
Environment = dict[Value, Pair]


@dataclass(frozen=True, slots=True)
class Pattern:
    """The input elements that each element of the results depends on: offsets and columns of a compressed sparse matrix."""

    offsets: np.ndarray
    columns: np.ndarray
    shape: tuple[int, int]


def pattern_of(func: Func, arguments: Sequence[Any], wrt: Sequence[int], results: Sequence[int], objects: Mapping[str, Any]) -> Pattern:
    """The pattern of the Jacobian of some results with respect to the parameters in ``wrt``, whose elements are numbered in order.

    It holds for all arguments for which the function takes the same branches, runs as many iterations and reads
    the same indices.
    """
    arguments = duplicate(list(arguments), {})
    sizes = [np.size(arguments[k]) for k in wrt]
    graph = Graph(sum(sizes))
    forms: list[Any] = [None] * len(arguments)
    first = 1
    for k, size in zip(wrt, sizes, strict=True):
        numbers = np.arange(first, first + size).reshape(np.shape(arguments[k]))
        forms[k] = laid_alike(arguments[k], numbers) if isinstance(arguments[k], np.ndarray) else int(numbers[()])
        first += size
    with np.errstate(all="ignore"):
        pairs = Run(graph, dict(objects)).function(func, list(zip(arguments, forms, strict=True)))
    chosen = [pairs[k] for k in results]
    ids = members([np.zeros(np.size(value), np.int64) if form is None else members(list(leaves(form))) for value, form in chosen])
    return Pattern(*graph.pattern(ids), (ids.size, graph.size))


def duplicate(value: Any, known: dict[Same, Any]) -> Any:
    """A copy of arrays and lists that preserves shared objects."""
    if not isinstance(value, np.ndarray | list):
        return value
    if Same(value) not in known:
        known[Same(value)] = array_copy(value) if isinstance(value, np.ndarray) else [duplicate(item, known) for item in value]
    return known[Same(value)]


@dataclass(slots=True)
class Step:
    """A prepared op: its operands, its function, and its rule."""

    row: Row
    sources: list[tuple[Operand, Pair | None]]  #: the operands, with the pairs of constants
    run: Callable[..., tuple[Any, ...]]
    on_forms: Callable[[list[Any]], tuple[Any, ...]]
    rule: Rule
    passes: list[bool]  #: for each operand: does the row have a derivative for it?
    active: list[bool]  #: for each result: may it have a form?


@dataclass(slots=True)
class Run:
    """One run of a program."""

    graph: Graph
    objects: dict[str, Any]
    steps: dict[Op, Step] = field(default_factory=dict)

    def function(self, func: Func, args: list[Pair]) -> list[Pair]:
        """The results of a function."""
        return self.block(func.body, args, {})

    def block(self, block: Block, args: Sequence[Pair], env: Environment) -> list[Pair]:
        env.update(zip(block.args, args, strict=True))
        for op in block.ops:
            env.update(zip(op.outs, self.op(op, env), strict=True))
        return [read(y, env) for y in block.yields]

    def op(self, op: Op, env: Environment) -> Sequence[Pair]:
        match op:
            case Call():
                return self.call(op, env)
            case For():
                return self.run_for(op, env)
            case While():
                return self.run_while(op, env)
            case If():
                return self.block(op.then if read(op.test, env)[0] else op.orelse, [], env)
            case Apply(func=Func() as func):
                return self.function(func, [read(a, env) for a in op.args])
        raise AssertionError(op)

    def run_for(self, op: For, env: Environment) -> list[Pair]:
        start, stop, step = (operator.index(read(o, env)[0]) for o in (op.start, op.stop, op.step))
        carried = [read(o, env) for o in op.inits]
        indices, rounds = range(start, stop, step), 0
        for i in reversed(indices) if op.backward else indices:
            carried = self.block(op.body, [(i, None), *carried], env)
            rounds += 1
            if op.until and carried.pop()[0]:
                break
        return [*carried, (rounds, None)] if op.until else carried

    def run_while(self, op: While, env: Environment) -> list[Pair]:
        carried = [read(o, env) for o in op.inits]
        rounds = 0
        while self.block(op.test, carried, env)[0][0]:
            carried = self.block(op.body, carried, env)
            rounds += 1
            if op.until and carried.pop()[0]:
                break
        return [*carried, (rounds, None)]

    def call(self, op: Call, env: Environment) -> list[Pair]:
        step = self.steps.get(op) or self.steps.setdefault(op, self.prepared(op))
        pairs = [pair or env[o] for o, pair in step.sources]  # type: ignore[index]
        operands, forms = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        if not any(form is not None and passes for form, passes in zip(forms, step.passes, strict=True)) or not any(step.active):
            return [(result, None) for result in step.run(*operands)]
        if step.row.consumes and forms[0] is None and step.passes[0]:
            forms[0] = filled(operands[0], 0)  # before it is written to
        results = step.run(*operands)
        applied = Applied(self.graph, op, step.row, operands, forms, results, step.on_forms, step.passes)
        try:
            after = step.rule(applied)
        except UNFIT:
            after = dense(applied)
        return [(result, form if active else None) for result, form, active in zip(results, after, step.active, strict=True)]

    def prepared(self, op: Call) -> Step:
        """Prepare an op at its first execution."""
        row = ROWS[op.name]
        passes = [row.partials.get(param) is not None or row.pullbacks.get(param) is not None for _, param, _ in parameters(op)]
        sources = [(o, None if isinstance(o, Value) else (o.value, None)) for o in op.args]
        settings = {**op.settings, **{name: value for name, value in OF_FORMS.items() if name in op.settings}}
        plain = function_of(op, op.settings, [isinstance(o, Value) for o in op.args], self.objects)
        open_ = [isinstance(o, Value) or number and is_number(o.value) for o, number in zip(op.args, passes, strict=True)]
        on_forms = cache(lambda: function_of(op, settings, open_, self.objects))
        return Step(
            row, sources, plain, lambda operands: on_forms()(*operands), rule_of(row), passes, [may_be_active(out.type) for out in op.outs]
        )


def read(operand: Operand, env: Environment) -> Pair:
    """The value and form of an operand."""
    return env[operand] if isinstance(operand, Value) else (operand.value, None)


def is_number(value: Any) -> bool:
    """Whether a constant is a number."""
    return isinstance(value, int | float | complex)


def function_of(
    op: Call, settings: Mapping[str, Any], is_open: Sequence[bool], objects: Mapping[str, Any]
) -> Callable[..., tuple[Any, ...]]:
    """One op as a function of its operands that returns the tuple of its results; operands that are not open stay constants."""
    taken = [Value(operand.type) for operand in op.args]
    args = [value if opened else operand for value, operand, opened in zip(taken, op.args, is_open, strict=True)]
    outs = [Value(out.type) for out in op.outs]
    body = Block(taken, [Call(outs, op.loc, op.name, list(args), dict(settings))], list(outs))
    words = [f"operand_{k}" for k in range(len(taken))]
    result = "".join(f"{{{k}}}, " for k in range(len(outs)))
    header = Header("run", ", ".join(words), dict(zip(taken, words, strict=True)), f"({result})", objects=objects)
    tree, names = emit_to_run(Func("run", body), header)
    return load_tree(tree, "run", {**objects, **names})


__all__ = ["Pattern", "pattern_of"]
