"""Compiles a program for given feeds and fetches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from symgrad.ir.core import Block as Body
from symgrad.ir.core import Const, Func, Operand
from symgrad.ir.show import show
from symgrad.record.compiled import Compiled, Jit, available
from symgrad.record.graph import Graph
from symgrad.record.recipe import kind_of_value, type_of
from symgrad.static.program import ABOUT, Apply, Block, Branch, Gradient, Loop, Number, Program, Step
from symgrad.text import is_name

#: the suffix of a name for the value from outside
FIRST = "first"


def reads(step: Step) -> list[str]:
    """The names that a step reads from outside itself."""
    match step:
        case Apply(_, inputs, _):
            return [i for i in inputs if isinstance(i, str)]
        case Gradient(targets, seeds):
            return [*targets, *(s for s in seeds if s is not None)]
        case Branch(test, blocks, yields, _):
            inner = [n for block, outs in zip(blocks, yields, strict=True) for n in free(block, [g for g in outs if isinstance(g, str)])]
            return [test, *inner]
        case Loop(inits, carried, test, body, _):
            inner = [*free(test[0], [test[1]]), *free(body[0], [g for g in body[1] if isinstance(g, str)])]
            return [*(i for i in inits if isinstance(i, str)), *(n for n in inner if n not in carried)]
    raise AssertionError(step)


def writes(step: Step) -> tuple[str, ...]:
    """Return the variables that a step writes."""
    return tuple(step.pairs.values()) if isinstance(step, Gradient) else step.outputs


def free(block: Block, results: Sequence[str]) -> list[str]:
    """The names that a block and its results read from outside the block."""
    own: set[str] = set()
    names: list[str] = []
    for step in block.steps:
        names += [name for name in reads(step) if name not in own]
        own.update(writes(step))
    return [*names, *(name for name in results if name not in own)]


def needed(program: Program, targets: Iterable[str]) -> tuple[list[Step], set[str]]:
    """The steps that some variables depend on, and all that is read on the way."""
    names = set(targets)
    chosen: list[Step] = []
    for step in reversed(program.global_block().steps):
        if names.isdisjoint(writes(step)):
            continue
        chosen.append(step)
        names.update(reads(step))
        if isinstance(step, Gradient):
            names.update(source for source, gradient in step.pairs.items() if gradient in names)
    return chosen[::-1], names


def written(program: Program) -> list[str]:
    """Return the persistable variables that the program writes."""
    variables = program.global_block().vars
    names = [name for step in program.global_block().steps for name in writes(step) if name in variables and variables[name].persistable]
    return list(dict.fromkeys(names))


def build(program: Program, values: Mapping[str, Any], targets: Sequence[str], cuts: Iterable[str] = ()) -> Graph:
    """Build the graph of some variables for sample inputs; ``cuts`` are cut in addition to the cuts of its gradients."""
    steps, names = needed(program, targets)
    stopped = {cut for step in steps if isinstance(step, Gradient) for cut in step.cuts}.union(cuts)
    graph = Graph(labels=stopped - program.global_block().vars.keys())
    for place, (name, value) in enumerate(values.items()):
        if name in names:
            graph.values[FIRST, name] = graph.parameter(name, type_of(kind_of_value(value), place), plain(name))
    replay(graph, steps, names)
    return graph


def at_first(graph: Graph, name: str) -> Any:
    """The key of a variable's value: of a parameter that before any step has changed it."""
    return (FIRST, name) if (FIRST, name) in graph.values else name


def plain(name: str) -> str:
    """A name of a variable as an identifier."""
    identifier = "".join(c if c.isascii() and c.isalnum() else "_" for c in name).strip("_") or "t"
    return identifier if identifier[0].isalpha() and is_name(identifier) else f"t_{identifier}"


def operand(graph: Graph, argument: str | Number) -> Operand:
    """The operand for an input of a step: a constant, or a value of the graph."""
    return Const(argument.value) if isinstance(argument, Number) else graph.values[argument]


def replay(graph: Graph, steps: Iterable[Step], names: set[str]) -> None:
    """Append the steps to a graph."""
    for step in steps:
        match step:
            case Apply(operation, inputs, outputs):
                result = graph.apply(operation, [operand(graph, i) for i in inputs])
                for name, value in zip(outputs, result, strict=True):
                    graph.name(name, value, plain(name))
                graph.label(outputs)
            case Gradient(targets, seeds, cuts, pairs):
                asked = {source: result for source, result in pairs.items() if result in names and source in graph.values}
                for target, seed in zip(targets, seeds, strict=True):
                    if seed is not None:
                        graph.agree(seed, target, f"the target gradient {seed} has another shape than {target}")
                gradients = graph.gradients(targets, [at_first(graph, source) for source in asked], seeds, cuts)
                for (source, name), gradient in zip(asked.items(), gradients, strict=True):
                    graph.values[name] = graph.zeros(source) if gradient is None else gradient
            case Branch(test, blocks, yields, outputs):
                graph.branch(operand(graph, test), outputs, [inner(graph, b, y, names) for b, y in zip(blocks, yields, strict=True)])
                graph.label(outputs)
            case Loop(inits, carried, test, body, outputs):
                graph.loop(
                    [operand(graph, i) for i in inits],
                    carried,
                    inner(graph, test[0], (test[1],), names, carried),
                    inner(graph, body[0], body[1], names, carried),
                    outputs,
                )
                graph.label(outputs)


def inner(graph: Graph, block: Block, yields: Sequence[str | Number], names: set[str], carried: Sequence[str] = ()) -> Any:
    """Return a function that builds one side of a branch or a part of a loop, and returns its yields."""

    def make() -> list[Operand]:
        graph.label(carried)
        replay(graph, block.steps, names | {n for n in yields if isinstance(n, str)})
        return [operand(graph, y) for y in yields]

    return make


def compiled(program: Program, values: Mapping[str, Any], fetched: Sequence[str], updated: Sequence[str], kernel: bool = False) -> Compiled:
    """Compile the function of the fetched values and of the new values of updated variables."""
    graph = build(program, values, [*fetched, *updated])
    return graph.function([graph.values[name] for name in [*fetched, *updated]], "program", (), kernel)


def samples(program: Program) -> dict[str, Any]:
    """Return sample arrays for the feeds; unknown extents are 2."""
    arrays: dict[str, Any] = {}
    results = {name for step in program.global_block().steps for name in writes(step)}
    for name, variable in program.global_block().vars.items():
        if variable.persistable or name not in results:
            arrays[name] = np.empty(tuple(2 if extent == -1 else extent for extent in variable.shape), variable.dtype)
    return arrays


def whole_graph(program: Program) -> Graph:
    """The graph of everything."""
    every = [name for step in program.global_block().steps for name in writes(step)]
    return build(program, samples(program), list(dict.fromkeys(every)))


def shown_ir(program: Program) -> str:
    """The IR of everything."""
    graph = whole_graph(program)
    results = {name: value for name, value in graph.values.items() if name not in graph.params and isinstance(name, str)}
    func = Func("program", Body(graph.block.args, graph.block.ops, list(results.values())), [plain(str(name)) for name in results])
    return show(func)


def printed(program: Program, fetch_list: Sequence[Any] | None, jit: Jit) -> str:
    """Return the Python text that computes fetched and updated values; with ``jit``, the kernel and its caller."""
    every = [name for step in program.global_block().steps for name in writes(step)]
    names = every if fetch_list is None else [f if isinstance(f, str) else f.name for f in fetch_list]
    code = compiled(program, samples(program), list(dict.fromkeys(names)), written(program), bool(available(jit)))
    return code.kernel_text() if jit else code.text


ABOUT["text"] = shown_ir
ABOUT["source"] = printed
