"""The pipeline: a function, the types of its arguments and what is asked for -> compiled source.

With ``pipeline``, whose tables it runs, all that knows the order of the stages.
"""

from __future__ import annotations

import inspect
import itertools
import types
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from symgrad.adjoint.account import tell_kept
from symgrad.adjoint.checks import check
from symgrad.adjoint.custom import expanded
from symgrad.adjoint.reverse import gradient
from symgrad.adjoint.reverse import split_pullback as split_halves
from symgrad.codegen.header import Header
from symgrad.codegen.numba import Halves, Kernel, Pair, Surface, emit_kernel, emit_pair
from symgrad.codegen.python import Emitted, emit
from symgrad.errors import InvalidIR, SymgradError
from symgrad.frontend.lower import Lowered, Result, lower
from symgrad.frontend.source import Source, read
from symgrad.ir.core import Func, clone
from symgrad.ir.show import reachable
from symgrad.jit import Pending
from symgrad.location import Loc
from symgrad.loops.lower import to_loops
from symgrad.loops.reach import OutOfReach
from symgrad.notes import Notes
from symgrad.passes.doubts import doubts
from symgrad.passes.refilled import refilled
from symgrad.passes.relations import relations
from symgrad.pipeline.emission import (
    argument_names,
    document,
    emitted_for,
    file_name,
    finish,
    lines_of,
    parameter_text,
    passed_text,
    printed,
    seed_text,
)
from symgrad.pipeline.job import Job, numbered, sequence
from symgrad.pipeline.stages import OPTIMISE, simplify
from symgrad.runtime.load import collector_paused
from symgrad.signature import Compiled, Related, Request, Signature, extent_words

PROGRAM = "__symgrad_program__"  #: attribute of a generated function: what gives its own IR, from which its derivative starts


# ------------------------------------------------------------------ the pipeline


def lowered_for(function: types.FunctionType, signature: Signature, request: Request,
                notes: Notes | None = None) -> tuple[Source, Lowered]:  # fmt: skip
    """Lower a function; one that we wrote is taken from its IR, not read back from its text."""
    own = getattr(function, PROGRAM, None)
    source = read(function if own is None else inspect.unwrap(function))
    if own is not None:
        lowered: Lowered = own()
        for func in reachable(lowered.func):
            func.notes = notes
        return source, lowered
    return source, lower(source, signature, derive=derive_inside, no_grad=request.no_grad, pins=dict(request.pins), notes=notes)


def derive_inside(func: Func, wrt: list[int], value: bool, taken: set[str]) -> Func:
    """The gradient of a function that is differentiated inside another one."""
    func = simplify(func)
    check(func, wrt, [0])
    return simplify(expanded(gradient(func, wrt, value=value, taken=taken, fused=True)))


#: what a stage raises when it meets a program that it was not made for
FAULTS = (AssertionError, LookupError, AttributeError, TypeError, ValueError, RuntimeError, StopIteration)


@collector_paused()
def compile_gradient(function: types.FunctionType, signature: Signature, request: Request, notes: Notes | None = None) -> Compiled:
    """Generate, load and return the derivative of a function for one signature; a fault of ours is refused as such.

    ``notes`` collects what the stages tell of their decisions.
    """
    try:
        return generated(function, signature, request, notes)
    except SymgradError:
        raise
    except FAULTS as fault:
        source = read(inspect.unwrap(function))
        what = f"{source.name} could not be differentiated: {type(fault).__name__} in a stage of symgrad"
        raise InvalidIR(what, source.loc(source.node)) from fault


def generated(function: types.FunctionType, signature: Signature, request: Request, notes: Notes | None = None) -> Compiled:
    """Run the stages."""
    source, lowered = lowered_for(function, signature, request, notes)
    job = Job(source, signature, request, lowered)
    if request.primal:
        return function_itself(job)
    job.check_output()
    job.stage("lowered", lowered.func)
    primal = job.stage("simplified", simplify(lowered.func))
    seek_relations(job, primal)
    active = list(range(job.output.count))
    wrt = job.wanted()
    check(primal, wrt, active)
    job.check_active(primal, wrt, active)
    if request.pullback:
        return pullback(job, primal, wrt, active)
    keep = request.value or request.has_aux
    made = gradient(primal, wrt, active_results=active, value=keep, name=f"{primal.name}_grad", costs=job.costs, fused=True)
    made = job.stage("adjoint", expanded(made))
    count = len(primal.body.yields)
    if keep and not request.value:  # only the auxiliary results are returned
        del made.body.yields[: job.output.count], made.results[: job.output.count]
        count -= job.output.count
    made = job.stage("optimized", doubts(tell_kept(simplify(made, OPTIMISE))))
    places = {k: (count if keep else 0) + n for n, k in enumerate(wrt)}
    order: list[int] = list(range(count)) if request.value else []
    whole = job.gradients(places, order)
    if request.value:
        whole = sequence((lowered.result, whole), "(", ")")
    elif request.has_aux:
        order += range(count)
        whole = sequence((whole, lowered.result.items[1]), "(", ")")
    what = "value_and_grad" if request.value else "grad"
    text = numbered(whole, iter(order))
    own = partial(program, made, [text for _, text in lowered.inputs], whole, lowered, order)
    name = f"{primal.name}_{what}"
    doc = document(job, "Gradient")
    compiled = finish(job, made, lambda job: emitted_for(job, made, name, text, doc), name)
    setattr(compiled.function, PROGRAM, own)
    return jitted(job, compiled, lambda clean, surface: emit_kernel(clean("optimized"), surface), name, text, doc)


def seek_relations(job: Job, func: Func) -> None:
    """Ask for code that relies on how the extents of the arguments are related, where such code knows more shapes."""
    if job.request.read is None:
        return
    words = {symbol: text for text, symbol in extent_words(job.signature).items()}
    pins = tuple((text, 0) for text in relations(func, words) if job.request.read(text) == 0)
    if pins:
        raise Related(pins)


def function_itself(job: Job) -> Compiled:
    """The function as it was read, without a derivative; it leaves its arguments alone."""
    job.stage("lowered", job.lowered.func)
    func = job.stage("simplified", simplify(clone(job.lowered.func)))
    seek_relations(job, func)
    func = job.stage("optimized", simplify(func, OPTIMISE))
    loc = job.source.loc(job.source.node)
    doc = f"The function {job.source.name} itself.  Written by symgrad from {file_name(loc)}:{loc.line}."
    text = numbered(job.lowered.result, itertools.count())
    compiled = finish(job, func, lambda job: emitted_for(job, func, func.name, text, doc), func.name)
    return jitted(job, compiled, lambda clean, surface: emit_kernel(clean("optimized"), surface), func.name, text, doc)


def jitted(job: Job, compiled: Compiled, emission: Callable[[Callable[[str], Func], Surface], Kernel | Pair], name: str, result: str = "",
           doc: str = "") -> Compiled:  # fmt: skip
    """With ``jit``, the same as what is to be compiled by numba when it is first called."""
    if not job.request.jit or job.lowered.caught:
        return compiled

    def clean(stage: str) -> Func:
        func = simplify(to_loops(refilled(clone(job.stages[stage]))), OPTIMISE)
        func.notes = job.stages[stage].notes
        return func

    def texts(job: Job) -> Kernel | Pair:
        words: Mapping[str, str] = {} if job.outside is None else job.outside.words
        leaves = [words.get(text, text) for _, text in job.lowered.inputs]
        return emission(
            clean, Surface(name, parameter_text(job), passed_text(job), doc, leaves, result, job.lowered.objects, lines_of(job))
        )

    compiled = replace(compiled, saved=partial(compiled.saved, kernel=texts) if isinstance(compiled.saved, partial) else None)
    pending = Pending(job.source.function, compiled, partial(texts, job), job.request.jit == "auto")
    if job.lowered.func.notes is not None:
        tell_kernel(job.lowered.func.notes, pending, job.source.loc(job.source.node))
    return replace(compiled, pending=pending)


def tell_kernel(notes: Notes, pending: Pending, loc: Loc) -> None:
    """What is emitted for numba in the place of how NumPy code is lowered and emitted, or what keeps the derivative from being compiled."""
    told = notes.taken("lowering", "codegen")
    made = pending.texts()
    if isinstance(made, OutOfReach):
        notes.made |= dict.fromkeys(told)
        message = f"kernels cannot hold {made.reason}, so the whole derivative runs as NumPy code"
        notes.add("numba", "uncompiled", made.loc or loc, message)


def program(func: Func, texts: list[str], result: Result, lowered: Lowered, order: list[int]) -> Lowered:
    """A function of ours as if it had just been lowered, so that it can be differentiated again."""
    copy = clone(func)
    copy.split = copy.notes = None
    copy.body.yields = [copy.body.yields[k] for k in order]
    copy.results = [copy.results[k] for k in order]
    return Lowered(copy, list(zip(copy.params, texts, strict=True)), result, lowered.captured, dict(lowered.objects), lowered.mutated,
                   lowered.caught, relied=lowered.relied)  # fmt: skip


def pullback(job: Job, primal: Func, wrt: list[int], active: list[int]) -> Compiled:
    """A pair of functions: forward gives the result and a closure over the residuals."""
    name = primal.name
    whole = gradient(primal, wrt, active_results=active, value=True, seeds=True, name=f"{name}_vjp", costs=job.costs)
    whole = job.stage("adjoint", expanded(whole))
    whole = doubts(tell_kept(simplify(whole, OPTIMISE)))
    job.stage("optimized", whole)
    forward, backward = split_halves(whole)
    count = len(primal.body.yields)
    inside = ", ".join(f"{{{k}}}" for k in range(count, len(forward.body.yields)))
    result = numbered(job.lowered.result, itertools.count())
    forward, backward = job.stage("forward", simplify(forward)), job.stage("backward", simplify(backward))
    words = argument_names([v.name for v in backward.params])
    taken = ", ".join(words)
    order: list[int] = []
    gradients = job.gradients({k: n for n, k in enumerate(wrt)}, order)
    header = Header(f"{name}_backward", taken, {}, numbered(gradients, iter(order)),
                    document(job, "Backward half of the pullback"), lines_of(job), objects=job.lowered.objects)  # fmt: skip
    seeds = seed_text(job.output)
    returned = "out, pullback" if not job.request.has_aux else "out[0], pullback, out[1]"
    returns = f"({result}, ({inside}{',' if inside else ''}))"

    def emission(job: Job) -> Emitted:
        last = printed(backward, job)
        second = emit(last, replace(header, bind=dict(zip(last.params, words, strict=True))))
        first = emitted_for(job, forward, f"{name}_forward", returns, document(job, "Forward half of the pullback"))
        text = (
            f"{first.text}\n\n{second.text}\n\n"
            f"def {name}_vjp({parameter_text(job)}):\n"
            f'    """{document(job, "Value and pullback")}"""\n'
            f"    out, residuals = {name}_forward({passed_text(job)})\n\n"
            f"    def pullback(out_grad):\n"
            f"        return {name}_backward(*residuals{seeds})\n\n"
            f"    return {returned}\n"
        )
        return Emitted(text, {**first.namespace, **second.namespace}, first.line_map)

    compiled = finish(job, whole, emission, f"{name}_vjp")
    halves = Halves(
        header.name, result, header.result, [text for text in seeds.split(", ") if text], returned, document(job, "Value and pullback")
    )
    return jitted(job, compiled, lambda clean, surface: emit_pair(clean("forward"), clean("backward"), surface, halves), f"{name}_vjp")


__all__ = ["compile_gradient"]
