"""A job and its IR -> texts, loaded functions, and modules of their own."""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from keyword import iskeyword
from typing import Any

from symgrad.codegen.header import Header
from symgrad.codegen.numba import Kernel, Pair
from symgrad.codegen.python import Emitted, emit
from symgrad.codegen.saved_kernels import kernel_piece
from symgrad.errors import CaughtException, SaveError
from symgrad.frontend.lower import Result
from symgrad.ir.core import Func, Value, clone
from symgrad.location import Loc
from symgrad.loops.reach import OutOfReach
from symgrad.passes.apart import apart
from symgrad.passes.dce import dce
from symgrad.passes.stacks import stacks
from symgrad.passes.unread import unread
from symgrad.passes.zeroing import zeroing
from symgrad.pipeline.job import Job, numbered
from symgrad.pipeline.stages import LOWER, LOWER_HALVES, simplify
from symgrad.runtime.load import load
from symgrad.saving import module, outside, tested
from symgrad.signature import Compiled

Emission = Callable[[Job], Emitted]


def printed(func: Func, job: Job) -> Func:
    """A copy of a function as it is printed: for ``"speed"`` in the form that NumPy runs fastest, in a file with plain lists as tapes."""
    func = dce(zeroing(dce(unread(clone(func)))))
    if job.outside is not None:
        return apart(stacks(func))
    return simplify(func, LOWER_HALVES if job.request.pullback else LOWER) if job.request.optimize == "speed" else func


def emitted_for(job: Job, func: Func, name: str, result: str, doc: str) -> Emitted:
    """Emit a function that takes the user's own parameters."""
    words: Mapping[str, str] = {} if job.outside is None else job.outside.words
    names = {*job.signature.names, *words.values()}
    func = printed(func, job)
    bind: dict[Value, str] = {}
    for value, (_, expression) in zip(func.params, job.lowered.inputs, strict=False):
        text = words.get(expression, expression)
        bind[value] = text
        if text in names:
            value.name = text
    again = f"{name}_plain({passed_text(job)})"
    return emit(
        func,
        Header(
            name,
            parameter_text(job),
            bind,
            result,
            doc,
            lines_of(job),
            objects=job.lowered.objects,
            fast=job.outside is None and job.request.optimize == "speed",
            again=again,
        ),
    )


def finish(job: Job, func: Func, emission: Emission, name: str) -> Compiled:
    """Load the text and say what it depends on."""
    emitted = emission(job)
    namespace = {**emitted.namespace, **job.lowered.objects, f"{name}_plain": plain_form(job, emission, name)}
    function = load(emitted.text, name, namespace)
    if job.lowered.caught:
        function = refusing(function, job.lowered.caught)
    captured = tuple((c.text, c.abstract) for c in job.lowered.captured)
    return Compiled(function, emitted.text, func, captured, job.lowered.mutated, job.stages, partial(saved, job, emission, name),
                    job.request.pins, job.lowered.objects, partial(readable, job, emission), relied=job.lowered.relied)  # fmt: skip


def plain_form(job: Job, emission: Emission, name: str) -> Callable[..., Any]:
    """The function as it was differentiated, for where Python's numbers raise; made when it is first needed."""

    @functools.cache
    def made() -> Callable[..., Any]:
        emitted = emission(replace(job, request=replace(job.request, optimize="read")))
        return load(emitted.text, name, {**emitted.namespace, **job.lowered.objects})

    def run(*args: Any, **kwargs: Any) -> Any:
        return made()(*args, **kwargs)

    return run


def readable(job: Job, emission: Emission) -> str:
    """The text nearest to the user's statements."""
    return emission(replace(job, request=replace(job.request, optimize="read"))).text


def refusing(function: Callable[..., Any], caught: tuple[tuple[type[BaseException], Loc], ...]) -> Callable[..., Any]:
    """The user's function handles these exceptions; its derivative says that it cannot follow it there."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except tuple(kind for kind, _ in caught) as error:
            loc = next(loc for kind, loc in caught if isinstance(error, kind))
            raise CaughtException(f"{type(error).__name__} was raised where the function handles it: {error}", loc) from error

    return run


def saved(job: Job, emission: Emission, name: str, examples: Sequence[str] | None,
          kernel: Callable[[Job], Kernel | Pair] | None = None) -> str:  # fmt: skip
    """The text of a module of its own; ``kernel`` gives that of the kernels that it is to run where numba is installed."""
    if job.lowered.caught:
        raise SaveError("it handles exceptions, which a saved derivative cannot refuse")
    function, objects = job.source.function, job.lowered.objects
    around = outside(function, [(c.text, c.value.name) for c in job.lowered.captured], objects)
    inner = replace(job, outside=around)
    primal = job.stages["simplified"]
    own = emitted_for(inner, primal, primal.name, numbered(job.lowered.result, itertools.count()), "The function itself.")
    pieces = [mentioned(own, objects), mentioned(emission(inner), objects)]
    piece = None
    if kernel is not None:
        with suppress(OutOfReach):
            piece = kernel_piece(kernel(inner), partial(tested, name=name, signature=job.signature, pins=job.request.pins))
    return module(pieces, name, primal.name, function, job.signature, job.request, examples, piece)


def mentioned(emitted: Emitted, objects: Mapping[str, Any]) -> Emitted:
    """The text with those of the user's objects that it names."""
    names = {node.id for node in ast.walk(ast.parse(emitted.text)) if isinstance(node, ast.Name)}
    return Emitted(emitted.text, {n: v for n, v in {**emitted.namespace, **objects}.items() if n in names}, emitted.line_map)


# ------------------------------------------------------------------ words


def argument_names(hints: list[str | None]) -> list[str]:
    made: list[str] = []
    for hint in hints:
        base = "".join(c if f"t{c}".isidentifier() else "_" for c in hint or "t")
        base = word = base if base.isidentifier() and not iskeyword(base) else f"t_{base}"
        number = 0
        while word in made or word in ("np", "math"):
            number += 1
            word = f"{base}_{number}"
        made.append(word)
    return made


def seed_text(output: Result, path: str = "out_grad") -> str:
    """The seeds handed to the backward half: parts of ``out_grad`` in the structure of the output."""
    if not output.items:
        return f", {path}" if output.count else ""
    return "".join(seed_text(item, f"{path}[{k}]") for k, item in enumerate(output.items))


def document(job: Job, what: str) -> str:
    where = job.source.loc(job.source.node)
    wrt = ", ".join(job.request.wrt)
    return f"{what} of {job.source.name} with respect to {wrt}.  Written by symgrad from {file_name(where)}:{where.line}."


def file_name(where: Loc) -> str:
    """The name of a file, safe inside a docstring."""
    file = where.file.replace("\\", "/").rsplit("/", 1)[-1]
    return "".join(c for c in file if c.isalnum() or c in "._- <>")


def lines_of(job: Job) -> Callable[[str, int], str]:
    import linecache

    def line(file: str, number: int) -> str:
        if file == job.source.file:
            return job.source.line(number)
        return linecache.getline(file, number).rstrip("\n")

    return line


STARS: dict[Any, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


def parameter_text(job: Job) -> str:
    """The user's own parameters; defaults are read from the user's function by the guard."""
    if job.outside is not None:
        return job.outside.signature
    parts, star = [], False
    for p in inspect.signature(job.source.function, follow_wrapped=False).parameters.values():
        if p.kind is p.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        if p.kind is p.VAR_POSITIONAL:
            star = True
        parts.append(f"{STARS.get(p.kind, '')}{p.name}")
        if p.kind is p.POSITIONAL_ONLY:
            rest = [q for q in inspect.signature(job.source.function).parameters.values() if q.kind is q.POSITIONAL_ONLY]
            if p.name == rest[-1].name:
                parts.append("/")
    return ", ".join(parts)


def passed_text(job: Job) -> str:
    """The same parameters, handed on."""
    if job.outside is not None:
        return job.outside.passed
    parts = []
    for p in inspect.signature(job.source.function, follow_wrapped=False).parameters.values():
        parts.append(f"{p.name}={p.name}" if p.kind is p.KEYWORD_ONLY else f"{STARS.get(p.kind, '')}{p.name}")
    return ", ".join(parts)
