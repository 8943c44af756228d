"""A derivative -> texts of kernels. The kernel stages, a third of all modules, are imported on demand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from symgrad.adjoint.pullback import with_seeds
from symgrad.codegen.header import Header
from symgrad.codegen.numba import Surface, emit_kernel
from symgrad.codegen.python import emit
from symgrad.codegen.texts import Again, Kernel
from symgrad.ir.core import Func, Operand, clone, uses
from symgrad.ir.crossing import Crossing
from symgrad.ir.types import List
from symgrad.pipeline.emission import argument_names, printed
from symgrad.pipeline.job import Job, lines_of
from symgrad.pipeline.runner import timed


def halves_in_loops(job: Job, values: int, seeds: int) -> tuple[Func, Func, Mapping[int, int]]:
    """A pullback as loops over numbers."""
    return halves_of(job.stages["optimized"], values, seeds)


def halves_of(whole: Func, values: int, seeds: int) -> tuple[Func, Func, Mapping[int, int]]:
    """A function with these numbers of results and seeds as loops over numbers.

    It is lowered as a whole, so that the halves may share values that cannot be arguments: tapes, lists. Also returns
    a map from results of the first half to the parameters that they copy.
    """
    from symgrad.pipeline.lowering import to_halves

    halves = to_halves(with_seeds(whole, values, seeds))
    return halves.forward, halves.backward, halves.copies


def with_effects(job: Job, surface: Surface, program: Func) -> Surface:
    """Remove the calls with side effects from a program that becomes a kernel, in place; the caller makes them after the kernel."""
    from symgrad.loops.tapes.delayed_effects import effects_behind  # of the stages for kernels

    effects = effects_behind(program)
    if effects is None:
        return surface
    func, name = printed(effects.func, job), f"{surface.name}_effects"
    words = argument_names([value.name for value in func.params], job.lowered.objects)
    bind = dict(zip(func.params, words, strict=True))
    doc = f"What {job.source.name} does beside computing."
    text = emit(func, Header(name, ", ".join(words), bind, "", doc, lines_of(job), objects=job.lowered.objects))
    handed = len(func.params) - len(effects.parameters)
    return surface.with_effects(name, text, effects.parameters, handed)


def whole_kernel(job: Job, surface: Surface) -> Kernel:
    """The kernel of a function in one piece."""
    from symgrad.pipeline.lowering import to_loops  # a third of all stages, not needed for NumPy code

    program = clone(job.stages["optimized"])
    surface = with_effects(job, surface, program)
    func = to_loops(program)
    func.notes = program.notes
    lists = crossing_lists([value for value, _ in job.lowered.inputs])
    surface = surface.with_lists(lists, crossing_lists(job.stages["optimized"].body.yields))
    with timed(func.notes, "print", "emit"):
        return emit_kernel(func, surface)


def crossing_lists(operands: Sequence[Operand]) -> dict[int, Crossing]:
    """The parameters or results that are lists, by index, with their representation as arrays."""
    if not any(isinstance(operand.type, List) for operand in operands):
        return {}
    from symgrad.loops.lists.crossing import crosses  # of the stages for kernels, not needed for NumPy code

    return {k: form for k, operand in enumerate(operands) if (form := crosses(operand.type)) is not None}


def gradients_only(job: Job, whole: Func, count: int, header: Header) -> Again:
    """The NumPy code of a pullback's gradients alone, from the start; ``count`` results are the function's own."""
    func = clone(whole)
    func.body.yields, func.results = func.body.yields[count:], func.results[count:]
    func = printed(func, job)
    inputs, read = len(job.lowered.inputs), uses(func.body)
    places = [k for k, value in enumerate(func.params[:inputs]) if value in read]
    func.body.args = [*(func.params[k] for k in places), *func.params[inputs:]]
    words = argument_names([v.name for v in func.params], job.lowered.objects)
    header = replace(
        header, signature=", ".join(words), bind=dict(zip(func.params, words, strict=True)), doc="The pullback from the start."
    )
    return Again(header.name, emit(func, header), places)


__all__ = ["gradients_only", "crossing_lists", "halves_in_loops", "halves_of", "whole_kernel"]
