"""The directional derivative: a job -> the function that computes value and tangent, and its wrapper for the user's arguments."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from dataclasses import replace

from symgrad.adjoint.reversals.custom import expanded
from symgrad.codegen.numba import Surface, emit_kernel
from symgrad.codegen.python import emit
from symgrad.codegen.texts import Emitted, Kernel
from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.containers.results import BY_KEYS, Result, in_template
from symgrad.ir.core import Func, clone
from symgrad.ir.verify import verify
from symgrad.paths import belongs, in_parts
from symgrad.pipeline.emission import argument_names, header_for, printed
from symgrad.pipeline.job import Job, carries, document, numbered, parameter_text, passed_text
from symgrad.pipeline.kernel_texts import crossing_lists
from symgrad.pipeline.registry import OPTIMISE, READABLE
from symgrad.pipeline.runner import run, timed
from symgrad.runtime.support import tangent_of
from symgrad.tangent.write import push_forward
from symgrad.text import docstring, is_name, literal, respelled


def written(job: Job, primal: Func, wrt: list[int], active: list[int], name: str) -> Func:
    """The IR of value and tangent."""
    with timed(primal.notes, "differentiate", "push_forward"):
        func = push_forward(primal, wrt, active, name)
        func.guarded = frozenset()
        func = job.stage("adjoint", expanded(func))
    if job.request.optimize != "read":
        return job.stage("optimized", run(OPTIMISE, func))
    verify(func)
    func = job.stage("optimized", run(READABLE, func))
    verify(func)
    return func


def active_results(job: Job, primal: Func) -> list[int]:
    """The differentiated results that can have a tangent."""
    return [k for k in range(job.output.count) if carries(primal.body.yields[k].type)]


def result_text(job: Job, active: list[int], count: int) -> str:
    """The template of the returned value: the value, the tangent in its structure with None for other leaves, and auxiliary results."""
    if is_by_keys(job.output):
        what = "the tangent of a dict whose keys are not known at compile time is requested"
        raise UnsupportedSyntax(what, job.result_loc(), "return its keys and its items, as list(d) and list(d.values())")
    places = iter([f"{{{count + active.index(k)}}}" if k in active else "None" for k in range(job.output.count)])
    tangent = tangent_text(job.output, places)
    value = numbered(job.lowered.result, itertools.count())
    if not job.request.has_aux:
        return f"({value}, {tangent})"
    first = numbered(job.output, itertools.count())
    second = numbered(job.lowered.result.items[1], itertools.count(job.output.count))
    return f"({first}, {tangent}, {second})"


def is_by_keys(output: Result) -> bool:
    """Whether a dict in a result has computed keys."""
    return output.how == BY_KEYS or any(map(is_by_keys, output.items))


def tangent_text(output: Result, places: Iterator[str]) -> str:
    """The template of a tangent: that of the result, with other leaves, and None in place of everything but numbers.

    >>> tangent_text(Result("{{'a': {}, 'n': 'text'}}", 1), iter(["{3}"]))
    "{{'a': {3}, 'n': None}}"
    """
    leaves: list[str] = []

    def leaf(match: re.Match[str]) -> str:
        if match[0] == "{}":
            leaves.append(f"__leaf_{len(leaves)}__")
            return leaves[-1]
        return match[0][0]

    tree = ast.parse(re.sub(r"\{\{|\}\}|\{\}", leaf, output.text), mode="eval").body
    text = in_template(ast.unparse(without_others(tree, leaves)))
    for name, place in zip(leaves, list(places), strict=True):
        text = text.replace(name, place)
    return text


def without_others(tree: ast.expr, leaves: list[str]) -> ast.expr:
    """An expression with None in place of everything but leaves and containers."""
    match tree:
        case ast.Tuple(elts=items) | ast.List(elts=items):
            tree.elts = [without_others(item, leaves) for item in items]
        case ast.Dict(values=items):
            tree.values = [without_others(item, leaves) for item in items]
        case ast.Call(keywords=keywords):
            for word in keywords:
                word.value = without_others(word.value, leaves)
        case ast.Constant():
            return ast.Constant(None)
        case ast.Name(id=name) if name not in leaves:
            return ast.Constant(None)
    return tree


def keyword_only(signature: str, words: list[str]) -> str:
    """The text between the parentheses with additional keyword-only parameters."""
    tree = ast.parse(f"def f({signature}): pass").body[0]
    assert isinstance(tree, ast.FunctionDef)
    tree.args.kwonlyargs += [ast.arg(word) for word in words]
    tree.args.kw_defaults += [None] * len(words)
    return ast.unparse(tree.args)


def passed_by_name(passed: str, texts: list[str]) -> str:
    """The arguments of a call with additional keyword arguments, placed before ``**``."""
    call = ast.parse(f"f({passed})", mode="eval").body
    assert isinstance(call, ast.Call)
    last = [k for k in call.keywords if k.arg is None]
    named = [k for k in call.keywords if k.arg is not None]
    return ", ".join(
        [
            *map(ast.unparse, [*call.args]),
            *(f"{k.arg}={ast.unparse(k.value)}" for k in named),
            *texts,
            *(f"**{ast.unparse(k.value)}" for k in last),
        ]
    )


def tangent_words(job: Job, wrt: list[int]) -> list[str]:
    """An unused name for each tangent."""
    taken = [*job.signature.names, *job.lowered.objects, "tangents", "along", "tangent_of"]
    hints = [f"{job.lowered.func.params[k].name or 't'}_tangent" for k in wrt]
    return argument_names([*taken, *hints])[len(taken) :]


def tangent_reads(job: Job, wrt: list[int]) -> list[str]:
    """The expressions that read each tangent from ``tangents``, which holds all of them by name."""
    outside = {} if job.outside is None else job.outside.words
    converted = dict(job.signature.converted)
    reads = []
    for k in wrt:
        path = job.lowered.inputs[k][1]
        read = respelled(path, lambda root: f"tangents[{literal(root)}]")
        if (part := next((asked for asked in job.request.wrt if not is_name(asked) and belongs(path, asked)), None)) is not None:
            read = in_parts(path, part, "tangents")
        value = outside.get(path, path) + converted.get(path, "")
        reads.append(f"tangent_of(tangents, lambda tangents: {read}, {value}, {literal(path)})")
    return reads


def handing(job: Job, name: str, sweep: str, wrt: list[int], words: list[str]) -> str:
    """The text of the function that takes the arguments and returns the function of their tangents."""
    lines = [f"{word}={read}" for word, read in zip(words, tangent_reads(job, wrt), strict=True)]
    passed = passed_by_name(passed_text(job), ["@"]).split("@")
    inside = ",\n            ".join(lines)
    gap = "\n            " if passed[0].strip() else ""
    return (
        f"def {name}({parameter_text(job)}):\n"
        f"    {docstring(document(job, 'Value and tangent, as a function of the tangents by name,'))}\n\n"
        f"    def along(tangents):\n"
        f"        return {sweep}(\n            {passed[0].strip()}{gap}{inside}{passed[1]}\n        )\n\n"
        f"    return along\n"
    )


def kernel(job: Job, surface: Surface, sweep: str, text: str, wrt: list[int], words: list[str]) -> Kernel:
    """The kernel of value and tangent, and the function that returns it."""
    from symgrad.pipeline.lowering import to_loops  # a third of all stages, not needed for NumPy code

    program = clone(job.stages["optimized"])
    results, lists = crossing_lists(program.body.yields), crossing_lists(program.params)
    first = len(program.params) - len(words)
    func = to_loops(program)
    func.notes = program.notes
    name = surface.name
    inner = replace(
        surface,
        name=sweep,
        signature=keyword_only(surface.signature, words),
        passed=passed_by_name(surface.passed, [f"{word}={word}" for word in words]),
        leaves=[*surface.leaves[:first], *words],
        result=text,
    ).with_lists(lists, results)
    with timed(func.notes, "print", "emit"):
        kernel = emit_kernel(func, inner)
    kernel.stem, kernel.behind = name, sweep
    kernel.tangents = tuple(text for k, word in enumerate(words, first) for text in inner.passed_for(k, word))
    kernel.caller = f"{kernel.caller}\n\n{handing(job, name, sweep, wrt, words)}"
    kernel.namespace["tangent_of"] = tangent_of
    return kernel


def emission(job: Job, func: Func, sweep: str, name: str, text: str, wrt: list[int], words: list[str]) -> Emitted:
    """The NumPy code: the sweep, and the function that returns it."""
    copy = printed(func, job)
    header = header_for(job, copy, sweep, text, document(job, "Value and tangent"))
    tangents = copy.params[len(copy.params) - len(words) :]
    bind = {**header.bind, **dict(zip(tangents, words, strict=True))}
    header = replace(header, signature=keyword_only(header.signature, words), bind=bind)
    first = emit(copy, header)
    second = handing(job, name, sweep, wrt, words)
    return Emitted(f"{first.text}\n\n{second}", {**first.namespace, "tangent_of": tangent_of}, first.line_map)


__all__ = ["active_results", "emission", "kernel", "result_text", "tangent_reads", "tangent_text", "tangent_words", "written"]
