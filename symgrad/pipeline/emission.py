"""A job and its IR -> texts, and saved modules."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from symgrad.adjoint.saving.recomputed_calls import unmarked
from symgrad.codegen.header import Header
from symgrad.codegen.python import emit, emit_to_run
from symgrad.codegen.saved_kernels import kernel_piece
from symgrad.codegen.texts import Emitted, Kernel, Pair, Seed
from symgrad.errors import SaveError, UnsupportedSyntax
from symgrad.frontend.containers.results import BY_KEYS, OWNER, Result
from symgrad.ir.core import Const, Func, Value, clone, holds_complex, walk
from symgrad.ir.types import Array, Scalar, Type, is_complex
from symgrad.loops.reach import OutOfReach
from symgrad.ops.analysis.contents import holds_any
from symgrad.ops.rows.engine import is_surely_array
from symgrad.pipeline.job import TAKEN, Job, carries, lines_of, numbered, parameter_text, passed_text
from symgrad.pipeline.registry import FILED, LOWER, LOWER_HALVES, OPTIMISE, PRINTABLE, READABLE, SIMPLIFY
from symgrad.pipeline.runner import Stage, run, timed
from symgrad.saving import module, outside, tested
from symgrad.text import identifier, literal, respelled

#: NumPy's names of the dtypes narrower than Python's numbers
NARROW = {"f16": "float16", "f32": "float32", "c64": "complex64"}

Emission = Callable[[Job], Emitted]


def printed(func: Func, job: Job) -> Func:
    """A copy of a function for printing: for ``"speed"`` in NumPy's fastest form; in a file with plain lists as tapes.

    Functions with complex numbers keep their form: those passes are for real numbers only.
    """
    return in_form(clone(func), job, LOWER if job.request.guarded else LOWER_HALVES)


def in_form(func: Func, job: Job, lower: Stage) -> Func:
    """The function in its printed form, with the functions that it passes to solvers."""
    func = run(PRINTABLE, func)
    if job.outside is not None:
        func = run(FILED, func)
    elif job.request.optimize == "speed" and not holds_complex(func):
        func = run(lower, func)
    forms: dict[Func, Const] = {}
    for op in walk(func.body):
        if handed := [a.value for a in op.operands if isinstance(a, Const) and isinstance(a.value, Func)]:
            for one in handed:
                if one not in forms:
                    whole = run(READABLE if job.request.optimize == "read" else OPTIMISE, run(SIMPLIFY, clone(one)))
                    forms[one] = Const(in_form(whole, job, LOWER_HALVES), one.name)  # no other form is available if it raises
            op.replace_operands([forms[a.value] if isinstance(a, Const) and a.value in handed else a for a in op.operands])
    return func


def emitted_for(job: Job, func: Func, name: str, result: str, doc: str) -> Emitted:
    """Emit a function that takes the user's own parameters."""
    func = printed(func, job)
    fast = job.outside is None and job.request.optimize == "speed" and not holds_complex(func)
    with timed(func.notes, "print", "emit"):
        is_read = job.outside is None and job.request.optimize == "read"
        return emit(func, replace(header_for(job, func, name, result, doc), fast=fast, is_read=is_read))


def run_once(job: Job, func: Func, name: str, result: str) -> tuple[ast.Module, dict[str, Any]]:
    """A function that takes the user's own parameters, as it is, to be run and not to be read."""
    func = clone(func)
    if holds_any(func, "checkpoints", "calls"):
        func = unmarked(func)
    return emit_to_run(func, header_for(job, func, name, result, ""))


def header_for(job: Job, func: Func, name: str, result: str, doc: str) -> Header:
    """The interface of a function of the user's own parameters, which name the parameters of ``func``."""
    words: Mapping[str, str] = {} if job.outside is None else job.outside.words
    names = {*job.signature.names, *words.values()}
    bind: dict[Value, str] = {}
    converted = dict(job.signature.converted)
    for value, (_, expression) in zip(func.params, job.lowered.inputs, strict=False):
        text = words.get(expression, expression) + converted.get(expression, "")
        bind[value] = text
        if text in names:
            value.name = text
    again = f"{name}_plain({passed_text(job)})"
    return Header(name, parameter_text(job), bind, result, doc, lines_of(job), objects=job.lowered.objects, again=again, beside=job.defined)


def saved(
    job: Job, emission: Emission, name: str, examples: Sequence[str] | None, kernel: Callable[[Job], Kernel | Pair] | None = None
) -> str:
    """The text of a saved module; ``kernel`` returns the texts of the kernels that run where numba is installed."""
    if job.lowered.caught:
        raise SaveError("it handles exceptions, which a saved derivative cannot refuse")
    function, objects = job.source.function, job.lowered.objects
    around = outside(function, [(c.text, c.value.name) for c in job.lowered.captured], objects)
    inner = replace(job, outside=around)
    primal = job.stages["simplified"]
    own_name = primal.name if primal.name not in TAKEN else f"{primal.name}_function"
    own = emitted_for(inner, primal, own_name, numbered(job.lowered.result, itertools.count()), "The function itself.")
    identities = job.lowered.identities
    inner.defined = own.defined
    pieces = [mentioned(own, objects), mentioned(emission(inner), objects)]
    piece = None
    if kernel is not None:
        with suppress(OutOfReach):
            of_arguments = partial(tested, name=name, signature=job.signature, pins=job.request.pins, identities=identities)
            piece = kernel_piece(kernel(inner), of_arguments)
    return module(pieces, name, own_name, function, job.signature, job.request, examples, piece, identities)


def mentioned(emitted: Emitted, objects: Mapping[str, Any]) -> Emitted:
    """The text with the user's objects that it mentions."""
    names = {node.id for node in ast.walk(ast.parse(emitted.text)) if isinstance(node, ast.Name)}
    return Emitted(emitted.text, {n: v for n, v in {**emitted.namespace, **objects}.items() if n in names}, emitted.line_map)


# ------------------------------------------------------------------ words


def argument_names(hints: list[str | None], taken: Container[str] = ()) -> list[str]:
    """A distinct name for each parameter, outside ``taken``."""
    names: dict[str, None] = {}
    numbers: dict[str, int] = {}
    for hint in hints:
        base = word = identifier(hint or "t")
        while word in names or word in taken or word in ("np", "math"):
            numbers[base] = numbers.get(base, 0) + 1
            word = f"{base}_{numbers[base]}"
        names[word] = None
    return list(names)


def seed_places(output: Result, path: str) -> list[tuple[str, Result]]:
    """The leaves of the output, each with its path in an object of the same structure that ``path`` reads."""
    if not output.items:
        return [(path, output)] * output.count
    if output.how == BY_KEYS:
        what = "the pullback of a dict whose keys are not known at compile time is requested"
        raise UnsupportedSyntax(what, None, "return its keys and its items, as list(d) and list(d.values())")
    how = output.how or [f"{OWNER}[{place}]" for place in range(len(output.items))]
    return [place for step, item in zip(how, output.items, strict=True) for place in seed_places(item, under(path, step))]


def seed_checks(output: Result, path: str, name: str) -> list[str]:
    """The lines that check the seeds of a pullback, read by ``path``, against the structure of the result, called ``name``."""
    if not output.items:
        return []
    how = output.how or tuple(f"{OWNER}[{place}]" for place in range(len(output.items)))
    keys = [key_of(step) for step in output.how]
    lines = [] if output.how else [f"check_items({path}, {len(output.items)}, {literal(name)})"]
    if keys and None not in keys:
        lines.append(f"check_keys({path}, ({', '.join(filter(None, keys))},), {literal(name)})")
    for step, item in zip(how, output.items, strict=True):
        lines += seed_checks(item, under(path, step), under(name, step))
    return lines


def under(path: str, step: str) -> str:
    """The path of an item, given the path of its container."""
    return respelled(step, lambda word: path if word == OWNER else word)


def key_of(step: str) -> str | None:
    """The text of the key by which a step reads an item of a dict; None for an attribute."""
    match ast.parse(step, mode="eval").body:
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant() as key) if name == OWNER:
            return ast.unparse(key)
    return None


def seeds_of(output: Result, types: list[Type], out: str) -> list[Seed]:
    """The seeds of a pullback, in order; ``out`` is the returned value, ``types`` are those of its leaves."""
    seeds: list[Seed] = []
    for (text, leaf), (result, _), type_ in zip(seed_places(output, "out_grad"), seed_places(output, out), types, strict=True):
        text = text if leaf.text == "{}" else f"list_seed({text})"
        fits = isinstance(type_, Array | Scalar) and carries(type_)
        shape = f"shape_{len(seeds)}" if fits and isinstance(type_, Array) else None
        unknown = shape is not None and getattr(type_, "dtype", None) is None
        narrow = NARROW.get(getattr(type_, "dtype", None) or "")
        dtype = f"dtype_{len(seeds)}" if unknown else None if narrow is None else repr(narrow)
        seeds.append(Seed(text, result, shape, fits, is_complex(type_), dtype, unknown, shape is None or is_surely_array(type_)))
    return seeds
