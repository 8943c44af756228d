"""Compiles one derivative: a function, an abstract signature and a request -> loaded source.

This module and ``pipeline``, which it runs, define the order of the stages.
"""

from __future__ import annotations

import inspect
import os
import types
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from symgrad.codegen.texts import Emitted
from symgrad.errors import InvalidIR, SymgradError, UnsupportedSyntax, anew
from symgrad.frontend.containers.results import Lowered
from symgrad.frontend.lower import lower
from symgrad.frontend.text.source import Source, read
from symgrad.ir.core import reachable
from symgrad.jit import Pending
from symgrad.loops.reach import OutOfReach
from symgrad.notes import Notes
from symgrad.paths import arrays_of_objects, by_items
from symgrad.pipeline.job import Job
from symgrad.pipeline.loading import Later, loaded
from symgrad.pipeline.readings import Reading, Readings
from symgrad.pipeline.runner import import_passes, timed
from symgrad.pipeline.shelf import Found, Shelf, shelf_of
from symgrad.pipeline.target import Target, Texts
from symgrad.runtime.cache import family_of, texts_kept
from symgrad.runtime.load import collector_paused, deep_calls, imported
from symgrad.signature import Comparable, Compiled, Related, Request, Signature
from symgrad.targets import target_of
from symgrad.verification.duplicate import dtypes_of, is_custom, is_cut, stores, why_once

PROGRAM = "__symgrad_program__"  #: the attribute of a generated function that returns its IR, from which its derivative starts


def lowered_for(
    function: types.FunctionType, signature: Signature, request: Request, notes: Notes | None = None, readings: Readings | None = None
) -> tuple[Source, Lowered, Reading | None]:
    """Lower a function. A generated function supplies its own IR; a function that was read before is taken from ``readings``.

    Raises Related where code for a related signature serves better.
    """
    own = getattr(function, PROGRAM, None)
    source = read(function if own is None else inspect.unwrap(function))
    if own is not None:
        lowered: Lowered = own()
        for func in reachable(lowered.func):
            func.notes = notes
        return source, lowered, None
    asked = signature, request.pins, request.no_grad, arrays_of_objects(signature, request.wrt)
    known = None if readings is None or notes is not None else readings.get(asked)
    if isinstance(known, SymgradError):
        raise anew(known)
    if known is not None and (pins := known.better(request.read)):
        raise Related(pins)
    if known is not None and (again := known.again()) is not None:
        return source, again, known
    try:
        with timed(notes, "read", "lower"):
            lowered = lower(
                source,
                signature,
                derive=derive_inside,
                varied=varied_values,
                no_grad=request.no_grad,
                wrt=request.wrt,
                pins=dict(request.pins),
                notes=notes,
            )
    except SymgradError as refusal:
        if readings is not None:
            readings[asked] = anew(refusal)
        raise
    if readings is None or notes is not None:
        return source, lowered, None
    reading = readings[asked] = Reading(dict(lowered.objects))
    return source, lowered, reading


def import_stages(function: types.FunctionType, jit: bool | str) -> None:
    """Import the stages when a derivative is requested, so that its first call spends no time on imports.

    Skipped where the disk cache holds texts of this function. numba is imported only when it is needed.
    """
    if jit and texts_kept(family_of(function)):
        return
    imported("symgrad.pipeline.derivation")
    import_passes(imported("symgrad.pipeline.registry").PIPELINES["numpy"])
    if jit and (target := target_of(jit)) is not None:
        target.warm()


def derive_inside(*args: Any) -> Any:
    """Derive a function that is differentiated inside another one."""
    from symgrad.pipeline.derivation import derivative_inside

    return derivative_inside(*args)


def varied_values(*args: Any) -> Any:
    """Return which values may carry a derivative, for questions that arise while a function is read."""
    from symgrad.adjoint.analysis import activity

    return activity.varied_values(*args)


#: exceptions of a stage that meets an unexpected program
FAULTS = (AssertionError, LookupError, AttributeError, TypeError, ValueError, RuntimeError, StopIteration)


@collector_paused()
def compile_gradient(
    function: types.FunctionType, signature: Signature, request: Request, notes: Notes | None = None, readings: Readings | None = None
) -> Compiled:
    """Generate, load and return the derivative of a function for one signature; raise InvalidIR for a defect of symgrad.

    ``notes`` collects the remarks of the stages, ``readings`` the lowered function.
    """
    try:
        with deep_calls():
            return generated(function, signature, request, notes, readings)
    except SymgradError:
        raise
    except (RecursionError, SyntaxError) as fault:  # Python limits the text that it compiles
        source = read(inspect.unwrap(function))
        if isinstance(fault, SyntaxError) and not fault.msg.startswith("too many"):
            raise InvalidIR(f"the code generated for {source.name} is not valid Python", source.loc(source.node)) from fault
        what = f"{source.name} is nested too deeply to be compiled"
        raise UnsupportedSyntax(what, source.loc(source.node), "iterate over its data in loops, or split the function") from None
    except FAULTS as fault:
        source = read(inspect.unwrap(function))
        what = f"{source.name} could not be differentiated: {type(fault).__name__} in a stage of symgrad"
        raise InvalidIR(what, source.loc(source.node)) from fault


def generated(
    function: types.FunctionType, signature: Signature, request: Request, notes: Notes | None, readings: Readings | None
) -> Compiled:
    """Read the function, run the stages, and load the code that they emit."""
    if not (request.forward or request.linear):
        request = replace(request, wrt=tuple(by_items(signature, name) for name in request.wrt))
    source, lowered, reading = lowered_for(function, signature, request, notes, readings)
    target = target_of(request.jit) if request.jit else None
    job = Job(source, signature, replace(request, read=None), lowered, order=1 + hasattr(function, PROGRAM), reading=reading, target=target)
    shelf = shelf_of(job, request.read is not None) if target is not None and target.kept and notes is None else None
    comparable = None if hasattr(function, PROGRAM) and not request.along else comparable_of(job, shelf)
    code = None if shelf is None else shelf.numpy(request.read)
    later = Later(partial(derived, job, request.read if code is None else None))
    if job.order == 1 and not (request.primal or request.pullback or request.linear):
        later.reading = partial(text_to_read, job)
    if comparable is not None and not request.along:
        comparable = replace(comparable, primal=later.primal)
    if code is None:
        code = made_now(job, later, shelf)
    compiled = loaded(job, code.emitted, code.name, later, comparable)
    if code.again:
        setattr(compiled.function, PROGRAM, later.program)
    if target is None or lowered.caught:
        return compiled
    texts = partial(kernel_texts, job, target, later, shelf)
    pending = Pending(function, compiled, texts, target.load, request.jit == "auto", source.loc(source.node))
    if lowered.func.notes is not None:
        tell_kernel(lowered.func.notes, target, pending)
    return replace(compiled, pending=pending)


def comparable_of(job: Job, shelf: Shelf | None) -> Comparable:
    """Return how a derivative is compared with the user's function; computed before the stages modify the lowered function."""
    lowered, notes = job.lowered, job.lowered.func.notes
    once = why_once(lowered, job.signature.names)
    if notes is not None and once is not None:
        what, loc = once
        notes.add("frontend", "unverified", loc, f"{what}, so the first call is not compared with the function itself")
    comparable = Comparable(
        once,
        None,
        dtypes_of(lowered),
        is_cut(lowered) or bool(job.request.no_grad),
        stores(lowered),
        bool(lowered.copied),
        is_custom(lowered),
    )
    return comparable if shelf is None else replace(comparable, seen=shelf.compared, keep=shelf.keep_compared)


def derived(job: Job, read: Callable[[str], Any] | None) -> Any:
    """Run the stages, which are imported now."""
    from symgrad.pipeline.derivation import derivation

    return derivation(job, read)


@collector_paused()
def text_to_read(job: Job, notes: Notes | None = None) -> Emitted | None:
    """Return the text to read of a derivative, from a second lowering that keeps the user's expressions, or None if that is refused.

    ``notes`` collects the remarks of the stages, which differ from those for the code that runs.
    """
    is_strict = bool(os.environ.get("SYMGRAD_CHECK"))
    try:
        with deep_calls():
            text, calls_again = text_of(job, notes, keeps_calls=False)
    except (SymgradError, RecursionError, *FAULTS):
        if is_strict:
            raise
        return None
    if not calls_again:
        return text
    try:
        with deep_calls():
            other, _ = text_of(job, None, keeps_calls=True)
    except (SymgradError, RecursionError, *FAULTS) as refusal:
        if is_strict and (isinstance(refusal, InvalidIR) or not isinstance(refusal, SymgradError)):
            raise
        return text  # a function does more than compute numbers and arrays
    return other if other.text.count("\n") < text.text.count("\n") else text


def text_of(job: Job, notes: Notes | None, keeps_calls: bool) -> tuple[Emitted, bool]:
    """The text to read, and whether a user function is called at several places in it; if it ``keeps_calls``, it calls that function."""
    request = replace(job.request, optimize="read", jit=False)
    lowered = lower(
        job.source,
        job.signature,
        derive=derive_inside,
        varied=varied_values,
        no_grad=request.no_grad,
        wrt=request.wrt,
        pins=dict(request.pins),
        keeps_text=True,
        keeps_calls=keeps_calls,
        notes=notes,
    )
    derivation = derived(Job(job.source, job.signature, request, lowered), None)
    emitted: Emitted = derivation.emission(derivation.job)
    return replace(emitted, namespace={**emitted.namespace, **lowered.objects}), lowered.calls_again


def made_now(job: Job, later: Later, shelf: Shelf | None) -> Found:
    """Run the stages, and store the emitted code."""
    try:
        derivation = later()
    except Related:
        if shelf is not None:
            shelf.keep_relations()
        raise
    code = Found(derivation.emission(job), derivation.name, derivation.program is not None)
    if shelf is not None and not job.inactive:  # remarks about those are discarded
        shelf.keep_numpy(code)
    return code


def kernel_texts(job: Job, target: Target, later: Later, shelf: Shelf | None) -> Texts:
    """The texts for a target; raises OutOfReach where there are none."""
    texts: Any = None if shelf is None else shelf.kernel()
    if texts is None:
        try:
            texts = target.emit(later(), job)
        except OutOfReach as refusal:
            texts = refusal
        if shelf is not None:
            shelf.keep_kernel(texts)
    if isinstance(texts, OutOfReach):
        raise texts
    written: Texts = texts
    return written


def tell_kernel(notes: Notes, target: Target, pending: Pending) -> None:
    """Emit a remark about the code for a target, or about the reason why there is none."""
    told = notes.taken("lowering", "codegen")
    texts = pending.texts()
    if isinstance(texts, OutOfReach):
        notes.entries |= dict.fromkeys(told)
        message = f"{texts.clause}, so the whole derivative runs as NumPy code"
        notes.add("numba", "uncompiled", pending.where(texts), message)
    elif (remark := target.remark()) is not None:
        notes.add("numba", "unproved", pending.loc, remark[0], hint=remark[1])


__all__ = ["compile_gradient"]
