"""The derivative as a linear map: a job -> a function that returns value and residuals, and the linear function of tangents.

The linear function is the transposed backward half of the pullback. That half is linear in the seeds, so its
own reverse by the seeds maps tangents of arguments to those of results, and reads only residuals.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

from symgrad.adjoint.calling import with_sensitivities
from symgrad.adjoint.pullback import split_pullback
from symgrad.adjoint.reversals.custom import expanded
from symgrad.adjoint.reverse import gradient
from symgrad.adjoint.saving.costs import Costs
from symgrad.codegen.header import Header
from symgrad.codegen.numba import Surface
from symgrad.codegen.pairs import Halves, emit_pair
from symgrad.codegen.python import emit
from symgrad.codegen.texts import Emitted, Pair, Seed
from symgrad.ir.core import Block, Func, clone, definitions, substitute, uses
from symgrad.ir.types import Array, Scalar, is_complex
from symgrad.pipeline.along import tangent_reads, tangent_text
from symgrad.pipeline.emission import NARROW, argument_names, emitted_for, printed, seed_places
from symgrad.pipeline.job import Job, document, lines_of, numbered, parameter_text, passed_text
from symgrad.pipeline.kernel_texts import gradients_only, halves_of
from symgrad.pipeline.registry import OPTIMISE, SIMPLIFY
from symgrad.pipeline.runner import run, timed
from symgrad.runtime.support import tangent_of
from symgrad.tangent.half import linear_half
from symgrad.tangent.write import phases_checked
from symgrad.text import docstring


@dataclass(frozen=True, slots=True)
class Linear:
    """The two functions: ``first`` returns ``own`` results and residuals; ``second`` takes residuals, zeros for ``zeros``, and tangents."""

    first: Func
    second: Func
    own: int
    active: list[int]
    zeros: list[int]


def linear(job: Job, primal: Func, wrt: list[int], active: list[int], name: str, costs: Costs) -> Linear:
    """The IR of both functions."""
    own = len(primal.body.yields)
    with timed(primal.notes, "differentiate", "gradient"):
        checked = phases_checked(primal, wrt, active)
        whole = gradient(with_sensitivities(checked), wrt, active_results=active, value=True, seeds=True, name=name, costs=costs)
        whole = run(OPTIMISE, job.stage("adjoint", expanded(whole)))
        job.stage("optimized", whole)
        first, back = split_pullback(whole, own, len(active))
        first, back = job.stage("forward", run(SIMPLIFY, first)), run(SIMPLIFY, back)
        seeds = range(len(back.params) - len(active), len(back.params))
        second = transposed(back, list(seeds), len(wrt), f"{name}_linear", costs)
    read = uses(second.body)
    zeros = [active[k] for k, place in enumerate(seeds) if second.params[place] in read]
    unread = {second.params[place] for k, place in enumerate(seeds) if active[k] not in zeros}
    second.body.args = [param for param in second.params if param not in unread]
    return Linear(first, job.stage("backward", second), own, active, zeros)


def transposed(back: Func, seeds: list[int], gradients: int, name: str, costs: Costs) -> Func:
    """The reverse of a backward half with respect to its seeds, with names of tangents."""
    func = run(OPTIMISE, linear_half(back, seeds, gradients, name, costs, "use jvp, which computes value and tangent together"))
    for value in definitions(func.body):
        value.name = None if value.name is None else as_tangent(value.name)
    func.results = list(map(as_tangent, func.results))
    return func


def as_tangent(name: str) -> str:
    """The name of a cotangent's cotangent, which is a tangent.

    >>> as_tangent("out_grad_grad"), as_tangent("x")
    ('out_tangent', 'x')
    """
    return f"{name.removesuffix('_grad').removesuffix('_grad')}_tangent" if name.endswith("_grad") else name


def combined(parts: Linear) -> Func:
    """Both functions as one, in the form of a gradient with seeds: the tangents are the seeds."""
    first, second = clone(parts.first), clone(parts.second)
    residuals = first.body.yields[parts.own :]
    operands = [*residuals, *(first.body.yields[k] for k in parts.zeros)]
    tangents = second.params[len(operands) :]
    rest = Block([], second.body.ops, second.body.yields)
    substitute(rest, dict(zip(second.params, operands, strict=False)))
    body = Block([*first.params, *tangents], [*first.body.ops, *rest.ops], [*first.body.yields[: parts.own], *rest.yields])
    results = [*first.results[: parts.own], *second.results]
    return Func(second.name, body, results, first.loc, len(first.body.ops), notes=first.notes)


def seeds_of_tangents(job: Job, wrt: list[int]) -> list[Seed]:
    """The linear function's arguments as seeds: a tangent for each argument; raises OutOfReach for lists."""
    from symgrad.loops.reach import OutOfReach  # of the stages for kernels

    outside, converted = {} if job.outside is None else job.outside.words, dict(job.signature.converted)
    seeds: list[Seed] = []
    for k, read in zip(wrt, tangent_reads(job, wrt), strict=True):
        value, path = job.lowered.inputs[k]
        if not isinstance(value.type, Array | Scalar):
            raise OutOfReach("the tangent of a list")
        shape = f"shape_{len(seeds)}" if isinstance(value.type, Array) else None
        narrow = NARROW.get(getattr(value.type, "dtype", None) or "")
        dtype = None if narrow is None or shape is None else repr(narrow)
        seeds.append(Seed(read, outside.get(path, path) + converted.get(path, ""), shape, True, is_complex(value.type), dtype))
    return seeds


def kernels(job: Job, surface: Surface, parts: Linear, wrt: list[int]) -> Pair:
    """The kernels of both functions, and the function that returns the second."""
    seeds, whole = seeds_of_tangents(job, wrt), combined(parts)
    places = iter([f"{{{parts.active.index(k)}}}" if k in parts.active else "None" for k in range(job.output.count)])
    tangent = tangent_text(job.output, places)
    out = numbered(job.lowered.result, itertools.count())
    returned = "out[0], linear, out[1]" if job.request.has_aux else "out, linear"
    doc = document(job, "Value, and tangent as a function of the tangents by name,")
    halves = Halves(*halves_of(whole, parts.own, len(seeds)), out, tangent, seeds, returned, doc, "linear", "tangents")
    header = Header(f"{surface.name}_again", "", {}, tangent, "", lines_of(job), objects=job.lowered.objects)
    return emit_pair(surface, halves, gradients_only(job, whole, parts.own, header))


def emission(job: Job, parts: Linear, name: str, wrt: list[int]) -> Emitted:
    """The NumPy code: the value, the linear function, and the function that returns both."""
    inside = ", ".join(f"{{{k}}}" for k in range(parts.own, len(parts.first.body.yields)))
    value = numbered(job.lowered.result, itertools.count())
    first = emitted_for(
        job, parts.first, f"{name}_value", f"({value}, ({inside}{',' if inside else ''}))", document(job, "Value and residuals")
    )
    last = printed(parts.second, job)
    words = argument_names([v.name for v in last.params], job.lowered.objects)
    places = iter([f"{{{parts.active.index(k)}}}" if k in parts.active else "None" for k in range(job.output.count)])
    header = Header(
        f"{name}_linear",
        ", ".join(words),
        {},
        tangent_text(job.output, places),
        document(job, "Tangent"),
        lines_of(job),
        objects=job.lowered.objects,
    )
    beside = job.defined | first.defined
    second = emit(last, replace(header, bind=dict(zip(last.params, words, strict=True)), beside=beside))
    out = "out[0]" if job.request.has_aux else "out"
    results = [path for path, _ in seed_places(job.output, out)]
    zeros = [f"tangent_of(None, None, {results[k]}, 'out')" for k in parts.zeros]
    lines = [f"    zeros = ({', '.join(zeros)},)\n"] if zeros else []
    passed = [*(["*zeros"] if zeros else []), *tangent_reads(job, wrt)]
    returned = "out[0], linear, out[1]" if job.request.has_aux else "out, linear"
    read = ",\n            ".join(["*residuals", *passed])
    text = (
        f"{first.text}\n\n{second.text}\n\n"
        f"def {name}({parameter_text(job)}):\n"
        f"    {docstring(document(job, 'Value, and tangent as a function of the tangents by name,'))}\n"
        f"    out, residuals = {name}_value({passed_text(job)})\n{''.join(lines)}\n"
        f"    def linear(tangents):\n"
        f"        return {name}_linear(\n            {read}\n        )\n\n"
        f"    return {returned}\n"
    )
    return Emitted(text, {**first.namespace, **second.namespace, "tangent_of": tangent_of}, first.line_map)


__all__ = ["Linear", "emission", "linear"]
